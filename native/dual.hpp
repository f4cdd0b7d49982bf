// Sequential minimal optimization of a few coefficients of a dual: see fitting/dual.py.
#pragma once

#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace suffice {

constexpr double LEAST_CURVATURE = 1e-12;  // of a pair, as if a kernel that is not positive definite was flat

// Coefficients between bounds. The sum of each group stays as it is.
struct Box {
    const double *lower, *upper;
    const int64_t* group;
    int64_t size, n_groups;
};

struct Pair {
    int64_t raised, lowered;
    double violation;
};

// The pair of one group that violates the conditions of an optimum most: the coefficient to raise, with the least
// slope, the one to lower, with the largest, and the difference of the slopes. `ends` is scratch, (2 n_groups).
static Pair worst_pair(const double* slope, const double* beta, const Box& box, int64_t* ends) {
    int64_t *up = ends, *down = ends + box.n_groups;
    std::fill(ends, ends + 2 * box.n_groups, -1);
    for (int64_t k = 0; k < box.size; k++) {
        const int64_t g = box.group[k];
        if (beta[k] < box.upper[k] && (up[g] < 0 || slope[k] < slope[up[g]])) up[g] = k;
        if (beta[k] > box.lower[k] && (down[g] < 0 || slope[k] > slope[down[g]])) down[g] = k;
    }
    Pair worst{-1, -1, -std::numeric_limits<double>::infinity()};
    for (int64_t g = 0; g < box.n_groups; g++)
        if (up[g] >= 0 && down[g] >= 0 && slope[down[g]] - slope[up[g]] > worst.violation)
            worst = {up[g], down[g], slope[down[g]] - slope[up[g]]};
    return worst;
}

struct Partner {
    int64_t lowered;
    double curvature;
};

// The coefficient to lower while i is raised that gains most, by the curvature of the pair: Fan, Chen and Lin,
// "Working set selection using second order information for training support vector machines", 2005. `diagonal` is
// that of K, and `row` its row i.
static Partner best_partner(const double* row, const double* diagonal, const double* slope, const double* beta,
                            const Box& box, int64_t i) {
    Partner best{-1, 1.0};
    double most = -1.0;
    for (int64_t k = 0; k < box.size; k++) {
        const double difference = slope[k] - slope[i];
        if (difference > 0.0 && beta[k] > box.lower[k] && box.group[k] == box.group[i]) {
            const double curvature = std::max(diagonal[i] + diagonal[k] - 2.0 * row[k], LEAST_CURVATURE);
            const double gain = difference * difference / curvature;
            if (gain > most) most = gain, best = {k, curvature};
        }
    }
    return best;
}

// Minimize β'Kβ / 2 + q'β over the box, pair by pair, until no pair violates the conditions by more than `tol`.
// `slope` is Kβ + q. Returns the number of pairs.
static int64_t minimize_pairs(Matrix<const double> K, double* __restrict slope, double* beta, const Box& box,
                              double tol, int64_t most) {
    std::vector<int64_t> ends(2 * box.n_groups);
    std::vector<double> diagonal(box.size);
    for (int64_t k = 0; k < box.size; k++) diagonal[k] = K[k][k];
    for (int64_t n = 0; n < most; n++) {
        const Pair worst = worst_pair(slope, beta, box, ends.data());
        if (!(worst.violation > tol)) return n;
        const int64_t i = worst.raised;
        const auto [j, curvature] = best_partner(K[i], diagonal.data(), slope, beta, box, i);
        if (j < 0) return n;  // no gain is a number: K overflows
        const double up = box.upper[i] - beta[i], down = beta[j] - box.lower[j];
        const double step = std::min(std::min((slope[j] - slope[i]) / curvature, up), down);
        beta[i] = step == up ? box.upper[i] : beta[i] + step;
        beta[j] = step == down ? box.lower[j] : beta[j] - step;
        for (int64_t k = 0; k < box.size; k++) slope[k] += step * (K[i][k] - K[j][k]);
    }
    return most;
}

// out[n] += sum_k step[k] columns[slots[k], n]: four columns at a time, and so many numbers that they stay in the
// cache. Columns of a kernel may be float32.
template <class T>
static void add_columns(Matrix<const T> columns, Vector<const int64_t> slots, const double* step,
                        double* __restrict out) {
    constexpr int64_t CACHED = 2048;
    for (int64_t begin = 0; begin < columns.columns; begin += CACHED) {
        const int64_t end = std::min(begin + CACHED, columns.columns);
        int64_t k = 0;
        for (; k + 4 <= slots.size; k += 4) {
            const T *p = columns[slots[k]], *q = columns[slots[k + 1]], *r = columns[slots[k + 2]],
                    *s = columns[slots[k + 3]];
            const double a = step[k], b = step[k + 1], c = step[k + 2], d = step[k + 3];
            for (int64_t n = begin; n < end; n++)
                out[n] += (a * double(p[n]) + b * double(q[n])) + (c * double(r[n]) + d * double(s[n]));
        }
        for (; k < slots.size; k++) {
            const T* p = columns[slots[k]];
            for (int64_t n = begin; n < end; n++) out[n] += step[k] * double(p[n]);
        }
    }
}

}  // namespace suffice
