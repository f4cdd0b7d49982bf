"""The Gibbs sampler of latent Dirichlet allocation draws from the posterior: enumeration, and Geweke's
test."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

import suffice
from suffice.core.randomness import Purpose, generator
from suffice.core.storage import StorageError, load_value
from suffice.decomposition import collapsed_gibbs
from suffice.decomposition.collapsed_gibbs import Counts, Tokens, log_joint
from suffice.inputs import in_memory
from suffice.topics import LatentDirichletAllocation, document_completion, left_to_right

from ..laws.test_checkpoints import Interrupt, StopAt
from ..versions import callbacks


def tokens_of(X, topic=None, K=2, seed=0):
    return Tokens.of(sp.csr_array(np.asarray(X, float)), K, topic, seed, (0,))


def swept(block, alpha, eta, seed):
    """One sweep, from the counts of the block itself."""
    s = Counts.of(alpha, len(eta), block)
    return block.swept(alpha, eta, s.word, s.total, seed)


def standard_error(values, batches=40):
    """Of the mean of a correlated series, by means of batches."""
    parts = np.asarray(values, float)[: len(values) // batches * batches].reshape(batches, -1)
    return parts.mean(axis=1).std(ddof=1) / np.sqrt(batches)


# --- against the posterior, enumerated ---------------------------------------------------------------------


def test_draws_are_of_the_exact_posterior():
    X = np.array([[2, 1, 0], [0, 1, 1], [1, 0, 1]])
    alpha, eta = np.array([0.4, 1.1]), np.array([0.3, 0.7, 0.2])
    block = tokens_of(X)
    T = len(block.doc)
    codes = np.array(list(product(range(2), repeat=T)))  # by word, as the block has them

    rows, columns = sp.csr_array(X).tocoo().coords
    times = sp.csr_array(X).data
    order = np.lexsort((np.repeat(rows, times), np.repeat(columns, times)))
    back = np.argsort(order)
    logs = np.array([log_joint(sp.csr_array(X), z[back], alpha, eta) for z in codes])
    p = np.exp(logs - logs.max())
    p /= p.sum()

    drawn = np.zeros((10000, T))
    for n in range(len(drawn)):
        block = swept(block, alpha, eta, [7, n])
        drawn[n] = block.topic
    for i in range(T):
        for j in range(i + 1):
            exact = p @ (codes[:, i] * codes[:, j])
            found = drawn[:, i] * drawn[:, j]
            assert abs(found.mean() - exact) < 5 * standard_error(found) + 1e-12, (i, j)
    seen = np.bincount((drawn @ (2 ** np.arange(T)[::-1])).astype(int), minlength=2**T) / len(drawn)
    assert 0.5 * np.abs(seen - p).sum() < 0.1  # of 2^8 states; the mean of independent draws is 0.05


@pytest.mark.parametrize(("n_topics", "length"), [(2, 3), (100, 250), (129, 5), (300, 60_000), (300, 70_000)])
def test_one_draw_is_of_its_conditional(n_topics, length):
    """The first word of a sweep, given the topics of all others: of several rows and sections of topics, in
    documents whose counts take one, two and four bytes."""
    rng = np.random.default_rng(n_topics)
    alpha, eta = rng.gamma(1.0, size=n_topics), np.array([0.3, 0.2])
    topic = np.where(rng.random(length) < 0.6, n_topics - 1, rng.integers(n_topics, size=length))
    topic[0] = n_topics // 2
    block = tokens_of([[1, length - 1]], topic, n_topics)
    counts = rng.poisson(2.0, size=(2, n_topics)).astype(np.int32)  # of other blocks
    counts[0, topic[0]] += 10 + length
    counts[0, topic[-1]] = 0
    np.add.at(counts, (np.repeat([0, 1], [1, length - 1]), topic), 1)
    total = counts.sum(axis=0, dtype=np.int64)

    old = np.arange(n_topics) == block.topic[0]
    in_document = np.bincount(block.topic[1:], minlength=n_topics)
    p = (in_document + alpha) * (counts[0] - old + eta[0]) / (total - old + eta.sum())
    p /= p.sum()

    first = Tokens(block.words[:1], block.start[:2], block.doc, block.topic, block.lengths)
    n = 20_000 if length < 1000 else 2_000
    drawn = [first.swept(alpha, eta, counts, total, [5, i]).topic[0] for i in range(n)]
    likely = np.argsort(p)[::-1][: np.sum(n * p >= 5.0)]
    seen = np.append(np.bincount(drawn, minlength=n_topics)[likely], 0.0)
    seen[-1] = n - seen.sum()
    expected = n * np.append(p[likely], max(1.0 - p[likely].sum(), 1e-12))
    if expected[-1] < 1.0:
        seen, expected = seen[:-1], expected[:-1] * seen[:-1].sum() / expected[:-1].sum()
    assert chisquare(seen, expected).pvalue > 1e-3


def test_log_joint_is_the_chain_rule():
    """p(words, topics) as the product of the probability of each word and topic given those before it."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(1.0, size=(4, 5)))
    K, alpha, eta = 3, np.array([0.2, 1.0, 0.7]), rng.uniform(0.1, 2.0, 5)
    doc = np.repeat(np.repeat(np.arange(4), np.diff(X.indptr)), X.data)
    word = np.repeat(X.indices, X.data)
    z = rng.integers(K, size=len(doc))
    n_dk, n_wk, total = np.zeros((4, K)), np.zeros((5, K)), 0.0
    for d, w, k in zip(doc, word, z, strict=True):
        total += np.log((n_dk[d, k] + alpha[k]) / (n_dk[d].sum() + alpha.sum()))
        total += np.log((n_wk[w, k] + eta[w]) / (n_wk[:, k].sum() + eta.sum()))
        n_dk[d, k] += 1
        n_wk[w, k] += 1
    np.testing.assert_allclose(log_joint(X, z, alpha, eta), total, rtol=1e-12)
    lda = LatentDirichletAllocation(K, doc_topic_prior=alpha, topic_word_prior=eta)
    np.testing.assert_allclose(lda.log_joint(X, z), total, rtol=1e-12)
    with pytest.raises(ValueError, match="one per word"):
        lda.log_joint(X, z[:-1])


