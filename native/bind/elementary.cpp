#include "../elementary.hpp"

#include "bind.hpp"

namespace suffice {

template <class Loop>
static auto of_each(Loop loop, const In<double, 1>& x) {
    auto out = zeros<double>(x.shape(0));
    without_gil([&] { loop(x.data(), int64_t(x.shape(0)), out.data()); });
    return out;
}

TOPIC(elementary) {
    m.doc() = "Elementary functions, whose bits do not depend on the CPU.";
    m.def(
        "exp", [](In<double, 1> x) { return of_each([](auto... a) { exp_of(a...); }, x); }, arg("x"),
        "exp(x) of each number.");
    m.def(
        "log", [](In<double, 1> x) { return of_each([](auto... a) { log_of(a...); }, x); }, arg("x"),
        "log(x) of each number.");
    m.def(
        "log1p", [](In<double, 1> x) { return of_each([](auto... a) { log1p_of(a...); }, x); }, arg("x"),
        "log(1 + x) of each number.");
    m.def(
        "digamma", [](In<double, 1> x) { return of_each([](auto... a) { digamma_of(a...); }, x); }, arg("x"),
        "The digamma function of each number; NaN for negative ones.");
    m.def(
        "log_gamma", [](In<double, 1> x) { return of_each([](auto... a) { log_gamma_of(a...); }, x); }, arg("x"),
        "The logarithm of the gamma function of each number; NaN for negative ones.");
}

}  // namespace suffice
