"""BinaryPCA: four ways to integrate out the factors of a row, planted loadings, NaN, and bad input."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.blocks import Rows
from suffice.decomposition import BinaryPCA
from suffice.decomposition.binary_pca import BinaryFactors

A = np.array([0.0, 1.0, -1.0, 0.5, 0.0, -0.5])
B = np.array([[1.5, 1.5, 1.5, 1.2, 1.2, 1.2]])
TWO = np.kron(np.diag([1.8, 1.3]), np.ones(3))


def rows(n=2000, loadings=B, seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, len(loadings)))
    return (rng.random((n, 6)) < expit(A + factors @ loadings)).astype(float)


def every_row(loadings, n_nodes, missing=0.0):
    """All rows that there are, and the probability of each: a fit to them has the parameters as its optimum,
    without sampling error."""
    values = [0.0, 1.0, np.nan] if missing else [0.0, 1.0]
    X = np.array(list(product(values, repeat=6)))
    p = np.exp(BinaryFactors.of(A, loadings.T, n_nodes=n_nodes).log_density(X))
    return X, p * np.where(np.isnan(X), missing, 1.0 - missing).prod(axis=1)


def test_probabilities_are_those_of_integrals():
    model = BinaryFactors.of(A, B.T, n_nodes=41)
    X = np.array([[1, 0, 1, np.nan, 1, 0], [0, 0, 0, 0, 0, 0.0]])

    def joint(f, x, power):
        p = expit(A + B[0] * f)
        return f**power * norm.pdf(f) * np.prod(np.where(np.isnan(x), 1.0, np.where(x == 1.0, p, 1.0 - p)))

    for n, x in enumerate(X):
        total, first = (quad(joint, -12, 12, args=(x, k))[0] for k in (0, 1))
        assert np.exp(model.log_density(X)[n]) == pytest.approx(total, rel=1e-6)
        assert model.scores(X)[n, 0] == pytest.approx(first / total, rel=1e-5)
        bound = model.replace(solver="variational")
        assert bound.log_density(X)[n] < np.log(total)
        assert bound.log_density(X)[n] > np.log(total) - 0.3
        assert bound.scores(X)[n, 0] == pytest.approx(first / total, abs=0.15)


@pytest.mark.parametrize("loadings", [B, TWO], ids=["one", "two"])
def test_planted_loadings(loadings):
    how = {"n_nodes": {1: 31, 2: 15}[len(loadings)], "alpha": 0.0, "tol": 1e-12, "max_iter": 3000}
    X, probability = every_row(loadings, how["n_nodes"])
    model = BinaryPCA(len(loadings), **how).fit(X, sample_weight=1e4 * probability)
    assert model.converged_
    assert (np.diff(model.trace_) >= -1e-10).all()
    np.testing.assert_allclose(model.intercept_, A, atol=1e-5)
    found, want = model.components_.T @ model.components_, loadings.T @ loadings  # which rotations keep
    np.testing.assert_allclose(found, want, atol=2e-4)
    gram = model.components_ @ model.components_.T
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0.0, atol=1e-9)
    assert model.n_parameters_ == 6 * (1 + len(loadings))


@pytest.mark.parametrize("alpha", [0.0, 20.0])
def test_the_maximum_is_one(alpha):
    """No other coefficients nearby have a larger likelihood, less the penalty."""
    X = rows(400)
    model = BinaryPCA(alpha=alpha, tol=1e-13, max_iter=3000).fit(X)

    def objective(model):
        return model.log_density(X).sum() - 0.5 * alpha * (model.coefficients**2).sum()

    best, rng = objective(model.model_), np.random.default_rng(0)
    for _ in range(20):
        other = model.model_.replace(
            intercept=model.intercept_ + 0.02 * rng.normal(size=6),
            loadings=model.model_.loadings + 0.02 * rng.normal(size=(6, 1)),
        )
        assert objective(other) < best
    assert best / 400 == pytest.approx(model.loglike_, abs=1e-9)


@pytest.mark.slow
def test_solvers_agree():
    X = rows(1000)
    exact = BinaryPCA().fit(X)
    drawn = BinaryPCA(solver="monte-carlo", n_draws=1500, random_state=0).fit(X)
    np.testing.assert_allclose(drawn.components_, exact.components_, atol=0.15)
    assert (np.diff(drawn.trace_) >= -1e-10).all()
    bound = BinaryPCA(solver="variational").fit(X)
    assert (np.diff(bound.trace_) >= -1e-10).all()
    assert bound.loglike_ < exact.loglike_
    scores = [m.transform(X)[:, 0] for m in (exact, drawn, bound)]
    assert np.corrcoef(scores).min() > 0.99


@pytest.mark.slow
def test_chains():
    X = rows(800)
    exact = BinaryPCA().fit(X)
    with pytest.warns(ConvergenceWarning):
        chains = BinaryPCA(solver="mcmc", n_draws=60, max_iter=60, random_state=0).fit(X)
    np.testing.assert_allclose(chains.components_, exact.components_, atol=0.2)
    np.testing.assert_allclose(chains.intercept_, exact.intercept_, atol=0.15)


@pytest.mark.parametrize("solver", ["quadrature", "monte-carlo", "mcmc", "variational"])
def test_sums(solver):
    """Two blocks add up to the rows, and a weight of two is a row twice, for draws too."""
    X, rng = rows(60), np.random.default_rng(0)
    X[rng.random(X.shape) < 0.1] = np.nan
    how = {"solver": solver, "n_draws": 12, "seed": 3}
    model = BinaryFactors.of(A, B.T, n_nodes=9, **how)
    weight = rng.integers(0, 3, size=60).astype(float)
    whole = model.summarize(Rows(X, weight=weight))
    cut = [Rows(X[part], weight=weight[part]) for part in (slice(25), slice(25, None))]
    parts = model.summarize(cut[0]) + model.summarize(cut[1])
    again = np.repeat(X, weight.astype(int), axis=0)
    repeated = model.summarize(Rows(again, weight=np.ones(len(again))))
    for name, value in whole.fields().items():
        np.testing.assert_allclose(parts.fields()[name], value, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(repeated.fields()[name], value, rtol=1e-9, atol=1e-9)


def test_missing_entries():
    """Entries that are missing at random do not change the optimum."""
    X, probability = every_row(B, 31, missing=0.2)
    some = BinaryPCA(alpha=0.0, tol=1e-12).fit(X, sample_weight=1e4 * probability)
    np.testing.assert_allclose(some.components_ * np.sign(some.components_[0, 0]), B, atol=1e-4)
    np.testing.assert_allclose(some.intercept_, A, atol=1e-5)
    nothing = np.full((1, 6), np.nan)
    assert some.transform(nothing)[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert some.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.warns(UserWarning, match="Feature 2 is constant"):
        lost = BinaryPCA().fit(np.where(np.arange(6) == 2, np.nan, rows(3000)))
    assert abs(lost.components_[0, 2]) < 0.05


def test_constant_and_duplicate_columns():
    X = np.column_stack([rows(500), np.ones(500)])
    with pytest.warns(UserWarning, match="Feature 6 is constant"):
        model = BinaryPCA().fit(X)
    assert model.inverse_transform([[0.0]])[0, 6] > 0.99
    with pytest.warns(UserWarning, match="Feature 6 is constant"):
        free = BinaryPCA(alpha=0.0, max_iter=30).fit(X)
    assert np.isfinite(free.intercept_).all()
    twice = BinaryPCA(max_iter=2000).fit(np.column_stack([rows(500), rows(500)[:, 0]]))
    assert np.isfinite(twice.components_).all()


def test_thresholds_and_refusals():
    X = rows(300)
    np.testing.assert_allclose(
        BinaryPCA(binarize=4.0).fit(3.0 * X + 2.0).components_, BinaryPCA().fit(X).components_, rtol=1e-8
    )
    np.testing.assert_allclose(BinaryPCA(binarize=None).fit(X).components_, BinaryPCA().fit(X).components_)
    with pytest.raises(ValueError, match="X must be 0 or 1 with binarize=None"):
        BinaryPCA(binarize=None).fit(3.0 * X)
    with pytest.raises(ValueError, match="n_components=7 must be at most n_features=6"):
        BinaryPCA(7).fit(X)


def test_from_files(tmp_path):
    X = rows(500)
    pq.write_table(pa.table({f"x{d}": x for d, x in enumerate(X.T)}), tmp_path / "rows.parquet")
    scan = suffice.scan_parquet(tmp_path / "rows.parquet")
    np.testing.assert_allclose(BinaryPCA().fit(scan).components_, BinaryPCA().fit(X).components_, rtol=1e-9)
