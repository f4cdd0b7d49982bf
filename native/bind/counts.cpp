#include "../counts.hpp"

#include "bind.hpp"

namespace suffice {

static void must_label(const In<double, 1>& weight, const In<int64_t, 1>& labels, size_t rows, size_t K) {
    must(weight.shape(0) == rows && labels.shape(0) == rows, "X, weight and labels must have the same rows");
    must(are_below(labels, K), "labels must be numbers of rows of out");
}

static void must_be_sums(const In<double, 2>& X, const In<double, 1>& weight, const In<int64_t, 1>& labels,
                         const InOut<double, 2>& out) {
    must_label(weight, labels, X.shape(0), out.shape(0));
    must(X.shape(1) == out.shape(1), "X and out must have the same features");
}

template <class Index>
static void bind_sparse(nb::module_& m) {
    m.def(
        "add_sparse_by_label",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 1> weight,
           In<int64_t, 1> labels, In<int64_t, 1> order, InOut<double, 2> out) {
            auto X = sparse<Index>(data, indices, indptr, out.shape(1));
            must_label(weight, labels, X.rows, out.shape(0));
            must(are_below(order, X.rows), "order must be numbers of rows");
            without_gil(
                [&] { add_sparse_by_label(X, weight.data(), labels.data(), vector(order), matrix(out)); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("weight"), arg("labels"), arg("order"), arg("out"),
        "`add_by_label` of CSR rows, in this order: sorted by label, sums stay in the cache.");
}

static void bind_sums(nb::module_& m) {
    m.def(
        "add_by_label",
        [](In<double, 2> X, In<double, 1> weight, In<int64_t, 1> labels, InOut<double, 2> out) {
            must_be_sums(X, weight, labels, out);
            without_gil([&] { add_by_label(matrix(X), weight.data(), labels.data(), matrix(out)); });
        },
        arg("X"), arg("weight"), arg("labels"), arg("out"),
        "Add weight times the row to the row of its label in `out`, (K, D).");
    m.def(
        "add_above_by_label",
        [](In<double, 2> X, double threshold, In<double, 1> weight, In<int64_t, 1> labels, InOut<double, 2> out) {
            must_be_sums(X, weight, labels, out);
            return int64_t(without_gil(
                [&] { return add_above_by_label(matrix(X), threshold, weight.data(), labels.data(), matrix(out)); }));
        },
        arg("X"), nb::arg("threshold"), arg("weight"), arg("labels"), arg("out"),
        "Add the weight to the row of the label in `out`, (K, D), where an entry is above the threshold. Returns how "
        "many entries are NaN.");
    m.def(
        "add_squares_by_label",
        [](In<double, 2> X, In<double, 1> weight, In<int64_t, 1> labels, In<double, 2> points, InOut<double, 2> out) {
            must_be_sums(X, weight, labels, out);
            must(points.shape(0) == out.shape(0) && points.shape(1) == out.shape(1), "points and out must be (K, D)");
            without_gil([&] {
                add_squares_by_label(matrix(X), weight.data(), labels.data(), matrix(points), matrix(out));
            });
        },
        arg("X"), arg("weight"), arg("labels"), arg("points"), arg("out"),
        "Add weight times the squared differences from the point of the label to its row in `out`, (K, D).");
    bind_sparse<int32_t>(m);
    bind_sparse<int64_t>(m);
}

static void bind_categories(nb::module_& m) {
    m.def(
        "largest",
        [](In<double, 2> X) {
            auto most = zeros<double>(X.shape(1));
            const bool whole = without_gil([&] { return largest(matrix(X), most.data()); });
            return std::tuple(most, whole);
        },
        arg("X"),
        "The largest entry of each column, (D,), -1 if all are NaN; and whether all are whole and not negative, or "
        "NaN.");
    m.def(
        "add_categories_by_label",
        [](In<double, 2> X, In<double, 1> weight, In<int64_t, 1> labels, In<int64_t, 1> start, InOut<double, 2> out) {
            must_label(weight, labels, X.shape(0), out.shape(0));
            must_divide(start, X.shape(1), out.shape(1));
            without_gil([&] {
                add_categories_by_label(matrix(X), weight.data(), labels.data(), start.data(), matrix(out));
            });
        },
        arg("X"), arg("weight"), arg("labels"), arg("start"), arg("out"),
        "Add the weight to the row of the label in `out`, (K, V), at the place start[d] + v of each entry, where v, its "
        "whole part, is from 0 to start[d + 1] - start[d] - 1.");
    m.def(
        "look_up",
        [](In<double, 2> X, In<int64_t, 1> start, In<double, 2> table) {
            must_divide(start, X.shape(1), table.shape(0));
            auto out = zeros<double>(X.shape(0), table.shape(1));
            without_gil([&] { look_up(matrix(X), start.data(), matrix(table), matrix(out)); });
            return out;
        },
        arg("X"), arg("start"), arg("table"),
        "For each row, (N, K), the sum of the rows start[d] + v of `table`, (V, K), for its entries v. What is no whole "
        "number from 0 to start[d + 1] - start[d] - 1 adds nothing.");
}

TOPIC(counts) {
    m.doc() = "Sums by label in one pass over the rows, and sums of table lookups of categories.";
    bind_sums(m);
    bind_categories(m);
}

}  // namespace suffice
