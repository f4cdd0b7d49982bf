"""Sums by key, which stay in shards: word-topic counts and rank vectors, on every engine that has them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import suffice
from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.engines import disk_sums
from suffice.engines.local import LocalPartitions, StoredPartitions
from suffice.engines.shards import SumsByKey, add_in_runs
from suffice.inputs import Check, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns

from ._common import bits, write

pytestmark = [
    pytest.mark.timeout(300, method="thread"),  # what a signal raises is lost inside ray.get
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]
CHECK = Check("Test", sparse=False, nan=False, positive=False, strings=False, target=None)


def here(tables, names):
    columns = Columns(DenseColumns(tuple(names)))
    return LocalPartitions(tuple(columns.block(CHECK, n, table) for n, table in enumerate(tables)))


def on_ray(tables, names):
    import ray

    return source_of(ray.data.from_arrow(tables)).partitions(Columns(DenseColumns(tuple(names))), CHECK)


def shards_of(sums):
    """All blocks, brought home, as only a test may."""
    return np.concatenate([sums.data.block(s).values for s in range(len(sums.starts) - 1)])


# Word-topic counts: one step of EM for PLSA, with p(word | topic) in shards.

WORDS, TOPICS, DOCUMENTS = 500, 4, 240
CORPUS = ["document", "word", "count"]


def corpus():
    """Blocks of whole documents: eleven of them, one of a single row and one without any."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(5, 60, DOCUMENTS)
    document = np.repeat(np.arange(DOCUMENTS), sizes)
    word = np.minimum((rng.pareto(0.8, len(document)) * 10).astype(int), WORDS - 1)
    count = rng.integers(1, 6, len(document))
    ends = np.searchsorted(document, [0, 20, 30, 90, 91, 91, 130, 150, 170, 200, 230, DOCUMENTS])
    columns = dict(zip(CORPUS, (document, word, count), strict=True))
    return [pa.table({name: column[a:b] for name, column in columns.items()}) for a, b in pairwise(ends)]


def start():
    rng = np.random.default_rng(4)
    return rng.dirichlet(np.ones(TOPICS), DOCUMENTS), rng.dirichlet(np.ones(WORDS), TOPICS).T


def expected_counts(mix, phi, rows):
    """Word, and the expected count of each topic, of the rows (document, word, count)."""
    document, word = rows.X[:, 0].astype(int), rows.X[:, 1].astype(int)
    joint = mix[document] * phi.take(word)
    return word, joint * (rows.X[:, 2] / joint.sum(axis=1))[:, None]


def step(data, mix, phi, shards):
    """The E step and the M step, without the matrix at home."""
    counts = data.fold_by_key(expected_counts, mix, phi, n_keys=WORDS, shards=shards)
    total = counts.fold(lambda shard: shard.values.sum(axis=0))
    return counts.map(lambda total, shard: shard.replace(values=shard.values / total), total)


def topics(data, shards):
    mix, phi = start()
    sharded = data.fold_by_key(first_rows, phi, n_keys=WORDS, shards=shards)
    for _ in range(3):
        sharded = step(data, mix, sharded, shards)
    return sharded


def first_rows(phi, rows):
    """A matrix in shards: each of its rows once, beside the first piece of the data."""
    n = WORDS if rows.index == (0, 0) else 0
    return np.arange(n), phi[:n]


def dense_topics():
    mix, phi = start()
    document, word, count = (pa.concat_tables(corpus())[name].to_numpy() for name in CORPUS)
    for _ in range(3):
        joint = mix[document] * phi[word]
        counts = np.zeros_like(phi)
        np.add.at(counts, word, joint * (count / joint.sum(axis=1))[:, None])
        phi = counts / counts.sum(axis=0)
    return phi


# Rank vectors: power iteration over edges, with the ranks in shards.

NODES, DAMPING = 700, 0.85
LINKS = ["source", "target"]


