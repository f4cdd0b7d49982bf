// Growth of decision trees from codes of features and integer sums, and their evaluation.
//
// All sums are of int64, so they do not depend on the order of the rows. A histogram has a row for each bin
// of a feature, the last one for missing values, and a column for each output: the weights of the classes, or
// the weight and the weighted targets, of which there may be several. Only the bins that occur in a node are
// listed.
//
// The rows of a node are next to each other, in their order. A node with many rows is added up bin by bin.
// The rows of a small one are sorted by the feature, so that it takes time in proportion to its rows and not
// to the bins.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "elementary.hpp"
#include "lanes.hpp"
#include "random.hpp"

namespace suffice::trees {

constexpr int64_t NO_SPLIT = -1;
enum Side : int64_t { MISSING_RIGHT, MISSING_LEFT, NONE_MISSING };

using Sums = Matrix<int64_t>;  // a row for each bin, or each row of the data

// --- what splits are compared by ---------------------------------------------------------------------------

// sum_k s_k^2 / sum_k s_k
static INLINE double gini(const int64_t* s, int64_t O) {
    double total = 0.0, squares = 0.0;
    for (int64_t k = 0; k < O; k++) {
        const double v = double(s[k]);
        total += v;
        squares += v * v;
    }
    return squares / total;
}

// s log2(s)
static INLINE double entropy_term(int64_t s) { return s > 0 ? double(s) * log2(double(s)) : 0.0; }

// sum_k s_k log2(s_k) - t log2(n), with t = sum_k s_k, and n = t unless it is given. The terms of the first
// sum, with which most of the time is spent, may be given too.
static INLINE double entropy(const int64_t* s, int64_t O, double n = 0.0, const double* terms = nullptr) {
    double total = 0.0, logs = 0.0;
    for (int64_t k = 0; k < O; k++) {
        total += double(s[k]);
        logs += terms ? terms[k] : entropy_term(s[k]);
    }
    return logs - total * log2(n > 0.0 ? n : total);
}

// sum_k s_k log(s_k / n), or minus infinity if a mean is not positive
static INLINE double poisson(const int64_t* s, int64_t O, double n) {
    double logs = 0.0;
    for (int64_t k = 0; k < O; k++)
        logs += s[k] > 0 ? s[k] * log(s[k] / n) : -std::numeric_limits<double>::infinity();
    return logs;
}

// The gain of a split times a factor that all splits of a node have: x / y.
struct Fraction {
    double x, y;
};

struct Criterion {
    // From SQUARED_ERROR on, sums are a weight and weighted targets. Those of INDICATORS are classes of
    // several targets as zeros and ones: the sum of the entropies. That of Gini indices is SQUARED_ERROR.
    enum Kind : int64_t { GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR, POISSON, INDICATORS };
    int64_t kind, O;

    bool classes() const { return kind < SQUARED_ERROR; }

    int64_t weight(const int64_t* s) const {
        return classes() ? std::accumulate(s, s + O, int64_t(0)) : s[0];
    }

    // What a monotonicity constraint orders: the mean target, or the share of the second class.
    double value(const int64_t* s) const { return s[1] / double(weight(s)); }

    // Minus the weighted impurity of a node with these sums, up to a term that a split does not change.
    double worth(const int64_t* s) const {
        switch (kind) {
            case GINI: return gini(s, O);
            case ENTROPY: return entropy(s, O);
            case MISCLASSIFICATION: return double(*std::max_element(s, s + O));
            case POISSON: return poisson(s + 1, O - 1, double(s[0]));
            case INDICATORS: return entropy(s + 1, O - 1, double(s[0]));
            default: return 0.0;  // see `gain`
        }
    }

    // The same of entropies, from their terms.
    bool has_terms() const { return kind == ENTROPY || kind == INDICATORS; }
    double worth(const int64_t* s, const double* terms) const {
        return kind == ENTROPY ? entropy(s, O, 0.0, terms) : entropy(s + 1, O - 1, double(s[0]), terms + 1);
    }

    // The decrease of the weighted impurity by a split, in units of the integer weight. That of the squared
    // error is a b / (a + b) |m - n|^2, with weights a, b and means m, n: a difference that does not cancel.
    double gain(const int64_t* left, const int64_t* right, double parent) const {
        if (kind != SQUARED_ERROR) return worth(left) + worth(right) - parent;
        const double a = double(left[0]), b = double(right[0]);
        double squares = 0.0;
        for (int64_t k = 1; k < O; k++) {
            const double d = left[k] / a - right[k] / b;
            squares += d * d;
        }
        return a * b / (a + b) * squares;
    }

    // Whether a gain is that of `gain_of_two`, the sums being a weight and one other.
    bool has_two_sums() const { return O == 2 && (kind == SQUARED_ERROR || kind == GINI); }
};

// The gain of two sums times the total weight.
//
// With weights a, c and sums b, d on the two sides, the gain is (b c - d a)^2 / (a c (a + c)) for the squared
// error. The Gini index of two classes is twice the variance of the indicator of the second.
static INLINE Fraction gain_of_two(int64_t left_0, int64_t left_1, int64_t total_0, int64_t total_1) {
    const double a = double(left_0), b = double(left_1);
    const double c = double(total_0 - left_0), d = double(total_1 - left_1), cross = b * c - d * a;
    return {cross * cross, a * c};
}

// The first split with the largest fraction.
struct Largest {
    double x = 0.0, y = 1.0;
    bool found = false;

    INLINE bool add(Fraction gain) {
        if (found && !(gain.x * y > x * gain.y)) return false;
        x = gain.x, y = gain.y, found = true;
        return true;
    }
};

// --- the data and its nodes --------------------------------------------------------------------------------

template <class Code>
struct Data {
    Matrix<const Code> codes;  // (D, N); code n_bins[d] means missing
    const int64_t* n_bins;
    const bool* categorical;
    const int8_t* cst;      // the signs of monotonicity constraints, or zero
    const int64_t* offset;  // the first bin of each feature among all
    const double* values;   // of all bins, for random thresholds; without them, the best are found

    int64_t D() const { return codes.rows; }
};

struct Limits {
    int64_t max_depth, least_split, least;  // integer weights of a node that may be split, and of a leaf
    double least_gain;                      // in units of the integer weight
    int64_t max_features;
    int64_t max_leaves;  // zero without a limit; else leaves are split in the order of their gains
};

// The rows of a node: for each, its number; its class, or an integer that is equal for equal targets; and the
// weight, and for numbers the weighted targets and terms that are summed up, but not for splits.
struct Rows {
    int32_t* number;
    int64_t* group;
    Sums entry;

