// Swaps of medoids: FasterPAM, one block of candidates at a time. Schubert and Rousseeuw, "Fast and eager k-medoids
// clustering", 2021, algorithm 3.
#pragma once

#include <algorithm>
#include <vector>

#include "elementary.hpp"

namespace suffice {

// K medoids of N rows.
struct Medoids {
    Matrix<double> M;        // (K, N), the distances of medoids to rows
    int64_t* near;           // (N,), the nearest medoid of each row, the first of several
    double *first, *second;  // (N,), the distances of the two nearest
    double* removal;         // (K,), what the loss rises by without the medoid

    // Everything from the distances.
    void assign(const double* weight) const {
        std::fill(removal, removal + M.rows, 0.0);
        for (int64_t n = 0; n < M.columns; n++) {
            int64_t k = 0;
            double a = BEYOND, b = BEYOND;
            for (int64_t j = 0; j < M.rows; j++) {
                const double d = M[j][n];
                if (d < a)
                    b = a, a = d, k = j;
                else if (d < b)
                    b = d;
            }
            near[n] = k, first[n] = a, second[n] = b;
            if (M.rows > 1) removal[k] += weight[n] * (b - a);
        }
    }

    // What the loss rises by if a row with these distances replaces each medoid: change[k] + what is returned.
    double swap(const double* distance, const double* weight, double* change) const {
        double shared = 0.0;
        std::copy(removal, removal + M.rows, change);
        for (int64_t n = 0; n < M.columns; n++) {
            const double d = distance[n];
            if (M.rows == 1) {
                shared += weight[n] * (d - first[n]);
            } else if (d < first[n]) {
                shared += weight[n] * (d - first[n]);
                change[near[n]] += weight[n] * (first[n] - second[n]);
            } else if (d < second[n]) {
                change[near[n]] += weight[n] * (d - second[n]);
            }
        }
        return shared;
    }
};

// Visit candidates: each replaces the medoid with which the loss falls most, at once if it falls. D has the distances
// of the candidates from number `start` on to all rows, and `since` is the number of candidates since the last swap.
// Returns that number after the block; N of them end the search.
static int64_t swap_block(Matrix<const double> D, int64_t start, int64_t since, const double* weight,
                          Vector<int64_t> medoid, const Medoids& medoids) {
    const int64_t K = medoids.M.rows, N = medoids.M.columns;
    const int64_t *begin = medoid.data, *end = begin + K;
    std::vector<double> change(K);
    double total = 0.0;
    for (int64_t n = 0; n < N; n++) total += weight[n] * medoids.first[n];
    for (int64_t c = 0; c < D.rows && since < N; c++) {
        since++;
        if (std::find(begin, end, start + c) != end) continue;
        const double shared = medoids.swap(D[c], weight, change.data());
        const int64_t best = std::min_element(change.begin(), change.end()) - change.begin();
        if (!(change[best] + shared < -1e-12 * (total + medoids.removal[best]))) continue;  // or it is rounding
        total += change[best] + shared;
        medoid[best] = start + c;
        std::copy(D[c], D[c] + N, medoids.M[best]);
        medoids.assign(weight);
        since = 0;
    }
    return since;
}

}  // namespace suffice
