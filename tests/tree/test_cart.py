"""Classification and regression trees: against scikit-learn, enumeration, and the other plan."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from sklearn import tree as peer
from sklearn.exceptions import NotFittedError

import suffice
from suffice.core import partitions
from suffice.core.hashing import parts_of
from suffice.core.randomness import Purpose
from suffice.engines.local import LocalPartitions
from suffice.ensemble import RandomForestRegressor
from suffice.fitting.shared import WholeShares
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor, growth

N, D = 400, 4


def rows(seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features that float32 holds, as scikit-learn's trees do; classes; and numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)).astype(np.float32).astype(np.float64)
    number = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.digitize(number, [0.0, 1.0]), number


def same_tree(a, b) -> None:
    for name, value in a.fields().items():
        if name != "bins":
            assert np.array_equal(value, getattr(b, name), equal_nan=value.dtype.kind == "f"), name


def must_agree(ours, theirs) -> None:
    """Node for node. scikit-learn's leaves have the feature -2."""
    t, s = ours.model_, theirs.tree_
    assert np.array_equal(t.feature, np.maximum(s.feature, -1))
    inner = t.feature >= 0
    assert np.array_equal(t.children[inner], np.stack([s.children_left, s.children_right], axis=1)[inner])
    np.testing.assert_allclose(t.threshold[inner], s.threshold[inner], rtol=1e-6)
    np.testing.assert_allclose(t.impurity, s.impurity, atol=1e-12)
    np.testing.assert_allclose(t.weight, s.weighted_n_node_samples, rtol=1e-12)
    np.testing.assert_allclose(t.value, s.value[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_agrees_with_scikit_learn(criterion, weighted):
    X, label, number = rows()
    weight = np.random.default_rng(1).random(N) + 0.1 if weighted else None
    options = {"criterion": criterion, "max_depth": 4, "min_weight_fraction_leaf": 0.05}
    if criterion in ("gini", "entropy"):
        ours, theirs, y = DecisionTreeClassifier(**options), peer.DecisionTreeClassifier(**options), label
    else:
        ours, theirs = DecisionTreeRegressor(**options), peer.DecisionTreeRegressor(**options)
        y = np.exp(number) if criterion == "poisson" else number
    ours.fit(X, y, weight)
    theirs.fit(X, y, weight)
    must_agree(ours, theirs)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)
    assert np.array_equal(ours.apply(X), theirs.apply(X))
    assert np.array_equal(ours.decision_path(X).toarray(), theirs.decision_path(X).toarray())


@pytest.mark.parametrize("kind", ["class", "number"])
def test_pruning_path_agrees_with_scikit_learn(kind):
    X, label, number = rows()
    y = label if kind == "class" else number
    ours, theirs = (
        (DecisionTreeClassifier(min_samples_leaf=8), peer.DecisionTreeClassifier(min_samples_leaf=8))
        if kind == "class"
        else (DecisionTreeRegressor(min_samples_leaf=8), peer.DecisionTreeRegressor(min_samples_leaf=8))
    )
    a, b = ours.cost_complexity_pruning_path(X, y), theirs.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(a.ccp_alphas, b.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(a.impurities, b.impurities, atol=1e-12)
    alpha = 0.5 * (a.ccp_alphas[-4] + a.ccp_alphas[-5])
    must_agree(ours.set_params(ccp_alpha=alpha).fit(X, y), theirs.set_params(ccp_alpha=alpha).fit(X, y))


@pytest.mark.parametrize("kind", ["class", "number"])
def test_cross_validated_pruning(kind):
    """Against trees that are fitted and pruned one by one, to the rows of the same folds."""
    X, label, number = rows(n=200)
    y = label if kind == "class" else number
    make = DecisionTreeClassifier if kind == "class" else DecisionTreeRegressor
    model = make(min_samples_leaf=5, random_state=0)
    table = model.cross_validated_pruning(X, y, n_folds=3)
    assert table.n_leaves[-1] == 1 and (np.diff(table.n_leaves) < 0).all()
    assert (np.diff(table.error) >= -1e-12).all()
    _, data, _ = model._grown(model._opened(X, y, None))
    block = data.gather("")
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    fold = parts_of(block, 3, Purpose.INNER_FOLDS, seed)
    assert set(fold) == {0, 1, 2}
    between = np.sqrt(table.ccp_alpha[:-1] * table.ccp_alpha[1:])
    for i in (1, len(between) // 2, len(between) - 1):  # without the tree that is not pruned
        loss = []
        for k in range(3):
            part = make(min_samples_leaf=5, ccp_alpha=between[i], random_state=0)
            answer = part.fit(X[fold != k], y[fold != k]).predict(X[fold == k])
            loss.append(answer != y[fold == k] if kind == "class" else (answer - y[fold == k]) ** 2)
        loss = np.concatenate(loss)
        assert table.cv_error[i] == pytest.approx(loss.mean())
        assert table.cv_std[i] == pytest.approx(loss.std() / np.sqrt(len(loss)))
        part.set_params(ccp_alpha=table.ccp_alpha[i]).fit(X, y)
        assert part.get_n_leaves() == table.n_leaves[i]


@pytest.mark.parametrize("kind", ["class", "number"])
def test_trees_of_folds_grow_together(kind, monkeypatch):
    """The same table to the bit from folded rows, in about as many passes as one tree is deep."""
    X, label, number = rows(n=900)
    y = label if kind == "class" else number
    make = DecisionTreeClassifier if kind == "class" else DecisionTreeRegressor
    model = make(max_depth=4, random_state=0)
    expected = model.cross_validated_pruning(X, y, n_folds=5)
    passes = []
    fold = LocalPartitions.fold
    monkeypatch.setattr(
        LocalPartitions, "fold", lambda self, f, *shared: passes.append(f) or fold(self, f, *shared)
    )
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    table = model.cross_validated_pruning(X, y, n_folds=5)
    assert all(np.array_equal(table[name], expected[name]) for name in expected)
    assert sum(f == WholeShares.of for f in passes) == 5  # one for each level, of all five trees
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 16)  # some nodes are gathered, others are not
    table = model.cross_validated_pruning(X, y, n_folds=5)
    assert all(np.array_equal(table[name], expected[name]) for name in expected)


def test_missing_values_as_in_scikit_learn():
    X, label, _ = rows()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    options = {"max_depth": 4, "min_samples_leaf": 10}
    ours = DecisionTreeClassifier(**options).fit(X, label)
    theirs = peer.DecisionTreeClassifier(**options).fit(X, label)
    must_agree(ours, theirs)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    # No value of the first feature was missing: it goes with the larger child.
    X[:, 0] = np.nan_to_num(X[:, 0])
    ours = DecisionTreeClassifier(**options).fit(X, label)
    theirs = peer.DecisionTreeClassifier(**options).fit(X, label)
    X[:, 0] = np.nan
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["class", "number"])
def test_monotonic_constraints(kind, sign):
    X, _, number = rows()
    y = (number > 0.5).astype(int) if kind == "class" else number
    options = {"monotonic_cst": [sign, 0, -sign, 0], "min_weight_fraction_leaf": 0.02}
    weight = np.random.default_rng(4).random(N) + 0.5  # so that no two splits are equal
    if kind == "class":
        ours = DecisionTreeClassifier(**options).fit(X, y, weight)
        theirs = peer.DecisionTreeClassifier(**options).fit(X, y, weight)
        predict = lambda X: ours.predict_proba(X)[:, 1]  # noqa: E731
        # scikit-learn splits pure nodes whose weights do not add up exactly.
        np.testing.assert_allclose(predict(X), theirs.predict_proba(X)[:, 1], atol=1e-12)
    else:
        ours = DecisionTreeRegressor(**options).fit(X, y, weight)
        theirs = peer.DecisionTreeRegressor(**options).fit(X, y, weight)
        predict = ours.predict
        must_agree(ours, theirs)
    rng = np.random.default_rng(3)
    for feature, direction in ((0, sign), (2, -sign)):
        probe = np.repeat(rng.normal(size=(20, D)), 50, axis=0)
        probe[:, feature] = np.tile(np.linspace(-3, 3, 50), 20)
        steps = np.diff(predict(probe).reshape(20, 50), axis=1)
        assert (direction * steps >= 0).all()


def test_max_leaf_nodes_as_in_scikit_learn():
    X, label, number = rows()
    for y, ours, theirs in (
        (label, DecisionTreeClassifier, peer.DecisionTreeClassifier),
        (number, DecisionTreeRegressor, peer.DecisionTreeRegressor),
    ):
        a, b = ours(max_leaf_nodes=9).fit(X, y), theirs(max_leaf_nodes=9).fit(X, y)
        assert a.get_n_leaves() == 9
        np.testing.assert_allclose(
            a.predict_proba(X) if y is label else a.predict(X),
            b.predict_proba(X) if y is label else b.predict(X),
        )


def impurity(y: np.ndarray, criterion: str) -> float:
    if criterion == "squared_error":
        return y.var()
    p = np.bincount(y) / len(y)
    if criterion == "misclassification":
        return 1.0 - p.max()
    if criterion == "gini":
        return 1.0 - (p**2).sum()
    return -(p[p > 0] * np.log2(p[p > 0])).sum()


def decrease(y: np.ndarray, left: np.ndarray, criterion: str) -> float:
    parts = [y[left], y[~left]]
    return len(y) * impurity(y, criterion) - sum(len(part) * impurity(part, criterion) for part in parts)


@pytest.mark.parametrize("n_classes", [2, 3, None])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_root_is_the_best_of_all_splits(criterion, n_classes):
    """Of all thresholds, all subsets of categories (one category for several classes), and both sides for
    missing values."""
    if (n_classes is None) != (criterion == "squared_error"):
        pytest.skip("not of this criterion")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 40
        X = np.stack([rng.integers(0, 6, n), rng.integers(0, 5, n)], axis=1).astype(float)
        X[rng.random(X.shape) < 0.1] = np.nan
        y = rng.normal(size=n) if n_classes is None else rng.integers(0, n_classes, n)
        make = DecisionTreeRegressor if n_classes is None else DecisionTreeClassifier
        t = make(criterion=criterion, max_depth=1, categorical_features=[1]).fit(X, y).model_
        best = 0.0
        x = X[:, 0]
        for cut in [*np.unique(x[~np.isnan(x)])]:
            for missing in (False, True):
                left = np.where(np.isnan(x), missing, x <= cut)
                if 0 < left.sum() < n:
                    best = max(best, decrease(y, left, criterion))
        x = X[:, 1]
        values = np.unique(x[~np.isnan(x)])
        sizes = range(1, len(values) + 1) if n_classes != 3 else [1]
        for subset in chain.from_iterable(combinations(values, size) for size in sizes):
            for missing in (False, True):
                left = np.where(np.isnan(x), missing, np.isin(x, subset))
                if 0 < left.sum() < n:
                    best = max(best, decrease(y, left, criterion))
        found = t.weight[0] * t.impurity[0] - (t.weight[1:] * t.impurity[1:]).sum()
        if criterion == "misclassification" and n_classes == 2:  # not strictly concave: the order is no proof
            assert found <= best + 1e-9
        else:
            assert found == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": 4},
        {"max_leaf_nodes": 12},
        {"max_features": 2},
        {"splitter": "random"},
        {"monotonic_cst": [1, 0, 0, -1]},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["class", "number"])
