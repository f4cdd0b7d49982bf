#include "../sgd.hpp"

#include "bits.hpp"

namespace suffice {

template <class Rows>
static void print_epoch(const char* name, const Rows& X, int64_t D, const GradientRule& rule) {
    auto y = numbers(X.rows, 61), weight = numbers(X.rows, 62), w = numbers(D, 63);
    std::vector<double> total(D), paid(D), state{0.1, 0.0, 1.0, 0.0, 0.01}, lost(1);
    std::vector<int64_t> order;
    for (int64_t n = 0; n < X.rows; n++) {
        order.push_back((n * 7) % X.rows);
        y[n] = y[n] < 0.0 ? -1.0 : 1.0;
        weight[n] = std::fabs(weight[n]);
    }
    const Vector<const int64_t> visits{order.data(), X.rows};
    lost[0] = epoch(X, y.data(), weight.data(), visits, rule, {{w.data(), D}, total.data(), paid.data(), state.data()});
    print(name, {&w, &total, &paid, &state, &lost});
}

static void print_sgd(int64_t N, int64_t D) {
    auto x = numbers(N * D, 60);
    const std::vector<float> of_float32(x.begin(), x.end());
    std::vector<int32_t> indices, indptr{0};
    for (int64_t n = 0; n < N; n++) {
        for (int64_t d = n % 3; d < D; d += 1 + n % 5) indices.push_back(int32_t(d));
        indptr.push_back(int32_t(indices.size()));
    }
    for (int64_t kind = 0; kind < LOSSES; kind++) {
        const RateKind rate = kind == HINGE ? PA2 : kind == HUBER ? PA1 : kind % 2 ? OPTIMAL : INVSCALING;
        const GradientRule rule{{LossKind(kind), 0.1}, 0.01, 0.01, kind % 3 * 0.001, rate, 0.01, 0.3, 50.0, 1.0, 3.0};
        print_epoch("epoch", DenseRows<double>{x.data(), N, D}, D, rule);
        print_epoch("epoch, float32", DenseRows<float>{of_float32.data(), N, D}, D, rule);
        print_epoch("sparse_epoch", Sparse<int32_t>{x.data(), indices.data(), indptr.data(), N}, D, rule);
    }
    auto y = numbers(N, 64), scores = numbers(N, 65), weight = numbers(N, 66);
    std::vector<double> slope(N), total(1);
    total[0] = losses({LOG_LOSS, 0.1}, {y.data(), N, 1}, {scores.data(), N, 1}, weight.data(), {slope.data(), N, 1});
    print("losses", {&total, &slope});
}

DIGESTS(sgd) {
    print_sgd(101, 21);
}

}  // namespace suffice
