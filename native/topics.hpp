// Latent Dirichlet allocation: the E step of its variational posterior (Blei, Ng and Jordan, "Latent Dirichlet
// allocation", 2003), and its collapsed Gibbs sampler (Griffiths and Steyvers, "Finding scientific topics", 2004).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "documents.hpp"
#include "random.hpp"

namespace suffice {

constexpr double LEAST_LOG = -345.0;  // exponentials are not smaller: products of two of them are still floats
constexpr double MOST_COUNTS = 1e30;  // exponentials of digamma are of at most this

// --- variational inference ------------------------------------------------------------------------------------------

// exp(digamma(x) - less) of x from 0 to infinity; its factor exp(digamma(x) - log(x + 6) - less) is at least
// exp(LEAST_LOG), and x is taken as at most MOST_COUNTS.
template <class F>
static INLINE F exp_digamma(const F& x, double less) {
    F a = least(as<F>(MOST_COUNTS), x);
    return (a + 6.0) * exp(greatest(as<F>(LEAST_LOG), digamma_below_log(a) - less));
}

// K numbers, one per topic, in whole lanes; those beyond K are ones.
struct TopicNumbers : std::vector<double> {
    explicit TopicNumbers(int64_t K) : std::vector<double>(lanes_of(K) * PER_LANES, 1.0) {}
    TopicNumbers(const double* x, int64_t K) : TopicNumbers(K) { std::copy(x, x + K, begin()); }
};

template <class Function>
static INLINE void each_of(Function f, const TopicNumbers& x, TopicNumbers& out) {
    for (size_t k = 0; k < x.size(); k += PER_LANES) store(&out[k], f(load(&x[k])));
}

static void exp_digammas(const TopicNumbers& x, double less, TopicNumbers& out) {
    each_of([less](const f64s& v) { return exp_digamma(v, less); }, x, out);
}

static void digammas(const TopicNumbers& x, TopicNumbers& out) {
    each_of([](const f64s& v) { return digamma(v); }, x, out);
}

static void log_gammas(const TopicNumbers& x, TopicNumbers& out) {
    each_of([](const f64s& v) { return log_gamma(v); }, x, out);
}

// Of words, out = exp(E[log p(word given topic)] - top), with the logarithm of a scale for each word; `word` (V, K)
// are the parameters of the topics, and of_total (K,) is E[log p] of none of their words: minus the digamma functions
// of their sums. `bound` (K,) is the part of the bound that is the sum over words.
static void dirichlet_words(Matrix<const double> word, const double* eta, const double* of_total,
                            Matrix<double> out, double* top, double* bound) {
    const int64_t K = word.columns;
    TopicNumbers x(K), psi(K), lg(K), e(K), share(K);
    const double largest = *std::max_element(of_total, of_total + K);
    for (int64_t k = 0; k < K; k++) share[k] = exp(greatest(LEAST_LOG, of_total[k] - largest));
    for (int64_t v = 0; v < word.rows; v++) {
        std::copy(word[v], word[v] + K, x.begin());
        digammas(x, psi);
        log_gammas(x, lg);
        const double of_eta = log_gamma(eta[v]);
        const double scale = digamma(least(MOST_COUNTS, *std::max_element(word[v], word[v] + K)));
        exp_digammas(x, scale, e);
        for (int64_t k = 0; k < K; k++) {
            bound[k] += (eta[v] - x[k]) * (psi[k] + of_total[k]) + lg[k] - of_eta;
            out[v][k] = e[k] * share[k];
        }
        top[v] = scale + largest;
    }
}

// The posterior of the topics of documents: parameters gamma (N, K), exp(E[log theta]) up to a factor, theta (N, K),
// and E[log theta] (N, K); of every entry its count over the sum of its topics, `ratio`; bounds of log p(document).
struct Posterior {
    Matrix<double> gamma, theta;
    double* ratio;
    Matrix<double> log_theta;
    double* bounds;
};

// Dirichlet posteriors of the topics of documents, each from the same start: gamma = alpha + theta B'(x / B theta),
// theta = exp(digamma(gamma)), until gamma changes by at most `tol` in the mean. Figure 6 of the paper. B and `top`
// are those of `dirichlet_words`.
template <class Index>
static void infer(Sparse<Index> X, Matrix<const double> B, const double* top, const double* alpha, double tol,
                  int64_t max_iter, const Posterior& out) {
    const int64_t K = B.columns;
    const TopicNumbers prior(alpha, K);
    TopicNumbers g(K), e(K), sum_of(K), psi(K), lg(K);
    double total_alpha = 0.0, of_prior = 0.0;
    for (int64_t k = 0; k < K; k++) {
        total_alpha += alpha[k];
        of_prior -= log_gamma(alpha[k]);
    }
    of_prior += log_gamma(total_alpha);
    for (int64_t n = 0; n < X.rows; n++) {
        const SparseRow<Index> x = X[n];
        const RowsOfWords<Index> rows{B, x.column};
        double* ratio = out.ratio + (x.data - X.data);
        auto take_ratios = [&] {
            means(rows, x.size, e.data(), ratio);
            for (int64_t p = 0; p < x.size; p++) ratio[p] = x[p] / ratio[p];
        };
        double length = 0.0;
        for (int64_t p = 0; p < x.size; p++) length += x[p];
        for (int64_t k = 0; k < K; k++) g[k] = alpha[k] + length / double(K);
        for (int64_t i = 0; i < max_iter && length > 0.0; i++) {
            exp_digammas(g, 0.0, e);
            take_ratios();
            sums(rows, x.size, ratio, sum_of.data());
            f64s change{};
            for (size_t k = 0; k < g.size(); k += PER_LANES) {
                const f64s now = load(&prior[k]) + load(&e[k]) * load(&sum_of[k]), move = now - load(&g[k]);
                change += greatest(move, -1.0 * move);
                store(&g[k], now);
            }
            if (sum(change) <= tol * double(K)) break;
        }
        exp_digammas(g, 0.0, e);
        take_ratios();
        digammas(g, psi);
        log_gammas(g, lg);
        const double total = total_alpha + length, of_total = digamma(total);
        double bound = of_prior - log_gamma(total) - length * of_total;
        for (int64_t k = 0; k < K; k++) {
            out.log_theta[n][k] = psi[k] - of_total;
            bound += (alpha[k] - g[k]) * out.log_theta[n][k] + lg[k];
        }
        std::copy(g.begin(), g.begin() + K, out.gamma[n]);
        std::copy(e.begin(), e.begin() + K, out.theta[n]);
        for (int64_t p = 0; p < x.size; p++)
            if (x[p] > 0.0) bound += x[p] * (log(x[p] / ratio[p]) + top[x.column[p]]);
        out.bounds[n] = bound;
    }
}

// Add ratio times theta times weight of documents to the rows of their words. The entries of X are the ratios.
template <class Index>
static void add_counts(Sparse<Index> X, Matrix<const double> theta, const double* weight, Matrix<double> out) {
    for (int64_t n = 0; n < X.rows; n++) {
        const double* from = theta[n];
        for (int64_t p = 0; p < X[n].size; p++) {
            double* __restrict to = out[X[n].column[p]];
            const double r = X[n][p] * weight[n];
            for (int64_t k = 0; k < theta.columns; k++) to[k] += r * from[k];
        }
    }
}

// --- collapsed Gibbs sampling ---------------------------------------------------------------------------------------

// Tokens by word: word u has the tokens start[u] to start[u + 1], each with its document and its topic.
template <class Topic>
struct Tokens {
    Vector<const int64_t> words;
    const int64_t* start;
    const int32_t* doc;
    Topic* topic;
};

// Counts of topics: of documents, (D, K) or wider, a multiple of ROW; of words, (V, K); of all tokens, (K,).
template <class Count>
struct TopicCounts {
    Matrix<Count> n_dk;
    Matrix<const int32_t> counts;
    Matrix<int32_t> back;  // where the counts of words go, if it has rows; it may be `counts`
    int64_t* total;
};

// Topics stand in rows of ROW, and rows in sections: topic k is in column k % ROW and in section k / (ROW SECTION).
constexpr int64_t ROW = f32s::N, SECTION = 8;

// Of n numbers, `step` apart, how many add up to no more than `left`, but for the last; and what they leave of it.
// Without a branch: where it ends is by chance.
template <class T>
static INLINE int64_t found(const T* p, int64_t step, int64_t n, T& left) {
    T below = 0, sum_below = 0;
    int64_t count = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        below += p[step * i];
        const bool more = left >= below;
        sum_below = more ? below : sum_below;
        count += more;
    }
    left -= sum_below;
    return count;
}

