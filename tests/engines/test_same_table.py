"""Every estimator learns the same from a scan and from the same table in memory, of pandas, Polars or Arrow,
and then serves each of these kinds of tables with the same answers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import compose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

import suffice
from suffice.compose import ColumnTransformer
from suffice.core.values import Value
from suffice.impute import SimpleImputer
from suffice.linear_model import LinearRegression
from suffice.preprocessing import (
    DatetimeEncoder,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
    TargetEncoder,
)
from suffice.preprocessing.encoders import Encoder

from ._common import kind_of, target_of, variants

N = 240


def table(kind: str) -> pd.DataFrame:
    """Columns of one kind, and targets."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, N)
    X = 2.0 * label[:, None] + rng.normal(size=(N, 3))
    if kind.startswith("count"):
        X = np.minimum(np.abs(np.round(X)), 5.0)
    out = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": np.round(X[:, 2]).astype(int)})
    hole = rng.random((N, 3)) < 0.1
    if kind.endswith("holes"):
        out["a"] = out["a"].mask(hole[:, 0])
        out["c"] = out["c"].astype("Int64").mask(hole[:, 2])
        out["d"] = pd.array(rng.random(N) < 0.5, "boolean")
    if kind in ("strings", "mixed"):
        words = np.array(["red", "green", "blue", "grey"], object)
        word = words[rng.integers(0, 4, N)]
        ordered = pd.Categorical.from_codes(label, ["low", "mid", "high"], ordered=True)
        strings = pd.DataFrame(
            {"word": word, "kind": pd.Categorical(words[rng.integers(0, 4, N)]), "level": ordered}
        )
        strings["word"] = strings["word"].mask(hole[:, 0], None)
        strings["kind"] = strings["kind"].mask(hole[:, 1])
        out = strings if kind == "strings" else out.assign(word=strings["word"], kind=strings["kind"])
    if kind == "dates":
        days = pd.Series(
            np.datetime64("2024-01-01", "us") + rng.integers(0, 10**13, N).astype("timedelta64[us]")
        )
        out = pd.DataFrame({"day": days.mask(hole[:, 0]), "when": days.dt.tz_localize("Europe/Berlin")})
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=N)
    return out.assign(label=label, first=(label == 0) * 1, y=y, amount=np.exp(0.1 * y))


def containers(frame: pd.DataFrame, folder) -> dict[str, Any]:
    """The same table as each kind of container."""
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    pq.write_table(arrow, path)
    nullable = frame.convert_dtypes()
    return {
        "pandas": frame,
        "pandas with NA": nullable,
        "pandas on Arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow(arrow),
        "arrow": arrow,
        "scan": suffice.scan_parquet(path),
    }


def features_of(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame.columns if name not in ("label", "first", "y", "amount")]


def fitted(estimator, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(*data)


# --- equality -------------------------------------------------------------------------------------------


def same(a: Any, b: Any, place: str) -> None:
    """Equal to rounding. A missing value is NaN or None: scikit-learn keeps the one that came."""
    if isinstance(a, Value):
        assert type(a) is type(b), place
        a, b = a.fields(), b.fields()
    if isinstance(a, dict):
        assert a.keys() == b.keys(), place
        for key in a:
            same(a[key], b[key], f"{place}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), place
        for n, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{place}[{n}]")
    elif sp.issparse(a):
        assert a.format == b.format, place
        same(a.toarray(), b.toarray(), place)
    elif isinstance(a, np.ndarray):
        assert a.shape == b.shape, f"{place}: {a.shape} {b.shape}"
        numbers = [x.dtype.kind in "biuf" for x in (a, b)]
        assert numbers[0] == numbers[1], f"{place}: {a.dtype} {b.dtype}"
        if all(numbers):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=place)
        else:
            same(a.ravel().tolist(), b.ravel().tolist(), place)
    elif pd.api.types.is_scalar(a) and pd.isna(a):
        assert pd.isna(b), f"{place}: {a} {b}"
    elif isinstance(a, float | int | np.number) and not isinstance(a, bool):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9), f"{place}: {a} {b}"
    elif hasattr(a, "get_params"):
        same(learnt(a), learnt(b), place)
    elif not callable(a):
        assert str(a) == str(b), f"{place}: {a} {b}"


# What is known of each row, or tells how the rows were read.
OF_ROWS = {"labels_", "outliers_", "component_indices_", "n_passes_"}


