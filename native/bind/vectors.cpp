#include "../vectors.hpp"

#include "bind.hpp"

namespace suffice {

template <class A, class B>
static void bind_dot(nb::module_& m) {
    m.def(
        "dot",
        [](In<A, 1> a, In<B, 1> b) {
            must(a.shape(0) == b.shape(0), "a and b must have the same size");
            return without_gil([&] { return dot(a.data(), b.data(), a.shape(0)); });
        },
        arg("a"), arg("b"), "a'b, summed in double precision.");
}

template <class A>
static void bind_add_scaled(nb::module_& m) {
    m.def(
        "add_scaled",
        [](InOut<double, 1> out, double factor, In<A, 1> a) {
            must(out.shape(0) == a.shape(0), "out and a must have the same size");
            without_gil([&] { add_scaled(out.data(), factor, a.data(), a.shape(0)); });
        },
        arg("out"), nb::arg("factor"), arg("a"), "out += factor a.");
}

TOPIC(vectors) {
    m.doc() = "Sums and differences of vectors of millions of numbers; some may be in single precision.";
    bind_dot<double, double>(m);
    bind_dot<float, double>(m);
    bind_dot<double, float>(m);
    bind_dot<float, float>(m);
    bind_add_scaled<double>(m);
    bind_add_scaled<float>(m);
}

}  // namespace suffice
