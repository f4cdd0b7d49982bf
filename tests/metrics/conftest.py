"""The table of `_common` in memory and in files."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import suffice

from ._common import TABLE


@pytest.fixture(params=["table", "scan", "pandas"])
def rows(request, tmp_path):
    if request.param == "pandas":
        source = TABLE.to_pandas()
    elif request.param == "scan":
        pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=700)
        source = suffice.scan_parquet(tmp_path)
    else:
        source = TABLE

    def described(features, target, weight="w"):
        return suffice.rows(source, features=features, target=target, weight=weight)

    return described
