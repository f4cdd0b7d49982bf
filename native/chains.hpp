// Forward-backward and Viterbi recursions of chains of K states. Li ch. 10 and 11.
//
// Potentials are not negative, and the largest of each step is one. Sequences are concatenated: s has the
// rows offset[s] to offset[s + 1]. Transitions are (1, K, K), or (N, K, K), those into each step.
//
// Lanes are states, which are padded to P, a multiple of eight; or, for few states, eight sequences. Sums
// over states have one order in both, so that no bit of a sequence depends on those that are beside it.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "elementary.hpp"

namespace suffice {

constexpr int64_t W = f64s::N;
constexpr int64_t STEPS = 16;  // whose moves are added together
constexpr double LEAST = 1e-300;  // what is smaller has no reciprocal, and is summed by logarithms
constexpr int64_t FEW_STATES = 16;       // eight sequences in lanes are faster then, while in the cache
constexpr int64_t MOST_ROOM = 1 << 17;   // numbers of eight sequences in lanes, 1 MiB

struct Chains {
    Matrix<const double> E;  // potentials of states, (N, K), or their logarithms
    const double* start;     // (K,)
    Tensor<const double> moves;
    Vector<const int64_t> offset;

    int64_t K() const { return E.columns; }
    int64_t size() const { return offset.size - 1; }
    int64_t length(int64_t s) const { return offset[s + 1] - offset[s]; }
    bool each() const { return moves.size > 1; }
    int64_t longest() const {
        int64_t most = 0;
        for (int64_t s = 0; s < size(); s++) most = std::max(most, length(s));
        return most;
    }
};

// Scratch of one call, by lanes.
class Room {
  public:
    explicit Room(int64_t lanes) : memory(new double[(lanes + 1) * W]) {
        next = memory.get();
        while (reinterpret_cast<uintptr_t>(next) % 64) next++;
    }

    double* take(int64_t lanes) { return std::exchange(next, next + lanes * W); }
    double* zeros(int64_t lanes) {
        double* x = take(lanes);
        std::fill(x, x + lanes * W, 0.0);
        return x;
    }

  private:
    std::unique_ptr<double[]> memory;
    double* next;
};

// --- lanes are states --------------------------------------------------------------------------------------

// Rows of K numbers, as V lanes of which the last are zeros.
struct Padded {
    int64_t K, V, P;
    Mask<double> inside;  // of the last lanes

    explicit Padded(int64_t K) : K(K), V((K + W - 1) / W), P(V * W) {
        int64_t within[W];
        for (int64_t i = 0; i < W; i++) within[i] = (V - 1) * W + i < K ? -1 : 0;
        inside = load(within);
    }

    // Row n of a matrix into `to`. What is read beyond the row is dropped.
    INLINE void row(Matrix<const double> M, int64_t n, double* to) const {
        const double* from = M[n];
        if (n * K + P > M.rows * K) {
            for (int64_t k = 0; k < P; k++) to[k] = k < K ? from[k] : 0.0;
            return;
        }
        for (int64_t v = 0; v + 1 < V; v++) store(to + v * W, load(from + v * W));
        if (V > 0) store(to + (V - 1) * W, select(inside, load(from + (V - 1) * W), f64s{}));
    }

    // The sum of lanes, of which those beyond K are zeros: of few in the same order.
    INLINE double total(const f64s& x) const { return K > 4 ? sum(x) : (x[0] + x[2]) + (x[1] + x[3]); }

    INLINE void put(const double* from, double* to) const {
        const int64_t whole = K / W * W;
        for (int64_t k = 0; k < whole; k += W) store(to + k, load(from + k));
        for (int64_t k = whole; k < K; k++) to[k] = from[k];
    }

    void matrix(Matrix<const double> M, double* to) const {
        for (int64_t i = 0; i < K; i++) row(M, i, to + i * P);
    }
};

// Rows of transitions. What stands in lanes beyond K is arbitrary, if the stride is not P.
struct Move {
    const double* A;
    int64_t stride;

    INLINE const double* operator[](int64_t i) const { return A + i * stride; }
};

// Transitions into each step: those that are the same at all steps are padded by zeros, and the last ones,
// beyond which nothing may be read.
class Into {
  public:
    Into(const Padded& pad, Tensor<const double> moves, double* to) : pad(pad), moves(moves), to(to) { read(); }

    void read() {  // again, where they have changed
        if (moves.size == 1) pad.matrix(moves[0], to);
    }

    INLINE Move operator[](int64_t n) const {
        if (moves.size == 1) return {to, pad.P};
        const int64_t K = pad.K;
        if ((n + 1) * K * K + pad.P - K <= moves.size * K * K) return {moves[n].data, K};
        pad.matrix(moves[n], to);
        return {to, pad.P};
    }

