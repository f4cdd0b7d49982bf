#include "../neighbors.hpp"

#include "bits.hpp"

namespace suffice {

static void print_nearest(double p) {
    const int64_t N = 300, D = 3, K = 4, Q = 20;
    auto x = numbers(N * D, 101), query = numbers(Q * D, 102), weight = numbers(N, 103);
    for (double& w : weight) w += 1.0;
    const Matrix<const double> X{x.data(), N, D}, queries{query.data(), Q, D};
    std::vector<double> best(Q * K, BEYOND), votes(Q * K), far(Q * N), points(D * N), in_tree(N), numbered(Q * K);
    std::vector<int64_t> rows(Q * K), order(N), axis(N);
    const Found found{{best.data(), Q, K}, {rows.data(), Q, K}, {votes.data(), Q, K}};
    auto print_found = [&](const char* loop) {
        std::copy(rows.begin(), rows.end(), numbered.begin());
        print(loop, {&best, &numbered, &votes});
        std::fill(best.begin(), best.end(), BEYOND);
    };
    with_terms(p, [&](auto terms) {
        distances_of(X, queries, terms, {far.data(), Q, N});
        print("distances_of", {&far});
        nearest_of_all({X, 0, weight.data()}, queries, terms, found);
        print_found("nearest_of_all");
        build_tree(X, 10, order.data(), axis.data());
        for (int64_t n = 0; n < N; n++) {
            in_tree[n] = weight[order[n]];
            for (int64_t d = 0; d < D; d++) points[d * N + n] = X[order[n]][d];
        }
        const KDTree tree{{points.data(), D, N}, order.data(), axis.data(), 10, in_tree.data()};
        nearest_in_tree(tree, queries, terms, found, {nullptr, 0});
        print_found("nearest_in_tree");
    });
}

DIGESTS(neighbors) {
    for (double p : {1.0, 2.0, 2.5, BEYOND}) print_nearest(p);
}

}  // namespace suffice
