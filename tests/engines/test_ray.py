"""The Ray engine: the bits of the local one, arrays read where they lie, and errors as they were raised."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.engines.local import LocalPartitions
from suffice.inputs import Check, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.naive_bayes import GaussianNB
from suffice.statistics import moments

from ._common import FEATURES, KINDS, bits, described, each_kind, kind_of, tables, variants, write

ray = pytest.importorskip("ray.data") and pytest.importorskip("ray")
engine = pytest.importorskip("suffice.engines.ray")

pytestmark = [
    pytest.mark.timeout(180, method="thread"),  # what a signal raises is lost inside ray.get
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]
PASS = Check("Test", sparse=False, nan=True, positive=False, strings=True, target=None)


def summed(rows):
    return moments(rows.X, rows.weight)


def opened(blocks, **parts):
    """A list of Arrow tables as Ray partitions, without an estimator."""
    source = ray.data.from_arrow(blocks)
    return source_of(source).partitions(suffice.rows(source, **parts).columns(source.columns()), PASS)


def local(blocks, features=FEATURES):
    columns = Columns(DenseColumns(tuple(features)))
    return LocalPartitions(tuple(columns.block(PASS, n, table) for n, table in enumerate(blocks)))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The same blocks as Parquet files and as Arrow tables."""
    found = {kind: tables(kind) for kind in ("real", "count")}
    return {kind: (write(tmp_path_factory.mktemp(kind), t), t) for kind, t in found.items()}


@pytest.fixture(scope="module")
def references(sources):
    """The bits of each estimator on one thread, fitted when first asked for."""
    known = {}

    def reference(name):
        if name not in known:
            estimator = variants()[name]
            folder, _ = sources[kind_of(estimator)]
            known[name] = bits(fitted(estimator, suffice.scan_parquet(folder), threads=1))
        return known[name]

    return reference


def fitted(estimator, source, threads=2):
    with warnings.catch_warnings(), suffice.threads(threads):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few iterations are enough here
        return clone(estimator).fit(described(estimator, source))


@pytest.mark.parametrize("name", KINDS)  # of arrays, every estimator: tests/laws/test_blocks.py
def test_same_bits_on_two_threads(name, sources, references):
    estimator = variants()[name]
    folder, _ = sources[kind_of(estimator)]
    assert bits(fitted(estimator, suffice.scan_parquet(folder))) == references(name)


@each_kind(
    on="ray",
    of="run cluster",
    values=[(2, 2), (None, 2), (1, 2), (8, 2), (None, 1)],
    quick=[(2, 2)],
    indirect=["cluster"],
)
def test_same_bits_on_ray(name, run, cluster, sources, references, monkeypatch):
    """With any number of blocks to a task; None is as many as the engine chooses."""
    estimator = variants()[name]
    _, blocks = sources[kind_of(estimator)]
    monkeypatch.setattr(engine, "RUN", run)
    assert bits(fitted(estimator, ray.data.from_arrow(blocks))) == references(name)


@pytest.mark.parametrize(
    ("n_blocks", "size", "cpus", "expected"),
    [
        (64, 64 << 20, 2, 8),  # four tasks a CPU
        (64, 64 << 20, 64, 1),
        (1000, 128_000 << 20, 2, 1),  # a block is work enough
        (1 << 20, 1 << 30, 2, 1 << 16),
        (0, 0, 2, 1),
    ],
)
def test_a_task_takes_a_few_small_blocks_or_one_large(n_blocks, size, cpus, expected, monkeypatch):
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": float(cpus)})
    assert engine.run_length(n_blocks, size) == expected


@pytest.mark.parametrize("run", [1, 2, 8])
def test_same_bits_where_sums_are_added_by_tasks(run, cluster, monkeypatch):
    monkeypatch.setattr(engine, "RUN", run)
    monkeypatch.setattr(engine, "HOME_BYTES", 0)
    blocks = tables()
    assert bits(opened(blocks, features=FEATURES).fold(summed)) == bits(local(blocks).fold(summed))


