// Rows of which each feature is contiguous, so that a lane is a row.
#pragma once

#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace suffice {

// Rows by eights: tile(g, d) is feature d of the rows 8 g to 8 g + 7; zeros beyond the last row.
class Tile {
  public:
    static constexpr int64_t EIGHTS = 16;  // sixteen features of 128 rows are 16 KiB

    explicit Tile(int64_t D) : D(D), x(EIGHTS * D * f64s::N) {}

    int64_t load(Matrix<const double> X, int64_t start) {  // returns how many rows there are
        const int64_t count = std::min<int64_t>(EIGHTS * f64s::N, X.rows - start);
        eights = (count + f64s::N - 1) / f64s::N;
        for (int64_t i = 0; i < count; i++) {
            double* to = &x[i / f64s::N * D * f64s::N + i % f64s::N];
            for (int64_t d = 0; d < D; d++) to[d * f64s::N] = X[start + i][d];
        }
        for (int64_t i = count; i < eights * f64s::N; i++)
            for (int64_t d = 0; d < D; d++) x[(i / f64s::N * D + d) * f64s::N + i % f64s::N] = 0.0;
        return count;
    }

    INLINE f64s operator()(int64_t g, int64_t d) const { return suffice::load(&x[(g * D + d) * f64s::N]); }

    int64_t eights = 0;

  private:
    int64_t D;
    std::vector<double> x;
};

}  // namespace suffice
