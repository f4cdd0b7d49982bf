#include "../strings.hpp"

#include "bind.hpp"

namespace suffice {

static Strings strings(const In<int64_t, 1>& symbols, const In<int64_t, 1>& offset, int64_t n_symbols) {
    must(offset.shape(0) > 0, "offset must have one number more than there are strings");
    must_divide(offset, offset.shape(0) - 1, symbols.shape(0));
    must(are_below(symbols, n_symbols), "strings must have numbers of symbols");
    return {symbols.data(), vector(offset)};
}

static void must_be_of(int64_t n_symbols, int64_t n) {
    must(n_symbols >= 0, "n_symbols must not be negative");
    must(n >= 1, "n must be at least 1");
}

TOPIC(strings) {
    m.doc() = "The string kernel by dynamic programming. String a has the symbols from offset[a] to offset[a + 1].";
    m.def(
        "subsequences",
        [](In<int64_t, 1> s, In<int64_t, 1> s_offset, In<int64_t, 1> t, In<int64_t, 1> t_offset, int64_t n_symbols,
           int64_t n, double decay, bool same) {
            must_be_of(n_symbols, n);
            const Strings a = strings(s, s_offset, n_symbols), b = strings(t, t_offset, n_symbols);
            must(!same || a.size() == b.size(), "the same strings must be as many");
            auto out = zeros<double>(a.size(), b.size());
            without_gil([&] { subsequences(a, b, n_symbols, n, decay, same, matrix(out)); });
            return out;
        },
        arg("s"), arg("s_offset"), arg("t"), arg("t_offset"), nb::arg("n_symbols"), nb::arg("n"), nb::arg("decay"),
        nb::arg("same"),
        "The kernel of strings by their common subsequences of n symbols, (N, M); `same` says that s and t are the "
        "same strings.");
    m.def(
        "own_subsequences",
        [](In<int64_t, 1> s, In<int64_t, 1> offset, int64_t n_symbols, int64_t n, double decay) {
            must_be_of(n_symbols, n);
            const Strings a = strings(s, offset, n_symbols);
            auto out = zeros<double>(a.size());
            without_gil([&] { own_subsequences(a, n_symbols, n, decay, out.data()); });
            return out;
        },
        arg("s"), arg("offset"), nb::arg("n_symbols"), nb::arg("n"), nb::arg("decay"),
        "The kernel of each string with itself, (N,).");
}

}  // namespace suffice
