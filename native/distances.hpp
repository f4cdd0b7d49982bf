// Distances from rows to K points, and moments of rows about K points.
//
// Rows are taken in tiles of which each feature is contiguous, so that a lane is a row, for any K and D.
// Responsibilities are (K, N).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sparse.hpp"
#include "tile.hpp"
#include "tree_sum.hpp"

namespace suffice {

constexpr double INF = std::numeric_limits<double>::infinity();

// The first `count` of eight numbers.
static INLINE void store_first(int64_t count, double* to, const f64s& x) {
    if (count >= f64s::N) return store(to, x);
    for (int i = 0; i < count; i++) to[i] = x[i];
}

// out[d] = sum_n weight[n] X[n, d]
static void weighted_sum(Matrix<const double> X, const double* weight, double* __restrict out) {
    const int64_t N = X.rows, D = X.columns, whole = N - N % 8;
    for (int64_t n = 0; n < whole; n += 8) {
        const double *x = X[n], *w = weight + n;
        for (int64_t d = 0; d < D; d++, x++)
            out[d] += ((w[0] * x[0] + w[1] * x[D]) + (w[2] * x[2 * D] + w[3] * x[3 * D])) +
                      ((w[4] * x[4 * D] + w[5] * x[5 * D]) + (w[6] * x[6 * D] + w[7] * x[7 * D]));
    }
    for (int64_t n = whole; n < N; n++)
        for (int64_t d = 0; d < D; d++) out[d] += weight[n] * X[n][d];
}

// |x - c|^2
static INLINE double squared_distance(const double* x, const double* c, int64_t D) {
    double sum = 0.0;
    for (int64_t d = 0; d < D; d++) sum += (x[d] - c[d]) * (x[d] - c[d]);
    return sum;
}

// labels[n] = argmin_k |x_n - c_k|^2, the first of several; distances[n] = min_k |x_n - c_k|^2
static void nearest(Matrix<const double> X, Matrix<const double> points, int64_t* labels, double* distances) {
    const int64_t K = points.rows, D = X.columns, whole = D - D % 4;
    Tile x(D);
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        for (int64_t g = 0; g < x.eights; g++) {
            f64s smallest = all(INF);
            i64s label{};
            for (int64_t k = 0; k < K; k++) {
                const double* c = points[k];
                f64s distance{};
                for (int64_t d = 0; d < whole; d += 4) {
                    f64s y0 = x(g, d) - c[d], y1 = x(g, d + 1) - c[d + 1];
                    f64s y2 = x(g, d + 2) - c[d + 2], y3 = x(g, d + 3) - c[d + 3];
                    distance += (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3);
                }
                for (int64_t d = whole; d < D; d++) distance += (x(g, d) - c[d]) * (x(g, d) - c[d]);
                i64s closer = distance < smallest;
                smallest = select(closer, distance, smallest);
                label = select(closer, all(k), label);
            }
            for (int64_t i = 0, n = start + g * f64s::N; i < f64s::N && n < start + count; i++, n++) {
                labels[n] = label[i];
                distances[n] = smallest[i];
            }
        }
    }
}

// The nearest of many points, by scores in float32.
//
// Points and rows are taken about the mean of the points, in units of the largest distance of a point from it.
// The nearest point has the least score |c|^2 / 2 - x'c. A score has a rounding error of at most
// (1.1 D + 4) 2^-24 (|x| + 1), and half a squared distance by differences in float64 one of
// (D + 3) 2^-54 (|x| + 1)^2. Rows whose two least scores are closer than these bounds are compared by
// differences: so the points found are those of differences, however scores are rounded.
class NearestOfMany {
  public:
    static constexpr int ROWS = f32s::N;

