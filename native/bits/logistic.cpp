#include "../logistic.hpp"

#include "bits.hpp"

namespace suffice {

static void print_logistic(int64_t N, int64_t D) {
    auto X = numbers(N * D, 19), theta = numbers(D + 1, 20), weight = numbers(N, 21);
    std::vector<int64_t> codes(N);
    for (int64_t n = 0; n < N; n++) codes[n] = n % 2;
    std::vector<double> gradient(D + 1);
    std::vector<double> loss{binomial({X.data(), N, D}, theta.data(), codes.data(), weight.data(), gradient.data())};
    print("binomial", {&loss, &gradient});
}

DIGESTS(logistic) {
    print_logistic(301, 7);
}

}  // namespace suffice
