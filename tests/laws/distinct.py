"""Write distinct.txt: the options with which an estimator sums or keeps what none does by default.

    python -m tests.laws.distinct

Every estimator is fitted by default and then with each of its options, in the order of the registry. An
option is distinct if it folds a function that was not folded before, or the same function with values of
other classes or other strings; or if the fitted estimator holds a value of a class that none held before. All
other options decide what the driver does with sums that another variant has, too.
"""

from __future__ import annotations

from typing import Any

from suffice.core.values import Value

from .registry import DISTINCT_FILE, VARIANTS, Variant, classes_in, fit_and_folds, has_options


def strings_in(value: Any) -> set[str]:
    """Strings, flags and missing parts of what a function shares: it may branch on them."""
    if isinstance(value, Value):
        named = value.fields().items()
        own = {f"{type(value).__name__}.{k}={v}" for k, v in named if v is None or isinstance(v, str | bool)}
        return own.union(*(strings_in(part) for _, part in named))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return set().union(*map(strings_in, parts))


def names(value: Any) -> frozenset[str]:
    return frozenset(cls.__qualname__ for cls in classes_in(value))


def content(variant: Variant) -> set[Any]:
    """What the variant sums, and the classes of what it keeps."""
    model, folds = fit_and_folds(variant, *variant.data())
    summed = {
        (fold.name, names(fold.shared), frozenset(strings_in(fold.shared)), names(fold(fold.rows)))
        for fold in folds
    }
    return summed | {(type(model).__name__, name) for name in names(tuple(vars(model).values()))}


def distinct() -> list[str]:
    known: set[Any] = set()
    found = []
    for variant in sorted(VARIANTS, key=has_options):
        new = content(variant) - known
        known |= new
        if new and has_options(variant):
            found.append(variant.name)
    return found


if __name__ == "__main__":
    DISTINCT_FILE.write_text("".join(f"{name}\n" for name in sorted(distinct())))
