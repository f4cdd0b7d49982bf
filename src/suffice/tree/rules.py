"""Trees as text: one rule for each leaf, or indented splits. Li 5.1.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .model import Tree
from .multiway import MultiwayTree

AnyTree = Tree | MultiwayTree


def export_rules(model: BaseEstimator, *, feature_names: Any = None, decimals: int = 4) -> str:
    """Write a tree as rules, one for each leaf.

    The rules are mutually exclusive and exhaustive: each row satisfies exactly one. Conditions on the same
    feature are joined.

    Parameters
    ----------
    model : DecisionTreeClassifier, DecisionTreeRegressor or MultiwayTreeClassifier
        A fitted tree.
    feature_names : sequence of str, default=None
        Names of the features. If None, those of the fit, or feature_0, feature_1, ...
    decimals : int, default=4
        Number of significant digits of thresholds and values.

    Returns
    -------
    rules : str
        For each leaf, its conditions, the class with its share and the weight of the leaf; or the mean of a
        regression with that weight.

    Examples
    --------
    >>> from suffice.tree import DecisionTreeClassifier, export_rules
    >>> X, y = [[20.0], [35.0], [50.0], [60.0]], ["no", "yes", "yes", "yes"]
    >>> print(export_rules(DecisionTreeClassifier().fit(X, y), feature_names=["income"]))
    if income <= 27.5 then no (1 of 1)
    if income > 27.5 then yes (1 of 3)
    """
    tree, names = named_tree(model, feature_names)
    lines = []
    for leaf, path in _paths(tree):
        conditions = " and ".join(joined_conditions(tree, path, names, decimals))
        share = ""
        if hasattr(model, "classes_"):
            share = f"{tree.value[leaf].max():.{decimals}g} of "
        result = f"{answer(model, tree, leaf, decimals)} ({share}{tree.weight[leaf]:,.{decimals + 4}g})"
        lines.append(f"if {conditions} then {result}" if conditions else result)
    return "\n".join(lines)


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Write a tree as indented splits, in the format of scikit-learn's function.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier, DecisionTreeRegressor or MultiwayTreeClassifier
        A fitted tree.
    feature_names : sequence of str, default=None
        Names of the features. If None, those of the fit, or feature_0, feature_1, ...
    class_names : sequence of str, default=None
        Names of the classes, in the order of `classes_`. If None, the classes.
    max_depth : int, default=10
        Depth to which the tree is written.
    spacing : int, default=3
        Number of spaces of each level.
    decimals : int, default=2
        Number of decimal places of thresholds, values and weights.
    show_weights : bool, default=False
        Whether the leaves of a classifier show the weight of each class.

    Returns
    -------
    text : str

    See Also
    --------
    export_rules : One rule for each leaf.

    Examples
    --------
    >>> from suffice.tree import DecisionTreeRegressor, export_text
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0]], [5.0, 5.0, 8.0])
    >>> print(export_text(tree, feature_names=["x"]))
    |--- x <= 2.50
    |   |--- value: [5.00]
    |--- x >  2.50
    |   |--- value: [8.00]
    <BLANKLINE>
    """
    tree, names = named_tree(decision_tree, feature_names, several=True)
    classes = getattr(decision_tree, "classes_", None)
    if class_names is not None and classes is not None and len(class_names) != len(classes):
        raise ValueError(
            "When `class_names` is an array, it should contain as many items as `decision_tree.classes_`. "
            f"Got {len(class_names)} while the tree was fitted with {len(classes)} classes."
        )
    classes = classes if class_names is None else class_names
    lines: list[str] = []

    def numbers(values: np.ndarray) -> str:
        return f"[{', '.join(f'{value:.{decimals}f}' for value in values)}]"

    def leaf(node: int) -> str:
        value = tree.value[node]
        if classes is None:
            return f"value: {numbers(value)}"
        weights = f"weights: {numbers(value * tree.weight[node])} " if show_weights else ""
        if isinstance(classes, list) and getattr(decision_tree, "n_outputs_", 1) > 1:
            parts = np.split(value, np.cumsum(decision_tree.n_classes_)[:-1])
            best = ", ".join(str(c[part.argmax()]) for c, part in zip(classes, parts, strict=True))
            return f"{weights}class: [{best}]"
        return f"{weights}class: {classes[value.argmax()]}"

    def write(node: int, depth: int) -> None:
        indent = ("|" + " " * spacing) * depth + "|" + "-" * spacing + " "
        if tree.feature[node] < 0:
            lines.append(indent + leaf(node))
        elif depth > max_depth:
            lines.append(f"{indent}truncated branch of depth {_height(tree, node) + 1}")
        else:
            for branch, child in branches(tree, node):
                lines.append(indent + _split_text(tree, node, branch, names, decimals))
                write(child, depth + 1)

    write(0, 0)
    return "\n".join([*lines, ""])