def test_the_order_of_words_does_not_matter():
    """Words and topics are exchangeable: drawn one by one, they have one probability in any order."""
    rng = np.random.default_rng(1)
    doc, word, z = (rng.integers(n, size=12) for n in (3, 4, 3))
    alpha, eta = np.array([0.2, 1.0, 0.7]), np.array([0.5, 0.1, 2.0, 0.3])
    found = []
    for _ in range(20):
        n_dk, n_wk, total = np.zeros((3, 3)), np.zeros((4, 3)), 0.0
        for i in rng.permutation(12):
            d, w, k = doc[i], word[i], z[i]
            total += np.log((n_dk[d, k] + alpha[k]) / (n_dk[d].sum() + alpha.sum()))
            total += np.log((n_wk[w, k] + eta[w]) / (n_wk[:, k].sum() + eta.sum()))
            n_dk[d, k] += 1
            n_wk[w, k] += 1
        found.append(total)
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


# --- Geweke 2004: two ways to draw words and topics together ------------------------------------------------

LENGTHS, V, K = np.array([3, 5, 4]), 4, 3
ALPHA, ETA = np.array([0.5, 0.9, 0.3]), np.array([0.4, 0.8, 0.3, 1.0])
DOC = np.repeat(np.arange(3), LENGTHS)


def words_given(z, rng):
    phi = rng.dirichlet(ETA, size=K)
    u = rng.random(len(z))
    return np.minimum((phi.cumsum(axis=1)[z] < u[:, None]).sum(axis=1), V - 1)


