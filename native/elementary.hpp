// exp, log, log1p, digamma and log gamma of a number or of lanes, with the same bits: which of libm's functions
// run depends on the CPU.
//
// Errors of exp, log and log1p are below one unit in the last place. NaN stays as it is, and a result outside the range of floats
// is infinite, subnormal or zero, as IEEE 754 rounds it.
#pragma once

#include <type_traits>

#include "lanes.hpp"

namespace suffice {

constexpr double LOG2E = 1.4426950408889634;
constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
constexpr double ROUND = 6755399441055744.0;  // 1.5 2^52: adding it leaves an integer in the lowest bits
constexpr int64_t ROUND_BITS = 0x4338000000000000;
// bits of 1, less those of the square root of 1 / 2
constexpr int64_t ROOT_HALF_TO_ONE = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD;
constexpr double BEYOND = std::numeric_limits<double>::infinity();

// A number as a number or as lanes.
template <class F>
static INLINE F as(double x) {
    if constexpr (std::is_same_v<F, double>)
        return x;
    else
        return all(x);
}

// exp(r + error) = 1 + r + error + r^2 q(r) for |r| <= log(2) / 2; q has degree 9 and is exact at Chebyshev's
// nodes.
template <class F>
static INLINE F exp_near_zero(const F& r, const F& error) {
    F r2 = r * r, r4 = r2 * r2;
    F q0 = (0.5000000000000001 + r * 0.16666666666666669) +
           r2 * (0.04166666666662416 + r * 0.008333333333330063);
    F q4 = (0.0013888888917199863 + r * 0.00019841269863042963) +
           r2 * (2.4801521317484083e-05 + r * 2.7557268476553695e-06);
    F q8 = 2.7620078203806394e-07 + r * 2.5100377619606372e-08;
    return 1.0 + (r + (r2 * (q0 + r4 * (q4 + r4 * q8)) + error));
}

// exp(x) = 2^k exp(r), with x = k log(2) + r. The power has two factors: not every 2^k is a float.
template <class F>
static INLINE F exp(const F& x) {
    F y = least(as<F>(710.0), greatest(as<F>(-746.0), x));
    F shifted = y * LOG2E + ROUND, k = shifted - ROUND, half = k * 0.5 + ROUND;
    F high = y - k * LN2_HIGH, low = k * LN2_LOW, r = high - low;
    F p = exp_near_zero<F>(r, (high - r) - low);
    auto first = bits_of(half) - (ROUND_BITS - 1023);
    auto second = bits_of(shifted) - bits_of(half) + int64_t(1023);
    return p * of_bits(shift_left(first, 52)) * of_bits(shift_left(second, 52));
}

// x = 2^k m, with sqrt(1/2) <= m < sqrt(2), of positive floats that are not subnormal
template <class F>
static INLINE void split(const F& x, F& k, F& m) {
    auto bits = bits_of(x), exponent = shift_right(bits + ROOT_HALF_TO_ONE, 52);
    k = of_bits(exponent + ROUND_BITS) - (ROUND + 1023.0);
    m = of_bits(bits - shift_left(exponent - int64_t(1023), 52));
}

// k log(2) + log(1 + f) + c for a small c: log(1 + f) = 2 s + 2 s^3 / 3 + ... with s = f / (2 + f), and the
// coefficients of fdlibm
template <class F>
static INLINE F log_of(const F& k, const F& f, const F& c) {
    F s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    F even = 1.818357216161805012e-01 + w * 1.479819860511658591e-01;
    even = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * even));
    F odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    return k * LN2_HIGH - ((half - (s * (half + (odd + even)) + (k * LN2_LOW + c))) - f);
}

// `out` for x between `least` and infinity; what log(x - least) is elsewhere
template <class F>
static INLINE F log_ends(const F& x, double least, F out) {
    out = select(x < BEYOND, out, x);
    out = select(x < least, as<F>(std::numeric_limits<double>::quiet_NaN()), out);
    return select(x == as<F>(least), as<F>(-BEYOND), out);
}

template <class F>
static INLINE F log(const F& x) {
    F y = select(x < BEYOND, select(0.0 < x, x, as<F>(1.0)), as<F>(1.0));
    auto subnormal = y < std::numeric_limits<double>::min();
    F k, m;
    split(select(subnormal, y * 0x1p54, y), k, m);
    k = select(subnormal, k - 54.0, k);
    return log_ends(x, 0.0, log_of<F>(k, m - 1.0, as<F>(0.0)));
}

// log(1 + x) = log(u + d), with u the float next to 1 + x: log(u) + d / u, or of x itself where that is near
// 0
template <class F>
static INLINE F log1p(const F& x) {
    F y = select(x < BEYOND, select(-1.0 < x, x, as<F>(0.0)), as<F>(0.0)), u = 1.0 + y, k, m;
    F d = select(y < 1.0, y - (u - 1.0), 1.0 - (u - y));
    split(u, k, m);
    auto near = k == as<F>(0.0);
    F out = log_of<F>(k, select(near, y, m - 1.0), select(near, as<F>(0.0), d / u));
    return log_ends(x, -1.0, select(x == as<F>(0.0), x, out));
}

