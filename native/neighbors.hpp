// The nearest rows of queries: by comparison with all rows, and by a k-d tree. Bentley, 1975; Friedman, Bentley and
// Finkel, "An algorithm for finding best matches in logarithmic expected time", 1977.
//
// A distance is a sum over features, one after the other, of squares (p = 2), of absolute differences (p = 1) or of
// powers, or the largest difference (p = inf). No sum is reordered, so that a distance has the same bits in every
// loop of this file. Candidates have keys (distance, row): of rows at the same distance, earlier rows are nearer. A
// row of weight w is a candidate ceil(w) times: each counts one, and the last one the rest.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "elementary.hpp"
#include "tile.hpp"

namespace suffice {

template <class F>
static INLINE F absolute(const F& y) {
    return greatest(y, 0.0 - y);
}

// What the difference y of one feature is in a distance before the root, and how terms are added.
struct Squares {
    template <class F>
    INLINE F term(const F& y) const { return y * y; }
    template <class F>
    INLINE F add(const F& total, const F& term) const { return total + term; }
};

struct Absolutes : Squares {
    template <class F>
    INLINE F term(const F& y) const { return absolute(y); }
};

struct Powers : Squares {
    double p;
    explicit Powers(double p) : p(p) {}
    template <class F>
    INLINE F term(const F& y) const { return exp(p * log(absolute(y))); }
};

struct Maximum : Absolutes {
    template <class F>
    INLINE F add(const F& total, const F& term) const { return greatest(total, term); }
};

// f(the terms of the distance with this p)
template <class Function>
static auto with_terms(double p, Function f) {
    if (p == 2.0) return f(Squares{});
    if (p == 1.0) return f(Absolutes{});
    if (p == BEYOND) return f(Maximum{});
    return f(Powers{p});
}

// The nearest rows of each query so far, (Q, K), in order, filled up with infinite distances.
struct Found {
    Matrix<double> best;
    Matrix<int64_t> rows;
    Matrix<double> votes;

    INLINE double farthest(int64_t q) const { return best[q][best.columns - 1]; }

    // Insert a row, as often as its weight says, among the nearest ones of query q.
    void insert(int64_t q, double distance, int64_t row, double weight) const {
        double *d = best[q], *vote = votes[q];
        int64_t *r = rows[q], last = best.columns - 1;
        auto nearer = [&](int64_t at) { return distance < d[at] || (distance == d[at] && row < r[at]); };
        for (; weight > 0.0 && nearer(last); weight -= 1.0) {
            int64_t at = last;
            for (; at > 0 && nearer(at - 1); at--) d[at] = d[at - 1], r[at] = r[at - 1], vote[at] = vote[at - 1];
            d[at] = distance, r[at] = row, vote[at] = std::min(weight, 1.0);
        }
    }
};

// Rows and their weights.
struct WeightedRows {
    Matrix<const double> X;
    int64_t first;  // the number of the first row
    const double* weight;
};

constexpr int64_t GROUPS = FIT / 2, GROUP_ROWS = GROUPS * f64s::N;  // eights whose distances are computed together

// distance[g] = the distances, before the root, of the eights g of the tile from `start` on
template <class Terms>
static INLINE void distances_of_groups(const Tile& tile, int64_t start, const double* query, int64_t D,
                                       const Terms& terms, f64s* distance) {
    for (int64_t g = 0; g < GROUPS; g++) distance[g] = {};
    for (int64_t d = 0; d < D; d++)
        for (int64_t g = 0; g < GROUPS; g++)
            distance[g] = terms.add(distance[g], terms.term(tile(start + g, d) - query[d]));
}

// out[q, n] = the distance, before the root, of row n from query q
template <class Terms>
static void distances_of(Matrix<const double> X, Matrix<const double> queries, const Terms& terms,
                         Matrix<double> out) {
    Tile tile(X.columns);
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = tile.load(X, start);
        for (int64_t q = 0; q < queries.rows; q++)
            for (int64_t i = 0; i < count; i += GROUP_ROWS) {
                f64s distance[GROUPS];
                double each[GROUP_ROWS];
                distances_of_groups(tile, i / f64s::N, queries[q], X.columns, terms, distance);
                for (int64_t g = 0; g < GROUPS; g++) store(each + g * f64s::N, distance[g]);
                std::copy_n(each, std::min(GROUP_ROWS, count - i), out[q] + start + i);
            }
    }
}