    explicit NearestOfMany(Matrix<const double> points)
        : points(points), K(points.rows), D(points.columns), middle(D), half((K + FIT - 1) / FIT * FIT),
          minus_c(half.size() * D), wide((D + 3) / 4 * 4), rows(ROWS * wide), tile(ROWS * wide) {
        for (int64_t k = 0; k < K; k++)
            for (int64_t d = 0; d < D; d++) middle[d] += points[k][d] / K;
        double unit = 0.0;
        for (int64_t k = 0; k < K; k++)
            unit = std::max(unit, std::sqrt(squared_distance(points[k], middle.data(), D)));
        scale = unit > 0.0 ? 1.0 / unit : 1.0;
        std::fill(half.begin(), half.end(), std::numeric_limits<float>::infinity());
        for (int64_t k = 0; k < K; k++) {
            double square = 0.0;
            for (int64_t d = 0; d < D; d++) {
                double c = (points[k][d] - middle[d]) * scale;
                minus_c[(k / FIT * D + d) * FIT + k % FIT] = float(-c);
                square += c * c;
            }
            half[k] = float(0.5 * square);
        }
    }

    // The labels of at most ROWS rows from `start` on; returns how many they are.
    int64_t operator()(Matrix<const double> X, int64_t start, int32_t* labels) {
        const int64_t count = std::min<int64_t>(ROWS, X.rows - start);
        for (int64_t i = 0; i < count; i++) round_row(X[start + i], &rows[i * wide]);
        for (int64_t i = 0; i < ROWS; i += 4)
            for (int64_t d = 0; d < D; d += 4) store_transposed(&rows[i * wide + d], wide, &tile[d * ROWS + i], ROWS);
        f32s square{};
        for (int64_t d = 0; d < D; d++) square += load(&tile[d * ROWS]) * load(&tile[d * ROWS]);
        f32s lowest = all(std::numeric_limits<float>::infinity()), second = lowest;
        i32s label{};
        for (int64_t k = 0; k < int64_t(half.size()); k += FIT) {
            f32s score[FIT];
            for (int j = 0; j < FIT; j++) score[j] = all(half[k + j]);
            const float* c = &minus_c[k * D];
            for (int64_t d = 0; d < D; d++)
                for (int j = 0; j < FIT; j++) score[j] = times_plus(load(&tile[d * ROWS]), all(c[d * FIT + j]), score[j]);
            for (int j = 0; j < FIT; j++) {
                second = least(second, greatest(lowest, score[j]));
                label = select(score[j] < lowest, all(int32_t(k + j)), label);
                lowest = least(score[j], lowest);
            }
        }
        store(labels, label);
        // The bound of all rows at once, with sqrt(s) <= (1 + s) / 2; only rows near it need the square root.
        const double bound = 2.0 * (1.1 * D + 4.0) * 0x1p-24, of_differences = (D + 3.0) * 0x1p-53;
        const f32s far = 1.01f * (1.5f + 0.5f * square);
        const f32s needed = far * (float(1.01 * bound) + float(1.01 * of_differences) * far);
        if (any(select(needed < second - lowest, i32s{}, all(int32_t(-1)))))
            for (int i = 0; i < count; i++) {
                double reach = 1.0 + std::sqrt(double(square[i])) * (1.0 + (D + 2.0) * 0x1p-24);
                double apart = double(second[i]) - double(lowest[i]);
                if (!(apart > reach * (bound + of_differences * reach)))  // as if one is NaN
                    labels[i] = by_differences(X[start + i]);
            }
        return count;
    }

  private:
    // About the mean, in float32. Eight numbers at a time; the last eight may have been among others before.
    void round_row(const double* x, float* to) const {
        if (D < f64s::N)
            for (int64_t d = 0; d < D; d++) to[d] = float((x[d] - middle[d]) * scale);
        for (int64_t d = 0; d + f64s::N <= D; d += f64s::N) round_eight(x, d, to);
        if (D > f64s::N && D % f64s::N) round_eight(x, D - f64s::N, to);
    }

    INLINE void round_eight(const double* x, int64_t d, float* to) const {
        store_f32s(to + d, (load(x + d) - load(&middle[d])) * scale);
    }

