"""Perceptrons beside their textbook rules, row by row; their bounds; and what they refuse."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Theirs
from sklearn.metrics.pairwise import pairwise_kernels

import suffice
from suffice.linear_model import (
    KernelPerceptron,
    MarginPerceptron,
    Perceptron,
    PocketPerceptron,
    SGDClassifier,
    VotedPerceptron,
)
from suffice.loops.perceptron import Rule, dual, sparse_primal

VARIANTS = ("plain", "averaged", "voted", "pocket", "margin")
CLASSES = {"voted": VotedPerceptron, "pocket": PocketPerceptron, "margin": MarginPerceptron}
KERNELS = [None, "linear"]  # primal and dual form


def perceptron(variant, kernel=None, **params):
    """A perceptron by the name of its variant: in dual form if there is a kernel."""
    if variant in CLASSES:
        return CLASSES[variant](kernel=kernel, **params)
    dual_form = {} if kernel is None else {"kernel": kernel}
    return (KernelPerceptron if dual_form else Perceptron)(
        average=variant == "averaged", **dual_form, **params
    )


def rows(n=40, d=3, gap=0.0, seed=0):
    """Two classes, of which a hyperplane is the border if there is a gap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ np.arange(1.0, d + 1) - 0.5
    if not gap:
        score += rng.normal(size=n)
    y = np.where(score > 0, 1, -1)
    X[:, 0] += gap * y
    return X, y


def taught(X, y, times, margin, eta, epochs, gram=None):
    """The rules as they are printed: every perceptron there was, the steps, and those visits it stood after.

    A row of `times` t is visited t times. In dual form the weights are those of the rows.
    """
    N = len(X)
    Z = np.column_stack([X, np.ones(N)])
    w = np.zeros(N if gram is not None else Z.shape[1])
    steps, path = [], []
    for _ in range(epochs):
        before = len(steps)
        for n in range(N):
            for _ in range(times[n]):
                score = w @ (gram[:, n] + 1.0) if gram is not None else w @ Z[n]
                if y[n] * score <= margin[int(y[n] > 0)]:
                    w = w + eta * y[n] * (np.eye(N)[n] if gram is not None else Z[n])
                    steps.append(n)
                path.append(w)
        if len(steps) == before:
            break
    return w, steps, np.array(path)


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("gap", [0.0, 0.6])
def test_loops_do_as_the_rules_say(form, gap):
    """Compiled epochs beside the rules: last weights, mean, votes, steps; with rows of weight 0 to 3."""
    X, y = rows(gap=gap)
    times = np.random.default_rng(1).integers(0, 4, size=len(X))
    margin, eta, epochs = np.array([0.3, 0.1]), 0.1, 6  # small: some rows take several updates at one visit
    gram = X @ X.T
    w, steps, path = taught(X, y, times, margin, eta, epochs, gram if form == "dual" else None)
    codes, order, N = (y > 0).astype(np.int64), np.arange(len(X)), len(X)
    Z = sp.csr_array(np.column_stack([X, np.ones(N)]))
    W = np.zeros((1, N)) if form == "dual" else np.zeros((4, 1))
    late, F, pocket, logs = np.zeros_like(W), np.zeros((1, N)), np.zeros_like(W), []
    visits, updates, run, tried = np.zeros((4, 1))
    best = np.array([-1.0])
    numbers = visits, updates, run, tried, best
    how = codes, times.astype(float), order, Rule(*margin, eta, True, True), np.ones(1, bool)
    for _ in range(epochs):
        before = updates[0]
        if form == "dual":
            _, log = dual(gram + 1.0, *how, W, late, pocket, F, *numbers)
        else:
            _, log = sparse_primal(Z.data, Z.indices, Z.indptr, *how, W, late, pocket, *numbers)
        logs.append(log)
        if updates[0] == before:
            break
    log = np.concatenate(logs)
    np.testing.assert_allclose(W.ravel(), w, atol=1e-12)
    assert log[:, 1].tolist() == steps
    assert updates[0] == len(steps)
    assert visits[0] == len(path)
    np.testing.assert_allclose((W - late / len(path)).ravel(), path.mean(axis=0), atol=1e-12)
    # The log tells when each step was: at the visits after which the weights are others.
    moved = np.any(np.diff(path, axis=0, prepend=np.zeros((1, path.shape[1]))) != 0, axis=1)
    assert log[:, 3].tolist() == np.flatnonzero(moved).tolist()
    if form == "dual":
        np.testing.assert_allclose(F[0], (gram + 1.0) @ w, atol=1e-10)
    right = lambda v: times @ ((_scores(form, v, X, gram) >= 0) == (y > 0))  # noqa: E731
    assert best[0] == right(pocket.ravel())
    assert best[0] >= right(w)
    assert best[0] <= max(right(v) for v in path)


