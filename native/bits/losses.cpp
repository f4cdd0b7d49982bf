#include "../losses.hpp"

#include "bits.hpp"

namespace suffice {

static void print_losses(int64_t N) {
    auto f = numbers(N, 51), weight = numbers(N, 52), value = f, g = f, h = f;
    std::vector<int64_t> y(N), group(N), sums(8);
    for (int64_t i = 0; i < N; i++) f[i] *= 40.0, weight[i] = 1.5 + weight[i], y[i] = i % 2, group[i] = i % 3;
    squared_error({weight.data(), N}, f.data(), {value.data(), g.data(), nullptr});
    print("squared_error", {&value, &g});
    const double class_weight[2] = {1.0, 2.5};
    log_loss({y.data(), N}, f.data(), {class_weight, 2}, {value.data(), g.data(), h.data()});
    print("log_loss", {&value, &g, &h});
    std::vector<double> largest(2);
    const Matrix<const double> G{g.data(), N, 1}, H{h.data(), N, 1};
    for (bool plain : {true, false}) {
        const Stage stage{{value.data(), N}, G, H, plain ? nullptr : weight.data(), group.data()};
        add_stage(stage, {1e6, 1e9, 1e3, 1e7}, {&sums[0], &sums[3], &sums[6], {largest.data(), 1, 2}});
    }
    std::vector<double> found(sums.begin(), sums.end());
    print("add_stage", {&found, &largest});
}

DIGESTS(losses) {
    print_losses(1001);
}

}  // namespace suffice