  private:
    const Padded& pad;
    Tensor<const double> moves;
    double* to;
};

// out[j] = sum_i a[i] A[i, j] of B lanes, by fours in i
template <int B>
static INLINE void times_block(const double* a, const double* A, int64_t K, int64_t stride, double* out) {
    f64s s[B] = {};
    int64_t i = 0;
    for (; i + 4 <= K; i += 4)
        for (int b = 0; b < B; b++) {
            const double* m = A + i * stride + b * W;
            s[b] += (a[i] * load(m) + a[i + 1] * load(m + stride)) +
                    (a[i + 2] * load(m + 2 * stride) + a[i + 3] * load(m + 3 * stride));
        }
    for (; i < K; i++)
        for (int b = 0; b < B; b++) s[b] += a[i] * load(A + i * stride + b * W);
    for (int b = 0; b < B; b++) store(out + b * W, s[b]);
}

static INLINE void times(const double* a, const Move& A, const Padded& pad, double* out) {
    constexpr int B = FIT / 2;
    int64_t v = 0;
    for (; v + B <= pad.V; v += B) times_block<B>(a, A.A + v * W, pad.K, A.stride, out + v * W);
    if (B > 2 && v + 2 <= pad.V) {
        times_block<2>(a, A.A + v * W, pad.K, A.stride, out + v * W);
        v += 2;
    }
    for (; v < pad.V; v++) times_block<1>(a, A.A + v * W, pad.K, A.stride, out + v * W);
    if (A.stride != pad.P) {
        double* last = out + pad.P - W;
        store(last, select(pad.inside, load(last), f64s{}));
    }
}

// One sequence: its filtered states into `alpha`, and scales; whether all could be held. What makes the step
// before sum to one is applied late: the next does not wait for it.
static INLINE bool filter(const Chains& c, const Padded& pad, const Into& into, int64_t s, double* alpha,
                          double* scale, double* e) {
    const int64_t first = c.offset[s], T = c.length(s);
    double share = 1.0;
    for (int64_t n = 0; n < T; n++) {
        double* here = alpha + n * pad.P;
        if (n == 0) {
            for (int64_t k = 0; k < pad.P; k++) here[k] = k < pad.K ? c.start[k] : 0.0;
        } else {
            double* before = here - pad.P;
            times(before, into[first + n], pad, here);
            for (int64_t k = 0; k < pad.P; k += W) store(before + k, load(before + k) * share);
        }
        pad.row(c.E, first + n, e);
        f64s total{};
        for (int64_t k = 0; k < pad.P; k += W) {
            f64s joint = load(here + k) * load(e + k) * share;
            store(here + k, joint);
            total += joint;
        }
        scale[n] = pad.total(total);
        if (!(scale[n] > LEAST)) return false;
        share = 1.0 / scale[n];
    }
    if (T > 0)
        for (int64_t k = (T - 1) * pad.P; k < T * pad.P; k += W) store(alpha + k, load(alpha + k) * share);
    return true;
}

// pairs[i, j] += sum_t left[t, i] right[t, j]
template <int A>
static INLINE void add_outer(const double* left, const double* right, int64_t count, const Padded& pad,
                             double* pairs) {
    for (int64_t i = 0; i < pad.K; i += A)
        for (int64_t j = 0; j < pad.P; j += W) {
            f64s s[A];
            for (int a = 0; a < A; a++) s[a] = load(pairs + (i + a) * pad.P + j);
            for (int64_t t = 0; t < count; t++) {
                f64s r = load(right + t * pad.P + j);
                for (int a = 0; a < A; a++) s[a] += left[t * pad.P + i + a] * r;
            }
            for (int a = 0; a < A; a++) store(pairs + (i + a) * pad.P + j, s[a]);
        }
}

static INLINE bool moderate(double x) { return 1e-50 < x && x < 1e50; }

struct Marginals {
    Matrix<double> gamma;
    Tensor<double> pairs;
    double* scale;
    bool *lost, *faded;
};

// `smooth` of one sequence after the other.
class ByStates {
  public:
    ByStates(const Chains& c, Tensor<const double> turned, int64_t longest, const Marginals& out)
        : c(c), out(out), pad(c.K()), room((longest + 3 * pad.P + 2 * STEPS + 2) * pad.V),
          into(pad, c.moves, room.zeros(pad.P * pad.V)), onwards(pad, turned, room.zeros(pad.P * pad.V)),
          pairs(room.zeros(pad.P * pad.V)), left(room.zeros(STEPS * pad.V)), right(room.zeros(STEPS * pad.V)),
          follow(room.take(pad.V)), e(room.take(pad.V)), alpha(room.take(longest * pad.V)) {}

