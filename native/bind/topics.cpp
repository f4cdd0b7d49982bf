#include "../topics.hpp"

#include "bind.hpp"

namespace suffice {


// Tokens from start[0] to the last of `start`, of documents below D and topics below K.
template <class Topic>
static void must_be_tokens(const In<int64_t, 1>& words, const In<int64_t, 1>& start, const In<int32_t, 1>& doc,
                           const In<Topic, 1>& topic, size_t V, size_t D, size_t K) {
    must(doc.shape(0) == topic.shape(0), "doc and topic must have the same size");
    must_divide(start, words.shape(0), doc.shape(0));
    const size_t first = start.data()[0], size = start.data()[words.shape(0)] - first;
    must(are_below(words, V), "words must be numbers of rows of counts");
    must(are_below(In<int32_t, 1>(doc.data() + first, {size}), D), "doc must be numbers of documents");
    must(are_below(In<Topic, 1>(topic.data() + first, {size}), K), "topic must be numbers of topics");
}

static void bind_variational(nb::module_& m) {
    m.def(
        "dirichlet_words",
        [](In<double, 2> word, In<double, 1> eta, In<double, 1> of_total, InOut<double, 2> out,
           InOut<double, 1> top) {
            const size_t V = word.shape(0), K = word.shape(1);
            must(K > 0 && of_total.shape(0) == K, "of_total must be (K,)");
            must(eta.shape(0) == V && top.shape(0) == V, "eta and top must be (V,)");
            must(out.shape(0) == V && out.shape(1) == K, "out must be (V, K)");
            auto bound = zeros<double>(K);
            without_gil([&] {
                dirichlet_words(matrix(word), eta.data(), of_total.data(), matrix(out), top.data(), bound.data());
            });
            return bound;
        },
        arg("word"), arg("eta"), arg("of_total"), arg("out"), arg("top"),
        "Write exp(E[log p(word given topic)]) to `out` (V, K), in rows of their own scale, and the logarithms of the "
        "scales to `top` (V,). `word` (V, K) are the parameters of the topics, and of_total (K,) is E[log p] of none of "
        "their words: minus the digamma functions of their sums. Returns the part of the bound that is the sum over "
        "words, (K,).");
}

template <class Index>
static void bind_documents(nb::module_& m) {
    m.def(
        "infer",
        [](In<double, 1> data, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> B, In<double, 1> top,
           In<double, 1> alpha, double tol, int64_t max_iter, InOut<double, 2> gamma, InOut<double, 2> theta,
           InOut<double, 1> ratio, InOut<double, 2> log_theta) {
            auto X = sparse(data, indices, indptr, B.shape(0));
            const size_t N = X.rows, K = B.shape(1);
            must(alpha.shape(0) == K && top.shape(0) == B.shape(0), "alpha must be (K,), and top (V,)");
            for (auto* a : {&gamma, &theta, &log_theta})
                must(a->shape(0) == N && a->shape(1) == K, "gamma, theta and log_theta must be (N, K)");
            must(ratio.shape(0) == data.shape(0), "ratio must have the size of data");
            auto bounds = zeros<double>(N);
            without_gil([&] {
                infer(X, matrix(B), top.data(), alpha.data(), tol, max_iter,
                      {matrix(gamma), matrix(theta), ratio.data(), matrix(log_theta), bounds.data()});
            });
            return bounds;
        },
        arg("data"), arg("indices"), arg("indptr"), arg("B"), arg("top"), arg("alpha"), nb::arg("tol"),
        nb::arg("max_iter"), arg("gamma"), arg("theta"), arg("ratio"), arg("log_theta"),
        "Dirichlet posteriors of the topics of documents, CSR rows, each from the same start. Blei, Ng and Jordan 2003, "
        "figure 6. Out come gamma (N, K), exp(E[log theta]) up to a factor, theta (N, K), E[log theta] (N, K), and for "
        "every entry its count over the sum of its topics, `ratio`. Returns the bounds of log p(document), (N,).");
    m.def(
        "add_counts",
        [](In<double, 1> ratio, In<Index, 1> indices, In<Index, 1> indptr, In<double, 2> theta, In<double, 1> weight,
           InOut<double, 2> out) {
            auto X = sparse(ratio, indices, indptr, out.shape(0));
            must(int64_t(theta.shape(0)) == X.rows && theta.shape(1) == out.shape(1), "theta must be (N, K)");
            must(int64_t(weight.shape(0)) == X.rows, "weight must be (N,)");
            without_gil([&] { add_counts(X, matrix(theta), weight.data(), matrix(out)); });
        },
        arg("ratio"), arg("indices"), arg("indptr"), arg("theta"), arg("weight"), arg("out"),
        "Add ratio times theta times weight of documents to the rows of their words, `out` (V, K).");
}

template <class Topic, class Count>
static void bind_counts(nb::module_& m) {
    m.def(
        "sweep",
        [](In<int64_t, 1> words, In<int64_t, 1> start, In<int32_t, 1> doc, InOut<Topic, 1> topic,
           InOut<Count, 2> n_dk, In<int32_t, 2> counts, InOut<int32_t, 2> back, InOut<int64_t, 1> total,
           In<double, 1> alpha, In<double, 1> eta, uint64_t state) {
            const size_t V = counts.shape(0), K = counts.shape(1);
            must(K > 0 && alpha.shape(0) == K && total.shape(0) == K, "alpha and total must be (K,)");
            must(eta.shape(0) == V, "eta must be (V,)");
            must(n_dk.shape(1) >= K && n_dk.shape(1) % ROW == 0, "n_dk must be K or more wide, a multiple of 16");
            must((back.shape(0) == V || back.shape(0) == 0) && back.shape(1) == K, "back must be (V, K) or (0, K)");
            must_be_tokens(words, start, doc, In<Topic, 1>(topic), V, n_dk.shape(0), K);
            without_gil([&] {
                Tokens<Topic> tokens{vector(words), start.data(), doc.data(), topic.data()};
                sweep<Topic, Count>(tokens, {matrix(n_dk), matrix(counts), matrix(back), total.data()},
                                    vector(alpha), vector(eta), state);
            });
        },
        arg("words"), arg("start"), arg("doc"), arg("topic"), arg("n_dk"), arg("counts"), arg("back"), arg("total"),
        arg("alpha"), arg("eta"), nb::arg("state"),
        "Draw the topic of every token given those of all others; `topic`, `n_dk` and `total` are changed. p(k) is "
        "proportional to (n_dk + alpha_k) (n_wk + eta_w) / (n_k + sum of eta), without the token itself, in single "
        "precision. Tokens stand by word: word u has the tokens start[u] to start[u + 1]. Of the counts of words, (V, K), "
        "one row at a time is needed, and that is a copy, which goes to `back` when it is done, if that has rows: it may "
        "be the counts themselves. n_dk is (D, K) or wider, a multiple of N.");
    m.def(
        "count_in_documents",
        [](In<int32_t, 1> doc, In<Topic, 1> topic, InOut<Count, 2> out) {
            must(doc.shape(0) == topic.shape(0), "doc and topic must have the same size");
            must(are_below(doc, out.shape(0)), "doc must be numbers of documents");
            must(are_below(topic, out.shape(1)), "topic must be numbers of topics");
            without_gil([&] { count_in_documents(vector(doc), topic.data(), matrix(out)); });
        },
        arg("doc"), arg("topic"), arg("out"),
        "Add the tokens of each document by topic to `out`, (D, K) or wider.");
}

template <class Topic>
static void bind_topic_type(nb::module_& m) {
    bind_counts<Topic, uint8_t>(m);
    bind_counts<Topic, uint16_t>(m);
    bind_counts<Topic, int32_t>(m);
    m.def(
        "count_topics",
        [](In<int64_t, 1> words, In<int64_t, 1> start, In<Topic, 1> topic, InOut<int32_t, 2> out,
           InOut<int64_t, 1> total) {
            must(total.shape(0) == out.shape(1), "total must be (K,)");
            must_divide(start, words.shape(0), topic.shape(0));
            must(are_below(words, out.shape(0)), "words must be numbers of rows of out");
            must(are_below(topic, out.shape(1)), "topic must be numbers of topics");
            without_gil([&] {
                count_topics<Topic>(vector(words), start.data(), topic.data(), matrix(out), total.data());
            });
        },
        arg("words"), arg("start"), arg("topic"), arg("out"), arg("total"),
        "Add the tokens of each word by topic to `out`, (V, K), and of all to `total`, (K,).");
}

template <class Count>
static void bind_rows(nb::module_& m) {
    m.def(
        "log_joint_of_rows",
        [](In<Count, 2> counts, In<double, 1> prior) {
            must(prior.shape(0) > 0 && prior.shape(0) <= counts.shape(1), "prior must be (K,)");
            return without_gil([&] { return log_joint_of_rows<Count>(matrix(counts), vector(prior)); });
        },
        arg("counts"), arg("prior"),
        "The sum over rows of log p(a sequence with these counts), (D, K), given Dirichlet(prior), (K,); rows may be "
        "wider, with zeros.");
}

static void bind_judging(nb::module_& m) {
    m.def(
        "log_joint_of_words",
        [](In<int32_t, 2> counts, In<double, 1> prior) {
            must(prior.shape(0) == counts.shape(0), "prior must be (V,)");
            return without_gil([&] { return log_joint_of_words(matrix(counts), vector(prior)); });
        },
        arg("counts"), arg("prior"),
        "The sum of log(prior (prior + 1) ... (prior + n - 1)) over counts n, (V, K), with prior (V,).");
    m.def(
        "rising", [](double a, int64_t n) { return rising(a, n); }, nb::arg("a"), nb::arg("n"),
        "log of a (a + 1) ... (a + n - 1).");
    m.def(
        "left_to_right",
        [](In<int64_t, 1> words, In<int64_t, 1> begin, In<double, 2> phi, In<double, 1> alpha, int64_t particles,
           In<uint64_t, 1> seeds) {
            must(particles > 0, "particles must be positive");
            must(alpha.shape(0) > 0 && alpha.shape(0) == phi.shape(1), "alpha must be (K,)");
            must(are_below(words, phi.shape(0)), "words must be numbers of rows of phi");
            must_divide(begin, seeds.shape(0), words.shape(0));
            auto out = zeros<double>(seeds.shape(0));
            without_gil([&] {
                left_to_right(words.data(), vector(begin), matrix(phi), vector(alpha), particles, seeds.data(),
                              out.data());
            });
            return out;
        },
        arg("words"), arg("begin"), arg("phi"), arg("alpha"), nb::arg("particles"), arg("seeds"),
        "Estimates of log p(document), (D,), from word to word: the log of the mean over particles of the product of what "
        "each finds the next word to be. Document d has the words begin[d] to begin[d + 1], and its own seed; phi (V, K) "
        "are probabilities.");
}

TOPIC(topics) {
    m.doc() = "Topics of documents: the E step of latent Dirichlet allocation, and its collapsed Gibbs sampler.";
    bind_variational(m);
    bind_documents<int32_t>(m);
    bind_documents<int64_t>(m);
    bind_topic_type<int16_t>(m);
    bind_topic_type<int32_t>(m);
    bind_rows<uint8_t>(m);
    bind_rows<uint16_t>(m);
    bind_rows<int32_t>(m);
    bind_judging(m);
}

}  // namespace suffice
