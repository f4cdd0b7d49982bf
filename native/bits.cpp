// Prints a digest of the results of each loop, to compare compilers and architectures: tests/loops/test_bits.py.
#include <cstdio>
#include <initializer_list>

#include "chains.hpp"
#include "coordinates.hpp"
#include "distances.hpp"
#include "dual.hpp"
#include "labels.hpp"
#include "log_linear.hpp"
#include "logistic.hpp"
#include "trees.hpp"
#include "vectors.hpp"

using namespace suffice;

// Numbers from -1 to 1, the same everywhere.
static std::vector<double> numbers(size_t size, uint64_t seed) {
    std::vector<double> out(size);
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (double& x : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x = double(int64_t(state) >> 11) * 0x1p-52;
    }
    return out;
}

static void print(const char* loop, std::initializer_list<const std::vector<double>*> results) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (auto* result : results)
        for (double x : *result) {
            uint64_t bits;
            std::memcpy(&bits, &x, 8);
            hash = (hash ^ bits) * 0x100000001B3u;
        }
    std::printf("%s %016llx\n", loop, (unsigned long long)hash);
}

static void print_distances(int64_t N, int64_t D, int64_t K) {
    auto x = numbers(N * D, 1), c = numbers(K * D, 2), s = numbers(K * D, 3), w = numbers(N, 4), r = numbers(K * N, 5),
         u = numbers(K * D * D, 6);
    Matrix<const double> X{x.data(), N, D}, C{c.data(), K, D}, S{s.data(), K, D}, R{r.data(), K, N};
    std::vector<int64_t> labels(N);
    std::vector<double> distance(N), total(K), offset(K * D), out(K * N), squares(K * D), scatter(K * D * D), sum(D);
    nearest(X, C, labels.data(), distance.data());
    print("nearest", {&distance});
    distance[0] = nearest_sums(X, w.data(), C, labels.data(), total.data(), {offset.data(), K, D});
    print("nearest_sums", {&distance, &total, &offset});
    weighted_sum(X, w.data(), sum.data());
    print("weighted_sum", {&sum});
    weighted_distances(X, C, S, {out.data(), K, N});
    print("weighted_distances", {&out});
    squares_about(X, R, C, {squares.data(), K, D});
    print("squares_about", {&squares});
    mahalanobis(X, C, {u.data(), K, D, D}, {out.data(), K, N});
    print("mahalanobis", {&out});
    scatters_about(X, R, C, {scatter.data(), K, D, D});
    print("scatters_about", {&scatter});
}

// A = X'X, of more rows than columns.
static std::vector<double> gram(const std::vector<double>& x, int64_t N, int64_t D) {
    std::vector<double> A(D * D);
    for (int64_t n = 0; n < N; n++)
        for (int64_t i = 0; i < D; i++)
            for (int64_t j = 0; j < D; j++) A[i * D + j] += x[n * D + i] * x[n * D + j];
    return A;
}

static void print_coordinates(int64_t D, int64_t T) {
    auto A = gram(numbers(3 * D * D, 7), 3 * D, D), b = numbers(D * T, 8), w = numbers(D, 9), W = numbers(D * T, 10);
    std::vector<double> q(D), Q(D * T), gap(1);
    Matrix<const double> G{A.data(), D, D};
    gap[0] = descend({G, b.data(), 5.0, 0.1, 0.2, false}, {1e-9, 100}, w.data(), q.data()).first;
    print("descend", {&gap, &w, &q});
    JointLeastSquares joint{G, {b.data(), D, T}, 5.0, 0.1, 0.2};
    gap[0] = descend_jointly(joint, {1e-9, 100}, {W.data(), D, T}, {Q.data(), D, T}).first;
    print("descend_jointly", {&gap, &W, &Q});
}

static void print_dual(int64_t N) {
    auto K = gram(numbers(2 * N * N, 11), 2 * N, N), slope = numbers(N, 12), beta = numbers(N, 13);
    std::vector<double> lower(N, -1.0), upper(N, 1.0);
    std::vector<int64_t> group(N), slots{2, 0, 1, 3, 4};
    minimize_pairs({K.data(), N, N}, slope.data(), beta.data(), {lower.data(), upper.data(), group.data(), N, 1}, 1e-9,
                   1000);
    print("minimize_pairs", {&slope, &beta});
    add_columns<double>({K.data(), N, N}, {slots.data(), 5}, beta.data(), slope.data());
    print("add_columns", {&slope});
}

static void print_elementary(int64_t N) {
    auto x = numbers(N, 14);
    for (double& v : x) v = 700.0 * v * v * v;
    std::vector<double> e(N), l(N), p(N), two(N);
    exp_of(x.data(), N, e.data());
    log_of(e.data(), N, l.data());
    log1p_of(e.data(), N, p.data());
    for (int64_t i = 0; i < N; i++) two[i] = suffice::log2(1.0 + x[i] * x[i]);
    print("elementary", {&e, &l, &p, &two});
}

