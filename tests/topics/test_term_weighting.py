"""Weights of words: each formula, scikit-learn's as one of them; and ranked documents."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize

import suffice
from suffice.topics import TermWeighting, rank_documents

from ..laws.registry import cut_at

rng = np.random.default_rng(0)
X = rng.poisson(0.4, size=(60, 25)) * rng.integers(1, 6, size=(60, 25))
X[7] = 0  # a document without words
X[:, 4] = 1 + X[:, 4]  # a word of every document but
X[7, 4] = 0
X[:, 9] = 0  # a word of none

LOCAL = {
    "frequency": lambda tf: tf,
    "relative": lambda tf: tf / max(tf.sum(), 1),
    "binary": lambda tf: (tf > 0) * 1.0,
    "augmented": lambda tf: np.where(tf > 0, 0.5 + 0.5 * tf / max(tf.max(), 1), 0.0),
    "log": lambda tf: np.log(1.0 + tf),
    "sublinear": lambda tf: np.where(tf > 0, 1.0 + np.log(np.maximum(tf, 1)), 0.0),
}
DF = (X > 0).sum(axis=0)
COLLECTION = {
    None: np.ones(25),
    "idf": np.array([np.log(60 / n) if n else 0.0 for n in DF]),
    "smooth_idf": np.log(61 / (1 + DF)) + 1.0,
}


@pytest.mark.parametrize("norm", ["l2", "l1", None])
@pytest.mark.parametrize("collection", list(COLLECTION))
@pytest.mark.parametrize("local", list(LOCAL))
def test_formulas(local, collection, norm):
    expected = np.array([LOCAL[local](row) for row in X.astype(float)]) * COLLECTION[collection]
    expected = expected if norm is None else normalize(expected, norm)
    for given in (X, X.astype(np.float32), sp.csr_array(X), sp.csr_matrix(X)):
        found = TermWeighting(local, collection, norm).fit_transform(given)
        assert sp.issparse(found) == sp.issparse(given)
        np.testing.assert_allclose(found.toarray() if sp.issparse(found) else found, expected, atol=1e-15)


@pytest.mark.parametrize(("local", "sublinear"), [("frequency", False), ("sublinear", True)])
def test_as_scikit_learn(local, sublinear):
    theirs = TfidfTransformer(sublinear_tf=sublinear).fit(sp.csr_array(X))
    ours = TermWeighting(local, "smooth_idf").fit(sp.csr_array(X))
    np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)
    found, expected = (model.transform(sp.csr_array(X)).toarray() for model in (ours, theirs))
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_zeros_that_are_stored_count_for_nothing():
    stored = sp.csr_array((np.array([0.0, 2.0, 3.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), (2, 2))
    for local in LOCAL:
        model = TermWeighting(local, norm=None).fit(stored)
        assert model.statistics_.documents.tolist() == [0.0, 2.0]
        assert np.isfinite(model.transform(stored).toarray()).all()
    assert stored.nnz == 3  # what came is not changed


def test_weights_and_parts():
    times = rng.integers(0, 3, size=60)
    weighted = TermWeighting().fit(X, sample_weight=times)
    np.testing.assert_allclose(
        weighted.idf_, TermWeighting().fit(np.repeat(X, times, axis=0)).idf_, rtol=1e-13
    )
    added = TermWeighting().fit(X[:20]).partial_fit(X[20:])
    np.testing.assert_array_equal(added.idf_, TermWeighting().fit(X).idf_)


def test_bad_input():
    for name in ("local", "collection", "norm"):
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            TermWeighting(**{name: "other"}).fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        TermWeighting().fit(-X)
    with pytest.raises(ValueError, match="NaN"):
        TermWeighting().fit(np.full((2, 2), np.nan))


def test_described_rows_are_not_written(tmp_path):
    table = suffice.rows(pa.table({"w": [[0], [1]]}), features=suffice.sparse("w", size=2))
    model = TermWeighting().fit(table)
    with pytest.raises(TypeError, match="in memory"):
        model.transform(table, to=tmp_path / "x")
    with pytest.raises(TypeError, match="sparse"):
        np.asarray(model.transform(table))


# --- ranking -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["cosine", "inner"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_ranks(measure, form):
    query = rng.poisson(0.5, size=25)
    scores = cosine_similarity(X, query[None])[:, 0] if measure == "cosine" else X @ query
    order = np.argsort(-scores, kind="stable")
    for sizes in ((1000,), (7, 1, 13)):
        with cut_at(*sizes):
            places, found = rank_documents(query, form(X), measure=measure, n_best=20)
        np.testing.assert_allclose(found, scores[order[:20]], atol=1e-15)
        np.testing.assert_allclose(scores[places], found, atol=1e-15)
    tied = rank_documents([1.0, 0.0], [[1, 0], [0, 1], [2, 0], [0, 0]], n_best=9)
    assert tied[0].tolist() == [0, 2, 1, 3]
    assert tied[1].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_ranks_of_a_described_table():
    texts = pa.table({"t": ["red wine", "white wine", "red red rose"]})
    documents = suffice.documents(texts, text="t")
    vectorizer = suffice.feature_extraction.CountVectorizer().fit(documents)
    query = vectorizer.transform(["red"])
    places, _ = rank_documents(query, vectorizer.transform(documents), n_best=2)
    assert places.tolist() == [2, 0]


def test_queries_that_do_not_fit():
    with pytest.raises(ValueError, match=r"shape \(1, 3\), expected \(1, 25\)"):
        rank_documents([1, 2, 3], X)
    with pytest.raises(ValueError, match="measure='x' is unknown"):
        rank_documents(X[0], X, measure="x")
    with pytest.raises(ValueError, match="n_best=0"):
        rank_documents(X[0], X, n_best=0)
    assert (rank_documents(np.zeros(25), X, n_best=2)[1] == 0).all()
