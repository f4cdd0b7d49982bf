"""Tables whose rows are not in memory. The error for estimators that need arrays names the class to use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.callers import calling_estimator


class Unread:
    """A table that estimators of suffice read, and others cannot."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        kind = type(self).__name__
        caller = calling_estimator()
        if caller is None:
            raise TypeError(
                f"Expected an array, got a {kind}, whose rows are not in memory: pass it to fit or predict "
                "of an estimator of suffice; or read the rows, e.g. with pyarrow.parquet.read_table."
            )
        name = type(caller).__name__
        ours = namesake_of(type(caller))
        remedy = (
            f"use {ours} in its place"
            if ours
            else "suffice has no class of this name: use one that it has, or pass rows in memory"
        )
        raise TypeError(f"{name} of scikit-learn takes arrays, and got a {kind}: {remedy}.")


def namesake_of(kind: type) -> str | None:
    """The full name of the class of suffice with the name of one of scikit-learn's, if there is one."""
    package, module = import_module("suffice"), kind.__module__.split(".")[1]
    if module == "feature_extraction":
        module = "feature_extraction.text"
    if module.partition(".")[0] not in package._MODULES:
        return None
    there = hasattr(import_module(f"suffice.{module}"), kind.__name__)
    return f"suffice.{module}.{kind.__name__}" if there else None
