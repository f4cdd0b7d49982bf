"""Names of scikit-learn that suffice does not have: errors say where they are."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import suffice

MODULES = [*suffice._MODULES, "feature_extraction.text"]


def lacking():
    for name in MODULES:
        try:
            theirs = import_module(f"sklearn.{name}")
        except ImportError:
            continue
        ours = import_module(f"suffice.{name}")
        absent = [n for n in getattr(theirs, "__all__", ()) if n not in {*dir(ours), *ours.__all__}]
        yield name, ours, absent


@pytest.mark.parametrize(("name", "ours", "absent"), list(lacking()), ids=lambda value: str(value)[:24])
def test_every_module_names_that_of_scikit_learn(name, ours, absent):
    for attribute in absent:
        assert not hasattr(ours, attribute)
        assert getattr(ours, attribute, None) is None
        where = rf"module 'suffice.{name}' has no attribute '{attribute}': use sklearn.{name}.{attribute}"
        with pytest.raises(AttributeError, match=where):
            getattr(ours, attribute)
        with pytest.raises(ImportError, match=where):
            exec(f"from suffice.{name} import {attribute}")
    with pytest.raises(ImportError, match=r"has no attribute 'Nothing'\.$"):
        exec(f"from suffice.{name} import Nothing")


def test_dbscan_and_grid_search():
    with pytest.raises(ImportError, match=r"use sklearn\.cluster\.DBSCAN, for data in memory\.$"):
        from suffice.cluster import DBSCAN  # noqa: F401
    with pytest.raises(ImportError, match=r"GridSearchCV, for .*, or suffice\.model_selection\.GridSearch"):
        from suffice.model_selection import GridSearchCV  # noqa: F401


def test_modules():
    with pytest.raises(ImportError, match=r"module 'suffice' has no attribute 'pipeline': use sklearn\.pipe"):
        from suffice import pipeline  # noqa: F401
    assert not hasattr(suffice, "pipeline")
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'\.$"):
        _ = suffice.nothing


def test_the_error_of_a_script():
    ran = subprocess.run(
        [sys.executable, "-c", "from suffice.cluster import DBSCAN"], capture_output=True, text=True
    )
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "ImportError: module 'suffice.cluster' has no attribute 'DBSCAN': use sklearn.cluster"
    )