// log2(x) of a positive float that is normal: as `log`, in two parts of which the first is of 32 bits, so that
// its products with the first part of 1 / log(2) are exact. The coefficients are those of FreeBSD.
static INLINE double log2(double x) {
    double k, m;
    split(x, k, m);
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    double even = 1.818357216161805012e-01 + w * 1.479819860511658591e-01;
    even = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * even));
    const double odd = w * (3.999999999940941908e-01 +
                            w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double high = of_bits(bits_of(f - half) & int64_t(0xFFFFFFFF00000000));
    const double low = ((f - high) - half) + s * (half + (odd + even));
    constexpr double FIRST = 1.44269504072144627571e+00, SECOND = 1.67517131648865118353e-10;
    const double of_high = high * FIRST, of_low = (low + high) * SECOND + low * FIRST, sum = k + of_high;
    return (of_low + ((k - sum) + of_high)) + sum;
}

// --- digamma and log gamma, of x >= 0 ----------------------------------------------------------------------------
//
// By the recurrence from x to x + 6 = z, and Stirling's formulas there: their series in 1 / z^2 are polynomials of
// degree 7 that are exact at Chebyshev's nodes of z >= 6. Errors of digamma are below ten units in the last place
// of max(1, |digamma(x)|), those of log gamma below five of max(30, |log gamma(x)|, x log(x + 6)).

constexpr double WITHOUT_STEPS = 1e30;  // six steps are nothing from here on

// x (x + 1) ... (x + 5)
template <class F>
static INLINE F six_steps(const F& x) {
    F u = x * (x + 5.0);
    return u * (u + 4.0) * (u + 6.0);
}

// digamma(x) - log(x + 6)
template <class F>
static INLINE F digamma_below_log(const F& x) {
    F u = x * (x + 5.0);
    F steps = (2.0 * x + 5.0) * (3.0 * u * u + 20.0 * u + 24.0) / six_steps(x);
    steps = select(x < WITHOUT_STEPS, steps, as<F>(0.0));
    F i = 1.0 / (x + 6.0), j = i * i;
    F p = 0.0075735577568517305 - j * (0.020916085217393375 - j * (0.0751835876696361 - j * 0.2297854245497472));
    p = 0.08333333333333331 -
        j * (0.008333333333265424 - j * (0.003968253916496818 - j * (0.004166651522951171 - j * p)));
    return -0.5 * i - j * p - steps;
}

template <class F>
static INLINE F digamma(const F& x) {
    return select(x < 0.0, as<F>(std::numeric_limits<double>::quiet_NaN()), log(x + 6.0) + digamma_below_log(x));
}

template <class F>
static INLINE F log_gamma(const F& x) {
    auto near = x < WITHOUT_STEPS;
    F z = x + select(near, as<F>(6.0), as<F>(0.0)), i = 1.0 / z, j = i * i;
    F p = 0.0008416117568838537 -
          j * (0.001906405156123843 - j * (0.005901549297067006 - j * 0.016450184918873966));
    p = i * (0.08333333333333333 -
             j * (0.0027777777777734623 - j * (0.0007936507903643918 - j * (0.0005952371351851137 - j * p))));
    constexpr double HALF_LOG_2PI = 0.9189385332046727;
    F out = (z - 0.5) * log(z) - z + HALF_LOG_2PI + p - log(select(near, six_steps(x), as<F>(1.0)));
    out = select(x < BEYOND, out, x);
    return select(x < 0.0, as<F>(std::numeric_limits<double>::quiet_NaN()), out);
}

// to[i] = f(from[i]) for `size` numbers; `from` may be `to`
template <class Function>
static INLINE void each_of(Function f, const double* from, int64_t size, double* to) {
    int64_t i = 0;
    for (; i + f64s::N <= size; i += f64s::N) store(to + i, f(load(from + i)));
    for (; i < size; i++) to[i] = f(from[i]);
}

static INLINE void exp_of(const double* x, int64_t size, double* out) {
    each_of([](const auto& v) { return exp(v); }, x, size, out);
}

static INLINE void log_of(const double* x, int64_t size, double* out) {
    each_of([](const auto& v) { return log(v); }, x, size, out);
}

static INLINE void log1p_of(const double* x, int64_t size, double* out) {
    each_of([](const auto& v) { return log1p(v); }, x, size, out);
}

static INLINE void digamma_of(const double* x, int64_t size, double* out) {
    each_of([](const auto& v) { return digamma(v); }, x, size, out);
}

static INLINE void log_gamma_of(const double* x, int64_t size, double* out) {
    each_of([](const auto& v) { return log_gamma(v); }, x, size, out);
}

}  // namespace suffice
