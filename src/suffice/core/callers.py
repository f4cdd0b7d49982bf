"""Who calls: for messages alone. Warnings show the line of the user's call, and not one of this package."""

from __future__ import annotations

import dis
import sys
import warnings
from typing import Any

from sklearn.base import BaseEstimator

# Packages whose calls are not the user's: a fit may run in a pipeline, a search, or a decorated function.
INSIDE = {"suffice", "sklearn", "joblib", "contextlib"}


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line, from here outwards, that is in none of these packages."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def sklearn_caller() -> tuple[str, str] | None:
    """The module and the name of what of scikit-learn is running, or None: the first function or class of
    `model_selection` that the user called; else the estimator whose method runs."""
    frame: Any = sys._getframe(1)
    estimator = selection = None
    while frame is not None:
        module, caller = frame.f_globals.get("__name__", ""), frame.f_locals.get("self")
        of_estimator = isinstance(caller, BaseEstimator) and type(caller).__module__.startswith("sklearn.")
        if of_estimator and estimator is None:
            estimator = type(caller).__module__, type(caller).__name__
        if module.startswith("sklearn.model_selection."):
            name = frame.f_code.co_name if caller is None else type(caller).__name__
            selection = selection if name.startswith(("_", "<")) else (module, name)
        frame = frame.f_back
    return selection or estimator


def in_import_statement() -> bool:
    """Whether `from module import name` calls the module's `__getattr__`, which is running."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "__getattr__":
        frame = frame.f_back
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_lasti < 0:
        return False
    return caller.f_code.co_code[caller.f_lasti] == dis.opmap["IMPORT_FROM"]