    int64_t size() const { return entry.rows; }
    Rows part(int64_t a, int64_t b) const {
        return {number + a, group + a, {entry[a], b - a, entry.columns}};
    }
};

// A node of a tree that is growing: the range of its rows, and what decides its split.
struct Node {
    int64_t start, stop, depth;
    uint64_t key;      // of random numbers
    double low, high;  // bounds of its value
    int64_t feature = NO_SPLIT, children[2] = {-1, -1}, edges[2] = {0, 0};  // the bins beside the threshold
    int8_t side = 0;
    bool pure = false;
    double gain = 0.0;
    int64_t set_start = -1, set_stop = -1;  // of the categories on the left
};

struct Split {
    double gain = -1.0;
    int64_t feature = NO_SPLIT, below = 0, above = 0, side = NONE_MISSING;
    bool varies = false;  // whether the feature does, in the node
};

constexpr int64_t PARTS = 256;         // of a feature with more bins
constexpr int64_t LEAST_PARTED = 128;  // rows
constexpr double SLACK = 1.0 + 1e-6;   // of bounds that are rounded
constexpr double ROUNDING = 2e-6;      // relative to the mean, of differences that bounds may not tell apart

// Memory for the search of splits, once for each tree.
struct Space {
    std::vector<int64_t> hist, dense, bins, place, features, parted, shift, parts, left, right, set, best_set;
    std::vector<uint32_t> keys, spare_keys;  // of nodes whose rows are sorted
    std::vector<int32_t> chosen;
    std::vector<double> share, left_terms, right_terms;
    int32_t count[2][257];  // of bytes of keys
    std::vector<char> kept;

    Space(int64_t D, int64_t most_bins, int64_t O, int64_t rows)
        : hist((most_bins + 2) * O), dense((most_bins + 1) * O), bins(most_bins + 2), place(most_bins + 2),
          features(D), parted(D), shift(D), left(O), right(O), keys(std::min<int64_t>(rows, 1 << 16)),
          spare_keys(keys.size()), chosen(keys.size()), share(most_bins + 1), left_terms(O), right_terms(O),
          kept(PARTS + 1) {}

