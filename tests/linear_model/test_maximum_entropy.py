"""The maximum entropy model: every solver finds one optimum, and there the constraints hold."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import suffice
from suffice.core.blocks import Rows
from suffice.fitting import conjugate_gradient, scaling_step
from suffice.fitting.linear_algebra import gauss_seidel_sweep
from suffice.linear_model import (
    MaximumEntropy,
    maximum_entropy_distribution,
    minimum_norm_distribution,
    select_features,
)
from suffice.linear_model.maximum_entropy import Alternatives, FeatureWeights, Products, listed

from ..laws.registry import bits, cut_at, options

SOLVERS = options(MaximumEntropy)["solver"]
SCALING = ("gis", "iis")


def problem(n=60, seed=0):
    """Rows of numbers in two columns, labels that depend on them, and features that share columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, 2)).astype(float)
    p = np.array([X[:, 0], X[:, 1], np.ones(n)]).T
    y = np.array(["a", "b", "c"])[
        (rng.random((n, 1)) > (p / p.sum(axis=1)[:, None]).cumsum(axis=1)).sum(axis=1)
    ]
    return X, y


def first(x, c):
    return x[0] * (c == "a")


def second(x, c):
    return x[1] * (c == "b")


def either(x, c):
    return c != "c"


def both(x, c):
    return x[0] == x[1] and c == "a"


FEATURES = [first, second, either, both]


def tensor(features, X, classes):
    """f_p(x, c) of all rows, classes and features."""
    return np.array([[[float(f(x, c)) for f in features] for c in classes] for x in X])


def optimum(F, codes, strength, weight=None):
    """The weights of least penalised loss (sum), by SciPy, and that loss divided by the weight."""
    weight = np.ones(len(F)) if weight is None else weight

    def loss(theta):
        log_p = log_softmax(F @ theta, axis=1)
        P = np.exp(log_p)
        own = np.arange(len(F)), codes
        value = -weight @ log_p[own] + 0.5 * strength * theta @ theta
        gradient = np.einsum("n,nkp,nk->p", weight, F, P) - weight @ F[own] + strength * theta
        return value / weight.sum(), gradient / weight.sum()

    found = minimize(loss, np.zeros(F.shape[2]), jac=True, method="BFGS", options={"gtol": 1e-10})
    return found.x, found.fun


# --- one optimum ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_optimum(solver, C):
    X, y = problem()
    F, codes = tensor(FEATURES, X, "abc"), np.searchsorted(["a", "b", "c"], y)
    theta, value = optimum(F, codes, 1.0 / C)
    # Each step of scaling comes nearer by a share: exact it is where it stands still, which is tried below.
    tol, near = (1e-4, 1e-2) if solver in SCALING else (1e-9, 1e-5)
    model = MaximumEntropy(FEATURES, C=C, solver=solver, tol=tol).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.trace_[-1], value, atol=1e-6)
    np.testing.assert_allclose(model.coef_, theta, atol=near)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(F @ theta, axis=1), atol=near)
    assert (np.diff(model.trace_) <= 1e-12).all()