def links():
    """Blocks of links in no order; a fifth of the nodes have no link that leaves them."""
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, NODES * 4 // 5, 6000), rng.integers(0, NODES, 6000)
    cuts = [0, 900, 1000, 1001, 1001, 3000, 3300, 4400, 6000]
    return [pa.table({"source": source[a:b], "target": target[a:b]}) for a, b in pairwise(cuts)]


def out_degree(rows):
    return rows.X[:, 0].astype(int), np.ones(len(rows))


def pushed(ranks, degree, rows):
    """Each link carries the rank of its source, shared among the links of the source."""
    source, target = rows.X.astype(int).T
    return target, ranks.take(source) / degree.take(source)


def dangling(degree, shard):
    return shard.values[degree.take(shard.keys) == 0].sum()


def next_ranks(lost, shard):
    return shard.replace(values=DAMPING * (shard.values + lost / NODES) + (1 - DAMPING) / NODES)


def change(old, shard):
    return np.abs(shard.values - old.take(shard.keys)).sum()


def page_rank(data, shards, iterations=5):
    given = {"n_keys": NODES, "shards": shards}
    degree = data.fold_by_key(out_degree, **given)
    ranks = degree.map(lambda shard: shard.replace(values=np.full(len(shard), 1 / NODES)))
    for _ in range(iterations):
        lost = ranks.fold(dangling, degree)
        old, ranks = ranks, data.fold_by_key(pushed, ranks, degree, **given).map(next_ranks, lost)
        if ranks.fold(change, old) < 1e-14:
            break
    return ranks


def solved():
    source, target = (pa.concat_tables(links())[name].to_numpy() for name in LINKS)
    counts = sp.csc_array((np.ones(len(source)), (target, source)), shape=(NODES, NODES))
    degree = counts.sum(axis=0)
    moves = (counts / np.maximum(degree, 1)).toarray() + (degree == 0) / NODES
    return spsolve(sp.csc_array(np.eye(NODES) - DAMPING * moves), np.full(NODES, (1 - DAMPING) / NODES))


class TestProof:
    def test_word_topic_counts_are_those_of_a_dense_matrix(self):
        np.testing.assert_allclose(shards_of(topics(here(corpus(), CORPUS), 7)), dense_topics(), rtol=1e-12)

    def test_ranks_are_those_of_a_direct_solution(self):
        got = shards_of(page_rank(here(links(), LINKS), 7, iterations=200))
        assert got.sum() == pytest.approx(1.0, abs=1e-13)
        np.testing.assert_allclose(got, solved(), rtol=0, atol=1e-12 / NODES)

    @pytest.mark.parametrize("way", ["topics", "ranks"])
    @pytest.mark.parametrize("shards", [1, 7, 64])
    @pytest.mark.parametrize("n_threads", [1, 2, 5])
    def test_same_bits_by_any_threads(self, way, shards, n_threads):
        run, data = ways(way)
        with suffice.threads(n_threads):
            assert bits(shards_of(run(here(*data), shards))) == bits(reference(way, shards))

    def test_same_bits_in_any_shards(self):
        mix, phi = start()
        data = here(corpus(), CORPUS)
        phi = data.fold_by_key(first_rows, phi, n_keys=WORDS, shards=3)
        one, *others = (
            shards_of(data.fold_by_key(expected_counts, mix, phi, n_keys=WORDS, shards=n))
            for n in (1, 2, 7, WORDS)
        )
        assert all(bits(other) == bits(one) for other in others)

    @pytest.mark.parametrize("way", ["topics", "ranks"])
    def test_same_bits_from_temporary_files(self, way, monkeypatch):
        monkeypatch.setattr(disk_sums, "SPILL_BYTES", 1)
        run, data = ways(way)
        got = run(here(*data), 7)
        assert isinstance(got.data, StoredPartitions)
        assert bits(shards_of(got)) == bits(reference(way, 7))

    @pytest.mark.parametrize("way", ["topics", "ranks"])
    def test_same_bits_from_parquet(self, way, tmp_path):
        run, (tables, names) = ways(way)
        tables = [table for table in tables if len(table)]
        scan = suffice.scan_parquet(write(tmp_path, tables))
        data = source_of(scan).partitions(Columns(DenseColumns(tuple(names))), CHECK)
        assert bits(shards_of(run(data, 7))) == bits(shards_of(run(here(tables, names), 7)))

    @pytest.mark.parametrize("way", ["topics", "ranks"])
    @pytest.mark.parametrize(("shards", "length", "parts"), [(1, 1, 8), (7, 2, 2), (7, 4, 8)])
    def test_same_bits_on_ray(self, way, shards, length, parts, cluster, monkeypatch):
        from suffice.engines import ray as engine

        monkeypatch.setattr(engine, "RUN", length)
        monkeypatch.setattr(engine, "PARTS", parts)
        run, data = ways(way)
        assert bits(shards_of(run(on_ray(*data), shards))) == bits(reference(way, shards))


