"""Tables of mixed columns, as they are: the kinds of columns are found from their values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.naive_bayes import MixedNB


def table(n=60):
    rng = np.random.default_rng(0)
    late = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "country": np.where(rng.random(n) < 0.3 + 0.4 * late, "DE", "FR"),
            "age": rng.normal(40.0 + 5.0 * late, 9.0),
            "member": rng.random(n) < 0.5,
            "child": np.where(rng.random(n) < 0.1, np.nan, (rng.random(n) < 0.2).astype(float)),
            "late": np.where(late, "yes", "no"),
        }
    )


KINDS = ["categorical", "gaussian", "bernoulli", "bernoulli"]


def test_kinds_are_found(tmp_path):
    """The same from pandas, Arrow and Parquet, in blocks of any size."""
    rows = table()
    X, y = rows.drop(columns="late"), rows["late"]
    given = MixedNB(KINDS).fit(X, y)
    model = MixedNB().fit(X, y)
    assert model.kinds_ == KINDS
    np.testing.assert_allclose(model.predict_proba(X), given.predict_proba(X), rtol=1e-12)
    arrow = pa.Table.from_pandas(rows, preserve_index=False)
    pq.write_table(arrow, tmp_path / "rows.parquet", row_group_size=7)
    for source in (rows, arrow, suffice.scan_parquet(tmp_path / "rows.parquet")):
        other = MixedNB().fit(suffice.rows(source, target="late"))
        assert other.kinds_ == KINDS
        np.testing.assert_allclose(other.predict_proba(X), given.predict_proba(X), rtol=1e-9)


def test_a_dict_names_some_kinds():
    rows = table()
    model = MixedNB({"member": "categorical"}).fit(rows.drop(columns="late"), rows["late"])
    assert model.kinds_ == ["categorical", "gaussian", "categorical", "bernoulli"]


def test_numbers_alone_are_gaussian_and_zeros_and_ones_are_not():
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.arange(20) % 2
    assert MixedNB().fit(X, y).kinds_ == ["gaussian", "gaussian"]
    assert MixedNB().fit(X > 0, y).kinds_ == ["bernoulli", "bernoulli"]
    assert MixedNB("gaussian").fit(X > 0, y).kinds_ == ["gaussian", "gaussian"]


def test_times_are_refused_with_the_column_and_what_to_do():
    rows = table().assign(when=pd.date_range("2020-01-01", periods=60))
    with pytest.raises(TypeError, match=r"column 'when': use suffice.preprocessing.DatetimeEncoder"):
        MixedNB().fit(rows.drop(columns="late"), rows["late"])
