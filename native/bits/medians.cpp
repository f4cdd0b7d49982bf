#include "../medians.hpp"

#include "bits.hpp"

namespace suffice {

static void print_medians(int64_t N, int64_t R) {
    std::vector<int64_t> rank, weight, value, found(N);
    for (int64_t n = 0; n < N; n++) rank.push_back(n * n % R), weight.push_back(n % 4);
    for (int64_t r = 0; r < R; r++) value.push_back(r * r - 50);
    median_errors({rank.data(), N}, weight.data(), {value.data(), R}, found.data());
    const std::vector<double> out(found.begin(), found.end());
    print("median_errors", {&out});
}

DIGESTS(medians) {
    print_medians(300, 37);
}

}  // namespace suffice
