#include "../trees.hpp"

#include "growth.hpp"

namespace suffice {

using namespace trees;

static void one_for_each(const char* otherwise, size_t n, std::initializer_list<size_t> sizes) {
    for (size_t size : sizes) must(size == n, otherwise);
}

// The columns of records as arrays of NumPy.
template <class T, class Record, class Of>
static Out<T, 1> column(const std::vector<Record>& records, Of of) {
    auto out = zeros<T>(records.size());
    for (size_t i = 0; i < records.size(); i++) out.data()[i] = of(records[i]);
    return out;
}

template <class T, class Record, class Of>
static Out<T, 2> pairs(const std::vector<Record>& records, Of of) {
    auto out = zeros<T>(records.size(), 2);
    for (size_t i = 0; i < records.size(); i++)
        for (int s = 0; s < 2; s++) out.data()[2 * i + s] = of(records[i], s);
    return out;
}

static Out<int64_t, 1> vector_of(const std::vector<int64_t>& x) {
    return column<int64_t>(x, [](int64_t v) { return v; });
}

static Criterion criterion_of(int64_t kind, int64_t n_outputs) {
    must(Criterion::GINI <= kind && kind <= Criterion::INDICATORS, "there is no such criterion");
    must(n_outputs >= 1, "n_outputs must be positive");
    return {kind, n_outputs};
}

// What splits need to know about D features.
struct Features {
    In<int64_t, 1> n_bins;
    In<bool, 1> categorical;
    In<int64_t, 1> offset;
    In<double, 1> values;

    using Tuple = std::tuple<In<int64_t, 1>, In<bool, 1>, In<int64_t, 1>, In<double, 1>>;

