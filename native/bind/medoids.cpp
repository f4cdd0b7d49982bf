#include "../medoids.hpp"

#include "bind.hpp"

namespace suffice {

static Medoids medoids(const InOut<double, 2>& M, const In<double, 1>& weight, const InOut<int64_t, 1>& near,
                       const InOut<double, 1>& first, const InOut<double, 1>& second,
                       const InOut<double, 1>& removal) {
    const size_t K = M.shape(0), N = M.shape(1);
    must(K > 0, "there must be a medoid");
    must(weight.shape(0) == N && near.shape(0) == N && first.shape(0) == N && second.shape(0) == N,
         "weight, near, first and second must be of the rows of M (K, N)");
    must(removal.shape(0) == K, "removal must be of the medoids of M (K, N)");
    return {matrix(M), near.data(), first.data(), second.data(), removal.data()};
}

TOPIC(medoids) {
    m.doc() = "Swaps of medoids: FasterPAM, one block of candidates at a time. M has the distances of K medoids to N rows.";
    m.def(
        "assign",
        [](InOut<double, 2> M, In<double, 1> weight, InOut<int64_t, 1> near, InOut<double, 1> first,
           InOut<double, 1> second, InOut<double, 1> removal) {
            const Medoids found = medoids(M, weight, near, first, second, removal);
            without_gil([&] { found.assign(weight.data()); });
        },
        arg("M"), arg("weight"), arg("near"), arg("first"), arg("second"), arg("removal"),
        "Write the nearest medoid of each row, the distances of the two nearest, (N,), and what the removal of each "
        "medoid adds to the loss, (K,).");
    m.def(
        "swap_block",
        [](In<double, 2> D, int64_t start, int64_t since, In<double, 1> weight, InOut<int64_t, 1> medoid,
           InOut<double, 2> M, InOut<int64_t, 1> near, InOut<double, 1> first, InOut<double, 1> second,
           InOut<double, 1> removal) {
            const Medoids found = medoids(M, weight, near, first, second, removal);
            must(D.shape(1) == M.shape(1), "D and M must be of the same rows");
            must(medoid.shape(0) == M.shape(0), "medoid and M must have the same medoids");
            must(std::all_of(near.data(), near.data() + near.shape(0),
                             [&](int64_t k) { return 0 <= k && k < int64_t(M.shape(0)); }),
                 "near must be numbers of medoids");
            return without_gil(
                [&] { return swap_block(matrix(D), start, since, weight.data(), vector(medoid), found); });
        },
        arg("D"), nb::arg("start"), nb::arg("since"), arg("weight"), arg("medoid"), arg("M"), arg("near"), arg("first"),
        arg("second"), arg("removal"),
        "Visit candidates: each replaces the medoid with which the loss falls most, at once if it falls. D has the "
        "distances of the candidates from number `start` on to all rows, `since` is the number of candidates since the "
        "last swap. Returns that number after the block; N of them end the search. `medoid` has the numbers of the "
        "medoids; the others are as `assign` writes them.");
}

}  // namespace suffice
