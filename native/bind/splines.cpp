#include "../splines.hpp"

#include "bind.hpp"

namespace suffice {

TOPIC(splines) {
    m.doc() = "Splines: rows of natural cubic bases, and the smoothing spline from knot to knot.";
    m.def(
        "design",
        [](In<double, 2> X, In<double, 1> knots, In<int64_t, 1> first, In<double, 1> scale, In<double, 1> pieces,
           In<int64_t, 1> place, In<int64_t, 1> columns, int64_t derivative, InOut<double, 2> out) {
            const size_t D = X.shape(1);
            must(scale.shape(0) == D, "X and scale must have the same features");
            must_divide(first, D, knots.shape(0));
            must_divide(place, D, pieces.shape(0));
            must_divide(columns, D, out.shape(1));
            for (size_t d = 0; d < D; d++) {
                const int64_t K = first.data()[d + 1] - first.data()[d];
                const int64_t q = columns.data()[d + 1] - columns.data()[d];
                must(K > 0, "each feature must have knots");
                must(place.data()[d + 1] - place.data()[d] == 4 * (K + 1) * q, "pieces must be those of the knots");
            }
            must(out.shape(0) == X.shape(0), "X and out must have the same rows");
            must(0 <= derivative && derivative <= 2, "derivative must be 0, 1 or 2");
            without_gil([&] {
                design(matrix(X),
                       {knots.data(), first.data(), scale.data(), pieces.data(), place.data(), columns.data(),
                        int64_t(D)},
                       derivative, matrix(out));
            });
        },
        arg("X"), arg("knots"), arg("first"), arg("scale"), arg("pieces"), arg("place"), arg("columns"),
        nb::arg("derivative"), arg("out"),
        "Write each function of its feature at each row to `out`, (N, p or more), or its derivative in units of "
        "`scale`. Feature d has the knots from first[d] to first[d + 1], and between them cubics in the distance from "
        "the knot before, in units of scale[d]; its functions are the columns from columns[d] to columns[d + 1]. The "
        "coefficients of piece j of K + 1 start at place[d] + 4 j q, those of each power after the other. Before the "
        "first knot and after the last the functions are lines.");
    m.def(
        "triangles",
        [](InOut<double, 3> A) {
            must(A.shape(1) == 5 && A.shape(2) == 5, "A must be (K, 5, 5)");
            without_gil([&] { triangles(tensor(A)); });
        },
        arg("A"),
        "Bring the equations of each knot, (K, 5, 5), to triangles in place, by Givens rotations. Columns are its value "
        "and slope, those of the next knot, and the right-hand side. What the equations say of the next knot replaces "
        "its first two.");
    m.def(
        "substitute",
        [](In<double, 3> A) {
            must(A.shape(1) == 5 && A.shape(2) == 5, "A must be (K, 5, 5)");
            auto value = zeros<double>(A.shape(0)), slope = zeros<double>(A.shape(0));
            auto variance = zeros<double>(A.shape(0));
            without_gil([&] { substitute(tensor(A), value.data(), slope.data(), variance.data()); });
            return std::tuple(value, slope, variance);
        },
        arg("A"), "The value, the slope and the variance of the value at each knot, (K,), from `triangles`.");
}

}  // namespace suffice
