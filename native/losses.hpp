// Losses of gradient boosting with their derivatives in the raw score f, and what a stage sums of them.
#pragma once

#include <cmath>

#include "grid.hpp"
#include "logistic.hpp"

namespace suffice {

// The loss of each row, and its gradient; and its curvature, if it is not one.
struct Derivatives {
    double *value, *g, *h;
};

// (y - f)^2 / 2, with the gradient f - y
static void squared_error(Vector<const double> y, const double* __restrict f, const Derivatives& out) {
    double *__restrict value = out.value, *__restrict g = out.g;
    for (int64_t i = 0; i < y.size; i++) {
        const double r = f[i] - y[i];
        value[i] = 0.5 * (r * r);
        g[i] = r;
    }
}

// The logistic loss of classes 0 and 1, times the weight w of the class.
template <class F, class IsFirst>
static INLINE void log_loss_of(const F& f, const IsFirst& is_first, const F& w, F& value, F& g, F& h) {
    const auto of = logistic_loss<F>(select(is_first, 0.0 - f, f));
    value = w * of.value;
    g = select(is_first, w, 0.0 - w) * of.p;
    h = w * of.curvature;
}

static void log_loss(Vector<const int64_t> y, const double* f, Vector<const double> class_weight,
                     const Derivatives& out) {
    if (y.size == 0) return;
    const f64s first = all(class_weight[0]), second = all(class_weight[class_weight.size - 1]);
    int64_t i = 0;
    for (; i + f64s::N <= y.size; i += f64s::N) {
        const auto is_first = load(y.data + i) == int64_t(0);
        f64s value, g, h;
        log_loss_of(load(f + i), is_first, select(is_first, first, second), value, g, h);
        store(out.value + i, value);
        store(out.g + i, g);
        store(out.h + i, h);
    }
    for (; i < y.size; i++)
        log_loss_of(f[i], y[i] == 0, class_weight[y[i]], out.value[i], out.g[i], out.h[i]);
}

// --- sums of a stage ---------------------------------------------------------------------------------------

// Rows with their losses and derivatives. Group 0 is in the sample of a stage, group 1 is not, and group 2 is
// for validation.
struct Stage {
    Vector<const double> value;  // (N,)
    Matrix<const double> g, h;   // (N, K); h is (N, 0) without a curvature
    const double* weight;        // (N,), or none if all are one and all rows are of group 0
    const int64_t* group;

    int64_t N() const { return value.size; }
    bool plain() const { return weight == nullptr; }
    INLINE bool trains(int64_t i) const { return plain() || group[i] < 2; }
};

// Integers of a unit, and the largest integer of a loss.
struct Units {
    double loss, most, weight, curvature;
};

// Losses and weights of the groups. Of all rows but those for validation, sums of the curvatures, and the
// largest derivatives.
struct StageSums {
    int64_t *losses, *weights;  // (3,)
    int64_t* curvature;         // (K,)
    Matrix<double> largest;     // (K, 2); empty if they are known
};

static void add_losses(const Stage& s, const Units& unit, int64_t* losses, int64_t* weights) {
    const auto each_loss = [&](auto f) { each_integer(s.value.data, s.N(), unit.loss, unit.most, f); };
    if (s.plain()) {
        int64_t total = 0;
        each_loss([&](int64_t, double x) { total += int64_t(x); });
        losses[0] += total;
        weights[0] += s.N() * int64_t(unit.weight);
        return;
    }
    int64_t total[3] = {}, total_weight[3] = {};
    each_loss([&](int64_t i, double x) { total[s.group[i]] += weighted(s.weight[i], x); });
    for (int64_t i = 0; i < s.N(); i++) total_weight[s.group[i]] += weighted(s.weight[i], unit.weight);
    for (int k = 0; k < 3; k++) losses[k] += total[k], weights[k] += total_weight[k];
}

static void add_curvatures(const Stage& s, double unit, int64_t* curvature) {
    const int64_t K = s.h.columns;
    int64_t i = 0, j = 0, total = 0;
    each_integer(s.h.data, s.N() * K, unit, LARGEST_INTEGER, [&](int64_t, double x) {
        const int64_t v = s.plain() ? int64_t(x) : s.trains(i) ? weighted(s.weight[i], x) : 0;
        if (K == 1) {
            total += v, i++;
            return;
        }
        curvature[j++] += v;
        if (j == K) j = 0, i++;
    });
    if (K == 1) curvature[0] += total;
}

// The largest of some numbers, which is NaN if one is.
static void find_largest(const Stage& s, Matrix<const double> x, int64_t j, double& largest) {
    for (int64_t i = 0; i < s.N(); i++) {
        const double size = std::fabs(x[i][j]);
        if ((size > largest || size != size) && s.trains(i)) largest = size;
    }
}

static void add_stage(const Stage& s, const Units& unit, const StageSums& to) {
    add_losses(s, unit, to.losses, to.weights);
    for (int64_t j = 0; j < to.largest.rows; j++) {
        find_largest(s, s.g, j, to.largest[j][0]);
        if (s.h.columns) find_largest(s, s.h, j, to.largest[j][1]);
    }
    if (unit.curvature > 0.0) add_curvatures(s, unit.curvature, to.curvature);
}

}  // namespace suffice
