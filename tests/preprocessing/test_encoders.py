"""Encoders of tables: the result of scikit-learn on the same rows, in one pass, without copies of strings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from packaging.version import Version
from sklearn import preprocessing

import suffice
from suffice.core.coded import Coded, coded
from suffice.inputs.readers import CategoryColumns, beside
from suffice.preprocessing import DatetimeEncoder, OneHotEncoder, OrdinalEncoder, TargetEncoder
from suffice.preprocessing.encoders import Occurrences
from suffice.preprocessing.target_encoder import TargetMoments

from ..versions import SKLEARN

N = 3000
FEATURES = ["country", "device", "flag", "browser"]


def mixed(n: int = N, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    p = [0.5, 0.3, 0.15, 0.04, 0.01]
    device = pa.array(rng.integers(0, 4, n), mask=rng.random(n) < 0.1)
    score = rng.normal(size=n)
    return pa.table(
        {
            "country": pa.array(rng.choice(["DE", "FR", "US", "IT", "é"], n, p=p), mask=rng.random(n) < 0.1),
            "device": device,
            "flag": rng.random(n) < 0.5,
            "browser": pa.array(rng.choice(["ff", "chrome"], n)).dictionary_encode(),
            "score": score + 1e6,
            "label": np.array(["no", "yes"])[(score > 0.3).astype(int)],
            "level": np.digitize(score, [-1, 1]),
        }
    )


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    for n, start in enumerate((0, 700, 701, 2000)):
        stop = (700, 701, 2000, N)[n]
        pq.write_table(mixed().slice(start, stop - start), folder / f"{n}.parquet")
    return suffice.scan_parquet(folder)


def frame_of(table):
    """A DataFrame. Old versions of pyarrow have None where a string is missing, and new ones NaN."""
    frame = table.to_pandas()
    return frame.where(frame.notna(), np.nan)


def rows_of(table):
    """The rows that a transformed table reads."""
    X = [table.features.rows(batch) for batch in mixed().select(table.features.columns).to_batches()]
    return sp.vstack(X).toarray() if sp.issparse(X[0]) else np.concatenate(X)


ONE_HOT = [
    {},
    {"drop": "first"},
    {"drop": "if_binary", "sparse_output": False, "dtype": np.float32},
    {"min_frequency": 0.05},
    {"min_frequency": 200, "max_categories": 3, "handle_unknown": "infrequent_if_exist"},
    {"max_categories": 2, "drop": "first"},
]


@pytest.mark.parametrize("params", ONE_HOT, ids=str)
def test_one_hot(scan, params):
    frame = frame_of(mixed().select(FEATURES))
    ours = OneHotEncoder(**params).fit(suffice.rows(scan, features=FEATURES))
    theirs = preprocessing.OneHotEncoder(**params).fit(frame)
    for mine, yours in zip(ours.categories_, theirs.categories_, strict=True):
        assert str(mine) == str(yours)  # NaN is no equal of itself
        assert mine.dtype == yours.dtype
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    expected = theirs.transform(frame)
    expected = expected.toarray() if sp.issparse(expected) else expected
    found = rows_of(ours.transform(suffice.rows(scan, features=FEATURES)))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    for other in (frame, mixed().select(FEATURES)):  # in memory, too
        again = ours.transform(other)
        np.testing.assert_array_equal(again.toarray() if sp.issparse(again) else again, expected)


@pytest.mark.parametrize(
    "params",
    [{}, {"encoded_missing_value": -1, "dtype": np.int64}, {"min_frequency": 200}, {"max_categories": 2}],
    ids=str,
)
def test_ordinal(scan, params):
    frame = frame_of(mixed().select(FEATURES))
    ours = OrdinalEncoder(**params).fit(suffice.rows(scan, features=FEATURES))
    theirs = preprocessing.OrdinalEncoder(**params).fit(frame)
    expected = theirs.transform(frame)
    np.testing.assert_array_equal(rows_of(ours.transform(suffice.rows(scan, features=FEATURES))), expected)
    np.testing.assert_array_equal(ours.transform(frame), expected)


def test_categories_of_the_user(scan):
    given = [["DE", "FR", "US", "IT", "é", np.nan], [0, 1, 2, 3, np.nan]]
    table = suffice.rows(scan, features=["country", "device"])
    ours = OrdinalEncoder(categories=given).fit(table)
    frame = frame_of(mixed().select(["country", "device"]))
    theirs = preprocessing.OrdinalEncoder(categories=given).fit(frame)
    np.testing.assert_array_equal(rows_of(ours.transform(table)), theirs.transform(frame))
    with pytest.raises(ValueError, match=r"unknown categories .* in column 0 during fit"):
        OneHotEncoder(categories=[["DE", "FR", "US", np.nan], given[1]]).fit(table)


def test_unknown_categories(scan):
    encoder = OneHotEncoder().fit(suffice.rows(scan, features=["browser"]))
    other = suffice.rows(pa.table({"browser": ["ff", "lynx"]}))
    with pytest.raises(ValueError, match=r"unknown categories \['lynx'\] in column 0 during transform"):
        encoder.transform(other).features.rows(other.source)
    encoder = OneHotEncoder(handle_unknown="ignore").fit(suffice.rows(scan, features=["browser"]))
    found = encoder.transform(other).features.rows(other.source).toarray()
    np.testing.assert_array_equal(found, [[0.0, 1.0], [0.0, 0.0]])


def test_weights_repeat_rows(scan):
    table = mixed().append_column("w", pa.array(np.arange(N) % 3))
    repeated = mixed().take(np.repeat(np.arange(N), np.arange(N) % 3))
    weighted = OneHotEncoder(min_frequency=150).fit(suffice.rows(table, features=FEATURES, weight="w"))
    counted = OneHotEncoder(min_frequency=150).fit(suffice.rows(repeated, features=FEATURES))
    np.testing.assert_array_equal(weighted.get_feature_names_out(), counted.get_feature_names_out())
    for mine, yours in zip(
        weighted.statistics_.categories.count, counted.statistics_.categories.count, strict=True
    ):
        np.testing.assert_array_equal(mine, yours)


@pytest.mark.parametrize("smooth", ["auto", 7.0, 0.0])
@pytest.mark.parametrize("target", ["score", "label", "level"])
def test_target_encoder(scan, target, smooth):
    table = suffice.rows(scan, features=FEATURES, target=target)
    frame = mixed().to_pandas()
    ours = TargetEncoder(smooth=smooth).fit(table)
    theirs = preprocessing.TargetEncoder(smooth=smooth).fit(frame[FEATURES], frame[target])
    assert ours.target_type_ == theirs.target_type_
    np.testing.assert_allclose(ours.target_mean_, theirs.target_mean_)
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    expected = theirs.transform(frame[FEATURES])
    np.testing.assert_allclose(rows_of(ours.transform(table)), expected, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(frame[FEATURES]), expected, rtol=1e-9)


def test_cross_fitting(scan):
    """A row is encoded without its fold, which does not depend on the order of the rows."""
    table = suffice.rows(scan, features=["country"], target="score")
    encoder = TargetEncoder(cv=4, smooth=3.0)
    transformed = encoder.fit_transform(table)
    reader = transformed.features.reader
    X = reader.rows(mixed())
    fold, country = X.codes[:, -1], np.asarray(X)[:, 0]
    assert min(np.bincount(fold, minlength=4)) > 0.2 * N
    y = mixed()["score"].to_numpy()
    found = np.concatenate([transformed.features.rows(batch) for batch in mixed().to_batches()])[:, 0]
    for f in range(4):
        others = fold != f
        mean = y[others].mean()
        for value in ("DE", "IT", None):
            rows = others & (country == value)
            expected = (y[rows].sum() + 3.0 * mean) / (rows.sum() + 3.0)
            np.testing.assert_allclose(found[(fold == f) & (country == value)], expected, rtol=1e-12)
    shuffled = mixed().take(np.random.default_rng(1).permutation(N))
    again = TargetEncoder(cv=4, smooth=3.0)
    other = again.fit_transform(suffice.rows(shuffled, features=["country"], target="score"))
    np.testing.assert_allclose(  # a row has the same fold in any order
        np.sort(other.features.rows(shuffled)[:, 0]), np.sort(found), rtol=1e-12
    )
    # Before scikit-learn 1.9, it had to be a number for arrays, too.
    message = "pass cv as a number" if Version("1.9") <= SKLEARN else "must be an int"
    with pytest.raises(ValueError, match=message):
        TargetEncoder(cv=[(0, 1)]).fit_transform(table)
    with pytest.raises(ValueError, match="requires one target"):
        TargetEncoder().fit(suffice.rows(scan, features=["country"]))


def test_the_sums_add():
    """The law: also for categories of one block alone, and for empty blocks."""
    X = CategoryColumns(tuple(FEATURES)).rows(mixed().to_batches()[0])
    weight = np.random.default_rng(0).gamma(2.0, size=N)
    Y = mixed().select(["score", "level"]).to_pandas().to_numpy(float)

    def count(rows):
        block = suffice.core.Rows(X[rows], None, weight[rows])
        return Occurrences.of(block), TargetMoments.of(X[rows], Y[rows], weight[rows])

    whole, cuts = count(slice(None)), (0, 0, 1, 40, 2990, N)
    parts = [count(slice(a, b)) for a, b in pairwise(cuts)]
    for n, total in enumerate(whole):
        added = parts[0][n]
        for part in parts[1:]:
            added = added + part[n]
        for mine, yours in zip(_leaves(added), _leaves(total), strict=True):
            if mine.dtype.kind == "f":
                np.testing.assert_allclose(mine, yours, rtol=1e-9)
            else:
                np.testing.assert_array_equal(mine, yours)


def _leaves(value):
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    if hasattr(value, "fields"):
        return [leaf for part in value.fields().values() for leaf in _leaves(part)]
    return [np.asarray(value)]


def test_codes():
    X = coded(np.array([["b", 1], [None, 2], ["b", float("nan")]], dtype=object))
    assert isinstance(X, Coded) and X.shape == (3, 2)
    np.testing.assert_array_equal(np.asarray(X)[:, 0], ["b", None, "b"])
    few, places = X[np.array([True, False, True])].distinct()
    assert [values.tolist() for values in few.values] == [["b"], [1, None]]
    assert places[0].tolist() == [0, 0]


def test_rows_side_by_side():
    rng = np.random.default_rng(0)
    dense, ragged = rng.normal(size=(5, 3)), sp.random_array((5, 4), density=0.4, rng=rng, format="csr")
    even = sp.csr_array(np.eye(5))
    for parts in ([dense, even], [even, dense, ragged], [dense[:0], even[:0]], [sp.csr_array((5, 0)), dense]):
        expected = np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])
        found = beside(parts)
        np.testing.assert_array_equal(found.toarray(), expected)
        assert found.has_canonical_format


def test_dates(tmp_path):
    when = pd.date_range("2023-12-30", periods=500, freq="31h", tz="Europe/Berlin").to_series(
        index=range(500)
    )
    when[3] = pd.NaT
    frame = pd.DataFrame({"when": when, "day": when.dt.tz_localize(None)})
    parts = ("year", "month", "day", "weekday", "day_of_year", "hour", "minute", "second", "total_seconds")
    encoder = DatetimeEncoder(features=parts).fit(frame)
    columns = []
    for name in frame:
        local = frame[name].dt
        local = local.tz_localize(None).dt if name == "when" else local
        seconds = (frame["day"] - pd.Timestamp(0)).dt.total_seconds()
        columns += [local.year, local.month, local.day, local.day_of_week, local.day_of_year, local.hour]
        columns += [local.minute, local.second, seconds]
    expected = np.column_stack(columns)
    np.testing.assert_allclose(encoder.transform(frame), expected)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "dates.parquet")
    scan = suffice.scan_parquet(tmp_path)
    np.testing.assert_allclose(
        np.asarray(DatetimeEncoder(features=parts).fit(scan).transform(scan)), expected
    )


def test_dates_on_a_circle():
    days = np.array([["2023-12-31"], ["2024-01-01"], ["2024-07-01"]], dtype="datetime64[D]")
    encoder = DatetimeEncoder(features=["year", "month"], cyclic=True).fit(days)
    assert encoder.get_feature_names_out().tolist() == ["x0_year", "x0_month_sin", "x0_month_cos"]
    X = encoder.transform(days)
    np.testing.assert_allclose(X[:, 0], [2023, 2024, 2024])
    np.testing.assert_allclose(np.hypot(*X[:, 1:].T), 1.0)
    np.testing.assert_allclose(X[1, 1:], [0.0, 1.0], atol=1e-12)
    assert np.linalg.norm(X[0, 1:] - X[1, 1:]) < 0.55 < np.linalg.norm(X[2, 1:] - X[1, 1:])
    with pytest.raises(ValueError, match="must name parts of a time"):
        DatetimeEncoder(features=["epoch"]).fit(days)
    with pytest.raises(ValueError, match="takes dates or timestamps"):
        DatetimeEncoder().fit([[1.5]])
    with pytest.raises(ValueError, match="0 sample"):
        DatetimeEncoder().fit(pd.DataFrame({"t": np.array([], dtype="datetime64[s]")}))
    with pytest.raises(ValueError, match="DatetimeEncoder"):
        OneHotEncoder().fit(suffice.rows(pa.table({"when": days[:, 0]})))


def test_files(scan, tmp_path):
    table = suffice.rows(scan, features=FEATURES, target="level")
    for encoder in (OneHotEncoder(min_frequency=100), OrdinalEncoder(), TargetEncoder()):
        fitted = encoder.fit(table)
        suffice.save(fitted, tmp_path / "encoder")
        found, expected = (e.transform(mixed()) for e in (suffice.load(tmp_path / "encoder"), fitted))
        if sp.issparse(found):
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)
