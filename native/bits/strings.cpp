#include "../strings.hpp"

#include "bits.hpp"

namespace suffice {

static void print_strings(int64_t N, int64_t n_symbols) {
    std::vector<int64_t> offset{0}, symbols;
    for (int64_t s = 0; s < N; s++) {
        for (int64_t i = 0; i < 5 * s % 37; i++) symbols.push_back((i * i + s) % n_symbols);
        offset.push_back(int64_t(symbols.size()));
    }
    const Strings strings{symbols.data(), {offset.data(), N + 1}};
    std::vector<double> gram(N * N), own(N);
    subsequences(strings, strings, n_symbols, 3, 0.7, true, {gram.data(), N, N});
    own_subsequences(strings, n_symbols, 2, 0.7, own.data());
    print("subsequences", {&gram, &own});
}

DIGESTS(strings) {
    print_strings(12, 5);
}

}  // namespace suffice
