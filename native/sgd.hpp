// Steps of stochastic gradient descent for linear scores, each with the gradient of one row.
//
// Weights are `scale` times v, so that the l2 penalty of a step changes one number, and a step on a sparse row
// costs its entries alone. Their sum over the visits, for the mean, is `total` plus `lasted` times v: v as it is
// counts for all visits, and each later change of v is taken out of `total` for those before it.
//
// The l1 penalty is that of Tsuruoka et al., "Stochastic gradient descent training for l1-regularized log-linear
// models with cumulative penalty", 2009: `owed` is what each weight owes by now, and `paid` what it has paid.
#pragma once

#include <algorithm>
#include <cmath>

#include "logistic.hpp"
#include "rows.hpp"

namespace suffice {

// In the order of LOSSES and RATES in Python.
enum LossKind : int64_t {
    HINGE,
    PERCEPTRON,
    SQUARED_HINGE,
    MODIFIED_HUBER,
    LOG_LOSS,
    SQUARED_ERROR,
    HUBER,
    EPSILON_INSENSITIVE,
    SQUARED_EPSILON_INSENSITIVE,
    LOSSES
};
enum RateKind : int64_t { CONSTANT, ADAPTIVE, OPTIMAL, INVSCALING, PA1, PA2, RATES };

// Of a score, or of lanes of them.
template <class F>
struct LossAndSlope {
    F value, slope;  // the derivative by the score
};

// Classes are y = 1 and -1.
struct Loss {
    LossKind kind;
    double epsilon;

    template <class F>
    INLINE LossAndSlope<F> operator()(const F& y, const F& score) const {
        return kind < SQUARED_ERROR ? of_margin<F>(y, y * score) : of_residual<F>(score - y);
    }

  private:
    template <class F>
    INLINE LossAndSlope<F> of_margin(const F& y, const F& z) const {
        const F zero = as<F>(0.0), below = (kind == PERCEPTRON ? 0.0 : 1.0) - z, part = greatest(zero, below);
        if (kind == HINGE || kind == PERCEPTRON) return {part, select(below < zero, zero, zero - y)};
        if (kind == LOG_LOSS) {
            const auto of = logistic_loss<F>(z);
            return {of.value, (zero - y) * of.p};
        }
        const F value = part * part, slope = -2.0 * y * part;
        if (kind == SQUARED_HINGE) return {value, slope};
        const auto far = z < as<F>(-1.0);  // modified Huber
        return {select(far, -4.0 * z, value), select(far, -4.0 * y, slope)};
    }

    template <class F>
    INLINE LossAndSlope<F> of_residual(const F& rest) const {
        const F zero = as<F>(0.0), size = greatest(rest, zero - rest), beyond = size - epsilon;
        const F sign = select(zero < rest, as<F>(1.0), as<F>(-1.0)), part = greatest(zero, beyond);
        const auto far = zero < beyond;
        if (kind == EPSILON_INSENSITIVE) return {part, select(far, sign, zero)};
        if (kind == SQUARED_EPSILON_INSENSITIVE) return {part * part, 2.0 * part * sign};
        const F value = 0.5 * rest * rest;
        if (kind == SQUARED_ERROR) return {value, rest};
        return {select(far, epsilon * (size - 0.5 * epsilon), value), select(far, epsilon * sign, rest)};  // Huber
    }
};

// The sum of the losses of scores (N, P), each row times its weight; their slopes go into `slope`.
static double losses(Loss loss, Matrix<const double> Y, Matrix<const double> scores, const double* weight,
                     Matrix<double> slope) {
    constexpr int64_t CACHED = 1024;
    const int64_t size = scores.rows * scores.columns;
    double value[CACHED], total = 0.0;
    for (int64_t begin = 0, n = 0, k = 0; begin < size; begin += CACHED) {
        const int64_t count = std::min(CACHED, size - begin);
        const double *y = Y.data + begin, *score = scores.data + begin;
        double* by_score = slope.data + begin;
        int64_t i = 0;
        for (; i + f64s::N <= count; i += f64s::N) {
            const LossAndSlope<f64s> of = loss(load(y + i), load(score + i));
            store(value + i, of.value);
            store(by_score + i, of.slope);
        }
        for (; i < count; i++) {
            const LossAndSlope<double> of = loss(y[i], score[i]);
            value[i] = of.value, by_score[i] = of.slope;
        }
        for (i = 0; i < count; i++) {
            total += weight[n] * value[i];
            by_score[i] *= weight[n];
            if (++k == scores.columns) k = 0, n++;
        }
    }
    return total;
}

// What is minimized, and how: see `Rule` in Python.
struct GradientRule {
    Loss loss;
    double alpha, l2, l1;
    RateKind rate;
    double eta0, power, before, of_intercept, average;

