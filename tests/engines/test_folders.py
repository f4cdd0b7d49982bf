"""Folders of Parquet files: partition columns in the paths, files to leave out, and table formats."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.cluster import KMeans
from suffice.decomposition import PCA
from suffice.inputs.parquet import Batches
from suffice.linear_model import LinearRegression
from suffice.naive_bayes import GaussianNB, MixedNB

from ._common import bits


def table(rows=600):
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "x": rng.normal(size=rows),
            "z": rng.normal(size=rows),
            "year": pa.array(rng.integers(2021, 2024, rows), pa.int32()),
            "kind": np.array(["a b", "c/d", "e"])[rng.integers(0, 3, rows)],
        }
    )


@pytest.fixture(scope="module")
def hive(tmp_path_factory):
    """As Arrow writes it, in `year=.../kind=.../part-0.parquet`."""
    folder = tmp_path_factory.mktemp("hive")
    pq.write_to_dataset(table(), folder, ["year", "kind"], basename_template="part-{i}.parquet")
    return folder


def read(folder):
    return ds.dataset(folder, partitioning="hive", format="parquet").to_table()


def test_a_hive_folder_has_its_partition_columns(hive):
    scan = suffice.scan_parquet(hive)
    assert scan.columns == ("x", "z", "year", "kind")
    model = LinearRegression().fit(suffice.rows(scan, features=["x", "year"], target="z"))
    expected = LinearRegression().fit(suffice.rows(read(hive), features=["x", "year"], target="z"))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert list(model.feature_names_in_) == ["x", "year"]


@pytest.mark.parametrize("cache", [None, "memory", "disk"])
def test_they_are_targets_and_words_too(hive, cache):
    scan = suffice.scan_parquet(hive, cache=cache)
    mine = GaussianNB().fit(suffice.rows(scan, features=["x", "z"], target="kind"))
    np.testing.assert_allclose(mine.theta_, _fit(GaussianNB(), read(hive)).theta_)
    assert list(mine.classes_) == ["a b", "c/d", "e"]
    mixed = MixedNB(["gaussian", "categorical"]).fit(
        suffice.rows(scan, features=["x", "kind"], target="year")
    )
    assert list(mixed.classes_) == [2021, 2022, 2023]


def _fit(estimator, t):
    return estimator.fit(suffice.rows(t, features=["x", "z"], target="kind"))


def test_types_are_those_of_arrow(tmp_path):
    for number, values in enumerate(
        [["1", "2"], ["01", "-3"], ["1", "x"], ["1.5", "2"], ["99999999999", "1"], ["+1", "2"], ["%41", "2"]]
    ):
        folder = tmp_path / str(number)
        for value in [*values, "__HIVE_DEFAULT_PARTITION__"]:
            (folder / f"k={value}").mkdir(parents=True)
            pq.write_table(pa.table({"x": [1.0, 2.0]}), folder / f"k={value}" / "p.parquet")
        scan = suffice.scan_parquet(folder)
        batches = list(Batches(scan, ("x", "k"), 100))
        mine = pa.Table.from_batches([batch for _, batch in batches])
        theirs = read(folder)
        assert mine.schema.field("k").type == theirs.schema.field("k").type
        assert mine.sort_by("k").to_pydict() == theirs.sort_by("k").to_pydict()


def test_a_partition_column_alone(hive):
    model = KMeans(3, random_state=0).fit(suffice.scan_parquet(hive, ["year"]))
    assert sorted(model.cluster_centers_.ravel()) == pytest.approx([2021, 2022, 2023])


def test_blocks_are_those_of_the_files_in_order_of_their_names(hive, tmp_path):
    """The bits of the same files in one folder, with the column in the file."""
    for n, path in enumerate(sorted(hive.rglob("*.parquet"))):
        year = int(path.parts[-3].removeprefix("year="))
        t = pq.ParquetFile(path).read()
        pq.write_table(t.append_column("year", pa.array([year] * len(t))), tmp_path / f"{n:03}.parquet")
    names = ["x", "z", "year"]
    one, two = (KMeans(3, random_state=0).fit(suffice.scan_parquet(p, names)) for p in (hive, tmp_path))
    assert bits(one) == bits(two)


def test_answers_are_written_with_them(hive, tmp_path):
    model = KMeans(2, random_state=0).fit(suffice.scan_parquet(hive, ["x", "z"]))
    written = model.predict(suffice.scan_parquet(hive), to=tmp_path / "out")
    t = pa.concat_tables([pq.read_table(path) for path in written.files])
    assert {"x", "z", "year", "kind"} < set(t.column_names)
    both = [d.select(["x", "year", "kind"]).sort_by("x").to_pydict() for d in (t, table())]
    assert both[0] == both[1]


def test_lists_of_files_and_folders(hive, monkeypatch):
    """Keys are those below the folder that all have in common."""
    files = sorted(hive.rglob("*.parquet"))
    assert suffice.scan_parquet(files).columns == ("x", "z", "year", "kind")
    assert suffice.scan_parquet(sorted(hive.iterdir())).columns == ("x", "z", "year", "kind")
    assert suffice.scan_parquet(hive / "year=2021").columns == ("x", "z", "kind")
    assert suffice.scan_parquet(files[0]).columns == ("x", "z")
    monkeypatch.chdir(hive)
    assert suffice.scan_parquet(".").columns == ("x", "z", "year", "kind")
    assert suffice.scan_parquet(["year=2021", "year=2022"]).columns == ("x", "z", "year", "kind")


def test_a_column_that_is_in_the_file_is_read_there(tmp_path):
    for k in (1, 2):
        (tmp_path / f"k={k}").mkdir()
        pq.write_table(
            pa.table({"k": [k + 0.5] * 3, "x": [1.0, 2.0, 4.0]}), tmp_path / f"k={k}" / "p.parquet"
        )
    scan = suffice.scan_parquet(tmp_path)
    assert scan.columns == ("k", "x")
    np.testing.assert_allclose(PCA(1).fit(scan).mean_, [2.0, 7 / 3])


def test_a_column_that_does_not_exist_is_named(hive):
    with pytest.raises(
        ValueError, match=r"no column \['month'\]; its columns are \['x', 'z', 'year', 'kind'\]"
    ):
        suffice.scan_parquet(hive, ["month"])


def test_hidden_files_are_left_out(tmp_path):
    """As Spark and Arrow do: what begins with a dot or an underscore."""
    t = pa.table({"x": [1.0, 2.0, 6.0]})
    for name in (
        "a.parquet",
        "_metadata.parquet",
        ".part.parquet",
        "_temporary/0/b.parquet",
        ".tmp/c.parquet",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(t, tmp_path / name)
    (tmp_path / "_k=3").mkdir()  # a partition column, as Spark sees it
    pq.write_table(t, tmp_path / "_k=3" / "b.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_metadata").touch()
    scan = suffice.scan_parquet(tmp_path, ["x"])
    assert [path.removeprefix(str(tmp_path)) for path in scan.files] == ["/_k=3/b.parquet", "/a.parquet"]
    assert len(suffice.scan_parquet(tmp_path / "_temporary").files) == 1  # which is asked for by name
    (tmp_path / "a.parquet").rename(tmp_path / ".a.parquet")
    (tmp_path / "_k=3" / "b.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"No file ending in \.parquet"):
        suffice.scan_parquet(tmp_path)


FORMATS = {
    "Delta": ("_delta_log/00000000000000000000.json", r"fit\(deltalake\.DeltaTable"),
    "Iceberg": ("metadata/00000-ab.metadata.json", r"fit\(catalog\.load_table"),
    "Hudi": (".hoodie/hoodie.properties", 'format\\("hudi"\\)'),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("part", ["", "data", "data/k=1", "data/k=1/p.parquet"])
def test_table_formats_are_refused_with_the_call_to_make(name, part, tmp_path):
    marker, call = FORMATS[name]
    root = tmp_path / "table"
    for path in ("data/k=1", marker):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / "data/k=1").mkdir()
    (root / marker).write_text("{}")
    pq.write_table(pa.table({"x": [1.0]}), root / "data/k=1/p.parquet")
    with pytest.raises(ValueError, match=f"{root} is an? {name} table.*{call}"):
        suffice.scan_parquet(root / part)
    with pytest.raises(ValueError, match=f"{root} is an? {name} table"):
        suffice.scan_parquet(tmp_path)


def test_a_scan_of_many_files_and_columns_has_a_short_repr(tmp_path):
    columns = {f"x{j}": [0.0] for j in range(40)}
    for n in range(30):
        pq.write_table(pa.table(columns), tmp_path / f"part-{n}.parquet")
    scan = suffice.scan_parquet(tmp_path)
    assert repr(scan) == (
        f"ParquetScan([{str(tmp_path / 'part-0.parquet')!r}, ... 30 in all], "
        "columns=['x0', 'x1', 'x2', 'x3', 'x4', ... 40 in all])"
    )
    described = suffice.rows(scan, features=["x1", "x2"], target="x3")
    assert repr(described) == f"Table({scan!r}, features=['x1', 'x2'], target='x3')"
    frame = suffice.rows(pd.DataFrame(columns), target="x3")
    assert repr(frame) == "Table(DataFrame, target='x3')"
    lazy = suffice.rows(suffice.scan(pa.table({f"x{d}": [1.0] for d in range(9)}).to_reader), target="x3")
    columns = "['x0', 'x1', 'x2', 'x3', 'x4', ... 9 in all]"
    assert repr(lazy) == f"Table(StreamScan(to_reader, columns={columns}), target='x3')"


@pytest.mark.parametrize(
    ("path", "call"), [("a.csv.gz", "scan_csv"), ("a.ndjson", "scan_json"), ("a", "scan_parquet")]
)
def test_a_path_is_answered_with_the_scan_of_its_ending(path, call):
    with pytest.raises(TypeError, match=rf"got the path '{path}': pass suffice\.{call}\('{path}'\)"):
        GaussianNB().fit(path, [0])
