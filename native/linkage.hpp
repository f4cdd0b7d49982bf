// Merges of hierarchical clustering: of points in memory linear in their number, or of a distance matrix.
//
// Each loop writes the merges in the order in which it finds them, as a leaf of each of the two clusters and the
// squared height; those of a distance matrix, the height itself. Clusters are in the first n places: a merged one
// stays in the first of two places, and the last cluster moves to the other.
//
// Murtagh, "Multidimensional Clustering Algorithms", 1985 (the nearest-neighbour chain); Müllner, "Modern
// hierarchical, agglomerative clustering algorithms", 2011; Prim, "Shortest connection networks", 1957.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "lanes.hpp"

namespace suffice {

struct Merges {
    int64_t *left, *right;
    double* height;

    INLINE void put(int64_t m, int64_t a, int64_t b, double h) const { left[m] = a, right[m] = b, height[m] = h; }
};

// A cluster, and how far it is.
struct Near {
    int64_t place;
    double distance;
};

constexpr int64_t TOGETHER = FIT / 2;                 // lanes that are computed together
constexpr int64_t CLUSTERS = TOGETHER * f64s::N;      // in them
constexpr double NOT_FOUND = std::numeric_limits<double>::infinity();

// The first of the nearest of the clusters from `start` on, if it is nearer than the best so far.
static INLINE void take_nearer(const f64s* distance, int64_t start, int64_t n, int64_t except, Near& best) {
    i64s nearer{};
    for (int64_t b = 0; b < TOGETHER; b++) nearer += distance[b] < best.distance;
    if (!any(nearer)) return;
    double each[CLUSTERS];
    for (int64_t b = 0; b < TOGETHER; b++) store(each + b * f64s::N, distance[b]);
    for (int64_t i = start; i < std::min(start + CLUSTERS, n); i++)
        if (each[i - start] < best.distance && i != except) best = {i, each[i - start]};
}

// Centroids by eights, of which each feature is contiguous, so that a lane is a cluster.
class Centroids {
  public:
    explicit Centroids(Matrix<const double> X)
        : D(X.columns), room((X.rows + CLUSTERS - 1) / CLUSTERS * CLUSTERS), x(room * D), center(D) {
        for (int64_t i = 0; i < X.rows; i++)
            for (int64_t d = 0; d < D; d++) at(i, d) = X[i][d];
    }

    int64_t places() const { return room; }

    void move(int64_t from, int64_t to) {
        for (int64_t d = 0; d < D; d++) at(to, d) = at(from, d);
    }

    // c_keep = c_x + share (c_y - c_x)
    void merge(int64_t x, int64_t y, double share, int64_t keep) {
        for (int64_t d = 0; d < D; d++) at(keep, d) = at(x, d) + share * (at(y, d) - at(x, d));
    }

    void measure_from(int64_t place) {
        for (int64_t d = 0; d < D; d++) center[d] = at(place, d);
    }

    // f(start, squares) of the squared distances of clusters, from `start` on, from what was measured from
    template <class Function>
    INLINE void squares(int64_t n, Function f) const {
        for (int64_t start = 0; start < n; start += CLUSTERS) {
            const double* from = &x[start * D];
            f64s square[TOGETHER] = {};
            for (int64_t d = 0; d < D; d++)
                for (int64_t b = 0; b < TOGETHER; b++) {
                    f64s y = load(from + (b * D + d) * f64s::N) - center[d];
                    square[b] += y * y;
                }
            f(start, square);
        }
    }

  private:
    INLINE double& at(int64_t i, int64_t d) { return x[(i / f64s::N * D + d) * f64s::N + i % f64s::N]; }

