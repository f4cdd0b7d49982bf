#include "../topics.hpp"

#include "bits.hpp"

namespace suffice {

static void print_variational(int64_t N, int64_t V, int64_t K) {
    auto word = numbers(V * K, 40), eta = numbers(V, 41), alpha = numbers(K, 42), of_total = numbers(K, 43);
    for (auto* x : {&word, &eta, &alpha})
        for (double& v : *x) v = 0.1 + v * v;
    std::vector<double> B(V * K), top(V), bound(K), data, weight(N, 0.5);
    dirichlet_words({word.data(), V, K}, eta.data(), of_total.data(), {B.data(), V, K}, top.data(), bound.data());
    print("dirichlet_words", {&B, &top, &bound});
    std::vector<int32_t> indices, indptr{0};
    const auto x = numbers(N * V, 44);
    for (int64_t n = 0; n < N; n++) {
        for (int64_t v = 0; v < V; v++)
            if (x[n * V + v] > 0.4) data.push_back(double(int64_t(9.0 * x[n * V + v]))), indices.push_back(int32_t(v));
        indptr.push_back(int32_t(data.size()));
    }
    const int64_t size = int64_t(data.size());
    std::vector<double> gamma(N * K), theta(N * K), ratio(size), log_theta(N * K), bounds(N), out(V * K);
    const Sparse<int32_t> X{data.data(), indices.data(), indptr.data(), N};
    const Posterior posterior{{gamma.data(), N, K}, {theta.data(), N, K}, ratio.data(), {log_theta.data(), N, K},
                              bounds.data()};
    infer(X, {B.data(), V, K}, top.data(), alpha.data(), 1e-6, 30, posterior);
    print("infer", {&gamma, &theta, &ratio, &log_theta, &bounds});
    const Sparse<int32_t> ratios{ratio.data(), indices.data(), indptr.data(), N};
    add_counts(ratios, {theta.data(), N, K}, weight.data(), {out.data(), V, K});
    print("add_counts", {&out});
}

// Each of D documents has each of V words once.
template <class Topic, class Count>
static void print_gibbs(int64_t D, int64_t V, int64_t K) {
    const int64_t width = (K + ROW - 1) / ROW * ROW;
    std::vector<int64_t> words, start{0}, total(K);
    std::vector<int32_t> doc, counts(V * K);
    std::vector<Topic> topic;
    std::vector<Count> n_dk(D * width);
    for (int64_t v = 0; v < V; v++) {
        words.push_back(v);
        for (int64_t d = 0; d < D; d++) doc.push_back(int32_t(d)), topic.push_back(Topic((v * d) % K));
        start.push_back(int64_t(doc.size()));
    }
    const Vector<const int64_t> all{words.data(), V};
    count_in_documents<Topic, Count>({doc.data(), D * V}, topic.data(), {n_dk.data(), D, width});
    count_topics<Topic>(all, start.data(), topic.data(), {counts.data(), V, K}, total.data());
    const std::vector<double> alpha(K, 0.3), eta(V, 0.1);
    const Vector<const double> of_topics{alpha.data(), K}, of_words{eta.data(), V};
    for (uint64_t seed = 0; seed < 3; seed++)
        sweep<Topic, Count>({all, start.data(), doc.data(), topic.data()},
                            {{n_dk.data(), D, width}, {counts.data(), V, K}, {counts.data(), V, K}, total.data()},
                            of_topics, of_words, seed);
    const std::vector<double> drawn(topic.begin(), topic.end());
    const std::vector<double> joint{log_joint_of_words({counts.data(), V, K}, of_words),
                                    log_joint_of_rows<Count>({n_dk.data(), D, width}, of_topics)};
    print("sweep", {&drawn, &joint});
}

static void print_held_out(int64_t V, int64_t K) {
    const auto phi = numbers(V * K, 45), alpha = numbers(K, 46);
    std::vector<double> p(V * K), prior(K), out(2);
    for (int64_t i = 0; i < V * K; i++) p[i] = phi[i] * phi[i];
    for (int64_t k = 0; k < K; k++) prior[k] = 0.1 + alpha[k] * alpha[k];
    const std::vector<int64_t> words{0, 3, 1, 2, 2, 0, 4}, begin{0, 3, 7};
    const uint64_t seeds[] = {5, 6};
    left_to_right(words.data(), {begin.data(), 3}, {p.data(), V, K}, {prior.data(), K}, 20, seeds, out.data());
    print("left_to_right", {&out});
}

DIGESTS(topics) {
    print_variational(20, 40, 29);
    print_gibbs<int16_t, uint8_t>(30, 20, 21);
    print_gibbs<int16_t, uint16_t>(30, 20, 100);
    print_gibbs<int32_t, int32_t>(30, 20, 300);
    print_held_out(5, 11);
}

}  // namespace suffice
