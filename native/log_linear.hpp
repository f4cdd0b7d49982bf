// Log-linear models: errors of rows from their scores, and an epoch of SVRG.
#pragma once

#include <algorithm>
#include <vector>

#include "elementary.hpp"
#include "sparse.hpp"

namespace suffice {

// The largest of K numbers.
static INLINE double largest_of(const double* x, int64_t K) {
    const int64_t whole = K - K % f64s::N;
    f64s lanes = all(-BEYOND);
    for (int64_t k = 0; k < whole; k += f64s::N) lanes = greatest(load(x + k), lanes);
    double most = whole ? largest(lanes) : -BEYOND;
    for (int64_t k = whole; k < K; k++) most = greatest(x[k], most);
    return most;
}

static INLINE double sum_of(const double* x, int64_t K) {
    const int64_t whole = K - K % f64s::N;
    f64s lanes{};
    for (int64_t k = 0; k < whole; k += f64s::N) lanes += load(x + k);
    double total = whole ? sum(lanes) : 0.0;
    for (int64_t k = whole; k < K; k++) total += x[k];
    return total;
}

// Scores (N, K) without the intercepts become weight times probability, less the weight for the class that
// was seen; returned is the sum of weight times -log probability of that class. Rows are taken by blocks in the
// cache.
static double errors(Matrix<double> scores, const double* intercept, const int64_t* codes,
                     const double* weight) {
    const int64_t N = scores.rows, K = scores.columns, P = (K + f64s::N - 1) / f64s::N * f64s::N;
    const int64_t most = std::min(N, std::max<int64_t>(1, 2048 / std::max<int64_t>(1, K)));
    std::vector<double> odds(most * K + P), total(most), own(most), intercepts(P);
    std::copy(intercept, intercept + K, intercepts.begin());
    double loss = 0.0;
    for (int64_t start = 0; start < N; start += most) {
        const int64_t count = std::min(most, N - start);
        for (int64_t n = 0; n < count; n++) {
            double *to = &odds[n * K], *from = scores[start + n];
            if ((start + n) * K + P <= N * K)  // beyond the row is what the next row overwrites
                for (int64_t k = 0; k < P; k += f64s::N) store(to + k, load(from + k) + load(&intercepts[k]));
            else
                for (int64_t k = 0; k < K; k++) to[k] = from[k] + intercept[k];
            const f64s top = all(largest_of(to, K));
            for (int64_t k = 0; k < P; k += f64s::N) store(to + k, load(to + k) - top);
            own[n] = to[codes[start + n]];
        }
        exp_of(odds.data(), count * K, odds.data());
        for (int64_t n = 0; n < count; n++) {
            double *from = &odds[n * K], *to = scores[start + n], w = weight[start + n];
            total[n] = sum_of(from, K);
            const double share = w / total[n];
            if (n * K + P <= count * K)
                for (int64_t k = 0; k < P; k += f64s::N) store(to + k, load(from + k) * share);
            else
                for (int64_t k = 0; k < K; k++) to[k] = from[k] * share;
            to[codes[start + n]] -= w;
        }
        log_of(total.data(), count, total.data());
        for (int64_t n = 0; n < count; n++) loss += weight[start + n] * (total[n] - own[n]);
    }
    return loss;
}

// An epoch of SVRG over CSR rows in an order; one column of K is the log odds of the second of two classes.
struct Svrg {
    const double* weight;         // of rows
    Matrix<const double> before;  // the probabilities of rows at the start, (N, K)
    Matrix<const double> start;   // (D + 1, K), whose last row is the intercepts
    const double* drift;          // the gradient over all rows at the start, (D + 1, K)
    const double* shrink;         // (D + 1,)
    double length;
    int64_t every;
    bool intercept;

    // Scores become probabilities, in room for a multiple of eight.
    static INLINE void to_probabilities(double* p, int64_t K) {
        if (K == 1) {
            p[0] = 1.0 / (1.0 + exp(-p[0]));
            return;
        }
        double top = p[0], total = 0.0;
        for (int64_t k = 1; k < K; k++) top = greatest(p[k], top);
        for (int64_t k = 0; k < K; k++) p[k] -= top;
        exp_of(p, (K + f64s::N - 1) / f64s::N * f64s::N, p);
        for (int64_t k = 0; k < K; k++) total += p[k];
        for (int64_t k = 0; k < K; k++) p[k] /= total;
    }

    // W -= times (drift + shrink (W - start))
    void pull(double times, double* W) const {
        for (int64_t d = 0; d < start.rows; d++) {
            const double by = times * shrink[d];
            for (int64_t k = 0, i = d * start.columns; k < start.columns; k++, i++)
                W[i] -= times * drift[i] + by * (W[i] - start.data[i]);
        }
    }

    // The end of the epoch, in W. The step of a row is its weight times the change of its probabilities since
    // the start, times the row. What does not depend on the row is applied after every `every` rows, as many
    // times.
    template <class Index>
    void operator()(Sparse<Index> X, Vector<const int64_t> order, double* W) const {
        if (start.columns == 1)
            run<1>(X, order, W);
        else
            run<0>(X, order, W);
    }

  private:
    template <int COLUMNS, class Index>  // as many, or any number if that is 0
    void run(Sparse<Index> X, Vector<const int64_t> order, double* __restrict W) const {
        const int64_t D = start.rows - 1, K = COLUMNS ? COLUMNS : start.columns;
        std::copy(start.data, start[D + 1], W);
        std::vector<double> scratch(COLUMNS ? 0 : K + f64s::N);
        double few[COLUMNS + 1];
        double* __restrict p = COLUMNS ? few : scratch.data();
        for (int64_t t = 0; t < order.size; t++) {
            const int64_t n = order[t], first = X.indptr[n], end = X.indptr[n + 1];
            for (int64_t k = 0; k < K; k++) p[k] = W[D * K + k];
            for (int64_t at = first; at < end; at++)
                for (int64_t k = 0; k < K; k++) p[k] += X.data[at] * W[X.indices[at] * K + k];
            to_probabilities(p, K);
            for (int64_t k = 0; k < K; k++) p[k] = length * weight[n] * (p[k] - before[n][k]);
            for (int64_t at = first; at < end; at++)
                for (int64_t k = 0; k < K; k++) W[X.indices[at] * K + k] -= X.data[at] * p[k];
            if (intercept)
                for (int64_t k = 0; k < K; k++) W[D * K + k] -= p[k];
            if ((t + 1) % every == 0 || t + 1 == order.size) pull(length * double(t % every + 1), W);
        }
    }
};

}  // namespace suffice
