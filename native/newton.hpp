// Growth of Newton trees to rows in memory, best-first, from histograms: see ensemble/newton.py.
//
// The rows of a node are next to each other. The histogram of the larger child of a node is that of the node
// less that of the smaller one. All sums are integers, so neither the order of the rows nor the number of
// threads decides a bit.
#pragma once

#include <memory>

#include "boosting.hpp"
#include "random.hpp"
#include "team.hpp"

namespace suffice::newton {

struct Data {
    Codes codes;                    // (N, D)
    Matrix<const uint8_t> columns;  // (D, N), the same
    Matrix<const bool> groups;      // (n, D), the features that may be on one path together; or none
    int lane;                       // of packed integers; or zero
};

// What stops growth. Without a limit of leaves, it is zero.
struct Growth {
    int64_t max_depth, least_split, max_features, max_leaves;
    int64_t least_shared;  // rows of a node that threads share
};

// The rows (n,) of nodes next to each other, and their integers (n, C).
struct Place {
    const uint32_t* rows;
    Matrix<const int64_t> entry;

    int64_t size() const { return entry.rows; }
};

// Room for them, which is not set to zero.
struct Room {
    std::unique_ptr<uint32_t[]> rows;
    std::unique_ptr<int64_t[]> entry;

    explicit Room(const Place& like)
        : rows(new uint32_t[like.size()]), entry(new int64_t[like.size() * like.entry.columns]) {}
    Place place(const Place& like) const { return {rows.get(), {entry.get(), like.size(), like.entry.columns}}; }
};

struct Node {
    int64_t start, stop, depth;
    int place;  // of its rows: 0 of the root, else 1 or 2
    uint64_t key;
    double low, high;  // bounds of its value
    int64_t parent;
    Sums sums{0, 0, 0};
    Split split;
    int64_t children[2] = {-1, -1};

    int64_t rows() const { return stop - start; }
};

class Tree {
  public:
    std::vector<Node> nodes;

    Tree(const Data& data, const Features& features, const Limits& limits, const Growth& growth, double penalty,
         const Place& root, Team& team)
        : data(data), features(features), limits(limits), growth(growth), penalty(penalty), rooms{Room(root), Room(root)},
          places{root, rooms[0].place(root), rooms[1].place(root)}, team(team), M(root.entry.columns),
          C(data.lane ? 2 : M), size(data.codes.columns * BINS * C),
          search(features), may_split(new bool[data.codes.columns]), partial(team.size()), lanes(team.size()),
          n_left(team.size()) {}

    void grow(uint64_t key) {
        constexpr double bound = std::numeric_limits<double>::infinity();
        nodes.push_back({0, places[0].size(), 0, 0, key, -bound, bound, -1});
        hists.push_back(histogram(nodes[0]));
        Sums total{0, 0, 0};
        for (int64_t b = 0; b < BINS; b++) add_bin(hists[0].get() + b * C, total);
        nodes[0].sums = with_weight(total, nodes[0].rows());
        find(0);
        for (int64_t n_leaves = 2; !open.empty() && !(growth.max_leaves && n_leaves > growth.max_leaves); n_leaves++)
            split(next(), n_leaves == growth.max_leaves);
        for (int64_t t : open) nodes[t].split.feature = NO_SPLIT;  // leaves that would have been split
    }

    // The rows in the order of the leaves.
    void order(uint32_t* out) const {
        for (const Node& node : nodes)
            if (node.children[0] < 0) std::copy_n(rows_of(node).data, node.rows(), out + node.start);
    }

  private:
    using Histogram = std::unique_ptr<int64_t[]>;

    Rows rows_of(const Node& node) const { return {places[node.place].rows + node.start, node.rows()}; }

    void add_bin(const int64_t* bin, Sums& to) const {
        to.h += bin[0];
        to.g += bin[1];
        to.w += C == 3 ? bin[2] : bin[0];
    }

    Sums with_weight(Sums s, int64_t rows) const {
        if (limits.mode == WEIGHT_IS_COUNTED) s.w = rows;
        return s;
    }

    // Rows in one part for each thread, if they are many.
    int64_t parts(int64_t rows) const { return rows < growth.least_shared ? 1 : team.size(); }
    static int64_t cut(const Node& node, int64_t i, int64_t parts) { return node.start + node.rows() * i / parts; }

    // --- histograms ----------------------------------------------------------------------------------------

    Histogram unused() {
        if (spare.empty()) return Histogram(new int64_t[size]);
        Histogram out = std::move(spare.back());
        spare.pop_back();
        return out;
    }

