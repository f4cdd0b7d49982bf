"""Displays of a tree and of its pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.extras import required
from ..tree.model import Tree
from ..tree.multiway import MultiwayTree
from ..tree.rules import answer, branches, joined_conditions, named_tree
from .base import COLORS, Display, colors, last_step, shorten

BAR = 0.72, 0.2  # width and height of the bar of a node; columns and rows are one apart


@dataclass(frozen=True)
class DrawnNode:
    """A node of a drawn tree."""

    node: int  # of the tree
    parent: int  # among the drawn nodes; -1 of the root
    depth: int
    row: float  # of the picture, from the top
    condition: str  # of the branch that leads to it
    answer: str
    weight: float
    value: np.ndarray  # the share of each class, or the mean
    is_cut: bool  # whether it has children that are not drawn


class TreeDisplay(Display):
    """A decision tree from left to right: the condition of each branch, what each node predicts, its weight.

    The bar of a node has the shares of the classes in their colors. For a regression, it has one color, from
    light for the smallest to dark for the largest mean.

    Parameters
    ----------
    nodes : list of DrawnNode
        The nodes to draw, each after its parent.
    classes : ndarray of shape (n_classes,), default=None
        Names of the classes. None for a regression.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    bars_ : list of list of matplotlib Rectangle
        For each node, the parts of its bar.
    texts_ : list of matplotlib Text
        Conditions and answers.
    edges_ : list of matplotlib Line2D
        Lines from parents to children, wider for more weight.

    See Also
    --------
    suffice.tree.export_rules : The rules of the leaves as text.
    ImportancesDisplay : The features by their importance.

    Examples
    --------
    >>> from suffice.plot import TreeDisplay
    >>> from suffice.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[20.0], [35.0], [50.0]], ["no", "yes", "yes"])
    >>> display = TreeDisplay.from_estimator(tree, names=["income"])
    >>> [node.condition for node in display.nodes]
    ['', 'income <= 27.5', 'income > 27.5']
    """

    def __init__(self, nodes: Any, classes: Any = None) -> None:
        self.nodes, self.classes = nodes, classes

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        max_depth: int = 4,
        ax: Any = None,
        names: Any = None,
        decimals: int = 3,
    ) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : DecisionTreeClassifier, DecisionTreeRegressor or MultiwayTreeClassifier
            Fitted tree, e.g. one of `estimators_` of a forest; or a pipeline that ends with one.
        max_depth : int, default=4
            Depth to which the tree is drawn. Nodes with more below have three dots.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created, of a size at which the texts can be read.
        names : sequence of str, default=None
            Names of the features. If None, those seen in `fit`, or feature_0, feature_1, ...
        decimals : int, default=3
            Number of significant digits.

        Returns
        -------
        TreeDisplay
        """
        model, _ = last_step(estimator)
        if names is None and model is not estimator and len(estimator) > 1:
            names = estimator[:-1].get_feature_names_out()
        check_is_fitted(model)
        if not isinstance(getattr(model, "model_", None), Tree | MultiwayTree):
            raise TypeError(
                f"{type(model).__name__} is not one tree: pass a decision tree, e.g. one of `estimators_`."
            )
        return cls(_drawn_nodes(model, max_depth, names, decimals), getattr(model, "classes_", None)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        TreeDisplay
        """
        columns = 1 + max(node.depth for node in self.nodes)
        rows = 1.0 + max(node.row for node in self.nodes)
        ax = self._on(ax, figsize=(2.7 * columns + 0.8, 0.62 * rows + 0.6))
        Patch = required("matplotlib.patches", "plot").Patch

        from .drawing import legend_beside

        width, height = BAR
        palette = self._colors()
        self.bars_, self.texts_, self.edges_ = [], [], []
        for node in self.nodes:
            x, y = float(node.depth), node.row
            if node.parent >= 0:
                above = self.nodes[node.parent]
                middle = (above.depth + width + x) / 2.0
                share = node.weight / self.nodes[0].weight
                line = [above.depth + width, middle, middle, x], [above.row, above.row, y, y]
                self.edges_ += ax.plot(
                    *line, color="0.7", lw=0.8 + 4.0 * share, solid_joinstyle="round", zorder=0
                )
            bar, left = [], x
            for part, color in palette(node):
                bar += ax.barh(y, part * width, height, left, color=color, lw=0.0)
                left += part * width
            self.bars_.append(bar)
            ax.barh(y, width, height, x, fill=False, edgecolor="0.3", lw=0.6)
            style = {"fontsize": 9.5, "ha": "left", "clip_on": False}
            if node.condition:
                label = shorten(node.condition, 28)
                self.texts_.append(ax.text(x, y - 0.16, label, va="bottom", **style))
            text = f"{shorten(node.answer, 18)} ({node.weight:,.6g})"
            self.texts_.append(ax.text(x, y + 0.14, text, va="top", color="0.35", **style))
            if node.is_cut:
                dots = "\N{MIDLINE HORIZONTAL ELLIPSIS}"
                self.texts_.append(ax.text(x + width + 0.03, y, dots, va="center", weight="bold", **style))
        if self.classes is not None:
            pairs = zip(colors(len(self.classes)), self.classes, strict=True)
            legend_beside(ax, [Patch(color=color, label=shorten(name)) for color, name in pairs])
        ax.set(xlim=(-0.05, columns), ylim=(rows - 0.4, -0.6))
        ax.set_axis_off()
        return self

    def _colors(self) -> Any:
        """The function that returns the parts of the bar of a node, with their colors."""
        if self.classes is not None:
            palette = colors(len(self.classes))
            return lambda node: zip(node.value, palette, strict=True)
        colormaps = required("matplotlib", "plot").colormaps
        Normalize = required("matplotlib.colors", "plot").Normalize

        means = [node.value[0] for node in self.nodes]
        scale = Normalize(min(means), max(means))
        return lambda node: [(1.0, colormaps["Blues"](0.1 + 0.8 * scale(node.value[0])))]


def _drawn_nodes(model: BaseEstimator, max_depth: int, names: Any, decimals: int) -> list[DrawnNode]:
    """The nodes up to a depth, in preorder. Leaves have a row each; others are in the middle of theirs."""
    tree, names = named_tree(model, names)
    out: list[Any] = []
    n_rows = 0

    def draw(node: int, parent: int, depth: int, condition: str) -> float:
        """Draw a subtree. Returns the row of its root."""
        nonlocal n_rows
        index, below = len(out), branches(tree, node) if tree.feature[node] >= 0 else []
        out.append(None)
        is_cut = bool(below) and depth >= max_depth
        rows = []
        for branch, child in [] if is_cut else below:
            (text,) = joined_conditions(tree, [(node, branch)], names, decimals)
            text = (
                text.removeprefix("(").removesuffix(")").replace(f" or {names[tree.feature[node]]} is", " or")
            )
            rows.append(draw(child, index, depth + 1, text))
        row = (rows[0] + rows[-1]) / 2.0 if rows else float(n_rows)
        n_rows += not rows
        text, weight = answer(model, tree, node, decimals), float(tree.weight[node])
        out[index] = DrawnNode(node, parent, depth, row, condition, text, weight, tree.value[node], is_cut)
        return row

    draw(0, -1, 0, "")
    return out


class PruningDisplay(Display):
    """Error of the trees of a pruning sequence by the number of leaves, and the smallest tree whose error is
    within one standard error of the least.

    Parameters
    ----------
    table : Bunch
        What `cross_validated_pruning` of a tree returned.

    Attributes
    ----------
    chosen : int
        Index of the chosen tree in the table: ``table.ccp_alpha[chosen]`` is the parameter that gives it.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    line_ : matplotlib Line2D
        Error of the rows to which the trees were grown.
    errorbar_ : matplotlib ErrorbarContainer
        Cross-validated error, with its standard error.
    bound_ : matplotlib Line2D
        The least cross-validated error plus its standard error.
    chosen_ : matplotlib Line2D
        Mark of the chosen tree.

    See Also
    --------
    suffice.tree.DecisionTreeClassifier : Its method `cross_validated_pruning` returns the table.
    TreeDisplay : The tree.

    References
    ----------
    * Breiman, Friedman, Olshen and Stone (1984), "Classification and Regression Trees", section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.plot import PruningDisplay
    >>> from suffice.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] > 0) ^ (rng.random(300) < 0.1)
    >>> table = DecisionTreeClassifier(random_state=0).cross_validated_pruning(X, y)
    >>> display = PruningDisplay.from_table(table)
    >>> int(table.n_leaves[display.chosen])
    2
    """

    def __init__(self, table: Any) -> None:
        self.table = table

    @property
    def chosen(self) -> int:
        """Index of the smallest tree within one standard error of the least error."""
        return int(np.flatnonzero(self.table.cv_error <= self._bound)[-1])

    @property
    def _bound(self) -> float:
        best = np.argmin(self.table.cv_error)
        return float(self.table.cv_error[best] + self.table.cv_std[best])

    @classmethod
    def from_table(cls, table: Any, *, ax: Any = None) -> Self:
        """Draw a table of cross-validated pruning.

        Parameters
        ----------
        table : Bunch
            What `cross_validated_pruning` of a tree returned.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        PruningDisplay
        """
        return cls(table).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        PruningDisplay
        """
        ax = self._on(ax, figsize=(6.4, 3.8))
        table, at = self.table, self.chosen
        (self.line_,) = ax.plot(table.n_leaves, table.error, ".-", color=COLORS[0], label="rows of the fit")
        held_out = {"fmt": ".-", "capsize": 2, "color": COLORS[1], "label": "rows held out"}
        self.errorbar_ = ax.errorbar(table.n_leaves, table.cv_error, yerr=table.cv_std, **held_out)
        self.bound_ = ax.axhline(self._bound, color="0.6", lw=0.8, ls="--", label="one standard error")
        (self.chosen_,) = ax.plot(
            table.n_leaves[at],
            table.cv_error[at],
            "o",
            ms=9,
            mfc="none",
            mec="0.2",
            label=f"chosen: {table.n_leaves[at]:,} leaves",
        )
        ax.set(xscale="log", xlabel="number of leaves", ylabel="mean loss")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        return self
