"""Streams of Arrow batches: databases, a lazy table and a server are sources like Parquet."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import warnings
from contextlib import contextmanager
from itertools import cycle

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.cluster import KMeans
from suffice.decomposition import PCA
from suffice.inputs import parquet
from suffice.inputs.stream import Recut
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB, MixedNB
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel

from ._common import bits

ROWS = 5000
LENGTHS = [3, 1, 900, 20, 400, 1, 1, 55, 600, 7, 300, 40, 2, 2000, 670]
BATCHES = (1000, 37, 2048, 4999)  # rows, one pass after the other


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few hundred rows, so that a small table has many."""
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 1 << 14)


def table():
    """Rows of two groups, which are also steps of sequences; numbers, words, and holes."""
    rng = np.random.default_rng(3)
    state = (rng.random(ROWS) < 0.1).cumsum() % 2
    X = rng.normal(size=(ROWS, 3)) + 2.0 * state[:, None]
    names = np.array([f"{(7 * s) % 15}-s" for s in range(15)])
    return pa.table(
        {
            "n": np.arange(ROWS),
            "a": X[:, 0],
            "b": X[:, 1].astype(np.float32),
            "c": pa.array(X[:, 2], mask=rng.random(ROWS) < 0.1),
            "count": pa.array(rng.poisson(3.0, ROWS), mask=rng.random(ROWS) < 0.01),
            "word": pa.array(np.array(["yes", "no", "maybe"])[rng.integers(0, 3, ROWS)]),
            "label": pa.array(np.array(["low", "high"])[state]),
            "w": rng.gamma(2.0, size=ROWS),
            "id": pa.array(np.repeat(names, LENGTHS)),
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "rows.parquet"
    pq.write_table(table(), path)
    return path


@pytest.fixture(scope="module")
def from_duckdb(tmp_path_factory):
    duckdb = pytest.importorskip("duckdb")
    rows = table()  # which DuckDB finds by this name
    with duckdb.connect(tmp_path_factory.mktemp("duckdb") / "rows.duckdb") as connection:
        connection.execute("CREATE TABLE steps AS SELECT * FROM rows ORDER BY random()")
        connection.execute("ALTER TABLE steps ALTER word TYPE ENUM ('maybe', 'no', 'yes')")
        assert connection.execute("SELECT count(*) FROM steps").fetchall() == [(len(rows),)]
        sizes = cycle(BATCHES)
        yield lambda: connection.sql("SELECT * FROM steps ORDER BY n").to_arrow_reader(next(sizes))


@contextmanager
def postgresql():
    """The address of a PostgreSQL server on loopback, with nothing in it."""
    found = shutil.which("initdb") or next(iter(glob.glob("/usr/lib/postgresql/*/bin/initdb")), None)
    if found is None:
        pytest.skip("no PostgreSQL on this machine: initdb was not found (on Debian: apt install postgresql)")
    programs = os.path.dirname(os.path.realpath(found))
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    who = {"user": "postgres", "group": "postgres", "extra_groups": []} if root else {}  # it refuses root
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="suffice-postgresql-")
    if root:
        shutil.chown(folder, "postgres", "postgres")

    def run(program, *arguments):
        command = [f"{programs}/{program}", "-D", f"{folder}/data", *arguments]
        done = subprocess.run(
            command, cwd=folder, **who, timeout=120, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        run("initdb", "-U", "test", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-p {port} -h 127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        run("pg_ctl", "-w", "-o", options, "-l", f"{folder}/log", "start")
        try:
            yield f"postgresql://test@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def postgresql_uri():
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with postgresql() as uri:
        with dbapi.connect(uri) as connection, connection.cursor() as cursor:
            shuffled = table().take(np.random.default_rng(0).permutation(ROWS))
            cursor.adbc_ingest("steps", shuffled)
            connection.commit()
        yield uri


@pytest.fixture(scope="module")
def from_postgresql(postgresql_uri):
    from adbc_driver_postgresql import dbapi

    sizes = cycle((20_000, 100_000, 1 << 24))  # bytes: how the driver cuts batches

    def steps():
        with dbapi.connect(postgresql_uri) as connection, connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(next(sizes))})
            cursor.execute("SELECT * FROM steps ORDER BY n")
            yield from cursor.fetch_record_batch()

    return steps


@pytest.fixture(scope="module")
def from_polars(file):
    frame = pl.scan_parquet(file).with_columns(pl.col("word").cast(pl.Categorical)).sort("n")
    sizes = cycle(BATCHES)
    return lambda: frame.collect_batches(chunk_size=next(sizes), maintain_order=True)


@pytest.fixture(scope="module")
def from_flight():
    flight = pytest.importorskip("pyarrow.flight")
    sizes = cycle(BATCHES)

    class Server(flight.FlightServerBase):
        def do_get(self, context, ticket):
            assert ticket.ticket == b"steps"
            batches = table().to_batches(next(sizes))
            return flight.GeneratorStream(table().schema, iter(batches))

    with Server("grpc://127.0.0.1:0") as server, flight.connect(f"grpc://127.0.0.1:{server.port}") as client:

        def steps():
            reader = client.do_get(flight.Ticket(b"steps"))
            try:
                yield from reader.to_reader()
            finally:
                reader.cancel()

        yield steps


SOURCES = ["from_duckdb", "from_postgresql", "from_polars", "from_flight"]


@pytest.fixture(params=SOURCES)
def source(request):
    return request.getfixturevalue(request.param)


def fitted(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(data)


FITS = {
    "k-means": (KMeans(3, random_state=0, max_iter=5), {"features": ["a", "b"], "weight": "w"}),
    "mixture with holes": (
        GaussianMixture(2, covariance_type="diag", random_state=0, max_iter=4),
        {"features": ["a", "b", "c", "count"]},
    ),
    "logistic": (LogisticRegression(), {"features": ["a", "b"], "target": "label", "weight": "w"}),
    "naive Bayes": (GaussianNB(), {"features": ["a", "b", "c"], "target": "label"}),
    "words": (
        MixedNB(["gaussian", "poisson", "categorical"]),
        {"features": ["a", "count", "word"], "target": "label"},
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_a_source_gives_the_bits_of_parquet(name, source, file):
    estimator, parts = FITS[name]
    there = fitted(estimator, suffice.rows(suffice.scan(source), **parts))
    here = fitted(estimator, suffice.rows(suffice.scan_parquet(file), **parts))
    assert bits(there) == bits(here)


CHAINS = {
    "hidden Markov": (HiddenMarkovModel(2, random_state=0, max_iter=3), None),
    "random field": (ConditionalRandomField(max_iter=5), "label"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_sequences_of_a_source_have_the_bits_of_memory(name, source, monkeypatch):
    estimator, target = CHAINS[name]
    monkeypatch.setattr("suffice.core.blocks.BLOCK_BYTES", 1 << 14)  # in memory, cut alike
    parts = {"sequence": "id", "order": "n", "features": ["a", "b"], "target": target}
    there = fitted(estimator, suffice.sequences(suffice.scan(source), **parts))
    here = fitted(estimator, suffice.sequences(suffice.scan(lambda: table()), **parts))
    assert bits(there) == bits(here)
    if name == "hidden Markov":
        assert bits(there) == bits(fitted(estimator, suffice.sequences(table(), **parts)))


@pytest.mark.parametrize("cache", ["memory", "disk"])
def test_a_cache_asks_a_source_once_and_changes_no_bit(cache, source):
    estimator, parts = FITS["k-means"]
    asked = []

    def counted():
        asked.append(1)
        return source()

    columns = ["a", "b", "w"]  # so that nothing is opened to ask for them
    once = fitted(estimator, suffice.rows(suffice.scan(counted, columns, cache=cache), **parts))
    assert len(asked) == 1
    each = fitted(estimator, suffice.rows(suffice.scan(counted, columns, cache=None), **parts))
    assert len(asked) > 5
    assert bits(once) == bits(each)


def numbers(t):
    return t.select(["a", "b", "w"])


CUTS = {
    "a table": lambda t: t,
    "batches": lambda t: t.to_batches(333),
    "one by one": lambda t: t.slice(0, 600).to_batches(1) + t.slice(600).to_batches(),
    "with empty ones": lambda t: [b for part in t.to_batches(999) for b in (part.slice(0, 0), part)],
    "tables": lambda t: [t.slice(0, 1234), t.slice(1234)],
    "a reader": lambda t: t.to_reader(100),
    "a generator": lambda t: (batch for batch in t.to_batches(512)),
    "polars": lambda t: pl.from_arrow(t),
    "frames of polars": lambda t: pl.from_arrow(t).iter_slices(700),
    "pandas": lambda t: t.to_pandas(),
    "larger than blocks": lambda t: t.to_batches(4096),
}


@pytest.mark.parametrize("cut", CUTS)
def test_how_rows_come_changes_no_bit(cut, file):
    t = numbers(table())
    there = fitted(KMeans(3, random_state=0), suffice.scan(lambda: CUTS[cut](t)))
    here = fitted(KMeans(3, random_state=0), suffice.scan_parquet(file, ["a", "b", "w"]))
    assert bits(there) == bits(here)


def test_blocks_are_cut_by_rows_alone():
    rng = np.random.default_rng(0)
    t = numbers(table())
    for _ in range(20):
        ends = np.sort(rng.integers(0, ROWS + 1, rng.integers(0, 50)))
        parts = [t.slice(a, b - a) for a, b in zip([0, *ends], [*ends, ROWS], strict=True)]
        found = list(Recut(lambda parts=parts: parts, ("w", "a"), 512))
        assert [number for number, _ in found] == list(range(10))
        assert [batch.num_rows for _, batch in found] == [512] * 9 + [ROWS - 9 * 512]
        whole = pa.concat_tables(
            [b if isinstance(b, pa.Table) else pa.Table.from_batches([b]) for _, b in found]
        )
        assert whole.equals(t.select(["w", "a"]))


def test_strings_of_every_kind_are_labels():
    words = table()["label"]
    kinds = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
    views = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["low", "high"], pa.string_view()))
    t = table().select(["a", "b"])
    made = [t.append_column("label", words.cast(kind)) for kind in kinds]
    index = pa.array((np.asarray(words) == "high").astype(np.int64))
    made.append(t.append_column("label", pa.DictionaryArray.from_arrays(index, views.dictionary)))
    learnt = [bits(GaussianNB().fit(suffice.rows(suffice.scan(lambda m=m: m), target="label"))) for m in made]
    assert all(one == learnt[0] for one in learnt)


class Opened:
    """A source that knows how many of its streams were opened, and which are still open."""

    def __init__(self, t, kind, rows=256):
        self.t, self.kind, self.rows, self.opened, self.running = t, kind, rows, 0, 0
        self.readers = []

    def __call__(self):
        self.opened += 1
        if self.kind == "generator":
            return self.generated()
        reader = pa.RecordBatchReader.from_batches(self.t.schema, self.generated())
        self.readers.append(
            pa.RecordBatchReader.from_stream(reader)
        )  # by the C interface, as from a database
        return self.readers[-1]

    def generated(self):
        self.running += 1
        try:
            yield from self.t.to_batches(self.rows)
        finally:
            self.running -= 1

    def all_are_closed(self):
        for reader in self.readers:
            with pytest.raises(pa.ArrowInvalid, match="closed"):
                reader.read_next_batch()
        return self.running == 0


@pytest.mark.parametrize("kind", ["generator", "reader"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_pass_opens_one_stream_and_closes_it(kind, threads):
    source = Opened(table().select(["a", "b"]), kind)
    with suffice.threads(threads):
        scan = suffice.scan(source)
        assert source.opened == 1 and source.all_are_closed()
        data = suffice.inputs.open_rows(PCA(1), scan)
        for passes in (2, 3):
            data.fold(lambda rows: rows.X.sum())
            assert source.opened == passes and source.all_are_closed()


@pytest.mark.parametrize("kind", ["generator", "reader"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("cache", [None, "memory", "disk"])
def test_a_pass_that_fails_closes_its_stream(kind, threads, cache):
    """Where the sum fails, where a block is not as it must be, and where the source itself fails."""
    t = table().select(["a", "b"])
    source = Opened(t, kind)
    with suffice.threads(threads):
        data = suffice.inputs.open_rows(PCA(1), suffice.scan(source, cache=cache))
        for _ in range(2):  # the error is caught, and held
            with pytest.raises(ZeroDivisionError) as caught:
                data.fold(lambda rows: 1 / (len(rows) == 0 or rows.index[0] < 3))
            assert "In block 3 of the data" in "".join(caught.value.__notes__)
            assert source.all_are_closed()
        total = data.fold(lambda rows: rows.X.sum())
        np.testing.assert_allclose(total, sum(np.asarray(column).sum() for column in t))

        a = np.asarray(t["a"]).copy()
        a[1000] = np.inf
        source = Opened(t.set_column(0, "a", pa.array(a)), kind)
        with pytest.raises(ValueError, match="infinity") as wrong:
            PCA(1).fit(suffice.scan(source, cache=cache))
        assert "while reading it" in "".join(wrong.value.__notes__)
        assert source.all_are_closed() and source.opened == 2

        def breaks():
            yield from t.to_batches(1000)[:2]
            raise ConnectionError("lost")

        with pytest.raises(ConnectionError, match="lost"):
            PCA(1).fit(suffice.scan(breaks, cache=cache))


def test_a_failed_fit_leaves_no_connection_to_postgresql(postgresql_uri, from_postgresql):
    from adbc_driver_postgresql import dbapi

    def refuse(rows):
        raise ZeroDivisionError

    data = suffice.inputs.open_rows(PCA(1), suffice.scan(from_postgresql, ["a", "b"]))
    with pytest.raises(ZeroDivisionError):
        data.fold(refuse)
    with dbapi.connect(postgresql_uri) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        assert cursor.fetchone() == (1,)  # this one


def test_a_failed_fit_leaves_duckdb_usable(from_duckdb):
    with pytest.raises(ValueError, match="PCA takes numbers, and X has"):
        PCA(1).fit(suffice.scan(from_duckdb, ["a", "label"]))
    assert PCA(1).fit(suffice.scan(from_duckdb, ["a", "b"])).n_features_in_ == 2


class TestOtherRowsInALaterPass:
    def opened(self, *passes):
        given = iter(passes)
        return suffice.inputs.open_rows(PCA(1), suffice.scan(lambda: next(given), ["a"], cache=None))

    def folded(self, data):
        return data.fold(lambda rows: rows.X.sum())

    @pytest.mark.parametrize("rows", [4096, 4999, 5, 5001, 9000])
    def test_another_number_is_an_error(self, rows):
        t = table().select(["a"])
        data = self.opened(t, t, pa.concat_tables([t, t]).slice(0, rows), t)
        assert self.folded(data) == self.folded(data)
        words = rf"gave 5000 rows in the first pass, and now {rows}.*ORDER BY"
        with pytest.raises(ValueError, match=words):
            self.folded(data)
        self.folded(data)

    def test_another_order_is_an_error(self):
        t = table().select(["a"])
        data = self.opened(t, t.take(np.r_[0:2048, ROWS - 1 : 2047 : -1]))
        self.folded(data)
        with pytest.raises(ValueError, match=r"another row 2048 in the first pass.*ORDER BY"):
            self.folded(data)

    def test_a_reader_that_is_given_twice_is_an_error(self):
        reader = pa.RecordBatchReader.from_stream(table().select(["a", "b"]))
        with pytest.raises(pa.ArrowInvalid, match="closed") as error:
            PCA(1).fit(suffice.scan(lambda: reader))
        assert "fresh stream" in "".join(error.value.__notes__)
        batches = iter(table().select(["a", "b"]).to_batches())
        with pytest.raises(ValueError, match=r"no rows.*fresh stream"):
            KMeans(2).fit(suffice.scan(lambda: batches, ["a", "b"], cache=None))

    def test_a_query_without_order_is_noticed(self, from_duckdb, tmp_path):
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t AS SELECT range::DOUBLE AS a FROM range(3000)")
            shuffled = suffice.scan(lambda: connection.sql("SELECT * FROM t ORDER BY random()"), cache=None)
            with pytest.raises(ValueError, match="ORDER BY"):
                KMeans(2, random_state=0).fit(shuffled)
            kept = suffice.scan(shuffled.source, cache="memory")
            centers = KMeans(2, random_state=0).fit(kept).cluster_centers_
            np.testing.assert_allclose(np.sort(centers.ravel()), [749.5, 2249.5], atol=20)


class TestWords:
    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match=r"takes a function.*got Table: call scan\(lambda"):
            suffice.scan(table())

    def test_what_gives_no_stream(self):
        with pytest.raises(TypeError, match="it returned int"):
            suffice.scan(lambda: 5)
        with pytest.raises(TypeError, match="it gave int"):
            PCA(1).fit(suffice.scan(lambda: [1, 2], ["a"]))
        with pytest.raises(TypeError, match="it gave int"):
            suffice.scan(lambda: [1, 2])

    def test_what_gives_nothing(self):
        with pytest.raises(ValueError, match="no batches"):
            suffice.scan(lambda: [])
        with pytest.raises(ValueError, match="no rows"):
            PCA(1).fit(suffice.scan(lambda: table().slice(0, 0)))

    def test_columns_that_are_not_there(self):
        with pytest.raises(ValueError, match=r"no column \['z'\]; its columns are \['n', 'a'"):
            PCA(1).fit(suffice.scan(lambda: table(), ["a", "z"]))
        with pytest.raises(ValueError, match=r"no column \['z'\]"):
            LogisticRegression().fit(suffice.rows(suffice.scan(lambda: table()), target="z"))

    def test_a_kind_of_column_that_is_no_number(self):
        t = table().select(["a"]).append_column("d", pa.array([1] * ROWS).cast(pa.decimal128(30, 2)))
        with pytest.raises(ValueError, match=r"'d' holds decimal128.*cast"):
            PCA(1).fit(suffice.scan(lambda: t))

    def test_a_cache_that_is_none(self):
        with pytest.raises(ValueError, match="cache must be None, 'auto', 'memory' or 'disk'; got True"):
            suffice.scan(lambda: table(), cache=True)


def test_few_batches_are_held_at_a_time():
    """What Arrow holds at its peak does not grow with the stream."""
    most = 0

    def batches():
        nonlocal most
        for n in range(400):
            yield pa.record_batch({"a": np.arange(n, n + 20_000.0)})  # 160 kB
            most = max(most, pa.total_allocated_bytes() - before)

    before = pa.total_allocated_bytes()
    with suffice.threads(2):
        suffice.inputs.open_rows(PCA(1), suffice.scan(batches)).fold(lambda rows: rows.X.sum())
    assert most < 4e6  # of 64 MB