def _scores(form, w, X, gram):
    return (gram + 1.0) @ w if form == "dual" else X @ w[:-1] + w[-1]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gap", [0.0, 0.6])
def test_every_variant_predicts_with_the_weights_it_says(kernel, gap):
    X, y = rows(gap=gap)
    for variant in VARIANTS:
        margin = (0.3, 0.1) if variant == "margin" else (0.0, 0.0)
        w, steps, path = taught(X, y, np.ones(len(X), int), margin, 1.0, 6)
        model = perceptron(variant, kernel, shuffle=False, max_iter=6, tol=None)
        if variant == "margin":
            model.set_params(margin=margin)
        if gap and len(path) < 6 * len(X):
            model.fit(X, y)
        else:
            with pytest.warns(ConvergenceWarning):
                model.fit(X, y)
        assert model.mistakes_ == [len(steps)]
        scores = {
            "plain": X @ w[:-1] + w[-1],
            "averaged": X @ path.mean(axis=0)[:-1] + path.mean(axis=0)[-1],
            "voted": np.where(X @ path[:, :-1].T + path[:, -1] >= 0, 1.0, -1.0).mean(axis=1),
            "margin": X @ w[:-1] + w[-1],
        }
        if variant == "pocket":
            shares = [(np.where(X @ v[:-1] + v[-1] >= 0, 1, -1) == y).mean() for v in path]
            assert shares[-1] <= model.score(X, y) <= max(shares)
        else:
            np.testing.assert_allclose(model.decision_function(X), scores[variant], atol=1e-12)
        if variant == "voted":
            assert model.updates_[0].tolist() == steps
            assert model.votes_[0].sum() == len(path)


@pytest.mark.parametrize(
    "how", [{}, {"eta0": 0.1}, {"fit_intercept": False}, {"max_iter": 3}, {"tol": None}], ids=str
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_as_scikit_learn(how):
    """Rows as they came, whose order is the same for both: same weights, same number of epochs."""
    X, y = load_iris(return_X_y=True)
    how = {"max_iter": 40} | how
    for rows_, labels in ((X, y), (X[:100], y[:100]), (X[50:], y[50:])):
        ours = Perceptron(shuffle=False, **how).fit(rows_, labels)
        theirs = Theirs(shuffle=False, **how).fit(rows_, labels)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)
        # An epoch without a mistake is the end: theirs goes on, and nothing changes.
        assert ours.n_iter_ == theirs.n_iter_ or (ours.separated_.all() and ours.n_iter_ < theirs.n_iter_)
        assert (ours.predict(rows_) == theirs.predict(rows_)).all()


@pytest.mark.parametrize("kernel", ["poly", "rbf", lambda a, b: np.tanh(a @ b.T)])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernels_are_the_gram_matrix(kernel, variant):
    """By name, by a function, and as a matrix: the same; and by features that have these products."""
    X, y = rows(60)
    how = {"shuffle": False, "max_iter": 15}
    if variant == "margin":
        how["margin"] = 0.2
    named = {} if callable(kernel) else {"gamma": 0.4, "degree": 2, "coef0": 0.5}
    model = perceptron(variant, kernel, kernel_params=named, **how).fit(X, y)
    gram = (
        kernel(X, X) if callable(kernel) else pairwise_kernels(X, metric=kernel, filter_params=True, **named)
    )
    given = perceptron(variant, "precomputed", **how).fit(gram, y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(gram), atol=1e-9)
    assert model.support_.tolist() == given.support_.tolist()
    assert not hasattr(model, "coef_")
    assert model.dual_coef_.shape == (1, len(model.support_))
    if variant == "plain":
        w, steps, _ = taught(X, y, np.ones(60, int), (0.0, 0.0), 1.0, model.n_iter_, gram)
        assert model.mistakes_ == [len(steps)]
        np.testing.assert_allclose(model.dual_coef_[0], w[model.support_])
        np.testing.assert_allclose(model.intercept_, w.sum())


