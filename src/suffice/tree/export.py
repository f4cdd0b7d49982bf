"""scikit-learn's pictures of trees, for the trees of this library."""

from __future__ import annotations

from typing import Any

import sklearn.tree
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .cart import DecisionTree, DecisionTreeClassifier

FITTED = ("classes_", "n_classes_", "n_outputs_", "n_features_in_", "feature_names_in_")


def plot_tree(decision_tree: Any, **options: Any) -> list[Any]:
    """Draw a tree with Matplotlib, by scikit-learn's function.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree without categorical features.
    **options
        The parameters of :func:`sklearn.tree.plot_tree`: `max_depth`, `feature_names`, `class_names`,
        `label`, `filled`, `impurity`, `node_ids`, `proportion`, `rounded`, `precision`, `ax`, `fontsize`.

    Returns
    -------
    annotations : list of matplotlib.text.Annotation

    See Also
    --------
    suffice.plot.TreeDisplay : A picture that also shows categories, missing values and shares of the classes.

    Examples
    --------
    >>> from suffice.tree import DecisionTreeClassifier, plot_tree
    >>> tree = DecisionTreeClassifier().fit([[20.0], [35.0], [50.0]], ["no", "yes", "yes"])
    >>> plot_tree(tree, feature_names=["income"])[0].get_text()
    'income <= 27.5\\ngini = 0.444\\nsamples = 3\\nvalue = [1, 2]'
    """
    return sklearn.tree.plot_tree(_drawn(decision_tree), **options)


def export_graphviz(decision_tree: Any, out_file: Any = None, **options: Any) -> str | None:
    """Write a tree in the DOT format of Graphviz, by scikit-learn's function.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree without categorical features.
    out_file : object or str, default=None
        Handle or name of the output file. If None, the result is returned as a string.
    **options
        The parameters of :func:`sklearn.tree.export_graphviz`: `max_depth`, `feature_names`, `class_names`,
        `label`, `filled`, `leaves_parallel`, `impurity`, `node_ids`, `proportion`, `rotate`, `rounded`,
        `special_characters`, `precision`, `fontname`.

    Returns
    -------
    dot_data : str or None
        The tree, if `out_file` is None.

    Examples
    --------
    >>> from suffice.tree import DecisionTreeClassifier, export_graphviz
    >>> tree = DecisionTreeClassifier().fit([[20.0], [35.0], [50.0]], ["no", "yes", "yes"])
    >>> export_graphviz(tree).splitlines()[0]
    'digraph Tree {'
    """
    dot: str | None = sklearn.tree.export_graphviz(_drawn(decision_tree), out_file, **options)
    return dot


def _drawn(model: BaseEstimator) -> Any:
    """A tree of scikit-learn's class with the arrays of this tree; other estimators are returned
    unchanged."""
    if not isinstance(model, DecisionTree):
        return model
    check_is_fitted(model)
    if model.model_.bins.categorical.any():
        raise TypeError(
            f"{type(model).__name__} has categorical features, which scikit-learn's pictures do not show: "
            "use suffice.plot.TreeDisplay or suffice.tree.export_rules."
        )
    labels = isinstance(model, DecisionTreeClassifier)
    kind: Any = sklearn.tree.DecisionTreeClassifier if labels else sklearn.tree.DecisionTreeRegressor
    out = kind(criterion=model.criterion)
    out.__dict__.update({name: getattr(model, name) for name in FITTED if hasattr(model, name)})
    out.tree_ = model.tree_
    return out
