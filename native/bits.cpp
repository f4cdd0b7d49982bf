// Prints a digest of the results of each loop, to compare compilers and architectures: tests/loops/test_bits.py.
#include <cstdio>
#include <initializer_list>

#include "coordinates.hpp"
#include "distances.hpp"
#include "dual.hpp"

using namespace suffice;

// Numbers from -1 to 1, the same everywhere.
static std::vector<double> numbers(size_t size, uint64_t seed) {
    std::vector<double> out(size);
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (double& x : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x = double(int64_t(state) >> 11) * 0x1p-52;
    }
    return out;
}

static void print(const char* loop, std::initializer_list<const std::vector<double>*> results) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (auto* result : results)
        for (double x : *result) {
            uint64_t bits;
            std::memcpy(&bits, &x, 8);
            hash = (hash ^ bits) * 0x100000001B3u;
        }
    std::printf("%s %016llx\n", loop, (unsigned long long)hash);
}

static void print_distances(int64_t N, int64_t D, int64_t K) {
    auto x = numbers(N * D, 1), c = numbers(K * D, 2), s = numbers(K * D, 3), w = numbers(N, 4), r = numbers(K * N, 5),
         u = numbers(K * D * D, 6);
    Matrix<const double> X{x.data(), N, D}, C{c.data(), K, D}, S{s.data(), K, D}, R{r.data(), K, N};
    std::vector<int64_t> labels(N);
    std::vector<double> distance(N), total(K), offset(K * D), out(K * N), squares(K * D), scatter(K * D * D), sum(D);
    nearest(X, C, labels.data(), distance.data());
    print("nearest", {&distance});
    distance[0] = nearest_sums(X, w.data(), C, labels.data(), total.data(), {offset.data(), K, D});
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

// A = X'X, of more rows than columns.
static std::vector<double> gram(const std::vector<double>& x, int64_t N, int64_t D) {
    std::vector<double> A(D * D);
    for (int64_t n = 0; n < N; n++)
        for (int64_t i = 0; i < D; i++)
            for (int64_t j = 0; j < D; j++) A[i * D + j] += x[n * D + i] * x[n * D + j];
    return A;
}

static void print_coordinates(int64_t D, int64_t T) {
    auto A = gram(numbers(3 * D * D, 7), 3 * D, D), b = numbers(D * T, 8), w = numbers(D, 9), W = numbers(D * T, 10);
    std::vector<double> q(D), Q(D * T), gap(1);
    Matrix<const double> G{A.data(), D, D};
    gap[0] = descend({G, b.data(), 5.0, 0.1, 0.2, false}, {1e-9, 100}, w.data(), q.data()).first;
    print("descend", {&gap, &w, &q});
    JointLeastSquares joint{G, {b.data(), D, T}, 5.0, 0.1, 0.2};
    gap[0] = descend_jointly(joint, {1e-9, 100}, {W.data(), D, T}, {Q.data(), D, T}).first;
    print("descend_jointly", {&gap, &W, &Q});
}

static void print_dual(int64_t N) {
    auto K = gram(numbers(2 * N * N, 11), 2 * N, N), slope = numbers(N, 12), beta = numbers(N, 13);
    std::vector<double> lower(N, -1.0), upper(N, 1.0);
    std::vector<int64_t> group(N), slots{2, 0, 1, 3, 4};
    minimize_pairs({K.data(), N, N}, slope.data(), beta.data(), {lower.data(), upper.data(), group.data(), N, 1}, 1e-9,
                   1000);
    print("minimize_pairs", {&slope, &beta});
    add_columns<double>({K.data(), N, N}, {slots.data(), 5}, beta.data(), slope.data());
    print("add_columns", {&slope});
}

int main() {
    print_distances(1001, 9, 16);
    print_distances(37, 4, 3);
    print_coordinates(13, 3);
    print_dual(41);
}
