"""Bilinear factors: groups of signed rows, weights, and refusals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import suffice
from suffice.decomposition import BilinearNMF

from ._common import quiet


def groups(n=60, seed=0):
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    centers = np.array([[4.0, 0.0, -2.0], [-3.0, 3.0, 0.0], [0.0, -4.0, 3.0]])
    return centers[label] + 0.3 * rng.normal(size=(n, 3)), label


def same_partition(a, b):
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_bilinear_finds_groups_of_signed_rows(kernel):
    X, label = groups()
    given = X @ X.T if kernel == "precomputed" else X
    model = BilinearNMF(3, kernel=kernel, n_init=5, random_state=0).fit(given)
    assert same_partition(model.labels_, label)
    assert (np.diff(model.trace_) <= 1e-10 * model.trace_[0]).all()
    assert (model.concept_weights_ >= 0).all() and (model.embedding_ >= 0).all()
    assert same_partition(model.predict(given), label)
    if kernel == "linear":
        rest = X - model.embedding_ @ (model.concept_weights_.T @ X)
        np.testing.assert_allclose(model.reconstruction_err_, np.linalg.norm(rest), rtol=1e-6)
        concepts = model.concept_weights_.T @ X
        np.testing.assert_allclose(np.linalg.norm(concepts, axis=1), 1.0, rtol=1e-9)
        np.testing.assert_allclose(
            BilinearNMF(3, n_init=5, random_state=0).fit(sp.csr_array(X)).trace_, model.trace_
        )


def test_bilinear_weights():
    """The weighted loss falls, and it is what is reported."""
    X, label = groups()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    model = BilinearNMF(3, n_init=5, random_state=0).fit(X, sample_weight=weight)
    assert same_partition(model.labels_, label)
    rest = X - model.embedding_ @ (model.concept_weights_.T @ X)
    loss = 0.5 * weight @ (rest**2).sum(axis=1)
    np.testing.assert_allclose(model.trace_[-1], loss, rtol=1e-6)
    assert (np.diff(model.trace_) <= 1e-10 * model.trace_[0]).all()
    W, V = (np.random.default_rng(2).uniform(0.1, 1.0, (len(X), 3)) for _ in range(2))
    how = {"init": "custom", "max_iter": 5, "tol": 0.0}
    twice = quiet(BilinearNMF(3, **how), X, W=W, V=V, sample_weight=2.0)
    once = quiet(BilinearNMF(3, **how), X, W=W, V=V)
    np.testing.assert_allclose(twice.embedding_, once.embedding_, rtol=1e-9)
    times = np.arange(len(X)) % 3
    how = {"random_state": 0, "max_iter": 20, "tol": 0.0}
    weighted = quiet(BilinearNMF(3, **how), X, sample_weight=times)
    again = quiet(BilinearNMF(3, **how), np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.transform(X), again.transform(X), rtol=1e-6, atol=1e-8)
    assert (weighted.concept_weights_[times == 0] == 0).all()
    for bad, said in ((-weight, "Negative"), (np.nan * weight, "NaN"), (0 * weight, "zero for every row")):
        with pytest.raises(ValueError, match=said):
            BilinearNMF(2).fit(X, sample_weight=bad)


def test_bilinear_refusals(tmp_path):
    X, _ = groups()
    with pytest.raises(ValueError, match="n_components=70 must not be more than n_samples=60"):
        BilinearNMF(70).fit(X)
    with pytest.raises(ValueError, match="must be a square matrix"):
        BilinearNMF(2, kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="A checkpoint holds a single run"):
        BilinearNMF(2, n_init=2, checkpoint=tmp_path / "c").fit(X)
    pq.write_table(pa.table({"a": X[:, 0]}), tmp_path / "a.parquet")
    with pytest.raises(TypeError, match="takes rows in memory"):
        BilinearNMF(2).fit(suffice.scan_parquet(tmp_path / "a.parquet"))


def test_bilinear_is_saved(tmp_path):
    X, _ = groups()
    for rows in (X, sp.csr_array(X)):
        model = BilinearNMF(3, random_state=0).fit(rows)
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(suffice.load(tmp_path / "model").transform(X), model.transform(X))
