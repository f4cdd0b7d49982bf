"""Caches: what the first pass read is not read again, the bits are the same, and nothing is left behind."""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.cluster import KMeans
from suffice.core.blocks import Rows, Sequences
from suffice.core.coded import coded
from suffice.decomposition import PCA
from suffice.engines import cache as caches
from suffice.engines import stores
from suffice.engines.stores import Automatic, InMemory, OnDisk
from suffice.inputs import open_rows, parquet
from suffice.naive_bayes import MixedNB
from suffice.sequence import HiddenMarkovModel

from ._common import FEATURES, bits, described, each_kind, kind_of, tables, variants, write

KEPT = ["auto", "memory", "disk"]
STORES = {"auto": partial(Automatic, iterates=True), "memory": InMemory, "disk": OnDisk}


def fitted(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(data)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: write(tmp_path_factory.mktemp(kind), tables(kind)) for kind in ("count", "real")}


@pytest.fixture
def real(tmp_path):
    return write(tmp_path, tables())


@each_kind(of="cache", values=KEPT)
def test_no_bit_depends_on_the_cache(name, cache, folders):
    estimator = variants()[name]
    path = folders[kind_of(estimator)]
    scans = [suffice.scan_parquet(path, cache=cache) for cache in (None, cache)]
    anew, kept = (bits(fitted(estimator, described(estimator, scan))) for scan in scans)
    assert kept == anew


@pytest.mark.parametrize("cache", KEPT)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_files_are_read_once(cache, threads, real, monkeypatch):
    opened = []

    def recorded(path, *more, open_file=pa.OSFile):
        opened.append(path)
        return open_file(path, *more)

    with suffice.threads(threads):
        monkeypatch.setattr(pa, "OSFile", recorded)
        kept = fitted(KMeans(3, random_state=0), suffice.scan_parquet(real, FEATURES, cache=cache))
        assert opened == sorted(map(str, real.glob("*.parquet")))
        anew = fitted(KMeans(3, random_state=0), suffice.scan_parquet(real, FEATURES, cache=None))
        assert len(opened) > 50
    assert bits(kept) == bits(anew)


