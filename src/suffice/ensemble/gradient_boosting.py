"""Gradient boosting with exact thresholds, also of random samples. Friedman, 2001 and 2002; Li 8.4."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.loop import Progress
from ..core.partitions import Opened, Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..estimator.guarantees import GATHERS_LEAVES
from ..estimator.parameters import AT_LEAST_1, HasMethods, Interval, StrOptions
from ..inputs import Check, answers_of
from ..losses import Loss, loss_of
from ..statistics.bins import FeatureBins
from ..tree.base import MAX_BINS, TreeGrower, feature_names
from ..tree.cart import DecisionTreeRegressor
from ..tree.targets import NumberTarget
from .boosting import BoostingClassifier, BoostingRegressor, CartLearner, TreeBoosting
from .newton import Weights
from .weak_learners import Members, packed, unpacked


class ExactBoosting(Members, TreeBoosting):
    """Base class of gradient boosting on trees that consider every distinct value as a threshold."""

    _limited_by = "n_estimators"
    _by_rows = False
    monotonic_cst: ClassVar[Any] = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            k: v
            for k, v in TreeGrower._parameter_constraints.items()
            if k not in ("splitter", "monotonic_cst")
        },
        "learning_rate": [Interval(Real, 0.0, None, closed="left")],
        "n_estimators": [AT_LEAST_1],
        "subsample": [Interval(Real, 0.0, 1.0, closed="right")],
        "criterion": [StrOptions({"squared_error", "friedman_mse", "deprecated"})],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_iter_no_change": [AT_LEAST_1, None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
    }

    def fit(
        self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, monitor: Any = None
    ) -> Self:
        """Fit the trees, one stage after the other.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Targets. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.
        monitor : callable, optional
            Called after each stage with its number, the estimator, which is fitted so far, and a dict. If it
            returns True, the fit stops.

        Returns
        -------
        self
        """
        return self._fit_to(X, y, sample_weight, monitor=monitor)

    def _validation(self, n_rows: int, held_out: bool) -> tuple[bool, float | None]:
        return self.n_iter_no_change is not None, self.validation_fraction

    def _stops(self, losses: np.ndarray) -> bool:
        # As in scikit-learn: the losses of the last stages that were better than one of those before them.
        best = np.full(self.n_iter_no_change, np.inf)
        factor = self._link.factor
        for m, loss in enumerate(losses[1:] * factor):
            if not (loss + self.tol < best).any():
                return True
            best[m % len(best)] = loss
        return False

    def _learner(self, bins: FeatureBins, weights: Weights, n_rows: int, weight_unit: float) -> CartLearner:
        target = NumberTarget.of("squared_error", -1.0, 1.0, weights.total)
        limits = self._limits(target, weights.total)
        self.max_features_ = limits.max_features
        return CartLearner(
            bins, limits, weights, n_rows, self.learning_rate, weight_unit, self.ccp_alpha,
            self.min_impurity_decrease,
        )  # fmt: skip

    def _first(self, data: Partitions, categorical: np.ndarray) -> Any:
        if self.init is None or isinstance(self.init, str):
            return None
        model = clone(self.init)
        if isinstance(model, Estimator):
            passed = Opened(data, feature_names(self), Check.of(model), categorical=categorical)
            return packed(model.fit(passed))
        rows = data.gather("use an estimator of suffice as init.")
        if (rows.weight == 1.0).all():
            return packed(model.fit(rows.X, rows.y))
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(f"The initial estimator {type(model).__name__} does not support sample weights.")
        return packed(model.fit(rows.X, rows.y, sample_weight=rows.weight))

    def _baseline(self, targets: Any, rows: Partitions, loss: Loss, bins: FeatureBins) -> np.ndarray:
        if self.init is not None:
            return np.zeros(loss.n_outputs)
        return super()._baseline(targets, rows, loss, bins)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {**super()._fitted(progress), "n_estimators_": progress.model.n_stages}

    @property
    def _scores(self) -> np.ndarray:
        return self._link.factor * self.losses_

    @property
    def train_score_(self) -> np.ndarray:
        """The mean training loss of the in-bag rows after each stage."""
        return self._scores[1:, 0]

    def _must_sample(self, name: str) -> None:
        if self.subsample == 1.0 or not hasattr(self, "losses_"):
            raise AttributeError(f"{type(self).__name__} has {name} after a fit with subsample < 1.")

    @property
    def oob_scores_(self) -> np.ndarray:
        """The mean loss after each stage of the rows that are not in its sample."""
        self._must_sample("oob_scores_")
        return self._scores[1:, 1]

    @property
    def oob_improvement_(self) -> np.ndarray:
        """The decrease of the loss of rows that are not in the sample, by each stage."""
        self._must_sample("oob_improvement_")
        return -np.diff(self._scores[:, 1])

    @property
    def oob_score_(self) -> float:
        """The loss of rows that are not in the sample of the last stage."""
        self._must_sample("oob_score_")
        return float(self.oob_scores_[-1])

    @property
    def estimators_(self) -> np.ndarray:
        """The trees, (n_stages, n_trees)."""
        check_is_fitted(self)
        names = set(DecisionTreeRegressor._get_param_names()) & set(self._get_param_names())
        params = {name: getattr(self, name) for name in names - {"random_state", "criterion"}}
        out = np.empty(len(self.model_.forest), object)
        for m, tree in enumerate(self.model_.forest):
            out[m] = DecisionTreeRegressor(**params)
            value = tree.value / (self.learning_rate or 1.0)
            out[m].n_features_in_, out[m].n_outputs_ = self.n_features_in_, 1
            out[m].model_, out[m].max_features_ = tree.replace(value=value), self.max_features_
        return out.reshape(self.n_estimators_, -1)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The decrease of impurity by the splits of each feature, normalized."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for tree in self.model_.forest:
            inner, R = np.flatnonzero(~tree.is_leaf), tree.impurity * tree.weight
            decrease = R[inner] - R[tree.children[inner]].sum(axis=1)
            np.add.at(total, tree.feature[inner], decrease / tree.weight[0])
        return total / total.sum() if total.sum() > 0 else total

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row in each tree, (n_samples, n_stages); of a classifier
        (n_samples, n_stages, n_trees)."""
        check_is_fitted(self)
        forest = self.model_.forest
        leaves = (answers_of(self, forest.leaves, X) - forest.root).astype(np.float64)
        return leaves.reshape(len(leaves), self.n_estimators_, -1) if self._labels else leaves


