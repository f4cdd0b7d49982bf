#include "../sparse.hpp"

#include "bits.hpp"

namespace suffice {

static void print_sparse(int64_t N, int64_t D, int64_t K) {
    std::vector<int32_t> indices, indptr{0};
    for (int64_t n = 0; n < N; n++) {
        for (int64_t d = n % 3; d < D; d += 1 + n % 5) indices.push_back(int32_t(d));
        indptr.push_back(int32_t(indices.size()));
    }
    auto data = numbers(indices.size(), 27), w = numbers(D * K, 28), g = numbers(N * K, 29);
    std::vector<double> product(N * K), sum(D * K);
    const Sparse<int32_t> X{data.data(), indices.data(), indptr.data(), N};
    times(X, {w.data(), D, K}, {product.data(), N, K});
    add_transposed_times(X, {g.data(), N, K}, {sum.data(), D, K});
    print("sparse products", {&product, &sum});
}

DIGESTS(sparse) {
    print_sparse(200, 31, 5);
}

}  // namespace suffice
