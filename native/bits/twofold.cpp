#include "../twofold.hpp"

#include "bits.hpp"

namespace suffice {

static void print_twofold(int64_t N, int64_t D, int64_t T) {
    auto X = numbers(N * D, 51), y = numbers(N * T, 52), weight = numbers(N, 53), theta = numbers(2 * T * (D + 1), 54);
    for (int64_t i = T * (D + 1); i < 2 * T * (D + 1); i++) theta[i] *= 0x1p-54;
    std::vector<double> out(2 * T * (D + 1)), size(T * (D + 1));
    const Residuals to{{theta.data(), 2, T, D + 1}, {out.data(), 2, T, D + 1}, {size.data(), T, D + 1}};
    add_normal_residual({X.data(), N, D}, {y.data(), N, T}, weight.data(), to);
    print("add_normal_residual", {&out, &size});
    std::vector<int32_t> indices(N * D), indptr(N + 1);
    for (int64_t p = 0; p < N * D; p++) indices[p] = int32_t(p % D);
    for (int64_t n = 0; n <= N; n++) indptr[n] = int32_t(n * D);
    const Sparse<int32_t> rows{X.data(), indices.data(), indptr.data(), N};
    add_sparse_normal_residual(rows, {y.data(), N, T}, weight.data(), to);
    print("add_sparse_normal_residual", {&out, &size});
}

DIGESTS(twofold) {
    print_twofold(301, 7, 3);
}

}  // namespace suffice
