"""The line of `suffice.progress`: every pass of every method, in rows."""

from __future__ import annotations

import io
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.cluster import KMeans
from suffice.core import progress
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.model_selection import GridSearch

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
    counts = [int(re.search(r"([\d,]+) rows", line)[1].replace(",", "")) for line in predict]
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
    assert re.fullmatch(r"LinearRegression.fit: pass 1, 3,000 rows, 0.\d s\n", log.getvalue())
    LinearRegression().fit(X, X[:, 0])
    assert log.getvalue().count("\n") == 1


def test_a_fit_that_fails_ends_its_line(screen):
    with suffice.progress(screen):
        with pytest.raises(ValueError, match="NaN"):
            LinearRegression().fit(np.full((3, 2), np.nan), [1.0, 2.0, 3.0])
        LinearRegression().fit(X, X[:, 0])
    assert drawn(screen)[-1].startswith("LinearRegression.fit: pass")
