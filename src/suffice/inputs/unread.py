"""Tables whose rows are not in memory. The error for estimators that need arrays names the class to use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.callers import sklearn_caller


class Unread:
    """A table that estimators of suffice read, and others cannot."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        kind = type(self).__name__
        caller = sklearn_caller()
        if caller is None:
            raise TypeError(
                f"Expected an array, got a {kind}, whose rows are not in memory: pass it to fit or predict "
                "of an estimator of suffice; or read the rows, e.g. with pyarrow.parquet.read_table."
            )
        raise TypeError(f"{caller[1]} of scikit-learn takes arrays, and got a {kind}: {remedy_for(*caller)}.")


SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
SPLITTERS = ("KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold")


def remedy_for(module: str, name: str) -> str:
    """Advice: the replacement of a class or function of scikit-learn."""
    if name in SEARCHES:
        return "use suffice.model_selection.GridSearch in its place"
    if name in SPLITTERS:
        return f"pass cv={name}(...) to suffice.model_selection.cross_validate or GridSearch"
    if ours := namesake_of(module, name):
        return f"use {ours} in its place"
    if module.startswith("sklearn.model_selection."):
        return "use suffice.model_selection.cross_validate or GridSearch, or pass rows in memory"
    return "suffice has no class of this name: use one that it has, or pass rows in memory"


def namesake_of(module: str, name: str) -> str | None:
    """The full name of the class or function of suffice with the same name as one of scikit-learn's, or
    None."""
    package, module = import_module("suffice"), module.split(".")[1]
    if module == "feature_extraction":
        module = "feature_extraction.text"
    if module.partition(".")[0] not in package._MODULES:
        return None
    exists = hasattr(import_module(f"suffice.{module}"), name)
    return f"suffice.{module}.{name}" if exists else None
