"""The canon as data: catalogues, worked examples, the map; and how an answer is compared."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
import yaml

HERE = Path(__file__).parent
BOOKS = ("li-supervised", "li-unsupervised", "cs181", "gong-xu", "stats601-and-slides")


def read(name: str) -> Any:
    with open(HERE / name, encoding="utf-8") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


CATALOG = {f"{book}/{entry['id']}" for book in BOOKS for entry in read(f"{book}.catalog.yaml")}
EXAMPLES = {f"{book}/{e['id']}": e for book in BOOKS for e in read(f"{book}.examples.yaml")}

_map = read("map.yaml")
SERVED_BY = {f"{book}/{i}": name for book in BOOKS for i, name in _map[book].items()}
COUNTED = _map["pending"]  # family -> number of entries
NOT_RUN = _map["examples"]  # example -> {pending: family} or {because: reason}


def is_pending(entry: str) -> bool:
    return isinstance(SERVED_BY[entry], dict)


def methods(example: str) -> list[str]:
    book, method = example.split("/")[0], EXAMPLES[example]["method"]
    return [f"{book}/{m}" for m in (method if isinstance(method, list) else [method])]


def is_due(example: str) -> bool:
    """Every method of the example is served and nothing else keeps it from running."""
    return (
        EXAMPLES[example].get("usable", True)
        and example not in NOT_RUN
        and not any(is_pending(m) for m in methods(example))
    )


# Running ---------------------------------------------------------------------------------------

RUNNERS: dict[str, Callable[[dict], Any]] = {}
IGNORED: dict[str, Mapping[str, str]] = {}


def example(*names: str, **ignored: str) -> Callable:
    """Register what computes these examples; `ignored` keys of `expect` each carry their reason.

    The function takes `given` and returns what `expect` lists. A sentence in `expect` is answered
    by whether it holds.
    """

    def register(run: Callable[[dict], Any]) -> Callable[[dict], Any]:
        for name in names:
            assert name in EXAMPLES, f"no example {name}"
            assert name not in RUNNERS, f"{name} is run twice"
            RUNNERS[name], IGNORED[name] = run, ignored
        return run

    return register


def given(name: str) -> dict:
    """The inputs of another example, for those that refer to it."""
    return EXAMPLES[name]["given"]


def check(name: str) -> None:
    entry = EXAMPLES[name]
    expect = entry["expect"]
    if isinstance(expect, dict):
        expect = {k: v for k, v in expect.items() if str(k) not in IGNORED[name]}
    compare(RUNNERS[name](entry.get("given", {})), expect, tolerance(entry["tolerance"]), name)


# Comparing -------------------------------------------------------------------------------------


class UpToSign:
    """Vectors that run along `axis`, each free in sign."""

    def __init__(self, value: Any, axis: int = -1):
        self.value, self.axis = np.asarray(value, float), axis

    def toward(self, want: Any) -> np.ndarray:
        along = (self.value * np.asarray(want, float)).sum(axis=self.axis, keepdims=True)
        return np.where(along < 0, -1, 1) * self.value


class AnyOrder(list):
    """Names or numbers whose order means nothing."""


def tolerance(text: Any) -> tuple[float, float] | None:
    """(absolute, relative); None where the file asks for a behaviour and not for numbers."""
    if isinstance(text, int | float):
        return float(text), 0.0
    if text.startswith("exact"):
        return 0.0, 0.0
    if "relative" in text:
        return 0.0, float(text.replace("relative", ""))
    return None


# How the name of a value says that it bounds the answer.
BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "_at_least": operator.ge,
    "_not_below": operator.ge,
    "_below": operator.lt,
}
NO_BOUND = {"value_below"}  # the value of a stump on one side


def compare(got: Any, want: Any, within: tuple[float, float] | None, at: str) -> None:
    if isinstance(got, UpToSign):
        got = got.toward(want)
    if isinstance(got, AnyOrder):
        got, want = sorted(got), sorted(want)
    if isinstance(want, dict):
        assert isinstance(got, dict), f"{at}: {got!r} should be {want!r}"
        assert set(got) == set(want), f"{at}: keys {set(got) ^ set(want)} on one side only"
        for key in want:
            bound = next((b for b in BOUNDS if str(key).endswith(b) and key not in NO_BOUND), None)
            if bound is not None:
                assert BOUNDS[bound](got[key], want[key]), f"{at}.{key}: {got[key]} and {want[key]}"
            else:
                compare(got[key], want[key], within, f"{at}.{key}")
    elif isinstance(want, list):
        assert len(got) == len(want), f"{at}: {len(got)} values for {len(want)}"
        for n, (g, w) in enumerate(zip(got, want, strict=True)):
            compare(g, w, within, f"{at}[{n}]")
    elif isinstance(want, bool) or want is None:
        assert want == (got if got is None else bool(got)), f"{at}: {got!r} should be {want!r}"
    elif isinstance(want, str) and isinstance(got, bool | np.bool_):
        assert got, f"{at}: does not hold: {want}"
    elif isinstance(want, str) and not isinstance(got, Number):
        assert str(got) == want, f"{at}: {got!r} should be {want!r}"
    else:
        assert within is not None, f"{at}: the file gives no tolerance for {want!r}"
        number = float(Fraction(want) if isinstance(want, str) else want)
        bound = within[0] + within[1] * abs(number)
        assert got == number or abs(got - number) <= bound, f"{at}: {got!r} should be {number!r}"
