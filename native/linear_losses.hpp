// Losses of linear scores and their gradients, in one pass over the rows.
#pragma once

#include <algorithm>
#include <vector>

#include "logistic.hpp"

namespace suffice {

// A loss has its value and its derivative by the score z, given the target y.

// The logistic loss, for y of 0 and 1.
struct Binomial {
    INLINE void operator()(const f64s& y, const f64s& z, f64s& value, f64s& slope) const {
        const auto is_first = y == 0.0;
        const auto of = logistic_loss<f64s>(select(is_first, 0.0 - z, z));
        value = of.value;
        slope = select(is_first, of.p, 0.0 - of.p);
    }
};

// max(1 - y z, 0)^2, for y of -1 and 1
struct SquaredHinge {
    INLINE void operator()(const f64s& y, const f64s& z, f64s& value, f64s& slope) const {
        const f64s r = greatest(1.0 - y * z, f64s{});
        value = r * r;
        slope = -2.0 * (r * y);
    }
};

// max(|y - z| - epsilon, 0)^2
struct SquaredInsensitive {
    double epsilon;

    INLINE void operator()(const f64s& y, const f64s& z, f64s& value, f64s& slope) const {
        const f64s above = greatest((y - epsilon) - z, f64s{}), below = greatest(z - (y + epsilon), f64s{});
        value = above * above + below * below;
        slope = 2.0 * (below - above);
    }
};

// The sum over rows of weight times the loss of the score z = X theta[:-1] + theta[-1], into `gradient` its derivatives
// by theta, and into `score` (N,), if it is wanted, the scores.
//
// Eight rows at a time, whose scores are lanes. In their products lanes are features: what is read beyond a row counts
// as zero, or is summed with the rest and not looked at.
template <class Loss, class Target>
static double linear_loss(const Loss& of, Matrix<const double> X, const double* theta, const Target* target,
                          const double* weight, double* gradient, double* score = nullptr) {
    constexpr int64_t L = f64s::N;
    const int64_t N = X.rows, D = X.columns, whole = D / L * L, wide = (D + L - 1) / L * L;
    std::vector<double> coef(wide), sums(wide), last(L * wide);
    std::copy_n(theta, D, coef.begin());
    const i64s inside = first_lanes(D - whole);
    f64s loss{}, total{};
    for (int64_t start = 0; start < N; start += L) {
        const int64_t count = std::min(L, N - start);
        const double* x = X[start];
        int64_t step = D;
        if (x + (L - 1) * D + wide > X[N]) {  // the last rows are copied, with zeros beyond them
            for (int64_t i = 0; i < count; i++) std::copy_n(X[start + i], D, &last[i * wide]);
            x = last.data(), step = wide;
        }
        double y[L] = {}, share[L] = {};
        std::copy_n(target + start, count, y);
        std::copy_n(weight + start, count, share);
        f64s z, value, slope;
        for (int i = 0; i < L; i++) {
            f64s products{};
            for (int64_t d = 0; d < whole; d += L) products += load(x + i * step + d) * load(&coef[d]);
            if (whole < D) products += select(inside, load(x + i * step + whole), f64s{}) * load(&coef[whole]);
            z.set(i, sum(products) + theta[D]);
        }
        of(load(y), z, value, slope);
        loss += load(share) * value;
        const f64s error = load(share) * slope;
        total += error;
        for (int64_t d = 0; d < wide; d += L) {
            f64s s = load(&sums[d]);
            for (int i = 0; i < L; i++) s += error[i] * load(x + i * step + d);
            store(&sums[d], s);
        }
        for (int i = 0; score && i < count; i++) score[start + i] = z[i];
    }
    std::copy_n(sums.begin(), D, gradient);
    gradient[D] = sum(total);
    return sum(loss);
}

}  // namespace suffice
