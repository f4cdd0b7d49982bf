// Sums and differences of vectors of millions of numbers; some may be float32.
#pragma once

#include "lanes.hpp"

namespace suffice {

// a'b, summed in float64
template <class A, class B>
static double dot(const A* a, const B* b, int64_t size) {
    constexpr int64_t STEP = 4 * f64s::N;
    f64s s[4] = {};
    int64_t i = 0;
    for (; i + STEP <= size; i += STEP)
        for (int j = 0; j < 4; j++) s[j] += load_f64s(a + i + j * f64s::N) * load_f64s(b + i + j * f64s::N);
    double rest = 0.0;
    for (; i < size; i++) rest += double(a[i]) * double(b[i]);
    return sum((s[0] + s[1]) + (s[2] + s[3])) + rest;
}

// out += factor a
template <class A>
static void add_scaled(double* __restrict out, double factor, const A* a, int64_t size) {
    for (int64_t i = 0; i < size; i++) out[i] += factor * double(a[i]);
}

}  // namespace suffice
