// The residual of the normal equations in double-double precision: numbers as unevaluated sums of two floats.
//
// Dekker, "A floating-point technique for extending the available precision", 1971; Ogita, Rump and Oishi,
// "Accurate sum and dot product", 2005. The rounding error of a sum or a product is a float, which is computed
// without contraction or reordering.
#pragma once

#include "elementary.hpp"
#include "sparse.hpp"
#include "tile.hpp"

namespace suffice {

template <class F>
struct Twofold {
    F high, low;
};

// The rounded sum, and its rounding error.
template <class F>
static INLINE Twofold<F> two_sum(const F& a, const F& b) {
    const F total = a + b, of_b = total - a;
    return {total, (a - (total - of_b)) + (b - of_b)};
}

// a as the sum of two numbers of 26 bits, whose products are exact
template <class F>
static INLINE Twofold<F> halves(const F& a) {
    const F c = 134217729.0 * a, high = c - (c - a);  // 2^27 + 1
    return {high, a - high};
}

// The rounded product, and its rounding error.
template <class F>
static INLINE Twofold<F> two_product(const F& a, const F& b) {
    const F product = a * b;
    const Twofold<F> s = halves(a), t = halves(b);
    return {product, s.low * t.low - (((product - s.high * t.high) - s.low * t.high) - s.high * t.low)};
}

// r -= x theta
template <class F>
static INLINE void subtract_product(Twofold<F>& r, const F& x, const Twofold<F>& theta) {
    const Twofold<F> product = two_product(x, theta.high), total = two_sum(r.high, 0.0 - product.high);
    r = {total.high, r.low + ((total.low - product.low) - x * theta.low)};
}

// weight r, once the parts of r do not overlap
template <class F>
static INLINE Twofold<F> times(const F& weight, const Twofold<F>& r) {
    const Twofold<F> apart = two_sum(r.high, r.low), product = two_product(weight, apart.high);
    return {product.high, product.low + weight * apart.low};
}

// A sum of terms, and of their absolute values.
template <class F>
struct TermSum {
    F high, low, size;
};

// sum += x r
template <class F>
static INLINE void add_product(TermSum<F>& s, const F& x, const Twofold<F>& r) {
    const Twofold<F> product = two_product(x, r.high), total = two_sum(s.high, product.high);
    s = {total.high, s.low + ((total.low + product.low) + x * r.low),
         s.size + greatest(product.high, 0.0 - product.high)};
}

template <class F>
static INLINE void add(TermSum<F>& s, const Twofold<F>& r) {
    const Twofold<F> total = two_sum(s.high, r.high);
    s = {total.high, s.low + (total.low + r.low), s.size + greatest(r.high, 0.0 - r.high)};
}

// Coefficients of T targets with the intercept last, (2, T, D + 1), and the sums, of the same shape, with the
// sizes of their terms (T, D + 1).
struct Residuals {
    Tensor<const double> theta;
    Tensor<double> out;
    Matrix<double> size;

    int64_t T() const { return size.rows; }
    int64_t D() const { return size.columns - 1; }
    INLINE Twofold<double> coef(int64_t t, int64_t d) const { return {theta[0][t][d], theta[1][t][d]}; }
    INLINE TermSum<double> sum(int64_t t, int64_t d) const { return {out[0][t][d], out[1][t][d], size[t][d]}; }
    INLINE void set(int64_t t, int64_t d, const TermSum<double>& s) const {
        out[0][t][d] = s.high, out[1][t][d] = s.low, size[t][d] = s.size;
    }
};

// out += X' diag(weight) (y - X coef' - intercept), size += the absolute values of its terms. Lanes are rows,
// whose sums are added at the end.
static void add_normal_residual(Matrix<const double> X, Matrix<const double> y, const double* weight,
                                const Residuals& residuals) {
    const int64_t T = residuals.T(), D = residuals.D(), L = f64s::N;
    Tile x(D);
    std::vector<TermSum<f64s>> sums(T * (D + 1));
    std::vector<double> w(Tile::EIGHTS * L), target(Tile::EIGHTS * L);
    Twofold<f64s> r[Tile::EIGHTS];
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        std::fill(w.begin(), w.end(), 0.0);
        std::copy(weight + start, weight + start + count, w.begin());
        for (int64_t t = 0; t < T; t++) {
            TermSum<f64s>* s = &sums[t * (D + 1)];
            const Twofold<double> intercept = residuals.coef(t, D);
            for (int64_t i = 0; i < count; i++) target[i] = y[start + i][t];
            for (int64_t g = 0; g < x.eights; g++) {
                r[g] = two_sum(load(&target[g * L]), all(0.0 - intercept.high));
                r[g].low = r[g].low - intercept.low;
            }
            for (int64_t d = 0; d < D; d++) {
                const Twofold<double> theta = residuals.coef(t, d);
                for (int64_t g = 0; g < x.eights; g++)
                    subtract_product(r[g], x(g, d), {all(theta.high), all(theta.low)});
            }
            for (int64_t g = 0; g < x.eights; g++) {
                r[g] = times(load(&w[g * L]), r[g]);
                for (int64_t d = 0; d < D; d++) add_product(s[d], x(g, d), r[g]);
                add(s[D], r[g]);
            }
        }
    }
    for (int64_t t = 0; t < T; t++)
        for (int64_t d = 0; d <= D; d++) {
            const TermSum<f64s>& of_lanes = sums[t * (D + 1) + d];
            TermSum<double> s = residuals.sum(t, d);
            const double size = s.size + sum(of_lanes.size);
            for (int64_t i = 0; i < L; i++) add(s, {of_lanes.high[i], of_lanes.low[i]});
            s.size = size;
            residuals.set(t, d, s);
        }
}

// The same of CSR rows.
template <class Index>
static void add_sparse_normal_residual(Sparse<Index> X, Matrix<const double> y, const double* weight,
                                       const Residuals& residuals) {
    const int64_t T = residuals.T(), D = residuals.D();
    for (int64_t n = 0; n < X.rows; n++) {
        const SparseRow<Index> x = X[n];
        for (int64_t t = 0; t < T; t++) {
            const Twofold<double> intercept = residuals.coef(t, D);
            Twofold<double> r = two_sum(y[n][t], 0.0 - intercept.high);
            r.low -= intercept.low;
            for (int64_t p = 0; p < x.size; p++) subtract_product(r, x[p], residuals.coef(t, x.column[p]));
            r = times(weight[n], r);
            for (int64_t p = 0; p < x.size; p++) {
                TermSum<double> s = residuals.sum(t, x.column[p]);
                add_product(s, x[p], r);
                residuals.set(t, x.column[p], s);
            }
            TermSum<double> s = residuals.sum(t, D);
            add(s, r);
            residuals.set(t, D, s);
        }
    }
}

}  // namespace suffice