// The products p = (n_dk + alpha) q of topics, and their sums by section and column.
class Products {
  public:
    explicit Products(int64_t width)
        : rows(width / ROW), sections((rows + SECTION - 1) / SECTION), p(width), by_section(sections * ROW),
          by_column(ROW) {
        int32_t places[ROW];
        for (int32_t j = 0; j < ROW; j++) places[j] = j;
        place = load(places);
    }

    // Of all topics but `old`, which has none.
    template <class Count>
    INLINE void take(const Count* n_dk, const float* alpha, const float* q, int64_t old) {
        f32s column{};
        for (int64_t s = 0; s < sections; s++) {
            f32s section{};
            const int64_t end = std::min((s + 1) * SECTION, rows) * ROW;
            for (int64_t k = s * SECTION * ROW; k < end; k += ROW) {
                f32s x = (load_f32s(n_dk + k) + load(alpha + k)) * load(q + k);
                x = select(place == all(int32_t(old - k)), f32s{}, x);
                store(&p[k], x);
                section += x;
            }
            store(&by_section[s * ROW], section);
            column += section;
        }
        store(by_column.data(), column);
    }

    INLINE void set(int64_t k, float x) {
        p[k] = x;
        by_column[k % ROW] += x;
        by_section[k / (ROW * SECTION) * ROW + k % ROW] += x;
    }

