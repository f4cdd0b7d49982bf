"""Answers where the rows are: those in memory, in the kind of container that came."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.cluster import KMeans
from suffice.decomposition import PCA, TruncatedSVD
from suffice.estimator.answers import ANSWERS
from suffice.inputs import open_rows
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel, SequenceClassifier

from ._common import FEATURES, described, each_kind, kind_of, made, tables, variants, write

pytestmark = [
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),  # of pandas, to Dask
]
ROWS = [GaussianNB, PCA, KMeans, LinearRegression, GaussianMixture, LogisticRegression]


def fitted(estimator, source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(source)


def named(blocks):
    """With labels of text, and a column that has no part: the number of the row."""
    words, out, rows = np.array(["low", "middle", "high"]), [], 0
    for block in blocks:
        block = block.set_column(3, "label", pa.array(words[block["label"].to_numpy()]))
        out.append(block.append_column("id", pa.array(rows + np.arange(block.num_rows))))
        rows += block.num_rows
    return out


def methods(estimator):
    return [name for name in ANSWERS if hasattr(estimator, name)]


def same(table, answer):
    """The last columns of the table are the answer, to the bit or, of numbers, to rounding."""
    columns = [answer] if answer.ndim == 1 else list(answer.T)
    for name, values in zip(table.column_names[-len(columns) :], columns, strict=True):
        found = table[name].to_numpy()
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)
        else:
            assert (found == values).all()


def check_rows(put, home, estimators):
    """What is asked of rows elsewhere is what they answer here; and the other columns are there too."""
    blocks = named(tables()[3:8])
    whole, there = pa.concat_tables(blocks), put(blocks)
    for estimator in estimators:
        model = fitted(estimator, described(estimator, whole))
        for method in methods(model):
            answer = getattr(model, method)(whole.select(FEATURES))
            found = home(getattr(model, method)(there)).sort_by("id")  # engines need not keep the order
            assert found.column_names[: whole.num_columns] == whole.column_names
            for name in whole.column_names:
                assert found[name].to_pylist() == whole[name].to_pylist()
            same(found, np.asarray(answer))
        here = described(model, whole)
        assert model.score(described(model, there)) == pytest.approx(model.score(here), rel=1e-12)


def steps():
    """Sequences that cross the blocks, with a place in each, a label a step, and one a sequence."""
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(12), rng.integers(5, 30, 12))
    place = np.concatenate([np.arange(n) for n in np.bincount(ids)])
    label = rng.integers(0, 2, len(ids))
    x = rng.normal(3.0 * label + ids % 2, 1.0)
    whole = pa.table({"x": x, "sequence": ids, "place": place, "label": label, "kind": ids % 2})
    return [whole.slice(start, 60) for start in range(0, len(ids), 60)]


def check_steps(put, home, ordered=False):
    blocks = steps()
    whole, there = pa.concat_tables(blocks), put(blocks)
    parts = {"sequence": "sequence", "order": "place", "features": ["x"]}
    rows = whole.sort_by([("sequence", "ascending"), ("place", "ascending")])
    for estimator, target in (
        (HiddenMarkovModel(2, random_state=0, max_iter=5), None),
        (ConditionalRandomField(max_iter=20), "label"),
        (SequenceClassifier(HiddenMarkovModel(1, max_iter=5)), "kind"),
    ):
        model = fitted(estimator, suffice.sequences(whole, target=target, **parts))
        for method in methods(model):
            answer = getattr(model, method)(suffice.sequences(rows, **parts))
            found = home(getattr(model, method)(suffice.sequences(there, **parts)))
            by_sequence = isinstance(model, SequenceClassifier)
            keys = ["sequence"] if by_sequence else ["sequence", "place"]
            found = found.sort_by([(key, "ascending") for key in keys])
            same(found, np.asarray(answer))
        score = model.score(suffice.sequences(whole, target=target, **parts))
        assert model.score(suffice.sequences(there, target=target, **parts)) == pytest.approx(score)


def representatives():
    return [made(cls) for cls in ROWS]


class TestOfFiles:
    """A scan gives arrays, or a table that is one; or it is written with the answer beside."""

    @each_kind()
    def test_every_estimator(self, name, tmp_path):
        estimator = variants()[name]
        blocks = tables(kind_of(estimator))[3:8]
        whole, scan = pa.concat_tables(blocks), suffice.scan_parquet(write(tmp_path, blocks))
        model = fitted(estimator, described(estimator, whole))
        for method in methods(model):
            here = getattr(model, method)(whole.select(FEATURES))
            there = getattr(model, method)(scan)
            if sp.issparse(here):
                with pytest.raises(TypeError, match="sparse"):
                    np.asarray(there)
                there = open_rows(TruncatedSVD(), there, None, None).gather("").X.toarray()
                here = here.toarray()
            here, there = np.asarray(here), np.asarray(there)
            assert there.dtype == here.dtype
            same(pa.table({str(j): part for j, part in enumerate(np.atleast_2d(there.T))}), here)
        if hasattr(model, "score"):
            score = model.score(described(model, whole))
            assert model.score(described(model, scan)) == pytest.approx(score, rel=1e-12)

    def test_written_beside(self, tmp_path):
        folder = tmp_path / "rows"
        folder.mkdir()

        def put(blocks):
            return suffice.scan_parquet(write(folder, blocks))

        blocks = named(tables()[3:8])
        whole, scan = pa.concat_tables(blocks), put(blocks)
        model = fitted(made(GaussianNB), described(made(GaussianNB), whole))
        written = model.predict(scan, to=tmp_path / "answers")
        assert written.columns == (*whole.column_names, "prediction")
        found = pa.concat_tables([pa.parquet.read_table(file) for file in written.files])
        same(found, model.predict(whole.select(FEATURES)))
        assert found.drop_columns("prediction").equals(whole)
        with pytest.raises(FileExistsError, match="new folder"):
            model.predict(scan, to=tmp_path / "answers")

    def test_what_fails_leaves_nothing(self, tmp_path):
        blocks = named(tables()[3:6])
        blocks[1] = blocks[1].set_column(0, "a", pa.array(np.full(len(blocks[1]), np.inf)))
        folder = tmp_path / "rows"
        folder.mkdir()
        scan = suffice.scan_parquet(write(folder, blocks))
        model = fitted(made(GaussianNB), described(made(GaussianNB), blocks[2]))
        with pytest.raises(ValueError, match="infinity") as caught:
            model.predict(scan, to=tmp_path / "answers")
        assert "block 1" in caught.value.__notes__[-1]
        assert [path.name for path in tmp_path.iterdir()] == ["rows"]

    def test_sequences(self, tmp_path):
        def home(found):
            return pa.concat_tables([pa.parquet.read_table(file) for file in found.files])

        blocks, whole = steps(), pa.concat_tables(steps())
        scan = suffice.scan_parquet(write(tmp_path, blocks))
        parts = {"sequence": "sequence", "features": ["x"]}
        model = fitted(HiddenMarkovModel(2, random_state=0, max_iter=5), suffice.sequences(whole, **parts))
        here = model.predict_proba(suffice.sequences(whole, **parts))
        np.testing.assert_allclose(model.predict_proba(suffice.sequences(scan, **parts)), here, rtol=1e-12)
        written = model.predict_proba(suffice.sequences(scan, **parts), to=tmp_path / "answers")
        same(home(written), here)


def test_of_ray(cluster):
    import ray

    def home(found):
        assert isinstance(found, ray.data.Dataset)
        return pa.concat_tables(ray.get(found.to_arrow_refs()))

    check_rows(ray.data.from_arrow, home, representatives())
    check_steps(ray.data.from_arrow, home)


def test_of_spark(spark):
    from pyspark.sql import DataFrame

    from .test_spark import frame

    def home(found):
        assert isinstance(found, DataFrame)
        return found.toArrow()

    check_rows(lambda blocks: frame(spark, blocks), home, representatives()[:1])


def test_all_of_spark(spark):
    from .test_spark import frame

    check_rows(lambda blocks: frame(spark, blocks), lambda found: found.toArrow(), representatives()[:3])
    check_steps(lambda blocks: frame(spark, blocks), lambda found: found.toArrow())


def test_of_dask(dask_client):
    import dask.array as da
    import dask.dataframe as dd

    from .test_dask import THERE, at, frame

    def home(found):
        assert isinstance(found, dd.DataFrame)
        return pa.Table.from_pandas(found.compute(), preserve_index=False)

    with at(THERE, dask_client):
        check_rows(frame, home, representatives())
        check_steps(frame, home)
        X = np.concatenate([block.select(FEATURES).to_pandas().to_numpy() for block in tables()[3:8]])
        model = fitted(made(KMeans), X)
        for method in ("predict", "transform"):
            found = getattr(model, method)(da.from_array(X, chunks=(300, 2)))
            assert isinstance(found, da.Array)
            here = getattr(model, method)(X)
            assert found.shape == here.shape and found.dtype == here.dtype
            np.testing.assert_allclose(found.compute(), here, rtol=1e-12)


def test_a_name_that_is_taken_is_refused(tmp_path):
    blocks = [block.append_column("prediction", block["a"]) for block in tables()[3:5]]
    scan = suffice.scan_parquet(write(tmp_path, blocks))
    model = fitted(made(GaussianNB), described(made(GaussianNB), blocks[1]))
    with pytest.raises(ValueError, match="already has a column 'prediction'"):
        model.predict(scan, to=tmp_path / "answers")
    assert len(model.predict(scan)) == sum(map(len, blocks))


def test_to_is_for_scans():
    model = fitted(made(KMeans), np.eye(6))
    with pytest.raises(TypeError, match="requires a scan"):
        model.predict(np.eye(6), to="answers")
