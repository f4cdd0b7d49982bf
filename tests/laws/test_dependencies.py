"""What is imported is declared: dependencies at module level, extras where they are used. One version."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
from packaging.requirements import Requirement
from packaging.version import Version

import suffice
from suffice.cluster import KMeans

HOME = Path(suffice.__file__).parent
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTION = {"sklearn": "scikit-learn"}  # where it is not the name of the module


def distributions(requirements: list[str]) -> set[str]:
    """Names of distributions; dask[distributed] is two."""
    parsed = [Requirement(text) for text in requirements]
    return {name for r in parsed for name in (r.name, *r.extras)}


CORE = distributions(PROJECT["dependencies"])
EXTRAS = {name: distributions(texts) for name, texts in PROJECT["optional-dependencies"].items()}


def imports(node: ast.AST, at_import: bool = True) -> Iterator[tuple[str, bool]]:
    """Absolute imports: the top-level module, and whether it is imported when the file is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name.split(".")[0], at_import) for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and not child.level and child.module:
            yield child.module.split(".")[0], at_import
        deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        )
        yield from imports(child, at_import and not deferred)


def undeclared(code: str, stem: str) -> set[str]:
    """Third-party modules that a file may not import where it does."""
    own = EXTRAS.get(stem, set())  # inputs/ray.py is imported only where Ray is
    anywhere = set().union(*EXTRAS.values())
    wrong = set()
    for module, at_import in imports(ast.parse(code)):
        name = DISTRIBUTION.get(module, module)
        allowed = CORE | (own if at_import else anywhere)
        if module != "suffice" and module not in sys.stdlib_module_names and name not in allowed:
            wrong.add(module)
    return wrong


@cache
def third_party() -> set[str]:
    modules = {m for path in HOME.rglob("*.py") for m, _ in imports(ast.parse(path.read_text()))}
    return modules - sys.stdlib_module_names - {"suffice"}


def test_imports_are_declared():
    for path in HOME.rglob("*.py"):
        assert undeclared(path.read_text(), path.stem) == set(), path


def test_undeclared_imports_are_seen():
    assert undeclared("import joblib", "local") == {"joblib"}
    assert undeclared("def f():\n    if True:\n        from joblib import dump", "local") == {"joblib"}
    assert undeclared("import pyarrow as pa", "local") == {"pyarrow"}
    assert undeclared("class A:\n    import pyarrow.parquet", "local") == {"pyarrow"}
    assert undeclared("def f():\n    import pyarrow as pa", "local") == set()
    assert undeclared("import pyarrow, ray.data", "ray") == set()
    assert undeclared("import os, numpy, sklearn.base\nfrom . import joblib", "local") == set()


def test_no_dependency_is_unused():
    assert {DISTRIBUTION.get(module, module) for module in third_party()} >= CORE


def test_models_load_without_extras(tmp_path):
    """In a fresh process, which looks for the classes of the file in all modules."""
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    suffice.save(KMeans(2, random_state=0).fit(X), tmp_path / "model")
    absent = [module for module in third_party() if DISTRIBUTION.get(module, module) not in CORE]
    assert "ray" in absent
    code = f"""
import sys
sys.modules |= dict.fromkeys({absent!r})
import suffice
print(suffice.load({str(tmp_path / "model")!r}).predict([[0.0], [5.0]]).tolist())
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert sorted(ast.literal_eval(result.stdout)) == [0, 1]


def test_one_version():
    """The package says it; the distribution, if it is installed, and the changelog agree."""
    assert "version" in PROJECT["dynamic"]
    assert {d.version for d in metadata.distributions(name="suffice")} <= {suffice.__version__}
    headings = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    assert headings[0].split()[0] == Version(suffice.__version__).base_version
