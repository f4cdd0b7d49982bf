"""Cross-validation over tables: the fits of all folds share each pass over the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.base import BaseEstimator, clone

from ..core.arguments import MaybeArray, Seed
from ..core.progress import showing
from ..inputs import Table, source_of
from ..inputs.conversions import check_names
from ..inputs.shared import SharedTable
from ..inputs.sources import TableSource
from ..metrics.scorers import scorer_of
from .splitters import FoldPlan


def cross_validate(
    estimator: BaseEstimator,
    X: Any,
    y: MaybeArray = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    random_state: Seed = None,
    **params: Any,
) -> dict[str, Any]:
    """Fit to all folds but one and score on that, for each fold.

    For arrays and DataFrames in memory it is scikit-learn's. For tables, scans and distributed data sets the
    fold of a row is drawn by a hash of its values, and the fits of all folds share each pass over the data.

    Parameters
    ----------
    estimator : estimator of suffice, or pipeline of them
        The estimator to fit.
    X : array, table, scan or distributed data set
        The data.
    y : array, optional
        Targets. Leave out if a column of the table holds them.
    groups : str or array, default=None
        For a table, the column of the groups, with ``cv=GroupKFold(5)`` or ``StratifiedGroupKFold(5)``: all
        rows of a group are in one fold. For data in memory, the groups.
    scoring : str or callable, default=None
        A score by scikit-learn's name: 'accuracy', 'average_precision', 'neg_log_loss',
        'neg_mean_squared_error', 'neg_root_mean_squared_error', 'r2' or 'roc_auc'; for data in memory, any of
        its names. Or a function of the fitted estimator and the table of a fold. If None, the `score` of the
        estimator.
    cv : int, KFold, StratifiedKFold, GroupKFold or StratifiedGroupKFold, default=None
        Number of folds, or a splitter of scikit-learn that describes them. None means 5. For data in memory,
        any splitter. The folds of a table are drawn by hashes, so they differ from those of scikit-learn: see
        the notes.
    return_train_score : bool, default=False
        Whether to score on the rows of the fit, too.
    return_estimator : bool, default=False
        Whether to return the fitted estimators.
    random_state : int, RandomState or None, default=None
        Seed for the folds of a table.
    **params : dict
        Other parameters of :func:`sklearn.model_selection.cross_validate`, for data in memory.

    Returns
    -------
    dict
        ``test_score``, an array of one score for each fold; and ``train_score`` and ``estimator``, if asked
        for. For data in memory, ``fit_time`` and ``score_time``, too.

    Notes
    -----
    The folds of a table depend on the values of its rows and on `random_state` alone: not on the order of the
    rows, on blocks or on the engine. Some are counted before the fits, which takes passes over the data.

    * A number of folds, or `KFold`: the fold of a row is drawn by a hash of its values, and the sizes of the
      folds fluctuate by chance. No pass.
    * `StratifiedKFold`: the rows of each class, which is the target of the table, are sorted by their hashes
      and divided evenly. In each class the sizes of the folds differ by at most 5 rows, unless rows are
      repeated: equal rows are in one fold. One pass if no class has more than about 8,000 rows, two up to
      about 30 million, three beyond.
    * `GroupKFold`: the fold of a group is drawn by a hash of its value, so that the numbers of groups and of
      rows fluctuate by chance. No pass.
    * `StratifiedGroupKFold`: one pass counts the classes of each group. From the largest group on, each is
      added to the fold that has the fewest rows of its classes. Up to a million groups.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.linear_model import Ridge
    >>> from suffice.model_selection import cross_validate
    >>> x = np.random.default_rng(0).normal(size=1000)
    >>> table = suffice.rows(pa.table({"x": x, "y": 2 * x}), target="y")
    >>> cross_validate(Ridge(), table, cv=3, random_state=0)["test_score"].round(4)
    array([1., 1., 1.])
    """
    source = source_of(X)
    if not isinstance(source, TableSource):
        options = {
            "return_train_score": return_train_score,
            "return_estimator": return_estimator,
            "groups": groups,
        }
        return model_selection.cross_validate(estimator, X, y, scoring=scoring, cv=cv, **options, **params)
    if y is not None or params:
        raise ValueError(
            "For a table, name the target by suffice.rows(table, target=...), and leave y and other "
            f"parameters out; got {sorted(params) or 'y'}."
        )
    score, plan = scorer_of(scoring), FoldPlan.of(cv, groups, random_state)
    n_folds = plan.n_folds

    def trial(part: Callable[..., Table], fold: int) -> Callable[[], Any]:
        train = part(*(n for n in range(n_folds) if n != fold))

        def run() -> Any:
            fitted = clone(estimator).fit(train)
            tables = [part(fold), train] if return_train_score else [part(fold)]
            return fitted, [score(fitted, t) for t in tables]

        return run

    with showing("cross_validate"):
        part, sharing = in_folds(source, plan, groups)
        results = sharing.together([trial(part, fold) for fold in range(n_folds)], forgive=False)
    scores = np.array([scores for _, scores in results], dtype=np.float64)
    out: dict[str, Any] = {"test_score": scores[:, 0]}
    if return_train_score:
        out["train_score"] = scores[:, 1]
    return {**out, "estimator": [fitted for fitted, _ in results]} if return_estimator else out


def cross_val_score(
    estimator: BaseEstimator,
    X: Any,
    y: MaybeArray = None,
    *,
    groups: MaybeArray = None,
    scoring: Any = None,
    cv: Any = None,
    random_state: Seed = None,
    **params: Any,
) -> np.ndarray:
    """The scores of `cross_validate`, one for each fold.

    Parameters
    ----------
    estimator : estimator of suffice, or pipeline of them
        The estimator to fit.
    X : array, table, scan or distributed data set
        The data.
    y : array, optional
        Targets. Leave out if a column of the table holds them.
    groups : str or array, default=None
        For a table, the column of the groups, with ``cv=GroupKFold(5)`` or ``StratifiedGroupKFold(5)``: all
        rows of a group are in one fold. For data in memory, the groups.
    scoring : str or callable, default=None
        As of `cross_validate`.
    cv : int, KFold, StratifiedKFold, GroupKFold or StratifiedGroupKFold, default=None
        As of `cross_validate`.
    random_state : int, RandomState or None, default=None
        Seed for the folds of a table.
    **params : dict
        Other parameters of :func:`sklearn.model_selection.cross_val_score`, for data in memory.

    Returns
    -------
    ndarray of shape (n_folds,)
        The scores.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.linear_model import Ridge
    >>> from suffice.model_selection import cross_val_score
    >>> x = np.random.default_rng(0).normal(size=1000)
    >>> table = suffice.rows(pa.table({"x": x, "y": 2 * x}), target="y")
    >>> cross_val_score(Ridge(), table, cv=3, random_state=0).round(4)
    array([1., 1., 1.])
    """
    if not isinstance(source_of(X), TableSource):
        return model_selection.cross_val_score(
            estimator, X, y, groups=groups, scoring=scoring, cv=cv, **params
        )
    options = {"groups": groups, "scoring": scoring, "cv": cv, "random_state": random_state}
    return cross_validate(estimator, X, y, **options, **params)["test_score"]


def in_folds(source: TableSource, plan: FoldPlan, groups: str | None) -> tuple[Callable[..., Table], Any]:
    """A function that returns the table of some folds, or of all rows, and what shares passes over them."""
    table = source.table or Table(source.container)
    if table.sequence is not None:
        raise ValueError("The rows of a sequence cannot be in several folds: use GridSearch.")
    columns = tuple(table.columns(source.names()).names())
    division = plan.division(columns, table.target, groups)
    check_names(source.names(), division.names)
    shared = SharedTable(source, columns, division)
    return (lambda *folds: shared.part(table, *folds)), shared.sharing
