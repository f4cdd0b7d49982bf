"""Gradient boosting on histograms. Friedman, 2001; Ke and others, 2017; Li 8.4."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import check_scoring

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.randomness import Purpose, key_of
from ..estimator.guarantees import GATHERS_LEAVES
from ..estimator.parameters import AT_LEAST_1, Interval, RealNotInt, StrOptions, seed_of
from ..inputs import nameless_copy, source_of
from ..losses import Loss, loss_of
from ..statistics.bins import FeatureBins
from ..tree.base import TreeGrower
from ..tree.growth import NO_LIMIT, Limits
from .boosting import BoostingClassifier, BoostingRegressor, NewtonLearner, TreeBoosting
from .newton import Weights
from .stages import Start

AUTO_ROWS = 10_000  # number of rows above which early_stopping='auto' stops early


class HeldRows:
    """Selects the validation rows, not binned; all rows if no fraction is set aside. Rows of weight zero
    are dropped."""

    def __init__(self, start: Start) -> None:
        self.start = start

    def __call__(self, rows: Any) -> Any:
        seen = rows.weight > 0 if self.start.held is None else (rows.weight > 0) & self.start.is_held(rows)
        return rows[np.flatnonzero(seen)]


class HistBoosting(TreeBoosting):
    """Base class of histogram-based gradient boosting."""

    _limited_by = "max_iter"
    _by_rows = True
    _from_dtype_of_arrays = True
    one_fit: ClassVar[dict[str, Any]] = {"max_iter": max}

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: TreeGrower._parameter_constraints[name]
            for name in ("monotonic_cst", "categorical_features")
        },
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [AT_LEAST_1, None],
        "min_samples_leaf": [AT_LEAST_1],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "interaction_cst": [list, tuple, StrOptions({"pairwise", "no_interactions"}), None],
        "early_stopping": [StrOptions({"auto"}), "boolean"],
        "scoring": [str, callable, None],
        "validation_fraction": [Interval(RealNotInt, 0, 1, closed="neither"), AT_LEAST_1, None],
        "n_iter_no_change": [AT_LEAST_1],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def fit(
        self,
        X: Any,
        y: MaybeArray = None,
        sample_weight: MaybeArray = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
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
        X_val, y_val, sample_weight_val : array, table, Parquet scan or distributed data set, optional
            Other rows for validation in early stopping, in place of a share of X.

        Returns
        -------
        self
        """
        self._check_held_out(X_val, y_val)
        held_out = None if X_val is None else (X_val, y_val, sample_weight_val)
        return self._fit_to(X, y, sample_weight, held_out=held_out)

    def _check_held_out(self, X_val: Any, y_val: Any) -> None:
        if X_val is None:
            if y_val is not None:
                raise ValueError("y_val is provided, but X_val was not provided.")
            return
        source = source_of(X_val)
        if y_val is None and source.is_plain:
            raise ValueError("X_val is provided, but y_val was not provided.")
        if self.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. When "
                "passing X_val and y_val to fit, early_stopping should be set to either 'auto' or True."
            )

    def _validation(self, n_rows: int, held_out: bool) -> tuple[bool, float | None]:
        stopping = bool(self.early_stopping)
        if self.early_stopping == "auto":
            stopping = held_out or n_rows > AUTO_ROWS
        share: Any = self.validation_fraction
        return stopping, int(share) / n_rows if isinstance(share, Integral) else share

    def _score_of(self, data: Partitions, start: Start, held_out: tuple[Any, Any, Any] | None) -> Any:
        if self.scoring == "loss":
            return None
        scorer = check_scoring(self, self.scoring)
        if held_out is not None:
            data = self._opened(*held_out, reset=False)
        rows = data.map(HeldRows(start)).gather("use scoring='loss', which is summed where the rows are.")
        weight = {} if (rows.weight == 1.0).all() else {"sample_weight": rows.weight}
        return lambda: float(scorer(nameless_copy(self), rows.X, rows.y, **weight))

    def _stops(self, losses: np.ndarray) -> bool:
        n = self.n_iter_no_change + 1
        return len(losses) >= n and not (losses[-n + 1 :] < losses[-n] - self.tol).any()

    def _learner(self, bins: FeatureBins, weights: Weights, n_rows: int, weight_unit: float) -> NewtonLearner:
        D = self.n_features_in_
        if bins.categorical[self._constraints() != 0].any():
            raise ValueError("Categorical features cannot have monotonic constraints.")
        most = int(bins.n_bins[bins.categorical].max(initial=0))
        if most > self.max_bins:
            d = int(np.flatnonzero(bins.categorical & (bins.n_bins > self.max_bins))[0])
            name = repr(self.feature_names_in_[d]) if hasattr(self, "feature_names_in_") else f"at index {d}"
            raise ValueError(
                f"Categorical feature {name} is expected to have a cardinality <= {self.max_bins} but "
                f"actually has a cardinality of {bins.n_bins[d]}."
            )
        limits = Limits(
            max_depth=NO_LIMIT if self.max_depth is None else int(self.max_depth),
            least_split=0,
            least=int(np.ceil(self.min_samples_leaf * weight_unit)),
            least_gain=0.0,
            max_features=int(np.ceil(self.max_features * D)),
            max_leaves=self.max_leaf_nodes or 0,
            random=False,
            key=key_of(Purpose.TREES, seed_of(self.random_state)),
            constraints=self._constraints(),
        )
        self.is_categorical_ = bins.categorical if bins.categorical.any() else None
        return NewtonLearner(
            bins, limits, weights, n_rows, self._groups(), self.l2_regularization, self.learning_rate,
            weight_unit,
        )  # fmt: skip

    def _groups(self) -> np.ndarray | None:
        """The features that may be on one path, (n, D)."""
        D, chosen = self.n_features_in_, self.interaction_cst
        if chosen is None:
            return None
        if isinstance(chosen, str):
            chosen = [(d,) for d in range(D)] if chosen == "no_interactions" else combinations(range(D), 2)
        try:
            groups = [set(group) for group in chosen]
        except TypeError:
            raise ValueError(
                "Interaction constraints must be a sequence of tuples or lists, got: "
                f"{self.interaction_cst!r}."
            ) from None
        for group in groups:
            if not all(isinstance(d, Integral) and 0 <= int(d) < D for d in group):
                raise ValueError(
                    "Interaction constraints must consist of integer indices in [0, n_features - 1] = "
                    f"[0, {D - 1}], specifying the position of features, got invalid indices: {group!r}"
                )
        rest = set(range(D)).difference(*groups)
        out = np.zeros((len(groups) + bool(rest), D), bool)
        for i, group in enumerate([*groups, *([rest] if rest else [])]):
            out[i, list(group)] = True
        return out

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {**super()._fitted(progress), "n_iter_": progress.model.n_stages}

    @property
    def train_score_(self) -> np.ndarray:
        """Minus the mean training loss before the first stage and after each, with early stopping."""
        return -self.losses_[:, 0] if self.do_early_stopping_ else np.empty(0)

    @property
    def validation_score_(self) -> np.ndarray:
        """Minus the mean loss of the rows for validation."""
        known = self.do_early_stopping_ and not np.isnan(self.losses_[:, 2]).any()
        return -self.losses_[:, 2] if known else np.empty(0)


