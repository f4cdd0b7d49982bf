"""Cross-validation of a pipeline over a table: the encoded rows of each fold are stored."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer
from suffice.core.randomness import Purpose
from suffice.engines import local, stores
from suffice.ensemble import HistGradientBoostingRegressor
from suffice.fitting.shared import Sharing, divide
from suffice.linear_model import LogisticRegression
from suffice.model_selection import cross_validate
from suffice.preprocessing import OneHotEncoder, StandardScaler

N, FOLDS = 2000, 3


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x, word = rng.normal(size=N), rng.integers(0, 9, N)
    y = x + np.sin(word) + rng.normal(size=N) > 0
    return pa.table({"x": x, "word": pa.array([f"word {w}" for w in word]), "y": y.astype(np.int64)})


@pytest.fixture(params=["memory", "files"])
def described(request, table, tmp_path):
    """The table in memory, and in files of several blocks."""
    if request.param == "memory":
        return lambda **options: suffice.rows(table, target="y")
    for part in range(4):
        rows = table.slice(part * (N // 4), N // 4)
        pq.write_table(rows, tmp_path / f"{part}.parquet", row_group_size=250)
    return lambda **options: suffice.rows(suffice.scan_parquet(tmp_path, **options), target="y")


def pipeline():
    columns = ColumnTransformer([("x", StandardScaler(), ["x"]), ("word", OneHotEncoder(), ["word"])])
    return make_pipeline(columns, LogisticRegression())


@pytest.fixture
def encoded(monkeypatch):
    """The numbers of rows that one-hot encoders transformed, call by call."""
    counts, transform = [], OneHotEncoder.transform_rows

    def counted(self, X):
        counts.append(X.shape[0])
        return transform(self, X)

    monkeypatch.setattr(OneHotEncoder, "transform_rows", counted)
    return counts


def scores(data):
    return cross_validate(pipeline(), data, cv=FOLDS, random_state=0)["test_score"]


def test_rows_are_encoded_once_for_each_fit_and_once_for_its_score(described, encoded):
    scores(described())
    assert sum(encoded) == FOLDS * N  # (FOLDS - 1) * N in the fits, and N in the scores


def test_rows_are_encoded_in_each_pass_without_a_cache(described, encoded):
    data = described(cache=None)
    scores(data)
    n_passes = sum(encoded) / (FOLDS * N)
    assert n_passes == 1 if isinstance(data.source, pa.Table) else n_passes > 2


@pytest.mark.parametrize(("disk", "written"), [(1e9, True), (1e4, False)], ids=["disk", "none"])
def test_scores_do_not_depend_on_where_encoded_rows_are(described, monkeypatch, disk, written):
    expected = scores(described())
    stored, put = [], stores.OnDisk.put

    def recorded(self, number, block):
        stored.append(number)
        put(self, number, block)

    monkeypatch.setattr(stores.OnDisk, "put", recorded)
    monkeypatch.setattr(stores, "is_in_memory", lambda folder: False)  # which /tmp is on some systems
    monkeypatch.setattr(stores, "free_disk", lambda folder: disk)
    monkeypatch.setattr(stores, "free_memory", lambda: 5e4)
    np.testing.assert_array_equal(scores(described()), expected)
    assert bool(stored) == written
    np.testing.assert_array_equal(scores(described(cache=None)), expected)


def test_maps_after_stored_rows(described):
    """Boosting stores the codes of stored rows, and their scores round by round."""
    boosting = make_pipeline(pipeline()[0], HistGradientBoostingRegressor(max_iter=5, random_state=0))
    boosting[0].set_params(sparse_threshold=0.0)
    found = [
        cross_validate(boosting, described(**cache), cv=FOLDS, random_state=0)["test_score"]
        for cache in ({}, {"cache": None})
    ]
    np.testing.assert_array_equal(*found)
    assert (found[0] > 0.2).all()


def plus_one(block):
    return block.replace(X=block.X + 1.0)


def total(block):
    return block.X.sum()


def test_a_chain_of_persisted_maps_keeps_few_blocks(monkeypatch):
    stored = []

    class Recorded(stores.Automatic):
        def __init__(self, iterates):
            super().__init__(iterates)
            stored.append(weakref.ref(self))

    monkeypatch.setattr(local, "Automatic", Recorded)
    data = suffice.partition(np.arange(100.0)[:, None])
    rows = Sharing(data, 2, (divide, (2, Purpose.FOLDS, (0,)))).view(0)
    first, n_rows = rows.fold(total), rows.fold(len)
    for n in range(1, 9):
        rows = rows.map(plus_one).persisted()
        assert rows.fold(total) == first + n * n_rows
    gc.collect()
    assert len(stored) == 8
    assert sum(store() is not None for store in stored) <= 2
    assert rows.fold(total) == first + 8 * n_rows
