"""Parquet in object storage and on other file systems: the bits of local files, changes, and faults."""

from __future__ import annotations

import pickle
import warnings

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.cluster import KMeans
from suffice.inputs import open_rows, parquet, remote, source_of
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import MixedNB

from ._common import bits
from ._s3 import Proxy, filesystem, s3_server, url

ROWS = 6000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few hundred rows, and small requests, so that small files have many."""
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(remote, "PART_BYTES", 1 << 13)
    monkeypatch.setattr(remote, "HOLE_BYTES", 1 << 10)
    monkeypatch.setattr(remote, "TAIL_BYTES", 1 << 11)
    monkeypatch.setattr(remote, "AHEAD_BYTES", 1 << 16)


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3))
    return pa.table(
        {
            "a": X[:, 0],
            "b": X[:, 1].astype(np.float32),
            "c": pa.array(X[:, 2], mask=rng.random(ROWS) < 0.1),
            "n": np.arange(ROWS),
            "word": np.array(["yes", "no", "maybe"])[rng.integers(0, 3, ROWS)],
            "label": np.where(X[:, 0] + 0.5 * rng.normal(size=ROWS) > 0, "up", "down"),
            "year": pa.array(np.sort(rng.integers(2021, 2024, ROWS)), pa.int32()),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("local") / "data"
    pq.write_to_dataset(table(), path, ["year"], basename_template="part-{i}.parquet", row_group_size=500)
    return path


def copied(folder, filesystem, base):
    filesystem.create_dir(base, recursive=True)
    fs.copy_files(str(folder), base, destination_filesystem=filesystem)


@pytest.fixture(scope="module")
def server(folder):
    with s3_server() as port:
        copied(folder, filesystem(port), "bucket/data")
        yield port


@pytest.fixture
def memory(folder):
    """A file system of fsspec in memory, which is not this machine's."""
    there = fsspec.filesystem("memory")
    there.put(str(folder), "/data", recursive=True)
    yield there
    there.rm("/data", recursive=True)


FITS = {
    "k-means": (KMeans(3, random_state=0, max_iter=3), {"features": ["a", "b", "year"]}),
    "mixture": (
        GaussianMixture(2, covariance_type="diag", random_state=0, max_iter=3),
        {"features": ["a", "c"]},
    ),
    "logistic": (LogisticRegression(), {"features": ["a", "b"], "target": "label"}),
    "words": (MixedNB(["gaussian", "categorical"]), {"features": ["a", "word"], "target": "year"}),
}


def fitted(name, scan):
    estimator, parts = FITS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return bits(clone(estimator).fit(suffice.rows(scan, **parts)))


@pytest.mark.parametrize("name", FITS)
def test_other_file_systems_have_the_bits_of_local_files(name, memory, folder):
    there = suffice.scan_parquet("data", filesystem=memory)
    here = suffice.scan_parquet(folder)
    assert there.columns == here.columns and len(there.files) == len(here.files) == 3
    assert fitted(name, there) == fitted(name, here)


@pytest.mark.parametrize("name", ["k-means", pytest.param("words", marks=pytest.mark.slow)])
def test_s3_has_the_bits_of_local_files(name, server, folder):
    expected = fitted(name, suffice.scan_parquet(folder))
    assert fitted(name, suffice.scan_parquet("bucket/data", filesystem=filesystem(server))) == expected
    for path in ("bucket/data", "bucket/data/year=*/*.parquet"):
        assert fitted(name, suffice.scan_parquet(url(path, server))) == expected


@pytest.mark.slow
def test_s3_through_fsspec_has_the_bits_of_local_files(server, folder):
    s3fs = pytest.importorskip("s3fs")
    there = s3fs.S3FileSystem(
        key="test",
        secret="test",
        client_kwargs={"endpoint_url": f"http://127.0.0.1:{server}", "region_name": "us-east-1"},
    )
    scan = suffice.scan_parquet("bucket/data", filesystem=there)
    assert fitted("k-means", scan) == fitted("k-means", suffice.scan_parquet(folder))


def test_file_systems_of_this_machine_are_local(folder):
    names = ["a", "b"]
    for path, there in (
        (folder, fs.LocalFileSystem()),
        (folder, fsspec.filesystem("file")),
        (folder.as_uri(), None),
        (f"{folder.as_uri()}/year=*/part-0.parquet", None),
    ):
        scan = suffice.scan_parquet(path, names, filesystem=there)
        assert scan.filesystem is None and len(scan.files) == 3


