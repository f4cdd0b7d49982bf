#include "../distances.hpp"

#include "bind.hpp"

namespace suffice {

static void same_features(const In<double, 2>& X, const In<double, 2>& points) {
    must(X.shape(1) == points.shape(1), "X and points must have the same features");
}

static void same_rows(const In<double, 2>& X, const In<double, 1>& weight) {
    must(X.shape(0) == weight.shape(0), "X and weight must have the same rows");
}

static void labels_below(const In<int64_t, 1>& labels, size_t rows, size_t K) {
    must(labels.shape(0) == rows, "X and labels must have the same rows");
    must(are_below(labels, K), "labels must be numbers of points");
}

template <class Find>
static auto nearest_by(Find find, const In<double, 2>& X, const In<double, 2>& points) {
    same_features(X, points);
    auto labels = zeros<int64_t>(X.shape(0));
    auto distances = zeros<double>(X.shape(0));
    without_gil([&] { find(matrix(X), matrix(points), labels.data(), distances.data()); });
    return std::tuple(labels, distances);
}

template <class Index>
static void bind_of_sparse(nb::module_& m) {
    m.def(
        "sparse_distances",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> points,
           InOut<double, 2> out) {
            auto X = sparse<Index>(data, indices, indptr, points.shape(0));
            must(out.shape(0) == size_t(X.rows) && out.shape(1) == points.shape(1), "out must be (N, K)");
            without_gil([&] { sparse_distances(X, matrix(points), matrix(out)); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("points"), arg("out"),
        "out[n, k] = |x_n - points[:, k]|^2 of CSR rows, for points (D, K); zero for a row that is the point.");
    m.def(
        "sparse_sums_by_label",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 1> weight,
           In<int64_t, 1> labels, In<double, 2> points) {
            auto X = sparse<Index>(data, indices, indptr, points.shape(1));
            must(weight.shape(0) == size_t(X.rows), "X and weight must have the same rows");
            labels_below(labels, X.rows, points.shape(0));
            auto total = zeros<double>(points.shape(0));
            auto offset = zeros<double>(points.shape(0), points.shape(1));
            without_gil([&] {
                sparse_sums_by_label(X, weight.data(), labels.data(), matrix(points), total.data(), matrix(offset));
            });
            return std::tuple(total, offset);
        },
        arg("data"), arg("indices"), arg("indptr"), arg("weight"), arg("labels"), arg("points"),
        "`sums_by_label` of CSR rows.");
}

TOPIC(distances) {
    m.doc() =
        "Distances from rows to K points, and moments of rows about K points. Responsibilities are (K, N). NaN "
        "entries are left out of sums.";
    m.def(
        "weighted_sum",
        [](In<double, 2> X, In<double, 1> weight) {
            same_rows(X, weight);
            auto out = zeros<double>(X.shape(1));
            without_gil([&] { weighted_sum(matrix(X), weight.data(), out.data()); });
            return out;
        },
        arg("X"), arg("weight"),
        "out[d] = sum_n weight[n] X[n, d]: what BLAS does too, but NumPy holds the interpreter meanwhile.");
    m.def(
        "nearest", [](In<double, 2> X, In<double, 2> points) { return nearest_by(nearest, X, points); },
        arg("X"), arg("points"), "The nearest point of each row, and its squared distance.");
    m.def(
        "nearest_of_many",
        [](In<double, 2> X, In<double, 2> points) { return nearest_by(nearest_of_many, X, points); },
        arg("X"), arg("points"), "`nearest` for many points.");
    m.def(
        "sums_by_label",
        [](In<double, 2> X, In<double, 1> weight, In<int64_t, 1> labels, In<double, 2> points) {
            same_features(X, points);
            same_rows(X, weight);
            labels_below(labels, X.shape(0), points.shape(0));
            auto total = zeros<double>(points.shape(0));
            auto offset = zeros<double>(points.shape(0), points.shape(1));
            without_gil([&] {
                sums_by_label(matrix(X), weight.data(), labels.data(), matrix(points), total.data(),
                              matrix(offset));
            });
            return std::tuple(total, offset);
        },
        arg("X"), arg("weight"), arg("labels"), arg("points"),
        "By label: the sum of weights, and of weight times the offset from the point of that label.");
    m.def(
        "nearest_sums",
        [](In<double, 2> X, In<double, 1> weight, In<double, 2> points, int64_t rows) {
            same_features(X, points);
            same_rows(X, weight);
            must(rows > 0, "rows must be positive");
            auto labels = zeros<int64_t>(X.shape(0));
            auto total = zeros<double>(points.shape(0));
            auto offset = zeros<double>(points.shape(0), points.shape(1));
            double inertia = without_gil([&] {
                return nearest_sums(matrix(X), weight.data(), matrix(points), rows, labels.data(), total.data(),
                                    matrix(offset));
            });
            return std::tuple(labels, inertia, total, offset);
        },
        arg("X"), arg("weight"), arg("points"), arg("rows"),
        "`nearest_of_many` and `sums_by_label` in one pass over the rows: the labels, the weighted sum of squared "
        "distances, and by label the sums of weights and offsets. The sums of pieces of `rows` rows are added in "
        "the order of `tree_sum`.");
    m.def(
        "weighted_distances",
        [](In<double, 2> X, In<double, 2> points, In<double, 2> scales) {
            same_features(X, points);
            must(scales.shape(0) == points.shape(0) && scales.shape(1) == points.shape(1),
                 "scales must have the shape of points");
            auto out = zeros<double>(points.shape(0), X.shape(0));
            without_gil([&] { weighted_distances(matrix(X), matrix(points), matrix(scales), matrix(out)); });
            return out;
        },
        arg("X"), arg("points"), arg("scales"),
        "out[k, n] = sum_d scales[k, d] (X[n, d] - points[k, d])^2. NaN terms add nothing.");
    m.def(
        "squares_about",
        [](In<double, 2> X, In<double, 2> R, In<double, 2> points) {
            same_features(X, points);
            must(R.shape(0) == points.shape(0) && R.shape(1) == X.shape(0), "R must be (K, N)");
            auto out = zeros<double>(points.shape(0), points.shape(1));
            without_gil([&] { squares_about(matrix(X), matrix(R), matrix(points), matrix(out)); });
            return out;
        },
        arg("X"), arg("R"), arg("points"),
        "out[k, d] = sum_n R[k, n] (X[n, d] - points[k, d])^2. NaN terms add nothing.");
    m.def(
        "mahalanobis",
        [](In<double, 2> X, In<double, 2> points, In<double, 3> U) {
            same_features(X, points);
            must(U.shape(0) == points.shape(0) && U.shape(1) == X.shape(1) && U.shape(2) == X.shape(1),
                 "U must be (K, D, D)");
            auto out = zeros<double>(points.shape(0), X.shape(0));
            without_gil([&] { mahalanobis(matrix(X), matrix(points), tensor(U), matrix(out)); });
            return out;
        },
        arg("X"), arg("points"), arg("U"), "out[k, n] = |(X[n] - points[k]) U[k]|^2, with U[k] upper triangular.");
    m.def(
        "scatters_about",
        [](In<double, 2> X, In<double, 2> R, In<double, 2> points) {
            same_features(X, points);
            must(R.shape(0) == points.shape(0) && R.shape(1) == X.shape(0), "R must be (K, N)");
            auto out = zeros<double>(points.shape(0), X.shape(1), X.shape(1));
            without_gil([&] { scatters_about(matrix(X), matrix(R), matrix(points), tensor(out)); });
            return out;
        },
        arg("X"), arg("R"), arg("points"),
        "out[k] = sum_n R[k, n] (X[n] - points[k]) (X[n] - points[k])'");
    bind_of_sparse<int32_t>(m);
    bind_of_sparse<int64_t>(m);
}

}  // namespace suffice