@pytest.mark.parametrize("features", [None, FEATURES], ids=["products", "listed"])
@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("solver", SCALING)
def test_scaling_stands_still_at_the_optimum_and_nowhere_else(solver, C, features):
    """Of features that are negative or not whole too."""
    X, y = problem()
    X = X + 0.3 * np.random.default_rng(1).normal(size=X.shape) - 1.0
    assert (X < 0).any()
    model = MaximumEntropy(features, C=C, solver="newton", tol=1e-12).fit(X, y)
    value = model.trace_[-1]
    again = model.set_params(solver=solver, warm_start=True, tol=1e-9).fit(X, y)
    assert again.n_iter_ == 1
    np.testing.assert_allclose(again.trace_, value, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MaximumEntropy(features, C=C, solver=solver, max_iter=50).fit(X, y)
    assert (np.diff(model.trace_) < 0).all()
    assert model.trace_[-1] > value


@pytest.mark.parametrize("solver", SCALING)
@pytest.mark.parametrize("features", [None, FEATURES], ids=["products", "listed"])
def test_a_step_of_scaling_is_the_root_of_its_equation(solver, features):
    """By the formula, over all rows and classes, with features counted from their least value."""
    X, y = problem()
    X = X - 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        steps = [MaximumEntropy(features, C=2.0, solver=solver, max_iter=n).fit(X, y) for n in (1, 2)]
    before, after = (model.model_.theta for model in steps)
    penalty = np.full(len(after), 0.5)
    if features is None:
        penalty[2::3] = 0.0  # constants
        features = [lambda x, c, d=d, k=k: [*x, 1.0][d] * (c == k) for k in "abc" for d in range(3)]
    F, codes = tensor(features, X, "abc"), np.searchsorted(["a", "b", "c"], y)
    P = np.exp(log_softmax(F @ before, axis=1))
    F = F - np.minimum(F.min(axis=(0, 1)), 0.0)
    total = F.sum(axis=2)
    total = np.full_like(total, total.max()) if solver == "gis" else total
    delta = after - before
    for p in range(len(features)):
        expected = (P * F[:, :, p] * np.exp(delta[p] * total)).sum()
        observed = F[np.arange(len(F)), codes, p].sum()
        np.testing.assert_allclose(expected + penalty[p] * after[p], observed, rtol=1e-9)


def test_the_two_scalings_are_one_where_features_add_up_to_one_number():
    X, y = problem()
    slack = lambda x, c: 6.0 - sum(float(f(x, c)) for f in FEATURES)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        gis, iis = (
            MaximumEntropy([*FEATURES, slack], C=np.inf, solver=s, max_iter=7).fit(X, y) for s in SCALING
        )
    np.testing.assert_allclose(gis.coef_, iis.coef_, rtol=1e-12)


def test_improved_scaling_is_faster():
    X, y = problem()
    steps = [MaximumEntropy(FEATURES, solver=s).fit(X, y).n_iter_ for s in SCALING]
    assert steps[1] < steps[0]


def test_many_totals_are_few_levels(monkeypatch):
    """With levels above them, totals give shorter steps to the same optimum."""
    from suffice.linear_model import maximum_entropy

    X, y = problem()
    fine = MaximumEntropy(FEATURES, solver="iis", tol=1e-4).fit(X, y)
    monkeypatch.setattr(maximum_entropy, "LEVELS", 3)
    rough = MaximumEntropy(FEATURES, solver="iis", tol=1e-4).fit(X, y)
    np.testing.assert_allclose(rough.coef_, fine.coef_, atol=1e-2)
    assert rough.n_iter_ >= fine.n_iter_


def test_scaling_step_has_a_penalty_for_each_feature():
    rng = np.random.default_rng(0)
    expected, totals = rng.gamma(2.0, size=(4, 5)), np.array([0.5, 1.0, 2.0, 3.0])
    expected[:, 3], observed, x = 0.0, rng.gamma(2.0, size=5), rng.normal(size=5)
    penalty = np.array([0.0, 1.0, 3.0, 2.0, 0.0])
    d = scaling_step(observed, expected, totals, x, penalty)
    sums = (expected * np.exp(totals[:, None] * d)).sum(axis=0)
    np.testing.assert_allclose(sums + penalty * (x + d), observed, atol=1e-9)
    for p in range(5):
        alone = scaling_step(observed[p : p + 1], expected[:, p : p + 1], totals, x[p : p + 1], penalty[p])
        np.testing.assert_allclose(alone, d[p], atol=1e-10)


# --- what the optimum is -------------------------------------------------------------------------------


def test_features_have_the_means_that_were_seen():
    X, y = problem()
    weight = np.random.default_rng(2).gamma(2.0, size=len(X))
    F, codes = tensor(FEATURES, X, "abc"), np.searchsorted(["a", "b", "c"], y)
    model = MaximumEntropy(FEATURES, C=np.inf, tol=1e-9).fit(X, y, weight)
    seen = weight @ F[np.arange(len(F)), codes] / weight.sum()
    np.testing.assert_allclose(model.observed_, seen, rtol=1e-12)
    np.testing.assert_allclose(model.expected_, seen, atol=1e-8)
    np.testing.assert_allclose(
        model.feature_expectations(X, sample_weight=weight), model.expected_, rtol=1e-12
    )
    np.testing.assert_allclose(model.feature_expectations(X, y, weight), seen, rtol=1e-12)
    plain = MaximumEntropy(C=np.inf, tol=1e-9).fit(X, y, weight)
    np.testing.assert_allclose(plain.feature_expectations(X, y, weight), plain.observed_, rtol=1e-12)
    np.testing.assert_allclose(plain.expected_, plain.observed_, atol=1e-8)


def test_no_other_model_with_these_means_has_more_entropy():
    X, y = problem()
    F = tensor(FEATURES, X, "abc")
    model = MaximumEntropy(FEATURES, C=np.inf, tol=1e-10).fit(X, y)
    P = model.predict_proba(X)
    entropy = -(P * np.log(P)).sum() / len(X)
    np.testing.assert_allclose(entropy, model.trace_[-1], rtol=1e-8)  # the dual has no gap
    # Changes that keep probabilities and means: those at right angles to all constraints.
    sums = np.kron(np.eye(len(X)), np.ones(3))
    constraints = np.vstack([sums, F.reshape(-1, F.shape[2]).T])
    Q = np.linalg.svd(constraints)[2][np.linalg.matrix_rank(constraints) :]
    rng = np.random.default_rng(0)
    for _ in range(20):
        change = (rng.normal(size=len(Q)) @ Q).reshape(P.shape)
        other = P + 0.3 * change * (P / np.abs(change)).min()
        assert (other >= 0).all()
        np.testing.assert_allclose(np.einsum("nk,nkp->p", other - P, F), 0.0, atol=1e-10)
        assert -(other * np.log(other)).sum() / len(X) < entropy


def test_products_are_logistic_regression():
    X, y = problem(200)
    ours = MaximumEntropy(C=0.7, tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=0.7, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    through = MaximumEntropy(C=0.7, fit_intercept=False, tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=0.7, tol=1e-10, max_iter=1000, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(through.coef_, theirs.coef_, atol=1e-6)
    assert not hasattr(through, "intercept_")


@pytest.mark.parametrize("solver", SCALING)
def test_a_feature_that_was_never_seen_is_not_expected(solver):
    X, y = problem()
    never = lambda x, c: x[0] == 1 and c == "c"  # noqa: E731
    keep = ~((X[:, 0] == 1) & (y == "c"))
    assert (X[keep, 0] == 1).any()
    model = MaximumEntropy([*FEATURES, never], C=np.inf, solver=solver, tol=1e-3).fit(X[keep], y[keep])
    assert model.observed_[-1] == 0
    assert 0 <= model.expected_[-1] < 1e-3
    assert np.isfinite(model.coef_).all()


# --- features ------------------------------------------------------------------------------------------


def test_functions_matrices_and_products_are_one():
    X, y = problem()
    K, D = 3, 2
    functions = [lambda x, c, d=d, k=k: x[d] * (c == k) for k in "abc" for d in range(D)]
    matrices = np.zeros((K, D, K * D))
    for k in range(K):
        matrices[k, :, k * D : (k + 1) * D] = np.eye(D)
    found = [
        MaximumEntropy(features, fit_intercept=False, tol=1e-10).fit(X, y)
        for features in (
            None,
            functions,
            matrices,
            list(matrices),
            [sp.csr_array(A) for A in matrices],
            sp.coo_array(matrices),
        )
    ]
    for model in found[1:]:
        np.testing.assert_allclose(model.coef_, found[0].coef_.ravel(), atol=1e-8)
        np.testing.assert_allclose(model.predict_proba(X), found[0].predict_proba(X), atol=1e-8)
        np.testing.assert_array_equal(model.predict(X), found[0].predict(X))
        sparse = model.predict_proba(sp.csr_array(X))
        np.testing.assert_allclose(sparse, model.predict_proba(X), rtol=1e-12)
    on_sparse = MaximumEntropy(functions, fit_intercept=False, tol=1e-10).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(on_sparse.coef_, found[1].coef_, atol=1e-10)


def test_rows_of_strings():
    X = np.array([["in", "april"], ["in", "may"], ["on", "monday"], ["on", "may"]] * 3, dtype=object)
    y = ["dans", "en", "sur", "en", "en", "en", "sur", "sur", "dans", "dans", "sur", "en"]
    features = [lambda x, c: x[0] == "in" and c == "dans", lambda x, c: x[1] == "may" and c == "en"]
    model = MaximumEntropy(features, C=np.inf).fit(X, y)
    np.testing.assert_allclose(model.expected_, model.observed_, atol=1e-4)
    assert model.predict_proba([["in", "may"]]).shape == (1, 3)
    of_str = MaximumEntropy(features, C=np.inf).fit(X.astype(str), y)
    assert (of_str.coef_ == model.coef_).all()


def test_two_classes():
    X, y = problem()
    y = np.where(y == "c", "a", y)
    model = MaximumEntropy([first, second]).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(model.decision_function(X), np.log(P[:, 1] / P[:, 0]), atol=1e-12)
    assert (model.predict(X) == model.classes_[(model.decision_function(X) > 0).astype(int)]).all()


@pytest.mark.parametrize("layout", ["products", "listed"])
def test_derivatives_match_differences(layout):
    X, y = problem(30)
    weight, classes = np.random.default_rng(1).gamma(2.0, size=30), np.array(["a", "b", "c"])
    rows = Rows(X, y, weight)
    if layout == "products":
        block, model = rows, FeatureWeights(np.zeros(9), classes, Products(3, True), True)
    else:
        block = listed(FEATURES, classes, rows)
        model = FeatureWeights(np.zeros(4), np.arange(3), Alternatives(3), True)
    model = model.replace(theta=np.random.default_rng(2).normal(size=len(model.theta)))
    s = model.summarize(block)
    for p in range(len(model.theta)):
        step = 1e-6 * np.eye(len(model.theta))[p]
        up, down = (model.replace(theta=model.theta + sign * step).summarize(block) for sign in (1, -1))
        np.testing.assert_allclose(s.gradient[p], (up.loss - down.loss) / 2e-6, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(s.hessian[p], (up.gradient - down.gradient) / 2e-6, rtol=1e-5, atol=1e-6)
    loss, counts, mass = model.expected(np.array([1.0, 2.0, 9.0]), block).parts
    np.testing.assert_allclose(loss, s.loss)
    np.testing.assert_allclose(counts.sum(axis=0), s.gradient + model.observed(block).parts[1])
    np.testing.assert_allclose(mass.sum(), weight.sum())
    assert (counts > 0).sum() > len(model.theta)  # at several levels


# --- where the data is ---------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["lbfgs", "iis"])
def test_blocks_weights_and_repeated_rows(solver):
    X, y = problem()
    times = np.random.default_rng(3).integers(4, size=len(X))

    def after_some(*data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return MaximumEntropy(FEATURES, solver=solver, tol=1e-8, max_iter=20).fit(*data)

    whole = after_some(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = after_some(X, y, times)
    with cut_at(7, 1, 20):
        cut = after_some(X, y, times)
    for other in (weighted, cut):
        np.testing.assert_allclose(other.coef_, whole.coef_, atol=1e-7)
        np.testing.assert_allclose(other.trace_[-1], whole.trace_[-1], rtol=1e-12)


def test_functions_are_called_once_for_each_row_whatever_is_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, y = problem(300)
    called = []

    def counted(x, c):
        called.append(c)
        return first(x, c)

    table = pa.table({"u": X[:, 0], "v": X[:, 1], "label": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=64)
    scan = suffice.rows(suffice.scan_parquet(tmp_path / "rows.parquet"), target="label")
    with suffice.threads(1):
        there = MaximumEntropy([counted, second, either], tol=1e-8).fit(scan)
        assert len(called) == 3 * len(X)
        here = MaximumEntropy([first, second, either], tol=1e-8).fit(X, y)
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-7)
        assert there.score(scan) == here.score(X, y)


def test_pickled_and_from_a_checkpoint(tmp_path):
    X, y = problem()
    model = MaximumEntropy(FEATURES).fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    assert bits(back.predict_proba(X)) == bits(model.predict_proba(X))
    kept = MaximumEntropy(FEATURES, checkpoint=tmp_path / "progress").fit(X, y)
    assert bits(kept) == bits(model)
    with pytest.raises(TypeError, match="features"):
        model.save(tmp_path / "model")
    of_matrices = MaximumEntropy([np.eye(2, 4, k) for k in range(3)]).fit(X, y)
    of_matrices.save(tmp_path / "model")
    assert bits(suffice.load(tmp_path / "model").predict_proba(X)) == bits(of_matrices.predict_proba(X))


def test_warm_start_goes_on():
    X, y = problem()
    model = MaximumEntropy(FEATURES, warm_start=True, tol=1e-8).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 2


# --- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"solver": "magic"}, "'solver' parameter"),
        ({"C": 0.0}, "'C' parameter"),
        ({"features": []}, "features is empty"),
        ({"features": [np.zeros((2, 4)), np.zeros((2, 4))]}, "expected one for each of the 3 classes"),
        ({"features": [np.zeros((5, 4))] * 3}, r"shape \(2, P\)"),
        ({"features": [first, np.zeros((2, 4))]}, "either functions"),
        ({"features": [lambda x, c: np.nan]}, "Feature 0 is NaN or infinite"),
    ],
)
def test_refused_in_words(how, said):
    X, y = problem()
    with pytest.raises(ValueError, match=said):
        MaximumEntropy(**how).fit(X, y)


@pytest.mark.parametrize(
    ("broken", "kind"), [(lambda x, c: None, TypeError), (lambda x, c: x[7], IndexError)]
)
def test_an_error_in_a_feature_says_in_which(broken, kind):
    X, y = problem()
    with pytest.raises(kind) as raised:
        MaximumEntropy([first, broken]).fit(X, y)
    assert any("feature 1" in note and "'a'" in note for note in raised.value.__notes__)


@pytest.mark.parametrize("solver", SOLVERS)
def test_features_that_say_nothing_have_no_weight(solver):
    X, y = problem()
    for value in (0.0, 1.0):
        model = MaximumEntropy([lambda x, c, value=value: value], C=np.inf, solver=solver).fit(X, y)
        assert model.coef_ == 0.0
        assert model.converged_


# --- distributions from means --------------------------------------------------------------------------

OF_MEANS = ["newton", "lbfgs", "bfgs", "gradient", "conjugate-gradient", "gis", "iis"]


@pytest.mark.parametrize("solver", OF_MEANS)
def test_a_distribution_of_largest_entropy(solver):
    rng = np.random.default_rng(0)
    F = rng.normal(size=(7, 2))
    means = rng.dirichlet(np.ones(7)) @ F
    tol = 1e-7 if solver in SCALING else 1e-10
    found = maximum_entropy_distribution(F, means, solver=solver, tol=tol, max_iter=3000)
    p = found.probability
    np.testing.assert_allclose(p @ F, means, atol=1e-7)
    np.testing.assert_allclose(p, np.exp(found.constant + F @ found.weights), rtol=1e-12)
    np.testing.assert_allclose(found.trace[-1], found.entropy, atol=1e-6)
    assert (np.diff(found.trace) <= 1e-12).all()
    # By a general method, over the probabilities themselves.
    constraints = {"type": "eq", "fun": lambda q: np.append(q @ F - means, q.sum() - 1.0)}
    start, bounds = np.full(7, 1 / 7), [(1e-9, 1.0)] * 7
    other = minimize(lambda q: q @ np.log(q), start, bounds=bounds, constraints=constraints, tol=1e-12)
    np.testing.assert_allclose(p, other.x, atol=1e-5)


@pytest.mark.parametrize("solver", ["ipf", "newton", "lbfgs"])
def test_marginals_of_a_table(solver):
    rng = np.random.default_rng(1)
    q = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    pairs = {(0, 1): q.sum(axis=2), (2, 1): q.sum(axis=0).T, (0, 2): q.sum(axis=1)}
    found = maximum_entropy_distribution(pairs, solver=solver, tol=1e-9)
    p = found.probability
    assert p.shape == q.shape
    for axis in range(3):
        np.testing.assert_allclose(p.sum(axis=axis), q.sum(axis=axis), atol=1e-8)
    assert found.entropy > -(q * np.log(q)).sum()
    # No interaction of all three: the ratio of odds ratios is one.
    odds = p[:, :2, 0] / p[:, :2, 1]
    np.testing.assert_allclose(odds[0, 0] * odds[1, 1] / (odds[0, 1] * odds[1, 0]), 1.0, rtol=1e-6)
    np.testing.assert_allclose(found.trace[-1], found.entropy, atol=1e-7)


def test_a_chain_of_marginals_has_the_markov_property():
    q = np.random.default_rng(2).dirichlet(np.ones(12)).reshape(2, 3, 2)
    first_, last = q.sum(axis=2), q.sum(axis=0)
    p = maximum_entropy_distribution({(0, 1): first_, (1, 2): last}, solver="ipf").probability
    np.testing.assert_allclose(p, first_[:, :, None] * last[None] / last.sum(axis=1)[:, None], atol=1e-9)
    first_ = first_ * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    first_ /= first_.sum()
    last = last / last.sum(axis=1)[:, None] * first_.sum(axis=0)[:, None]
    p = maximum_entropy_distribution({(0, 1): first_, (1, 2): last}, solver="ipf").probability
    np.testing.assert_allclose(p.sum(axis=2), first_, atol=1e-9)
    assert (p[0, 2] == 0).all()


def test_proportional_fitting_of_single_features():
    F = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0]]).T
    ipf, newton = (maximum_entropy_distribution(F, [0.3, 0.5], solver=s) for s in ("ipf", "newton"))
    np.testing.assert_allclose(ipf.probability, newton.probability, atol=1e-9)
    certain = maximum_entropy_distribution(F[:, 0], 1.0, solver="ipf")
    np.testing.assert_allclose(certain.probability, [0.5, 0.5, 0, 0, 0], atol=1e-12)


def test_no_constraint_is_uniform_and_the_edge_is_reached():
    np.testing.assert_allclose(maximum_entropy_distribution(np.zeros((4, 0)), []).probability, 0.25)
    np.testing.assert_allclose(maximum_entropy_distribution(np.zeros((4, 1)), [0.0]).probability, 0.25)
    edge = maximum_entropy_distribution(np.arange(1, 7), 6.0, tol=1e-8).probability
    np.testing.assert_allclose(edge, [0, 0, 0, 0, 0, 1], atol=1e-7)


@pytest.mark.parametrize(
    ("given", "how", "said"),
    [
        ((np.arange(6), 7.0), {}, "No distribution"),
        ((np.eye(3)[:, :2], [0.7, 0.7]), {"solver": "ipf", "max_iter": 20}, "No distribution"),
        ((np.arange(6), 7.0), {"solver": "iis", "max_iter": 20}, "No distribution"),
        ((np.arange(6), [1.0, 2.0]), {}, r"expected \(V, P\)"),
        ((np.arange(6),), {}, r"expected \(V, P\)|NaN"),
        (([1.0, np.nan], 1.0), {}, "NaN"),
        ((np.arange(6), 2.0), {"solver": "magic"}, "unknown"),
        ((np.arange(6), 2.0), {"solver": "ipf"}, "zero or one"),
        (({(0, 1): np.full((2, 2), 0.25)}, 1.0), {}, "leave means out"),
        (({(0, 1): np.full((2, 2), 0.25), (1,): [0.2, 0.3, 0.5]},), {}, "as long as"),
        (({(0, 2): np.full((2, 2), 0.25)},), {}, "each in one at least"),
        (({(0,): [0.2, 0.9]},), {}, "add up to 1"),
    ],
)
def test_distributions_refused_in_words(given, how, said):
    with pytest.raises(ValueError, match=said):
        maximum_entropy_distribution(*given, **how)


def test_a_distribution_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        found = maximum_entropy_distribution(np.arange(1, 7), 4.0, solver="gis", max_iter=3)
    assert not found.converged


def test_the_least_norm_is_linear():
    F = np.random.default_rng(0).random((6, 2))
    means = np.full(6, 1 / 6) @ F + 0.01
    found = minimum_norm_distribution(F, means)
    np.testing.assert_allclose(found.probability @ F, means, rtol=1e-10)
    np.testing.assert_allclose(found.probability.sum(), 1.0)
    np.testing.assert_allclose(found.probability, found.constant + F @ found.weights)
    A = np.column_stack([np.ones(6), F]).T
    np.testing.assert_allclose(found.probability, np.linalg.lstsq(A, np.append(1.0, means))[0], atol=1e-10)
    assert minimum_norm_distribution(np.arange(1, 7), 6.0).probability.min() < 0
    with pytest.raises(ValueError, match="contradict"):
        minimum_norm_distribution(np.ones((3, 2)), [0.5, 0.7])


# --- features chosen one by one ------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_gains_are_what_fits_and_lines_say(C):
    X, y = problem()
    features = [first, second, either, both]
    how = {"C": C, "tol": 1e-9}
    exact, near = (
        select_features(MaximumEntropy(features, **how), X, y, n_features=3, gain=gain)
        for gain in ("exact", "approximate")
    )
    assert exact.chosen.tolist() == near.chosen.tolist()
    np.testing.assert_allclose(exact.candidates[0], near.candidates[0], atol=1e-8)  # nothing else could move
    np.testing.assert_allclose(exact.weights[0], near.weights[0], atol=1e-5)
    rest = ~np.isnan(exact.candidates[1:])
    assert (near.candidates[1:][rest] <= exact.candidates[1:][rest] + 1e-9).all()
    # The gains of exact steps are the differences of fits.
    kept = [features[p] for p in exact.chosen]
    values = [np.log(3.0), *(MaximumEntropy(kept[: n + 1], **how).fit(X, y).trace_[-1] for n in range(3))]
    np.testing.assert_allclose(exact.gains, -np.diff(values), atol=1e-8)
    np.testing.assert_allclose(exact.estimator.trace_[-1], values[-1], atol=1e-8)
    # An approximate gain is at the top of its line.
    F, codes = tensor(features, X, "abc"), np.searchsorted(["a", "b", "c"], y)
    one = near.chosen[0]
    theta = np.zeros(4)
    theta[one] = near.weights[0][one]
    for p in sorted({0, 1, 2, 3} - {one}):

        def loss(alpha, p=p):
            w = theta + alpha * np.eye(4)[p]
            log_p = log_softmax(F @ w, axis=1)[np.arange(len(F)), codes]
            return -log_p.mean() + 0.5 / C * w @ w / len(F)

        best = minimize_scalar(loss, bounds=(-9, 9), method="bounded", options={"xatol": 1e-9})
        np.testing.assert_allclose(near.candidates[1][p], loss(0.0) - best.fun, atol=1e-8)


def test_selection_from_products_and_matrices():
    X, y = problem(100)
    weight = np.random.default_rng(0).integers(1, 3, size=100)
    one = select_features(MaximumEntropy(), X, y, weight, n_features=3)
    with cut_at(13):
        two = select_features(
            MaximumEntropy(), np.repeat(X, weight, axis=0), np.repeat(y, weight), n_features=3
        )
    assert one.chosen.tolist() == two.chosen.tolist()
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-8)
    assert one.estimator.coef_.shape == (3,)
    assert one.estimator.predict_proba(X).shape == (100, 3)


