"""Sequences from Parquet and Ray: whole in every block, wherever files, row groups and blocks are cut."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core import blocks as core_blocks
from suffice.core.blocks import Sequences, offsets
from suffice.engines.local import LocalPartitions
from suffice.inputs import open_sequences, parquet
from suffice.sequence import HiddenMarkovModel
from suffice.sequence.base import SequenceEstimator

from ._common import ENGINES, bits, made, public_estimators

pytestmark = [
    pytest.mark.timeout(180, method="thread"),  # what a signal raises is lost inside ray.get
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]
LENGTHS = (3, 1, 900, 20, 400, 1, 1, 55, 600, 7, 300, 40, 2)
NAMES = [f"{(7 * s) % 13}-s" for s in range(13)]  # which are not sorted


def table(kind="strings"):
    """Steps of a chain of two states, in thirteen sequences."""
    rng = np.random.default_rng(5)
    N = sum(LENGTHS)
    state = (rng.random(N) < 0.1).cumsum() % 2
    X = rng.normal(size=(N, 2)) + 3.0 * state[:, None]
    number = {"strings": NAMES, "numbers": np.arange(13) * (-1) ** np.arange(13)}[kind]
    return pa.table(
        {
            "other": rng.random(N),
            "id": np.repeat(np.array(number), LENGTHS),
            "t": np.concatenate([np.arange(n) for n in LENGTHS]),
            "a": X[:, 0],
            "b": X[:, 1].astype(np.float32),
            "w": np.repeat(rng.gamma(2.0, size=13), LENGTHS),
            "y": state,
            "kind": np.repeat(np.arange(13) % 2, LENGTHS),
        }
    )


def pieces(t, sizes):
    """The table cut at will; sizes that are used up begin again."""
    out, start, n = [], 0, 0
    while start < len(t):
        out.append(t.slice(start, sizes[n % len(sizes)]))
        start, n = start + sizes[n % len(sizes)], n + 1
    return out


def described(source, **more):
    return suffice.sequences(source, sequence="id", order="t", features=["a", "b"], weight="w", **more)


def products(block):
    """Of neighbours in a sequence, and how it begins and ends: any cut within one would show."""
    total = np.zeros(5)
    for s, (i, j) in enumerate(pairwise(block.offset)):
        X = block.X[i:j]
        lagged = (X[1:, 0] * X[:-1, 1]).sum()
        total += block.weight[s] * np.array([lagged, X[0, 0], X[-1, 1], np.sin(j - i), 1.0])
    return total


def expected():
    t = table()
    X, offset = np.column_stack([t["a"], t["b"]]), offsets(LENGTHS)
    return products(Sequences(X, offset, None, t["w"].to_numpy()[offset[:-1]]))


def opened(source, **more):
    return open_sequences(SequenceEstimator(), described(source, **more))


def seen(data):
    """The blocks as they come."""
    with suffice.threads(1):
        found = []
        data.fold(lambda block: found.append(block) or 0.0)
    return [block for block in found if len(block)]  # a fold asks first what nothing sums to


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 256 rows, so that a small table has many."""
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 8)
    monkeypatch.setattr(core_blocks, "BLOCK_BYTES", 8)


MODEL = HiddenMarkovModel(2, random_state=0, max_iter=4, tol=0.0)


def learnt(source, *given, **more):
    with pytest.warns(ConvergenceWarning):
        return clone(MODEL).fit(source, *given, **more)


EVERY = {cls.__name__: cls for cls in public_estimators("sequences")}


def each_on(engine):
    """One estimator of sequences on each engine; the others, which sum in the same way, on one, in turn."""
    one = "HiddenMarkovModel"
    others = [name for name in EVERY if name != one][ENGINES.index(engine) :: len(ENGINES)]
    return pytest.mark.parametrize(
        "name", [one, *(pytest.param(name, marks=pytest.mark.slow) for name in others)]
    )


