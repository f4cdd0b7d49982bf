#include "../boosting.hpp"

#include "bind.hpp"

namespace suffice {

using namespace newton;

static Codes codes_of(const In<uint8_t, 2>& codes, const In<uint32_t, 1>& rows) {
    must(are_below(rows, codes.shape(0)), "rows must be numbers of rows of codes");
    return matrix(codes);
}

static void must_be_histogram(size_t features, size_t bins, size_t D) {
    must(features == D && bins == size_t(BINS), "hist must have the features of codes, and 256 bins of each");
}

static void must_be_lane(int64_t lane) { must(0 <= lane && lane < 63, "lane must be a number of bits"); }

static void bind_rows(nb::module_& m) {
    m.def(
        "divide",
        [](In<uint8_t, 1> column, In<bool, 1> goes_left, InOut<uint32_t, 1> rows, InOut<int64_t, 2> entry,
           InOut<uint32_t, 1> spare_rows, InOut<int64_t, 2> spare_entry) {
            const size_t n = rows.shape(0), C = entry.shape(1);
            must(goes_left.shape(0) == size_t(BINS), "goes_left must have 256 codes");
            must(entry.shape(0) == n && 1 <= C && C <= 3, "entry must have the rows, and 1 to 3 columns");
            must(spare_rows.shape(0) >= n && spare_entry.shape(0) >= n && spare_entry.shape(1) == C,
                 "spare arrays must be as large as rows and entry");
            must(are_below(In<uint32_t, 1>(rows), column.shape(0)), "rows must be numbers of rows of column");
            return without_gil([&] {
                return divide(column.data(), goes_left.data(), vector(rows), matrix(entry), spare_rows.data(),
                              spare_entry.data());
            });
        },
        arg("column"), arg("goes_left"), arg("rows"), arg("entry"), arg("spare_rows"), arg("spare_entry"),
        "Put the rows that go left first, in their order, and the others into the spare arrays, in theirs; and "
        "return how many go left. `column` has the codes of one feature for all rows.");
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

TOPIC(boosting) {
    m.doc() = "Histograms of gradients and curvatures, and the splits of Newton trees, from codes of one byte.";
    m.def(
        "add_lanes",
        [](In<uint8_t, 2> codes, In<uint32_t, 1> rows, In<int64_t, 2> entry, int64_t lane, InOut<int64_t, 3> hist) {
            must_be_histogram(hist.shape(0), hist.shape(1), codes.shape(1));
            must(hist.shape(2) == 2, "hist must have two columns");
            must(entry.shape(0) == rows.shape(0) && entry.shape(1) == 1, "entry must be (N, 1)");
            must_be_lane(lane);
            without_gil([&] {
                std::vector<uint64_t> lanes(codes.shape(1) * BINS);
                add_lanes(codes_of(codes, rows), vector(rows), entry.data(), int(lane), lanes.data(), hist.data());
            });
        },
        arg("codes"), arg("rows"), arg("entry"), arg("lane"), arg("hist"),
        "Add rows, of which `entry` (N, 1) is packed, to a histogram (D, 256, 2). The codes are those of all rows.");
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
    m.def(
        "find_newton_split",
        [](In<int64_t, 3> hist, In<int64_t, 1> n_bins, In<bool, 1> categorical, In<int8_t, 1> cst,
           In<bool, 1> features, In<int64_t, 1> total, int64_t mode, int64_t least_h, int64_t least_w,
           int64_t most_h, double smoothing, double penalty, double low, double high, In<uint8_t, 2> codes,
           In<uint32_t, 1> rows) {
            const size_t D = n_bins.shape(0);
            must_be_histogram(hist.shape(0), hist.shape(1), D);
            must(categorical.shape(0) == D && cst.shape(0) == D && features.shape(0) == D && codes.shape(1) == D,
                 "n_bins, categorical, cst, features and codes must have the same features");
            for (size_t d = 0; d < D; d++)
                must(0 <= n_bins.data()[d] && n_bins.data()[d] < BINS, "n_bins must be less than 256");
            must(WEIGHT_IS_CURVATURE <= mode && mode <= WEIGHT_IS_COUNTED, "there is no such mode");
            must(hist.shape(2) == (mode == WEIGHT_IS_COLUMN ? 3 : 2), "hist must have the columns of the mode");
            must(total.shape(0) == 3, "total must be curvature, gradient and weight");
            const int64_t* t = total.data();
            const Split best = without_gil([&] {
                Search search({vector(n_bins), categorical.data(), cst.data(), features.data(), smoothing});
                return search.find(tensor(hist), {t[0], t[1], t[2]}, {mode, least_h, least_w, most_h},
                                   {penalty, low, high}, codes_of(codes, rows), vector(rows));
            });
            auto left = zeros<int64_t>(best.left.size());
            std::copy(best.left.begin(), best.left.end(), left.data());
            return nb::make_tuple(best.gain, best.feature, best.edge, best.side, left);
        },
        arg("hist"), arg("n_bins"), arg("categorical"), arg("cst"), arg("features"), arg("total"), arg("mode"),
        arg("least_h"), arg("least_w"), arg("most_h"), nb::arg("smoothing"), nb::arg("penalty"), nb::arg("low"),
        nb::arg("high"), arg("codes"), arg("rows"),
        R"(The best split of a node with the sums `total` (curvature, gradient, weight), from its histogram.

Returns the gain, the feature, the last bin on the left, where missing values go, and the categories on the
left. The first feature and the lowest bin win after equal gains.

Parameters
----------
features : bool (D,), those that may be split.
mode : where the weights of bins are found; if they are counted, a row has at most the curvature `most_h`.
smoothing : added to the curvature of a category before categories are sorted by their values.
codes, rows : (N, D) of all rows, and the rows of the node, to count weights.)");
}

}  // namespace suffice
