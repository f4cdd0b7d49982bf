// Topic weights of documents by EM and Newton steps, and the expected counts of words in topics: Hofmann,
// "Unsupervised learning by probabilistic latent semantic analysis", 2001.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "documents.hpp"

namespace suffice {

constexpr int64_t EM_STEPS = 10;     // before Newton's
constexpr int64_t MANY_TOPICS = 24;  // of which those that seem to vanish are left out at first
constexpr double NO_WEIGHT = 1e-10;  // a weight that is none
constexpr int64_t NEWTON_STEPS = 60;

// x^power of x >= 0; its error is up to |power log(x)| units in the last place
template <class F>
static INLINE F power_of(const F& x, double power) {
    return exp(power * log(x));
}

struct Tempering {
    double power;
    int64_t max_iter;
    double tol;

    bool newton() const { return power == 1.0 && max_iter > EM_STEPS; }
};

// The topic weights of one document: t (m,) are those of the active topics, and the others are zero. The rows of
// words B have what they weigh in active topics. Lanes beyond m are zeros in both.
template <class Index>
class TopicWeights {
  public:
    TopicWeights(Matrix<const double> A, const Tempering& by, int64_t longest)
        : A(A), by(by), room(lanes_of(A.columns) * PER_LANES), B(longest * room), mean(longest), ratio(longest),
          t(room), z(room), g(room), next(room), share(room), growth(room), H(by.newton() ? room * room : 0),
          every(room), active(A.columns) {}

    // Improve the weights of a document. It rests when no weight would grow by more than the factor 1 + tol.
    void improve(const SparseRow<Index>& document, double* theta) {
        x = document;
        m = 0;
        for (int64_t k = 0; k < A.columns; k++)
            if (theta[k] > 0.0) t[m] = theta[k], active[m++] = k;
        gather();
        const bool rests = maximize(by.newton() ? EM_STEPS : by.max_iter);
        if (by.newton() && !rests) {
            leave_out();
            for (int64_t n = 0; n < EM_STEPS; n++) {
                if (!maximize_inside()) maximize(by.max_iter);
                if (!add_growing()) break;
            }
        }
        put(theta);
    }

  private:
    int64_t V() const { return lanes_of(m); }
    PaddedRows rows() const { return {B.data(), V()}; }

    // Rows of words in active topics, and zeros in the lanes beyond them.
    void gather() {
        const int64_t P = V() * PER_LANES;
        for (int64_t p = 0; p < x.size; p++) {
            const double* from = A[x.column[p]];
            double* to = &B[p * P];
            for (int64_t i = 0; i < m; i++) to[i] = from[active[i]];
            std::fill(to + m, to + P, 0.0);
        }
        std::fill(t.begin() + m, t.begin() + P, 0.0);
    }

    // ratio = x / B e, and 0 for a word of no topic
    void take_ratios(const double* e) {
        means(rows(), x.size, e, mean.data());
        for (int64_t p = 0; p < x.size; p++) ratio[p] = mean[p] > 0.0 ? x[p] / mean[p] : 0.0;
    }

    // Steps of EM, t = the sum of x t^power B / (B t^power), in proportion; whether it rests. `growth` are the
    // factors of the last step.
    bool maximize(int64_t steps) {
        const int64_t P = V() * PER_LANES;
        for (int64_t n = 0; n < steps; n++) {
            for (int64_t k = 0; k < P; k += PER_LANES) {
                const f64s old = load(&t[k]);
                store(&share[k], by.power == 1.0 ? old : power_of(old, by.power));
            }
            take_ratios(share.data());
            sums(rows(), x.size, ratio.data(), next.data());
            f64s totals{};
            for (int64_t k = 0; k < P; k += PER_LANES) {
                const f64s joint = load(&next[k]) * load(&share[k]);
                store(&next[k], joint);
                totals += joint;
            }
            const double total = sum(totals);
            double most = 0.0;
            for (int64_t i = 0; i < m; i++) {
                const double now = total > 0.0 ? next[i] / total : t[i];
                growth[i] = t[i] > 0.0 ? now / t[i] : 0.0;
                most = std::max(most, growth[i]);
                t[i] = now;
            }
            if (most <= 1.0 + by.tol) return true;
        }
        return false;
    }

