#include "../counts.hpp"

#include "bits.hpp"

namespace suffice {

static void print_counts(int64_t N, int64_t D, int64_t K) {
    auto x = numbers(N * D, 40), weight = numbers(N, 41), points = numbers(K * D, 42), table = numbers(D * 5, 43);
    std::vector<int64_t> labels, start{0};
    std::vector<double> codes, sums(K * D), above(K * D), squares(K * D), counts(K * D * 5), most(D), found(N);
    for (int64_t n = 0; n < N; n++) labels.push_back(n * n % K);
    for (int64_t d = 0; d < D; d++) start.push_back(5 * (d + 1));
    for (int64_t i = 0; i < N * D; i++) codes.push_back(double(i * i % 7));  // some have no place
    const Matrix<const double> X{x.data(), N, D}, C{codes.data(), N, D};
    const double* w = weight.data();
    add_by_label(X, w, labels.data(), {sums.data(), K, D});
    add_above_by_label(X, 0.2, w, labels.data(), {above.data(), K, D});
    add_squares_by_label(X, w, labels.data(), {points.data(), K, D}, {squares.data(), K, D});
    print("sums by label", {&sums, &above, &squares});
    most.push_back(largest(C, most.data()));
    add_categories_by_label(C, w, labels.data(), start.data(), {counts.data(), K, D * 5});
    look_up(C, start.data(), {table.data(), D * 5, 1}, {found.data(), N, 1});
    print("categories", {&most, &counts, &found});
}

static void print_sparse_counts(int64_t N, int64_t D, int64_t K) {
    std::vector<int32_t> indices, indptr{0};
    std::vector<int64_t> labels, order;
    for (int64_t n = 0; n < N; n++) {
        for (int64_t d = n % 3; d < D; d += 1 + n % 5) indices.push_back(int32_t(d));
        indptr.push_back(int32_t(indices.size()));
        labels.push_back(n % K);
        order.push_back(N - 1 - n);
    }
    auto data = numbers(indices.size(), 44), weight = numbers(N, 45);
    std::vector<double> sums(K * D);
    const Sparse<int32_t> X{data.data(), indices.data(), indptr.data(), N};
    add_sparse_by_label(X, weight.data(), labels.data(), {order.data(), N}, {sums.data(), K, D});
    print("sparse sums by label", {&sums});
}

DIGESTS(counts) {
    print_counts(200, 13, 4);
    print_sparse_counts(100, 31, 4);
}

}  // namespace suffice