def measured(z, w):
    same = z[:, None] == z
    return (
        (z == 0).sum(),
        (z == 1).sum() ** 2,
        (same & (DOC[:, None] == DOC)).sum(),
        (same & (w[:, None] == w)).sum(),
        ((w == 3) & (z == 2)).sum(),
        np.bincount(w, minlength=V).max(),
    )


def block_of(z, w):
    """The tokens as a block; and where each of them stands in it."""
    order = np.lexsort((DOC, w))
    times = np.bincount(w, minlength=V)
    words = np.flatnonzero(times)
    start = np.append(0, np.cumsum(times[words]))
    kinds = DOC[order].astype(np.int32), z[order].astype(np.int16)
    return Tokens(words, start, *kinds, LENGTHS), order


def counts_of(z, w):
    counts = np.zeros((V, K), np.int32)
    np.add.at(counts, (w, z), 1)
    return counts, counts.sum(axis=0, dtype=np.int64)


def geweke(sweep, n, seed=0):
    """Differences of the means of two simulations, in standard errors."""
    rng = np.random.default_rng(seed)
    alone = []
    for _ in range(n):
        theta = rng.dirichlet(ALPHA, size=3)
        z = (theta.cumsum(axis=1)[DOC] < rng.random(len(DOC))[:, None]).sum(axis=1).clip(max=K - 1)
        alone.append(measured(z, words_given(z, rng)))
    chain = []
    w = words_given(z, rng)
    for i in range(n):
        (block, order), counts = block_of(z, w), counts_of(z, w)
        z = np.empty_like(z)
        z[order] = sweep(block, *counts, i)
        w = words_given(z, rng)
        chain.append(measured(z, w))
    alone, chain = np.array(alone, float), np.array(chain, float)
    errors = [
        np.hypot(a.std() / np.sqrt(n), standard_error(c)) for a, c in zip(alone.T, chain.T, strict=True)
    ]
    return np.abs(alone.mean(axis=0) - chain.mean(axis=0)) / errors


def test_geweke():
    scores = geweke(
        lambda block, counts, total, i: block.swept(ALPHA, ETA, counts, total, [1, i]).topic, 5000
    )
    assert scores.max() < 4.0, scores


LESS, MORE = "move(document, old, -1);", "move(document, now, 1);"  # of the sampler
NATIVE = Path(__file__).parents[2] / "native"
PROGRAM = """
#include "topics.hpp"

extern "C" void sweep(int64_t U, int64_t* words, int64_t* start, int32_t* doc, int16_t* topic, int64_t D,
                      int64_t width, uint8_t* n_dk, int64_t V, int64_t K, int32_t* counts, int64_t* total,
                      double* alpha, double* eta, uint64_t state) {
    suffice::sweep<int16_t, uint8_t>({{words, U}, start, doc, topic}, {{n_dk, D, width}, {counts, V, K},
                                     {nullptr, 0, K}, total}, {alpha, K}, {eta, V}, state);
}
"""


