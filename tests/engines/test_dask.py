"""The Dask engine: the bits of the local one, from tables, arrays and Delayed, on a cluster or here."""

from __future__ import annotations

import gc
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.decomposition import PCA
from suffice.engines.local import LocalPartitions
from suffice.inputs import Check, open_sequences, source_of
from suffice.inputs.containers import CONTAINERS
from suffice.inputs.readers import DenseColumns
from suffice.inputs.sources import TableSource
from suffice.inputs.tables import Columns
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.naive_bayes import GaussianNB
from suffice.sequence import HiddenMarkovModel
from suffice.sequence.base import SequenceEstimator
from suffice.statistics import moments

from ..attack._blas import blas_libraries, limits, set_threads
from . import test_sequences as steps
from ._common import FEATURES, KINDS, bits, described, each_kind, kind_of, made, tables, variants

dask = pytest.importorskip("dask")
pytest.importorskip("dask.distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
engine = pytest.importorskip("suffice.engines.dask")

pytestmark = [
    pytest.mark.timeout(180, method="thread"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
]
PASS = Check("Test", sparse=False, nan=True, positive=False, strings=True, target=None)
HERE, THERE = "threads", "cluster"


@pytest.fixture(params=[HERE, THERE])
def place(request, dask_client):
    """Dask without a cluster, then on one."""
    with at(request.param, dask_client):
        yield request.param


@pytest.fixture
def there(dask_client):
    with at(THERE, dask_client):
        yield dask_client


@contextmanager
def at(place, client):
    if place == THERE:
        with client.as_current(), dask.config.set(scheduler="dask.distributed"):
            yield
    else:
        with dask.config.set(scheduler="threads"):
            yield


def summed():
    return lambda rows: moments(rows.X, rows.weight)


def frame(blocks):
    """A dask DataFrame whose partitions are these Arrow tables."""
    frames = [block.to_pandas() for block in blocks]
    return dd.from_delayed([dask.delayed(part) for part in frames], meta=frames[0], verify_meta=False)


def opened(blocks, features=FEATURES, weight=None):
    return source_of(frame(blocks)).partitions(Columns(DenseColumns(tuple(features)), weight=weight), PASS)


def local(blocks, features=FEATURES):
    columns = Columns(DenseColumns(tuple(features)))
    return LocalPartitions(tuple(columns.block(PASS, n, table) for n, table in enumerate(blocks)))


@pytest.fixture(scope="module")
def sources():
    return {kind: tables(kind) for kind in ("real", "count")}


class Blocks(tuple):
    """Arrow tables as the blocks of the local engine: what every other must equal to the bit."""

    columns = tables()[0].column_names


class BlocksSource(TableSource):
    def names(self):
        return self.container.columns

    def types(self):
        schema = self.container[0].schema
        return dict(zip(schema.names, schema.types, strict=True))

    def partitions(self, columns, check):
        return LocalPartitions(
            tuple(columns.block(check, n, table) for n, table in enumerate(self.container))
        )


def on_these_blocks(monkeypatch):
    """The local engine, on blocks that are given."""
    monkeypatch.setitem(CONTAINERS, (__name__, "Blocks"), (__name__, "BlocksSource"))


def fitted(estimator, source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few iterations are enough here
        return clone(estimator).fit(described(estimator, source))


@each_kind(on="dask")
def test_same_bits(name, sources, dask_client, monkeypatch):
    monkeypatch.setattr(engine, "RUN", 4)
    estimator = variants()[name]
    blocks = sources[kind_of(estimator)]
    on_these_blocks(monkeypatch)
    expected = bits(fitted(estimator, Blocks(blocks)))
    with at(THERE, dask_client):
        assert bits(fitted(estimator, frame(blocks))) == expected
    with at(HERE, dask_client):
        assert bits(fitted(estimator, frame(blocks))) == expected


@pytest.mark.slow
@pytest.mark.parametrize("run", [None, 1, 8])
@pytest.mark.parametrize("name", KINDS)
def test_same_bits_of_any_run(name, run, sources, there, monkeypatch):
    """Of each kind of sum: the test above has other estimators, too."""
    monkeypatch.setattr(engine, "RUN", run)
    estimator = variants()[name]
    blocks = sources[kind_of(estimator)]
    on_these_blocks(monkeypatch)
    assert bits(fitted(estimator, frame(blocks))) == bits(fitted(estimator, Blocks(blocks)))


@pytest.mark.parametrize("home", [0, engine.HOME_BYTES])
@pytest.mark.parametrize("run", [1, 2, 8])
def test_same_bits_wherever_sums_are_added(run, home, there, monkeypatch):
    monkeypatch.setattr(engine, "RUN", run)
    monkeypatch.setattr(engine, "HOME_BYTES", home)
    data = opened(tables())
    assert isinstance(data, engine.DaskPartitions)
    assert bits(data.fold(summed())) == bits(local(tables()).fold(summed()))


def test_small_blocks_are_folded_several_to_a_task(there):
    many = [part for table in tables() for part in (table.slice(0, 50), table.slice(0, 70))][:16]
    assert (opened(many).length, len(opened(many).runs)) == (2, 8)
    assert len(opened(tables()[:7]).runs) == 7


def test_map_stays_and_folds_to_the_same_bits(place):
    def shifted(by, factor, rows):
        return rows.replace(X=(rows.X + by) * factor)

    by = np.array([0.1, 0.2, 0.3])
    mapped = [
        data.map(shifted, by, 3.0).map(shifted, -by, 0.7) for data in (local(tables()), opened(tables()))
    ]
    assert bits(mapped[1].fold(summed())) == bits(mapped[0].fold(summed()))


class TestArrays:
    """X with y and weights: a chunk of rows is a block."""

    CHUNKS = (300, 700, 1, 512, 900, 87)

    def parts(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(sum(self.CHUNKS), 4))
        y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int) + (X[:, 1] > 1)
        return X, y, rng.gamma(2.0, size=len(X))

    def here(self, estimator, monkeypatch, *, y="label", weight="w"):
        """Fitted by the local engine to the same blocks."""
        X, label, w = self.parts()
        names = [f"x{j}" for j in range(4)]
        t = pa.table(dict(zip(names, X.T, strict=True)) | {"label": label, "w": w})
        ends = np.cumsum(self.CHUNKS)
        cut = [t.slice(end - n, n) for end, n in zip(ends, self.CHUNKS, strict=True)]
        on_these_blocks(monkeypatch)
        monkeypatch.setattr(Blocks, "columns", t.column_names)
        model = clone(estimator).fit(suffice.rows(Blocks(cut), features=names, target=y, weight=weight))
        del model.feature_names_in_  # which arrays have not
        return bits(model)

    @pytest.mark.parametrize("cut", ["as X", "otherwise", "in memory", "a Series"])
    def test_targets_and_weights_follow_the_chunks_of_X(self, cut, place, monkeypatch):
        X, y, w = self.parts()
        chunks = (self.CHUNKS, 3)  # whose columns are cut too
        given = {
            "as X": lambda v: da.from_array(v, chunks=(self.CHUNKS,)),
            "otherwise": lambda v: da.from_array(v, chunks=999),
            "in memory": lambda v: v,
            "a Series": pd.Series,
        }[cut]
        model = GaussianNB().fit(da.from_array(X, chunks=chunks), given(y), sample_weight=given(w))
        assert bits(model) == self.here(GaussianNB(), monkeypatch)
        assert model.n_features_in_ == 4 and not hasattr(model, "feature_names_in_")

    def test_chunks_of_unknown_lengths(self, place, monkeypatch):
        X, y, w = (da.from_array(part, chunks=(self.CHUNKS, *part.shape[1:])) for part in self.parts())
        some = w > -1.0
        assert np.isnan(X[some].shape[0])
        model = GaussianNB().fit(X[some], y[some], sample_weight=w[some])
        assert bits(model) == self.here(GaussianNB(), monkeypatch)
        table = dd.from_dask_array(da.hstack([X, y[:, None]]), columns=[*"abcd", "y"])
        known = GaussianNB().fit(table[[*"abcd"]].values, table["y"].astype(int))
        assert bits(known) == self.here(GaussianNB(), monkeypatch, weight=None)

    def test_other_lengths_are_refused_by_the_block(self, place):
        X, y, w = (da.from_array(part, chunks=(self.CHUNKS, *part.shape[1:])) for part in self.parts())
        fewer = y[da.arange(len(w), chunks=(self.CHUNKS,)) != 1500]
        with pytest.raises(ValueError, match=r"y has the shape \(511,\), but X has 512 rows") as caught:
            GaussianNB().fit(X, fewer)
        assert "block 3" in caught.value.__notes__[0]
        with pytest.raises(ValueError, match=r"y has 2499 rows, but X has 2500"):
            GaussianNB().fit(X, y[:-1])
        with pytest.raises(ValueError, match=r"sample_weight has 1 chunks, but X has 6"):
            GaussianNB().fit(X[w > 0], y[w > 0], sample_weight=w.rechunk(-1))
        with pytest.raises(ValueError, match=r"in memory.*X.compute_chunk_sizes\(\)"):
            GaussianNB().fit(X[w > 0], self.parts()[1])

    def test_numbers_to_predict_and_several_of_them(self, place):
        X, y, _ = self.parts()
        for target in (y, np.column_stack([y, -y])):
            model = LinearRegression().fit(
                da.from_array(X, chunks=(500, 4)), da.from_array(target, chunks=400)
            )
            here = LinearRegression().fit(X, target)
            np.testing.assert_allclose(model.coef_, here.coef_, rtol=1e-10, atol=1e-12)

    def test_what_is_not_allowed_is_refused_in_the_block(self, place):
        X, y, _ = self.parts()
        X[1600, 2] = np.inf
        chunked = da.from_array(X, chunks=(self.CHUNKS, 4))
        with pytest.raises(ValueError, match="infinity in row") as caught:
            PCA(1).fit(chunked)
        assert "block 4" in caught.value.__notes__[0]
        with pytest.raises(ValueError, match="requires y to be passed"):
            GaussianNB().fit(chunked)
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            GaussianNB().fit(chunked[:1600], y[:1600] + 0.5)
        with pytest.raises(ValueError, match="could not convert"):
            PCA(1).fit(da.from_array(np.array([["a", "b"], ["c", "d"]]), chunks=1))
        with pytest.raises(ValueError, match="Expected 2D array"):
            PCA(1).fit(chunked[:, 0])
        with pytest.raises(ValueError, match="3 features, but GaussianNB is expecting 4"):
            GaussianNB().fit(X[:1600], y[:1600]).partial_fit(chunked[:, :3], y)

    def test_masked_and_damaged_chunks_are_refused(self, place):
        X = np.random.default_rng(0).normal(size=(60, 3))
        y = da.from_array(X[:, 0], chunks=20)
        masked = np.ma.MaskedArray(X, X > 1.0)
        with pytest.raises(ValueError, match="X is a masked array"):
            LinearRegression().fit(da.from_array(masked, chunks=(20, 3), asarray=False), y)
        with pytest.raises(ValueError, match="y is a masked array"):
            LinearRegression().fit(da.from_array(X, chunks=(20, 3)), masked[:, 0])
        damaged = sp.csr_array(X)
        damaged.indices[5] = 99
        chunks = da.from_delayed(dask.delayed(lambda: damaged)(), (60, 3), meta=sp.csr_array((0, 0)))
        with pytest.raises(ValueError, match="damaged sparse"):
            LinearRegression().fit(chunks, X[:, 0])

    def test_sparse_chunks(self, place):
        X, y, _ = self.parts()
        X[X < 0] = 0.0
        chunked = da.from_array(X, chunks=(500, 4)).map_blocks(sp.csr_array, dtype=X.dtype)
        there = LogisticRegression().fit(chunked, y)
        here = LogisticRegression().fit(X, y)
        np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-4, atol=1e-5)
        with pytest.raises(TypeError, match="GaussianNB does not take blocks of sparse rows"):
            GaussianNB().fit(chunked, y)

    def test_rows_added_to_those_before(self, place):
        X, y, _ = self.parts()
        whole = GaussianNB().fit(X, y)
        parts = (
            GaussianNB()
            .fit(X[:1000], y[:1000])
            .partial_fit(da.from_array(X[1000:], chunks=(400, 4)), y[1000:])
        )
        np.testing.assert_allclose(parts.var_, whole.var_, rtol=1e-10)


class TestDelayed:
    """A list of Delayed: each gives a block."""

    @pytest.mark.parametrize("kind", ["pandas", "Arrow"])
    def test_tables(self, kind, place, monkeypatch):
        blocks = tables()
        on_these_blocks(monkeypatch)
        expected = bits(GaussianNB().fit(suffice.rows(Blocks(blocks), target="label", weight="w")))
        parts = [dask.delayed(part.to_pandas() if kind == "pandas" else part) for part in blocks]
        assert bits(GaussianNB().fit(suffice.rows(parts, target="label", weight="w"))) == expected

    def test_a_table_as_it_is(self, place):
        parts = [dask.delayed(part.select(FEATURES).to_pandas()) for part in tables()]
        model = PCA(2).fit(parts)
        assert model.feature_names_in_.tolist() == FEATURES
        assert bits(PCA(2).fit(parts[0])) == bits(PCA(2).fit([parts[0]]))

    def test_arrays(self, place):
        blocks = local(tables()).blocks
        X = [dask.delayed(block.X) for block in blocks]
        y = [dask.delayed(table["label"].to_numpy()) for table in tables()]
        model = GaussianNB().fit(X, y)
        here = GaussianNB().fit(
            np.concatenate([b.X for b in blocks]), pa.concat_tables(tables())["label"].to_numpy()
        )
        np.testing.assert_allclose(model.theta_, here.theta_, rtol=1e-10)
        with pytest.raises(ValueError, match=r"X is a list of 11 blocks, but y has 10"):
            GaussianNB().fit(X, y[1:])
        with pytest.raises(TypeError, match="describes tables, and these blocks are arrays"):
            GaussianNB().fit(suffice.rows(X, target="label"))

    def test_an_error_in_one_comes_out_as_it_was_raised(self, place):
        def fails():
            raise LookupError("nowhere")

        parts = [dask.delayed(part.to_pandas()) for part in tables()[:3]]
        with pytest.raises(LookupError, match="nowhere"):
            PCA(1).fit([*parts, dask.delayed(fails)()])


class TestValues:
    def test_an_error_comes_out_as_it_was_raised_and_names_its_block(self, place, monkeypatch):
        monkeypatch.setattr(engine, "RUN", 2)

        def fails(rows):
            if rows.index[0] == 5 and len(rows):
                raise ZeroDivisionError("no reason")
            return rows.X.sum(axis=0)

        with pytest.raises(ZeroDivisionError, match="no reason") as caught:
            opened(tables()).fold(fails)
        assert type(caught.value) is ZeroDivisionError
        assert "block 5" in caught.value.__notes__[0]
        with pytest.raises(ZeroDivisionError):
            opened(tables()).map(lambda rows: 1 / 0).fold(summed())

    def test_a_timeout_in_a_task_is_an_error_as_others(self, there):
        def late(rows):
            raise TimeoutError("of a database")

        with pytest.raises(TimeoutError, match="of a database"):
            opened(tables()).fold(late)

    def test_a_bad_block_is_refused_by_its_number(self, place):
        blocks = tables()
        blocks[3] = blocks[3].set_column(0, "a", pa.array([np.inf]))
        with pytest.raises(ValueError, match="infinity") as caught:
            GaussianNB().fit(suffice.rows(frame(blocks), features=FEATURES, target="label"))
        assert type(caught.value) is ValueError
        assert "block 3" in caught.value.__notes__[0]
        assert caught.value.__notes__[-1] == "In the fit of GaussianNB."

    def test_empty_partitions_add_nothing(self, place):
        blocks = tables()[:5]
        none = blocks[0].slice(0, 0)
        mixed = [none, *blocks[:2], none, none, *blocks[2:], none]
        assert bits(opened(mixed).fold(summed())) == bits(local(mixed).fold(summed()))

    def test_partitions_that_a_filter_emptied(self, place):
        source = dd.from_pandas(
            pd.DataFrame({"a": np.arange(64.0), "c": ["odd", "even"] * 32}), npartitions=8
        )
        model = GaussianNB().fit(suffice.rows(source[source["a"] > 39], target="c"))
        assert model.classes_.tolist() == ["even", "odd"]
        assert model.class_count_.tolist() == [12, 12]
        with pytest.raises(ValueError, match="no rows to fit"):
            PCA(1).fit(source[source["a"] < 0][["a"]])

    def test_nulls_and_strings(self, place):
        table = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "n": [1, 2, None, 4], "c": ["u", "v", "v", "u"]})
        table["n"] = table["n"].astype("Int64")
        here = GaussianNB().fit(table[["a", "n"]].astype(float), table["c"])
        for kind in ("string", object, "category", "string[pyarrow]"):
            source = dd.from_pandas(table.astype({"c": kind}), npartitions=2)
            there = GaussianNB().fit(suffice.rows(source, target="c"))
            assert there.classes_.tolist() == here.classes_.tolist()
            np.testing.assert_allclose(there.theta_, here.theta_, rtol=1e-14)
            np.testing.assert_allclose(there.var_, here.var_, rtol=1e-14)
        table["c"] = ["u", "v", None, "u"]
        with pytest.raises(ValueError, match="'c' has missing labels"):
            GaussianNB().fit(suffice.rows(dd.from_pandas(table, npartitions=2), target="c"))

    def test_columns_that_are_not_there_or_not_named(self, place):
        source = frame(tables()[:2])
        with pytest.raises(ValueError, match=r"no column \['nowhere'\]"):
            PCA(1).fit(suffice.rows(source, features=["a", "nowhere"]))
        with pytest.raises(TypeError, match="names of columns must be strings"):
            PCA(1).fit(dd.from_pandas(pd.DataFrame(np.ones((4, 2))), npartitions=2))

    def test_only_the_columns_that_are_asked_for_are_read(self, place, tmp_path):
        frame(tables()[:3]).to_parquet(tmp_path)
        source = dd.read_parquet(tmp_path)
        model = PCA(2).fit(suffice.rows(source, features=["a", "b"]))
        assert bits(model) == bits(PCA(2).fit(suffice.rows(source[["a", "b"]])))


