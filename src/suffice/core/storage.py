"""Storage: one file of JSON and arrays (safetensors), which is read without running code.

A file is a safetensors file with the arrays. Its metadata holds everything else as JSON, the versions of the
format and of suffice, and a digest of all, by which damaged files are detected.

The digest has no key, and does not prove who wrote the file. But loading runs no code of the file, takes
memory proportional to its size, and checks that arrays have the shapes that their classes declare (see
`shapes`), since compiled loops read them without bounds checks.
"""

from __future__ import annotations

import hashlib
import json
import os
import pkgutil
import platform
import re
import stat
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .shapes import sizes_of
from .values import Value, stored_name

FORMAT = "1"
# Arrays of strings may take PADDED bytes, plus PADDING times the length of the text that they are stored as:
# a small file must not take much memory by one long string among many short ones.
PADDED = 1 << 27
PADDING = 64
# Largest number of keys of a dictionary that are not strings. Numbers can be chosen to have one hash, so that
# reading n of them takes a time of order n^2.
KEYS = 10_000
_DTYPE = re.compile(r"[<>|=]?[biufOU]\d*")


class StorageError(ValueError):
    """A file that was not written by suffice, or is damaged."""


# --- writing -------------------------------------------------------------------------------------------


def save_value(value: Any, path: str | os.PathLike[str]) -> None:
    """Write a value atomically: the file at `path` is always the complete old or the complete new one.

    Symbolic links are followed, and a file keeps its mode.
    """
    from safetensors.numpy import save

    arrays: dict[str, np.ndarray] = {}
    tree = _encode(value, arrays, type(value).__name__)
    text = json.dumps(tree, sort_keys=True)
    if (padded := _padded(tree)) > PADDED + PADDING * len(text):
        raise TypeError(
            f"Arrays of strings take {padded / 1e6:.0f} MB, mostly padding to the length of the "
            f"longest, and could not be loaded: convert them to dtype object."
        )
    metadata = {"suffice": FORMAT, "version": this_version(), "value": text, "digest": _digest(text, arrays)}
    content = save(arrays, metadata)
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise StorageError(f"{path} is not a regular file: pass another path.")
    _sweep(path)
    part = path.with_name(f".{path.name}.{_host()}.{os.getpid()}.{threading.get_ident()}.part")
    part.unlink(missing_ok=True)
    try:
        with open(part, "xb") as file:
            if path.exists():
                os.chmod(part, stat.S_IMODE(path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _host() -> str:
    """Return a short name of this machine for temporary files."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


@lru_cache(256)  # once per path, since a checkpoint is saved many times
def _sweep(path: Path) -> None:
    """Remove temporary files that dead processes of this machine left when they saved to this path."""
    mine = {thread.ident for thread in threading.enumerate()}
    for part in path.parent.glob(f".{_escaped(path.name)}.{_host()}.*.part"):
        process, thread = part.name.split(".")[-3:-1]
        if process.isdigit() and thread.isdigit():
            alive = int(thread) in mine if int(process) == os.getpid() else _lives(int(process))
            if not alive:
                part.unlink(missing_ok=True)


def _escaped(name: str) -> str:
    """Escape the wildcards of `glob` in a file name."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _lives(process: int) -> bool:
    """Whether a process of this machine is running, as far as can be known."""
    if os.name != "posix":  # elsewhere `os.kill` with signal 0 does not merely test
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def this_version() -> str:
    import suffice

    return suffice.__version__


# --- reading -------------------------------------------------------------------------------------------


def load_value(path: str | os.PathLike[str], made: Callable[[Any], Any] = lambda value: value) -> Any:
    """Read the value in a file, and return `made` of it. Any fault of the file raises a StorageError."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # reading a pipe would wait for its writer
        raise StorageError(f"{path} is not a regular file.")
    content = Path(path).read_bytes()
    try:
        text, arrays = _read(content)
        tree = json.loads(text)
        if _padded(tree) > PADDED + PADDING * len(text):
            raise StorageError("its strings take far more memory than the file.")
        return made(_Decoder(arrays, len(content))(tree))
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from None
    except RecursionError:
        raise StorageError(f"{path}: the file is nested too deeply.") from None
    except Exception as error:
        raise StorageError(f"{path} is not a file of suffice, or it is damaged: {error}") from error


def _read(content: bytes) -> tuple[str, dict[str, np.ndarray]]:
    """Return the JSON and the arrays of a file, after checking its format and its digest."""
    from safetensors.numpy import load

    # The header of a safetensors file: its length in 8 bytes, then JSON.
    length = int.from_bytes(content[:8], "little")
    if not 0 < length <= len(content) - 8:
        raise StorageError("this is not a file of suffice, or it is damaged.")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    if "suffice" not in metadata:
        raise StorageError("this is not a file of suffice.")
    writer = metadata.get("version", "an early version")
    if metadata["suffice"] != FORMAT or _release(writer) > _release(this_version()):
        raise StorageError(
            f"the file has format {metadata['suffice']} and was written by suffice {writer}; this is suffice "
            f"{this_version()}, which reads format {FORMAT} of its own and earlier versions: upgrade suffice."
        )
    text, arrays = metadata["value"], load(content)
    if metadata["digest"] != _digest(text, arrays):
        raise StorageError("the file is damaged: its content does not match its digest.")
    return text, arrays


def _release(version: str) -> tuple[int, ...]:
    """Return the release of a version as numbers: (1, 2, 3) for "1.2.3.dev4"."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def _digest(text: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def digest_of(value: Any) -> str:
    """Return a digest of a value, which identifies the parameters of a fit.

    It is the digest of the stored form. For values that cannot be stored it is that of their names, and for
    objects such as splitters that of their class and attributes.
    """
    arrays: dict[str, np.ndarray] = {}
    if isinstance(value, np.random.RandomState):
        value = value.get_state()
    try:
        text = json.dumps(_encode(value, arrays, "value"), sort_keys=True)
    except TypeError:
        parts = getattr(value, "__dict__", {}) if not hasattr(value, "__qualname__") else {}
        own = [f"{name} {_digest_or_name(part)}" for name, part in sorted(parts.items())]
        text = " ".join([getattr(value, "__qualname__", type(value).__qualname__), *own])
    return _digest(text, arrays)


def _digest_or_name(value: Any) -> str:
    """Return the digest of an attribute of an object. Of an object inside it only the type counts."""
    return type(value).__qualname__ if hasattr(value, "__dict__") else digest_of(value)


def _padded(tree: Any) -> int:
    """Return the bytes of the arrays of strings in a tree. NumPy pads strings to the longest."""
    match tree:
        case {"strings": list(parts), "dtype": str(dtype)} if dtype.lstrip("<>|=").startswith("U"):
            return 4 * len(parts) * max((len(part) for part in parts if isinstance(part, str)), default=0)
        case dict():
            return sum(map(_padded, tree.values()))
        case list():
            return sum(map(_padded, tree))
    return 0


def _encode(value: Any, arrays: dict[str, np.ndarray], where: str) -> Any:
    """Convert a value to JSON. Its arrays are added to `arrays`, named by their path `where`."""

    def inside(part: Any, name: Any) -> Any:
        return _encode(part, arrays, f"{where}.{name}")

    if isinstance(value, np.generic):  # first, since np.float64 is also a float of Python
        return {"scalar": value.dtype.str, "value": _encode(value.item(), arrays, where)}
    if value is None or isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return {
                "strings": [inside(part, n) for n, part in enumerate(value.ravel().tolist())],
                "dtype": value.dtype.str,
                "shape": list(value.shape),
            }
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise TypeError(f"{where} is an array of {value.dtype}, which cannot be stored.")
        name = where if where not in arrays else f"{where}#{len(arrays)}"  # the keys 1 and "1" give one name
        arrays[name] = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        # Some readers of safetensors do not distinguish the shapes () and (1,).
        return {"array": name, "shape": list(value.shape)}
    if sp.issparse(value):
        rows = value.tocsr()
        kind = "array" if isinstance(value, sp.sparray) else "matrix"
        parts = {name: inside(getattr(rows, name), name) for name in ("data", "indices", "indptr")}
        return {"csr": parts, "shape": list(rows.shape), "kind": kind}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [inside(part, n) for n, part in enumerate(value)]}
    if isinstance(value, dict):
        if _unlike_strings(value) > KEYS:
            raise TypeError(f"{where} is a dict of more than {KEYS} keys that are not strings.")
        return {"dict": [[inside(k, "key"), inside(v, k)] for k, v in value.items()]}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"type": np.dtype(value).str}
    if isinstance(value, Value):
        return {
            "class": stored_name(type(value)),
            "fields": {k: inside(v, k) for k, v in value.fields().items()},
        }
    raise TypeError(
        f"{where} is a {type(value).__name__}, which cannot be stored: a file holds numbers, "
        "strings, arrays, lists, tuples, dicts and the values of suffice."
    )