    int64_t* parts_of(int64_t f) { return &parts[f * (PARTS + 1) * 2]; }
};

// --- histograms of nodes -----------------------------------------------------------------------------------

// Sort n keys of four bytes by the upper two, stable.
static void sort_keys(uint32_t* keys, uint32_t* spare, int64_t n, int32_t (&count)[2][257]) {
    if (n <= 32) {
        for (int64_t i = 1; i < n; i++) {
            const uint32_t key = keys[i];
            int64_t j = i;
            for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return;
    }
    std::memset(count, 0, sizeof(count));
    for (int64_t i = 0; i < n; i++) {
        count[0][((keys[i] >> 16) & 255) + 1]++;
        count[1][(keys[i] >> 24) + 1]++;
    }
    for (int v = 0; v < 256; v++) {
        count[0][v + 1] += count[0][v];
        count[1][v + 1] += count[1][v];
    }
    for (int64_t i = 0; i < n; i++) spare[count[0][(keys[i] >> 16) & 255]++] = keys[i];
    for (int64_t i = 0; i < n; i++) keys[count[1][spare[i] >> 24]++] = spare[i];
}

// Add a row to the sums of its bin.
template <bool classes>
static INLINE void add_row(int64_t* to, int64_t group, const int64_t* entry, int64_t O) {
    if (classes) {
        to[group] += entry[0];
        return;
    }
    to[0] += entry[0];
    to[1] += entry[1];
    for (int64_t k = 2; k < O; k++) to[k] += entry[k];
}

// Add the rows of a node to the sums of the bins of one feature.
template <bool classes, class Code>
static void add_rows(const Code* __restrict codes, const Rows& rows, int64_t O, int64_t* __restrict dense) {
    const int32_t* __restrict number = rows.number;
    const int64_t *__restrict group = rows.group, *__restrict entry = rows.entry.data;
    const int64_t n = rows.size(), M = rows.entry.columns;
    if (O == 2)
        for (int64_t i = 0; i < n; i++)
            add_row<classes>(dense + codes[number[i]] * 2, group[i], entry + i * M, 2);
    else
        for (int64_t i = 0; i < n; i++)
            add_row<classes>(dense + codes[number[i]] * O, group[i], entry + i * M, O);
}

// List the bins of a histogram that occur: returns their number, and writes `bins` and the rows of `hist`.
// The weight of a bin is the sum of its first entries.
static INLINE int64_t occupied(Matrix<const int64_t> folded, int64_t O, int64_t first, Sums hist,
                               int64_t* bins) {
    int64_t m = 0;
    for (int64_t b = 0; b < folded.rows; b++) {
        const int64_t* sums = folded.data + b * O;
        int64_t weight = 0;
        for (int64_t k = 0; k < first; k++) weight += sums[k];
        if (weight <= 0) continue;
        bins[m] = b;
        for (int64_t k = 0; k < O; k++) hist.data[m * O + k] = sums[k];
        m++;
    }
    return m;
}

static int64_t occupied(Matrix<const int64_t> folded, bool classes, Sums hist, int64_t* bins) {
    const int64_t O = hist.columns;
    if (O == 2) return occupied(folded, 2, classes ? 2 : 1, hist, bins);
    return occupied(folded, O, classes ? O : 1, hist, bins);
}

// The histogram of one feature in the rows of a node: a row for each bin that occurs, in order.
template <class Code>
static int64_t fill(const Code* __restrict codes, const Rows& rows, bool classes, int64_t n_bins, Space& w,
                    Sums hist) {
    const int64_t n = rows.size(), O = hist.columns;
    if ((n_bins + 1) * O <= 8 * n || n > int64_t(w.keys.size()) || n_bins >= 1 << 16) {
        int64_t* dense = w.dense.data();
        if (classes)
            add_rows<true>(codes, rows, O, dense);
        else
            add_rows<false>(codes, rows, O, dense);
        const int64_t m = occupied({dense, n_bins + 1, O}, classes, hist, w.bins.data());
        std::fill_n(dense, (n_bins + 1) * O, 0);
        return m;
    }
    uint32_t* keys = w.keys.data();
    for (int64_t i = 0; i < n; i++) keys[i] = uint32_t(codes[rows.number[i]]) << 16 | uint32_t(i);
    sort_keys(keys, w.spare_keys.data(), n, w.count);
    int64_t m = -1, previous = -1;
    for (int64_t j = 0; j < n; j++) {
        const int64_t b = keys[j] >> 16, r = keys[j] & 65535;
        if (b != previous) {
            w.bins[++m] = previous = b;
            std::fill_n(hist[m], O, 0);
        }
        if (classes)
            add_row<true>(hist[m], rows.group[r], rows.entry[r], O);
        else
            add_row<false>(hist[m], rows.group[r], rows.entry[r], O);
    }
    return m + 1;
}

// --- splits of a histogram ---------------------------------------------------------------------------------

// The m bins of a feature in a node, without that of missing values, which is row m: in `place` in the order
// in which they are split; and what a split must satisfy.
struct Bins {
    Sums hist;
    const int64_t* place;
    int64_t m;
    const int64_t* total;
    double parent;  // the worth of the node
    int64_t least;
    bool ordered;  // whether sets of bins from the first on are candidates; else each bin alone is
    int64_t sign;
    double low, high;

    bool is_allowed(const Criterion& c, const int64_t* left, const int64_t* right) const {
        const double a = c.value(left), b = c.value(right);
        return (b - a) * sign >= 0.0 && a >= low && a <= high && b >= low && b <= high;
    }
};

// The gain of a split, the number of bins on the left, and where missing values go.
struct Cut {
    double gain = -1.0;
    int64_t first = 0, side = MISSING_RIGHT;
};

// The best split after one of the first n bins, of sums with two outputs: `best_of_feature` without
// constraints, where most of the time is spent.
template <bool of_gini>
static Cut best_of_two(const Bins& f, int64_t n, int64_t left_0, int64_t left_1) {
    const int64_t total = of_gini ? f.total[0] + f.total[1] : f.total[0];
    Largest best;
    int64_t first = 0;
    for (int64_t j = 0; j < n; j++) {
        const int64_t* b = f.hist[f.place[j]];
        left_0 += b[0];
        left_1 += b[1];
        const int64_t left = of_gini ? left_0 + left_1 : left_0;
        if (left < f.least || total - left < f.least) continue;
        if (best.add(gain_of_two(left, left_1, total, f.total[1]))) first = j + 1;
    }
    if (first == 0) return {};
    return {(of_gini ? 2.0 : 1.0) * best.x / best.y / double(total), first, MISSING_RIGHT};
}

// The best split of one feature. The first of equal splits wins. All bins on the left and missing values on
// the right is a split too.
static Cut best_of_feature(const Bins& f, const Criterion& c, Space& w) {
    const int64_t* missing = f.hist[f.m];
    int64_t *left = w.left.data(), *right = w.right.data();
    double *left_terms = w.left_terms.data(), *right_terms = w.right_terms.data();
    const bool some_missing = c.weight(missing) > 0, quick = f.ordered && f.sign == 0 && c.has_two_sums();
    Cut best;
    for (int64_t side = MISSING_RIGHT; side <= (some_missing ? MISSING_LEFT : MISSING_RIGHT); side++) {
        const bool on_left = side == MISSING_LEFT;
        const int64_t last = !f.ordered || (some_missing && !on_left) ? f.m : f.m - 1;
        if (quick) {
            const int64_t a = on_left ? missing[0] : 0, b = on_left ? missing[1] : 0;
            const Cut found = c.kind == Criterion::GINI ? best_of_two<true>(f, last, a, b)
                                                        : best_of_two<false>(f, last, a, b);
            if (found.gain > best.gain) best = {found.gain, found.first, side};
            continue;
        }
        for (int64_t j = 0; j < last; j++) {
            const int64_t* b = f.hist[f.place[j]];
            for (int64_t k = 0; k < c.O; k++) {
                if (j == 0 || !f.ordered) left[k] = on_left ? missing[k] : 0;
                left[k] += b[k];
                right[k] = f.total[k] - left[k];
                if (c.has_terms() && (b[k] != 0 || j == 0 || !f.ordered)) {  // else they are the same
                    left_terms[k] = entropy_term(left[k]);
                    right_terms[k] = entropy_term(right[k]);
                }
            }
            if (c.weight(left) < f.least || c.weight(right) < f.least) continue;
            const double g = c.has_terms()
                                 ? c.worth(left, left_terms) + c.worth(right, right_terms) - f.parent
                                 : c.gain(left, right, f.parent);
            if (g > best.gain && (f.sign == 0 || f.is_allowed(c, left, right))) best = {g, j + 1, side};
        }
    }
    return best;
}

// As `best_of_feature`, but for one threshold, drawn uniformly between the smallest and the largest value, or
// one category if there are no values; and one side for missing values.
static Cut random_of_feature(const Bins& f, const Criterion& c, const int64_t* bins, const double* values,
                             uint64_t key, Space& w) {
    const int64_t m = f.m, *missing = f.hist[m];
    int64_t *left = w.left.data(), *right = w.right.data();
    const double u = uniform(key);
    int64_t first = std::min(1 + int64_t(u * double(m)), m);
    if (values) {
        const double threshold = values[bins[0]] + u * (values[bins[m - 1]] - values[bins[0]]);
        for (first = 1; first < m && values[bins[first]] <= threshold;) first++;
    }
    const bool some_missing = c.weight(missing) > 0;
    int64_t side = some_missing ? int64_t(mixed(key) & 1) : MISSING_RIGHT;
    if (first == m && f.ordered && !(some_missing && side == MISSING_RIGHT)) {
        if (m > 1)
            first--;
        else
            side = MISSING_RIGHT;
    }
    for (int64_t k = 0; k < c.O; k++) {
        left[k] = side == MISSING_LEFT ? missing[k] : 0;
        for (int64_t j = f.ordered ? 0 : first - 1; j < first; j++) left[k] += f.hist[f.place[j]][k];
        right[k] = f.total[k] - left[k];
    }
    if (c.weight(left) < f.least || c.weight(right) < f.least) return {-1.0, 0, side};
    if (f.sign != 0 && !f.is_allowed(c, left, right)) return {-1.0, 0, side};
    return {c.gain(left, right, f.parent), first, side};
}

// Sort the categories by their mean target, or their share of the second class; ties by their code.
static void sort_categories(Sums hist, int64_t m, const Criterion& c, int64_t* place, double* share) {
    for (int64_t j = 0; j < m; j++) share[j] = c.value(hist[j]);
    std::sort(place, place + m, [&](int64_t a, int64_t b) {
        return share[a] < share[b] || (share[a] == share[b] && a < b);
    });
}

// --- a search by parts -------------------------------------------------------------------------------------

// Whether a split with the sums (x, y) on the left has a gain of `goal` or more, but for rounding.
static INLINE bool is_above(double x, double y, double total_0, double total_1, double goal) {
    const double cross = total_0 * y - total_1 * x;
    return 0.0 < x && x < total_0 && SLACK * cross * cross >= goal * (x * (total_0 - x));
}

// The rows of some bins: the sums on the left before them, (a, b), and after them; y / x of each row is from
// `low` to `high`.
struct Run {
    double a, b, a_end, b_end, low, high;
};

// Whether a split within a run of rows can have a gain of `goal` or more, in units of `gain_of_two`.
//
// The gain is convex in the sums on the left. They are in the parallelogram whose corners have the rows of
// `high` first, or last, so that the gain is largest in a corner.
static INLINE bool may_exceed(const Run& r, double total_0, double total_1, double goal) {
    double of_high = 0.0;  // their weight, at most
    if (r.high > r.low) of_high = ((r.b_end - r.b) - r.low * (r.a_end - r.a)) / (r.high - r.low);
    of_high = std::min(std::max(of_high, 0.0), r.a_end - r.a);
    return is_above(r.a, r.b, total_0, total_1, goal) || is_above(r.a_end, r.b_end, total_0, total_1, goal) ||
           is_above(r.a + of_high, r.b + r.high * of_high, total_0, total_1, goal) ||
           is_above(r.a_end - of_high, r.b_end - r.high * of_high, total_0, total_1, goal);
}

// Add up parts of the bins of the first F of the features `parted`, of sums with two outputs: those before
// each part. Returns the largest gain of a split between parts, or `goal` if that is larger.
//
// The codes of a row are next to each other in `by_row`, so that all are read at once.
template <class Code>
static double add_parts(Matrix<const Code> by_row, const Rows& rows, const int64_t* n_bins, const Bins& node,
                        bool of_gini, double goal, int64_t F, Space& w) {
    const int64_t n = rows.size();
    for (int64_t f = 0; f < F; f++) {
        const int64_t bins = n_bins[w.parted[f]];
        for (w.shift[f] = 0; (bins >> w.shift[f]) >= std::min(PARTS, n / 8);) w.shift[f]++;
        std::fill_n(w.parts_of(f), ((bins >> w.shift[f]) + 2) * 2, 0);
    }
    const int64_t *__restrict shift = w.shift.data(), *__restrict parted = w.parted.data();
    int64_t* __restrict parts = w.parts.data();
    for (int64_t i = 0; i < n; i++) {
        const Code* c = by_row[rows.number[i]];
        const int64_t weight = rows.entry[i][0];
        const int64_t weighted = of_gini ? weight * rows.group[i] : rows.entry[i][1];
        for (int64_t f = 0; f < F; f++) {
            int64_t* part = parts + (f * (PARTS + 1) + (int64_t(c[parted[f]]) >> shift[f]) + 1) * 2;
            part[0] += weight;
            part[1] += weighted;
        }
    }
    const int64_t total = of_gini ? node.total[0] + node.total[1] : node.total[0];
    for (int64_t f = 0; f < F; f++) {
        int64_t* p = w.parts_of(f);
        for (int64_t q = 0; q < (n_bins[w.parted[f]] >> w.shift[f]) + 1; q++, p += 2) {
            p[2] += p[0];
            p[3] += p[1];
            if (p[2] < node.least || total - p[2] < node.least) continue;
            const Fraction gain = gain_of_two(p[2], p[3], total, node.total[1]);
            goal = std::max(goal, gain.x / gain.y);
        }
    }
    return goal;
}

// One of the features `parted`.
struct Parted {
    int64_t number;
    bool of_gini;
    double goal, low, high;  // the gain to exceed, and the smallest and the largest target
};

// The rows of the parts that may have a split with a gain of `goal`, as keys: their number, or -1 if the
// search is not done, since bounds would be rounded too much, or there are too many rows. `varies` is whether
// rows are in several parts.
template <class Code>
static int64_t choose_rows(const Code* __restrict codes, const Rows& rows, int64_t n_bins, const Parted& f,
                           const Bins& node, Space& w, bool& varies) {
    const int64_t shift = w.shift[f.number], n_parts = (n_bins >> shift) + 1, n = rows.size();
    const int64_t* parts = w.parts_of(f.number);
    const double total_0 = double(f.of_gini ? node.total[0] + node.total[1] : node.total[0]), goal = f.goal;
    const double total_1 = double(node.total[1]);
    if (goal > 0.0 && std::sqrt(goal) < ROUNDING * std::abs(total_1) * std::sqrt(double(n))) return -1;
    int64_t seen = 0, n_kept = 0, m = 0;
    for (int64_t q = 0; q < n_parts; q++) seen += parts[2 * q + 2] > parts[2 * q];
    varies = seen > 1;
    for (int64_t q = 0; q < n_parts; q++) {
        const int64_t* p = parts + 2 * q;
        const Run run{double(p[0]), double(p[1]), double(p[2]), double(p[3]), f.low, f.high};
        w.kept[q] = !varies || (run.a_end > run.a && may_exceed(run, total_0, total_1, goal));
        n_kept += w.kept[q];
    }
    if (n_kept == 0) return 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = codes[rows.number[i]];
        if (!w.kept[c >> shift]) continue;
        if (m == int64_t(w.keys.size())) return -1;
        w.chosen[m] = int32_t(i);
        w.keys[m] = uint32_t(c) << 16 | uint32_t(m);
        m++;
    }
    return m;
}

// The best split of m rows that `choose_rows` chose, by keys that are sorted.
static Split best_of_chosen(const Rows& rows, int64_t m, const Parted& f, const Bins& node, Space& w,
                            bool varies) {
    const bool of_gini = f.of_gini;
    const int64_t total = of_gini ? node.total[0] + node.total[1] : node.total[0], shift = w.shift[f.number];
    const int64_t* parts = w.parts_of(f.number);
    Largest best;
    Split out;
    int64_t left_0 = 0, left_1 = 0, previous = -1;
    for (int64_t j = 0; j < m; j++) {
        const int64_t b = w.keys[j] >> 16, r = w.chosen[w.keys[j] & 65535];
        if (b != previous) {
            const int64_t part = b >> shift;
            const bool begins = part != previous >> shift;
            const bool adjacent = !begins || left_0 == parts[2 * part];  // no rows between them were left out
            if (previous >= 0) {
                varies = true;
                if (adjacent && left_0 >= node.least && total - left_0 >= node.least &&
                    best.add(gain_of_two(left_0, left_1, total, node.total[1])))
                    out.below = previous, out.above = b;
            }
            if (begins) left_0 = parts[2 * part], left_1 = parts[2 * part + 1];
            previous = b;
        }
        left_0 += rows.entry[r][0];
        left_1 += of_gini ? rows.entry[r][0] * rows.group[r] : rows.entry[r][1];
    }
    out.varies = varies;
    if (best.found) out.gain = (of_gini ? 2.0 : 1.0) * best.x / best.y / double(total);
    return out;
}

// --- the split of a node -----------------------------------------------------------------------------------

template <class Code>
class Search {
  public:
    Search(const Data<Code>& data, const Criterion& c, const Limits& limits, int64_t rows)
        : data(data), c(c), limits(limits),
          w(data.D(), data.D() ? *std::max_element(data.n_bins, data.n_bins + data.D()) : 0, c.O, rows),
          with_missing(data.D(), 1) {}

