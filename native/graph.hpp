// Links sorted by target, and the flow along them. Sums are in the order of the links, to the bit.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace suffice {

// Links from source[e] to target[e]; `weight` is null if all are one. Nodes are not negative.
template <class Index>
struct LinkList {
    const Index *source, *target;
    const double* weight;
    int64_t size;
};

// Where sorted links are written: `weight` is null if all are one.
template <class Index>
struct ToLinks {
    Index *source, *target;
    double* weight;
    int64_t size;
};

// The high bits, without `shift` of them, of n for the node first + n.
template <class Index>
static INLINE uint64_t bucket_of(Index node, int64_t first, int64_t shift) {
    return uint64_t(int64_t(uint64_t(node) - uint64_t(first)) >> shift);
}

// out[b] += how many nodes are in bucket b. Returns whether all are in one.
template <class Index>
static bool count(Vector<const Index> node, int64_t first, int64_t shift, Vector<int64_t> out) {
    for (int64_t e = 0; e < node.size; e++) {
        const uint64_t b = bucket_of(node[e], first, shift);
        if (b >= uint64_t(out.size)) return false;
        out[b]++;
    }
    return true;
}

// Write links where the next of their bucket is, which is some high bits of the target; `at` moves on. Returns
// whether there is room for all.
template <class Index>
static bool spread(const LinkList<Index>& links, int64_t first, int64_t shift, Vector<int64_t> at,
                   const ToLinks<Index>& to) {
    for (int64_t e = 0; e < links.size; e++) {
        const uint64_t b = bucket_of(links.target[e], first, shift);
        if (b >= uint64_t(at.size) || uint64_t(at[b]) >= uint64_t(to.size)) return false;
        const int64_t p = at[b]++;
        to.source[p] = links.source[e];
        to.target[p] = links.target[e];
        if (links.weight) to.weight[p] = links.weight[e];
    }
    return true;
}

// Sort the links of a bucket by target, those to one target in their order: where those to node first + n end is
// then offset[n + 1]. `begin` is the place of the first link of the bucket, and `offset` begins with it. Returns
// whether all targets are in the bucket.
template <class Index>
static bool place(const LinkList<Index>& links, int64_t first, int64_t begin, Vector<int64_t> offset,
                  const ToLinks<Index>& to) {
    std::vector<int64_t> at(offset.size);
    if (!count<Index>({links.target, links.size}, first, 0, {at.data() + 1, offset.size - 1})) return false;
    at[0] = begin;
    for (int64_t n = 1; n < offset.size; n++) offset[n] = at[n] += at[n - 1];
    for (int64_t e = 0; e < links.size; e++) {
        const int64_t p = at[links.target[e] - first]++;
        to.source[p] = links.source[e];
        if (links.weight) to.weight[p] = links.weight[e];
    }
    return true;
}

// node[e] = number[node[e]]. Returns whether all have a number.
template <class Index>
static bool renumber(Vector<const Index> number, Vector<Index> node) {
    for (int64_t e = 0; e < node.size; e++) {
        if (uint64_t(node[e]) >= uint64_t(number.size)) return false;
        node[e] = number[node[e]];
    }
    return true;
}

// out[t] = the sum of sent[s] over the links s -> t, which are indptr[t] to indptr[t + 1], for targets from first
// to end
template <class Index>
static void mass(const int64_t* indptr, const Index* source, const double* sent, int64_t first, int64_t end,
                 double* out) {
    for (int64_t t = first; t < end; t++) {
        double total = 0.0;
        for (int64_t p = indptr[t]; p < indptr[t + 1]; p++) total += sent[source[p]];
        out[t] = total;
    }
}

// As `mass`, the sum of weight sent[s].
template <class Index>
static void weighted_mass(const int64_t* indptr, const Index* source, const double* weight, const double* sent,
                          int64_t first, int64_t end, double* out) {
    for (int64_t t = first; t < end; t++) {
        double total = 0.0;
        for (int64_t p = indptr[t]; p < indptr[t + 1]; p++) total += weight[p] * sent[source[p]];
        out[t] = total;
    }
}

// Steps from the first node along the tree of a search, of which a step to node n takes length[n].
template <class Index>
static void depths(Vector<const Index> order, const Index* before, const int64_t* length, int64_t* out) {
    for (int64_t i = 1; i < order.size; i++) {
        const Index n = order[i];
        out[n] = out[before[n]] + length[n];
    }
}

}  // namespace suffice
