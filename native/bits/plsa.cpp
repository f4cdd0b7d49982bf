#include "../plsa.hpp"

#include "bits.hpp"

namespace suffice {

static void print_plsa(int64_t N, int64_t V, int64_t K) {
    std::vector<double> data, A = numbers(V * K, 30), theta(N * K, 1.0 / double(K)), weight(N, 0.5), counts(V * K),
                              log_sums(N);
    std::vector<int64_t> indices, indptr{0};
    for (double& a : A) a *= a;
    const auto x = numbers(N * V, 31);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t v = 0; v < V; v++)
            if (x[n * V + v] > 0.4) data.push_back(double(int64_t(9.0 * x[n * V + v]))), indices.push_back(v);
        indptr.push_back(int64_t(data.size()));
    }
    const Sparse<int64_t> X{data.data(), indices.data(), indptr.data(), N};
    for (double power : {1.0, 0.7}) {
        fold_in(X, {A.data(), V, K}, {power, 30, 1e-8}, {theta.data(), N, K});
        print("fold_in", {&theta});
        expect(X, {A.data(), V, K}, power, {theta.data(), N, K}, weight.data(), {counts.data(), V, K},
               log_sums.data());
        print("expect", {&counts, &log_sums});
    }
}

DIGESTS(plsa) {
    print_plsa(20, 40, 29);
}

}  // namespace suffice