    template <class Code>
    Data<Code> data(Matrix<const Code> codes, const In<int8_t, 1>& cst) const {
        const size_t D = n_bins.shape(0);
        one_for_each("n_bins, categorical and constraints must have the features of codes", codes.rows,
                     {D, categorical.shape(0), cst.shape(0)});
        must(offset.shape(0) == D + 1, "offset must have one number more than there are features");
        for (size_t d = 0; d < D; d++)
            must(n_bins.data()[d] >= 0 && offset.data()[d + 1] - offset.data()[d] == n_bins.data()[d] + 1,
                 "offset must have the bins of n_bins");
        must(D == 0 || offset.data()[0] == 0, "offset must begin with zero");
        must(values.shape(0) == 0 || values.shape(0) >= size_t(offset.data()[D]),
             "values must be those of all bins");
        return {codes,         n_bins.data(), categorical.data(),
                cst.data(),    offset.data(), values.shape(0) ? values.data() : nullptr};
    }
};

static Limits limits_of(const GivenLimits& l) {
    return {l.max_depth, l.least_split, l.least, l.least_gain, l.max_features, l.max_leaves};
}

template <class Code>
static void codes_within(Matrix<const Code> codes, const int64_t* n_bins) {
    for (int64_t d = 0; d < codes.rows; d++) {
        Code largest = 0;
        for (int64_t i = 0; i < codes.columns; i++) largest = std::max(largest, codes[d][i]);
        must(int64_t(largest) <= n_bins[d], "codes must be at most n_bins");
    }
}

static void classes_within(const In<int64_t, 1>& group, int64_t O) {
    for (size_t i = 0; i < group.shape(0); i++)
        must(uint64_t(group.data()[i]) < uint64_t(O), "group must be numbers of outputs");
}

template <class Code>
static void bind_growth(nb::module_& m) {
    m.def(
        "grow",
        [](In<Code, 2> codes, In<int64_t, 1> group, In<int64_t, 2> entry, Features::Tuple features,
           int64_t criterion, int64_t n_outputs, GivenLimits::Tuple limits, GivenRoot::Tuple root) {
            const auto given = made<Features>(features);
            const auto given_limits = made<GivenLimits>(limits);
            const auto from = made<GivenRoot>(root);
            const Data<Code> data = given.data(matrix(codes), given_limits.constraints);
            const Criterion c = criterion_of(criterion, n_outputs);
            const int64_t N = codes.shape(1), S = c.classes() ? n_outputs : entry.shape(1);
            must(0 < N && N <= std::numeric_limits<int32_t>::max(), "there must be 1 to 2^31 - 1 rows");
            one_for_each("group and entry must have the rows of codes", N, {group.shape(0), entry.shape(0)});
            must(entry.shape(1) >= (c.classes() ? 1 : size_t(std::max<int64_t>(n_outputs, 2))),
                 "entry must have the outputs");
            Tree<Code> tree(data, c, limits_of(given_limits), matrix(entry));
            without_gil([&] {
                codes_within(matrix(codes), data.n_bins);
                if (c.classes()) classes_within(group, n_outputs);
                for (int64_t i = 0; i < N; i++)
                    must(entry.data()[i * entry.shape(1)] > 0, "weights must be positive");
                tree.grow({0, N, from.depth, from.key, from.low, from.high}, group.data());
            });
            auto sums = zeros<int64_t>(tree.nodes.size(), S);
            std::copy(tree.sums.begin(), tree.sums.end(), sums.data());
            const auto& t = tree.nodes;
            return nb::make_tuple(column<int64_t>(t, [](const Node& n) { return n.feature; }),
                                  pairs<int64_t>(t, [](const Node& n, int s) { return n.children[s]; }),
                                  pairs<int64_t>(t, [](const Node& n, int s) { return n.edges[s]; }),
                                  column<int8_t>(t, [](const Node& n) { return n.side; }), sums,
                                  column<bool>(t, [](const Node& n) { return n.pure; }),
                                  column<double>(t, [](const Node& n) { return n.gain; }),
                                  column<uint64_t>(t, [](const Node& n) { return n.key; }),
                                  pairs<double>(t, [](const Node& n, int s) { return s ? n.high : n.low; }),
                                  column<int64_t>(t, [](const Node& n) { return n.set_start; }),
                                  column<int64_t>(t, [](const Node& n) { return n.set_stop; }),
                                  vector_of(tree.sets));
        },
        arg("codes"), arg("group"), arg("entry"), arg("features"), arg("criterion"), arg("n_outputs"),
        arg("limits"), arg("root"),
        R"(Grow a tree to rows in memory. Nodes are numbered in the order in which they are made.

Parameters
----------
codes : (D, N) unsigned; code n_bins[d] means missing.
group : int64 (N,), the class, or an integer that is equal for equal targets.
entry : int64 (N, M), the weight, which is positive; and for numbers and several targets the weighted targets,
    and terms that are summed in nodes, but not for splits.
features, limits, root : `loops.trees.Features`, and `Limits` and `Root` of tree/growth.py. The key is that of
    the root.)");
    m.def(
        "leaves_of_codes",
        [](In<Code, 2> codes, In<int64_t, 1> n_bins, In<int64_t, 1> feature, In<int64_t, 2> children,
           In<int64_t, 1> edge, In<bool, 1> missing_left, In<int64_t, 1> set_start, In<bool, 1> goes_left,
           InOut<int64_t, 1> out) {
            must(codes.shape(0) == n_bins.shape(0), "n_bins must have the features of codes");
            must(codes.shape(1) == out.shape(0), "out must have the rows of codes");
            one_for_each("a tree must have as many of each of its parts", feature.shape(0),
                         {children.shape(0), edge.shape(0), missing_left.shape(0), set_start.shape(0)});
            must(children.shape(1) == 2 && feature.shape(0) > 0, "a tree must have nodes with two children");
            const Splits tree{feature.data(),      matrix(children),  edge.data(),      nullptr,
                              missing_left.data(), set_start.data(), goes_left.data()};
            without_gil([&] { leaves_of_codes(matrix(codes), n_bins.data(), tree, out.data()); });
        },
        arg("codes"), arg("n_bins"), arg("feature"), arg("children"), arg("edge"), arg("missing_left"),
        arg("set_start"), arg("goes_left"), arg("out"), "The leaf of each row, from its codes (D, N).");
    m.def(
        "add_histograms",
        [](In<Code, 2> codes, In<int64_t, 1> node, In<int64_t, 1> group, In<int64_t, 2> entry, bool classes,
           In<int64_t, 1> offset, InOut<int64_t, 3> count, InOut<int64_t, 2> sums, InOut<int64_t, 1> low,
           InOut<int64_t, 1> high, InOut<int64_t, 1> rows) {
            const size_t D = codes.shape(0), N = codes.shape(1), T = count.shape(0), O = count.shape(2);
            one_for_each("codes, node, group and entry must have the same rows", N,
                         {node.shape(0), group.shape(0), entry.shape(0)});
            one_for_each("count, sums, low, high and rows must have the same nodes", T,
                         {sums.shape(0), low.shape(0), high.shape(0), rows.shape(0)});
            must(offset.shape(0) == D + 1 && offset.data()[0] == 0, "offset must begin with zero");
            must(size_t(offset.data()[D]) <= count.shape(1), "count must have all bins");
            must(sums.shape(1) >= (classes ? O : entry.shape(1)), "sums must have the outputs");
            must(entry.shape(1) >= (classes ? 1 : std::max<size_t>(O, 2)) && (classes || O >= 2),
                 "entry must have the outputs");
            std::vector<int64_t> n_bins(D);
            for (size_t d = 0; d < D; d++) n_bins[d] = offset.data()[d + 1] - offset.data()[d] - 1;
            without_gil([&] {
                codes_within(matrix(codes), n_bins.data());
                if (classes) classes_within(group, O);
                for (size_t i = 0; i < N; i++)
                    must(node.data()[i] < int64_t(T), "node must be numbers of nodes");
                const Histograms to{tensor(count), matrix(sums), low.data(), high.data(), rows.data()};
                add_histograms(matrix(codes), node.data(), group.data(), matrix(entry), classes,
                               offset.data(), to);
            });
        },
        arg("codes"), arg("node"), arg("group"), arg("entry"), arg("classes"), arg("offset"), arg("count"),
        arg("sums"), arg("low"), arg("high"), arg("rows"),
        "Add rows (D, N) to the histograms (T, B, O) and the sums of their nodes; a node of -1 is none. The "
        "bins of feature d are those from offset[d] on.");
}

// The trees of a forest, of which a row of X takes the splits.
static Splits splits_of(const In<int64_t, 1>& feature, const In<int64_t, 2>& children,
                        const In<double, 1>& threshold, const In<bool, 1>& missing_left,
                        const In<int64_t, 1>& set_start, const In<bool, 1>& goes_left,
                        const In<int64_t, 1>& root) {
    const size_t n = feature.shape(0);
    one_for_each("trees must have as many of each of their parts", n,
                 {children.shape(0), threshold.shape(0), missing_left.shape(0), set_start.shape(0)});
    must(children.shape(1) == 2, "nodes must have two children");
    for (size_t m = 0; m < root.shape(0); m++)
        must(uint64_t(root.data()[m]) < n, "root must be numbers of nodes");
    return {feature.data(),      matrix(children),  nullptr,         threshold.data(),
            missing_left.data(), set_start.data(), goes_left.data()};
}

TOPIC(trees) {
    m.doc() = "Growth of decision trees from codes of features and integer sums, and their evaluation.";
    m.def(
        "find_split",
        [](In<int64_t, 2> folded, In<int64_t, 1> total, Features::Tuple features, int64_t criterion,
           GivenLimits::Tuple limits, GivenRoot::Tuple root) {
            const auto given = made<Features>(features);
            const auto given_limits = made<GivenLimits>(limits);
            const auto from = made<GivenRoot>(root);
            const Matrix<const uint8_t> no_codes{nullptr, int64_t(given.n_bins.shape(0)), 0};
            const Data<uint8_t> data = given.data(no_codes, given_limits.constraints);
            const Criterion c = criterion_of(criterion, total.shape(0));
            must(folded.shape(0) == size_t(data.offset[data.D()]), "folded must have all bins");
            must(folded.shape(1) == total.shape(0), "folded and total must have the same outputs");
            Search<uint8_t> search(data, c, limits_of(given_limits), 0);
            const Split s = without_gil([&] {
                const Node node{0, 0, from.depth, from.key, from.low, from.high};
                return search.find(node, {nullptr, nullptr, {}}, folded.data(), total.data());
            });
            const bool is_set = s.feature >= 0 && data.categorical[s.feature];
            const auto set = vector_of(is_set ? search.set() : std::vector<int64_t>());
            return nb::make_tuple(s.gain, s.feature, s.below, s.above, s.side, set);
        },
        arg("folded"), arg("total"), arg("features"), arg("criterion"), arg("limits"), arg("root"),
        R"(The best split of a node with these sums, from its `folded` histograms, in which the bins of feature
d are those from offset[d] on. If there are `values` of the bins, thresholds are drawn at random.

Returns the gain, the feature, the bins at both sides of the threshold, where missing values go, and the
categories on the left. After equal gains, the first feature wins. The parameters are those of `grow`.)");
    bind_growth<uint8_t>(m);
    bind_growth<uint16_t>(m);
    bind_growth<uint32_t>(m);
    m.def(
        "preorder",
        [](In<int64_t, 2> children) {
            const int64_t N = children.shape(0);
            must(children.shape(1) == 2, "children must be (N, 2)");
            for (int64_t i = 0; i < 2 * N; i++)
                must(children.data()[i] < N && (children.data()[i] >= 0) == (children.data()[i ^ 1] >= 0),
                     "children must be two numbers of nodes, or none");
            auto out = zeros<int64_t>(N);
            without_gil([&] { preorder(matrix(children), out.data()); });
            return out;
        },
        arg("children"), "The nodes of a binary tree: each before its left subtree, then its right one.");
    m.def(
        "leaves_by_table",
        [](In<uint8_t, 2> codes, In<int64_t, 1> feature, In<int32_t, 1> following, int64_t depth,
           InOut<int64_t, 1> out) {
            const size_t n = feature.shape(0);
            must(n > 0 && following.shape(0) == 256 * n, "following must have 256 numbers for each node");
            must(codes.shape(0) == out.shape(0), "out must have the rows of codes");
            without_gil([&] {
                leaves_by_table(matrix(codes), feature.data(), following.data(), depth, out.data());
            });
        },
        arg("codes"), arg("feature"), arg("following"), arg("depth"), arg("out"),
        "The leaf of each row, from its codes of one byte (N, D), one row after the other. `following` has "
        "for each node and code the next node, which for a leaf is itself: no branch for the processor to "
        "guess.");
    m.def(
        "leaves_of_rows",
        [](In<double, 2> X, In<int64_t, 1> root, In<int64_t, 1> feature, In<int64_t, 2> children,
           In<double, 1> threshold, In<bool, 1> missing_left, In<int64_t, 1> set_start, In<bool, 1> goes_left,
           InOut<int64_t, 2> out) {
            const Splits trees =
                splits_of(feature, children, threshold, missing_left, set_start, goes_left, root);
            must(out.shape(0) == X.shape(0) && out.shape(1) == root.shape(0), "out must be (N, M)");
            without_gil([&] { leaves_of_rows(matrix(X), root.data(), trees, matrix(out)); });
        },
        arg("X"), arg("root"), arg("feature"), arg("children"), arg("threshold"), arg("missing_left"),
        arg("set_start"), arg("goes_left"), arg("out"),
        "The leaf of each row of X (N, D) in each of the trees with these roots, out (N, M). Categories are "
        "codes, and NaN is missing.");
    m.def(
        "add_leaf_values",
        [](In<double, 2> X, In<int64_t, 1> root, In<int64_t, 1> feature, In<int64_t, 2> children,
           In<double, 1> threshold, In<bool, 1> missing_left, In<int64_t, 1> set_start, In<bool, 1> goes_left,
           In<double, 2> value, In<int64_t, 1> output, InOut<double, 2> out) {
            const Splits trees =
                splits_of(feature, children, threshold, missing_left, set_start, goes_left, root);
            must(value.shape(0) == feature.shape(0), "value must have a row for each node");
            must(out.shape(0) == X.shape(0), "out must have the rows of X");
            must(output.shape(0) == root.shape(0), "output must have a number for each tree");
            for (size_t m = 0; m < root.shape(0); m++)
                must(output.data()[m] >= 0 && output.data()[m] + value.shape(1) <= out.shape(1),
                     "output must be numbers of columns of out");
            const Vector<const int64_t> roots{root.data(), int64_t(root.shape(0))};
            without_gil([&] {
                add_leaf_values(matrix(X), roots, trees, matrix(value), output.data(), matrix(out));
            });
        },
        arg("X"), arg("root"), arg("feature"), arg("children"), arg("threshold"), arg("missing_left"),
        arg("set_start"), arg("goes_left"), arg("value"), arg("output"), arg("out"),
        "Add the value of the leaf of each row in each tree to one output, or to all if there are as many "
        "values: out (N, K).");
}

}  // namespace suffice
