"""Imports of optional packages. The error for a missing one names the extra that installs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any


def required(module: str, extra: str) -> Any:
    """Import a module that is, or needs, an optional package. The error names the extra that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).partition(".")[0]
        if package == "suffice":
            raise
        raise ModuleNotFoundError(
            f'This needs {package}, which is not installed: pip install "suffice[{extra}]".', name=error.name
        ) from None


def when_imported(module: str, call: Callable[[], None]) -> None:
    """Call a function when a module of an optional package is imported, or now if it already is."""
    if sys.modules.get(module) is not None:
        call()
    else:
        sys.meta_path.insert(0, _Awaited(module, call))


class _Awaited(MetaPathFinder):
    """Finder that loads one module by the other finders, and then calls a function."""

    def __init__(self, module: str, call: Callable[[], None]) -> None:
        self.module, self.call = module, call

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:  # not installed yet
            sys.meta_path.insert(0, self)
            return None
        load = spec.loader.exec_module

        def load_and_call(module: Any) -> None:
            load(module)
            self.call()

        spec.loader.exec_module = load_and_call  # type: ignore[method-assign]
        return spec
