#include "../log_linear.hpp"

#include "bits.hpp"

namespace suffice {

static void print_log_linear(int64_t N, int64_t K) {
    auto scores = numbers(N * K, 22), bias = numbers(K, 20), weight = numbers(N, 21);
    std::vector<int64_t> classes(N);
    for (int64_t n = 0; n < N; n++) classes[n] = n % K;
    std::vector<double> loss{errors({scores.data(), N, K}, bias.data(), classes.data(), weight.data())};
    print("errors", {&loss, &scores});
}

DIGESTS(log_linear) {
    print_log_linear(301, 4);
}

}  // namespace suffice
