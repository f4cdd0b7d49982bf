"""What every engine does with partitions: map, fold, fold_by_key, gather and batches, to the same bits."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pytest

import suffice
from suffice.core import partitions
from suffice.engines.local import LocalPartitions
from suffice.inputs import Check, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.ranking import PageRank, sharded

from ._common import FEATURES, spark_frame, tables, write

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
]
CHECK = Check("Test", sparse=False, nan=False, positive=False, strings=False, target=None)
COLUMNS = Columns(DenseColumns(tuple(FEATURES)), "label", "w")
BLOCKS = tables()[3:8]


def doubled(block):
    return block.replace(X=2.0 * block.X)


def sums(block):
    return block.weight @ block.X


def by_label(factor, block):
    return block.y.astype(np.int64), factor * block.X


def check(data):
    """The same bits as of blocks of this process."""
    here = LocalPartitions(tuple(COLUMNS.block(CHECK, n, block) for n, block in enumerate(BLOCKS)))
    data, here = data.map(doubled), here.map(doubled)
    assert data.fold(sums).tobytes() == here.fold(sums).tobytes()
    found, expected = (part.fold_by_key(by_label, 3.0, n_keys=3, shards=2) for part in (data, here))
    assert found.take([2, 0, 1]).tobytes() == expected.take([2, 0, 1]).tobytes()
    assert found.map(_halved).take([1]).tobytes() == (expected.take([1]) / 2).tobytes()
    rows, expected_rows = (part.gather("test less") for part in (data, here))
    for name in ("X", "y", "weight"):
        assert getattr(rows, name).tobytes() == getattr(expected_rows, name).tobytes()
    blocks = list(data.persisted().batches())
    assert [len(block) for block in blocks] == [block.num_rows for block in BLOCKS]
    assert np.concatenate([block.X for block in blocks]).tobytes() == expected_rows.X.tobytes()


@pytest.mark.parametrize("in_memory", [True, False])
def test_maps_for_many_passes(in_memory):
    """A prepared map is computed once in memory, and else in each pass."""
    blocks = [COLUMNS.block(CHECK, n, block) for n, block in enumerate(BLOCKS)]
    data, calls = LocalPartitions(tuple(blocks) if in_memory else blocks), []

    def scaled(factor, block):
        calls.append(block)
        return block.replace(X=factor * block.X)

    mapped = data.map(doubled)
    for verb, once in ((data.prepared, in_memory), (data.in_each_pass, False)):
        found = verb(scaled, 2.0)
        calls.clear()
        assert found.fold(sums).tobytes() == mapped.fold(sums).tobytes()
        assert once == (not calls)
        by_key, expected = (part.fold_by_key(by_label, 3.0, n_keys=3, shards=2) for part in (found, mapped))
        assert by_key.take([2, 0, 1]).tobytes() == expected.take([2, 0, 1]).tobytes()
        assert found.map(doubled).fold(sums).tobytes() == mapped.map(doubled).fold(sums).tobytes()
        for ours, theirs in zip(found.batches(), mapped.batches(), strict=True):
            assert ours.X.tobytes() == theirs.X.tobytes()


@pytest.mark.parametrize("in_memory", [True, False])
def test_rows_are_gathered_if_they_fit(in_memory, monkeypatch, caplog):
    blocks = [COLUMNS.block(CHECK, n, block) for n, block in enumerate(BLOCKS)]
    data = LocalPartitions(tuple(blocks) if in_memory else blocks)
    n_rows = sum(map(len, blocks))
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 100 * n_rows)
    with caplog.at_level(logging.INFO, "suffice"):
        assert data.gather_if(n_rows, 100).X.tobytes() == data.gather("").X.tobytes()
        assert f"{n_rows} rows are gathered" in caplog.text
        caplog.clear()
        assert data.gather_if(n_rows, 101) is None
        assert f"{n_rows} rows stay where they are" in caplog.text


def _halved(shard):
    return shard.replace(values=shard.values / 2)


def test_parquet(tmp_path):
    check(source_of(suffice.scan_parquet(write(tmp_path, BLOCKS))).partitions(COLUMNS, CHECK))


def test_ray(cluster):
    import ray

    check(source_of(ray.data.from_arrow(BLOCKS)).partitions(COLUMNS, CHECK))


def frame_of_dask(blocks):
    import dask.dataframe as dd
    from dask import delayed

    return dd.from_delayed([delayed(block.to_pandas()) for block in blocks])


def test_dask(dask_client):
    with dask_client.as_current():
        check(source_of(frame_of_dask(BLOCKS)).partitions(COLUMNS, CHECK))


def test_spark(spark):
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # which workers cannot import
    check(source_of(spark_frame(spark, BLOCKS)).partitions(COLUMNS, CHECK))


def links():
    import pyarrow as pa

    source, target = np.random.default_rng(0).integers(0, 40, (2, 300))
    whole = pa.table({"source": source, "target": target})
    return [whole.slice(start, 100) for start in range(0, 300, 100)]


def test_a_graph_in_shards_on_dask(dask_client, monkeypatch):
    monkeypatch.setattr(sharded, "HOME_BYTES", 1)
    blocks = links()
    with dask_client.as_current():
        there = suffice.edges(frame_of_dask(blocks), source="source", target="target")
        found = PageRank().fit(there)
    monkeypatch.undo()
    source, target = (
        np.concatenate([block[name].to_numpy() for block in blocks]) for name in ("source", "target")
    )
    alone = PageRank().fit((source, target))
    np.testing.assert_allclose(found.scores_.take(alone.nodes_), alone.scores_, rtol=1e-6)
