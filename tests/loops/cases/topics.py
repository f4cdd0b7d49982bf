"""Arguments for the loops of native/topics.hpp: N documents of D words, and K topics."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    word, of_total = rng.gamma(0.5, size=(D, K)) + 1e-3, rng.normal(size=K)
    eta, alpha = rng.uniform(0.01, 1.0, D), rng.uniform(0.05, 1.5, K)
    word[0, 0] = 1e31
    yield "dirichlet_words", (word, eta, of_total, np.empty((D, K)), np.empty(D))
    X = sp.csr_array(rng.poisson(rng.gamma(0.5, 4.0, size=(N, D))).astype(float))
    if X.nnz:
        X.data[0] = 0.0  # an entry that is not stored elsewhere
    B, top = rng.uniform(0.1, 1.0, (D, K)), rng.normal(size=D)
    for kind in np.int32, np.int64:
        places = X.indices.astype(kind), X.indptr.astype(kind)
        for most in 0, 3, 40:
            out = [np.empty(shape) for shape in ((N, K), (N, K), X.nnz, (N, K))]
            yield "infer", (X.data, *places, B, top, alpha, 1e-9, most, *out)
        yield "add_counts", (X.data, *places, rng.random((N, K)), rng.random(N), rng.random((D, K)))
    yield from of_tokens(N, D, K, alpha, eta, rng)
    for a, n in (0.3, 0), (0.3, 5), (1e-3, 12), (7.0, 13), (1e4, 500):
        yield "rising", (a, n + N)
    phi, begin = rng.dirichlet(np.ones(D), size=K).T.copy(), np.minimum(np.arange(9) * 3, 2 * N)
    words, seeds = rng.integers(D, size=2 * N), rng.integers(1 << 64, size=8, dtype=np.uint64)
    yield "left_to_right", (words, begin, phi, alpha, 3, seeds)


def of_tokens(N, D, K, alpha, eta, rng):
    for more, topic_type in (0, np.int16), (130, np.int32):
        K, alpha = K + more, np.append(alpha, rng.uniform(0.05, 1.5, more))
        words = np.flatnonzero(rng.random(D) < 0.8)
        start = np.append(0, np.cumsum(rng.integers(1, 5, size=len(words))))
        T = start[-1]
        topic = rng.integers(K, size=T).astype(topic_type)
        doc = rng.integers(N, size=T).astype(np.int32) if N else np.zeros(T, np.int32)
        counts, total = np.zeros((D, K), np.int32), np.zeros(K, np.int64)
        np.add.at(counts, (np.repeat(words, np.diff(start)), topic), 1)
        counts[:, ::3] += 300  # of other blocks
        total += counts.sum(axis=0)
        yield "count_topics", (words, start, topic, counts, total)
        for kind in np.uint8, np.uint16, np.int32:
            n_dk = np.zeros((max(1, N), -(-K // 16) * 16), kind)
            yield "count_in_documents", (doc, topic, n_dk.copy())
            np.add.at(n_dk, (doc, topic), 1)
            for back in (counts.copy(), counts[:0].copy())[: 1 + (N > 100)]:
                tokens = words, start, doc, topic, n_dk, counts, back, total
                yield "sweep", (*tokens, alpha, eta, 1 << 63 | N)
            for prior in alpha, np.full(K, 0.3):
                yield "log_joint_of_rows", (n_dk, prior)
                yield "log_joint_of_rows", (n_dk + kind(200 if kind == np.uint8 else 300) * (n_dk > 0), prior)
    for prior in eta, np.full(D, 0.3):
        yield "log_joint_of_words", (counts, prior)
