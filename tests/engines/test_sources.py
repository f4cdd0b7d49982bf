"""Sources: the same rows give the same answer, whatever holds them; and what is wrong is said in words."""

from __future__ import annotations

import threading
import time
import warnings
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.cluster import KMeans
from suffice.core.blocks import BLOCK_BYTES, Rows
from suffice.decomposition import PCA
from suffice.engines.local import LocalPartitions
from suffice.inputs import source_of
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB
from suffice.preprocessing.encoders import Encoder

from ._common import (
    FEATURES,
    bits,
    described,
    each_kind,
    kind_of,
    tables,
    target_of,
    variants,
    weight_of,
    write,
)


def one_table(kind="real", rows=900):
    """So few rows that each source makes one block of them."""
    return pa.concat_tables(tables(kind)).slice(0, rows).combine_chunks()


def fitted(estimator, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(*data, **more)


def answer(estimator):
    """All bits that were learnt. Names of features are kept where there are any, by members of ensembles too.
    What is known of each row, and which rows they are, is kept only of rows in memory. How often they were
    read is no part of the answer."""
    apart = ("labels_", "outliers_", "component_indices_", "n_passes_")
    return without_names({k: v for k, v in bits(estimator).items() if k not in apart})


def without_names(value):
    if isinstance(value, dict):
        return {k: without_names(v) for k, v in value.items() if k != "feature_names_in_"}
    return [without_names(part) for part in value] if isinstance(value, tuple | list) else value


def from_arrays(estimator, table):
    if isinstance(estimator, Encoder):  # categories have the types of their columns, and arrays have one
        return None
    target = target_of(estimator)
    X = np.column_stack([table[name].to_numpy() for name in FEATURES])
    y = None if target is None else table[target].to_numpy()
    weight = table[weight_of(estimator)].to_numpy()
    try:
        return fitted(estimator, X, y, sample_weight=weight)
    except TypeError:  # as in scikit-learn, some take weights only from tables
        return None


SOURCES = {
    "arrow": lambda table, folder: table,
    "arrow in chunks": lambda table, folder: pa.concat_tables([table.slice(0, 5), table.slice(5)]),
    "record batch": lambda table, folder: table.to_batches()[0],
    "pandas": lambda table, folder: table.to_pandas(),
    "pandas on arrow": lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, folder: pl.from_arrow(table),
    "parquet": lambda table, folder: suffice.scan_parquet(write(folder, [table])),
}


@each_kind(of="source", values=SOURCES, always=["parquet"])
def test_a_table_gives_the_bits_of_its_arrays(name, source, tmp_path):
    estimator = variants()[name]
    table = one_table(kind_of(estimator))
    found = fitted(estimator, described(estimator, SOURCES[source](table, tmp_path)))
    assert found.feature_names_in_.tolist() == FEATURES
    expected = from_arrays(estimator, table) or fitted(estimator, described(estimator, table))
    assert answer(found) == answer(expected)


@pytest.mark.parametrize("source", SOURCES)
def test_all_columns_that_have_no_other_part_are_features(source, tmp_path):
    made = SOURCES[source](one_table().drop_columns(["first", "y", "amount", "whole"]), tmp_path)
    model = GaussianNB().fit(suffice.rows(made, target="label", weight="w"))
    assert model.feature_names_in_.tolist() == FEATURES


@pytest.mark.parametrize("source", SOURCES)
def test_a_bare_table_is_all_features(source, tmp_path):
    table = one_table().select(FEATURES)
    assert PCA(2).fit(SOURCES[source](table, tmp_path)).n_features_in_ == 3


@pytest.mark.parametrize("source", SOURCES)
def test_two_targets(source, tmp_path):
    made = SOURCES[source](one_table(), tmp_path)
    model = LinearRegression().fit(suffice.rows(made, features=["a", "b"], target=["y", "c"]))
    assert model.coef_.shape == (2, 2) and model.intercept_.shape == (2,)
    each = [
        LinearRegression().fit(suffice.rows(made, features=["a", "b"], target=y)).coef_ for y in ("y", "c")
    ]
    np.testing.assert_allclose(model.coef_, each, rtol=1e-10)


@pytest.mark.parametrize("source", SOURCES)
def test_nulls_are_not_observed(source, tmp_path):
    table = pa.table(
        {
            "x": pa.array([1.0, None, 3.0, 5.0, 4.0, 2.0]),
            "n": pa.array([1, 2, None, 4, 3, 7]),
            "f": pa.array([1.5, None, 0.5, 2.5, 1.0, 4.0], pa.float32()),
            "b": pa.array([True, False, None, True, False, True]),
            "c": pa.array(["u", "v", "v", "u", "v", "u"]),
        }
    )
    made = SOURCES[source](table, tmp_path)
    model = GaussianNB().fit(suffice.rows(made, target="c"))
    X = np.array([[np.nan if v is None else float(v) for v in table[k].to_pylist()] for k in "xnfb"]).T
    expected = GaussianNB().fit(X, table["c"].to_pylist())
    assert model.classes_.tolist() == ["u", "v"]
    assert bits(model.theta_) == bits(expected.theta_)
    assert bits(model.var_) == bits(expected.var_)


@pytest.mark.parametrize("source", SOURCES)
def test_nulls_are_refused_where_nothing_else_is_right(source, tmp_path):
    table = pa.table({"x": pa.array([1.0, None, 3.0, 5.0]), "y": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match="NaN"):
        PCA(1).fit(SOURCES[source](table, tmp_path))
    with pytest.raises(ValueError, match="NaN"):
        LinearRegression().fit(suffice.rows(SOURCES[source](table, tmp_path), features=["y"], target="x"))
    with pytest.raises(ValueError, match="NaN"):
        KMeans(1).fit(suffice.rows(SOURCES[source](table, tmp_path), features=["y"], weight="x"))


@pytest.mark.parametrize("source", SOURCES)
def test_a_missing_label_is_refused(source, tmp_path):
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "c": pa.array(["u", None, "v", "u"])})
    with pytest.raises(ValueError, match=r"missing labels"):
        GaussianNB().fit(suffice.rows(SOURCES[source](table, tmp_path), target="c"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "uint16", "bool"])