    // A topic in proportion to the products: first its column, then its section, then its row.
    INLINE int64_t draw(double uniform) const {
        float fours[4];  // columns that are four apart
        for (int j = 0; j < 4; j++)
            fours[j] = (by_column[j] + by_column[j + 4]) + (by_column[j + 8] + by_column[j + 12]);
        float left = float(uniform) * ((fours[0] + fours[1]) + (fours[2] + fours[3]));
        int64_t k = found(fours, 1, 4, left);
        k += 4 * found(&by_column[k], 4, 4, left);
        const int64_t s = found(&by_section[k], ROW, sections, left);
        k += s * ROW * SECTION;
        return k + ROW * found(&p[k], ROW, std::min(SECTION, rows - s * SECTION), left);
    }

  private:
    int64_t rows, sections;
    std::vector<float> p, by_section, by_column;
    i32s place;
};

// Draw the topic of every token given those of all others: p(k) is proportional to
// (n_dk + alpha_k) (n_wk + eta_w) / (n_k + sum of eta), without the token itself, in single precision.
//
// All tokens of a word follow each other: its factor q is kept from token to token, and changed in two places.
template <class Topic, class Count>
static void sweep(const Tokens<Topic>& tokens, const TopicCounts<Count>& n, Vector<const double> alpha,
                  Vector<const double> eta, uint64_t state) {
    const int64_t K = alpha.size, width = n.n_dk.columns;
    Uniforms next{state};
    Products products(width);
    std::vector<int32_t> row(K);
    std::vector<float> share(K), q(width), prior(width);
    double eta_sum = 0.0;
    for (int64_t v = 0; v < eta.size; v++) eta_sum += eta[v];
    const float smooth_sum = float(eta_sum);
    for (int64_t k = 0; k < K; k++) {
        prior[k] = float(alpha[k]);
        share[k] = 1.0f / (float(n.total[k]) + smooth_sum);
    }
    for (int64_t u = 0; u < tokens.words.size; u++) {
        const int64_t w = tokens.words[u];
        const float smooth = float(eta[w]);
        for (int64_t k = 0; k < K; k++) {
            row[k] = n.counts[w][k];
            q[k] = (float(row[k]) + smooth) * share[k];
        }
        auto move = [&](Count* document, int64_t k, int step) {
            row[k] += step;
            n.total[k] += step;
            document[k] = Count(document[k] + step);
            share[k] = 1.0f / (float(n.total[k]) + smooth_sum);
            q[k] = (float(row[k]) + smooth) * share[k];
        };
        for (int64_t i = tokens.start[u]; i < tokens.start[u + 1]; i++) {
            Count* document = n.n_dk[tokens.doc[i]];
            const int64_t old = tokens.topic[i];
            // The products are read before the counts change: a small number that was just written delays the
            // sixteen that it is one of.
            products.take(document, prior.data(), q.data(), old);
            move(document, old, -1);
            products.set(old, (float(document[old]) + prior[old]) * q[old]);
            const int64_t now = std::min(products.draw(next()), K - 1);
            move(document, now, 1);
            tokens.topic[i] = Topic(now);
        }
        if (n.back.rows > 0) std::copy(row.begin(), row.end(), n.back[w]);
    }
}

