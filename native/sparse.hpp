// CSR rows, and their products with dense matrices of few columns.
#pragma once

#include "lanes.hpp"

namespace suffice {

// Entry p of `data` is in column indices[p], and row n has the entries from indptr[n] to indptr[n + 1].
template <class Index>
struct Sparse {
    const double* data;
    const Index *indices, *indptr;
    int64_t rows;
};

// out = X W: four entries at a time touch `out` less often.
template <class Index>
static void times(Sparse<Index> X, Matrix<const double> W, Matrix<double> out) {
    const int64_t K = W.columns;
    for (int64_t n = 0; n < X.rows; n++) {
        double* __restrict y = out[n];
        int64_t p = X.indptr[n];
        const int64_t end = X.indptr[n + 1], fours = end - (end - p) % 4;
        for (; p < fours; p += 4) {
            const double *x = X.data + p, *a = W[X.indices[p]], *b = W[X.indices[p + 1]], *c = W[X.indices[p + 2]],
                         *d = W[X.indices[p + 3]];
            for (int64_t k = 0; k < K; k++) y[k] += (x[0] * a[k] + x[1] * b[k]) + (x[2] * c[k] + x[3] * d[k]);
        }
        for (; p < end; p++)
            for (int64_t k = 0; k < K; k++) y[k] += X.data[p] * W[X.indices[p]][k];
    }
}

// out += X' G
template <class Index>
static void add_transposed_times(Sparse<Index> X, Matrix<const double> G, Matrix<double> out) {
    for (int64_t n = 0; n < X.rows; n++) {
        const double* g = G[n];
        for (int64_t p = X.indptr[n]; p < X.indptr[n + 1]; p++) {
            double* __restrict y = out[X.indices[p]];
            for (int64_t k = 0; k < G.columns; k++) y[k] += X.data[p] * g[k];
        }
    }
}

}  // namespace suffice