def _unlike_strings(keys: Any) -> int:
    return sum(not isinstance(key, str) for key in keys)


class _Decoder:
    """Decoder of the JSON of a file of `size` bytes: it builds the values, which refer to arrays by name."""

    def __init__(self, arrays: dict[str, np.ndarray], size: int) -> None:
        self.arrays, self.size = arrays, size

    def __call__(self, tree: Any) -> Any:
        """Convert JSON to the value that `_encode` converted. Raises a StorageError for all else."""
        match tree:
            case None | bool() | int() | float() | str():
                return tree
            case {"scalar": dtype, "value": value}:
                kind = _dtype(dtype).kind
                if kind == "O" or not isinstance(value, str if kind == "U" else bool | int | float):
                    raise StorageError(f"the file holds an invalid scalar of {dtype}.")
                return np.dtype(dtype).type(value)
            case {"strings": list(parts), "dtype": dtype, "shape": shape}:
                return self._strings(parts, _dtype(dtype).kind).reshape(self._shape(shape))
            case {"type": dtype}:
                return _dtype(dtype).type
            case {"array": str(name), "shape": shape}:
                return self.arrays[name].reshape(self._shape(shape))
            case {"csr": dict(parts), "shape": [int(), int()] as shape, "kind": kind}:
                return self._csr([self(parts[name]) for name in ("data", "indices", "indptr")], shape, kind)
            case {"tuple": list(parts)}:
                return tuple(map(self, parts))
            case {"list": list(parts)}:
                return list(map(self, parts))
            case {"dict": list(pairs)}:
                keys = [self(key) for key, _ in pairs]
                if _unlike_strings(keys) > KEYS:
                    raise StorageError(
                        f"the file holds a dict of more than {KEYS} keys that are not strings."
                    )
                out = dict(zip(keys, (self(value) for _, value in pairs), strict=True))
                if len(out) < len(pairs):
                    raise StorageError("the file holds a dict with a duplicate key.")
                return out
            case {"class": str(name), "fields": dict(fields)}:
                value = known_class(name)(**{k: self(v) for k, v in fields.items()})
                sizes_of(value)
                return value
        raise StorageError("the file holds an invalid value.")

    def _strings(self, parts: list[Any], kind: str) -> np.ndarray:
        if kind == "U":
            if not all(isinstance(part, str) for part in parts):
                raise StorageError("the file holds an invalid array of strings.")
            return np.array(parts, dtype=np.str_)
        if kind != "O":
            raise StorageError("the file holds numbers instead of strings.")
        out = np.empty(len(parts), object)
        for n, part in enumerate(parts):
            out[n] = self(part)
        return out

    def _csr(self, arrays: list[Any], shape: list[int], kind: Any) -> Any:
        if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in arrays):
            raise StorageError("the file holds an invalid sparse matrix.")
        make = sp.csr_array if kind == "array" else sp.csr_matrix
        rows = make(tuple(arrays), shape=tuple(shape))
        rows.check_format(full_check=True)
        return rows

    def _shape(self, shape: Any) -> tuple[int, ...]:
        """Return a checked shape. Its axes are limited by the size of the file, since an empty array could
        claim axes of any length."""
        if not isinstance(shape, list) or not all(type(n) is int and 0 <= n <= self.size for n in shape):
            raise StorageError(f"the file holds an array of shape {str(shape)[:100]}.")
        return tuple(shape)


