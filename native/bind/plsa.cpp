#include "../plsa.hpp"

#include "bind.hpp"

namespace suffice {

template <class Index>
static void bind_with(nb::module_& m) {
    m.def(
        "fold_in",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> A, double power,
           int64_t max_iter, double tol, InOut<double, 2> theta) {
            auto X = sparse(data, indices, indptr, A.shape(0));
            must(int64_t(theta.shape(0)) == X.rows && theta.shape(1) == A.shape(1), "theta must be (N, K)");
            without_gil([&] { fold_in(X, matrix(A), {power, max_iter, tol}, matrix(theta)); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("A"), nb::arg("power"), nb::arg("max_iter"), nb::arg("tol"),
        arg("theta"),
        "Improve the topic weights theta (N, K) of documents, CSR rows, given what words weigh in topics, A (V, K). By "
        "EM: the new weights are the expected shares of the topics, where that of a word is in proportion to "
        "theta^power A. Of power one, few of its steps, then steps of Newton's. It rests when no weight would grow by "
        "more than the factor 1 + tol.");
    m.def(
        "expect",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> A, double power,
           In<double, 2> theta, In<double, 1> weight, InOut<double, 2> counts, InOut<double, 1> log_sums) {
            auto X = sparse(data, indices, indptr, A.shape(0));
            const size_t N = X.rows;
            must(theta.shape(0) == N && theta.shape(1) == A.shape(1), "theta must be (N, K)");
            must(weight.shape(0) == N && log_sums.shape(0) == N, "weight and log_sums must be (N,)");
            const bool none = std::none_of(weight.data(), weight.data() + N, [](double w) { return w > 0.0; });
            must((counts.shape(0) == A.shape(0) || none) && counts.shape(1) == A.shape(1),
                 "counts must be (V, K); or (0, K), if no document has a weight");
            without_gil([&] {
                expect(X, matrix(A), power, matrix(theta), weight.data(), matrix(counts), log_sums.data());
            });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("A"), nb::arg("power"), arg("theta"), arg("weight"),
        arg("counts"), arg("log_sums"),
        "Add the expected counts of words in topics to `counts` (V, K), and set log_sums[n] to the log-likelihood of "
        "document n, the sum of n log sum theta^power A. A word that no topic has makes it minus infinity. If no "
        "document has a weight, `counts` may be (0, K).");
}

TOPIC(plsa) {
    m.doc() = "Topic weights of documents by EM and Newton steps.";
    bind_with<int32_t>(m);
    bind_with<int64_t>(m);
}

}  // namespace suffice
