#include "../chains.hpp"

#include "bits.hpp"

namespace suffice {

static void print_chains(int64_t S, int64_t K) {
    std::vector<int64_t> offset{0};
    for (int64_t s = 0; s < S; s++) offset.push_back(offset.back() + 1 + s * 7 % 23);
    const int64_t N = offset.back();
    auto U = numbers(N * K, 15), start = numbers(K, 16), moves = numbers(K * K, 17), weight = numbers(S, 18);
    std::vector<double> E(N * K), top(N), first(K), A(K * K), turned(K * K), scale(N), score(S);
    exp_below_largest({U.data(), N, K}, {E.data(), N, K}, top.data());
    print("exp_below_largest", {&E, &top});
    exp_of(start.data(), K, first.data());
    exp_of(moves.data(), K * K, A.data());
    for (int64_t i = 0; i < K; i++)
        for (int64_t j = 0; j < K; j++) turned[j * K + i] = A[i * K + j];
    const Vector<const int64_t> parts{offset.data(), S + 1};
    const Chains chains{{E.data(), N, K}, first.data(), {A.data(), 1, K, K}, parts};
    const Chains logs{{U.data(), N, K}, start.data(), {moves.data(), 1, K, K}, parts};
    std::vector<double> alpha(N * K), beta(N * K), gamma(N * K), pairs(K * K);
    std::unique_ptr<bool[]> lost(new bool[S]()), faded(new bool[S]());
    forward(chains, {alpha.data(), N, K}, scale.data(), lost.get());
    print("forward", {&alpha, &scale});
    smooth(chains, {turned.data(), 1, K, K}, weight.data(),
           {{gamma.data(), N, K}, {pairs.data(), 1, K, K}, scale.data(), lost.get(), faded.get()});
    print("smooth", {&gamma, &pairs, &scale});
    std::vector<int64_t> path(N);
    best_paths(logs, path.data(), score.data());
    print("best_paths", {&score});
    log_forward(logs, {alpha.data(), N, K});
    log_backward(logs, {beta.data(), N, K});
    print("log_forward and log_backward", {&alpha, &beta});
}

DIGESTS(chains) {
    print_chains(37, 5);
    print_chains(9, 20);
}

}  // namespace suffice
