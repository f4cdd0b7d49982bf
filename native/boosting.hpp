// Histograms of gradients and curvatures, and the splits of Newton trees, from codes of one byte.
//
// All sums are integers. In a histogram (D, 256, C) the columns are the curvature, the gradient and the weight
// of the rows of each bin; where the curvature of a row is its weight, the last is left out. Rows of weight
// one have both numbers in the two lanes of one integer, whose sums are taken apart after each run of rows.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "grid.hpp"

namespace suffice::newton {

constexpr int64_t NO_SPLIT = -1;
constexpr int64_t MISSING_RIGHT = 0, MISSING_LEFT = 1, NONE_MISSING = 2;

constexpr int64_t BINS = 256;
constexpr int64_t RUN = 1 << 12;  // rows of which lanes can hold the sum
constexpr int64_t AHEAD = 16;     // rows whose codes are on their way from memory

using Codes = Matrix<const uint8_t>;  // (N, D), of all rows
using Rows = Vector<const uint32_t>;

// Integers of rows, in their order: (N, 1) packed, or (N, C).
using Entries = Matrix<const int64_t>;

// --- histograms --------------------------------------------------------------------------------------------

// Add rows, whose gradient is above `lane` bits of the curvature, to a histogram (D, 256, 2); `lanes` (D, 256)
// is space.
static void add_lanes(Codes codes, Rows rows, const int64_t* entry, int lane, uint64_t* __restrict lanes,
                      int64_t* __restrict hist) {
    const int64_t D = codes.columns, lowest = (int64_t(1) << lane) - 1;
    for (int64_t a = 0; a < rows.size; a += RUN) {
        std::fill_n(lanes, D * BINS, 0);
        for (int64_t i = a; i < std::min(a + RUN, rows.size); i++) {
            const uint8_t* later = codes[rows[std::min(i + AHEAD, rows.size - 1)]];
            prefetch(later);
            prefetch(later + D - 1);
            const uint8_t* code = codes[rows[i]];
            const uint64_t p = uint64_t(entry[i]);
            int64_t d = 0;
            for (; d + 4 <= D; d += 4) {
                uint64_t* to = lanes + d * BINS;
                to[code[d]] += p;
                to[BINS + code[d + 1]] += p;
                to[2 * BINS + code[d + 2]] += p;
                to[3 * BINS + code[d + 3]] += p;
            }
            for (; d < D; d++) lanes[d * BINS + code[d]] += p;
        }
        for (int64_t b = 0; b < D * BINS; b++) {
            const int64_t both = int64_t(lanes[b]);
            hist[2 * b] += both & lowest;
            hist[2 * b + 1] += both >> lane;
        }
    }
}

// Add rows with C integers each to a histogram (D, 256, C).
template <int C>
static void add_entries_of(Codes codes, Rows rows, Entries entry, int64_t* __restrict hist) {
    for (int64_t i = 0; i < rows.size; i++) {
        const uint8_t* code = codes[rows[i]];
        for (int64_t d = 0; d < codes.columns; d++)
            for (int k = 0; k < C; k++) hist[(d * BINS + code[d]) * C + k] += entry[i][k];
    }
}

static void add_entries(Codes codes, Rows rows, Entries entry, int64_t* hist) {
    if (entry.columns == 2)
        add_entries_of<2>(codes, rows, entry, hist);
    else
        add_entries_of<3>(codes, rows, entry, hist);
}

// --- rows --------------------------------------------------------------------------------------------------

// The gradients and curvatures of rows of weight one as integers in one. Without a curvature, which is no
// array, it is one unit.
static void pack(Vector<const double> g, const double* h, double gradient_unit, double curvature_unit, int lane,
                 int64_t* __restrict out) {
    if (h)
        each_integer(h, g.size, curvature_unit, LARGEST_INTEGER, [&](int64_t i, double x) { out[i] = int64_t(x); });
    else
        std::fill_n(out, g.size, int64_t(curvature_unit));
    each_integer(g.data, g.size, gradient_unit, LARGEST_INTEGER, [&](int64_t i, double x) {
        out[i] = int64_t((uint64_t(int64_t(x)) << lane) + uint64_t(out[i]));
    });
}

// Add the value of each leaf to raw score k of its rows, those from start to stop.
static void add_to_rows(const uint32_t* rows, Vector<const int64_t> start, const int64_t* stop,
                        const double* value, int64_t k, Matrix<double> score) {
    for (int64_t t = 0; t < start.size; t++)
        for (int64_t i = start[t]; i < stop[t]; i++) score[rows[i]][k] += value[t];
}

// --- splits ------------------------------------------------------------------------------------------------

// Where the weight of a bin is found.
enum Mode : int64_t { WEIGHT_IS_CURVATURE, WEIGHT_IS_COLUMN, WEIGHT_IS_COUNTED };

// Curvature, gradient and weight.
struct Sums {
    int64_t h, g, w;
};

// What the value of a leaf is: -G / (H + penalty), within bounds.
struct Value {
    double penalty, low, high;

