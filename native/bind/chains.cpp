#include "../chains.hpp"

#include "bind.hpp"

namespace suffice {

using States = In<double, 2>;
using Moves = In<double, 3>;
using Offset = In<int64_t, 1>;

static Chains chains(const States& U, const double* start, const Moves& moves, const int64_t* offset,
                     size_t offsets) {
    const size_t N = U.shape(0), K = U.shape(1);
    must((moves.shape(0) == 1 || moves.shape(0) == N) && moves.shape(1) == K && moves.shape(2) == K,
         "moves must be (1, K, K) or (N, K, K)");
    return {matrix(U), start, tensor(moves), {offset, int64_t(offsets)}};
}

static Chains chains(const States& U, const Moves& moves, const Offset& offset) {
    const size_t offsets = offset.shape(0);
    must(offsets > 0 && offset.data()[0] >= 0 && offset.data()[offsets - 1] <= int64_t(U.shape(0)),
         "offset must be numbers of steps");
    for (size_t s = 1; s < offsets; s++)
        must(offset.data()[s - 1] <= offset.data()[s], "offset must not fall");
    return chains(U, nullptr, moves, offset.data(), offsets);
}

static const double* start_of(const In<double, 1>& start, const States& U) {
    must(start.shape(0) == U.shape(1), "start must be (K,)");
    return start.data();
}

static Chains chains(const States& U, const In<double, 1>& start, const Moves& moves, const Offset& offset) {
    Chains c = chains(U, moves, offset);
    c.start = start_of(start, U);
    return c;
}

// The steps of U are one sequence.
struct One {
    int64_t offset[2];
    explicit One(const States& U) : offset{0, int64_t(U.shape(0))} {}
};

template <class A, class B>
static bool same_shape(const A& a, const B& b) {
    bool same = true;
    for (size_t i = 0; i < a.ndim(); i++) same &= a.shape(i) == b.shape(i);
    return same;
}

static void bind_products(nb::module_& m) {
    m.def(
        "forward",
        [](States E, In<double, 1> start, Moves moves, Offset offset) {
            const Chains c = chains(E, start, moves, offset);
            auto alpha = zeros<double>(E.shape(0), E.shape(1));
            auto scale = zeros<double>(E.shape(0));
            auto lost = zeros<bool>(c.size());
            without_gil([&] { forward(c, matrix(alpha), scale.data(), lost.data()); });
            return std::tuple(alpha, scale, lost);
        },
        arg("E"), arg("start"), arg("moves"), arg("offset"),
        "Filtered states and scales. alpha[n, k] is the probability of state k at step n given the steps "
        "up to n. The product of scale over the steps of a sequence is its partition function. Lost are "
        "sequences without a path, or whose paths underflow: their states are zero.");
    m.def(
        "smooth",
        [](States E, In<double, 1> start, Moves moves, Moves turned, Offset offset, In<double, 1> weight) {
            const Chains c = chains(E, start, moves, offset);
            must(same_shape(turned, moves), "turned must have the shape of moves");
            must(int64_t(weight.shape(0)) == c.size(), "offset and weight must have the same sequences");
            auto gamma = zeros<double>(E.shape(0), E.shape(1));
            auto pairs = zeros<double>(moves.shape(0), moves.shape(1), moves.shape(2));
            auto scale = zeros<double>(E.shape(0));
            auto lost = zeros<bool>(c.size()), faded = zeros<bool>(c.size());
            without_gil([&] {
                smooth(c, tensor(turned), weight.data(),
                       {matrix(gamma), tensor(pairs), scale.data(), lost.data(), faded.data()});
            });
            return std::tuple(gamma, pairs, scale, lost, faded);
        },
        arg("E"), arg("start"), arg("moves"), arg("turned"), arg("offset"), arg("weight"),
        "Marginals of states and transitions given all steps; `turned` are the transposed transitions. "
        "Returns gamma (N, K), times the weight of the sequence; the same of moves, summed over steps (1, "
        "K, K) or into each step (N, K, K); the scales, and which sequences are lost, as `forward` does; "
        "and which faded: floats could not hold what is asked of them, and their marginals are zero.");
}

static void bind_paths(nb::module_& m) {
    m.def(
        "best_paths",
        [](States U, In<double, 1> start, Moves moves, Offset offset) {
            const Chains c = chains(U, start, moves, offset);
            must(c.K() > 0 || c.longest() == 0, "there must be a state");
            auto path = zeros<int64_t>(U.shape(0));
            auto score = zeros<double>(c.size());
            without_gil([&] { best_paths(c, path.data(), score.data()); });
            return std::tuple(path, score);
        },
        arg("U"), arg("start"), arg("moves"), arg("offset"),
        "The states of the best path of each sequence, (N,), and its score, (S,). All are logarithms.");
    m.def(
        "k_best_paths",
        [](States U, In<double, 1> start, Moves moves, int64_t count) {
            must(count >= 0, "count must not be negative");
            const One one(U);
            const Chains c = chains(U, start_of(start, U), moves, one.offset, 2);
            auto paths = zeros<int64_t>(count, U.shape(0));
            auto score = zeros<double>(count);
            std::fill(score.data(), score.data() + count, -BEYOND);
            without_gil([&] { BestPaths(c, count).write(matrix(paths), score.data()); });
            return std::tuple(paths, score);
        },
        arg("U"), arg("start"), arg("moves"), arg("count"),
        "The best `count` paths of one sequence by decreasing score, (count, N), and their scores; -inf if "
        "there are fewer. All are logarithms.");
}

static void bind_logarithms(nb::module_& m) {
    m.def(
        "exp_below_largest",
        [](States U) {
            auto out = zeros<double>(U.shape(0), U.shape(1));
            auto largest = zeros<double>(U.shape(0));
            without_gil([&] { exp_below_largest(matrix(U), matrix(out), largest.data()); });
            return std::tuple(out, largest);
        },
        arg("U"),
        "The exponential of each row less its largest entry, (N, K), and that, (N,): zero where there is "
        "none but -inf.");
    m.def(
        "log_forward",
        [](States U, In<double, 1> start, Moves moves, Offset offset) {
            const Chains c = chains(U, start, moves, offset);
            auto out = zeros<double>(U.shape(0), U.shape(1));
            std::fill(out.data(), out.data() + out.size(), -BEYOND);
            without_gil([&] { log_forward(c, matrix(out)); });
            return out;
        },
        arg("U"), arg("start"), arg("moves"), arg("offset"),
        "The log of the sum over the paths that end in state k at step n, (N, K), from logarithms.");
    m.def(
        "log_backward",
        [](States U, Moves moves, Offset offset) {
            const Chains c = chains(U, moves, offset);
            auto out = zeros<double>(U.shape(0), U.shape(1));
            std::fill(out.data(), out.data() + out.size(), -BEYOND);
            without_gil([&] { log_backward(c, matrix(out)); });
            return out;
        },
        arg("U"), arg("moves"), arg("offset"),
        "The log of the sum over the paths that follow state k at step n, (N, K).");
    m.def(
        "add_log_pairs",
        [](In<double, 2> before, States U, In<double, 2> after, Moves moves, double total, double weight,
           InOut<double, 3> pairs) {
            must(same_shape(before, U) && same_shape(after, U), "before and after must have the shape of U");
            must(same_shape(pairs, moves), "pairs must have the shape of moves");
            const One one(U);
            const Chains c = chains(U, nullptr, moves, one.offset, 2);
            without_gil(
                [&] { add_log_pairs(c, matrix(before), matrix(after), total, weight, tensor(pairs)); });
        },
        arg("before"), arg("U"), arg("after"), arg("moves"), arg("total"), arg("weight"), arg("pairs"),
        "Add the marginals of the transitions of one sequence, times the weight, to `pairs`: (1, K, K), or "
        "of each step. `before` and `after` are what `log_forward` and `log_backward` give, and `total` "
        "the log of all paths.");
}

TOPIC(chains) {
    m.doc() =
        "Forward-backward and Viterbi recursions of chains of K states. Potentials are not negative, and "
        "the largest of each step is one. Sequences are concatenated: s has the rows offset[s] to offset[s "
        "+ 1]. Transitions are (1, K, K), the same at all steps, or (N, K, K), those into each step; those "
        "into the first are not used.";
    bind_products(m);
    bind_paths(m);
    bind_logarithms(m);
}

}  // namespace suffice
