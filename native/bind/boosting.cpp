#include "../newton.hpp"

#include "growth.hpp"

namespace suffice {

using namespace newton;

static Codes codes_of(const In<uint8_t, 2>& codes, const In<uint32_t, 1>& rows) {
    must(are_below(rows, codes.shape(0)), "rows must be numbers of rows of codes");
    return matrix(codes);
}

static void must_be_histogram(size_t features, size_t bins, size_t D) {
    must(features == D && bins == size_t(BINS), "hist must have the features of codes, and 256 bins of each");
}

// What splits need to know about D features.
struct GivenFeatures {
    In<int64_t, 1> n_bins;
    In<bool, 1> categorical;

    using Tuple = std::tuple<In<int64_t, 1>, In<bool, 1>>;
};

// `Rules` of ensemble/newton.py.
struct GivenRules {
    int64_t mode, least_curvature, most;
    double smoothing, penalty;

    using Tuple = std::tuple<int64_t, int64_t, int64_t, double, double>;
};

static Features features_of(const GivenFeatures& f, const GivenRules& rules, const In<int8_t, 1>& cst, size_t D) {
    must(f.n_bins.shape(0) == D && f.categorical.shape(0) == D && cst.shape(0) == D,
         "n_bins, categorical and constraints must have the features of codes");
    for (size_t d = 0; d < D; d++)
        must(0 <= f.n_bins.data()[d] && f.n_bins.data()[d] < BINS, "n_bins must be less than 256");
    return {vector(f.n_bins), f.categorical.data(), cst.data(), rules.smoothing};
}

static Limits limits_of(const GivenRules& rules, const GivenLimits& l) {
    must(WEIGHT_IS_CURVATURE <= rules.mode && rules.mode <= WEIGHT_IS_COUNTED, "there is no such mode");
    return {rules.mode, rules.least_curvature, l.least, rules.most};
}

static void must_be_lane(int64_t lane) { must(0 <= lane && lane < 63, "lane must be a number of bits"); }

static void bind_rows(nb::module_& m) {
    m.def(
        "pack",
        [](In<double, 1> g, In<double, 1> h, double gradient_unit, double curvature_unit, int64_t lane,
           InOut<int64_t, 2> out) {
            const size_t N = g.shape(0);
            must(h.shape(0) == 0 || h.shape(0) == N, "h must have the rows of g, or none");
            must(out.shape(0) == N && out.shape(1) == 1, "out must be (N, 1)");
            must_be_lane(lane);
            without_gil([&] {
                pack(vector(g), h.shape(0) ? h.data() : nullptr, gradient_unit, curvature_unit, int(lane),
                     out.data());
            });
        },
        arg("g"), arg("h"), nb::arg("gradient_unit"), nb::arg("curvature_unit"), arg("lane"), arg("out"),
        "The gradients and curvatures of rows of weight one as integers in one: out (N, 1). Without a curvature, "
        "which is an empty array, it is one unit.");
    m.def(
        "add_to_rows",
        [](In<uint32_t, 1> rows, In<int64_t, 1> start, In<int64_t, 1> stop, In<double, 1> value, int64_t k,
           InOut<double, 2> score) {
            const size_t T = start.shape(0);
            must(stop.shape(0) == T && value.shape(0) == T, "start, stop and value must have the same leaves");
            for (size_t t = 0; t < T; t++)
                must(start.data()[t] >= 0 && stop.data()[t] <= int64_t(rows.shape(0)),
                     "start and stop must be places of rows");
            must(0 <= k && k < int64_t(score.shape(1)), "k must be a column of score");
            must(are_below(rows, score.shape(0)), "rows must be numbers of rows of score");
            without_gil([&] {
                add_to_rows(rows.data(), vector(start), stop.data(), value.data(), k, matrix(score));
            });
        },
        arg("rows"), arg("start"), arg("stop"), arg("value"), arg("k"), arg("score"),
        "Add the value of each leaf to raw score k of its rows, those from start to stop: score (N, K).");
}

template <class T, class Of>
static Out<T, 1> column(const std::vector<Node>& nodes, Of of) {
    auto out = zeros<T>(nodes.size());
    for (size_t t = 0; t < nodes.size(); t++) out.data()[t] = of(nodes[t]);
    return out;
}

template <class T, class Of>
static Out<T, 2> pairs(const std::vector<Node>& nodes, Of of) {
    auto out = zeros<T>(nodes.size(), 2);
    for (size_t t = 0; t < 2 * nodes.size(); t++) out.data()[t] = of(nodes[t / 2], t % 2);
    return out;
}

// What `Grown` of tree/growth.py has, the spans of nodes, and the rows.
static nb::tuple grown(const Tree& tree, size_t n) {
    const auto& t = tree.nodes;
    auto sums = zeros<int64_t>(t.size(), 3);
    for (size_t i = 0; i < t.size(); i++) std::copy_n(&t[i].sums.h, 3, sums.data() + 3 * i);
    std::vector<int64_t> categories, stop;
    for (const Node& node : t) {
        categories.insert(categories.end(), node.split.left.begin(), node.split.left.end());
        stop.push_back(int64_t(categories.size()));
    }
    auto order = zeros<uint32_t>(n);
    without_gil([&] { tree.order(order.data()); });
    const auto number = [&](const Node& node) { return &node - t.data(); };
    const auto size = [](const Node& node) { return int64_t(node.split.left.size()); };
    return nb::make_tuple(column<int64_t>(t, [](const Node& n) { return n.split.feature; }),
                          pairs<int64_t>(t, [](const Node& n, int s) { return n.children[s]; }),
                          pairs<int64_t>(t, [](const Node& n, int s) { return n.split.edge + s; }),
                          column<int64_t>(t, [](const Node& n) { return n.split.side; }), sums,
                          column<bool>(t, [](const Node&) { return false; }),
                          column<double>(t, [](const Node& n) { return n.split.gain; }),
                          column<uint64_t>(t, [](const Node& n) { return n.key; }),
                          pairs<double>(t, [](const Node& n, int s) { return s ? n.high : n.low; }),
                          column<int64_t>(t, [&](const Node& n) { return stop[number(n)] - size(n); }),
                          column<int64_t>(t, [&](const Node& n) { return stop[number(n)]; }), array_of(categories),
                          pairs<int64_t>(t, [](const Node& n, int s) { return s ? n.stop : n.start; }), order);
}

static void bind_growth(nb::module_& m) {
    m.def(
        "grow_newton",
        [](In<uint8_t, 2> codes, In<uint8_t, 2> columns, In<uint32_t, 1> rows, In<int64_t, 2> entry, int64_t lane,
           GivenFeatures::Tuple features, In<bool, 2> groups, GivenRules::Tuple rules, GivenLimits::Tuple limits,
           int64_t threads, int64_t least_shared) {
            const size_t N = codes.shape(0), D = codes.shape(1), n = rows.shape(0), M = entry.shape(1);
            const auto given = made<GivenFeatures>(features);
            const auto given_rules = made<GivenRules>(rules);
            const auto given_limits = made<GivenLimits>(limits);
            must(columns.shape(0) == D && columns.shape(1) == N, "columns must be the codes, turned");
            must(D > 0 && groups.shape(1) == D, "codes and groups must have the same features");
            const Features of_features = features_of(given, given_rules, given_limits.constraints, D);
            const Limits of_leaves = limits_of(given_rules, given_limits);
            must(entry.shape(0) == n, "entry must have the rows");
            must_be_lane(lane);
            const int64_t mode = of_leaves.mode;
            must(mode == WEIGHT_IS_COUNTED ? lane > 0 : lane == 0 || mode == WEIGHT_IS_CURVATURE,
                 "weights must be counted where curvatures are packed");
            must(M == (lane ? 1 : mode == WEIGHT_IS_COLUMN ? 3 : 2), "entry must have the columns of the mode");
            const Data data{matrix(codes), matrix(columns), matrix(groups), int(lane)};
            const Growth growth{given_limits.max_depth, given_limits.least_split, given_limits.max_features,
                                given_limits.max_leaves, least_shared};
            Team team(int64_t(n) < least_shared ? 1 : std::max<int64_t>(threads, 1));
            Tree tree(data, of_features, of_leaves, growth, given_rules.penalty, {rows.data(), matrix(entry)}, team);
            without_gil([&] {
                codes_of(codes, rows);
                tree.grow(given_limits.key);
            });
            return grown(tree, n);
        },
        arg("codes"), arg("columns"), arg("rows"), arg("entry"), arg("lane"), arg("features"), arg("groups"),
        arg("rules"), arg("limits"), arg("threads"), arg("least_shared"),
        R"(Grow a Newton tree to rows in memory, best-first. Nodes are numbered in the order in which they are made.

Returns of each node the feature, the children, the last bin on the left and the next, where missing values go,
the sums, whether targets are all equal, which is not known, the gain, the key, the bounds of its value, where
the categories on the left start and stop in the next array; those categories; where the rows of each node start
and stop in the last array; and the rows, in the order of the leaves.

Parameters
----------
codes, columns : (N, D) and (D, N) of all rows; code n_bins[d] means missing.
rows, entry : (n,) and (n, M), those of the tree and their integers; if `lane` is not zero, packed above so many
    bits.
features : n_bins and categorical, (D,).
groups : (n, D), the features that may be on one path together; empty if all may.
rules, limits : `Rules` of ensemble/newton.py, and `Limits` of tree/growth.py.
threads, least_shared : threads share the rows of a node if it has so many.)");
}

TOPIC(boosting) {
    m.doc() = "Histograms of gradients and curvatures, and the splits of Newton trees, from codes of one byte.";
    m.def(
        "add_entries",
        [](In<uint8_t, 2> codes, In<uint32_t, 1> rows, In<int64_t, 2> entry, InOut<int64_t, 3> hist) {
            must_be_histogram(hist.shape(0), hist.shape(1), codes.shape(1));
            must(hist.shape(2) == entry.shape(1) && (hist.shape(2) == 2 || hist.shape(2) == 3),
                 "hist and entry must have two or three columns");
            must(entry.shape(0) == rows.shape(0), "entry must have the rows");
            without_gil(
                [&] { add_entries(codes_of(codes, rows), vector(rows), matrix(entry), hist.data()); });
        },
        arg("codes"), arg("rows"), arg("entry"), arg("hist"),
        "Add rows with the integers (N, C) to a histogram (D, 256, C). The codes are those of all rows.");
    bind_rows(m);
    bind_growth(m);
    m.def(
        "find_newton_split",
        [](In<int64_t, 3> hist, In<int64_t, 1> total, GivenFeatures::Tuple features, In<bool, 1> allowed,
           GivenRules::Tuple rules, GivenLimits::Tuple limits, GivenRoot::Tuple root, In<uint8_t, 2> codes,
           In<uint32_t, 1> rows) {
            const auto given = made<GivenFeatures>(features);
            const auto given_rules = made<GivenRules>(rules);
            const auto given_limits = made<GivenLimits>(limits);
            const auto at = made<GivenRoot>(root);
            const size_t D = codes.shape(1);
            must_be_histogram(hist.shape(0), hist.shape(1), D);
            must(allowed.shape(0) == D, "allowed must have the features of codes");
            const Features of_features = features_of(given, given_rules, given_limits.constraints, D);
            const Limits of_leaves = limits_of(given_rules, given_limits);
            must(hist.shape(2) == (of_leaves.mode == WEIGHT_IS_COLUMN ? 3 : 2),
                 "hist must have the columns of the mode");
            must(total.shape(0) == 3, "total must be curvature, gradient and weight");
            const int64_t* t = total.data();
            const Split best = without_gil([&] {
                Search search(of_features);
                return search.find(tensor(hist), allowed.data(), {t[0], t[1], t[2]}, of_leaves,
                                   {given_rules.penalty, at.low, at.high}, codes_of(codes, rows), vector(rows));
            });
            return nb::make_tuple(best.gain, best.feature, best.edge, best.side, array_of(best.left));
        },
        arg("hist"), arg("total"), arg("features"), arg("allowed"), arg("rules"), arg("limits"), arg("root"),
        arg("codes"), arg("rows"),
        R"(The best split of a node with the sums `total` (curvature, gradient, weight), from its histogram.

Returns the gain, the feature, the last bin on the left, where missing values go, and the categories on the
left. The first feature and the lowest bin win after equal gains.

Parameters
----------
features, rules, limits : those of `grow_newton`.
allowed : bool (D,), the features that may be split.
root : `Root` of tree/growth.py, with the bounds of the value of the node.
codes, rows : (N, D) of all rows, and the rows of the node, to count weights.)");
}

}  // namespace suffice
