"""A missing optional package: the error says which extra to install, wherever it is imported."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import suffice
from suffice.core.extras import required

HOME = Path(suffice.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
OPTIONAL = {"pyarrow", "polars", "pandas", "ray", "pyspark", "dask", "distributed", "matplotlib", "fsspec"}
# Imported only for data of these engines, by `required` in `source_of`.
OF_ENGINES = {"ray.py", "spark.py", "dask.py"}

CALLS = {
    "suffice.scan_parquet('nowhere')": ("pyarrow", "parquet"),
    "suffice.scan(lambda: [])": ("pyarrow", "parquet"),
    "suffice.documents(pandas.DataFrame({'t': ['a']}), text='t')": ("pyarrow", "parquet"),
    "suffice.plot.base.Display()._on(None)": ("matplotlib", "plot"),
    "suffice.plot.base.colors(20)": ("matplotlib", "plot"),
    "suffice.inputs.source_of(dask.array.ones((9, 2)))": ("pyarrow", "dask"),
}


def test_the_error_names_the_extra():
    """In a process in which these imports fail."""
    pytest.importorskip("dask.array")
    script = f"""
import sys, pandas, dask.array
for package in ("pyarrow", "matplotlib"):
    for name in [package, *sys.modules]:
        if name.split(".")[0] == package:
            sys.modules[name] = None
import suffice, suffice.inputs, suffice.plot.base
for call in {list(CALLS)}:
    try:
        eval(call)
    except ImportError as error:
        print(error)
lazy = ("polars", "duckdb", "datasets", "deltalake", "pyiceberg")  # nothing is imported to find a type
print([name for name in lazy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    expected = [
        f'This needs {package}, which is not installed: pip install "suffice[{extra}]".'
        for package, extra in CALLS.values()
    ]
    assert done.stdout.splitlines() == [*expected, "[]"], done.stderr
    for package, extra in CALLS.values():
        assert any(package in part for part in PROJECT["optional-dependencies"][extra])


def test_every_optional_import_goes_through_required():
    """An import statement would fail with a bare "No module named"."""
    for path in HOME.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found = {name.partition(".")[0] for name in names} & OPTIONAL
            assert not found or path.name in OF_ENGINES, f"{path} imports {found}"
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "required":
                extra = node.args[1]
                if isinstance(extra, ast.Constant):
                    assert extra.value in PROJECT["optional-dependencies"], f"{path}: {extra.value}"


def test_an_error_inside_suffice_is_not_hidden():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'suffice\.nothing'"):
        required("suffice.nothing", "parquet")
