"""Tables of other libraries, passed straight to `fit`; CSV and JSON files."""

from __future__ import annotations

import gzip
import json
import pickle
import warnings

import duckdb
import fsspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.cluster import KMeans
from suffice.decomposition import PCA
from suffice.inputs import parquet
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import MixedNB

from ._common import bits

ROWS = 3000
NAMES = ["a", "b", "count", "word", "label"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 1 << 14)


def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 2)).round(6)
    return pa.table(
        {
            "a": X[:, 0],
            "other": np.arange(ROWS),
            "b": pa.array(X[:, 1], mask=rng.random(ROWS) < 0.1),
            "count": rng.poisson(3.0, ROWS),
            "word": np.array(["yes", "no", "maybe"])[rng.integers(0, 3, ROWS)],
            "label": np.where(X[:, 0] > 0, "up", "down"),
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("lazy") / "rows.parquet"
    pq.write_table(table(), path)
    return path


def of_dataset(file, tmp_path):
    return ds.dataset(file)


def of_polars(file, tmp_path):
    return pl.scan_parquet(file)


def of_duckdb(file, tmp_path):
    return duckdb.connect().from_parquet(str(file))


def of_duckdb_query(file, tmp_path):
    return duckdb.connect().sql(f"SELECT * FROM '{file}' ORDER BY other")


def of_hugging_face(file, tmp_path):
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset(pq.read_table(file))


def of_delta(file, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "t"), pq.read_table(file))
    deltalake.write_deltalake(str(tmp_path / "t"), pq.read_table(file).slice(0, 10), mode="append")
    return deltalake.DeltaTable(str(tmp_path / "t"), version=0)


def of_iceberg(file, tmp_path):
    pytest.importorskip("pyiceberg")
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=tmp_path.as_uri())
    catalog.create_namespace("n")
    there = catalog.create_table("n.t", pq.read_table(file).schema)
    there.append(pq.read_table(file))
    return there


def of_iceberg_scan(file, tmp_path):
    return of_iceberg(file, tmp_path).scan()


HEAVY = (of_hugging_face, of_delta, of_iceberg, of_iceberg_scan)
LIGHT = (of_dataset, of_polars, of_duckdb, of_duckdb_query)
FITS = {
    "k-means": (KMeans(3, random_state=0, max_iter=3), {"features": ["a", "count"]}),
    "mixture": (GaussianMixture(2, covariance_type="diag", random_state=0, max_iter=3), {"features": ["b"]}),
    "words": (MixedNB(["gaussian", "categorical"]), {"features": ["b", "word"], "target": "label"}),
    "logistic": (LogisticRegression(), {"features": ["a", "count"], "target": "label"}),
}


def fitted(name, source):
    estimator, parts = FITS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return bits(clone(estimator).fit(suffice.rows(source, **parts)))


def all_of(light, heavy):
    return pytest.mark.parametrize(
        "make",
        [*light, *(pytest.param(make, marks=pytest.mark.slow) for make in heavy)],
        ids=lambda make: make.__name__,
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries themselves
@all_of(LIGHT, HEAVY)
def test_a_table_of_another_library_has_the_bits_of_parquet(make, file, tmp_path):
    source = make(file, tmp_path)
    for name in ("k-means", "words"):
        assert fitted(name, source) == fitted(name, suffice.scan_parquet(file)), name
    for cache in ("memory", "disk"):
        cached = suffice.scan(source, cache=cache)
        assert cached.cache == cache
        assert fitted("k-means", cached) == fitted("k-means", suffice.scan_parquet(file))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@all_of(LIGHT[:2], (*LIGHT[2:], *HEAVY))
def test_all_columns_are_features_and_rows_are_answered(make, file, tmp_path):
    source = make(file, tmp_path)
    model = PCA(1).fit(suffice.rows(source, features=["a", "count"]))
    expected = PCA(1).fit(suffice.scan_parquet(file, ["a", "count"]))
    assert bits(model) == bits(expected)
    here = suffice.scan_parquet(file)
    assert (model.score_samples(source) == expected.score_samples(here)).all()
    written = model.score_samples(source, to=tmp_path / "out")
    assert written.columns == (*table().column_names, "log_density")
    with pytest.raises(ValueError, match=r"no column \['month'\]"):
        PCA(1).fit(suffice.rows(source, features=["month"]))


@pytest.mark.parametrize("name", FITS)
def test_a_reader_is_read_once_by_a_fit(name, file):
    assert fitted(name, table().to_reader(333)) == fitted(name, suffice.scan_parquet(file))


def test_a_reader_that_was_read_says_what_to_do():
    reader = table().select(["a", "count"]).to_reader(333)
    model = KMeans(2, random_state=0).fit(reader)
    for call in (lambda: KMeans(2).fit(reader), lambda: model.predict(reader)):
        with pytest.raises(ValueError, match=r"can be read once: .*suffice\.scan\(lambda: \.\.\.\)"):
            call()
    fresh = table().select(["a", "count"]).to_reader(100)
    assert model.predict(fresh).shape == (ROWS,)


def test_only_the_columns_that_are_used_are_read(file):
    read = []
    frame = pl.scan_parquet(file).with_columns(
        pl.col("word").map_batches(lambda part: read.append(1) or part, return_dtype=pl.String)
    )
    PCA(1).fit(suffice.rows(frame, features=["a", "count"]))
    assert not read
    MixedNB().fit(suffice.rows(frame, features=["word"], target="label"))
    assert read


# --- text ----------------------------------------------------------------------------------------------


def write_csv(t, path, **how):
    pa.csv.write_csv(t, path, pa.csv.WriteOptions(**how))


def write_json(t, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in t.to_pylist()))


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("name", ["k-means", "words"])
def test_text_files_have_the_bits_of_parquet(kind, name, file, tmp_path):
    write, scan = (write_csv, suffice.scan_csv) if kind == "csv" else (write_json, suffice.scan_json)
    for n in range(3):
        write(table().slice(n * 1000, 1000), tmp_path / f"part-{n}.{kind}")
    found = scan(tmp_path)
    assert found.columns == tuple(table().column_names)
    expected = fitted(name, suffice.scan_parquet(file))
    assert fitted(name, found) == expected
    assert fitted(name, pickle.loads(pickle.dumps(found))) == expected
    assert fitted(name, scan(f"{tmp_path}/part-*", cache="disk")) == expected
    assert f"part-0.{kind}" in repr(found) and len(repr(found)) < 300