def test_kernels_separate_what_no_hyperplane_does(tmp_path):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = ["a", "b", "b", "a"]
    model = KernelPerceptron(kernel="rbf", kernel_params={"gamma": 1.0}).fit(X, y)
    assert model.separated_.all()
    assert model.predict(X).tolist() == y
    assert model.mistakes_ <= model.mistake_bound_
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    assert (again.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("margin", [0.0, 1.0, 20.0])
def test_steps_are_within_the_bound(kernel, margin):
    """Novikoff's, and that of steps at a margin; by the hyperplane that was learnt."""
    for seed in range(3):
        X, y = rows(60, 2, gap=0.4, seed=seed)
        weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.5], size=60)
        model = MarginPerceptron(margin=margin, kernel=kernel, tol=None, eta0=0.3)
        model.fit(X, y, sample_weight=weight)
        assert model.separated_.all()
        assert model.stopped_because_ == "tolerance"
        assert 0 < model.mistakes_[0] <= model.mistake_bound_[0] < np.inf
        Z, theta = np.column_stack([X, np.ones(60)]), np.append(model.coef_[0], model.intercept_)
        gamma = (y * (Z @ theta)).min() / np.linalg.norm(theta)
        reach = (Z**2).sum(axis=1).max() + 2 * margin / 0.3
        np.testing.assert_allclose(model.mistake_bound_, reach / gamma**2, rtol=1e-10)


def test_a_wide_margin_gives_a_wide_border():
    """Steps at a margin m reach at least m / (2 m + eta R^2) of the best margin: Krauth and Mezard, 1987."""
    X, y = rows(80, 2, gap=0.8, seed=3)
    Z = np.column_stack([X, np.ones(80)])
    angle, lift = (
        part.ravel() for part in np.meshgrid(np.linspace(-3.2, 3.2, 300), np.linspace(-1.5, 1.5, 150))
    )
    u = np.array([np.cos(angle) * np.cos(lift), np.sin(angle) * np.cos(lift), np.sin(lift)])
    best = (y[:, None] * (Z @ u)).min(axis=0).max()
    square, found = (Z**2).sum(axis=1).max(), []
    for margin in (0.0, 10.0, 200.0):
        model = MarginPerceptron(margin=margin, tol=None, max_iter=10**5).fit(X, y)
        theta = np.append(model.coef_[0], model.intercept_)
        found.append((y * (Z @ theta)).min() / np.linalg.norm(theta))
        assert found[-1] >= best * margin / (2 * margin + square) - 1e-3
    assert found[2] > found[0]


def test_uneven_margins_move_the_border():
    X, y = rows(200, gap=0.5)
    few, many = (MarginPerceptron(margin=m, tol=None).fit(X, y) for m in ((50.0, 0.0), (0.0, 50.0)))
    nearest = [np.abs(model.decision_function(X))[y > 0].min() for model in (few, many)]
    assert nearest[1] > 50.0 > nearest[0]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_order_of_the_rows_is_their_own(variant):
    """Shuffled by numbers made of them: neither the order in which they came nor repetition matters."""
    X, _ = rows(90)
    y = np.array(["a", "b", "c"])[np.digitize(X @ [1.0, 2.0, 3.0] + 0.1 * X[:, 0] ** 3, [-1.0, 2.0])]
    order, times = np.random.default_rng(0).permutation(90), np.random.default_rng(1).integers(0, 3, size=90)
    again = np.repeat(np.arange(90), times)
    for kernel in KERNELS:
        fresh = partial(perceptron, variant, kernel, max_iter=8, random_state=5)
        whole = fresh().fit(X, y).decision_function(X)
        np.testing.assert_allclose(fresh().fit(X[order], y[order]).decision_function(X), whole)
        weighted = fresh().fit(X, y, sample_weight=times)
        repeated = fresh().fit(X[again], y[again])
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(weighted.mistakes_, repeated.mistakes_)
        other = fresh(random_state=6).fit(X, y).decision_function(X)
        assert variant == "pocket" or not np.allclose(other, whole)


