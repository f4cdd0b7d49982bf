#include "../labels.hpp"

#include "bind.hpp"

namespace suffice {

TOPIC(labels) {
    m.doc() = "Known paths of chains: their scores, and their counts.";
    m.def(
        "observe",
        [](In<int64_t, 1> codes, In<int64_t, 1> offset, In<double, 1> weight, In<double, 2> U, In<double, 3> moves,
           InOut<double, 2> states, InOut<double, 3> pairs) {
            const size_t N = codes.shape(0), K = U.shape(1), S = weight.shape(0);
            must(U.shape(0) == N && states.shape(0) == N && states.shape(1) == K, "U and states must be (N, K)");
            for (size_t each : {moves.shape(0), pairs.shape(0)})
                must(each == 1 || each == N, "moves and pairs must be of all steps, or of each");
            must(moves.shape(1) == K && moves.shape(2) == K && pairs.shape(1) == K && pairs.shape(2) == K,
                 "moves and pairs must be (1, K, K) or (N, K, K)");
            must(are_below(codes, K), "codes must be numbers of states");
            must_divide(offset, S, N);
            return without_gil([&] {
                return observe({codes.data(), offset.data(), weight.data(), int64_t(S)}, {matrix(U), tensor(moves)},
                               {matrix(states), tensor(pairs)});
            });
        },
        arg("codes"), arg("offset"), arg("weight"), arg("U"), arg("moves"), arg("states"), arg("pairs"),
        "The weighted sum of the log scores of paths; and their weights are added to the places they go through. The "
        "places are those of `states` (N, K) and of `pairs`: (1, K, K), or into each step (N, K, K); U and moves are "
        "log potentials, of the same shapes.");
}

}  // namespace suffice