    void operator()(int64_t s, double w) {
        const int64_t first = c.offset[s], T = c.length(s), P = pad.P;
        out.lost[s] = !filter(c, pad, into, s, alpha, out.scale + first, e);
        if (T == 0 || w == 0.0 || out.lost[s]) return;
        const double* last = alpha + (T - 1) * P;
        for (int64_t k = 0; k < P; k++) follow[k] = 1.0;
        for (int64_t k = 0; k < pad.K; k++) out.gamma[first + T - 1][k] = w * last[k];
        int64_t count = 0;
        for (int64_t n = T - 1; n > 0; n--) {
            if (!step(first + n, alpha + (n - 1) * P, w, left + count * P, right + count * P)) {
                out.faded[s] = true;
                return;
            }
            if (c.each()) {
                of_step(first + n);
            } else if (++count == STEPS || n == 1) {
                add_outer<FIT>(left, right, count, pad, pairs);
                count = 0;
            }
        }
    }

    // The moves of all sequences, after `scale` are those of the steps.
    void finish() {
        if (c.each()) return;
        for (int64_t i = 0; i < pad.K; i++)
            for (int64_t j = 0; j < pad.K; j++) out.pairs.data[i * pad.K + j] += pairs[i * pad.P + j];
    }

  private:
    // follow[i] = sum_j A[i, j] right[j], with right[j] = follow[j] E[n, j]; gamma of step n - 1
    INLINE bool step(int64_t n, const double* before, double w, double* l, double* r) {
        const int64_t P = pad.P;
        pad.row(c.E, n, e);
        f64s most{};
        for (int64_t k = 0; k < P; k += W) {
            f64s x = load(follow + k) * load(e + k);
            most = greatest(most, x);
            store(r + k, x);
        }
        const double by = largest(most);
        if (!moderate(by))
            for (int64_t k = 0; k < P; k++) r[k] /= by;
        times(r, onwards[n], pad, follow);
        f64s totals{};
        for (int64_t k = 0; k < P; k += W) totals += load(before + k) * load(follow + k);
        const double total = pad.total(totals);
        if (!(LEAST < total && total < BEYOND)) return false;
        const double share = w / total;
        for (int64_t k = 0; k < P; k += W) {
            f64s x = share * load(before + k);
            store(l + k, x);
            store(e + k, x * load(follow + k));
        }
        pad.put(e, out.gamma[n - 1]);
        return true;
    }

    void of_step(int64_t n) {
        for (int64_t i = 0; i < pad.K; i++)
            for (int64_t j = 0; j < pad.K; j++) out.pairs[n][i][j] = left[i] * right[j] * c.moves[n][i][j];
    }

    const Chains& c;
    const Marginals& out;
    Padded pad;
    Room room;
    Into into, onwards;
    double *pairs, *left, *right, *follow, *e, *alpha;
};

// --- lanes are sequences -----------------------------------------------------------------------------------

// out[j] = sum_i a[i] A[i, j] for eight vectors a, by fours in i
template <int B>
static INLINE void eight_times_block(const double* a, const double* A, int64_t K, double* out) {
    f64s s[B] = {};
    int64_t i = 0;
    for (; i + 4 <= K; i += 4) {
        f64s a0 = load(a + i * W), a1 = load(a + (i + 1) * W);
        f64s a2 = load(a + (i + 2) * W), a3 = load(a + (i + 3) * W);
        for (int b = 0; b < B; b++) {
            const double* m = A + i * K + b;
            s[b] += (a0 * m[0] + a1 * m[K]) + (a2 * m[2 * K] + a3 * m[3 * K]);
        }
    }
    for (; i < K; i++)
        for (int b = 0; b < B; b++) s[b] += load(a + i * W) * A[i * K + b];
    for (int b = 0; b < B; b++) store(out + b * W, s[b]);
}

static INLINE void eight_times(const double* a, const double* A, int64_t K, double* out) {
    constexpr int B = FIT / 2;
    int64_t j = 0;
    for (; j + B <= K; j += B) eight_times_block<B>(a, A + j, K, out + j * W);
    for (; j < K; j++) eight_times_block<1>(a, A + j, K, out + j * W);
}

// sum_k f(k) of lanes, in the order in which `sum` adds eight states
template <class Function>
static INLINE f64s sum_of_states(int64_t K, Function f) {
    f64s t[W] = {};
    for (int64_t k = 0; k < K; k += W)
        for (int64_t i = 0; i < std::min(W, K - k); i++) t[i] += f(k + i);
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

// out[i, j] += sum_t left[t, i] right[t, j] of lanes, for I columns and J
template <int A, int B>
static INLINE void add_eight_outer(const double* left, int64_t I, const double* right, int64_t J,
                                   int64_t count, double* out) {
    f64s s[A][B];
    for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++) s[a][b] = load(out + (a * J + b) * W);
    for (int64_t t = 0; t < count; t++) {
        f64s r[B];
        for (int b = 0; b < B; b++) r[b] = load(right + (t * J + b) * W);
        for (int a = 0; a < A; a++) {
            f64s l = load(left + (t * I + a) * W);
            for (int b = 0; b < B; b++) s[a][b] += l * r[b];
        }
    }
    for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++) store(out + (a * J + b) * W, s[a][b]);
}

