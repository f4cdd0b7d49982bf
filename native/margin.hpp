// Training of chains one sequence at a time: perceptron, block-coordinate Frank-Wolfe, structured SMO.
//
// W (D, K) are the weights of features, and T (K, K) those of transitions. Sequences are concatenated: s has the
// rows offset[s] to offset[s + 1].
#pragma once

#include <cmath>

#include "chains.hpp"
#include "sparse.hpp"
#include "vectors.hpp"

namespace suffice {

struct ChainWeights {
    Matrix<double> W, T;
};

struct LabelledChains {
    Vector<const int64_t> offset;
    const int64_t* codes;         // (N,), the true states
    Vector<const int64_t> order;  // in which the sequences are visited

    int64_t length(int64_t s) const { return offset[s + 1] - offset[s]; }
    int64_t longest() const {
        int64_t most = 0;
        for (int64_t s = 0; s + 1 < offset.size; s++) most = std::max(most, length(s));
        return most;
    }
};

// The best path of one sequence at a time, whose scores are written to U (T, K).
class Decoder {
  public:
    Decoder(int64_t longest, Tensor<const double> moves)
        : scores(longest * moves.rows), zeros(moves.rows), path(longest), offset{0, longest},
          c{{scores.data(), longest, moves.rows}, zeros.data(), moves, {offset, 2}},
          U{scores.data(), longest, moves.rows}, best_path(c) {}

    double operator()(int64_t length) {
        best_path.read_moves();
        return best_path(0, length, path.data());
    }

    INLINE int64_t operator[](int64_t n) const { return path[n]; }

  private:
    std::vector<double> scores, zeros;
    std::vector<int64_t> path;
    int64_t offset[2];
    Chains c;

  public:
    const Matrix<double> U;

  private:
    BestPath best_path;
};

// U = X W of the rows from `first` on
template <class Index>
static void score_rows(Sparse<Index> X, int64_t first, int64_t length, const Matrix<double>& W, Matrix<double> U) {
    std::fill(U.data, U[length], 0.0);
    times(Sparse<Index>{X.data, X.indices, X.indptr + first, length}, {W.data, W.rows, W.columns}, U);
}

// --- perceptron --------------------------------------------------------------------------------------------

// One epoch: the features of the true path are added, those of the best path taken away. `late` sums each
// change times the visits before it, so that W - late.W / visits is the mean of W over all visits. Returns the
// number of wrong labels, and of visits.
template <class Index>
static std::pair<int64_t, int64_t> perceptron(Sparse<Index> X, const LabelledChains& chains, const double* weight,
                                              const ChainWeights& now, const ChainWeights& late, int64_t visits) {
    const int64_t K = now.T.rows;
    Decoder best(chains.longest(), {now.T.data, 1, K, K});
    int64_t wrong = 0;
    for (int64_t i = 0; i < chains.order.size; i++) {
        const int64_t s = chains.order[i], first = chains.offset[s], length = chains.length(s);
        if (length == 0) continue;
        const int64_t* y = chains.codes + first;
        const double w = weight[s], before = double(visits);
        score_rows(X, first, length, now.W, best.U);
        best(length);
        for (int64_t n = 0; n < length; n++) {
            const int64_t z = best[n];
            const SparseRow<Index> x = X[first + n];
            wrong += y[n] != z;
            for (int64_t p = 0; y[n] != z && p < x.size; p++) {
                const int64_t d = x.column[p];
                const double change = w * x[p];
                now.W[d][y[n]] += change, now.W[d][z] -= change;
                late.W[d][y[n]] += before * change, late.W[d][z] -= before * change;
            }
            if (n > 0 && (y[n] != z || y[n - 1] != best[n - 1])) {
                const int64_t a = y[n - 1], b = best[n - 1];
                now.T[a][y[n]] += w, now.T[b][z] -= w;
                late.T[a][y[n]] += before * w, late.T[b][z] -= before * w;
            }
        }
        visits++;
    }
    return {wrong, visits};
}

// --- block-coordinate Frank-Wolfe --------------------------------------------------------------------------

struct MarginCost {
    Matrix<const double> cost;  // (K, K), of a true and another state
    const double* scale;        // (S,), of the losses of sequences
};

// Blocks of the dual: marginals of states (N, K), and of transitions: summed over the steps of each sequence,
// (S, K, K), with their cost `level` (S,); or into each step, (N, K, K).
struct DualBlocks {
    Matrix<double> share;
    Tensor<double> moves;
    double* level;
};

// Algorithm 4 of Lacoste-Julien et al. (2013). A corner of the block of a sequence is a path. A visit moves the
// block towards the path that violates the margin most, by an exact line search.
template <class Index>
class FrankWolfe {
  public:
    FrankWolfe(Sparse<Index> X, const LabelledChains& chains, const MarginCost& margin, const ChainWeights& weights,
               const DualBlocks& dual)
        : X(X), chains(chains), margin(margin), weights(weights), dual(dual), K(weights.T.rows),
          longest(chains.longest()), best(longest, {weights.T.data, 1, K, K}), room(2 * longest * K), of_moves(K * K),
          of_features(weights.W.rows * K), squares(K), seen(weights.W.rows), touched(weights.W.rows),
          U{room.data(), longest, K}, A{room.data() + longest * K, longest, K}, to{of_moves.data(), K, K},
          G{of_features.data(), weights.W.rows, K} {}

