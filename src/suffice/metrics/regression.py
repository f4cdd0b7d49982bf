"""Mean squared error and R^2, as sums over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from ..core.arguments import MaybeArray
from ..core.callers import warn
from ..estimator.scores import Residuals, check_some_weight, residuals
from .predictions import opened


def mean_squared_error(
    y_true: Any, y_pred: Any = None, *, sample_weight: MaybeArray = None, multioutput: Any = "uniform_average"
) -> Any:
    """Mean of the squared differences between targets and predictions.

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or table
        Targets. Or a table described by `suffice.rows`, with the predictions as features and the targets as
        target, or by `predicted`.
    y_pred : array, optional
        Predictions. Leave out for a table.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows. Leave out for a table, which names a column.
    multioutput : {'uniform_average', 'raw_values'} or array, default='uniform_average'
        How to average over several targets.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import mean_squared_error
    >>> table = pa.table({"y": [3.0, -0.5, 2.0, 7.0], "prediction": [2.5, 0.0, 2.0, 8.0]})
    >>> mean_squared_error(suffice.rows(table, features=["prediction"], target="y"))
    0.375
    """
    if y_pred is not None:
        options = {"sample_weight": sample_weight, "multioutput": multioutput}
        return metrics.mean_squared_error(y_true, y_pred, **options)
    sums = _residuals(y_true, "mean_squared_error")
    return _averaged(sums.squares / sums.target.weight, multioutput)


def r2_score(
    y_true: Any,
    y_pred: Any = None,
    *,
    sample_weight: MaybeArray = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """Coefficient of determination: one minus the residual sum of squares over that of the mean.

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or table
        Targets. Or a table described by `suffice.rows`, with the predictions as features and the targets as
        target, or by `predicted`.
    y_pred : array, optional
        Predictions. Leave out for a table.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows. Leave out for a table, which names a column.
    multioutput : {'uniform_average', 'variance_weighted', 'raw_values'} or array, default='uniform_average'
        How to average over several targets.
    force_finite : bool, default=True
        Whether a constant target scores 1 if predicted perfectly and 0 if not, instead of NaN and -inf.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import r2_score
    >>> table = pa.table({"y": [3.0, -0.5, 2.0, 7.0], "prediction": [2.5, 0.0, 2.0, 8.0]})
    >>> round(r2_score(suffice.rows(table, features=["prediction"], target="y")), 4)
    0.9486
    """
    if y_pred is not None:
        options = {"multioutput": multioutput, "force_finite": force_finite}
        return metrics.r2_score(y_true, y_pred, sample_weight=sample_weight, **options)
    sums = _residuals(y_true, "r2_score")
    if sums.rows < 2:
        warn("R^2 is not defined for less than two rows.", UndefinedMetricWarning)
        return float("nan")
    spread = sums.target.scatter
    with np.errstate(divide="ignore", invalid="ignore"):
        score = 1.0 - sums.squares / spread
    if force_finite:
        score = np.where(spread > 0, score, sums.squares == 0)
    if isinstance(multioutput, str) and multioutput == "variance_weighted":
        multioutput = spread if spread.any() else "uniform_average"
    return _averaged(score, multioutput)


def _residuals(table: Any, name: str) -> Residuals:
    sums: Residuals = opened(table, "regressor", name).fold(residuals, None)
    check_some_weight(sums.target.weight)
    return sums


def _averaged(values: np.ndarray, multioutput: Any) -> Any:
    if isinstance(multioutput, str):
        if multioutput == "raw_values":
            return values
        if multioutput != "uniform_average":
            raise ValueError(f"multioutput={multioutput!r} is unknown.")
        return float(values.mean())
    return float(np.average(values, weights=multioutput))
