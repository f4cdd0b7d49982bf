"""The Spark engine, classic and Connect: the bits of the local one, errors as raised, nothing left behind."""

from __future__ import annotations

import gc
import sys
import time
import uuid
import warnings
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.values import nbytes
from suffice.engines.local import LocalPartitions
from suffice.inputs import Check, open_sequences, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.naive_bayes import GaussianNB
from suffice.sequence.base import SequenceEstimator
from suffice.statistics import moments

from . import test_sequences
from ._common import FEATURES, bits, described, each_kind, kind_of, tables, variants, write
from ._common import spark_frame as frame
from .test_sequences import (
    CUTS,
    EVERY,
    assert_learns_the_same,
    each_on,
    expected,
    pieces,
    products,
    without,
)
from .test_sequences import described as of_sequences
from .test_sequences import table as steps

pytest.importorskip("pyspark")
engine = pytest.importorskip("suffice.engines.spark")

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
]
PASS = Check("Test", sparse=False, nan=True, positive=False, strings=True, target=None)
for module in (sys.modules[__name__], test_sequences):  # which workers cannot import
    engine.cloudpickle.register_pickle_by_value(module)


def summed(rows):
    return moments(rows.X, rows.weight)


def opened(spark, blocks, **parts):
    source = frame(spark, blocks)
    return source_of(source).partitions(suffice.rows(source, **parts).columns(source.columns), PASS)


def local(blocks, features=FEATURES):
    columns = Columns(DenseColumns(tuple(features)))
    return LocalPartitions(tuple(columns.block(PASS, n, table) for n, table in enumerate(blocks)))


def fitted(estimator, source):
    with warnings.catch_warnings(), suffice.threads(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few iterations are enough here
        return clone(estimator).fit(described(estimator, source))


BLOCKS = 5  # a task costs Spark a tenth of a second, whatever it does


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: write(tmp_path_factory.mktemp(kind), tables(kind)[:BLOCKS]) for kind in ("real", "count")}


@each_kind(on="spark", of="spark", values=["classic", "connect"], indirect=["spark"])
def test_same_bits_on_spark(name, spark, folders):
    estimator = variants()[name]
    if "max_iter" in estimator.get_params():
        estimator.set_params(max_iter=3)
    kind = kind_of(estimator)
    there = fitted(estimator, frame(spark, tables(kind)[:BLOCKS]))
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
    assert there.came_from
    assert bits(there.fold(summed)) == bits(here.fold(summed))
    assert not there.came_from  # its own blocks are there
    assert bits(there.fold(summed)) == bits(here.fold(summed))


@pytest.mark.parametrize("home", [0, 500, 1 << 28])
def test_same_bits_where_runs_of_sums_are_added_by_tasks(home, spark, monkeypatch):
    monkeypatch.setattr(engine, "SMALL_BYTES", 0)
    monkeypatch.setattr(engine, "HOME_BYTES", home)
    blocks = tables()
    data = opened(spark, blocks, features=FEATURES)
    found = data._run_length(nbytes(summed(data.empty)))
    assert found == {0: (2048, 1), 500: (4, 3), 1 << 28: None}[home]
    assert bits(data.fold(summed)) == bits(local(blocks).fold(summed))


def test_large_values_are_cut_into_cells(spark, monkeypatch):
    def large(shared, rows):
        return shared * len(rows) + np.arange(5e6) * (rows.index[0] + 1)

    shared = np.ones(5_000_000)  # 40 MB: three cells, and what Spark would not send in a task
    total = opened(spark, tables()[:2], features=FEATURES).fold(large, shared)
    assert bits(total) == bits(local(tables()[:2]).fold(large, shared))
    assert total.flags.writeable and total.flags.owndata

    value = {"a": np.arange(30_000.0), "b": "b" * 70_000, "c": np.arange(3), "d": np.zeros((0, 2))}
    for length in (1 << 24, 4096, 64):
        monkeypatch.setattr(engine, "CELL_BYTES", length)
        batches = [pa.Table.from_batches(engine.cells_of(7, value)).combine_chunks().to_batches()[0]]
        ((number, again),) = engine._values(engine._rows(batches))
        assert number == 7 and bits(again) == bits(value)
        assert again["a"].ctypes.data % 8 == 0  # where it lies


def test_shared_is_pickled_once_a_call(spark):
    pickled = []

    class Counted:
        def __rmul__(self, other):
            return 2.0 * other

        def __reduce__(self):
            pickled.append(1)
            return (float, (2.0,))

    data = opened(spark, tables()[:3], features=FEATURES)
    total = data.fold(lambda factor, rows: rows.X.sum(0) * factor, Counted())
    assert len(pickled) == 1
    np.testing.assert_allclose(total, 2 * np.concatenate([b.X for b in local(tables()[:3]).blocks]).sum(0))


