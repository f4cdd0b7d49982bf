"""Sparse rows in tables: lists of places and values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import suffice
from suffice.linear_model import LogisticRegression
from suffice.sequence import ConditionalRandomField

SIZE = 50


def matrix(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, SIZE), density=0.1, format="csr", rng=rng)
    X.data = np.round(X.data, 2) + 0.1
    y = np.where(X[:, [0, 3, 5]].sum(axis=1) + 0.2 * rng.normal(size=n) > 0.2, "yes", "no")
    return X, y


def lists(X, y, **more):
    places, values = (
        pa.LargeListArray.from_arrays(X.indptr.astype(np.int64), pa.array(part))
        for part in (X.indices, X.data)
    )
    return pa.table({"i": places, "v": values, "y": y, **more})


@pytest.fixture
def folder(tmp_path):
    """Two files whose row groups cut the rows elsewhere, one with lists of another kind."""
    X, y = matrix()
    table = lists(X, y)
    pq.write_table(table.slice(0, 150), tmp_path / "part-0.parquet", row_group_size=70)
    kinds = pa.schema({"i": pa.list_(pa.int64()), "v": pa.list_(pa.float64()), "y": pa.string()})
    pq.write_table(table.slice(150).cast(kinds), tmp_path / "part-1.parquet", row_group_size=100)
    return tmp_path


def described(source, **parts):
    return suffice.rows(source, features=suffice.sparse("i", "v", size=SIZE), **parts)


def test_of_files_and_of_arrow_as_of_a_matrix(folder):
    X, y = matrix()
    here = LogisticRegression(tol=1e-8).fit(X, y)
    for source in (suffice.scan_parquet(folder), lists(X, y), lists(X, y).slice(0)):
        there = LogisticRegression(tol=1e-8).fit(described(source, target="y"))
        np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6, atol=1e-9)
        assert there.n_features_in_ == SIZE and not hasattr(there, "feature_names_in_")
        assert there.score(described(source, target="y")) == here.score(X, y)
        assert (there.predict(described(source)) == here.predict(X)).all()


def test_answers_are_written_beside(folder, tmp_path):
    X, y = matrix()
    model = LogisticRegression().fit(X, y)
    written = model.predict(described(suffice.scan_parquet(folder)), to=tmp_path / "answers")
    assert written.columns == ("i", "v", "y", "prediction")
    found = pa.concat_tables(map(pq.read_table, written.files), promote_options="permissive")
    assert (found["prediction"].to_numpy() == model.predict(X)).all()


def test_places_alone_are_ones():
    X, y = matrix()
    table = lists(X, y).drop_columns("v")
    there = LogisticRegression().fit(suffice.rows(table, features=suffice.sparse("i", size=SIZE), target="y"))
    here = LogisticRegression().fit(X.astype(bool).astype(float), y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)


def test_a_random_field_of_many_features_is_streamed(folder):
    """Whole sequences of sparse steps, across files and row groups."""
    X, y = matrix()
    ids = np.repeat(np.arange(40), 10)
    for n, (start, stop) in enumerate([(0, 155), (155, 400)]):
        part = lists(X[start:stop], y[start:stop], id=ids[start:stop])
        pq.write_table(part, folder / f"part-{n}.parquet", row_group_size=64)
    features = suffice.sparse("i", "v", size=SIZE)
    source = suffice.sequences(suffice.scan_parquet(folder), sequence="id", features=features, target="y")
    there = ConditionalRandomField(tol=1e-6).fit(source)
    here = ConditionalRandomField(tol=1e-6).fit(X, y, groups=ids)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-5, atol=1e-8)
    assert there.score(source) == here.score(X, y, groups=ids)


def test_on_ray(cluster):
    import ray

    X, y = matrix()
    table = lists(X, y)
    source = ray.data.from_arrow([table.slice(0, 130), table.slice(130)])
    there = LogisticRegression(tol=1e-8).fit(described(source, target="y"))
    np.testing.assert_allclose(
        there.coef_, LogisticRegression(tol=1e-8).fit(X, y).coef_, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.set_column(0, "i", pa.array([[0], [60], [1]])), "from 0 to 49, and holds 0 to 60"),
        (lambda t: t.set_column(0, "i", pa.array([[0], [-1], [1]])), "from 0 to 49"),
        (lambda t: t.set_column(0, "i", pa.array([[0], [1, 2], [1]])), "Row 1 has 2 indices in 'i', but 1"),
        (lambda t: t.set_column(0, "i", pa.array([[0], None, [1]])), "missing lists"),
        (lambda t: t.set_column(1, "v", pa.array([[0.0], [np.inf], [1.0]])), "infinity"),
    ],
)
def test_what_is_wrong_is_said(change, words):
    table = pa.table({"i": [[0], [1], [2]], "v": [[1.0], [2.0], [3.0]], "y": [0, 1, 0]})
    with pytest.raises(ValueError, match=words):
        LogisticRegression().fit(described(change(table), target="y"))


def test_an_estimator_of_dense_rows_refuses():
    X, y = matrix(20)
    with pytest.raises(TypeError, match="GaussianMixture does not take sparse rows"):
        suffice.mixture.GaussianMixture(2).fit(described(lists(X, y)))


def test_pandas_tables_have_no_lists():
    X, y = matrix(20)
    with pytest.raises(TypeError, match=r"describes lists of Arrow, and this is a DataFrame"):
        LogisticRegression().fit(described(lists(X, y).to_pandas(), target="y"))
