// CSR rows, and their products with dense matrices of few columns.
#pragma once

#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace suffice {

// One row: entry p of the row is x[p], in column x.column[p].
template <class Index, class T = double>
struct SparseRow {
    const T* data;
    const Index* column;
    int64_t size;

    INLINE T operator[](int64_t p) const { return data[p]; }
};

// Entry p of `data` is in column indices[p], and row n has the entries from indptr[n] to indptr[n + 1].
template <class Index, class T = double>
struct Sparse {
    const T* data;
    const Index *indices, *indptr;
    int64_t rows;

    INLINE SparseRow<Index, T> operator[](int64_t n) const {
        return {data + indptr[n], indices + indptr[n], int64_t(indptr[n + 1] - indptr[n])};
    }
};

// Rows of K numbers, read as if they had P >= K: what stands beyond a row is of the next ones. Those that would
// be read beyond the end are in a copy.
class WideRows {
  public:
    WideRows(Matrix<const double> M, int64_t P) : M(M), whole(M.rows) {
        while (whole > 0 && M[whole - 1] + P > M[M.rows]) whole--;
        copy.resize((M.rows - whole) * M.columns + P);
        std::copy(M[whole], M[M.rows], copy.begin());
    }
    INLINE const double* operator[](int64_t row) const {
        return row < whole ? M[row] : &copy[(row - whole) * M.columns];
    }

  private:
    Matrix<const double> M;
    int64_t whole;
    std::vector<double> copy;
};

// out = x W of V lanes from column k on
template <int V, class Index>
static INLINE void times_row(SparseRow<Index> x, const WideRows& W, int64_t k, double* out) {
    constexpr int N = f64s::N;
    f64s s[V] = {};
    int64_t p = 0;
    for (; p + 4 <= x.size; p += 4) {  // sums wait less for each other
        const double *a = W[x.column[p]] + k, *b = W[x.column[p + 1]] + k, *c = W[x.column[p + 2]] + k,
                     *d = W[x.column[p + 3]] + k;
        for (int v = 0; v < V; v++)
            s[v] += (x[p] * load(a + v * N) + x[p + 1] * load(b + v * N)) +
                    (x[p + 2] * load(c + v * N) + x[p + 3] * load(d + v * N));
    }
    for (; p < x.size; p++)
        for (int v = 0; v < V; v++) s[v] += x[p] * load(W[x.column[p]] + k + v * N);
    for (int v = 0; v < V; v++) store(out + k + v * N, s[v]);
}

// out = X W. Lanes are columns of W, and those beyond K are overwritten by the next row.
template <class Index>
static void times(Sparse<Index> X, Matrix<const double> W, Matrix<double> out) {
    const int64_t K = W.columns, P = (K + f64s::N - 1) / f64s::N * f64s::N;
    constexpr int B = FIT > 2 ? 2 : 1;
    const WideRows rows(W, P);
    std::vector<double> last(P);
    for (int64_t n = 0; n < X.rows; n++) {
        const bool fits = out[n] + P <= out[X.rows];
        double* y = fits ? out[n] : last.data();
        int64_t k = 0;
        for (; k + B * f64s::N <= P; k += B * f64s::N) times_row<B>(X[n], rows, k, y);
        for (; k < P; k += f64s::N) times_row<1>(X[n], rows, k, y);
        if (!fits) std::copy(y, y + K, out[n]);
    }
}

// out += X' G
template <class Index>
static void add_transposed_times(Sparse<Index> X, Matrix<const double> G, Matrix<double> out) {
    for (int64_t n = 0; n < X.rows; n++) {
        const double* g = G[n];
        const SparseRow<Index> x = X[n];
        for (int64_t p = 0; p < x.size; p++) {
            double* __restrict y = out[x.column[p]];
            for (int64_t k = 0; k < G.columns; k++) y[k] += x[p] * g[k];
        }
    }
}

}  // namespace suffice
