"""Logistic regression with penalties chosen by cross-validation: all folds and paths share each pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_scalar
from sklearn.utils.metadata_routing import UNUSED

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.partitions import Opened, Partitions
from ..core.values import Value
from ..estimator.base import Iterative
from ..estimator.guarantees import FROM_ZERO, Guarantee
from ..estimator.parameters import AT_LEAST_1, Hidden, StrOptions
from ..estimator.routing import CrossValidated, routed_params
from ..estimator.scores import Classifier
from ..fitting.folds import Folds
from ..fitting.shared import Divided, Sharing
from ..inputs import Check
from ..inputs.conversions import as_numbers
from ..losses import softmax
from ..statistics import class_codes, class_weights, classes_of
from .logistic import LogisticRegression, LogLinear


def _divided(folds: Folds, block: Rows) -> Divided:
    """A block divided into folds, without rows of weight zero."""
    numbered = folds.number(block.replace(y=np.arange(len(block))))
    place, fold = numbered.y.T
    return Divided(block if block.unweighted else block[place], lambda: fold.astype(np.int16))


def _squares(model: LogLinear, block: Rows) -> np.ndarray:
    """Sums of the Brier scores and of the weights of rows. A Brier score is the squared distance of the
    probabilities from zero and one; with two classes, of the probability of the second."""
    codes, scores = class_codes(model.classes, block.y), model.scores(block.X)
    P = expit(scores) if scores.shape[1] == 1 else softmax(scores)
    one = codes[:, None] == (np.ones(1) if scores.shape[1] == 1 else np.arange(scores.shape[1]))
    return np.array([block.weight.dot(((P - one) ** 2).sum(axis=1)), block.weight.sum()])


@dataclass(frozen=True, eq=False)
class PathFits(Value):
    """The P fits of all folds and fractions of the l1 penalty, for each strength of the penalty that was
    tried."""

    theta: Annotated[tuple[np.ndarray, ...], "M of (P, K, E)"] = ()  # of each penalty
    n_iter: Annotated[tuple[np.ndarray, ...], "M of int (P,)"] = ()
    score: Annotated[tuple[np.ndarray, ...], "M of (P,)"] = ()


@dataclass(frozen=True, eq=False)
class LogisticChoice(Progress):
    """The fit to all rows with the penalties that were chosen, and all others."""

    Cs_: Any = None
    l1_ratios_: Any = None
    C_: Any = None
    l1_ratio_: Any = None
    n_iter_: Any = None  # of all fits
    n_passes_: Any = None
    paths: Any = None  # the coefficients of all fits
    scores: Any = None  # of the folds that were left out


class LogisticRegressionCV(CrossValidated, LogisticRegression):
    """Logistic regression with penalties chosen by cross-validation.

    For each fold and each share of the l1 penalty, the penalties are fitted from the strongest to the
    weakest, each from the solution of the one before. If rows are not in memory, the fits of all folds share
    each pass over the data. A penalty is an iteration for callbacks and for `checkpoint`.

    Parameters
    ----------
    Cs : int or array of shape (n_cs,), default=10
        Number of inverse penalties between 1e-4 and 1e4, or the inverse penalties themselves, as `C` of
        :class:`LogisticRegression`.
    l1_ratios : array of shape (n_l1_ratios,), default='warn'
        Shares of the l1 penalty. 'warn' and None mean the l2 penalty alone. They are deprecated, as in
        scikit-learn: use ``(0.0,)``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    cv : int, splitter or iterable, default=None
        Number of folds (None: 5), a scikit-learn splitter, or pairs of index arrays. As in scikit-learn, a
        number of folds is stratified for arrays. For tables and rows that are not in memory, folds are
        contiguous runs of rows, as those of ``KFold``.
    dual : bool, default=False
        As in :class:`LogisticRegression`.
    penalty : {'l2', 'l1', 'elasticnet'}, default='deprecated'
        Deprecated, as in scikit-learn: use `l1_ratios`.
    scoring : str or callable, default='warn'
        The score of a fold that was left out. None and 'warn' mean accuracy; 'warn' warns that the default
        will be 'neg_log_loss', as in scikit-learn. Accuracy, 'neg_log_loss' and 'neg_brier_score' are sums
        over the rows; for other scores, the rows of a fold are gathered in memory.
    solver : {'lbfgs', 'bfgs', 'dfp', 'newton', 'newton-cholesky', 'newton-cg', 'gradient', 'svrg', 'sag', \
            'saga', 'liblinear'}, default='lbfgs'
        As in :class:`LogisticRegression`.
    tol : float, default=1e-4
        As in :class:`LogisticRegression`.
    max_iter : int, default=100
        Maximum number of iterations.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' gives every class the same total weight.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    refit : bool, default=True
        Whether to fit to all rows with the best penalties. If False, the coefficients of the best penalties
        of each fold are averaged.
    intercept_scaling : float, default=1.0
        As in :class:`LogisticRegression`.
    random_state : int, default=None
        Seed for the order in which 'svrg' visits the rows.
    use_legacy_attributes : bool, default='warn'
        Whether attributes have the shapes of scikit-learn before 1.10: 'warn' means True, and warns that the
        default will be False.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    Cs_ : ndarray of shape (n_cs,)
        The inverse penalties.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        The shares of the l1 penalty.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_dof), or dict of ndarray
        Coefficients of all fits, intercepts last; by class if `use_legacy_attributes`.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs), or dict of ndarray
        Scores of the folds that were left out; by class if `use_legacy_attributes`.
    C_ : float or ndarray of shape (n_classes,)
        The best inverse penalty.
    l1_ratio_ : float or ndarray of shape (n_classes,)
        The best share of the l1 penalty.
    n_iter_ : ndarray of shape (n_folds, n_l1_ratios, n_cs) or (1, n_folds, n_cs, n_l1_ratios)
        Number of iterations of all fits.
    n_passes_ : int
        Number of passes over the data. Fits to rows that are not in memory share them.
    trace_ : ndarray
        Penalized mean loss by iteration, of the fit to all rows.
    converged_ : bool
        Whether the fit to all rows converged.
    stopped_because_ : str
        Reason why it stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LogLinear
        The fitted model.
    statistics_ : Objective
        The loss at the solution and its derivatives, summed over the rows.

    See Also
    --------
    LogisticRegression : Given penalties.
    suffice.model_selection.GridSearch : Any estimator and any of its parameters.

    Notes
    -----
    For a fold, an inverse penalty C and a share ρ, the coefficients w minimize

    .. math::

        -C ∑_n s_n \\log p(y_n | x_n) + \\frac{1 - ρ}{2} ‖w‖^2 + ρ ‖w‖_1.

    References
    ----------
    * Cox (1958), "The regression analysis of binary sequences", Journal of the Royal Statistical Society B
      20.
    * Stone (1974), "Cross-validatory choice and assessment of statistical predictions", Journal of the Royal
      Statistical Society B 36.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import LogisticRegressionCV
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> options = {"l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0], **options).fit(X, X[:, 0] > 0)
    >>> model.C_, model.scores_.shape
    (1.0, (5, 1, 2))
    """

    exempt = (FROM_ZERO,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: constraints
            for name, constraints in LogisticRegression._parameter_constraints.items()
            if name not in ("C", "l1_ratio", "warm_start", "penalty")
        },
        "Cs": [AT_LEAST_1, "array-like"],
        "l1_ratios": ["array-like", None, Hidden(StrOptions({"warn"}))],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), Hidden(StrOptions({"deprecated"}))],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "refit": ["boolean"],
        "use_legacy_attributes": ["boolean", Hidden(StrOptions({"warn"}))],
    }
    counts_rows: ClassVar[bool] = True
    _block_rows = Iterative._block_rows
    __metadata_request__score: ClassVar[dict[str, str]] = {"sample_weight": UNUSED}  # it is the scorer's

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = "warn",
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: Any = "deprecated",
        scoring: Any = "warn",
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Seed = None,
        use_legacy_attributes: Any = "warn",
        checkpoint: MaybePath = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.checkpoint = checkpoint

    def _guarantee(self) -> Guarantee:
        return Guarantee("approximate" if self.solver in ("svrg", "sag", "saga") else "order")

    def _check_options(self) -> None:
        """Raise for other options, and warn of the defaults that scikit-learn will change."""
        self._warn()
        self._grid()

    def _solve(self, data: Partitions, routed: Any = None) -> Progress:
        Cs, ratios = self._grid()
        cv: Any = 5 if self.cv is None else self.cv
        if routed.arrays and isinstance(cv, Integral):
            cv = check_cv(cv, routed.arrays[1], classifier=True)
        folds = routed.folds(data, cv)
        sharing = Sharing(
            data,
            folds.n_folds,
            (_divided, (folds,)),
            features=tuple(getattr(self, "feature_names_in_", ())) or self.n_features_in_,
            check=Check.of(self),
        )
        classes = classes_of(sharing.view())
        base = self._base(sharing, classes)
        scorers = [
            _Scorer(self._scoring, _of_rows(routed.for_scorer, folds, tested, routed.sample_weight))
            for tested in folds.tested
        ]
        splits = zip(folds.trained, folds.tested, scorers, strict=True)
        paths = [_Path(base, classes, sharing, *s, ratio) for s in splits for ratio in ratios]
        order = np.argsort(Cs, kind="stable")  # from the strongest penalty

        def step(progress: Progress) -> Progress:
            done, C = progress.model, float(Cs[order[progress.n_iter]])
            before = done.theta[-1] if done.theta else [None] * len(paths)
            fits = [partial(path, C, theta) for path, theta in zip(paths, before, strict=True)]
            theta, n_iter, score = map(np.array, zip(*sharing.results(fits), strict=True))
            done = PathFits((*done.theta, theta), (*done.n_iter, n_iter), (*done.score, score))
            return Progress(done, (*progress.trace, float(np.nan_to_num(score.mean()))))

        def average(done: PathFits) -> LogLinear:
            """The mean over the folds, for callbacks."""
            return LogLinear(done.theta[-1].mean(axis=0), classes, np.ones(len(classes)), self.fit_intercept)

        watch = Watch(self, self.checkpoint, data, as_model=average, in_order=True, limited_by="")
        progress = watch.limited(len(Cs)).loop(step, Progress(PathFits()))
        some = order[: progress.n_iter]  # fewer than all if a callback stopped the fit
        by_C = np.argsort(some)
        stacked = (np.stack(part, 1)[:, by_C] for part in progress.model.fields().values())
        best = self._best(base, sharing, Cs[np.sort(some)], ratios, *stacked)
        return best.replace(stopped_because="callback") if progress.stopped_because == "callback" else best

    def _warn(self) -> None:
        """Warn of the defaults that scikit-learn will change, and of what it deprecates."""
        messages = []
        if isinstance(self.l1_ratios, str):
            messages.append(
                "The default value for l1_ratios will change from None to (0.0,) in scikit-learn 1.10: set "
                "it, e.g. l1_ratios=(0.0,)."
            )
        if self.penalty != "deprecated":
            messages.append(
                "'penalty' was deprecated in scikit-learn 1.8: leave it out. Use l1_ratios=(0.0,) for 'l2', "
                "(1.0,) for 'l1', and numbers between for 'elasticnet'."
            )
        elif self.l1_ratios is None:
            messages.append("'l1_ratios=None' was deprecated in scikit-learn 1.8: use l1_ratios=(0.0,).")
        if isinstance(self.scoring, str) and self.scoring == "warn":
            messages.append(
                "The default value of the parameter 'scoring' will change from None, i.e. accuracy, to "
                "'neg_log_loss' in scikit-learn 1.11: set scoring='neg_log_loss' or scoring='accuracy'."
            )
        if self.use_legacy_attributes == "warn":
            messages.append(
                "The default value of use_legacy_attributes will change from True to False in scikit-learn "
                "1.10: set it to False for simpler attributes, or to True to keep them."
            )
        for message in messages:
            warn(message, FutureWarning)

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """The inverse penalties and the shares of the l1 penalty."""
        if isinstance(self.Cs, Integral):
            Cs = np.logspace(-4, 4, int(self.Cs))
        else:
            if not len(self.Cs):
                raise ValueError("Cs is empty: pass numbers, e.g. Cs=[0.1, 1.0], or how many.")
            for place, C in enumerate(self.Cs):
                check_scalar(C, f"Cs[{place}]", Real, min_val=0.0, include_boundaries="neither")
            Cs = np.array(self.Cs, dtype=np.float64)
        ratios = self.l1_ratios
        if isinstance(self.penalty, str) and self.penalty in ("l1", "l2"):
            ratios = [1.0 if self.penalty == "l1" else 0.0]
        elif self.penalty == "elasticnet" and (ratios is None or isinstance(ratios, str) or not len(ratios)):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={ratios!r})."
            )
        ratios = [0.0] if ratios is None or isinstance(ratios, str) else ratios
        if not all(isinstance(ratio, Real) and 0.0 <= float(ratio) <= 1.0 for ratio in ratios):
            raise ValueError(
                f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={ratios!r})."
            )
        return Cs, np.array(ratios, dtype=np.float64)

    @property
    def _scoring(self) -> Any:
        return (
            "accuracy"
            if self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "warn")
            else (self.scoring)
        )

    def _base(self, sharing: Sharing, classes: np.ndarray) -> LogisticRegression:
        """The regression of all paths, with the weights of classes over all rows."""
        names = LogisticRegression._parameter_constraints
        same = {
            k: v
            for k, v in self.get_params(deep=False).items()
            if k in names and k not in ("penalty", "n_jobs", "checkpoint")
        }
        if isinstance(self.class_weight, str):
            weights = class_weights(self.class_weight, sharing.view(), classes)
            same["class_weight"] = dict(zip(classes.tolist(), weights.tolist(), strict=True))
        return LogisticRegression(**same)

    def _best(
        self,
        base: LogisticRegression,
        sharing: Sharing,
        Cs: np.ndarray,
        ratios: np.ndarray,
        coefs: np.ndarray,
        n_iter: np.ndarray,
        scores: np.ndarray,
    ) -> LogisticChoice:
        """The fit with the best penalties, from the coefficients, numbers of iterations and scores,
        (P, C, ...)."""
        shape = len(coefs) // len(ratios), len(ratios), len(Cs)
        coefs, n_iter, scores = (a.reshape(shape + a.shape[2:]) for a in (coefs, n_iter, scores))
        total = scores.sum(axis=0)  # (R, C); of equal ones, the first by C, then by share
        c, r = np.unravel_index(np.argmax(total.T), total.T.shape)
        best = base.set_params(C=float(Cs[c]), l1_ratio=float(ratios[r])).fit(sharing.view())
        model, s, C, ratio = best.model_, best.statistics_, float(Cs[c]), float(ratios[r])
        if not self.refit:
            each = [np.unravel_index(np.argmax(part.T), part.T.shape) for part in scores]
            theta = np.mean([coefs[f, b, a] for f, (a, b) in enumerate(each)], axis=0)
            model = model.replace(theta=theta)
            s = sharing.view().fold(LogLinear.summarize, model)
            C, ratio = float(np.mean([Cs[a] for a, _ in each])), float(np.mean([ratios[b] for _, b in each]))
        shown: tuple[Any, ...] = C, ratio, n_iter
        if self.use_legacy_attributes:  # 'warn' too
            K, n_iter = coefs.shape[-2], np.swapaxes(n_iter, 1, 2)[None]
            flat = self.l1_ratios is None or isinstance(self.l1_ratios, str)
            shown = np.full(K, C), np.full(K, ratio), n_iter[..., 0] if flat else n_iter
        return LogisticChoice(
            model,
            tuple(best.trace_),
            s,
            best.stopped_because_,
            **dict(zip(("C_", "l1_ratio_", "n_iter_"), shown, strict=True)),
            Cs_=Cs,
            l1_ratios_=ratios,
            n_passes_=sharing.n_passes,
            paths=coefs if self.fit_intercept else coefs[..., :-1],
            scores=scores,
        )

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        fitted = super()._fitted(progress)
        if isinstance(progress, LogisticChoice):
            fitted |= {"_paths": progress.paths, "_fold_scores": progress.scores}
        return fitted

    def _unconverged(self, progress: Progress) -> str:
        """The fit to all rows, by LogisticRegression, has warned."""
        return ""

    @property
    def scores_(self) -> Any:
        """Scores of the folds that were left out."""
        if not self.use_legacy_attributes:
            return self._fold_scores
        return self._by_class([np.swapaxes(self._fold_scores, 1, 2)] * self._paths.shape[-2])

    @property
    def coefs_paths_(self) -> Any:
        """Coefficients of all fits, intercepts last."""
        if not self.use_legacy_attributes:
            return self._paths
        return self._by_class(np.moveaxis(np.swapaxes(self._paths, 1, 2), -2, 0))

    def _by_class(self, values: Any) -> dict[Any, np.ndarray]:
        flat = self.l1_ratios is None or isinstance(self.l1_ratios, str)
        classes = self.classes_[-len(values) :]
        return {c: v[:, :, 0] if flat else v for c, v in zip(classes, values, strict=True)}

    def score(
        self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, **score_params: Any
    ) -> float:
        """Score of the predictions, by `scoring`: the accuracy unless it says otherwise.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Class labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        **score_params : dict
            Passed to the scorer, with ``sklearn.set_config(enable_metadata_routing=True)``.
        """
        if self._scoring == "accuracy" and not score_params:
            return Classifier.score(self, X, y, sample_weight)
        _, for_scorer = routed_params(self, sample_weight, score_params, "score")
        return float(get_scorer(self._scoring)(self, X, y, **for_scorer))


class _Path:
    """The fits to a split with a share of the l1 penalty, and their scores. The rows to fit, and those left
    out, may lack some of the classes."""

    def __init__(
        self,
        base: LogisticRegression,
        classes: np.ndarray,
        sharing: Sharing,
        trained: np.ndarray,
        tested: np.ndarray,
        scorer: _Scorer,
        ratio: float,
    ) -> None:
        self.base, self.ratio, self.scorer, self.classes = base, float(ratio), scorer, classes
        self.train, self.test = (sharing.view(*np.flatnonzero(m).tolist()) for m in (trained, tested))

    def __call__(self, C: float, theta: np.ndarray | None) -> tuple[np.ndarray, int, float]:
        """Coefficients, number of iterations and score of the fit that starts from `theta`."""
        model = LogisticRegression(**self.base.get_params())
        model.set_params(warm_start=True, l1_ratio=self.ratio, C=C)
        model._classes = self.classes
        if theta is not None:
            model.model_ = LogLinear(theta, np.empty(0), np.empty(0), self.base.fit_intercept)
        model.fit(self.train)
        return model.model_.theta, int(model.n_iter_[0]), self.scorer(model, self.test)


def _of_rows(
    metadata: dict[str, Any], folds: Folds, tested: np.ndarray, sample_weight: MaybeArray
) -> dict[str, Any]:
    """The metadata of the rows of some folds, without rows of weight zero."""
    values = {k: np.asarray(v) for k, v in metadata.items()}
    by_row = {k: v for k, v in values.items() if v.ndim and len(v) == folds.n_rows}
    if not by_row:
        return metadata
    row = folds.rows(tested)
    if sample_weight is not None:
        weight = as_numbers(sample_weight, "sample_weight", "LogisticRegressionCV")
        row = row[np.broadcast_to(weight, folds.n_rows)[row] > 0]
    return {**metadata, **{k: v[row] for k, v in by_row.items()}}


@dataclass(frozen=True)
class _Scorer:
    """The score of a fit on rows that were left out."""

    scoring: Any
    params: dict[str, Any]  # of a scorer of scikit-learn

    def __call__(self, model: LogisticRegression, rows: Opened) -> float:
        if self.scoring == "accuracy":
            return float(model.score(rows))
        if self.scoring == "neg_log_loss":
            at = model.model_.replace(class_weight=np.ones(len(model.classes_)))
            s = rows.fold(LogLinear.summarize, at)
            return float(-s.loss / s.weight)
        if self.scoring == "neg_brier_score":
            squares, weight = rows.fold(_squares, model.model_)
            return float(-squares / weight)
        block = rows.gather("use scoring='accuracy', 'neg_log_loss' or 'neg_brier_score'.")
        params = self.params
        if "sample_weight" in params:
            params = {**params, "sample_weight": block.weight}
        return float(get_scorer(self.scoring)(model, block.X, block.y, **params))
