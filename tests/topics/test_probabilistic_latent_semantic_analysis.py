"""PLSA: its loops against arrays, its weights against a solver, its EM against Hofmann's; what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.blocks import Rows
from suffice.topics import ProbabilisticLatentSemanticAnalysis as PLSA
from suffice.topics.probabilistic_latent_semantic_analysis import Aspects

from ..laws.registry import bits, cut_at, fit

rng = np.random.default_rng(0)
K, V, N = 4, 20, 40
TOPICS = rng.dirichlet(np.full(V, 0.1), size=K)
THETA = rng.dirichlet(np.full(K, 0.3), size=N)
X = np.array(
    [rng.multinomial(n, t @ TOPICS) for n, t in zip(rng.integers(5, 80, size=N), THETA, strict=True)]
)
X[3] = 0


def em_step(X, theta, topics, weight, beta=1.0, form="generative"):
    """One step of Hofmann's EM on all cells, as the formulas read: P(z given w, d), then the three sums."""
    joint = (theta[:, :, None] * topics) ** beta  # (N, K, V)
    if form == "cooccurrence":
        joint = joint * weight[None, :, None] ** (1.0 - beta)
    total = joint.sum(axis=1, keepdims=True)
    P = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    counts = X[:, None] * P
    length = X.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        objective = np.where(X > 0, X * np.log(total[:, 0]), 0.0).sum()
        new = np.where(length[:, None] > 0, counts.sum(axis=2) / length[:, None], theta)
    words = counts.sum(axis=0)
    return objective, new, words / words.sum(axis=1, keepdims=True), words.sum(axis=1) / X.sum(), words


@pytest.mark.parametrize("form", ["generative", "cooccurrence"])
@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_loops_are_the_formulas(beta, form):
    topics, theta = rng.dirichlet(np.ones(V), size=K), rng.dirichlet(np.ones(K), size=N)
    weight = rng.dirichlet(np.ones(K))
    objective, new, new_topics, new_weight, words = em_step(X, theta, topics, weight, beta, form)
    model = Aspects(topics, weight, form, beta)
    s = model.summarize_at(theta, Rows(X, None, np.ones(N)))
    np.testing.assert_allclose(s.log_likelihood, objective, rtol=1e-12)
    np.testing.assert_allclose(s.counts, words, atol=1e-12)
    np.testing.assert_allclose(model.fold_in(X, theta, 1), new, atol=1e-14)
    after = model.estimate(s)
    np.testing.assert_allclose(after.topics, new_topics, atol=1e-14)
    np.testing.assert_allclose(after.weight, new_weight, atol=1e-14)


def test_weights_of_a_document_are_the_best():
    """No feasible direction rises, and a solver of constrained problems finds nothing better."""
    model = Aspects(TOPICS, np.full(K, 0.25))
    theta = model.fold_in(X)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=1e-12)
    for n in (0, 1, 2, 5, 20):
        seen = X[n] > 0

        def loss(t, n=n, seen=seen):
            p = t @ TOPICS[:, seen]
            return -(X[n, seen] @ np.log(p)), -(TOPICS[:, seen] @ (X[n, seen] / p))

        best = min(
            minimize(
                loss,
                start,
                jac=True,
                method="SLSQP",
                bounds=[(1e-12, 1.0)] * K,
                constraints={"type": "eq", "fun": lambda t: t.sum() - 1.0, "jac": lambda t: np.ones(K)},
                options={"ftol": 1e-14, "maxiter": 500},
            ).fun
            for start in (np.full(K, 0.25), theta[n].clip(1e-6) / theta[n].clip(1e-6).sum())
        )
        assert loss(theta[n])[0] <= best + 1e-7
        assert (-loss(theta[n])[1] <= X[n].sum() * (1 + 1e-8)).all()  # Karush, Kuhn and Tucker
    np.testing.assert_array_equal(theta[3], 0.25)  # without words: P(z)


def test_topics_that_were_left_out_come_back():
    """A start that has almost nothing of the only topic that explains the document."""
    topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.4, 0.5, 0.1]])
    model = Aspects(topics, np.array([0.5, 0.0, 0.5]))
    theta = model.fold_in(np.array([[3.0, 3.0, 6.0]]))
    np.testing.assert_allclose(theta, [[0.5, 0.5, 0.0]], atol=1e-3)  # the likelihood is flat there


