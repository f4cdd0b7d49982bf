#include "../losses.hpp"

#include "bind.hpp"

namespace suffice {

TOPIC(losses) {
    m.doc() = "Losses of gradient boosting with their derivatives, and what a stage sums of them.";
    m.def(
        "squared_error",
        [](In<double, 1> y, In<double, 1> f, InOut<double, 1> value, InOut<double, 1> g) {
            for (size_t n : {f.shape(0), value.shape(0), g.shape(0)})
                must(n == y.shape(0), "y, f, value and g must have the same rows");
            without_gil([&] { squared_error(vector(y), f.data(), {value.data(), g.data(), nullptr}); });
        },
        arg("y"), arg("f"), arg("value"), arg("g"),
        "The loss (y - f)^2 / 2 of rows, and its gradient f - y.");
    m.def(
        "log_loss",
        [](In<int64_t, 1> y, In<double, 1> f, In<double, 1> class_weight, InOut<double, 1> value,
           InOut<double, 1> g, InOut<double, 1> h) {
            for (size_t n : {f.shape(0), value.shape(0), g.shape(0), h.shape(0)})
                must(n == y.shape(0), "y, f, value, g and h must have the same rows");
            must(class_weight.shape(0) <= 2 && are_below(y, class_weight.shape(0)),
                 "y must be of up to two classes");
            without_gil([&] {
                log_loss(vector(y), f.data(), vector(class_weight), {value.data(), g.data(), h.data()});
            });
        },
        arg("y"), arg("f"), arg("class_weight"), arg("value"), arg("g"), arg("h"),
        "The loss log(1 + exp(f)) - y f of classes 0 and 1, times the weight of the class; its gradient and its "
        "curvature.");
    m.def(
        "add_stage",
        [](In<double, 1> value, In<double, 2> g, In<double, 2> h, In<double, 1> weight, In<int64_t, 1> group,
           double loss_unit, double most, double weight_unit, double curvature_unit, InOut<int64_t, 1> losses,
           InOut<int64_t, 1> weights, InOut<int64_t, 1> curvature, InOut<double, 2> largest) {
            const size_t N = value.shape(0), K = g.shape(1);
            must(g.shape(0) == N && h.shape(0) == N, "value, g and h must have the same rows");
            must(h.shape(1) == 0 || h.shape(1) == K, "h must have the outputs of g");
            const bool plain = weight.shape(0) == 0;
            must(group.shape(0) == weight.shape(0) && (plain || group.shape(0) == N),
                 "weight and group must have the same rows");
            must(losses.shape(0) == 3 && weights.shape(0) == 3 && are_below(group, 3),
                 "there must be three groups");
            must(curvature.shape(0) >= h.shape(1), "curvature must have the outputs");
            must(largest.shape(0) <= K && largest.shape(1) == 2, "largest must be (K, 2), or empty");
            const Stage stage{vector(value), matrix(g), matrix(h), plain ? nullptr : weight.data(), group.data()};
            const StageSums sums{losses.data(), weights.data(), curvature.data(), matrix(largest)};
            without_gil([&] { add_stage(stage, {loss_unit, most, weight_unit, curvature_unit}, sums); });
        },
        arg("value"), arg("g"), arg("h"), arg("weight"), arg("group"), nb::arg("loss_unit"), nb::arg("most"),
        nb::arg("weight_unit"), nb::arg("curvature_unit"), arg("losses"), arg("weights"), arg("curvature"),
        arg("largest"),
        R"(Add rows to what a stage sums: losses and weights of three groups, (3,) each; of all rows but those of
the last group, the sum of the curvatures (K,), and the largest derivatives (K, 2).

Parameters
----------
h : (N, K), or (N, 0) without a curvature.
weight, group : (N,), or both empty if all rows have weight one and are of the first group.
loss_unit, weight_unit, curvature_unit : integers of a unit.
most : the largest integer of a loss.
largest : (K, 2), or empty if they are known.)");
}

}  // namespace suffice
