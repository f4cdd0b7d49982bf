// Updates of the rows of non-negative factors: Cichocki and Phan, "Fast local algorithms for large scale nonnegative
// matrix and tensor factorizations", 2009; Lee and Seung, "Algorithms for non-negative matrix factorization", 2001.
#pragma once

#include <algorithm>
#include <vector>

#include "documents.hpp"

namespace suffice {

// f gram f' / 2 - cross f' for each row f of F. Coordinates take their turns in this order.
struct RowQuadratics {
    Matrix<const double> gram, cross;
    const int64_t* order;
    const double* weight;
};

// Coordinate descent on a few rows at a time. Lanes are rows.
class CoordinateSweeps {
  public:
    CoordinateSweeps(const RowQuadratics& p, double tol, int64_t max_iter)
        : p(p), tol(tol), max_iter(max_iter), f(K() * G), c(K() * G) {}

    // Minimize over the rows of F, not negative, in place. A row is done when the sum of its projected gradient in a
    // sweep is at most tol times that of the first. Returns the weighted sum over rows of that of the first sweep.
    double minimize(Matrix<double> F) {
        double total = 0.0;
        for (int64_t start = 0; start < F.rows; start += ROWS) {
            const int64_t m = std::min(ROWS, F.rows - start);
            load_rows(F, start, m);
            for (int64_t n = 0; n < max_iter; n++) {
                sweep();
                if (n == 0)
                    for (int64_t j = 0; j < m; j++) {
                        set(first, j, at(seen, j));
                        total += p.weight[start + j] * at(seen, j);
                    }
                bool going = false;
                for (int g = 0; g < G; g++) {
                    live[g] = select(tol * first[g] < seen[g], live[g], all(int64_t(0)));
                    going |= any(live[g]);
                }
                if (!going) break;
            }
            for (int64_t j = 0; j < m; j++)
                for (int64_t k = 0; k < K(); k++) F[start + j][k] = at(&f[k * G], j);
        }
        return total;
    }

  private:
    static constexpr int G = 2;  // lanes of rows
    static constexpr int64_t ROWS = G * f64s::N;

    int64_t K() const { return p.gram.rows; }
    static INLINE double at(const f64s* lanes, int64_t j) { return lanes[j / f64s::N][j % f64s::N]; }
    static INLINE void set(f64s* lanes, int64_t j, double x) { lanes[j / f64s::N].set(j % f64s::N, x); }

    void load_rows(Matrix<double> F, int64_t start, int64_t m) {
        for (int64_t k = 0; k < K(); k++)
            for (int64_t j = 0; j < ROWS; j++) {
                set(&f[k * G], j, j < m ? F[start + j][k] : 0.0);
                set(&c[k * G], j, j < m ? p.cross[start + j][k] : 0.0);
            }
        for (int64_t j = 0; j < ROWS; j++) live[j / f64s::N].set(j % f64s::N, j < m ? -1 : 0);
    }

    // Each coordinate of the live rows to its minimum. The projected gradients are added in `seen`.
    void sweep() {
        const f64s zero = all(0.0);
        for (f64s& s : seen) s = zero;
        for (int64_t s = 0; s < K(); s++) {
            const int64_t t = p.order[s];
            const double *a = p.gram[t], step = a[t] > 0.0 ? 1.0 / a[t] : 0.0;
            f64s slope[G];
            for (int g = 0; g < G; g++) slope[g] = zero - c[t * G + g];
            int64_t r = 0;
            for (; r + 4 <= K(); r += 4)
                for (int g = 0; g < G; g++) {
                    const f64s* x = &f[r * G + g];
                    slope[g] += (a[r] * x[0] + a[r + 1] * x[G]) + (a[r + 2] * x[2 * G] + a[r + 3] * x[3 * G]);
                }
            for (; r < K(); r++)
                for (int g = 0; g < G; g++) slope[g] += a[r] * f[r * G + g];
            for (int g = 0; g < G; g++) {
                f64s& x = f[t * G + g];
                const f64s open = select(zero < x, slope[g], least(slope[g], zero));
                seen[g] += greatest(open, zero - open);
                x = select(live[g], greatest(x - step * slope[g], zero), x);
            }
        }
    }

    const RowQuadratics& p;
    double tol;
    int64_t max_iter;
    std::vector<f64s> f, c;  // coordinate k of the rows, and of `cross`
    f64s seen[G], first[G];
    i64s live[G];
};

struct Multiplicative {
    double l1, l2, least, tol;  // `least` of what is divided by
    int64_t max_iter;
};

// Updates of the rows of W, in place, under which the divergence of X from W H does not rise. `size` (K,) has the sums
// of the columns of Ht. A row is done when no entry changes by more than tol of the largest. Lanes are columns of W.
template <class Index>
static void divergence_updates(Sparse<Index> X, Matrix<const double> Ht, const double* size, const Multiplicative& by,
                               Matrix<double> W) {
    const int64_t K = W.columns, V = lanes_of(K), room = V * PER_LANES;
    int64_t longest = 0;
    for (int64_t n = 0; n < X.rows; n++) longest = std::max(longest, X[n].size);
    std::vector<double> w(room), sizes(room), share(room), ratio(longest);
    std::copy(size, size + K, sizes.begin());
    for (int64_t n = 0; n < X.rows; n++) {
        const SparseRow<Index> x = X[n];
        const RowsOfWords<Index> B{Ht, x.column};
        std::copy(W[n], W[n] + K, w.begin());
        for (int64_t i = 0; i < by.max_iter; i++) {
            means(B, x.size, w.data(), ratio.data());
            for (int64_t p = 0; p < x.size; p++) ratio[p] = x[p] / std::max(ratio[p], by.least);
            sums(B, x.size, ratio.data(), share.data());
            f64s change = all(0.0), most = all(0.0);
            for (int64_t k = 0; k < room; k += PER_LANES) {
                const f64s old = load(&w[k]), below = (load(&sizes[k]) + by.l1) + by.l2 * old;
                const f64s next = select(0.0 < below, old * load(&share[k]) / below, all(0.0)), d = next - old;
                change = greatest(change, greatest(d, all(0.0) - d));
                most = greatest(most, next);
                store(&w[k], next);
            }
            if (largest(change) <= by.tol * largest(most)) break;
        }
        std::copy(w.begin(), w.begin() + K, W[n]);
    }
}

// out = X / W H where X is not zero. Returns the sum of weight (x log(x / wh) - x).
template <class Index>
static double ratios(Sparse<Index> X, Matrix<const double> Ht, Matrix<const double> W, double least,
                     const double* weight, double* out) {
    const int64_t K = W.columns;
    std::vector<double> w(lanes_of(K) * PER_LANES);
    double total = 0.0;
    for (int64_t n = 0; n < X.rows; n++) {
        const SparseRow<Index> x = X[n];
        double *ratio = out + X.indptr[n], row = 0.0;
        std::copy(W[n], W[n] + K, w.begin());
        means(RowsOfWords<Index>{Ht, x.column}, x.size, w.data(), ratio);
        for (int64_t p = 0; p < x.size; p++) ratio[p] = x[p] / std::max(ratio[p], least);
        for (int64_t p = 0; p < x.size; p++)
            if (x[p] > 0.0) row += x[p] * (log(ratio[p]) - 1.0);
        total += weight[n] * row;
    }
    return total;
}

}  // namespace suffice
