"""The reference has every public name, and every public name says what it is."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.base import BaseEstimator

import suffice

DOCS = Path(__file__).parents[2] / "docs"
INTERNAL = {"engines", "loops"}


def _script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = _script("reference_pages")
PUBLIC = [(module, name) for module, names in PAGES.public_names().items() for name in names]


def test_every_module_has_a_page(tmp_path):
    PAGES.write(tmp_path)
    pages = {page.stem for page in (tmp_path / "modules").iterdir()}
    packages = {m.name for m in pkgutil.iter_modules(suffice.__path__) if m.ispkg} - INTERNAL - {"core"}
    assert {f"suffice.{package}" for package in packages} | {"suffice"} <= pages


def test_every_public_name_is_in_the_reference(tmp_path):
    PAGES.write(tmp_path)
    for package in pkgutil.iter_modules(suffice.__path__):
        module = import_module(f"suffice.{package.name}")
        for name in getattr(module, "__all__", ()):
            words = (tmp_path / "modules" / f"{module.__name__}.rst").read_text().split()
            assert name in words, f"{module.__name__}.{name}"
    words = (tmp_path / "modules" / "suffice.rst").read_text().split()
    assert {"load", "partition", "rows", "scan_parquet", "threads"} <= set(words)


def test_pages_of_what_is_no_more_are_removed(tmp_path):
    (tmp_path / "modules").mkdir()
    for old in (tmp_path / "modules" / "suffice.old.rst", tmp_path / "suffice.old.Old.rst"):
        old.touch()
    PAGES.write(tmp_path)
    assert not list(tmp_path.rglob("suffice.old*"))


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=lambda part: part)
def test_every_public_name_says_what_it_is(module, name):
    thing = getattr(import_module(module), name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)) or module.startswith("suffice.core."):
        return
    doc = inspect.getdoc(thing) or ""
    generated = inspect.isclass(thing) and doc.startswith(f"{name}(")  # what dataclasses write
    assert doc and not generated, f"{module}.{name} has no docstring"


ESTIMATORS = sorted(
    {
        thing
        for module, name in PUBLIC
        if module not in ("suffice.estimator", "suffice.fitting")
        and inspect.isclass(thing := getattr(import_module(module), name))
        and issubclass(thing, BaseEstimator)
    },
    key=lambda thing: thing.__name__,
)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda thing: thing.__name__)
def test_every_estimator_has_its_kin_its_formula_and_its_source(estimator):
    doc = NumpyDocString(inspect.getdoc(estimator))
    assert doc["See Also"] and doc["References"]
    assert ".. math::" in doc["Notes"]
    order = [f"\n{title}\n---" for title in ("See Also", "Notes", "References", "Examples")]
    places = [inspect.getdoc(estimator).index(title) for title in order]
    assert places == sorted(places)


DISPLAYS = [getattr(suffice.plot, name) for name in suffice.plot.__all__ if name.endswith("Display")]


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *DISPLAYS], ids=lambda thing: thing.__name__)
def test_what_a_class_refers_to_exists(estimator):
    related = NumpyDocString(inspect.getdoc(estimator))["See Also"]
    assert related
    for names, _ in related:
        for name, _ in names:
            module, _, name = name.rpartition(".")
            package = module or ".".join(estimator.__module__.split(".")[:2])
            assert hasattr(import_module(package), name), f"{package}.{name}"


def test_shared_paragraphs_are_as_written_once():
    """If this fails, run python docs/shared_paragraphs.py."""
    shared = _script("shared_paragraphs")
    files = shared.files()
    differ = [
        path.name for path, classes in files.items() if shared.render(path, classes) != path.read_text()
    ]
    assert not differ
    names = {cls.__name__ for classes in files.values() for cls in classes.values()}
    assert {name for classes in shared.OWN.values() for name in classes} <= names