    void drop(int64_t t) {
        if (hists[t]) spare.push_back(std::move(hists[t]));
    }

    void add_part(const Node& node, int64_t a, int64_t b, std::vector<uint64_t>& space, int64_t* hist) {
        std::fill_n(hist, size, 0);
        const Rows rows{places[node.place].rows + a, b - a};
        const int64_t* entry = places[node.place].entry[a];
        if (data.lane)
            add_lanes(data.codes, rows, entry, data.lane, space.data(), hist);
        else
            add_entries(data.codes, rows, {entry, b - a, M}, hist);
    }

    Histogram histogram(const Node& node) {
        const int64_t P = parts(node.rows());
        Histogram out = unused();
        for (int64_t i = 0; i < P; i++) {
            if (data.lane) lanes[i].resize(data.codes.columns * BINS);
            if (i > 0 && !partial[i]) partial[i] = unused();
        }
        team.each(P, [&](int64_t i) {
            add_part(node, cut(node, i, P), cut(node, i + 1, P), lanes[i], i ? partial[i].get() : out.get());
        });
        for (int64_t i = 1; i < P; i++)
            for (int64_t b = 0; b < size; b++) out[b] += partial[i][b];
        return out;
    }

    // --- splits --------------------------------------------------------------------------------------------

    bool may_be_split(const Node& node) const {
        return node.depth < growth.max_depth &&
               node.sums.w >= std::max(2 * limits.least_w, growth.least_split) &&
               node.sums.h >= 2 * limits.least_h;
    }

    // Whether the features of the splits above a node are all in a group.
    bool holds_path(const bool* group, const Node& node) const {
        for (int64_t t = node.parent; t >= 0; t = nodes[t].parent)
            if (!group[nodes[t].split.feature]) return false;
        return true;
    }

    // The features that may split a node: those that interact with its path, and of these a sample.
    void choose_features(const Node& node) {
        const int64_t D = data.codes.columns;
        std::fill_n(may_split.get(), D, data.groups.rows == 0);
        for (int64_t i = 0; i < data.groups.rows; i++)
            if (holds_path(data.groups[i], node))
                for (int64_t d = 0; d < D; d++) may_split[d] = may_split[d] || data.groups[i][d];
        if (growth.max_features >= D) return;
        std::vector<std::pair<uint64_t, int64_t>> drawn;
        for (int64_t d = 0; d < D; d++)
            if (may_split[d]) drawn.push_back({mixed(node.key + uint64_t(d)), d});
        std::sort(drawn.begin(), drawn.end());
        const int64_t candidates = int64_t(drawn.size()), n = (growth.max_features * candidates + D - 1) / D;
        std::fill_n(may_split.get(), D, false);
        for (int64_t i = 0; i < n; i++) may_split[drawn[i].second] = true;
    }

    Value value_in(const Node& node) const { return {penalty, node.low, node.high}; }

    // Find the best split of a node. Without one, its histogram is dropped.
    void find(int64_t t) {
        Node& node = nodes[t];
        if (!hists[t]) return;
        if (may_be_split(node)) {
            choose_features(node);
            const Tensor<const int64_t> hist{hists[t].get(), data.codes.columns, BINS, C};
            node.split = search.find(hist, may_split.get(), node.sums, limits, value_in(node), data.codes,
                                     rows_of(node));
        }
        if (node.split.feature == NO_SPLIT)
            drop(t);
        else
            open.push_back(t);
    }

    // The node with the largest gain; of equal ones, with the smallest key, which is of the path alone.
    int64_t next() {
        const auto best = std::min_element(open.begin(), open.end(), [&](int64_t s, int64_t t) {
            const Node &a = nodes[s], &b = nodes[t];
            if (a.split.gain != b.split.gain) return a.split.gain > b.split.gain;
            return a.key != b.key ? a.key < b.key : s < t;
        });
        const int64_t t = *best;
        open.erase(best);
        return t;
    }

    // --- children ------------------------------------------------------------------------------------------

    // Whether each code of the feature that splits a node goes left.
    void set_goes_left(const Split& split) {
        const int64_t d = split.feature;
        std::fill_n(goes_left, BINS, false);
        if (features.categorical[d])
            for (int64_t b : split.left) goes_left[b] = true;
        else
            std::fill_n(goes_left, split.edge + 1, true);
        goes_left[features.n_bins[d]] = split.side == MISSING_LEFT;
    }

