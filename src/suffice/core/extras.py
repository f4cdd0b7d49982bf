"""Imports of optional packages. The error for a missing one names the extra that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def required(module: str, extra: str) -> Any:
    """A module of an optional package, or of suffice that imports such packages; `extra` installs them."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).partition(".")[0]
        if package == "suffice":
            raise
        raise ModuleNotFoundError(
            f'This needs {package}, which is not installed: pip install "suffice[{extra}]".', name=error.name
        ) from None
