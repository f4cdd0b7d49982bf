"""Fits: objectives never worsen, derivatives match differences, every solver finds the same optimum."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from suffice.core.blocks import Rows
from suffice.decomposition.robust_pca import SplitRows
from suffice.fitting import newton, quasi_newton
from suffice.fitting.descent import steepest
from suffice.fitting.linear_algebra import roots, solve_positive
from suffice.fitting.shared import Divided
from suffice.linear_model import LogisticRegression, LogisticRegressionCV
from suffice.naive_bayes import ClassConditional
from suffice.sequence import HiddenMarkovModel
from suffice.statistics import Objective

from .registry import (
    ELSEWHERE,
    IGNORED,
    VARIANTS,
    K,
    N,
    answers,
    as_sparse,
    assert_close,
    by_component,
    each_variant,
    fit,
    folds,
    is_distinct,
    is_iterative,
    options,
    recorded_folds,
    sum_of,
    with_holes,
)

# --- objectives ----------------------------------------------------------------------------------------


def makes_all_passes(variant):
    """Which steps by batches, or draws. To make all passes that it was asked for is no reason to warn."""
    return variant.name.startswith("MiniBatch") or variant.estimator.get_params().get("solver") == "gibbs"


def is_online(variant):
    """Which steps by a row or batch at a time: the loss of an epoch may rise, and an optimum is not reached;
    or to fixed points, whatever the contrast."""
    name = type(variant.estimator).__name__
    return name.endswith("Perceptron") or name.startswith(("SGD", "FastICA")) or makes_all_passes(variant)


def rises(model):
    """Whether the objective is one that is maximised."""
    found = hasattr(model, "lower_bound_") or hasattr(model, "loglike_")
    return found or isinstance(model, HiddenMarkovModel | ClassConditional)


def assert_never_worse(model):
    trace = model.trace_ if rises(model) or hasattr(model, "bound_") else -model.trace_
    assert np.isfinite(trace).all()
    assert (np.diff(trace) >= -1e-12 * np.abs(trace).max()).all(), trace


@pytest.mark.usefixtures("many_iterations")
@each_variant(lambda v: is_iterative(v) and not is_online(v))
def test_objective_never_worsens(variant):
    how = {"tol": 0.0, "max_iter": 25, "reg_covar": 0.0}
    if variant.has("n_knots"):  # whose penalties are else chosen on the way
        how["alpha"] = 1.0
    X, y = variant.data()
    weight = np.random.default_rng(8).gamma(2.0, size=N)
    data = [(X, y, None), (X, y, weight)]
    if variant.kind == "classifier":
        data.append((*variant.data(other=True), None))
    if variant.tags.allow_nan:
        data.append((with_holes(X), y, weight))
    for given in data:
        model = fit(variant.make(**how), *given)
        assert len(model.trace_) > 2
        assert_never_worse(model)


def has_likelihood(variant):
    cls = type(variant.estimator)
    return hasattr(cls, "bic") or issubclass(cls, HiddenMarkovModel)


@each_variant(lambda v: v.has("max_iter") and has_likelihood(v) and v.kind != "classifier")
def test_trace_is_what_score_says(variant):
    """Without a prior: the mean log-likelihood, so at rest it is the score."""
    X, y = variant.data(60)
    model = fit(variant.make(tol=1e-9, max_iter=2000), X, y)
    if model.model_.log_prior() != 0.0:
        pytest.skip("the trace has the prior in it")
    np.testing.assert_allclose(model.trace_[-1], model.score(X), rtol=1e-8)
    assert getattr(model, "lower_bound_", model.trace_[-1]) == model.trace_[-1]
    assert model.converged_


def folds_as_it_came(variant):
    """Not those that fold blocks in which labels are numbers already, kernels of all rows, a batch at a time,
    or draws."""
    parameters = variant.estimator.get_params()
    kernels = parameters.get("landmarks", 0) is None
    online = "online" in (parameters.get("solver"), parameters.get("learning_method"))
    labels = variant.takes == "sequences" and variant.kind == "classifier"
    others = online or makes_all_passes(variant) or labels or kernels or by_component(variant)
    return is_iterative(variant) and not others


@each_variant(folds_as_it_came)
def test_statistics_are_the_sums_of_the_last_pass(variant):
    """Of the model before the last estimate, which they make the next; or of the solution, if a loss."""
    X, y = variant.data()
    if variant.estimator.get_params().get("n_init", 1) == 3:
        pytest.skip("the best start may be another one in another pass")
    before, after = (fit(variant.make(max_iter=n, tol=0.0), X, y) for n in (2, 3))
    with recorded_folds() as seen:
        fit(variant.make(max_iter=3, tol=0.0), X, y)
    folded = [fold.rows for fold in seen if len(fold.rows) == N]
    rows, s = folded[-1], after.statistics_
    if isinstance(rows, SplitRows):  # after the step whose sums they carry
        rows = Rows(rows.X, folded[-2].A, rows.weight)
    if isinstance(rows, Divided):  # of several fits that read the rows together
        rows = rows.block
    if isinstance(s, Objective):
        at = after.model_.summarize(rows)
        assert_close((s.loss, s.gradient), (at.loss, at.gradient), 1e-12)
    else:
        assert_close(before.model_.summarize(rows), s, 1e-12)
        assert_close(before.model_.estimate(s), after.model_, 1e-12)


def test_statistics_are_those_of_the_solution_whatever_was_tried_last():
    """Far from round features: the line search ends at a point that it does not take."""
    rng = np.random.default_rng(0)
    for scale in (1e2, 1e4, 1e6):
        X = rng.normal(size=(300, 4)) * np.array([1.0, 1.0, 1.0, scale])
        y = X @ np.array([1.0, -1.0, 0.5, 1.0 / scale]) + rng.normal(size=300) > 0
        for tol in (1e-6, 1e-14):
            model = fit(LogisticRegression(tol=tol, max_iter=1000), X, y)
            assert model.converged_, model.stopped_because_
            at = model.model_.summarize(Rows(X, y, np.ones(300)))
            assert_close((model.statistics_.loss, model.statistics_.gradient), (at.loss, at.gradient), 1e-9)


@each_variant(lambda v: is_iterative(v) and v.has("n_init"))
def test_more_starts_are_never_worse(variant):
    X, y = variant.data()
    one, many = (fit(variant.make(n_init=n, max_iter=200), X, y) for n in (1, 4))
    better = many.trace_[-1] - one.trace_[-1]
    assert (better if rises(one) else -better) >= -1e-3


# --- derivatives ---------------------------------------------------------------------------------------


def has_objective(variant):
    """Whether it sums a loss with derivatives. Fits of LogisticRegressionCV are those of LogisticRegression,
    and are folded together. With landmarks, features are computed around the same model."""
    apart = isinstance(variant.estimator, LogisticRegressionCV) or variant.estimator.get_params().get(
        "landmarks"
    )
    return issubclass(sum_of(variant), Objective) and not apart


def last_objective(variant, other, sparse):
    """The last fold of a fit in which a loss is summed."""
    X, y = variant.data(other=other)
    weight = np.random.default_rng(8).gamma(2.0, size=len(X))
    X = as_sparse(X) if sparse else X
    return [f for f in folds(variant, X, y, weight) if isinstance(f(f.rows), Objective)][-1]


# Central differences of the fourth order: those of the second are too coarse for exponentials.
STEPS = {-1e-5: 1 / 6e-5, -5e-6: -8 / 6e-5, 5e-6: 8 / 6e-5, 1e-5: -1 / 6e-5}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("other", [False, True], ids=["3", "2"])
@each_variant(
    lambda v: is_distinct(v) and has_objective(v) and v.estimator.get_params().get("fit_intercept", True)
)
def test_derivatives_match_differences(variant, other, sparse):
    fold = last_objective(variant, other, sparse)
    model, rows = fold.shared[0], fold.rows
    if hasattr(model, "width"):  # of a rounded kink, which is too narrow for differences
        model = model.replace(width=1.0)
    s = model.summarize(rows)
    field = next(k for k, v in model.fields().items() if np.size(v) == s.gradient.size and k != "classes")
    rng = np.random.default_rng(0)
    theta = getattr(model, field) + 1e-3 * rng.normal(size=np.shape(getattr(model, field)))  # at no kink
    model = model.replace(**{field: theta})
    s = model.summarize(rows)
    for _ in range(6):
        direction = rng.normal(size=theta.shape)
        at = {t: model.replace(**{field: theta + t * direction}).summarize(rows) for t in STEPS}
        slope = sum(share * at[t].loss for t, share in STEPS.items())
        np.testing.assert_allclose(s.gradient @ direction.ravel(), slope, rtol=1e-6, atol=1e-5)
        if np.ndim(s.hessian):
            curve = sum(share * at[t].gradient for t, share in STEPS.items())
            np.testing.assert_allclose(s.hessian @ direction.ravel(), curve, rtol=1e-5, atol=1e-4)
            np.testing.assert_allclose(s.hessian, s.hessian.T, atol=1e-10)


def test_some_objective_has_curvature():
    newton = next(v for v in VARIANTS if v.name == "LogisticRegression(solver=newton)")
    fold = last_objective(newton, False, False)
    assert np.ndim(fold.shared[0].summarize(fold.rows).hessian)


# --- solvers -------------------------------------------------------------------------------------------


def solver_groups():
    """For each estimator with a choice of solvers: the variants that differ in nothing else."""
    groups = {}
    for variant in VARIANTS:
        # Those of sequences are compared in tests/sequence.
        if variant.takes != "rows" or variant.exempt("optimum"):
            continue
        for name in options(type(variant.estimator)):
            if "solver" in name or name == "algorithm":
                rest = {k: repr(v) for k, v in variant.estimator.get_params().items() if k != name}
                groups.setdefault((type(variant.estimator).__name__, name, str(rest)), []).append(variant)
    return {f"{key[0]}.{key[1]}": group for key, group in groups.items() if len(group) > 1}


def one_or_slow(name):
    """Scaling comes nearer by a share in each step: the last digits take thousands."""
    return pytest.param(name, marks=[pytest.mark.slow] if name.startswith("MaximumEntropy") else [])


@pytest.mark.parametrize("name", [one_or_slow(name) for name in solver_groups()])
def test_every_solver_finds_the_same(name):
    group = solver_groups()[name]
    assert len(group) >= len(options(type(group[0].estimator))[name.split(".")[1]]) - 1
    for other in (False, True):
        X, y = next((v for v in group if v.support != group[0].support), group[0]).data(other=other)
        found = []
        for variant in group:
            tight = {"tol": 1e-10, "max_iter": 5000} if variant.has("max_iter") else {}
            found.append(fit(variant.make(**tight), X, y))
        first = answers(found[0], X)
        for model in found[1:]:
            if isinstance(getattr(model, "statistics_", None), Objective):
                assert abs(model.trace_[-1] - found[0].trace_[-1]) <= 1e-6
            these = answers(model, X)
            common = {k for k in first.keys() & these.keys() if k != "decision_function"}
            assert common
            for method in common:
                a, b = first[method], these[method]
                if method == "transform":  # a projection has no origin
                    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
                assert_close(b, a, 2e-7)


def test_every_solver_is_compared():
    named = {
        f"{type(v.estimator).__name__}.{option}"
        for v in VARIANTS
        for option in options(type(v.estimator))
        if "solver" in option and v.takes == "rows" and not v.exempt("optimum")
    }
    ignored = {".".join(key) for key in (*IGNORED, *ELSEWHERE)}
    assert named - ignored <= solver_groups().keys()
    assert {"LogisticRegression.solver", "PCA.svd_solver", "LinearDiscriminantAnalysis.solver"} <= named


def has_ridge(variant):
    apart = ("ProportionalOdds", "LinearSVC", "LinearSVR")  # which have another penalty
    return variant.has("C") and type(variant.estimator).__name__ not in apart


@each_variant(lambda v: has_objective(v) and has_ridge(v) and not is_online(v), takes=("rows",))
def test_solution_is_stationary(variant):
    """The penalised gradient is zero, whatever the solver."""
    X, y = variant.data()
    model = fit(variant.make(tol=1e-9, max_iter=5000), X, y)
    s = model.model_.summarize(folds(variant, X, y)[-1].rows)
    theta = model.model_.theta.reshape(-1, X.shape[1] + 1).copy()
    theta[:, -1] = 0.0
    penalty = getattr(model, "penalty", "l2")
    strength = 0.0 if penalty is None else 1.0 / model.C
    ratio = 1.0 if penalty == "l1" else getattr(model, "l1_ratio", 0.0)
    gradient = s.gradient + (1.0 - ratio) * strength * theta.ravel()
    kinks = np.full_like(theta, ratio * strength)
    kinks[:, -1] = 0.0
    np.testing.assert_allclose(steepest(theta.ravel(), gradient, kinks.ravel()) / N, 0.0, atol=1e-7)


# --- the loops of descent by themselves ----------------------------------------------------------------


@pytest.mark.parametrize("minimize", [quasi_newton, newton], ids=lambda f: f.__name__)
def test_minimisers_on_a_narrow_valley(minimize):
    """A quadratic with condition 1e6, and a smooth convex function that is not one."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    A = Q * np.logspace(0, 6, 6) @ Q.T
    b = rng.normal(size=6)

    def valley(x):
        out = 0.5 * x @ A @ x - b @ x, A @ x - b, A
        return out if minimize is newton else out[:2]

    found = minimize(valley, np.zeros(6), tol=1e-9, max_iter=500)
    assert found.converged
    np.testing.assert_allclose(found.model, np.linalg.solve(A, b), rtol=1e-5, atol=1e-9)

    def soft(x):
        e = np.exp(x - 1.0)
        out = float((e - x).sum()), e - 1.0, np.diag(e)
        return out if minimize is newton else out[:2]

    found = minimize(soft, np.full(6, -3.0), tol=1e-10, max_iter=200)
    np.testing.assert_allclose(found.model, 1.0, atol=1e-8)