// Add the tokens of each document by topic to `out`, (D, K) or wider.
template <class Topic, class Count>
static void count_in_documents(Vector<const int32_t> doc, const Topic* topic, Matrix<Count> out) {
    for (int64_t i = 0; i < doc.size; i++) out[doc[i]][topic[i]]++;
}

// Add the tokens of each word by topic to `out`, (V, K), and of all to `total`, (K,).
template <class Topic>
static void count_topics(Vector<const int64_t> words, const int64_t* start, const Topic* topic,
                         Matrix<int32_t> out, int64_t* total) {
    for (int64_t u = 0; u < words.size; u++)
        for (int64_t i = start[u]; i < start[u + 1]; i++) {
            out[words[u]][topic[i]]++;
            total[topic[i]]++;
        }
}

// log of a (a + 1) ... (a + n - 1)
static double rising(double a, int64_t n) {
    if (n <= 0) return 0.0;
    if (n > 12) return log_gamma(a + double(n)) - log_gamma(a);
    double product = 1.0;
    for (int64_t i = 0; i < n; i++) product *= a + double(i);
    return log(product);
}

// The first values of `rising`, which all entries of a share; none, if they differ.
static std::vector<double> first_risings(Vector<const double> a, int64_t size) {
    std::vector<double> out;
    if (std::all_of(a.data, a.data + a.size, [&](double x) { return x == a[0]; }) && a.size > 0)
        for (int64_t n = 0; n < size; n++) out.push_back(rising(a[0], n));
    return out;
}

// The sum of log(prior (prior + 1) ... (prior + n - 1)) over counts n, (V, K), with prior (V,).
static double log_joint_of_words(Matrix<const int32_t> counts, Vector<const double> prior) {
    const std::vector<double> known = first_risings(prior, 1024);
    double out = 0.0;
    for (int64_t v = 0; v < counts.rows; v++)
        for (int64_t k = 0; k < counts.columns; k++) {
            const int64_t n = counts[v][k];
            if (n > 0) out += n < int64_t(known.size()) ? known[n] : rising(prior[v], n);  // few of them
        }
    return out;
}

// The sum over rows of log p(a sequence with these counts), (D, K), given Dirichlet(prior), (K,); rows may be wider,
// with zeros.
template <class Count>
static double log_joint_of_rows(Matrix<const Count> counts, Vector<const double> prior) {
    const int64_t K = prior.size;
    const std::vector<double> known = first_risings(prior, 256);
    double out = 0.0, prior_sum = 0.0;
    for (int64_t k = 0; k < K; k++) prior_sum += prior[k];
    const double of_none = log_gamma(prior_sum);
    for (int64_t d = 0; d < counts.rows; d++) {
        int64_t total = 0;
        uint64_t most = 0;
        for (int64_t k = 0; k < K; k++) {
            total += counts[d][k];
            most = std::max(most, uint64_t(counts[d][k]));
        }
        double sum[4] = {};
        for (int64_t k = 0; k < K && most < known.size(); k++) sum[k % 4] += known[counts[d][k]];
        for (int64_t k = 0; k < K && most >= known.size(); k++) sum[k % 4] += rising(prior[k], counts[d][k]);
        out += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        out += of_none - log_gamma(prior_sum + double(total));
    }
    return out;
}