    int32_t by_differences(const double* x) const {
        int64_t label = 0;
        double smallest = INF;
        for (int64_t k = 0; k < K; k++) {
            double distance = squared_distance(x, points[k], D);
            if (distance < smallest) label = k, smallest = distance;
        }
        return int32_t(label);
    }

    Matrix<const double> points;
    int64_t K, D;
    double scale;
    std::vector<double> middle;
    std::vector<float> half, minus_c;  // minus_c: FIT points side by side
    int64_t wide;                      // D, and zeros up to a multiple of four
    std::vector<float> rows, tile;     // a row, and a feature, after the other
};

// `nearest`, for many points
static void nearest_of_many(Matrix<const double> X, Matrix<const double> points, int64_t* labels,
                            double* distances) {
    NearestOfMany find(points);
    int32_t found[NearestOfMany::ROWS];
    for (int64_t start = 0; start < X.rows; start += NearestOfMany::ROWS) {
        int64_t count = find(X, start, found);
        for (int64_t i = 0; i < count; i++) {
            labels[start + i] = found[i];
            distances[start + i] = squared_distance(X[start + i], points[found[i]], X.columns);
        }
    }
}

// total[k] = sum of the weights of the rows with label k; offset[k] = sum of weight (x - c_k)
static void sums_by_label(Matrix<const double> X, const double* weight, const int64_t* labels,
                          Matrix<const double> points, double* total, Matrix<double> offset) {
    for (int64_t n = 0; n < X.rows; n++) {
        const double *x = X[n], *c = points[labels[n]], w = weight[n];
        double* __restrict sums = offset[labels[n]];
        total[labels[n]] += w;
        for (int64_t d = 0; d < X.columns; d++) sums[d] += w * (x[d] - c[d]);
    }
}

// `nearest_of_many` and `sums_by_label` while rows are in the cache. Returns the weighted sum of squared distances.
//
// Each piece of `rows` rows has sums of its own, which are added as the fold adds those of pieces. Rows are read
// eight numbers at a time: what stands beyond a row is summed with the rest, and not looked at.
static double nearest_sums(Matrix<const double> X, const double* weight, Matrix<const double> points, int64_t rows,
                           int64_t* labels, double* total, Matrix<double> offset) {
    const int64_t N = X.rows, D = X.columns, K = points.rows, wide = (D + f64s::N - 1) / f64s::N * f64s::N;
    NearestOfMany find(points);
    int32_t found[NearestOfMany::ROWS];
    std::vector<double> squares(wide), sums(K * wide), c(K * wide), last(wide);
    for (int64_t k = 0; k < K; k++) std::copy_n(points[k], D, &c[k * wide]);
    TreeSum pieces;  // the sum of squared distances, `total` and `offset`
    for (int64_t first = 0; first == 0 || first < N; first += rows) {
        const Matrix<const double> until{X.data, std::min(first + rows, N), D};
        std::vector<double> piece(1 + K + K * D);
        std::fill(squares.begin(), squares.end(), 0.0);
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int64_t start = first; start < until.rows; start += NearestOfMany::ROWS) {
            const int64_t count = find(until, start, found);
            for (int64_t i = 0; i < count; i++) {
                const int64_t n = start + i, k = found[i];
                const double *x = X[n], w = weight[n];
                if (X[n] + wide > X[N]) x = std::copy_n(x, D, last.data()) - D;
                labels[n] = k;
                piece[1 + k] += w;
                for (int64_t d = 0; d < wide; d += f64s::N) {
                    const f64s y = load(x + d) - load(&c[k * wide + d]), wy = w * y;
                    store(&sums[k * wide + d], load(&sums[k * wide + d]) + wy);
                    store(&squares[d], load(&squares[d]) + wy * y);
                }
            }
        }
        for (int64_t d = 0; d < D; d++) piece[0] += squares[d];
        for (int64_t k = 0; k < K; k++)
            for (int64_t d = 0; d < D; d++) piece[1 + K + k * D + d] += sums[k * wide + d];
        pieces.add(std::move(piece));
    }
    const std::vector<double>& sum = pieces.sum();
    std::copy_n(&sum[1], K, total);
    std::copy_n(sum.data() + 1 + K, K * D, offset.data);
    return sum[0];
}

