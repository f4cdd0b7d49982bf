#include "../hidden_markov.hpp"

#include "bits.hpp"

namespace suffice {

static void print_expected(int64_t S, int64_t K, int64_t D) {
    std::vector<int64_t> offset{0};
    for (int64_t s = 0; s < S; s++) offset.push_back(offset.back() + 20 + s * 7 % 5);
    const int64_t N = offset.back();
    auto X = numbers(N * D, 21), mean = numbers(K * D, 22), constant = numbers(K, 23);
    auto weight = numbers(S, 24), start = numbers(K, 25), moves = numbers(K * K, 26);
    std::vector<double> half_precision(K * D, 0.75), turned(K * K);
    for (auto* probabilities : {&weight, &start, &moves})
        for (double& p : *probabilities) p = std::max(p, -p) + 0.01;
    for (int64_t i = 0; i < K; i++)
        for (int64_t j = 0; j < K; j++) turned[j * K + i] = moves[i * K + j];
    const Chains c{{nullptr, N, K}, start.data(), {moves.data(), 1, K, K}, {offset.data(), S + 1}};
    std::vector<double> first(K), pairs(K * K), mass(K), center(K * D), scatter(K * D), log_likelihood(1);
    AddMoments moments(K, D, {mass.data(), {center.data(), K, D}, {scatter.data(), K, D}});
    Expected out{0.0, first.data(), {pairs.data(), K, K}};
    const DiagonalGaussians densities{{mean.data(), K, D}, {half_precision.data(), K, D}, constant.data()};
    expect(c, {turned.data(), 1, K, K}, weight.data(), {X.data(), N, D}, densities, moments, out);
    log_likelihood[0] = out.log_likelihood;
    print("expect", {&log_likelihood, &first, &pairs, &mass, &center, &scatter});
}

DIGESTS(hidden_markov) {
    print_expected(37, 5, 3);
    print_expected(9, 20, 4);
}

}  // namespace suffice
