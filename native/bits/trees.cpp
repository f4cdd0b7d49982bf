#include "../trees.hpp"

#include "bits.hpp"

namespace suffice {

static void print_trees(int64_t N, int64_t D, trees::Criterion::Kind kind) {
    using namespace trees;
    auto x = numbers(N * D, 23);
    std::vector<uint8_t> codes(N * D);
    for (int64_t i = 0; i < N * D; i++) codes[i] = uint8_t(30.0 * (1.0 + x[i]));
    std::vector<int64_t> n_bins(D, 60), group(N), entry(N * 2), offset(D + 1);
    std::vector<int8_t> cst(D);
    std::unique_ptr<bool[]> categorical(new bool[D]());
    for (int64_t d = 0; d <= D; d++) offset[d] = 61 * d;
    for (int64_t n = 0; n < N; n++) group[n] = codes[n] / 20, entry[2 * n] = 1 + n % 3, entry[2 * n + 1] = codes[N + n];
    const Data<uint8_t> data{{codes.data(), D, N}, n_bins.data(), categorical.get(), cst.data(), offset.data(), nullptr};
    const Criterion criterion{kind, kind < Criterion::SQUARED_ERROR ? 3 : 2};
    const double bound = std::numeric_limits<double>::infinity();
    const Limits limits{8, 2, 1, 0.0, D, 0};
    Tree<uint8_t> tree(data, criterion, limits, {entry.data(), N, 2});
    tree.grow({0, N, 0, 42, -bound, bound}, group.data());
    std::vector<double> gains, features;
    for (auto& node : tree.nodes) gains.push_back(node.gain), features.push_back(double(node.feature));
    print("grow", {&gains, &features});
}

DIGESTS(trees) {
    for (auto kind : {trees::Criterion::GINI, trees::Criterion::ENTROPY, trees::Criterion::SQUARED_ERROR})
        print_trees(800, 5, kind);
}

}  // namespace suffice
