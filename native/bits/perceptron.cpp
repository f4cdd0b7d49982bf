#include "../perceptron.hpp"

#include <cmath>

#include "bits.hpp"

namespace suffice {

struct Problems {
    std::vector<double> W, late, pocket, F, numbers;
    std::unique_ptr<bool[]> active;
    int64_t P;

    Problems(int64_t size, int64_t P) : W(size), late(size), pocket(size), F(size), numbers(6 * P), P(P) {
        active = std::make_unique<bool[]>(P);
        for (int64_t k = 0; k < P; k++) active[k] = true, numbers[4 * P + k] = -1.0;
    }

    template <class Form>
    void learn(const char* name, const Form& form, const PerceptronRule& rule) {
        double* c = numbers.data();
        std::vector<int64_t> order;
        for (int64_t n = 0; n < form.labels.N; n++) order.push_back((n * 7) % form.labels.N);
        std::vector<Vote> log;
        for (int epochs = 0; epochs < 3; epochs++)
            epoch(form, {order.data(), form.labels.N}, rule,
                  {active.get(), c, c + P, c + 2 * P, c + 3 * P, c + 4 * P, c + 5 * P}, log);
        std::vector<double> votes;
        for (const Vote& v : log)
            for (double x : {v.problem, v.row, v.size, v.visits}) votes.push_back(x);
        print(name, {&W, &late, &pocket, &F, &numbers, &votes});
    }
};

static void print_perceptron(int64_t N, int64_t D, int64_t P) {
    auto x = numbers(N * D, 70), weight = numbers(N, 71), score = std::vector<double>(P), column = std::vector<double>(D);
    std::vector<int64_t> codes(N);
    for (int64_t n = 0; n < N; n++) {
        codes[n] = x[n * D] + 0.1 * x[n * D + 1] > 0.0 ? 1 : n % 3 * 2;
        weight[n] = std::fabs(3.0 * weight[n]);
    }
    const Labels labels{codes.data(), weight.data(), N, P};
    const PerceptronRule rule{{0.3, 0.1}, 0.2, true, true};
    Problems primal(D * P, P), dual(P * N, P);
    const auto view = [&](std::vector<double>& a, int64_t rows) {
        return Matrix<double>{a.data(), rows, int64_t(a.size()) / rows};
    };
    const Primal<DenseRows<double>> of_features{{x.data(), N, D},      labels,       view(primal.W, D),
                                                view(primal.late, D),  view(primal.pocket, D),
                                                score.data(),          column.data()};
    primal.learn("primal", of_features, rule);
    std::vector<double> transposed(N * D);
    for (int64_t n = 0; n < N; n++)
        for (int64_t d = 0; d < D; d++) transposed[d * N + n] = x[n * D + d];
    auto products = gram(transposed, D, N);
    dual.learn("dual",
               Dual{{products.data(), N, N}, labels, view(dual.W, P), view(dual.late, P), view(dual.pocket, P),
                    view(dual.F, P)},
               rule);
}

DIGESTS(perceptron) {
    for (int64_t P : {1, 5}) print_perceptron(101, 21, P);
}

}  // namespace suffice