template <int A>
static INLINE void add_eight_rows(const double* left, int64_t I, const double* right, int64_t J,
                                  int64_t count, double* out) {
    constexpr int B = REGISTERS == 1 ? 4 : REGISTERS == 2 ? 2 : 1;
    int64_t j = 0;
    for (; j + B <= J; j += B) add_eight_outer<A, B>(left, I, right + j * W, J, count, out + j * W);
    for (; j < J; j++) add_eight_outer<A, 1>(left, I, right + j * W, J, count, out + j * W);
}

static void add_eight_outers(const double* left, int64_t I, const double* right, int64_t J, int64_t count,
                             double* out) {
    constexpr int A = REGISTERS == 1 ? 4 : 2;
    int64_t i = 0;
    for (; i + A <= I; i += A) add_eight_rows<A>(left + i * W, I, right, J, count, out + i * J * W);
    for (; i < I; i++) add_eight_rows<1>(left + i * W, I, right, J, count, out + i * J * W);
}

// Eight sequences at a time, for transitions that are the same at all steps. A sequence has the steps 0 to
// T - 1 of the longest; beyond its own end nothing is added.
class Eight {
  public:
    Eight(const Chains& c, int64_t longest, int64_t more)
        : c(c), K(c.K()), room(2 * longest * K + longest + more), E(room.take(longest * K)),
          alpha(room.take(longest * K)), scale(room.take(longest)) {}

    // The sequences `group`, of which there are `count`.
    void hold(const int64_t* group, int64_t count) {
        T = 0, shortest = std::numeric_limits<int64_t>::max();
        for (int64_t i = 0; i < W; i++) {
            first[i] = i < count ? c.offset[group[i]] : 0, length[i] = i < count ? c.length(group[i]) : 0;
            T = std::max(T, length[i]), shortest = std::min(shortest, length[i]);
        }
    }

    // The rows of the sequences, as lanes of so many columns; beyond the end of a sequence all are `beyond`.
    void transpose(Matrix<const double> rows, int64_t columns, double beyond, double* to) const {
        const double* from[W];
        for (int64_t i = 0; i < W; i++) from[i] = rows[first[i]];
        const int64_t D = rows.columns;
        for (int64_t n = 0; n < shortest; n++)
            for (int64_t d = 0; d < D; d++)
                for (int64_t i = 0; i < W; i++) to[(n * columns + d) * W + i] = from[i][n * D + d];
        for (int64_t n = shortest; n < T; n++)
            for (int64_t d = 0; d < D; d++)
                for (int64_t i = 0; i < W; i++)
                    to[(n * columns + d) * W + i] = n < length[i] ? from[i][n * D + d] : beyond;
    }

    // Filtered states, and scales, from the potentials E.
    void filter() {
        f64s share = all(1.0);
        for (int64_t n = 0; n < T; n++) {
            double *here = alpha + n * K * W, *before = here - K * W, *e = E + n * K * W;
            if (n == 0) {
                for (int64_t k = 0; k < K; k++) store(here + k * W, all(c.start[k]));
            } else {
                eight_times(before, c.moves.data, K, here);
                for (int64_t k = 0; k < K; k++) store(before + k * W, load(before + k * W) * share);
            }
            f64s total = sum_of_states(K, [&](int64_t k) {
                f64s joint = load(here + k * W) * load(e + k * W) * share;
                store(here + k * W, joint);
                return joint;
            });
            store(scale + n * W, total);
            share = 1.0 / total;
        }
        for (int64_t k = (T - 1) * K; k < T * K; k++) store(alpha + k * W, load(alpha + k * W) * share);
    }

    // The same of rows, with the scales of the steps. Sequences that are lost have no length from here on.
    void filter(const int64_t* group, int64_t count, double* scales, bool* lost) {
        hold(group, count);
        transpose(c.E, K, 1.0, E);
        filter();
        for (int64_t i = 0; i < count; i++) {
            bool& gone = lost[group[i]];
            for (int64_t n = 0; n < length[i] && !gone; n++) {
                scales[first[i] + n] = scale[n * W + i];
                gone = !(scale[n * W + i] > LEAST);
            }
            if (gone) length[i] = 0;
        }
    }

    // The states of all steps, into the rows of the sequences.
    void put(Matrix<double> to) const {
        for (int64_t n = 0; n < T; n++)
            for (int64_t i = 0; i < W; i++)
                if (n < length[i])
                    for (int64_t k = 0; k < K; k++) to[first[i] + n][k] = alpha[(n * K + k) * W + i];
    }