def test_weights_beyond_reason():
    """A row without length can be visited for ever; so can one of weight 1e18."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 1e-200]])
    for kernel in KERNELS:
        for variant in VARIANTS:
            model = perceptron(variant, kernel, fit_intercept=False, max_iter=5, tol=None)
            with pytest.warns(ConvergenceWarning):
                model.fit(X, [0, 1, 0], sample_weight=[1e18, 1e18, 0.5])
            assert np.isfinite(model.decision_function(X)).all()


def test_rows_whose_products_overflow_are_refused():
    X, y = rows(30)
    with pytest.raises(ValueError, match=r"Perceptron takes numbers up to 1e\+150"):
        Perceptron(fit_intercept=False, shuffle=False, max_iter=50).fit(1e200 * X, y)


def test_partial_fit_goes_on():
    """One row at a time is an epoch; scikit-learn's does the same."""
    X, y = rows(20)
    for variant in ("plain", "averaged", "margin"):
        with pytest.warns(ConvergenceWarning):
            whole = perceptron(variant, shuffle=False, max_iter=2, tol=None).fit(X, y)
        parts = perceptron(variant, shuffle=False)
        for _ in range(2):
            for n in range(len(X)):
                parts.partial_fit(X[n : n + 1], y[n : n + 1], classes=[-1, 1])
        np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
        assert parts.mistakes_ == whole.mistakes_
        assert parts.t_ == whole.t_
        assert not parts.converged_
    theirs = Theirs(shuffle=False)
    for _ in range(2):
        theirs.partial_fit(X, y, classes=[-1, 1])
    twice = Perceptron(shuffle=False).partial_fit(X, y, classes=[-1, 1]).partial_fit(X, y)
    np.testing.assert_allclose(twice.coef_, theirs.coef_)
    with pytest.raises(ValueError, match=r"classes must be passed on the first call to partial_fit\."):
        Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="not the same as on last call to partial_fit"):
        parts.partial_fit(X, y, classes=[0, 1])


def test_starts():
    X, y = rows(50, gap=0.5)
    first = Perceptron().fit(X, y)
    from_there = Perceptron().fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    assert from_there.mistakes_ == [0]
    assert from_there.n_iter_ == 1
    assert from_there.mistake_bound_ == [np.inf]
    warm = Perceptron(warm_start=True).fit(X, y)
    assert warm.fit(X, y).mistakes_ == [0]
    with pytest.raises(
        ValueError, match=r"coef_init does not match dataset: it has shape \(1, 2\), expected \(1, 3\)"
    ):
        Perceptron().fit(X, y, coef_init=[[1.0, 2.0]])
    for cls in (MarginPerceptron, PocketPerceptron):
        there = cls().fit(X, y, coef_init=50.0 * first.coef_, intercept_init=50.0 * first.intercept_)
        assert there.mistakes_ == [0]
        with pytest.raises(ValueError, match="Use kernel=None"):
            cls(kernel="rbf").fit(X, y, coef_init=first.coef_)


def test_nothing_is_left_of_a_fit_with_another_kernel():
    X, y = rows(30, gap=0.5)
    model = MarginPerceptron(kernel="linear").fit(X, y)
    model.set_params(kernel=None).fit(X, y)
    assert not {"support_", "support_vectors_", "dual_coef_"} & set(vars(model))
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")
    assert model._epochs is None
    assert np.isfinite(model.mistake_bound_).all()  # it has started from zero


@pytest.mark.parametrize("kernel", KERNELS)
def test_guarantees(kernel):
    """Forms with row numbers among their attributes depend on the order of the rows; all gather them."""
    exact = {name: perceptron(name, kernel)._guarantee().exact for name in VARIANTS}
    others = "rounding" if kernel is None else "order"
    assert exact == dict.fromkeys(VARIANTS, others) | {"voted": "order"}
    assert all(perceptron(name, kernel)._guarantee().gathers for name in VARIANTS)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_in_dual_form(kernel):
    X, y = rows(40)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (KernelPerceptron(kernel=kernel, average=True).fit(Z, y) for Z in (X, sp.csr_array(X)))
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-9
    )