class HistGradientBoostingRegressor(BoostingRegressor, HistBoosting):
    """A histogram-based gradient boosting regressor, fitted where the data is.

    Features are binned, and each stage grows a tree with few leaves to the gradients and curvatures of the
    loss, best-first, from histograms of the bins.

    Parameters
    ----------
    loss : {'squared_error', 'absolute_error', 'gamma', 'poisson', 'quantile'}, default='squared_error'
        Loss that is minimized: half the squared error, the absolute error, half the deviance of the gamma or
        Poisson distribution with a logarithmic link, or the pinball loss.
    quantile : float, default=None
        Quantile that is predicted with loss='quantile'.
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree.
    max_iter : int, default=100
        Maximum number of iterations.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of a tree. The leaf whose split lowers the loss most is split first.
    max_depth : int or None, default=None
        Maximum depth of a tree.
    min_samples_leaf : int, default=20
        Minimum weight of a leaf, which is the number of its rows if they are not weighted.
    l2_regularization : float, default=0.0
        Penalty λ of the squares of the values of leaves.
    max_features : float, default=1.0
        Share of the features that are considered for each split. They are drawn for each node from its place
        in the tree.
    max_bins : int, default=255
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin. With more, bins have about the same weight.
    categorical_features : array-like, 'from_dtype' or None, default='from_dtype'
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. Categories are ordered by their gradients. Unknown
        categories are treated as missing.
    monotonic_cst : array-like of int or dict, default=None
        For each feature, 1 if the prediction must not fall with it, -1 if it
        must not rise, 0 without a constraint; or a dict from names.
    interaction_cst : {'pairwise', 'no_interactions'} or sequence of lists/tuples/sets of int, default=None
        Groups of features that may be on the path to a leaf together. Features in no group are another group.
    warm_start : bool, default=False
        Whether `fit` adds stages to those of the previous call.
    early_stopping : 'auto' or bool, default='auto'
        Whether to stop when the loss of rows for validation does not decrease any more; 'auto': if there are
        more than 10,000 rows, or if X_val is passed to `fit`.
    scoring : str, callable or None, default='loss'
        What early stopping compares: the 'loss', which each stage adds up where the rows are; or a score of
        scikit-learn, for which the rows for validation are gathered in memory.
    validation_fraction : int, float or None, default=0.1
        Share or number of the rows for validation. A row is one of them by a hash of its values, so that
        their number is approximate, and equal rows stay together. If None, early stopping is by the training
        loss.
    n_iter_no_change : int, default=10
        Number of stages without a better loss after which to stop.
    tol : float, default=1e-7
        Tolerance of the comparison of losses.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    random_state : int, RandomState instance or None, default=None
        Seed of `max_features`, and of the rows for validation.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    do_early_stopping_ : bool
        Whether the fit could stop early.
    n_iter_ : int
        Number of stages.
    n_trees_per_iteration_ : int
        Number of trees of a stage, which is 1.
    train_score_ : ndarray of shape (n_iter_ + 1,)
        Minus the mean training loss before the first stage and after each; empty without early stopping.
    validation_score_ : ndarray of shape (n_iter_ + 1,)
        The same of the rows for validation.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Whether each feature is categorical; None if none is.
    losses_ : ndarray of shape (n_iter_ + 1, 3)
        Mean loss before the first stage and after each: of the rows for training, NaN, and of those for
        validation; NaN where there are none.
    converged_ : bool
        Whether the fit stopped early.
    stopped_because_ : str
        Why it stopped: 'max_iter', 'tolerance' or 'callback'.
    model_ : BoostedTrees
        The trees, stage by stage.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    GradientBoostingRegressor : Boosting with every distinct value as a threshold, and random samples.
    RandomForestRegressor : Trees of samples, which do not depend on each other.

    Notes
    -----
    Stage m adds a tree to the raw scores f. A leaf with the rows I, and the derivatives g and h of their
    losses in f, has the value

    .. math::

        -ν \\frac{∑_{i ∈ I} w_i g_i}{∑_{i ∈ I} w_i h_i + λ},

    and the split of a node decreases the loss, to second order, by half of

    .. math::

        \\frac{G_L^2}{H_L + λ} + \\frac{G_R^2}{H_R + λ} - \\frac{G^2}{H + λ}.

    Gradients and curvatures are rounded once to a grid of integers, whose sums are exact. So the order of the
    rows, their blocks, threads and the engine change no bit of the trees, and a row of weight 2 counts
    exactly as two rows. Codes of rows that fit in memory are gathered there; else each pass over the rows
    sums the histograms of all leaves that could be split next, about as many passes as a tree is deep.

    Missing values (NaN) go to the side of a split that lowers the loss more. Where a node had none, they go
    with the larger child.

    References
    ----------
    * Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29.
    * Ke and others (2017), "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import HistGradientBoostingRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> model = HistGradientBoostingRegressor().fit(X, np.where(X[:, 0] < 50, 1.0, 5.0))
    >>> model.predict([[3.0], [77.0]]).round(3)
    array([1., 5.])
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **HistBoosting._parameter_constraints,
        "loss": [StrOptions({"squared_error", "absolute_error", "poisson", "gamma", "quantile"})],
        "quantile": [Interval(Real, 0, 1, closed="both"), None],
    }

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.checkpoint = checkpoint

    @property
    def _link(self) -> Loss:  # type: ignore[override]
        if self.loss == "quantile" and self.quantile is None:
            raise ValueError("loss='quantile' requires quantile, a number between 0 and 1.")
        return loss_of(self.loss, self.quantile)


class HistGradientBoostingClassifier(BoostingClassifier, HistBoosting):
    """A histogram-based gradient boosting classifier, fitted where the data is.

    Features are binned, and each stage grows a tree with few leaves to the gradients and curvatures of the
    loss, one for each class if there are more than two, best-first, from histograms of the bins.

    Parameters
    ----------
    loss : {'log_loss'}, default='log_loss'
        Loss that is minimized: minus the log-likelihood of the classes.
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree.
    max_iter : int, default=100
        Maximum number of iterations.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of a tree. The leaf whose split lowers the loss most is split first.
    max_depth : int or None, default=None
        Maximum depth of a tree.
    min_samples_leaf : int, default=20
        Minimum weight of a leaf, which is the number of its rows if they are not weighted.
    l2_regularization : float, default=0.0
        Penalty λ of the squares of the values of leaves.
    max_features : float, default=1.0
        Share of the features that are considered for each split. They are drawn for each node from its place
        in the tree.
    max_bins : int, default=255
        Maximum number of bins of a feature. With at most this many distinct values, each value has its own
        bin. With more, bins have about the same weight.
    categorical_features : array-like, 'from_dtype' or None, default='from_dtype'
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. Categories are ordered by their gradients. Unknown
        categories are treated as missing.
    monotonic_cst : array-like of int or dict, default=None
        For each feature, 1 if the probability of the second of two classes must not fall with it, -1 if it
        must not rise, 0 without a constraint; or a dict from names.
    interaction_cst : {'pairwise', 'no_interactions'} or sequence of lists/tuples/sets of int, default=None
        Groups of features that may be on the path to a leaf together. Features in no group are another group.
    warm_start : bool, default=False
        Whether `fit` adds stages to those of the previous call.
    early_stopping : 'auto' or bool, default='auto'
        Whether to stop when the loss of rows for validation does not decrease any more; 'auto': if there are
        more than 10,000 rows, or if X_val is passed to `fit`.
    scoring : str, callable or None, default='loss'
        What early stopping compares: the 'loss', which each stage adds up where the rows are; or a score of
        scikit-learn, for which the rows for validation are gathered in memory.
    validation_fraction : int, float or None, default=0.1
        Share or number of the rows for validation. A row is one of them by a hash of its values, so that
        their number is approximate, and equal rows stay together. If None, early stopping is by the training
        loss.
    n_iter_no_change : int, default=10
        Number of stages without a better loss after which to stop.
    tol : float, default=1e-7
        Tolerance of the comparison of losses.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    random_state : int, RandomState instance or None, default=None
        Seed of `max_features`, and of the rows for validation.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which their losses are multiplied.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    do_early_stopping_ : bool
        Whether the fit could stop early.
    n_iter_ : int
        Number of stages.
    n_trees_per_iteration_ : int
        Number of trees of a stage: 1 with two classes, else the number of classes.
    train_score_ : ndarray of shape (n_iter_ + 1,)
        Minus the mean training loss before the first stage and after each; empty without early stopping.
    validation_score_ : ndarray of shape (n_iter_ + 1,)
        The same of the rows for validation.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Whether each feature is categorical; None if none is.
    losses_ : ndarray of shape (n_iter_ + 1, 3)
        Mean loss before the first stage and after each: of the rows for training, NaN, and of those for
        validation; NaN where there are none.
    converged_ : bool
        Whether the fit stopped early.
    stopped_because_ : str
        Why it stopped: 'max_iter', 'tolerance' or 'callback'.
    model_ : BoostedTrees
        The trees, stage by stage.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    GradientBoostingClassifier : Boosting with every distinct value as a threshold, and random samples.
    RandomForestClassifier : Trees of samples, which do not depend on each other.

    Notes
    -----
    Stage m adds a tree to the raw scores f. A leaf with the rows I, and the derivatives g and h of their
    losses in f, has the value

    .. math::

        -ν \\frac{∑_{i ∈ I} w_i g_i}{∑_{i ∈ I} w_i h_i + λ},

    and the split of a node decreases the loss, to second order, by half of

    .. math::

        \\frac{G_L^2}{H_L + λ} + \\frac{G_R^2}{H_R + λ} - \\frac{G^2}{H + λ}.

    Gradients and curvatures are rounded once to a grid of integers, whose sums are exact. So the order of the
    rows, their blocks, threads and the engine change no bit of the trees, and a row of weight 2 counts
    exactly as two rows. Codes of rows that fit in memory are gathered there; else each pass over the rows
    sums the histograms of all leaves that could be split next, about as many passes as a tree is deep.

    Missing values (NaN) go to the side of a split that lowers the loss more. Where a node had none, they go
    with the larger child.

    References
    ----------
    * Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29.
    * Ke and others (2017), "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import HistGradientBoostingClassifier
    >>> X = np.arange(100.0)[:, None]
    >>> model = HistGradientBoostingClassifier().fit(X, X[:, 0] >= 50)
    >>> model.predict([[3.0], [77.0]])
    array([False,  True])
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **HistBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Seed = None,
        class_weight: dict[Any, float] | str | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.checkpoint = checkpoint
