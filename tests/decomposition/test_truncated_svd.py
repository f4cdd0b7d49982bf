"""Truncated singular values: beside dense algebra, in every algorithm, from every kind of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import suffice
from suffice.core.blocks import Rows
from suffice.decomposition import TruncatedSVD
from suffice.decomposition.truncated_svd import SingularAxes
from suffice.fitting import linear_algebra

ALGORITHMS = ("randomized", "arpack", "gram")


def bits(estimator):
    return [
        np.asarray(getattr(estimator, name)).tobytes()
        for name in ("components_", "singular_values_", "explained_variance_")
    ]


def counts(n=300, d=60, seed=0, decay=0.7):
    """Rows whose singular values fall fast."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(m, min(n, d))))[0] for m in (n, d))
    X = (U * (100.0 * decay ** np.arange(min(n, d)))) @ V.T
    return np.where(np.abs(X) < 0.05, 0.0, X)


@pytest.mark.parametrize("shape", [(300, 60), (40, 90), (50, 50)])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equals_dense_algebra(algorithm, sparse, shape):
    A = counts(*shape)
    K = 6
    _, values, Vt = np.linalg.svd(A, full_matrices=False)
    X = sp.csr_array(A) if sparse else A
    svd = TruncatedSVD(K, algorithm=algorithm, random_state=0).fit(X)
    np.testing.assert_allclose(svd.singular_values_, values[:K], rtol=1e-9)
    np.testing.assert_allclose(np.abs((svd.components_ * Vt[:K]).sum(axis=1)), 1.0, rtol=1e-9)
    np.testing.assert_allclose(svd.components_ @ svd.components_.T, np.eye(K), atol=1e-12)
    at = np.abs(svd.components_).argmax(axis=1)
    assert (svd.components_[np.arange(K), at] > 0).all()
    scores = svd.transform(X)
    np.testing.assert_allclose(scores, A @ svd.components_.T, atol=1e-10)
    np.testing.assert_allclose(svd.explained_variance_, scores.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(
        svd.explained_variance_ratio_, scores.var(axis=0) / A.var(axis=0).sum(), rtol=1e-9
    )
    np.testing.assert_allclose(
        svd.reconstruction_error(X), (values[K:] ** 2).sum() / len(A), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weight_is_repetition(algorithm):
    A = counts()
    times = np.random.default_rng(1).integers(0, 4, size=len(A))
    weighted = TruncatedSVD(4, algorithm=algorithm, random_state=0).fit(A, sample_weight=times)
    again = TruncatedSVD(4, algorithm=algorithm, random_state=0).fit(np.repeat(A, times, axis=0))
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(again, name), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("normalizer", ["QR", "LU", "none"])
@pytest.mark.parametrize("n_iter", [1, 4])
def test_normalizers_reach_the_same_space(normalizer, n_iter):
    A = counts(decay=0.3)
    svd = TruncatedSVD(3, n_iter=n_iter, power_iteration_normalizer=normalizer, random_state=0).fit(A)
    expected = np.linalg.svd(A, compute_uv=False)[:3]
    np.testing.assert_allclose(svd.singular_values_, expected, rtol=1e-5)


def test_blocks_threads_and_columns_change_no_bit_or_only_rounding(monkeypatch):
    X = sp.random_array((5000, 4000), density=0.01, rng=np.random.default_rng(0), format="csr")
    found = []
    for threads in (1, 2):
        with suffice.threads(threads):
            found.append(TruncatedSVD(5, random_state=0).fit(X))
    assert bits(found[0]) == bits(found[1])
    monkeypatch.setattr(linear_algebra, "COLUMNS", 4)
    other = TruncatedSVD(5, random_state=0).fit(X)
    np.testing.assert_allclose(other.singular_values_, found[0].singular_values_, rtol=1e-12)


def test_from_parquet_as_in_memory(tmp_path):
    A = counts(900, 12)
    for n in range(3):
        table = pa.table({f"x{d}": A[300 * n : 300 * (n + 1), d] for d in range(12)})
        pq.write_table(table, tmp_path / f"part-{n}.parquet")
    for algorithm in ALGORITHMS:
        here = TruncatedSVD(3, algorithm=algorithm, random_state=0).fit(A)
        there = TruncatedSVD(3, algorithm=algorithm, random_state=0).fit(suffice.scan_parquet(tmp_path))
        np.testing.assert_allclose(there.components_, here.components_, atol=1e-10)
        np.testing.assert_allclose(there.explained_variance_, here.explained_variance_, rtol=1e-10)


def test_power_iterations_help():
    """Flat spectra need them: the first pass alone is far off."""
    A = np.random.default_rng(0).normal(size=(400, 120))
    true = np.linalg.svd(A, compute_uv=False)[:5]

    def off(n_iter):
        return np.abs(TruncatedSVD(5, n_iter=n_iter, random_state=0).fit(A).singular_values_ - true).max()

    assert off(12) < off(4) < off(0)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_scores_are_orthogonal(algorithm, sparse):
    """Also where the power iterations are too few to find the axes; and as long as the singular values."""
    A = np.random.default_rng(0).normal(size=(300, 40)) + 0.2
    X = sp.csr_array(np.where(np.abs(A) < 0.5, 0.0, A)) if sparse else A
    for K in (1, 5, 40):
        svd = TruncatedSVD(K, algorithm=algorithm, random_state=0)
        scores = svd.fit_transform(X)
        products = scores.T @ scores
        np.testing.assert_allclose(products, np.diag(svd.singular_values_**2), atol=1e-12 * products.max())
        np.testing.assert_allclose(svd.components_ @ svd.components_.T, np.eye(K), atol=1e-12)
        np.testing.assert_allclose(svd.explained_variance_, scores.var(axis=0), rtol=1e-10)
        assert (np.diff(svd.singular_values_) <= 0).all()


def test_rank_is_less_than_components():
    A = np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 0.0, -1.0])
    for algorithm in ALGORITHMS:
        svd = TruncatedSVD(3, algorithm=algorithm, random_state=0).fit(A)
        np.testing.assert_allclose(svd.singular_values_, [np.linalg.norm(A), 0.0, 0.0], atol=1e-6)
        np.testing.assert_allclose(svd.components_ @ svd.components_.T, np.eye(3), atol=1e-7)
        assert not np.isnan(svd.transform(A)).any()
    zero = TruncatedSVD(2, random_state=0).fit(np.zeros((5, 4)))
    assert (zero.singular_values_ == 0).all() and (zero.explained_variance_ratio_ == 0).all()


def test_summary_can_be_looked_at():
    A = counts(50, 8)
    rows = Rows(A).piece(0, 50, 0)
    probe = np.eye(8)[:, :2]
    s = SingularAxes(np.zeros((2, 8)), np.zeros(2), probe).summarize(rows)
    np.testing.assert_allclose(s.product, A.T @ A[:, :2], atol=1e-10)


def test_refusals_are_in_words():
    A = counts(20, 5)
    with pytest.raises(ValueError, match="n_components=6 must not be more than n_features=5"):
        TruncatedSVD(6).fit(A)
    with pytest.raises(ValueError, match="'algorithm' parameter"):
        TruncatedSVD(algorithm="svd").fit(A)
    with pytest.raises(ValueError, match="'power_iteration_normalizer' parameter"):
        TruncatedSVD(power_iteration_normalizer="no").fit(A)
    with pytest.raises(MemoryError, match="algorithm='randomized'"):
        TruncatedSVD(algorithm="gram").fit(sp.csr_array((3, 10**6)))
