"""Max-margin chains and the structured perceptron (suffice.loops.margin), against programs of all paths."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

import suffice
from suffice.core.blocks import Sequences, offsets
from suffice.fitting import cutting_planes
from suffice.fitting.planes import best_shares
from suffice.kernels import RBF
from suffice.sequence import Chains, MarginChain, MaxMarginMarkovNetwork, StructuredPerceptron

K, D = 3, 4
SOLVERS = ("cutting-plane", "bcfw", "smo")
HAMMING = 1.0 - np.eye(K)
COSTS = np.array([[0.0, 2.0, 0.5], [1.0, 0.0, 3.0], [0.2, 1.0, 0.0]])


def sequences(count=12, longest=5, seed=0, noise=1.0):
    """Labels that move by chance, features about a centre of each: lists of arrays."""
    rng = np.random.default_rng(seed)
    moves, centres = rng.dirichlet(np.ones(K), size=K), rng.normal(size=(K, D))
    X, y = [], []
    for _ in range(count):
        path = [rng.integers(K)]
        for _ in range(rng.integers(longest)):
            path.append(rng.choice(K, p=moves[path[-1]]))
        y.append(np.array(path))
        X.append(centres[y[-1]] + noise * rng.normal(size=(len(path), D)))
    return X, y


def features(X, y):
    """F(x, y), written out."""
    coef, moves = np.zeros((K, D)), np.zeros((K, K))
    for n, k in enumerate(y):
        coef[k] += X[n]
        if n:
            moves[y[n - 1], k] += 1.0
    return np.concatenate([coef.ravel(), moves.ravel()])


def all_paths(X, y, cost):
    """Of every path of one sequence: F of the true path less its own, and its cost."""
    paths = list(product(range(K), repeat=len(y)))
    difference = np.array([features(X, y) - features(X, path) for path in paths])
    return difference, np.array([sum(cost[t, k] for t, k in zip(y, path, strict=True)) for path in paths])


def objective(w, X, y, C, cost, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    worst = [(c - d @ w).max() for d, c in (all_paths(x, t, cost) for x, t in zip(X, y, strict=True))]
    return 0.5 * w @ w + C * weight @ worst / weight.sum()


def quadratic_programme(X, y, C, cost, weight=None):
    """The least objective, from the dual over all paths: max level' a - |a' differences|^2 / 2."""
    weight = np.ones(len(X)) if weight is None else weight
    parts = [all_paths(x, t, cost) for x, t in zip(X, y, strict=True)]
    A, level = np.concatenate([d for d, _ in parts]), np.concatenate([c for _, c in parts])
    of = np.repeat(np.arange(len(X)), [len(c) for _, c in parts])
    member = (of == np.arange(len(X))[:, None]).astype(float)
    total = C * weight / weight.sum()
    # Starts at the true paths, with all paths that have a share in the end let in one after the other.
    inside = level == 0.0
    share = np.zeros(len(level))
    for s in range(len(X)):
        share[np.flatnonzero(inside & (of == s))[0]] = total[s]
    for _ in range(200):
        w = A.T @ share
        ascent = level - A @ w
        enter = np.array([np.flatnonzero(of == s)[ascent[of == s].argmax()] for s in range(len(X))])
        gap = sum(total[s] * ascent[enter[s]] for s in range(len(X))) - share @ ascent
        if gap < 1e-9:
            break
        inside = (share > 1e-12) | np.isin(np.arange(len(level)), enter)
        B, lv, m = A[inside], level[inside], member[:, inside]
        found = minimize(
            lambda a, B=B, lv=lv: (0.5 * np.sum((B.T @ a) ** 2) - lv @ a, B @ (B.T @ a) - lv),
            share[inside],
            jac=True,
            method="SLSQP",
            bounds=[(0, None)] * len(lv),
            constraints={"type": "eq", "fun": lambda a, m=m: m @ a - total, "jac": lambda a, m=m: m},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        share = np.zeros(len(level))
        share[inside] = np.maximum(found.x, 0.0)
    return A.T @ share, 0.5 * np.sum((A.T @ share) ** 2) + gap + level @ share - np.sum((A.T @ share) ** 2)


def weights(model):
    return np.concatenate([model.coef_.ravel(), model.transitions_.ravel()])


def block_of(X, y, weight=None):
    return Sequences(np.concatenate(X), offsets([len(x) for x in X]), np.concatenate(y), weight)


# --- the model -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [HAMMING, COSTS], ids=["hamming", "costs"])
def test_loss_and_subgradient_are_those_of_the_worst_paths(cost):
    X, y = sequences()
    X.insert(3, np.zeros((0, D)))
    y.insert(3, np.zeros(0, int))
    weight = np.random.default_rng(1).gamma(2.0, size=len(X))
    w = np.random.default_rng(2).normal(size=K * D + K * K)
    model = MarginChain(np.zeros((K, D)), np.zeros((K, K)), np.arange(K), cost).at(w)
    loss, gradient = 0.0, np.zeros(len(w))
    for x, t, v in zip(X, y, weight, strict=True):
        if len(t):
            difference, level = all_paths(x, t, cost)
            worst = (level - difference @ w).argmax()
            loss += v * (level[worst] - difference[worst] @ w)
            gradient -= v * difference[worst]
    for sparse in (False, True):
        block = block_of(X, y, weight)
        s = model.summarize(block.replace(X=sp.csr_array(block.X)) if sparse else block)
        np.testing.assert_allclose(s.loss, loss, rtol=1e-12)
        np.testing.assert_allclose(s.gradient, gradient, atol=1e-12)
        np.testing.assert_allclose(s.weight, weight.sum() - weight[3], rtol=1e-12)


def test_summaries_add():
    X, y = sequences(30)
    w = np.random.default_rng(2).normal(size=K * D + K * K)
    model = MarginChain(np.zeros((K, D)), np.zeros((K, K)), np.arange(K), HAMMING).at(w)
    block = block_of(X, y, np.linspace(0.5, 2.0, 30))
    whole, parts = model.summarize(block), [model.summarize(block[a:b]) for a, b in [(0, 0), (0, 7), (7, 30)]]
    total = parts[0] + parts[1] + parts[2]
    np.testing.assert_allclose(total.gradient, whole.gradient, atol=1e-12)
    np.testing.assert_allclose([total.loss, total.weight], [whole.loss, whole.weight], rtol=1e-12)


def test_a_step_of_estimate_is_that_of_a_perceptron():
    X, y = sequences(1)
    start = MarginChain(np.zeros((K, D)), np.zeros((K, K)), np.arange(K), np.zeros((K, K)))
    after = start.estimate(start.summarize(block_of(X, y)))
    np.testing.assert_allclose(after.theta, features(X[0], y[0]) - features(X[0], np.zeros_like(y[0])))


def test_which_wrong_labels_a_loss_penalises():
    """Conditional likelihood: all of them, by their probability. Margin: the worst one alone, and none if all
    are far behind. (Joint likelihood: none; its counts are those of the true path whatever the others score.)
    Gong and Xu, sections 9.3 and 10.2.4."""
    X, y = sequences(1, 5, seed=3)
    w = np.random.default_rng(2).normal(size=K * D + K * K)
    block = block_of(X, y)
    model = MarginChain(np.zeros((K, D)), np.zeros((K, K)), np.arange(K), HAMMING).at(w)
    difference, level = all_paths(X[0], y[0], HAMMING)
    p = np.exp(-difference @ w)
    p /= p.sum()
    states, moves = model.chains(block).smoothed()
    conditional = np.concatenate([(states.T @ X[0]).ravel(), moves.ravel()]) - features(X[0], y[0])
    np.testing.assert_allclose(conditional, -p @ difference, atol=1e-12)
    assert (p > 0).all()
    margin = model.summarize(block).gradient
    np.testing.assert_allclose(margin, -difference[(level - difference @ w).argmax()], atol=1e-12)
    # All wrong paths far behind: the margin is content, and the likelihood is not yet.
    net = MaxMarginMarkovNetwork(C=1e3, tol=1e-6).fit(X, y)
    far = net.model_.at(1.001 * net.model_.theta)
    assert far.summarize(block).loss == pytest.approx(0.0, abs=1e-12)
    assert not far.summarize(block).gradient.any()
    assert far.chains(block).log_sum[0] > far.chains(block).score(y[0])[0]


# --- solvers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", ["hamming", COSTS], ids=["hamming", "costs"])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_solvers_find_what_the_quadratic_programme_finds(C, cost):
    X, y = sequences(8, 4)
    weight = np.random.default_rng(1).gamma(2.0, size=8)
    table = HAMMING if isinstance(cost, str) else cost
    w, least = quadratic_programme(X, y, C, table, weight)
    np.testing.assert_allclose(objective(w, X, y, C, table, weight), least, rtol=1e-7)
    for solver, tol in zip(SOLVERS, (1e-9, 1e-2, 1e-5), strict=True):  # Frank-Wolfe has a slow end
        model = MaxMarginMarkovNetwork(C, loss=cost, solver=solver, tol=tol, max_iter=20000, random_state=0)
        model.fit(X, y, sample_weight=weight)
        assert model.converged_
        assert 0 <= model.duality_gap_ <= tol * model.objective_
        np.testing.assert_allclose(
            model.objective_, objective(weights(model), X, y, C, table, weight), rtol=1e-9
        )
        assert -1e-6 * least < model.objective_ - least <= model.duality_gap_ + 1e-6 * least
        # The objective is strongly convex: half the squared distance is no more than the gap.
        assert 0.5 * np.sum((weights(model) - w) ** 2) <= model.duality_gap_ + 1e-5 * least
        assert (np.diff(model.trace_) <= 1e-12 * np.abs(model.trace_).max()).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_step_a_sequence_is_a_machine_of_crammer_and_singer(solver):
    X, y = sequences(40, 1)
    peer = LinearSVC(multi_class="crammer_singer", C=5.0 / 40, fit_intercept=False, tol=1e-8, max_iter=100000)
    with warnings.catch_warnings():  # in scikit-learn 1.6, n_iter_ is not set
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.fit(np.concatenate(X), np.concatenate(y))
    model = MaxMarginMarkovNetwork(5.0, solver=solver, tol=1e-5, max_iter=20000, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=0.02)
    assert not model.transitions_.any()


def test_smo_with_a_linear_kernel_is_linear():
    X, y = sequences(10)
    plain = MaxMarginMarkovNetwork(5.0, tol=1e-9).fit(X, y)
    for kernel in ("linear", lambda A, B: A @ B.T):
        model = MaxMarginMarkovNetwork(5.0, solver="smo", kernel=kernel, tol=1e-8, max_iter=5000)
        model.set_params(random_state=0).fit(X, y)
        np.testing.assert_allclose(model.objective_, plain.objective_, rtol=2e-8)
        np.testing.assert_allclose(model.transitions_, plain.transitions_, atol=2e-3)
        assert all((a == b).all() for a, b in zip(model.predict(X), plain.predict(X), strict=True))
    np.testing.assert_allclose(model.coef_ @ model.model_.kernel.points, plain.coef_, atol=2e-3)


def test_kernels():
    """A label that depends on the distance from zero: no linear chain finds it. And a kernel is the linear
    chain of features whose products it is."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(8, 2)) for _ in range(20)]
    y = [(np.linalg.norm(x, axis=1) > 1.1).astype(int) for x in X]
    linear = MaxMarginMarkovNetwork(50.0).fit(X, y)
    how = dict(solver="smo", tol=1e-8, max_iter=20000, random_state=0)
    rbf = MaxMarginMarkovNetwork(50.0, kernel="rbf", gamma=1.0, **how).fit(X, y)
    assert linear.score(X, y) < 0.8 < 0.95 < rbf.score(X, y)
    values, vectors = np.linalg.eigh(rbf_kernel(np.concatenate(X), gamma=1.0))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    mapped = np.split(root, offsets([8] * 20)[1:-1])
    same = MaxMarginMarkovNetwork(50.0, tol=1e-6).fit(mapped, y)
    np.testing.assert_allclose(rbf.objective_, same.objective_, rtol=2e-6)
    np.testing.assert_allclose(rbf.transitions_, same.transitions_, atol=0.05)
    called = MaxMarginMarkovNetwork(50.0, kernel=lambda A, B: RBF(1.0)(A, B), **how).fit(X, y)
    assert called.objective_ == rbf.objective_
    sparse = MaxMarginMarkovNetwork(50.0, kernel="rbf", gamma=1.0, **how).fit([sp.csr_array(x) for x in X], y)
    np.testing.assert_allclose(sparse.objective_, rbf.objective_, rtol=1e-8)  # each is within tol
    assert len(rbf.model_.kernel.points) < 160  # steps that are far from the others are not kept


