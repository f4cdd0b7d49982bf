"""Weights of words: each formula, scikit-learn's as one of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

import suffice
from suffice.topics import TermWeighting

from ._common import X

rng = np.random.default_rng(0)
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
