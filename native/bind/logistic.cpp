#include "../logistic.hpp"

#include "bind.hpp"

namespace suffice {

TOPIC(logistic) {
    m.doc() = "The binomial log loss of rows and its gradient, in one pass over them.";
    m.def(
        "binomial",
        [](In<double, 2> X, In<double, 1> theta, In<int64_t, 1> codes, In<double, 1> weight) {
            must(theta.shape(0) == X.shape(1) + 1, "theta must be (D + 1,)");
            must(codes.shape(0) == X.shape(0) && weight.shape(0) == X.shape(0),
                 "X, codes and weight must have the same rows");
            auto gradient = zeros<double>(theta.shape(0));
            const double loss = without_gil([&] {
                return binomial(matrix(X), theta.data(), codes.data(), weight.data(), gradient.data());
            });
            return std::tuple(loss, gradient);
        },
        arg("X"), arg("theta"), arg("codes"), arg("weight"),
        "Sums over rows of weight times log(1 + exp(z)) - code z, with z = X theta[:-1] + theta[-1], and "
        "of its derivatives by theta.");
}

}  // namespace suffice
