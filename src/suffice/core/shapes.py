"""Declared shapes of the arrays in a value, which are checked when the value is read from a file.

A field declares the shape of its array beside its type, in the letters of the textbooks. `Annotated` is part
of the standard library, and has no cost at run time::

    weight: Annotated[np.ndarray, "(K,)"]
    mean: Annotated[np.ndarray, "(K, D)"]
    theta: Annotated[np.ndarray, "(K, D + 1) or (1, D + 1)"]
    first: Annotated[np.ndarray, "int (D + 1,)"]  # float, bool, strings; labels are any; else numbers
    alpha: Annotated[Any, "number or real (D,)"]  # real: also float32, or a list, as users pass them
    count: Annotated[tuple[np.ndarray, ...], "D of (K, V_d)"]  # one for each d, V_d a size of its own
    component: Annotated[Family, "K, D"]  # its K and D are those of this value
    component: Annotated[Family, "K = K * M, D"]  # and its K is the product of two sizes

A letter has one size within a value, * is any size, and ... stands for any further axes. A class checks other
conditions (indices in range, increasing offsets) in `Value.check_loaded`.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from .values import Value

KINDS = {
    "": "fiu",
    "real": "fiu",
    "float": "f",
    "int": "iu",
    "bool": "b",
    "strings": "OU",
    "labels": "biufOU",
}
_SHAPE = re.compile(
    rf"(?:(?P<count>\w+) of )?(?:(?P<kind>{'|'.join(filter(None, KINDS))}) )?\((?P<axes>.*)\)"
)
_PARTS = re.compile(r"(?:(?P<count>\w+) of )?(?P<letters>[^()]+)")
_TERM = re.compile(r"(?:^|([+-]) )([\w* ]+?)(?= [+-] |$)")
Pairs = list[tuple[str, int]]  # the declared size of an axis, and its actual size


def sizes_of(value: Value) -> dict[str, int]:
    """Return the sizes of the letters of a value. Raises a ValueError if its fields are not as declared."""
    sizes = fitting_sizes(type(value), value.fields())
    value.check_loaded(sizes)
    return sizes


def fitting_sizes(cls: type, values: dict[str, Any], **sizes: int) -> dict[str, int]:
    """Return the sizes of the letters for which the values match the declarations of a class.

    `sizes` are those that are already known. Raises a ValueError if there are none.
    """
    checks = []
    for name, (hint, declaration) in declared(cls).items():
        if name not in values:
            continue
        value, field = values[name], f"`{name}` of {cls.__name__}"
        if not _is(hint, value):
            raise ValueError(f"{field} is a {type(value).__name__}, expected {_plain(hint)}.")
        if declaration is not None and value is not None:
            fits = _alternatives(declaration, value)
            if not fits:
                raise ValueError(f"{field} is {_described(value)}, expected {declaration}.")
            checks.append((field, declaration, value, fits))
    checks.sort(key=lambda check: len(check[3]))  # fields with one possible shape determine sizes first
    for field, declaration, value, fits in checks * 2:  # in the second round all letters of sums are known
        updated = next((new for pairs in fits if (new := _with(sizes, pairs)) is not None), None)
        if updated is None:
            known = ", ".join(f"{k} = {n}" for k, n in sizes.items() if re.search(rf"\b{k}\b", declaration))
            raise ValueError(f"{field} is {_described(value)}, expected {declaration} with {known}.")
        sizes = updated
    return sizes


@cache
def declared(cls: type) -> dict[str, tuple[Any, str | None]]:
    """Return the types and the declared shapes of the fields of a class."""
    hints = get_type_hints(cls, include_extras=True)
    if dataclasses.is_dataclass(cls):
        hints = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    return {name: _parted(hint) for name, hint in hints.items()}


def _parted(hint: Any) -> tuple[Any, str | None]:
    if get_origin(hint) is not Annotated:
        return hint, None
    return get_args(hint)[:2]


def _plain(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _is(hint: Any, value: Any) -> bool:
    """Whether a value has a type. An int is accepted as a float; a bool is not a number."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_is(part, value) for part in args)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = args[:1] * len(value) if args[1:] == (...,) else args
        return len(kinds) == len(value) and all(map(_is, kinds, value))
    if origin is dict:
        return isinstance(value, dict) and all(_is(args[0], k) and _is(args[1], v) for k, v in value.items())
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint in (int, float):
        kinds = (int, np.integer) if hint is int else (int, float, np.integer, np.floating)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, origin or hint or type(None))


def _alternatives(declaration: str, value: Any) -> list[Pairs]:
    """Return the sizes of the axes of a value, for each shape of the declaration that it matches."""
    return [pairs for one in declaration.split(" or ") if (pairs := _pairs(one, value)) is not None]


