#include "../coordinates.hpp"

#include "bits.hpp"

namespace suffice {

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

DIGESTS(coordinates) {
    print_coordinates(13, 3);
}

}  // namespace suffice