def test_text_in_other_file_systems_and_compressed(file, tmp_path):
    memory = fsspec.filesystem("memory")
    write_csv(table(), tmp_path / "a.tsv", delimiter="\t")
    memory.pipe("/text/a.tsv.gz", gzip.compress((tmp_path / "a.tsv").read_bytes()))
    scan = suffice.scan_csv("text", filesystem=memory, delimiter="\t")
    assert fitted("words", scan) == fitted("words", suffice.scan_parquet(file))
    memory.rm("/text", recursive=True)


def test_types_are_stated_once(tmp_path):
    (tmp_path / "a.csv").write_text("zip,x\n01,1\n02,2\n03,4\n")
    (tmp_path / "b.csv").write_text("x,zip\n5,04\n7.5,05\n")
    with pytest.raises(
        ValueError, match=r"b\.csv, column 'x', read as int64: .*7\.5.*schema=\{'x': 'float64'\}"
    ):
        PCA(1).fit(suffice.scan_csv(tmp_path, ["x"]))
    for schema in ({"x": "float64", "zip": "string"}, pa.schema({"x": pa.float64(), "zip": pa.string()})):
        scan = suffice.scan_csv(tmp_path, schema=schema)
        assert PCA(1).fit(suffice.rows(scan, features=["x"])).mean_ == [3.9]
        assert MixedNB().fit(suffice.rows(scan, features=["x"], target="zip")).classes_[0] == "01"
    (tmp_path / "a.csv").write_text("zip,x\n01,1\n02,oops\n")
    with pytest.raises(ValueError, match=r"a\.csv, column 'x', read as double: .*oops"):
        suffice.scan_csv(tmp_path / "a.csv", schema={"x": "float64"})
    with pytest.raises(ValueError, match=r"a\.csv has no column \['y'\]; its columns are \['zip', 'x'\]"):
        suffice.scan_csv(tmp_path / "a.csv", schema={"y": "float64"})
    (tmp_path / "a.csv").write_text("zip\n01\n")
    (tmp_path / "b.csv").write_text("other\n01\n")
    with pytest.raises(ValueError, match=r"b\.csv has no column 'zip'; its columns are \['other'\]"):
        PCA(1).fit(suffice.scan_csv(tmp_path))


def test_fields_of_json_are_named_too(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "y": 2.0}\n{"x": 2}\n{"y": 3.0, "z": {"k": 1}}\n')
    (tmp_path / "b.jsonl").write_text('{"x": 4, "new": 1}\n{"x": "many"}\n')
    scan = suffice.scan_json(tmp_path, ["x", "y"])
    with pytest.raises(ValueError, match=r"b\.jsonl, column 'x', read as int64: .*columns=\['y'\]"):
        GaussianMixture(1).fit(scan)
    (tmp_path / "b.jsonl").write_text('{"x": 4, "new": 1}\n{"x": 5, "y": 7}\n')
    means = GaussianMixture(1, covariance_type="diag").fit(suffice.scan_json(tmp_path, ["x", "y"])).means_
    np.testing.assert_allclose(means, [[3.0, 4.0]])


def test_text_that_changes_between_passes_is_noticed(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(table().select(["a", "count"]), path)
    data = suffice.inputs.open_rows(PCA(1), suffice.scan_csv(path))
    data.fold(len)
    write_csv(table().select(["a", "count"]).slice(1), path)
    with pytest.raises(ValueError, match="in the first pass"):
        data.fold(len)