    // What a search by parts reads of all rows: their codes by row, which features have missing values, and
    // the smallest and the largest target.
    void prepare(const Rows& rows) {
        const int64_t D = data.D(), N = data.codes.columns;
        bool any = false;
        for (int64_t d = 0; d < D; d++) {
            const Code missing = Code(data.n_bins[d]), *code = data.codes[d];
            bool some = false;
            for (int64_t i = 0; i < N; i++) some |= code[i] == missing;
            with_missing[d] = some;
            any |= data.n_bins[d] > PARTS;
        }
        if (data.values) own_codes.resize(N);
        if (!any || N < LEAST_PARTED || data.values || !c.has_two_sums()) return;
        w.parts.resize(D * (PARTS + 1) * 2);
        by_row.resize(N * D);
        for (int64_t start = 0; start < N; start += 64)
            for (int64_t d = 0; d < D; d++)
                for (int64_t i = start; i < std::min(start + 64, N); i++)
                    by_row[i * D + d] = data.codes[d][i];
        if (c.classes()) return;
        ratios[0] = std::numeric_limits<double>::infinity(), ratios[1] = -ratios[0];
        for (int64_t i = 0; i < N; i++) {
            const double y = rows.entry[i][1] / double(rows.entry[i][0]);
            ratios[0] = std::min(ratios[0], y);
            ratios[1] = std::max(ratios[1], y);
        }
    }

