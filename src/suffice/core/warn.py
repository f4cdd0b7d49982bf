"""Warnings for the user, who is shown the line of the call, and not one of this package."""

from __future__ import annotations

import sys
import warnings

# Packages whose calls are not the user's: a fit may run in a pipeline, a search, or a decorated function.
INSIDE = {"suffice", "sklearn", "joblib", "contextlib"}


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line, from here outwards, that is in none of these packages."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