def test_rows_that_are_elsewhere_are_brought_here(tmp_path):
    X, y = rows(500)
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}
    for n in range(3):
        part = pa.table({name: values[n::3] for name, values in columns.items()})
        pq.write_table(part, tmp_path / f"{n}.parquet")
    scan = suffice.scan_parquet(tmp_path)
    from_files = Perceptron(max_iter=7, tol=None, average=True)
    here = Perceptron(max_iter=7, tol=None, average=True)
    with pytest.warns(ConvergenceWarning):
        from_files.fit(suffice.rows(scan, target="y"))
    with pytest.warns(ConvergenceWarning):
        here.fit(X, y)
    assert (from_files.coef_ == here.coef_).all()
    assert from_files.mistakes_ == here.mistakes_


def test_what_is_refused():
    X, y = rows(20)
    for how, words in (
        ({"eta0": 0.0}, "'eta0' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
    ):
        with pytest.raises(ValueError, match=words):
            Perceptron(**how).fit(X, y)
    for how, words in (
        ({"margin": (1.0, 2.0, 3.0)}, "a pair"),
        ({"kernel": "precomputed"}, "square"),
        ({"kernel_params": {"gamma": 1.0}}, "needs the name of a kernel; got kernel=None"),
        ({"kernel": "rbf", "kernel_params": {"sigma": 1.0}}, r"has \['sigma'\]; expected some of \['gamma'"),
        ({"kernel": "rbf", "kernel_params": {"gamma": -1.0}}, "gamma must be finite and non-negative"),
    ):
        with pytest.raises(ValueError, match=words):
            MarginPerceptron(**how).fit(X, y)
    with pytest.raises(AttributeError) as refused:
        MarginPerceptron(kernel="rbf").partial_fit(X, y)
    assert "earlier calls" in str(refused.value.__cause__)
    assert not any(hasattr(cls(), "partial_fit") for cls in (VotedPerceptron, PocketPerceptron))
    with pytest.raises(ValueError, match="NaN"):
        Perceptron().fit(np.where(X > 1, np.nan, X), y)


@pytest.mark.parametrize(
    "options", [{"penalty": "l1", "alpha": 0.01}, {"penalty": "elasticnet"}, {"early_stopping": True}]
)
def test_penalties_and_early_stopping_are_those_of_gradient_descent(tmp_path, options):
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(200, 3)), np.array(["a", "b", "c"])
    y = names[(X @ rng.normal(size=(3, 3))).argmax(axis=1)]
    model = Perceptron(**options).fit(X, y)
    descent = SGDClassifier("perceptron", learning_rate="constant", eta0=1.0, random_state=0)
    descent.set_params(**{"penalty": None} | options).fit(X, y)
    np.testing.assert_array_equal(model.coef_, descent.coef_)
    np.testing.assert_array_equal(model.predict(X), descent.predict(X))
    assert model.n_iter_ == descent.n_iter_ and not hasattr(model, "mistakes_")
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        suffice.load(tmp_path / "model").decision_function(X), model.decision_function(X)
    )
    if "penalty" in options:
        theirs = Theirs(shuffle=False, tol=None, max_iter=3, **options).fit(X, y)
        ours = Perceptron(shuffle=False, tol=None, max_iter=3, **options).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
        parts = Perceptron(shuffle=False, **options).partial_fit(X, y, classes=names).partial_fit(X, y)
        again = SGDClassifier("perceptron", learning_rate="constant", eta0=1.0, shuffle=False, **options)
        again.partial_fit(X, y, classes=names).partial_fit(X, y)
        np.testing.assert_array_equal(parts.coef_, again.coef_)
    else:
        with pytest.raises(ValueError, match="early_stopping should be False with partial_fit"):
            Perceptron(**options).partial_fit(X, y, classes=names)
    plain = model.set_params(penalty=None, early_stopping=False).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, Perceptron().fit(X, y).coef_)
    assert len(plain.mistakes_) == 3
