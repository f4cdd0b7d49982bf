// Epochs of perceptrons, in primal and in dual form.
//
// There are P problems: one of each class against the rest, or one for two classes, in which the second is
// positive. A row of weight w is visited w times in a row: it is added until it is on the right side or w is
// used up, the last time with what is left of w. The intercept is the weight of a last feature of ones, or a one
// in each entry of the Gram matrix.
//
// `late` sums each change of the weights times the visits before it, so that W - late / visits is the mean of W
// over all visits. The log has a line for each update of a voted perceptron. The pocket holds the weights that
// classify most rows correctly. They are compared after each epoch, and when they survived twice as many visits as
// any weights compared before: that is seldom enough for a comparison to visit all rows.
#pragma once

#include <algorithm>
#include <vector>

#include "rows.hpp"

namespace suffice {

// Class codes and weights of N rows, in P problems.
struct Labels {
    const int64_t* codes;
    const double* weight;
    int64_t N, P;

    INLINE bool is_positive(int64_t n, int64_t k) const { return codes[n] == (P == 1 ? 1 : k); }
};

// When to update, and what to record.
struct PerceptronRule {
    double margin[2];  // of negative and of positive rows
    double eta;        // step size
    bool pocket;       // whether to compare the weights with those in the pocket
    bool vote;         // whether to log the updates
};

// Of each problem.
struct Counts {
    const bool* active;
    double *visits, *steps;
    double* run;    // visits since the last update
    double* tried;  // the longest run whose weights were compared with the pocket
    double* best;   // weight of the rows that the pocket classifies correctly
    double* loss;   // of this epoch
};

struct Vote {
    double problem, row, size, visits;  // the signed step size, and the visits before it
};

// Weights of features (D, P).
template <class Rows>
struct Primal {
    Rows X;
    Labels labels;
    Matrix<double> W, late, pocket;
    double *score, *column;  // scratch, (P,) and (D,)

    INLINE void look_ahead(Vector<const int64_t> order, int64_t t) const { prefetch_next(X, order, t); }

    // The scores of row n, (P,).
    void visit(int64_t n) const {
        const auto x = X[n];
        double* __restrict s = score;
        if (W.columns == 1) {
            s[0] = dot(x, W.data);
            return;
        }
        std::fill(s, s + W.columns, 0.0);
        int64_t p = 0;
        for (; p + 4 <= x.size; p += 4) {  // four entries at a time touch the scores less often
            const double *a = W[x.column[p]], *b = W[x.column[p + 1]], *c = W[x.column[p + 2]],
                         *d = W[x.column[p + 3]];
            for (int64_t k = 0; k < W.columns; k++)
                s[k] += (x[p] * a[k] + x[p + 1] * b[k]) + (x[p + 2] * c[k] + x[p + 3] * d[k]);
        }
        for (; p < x.size; p++)
            for (int64_t k = 0; k < W.columns; k++) s[k] += x[p] * W[x.column[p]][k];
    }

    INLINE double score_of(int64_t, int64_t k) const { return score[k]; }

    // What row n, added to the weights, adds to its score.
    double gain(int64_t n) const { return square_of(X[n]); }

    // Row n, times `step`, is added to the weights of problem k; and times `later` to `late`.
    void add_row(int64_t n, int64_t k, double step, double later) const {
        const auto x = X[n];
        if (W.columns == 1) {
            add(x, step, W.data);
            add(x, later, late.data);
            return;
        }
        for (int64_t p = 0; p < x.size; p++) {
            W[x.column[p]][k] += step * x[p];
            late[x.column[p]][k] += later * x[p];
        }
    }

    double weight_of_right(int64_t k) const {
        for (int64_t d = 0; d < W.rows; d++) column[d] = W[d][k];
        double right = 0.0;
        for (int64_t n = 0; n < labels.N; n++)
            if ((dot(X[n], column) >= 0.0) == labels.is_positive(n, k)) right += labels.weight[n];
        return right;
    }