static INLINE f64s without_nan(const f64s& x) { return select(x == x, x, f64s{}); }

// out[k, n] = sum_d scales[k, d] (X[n, d] - points[k, d])^2; NaN terms add nothing
static void weighted_distances(Matrix<const double> X, Matrix<const double> points, Matrix<const double> scales,
                               Matrix<double> out) {
    const int64_t D = X.columns, whole = D - D % 2;
    Tile x(D);
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        for (int64_t k = 0; k < points.rows; k++) {
            const double *c = points[k], *a = scales[k];
            auto term = [&](int64_t g, int64_t d) {
                f64s y = x(g, d) - c[d];
                return without_nan(a[d] * y * y);
            };
            for (int64_t g = 0; g < x.eights; g++) {
                f64s distance{};
                for (int64_t d = 0; d < whole; d += 2) distance += term(g, d) + term(g, d + 1);
                if (whole < D) distance += term(g, whole);
                store_first(count - g * f64s::N, out[k] + start + g * f64s::N, distance);
            }
        }
    }
}

// The weights r of group k of the rows of a tile; zeros beyond the last row.
static INLINE void load_weights(Matrix<const double> R, int64_t k, int64_t start, int64_t count, f64s* r) {
    double padded[Tile::EIGHTS * f64s::N] = {};
    std::copy_n(R[k] + start, count, padded);
    for (int64_t g = 0; g < Tile::EIGHTS; g++) r[g] = load(padded + g * f64s::N);
}

// out[k, d] = sum_n R[k, n] (X[n, d] - points[k, d])^2; NaN terms add nothing
static void squares_about(Matrix<const double> X, Matrix<const double> R, Matrix<const double> points,
                          Matrix<double> out) {
    Tile x(X.columns);
    f64s r[Tile::EIGHTS];
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        for (int64_t k = 0; k < points.rows; k++) {
            load_weights(R, k, start, count, r);
            for (int64_t d = 0; d < X.columns; d++) {
                f64s total{};
                for (int64_t g = 0; g < x.eights; g++) {
                    f64s y = x(g, d) - points[k][d];
                    total += without_nan(r[g] * y * y);
                }
                out[k][d] += sum(total);
            }
        }
    }
}

constexpr int64_t FOUR = 4;  // columns, whose sums stay in registers

// out[k, n] = |(x_n - c_k) U_k|^2, with U_k upper triangular
static void mahalanobis(Matrix<const double> X, Matrix<const double> points, Tensor<const double> U,
                        Matrix<double> out) {
    const int64_t D = X.columns, K = points.rows, wide = (D + FOUR - 1) / FOUR * FOUR;
    std::vector<double> columns(K * wide * wide);  // [k, e / 4, d, e % 4] = U[k, d, e], zeros below the diagonal
    for (int64_t k = 0; k < K; k++)
        for (int64_t d = 0; d < D; d++)
            for (int64_t e = d; e < D; e++)
                columns[((k * wide / FOUR + e / FOUR) * wide + d) * FOUR + e % FOUR] = U[k][d][e];
    Tile x(D);
    std::vector<f64s> y(wide);
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        for (int64_t k = 0; k < K; k++) {
            for (int64_t g = 0; g < x.eights; g++) {
                for (int64_t d = 0; d < D; d++) y[d] = x(g, d) - points[k][d];
                f64s distance{};
                for (int64_t e = 0; e < wide; e += FOUR) {
                    const double* u = &columns[(k * wide + e) / FOUR * wide * FOUR];
                    f64s z[FOUR] = {};
                    for (int64_t d = 0; d < e + FOUR; d++)
                        for (int j = 0; j < FOUR; j++) z[j] += y[d] * u[d * FOUR + j];
                    distance += (z[0] * z[0] + z[1] * z[1]) + (z[2] * z[2] + z[3] * z[3]);
                }
                store_first(count - g * f64s::N, out[k] + start + g * f64s::N, distance);
            }
        }
    }
}