def test_costs_move_the_answer():
    """What is dear to miss is missed less, if C is so large that costs decide and not the penalty."""
    X, y = sequences(40, 6, noise=3.0)
    for dear in range(K):
        cost = HAMMING.copy()
        cost[dear] *= 10.0
        plain, careful = (MaxMarginMarkovNetwork(100.0, loss=c).fit(X, y) for c in ("hamming", cost))
        true = np.concatenate(y)
        paid = [cost[true, np.concatenate(m.predict(X))].sum() for m in (plain, careful)]
        assert paid[1] < paid[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_repetitions(solver):
    X, y = sequences(8)
    tol = 1e-2 if solver == "bcfw" else 1e-4
    how = dict(C=3.0, solver=solver, tol=tol, max_iter=20000, random_state=0)
    weight = np.array([1, 2, 0, 3, 1, 1, 0, 2])
    a = MaxMarginMarkovNetwork(**how).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(8), weight)
    b = MaxMarginMarkovNetwork(**how).fit([X[i] for i in again], [y[i] for i in again])
    np.testing.assert_allclose(a.objective_, b.objective_, rtol=tol)
    by_step = MaxMarginMarkovNetwork(**how).fit(
        np.concatenate(X),
        np.concatenate(y),
        groups=np.repeat(np.arange(8), [len(x) for x in X]),
        sample_weight=np.repeat(weight, [len(x) for x in X]),
    )
    np.testing.assert_array_equal(weights(by_step), weights(a))


