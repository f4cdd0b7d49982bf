#include "../labels.hpp"

#include "bits.hpp"

namespace suffice {

static void print_labels(int64_t S, int64_t K) {
    std::vector<int64_t> offset{0}, codes;
    for (int64_t s = 0; s < S; s++) offset.push_back(offset.back() + s % 11);
    const int64_t N = offset.back();
    for (int64_t n = 0; n < N; n++) codes.push_back(n * n % K);
    auto weight = numbers(S, 24), states = numbers(N * K, 25), moves = numbers(K * K, 26);
    std::vector<double> of_states(N * K), of_moves(K * K);
    std::vector<double> score{observe({codes.data(), offset.data(), weight.data(), S},
                                      {{states.data(), N, K}, {moves.data(), 1, K, K}},
                                      {{of_states.data(), N, K}, {of_moves.data(), 1, K, K}})};
    print("observe", {&score, &of_states, &of_moves});
}

DIGESTS(labels) {
    print_labels(30, 5);
}

}  // namespace suffice