    double operator()(double g, double h) const {
        return std::min(std::max(-g / (h + penalty), low), high);
    }
    bool plain() const {
        constexpr double bound = std::numeric_limits<double>::infinity();
        return penalty == 0.0 && low == -bound && high == bound;
    }
};

// What a split must satisfy.
struct Limits {
    int64_t mode, least_h, least_w;
    int64_t most_h;  // the largest curvature of a row of weight one
};

// What the bins of features are.
struct Features {
    Vector<const int64_t> n_bins;
    const bool* categorical;
    const int8_t* cst;      // the signs of monotonicity constraints
    double smoothing;       // added to the curvature of a category before categories are sorted by their values
};

struct Split {
    double gain = 0.0;
    int64_t feature = NO_SPLIT, edge = 0, side = NONE_MISSING;
    std::vector<int64_t> left;  // categories
};

// The best split after one of the first bins: their number, and where missing values go. `is_sure`: the
// weights of both sides are known to be large enough.
struct Cut {
    double gain = 0.0;
    int64_t first = 0, side = MISSING_RIGHT;
    bool is_sure = true;
};

// One feature in a node.
struct Bins {
    Matrix<const int64_t> hist;  // (256, C)
    int64_t n;                   // the bin of missing values is the one after the others
    const int64_t* place;        // the order of the bins
    const int64_t* counts;       // the weights of the bins, if they were counted
    Sums total;
    double parent;  // the decrease of the loss by the node itself, times two
    Value value;
    int64_t sign;

    bool plain() const { return sign == 0 && value.plain(); }

    // The decrease of the loss by a split with the sums (h, g) on the left, times two. Without a penalty and
    // bounds by the difference of the values, which does not cancel.
    template <class F>
    INLINE F plain_gain(const F& h, const F& g) const {
        const double total_h = double(total.h), total_g = double(total.g);
        const F other_h = total_h - h, other_g = total_g - g, cross = g * other_h - other_g * h;
        return cross * cross / (h * other_h * total_h);
    }

    // The same in general; negative if the values of the sides are not in the order of the constraint.
    double gain(double h, double g) const {
        const double other_h = double(total.h) - h, other_g = double(total.g) - g;
        const double a = value(g, h), b = value(other_g, other_h);
        if ((b - a) * double(sign) < 0.0) return -1.0;
        return -(a * g) - b * other_g - parent;
    }
};

// Sums on the left after each bin of a feature, and the gains.
struct Sides {
    static constexpr int64_t ROOM = BINS + f64s::N;
    double h[ROOM], g[ROOM], gain[ROOM];