class GradientBoostingRegressor(BoostingRegressor, ExactBoosting):
    """A gradient boosting regressor, fitted where the data is.

    Each stage grows a small tree to the negative gradients of the loss, with every distinct value as a
    candidate for a threshold, and optionally to a random sample of the rows.
    :class:`HistGradientBoostingRegressor` is faster for many rows.

    Parameters
    ----------
    loss : {'squared_error', 'absolute_error', 'huber', 'quantile'}, default='squared_error'
        Loss that is minimized: the squared error; the absolute error; the squared error of the smaller
        residuals and the absolute error of the larger; or the pinball loss.
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree.
    n_estimators : int, default=100
        Maximum number of stages: of trees, or with several classes of trees for each class.
    subsample : float, default=1.0
        Share of the rows to which the trees of a stage are grown. Each row is drawn on its own, from the
        seed, the stage and its number. If it is less than 1, `oob_scores_` has the mean loss after each stage
        of the rows that are not in its sample, `oob_score_` the last of them, and `oob_improvement_` their
        decreases.
    criterion : {'squared_error', 'friedman_mse', 'deprecated'}, default='deprecated'
        Ignored: splits are by the squared error.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
    min_samples_leaf : int or float, default=1
        Minimum weight of a leaf; a float is a fraction of the total weight.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf as a fraction of the total weight.
    max_depth : int or None, default=3
        Maximum depth of a tree.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the total impurity by a split.
    init : estimator, 'zero' or None, default=None
        What predicts before the first stage: a regressor that is fitted first, 'zero' for raw scores of zero,
        or None for the best constant. An estimator of suffice is fitted where the data is; for one of another
        library, the rows are gathered in memory.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of `subsample` and `max_features`, and of the rows for validation.
    max_features : int, float or {'sqrt', 'log2'}, default=None
        Number of features to consider for each split; a float is a fraction. They are drawn for each node
        from its place in the tree. If None, all.
    alpha : float, default=0.9
        Quantile of the absolute residuals from which they count as large in loss='huber'; or the quantile
        that is predicted with loss='quantile'.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is split first.
    warm_start : bool, default=False
        Whether `fit` adds stages to those of the previous call.
    validation_fraction : float, default=0.1
        Share of the rows for validation, if `n_iter_no_change` is set. A row is one of them by a hash of its
        values, so that their number is approximate, and equal rows stay together.
    n_iter_no_change : int, default=None
        Number of stages without a better loss of the rows for validation, after which to stop. If None, all
        stages are fitted.
    tol : float, default=1e-4
        Tolerance of the comparison of losses.
    ccp_alpha : float, default=0.0
        Complexity of minimal cost-complexity pruning.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. Unknown categories are treated as missing.
    max_bins : int, default=65535
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin, and every split is considered. With more, values with the same leading bits share a bin.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    n_estimators_ : int
        Number of stages.
    n_trees_per_iteration_ : int
        Number of trees of a stage, which is 1.
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_stages, n_trees)
        The trees.
    init_ : estimator or 'zero'
        What predicts before the first stage.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each feature.
    max_features_ : int
        Number of features considered for each split.
    train_score_ : ndarray of shape (n_estimators_,)
        Mean training loss after each stage, of the rows in its sample; twice that of `losses_` for the
        squared error and two classes, as in scikit-learn.
    losses_ : ndarray of shape (n_estimators_ + 1, 3)
        Mean loss before the first stage and after each: of the rows in its sample, of the others, and of
        those for validation; NaN where there are none.
    do_early_stopping_ : bool
        Whether the fit could stop early.
    converged_ : bool
        Whether the fit stopped early.
    stopped_because_ : str
        Why it stopped: 'n_estimators', 'tolerance', 'monitor' or 'callback'.
    model_ : BoostedTrees
        The trees, stage by stage, with the learning rate in the values of their leaves.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    HistGradientBoostingRegressor : Boosting on histograms, faster for many rows.
    RandomForestRegressor : Trees of samples, which do not depend on each other.

    Notes
    -----
    Stage m grows a tree by the squared error to the negative gradients of the loss in the raw scores f, to
    the rows of a random sample, and then finds the value of each leaf R:

    .. math::

        f_m(x) = f_{m-1}(x) + ν γ_R, \\qquad
        γ_R = \\arg\\min_γ ∑_{x_i ∈ R} w_i L(y_i, f_{m-1}(x_i) + γ).

    That is a mean, a median or a quantile, which are exact, or one Newton step. Sums are of integers, so that
    blocks, threads and the engine change no bit of the trees, nor the order of the rows without `subsample`.
    A row of weight 2 counts exactly as two rows.

    References
    ----------
    * Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29.
    * Friedman (2002), "Stochastic gradient boosting", Computational Statistics and Data Analysis 38.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import GradientBoostingRegressor
    >>> X = np.arange(40.0)[:, None]
    >>> model = GradientBoostingRegressor().fit(X, np.where(X[:, 0] < 20, 1.0, 5.0))
    >>> model.predict([[3.0], [33.0]]).round(3)
    array([1., 5.])
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ExactBoosting._parameter_constraints,
        "loss": [StrOptions({"squared_error", "absolute_error", "huber", "quantile"})],
        "init": [StrOptions({"zero"}), None, HasMethods(["fit", "predict"])],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Seed = None,
        max_features: Any = None,
        alpha: float = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        categorical_features: Any = None,
        max_bins: int = MAX_BINS,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.checkpoint = checkpoint

    @property
    def _link(self) -> Loss:  # type: ignore[override]
        return loss_of(self.loss, self.alpha)

    @property
    def init_(self) -> Any:
        """What predicts before the first stage."""
        check_is_fitted(self)
        if self.init is not None:
            return self.init if isinstance(self.init, str) else unpacked(self.model_.start)
        link = self._link
        if link.leaf == "step":
            out = DummyRegressor(strategy="mean")
        else:
            out = DummyRegressor(strategy="quantile", quantile=link.level)
        out.constant_, out.n_outputs_ = self.model_.baseline[None], 1
        return out


class GradientBoostingClassifier(BoostingClassifier, ExactBoosting):
    """A gradient boosting classifier, fitted where the data is.

    Each stage grows a small tree to the negative gradients of the loss, or one for each of several classes,
    with every distinct value as a candidate for a threshold, and optionally to a random sample of the rows.
    :class:`HistGradientBoostingClassifier` is faster for many rows.

    Parameters
    ----------
    loss : {'log_loss', 'exponential'}, default='log_loss'
        Loss that is minimized: minus the log-likelihood of the classes; or for two classes that of AdaBoost.
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree.
    n_estimators : int, default=100
        Maximum number of stages: of trees, or with several classes of trees for each class.
    subsample : float, default=1.0
        Share of the rows to which the trees of a stage are grown. Each row is drawn on its own, from the
        seed, the stage and its number. If it is less than 1, `oob_scores_` has the mean loss after each stage
        of the rows that are not in its sample, `oob_score_` the last of them, and `oob_improvement_` their
        decreases.
    criterion : {'squared_error', 'friedman_mse', 'deprecated'}, default='deprecated'
        Ignored: splits are by the squared error.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
    min_samples_leaf : int or float, default=1
        Minimum weight of a leaf; a float is a fraction of the total weight.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf as a fraction of the total weight.
    max_depth : int or None, default=3
        Maximum depth of a tree.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the total impurity by a split.
    init : estimator, 'zero' or None, default=None
        What predicts before the first stage: a classifier with `predict_proba` that is fitted
        first, 'zero' for raw scores of zero, or None for the best constant. An estimator of suffice is fitted
        where the data is; for one of another library, the rows are gathered in memory.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of `subsample` and `max_features`, and of the rows for validation.
    max_features : int, float or {'sqrt', 'log2'}, default=None
        Number of features to consider for each split; a float is a fraction. They are drawn for each node
        from its place in the tree. If None, all.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is split first.
    warm_start : bool, default=False
        Whether `fit` adds stages to those of the previous call.
    validation_fraction : float, default=0.1
        Share of the rows for validation, if `n_iter_no_change` is set. A row is one of them by a hash of its
        values, so that their number is approximate, and equal rows stay together.
    n_iter_no_change : int, default=None
        Number of stages without a better loss of the rows for validation, after which to stop. If None, all
        stages are fitted.
    tol : float, default=1e-4
        Tolerance of the comparison of losses.
    ccp_alpha : float, default=0.0
        Complexity of minimal cost-complexity pruning.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. Unknown categories are treated as missing.
    max_bins : int, default=65535
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin, and every split is considered. With more, values with the same leading bits share a bin.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    n_classes_ : int
        Number of classes.
    n_estimators_ : int
        Number of stages.
    n_trees_per_iteration_ : int
        Number of trees of a stage: 1 with two classes, else the number of classes.
    estimators_ : ndarray of DecisionTreeRegressor of shape (n_stages, n_trees)
        The trees.
    init_ : estimator or 'zero'
        What predicts before the first stage.
    feature_importances_ : ndarray of shape (n_features,)
        Normalized decrease of impurity by each feature.
    max_features_ : int
        Number of features considered for each split.
    train_score_ : ndarray of shape (n_estimators_,)
        Mean training loss after each stage, of the rows in its sample; twice that of `losses_` for the
        squared error and two classes, as in scikit-learn.
    losses_ : ndarray of shape (n_estimators_ + 1, 3)
        Mean loss before the first stage and after each: of the rows in its sample, of the others, and of
        those for validation; NaN where there are none.
    do_early_stopping_ : bool
        Whether the fit could stop early.
    converged_ : bool
        Whether the fit stopped early.
    stopped_because_ : str
        Why it stopped: 'n_estimators', 'tolerance', 'monitor' or 'callback'.
    model_ : BoostedTrees
        The trees, stage by stage, with the learning rate in the values of their leaves.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    HistGradientBoostingClassifier : Boosting on histograms, faster for many rows.
    AdaBoostClassifier : Exponential loss, by weights of the rows.

    Notes
    -----
    Stage m grows a tree by the squared error to the negative gradients of the loss in the raw scores f, to
    the rows of a random sample, and then finds the value of each leaf R:

    .. math::

        f_m(x) = f_{m-1}(x) + ν γ_R, \\qquad
        γ_R = \\arg\\min_γ ∑_{x_i ∈ R} w_i L(y_i, f_{m-1}(x_i) + γ).

    That is a mean, a median or a quantile, which are exact, or one Newton step. Sums are of integers, so that
    blocks, threads and the engine change no bit of the trees, nor the order of the rows without `subsample`.
    A row of weight 2 counts exactly as two rows.

    References
    ----------
    * Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29.
    * Friedman (2002), "Stochastic gradient boosting", Computational Statistics and Data Analysis 38.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import GradientBoostingClassifier
    >>> X = np.arange(40.0)[:, None]
    >>> model = GradientBoostingClassifier().fit(X, X[:, 0] >= 20)
    >>> model.predict([[3.0], [33.0]])
    array([False,  True])
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ExactBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss", "exponential"})],
        "init": [StrOptions({"zero"}), None, HasMethods(["fit", "predict_proba"])],
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "deprecated",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Seed = None,
        max_features: Any = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        categorical_features: Any = None,
        max_bins: int = MAX_BINS,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.checkpoint = checkpoint

    def _loss_of(self, start: Any) -> tuple[Loss, dict[str, Any]]:
        loss, fitted = super()._loss_of(start)
        n_classes = len(fitted["classes_"])
        if n_classes < 2:
            raise ValueError(
                f"y contains {n_classes} class after sample_weight trimmed classes with zero weights, while "
                "a minimum of 2 classes are required."
            )
        return loss, {**fitted, "n_classes_": n_classes}

    @property
    def init_(self) -> Any:
        """What predicts before the first stage."""
        check_is_fitted(self)
        if self.init is not None:
            return self.init if isinstance(self.init, str) else unpacked(self.model_.start)
        out = DummyClassifier(strategy="prior")
        out._strategy = "prior"
        out.class_prior_ = self._link.predicted(self.model_.baseline[None])[0]
        out.classes_, out.n_classes_, out.n_outputs_ = self.classes_, self.n_classes_, 1
        return out

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
