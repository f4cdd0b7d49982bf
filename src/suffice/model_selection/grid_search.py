"""Grid search with cross-validation: all candidates and folds share each pass over the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import product
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.callers import warn
from ..core.partitions import Partitions
from ..core.progress import shown
from ..estimator.base import Estimator
from ..estimator.parameters import AT_LEAST_2, HasMethods, StrOptions, check_parameters
from ..estimator.storing import Storable
from ..fitting.shared import Failure, Sharing
from ..inputs import Check, Table, open_rows, open_sequences, source_of
from ..inputs.sources import TableSource, set_features
from .cross_validation import in_folds
from .splitters import FoldPlan


def _best_has(name: str) -> Callable[[Any], bool]:
    """Whether the estimator has the method: an `available_if` of scikit-learn."""

    def has(search: GridSearch) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)  # or the error says what has not
        return True

    return has


class GridSearch(Storable, MetaEstimatorMixin, BaseEstimator):
    """Grid search with cross-validation. All candidates and folds share each pass over the data.

    Every candidate is fitted on every fold as it would be alone. But one pass over the data computes the next
    sum of every fit: a search takes as many passes as its longest fit. This saves time if the data is read
    from files in each pass, or is on a cluster.

    Candidates that differ only in the number of members of an ensemble, or in the complexity `ccp_alpha` of
    pruning, share one fit per fold: the largest ensemble is shortened, and the whole tree is pruned.
    Candidates that differ only in `alpha` of KernelRidge with landmarks share one sum by folds, with
    landmarks from all rows.

    It is not called `GridSearchCV` because it does not replace scikit-learn's: folds follow hashes of the
    rows, candidates are estimators of suffice, and there is no `scoring`, `n_jobs` or splitter of indices.

    Parameters
    ----------
    estimator : estimator of suffice, or pipeline of them
        The estimator to fit. Candidates are compared by its `score`. A pipeline is fitted to tables, scans
        and distributed data sets.
    param_grid : dict or list of dicts
        The values of each parameter to try, as in scikit-learn: of a step of a pipeline, by
        ``step__parameter``. If a list, each grid is searched.
    cv : int, KFold, StratifiedKFold, GroupKFold or StratifiedGroupKFold, default=5
        Number of folds, or a splitter of scikit-learn that describes them: see
        :func:`~suffice.model_selection.cross_validate`. The fold of a row depends on a hash of its values,
        unlike in scikit-learn: see the notes.
    refit : bool, default=True
        Whether to refit the best candidate on all data.
    error_score : 'raise' or float, default=np.nan
        Score of a fit that failed, with a warning. 'raise' raises the error instead.
    random_state : int, RandomState or None, default=None
        Seed for the folds.

    Attributes
    ----------
    best_params_ : dict
        Parameters of the candidate with the best mean score.
    best_score_ : float
        Mean cross-validated score of the best candidate.
    best_index_ : int
        Index of the best candidate in `cv_results_`.
    best_estimator_ : estimator
        The best candidate, fitted to all data. `best_estimator_.save` writes it to a file.
    cv_results_ : dict of arrays
        As in scikit-learn: ``params``, ``param_<name>``, ``split<i>_test_score``, ``mean_test_score``,
        ``std_test_score`` and ``rank_test_score``.
    n_splits_ : int
        Number of folds.
    n_passes_ : int
        Number of passes over the data, including the refit.
    n_features_in_ : int
        Number of features. `feature_names_in_` has their names, if any.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Fits one candidate after the other.
    suffice.linear_model.ElasticNetCV : All penalties from one sum over the data.

    Notes
    -----
    The fold of a row, or of a sequence, is drawn from a hash of its values and `random_state`. So it does not
    depend on the order of the rows, on blocks, or on where the data is. Rows with equal features and targets
    fall into the same fold: if few rows are distinct, folds differ in size. Folds are stratified by class
    with ``cv=StratifiedKFold(5)``. With ``cv=GroupKFold(5)`` all rows of a group are in one fold; the groups
    are a column of the table, ``fit(table, groups="...")``.

    The sums of all candidates and folds are in memory at once. A fit that processes one example after the
    other (``solver="sgd"``, `StructuredPerceptron`) gathers its examples in memory.

    The score of a candidate θ is the mean over the K folds of its score on the fold that the fit left out:

    .. math::

        \\bar s(θ) = \\frac{1}{K} ∑_k s_k(θ_{-k}).

    References
    ----------
    * Stone (1974), "Cross-validatory choice and assessment of statistical predictions", Journal of the Royal
      Statistical Society B 36.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import Ridge
    >>> from suffice.model_selection import GridSearch
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X.sum(axis=1) + 0.1 * rng.normal(size=200)
    >>> search = GridSearch(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, random_state=0).fit(X, y)
    >>> search.best_params_, search.n_passes_
    ({'alpha': 0.1}, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit")],
        "param_grid": [Mapping, list],
        "cv": [AT_LEAST_2, HasMethods("split")],
        "refit": ["boolean"],
        "error_score": [StrOptions({"raise"}), Real],
    }

    def __init__(
        self,
        estimator: BaseEstimator,
        param_grid: Any,
        *,
        cv: Any = 5,
        refit: bool = True,
        error_score: Any = np.nan,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.refit = refit
        self.error_score = error_score
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of = get_tags(self.estimator)
        tags.estimator_type, tags.input_tags = of.estimator_type, of.input_tags
        tags.target_tags, tags.transformer_tags = of.target_tags, of.transformer_tags
        tags.classifier_tags, tags.regressor_tags = of.classifier_tags, of.regressor_tags
        return tags

    @property
    def takes(self) -> str:
        """Type of example: rows or sequences."""
        return getattr(self.estimator, "takes", "rows")

    @shown
    def fit(
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Fit and score all candidates on all folds, then fit the best to all of the data.

        Parameters
        ----------
        X : array, table, scan, distributed data set; or sequences
            Training data of the estimator.
        y : array, optional
            Targets. Leave out if a column of the table holds them.
        groups : str or array, optional
            The column of the groups of a table, if `cv` is a splitter of groups. For estimators of sequences,
            the ids of the sequences of an array of steps.
        sample_weight : array, optional
            Per-sample weights, used in fits and in scores. A weight of 2 is equivalent to repeating the
            sample; 0 drops it.

        Returns
        -------
        self
        """
        check_parameters(self)
        candidates = self._candidates()
        with _said_once():
            part, sharing = self._open(X, y, groups, sample_weight)
            params, estimators = zip(*candidates, strict=True)
            sums = self._sums_of_folds(candidates, part, sharing)
            outcomes = (
                self._outcomes(candidates, part, sharing)
                if sums is None
                else self._from_sums(sums, sharing.n_parts)
            )
            results = _results(params, self._scores(outcomes, params, sharing.n_parts))
            best = int(results["rank_test_score"].argmin())
            self.__dict__.pop("best_estimator_", None)
            if self.refit and sums is None:
                self.best_estimator_ = clone(estimators[best]).fit(part())
            elif self.refit and sums is not None:
                fits, values = sums[best]
                self.best_estimator_ = fits.fitted(values)
            self.cv_results_, self.best_index_ = results, best
            self.best_params_ = params[best]
            self.best_score_ = float(results["mean_test_score"][best])
            self.n_splits_, self.n_passes_ = sharing.n_parts, sharing.n_passes
        return self

    def _fitted_state(self) -> dict[str, Any]:
        """The scores, from which `_restore` makes `cv_results_`."""
        state = super()._fitted_state()
        if "cv_results_" in state:
            results = state.pop("cv_results_")
            scores = [results[f"split{fold}_test_score"] for fold in range(self.n_splits_)]
            state["results"] = {"params": results["params"], "scores": np.column_stack(scores)}
        return state

    def _restore(self, state: dict[str, Any]) -> Self:
        if "results" in state:
            results = state.pop("results")
            state["cv_results_"] = _results(tuple(results["params"]), results["scores"])
        return super()._restore(state)

    def _candidates(self) -> list[tuple[dict[str, Any], Any]]:
        """The parameters of each candidate, and its estimator."""
        if not isinstance(self.estimator, Estimator | Pipeline):
            raise TypeError(
                f"GridSearch takes estimators of suffice; got {type(self.estimator).__name__}: use "
                f"sklearn.model_selection.GridSearchCV."
            )
        if not hasattr(self.estimator, "score"):
            raise TypeError(f"{type(self.estimator).__name__} has no score to compare candidates by.")
        grid = list(ParameterGrid(self.param_grid))
        out = [(params, clone(self.estimator).set_params(**clone(params, safe=False))) for params in grid]
        for _, estimator in out:
            for name, value in estimator.get_params().items():
                if name.split("__")[-1] == "checkpoint" and value is not None:
                    raise ValueError(
                        f"{name}={value!r} is the file of one fit, and a search has many: use {name}=None."
                    )
        return out

    def _outcomes(
        self, candidates: list[tuple[dict[str, Any], Any]], part: Callable[..., Any], sharing: Sharing
    ) -> list[Any]:
        """The score of each candidate on each fold, or a `Failure`: all fits, then all scores."""
        fits, folds, forgive = (
            _one_fit_for_each(candidates),
            range(sharing.n_parts),
            self.error_score != "raise",
        )

        def fitted(fit: _Fit, fold: int) -> Any:
            return clone(fit.estimator).fit(part(*(n for n in folds if n != fold)))

        def score(model: BaseEstimator, values: dict[str, Any], fold: int) -> float:
            if isinstance(model, Failure):
                raise model.error
            return float(_with_values(model, values).score(part(fold)))

        pairs = list(product(fits, folds))
        models = sharing.together([partial(fitted, *pair) for pair in pairs], forgive=forgive)
        trials = {
            (candidate, fold): partial(score, model, values, fold)
            for (fit, fold), model in zip(pairs, models, strict=True)
            for candidate, values in fit.values.items()
        }
        scores = sharing.together(list(trials.values()), forgive=forgive)
        out = dict(zip(trials, scores, strict=True))
        return [out[key] for key in sorted(out)]

    def _sums_of_folds(
        self, candidates: list[tuple[dict[str, Any], Any]], part: Callable[..., Any], sharing: Sharing
    ) -> list[tuple[Any, dict[str, Any]]] | None:
        """For each candidate, the fits of one sum by folds that serves it, and its values. None if the
        estimator has no such sum."""
        valid = all(_is_valid(estimator) for _, estimator in candidates)
        if (
            not valid
            or isinstance(part(), Table)
            or not all(getattr(e, "one_fit", None) and hasattr(e, "_fit_folds") for _, e in candidates)
        ):
            return None
        fits = _one_fit_for_each(candidates)
        out: dict[int, tuple[Any, dict[str, Any]]] = {}
        for fit in fits:
            by_fold = clone(fit.estimator)._fit_folds(part(), sharing.n_parts, sharing.division)
            out |= {candidate: (by_fold, values) for candidate, values in fit.values.items()}
        return [out[candidate] for candidate in sorted(out)]

    def _from_sums(self, sums: list[tuple[Any, dict[str, Any]]], n_folds: int) -> list[Any]:
        """The score of each candidate on each fold, or a `Failure`."""
        out: list[Any] = []
        for (fits, values), fold in product(sums, range(n_folds)):
            try:
                out.append(float(fits.score(values, fold)))
            except Exception as error:
                if self.error_score == "raise":
                    raise
                out.append(Failure(error))
        return out

    def _open(
        self, X: Any, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> tuple[Callable[..., Any], Sharing]:
        """A function that returns the data of some folds, or all, and what shares passes over it."""
        base = clone(self.estimator)
        of_sequences = self.takes == "sequences"
        plan = FoldPlan.of(self.cv, groups if isinstance(groups, str) else None, self.random_state)
        if of_sequences and (plan.stratified or plan.grouped):
            raise ValueError(f"A sequence is in one fold: pass cv as a number of folds; got cv={self.cv!r}.")
        if isinstance(base, Pipeline) or plan.grouped:
            return self._open_table(X, y, groups, sample_weight, plan)
        flat = Check.of(base).target != "number" or source_of(X).flat_target(y)
        data = _opened(base, X, y, groups, sample_weight)
        self.n_features_in_ = base.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        features: Any = base.n_features_in_
        if hasattr(base, "feature_names_in_"):
            self.feature_names_in_ = base.feature_names_in_
            features = tuple(base.feature_names_in_)
        by_type = source_of(X).categorical_features() if hasattr(base, "categorical_features") else None
        division, n_passes = plan.of_rows(data)
        sharing = Sharing(
            data,
            plan.n_folds,
            division,
            features=features,
            check=Check.of(base),
            flat_target=flat,
            categorical=by_type,
        )
        sharing.n_passes = n_passes
        return sharing.view, sharing

    def _open_table(
        self, X: Any, y: MaybeArray, groups: Any, sample_weight: MaybeArray, plan: FoldPlan
    ) -> tuple[Callable[..., Any], Sharing]:
        source = source_of(X)
        unused = (y, sample_weight, None if plan.grouped else groups)
        if not isinstance(source, TableSource) or any(part is not None for part in unused):
            subject = "folds of groups" if plan.grouped else "a pipeline"
            raise TypeError(
                f"GridSearch fits {subject} to a table, scan or distributed data set: call "
                "fit(suffice.rows(table, target=...)) without y or weights; for arrays, use "
                "sklearn.model_selection.GridSearchCV."
            )
        table = source.table or Table(source.container)
        set_features(self, table.columns(source.names()).reader.features, reset=True)
        return in_folds(source, plan, groups)

    def _scores(self, outcomes: list[Any], params: tuple[dict[str, Any], ...], n_folds: int) -> np.ndarray:
        """The scores by candidate and fold, (C, F)."""
        failed = [n for n, result in enumerate(outcomes) if isinstance(result, Failure)]
        if failed:
            first = outcomes[failed[0]].error
            circumstances = f"with {params[failed[0] // n_folds]}, without fold {failed[0] % n_folds}"
            message = f"{len(failed)} of {len(outcomes)} fits failed. The first, {circumstances}: {first!r}"
            if len(failed) == len(outcomes):
                raise ValueError(message) from first
            score = f"Their score is {self.error_score}; error_score='raise' raises the error."
            warn(f"{message} {score}", FitFailedWarning)
        scores = [self.error_score if isinstance(result, Failure) else result for result in outcomes]
        return np.array(scores, dtype=np.float64).reshape(len(params), n_folds)

    @property
    def classes_(self) -> Any:
        """The classes, if the estimator is a classifier."""
        _best_has("classes_")(self)
        return self.best_estimator_.classes_

    @available_if(_best_has("predict"))
    def predict(self, X: Any, **how: Any) -> Any:
        """Call `predict` of the best estimator."""
        return self._best().predict(X, **how)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any, **how: Any) -> Any:
        """Call `predict_proba` of the best estimator."""
        return self._best().predict_proba(X, **how)

    @available_if(_best_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **how: Any) -> Any:
        """Call `predict_log_proba` of the best estimator."""
        return self._best().predict_log_proba(X, **how)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any, **how: Any) -> Any:
        """Call `decision_function` of the best estimator."""
        return self._best().decision_function(X, **how)

    @available_if(_best_has("score_samples"))
    def score_samples(self, X: Any, **how: Any) -> Any:
        """Call `score_samples` of the best estimator."""
        return self._best().score_samples(X, **how)

    @available_if(_best_has("transform"))
    def transform(self, X: Any, **how: Any) -> Any:
        """Call `transform` of the best estimator."""
        return self._best().transform(X, **how)

    def score(self, X: Any, y: MaybeArray = None, **how: Any) -> float:
        """Call `score` of the best estimator."""
        return self._best().score(X, y, **how)

    def _best(self) -> Any:
        check_is_fitted(self, "best_params_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("GridSearch(refit=False) has no best estimator: use refit=True.")
        return self.best_estimator_


@dataclass
class _Fit:
    """An estimator to fit, and the candidates that it serves."""

    estimator: Any
    values: dict[int, dict[str, Any]]  # by candidate, the parameters in which it differs from the estimator


def _one_fit_for_each(candidates: list[tuple[dict[str, Any], Any]]) -> list[_Fit]:
    """The fits to make. Candidates that differ only in parameters of `one_fit` share one."""
    groups: dict[Any, list[int]] = {}
    for n, (params, estimator) in enumerate(candidates):
        prefix, last = _last_step(estimator)
        names = {prefix + name for name in getattr(last, "one_fit", ())}
        others = frozenset((name, id(value)) for name, value in params.items() if name not in names)
        groups.setdefault((others, None if names and _is_valid(last) else n), []).append(n)
    return [_fit_for(group, candidates) for group in groups.values()]


def _fit_for(group: list[int], candidates: list[tuple[dict[str, Any], Any]]) -> _Fit:
    estimators = [candidates[n][1] for n in group]
    if len(group) == 1:
        return _Fit(estimators[0], {group[0]: {}})
    prefix, last = _last_step(estimators[0])
    values = [{name: _last_step(e)[1].get_params()[name] for name in last.one_fit} for e in estimators]
    serving = {prefix + k: choose([v[k] for v in values]) for k, choose in last.one_fit.items()}
    return _Fit(clone(estimators[0]).set_params(**serving), dict(zip(group, values, strict=True)))


def _last_step(estimator: BaseEstimator) -> tuple[str, Any]:
    """The estimator, or the last one of a pipeline, with the prefix of its parameters."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__", last
    return "", estimator


def _with_values(fitted: Any, values: dict[str, Any]) -> Any:
    """What the estimator would be if it had been fitted with these values."""
    if not values:
        return fitted
    if isinstance(fitted, Pipeline):
        name, last = fitted.steps[-1]
        return copy(fitted).set_params(steps=[*fitted.steps[:-1], (name, last._with_values(values))])
    return fitted._with_values(values)


def _is_valid(estimator: BaseEstimator) -> bool:
    try:
        check_parameters(estimator)
    except ValueError:
        return False
    return True


def _opened(
    estimator: BaseEstimator, X: Any, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
) -> Partitions:
    """The data as the `fit` of the estimator opens it."""
    if estimator.takes == "sequences":
        if getattr(estimator, "labels", "steps") == "sequences":
            from ..sequence.classifier import at_rows

            y = at_rows(X, y, groups)
        return open_sequences(estimator, X, y, groups, sample_weight)
    if groups is not None:
        raise ValueError(f"{type(estimator).__name__} takes independent rows: leave groups out.")
    return open_rows(estimator, X, y if Check.of(estimator).target else None, sample_weight)


def _results(params: tuple[dict[str, Any], ...], scores: np.ndarray) -> dict[str, Any]:
    """The results of the search, with the keys of scikit-learn."""
    out: dict[str, Any] = {}
    for name in sorted({name for candidate in params for name in candidate}):
        column = np.ma.masked_all(len(params), dtype=object)
        for n, candidate in enumerate(params):
            if name in candidate:
                column[n] = candidate[name]
        out[f"param_{name}"] = column
    out["params"] = list(params)
    out |= {f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])}
    mean = scores.mean(axis=1)
    out["mean_test_score"], out["std_test_score"] = mean, scores.std(axis=1)
    least = np.nanmin(mean, initial=np.inf) - 1.0
    out["rank_test_score"] = rankdata(-np.nan_to_num(mean, nan=least), method="min").astype(np.int32)
    return out


@contextmanager
def _said_once() -> Iterator[None]:
    """Emit only the first of equal warnings of many fits, at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    distinct = {(w.category, str(w.message)): w for w in reversed(caught)}
    for w in reversed(distinct.values()):
        warn(w.message, w.category)
