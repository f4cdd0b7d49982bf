"""Files and streams that change between the passes of a fit are noticed, and page checksums are verified."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import suffice
from suffice.cluster import KMeans
from suffice.core.blocks import Edges, Rows, Sequences
from suffice.core.hashing import checksum
from suffice.inputs import open_rows, parquet
from suffice.naive_bayes import MixedNB

ROWS = 3000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few hundred rows, so that a small table has many."""
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 1 << 14)


def table(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {"a": rng.normal(size=rows).round(3), "b": rng.integers(0, 9, rows), "c": rng.random(rows)}
    )


def with_column(t, name, values):
    return t.set_column(t.schema.get_field_index(name), name, pa.array(values, t.schema.field(name).type))


def one_value(t):
    a = t["a"].to_numpy().copy()
    a[ROWS // 2] += 0.001
    return with_column(t, "a", a)


def two_values_swapped(t):
    """All statistics in the footer stay as they are."""
    b = t["b"].to_numpy().copy()
    i, j = 17, int(np.flatnonzero((b != b[17]) & (np.arange(len(b)) > 40))[0])
    b[[i, j]] = b[[j, i]]
    return with_column(t, "b", b)


CHANGES = {
    "one value": one_value,
    "two values swapped": two_values_swapped,
    "a column sorted": lambda t: with_column(t, "a", np.sort(t["a"].to_numpy())),
    "a column negated": lambda t: with_column(t, "a", -t["a"].to_numpy()),
    "rows in another order": lambda t: t.take(np.random.default_rng(1).permutation(len(t))),
    "the last rows removed": lambda t: t.slice(0, ROWS - 5),
    "the first row removed": lambda t: t.slice(1),
    "half of the rows": lambda t: t.slice(0, ROWS // 2),
    "a row appended": lambda t: pa.concat_tables([t, t.slice(0, 1)]),
    "other rows": lambda t: table(seed=1),
    "a value missing": lambda t: with_column(
        t, "a", pa.array(t["a"].to_numpy(), mask=np.arange(len(t)) == 9)
    ),
}
WRITERS = {
    "default": {},
    "plain": {"compression": "none", "use_dictionary": False, "write_statistics": False},
    "row groups": {"row_group_size": 700, "compression": "zstd"},
}


def write(t, path, how, restore=None):
    """In place; with the time that the file had before, if that is asked for."""
    pq.write_table(t, path, **WRITERS[how])
    if restore is not None:
        os.utime(path, ns=(restore.st_atime_ns, restore.st_mtime_ns))


def total(rows):
    X = np.nan_to_num(rows.X)
    return X.sum(axis=0)


def opened(folder, columns=("a", "b", "c"), cache=None):
    scan = suffice.scan_parquet(folder, columns, cache=cache)
    return open_rows(MixedNB(), suffice.rows(scan, target="b"))


TRIALS = [
    pytest.param(change, writer, at, id=f"{change}-{writer}-{at}", marks=[] if at == 1 else pytest.mark.slow)
    for n, change in enumerate(CHANGES)
    for at, writer in zip((1, 2, 3), np.roll(list(WRITERS), n).tolist(), strict=True)
]


@pytest.mark.parametrize("restored", [False, True])
@pytest.mark.parametrize(("change", "writer", "at"), TRIALS)
def test_a_file_that_changes_between_passes_is_noticed(change, writer, at, restored, tmp_path):
    """33 trials: each change after one, two or three passes; and again with the time of the file restored."""
    for n in range(3):
        write(table(), tmp_path / f"part-{n}.parquet", writer)
    path = tmp_path / "part-1.parquet"
    before = path.stat()
    data = opened(tmp_path)
    for _ in range(at):
        data.fold(total)
    write(CHANGES[change](table()), path, writer, before if restored else None)
    with pytest.raises(ValueError, match=r"(?s)changed.*scan_parquet\(\.\.\., cache='disk'\)"):
        data.fold(total)


def test_the_error_names_the_file_and_what_changed(tmp_path):
    path, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    plain = with_column(table(), "a", np.arange(float(ROWS)))
    plainly = {"compression": "none", "use_dictionary": False}
    later = with_column(table(), "a", np.arange(1.0, ROWS + 1.0))
    changes = {
        "it had 3000 rows in the first pass, and has 10 now": lambda: write(table(10), other, "default"),
        "bytes in the first pass": lambda: write(plain, other, "row groups"),
        "other statistics": lambda: pq.write_table(later, other, **plainly),
        "another time of modification": lambda: os.utime(other, ns=(0, 0)),
        "another time of change": lambda: other.chmod(0o600),
    }
    for words, change in changes.items():
        pq.write_table(plain, path, **plainly)
        pq.write_table(plain, other, **plainly)
        data = opened(tmp_path)
        data.fold(total)
        change()
        with pytest.raises(ValueError, match=rf"b\.parquet changed: .*{words}.*cache='disk'"):
            data.fold(total)


def test_a_fit_whose_file_changes_says_so(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    write(table(), path, "default")
    read, passes = parquet.Batches.__iter__, []

    def changing(self):
        passes.append(self)
        if len(passes) == 3:
            write(two_values_swapped(table()), path, "default", path.stat())
        return read(self)

    monkeypatch.setattr(parquet.Batches, "__iter__", changing)
    with pytest.raises(ValueError, match="changed"):
        KMeans(2, random_state=0).fit(suffice.scan_parquet(path, cache=None))
    assert len(passes) == 3


@pytest.mark.parametrize("how", ["rewritten", "truncated"])
def test_a_file_that_changes_while_it_is_read_is_noticed(how, tmp_path):
    path = tmp_path / "a.parquet"
    t = pa.concat_tables([table()] * 30)
    pq.write_table(t, path, row_group_size=1000, compression="none")
    batches = iter(parquet.Batches(suffice.scan_parquet(path), ("a", "b", "c"), 256))
    next(batches)
    if how == "truncated":
        os.truncate(path, path.stat().st_size // 3)
    else:
        pq.write_table(with_column(t, "a", -t["a"].to_numpy()), path, row_group_size=1000)
    with pytest.raises(ValueError, match=r"a\.parquet changed.*when it was opened"):
        list(batches)


def test_a_file_that_is_replaced_while_it_is_read_is_read_to_its_end(tmp_path):
    """A rename puts another file in its place, and a reader keeps the one that it has opened."""
    path = tmp_path / "a.parquet"
    write(table(), path, "row groups")
    data = opened(path)
    expected = data.fold(total)
    read = parquet.Batches(suffice.scan_parquet(path), ("a", "b", "c"), 256)
    batches = iter(read)
    rows = [next(batches)]
    write(table(seed=1), tmp_path / "new", "row groups")
    (tmp_path / "new").rename(path)
    rows += batches
    assert np.allclose(sum(batch["a"].to_numpy().sum() for _, batch in rows), expected[0])
    for again in (data.fold, lambda f: list(read)):  # but later passes meet the other
        with pytest.raises(ValueError, match="changed"):
            again(total)


def test_a_file_that_is_replaced_while_it_is_opened_is_noticed(tmp_path, monkeypatch):
    path, other, opener = tmp_path / "a.parquet", tmp_path / "other", pa.OSFile
    pq.write_table(table(), path)
    scan = suffice.scan_parquet(path)

    def replaced(name):
        pq.write_table(table(), other)
        other.replace(path)
        return opener(name)

    monkeypatch.setattr(pa, "OSFile", replaced)
    with pytest.raises(ValueError, match=r"a\.parquet changed: another file took its place"):
        KMeans(2, random_state=0).fit(scan)


def test_a_file_that_is_removed_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    write(table(), path, "default")
    data = opened(path)
    data.fold(total)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.parquet"):
        data.fold(total)


@pytest.mark.parametrize("cache", ["memory", "disk"])
def test_a_cache_reads_once_and_so_sees_no_change(cache, tmp_path):
    path = tmp_path / "a.parquet"
    write(table(), path, "default")
    data = opened(path, cache=cache)
    first = data.fold(total)
    write(table(seed=1), path, "default")
    assert (data.fold(total) == first).all()


def test_another_fit_may_read_other_data(tmp_path):
    path = tmp_path / "a.parquet"
    write(table(), path, "default")
    scan = suffice.scan_parquet(path)
    one = KMeans(2, random_state=0).fit(scan)
    write(table(seed=1), path, "default")
    two = KMeans(2, random_state=0).fit(scan)
    assert (one.cluster_centers_ != two.cluster_centers_).any()


# --- streams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", CHANGES)
def test_a_stream_that_changes_between_passes_is_noticed(change):
    passes = iter([table(), table(), CHANGES[change](table())])
    scan = suffice.scan(lambda: next(passes), ["a", "b", "c"], cache=None)
    data = open_rows(MixedNB(), suffice.rows(scan, target="b"))
    data.fold(total)
    data.fold(total)
    with pytest.raises(ValueError, match=r"first pass.*ORDER BY"):
        data.fold(total)


def test_words_and_missing_values_are_compared_too():
    words = np.array(["yes", "no", None, "perhaps"], dtype=object)[np.arange(600) % 4]
    other = words.copy()
    other[[1, 3]] = other[[3, 1]]
    tables = [pa.table({"word": w, "x": np.arange(600.0), "y": np.arange(600) % 2}) for w in (words, other)]
    for last, fails in ((tables[0], False), (tables[1], True)):
        passes = iter([tables[0], tables[0], last])
        scan = suffice.scan(lambda passes=passes: next(passes), ["word", "x", "y"], cache=None)
        data = open_rows(MixedNB(), suffice.rows(scan, target="y"))
        for _ in range(2):
            data.fold(len)
        if fails:
            with pytest.raises(ValueError, match="first pass"):
                data.fold(len)
        else:
            data.fold(len)


def test_a_checksum_is_of_all_values_and_of_their_places():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(500, 3)), rng.integers(0, 2, 500), rng.random(500)
    mixed = X.astype(object)
    mixed[:, 1] = np.array(["a", "b", None, np.nan, -1, -2], dtype=object)[np.arange(500) % 6]
    sparse = sp.csr_array(np.where(X > 0, X, 0.0))
    offset = np.array([0, 5, 500])
    blocks = [
        Rows(X, y, weight),
        Rows(X),
        Rows(X.astype(np.float32), y.astype(str).astype(object)),
        Rows(mixed, y),
        Rows(sparse, y),
        Sequences(X, offset, y),
        Edges(y, 1 - y, weight),
        Edges(y, 1 - y, None, np.array(["a", "b"], dtype=object)),
        Rows(X[:0]),
        Rows(X[:1]),
    ]
    marks = [checksum(block) for block in blocks]
    assert marks == [checksum(block.replace(index=(5,))) for block in blocks]
    assert len(set(marks)) == len(blocks)
    others = []
    for block in blocks:
        for name, part in block.__getstate__().items():
            if not isinstance(part, np.ndarray) or name == "offset" or len(part) < 2:
                continue
            for i, j in ((0, 1), (3 % len(part), len(part) - 1)):
                changed = part.copy()
                changed[[i, j]] = changed[[j, i]]
                if (changed == part).all():
                    continue
                others.append((block, block.replace(**{name: changed})))
    assert len(others) > 15
    assert all(checksum(a) != checksum(b) for a, b in others)
    assert checksum(blocks[4]) != checksum(Rows(sparse[:, [1, 0, 2]].tocsr(), y))
    assert checksum(Rows(mixed)) != checksum(Rows(np.where(mixed == -1, -2, mixed)))
    assert checksum(Sequences(X, offset, y)) != checksum(Sequences(X, np.array([0, 6, 500]), y))


# --- page checksums ------------------------------------------------------------------------------------


def flipped(path, byte):
    raw = bytearray(path.read_bytes())
    raw[byte] ^= 0x10
    path.write_bytes(raw)


def test_a_damaged_page_is_refused_where_the_file_has_checksums(tmp_path):
    path = tmp_path / "a.parquet"
    how = {"compression": "none", "use_dictionary": False}
    pq.write_table(table(), path, write_page_checksum=True, **how)
    expected = opened(path).fold(total)
    flipped(path, 2000)
    with pytest.raises(OSError, match=r"checksum|CRC") as error:
        opened(path).fold(total)
    assert "a.parquet" in "".join(error.value.__notes__)
    pq.write_table(table(), path, **how)  # without checksums there is nothing to compare with
    flipped(path, 2000)
    assert (opened(path).fold(total) != expected).any()
