"""Topics of documents: the E step of latent Dirichlet allocation, and its collapsed Gibbs sampler.

Documents are CSR rows of counts. The values of a word are a row of K numbers, one per topic.

The functions of `fast_math` work on several topics at once.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from ..core.blocks import csr_of
from .compiled import compiled
from .fast_math import LOWEST, MOST, SECTION, N, below_log, exp_digamma, gammas, products

jit = compiled(fastmath={"contract", "reassoc"})
inlined = compiled(inline="always", fastmath={"contract", "reassoc"})

MOST_NUMPY = 1 << 17  # numbers of a dense matrix, documents by words, up to which NumPy multiplies it


@jit
def dirichlet_words(first, end, word, eta, of_total, out, top):
    """Of the words from first to end, exp(E[log p(word given topic)]), in rows of their own scale, and the
    logarithms of the scales; and the part of the bound that is the sum over words, (K,).

    `word` (V, K) are the parameters of the topics, and of_total (K,) is E[log p] of none of their words:
    minus the digamma functions of their sums.
    """
    K = word.shape[1]
    x, psi, lg, e, logs = np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    a, b = np.empty(K), np.empty(K)
    bound = np.zeros(K)
    share = np.empty(K)
    largest = -np.inf
    for k in range(K):
        largest = max(largest, of_total[k])
    for k in range(K):
        share[k] = math.exp(max(of_total[k] - largest, LOWEST))
    for v in range(first, end):
        most = 0.0
        for k in range(K):
            x[k] = word[v, k]
            most = max(most, x[k])
        gammas(x, psi, lg, a, b, logs)
        of_eta = math.lgamma(eta[v])
        for k in range(K):
            bound[k] += (eta[v] - x[k]) * (psi[k] + of_total[k]) + lg[k] - of_eta
        scale = below_log(min(most, MOST)) + math.log(min(most, MOST) + 6.0)
        exp_digamma(x, scale, e, a)
        for k in range(K):
            out[v, k] = e[k] * share[k]
        top[v] = scale + largest
    return bound


@dirichlet_words.small
def _(first, end, word, eta, of_total, out, top):
    x, eta, largest = word[first:end], eta[first:end, None], of_total.max()
    below, digamma, log_gamma = _gammas(x)
    most = np.minimum(x.max(axis=1, keepdims=True), MOST)
    scale = below_log.py_func(most) + np.log(most + 6.0)
    out[first:end] = (np.minimum(x, MOST) + 6.0) * np.exp(np.maximum(below - scale, LOWEST))
    out[first:end] *= np.exp(np.maximum(of_total - largest, LOWEST))
    top[first:end] = scale[:, 0] + largest
    return ((eta - x) * (digamma + of_total) + log_gamma - gammaln(eta)).sum(axis=0)


def _gammas(x):
    """digamma(x) - log(x + 6), digamma(x), and the logarithm of the gamma function."""
    x = np.minimum(x, MOST)
    below = below_log.py_func(x)
    return below, np.log(x + 6.0) + below, gammaln(x)


@jit
def infer(data, indices, indptr, first, end, B, top, alpha, tol, max_iter, gamma, theta, ratio, log_theta):
    """Dirichlet posteriors of the topics of documents first to end, each from the same start. Blei, Ng and
    Jordan 2003, figure 6.

    Out come gamma (n, K), exp(E[log theta]) up to a factor, theta (n, K), E[log theta] (n, K), and for every
    entry its count over the sum of its topics, `ratio`. Returned are the bounds of log p(document), (n,).
    """
    K = len(alpha)
    g, e, sums, psi, lg = np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    a, b, logs = np.empty(K), np.empty(K), np.empty(K)
    total_alpha, prior = 0.0, 0.0
    for k in range(K):
        total_alpha += alpha[k]
        prior -= math.lgamma(alpha[k])
    prior += math.lgamma(total_alpha)
    bounds = np.empty(end - first)
    for n in range(first, end):
        d, begin, stop = n - first, indptr[n], indptr[n + 1]
        length = 0.0
        for p in range(begin, stop):
            length += data[p]
        for k in range(K):
            g[k] = alpha[k] + length / K
        if length > 0.0:
            for _ in range(max_iter):
                exp_digamma(g, 0.0, e, a)
                _ratios(data, indices, begin, stop, B, e, ratio)
                _sums(ratio, indices, begin, stop, B, sums)
                change = 0.0
                for k in range(K):
                    new = alpha[k] + e[k] * sums[k]
                    change += abs(new - g[k])
                    g[k] = new
                if change <= tol * K:
                    break
        exp_digamma(g, 0.0, e, a)
        gammas(g, psi, lg, a, b, logs)
        total = total_alpha + length
        of_total = below_log(min(total, MOST)) + math.log(min(total, MOST) + 6.0)
        bound = prior - math.lgamma(total) - length * of_total
        for k in range(K):
            log_theta[d, k] = psi[k] - of_total
            bound += (alpha[k] - g[k]) * log_theta[d, k] + lg[k]
            gamma[d, k] = g[k]
            theta[d, k] = e[k]
        _ratios(data, indices, begin, stop, B, e, ratio)
        for p in range(begin, stop):
            if data[p] > 0.0:
                bound += data[p] * (math.log(data[p] / ratio[p]) + top[indices[p]])
        bounds[d] = bound
    return bounds


@infer.small
def _(data, indices, indptr, first, end, B, top, alpha, tol, max_iter, gamma, theta, ratio, log_theta):
    K, n, part = len(alpha), end - first, slice(indptr[first], indptr[end])
    if n * len(B) > MOST_NUMPY:
        return NotImplemented
    row, word = np.repeat(np.arange(n), np.diff(indptr[first : end + 1])), indices[part]
    X = np.zeros((n, len(B)))
    np.add.at(X, (row, word), data[part])
    length = X.sum(axis=1, keepdims=True)
    gamma[:] = alpha + length / K
    live = np.flatnonzero(length > 0.0)
    for _ in range(max_iter):
        e = _exp_digamma(gamma[live])
        new = alpha + e * ((X[live] / (e @ B.T)) @ B)
        change = np.abs(new - gamma[live]).sum(axis=1)
        gamma[live] = new
        live = live[change > tol * K]
        if not len(live):
            break
    theta[:] = _exp_digamma(gamma)
    mean = (theta @ B.T)[row, word]
    ratio[part] = data[part] / mean
    _, digamma, log_gamma = _gammas(gamma)
    total = alpha.sum() + length
    of_total = _gammas(total)[1]
    log_theta[:] = digamma - of_total
    bounds = gammaln(alpha.sum()) - gammaln(alpha).sum() - (gammaln(total) + length * of_total)[:, 0]
    bounds += ((alpha - gamma) * log_theta + log_gamma).sum(axis=1)
    of_words = np.where(data[part] > 0.0, data[part] * (np.log(mean) + top[word]), 0.0)
    return bounds + np.bincount(row, of_words, n)


def _exp_digamma(x):
    x = np.minimum(x, MOST)
    return (x + 6.0) * np.exp(np.maximum(below_log.py_func(x), LOWEST))


@inlined
def _ratios(data, indices, begin, stop, B, e, ratio):
    """Counts over B e, for the entries begin to stop; four at a time touch `e` less often."""
    K = len(e)
    fours = stop - (stop - begin) % 4
    for p in range(begin, fours, 4):
        w0, w1, w2, w3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
        t0 = t1 = t2 = t3 = 0.0
        for k in range(K):
            t0 += B[w0, k] * e[k]
            t1 += B[w1, k] * e[k]
            t2 += B[w2, k] * e[k]
            t3 += B[w3, k] * e[k]
        ratio[p], ratio[p + 1] = data[p] / t0, data[p + 1] / t1
        ratio[p + 2], ratio[p + 3] = data[p + 2] / t2, data[p + 3] / t3
    for p in range(fours, stop):
        w = indices[p]
        t = 0.0
        for k in range(K):
            t += B[w, k] * e[k]
        ratio[p] = data[p] / t


@inlined
def _sums(ratio, indices, begin, stop, B, sums):
    """sums = the sum of ratio times B over the entries begin to stop; apart from the ratios, since what reads
    and what writes is faster one after the other than in turns."""
    K = len(sums)
    for k in range(K):
        sums[k] = 0.0
    fours = stop - (stop - begin) % 4
    for p in range(begin, fours, 4):
        w0, w1, w2, w3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
        r0, r1, r2, r3 = ratio[p], ratio[p + 1], ratio[p + 2], ratio[p + 3]
        for k in range(K):
            sums[k] += (r0 * B[w0, k] + r1 * B[w1, k]) + (r2 * B[w2, k] + r3 * B[w3, k])
    for p in range(fours, stop):
        w, r = indices[p], ratio[p]
        for k in range(K):
            sums[k] += r * B[w, k]


@jit
def add_counts(indices, indptr, first, end, theta, ratio, weight, out):
    """Add ratio times theta times weight of the documents first to end to the rows of their words."""
    K = theta.shape[1]
    for n in range(first, end):
        for p in range(indptr[n], indptr[n + 1]):
            w, r = indices[p], ratio[p] * weight[n]
            for k in range(K):
                out[w, k] += r * theta[n - first, k]


@add_counts.small
def _(indices, indptr, first, end, theta, ratio, weight, out):
    part, lengths = slice(indptr[first], indptr[end]), np.diff(indptr[first : end + 1])
    of_word = ratio[part] * np.repeat(weight[first:end], lengths)
    begin = indptr[first : end + 1] - indptr[first]
    out += csr_of(of_word, indices[part], begin, (end - first, len(out))).T @ theta


# --- collapsed Gibbs sampling ------------------------------------------------------------------------------
#
# Tokens stand by word: the u-th word of a block has the tokens start[u] to start[u + 1], each with its
# document and its topic.


@inlined
def _next(state):
    """A uniform number, and the state that follows: splitmix64 (Steele, Lea and Flood 2014)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 1.1102230246251565e-16, state


