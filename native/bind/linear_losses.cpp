#include "../linear_losses.hpp"

#include "bind.hpp"

namespace suffice {

template <class Loss, class Target>
static auto loss_of(const Loss& of, const In<double, 2>& X, const In<double, 1>& theta, const In<Target, 1>& target,
                    const In<double, 1>& weight, double* score = nullptr) {
    must(theta.shape(0) == X.shape(1) + 1, "theta must be (D + 1,)");
    must(target.shape(0) == X.shape(0) && weight.shape(0) == X.shape(0),
         "X, targets and weight must have the same rows");
    auto gradient = zeros<double>(theta.shape(0));
    const double loss = without_gil([&] {
        return linear_loss(of, matrix(X), theta.data(), target.data(), weight.data(), gradient.data(), score);
    });
    return std::tuple(loss, gradient);
}

TOPIC(linear_losses) {
    m.doc() = "Losses of linear scores, with their gradients, in one pass over the rows.";
    m.def(
        "binomial",
        [](In<double, 2> X, In<double, 1> theta, In<int64_t, 1> codes, In<double, 1> weight) {
            return loss_of(Binomial(), X, theta, codes, weight);
        },
        arg("X"), arg("theta"), arg("codes"), arg("weight"),
        "Sums over rows of weight times log(1 + exp(z)) - code z, with z = X theta[:-1] + theta[-1], and "
        "of its derivatives by theta.");
    m.def(
        "squared_hinge",
        [](In<double, 2> X, In<double, 1> theta, In<double, 1> y, In<double, 1> weight) {
            auto score = zeros<double>(X.shape(0));
            return std::tuple_cat(loss_of(SquaredHinge(), X, theta, y, weight, score.data()), std::tuple(score));
        },
        arg("X"), arg("theta"), arg("y"), arg("weight"),
        "Sums over rows of weight times max(1 - y z, 0)^2, with z as in `binomial`, and of its derivatives by theta; "
        "and z (N,).");
    m.def(
        "squared_insensitive",
        [](In<double, 2> X, In<double, 1> theta, In<double, 1> y, In<double, 1> weight, double epsilon) {
            auto score = zeros<double>(X.shape(0));
            return std::tuple_cat(loss_of(SquaredInsensitive{epsilon}, X, theta, y, weight, score.data()),
                                  std::tuple(score));
        },
        arg("X"), arg("theta"), arg("y"), arg("weight"), nb::arg("epsilon"),
        "As `squared_hinge`, of max(|y - z| - epsilon, 0)^2.");
}

}  // namespace suffice
