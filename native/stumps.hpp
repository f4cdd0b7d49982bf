// Trees of one split, from codes of features and integer weights of rows, which boosting changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "grid.hpp"
#include "trees.hpp"

namespace suffice::stumps {

// --- one feature -------------------------------------------------------------------------------------------

// Add the weights of rows to the places `row(i)` of a histogram (., K). Returns false at a row of no class.
template <class Row>
static INLINE bool add_weights(int64_t N, const int64_t* group, const int64_t* weight, int64_t K,
                               int64_t* __restrict count, Row row) {
    constexpr int64_t AT_ONCE = 4;
    const auto add = [&](int64_t i) { count[row(i) * K + group[i]] += weight[i]; };
    int64_t i = 0;
    for (; i + AT_ONCE <= N; i += AT_ONCE) {
        bool strange = false;
        for (int64_t r = 0; r < AT_ONCE; r++) strange |= uint64_t(group[i + r]) >= uint64_t(K);
        if (strange) return false;
        for (int64_t r = 0; r < AT_ONCE; r++) add(i + r);
    }
    for (; i < N; i++) {
        if (uint64_t(group[i]) >= uint64_t(K)) return false;
        add(i);
    }
    return true;
}

// Add the weights of rows to the histogram (B, K) of one feature.
template <class Code>
static bool count_classes(Vector<const Code> codes, const int64_t* group, const int64_t* weight,
                          trees::Sums count) {
    const auto row = [&](int64_t i) { return int64_t(codes[i]); };
    return count.columns == 2 ? add_weights(codes.size, group, weight, 2, count.data, row)
                              : add_weights(codes.size, group, weight, count.columns, count.data, row);
}

struct Stump {
    trees::Split split;
    std::vector<int64_t> categories, left;  // on the left, and the weights of the classes there
};

// The best split of one feature, from its histogram (B, K), whose last bin is that of missing values. Without
// one, the gain is -1.
static Stump best_stump(Matrix<const int64_t> count, bool categorical, int8_t sign, const int64_t* total,
                        const trees::Criterion& criterion, int64_t least) {
    constexpr double bound = std::numeric_limits<double>::infinity();
    const int64_t n_bins = count.rows - 1, K = count.columns, offset = 0;
    const trees::Data<uint8_t> data{{nullptr, 1, 0}, &n_bins, &categorical, &sign, &offset, nullptr};
    trees::Limits limits{};
    limits.least = least;
    limits.max_features = 1;
    trees::Search<uint8_t> search(data, criterion, limits, 0);
    Stump out{search.find({0, 0, 0, 0, -bound, bound}, {nullptr, nullptr, {}}, count.data, total), {}, {}};
    out.left.resize(K);
    if (out.split.gain < 0.0) {
        out.split = {};
        return out;
    }
    const auto add = [&](int64_t b) {
        for (int64_t k = 0; k < K; k++) out.left[k] += count[b][k];
    };
    if (categorical) out.categories = search.set();
    for (int64_t b : out.categories) add(b);
    for (int64_t b = 0; b <= out.split.below && !categorical; b++) add(b);
    if (out.split.side == trees::MISSING_LEFT) add(n_bins);
    return out;
}

// --- two classes, many bins --------------------------------------------------------------------------------
//
// First the weights of runs of bins are counted, in a coarse histogram that fits in the fastest cache. They
// bound the gains of splits within the runs. Only the bins of runs whose bound is not below the best gain so
// far are counted.

constexpr int RUN = 6;  // bits of a code that are left out in a coarse histogram
constexpr double EPS = 0x1p-50;

// Add the weights of rows to the histogram (J, 2) of runs of 2^RUN bins. Returns false at a row of no class.
template <class Code>
static bool count_runs(Vector<const Code> codes, const int64_t* group, const int64_t* weight,
                       int64_t* count) {
    return add_weights(codes.size, group, weight, 2, count,
                       [&](int64_t i) { return int64_t(codes[i]) >> RUN; });
}

// At least the gain of a split: see `trees::gain_of_two`, with the largest rounding error.
static INLINE double largest_gain(int64_t left_0, int64_t left_1, int64_t total_0, int64_t total_1) {
    const double a = double(left_0), b = double(left_1);
    const double c = double(total_0 - left_0), d = double(total_1 - left_1);
    const double cross = std::abs(b * c - d * a) + EPS * (b * c + d * a);
    return a > 0.0 && c > 0.0 ? cross * cross / (a * c) : 0.0;
}

// For each run of bins (J, 2), an upper bound of the gains of splits within it or after it; returns the
// largest gain of a split after a run.
//
// The gain is a convex function of the weights of the classes on the left, so within a run it is largest at a
// corner of the rectangle that they are in.
static double bounds_of_runs(Matrix<const int64_t> count, int64_t total_0, int64_t total_1, int64_t least,
                             double* bound) {
    const int64_t total = total_0 + total_1;
    int64_t left_0 = 0, left_1 = 0;
    double best = 0.0, before = 0.0, after = 0.0;
    for (int64_t j = 0; j < count.rows; j++, before = after) {
        const int64_t next_0 = left_0 + count[j][0], next_1 = left_1 + count[j][1], x = next_0 + next_1;
        after = largest_gain(x, next_1, total, total_1);
        bound[j] = std::max({before, largest_gain(left_0 + next_1, next_1, total, total_1),
                             largest_gain(next_0 + left_1, left_1, total, total_1), after});
        if (x >= least && total - x >= least) {
            const trees::Fraction gain = trees::gain_of_two(x, next_1, total, total_1);
            best = std::max(best, gain.x / gain.y);
        }
        left_0 = next_0, left_1 = next_1;
    }
    return best;
}

// The gain of a split; the last bin on the left, or -1 if there is no split; and the weights of the classes
// on the left.
struct RunSplit {
    double gain = 0.0;
    int64_t bin = -1, left_0 = 0, left_1 = 0;
    bool of_classes = true;  // false if there is a row of no class
};

// The best split of a feature, in the runs of bins whose bound is not below `lowest`.
template <class Code>
static RunSplit best_in_runs(Vector<const Code> codes, const int64_t* group, const int64_t* weight,
                             Matrix<const int64_t> count, const double* bound, double lowest, int64_t total_0,
                             int64_t total_1, int64_t least) {
    const int64_t J = count.rows, total = total_0 + total_1;
    std::vector<int64_t> place(J, -1);  // of the bins of a run that are counted
    int64_t n_fine = 0;
    for (int64_t j = 0; j < J; j++)
        if (bound[j] >= lowest) place[j] = n_fine++ << RUN;
    std::vector<int64_t> fine(n_fine << (RUN + 1));
    RunSplit out;
    for (int64_t i = 0; i < codes.size; i++) {
        const int64_t c = codes[i], first = place[c >> RUN];
        if (first < 0) continue;
        if (uint64_t(group[i]) > 1) {
            out.of_classes = false;
            return out;
        }
        fine[(first + (c & ((1 << RUN) - 1))) * 2 + group[i]] += weight[i];
    }
    trees::Largest best;
    int64_t left_0 = 0, left_1 = 0;
    for (int64_t j = 0; j < J; j++) {
        if (place[j] < 0) {
            left_0 += count[j][0];
            left_1 += count[j][1];
            continue;
        }
        const int64_t* bin = &fine[place[j] * 2];
        for (int64_t b = 0; b < 1 << RUN; b++, bin += 2) {
            if (bin[0] + bin[1] == 0) continue;
            left_0 += bin[0];
            left_1 += bin[1];
            const int64_t x = left_0 + left_1;
            if (x < least || total - x < least || x == total) continue;
            if (best.add(trees::gain_of_two(x, left_1, total, total_1)))
                out.bin = (j << RUN) + b, out.left_0 = left_0, out.left_1 = left_1;
        }
    }
    out.gain = 2.0 * best.x / best.y / double(total);
    return out;
}

// The first bin after this one, which is less than n_bins, that has a weight; or n_bins.
template <class Code>
static int64_t next_bin(Vector<const Code> codes, const int64_t* weight, int64_t bin, int64_t n_bins) {
    uint64_t least = uint64_t(n_bins - bin - 1);  // bins between them; before this bin, they are many
    for (int64_t i = 0; i < codes.size; i++) {
        const uint64_t between = uint64_t(int64_t(codes[i]) - bin - 1);
        if (between < least && weight[i] > 0) least = between;
    }
    return bin + 1 + int64_t(least);
}

// --- weights -----------------------------------------------------------------------------------------------

// Multiply the factor of each row by the change (A, K) of its answer and its class, and round its weight,
// times the factor, to integers of this unit. Whole weights are multiplied exactly. Returns false at a row
// of no answer or class.
static bool reweigh(Vector<const int64_t> answer, const int64_t* group, Matrix<const double> change,
                    const double* factor, const double* weight, double unit, double* __restrict new_factor,
                    int64_t* __restrict entry) {
    const uint64_t A = uint64_t(change.rows), K = uint64_t(change.columns);
    for (int64_t i = 0; i < answer.size; i++) {
        if (uint64_t(answer[i]) >= A || uint64_t(group[i]) >= K) return false;
        new_factor[i] = factor[i] * change[answer[i]][group[i]];
        entry[i] = weighted(weight[i], on_grid(new_factor[i], unit, LARGEST_INTEGER));
    }
    return true;
}

}  // namespace suffice::stumps
