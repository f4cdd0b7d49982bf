// The E step of hidden Markov models in one pass: densities of the steps, forward-backward, and the sums that
// the M step takes, of eight sequences or of one at a time. Li ch. 10.
#pragma once

#include "chains.hpp"

namespace suffice {

// Rows are lanes: x[t, d] has feature d of eight rows, the t-th of eight sequences or eight of one sequence.
// After the features is a one, or a zero if there is no such row.
struct EightRows {
    const double* x;
    int64_t columns, count;

    EightRows from(int64_t t, int64_t end) const {
        return {x + t * columns * W, columns, std::min(end, count) - t};
    }
};

// K Gaussian densities with independent features: log p(x given k) = constant[k] - sum_d half_precision[k, d]
// (x[d] - mean[k, d])^2
struct DiagonalGaussians {
    Matrix<const double> mean, half_precision;
    const double* constant;

    // e[t, k] = p(x[t] given k) / exp(top[t]), of which the largest is one
    void densities(const EightRows& rows, double* e, double* top) const {
        constexpr int B = FIT / 2;
        const int64_t K = mean.rows;
        for (int64_t t = 0; t < rows.count; t++, e += K * W) {
            const double* x = rows.x + t * rows.columns * W;
            f64s most = all(-BEYOND);
            int64_t k = 0;
            for (; k + B <= K; k += B) most = greatest(most, log_densities<B>(x, k, e));
            for (; k < K; k++) most = greatest(most, log_densities<1>(x, k, e));
            most = select(-BEYOND < most, most, f64s{});
            store(top + t * W, most);
            for (k = 0; k < K; k++) store(e + k * W, exp(load(e + k * W) - most));
        }
    }

  private:
    // Of the densities k to k + B - 1; their maximum is returned.
    template <int B>
    INLINE f64s log_densities(const double* x, int64_t k, double* e) const {
        f64s q[B], most = all(-BEYOND);
        for (int b = 0; b < B; b++) q[b] = all(constant[k + b]);
        for (int64_t d = 0; d < mean.columns; d++) {
            f64s of_feature = load(x + d * W);
            for (int b = 0; b < B; b++) {
                f64s y = of_feature - mean[k + b][d];
                q[b] = q[b] - y * y * half_precision[k + b][d];
            }
        }
        for (int b = 0; b < B; b++) {
            store(e + (k + b) * W, q[b]);
            most = greatest(most, q[b]);
        }
        return most;
    }
};

// Weight, mean and scatter about the mean of the features of K groups.
struct Moments {
    double* weight;
    Matrix<double> mean, scatter;
};

// Moments of rows with responsibilities. Those of 128 rows, while they are in the cache, are computed in two
// passes, and merged: Chan, Golub and LeVeque 1983.
class AddMoments {
  public:
    AddMoments(int64_t K, int64_t D, const Moments& out)
        : K(K), D(D), room((2 * D + 1) * K), totals(room.take((D + 1) * K)), squares(room.take(D * K)),
          mean(K * D), out(out) {}

    void operator()(const EightRows& rows, const double* r) {
        for (int64_t t = 0; t < rows.count; t += STEPS) add(rows.from(t, t + STEPS), r + t * K * W);
    }

  private:
    void add(const EightRows& rows, const double* r) {
        std::fill(totals, totals + (D + 1) * K * W, 0.0);
        add_eight_outers(r, K, rows.x, D + 1, rows.count, totals);
        for (int64_t k = 0; k < K; k++) {
            const double weight = sum(load(totals + (k * (D + 1) + D) * W));
            for (int64_t d = 0; d < D; d++) {
                const double total = sum(load(totals + (k * (D + 1) + d) * W));
                mean[k * D + d] = weight > 0 ? total / weight : 0.0;
            }
        }
        squares_about_mean(rows, r);
        for (int64_t k = 0; k < K; k++) merge(k, sum(load(totals + (k * (D + 1) + D) * W)));
    }