def test_folded_plan_gives_the_same_bits(kind, options, monkeypatch):
    X, _, number = rows(5, 600)
    X[:, 2] = np.round(X[:, 2] * 2)
    X[::7, 1] = np.nan
    y = (number > 0.3).astype(int) if kind == "class" else number
    make = DecisionTreeClassifier if kind == "class" else DecisionTreeRegressor
    model = make(categorical_features=[2], random_state=0, **options)
    if "monotonic_cst" in options:
        model.set_params(categorical_features=None)
    whole = model.fit(X, y).model_
    for size in (1 << 13, 1 << 10):
        monkeypatch.setattr(partitions, "GATHERED_BYTES", size)
        same_tree(whole, model.fit(X, y).model_)
        monkeypatch.setattr(growth, "HISTOGRAM_BYTES", 1 << 14)
        same_tree(whole, model.fit(X, y).model_)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_order_blocks_and_repetition_change_no_bit(make):
    X, label, number = rows(6)
    y = label if make is DecisionTreeClassifier else number
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, N)
    whole = make().fit(X, y, weight).model_
    repeated = make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).model_
    same_tree(whole, repeated)
    order = rng.permutation(N)
    same_tree(whole, make().fit(X[order], y[order], weight[order]).model_)
    same_tree(whole, make().fit(np.asfortranarray(X), y, weight.astype(np.float32)).model_)


