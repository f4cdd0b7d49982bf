"""Values: immutable records of numbers, arrays and other values, such as models and statistics."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np


class Value:
    """An immutable dataclass of numbers, strings, arrays, tuples and other values.

    Every subclass is registered by its dotted name, by which `suffice.load` finds it. A file can name only
    registered classes.
    """

    known: ClassVar[dict[str, type]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Value.known[stored_name(cls)] = cls

    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _names(type(self))}  # type: ignore[arg-type]

    def replace(self, **changes: Any) -> Self:
        return type(self)(**(self.fields() | changes))

    def check_loaded(self, sizes: dict[str, int]) -> None:
        """Raise a ValueError if a value from a file is unsafe for compiled loops, beyond its shapes.

        `sizes` are those of the letters in its declarations (see `core.shapes`). A class may extend the
        check.
        """

    def __getstate__(self) -> dict[str, Any]:
        # Without the results of cached properties, which are computed again after unpickling.
        return self.fields()


@cache
def _names(cls: type) -> tuple[str, ...]:
    """Return the names of the fields. `dataclasses.fields` would take longer than adding small statistics."""
    return tuple(field.name for field in dataclasses.fields(cls))


def nbytes(value: Any) -> int:
    """Return the bytes of the numbers in a value, including its parts."""
    if isinstance(value, Value):
        return sum(map(nbytes, value.fields().values()))
    if isinstance(value, tuple):
        return sum(map(nbytes, value))
    return np.asarray(value).nbytes if isinstance(value, (np.ndarray, float, int)) else 0


def stored_name(cls: type) -> str:
    """Return the name of a class in files. For classes of suffice, it omits the module within the package,
    which may change."""
    parts = cls.__module__.split(".")
    module = ".".join(parts[:2]) if parts[0] == "suffice" else cls.__module__
    return f"{module}.{cls.__qualname__}"