GLOBS = {
    "*/*.parquet": 3,
    "year=*": 3,
    "year=202[12]/*": 2,
    "year=202[!12]/part-?.parquet": 1,
    "**/part-0.parquet": 3,
    "**": 3,
}


@pytest.mark.parametrize("glob", GLOBS)
def test_globs_are_the_same_everywhere(glob, memory, folder):
    there = suffice.scan_parquet(f"data/{glob}", filesystem=memory)
    here = suffice.scan_parquet(f"{folder}/{glob}")
    assert [f.removeprefix("/data") for f in there.files] == [f.removeprefix(str(folder)) for f in here.files]
    assert len(here.files) == GLOBS[glob]
    assert there.columns == here.columns == ("a", "b", "c", "n", "word", "label", "year")
    assert all(there.keys["year"].equals(scan.keys["year"]) for scan in (here,))


def test_a_scan_is_sent_to_other_processes(memory, folder):
    scan = suffice.scan_parquet("data", filesystem=memory, filters=[("a", ">", 0.0)])
    again = pickle.loads(pickle.dumps(scan))
    assert again == scan and again.filters == scan.filters
    assert fitted("k-means", again) == fitted("k-means", scan)
    assert "filters=(a > 0)" in repr(scan) and "PyFileSystem" in repr(scan)


def test_wrong_paths_and_file_systems_are_named(memory):
    with pytest.raises(FileNotFoundError, match=r"No file ending in \.parquet was found in \['nowhere'\]"):
        suffice.scan_parquet("nowhere", filesystem=memory)
    with pytest.raises(
        TypeError, match=r"filesystem must be a file system of pyarrow\.fs or of fsspec; got str"
    ):
        suffice.scan_parquet("data", filesystem="s3")
    with pytest.raises(ValueError, match="several file systems"):
        suffice.scan_parquet(["s3://a/b", "c"])
    with pytest.raises(ValueError, match=r"filesystem=fsspec.filesystem\('unknown-scheme'\)"):
        suffice.scan_parquet("unknown-scheme://a/b")
    with pytest.raises(ValueError, match="pass a local folder"):
        model = KMeans(2, random_state=0).fit(suffice.scan_parquet("data", ["a"], filesystem=memory))
        model.predict(suffice.scan_parquet("data", ["a"], filesystem=memory), to="s3://bucket/out")


@pytest.mark.parametrize(
    "marker", ["_delta_log/0.json", ".hoodie/hoodie.properties", "metadata/0.metadata.json"]
)
def test_table_formats_are_refused_there_too(marker, memory):
    memory.pipe(f"/data/{marker}", b"{}")
    with pytest.raises(ValueError, match=r"/?data is an? (Delta|Hudi|Iceberg) table"):
        suffice.scan_parquet("data", filesystem=memory)
    if "metadata" not in marker:
        with pytest.raises(ValueError, match=r"/?data is an? (Delta|Hudi) table"):
            suffice.scan_parquet("data/year=2021", filesystem=memory)


# --- filters -------------------------------------------------------------------------------------------

