// The string kernel by dynamic programming. Lodhi et al., "Text classification using string kernels", 2002.
//
// Strings are numbers of symbols, one after the other. Matches of a symbol are taken from a list, and what decays
// between them by powers, so that the innermost loop has no chain and takes several symbols at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "lanes.hpp"

namespace suffice {

// String s has the symbols from offset[s] to offset[s + 1].
struct Strings {
    const int64_t* symbols;
    Vector<const int64_t> offset;

    int64_t size() const { return offset.size - 1; }
    Vector<const int64_t> operator[](int64_t s) const {
        return {symbols + offset[s], offset[s + 1] - offset[s]};
    }
    int64_t longest() const {
        int64_t most = 0;
        for (int64_t s = 0; s < size(); s++) most = std::max(most, (*this)[s].size);
        return most;
    }
};

// K_n(s, t) = the sum over common subsequences of length n, and their places in s and t, of decay^(the symbols that
// both places span).
class Subsequences {
  public:
    Subsequences(int64_t n, double decay, int64_t n_symbols, int64_t longest)
        : n(n), decay(decay), first(n_symbols, -1), after(longest), power(longest + 1, 1.0),
          near(std::min(n, longest) * (longest + 1)), columns(longest + 1) {
        for (int64_t j = 0; j < longest; j++) power[j + 1] = normal(decay * power[j]);
    }

    double operator()(Vector<const int64_t> s, Vector<const int64_t> t) {
        if (std::min(s.size, t.size) < n) return 0.0;
        list_matches(t);
        std::fill_n(level(0), t.size + 1, 1.0);
        for (int64_t l = 1; l < n; l++) std::fill_n(level(l), t.size + 1, 0.0);
        double total = 0.0;
        for (int64_t i = 0; i < s.size; i++) {
            const int64_t start = first[s[i]];
            for (int64_t j = start; j >= 0; j = after[j]) total += level(n - 1)[j];
            for (int64_t l = n - 1; l > 0; l--) read(start, t.size, level(l - 1), level(l));
        }
        for (int64_t j = 0; j < t.size; j++) first[t[j]] = -1;
        return decay * decay * total;
    }

  private:
    static constexpr double TINY = 1e-290;  // taken as zero: subnormal numbers are slow

    static INLINE double normal(double x) { return x > TINY ? x : 0.0; }

    // near[l, j] is K'_l of what was read of s and the first j symbols of t: common subsequences of length l, by what
    // they span up to the ends of both.
    double* level(int64_t l) { return near.data() + l * columns; }

    // Where each symbol is in t: first[symbol], and after[j] next; -1 ends the list.
    void list_matches(Vector<const int64_t> t) {
        for (int64_t j = t.size - 1; j >= 0; j--) {
            after[j] = first[t[j]];
            first[t[j]] = j;
        }
    }

    // One more symbol of s, which is in t from `start` on:
    //     longer[j + 1] = decay longer[j + 1] + sum over matches i <= j of decay^(j - i + 2) shorter[i]
    void read(int64_t start, int64_t T, const double* shorter, double* longer) {
        fade(longer + 1, start < 0 ? T : start);
        double ends = 0.0;  // the sum up to the last match
        for (int64_t match = start, last = start; match >= 0; last = match, match = after[match]) {
            ends = power[match - last] * ends + decay * decay * shorter[match];
            const int64_t stop = after[match] < 0 ? T : after[match];
            add(longer + match + 1, stop - match, ends);
        }
    }

    // near[j] = decay near[j]
    INLINE void fade(double* near, int64_t size) const {
        for (int64_t j = 0; j < size; j++) near[j] = normal(decay * near[j]);
    }

    // near[j] = decay near[j] + decay^j ends
    INLINE void add(double* __restrict near, int64_t size, double ends) const {
        const double* powers = power.data();
        for (int64_t j = 0; j < size; j++) near[j] = normal(decay * near[j] + powers[j] * ends);
    }

    int64_t n;
    double decay;
    std::vector<int64_t> first, after;
    std::vector<double> power, near;
    int64_t columns;
};

// out[a, b] = K_n(s_a, t_b); if they are the same strings, only b >= a is computed.
static void subsequences(const Strings& s, const Strings& t, int64_t n_symbols, int64_t n, double decay, bool same,
                         Matrix<double> out) {
    Subsequences kernel(n, decay, n_symbols, t.longest());
    for (int64_t a = 0; a < out.rows; a++)
        for (int64_t b = same ? a : 0; b < out.columns; b++) {
            out[a][b] = kernel(s[a], t[b]);
            if (same) out[b][a] = out[a][b];
        }
}

// out[a] = K_n(s_a, s_a)
static void own_subsequences(const Strings& s, int64_t n_symbols, int64_t n, double decay, double* out) {
    Subsequences kernel(n, decay, n_symbols, s.longest());
    for (int64_t a = 0; a < s.size(); a++) out[a] = kernel(s[a], s[a]);
}

}  // namespace suffice
