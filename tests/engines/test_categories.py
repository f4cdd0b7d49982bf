"""Columns of categories: dictionaries of Arrow tables, Parquet scans and streams, and the categories of
pandas and Polars, give one model, which predicts for each of them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ForwardStagewiseClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from suffice.inputs import parquet
from suffice.inputs.parquet import with_small_dictionaries
from suffice.mixture import MixedMixture
from suffice.model_selection import GridSearch, train_test_split
from suffice.naive_bayes import CategoricalNB, GaussianNB, MixedNB
from suffice.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder
from suffice.sequence import HiddenMarkovModel
from suffice.tree import DecisionTreeClassifier, MultiwayTreeClassifier

from ._common import spark_frame

N = 400
FEATURES = ["kind", "size", "ordered", "x"]
KINDS = ["pandas", "polars", "arrow", "scan", "lazy"]


def frame(seed: int = 0) -> pd.DataFrame:
    """Categories of strings and of numbers, some of them missing, of which alternate ones are positive."""
    rng = np.random.default_rng(seed)
    kind, size, level = (rng.integers(0, n, N) for n in (12, 9, 3))
    y = (kind % 2 + size % 2 + (rng.random(N) < 0.05)) >= 1.5
    return pd.DataFrame(
        {
            "kind": pd.Categorical.from_codes(kind, [f"k{n}" for n in range(12)]),
            "size": pd.Categorical(np.where(size == 8, np.nan, 10.0 * size)),
            "ordered": pd.Categorical.from_codes(level, ["low", "mid", "high"], ordered=True),
            "x": rng.normal(size=N),
            "y": y.astype(int),
        }
    )


def as_kind(table: pd.DataFrame, kind: str, path):
    if kind == "pandas":
        return table
    if kind in ("polars", "lazy"):
        out = pl.DataFrame(
            {
                "kind": pl.Series(
                    table["kind"].astype(object).where(table["kind"].notna(), None).tolist(),
                    dtype=pl.Categorical,
                ),
                # Polars has categories of strings alone.
                "ordered": pl.Series(table["ordered"].tolist(), dtype=pl.Enum(["low", "mid", "high"])),
                "x": table["x"].to_numpy(),
                "y": table["y"].to_numpy(),
            }
        )
        return out if kind == "polars" else out.lazy()
    whole = pa.Table.from_pandas(table, preserve_index=False)
    if kind == "arrow":
        return whole
    # Files and row groups whose dictionaries differ: each has the values that occur in it, in another order.
    folder = path / f"folder-{len(list(path.iterdir()))}"
    folder.mkdir()
    for n, start in enumerate(range(0, N, 100)):
        part = table[start : start + 100].copy()
        for name in ("kind", "size"):
            used = list(part[name].cat.remove_unused_categories().cat.categories)
            part[name] = part[name].cat.set_categories(used[n:] + used[:n])
        pq.write_table(
            pa.Table.from_pandas(part, preserve_index=False), folder / f"{n}.parquet", row_group_size=40
        )
    return suffice.scan_parquet(folder)


def columns_of(kind: str) -> list[str]:
    return [name for name in FEATURES if name != "size" or kind not in ("polars", "lazy")]


MODELS = {
    "hist": HistGradientBoostingClassifier(max_iter=5),
    "hist numbers": HistGradientBoostingRegressor(max_iter=5),
    "tree": DecisionTreeClassifier(max_depth=3, categorical_features="from_dtype"),
    "forest": RandomForestClassifier(5, categorical_features="from_dtype", random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=3, categorical_features="from_dtype"),
    "boosting after another": GradientBoostingClassifier(
        init=HistGradientBoostingClassifier(max_iter=2), n_estimators=2, categorical_features="from_dtype"
    ),
    "multiway": MultiwayTreeClassifier(categorical_features="from_dtype"),
    "bagged trees": BaggingClassifier(
        DecisionTreeClassifier(max_depth=3, categorical_features="from_dtype"), 3, random_state=0
    ),
    "bagging": BaggingClassifier(
        HistGradientBoostingClassifier(max_iter=2), 2, max_features=0.7, random_state=0
    ),
    "boosted trees": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1, categorical_features="from_dtype"), n_estimators=3, random_state=0
    ),
    "boosted": AdaBoostClassifier(HistGradientBoostingClassifier(max_iter=2), n_estimators=2, random_state=0),
    "stagewise": ForwardStagewiseClassifier(
        estimator=DecisionTreeClassifier(max_depth=1, categorical_features="from_dtype"), n_estimators=3
    ),
    "search": GridSearch(
        HistGradientBoostingClassifier(max_iter=3), {"max_depth": [2]}, cv=2, random_state=0
    ),
    "naive Bayes": MixedNB("auto"),
    "mixture": MixedMixture(2, kinds="auto", random_state=0),
}


def later() -> pd.DataFrame:
    """Rows to predict, with categories that were not seen, missing ones, and others of another order."""
    table = frame(1)
    for name, values in {"kind": ["new", None, "k3"], "size": [99.0, np.nan, 30.0]}.items():
        column = table[name].astype(object)
        column[:3] = values
        table[name] = pd.Categorical(column, categories=sorted(set(column.dropna()), reverse=True))
    return table


def answers(model, X):
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    return np.asarray(model.predict(X))


def same(a, b, message=""):
    """The same to rounding: the blocks of files are not those of a table in memory."""
    np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=message)


QUICK = {"hist", "bagging", "search"}  # one of each way to the types of the columns


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_every_container_gives_one_model_that_serves_all(name, tmp_path):
    table, new = frame(), later()
    sources = {kind: as_kind(table, kind, tmp_path) for kind in KINDS}
    asked = {kind: as_kind(new, kind, tmp_path) for kind in KINDS}
    for features in (FEATURES, [f for f in FEATURES if f != "size"]):
        kinds = [kind for kind in KINDS if columns_of(kind) == FEATURES or "size" not in features]
        models = {
            kind: clone(MODELS[name]).fit(suffice.rows(sources[kind], features=features, target="y"))
            for kind in kinds
        }
        expected = answers(models["pandas"], new[features])
        for fitted in kinds:
            for kind in kinds:
                X = asked[kind][features] if kind in ("pandas", "polars") else asked[kind]
                same(answers(models[fitted], X), expected, f"{fitted} -> {kind}")
    bare = clone(MODELS[name]).fit(table[features], table["y"])  # as scikit-learn takes it
    same(answers(bare, new[features]), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_categories_are_used(kind, tmp_path):
    """Alternate categories are positive, which no threshold of their codes divides."""
    rng = np.random.default_rng(0)
    category = rng.integers(0, 20, N)
    positive = rng.permutation(20) < 10
    values = np.array([f"v{n:02}" for n in range(20)], object)[category]
    table = pd.DataFrame(
        {"kind": pd.Categorical(values), "x": rng.normal(size=N), "y": positive[category] * 1}
    )
    table["ordered"], table["size"] = pd.Categorical(["low"] * N), pd.Categorical([1.0] * N)
    source = as_kind(table, kind, tmp_path)
    model = HistGradientBoostingClassifier(max_iter=20).fit(
        suffice.rows(source, features=["kind", "x"], target="y")
    )
    assert model.score(suffice.rows(source, features=["kind", "x"], target="y")) == 1.0
    assert model.is_categorical_.tolist() == [True, False]


def test_numbers_that_are_categories_are_used(tmp_path):
    """A dictionary of numbers looks like numbers in the rows: its type says what it is."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 60, 3000)
    y = (rng.permutation(60) < 30)[code] * 1
    plain = pa.table({"code": code, "y": y})
    coded = plain.set_column(0, "code", pa.chunked_array([code]).dictionary_encode())
    pq.write_table(coded, tmp_path / "a.parquet", row_group_size=500)
    new = HistGradientBoostingClassifier(max_iter=3, max_depth=2)
    described = [
        suffice.rows(source, target="y")
        for source in (coded, suffice.scan_parquet(tmp_path), suffice.scan(lambda: coded.to_batches(400)))
    ]
    expected = clone(new).fit(coded.to_pandas()[["code"]].astype("category"), y)
    assert expected.score(described[0]) == 1.0
    assert clone(new).fit(plain.to_pandas()[["code"]], y).score(described[0]) < 0.9  # as numbers
    for table in described:
        model = clone(new).fit(table)
        assert model.is_categorical_.tolist() == [True]
        np.testing.assert_array_equal(model.predict_proba(coded), expected.predict_proba(coded))


