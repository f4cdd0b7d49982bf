#include "../linkage.hpp"

#include "bind.hpp"

namespace suffice {

// The merges of N points, of which there are N - 1.
template <class Loop>
static auto merges(size_t N, Loop loop) {
    const size_t size = N > 0 ? N - 1 : 0;
    auto left = zeros<int64_t>(size), right = zeros<int64_t>(size);
    auto height = zeros<double>(size);
    without_gil([&] { loop(Merges{left.data(), right.data(), height.data()}); });
    return std::tuple(left, right, height);
}

static void must_be_weights(const In<double, 1>& weight, size_t N) {
    must(weight.shape(0) == N, "weight must have one number for each point");
}

TOPIC(linkage) {
    m.doc() =
        "Merges of hierarchical clustering, in the order in which they are found: a leaf of each of the two clusters, "
        "(N - 1,) each, and the height, (N - 1,).";
    m.def(
        "ward_chain",
        [](In<double, 2> X, In<double, 1> weight) {
            must_be_weights(weight, X.shape(0));
            return merges(X.shape(0), [&](const Merges& out) { ward_chain(matrix(X), weight.data(), out); });
        },
        arg("X"), arg("weight"),
        "Ward's merges by chains of nearest neighbours. The squared heights are 2 w_a w_b / (w_a + w_b) |a - b|^2 for "
        "centroids a, b.");
    m.def(
        "centroid_merges",
        [](In<double, 2> X, In<double, 1> weight) {
            must_be_weights(weight, X.shape(0));
            return merges(X.shape(0), [&](const Merges& out) { centroid_merges(matrix(X), weight.data(), out); });
        },
        arg("X"), arg("weight"),
        "Merges of the two nearest centroids, each time, with squared heights. A merge may be lower than the one "
        "before.");
    m.def(
        "spanning_tree",
        [](In<double, 2> X) {
            return merges(X.shape(0), [&](const Merges& out) { spanning_tree(matrix(X), out); });
        },
        arg("X"), "The links of a minimum spanning tree, with squared lengths, by Prim's algorithm.");
    m.def(
        "matrix_chain",
        [](InOut<double, 2> D, In<double, 1> weight, bool average) {
            must(D.shape(0) == D.shape(1), "D must be (N, N)");
            must_be_weights(weight, D.shape(0));
            return merges(D.shape(0),
                          [&](const Merges& out) { matrix_chain(matrix(D), weight.data(), average, out); });
        },
        arg("D"), arg("weight"), nb::arg("average"),
        "Merges of a distance matrix, which is overwritten, by chains of nearest neighbours: the mean distance of "
        "pairs, or the largest.");
}

}  // namespace suffice