  protected:
    const Chains& c;
    int64_t K, T = 0, shortest = 0;
    Room room;
    double *E, *alpha, *scale;  // alpha: filtered states, then smoothed ones
    int64_t first[W], length[W];
};

// `smooth` of eight sequences at a time.
class BySequences : protected Eight {
  public:
    BySequences(const Chains& c, Tensor<const double> turned, int64_t longest, int64_t more = 0)
        : Eight(c, longest, (c.K() + 2 * STEPS + 1) * c.K() + more), turned(turned.data),
          pairs(room.zeros(K * K)), left(room.take(STEPS * K)), right(room.take(STEPS * K)),
          follow(room.take(K)) {}

    void operator()(const int64_t* group, int64_t count, const double* weight, const Marginals& out) {
        filter(group, count, out.scale, out.lost);
        smooth(group, count, weight);
        put(out.gamma);
        for (int64_t i = 0; i < count; i++) out.faded[group[i]] = fades[i] != 0;
    }

    // The moves of all sequences.
    void finish(double* moves) const {
        for (int64_t i = 0; i < K * K; i++) moves[i] += sum(load(pairs + i * W));
    }

  protected:
    // Filtered states become the marginals of states, times weights: zero beyond the end of a sequence. Those
    // of transitions are added to `pairs`.
    void smooth(const int64_t* group, int64_t count, const double* weight) {
        double w[W];
        for (int64_t i = 0; i < W; i++) {
            w[i] = i < count ? weight[group[i]] : 0.0;
            if (w[i] == 0.0) length[i] = 0;
        }
        const f64s weights = load(w);
        const i64s steps = load(length);
        fades = {};
        for (int64_t k = 0; k < K; k++) store(follow + k * W, all(1.0));
        for (double* last = alpha + (T - 1) * K * W; last < alpha + T * K * W; last += W)
            store(last, select(steps == all(T), weights * load(last), f64s{}));
        int64_t held = 0;
        for (int64_t n = T - 1; n > 0; n--) {
            i64s outside = steps < all(n + 1), last = steps == all(n);
            double *r = right + held * K * W, *l = left + held * K * W, *before = alpha + (n - 1) * K * W;
            f64s most{};
            for (int64_t k = 0; k < K; k++) {
                f64s x = load(follow + k * W) * load(E + (n * K + k) * W);
                most = greatest(most, x);
                store(r + k * W, x);
            }
            i64s apart = (all(1e-50) < most) + (most < all(1e50)) + all<int64_t>(2);
            if (any(apart)) {
                f64s by = select(apart == all<int64_t>(0), all(1.0), most);
                for (int64_t k = 0; k < K; k++) store(r + k * W, load(r + k * W) / by);
            }
            eight_times(r, turned, K, follow);
            f64s total =
                sum_of_states(K, [&](int64_t k) { return load(before + k * W) * load(follow + k * W); });
            f64s share = weights / total;
            total = select(outside, all(1.0), total);
            fades += (select(LEAST < total, total, all(BEYOND)) < BEYOND) + all<int64_t>(1);
            const bool some_outside = any(outside);
            for (int64_t k = 0; k < K; k++) {
                f64s alone = load(before + k * W), x = share * alone, gamma = x * load(follow + k * W);
                if (some_outside) {
                    x = select(outside, f64s{}, x);
                    gamma = select(last, weights * alone, select(outside, f64s{}, gamma));
                    store(r + k * W, select(outside, f64s{}, load(r + k * W)));
                    store(follow + k * W, select(outside, all(1.0), load(follow + k * W)));
                }
                store(l + k * W, x);
                store(before + k * W, gamma);
            }
            if (++held == STEPS || n == 1) {
                add_eight_outers(left, K, right, K, held, pairs);
                held = 0;
            }
        }
    }

    const double* turned;
    double *pairs, *left, *right, *follow;
    i64s fades;
};

// Sequences in groups of eight of similar length, and others.
struct Groups {
    std::vector<int64_t> order;
    int64_t grouped = 0, longest = 0, longest_grouped = 0;

