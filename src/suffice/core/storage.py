"""Storage: one file of JSON and arrays (safetensors), read without running anything it says.

A file is a safetensors file. Its arrays are the arrays; its metadata holds the rest as JSON, the
version of the format, and a digest of it all, so that a file damaged on its way is refused. (The digest has
no key: it does not prove who wrote the file. Nothing in a file is run, whoever wrote it.)
"""

from __future__ import annotations

import hashlib
import json
import os
import pkgutil
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .values import Value

FORMAT = "1"


class StorageError(ValueError):
    """A file that is not a model of ours, or not as it was written."""


def save_value(value: Any, path: Any) -> None:
    """Write a value so that the file at `path` is at any moment the old one or the new one, whole."""
    from safetensors.numpy import save

    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(_encode(value, arrays, type(value).__name__), sort_keys=True)
    content = save(arrays, {"suffice": FORMAT, "value": text, "digest": _digest(text, arrays)})
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load_value(path: Any) -> Any:
    content = Path(path).read_bytes()
    try:
        text, arrays = _read(content)
        return _decode(json.loads(text), arrays)
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from None
    except Exception as error:
        raise StorageError(f"{path} is not a file of suffice, or it is damaged: {error}") from error


def _read(content: bytes) -> tuple[str, dict[str, np.ndarray]]:
    from safetensors.numpy import load

    # The header of a safetensors file: its length in 8 bytes, then JSON.
    length = int.from_bytes(content[:8], "little")
    if not 0 < length <= len(content) - 8:
        raise StorageError("this is not a file of suffice, or it is damaged.")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    if "suffice" not in metadata:
        raise StorageError("this is not a file of suffice.")
    if metadata["suffice"] != FORMAT:
        raise StorageError(
            f"the file has format {metadata['suffice']}, and this version reads format {FORMAT}."
        )
    text, arrays = metadata["value"], load(content)
    if metadata["digest"] != _digest(text, arrays):
        raise StorageError("the file is damaged: its content does not match its digest.")
    return text, arrays


def _digest(text: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def digest_of(value: Any) -> str:
    """A digest of what would be stored; what cannot be is told apart by its name."""
    arrays: dict[str, np.ndarray] = {}
    if isinstance(value, np.random.RandomState):
        value = value.get_state()
    try:
        text = json.dumps(_encode(value, arrays, "value"), sort_keys=True)
    except TypeError:
        text = getattr(value, "__qualname__", type(value).__qualname__)
    return _digest(text, arrays)


def _encode(value: Any, arrays: dict[str, np.ndarray], where: str) -> Any:
    def inside(part: Any, name: Any) -> Any:
        return _encode(part, arrays, f"{where}.{name}")

    if isinstance(value, np.generic):  # before the types of Python, of which some of these are
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
        name = where if where not in arrays else f"{where}#{len(arrays)}"  # keys 1 and "1" look alike
        arrays[name] = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        # safetensors keeps no zero-dimensional shape apart from (1,) on every reader.
        return {"array": name, "shape": list(value.shape)}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [inside(part, n) for n, part in enumerate(value)]}
    if isinstance(value, dict):
        return {"dict": [[inside(k, "key"), inside(v, k)] for k, v in value.items()]}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"type": np.dtype(value).str}
    if isinstance(value, Value):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        return {"class": name, "fields": {k: inside(v, k) for k, v in value.fields().items()}}
    raise TypeError(
        f"{where} is a {type(value).__name__}, which cannot be stored: a file holds numbers, "
        "strings, arrays, lists, tuples, dicts and the values of suffice."
    )


def _decode(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    match tree:
        case {"scalar": dtype, "value": value}:
            if np.dtype(dtype).kind not in "biufU" or not isinstance(value, bool | int | float | str):
                raise StorageError(f"the file holds a scalar of {dtype}.")
            return np.dtype(dtype).type(value)
        case {"strings": parts, "dtype": dtype, "shape": shape}:
            if np.dtype(dtype).kind == "U":
                return np.array(parts, dtype=np.str_).reshape(shape)
            out = np.empty(len(parts), object)
            for n, part in enumerate(parts):
                out[n] = _decode(part, arrays)
            return out.reshape(shape)
        case {"type": dtype}:
            return np.dtype(dtype).type
        case {"array": name, "shape": shape}:
            return arrays[name].reshape(shape)
        case {"tuple": parts}:
            return tuple(_decode(part, arrays) for part in parts)
        case {"list": parts}:
            return [_decode(part, arrays) for part in parts]
        case {"dict": pairs}:
            return {_decode(k, arrays): _decode(v, arrays) for k, v in pairs}
        case {"class": name, "fields": fields}:
            return known_class(name)(**{k: _decode(v, arrays) for k, v in fields.items()})
    return tree


def known_class(name: str) -> type:
    """The class of ours with this name: looked up in a list, never imported because a file says so."""
    if name not in Value.known:
        import_everything()
    if name not in Value.known:
        raise StorageError(f"the file holds a {name}, which this version does not have.")
    return Value.known[name]


def import_everything() -> None:
    """Import all modules of suffice, so that all its classes are known."""
    package = import_module("suffice")
    for module in pkgutil.walk_packages(package.__path__, "suffice."):
        if not module.name.startswith("suffice.engines."):
            import_module(module.name)