def test_random_thresholds_are_uniform_between_the_extremes():
    X = np.array([[0.0], [1.0], [1.1], [1.2], [4.0]])
    y = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    cuts = [
        DecisionTreeRegressor(splitter="random", max_depth=1, random_state=seed).fit(X, y).model_.threshold[0]
        for seed in range(400)
    ]
    share = np.mean(np.array(cuts) > 1.2)  # the last gap has 2.8 of 4
    assert abs(share - 0.7) < 4 * np.sqrt(0.7 * 0.3 / 400)
    X, label, _ = rows()
    model = DecisionTreeClassifier(splitter="random", random_state=0).fit(X, label)
    assert (model.predict(X) == label).all()


@pytest.mark.parametrize("tail", [1.0, 1e6, 1e12])
def test_a_heavy_tail_changes_no_bit_of_the_plans(tail, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = X[:, 0] + rng.normal(size=1500)
    y[:3] = tail
    model = DecisionTreeRegressor(max_depth=8)
    expected = model.fit(X, y).model_
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    same_tree(expected, model.fit(X, y).model_)


def test_a_heavy_tail_does_not_hide_small_differences():
    X = np.arange(8.0)[:, None]
    y = np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1e9, 1e9])
    assert np.array_equal(DecisionTreeRegressor().fit(X, y).predict(X), y)