@pytest.mark.parametrize("cache", KEPT)
def test_sequences(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 8)
    t = pa.concat_tables(tables()).slice(0, 4000)
    t = t.append_column("id", pa.array((np.arange(4000) // 37).astype(str)))
    t = t.set_column(t.schema.names.index("w"), "w", pa.array(1.0 + np.arange(4000) // 37 % 3))
    pq.write_table(t, tmp_path / "t.parquet")
    parts = {"sequence": "id", "features": FEATURES, "weight": "w"}
    model = HiddenMarkovModel(2, random_state=0, max_iter=3)
    scans = [suffice.scan_parquet(tmp_path, cache=given) for given in (cache, None)]
    kept, anew = (bits(fitted(model, suffice.sequences(scan, **parts))) for scan in scans)
    assert kept == anew


def test_words_are_kept_too(real, tmp_path):
    t = pa.concat_tables(tables("count")).slice(0, 3000)
    t = t.append_column("word", pa.array(np.array(["yes", "nö", None])[np.arange(3000) % 3]))
    t = t.append_column("name", pa.array(np.array(["low", "high"])[np.arange(3000) % 2]))
    pq.write_table(t, tmp_path / "t.parquet", row_group_size=500)
    model = MixedNB(["gaussian", "categorical"])
    learnt = [
        bits(
            model.fit(
                suffice.rows(
                    suffice.scan_parquet(tmp_path / "t.parquet", cache=cache),
                    features=["a", "word"],
                    target="name",
                    weight="w",
                )
            )
        )
        for cache in (None, *KEPT)
    ]
    assert learnt[1:] == learnt[:1] * len(KEPT)


rng = np.random.default_rng(0)
BLOCKS = {
    "rows": Rows(rng.normal(size=(100, 3)), index=(4,)),
    "floats": Rows(rng.normal(size=(7, 3)).astype(np.float32), np.arange(7), rng.random(7)),
    "objects": Rows(np.array([["a", 1.5], [None, np.nan]], dtype=object), np.array(["x", "y"], dtype=object)),
    "none": Rows(np.empty((0, 3)), np.empty(0), np.empty(0)),
    "two targets": Rows(rng.normal(size=(5, 1)), rng.normal(size=(5, 2))),
    "sequences": Sequences(rng.normal(size=(5, 2)), np.array([0, 2, 2, 5]), None, rng.random(3), (2,)),
    "columns": Rows(np.asfortranarray(rng.normal(size=(6, 2))), np.arange(12)[::2]),
}


@pytest.mark.parametrize("cache", KEPT)
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_comes_back_as_it_was(name, cache):
    store, block = STORES[cache](), BLOCKS[name]
    for number in (3, 0):  # in any order
        store.put(number, block)
    for number in (0, 3):
        back = store.get(number)
        assert bits(back) == bits(block) and back.index == block.index
        assert back.unweighted == block.unweighted
        assert back.X.flags.writeable


def test_what_is_written_to_a_block_does_not_reach_the_disk():
    store = OnDisk()
    store.put(0, BLOCKS["rows"])
    changed = store.get(0)
    changed.X[:] = 0.0
    assert bits(store.get(0)) == bits(BLOCKS["rows"])


def test_a_block_in_memory_does_not_hold_its_batch():
    """Labels are a view of what was read: with a message of Flight or a file, all of it."""
    X = np.zeros((1 << 16, 4))
    message = np.zeros((1 << 16, 8))
    store = InMemory()
    store.put(0, Rows(X, message[:, 0]))
    assert store.get(0).y.base is None


@pytest.mark.parametrize("cache", KEPT)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_pass_that_failed_is_not_a_cache(cache, threads, real):
    """Wherever it fails: the next pass starts again, and has all blocks."""
    with suffice.threads(threads):
        expected = open_rows(PCA(1), suffice.scan_parquet(real, FEATURES, cache=None)).fold(total)
        for failing in (0, 3, 10):
            data = open_rows(PCA(1), suffice.scan_parquet(real, FEATURES, cache=cache))
            for _ in range(2):
                with pytest.raises(ZeroDivisionError):
                    data.fold(lambda rows, n=failing: 1 / (len(rows) == 0 or rows.index[0] != n))
            for _ in range(3):
                assert data.fold(total) == expected


def total(rows):
    return float(rows.X.sum())


@pytest.mark.parametrize("cache", KEPT)
def test_a_block_that_cannot_be_read_is_no_cache_either(cache):
    """Its threads may fail after the last batch was handed out."""
    failing = True

    def check(numbered):
        if failing and numbered[0] == 4:
            raise ValueError("not yet")
        return Rows(np.full((2, 1), float(numbered[0])), index=(numbered[0],))

    data = caches.streamed([(n, None) for n in range(5)], cache, check)
    with pytest.raises(ValueError, match="not yet"):
        data.fold(total)
    failing = False
    assert data.fold(total) == data.fold(total) == 20.0


@pytest.mark.parametrize("cache", KEPT)
def test_maps_and_folds_at_the_same_time(cache, real):
    data = open_rows(PCA(1), suffice.scan_parquet(real, FEATURES, cache=cache))
    doubled = data.map(lambda rows: rows.replace(X=2.0 * rows.X))
    found = []
    threads = [
        threading.Thread(target=lambda d=d: found.append((d is data, d.fold(total))))
        for d in (data, doubled, data)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = open_rows(PCA(1), suffice.scan_parquet(real, FEATURES, cache=None)).fold(total)
    for _ in range(2):
        found += [(True, data.fold(total)), (False, doubled.fold(total))]
    assert len(found) == 7
    assert {value if plain else value / 2 for plain, value in found} == {expected}


class TestTooMuch:
    def test_for_the_memory(self, real, monkeypatch):
        monkeypatch.setattr(stores, "free_memory", lambda: 2e6)
        with (
            suffice.threads(1),
            pytest.raises(
                MemoryError, match=r"0.001 GB, half of the free memory.*pass cache='disk'"
            ) as error,
        ):
            KMeans(3).fit(suffice.scan_parquet(real, FEATURES, cache="memory"))
        assert "In block 5 of the data, while keeping it." in error.value.__notes__
        small = suffice.scan_parquet(real / "part-000.parquet", FEATURES, cache="memory")
        KMeans(3).fit(small)

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
    def test_for_the_disk(self, real, monkeypatch):
        full = partial(open, "/dev/full", "w+b", 0)
        monkeypatch.setattr(stores.tempfile, "TemporaryFile", lambda prefix: full())
        with pytest.raises(OSError, match="No space left") as error:
            KMeans(3).fit(suffice.scan_parquet(real, FEATURES, cache="disk"))
        assert "set TMPDIR to a folder with more space" in "".join(error.value.__notes__)

    def test_memory_that_is_free_is_less_than_there_is(self):
        psutil = pytest.importorskip("psutil")
        assert 0 < stores.free_memory() < psutil.virtual_memory().total

    def test_strings_count_as_objects(self):
        store = InMemory()
        store.put(0, BLOCKS["objects"])
        assert store.size == 6 * stores.OBJECT_BYTES

    def test_sparse_rows_and_codes_count(self):
        sparse, store = sp.csr_array(np.eye(10)), InMemory()
        store.put(0, Rows(sparse))
        assert store.size == 10 * 8 + 10 * 4 + 11 * 4
        store.put(1, Rows(coded(np.array([["a", "b"], ["a", "c"]], object))))
        assert store.size == 164 + 4 * 8 + 3 * stores.OBJECT_BYTES


class Opened:
    """The files that pyarrow opened, and the stores that were made."""

    def __init__(self, monkeypatch):
        self.paths, open_file = [], pa.OSFile
        monkeypatch.setattr(
            pa, "OSFile", lambda path, *more: self.paths.append(path) or open_file(path, *more)
        )
        self.files = recorded = []

        class Recorded(OnDisk):
            def __init__(self):
                super().__init__()
                recorded.append(self.file)

        monkeypatch.setattr(stores, "OnDisk", Recorded)


class TestAutomatic:
    """It is the default: memory up to a budget, then the disk, then the files again; with the same bits."""

    @pytest.fixture
    def opened(self, monkeypatch):
        monkeypatch.setattr(stores, "is_in_memory", lambda folder: False)  # which /tmp is on some systems
        return Opened(monkeypatch)

    @pytest.fixture
    def expected(self, real):
        return bits(fitted(KMeans(3, random_state=0), suffice.scan_parquet(real, FEATURES, cache=None)))

    def fit(self, real):
        return bits(fitted(KMeans(3, random_state=0), suffice.scan_parquet(real, FEATURES)))

    def test_in_memory(self, real, expected, opened, caplog):
        with caplog.at_level(logging.INFO, "suffice"):
            assert self.fit(real) == expected
        assert len(opened.paths) == len(set(opened.paths)) and opened.files == []
        gc.collect()
        assert stores.Account.held_by_all == 0

    def test_on_the_disk_beyond_the_budget(self, real, expected, opened, monkeypatch, caplog):
        monkeypatch.setattr(stores, "free_memory", lambda: 8 * 5e5)
        most, take = [], stores.Account.take
        monkeypatch.setattr(
            stores.Account, "take", lambda self, n: [take(self, n), most.append(self.held_by_all)][0]
        )
        with caplog.at_level(logging.INFO, "suffice"):
            assert self.fit(real) == expected
        assert len(opened.paths) == 2 * len(set(opened.paths))  # measured, then written
        assert len(opened.files) == 1 and 0 < max(most) <= 5e5
        assert len(caplog.messages) == 1
        assert "are read from memory up to the budget of 0.0005 GB, and else from a temporary" in caplog.text

    def test_again_if_the_disk_is_full(self, real, expected, opened, monkeypatch, caplog):
        monkeypatch.setattr(stores, "free_memory", lambda: 8 * 5e5)
        monkeypatch.setattr(stores, "free_disk", lambda folder: 2 * 1e5)
        with caplog.at_level(logging.INFO, "suffice"):
            assert self.fit(real) == expected
        assert len(opened.paths) > 10 * len(set(opened.paths)) and opened.files == []
        assert len(caplog.messages) == 1
        assert "each pass reads the data again, since 11 blocks, 0.00107 GB, exceed the budget" in caplog.text
        assert "and the 0.0001 GB to use in" in caplog.text
        assert stores.Account.held_by_all == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
    def test_again_if_the_disk_fills_up(self, real, expected, opened, monkeypatch, caplog):
        full = partial(open, "/dev/full", "w+b", 0)
        monkeypatch.setattr(stores, "free_memory", lambda: 8 * 5e5)
        monkeypatch.setattr(stores.tempfile, "TemporaryFile", lambda prefix: full())
        with caplog.at_level(logging.INFO, "suffice"):
            assert self.fit(real) == expected
        assert "cannot be written to: No space left on device" in caplog.text
        assert len(caplog.messages) == 1

    def test_again_if_temporary_files_are_in_memory(self, real, expected, opened, monkeypatch, caplog):
        monkeypatch.setattr(stores, "free_memory", lambda: 8 * 5e5)
        monkeypatch.setattr(stores, "is_in_memory", lambda folder: True)
        with caplog.at_level(logging.INFO, "suffice"):
            assert self.fit(real) == expected
        assert opened.files == [] and "is in memory: set TMPDIR to a disk" in caplog.text

    def test_one_pass_keeps_nothing(self, real, opened, monkeypatch, caplog):
        taken = []
        monkeypatch.setattr(stores.Account, "take", lambda self, n: taken.append(n))
        with caplog.at_level(logging.INFO, "suffice"):
            PCA(1).fit(suffice.scan_parquet(real, FEATURES))
        assert taken == opened.files == caplog.messages == []
        assert len(opened.paths) == len(set(opened.paths))

    def test_others_keep_from_the_second_pass_and_write_in_the_third(self, real, opened, monkeypatch):
        monkeypatch.setattr(stores, "free_memory", lambda: 8 * 5e5)
        data = open_rows(PCA(1), suffice.scan_parquet(real, FEATURES))
        totals, held, files = [], [], []
        for _ in range(4):
            totals.append(data.fold(total))
            held.append(stores.Account.held_by_all > 0)
            files.append(len(opened.files))
        assert held == [False, True, True, True]
        assert files == [0, 0, 1, 1]
        assert len(opened.paths) == 3 * len(set(opened.paths))
        assert len(set(totals)) == 1

    def test_what_is_persisted_is_not_stored_twice(self, real, opened):
        data = open_rows(KMeans(3), suffice.scan_parquet(real, FEATURES))
        kept = data.map(plus_one).persisted()
        assert kept.fold(total) == kept.fold(total)
        assert stores.Account.held_by_all == 0 and opened.files == []

    def test_stores_share_the_budget(self, monkeypatch):
        gc.collect()
        monkeypatch.setattr(stores, "free_memory", lambda: 8 * 1e4 - stores.Account.held_by_all)
        rows = Rows(np.zeros((500, 2)))  # 8,000 bytes, and 4,000 of weights
        first, second = Automatic(iterates=True), Automatic(iterates=True)
        first.put(0, rows)
        second.put(0, rows)
        assert (len(first.blocks), len(second.blocks)) == (1, 0)
        del first
        second.put(0, rows)
        assert len(second.blocks) == 1

    def test_file_systems_in_memory(self, tmp_path):
        mounts = tmp_path / "mounts"
        mounts.write_text(f"/dev/sda / ext4 rw 0 0\ntmpfs {tmp_path} tmpfs rw 0 0\n")
        assert stores.is_in_memory(str(tmp_path), str(mounts))
        assert stores.is_in_memory(str(tmp_path / "a"), str(mounts))
        assert not stores.is_in_memory(f"{tmp_path}-other", str(mounts))
        assert not stores.is_in_memory(str(tmp_path), str(tmp_path / "none"))


def temporary():
    """Files without a name that are open here, or mapped."""
    links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    names = [os.readlink(link) for link in links if os.path.islink(link)]
    with open("/proc/self/maps") as maps:
        names += [line for line in maps if "/#" in line]
    return [name for name in names if "(deleted)" in name and "/#" in name]


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="asks Linux what is open")
class TestNothingIsLeft:
    def test_by_partitions_that_are_dropped(self, real):
        gc.collect()
        before = temporary()
        data = open_rows(PCA(1), suffice.scan_parquet(real, FEATURES, cache="disk"))
        data.fold(total)
        data.fold(total)
        assert len(temporary()) == len(before) + 1
        del data
        assert temporary() == before

    def test_by_a_fit(self, real):
        gc.collect()
        before = temporary()
        KMeans(3, random_state=0).fit(suffice.scan_parquet(real, FEATURES, cache="disk"))
        gc.collect()
        assert temporary() == before

    def test_by_blocks_that_are_still_in_use(self):
        """A block outlives its store, and the file goes with the last of them."""
        gc.collect()
        before = temporary()
        store = OnDisk()
        store.put(0, BLOCKS["rows"])
        block = store.get(0)
        del store
        assert bits(block) == bits(BLOCKS["rows"])
        del block
        assert temporary() == before

    def test_by_a_process_that_is_killed(self, tmp_path):
        script = (
            "import numpy as np, time\n"
            "from suffice.core.blocks import Rows\n"
            "from suffice.engines.stores import OnDisk\n"
            "store = OnDisk(); store.put(0, Rows(np.zeros((1 << 16, 8)))); block = store.get(0)\n"
            "print(store, flush=True); time.sleep(60)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE
        )
        try:
            assert str(tmp_path) in process.stdout.readline().decode()
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(30)
            process.stdout.close()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cache", "words"),
    [
        (None, "cache=None: each pass reads the data again."),
        (
            "auto",
            "cache='auto': 11 blocks, 0.00107 GB, are read from memory, since they fit in the budget of ",
        ),
        ("memory", "cache='memory': 11 blocks, 0.00107 GB, are read from memory"),
        ("disk", "cache='disk': 11 blocks, 0.0011 GB, are read from a temporary file in "),
    ],
)
def test_which_one_ran_is_said_once_a_fit(cache, words, real, caplog):
    with caplog.at_level(logging.INFO, "suffice"):
        KMeans(3, random_state=0).fit(suffice.scan_parquet(real, FEATURES, cache=cache))
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(words)


def test_a_cache_that_is_none(real):
    with pytest.raises(ValueError, match="cache must be None, 'auto', 'memory' or 'disk'; got 'gpu'"):
        suffice.scan_parquet(real, cache="gpu")


def plus_one(block):
    return block.replace(X=block.X + 1.0)


def test_a_chain_of_persisted_maps_keeps_few_files(monkeypatch):
    """A state beside the rows is written again in each iteration: the files before are closed."""
    files = []

    class Counted(OnDisk):
        def __init__(self):
            super().__init__()
            files.append(self.file)

    monkeypatch.setattr(caches, "OnDisk", Counted)
    batches = [pa.record_batch({"x": np.arange(5.0)}), pa.record_batch({"x": np.arange(3.0)})]
    rows = open_rows(PCA(1), suffice.scan(lambda: batches), None, None)
    for n in range(1, 9):
        rows = rows.map(plus_one).persisted()
        assert rows.fold(total) == 13.0 + 8.0 * n
    gc.collect()
    assert len(files) == 8
    assert sum(not file.closed for file in files) <= 2
    assert rows.fold(total) == 13.0 + 64.0