// Compare queries with all rows.
template <class Terms>
static void nearest_of_all(const WeightedRows& rows, Matrix<const double> queries, const Terms& terms,
                           const Found& found) {
    const Matrix<const double> X = rows.X;
    Tile tile(X.columns);
    for (int64_t start = 0, count; start < X.rows; start += count) {
        count = tile.load(X, start);
        for (int64_t q = 0; q < queries.rows; q++)
            for (int64_t i = 0; i < count; i += GROUP_ROWS) {
                f64s distance[GROUPS];
                distances_of_groups(tile, i / f64s::N, queries[q], X.columns, terms, distance);
                i64s near{};
                for (int64_t g = 0; g < GROUPS; g++) near += distance[g] < found.farthest(q);
                if (!any(near)) continue;
                double each[GROUP_ROWS];
                for (int64_t g = 0; g < GROUPS; g++) store(each + g * f64s::N, distance[g]);
                for (int64_t j = i; j < std::min(i + GROUP_ROWS, count); j++)
                    if (each[j - i] < found.farthest(q))
                        found.insert(q, each[j - i], rows.first + start + j, rows.weight[start + j]);
            }
    }
}

// Inner products of centred queries and rows, halves of the squared norms of centred rows, squared norms of centred
// queries, and a bound of the error of the squared distances that follow from them.
struct InnerProducts {
    Matrix<const double> products;
    const double *half, *norm, *slack;
};

// As `nearest_of_all`, of Euclidean distances: |q - x|^2 / 2 = |q|^2 / 2 + |x|^2 / 2 - q'x is near enough to leave
// most rows out, and differences decide about the others.
static void nearest_of_products(const InnerProducts& by, const WeightedRows& rows, Matrix<const double> queries,
                                const Found& found) {
    constexpr int64_t RUN = 64;  // rows that are compared with a limit at once
    const int64_t N = rows.X.rows, D = rows.X.columns;
    for (int64_t q = 0; q < queries.rows; q++) {
        const double* product = by.products[q];
        auto limit_now = [&] { return 0.5 * (found.farthest(q) + by.slack[q] - by.norm[q]); };
        double limit = limit_now();
        for (int64_t start = 0; start < N; start += RUN) {
            const int64_t end = std::min(start + RUN, N);
            if (end - start == RUN) {
                i64s near = all(RUN / f64s::N);  // how many are not beyond the limit
                for (int64_t i = start; i < end; i += f64s::N) near += limit < load(by.half + i) - load(product + i);
                if (!any(near)) continue;
            }
            for (int64_t i = start; i < end; i++) {
                if (by.half[i] - product[i] > limit) continue;
                double distance = 0.0;
                for (int64_t d = 0; d < D; d++) {
                    const double y = rows.X[i][d] - queries[q][d];
                    distance += y * y;
                }
                if (distance < found.farthest(q)) {
                    found.insert(q, distance, rows.first + i, rows.weight[i]);
                    limit = limit_now();
                }
            }
        }
    }
}

// --- k-d tree -------------------------------------------------------------------------------------------------

// order[lo:hi] so that place `mid` has what it has in a sorted order of x(row).
template <class Value>
static void quickselect(int64_t* order, int64_t lo, int64_t mid, int64_t hi, Value x) {
    for (int64_t left = lo, right = hi - 1; left < right;) {
        const double pivot = x(order[(left + right) / 2]);
        int64_t i = left, j = right;
        while (i <= j) {
            while (x(order[i]) < pivot) i++;
            while (x(order[j]) > pivot) j--;
            if (i <= j) std::swap(order[i++], order[j--]);
        }
        if (mid <= j)
            right = j;
        else if (mid >= i)
            left = i;
        else
            break;
    }
}

// A k-d tree: the order of its points, and the axis at which each divides; -1 in a leaf. The node of the points from
// lo to hi is the one in the middle, (lo + hi) / 2, the upper median along the axis of the widest spread: those
// before it are not larger, and those after it are not smaller.
static void build_tree(Matrix<const double> X, int64_t leaf_size, int64_t* order, int64_t* axis) {
    const int64_t N = X.rows, D = X.columns;
    std::iota(order, order + N, 0);
    std::fill(axis, axis + N, -1);
    std::vector<double> low(D), high(D);
    std::vector<std::pair<int64_t, int64_t>> stack{{0, N}};
    while (!stack.empty()) {
        const auto [lo, hi] = stack.back();
        stack.pop_back();
        if (hi - lo <= leaf_size) continue;
        std::copy_n(X[order[lo]], D, low.begin());
        std::copy_n(X[order[lo]], D, high.begin());
        for (int64_t i = lo; i < hi; i++) {
            const double* x = X[order[i]];
            for (int64_t d = 0; d < D; d++) low[d] = least(x[d], low[d]), high[d] = greatest(x[d], high[d]);
        }
        double widest = -1.0;
        int64_t at = 0;
        for (int64_t d = 0; d < D; d++)
            if (high[d] - low[d] > widest) widest = high[d] - low[d], at = d;
        const int64_t mid = (lo + hi) / 2;
        quickselect(order, lo, mid, hi, [&](int64_t n) { return X[n][at]; });
        axis[mid] = at;
        stack.push_back({lo, mid});
        stack.push_back({mid + 1, hi});
    }
}

struct KDTree {
    Matrix<const double> points;  // (D, N), in the order of the tree
    const int64_t *order, *axis;
    int64_t leaf_size;
    const double* weight;
};

