#include "../dual.hpp"

#include "bind.hpp"

namespace suffice {

static Box box_of(const In<double, 1>& slope, size_t beta, const In<double, 1>& lower, const In<double, 1>& upper,
                  const In<int64_t, 1>& group, int64_t n_groups) {
    const size_t size = slope.shape(0);
    must(beta == size && lower.shape(0) == size && upper.shape(0) == size && group.shape(0) == size,
         "slope, beta, lower, upper and group must have the same size");
    must(are_below(group, n_groups), "group must have numbers below n_groups");
    return {lower.data(), upper.data(), group.data(), int64_t(size), n_groups};
}

template <class T>
static void bind_columns(nb::module_& m) {
    m.def(
        "add_columns",
        [](In<T, 2> columns, In<int64_t, 1> slots, In<double, 1> step, InOut<double, 1> out) {
            must(slots.shape(0) == step.shape(0), "slots and step must have the same size");
            must(out.shape(0) == columns.shape(1), "out must have the size of a column");
            must(are_below(slots, columns.shape(0)), "slots must be numbers of rows of columns");
            without_gil([&] {
                Vector<const int64_t> of{slots.data(), int64_t(slots.shape(0))};
                add_columns<T>(matrix(columns), of, step.data(), out.data());
            });
        },
        arg("columns"), arg("slots"), arg("step"), arg("out"),
        "Add step[k] times column slots[k], a row of `columns`, to `out`.");
}

TOPIC(dual) {
    m.doc() = "Sequential minimal optimization of a few coefficients of a dual: see `fitting.dual`.";
    m.def(
        "worst_pair",
        [](In<double, 1> slope, In<double, 1> beta, In<double, 1> lower, In<double, 1> upper, In<int64_t, 1> group,
           int64_t n_groups) {
            auto box = box_of(slope, beta.shape(0), lower, upper, group, n_groups);
            std::vector<int64_t> ends(2 * n_groups);
            auto pair = without_gil([&] { return worst_pair(slope.data(), beta.data(), box, ends.data()); });
            return std::tuple(pair.raised, pair.lowered, pair.violation);
        },
        arg("slope"), arg("beta"), arg("lower"), arg("upper"), arg("group"), nb::arg("n_groups"),
        "The pair of one group that violates the conditions of an optimum most: the coefficient to raise, with the "
        "least slope, the one to lower, with the largest, and the difference of the slopes.");
    m.def(
        "minimize_pairs",
        [](In<double, 2> K, InOut<double, 1> slope, InOut<double, 1> beta, In<double, 1> lower, In<double, 1> upper,
           In<int64_t, 1> group, int64_t n_groups, double tol, int64_t most) {
            auto box = box_of(In<double, 1>(slope), beta.shape(0), lower, upper, group, n_groups);
            must(K.shape(0) == beta.shape(0) && K.shape(1) == beta.shape(0), "K must have a row for each of beta");
            return without_gil([&] { return minimize_pairs(matrix(K), slope.data(), beta.data(), box, tol, most); });
        },
        arg("K"), arg("slope"), arg("beta"), arg("lower"), arg("upper"), arg("group"), nb::arg("n_groups"),
        nb::arg("tol"), nb::arg("most"),
        "Minimize β'Kβ / 2 + q'β over a box, with the sum of each group as it is, pair by pair, until no pair violates "
        "the conditions by more than `tol`. `slope` is Kβ + q. Returns the number of pairs.");
    bind_columns<float>(m);
    bind_columns<double>(m);
}

}  // namespace suffice
