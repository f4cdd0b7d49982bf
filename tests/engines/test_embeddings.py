"""Columns of lists of a fixed size, such as embeddings, are features."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.pipeline import make_pipeline

import suffice
from suffice.cluster import KMeans
from suffice.decomposition import PCA
from suffice.inputs import parquet
from suffice.inputs.readers import columns_of
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.sequence import HiddenMarkovModel

from ._common import bits

ROWS, D = 2000, 5


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr("suffice.core.blocks.BLOCK_BYTES", 1 << 14)


def arrays():
    rng = np.random.default_rng(0)
    E = rng.normal(size=(ROWS, D)).astype(np.float32)
    return E, rng.normal(size=ROWS), np.where(E[:, 0] + rng.normal(size=ROWS) > 0, "up", "down")


def table(kind=np.float32):
    E, x, label = arrays()
    emb = pa.FixedSizeListArray.from_arrays(pa.array(E.ravel().astype(kind)), D)
    return pa.table({"emb": emb, "x": x, "label": label, "id": np.arange(ROWS) // 100})


def plain():
    E, x, label = arrays()
    columns = {f"emb_{k}": E[:, k] for k in range(D)}
    return pa.table({**columns, "x": x, "label": label, "id": np.arange(ROWS) // 100})


NAMES = [f"emb_{k}" for k in range(D)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embeddings")
    pq.write_table(table(), folder / "lists.parquet")
    pq.write_table(plain(), folder / "plain.parquet")
    return folder


SOURCES = {
    "parquet": lambda files: suffice.scan_parquet(files / "lists.parquet"),
    "a stream": lambda files: suffice.scan(lambda: table().to_batches(333)),
    "polars": lambda files: pl.scan_parquet(files / "lists.parquet"),
    "a cache": lambda files: suffice.scan_parquet(files / "lists.parquet", cache="disk"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_entries_are_features_with_the_bits_of_columns(name, files):
    source, columns = SOURCES[name](files), suffice.scan_parquet(files / "plain.parquet")
    there = suffice.rows(source, features=["emb", "x"], target="label")
    here = suffice.rows(columns, features=[*NAMES, "x"], target="label")
    model = LogisticRegression().fit(there)
    assert list(model.feature_names_in_) == [*NAMES, "x"]
    expected = LogisticRegression().fit(here)
    assert bits(model) == bits(expected)
    assert (model.predict(source) == expected.predict(columns)).all()
    assert (model.predict(columns) == expected.predict(columns)).all()  # or from one column for each
    assert model.score(there) == expected.score(here)


def test_tables_in_memory_and_pipelines(files):
    there = suffice.rows(table(), features=["x", "emb"], target="label")
    here = suffice.rows(plain(), features=["x", *NAMES], target="label")
    assert bits(LogisticRegression().fit(there)) == bits(LogisticRegression().fit(here))
    scan = suffice.rows(suffice.scan_parquet(files / "lists.parquet"), features=["emb"], target="label")
    pipeline = make_pipeline(PCA(2), LogisticRegression()).fit(scan)
    assert pipeline.predict(scan).shape == (ROWS,)
    without = suffice.scan_parquet(files / "lists.parquet", ["emb"])
    assert bits(KMeans(2, random_state=0).fit(without)) == bits(
        KMeans(2, random_state=0).fit(suffice.scan_parquet(files / "plain.parquet", NAMES))
    )
    written = KMeans(2, random_state=0).fit(without).predict(without, to=files / "out")
    assert written.columns == ("emb", "prediction")


def test_sequences_of_embeddings(files):
    parts = {"sequence": "id"}
    model = HiddenMarkovModel(2, random_state=0, max_iter=2, tol=1e9)
    there = suffice.sequences(suffice.scan_parquet(files / "lists.parquet"), features=["emb"], **parts)
    here = suffice.sequences(suffice.scan_parquet(files / "plain.parquet"), features=NAMES, **parts)
    memory = suffice.sequences(table(), features=["emb"], **parts)
    learnt = bits(model.fit(there))
    assert learnt == bits(model.fit(here)) == bits(model.fit(memory))


def test_blocks_count_the_entries(files):
    scan = suffice.scan_parquet(files / "lists.parquet")
    assert parquet.batch_rows(["emb", "x"], scan.sizes) == parquet.batch_rows([*NAMES, "x"])


@pytest.mark.parametrize("kind", [np.float64, np.int32])
def test_missing_lists_and_entries_are_nan(kind):
    values = pa.array(np.arange(12).astype(kind), mask=np.arange(12) == 4)
    lists = pa.FixedSizeListArray.from_arrays(values, 2, mask=pa.array([False, True] + 4 * [False]))
    t = pa.table({"emb": pa.chunked_array([lists.slice(1, 3), lists.slice(4)])})
    X = suffice.rows(t).columns(["emb"], {"emb": 2}).reader.rows(t)
    np.testing.assert_array_equal(X, [[np.nan, np.nan], [np.nan, 5], [6, 7], [8, 9], [10, 11]])
    assert GaussianMixture(1, covariance_type="diag").fit(t).means_.round(6).tolist() == [[8.0, 8.0]]


def test_lists_that_are_no_features_are_named():
    words = pa.array([["a", "b"]] * 3, pa.list_(pa.string(), 2))
    with pytest.raises(ValueError, match=r"'w' holds fixed_size_list<.*string.*expected lists of numbers"):
        KMeans(2).fit(pa.table({"w": words}))
    with pytest.raises(ValueError, match=r"'v' holds list<.*expected numbers"):
        KMeans(2).fit(pa.table({"v": [[1.0], [2.0], [3.0]]}))
    twice = pa.table({"e": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float64(), 2)), "e_1": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"columns \['e_1'\] have the names of entries of the lists \['e'\]"):
        KMeans(2).fit(twice)

    def changes():
        yield pa.record_batch({"e": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float64(), 2))})
        yield pa.record_batch({"e": pa.array([[1.0, 2.0, 3.0]] * 3, pa.list_(pa.float64(), 3))})

    with pytest.raises((ValueError, pa.ArrowException)):
        KMeans(2).fit(suffice.scan(changes))


def test_names_of_entries_lead_back_to_columns():
    assert columns_of(["a", "e_0", "e_1", "b"], {"e": 2}) == ("a", "e", "b")
    assert columns_of(["e_0", "b"], {"e": 2}) == ("e_0", "b")
    assert columns_of(["e_1", "e_0"], {"e": 2}) == ("e_1", "e_0")
