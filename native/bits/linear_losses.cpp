#include "../linear_losses.hpp"

#include "bits.hpp"

namespace suffice {

template <class Loss>
static void print_loss(const char* name, const Loss& of, int64_t N, int64_t D) {
    auto X = numbers(N * D, 19), theta = numbers(D + 1, 20), weight = numbers(N, 21), y = numbers(N, 22);
    for (int64_t n = 0; n < N; n++) y[n] = n % 2;
    std::vector<double> gradient(D + 1), score(N), loss(1);
    loss[0] = linear_loss(of, {X.data(), N, D}, theta.data(), y.data(), weight.data(), gradient.data(), score.data());
    print(name, {&loss, &gradient, &score});
}

DIGESTS(linear_losses) {
    print_loss("binomial", Binomial(), 301, 7);
    print_loss("squared_hinge", SquaredHinge(), 301, 7);
    print_loss("squared_insensitive", SquaredInsensitive{0.1}, 301, 7);
}

}  // namespace suffice