    // The best split of a node, from its rows, or from its `folded` histograms. Thresholds are drawn at
    // random if there are values. After equal gains, the first feature wins. Categories on the left are in
    // `set()`.
    Split find(const Node& node, const Rows& rows, const int64_t* folded, const int64_t* total) {
        const int64_t D = data.D(), most = limits.max_features;
        const double parent = c.worth(total);
        int64_t *features = w.features.data(), tried = 0, n_drawn = 0, n_parted = 0, parted = 0;
        uint64_t key = node.key, draw = node.key;
        double goal = 0.0;
        Split best;
        std::iota(features, features + D, 0);
        for (int64_t i = 0; i < D && tried < most; i++) {
            Bins bins{{}, nullptr, 0, total, parent, limits.least, true, 0, node.low, node.high};
            if (i == n_drawn) {  // as many features as are needed, if none is constant
                n_drawn = most == D ? D : std::min(D, i + most - tried);
                parted = n_parted = 0;
                for (int64_t j = i; j < n_drawn; j++) {
                    if (most < D) {
                        key = mixed(key);
                        std::swap(features[j], features[j + int64_t(key % uint64_t(D - j))]);
                    }
                    if (has_parts(features[j], rows)) w.parted[n_parted++] = features[j];
                }
                if (n_parted > 0) {
                    const Matrix<const Code> codes{by_row.data(), data.codes.columns, D};
                    const bool of_gini = c.kind == Criterion::GINI;
                    goal = best.gain * unit(total);
                    goal = add_parts(codes, rows, data.n_bins, bins, of_gini, goal, n_parted, w);
                }
            }
            const int64_t d = features[i];
            if (parted < n_parted && w.parted[parted] == d) {
                if (best.gain > 0.0) goal = std::max(goal, best.gain * unit(total));
                Split found;
                if (by_parts(d, parted++, rows, bins, goal, found)) {
                    tried += found.varies;
                    if (is_better(found, best)) best = found;
                    continue;
                }
            }
            if (data.values) draw = mixed(draw ^ uint64_t(d + 3));
            const Split found = data.values && !data.categorical[d] && !folded
                                    ? random_of_rows(d, rows, bins, draw)
                                    : of_feature(d, rows, folded, bins, draw);
            tried += found.varies;
            if (!is_better(found, best)) continue;
            best = found;
            w.set.swap(w.best_set);
        }
        return best;
    }

    const std::vector<int64_t>& set() const { return w.best_set; }

  private:
    static bool is_better(const Split& a, const Split& b) {
        return a.gain > b.gain || (a.gain == b.gain && a.gain >= 0.0 && a.feature < b.feature);
    }

    // What a gain is multiplied by in `gain_of_two`.
    double unit(const int64_t* total) const {
        return c.kind == Criterion::GINI ? double(total[0] + total[1]) / 2.0 : double(total[0]);
    }

    bool has_parts(int64_t d, const Rows& rows) const {
        return !by_row.empty() && rows.size() >= LEAST_PARTED && data.cst[d] == 0 && !data.categorical[d] &&
               !with_missing[d] && data.n_bins[d] > PARTS && data.n_bins[d] < 1 << 16;
    }

