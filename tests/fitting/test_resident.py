"""State that stays with the rows: replay of steps, stores of what each pass computes, sums, resumed fits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import suffice
from suffice.core import partitions
from suffice.core.blocks import Rows
from suffice.core.storage import digest_of
from suffice.decomposition import RobustPCA
from suffice.engines.cache import StreamedPartitions
from suffice.ensemble import (
    AdaBoostClassifier,
    ForwardStagewiseRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
)
from suffice.fitting import Resident

from ..laws.test_checkpoints import Interrupt, StopAt

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


def raised(changes, block):
    for change in changes:
        block = block.replace(X=np.sqrt(1.0 + block.X**2) + change)
    return block


def total(block):
    return block.X.sum(axis=0)


def resident(data, **how):
    calls = []

    def replay(data, n_steps, changes):
        calls.append((n_steps, len(changes)))
        return data.map(raised, tuple(changes[n_steps:]))

    return Resident(data, replay, **how), calls


def streamed():
    """Blocks that are computed in each pass, and how often they were."""
    passes = []

    def blocks():
        for n in range(3):
            yield n, Rows(X[n * 200 : (n + 1) * 200], index=(n,))

    def convert(numbered):
        passes.append(numbered[0])
        return numbered[1]

    class Blocks:
        def __iter__(self):
            return blocks()

    return StreamedPartitions(Blocks(), ((convert, ()),)), passes


@pytest.mark.parametrize(
    "make", [lambda: suffice.partition(X), lambda: streamed()[0]], ids=["memory", "stream"]
)
def test_missing_steps_are_made_one_by_one_or_together(make):
    changes = [0.5, -1.0, 2.0, 0.25]
    expected = raised(changes, Rows(X)).X.sum(axis=0)
    one_by_one, calls = resident(make())
    for n in range(5):
        sums = one_by_one.at(n, changes[:n]).fold(total)
    assert calls == [(0, 1), (1, 2), (2, 3), (3, 4)]
    together, calls = resident(make())
    assert (together.at(4, changes).fold(total) == sums).all()
    assert (together.at(4, changes).fold(total) == sums).all()  # again: nothing is made twice
    assert calls == [(0, 4)] and together.n_steps == 4
    np.testing.assert_allclose(sums, expected, rtol=1e-12)


def test_steps_that_were_made_otherwise_are_not_made_again():
    rows, calls = resident(suffice.partition(X))
    advanced = rows.advance(2, rows.data.map(raised, (0.5, -1.0)), sums="known")
    assert rows.at(2, [0.5, -1.0]) is advanced and rows.sums == "known" and calls == []
    rows.at(3, [0.5, -1.0, 2.0])
    assert calls == [(2, 3)] and rows.sums is None


@pytest.mark.parametrize("every", [1, 4])
def test_blocks_of_each_pass_are_stored(every):
    """What was stored is not computed again: the source is read until the first store, and then no more."""
    data, passes = streamed()
    rows, _ = resident(data, store_every=every)
    changes = [0.1 * n for n in range(12)]
    sums = [rows.at(n, changes[:n]).fold(total) for n in range(13)]
    assert len(passes) == 3 * (every + 1)
    expected = resident(suffice.partition(X))[0].at(12, changes).fold(total)
    np.testing.assert_allclose(sums[-1], expected, rtol=1e-12)


def test_a_step_that_fails_can_be_made_again():
    rows, calls = resident(suffice.partition(X))
    with pytest.raises(TypeError):
        rows.at(1, ["no number"])
    assert rows.n_steps == 0
    assert (rows.at(1, [0.5]).fold(total) == suffice.partition(X).map(raised, (0.5,)).fold(total)).all()
    assert calls == [(0, 1), (0, 1)]


HOW = {"n_estimators": 24, "random_state": 0}
FITS = {
    "AdaBoost": AdaBoostClassifier(**HOW),
    "Stagewise": ForwardStagewiseRegressor(**HOW),
    "GradientBoosting": GradientBoostingRegressor(loss="huber", **HOW),
    "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=24, random_state=0, early_stopping=True),
    "RobustPCA": RobustPCA(tol=1e-9, max_iter=24),
}


def answers(model):
    return digest_of((model.model_, model.losses_ if hasattr(model, "losses_") else model.trace_))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "kind", ["gathered", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("folded", "scan"))]
)
@pytest.mark.parametrize("name", FITS)
def test_a_resumed_fit_computes_the_state_again(name, kind, tmp_path, monkeypatch):
    """Rows in this process, whose scores change in place; rows in blocks; and blocks that are read again."""
    if kind != "gathered":
        monkeypatch.setattr(partitions, "GATHERED_BYTES", 0)
    data = (X, y)
    if kind == "scan":
        table = pa.table({**{f"x{d}": X[:, d] for d in range(4)}, "y": y})
        pq.write_table(table, tmp_path / "rows.parquet", row_group_size=150)
        described = suffice.scan_parquet(tmp_path / "rows.parquet")
        data = (suffice.rows(described, features=[f"x{d}" for d in range(4)], target="y"),)

    def fitted(path=None, stop=None):
        model = clone(FITS[name]).set_params(checkpoint=path)
        if stop is not None:
            model.set_callbacks(StopAt(stop))
        return model.fit(*data)

    maps, plain = [], Resident.at

    def noted(self, n_steps, state):
        maps.append(n_steps - self.n_steps)
        return plain(self, n_steps, state)

    whole, path = answers(fitted()), tmp_path / "progress"
    with pytest.raises(Interrupt):
        fitted(path, 19)
    assert path.exists()
    monkeypatch.setattr(Resident, "at", noted)
    assert answers(fitted(path)) == whole
    assert maps[0] == 18 and set(maps[1:]) <= {0, 1}
    assert not path.exists()