@pytest.mark.parametrize("run", [1, 4])
def test_map_stays_and_folds_to_the_same_bits(run, cluster, monkeypatch):
    monkeypatch.setattr(engine, "RUN", run)

    def shifted(by, factor, rows):
        return rows.replace(X=(rows.X + by) * factor)

    blocks, by = tables(), np.array([0.1, 0.2, 0.3])
    here, there = (
        data.map(shifted, by, 3.0).map(shifted, -by, 0.7)
        for data in (local(blocks), opened(blocks, features=FEATURES))
    )
    assert isinstance(there, engine.RayPartitions)
    assert all(isinstance(run, ray.ObjectRef) for run in there.runs)
    assert bits(there.fold(summed)) == bits(here.fold(summed))


def test_blocks_are_taken_in_their_order_not_as_they_get_ready(cluster):
    def late_first(batch, there=True):
        number = int(batch["id"][0])
        time.sleep(2.0 if number == 0 and there else 0.0)
        rng = np.random.default_rng(number)
        return {"a": rng.normal(size=100 + number), "b": rng.normal(size=100 + number)}

    source = ray.data.range(6, override_num_blocks=6).map_batches(late_first)
    columns = Columns(DenseColumns(("a", "b")))
    there = source_of(source).partitions(columns, PASS)
    blocks = [pa.table(late_first({"id": [number]}, False)) for number in range(6)]
    assert bits(there.fold(summed)) == bits(local(blocks, ["a", "b"]).fold(summed))
    assert not source.context.execution_options.preserve_order  # as its owner had set it


def test_blocks_are_read_where_they_lie(cluster):
    def in_the_store(rows):
        found = ["plasma" in _file_of(array) for array in (rows.X, rows.weight)]
        return np.array([len(rows) * every for every in (*found, True)])

    blocks = [table for table in tables() for _ in range(3) if len(table) > 10_000]  # small ones are sent
    data = opened(blocks, features=FEATURES, weight="w")
    assert data.fold(in_the_store).tolist() == 3 * [sum(map(len, blocks))]


def _file_of(array):
    """The file that is mapped where the array lies; "" if none is."""
    address = array.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, *_, file = line.split(maxsplit=5) if line.count(" ") > 5 else (*line.split(), "")
        low, high = (int(end, 16) for end in span.split("-"))
        if low <= address < high:
            return file
    return ""


def test_shared_is_pickled_once_a_call(cluster, monkeypatch):
    monkeypatch.setattr(engine, "RUN", 1)
    pickled = []

    class Counted:
        def __reduce__(self):
            pickled.append(1)
            return (float, (2.0,))

    total = opened(tables(), features=FEATURES).fold(lambda factor, rows: factor * rows.X.sum(0), Counted())
    assert len(pickled) == 1
    np.testing.assert_allclose(total, 2 * np.concatenate([b.X for b in local(tables()).blocks]).sum(0))


def test_tasks_use_one_blas_thread(cluster):
    def blas_threads(rows):
        from threadpoolctl import threadpool_info

        return max(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas") * np.ones(
            1 if len(rows) else 0
        )

    def widest(rows):
        return _Widest(blas_threads(rows))

    class _Widest:
        def __init__(self, seen):
            self.seen = seen

        def __add__(self, other):
            return _Widest(np.concatenate([self.seen, other.seen]))

    seen = opened(tables(), features=FEATURES).fold(widest).seen
    assert len(seen) > len(tables()) - 1
    assert (seen == 1).all()


def test_an_error_comes_out_as_it_was_raised_and_names_its_block(cluster, monkeypatch):
    monkeypatch.setattr(engine, "RUN", 2)

    def fails(rows):
        if rows.index[0] == 5 and len(rows):
            raise ZeroDivisionError("no reason")
        return rows.X.sum(axis=0)

    for data in (opened(tables(), features=FEATURES), local(tables())):
        with pytest.raises(ZeroDivisionError, match="no reason") as caught:
            data.fold(fails)
        assert type(caught.value) is ZeroDivisionError
        assert "block 5" in caught.value.__notes__[0]


def test_an_error_in_a_map_comes_out_of_the_fold(cluster):
    def fails(rows):
        raise LookupError("nowhere")

    with pytest.raises(LookupError, match="nowhere") as caught:
        opened(tables(), features=FEATURES).map(fails).fold(summed)
    assert type(caught.value) is LookupError


