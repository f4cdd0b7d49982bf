#include "../distances.hpp"

#include "bits.hpp"

namespace suffice {

static void print_distances(int64_t N, int64_t D, int64_t K) {
    auto x = numbers(N * D, 1), c = numbers(K * D, 2), s = numbers(K * D, 3), w = numbers(N, 4), r = numbers(K * N, 5),
         u = numbers(K * D * D, 6);
    Matrix<const double> X{x.data(), N, D}, C{c.data(), K, D}, S{s.data(), K, D}, R{r.data(), K, N};
    std::vector<int64_t> labels(N);
    std::vector<double> distance(N), total(K), offset(K * D), out(K * N), squares(K * D), scatter(K * D * D), sum(D);
    nearest(X, C, labels.data(), distance.data());
    print("nearest", {&distance});
    distance[0] = nearest_sums(X, w.data(), C, N / 3 + 1, labels.data(), total.data(), {offset.data(), K, D});
    print("nearest_sums", {&distance, &total, &offset});
    weighted_sum(X, w.data(), sum.data());
    print("weighted_sum", {&sum});
    weighted_distances(X, C, S, {out.data(), K, N});
    print("weighted_distances", {&out});
    squares_about(X, R, C, {squares.data(), K, D});
    print("squares_about", {&squares});
    mahalanobis(X, C, {u.data(), K, D, D}, {out.data(), K, N});
    print("mahalanobis", {&out});
    scatters_about(X, R, C, {scatter.data(), K, D, D});
    print("scatters_about", {&scatter});
}

DIGESTS(distances) {
    print_distances(1001, 9, 16);
    print_distances(37, 4, 3);
}

}  // namespace suffice
