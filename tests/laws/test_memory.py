"""Memory: a fit to a Parquet scan holds a few blocks and its sums, whatever the number of rows.

Measured are the bytes that NumPy and Python hold (`tracemalloc`) and those that Arrow holds, at their peaks,
in one thread: so the figures do not depend on the machine, its allocator, or when a thread ran.
"""

from __future__ import annotations

import gc
import re
import tracemalloc
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.core.blocks import Rows
from suffice.fitting import sample
from suffice.sequence import ConditionalRandomField
from suffice.topics import LatentDirichletAllocation

from .registry import VARIANTS, Variant, fit, has_own_loop, is_default, parametrized, table, texts

ROWS, GROUP = 1 << 15, 1 << 11  # 16 blocks of the rows, 64 of four times the rows
STEPS = 16  # of a sequence
# Four times the blocks have two more partial sums in the tree, and a few objects of Python for each block. So
# the law sees what holds six bytes a row or more, such as one number of double precision.
FLOOR = 1 << 19

# Solvers that docstrings describe in words, not in braces.
MORE = [
    Variant(f"{type(e).__name__}(solver={e.solver})", e, support)
    for e, support in [
        (LatentDirichletAllocation(3, solver="gibbs", random_state=0), "count"),
        (ConditionalRandomField(solver="sgd", random_state=0), "real"),
        (ConditionalRandomField(solver="gradient"), "real"),
        (ConditionalRandomField(solver="iis-s"), "count"),
        (ConditionalRandomField(solver="iis-t"), "count"),
    ]
]

SAMPLED = ("LinearRegression", "AdditiveModel", "PCA")


def written(variant, n, path):
    """A Parquet file with so many rows, in small row groups, as the variant takes it."""
    rng = np.random.default_rng(n)
    if variant.takes == "edges":
        columns = dict(zip(("source", "target"), rng.integers(64, size=(2, n)), strict=True))
    elif variant.takes == "documents":
        columns = {"text": texts(n)}
    elif variant.takes == "sequences":
        X, y = table(variant.support, n)
        number = np.arange(n) // STEPS
        y = number % 3 if variant.of_sequences else y
        columns = {f"x{d}": x for d, x in enumerate(X.T)} | {"y": y, "sequence": number}
    else:
        X, y = variant.data(n)
        columns = {f"x{d}": x for d, x in enumerate(X.T)} | ({} if y is None else {"y": y})
    pq.write_table(pa.table(columns), path, row_group_size=GROUP)
    scan = suffice.scan_parquet(path, cache=None)  # the cache takes a share of the free memory
    if variant.takes == "edges":
        return suffice.edges(scan, source="source", target="target")
    if variant.takes == "documents":
        return suffice.documents(scan, text="text")
    labelled = variant.kind == "classifier" if variant.takes == "sequences" else "y" in columns
    target = "y" if labelled else None
    features = [name for name in columns if name[0] == "x"]
    if variant.takes == "sequences":
        return suffice.sequences(scan, sequence="sequence", features=features, target=target)
    return suffice.rows(scan, features=features, target=target)


def peak(variant, data):
    """Bytes that a fit holds at its peak, beyond those before it; with what is in the fitted estimator."""
    estimator, plain = variant.make(max_iter=3, max_doc_update_iter=5), pa.default_memory_pool()
    pool = pa.proxy_memory_pool(pa.system_memory_pool())
    pa.set_memory_pool(pool)
    try:
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        with warnings.catch_warnings(), suffice.threads(1):
            warnings.simplefilter("ignore")  # three iterations are too few
            estimator.fit(data)
        return tracemalloc.get_traced_memory()[1] - before + pool.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(plain)


def growth(variant, folder):
    """The peaks of a fit to the rows and to four times as many, after one that compiles and imports."""
    sizes = {"first": GROUP * 4, "one": ROWS, "four": 4 * ROWS}
    data = [written(variant, n, folder / f"{name}.parquet") for name, n in sizes.items()]
    return [peak(variant, part) for part in data][1:]


