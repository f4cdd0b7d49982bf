// Numbers as integers of a unit, whose sums do not depend on the order of the rows: see statistics/bins.py.
#pragma once

#include <cmath>

#include "lanes.hpp"

namespace suffice {

constexpr double LARGEST_INTEGER = 0x1p62;  // whose product with a whole weight is exact

// A number as an integer of a unit, at most `most`, also where it is not a number.
static INLINE double on_grid(double x, double unit, double most) {
    x = std::rint(x * unit);
    x = x < most ? x : most;
    return x > -most ? x : -most;
}

// Add or put the integers of numbers, a few at a time, which the compiler takes together.
template <class Function>
static INLINE void each_integer(const double* x, int64_t size, double unit, double most, Function f) {
    constexpr int64_t PIECE = 64;
    double piece[PIECE];
    most = most < LARGEST_INTEGER ? most : LARGEST_INTEGER;
    for (int64_t a = 0; a < size; a += PIECE) {
        const int64_t n = size - a < PIECE ? size - a : PIECE;
        for (int64_t i = 0; i < n; i++) piece[i] = on_grid(x[a + i], unit, most);
        for (int64_t i = 0; i < n; i++) f(a + i, piece[i]);
    }
}

// A weight times a whole number, rounded; exact for a whole weight: see `tree.targets`.
static INLINE int64_t weighted(double weight, double x) {
    const double whole = std::floor(weight);
    return int64_t(uint64_t(int64_t(whole)) * uint64_t(int64_t(x))) + int64_t(std::rint((weight - whole) * x));
}

}  // namespace suffice