def test_tasks_use_one_blas_thread(spark):
    def blas_threads(rows):
        from threadpoolctl import threadpool_info

        widest = max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
        return np.array([len(rows) > 0, (len(rows) > 0) * widest])

    n, widest = opened(spark, tables()[3:7], features=FEATURES).fold(blas_threads)
    assert n == widest == 4


class Odd(Exception):
    """Which cannot be made again from what it says."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("kind", [ZeroDivisionError, Odd])
def test_an_error_comes_out_as_it_was_raised_and_names_its_block(kind, mapped, spark):
    def fails(rows):
        if rows.index[0] == 2 and len(rows):
            raise kind("no reason") if kind is ZeroDivisionError else kind("no", "reason")
        return rows if mapped else rows.X.sum(axis=0)

    data = opened(spark, tables()[:4], features=FEATURES)
    with pytest.raises((kind, RuntimeError), match=r"no( and)? reason") as caught:
        data.map(fails).fold(summed) if mapped else data.fold(fails)
    assert type(caught.value) is (kind if kind is ZeroDivisionError else RuntimeError)
    assert mapped or "block 2" in caught.value.__notes__[0]
    assert "in fails" in str(caught.value.__cause__)  # where in the task
    assert data.fold(summed).weight > 0  # and Spark is none the worse


def test_a_bad_block_is_refused_by_its_number(spark):
    blocks = tables()[:4]
    blocks[3] = blocks[3].set_column(0, "a", pa.array([np.inf]))
    with pytest.raises(ValueError, match="infinity") as caught:
        GaussianNB().fit(suffice.rows(frame(spark, blocks), features=FEATURES, target="label"))
    assert type(caught.value) is ValueError
    assert "block 3" in caught.value.__notes__[0]
    assert caught.value.__notes__[-1] == "In the fit of GaussianNB."


def test_empty_partitions_add_nothing(spark):
    blocks = tables()[:3]
    none = blocks[0].slice(0, 0)
    mixed = [none, *blocks[:2], none, none, *blocks[2:], none]
    there = opened(spark, mixed, features=FEATURES)
    assert bits(there.fold(summed)) == bits(local(mixed).fold(summed))


@pytest.mark.parametrize("how", ["no partition", "no row"])
def test_a_frame_without_rows_is_refused(how, spark):
    source = spark.createDataFrame([], "a double, b double")
    if how == "no row":
        source = spark.range(0, 4, 1, 2).selectExpr("double(id) as a", "double(id) as b").where("a < 0")
    with pytest.raises(ValueError, match=r"no rows"):
        suffice.decomposition.PCA(1).fit(source)


def test_nulls_strings_and_names(spark):
    """Columns of any name; null is NaN, also of whole numbers."""
    rows = [(1.0, 1, "u"), (None, 2, "v"), (3.0, None, "v"), (4.0, 4, "u")]
    source = spark.createDataFrame(rows, "`a.b` double, `n ``` int, c string").repartition(2)
    there = GaussianNB().fit(suffice.rows(source, target="c"))
    X = np.array([row[:2] for row in rows], dtype=float)
    here = GaussianNB().fit(X, [row[2] for row in rows])
    assert there.classes_.tolist() == here.classes_.tolist() == ["u", "v"]
    assert there.feature_names_in_.tolist() == ["a.b", "n `"]
    np.testing.assert_allclose(there.theta_, here.theta_, rtol=1e-14)
    np.testing.assert_allclose(there.var_, here.var_, rtol=1e-14)


def test_missing_columns_and_types_are_refused_in_words(spark):
    source = spark.range(3).selectExpr("double(id) as a", "cast(id as decimal(9, 2)) as money", "now() as t")
    with pytest.raises(ValueError, match=r"no column \['nowhere'\]"):
        suffice.decomposition.PCA(1).fit(suffice.rows(source, features=["a", "nowhere"]))
    for name, said in (("money", "decimal.*cast it first"), ("t", "timestamp.*DatetimeEncoder")):
        with pytest.raises(ValueError, match=f"column '{name}' holds {said}"):
            suffice.decomposition.PCA(1).fit(suffice.rows(source, features=["a", name]))


def test_only_the_columns_that_are_asked_for_are_computed(spark, tmp_path):
    folder = write(tmp_path, tables()[:4])
    source = spark.read.parquet(str(folder)).selectExpr("*", "raise_error('it was computed') as other")
    model = suffice.decomposition.PCA(2).fit(suffice.rows(source, features=FEATURES))
    here = suffice.decomposition.PCA(2).fit(pa.concat_tables(tables()[:4]).select(FEATURES))
    np.testing.assert_allclose(model.explained_variance_, here.explained_variance_, rtol=1e-10)
    assert model.feature_names_in_.tolist() == FEATURES


def test_the_source_is_read_once(spark, tmp_path):
    def noted(batches):
        for batch in batches:
            (tmp_path / uuid.uuid4().hex).touch()
            yield batch

    source = spark.range(0, 30, 1, 3).selectExpr("double(id) as a").mapInArrow(noted, "a double")
    data = source_of(source).partitions(Columns(DenseColumns(("a",))), PASS)
    mapped = data.map(lambda rows: rows.replace(X=rows.X + 1.0))
    assert mapped.fold(lambda rows: rows.X.sum()) == mapped.fold(lambda rows: rows.X.sum()) == 435 + 30
    assert data.fold(lambda rows: rows.X.sum()) == 435
    assert len(list(tmp_path.iterdir())) == 3


def is_kept(frame):
    level = frame.storageLevel
    return level.useMemory or level.useDisk


def are_released(frames):
    end = time.monotonic() + 20
    while any(map(is_kept, frames)) and time.monotonic() < end:
        gc.collect()
        time.sleep(0.05)
    return not any(map(is_kept, frames))


def test_blocks_are_given_back_and_the_session_is_as_it_was(spark, monkeypatch):
    made, post_init = [], engine.SparkPartitions.__post_init__
    monkeypatch.setattr(
        engine.SparkPartitions, "__post_init__", lambda self: (post_init(self), made.append(self.frame))
    )
    before = spark.conf.getAll
    source = frame(spark, tables()[:3])
    fitted(suffice.mixture.GaussianMixture(2, random_state=0, max_iter=2), source)
    assert made and are_released(made)
    assert not is_kept(source)
    assert spark.conf.getAll == before


def test_equal_partitions_do_not_share_what_one_of_them_gives_back(spark):
    source = frame(spark, tables()[:2])
    one, other = (
        source_of(source).partitions(Columns(DenseColumns(tuple(FEATURES))), PASS) for _ in range(2)
    )
    expected = bits(one.fold(summed))
    gone = one.frame
    del one
    assert are_released([gone])
    assert is_kept(other.frame)
    assert bits(other.fold(summed)) == expected


class TestSequences:
    def frame(self, spark, cut):
        sizes, t = CUTS[cut], steps()
        bounds = np.concatenate([[0], np.cumsum(sizes * (1 + len(t) // max(1, sum(sizes))))])
        blocks = [t.slice(a, b - a) for a, b in pairwise(bounds) if a < len(t)]
        return frame(spark, blocks), blocks

    @pytest.mark.parametrize("cut", ["whole", "one"])
    def test_same_bits_where_none_crosses(self, cut, spark):
        source, blocks = self.frame(spark, cut)
        check = Check.of(SequenceEstimator())
        columns = of_sequences(steps()).columns(steps().column_names)
        here = LocalPartitions(tuple(columns.block(check, n, t) for n, t in enumerate(blocks)))
        there = open_sequences(SequenceEstimator(), of_sequences(source))
        assert bits(there.fold(products)) == bits(here.fold(products))

    def test_those_that_cross_are_brought_together(self, spark):
        source = frame(spark, pieces(steps(), [700]))
        for given in (source, source.repartition(4)):  # in order, and in no order at all
            found = [open_sequences(SequenceEstimator(), of_sequences(given)).fold(products) for _ in "ab"]
            np.testing.assert_allclose(found[0], expected(), rtol=1e-12)
            assert bits(found[0]) == bits(found[1])
        described = suffice.sequences(source, sequence="id", features=["a", "b"])
        with pytest.raises(ValueError, match=r"are not contiguous.* order=\.\.\.\) they are"):
            open_sequences(SequenceEstimator(), described)

    @pytest.mark.parametrize("missing", [None, np.nan])
    @pytest.mark.parametrize("column", ["id", "t"])
    def test_rows_without_an_id_or_a_place_are_refused(self, column, missing, spark):
        t, said = without(column, missing)
        with pytest.raises(ValueError, match=said):
            source = frame(spark, [t.slice(0, 3), t.slice(3)])
            open_sequences(SequenceEstimator(), of_sequences(source)).fold(products)

    @each_on("spark")
    def test_every_estimator(self, name, spark):
        assert_learns_the_same(EVERY[name], self.frame(spark, "whole")[0])
