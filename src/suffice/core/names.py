"""Errors for names that scikit-learn has and suffice does not: they say which name to use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

from .callers import in_import_statement

# Names of suffice that replace a name of scikit-learn.
COUNTERPARTS = {
    "suffice.model_selection.GridSearchCV": "suffice.model_selection.GridSearch, also for scans",
}


def names_of_sklearn(module: str) -> Callable[[str], NoReturn]:
    """Return the `__getattr__` of a module of suffice. Its error names the module of scikit-learn to use.

    `from suffice.cluster import DBSCAN` raises an ImportError, `suffice.cluster.DBSCAN` an AttributeError, so
    that `hasattr` works.
    """

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(module, name)

    return __getattr__


def no_attribute(module: str, name: str) -> Exception:
    """Return the error for a name that a module of suffice does not have."""
    theirs = module.replace("suffice", "sklearn", 1)
    message = f"module {module!r} has no attribute {name!r}"
    if not name.startswith("_") and _has(theirs, name):
        message += f": use {theirs}.{name}, for data in memory"
        if counterpart := COUNTERPARTS.get(f"{module}.{name}"):
            message += f", or {counterpart}"
    # Python replaces an AttributeError in an import by "cannot import name".
    if in_import_statement():
        return ImportError(f"{message}.", name=module)
    return AttributeError(f"{message}.", name=name)


def _has(module: str, name: str) -> bool:
    """Whether a module of scikit-learn has a public attribute or a submodule of this name."""
    try:
        return (
            name in getattr(import_module(module), "__all__", ()) or find_spec(f"{module}.{name}") is not None
        )
    except ImportError:
        return False