def learnt(model: Any) -> dict[str, Any]:
    """The public fitted attributes."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name not in OF_ROWS
    }


def answers(model: Any, X: Any) -> dict[str, Any]:
    """What the row-wise methods say."""
    out = {}
    for name in ("predict", "predict_proba", "transform"):
        if hasattr(model, name):
            answer = getattr(model, name)(X)
            if isinstance(answer, suffice.inputs.Table):
                answer = gathered(answer)
            out[name] = answer
    return out


def gathered(table: Any) -> Any:
    """The rows of a transformed table, dense or sparse."""
    reader = table.features
    source = suffice.inputs.source_of(table)
    parts = [reader.rows(batch) for _, batch in source.batches(reader.columns)]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def check(estimator: Any, kind: str, folder: Any) -> None:
    frame = table(kind)
    features, target = features_of(frame), target_of(estimator)
    sources = containers(frame, folder)
    rows = containers(frame[features], folder)
    first = fitted(estimator, suffice.rows(frame, features=features, target=target))
    expected, said = learnt(first), answers(first, frame[features])
    for name, source in sources.items():
        model = fitted(estimator, suffice.rows(source, features=features, target=target))
        same(learnt(model), expected, name)
        for other, X in rows.items():
            if getattr(model, "rows_elsewhere", False) and other == "scan":
                # Neighbours of each row of files among the rows of files: one of both must be in memory.
                with pytest.raises(TypeError, match=r"pass these in memory|queries .* must be in memory"):
                    getattr(model, "predict", getattr(model, "kneighbors", None))(X)
            else:
                same(answers(model, X), said, f"{name} -> {other}")
    y = () if target is None else (frame[target],)
    for name, X in rows.items():
        if name == "scan":
            continue
        model = fitted(estimator, X, *y)  # as scikit-learn takes it
        known = learnt(model)
        if isinstance(model, Encoder):  # which scikit-learn fits to DataFrames: there are no sums
            known["statistics_"] = expected["statistics_"]
        same(known, expected, f"bare {name}")
        for other in rows:
            same(answers(model, rows[other]), said, f"bare {name} -> {other}")


OPTIONS: dict[str, tuple[Any, str]] = {
    "impute mean": (SimpleImputer(), "holes"),
    "impute median": (SimpleImputer(strategy="median", add_indicator=True), "holes"),
    "impute most frequent": (SimpleImputer(strategy="most_frequent"), "holes"),
    "impute constant": (SimpleImputer(strategy="constant", fill_value=7), "holes"),
    "impute strings": (SimpleImputer(strategy="most_frequent", missing_values=None), "strings"),
    "impute strings NaN": (SimpleImputer(strategy="most_frequent"), "strings"),
    "impute strings NA": (SimpleImputer(strategy="constant", missing_values=pd.NA), "strings"),
    "impute mixed": (SimpleImputer(strategy="most_frequent"), "mixed"),
    "one-hot": (OneHotEncoder(), "strings"),
    "one-hot of numbers": (OneHotEncoder(handle_unknown="ignore"), "count"),
    "one-hot, few": (OneHotEncoder(max_categories=3, sparse_output=False), "strings"),
    "one-hot of holes": (OneHotEncoder(), "holes"),
    "ordinal": (OrdinalEncoder(), "strings"),
    "ordinal of numbers": (OrdinalEncoder(), "count"),
    "ordinal of holes": (OrdinalEncoder(encoded_missing_value=-1), "holes"),
    "ordinal mixed": (OrdinalEncoder(min_frequency=2), "mixed"),
    "target": (TargetEncoder(cv=2), "strings"),
    "target of numbers": (TargetEncoder(cv=2), "count"),
    "dates": (DatetimeEncoder(), "dates"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_columns_of_a_kind(name, tmp_path):
    check(*OPTIONS[name], tmp_path)


# One of each way to the rows: a fold, passes, categories, and what scikit-learn transforms.
QUICK = ("PCA", "LogisticRegression", "MixedNB", "PolynomialFeatures", "StandardScaler")


def cases() -> list[Any]:
    """Every estimator with each kind of columns that it takes; those that are many are slow."""
    out = []
    for name, estimator in variants().items():
        tags = get_tags(estimator).input_tags
        kind = kind_of(estimator)
        holes = "holes" if kind == "real" else "count with holes"
        kinds = [kind, *([holes] if tags.allow_nan else []), *(["mixed"] if tags.string else [])]
        if isinstance(getattr(estimator, "kinds", None), list):  # of three columns
            kinds = [kind]
        marks = () if name in QUICK else pytest.mark.slow
        out += [pytest.param(estimator, kind, id=f"{name}-{kind}", marks=marks) for kind in kinds]
    return out


@pytest.mark.parametrize(("estimator", "kind"), cases())
def test_every_estimator(estimator, kind, tmp_path):
    check(estimator, kind, tmp_path)


@pytest.mark.parametrize("passed", ["remainder", "named"])
def test_columns_that_pass_through(passed, tmp_path):
    """A ColumnTransformer that was fitted to one container transforms the others, also after a reload."""
    frame = table("real")[["a", "b", "c"]]
    steps = [("scale", StandardScaler(), ["a"])]
    columns = (
        ColumnTransformer(steps, remainder="passthrough")
        if passed == "remainder"
        else ColumnTransformer([*steps, ("same", "passthrough", ["b", "c"])])
    )
    expected = compose.ColumnTransformer(columns.transformers, remainder=columns.remainder).fit_transform(
        frame
    )
    rows = containers(frame, tmp_path)
    for name, X in rows.items():
        model = clone(columns).fit(X)
        suffice.save(model, tmp_path / "model.suffice")
        for fitted_model in (model, suffice.load(tmp_path / "model.suffice")):
            for other, Z in rows.items():
                # Of nullable types of pandas, scikit-learn passes objects through.
                answer = np.asarray(answers(fitted_model, Z)["transform"], dtype=np.float64)
                same(answer, expected, f"{name} -> {other}")
            assert fitted_model.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, 2.0, 3.0]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series(["u", "v", "u"]),
        pl.Series([1.0, 2.0, 3.0]),
        pa.array([1.0, 2.0, 3.0]),
        pa.chunked_array([[1.0, 2.0], [3.0]]),
    ],
    ids=["pandas", "pandas with NA", "pandas strings", "polars", "arrow", "arrow in chunks"],
)
def test_a_column_is_no_table(column):
    model = LinearRegression().fit(np.arange(3.0)[:, None], [0, 1, 2])
    for call in (model.predict, StandardScaler().fit, lambda X: LinearRegression().fit(X, [0, 1, 2])):
        with pytest.raises(
            ValueError, match=r"Expected a 2-dimensional container but got .*reshape\(-1, 1\)"
        ):
            call(column)
    if "pandas" in str(type(column)) and column.dtype == np.float64:  # the remedies
        assert model.predict(np.asarray(column).reshape(-1, 1)).shape == (3,)
        assert StandardScaler().fit(column.to_frame()).n_features_in_ == 1


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), PolynomialFeatures(), SimpleImputer()])
def test_columns_of_arrow_are_read_by_their_names(scaler):
    """Others are left out, and their order does not matter."""
    frame = table("real")[["a", "b", "c"]]
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    model = clone(scaler).fit(arrow)
    other = arrow.select(["c", "a", "b"]).append_column("more", pa.array(["text"] * N))
    same(model.transform(other), model.transform(frame), "order")
    with pytest.raises(ValueError, match=r"no column \['b'\]"):
        model.transform(arrow.select(["a", "c"]))


def test_targets_beside_an_arrow_table():
    frame = table("strings")
    X, y = frame[["word", "kind"]], frame["y"].to_numpy()
    arrow = pa.Table.from_pandas(X, preserve_index=False)
    expected = TargetEncoder(cv=2).fit(suffice.rows(frame, features=["word", "kind"], target="y"))
    model = TargetEncoder(cv=2).fit(arrow, y)
    same(model.encodings_, expected.encodings_, "encodings_")
    weighted = TargetEncoder(cv=2).fit(arrow, y, sample_weight=np.arange(N) % 3)
    twice = np.repeat(np.arange(N), np.arange(N) % 3)
    same(weighted.encodings_, TargetEncoder(cv=2).fit(arrow.take(twice), y[twice]).encodings_, "weights")
    assert TargetEncoder(cv=2).fit_transform(arrow, y).shape == (N, 2)
    with pytest.raises(ValueError, match="columns of it: call fit"):
        TargetEncoder().fit(suffice.rows(arrow), y)