@pytest.mark.parametrize("minimize", [quasi_newton, newton], ids=lambda f: f.__name__)
def test_minimisers_say_why_they_stop(minimize):
    def quadratic(x):
        out = float(x @ x), 2.0 * x, 2.0 * np.eye(len(x))
        return out if minimize is newton else out[:2]

    assert minimize(quadratic, np.ones(3)).stopped_because == "tolerance"
    steep = lambda x: tuple(quadratic(x * np.array([1.0, 1e3, 1e6])))  # noqa: E731
    assert not minimize(steep, np.ones(3), max_iter=1, tol=0.0).converged

    def lies(x):  # the gradient points downhill: no step descends
        out = float(x @ x), -2.0 * x, 2.0 * np.eye(len(x))
        return out if minimize is newton else out[:2]

    assert minimize(lies, np.ones(3), max_iter=5).stopped_because == "line search"

    def broken(x):
        out = np.nan, np.full(3, np.nan), np.eye(3)
        return out if minimize is newton else out[:2]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = minimize(broken, np.ones(3), max_iter=5)
    assert not found.converged


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_solve_positive_is_the_shortest_solution(rank):
    rng = np.random.default_rng(rank)
    B = rng.normal(size=(rank, 5)) * np.logspace(0, 3, 5)
    A, rhs = B.T @ B, rng.normal(size=(5, 2))
    rhs = A @ rhs
    np.testing.assert_allclose(solve_positive(A, rhs), np.linalg.pinv(A, rcond=1e-13) @ rhs, rtol=1e-5)
    root, inverse = roots(A)
    np.testing.assert_allclose(root.T @ root, A, atol=1e-9 * A.max())
    np.testing.assert_allclose(A @ inverse @ inverse.T @ A, A, atol=1e-8 * A.max())


# --- what a fit says of itself -------------------------------------------------------------------------


@pytest.mark.usefixtures("many_iterations")
@each_variant(lambda v: is_iterative(v) and not makes_all_passes(v))
def test_a_fit_that_is_cut_short_says_so(variant):
    X, y = variant.data()
    model = variant.make(max_iter=2, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X, y)
    assert not model.converged_
    assert model.stopped_because_ == "max_iter"
    assert np.max(model.n_iter_) == 2
    assert len(model.trace_) == 2 or by_component(variant)


@each_variant(lambda v: is_iterative(v) and not is_online(v))
def test_a_fit_that_converges_says_so(variant):
    how = {"max_iter": 1000, "evaluate_every": 1}
    if str(variant.estimator.get_params().get("solver")).startswith(("iis-", "sgd")):
        how["tol"] = 1e-2  # scaling comes nearer by a share in each step, and so do draws
    model = variant.make(**how).fit(*variant.data())  # a warning would be an error
    assert model.converged_
    assert model.stopped_because_ == "tolerance"
    if not isinstance(model, LogisticRegressionCV):  # whose n_iter_ is of all penalties and folds
        assert len(model.trace_) == np.max(model.n_iter_)
    assert K == 3
