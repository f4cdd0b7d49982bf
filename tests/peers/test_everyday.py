"""The benchmark of everyday use runs, and covers each class that scikit-learn has too."""

from __future__ import annotations

import inspect
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from sklearn.utils import all_estimators
from tests.laws.registry import public_names

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "everyday.py"


@pytest.fixture(scope="module")
def everyday():
    spec = spec_from_file_location("everyday", SCRIPT)
    module = module_from_spec(spec)
    sys.modules["everyday"] = module  # dataclasses look up their annotations there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["everyday"]


def test_every_shared_class_has_a_case(everyday):
    """Each of our public estimators with a name of scikit-learn's, found in another way than the script's."""
    theirs = {name for name, _ in all_estimators()}
    ours = {path.rpartition(".")[2] for path, cls in public_names().items() if inspect.isclass(cls)}
    ours |= {"CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"}
    pairs = everyday.shared_classes()
    cases = {path.rpartition(".")[2]: pair for path, pair in pairs.items()}
    assert ours & theirs <= cases.keys() - everyday.NOT_MEASURED.keys()
    for name, pair in cases.items():
        if name in everyday.NOT_MEASURED:
            continue
        for kind in everyday.kinds(name, *pair):
            X, y = everyday.data(name, pair[0], kind, 30)
            assert (X.shape[0] if hasattr(X, "shape") else len(X)) == 30
            assert y is None or len(y) == 30


def test_the_table_of_two_classes(everyday, monkeypatch, capsys):
    command = "everyday.py --only MaxAbsScaler GaussianNB --sizes 50 100 --budget 0.01"
    monkeypatch.setattr(sys, "argv", command.split())
    everyday.main()
    page = capsys.readouterr().out
    rows = re.findall(r"^\| (\w+ \| \w+ \| \w+) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \|$", page, re.M)
    assert [name.replace(" |", "") for name, _, _ in rows] == [
        "GaussianNB dense fit",
        "GaussianNB dense predict",
        "MaxAbsScaler dense fit",
        "MaxAbsScaler dense transform",
        "MaxAbsScaler sparse fit",
        "MaxAbsScaler sparse transform",
    ]
    assert all(0.0 < float(ratio) < 1000.0 for _, *ratios in rows for ratio in ratios)
    assert "| class | data | call | 50 | 100 | first calls, s more |" in page


def test_the_classes_that_lose_are_named(everyday):
    slow = everyday.Cell("Slow", "dense", "fit", 50, 0.004, 0.001, 4.0, 0.0)
    fast = everyday.Cell("Fast", "dense", "fit", 50, 0.001, 0.002, 0.5, 0.0)
    page = "\n".join(everyday.table([slow, fast], [], (50,)))
    assert "50% are below 1, and 50% are above 1.5." in page
    _, losers = page.split("Above 1.5:")
    assert "| Slow | dense | fit | 50 | 4 | 1 | 4.00 |" in losers and "Fast" not in losers


def test_a_cell_that_would_take_too_long_is_left_out(everyday):
    """The time of a fit is extrapolated from the sizes before it, and the table names what is left out."""
    fits = [everyday.Cell("A", "dense", "fit", n, 1e-6 * n**2, 0.0, 1.0, 0.0) for n in (100, 1000)]
    assert everyday.expected(fits, 10_000) == pytest.approx(100.0)
    assert everyday.expected(fits[:1], 10_000) == pytest.approx(1.0)  # one size: in proportion
    pair = everyday.shared_classes()["linear_model.LinearRegression"]
    cells, left_out = everyday.measure("LinearRegression", *pair, "dense", (50, 100), 0.01, limit=0.0)
    assert {cell.rows for cell in cells} == {50}
    assert "LinearRegression, dense, 100 rows" in left_out[0]
    assert f"* {left_out[0]}" in everyday.table(cells, left_out, (50, 100))