def test_best_shares_are_best():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 30):
        slope, level = rng.normal(size=(n, 5)), rng.normal(size=n)
        slope[n // 2] = slope[0]  # two planes with one slope
        product_ = slope @ slope.T
        share = best_shares(product_, level, np.eye(n)[0])
        ascent = level - product_ @ share
        assert (share >= 0).all()
        np.testing.assert_allclose(share.sum(), 1.0)
        np.testing.assert_allclose(ascent.max(), ascent @ share, atol=1e-9)


def test_planes_that_idle_are_forgotten():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(50, 10)), rng.normal(size=50)

    def plane(x):
        sign = np.sign(A @ x - b)
        return -20 * b @ sign, 20 * A.T @ sign

    found = cutting_planes(plane, np.zeros(10), tol=1e-6, max_iter=2000)
    assert found.converged
    assert len(found.slope) < found.n_iter


# --- the perceptron ------------------------------------------------------------------------------------


def by_hand(X, y, epochs, weight=None):
    """The plain algorithm: the last weights, and the mean of the weights after each visit."""
    w, kept = np.zeros(K * D + K * K), []
    for _ in range(epochs):
        for s, (x, t) in enumerate(zip(X, y, strict=True)):
            paths = list(product(range(K), repeat=len(t)))
            best = max(paths, key=lambda path, x=x: features(x, path) @ w)
            if list(best) != list(t):
                w = w + (1.0 if weight is None else weight[s]) * (features(x, t) - features(x, best))
            kept.append(w)
    return w, np.mean(kept, axis=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])], ids=["plain", "weights"])
