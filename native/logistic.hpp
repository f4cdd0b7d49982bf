// The binomial log loss of rows and its gradient, in one pass over them.
#pragma once

#include "elementary.hpp"
#include "tile.hpp"

namespace suffice {

// The sum over rows of weight times log(1 + exp(z)) - code z, with z = X theta[:-1] + theta[-1], and into
// `gradient` its derivatives by theta. With e = exp(-|z|), log(1 + exp(z)) = max(z, 0) + log(1 + e), and its
// derivative by z is 1 / (1 + e), or e / (1 + e) where z is negative.
static double binomial(Matrix<const double> X, const double* theta, const int64_t* codes,
                       const double* weight, double* gradient) {
    const int64_t D = X.columns, L = f64s::N;
    Tile x(D);
    std::vector<double> sums((D + 1) * L), c(Tile::EIGHTS * L), w(Tile::EIGHTS * L);
    f64s loss{}, error[Tile::EIGHTS];
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        std::fill(w.begin(), w.end(), 0.0);
        std::copy(codes + start, codes + start + count, c.begin());
        std::copy(weight + start, weight + start + count, w.begin());
        f64s total = load(&sums[D * L]);
        for (int64_t g = 0; g < x.eights; g++) {
            f64s z = all(theta[D]), code = load(&c[g * L]), share = load(&w[g * L]);
            for (int64_t d = 0; d < D; d++) z += x(g, d) * theta[d];
            const f64s e = exp(least(z, 0.0 - z));
            loss += share * (greatest(z, f64s{}) - code * z + log1p(e));
            error[g] = share * (select(z < 0.0, e, all(1.0)) / (1.0 + e) - code);
            total += error[g];
        }
        store(&sums[D * L], total);
        for (int64_t d = 0; d < D; d++) {
            f64s product = load(&sums[d * L]);
            for (int64_t g = 0; g < x.eights; g++) product += x(g, d) * error[g];
            store(&sums[d * L], product);
        }
    }
    for (int64_t d = 0; d <= D; d++) gradient[d] = sum(load(&sums[d * L]));
    return sum(loss);
}

}  // namespace suffice
