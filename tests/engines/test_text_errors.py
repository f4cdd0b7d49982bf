"""Errors in CSV and JSON files name the file and the column. Each remedy is followed, and works."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.compose import ColumnTransformer
from suffice.linear_model import LinearRegression
from suffice.preprocessing import StandardScaler

GOOD = "x,y\n0,1\n1,3\n2,5\n"
MANY = "x,y\n" + "".join(f"{n},{2 * n + 1}\n" for n in range(200_000))  # more than a block


def lines(header: str, n: int = 3, text: str = "{0},{1}\n") -> str:
    return f"{header}\n" + "".join(text.format(k, 2 * k + 1) for k in range(n))


# The files, what the error says, and the arguments that it advises.
CASES = {
    "a number that is no integer": ([MANY + "0.5,2\n"], r"schema=\{'x': 'float64'\}"),
    "a number that is too large": ([MANY + f"{10**20},2\n"], r"schema=\{'x': 'float64'\}"),
    "a sign for a missing value": ([MANY + "-,7\n"], r"a missing value, call .*null_values=\['-'\]"),
    "a value that is none": ([MANY + "oops,7\n"], r"take it as missing, .*null_values=\['oops'\]"),
    "in another file": ([GOOD, "x,y\n7,15\noops,7\n"], r"1\.csv, column 'x'.*null_values=\['oops'\]"),
    "among strings": (["x,y\n0,1\noops,7\n1,3\n"], r"has 'oops' in row 1.*null_values=\['oops'\]"),
    "an empty column": (["x,y\n,1\n", "x,y\n1,3\n2,5\n"], r"read as null.*schema=\{'x': 'int64'\}"),
    "a semicolon": ([GOOD.replace(",", ";")], r"one column, 'x;y'.*delimiter=';'"),
    "a tabulator": ([GOOD.replace(",", "\t")], r"delimiter='\\t'"),
    "a semicolon and decimal commas": ([lines("x;y", text="{0},5;{1},5\n")], r"delimiter=';'"),
    "decimal commas later": (
        [lines("x;y", text="{0};{1}\n") + "0,5;2\n"],
        r"decimal=','",
        {"delimiter": ";", "schema": {"x": "float64"}},
    ),
    "Latin-1": ([lines("x,größe", 4).encode("latin-1")], r"not encoded in UTF-8.*encoding='latin-1'"),
    "UTF-16": ([GOOD.encode("utf-16")], r"encoding='utf-16'"),
    "a repeated name": (
        [lines("x,x,y", text="{0},9,{1}\n")],
        r"0\.csv has 2 columns named 'x'.*columns=\['y'\]",
    ),
    "a repeated name in another file": (
        [GOOD, "x,y,y\n1,2,3\n"],
        r"1\.csv has 2 columns named 'y'.*columns=\['x'\]",
    ),
    "another column": (
        [GOOD, "x,y,z\n1,3,5\n"],
        r"1\.csv has the columns \['z'\], which .*0\.csv does not.*columns=\['x', 'y'\]",
    ),
    "a quote in a value": (['x,y\n0,1\n"1,3\n2,5\n'], r"quote is not closed.*quote_char=None"),
}


def written(folder, files, ending="csv"):
    for n, text in enumerate(files):
        (folder / f"{n}.{ending}").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def fitted(scan):
    target = {"y", "größe"} & {*scan.columns} or {*scan.columns}
    features = [name for name in scan.columns if name not in target]
    table = suffice.rows(scan, target=target.pop())
    return LinearRegression().fit(table) if features else suffice.inputs.open_rows(StandardScaler(), scan)


def advised(message: str) -> dict:
    """The arguments of the first call that a message has, with `[...]` left out."""
    calls = re.findall(r"scan_(?:csv|json|parquet)\(\.\.\., ((?:[^()]|\(.*?\))*)\)", message)
    return eval(f"dict({next(call for call in calls if '[...]' not in call)})")


@pytest.mark.parametrize("name", CASES)
def test_the_remedy_works(name, tmp_path):
    files, said, *more = CASES[name]
    options = more[0] if more else {}
    written(tmp_path, files)
    with pytest.raises(ValueError, match=f"(?s){said}") as error:
        fitted(suffice.scan_csv(tmp_path, **options))
    remedy = advised(str(error.value))
    if "null_values" in remedy:  # a missing value is no number: it is filled, or its row is left out
        scan = suffice.scan_csv(tmp_path, **options, **remedy)
        reader = suffice.inputs.source_of(suffice.rows(scan)).batches(["x", "y"])
        x = np.concatenate([batch.column("x").to_numpy(zero_copy_only=False) for _, batch in reader])
        assert x.dtype == np.float64 and np.isnan(x).sum() == 1
        return
    if name == "a quote in a value":
        with pytest.raises(ValueError, match="has '\"1' in row 1, column 'x', among numbers"):
            fitted(suffice.scan_csv(tmp_path, **remedy))
        return
    if name == "a semicolon and decimal commas":  # one remedy after the other
        with pytest.raises(ValueError, match=r"decimal=','") as error:
            fitted(suffice.scan_csv(tmp_path, **remedy))
        remedy |= advised(str(error.value))
    if name == "an empty column":
        assert suffice.scan_csv(tmp_path, **remedy).source.types["x"] == pa.int64()
        return
    fitted(suffice.scan_csv(tmp_path, **{**options, **remedy}))


def test_names_in_place_of_those_of_the_header(tmp_path):
    written(tmp_path, [lines('"x\nof a",x,y', text="{0},9,{1}\n")])
    scan = suffice.scan_csv(tmp_path, column_names=["a", "b", "y"])
    assert fitted(scan).coef_[0] == pytest.approx(2.0)


def test_files_without_a_header(tmp_path):
    written(tmp_path, ["0,1\n1,3\n2,5\n", "3,7\n"])
    with pytest.raises(ValueError, match=r"no column \['y'\].*header=False"):
        suffice.scan_csv(tmp_path, schema={"y": "float64"})
    with pytest.raises(ValueError, match=r"1\.csv has no column '0'.*header=False"):
        rows_of(suffice.scan_csv(tmp_path))
    assert suffice.scan_csv(tmp_path, header=False).columns == ("f0", "f1")
    scan = suffice.scan_csv(tmp_path, header=False, column_names=["x", "y"])
    model = fitted(scan)
    assert model.coef_ == pytest.approx([2.0]) and len(model.predict(scan)) == 4


@pytest.mark.parametrize("extra", ["1,2,3\n", "1\n"])
@pytest.mark.parametrize("start", [GOOD, MANY], ids=["first block", "later"])
def test_a_line_of_another_length(start, extra, tmp_path):
    written(tmp_path, [start + extra])
    with pytest.raises(ValueError, match=r"(?s)0\.csv: .*got [13].*Correct the line, or remove it") as error:
        fitted(suffice.scan_csv(tmp_path))
    assert "schema" not in str(error.value)


@pytest.mark.parametrize("n", [0, 1])
def test_an_empty_file(n, tmp_path):
    written(tmp_path, ["", GOOD] if n == 0 else [GOOD, ""])
    with pytest.raises(ValueError, match=rf"{n}\.csv: Empty CSV file. Leave the file out"):
        fitted(suffice.scan_csv(tmp_path))
    fitted(suffice.scan_csv([tmp_path / f"{1 - n}.csv"]))


def test_other_errors(tmp_path):
    written(tmp_path, ["x,y\n"])
    with pytest.raises(ValueError, match="have a header, and no rows"):
        fitted(suffice.scan_csv(tmp_path))
    with pytest.raises(ValueError, match=r"schema has 'flot64' for 'x', which is not a type of Arrow"):
        suffice.scan_csv(tmp_path, schema={"x": "flot64"})
    (tmp_path / "1.csv.gz").write_text(GOOD)
    with pytest.raises(ValueError, match=r"1\.csv\.gz is not compressed by gzip.*rename it to '.*1\.csv'"):
        suffice.scan_csv(tmp_path / "1.csv.gz")
    written(tmp_path, [GOOD, "x\n1\n"])
    with pytest.raises(
        ValueError, match=r"1\.csv has no column 'y'; its columns are \['x'\]. Leave the file"
    ):
        fitted(suffice.scan_csv(tmp_path))


def test_a_line_break_in_a_value_at_the_end_of_a_block(tmp_path):
    """The parser reads blocks of a megabyte, and a value may go on in the next."""
    text = "x,y,t\n" + "".join(f'{n},{2 * n + 1},"{"a" * 50}\n{"b" * 50}"\n' for n in range(30_000))
    scan = suffice.scan_csv(written(tmp_path, [text]))
    assert LinearRegression().fit(suffice.rows(scan, features=["x"], target="y")).coef_ == pytest.approx(
        [2.0]
    )


JSON = {
    "no integer": ['{"x": 1, "y": 2}\n{"x": 2, "y": 3}\n', '{"x": 2.5, "y": 3}\n'],
    "a new field": [
        '{"x": 1, "y": 2}\n{"x": 2, "y": 3}\n',
        '{"x": 4, "y": 3, "z": 1}\n{"z": 2, "y": 2, "x": 0}\n',
    ],
    "null": ['{"x": null, "y": 2}\n{"x": null, "y": 3}\n', '{"x": 4.5, "y": 3}\n'],
    "several types": ['{"x": 1, "y": 2}\n{"x": 2, "y": 3}\n', '{"x": "a", "y": 3}\n'],
}


@pytest.mark.parametrize("name", JSON)
def test_remedies_of_json(name, tmp_path):
    written(tmp_path, JSON[name], "json")
    with pytest.raises(ValueError, match=r"1\.json.*'[xz]'") as error:
        rows_of(suffice.scan_json(tmp_path))
    scan = suffice.scan_json(tmp_path, **advised(str(error.value)))
    assert sum(batch.num_rows for _, batch in suffice.inputs.source_of(scan).batches(scan.columns)) >= 3
    if name == "a new field":
        assert {*scan.columns} == {"x", "y", "z"}
        assert rows_of(suffice.scan_json(tmp_path, ["x", "y"])) == 4


def rows_of(scan):
    return suffice.inputs.open_rows(StandardScaler(), scan).fold(len)


@pytest.mark.parametrize("text", ['[{"x": 1}]\n', '{"x": 1}}\n', '{"x": 1\n', '{"x": 1, "x": 2}\n'])
def test_lines_that_are_no_json(text, tmp_path):
    with pytest.raises(ValueError, match=r"0\.json.*(Expected a JSON object in each line|correct the line)"):
        rows_of(suffice.scan_json(written(tmp_path, [text], "json")))


def test_columns_of_later_parquet_files(tmp_path):
    for n, names in enumerate([["x", "y"], ["x", "y", "z"]]):
        pq.write_table(pa.table({name: np.arange(4.0) + n for name in names}), tmp_path / f"{n}.parquet")
    scan = suffice.scan_parquet(tmp_path)
    with pytest.raises(
        ValueError, match=r"1\.parquet has the columns \['z'\], which .*0\.parquet .*columns=\['x', 'y'\]"
    ) as error:
        fitted(scan)
    fitted(suffice.scan_parquet(tmp_path, **advised(str(error.value))))
    # Whoever names features asks for no others.
    LinearRegression().fit(suffice.rows(scan, features=["x"], target="y"))
    columns = ColumnTransformer([("x", StandardScaler(), ["x"])]).fit(suffice.rows(scan, target="y"))
    assert columns.n_features_in_ == 1
    with pytest.raises(ValueError, match=r"0\.parquet has no column \['z'\].*columns"):
        fitted(suffice.scan_parquet([tmp_path / "1.parquet", tmp_path / "0.parquet"]))
