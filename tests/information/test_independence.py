"""Negentropies against exact laws, mutual information against Gaussians, and what FastICA makes of both."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from sklearn.feature_selection import mutual_info_regression

import suffice
from suffice.decomposition import FastICA, Whitening
from suffice.information import mutual_information, negentropy

LAWS = [stats.uniform(2.0, 3.0), stats.laplace(1.0, 2.0), stats.norm(3.0, 5.0), stats.gamma(2.0)]


def draws(n=20_000):
    return np.column_stack([law.rvs(n, random_state=k) for k, law in enumerate(LAWS)])


@pytest.mark.parametrize("method", ["logcosh", "exp", "cube"])
def test_contrasts_of_samples_are_those_of_their_laws(method):
    X = draws()
    found, exact = negentropy(X, method), np.array([negentropy(law, method) for law in LAWS])
    np.testing.assert_allclose(np.sqrt(found), np.sqrt(exact), atol=0.5 if method == "cube" else 0.01)
    assert exact[2] < 1e-20
    assert (exact[[0, 1]] > 1e-4).all()


def test_entropies():
    X = draws()
    exact = [negentropy(law, "entropy") for law in LAWS]
    np.testing.assert_allclose(exact[:3], [0.17648521, 0.07236494, 0.0], atol=1e-8)
    np.testing.assert_allclose(negentropy(X, "entropy"), exact, atol=0.02)


def test_scales_shifts_and_weights():
    X = draws(500)
    np.testing.assert_allclose(negentropy(X * 1e6 + 1e9), negentropy(X), rtol=1e-5)
    weight = np.random.default_rng(0).integers(0, 4, size=500)
    repeated = np.repeat(X, weight, axis=0)
    np.testing.assert_allclose(negentropy(X, sample_weight=weight), negentropy(repeated), rtol=1e-9)


def test_from_files(tmp_path):
    X = draws(3000)
    pq.write_table(pa.table({f"x{d}": x for d, x in enumerate(X.T)}), tmp_path / "rows.parquet")
    scan = suffice.scan_parquet(tmp_path / "rows.parquet")
    np.testing.assert_allclose(negentropy(scan), negentropy(X), rtol=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_mutual_information_of_gaussians(rho):
    X = np.random.default_rng(0).multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=4000)
    assert mutual_information(X) == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.03)
    peer = mutual_info_regression(X[:, :1], X[:, 1], random_state=0)[0]  # which is not negative
    assert max(mutual_information(X), 0.0) == pytest.approx(peer, abs=1e-9)
    for same in (np.asfortranarray(X), X * [1e-5, 1e5] + 1e3, pa.table({"a": X[:, 0], "b": X[:, 1]})):
        assert mutual_information(same) == pytest.approx(mutual_information(X), abs=1e-9)


def test_mutual_information_of_three_columns():
    S = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    X = np.random.default_rng(0).multivariate_normal(np.zeros(3), S, size=4000)
    assert mutual_information(X) == pytest.approx(-0.5 * np.log(np.linalg.det(S)), abs=0.05)


def test_independent_components_share_least():
    """Of white rows, those of FastICA have the largest negentropies and the least mutual information."""
    rng = np.random.default_rng(0)
    S = np.column_stack([rng.uniform(size=4000), rng.laplace(size=4000)])
    X = S @ np.array([[1.0, 0.5], [0.4, 1.0]])
    components = FastICA(random_state=0).fit_transform(X)
    white = Whitening("pca").fit_transform(X)
    assert negentropy(components).sum() > negentropy(white).sum()
    assert mutual_information(components) < 0.03 < mutual_information(white)
    # The sum of the entropies and the mutual information differ by a constant.
    less = negentropy(components, "entropy").sum() - negentropy(white, "entropy").sum()
    assert less == pytest.approx(mutual_information(white) - mutual_information(components), abs=0.04)


def test_refusals():
    X = draws(50)
    with pytest.raises(ValueError, match="method must be"):
        negentropy(X, "tanh")
    with pytest.raises(ValueError, match="alpha must be from 1 to 2"):
        negentropy(X, alpha=3.0)
    with pytest.raises(ValueError, match="Feature 1 is constant"):
        negentropy(X * [1.0, 0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="no weights"):
        negentropy(X, "entropy", sample_weight=np.ones(50))
    with pytest.raises(ValueError, match="Feature 0 is constant"):
        mutual_information(X * [0.0, 1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="at least two columns"):
        mutual_information(X[:, :1])
    with pytest.raises(ValueError, match="and mutual_information takes no missing values"):
        mutual_information(X * np.nan)
    with pytest.raises(ValueError, match="and negentropy takes no missing values"):
        negentropy(X * np.nan)
    with pytest.raises(ValueError, match="from 1 to n_samples - 1"):
        mutual_information(X, n_neighbors=50)