// --- held-out documents ---------------------------------------------------------------------------------------------

// Estimates of log p(document), from word to word: the log of the mean over particles of the product of what each
// finds the next word to be. Wallach, Murray, Salakhutdinov and Mimno, "Evaluation methods for topic models", 2009,
// algorithm 3, with products of its own for each particle, as Neal 2001 has them.
class LeftToRight {
  public:
    LeftToRight(Matrix<const double> phi, Vector<const double> alpha, int64_t longest)
        : phi(phi), K(alpha.size), alpha(alpha.data, K), weight(K), p(K), count(K), topic(longest) {
        for (int64_t k = 0; k < K; k++) alpha_sum += alpha[k];
    }

    // What one particle finds log p(document) to be.
    double particle(const int64_t* words, int64_t length, Uniforms& next) {
        weight = alpha;
        std::fill(count.begin(), count.end(), 0);
        double found = 0.0;
        for (int64_t n = 0; n < length; n++) {
            for (int64_t m = 0; m < n; m++) {
                add(topic[m], -1);
                products(words[m]);
                put(m, next());
            }
            found += log(products(words[n]) / (double(n) + alpha_sum));
            put(n, next());
        }
        return found;
    }

  private:
    // p = phi weight, with the counts of topics and alpha as weights; their sum.
    double products(int64_t word) {
        const RowsOfWords<int64_t> row{phi, &word};
        column = {};
        for (int64_t v = 0; v < row.lanes(); v++) {
            const int64_t k = v * PER_LANES;
            const f64s x = (v < row.whole() ? load(row[0] + k) : row.last(0)) * load(&weight[k]);
            store(&p[k], x);
            column += x;
        }
        return sum(column);
    }

    // A topic of word m in proportion to p: first its column, then its row.
    void put(int64_t m, double uniform) {
        double columns[PER_LANES], total = 0.0;
        store(columns, column);
        for (double x : columns) total += x;
        double left = uniform * total;
        int64_t k = found(columns, 1, PER_LANES, left);
        k += PER_LANES * found(&p[k], PER_LANES, int64_t(p.size()) / PER_LANES, left);
        topic[m] = std::min(k, K - 1);
        add(topic[m], 1);
    }

    void add(int64_t k, int64_t step) {
        count[k] += step;
        weight[k] = alpha[k] + double(count[k]);
    }

    Matrix<const double> phi;
    int64_t K;
    double alpha_sum = 0.0;
    TopicNumbers alpha, weight, p;
    std::vector<int64_t> count, topic;
    f64s column{};
};

// Document d has the words begin[d] to begin[d + 1]; phi (V, K) are probabilities.
static void left_to_right(const int64_t* words, Vector<const int64_t> begin, Matrix<const double> phi,
                          Vector<const double> alpha, int64_t particles, const uint64_t* seeds, double* out) {
    int64_t longest = 0;
    for (int64_t d = 0; d + 1 < begin.size; d++) longest = std::max(longest, begin[d + 1] - begin[d]);
    LeftToRight estimate(phi, alpha, longest);
    std::vector<double> found(particles);
    for (int64_t d = 0; d + 1 < begin.size; d++) {
        Uniforms next{seeds[d]};
        for (double& x : found) x = estimate.particle(words + begin[d], begin[d + 1] - begin[d], next);
        const double most = *std::max_element(found.begin(), found.end());
        double total = 0.0;
        for (double x : found) total += most > -BEYOND ? exp(x - most) : 0.0;
        out[d] = most > -BEYOND ? most + log(total / double(particles)) : most;
    }
}

}  // namespace suffice