@pytest.mark.parametrize("folder", ["files", "filtered"])
def test_dictionaries_of_unlike_types(folder, tmp_path):
    """Files whose dictionaries have other indices, other strings, or none, hold the same categories."""
    table = frame()[["kind", "y"]]
    strings = table["kind"].astype(str).tolist()
    types = [
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
        pa.string(),
        pa.dictionary(pa.int64(), pa.string(), ordered=True),
    ]
    for n, kind in enumerate(types):
        part = slice(100 * n, 100 * n + 100)
        column = pa.array(strings[part], getattr(kind, "value_type", kind))
        column = column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column
        pq.write_table(pa.table({"kind": column, "y": table["y"][part]}), tmp_path / f"{n}.parquet")
    filters = None if folder == "files" else [("y", ">=", 0)]
    scan = suffice.rows(suffice.scan_parquet(tmp_path, filters=filters), target="y")
    model = HistGradientBoostingClassifier(max_iter=3).fit(scan)
    expected = HistGradientBoostingClassifier(max_iter=3).fit(table[["kind"]], table["y"])
    np.testing.assert_array_equal(model.predict_proba(scan), expected.predict_proba(table[["kind"]]))


def test_strings_of_parquet_are_read_as_codes(tmp_path, monkeypatch):
    """If the dictionary of a file is small; with filters, sequences and selections, the bits are those of
    strings."""
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "few": pa.array([f"v{k}" if k else None for k in rng.integers(0, 7, 5000)]),
            "many": [rng.bytes(20).hex() for _ in range(5000)],
            "user": np.repeat([f"u{k}" for k in range(500)], 10),
            "step": np.tile([f"s{k}" for k in range(10)][::-1], 500),
            "x": rng.normal(size=5000),
        }
    )
    pq.write_table(table.slice(0, 2000), tmp_path / "0.parquet", row_group_size=700)
    pq.write_table(
        table.slice(2000).cast(table.schema.set(3, pa.field("step", pa.large_string()))),
        tmp_path / "1.parquet",
    )
    scan = suffice.scan_parquet(tmp_path)
    filtered = suffice.scan_parquet(tmp_path, filters=[("few", "!=", "v3")])

    def fitted():
        part, _ = train_test_split(suffice.rows(scan, features=["few", "step"]), random_state=0)
        encoders = [OneHotEncoder().fit(t) for t in (part, suffice.rows(filtered, features=["few", "user"]))]
        steps = suffice.sequences(scan, sequence="user", order="step", features=["x"])
        chain = HiddenMarkovModel(2, max_iter=2, tol=0.0, random_state=0).fit(steps)
        classes = GaussianNB().fit(suffice.rows(scan, features=["x"], target="step"))
        counts = [c.tolist() for e in encoders for c in e.statistics_.categories.count]
        return counts, chain.trace_.tolist(), classes.classes_.tolist(), classes.theta_.tolist()

    pq.write_table(table, tmp_path / "all.parquet")
    assert with_small_dictionaries(suffice.scan_parquet(tmp_path / "all.parquet"), table.column_names) == [
        "few",
        "user",
        "step",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = fitted()
        monkeypatch.setattr(parquet, "with_small_dictionaries", lambda *args: [])
        assert fitted() == codes


def test_an_object_column_of_numbers_is_no_category():
    X = pd.DataFrame({"a": np.array([1, 2, 3, 4] * 20, object), "b": ["u", None, "v", "w"] * 20})
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, [0, 0, 1, 1] * 20)
    assert model.is_categorical_.tolist() == [False, True]