def _split_text(tree: AnyTree, node: int, branch: int, names: list[str], decimals: int) -> str:
    """The condition of a branch. Conditions on numbers are written as in scikit-learn."""
    condition = joined_conditions(tree, [(node, branch)], names, decimals)[0]
    d = int(tree.feature[node])
    if tree.bins.categorical[d] or "missing" in condition:
        return condition
    return f"{names[d]} {'> ' if branch else '<='} {tree.threshold[node]:.{decimals}f}"


def named_tree(model: BaseEstimator, feature_names: Any, several: bool = False) -> tuple[AnyTree, list[str]]:
    """The tree of a fitted estimator, and the names of its features. `several` allows several targets."""
    check_is_fitted(model)
    if not several and getattr(model, "n_outputs_", 1) > 1:
        raise ValueError(
            f"A tree with {model.n_outputs_} targets cannot be written or drawn: fit a tree to each target."
        )
    tree: AnyTree = model.model_
    D = model.n_features_in_
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    names = [f"feature_{d}" for d in range(D)] if names is None else [str(name) for name in names]
    if len(names) != D:
        raise ValueError(f"feature_names must contain {D} elements, got {len(names)}.")
    return tree, names


def answer(model: Any, tree: AnyTree, leaf: int, decimals: int) -> str:
    """The class or the number that a node predicts."""
    if hasattr(model, "classes_"):
        return str(model.classes_[tree.value[leaf].argmax()])
    return f"{tree.value[leaf, 0]:.{decimals}g}"


def _height(tree: AnyTree, node: int) -> int:
    return 0 if tree.feature[node] < 0 else 1 + max(_height(tree, c) for _, c in branches(tree, node))


def branches(tree: AnyTree, node: int) -> list[tuple[int, int]]:
    """The branches of an inner node and their children. Numbers up to the threshold take branch 0."""
    if isinstance(tree, MultiwayTree):
        return list(tree.branches_of(node))
    return list(enumerate(tree.children[node].tolist()))


def _paths(tree: AnyTree) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield each leaf, and the splits on its path with their branches."""
    stack: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    while stack:
        node, path = stack.pop()
        if tree.feature[node] < 0:
            yield node, path
        else:
            stack += [(child, [*path, (node, b)]) for b, child in reversed(branches(tree, node))]


def joined_conditions(
    tree: AnyTree, path: list[tuple[int, int]], names: list[str], decimals: int
) -> list[str]:
    """The conditions of a path: for each feature, a range or a set of categories, and missing values if some
    split sends them this way."""
    features = list(dict.fromkeys(int(tree.feature[node]) for node, _ in path))
    out = []
    for d in features:
        splits = [(node, branch) for node, branch in path if tree.feature[node] == d]
        missing = False  # a multiway tree sends them along all branches
        if isinstance(tree, Tree):
            missing = any(tree.saw_missing[node] for node, _ in splits)
            missing &= all(tree.missing_left[node] == (branch == 0) for node, branch in splits)
        if isinstance(tree, MultiwayTree) and tree.bins.categorical[d]:
            text = f"{names[d]} = {tree.bins.categories[d][splits[0][1]]}"
        elif isinstance(tree, Tree) and tree.bins.categorical[d]:
            inside = np.ones(len(tree.bins.categories[d]), bool)
            for node, branch in splits:
                start = tree.set_start[node]
                inside &= tree.goes_left[start : start + len(inside)] == (branch == 0)
            text = f"{names[d]} in {{{', '.join(map(str, tree.bins.categories[d][inside]))}}}"
        else:
            low = max((tree.threshold[node] for node, branch in splits if branch), default=-np.inf)
            high = min((tree.threshold[node] for node, branch in splits if not branch), default=np.inf)
            text = _range(names[d], low, high, decimals)
        out.append(f"({text} or {names[d]} is missing)" if missing and "missing" not in text else text)
    return out


def _range(name: str, low: float, high: float, decimals: int) -> str:
    most = np.finfo(np.float64).max
    if low == most:
        return f"{name} is missing"
    if high == most:
        high = np.inf
    if low == -np.inf and high == np.inf:
        return f"{name} is not missing"
    if low == -np.inf:
        return f"{name} <= {high:.{decimals}g}"
    below = f"{name} > {low:.{decimals}g}"
    return below if high == np.inf else f"{low:.{decimals}g} < {name} <= {high:.{decimals}g}"