FILTERS = {
    "a number": ([("a", ">", 0.5)], pc.field("a") > 0.5),
    "a range": ([("n", ">=", 1000), ("n", "<", 1700)], (pc.field("n") >= 1000) & (pc.field("n") < 1700)),
    "a partition column": ([("year", "!=", 2022)], pc.field("year") != 2022),
    "a partition column and more": (
        [[("year", "=", 2021), ("a", "<", 0)], [("word", "=", "maybe")]],
        ((pc.field("year") == 2021) & (pc.field("a") < 0)) | (pc.field("word") == "maybe"),
    ),
    "words": ([("word", "in", ["yes", "no"])], pc.field("word").isin(["yes", "no"])),
    "missing values": (~pc.field("c").is_null(), ~pc.field("c").is_null()),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("where", ["local", pytest.param("memory", marks=pytest.mark.slow)])
def test_filters_select_rows(name, where, folder, request):
    filters, expression = FILTERS[name]
    there = None if where == "local" else request.getfixturevalue("memory")
    path = folder if there is None else "data"
    scan = suffice.scan_parquet(path, ["a", "b"], filters=filters, filesystem=there)
    expected = table().filter(expression)
    found = suffice.scan(lambda: expected, ["a", "b"])
    assert bits(KMeans(2, random_state=0).fit(scan)) == bits(KMeans(2, random_state=0).fit(found))


def test_filters_do_not_read_what_they_exclude(memory, monkeypatch):
    read = []
    get = type(memory).cat_file

    def counted(self, path, start=None, end=None, **more):
        read.append((path, end - start))
        return get(self, path, start=start, end=end, **more)

    monkeypatch.setattr(type(memory), "cat_file", counted)

    def bytes_of(filters):
        scan = suffice.scan_parquet("data", ["a", "word"], filters=filters, filesystem=memory)
        data = open_rows(MixedNB(), suffice.rows(scan, features=["a"], target="word"))
        read.clear()
        data.fold(len)
        return sum(n for _, n in read), {path for path, _ in read}

    everything, files = bytes_of([("n", ">=", 0)])
    few, _ = bytes_of([("n", "<", 400)])
    assert len(files) == 3 and few < 0.4 * everything
    year, files = bytes_of([("year", "=", 2022)])
    assert len(files) == 1 and year < 0.5 * everything


def test_filters_without_rows_and_wrong_ones(folder):
    scan = suffice.scan_parquet(folder, ["a"], filters=[("a", ">", 1e9)])
    with pytest.raises(ValueError, match=r"No row of .* fulfils filters="):
        KMeans(2, random_state=0).fit(scan)
    with pytest.raises(ValueError, match=r"No file of .* fulfils filters="):
        suffice.scan_parquet(folder, filters=[("year", "=", 1999)])
    with pytest.raises(pa.ArrowInvalid) as error:
        suffice.scan_parquet(folder, filters=[("month", "=", 1)])
    assert "does not fit the columns ['a', 'b'" in "".join(error.value.__notes__)


# --- changes -------------------------------------------------------------------------------------------


def total(rows):
    return rows.X.sum(axis=0)


def swapped(t):
    """Two values changed places: size and statistics stay as they are."""
    n = t["n"].to_numpy().copy()
    n[[10, 20]] = n[[20, 10]]
    return t.set_column(t.schema.get_field_index("n"), "n", pa.array(n))


def opened(scan):
    return open_rows(KMeans(), suffice.rows(scan, features=["a", "b", "n"]))


HOW = {"compression": "none", "use_dictionary": False}


def write(t, path, filesystem):
    with filesystem.open_output_stream(path) as out:
        pq.write_table(t, out, **HOW)


@pytest.mark.parametrize("change", ["swapped", "fewer rows"])
@pytest.mark.parametrize("where", ["memory", "s3"])
def test_an_object_that_changes_between_passes_is_noticed(change, where, request):
    if where == "s3":
        there, path = filesystem(request.getfixturevalue("server")), f"bucket/changes-{change}.parquet"
    else:
        there = fs.PyFileSystem(fs.FSSpecHandler(request.getfixturevalue("memory")))
        path = "data/changes.parquet"
    write(table(), path, there)
    data = opened(suffice.scan_parquet(path, filesystem=there, cache=None))
    first = data.fold(total)
    assert (data.fold(total) == first).all()
    write(swapped(table()) if change == "swapped" else table().slice(1), path, there)
    expected = "another ETag or time" if change == "swapped" else "rows in the first pass"
    with pytest.raises(ValueError, match=rf"\.parquet changed: it had .*{expected}.*cache='disk'"):
        data.fold(total)


def test_an_object_that_changes_while_it_is_read_is_noticed(memory):
    there = fs.PyFileSystem(fs.FSSpecHandler(memory))
    write(table(), "data/changes.parquet", there)
    data = opened(suffice.scan_parquet("data/changes.parquet", filesystem=memory, cache=None))

    def rewritten(rows):
        if rows.index[0] == 3:
            write(swapped(table()), "data/changes.parquet", there)
        return len(rows)

    with pytest.raises(ValueError, match=r"changed: it had another ETag or time.* when it was opened"):
        data.fold(rewritten)


def test_a_cache_reads_objects_once(memory):
    there = fs.PyFileSystem(fs.FSSpecHandler(memory))
    write(table(), "data/changes.parquet", there)
    data = opened(suffice.scan_parquet("data/changes.parquet", filesystem=memory, cache="disk"))
    first = data.fold(total)
    write(table(1), "data/changes.parquet", there)
    assert (data.fold(total) == first).all()


# --- faults --------------------------------------------------------------------------------------------


class Failing:
    """Reads of a file system in memory, some of which fail or come short."""

    def __init__(self, get, fault):
        self.get, self.fault, self.calls = get, fault, 0

    def __call__(self, path, start=None, end=None, **more):
        self.calls += 1
        return self.fault(self.calls, self.get(path, start=start, end=end, **more))


def drops_every_fifth(call, data):
    if call % 5 == 0:
        raise ConnectionResetError("Connection reset by peer")
    return data


def short_every_fifth(call, data):
    return data[: len(data) // 2] if call % 5 == 0 else data


@pytest.mark.parametrize("fault", [drops_every_fifth, short_every_fifth])
def test_requests_that_fail_are_sent_again(fault, memory, folder, monkeypatch):
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    failing = Failing(memory.cat_file, fault)
    scan = suffice.scan_parquet("data", filesystem=memory, cache=None)
    monkeypatch.setattr(memory, "cat_file", failing)
    assert fitted("k-means", scan) == fitted("k-means", suffice.scan_parquet(folder))
    assert failing.calls > 50


def test_a_store_that_is_gone_is_an_error_that_names_the_file(memory, monkeypatch):
    monkeypatch.setattr(remote.time, "sleep", lambda seconds: None)
    scan = suffice.scan_parquet("data", ["a"], filesystem=memory)

    def gone(call, data):
        if call > 8:
            raise ConnectionResetError("Connection reset by peer")
        return data

    monkeypatch.setattr(memory, "cat_file", Failing(memory.cat_file, gone))
    with pytest.raises(OSError, match=r"part-0\.parquet could not be read after 4 attempts: .*reset by peer"):
        KMeans(2, random_state=0).fit(scan)


@pytest.mark.slow
@pytest.mark.parametrize("share", [2, 5])
def test_connections_to_s3_that_are_cut(share, server, folder):
    """Every second or fifth connection ends within the answer."""
    rng = np.random.default_rng(share)
    with Proxy(server, lambda n: int(rng.integers(1, 20_000)) if n % share == 1 else None) as proxy:
        scan = suffice.scan_parquet("bucket/data", filesystem=filesystem(proxy.port), cache=None)
        assert fitted("k-means", scan) == fitted("k-means", suffice.scan_parquet(folder))
        assert proxy.cuts > 3


@pytest.mark.slow
def test_an_s3_server_that_always_cuts_is_an_error(server):
    scan = suffice.scan_parquet("bucket/data", filesystem=filesystem(server))
    with Proxy(server, lambda n: 2000) as proxy:
        there = filesystem(proxy.port, retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1))
        cut = parquet.ParquetScan(scan.files, scan.columns, None, scan.keys, there)
        with pytest.raises(OSError, match=r"bucket/data/.*parquet could not be read after 4 attempts"):
            fitted("k-means", cut)


@pytest.mark.slow
def test_a_slow_s3_server_changes_no_bit(server, folder):
    with Proxy(server, bytes_per_second=300_000) as proxy:
        scan = suffice.scan_parquet("bucket/data", filesystem=filesystem(proxy.port))
        assert fitted("words", scan) == fitted("words", suffice.scan_parquet(folder))


def test_a_pass_that_is_left_early_ends_its_requests(memory):
    before = threads()
    data = opened(suffice.scan_parquet("data", filesystem=memory))
    with pytest.raises(ZeroDivisionError):
        data.fold(lambda rows: 1 / 0)
    assert threads() <= before


def threads():
    import threading

    return sum("ThreadPoolExecutor" in thread.name for thread in threading.enumerate())


def test_types_are_read_from_the_file_system(folder):
    there = fs.SubTreeFileSystem(str(folder.parent), fs.LocalFileSystem())
    remote_types = source_of(suffice.scan_parquet(folder.name, filesystem=there)).types()
    assert remote_types == source_of(suffice.scan_parquet(folder)).types()
    assert remote_types["b"] == pa.float32() and remote_types["word"] == pa.string()
