// Coordinate descent for least squares with an l1 penalty, from the Gram matrix: Friedman, Hastie and Tibshirani,
// "Regularization paths for generalized linear models via coordinate descent", 2010.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lanes.hpp"

namespace suffice {

// |y - X w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2 for A = X'X, b = X'y and yy = y'y.
struct LeastSquares {
    Matrix<const double> A;
    const double* b;
    double yy, l1, l2;
    bool positive;
};

struct Stop {
    double tol;
    int64_t max_iter;
};

// The share of a dual point that is feasible, and the gap. Kim, Koh, Lustig, Boyd and Gorinevsky, "An
// interior-point method for large-scale l1-regularized least squares", 2007.
static double gap_of(double yy, double l1, double l2, double residual, double fitted, double norm, double squares,
                     double slope) {
    const double share = slope > 0.0 ? std::min(1.0, l1 / slope) : 1.0;
    const double both = 0.5 * (1.0 + share * share) * (std::max(residual, 0.0) + l2 * squares);
    return std::max(0.0, both + l1 * norm - share * (yy - fitted));
}

// The duality gap, with q = A w.
static double duality_gap(const LeastSquares& p, const double* w, const double* q) {
    double residual = p.yy, fitted = 0.0, absolute = 0.0, squares = 0.0, slope = 0.0;
    for (int64_t j = 0; j < p.A.rows; j++) {
        residual += w[j] * (q[j] - 2.0 * p.b[j]);
        fitted += w[j] * p.b[j];
        absolute += std::fabs(w[j]);
        squares += w[j] * w[j];
        double g = p.b[j] - q[j] - p.l2 * w[j];
        if (p.positive && w[j] == 0.0) g = std::max(g, 0.0);
        slope = std::max(slope, p.positive ? g : std::fabs(g));
    }
    return gap_of(p.yy, p.l1, p.l2, residual, fitted, absolute, squares, slope);
}

// Minimize in place, until the duality gap is at most tol, which may be before the first sweep. `q` is scratch.
// Returns the gap and the number of sweeps.
static std::pair<double, int64_t> descend(const LeastSquares& p, Stop stop, double* __restrict w,
                                          double* __restrict q) {
    const int64_t D = p.A.rows;
    std::fill(q, q + D, 0.0);
    for (int64_t j = 0; j < D; j++)
        if (w[j] != 0.0)
            for (int64_t i = 0; i < D; i++) q[i] += w[j] * p.A[j][i];
    double gap = duality_gap(p, w, q);
    if (gap <= stop.tol) return {gap, 0};
    for (int64_t n = 1; n <= stop.max_iter; n++) {
        double largest = 0.0, change = 0.0;
        for (int64_t j = 0; j < D; j++) {
            const double curvature = p.A[j][j];
            if (curvature == 0.0) continue;
            const double rest = p.b[j] - q[j] + curvature * w[j];
            double next = 0.0;
            if (rest > p.l1)
                next = (rest - p.l1) / (curvature + p.l2);
            else if (rest < -p.l1 && !p.positive)
                next = (rest + p.l1) / (curvature + p.l2);
            const double step = next - w[j];
            if (step != 0.0) {
                w[j] = next;
                for (int64_t i = 0; i < D; i++) q[i] += step * p.A[j][i];
            }
            largest = std::max(largest, std::fabs(next));
            change = std::max(change, std::fabs(step));
        }
        if (n == stop.max_iter || change <= 1e-4 * largest) {  // the gap is as costly as a sweep
            gap = duality_gap(p, w, q);
            if (gap <= stop.tol || change == 0.0) return {gap, n};
        }
    }
    return {gap, stop.max_iter};
}

// |Y - X W|^2 / 2 + l1 sum_j |W_j| + l2 |W|^2 / 2, with the norms of the rows of W, for B = X'Y and yy = |Y|^2: all
// targets use the same features.
struct JointLeastSquares {
    Matrix<const double> A, B;
    double yy, l1, l2;
};

static double joint_gap(const JointLeastSquares& p, Matrix<double> W, Matrix<double> Q) {
    double residual = p.yy, fitted = 0.0, norms = 0.0, squares = 0.0, slope = 0.0;
    for (int64_t j = 0; j < p.B.rows; j++) {
        double size = 0.0, steep = 0.0;
        for (int64_t t = 0; t < p.B.columns; t++) {
            const double w = W[j][t], b = p.B[j][t], g = b - Q[j][t] - p.l2 * w;
            residual += w * (Q[j][t] - 2.0 * b);
            fitted += w * b;
            size += w * w;
            steep += g * g;
        }
        norms += std::sqrt(size);
        squares += size;
        slope = std::max(slope, std::sqrt(steep));
    }
    return gap_of(p.yy, p.l1, p.l2, residual, fitted, norms, squares, slope);
}

// As `descend`.
static std::pair<double, int64_t> descend_jointly(const JointLeastSquares& p, Stop stop, Matrix<double> W,
                                                  Matrix<double> Q) {
    const int64_t D = p.B.rows, T = p.B.columns;
    std::fill(Q.data, Q.data + D * T, 0.0);
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < D; j++)
            for (int64_t t = 0; t < T; t++) Q[i][t] += p.A[i][j] * W[j][t];
    double gap = joint_gap(p, W, Q);
    if (gap <= stop.tol) return {gap, 0};
    std::vector<double> step(T);
    for (int64_t n = 1; n <= stop.max_iter; n++) {
        double largest = 0.0, change = 0.0;
        for (int64_t j = 0; j < D; j++) {
            const double curvature = p.A[j][j];
            if (curvature == 0.0) continue;
            double size = 0.0, moved = 0.0;
            for (int64_t t = 0; t < T; t++) {
                step[t] = p.B[j][t] - Q[j][t] + curvature * W[j][t];  // what is left of the target
                size += step[t] * step[t];
            }
            size = std::sqrt(size);
            const double share = size > p.l1 ? (1.0 - p.l1 / size) / (curvature + p.l2) : 0.0;
            for (int64_t t = 0; t < T; t++) {
                const double next = share * step[t];
                step[t] = next - W[j][t];
                W[j][t] = next;
                largest = std::max(largest, std::fabs(next));
                moved = std::max(moved, std::fabs(step[t]));
            }
            change = std::max(change, moved);
            if (moved > 0.0)
                for (int64_t i = 0; i < D; i++)
                    for (int64_t t = 0; t < T; t++) Q[i][t] += step[t] * p.A[j][i];
        }
        if (n == stop.max_iter || change <= 1e-4 * largest) {
            gap = joint_gap(p, W, Q);
            if (gap <= stop.tol || change == 0.0) return {gap, n};
        }
    }
    return {gap, stop.max_iter};
}

}  // namespace suffice
