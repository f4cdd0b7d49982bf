"""The law of honest convergence: on rows that are shifted and scaled, an iterative fit ends at the optimum of
the standardised rows, or `converged_` is False.

Each estimator is compared by what a shift or a scale of its features leaves as it is: probabilities, labels
or predictions. Penalties are none, or matched to the scale.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from suffice.decomposition import NMF
from suffice.linear_model import LogisticRegression, MaximumEntropy, ProportionalOdds
from suffice.sequence import MaxMarginMarkovNetwork

from .registry import VARIANTS, Variant, determined, fit, in_sequences, is_iterative, is_rare, steps, table
from .test_numerics import start_at

GRID = tuple(itertools.product((0.0, 1e2, 1e4, 1e6, 1e8), (1e-6, 1e-3, 1.0, 1e3, 1e6)))  # deviations, units
SAMPLE = ((1e2, 1.0), (1e4, 1e3), (1e8, 1.0), (0.0, 1e-6), (0.0, 1e6))

# What a scale or a shift makes another problem, and why the law has nothing to compare there.
OTHER_PROBLEM = {
    "BilinearNMF|BrowseRank|HITS|PageRank|TrustRank": "no rows of features",
    "LatentClass|PoissonMixture|LatentDirichletAllocation|ProbabilisticLatent": "counts and categories",
    "BinaryPCA": "flags",
    "RobustPCA": "rows that are not centred: their scale is tried in tests/decomposition/test_robust_pca.py",
    "solver=(gis|iis)": "counts and flags: their scale is tried below",
    "prior=": "a prior that stays where it is",
    "RegularizedLSI|NMF": "factors of rows that move: the scale of NMF is tried below",
    "Perceptron": "stops when all rows are right, or no more of them become so: there is no optimum",
    "MiniBatch": "makes the passes that it was asked for: there is no optimum",
    "SGD": "its steps are too long there, which it says: tests/linear_model/test_sgd.py",
    "init_params=|init=random|ClassConditional|HiddenMarkovModel|BayesianGaussian|MixedMixture": (
        "starts are drawn by the values of rows"
    ),
    "KernelKMeans": "another kernel",
    "metric=(cosine|hamming|kullback-leibler|prototypes)": "other distances, or categories",
    "KernelLogistic|KernelMachine": "another kernel, and always with a penalty",
    r"kernel=": "another kernel",
    "(FactorAnalysis|ProbabilisticPCA).*alpha=": "always with a penalty",
    "LogisticRegressionCV": "always with a penalty",
    "solver=sgd": "20 passes are too few to converge: tests/sequence compares it with lbfgs",
    r"FactorAnalysis\(solver=": "a noise variance is zero, which EM takes thousands of steps to reach",
    "LinearSV": "always with a penalty: what has converged is compared with scikit-learn's",
    "MaxMargin": "one penalty for features and moves: what has converged is compared with a bound",
}


def compared(variant: Variant) -> bool:
    return not any(re.search(pattern, variant.name) for pattern in OTHER_PROBLEM) and is_iterative(variant)


COMPARED = [v for v in VARIANTS if v.takes in ("rows", "sequences") and compared(v)]


def standardised(variant, n=300):
    """Rows of mean zero and deviation one, and labels or targets that overlap: none are separable."""
    N = steps(n // 4) if variant.takes == "sequences" else n
    Z, group = table("real", N)
    Z, rng = (Z - Z.mean(axis=0)) / Z.std(axis=0), np.random.default_rng(0)
    if variant.kind == "regressor":
        y = Z @ [1.0, -2.0, 0.5] + 3.0 + rng.standard_t(3, size=N)
        return Z, y if getattr(variant.estimator, "target_domain", None) is None else np.exp(0.2 * y)
    if variant.kind != "classifier":
        return Z, None
    group = np.where(rng.random(N) < 0.2, rng.integers(3, size=N), group)
    two = variant.name.startswith(("GeneralizedAdditive", "ProjectionPursuit"))
    return Z, np.array(["ash", "elm", "elm" if two else "oak"])[group]


def moved(variant, shift, scale, n=300):
    """The variant fitted to rows shifted by so many deviations and then scaled; and what it says of them."""
    Z, y = standardised(variant, n)
    X = (Z + shift) * scale
    how = {"reg_covar": 0.0, "C": np.inf} | ({"alpha": 0.0} if variant.kind == "regressor" else {})
    how |= determined(variant)
    if variant.has("l1_ratio") and re.search("l1", variant.name):
        how |= {"l1_ratio": 1.0, "C": 1.0 / scale}  # C times the size of absolute values is the same
    if variant.takes == "sequences":
        X, y = in_sequences(X, n // 4), None if y is None else in_sequences(y, n // 4)
    model = fit(variant.make(**how, **start_at(variant, X)), X, y)
    answer = next(getattr(model, m) for m in ("predict_proba", "predict", "transform") if hasattr(model, m))
    return model, np.concatenate(list(answer(X))) if variant.takes == "sequences" else answer(X)


def assert_honest(variant, places):
    near, want = moved(variant, 0.0, 1.0)
    assert near.converged_
    for shift, scale in places:
        if shift and variant.estimator.get_params().get("fit_intercept") is False:
            continue  # without an intercept a shift is another problem: see below
        model, answer = moved(variant, shift, scale)
        if model.converged_:
            off = np.abs(answer - want) / np.abs(want).max() if want.dtype.kind == "f" else answer != want
            assert np.max(off) < 1e-2, (shift, scale, np.max(off))


def is_slow(variant):
    return is_rare(variant) or variant.name.startswith(("General", "Projection", "ConditionalRandomField"))


@pytest.mark.parametrize("variant", [pytest.param(v, id=v.name) for v in COMPARED if not is_slow(v)])
def test_converged_is_the_optimum_of_standardised_rows(variant):
    """At a sample of the places below, in the common run."""
    assert_honest(variant, SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [pytest.param(v, id=v.name) for v in COMPARED])
def test_converged_is_the_optimum_of_standardised_rows_everywhere(variant):
    assert_honest(variant, GRID)


def test_what_is_compared_is_most_of_what_iterates():
    """A new estimator is compared, unless it is named above with the reason."""
    names = {type(v.estimator).__name__ for v in COMPARED}
    assert names >= {
        "ConditionalRandomField",
        "GaussianMixture",
        "GeneralizedAdditiveModel",
        "HuberRegressor",
        "KMeans",
        "LogisticRegression",
        "MaximumEntropy",
        "ProjectionPursuitClassifier",
        "ProjectionPursuitRegressor",
        "ProportionalOdds",
        "QuantileRegressor",
    }


# --- log-linear models, which converge everywhere -------------------------------------------------------

LOG_LINEAR = [
    *(LogisticRegression(C=np.inf, solver=s) for s in ("lbfgs", "newton", "bfgs", "gradient", "saga")),
    *(MaximumEntropy(C=np.inf, solver=s) for s in ("lbfgs", "newton", "conjugate-gradient")),
    *(ProportionalOdds(C=np.inf, solver=s) for s in ("newton", "lbfgs")),
]
each_log_linear = pytest.mark.parametrize("model", LOG_LINEAR, ids=lambda m: f"{type(m).__name__}-{m.solver}")


def ordered(n=400):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 3))
    return Z, np.digitize(Z @ [1.0, -2.0, 0.5] + rng.logistic(size=n), [-1.0, 1.0])


@each_log_linear
@pytest.mark.parametrize(
    ("shift", "scale"),
    [(1e5, 1.0), (1e8, 1.0), (1e4, np.array([1e-3, 1.0, 1e3])), (0.0, 1e-6), (1e8, 1e6)],
    ids=str,
)
def test_log_linear_models_find_the_optimum(model, shift, scale):
    Z, y = ordered()
    want = model.fit(Z, y).predict_proba(Z)
    X = (Z + shift) * scale
    assert model.fit(X, y).converged_
    np.testing.assert_allclose(model.predict_proba(X), want, atol=5e-3)


@each_log_linear
def test_rows_that_are_stored_sparse_keep_their_zeros(model):
    """Columns far from zero are centred in the sums; columns that are mostly zeros, with another unit, are
    scaled. Where digits are lost, as those of second derivatives are, `converged_` is False."""
    Z, y = ordered()
    Z[:, 2] *= np.random.default_rng(1).random(len(Z)) < 0.1
    want = model.fit(Z, y).predict_proba(Z)
    for shift in (1e2, 1e4, 1e8):
        X = sp.csr_array(Z * [1.0, 1e3, 1e-5] + [shift, 0.0, 0.0])
        fit(model, X, y)
        assert model.converged_ or shift > 1e6 or model.solver in ("saga", "gradient")
        if model.converged_:
            np.testing.assert_allclose(model.predict_proba(X), want, atol=1e-2)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "bfgs", "saga"])
def test_without_an_intercept_columns_far_from_zero_are_told_apart(solver):
    """Two columns far from zero are an intercept and the difference of the two."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(500, 2))
    y = (z[:, 0] - z[:, 1] + rng.logistic(size=500) > 0.5).astype(int)
    for far in (30.0, 1e2, 1e4, 1e8):
        apart = z[:, :1] - z[:, 1:]
        want = LogisticRegression(C=np.inf, tol=1e-8).fit(apart, y).predict_proba(apart)
        X = far + z
        model = fit(LogisticRegression(C=np.inf, solver=solver, fit_intercept=False), X, y)
        if model.converged_:
            np.testing.assert_allclose(model.predict_proba(X), want, atol=2.0 / far + 1e-2)


