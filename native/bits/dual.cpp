#include "../dual.hpp"

#include "bits.hpp"

namespace suffice {

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

DIGESTS(dual) {
    print_dual(41);
}

}  // namespace suffice
