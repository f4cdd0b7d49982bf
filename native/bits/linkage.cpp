#include "../linkage.hpp"

#include "bits.hpp"

namespace suffice {

DIGESTS(linkage) {
    const int64_t N = 53, D = 5;
    auto x = numbers(N * D, 91), weight = numbers(N, 92);
    for (double& w : weight) w = 1.5 + w;
    const Matrix<const double> X{x.data(), N, D};
    std::vector<int64_t> left(N - 1), right(N - 1);
    std::vector<double> height(N - 1), leaves(2 * N - 2);
    const Merges out{left.data(), right.data(), height.data()};
    auto print_merges = [&](const char* loop) {
        std::copy(right.begin(), right.end(), std::copy(left.begin(), left.end(), leaves.begin()));
        print(loop, {&leaves, &height});
    };
    ward_chain(X, weight.data(), out);
    print_merges("ward_chain");
    centroid_merges(X, weight.data(), out);
    print_merges("centroid_merges");
    spanning_tree(X, out);
    print_merges("spanning_tree");
    auto distance = gram(x, D, N);
    matrix_chain({distance.data(), N, N}, weight.data(), true, out);
    print_merges("matrix_chain");
}

}  // namespace suffice
