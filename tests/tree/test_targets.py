"""Trees and forests of several targets: against scikit-learn, one target, and the other plan."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as peer_forests
from sklearn import tree as peer

import suffice
from suffice.core import partitions
from suffice.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_rules, growth
from suffice.tree.targets import ClassTargets, NumberTargets

from .test_cart import same_tree

N, D = 400, 4


def rows(seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features that float32 holds; classes of three targets, 2, 3 and 2 of them; and numbers of three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)).astype(np.float32).astype(np.float64)
    number = np.stack([X[:, 0] + X[:, 1], X[:, 1] ** 2, X[:, 2] * X[:, 3]], axis=1)
    number += 0.3 * rng.normal(size=number.shape)
    label = np.stack([number[:, 0] > 0, np.digitize(number[:, 1], [0.3, 1.0]), number[:, 2] > 0], axis=1)
    return X, label.astype(np.int64), number


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_agrees_with_scikit_learn(criterion, weighted):
    X, label, number = rows()
    weight = np.random.default_rng(1).random(N) + 0.1 if weighted else None
    options = {"criterion": criterion, "max_depth": 5, "min_weight_fraction_leaf": 0.03}
    if criterion in ("gini", "entropy"):
        ours, theirs, y = DecisionTreeClassifier(**options), peer.DecisionTreeClassifier(**options), label
    else:
        ours, theirs = DecisionTreeRegressor(**options), peer.DecisionTreeRegressor(**options)
        y = np.exp(number) if criterion == "poisson" else number
    ours.fit(X, y, weight)
    theirs.fit(X, y, weight)
    a, b = ours.tree_, theirs.tree_
    assert a.node_count > 10
    for name in ("children_left", "children_right", "feature", "n_outputs"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    np.testing.assert_allclose(a.threshold, b.threshold, rtol=1e-6)
    for name in ("value", "impurity", "weighted_n_node_samples"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-11, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)
    assert np.array_equal(ours.apply(X), theirs.apply(X))
    assert ours.n_outputs_ == theirs.n_outputs_ == 3
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-11)
    if y is label:
        for p, q in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_allclose(p, q, atol=1e-12)
        assert np.array_equal(ours.n_classes_, theirs.n_classes_)
        right = (theirs.predict(X) == y).all(axis=1)
        assert ours.score(X, y, weight) == pytest.approx(np.average(right, weights=weight))
    else:
        assert ours.score(X, y, weight) == pytest.approx(theirs.score(X, y, weight))


OPTIONS = [{}, {"max_leaf_nodes": 12}, {"max_features": 2}, {"splitter": "random"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["class", "number"])
def test_folded_plan_gives_the_same_bits(kind, options, monkeypatch):
    X, label, number = rows(5, 240)
    X[:, 2] = np.round(X[:, 2] * 2)
    X[::7, 1] = np.nan
    y, make = (label, DecisionTreeClassifier) if kind == "class" else (number, DecisionTreeRegressor)
    model = make(categorical_features=[2], random_state=0, **options)
    whole = model.fit(X, y).model_
    assert options.get("max_leaf_nodes") or set(whole.feature[~whole.is_leaf]) == set(range(D))
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 13)
    same_tree(whole, model.fit(X, y).model_)
    monkeypatch.setattr(growth, "HISTOGRAM_BYTES", 1 << 14)
    same_tree(whole, model.fit(X, y).model_)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_order_blocks_and_repetition_change_no_bit(make):
    import pyarrow as pa

    X, label, number = rows(6)
    y = label if make is DecisionTreeClassifier else number
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, N)
    whole = make().fit(X, y, weight).model_
    same_tree(whole, make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0)).model_)
    order = rng.permutation(N)
    same_tree(whole, make().fit(X[order], y[order], weight[order]).model_)
    columns = {f"x{d}": X[:, d] for d in range(D)} | {f"y{t}": y[:, t] for t in range(3)} | {"w": weight}
    table = pa.table(columns)
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=37))
    named = suffice.rows(scan, features=[f"x{d}" for d in range(D)], target=["y0", "y1", "y2"], weight="w")
    model = make().fit(named)
    same_tree(whole, model.model_)
    assert np.array_equal(model.predict(scan), make().fit(X, y, weight).predict(X))


@pytest.mark.parametrize("kind", ["class", "number"])
def test_equal_targets_are_one(kind):
    X, label, number = rows(2)
    y, make = (
        (label[:, 1], DecisionTreeClassifier) if kind == "class" else (number[:, 1], DecisionTreeRegressor)
    )
    one, column = make(max_depth=4).fit(X, y), make(max_depth=4).fit(X, y[:, None])
    same_tree(one.model_, column.model_)
    assert column.predict(X).shape == (N,)
    assert column.score(X, y[:, None]) == one.score(X, y)
    two = make(max_depth=4).fit(X, np.stack([y, y], axis=1))
    for name in ("feature", "threshold", "children", "weight"):
        assert np.array_equal(getattr(one.model_, name), getattr(two.model_, name))
    np.testing.assert_allclose(one.model_.impurity, two.model_.impurity, atol=1e-12)
    assert np.array_equal(two.predict(X), np.stack([one.predict(X)] * 2, axis=1))


def test_targets_of_different_scales():
    X, _, number = rows(3)
    scale = np.array([1e-30, 1.0, 1e30])
    model = DecisionTreeRegressor(max_depth=4).fit(X, number * scale)
    leaf = model.apply(X)
    means = np.stack([number[leaf == t].mean(axis=0) for t in leaf]) * scale
    np.testing.assert_allclose(model.predict(X), means, rtol=1e-9)
    assert np.array_equal(leaf, DecisionTreeRegressor(max_depth=4).fit(X, number[:, 2]).apply(X))


def test_a_node_is_pure_if_all_its_targets_are():
    y = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    for make in (DecisionTreeClassifier, DecisionTreeRegressor):
        model = make().fit(np.arange(4.0)[:, None], y)
        assert model.get_n_leaves() == 3
        assert np.array_equal(model.predict(np.arange(4.0)[:, None]), y)
        assert not model.model_.impurity[model.model_.is_leaf].any()


@pytest.mark.parametrize(
    "chosen", ["balanced", [{0: 1.0, 1: 3.0}, {0: 1.0, 1: 2.0, 2: 5.0}, {0: 2.0, 1: 1.0}]]
)
def test_weights_of_classes(chosen):
    X, label, _ = rows(4)
    options = {"class_weight": chosen, "max_depth": 3, "min_weight_fraction_leaf": 0.05}
    ours, theirs = (module.DecisionTreeClassifier(**options).fit(X, label) for module in (suffice.tree, peer))
    assert np.array_equal(ours.tree_.feature, theirs.tree_.feature)
    np.testing.assert_allclose(ours.tree_.value, theirs.tree_.value, rtol=1e-9)


def test_labels_may_be_strings():
    X, label, _ = rows(7)
    names = np.array(["no", "yes", "perhaps"])[label]
    model = DecisionTreeClassifier(max_depth=3).fit(X, names)
    assert [c.tolist() for c in model.classes_] == [["no", "yes"], ["no", "perhaps", "yes"], ["no", "yes"]]
    assert np.isin(model.predict(X)[:, 1], names[:, 1]).all()
    assert model.score(X, names) > 0.3


# --- forests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["class", "number"])
def test_forest_without_samples_is_the_tree(kind):
    X, label, number = rows(8)
    of_class = kind == "class"
    y = label if of_class else number
    make = (
        (RandomForestClassifier, DecisionTreeClassifier)
        if of_class
        else (RandomForestRegressor, DecisionTreeRegressor)
    )
    forest, tree = make[0](2, bootstrap=False, max_features=None, max_depth=4), make[1](max_depth=4)
    forest.fit(X, y)
    tree.fit(X, y)
    assert np.array_equal(forest.apply(X)[:, 1], tree.apply(X))
    assert np.array_equal(forest.estimators_[1].model_.feature, tree.model_.feature)
    np.testing.assert_allclose(forest.predict(X), tree.predict(X), rtol=1e-12)  # on another grid
    np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_)
    if of_class:
        for p, q in zip(forest.predict_proba(X), tree.predict_proba(X), strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-12)
        for p, q in zip(forest.estimators_[0].predict_log_proba(X), tree.predict_log_proba(X), strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-12)


@pytest.mark.slow
def test_out_of_bag_as_each_target_is_scored():
    X, label, number = rows(9)
    model = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, number)
    assert model.oob_prediction_.shape == number.shape
    peers = peer_forests.RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, number)
    assert model.oob_score_ == pytest.approx(peers.oob_score_, abs=0.08)
    binary = label[:, [0, 2]]
    model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, binary)
    peers = peer_forests.RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, binary)
    assert model.oob_decision_function_.shape == peers.oob_decision_function_.shape == (N, 2, 2)
    assert model.oob_score_ == pytest.approx(peers.oob_score_, abs=0.08)
    best = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == pytest.approx((best == binary).all(axis=1).mean())


def test_balanced_samples():
    X, label, _ = rows(10)
    y = label[:, [0, 2]]
    y[: N // 2, 0] = 0
    plain, balanced = (
        RandomForestClassifier(30, max_depth=1, class_weight=chosen, random_state=0).fit(X, y)
        for chosen in (None, "balanced_subsample")
    )
    twice = RandomForestClassifier(30, max_depth=1, class_weight="balanced_subsample", random_state=0)
    one, two = twice.fit(X, y[:, 0]).predict_proba(X), twice.fit(X, y[:, [0, 0]]).predict_proba(X)
    root = [forest.model_.nodes.value[forest.model_.root] for forest in (plain, balanced)]
    assert root[0][:, 1].mean() < 0.3 < 0.45 < root[1][:, 1].mean() < 0.55
    assert one.shape == two[0].shape  # weights of equal targets are multiplied
    assert np.array_equal(two[0], two[1])


def test_forests_in_blocks(monkeypatch):
    X, label, number = rows(11)
    for make, y in ((RandomForestClassifier, label), (RandomForestRegressor, number)):
        model = make(3, random_state=0)
        whole = model.fit(X, y).model_
        with monkeypatch.context() as patch:
            patch.setattr(partitions, "GATHERED_BYTES", 1 << 13)
            same_tree(whole.nodes, model.fit(X, y).model_.nodes)


# --- what follows ----------------------------------------------------------------------------------------


def test_saved_and_copied(tmp_path):
    X, label, number = rows(12)
    models = (
        DecisionTreeClassifier(max_depth=3).fit(X, label),
        DecisionTreeRegressor(max_depth=3).fit(X, number),
        RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, label),
        RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, number),
    )
    for model in models:
        model.save(tmp_path / "model")
        loaded, copy = suffice.load(tmp_path / "model"), suffice.as_sklearn(model)
        assert np.array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_allclose(copy.predict(X), model.predict(X), rtol=1e-12)
        if hasattr(model, "predict_proba"):
            for p, q, r in zip(*(m.predict_proba(X) for m in (model, loaded, copy)), strict=True):
                assert np.array_equal(p, q)
                np.testing.assert_allclose(p, r, atol=1e-12)


def test_pruning():
    X, label, number = rows(13)
    for name, y in (("DecisionTreeClassifier", label), ("DecisionTreeRegressor", number)):
        ours, theirs = getattr(suffice.tree, name)(max_depth=4), getattr(peer, name)(max_depth=4)
        path, expected = (m.cost_complexity_pruning_path(X, y) for m in (ours, theirs))
        np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, atol=1e-12)
        table = ours.cross_validated_pruning(X, y, n_folds=5)
        best = ours.set_params(ccp_alpha=table.ccp_alpha[2]).fit(X, y)
        assert best.get_n_leaves() == table.n_leaves[2]
        wrong = (best.predict(X) != y) if y is label else (best.predict(X) - y) ** 2
        assert table.error[2] == pytest.approx(wrong.mean())
        assert (table.cv_error > table.error).any()


def test_bagging():
    X, _, number = rows(14)
    model = BaggingRegressor(DecisionTreeRegressor(max_depth=5), 5, random_state=0).fit(X, number)
    assert model.predict(X).shape == number.shape
    assert model.score(X, number) > 0.5


def test_what_takes_one_target_says_so():
    X, label, number = rows(15)
    for make, y in ((DecisionTreeClassifier, label), (RandomForestRegressor, number)):
        with pytest.raises(ValueError, match="not supported with multiple outputs"):
            make(monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    with pytest.raises(ValueError, match="is for one target, and y has 3: use 'gini'"):
        DecisionTreeClassifier(criterion="misclassification").fit(X, label)
    for chosen, message in (({0: 1.0}, "list of dicts"), ([{0: 1.0}], "got 1 for 3")):
        with pytest.raises(ValueError, match=message):
            DecisionTreeClassifier(class_weight=chosen).fit(X, label)
    with pytest.raises(ValueError, match=r"two classes, such as 0 and 1, and y has 3\. Fit"):
        RandomForestClassifier(2, oob_score=True).fit(X, label)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, label)
    with pytest.raises(ValueError, match="3 targets cannot be written or drawn"):
        export_rules(tree)
    with pytest.raises(ValueError, match=r"1d array|one target"):
        GradientBoostingRegressor(n_estimators=1).fit(X, number)
    with pytest.raises(ValueError, match="Poisson"):
        DecisionTreeRegressor(criterion="poisson").fit(X, number)


def test_probabilities_of_a_scan_say_what_to_call():
    import pyarrow as pa

    X, label, _ = rows(16)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, label)
    scan = suffice.scan(lambda: pa.table({f"x{d}": X[:, d] for d in range(D)}).to_batches())
    assert np.array_equal(tree.predict(scan), tree.predict(X))
    with pytest.raises(TypeError, match="call predict, or pass them in parts"):
        tree.predict_proba(scan)


def test_integers_of_targets():
    _, label, number = rows(17)
    block = suffice.core.blocks.Rows(np.zeros((N, 1)), label, np.arange(N) % 3 + 0.5)
    classes = tuple(np.unique(label[:, t]) for t in range(3))
    target = ClassTargets.of("gini", classes, tuple(np.ones(len(c)) for c in classes), 1e4)
    group, entry = target.integers(block)
    assert (np.diff([0, *target.stops]) == [2, 3, 2]).all()
    assert all((part.sum(axis=1) == entry[:, 0]).all() for part in target.parts(entry[:, 1:]))
    assert len(np.unique(group)) == len(np.unique(label, axis=0))
    assert np.array_equal(target.observed(_Block(entry)), label)
    numbers = NumberTargets.of("squared_error", number.min(axis=0), number.max(axis=0), 1e4)
    group, entry = numbers.integers(block.replace(y=number))
    assert len(np.unique(group)) == N
    np.testing.assert_allclose(numbers.observed(_Block(entry)), number, rtol=1e-9, atol=1e-12)


class _Block:
    def __init__(self, entry):
        self.entry = entry


X = np.arange(40.0)[:, None]
y = (X[:, 0] > 20).astype(int)
MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    RandomForestClassifier(3, random_state=0),
    AdaBoostClassifier(n_estimators=2),
    GradientBoostingRegressor(n_estimators=2),
    HistGradientBoostingClassifier(max_iter=2),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_totals_of_large_weights(model):
    model.fit(X, y, np.full(40, 2.0**46))  # 40 times this is below 2^52
    assert model.score(X, y) > 0.3
    for weight in (2.0**47, 1e38):
        with pytest.raises(ValueError, match=r"sum of sample_weight is .*2\^52.*divide the weights"):
            model.fit(X, y, np.full(40, weight))
