"""The caller in user code, for messages: a warning shows the user's line, and not one of this package."""

from __future__ import annotations

import dis
import warnings
from collections.abc import Iterator
from inspect import currentframe
from types import FrameType

from sklearn.base import BaseEstimator

# Packages whose calls are not the user's: a fit may run in a pipeline, a search, or a decorated function.
INSIDE = {"suffice", "sklearn", "joblib", "contextlib"}


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the innermost caller that is in none of the packages `INSIDE`."""
    level = 1
    for frame in _frames():
        if frame.f_globals.get("__name__", "").partition(".")[0] not in INSIDE:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _frames() -> Iterator[FrameType]:
    """Iterate over the frames of the stack, from the caller of this function outwards."""
    frame = currentframe()
    while frame is not None and frame.f_back is not None:
        yield frame.f_back
        frame = frame.f_back


def sklearn_caller() -> tuple[str, str] | None:
    """Return the module and the name of the object of scikit-learn that calls, or None.

    This is the outermost function or class of `model_selection`, otherwise the innermost estimator.
    """
    estimator = selection = None
    for frame in _frames():
        module, caller = frame.f_globals.get("__name__", ""), frame.f_locals.get("self")
        of_estimator = isinstance(caller, BaseEstimator) and type(caller).__module__.startswith("sklearn.")
        if of_estimator and estimator is None:
            estimator = type(caller).__module__, type(caller).__name__
        if module.startswith("sklearn.model_selection."):
            name = frame.f_code.co_name if caller is None else type(caller).__name__
            selection = selection if name.startswith(("_", "<")) else (module, name)
    return selection or estimator


def in_import_statement() -> bool:
    """Whether the `__getattr__` of a module that is running was called by `from module import name`."""
    getter = next((frame for frame in _frames() if frame.f_code.co_name == "__getattr__"), None)
    caller = None if getter is None else getter.f_back
    if caller is None or caller.f_lasti < 0:
        return False
    return caller.f_code.co_code[caller.f_lasti] == dis.opmap["IMPORT_FROM"]
