"""Trees: the same bits from arrays, files and clusters, by either plan, and for rows in any order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.core import partitions
from suffice.ensemble import AdaBoostClassifier
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ._common import FEATURES, spark_frame, tables, write

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
]
BLOCKS = tables()[3:8]
WHOLE = pa.concat_tables(BLOCKS)
TREES = [(DecisionTreeClassifier(max_depth=6), "label"), (DecisionTreeRegressor(max_leaf_nodes=20), "y")]


def bits_of(tree):
    return {name: value.tobytes() for name, value in tree.fields().items() if name != "bins"}


def bits(model):
    return bits_of(model.model_)


@pytest.fixture(scope="module")
def expected():
    """The trees of arrays, in another order."""
    order = np.random.default_rng(0).permutation(WHOLE.num_rows)
    X = np.column_stack([WHOLE[name].to_numpy().astype(np.float64) for name in FEATURES])[order]
    return [bits(model.fit(X, WHOLE[target].to_numpy()[order])) for model, target in TREES]


@pytest.fixture(params=["gathered", "folded"])
def plan(request, monkeypatch):
    if request.param == "folded":
        monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 13)


def check(source, expected):
    for (model, target), there in zip(TREES, expected, strict=True):
        fitted = model.fit(suffice.rows(source, features=FEATURES, target=target, weight=None))
        assert bits(fitted) == there


@pytest.mark.usefixtures("plan")
def test_on_parquet(tmp_path, expected):
    check(suffice.scan_parquet(write(tmp_path, BLOCKS)), expected)
    pq.write_table(WHOLE, tmp_path / "whole.parquet", row_group_size=61)
    check(suffice.scan_parquet(tmp_path / "whole.parquet"), expected)


@pytest.mark.usefixtures("plan")
def test_on_ray(cluster, expected):
    import ray

    check(ray.data.from_arrow(BLOCKS), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("plan")
def test_on_dask(dask_client, expected):
    import dask.dataframe as dd
    from dask import delayed

    with dask_client.as_current():
        check(dd.from_delayed([delayed(block.to_pandas()) for block in BLOCKS]), expected)


@pytest.mark.usefixtures("plan")
def test_on_spark(spark, expected):
    check(spark_frame(spark, BLOCKS), expected)


# --- boosting ------------------------------------------------------------------------------------------


def votes(model):
    """All that is learnt, but for the bins of the trees."""
    model = model.model_
    return bits_of(model.forest.nodes), [getattr(model, k).tobytes() for k in ("vote", "weight", "error")]


@pytest.fixture(scope="module")
def boosted():
    order = np.random.default_rng(0).permutation(WHOLE.num_rows)
    X = np.column_stack([WHOLE[name].to_numpy().astype(np.float64) for name in FEATURES])[order]
    return votes(AdaBoostClassifier(n_estimators=5).fit(X, WHOLE["label"].to_numpy()[order]))


def check_boosted(source, boosted):
    rows = suffice.rows(source, features=FEATURES, target="label", weight=None)
    assert votes(AdaBoostClassifier(n_estimators=5).fit(rows)) == boosted


@pytest.mark.slow
@pytest.mark.usefixtures("plan")
def test_adaboost_on_ray(cluster, boosted):
    import ray

    check_boosted(ray.data.from_arrow(BLOCKS), boosted)


@pytest.mark.slow
@pytest.mark.usefixtures("plan")
def test_adaboost_on_dask(dask_client, boosted):
    import dask.dataframe as dd
    from dask import delayed

    with dask_client.as_current():
        check_boosted(dd.from_delayed([delayed(block.to_pandas()) for block in BLOCKS]), boosted)


@pytest.mark.slow
@pytest.mark.usefixtures("plan")
def test_adaboost_on_spark(spark, boosted):
    check_boosted(spark_frame(spark, BLOCKS), boosted)
