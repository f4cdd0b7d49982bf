#include "../neighbors.hpp"

#include "bind.hpp"

namespace suffice {

using Rows = In<double, 2>;

static Found found_of(const InOut<double, 2>& best, const InOut<int64_t, 2>& rows, const InOut<double, 2>& votes,
                      const Rows& queries) {
    must(best.shape(0) == queries.shape(0) && best.shape(1) > 0, "best must be (Q, K), with K >= 1");
    must(rows.shape(0) == best.shape(0) && rows.shape(1) == best.shape(1), "rows must be (Q, K)");
    must(votes.shape(0) == best.shape(0) && votes.shape(1) == best.shape(1), "votes must be (Q, K)");
    return {matrix(best), matrix(rows), matrix(votes)};
}

static WeightedRows weighted(const Rows& X, int64_t first, const In<double, 1>& weight, const Rows& queries) {
    must(X.shape(1) == queries.shape(1), "X and queries must have the same features");
    must(weight.shape(0) == X.shape(0), "weight must have one number for each row");
    return {matrix(X), first, weight.data()};
}

static void bind_comparisons(nb::module_& m) {
    m.def(
        "distances_of",
        [](Rows X, Rows queries, double p) {
            must(X.shape(1) == queries.shape(1), "X and queries must have the same features");
            auto out = zeros<double>(queries.shape(0), X.shape(0));
            without_gil([&] {
                with_terms(p, [&](auto terms) { distances_of(matrix(X), matrix(queries), terms, matrix(out)); });
            });
            return out;
        },
        arg("X"), arg("queries"), nb::arg("p"), "Distances, before the root, of all queries from all rows, (Q, N).");
    m.def(
        "nearest_of_all",
        [](Rows X, int64_t first, In<double, 1> weight, Rows queries, double p, InOut<double, 2> best,
           InOut<int64_t, 2> rows, InOut<double, 2> votes) {
            auto found = found_of(best, rows, votes, queries);
            auto from = weighted(X, first, weight, queries);
            without_gil([&] {
                with_terms(p, [&](auto terms) { nearest_of_all(from, matrix(queries), terms, found); });
            });
        },
        arg("X"), nb::arg("first"), arg("weight"), arg("queries"), nb::arg("p"), arg("best"), arg("rows"),
        arg("votes"),
        "Compare queries with all rows, of which the first has the number `first`. The distances, row numbers and "
        "votes of the nearest so far are (Q, K), in order, filled up with infinite distances.");
    m.def(
        "nearest_of_products",
        [](Rows products, In<double, 1> half, Rows X, int64_t first, In<double, 1> weight, Rows queries,
           In<double, 1> norm, In<double, 1> slack, InOut<double, 2> best, InOut<int64_t, 2> rows,
           InOut<double, 2> votes) {
            const size_t Q = queries.shape(0), N = X.shape(0);
            auto found = found_of(best, rows, votes, queries);
            auto from = weighted(X, first, weight, queries);
            must(products.shape(0) >= Q && products.shape(1) >= N, "products must be at least (Q, N)");
            must(half.shape(0) == N && norm.shape(0) == Q && slack.shape(0) == Q,
                 "half must be (N,), norm and slack (Q,)");
            InnerProducts by{matrix(products), half.data(), norm.data(), slack.data()};
            without_gil([&] { nearest_of_products(by, from, matrix(queries), found); });
        },
        arg("products"), arg("half"), arg("X"), nb::arg("first"), arg("weight"), arg("queries"), arg("norm"),
        arg("slack"), arg("best"), arg("rows"), arg("votes"),
        "Compare queries with rows by their inner products, which are near enough to leave most rows out, and the "
        "others by their differences: Euclidean distances. `products` are those of centred queries and rows, `half` "
        "are halves of the squared norms of centred rows, `norm` are the squared norms of centred queries, and "
        "`slack` bounds the error of squared distances that follow from them. Otherwise as `nearest_of_all`.");
}

static void bind_tree(nb::module_& m) {
    m.def(
        "build_tree",
        [](Rows X, int64_t leaf_size) {
            must(leaf_size >= 0, "leaf_size must not be negative");
            auto order = zeros<int64_t>(X.shape(0)), axis = zeros<int64_t>(X.shape(0));
            without_gil([&] { build_tree(matrix(X), leaf_size, order.data(), axis.data()); });
            return std::tuple(order, axis);
        },
        arg("X"), nb::arg("leaf_size"),
        "A k-d tree: the order of its points, and the axis at which each divides; -1 in a leaf. The node of the "
        "points from lo to hi is the one in the middle, (lo + hi) // 2, the upper median along the axis of the widest "
        "spread: those before it are not larger, and those after it are not smaller.");
    m.def(
        "nearest_in_tree",
        [](Rows points, In<int64_t, 1> order, In<int64_t, 1> axis, int64_t leaf_size, In<double, 1> weight,
           Rows queries, double p, InOut<double, 2> best, InOut<int64_t, 2> rows, InOut<double, 2> votes,
           InOut<int64_t, 1> visited) {
            const size_t N = points.shape(1);
            must(queries.shape(1) == points.shape(0), "points must be (D, N), and queries (Q, D)");
            must(order.shape(0) == N && axis.shape(0) == N && weight.shape(0) == N,
                 "order, axis and weight must be (N,)");
            must(leaf_size >= 0, "leaf_size must not be negative");
            must(visited.shape(0) == 0 || visited.shape(0) >= N, "visited must be (N,), or empty");
            auto found = found_of(best, rows, votes, queries);
            KDTree tree{matrix(points), order.data(), axis.data(), leaf_size, weight.data()};
            const int64_t count = without_gil([&] {
                return with_terms(p, [&](auto terms) {
                    return nearest_in_tree(tree, matrix(queries), terms, found, vector(visited));
                });
            });
            must(count >= 0, "axis must be features, of all nodes");
            return count;
        },
        arg("points"), arg("order"), arg("axis"), nb::arg("leaf_size"), arg("weight"), arg("queries"), nb::arg("p"),
        arg("best"), arg("rows"), arg("votes"), arg("visited"),
        "Search a k-d tree, depth first, of `points` (D, N) in the order of the tree. Returns how many points were "
        "visited of the last query. `visited`, if it is not empty, takes their places, in order. Otherwise as "
        "`nearest_of_all`.");
}

TOPIC(neighbors) {
    m.doc() = "The nearest rows of queries: by comparison with all rows, and by a k-d tree.";
    bind_comparisons(m);
    bind_tree(m);
}

}  // namespace suffice