static void print_chains(int64_t S, int64_t K) {
    std::vector<int64_t> offset{0};
    for (int64_t s = 0; s < S; s++) offset.push_back(offset.back() + 1 + s * 7 % 23);
    const int64_t N = offset.back();
    auto U = numbers(N * K, 15), start = numbers(K, 16), moves = numbers(K * K, 17), weight = numbers(S, 18);
    std::vector<double> E(N * K), top(N), first(K), A(K * K), turned(K * K), scale(N), score(S);
    exp_below_largest({U.data(), N, K}, {E.data(), N, K}, top.data());
    print("exp_below_largest", {&E, &top});
    exp_of(start.data(), K, first.data());
    exp_of(moves.data(), K * K, A.data());
    for (int64_t i = 0; i < K; i++)
        for (int64_t j = 0; j < K; j++) turned[j * K + i] = A[i * K + j];
    const Vector<const int64_t> parts{offset.data(), S + 1};
    const Chains chains{{E.data(), N, K}, first.data(), {A.data(), 1, K, K}, parts};
    const Chains logs{{U.data(), N, K}, start.data(), {moves.data(), 1, K, K}, parts};
    std::vector<double> alpha(N * K), beta(N * K), gamma(N * K), pairs(K * K);
    std::unique_ptr<bool[]> lost(new bool[S]()), faded(new bool[S]());
    forward(chains, {alpha.data(), N, K}, scale.data(), lost.get());
    print("forward", {&alpha, &scale});
    smooth(chains, {turned.data(), 1, K, K}, weight.data(),
           {{gamma.data(), N, K}, {pairs.data(), 1, K, K}, scale.data(), lost.get(), faded.get()});
    print("smooth", {&gamma, &pairs, &scale});
    std::vector<int64_t> path(N);
    best_paths(logs, path.data(), score.data());
    print("best_paths", {&score});
    log_forward(logs, {alpha.data(), N, K});
    log_backward(logs, {beta.data(), N, K});
    print("log_forward and log_backward", {&alpha, &beta});
}

static void print_log_linear(int64_t N, int64_t D, int64_t K) {
    auto X = numbers(N * D, 19), theta = numbers(D + 1, 20), weight = numbers(N, 21), scores = numbers(N * K, 22);
    std::vector<int64_t> codes(N), classes(N);
    for (int64_t n = 0; n < N; n++) codes[n] = n % 2, classes[n] = n % K;
    std::vector<double> gradient(D + 1), loss(1);
    loss[0] = binomial({X.data(), N, D}, theta.data(), codes.data(), weight.data(), gradient.data());
    print("binomial", {&loss, &gradient});
    loss[0] = errors({scores.data(), N, K}, theta.data(), classes.data(), weight.data());
    print("errors", {&loss, &scores});
    loss[0] = dot(X.data(), X.data() + 1, N * D - 1);
    print("dot", {&loss});
}

static void print_trees(int64_t N, int64_t D, trees::Criterion::Kind kind) {
    using namespace trees;
    auto x = numbers(N * D, 23);
    std::vector<uint8_t> codes(N * D);
    for (int64_t i = 0; i < N * D; i++) codes[i] = uint8_t(30.0 * (1.0 + x[i]));
    std::vector<int64_t> n_bins(D, 60), group(N), entry(N * 2), offset(D + 1);
    std::vector<int8_t> cst(D);
    std::unique_ptr<bool[]> categorical(new bool[D]());
    for (int64_t d = 0; d <= D; d++) offset[d] = 61 * d;
    for (int64_t n = 0; n < N; n++) group[n] = codes[n] / 20, entry[2 * n] = 1 + n % 3, entry[2 * n + 1] = codes[N + n];
    const Data<uint8_t> data{{codes.data(), D, N}, n_bins.data(), categorical.get(), cst.data(), offset.data(), nullptr};
    const Criterion criterion{kind, kind < Criterion::SQUARED_ERROR ? 3 : 2};
    const Limits limits{8, 2, 1, 0.0, D, 0};
    Tree<uint8_t> tree(data, criterion, limits, {entry.data(), N, 2});
    tree.grow({0, N, 0, 42, -INF, INF}, group.data());
    std::vector<double> gains, features;
    for (auto& node : tree.nodes) gains.push_back(node.gain), features.push_back(double(node.feature));
    print("grow", {&gains, &features});
}

int main() {
    print_distances(1001, 9, 16);
    print_distances(37, 4, 3);
    print_coordinates(13, 3);
    print_dual(41);
    print_elementary(1003);
    print_chains(37, 5);
    print_chains(9, 20);
    print_log_linear(301, 7, 4);
    for (auto kind : {trees::Criterion::GINI, trees::Criterion::ENTROPY, trees::Criterion::SQUARED_ERROR})
        print_trees(800, 5, kind);
}