def test_selection_ends_where_nothing_is_gained():
    X, y = problem()
    none = lambda x, c: 1.0  # noqa: E731
    found = select_features(MaximumEntropy([none, first]), X, y, n_features=5, min_gain=1e-6)
    assert found.chosen.tolist() == [1]
    with pytest.raises(ValueError, match="min_gain"):
        select_features(MaximumEntropy([none]), X, y, n_features=1)
    for how, said in (({"gain": "magic"}, "unknown"), ({"n_features": 0}, "at least 1")):
        with pytest.raises(ValueError, match=said):
            select_features(MaximumEntropy([first]), X, y, **({"n_features": 1} | how))


# --- on a cluster --------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [FEATURES, [np.ones((2, 5))] * 3], ids=["functions", "matrices"])
def test_features_of_no_rows(features):
    X, y = problem(5)
    none = listed(features, np.array(["a", "b", "c"]), Rows(X, y)[:0])
    assert len(none) == 0
    assert none.X.shape == (0, len(FEATURES) if callable(features[0]) else 5)


@pytest.mark.slow
@pytest.mark.timeout(300, method="thread")  # what a signal raises is lost inside ray.get
@pytest.mark.filterwarnings("ignore")
def test_on_ray_the_bits_are_those_of_the_same_blocks_here(ray_here, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = problem(400)
    parts = [slice(n, n + 100) for n in range(0, 400, 100)]
    tables = [pa.table({"u": X[part, 0], "v": X[part, 1], "label": y[part]}) for part in parts]
    for n, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{n}.parquet")
    features = [lambda x, c: x[0] * (c == "a"), lambda x, c: x[1] * (c == "b"), lambda x, c: float(c != "c")]
    sources = suffice.scan_parquet(tmp_path), ray_here.data.from_arrow(tables)
    here, there = (suffice.rows(source, target="label") for source in sources)
    for solver in ("lbfgs", "iis"):
        model = MaximumEntropy(features, solver=solver, max_iter=10)
        assert bits(model.fit(here).coef_) == bits(model.fit(there).coef_)
    chosen = [select_features(MaximumEntropy(features), rows, n_features=2) for rows in (here, there)]
    assert bits(chosen[0].gains) == bits(chosen[1].gains)
    assert chosen[0].chosen.tolist() == chosen[1].chosen.tolist()


# --- the loops by themselves ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_conjugate_gradients_on_a_narrow_valley(seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    curvature, b = np.logspace(0, 5, 6), rng.normal(size=6)

    def valley(x):  # along its axes: x'Ax loses five digits to cancellation, more than the last steps gain
        z = Q.T @ x
        return float((0.5 * curvature * z * z - b * z).sum()), Q @ (curvature * z - b)

    found = conjugate_gradient(valley, np.zeros(6), tol=1e-9, max_iter=500)
    assert found.converged
    np.testing.assert_allclose(found.model, Q @ (b / curvature), rtol=1e-8)


def test_conjugate_gradients_on_a_round_valley_and_on_none():
    few = conjugate_gradient(lambda x: (0.5 * x @ x - x.sum(), x - 1.0), np.zeros(6))
    assert few.n_iter == 1
    lies = conjugate_gradient(lambda x: (float(x @ x), -2.0 * x), np.ones(3), max_iter=5)
    assert lies.stopped_because == "line search"


def test_one_coordinate_after_the_other():
    A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    x = gauss_seidel_sweep(A, np.array([8.0, 5.0, 0.0]))
    np.testing.assert_allclose(x, [2.0, 1.0, 0.0])  # 8 / 4, then (5 - 2) / 3; nothing can be said of the last
