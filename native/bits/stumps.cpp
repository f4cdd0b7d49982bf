#include "../stumps.hpp"

#include "bits.hpp"

namespace suffice {

static std::vector<double> as_floats_of(const std::vector<int64_t>& x) { return {x.begin(), x.end()}; }

// Rows of K classes, whose share rises with the code, and their histogram.
struct Weighed {
    std::vector<uint16_t> codes;
    std::vector<int64_t> group, weight, count, total;

    Weighed(int64_t N, int64_t B, int64_t K)
        : codes(N), group(N), weight(N), count((B + 1) * K), total(K) {
        auto x = numbers(N, 71), y = numbers(N, 72);
        for (int64_t i = 0; i < N; i++) {
            codes[i] = uint16_t(0.5 * double(B) * (1.0 + x[i]));
            group[i] = int64_t(0.25 * double(K) * (2.0 + x[i] + y[i]));
            weight[i] = i % 9 ? (i * i) % 1000003 << 20 : 0;
            total[group[i]] += weight[i];
        }
        stumps::count_classes(rows(), group.data(), weight.data(), {count.data(), B + 1, K});
    }

    Vector<const uint16_t> rows() const { return {codes.data(), int64_t(codes.size())}; }
};

static void print_best(const Weighed& x, int64_t K) {
    using trees::Criterion;
    const int64_t B = int64_t(x.count.size()) / K;
    for (auto kind : {Criterion::GINI, Criterion::ENTROPY, Criterion::MISCLASSIFICATION})
        for (bool categorical : {false, true}) {
            const Matrix<const int64_t> count{x.count.data(), B, K};
            auto best = stumps::best_stump(count, categorical, 0, x.total.data(), {kind, K}, 1);
            auto left = as_floats_of(best.left), set = as_floats_of(best.categories);
            const trees::Split& s = best.split;
            const std::vector<double> split{s.gain, double(s.below), double(s.above)};
            print("best_stump", {&split, &left, &set});
        }
}

static void print_runs(const Weighed& x, int64_t B) {
    using namespace stumps;
    const int64_t J = (B >> RUN) + 1, zero = x.total[0], one = x.total[1];
    std::vector<int64_t> count(2 * J);
    std::vector<double> bound(J);
    count_runs(x.rows(), x.group.data(), x.weight.data(), count.data());
    const Matrix<const int64_t> runs{count.data(), J, 2};
    const double best = bounds_of_runs(runs, zero, one, 1, bound.data());
    auto counts = as_floats_of(count);
    print("count_runs", {&counts, &bound});
    for (double lowest : {0.0, best}) {
        auto split = best_in_runs(x.rows(), x.group.data(), x.weight.data(), runs, bound.data(), lowest, zero,
                                  one, 1);
        const int64_t next = next_bin(x.rows(), x.weight.data(), split.bin, B);
        const std::vector<double> found{split.gain, double(split.bin), double(split.left_0), double(next)};
        print("best_in_runs", {&found});
    }
}

static void print_weights(const Weighed& x) {
    const int64_t N = x.rows().size;
    auto factor = numbers(N, 73), weight = numbers(N, 74), change = numbers(6, 75), out = factor;
    std::vector<int64_t> answer(N), entry(N);
    for (int64_t i = 0; i < N; i++) {
        answer[i] = i % 3;
        factor[i] = 1.0 + factor[i];
        weight[i] = i % 2 ? 1.0 + weight[i] : double(i % 7);
    }
    stumps::reweigh({answer.data(), N}, x.group.data(), {change.data(), 3, 2}, factor.data(), weight.data(),
                    0x1p40, out.data(), entry.data());
    auto integers = as_floats_of(entry);
    print("reweigh", {&out, &integers});
}

DIGESTS(stumps) {
    const int64_t N = 3000, B = 1000;
    const Weighed two(N, B, 2);
    print_best(two, 2);
    print_best(Weighed(N, 30, 4), 4);
    print_runs(two, B);
    print_weights(two);
}

}  // namespace suffice