    // The best split of a numeric feature with many bins, if its gain is not below `goal`: of sums with two
    // outputs, without constraints and missing values. Only those parts of the bins are searched whose bound
    // is not below the best split so far: see `may_exceed`. The answer is that of `best_of_two`. False if the
    // search is not done.
    bool by_parts(int64_t d, int64_t f, const Rows& rows, const Bins& node, double goal, Split& out) {
        const Parted parted{f, c.kind == Criterion::GINI, goal, ratios[0], ratios[1]};
        bool varies = true;
        const int64_t m = choose_rows(data.codes[d], rows, data.n_bins[d], parted, node, w, varies);
        if (m < 0) return false;
        sort_keys(w.keys.data(), w.spare_keys.data(), m, w.count);
        out = best_of_chosen(rows, m, parted, node, w, varies);
        out.feature = d;
        return true;
    }

    // `random_of_feature` of a numeric feature, from the rows themselves: their bins need not be sorted.
    Split random_of_rows(int64_t d, const Rows& rows, Bins node, uint64_t draw) {
        const int64_t n = rows.size(), n_bins = data.n_bins[d];
        const Code* codes = data.codes[d];
        int64_t smallest = n_bins, largest = -1, n_missing = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t code = own_codes[i] = codes[rows.number[i]];
            smallest = std::min(smallest, code);
            largest = std::max(largest, code == n_bins ? -1 : code);
            n_missing += code == n_bins;
        }
        Split out;
        out.feature = d;
        if (largest < 0 || (smallest == largest && n_missing == 0)) return out;
        out.varies = true;
        const double* values = data.values + data.offset[d];
        const double threshold = values[smallest] + uniform(draw) * (values[largest] - values[smallest]);
        const double *begin = values + smallest + 1, *end = values + largest + 1;
        int64_t cutoff = std::upper_bound(begin, end, threshold) - values - 1;
        int64_t side = n_missing > 0 ? int64_t(mixed(draw) & 1) : MISSING_RIGHT;
        if (cutoff == largest && !(n_missing > 0 && side == MISSING_RIGHT)) {
            if (smallest < largest)
                cutoff--;
            else
                side = MISSING_RIGHT;
        }
        int64_t below = -1, above = n_bins, *left = w.left.data(), *right = w.right.data(), sums[2] = {0, 0};
        std::fill_n(left, c.O, 0);
        for (int64_t i = 0; i < n; i++) {
            const int64_t code = own_codes[i], *entry = rows.entry[i];
            const bool is_below = code <= cutoff, goes = is_below || (code == n_bins && side == MISSING_LEFT);
            below = std::max(below, is_below ? code : -1);
            above = std::min(above, is_below ? n_bins : code);
            const int64_t all = -int64_t(goes);  // of the bits, without a branch that nothing predicts
            if (c.O == 2) {
                sums[0] += entry[0] & all;
                sums[1] += (c.classes() ? entry[0] & -rows.group[i] : entry[1]) & all;
            } else if (c.classes())
                left[rows.group[i]] += entry[0] & all;
            else
                for (int64_t k = 0; k < c.O; k++) left[k] += entry[k] & all;
        }
        if (c.O == 2) left[0] = c.classes() ? sums[0] - sums[1] : sums[0], left[1] = sums[1];
        for (int64_t k = 0; k < c.O; k++) right[k] = node.total[k] - left[k];
        if (n_missing > 0) out.side = side;
        node.sign = data.cst[d];
        if (c.weight(left) < node.least || c.weight(right) < node.least) return out;
        if (node.sign != 0 && !node.is_allowed(c, left, right)) return out;
        out.gain = c.gain(left, right, node.parent);
        if (out.gain >= 0.0) out.below = below, out.above = above;
        return out;
    }

    // The best split of one feature, or a random one.
    Split of_feature(int64_t d, const Rows& rows, const int64_t* folded, Bins bins, uint64_t draw) {
        const int64_t O = c.O, n_bins = data.n_bins[d];
        const bool many = O > 2, categorical = data.categorical[d], is_random = data.values;
        Split out;
        out.feature = d;
        w.set.clear();
        bins.hist = {w.hist.data(), n_bins + 2, O};
        int64_t m = !folded ? fill(data.codes[d], rows, c.classes(), n_bins, w, bins.hist)
                            : occupied({folded + data.offset[d] * O, n_bins + 1, O}, c.classes(), bins.hist,
                                       w.bins.data());
        if (m < 2) return out;
        out.varies = true;
        const bool some_missing = w.bins[m - 1] == n_bins;
        if (some_missing)
            m--;
        else
            std::fill_n(bins.hist[m], O, 0);
        std::iota(w.place.begin(), w.place.begin() + m, 0);
        if (categorical && !many) sort_categories(bins.hist, m, c, w.place.data(), w.share.data());
        bins.place = w.place.data();
        bins.m = m;
        bins.ordered = !(categorical && many);
        bins.sign = data.cst[d];
        const double* values = categorical || !is_random ? nullptr : data.values + data.offset[d];
        const Cut cut = is_random ? random_of_feature(bins, c, w.bins.data(), values, draw, w)
                                  : best_of_feature(bins, c, w);
        out.gain = cut.gain;
        if (some_missing) out.side = cut.side;
        if (cut.gain < 0.0) return out;
        if (categorical) {
            for (int64_t j = many ? cut.first - 1 : 0; j < cut.first; j++)
                w.set.push_back(w.bins[w.place[j]]);
            return out;
        }
        out.below = w.bins[cut.first - 1];
        out.above = cut.first < m ? w.bins[cut.first] : n_bins;
        return out;
    }

    const Data<Code>& data;
    const Criterion& c;
    const Limits limits;
    Space w;
    std::vector<char> with_missing;
    std::vector<Code> by_row, own_codes;  // the codes of all rows, and those of one feature in a node
    double ratios[2] = {0.0, 1.0};
};

// --- growth ------------------------------------------------------------------------------------------------

// Sum up the numbers of the rows of a node, and return whether its targets are all equal.
static bool node_sums(const Rows& rows, bool classes, int64_t* total, int64_t S) {
    std::fill_n(total, S, 0);
    int64_t low = rows.group[0], high = low;
    for (int64_t i = 0; i < rows.size(); i++) {
        const int64_t y = rows.group[i];
        low = std::min(low, y), high = std::max(high, y);
        if (classes)
            total[y] += rows.entry[i][0];
        else
            for (int64_t k = 0; k < S; k++) total[k] += rows.entry[i][k];
    }
    return low == high;
}

