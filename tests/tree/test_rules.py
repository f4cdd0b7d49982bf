"""Rules: exclusive, exhaustive, and right."""

from __future__ import annotations

import re

import numpy as np
import pytest

from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_rules, export_text


def as_python(rule: str) -> tuple[str, str]:
    """The condition of a rule, for `eval`, and its answer."""
    if not rule.startswith("if "):
        return "True", rule.split(" (")[0]
    condition, answer = re.fullmatch(r"if (.*) then (.*?) \(.*\)", rule).groups()
    condition = re.sub(r"(\w) is not missing", r"not isnan(\1)", condition)
    condition = re.sub(r"(\w) is missing", r"isnan(\1)", condition)
    return condition, answer


def test_each_row_satisfies_one_rule_which_answers_as_the_tree():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 3)), 2)
    X[:, 2] = rng.integers(0, 4, 200)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0.2) ^ np.isin(X[:, 2], [0, 3])
    model = DecisionTreeClassifier(categorical_features=[2]).fit(X, y)
    text = export_rules(model, feature_names=list("abc"), decimals=9)
    rules = [as_python(rule) for rule in text.splitlines()]
    assert len(rules) == model.get_n_leaves()
    predicted = model.predict(X)
    for row, answer in zip(X, predicted, strict=True):
        values = dict(zip("abc", row.tolist(), strict=True)) | {"isnan": np.isnan}
        found = [text for condition, text in rules if eval(condition, values)]
        assert found == [str(answer)]


def test_of_one_leaf_and_of_strings():
    pandas = pytest.importorskip("pandas")
    assert export_rules(DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])) == "3 (2)"
    frame = pandas.DataFrame({"job": ["a", "b", "c"] * 4, "income": np.arange(12.0)})
    y = np.where(frame.job == "b", "no", "yes")
    model = DecisionTreeClassifier(categorical_features=["job"]).fit(frame, y)
    lines = export_rules(model).splitlines()
    assert lines == ["if job in {b} then no (1 of 4)", "if job in {a, c} then yes (1 of 8)"]
    assert export_text(model).splitlines()[0] == "|--- job in {b}"
    assert export_text(model, max_depth=0) == export_text(model)  # leaves below the root are written
    with pytest.raises(ValueError, match="feature_names must contain 2 elements, got 1"):
        export_rules(model, feature_names=["x"])
