"""Tables of mixed types: columns go to their transformers, and the fits share the passes over the data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import compose, preprocessing
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer, make_column_selector, make_column_transformer
from suffice.impute import SimpleImputer
from suffice.linear_model import LogisticRegression
from suffice.model_selection import GridSearch, cross_val_score, cross_validate, train_test_split
from suffice.preprocessing import DatetimeEncoder, OneHotEncoder, StandardScaler, TargetEncoder

N = 4000
NUMBERS, CATEGORIES = ["age", "income"], ["country", "browser"]
FEATURES = [*NUMBERS, *CATEGORIES]


def events() -> pa.Table:
    rng = np.random.default_rng(0)
    age, country = rng.normal(40, 10, N), rng.choice(["DE", "ES", "FR", "IT", "PL", "SE", "US"], N)
    clicked = rng.random(N) < 1.0 / (1.0 + np.exp((40 - age) / 5 - 2 * (country == "DE")))
    return pa.table(
        {
            "age": pa.array(age, mask=rng.random(N) < 0.05),
            "income": rng.gamma(2.0, size=N),
            "country": country,
            "browser": rng.choice(["chrome", "firefox", "safari"], N),
            "signup": np.datetime64("2023-01-01", "s") + rng.integers(0, 10**8, N).astype("timedelta64[s]"),
            "clicked": clicked.astype(np.int64),
        }
    )


EVENTS = events()
SIZES = (0, 900, 901, 3000, N)


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    for n, start in enumerate(SIZES[:-1]):
        pq.write_table(EVENTS.slice(start, SIZES[n + 1] - start), folder / f"{n}.parquet")
    return suffice.scan_parquet(folder)


def by_columns(**params):
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            ("categories", OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
        ],
        **params,
    )


def pipeline():
    return make_pipeline(by_columns(), LogisticRegression(tol=1e-8, max_iter=500))


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def rows_of(table):
    return dense(table.features.rows(EVENTS))


@pytest.mark.parametrize("threshold", [0.3, 1.0])
def test_as_scikit_learn(scan, threshold):
    frame = EVENTS.to_pandas()[FEATURES]
    ours = by_columns(sparse_threshold=threshold, transformer_weights={"categories": 2.0})
    table = ours.fit_transform(suffice.rows(scan, features=FEATURES))
    theirs = compose.ColumnTransformer(
        ours.transformers, sparse_threshold=threshold, transformer_weights={"categories": 2.0}
    )
    expected = theirs.fit_transform(frame)
    assert sp.issparse(expected) == ours.sparse_output_ == sp.issparse(table.features.rows(EVENTS))
    np.testing.assert_allclose(rows_of(table), dense(expected), atol=1e-12)
    assert ours.output_indices_ == theirs.output_indices_
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    for other in (frame, EVENTS.select(FEATURES), EVENTS):  # in memory
        np.testing.assert_allclose(dense(ours.transform(other)), dense(expected), atol=1e-12)


def test_fits_share_passes(scan):
    """Pass k fits step k of all transformers."""
    fitted = by_columns().fit(suffice.rows(scan, features=FEATURES))
    assert fitted.n_passes_ == 2  # the imputer and the categories, then the scaler
    alone = StandardScaler().fit(suffice.rows(scan, features=["income"]))
    mean = fitted.named_transformers_["numbers"][-1].mean_[1]
    assert mean == pytest.approx(alone.mean_[0], rel=1e-14)  # sums of one column and of two differ in order


def test_from_files_to_a_classifier(scan, tmp_path):
    """Numbers with holes, categories and dates: without a line of pandas."""
    transformer = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(), make_column_selector(dtype_include=object)),
        (
            DatetimeEncoder(features=["month", "hour"], cyclic=True),
            make_column_selector(dtype_include="datetime"),
        ),
    )
    model = make_pipeline(transformer, LogisticRegression()).fit(suffice.rows(scan, target="clicked"))
    assert model.score(suffice.rows(scan, target="clicked")) > 0.7
    predicted = model.predict(scan)
    suffice.save(model, tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(scan), predicted)
    np.testing.assert_array_equal(loaded.predict(EVENTS.drop_columns("clicked")), predicted)
    np.testing.assert_array_equal(loaded.predict(EVENTS.to_pandas().drop(columns="clicked")), predicted)
    written = model.predict(scan, to=tmp_path / "out")
    np.testing.assert_array_equal(pq.read_table(tmp_path / "out")["prediction"].to_numpy(), predicted)
    assert "prediction" in written.columns


def test_columns(scan):
    """Names, indices, slices and masks; what remains; and nested transformers."""
    table = suffice.rows(scan, features=FEATURES)
    expected = np.column_stack([EVENTS["age"].to_numpy(), EVENTS["income"].to_numpy()])
    for columns in (
        NUMBERS,
        [0, 1],
        slice(0, 2),
        slice("age", "income"),
        [True, True, False, False],
        [-4, -3],
    ):
        found = ColumnTransformer([("n", "passthrough", columns)]).fit_transform(table)
        np.testing.assert_array_equal(rows_of(found), expected)
    rest = ColumnTransformer([("c", "drop", CATEGORIES)], remainder="passthrough").fit_transform(table)
    np.testing.assert_array_equal(rows_of(rest), expected)
    inner = ColumnTransformer([("i", SimpleImputer(), [1])], remainder="drop")
    nested = ColumnTransformer([("outer", inner, NUMBERS)]).fit(table)
    assert nested.get_feature_names_out().tolist() == ["outer__i__income"]
    after = make_pipeline(ColumnTransformer([("n", SimpleImputer(), NUMBERS)]), inner).fit_transform(table)
    np.testing.assert_array_equal(rows_of(after), expected[:, 1:])
    with pytest.raises(ValueError, match="'weight' is none of"):
        ColumnTransformer([("n", "passthrough", ["weight"])]).fit(table)
    with pytest.raises(ValueError, match="all features must be in"):
        ColumnTransformer([("n", "passthrough", [7])]).fit(table)


def test_transformers_of_scikit_learn(scan):
    transformer = ColumnTransformer([("numbers", preprocessing.StandardScaler(), ["income"])])
    with pytest.raises(
        TypeError, match=r"sklearn StandardScaler: use suffice\.preprocessing\.StandardScaler"
    ):
        transformer.fit(scan)
    assert transformer.fit_transform(EVENTS.to_pandas()).shape == (N, 1)  # in memory they are as good


def test_targets_do_not_leak(scan):
    """The encoder of a training row was fitted without its fold."""
    transformer = ColumnTransformer([("t", TargetEncoder(), ["country"])])
    table = suffice.rows(scan, target="clicked")
    fitted, later = rows_of(transformer.fit_transform(table)), rows_of(transformer.transform(table))
    assert len(np.unique(later)) == 7 < len(np.unique(fitted)) <= 35


def test_weights(scan):
    """A row of weight 2 is the row twice."""
    weight = np.arange(N) % 3
    weighted = by_columns().fit(
        suffice.rows(EVENTS.append_column("w", pa.array(weight)), features=FEATURES, weight="w")
    )
    repeated = by_columns().fit(suffice.rows(EVENTS.take(np.repeat(np.arange(N), weight)), features=FEATURES))
    np.testing.assert_allclose(
        dense(weighted.transform(EVENTS)), dense(repeated.transform(EVENTS)), atol=1e-10
    )


def test_selector(scan):
    types = {
        "number": NUMBERS + ["clicked"],
        "integer": ["clicked"],
        float: NUMBERS,
        object: CATEGORIES,
        "datetime": ["signup"],
        bool: [],
    }
    for kind, names in types.items():
        for source in (scan, EVENTS, suffice.rows(EVENTS.to_pandas())):
            assert make_column_selector(dtype_include=kind)(source) == names, (kind, source)
    assert make_column_selector("^b", dtype_exclude=[np.number])(scan) == ["browser"]
    described = suffice.rows(scan, target="clicked")
    assert make_column_selector(dtype_include="integer")(described) == []  # a target is not a feature
    dictionary = pa.table({"c": pa.array(["a"]).dictionary_encode()})
    assert make_column_selector(dtype_include="category")(dictionary) == ["c"]


def test_split_by_hash(scan):
    table = suffice.rows(scan, features=["income"], target="clicked")
    train, test = train_test_split(table, test_size=0.25, random_state=3)
    counts = []
    for part in (train, test):
        selected = [part.selection.rows(EVENTS.slice(a, b - a)) for a, b in pairwise(SIZES)]
        counts.append(pa.concat_tables(selected))
    incomes = [set(part["income"].to_pylist()) for part in counts]
    assert not incomes[0] & incomes[1] and len(incomes[0] | incomes[1]) == N
    assert abs(len(incomes[1]) / N - 0.25) < 4 * np.sqrt(0.25 * 0.75 / N)
    model = LogisticRegression().fit(train)
    arrays = (counts[0].select(["income"]), counts[0]["clicked"].to_numpy())
    alone = LogisticRegression().fit(arrays[0].to_pandas(), arrays[1])
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)
    assert len(model.predict(test)) == len(incomes[1])
    again, _ = train_test_split(table, test_size=0.25, random_state=3)
    assert again == train
    described = suffice.rows(train_test_split(scan, random_state=0)[0], features=["income"], target="clicked")
    assert described.selection is not None and described.target == "clicked"


def test_split_in_memory():
    from sklearn.model_selection import train_test_split as theirs

    X = np.arange(20).reshape(10, 2)
    for mine, yours in zip(train_test_split(X, random_state=0), theirs(X, random_state=0), strict=True):
        np.testing.assert_array_equal(mine, yours)
    labels = EVENTS["clicked"].to_numpy()
    table = suffice.rows(EVENTS, target="clicked")
    train, test = train_test_split(table, test_size=400, random_state=0, stratify=labels)
    assert (train.source.num_rows, test.source.num_rows) == (N - 400, 400) and test.target == "clicked"
    assert abs(test.source["clicked"].to_numpy().mean() - labels.mean()) < 2e-3


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"test_size": 100}, "must be a fraction"),
        ({"test_size": 0.7, "train_size": 0.7}, "must be at most 1"),
        ({"shuffle": False}, "by a hash of their values"),
    ],
)
def test_splits_that_are_refused(scan, how, match):
    with pytest.raises(ValueError, match=match):
        train_test_split(scan, **how)


@pytest.mark.slow
def test_cross_validation(scan):
    """The scores are those of fits to the folds, one by one."""
    table = suffice.rows(scan, features=FEATURES, target="clicked")
    result = cross_validate(
        pipeline(), table, cv=3, random_state=0, return_train_score=True, return_estimator=True
    )
    assert result["test_score"].shape == result["train_score"].shape == (3,)
    assert (result["test_score"] > 0.7).all()
    np.testing.assert_allclose(cross_val_score(pipeline(), table, cv=3, random_state=0), result["test_score"])
    in_memory = suffice.rows(
        EVENTS, features=FEATURES, target="clicked"
    )  # the same folds, from another place
    np.testing.assert_allclose(
        cross_val_score(pipeline(), in_memory, cv=3, random_state=0), result["test_score"], atol=2e-3
    )
    constant = cross_val_score(pipeline(), table, cv=3, scoring=lambda model, part: 1.0, random_state=0)
    assert constant.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="number of folds"):
        cross_validate(pipeline(), table, cv=[(0, 1)])


@pytest.mark.slow
def test_search_over_a_pipeline(scan, tmp_path):
    table = suffice.rows(scan, features=FEATURES, target="clicked")
    grid = {"columntransformer__categories__drop": [None, "first"], "logisticregression__C": [1e-4, 1.0]}
    search = GridSearch(pipeline(), grid, cv=3, random_state=0).fit(table)
    assert search.best_params_["logisticregression__C"] == 1.0
    scores = [search.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
    best = int(search.best_index_)
    chosen = pipeline().set_params(**search.best_params_)
    expected = cross_val_score(chosen, table, cv=3, random_state=0)
    np.testing.assert_allclose([score[best] for score in scores], expected)
    suffice.save(search, tmp_path / "search")
    np.testing.assert_array_equal(suffice.load(tmp_path / "search").predict(scan), search.predict(scan))
    with pytest.raises(TypeError, match="GridSearchCV"):
        GridSearch(pipeline(), grid).fit(EVENTS.to_pandas()[FEATURES], EVENTS["clicked"].to_numpy())