@pytest.fixture
def broken(tmp_path):
    """What compiles the sampler with a mistake in it."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")

    def compiled(changes):
        source = (NATIVE / "topics.hpp").read_text()
        for right, wrong in changes.items():
            assert source.count(right) == 1, right
            source = source.replace(right, wrong)
        (tmp_path / "topics.hpp").write_text(source)
        (tmp_path / "broken.cpp").write_text(PROGRAM)
        options = "-std=c++17", "-O2", "-ffp-contract=off", "-Wno-psabi", "-shared", "-fPIC"
        library = tmp_path / "broken.so"
        subprocess.run(["g++", *options, "-I", NATIVE, tmp_path / "broken.cpp", "-o", library], check=True)
        loop = ctypes.CDLL(str(library)).sweep

        def sweep(block, counts, total, i):
            topic = block.topic.copy()
            state = int(generator(Purpose.LATENT, 1, i).integers(1 << 64, dtype=np.uint64))
            n_dk = block.by_document(K, 16)
            given = len(block.words), block.words, block.start, block.doc, topic, *n_dk.shape, n_dk
            given = *given, *counts.shape, counts, total, ALPHA, ETA
            loop(*(of_c(a) for a in given), ctypes.c_uint64(state))
            return topic

        return sweep

    return compiled


def of_c(a):
    return ctypes.c_int64(a) if isinstance(a, int) else a.ctypes.data_as(ctypes.c_void_p)


@pytest.mark.slow
def test_geweke_sees_a_bug(broken):
    scores = geweke(broken({LESS: f"{LESS} q[old] = (float(row[old] + 1) + smooth) * share[old];"}), 20000)
    assert scores.max() > 6.0, scores


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        # The document has the token itself among its counts. This makes the sampler lazy, and changes little
        # besides.
        {"(float(document[old]) + prior[old])": "(float(document[old] + 1) + prior[old])"},
        {"prior[k] = float(alpha[k])": "prior[k] = float(1.2 * alpha[k])"},
        {MORE: f"{MORE} share[now] = 1.0f / (float(n.total[now] - 1) + smooth_sum);"},
    ],
)
def test_geweke_sees_small_bugs(changes, broken):
    scores = geweke(broken(changes), 60000)
    assert scores.max() > 5.0, scores


# --- the fit ------------------------------------------------------------------------------------------------


def corpus(n=300, n_topics=4, n_words=60, length=50, seed=0):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.05), size=n_topics)
    truth = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=0.2, random_state=seed)
    return truth.sample(n, length=rng.poisson(length, n))[0], truth


def gibbs(**params):
    given = {"n_components": 4, "max_iter": 30, "random_state": 0, "topic_word_prior": 0.05} | params
    return LatentDirichletAllocation(solver="gibbs", **given)


def same(a, b):
    assert (a.components_ == b.components_).all()
    assert (a.trace_ == b.trace_).all()


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(collapsed_gibbs, "VISIT_WORDS", 300)


def test_it_finds_the_topics():
    X, truth = corpus()
    lda = gibbs(max_iter=100).fit(X)
    found = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    off = np.abs(found[:, None] - truth.components_).sum(axis=2)
    assert (off.min(axis=1) < 0.25).all()
    assert lda.components_.sum() == pytest.approx(X.sum() + 4 * 60 * 0.05)
    assert lda.trace_[-1] > lda.trace_[0]
    assert lda.n_iter_ == len(lda.trace_) == 100
    assert not lda.converged_
    Y = truth.sample(100, length=60)[0]
    mine, best = (document_completion(m, Y, random_state=0) for m in (lda, truth))
    assert mine > best - 0.05


@pytest.mark.usefixtures("small_blocks")
def test_blocks_change_little_and_threads_nothing():
    X, truth = corpus(600)
    with suffice.threads(1):
        one = gibbs().fit(X)
    with suffice.threads(2):
        same(gibbs().fit(X), one)
    Y = truth.sample(200, length=60)[0]
    X, _ = corpus(600)
    cut = document_completion(gibbs(max_iter=100).fit(X), Y, random_state=0)
    collapsed_gibbs.VISIT_WORDS = 1 << 20
    whole = document_completion(gibbs(max_iter=100).fit(X), Y, random_state=0)
    assert abs(cut - whole) < 0.03


@pytest.mark.usefixtures("small_blocks")
def test_blocks_that_share_counts_keep_them(monkeypatch):
    """After each sweep, what was kept from round to round is what the topics add up to."""
    swept, seen = collapsed_gibbs._swept_together, []

    def checked(tokens, s, alpha, eta, seed):
        tokens, s = swept(tokens, s, alpha, eta, seed)
        seen.append(len(tokens.blocks))
        found = [block.replace(n_dk=None, log_p=None) for block in tokens.blocks]
        again = in_memory(*found).fold(Counts.of, alpha, len(eta))
        for name in ("weight", "length", "of_documents"):
            assert getattr(s, name) == getattr(again, name)
        assert (s.word == again.word).all()
        assert (s.total == again.total).all()
        for block in tokens.blocks:
            assert (block.n_dk == block.by_document(len(alpha), 16)).all()
        return tokens, s

    monkeypatch.setattr(collapsed_gibbs, "_swept_together", checked)
    X, _ = corpus(600)
    gibbs(max_iter=4).fit(X)
    assert seen == [8] * 4


@pytest.mark.usefixtures("small_blocks")
def test_a_word_is_visited_by_one_block_at_a_time(monkeypatch):
    visits, every, visit = [], set(), collapsed_gibbs.Walk.visit

    def noted(self, first, end, alpha, eta, counts, back, total, seed):
        visits.append((seed[2], frozenset(self.block.words[first:end])))
        every.update((self.block.index[0], w) for w in self.block.words)
        visit(self, first, end, alpha, eta, counts, back, total, seed)

    monkeypatch.setattr(collapsed_gibbs.Walk, "visit", noted)
    X, _ = corpus(600)
    gibbs(max_iter=1).fit(X)
    for turn in range(8):
        words = [w for t, w in visits if t == turn]
        assert len(words) == 8
        assert sum(map(len, words)) == len(frozenset().union(*words))
    assert sum(len(w) for _, w in visits) == len(every)


def test_seeds_reproduce():
    X, _ = corpus(100)
    same(gibbs().fit(X), gibbs().fit(X))
    same(gibbs().fit(X.toarray()), gibbs().fit(X))
    assert (gibbs(random_state=1).fit(X).components_ != gibbs().fit(X).components_).any()


def test_weights_repeat():
    X, _ = corpus(100)
    weight = np.random.default_rng(0).integers(0, 3, size=100)
    same(gibbs().fit(X, sample_weight=weight), gibbs().fit(X[np.repeat(np.arange(100), weight)]))
    with pytest.raises(ValueError, match="weights are not whole"):
        gibbs().fit(X, sample_weight=np.full(100, 0.5))


def test_counts_must_be_whole():
    with pytest.raises(ValueError, match="counts are not whole"):
        gibbs().fit([[0.5, 1.0]])
    with pytest.raises(ValueError, match="no words"):
        gibbs().fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="needs a prior"):
        gibbs(topic_word_prior=0).fit([[1, 2]])
    with pytest.raises(ValueError, match="auto"):
        gibbs(doc_topic_prior="auto").fit([[1, 2]])


def test_words_are_priced_before_they_are_drawn(tmp_path):
    """A few large counts, or weights, are billions of words: these are refused before they are expanded."""
    X = np.array([[3e9, 1.0], [1.0, 2.0]])
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "words.parquet")
    lda = LatentDirichletAllocation(2, solver="gibbs", max_iter=1, random_state=0)
    with pytest.raises(MemoryError, match=r"the topics of 3e\+11 words.*use solver='variational'"):
        lda.fit(sp.csr_array(100.0 * X))
    with pytest.raises(MemoryError, match="words"):
        lda.fit(np.ones((2, 2)), sample_weight=[1e12, 1.0])
    with pytest.raises(MemoryError, match="words"):
        lda.fit(suffice.scan_parquet(tmp_path / "words.parquet"))
    block = suffice.partition(100.0 * X).blocks[0]
    with pytest.raises(MemoryError, match="words"):  # what a worker of a cluster does with its block
        collapsed_gibbs._here(2, 0, block)
    with pytest.raises(MemoryError, match="use document_completion"):
        left_to_right(LatentDirichletAllocation.from_topics([[0.5, 0.5]]), 100.0 * X)
    LatentDirichletAllocation(2, tol=1e3, random_state=0).fit(100.0 * X)  # the call that is named


@pytest.mark.parametrize("n_topics", [1, 2, 17, 200])
def test_any_number_of_topics(n_topics):
    """More than there are words; empty documents; words that never occur."""
    X = np.array([[0, 0, 0, 0], [3, 1, 0, 0], [0, 2, 2, 0], [0, 0, 0, 0]])
    lda = gibbs(n_components=n_topics, max_iter=5).fit(X)
    assert lda.components_.shape == (n_topics, 4)
    np.testing.assert_allclose(lda.components_.sum(axis=0), X.sum(axis=0) + n_topics * 0.05)
    np.testing.assert_allclose(lda.transform(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(lda.transform(X)[0], 1.0 / n_topics)


@pytest.mark.parametrize(
    "longest",
    [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (300, 70000))],  # which are compiled
)
def test_long_documents(longest):
    """Counts in documents take as many bytes as they need."""
    X = np.array([[longest - 7, 0, 7], [0, 5, 5]])
    lda = gibbs(n_components=3, max_iter=3).fit(X)
    np.testing.assert_allclose(lda.components_.sum(axis=0), X.sum(axis=0) + 3 * 0.05)
    block = tokens_of(X, K=3)
    assert block.by_document(3, 16).itemsize == {100: 1, 300: 2, 70000: 4}[longest]
    assert (block.by_document(3).sum(axis=1) == X.sum(axis=1)).all()


def interrupted(folder):
    """Documents, and the checkpoint of a fit to them that was stopped in its fourth iteration."""
    X, _ = corpus(100)
    path = folder / "progress"
    stopped = gibbs(max_iter=7, checkpoint=path)
    stopped.set_callbacks(StopAt(4))
    with pytest.raises(Interrupt):
        stopped.fit(X)
    return X, path


@pytest.mark.usefixtures("small_blocks")
def test_interrupted_and_started_again_gives_the_same_bits(tmp_path):
    assert isinstance(StopAt(1), callbacks().FitCallback)
    X, path = interrupted(tmp_path)
    assert load_value(path).progress.n_iter == 3
    same(gibbs(max_iter=7, checkpoint=path).fit(X), gibbs(max_iter=7).fit(X))
    assert not path.exists()


def test_topics_of_other_blocks_are_refused(tmp_path, monkeypatch):
    """The same documents in the same order, as another number of blocks: their topics are not in place."""
    X, path = interrupted(tmp_path)
    monkeypatch.setattr(collapsed_gibbs, "VISIT_WORDS", 300)
    with pytest.raises(StorageError, match="another fit"):
        gibbs(max_iter=7, checkpoint=path).fit(X)


def test_saved_and_loaded(tmp_path):
    X, _ = corpus(60)
    lda = gibbs(max_iter=3).fit(X)
    lda.save(tmp_path / "lda")
    loaded = suffice.load(tmp_path / "lda")
    same(lda, loaded)
    assert (loaded.transform(X) == lda.transform(X)).all()


@pytest.mark.usefixtures("small_blocks")
def test_parquet_gives_the_same_bits(tmp_path):
    """Words are cut into blocks by how many there are, wherever they came from."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, _ = corpus(200)
    lists = {"words": np.split(X.indices, X.indptr[1:-1]), "counts": np.split(X.data, X.indptr[1:-1])}
    table = pa.table({name: pa.array([list(part) for part in parts]) for name, parts in lists.items()})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=37)
    described = suffice.rows(
        suffice.scan_parquet(tmp_path), features=suffice.sparse("words", "counts", size=X.shape[1])
    )
    same(gibbs(max_iter=5).fit(described), gibbs(max_iter=5).fit(X))


@pytest.mark.parametrize("K", [3, 16, 17, 40, 257, 300])
def test_a_draw_finds_its_topic_among_groups(K):
    """Documents of one word, and words that tell nothing: topics are drawn by their prior alone."""
    rng, eta, N = np.random.default_rng(K), 1e9, 40_000
    prior = rng.uniform(0.5, 2.0, K)
    lda = LatentDirichletAllocation(
        K, solver="gibbs", doc_topic_prior=prior, topic_word_prior=eta, max_iter=1, random_state=0
    )
    drawn = lda.fit(np.ones((N, 1))).components_[:, 0] - eta
    assert drawn.sum() == N
    assert chisquare(drawn, N * prior / prior.sum()).pvalue > 1e-3