class TestCluster:
    def test_sums_at_home_are_fresh(self, there):
        for run in (1, 16):
            engine_run, engine.RUN = engine.RUN, run
            try:
                total = opened(tables()).fold(lambda rows: np.resize(rows.X.sum(), 100_000))
            finally:
                engine.RUN = engine_run
            assert total.flags.writeable and total.flags.owndata

    def test_shared_is_pickled_once_a_call(self, there):
        pickled = []

        class Counted:
            def __reduce__(self):
                pickled.append(1)
                return (float, (2.0,))

        total = opened(tables()).fold(lambda factor, rows: factor * rows.X.sum(0), Counted())
        assert len(pickled) == 1
        np.testing.assert_allclose(total, 2 * np.concatenate([b.X for b in local(tables()).blocks]).sum(0))

    def test_what_is_shared_may_be_large(self, there):
        """Dask warns of more than ten megabytes; warnings are errors here."""
        large = np.ones(3_000_000)
        total = opened(tables()[:4]).fold(lambda given, rows: np.array([given.sum() * len(rows)]), large)
        assert total == 3e6 * sum(map(len, tables()[:4]))

    def test_equal_parameters_again_and_again(self, there):
        data, same = opened(tables()[:4]), np.ones(5)
        for _ in range(30):
            assert data.fold(lambda given, rows: np.array([given.sum() * len(rows)]), same) == 5 * 41001

    def test_tasks_use_one_blas_thread(self, there):
        class Seen:
            def __init__(self, seen):
                self.seen = seen

            def __add__(self, other):
                return type(self)(self.seen + other.seen)

        def threads(rows):
            from threadpoolctl import threadpool_info

            return Seen([lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"])

        seen = opened(tables()).fold(threads).seen
        assert len(seen) > len(tables()) and set(seen) == {1}

    @pytest.mark.cluster
    def test_workers_of_this_process_share_its_blas(self):
        """The bits are those of one BLAS thread, and the host has its BLAS threads back."""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(4000, 200)), rng.normal(size=4000)
        before, bits = limits(), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask's own, on its way up and down
            client = dask.distributed.Client(processes=False, n_workers=1, threads_per_worker=2)
        with client:
            for n in (1, 2, 2):
                for lib in blas_libraries():
                    set_threads(lib, n)
                arrays = da.from_array(X, chunks=(1000, 200)), da.from_array(y, chunks=1000)
                bits.append(LinearRegression().fit(*arrays).coef_.tobytes())
                assert set(limits()) == {n}
        for lib, n in zip(blas_libraries(), before, strict=True):
            set_threads(lib, n)
        assert bits[0] == bits[1] == bits[2]

    def test_nothing_is_left_on_the_cluster(self, there):
        before = held(there)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            made(suffice.mixture.GaussianMixture).fit(frame(tables())[FEATURES])
        data = opened(tables())
        data.fold(summed())
        assert {key for key in held(there, "memory") if key not in before} == {run.key for run in data.runs}
        with pytest.raises(ZeroDivisionError):
            data.fold(lambda rows: 1 / 0)
        del data
        assert not held(there) - before

    def test_workers_know_how_much_they_hold(self, there):
        data = opened(tables())
        data.fold(summed())
        size = sum(there.nbytes([run.key for run in data.runs], summary=False).values())
        assert size >= sum(block.X.nbytes for block in local(tables()).blocks)


def held(client, state=""):
    """The tasks that the scheduler knows, in some state or any, when those that are let go of have gone."""

    def tasks(dask_scheduler):
        return {str(key) for key, task in dask_scheduler.tasks.items() if state in task.state}

    known, steady = None, 0
    while steady < 3:
        gc.collect()  # an error and its traceback go round in a circle
        now = client.run_on_scheduler(tasks)
        known, steady = now, steady + 1 if now == known else 0
        time.sleep(0.1)
    return known


class TestSequences:
    @pytest.mark.parametrize("cut", steps.CUTS)
    def test_same_bits_as_whole_sequences_here(self, cut, place):
        blocks = steps.TestRay().blocks(cut)
        here = steps.TestRay().local(blocks).fold(products())
        np.testing.assert_allclose(here, steps.expected(), rtol=1e-12)
        for source in (frame(blocks), [dask.delayed(block) for block in blocks]):
            assert bits(steps.opened(source).fold(products())) == bits(here)

    @steps.each_on("dask")
    def test_every_estimator(self, name, there):
        steps.assert_learns_the_same(steps.EVERY[name], frame(steps.TestRay().blocks("uneven")))

    def test_same_bits_of_a_model(self, dask_client, monkeypatch):
        blocks = steps.TestRay().blocks("small")
        with at(HERE, dask_client):
            expected = bits(steps.learnt(steps.described(frame(blocks))))
        monkeypatch.setattr(engine, "RUN", 4)
        with at(THERE, dask_client):
            assert bits(steps.learnt(steps.described(frame(blocks)))) == expected

    @pytest.mark.parametrize("known", [True, False])
    def test_arrays_with_groups(self, known, place):
        t = steps.table()
        X = np.column_stack([t["a"], t["b"]]).astype(float)
        ids, w = t["id"].to_numpy(), t["w"].to_numpy()
        chunked = [da.from_array(part, chunks=(200, *part.shape[1:])) for part in (X, ids, w)]
        if not known:
            some = chunked[2] > -1
            chunked = [part[some] for part in chunked]
        X, ids, w = chunked
        data = open_sequences(SequenceEstimator(), X, None, ids, w)
        np.testing.assert_allclose(data.fold(products()), steps.expected(), rtol=1e-12)

    def test_arrays_without_groups_are_refused(self, place):
        with pytest.raises(ValueError, match="pass groups="):
            HiddenMarkovModel(2).fit(da.ones((10, 2), chunks=(5, 2)))
        with pytest.raises(ValueError, match=r"suffice.sequences\(table"):
            HiddenMarkovModel(2).fit(frame(tables()[:2]))

    def test_an_id_that_comes_back_is_named(self, place):
        t = steps.table()
        t = pa.concat_tables([t, t.slice(5, 40)])
        with pytest.raises(ValueError, match="are not contiguous: sort"):
            steps.opened(frame(steps.pieces(t, [64])))


def products():
    return lambda block: steps_products(block)


def steps_products(block):
    return steps.products(block)
