"""The problem that solvers minimize, for each model that uses it, and the registry of the solvers."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.utils._param_validation import StrOptions

from suffice.core.blocks import Rows, Sequences
from suffice.fitting import (
    SOLVERS,
    Problem,
    RidgePenalty,
    ScaledProblem,
    Solver,
    find_solver,
    newton,
    quasi_newton,
)
from suffice.fitting.problem import ColumnRidgePenalty
from suffice.fitting.standardize import Standardization, column_sizes
from suffice.inputs import in_blocks
from suffice.linear_model import (
    HuberRegressor,
    LogisticRegression,
    MaximumEntropy,
    ProportionalOdds,
    entropy_distribution,
    logistic,
    maximum_entropy,
    proportional_odds,
)
from suffice.linear_model.huber import HuberLine
from suffice.linear_model.logistic import LogLinear
from suffice.linear_model.maximum_entropy import FeatureWeights, Products
from suffice.linear_model.proportional_odds import CumulativeLogits
from suffice.sequence import (
    ConditionalRandomField,
    MaxMarginMarkovNetwork,
    conditional_random_field,
    max_margin,
)
from suffice.sequence.conditional_random_field import LinearChain
from suffice.sequence.max_margin import MarginChain

RNG = np.random.default_rng(0)
N, D, K = 60, 3, 3
X, CODES = RNG.normal(size=(N, D)) * [1.0, 40.0, 0.01] + [0.0, 3.0, 2.0], RNG.integers(K, size=N)
LABELS = np.arange(K)


class Counted:
    """Partitions that count how often they are folded."""

    def __init__(self, block):
        self.data, self.folds = in_blocks(block), 0

    def fold(self, *args):
        self.folds += 1
        return self.data.fold(*args)


def rows(y=CODES):
    return Counted(Rows(X, y, np.linspace(0.5, 2.0, N)))


def sequences():
    offset = np.arange(0, N + 1, 5)
    return Counted(Sequences(X / [1.0, 40.0, 0.01], offset, CODES, np.linspace(0.5, 2.0, len(offset) - 1)))


def standard(**how):
    found = Standardization.of(column_sizes(Rows(X, None, np.ones(N))), 0.01, **how)
    assert not found.ordinary
    return found


def a_log_linear(curvature=True, classes=K):
    model = LogLinear(np.zeros((classes, D + 1)), LABELS, np.array([1.0, 2.0, 0.5]), curvature=curvature)
    return Problem(
        rows(),
        model,
        ColumnRidgePenalty(np.array([0.1, 0.2, 0.3, 0.0]), model.theta.shape),
        standard=STANDARD,
    )


STANDARD = standard(n_constants=1)
THRESHOLDS = standard(n_constants=K - 1, sign=-1.0)


def a_proportional_odds(curvature=True):
    model = CumulativeLogits(np.array([0.0, 0.0, 0.0, -1.0, 1.0]), LABELS, np.ones(K), curvature)
    penalty = partial(ProportionalOdds(C=0.3)._penalised, THRESHOLDS)
    return Problem(rows(), model, penalty, standard=THRESHOLDS, feasible=lambda at: at.rises)


def a_huber():
    y = X @ [1.0, 0.1, -3.0] + RNG.standard_t(2, size=N)
    # About where no residual is at the corner of its loss; the Hessian there is not only of the loss.
    model = HuberLine(np.array([0.9, 0.1, -2.0, 0.5, 0.3]), X.mean(axis=0), True, False, 1.35, -20.0)
    return Problem(rows(y), model, partial(HuberRegressor(alpha=0.1)._penalised, model))


def a_maximum_entropy(curvature=True):
    model = FeatureWeights(np.zeros(K * (D + 1)), LABELS, Products(K, True), curvature)
    return Problem(rows(), model, RidgePenalty(np.linspace(0.0, 2.0, K * (D + 1))), standard=STANDARD)


def a_random_field():
    edge = np.array([1])
    model = LinearChain(np.zeros(D * K + 2 * K * K), LABELS, np.array([1.0, 2.0, 0.5]), edge)
    return Problem(sequences(), model, ConditionalRandomField(C=0.7)._penalised, remember=False)


def a_scaled_random_field():
    problem = a_random_field()
    return ScaledProblem(problem, np.linspace(0.5, 3.0, problem.start.size))


def a_margin():
    model = MarginChain(np.zeros((K, D)), np.zeros((K, K)), LABELS, 1.0 - np.eye(K))
    estimator = MaxMarginMarkovNetwork(C=2.0)

    def risk(theta, s):
        height, slope = estimator._plane(theta, s)
        return height + float(slope @ theta), slope

    return Problem(sequences(), model, risk)


PROBLEMS = {f.__name__: f for f in (a_log_linear, a_proportional_odds, a_huber, a_maximum_entropy)}
CURVED = ["a_log_linear", "a_proportional_odds", "a_maximum_entropy"]
PROBLEMS |= {f.__name__: f for f in (a_random_field, a_scaled_random_field, a_margin)}


def differences(f, x, h=1e-5):
    """The derivatives of f along each axis of x, by central differences."""
    return np.array([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))])


def point(problem):
    return problem.start + 0.1 * np.random.default_rng(1).normal(size=problem.start.size)


def must_be_gradient(problem):
    x = point(problem)
    np.testing.assert_allclose(problem(x)[1], differences(lambda z: problem(z)[0], x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_gradient_is_that_of_the_value(name):
    must_be_gradient(PROBLEMS[name]())


@pytest.mark.parametrize("name", CURVED)
def test_the_hessian_is_that_of_the_gradient(name):
    problem = PROBLEMS[name]()
    x = point(problem)
    np.testing.assert_allclose(problem.hessian(x), differences(problem.gradient, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CURVED)
def test_without_curvature_the_rest_is_the_same(name):
    with_it, without = PROBLEMS[name](), PROBLEMS[name](curvature=False)
    x = point(with_it)
    assert len(with_it(x)) == 3 and len(without(x)) == 2
    assert with_it.value(x) == pytest.approx(without.value(x), rel=1e-12)
    np.testing.assert_allclose(with_it.gradient(x), without.gradient(x), rtol=1e-9, atol=1e-12)


def test_a_wrong_gradient_is_caught():
    """The test of gradients can fail: the penalty in the gradient of another strength than in the value."""
    problem, right = a_maximum_entropy(), RidgePenalty(1.0)
    problem.penalty = lambda theta, s: (right(theta, s)[0], RidgePenalty(1.1)(theta, s)[1])
    with pytest.raises(AssertionError):
        must_be_gradient(problem)


@pytest.mark.parametrize("name", sorted(PROBLEMS.keys() - {"a_random_field", "a_scaled_random_field"}))
def test_a_point_is_folded_once(name):
    problem = PROBLEMS[name]()
    x = point(problem)
    first = problem.value(x)
    for ask in (problem.gradient, problem.sums, problem):
        ask(x.copy())
    assert problem.data.folds == 1
    x += 0.01  # in place, as line searches do
    assert problem.value(x) != first
    assert problem.data.folds == 2


@pytest.mark.parametrize("minimize", [quasi_newton, newton], ids=lambda f: f.__name__)
def test_the_sums_at_the_solution_need_no_pass(minimize):
    problem = Problem(
        rows(),
        FeatureWeights(np.zeros(K * D), LABELS, Products(K, False), minimize is newton),
        RidgePenalty(1.0),
    )
    found = minimize(problem, problem.start)
    before = problem.data.folds
    s, at = problem.statistics(found.model), problem.solution(found.model)
    assert problem.data.folds == before
    np.testing.assert_array_equal(s.gradient, at.summarize(problem.data.data.gather("")).gradient)


def test_the_penalty_does_not_change_the_sums():
    for name in ("a_log_linear", "a_proportional_odds", "a_huber", "a_maximum_entropy", "a_margin"):
        problem = PROBLEMS[name]()
        x = point(problem)
        before = [np.copy(value) for value in problem.sums(x).fields().values()]
        problem(x)
        for a, b in zip(before, problem.sums(x).fields().values(), strict=True):
            np.testing.assert_array_equal(a, b)


def test_nothing_is_remembered_if_it_may_not_be():
    problem = a_random_field()
    x = point(problem)
    value, gradient = problem(x)
    assert problem.data.folds == 1
    np.testing.assert_array_equal(problem.gradient(x), gradient)  # though the first was made in place
    assert (problem.data.folds, problem.value(x)) == (2, value)


def test_statistics_are_by_the_columns_of_the_data():
    problem = a_log_linear()
    x = point(problem)
    at, s = problem.solution(x), problem.statistics(x)
    np.testing.assert_allclose(at.summarize(problem.data.data.gather("")).gradient, s.gradient, rtol=1e-9)
    np.testing.assert_allclose(STANDARD.to_standard(at.theta).ravel(), x, rtol=1e-12)
    np.testing.assert_allclose(STANDARD.gradient(s.gradient), problem.sums(x).gradient, rtol=1e-8)


def test_outside_of_the_domain_the_value_is_infinite():
    problem = a_proportional_odds()
    crossed = np.array([0.0, 0.0, 0.0, 1.0, -1.0])
    value, gradient, hessian = problem(crossed)
    assert value == np.inf and not gradient.any() and hessian.shape == (5, 5)
    assert len(a_proportional_odds(curvature=False)(crossed)) == 2
    assert problem.data.folds == 0


# --- the registry ----------------------------------------------------------------------------------------

OPTIONS = {
    LogisticRegression: logistic.SOLVERS,
    ProportionalOdds: proportional_odds.SOLVERS,
    MaximumEntropy: maximum_entropy.SOLVERS,
    ConditionalRandomField: conditional_random_field.SOLVERS,
    MaxMarginMarkovNetwork: max_margin.SOLVERS,
}


@pytest.mark.parametrize("estimator", OPTIONS, ids=lambda cls: cls.__name__)
def test_the_options_of_estimators_are_in_the_registry(estimator):
    (allowed,) = estimator._parameter_constraints["solver"]
    assert isinstance(allowed, StrOptions)
    names = allowed.options - {"liblinear"}  # another name of two of them
    assert names == set(OPTIONS[estimator]) <= SOLVERS.keys()


def test_every_solver_has_a_user():
    used = {name for names in OPTIONS.values() for name in names} | set(entropy_distribution.SOLVERS)
    assert used == SOLVERS.keys()


def quadratic(hessian):
    """(z - target)' A (z - target) / 2, as a problem."""
    A, target = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([3.0, 0.2])

    class Quadratic:
        start, l1 = np.zeros(2), 0.0

        def __call__(self, z):
            step = z - target
            return 0.5 * float(step @ A @ step), A @ step, *([A] if hessian else [])

    return Quadratic(), A, target


