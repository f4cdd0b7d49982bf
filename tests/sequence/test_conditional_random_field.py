"""Conditional random fields: sums against all labelings written out, solvers against each other."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

import suffice
from suffice.core.blocks import Sequences, cut
from suffice.core.loop import Progress
from suffice.core.partitions import fold_blocks
from suffice.engines.local import LocalPartitions
from suffice.fitting import gradient_descent, iterative_scaling, quasi_newton, scaling_step
from suffice.kernels import RBF, Centered, Precomputed, Subsequences
from suffice.linear_model import LogisticRegression
from suffice.sequence import Chains, ConditionalRandomField, LinearChain

from ..versions import ROUTED, since

K, D = 3, 4
LENGTHS = (4, 1, 3, 5, 2, 4)


def sequences(seed=0, lengths=LENGTHS, sparse=False):
    """Features that are not negative, and labels that follow them and each other."""
    rng = np.random.default_rng(seed)
    N = sum(lengths)
    y = rng.integers(K, size=N)
    y[1::3] = y[:-1:3][: len(y[1::3])]
    X = rng.poisson(0.4, size=(N, D)).astype(float)
    X[np.arange(N), y] += rng.random(N) < 0.6
    ids = np.repeat(np.arange(len(lengths)), lengths)
    return (sp.csr_array(X) if sparse else X), y, ids


def chain(edge=(), seed=1, weight=None):
    P = D * K + (1 + len(edge)) * K * K
    theta = np.random.default_rng(seed).normal(size=P)
    weight = np.ones(K) if weight is None else weight
    return LinearChain(theta, np.arange(K), weight, np.array(edge, dtype=np.int64))


def block(X, y, ids, weight=None):
    offset = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1, [len(ids)]])
    return Sequences(X, offset, y, weight)


def score(model, X, path):
    """The log score of one labeling of one sequence, term by term."""
    move = [model.moves[0] + np.einsum("e,ejk->jk", x[model.edge], model.moves[1:]) for x in X]
    total = sum(X[n] @ model.node[:, k] for n, k in enumerate(path))
    return total + sum(move[n][path[n - 1], path[n]] for n in range(1, len(path)))


def by_hand(model, X):
    """All labelings of a sequence with their probabilities, and the log of the sum."""
    paths = list(product(range(K), repeat=len(X)))
    scores = np.array([score(model, X, path) for path in paths])
    total = np.logaddexp.reduce(scores)
    return np.array(paths), np.exp(scores - total), total


def fitted(model):
    """An estimator with a given model."""
    X, y, ids = sequences()
    with pytest.warns(ConvergenceWarning):
        crf = ConditionalRandomField(max_iter=1, edge_features=model.edge.tolist()).fit(X, y, groups=ids)
    crf.model_ = model
    return crf._publish(Progress(model))


EDGES = pytest.mark.parametrize("edge", [(), (1, 3)], ids=["plain", "edges"])
KINDS = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])


# --- the model -----------------------------------------------------------------------------------------


@EDGES
@KINDS
def test_answers_match_all_labelings(edge, sparse):
    model, (X, _, _) = chain(edge), sequences()
    crf = fitted(model)
    rng = np.random.default_rng(5)
    for start, length in ((0, 4), (4, 1), (8, 5)):
        part = X[start : start + length]
        given = sp.csr_array(part) if sparse else part
        paths, p, total = by_hand(model, part)
        y = rng.integers(K, size=length)
        expected = score(model, part, y) - total
        np.testing.assert_allclose(crf.log_likelihood(given, y), [expected], rtol=1e-12)
        assert (crf.predict(given) == paths[p.argmax()]).all()
        nodes = np.array([[p[paths[:, n] == k].sum() for k in range(K)] for n in range(length)])
        np.testing.assert_allclose(crf.predict_proba(given), nodes, atol=1e-13)
        pairs = np.zeros((length, K, K))
        for n in range(1, length):
            for path, q in zip(paths, p, strict=True):
                pairs[n, path[n - 1], path[n]] += q
        np.testing.assert_allclose(crf.edge_marginals(given), pairs, atol=1e-13)
        by_label, by_move, by_edge = crf.expectations(given)
        np.testing.assert_allclose(by_label, nodes.T @ part, atol=1e-12)
        np.testing.assert_allclose(by_move, pairs.sum(axis=0), atol=1e-12)
        by_column = np.einsum("ne,nij->eij", part[:, model.edge], pairs)
        np.testing.assert_allclose(by_edge, by_column, atol=1e-12)
        best, logs = crf.decode(given, k_best=7)[0]
        order = np.argsort(-p)[:7]
        assert (best == paths[order]).all()
        np.testing.assert_allclose(logs, np.log(p[order]), rtol=1e-10)


@EDGES
@KINDS
def test_gradient_matches_differences(edge, sparse):
    X, y, ids = sequences(sparse=sparse)
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
    data, model = block(X, y, ids, weight), chain(edge, weight=np.array([1.0, 2.0, 0.5]))
    s = model.summarize(data)
    for i in range(len(model.theta)):
        step = np.zeros(len(model.theta))
        step[i] = 1e-5
        up, down = (model.replace(theta=model.theta + d).summarize(data).loss for d in (step, -step))
        np.testing.assert_allclose(s.gradient[i], (up - down) / 2e-5, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s.gradient, _expected(model, data) - model.observed(data), atol=1e-12)


def _expected(model, data):
    return model.expected_by_total(np.unique(model.totals(data)), data).sum(axis=0)


@EDGES
@KINDS
def test_expected_counts_of_a_total_are_those_of_its_sequences(edge, sparse):
    X, y, ids = sequences(sparse=sparse)
    X = X * 0.0 + 1.0 if not sparse else X.astype(bool).astype(float)  # several sequences have the same total
    data, model = block(X, y, ids), chain(edge)
    of_sequence = model.totals(data)
    totals = np.unique(of_sequence)
    for total, found in zip(totals, model.expected_by_total(totals, data), strict=True):
        np.testing.assert_allclose(found, model.expected(data[of_sequence == total]), atol=1e-12)


@EDGES
@KINDS
def test_summaries_add_up(edge, sparse):
    X, y, ids = sequences(sparse=sparse)
    data, model = block(X, y, ids), chain(edge)
    whole = model.summarize(data)
    for at in range(len(data) + 1):
        a, b = model.summarize(data[:at]), model.summarize(data[at:])
        np.testing.assert_allclose((a + b).gradient, whole.gradient, atol=1e-12)
        assert (a + b).weight == whole.weight
        assert (a + b).loss == pytest.approx(whole.loss, rel=1e-12)


def test_runs_within_a_block_change_nothing():
    """A block longer than what is summarized at a time."""
    lengths = np.random.default_rng(0).integers(1, 40, size=6000)
    X, y, ids = sequences(lengths=lengths, sparse=True)
    data, model = block(X, y, ids), chain()
    assert sum(1 for _ in model.runs(data)) > 1
    s, dense = model.summarize(data), model.summarize(data.replace(X=X.toarray()))
    alone = fold_blocks(LinearChain.summarize, (model,), [data])  # as a task of any engine does
    for n in (1, 2, 3):  # here, the runs of a single block are shared by threads
        with suffice.threads(n):
            shared = LocalPartitions((data,)).fold(LinearChain.summarize, model)
        assert shared.loss == alone.loss and (shared.gradient == alone.gradient).all()
    np.testing.assert_allclose(s.gradient, alone.gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s.gradient, dense.gradient, rtol=1e-9, atol=1e-9)
    chains = model.chains(data)
    assert s.loss == pytest.approx((chains.log_sum - chains.score(y)).sum(), rel=1e-12)


def test_weights_of_classes_are_those_of_sequences():
    X, y, ids = sequences()
    data, model = block(X, y, ids), chain(weight=np.array([1.0, 4.0, 0.5]))
    expected = [model.class_weight[y[ids == s]].mean() for s in range(len(LENGTHS))]
    np.testing.assert_allclose(model.weights(data), expected)
    weighted = chain().summarize(data.replace(weight=np.array(expected)))
    np.testing.assert_allclose(model.summarize(data).gradient, weighted.gradient)


# --- fitting -------------------------------------------------------------------------------------------


@EDGES
@pytest.mark.parametrize(
    "solver",
    ["gradient", "iis-s", *(pytest.param(name, marks=pytest.mark.slow) for name in ("iis-t", "sgd"))],
)
def test_solvers_reach_one_optimum(solver, edge):
    X, y, ids = sequences(lengths=LENGTHS)
    given = {"C": 0.3, "edge_features": list(edge), "max_iter": 3000}
    best = ConditionalRandomField(**given, tol=1e-9).fit(X, y, groups=ids)
    assert np.abs(best.coef_).max() > 0.1
    crf = ConditionalRandomField(**given, solver=solver, tol=1e-7).fit(X, y, groups=ids)
    assert crf.converged_
    found, expected = (m.log_likelihood(X, y, groups=ids) for m in (crf, best))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    found, expected = (m.predict_proba(X, groups=ids) for m in (crf, best))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert crf.trace_[-1] == pytest.approx(best.trace_[-1], rel=1e-10)


@pytest.mark.parametrize("solver", ["lbfgs", "gradient", "iis-s", "iis-t"])
def test_objective_falls(solver):
    X, y, ids = sequences()
    crf = ConditionalRandomField(C=0.3, solver=solver, max_iter=3000, tol=1e-5).fit(X, y, groups=ids)
    assert (np.diff(crf.trace_) <= 1e-12).all()


def test_scaling_refuses_negative_features():
    X, y, ids = sequences()
    for solver in ("iis-s", "iis-t"):
        with pytest.raises(ValueError, match="negative features: use solver='lbfgs'"):
            ConditionalRandomField(solver=solver).fit(X - 1.0, y, groups=ids)


def test_parameters_are_refused_with_a_reason():
    X, y, ids = sequences()
    for wrong, message in (
        ({"solver": "newton"}, "'solver' parameter"),
        ({"C": 0.0}, "'C' parameter"),
        ({"l1_ratio": 2.0}, "'l1_ratio' parameter"),
        ({"l1_ratio": 0.5, "solver": "gradient"}, "use solver='lbfgs', or l1_ratio=0"),
        ({"edge_features": [D]}, "not a column of X"),
        ({"class_weight": "even"}, "'class_weight' parameter"),
    ):
        with pytest.raises(ValueError, match=message):
            ConditionalRandomField(**wrong).fit(X, y, groups=ids)


def test_absolute_values_satisfy_their_conditions():
    """At the optimum the gradient of the loss is minus the strength where a weight is not zero."""
    X, y, ids = sequences(lengths=LENGTHS * 3)
    for ratio in (1.0, 0.4):
        crf = ConditionalRandomField(C=0.5, l1_ratio=ratio, tol=1e-9, max_iter=1000).fit(X, y, groups=ids)
        theta, strength = crf.model_.theta, ratio / crf.C
        slope = crf.statistics_.gradient + (1 - ratio) / crf.C * theta
        zero = theta == 0
        assert 0 < zero.sum() < len(theta)
        # The value rests, to rounding, where a gradient is of the order of the root of that.
        np.testing.assert_allclose(slope[~zero], -strength * np.sign(theta[~zero]), atol=2e-5)
        assert (np.abs(slope[zero]) <= strength + 2e-5).all()


def test_csr_lists_and_groups_are_the_same_data():
    X, y, ids = sequences()
    parts = [(X[ids == s], y[ids == s]) for s in range(len(LENGTHS))]
    a = ConditionalRandomField().fit(X, y, groups=ids)
    b = ConditionalRandomField().fit([p[0] for p in parts], [p[1] for p in parts])
    c = ConditionalRandomField().fit([sp.csr_array(p[0]) for p in parts], [p[1].tolist() for p in parts])
    for other in (b, c):
        np.testing.assert_allclose(a.coef_, other.coef_, rtol=1e-9, atol=1e-12)
    found = b.predict([p[0] for p in parts])
    assert isinstance(found, list) and (np.concatenate(found) == a.predict(X, groups=ids)).all()
    assert b.score([p[0] for p in parts], [p[1] for p in parts]) == a.score(X, y, groups=ids)
    assert len(b.explain([p[0] for p in parts])) == len(LENGTHS)


def test_weights_are_repetitions():
    X, y, ids = sequences()
    weight = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])
    a = ConditionalRandomField(tol=1e-9).fit(X, y, groups=ids, sample_weight=weight)
    order = np.repeat(np.arange(len(LENGTHS)), weight.astype(int))
    rows = np.concatenate([np.flatnonzero(ids == s) for s in order])
    new = np.concatenate([np.full(LENGTHS[s], n) for n, s in enumerate(order)])
    b = ConditionalRandomField(tol=1e-9).fit(X[rows], y[rows], groups=new)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-6)
    np.testing.assert_allclose(
        a.score(X, y, groups=ids, sample_weight=weight), b.score(X[rows], y[rows], groups=new)
    )


def test_threads_and_blocks():
    """The same bits on any number of threads, and the same sums whatever the blocks."""
    X, y, ids = sequences(lengths=LENGTHS * 100, sparse=True)
    model, whole = chain(), block(X, y, ids)
    blocks = cut(whole, 300)
    assert len(blocks) > 3 and sum(map(len, blocks)) == len(whole)
    found = []
    for n in (1, 2, 3):
        with suffice.threads(n):
            found.append(LocalPartitions(blocks).fold(LinearChain.summarize, model).gradient)
    assert all((a == found[0]).all() for a in found)
    np.testing.assert_allclose(found[0], model.summarize(whole).gradient, rtol=1e-9, atol=1e-9)


def test_checkpoint_and_storage(tmp_path):
    X, y, ids = sequences(lengths=LENGTHS * 3)
    crf = ConditionalRandomField(tol=1e-8).fit(X, y, groups=ids)

    class Killed(Exception):
        pass

    def killed(model, data, calls=[0], summarize=LinearChain.summarize, **each):  # noqa: B006
        calls[0] += 1
        if calls[0] > 8:
            raise Killed
        return summarize(model, data, **each)

    again = clone(crf).set_params(checkpoint=tmp_path / "fit")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(LinearChain, "summarize", killed)
        again.fit(X, y, groups=ids)
    assert (tmp_path / "fit").exists()
    again.fit(X, y, groups=ids)
    assert (again.coef_ == crf.coef_).all() and (again.trace_ == crf.trace_).all()
    crf.save(tmp_path / "crf")
    assert (suffice.load(tmp_path / "crf").predict(X, groups=ids) == crf.predict(X, groups=ids)).all()


def test_warm_start_goes_on():
    X, y, ids = sequences(lengths=LENGTHS * 3)
    crf = ConditionalRandomField(warm_start=True, tol=1e-6).fit(X, y, groups=ids)
    assert crf.fit(X, y, groups=ids).n_iter_ <= 2


# --- decoding and explaining ---------------------------------------------------------------------------


def test_constraints_match_all_labelings():
    model, (X, _, _) = chain(), sequences()
    crf = fitted(model)
    part = X[8:13]
    paths, p, _ = by_hand(model, part)
    moves = np.array([[True, True, False], [False, True, True], [True, False, True]])
    legal = np.array([all(moves[a, b] for a, b in pairwise(path)) for path in paths])
    assert (crf.decode(part, allowed=moves) == paths[(p * legal).argmax()]).all()
    pairs = [(a, b) for a in range(K) for b in range(K) if moves[a, b]]
    starts = legal & (paths[:, 0] == 2)
    assert (crf.decode(part, allowed=[*pairs, (None, 2)]) == paths[(p * starts).argmax()]).all()
    fixed = [None, 1, None, None, 0]
    known = (paths[:, 1] == 1) & (paths[:, 4] == 0)
    found = crf.decode([part], fixed=[fixed], allowed=moves, k_best=3)[0]
    order = np.argsort(-(p * known * legal))[:3]
    assert (found[0] == paths[order]).all()
    np.testing.assert_allclose(found[1], np.log(p[order]), rtol=1e-10)
    with pytest.raises(ValueError, match="satisfy the constraints"):
        crf.decode(part, allowed=moves, fixed=[0, 2, None, None, None])
    with pytest.raises(ValueError, match="none of the classes"):
        crf.decode(part, allowed=[(0, 9)])
    with pytest.raises(ValueError, match="one per step"):
        crf.decode(part, fixed=[0])


@EDGES
@KINDS
def test_explanations_add_up(edge, sparse):
    """Reasons sum to what the score of the sequence loses if one label alone is changed."""
    model, (X, _, _) = chain(edge), sequences()
    crf, part = fitted(model), X[8:13]
    path = crf.predict(part)
    for n, why in enumerate(crf.explain(sp.csr_array(part) if sparse else part)):
        other = path.copy()
        other[n] = why.runner_up
        assert why.label == path[n] != why.runner_up
        lost = score(model, part, path) - score(model, part, other)
        assert why.margin == pytest.approx(lost, rel=1e-10, abs=1e-12) and lost >= 0
        assert sum(amount for _, amount in why.reasons) == pytest.approx(lost, rel=1e-10, abs=1e-12)
        sizes = [abs(amount) for _, amount in why.reasons]
        assert sizes == sorted(sizes, reverse=True)
    assert all(len(why.reasons) <= 2 for why in crf.explain(part, top=2))


# --- with scikit-learn ---------------------------------------------------------------------------------

WORDS = [["the", "cat", "sat"], ["a", "dog", "ran", "off"], ["the", "dog", "sat"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "P"], ["D", "N", "V"]]


@pytest.mark.parametrize("vectorizer", [DictVectorizer(), FeatureHasher(64)], ids=["dict", "hash"])
def test_feature_dicts_in_a_pipeline(vectorizer):
    features = [
        {"word": w, "first": n == 0, "length": len(w)} for words in WORDS for n, w in enumerate(words)
    ]
    ids = np.repeat(np.arange(3), [len(words) for words in WORDS])
    tags = np.concatenate(TAGS)
    pipe = make_pipeline(vectorizer, ConditionalRandomField(C=10.0))
    pipe.fit(features, tags, conditionalrandomfield__groups=ids)
    assert (pipe.predict(features, groups=ids) == tags).all()


def test_search_by_groups():
    from sklearn import config_context

    X, y, ids = sequences(lengths=LENGTHS * 4)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(ConditionalRandomField(), {"C": [0.1, 1.0]}, cv=GroupKFold(3))
        search.fit(X, y, groups=ids)
    assert search.best_score_ > 1 / K


def test_maximum_entropy_markov_model():
    """Steps that are each a distribution given the label before: logistic regression, and a chain of it."""
    X, y, ids = sequences(lengths=LENGTHS * 3)
    before = np.concatenate([[K], y[:-1]])
    before[np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1])] = K  # nothing is before the first
    steps = LogisticRegression().fit(np.hstack([X, np.eye(K + 1)[before]]), y)
    part = X[:4]
    given = [np.hstack([part, np.tile(np.eye(K + 1)[k], (4, 1))]) for k in range(K + 1)]
    log_p = np.stack([steps.predict_log_proba(g) for g in given], axis=1)  # (n, before, here)
    chains = Chains(np.zeros((4, K)), log_p[0, K], np.ascontiguousarray(log_p[:, :K]), np.array([0, 4]))
    assert chains.log_sum[0] == pytest.approx(0.0, abs=1e-12)  # steps that sum to one need no other sum
    paths = list(product(range(K), repeat=4))
    scores = [log_p[0, K, p[0]] + sum(log_p[n, p[n - 1], p[n]] for n in range(1, 4)) for p in paths]
    assert tuple(chains.best()[0]) == paths[int(np.argmax(scores))]


# --- the minimisers ------------------------------------------------------------------------------------


def _quadratic(n=6, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A, b = A @ A.T + np.eye(n), rng.normal(size=n)
    return (lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b)), np.linalg.solve(A, b)


@pytest.mark.parametrize("minimize", [quasi_newton, gradient_descent])
def test_minimisers_find_the_minimum(minimize):
    fun, best = _quadratic()
    found = minimize(fun, np.zeros(6), tol=1e-9, max_iter=2000)
    assert found.converged
    np.testing.assert_allclose(found.model, best, atol=1e-8)


def test_short_history_in_single_precision(monkeypatch):
    monkeypatch.setattr("suffice.fitting.lbfgs.MANY", 0)
    fun, best = _quadratic(40)
    found = quasi_newton(fun, np.zeros(40), tol=1e-9, max_iter=2000)
    assert len(found.steps) == 3 and found.steps[0].dtype == np.float32
    np.testing.assert_allclose(found.model, best, atol=2e-6)  # the value rests before the gradient does


def test_scaling_step_solves_its_equation():
    rng = np.random.default_rng(0)
    expected = rng.random((3, 50)) * (rng.random((3, 50)) < 0.7)
    observed, totals, x = rng.random(50) * 4, np.array([1.0, 2.5, 7.0]), rng.normal(size=50)
    d = scaling_step(observed, expected, totals, x, 0.3)
    left = (expected * np.exp(totals[:, None] * d)).sum(axis=0) + 0.3 * (x + d)
    np.testing.assert_allclose(left, observed, atol=1e-9)
    live = (expected > 0).any(axis=0)
    d = scaling_step(observed, expected, totals, x)
    left = (expected * np.exp(totals[:, None] * d)).sum(axis=0)
    np.testing.assert_allclose(left[live], observed[live], atol=1e-9)
    assert (d[~live] == 0).all()


def test_scaling_without_a_penalty_leaves_the_unseen_finite():
    p = np.array([0.5])
    found = iterative_scaling(
        lambda x: (0.0, 1 / (1 + np.exp(-x))[None]), np.zeros(1), np.ones(1), p, max_iter=3
    )
    assert np.isfinite(found.model).all()


@since("1.8", ROUTED)
def test_search_over_hashed_dicts_is_a_loop_by_hand():
    """FeatureHasher and a random field in a pipeline, by groups: the scores of a loop over the folds."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    steps = [{f"w{rng.integers(4) + 4 * k}": 1.0, f"z{rng.integers(9)}": 1.0} for k in y]
    ids = np.arange(240) // 6
    rows = np.array(steps, dtype=object)
    pipe = make_pipeline(FeatureHasher(64), ConditionalRandomField(max_iter=200))
    folds = GroupKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"conditionalrandomfield__C": [0.1, 10.0]}
        search = GridSearchCV(pipe, grid, cv=folds).fit(rows, y, groups=ids)
    for C, mean in zip(grid["conditionalrandomfield__C"], search.cv_results_["mean_test_score"], strict=True):
        by_hand = []
        for train, test in folds.split(rows, y, ids):
            hasher = FeatureHasher(64)
            crf = ConditionalRandomField(C=C, max_iter=200)
            crf.fit(hasher.transform(rows[train]), y[train], groups=ids[train])
            by_hand.append(crf.score(hasher.transform(rows[test]), y[test], groups=ids[test]))
        assert mean == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert search.best_score_ > 0.9