    // squares[k, d] = sum_t r[t, k] (x[t, d] - mean[k, d])^2
    void squares_about_mean(const EightRows& rows, const double* r) {
        constexpr int A = REGISTERS == 4 ? 2 : 4;
        int64_t k = 0;
        for (; k + A <= K; k += A)
            for (int64_t d = 0; d < D; d++) squares_of<A>(rows, r, k, d);
        for (; k < K; k++)
            for (int64_t d = 0; d < D; d++) squares_of<1>(rows, r, k, d);
    }

    template <int A>
    INLINE void squares_of(const EightRows& rows, const double* r, int64_t k, int64_t d) {
        f64s s[A] = {};
        for (int64_t t = 0; t < rows.count; t++) {
            f64s x = load(rows.x + (t * rows.columns + d) * W);
            for (int a = 0; a < A; a++) {
                f64s y = x - mean[(k + a) * D + d];
                s[a] += load(r + (t * K + k + a) * W) * y * y;
            }
        }
        for (int a = 0; a < A; a++) store(squares + ((k + a) * D + d) * W, s[a]);
    }

    void merge(int64_t k, double weight) {
        const double before = out.weight[k], after = before + weight;
        if (!(weight > 0)) return;
        const double share = weight / after;
        for (int64_t d = 0; d < D; d++) {
            const double delta = mean[k * D + d] - out.mean[k][d];
            out.mean[k][d] += share * delta;
            out.scatter[k][d] += sum(load(squares + (k * D + d) * W)) + before * share * delta * delta;
        }
        out.weight[k] = after;
    }

    int64_t K, D;
    Room room;
    double *totals, *squares;
    std::vector<double> mean;
    Moments out;
};

// What the M step takes: the weighted log-likelihood, and expected counts of first states and transitions.
struct Expected {
    double log_likelihood;
    double* start;
    Matrix<double> moves;
};

// Of eight sequences at a time.
template <class Densities, class Statistics>
class ExpectBySequences : BySequences {
  public:
    ExpectBySequences(const Chains& c, Tensor<const double> turned, int64_t longest, Matrix<const double> X,
                      const Densities& densities, Statistics& statistics, Expected& out)
        : BySequences(c, turned, longest, longest * (X.columns + 2)), X(X), densities(densities),
          statistics(statistics), out(out), x(room.zeros(longest * (X.columns + 1))),
          top(room.take(longest)) {}

    // Returns whether floats could hold all of them.
    bool operator()(const int64_t* group, int64_t count, const double* weight) {
        hold(group, count);
        const EightRows rows{x, X.columns + 1, T};
        transpose(X, rows.columns, 0.0, x);
        for (int64_t n = 0; n < T; n++)
            for (int64_t i = 0; i < W; i++) x[(n * rows.columns + X.columns) * W + i] = n < length[i];
        densities.densities(rows, E, top);
        filter();
        double log_sum[W];
        if (!add_scales(log_sum)) return false;
        for (int64_t i = 0; i < count; i++) out.log_likelihood += weight[group[i]] * log_sum[i];
        smooth(group, count, weight);
        for (int64_t k = 0; k < K; k++) out.start[k] += sum(load(alpha + k * W));
        statistics(rows, alpha);
        return !any(fades);
    }

    using BySequences::finish;

  private:
    // The log-likelihoods of the sequences, if there are no lost ones.
    bool add_scales(double* log_sum) const {
        const i64s steps = load(length);
        f64s total{};
        i64s lost{};
        for (int64_t n = 0; n < T; n++) {
            f64s s = select(all(n) < steps, load(scale + n * W), all(1.0));
            total += select(all(n) < steps, log(s) + load(top + n * W), f64s{});
            lost += (LEAST < s) + all<int64_t>(1);
        }
        store(log_sum, total);
        return !any(lost);
    }

    Matrix<const double> X;
    const Densities& densities;
    Statistics& statistics;
    Expected& out;
    double *x, *top;
};

// Of one sequence after the other, by eight rows at a time.
template <class Densities, class Statistics>
class ExpectByStates {
  public:
    ExpectByStates(const Chains& c, Tensor<const double> turned, int64_t longest, Matrix<const double> X,
                   const Densities& densities, Statistics& statistics, Expected& out)
        : c(c), X(X), densities(densities), statistics(statistics), out(out), K(c.K()), D(X.columns),
          E(longest * K), gamma(longest * K), scale(longest), room(STEPS * (K + D + 2)),
          x(room.take(STEPS * (D + 1))), e(room.take(STEPS * K)), top(room.take(STEPS)),
          one{{E.data(), longest, K}, c.start, c.moves, {offset, 2}},
          marginals{{gamma.data(), longest, K}, {out.moves.data, 1, K, K}, scale.data(), &lost, &faded},
          by_states(one, turned, longest, marginals) {}