def test_other_numbers_are_summed_as_float64(dtype, source, tmp_path):
    rng = np.random.default_rng(3)
    X = np.abs(10 * rng.normal(size=(400, 2))).astype(dtype)
    made = SOURCES[source](pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path)
    s = PCA(2).fit(made).statistics_
    expected = PCA(2).fit(X.astype(np.float64)).statistics_
    assert bits(s) == bits(expected)


@pytest.mark.parametrize("source", SOURCES)
def test_columns_that_are_not_there(source, tmp_path):
    made = SOURCES[source](one_table(), tmp_path)
    for parts in ({"features": ["a", "nope"]}, {"target": "nope"}, {"weight": "nope"}):
        with pytest.raises(ValueError, match=r"no column \['nope'\]; its columns are \['a'"):
            GaussianNB().fit(suffice.rows(made, **{"target": "label"} | parts))


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_table_lacks_is_said_with_the_call_to_make(source, tmp_path):
    made = SOURCES[source](one_table(), tmp_path)
    with pytest.raises(ValueError, match=r"requires y to be passed.*suffice\.rows\(table, target="):
        GaussianNB().fit(suffice.rows(made))
    with pytest.raises(ValueError, match=r"columns of it.*suffice\.rows"):
        GaussianNB().fit(suffice.rows(made), one_table()["label"].to_numpy())


