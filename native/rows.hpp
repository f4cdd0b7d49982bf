// Rows one at a time, dense or sparse: their products with weights, and additions to weights. Entries may be
// float32; sums are of float64.
#pragma once

#include <algorithm>

#include "sparse.hpp"

namespace suffice {

// The columns of a dense row: entry p is in column p.
struct AllColumns {
    INLINE int64_t operator[](int64_t p) const { return p; }
};

template <class T>
struct DenseRow {
    const T* data;
    int64_t size;
    static constexpr AllColumns column{};

    INLINE T operator[](int64_t p) const { return data[p]; }
};

template <class T>
struct DenseRows {
    const T* data;
    int64_t rows, columns;

    INLINE DenseRow<T> operator[](int64_t n) const { return {data + n * columns, columns}; }
};

// x'w
template <class T>
static INLINE double dot(DenseRow<T> x, const double* w) {
    const int64_t whole = x.size - x.size % f64s::N;
    f64s lanes{};
    double rest = 0.0;
    for (int64_t d = 0; d < whole; d += f64s::N) lanes += load_f64s(x.data + d) * load(w + d);
    for (int64_t d = whole; d < x.size; d++) rest += double(x[d]) * w[d];
    return sum(lanes) + rest;
}

template <class Index, class T>
static INLINE double dot(SparseRow<Index, T> x, const double* w) {
    const int64_t whole = x.size - x.size % 4;
    double s[4] = {};
    for (int64_t p = 0; p < whole; p += 4)  // four sums do not wait for each other
        for (int64_t i = 0; i < 4; i++) s[i] += double(x[p + i]) * w[x.column[p + i]];
    for (int64_t p = whole; p < x.size; p++) s[p - whole] += double(x[p]) * w[x.column[p]];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// x'x
template <class Row>
static INLINE double square_of(Row x) {
    const int64_t whole = x.size - x.size % f64s::N;
    f64s lanes{};
    double rest = 0.0;
    for (int64_t p = 0; p < whole; p += f64s::N) lanes += load_f64s(x.data + p) * load_f64s(x.data + p);
    for (int64_t p = whole; p < x.size; p++) rest += double(x[p]) * double(x[p]);
    return sum(lanes) + rest;
}

// w += factor x
template <class T>
static INLINE void add(DenseRow<T> x, double factor, double* w) {
    const int64_t whole = x.size - x.size % f64s::N;
    for (int64_t d = 0; d < whole; d += f64s::N) store(w + d, load(w + d) + factor * load_f64s(x.data + d));
    for (int64_t d = whole; d < x.size; d++) w[d] += factor * double(x[d]);
}

template <class Index, class T>
static INLINE void add(SparseRow<Index, T> x, double factor, double* w) {
    for (int64_t p = 0; p < x.size; p++) w[x.column[p]] += factor * double(x[p]);
}

// Rows in a random order are where the CPU does not expect them. Of 200,000 x 20, an epoch of `sgd` takes half the
// time if rows are fetched before their turn.
constexpr int64_t ROWS_AHEAD = 8;

template <class T>
static INLINE void prefetch_first(const T* data, int64_t size) {
    constexpr int64_t LINE = 64 / sizeof(T), MOST = 16 * LINE;  // the CPU expects the rest of a long row
    for (int64_t p = 0; p < std::min(size, MOST); p += LINE) prefetch(data + p);
}

template <class T>
static INLINE void prefetch_row(DenseRow<T> x) {
    prefetch_first(x.data, x.size);
}

template <class Index, class T>
static INLINE void prefetch_row(SparseRow<Index, T> x) {
    prefetch_first(x.data, x.size);
    prefetch_first(x.column, x.size);
}

template <class Rows>
static INLINE void prefetch_next(const Rows& X, Vector<const int64_t> order, int64_t t) {
    if (t + ROWS_AHEAD < order.size) prefetch_row(X[order[t + ROWS_AHEAD]]);
}

}  // namespace suffice
