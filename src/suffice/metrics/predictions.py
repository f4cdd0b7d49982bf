"""Tables of predictions, whose rows are predicted when they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..core.partitions import Partitions
from ..estimator.answers import nameless
from ..inputs import Table, open_rows, source_of
from ..inputs.readers import Transformed
from ..inputs.sources import TableSource


def predicted(model: BaseEstimator, X: Table, method: str = "predict") -> Table:
    """Describe the table whose features are the predictions of a model, computed as the rows are read.

    Parameters
    ----------
    model : fitted estimator, or Pipeline
        The model.
    X : table described by `suffice.rows`, with its target
        The rows.
    method : {'predict', 'predict_proba', 'decision_function'}, default='predict'
        The method that predicts.

    Returns
    -------
    table
        To pass to the functions of `suffice.metrics`: one pass reads the rows, predicts and evaluates.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.linear_model import LogisticRegression
    >>> from suffice.metrics import log_loss, predicted
    >>> rows = suffice.rows(pa.table({"x": [0.0, 1.0, 2.0, 3.0], "y": [0, 0, 1, 1]}), target="y")
    >>> model = LogisticRegression().fit(rows)
    >>> round(log_loss(predicted(model, rows, "predict_proba")), 4)
    0.3476
    """
    if isinstance(model, Pipeline):
        X, model = model[:-1].transform(X) if len(model) > 1 else X, model[-1]
    check_is_fitted(model)
    source = source_of(X)
    if not isinstance(source, TableSource) or source.table is None or source.table.target is None:
        raise TypeError(
            f"predicted takes a table with its target, and got {type(X).__name__}: call "
            'predicted(model, suffice.rows(table, target="...")), or pass model.predict(X) to the metric.'
        )
    reader = source.reader_for(model)
    width = 1 if method == "predict" else len(_one_row(model, method, model.n_features_in_))
    features = Transformed(reader, _Method(nameless(model), method), width)
    return replace(source.table, features=features)


def _one_row(model: BaseEstimator, method: str, width: int) -> np.ndarray:
    """The result of a method for one row, which tells how many columns it has."""
    return np.atleast_1d(getattr(nameless(model), method)(np.zeros((1, width)))[0])


@dataclass(frozen=True)
class _Method:
    """A method of a model, as the transformation of rows."""

    model: Any
    method: str

    def transform_rows(self, X: Any) -> np.ndarray:
        if not X.shape[0]:
            X = np.ones((1, X.shape[1]))  # the result for one row has the type and the number of columns
            return self.transform_rows(X)[:0]
        answer = np.asarray(getattr(self.model, self.method)(X))
        return answer[:, None] if answer.ndim == 1 else answer


class _Evaluation(BaseEstimator):
    """What a metric requires of its rows: the features are predictions, the target is the truth."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.kind
        tags.input_tags.string = self.kind == "classifier"
        tags.target_tags.required = True
        tags.target_tags.multi_output = self.kind == "regressor"
        return tags


def opened(table: Any, kind: str, name: str) -> Partitions:
    """The predictions and the truth of a table, for the metric `name`."""
    if not isinstance(table, Table):
        raise TypeError(
            f"{name} takes y_true and the predictions, or a table: {name}(suffice.rows(table, "
            f'features=["prediction"], target="..."), or {name}(suffice.metrics.predicted(model, rows)). '
            f"Got {type(table).__name__} alone."
        )
    return open_rows(_Evaluation(kind, name), table)


def as_numbers(X: Any, name: str) -> np.ndarray:
    """Predictions that are numbers, (N, K)."""
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} takes scores or probabilities, and the predictions are labels: pass predicted(model, "
            f'rows, "predict_proba"), or the columns of probabilities as features.'
        ) from None