    void leave_out() {
        int64_t kept = 0;
        for (int64_t i = 0; i < m; i++) {
            const bool vanishes = m > MANY_TOPICS && t[i] < 0.1 / double(A.columns) && growth[i] < 0.95;
            if (t[i] != 0.0 && !vanishes) t[kept] = t[i], active[kept++] = active[i];
        }
        m = kept;
        gather();
    }

    // Improve the weights to the best, by Newton's steps inside the bounds t >= 0.
    //
    // The mean log-likelihood of a word less the sum of the weights has its maximum where they sum to one. There
    // the slope g of what is lost is z >= 0 with t z = 0. It rests when t z sums to less than tol, which is then
    // the most that is lost; whether it did. Of several best weights it finds those in the middle.
    bool maximize_inside() {
        double length = 0.0;
        for (int64_t p = 0; p < x.size; p++) {
            const double* b = rows()[p];
            // else the word is of no topic
            if (std::any_of(b, b + m, [](double a) { return a > 0.0; })) length += x[p];
        }
        for (int64_t i = 0; i < m; i++) {  // away from the bounds, and all products alike
            t[i] = std::max(t[i], 1e-3 / double(m));
            z[i] = 0.1 / (double(m) * t[i]);
        }
        for (int64_t n = 0; n < NEWTON_STEPS; n++) {
            take_ratios(t.data());
            for (int64_t p = 0; p < x.size; p++) ratio[p] /= length;
            sums(rows(), x.size, ratio.data(), g.data());
            double gap = 0.0, off = 0.0;
            for (int64_t i = 0; i < m; i++) {
                g[i] = 1.0 - g[i];
                gap += t[i] * z[i];
                off = std::max(off, std::fabs(g[i] - z[i]));
            }
            if (gap <= by.tol && off <= by.tol) return true;
            move(0.1 * gap / double(m));
        }
        return false;
    }

    // Newton's step towards t z = mu, as far as t and z stay positive.
    void move(double mu) {
        curve();
        for (int64_t i = 0; i < m; i++) {
            H[i * room + i] += z[i] / t[i];
            g[i] = mu / t[i] - g[i];
        }
        solve();
        double far = 1.0;
        for (int64_t i = 0; i < m; i++) {
            next[i] = (mu - z[i] * g[i]) / t[i] - z[i];
            if (g[i] < 0.0) far = std::min(far, -0.95 * t[i] / g[i]);
            if (next[i] < 0.0) far = std::min(far, -0.95 * z[i] / next[i]);
        }
        for (int64_t i = 0; i < m; i++) {
            z[i] += far * next[i];
            t[i] += far * g[i];
        }
    }

    // H = B' diag(ratio / mean) B, of which rows begin at or before the diagonal
    void curve() {
        for (int64_t p = 0; p < x.size; p++) mean[p] = mean[p] > 0.0 ? ratio[p] / mean[p] : 0.0;
        const PaddedRows rows = this->rows();
        for (int64_t i = 0; i < m; i += FIT)
            for (int64_t k = i / PER_LANES * PER_LANES; k < V() * PER_LANES; k += PER_LANES) {
                f64s h[FIT] = {};
                for (int64_t p = 0; p < x.size; p++) {
                    const double* b = rows[p];
                    const f64s one = mean[p] * load(b + k);
                    for (int a = 0; a < FIT; a++) h[a] += b[i + a] * one;
                }
                for (int a = 0; a < FIT; a++) store(&H[(i + a) * room + k], h[a]);
            }
    }

    // g = the solution of H s = g, with Cholesky's root R'R in the upper triangle of H
    void solve() {
        for (int64_t k = 0; k < m; k++) {
            double* R = &H[k * room];
            R[k] = std::sqrt(std::max(R[k], 1e-300));
            for (int64_t j = k + 1; j < m; j++) R[j] /= R[k];
            for (int64_t i = k + 1; i < m; i++) {
                double* __restrict to = &H[i * room];
                for (int64_t j = i; j < m; j++) to[j] -= R[i] * R[j];
            }
            g[k] /= R[k];
            for (int64_t j = k + 1; j < m; j++) g[j] -= R[j] * g[k];
        }
        for (int64_t i = m - 1; i >= 0; i--) {
            const double* R = &H[i * room];
            for (int64_t k = i + 1; k < m; k++) g[i] -= R[k] * g[k];
            g[i] /= R[i];
        }
    }