    bool operator()(int64_t s, double weight) {
        const int64_t first = c.offset[s], T = c.length(s);
        if (T == 0) return true;
        double log_sum = 0.0;
        for (int64_t n = 0; n < T; n += STEPS * W) {
            const EightRows rows = load_rows(first + n, T - n);
            densities.densities(rows, e, top);
            for (int64_t i = 0; i < std::min(T - n, STEPS * W); i++) {
                for (int64_t k = 0; k < K; k++) E[(n + i) * K + k] = e[(i / W * K + k) * W + i % W];
                log_sum += top[i];
            }
        }
        offset[1] = T;
        faded = false;
        by_states(0, weight);
        if (lost || faded) return false;
        log_of(scale.data(), T, scale.data());
        out.log_likelihood += weight * std::accumulate(scale.begin(), scale.begin() + T, log_sum);
        if (weight == 0.0) return true;
        for (int64_t k = 0; k < K; k++) out.start[k] += gamma[k];
        for (int64_t n = 0; n < T; n += STEPS * W) {
            const EightRows rows = load_rows(first + n, T - n);
            for (int64_t i = 0; i < rows.count * W; i++)
                for (int64_t k = 0; k < K; k++)
                    e[(i / W * K + k) * W + i % W] = n + i < T ? gamma[(n + i) * K + k] : 0.0;
            statistics(rows, e);
        }
        return true;
    }

    void finish() { by_states.finish(); }

  private:
    EightRows load_rows(int64_t first, int64_t more) {
        const int64_t count = std::min(more, STEPS * W), eights = (count + W - 1) / W;
        for (int64_t i = 0; i < eights * W; i++) {
            double* to = x + i / W * (D + 1) * W + i % W;
            for (int64_t d = 0; d < D; d++) to[d * W] = i < count ? X[first + i][d] : 0.0;
            to[D * W] = i < count;
        }
        return {x, D + 1, eights};
    }

    const Chains& c;
    Matrix<const double> X;
    const Densities& densities;
    Statistics& statistics;
    Expected& out;
    int64_t K, D;
    std::vector<double> E, gamma, scale;
    Room room;
    double *x, *e, *top;
    int64_t offset[2] = {0, 0};
    bool lost = false, faded = false;
    Chains one;
    Marginals marginals;
    ByStates by_states;
};

// The E step of sequences of rows X; `c` has no potentials. Returns false if floats cannot hold what is asked
// of them, as with rows that are not finite: what is written is then of no use.
template <class Densities, class Statistics>
static bool expect(const Chains& c, Tensor<const double> turned, const double* weight, Matrix<const double> X,
                   const Densities& densities, Statistics& statistics, Expected& out) {
    const int64_t K = c.K();
    const Groups groups(c, std::max(K, X.columns + 1));
    std::optional<ExpectBySequences<Densities, Statistics>> by_sequences;
    std::optional<ExpectByStates<Densities, Statistics>> by_states;
    if (groups.grouped)
        by_sequences.emplace(c, turned, groups.longest_grouped, X, densities, statistics, out);
    if (groups.grouped < c.size())
        by_states.emplace(c, turned, groups.longest, X, densities, statistics, out);
    bool held = true;
    groups.visit(
        [&](const int64_t* group, int64_t count) { held = held && (*by_sequences)(group, count, weight); },
        [&](int64_t s) { held = held && (*by_states)(s, weight[s]); });
    if (by_sequences) by_sequences->finish(out.moves.data);
    if (by_states) by_states->finish();
    for (int64_t i = 0; i < K * K; i++) out.moves.data[i] *= c.moves.data[i];
    return held;
}

}  // namespace suffice
