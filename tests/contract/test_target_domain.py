"""The domain of a target is declared by the estimator, and checked when rows are read, in every container."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import suffice
from suffice.additive import GeneralizedAdditiveModel
from suffice.ensemble import BaggingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from suffice.inputs import TargetDomain, open_rows
from suffice.losses import Domain
from suffice.tree import DecisionTreeRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
COUNTS = rng.poisson(3.0, size=60).astype(float)


class Counts(RegressorMixin, BaseEstimator):
    """An estimator of another package, which checks nothing itself."""

    target_domain: ClassVar = TargetDomain(Domain(0.0), "Counts requires non-negative y.")

    def fit(self, X, y=None, sample_weight=None):
        self.data_ = open_rows(self, X, y, sample_weight)
        self.n_ = self.data_.fold(len)
        return self


MODELS = {
    "hist-poisson": (
        HistGradientBoostingRegressor(loss="poisson", max_iter=2),
        -1.0,
        "requires non-negative y",
    ),
    "hist-gamma": (
        HistGradientBoostingRegressor(loss="gamma", max_iter=2),
        0.0,
        "requires strictly positive y",
    ),
    "tree": (DecisionTreeRegressor(criterion="poisson"), -1.0, "negative which is not allowed"),
    "forest": (RandomForestRegressor(2, criterion="poisson"), -1.0, "negative which is not allowed"),
    "bagging": (
        BaggingRegressor(DecisionTreeRegressor(criterion="poisson"), 2),
        -1.0,
        "is not allowed for Poisson",
    ),
    "additive": (GeneralizedAdditiveModel("poisson"), -1.0, "takes counts: y must be non-negative"),
    "declared": (Counts(), -1.0, "Counts requires non-negative y"),
}


def in_container(kind, y, folder):
    """The arguments of fit."""
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    if kind == "numpy":
        return X, y
    if kind == "pandas":
        return pd.DataFrame(X, columns=["a", "b"]), pd.Series(y)
    if kind == "scan":
        pq.write_table(table, folder / "rows.parquet")
        return (suffice.rows(suffice.scan_parquet(folder), features=["a", "b"], target="y"),)
    return (
        suffice.rows(pl.from_arrow(table) if kind == "polars" else table, features=["a", "b"], target="y"),
    )


@pytest.mark.parametrize("kind", ["numpy", "pandas", "arrow", "polars", "scan"])
@pytest.mark.parametrize("name", MODELS)
def test_targets_outside_the_domain_are_refused(name, kind, tmp_path):
    model, wrong, message = MODELS[name]
    y = COUNTS + 1.0
    y[41] = wrong
    with pytest.raises(ValueError, match=f"{message}.* Got {wrong:g}"):
        model.fit(*in_container(kind, y, tmp_path))


@pytest.mark.parametrize("name", ["hist-gamma", "tree", "declared"])
def test_targets_inside_the_domain_are_fitted(name, tmp_path):
    y = COUNTS + (0.5 if name == "hist-gamma" else 0.0)
    MODELS[name][0].fit(X, y)
    MODELS[name][0].fit(*in_container("scan", y, tmp_path))


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=2),
        DecisionTreeRegressor(),
        GeneralizedAdditiveModel("gaussian"),
    ],
    ids=repr,
)
def test_other_losses_take_any_number(model):
    model.fit(X, COUNTS - 5.0)