def assert_learns_the_same(cls, source):
    """To rounding, wherever the sequences are; or it says that they must be in memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        target = "kind" if getattr(cls, "labels", "steps") == "sequences" else "y"
        here = made(cls).fit(described(table(), target=target))
        try:
            there = made(cls).fit(described(source, target=target))
        except TypeError as refused:
            assert "in memory" in str(refused)
            return
    if not hasattr(here, "trace_"):  # which only counts
        assert bits(there.statistics_) == bits(here.statistics_)
        return
    np.testing.assert_allclose(there.trace_, here.trace_, rtol=1e-10)
    given = described(table().take(np.arange(1500)))
    assert (there.predict(given) == here.predict(given)).all()


LAYOUTS = {
    "one file": ([10_000], 10_000),
    "halves": ([1200], 500),
    "small row groups": ([10_000], 17),
    "many files": ([130, 1, 700, 64], 50),
    "tiny row groups": ([1000], 9),
    "as the blocks": ([256], 256),
}


def write(folder, layout, **options):
    sizes, group = LAYOUTS[layout]
    for n, part in enumerate(pieces(table(), sizes)):
        pq.write_table(part, folder / f"{n:03}.parquet", row_group_size=group)
    return suffice.scan_parquet(folder, **options)


class TestParquet:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_blocks_are_those_in_memory_whatever_the_files_are(self, layout, tmp_path, small_blocks):
        here = open_sequences(SequenceEstimator(), described(table(), target="y")).blocks
        data = opened(write(tmp_path, layout, cache=None), target="y")
        assert len(here) > 3
        there = [parquet._block(*data.steps[0][1], numbered) for numbered in data.blocks]
        assert len(there) == len(here)
        for a, b in zip(there, here, strict=True):
            assert a.index == b.index
            for name in ("X", "offset", "weight", "y"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        np.testing.assert_allclose(data.fold(products), expected(), rtol=1e-12)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_a_model_has_the_bits_of_memory(self, layout, tmp_path, small_blocks):
        there = learnt(described(write(tmp_path, layout)))
        assert bits(there) == bits(learnt(described(table())))

    def test_a_model_of_other_blocks_is_equal_to_rounding(self, tmp_path, monkeypatch):
        """Two features make blocks of 256 rows here and one of all rows there."""
        start = learnt(described(table())).model_
        again = clone(MODEL).set_params(init_params=start)
        with pytest.warns(ConvergenceWarning):
            whole = clone(again).fit(described(table()))
            monkeypatch.setattr(parquet, "BLOCK_BYTES", 8)
            cut = clone(again).fit(described(write(tmp_path, "many files")))
        np.testing.assert_allclose(cut.trace_, whole.trace_, rtol=1e-10)
        np.testing.assert_allclose(cut.model_.transition, whole.model_.transition, rtol=1e-10)

    @pytest.mark.parametrize("name", EVERY)
    def test_every_estimator(self, name, tmp_path, small_blocks):
        assert_learns_the_same(EVERY[name], write(tmp_path, "many files"))

    def test_blocks_are_as_large_as_those_in_memory(self, tmp_path):
        N, D = 100_000, 4
        columns = {f"x{d}": np.zeros(N, np.float32) for d in range(D)} | {"id": np.arange(N) // 1000}
        pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=30_000)
        scan = suffice.scan_parquet(tmp_path, cache=None)
        data, here = (
            open_sequences(SequenceEstimator(), suffice.sequences(source, sequence="id"))
            for source in (scan, pa.table(columns))
        )
        sizes = [batch.num_rows for _, batch in data.blocks]
        assert sizes == [block.X.shape[0] for block in here.blocks] and len(sizes) > 2

    def test_a_sequence_longer_than_a_block_is_one(self, tmp_path, small_blocks):
        t = table().slice(3 + 1 + 900 + 20, 400)
        for n, part in enumerate(pieces(t, [90])):
            pq.write_table(part, tmp_path / f"{n}.parquet", row_group_size=11)
        (block,) = seen(opened(suffice.scan_parquet(tmp_path)))
        assert block.lengths.tolist() == [400]

    @pytest.mark.parametrize("kind", ["strings", "numbers"])
    @pytest.mark.parametrize("apart", [True, False])
    def test_an_id_that_comes_back_is_named(self, kind, apart, tmp_path, small_blocks):
        t = table(kind)
        back = t.slice(5, 40) if apart else t.slice(3 + 1 + 900 + 20, 1)  # far away, and of the neighbour
        where = 1988 if apart else 3 + 1 + 900
        t = pa.concat_tables([t.slice(0, where), back, t.slice(where)])
        pq.write_table(t.slice(0, 1500), tmp_path / "1.parquet", row_group_size=100)
        pq.write_table(t.slice(1500), tmp_path / "2.parquet", row_group_size=100)
        name = back["id"][0].as_py()
        with pytest.raises(
            ValueError, match=rf"sequence {name!r} are not contiguous: sort the rows by sequence, then"
        ):
            seen(opened(suffice.scan_parquet(tmp_path)))

    def test_rows_of_a_sequence_are_sorted_by_order(self, tmp_path, small_blocks):
        rng = np.random.default_rng(0)
        starts = np.concatenate([[0], np.cumsum(LENGTHS)])
        mixed = table().take(np.concatenate([a + rng.permutation(b - a) for a, b in pairwise(starts)]))
        pq.write_table(mixed, tmp_path / "x.parquet", row_group_size=70)
        scan = suffice.scan_parquet(tmp_path)
        assert bits(opened(scan).fold(products)) == bits(opened(table()).fold(products))
        unsorted = suffice.sequences(scan, sequence="id", features=["a", "b"], weight="w")
        assert bits(open_sequences(SequenceEstimator(), unsorted).fold(products)) != bits(
            opened(table()).fold(products)
        )

    def test_ids_may_be_in_dictionaries_and_change_type(self, tmp_path, small_blocks):
        t = table("numbers")
        pq.write_table(t.slice(0, 600), tmp_path / "1.parquet")
        wide = t.slice(600, 700).set_column(1, "id", t["id"].slice(600, 700).cast(pa.float64()))
        pq.write_table(wide, tmp_path / "2.parquet")
        less = t.slice(1300).set_column(1, "id", t["id"].slice(1300).cast(pa.int32()))
        pq.write_table(less, tmp_path / "3.parquet")
        np.testing.assert_allclose(
            opened(suffice.scan_parquet(tmp_path)).fold(products), expected(), rtol=1e-12
        )
        words = table().set_column(1, "id", table()["id"].dictionary_encode())
        for n, part in enumerate(pieces(words, [500])):
            pq.write_table(part, tmp_path / f"{n + 1}.parquet")
        np.testing.assert_allclose(
            opened(suffice.scan_parquet(tmp_path)).fold(products), expected(), rtol=1e-12
        )

    def test_empty_files_change_nothing(self, tmp_path, small_blocks):
        scan = write(tmp_path, "many files")
        some = opened(scan).fold(products)
        pq.write_table(table().slice(0, 0), tmp_path / "001-empty.parquet")
        assert bits(opened(suffice.scan_parquet(tmp_path)).fold(products)) == bits(some)

    def test_any_number_of_threads(self, tmp_path, small_blocks):
        data = opened(write(tmp_path, "small row groups"))
        answers = set()
        for n in (1, 2, 4):
            with suffice.threads(n):
                answers.add(data.fold(products).tobytes())
        assert len(answers) == 1


def without(column, missing):
    """Six rows, of which one lacks its id or its place; and what is said of it."""
    values = [float(v) for v in range(6)]
    values[4] = missing
    columns = {"id": np.arange(6.0), "t": np.arange(6.0), "a": np.zeros(6), "b": np.zeros(6), "w": np.ones(6)}
    what = "name the sequence of every row" if column == "id" else "order every row"
    said = rf"The column '{column}' has missing values: it must {what}"
    return pa.table(columns | {column: pa.array(values, pa.float64())}), said


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("column", ["id", "t"])
def test_rows_without_an_id_or_a_place_are_refused(column, missing, tmp_path):
    t, said = without(column, missing)
    pq.write_table(t, tmp_path / "x.parquet", row_group_size=2)
    with pytest.raises(ValueError, match=said):
        opened(suffice.scan_parquet(tmp_path)).fold(products)


def whole_blocks(blocks):
    """By hand: the rows of a sequence go to the block in which it begins."""
    out, home = [], {}
    for n, block in enumerate(blocks):
        for name in block["id"].to_pylist():
            home.setdefault(name, n)
    t = pa.concat_tables(blocks)
    mine = np.array([home[name] for name in t["id"].to_pylist()])
    for n in range(len(blocks)):
        out.append(t.filter(pa.array(mine == n)))
    return out


CUTS = {
    "whole": [904, 20, 400, 57, 600, 349],
    "small": [64],
    "uneven": [1, 2, 1, 300, 700, 5, 0, 0, 90, 333],
    "one": [10_000],
}


class TestRay:
    @pytest.fixture(autouse=True)
    def engine(self):
        pytest.importorskip("ray")
        return pytest.importorskip("suffice.engines.ray")

    def blocks(self, cut):
        """Slices of zero rows too: Ray hands out empty blocks."""
        sizes, t = CUTS[cut], table()
        bounds = np.concatenate([[0], np.cumsum(sizes * (1 + len(t) // max(1, sum(sizes))))])
        cuts = [t.slice(a, b - a) for a, b in pairwise(bounds) if a < len(t)]
        assert sum(map(len, cuts)) == len(t)
        return cuts

    def local(self, blocks):
        tables = whole_blocks(blocks)
        data = opened(table())
        check = suffice.inputs.Check.of(SequenceEstimator())
        columns = described(table()).columns(table().column_names)
        assert isinstance(data, LocalPartitions)
        return LocalPartitions(tuple(columns.block(check, n, t) for n, t in enumerate(tables)))

    @pytest.mark.parametrize("cut", CUTS)
    def test_same_bits_as_whole_sequences_here(self, cut, cluster, engine, monkeypatch):
        import ray.data

        blocks = self.blocks(cut)
        here = self.local(blocks).fold(products)
        np.testing.assert_allclose(here, expected(), rtol=1e-12)
        for run in (None,) if cluster == 1 else (1, 2, 8):
            monkeypatch.setattr(engine, "RUN", run)
            data = opened(ray.data.from_arrow(blocks))
            assert isinstance(data, engine.RayPartitions)
            assert bits(data.fold(products)) == bits(here), run

    @pytest.mark.parametrize("cut", ["small", "uneven"])
    def test_a_model_of_other_blocks_is_equal_to_rounding(self, cut, cluster):
        import ray.data

        start = clone(MODEL).set_params(init_params=learnt(described(table())).model_)
        with pytest.warns(ConvergenceWarning):
            here = clone(start).fit(described(table()))
            there = clone(start).fit(described(ray.data.from_arrow(self.blocks(cut))))
        np.testing.assert_allclose(there.trace_, here.trace_, rtol=1e-10)
        np.testing.assert_allclose(there.model_.transition, here.model_.transition, rtol=1e-10)
        np.testing.assert_allclose(there.model_.emission.mean, here.model_.emission.mean, rtol=1e-10)

    @each_on("ray")
    def test_every_estimator(self, name, cluster):
        import ray.data

        assert_learns_the_same(EVERY[name], ray.data.from_arrow(self.blocks("uneven")))

    def test_a_model_has_the_same_bits_from_any_number_of_workers(
        self, cluster, engine, monkeypatch, answers
    ):
        import ray.data

        for run in (1, 4):
            monkeypatch.setattr(engine, "RUN", run)
            found = learnt(described(ray.data.from_arrow(self.blocks("small"))))
            assert bits(found) == answers.setdefault("model", bits(found))

    @pytest.mark.parametrize("apart", [True, False])
    def test_an_id_that_comes_back_is_named(self, apart, cluster):
        import ray.data

        t = table()
        back, where = (t.slice(5, 40), 1988) if apart else (t.slice(3 + 1 + 900 + 20, 1), 3 + 1 + 900)
        t = pa.concat_tables([t.slice(0, where), back, t.slice(where)])
        for sizes in ([64], [10_000]):
            with pytest.raises(ValueError, match=rf"sequence '{back['id'][0]}' are not contiguous: sort"):
                opened(ray.data.from_arrow(pieces(t, sizes)))

    @pytest.mark.parametrize("missing", [None, np.nan])
    @pytest.mark.parametrize("column", ["id", "t"])
    def test_rows_without_an_id_or_a_place_are_refused(self, column, missing, cluster):
        import ray.data

        t, said = without(column, missing)
        with pytest.raises(ValueError, match=said):
            opened(ray.data.from_arrow([t.slice(0, 3), t.slice(3)])).fold(products)

    def test_what_is_read_on_the_way(self, cluster, tmp_path):
        """A Dataset that is not there yet, and columns that are not asked for."""
        import ray.data

        write(tmp_path, "halves")
        source = ray.data.read_parquet(str(tmp_path))
        np.testing.assert_allclose(opened(source).fold(products), expected(), rtol=1e-12)

    def test_a_head_that_is_sent_is_no_larger_than_its_rows(self, cluster):
        import ray

        from suffice.inputs.ray import _head

        t = pa.table({"a": np.arange(1e6), "b": np.arange(1e6)})
        head = ray.get(_head.remote(["a"], 10, ray.put(t)))
        assert head["a"].to_pylist() == list(range(10))
        assert sum(b.size for c in head["a"].chunks for b in c.buffers() if b) < 10_000


SCRIPT = """
import json, sys, tracemalloc, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
import pyarrow as pa
import sequences_out_of_core as bench

found = []
for name, steps in (("small", 20_000), ("some", 100_000), ("more", 300_000)):
    folder = Path(sys.argv[2]) / name
    folder.mkdir()
    bench.make(folder, steps, group=1 << 15)
    pa.default_memory_pool().release_unused()
    resident = []
    tracemalloc.start()
    with bench.growth(resident):
        bench.BaumWelch(folder).streamed()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    found.append((held / 1e6, resident[0]))
print(json.dumps(found))
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_files(tmp_path):
    """Three times the steps take no more: 300,000 are 10 MB as float64, with their ids."""
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[2] / "benchmarks"), str(tmp_path)]
    _, some, more = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=170).stdout)
    assert more[0] < some[0] + 2 and more[0] < 8
    assert more[1] < 60


@pytest.fixture(scope="module")
def answers():
    """What the first said, for others to be compared with."""
    return {}
