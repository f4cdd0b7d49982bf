#include "bind.hpp"

namespace suffice {

template <class Index>
static void bind(nb::module_& m) {
    m.def(
        "times",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> W) {
            auto X = sparse<Index>(data, indices, indptr, W.shape(0));
            auto out = zeros<double>(X.rows, W.shape(1));
            without_gil([&] { times(X, matrix(W), matrix(out)); });
            return out;
        },
        arg("data"), arg("indices"), arg("indptr"), arg("W"), "X W, (N, K), for X of N rows and W (D, K).");
    m.def(
        "add_transposed_times",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> G, InOut<double, 2> out) {
            auto X = sparse<Index>(data, indices, indptr, out.shape(0));
            must(G.shape(0) == size_t(X.rows) && G.shape(1) == out.shape(1), "G must be (N, K), and out (D, K)");
            without_gil([&] { add_transposed_times(X, matrix(G), matrix(out)); });
        },
        arg("data"), arg("indices"), arg("indptr"), arg("G"), arg("out"),
        "Add X' G to `out` (D, K), for X of N rows and G (N, K).");
}

TOPIC(sparse) {
    m.doc() = "Products of CSR rows with dense matrices of few columns, without the GIL.";
    bind<int32_t>(m);
    bind<int64_t>(m);
}

}  // namespace suffice