// Depth-first searches of a k-d tree. A node is visited after the child on the side of the query, and before the
// other child, which is left out if its cell is farther than the nearest so far.
template <class Terms>
class TreeSearch {
  public:
    TreeSearch(const KDTree& tree, const Terms& terms, const Found& found, Vector<int64_t> visited)
        : tree(tree), points(tree.points), terms(terms), found(found), visited(visited), offset(points.rows),
          distance(std::min(tree.leaf_size, points.columns) + f64s::N) {}

    // Search for query q. Returns how many points were visited, whose places `visited` takes if it is not empty; -1
    // if the axis of a node is none of the features.
    int64_t operator()(int64_t q, const double* query) {
        std::fill(offset.begin(), offset.end(), 0.0);
        stack.clear();
        count = 0;
        for (Cell cell{0, points.columns, 0.0}; ;) {
            if (!descend(cell, query)) return -1;
            visit_leaf(cell, q, query);
            if (!next(cell, q, query)) return count;
        }
    }

  private:
    struct Cell {
        int64_t lo, hi;
        double bound;  // its distance from the query
    };
    // A node, of which the cell on the other side is to be visited; or, of no node, what is to be restored then.
    struct Step {
        Cell beyond;
        int64_t node, axis;
        double offset;
    };

    INLINE bool descend(Cell& cell, const double* query) {
        while (cell.hi - cell.lo > tree.leaf_size) {
            const int64_t mid = (cell.lo + cell.hi) / 2, d = tree.axis[mid];
            if (uint64_t(d) >= uint64_t(points.rows)) return false;
            Cell beyond = cell;
            if (query[d] < points[d][mid])
                beyond.lo = mid + 1, cell.hi = mid;
            else
                beyond.hi = mid, cell.lo = mid + 1;
            stack.push_back({beyond, mid, d, 0.0});
        }
        return true;
    }

    INLINE void visit_leaf(const Cell& cell, int64_t q, const double* query) {
        const int64_t n = cell.hi - cell.lo;
        int64_t i = 0;
        for (; i < n && n >= f64s::N; i += f64s::N) {
            i = std::min(i, n - f64s::N);  // the last eight
            f64s far{};
            for (int64_t d = 0; d < points.rows; d++)
                far = terms.add(far, terms.term(load(points[d] + cell.lo + i) - query[d]));
            store(&distance[i], far);
        }
        for (; i < n; i++) distance[i] = distance_of(cell.lo + i, query);
        for (i = 0; i < n; i++) {
            const int64_t place = cell.lo + i;
            if (distance[i] <= found.farthest(q)) found.insert(q, distance[i], tree.order[place], tree.weight[place]);
            visit(place);
        }
    }

    // Back to the last node whose other side may have nearer points: the cell there. Whether there is one.
    INLINE bool next(Cell& cell, int64_t q, const double* query) {
        while (!stack.empty()) {
            const Step step = stack.back();
            stack.pop_back();
            const int64_t mid = step.node, d = step.axis;
            if (mid < 0) {
                offset[d] = step.offset;
                continue;
            }
            const double total = distance_of(mid, query);
            if (total <= found.farthest(q)) found.insert(q, total, tree.order[mid], tree.weight[mid]);
            visit(mid);
            if (step.beyond.lo >= step.beyond.hi) continue;
            cell = step.beyond;
            const double beyond = terms.term(points[d][mid] - query[d]);
            if constexpr (std::is_same_v<Terms, Maximum>)
                cell.bound = greatest(cell.bound, beyond);
            else
                cell.bound += beyond - offset[d];
            if (cell.bound * (1.0 - 1e-12) > found.farthest(q)) continue;  // its rounding error is less
            stack.push_back({cell, -1, d, offset[d]});
            offset[d] = beyond;
            return true;
        }
        return false;
    }

    INLINE double distance_of(int64_t place, const double* query) const {
        double total = 0.0;
        for (int64_t d = 0; d < points.rows; d++) total = terms.add(total, terms.term(points[d][place] - query[d]));
        return total;
    }

    INLINE void visit(int64_t place) {
        if (visited.size) visited[count] = place;
        count++;
    }

    const KDTree& tree;
    Matrix<const double> points;
    Terms terms;
    const Found& found;
    Vector<int64_t> visited;
    std::vector<double> offset;  // of the cell from the query, along each axis
    std::vector<double> distance;
    std::vector<Step> stack;
    int64_t count = 0;
};

// Search a k-d tree. Returns how many points were visited of the last query; -1 if the tree is none.
template <class Terms>
static int64_t nearest_in_tree(const KDTree& tree, Matrix<const double> queries, const Terms& terms, const Found& found,
                               Vector<int64_t> visited) {
    TreeSearch<Terms> search(tree, terms, found, visited);
    int64_t count = 0;
    for (int64_t q = 0; q < queries.rows && count >= 0; q++) count = search(q, queries[q]);
    return count;
}

}  // namespace suffice
