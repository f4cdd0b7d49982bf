"""Wrong paths and files: errors name the path, what was expected, and the call to make."""

from __future__ import annotations

import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.preprocessing import StandardScaler

# By the function and the path, below a folder unless it is a URL: the message.
WRONG = {
    ("scan_parquet", "foo://x/y"): r"'foo://x/y' cannot be opened .* a URL of file, s3, .* "
    r"suffice.scan_parquet\('foo://x/y', filesystem=fsspec.filesystem\('foo'\)\)",
    ("scan_csv", "foo://x/y"): r"suffice.scan_csv\('foo://x/y', filesystem=",
    ("scan_parquet", "https://x.org/y"): r"download the file, and call suffice.scan_parquet\(path\)",
    ("scan_parquet", "s3://a bucket/y"): r"expected a URL, as 's3://bucket/folder'",
    (
        "scan_parquet",
        "rows.csv",
    ): r"is not a complete Parquet file: .* suffice.scan_csv\('.*rows.csv'\)",
    ("scan_parquet", "short.parquet"): "short.parquet is not a complete Parquet file: .*write the file again",
    ("scan_parquet", "empty.parquet"): "empty.parquet is not a complete Parquet file: .*is 0 bytes",
    ("scan_parquet", "missing.parquet"): r"There is no file or folder '.*missing.parquet': pass .*"
    r"suffice.scan_parquet\('folder/\*.parquet'\)",
    (
        "scan_csv",
        "missing.csv",
    ): r"folder '.*missing.csv': .*suffice.scan_csv\('folder/\*.csv'\)",
    ("scan_parquet", "nothing"): r"No file ending in .parquet was found in \['.*nothing'\]: pass a folder",
    ("scan_parquet", "texts"): r"in \['.*texts'\], which has 'a.csv': .* call suffice.scan_csv\('.*texts'\)",
    ("scan_parquet", "others"): r"which has 'a.pq': .* call suffice.scan_parquet\('.*others/a.pq'\)",
    ("scan_parquet", "no*.parquet"): r"was found in \['.*no\*.parquet'\]",
    (
        "scan_csv",
        "good.parquet",
    ): r"CSV with a header: call suffice.scan_parquet\('.*good.parquet'\)",
    ("scan_json", "rows.csv"): r"Expected a JSON object in each line: call suffice.scan_csv\('.*rows.csv'\)",
}


@pytest.fixture
def folder(tmp_path):
    for name in ("nothing", "texts", "others", "mixed"):
        (tmp_path / name).mkdir()
    pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "good.parquet")
    data = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "others" / "a.pq").write_bytes(data)
    (tmp_path / "mixed" / "1.parquet").write_bytes(data)
    (tmp_path / "mixed" / "2.parquet").write_bytes(data[:-9])
    (tmp_path / "short.parquet").write_bytes(data[:-9])
    (tmp_path / "empty.parquet").write_bytes(b"")
    for name in ("rows.csv", "texts/a.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    return tmp_path


@pytest.mark.parametrize(("scan", "path"), WRONG)
def test_the_error_names_the_path_and_the_call(folder, scan, path):
    said = WRONG[scan, path]
    with pytest.raises((ValueError, FileNotFoundError)) as error:
        getattr(suffice, scan)(path if "://" in path else str(folder / path))
    assert not isinstance(error.value, pa.ArrowException)
    assert re.search(said, str(error.value), re.DOTALL), str(error.value)


def test_a_relative_path_names_the_folder_that_was_searched(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(FileNotFoundError, match=f"'rows.parquet' in {os.getcwd()!r}"):
        suffice.scan_parquet("rows.parquet")


def test_the_second_file_is_read_later(folder):
    scan = suffice.scan_parquet(folder / "mixed")
    with pytest.raises(ValueError, match=r"2\.parquet is not a complete Parquet file"):
        StandardScaler().fit(scan)