def _pairs(shape: str, value: Any) -> Pairs | None:
    """Return the sizes of the axes of a value for one declared shape; None if it has another shape."""
    if shape == "number":
        return [] if _is(float, value) or _of_array(_form("()")[0], value) == [] else None
    if shape == "None":
        return None  # None was accepted before
    match, of_one = _form(shape)
    count = match["count"]
    if count is None:
        return None if isinstance(value, tuple) else of_one(match, value)
    if not isinstance(value, tuple | list):
        return None
    pairs = [(count, len(value))]
    for n, part in enumerate(value):
        axes = of_one(match, part)
        if axes is None:
            return None
        pairs += [(re.sub(r"_[a-z]\b", f"_{n}", letters), size) for letters, size in axes]
    return pairs


@cache
def _form(shape: str) -> tuple[Any, Any]:
    """Return a parsed declaration, and the function that matches a value with it."""
    if match := _SHAPE.fullmatch(shape):
        return match, _of_array
    return _PARTS.fullmatch(shape), _of_value


@cache
def _terms(size: str) -> list[tuple[str, list[str]]]:
    """Return the sign and the factors of each term of a sum."""
    return [(sign, term.split(" * ")) for sign, term in _TERM.findall(size)]


def _of_array(match: re.Match[str], value: Any) -> Pairs | None:
    """Return the sizes of the axes of an array; None if its type or number of axes does not match."""
    if match["kind"] == "real" and isinstance(value, list):
        value = np.array(value)
    if not isinstance(value, np.ndarray | sp.csr_array) or value.dtype.kind not in KINDS[match["kind"] or ""]:
        return None
    if value.dtype.kind == "f" and value.dtype.itemsize < (8 if match["kind"] in (None, "float") else 4):
        return None  # statistics and models are float64; compiled loops take no float16
    axes, shape = [axis.strip() for axis in match["axes"].split(",") if axis.strip()], value.shape
    if axes and axes[-1] == "...":
        axes, shape = axes[:-1], shape[: len(axes) - 1]
    return list(zip(axes, shape, strict=True)) if len(axes) == len(shape) else None


def _of_value(match: re.Match[str], value: Any) -> Pairs | None:
    """Return the sizes of the letters of a value inside a value, in the letters of the outer one."""
    if not isinstance(value, Value):
        return None
    sizes = sizes_of(value)
    letters = [(part.split(" = ") * 2)[:2] for part in match["letters"].split(", ")]
    return [(ours, sizes[theirs]) for theirs, ours in letters if theirs in sizes]


def _with(sizes: dict[str, int], pairs: Pairs) -> dict[str, int] | None:
    """Return the sizes updated by the pairs; None if they contradict."""
    sizes = dict(sizes)
    for declared_size, size in pairs:
        if declared_size == "*":
            continue
        rest, unknown = size, []  # the size minus its known terms; unknown letters and their factor
        for sign, factors in _terms(declared_size):
            letters = [f for f in factors if not f.isdigit() and f not in sizes]
            factor = math.prod(int(f) if f.isdigit() else sizes[f] for f in factors if f not in letters)
            if letters:
                unknown.append((letters, factor if sign != "-" else 0))
            else:
                rest -= -factor if sign == "-" else factor
        match unknown:
            case []:
                if rest != 0:
                    return None
            case [([letter], factor)] if factor:
                if rest < 0 or rest % factor:
                    return None
                sizes[letter] = rest // factor
    return sizes


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}" + (f", the first {_described(value[0])}" if value else "")
    if isinstance(value, Value):
        return f"a {type(value).__name__} with {', '.join(f'{k} = {n}' for k, n in sizes_of(value).items())}"
    return f"a {type(value).__name__}"


def alike(a: Any, b: Any) -> bool:
    """Whether a fit that started with `a` can have reached `b`.

    They have the same class and the same sizes, except for M, which may grow. None matches anything.
    """
    if a is None or b is None:
        return True
    if isinstance(a, Value):
        if type(a) is not type(b):
            return False
        ours, theirs = sizes_of(a), sizes_of(b)
        pairs = zip(a.fields().values(), b.fields().values(), strict=True)
        same = all(ours[letter] == theirs[letter] for letter in ours.keys() & theirs.keys() - {"M"})
        return same and all(alike(x, y) for x, y in pairs if isinstance(x, Value | tuple))
    if isinstance(a, tuple) and any(isinstance(part, Value) for part in a):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(alike, a, b))
    return True


# --- checks beyond shapes ------------------------------------------------------------------------------


def must(holds: bool | np.bool, text: str) -> None:
    """Raise a ValueError for a value from a file, unless the condition holds."""
    if not holds:
        raise ValueError(text)


def must_index(index: np.ndarray, size: int, what: str) -> None:
    """Raise a ValueError if an index is out of range for an array of this size."""
    must(
        index.size == 0 or (index.min() >= 0 and index.max() < size),
        f"{what} are not all from 0 to {size - 1}.",
    )


def must_rise(offset: np.ndarray, to: int, what: str) -> None:
    """Raise a ValueError if offsets do not increase from zero to `to`."""
    rise = len(offset) > 0 and offset[0] == 0 and offset[-1] == to and (offset[1:] >= offset[:-1]).all()
    must(rise, f"{what} do not rise from 0 to {to}.")