@pytest.mark.parametrize("source", SOURCES)
def test_strings_are_no_numbers_and_numbers_no_labels(source, tmp_path):
    table = one_table().append_column("s", pa.array(["u"] * 900))
    made = SOURCES[source](table, tmp_path)
    with pytest.raises(ValueError, match=r"PCA takes numbers, and X has 'u' \(str\) in row 0, column 's'"):
        PCA(1).fit(suffice.rows(made, features=["a", "s"]))
    with pytest.raises(ValueError, match="Unknown label type"):
        LogisticRegression().fit(suffice.rows(made, features=["a"], target="y"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("bad", [-1.0, np.inf, np.nan])
def test_bad_weights_are_refused(bad, source, tmp_path):
    table = pa.table({"a": [1.0, 2.0, 3.0], "w": [1.0, bad, 1.0]})
    with pytest.raises(ValueError, match=r"sample_weight"):
        PCA(1).fit(suffice.rows(SOURCES[source](table, tmp_path), weight="w"))


@each_kind(of="source", values=SOURCES)
def test_a_row_of_weight_zero_is_absent(name, source, tmp_path):
    estimator = variants()[name]
    if getattr(estimator, "counts_rows", False):
        return  # folds are runs of rows, those of weight zero included, as in scikit-learn
    table, column = one_table(kind_of(estimator), rows=300), weight_of(estimator)
    weight = table[column].to_numpy().copy()
    weight[::7] = 0.0
    table = table.set_column(table.column_names.index(column), column, pa.array(weight))
    there = fitted(estimator, described(estimator, SOURCES[source](table, tmp_path)))
    absent = fitted(estimator, described(estimator, table.filter(pa.array(weight > 0))))
    assert answer(there) == answer(absent)


# They learn nothing of the rows, and do not read them.
LEARN_NOTHING = ("BasisFunctions", "PolynomialFeatures", "RBFSampler")
NOTHING = "zero for every row|no rows|no words|n_samples=0|0 sample|only one class|No row has a label"


@pytest.mark.parametrize("how", ["no row", "no weight"])
@each_kind(*LEARN_NOTHING, of="source", values=["arrow", "pandas", "polars", "parquet"])
def test_nothing_is_learnt_from_nothing(name, source, how, tmp_path):
    estimator = variants()[name]
    table, column = one_table(kind_of(estimator)), weight_of(estimator)
    if how == "no row":
        table = table.slice(0, 0)
    else:
        table = table.set_column(table.column_names.index(column), column, pa.array(np.zeros(len(table))))
    with pytest.raises(ValueError, match=NOTHING):
        fitted(estimator, described(estimator, SOURCES[source](table, tmp_path)))


def test_csr_is_like_dense():
    X = sp.random_array((500, 20), density=0.2, rng=np.random.default_rng(1), format="csr")
    y = X.toarray() @ np.arange(20.0)
    sparse, dense = LinearRegression().fit(X, y), LinearRegression().fit(X.toarray(), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8, atol=1e-12)


class TestParquet:
    """Files that are streamed."""

    def test_blocks_are_row_groups_cut_by_size(self, tmp_path):
        columns = {name: np.arange(200_000.0) for name in "abcd"}
        pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=150_000)
        sizes = []

        check = suffice.inputs.Check.of(PCA())
        scan = suffice.scan_parquet(tmp_path)
        data = source_of(scan).partitions(suffice.rows(scan).columns(scan.columns), check)
        with suffice.threads(1):
            blocks = data.map(lambda rows: sizes.append(len(rows)) or rows)
            assert blocks.fold(lambda rows: rows.X.sum(axis=0)).tolist() == 4 * [sum(range(200_000))]
        full = BLOCK_BYTES // (8 * 4)
        assert sizes == [full, 150_000 - full, 50_000]

    def test_a_folder_is_read_in_the_order_of_names(self, tmp_path):
        (tmp_path / "deep").mkdir()
        for name in ("b", "deep/a", "a"):
            pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / f"{name}.parquet")
        (tmp_path / "notes.txt").write_text("not data")
        scan = suffice.scan_parquet(tmp_path)
        assert [file[len(str(tmp_path)) + 1 :] for file in scan.files] == [
            "a.parquet",
            "b.parquet",
            "deep/a.parquet",
        ]
        files = [tmp_path / "b.parquet", tmp_path / "a.parquet"]
        assert suffice.scan_parquet(files).files == tuple(map(str, files))

    def test_only_what_is_asked_for_is_read(self, tmp_path):
        scan = suffice.scan_parquet(write(tmp_path, tables()), columns=["c", "a"])
        assert PCA(1).fit(scan).feature_names_in_.tolist() == ["c", "a"]
        with pytest.raises(ValueError, match=r"no column \['nope'\]; its columns are"):
            suffice.scan_parquet(tmp_path, columns=["a", "nope"])

    def test_empty_files_and_empty_folders(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"No file ending in \.parquet"):
            suffice.scan_parquet(tmp_path)
        with pytest.raises(FileNotFoundError):
            suffice.scan_parquet(tmp_path / "nowhere.parquet")
        blocks = tables()
        some = fitted(KMeans(3, random_state=0), suffice.scan_parquet(write(tmp_path, blocks), FEATURES))
        pq.write_table(blocks[0].slice(0, 0), tmp_path / "part-002-more.parquet")
        again = fitted(KMeans(3, random_state=0), suffice.scan_parquet(tmp_path, FEATURES))
        assert bits(some) == bits(again)

    def test_a_file_without_a_column_is_named(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0, 2.0], "b": [1.0, 3.0]}), tmp_path / "1.parquet")
        pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "2.parquet")
        with pytest.raises(ValueError, match=r"2\.parquet has no column \['b'\]"):
            PCA(1).fit(suffice.scan_parquet(tmp_path))

    def test_types_may_change_from_file_to_file(self, tmp_path):
        pq.write_table(pa.table({"a": [1, 2, 4], "c": [1, 2, 1]}), tmp_path / "1.parquet")
        pq.write_table(pa.table({"a": [0.5, None, 2.5], "c": [3, 2, 1]}), tmp_path / "2.parquet")
        model = GaussianNB().fit(suffice.rows(suffice.scan_parquet(tmp_path), target="c"))
        assert model.classes_.tolist() == [1, 2, 3]
        np.testing.assert_allclose(model.theta_[:, 0], [7.5 / 3, 2.0, 0.5])

    def test_an_error_names_its_block(self, tmp_path):
        blocks = tables()
        blocks[4] = blocks[4].set_column(0, "a", pa.array(np.full(len(blocks[4]), np.inf)))
        with pytest.raises(ValueError, match="infinity") as caught:
            PCA(1).fit(suffice.scan_parquet(write(tmp_path, blocks), FEATURES))
        assert "block 4" in caught.value.__notes__[0]
        assert caught.value.__notes__[-1] == "In the fit of PCA."

    def test_seeding_and_fitting_read_the_files_again_and_again(self, tmp_path):
        blocks = tables()
        table = pa.concat_tables(blocks)
        scan = suffice.scan_parquet(write(tmp_path, blocks), FEATURES)
        X = np.column_stack([table[name].to_numpy() for name in FEATURES])
        there = fitted(GaussianMixture(3, random_state=0), scan)
        here = fitted(GaussianMixture(3, random_state=0), X)
        np.testing.assert_allclose(there.means_, here.means_, rtol=1e-9)
        np.testing.assert_allclose(there.trace_, here.trace_, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_few_blocks_are_held_at_a_time(threads):
    """Blocks that are read are bounded by the threads, not by the data, however slow the sums are."""
    held, most, lock = 0, 0, threading.Lock()

    def release():
        nonlocal held
        with lock:
            held -= 1

    class Stream:
        def __iter__(self):
            nonlocal held, most
            for n in range(60):
                with lock:
                    held += 1
                    most = max(most, held)
                block = Rows(np.full((4, 1), float(n)), index=(n,))
                weakref.finalize(block, release)
                yield block
                del block

    def slow(rows):
        time.sleep(0.002)
        return rows.X.sum()

    with suffice.threads(threads):
        assert LocalPartitions(Stream()).fold(slow) == 4 * sum(range(60))
    assert most <= threads + 2
    assert held == 0