@inlined
def _found(p, first, step, n, left):
    """Of n numbers, `step` apart from the first on, how many add up to no more than `left`, but for the last;
    and what they leave of it. Without a branch: where it ends is by chance."""
    below, sum_below, count = np.float32(0.0), np.float32(0.0), np.uint64(0)
    for i in range(np.uint64(n - 1)):
        below += p[first + step * i]
        more = left >= below
        sum_below = below if more else sum_below
        count += np.uint64(more)
    return count, left - sum_below


@jit
def sweep(words, start, doc, topic, n_dk, counts, back, total, alpha, eta, state):
    """Draw the topic of every token given those of all others; `topic`, `n_dk` and `total` are changed.

    p(k) is proportional to (n_dk + alpha_k) (n_wk + eta_w) / (n_k + sum of eta), without the token itself, in
    single precision. All tokens of a word follow each other: its factor q is kept from token to token, and
    changed in two places. Of the counts of words, (V, K), one row at a time is needed, and that is a copy,
    which goes to `back` when it is done, if that has rows: it may be the counts themselves.

    Topics stand in rows of N, and rows in sections: n_dk is (D, K) or wider, a multiple of N. A draw is
    searched by column, then by section, then by row.
    """
    K, width = len(alpha), n_dk.shape[1]
    rows = width // N
    sections = -(-rows // SECTION)
    flat = n_dk.reshape(-1)
    one, last = np.float32(1.0), np.uint64(K - 1)
    row, share = np.empty(K, np.int64), np.empty(K, np.float32)
    q, prior, p = np.zeros(width, np.float32), np.zeros(width, np.float32), np.zeros(width, np.float32)
    by_column, by_section = np.zeros(N, np.float32), np.zeros(N * sections, np.float32)
    by_four = np.zeros(4, np.float32)  # columns that are four apart
    eta_sum = 0.0
    for v in range(len(eta)):
        eta_sum += eta[v]
    smooth_sum = np.float32(eta_sum)
    for k in range(K):
        prior[k] = alpha[k]
        share[k] = one / (np.float32(total[k]) + smooth_sum)
    for u in range(len(words)):
        w = words[u]
        smooth = np.float32(eta[w])
        for k in range(K):
            row[k] = counts[w, k]
            q[k] = (np.float32(row[k]) + smooth) * share[k]
        for i in range(start[u], start[u + 1]):
            document, old = np.uint64(doc[i]) * np.uint64(width), np.uint64(topic[i])
            products(flat, document, old, prior, q, p, by_column, by_section)
            row[old] -= 1
            total[old] -= 1
            flat[document + old] -= 1
            share[old] = one / (np.float32(total[old]) + smooth_sum)
            q[old] = (np.float32(row[old]) + smooth) * share[old]
            # The products are read before the counts change: a small number that was just written delays
            # the sixteen that it is one of.
            x = (np.float32(flat[document + old]) + prior[old]) * q[old]
            p[old] = x
            column, section = old % np.uint64(N), old // np.uint64(N * SECTION)
            by_column[column] += x
            by_section[np.uint64(N) * section + column] += x
            for j in range(4):
                by_four[j] = (by_column[j] + by_column[j + 4]) + (by_column[j + 8] + by_column[j + 12])
            uniform, state = _next(state)
            left = np.float32(uniform) * ((by_four[0] + by_four[1]) + (by_four[2] + by_four[3]))
            new, left = _found(by_four, np.uint64(0), np.uint64(1), 4, left)
            n, left = _found(by_column, new, np.uint64(4), 4, left)
            new += np.uint64(4) * n
            n, left = _found(by_section, new, np.uint64(N), sections, left)
            new += np.uint64(N * SECTION) * n
            n, left = _found(p, new, np.uint64(N), min(SECTION, rows - SECTION * np.int64(n)), left)
            new = min(new + np.uint64(N) * n, last)
            row[new] += 1
            total[new] += 1
            flat[document + new] += 1
            share[new] = one / (np.float32(total[new]) + smooth_sum)
            q[new] = (np.float32(row[new]) + smooth) * share[new]
            topic[i] = new
        if len(back):
            for k in range(K):
                back[w, k] = row[k]


@jit
def count_in_documents(doc, topic, out):
    """Add the tokens of each document by topic to `out`, (D, K) or wider."""
    for i in range(len(doc)):
        out[doc[i], topic[i]] += 1


@jit
def count_topics(words, start, topic, out, total):
    """Add the tokens of each word by topic to `out`, (V, K), and of all to `total`, (K,)."""
    for u in range(len(words)):
        w = words[u]
        for p in range(start[u], start[u + 1]):
            out[w, topic[p]] += 1
            total[topic[p]] += 1


@jit
def log_joint_of_words(counts, prior):
    """The sum of log(prior (prior + 1) ... (prior + n - 1)) over counts n, (V, K), with prior (V,)."""
    V, K = counts.shape
    out, known = 0.0, _first_risings(prior, 1024)
    for v in range(V):
        for k in range(K):
            n = counts[v, k]
            if n:  # few of them
                out += known[n] if n < len(known) else rising(prior[v], n)
    return out


@jit
def log_joint_of_rows(counts, prior):
    """The sum over rows of log p(a sequence with these counts), (D, K), given Dirichlet(prior), (K,); rows
    may be wider, with zeros."""
    K, out, prior_sum = len(prior), 0.0, 0.0
    known = _first_risings(prior, 256)
    for k in range(K):
        prior_sum += prior[k]
    of_none = math.lgamma(prior_sum)
    for d in range(len(counts)):
        total, most = 0, 0
        for k in range(K):
            most = max(most, counts[d, k])
            total += counts[d, k]
        if most < len(known):
            for k in range(K):
                out += known[counts[d, k]]
        else:
            for k in range(K):
                out += rising(prior[k], counts[d, k])
        out += of_none - math.lgamma(prior_sum + total)
    return out


@jit
def _first_risings(a, n):
    """The first n values of `rising`, which all entries of a share; none, if they differ."""
    for v in range(len(a)):
        if a[v] != a[0]:
            return np.empty(0)
    out = np.empty(n)
    for i in range(n):
        out[i] = rising(a[0], i)
    return out


@jit
def rising(a, n):
    """log of a (a + 1) ... (a + n - 1)."""
    if n == 0:
        return 0.0
    if n > 12:
        return math.lgamma(a + n) - math.lgamma(a)
    product = 1.0
    for i in range(n):
        product *= a + i
    return math.log(product)


# --- held-out documents ------------------------------------------------------------------------------------


@jit
def left_to_right(words, begin, phi, alpha, particles, seeds):
    """Estimates of log p(document), (D,), from word to word: the log of the mean over particles of the
    product of what each finds the next word to be. Wallach et al. 2009, algorithm 3, with products of its
    own for each particle, as Neal 2001 has them.

    Document d has the words begin[d] to begin[d + 1]; phi (V, K) are probabilities.
    """
    K = len(alpha)
    alpha_sum = 0.0
    for k in range(K):
        alpha_sum += alpha[k]
    longest = 0
    for d in range(len(begin) - 1):
        longest = max(longest, begin[d + 1] - begin[d])
    n_topic, p = np.empty(K), np.empty(K)
    topic, found = np.empty(longest, np.int64), np.empty(particles)
    out = np.empty(len(begin) - 1)
    for d in range(len(begin) - 1):
        first, length = begin[d], begin[d + 1] - begin[d]
        state = seeds[d]
        for r in range(particles):
            for k in range(K):
                n_topic[k] = 0.0
            found[r] = 0.0
            for n in range(length):
                for m in range(n):
                    n_topic[topic[m]] -= 1.0
                    topic[m], state = _drawn(words[first + m], phi, n_topic, alpha, p, state)
                    n_topic[topic[m]] += 1.0
                here = 0.0
                for k in range(K):
                    here += phi[words[first + n], k] * (n_topic[k] + alpha[k])
                found[r] += math.log(here / (n + alpha_sum))
                topic[n], state = _drawn(words[first + n], phi, n_topic, alpha, p, state)
                n_topic[topic[n]] += 1.0
        most, total = -np.inf, 0.0
        for r in range(particles):
            most = max(most, found[r])
        for r in range(particles):
            total += math.exp(found[r] - most) if most > -np.inf else 0.0
        out[d] = most + math.log(total / particles) if most > -np.inf else most
    return out


@jit
def _drawn(w, phi, n_topic, alpha, p, state):
    """A topic for one word given how many others of its document have each, and the state that follows."""
    K = len(alpha)
    total = 0.0
    for k in range(K):
        p[k] = phi[w, k] * (n_topic[k] + alpha[k])
        total += p[k]
    uniform, state = _next(state)
    left = uniform * total
    for k in range(K - 1):
        left -= p[k]
        if left < 0.0:
            return k, state
    return K - 1, state
