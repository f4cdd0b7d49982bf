#include "../buckets.hpp"

#include "bind.hpp"

namespace suffice {

using namespace buckets;

static Sketch sketch(const In<double, 1>& low, const In<double, 1>& high, const In<double, 1>& count) {
    must(low.shape(0) == high.shape(0) && low.shape(0) == count.shape(0),
         "low, high and count must have the same buckets");
    return {vector(low), vector(high), vector(count)};
}

static int checked(int64_t dropped) {
    must(0 <= dropped && dropped < BITS, "dropped must be a number of bits");
    return int(dropped);
}

static Out<double, 1> array(const std::unique_ptr<double[]>& x, int64_t size) {
    auto out = zeros<double>(size);
    std::copy_n(x.get(), size, out.data());
    return out;
}

static auto arrays(const Joined& x) {
    return std::tuple(array(x.low, x.size), array(x.high, x.size), array(x.count, x.size));
}

template <class Code>
static void bind_find(nb::module_& m) {
    m.def(
        "find_buckets",
        [](In<double, 1> x, In<double, 1> high, InOut<Code, 1> out) {
            must(x.shape(0) == out.shape(0), "out must have the size of x");
            must(0 < high.shape(0) && high.shape(0) <= std::numeric_limits<int32_t>::max() / 4 &&
                     high.shape(0) <= size_t(std::numeric_limits<Code>::max()),
                 "out must hold the number of buckets");
            without_gil([&] { find_buckets(vector(x), vector(high), out.data()); });
        },
        arg("x"), arg("high"), arg("out"),
        "The first bucket whose largest value is not below x, for each x; the last one if there is none, and "
        "the number of buckets for NaN.");
}

TOPIC(buckets) {
    m.doc() = "Merges of the buckets of quantile sketches, and the bucket of a number.";
    m.def(
        "merge",
        [](In<double, 1> low_a, In<double, 1> high_a, In<double, 1> count_a, In<double, 1> low_b,
           In<double, 1> high_b, In<double, 1> count_b, int64_t dropped) {
            const Sketch a = sketch(low_a, high_a, count_a), b = sketch(low_b, high_b, count_b);
            must(a.size() > 0 && b.size() > 0, "there must be buckets on both sides");
            const int bits = checked(dropped);
            const Joined out = without_gil([&] { return merge(a, b, bits); });
            return arrays(out);
        },
        arg("low_a"), arg("high_a"), arg("count_a"), arg("low_b"), arg("high_b"), arg("count_b"),
        arg("dropped"),
        "Merge two lists of buckets, each sorted by the smallest values, and join those whose values are equal "
        "without so many of their last bits. Returns the smallest values, the largest and the weights.");
    m.def(
        "compress",
        [](In<double, 1> low, In<double, 1> high, In<double, 1> count, int64_t dropped, int64_t capacity) {
            const Sketch a = sketch(low, high, count);
            const int least = checked(dropped);
            int bits;
            const Joined out = without_gil([&] {
                const auto [most, n] = bits_to_drop(a, least, capacity);
                bits = most;
                return compress(a, most, n);
            });
            return std::tuple_cat(std::tuple(int64_t(bits)), arrays(out));
        },
        arg("low"), arg("high"), arg("count"), arg("dropped"), arg("capacity"),
        "Join sorted buckets whose values are equal without their last bits: at least `dropped` of them, and as "
        "many as leave at most `capacity` buckets, but for the two signs. Returns the number of bits too.");
    bind_find<uint8_t>(m);
    bind_find<uint16_t>(m);
    bind_find<uint32_t>(m);
    bind_find<int64_t>(m);
}

}  // namespace suffice
