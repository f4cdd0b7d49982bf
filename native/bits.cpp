// Prints a digest of the results of each loop, to compare compilers and architectures: tests/loops/test_bits.py.
#include <cstdio>
#include <initializer_list>

#include "distances.hpp"

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

int main() {
    print_distances(1001, 9, 16);
    print_distances(37, 4, 3);
}