def test_a_bad_block_is_refused_by_its_number(cluster):
    blocks = tables()
    blocks[3] = blocks[3].set_column(0, "a", pa.array([np.inf]))
    with pytest.raises(ValueError, match="infinity") as caught:
        GaussianNB().fit(suffice.rows(ray.data.from_arrow(blocks), features=FEATURES, target="label"))
    assert type(caught.value) is ValueError
    assert "block 3" in caught.value.__notes__[0]
    assert caught.value.__notes__[-1] == "In the fit of GaussianNB."


def test_sums_at_home_are_like_those_of_other_engines(cluster, monkeypatch):
    """Fresh arrays, that may be written to and outlive the store: also where one task summed all."""
    monkeypatch.setattr(engine, "RUN", 16)
    total = opened(tables(), features=FEATURES).fold(lambda rows: np.resize(rows.X.sum(), 100_000))
    assert total.flags.writeable and total.flags.owndata
    assert _file_of(total) == _file_of(np.empty(100_000))


def test_empty_blocks_add_nothing(cluster, monkeypatch):
    blocks = tables()[:5]
    none = blocks[0].slice(0, 0)
    mixed = [none, *blocks[:2], none, none, *blocks[2:], none]
    for run in (1, 2, 8):
        monkeypatch.setattr(engine, "RUN", run)
        total = opened(mixed, features=FEATURES).fold(summed)
        assert bits(total) == bits(local(mixed).fold(summed))


def test_blocks_that_a_filter_emptied_have_no_schema_and_add_nothing(cluster):
    """Ray gives a block whose rows were all filtered out as a table without columns."""

    def named(batch):
        return {"a": batch["id"] * 0.1, "label": np.where(batch["id"] % 2, "odd", "even")}

    source = ray.data.range(64, override_num_blocks=8).map_batches(named).filter(lambda row: row["a"] > 3.95)
    assert any(not table.column_names for table in ray.get(source.to_arrow_refs()))
    model = GaussianNB().fit(suffice.rows(source, target="label"))
    a = np.arange(64)[np.arange(64) * 0.1 > 3.95]
    assert model.classes_.tolist() == ["even", "odd"]
    assert model.class_count_.tolist() == [(a % 2 == 0).sum(), (a % 2 == 1).sum()]


@pytest.mark.parametrize("how", ["no block", "no row", "no row left"])
def test_a_dataset_without_rows_is_refused(how, cluster):
    source = {
        "no block": lambda: ray.data.from_items([]),
        "no row": lambda: ray.data.from_arrow(tables()[0].slice(0, 0)),
        "no row left": lambda: ray.data.range(10).filter(lambda row: row["id"] < 0),
    }[how]()
    with pytest.raises(ValueError, match=r"is empty|no rows to fit"):
        suffice.decomposition.PCA(1).fit(source)


def test_pandas_blocks_nulls_and_strings(cluster):
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "n": [1, 2, None, 4], "c": ["u", "v", "v", "u"]})
    frame["n"] = frame["n"].astype("Int64")
    source = ray.data.from_pandas([frame[:2], frame[2:]])
    there = GaussianNB().fit(suffice.rows(source, target="c"))
    here = GaussianNB().fit(frame[["a", "n"]].astype(float), frame["c"])
    assert there.classes_.tolist() == here.classes_.tolist()
    np.testing.assert_allclose(there.theta_, here.theta_, rtol=1e-14)
    np.testing.assert_allclose(there.var_, here.var_, rtol=1e-14)


def test_missing_columns_and_tensors_are_refused_in_words(cluster):
    source = ray.data.from_arrow(tables()[:2])
    with pytest.raises(ValueError, match=r"no column \['nowhere'\]"):
        suffice.decomposition.PCA(1).fit(suffice.rows(source, features=["a", "nowhere"]))
    with pytest.raises(ValueError, match=r"column 'data' holds .*Tensor"):
        suffice.decomposition.PCA(1).fit(ray.data.from_numpy(np.ones((8, 3))))


def test_only_the_columns_that_are_asked_for_are_read(cluster, tmp_path):
    folder = write(tmp_path, tables()[:4])
    source = ray.data.read_parquet(str(folder), override_num_blocks=4)
    model = suffice.decomposition.PCA(2).fit(suffice.rows(source, features=FEATURES))
    here = suffice.decomposition.PCA(2).fit(pa.concat_tables(tables()[:4]).select(FEATURES))
    np.testing.assert_allclose(model.explained_variance_, here.explained_variance_, rtol=1e-10)
    assert model.feature_names_in_.tolist() == FEATURES
