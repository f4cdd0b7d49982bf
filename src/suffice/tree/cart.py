"""Classification and regression trees (CART). Breiman, Friedman, Olshen and Stone, 1984; Li 5.5."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.partitions import Opened, Partitions
from ..estimator.guarantees import GATHERS_LEAVES
from ..estimator.parameters import StrOptions, seed_of
from ..inputs import answers_of
from .arrays import TreeArrays, importances, paths
from .base import MAX_BINS, Prepared, TreeClassifier, TreeGrower, TreeRegressor, Trees
from .growth import binned, grow_tree, with_weight
from .model import Tree
from .pruning import (
    PathLoss,
    held_out_loss,
    numbers_of_leaves,
    pruned,
    pruning_path,
    trees_of_folds,
    unpruned,
)


class DecisionTree(TreeGrower):
    """Base class of CART trees: growth, pruning and the methods of scikit-learn's trees."""

    model_: Annotated[Tree, "D"]
    _several = True
    one_fit: ClassVar[dict[str, Any]] = {"ccp_alpha": unpruned}

    def _solve(self, data: Any) -> Trees:
        p, _, tree = self._grown(data)
        return Trees(pruned(tree.replace(bins=tree.bins.of_categories()), self.ccp_alpha), **p.fitted)

    def _shorten(self) -> None:
        self.model_ = pruned(self.model_, self.ccp_alpha)

    def _grown(self, data: Opened) -> tuple[Prepared, Partitions, Tree]:
        """The bins and limits of the growth, the binned rows, and the tree."""
        p = self._prepared(data)
        rows = p.data.map(binned, p.bins, p.target).map(with_weight).persisted()
        return p, rows, grow_tree(rows, p.rows, p.bins, p.target, p.limits)

    def cost_complexity_pruning_path(
        self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Bunch:
        """Compute the pruning path of minimal cost-complexity pruning.

        Returns
        -------
        ccp_path : Bunch
            `ccp_alphas`, the effective complexities of the subtrees, and `impurities`, the sums of the
            impurities of their leaves.
        """
        model = clone(self)
        *_, tree = model._grown(model._opened(X, y, sample_weight))
        alphas, impurities, _ = pruning_path(tree)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def cross_validated_pruning(
        self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, *, n_folds: int = 10
    ) -> Bunch:
        """Estimate the error of each tree of the pruning sequence by cross-validation.

        A usual choice is the smallest tree whose error is within one standard error of the least:
        ``np.flatnonzero(table.cv_error <= least + error_of_least)[-1]``. Breiman et al., section 3.4.

        Parameters
        ----------
        X, y, sample_weight : array, table, Parquet scan or distributed data set
            The rows, as in `fit`.
        n_folds : int, default=10
            Number of folds. The fold of a row follows from a hash of its values and `random_state`, so that
            equal rows are in one fold, and the order of the rows does not matter.

        Returns
        -------
        table : Bunch
            Arrays with an entry for each tree, from the largest to the root alone: `ccp_alpha`, a value of
            the parameter that gives the tree; `n_leaves`; `error`, the mean loss of the rows themselves;
            `cv_error`, the mean loss of rows that were held out; and `cv_std`, its standard error. The loss
            is the misclassification rate, the squared error, or half the Poisson deviance.
        """
        model = clone(self)
        p, rows, tree = model._grown(model._opened(X, y, sample_weight))
        alphas = np.unique(pruning_path(tree)[0])
        between = np.sqrt(alphas * np.append(alphas[1:], np.inf))  # representative of each tree
        seed = seed_of(self.random_state)
        trees = trees_of_folds(rows, p, n_folds, seed)
        total = rows.fold(held_out_loss, trees, between, p.target, n_folds, seed)
        own = rows.fold(PathLoss.of, tree, alphas, p.target)
        mean = total.total / total.weight
        variance = np.maximum(total.squares / total.weight - mean**2, 0.0)
        return Bunch(
            ccp_alpha=alphas,
            n_leaves=numbers_of_leaves(tree, alphas),
            error=own.total / own.weight,
            cv_error=mean,
            cv_std=np.sqrt(variance / total.weight),
        )

    def _leaf_values(self, X: Any) -> np.ndarray:
        """The value of the leaf of each row, (N, K)."""
        return self._of_leaves(lambda leaves: self.model_.value[leaves], X)

    def _of_leaves(self, f: Any, X: Any) -> np.ndarray:
        return answers_of(self, lambda rows: f(self.model_.leaves(rows)), X)

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf of each row."""
        return self._of_leaves(lambda leaves: leaves, X)

    def decision_path(self, X: Any) -> sp.csr_array:
        """The nodes that each row passes, as a sparse indicator matrix (n_samples, n_nodes)."""
        return paths(self.model_, self.apply(X))

    def get_depth(self) -> int:
        """The depth of the tree: the largest number of splits to a leaf."""
        check_is_fitted(self)
        return int(self.model_.depth.max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int(self.model_.is_leaf.sum())

    @property
    def tree_(self) -> TreeArrays:
        """The tree as arrays, with the names that scikit-learn gives them."""
        check_is_fitted(self)
        n_classes = np.broadcast_to(getattr(self, "n_classes_", 1), self.n_outputs_)
        return TreeArrays(self.model_, n_classes)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The total decrease of impurity by the splits of each feature, normalized."""
        check_is_fitted(self)
        return importances(self.model_)


class DecisionTreeClassifier(TreeClassifier, DecisionTree):
    """A decision tree classifier (CART), grown where the data is.

    Every distinct value of a feature is a candidate for a split, up to `max_bins` of them. Weights are summed
    as integers, so that the order of the rows, their blocks and the engine change no bit of the tree, and a
    row of weight 2 counts exactly as two rows. Of equal splits, the first feature and the lowest threshold
    are chosen.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'misclassification'}, default='gini'
        Impurity of a node: Gini index, entropy in bits ('log_loss' is the same), or misclassification rate.
    splitter : {'best', 'random'}, default='best'
        'best': the best of all thresholds. 'random': the best of one threshold for each feature, which is
        drawn uniformly between the smallest and the largest value in the node.
    max_depth : int, default=None
        Maximum depth of the tree. If None, nodes are split until all leaves are pure or too small.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
    min_samples_leaf : int or float, default=1
        Minimum weight of a leaf; a float is a fraction of the total weight.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf as a fraction of the total weight, class weights included.
    max_features : int, float or {'sqrt', 'log2'}, default=None
        Number of features to consider for each split; a float is a fraction. They are drawn for each node
        from its place in the tree. If None, all.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of `max_features` and `splitter`.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the total impurity by a split.
    class_weight : dict, list of dict or 'balanced', default=None
        Weights of the classes; with several targets, a list of those of each, which are multiplied.
    ccp_alpha : float, default=0.0
        Complexity of minimal cost-complexity pruning.
    monotonic_cst : array-like of int or dict, default=None
        For each feature, 1 if the probability of the second of two classes must not fall with it, -1 if it
        must not rise, 0 without a constraint; or a dict from names.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. With two classes, categories are ordered by their share
        of the second class, which finds the best subset; with more, one category is split off at a time.
        Unknown categories are treated as missing.
    max_bins : int, default=65535
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin, and every split is considered. With more, values with the same leading bits share a bin.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The classes, in order; of each target, if there are several.
    n_classes_ : int or ndarray of int
        Number of classes.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each feature.
    max_features_ : int
        Number of features considered for each split.
    n_features_in_ : int
        Number of features seen during `fit`.
    n_outputs_ : int
        Number of targets.
    tree_ : TreeArrays
        The tree as arrays with scikit-learn's names: `children_left`, `feature`, `threshold`, `value`, ...;
        and its methods `apply`, `predict` and `decision_path`.
    model_ : Tree
        The tree.

    See Also
    --------
    DecisionTreeRegressor : Trees for numbers.

    Notes
    -----
    The split of a node with weight W decreases the impurity Q most:

    .. math::

        W Q - W_L Q_L - W_R Q_R, \\qquad Q = 1 - ∑_k p_k^2 \\; \\text{or} \\; -∑_k p_k \\log_2 p_k.

    With several targets, Q is the mean of their impurities, and `predict_proba` returns a list.

    Missing values (NaN) go to the side of a split that lowers the impurity more. Where a node had none, they
    go with the larger child.

    References
    ----------
    * Breiman, Friedman, Olshen and Stone (1984), "Classification and Regression Trees", Wadsworth.

    Examples
    --------
    >>> from suffice.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> tree.predict([[1.4], [1.6]])
    array(['a', 'b'], dtype='<U1')
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "misclassification"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Seed = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        max_bins: int = MAX_BINS,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_bins = max_bins


class DecisionTreeRegressor(TreeRegressor, DecisionTree):
    """A decision tree regressor (CART), grown where the data is.

    Every distinct value of a feature is a candidate for a split, up to `max_bins` of them. Targets and
    weights are rounded once to a grid of integers, which is as fine as the sum of all rows allows: 62 bits
    less those of the number of rows. So the order of the rows, their blocks and the engine change no bit of
    the tree.

    Parameters
    ----------
    criterion : {'squared_error', 'friedman_mse', 'absolute_error', 'poisson'}, default='squared_error'
        Impurity of a node: the variance ('friedman_mse' is the same for one tree), the mean absolute
        deviation from the median, or half the mean Poisson deviance. For 'absolute_error', leaves predict
        medians, and the rows are gathered in memory.
    splitter : {'best', 'random'}, default='best'
        'best': the best of all thresholds. 'random': the best of one threshold for each feature, which is
        drawn uniformly between the smallest and the largest value in the node.
    max_depth : int, default=None
        Maximum depth of the tree. If None, nodes are split until all leaves are pure or too small.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
    min_samples_leaf : int or float, default=1
        Minimum weight of a leaf; a float is a fraction of the total weight.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf as a fraction of the total weight.
    max_features : int, float or {'sqrt', 'log2'}, default=None
        Number of features to consider for each split; a float is a fraction. They are drawn for each node
        from its place in the tree. If None, all.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of `max_features` and `splitter`.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the total impurity by a split.
    ccp_alpha : float, default=0.0
        Complexity of minimal cost-complexity pruning.
    monotonic_cst : array-like of int or dict, default=None
        For each feature, 1 if predictions must not fall with it, -1 if they must not rise, 0 without a
        constraint; or a dict from names.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. They are ordered by their mean target, which finds the
        best subset. Unknown categories are treated as missing.
    max_bins : int, default=65535
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin, and every split is considered. With more, values with the same leading bits share a bin.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each feature.
    max_features_ : int
        Number of features considered for each split.
    n_features_in_ : int
        Number of features seen during `fit`.
    n_outputs_ : int
        Number of targets.
    tree_ : TreeArrays
        The tree as arrays with scikit-learn's names: `children_left`, `feature`, `threshold`, `value`, ...;
        and its methods `apply`, `predict` and `decision_path`.
    model_ : Tree
        The tree.

    See Also
    --------
    DecisionTreeClassifier : Trees for classes.

    Notes
    -----
    The split of a node decreases the sum of squares of its W rows most, by

    .. math::

        \\frac{W_L W_R}{W} (\\bar y_L - \\bar y_R)^2.

    With several targets, the mean over them decreases most.

    Missing values (NaN) go to the side of a split that lowers the impurity more. Where a node had none, they
    go with the larger child.

    References
    ----------
    * Breiman, Friedman, Olshen and Stone (1984), "Classification and Regression Trees", Wadsworth.

    Examples
    --------
    >>> from suffice.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 5.0, 7.0])
    >>> tree.predict([[1.4], [1.6]])
    array([1.5, 6. ])
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Seed = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        max_bins: int = MAX_BINS,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_bins = max_bins
