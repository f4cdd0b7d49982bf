"""A pipeline over data where it is: readers compose, no rows are copied, and the result is that of arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import preprocessing
from sklearn.pipeline import Pipeline, make_pipeline

import suffice
from suffice.core.storage import StorageError
from suffice.decomposition import PCA
from suffice.inputs import Table
from suffice.inputs.readers import DenseColumns, Transformed
from suffice.linear_model import LogisticRegression
from suffice.preprocessing import BasisFunctions, RobustScaler, StandardScaler

from ._common import FEATURES, spark_frame, tables, write

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
    pytest.mark.filterwarnings("ignore:(?s).*The copy keyword"),  # of pandas, to Spark
]
BLOCKS = tables()[3:8]
WHOLE = pa.concat_tables(BLOCKS)


def new():
    scalers = RobustScaler(), StandardScaler()
    return make_pipeline(*scalers, BasisFunctions(degree=2), PCA(4), LogisticRegression())


@pytest.fixture(scope="module")
def expected():
    """The pipeline of arrays."""
    X = np.column_stack([WHOLE[name].to_numpy() for name in FEATURES])
    return X, new().fit(X, WHOLE["label"].to_numpy())


def fitted(source):
    return new().fit(suffice.rows(source, features=FEATURES, target="label", weight=None))


def check(pipeline, source, expected, home=None):
    """It fits and answers as the pipeline of arrays; an engine may answer with the rows in another order."""
    X, alone = expected
    np.testing.assert_allclose(pipeline[-1].coef_, alone[-1].coef_, rtol=1e-6)
    asked, predicted = X, pipeline.predict(suffice.rows(source, features=FEATURES))
    if home is not None:
        frame = home(predicted)
        assert sorted(frame[FEATURES[0]]) == sorted(X[:, 0])
        asked, predicted = frame[FEATURES].to_numpy(), frame["prediction"].to_numpy()
    assert (np.asarray(predicted) == alone.predict(asked)).mean() > 0.999
    described = suffice.rows(source, features=FEATURES, target="label")
    assert pipeline.score(described) == pytest.approx(alone.score(X, WHOLE["label"].to_numpy()), abs=1e-3)


def test_on_parquet(tmp_path, expected):
    scan = suffice.scan_parquet(write(tmp_path, BLOCKS))
    pipeline = fitted(scan)
    check(pipeline, scan, expected)
    frame = WHOLE.to_pandas()[FEATURES]
    np.testing.assert_array_equal(pipeline.predict(scan), pipeline.predict(frame))  # of a bare scan, too
    suffice.save(pipeline, tmp_path / "pipeline.suffice")
    stored = suffice.load(tmp_path / "pipeline.suffice")
    assert isinstance(stored, Pipeline) and list(stored.named_steps) == list(pipeline.named_steps)
    np.testing.assert_array_equal(stored.predict_proba(scan), pipeline.predict_proba(scan))


def test_on_tables_in_memory(expected):
    for table in (WHOLE, WHOLE.to_pandas()):
        check(fitted(table), table, expected)


def test_on_ray(cluster, expected):
    import ray

    there = ray.data.from_arrow(BLOCKS)
    check(fitted(there), there, expected, lambda answer: answer.to_pandas())


def test_on_dask(dask_client, expected):
    import dask.dataframe as dd
    from dask import delayed

    with dask_client.as_current():
        there = dd.from_delayed([delayed(block.to_pandas()) for block in BLOCKS])
        check(fitted(there), there, expected, lambda answer: answer.compute())


def test_on_spark(spark, expected):
    there = spark_frame(spark, BLOCKS)
    check(fitted(there), there, expected, lambda answer: answer.toPandas())


def test_rows_are_transformed_when_they_are_read(tmp_path):
    scan = suffice.scan_parquet(write(tmp_path, BLOCKS))
    described = suffice.rows(scan, features=FEATURES, target="label", weight="w")
    basis = BasisFunctions(degree=2).fit(described)
    table = PCA(2).fit(basis.transform(described)).transform(basis.transform(described))
    assert isinstance(table, Table) and (table.target, table.weight) == ("label", "w")
    assert table.source is scan
    inner = table.features
    assert isinstance(inner, Transformed) and isinstance(inner.reader, Transformed)
    assert inner.reader.reader == DenseColumns(tuple(FEATURES))
    assert np.asarray(table).shape == (WHOLE.num_rows, 2)


def test_what_is_no_pipeline_of_ours(tmp_path):
    from sklearn.preprocessing import Normalizer

    with pytest.raises(TypeError, match=r"Normalizer.*joblib"):
        suffice.save(make_pipeline(Normalizer(), PCA(2)), tmp_path / "file")
    PCA(2).fit(np.eye(3)).save(tmp_path / "pca")
    file = (tmp_path / "pca").read_bytes()
    (tmp_path / "damaged").write_bytes(file[:-1])
    with pytest.raises(StorageError):
        suffice.load(tmp_path / "damaged")


def test_transformers_of_scikit_learn_name_their_namesakes(tmp_path):
    """They take arrays; the error says which class reads tables."""
    pq.write_table(pa.table({"a": [0.0, 1.0], "label": [0, 1]}), tmp_path / "a.parquet")
    scan = suffice.scan_parquet(tmp_path)
    for table, kind in ((scan, "ParquetScan"), (suffice.rows(scan, target="label"), "Table")):
        said = f"StandardScaler of scikit-learn takes arrays, and got a {kind}: use suffice.preprocessing"
        with pytest.raises(TypeError, match=said):
            make_pipeline(preprocessing.StandardScaler(), LogisticRegression()).fit(table)
        with pytest.raises(
            TypeError, match=f"PowerTransformer .* got a {kind}: suffice has no class of this"
        ):
            make_pipeline(preprocessing.PowerTransformer(), LogisticRegression()).fit(table)
        with pytest.raises(TypeError, match=f"Expected an array, got a {kind}, whose rows are not in memory"):
            np.asarray(table)
    with pytest.raises(TypeError, match=r"got a StreamScan: use suffice\.preprocessing\.OneHotEncoder"):
        preprocessing.OneHotEncoder().fit(suffice.scan(lambda: pa.table({"a": [1.0]})))
