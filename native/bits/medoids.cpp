#include "../medoids.hpp"

#include "bits.hpp"

namespace suffice {

static void print_medoids(int64_t N, int64_t K) {
    auto X = numbers(N, 60), weight = numbers(N, 61);
    std::vector<double> D(N * N), M, first(N), second(N), removal(K), found;
    std::vector<int64_t> medoid(K), near(N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) D[i * N + j] = X[i] < X[j] ? X[j] - X[i] : X[i] - X[j];
    for (double& w : weight) w = w * w;
    for (int64_t k = 0; k < K; k++) {
        medoid[k] = k;
        M.insert(M.end(), D.begin() + k * N, D.begin() + (k + 1) * N);
    }
    const Medoids medoids{{M.data(), K, N}, near.data(), first.data(), second.data(), removal.data()};
    medoids.assign(weight.data());
    const int64_t since = swap_block({D.data(), N, N}, 0, 0, weight.data(), {medoid.data(), K}, medoids);
    found.assign(medoid.begin(), medoid.end());
    found.push_back(double(since));
    print("medoids", {&first, &second, &removal, &found});
}

DIGESTS(medoids) {
    print_medoids(100, 5);
    print_medoids(20, 1);
}

}  // namespace suffice
