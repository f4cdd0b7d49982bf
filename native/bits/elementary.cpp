#include "../elementary.hpp"

#include "bits.hpp"

namespace suffice {

static void print_elementary(int64_t N) {
    auto x = numbers(N, 14);
    for (double& v : x) v = 700.0 * v * v * v;
    std::vector<double> e(N), l(N), p(N), two(N);
    exp_of(x.data(), N, e.data());
    log_of(e.data(), N, l.data());
    log1p_of(e.data(), N, p.data());
    for (int64_t i = 0; i < N; i++) two[i] = suffice::log2(1.0 + x[i] * x[i]);
    print("elementary", {&e, &l, &p, &two});
    digamma_of(e.data(), N, l.data());
    log_gamma_of(e.data(), N, p.data());
    print("digamma", {&l});
    print("log_gamma", {&p});
}

DIGESTS(elementary) {
    print_elementary(1003);
}

}  // namespace suffice