// out[k] = sum_n R[k, n] (x_n - c_k) (x_n - c_k)'
static void scatters_about(Matrix<const double> X, Matrix<const double> R, Matrix<const double> points,
                           Tensor<double> out) {
    const int64_t D = X.columns, wide = (D + FOUR - 1) / FOUR * FOUR;
    Tile x(D);
    f64s r[Tile::EIGHTS], ry[Tile::EIGHTS];
    std::vector<f64s> y(Tile::EIGHTS * wide);  // [e / 4, g, e % 4]
    std::vector<double> S(points.rows * D * wide);
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = x.load(X, start);
        for (int64_t k = 0; k < points.rows; k++) {
            load_weights(R, k, start, count, r);
            for (int64_t g = 0; g < x.eights; g++)
                for (int64_t d = 0; d < D; d++)
                    y[(d / FOUR * Tile::EIGHTS + g) * FOUR + d % FOUR] = x(g, d) - points[k][d];
            for (int64_t d = 0; d < D; d++) {
                for (int64_t g = 0; g < x.eights; g++)
                    ry[g] = r[g] * y[(d / FOUR * Tile::EIGHTS + g) * FOUR + d % FOUR];
                for (int64_t e = 0; e <= d; e += FOUR) {
                    const f64s* four = &y[e * Tile::EIGHTS];
                    f64s s[FOUR] = {};
                    for (int64_t g = 0; g < x.eights; g++)
                        for (int j = 0; j < FOUR; j++) s[j] += ry[g] * four[g * FOUR + j];
                    for (int j = 0; j < FOUR; j++) S[(k * D + d) * wide + e + j] += sum(s[j]);
                }
            }
        }
    }
    for (int64_t k = 0; k < points.rows; k++)
        for (int64_t d = 0; d < D; d++)
            for (int64_t e = 0; e <= d; e++) out[k][d][e] = out[k][e][d] = S[(k * D + d) * wide + e];
}

// out[n, k] = |x_n - points[:, k]|^2 for points (D, K); zero for a row that is the point, so that no sum is
// reordered.
template <class Index>
static void sparse_distances(Sparse<Index> X, Matrix<const double> points, Matrix<double> out) {
    const int64_t D = points.rows, K = points.columns;
    std::vector<double> square(K), near(K), seen(K);
    for (int64_t d = 0; d < D; d++)
        for (int64_t k = 0; k < K; k++) square[k] += points[d][k] * points[d][k];
    for (int64_t n = 0; n < X.rows; n++) {
        std::fill(near.begin(), near.end(), 0.0);
        std::fill(seen.begin(), seen.end(), 0.0);
        for (int64_t p = X.indptr[n]; p < X.indptr[n + 1]; p++) {
            const double x = X.data[p], *point = points[X.indices[p]];
            for (int64_t k = 0; k < K; k++) {
                near[k] += (x - point[k]) * (x - point[k]);
                seen[k] += point[k] * point[k];
            }
        }
        for (int64_t k = 0; k < K; k++) out[n][k] = near[k] + std::max(square[k] - seen[k], 0.0);
    }
}

// `sums_by_label` of CSR rows
template <class Index>
static void sparse_sums_by_label(Sparse<Index> X, const double* weight, const int64_t* labels,
                                 Matrix<const double> points, double* total, Matrix<double> offset) {
    for (int64_t n = 0; n < X.rows; n++) {
        total[labels[n]] += weight[n];
        for (int64_t p = X.indptr[n]; p < X.indptr[n + 1]; p++)
            offset[labels[n]][X.indices[p]] += weight[n] * X.data[p];
    }
    for (int64_t k = 0; k < points.rows; k++)
        for (int64_t d = 0; d < points.columns; d++) offset[k][d] -= total[k] * points[k][d];
}

}  // namespace suffice
