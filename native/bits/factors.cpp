#include "../factors.hpp"

#include "bits.hpp"

namespace suffice {

static void print_factors(int64_t N, int64_t D, int64_t K) {
    auto H = numbers(D * K, 40), cross = numbers(N * K, 41), F = numbers(N * K, 42);
    for (auto* a : {&H, &F})
        for (double& x : *a) x *= x;
    const auto A = gram(H, D, K);
    std::vector<int64_t> order(K), indices, indptr{0};
    for (int64_t k = 0; k < K; k++) order[k] = (3 * k + 1) % K;
    std::vector<double> weight(N, 0.5), total(1), data, size(K);
    const RowQuadratics p{{A.data(), K, K}, {cross.data(), N, K}, order.data(), weight.data()};
    total[0] = CoordinateSweeps(p, 1e-6, 20).minimize({F.data(), N, K});
    print("coordinate_sweeps", {&F, &total});

    const auto x = numbers(N * D, 43);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t d = 0; d < D; d++)
            if (x[n * D + d] > 0.3) data.push_back(x[n * D + d]), indices.push_back(d);
        indptr.push_back(int64_t(data.size()));
    }
    for (int64_t d = 0; d < D; d++)
        for (int64_t k = 0; k < K; k++) size[k] += H[d * K + k];
    const Sparse<int64_t> X{data.data(), indices.data(), indptr.data(), N};
    std::vector<double> W(N * K, 0.3), out(data.size());
    divergence_updates(X, {H.data(), D, K}, size.data(), {0.1, 0.2, 1e-9, 1e-6, 20}, {W.data(), N, K});
    print("divergence_updates", {&W});
    total[0] = ratios(X, {H.data(), D, K}, {W.data(), N, K}, 1e-9, weight.data(), out.data());
    print("ratios", {&out, &total});
}

DIGESTS(factors) {
    print_factors(37, 20, 11);
}

}  // namespace suffice
