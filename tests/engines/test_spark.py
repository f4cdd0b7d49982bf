"""The Spark engine, classic and Connect: the bits of the local one, errors as raised, nothing left behind."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.door import Check
from suffice.core.tables import Columns
from suffice.engines.local import LocalPartitions
from suffice.statistics import moments

from ._common import FEATURES, bits, described, kind_of, tables, variants, write

pytest.importorskip("pyspark")
engine = pytest.importorskip("suffice.engines.spark")

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
]
PASS = Check("Test", sparse=False, nan=True, positive=False, strings=True, target=None)
engine.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests


def summed(rows):
    return moments(rows.X, rows.weight)


def frame(spark, blocks):
    """Arrow tables as a DataFrame: one a partition, in their order."""
    types = spark.createDataFrame(blocks[0].slice(0, 1)).schema
    written = [table.combine_chunks().to_batches() for table in blocks]

    def of_partition(batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from written[number]

    return spark.range(0, len(blocks), 1, len(blocks)).mapInArrow(of_partition, types)


def opened(spark, blocks, **parts):
    source = frame(spark, blocks)
    return engine.open_partitions(source, suffice.rows(source, **parts).columns(source.columns), PASS)


def local(blocks, features=FEATURES):
    columns = Columns(tuple(features))
    return LocalPartitions(tuple(columns.block(PASS, n, table) for n, table in enumerate(blocks)))


def fitted(estimator, source):
    with warnings.catch_warnings(), suffice.threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few iterations are enough here
        return clone(estimator).fit(described(estimator, source))


COMMON = ["PCA", "GaussianMixture", "KMeans-parallel", "LogisticRegression", "MixedNB"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: write(tmp_path_factory.mktemp(kind), tables(kind)) for kind in ("real", "count")}


@pytest.mark.parametrize(
    "name", [name if name in COMMON else pytest.param(name, marks=pytest.mark.slow) for name in variants()]
)
def test_same_bits_on_spark(name, spark, folders):
    estimator = variants()[name]
    kind = kind_of(estimator)
    there = fitted(estimator, frame(spark, tables(kind)))
    assert bits(there) == bits(fitted(estimator, suffice.scan_parquet(folders[kind])))


def test_map_stays_and_folds_to_the_same_bits(spark):
    def shifted(by, factor, rows):
        return rows.replace(X=(rows.X + by) * factor)

    blocks, by = tables(), np.array([0.1, 0.2, 0.3])
    here, there = (
        data.map(shifted, by, 3.0).map(shifted, -by, 0.7)
        for data in (local(blocks), opened(spark, blocks, features=FEATURES))
    )
    assert isinstance(there, engine.SparkPartitions)
    assert bits(there.fold(summed)) == bits(here.fold(summed))
    assert not there.came_from
    assert bits(there.fold(summed)) == bits(here.fold(summed))
