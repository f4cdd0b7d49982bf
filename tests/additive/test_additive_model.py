"""Additive models: against dense formulas and peers, one optimum by two solvers, intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice.additive import AdditiveModel, GeneralizedAdditiveModel, SmoothingSpline
from suffice.engines.local import LocalPartitions
from suffice.fitting.smoothing import Smoothing
from suffice.linear_model import LinearRegression, LogisticRegression


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    return X, np.sin(6.0 * X[:, 0]) + 2.0 * X[:, 1] ** 2 + X[:, 2], rng


def targets(family, n=600, seed=0):
    X, score, rng = rows(n, seed)
    if family == "gaussian":
        return X, score + 0.3 * rng.normal(size=n), score
    if family == "binomial":
        mean = expit(2.0 * (score - 1.5))
        return X, np.array(["no", "yes"])[(rng.random(n) < mean).astype(int)], mean
    mean = np.exp(score - 1.0)
    return X, rng.poisson(mean), mean


FAMILIES = ("gaussian", "binomial", "poisson")
each_family = pytest.mark.parametrize("family", FAMILIES)


def gam(family, **options):
    return GeneralizedAdditiveModel(family, **options)


# --- the optimum ---------------------------------------------------------------------------------------


@each_family
def test_objective_is_least(family):
    """The penalised deviance, written out, has its minimum where the fit is."""
    X, y, _ = targets(family, 200)
    alpha = np.array([0.01, 0.1, 1.0, 0.3])
    model = gam(family, n_knots=5, alpha=alpha, tol=1e-12).fit(X, y)
    Z = np.hstack([np.ones((200, 1)), model.model_.basis(X)])
    grid = np.linspace(0.0, 1.0, 4001)
    inside = np.column_stack([np.clip(grid, X[:, d].min(), X[:, d].max()) for d in range(4)])
    bent = model.model_.basis(inside, 2)
    inner = [(grid > X[:, d].min()) & (grid < X[:, d].max()) for d in range(4)]
    feature = model.model_.basis.feature
    codes = (y == "yes").astype(float) if family == "binomial" else y

    def objective(theta):
        score = Z @ theta
        if family == "gaussian":
            deviance = ((y - score) ** 2).sum()
        elif family == "binomial":
            deviance = 2.0 * (np.logaddexp(0.0, score) - codes * score).sum()
        else:
            deviance = 2.0 * (np.exp(score) - y * score).sum()
        curves = [bent[:, feature == d] @ theta[1:][feature == d] for d in range(4)]
        integrals = [(c[i] ** 2).sum() / 4000.0 for c, i in zip(curves, inner, strict=True)]
        return deviance + alpha @ integrals

    m = model.model_
    theta = np.append(m.intercept - m.center @ m.coef, m.coef)
    found = minimize(objective, theta, method="BFGS", options={"gtol": 1e-7})
    assert found.fun <= objective(theta)
    np.testing.assert_allclose(objective(theta), found.fun, rtol=2e-6)  # the integral is a sum of steps
    np.testing.assert_allclose(Z @ theta, Z @ found.x, atol=5e-3)


@each_family
@pytest.mark.parametrize("alpha", [None, 0.1])
def test_backfitting_and_penalized_agree(family, alpha):
    X, y, _ = targets(family)
    one, other = (
        gam(family, solver=s, alpha=alpha, tol=1e-10).fit(X, y) for s in ("penalized", "backfitting")
    )
    np.testing.assert_allclose(other.model_.score(X), one.model_.score(X), atol=1e-7)
    np.testing.assert_allclose(other.edf_, one.edf_, rtol=1e-6)


@each_family
def test_lines_are_linear_models(family):
    X, y, _ = targets(family)
    lines = (gam(family, alpha=np.inf), gam(family, linear_features=[0, 1, 2, 3]))
    for model in (m.set_params(tol=1e-12).fit(X, y) for m in lines):
        np.testing.assert_allclose(model.edf_, 1.0, atol=1e-6)
        if family == "binomial":
            peer = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
            np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)
        elif family == "gaussian":
            np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-8)
        else:
            from sklearn.linear_model import PoissonRegressor

            peer = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000).fit(X, y)
            np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-5)


def test_gaussian_families_are_one():
    X, y, _ = targets("gaussian")
    one, other = AdditiveModel().fit(X, y), gam("gaussian").fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.score(X, y) == other.score(X, y)


def test_penalties_are_of_largest_restricted_likelihood():
    """That of rows whose bends are drawn with variances sigma^2 / alpha, by its dense formula."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 2))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=150)
    model = AdditiveModel(n_knots=6).fit(X, y)
    basis = model.model_.basis
    Z, bent = basis(X), basis.penalized
    lines = np.column_stack([np.ones(150), Z[:, ~bent]])

    def likelihood(log_alpha):
        """With the variance that is best for these penalties."""
        V = np.eye(150)
        for d, alpha in enumerate(np.exp(log_alpha)):
            own = Z[:, bent & (basis.feature == d)]
            V += own @ own.T / alpha
        inverse = np.linalg.inv(V)
        A = lines.T @ inverse @ lines
        rest = y - lines @ np.linalg.solve(A, lines.T @ inverse @ y)
        n = 150 - lines.shape[1]
        return -(np.linalg.slogdet(V)[1] + np.linalg.slogdet(A)[1] + n * np.log(rest @ inverse @ rest)) / 2

    found = np.log(model.model_.alpha)
    assert (np.abs(found) < 20).all()
    best = likelihood(found)
    for d in range(2):
        for step in (0.1, -0.1):
            assert likelihood(found + step * np.eye(2)[d]) < best


