"""Perceptrons beside their textbook rules, row by row; their bounds; and what they refuse."""

from __future__ import annotations

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
from suffice.linear_model import Perceptron
from suffice.loops.perceptron import dual, primal

VARIANTS = ("plain", "averaged", "voted", "pocket", "margin")


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
    margin, eta, epochs = np.array([0.3, 0.1]), 0.5, 6
    gram = X @ X.T
    w, steps, path = taught(X, y, times, margin, eta, epochs, gram if form == "dual" else None)
    codes, order, N = (y > 0).astype(np.int64), np.arange(len(X)), len(X)
    Z = sp.csr_array(np.column_stack([X, np.ones(N)]))
    W = np.zeros((1, N)) if form == "dual" else np.zeros((4, 1))
    state = {k: np.zeros(1) for k in ("visits", "steps", "loss", "run", "tried")} | {"best": np.array([-1.0])}
    late, F, pocket, logs = np.zeros_like(W), np.zeros((1, N)), np.zeros_like(W), []
    weight, active = times.astype(float), np.ones(1, bool)
    for _ in range(epochs):
        before = state["steps"].copy()
        state["loss"][:] = 0.0
        end = (state["steps"], state["loss"], True, state["run"], state["tried"], state["best"], pocket, True)
        if form == "dual":
            given = (gram + 1.0, codes, weight, order, margin, eta, active, W, late, F, state["visits"])
            logs.append(dual(*given, *end))
        else:
            given = (Z.data, Z.indices, Z.indptr, codes, weight, order, margin, eta, active, W, late)
            logs.append(primal(*given, state["visits"], *end))
        if state["steps"][0] == before[0]:
            break
    log = np.concatenate(logs)
    np.testing.assert_allclose(W.ravel(), w, atol=1e-12)
    assert log[:, 1].tolist() == steps
    assert state["steps"][0] == len(steps)
    assert state["visits"][0] == len(path)
    np.testing.assert_allclose((W - late / len(path)).ravel(), path.mean(axis=0), atol=1e-12)
    # The log tells when each step was: at the visits after which the weights are others.
    moved = np.any(np.diff(path, axis=0, prepend=np.zeros((1, path.shape[1]))) != 0, axis=1)
    assert log[:, 3].tolist() == np.flatnonzero(moved).tolist()
    if form == "dual":
        np.testing.assert_allclose(F[0], (gram + 1.0) @ w, atol=1e-10)
    right = lambda v: times @ ((_scores(form, v, X, gram) >= 0) == (y > 0))  # noqa: E731
    assert state["best"][0] == right(pocket.ravel())
    assert state["best"][0] >= right(w)
    assert state["best"][0] <= max(right(v) for v in path)


def _scores(form, w, X, gram):
    return (gram + 1.0) @ w if form == "dual" else X @ w[:-1] + w[-1]


@pytest.mark.parametrize("algorithm", ["primal", "dual"])
@pytest.mark.parametrize("gap", [0.0, 0.6])
def test_every_variant_predicts_with_the_weights_it_says(algorithm, gap):
    X, y = rows(gap=gap)
    how = {"shuffle": False, "max_iter": 6, "tol": None, "algorithm": algorithm}
    for variant in VARIANTS:
        margin = (0.3, 0.1) if variant == "margin" else (0.0, 0.0)
        w, steps, path = taught(X, y, np.ones(len(X), int), margin, 1.0, 6)
        model = Perceptron(variant=variant, margin=margin, **how)
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
    how = {"algorithm": "dual", "variant": variant, "shuffle": False, "max_iter": 15}
    named = {} if callable(kernel) else {"gamma": 0.4, "degree": 2, "coef0": 0.5}
    model = Perceptron(kernel=kernel, **named, **how).fit(X, y)
    gram = (
        kernel(X, X) if callable(kernel) else pairwise_kernels(X, metric=kernel, filter_params=True, **named)
    )
    given = Perceptron(kernel="precomputed", **how).fit(gram, y)
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
    model = Perceptron(algorithm="dual", kernel="rbf", gamma=1.0).fit(X, y)
    assert model.separated_.all()
    assert model.predict(X).tolist() == y
    assert model.mistakes_ <= model.mistake_bound_
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    assert (again.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize("algorithm", ["primal", "dual"])
@pytest.mark.parametrize("margin", [0.0, 1.0, 20.0])
def test_steps_are_within_the_bound(algorithm, margin):
    """Novikoff's, and that of steps at a margin; by the hyperplane that was learnt."""
    for seed in range(3):
        X, y = rows(60, 2, gap=0.4, seed=seed)
        weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.5], size=60)
        model = Perceptron(variant="margin", margin=margin, algorithm=algorithm, tol=None, eta0=0.3)
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
        model = Perceptron(variant="margin", margin=margin, tol=None, max_iter=10**5).fit(X, y)
        theta = np.append(model.coef_[0], model.intercept_)
        found.append((y * (Z @ theta)).min() / np.linalg.norm(theta))
        assert found[-1] >= best * margin / (2 * margin + square) - 1e-3
    assert found[2] > found[0]