def test_a_penalised_optimum_is_that_of_the_units_that_came():
    """The penalty is on the coefficients of the columns as they came: by Newton's method, by L-BFGS, and with
    matched penalties on standardised rows."""
    Z, y = ordered()
    X = Z * [1e-3, 1.0, 1e3] + 1e4
    how = {"tol": 1e-8, "max_iter": 1000}
    fits = [LogisticRegression(C=10.0, solver=s, **how).fit(X, y) for s in ("lbfgs", "newton")]
    a, b = (model.coef_ * [1e-3, 1.0, 1e3] for model in fits)
    np.testing.assert_allclose(a, b, atol=1e-5)
    for scale in (1e-6, 1e6):
        near, far = (LogisticRegression(C=10.0 / s**2, **how).fit((Z + 50.0) * s, y) for s in (1.0, scale))
        np.testing.assert_allclose(far.coef_ * scale, near.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("solver", ["gis", "iis"])
def test_scaling_of_counts_is_tested_in_units_of_the_features(solver):
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 3, size=(300, 3)).astype(float)
    y = (Z @ [1.0, -1.0, 0.5] + rng.logistic(size=300) > 0.5).astype(int)
    near = fit(MaximumEntropy(C=np.inf, solver="lbfgs"), Z, y).predict_proba(Z)
    for scale in (1e-6, 1e-3, 1.0, 1e3, 1e6):
        model = fit(MaximumEntropy(C=np.inf, solver=solver, max_iter=300), Z * scale, y)
        if model.converged_:
            np.testing.assert_allclose(model.predict_proba(Z * scale), near, atol=1e-2)


