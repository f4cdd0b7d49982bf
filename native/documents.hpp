// Words of a document, each with a row of numbers, one per topic. Lanes are topics.
#pragma once

#include <algorithm>
#include <vector>

#include "elementary.hpp"
#include "sparse.hpp"

namespace suffice {

constexpr int64_t PER_LANES = f64s::N;  // topics

static INLINE int64_t lanes_of(int64_t K) { return (K + PER_LANES - 1) / PER_LANES; }

// Rows of topics that are padded by zeros to V lanes: row p is that of entry p of a document.
struct PaddedRows {
    const double* data;
    int64_t V;

    int64_t lanes() const { return V; }
    int64_t whole() const { return V; }
    INLINE const double* operator[](int64_t p) const { return data + p * V * PER_LANES; }
    INLINE f64s last(int64_t) const { return {}; }
};

// Row p is that of the word of entry p in B (V, K). What stands in lanes beyond K is zero.
template <class Index>
struct RowsOfWords {
    Matrix<const double> B;
    const Index* word;

    int64_t lanes() const { return lanes_of(B.columns); }
    int64_t whole() const { return B.columns / PER_LANES; }
    INLINE const double* operator[](int64_t p) const { return B[word[p]]; }
    INLINE f64s last(int64_t p) const {
        const int64_t first = whole() * PER_LANES, rest = B.columns - first;
        const double* from = B[word[p]] + first;
        if (from + PER_LANES <= B[B.rows]) {  // the lanes beyond K are of the next rows
            return select(first_lanes(rest), load(from), all(0.0));
        }
        double x[PER_LANES] = {};
        std::copy(from, from + rest, x);
        return load(x);
    }
};

// mean[p] = B[p]'e of a few entries
template <int R, class Rows>
static INLINE void add_means(const Rows& B, int64_t p, const double* e, double* mean) {
    f64s t[R] = {};
    for (int64_t v = 0; v < B.whole(); v++) {
        const f64s x = load(e + v * PER_LANES);
        for (int r = 0; r < R; r++) t[r] += load(B[p + r] + v * PER_LANES) * x;
    }
    if (B.whole() < B.lanes()) {
        const f64s x = load(e + B.whole() * PER_LANES);
        for (int r = 0; r < R; r++) t[r] += B.last(p + r) * x;
    }
    for (int r = 0; r < R; r++) mean[p + r] = sum(t[r]);
}

// mean = B e for the entries of a document: several at a time touch `e` less often.
template <class Rows>
static INLINE void means(const Rows& B, int64_t size, const double* e, double* mean) {
    constexpr int R = FIT > 4 ? 4 : FIT;
    int64_t p = 0;
    for (; p + R <= size; p += R) add_means<R>(B, p, e, mean);
    for (; p < size; p++) add_means<1>(B, p, e, mean);
}

// out = B'r: four entries at a time touch `out` less often.
template <class Rows>
static INLINE void sums(const Rows& B, int64_t size, const double* r, double* out) {
    std::fill(out, out + B.lanes() * PER_LANES, 0.0);
    int64_t p = 0;
    for (; p + 4 <= size; p += 4) {
        const double *a = B[p], *b = B[p + 1], *c = B[p + 2], *d = B[p + 3];
        auto four = [&](const f64s& a, const f64s& b, const f64s& c, const f64s& d, int64_t v) {
            double* to = out + v * PER_LANES;
            store(to, load(to) + ((r[p] * a + r[p + 1] * b) + (r[p + 2] * c + r[p + 3] * d)));
        };
        for (int64_t v = 0; v < B.whole(); v++) {
            const int64_t k = v * PER_LANES;
            four(load(a + k), load(b + k), load(c + k), load(d + k), v);
        }
        if (B.whole() < B.lanes()) four(B.last(p), B.last(p + 1), B.last(p + 2), B.last(p + 3), B.whole());
    }
    for (; p < size; p++) {
        auto one = [&](const f64s& a, int64_t v) {
            store(out + v * PER_LANES, load(out + v * PER_LANES) + r[p] * a);
        };
        for (int64_t v = 0; v < B.whole(); v++) one(load(B[p] + v * PER_LANES), v);
        if (B.whole() < B.lanes()) one(B.last(p), B.whole());
    }
}

}  // namespace suffice
