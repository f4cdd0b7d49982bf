#include "../graph.hpp"

#include "bits.hpp"

namespace suffice {

DIGESTS(graph) {
    const int64_t N = 11, E = 200;
    auto weight = numbers(E, 81), sent = numbers(E, 82);
    std::vector<int32_t> source(E), target(E), to_source(E);
    for (int64_t e = 0; e < E; e++) source[e] = int32_t(e * 37 % E), target[e] = int32_t(e * e % N);
    std::vector<int64_t> offset(N + 1);
    std::vector<double> to_weight(E), plain(N), weighted(N);
    place<int32_t>({source.data(), target.data(), weight.data(), E}, 0, 0, {offset.data(), N + 1},
                   {to_source.data(), nullptr, to_weight.data(), E});
    mass(offset.data(), to_source.data(), sent.data(), 0, N, plain.data());
    weighted_mass(offset.data(), to_source.data(), to_weight.data(), sent.data(), 0, N, weighted.data());
    print("mass", {&to_weight, &plain, &weighted});
}

}  // namespace suffice
