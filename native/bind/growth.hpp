// The named tuples of tree/growth.py that describe the growth of a tree.
#pragma once

#include "bind.hpp"

namespace suffice {

struct GivenLimits {
    int64_t max_depth, least_split, least;
    double least_gain;
    int64_t max_features, max_leaves;
    bool random;
    uint64_t key;
    In<int8_t, 1> constraints;

    using Tuple = std::tuple<int64_t, int64_t, int64_t, double, int64_t, int64_t, bool, uint64_t, In<int8_t, 1>>;
};

struct GivenRoot {
    uint64_t key;
    int64_t depth;
    double low, high;

    using Tuple = std::tuple<uint64_t, int64_t, double, double>;
};

// A struct of the members of its tuple.
template <class Struct>
Struct made(const typename Struct::Tuple& tuple) {
    return std::apply([](const auto&... member) { return Struct{member...}; }, tuple);
}

}  // namespace suffice
