// Known paths of chains: their scores, and their counts.
#pragma once

#include "lanes.hpp"

namespace suffice {

// Sequence s has the steps offset[s] to offset[s + 1] and a weight, and each step the code of its state.
struct Paths {
    const int64_t *codes, *offset;
    const double* weight;
    int64_t sequences;
};

// Log potentials of states (N, K) and of transitions: (1, K, K), or into each step (N, K, K).
template <class T>
struct Places {
    Matrix<T> states;
    Tensor<T> moves;

    INLINE T& move(int64_t n, int64_t i, int64_t j) const { return moves[moves.size > 1 ? n : 0][i][j]; }
};

// The weighted sum of the log scores of paths; and their weights are added to the places they go through.
static double observe(const Paths& paths, Places<const double> score, Places<double> count) {
    double total = 0.0;
    for (int64_t s = 0; s < paths.sequences; s++) {
        const double w = paths.weight[s];
        for (int64_t n = paths.offset[s]; n < paths.offset[s + 1]; n++) {
            const int64_t k = paths.codes[n];
            count.states[n][k] += w;
            total += w * score.states[n][k];
            if (n > paths.offset[s]) {
                const int64_t before = paths.codes[n - 1];
                count.move(n, before, k) += w;
                total += w * score.move(n, before, k);
            }
        }
    }
    return total;
}

}  // namespace suffice