// Move the rows of a node that go left before those that go right, and keep their order. Returns how many go
// left. If the feature has categories, the codes that go left are those of `goes`.
template <class Code>
static int64_t partition(const Code* __restrict codes, int64_t n_bins, const Node& node, const char* goes,
                         const Rows& rows, const Rows& spare) {
    const int64_t M = rows.entry.columns;
    int64_t to_left = 0, to_right = 0;
    for (int64_t i = 0; i < rows.size(); i++) {
        const int64_t c = codes[rows.number[i]];
        const bool left = c == n_bins ? node.side == MISSING_LEFT : goes ? goes[c] : c <= node.edges[0];
        const Rows& to = left ? rows : spare;
        const int64_t j = left ? to_left++ : to_right++;
        to.number[j] = rows.number[i];
        to.group[j] = rows.group[i];
        for (int64_t k = 0; k < M; k++) to.entry[j][k] = rows.entry[i][k];
    }
    std::copy_n(spare.number, to_right, rows.number + to_left);
    std::copy_n(spare.group, to_right, rows.group + to_left);
    std::copy_n(spare.entry.data, to_right * M, rows.entry[to_left]);
    return to_left;
}

// Rows with memory of their own.
struct OwnRows {
    std::vector<int32_t> number;
    std::vector<int64_t> group, entry;
    int64_t M;

    OwnRows(int64_t N, int64_t M) : number(N), group(N), entry(N * M), M(M) {}
    Rows all() { return {number.data(), group.data(), {entry.data(), int64_t(number.size()), M}}; }
};

// A tree that grows to rows in memory. Nodes are numbered in the order in which they are made.
template <class Code>
class Tree {
  public:
    std::vector<Node> nodes;
    std::vector<int64_t> sums, sets;  // S for each node; the categories that go left
    const int64_t S;

    Tree(const Data<Code>& data, const Criterion& c, const Limits& limits, Matrix<const int64_t> entry)
        : S(c.classes() ? c.O : entry.columns), data(data), c(c), limits(limits),
          search(data, c, limits, entry.rows), rows(entry.rows, entry.columns),
          spare(entry.rows, entry.columns),
          goes(data.D() ? *std::max_element(data.n_bins, data.n_bins + data.D()) + 1 : 0) {
        std::iota(rows.number.begin(), rows.number.end(), 0);
        std::copy_n(entry.data, entry.rows * entry.columns, rows.entry.data());
    }

    void grow(const Node& root, const int64_t* group) {
        std::copy_n(group, rows.group.size(), rows.group.data());
        search.prepare(rows.all());
        nodes.push_back(root);
        int64_t n_leaves = 1;
        for (int64_t fresh = 0;; n_leaves++) {
            for (; fresh < int64_t(nodes.size()); fresh++) describe(fresh);
            if (open.empty() || (limits.max_leaves > 0 && n_leaves >= limits.max_leaves)) break;
            split(next());
        }
        for (int64_t t : open) nodes[t].feature = NO_SPLIT;  // leaves that would have been split
    }

  private:
    Rows rows_of(const Node& node) { return rows.all().part(node.start, node.stop); }

    // The sums and the best split of a new node.
    void describe(int64_t t) {
        sums.resize((t + 1) * S);
        int64_t* total = &sums[t * S];
        Node& node = nodes[t];
        const Rows own = rows_of(node);
        node.pure = node_sums(own, c.classes(), total, S);
        if (node.pure || node.depth >= limits.max_depth ||
            c.weight(total) < std::max(limits.least_split, 2 * limits.least))
            return;
        const Split found = search.find(node, own, nullptr, total);
        if (found.feature == NO_SPLIT || found.gain < limits.least_gain) return;
        node.feature = found.feature;
        node.gain = found.gain;
        node.side = int8_t(found.side);
        node.edges[0] = found.below;
        node.edges[1] = found.above;
        if (data.categorical[found.feature]) {
            node.set_start = int64_t(sets.size());
            sets.insert(sets.end(), search.set().begin(), search.set().end());
            node.set_stop = int64_t(sets.size());
        }
        open.push_back(t);
    }

    // The node to split: with a limit of leaves, that with the largest gain; of equal ones, with the smallest
    // key, which is of the path alone.
    int64_t next() {
        size_t j = open.size() - 1;
        for (size_t i = 0; limits.max_leaves > 0 && i < open.size(); i++) {
            const Node &a = nodes[open[i]], &b = nodes[open[j]];
            if (a.gain > b.gain || (a.gain == b.gain && a.key < b.key)) j = i;
        }
        const int64_t t = open[j];
        open[j] = open.back();
        open.pop_back();
        return t;
    }

    void split(int64_t t) {
        Node node = nodes[t];
        const int64_t d = node.feature;
        for (int64_t c = node.set_start; c < node.set_stop; c++) goes[sets[c]] = 1;
        const char* set = data.categorical[d] ? goes.data() : nullptr;
        const Rows own = rows_of(node);
        const int64_t n_left = partition(data.codes[d], data.n_bins[d], node, set, own, spare.all());
        for (int64_t c = node.set_start; c < node.set_stop; c++) goes[sets[c]] = 0;
        const int64_t middle = node.start + n_left;
        Node left{node.start, middle, node.depth + 1, mixed(node.key ^ 1), node.low, node.high};
        Node right{middle, node.stop, node.depth + 1, mixed(node.key ^ 2), node.low, node.high};
        if (data.cst[d] != 0) {
            const double between = 0.5 * (value_of(left) + value_of(right));
            (data.cst[d] > 0 ? left : right).high = between;
            (data.cst[d] > 0 ? right : left).low = between;
        }
        nodes[t].children[0] = int64_t(nodes.size());
        nodes[t].children[1] = int64_t(nodes.size()) + 1;
        nodes.push_back(left);
        nodes.push_back(right);
    }

    double value_of(const Node& node) {
        std::vector<int64_t> total(S);
        node_sums(rows_of(node), c.classes(), total.data(), S);
        return c.value(total.data());
    }

    const Data<Code>& data;
    const Criterion& c;
    const Limits limits;
    Search<Code> search;
    OwnRows rows, spare;
    std::vector<char> goes;      // which categories go left
    std::vector<int64_t> open;  // nodes that have a split, but no children
};

// --- evaluation --------------------------------------------------------------------------------------------

// The nodes of a binary tree (N, 2): each before its left subtree, then its right one.
static inline void preorder(Matrix<const int64_t> children, int64_t* out) {
    std::vector<int64_t> stack{0};
    for (int64_t i = 0; i < children.rows; i++) {
        const int64_t t = out[i] = stack.back();
        stack.pop_back();
        if (children[t][0] >= 0) {
            stack.push_back(children[t][1]);
            stack.push_back(children[t][0]);
        }
    }
}