def test_one_feature_is_a_smoothing_spline():
    X, y, _ = targets("gaussian")
    x = X[:, :1]
    spline = SmoothingSpline(n_knots=12).fit(x, y)
    model = AdditiveModel(12, criterion="gcv").fit(x, y)
    np.testing.assert_allclose(model.predict(x), spline.predict(x), atol=1e-8)
    np.testing.assert_allclose(model.alpha_, spline.alpha_, rtol=1e-6)
    np.testing.assert_allclose(1.0 + model.edf_, spline.df_, rtol=1e-8)


# --- how sure it is ------------------------------------------------------------------------------------


@each_family
def test_effects_sum_to_the_score(family):
    X, y, _ = targets(family)
    model = gam(family).fit(X, y)
    effects, errors = model.partial_effects(X, return_std=True)
    np.testing.assert_allclose(model.intercept_ + effects.sum(axis=1), model.model_.score(X), atol=1e-12)
    np.testing.assert_allclose(effects.mean(axis=0), 0.0, atol=1e-6)
    assert (errors > 0).all()
    low, high = model.predict_interval(X).T
    mean = model.predict_proba(X)[:, 1] if family == "binomial" else model.predict(X)
    assert ((low < mean) & (mean < high)).all()
    wide = model.predict_interval(X, level=0.99)
    assert ((wide[:, 0] < low) & (wide[:, 1] > high)).all()


@each_family
def test_intervals_cover(family):
    """Over rows and repetitions, about as often as they say."""
    inside = []
    for seed in range(6):
        X, y, mean = targets(family, 800, seed)
        low, high = gam(family).fit(X, y).predict_interval(X).T
        inside.append(((low < mean) & (mean < high)).mean())
    assert 0.9 < np.mean(inside) < 0.99


def test_intervals_are_those_of_bayes():
    """From the rows themselves: the posterior of the coefficients, with a flat prior of the lines."""
    X, y, _ = targets("gaussian", 120)
    model = AdditiveModel(5, alpha=0.01).fit(X, y)
    Z = np.hstack([np.ones((120, 1)), model.model_.basis(X)])
    penalty = np.where(np.append(False, model.model_.basis.penalized), 1.0, 0.0)
    penalty *= np.append(0.0, model.model_.alpha[model.model_.basis.feature])
    V = np.linalg.inv(Z.T @ Z + np.diag(penalty))
    hat = Z @ V @ Z.T
    np.testing.assert_allclose(hat @ y, model.predict(X), atol=1e-8)
    np.testing.assert_allclose(1.0 + model.edf_.sum(), np.trace(hat), rtol=1e-8)
    scale = ((y - hat @ y) ** 2).sum() / (120 - np.trace(hat))
    np.testing.assert_allclose(model.scale_, scale, rtol=1e-8)
    np.testing.assert_allclose(model.model_.errors(X), np.sqrt(scale * np.diag(hat)), rtol=1e-7)


@each_family
def test_p_values_tell_what_matters(family):
    X, y, _ = targets(family)
    p = gam(family).fit(X, y).p_values_
    assert (p[:3] < 1e-3).all()
    assert p[3] > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_p_values_of_nothing_are_even(family):
    found = []
    for seed in range(200):
        X, y, _ = targets(family, 400, seed)
        found.append(gam(family).fit(X, y).p_values_[3])
    shares = [(np.array(found) < level).mean() for level in (0.05, 0.2, 0.5)]
    np.testing.assert_allclose(shares, [0.05, 0.2, 0.5], atol=0.1)


def test_a_line_has_the_t_test():
    statsmodels = pytest.importorskip("statsmodels.api")
    X, y, _ = targets("gaussian", 100)
    model = AdditiveModel(linear_features=[0, 1, 2, 3]).fit(X, y)
    peer = statsmodels.OLS(y, statsmodels.add_constant(X)).fit()
    np.testing.assert_allclose(model.p_values_, peer.pvalues[1:], rtol=1e-6)
    np.testing.assert_allclose(model.scale_, peer.scale)
    low, high = model.predict_interval(X, level=0.9).T
    np.testing.assert_allclose((high - low) / 2.0 / 1.6448536, peer.get_prediction().se_mean, rtol=1e-6)