def test_non_negative_factors_have_any_scale():
    """By a start that scales with the rows: 'nndsvda' fills zeros with their mean, as scikit-learn does."""
    Z = np.random.default_rng(0).random((60, 2)) @ np.random.default_rng(1).random((2, 8))
    near = fit(NMF(2, init="nndsvd", max_iter=500), Z)
    assert near.converged_
    for scale in (1e-6, 1e-3, 1e3, 1e6):
        model = fit(NMF(2, init="nndsvd", max_iter=500), Z * scale)
        np.testing.assert_allclose(model.reconstruction_err_ / scale, near.reconstruction_err_, rtol=0.1)


def margin_objective(model):
    s, square = model.statistics_, (model.coef_**2).sum() + (model.transitions_**2).sum()
    return 0.5 * square + model.C / s.weight * s.loss


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["smo", "bcfw"])
def test_margins_that_converged_are_near_the_bound(solver):
    """What two solvers say is the optimum is the same, to the gaps that they allow."""
    n = 20
    Z, group = table("real", steps(n))
    y = in_sequences(group, n)
    for shift, scale in ((0.0, 1e-3), (0.0, 1e3), (1e2, 1.0), (1e4, 1.0)):
        X = in_sequences((Z + shift) * scale, n)
        names = (solver, "cutting-plane")
        fits = [fit(MaxMarginMarkovNetwork(solver=s, random_state=0, max_iter=300), X, y) for s in names]
        if all(model.converged_ for model in fits):
            a, b = map(margin_objective, fits)
            assert abs(a - b) <= 2.0 * fits[0].tol * max(a, b), (shift, scale)


# --- separable rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LogisticRegression(), MaximumEntropy(), ProportionalOdds()], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_separable_classes_without_a_penalty_are_said_to_be(model, classes):
    X = np.arange(30.0)[:, None]
    y = np.digitize(X[:, 0], [9.5, 19.5][: classes - 1])
    if type(model) is not ProportionalOdds and classes == 3:
        X = np.hstack([X, (X - 14.5) ** 2])
    with pytest.warns(ConvergenceWarning, match=r"has no maximum.*set a finite C"):
        model.set_params(C=np.inf).fit(X, y)
    assert not model.converged_
    assert model.stopped_because_ == "separable classes"
    assert model.set_params(C=1.0, max_iter=1000).fit(X, y).converged_
    y[::7] = 0  # they overlap
    assert model.set_params(C=np.inf).fit(X, y).converged_
