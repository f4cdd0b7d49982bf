#include "../splines.hpp"

#include "bits.hpp"

namespace suffice {

static void print_splines(int64_t N, int64_t K, int64_t q) {
    auto x = numbers(N * 2, 50), scale = numbers(2, 51), pieces = numbers(8 * (K + 1) * q, 52);
    std::vector<double> knots;
    for (int64_t j = 0; j < 2 * K; j++) knots.push_back(double(j % K) / double(K) - 0.4);
    const std::vector<int64_t> first{0, K, 2 * K}, place{0, 4 * (K + 1) * q, 8 * (K + 1) * q}, columns{0, q, 2 * q};
    const Splines s{knots.data(), first.data(), scale.data(), pieces.data(), place.data(), columns.data(), 2};
    std::vector<double> value(N * 2 * q), slope(N * 2 * q), curve(N * 2 * q);
    design({x.data(), N, 2}, s, 0, {value.data(), N, 2 * q});
    design({x.data(), N, 2}, s, 1, {slope.data(), N, 2 * q});
    design({x.data(), N, 2}, s, 2, {curve.data(), N, 2 * q});
    print("design", {&value, &slope, &curve});
}

static void print_smoothing_spline(int64_t K) {
    auto A = numbers(K * 25, 53);
    std::vector<double> value(K), slope(K), variance(K);
    triangles({A.data(), K, 5, 5});
    substitute({A.data(), K, 5, 5}, value.data(), slope.data(), variance.data());
    print("smoothing spline", {&A, &value, &slope, &variance});
}

DIGESTS(splines) {
    print_splines(100, 9, 5);
    print_smoothing_spline(40);
}

}  // namespace suffice
