"""Metadata of cross-validation: what a fit passes on to its splitter and to its scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if

from ..core.arguments import MaybeArray
from ..core.partitions import Partitions
from ..fitting.folds import Folds
from ..inputs import source_of
from .base import Estimator


@dataclass(frozen=True)
class Routed:
    """The arguments of a fit with cross-validation, and what of them its splitter and its scorer take."""

    X: Any
    y: Any
    sample_weight: Any
    params: dict[str, Any]
    for_splitter: dict[str, Any]
    for_scorer: dict[str, Any]

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        weighted = source_of(X).weighted or sample_weight
        return cls(X, y, sample_weight, params, *routed_params(estimator, weighted, params))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """X and y; none if they are not arrays in memory."""
        return (self.X, self.y) if source_of(self.X).is_plain else ()

    def folds(self, data: Partitions, cv: Any) -> Folds:
        return Folds.of(data, cv, *self.arrays, **self.for_splitter)


def routed_params(
    estimator: Any, sample_weight: Any, params: dict[str, Any], method: str = "fit"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The metadata for the splitter, e.g. groups, and for the scorer: without routing, the weights alone."""
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(estimator, method, **weighted, **params)
        split, score = (routed.get(name) or {} for name in ("splitter", "scorer"))
        return dict(split.get("split") or {}), dict(score.get("score") or {})
    if params:
        raise ValueError(
            f"{type(estimator).__name__}.{method}: passing {sorted(params)} is only supported if "
            f"enable_metadata_routing=True: call sklearn.set_config(enable_metadata_routing=True)."
        )
    return {}, weighted


def _needs_all_rows(estimator: Any) -> bool:
    """An `available_if` of scikit-learn."""
    raise AttributeError(
        f"{type(estimator).__name__} has no partial_fit: its folds depend on the number of rows, and its "
        "errors need them all. Call fit with all rows, e.g. with suffice.scan_parquet(folder)."
    )


class CrossValidated(Estimator):
    """Base class of estimators that choose a parameter by cross-validation."""

    def fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, **params: Any) -> Self:
        """Fit to rows and targets.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array, optional
            Targets or labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Per-sample weights, in fits and in errors. Folds count rows regardless of their weights.
        **params : dict
            Passed to the splitter `cv`, e.g. groups, and to the scorer, with
            ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self
        """
        return self._fit_to(X, y, sample_weight, routed=Routed.of(self, X, y, sample_weight, params))

    @available_if(_needs_all_rows)
    def partial_fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Not available: folds and errors need the rows of earlier calls."""
        raise NotImplementedError

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata that `fit` takes and passes on: also to the scorer, if there is `scoring`."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        out = MetadataRouter(owner=self).add_self_request(self)
        out.add(splitter=check_cv(self.cv), method_mapping=mapping)
        scoring = getattr(self, "scoring", None)
        if scoring is not None and not (isinstance(scoring, str) and scoring == "warn"):
            scored = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
            out.add(scorer=check_scoring(self, scoring), method_mapping=scored)
        return out