    // `columns` is how many numbers of a step have room.
    Groups(const Chains& c, int64_t columns) : order(c.size()) {
        const int64_t S = c.size(), K = c.K();
        std::iota(order.begin(), order.end(), 0);
        longest = c.longest();
        if (c.each() || S < W || K > FEW_STATES) return;
        auto longer = [&](int64_t a, int64_t b) { return c.length(a) > c.length(b); };
        std::stable_sort(order.begin(), order.end(), longer);
        // Groups whose steps are mostly those of sequences come first, once longer sequences are left out.
        std::vector<int64_t> groups, others;
        for (int64_t g = 0; g < S; g += W) {
            const int64_t end = std::min(g + W, S), T = c.length(order[g]);
            int64_t steps = 0;
            for (int64_t i = g; i < end; i++) steps += c.length(order[i]);
            const bool good = steps >= 5 * T && T > 0 && T * columns * W <= MOST_ROOM;
            if (good) longest_grouped = std::max(longest_grouped, T);
            auto& to = good ? groups : others;
            to.insert(to.end(), order.begin() + g, order.begin() + end);
        }
        grouped = groups.size();
        longest = others.empty() ? 0 : c.length(others[0]);
        std::copy(groups.begin(), groups.end(), order.begin());
        std::copy(others.begin(), others.end(), order.begin() + grouped);
    }

    // of_group(sequences, count) of each group, and of_one(sequence) of the others
    template <class Group, class One>
    void visit(Group of_group, One of_one) const {
        const int64_t S = order.size();
        for (int64_t g = 0; g < grouped; g += W) of_group(&order[g], std::min(W, grouped - g));
        for (int64_t g = grouped; g < S; g++) of_one(order[g]);
    }
};

// alpha[n, k] is the probability of state k at step n given the steps up to n. The product of scale over the
// steps of a sequence is its partition function. Lost are sequences without a path, or whose paths underflow.
static inline void forward(const Chains& c, Matrix<double> alpha, double* scale, bool* lost) {
    const Groups groups(c, c.K());
    const Padded pad(c.K());
    Eight eight(c, groups.longest_grouped, 0);
    Room room((groups.longest + 1 + pad.P) * pad.V);
    const Into into(pad, c.moves, room.zeros(pad.P * pad.V));
    double *e = room.take(pad.V), *states = room.take(groups.longest * pad.V);
    groups.visit(
        [&](const int64_t* group, int64_t count) {
            eight.filter(group, count, scale, lost);
            eight.put(alpha);
        },
        [&](int64_t s) {
            const int64_t first = c.offset[s];
            lost[s] = !filter(c, pad, into, s, states, scale + first, e);
            for (int64_t n = 0; n < c.length(s) && !lost[s]; n++)
                pad.put(states + n * pad.P, alpha[first + n]);
        });
}

// Marginals of states and transitions given all steps, times the weight of the sequence; `turned` are the
// transposed transitions. Faded are sequences of which floats could not hold what is asked of them: they are
// left out.
static inline void smooth(const Chains& c, Tensor<const double> turned, const double* weight, const Marginals& out) {
    const int64_t S = c.size(), K = c.K();
    const Groups groups(c, K);
    std::vector<double> kept(weight, weight + S);
    for (bool again = true; again;) {
        std::optional<BySequences> by_sequences;
        std::optional<ByStates> by_states;
        if (groups.grouped) by_sequences.emplace(c, turned, groups.longest_grouped);
        if (groups.grouped < S) by_states.emplace(c, turned, groups.longest, out);
        std::vector<char> before(out.faded, out.faded + S);
        groups.visit(
            [&](const int64_t* group, int64_t count) { (*by_sequences)(group, count, kept.data(), out); },
            [&](int64_t s) { (*by_states)(s, kept[s]); });
        if (by_sequences) by_sequences->finish(out.pairs.data);
        if (by_states) by_states->finish();
        again = false;
        for (int64_t s = 0; s < S; s++) {
            again |= out.faded[s] && !before[s];
            if (out.faded[s]) kept[s] = 0.0;
        }
        if (again) {
            std::fill(out.gamma.data, out.gamma[out.gamma.rows], 0.0);
            std::fill(out.pairs.data, out.pairs[out.pairs.size].data, 0.0);
        }
    }
    if (!c.each())
        for (int64_t i = 0; i < K * K * out.pairs.size; i++) out.pairs.data[i] *= c.moves.data[i];
}

// --- logarithms --------------------------------------------------------------------------------------------

// largest[n] = max_k U[n, k], or zero where there is none but -inf; out[n, k] = exp(U[n, k] - largest[n])
static inline void exp_below_largest(Matrix<const double> U, Matrix<double> out, double* largest) {
    const int64_t N = U.rows, K = U.columns, rows = std::max<int64_t>(1, 2048 / std::max<int64_t>(1, K));
    const Padded pad(K);
    for (int64_t start = 0; start < N; start += rows) {
        const int64_t end = std::min(start + rows, N);
        for (int64_t n = start; n < end; n++) {
            double most = -BEYOND;
            for (int64_t k = 0; k < K; k++) most = greatest(U[n][k], most);
            largest[n] = most = most > -BEYOND ? most : 0.0;
            if (n * K + pad.P <= (end - 1) * K)  // beyond the row are entries of the next
                for (int64_t k = 0; k < K; k += W) store(out[n] + k, load(U[n] + k) - most);
            else
                for (int64_t k = 0; k < K; k++) out[n][k] = U[n][k] - most;
        }
        exp_of(out[start], (end - start) * K, out[start]);
    }
}

