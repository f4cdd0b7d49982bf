"""Nearest rows that stay on a cluster are those of the rows in memory, to the bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.neighbors import KNeighborsClassifier

from ._common import FEATURES, spark_frame, tables

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
]
BLOCKS = tables()[3:9]
WHOLE = pa.concat_tables(BLOCKS)
QUERIES = WHOLE.select(FEATURES).slice(0, 2000).take(np.arange(0, 2000, 40))


def fitted(source):
    described = suffice.rows(source, features=FEATURES, target="label", weight="w")
    return KNeighborsClassifier(weights="distance").fit(described)


def assert_same(there):
    here = fitted(WHOLE)
    assert there.rows_elsewhere and not here.rows_elsewhere
    for a, b in zip(there.kneighbors(QUERIES), here.kneighbors(QUERIES), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(there.predict_proba(QUERIES), here.predict_proba(QUERIES))


def test_on_ray(cluster):
    ray = pytest.importorskip("ray.data")
    assert_same(fitted(ray.from_arrow(BLOCKS)))


def test_on_dask(dask_client):
    dd = pytest.importorskip("dask.dataframe")
    with dask_client.as_current():
        assert_same(fitted(dd.from_pandas(WHOLE.to_pandas(), npartitions=4)))


def test_on_spark(spark):
    assert_same(fitted(spark_frame(spark, BLOCKS)))
