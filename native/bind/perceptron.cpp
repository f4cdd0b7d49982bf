#include "../perceptron.hpp"

#include "bind.hpp"

namespace suffice {

// As `Rule` in Python.
using PerceptronOptions = std::tuple<double, double, double, bool, bool>;

namespace {

struct PerceptronVisits {
    In<int64_t, 1> codes;
    In<double, 1> weight;
    In<int64_t, 1> order;
    const PerceptronOptions& rule;

    Labels labels(size_t N, size_t P) const {
        must(codes.shape(0) == N && weight.shape(0) == N, "codes and weight must have the rows of X");
        must(are_below(order, N), "order must be numbers of rows");
        return {codes.data(), weight.data(), int64_t(N), int64_t(P)};
    }
};

struct Numbers {
    In<bool, 1> active;
    InOut<double, 1> visits, steps, run, tried, best;
};

}  // namespace

static void must_be_like(const InOut<double, 2>& W, const InOut<double, 2>& a) {
    must(a.shape(0) == W.shape(0) && a.shape(1) == W.shape(1), "W, late and pocket must have the same shape");
}

// The loss and the log of an epoch.
template <class Form>
static auto epoch_of(const Form& form, const PerceptronVisits& visits, const Numbers& numbers) {
    const size_t P = form.labels.P;
    must(numbers.active.shape(0) == P, "active must be (P,)");
    for (auto* a : {&numbers.visits, &numbers.steps, &numbers.run, &numbers.tried, &numbers.best})
        must(a->shape(0) == P, "visits, steps, run, tried and best must be (P,)");
    const auto& [below, above, eta, pocket, vote] = visits.rule;
    const PerceptronRule rule{{below, above}, eta, pocket, vote};
    auto loss = zeros<double>(P);
    const Counts counts{numbers.active.data(), numbers.visits.data(), numbers.steps.data(), numbers.run.data(),
                        numbers.tried.data(),  numbers.best.data(),   loss.data()};
    std::vector<Vote> votes;
    without_gil([&] { epoch(form, vector(visits.order), rule, counts, votes); });
    auto log = zeros<double>(votes.size(), 4);
    double* to = log.data();
    for (const Vote& v : votes)
        for (double x : {v.problem, v.row, v.size, v.visits}) *to++ = x;
    return std::pair(loss, log);
}

template <class Rows>
static auto primal(const Rows& X, size_t columns, const PerceptronVisits& visits, const InOut<double, 2>& W,
                   const InOut<double, 2>& late, const InOut<double, 2>& pocket, const Numbers& numbers) {
    must(W.shape(0) == columns, "W must be (D, P)");
    must_be_like(W, late);
    must_be_like(W, pocket);
    std::vector<double> score(W.shape(1)), column(columns);
    const Labels labels = visits.labels(X.rows, W.shape(1));
    const Primal<Rows> form{X, labels, matrix(W), matrix(late), matrix(pocket), score.data(), column.data()};
    return epoch_of(form, visits, numbers);
}

template <class Index>
static void bind_sparse(nb::module_& m) {
    m.def(
        "sparse_primal",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<int64_t, 1> codes,
           In<double, 1> weight, In<int64_t, 1> order, const PerceptronOptions& rule, In<bool, 1> active,
           InOut<double, 2> W, InOut<double, 2> late, InOut<double, 2> pocket, InOut<double, 1> visits,
           InOut<double, 1> steps, InOut<double, 1> run, InOut<double, 1> tried, InOut<double, 1> best) {
            const auto rows = sparse(data, indices, indptr, W.shape(0));
            return primal(rows, W.shape(0), {codes, weight, order, rule}, W, late, pocket,
                          {active, visits, steps, run, tried, best});
        },
        arg("data"), arg("indices"), arg("indptr"), arg("codes"), arg("weight"), arg("order"), nb::arg("rule"),
        arg("active"), arg("W"), arg("late"), arg("pocket"), arg("visits"), arg("steps"), arg("run"), arg("tried"),
        arg("best"), "`primal` of CSR rows.");
}

TOPIC(perceptron) {
    m.doc() = "Epochs of perceptrons, in primal and in dual form: see native/perceptron.hpp.";
    m.def(
        "primal",
        [](In<double, 2> X, In<int64_t, 1> codes, In<double, 1> weight, In<int64_t, 1> order,
           const PerceptronOptions& rule, In<bool, 1> active, InOut<double, 2> W, InOut<double, 2> late,
           InOut<double, 2> pocket, InOut<double, 1> visits, InOut<double, 1> steps, InOut<double, 1> run,
           InOut<double, 1> tried, InOut<double, 1> best) {
            const DenseRows<double> rows{X.data(), int64_t(X.shape(0)), int64_t(X.shape(1))};
            return primal(rows, X.shape(1), {codes, weight, order, rule}, W, late, pocket,
                          {active, visits, steps, run, tried, best});
        },
        arg("X"), arg("codes"), arg("weight"), arg("order"), nb::arg("rule"), arg("active"), arg("W"), arg("late"),
        arg("pocket"), arg("visits"), arg("steps"), arg("run"), arg("tried"), arg("best"),
        "One epoch over the rows in this order. Returns the loss (P,), and the log (M, 4) of updates: problem, row, "
        "signed step size, visits before. Updated in place are weights of features W (D, P), `late` and `pocket` like "
        "W, and the numbers (P,) of each problem.");
    bind_sparse<int32_t>(m);
    bind_sparse<int64_t>(m);
    m.def(
        "dual",
        [](In<double, 2> gram, In<int64_t, 1> codes, In<double, 1> weight, In<int64_t, 1> order,
           const PerceptronOptions& rule, In<bool, 1> active, InOut<double, 2> W, InOut<double, 2> late,
           InOut<double, 2> pocket, InOut<double, 2> F, InOut<double, 1> visits, InOut<double, 1> steps,
           InOut<double, 1> run, InOut<double, 1> tried, InOut<double, 1> best) {
            const PerceptronVisits order_of{codes, weight, order, rule};
            const Labels labels = order_of.labels(gram.shape(0), W.shape(0));
            must(gram.shape(1) == gram.shape(0) && W.shape(1) == gram.shape(0), "gram must be (N, N), and W (P, N)");
            for (auto* a : {&late, &pocket, &F}) must_be_like(W, *a);
            const Dual form{matrix(gram), labels, matrix(W), matrix(late), matrix(pocket), matrix(F)};
            return epoch_of(form, order_of, {active, visits, steps, run, tried, best});
        },
        arg("gram"), arg("codes"), arg("weight"), arg("order"), nb::arg("rule"), arg("active"), arg("W"), arg("late"),
        arg("pocket"), arg("F"), arg("visits"), arg("steps"), arg("run"), arg("tried"), arg("best"),
        "One epoch over the rows in this order, with weights of rows W (P, N); F is kept at W gram. Otherwise as "
        "`primal`.");
}

}  // namespace suffice
