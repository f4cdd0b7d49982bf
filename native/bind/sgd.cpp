#include "../sgd.hpp"

#include "bind.hpp"

namespace suffice {

static Loss loss_of(int64_t kind, double epsilon) {
    must(0 <= kind && kind < LOSSES, "loss must be a place in LOSSES");
    return {LossKind(kind), epsilon};
}

// As `Rule` in Python.
using Rule = std::tuple<int64_t, double, double, double, double, int64_t, double, double, double, double, double>;

static GradientRule rule_of(const Rule& rule) {
    const auto& [loss, epsilon, alpha, l2, l1, rate, eta0, power, before, of_intercept, average] = rule;
    must(0 <= rate && rate < RATES, "rate must be a place in RATES");
    return {loss_of(loss, epsilon), alpha, l2, l1, RateKind(rate), eta0, power, before, of_intercept, average};
}

namespace {
struct Visits {
    In<double, 1> y, weight;
    In<int64_t, 1> order;
    const Rule& rule;
    InOut<double, 1> w, total, paid, numbers;
};
}  // namespace

template <class Rows>
static double epoch_of(const Rows& X, size_t columns, const Visits& visits) {
    const auto& [y, weight, order, rule, w, total, paid, numbers] = visits;
    must(y.shape(0) == size_t(X.rows) && weight.shape(0) == size_t(X.rows), "y and weight must have the rows of X");
    must(are_below(order, X.rows), "order must be numbers of rows");
    for (auto* a : {&w, &total, &paid}) must(a->shape(0) == columns, "w, total and paid must be (D,)");
    must(numbers.shape(0) == 5, "numbers must be (5,)");
    const GradientRule how = rule_of(rule);
    const GradientState state{vector(w), total.data(), paid.data(), numbers.data()};
    return without_gil([&] { return epoch(X, y.data(), weight.data(), vector(order), how, state); });
}

template <class T>
static void bind_dense(nb::module_& m) {
    m.def(
        "epoch",
        [](In<T, 2> X, In<double, 1> y, In<double, 1> weight, In<int64_t, 1> order, const Rule& rule,
           InOut<double, 1> w, InOut<double, 1> total, InOut<double, 1> paid, InOut<double, 1> numbers) {
            const DenseRows<T> rows{X.data(), int64_t(X.shape(0)), int64_t(X.shape(1))};
            return epoch_of(rows, X.shape(1), {y, weight, order, rule, w, total, paid, numbers});
        },
        arg("X"), arg("y"), arg("weight"), arg("order"), nb::arg("rule"), arg("w"), arg("total"), arg("paid"),
        arg("numbers"),
        "A step for each row, in this order. Returns the sum of the losses before each step. Updated in place are "
        "the weights w (D,), their sum over the visits, the l1 penalty that each has paid, and numbers (5,): "
        "intercept, its sum over the visits, visits so far plus one, the penalty that is owed, step size.");
}

template <class T, class Index>
static void bind_sparse(nb::module_& m) {
    m.def(
        "sparse_epoch",
        [](In<T, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 1> y, In<double, 1> weight,
           In<int64_t, 1> order, const Rule& rule, InOut<double, 1> w, InOut<double, 1> total, InOut<double, 1> paid,
           InOut<double, 1> numbers) {
            const auto rows = sparse(data, indices, indptr, w.shape(0));
            return epoch_of(rows, w.shape(0), {y, weight, order, rule, w, total, paid, numbers});
        },
        arg("data"), arg("indices"), arg("indptr"), arg("y"), arg("weight"), arg("order"), nb::arg("rule"), arg("w"),
        arg("total"), arg("paid"), arg("numbers"), "`epoch` of CSR rows.");
}

TOPIC(sgd) {
    m.doc() = "Steps of stochastic gradient descent for linear scores, each with the gradient of one row.";
    m.def(
        "losses",
        [](int64_t loss, double epsilon, In<double, 2> Y, In<double, 2> scores, In<double, 1> weight,
           InOut<double, 2> slope) {
            const size_t N = scores.shape(0), P = scores.shape(1);
            must(Y.shape(0) == N && Y.shape(1) == P && slope.shape(0) == N && slope.shape(1) == P,
                 "Y, scores and slope must be (N, P)");
            must(weight.shape(0) == N, "weight must be (N,)");
            const Loss of = loss_of(loss, epsilon);
            return without_gil([&] { return losses(of, matrix(Y), matrix(scores), weight.data(), matrix(slope)); });
        },
        nb::arg("loss"), nb::arg("epsilon"), arg("Y"), arg("scores"), arg("weight"), arg("slope"),
        "The sum of the losses of scores (N, P), each row times its weight; their slopes go into `slope`.");
    bind_dense<double>(m);
    bind_dense<float>(m);
    bind_sparse<double, int32_t>(m);
    bind_sparse<double, int64_t>(m);
    bind_sparse<float, int32_t>(m);
    bind_sparse<float, int64_t>(m);
}

}  // namespace suffice