// The splits of the nodes of one or several trees. `edge` is the last bin on the left, `threshold` the last
// value.
struct Splits {
    const int64_t* feature;
    Matrix<const int64_t> children;
    const int64_t* edge;
    const double* threshold;
    const bool* missing_left;
    const int64_t* set_start;  // of categories, their first place in `goes_left`; else -1
    const bool* goes_left;
};

// The leaf of each row, from its codes (D, N).
template <class Code>
static void leaves_of_codes(Matrix<const Code> codes, const int64_t* __restrict n_bins, const Splits tree,
                            int64_t* __restrict out) {
    for (int64_t i = 0; i < codes.columns; i++) {
        int64_t t = 0;
        for (int64_t d; (d = tree.feature[t]) >= 0;) {
            const int64_t c = codes[d][i];
            const bool left = c == n_bins[d]            ? tree.missing_left[t]
                              : tree.set_start[t] >= 0 ? tree.goes_left[tree.set_start[t] + c]
                                                       : c <= tree.edge[t];
            t = tree.children[t][left ? 0 : 1];
        }
        out[i] = t;
    }
}

// The leaf of each row, from its codes of one byte, one row after the other. `following` has for each node
// and code the next node, which for a leaf is itself: no branch for the processor to guess.
static inline void leaves_by_table(Matrix<const uint8_t> codes, const int64_t* __restrict feature,
                                   const int32_t* __restrict following, int64_t depth,
                                   int64_t* __restrict out) {
    constexpr int AT_ONCE = 8;  // rows whose loads from memory do not wait for each other
    for (int64_t i = 0; i < codes.rows; i += AT_ONCE) {
        const int64_t n = std::min<int64_t>(AT_ONCE, codes.rows - i);
        const uint8_t* c[AT_ONCE];
        int64_t t[AT_ONCE] = {};
        for (int r = 0; r < AT_ONCE; r++) c[r] = codes[i + std::min<int64_t>(r, n - 1)];
        for (int64_t level = 0; level < depth; level++)
            for (int r = 0; r < AT_ONCE; r++) t[r] = following[256 * t[r] + c[r][feature[t[r]]]];
        std::copy_n(t, n, out + i);
    }
}

// The leaf of a row x below node t. Categories are codes, and NaN is missing.
static INLINE int64_t leaf_of_row(const double* x, int64_t t, const Splits& tree) {
    for (int64_t d; (d = tree.feature[t]) >= 0;) {
        const double v = x[d];
        const bool left = v != v                     ? tree.missing_left[t]
                          : tree.set_start[t] >= 0 ? tree.goes_left[tree.set_start[t] + int64_t(v)]
                                                   : v <= tree.threshold[t];
        t = tree.children[t][left ? 0 : 1];
    }
    return t;
}

constexpr int64_t TILE = 512;  // rows, which stay in the cache while they go through all trees

// The leaf of each row of X (N, D) in each of the trees with these roots, out (N, M).
static inline void leaves_of_rows(Matrix<const double> X, const int64_t* root, const Splits& trees,
                                  Matrix<int64_t> out) {
    for (int64_t a = 0; a < X.rows; a += TILE)
        for (int64_t m = 0; m < out.columns; m++)
            for (int64_t i = a; i < std::min(a + TILE, X.rows); i++)
                out[i][m] = leaf_of_row(X[i], root[m], trees);
}

// Add the value of the leaf of each row in each tree to one output, or to all if there are as many values:
// out (N, K).
static inline void add_leaf_values(Matrix<const double> X, Vector<const int64_t> root, const Splits& trees,
                                   Matrix<const double> value, const int64_t* output, Matrix<double> out) {
    for (int64_t a = 0; a < X.rows; a += TILE)
        for (int64_t m = 0; m < root.size; m++)
            for (int64_t i = a; i < std::min(a + TILE, X.rows); i++) {
                const double* of_leaf = value[leaf_of_row(X[i], root[m], trees)];
                double* to = out[i] + output[m];
                for (int64_t k = 0; k < value.columns; k++) to[k] += of_leaf[k];
            }
}

// --- histograms of blocks ----------------------------------------------------------------------------------

// Of T nodes: the sums of O outputs for each bin of each feature, and for all rows; the smallest and the
// largest target; the number of rows.
struct Histograms {
    Tensor<int64_t> count;  // (T, B, O)
    Sums sums;              // (T, S)
    int64_t *low, *high, *rows;
};

// Add rows to the histograms of one feature, which begin at `first`.
template <bool classes, class Code>
static void add_to_nodes(const Code* __restrict codes, int64_t N, const int64_t* __restrict node,
                         const int64_t* __restrict group, Matrix<const int64_t> entry,
                         int64_t* __restrict first, const Tensor<int64_t>& count) {
    const int64_t O = count.columns, of_node = count.rows * O, M = entry.columns;
    const int64_t* __restrict e = entry.data;
    for (int64_t i = 0; i < N; i++)
        if (node[i] >= 0) add_row<classes>(first + node[i] * of_node + codes[i] * O, group[i], e + i * M, O);
}

// Add rows with codes (D, N) to the histograms of their nodes; a node of -1 is none. The bins of feature d
// are those from offset[d] on.
template <class Code>
static void add_histograms(Matrix<const Code> codes, const int64_t* node, const int64_t* group,
                           Matrix<const int64_t> entry, bool classes, const int64_t* offset,
                           const Histograms& to) {
    const int64_t N = codes.columns, O = to.count.columns;
    for (int64_t i = 0; i < N; i++) {
        const int64_t t = node[i], y = group[i];
        if (t < 0) continue;
        to.rows[t]++;
        to.low[t] = std::min(to.low[t], y), to.high[t] = std::max(to.high[t], y);
        if (classes)
            to.sums[t][y] += entry[i][0];
        else
            for (int64_t k = 0; k < entry.columns; k++) to.sums[t][k] += entry[i][k];
    }
    for (int64_t d = 0; d < codes.rows; d++)
        if (classes)
            add_to_nodes<true>(codes[d], N, node, group, entry, to.count.data + offset[d] * O, to.count);
        else
            add_to_nodes<false>(codes[d], N, node, group, entry, to.count.data + offset[d] * O, to.count);
}

}  // namespace suffice::trees
