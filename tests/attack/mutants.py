"""Model files, changed as an attacker would: any content, with the right digest; and what becomes of them.

python -m tests.attack.mutants 100          # mutants of each estimator, and a table of the outcomes
python -m tests.attack.mutants 100 "^[I-Z]" # of those whose names this regular expression finds
"""

from __future__ import annotations

import collections
import copy
import json
import multiprocessing
import re
import resource
import signal
import sys
import tempfile
import warnings
import zlib
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

import suffice
from suffice.core.storage import StorageError, _digest, import_everything
from suffice.core.values import Value

METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform"]
METHODS += ["score_samples", "score", "sample", "partial_fit"]
LIMIT = 180  # seconds for a mutant, which may be of a type that loops are compiled for; more in a new process
MEMORY = 2**30  # bytes for a mutant

NUMBERS = (0, -1, 1, 7, 2**31, -(2**63), 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"))
LEAVES = (*NUMBERS, True, None, "", "text", {"list": []}, {"tuple": [1, 2]}, {"dict": []})
DTYPES = ("<f4", "<f2", "<f8", "<i8", "<i4", "<i2", "|u1", "<u8", "|b1")


# --- mutations -----------------------------------------------------------------------------------------


def opened(content: bytes) -> tuple[Any, dict[str, Any], dict[str, str]]:
    """The tree of a file, its arrays and the rest of its metadata."""
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    return json.loads(metadata["value"]), dict(load(content)), metadata


def closed(text: str, arrays: dict[str, Any], metadata: dict[str, str]) -> bytes:
    """A file with this content, and its right digest."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(arrays, metadata | {"value": text, "digest": _digest(text, arrays)})


def mutant(content: bytes, seed: Any) -> tuple[str, bytes]:
    """The file with one to three changes; and their names."""
    rng = np.random.default_rng(seed)
    tree, arrays, metadata = opened(content)
    names = []
    for _ in range(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1])):
        change = CHANGES[rng.choice(len(CHANGES), p=SHARES)]
        names.append(f"{change.__name__}({change(rng, tree, arrays)})")
    text = json.dumps(tree)
    if rng.random() < 0.05:
        place, raw = rng.integers(len(text)), bytearray(text.encode())
        raw[place] ^= 1 << rng.integers(7)
        text = raw.decode(errors="replace")
        names.append(f"bit({place})")
    return " ".join(names), closed(text, arrays, metadata)


def nodes(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all places in the tree."""
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(inner for key, part in parts for inner in nodes(part, (*path, key)))]


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def pick(rng: Any, tree: Any, wanted: Any) -> tuple[Any, Any, str] | None:
    """Where a node that is wanted stands: its parent, its key, and its path as text."""
    places = [path for path in nodes(tree) if path and wanted(at(tree, path))]
    if not places:
        return None
    path = places[rng.integers(len(places))]
    return at(tree, path[:-1]), path[-1], ".".join(str(key) for key in path if key not in ("fields", "dict"))


def is_array(node: Any) -> bool:
    return isinstance(node, dict) and "array" in node


def is_part(node: Any) -> bool:
    return isinstance(node, dict) and "fields" not in node


def is_leaf(node: Any) -> bool:
    return node is None or isinstance(node, bool | int | float | str)


def array_of(node: Any, arrays: Any) -> Any:
    array = arrays.get(node["array"]) if isinstance(node["array"], str) else None
    try:  # an earlier change may have left no sense
        return array.reshape(node["shape"])
    except Exception:
        return np.zeros(1)


def added(arrays: Any, array: Any) -> Any:
    name = f"new {len(arrays)}"
    arrays[name] = array
    return {"array": name, "shape": list(array.shape)}


def at_a_place(wanted: Any) -> Any:
    """A change of one node that is wanted, of which it gets the parent, the key, and the path as text."""

    def register(change: Any) -> Any:
        @wraps(change)
        def changed(rng: Any, tree: Any, arrays: Any) -> str:
            place = pick(rng, tree, wanted)
            return "none" if place is None else change(rng, tree, arrays, *place)

        return changed

    return register