    void visit(int64_t s) {
        const int64_t first = chains.offset[s], length = chains.length(s);
        if (length == 0) return;
        score_rows(X, first, length, weights.W, U);
        for (int64_t n = 0; n < length; n++)
            for (int64_t k = 0; k < K; k++) best.U[n][k] = U[n][k] + margin.cost[chains.codes[first + n]][k];
        best(length);
        const double cost = direct(s);
        for (int64_t n = 0; n < length; n++) add_features(n, X[first + n]);
        move(s, step(s, cost), cost);
    }

  private:
    // The direction from the block to the path: A of states, and `to` of transitions. Returns the cost of the path.
    double direct(int64_t s) {
        const int64_t first = chains.offset[s];
        double cost = 0.0;
        for (int64_t i = 0; i < K * K; i++) to.data[i] = -dual.moves[s].data[i];
        for (int64_t n = 0; n < chains.length(s); n++) {
            cost += margin.cost[chains.codes[first + n]][best[n]];
            for (int64_t k = 0; k < K; k++) A[n][k] = -dual.share[first + n][k];
            A[n][best[n]] += 1.0;
            if (n > 0) to[best[n - 1]][best[n]] += 1.0;
        }
        return cost;
    }

    // G = X' A of the sequence, of which the `count` rows `touched` are not zero
    void add_features(int64_t n, const SparseRow<Index>& x) {
        const double* a = A[n];
        if (std::all_of(a, a + K, [](double v) { return v == 0.0; })) return;
        for (int64_t p = 0; p < x.size; p++) {
            const int64_t d = x.column[p];
            if (!seen[d]) touched[count++] = d;
            seen[d] = true;
            double* __restrict g = G[d];
            for (int64_t k = 0; k < K; k++) g[k] += x[p] * a[k];
        }
    }

    // The step from 0 to 1 by which the dual rises most.
    double step(int64_t s, double cost) {
        std::fill(squares.begin(), squares.end(), 0.0);
        for (int64_t m = 0; m < count; m++)
            for (int64_t k = 0; k < K; k++) squares[k] += G[touched[m]][k] * G[touched[m]][k];
        double square = dot(to.data, to.data, K * K);
        for (int64_t k = 0; k < K; k++) square += squares[k];
        const double gain = dot(A.data, U.data, chains.length(s) * K) + dot(to.data, weights.T.data, K * K) +
                            (cost - dual.level[s]);
        if (!(gain > 0.0)) return 0.0;
        const double limit = margin.scale[s] * square;
        return gain >= limit ? 1.0 : gain / limit;
    }

    void move(int64_t s, double step, double cost) {
        const double change = step * margin.scale[s];
        for (; count > 0; count--) {
            const int64_t d = touched[count - 1];
            seen[d] = false;
            add_scaled(weights.W[d], -change, G[d], K);
            std::fill(G[d], G[d] + K, 0.0);
        }
        add_scaled(weights.T.data, -change, to.data, K * K);
        add_scaled(dual.moves[s].data, step, to.data, K * K);
        add_scaled(dual.share[chains.offset[s]], step, A.data, chains.length(s) * K);
        dual.level[s] += step * (cost - dual.level[s]);
    }

    Sparse<Index> X;
    const LabelledChains& chains;
    const MarginCost& margin;
    const ChainWeights& weights;
    const DualBlocks& dual;
    int64_t K, longest, count = 0;
    Decoder best;
    std::vector<double> room, of_moves, of_features, squares;
    std::vector<char> seen;
    std::vector<int64_t> touched;
    Matrix<double> U, A, to, G;
};

// --- structured SMO ----------------------------------------------------------------------------------------

// SMO in the factored dual: Taskar, Guestrin and Koller (2003), section 6. A visit moves weight between two paths
// of a sequence, to the one that violates the margin most, from the one that does least among those that have
// weight, as far as is best. U (K, N) are the scores of the states at all steps, and change with the shares.
class ChainSmo {
  public:
    ChainSmo(Matrix<const double> gram, const LabelledChains& chains, const MarginCost& margin, Matrix<double> U,
             Matrix<double> T, const DualBlocks& dual)
        : gram(gram), chains(chains), margin(margin), U(U), T(T), dual(dual), K(T.rows), longest(chains.longest()),
          left(longest * K * K), to(longest, {T.data, 1, K, K}), from(longest, {left.data(), longest, K, K}),
          of_moves(K * K), change{of_moves.data(), K, K} {}