def test_arrays_have_no_types():
    with pytest.raises(ValueError, match="requires columns with types, as of a DataFrame, an Arrow table"):
        DecisionTreeClassifier(categorical_features="from_dtype").fit(np.eye(4), [0, 1, 0, 1])


def _encoders():
    return {
        "one-hot": OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        "target": TargetEncoder(cv=2),
    }


@pytest.mark.parametrize("name", _encoders())
def test_encoders_of_categories(name, tmp_path):
    table, new = frame(), later()
    columns = ["kind", "ordered"]
    expected = None
    for kind in KINDS:
        source = suffice.rows(as_kind(table, kind, tmp_path), features=columns, target="y")
        encoder = _encoders()[name].fit(source)
        for other in KINDS:
            X = as_kind(new, other, tmp_path)
            X = X[columns] if other in ("pandas", "polars") else X
            answer = np.asarray(encoder.transform(X))
            expected = answer if expected is None else expected
            same(answer, expected, f"{kind} -> {other}")


def test_categories_as_codes():
    """CategoricalNB takes codes: dictionaries of numbers are these numbers."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 2)), rng.integers(0, 2, 200)
    table = pa.table({f"c{d}": pa.array(X[:, d]).dictionary_encode() for d in range(2)})
    expected = CategoricalNB().fit(X, y).predict_proba(X)
    for source in (table, table.to_pandas(), table.to_pandas().astype("category")):
        np.testing.assert_array_equal(CategoricalNB().fit(source, y).predict_proba(source), expected)


@pytest.fixture(scope="module")
def parts():
    table = frame()[["kind", "x", "y"]]
    return [pa.Table.from_pandas(table[a : a + 100], preserve_index=False) for a in range(0, N, 100)]


def check_engine(source, parts):
    model = HistGradientBoostingClassifier(max_iter=3).fit(suffice.rows(source, target="y"))
    table = frame()
    expected = HistGradientBoostingClassifier(max_iter=3).fit(table[["kind", "x"]], table["y"])
    assert model.is_categorical_.tolist() == [True, False]
    np.testing.assert_array_equal(
        model.predict_proba(pa.concat_tables(parts)), expected.predict_proba(table[["kind", "x"]])
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.filterwarnings("ignore::UserWarning:ray")
@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
def test_on_ray(cluster, parts):
    import ray

    check_engine(ray.data.from_arrow(parts), parts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, to Dask
def test_on_dask(dask_client, parts):
    import dask.dataframe as dd
    from dask import delayed

    with dask_client.as_current():
        check_engine(dd.from_delayed([delayed(part.to_pandas()) for part in parts]), parts)


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_on_spark(spark, parts):
    kind = pa.schema([("kind", pa.string()), ("x", pa.float64()), ("y", pa.int64())])
    check_engine(spark_frame(spark, [part.cast(kind) for part in parts]), parts)
