#include "../log_linear.hpp"

#include "bind.hpp"

namespace suffice {

template <class Index>
static void bind_svrg(nb::module_& m) {
    m.def(
        "svrg_epoch",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<int64_t, 1> order,
           In<double, 1> weight, In<double, 2> before, In<double, 2> start, In<double, 2> drift,
           In<double, 1> shrink, double length, int64_t every, bool intercept) {
            const size_t N = before.shape(0), K = start.shape(1);
            must(start.shape(0) > 0 && drift.shape(0) == start.shape(0) && drift.shape(1) == K &&
                     shrink.shape(0) == start.shape(0),
                 "start and drift must be (D + 1, K), and shrink (D + 1,)");
            const auto X = sparse<Index>(data, indices, indptr, start.shape(0) - 1);
            must(size_t(X.rows) == N && weight.shape(0) == N && before.shape(1) == K,
                 "weight and before must have the rows of indptr, and before the columns of start");
            must(every > 0, "every must be positive");
            must(are_below(order, N), "order must be numbers of rows");
            auto W = zeros<double>(start.shape(0), K);
            const Svrg epoch{weight.data(), matrix(before), matrix(start), drift.data(), shrink.data(),
                             length,        every,          intercept};
            without_gil([&] { epoch(X, vector(order), W.data()); });
            return W;
        },
        arg("data"), arg("indices"), arg("indptr"), arg("order"), arg("weight"), arg("before"), arg("start"),
        arg("drift"), arg("shrink"), arg("length"), arg("every"), arg("intercept"),
        "The end of an epoch of SVRG over CSR rows in an order, from `start` (D + 1, K), whose last row "
        "is the intercepts. The step of a row is its weight times the change of its probabilities since "
        "`start`, where they are `before` (N, K), times the row. The gradient over all rows at the start, "
        "`drift`, and `shrink` (D + 1,) times the move since then are applied after every `every` rows, "
        "as many times. One column is the log odds of the second of two classes.");
}

TOPIC(log_linear) {
    m.doc() = "Log-linear models: errors of rows from their scores, and an epoch of SVRG.";
    m.def(
        "errors",
        [](InOut<double, 2> scores, In<double, 1> intercept, In<int64_t, 1> codes, In<double, 1> weight) {
            const size_t N = scores.shape(0), K = scores.shape(1);
            must(intercept.shape(0) == K, "intercept must be (K,)");
            must(codes.shape(0) == N && weight.shape(0) == N,
                 "scores, codes and weight must have the same rows");
            must(are_below(codes, K), "codes must be numbers of classes");
            return without_gil(
                [&] { return errors(matrix(scores), intercept.data(), codes.data(), weight.data()); });
        },
        arg("scores"), arg("intercept"), arg("codes"), arg("weight"),
        "Scores (N, K) without the intercepts become weight times probability, less the weight for the "
        "class that was seen; returned is the sum of weight times -log probability of that class.");
    bind_svrg<int32_t>(m);
    bind_svrg<int64_t>(m);
}

}  // namespace suffice
