"""Who calls: for messages alone. Warnings show the line of the user's call, and not one of this package."""

from __future__ import annotations

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


def calling_estimator() -> Any:
    """The estimator of scikit-learn whose method is running, or None."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, BaseEstimator) and type(caller).__module__.startswith("sklearn."):
            return caller
        frame = frame.f_back
    return None