    // The largest gain of n splits, at least `least`.
    double largest_gain(const Bins& f, int64_t n, double least) {
        if (!f.plain()) {
            for (int64_t j = 0; j < n; j++) least = std::max(least, gain[j] = f.gain(h[j], g[j]));
            return least;
        }
        for (int64_t j = n; j < n + f64s::N; j++) h[j] = 1.0, g[j] = 0.0;
        f64s most = all(least);
        for (int64_t j = 0; j < n; j += f64s::N) {
            f64s x = f.plain_gain(load(h + j), load(g + j));
            for (int64_t i = n; i < j + f64s::N; i++) x.set(int(i - j), -1.0);
            store(gain + j, x);
            most = greatest(most, x);
        }
        return largest(most);
    }
};

static Cut best_of_bins(const Bins& f, const Limits& limits, Sides& sides) {
    Cut best;
    const int64_t* missing = f.hist[f.n];
    const bool has_missing = missing[0] != 0 || missing[1] != 0, in_column = limits.mode == WEIGHT_IS_COLUMN;
    const bool unknown = limits.mode == WEIGHT_IS_COUNTED && !f.counts;
    const double sure_h = double(limits.least_w) * double(limits.most_h);
    const auto weight_of = [&](int64_t b) { return in_column ? f.hist[b][2] : f.counts ? f.counts[b] : 0; };
    for (int64_t side = MISSING_RIGHT; side <= (has_missing ? MISSING_LEFT : MISSING_RIGHT); side++) {
        const bool on_left = side == MISSING_LEFT;
        Sums left{on_left ? missing[0] : 0, on_left ? missing[1] : 0, on_left ? weight_of(f.n) : 0};
        // All bins on the left and missing values on the right is a split too.
        const int64_t last = has_missing && !on_left ? f.n : f.n - 1;
        int64_t first = last, n = 0;  // the sums on the left grow: splits that are allowed follow each other
        for (int64_t j = 0; j < last; j++) {
            const int64_t* b = f.hist[f.place[j]];
            left.h += b[0];
            left.g += b[1];
            left.w += weight_of(f.place[j]);
            const int64_t other_h = f.total.h - left.h, w = limits.mode == WEIGHT_IS_CURVATURE ? left.h : left.w;
            if (other_h < limits.least_h || (!unknown && f.total.w - w < limits.least_w)) break;
            if (left.h < limits.least_h || (!unknown && w < limits.least_w)) continue;
            if (n == 0) first = j;
            sides.h[n] = double(left.h);
            sides.g[n++] = double(left.g);
        }
        const double most = sides.largest_gain(f, n, best.gain);
        if (!(most > best.gain)) continue;
        const int64_t j = std::find(sides.gain, sides.gain + n, most) - sides.gain;
        const bool is_sure = sides.h[j] >= sure_h && double(f.total.h) - sides.h[j] >= sure_h;
        best = {most, first + j + 1, side, !unknown || is_sure};
    }
    return best;
}

// The best split of a node with these sums, from its histogram (D, 256, C). The first feature and the lowest
// bin win after equal gains.
class Search {
  public:
    explicit Search(const Features& features) : features(features), place(BINS), counts(BINS), share(BINS) {}

    // `may_split` (D,) are the features to try; `codes` and `rows` are of the node, to count weights.
    Split find(Tensor<const int64_t> hist, const bool* may_split, const Sums& total, const Limits& limits,
               const Value& value, Codes codes, Rows rows) {
        Split best;
        const double parent = -value(double(total.g), double(total.h)) * double(total.g);
        for (int64_t d = 0; d < features.n_bins.size; d++) {
            const int64_t n = features.n_bins[d];
            if (!may_split[d] || n == 0) continue;
            sort_bins(hist[d], d);
            Bins f{hist[d], n, place.data(), nullptr, total, parent, value, features.cst[d]};
            Cut cut = best_of_bins(f, limits, sides);
            if (cut.gain > best.gain && !cut.is_sure) {
                std::fill(counts.begin(), counts.end(), 0);
                for (int64_t i = 0; i < rows.size; i++) counts[codes[rows[i]][d]]++;
                f.counts = counts.data();
                cut = best_of_bins(f, limits, sides);
            }
            if (!(cut.gain > best.gain)) continue;
            const bool has_missing = f.hist[n][0] != 0 || f.hist[n][1] != 0;
            best = {cut.gain, d, cut.first - 1, has_missing ? cut.side : NONE_MISSING, {}};
            if (features.categorical[d]) best.left.assign(place.begin(), place.begin() + cut.first);
        }
        return best;
    }

  private:
    // The order of the bins: categories are sorted by their values.
    void sort_bins(Matrix<const int64_t> hist, int64_t d) {
        const auto end = place.begin() + features.n_bins[d];
        std::iota(place.begin(), end, 0);
        if (!features.categorical[d]) return;
        for (int64_t b = 0; b < features.n_bins[d]; b++)
            share[b] = double(hist[b][1]) / (double(hist[b][0]) + features.smoothing);
        std::stable_sort(place.begin(), end, [&](int64_t a, int64_t b) { return share[a] < share[b]; });
    }

    const Features features;
    std::vector<int64_t> place, counts;
    std::vector<double> share;
    Sides sides;
};

}  // namespace suffice::newton
