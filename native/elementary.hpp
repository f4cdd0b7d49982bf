// Logarithms with the same bits on every CPU: those of the C library choose code by the CPU.
//
// With x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), and s = f / (2 + f): log(1 + f) = f - f^2/2 + s (f^2/2
// + R), where R is a polynomial in s^2 (fdlibm, Sun Microsystems, 1993; `log2` as in FreeBSD). Errors are
// below 1 ulp.
#pragma once

#include "lanes.hpp"

namespace suffice {

struct LogParts {
    double k, f, half_square, rest;  // log(1 + f) = f - half_square + rest
};

// Of a positive number that is normal and finite.
static INLINE LogParts log_parts(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, 8);
    const uint64_t above = ((bits & 0xFFFFFFFFFFFFF) + 0x95F6400000000) >> 52;  // whether 1 + f is halved
    const double k = double(int64_t(bits >> 52) - 1023 + int64_t(above));
    bits = (bits & 0xFFFFFFFFFFFFF) | ((1023 - above) << 52);
    std::memcpy(&x, &bits, 8);
    const double f = x - 1.0, s = f / (2.0 + f), z = s * s, w = z * z, half_square = 0.5 * f * f;
    const double even = w * (3.999999999940941908e-01 +
                             w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 +
                       w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    return {k, f, half_square, s * (half_square + (odd + even))};
}

static INLINE double log_of(double x) {
    const LogParts p = log_parts(x);
    return p.k * 6.93147180369123816490e-01 -
           ((p.half_square - (p.rest + p.k * 1.90821492927058770002e-10)) - p.f);
}

static INLINE double log2_of(double x) {
    const LogParts p = log_parts(x);
    double high = p.f - p.half_square;
    uint64_t bits;
    std::memcpy(&bits, &high, 8);
    bits &= 0xFFFFFFFF00000000;  // so that products with the first part of 1 / log(2) are exact
    std::memcpy(&high, &bits, 8);
    const double low = ((p.f - high) - p.half_square) + p.rest;
    constexpr double FIRST = 1.44269504072144627571e+00, SECOND = 1.67517131648865118353e-10;
    const double of_high = high * FIRST, of_low = (low + high) * SECOND + low * FIRST, sum = p.k + of_high;
    return (of_low + ((p.k - sum) + of_high)) + sum;
}

}  // namespace suffice