@each_family
def test_as_statsmodels(family):
    """GLMGam with our functions as its smooths and our penalties: the same fit, the same errors."""
    pytest.importorskip("statsmodels")
    import statsmodels.api as sm
    from statsmodels.gam.api import GLMGam
    from statsmodels.gam.smooth_basis import GenericSmoothers, UnivariateGenericSmoother

    X, y, _ = targets(family, 300)
    model = gam(family, n_knots=6, alpha=[0.01, 0.1, 1.0, 0.3], tol=1e-12).fit(X, y)
    m = model.model_
    Z = m.basis(X) - m.basis(X).mean(axis=0)
    columns = [np.flatnonzero(m.basis.feature == d) for d in range(4)]
    smooths = [
        UnivariateGenericSmoother(
            X[:, d], Z[:, c], None, None, np.diag(m.basis.penalized[c].astype(float)), f"x{d}"
        )
        for d, c in enumerate(columns)
    ]
    codes = (y == "yes").astype(float) if family == "binomial" else y
    kinds = {
        "gaussian": sm.families.Gaussian,
        "binomial": sm.families.Binomial,
        "poisson": sm.families.Poisson,
    }
    # They count the penalty twice.
    peer = GLMGam(
        codes,
        np.ones((300, 1)),
        smoother=GenericSmoothers(X, smooths),
        alpha=list(m.alpha / 2.0),
        family=kinds[family](),
    ).fit(maxiter=200, tol=1e-13)
    np.testing.assert_allclose(peer.fittedvalues, m.mean(m.score(X)), rtol=1e-6)
    np.testing.assert_allclose(peer.edf.sum(), 1.0 + model.edf_.sum(), rtol=1e-5)


# --- where the data is ---------------------------------------------------------------------------------


def test_passes_are_counted(monkeypatch):
    """Gaussian targets: one pass for the knots and one for the moments; with knots given, one."""
    X, y, _ = targets("gaussian")
    _, labels, _ = targets("binomial")
    count, plain = [], LocalPartitions.fold

    def fold(self, f, *shared):
        count.append(f.__qualname__)
        return plain(self, f, *shared)

    monkeypatch.setattr(LocalPartitions, "fold", fold)
    for solver in ("penalized", "backfitting"):
        for criterion in ("reml", "gcv"):
            AdditiveModel(solver=solver, criterion=criterion).fit(X, y)
            assert len(count) == 2, count
            count.clear()
    AdditiveModel(knots=[np.linspace(0.0, 1.0, 8)] * 4).fit(X, y)
    assert count == ["Additive.summarize"]
    count.clear()
    model = gam("binomial").fit(X, labels)
    assert len(count) == 1 + model.n_iter_
    assert model.n_iter_ <= 10


@each_family
def test_from_parquet_as_from_memory(family, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, y, _ = targets(family, 500)
    w = np.random.default_rng(3).uniform(0.5, 2.0, size=500)
    table = pa.table({**{f"x{d}": X[:, d] for d in range(4)}, "y": y, "w": w})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=70)
    features = [f"x{d}" for d in range(4)]
    scan = suffice.rows(suffice.scan_parquet(tmp_path), features=features, target="y", weight="w")
    there, here = gam(family).fit(scan), gam(family).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(there.model_.score(X), here.model_.score(X), atol=1e-8)
    np.testing.assert_allclose(there.score(scan), here.score(X, y, sample_weight=w))


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_weights_are_repetitions(family):
    X, y, _ = targets(family, 300)
    times = np.random.default_rng(0).integers(0, 3, size=300)
    again = np.repeat(np.arange(300), times)
    one, other = gam(family).fit(X, y, sample_weight=times), gam(family).fit(X[again], y[again])
    np.testing.assert_allclose(one.model_.score(X), other.model_.score(X), atol=1e-7)
    np.testing.assert_allclose(one.alpha_, other.alpha_, rtol=1e-5)
    np.testing.assert_allclose(one.p_values_, other.p_values_, rtol=1e-5)


# --- the rest ------------------------------------------------------------------------------------------


def test_kinds_of_estimators():
    X, y, _ = targets("binomial")
    model = gam("binomial").fit(X, y)
    assert is_classifier(model)
    assert not is_regressor(model)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, "yes", "no"))
    counts = gam("poisson")
    assert is_regressor(counts)
    assert not hasattr(counts, "predict_proba")
    assert not hasattr(counts, "decision_function")