def ways(way):
    return {"topics": (topics, (corpus(), CORPUS)), "ranks": (page_rank, (links(), LINKS))}[way]


@cache
def reference(way, shards):
    """On one thread. Sums by key do not depend on the shards, but what is folded over the shards does."""
    run, data = ways(way)
    with suffice.threads(1):
        return shards_of(run(here(*data), shards))


class TestFaults:
    def test_a_worker_killed_in_the_middle(self, cluster, monkeypatch, tmp_path):
        from suffice.engines import ray as engine

        monkeypatch.setattr(engine, "RUN", 2)
        marker = tmp_path / "pid"

        def waits(marker, ranks, degree, rows):
            """The first time it comes to block 4 it says who it is, and waits to be killed."""
            if rows.index[0] == 4 and not marker.exists():
                part = marker.with_suffix(".part")
                part.write_text(str(os.getpid()))
                part.rename(marker)
                time.sleep(120)
            return pushed(ranks, degree, rows)

        killed = []

        def kill():
            while not marker.exists():
                time.sleep(0.01)
            killed.append(int(marker.read_text()))
            os.kill(killed[0], signal.SIGKILL)

        def push(data, f):
            degree = data.fold_by_key(out_degree, n_keys=NODES, shards=5)
            return shards_of(data.fold_by_key(f, degree, degree, n_keys=NODES, shards=5))

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        got = push(on_ray(links(), LINKS), partial(waits, marker))
        thread.join(10)
        assert killed and not psutil.pid_exists(killed[0])
        assert bits(got) == bits(push(here(links(), LINKS), pushed))

    def test_an_error_is_raised_as_itself_and_names_the_block(self, cluster):
        def wrong(rows):
            if rows.index[0] == 4:
                raise ZeroDivisionError("none")
            return out_degree(rows)

        for data in (here(links(), LINKS), on_ray(links(), LINKS)):
            with pytest.raises(ZeroDivisionError, match="none") as caught:
                data.fold_by_key(wrong, n_keys=NODES, shards=3)
            assert any("block 4" in note for note in caught.value.__notes__)


class TestRefusals:
    data = LocalPartitions((Rows(np.arange(12.0).reshape(6, 2)),))

    @pytest.mark.parametrize(
        ("f", "error", "words"),
        [
            (lambda rows: (rows.X[:, 0], rows.X), TypeError, r"astype\(np.int64\)"),
            (lambda rows: (rows.X.astype(int), rows.X), TypeError, "list of integers"),
            (
                lambda rows: (rows.X[:, 0].astype(int), rows.X),
                ValueError,
                "0 to 10, expected 0 to 8 with n_keys=9",
            ),
            (lambda rows: (rows.X[:, 0].astype(int) - 3, rows.X), ValueError, "from -3 to 7"),
            (lambda rows: (np.zeros(2, int), rows.X), ValueError, "2 keys and 6 values"),
            (lambda rows: rows.X, TypeError, "expected keys, values"),
        ],
    )
    def test_rows_that_are_no_rows_by_key(self, f, error, words):
        with pytest.raises(error, match=words) as caught:
            self.data.fold_by_key(f, n_keys=9, shards=2)
        assert "In block 0" in caught.value.__notes__[0]

    @pytest.mark.parametrize("shards", [0, 10])
    def test_shards_that_cannot_be(self, shards):
        with pytest.raises(ValueError, match="expected 1 to 65536 shards"):
            self.data.fold_by_key(out_degree, n_keys=9, shards=shards)

    def test_keys_that_are_not_there(self):
        sums = self.data.fold_by_key(out_degree, n_keys=11, shards=2)
        with pytest.raises(ValueError, match="from 3 to 11, expected 0 to 10 with n_keys=11"):
            sums.take([3, 11])

    def test_what_a_map_took_the_keys_from(self):
        sums = self.data.fold_by_key(out_degree, n_keys=11, shards=2).map(len)
        with pytest.raises(TypeError, match=r"Shard 1 was mapped to a int.*shard.replace"):
            sums.take([7])


