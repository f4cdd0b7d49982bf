"""Tags of an estimator: scikit-learn's word for what data it takes."""

from __future__ import annotations

from functools import partial
from typing import Any


class Tags:
    """The method `__sklearn_tags__` of a class whose tags do not depend on parameters."""

    def __init__(self, values: dict[str, bool]) -> None:
        self.values = values

    def __set_name__(self, cls: type, name: str) -> None:
        self.cls: Any = cls

    def __get__(self, estimator: Any, cls: type) -> Any:
        return self.of if estimator is None else partial(self.of, estimator)

    def of(self, estimator: Any) -> Any:
        base: Any = super(self.cls, estimator)
        tags = base.__sklearn_tags__()
        for path, value in self.values.items():
            part, _, name = path.rpartition("__")
            of_input = not part and hasattr(tags.input_tags, name)
            owner = tags.input_tags if of_input else getattr(tags, part) if part else tags
            setattr(owner, name, value)
        return tags


def tags(**values: bool) -> Any:
    """Declare tags of a class, which add to those of its bases.

    Those of the input are named alone, others with their part: ``__sklearn_tags__ = tags(sparse=True,
    target_tags__required=True)``.
    """
    return Tags(values)
