"""The map covers the catalogues, and every name in it exists."""

import ast
import importlib
import inspect
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from ._canon import CATALOG, COUNTED, EXAMPLES, NOT_RUN, SERVED_BY, is_pending

ROOT = Path(__file__).parents[2]


def test_every_entry_is_mapped():
    assert len(CATALOG) == 974
    assert set(SERVED_BY) == CATALOG


def test_pending_entries_are_counted():
    families = Counter(SERVED_BY[e]["pending"] for e in CATALOG if is_pending(e))
    assert dict(families) == COUNTED, f"write this under `pending` in map.yaml: {families}"


def test_examples_not_run_exist_and_say_why():
    assert set(NOT_RUN) <= set(EXAMPLES)
    assert all(set(why) in ({"pending", "because"}, {"because"}) for why in NOT_RUN.values())


def test_names_exist():
    for name in sorted({n for n in SERVED_BY.values() if isinstance(n, str)}):
        if name.startswith("docs/"):
            assert any((ROOT / name).with_suffix(s).exists() for s in (".md", ".rst", ".py")), name
        elif name.startswith("tests/"):
            file, test = name.split("::")
            body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
            assert test in {f.name for f in body if isinstance(f, ast.FunctionDef)}, name
        else:
            resolve(ast.parse(name, mode="eval").body)


def resolve(node):
    """The object that an expression names; options must be parameters of what is called."""
    if isinstance(node, ast.BinOp):
        return resolve(node.left), resolve(node.right)
    if isinstance(node, ast.Call):
        function = resolve(node.func)
        parameters = inspect.signature(function).parameters
        for option in [a.id for a in node.args] + [k.arg for k in node.keywords]:
            assert option in parameters, f"{function} has no parameter {option}"
        return function
    if isinstance(node, ast.Name):
        return importlib.import_module(node.id)
    parent = resolve(node.value)
    if inspect.ismodule(parent) and not hasattr(parent, node.attr):
        return importlib.import_module(f"{parent.__name__}.{node.attr}")
    if inspect.isclass(parent) and not hasattr(parent, node.attr) and node.attr.endswith("_"):
        parent = fitted(parent)
    return getattr(parent, node.attr)


@cache
def fitted(estimator):
    X = np.random.default_rng(0).normal(size=(40, 3))
    return estimator().fit(X, (X[:, 0] > 0).astype(int))