def test_uneven_margins_move_the_border():
    X, y = rows(200, gap=0.5)
    few, many = (
        Perceptron(variant="margin", margin=m, tol=None).fit(X, y) for m in ((50.0, 0.0), (0.0, 50.0))
    )
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
    for algorithm in ("primal", "dual"):
        how = {"variant": variant, "algorithm": algorithm, "max_iter": 8, "random_state": 5}
        whole = Perceptron(**how).fit(X, y).decision_function(X)
        np.testing.assert_allclose(Perceptron(**how).fit(X[order], y[order]).decision_function(X), whole)
        weighted = Perceptron(**how).fit(X, y, sample_weight=times)
        repeated = Perceptron(**how).fit(X[again], y[again])
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(weighted.mistakes_, repeated.mistakes_)
        other = Perceptron(**how | {"random_state": 6}).fit(X, y).decision_function(X)
        assert variant == "pocket" or not np.allclose(other, whole)


def test_weights_beyond_reason():
    """A row without length can be visited for ever; so can one of weight 1e18."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 1e-200]])
    for algorithm in ("primal", "dual"):
        for variant in VARIANTS:
            model = Perceptron(
                fit_intercept=False, algorithm=algorithm, variant=variant, max_iter=5, tol=None
            )
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
        how = {"shuffle": False, "variant": variant}
        with pytest.warns(ConvergenceWarning):
            whole = Perceptron(max_iter=2, tol=None, **how).fit(X, y)
        parts = Perceptron(**how)
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
    np.testing.assert_allclose(
        Perceptron(shuffle=False).partial_fit(X, y).partial_fit(X, y).coef_, theirs.coef_
    )
    with pytest.raises(ValueError, match="classes of the first call"):
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
    with pytest.raises(ValueError, match=r"coef_init has shape \(1, 2\), expected \(1, 3\)"):
        Perceptron().fit(X, y, coef_init=[[1.0, 2.0]])
    with pytest.raises(ValueError, match="primal"):
        Perceptron(algorithm="dual").fit(X, y, coef_init=first.coef_)


def test_nothing_is_left_of_a_fit_with_other_options():
    X, y = rows(30, gap=0.5)
    model = Perceptron(algorithm="dual", variant="voted").fit(X, y)
    model.set_params(algorithm="primal", variant="plain", warm_start=True).fit(X, y)
    assert not {"support_", "dual_coef_", "updates_", "votes_"} & set(vars(model))
    model.set_params(algorithm="dual", kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")
    assert np.isfinite(model.mistake_bound_).all()  # it has started from zero


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_in_dual_form(kernel):
    X, y = rows(40)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    how = {"algorithm": "dual", "kernel": kernel, "variant": "averaged"}
    dense, sparse = Perceptron(**how).fit(X, y), Perceptron(**how).fit(sp.csr_array(X), y)
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
    from_files = Perceptron(max_iter=7, tol=None, variant="averaged")
    here = Perceptron(max_iter=7, tol=None, variant="averaged")
    with pytest.warns(ConvergenceWarning):
        from_files.fit(suffice.rows(scan, target="y"))
    with pytest.warns(ConvergenceWarning):
        here.fit(X, y)
    assert (from_files.coef_ == here.coef_).all()
    assert from_files.mistakes_ == here.mistakes_


def test_what_is_refused():
    X, y = rows(20)
    for how, words in (
        ({"penalty": "l2"}, "SGDClassifier"),
        ({"early_stopping": True}, "pocket"),
        ({"algorithm": "gram"}, "'algorithm' parameter"),
        ({"variant": "winnow"}, "'averaged'"),
        ({"kernel": "rbf"}, "algorithm='dual'"),
        ({"eta0": 0.0}, "'eta0' parameter"),
        ({"variant": "margin", "margin": (1.0, 2.0, 3.0)}, "a pair"),
        ({"max_iter": 0}, "'max_iter' parameter"),
    ):
        with pytest.raises(ValueError, match=words):
            Perceptron(**how).fit(X, y)
    with pytest.raises(AttributeError) as refused:
        Perceptron(variant="voted").partial_fit(X, y)
    assert "earlier calls" in str(refused.value.__cause__)
    with pytest.raises(ValueError, match="square"):
        Perceptron(algorithm="dual", kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        Perceptron().fit(np.where(X > 1, np.nan, X), y)
