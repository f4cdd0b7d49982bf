#include "../vectors.hpp"

#include "bits.hpp"

namespace suffice {

static void print_vectors(int64_t N) {
    auto x = numbers(N, 19);
    std::vector<double> sum{dot(x.data(), x.data() + 1, N - 1)};
    print("dot", {&sum});
}

DIGESTS(vectors) {
    print_vectors(2107);
}

}  // namespace suffice
