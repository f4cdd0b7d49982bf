"""FastICA: scikit-learn's components, planted sources, and what cannot be separated."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.decomposition import FastICA
from suffice.decomposition.fast_ica import Unmixing

FUNS = ["logcosh", "exp", "cube"]


def sources(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    S = np.column_stack(
        [rng.laplace(size=n), rng.uniform(-1, 1, n), rng.exponential(size=n), rng.normal(size=n)]
    )
    return (S - S.mean(axis=0)) / S.std(axis=0)


MIXING = np.random.default_rng(5).normal(size=(4, 4))


def assert_separated(components, mixing, atol=0.15):
    """The product is a permutation, but for signs."""
    P = np.abs(components @ mixing)
    assert sorted(P.argmax(axis=1)) == list(range(len(P)))
    np.testing.assert_allclose(np.sort(P, axis=1)[:, -1], 1.0, atol=atol)
    assert np.sort(P, axis=1)[:, -2].max() < atol


@pytest.mark.parametrize("fun", FUNS)
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
def test_components_are_those_of_scikit_learn(algorithm, fun, whiten):
    X = sources() @ MIXING.T
    how = {"algorithm": algorithm, "fun": fun, "whiten": whiten, "random_state": 0, "tol": 1e-6}
    ours = FastICA(**how).fit(X)
    theirs = sklearn.decomposition.FastICA(**how, whiten_solver="eigh").fit(X)
    for name in ("components_", "mixing_", "mean_", "whitening_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-7)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-9)


@pytest.mark.parametrize("fun", FUNS)
@pytest.mark.parametrize("solver", ["fixed-point", "quasi-newton"])
def test_planted_sources(solver, fun):
    S = sources(20_000)
    ica = FastICA(fun=fun, solver=solver, random_state=0).fit(S @ MIXING.T + 1e6)
    assert ica.converged_
    assert_separated(ica.components_, MIXING)


@pytest.mark.parametrize("fun", FUNS)
def test_solvers_agree(fun):
    X = sources() @ MIXING.T
    a, b = (
        FastICA(fun=fun, solver=solver, random_state=0, tol=1e-10, max_iter=500).fit(X)
        for solver in ("fixed-point", "quasi-newton")
    )
    P = np.abs(a.components_ @ b.mixing_)
    np.testing.assert_allclose(np.sort(P, axis=1), np.eye(4)[[3, 3, 3, 3]], atol=1e-3)


def test_weights_are_repetitions():
    X = sources(600) @ MIXING.T
    weight = np.random.default_rng(0).integers(0, 4, size=600)
    how = {"random_state": 0, "tol": 1e-8}
    weighted = FastICA(**how).fit(X, sample_weight=weight)
    repeated = FastICA(**how).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-7)


def test_far_from_zero():
    X = sources() @ MIXING.T
    near, far = (FastICA(random_state=0).fit(X + shift) for shift in (0.0, 1e8))
    np.testing.assert_allclose(far.components_, near.components_, atol=1e-5)


def test_gaussian_sources_are_reported():
    rng = np.random.default_rng(0)
    with pytest.warns(ConvergenceWarning, match="2 components look Gaussian"):
        FastICA(random_state=0, max_iter=500, tol=1e-2).fit(
            np.column_stack([sources()[:, :2], rng.normal(size=(3000, 2))]) @ MIXING
        )


def test_singular_covariances():
    X = sources()[:, :3] @ MIXING[:3, :3]
    collinear = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(UserWarning, match="has rank 3, less than 4 components"):
        ica = FastICA(4, random_state=0).fit(collinear)
    assert ica.components_.shape == (3, 4)
    constant = np.column_stack([X, np.ones(len(X))])
    assert FastICA(random_state=0).fit(constant).components_.shape == (3, 4)
    with pytest.raises(ValueError, match="All features are constant"):
        FastICA().fit(np.ones((10, 2)))
    with pytest.warns(UserWarning, match="n_components is too large: it will be set to 3"):
        FastICA(9, random_state=0).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        FastICA().fit(np.where(X > 2.0, np.nan, X))


def test_refusals():
    X = sources() @ MIXING.T
    with pytest.raises(ValueError, match="algorithm='parallel'"):
        FastICA(algorithm="deflation", solver="quasi-newton").fit(X)
    with pytest.raises(ValueError, match="alpha must be in"):  # before the data is read
        FastICA(fun_args={"alpha": 5.0}).fit(np.full_like(X, np.nan))
    with pytest.raises(ValueError, match=r"alpha must be in \[1,2\]"):
        FastICA(fun_args={"alpha": 3.0}).fit(X)
    with pytest.raises(ValueError, match="w_init has invalid shape"):
        FastICA(w_init=np.eye(2)).fit(X)
    with pytest.raises(ValueError, match="leave sample_weight out"):
        FastICA(fun=_cubed).fit(X, sample_weight=np.full(len(X), 2.0))


def _cubed(y):
    return y**3, (3.0 * y**2).mean(axis=-1)


def test_a_function_as_contrast():
    X = sources() @ MIXING.T
    ours = FastICA(fun=_cubed, random_state=0).fit(X)
    np.testing.assert_allclose(ours.components_, FastICA(fun="cube", random_state=0).fit(X).components_)


def test_white_rows():
    X = sources() @ MIXING.T
    first = FastICA(random_state=0).fit(X)
    Z = (X - first.mean_) @ first.whitening_.T * np.sqrt(len(X))
    again = FastICA(whiten=False, random_state=0).fit(Z)
    np.testing.assert_allclose(again.transform(Z), first.transform(X), atol=1e-9)
    with pytest.warns(UserWarning, match="Ignoring n_components"):
        FastICA(2, whiten=False, random_state=0).fit(Z)


@pytest.mark.parametrize("at", [3, 9])
def test_deflation_goes_on_from_its_checkpoint(at, tmp_path):
    X, path = sources() @ MIXING.T, tmp_path / "progress"
    how = {"algorithm": "deflation", "random_state": 0, "tol": 1e-8}
    whole = FastICA(**how).fit(X)
    calls, summarize = [], Unmixing.summarize

    def failing(model, block):
        if len(block):
            calls.append(1)
        if len(calls) > at:
            raise RuntimeError("killed")
        return summarize(model, block)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unmixing, "summarize", failing)
        with pytest.raises(RuntimeError, match="killed"):
            FastICA(**how, checkpoint=path).fit(X)
    assert path.exists()
    again = FastICA(**how, checkpoint=path).fit(X)
    assert (again.components_ == whole.components_).all()
    assert again.n_iter_ == whole.n_iter_


def test_each_step_is_a_sum():
    """Two blocks add up to the rows."""
    X = sources() @ MIXING.T
    model = FastICA(random_state=0).fit(X).model_
    whole = suffice.partition(X).fold(model.summarize)
    parts = suffice.partition(X[:1000]).fold(model.summarize) + suffice.partition(X[1000:]).fold(
        model.summarize
    )
    np.testing.assert_allclose(parts.product, whole.product, rtol=1e-9, atol=1e-9)