    int64_t D, room;
    std::vector<double> x, center;
};

// Chains of nearest neighbours: each cluster is the nearest of the one before, until two are the nearest of each
// other and merge. nearest(x, n, best) looks for what is nearer to x; merge(x, y, keep, free, last).
template <class Search, class Merge>
static void by_chains(int64_t N, const Merges& out, Search nearest, Merge merge) {
    std::vector<int64_t> leaf(N);
    std::iota(leaf.begin(), leaf.end(), 0);
    std::vector<Near> chain;
    chain.reserve(N + 1);
    for (int64_t n = N; n > 1;) {
        if (chain.empty()) chain.push_back({0, NOT_FOUND});
        const int64_t x = chain.back().place, before = chain.size() > 1 ? chain[chain.size() - 2].place : -1;
        Near best{before < 0 ? int64_t(x == 0) : before, chain.back().distance};
        nearest(x, n, best);
        if (best.place != before) {
            chain.push_back(best);
            continue;
        }
        const int64_t y = before, keep = std::min(x, y), free = std::max(x, y), last = n - 1;
        out.put(N - n, leaf[x], leaf[y], best.distance);
        merge(x, y, keep, free, last);
        leaf[free] = leaf[last];
        // The two are the end of the chain; by rounding errors, one may be in it before.
        auto merged = [&](const Near& link) { return link.place == keep || link.place == free; };
        chain.erase(std::find_if(chain.begin(), chain.end(), merged), chain.end());
        for (Near& link : chain)
            if (link.place == last) link.place = free;
        n = last;
    }
}

// Ward's merges: 2 w_a w_b / (w_a + w_b) |a - b|^2 for centroids a, b.
static void ward_chain(Matrix<const double> X, const double* weight, const Merges& out) {
    Centroids C(X);
    std::vector<double> w(C.places());
    std::copy_n(weight, X.rows, w.begin());
    auto nearest = [&](int64_t x, int64_t n, Near& best) {
        C.measure_from(x);
        C.squares(n, [&](int64_t start, f64s* square) {
            for (int64_t b = 0; b < TOGETHER; b++) {
                const f64s v = load(&w[start + b * f64s::N]);
                square[b] = square[b] * (2.0 * (w[x] * v) / (w[x] + v));
            }
            take_nearer(square, start, n, x, best);
        });
    };
    by_chains(X.rows, out, nearest, [&](int64_t x, int64_t y, int64_t keep, int64_t free, int64_t last) {
        const double total = w[x] + w[y];
        C.merge(x, y, w[y] / total, keep);
        w[keep] = total;
        C.move(last, free);
        w[free] = w[last];
    });
}

// Merges of a distance matrix, which is overwritten: the mean distance of pairs, or the largest.
static void matrix_chain(Matrix<double> D, const double* weight, bool average, const Merges& out) {
    std::vector<double> w(weight, weight + D.rows);
    auto nearest = [&](int64_t x, int64_t n, Near& best) {
        const double* row = D[x];
        int64_t start = 0;
        for (; start + CLUSTERS <= n; start += CLUSTERS) {
            f64s distance[TOGETHER];
            for (int64_t b = 0; b < TOGETHER; b++) distance[b] = load(row + start + b * f64s::N);
            take_nearer(distance, start, n, x, best);
        }
        for (; start < n; start++)
            if (row[start] < best.distance && start != x) best = {start, row[start]};
    };
    by_chains(D.rows, out, nearest, [&](int64_t x, int64_t y, int64_t keep, int64_t free, int64_t last) {
        const int64_t n = last + 1;
        const double a = w[x] / (w[x] + w[y]), b = w[y] / (w[x] + w[y]);
        for (int64_t j = 0; j < n; j++) D[keep][j] = average ? a * D[x][j] + b * D[y][j] : greatest(D[x][j], D[y][j]);
        for (int64_t j = 0; j < n; j++) D[j][keep] = D[keep][j];
        for (int64_t j = 0; j < n; j++) D[free][j] = D[last][j];
        for (int64_t j = 0; j < n; j++) D[j][free] = D[free][j];
        w[keep] = w[x] + w[y];
        w[free] = w[last];
    });
}

// Merges of the two nearest centroids, each time. A merge may be lower than the one before. near[i] is the nearest
// other cluster of i, or place -1 if that is merged: the distance is then a lower bound, since the distances to
// other clusters did not change, and a nearer one that came was written down.
class NearestCentroids {
  public:
    NearestCentroids(Matrix<const double> X, const double* weight)
        : N(X.rows), C(X), w(weight, weight + N), leaf(N), near(N, -1), least(C.places()) {
        std::iota(leaf.begin(), leaf.end(), 0);
    }

