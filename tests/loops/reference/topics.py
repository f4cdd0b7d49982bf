"""The loops of native/topics.hpp in NumPy; those that draw, in plain Python with the same random numbers."""

import numpy as np
from scipy.special import digamma, gammaln

LEAST_LOG, MOST, ROW, SECTION = -345.0, 1e30, 16, 8
F = np.float32


def exp_digamma(x, less=0.0):
    x = np.minimum(x, MOST)
    return (x + 6.0) * np.exp(np.maximum(digamma(x) - np.log(x + 6.0) - less, LEAST_LOG))


def dirichlet_words(word, eta, of_total, out, top):
    largest, eta = of_total.max(), eta[:, None]
    scale = digamma(np.minimum(word.max(axis=1), MOST))
    out[:] = exp_digamma(word, scale[:, None]) * np.exp(np.maximum(of_total - largest, LEAST_LOG))
    top[:] = scale + largest
    return ((eta - word) * (digamma(word) + of_total) + gammaln(word) - gammaln(eta)).sum(axis=0)


def infer(data, indices, indptr, B, top, alpha, tol, max_iter, gamma, theta, ratio, log_theta):
    bounds = np.zeros(len(gamma))
    for n in range(len(gamma)):
        part = slice(indptr[n], indptr[n + 1])
        x, rows = data[part], B[indices[part]]
        length, g = x.sum(), alpha + x.sum() / len(alpha)
        for _ in range(max_iter if length > 0.0 else 0):
            e = exp_digamma(g)
            old, g = g, alpha + e * ((x / (rows @ e)) @ rows)
            if np.abs(g - old).sum() <= tol * len(alpha):
                break
        total = alpha.sum() + length
        gamma[n], theta[n], log_theta[n] = g, exp_digamma(g), digamma(g) - digamma(total)
        mean = rows @ theta[n]
        ratio[part] = x / mean
        bounds[n] = gammaln(alpha.sum()) - gammaln(alpha).sum() - gammaln(total) - length * digamma(total)
        bounds[n] += ((alpha - g) * log_theta[n] + gammaln(g)).sum()
        seen = x > 0.0
        bounds[n] += (x[seen] * (np.log(mean[seen]) + top[indices[part][seen]])).sum()
    return bounds


def add_counts(ratio, indices, indptr, theta, weight, out):
    n = np.repeat(np.arange(len(theta)), np.diff(indptr))
    np.add.at(out, indices, (ratio * weight[n])[:, None] * theta[n])


def uniforms(state):
    """splitmix64."""
    mask = (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def found(p, left):
    """How many numbers, but for the last, add up to no more than `left`; and what they leave of it."""
    below, count, sum_below = p.dtype.type(0), 0, p.dtype.type(0)
    for x in p[:-1]:
        below += x
        if left >= below:
            count, sum_below = count + 1, below
    return count, left - sum_below


def drawn(p, uniform):
    """A topic in proportion to products that stand in rows of 16, and rows in sections of 8."""
    rows = p.reshape(-1, ROW)
    by_section = np.array([sums(rows[s : s + SECTION]) for s in range(0, len(rows), SECTION)])
    by_column = sums(by_section)
    fours = np.array([(c[0] + c[4]) + (c[8] + c[12]) for c in (by_column[j:] for j in range(4))])
    column, left = found(fours, F(uniform) * ((fours[0] + fours[1]) + (fours[2] + fours[3])))
    n, left = found(by_column[column::4], left)
    column += 4 * n
    section, left = found(by_section[:, column], left)
    row, left = found(rows[section * SECTION : (section + 1) * SECTION, column], left)
    return (section * SECTION + row) * ROW + column


def sums(rows):
    out = np.zeros(ROW, F)
    for row in rows:
        out += row
    return out


def sweep(words, start, doc, topic, n_dk, counts, back, total, alpha, eta, state):
    K, next_uniform, smooth_sum = len(alpha), uniforms(state), F(eta.sum())
    prior = np.zeros(n_dk.shape[1], F)
    prior[:K] = alpha
    for u, w in enumerate(words):
        row = counts[w].copy()
        for i in range(start[u], start[u + 1]):
            d, old = doc[i], topic[i]
            row[old], total[old], n_dk[d, old] = row[old] - 1, total[old] - 1, n_dk[d, old] - 1
            q = np.zeros_like(prior)
            q[:K] = (row.astype(F) + F(eta[w])) * (F(1) / (total.astype(F) + smooth_sum))
            new = min(drawn((n_dk[d].astype(F) + prior) * q, next(next_uniform)), K - 1)
            row[new], total[new], n_dk[d, new] = row[new] + 1, total[new] + 1, n_dk[d, new] + 1
            topic[i] = new
        if len(back):
            back[w] = row


def count_in_documents(doc, topic, out):
    np.add.at(out, (doc, topic), 1)


def count_topics(words, start, topic, out, total):
    np.add.at(out, (np.repeat(words, np.diff(start)), topic[start[0] : start[-1]]), 1)
    total += np.bincount(topic[start[0] : start[-1]], minlength=len(total))


def log_joint_of_words(counts, prior):
    return (gammaln(prior[:, None] + counts) - gammaln(prior[:, None])).sum()


def log_joint_of_rows(counts, prior):
    counts = counts[:, : len(prior)].astype(float)
    rows = (gammaln(prior + counts) - gammaln(prior)).sum(axis=1)
    return (rows + gammaln(prior.sum()) - gammaln(prior.sum() + counts.sum(axis=1))).sum()


def rising(a, n):
    return np.log(a + np.arange(n)).sum()


def left_to_right(words, begin, phi, alpha, particles, seeds):
    out = np.zeros(len(seeds))
    for d, seed in enumerate(seeds):
        document, next_uniform = words[begin[d] : begin[d + 1]], uniforms(int(seed))
        logs = [_particle(document, phi, alpha, next_uniform) for _ in range(particles)]
        out[d] = np.log(np.mean(np.exp(logs)))
    return out


def _particle(document, phi, alpha, next_uniform):
    K, log_p, topic = len(alpha), 0.0, np.zeros(len(document), int)

    def draw(word, others):
        p = np.zeros(-(-K // 8) * 8)
        p[:K] = phi[word] * (alpha + np.bincount(others, minlength=K))
        columns = p.reshape(-1, 8)
        column, left = found(columns.sum(axis=0), next(next_uniform) * p.sum())
        return min(found(columns[:, column], left)[0] * 8 + column, K - 1)

    for n, word in enumerate(document):
        for m in range(n):
            topic[m] = draw(document[m], np.delete(topic[:n], m))
        here = phi[word] @ (alpha + np.bincount(topic[:n], minlength=K))
        log_p += np.log(here / (n + alpha.sum()))
        topic[n] = draw(word, topic[:n])
    return log_p
