"""Tables of mixed types on every engine: fits, splits and folds are those of the same rows in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer, make_column_selector
from suffice.impute import SimpleImputer
from suffice.linear_model import LogisticRegression
from suffice.model_selection import cross_val_score, train_test_split
from suffice.preprocessing import DatetimeEncoder, OneHotEncoder, TargetEncoder

from ._common import spark_frame, write

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
]


def block(seed: int, n: int = 300) -> pa.Table:
    rng = np.random.default_rng(seed)
    age, country = rng.normal(40, 10, n), rng.choice(["DE", "FR", "IT", "US"], n)
    return pa.table(
        {
            "age": age,
            "income": pa.array(rng.gamma(2.0, size=n), mask=rng.random(n) < 0.1),
            "country": country,
            "city": rng.choice([f"city {k}" for k in range(20)], n),
            "signup": np.datetime64("2024-01-01", "us")
            + rng.integers(0, 10**13, n).astype("timedelta64[us]"),
            "clicked": (age + 10 * (country == "DE") > 42).astype(np.int64),
        }
    )


BLOCKS = [block(seed) for seed in range(3)]
WHOLE = pa.concat_tables(BLOCKS)


def new():
    columns = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), make_column_selector(dtype_include="number")),
            ("country", OneHotEncoder(), ["country"]),
            ("city", TargetEncoder(cv=3), ["city"]),
            ("dates", DatetimeEncoder(["month", "hour"]), ["signup"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression(tol=1e-9, max_iter=1000))


def described(source):
    return suffice.rows(source, target="clicked")


@pytest.fixture(scope="module")
def expected():
    """Of an Arrow table: the coefficients, how many rows a split has, and scores."""
    train, _ = train_test_split(described(suffice.scan(lambda: [WHOLE])), random_state=0)
    rows = len(train.selection.rows(WHOLE))
    scores = cross_val_score(new(), described(WHOLE), cv=3, random_state=0)
    return new().fit(described(WHOLE))[-1].coef_, rows, scores


def check(source, expected, count):
    coef, rows, scores = expected
    model = new().fit(described(source))
    np.testing.assert_allclose(model[-1].coef_, coef, rtol=1e-5)
    train, test = train_test_split(described(source), random_state=0)
    assert count(model.predict(train)) == rows and count(model.predict(test)) == WHOLE.num_rows - rows
    np.testing.assert_allclose(
        cross_val_score(new(), described(source), cv=3, random_state=0), scores, atol=1e-9
    )


def test_on_parquet(tmp_path, expected):
    check(suffice.scan_parquet(write(tmp_path, BLOCKS)), expected, len)


@pytest.mark.slow
def test_on_ray(cluster, expected):
    import ray

    check(ray.data.from_arrow(BLOCKS), expected, lambda answer: answer.count())


@pytest.mark.slow
def test_on_dask(dask_client, expected):
    import dask.dataframe as dd
    from dask import delayed

    with dask_client.as_current():
        there = dd.from_delayed([delayed(part.to_pandas()) for part in BLOCKS])
        check(there, expected, len)


@pytest.mark.slow
def test_on_spark(spark, expected):
    check(spark_frame(spark, BLOCKS), expected, lambda answer: answer.count())
