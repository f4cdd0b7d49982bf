// Sums of absolute deviations from the median, of growing sets of rows.
#pragma once

#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace suffice {

// out[n] = the weighted sum of absolute deviations of the rows up to n from their weighted median.
//
// A Fenwick tree over the ranks has the weights and the weighted targets of the rows so far, so that each row takes
// a logarithmic number of steps. All numbers are integers.
static void median_errors(Vector<const int64_t> rank, const int64_t* weight, Vector<const int64_t> value,
                          int64_t* out) {
    const int64_t R = value.size;
    std::vector<int64_t> weights(R + 1), sums(R + 1);
    int64_t highest = 1, W = 0, S = 0;
    while (2 * highest <= R) highest *= 2;
    for (int64_t i = 0; i < rank.size; i++) {
        const int64_t w = weight[i], s = w * value[rank[i]];
        W += w;
        S += s;
        for (int64_t j = rank[i] + 1; j <= R; j += j & -j) {
            weights[j] += w;
            sums[j] += s;
        }
        int64_t place = 0, below = 0, sum_below = 0;
        for (int64_t step = highest; step > 0; step /= 2)  // ranks below the median have less than half the weight
            if (place + step <= R && 2 * (below + weights[place + step]) < W) {
                place += step;
                below += weights[place];
                sum_below += sums[place];
            }
        const int64_t median = value[std::min(place, R - 1)];
        out[i] = S - 2 * sum_below - median * (W - 2 * below);
    }
}

}  // namespace suffice