GENERAL = [
    name
    for name, solver in SOLVERS.items()
    if not (solver.scaling or solver.ordered) and name not in ("cutting-plane", "ipf")
]


@pytest.mark.parametrize("name", GENERAL)
def test_solvers_do_what_they_declare(name):
    solver = SOLVERS[name]
    problem, A, target = quadratic(solver.hessian)
    np.testing.assert_allclose(solver(problem, tol=1e-9).model, target, atol=1e-8)
    problem.l1 = 1.0
    if not solver.l1:
        with pytest.raises(ValueError, match="does not support l1: use 'lbfgs'"):
            solver(problem)
        return
    z = solver(problem, tol=1e-9).model
    slope = A @ (z - target)
    assert z[1] == 0.0 and abs(slope[1]) <= 1.0  # the condition at zero
    assert z[0] > 0 and slope[0] == pytest.approx(-1.0, abs=1e-8)


@pytest.mark.parametrize("name", GENERAL)
def test_only_solvers_that_declare_it_take_the_hessian(name):
    problem, _, _ = quadratic(not SOLVERS[name].hessian)
    with pytest.raises(ValueError, match="unpack"):
        SOLVERS[name](problem)


@pytest.mark.parametrize("estimator", [LogisticRegression, ConditionalRandomField])
def test_estimators_refuse_l1_by_the_declaration(estimator):
    for name in OPTIONS[estimator]:
        fit = partial(estimator(solver=name, l1_ratio=0.5, tol=0.01).fit, X / X.std(axis=0), CODES)
        if SOLVERS[name].l1 or (estimator, name) == (LogisticRegression, "saga"):  # as in scikit-learn
            fit()
            continue
        with pytest.raises(
            ValueError, match=f"solver='{name}' does not support l1_ratio=0.5: use solver='lbfgs'"
        ):
            fit()


def test_a_solver_is_found_by_its_name():
    assert find_solver("lbfgs", ["lbfgs", "newton"], l1_ratio=1.0) is SOLVERS["lbfgs"]
    with pytest.raises(ValueError, match=r"solver='dfp' is unknown: use one of \['lbfgs', 'newton'\]"):
        find_solver("dfp", ["newton", "lbfgs"])
    assert isinstance(SOLVERS["svrg"], Solver) and SOLVERS["svrg"] is SOLVERS["saga"]
    with pytest.raises(TypeError, match="only through the estimators that offer it"):
        SOLVERS["smo"](quadratic(False)[0])
