// Sums by label in one pass over the rows, and sums of table lookups of categories.
//
// Categories of feature d are the whole numbers from 0 on; it has the places from start[d] to start[d + 1].
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "sparse.hpp"

namespace suffice {

// out[k] = sum of weight[n] x_n over the rows with label k
static void add_by_label(Matrix<const double> X, const double* weight, const int64_t* labels, Matrix<double> out) {
    for (int64_t n = 0; n < X.rows; n++) {
        const double *x = X[n], w = weight[n];
        double* __restrict sums = out[labels[n]];
        for (int64_t d = 0; d < X.columns; d++) sums[d] += w * x[d];
    }
}

// The same of CSR rows, in this order: sorted by label, sums stay in the cache.
template <class Index>
static void add_sparse_by_label(Sparse<Index> X, const double* weight, const int64_t* labels,
                                Vector<const int64_t> order, Matrix<double> out) {
    for (int64_t i = 0; i < order.size; i++) {
        const int64_t n = order[i];
        const SparseRow<Index> x = X[n];
        const double w = weight[n];
        double* sums = out[labels[n]];
        for (int64_t p = 0; p < x.size; p++) sums[x.column[p]] += w * x[p];
    }
}

// out[k, d] += sum of weight[n] over the rows with label k and X[n, d] > threshold. Returns how many entries
// are NaN.
static double add_above_by_label(Matrix<const double> X, double threshold, const double* weight,
                                 const int64_t* labels, Matrix<double> out) {
    std::vector<double> holes(X.columns);  // by feature: one number would be added up after each row
    for (int64_t n = 0; n < X.rows; n++) {
        const double *x = X[n], w = weight[n];
        double *__restrict sums = out[labels[n]], *__restrict count = holes.data();
        for (int64_t d = 0; d < X.columns; d++) {
            sums[d] += x[d] > threshold ? w : 0.0;
            count[d] += x[d] != x[d] ? 1.0 : 0.0;
        }
    }
    return std::accumulate(holes.begin(), holes.end(), 0.0);
}

// out[k] += sum of weight[n] (x_n - point_k)^2 over the rows with label k
static void add_squares_by_label(Matrix<const double> X, const double* weight, const int64_t* labels,
                                 Matrix<const double> points, Matrix<double> out) {
    for (int64_t n = 0; n < X.rows; n++) {
        const double *x = X[n], *point = points[labels[n]], w = weight[n];
        double* __restrict sums = out[labels[n]];
        for (int64_t d = 0; d < X.columns; d++) {
            const double y = x[d] - point[d];
            sums[d] += w * y * y;
        }
    }
}

// most[d] = max_n X[n, d], or -1 if all are NaN or below. Returns whether all are whole and not negative, or NaN.
static bool largest(Matrix<const double> X, double* __restrict most) {
    constexpr double LARGE = 0x1p52;  // from here on floats are whole; below, adding it rounds
    std::vector<double> strange(X.columns);
    std::fill(most, most + X.columns, -1.0);
    for (int64_t n = 0; n < X.rows; n++) {
        const double* x = X[n];
        double* __restrict count = strange.data();
        for (int64_t d = 0; d < X.columns; d++) {
            const double rounded = (x[d] + LARGE) - LARGE, whole = x[d] < LARGE ? rounded : x[d];
            most[d] = x[d] > most[d] ? x[d] : most[d];
            count[d] += (x[d] < 0.0) | ((x[d] != whole) & (x[d] == x[d])) ? 1.0 : 0.0;
        }
    }
    return std::all_of(strange.begin(), strange.end(), [](double count) { return count == 0.0; });
}

// How many categories each feature has.
static std::vector<double> sizes(const int64_t* start, int64_t D) {
    std::vector<double> size(D);
    for (int64_t d = 0; d < D; d++) size[d] = double(start[d + 1] - start[d]);
    return size;
}

// out[k, start[d] + v] += sum of weight[n] over the rows with label k and the whole part v of X[n, d]
static void add_categories_by_label(Matrix<const double> X, const double* weight, const int64_t* labels,
                                    const int64_t* start, Matrix<double> out) {
    const std::vector<double> size = sizes(start, X.columns);
    for (int64_t n = 0; n < X.rows; n++) {
        const double *x = X[n], w = weight[n];
        double* __restrict sums = out[labels[n]];
        for (int64_t d = 0; d < X.columns; d++)
            if (x[d] >= 0.0 && x[d] < size[d]) sums[start[d] + int64_t(x[d])] += w;
    }
}

// out[n] = sum_d table[start[d] + X[n, d]]; what is no category adds nothing
static void look_up(Matrix<const double> X, const int64_t* start, Matrix<const double> table, Matrix<double> out) {
    const std::vector<double> size = sizes(start, X.columns);
    for (int64_t n = 0; n < X.rows; n++) {
        const double* x = X[n];
        double* __restrict sums = out[n];
        for (int64_t d = 0; d < X.columns; d++) {
            if (!(x[d] >= 0.0 && x[d] < size[d])) continue;
            const int64_t code = int64_t(x[d]);
            if (double(code) != x[d]) continue;
            const double* terms = table[start[d] + code];
            for (int64_t k = 0; k < table.columns; k++) sums[k] += terms[k];
        }
    }
}

}  // namespace suffice
