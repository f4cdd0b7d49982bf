"""Displays of trees show what the models hold, and no text covers another."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from suffice.ensemble import RandomForestClassifier  # noqa: E402
from suffice.plot import PruningDisplay, TreeDisplay  # noqa: E402
from suffice.preprocessing import StandardScaler  # noqa: E402
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor, MultiwayTreeClassifier  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402

X, Y = make_classification(400, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_a_tree_of_depth_four_can_be_read():
    tree = DecisionTreeClassifier().fit(X, np.array(["first", "second", "third"])[Y])
    display = drawn(TreeDisplay.from_estimator(tree))
    assert max(node.depth for node in display.nodes) == 4 < tree.get_depth()
    assert len(display.nodes) > 20
    assert overlaps(boxes(display, display.texts_)) == 0
    model = tree.model_
    for node, bar in zip(display.nodes, display.bars_, strict=True):
        assert node.weight == model.weight[node.node]
        parts = [part.get_width() for part in bar]
        np.testing.assert_allclose(np.array(parts) / sum(parts), model.value[node.node])
        assert node.is_cut == (node.depth == 4 and model.feature[node.node] >= 0)
    said = [text.get_text() for text in display.texts_]
    assert said.count("\N{MIDLINE HORIZONTAL ELLIPSIS}") == sum(node.is_cut for node in display.nodes) > 0
    assert said[0].endswith("(400)")
    legend = display.ax_.get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["first", "second", "third"]
    assert len(display.edges_) == len(display.nodes) - 1


def test_conditions_are_those_of_the_rules():
    holes = X.copy()
    holes[::5, 0] = np.nan
    tree = DecisionTreeRegressor(max_depth=2).fit(holes, 9.0 * (X[:, 1] > 0) + np.isnan(holes[:, 0]))
    display = TreeDisplay.from_estimator(tree, names=list("abcdef"))
    root, low, *_ = display.nodes
    assert root.condition == "" and root.parent == -1
    assert low.condition == f"b <= {tree.model_.threshold[0]:.3g}"
    assert any(node.condition in ("a is missing", "a is not missing") for node in display.nodes)
    assert display.classes is None and display.ax_.get_legend() is None
    shades = [bar[0].get_facecolor()[0] for bar in display.bars_]
    means = [node.value[0] for node in display.nodes]
    assert np.argmin(means) == np.argmax(shades) and np.argmax(means) == np.argmin(shades)
    one = TreeDisplay.from_estimator(tree, max_depth=1)
    assert [node.is_cut for node in one.nodes] == [False, True, True]


def test_a_branch_for_each_category():
    home = np.tile(["house", "rent", "a place with a very long name, which is cut"], 100)
    age = np.arange(300.0) % 50
    rows = np.array([home, age], dtype=object).T
    y = np.where((home == "house") | (age > 45), "yes", "no")
    model = MultiwayTreeClassifier(categorical_features=[0]).fit(rows, y)
    display = drawn(TreeDisplay.from_estimator(model, names=["home", "age"]))
    assert overlaps(boxes(display, display.texts_)) == 0
    assert "home = house" in [node.condition for node in display.nodes if node.depth == 1]
    assert sum(node.depth == 1 for node in display.nodes) == 3
    assert any("\N{HORIZONTAL ELLIPSIS}" in text.get_text() for text in display.texts_)


def test_trees_of_pipelines_and_forests():
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1)).fit(X, Y)
    display = TreeDisplay.from_estimator(tree)
    assert display.nodes[1].condition.startswith("x")
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y)
    _, ax = plt.subplots()
    assert TreeDisplay.from_estimator(forest.estimators_[0], ax=ax).ax_ is ax
    with pytest.raises(TypeError, match="one of `estimators_`"):
        TreeDisplay.from_estimator(forest)
    with pytest.raises(NotFittedError):
        TreeDisplay.from_estimator(DecisionTreeClassifier())


def test_pruning_chooses_the_smallest_tree_within_one_standard_error():
    table = DecisionTreeClassifier(random_state=0).cross_validated_pruning(X, Y, n_folds=4)
    display = drawn(PruningDisplay.from_table(table))
    best = table.cv_error.argmin()
    near = [n for n, error in enumerate(table.cv_error) if error <= table.cv_error[best] + table.cv_std[best]]
    assert display.chosen == max(near) >= best  # from the largest tree to the root
    assert display.chosen_.get_xdata()[0] == table.n_leaves[display.chosen]
    np.testing.assert_array_equal(display.line_.get_ydata(), table.error)
    np.testing.assert_array_equal(display.errorbar_.lines[0].get_ydata(), table.cv_error)
