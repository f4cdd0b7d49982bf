// Splines: rows of natural cubic bases, and the smoothing spline from knot to knot.
#pragma once

#include <algorithm>
#include <cmath>

#include "lanes.hpp"

namespace suffice {

// Spline functions of D features. Feature d has the knots from first[d] to first[d + 1], and between them cubics in the
// distance from the knot before, in units of scale[d]. Before the first knot and after the last the functions are
// lines. With q = columns[d + 1] - columns[d] functions, the coefficients of piece j of K + 1 start at
// place[d] + 4 j q, those of each power after the other.
struct Splines {
    const double* knots;
    const int64_t* first;
    const double *scale, *pieces;
    const int64_t *place, *columns;
    int64_t features;
};

// out[c] = a[c] + b[c] t + c[c] t^2 + d[c] t^3, or a derivative by t
template <int DERIVATIVE>
static INLINE void cubics(const double* a, double t, int64_t q, double* __restrict out) {
    const double *b = a + q, *c = b + q, *d = c + q;
    for (int64_t i = 0; i < q; i++) {
        if (DERIVATIVE == 0) out[i] = a[i] + t * (b[i] + t * (c[i] + t * d[i]));
        if (DERIVATIVE == 1) out[i] = b[i] + t * (2.0 * c[i] + 3.0 * t * d[i]);
        if (DERIVATIVE == 2) out[i] = 2.0 * c[i] + 6.0 * t * d[i];
    }
}

// out[n, j] = function j of its feature at row n, or a derivative in units of `scale`
template <int DERIVATIVE>
static void design(Matrix<const double> X, const Splines& s, Matrix<double> out) {
    for (int64_t n = 0; n < X.rows; n++)
        for (int64_t d = 0; d < s.features; d++) {
            const double x = X[n][d], *knots = s.knots + s.first[d], *end = s.knots + s.first[d + 1];
            const int64_t piece = std::upper_bound(knots, end, x) - knots;  // how many knots are not above x
            const double t = (x - knots[std::max<int64_t>(piece - 1, 0)]) / s.scale[d];
            const int64_t q = s.columns[d + 1] - s.columns[d];
            cubics<DERIVATIVE>(s.pieces + s.place[d] + 4 * piece * q, t, q, out[n] + s.columns[d]);
        }
}

static void design(Matrix<const double> X, const Splines& s, int64_t derivative, Matrix<double> out) {
    if (derivative == 0) design<0>(X, s, out);
    if (derivative == 1) design<1>(X, s, out);
    if (derivative == 2) design<2>(X, s, out);
}

// sqrt(a^2 + b^2), if squares are no floats too
static INLINE double length(double a, double b) {
    const double squares = a * a + b * b;
    if (1e-280 < squares && squares < 1e300) return std::sqrt(squares);
    const double most = std::max(std::fabs(a), std::fabs(b)), x = a / most, y = b / most;
    return most * std::sqrt(x * x + y * y);
}

// Triangles in place, by Givens rotations. A[n] has the five equations of knot n in its value and slope, in those of
// the next knot, and their right-hand sides; the two that say something of the next state go to that, as its first.
static void triangles(Tensor<double> A) {
    for (int64_t n = 0; n < A.size; n++) {
        const Matrix<double> equations = A[n];
        for (int64_t k = 0; k < 4; k++)
            for (int64_t row = k + 1; row < 5; row++) {
                double *upper = equations[k], *lower = equations[row];
                if (lower[k] == 0.0) continue;
                const double r = length(upper[k], lower[k]);
                const double c = upper[k] / r, s = lower[k] / r;
                for (int64_t j = k; j < 5; j++) {
                    const double a = upper[j], b = lower[j];
                    upper[j] = c * a + s * b;
                    lower[j] = c * b - s * a;
                }
            }
        if (n + 1 == A.size) return;
        for (int64_t row = 0; row < 2; row++) {
            A[n + 1][row][0] = equations[row + 2][2];
            A[n + 1][row][1] = equations[row + 2][3];
            A[n + 1][row][4] = equations[row + 2][4];
        }
    }
}

// The value, the slope and the variance of the value at each knot, from the last to the first, of triangles.
static void substitute(Tensor<const double> A, double* value, double* slope, double* variance) {
    double f = 0.0, g = 0.0;           // the next state
    double p = 0.0, q = 0.0, r = 0.0;  // its covariance: f with f, f with g, g with g
    for (int64_t n = A.size - 1; n >= 0; n--) {
        const double *top = A[n][0], *low = A[n][1];
        const double a = top[0], b = top[1], c = low[1], n0 = top[2], n1 = top[3], m0 = low[2], m1 = low[3];
        const double above = top[4] - n0 * f - n1 * g;
        g = (low[4] - m0 * f - m1 * g) / c;
        f = (above - b * g) / a;
        // I + N P N' for N the columns of the next state, then the inverse of the triangle on both sides.
        const double s00 = 1.0 + n0 * n0 * p + 2.0 * n0 * n1 * q + n1 * n1 * r;
        const double s01 = n0 * m0 * p + (n0 * m1 + n1 * m0) * q + n1 * m1 * r;
        const double s11 = 1.0 + m0 * m0 * p + 2.0 * m0 * m1 * q + m1 * m1 * r;
        const double t = b / c;
        r = s11 / (c * c);
        q = (s01 - t * s11) / (a * c);
        p = (s00 - 2.0 * t * s01 + t * t * s11) / (a * a);
        value[n] = f, slope[n] = g, variance[n] = p;
    }
}

}  // namespace suffice