// out[j] = max_i here[i] + A[i, j]
static INLINE void best_before(const double* here, const Move& A, const Padded& pad, double* out) {
    for (int64_t j = 0; j < pad.P; j += W) {
        auto reached = [&](int64_t i) { return here[i] + load(A[i] + j); };
        f64s most = reached(0);
        int64_t i = 1;
        for (; i + 2 <= pad.K; i += 2) most = greatest(greatest(reached(i + 1), reached(i)), most);
        for (; i < pad.K; i++) most = greatest(reached(i), most);
        store(out + j, most);
    }
}

// argmax_i x[i] + A[i, j], the first of several, with A[i, j] = a[i stride]
static INLINE int64_t first_best(const double* x, const double* a, int64_t stride, int64_t K) {
    int64_t best = 0;
    double most = x[0] + a[0];
    for (int64_t i = 1; i < K; i++) {
        const double reached = x[i] + a[i * stride];
        best = most < reached ? i : best;
        most = most < reached ? reached : most;
    }
    return best;
}

// The states of the best path of a sequence, and its score; of equal ones that of the first states, from the
// last step on. Scores of all states at all steps are kept; the path is found from them backwards.
class BestPath {
  public:
    explicit BestPath(const Chains& c)
        : c(c), pad(c.K()), room((c.longest() + 1 + pad.P) * pad.V), into(pad, c.moves, room.zeros(pad.P * pad.V)),
          u(room.take(pad.V)), scores(room.take(c.longest() * pad.V)) {}

    void read_moves() { into.read(); }

    // The path of the T steps from `first` on, of which there is one; and its score.
    double operator()(int64_t first, int64_t T, int64_t* path) {
        const int64_t K = pad.K, P = pad.P;
        for (int64_t n = 0; n < T; n++) {
            double* here = scores + n * P;
            if (n == 0)
                for (int64_t k = 0; k < P; k++) here[k] = k < K ? c.start[k] : 0.0;
            else
                best_before(here - P, into[first + n], pad, here);
            pad.row(c.E, first + n, u);
            for (int64_t k = 0; k < P; k += W) store(here + k, load(here + k) + load(u + k));
        }
        const double zero = 0.0, *last = scores + (T - 1) * P;
        int64_t best = first_best(last, &zero, 0, K);
        const double score = last[best];
        for (int64_t n = T - 1; n > 0; n--) {
            path[n] = best;
            const double* A = c.moves[c.each() ? first + n : 0][0];
            best = first_best(scores + (n - 1) * P, A + best, K, K);
        }
        path[0] = best;
        return score;
    }

  private:
    const Chains& c;
    Padded pad;
    Room room;
    Into into;
    double *u, *scores;
};

// The best path of each sequence, and its score.
static inline void best_paths(const Chains& c, int64_t* path, double* score) {
    BestPath best_path(c);
    for (int64_t s = 0; s < c.size(); s++)
        if (c.length(s) > 0) score[s] = best_path(c.offset[s], c.length(s), path + c.offset[s]);
}

// The best `count` paths of one sequence by decreasing score, (count, N), and their scores; -inf if there are
// fewer. scores[n, k, c] is that of the c-th best path to state k at step n, which comes from `states` and
// `ranks` there.
class BestPaths {
  public:
    BestPaths(const Chains& c, int64_t count)
        : c(c), N(c.E.rows), K(c.K()), count(count), scores(N * K * count, -BEYOND), states(N * K * count),
          ranks(N * K * count), taken(K) {
        for (int64_t n = 0; n < N; n++)
            for (int64_t j = 0; j < K; j++) into(n, j);
    }

    void write(Matrix<int64_t> paths, double* score) {
        if (N == 0) return;
        const double* last = &scores[(N - 1) * K * count];
        std::fill(taken.begin(), taken.end(), 0);
        for (int64_t r = 0; r < count; r++) {
            int64_t k = next(last, nullptr, score[r]);
            if (k < 0) return;
            int64_t rank = taken[k]++;
            for (int64_t n = N - 1; n >= 0; n--) {
                paths[r][n] = k;
                const int64_t at = (n * K + k) * count + rank;
                k = states[at], rank = ranks[at];
            }
        }
    }

  private:
    // The state whose next path is best, with its score, by scores (K, count) and transitions; -1 without one
    int64_t next(const double* from, const double* moves, double& score) const {
        int64_t best = -1;
        score = -BEYOND;
        for (int64_t i = 0; i < K; i++)
            if (taken[i] < count) {
                const double reached = from[i * count + taken[i]] + (moves ? moves[i * K] : 0.0);
                if (reached > score) best = i, score = reached;
            }
        return best;
    }