    // Returns whether the shares have moved.
    bool visit(int64_t s) {
        const double gain = find_paths(s);
        if (chains.length(s) == 0 || gain <= 1e-14 * (std::fabs(to.U[0][to[0]]) + 1.0)) return false;
        move(s, gain);
        return true;
    }

  private:
    static constexpr double LEAST_SHARE = 1e-12;  // from which something can be taken
    static constexpr double ROUNDING = 1e-16;     // what rounding leaves is nothing

    // The two paths, and by how much the first violates the margin more.
    double find_paths(int64_t s) {
        const int64_t first = chains.offset[s], length = chains.length(s);
        if (length == 0) return 0.0;
        for (int64_t n = 0; n < length; n++)
            for (int64_t k = 0; k < K; k++) {
                const double u = U[k][first + n] + margin.cost[chains.codes[first + n]][k];
                to.U[n][k] = u;
                from.U[n][k] = n > 0 || dual.share[first][k] > LEAST_SHARE ? -u : -BEYOND;
            }
        for (int64_t n = 0; n < length; n++)
            for (int64_t i = 0; i < K * K; i++)
                left[n * K * K + i] = dual.moves[first + n].data[i] > LEAST_SHARE ? -T.data[i] : -BEYOND;
        const double most = to(length);
        return most + from(length);
    }

    INLINE bool differ(int64_t n) const { return to[n] != from[n]; }
    INLINE bool moves_differ(int64_t n) const { return n > 0 && (differ(n) || differ(n - 1)); }

    // (phi(to) - phi(from))^2, with `change` its part of transitions
    double squared_distance(int64_t first, int64_t length) {
        double square = 0.0;
        std::fill(of_moves.begin(), of_moves.end(), 0.0);
        for (int64_t n = 0; n < length; n++) {
            if (moves_differ(n)) {
                change[to[n - 1]][to[n]] += 1.0;
                change[from[n - 1]][from[n]] -= 1.0;
            }
            for (int64_t m = 0; m < length && differ(n); m++) {
                if (!differ(m)) continue;
                const int same = (to[n] == to[m]) + (from[n] == from[m]) - (to[n] == from[m]) - (from[n] == to[m]);
                square += same * gram[first + n][first + m];
            }
        }
        return square + dot(of_moves.data(), of_moves.data(), K * K);
    }

    void move(int64_t s, double gain) {
        const int64_t first = chains.offset[s], length = chains.length(s), N = gram.rows;
        const double square = squared_distance(first, length), c = margin.scale[s];
        double most = 1.0;
        for (int64_t n = 0; n < length; n++) {
            if (n == 0 && differ(0)) most = std::min(most, dual.share[first][from[0]]);
            if (moves_differ(n)) most = std::min(most, dual.moves[first + n][from[n - 1]][from[n]]);
        }
        const double step = gain >= most * c * square ? most : gain / (c * square);
        for (int64_t n = 0; n < length; n++) {
            const Matrix<double> pairs = dual.moves[first + n];
            if (moves_differ(n)) {
                pairs[to[n - 1]][to[n]] += step;
                take(pairs[from[n - 1]][from[n]], step);
            }
            if (differ(n)) {
                dual.share[first + n][to[n]] += step;
                take(dual.share[first + n][from[n]], step);
                add_scaled(U[to[n]], -step * c, gram[first + n], N);
                add_scaled(U[from[n]], step * c, gram[first + n], N);
            }
        }
        add_scaled(T.data, -step * c, of_moves.data(), K * K);
    }

    static void take(double& share, double step) {
        const double rest = share - step;
        share = rest > ROUNDING ? rest : 0.0;
    }

    Matrix<const double> gram;
    const LabelledChains& chains;
    const MarginCost& margin;
    Matrix<double> U, T;
    const DualBlocks& dual;
    int64_t K, longest;
    std::vector<double> left;
    Decoder to, from;
    std::vector<double> of_moves;
    Matrix<double> change;
};

template <class Index>
static void frank_wolfe(Sparse<Index> X, const LabelledChains& chains, const MarginCost& margin,
                        const ChainWeights& weights, const DualBlocks& dual) {
    FrankWolfe<Index> pass(X, chains, margin, weights, dual);
    for (int64_t i = 0; i < chains.order.size; i++) pass.visit(chains.order[i]);
}

static void smo(Matrix<const double> gram, const LabelledChains& chains, const MarginCost& margin, Matrix<double> U,
                Matrix<double> T, const DualBlocks& dual, int64_t tries) {
    ChainSmo pass(gram, chains, margin, U, T, dual);
    for (int64_t i = 0; i < chains.order.size; i++)
        for (int64_t t = 0; t < tries && pass.visit(chains.order[i]); t++) {
        }
}

}  // namespace suffice