    void keep(int64_t k) const {
        for (int64_t d = 0; d < W.rows; d++) pocket[d][k] = W[d][k];
    }
};

// Weights of rows (P, N), and scores F = W gram, (P, N).
struct Dual {
    Matrix<const double> gram;
    Labels labels;
    Matrix<double> W, late, pocket, F;

    INLINE void look_ahead(Vector<const int64_t>, int64_t) const {}
    INLINE void visit(int64_t) const {}
    INLINE double score_of(int64_t n, int64_t k) const { return F[k][n]; }
    double gain(int64_t n) const { return gram[n][n]; }

    void add_row(int64_t n, int64_t k, double step, double later) const {
        W[k][n] += step;
        late[k][n] += later;
        add(DenseRow<double>{gram[n], gram.columns}, step, F[k]);
    }

    double weight_of_right(int64_t k) const {
        double right = 0.0;
        for (int64_t n = 0; n < labels.N; n++)
            if ((F[k][n] >= 0.0) == labels.is_positive(n, k)) right += labels.weight[n];
        return right;
    }

    void keep(int64_t k) const { std::copy(W[k], W[k] + W.columns, pocket[k]); }
};

// Put the weights of problem k into the pocket if they classify more rows correctly than those in it.
template <class Form>
static void compare(const Form& form, int64_t k, double* best) {
    const double right = form.weight_of_right(k);
    if (right > best[k]) {
        best[k] = right;
        form.keep(k);
    }
}

struct Updates {
    double total = 0.0;  // their sum
    double later = 0.0;  // their sum, each times the visits before it
    double lost = 0.0;   // the loss before each
    double left;         // of the weight
};

// Updates at a row of score z and weight w, each of which adds `gain` to the score, until that is above the margin.
template <class Log>
static INLINE Updates update(double z, double least, double w, double gain, double visits, Log log) {
    Updates u;
    for (u.left = w; u.left > 0.0 && !(z > least);) {
        double step = std::min(u.left, 1.0);
        if (!(gain > 1e-9 * (least - z))) step = u.left;  // too short a row for any number of updates
        log(step, visits + u.total);
        u.later += step * (visits + u.total);
        u.lost += step * (least - z);
        u.total += step;
        u.left -= step;
        z += gain * step;
    }
    return u;
}

// One epoch over the rows in this order, which adds to the log.
template <class Form>
static void epoch(const Form& form, Vector<const int64_t> order, const PerceptronRule& rule, const Counts& c,
                  std::vector<Vote>& log) {
    const Labels& labels = form.labels;
    for (int64_t t = 0; t < order.size; t++) {
        form.look_ahead(order, t);
        const int64_t n = order[t];
        const double w = labels.weight[n];
        if (!(w > 0.0)) continue;
        form.visit(n);
        for (int64_t k = 0; k < labels.P; k++) {
            if (!c.active[k]) continue;
            const bool positive = labels.is_positive(n, k);
            const double y = positive ? 1.0 : -1.0, z = y * form.score_of(n, k), least = rule.margin[positive];
            if (z > least) {
                c.run[k] += w;
                c.visits[k] += w;
                continue;
            }
            if (rule.pocket && c.run[k] > 2.0 * c.tried[k]) {
                c.tried[k] = c.run[k];
                compare(form, k, c.best);
            }
            const double size = y * rule.eta, gain = w > 1.0 ? rule.eta * form.gain(n) : 0.0;
            const Updates u = update(z, least, w, gain, c.visits[k], [&](double step, double visits) {
                if (rule.vote) log.push_back({double(k), double(n), size * step, visits});
            });
            form.add_row(n, k, size * u.total, size * u.later);
            c.steps[k] += u.total;
            c.loss[k] += u.lost;
            c.run[k] = u.left;
            c.visits[k] += w;
        }
    }
    for (int64_t k = 0; rule.pocket && k < labels.P; k++)
        if (c.active[k]) compare(form, k, c.best);
}

}  // namespace suffice
