#include "../medians.hpp"

#include "bind.hpp"

namespace suffice {

TOPIC(medians) {
    m.doc() = "Sums of absolute deviations from the median, of growing sets of rows.";
    m.def(
        "median_errors",
        [](In<int64_t, 1> rank, In<int64_t, 1> weight, In<int64_t, 1> value) {
            must(rank.shape(0) == weight.shape(0), "rank and weight must have the same size");
            must(are_below(rank, value.shape(0)), "rank must have numbers of values");
            auto out = zeros<int64_t>(rank.shape(0));
            without_gil([&] { median_errors(vector(rank), weight.data(), vector(value), out.data()); });
            return out;
        },
        arg("rank"), arg("weight"), arg("value"),
        "The weighted sum of absolute deviations of the first n rows from their weighted median, for each n: of rows "
        "with the place of their target, `rank`, among the distinct targets, `value`, which are in order.");
}

}  // namespace suffice