def test_em_of_hofmann_ends_in_the_same_place():
    """Stored and recomputed weights reach the same likelihood: from the end of one, the other stays."""
    model = fit(PLSA(K, random_state=0, tol=1e-10, max_iter=1000), X)
    theta, topics, weight = model.transform(X), model.components_, model.weights_
    before = em_step(X, theta, topics, weight)[0]
    for _ in range(50):
        after, theta, topics, weight, _ = em_step(X, theta, topics, weight)
    assert before <= after + 1e-7
    np.testing.assert_allclose(after, before, rtol=1e-7)
    np.testing.assert_allclose(before, X.sum() * model.trace_[-1], rtol=1e-9)


def test_is_nmf_of_the_divergence():
    """The same stationary points: from ours, scikit-learn's multiplicative updates find nothing better."""
    docs = np.delete(X, 3, axis=0).astype(float)
    model = fit(PLSA(K, random_state=0, tol=1e-10, max_iter=1000), docs)
    W = model.transform(docs) * docs.sum(axis=1, keepdims=True)
    H = model.components_.copy()

    def divergence(W, H):
        Y = W @ H
        seen = docs > 0
        return (docs[seen] * np.log(docs[seen] / Y[seen])).sum() - docs.sum() + Y.sum()

    nmf = NMF(K, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=50, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        W2 = nmf.fit_transform(docs, W=W + 1e-13, H=H + 1e-13)
    np.testing.assert_allclose(divergence(W, H), divergence(W2, nmf.components_), rtol=1e-6)


@pytest.mark.parametrize("form", ["generative", "cooccurrence"])
@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_objective_never_falls(form, beta):
    for seed in range(3):
        model = fit(PLSA(3, form=form, beta=beta, random_state=seed, tol=0.0, max_iter=60), X)
        assert (np.diff(model.trace_) >= -1e-11).all()


def test_forms_are_the_same_without_tempering():
    tight = {"random_state": 1, "tol": 1e-10, "max_iter": 1000}
    one, other = (fit(PLSA(3, form=form, **tight), X) for form in ("generative", "cooccurrence"))
    np.testing.assert_array_equal(one.components_, other.components_)
    share = X.sum(axis=1) / X.sum()
    joint = (share[share > 0] * np.log(share[share > 0])).sum()
    np.testing.assert_allclose(other.trace_ - one.trace_, joint, rtol=1e-9)
    np.testing.assert_allclose(other.score(X) - one.score(X), joint, rtol=1e-9)
    # P(w, d), from each
    theta, of_topic = one.transform(X), other.document_probabilities(X)
    np.testing.assert_allclose(of_topic.sum(axis=0), 1.0)
    asymmetric = share[:, None] * (theta @ one.components_)
    symmetric = (of_topic * other.weights_) @ other.components_
    np.testing.assert_allclose(symmetric, asymmetric, atol=1e-6)


def test_tempering_blurs():
    def entropy(theta):
        return -(theta * np.log(np.maximum(theta, 1e-300))).sum(axis=1).mean()

    sharp, soft = (fit(PLSA(K, beta=beta, random_state=0), X) for beta in (1.0, 0.6))
    assert entropy(soft.transform(X)) > entropy(sharp.transform(X)) + 0.1
    assert soft.score(X) < sharp.score(X)


def test_finds_topics_that_made_the_documents():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(200, 0.05), size=6)
    theta = rng.dirichlet(np.full(6, 0.1), size=300)
    docs = sp.csr_array(np.array([rng.multinomial(120, t @ topics) for t in theta]))
    model = fit(PLSA(6, random_state=0, n_init=2), docs)
    cosine = (model.components_ @ topics.T) / np.outer(
        np.linalg.norm(model.components_, axis=1), np.linalg.norm(topics, axis=1)
    )
    assert (cosine.max(axis=0) > 0.95).all()
    new = sp.csr_array(np.array([rng.multinomial(2000, t @ topics) for t in theta[:50]]))
    order = cosine.argmax(axis=0)
    np.testing.assert_allclose(model.transform(new)[:, order], theta[:50], atol=0.12)


def test_one_topic_is_the_frequencies_of_words():
    model = PLSA(1).fit(X)
    np.testing.assert_allclose(model.components_[0], X.sum(axis=0) / X.sum(), rtol=1e-12)
    np.testing.assert_array_equal(model.transform(X), 1.0)
    share = X.sum(axis=0) / X.sum()
    np.testing.assert_allclose(
        model.perplexity(X), np.exp(-(share[share > 0] * np.log(share[share > 0])).sum())
    )


