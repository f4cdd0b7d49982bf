#include "../graph.hpp"

#include "bind.hpp"

namespace suffice {

template <class Index>
using Nodes = In<Index, 1>;
using Weights = In<double, 1>;

constexpr const char* OUTSIDE = "nodes must be in the run";

static void must_be_bits(int64_t shift) { must(0 <= shift && shift < 64, "shift must be a number of bits"); }

// `weight` is empty if all are one.
template <class Index>
static LinkList<Index> links(const Nodes<Index>& source, const Nodes<Index>& target, const Weights& weight) {
    const size_t size = target.shape(0);
    must(source.shape(0) == size, "source and target must have the same links");
    must(weight.shape(0) == size || weight.shape(0) == 0, "weight must have the links, or be empty");
    return {source.data(), target.data(), weight.shape(0) ? weight.data() : nullptr, int64_t(size)};
}

template <class Index>
static ToLinks<Index> to_links(const InOut<Index, 1>& source, Index* target, const InOut<double, 1>& weight,
                               bool weighted) {
    must(!weighted || weight.shape(0) == source.shape(0), "to_weight must be as long as to_source");
    return {source.data(), target, weight.data(), int64_t(source.shape(0))};
}

// The links to the targets from first to end must be there, and come from nodes of `sent`.
template <class Index>
static void must_be_sorted_links(const In<int64_t, 1>& indptr, const Nodes<Index>& source, size_t nodes,
                                 int64_t first, int64_t end, size_t out) {
    must(0 <= first && first <= end && end < int64_t(indptr.shape(0)) && end <= int64_t(out),
         "first and end must be targets");
    const int64_t *at = indptr.data(), links = source.shape(0);
    must(at[first] >= 0 && at[end] <= links, "indptr must be numbers of links");
    for (int64_t t = first; t < end; t++) must(at[t] <= at[t + 1], "indptr must not fall");
    std::make_unsigned_t<Index> largest = 0;
    for (int64_t p = at[first]; p < at[end]; p++)
        largest = std::max(largest, std::make_unsigned_t<Index>(source.data()[p]));
    must(at[first] == at[end] || largest < nodes, "source must be nodes that send");
}

template <class Index>
static void bind_sort(nb::module_& m) {
    m.def(
        "count",
        [](Nodes<Index> node, int64_t first, int64_t shift, InOut<int64_t, 1> out) {
            must_be_bits(shift);
            must(without_gil([&] { return count(vector(node), first, shift, vector(out)); }), OUTSIDE);
        },
        arg("node"), nb::arg("first"), nb::arg("shift"), arg("out"),
        "Add to out[n] how often nodes occur that are first + n, shifted by some bits.");
    m.def(
        "spread",
        [](Nodes<Index> source, Nodes<Index> target, Weights weight, int64_t first, int64_t shift,
           InOut<int64_t, 1> at, InOut<Index, 1> to_source, InOut<Index, 1> to_target, InOut<double, 1> to_weight) {
            auto from = links<Index>(source, target, weight);
            auto to = to_links<Index>(to_source, to_target.data(), to_weight, from.weight);
            must(to_target.shape(0) == to_source.shape(0), "to_source and to_target must be as long");
            must_be_bits(shift);
            must(without_gil([&] { return spread(from, first, shift, vector(at), to); }),
                 "at must have room for the links of each bucket");
        },
        arg("source"), arg("target"), arg("weight"), nb::arg("first"), nb::arg("shift"), arg("at"),
        arg("to_source"), arg("to_target"), arg("to_weight"),
        "Write links where the next of their bucket is, which is some high bits of the target; `at` moves on. "
        "`weight` is empty if all are one.");
    m.def(
        "place",
        [](Nodes<Index> source, Nodes<Index> target, Weights weight, int64_t first, int64_t begin,
           InOut<int64_t, 1> offset, InOut<Index, 1> to_source, InOut<double, 1> to_weight) {
            auto from = links<Index>(source, target, weight);
            auto to = to_links<Index>(to_source, nullptr, to_weight, from.weight);
            must(offset.shape(0) > 0, "offset must have one number more than there are nodes");
            must(begin >= 0 && begin <= to.size - from.size, "there must be room from `begin` on");
            must(without_gil([&] { return place(from, first, begin, vector(offset), to); }), OUTSIDE);
        },
        arg("source"), arg("target"), arg("weight"), nb::arg("first"), nb::arg("begin"), arg("offset"),
        arg("to_source"), arg("to_weight"),
        "Sort the links of a bucket by target: where those to node first + n end is then offset[n + 1]. `begin` is "
        "the place of the first link of the bucket, and `offset` begins with it.");
    m.def(
        "renumber",
        [](Nodes<Index> number, InOut<Index, 1> node) {
            must(without_gil([&] { return renumber(vector(number), vector(node)); }),
                 "node must be indices of number");
        },
        arg("number"), arg("node"), "node = number[node], in place.");
}

template <class Index>
static void bind_flow(nb::module_& m) {
    m.def(
        "mass",
        [](In<int64_t, 1> indptr, Nodes<Index> source, In<double, 1> sent, int64_t first, int64_t end,
           InOut<double, 1> out) {
            must_be_sorted_links<Index>(indptr, source, sent.shape(0), first, end, out.shape(0));
            without_gil([&] { mass(indptr.data(), source.data(), sent.data(), first, end, out.data()); });
        },
        arg("indptr"), arg("source"), arg("sent"), nb::arg("first"), nb::arg("end"), arg("out"),
        "out[t] = the sum of sent[s] over the links s -> t, for targets from first to end.");
    m.def(
        "weighted_mass",
        [](In<int64_t, 1> indptr, Nodes<Index> source, Weights weight, In<double, 1> sent, int64_t first,
           int64_t end, InOut<double, 1> out) {
            must(weight.shape(0) == source.shape(0), "source and weight must have the same links");
            must_be_sorted_links<Index>(indptr, source, sent.shape(0), first, end, out.shape(0));
            without_gil([&] {
                weighted_mass(indptr.data(), source.data(), weight.data(), sent.data(), first, end, out.data());
            });
        },
        arg("indptr"), arg("source"), arg("weight"), arg("sent"), nb::arg("first"), nb::arg("end"), arg("out"),
        "out[t] = the sum of weight sent[s] over the links s -> t, for targets from first to end.");
    m.def(
        "depths",
        [](Nodes<Index> order, Nodes<Index> before, In<int64_t, 1> length, InOut<int64_t, 1> out) {
            const size_t N = out.shape(0);
            must(before.shape(0) == N && length.shape(0) == N, "before, length and out must have the same nodes");
            must(are_below<Index>(order, N), "order must be nodes");
            for (size_t i = 1; i < order.shape(0); i++) {
                const int64_t parent = before.data()[order.data()[i]];
                must(0 <= parent && parent < int64_t(N), "before must be nodes, but for the first");
            }
            without_gil([&] { depths(vector(order), before.data(), length.data(), out.data()); });
        },
        arg("order"), arg("before"), arg("length"), arg("out"),
        "Steps from the first node along the tree of a search, of which a step to node n takes length[n].");
}

TOPIC(graph) {
    m.doc() = "Links sorted by target, and the flow along them. Sums are in the order of the links, to the bit.";
    bind_sort<int32_t>(m);
    bind_sort<int64_t>(m);
    bind_flow<int32_t>(m);
    bind_flow<int64_t>(m);
}

}  // namespace suffice
