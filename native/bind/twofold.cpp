#include "../twofold.hpp"

#include "bind.hpp"

namespace suffice {

using Coefficients = In<double, 3>;

static Residuals residuals(const In<double, 2>& y, const In<double, 1>& weight, const Coefficients& theta,
                           const InOut<double, 3>& out, const InOut<double, 2>& size) {
    const size_t T = theta.shape(1), D = theta.shape(2);
    must(theta.shape(0) == 2 && D > 0, "theta must be (2, T, D + 1)");
    must(out.shape(0) == 2 && out.shape(1) == T && out.shape(2) == D, "out must have the shape of theta");
    must(size.shape(0) == T && size.shape(1) == D, "size must be (T, D + 1)");
    must(y.shape(1) == T && y.shape(0) == weight.shape(0), "y must be (N, T), and weight (N,)");
    return {tensor(theta), tensor(out), matrix(size)};
}

template <class Index>
static void bind_sparse(nb::module_& m) {
    m.def(
        "add_sparse_normal_residual",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> y, In<double, 1> weight,
           Coefficients theta, InOut<double, 3> out, InOut<double, 2> size) {
            const Residuals to = residuals(y, weight, theta, out, size);
            auto X = sparse<Index>(data, indices, indptr, to.D());
            must(X.rows == int64_t(y.shape(0)), "X and y must have the same rows");
            without_gil([&] { add_sparse_normal_residual(X, matrix(y), weight.data(), to); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("y"), arg("weight"), arg("theta"), arg("out"),
        arg("size"), "The same of CSR rows.");
}

TOPIC(twofold) {
    m.doc() = "Sums of products in double-double precision.";
    m.def(
        "add_normal_residual",
        [](In<double, 2> X, In<double, 2> y, In<double, 1> weight, Coefficients theta, InOut<double, 3> out,
           InOut<double, 2> size) {
            const Residuals to = residuals(y, weight, theta, out, size);
            must(X.shape(0) == y.shape(0) && int64_t(X.shape(1)) == to.D(),
                 "X must have the rows of y and the features of theta");
            without_gil([&] { add_normal_residual(matrix(X), matrix(y), weight.data(), to); });
        },
        arg("X"), arg("y"), arg("weight"), arg("theta"), arg("out"), arg("size"),
        "Add X' diag(weight) (y - X coef' - intercept) to `out`, and the absolute values of its terms to "
        "`size`. `theta` (2, T, D + 1) holds the high and the low parts of the coefficients and, last, of the "
        "intercept. `out` is alike, and has the sum of the residuals in its last column; `size` (T, D + 1).");
    bind_sparse<int32_t>(m);
    bind_sparse<int64_t>(m);
}

}  // namespace suffice