def test_where_documents_are(tmp_path):
    """CSR, dense, and lists in Parquet; blocks change rounding only, and weights are repetition."""
    C = sp.csr_array(X.astype(float))
    here = fit(PLSA(K, random_state=0, max_iter=8, tol=0.0), C)
    np.testing.assert_allclose(
        fit(PLSA(K, random_state=0, max_iter=8, tol=0.0), X).components_, here.components_
    )
    with cut_at(13, 1, 30):
        cut = fit(PLSA(K, random_state=0, max_iter=8, tol=0.0), C)
    np.testing.assert_allclose(cut.components_, here.components_, atol=1e-7)  # as exact as doc_tol
    parts = [(C.indices[a:b], C.data[a:b]) for a, b in zip(C.indptr[:-1], C.indptr[1:], strict=True)]
    table = pa.table({"i": [i.tolist() for i, _ in parts], "x": [x.tolist() for _, x in parts]})
    for n in range(2):
        pq.write_table(table.slice(20 * n, 20), tmp_path / f"{n}.parquet")
    scan = suffice.rows(suffice.scan_parquet(tmp_path), features=suffice.sparse("i", "x", size=V))
    there = fit(PLSA(K, random_state=0, max_iter=8, tol=0.0), scan)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-7)
    np.testing.assert_allclose(there.transform(scan), here.transform(C), atol=1e-6)
    np.testing.assert_allclose(there.score(scan), here.score(C), rtol=1e-9)
    with suffice.threads(1):
        assert bits(fit(PLSA(K, random_state=0, max_iter=8, tol=0.0), C)) == bits(here)


def test_samples():
    model = fit(PLSA(K, random_state=0), X)
    docs, which = model.sample(50, length=400, document_topics=THETA[:2])
    assert docs.shape == (50, V) and (docs.sum(axis=1) == 400).all()
    for d in (0, 1):
        mean = docs[which == d].toarray().mean(axis=0) / 400
        np.testing.assert_allclose(mean, THETA[d] @ model.components_, atol=0.02)
    assert bits(model.sample(3, length=9)[0].toarray()) == bits(model.sample(3, length=9)[0].toarray())
    assert model.sample(2, length=0)[0].nnz == 0
    with pytest.raises(ValueError, match="n_samples=0"):
        model.sample(0)


def test_starts():
    given = rng.dirichlet(np.ones(V), size=3)
    one = fit(PLSA(3, topics_init=given, max_iter=4, tol=0.0), X)
    again = fit(PLSA(3, topics_init=7.0 * given, max_iter=4, tol=0.0, random_state=5), X)
    np.testing.assert_allclose(one.components_, again.components_, atol=1e-8)
    best = fit(PLSA(3, n_init=6, random_state=0), X)
    assert best.lower_bound_ >= fit(PLSA(3, random_state=0), X).lower_bound_ - 1e-4


def test_bad_input():
    with pytest.raises(ValueError, match="every document is empty"):
        PLSA(2).fit(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="Negative values"):
        PLSA(2).fit(-X)
    with pytest.raises(ValueError, match="NaN"):
        PLSA(2).fit(np.where(X > 2, np.nan, X))
    with pytest.raises(ValueError, match="'form' parameter"):
        PLSA(2, form="other").fit(X)
    for beta in (0.0, 1.5, -1.0):
        with pytest.raises(ValueError, match="'beta' parameter"):
            PLSA(2, beta=beta).fit(X)
    with pytest.raises(ValueError, match=r"shape \(3, 20\), expected \(2, 20\)"):
        PLSA(2, topics_init=np.ones((3, V))).fit(X)
    with pytest.raises(ValueError, match="negative weights, or a topic without words"):
        PLSA(2, topics_init=np.zeros((2, V))).fit(X)
    with pytest.raises(ValueError, match="in no topic"):
        PLSA(1, topics_init=[[1.0, 0.0]]).fit([[1, 1]])
    with pytest.raises(MemoryError, match="topics of 20 words"):
        PLSA(10**12).fit(X)


def test_words_that_were_never_seen():
    """They tell nothing of the topics, and make the document impossible."""
    model = fit(PLSA(2, random_state=0), np.hstack([X, np.zeros((N, 1), int)]))
    new = np.append(X[:1], [[5]], axis=1)
    np.testing.assert_allclose(
        model.transform(new), model.transform(np.append(X[:1], [[0]], axis=1)), atol=1e-5
    )
    assert model.score_samples(new)[0] == -np.inf


def test_extreme_counts():
    for scale in (1e-12, 1e12):
        model = fit(PLSA(3, random_state=0, max_iter=20), X * scale)
        assert np.isfinite(model.trace_).all()
        np.testing.assert_allclose(model.components_.sum(axis=1), 1.0, rtol=1e-9)
    same = fit(PLSA(3, random_state=0, max_iter=20), X)
    np.testing.assert_allclose(model.components_, same.components_, atol=1e-6)