def test_a_missing_label_is_refused_in_words():
    X, y, ids = sequences()
    y = np.array(list("abc"), dtype=object)[y]
    y[2] = None
    with pytest.raises(ValueError, match="missing labels"):
        ConditionalRandomField().fit(X, y, groups=ids)


def test_at_least_one_labeling():
    X, y, ids = sequences()
    crf = ConditionalRandomField(max_iter=200).fit(X, y, groups=ids)
    with pytest.raises(ValueError, match="k_best must be at least 1; got k_best=0"):
        crf.decode(X, groups=ids, k_best=0)


@pytest.mark.slow
def test_a_random_state_seeds_sgd():
    X, y, ids = sequences()
    found = [
        ConditionalRandomField(C=1.0, solver="sgd", tol=1e-3, random_state=seed).fit(X, y, groups=ids).coef_
        for seed in (np.random.RandomState(3), np.random.RandomState(3), 4)
    ]
    assert found[0].tobytes() == found[1].tobytes() != found[2].tobytes()


OPTIONS = dict(C=5.0, kernel=RBF(1.0), tol=1e-9, max_iter=2000, random_state=0)


@pytest.fixture
def circle():
    """Sequences of points, and whether they are outside of a circle: no linear chain finds it."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(size, 2)) for size in (5, 1, 8, 3, 7, 6, 2, 9)]
    return X, [np.where(np.linalg.norm(x, axis=1) > 1.1, "out", "in") for x in X]


def flat(parts):
    return np.concatenate(parts)


def test_a_kernel_is_the_linear_field_of_its_features(circle):
    X, y = circle
    values, Q = np.linalg.eigh(RBF(1.0)(flat(X)))
    ends = np.cumsum([len(x) for x in X])[:-1]
    features = np.split(Q[:, values > 1e-13] * np.sqrt(values[values > 1e-13]), ends)
    linear = ConditionalRandomField(5.0, tol=1e-9, max_iter=2000).fit(features, y)
    crf = ConditionalRandomField(**OPTIONS).fit(X, y)
    assert_allclose(crf.trace_[-1], linear.trace_[-1], rtol=1e-12)
    assert_allclose(flat(crf.predict_proba(X)), flat(linear.predict_proba(features)), atol=1e-8)
    assert_allclose(crf.log_likelihood(X, y), linear.log_likelihood(features, y), atol=1e-7)
    assert_allclose(crf.transitions_, linear.transitions_, atol=1e-7)
    assert crf.score(X, y) > 0.95 > ConditionalRandomField().fit(X, y).score(X, y)


def test_landmarks_at_all_steps_are_exact(circle):
    X, y = circle
    exact = ConditionalRandomField(**OPTIONS).fit(X, y)
    every = ConditionalRandomField(**OPTIONS, landmarks=len(flat(X))).fit(X, y)
    assert_allclose(flat(every.predict_proba(X)), flat(exact.predict_proba(X)), atol=1e-8)
    few = ConditionalRandomField(**OPTIONS, landmarks=12).fit(X, y)
    assert few.coef_.shape == (2, 12) and few.trace_[-1] > exact.trace_[-1]


@pytest.mark.parametrize("landmarks", [None, 12])
@pytest.mark.parametrize("solver", ["gradient", pytest.param("sgd", marks=pytest.mark.slow)])
def test_solvers_with_a_kernel_reach_one_optimum(circle, solver, landmarks):
    best = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(*circle)
    how = {**OPTIONS, "solver": solver, "tol": 1e-6, "max_iter": 5000}
    assert_allclose(
        ConditionalRandomField(**how, landmarks=landmarks).fit(*circle).trace_[-1], best.trace_[-1]
    )


def test_the_model_has_the_gradient_of_its_weights(circle):
    """`model_` sums the loss by weights of the points; at the optimum of the penalized loss, the gradient is
    that of the norm, C times smaller."""
    X, y = circle
    crf = ConditionalRandomField(**OPTIONS).fit(X, y)
    block = suffice.core.blocks.Sequences(flat(X), np.cumsum([0, *map(len, X)]), flat(y))
    s = crf.model_.summarize(block)
    of_points, of_moves = crf.model_._parts(s.gradient)
    K = RBF(1.0)(flat(X))
    assert_allclose(of_points, -K @ crf.coef_.T / 5.0, atol=1e-6)
    assert_allclose(of_moves[0], -crf.transitions_ / 5.0, atol=1e-6)


@pytest.mark.parametrize("landmarks", [None, 12])
def test_weights_files_sparse_rows_and_scans(circle, landmarks, tmp_path):
    X, y = circle
    crf = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(X, y)
    weight = [2, 0, 1, 1, 3, 1, 1, 0]
    weighted = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(8), weight)
    repeated = ConditionalRandomField(**OPTIONS, landmarks=landmarks)
    repeated.fit([X[n] for n in again], [y[n] for n in again])
    assert_allclose(flat(weighted.predict_proba(X)), flat(repeated.predict_proba(X)), atol=1e-7)

    crf.save(tmp_path / "crf")
    assert_array_equal(flat(suffice.load(tmp_path / "crf").predict_proba(X)), flat(crf.predict_proba(X)))

    sparse = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit([sp.csr_array(x) for x in X], y)
    assert_allclose(flat(sparse.predict_proba(X)), flat(crf.predict_proba(X)), atol=1e-8)

    ids = np.repeat(np.arange(8), [len(x) for x in X])
    table = pa.table({"a": flat(X)[:, 0], "b": flat(X)[:, 1], "y": flat(y), "id": ids})
    scan = suffice.sequences(
        suffice.scan(lambda: table.to_batches(max_chunksize=11)), sequence="id", target="y"
    )
    streamed = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(scan)
    assert_allclose(streamed.predict_proba(scan), flat(crf.predict_proba(X)), atol=1e-7)


def test_warm_start_projects_the_function(circle):
    """On other landmarks, it starts from the nearest function of their space."""
    crf = ConditionalRandomField(**{**OPTIONS, "tol": 1e-5}, warm_start=True).fit(*circle)
    cold = crf.n_iter_
    assert 2 * crf.fit(*circle).n_iter_ < cold
    fresh = ConditionalRandomField(**{**OPTIONS, "tol": 1e-5}, landmarks=15).fit(*circle)
    moved = crf.set_params(landmarks=15).fit(*circle)
    assert moved.n_iter_ < fresh.n_iter_
    assert_allclose(moved.trace_[-1], fresh.trace_[-1], rtol=1e-6)


def test_kernels_of_the_training_steps(circle):
    """A centered kernel has no constant function, and takes its center from the steps and their weights."""
    X, y = circle
    crf = ConditionalRandomField(5.0, kernel=Centered(RBF(1.0)), tol=1e-7, max_iter=500).fit(X, y)
    center = crf.model_.kernel(flat(X)).mean(axis=0)
    assert_allclose(center, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"kernel": "rbf", "l1_ratio": 0.5}, "l1_ratio=0.5 is of weights of features: use kernel='linear'"),
        ({"kernel": "rbf", "edge_features": [0]}, "edge_features=.0. is of weights of features"),
        ({"kernel": "rbf", "solver": "iis-s"}, "use solver='lbfgs'"),
        ({"landmarks": 5}, "landmarks=5 needs a kernel"),
        ({"kernel": Precomputed()}, "takes rows of numbers"),
        ({"kernel": Subsequences(2)}, "takes rows of numbers"),
        ({"kernel": "cubic"}, "kernel='cubic' is unknown"),
    ],
)
def test_wrong_calls(circle, params, text):
    with pytest.raises(ValueError, match=text):
        ConditionalRandomField(**params).fit(*circle)


def test_weights_of_features_are_not_there(circle):
    crf = ConditionalRandomField(**OPTIONS).fit(*circle)
    for ask in (crf.top_features, lambda: crf.explain(circle[0])):
        with pytest.raises(AttributeError, match="weights of steps, and none of features"):
            ask()
    assert len(crf.top_transitions(2)) == 2


def test_too_many_steps_are_refused(circle, monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (4e4, "a test has"))
    with pytest.raises(MemoryError, match="landmarks="):
        ConditionalRandomField(kernel="rbf").fit(*circle)
