#include "../buckets.hpp"

#include "bits.hpp"

namespace suffice {

static std::vector<double> numbers(const std::unique_ptr<double[]>& x, int64_t size) {
    return {x.get(), x.get() + size};
}

static void print_joined(const char* loop, const buckets::Joined& x) {
    auto low = numbers(x.low, x.size), high = numbers(x.high, x.size), count = numbers(x.count, x.size);
    print(loop, {&low, &high, &count});
}

static void print_buckets(int64_t N, int64_t M) {
    using namespace buckets;
    auto x = numbers(N, 41), y = numbers(M, 42);
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    const std::vector<double> ones(std::max(N, M), 1.0);
    const Vector<const double> u{x.data(), N}, v{y.data(), M};
    print_joined("merge", merge({u, u, {ones.data(), N}}, {v, v, {ones.data(), M}}, 40));
    const auto [dropped, n] = bits_to_drop({u, u, {ones.data(), N}}, 0, 64);
    auto joined = compress({u, u, {ones.data(), N}}, dropped, n);
    print_joined("compress", joined);
    for (int64_t B : {n, int64_t(1)}) {
        std::vector<int64_t> code(N);
        find_buckets(u, {joined.high.get(), B}, code.data());
        std::vector<double> found(code.begin(), code.end());
        print("find_buckets", {&found});
    }
}

DIGESTS(buckets) {
    print_buckets(900, 300);
    print_buckets(7, 300);
}

}  // namespace suffice
