"""What is no number is refused with its row, its column, what it is and what to do, in every container."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import suffice
from suffice.additive import AdditiveModel, SmoothingSpline
from suffice.cluster import KMeans
from suffice.estimator.parameters import InvalidParameterError
from suffice.linear_model import Lasso, LinearRegression, LogisticRegression, QuantileRegressor, Ridge
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB, MultinomialNB

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 3))
y = X @ [1.0, 2.0, 3.0]
labels = np.arange(12) % 2


def as_pandas(columns, path):
    return pd.DataFrame(columns), y


def as_polars(columns, path):
    return pl.DataFrame(columns), y


def as_arrow(columns, path):
    return suffice.rows(pa.table({**columns, "y": y}), target="y"), None


def as_parquet(columns, path):
    pq.write_table(pa.table({**columns, "y": y}), path / "rows.parquet", row_group_size=5)
    return suffice.rows(suffice.scan_parquet(path / "rows.parquet"), target="y"), None


HOSTILE = {
    "strings": (["word"] * 12, "column 'b'", "'word'", "OneHotEncoder"),
    "infinite": (np.where(np.arange(12) == 3, np.inf, X[:, 1]), "row 3, column 'b'", "infinity", "finite"),
    "missing": (np.where(np.arange(12) == 3, np.nan, X[:, 1]), "row 3, column 'b'", "NaN", "SimpleImputer"),
    "large": (np.where(np.arange(12) == 3, -1e200, X[:, 1]), "row 3, column 'b'", "-1e+200", "its scale"),
}


@pytest.mark.parametrize("container", [as_pandas, as_polars, as_arrow, as_parquet], ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_column_that_is_not_numbers(container, kind, tmp_path):
    column, *said = HOSTILE[kind]
    table, target = container({"a": X[:, 0], "b": column, "c": X[:, 2]}, tmp_path)
    with pytest.raises(ValueError) as error:
        LinearRegression().fit(table, target)
    for words in ("LinearRegression", *said):
        assert words in str(error.value), str(error.value)


@pytest.mark.parametrize("container", [as_pandas, as_polars], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (datetime.datetime(2020, 1, 1), "np.timedelta64"),
        (datetime.timedelta(1), "np.timedelta64"),
        ([1.0, 2.0], "one number in each cell"),
    ],
    ids=str,
)
def test_times_and_lists(container, value, said, tmp_path):
    table, target = container({"a": X[:, 0], "b": [value] * 12}, tmp_path)
    with pytest.raises((ValueError, TypeError), match=f"column 'b'.*{said}"):
        LinearRegression().fit(table, target)
    everywhere, target = container({"b": [value] * 12}, tmp_path)
    with pytest.raises((ValueError, TypeError), match=f"column 'b'.*{said}"):
        LinearRegression().fit(everywhere, target)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a", "row 3, column 1: encode"),
        ({}, "row 3, column 1: pass one number"),
        (1j, "row 3, column 1: pass the real"),
        (10**400, "row 3, column 1: it is beyond the range"),
        (pd.NA, "row 3, column 1: fill missing"),
        (object(), "row 3, column 1: pass numbers"),
    ],
    ids=["text", "dict", "complex", "large", "NA", "object"],
)
def test_a_cell_of_objects(value, said):
    cells = X.astype(object)
    cells[3, 1] = value
    with pytest.raises((ValueError, TypeError), match=said):
        LinearRegression().fit(cells, y)
    with pytest.raises((ValueError, TypeError), match=said):
        LinearRegression().fit(X, y).predict(cells)


def test_arrays_that_are_no_tables():
    with pytest.raises(ValueError, match="row 0 has 2 entries, and row 1 has 1"):
        KMeans(1).fit([[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match="structured"):
        KMeans(1).fit(np.zeros(3, dtype="f8,f8"))
    with pytest.raises(TypeError, match=r"got the path 'a': pass suffice.scan_parquet\('a'\)"):
        KMeans(1).fit("a")


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(), Lasso(), QuantileRegressor(), AdditiveModel()], ids=repr
)
def test_strings_in_the_target_of_a_regressor(model):
    for words in (np.repeat("ash", 12), np.repeat("ash", 12).astype(object), ["ash"] * 12):
        with pytest.raises(ValueError, match=r"y has 'ash' \(str\) in row 0.*use a classifier"):
            model.fit(X, words)
    with pytest.raises(ValueError, match="use a classifier"):
        SmoothingSpline().fit(X[:, :1], ["ash"] * 12)
    table = pa.table({"a": X[:, 0], "y": ["ash"] * 12})
    with pytest.raises(ValueError, match="use a classifier"):
        model.fit(suffice.rows(table, target="y"))


def test_labels_of_several_types():
    with pytest.raises(TypeError, match=r"y holds labels of several types, \['int', 'str'\]"):
        LogisticRegression().fit(X, np.array([1, "a"] * 6, dtype=object))


def test_columns_of_one_name(tmp_path):
    table = pa.table([X[:, 0], X[:, 1], y], names=["a", "a", "y"])
    with pytest.raises(ValueError, match="2 columns named 'a'"):
        LinearRegression().fit(suffice.rows(table, target="y"))
    frame = pd.DataFrame(X, columns=["a", "a", "b"])
    for given in (frame, suffice.rows(frame)):
        with pytest.raises(ValueError, match="2 columns named 'a'"):
            KMeans(2).fit(given)


# --- numbers whose squares overflow, and weights ---------------------------------------------------------


@pytest.mark.parametrize("value", [1e151, -1e154, 1e200, 1.7e308])
@pytest.mark.parametrize(
    "model",
    [LinearRegression(), KMeans(2, random_state=0), GaussianMixture(2), LogisticRegression()],
    ids=repr,
)
def test_large_numbers(model, value):
    large = X.copy()
    large[5, 2] = value
    target = labels if isinstance(model, LogisticRegression) else y
    with pytest.raises(ValueError, match=r"row 5, column 2, and .* takes numbers up to 1e\+150.*Divide"):
        model.fit(large, target)
    with pytest.raises(ValueError, match="row 5, column 2"):
        model.fit(X, target).predict(large)
    if isinstance(model, LinearRegression | LogisticRegression):
        with pytest.raises(ValueError, match="row 5, column 2"):
            model.fit(sp.csr_array(large), target)


def test_large_numbers_that_cancel():
    """The sum of all numbers is finite, and so tells nothing."""
    large = X.copy()
    large[4:6, 1] = 1e200, -1e200
    with pytest.raises(ValueError, match=r"1e\+200 in row 4, column 1"):
        KMeans(2).fit(large)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_float32_that_is_not_finite(value):
    """As float32, the largest number that is taken is infinite."""
    bad = X.astype(np.float32)
    bad[5, 2] = value
    with pytest.raises(ValueError, match="row 5, column 2"):
        KMeans(2).fit(bad)


def test_many_numbers_are_checked_by_threads(monkeypatch):
    monkeypatch.setattr("suffice.inputs.checks.MANY", 100)
    monkeypatch.setattr("suffice.inputs.checks.PIECE_BYTES", 8 * 3 * 10)
    many = rng.normal(size=(100, 3))
    LinearRegression().fit(many, many[:, 0])
    for value, said in ((np.nan, "NaN"), (-np.inf, "infinity"), (1e200, r"1e\+200")):
        bad = many.copy()
        bad[77, 1] = value
        with pytest.raises(ValueError, match=f"{said} in row 77, column 1"):
            LinearRegression().fit(bad, many[:, 0])


def test_large_targets():
    for model in (LinearRegression(), AdditiveModel(), QuantileRegressor()):
        with pytest.raises(ValueError, match=r"Input y contains .* in row 0"):
            model.fit(X, y * 1e160)


def test_nan_is_taken_where_it_means_not_observed():
    holes = X.copy()
    holes[2, 1] = np.nan
    assert np.isfinite(GaussianMixture(1).fit(holes).means_).all()
    holes[3, 1] = 1e200
    with pytest.raises(ValueError, match="row 3, column 1"):
        GaussianMixture(1).fit(holes)


@pytest.mark.parametrize("model", [LinearRegression(), KMeans(2, random_state=0), GaussianNB()], ids=repr)
@pytest.mark.parametrize("value", [1e308, 1e160, 1e-310, 1e-160, 5e-324])
def test_weights_that_overflow_or_vanish(model, value, tmp_path):
    target = labels if isinstance(model, GaussianNB) else y
    weight = np.ones(12)
    weight[7] = value
    with pytest.raises(ValueError, match=r"sample_weight contains .* in row 7: expected 0, or"):
        model.fit(X, target, sample_weight=weight)
    columns = {"a": X[:, 0], "b": X[:, 1], "w": weight, "y": target}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    scan = suffice.scan_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="sample_weight contains"):
        model.fit(suffice.rows(scan, features=["a", "b"], target="y", weight="w"))


@pytest.mark.parametrize("scale", [1e-99, 1e-20, 1e20, 1e99])
def test_weights_of_any_usual_scale_give_one_answer(scale):
    weight = rng.uniform(0.5, 2.0, size=12)
    a, b = (LinearRegression().fit(X, y, sample_weight=w) for w in (weight, weight * scale))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-10)
    a, b = (KMeans(2, random_state=0).fit(X, sample_weight=w) for w in (weight, weight * scale))
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, rtol=1e-10)


def test_negative_counts_say_where():
    with pytest.raises(ValueError, match=r"Negative values in data passed to MultinomialNB.* row 0, column"):
        MultinomialNB().fit(X, labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_arrays_that_are_checked_directly(form, dtype):
    """What the checks of scikit-learn would find, which arrays of numbers do not pass through."""
    rng = np.random.default_rng(0)
    dense = rng.random((40, 3)).astype(dtype)
    X, y = form(dense), rng.integers(0, 3, 40)
    named = pd.DataFrame(dense, columns=["a", "b", "c"])
    model = MultinomialNB().fit(named, y)
    assert hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.partial_fit(X, y)
    model.fit(X, y)
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 2 features, but MultinomialNB is expecting 3 features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="Found input variables with inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="0 feature"):
        model.fit(X[:, :0], y)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        model.fit(X, np.arange(40))
    with pytest.raises(ValueError, match="y contains"):
        Ridge().fit(X, np.where(y == 0, np.nan, y))
    wrong = dense.copy()
    wrong[1, 2] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        Ridge().fit(form(wrong), y)
    with pytest.raises(InvalidParameterError):
        Ridge(alpha="high").fit(X, y)