def test_strings_and_unknown_categories():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"job": ["a", "b", "c", "a", "b", None] * 10, "age": np.arange(60.0)})
    y = np.where(frame.job.isin(["a", "c"]), "yes", "no")
    model = DecisionTreeClassifier(categorical_features="from_dtype").fit(frame, y)
    assert (model.predict(frame) == y).all()
    assert model.get_n_leaves() == 2
    other = pandas.DataFrame({"job": ["z", None], "age": [1.0, 2.0]})
    assert (model.predict(other) == model.predict(frame[5:6])[0]).all()
    assert (DecisionTreeClassifier(categorical_features=["job"]).fit(frame, y).predict(frame) == y).all()


def test_odd_data():
    X, label, number = rows()
    one = DecisionTreeClassifier().fit(X, np.zeros(N, int))
    assert one.get_n_leaves() == 1 and (one.predict(X) == 0).all()
    assert DecisionTreeRegressor().fit(X[:1], number[:1]).predict(X[:1])[0] == number[0]
    constant = DecisionTreeClassifier().fit(np.ones((N, 2)), label)
    assert constant.get_n_leaves() == 1
    X[:, 1] = np.nan
    assert (DecisionTreeClassifier().fit(X, label).feature_importances_[1]) == 0.0
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeClassifier().fit(X, label)
    with pytest.warns(UserWarning, match="count weight"):
        DecisionTreeClassifier(min_samples_leaf=3).fit(X[1:], label[1:], np.full(N - 1, 1.0 / N))


@pytest.mark.slow
def test_a_hundred_thousand_categories():
    many = np.arange(100_000.0)[:, None]
    model = DecisionTreeRegressor(categorical_features=[0], max_depth=1).fit(many, many[:, 0] % 2)
    assert np.array_equal(model.predict(many), many[:, 0] % 2)


def test_copy_for_programs_that_know_scikit_learn():
    X, label, number = rows()
    X[::5, 1] = np.nan
    for make, y in ((DecisionTreeClassifier, label), (DecisionTreeRegressor, number)):
        model = make(max_depth=5).fit(X, y)
        copy = suffice.as_sklearn(model)
        assert isinstance(copy, getattr(peer, make.__name__))
        assert np.array_equal(copy.apply(X), model.apply(X))
        assert np.array_equal(copy.predict(X), model.predict(X))
        np.testing.assert_allclose(copy.feature_importances_, model.feature_importances_)
    with pytest.raises(TypeError, match="categorical features cannot be copied"):
        suffice.as_sklearn(DecisionTreeClassifier(categorical_features=[0]).fit(X, label))


def test_from_a_scan(tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    X, label, _ = rows()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["y"] = label
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=37)
    scan = suffice.rows(suffice.scan_parquet(tmp_path / "rows.parquet"), target="y")
    same_tree(DecisionTreeClassifier().fit(X, label).model_, DecisionTreeClassifier().fit(scan).model_)


def test_a_tree_that_is_not_fitted_says_so():
    for ask in ("get_depth", "get_n_leaves"):
        with pytest.raises(NotFittedError):
            getattr(DecisionTreeClassifier(), ask)()
    for model in (DecisionTreeRegressor(), RandomForestRegressor()):
        with pytest.raises(NotFittedError):
            _ = model.feature_importances_