@at_a_place(is_array)
def reshaped(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    """One array, empty, shorter, longer, transposed, with other axes."""
    array = array_of(parent[key], arrays)
    axis = rng.integers(array.ndim) if array.ndim else 0
    along = array if array.ndim else array[None]
    how = ["empty", "shorter", "longer", "far longer", "transposed", "flat", "more axes", "row", "column"][
        rng.integers(9)
    ]
    new = {
        "empty": lambda: np.take(along, [], axis),
        "shorter": lambda: np.take(along, range(max(along.shape[axis] - 1, 0)), axis),
        "longer": lambda: np.concatenate([along, along], axis),
        "far longer": lambda: np.concatenate([along] * (4000 // (along.shape[axis] + 1) + 1), axis),
        "transposed": lambda: array.T,
        "flat": array.ravel,
        "more axes": lambda: array[..., None],
        "row": lambda: array.reshape(1, -1),
        "column": lambda: array.reshape(-1, 1),
    }[how]()
    parent[key] = added(arrays, new)
    return f"{where} {how} {array.shape}->{new.shape}"


@at_a_place(is_array)
def retyped(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    dtype = DTYPES[rng.integers(len(DTYPES))]
    array = array_of(parent[key], arrays)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parent[key] = added(arrays, array.astype(dtype))
    return f"{where} {dtype}"


@at_a_place(is_array)
def revalued(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    """Entries of an array: negative, huge, NaN, random bits."""
    new = array_of(parent[key], arrays).copy()
    some = rng.random(new.shape) < rng.choice([0.1, 0.5, 1.0])
    number = NUMBERS[rng.integers(len(NUMBERS))]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.random() < 0.2:
            raw = rng.integers(256, size=new.nbytes, dtype=np.uint8)
            number = "bits"
            new = raw.view(new.dtype).reshape(new.shape) if new.dtype.kind != "b" else ~new
        elif new.dtype.kind == "f":
            new[some] = number
        else:
            limits = np.iinfo(new.dtype) if new.dtype.kind in "iu" else None
            number = 1 if limits is None else rng.choice([limits.min, limits.max, 0, 1, 5, 1000])
            new[some] = number
    parent[key] = added(arrays, new)
    return f"{where} {number}"


def swapped(rng: Any, tree: Any, arrays: Any) -> str:
    """Two places of the tree: arrays, or values of any kind."""
    wanted = (
        is_array if rng.random() < 0.6 else (lambda node: isinstance(node, dict) and "fields" not in node)
    )
    first, second = pick(rng, tree, wanted), pick(rng, tree, wanted)
    if first is None or second is None:
        return "none"
    (a, i, where), (b, j, other) = first, second
    one, two = copy.deepcopy(a[i]), copy.deepcopy(b[j])
    a[i], b[j] = two, one
    return f"{where} {other}"


@at_a_place(is_leaf)
def scalar(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    parent[key] = copy.deepcopy(LEAVES[rng.integers(len(LEAVES))])
    return f"{where} {parent[key]}"


@at_a_place(lambda node: isinstance(node, dict) and "class" in node)
def other_class(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    import_everything()
    known = sorted(name for name in Value.known if name.startswith("suffice."))
    name = known[rng.integers(len(known))]
    parent[key]["class"] = name
    if rng.random() < 0.7:  # with the fields that it has, by any part of the file
        fields = getattr(Value.known[name], "__dataclass_fields__", {})
        parts = [at(tree, path) for path in nodes(tree) if path and (path[-2:-1] in [("fields",), ("dict",)])]
        parent[key]["fields"] = {
            field: copy.deepcopy(parts[rng.integers(len(parts))]) if parts else 0 for field in fields
        }
    return f"{where} {name}"


@at_a_place(lambda node: isinstance(node, list | dict) and len(node) > 0)
def fields(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    """A field of a value, or an entry of a list or a dict: dropped, added, repeated."""
    node, how = parent[key], ["drop", "add", "repeat"][rng.integers(3)]
    if isinstance(node, list):
        n = rng.integers(len(node))
        if how == "drop":
            del node[n]
        else:
            node.insert(n, copy.deepcopy(node[n]) if how == "repeat" else 3)
    else:
        name = list(node)[rng.integers(len(node))]
        if how == "drop":
            del node[name]
        else:
            node[f"{name}2" if how == "add" else "predict"] = copy.deepcopy(node[name])
    return f"{where} {how}"


@at_a_place(lambda node: isinstance(node, dict) and "strings" in node)
def strings(rng: Any, tree: Any, arrays: Any, parent: Any, key: Any, where: str) -> str:
    node, how = parent[key], rng.integers(5)
    if how == 0:
        node["strings"] = node["strings"][:-1]
        node["shape"] = [len(node["strings"])]
    elif how == 1:
        node["strings"] = node["strings"] * 50
        node["shape"] = [len(node["strings"])]
    elif how == 2:
        node["dtype"] = ["|O", "<U1", "<f8", "<M8[D]", "<U100000", "i4,f8"][rng.integers(6)]
    elif how == 3:
        node["shape"] = [[-1], [0], [1, len(node["strings"])], [], [2**40], ["a"]][rng.integers(6)]
    else:
        node["strings"] = ["x" * 100_000] + [""] * 5000
        node["shape"] = [5001]
    return f"{where} {how}"


CHANGES = (reshaped, revalued, retyped, swapped, scalar, other_class, fields, strings)
SHARES = np.array([6, 4, 2, 3, 4, 2, 2, 1]) / 24


# --- outcomes ------------------------------------------------------------------------------------------


def outcome(content: bytes, questions: list[tuple[str, Any]], path: Path) -> tuple[str, str]:
    """What becomes of a file: refused, an answer, a clear error or an unclear one; and where."""
    path.write_bytes(content)
    try:
        estimator = suffice.load(path)
    except StorageError as error:
        return "refused", str(error)
    except Exception as error:
        return "unclear", f"load: {type(error).__name__}: {error}"
    worst = "answer", ""
    for name, args in questions:
        try:
            getattr(estimator, name)(*args)
            continue
        except NotImplementedError:
            continue
        except ValueError as error:
            found = "clear error", f"{name}: {error}"
        except Exception as error:
            found = "unclear", f"{name}: {type(error).__name__}: {error}"
        worst = max(worst, found, key=lambda o: RANKS[o[0]])
    return worst


RANKS = {"refused": 0, "answer": 1, "clear error": 2, "unclear": 3, "memory": 4, "hang": 5, "crash": 6}


def questions(estimator: Any, X: Any, y: Any) -> list[tuple[str, Any]]:
    """What a fitted estimator is asked, with arguments: all that it answers."""
    args: dict[str, Any] = {"score": (X, y), "partial_fit": (X, y), "sample": (3,)}
    found = []
    for name in METHODS:
        if not hasattr(estimator, name):
            continue
        try:
            getattr(copy.deepcopy(estimator), name)(*args.get(name, (X,)))
        except Exception:
            continue
        found.append((name, args.get(name, (X,))))
    return found


def _work(pipe: Any) -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        while (task := pipe.recv()) is not None:
            content, seed, asked = task
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            name, changed = mutant(content, seed) if seed is not None else ("none", content)
            result = outcome(changed, asked, Path(folder) / "model")
            grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
            pipe.send((name, *(("memory", f"{grown / 1e9:.1f} GB") if grown > MEMORY else result)))


class Worker:
    """A process that loads files and asks what it loaded; one that dies is replaced."""

    def __init__(self) -> None:
        self.process: Any = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: Any) -> None:
        if self.process is not None:
            self.pipe.send(None)
            self.process.join()

    def __call__(self, content: bytes, seed: Any, asked: Any) -> tuple[str, str, str]:
        """The changes of the file, the outcome, and where."""
        limit = LIMIT if self.process is not None else 5 * LIMIT
        if self.process is None:
            spawn = multiprocessing.get_context("spawn")
            self.pipe, other = spawn.Pipe()
            self.process = spawn.Process(target=_work, args=(other,), daemon=True)
            self.process.start()
            other.close()
        self.pipe.send((content, seed, asked))
        try:
            if self.pipe.poll(limit):
                return self.pipe.recv()
            self.process.kill()
            what = "hang", f"more than {limit} s"
        except (EOFError, ConnectionResetError):
            self.process.join()
            what = (
                "crash",
                signal.Signals(-self.process.exitcode).name if self.process.exitcode < 0 else "exit",
            )
        self.process.join()
        self.process = None
        return (mutant(content, seed)[0] if seed is not None else "none", *what)


def cases(wanted: Any = lambda v: True) -> Any:
    """Of each variant of an estimator: its name, a file, and what to ask."""
    from tests.laws.registry import COMMON, fitted

    for variant in COMMON:
        if not wanted(variant):
            continue
        X, y = variant.data()
        estimator = fitted(variant)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.save(Path(folder) / "model")
            content = (Path(folder) / "model").read_bytes()
            asked = questions(estimator, X, y)
        yield variant.name, content, asked


def main(each: int, only: str = "") -> None:

    total: collections.Counter[str] = collections.Counter()
    with Worker() as worker:
        for name, content, asked in cases(lambda v: re.search(only, v.name) is not None):
            counts: collections.Counter[str] = collections.Counter()
            for seed in range(each):
                changes, what, where = worker(content, [zlib.crc32(name.encode()), seed], asked)
                counts[what] += 1
                if RANKS[what] >= RANKS["unclear"]:
                    print(f"  {what}: {name} {seed} {changes}: {where[:200]}", flush=True)
            print(name, dict(counts), [q for q, _ in asked], flush=True)
            total += counts
    print(dict(total))


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
