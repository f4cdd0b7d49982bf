#include "../margin.hpp"

#include "bits.hpp"

namespace suffice {

static void print_margin(int64_t N, int64_t D, int64_t K) {
    std::vector<int64_t> offset{0}, codes(N), order;
    for (int64_t s = 0; offset.back() < N; s++) offset.push_back(std::min(N, offset.back() + s % 7));
    const int64_t S = offset.size() - 1;
    for (int64_t s = 0; s < S; s++) order.push_back(S - 1 - s);
    for (int64_t n = 0; n < N; n++) codes[n] = n * n % K;
    std::vector<int32_t> indices(N * D), indptr(N + 1);
    for (int64_t p = 0; p < N * D; p++) indices[p] = int32_t(p % D);
    for (int64_t n = 0; n <= N; n++) indptr[n] = int32_t(n * D);
    auto data = numbers(N * D, 61), gram = numbers(N * N, 62), scale = numbers(S, 63), W = numbers(D * K, 64),
         T = numbers(K * K, 65), cost = numbers(K * K, 66), U = numbers(K * N, 67);
    for (double& c : scale) c = c * c;
    for (double& c : cost) c = c * c;
    const Sparse<int32_t> X{data.data(), indices.data(), indptr.data(), N};
    const LabelledChains chains{{offset.data(), S + 1}, codes.data(), {order.data(), S}};
    const MarginCost margin{{cost.data(), K, K}, scale.data()};
    const ChainWeights now{{W.data(), D, K}, {T.data(), K, K}};

    std::vector<double> late_W(D * K), late_T(K * K), level(S), share(N * K), moves(S * K * K), pairs(N * K * K);
    perceptron(X, chains, scale.data(), now, {{late_W.data(), D, K}, {late_T.data(), K, K}}, 3);
    print("perceptron", {&W, &T, &late_W, &late_T});
    for (int64_t n = 0; n < N; n++) {
        share[n * K + codes[n]] = 1.0;
        if (n > 0) pairs[(n * K + codes[n - 1]) * K + codes[n]] = 1.0;
    }
    auto first = share;
    frank_wolfe(X, chains, margin, now, {{first.data(), N, K}, {moves.data(), S, K, K}, level.data()});
    print("frank_wolfe", {&W, &T, &first, &moves, &level});
    smo({gram.data(), N, N}, chains, margin, {U.data(), K, N}, now.T,
        {{share.data(), N, K}, {pairs.data(), N, K, K}, nullptr}, 3);
    print("smo", {&T, &U, &share, &pairs});
}

DIGESTS(margin) {
    print_margin(101, 7, 3);
}

}  // namespace suffice