    // The size of step t = 1, 2, ..., if that before was `eta`.
    INLINE double step_size(double t, double eta) const {
        if (rate == OPTIMAL) return 1.0 / (alpha * (before + t - 1.0));
        if (rate == INVSCALING) return eta0 / exp(power * log(t));
        return eta;
    }

    // What is added to the weights, times a row: a gradient step, or the least step without a loss.
    template <class Row>
    INLINE double step(Row x, LossAndSlope<double> of, double eta) const {
        constexpr double LARGEST_SLOPE = 1e12;
        if (rate < PA1) return -eta * std::min(std::max(of.slope, -LARGEST_SLOPE), LARGEST_SLOPE);
        const double square = square_of(x), sign = double(of.slope > 0.0) - double(of.slope < 0.0);
        if (rate == PA2) return -of.value / (square + 0.5 / eta0) * sign;
        return square > 0.0 ? -std::min(eta0, of.value / square) * sign : 0.0;
    }
};

struct GradientState {
    Vector<double> w;
    double *total, *paid;  // (D,)
    double* numbers;       // intercept, its sum over the visits, visits so far plus one, `owed`, step size
};

// A weight, or lanes of them, moves towards zero by what it owes, and not beyond.
template <class F>
static INLINE F after_penalty(const F& v, const F& paid, double owed, double scale) {
    const F down = greatest(v - (owed + paid) / scale, as<F>(0.0)), up = least(v + (owed - paid) / scale, as<F>(0.0));
    return select(as<F>(0.0) < v, down, select(v < as<F>(0.0), up, v));
}

struct Penalty {
    double owed, scale, lasted;
    double *v, *total, *paid;

    INLINE void pay_one(int64_t d) const {
        const double after = after_penalty(v[d], paid[d], owed, scale), change = after - v[d];
        v[d] = after;
        paid[d] += scale * change;
        total[d] -= lasted * change;
    }

    template <class Row>
    INLINE void pay(Row x) const {
        for (int64_t p = 0; p < x.size; p++) pay_one(x.column[p]);
    }

    template <class T>
    INLINE void pay(DenseRow<T> x) const {
        int64_t d = 0;
        for (; d + f64s::N <= x.size; d += f64s::N) {
            const f64s before = load(v + d), was = load(paid + d);
            const f64s after = after_penalty(before, was, owed, scale), change = after - before;
            store(v + d, after);
            store(paid + d, was + scale * change);
            store(total + d, load(total + d) - lasted * change);
        }
        for (; d < x.size; d++) pay_one(d);
    }
};

static void multiply(Vector<double> v, double factor) {
    for (int64_t d = 0; d < v.size; d++) v[d] *= factor;
}

// A step for each row, in this order. Returns the sum of the losses before each step.
template <class Rows>
static double epoch(Rows X, const double* y, const double* weight, Vector<const int64_t> order,
                    const GradientRule& rule, const GradientState& state) {
    constexpr double LEAST_SCALE = 1e-9;
    const Vector<double> v = state.w;
    const DenseRow<double> weights{v.data, v.size};
    double intercept = state.numbers[0], intercepts = state.numbers[1], t = state.numbers[2];
    double owed = state.numbers[3], eta = state.numbers[4], scale = 1.0, lasted = 0.0, lost = 0.0;
    for (int64_t i = 0; i < order.size; i++) {
        prefetch_next(X, order, i);
        const int64_t n = order[i];
        const auto x = X[n];
        const LossAndSlope<double> of = rule.loss(y[n], scale * dot(x, v.data) + intercept);
        lost += weight[n] * of.value;
        eta = rule.step_size(t, eta);
        const double step = weight[n] * rule.step(x, of, eta);
        scale *= std::max(0.0, 1.0 - eta * rule.l2);
        if (scale < LEAST_SCALE) {
            add(weights, lasted, state.total);
            multiply(v, scale);
            lasted = 0.0, scale = 1.0;
        }
        if (step != 0.0) {
            add(x, step / scale, v.data);
            if (lasted > 0.0) add(x, -lasted * step / scale, state.total);
            intercept += rule.of_intercept * step;
        }
        if (0.0 < rule.average && rule.average <= t) {
            lasted += scale;
            intercepts += intercept;
        }
        if (rule.l1 > 0.0) {
            owed += eta * rule.l1;
            Penalty{owed, scale, lasted, v.data, state.total, state.paid}.pay(x);
        }
        t += 1.0;
    }
    add(weights, lasted, state.total);
    multiply(v, scale);
    const double numbers[] = {intercept, intercepts, t, owed, eta};
    std::copy(numbers, numbers + 5, state.numbers);
    return lost;
}

}  // namespace suffice
