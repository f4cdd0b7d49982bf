#include "../margin.hpp"

#include "bind.hpp"

namespace suffice {

using Numbers = In<int64_t, 1>;
using Square = In<double, 2>;

// N rows of S sequences with K states
static LabelledChains labelled(const Numbers& offset, const Numbers& codes, const Numbers& order, size_t S,
                               size_t N, size_t K) {
    must(codes.shape(0) == N && are_below(codes, K), "codes must be states of the rows");
    must_divide(offset, S, N);
    must(are_below(order, S), "order must be numbers of sequences");
    return {vector(offset), codes.data(), vector(order)};
}

static ChainWeights weights(const InOut<double, 2>& W, const InOut<double, 2>& T) {
    const size_t K = W.shape(1);
    must(K > 0 && T.shape(0) == K && T.shape(1) == K, "W must be (D, K), and T (K, K)");
    return {matrix(W), matrix(T)};
}

static MarginCost margin_cost(const Square& cost, const In<double, 1>& scale, size_t K) {
    must(cost.shape(0) == K && cost.shape(1) == K, "cost must be (K, K)");
    return {matrix(cost), scale.data()};
}

static DualBlocks blocks(const InOut<double, 2>& share, const InOut<double, 3>& moves, double* level, size_t N,
                         size_t parts, size_t K) {
    must(share.shape(0) == N && share.shape(1) == K, "share must be (N, K)");
    must(moves.shape(0) == parts && moves.shape(1) == K && moves.shape(2) == K,
         "moves must be (K, K) of each sequence or step");
    return {matrix(share), tensor(moves), level};
}

template <class Index>
static void bind_rows(nb::module_& m) {
    m.def(
        "perceptron",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, Numbers offset, Numbers codes,
           In<double, 1> weight, Numbers order, InOut<double, 2> W, InOut<double, 2> T, InOut<double, 2> late_W,
           InOut<double, 2> late_T, int64_t visits) {
            const ChainWeights now = weights(W, T), late = weights(late_W, late_T);
            must(now.W.rows == late.W.rows && now.T.rows == late.T.rows, "late_W and late_T must be like W and T");
            const auto X = sparse<Index>(data, indices, indptr, W.shape(0));
            const auto chains = labelled(offset, codes, order, weight.shape(0), X.rows, W.shape(1));
            return without_gil([&] { return perceptron(X, chains, weight.data(), now, late, visits); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("offset"), arg("codes"), arg("weight"), arg("order"), arg("W"),
        arg("T"), arg("late_W"), arg("late_T"), nb::arg("visits"),
        "One epoch of the perceptron, over the sequences of weights (S,) in the given order. Changes W (D, K) and "
        "T (K, K), and adds the changes, each times the visits before it, to late_W and late_T: W - late_W / "
        "visits is the mean of W over all visits. Returns the number of wrong labels, and of visits.");
    m.def(
        "frank_wolfe",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, Numbers offset, Numbers codes, Square cost,
           In<double, 1> scale, Numbers order, InOut<double, 2> W, InOut<double, 2> T, InOut<double, 2> share,
           InOut<double, 3> moves, InOut<double, 1> level) {
            const ChainWeights w = weights(W, T);
            const size_t S = scale.shape(0), K = W.shape(1);
            const auto X = sparse<Index>(data, indices, indptr, W.shape(0));
            const auto chains = labelled(offset, codes, order, S, X.rows, K);
            const MarginCost margin = margin_cost(cost, scale, K);
            const DualBlocks dual = blocks(share, moves, level.data(), X.rows, S, K);
            must(level.shape(0) == S, "level must be (S,)");
            without_gil([&] { frank_wolfe(X, chains, margin, w, dual); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("offset"), arg("codes"), arg("cost"), arg("scale"),
        arg("order"), arg("W"), arg("T"), arg("share"), arg("moves"), arg("level"),
        "One pass of block-coordinate Frank-Wolfe. The block of the dual of a sequence is stored as the marginals "
        "of states `share` (N, K) and of transitions, summed, `moves` (S, K, K), with their cost `level` (S,).");
}

TOPIC(margin) {
    m.doc() =
        "Training of chains one sequence at a time. Sequences are concatenated: s has the rows offset[s] to "
        "offset[s + 1]. They are visited in the given order, and what is given changes in place.";
    bind_rows<int32_t>(m);
    bind_rows<int64_t>(m);
    m.def(
        "smo",
        [](Square gram, Numbers offset, Numbers codes, Square cost, In<double, 1> scale, Numbers order,
           InOut<double, 2> U, InOut<double, 2> T, InOut<double, 2> share, InOut<double, 3> moves, int64_t tries) {
            const size_t N = gram.shape(0), K = T.shape(0);
            must(gram.shape(1) == N && U.shape(0) == K && U.shape(1) == N, "gram must be (N, N), and U (K, N)");
            must(K > 0 && T.shape(1) == K, "T must be (K, K)");
            const auto chains = labelled(offset, codes, order, scale.shape(0), N, K);
            const MarginCost margin = margin_cost(cost, scale, K);
            const DualBlocks dual = blocks(share, moves, nullptr, N, N, K);
            without_gil([&] { smo(matrix(gram), chains, margin, matrix(U), matrix(T), dual, tries); });
        },
        arg("gram"), arg("offset"), arg("codes"), arg("cost"), arg("scale"), arg("order"), arg("U"), arg("T"),
        arg("share"), arg("moves"), nb::arg("tries"),
        "One pass of SMO in the factored dual: marginals of states `share` (N, K) and of transitions into each "
        "step `moves` (N, K, K). A sequence is visited at most `tries` times in a row. U (K, N) are the scores of "
        "the states at all steps, and change with the shares.");
}

}  // namespace suffice
