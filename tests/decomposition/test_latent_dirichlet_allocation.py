"""Latent Dirichlet allocation by its bound: all documents at once, or a few at a time."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma, gammaln
from sklearn.decomposition import LatentDirichletAllocation as Theirs
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.blocks import Rows
from suffice.families import Dirichlet
from suffice.topics import LatentDirichletAllocation, document_completion, left_to_right

from ._common import corpus, lda, quiet

TIGHT = {"mean_change_tol": 1e-9, "max_doc_update_iter": 5000}


# --- the bound ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "priors",
    [
        {},
        {"doc_topic_prior": "auto"},
        {"doc_topic_prior": "auto", "topic_word_prior": "auto"},
        {"doc_topic_prior": (0.1, 0.5, 1.0, 2.0), "topic_word_prior": tuple(np.linspace(0.01, 0.9, 50))},
        {"topic_word_prior": 0.0},
    ],
)
def test_the_bound_does_not_fall(priors):
    X, _ = corpus()
    found = quiet(lda(**priors, **TIGHT, tol=0.0), X)
    assert len(found.trace_) > 12
    rises = np.diff(found.trace_)
    if found.stopped_because_ == "objective worsened":  # a document has come to another of its optima
        assert rises[-1] > -1e-4
        assert "auto" in priors.values()
        rises = rises[:-1]
    assert (rises > -1e-9).all()
    assert found.trace_[-1] > found.trace_[0]
    np.testing.assert_allclose(found.score(X) / X.sum(), found.trace_[-1], rtol=1e-2)


@pytest.mark.slow
def test_learnt_priors_raise_the_bound():
    X, _ = corpus(300)
    bounds = [
        quiet(lda(max_iter=80, tol=0.0, **TIGHT, **priors), X).trace_[-1]
        for priors in (
            {},
            {"doc_topic_prior": "auto"},
            {"doc_topic_prior": "auto", "topic_word_prior": "auto"},
        )
    ]
    assert bounds[0] < bounds[1] < bounds[2]


def test_the_optimum_of_the_priors():
    """No other alpha or eta has a larger bound at these posteriors."""
    X, _ = corpus()
    found = quiet(lda(doc_topic_prior="auto", topic_word_prior="auto", **TIGHT), X)
    s = found.model_.summarize(Rows(X, None, np.ones(X.shape[0])))
    alpha = Dirichlet(found.model_.alpha).estimate(s.log_theta / s.weight)
    best = alpha.log_likelihood(s.log_theta / s.weight)
    for change in np.vstack([np.eye(4), -np.eye(4)]) * 1e-4:
        assert Dirichlet(alpha.alpha + change).log_likelihood(s.log_theta / s.weight) < best


def test_bound_is_scikit_learns():
    X, _ = corpus()
    theirs = Theirs(4, random_state=0, max_iter=8, mean_change_tol=1e-9, max_doc_update_iter=5000).fit(X)
    ours = quiet(lda(max_iter=8, **TIGHT), X)
    model = ours.model_.replace(word=np.ascontiguousarray(theirs.components_.T))
    ours.model_ = model
    np.testing.assert_allclose(ours.score(X), theirs.score(X), rtol=1e-9)
    np.testing.assert_allclose(ours.perplexity(X), theirs.perplexity(X), rtol=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-5, atol=1e-7)


def test_fit_is_scikit_learns():
    """From the same start, where each document has one optimum."""
    X, _ = corpus()
    how = {"doc_topic_prior": 1.0, "topic_word_prior": 0.3}
    theirs = Theirs(4, random_state=0, max_iter=15, **TIGHT, **how).fit(X)
    ours = quiet(lda(max_iter=15, tol=0.0, **TIGHT, **how), X)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-5)
    np.testing.assert_allclose(ours.trace_[-1], theirs.score(X) / X.sum(), rtol=1e-3)


def test_bound_is_below_the_evidence():
    """Summed over the topics of all words, with known topics."""
    rng = np.random.default_rng(0)
    phi, alpha = rng.dirichlet(np.ones(5), size=3), np.array([0.3, 1.0, 0.6])
    known = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=alpha, **TIGHT)
    X = np.array([[2, 1, 0, 0, 1], [0, 0, 3, 0, 0], [0, 0, 0, 0, 0]])
    exact = np.array([log_evidence(row, phi, alpha) for row in X])
    bound = known.evidence_lower_bound(X)
    assert (bound <= exact + 1e-12).all()
    assert (exact - bound < 1.1).all()
    np.testing.assert_allclose(bound[2], 0.0, atol=1e-12)
    np.testing.assert_allclose(left_to_right(known, X, n_particles=20000, random_state=0), exact, atol=0.02)


def log_evidence(row, phi, alpha):
    words = np.repeat(np.arange(len(row)), row)
    total = 0.0
    for z in product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(np.array(z, int), minlength=len(alpha))
        of_topics = (gammaln(alpha + n) - gammaln(alpha)).sum() + gammaln(alpha.sum())
        total += np.exp(of_topics - gammaln(alpha.sum() + len(words))) * phi[list(z), words].prod()
    return np.log(total)


# --- data in every form -------------------------------------------------------------------------------------


def test_dense_sparse_single_precision():
    X, _ = corpus()
    one = quiet(lda(), X)
    for other in (X.toarray(), X.astype(np.float32), sp.csr_matrix(X), X.astype(np.int64)):
        found = quiet(lda(), other)
        assert (found.model_.word == one.model_.word).all()
        theta = found.transform(other)
        assert theta.dtype == (np.float32 if other.dtype == np.float32 else np.float64)
        assert (theta == one.transform(X).astype(theta.dtype)).all()


def test_threads_change_no_bit():
    X, _ = corpus(600)
    with suffice.threads(1):
        one = quiet(lda(max_iter=5), X)
        answer, score = one.transform(X), one.score(X)
    with suffice.threads(2):
        two = quiet(lda(max_iter=5), X)
        assert (two.components_ == one.components_).all()
        assert (two.trace_ == one.trace_).all()
        assert (two.transform(X) == answer).all()
        assert two.score(X) == score


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, _ = corpus()
    lists = {"words": np.split(X.indices, X.indptr[1:-1]), "counts": np.split(X.data, X.indptr[1:-1])}
    table = pa.table({name: pa.array([list(part) for part in parts]) for name, parts in lists.items()})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=37)
    features = suffice.sparse("words", "counts", size=X.shape[1])
    scanned = suffice.rows(suffice.scan_parquet(tmp_path), features=features)
    here = quiet(lda(max_iter=5), X)
    with suffice.threads(1):
        there = quiet(lda(max_iter=5), scanned)
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-9)
    with suffice.threads(2):
        assert (quiet(lda(max_iter=5), scanned).components_ == there.components_).all()
    np.testing.assert_allclose(there.transform(scanned), here.transform(X), rtol=1e-7)
    np.testing.assert_allclose(there.perplexity(scanned), here.perplexity(X))
    batch = quiet(lda(max_iter=2, solver="online", batch_size=37), scanned)
    assert batch.n_batch_iter_ == 2 * 4


def test_hard_documents():
    """Empty ones, words never seen, one topic, more topics than words, one document, huge counts."""
    X = np.array([[0, 0, 0, 0], [3, 1, 0, 0], [0, 2, 2, 0]])
    for K in (1, 2, 9):
        for prior in (None, 1e-4, 5.0):
            found = quiet(lda(K, doc_topic_prior=prior, topic_word_prior=prior), X)
            theta = found.transform([[0, 0, 0, 0], [0, 0, 0, 7], [1e6, 0, 1, 0]])
            np.testing.assert_allclose(theta.sum(axis=1), 1.0)
            np.testing.assert_allclose(theta[0], 1.0 / K)
            assert np.isfinite(found.score(X))
    one = quiet(lda(1, topic_word_prior=0.5), X)
    np.testing.assert_allclose(one.components_[0], X.sum(axis=0) + 0.5)
    assert np.isfinite(quiet(lda(2), X[1:2]).components_).all()
    assert np.isfinite(quiet(lda(2), X * 1e12).components_).all()
    np.testing.assert_array_equal(quiet(lda(2), np.zeros((3, 2))).components_, 0.5)  # the prior
    with pytest.raises(ValueError, match="Negative values"):
        lda(2).fit(-X)
    with pytest.raises(ValueError, match="NaN"):
        lda(2).fit([[1.0, np.nan]])


def test_parameters_are_checked():
    X = [[1, 2], [2, 1]]
    for params, words in [
        ({"solver": "exact"}, "'solver' parameter"),
        ({"learning_method": "exact"}, "'learning_method' parameter"),
        ({"doc_topic_prior": [1.0, 2.0, 3.0]}, "expected a number or"),
        ({"doc_topic_prior": 0.0}, "must be positive"),
        ({"topic_word_prior": [0.0, 1.0]}, "must be positive"),
        ({"doc_topic_prior": -1.0}, "'doc_topic_prior' parameter"),
        ({"doc_topic_prior": "learn"}, "'auto'"),
        ({"solver": "online", "doc_topic_prior": "auto"}, "'auto'"),
        ({"n_components": 0}, "'n_components' parameter"),
    ]:
        with pytest.raises(ValueError, match=words):
            LatentDirichletAllocation(**{"n_components": 2} | params).fit(X)


def test_unknown_words_of_known_topics():
    known = LatentDirichletAllocation.from_topics([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert known.evidence_lower_bound([[1, 0, 1]]) == -np.inf
    np.testing.assert_allclose(known.transform([[0, 0, 5]]), [[0.5, 0.5]])


# --- a few documents at a time ------------------------------------------------------------------------------


def test_partial_fit_is_scikit_learns():
    X, _ = corpus()
    how = {"doc_topic_prior": 1.0, "topic_word_prior": 0.3, "batch_size": 30, "total_samples": 500}
    theirs = Theirs(4, random_state=0, learning_method="online", **TIGHT, **how)
    ours = lda(**TIGHT, **how)
    for part in (X[:60], X[60:]):
        theirs.partial_fit(part)
        ours.partial_fit(part)
    assert ours.n_batch_iter_ == 4
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-5, atol=1e-7)


def test_online_is_scikit_learns():
    X, _ = corpus()
    how = {"doc_topic_prior": 1.0, "topic_word_prior": 0.3, "batch_size": 32, "max_iter": 3}
    theirs = Theirs(4, random_state=0, learning_method="online", **TIGHT, **how).fit(X)
    ours = quiet(lda(learning_method="online", tol=0.0, **TIGHT, **how), X)
    assert ours.n_batch_iter_ == 12
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)
    with suffice.threads(1):
        again = quiet(lda(solver="online", tol=0.0, **TIGHT, **how), X)
    assert (again.components_ == ours.components_).all()


def test_solvers_find_the_topics():
    X, truth = corpus(400, length=60)
    for solver in ("variational", "online"):
        found = quiet(
            lda(solver=solver, max_iter=60, topic_word_prior=0.08, doc_topic_prior=0.2, random_state=1), X
        )
        phi = found.components_ / found.components_.sum(axis=1, keepdims=True)
        assert (np.abs(phi[:, None] - truth.components_).sum(axis=2).min(axis=1) < 0.3).all(), solver


def test_sample_has_the_probabilities():
    phi = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    known = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=[2.0, 1.0], random_state=0)
    X, theta = known.sample(20000, length=[5, 10] * 10000)
    assert (X.sum(axis=1) == [5, 10] * 10000).all()
    np.testing.assert_allclose(theta.mean(axis=0), [2 / 3, 1 / 3], atol=0.01)
    np.testing.assert_allclose(X.sum(axis=0) / X.sum(), [2 / 3, 1 / 3] @ phi, atol=0.01)


@pytest.mark.parametrize("solver", ["variational", "online", "gibbs"])
def test_priors_of_each_topic_and_word(solver):
    X, _ = corpus(30, length=20)
    how = {"doc_topic_prior": np.array([0.1, 0.2, 0.3]), "topic_word_prior": np.full(50, 0.1)}
    lda = LatentDirichletAllocation(3, solver=solver, max_iter=2, random_state=0, tol=0.0, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lda.fit(X)
    np.testing.assert_array_equal(lda.doc_topic_prior_, how["doc_topic_prior"])


@pytest.mark.parametrize(
    "given, said",
    [
        ({"solver": "gibbs"}, "partial_fit is not available for solver='gibbs'"),
        ({"doc_topic_prior": "auto"}, "by `fit`, not by `partial_fit`"),
        ({"solver": "foo"}, "'solver' parameter"),
    ],
)
def test_what_partial_fit_does_not_do(given, said):
    with pytest.raises(ValueError, match=said):
        LatentDirichletAllocation(3, **given).partial_fit([[1, 2]])


@pytest.mark.parametrize("topics", [[0.5, 0.5], [[1.5, -0.5]], [[0.0, 0.0]]])
def test_topics_that_are_none(topics):
    with pytest.raises(ValueError, match="expected a row per topic"):
        LatentDirichletAllocation.from_topics(topics)


def test_what_cannot_be_asked_of_documents():
    lda = LatentDirichletAllocation.from_topics([[0.5, 0.5]])
    with pytest.raises(ValueError, match="have no joint probability"):
        lda.log_joint([[1, 1]], [0, 0])
    with pytest.raises(ValueError, match="observed_fraction must be a probability"):
        document_completion(lda, [[1, 1]], observed_fraction=2)
    with pytest.raises(ValueError, match="n_particles=0"):
        left_to_right(lda, [[1, 1]], n_particles=0)


# --- scikit-learn's parameters ------------------------------------------------------------------------------


def test_defaults_make_ten_passes_without_a_warning():
    X, _ = corpus()
    made = LatentDirichletAllocation(4, random_state=0).fit(X)  # a warning is an error
    assert made.n_iter_ == 10 and not made.converged_ and made.stopped_because_ == "max_iter"
    np.testing.assert_allclose(made.bound_, made.perplexity(X))


def test_evaluate_every_stops_by_the_perplexity(capsys):
    X, _ = corpus()
    made = quiet(lda(max_iter=200, evaluate_every=2, perp_tol=0.5, verbose=1), X)
    perplexity = np.exp(-made.trace_)
    assert made.converged_ and made.n_iter_ % 2 == 0
    assert abs(perplexity[-1] - perplexity[-3]) < 0.5 <= abs(perplexity[-3] - perplexity[-5])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == made.n_iter_ and sum("perplexity" in line for line in lines) == made.n_iter_ // 2


def test_perplexity_of_a_sample_counts_topics_once():
    X, _ = corpus()
    made = quiet(lda(total_samples=2 * X.shape[0]), X)
    twice = sp.vstack([X, X])
    np.testing.assert_allclose(made.perplexity(X, sub_sampling=True), made.perplexity(twice))


def test_exp_dirichlet_component():
    X, _ = corpus()
    made = quiet(lda(), X)
    word = made.components_
    expected = np.exp(digamma(word) - digamma(word.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(made.exp_dirichlet_component_, expected)