    void into(int64_t n, int64_t j) {
        const int64_t at = (n * K + j) * count;
        if (n == 0) {
            if (count > 0) scores[at] = c.start[j] + c.E[0][j];
            return;
        }
        std::fill(taken.begin(), taken.end(), 0);
        for (int64_t r = 0; r < count; r++) {
            double score;
            const int64_t best = next(&scores[(n - 1) * K * count], c.moves[c.each() ? n : 0][0] + j, score);
            if (best < 0) return;
            scores[at + r] = score + c.E[n][j];
            states[at + r] = best, ranks[at + r] = taken[best]++;
        }
    }

    const Chains& c;
    int64_t N, K, count;
    std::vector<double> scores;
    std::vector<int64_t> states, ranks, taken;
};

// out[j] = log sum_i exp(from[i] + A[i, j])
static INLINE void log_times(const double* from, const Move& A, const Padded& pad, double* out) {
    for (int64_t j = 0; j < pad.P; j += W) {
        auto reached = [&](int64_t i) { return from[i] + load(A[i] + j); };
        f64s most = all(-BEYOND), total{};
        for (int64_t i = 0; i < pad.K; i++) most = greatest(most, reached(i));
        most = select(-BEYOND < most, most, f64s{});
        for (int64_t i = 0; i < pad.K; i++) total += exp(reached(i) - most);
        store(out + j, most + log(total));
    }
}

// out[n, k] is the log of the sum over the paths that end in state k at step n: of out[n - 1, i] + A[i, k] +
// U[n, k]
static inline void log_forward(const Chains& c, Matrix<double> out) {
    const Padded pad(c.K());
    Room room((2 + pad.P) * pad.V);
    const Into into(pad, c.moves, room.zeros(pad.P * pad.V));
    double *here = room.take(pad.V), *u = room.take(pad.V);
    for (int64_t s = 0; s < c.size(); s++)
        for (int64_t n = c.offset[s]; n < c.offset[s + 1]; n++) {
            if (n == c.offset[s])
                for (int64_t k = 0; k < pad.P; k++) here[k] = k < pad.K ? c.start[k] : 0.0;
            else
                log_times(out[n - 1], into[n], pad, here);
            pad.row(c.E, n, u);
            for (int64_t k = 0; k < pad.P; k += W) store(here + k, load(here + k) + load(u + k));
            pad.put(here, out[n]);
        }
}

// out[n, k] is the log of the sum over the paths that follow state k at step n: of A[k, j] + U[n + 1, j] +
// out[n + 1, j]
static inline void log_backward(const Chains& c, Matrix<double> out) {
    const Padded pad(c.K());
    const int64_t K = pad.K;
    Room room((2 + pad.P) * pad.V);
    double *turned = room.zeros(pad.P * pad.V), *here = room.take(pad.V), *after = room.take(pad.V);
    auto turn = [&](Matrix<const double> A) {
        for (int64_t i = 0; i < K; i++)
            for (int64_t j = 0; j < K; j++) turned[j * pad.P + i] = A[i][j];
    };
    if (c.moves.size == 1) turn(c.moves[0]);
    for (int64_t s = 0; s < c.size(); s++)
        for (int64_t n = c.offset[s + 1] - 1; n >= c.offset[s]; n--) {
            if (n == c.offset[s + 1] - 1) {
                for (int64_t k = 0; k < K; k++) out[n][k] = 0.0;
                continue;
            }
            if (c.each()) turn(c.moves[n + 1]);
            for (int64_t k = 0; k < K; k++) after[k] = c.E[n + 1][k] + out[n + 1][k];
            log_times(after, {turned, pad.P}, pad, here);
            pad.put(here, out[n]);
        }
}

// pairs[n, i, j] += weight exp(before[n - 1, i] + A[i, j] + U[n, j] + after[n, j] - total) of one sequence,
// or the sum over its steps into pairs[0]
static inline void add_log_pairs(const Chains& c, Matrix<const double> before, Matrix<const double> after,
                          double total, double weight, Tensor<double> pairs) {
    const int64_t N = c.E.rows, K = c.K();
    std::vector<double> shares(K * K);
    for (int64_t n = 1; n < N; n++) {
        const int64_t m = c.each() ? n : 0;
        for (int64_t i = 0; i < K; i++)
            for (int64_t j = 0; j < K; j++)
                shares[i * K + j] = before[n - 1][i] + c.moves[m][i][j] + (c.E[n][j] + after[n][j]) - total;
        exp_of(shares.data(), K * K, shares.data());
        for (int64_t i = 0; i < K * K; i++) pairs[m].data[i] += weight * shares[i];
    }
}

}  // namespace suffice
