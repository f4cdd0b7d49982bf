"""Stratified and grouped folds and splits of tables: their shares, and that only the rows determine them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline

import suffice
from suffice.core.blocks import Rows
from suffice.core.randomness import Purpose
from suffice.engines.local import LocalPartitions
from suffice.fitting import strata
from suffice.fitting.strata import RowDrawing, Strata
from suffice.inputs import source_of
from suffice.inputs.shared import UNCHECKED, ArrowColumns
from suffice.linear_model import LogisticRegression, Ridge
from suffice.model_selection import GridSearch, cross_val_score, cross_validate, train_test_split
from suffice.preprocessing import StandardScaler

ROWS = 3000


def table(seed: int = 0) -> pa.Table:
    """Three classes of 90, 8 and 2 %, and groups of 1 to 60 rows."""
    rng = np.random.default_rng(seed)
    y = np.array(["often", "rare", "seldom"])[rng.choice(3, size=ROWS, p=[0.9, 0.02, 0.08])]
    group = np.repeat(np.arange(300), rng.integers(1, 61, size=300))[:ROWS]
    x = rng.normal(size=(2, len(group))) + (y[: len(group)] == "often")
    return pa.table({"a": x[0], "b": x[1], "who": np.char.add("u", group.astype(str)), "y": y[: len(group)]})


TABLE = table()


def scanned(rows: pa.Table, path, size: int) -> suffice.Table:
    pq.write_table(rows, path, row_group_size=size)
    return suffice.rows(suffice.scan_parquet(path), features=["a", "b"], target="y")


@pytest.fixture
def scan(tmp_path):
    return scanned(TABLE, tmp_path / "t.parquet", 190)


def rows_of(part) -> pd.DataFrame:
    """The rows of a table, sorted, with the groups."""
    source = source_of(part)
    block = source.partitions(ArrowColumns(("a", "b", "who", "y"), source.table.selection), UNCHECKED)
    parts = [b.batch.to_pandas() for b in block.batches()]
    return pd.concat(parts).sort_values(["a", "b"]).reset_index(drop=True)


def fold_of_rows(data, cv, groups=None) -> pd.Series:
    """The fold of each row of TABLE, by its values."""
    from suffice.model_selection.cross_validation import in_folds
    from suffice.model_selection.splitters import FoldPlan

    plan = FoldPlan.of(cv, groups, 0)
    part, _ = in_folds(source_of(data), plan, groups)
    found = {}
    for fold in range(plan.n_folds):
        for value in source_of(part(fold)).partitions(ArrowColumns(("a",)), UNCHECKED).fold(_column):
            assert value not in found
            found[value] = fold
    return pd.Series([found[a] for a in TABLE["a"].to_pylist()])


def _column(block):
    return block.batch.column("a").to_pylist()


CV = {
    "KFold": (KFold(4), None),
    "StratifiedKFold": (StratifiedKFold(4), None),
    "GroupKFold": (GroupKFold(4), "who"),
    "StratifiedGroupKFold": (StratifiedGroupKFold(4), "who"),
}


def test_stratified_folds_have_the_shares_of_the_classes(scan):
    fold, y = fold_of_rows(scan, StratifiedKFold(4)), TABLE["y"].to_pandas()
    counts = pd.crosstab(y, fold)
    assert counts.shape == (3, 4)
    assert ((counts.max(axis=1) - counts.min(axis=1)) <= 5).all()
    plain = pd.crosstab(y, fold_of_rows(scan, 4))
    assert (plain.max(axis=1) - plain.min(axis=1)).max() > 20


def test_groups_are_in_one_fold(scan):
    y, who = TABLE["y"].to_pandas(), TABLE["who"].to_pandas()
    for cv in (GroupKFold(4), StratifiedGroupKFold(4)):
        fold = fold_of_rows(scan, cv, "who")
        assert (fold.groupby(who).nunique() == 1).all()
        assert fold.nunique() == 4
    counts = pd.crosstab(y, fold)  # the greedy one
    assert ((counts.max(axis=1) - counts.min(axis=1)) <= np.maximum(0.05 * counts.sum(axis=1), 4)).all()


@pytest.mark.parametrize("name", CV)
def test_folds_depend_on_the_rows_alone(name, scan, tmp_path):
    cv, groups = CV[name]
    expected = fold_of_rows(scan, cv, groups)
    order = np.random.default_rng(1).permutation(len(TABLE))
    data = {
        "order and blocks": scanned(TABLE.take(order), tmp_path / "other.parquet", 777),
        "Arrow": suffice.rows(TABLE, features=["a", "b"], target="y"),
        "pandas": suffice.rows(TABLE.to_pandas(), features=["a", "b"], target="y"),
        "categories": suffice.rows(
            TABLE.to_pandas().astype({"y": "category", "who": "category"}), features=["a", "b"], target="y"
        ),
        "polars": suffice.rows(pl.from_arrow(TABLE), features=["a", "b"], target="y"),
    }
    for kind, described in data.items():
        assert (fold_of_rows(described, cv, groups) == expected).all(), kind


@pytest.mark.slow
@pytest.mark.parametrize("name", CV)
def test_folds_on_dask_are_those_of_the_scan(name, scan):
    dd = pytest.importorskip("dask.dataframe")
    cv, groups = CV[name]
    parts = dd.from_pandas(TABLE.to_pandas(), npartitions=3)
    described = suffice.rows(parts, features=["a", "b"], target="y")
    assert (fold_of_rows(described, cv, groups) == fold_of_rows(scan, cv, groups)).all()


@pytest.mark.parametrize("sizes", [{"test_size": 0.2}, {"test_size": 0.2, "train_size": 0.5}])
def test_a_stratified_split(scan, sizes):
    train, test = (rows_of(part) for part in train_test_split(scan, stratify="y", random_state=0, **sizes))
    total = TABLE["y"].to_pandas().value_counts()
    for part, share in ((train, sizes.get("train_size", 0.8)), (test, 0.2)):
        assert ((part["y"].value_counts() - share * total).abs() <= 4).all()
    assert not set(train["a"]) & set(test["a"])
    if len(sizes) == 1:
        assert len(train) + len(test) == len(TABLE)


def test_a_split_of_groups(scan):
    train, test = (rows_of(part) for part in train_test_split(scan, groups="who", random_state=0))
    assert len(train) + len(test) == len(TABLE)
    assert not set(train["who"]) & set(test["who"])
    groups = len(set(TABLE["who"].to_pylist()))
    assert abs(len(set(test["who"])) - groups / 4) < 4 * np.sqrt(groups * 3 / 16)


def test_splits_in_memory_take_names_of_columns():
    for source in (TABLE, suffice.rows(TABLE.to_pandas(), target="y")):
        train, test = train_test_split(source, stratify="y", test_size=0.5, random_state=0)
        y = [pd.Series(getattr(p, "source", p)["y"].to_numpy()).value_counts() for p in (train, test)]
        assert ((y[0] - y[1]).abs() <= 1).all()
        train, test = train_test_split(source, groups="who", random_state=0)
        who = [set(getattr(p, "source", p)["who"].to_numpy()) for p in (train, test)]
        assert not who[0] & who[1]
    X, groups = np.arange(20.0)[:, None], np.arange(20) // 4
    train, test, of_train, of_test = train_test_split(X, groups, groups=groups, random_state=0)
    assert not set(of_train) & set(of_test)
    assert (np.concatenate([train, test])[:, 0] // 4 == np.concatenate([of_train, of_test])).all()


@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.slow) for name in list(CV)[:-1]), "StratifiedGroupKFold"],
)
def test_a_search_and_scores_with_stratified_and_grouped_folds(scan, name):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    cv, groups = CV[name]
    scores = cross_val_score(LogisticRegression(), scan, cv=cv, groups=groups, random_state=0)
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()
    grid = {"logisticregression__C": [1e-9, 1.0]}
    search = GridSearch(pipeline, grid, cv=cv, random_state=0).fit(scan, groups=groups)
    assert search.n_splits_ == 4
    alone = GridSearch(LogisticRegression(), {"C": [1e-9, 1.0]}, cv=cv, random_state=0)
    alone.fit(scan, groups=groups)
    assert len(alone.cv_results_["split3_test_score"]) == 2


def test_folds_shuffled_with_a_seed_are_those_of_that_random_state(scan):
    shuffled = StratifiedGroupKFold(4, shuffle=True, random_state=0)
    scores = [
        cross_val_score(LogisticRegression(), scan, cv=cv, groups="who", random_state=0)
        for cv in (StratifiedGroupKFold(4), shuffled)
    ]
    np.testing.assert_array_equal(*scores)


def test_rare_classes_are_in_every_training_set(scan):
    """In folds by chance, two rows of a class may be in one."""
    y = TABLE["y"].to_pandas().to_numpy(object)
    y[:2] = "twice"
    rows = TABLE.set_column(3, "y", pa.array(y.tolist()))
    data = suffice.rows(rows, features=["a", "b"], target="y")
    for seed in range(8):
        result = cross_validate(
            LogisticRegression(max_iter=3, tol=1e3),
            data,
            cv=StratifiedKFold(2),
            random_state=seed,
            return_estimator=True,
        )
        assert all("twice" in model.classes_ for model in result["estimator"])


def test_a_search_over_arrays_with_stratified_folds():
    y = TABLE["y"].to_numpy()
    X = np.column_stack([TABLE["a"], TABLE["b"]])
    search = GridSearch(LogisticRegression(), {"C": [1e-9, 1.0]}, cv=StratifiedKFold(4), random_state=0)
    search.fit(X, y)
    # The classes have as many rows in each fold: a constant prediction has the same score on each.
    scores = [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(4)]
    assert np.ptp(scores) < 0.004
    assert search.n_passes_ > 1


def blocks_of(label: np.ndarray, n: int) -> LocalPartitions:
    X = np.random.default_rng(3).normal(size=(len(label), 1))
    parts = np.array_split(np.arange(len(label)), n)
    return LocalPartitions(tuple(Rows(X[p], label[p], None, (i,)) for i, p in enumerate(parts)))


@pytest.mark.parametrize("bits", [5, 12])
def test_boundaries_are_refined_until_they_are_exact(bits, monkeypatch):
    """With fewer bins, in more passes. The parts are those of sorting all numbers."""
    monkeypatch.setattr(strata, "BITS", bits)
    monkeypatch.setattr(strata, "BINS", 1 << bits)
    monkeypatch.setattr(strata, "SPARE", 0)
    label = np.repeat([0, 1, 2], [1000, 100, 1])
    drawing, shares = RowDrawing(Purpose.FOLDS, (5,)), [0.25, 0.5, 0.9]
    data = blocks_of(label, 7)
    s = Strata.of(data, drawing, shares)
    block = data.gather(None)
    part, number = s.parts(drawing.numbers(block), drawing.labels(block)), drawing.numbers(block)
    for k, size in enumerate([1000, 100, 1]):
        counts = np.bincount(part[label == k], minlength=4)
        wanted = np.diff([0, *shares, 1]) * size
        assert (np.abs(counts - wanted) <= 1).all()
        order = np.argsort(number[label == k])
        assert (np.diff(part[label == k][order]) >= 0).all()  # parts are ranges of the numbers
    assert (s.n_passes > 2) == (bits == 5)
    assert (Strata.of(blocks_of(label, 2), drawing, shares).boundary == s.boundary).all()


def test_equal_rows_are_in_one_part_and_classes_of_one_row_in_any():
    label = np.zeros(100)
    data = LocalPartitions((Rows(np.ones((100, 1)), label),))
    drawing = RowDrawing(Purpose.FOLDS, (0,))
    s = Strata.of(data, drawing, [0.5])
    assert s.n_passes == strata.LEVELS
    block = data.gather(None)
    assert len(set(s.parts(drawing.numbers(block), drawing.labels(block)))) == 1
    many = blocks_of(np.arange(400), 3)
    s = Strata.of(many, drawing, [0.25, 0.5, 0.75])
    block = many.gather(None)
    counts = np.bincount(s.parts(drawing.numbers(block), drawing.labels(block)), minlength=4)
    assert (counts > 60).all()


def test_errors_name_the_call(scan):
    model = LogisticRegression()
    with pytest.raises(ValueError, match=r'pass its name as groups="\.\.\."'):
        cross_val_score(model, scan, cv=GroupKFold(3))
    with pytest.raises(ValueError, match=r"pass cv=GroupKFold\(3\)"):
        cross_val_score(model, scan, cv=3, groups="who")
    with pytest.raises(TypeError, match="one of its columns"):
        cross_val_score(model, scan, cv=GroupKFold(3), groups=[1, 2])
    with pytest.raises(
        ValueError, match="GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold; got LeaveOneOut"
    ):
        cross_val_score(model, scan, cv=LeaveOneOut())
    with pytest.raises(ValueError, match=r"no column \['nobody'\]"):
        cross_val_score(model, scan, cv=GroupKFold(3), groups="nobody")
    with pytest.raises(ValueError, match="need one target"):
        cross_val_score(Ridge(), suffice.rows(scan.source, features=["a"]), cv=StratifiedKFold(3))
    with pytest.raises(TypeError, match="stratify of a table that is not in memory is the name of a column"):
        train_test_split(scan, stratify=[1, 2])
    with pytest.raises(ValueError, match="stratify or groups, not both"):
        train_test_split(scan, stratify="y", groups="who")
    with pytest.raises(ValueError, match=r"no column \['z'\]"):
        train_test_split(scan, stratify="z")


def test_a_column_of_numbers_has_too_many_classes(scan, monkeypatch):
    monkeypatch.setattr(strata, "MOST_CLASSES", 1000)
    with pytest.raises(ValueError, match="Stratified parts are for classes"):
        train_test_split(scan, stratify="a")
