"""Hostile inputs for every estimator: fit, ask, and say how it ended.

A case is a variant of `tests/laws/registry.py` and the name of a hostile input. `run` ends it in one of:

ok           fitted and answered; all numbers are finite
refused      an error of a kind that users expect, whose message names what to act on
unclear      any other error
non-finite   it fitted, and NaN or infinity stands in a public attribute or in an answer
crash, hang  the process died, or did not end in time (as `survey` sees it, which runs cases in processes)

    python -m tests.attack.inputs [part of a name]    # a table by outcome, and what is not as it should be
"""

from __future__ import annotations

import datetime
import json
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import suffice

from ..laws.registry import COMMON, Variant, answers, flat, has_options, in_sequences, leaves, steps

N_ROWS, N_SEQUENCES = 40, 16
CPU_SECONDS, SECONDS = 20.0, 600.0  # that one case may take, on a machine that may be busy
MEMORY = 6 << 30  # that a process may map
CLEAR = {
    "ValueError",
    "TypeError",
    "InvalidParameterError",
    "NotFittedError",
    "MemoryError",
    "StorageError",
    "NotImplementedError",
    "LinAlgError",
    "SingularCovariance",  # a ValueError
}
# Of what a message must speak, so that its reader knows where to look.
NAMES = re.compile(
    r"\b(X|y|sample_weight|weights?|groups?|columns?|features?|rows?|samples?|labels?|class(es)?|target"
    r"|parameter|sequences?|ids?|links?|sources?|targets?|nodes?|documents?|texts?|vocabulary|strings?|words?"
    r"|fitted|dtype|array|table|states?|steps?)\b|[a-z]+_[a-z_]+|\w+=\S"
)
OPAQUE = re.compile(
    "array must not contain infs or NaNs|setting an array element with a sequence"
    "|could not convert string to float|ufunc|not broadcast|object of type|unsupported operand"
    "|must be real number|cannot cast|Cannot cast|truth value of an array|inhomogeneous"
    "|not supported between instances|has no attribute|positional argument|'NoneType'|not iterable"
    "|out of bounds|Singular matrix|leading minor|not subscriptable|unhashable"
)
FOREIGN = re.compile(r"/(numpy|scipy|pyarrow|pandas|polars)/")
Given = dict[str, Any]  # X, y, sample_weight of `fit`, and `ask`: the X of what answers


# --- hostile inputs ------------------------------------------------------------------------------------

HOSTILE: dict[str, dict[str, Callable[..., Any]]] = {"rows": {}, "edges": {}, "documents": {}}


def hostile(kind: str, *values: Any) -> Callable[..., Any]:
    """Register an input: what changes what is given, for each of some values."""

    def register(change: Callable[..., Any]) -> Callable[..., Any]:
        name = change.__name__.strip("_")
        if not values:
            HOSTILE[kind][name] = change
        for value in values:
            HOSTILE[kind][f"{name}={value}"] = lambda *given, _value=value: change(*given, _value)
        return change

    return register


@hostile("rows")
def clean(given: Given) -> None:
    pass


@hostile("rows", np.nan, np.inf, -np.inf, 1e155, -1e200, 1e308, 1e-310, -1.0, 0.5)
def cell(given: Given, value: float) -> None:
    given["X"][3, 0] = value


@hostile("rows", np.nan, np.inf, 1e160, 1e300, 1e-310, 0.0, 7.0)
def column(given: Given, value: float) -> None:
    given["X"][:, 0] = value


@hostile("rows", np.nan, 1e200, -1e308, 1e-310, 0.0, 1.0)
def every_cell(given: Given, value: float) -> None:
    given["X"][:] = value


@hostile("rows", 1e-300, 1e-170, 1e-100, 1e100, 1e150, 1e160, 1e300)
def scaled(given: Given, factor: float) -> None:
    given["X"] = given["ask"] = given["X"] * factor


@hostile("rows", 1e100, 1e140)
def column_scaled(given: Given, factor: float) -> None:
    given["X"][:, 0] *= factor


@hostile("rows")
def mixed_scales(given: Given) -> None:
    given["X"] *= np.logspace(-140, 140, given["X"].shape[1])


@hostile("rows", 0, 1, 2)
def rows_only(given: Given, n: int) -> None:
    given["X"] = given["X"][:n]
    if given["y"] is not None:
        given["y"] = given["y"][:n]


@hostile("rows", 0, 1, 60)
def columns_only(given: Given, n: int) -> None:
    given["X"] = given["ask"] = np.resize(given["X"].T, (n, len(given["X"]))).T.copy()


@hostile("rows")
def same_rows(given: Given) -> None:
    given["X"][:] = given["X"][0]


@hostile("rows")
def same_columns(given: Given) -> None:
    given["X"][:] = given["X"][:, :1]