def test_in_a_search():
    """Which pyGAM cannot: clone, pipeline, cross-validation."""
    X, y, _ = targets("binomial", 300)
    pipe = make_pipeline(StandardScaler(), gam("binomial"))
    grid = {"generalizedadditivemodel__n_knots": [4, 8]}
    search = GridSearchCV(pipe, grid, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_score_ > -0.6
    X, y, _ = targets("gaussian", 300)
    assert cross_val_score(AdditiveModel(), X, y, cv=3).mean() > 0.8
    model = clone(AdditiveModel(alpha=[1.0] * 4, linear_features=[0])).fit(X, y)
    assert model.edf_[0] == pytest.approx(1.0)


def test_names_of_features(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, _ = targets("gaussian")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = AdditiveModel(linear_features=["a"]).fit(frame, y)
    np.testing.assert_array_equal(
        model.predict(frame), AdditiveModel(linear_features=[0]).fit(X, y).predict(X)
    )
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict(frame), model.predict(frame))


def test_steps_are_halved():
    """Counts so far apart that a whole step overshoots: the objective never rises."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    y = np.where(X[:, 0] > 0.9, 5000, 0) + rng.poisson(0.5, size=200)
    model = gam("poisson", alpha=1e-6).fit(X, y)
    assert model.converged_
    assert (np.diff(model.trace_) <= 1e-12 * np.abs(model.trace_[:-1])).all()


def test_separated_classes_end():
    X = np.linspace(-1.0, 1.0, 60)[:, None]
    model = gam("binomial").fit(X, X[:, 0] > 0.1)
    assert model.score(X, X[:, 0] > 0.1) == 1.0
    assert np.isfinite(model.decision_function(X)).all()


def test_refusals():
    X, y, _ = targets("gaussian", 50)
    _, counts, _ = targets("poisson", 50)
    for options, said in (
        ({"criterion": "aic"}, "'criterion' parameter"),
        ({"solver": "qr"}, "'solver' parameter"),
        ({"alpha": [1.0, 2.0]}, "4 of them"),
        ({"alpha": -1.0}, "'alpha' parameter"),
        ({"n_knots": [3, 3]}, "n_knots has 2 entries"),
        ({"n_knots": 1}, "'n_knots' parameter"),
        ({"knots": [[0.0, 1.0]]}, "expected 4 lists of knots"),
        ({"knots": 5}, "'knots' parameter"),
        ({"linear_features": [7]}, "No feature is 7: expected an index from 0 to 3; there are no names"),
        ({"linear_features": ["a"]}, "No feature is 'a'"),
    ):
        with pytest.raises(ValueError, match=said):
            AdditiveModel(**options).fit(X, y)
    with pytest.raises(ValueError, match="'family' parameter"):
        gam("tweedie").fit(X, y)
    with pytest.raises(ValueError, match="takes counts"):
        gam("poisson").fit(X, -1.0 - counts)
    with pytest.raises(ValueError, match="All counts of the target are zero"):
        gam("poisson").fit(X, np.zeros(50))
    with pytest.raises(ValueError, match="Only binary"):
        gam("binomial").fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        AdditiveModel().fit(X, y).predict_interval(X, level=95)
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
        AdditiveModel().fit(sp.csr_array(X), y)
    with pytest.warns(ConvergenceWarning):
        gam("poisson", max_iter=2).fit(X, counts)


# --- columns that say the same -------------------------------------------------------------------------


@each_family
@pytest.mark.parametrize("criterion", ["reml", "gcv"])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3, 0], [0, 1, 2, 3, 0, 1, 2, 3], [0, 1, 2, 3, 3]])
def test_duplicated_columns_take_no_longer(family, criterion, columns, monkeypatch):
    """Only the sum of the inverse penalties of equal columns is determined: the search must not wander where
    the criterion is flat. Counted are its solves; the answer is that of the distinct columns."""
    solves, parts = 0, Smoothing._parts

    def counted(*args):
        nonlocal solves
        solves += 1
        return parts(*args)

    monkeypatch.setattr(Smoothing, "_parts", counted)
    X, y, _ = targets(family, 200)
    distinct, of_distinct = gam(family, criterion=criterion).fit(X, y), solves
    duplicated = gam(family, criterion=criterion).fit(X[:, columns], y)
    assert solves - of_distinct <= 3 * of_distinct
    assert duplicated.n_iter_ <= distinct.n_iter_ + 3
    found = duplicated.model_.score(X[:, columns])
    np.testing.assert_allclose(found, distinct.model_.score(X), atol=1e-4, rtol=0.0)


# The default families are in tests/contract/test_sklearn_checks.py.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([gam("binomial", alpha=0.1)])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_no_iterations_are_none():
    X, y, _ = targets("poisson", 50)
    with pytest.warns(ConvergenceWarning):
        model = gam("poisson", max_iter=0).fit(X, y)
    assert model.n_iter_ == len(model.trace_) == 0
