// Random numbers: splitmix64 (Steele, Lea and Flood, 2014).
#pragma once

#include "lanes.hpp"

namespace suffice {

// The next number of a sequence of random 64-bit numbers.
static INLINE uint64_t mixed(uint64_t key) {
    uint64_t z = key + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// A number from 0 to 1.
static INLINE double uniform(uint64_t key) { return double(key >> 11) * 0x1p-53; }

// A sequence of numbers from 0 to 1.
struct Uniforms {
    uint64_t state;

    INLINE double operator()() {
        const double u = uniform(mixed(state));
        state += 0x9E3779B97F4A7C15u;
        return u;
    }
};

}  // namespace suffice