def _dtype(name: object) -> np.dtype:
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise StorageError(f"the file holds numbers of type {str(name)[:100]}.")
    return np.dtype(name)


def known_class(name: str, registry: Mapping[str, type] = Value.known) -> type:
    """Return the class with this name in a registry. A file can cause imports of modules of suffice only."""
    if name not in registry:
        _import_package(name)
    if name not in registry:
        import_everything()
    if name not in registry:
        raise StorageError(f"the file holds a {name[:200]}, which this version does not have.")
    return registry[name]


def _import_package(name: str) -> None:
    """Import the package of suffice in which a class of this stored name is, if there is such a package.

    A process that loads one model and predicts should not wait for the import of all packages.
    """
    package = import_module("suffice")
    packages = {module.name for module in pkgutil.iter_modules(package.__path__, "suffice.")}
    if (home := name.rpartition(".")[0]) in packages:
        import_module(home)


def import_everything() -> None:
    """Import all modules of suffice that define models, so that all their classes are registered.

    Engines, inputs and displays hold no part of a model; some import Ray, Spark, Dask or matplotlib, which
    need not be installed.
    """
    package = import_module("suffice")
    for module in pkgutil.walk_packages(package.__path__, "suffice."):
        if not module.name.startswith(("suffice.engines.", "suffice.inputs.", "suffice.plot.")):
            import_module(module.name)
