#include "../stumps.hpp"

#include "bind.hpp"

namespace suffice {

using namespace stumps;

static void must_have_rows(size_t N, size_t groups, const In<int64_t, 2>& entry) {
    must(groups == N, "group must have the rows of codes");
    must(entry.shape(0) == N && entry.shape(1) == 1, "entry must be (N, 1)");
}

template <class Code>
static void must_be_runs(const In<Code, 1>& codes, size_t J, size_t classes) {
    must(classes == 2, "count must be (J, 2)");
    must(are_below(codes, J << RUN), "codes must be bins of the runs of count");
}

static const char* const NO_CLASS = "group must be numbers of classes";

template <class Code>
static void bind_codes(nb::module_& m) {
    m.def(
        "count_classes",
        [](In<Code, 1> codes, In<int64_t, 1> group, In<int64_t, 2> entry, InOut<int64_t, 2> count) {
            must_have_rows(codes.shape(0), group.shape(0), entry);
            without_gil([&] {
                must(are_below(codes, count.shape(0)), "codes must be numbers of bins");
                must(count_classes(vector(codes), group.data(), entry.data(), matrix(count)), NO_CLASS);
            });
        },
        arg("codes"), arg("group"), arg("entry"), arg("count"),
        "Add the weights (N, 1) of rows to the histogram (B, K) of one feature.");
    m.def(
        "count_runs",
        [](In<Code, 1> codes, In<int64_t, 1> group, In<int64_t, 2> entry, InOut<int64_t, 2> count) {
            must_have_rows(codes.shape(0), group.shape(0), entry);
            without_gil([&] {
                must_be_runs(codes, count.shape(0), count.shape(1));
                must(count_runs(vector(codes), group.data(), entry.data(), count.data()), NO_CLASS);
            });
        },
        arg("codes"), arg("group"), arg("entry"), arg("count"),
        "Add the weights (N, 1) of rows of two classes to the histogram (J, 2) of runs of 2^RUN bins.");
    m.def(
        "best_in_runs",
        [](In<Code, 1> codes, In<int64_t, 1> group, In<int64_t, 2> entry, In<int64_t, 2> count,
           In<double, 1> bound, double lowest, int64_t total_0, int64_t total_1, int64_t least) {
            must_have_rows(codes.shape(0), group.shape(0), entry);
            must(bound.shape(0) == count.shape(0), "bound must have the runs of count");
            const RunSplit best = without_gil([&] {
                must_be_runs(codes, count.shape(0), count.shape(1));
                return best_in_runs(vector(codes), group.data(), entry.data(), matrix(count), bound.data(),
                                    lowest, total_0, total_1, least);
            });
            must(best.of_classes, NO_CLASS);
            return nb::make_tuple(best.gain, best.bin, best.left_0, best.left_1);
        },
        arg("codes"), arg("group"), arg("entry"), arg("count"), arg("bound"), nb::arg("lowest"),
        arg("total_0"), arg("total_1"), arg("least"),
        R"(The best split of a feature, by the Gini index of two classes, in the runs of bins whose bound is
not below `lowest`.

Returns the gain, to the bit that of `best_stump`; the last bin on the left, or -1 if there is no split; and
the weights of the classes on the left.)");
    m.def(
        "next_bin",
        [](In<Code, 1> codes, In<int64_t, 2> entry, int64_t bin, int64_t n_bins) {
            must_have_rows(codes.shape(0), codes.shape(0), entry);
            must(-1 <= bin && bin < n_bins, "bin must be less than n_bins");
            return without_gil([&] { return next_bin(vector(codes), entry.data(), bin, n_bins); });
        },
        arg("codes"), arg("entry"), arg("bin"), arg("n_bins"),
        "The first bin after this one that has a weight, or n_bins.");
}

TOPIC(stumps) {
    m.doc() = "Trees of one split, from codes of features and integer weights of rows.";
    m.attr("RUN") = RUN;
    bind_codes<uint8_t>(m);
    bind_codes<uint16_t>(m);
    bind_codes<uint32_t>(m);
    m.def(
        "best_stump",
        [](In<int64_t, 2> count, bool categorical, int64_t cst, In<int64_t, 1> total, int64_t criterion,
           int64_t least) {
            const trees::Criterion c{criterion, int64_t(count.shape(1))};
            must(trees::Criterion::GINI <= criterion && c.classes(), "there is no such criterion of classes");
            must(-1 <= cst && cst <= 1, "cst must be a sign, or zero");
            must(count.shape(0) >= 1 && c.O >= 2, "count must have a bin of missing values, and two classes");
            must(total.shape(0) == count.shape(1), "count and total must have the same classes");
            const Stump best = without_gil([&] {
                return best_stump(matrix(count), categorical, int8_t(cst), total.data(), c, least);
            });
            auto edge = zeros<int64_t>(2);
            edge.data()[0] = best.split.below, edge.data()[1] = best.split.above;
            return nb::make_tuple(best.split.gain, edge, best.split.side, array_of(best.categories),
                                  array_of(best.left));
        },
        arg("count"), arg("categorical"), arg("cst"), arg("total"), arg("criterion"), arg("least"),
        R"(The best split of one feature, from its histogram (B, K), whose last bin is that of missing values.

Returns the gain, which is negative if there is no split; the bins at both sides of the threshold; where
missing values go; the categories on the left; and the weights of the classes there.)");
    m.def(
        "bounds_of_runs",
        [](In<int64_t, 2> count, int64_t total_0, int64_t total_1, int64_t least, InOut<double, 1> bound) {
            must(count.shape(1) == 2, "count must be (J, 2)");
            must(bound.shape(0) == count.shape(0), "bound must have the runs of count");
            return without_gil(
                [&] { return bounds_of_runs(matrix(count), total_0, total_1, least, bound.data()); });
        },
        arg("count"), arg("total_0"), arg("total_1"), arg("least"), arg("bound"),
        "For each run of bins (J, 2), an upper bound of the gains of splits within it or after it, in units "
        "of `gain_of_two` of native/trees.hpp; returns the largest gain of a split after a run.");
    m.def(
        "reweigh",
        [](In<int64_t, 1> answer, In<int64_t, 1> group, In<double, 2> change, In<double, 1> factor,
           In<double, 1> weight, double unit, InOut<double, 1> new_factor, InOut<int64_t, 2> entry) {
            const size_t N = answer.shape(0);
            for (size_t rows : {group.shape(0), factor.shape(0), weight.shape(0), new_factor.shape(0),
                                entry.shape(0)})
                must(rows == N, "all must have the rows of answer");
            must(entry.shape(1) == 1, "entry must be (N, 1)");
            without_gil([&] {
                must(reweigh(vector(answer), group.data(), matrix(change), factor.data(), weight.data(), unit,
                             new_factor.data(), entry.data()),
                     "answer and group must be rows and columns of change");
            });
        },
        arg("answer"), arg("group"), arg("change"), arg("factor"), arg("weight"), nb::arg("unit"),
        arg("new_factor"), arg("entry"),
        "Multiply the factor of each row by the change (A, K) of its answer and its class, and round its "
        "weight, times the factor, to integers of this unit: entry (N, 1). Whole weights are multiplied "
        "exactly.");
}

}  // namespace suffice
