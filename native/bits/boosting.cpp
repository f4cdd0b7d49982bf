#include "../boosting.hpp"

#include "bits.hpp"

namespace suffice {

static std::vector<double> floats(const std::vector<int64_t>& x) { return {x.begin(), x.end()}; }

static void print_boosting(int64_t N, int64_t D) {
    using namespace newton;
    auto x = numbers(N * D, 61), g = numbers(N, 62), h = g, score = g;
    std::vector<uint8_t> codes(N * D), column(N);
    std::vector<uint32_t> rows(N), spare_rows(N);
    std::vector<int64_t> packed(N), entry(3 * N), spare(N), hist(D * BINS * 3), n_bins(D, 40);
    for (int64_t i = 0; i < N * D; i++) codes[i] = uint8_t(20.0 * (1.0 + x[i]));
    for (int64_t i = 0; i < N; i++) {
        h[i] = 1.0 + h[i], rows[i] = uint32_t((7 * i) % N), column[i] = codes[i * D];
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
    std::unique_ptr<bool[]> some(new bool[D]()), every(new bool[D]), goes(new bool[BINS]());
    for (int64_t d = 0; d < D; d++) every[d] = true, some[d] = d % 2;
    const std::vector<int8_t> cst(D);
    const double bound = std::numeric_limits<double>::infinity();
    for (double penalty : {0.0, 2.0}) {
        Search search({{n_bins.data(), D}, some.get(), cst.data(), every.get(), 10.0});
        const Split best = search.find({hist.data(), D, BINS, 3}, total, {WEIGHT_IS_COLUMN, 2, 3, 0},
                                       {penalty, -bound, bound}, all, {rows.data(), 0});
        found = floats(best.left);
        found.insert(found.end(), {best.gain, double(best.feature), double(best.edge), double(best.side)});
        print("find_newton_split", {&found});
    }
    for (int64_t b = 0; b < BINS; b++) goes[b] = b % 3 == 0;
    const int64_t n = divide(column.data(), goes.get(), {rows.data(), N}, {packed.data(), N, 1}, spare_rows.data(),
                             spare.data());
    found = floats(packed);
    const int64_t start[2] = {0, n}, stop[2] = {n, N};
    const double value[2] = {0.25, -1.0 / 3.0};
    add_to_rows(rows.data(), {start, 2}, stop, value, 0, {score.data(), N, 1});
    print("divide", {&found, &score});
}

DIGESTS(boosting) {
    print_boosting(5000, 5);
}

}  // namespace suffice
