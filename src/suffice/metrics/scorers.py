"""Scores of a fitted model on a table, by scikit-learn's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from .classification import accuracy_score, log_loss
from .predictions import predicted
from .ranking import average_precision_score, roc_auc_score
from .regression import mean_squared_error, r2_score


def _by_rank(metric: Callable[[Any], float]) -> Callable[[Any, Any], float]:
    """A metric of two classes that takes any score of the second."""

    def score(model: BaseEstimator, table: Any) -> float:
        method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
        return metric(predicted(model, table, method))

    return score


def _log_loss(model: BaseEstimator, table: Any) -> float:
    return -log_loss(predicted(model, table, "predict_proba"), labels=model.classes_)


def _squared_error(model: BaseEstimator, table: Any) -> float:
    return float(mean_squared_error(predicted(model, table)))


SCORERS: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": lambda model, table: accuracy_score(predicted(model, table)),
    "average_precision": _by_rank(average_precision_score),
    "neg_log_loss": _log_loss,
    "neg_mean_squared_error": lambda model, table: -_squared_error(model, table),
    "neg_root_mean_squared_error": lambda model, table: -(_squared_error(model, table) ** 0.5),
    "r2": lambda model, table: r2_score(predicted(model, table)),
    "roc_auc": _by_rank(roc_auc_score),
}


def scorer_of(scoring: Any) -> Callable[[Any, Any], float]:
    """The function of a fitted model and a table that `scoring` names."""
    if scoring is None:
        return lambda model, table: model.score(table)
    if callable(scoring):
        return scoring
    if not isinstance(scoring, str) or scoring not in SCORERS:
        raise ValueError(
            f"scoring={scoring!r} is unknown for a table: use one of {sorted(SCORERS)}, or a function of a "
            "fitted estimator and a table, e.g. of suffice.metrics.predicted(estimator, table)."
        )
    return SCORERS[scoring]
