"""Trees as scikit-learn's arrays, texts and pictures: equal to those of scikit-learn's own trees."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import tree as peer
from sklearn.exceptions import NotFittedError

from suffice.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    export_graphviz,
    export_text,
    plot_tree,
)

ARRAYS = (
    "children_left", "children_right", "feature", "threshold", "missing_go_to_left", "value", "impurity",
    "n_node_samples", "weighted_n_node_samples", "n_classes",
)  # fmt: skip
NUMBERS = ("n_features", "n_outputs", "node_count", "n_leaves", "max_depth", "max_n_classes")


def rows(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Features that float32 holds, as scikit-learn's trees do; and two targets without equal splits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    return X, np.stack([X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n), X[:, 2] + rng.normal(size=n)], axis=1)


def pair(kind: str, **options):
    """The same tree of both libraries."""
    X, y = rows()
    if kind == "classes":
        cls, theirs, y = DecisionTreeClassifier, peer.DecisionTreeClassifier, np.digitize(y[:, 0], [0.0, 1.5])
    else:
        cls, theirs, y = DecisionTreeRegressor, peer.DecisionTreeRegressor, y[:, 0] if kind == "one" else y
    return (
        cls(max_depth=3, min_samples_leaf=9, **options).fit(X, y),
        theirs(max_depth=3, min_samples_leaf=9, random_state=0, **options).fit(X, y),
        X,
    )


@pytest.mark.parametrize("kind", ["classes", "one", "two"])
def test_arrays_and_methods_are_those_of_scikit_learn(kind):
    ours, theirs, X = pair(kind)
    a, b = pickle.loads(pickle.dumps(ours.tree_)), theirs.tree_
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-6, atol=1e-12, err_msg=name)
    assert [getattr(a, name) for name in NUMBERS] == [getattr(b, name) for name in NUMBERS]
    narrow = X.astype(np.float32)
    for rows in (narrow, sp.csr_matrix(narrow)):
        assert np.array_equal(a.apply(rows), b.apply(rows))
        assert np.array_equal(a.decision_path(rows).toarray(), b.decision_path(rows).toarray())
    np.testing.assert_allclose(a.predict(narrow).squeeze(), b.predict(narrow).squeeze(), rtol=1e-6)
    for normalize in (False, True):
        np.testing.assert_allclose(
            a.compute_feature_importances(normalize), b.compute_feature_importances(normalize), rtol=1e-6
        )


@pytest.mark.parametrize("kind", ["classes", "one", "two"])
def test_texts_and_pictures_are_those_of_scikit_learn(kind):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ours, theirs, _ = pair(kind)
    many = [{}, {"max_depth": 1}, {"spacing": 1, "decimals": 3}, {"feature_names": ["a", "b", "c"]}]
    if kind == "classes":
        many += [{"show_weights": True}, {"class_names": ["x", "y", "z"], "max_depth": 0}]
    for options in many:
        assert export_text(ours, **options) == peer.export_text(theirs, **options)
    for options in ({}, {"filled": True, "proportion": True, "feature_names": ["a", "b", "c"]}):
        assert export_graphviz(ours, **options) == peer.export_graphviz(theirs, **options)
        drawn, expected = plot_tree(ours, **options), peer.plot_tree(theirs, **options)
        assert [node.get_text() for node in drawn] == [node.get_text() for node in expected]
        pyplot.close("all")


def test_what_cannot_be_drawn():
    with pytest.raises(NotFittedError):
        plot_tree(DecisionTreeRegressor())
    with pytest.raises(NotFittedError):
        DecisionTreeClassifier().tree_  # noqa: B018
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"job": ["a", "b", "c"] * 4})
    model = DecisionTreeClassifier(categorical_features=["job"]).fit(frame, frame.job == "b")
    with pytest.raises(TypeError, match="TreeDisplay"):
        export_graphviz(model)
    with pytest.raises(ValueError, match="Got 1 while the tree was fitted with 2 classes"):
        export_text(model, class_names=["a"])
    with pytest.raises(TypeError, match="Sparse data was passed for y"):
        DecisionTreeClassifier().fit(np.eye(3), sp.csr_matrix(np.eye(3)))


def test_several_targets_have_a_class_each():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [["a", 1], ["b", 2]])
    assert export_text(model).splitlines()[1] == "|   |--- class: [a, 1]"
