#include "../coordinates.hpp"

#include "bind.hpp"

namespace suffice {

static LeastSquares problem(const In<double, 2>& A, const In<double, 1>& b, double yy, double l1, double l2,
                            bool positive) {
    must(A.shape(0) == A.shape(1) && A.shape(0) == b.shape(0), "A must be (D, D), and b (D,)");
    return {matrix(A), b.data(), yy, l1, l2, positive};
}

static void must_be_like(const In<double, 1>& b, size_t w, size_t q) {
    must(w == b.shape(0) && q == b.shape(0), "w and q must be (D,)");
}

TOPIC(coordinates) {
    m.doc() = "Coordinate descent for least squares with an l1 penalty, from the Gram matrix.";
    m.def(
        "duality_gap",
        [](In<double, 1> b, double yy, double l1, double l2, bool positive, In<double, 1> w, In<double, 1> q) {
            must_be_like(b, w.shape(0), q.shape(0));
            Matrix<const double> none{nullptr, int64_t(b.shape(0)), 0};
            return duality_gap({none, b.data(), yy, l1, l2, positive}, w.data(), q.data());
        },
        arg("b"), nb::arg("yy"), nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), arg("w"), arg("q"),
        "The duality gap, with q = A w.");
    m.def(
        "descend",
        [](In<double, 2> A, In<double, 1> b, double yy, double l1, double l2, bool positive, double tol,
           int64_t max_iter, InOut<double, 1> w, InOut<double, 1> q) {
            must_be_like(b, w.shape(0), q.shape(0));
            auto p = problem(A, b, yy, l1, l2, positive);
            return without_gil([&] { return descend(p, {tol, max_iter}, w.data(), q.data()); });
        },
        arg("A"), arg("b"), nb::arg("yy"), nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), nb::arg("tol"),
        nb::arg("max_iter"), arg("w"), arg("q"),
        "Minimize |y - X w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2 in place, given A = X'X, b = X'y and yy = y'y, until the "
        "duality gap is at most tol, which may be before the first sweep. `q` is scratch. Returns the gap and the "
        "number of sweeps.");
    m.def(
        "descend_jointly",
        [](In<double, 2> A, In<double, 2> B, double yy, double l1, double l2, double tol, int64_t max_iter,
           InOut<double, 2> W, InOut<double, 2> Q) {
            must(A.shape(0) == A.shape(1) && A.shape(0) == B.shape(0), "A must be (D, D), and B (D, T)");
            for (auto* a : {&W, &Q})
                must(a->shape(0) == B.shape(0) && a->shape(1) == B.shape(1), "W and Q must be (D, T)");
            JointLeastSquares p{matrix(A), matrix(B), yy, l1, l2};
            return without_gil([&] { return descend_jointly(p, {tol, max_iter}, matrix(W), matrix(Q)); });
        },
        arg("A"), arg("B"), nb::arg("yy"), nb::arg("l1"), nb::arg("l2"), nb::arg("tol"), nb::arg("max_iter"),
        arg("W"), arg("Q"),
        "Minimize |Y - X W|^2 / 2 + l1 sum_j |W_j| + l2 |W|^2 / 2 in place, with the norms of the rows of W, given A "
        "= X'X, B = X'Y and yy = |Y|^2. All targets use the same features. Otherwise as `descend`.");
}

}  // namespace suffice
