// Buckets of quantile sketches: their merges, and the bucket of a number. See statistics/quantile_sketch.py.
//
// A bucket has the numbers whose bits are equal but for the last ones, which are `dropped`.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lanes.hpp"

namespace suffice::buckets {

constexpr int BITS = 64, MANTISSA = 52;
constexpr int64_t EXPONENTS = 4096;  // signs with exponents

// The bits of a number as an integer, in the order of the numbers.
static INLINE int64_t ordered(double x) {
    const int64_t bits = bits_of(x);
    return bits ^ ((bits >> 63) & std::numeric_limits<int64_t>::max());
}

// Buckets in the order of their smallest values.
struct Sketch {
    Vector<const double> low, high, count;

    int64_t size() const { return low.size; }
    int64_t key(int64_t i) const { return ordered(low[i]); }
};

// Room for new buckets.
struct Joined {
    std::unique_ptr<double[]> low, high, count;
    int64_t size = 0;

    explicit Joined(int64_t most) : low(new double[most]), high(new double[most]), count(new double[most]) {}
};

// Two lists of buckets as one, in which those are joined whose values are equal without their last bits. Of
// equal ones, the first list is first.
static Joined merge(const Sketch& a, const Sketch& b, int dropped) {
    const int64_t N = a.size(), M = b.size();
    Joined out(N + M);
    if (N == 0 || M == 0) return out;
    int64_t i = 0, j = 0, n = -1, previous = (std::min(a.key(0), b.key(0)) >> dropped) - 1;
    while (i + j < N + M) {  // all is chosen without branches, which could not be predicted
        const int64_t s = std::min(i, N - 1), t = std::min(j, M - 1), key = a.key(s), other = b.key(t);
        const bool first = (j == M) | ((i < N) & (key <= other));
        const int64_t chosen = (first ? key : other) >> dropped;
        const bool fresh = chosen != previous;
        n += fresh;
        const double low = first ? a.low[s] : b.low[t], high = first ? a.high[s] : b.high[t];
        const double count = first ? a.count[s] : b.count[t];
        out.low[n] = fresh ? low : out.low[n];
        out.high[n] = fresh ? high : std::max(out.high[n], high);
        out.count[n] = fresh ? count : out.count[n] + count;
        i += first;
        j += !first;
        previous = chosen;
    }
    out.size = n + 1;
    return out;
}

// The highest bit of x, which is positive: without the one below it, x is not rounded up to another power.
static INLINE int highest_bit(int64_t x) { return int(bits_of(double(x & ~(x >> 1))) >> MANTISSA) - 1023; }

// How many bits must be dropped, at least `dropped`, so that at most `capacity` buckets are left; the signs
// are not. And the number of those buckets.
static std::pair<int, int64_t> bits_to_drop(const Sketch& a, int dropped, int64_t capacity) {
    int64_t joined[BITS] = {};  // neighbors that become equal when this bit is dropped
    int64_t n = a.size() > 0;
    for (int64_t i = 1; i < a.size(); i++) n += a.key(i) >> dropped != a.key(i - 1) >> dropped;
    if (n <= capacity) return {dropped, n};
    int64_t previous = a.key(0);
    for (int64_t i = 1; i < a.size(); i++) {
        const int64_t key = a.key(i), differ = (key ^ previous) >> dropped;
        if (differ > 0) joined[highest_bit(differ) + dropped]++;
        previous = key;
    }
    while (n > capacity && dropped < BITS - 1) n -= joined[dropped++];
    return {dropped, n};
}

// The `n` buckets that are different without their last bits.
static Joined compress(const Sketch& a, int dropped, int64_t n) {
    Joined out(n);
    for (int64_t i = 0; i < a.size(); out.size++) {
        const int64_t key = a.key(i) >> dropped;
        double high = a.high[i], count = a.count[i];
        out.low[out.size] = a.low[i];
        for (i++; i < a.size() && a.key(i) >> dropped == key; i++) {
            high = std::max(high, a.high[i]);
            count += a.count[i];
        }
        out.high[out.size] = high, out.count[out.size] = count;
    }
    return out;
}

// --- the bucket of a number --------------------------------------------------------------------------------

// Where to look for a number among buckets with these largest values, a few entries for each of them.
//
// Numbers of sign and exponent e have the entries from first[e] on, as many as their buckets need, at equal
// distances: `shift` is that of the mantissas.
class Table {
  public:
    explicit Table(Vector<const double> high) : first(EXPONENTS + 1), shift(EXPONENTS, MANTISSA) {
        for (int64_t j = 0; j < high.size; j++) first[exponent(ordered(high[j])) + 1]++;
        for (int64_t e = 0; e < EXPONENTS; e++) {
            int64_t size = 1;
            for (; size < 2 * first[e + 1]; size *= 2) shift[e]--;
            first[e + 1] = first[e] + size;
        }
        start.resize(first[EXPONENTS]);
        int64_t j = 0;
        for (int64_t e = 0; e < EXPONENTS; e++)
            for (int64_t c = 0; c < first[e + 1] - first[e]; c++) {
                const int64_t least = (e - EXPONENTS / 2) * (int64_t(1) << MANTISSA) + (c << shift[e]);
                while (j < high.size - 1 && ordered(high[j]) < least) j++;
                start[first[e] + c] = j;
            }
    }

    // A bucket that is not above that of x, and near it.
    INLINE int64_t operator[](double x) const {
        const int64_t key = ordered(x), e = exponent(key), mantissa = key & ((int64_t(1) << MANTISSA) - 1);
        return start[first[e] + (mantissa >> shift[e])];
    }

  private:
    static INLINE int64_t exponent(int64_t key) { return (key >> MANTISSA) + EXPONENTS / 2; }

    std::vector<int32_t> first, start;
    std::vector<int32_t> shift;
};

// The first bucket whose largest value is not below x, for each x; the last one if there is none, and the
// number of buckets for NaN.
template <class Code>
static void find_buckets(Vector<const double> x, Vector<const double> high, Code* out) {
    const int64_t B = high.size;
    const auto put = [&](auto bucket_from) {
        for (int64_t i = 0; i < x.size; i++) {
            const double v = x[i] + 0.0;  // of the two zeros one
            if (v != v) {
                out[i] = Code(B);
                continue;
            }
            int64_t j = bucket_from(v);
            while (j < B - 1 && high[j] < v) j++;
            out[i] = Code(j);
        }
    };
    if (EXPONENTS + 4 * B < 8 * x.size) {  // worth a table
        const Table table(high);
        put([&](double v) { return table[v]; });
    } else {
        put([&](double v) { return std::lower_bound(high.data, high.data + B - 1, v) - high.data; });
    }
}

}  // namespace suffice::buckets
