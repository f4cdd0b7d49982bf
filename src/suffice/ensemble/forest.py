"""Random forests. Breiman, 2001."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from ..core import partitions
from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.partitions import Partitions
from ..core.threads import in_order, n_threads, threads
from ..estimator.guarantees import GATHERS_LEAVES, Guarantee
from ..estimator.parameters import AT_LEAST_1, Interval, RealNotInt, StrOptions
from ..inputs import answers_of, in_memory
from ..loops.trees import mixed
from ..statistics.histograms import Binned
from ..tree.arrays import importances, paths
from ..tree.base import MAX_BINS, Prepared, TreeClassifier, TreeGrower, TreeRegressor, Trees
from ..tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from ..tree.forest import Forest
from ..tree.growth import binned, grow_tree, growth_bytes, with_weight
from ..tree.model import Tree
from ..tree.pruning import pruned, unpruned
from .draws import MOST, Draws, mean_draws, warn_of_unscored
from .weak_learners import Members

INSTEAD = "fit without oob_score."


def sampled(draws: Draws, sample: int, target: Any, class_factor: np.ndarray | None, block: Binned) -> Binned:
    """The rows of a sample, each with its weight times the number of its draws."""
    entry = block.entry
    if class_factor is not None:
        entry = np.rint(entry * target.row_factors(class_factor, block)[:, None]).astype(np.int64)
    return with_weight(block.replace(entry=entry * draws.counts(sample, block)[:, None]))


def gathered_if_few(p: Prepared, rows: Partitions, draws: Draws) -> tuple[Partitions, Draws, int]:
    """The binned rows, gathered in this process if they fit; their draws; and the number of trees to grow
    at once."""
    row_bytes = growth_bytes(p.bins, p.target)
    if (block := rows.gather_if(p.rows, row_bytes)) is None:
        return rows, draws, 1
    at_once = max(1, min(n_threads(), 4 * partitions.GATHERED_BYTES // (p.rows * row_bytes)))
    return in_memory(block), draws.gathered(), at_once


def grown(grow: Callable[[int], Any], numbers: tuple[int, ...], at_once: int) -> Iterator[Any]:
    """Yield the trees with these numbers; `at_once` of them grow at the same time in threads."""
    growing = in_order(grow, numbers)
    for _ in numbers:
        with threads(at_once):
            tree = next(growing)
        yield tree


def class_totals(target: Any, block: Binned) -> np.ndarray:
    return target.totals(block)


def out_of_bag(trees: tuple[Tree, ...], draws: Draws, target: Any, block: Binned) -> Rows:
    """The mean value of the trees that did not sample a row; NaN if all did."""
    total, n = np.zeros((len(block), trees[0].value.shape[1])), np.zeros(len(block))
    codes = block.codes
    for m, tree in enumerate(trees):
        out = np.flatnonzero(draws.counts(m, block) == 0)
        total[out] += tree.value[tree.leaves_of_codes(np.ascontiguousarray(codes[:, out]))]
        n[out] += 1.0
    with np.errstate(invalid="ignore"):
        mean = total / n[:, None]
    return Rows(mean, target.observed(block), block.entry[:, 0].astype(np.float64), block.index)


def scored(votes: Rows) -> np.ndarray:
    """The rows that at least one tree scores. Warns if these are not all."""
    known = ~np.isnan(votes.X[:, 0])
    warn_of_unscored(known)
    return np.flatnonzero(known)


def indicators(classes: list[np.ndarray]) -> np.ndarray:
    """The two classes that all of several targets have."""
    values = np.unique(np.concatenate(classes))
    if len(values) > 2:
        raise ValueError(
            "The type of target cannot be used to compute OOB estimates: oob_score of several targets takes "
            f"two classes, such as 0 and 1, and y has {len(values)}. Fit without oob_score."
        )
    return values


@dataclass(frozen=True, eq=False, kw_only=True)
class Grove(Trees):
    """The trees of a forest, and the function that scores each row by the trees that did not sample it."""

    draws_: Draws
    rows: Partitions  # binned
    draws: Draws  # of these rows
    prepared: Prepared


class RandomForest(Members, TreeGrower):
    """Base class of random forests: trees of samples of the rows."""

    model_: Annotated[Forest, "D"]
    draws_: Draws
    _several = True
    _draws: ClassVar[float] = MOST + 1.0
    reports_tasks = True
    _tree: ClassVar[Any]  # the class of one tree
    one_fit: ClassVar[dict[str, Any]] = {"n_estimators": max, "ccp_alpha": unpruned}

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{k: v for k, v in TreeGrower._parameter_constraints.items() if k != "splitter"},
        "n_estimators": [AT_LEAST_1],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean", callable],
        "max_samples": [
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
    }
    splitter: ClassVar[str] = "best"

    def _guarantee(self) -> Guarantee:
        return replace(super()._guarantee(), exact="order" if self.bootstrap else "bit")

    def _check_options(self) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if self.max_samples is not None and not self.bootstrap:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`."
            )

    def _solve(self, data: Any) -> Grove:
        p = self._prepared(data)
        self._check_same_targets(p.fitted.get("classes_"), p.fitted["n_outputs_"])
        if self.oob_score and self._labels and p.fitted["n_outputs_"] > 1:
            indicators(p.fitted["classes_"])
        rows = p.data.map(binned, p.bins, p.target).persisted()
        mean = 1.0 if self.max_samples is None else mean_draws(self.max_samples, p.rows)
        draws = Draws.of(rows, p.limits.key, p.rows, mean, self.bootstrap)
        trees = tuple(self.model_) if self._continues_fit() else ()
        self._check_number(len(trees))
        trees = self._with_more(trees, partial(self._growth, p, rows, draws), p.data, Forest.of)
        return Grove(
            Forest.of(trees), **p.fitted, draws_=draws.gathered(), rows=rows, draws=draws, prepared=p
        )

    def _finish(self, progress: Any, data: Partitions) -> None:
        if self.oob_score:
            p = progress.prepared
            trees = tuple(tree.replace(bins=p.bins) for tree in self.model_)
            votes = progress.rows.map(out_of_bag, trees, progress.draws, p.target).gather(INSTEAD)
            self._score_out_of_bag(votes)

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "model_")

    def _shorten(self) -> None:
        first = self.model_.first(self.n_estimators)
        self.model_ = Forest.of([pruned(tree, self.ccp_alpha) for tree in first])
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):  # of all trees
            self.__dict__.pop(name, None)

    def _growth(
        self, p: Prepared, rows: Partitions, draws: Draws, numbers: tuple[int, ...]
    ) -> Iterator[Tree]:
        """The trees with these numbers."""
        rows, draws, at_once = gathered_if_few(p, rows, draws)
        balanced = getattr(self, "class_weight", None) == "balanced_subsample"

        def grow(m: int) -> Tree:
            factor = None
            if balanced:
                total = rows.map(sampled, draws, m, p.target, None).fold(class_totals, p.target)
                factor = p.target.balanced(total)
            with np.errstate(over="ignore"):
                key = int(mixed(np.uint64(p.limits.key) + np.uint64(m)))
            part, limits = rows.map(sampled, draws, m, p.target, factor), p.limits._replace(key=key)
            tree = pruned(grow_tree(part, p.rows, p.bins, p.target, limits), self.ccp_alpha)
            return tree.replace(bins=p.bins.of_categories())

        return grown(grow, numbers, at_once)

    def _score_out_of_bag(self, votes: Any) -> None:
        raise NotImplementedError

    def _score(self, y: np.ndarray, predicted: np.ndarray, weight: np.ndarray, score: Any) -> float:
        if callable(self.oob_score):
            return float(self.oob_score(y, predicted))
        return float(score(y, predicted, sample_weight=weight))

    def _leaf_values(self, X: Any) -> np.ndarray:
        """The mean value of the leaves of each row, (N, K)."""
        return answers_of(self, lambda rows: self.model_.sum(rows), X) / len(self.model_)

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf of each row in each tree, (n_samples, n_estimators)."""
        return answers_of(self, lambda rows: self.model_.leaves(rows), X) - self.model_.root

    def decision_path(self, X: Any) -> tuple[sp.csr_array, np.ndarray]:
        """The nodes that each row passes in all trees, as a sparse indicator matrix, and the first column of
        each tree in it."""
        leaves = self.apply(X)
        parts = [paths(tree, leaves[:, m]) for m, tree in enumerate(self.model_)]
        return sp.hstack(parts, format="csr"), np.append(self.model_.root, len(self.model_.nodes.feature))

    @property
    def estimator_(self) -> Any:
        """A tree with these parameters, not fitted."""
        names = set(self._tree._get_param_names()) & self.get_params(deep=False).keys() - {"random_state"}
        if getattr(self, "class_weight", None) == "balanced_subsample":
            names -= {"class_weight"}
        return self._tree(**{name: getattr(self, name) for name in names})

    @property
    def estimator(self) -> Any:
        """A tree of the class of the members, which scikit-learn's forests have before a fit, too."""
        return self._tree()

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The numbers of the rows of each tree, among those with a weight, each as often as it is drawn."""
        return [self.draws_.rows(m) for m in range(len(self.model_))]

    @property
    def estimators_(self) -> list[Any]:
        """The trees."""
        fitted = {k: v for k, v in vars(self).items() if k in ("classes_", "n_classes_", "max_features_")}
        out = []
        for tree in self.model_:
            one = self.estimator_
            one.n_features_in_, one.n_outputs_, one.model_ = self.n_features_in_, self.n_outputs_, tree
            one.__dict__.update(fitted)
            out.append(one)
        return out

    @property
    def feature_importances_(self) -> np.ndarray:
        """The decrease of impurity by the splits of each feature: the mean over the trees, normalized."""
        check_is_fitted(self)
        split = [importances(tree) for tree in self.model_ if len(tree.feature) > 1]
        total = np.sum(split, axis=0) if split else np.zeros(self.n_features_in_)
        return total / total.sum() if total.any() else total


class RandomForestClassifier(TreeClassifier, RandomForest):
    """A random forest classifier: trees of bootstrap samples, with random features in each split.

    The sample of a tree follows from the seed, the number of the tree and the numbers of the rows. So for
    rows in one order, blocks and engines change no bit, and out-of-bag scores need no memory of the samples.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {'gini', 'entropy', 'log_loss', 'misclassification'}, default='gini'
        Impurity of a node: Gini index, entropy in bits ('log_loss' is the same), or misclassification rate.
    max_depth : int, default=None
        Maximum depth of the trees. If None, nodes are split until all leaves are pure or too small.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
    min_samples_leaf : int or float, default=1
        Minimum weight of a leaf; a float is a fraction of the total weight.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf as a fraction of the total weight.
    max_features : int, float, {'sqrt', 'log2'} or None, default='sqrt'
        Number of features to consider for each split; a float is a fraction. If None, all.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the total impurity by a split.
    bootstrap : bool, default=True
        Whether each tree is grown to a random sample of the rows, in which a row is drawn a Poisson number of
        times: the bootstrap of many rows. If False, to all rows.
    oob_score : bool or callable, default=False
        Whether to score each row by the trees whose sample it is not in. A callable computes the score from
        targets and predictions.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples and of `max_features`.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the previous call.
    class_weight : dict, list of dict, 'balanced' or 'balanced_subsample', default=None
        Weights of the classes; 'balanced_subsample' balances them in each sample. With several targets, a
        list of those of each, which are multiplied.
    ccp_alpha : float, default=0.0
        Complexity of minimal cost-complexity pruning.
    max_samples : int or float, default=None
        Expected number of rows in a sample; a float is a fraction. If None, all.
    monotonic_cst : array-like of int or dict, default=None
        For each feature, 1 if the probability of the second of two classes must not fall with it, -1 if it
        must not rise, 0 without a constraint; or a dict from names.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings.
    max_bins : int, default=65535
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin, and every split is considered. With more, values with the same leading bits share a bin.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The classes, in order; of each target, if there are several.
    n_classes_ : int or ndarray of int
        Number of classes.
    estimators_ : list of DecisionTreeClassifier
        The trees.
    estimator_ : DecisionTreeClassifier
        A tree with the parameters of the forest, not fitted.
    estimators_samples_ : list of ndarray
        The numbers of the rows of each tree, among those with a weight, each as often as it is drawn.
    draws_ : Draws
        How often each row is in the sample of each tree.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each feature, the mean over the trees.
    max_features_ : int
        Number of features considered for each split.
    n_outputs_ : int
        Number of targets.
    model_ : Forest
        The trees, one after the other.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or (n_samples, 2, n_outputs)
        Only with `oob_score`: the mean shares of the classes by the trees whose sample a row is not in; NaN
        if it is in all of them.
    oob_score_ : float
        Only with `oob_score`: the score of the rows that are not in all samples, accuracy by
        default.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    suffice.tree.DecisionTreeClassifier : One tree.

    Notes
    -----
    The prediction is the mean over the M trees, which lowers the variance of one:

    .. math::

        \\operatorname{Var} \\frac 1 M ∑_m T_m = ρ σ^2 + \\frac{1 - ρ} M σ^2,

    where σ² is the variance of a tree and ρ the correlation of two. Random features lower the correlation.

    References
    ----------
    * Breiman (2001), "Random forests", Machine Learning 45.
    * Oza and Russell (2001), "Online bagging and boosting", AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import RandomForestClassifier
    >>> X = np.arange(40.0)[:, None]
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, X[:, 0] >= 20)
    >>> forest.predict([[3.0], [33.0]])
    array([False,  True])
    """

    exempt = (GATHERS_LEAVES,)

    _tree = DecisionTreeClassifier
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RandomForest._parameter_constraints,
        "criterion": DecisionTreeClassifier._parameter_constraints["criterion"],
        "class_weight": [dict, list, StrOptions({"balanced", "balanced_subsample"}), None],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        max_bins: int = MAX_BINS,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.checkpoint = checkpoint

    def _score_out_of_bag(self, votes: Any) -> None:
        known = scored(votes)
        if self.n_outputs_ == 1:
            self.oob_decision_function_, y = votes.X, self.classes_[votes.y[known]]
        else:
            values, y = indicators(self.classes_), self._labels_of(votes.y[known].T)
            self.oob_decision_function_ = np.zeros((len(votes), len(values), self.n_outputs_))
            for t, part in enumerate(self._by_target(votes.X)):
                self.oob_decision_function_[:, np.searchsorted(values, self.classes_[t]), t] = part
        self.oob_score_ = self._score(y, self._best(votes.X[known]), votes.weight[known], accuracy_score)


class RandomForestRegressor(TreeRegressor, RandomForest):
    """A random forest regressor: trees of bootstrap samples, with random features in each split.

    The sample of a tree follows from the seed, the number of the tree and the numbers of the rows. So for
    rows in one order, blocks and engines change no bit, and out-of-bag scores need no memory of the samples.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {'squared_error', 'friedman_mse', 'absolute_error', 'poisson'}, default='squared_error'
        Impurity of a node: the variance ('friedman_mse' is the same), the mean absolute deviation from the
        median, or half the mean Poisson deviance. For 'absolute_error', leaves predict medians, and the rows
        are gathered in memory.
    max_depth : int, default=None
        Maximum depth of the trees. If None, nodes are split until all leaves are pure or too small.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
    min_samples_leaf : int or float, default=1
        Minimum weight of a leaf; a float is a fraction of the total weight.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf as a fraction of the total weight.
    max_features : int, float, {'sqrt', 'log2'} or None, default=1.0
        Number of features to consider for each split; a float is a fraction. If None, all.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is split first.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the total impurity by a split.
    bootstrap : bool, default=True
        Whether each tree is grown to a random sample of the rows, in which a row is drawn a Poisson number of
        times: the bootstrap of many rows. If False, to all rows.
    oob_score : bool or callable, default=False
        Whether to score each row by the trees whose sample it is not in. A callable computes the score from
        targets and predictions.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples and of `max_features`.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the previous call.
    ccp_alpha : float, default=0.0
        Complexity of minimal cost-complexity pruning.
    max_samples : int or float, default=None
        Expected number of rows in a sample; a float is a fraction. If None, all.
    monotonic_cst : array-like of int or dict, default=None
        For each feature, 1 if the prediction must not fall with it, -1 if it
        must not rise, 0 without a constraint; or a dict from names.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings.
    max_bins : int, default=65535
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin, and every split is considered. With more, values with the same leading bits share a bin.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRegressor
        The trees.
    estimator_ : DecisionTreeRegressor
        A tree with the parameters of the forest, not fitted.
    estimators_samples_ : list of ndarray
        The numbers of the rows of each tree, among those with a weight, each as often as it is drawn.
    draws_ : Draws
        How often each row is in the sample of each tree.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each feature, the mean over the trees.
    max_features_ : int
        Number of features considered for each split.
    n_outputs_ : int
        Number of targets.
    model_ : Forest
        The trees, one after the other.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Only with `oob_score`: the mean prediction of the trees whose sample a row is not in; NaN if it is
        in all of them.
    oob_score_ : float
        Only with `oob_score`: the score of the rows that are not in all samples, R squared by
        default.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    suffice.tree.DecisionTreeRegressor : One tree.

    Notes
    -----
    The prediction is the mean over the M trees, which lowers the variance of one:

    .. math::

        \\operatorname{Var} \\frac 1 M ∑_m T_m = ρ σ^2 + \\frac{1 - ρ} M σ^2,

    where σ² is the variance of a tree and ρ the correlation of two. Random features lower the correlation.

    References
    ----------
    * Breiman (2001), "Random forests", Machine Learning 45.
    * Oza and Russell (2001), "Online bagging and boosting", AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import RandomForestRegressor
    >>> X = np.arange(40.0)[:, None]
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, np.where(X[:, 0] < 20, 1.0, 5.0))
    >>> forest.predict([[3.0], [33.0]])
    array([1., 5.])
    """

    exempt = (GATHERS_LEAVES,)

    _tree = DecisionTreeRegressor
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RandomForest._parameter_constraints,
        "criterion": DecisionTreeRegressor._parameter_constraints["criterion"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        max_bins: int = MAX_BINS,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.checkpoint = checkpoint

    def _score_out_of_bag(self, votes: Any) -> None:
        self.oob_prediction_ = votes.X[:, 0] if self.n_outputs_ == 1 else votes.X
        known = scored(votes)
        y, predicted = votes.y[known], self.oob_prediction_[known]
        self.oob_score_ = self._score(y, predicted, votes.weight[known], r2_score)
