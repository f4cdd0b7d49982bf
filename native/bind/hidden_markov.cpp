#include "../hidden_markov.hpp"

#include <nanobind/stl/optional.h>

#include "bind.hpp"

namespace suffice {

TOPIC(hidden_markov) {
    m.doc() = "The E step of hidden Markov models in one pass over the steps.";
    m.def(
        "expect_diagonal",
        [](In<double, 2> X, In<double, 2> mean, In<double, 2> half_precision, In<double, 1> constant,
           In<double, 1> start, In<double, 2> transition, In<double, 2> turned, In<int64_t, 1> offset,
           In<double, 1> weight) {
            const size_t K = mean.shape(0), D = mean.shape(1), S = weight.shape(0);
            must(X.shape(1) == D && half_precision.shape(0) == K && half_precision.shape(1) == D,
                 "X, mean and half_precision must have the same features");
            must(constant.shape(0) == K && start.shape(0) == K && transition.shape(0) == K &&
                     transition.shape(1) == K && turned.shape(0) == K && turned.shape(1) == K,
                 "constant, start, transition and turned must be of K states");
            must_divide(offset, S, X.shape(0));
            auto first = zeros<double>(K), mass = zeros<double>(K);
            auto moves = zeros<double>(K, K), center = zeros<double>(K, D), scatter = zeros<double>(K, D);
            const int64_t k = K, d = D, rows = X.shape(0);
            const Chains c{{nullptr, rows, k}, start.data(), {transition.data(), 1, k, k}, vector(offset)};
            const DiagonalGaussians densities{matrix(mean), matrix(half_precision), constant.data()};
            Expected out{0.0, first.data(), matrix(moves)};
            const bool held = without_gil([&] {
                AddMoments moments(k, d, {mass.data(), matrix(center), matrix(scatter)});
                return expect(c, {turned.data(), 1, k, k}, weight.data(), matrix(X), densities, moments, out);
            });
            std::tuple expected(out.log_likelihood, first, moves, mass, center, scatter);
            return held ? std::optional(expected) : std::nullopt;
        },
        arg("X"), arg("mean"), arg("half_precision"), arg("constant"), arg("start"), arg("transition"),
        arg("turned"), arg("offset"), arg("weight"),
        "States emit rows with independent Gaussian features: log p(x given k) = constant[k] - sum_d "
        "half_precision[k, d] (x[d] - mean[k, d])^2. Returns the weighted log-likelihood, expected counts of "
        "first states and of transitions, and weight, mean and scatter of the rows by state; or None if "
        "floats cannot hold them, as with rows that are not finite and sequences that are impossible.");
}

}  // namespace suffice
