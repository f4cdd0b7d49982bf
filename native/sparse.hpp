// CSR rows, and their products with dense matrices of few columns.
#pragma once

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

// out = X W: four entries at a time touch `out` less often.
template <class Index>
static void times(Sparse<Index> X, Matrix<const double> W, Matrix<double> out) {
    const int64_t K = W.columns;
    for (int64_t n = 0; n < X.rows; n++) {
        double* __restrict y = out[n];
        const SparseRow<Index> x = X[n];
        int64_t p = 0;
        for (; p + 4 <= x.size; p += 4) {
            const double *a = W[x.column[p]], *b = W[x.column[p + 1]], *c = W[x.column[p + 2]],
                         *d = W[x.column[p + 3]];
            for (int64_t k = 0; k < K; k++)
                y[k] += (x[p] * a[k] + x[p + 1] * b[k]) + (x[p + 2] * c[k] + x[p + 3] * d[k]);
        }
        for (; p < x.size; p++)
            for (int64_t k = 0; k < K; k++) y[k] += x[p] * W[x.column[p]][k];
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