@hostile("rows")
def nearly_same_columns(given: Given) -> None:
    given["X"][:] = given["X"][:, :1] * (1 + 1e-15 * np.arange(given["X"].shape[1]))


DTYPES = "int64 int8 uint8 uint64 bool float16 float32 longdouble complex128 object str bytes M8[D] m8[s] >f8"


@hostile("rows", *DTYPES.split())
def dtype(given: Given, kind: str) -> None:
    X = np.abs(given["X"]) if kind in ("uint8", "uint64", "int8") else given["X"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given["X"] = X.astype("int64").astype(kind) if kind[0] in "Mm" else X.astype(kind)


@hostile("rows")
def whole_numbers_past_float(given: Given) -> None:
    given["X"] = np.full(given["X"].shape, 2**62) + np.arange(len(given["X"]))[:, None]


@hostile("rows")
def float32_near_its_limit(given: Given) -> None:
    given["X"] = given["ask"] = (given["X"] / np.abs(given["X"]).max() * 3e38).astype(np.float32)


OBJECTS = {
    "None": None,
    "nan": np.nan,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "word": "a",
    "number": "1.5",
    "empty": "",
    "bytes": b"1",
    "decimal": Decimal("1.5"),
    "fraction": Fraction(3, 2),
    "date": datetime.date(2020, 1, 1),
    "complex": 1j,
    "list": [1.0],
    "dict": {},
    "huge": 10**400,
    "object": object(),
}


@hostile("rows", *OBJECTS)
def object_cell(given: Given, name: str) -> None:
    given["X"] = given["X"].astype(object)
    given["X"][3, 0] = OBJECTS[name]


@hostile("rows", "list", "ragged", "1-d", "3-d", "0-d", "None", "str", "int", "dict", "generator", "range")
def container(given: Given, kind: str) -> None:
    X = given["X"]
    made: dict[str, Any] = {
        "list": X.tolist(),
        "ragged": [row[: 1 + i % 2] for i, row in enumerate(X.tolist())],
        "1-d": X[:, 0],
        "3-d": X[:, :, None],
        "0-d": np.array(1.0),
        "None": None,
        "str": "a",
        "int": 5,
        "dict": {"a": X[:, 0]},
        "generator": (row for row in X),
        "range": range(len(X)),
    }
    given["X"] = made[kind]


@hostile("rows", "F", "strided", "reversed", "readonly", "matrix", "structured", "masked", "memmap")
def layout(given: Given, kind: str) -> None:
    X = given["X"]
    if kind == "F":
        X = np.asfortranarray(X)
    elif kind == "strided":
        X = np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3]
    elif kind == "reversed":
        X = X[::-1, ::-1][::-1, ::-1]
    elif kind == "readonly":
        X.flags.writeable = False
    elif kind == "matrix":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = np.matrix(X)
    elif kind == "structured":
        X = np.array([tuple(row) for row in X], dtype=[(f"f{j}", float) for j in range(X.shape[1])])
    elif kind == "masked":
        X = np.ma.masked_greater(X, np.median(X))
    elif kind == "memmap":
        X = X.view(np.memmap)
    given["X"] = X


SPARSE = "csr csc coo int bool nan inf 1e200 zeros empty-rows no-columns int64-indices duplicates"


@hostile("rows", *SPARSE.split())
def sparse(given: Given, kind: str) -> None:
    X = np.where(np.abs(given["X"]) < 1, 0, given["X"])
    made = sp.csr_array(X)
    if kind in ("csc", "coo"):
        made = made.asformat(kind)
    elif kind in ("int", "bool"):
        made = made.astype(kind)
    elif kind in ("nan", "inf", "1e200"):
        made.data[0] = float(kind)
    elif kind == "zeros":
        made.data[:] = 0.0
    elif kind == "empty-rows":
        made = made[:0]
    elif kind == "no-columns":
        made = made[:, :0]
    elif kind == "int64-indices":
        made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    elif kind == "duplicates":
        twice = made.tocoo()
        ends = np.tile(twice.row, 2), np.tile(twice.col, 2)
        made = sp.coo_array((np.tile(twice.data, 2), ends), twice.shape)
    given["X"] = made