ALL = [*VARIANTS, *MORE]
# Options that decide what is kept of the rows, or for how long, in a loop or in sums of their own. All others
# change numbers in sums of the same shapes: each estimator is tried without them. `learning_method` is a
# second name of `solver`.
KEEPS = r"solver|algorithm|(?<!learning_)method=|landmarks|clusters|sample_size|affinity|init|average"


def decides(v):
    """Whether the law tries the variant."""
    own = has_own_loop(v) and re.search(KEEPS, v.name.partition("(")[2])
    return is_default(v) or v in MORE or "store_" in v.name or own


def gathers(v):
    return v.estimator._guarantee().gathers


BOUNDED = [v for v in ALL if not (v.exempt("scan") or v.exempt("memory") or gathers(v)) and decides(v)]
# One of each class; the others gather by the same code.
PRICED = [v for v in ALL if gathers(v) and not v.exempt("scan") and not v.exempt("memory")]
PRICED = list({type(v.estimator): v for v in reversed(PRICED)}.values())


@parametrized(BOUNDED, slow=lambda variant: variant.name not in SAMPLED)
def test_peak_does_not_grow_with_the_rows(variant, tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "LEAST", 1 << 8)  # of many more rows in blocks of the usual size
    one, four = growth(variant, tmp_path)
    print(f"{variant.name}: {1e-6 * one:.2f} MB, {1e-6 * four:.2f} MB")
    assert four <= 1.1 * one + FLOOR


def test_sample_of_a_fit_is_bounded_and_holds_no_block():
    """Copies, and as many of small blocks as of large ones."""
    block = Rows(np.arange(8192.0).reshape(4096, 2), np.arange(4096), index=(0,)).piece(0, 4096, 0)
    (rows,) = sample._every(64, block)
    assert len(rows) == 64
    assert not any(np.shares_memory(a, b) for a, b in ((rows.X, block.X), (rows.y, block.y)))
    parts = [block.piece(n, n + 4, n) for n in range(0, 4096, 4)]
    assert 40 <= sum(len(rows) for part in parts for rows in sample._every(64, part)) <= 90


@pytest.mark.slow
def test_law_sees_a_view_of_a_block(tmp_path, monkeypatch):
    """One row of each block is little; but a view of it holds the block."""
    monkeypatch.setattr(sample, "LEAST", 1 << 8)
    monkeypatch.setattr(sample, "_every", _views)
    one, four = growth(next(v for v in VARIANTS if v.name == "LogisticRegression"), tmp_path)
    assert four > 2.0 * one + FLOOR


def _views(n, block):
    return [block[::n]] if len(block) else []


@parametrized([v for v in ALL if v.exempt("scan")], slow=lambda variant: False)
def test_what_takes_data_in_memory_refuses_a_scan(variant, tmp_path):
    with pytest.raises(TypeError, match="in memory"):
        variant.make().fit(written(variant, 64, tmp_path / "rows.parquet"))


@parametrized(PRICED, slow=lambda v: not v.name.endswith("Perceptron"))
def test_what_gathers_the_rows_prices_a_scan(variant, tmp_path, monkeypatch):
    """It gathers the rows, if there is memory for them."""
    scan = written(variant, 64, tmp_path / "rows.parquet")
    fit(variant.make(), scan)
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (1000.0, "this machine has"))
    with pytest.raises(MemoryError):
        variant.make().fit(scan)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cls", sorted({type(v.estimator) for v in ALL if v.exempt("memory")}, key=lambda cls: cls.__name__)
)
def test_exemptions_are_needed(cls, tmp_path):
    """Some fit of each class that is exempt takes more memory for more rows."""
    for n, variant in enumerate(v for v in ALL if type(v.estimator) is cls and v.exempt("memory")):
        (folder := tmp_path / str(n)).mkdir()
        one, four = growth(variant, folder)
        if four > 1.1 * one + FLOOR:
            return
    raise AssertionError(f"no fit of {cls.__name__} takes more memory for more rows")