def test_perceptron_by_hand(weight):
    X, y = sequences(6, 5, seed=4)
    last, mean = by_hand(X, y, 3, weight)
    for average, expected in ((False, last), (True, mean)):
        model = StructuredPerceptron(average=average, shuffle=False, max_iter=3)
        model.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(weights(model), expected, atol=1e-12)
        assert model.n_iter_ == len(model.trace_) == 3


def test_perceptron_stops_when_it_makes_no_mistake():
    X, y = sequences(20, 6, noise=0.05)
    model = StructuredPerceptron(random_state=0).fit(X, y)
    assert model.converged_
    assert model.stopped_because_ == "tolerance"
    assert model.trace_[-1] == 0.0 < model.trace_[0]
    last = StructuredPerceptron(average=False, random_state=0).fit(X, y)
    assert last.score(X, y) == 1.0
    assert last.statistics_.loss == pytest.approx(0.0, abs=1e-12)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        StructuredPerceptron(max_iter=1).fit(X, y)


# --- what all of them take -----------------------------------------------------------------------------

ESTIMATORS = [
    StructuredPerceptron(random_state=0, max_iter=20),
    *(MaxMarginMarkovNetwork(5.0, solver=s, random_state=0, max_iter=20) for s in SOLVERS),
    MaxMarginMarkovNetwork(5.0, solver="smo", kernel="rbf", random_state=0, max_iter=20),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def made(estimator):
    return type(estimator)(**estimator.get_params())


@unfinished
@each
def test_lists_groups_tables_and_csr_are_the_same(estimator):
    pd = pytest.importorskip("pandas")
    X, y = sequences(15)
    ids = np.repeat(np.arange(15), [len(x) for x in X])
    flat, labels = np.concatenate(X), np.concatenate(y)
    listed = made(estimator).fit(X, y)
    grouped = made(estimator).fit(flat, labels, groups=ids)
    np.testing.assert_array_equal(weights(listed), weights(grouped))
    assert (np.concatenate(listed.predict(X)) == grouped.predict(flat, groups=ids)).all()
    table = pd.DataFrame(flat, columns=list("abcd")).assign(id=ids, label=labels)
    told = suffice.sequences(table, sequence="id", target="label", features=list("abcd"))
    tabled = made(estimator).fit(told)
    np.testing.assert_array_equal(weights(tabled), weights(grouped))
    sparse = made(estimator).fit(sp.csr_array(flat), labels, groups=ids)
    if getattr(estimator, "solver", "") == "smo":  # where two paths are equally bad, rounding chooses
        assert abs(sparse.objective_ - grouped.objective_) <= sparse.duality_gap_ + grouped.duality_gap_
    else:
        np.testing.assert_allclose(weights(sparse), weights(grouped), rtol=1e-6, atol=1e-9)
    assert grouped.score(flat, labels, groups=ids) == listed.score(X, y) > 0.6
    if getattr(estimator, "kernel", "linear") != "linear":
        return
    joined = made(estimator).fit(flat, labels)  # one sequence is another problem
    assert not np.allclose(weights(joined), weights(grouped))


@unfinished
@each
def test_empty_sequences_change_nothing(estimator):
    X, y = sequences(6)
    nothing = np.zeros((0, D))
    model = made(estimator).fit(X, y)
    more = made(estimator).fit([nothing, *X, nothing], [[], *y, []])
    if type(estimator) is MaxMarginMarkovNetwork and estimator.solver == "cutting-plane":
        np.testing.assert_allclose(weights(more), weights(model), atol=1e-12)
    assert [len(part) for part in more.predict([nothing, *X])] == [0, *map(len, y)]
    assert more.score(X, y) > 0.6
    np.testing.assert_array_equal(model.predict([X[0], nothing])[0], model.predict([X[0]])[0])


@unfinished
@each
def test_labels_come_back_as_they_came(estimator):
    X, y = sequences(10)
    names = np.array(["verb", "noun", "article"])
    model = made(estimator).fit(X, [names[t] for t in y])
    assert model.classes_.tolist() == sorted(names.tolist())
    assert set(np.concatenate(model.predict(X))) <= set(names)
    steps = [x[:1] for x in X]
    alone = made(estimator).fit(steps, [names[t[:1]] for t in y])
    assert all(len(part) == 1 for part in alone.predict(steps))
    # A label that was not seen is a wrong one.
    strange = [np.full(len(t), "adverb") for t in y]
    assert model.score(X, strange) == 0.0


@unfinished
@each
def test_scores_have_weights(estimator):
    X, y = sequences(10)
    model = made(estimator).fit(X, y)
    right = [found == t for found, t in zip(model.predict(X), y, strict=True)]
    weight = np.random.default_rng(0).gamma(1.0, size=10)
    by_step = np.repeat(weight, [len(t) for t in y])
    expected = np.average(np.concatenate(right), weights=by_step)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(expected)
    assert model.score(X, y, sample_weight=by_step) == pytest.approx(expected)


@each
def test_one_label_is_refused(estimator):
    X, y = sequences(3)
    with pytest.raises(ValueError, match="at least 2 classes"):
        made(estimator).fit(X, [np.zeros_like(t) for t in y])


@unfinished
@each
def test_seeds_and_storage(estimator, tmp_path):
    X, y = sequences(15)
    model = made(estimator).fit(X, y)
    np.testing.assert_array_equal(weights(model), weights(made(estimator).fit(X, y)))
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(np.concatenate(loaded.predict(X)), np.concatenate(model.predict(X)))


@unfinished
@each
def test_a_killed_fit_goes_on(estimator, tmp_path, monkeypatch):
    from suffice.core import loop

    X, y = sequences(15, noise=2.0)
    how = {"tol": 0.0} if "tol" in estimator.get_params() else {}
    whole = made(estimator).set_params(max_iter=6, **how).fit(X, y)
    save, seen = loop.save_value, []

    def fails(*args):
        save(*args)
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt

    file = tmp_path / "progress"
    monkeypatch.setattr(loop, "save_value", fails)
    with pytest.raises(KeyboardInterrupt):
        made(estimator).set_params(max_iter=6, checkpoint=file, **how).fit(X, y)
    assert file.exists()
    resumed = made(estimator).set_params(max_iter=6, checkpoint=file, **how).fit(X, y)
    np.testing.assert_array_equal(weights(resumed), weights(whole))
    np.testing.assert_array_equal(resumed.trace_, whole.trace_)


def test_refusals_say_what_to_do(tmp_path):
    X, y = sequences(3)
    for wrong, message in [
        ({"solver": "newton"}, "cutting-plane"),
        ({"C": 0.0}, "'C' parameter"),
        ({"kernel": "rbf"}, "solver='smo'"),
        ({"loss": "squared"}, "hamming"),
        ({"loss": np.ones((3, 3))}, "diagonal"),
        ({"loss": np.zeros((2, 2))}, r"\(3, 3\)"),
        ({"max_iter": 0}, "'max_iter' parameter"),
    ]:
        with pytest.raises(ValueError, match=message):
            MaxMarginMarkovNetwork(**wrong).fit(X, y)


def test_too_many_steps_for_a_kernel_are_refused(monkeypatch):
    X, y = sequences(3)
    monkeypatch.setattr("suffice.sequence.max_margin.afford", _refuse)
    with pytest.raises(MemoryError, match="cutting-plane"):
        MaxMarginMarkovNetwork(solver="smo").fit(X, y)
    with pytest.raises(MemoryError, match="Nystroem"):
        MaxMarginMarkovNetwork(solver="smo", kernel="rbf").fit(X, y)


def _refuse(numbers, what, instead):
    raise MemoryError(f"{what}: {instead}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_data_elsewhere(tmp_path):
    """Planes are sums: they are the same from files, up to rounding. What takes turns gathers them."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    X, y = sequences(60)
    ids = np.repeat(np.arange(60), [len(x) for x in X])
    flat = np.concatenate(X)
    columns = {name: flat[:, j] for j, name in enumerate("abcd")}
    table = pa.table({**columns, "id": ids, "label": np.concatenate(y)})
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=50)
    told = suffice.sequences(
        suffice.scan_parquet(tmp_path), sequence="id", target="label", features=list("abcd")
    )
    here = MaxMarginMarkovNetwork(5.0, tol=1e-6).fit(X, y)
    there = MaxMarginMarkovNetwork(5.0, tol=1e-6).fit(told)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-6)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-2)
    for estimator in (
        MaxMarginMarkovNetwork(solver="bcfw", random_state=0),
        StructuredPerceptron(max_iter=20, random_state=0),
    ):
        np.testing.assert_allclose(
            clone(estimator).fit(told).coef_, clone(estimator).fit(X, y).coef_, rtol=1e-9, atol=1e-12
        )


def test_scores_of_paths():
    """The score of the best path, and its margin to the second."""
    X, y = sequences(5)
    model = MaxMarginMarkovNetwork(5.0).fit(X, y)
    chains = model.model_.chains(block_of(X, y))
    assert isinstance(chains, Chains)
    for s, (paths, score) in enumerate(chains.k_best(2)):
        np.testing.assert_allclose(score[0], features(X[s], paths[0]) @ weights(model))
        np.testing.assert_array_equal(paths[0], model.predict(X)[s])
        assert score[0] >= score[1]


def test_a_margin_without_a_norm_is_refused():
    with pytest.raises(ValueError, match="'C' parameter"):
        MaxMarginMarkovNetwork(C=np.inf).fit([[0.0], [1.0]], [0, 1])