def named(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{j}": X[:, j].copy() for j in range(X.shape[1])}


COLUMNS = {
    "plain": lambda x: x,
    "null": lambda x: [None, *x.tolist()[1:]],
    "whole-null": lambda x: [None, *range(len(x) - 1)],
    "text": lambda x: ["a"] * len(x),
    "digits": lambda x: x.astype(str).tolist(),
    "date": lambda x: [datetime.datetime(2020, 1, 1)] * len(x),
    "duration": lambda x: [datetime.timedelta(1)] * len(x),
    "decimal": lambda x: [Decimal("1.5")] * len(x),
    "list": lambda x: [[1.0]] * len(x),
    "flag": lambda x: x > 0,
    "inf": lambda x: np.where(np.arange(len(x)) == 3, np.inf, x),
    "1e200": lambda x: np.where(np.arange(len(x)) == 3, 1e200, x),
    "all-null": lambda x: [None] * len(x),
}


@hostile("rows", *COLUMNS, "category", "twice", "mixed-names", "Int64", "Float64", "string", "index")
def pandas(given: Given, kind: str) -> None:
    table = pd.DataFrame(named(given["X"]))
    if kind in COLUMNS:
        table["x0"] = COLUMNS[kind](given["X"][:, 0])
    elif kind == "category":
        table["x0"] = pd.Categorical(np.where(given["X"][:, 0] > 0, "a", "b"))
    elif kind == "twice":
        table.columns = ["a"] * table.shape[1]
    elif kind == "mixed-names":
        table.columns = ["a", *range(table.shape[1] - 1)]
    elif kind in ("Int64", "Float64"):
        table["x0"] = pd.array([None, *range(len(table) - 1)], dtype=kind)
    elif kind == "string":
        table["x0"] = pd.array(["a"] * len(table), dtype="string")
    elif kind == "index":
        table.index = table.index[::-1]
    given["X"] = table


@hostile("rows", *COLUMNS)
def polars(given: Given, kind: str) -> None:
    x = COLUMNS[kind](given["X"][:, 0])
    given["X"] = pl.DataFrame(named(given["X"])).with_columns(pl.Series("x0", x))


@hostile("rows", *COLUMNS, "twice", "dictionary", "target-null", "target-text", "weight-text", "weight-null")
def arrow(given: Given, kind: str, write: bool = False) -> None:
    columns: dict[str, Any] = named(given["X"])
    if kind in COLUMNS:
        columns["x0"] = COLUMNS[kind](given["X"][:, 0])
    elif kind == "dictionary":
        columns["x0"] = pa.array(["a"] * len(given["X"])).dictionary_encode()
    features = list(columns)
    y, weight, ids = given["y"], given["sample_weight"], given.get("ids")
    if ids is not None and y is not None and len(y) != len(ids):  # one a sequence
        y = np.asarray(y)[ids]
    if kind.startswith("target") and y is not None:
        y = [None, *y[1:].tolist()] if kind == "target-null" else [f"word {v}" for v in y.tolist()]
    if kind.startswith("weight"):
        weight = ["a"] * len(given["X"]) if kind == "weight-text" else [None] + [1.0] * (len(given["X"]) - 1)
    if ids is not None and weight is not None and not kind.startswith("weight"):
        weight = np.asarray(weight)[ids]
    beside = {"y": y, "w": weight, "s": ids}
    columns |= {name: part for name, part in beside.items() if part is not None}
    table = pa.table({name: pa.array(part) for name, part in columns.items()})
    if kind == "twice":
        table = table.append_column("x0", table.column("x0"))
    source: Any = table
    if write:
        path = Path(tempfile.mkdtemp()) / "rows.parquet"
        pq.write_table(table, path, row_group_size=16)
        source = suffice.scan_parquet(path)
    target, of_weight = None if y is None else "y", None if weight is None else "w"
    if ids is not None:
        given["X"] = suffice.sequences(
            source, sequence="s", features=features, target=target, weight=of_weight
        )
    else:
        given["X"] = suffice.rows(source, features=features, target=target, weight=of_weight)
    given["y"] = given["sample_weight"] = None


@hostile("rows", "plain", "null", "text", "date", "inf", "1e200", "target-null", "target-text", "weight-text")
def parquet(given: Given, kind: str) -> None:
    arrow(given, kind, write=True)


@hostile("rows", 1e300, 1e-310, -1.0, np.nan, np.inf, 0.0)
def parquet_weight(given: Given, value: float) -> None:
    weight(given, value)
    arrow(given, "plain", write=True)


@hostile("rows", 1e200, np.nan)
def parquet_target(given: Given, value: float) -> None:
    target(given, value)
    arrow(given, "plain", write=True)


@hostile("rows", np.nan, np.inf, 1e155, 1e200, 1e300, 1e-310, 0.0)
def target(given: Given, value: float) -> None:
    if given["y"] is None:
        return
    if given["kind"] != "regressor":
        given["y"] = np.unique(given["y"], return_inverse=True)[1]
    given["y"] = given["y"].astype(float)
    given["y"][3] = value


TARGETS: dict[str, Callable[[np.ndarray], Any]] = {
    "None": lambda y: None,
    "short": lambda y: y[:-1],
    "long": lambda y: np.append(y, y),
    "empty": lambda y: y[:0],
    "words": lambda y: np.resize(["ash", "elm", "oak"], len(y)),
    "object-words": lambda y: np.resize(["ash", "elm", "oak"], len(y)).astype(object),
    "digits": lambda y: np.resize(["1", "2", "3"], len(y)),
    "object-digits": lambda y: np.resize(["1", "2", "3"], len(y)).astype(object),
    "object-numbers": lambda y: np.resize([1, 2.0, 3], len(y)).astype(object),
    "None-inside": lambda y: np.array([None, *y[1:]], dtype=object),
    "NA-inside": lambda y: np.array([pd.NA, *y[1:]], dtype=object),
    "mixed": lambda y: np.array([1, "a"] * (len(y) // 2), dtype=object),
    "same": lambda y: np.repeat(y[:1], len(y)),
    "zeros": lambda y: np.zeros(len(y)),
    "flags": lambda y: np.arange(len(y)) % 2 == 0,
    "reals": lambda y: np.linspace(0, 1, len(y)),
    "column": lambda y: y[:, None],
    "two-columns": lambda y: np.stack([y, y[::-1]], axis=1),
    "no-columns": lambda y: np.empty((len(y), 0)),
    "3-d": lambda y: y[:, None, None],
    "complex": lambda y: np.arange(len(y)) + 1j,
    "dates": lambda y: np.arange(len(y)).astype("M8[D]"),
    "durations": lambda y: np.arange(len(y)).astype("m8[D]"),
    "decimals": lambda y: np.array([Decimal(i) for i in range(len(y))], dtype=object),
    "lists": lambda y: [[1.0] * (1 + i % 2) for i in range(len(y))],
    "list": lambda y: y.tolist(),
    "dicts": lambda y: [{}] * len(y),
    "scalar": lambda y: 3.0,
    "str": lambda y: "a",
    "series": lambda y: pd.Series(y),
    "category": lambda y: pd.Series(pd.Categorical(y)),
    "nullable": lambda y: pd.Series([None, *range(len(y) - 1)], dtype="Int64"),
    "polars": lambda y: pl.Series(y.tolist()),
    "arrow": lambda y: pa.array(y.tolist()),
    "frame": lambda y: pd.DataFrame({"y": y}),
    "all-distinct": lambda y: np.arange(len(y)),
    "sparse": lambda y: sp.csr_array(np.ones((len(y), 1))),
    "huge": lambda y: np.linspace(-1, 1, len(y)) * 1e160,
    "past-float": lambda y: np.linspace(-1, 1, len(y)) * 1e308,
    "tiny": lambda y: np.linspace(-1, 1, len(y)) * 1e-310,
}


@hostile("rows", *TARGETS)
def targets(given: Given, kind: str) -> None:
    if given["y"] is not None:
        given["y"] = TARGETS[kind](np.asarray(given["y"]))


def _n_weights(given: Given) -> int:
    return given.get("n_examples", len(given["X"]))


@hostile("rows", -1.0, 0.0, np.nan, np.inf, 1e-310, 1e-300, 1e-160, 1e160, 1e300, 1e308, 5e-324)
def weight(given: Given, value: float) -> None:
    given["sample_weight"] = np.full(_n_weights(given), value)


@hostile("rows", -1.0, np.nan, np.inf, 1e-310, 1e-160, 1e160, 1e300, 1e308)
def one_weight(given: Given, value: float) -> None:
    given["sample_weight"] = np.ones(_n_weights(given))
    given["sample_weight"][3] = value


WEIGHTS: dict[str, Callable[[int], Any]] = {
    "one-row": lambda n: np.arange(n) == 3,
    "mixed": lambda n: np.logspace(-300, 300, n),
    "float32": lambda n: np.full(n, 1e38, np.float32),
    "short": lambda n: np.ones(n - 1),
    "long": lambda n: np.ones(2 * n),
    "empty": lambda n: np.ones(0),
    "2-d": lambda n: np.ones((n, 2)),
    "column": lambda n: np.ones((n, 1)),
    "words": lambda n: ["a"] * n,
    "digits": lambda n: ["1"] * n,
    "None-inside": lambda n: [None] + [1.0] * (n - 1),
    "complex": lambda n: np.ones(n) + 1j,
    "dates": lambda n: np.arange(n).astype("M8[D]"),
    "scalar": lambda n: 2.0,
    "str": lambda n: "a",
    "dict": lambda n: {},
    "list": lambda n: [2] * n,
    "bool": lambda n: np.arange(n) % 2 == 0,
    "ragged": lambda n: [[1.0] * (1 + i % 2) for i in range(n)],
    "object": lambda n: np.array([1.0] * n, dtype=object),
    "decimal": lambda n: [Decimal(1)] * n,
    "series": lambda n: pd.Series(np.ones(n), index=np.arange(n)[::-1]),
    "huge-int": lambda n: [10**400] * n,
}


@hostile("rows", *WEIGHTS)
def weights(given: Given, kind: str) -> None:
    given["sample_weight"] = WEIGHTS[kind](_n_weights(given))


@hostile("rows", np.nan, np.inf, 1e155, 1e200, 1e308, 1e-310, -1.0, 1e9)
def ask_cell(given: Given, value: float) -> None:
    given["ask"][3, 0] = value


@hostile("rows", "narrow", "wide", "none", "0-rows", "1-d", "3-d", "None", "str", "words", "object-None")
def ask(given: Given, kind: str) -> None:
    X = given["ask"]
    made: dict[str, Any] = {
        "narrow": X[:, :-1],
        "wide": np.hstack([X, X]),
        "none": X[:, :0],
        "0-rows": X[:0],
        "1-d": X[0],
        "3-d": X[:, :, None],
        "None": None,
        "str": "a",
        "words": np.full(X.shape, "a"),
        "object-None": np.where(np.arange(X.size).reshape(X.shape) == 3, None, X),
    }
    given["ask"] = made[kind]


ASKED = "csr pandas polars arrow other-names fewer-names twice text date float32 int list dtype-object"


@hostile("rows", *ASKED.split())
def ask_as(given: Given, kind: str) -> None:
    X = given["ask"]
    if kind == "csr":
        given["ask"] = sp.csr_array(X)
    elif kind in ("float32", "int"):
        given["ask"] = X.astype(kind)
    elif kind == "list":
        given["ask"] = X.tolist()
    elif kind == "dtype-object":
        given["ask"] = X.astype(object)
    else:
        given["X"], table = pd.DataFrame(named(given["X"])), pd.DataFrame(named(X))
        if kind == "other-names":
            table.columns = [f"z{j}" for j in range(table.shape[1])]
        elif kind == "fewer-names":
            table = table.iloc[:, :-1]
        elif kind == "twice":
            table.columns = ["x0"] * table.shape[1]
        elif kind in ("text", "date"):
            table["x0"] = COLUMNS[kind](X[:, 0])
        elif kind == "polars":
            table = pl.DataFrame(named(X))
        elif kind == "arrow":
            table = pa.table(named(X))
        given["ask"] = table


# --- links ---------------------------------------------------------------------------------------------

IDS: dict[str, Callable[[np.ndarray], Any]] = {
    "clean": lambda ids: ids,
    "floats": lambda ids: ids.astype(float),
    "nan": lambda ids: np.where(ids == ids[0], np.nan, ids),
    "negative": lambda ids: -ids,
    "huge": lambda ids: ids + 2**62,
    "uint64": lambda ids: ids.astype(np.uint64) + np.uint64(2**63),
    "words": lambda ids: ids.astype(str),
    "mixed": lambda ids: np.array([1, "a"] * (len(ids) // 2) + [1] * (len(ids) % 2), dtype=object),
    "None": lambda ids: np.array([None, *ids[1:]], dtype=object),
    "complex": lambda ids: ids + 1j,
    "dates": lambda ids: ids.astype("M8[D]"),
    "flags": lambda ids: ids > 1,
    "short": lambda ids: ids[:-1],
    "empty": lambda ids: ids[:0],
    "2-d": lambda ids: ids[:, None],
    "scalar": lambda ids: 3,
    "str": lambda ids: "a",
    "tuples": lambda ids: [(i, i) for i in ids],
    "decimals": lambda ids: [Decimal(int(i)) for i in ids],
    "lists": lambda ids: [[int(i)] for i in ids],
    "one-node": lambda ids: ids * 0,
    "pandas": lambda ids: pd.Series(ids),
    "polars": lambda ids: pl.Series(ids),
    "arrow": lambda ids: pa.array(ids),
    "category": lambda ids: pd.Series(pd.Categorical(ids.astype(str))),
}


@hostile("edges", *IDS)
def source(given: Given, kind: str) -> None:
    given["X"] = IDS[kind](given["X"][0]), given["X"][1]


@hostile("edges", *IDS)
def both_ends(given: Given, kind: str) -> None:
    given["X"] = tuple(IDS[kind](end) for end in given["X"])


GRAPHS: dict[str, Callable[[Any, Any], Any]] = {
    "None": lambda a, b: None,
    "one-array": lambda a, b: (a,),
    "three": lambda a, b: (a, b, a),
    "array": lambda a, b: np.stack([a, b], axis=1),
    "dense": lambda a, b: np.eye(4),
    "csr": lambda a, b: sp.csr_array(np.eye(4)[::-1]),
    "oblong": lambda a, b: sp.csr_array(np.ones((3, 4))),
    "negative": lambda a, b: sp.csr_array(-np.ones((3, 3))),
    "nan": lambda a, b: sp.csr_array(np.full((3, 3), np.nan)),
    "huge": lambda a, b: sp.csr_array(np.full((3, 3), 1e308)),
    "tiny": lambda a, b: sp.csr_array(np.full((3, 3), 1e-310)),
    "none": lambda a, b: sp.csr_array((0, 0)),
    "no-links": lambda a, b: sp.csr_array((3, 3)),
    "complex": lambda a, b: sp.csr_array(np.full((3, 3), 1j)),
    "table": lambda a, b: suffice.edges(pa.table({"a": a, "b": b}), source="a", target="b"),
    "frame": lambda a, b: suffice.edges(pd.DataFrame({"a": a, "b": b}), source="a", target="b"),
    "polars": lambda a, b: suffice.edges(pl.DataFrame({"a": a, "b": b}), source="a", target="b"),
    "bare": lambda a, b: pd.DataFrame({"a": a, "b": b}),
    "dates": lambda a, b: suffice.edges(
        pa.table({"a": a.astype("M8[s]"), "b": b.astype("M8[s]")}), source="a", target="b"
    ),
    "lost": lambda a, b: suffice.edges(pa.table({"a": a, "b": b}), source="a", target="c"),
    "text-weight": lambda a, b: suffice.edges(
        pa.table({"a": a, "b": b, "w": ["x"] * len(a)}), source="a", target="b", weight="w"
    ),
    "huge-weight": lambda a, b: suffice.edges(
        pa.table({"a": a, "b": b, "w": [1e308] * len(a)}), source="a", target="b", weight="w"
    ),
    "twice": lambda a, b: suffice.edges(pa.table([a, b, b], names=["a", "b", "b"]), source="a", target="b"),
}


@hostile("edges", *GRAPHS)
def graph(given: Given, kind: str) -> None:
    given["X"] = GRAPHS[kind](*given["X"])


@hostile("edges", -1.0, 0.0, np.nan, np.inf, 1e-310, 1e-160, 1e160, 1e308)
def link_weight(given: Given, value: float) -> None:
    given["sample_weight"] = np.full(len(given["X"][0]), value)


@hostile("edges", *WEIGHTS)
def link_weights(given: Given, kind: str) -> None:
    given["sample_weight"] = WEIGHTS[kind](len(given["X"][0]))


# --- documents -----------------------------------------------------------------------------------------

TEXTS: dict[str, Callable[[np.ndarray], Any]] = {
    "clean": lambda texts: texts,
    "str": lambda texts: "one document",
    "None": lambda texts: None,
    "int": lambda texts: 3,
    "numbers": lambda texts: [1, 2, 3],
    "array": lambda texts: np.ones(3),
    "None-inside": lambda texts: [None, *texts[1:]],
    "nan-inside": lambda texts: [np.nan, *texts[1:]],
    "bytes": lambda texts: [text.encode() for text in texts],
    "bad-bytes": lambda texts: [b"\xff\xfe\xfd a word"] * 4,
    "lists": lambda texts: [["a", "b"]] * 4,
    "dicts": lambda texts: [{"a": 1}] * 4,
    "empty": lambda texts: [],
    "empty-texts": lambda texts: [""] * 4,
    "short-words": lambda texts: ["a b c"] * 4,
    "surrogate": lambda texts: ["\ud800 word"] * 4,
    "control": lambda texts: ["\x00 word \x00"] * 4,
    "long": lambda texts: ["w" * 100_000] * 2,
    "2-d": lambda texts: texts[:, None],
    "generator": lambda texts: (text for text in texts),
    "set": lambda texts: set(texts.tolist()),
    "pandas": lambda texts: pd.Series(texts),
    "frame": lambda texts: pd.DataFrame({"text": texts}),
    "pandas-null": lambda texts: pd.Series([None, *texts[1:]]),
    "polars": lambda texts: pl.Series(texts.tolist()),
    "arrow": lambda texts: pa.array(texts.tolist()),
    "table": lambda texts: suffice.documents(pa.table({"t": texts.tolist()}), text="t"),
    "table-null": lambda texts: suffice.documents(pa.table({"t": [None, *texts[1:].tolist()]}), text="t"),
    "table-numbers": lambda texts: suffice.documents(pa.table({"t": [1, 2, 3]}), text="t"),
    "table-lost": lambda texts: suffice.documents(pa.table({"t": ["a"]}), text="u"),
    "bare-table": lambda texts: pa.table({"t": texts.tolist()}),
}


@hostile("documents", *TEXTS)
def texts(given: Given, kind: str) -> None:
    given["X"] = TEXTS[kind](given["X"])


@hostile("documents", *TEXTS)
def ask_texts(given: Given, kind: str) -> None:
    given["ask"] = TEXTS[kind](given["ask"])


@hostile("documents", *WEIGHTS)
def text_weights(given: Given, kind: str) -> None:
    given["sample_weight"] = WEIGHTS[kind](len(given["X"]))


# --- parameters ----------------------------------------------------------------------------------------

VALUES = {
    "object": object(),
    "word": "no such option",
    "empty": "",
    "-1": -1,
    "-1.0": -1.0,
    "0": 0,
    "2.5": 2.5,
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "1e308": 1e308,
    "1e-310": 1e-310,
    "complex": 1j,
    "bool": True,
    "None": None,
    "list": [],
    "words": ["a"],
    "nan-array": np.full(3, np.nan),
    "2-d": np.ones((2, 2)),
    "dict": {"a": 1},
    "type": int,
    "tuple": (2, 1),
    "300": 300,
}


def bad_parameters(variant: Variant) -> Iterator[str]:
    for name in variant.estimator.get_params(deep=False):
        yield from (f"parameter {name}={value}" for value in VALUES)


# --- running -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    variant: str
    input: str

    @property
    def name(self) -> str:
        return f"{self.variant} | {self.input}"


@cache
def variants() -> dict[str, Variant]:
    return {variant.name: variant for variant in COMMON}


def cases() -> list[Case]:
    """Half of the inputs for each estimator as it is by default, and a twelfth for each other variant.

    Which they are goes round with the number of the variant, so that every input meets many estimators.
    """
    found = []
    for number, variant in enumerate(COMMON):
        names = [*HOSTILE.get(variant.takes, HOSTILE["rows"]), "unfitted"]
        if has_options(variant):
            names = names[number % 12 :: 12]
        else:
            names = names[number % 2 :: 2] + list(bad_parameters(variant))[number % 5 :: 5]
        found += [Case(variant.name, name) for name in names]
    return found


def given_to(variant: Variant) -> Given:
    """Clean rows: what the inputs change."""
    n = N_SEQUENCES if variant.takes == "sequences" else N_ROWS
    X, y = variant.data(n)
    given: Given = {"sample_weight": None, "kind": variant.kind}
    if variant.takes == "sequences":
        given |= {"n_examples": n, "ids": np.repeat(np.arange(n), [len(x) for x in X])}
        X, y = flat(X), y if y is None or variant.of_sequences else flat(y)
    ask = X.copy() if isinstance(X, np.ndarray) else X
    return given | {"X": X, "y": y, "ask": ask}


def run(case: Case) -> tuple[str, str]:
    """How it ended, and what there is to say of it."""
    variant = variants()[case.variant]
    estimator, given = variant.make(max_iter=20), given_to(variant)
    if case.input.startswith("parameter "):
        name, value = case.input.removeprefix("parameter ").split("=")
        estimator.set_params(**{name: VALUES[value]})
    elif case.input != "unfitted":
        HOSTILE.get(variant.takes, HOSTILE["rows"])[case.input](given)
    X, y, ask = given["X"], given["y"], given["ask"]
    if variant.takes == "sequences":
        n = steps(N_SEQUENCES)
        X, ask = (_cut(part, n) for part in (X, ask))
        y = y if variant.of_sequences else _cut(y, n, isinstance(X, list))
    how = {} if given["sample_weight"] is None else {"sample_weight": given["sample_weight"]}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if case.input != "unfitted":
                estimator.fit(X, y, **how)
            found = answers(estimator, ask) if ask is not None or "ask" in case.input else {}
    except Exception as error:
        return judged(error)
    bad = {
        name
        for name, is_nan in non_finite(estimator, found).items()
        if not is_expected(case.variant, name, is_nan)
    }
    said = sorted({w.category.__name__ for w in caught})
    return ("non-finite" if bad else "ok", f"{sorted(bad)[:6]} {said}")


def _cut(part: Any, n: int, listed: bool = True) -> Any:
    if listed and isinstance(part, np.ndarray) and part.ndim in (1, 2) and len(part) == n:
        return list(in_sequences(part, N_SEQUENCES))
    return part


def non_finite(estimator: Any, found: dict[str, Any]) -> dict[str, bool]:
    """Where NaN or infinity stands, and whether NaN does."""
    bad: dict[str, bool] = {}
    for name, value in {**leaves(estimator), **leaves(found, "answer")}.items():
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            part = part.data if sp.issparse(part) else part
            if not isinstance(part, np.ndarray | np.floating | float) or np.asarray(part).dtype.kind != "f":
                continue
            if not np.isfinite(part).all():
                place = re.sub(r"\d+", "#", name)
                bad[place] = bad.get(place, False) or bool(np.isnan(part).any())
    return bad


# Infinities that the documentation speaks of. NaN is never one of them.
DOCUMENTED = (
    "answer.predict_log_proba",  # the logarithm of zero
    "answer.score_samples",
    ".feature_log_prob_",  # without smoothing, as scikit-learn gives it
    ".lower_bound_",  # before the first iteration
    ".C_",  # of a hard margin
    ".bound_",  # the perplexity of documents of next to no words
    ".alpha_",  # the penalty of a straight line
    ".model_.alpha",
    ".gcv_",  # of a spline that goes through all targets
    ".dual_gap_",  # of a fit that ended before it had a bound, and warned
    ".bin_edges_",  # of a constant column, as in scikit-learn
    ".model_.edges",
)
# NaN of rows that no tree has out of its bag, with a warning, as in scikit-learn.
OUT_OF_BAG = (".oob_prediction_", ".oob_decision_function_")
PASS_NAN = ("suffice.impute.", "suffice.preprocessing.")  # what they transform, and learn of a column of NaN


@cache
def on_clean_rows(variant: str) -> dict[str, bool]:
    """What is not finite on clean rows either, and whether it is NaN."""
    plain = variants()[variant]
    given = given_to(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = given["X"], given["y"]
        if plain.takes == "sequences":
            n = steps(N_SEQUENCES)
            X, y = _cut(X, n), y if plain.of_sequences else _cut(y, n)
        estimator = plain.make(max_iter=20).fit(X, y)
        return non_finite(estimator, answers(estimator, X))


def is_expected(variant: str, name: str, is_nan: bool) -> bool:
    """Whether NaN or infinity may stand there."""
    usual, estimator = on_clean_rows(variant), variants()[variant].estimator
    passes = type(estimator).__module__.startswith(PASS_NAN) and variants()[variant].tags.allow_nan
    if is_nan and (passes or name in OUT_OF_BAG):
        return True
    if name == "answer.transform" and type(estimator).__name__ == "PolynomialFeatures":
        return not is_nan  # products that overflow, with NumPy's warning
    return usual.get(name, False) if is_nan else name in usual or name.startswith(DOCUMENTED)


def judged(error: BaseException) -> tuple[str, str]:
    """Whether a user knows from an error what to do."""
    text = str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    said = f"{type(error).__name__}: {text[:160]!r} at {where}"
    clear = (
        type(error).__name__ in CLEAR
        and NAMES.search(text)
        and (not OPAQUE.search(text) or re.search(r"\brow \d", text))
        and not FOREIGN.search(frame.filename)
    )
    return ("refused" if clear else "unclear"), said


# --- in processes, which may die -----------------------------------------------------------------------


def serve() -> None:
    """Run the cases that standard input names, and print how they ended."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a loop prints is not an answer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # ends the process
        print(json.dumps(run(Case(*json.loads(line)))), file=out, flush=True)


def start() -> Any:
    command = [sys.executable, "-m", "tests.attack.inputs", "--serve"]
    env = os.environ | {"OMP_NUM_THREADS": "1", "SUFFICE_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env)


def survey(
    chosen: list[Case], workers: int = 2, note: Callable[[Case, tuple[str, str]], None] = lambda *_: None
) -> dict[Case, tuple[str, str]]:
    """How each case ended, run in processes that are replaced when they die or hang; `note` hears of each."""
    waiting, ended = list(reversed(chosen)), {}
    busy: dict[Any, tuple[Case, float]] = {}
    ears = selectors.DefaultSelector()

    def feed(worker: Any) -> None:
        if waiting:
            case = waiting.pop()
            busy[worker] = case, time.monotonic()
            worker.stdin.write(json.dumps([case.variant, case.input]) + "\n")
            worker.stdin.flush()
        else:
            worker.stdin.close()

    def new() -> None:
        worker = start()
        ears.register(worker.stdout, selectors.EVENT_READ, worker)
        feed(worker)

    for _ in range(min(workers, len(chosen))):
        new()
    while busy:
        for key, _ in ears.select(timeout=1.0):
            worker = key.data
            line = worker.stdout.readline()
            case, _ = busy.pop(worker, (None, 0.0))
            if line and case:
                ended[case] = tuple(json.loads(line))
                note(case, ended[case])
                feed(worker)
                continue
            ears.unregister(worker.stdout)
            if case:
                code = worker.wait()
                ended[case] = ("hang" if code == -signal.SIGPROF else "crash"), f"exit code {code}"
                note(case, ended[case])
                new()
        for worker, (case, since) in list(busy.items()):
            if time.monotonic() - since > SECONDS:
                ears.unregister(worker.stdout)
                worker.kill()
                worker.wait()
                del busy[worker]
                ended[case] = "hang", f"more than {SECONDS} s"
                note(case, ended[case])
                new()
    return ended


def report(ended: dict[Case, tuple[str, str]]) -> str:
    counts = Counter(outcome for outcome, _ in ended.values())
    lines = [f"{len(ended)} cases: " + ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())]
    lines += [
        f"{outcome:11} {case.name}: {said}"
        for case, (outcome, said) in sorted(ended.items(), key=lambda item: (item[1][0], item[0].input))
        if outcome not in ("ok", "refused")
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        wanted = [case for case in cases() if all(part in case.name for part in sys.argv[1:])]
        print(report(survey(wanted, note=lambda *ended: print(*ended, file=sys.stderr, flush=True))))