class TestSums:
    """By key, beside `np.add.at`."""

    @pytest.mark.parametrize("n_keys", [5, 300, 1 << 40, (1 << 61) + 1])
    @pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 2)])
    def test_of_rows_in_any_order(self, n_keys, shape):
        rng = np.random.default_rng(0)
        keys = rng.integers(0, n_keys, 2000)
        keys[:200] = keys[200:400]
        values = rng.normal(size=(2000, *shape))
        known = np.unique(keys)
        expected = np.zeros((len(known), *shape))
        np.add.at(expected, np.searchsorted(known, keys), values)
        cut = [0, 1, 1, 700, 701, 1500, 2000]
        terms = [SumsByKey.of(keys[a:b], values[a:b], n_keys) for a, b in pairwise(cut)]
        whole = SumsByKey.of(keys, values, n_keys)
        assert np.array_equal(whole.keys, known) and bits(whole.values) == bits(expected)
        total = tree_sum(terms)
        at = np.searchsorted(total.keys, known)
        np.testing.assert_allclose(total.values[at], expected, rtol=1e-12, atol=1e-13)
        assert not np.delete(total.values, at, axis=0).any()

    def test_zeros_have_no_sign(self):
        data = LocalPartitions((Rows(np.zeros((4, 1))),))
        sums = data.fold_by_key(lambda rows: (np.arange(4), np.full(4, -0.0)), n_keys=6, shards=2)
        assert not np.signbit(shards_of(sums)).any()

    @pytest.mark.parametrize("n", range(1, 40))
    @pytest.mark.parametrize("length", [2, 4, 8])
    def test_runs_of_terms_are_added_in_the_order_of_the_tree(self, n, length):
        def joined(terms):
            return tree_sum(terms, add=lambda a, b: f"({a} {b})")

        terms = [str(i) for i in range(n)]
        assert add_in_runs(terms, length, joined) == joined(terms)

    def test_taken_in_any_order_and_again(self):
        data = LocalPartitions((Rows(np.arange(20.0)[:, None]),))
        sums = data.fold_by_key(
            lambda rows: (rows.X[:, 0].astype(int), rows.X[:, 0] ** 2), n_keys=20, shards=6
        )
        keys = np.array([19, 0, 7, 7, 3, 12, 0], np.uint8)
        assert sums.take(keys).tolist() == (keys.astype(float) ** 2).tolist()
        assert sums.take(np.arange(20)).tolist() == (np.arange(20.0) ** 2).tolist()
        assert sums.take(np.zeros(0, int)).shape == (0,)
        sums.take([1])[:] = 5.0
        assert sums.take([1]).tolist() == [1.0]


class TestMemory:
    @pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.slow)])
    def test_the_sums_are_not_at_home(self, engine):
        """Sums of 200 MB, mapped, taken from and folded. Locally a thread has a shard of 6 MB in hand, and
        what it adds to it. What is freed goes back to the system at once, so only what is held counts."""
        if engine == "ray":
            pytest.importorskip("ray")
        command = [sys.executable, str(Path(__file__).parent / "_sums_by_key.py"), engine]
        env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
        out = subprocess.run(command, check=True, capture_output=True, timeout=250, env=env).stdout.decode()
        found = json.loads(out.splitlines()[-1])
        assert found["off"] < 1e-12
        assert found["megabytes"] < 60
