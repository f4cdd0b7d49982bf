#include "../factors.hpp"

#include "bind.hpp"

namespace suffice {

template <class Index>
static Sparse<Index> rows_of_factor(const In<double, 1>& data, const In<Index, 1>& indices, const In<Index, 1>& indptr,
                                    const In<double, 2>& Ht, size_t rows, size_t columns) {
    auto X = sparse(data, indices, indptr, Ht.shape(0));
    must(rows == size_t(X.rows) && columns == Ht.shape(1), "W must be (N, K), and Ht (D, K)");
    return X;
}

template <class Index>
static void bind_with(nb::module_& m) {
    m.def(
        "divergence_updates",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> Ht, In<double, 1> size,
           double l1, double l2, double least, double tol, int64_t max_iter, InOut<double, 2> W) {
            auto X = rows_of_factor(data, indices, indptr, Ht, W.shape(0), W.shape(1));
            must(size.shape(0) == Ht.shape(1), "size must be (K,)");
            without_gil([&] {
                divergence_updates(X, matrix(Ht), size.data(), {l1, l2, least, tol, max_iter}, matrix(W));
            });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("Ht"), arg("size"), nb::arg("l1"), nb::arg("l2"),
        nb::arg("least"), nb::arg("tol"), nb::arg("max_iter"), arg("W"),
        "Multiplicative updates of the rows of W, in place: less divergence of X, CSR rows, from W H. `size` (K,) has "
        "the sums of the columns of Ht. A row is done when no entry changes by more than tol of the largest.");
    m.def(
        "ratios",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> Ht, In<double, 2> W,
           double least, In<double, 1> weight, InOut<double, 1> out) {
            auto X = rows_of_factor(data, indices, indptr, Ht, W.shape(0), W.shape(1));
            must(weight.shape(0) == W.shape(0), "weight must be (N,)");
            must(out.shape(0) == data.shape(0), "out must have a number for each of data");
            return without_gil([&] {
                return ratios(X, matrix(Ht), matrix(W), least, weight.data(), out.data());
            });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("Ht"), arg("W"), nb::arg("least"), arg("weight"), arg("out"),
        "Where X is not zero, X / W H, into `out`; and the sum of weight (x log(x / wh) - x).");
}

TOPIC(factors) {
    m.doc() = "Updates of the rows of non-negative factors.";
    m.def(
        "coordinate_sweeps",
        [](InOut<double, 2> F, In<double, 2> gram, In<double, 2> cross, In<int64_t, 1> order, In<double, 1> weight,
           double tol, int64_t max_iter) {
            const size_t N = F.shape(0), K = F.shape(1);
            must(gram.shape(0) == K && gram.shape(1) == K, "gram must be (K, K)");
            must(cross.shape(0) == N && cross.shape(1) == K, "cross must be (N, K)");
            must(weight.shape(0) == N, "weight must be (N,)");
            must(order.shape(0) == K && are_below(order, K), "order must be (K,), of numbers of coordinates");
            const RowQuadratics p{matrix(gram), matrix(cross), order.data(), weight.data()};
            return without_gil([&] { return CoordinateSweeps(p, tol, max_iter).minimize(matrix(F)); });
        },
        arg("F"), arg("gram"), arg("cross"), arg("order"), arg("weight"), nb::arg("tol"), nb::arg("max_iter"),
        "Minimize f gram f' / 2 - cross f' over each row f of F, not negative, in place, one coordinate after the "
        "other. A row is done when the sum of its projected gradient in a sweep is at most tol times that of the "
        "first, or after the maximum number of sweeps. Returns the weighted sum over rows of that of the first sweep.");
    bind_with<int32_t>(m);
    bind_with<int64_t>(m);
}

}  // namespace suffice