    // Give topics that were left out a little weight, if they would grow; whether there are any.
    bool add_growing() {
        take_ratios(t.data());
        double length = 0.0;
        for (int64_t p = 0; p < x.size; p++) length += mean[p] > 0.0 ? x[p] : 0.0;
        sums(RowsOfWords<Index>{A, x.column}, x.size, ratio.data(), every.data());
        for (int64_t i = 0; i < m; i++) every[active[i]] = 0.0;
        const int64_t before = m;
        for (int64_t k = 0; k < A.columns; k++)
            if (every[k] > (1.0 + by.tol) * length) t[m] = 1e-3, active[m++] = k;
        if (m > before) gather();
        return m > before;
    }

    void put(double* theta) const {
        const bool once = by.max_iter <= 1;
        std::fill(theta, theta + A.columns, 0.0);
        double total = 0.0;
        for (int64_t i = 0; i < m; i++) {
            theta[active[i]] = t[i] < NO_WEIGHT && !once ? 0.0 : t[i];
            total += theta[active[i]];
        }
        for (int64_t i = 0; i < m; i++) theta[active[i]] /= total;
    }

    Matrix<const double> A;
    Tempering by;
    int64_t room, m = 0;
    SparseRow<Index> x{};
    std::vector<double> B, mean, ratio, t, z, g, next, share, growth, H, every;
    std::vector<int64_t> active;
};

// Improve the topic weights theta (N, K) of documents X, given what words weigh in topics, A (V, K): by EM, where
// the share of a topic in a word is in proportion to theta^power A. Of power one, by few of its steps, and Newton's.
template <class Index>
static void fold_in(Sparse<Index> X, Matrix<const double> A, const Tempering& by, Matrix<double> theta) {
    int64_t longest = 0;
    for (int64_t n = 0; n < X.rows; n++) longest = std::max(longest, X[n].size);
    TopicWeights<Index> weights(A, by, longest);
    for (int64_t n = 0; n < X.rows; n++)
        if (X[n].size > 0) weights.improve(X[n], theta[n]);
}

// Add the expected counts of words in topics, weight x theta^power A / sum theta^power A, to `counts` (V, K).
// log_sums[n] is the log-likelihood of document n, the sum of x log sum theta^power A, which is minus infinity if
// no topic has a word.
template <class Index>
static void expect(Sparse<Index> X, Matrix<const double> A, double power, Matrix<const double> theta,
                   const double* weight, Matrix<double> counts, double* log_sums) {
    const int64_t K = A.columns;
    int64_t longest = 0;
    for (int64_t n = 0; n < X.rows; n++) longest = std::max(longest, X[n].size);
    std::vector<double> share(lanes_of(K) * PER_LANES), mean(longest), logs(longest);
    std::vector<int64_t> active(K);
    for (int64_t n = 0; n < X.rows; n++) {
        const SparseRow<Index> x = X[n];
        int64_t m = 0;
        for (int64_t k = 0; k < K; k++) {
            share[k] = theta[n][k];
            if (share[k] > 0.0) active[m++] = k;
            if (power != 1.0) share[k] = power_of(share[k], power);
        }
        const bool few = 4 * m < K;
        if (!few) means(RowsOfWords<Index>{A, x.column}, x.size, share.data(), mean.data());
        for (int64_t p = 0; p < x.size && few; p++) {
            mean[p] = 0.0;
            for (int64_t j = 0; j < m; j++) mean[p] += share[active[j]] * A[x.column[p]][active[j]];
        }
        log_of(mean.data(), x.size, logs.data());
        log_sums[n] = 0.0;
        for (int64_t p = 0; p < x.size; p++)
            if (x[p] > 0.0) log_sums[n] += x[p] * logs[p];
        for (int64_t p = 0; p < x.size && weight[n] > 0.0; p++) {
            const double *a = A[x.column[p]], r = mean[p] > 0.0 ? weight[n] * x[p] / mean[p] : 0.0;
            double* __restrict to = counts[x.column[p]];
            if (few)
                for (int64_t j = 0; j < m; j++) to[active[j]] += r * (share[active[j]] * a[active[j]]);
            else
                for (int64_t k = 0; k < K; k++) to[k] += r * (share[k] * a[k]);
        }
    }
}

}  // namespace suffice
