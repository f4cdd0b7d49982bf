#include "../newton.hpp"

#include "bits.hpp"

namespace suffice {

static std::vector<double> floats(const std::vector<int64_t>& x) { return {x.begin(), x.end()}; }

static void print_boosting(int64_t N, int64_t D) {
    using namespace newton;
    auto x = numbers(N * D, 61), g = numbers(N, 62), h = g, score = g;
    std::vector<uint8_t> codes(N * D);
    std::vector<uint32_t> rows(N);
    std::vector<int64_t> packed(N), entry(3 * N), hist(D * BINS * 3), n_bins(D, 40);
    for (int64_t i = 0; i < N * D; i++) codes[i] = uint8_t(20.0 * (1.0 + x[i]));
    for (int64_t i = 0; i < N; i++) {
        h[i] = 1.0 + h[i], rows[i] = uint32_t((7 * i) % N);
        entry[3 * i] = 1 + i % 5, entry[3 * i + 1] = int64_t(100.0 * g[i]), entry[3 * i + 2] = 1;
    }
    const Codes all{codes.data(), N, D};
    pack({g.data(), N}, h.data(), 1e4, 1e5, 32, packed.data());
    auto found = floats(packed);
    print("pack", {&found});
    std::vector<uint64_t> lanes(D * BINS);
    add_lanes(all, {rows.data(), N}, packed.data(), 32, lanes.data(), hist.data());
    found = floats(hist);
    print("add_lanes", {&found});
    std::fill(hist.begin(), hist.end(), 0);
    add_entries(all, {rows.data(), N}, {entry.data(), N, 3}, hist.data());
    found = floats(hist);
    print("add_entries", {&found});
    Sums total{0, 0, 0};
    for (int64_t b = 0; b < BINS; b++) total.h += hist[3 * b], total.g += hist[3 * b + 1], total.w += hist[3 * b + 2];
    std::unique_ptr<bool[]> some(new bool[D]()), every(new bool[D]);
    for (int64_t d = 0; d < D; d++) every[d] = true, some[d] = d % 2;
    const std::vector<int8_t> cst(D);
    const double bound = std::numeric_limits<double>::infinity();
    for (double penalty : {0.0, 2.0}) {
        Search search({{n_bins.data(), D}, some.get(), cst.data(), 10.0});
        const Split best = search.find({hist.data(), D, BINS, 3}, every.get(), total, {WEIGHT_IS_COLUMN, 2, 3, 0},
                                       {penalty, -bound, bound}, all, {rows.data(), 0});
        found = floats(best.left);
        found.insert(found.end(), {best.gain, double(best.feature), double(best.edge), double(best.side)});
        print("find_newton_split", {&found});
    }
    const int64_t start[2] = {0, N / 3}, stop[2] = {N / 3, N};
    const double value[2] = {0.25, -1.0 / 3.0};
    add_to_rows(rows.data(), {start, 2}, stop, value, 0, {score.data(), N, 1});
    print("add_to_rows", {&score});
}

// A tree of packed integers, whose weights are counted; threads do not decide a bit.
static void print_tree(int64_t N, int64_t D, int64_t threads) {
    using namespace newton;
    auto x = numbers(N * D, 63), g = numbers(N, 64), h = g;
    std::vector<uint8_t> codes(N * D), columns(N * D);
    for (int64_t i = 0; i < N; i++)
        for (int64_t d = 0; d < D; d++) codes[i * D + d] = columns[d * N + i] = uint8_t(100.0 * (1.0 + x[i * D + d]));
    std::vector<uint32_t> rows(N), order(N);
    std::iota(rows.begin(), rows.end(), 0);
    for (double& v : h) v = 0.1 + v * v;
    std::vector<int64_t> entry(N), n_bins(D, 200);
    pack({g.data(), N}, h.data(), 1e4, 1e5, 32, entry.data());
    const std::vector<int8_t> cst(D);
    const std::unique_ptr<bool[]> none(new bool[D]());
    const Data data{{codes.data(), N, D}, {columns.data(), D, N}, {nullptr, 0, D}, 32};
    Team team(threads);
    Tree tree(data, {{n_bins.data(), D}, none.get(), cst.data(), 10.0}, {WEIGHT_IS_COUNTED, 100, 5, 110000},
              {1 << 30, 0, D - 1, 31, 100}, 1.0, {rows.data(), {entry.data(), N, 1}}, team);
    tree.grow(42);
    tree.order(order.data());
    std::vector<double> found(order.begin(), order.end());
    for (const Node& node : tree.nodes) found.insert(found.end(), {node.split.gain, double(node.split.feature)});
    print("grow_newton", {&found});
}

DIGESTS(boosting) {
    print_boosting(5000, 5);
    for (int64_t threads : {1, 2}) print_tree(3000, 6, threads);
}

}  // namespace suffice