    // Move the rows of a node to the other place, first those that go left, and keep their order. Returns
    // their number.
    int64_t divide(const Node& node) {
        const uint8_t* column = data.columns[node.split.feature];
        const uint32_t* rows = places[node.place].rows;
        const int64_t P = parts(node.rows());
        team.each(P, [&](int64_t i) {
            int64_t n = 0;
            for (int64_t j = cut(node, i, P); j < cut(node, i + 1, P); j++) n += goes_left[column[rows[j]]];
            n_left[i] = n;
        });
        const int64_t total = std::accumulate(n_left.begin(), n_left.begin() + P, int64_t(0));
        const auto move = M == 1 ? &Tree::move_rows<1> : M == 2 ? &Tree::move_rows<2> : &Tree::move_rows<3>;
        team.each(P, [&](int64_t i) {
            const int64_t before = std::accumulate(n_left.begin(), n_left.begin() + i, int64_t(0));
            const int64_t a = cut(node, i, P), right = node.start + total + (a - node.start - before);
            (this->*move)(node, a, cut(node, i + 1, P), node.start + before, right);
        });
        return total;
    }

    static int other_place(const Node& node) { return node.place == 1 ? 2 : 1; }

    // Those from a to b: the next that goes left to `left`, the others to `right`.
    template <int M>
    void move_rows(const Node& node, int64_t a, int64_t b, int64_t left, int64_t right) {
        const uint8_t* column = data.columns[node.split.feature];
        const Place& from = places[node.place];
        const Room& to = rooms[other_place(node) - 1];
        const uint32_t* rows = from.rows;
        const int64_t* entry = from.entry.data;
        uint32_t* __restrict to_rows = to.rows.get();
        int64_t* __restrict to_entry = to.entry.get();
        for (int64_t j = a; j < b; j++) {
            const bool goes = goes_left[column[rows[j]]];
            const int64_t k = goes ? left : right;  // no branch for the processor to guess
            to_rows[k] = rows[j];
            for (int m = 0; m < M; m++) to_entry[k * M + m] = entry[j * M + m];
            left += goes;
            right += !goes;
        }
    }

    void split(int64_t t, bool is_last) {
        const Node node = nodes[t];
        const int64_t d = node.split.feature;
        set_goes_left(node.split);
        const int64_t* bins = hists[t].get() + d * BINS * C;
        Sums sums{0, 0, 0};
        for (int64_t b = 0; b < BINS; b++)
            if (goes_left[b]) add_bin(bins + b * C, sums);
        const Sums others{node.sums.h - sums.h, node.sums.g - sums.g, node.sums.w - sums.w};
        const int64_t middle = node.start + divide(node), depth = node.depth + 1;
        const int place = other_place(node);
        Node left{node.start, middle, depth, place, mixed(node.key ^ 1), node.low, node.high, t};
        Node right{middle, node.stop, depth, place, mixed(node.key ^ 2), node.low, node.high, t};
        left.sums = with_weight(sums, left.rows());
        right.sums = with_weight(others, right.rows());
        if (features.cst[d] != 0) {
            const Value value = value_in(node);
            const double between = 0.5 * (value(double(sums.g), double(sums.h)) + value(double(others.g), double(others.h)));
            (features.cst[d] > 0 ? left : right).high = between;
            (features.cst[d] > 0 ? right : left).low = between;
        }
        const int64_t first = int64_t(nodes.size());
        nodes[t].children[0] = first, nodes[t].children[1] = first + 1;
        nodes.push_back(left);
        nodes.push_back(right);
        hists.resize(first + 2);
        if (!is_last && (may_be_split(left) || may_be_split(right))) {
            const int64_t small = left.rows() <= right.rows() ? first : first + 1, large = 2 * first + 1 - small;
            hists[small] = histogram(nodes[small]);
            hists[large] = std::move(hists[t]);
            for (int64_t b = 0; b < size; b++) hists[large][b] -= hists[small][b];
        }
        drop(t);
        find(first);
        find(first + 1);
    }

    const Data data;
    const Features features;
    const Limits limits;
    const Growth growth;
    const double penalty;
    const Room rooms[2];
    const Place places[3];
    Team& team;
    const int64_t M, C, size;  // columns of rows; columns and numbers of a histogram
    Search search;
    std::unique_ptr<bool[]> may_split;
    bool goes_left[BINS];
    std::vector<Histogram> hists, spare, partial;   // of nodes; unused; of threads
    std::vector<std::vector<uint64_t>> lanes;  // of threads
    std::vector<int64_t> n_left, open;         // of threads; nodes that have a split, but no children
};

}  // namespace suffice::newton
