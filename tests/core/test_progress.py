"""The line of `suffice.progress`: every pass of every method, in rows."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

import suffice
from suffice.cluster import KMeans
from suffice.compose import ColumnTransformer
from suffice.core import progress
from suffice.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from suffice.mixture import GaussianMixture
from suffice.model_selection import GridSearch, cross_val_score, train_test_split
from suffice.preprocessing import OneHotEncoder, StandardScaler
from suffice.tree import DecisionTreeRegressor

X = np.random.default_rng(0).normal(size=(3000, 3))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.0)
    return Terminal()


def drawn(screen):
    return [line.strip() for line in re.split("[\r\n]", screen.getvalue()) if line.strip()]


def wipe(screen):
    screen.seek(0)
    screen.truncate()


@pytest.fixture
def scan(tmp_path):
    table = pa.table({f"x{d}": X[:, d] for d in range(3)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=1000)
    return suffice.scan_parquet(tmp_path)


def test_seeding_iterations_and_prediction(screen, scan, tmp_path):
    with suffice.progress(screen):
        model = KMeans(3, n_init=1, random_state=0, max_iter=3, tol=10.0).fit(scan)
        model.predict(scan)
        model.predict(scan, to=tmp_path / "out")
    lines = drawn(screen)
    fit = [line for line in lines if line.startswith("KMeans.fit: pass ")]
    assert any("(seeding), 2,000 of 3,000 rows" in line for line in fit)
    assert fit.index(next(line for line in fit if "seeding" in line)) < len(fit) - 1
    assert "seeding" not in fit[-1] and "3,000 of 3,000 rows" in fit[-1]
    predict = [line for line in lines if line.startswith("KMeans.predict: pass 1, ")]
    counts = [int(re.search(r"([\d,]+) of 3,000 rows", line)[1].replace(",", "")) for line in predict]
    assert counts == 2 * [1000, 2000, 3000, 3000]  # of an array, and of a folder; the last stays
    assert screen.getvalue().count("\n") == 3


def test_the_outermost_method_is_named(screen):
    y = X[:, 0] > 0
    with suffice.progress(screen):
        GridSearch(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert {line.split(":")[0] for line in drawn(screen)} == {"GridSearch.fit"}


def test_a_log_has_few_lines_and_nothing_is_shown_outside(monkeypatch):
    log = io.StringIO()
    with suffice.progress(log):
        LinearRegression().fit(X, X[:, 0])
    assert re.fullmatch(r"LinearRegression.fit: pass 1, 3,000 of 3,000 rows, 0.\d s\n", log.getvalue())
    LinearRegression().fit(X, X[:, 0])
    assert log.getvalue().count("\n") == 1


def test_a_fit_that_fails_ends_its_line(screen):
    with suffice.progress(screen):
        with pytest.raises(ValueError, match="NaN"):
            LinearRegression().fit(np.full((3, 2), np.nan), [1.0, 2.0, 3.0])
        LinearRegression().fit(X, X[:, 0])
    assert drawn(screen)[-1].startswith("LinearRegression.fit: pass")


# --- totals, times, iterations and what a pass does -------------------------------------------------------


def test_the_first_pass_of_parquet_has_a_total_and_a_remaining_time(screen, scan, monkeypatch):
    clock = iter(np.arange(0.0, 1e6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with suffice.progress(screen):
        LinearRegression().fit(suffice.rows(scan, target="x0"))
    first = drawn(screen)[0]
    assert re.match(
        r"LinearRegression.fit: pass 1, 1,000 of 3,000 rows, \d+.0 s, about \d+ s left in this pass$", first
    )
    assert "left" not in drawn(screen)[-1]


def test_the_time_that_remains(screen, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    display = progress.Display(screen)
    display.start("A.fit")
    display.start_pass(None, object(), "rows", 5000)
    for seconds, remaining in ((10.0, "40 s"), (20.0, "30 s"), (400.0, "4 min 27 s")):
        now[0] = 100.0 + seconds
        display.advance(1000)
        assert drawn(screen)[-1].endswith(f"about {remaining} left in this pass")
    assert [progress.span(s) for s in (0.26, 59.7, 3600.0, 5000.0)] == [
        "0.3 s",
        "1 min 00 s",
        "1 h 00 min",
        "1 h 23 min",
    ]


def test_a_stream_has_a_total_from_the_second_pass(screen):
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    with suffice.progress(screen):
        KMeans(2, n_init=1, tol=10.0, random_state=0).fit(suffice.scan(lambda: table.to_batches(1000)))
    lines = drawn(screen)
    assert not any(" of " in line for line in lines if "pass 1," in line)
    assert any("of 3,000 rows" in line for line in lines if "pass 2 " in line)


def test_a_training_part_counts_the_rows_that_are_read(screen, scan):
    scan = replace(scan, cache=None)  # with a cache, blocks are counted, which have fewer rows
    train, _ = train_test_split(suffice.rows(scan, target="x0"), random_state=0)
    with suffice.progress(screen):
        LinearRegression().fit(train)
    assert "pass 1, 3,000 of 3,000 rows" in drawn(screen)[-1]


@pytest.mark.parametrize(
    "model",
    [
        KMeans(3, n_init=1, random_state=0),
        GaussianMixture(2, max_iter=4, tol=1.0, random_state=0),
        LogisticRegression(),
        LogisticRegression(solver="newton"),
        SGDClassifier(max_iter=3, tol=None),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'solver', '')}",
)
def test_the_last_iteration_is_n_iter(model, screen):
    with suffice.progress(screen):
        model.fit(X, X[:, 0] + X[:, 1] > 0)
    shown = [
        int(found[1]) for found in (re.search(r"iteration (\d+)", line) for line in drawn(screen)) if found
    ]
    assert shown[-1] == np.max(model.n_iter_)
    assert f"iteration {shown[-1]}," in drawn(screen)[-1]


def test_fits_that_share_passes_are_named_or_counted(screen, tmp_path):
    table = pa.table({"a": X[:, 0], "c": np.array(list("uv"))[(X[:, 1] > 0).astype(int)], "y": X[:, 2] > 0})
    pq.write_table(table, tmp_path / "t.parquet")
    rows = suffice.rows(suffice.scan_parquet(tmp_path / "t.parquet"), target="y")
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["a"]), ("categories", OneHotEncoder(), ["c"])]
    )
    with suffice.progress(screen):
        make_pipeline(columns, LogisticRegression()).fit(rows)
    lines = drawn(screen)
    assert lines[0].startswith(
        "ColumnTransformer.fit_transform: pass 1 (numbers, categories), 3,000 of 3,000 rows"
    )
    assert {line.split(":")[0] for line in lines} == {
        "ColumnTransformer.fit_transform",
        "LogisticRegression.fit",
    }
    wipe(screen)
    with suffice.progress(screen):
        cross_val_score(LogisticRegression(), suffice.rows(rows.source, features=["a"], target="y"), cv=3)
    assert drawn(screen)[0].startswith("cross_validate: pass 1 (3 fits), 3,000 of 3,000 rows")
    assert not any("iteration" in line for line in drawn(screen))  # each fit has its own


def test_caching_gathering_and_stratifying_are_shown(screen, scan, tmp_path):
    cached = suffice.scan_parquet(tmp_path, cache="memory")
    with suffice.progress(screen):
        KMeans(2, n_init=1, tol=10.0, random_state=0).fit(cached)
    lines = drawn(screen)
    assert "pass 1 (caching), 1,000 of 3,000 rows" in lines[0]
    assert not any("caching" in line for line in lines if "pass 1 " not in line)
    wipe(screen)
    with suffice.progress(screen):
        DecisionTreeRegressor(max_depth=2).fit(suffice.rows(scan, target="x0"))
    assert any("(gathering, caching), 2,000 of 3,000 rows" in line for line in drawn(screen))
    wipe(screen)
    table = suffice.rows(pa.table({"a": X[:, 0], "y": X[:, 1] > 0}), target="y")
    with suffice.progress(screen):
        cross_val_score(LogisticRegression(), table, cv=StratifiedKFold(3))
    assert "cross_validate: pass 1 (stratifying), 3,000 of 3,000 rows" in drawn(screen)[0]