    void write(const Merges& out) {
        for (int64_t n = N; n > 1; n--) {
            int64_t x = lowest(n);
            for (; near[x] < 0; x = lowest(n)) find(x, n);
            const int64_t y = near[x], keep = std::min(x, y), free = std::max(x, y), last = n - 1;
            out.put(N - n, leaf[x], leaf[y], least[x]);
            C.merge(x, y, w[y] / (w[x] + w[y]), keep);
            w[keep] = w[x] + w[y];
            C.move(last, free);
            w[free] = w[last], leaf[free] = leaf[last], near[free] = near[last], least[free] = least[last];
            for (int64_t i = 0; i < last; i++)
                near[i] = near[i] == keep || near[i] == free ? -1 : near[i] == last ? free : near[i];
            come(keep, last);
        }
    }

  private:
    int64_t lowest(int64_t n) const {
        Near best{0, least[0]};
        for (int64_t start = 0; start < n; start += CLUSTERS) {
            f64s distance[TOGETHER];
            for (int64_t b = 0; b < TOGETHER; b++) distance[b] = load(&least[start + b * f64s::N]);
            take_nearer(distance, start, n, -1, best);
        }
        return best.place;
    }

    void find(int64_t x, int64_t n) {
        Near best{x == 0, NOT_FOUND};
        C.measure_from(x);
        C.squares(n, [&](int64_t start, const f64s* square) { take_nearer(square, start, n, x, best); });
        near[x] = best.place, least[x] = best.distance;
    }

    // A merged cluster is compared with the others.
    void come(int64_t keep, int64_t n) {
        Near best{-1, NOT_FOUND};
        C.measure_from(keep);
        C.squares(n, [&](int64_t start, const f64s* square) {
            take_nearer(square, start, n, keep, best);
            i64s nearer{};
            for (int64_t b = 0; b < TOGETHER; b++) nearer += square[b] < load(&least[start + b * f64s::N]);
            if (!any(nearer)) return;
            double each[CLUSTERS];
            for (int64_t b = 0; b < TOGETHER; b++) store(each + b * f64s::N, square[b]);
            for (int64_t i = start; i < std::min(start + CLUSTERS, n); i++)
                if (i != keep && each[i - start] < least[i]) near[i] = keep, least[i] = each[i - start];
        });
        near[keep] = best.place, least[keep] = best.distance;
    }

    int64_t N;
    Centroids C;
    std::vector<double> w;
    std::vector<int64_t> leaf, near;
    std::vector<double> least;
};

static void centroid_merges(Matrix<const double> X, const double* weight, const Merges& out) {
    NearestCentroids(X, weight).write(out);
}

// The links of a minimum spanning tree, with squared lengths, by Prim's algorithm. The points that are not in the
// tree are in the first n places; near[i] is the point of the tree that is nearest to i.
static void spanning_tree(Matrix<const double> X, const Merges& out) {
    const int64_t N = X.rows;
    Centroids C(X);
    std::vector<int64_t> leaf(N), near(C.places());
    std::vector<double> least(C.places(), NOT_FOUND);
    std::iota(leaf.begin(), leaf.end(), 0);
    for (int64_t n = N, x = 0; n > 1;) {
        const int64_t inside = leaf[x], last = n - 1;
        C.measure_from(x);
        C.move(last, x);
        leaf[x] = leaf[last], least[x] = least[last], near[x] = near[last];
        n = last;
        Near best{0, NOT_FOUND};
        C.squares(n, [&](int64_t start, f64s* square) {
            for (int64_t b = 0; b < TOGETHER; b++) {
                double* known = &least[start + b * f64s::N];
                int64_t* point = &near[start + b * f64s::N];
                const Mask<double> nearer = square[b] < load(known);
                store(point, select(nearer, all(inside), load(point)));
                square[b] = select(nearer, square[b], load(known));
                store(known, square[b]);
            }
            take_nearer(square, start, n, -1, best);
        });
        x = best.place;
        out.put(N - n - 1, near[x], leaf[x], least[x]);
    }
}

}  // namespace suffice
