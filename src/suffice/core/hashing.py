"""Hashes of rows: fingerprints of data, and random draws that do not depend on order or blocks."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import Block
from .randomness import Purpose, generator

CACHED = 1 << 14  # numbers hashed at a time, so that their bits stay in the cache


def row_hashes(X: Any, purpose: Purpose, *seed: int) -> np.ndarray:
    """Return a 64-bit hash of each row. Equal rows have equal hashes, whether dense or CSR.

    The hash is a random linear combination of the bits of the entries, scrambled by the finalizer of
    splitmix64. Hashes of different purposes are independent.
    """
    random = generator(purpose, *seed).integers(1 << 63, size=X.shape[1] + 1, dtype=np.uint64)
    odd = 2 * random[:-1] + 1
    if sp.issparse(X):  # zeros add nothing: their bits are zero
        h = sp.csr_array((_bits(X.data), X.indices, X.indptr), X.shape).dot(odd)
    else:
        h, rows = np.empty(len(X), np.uint64), max(1, CACHED // max(1, X.shape[1]))
        for start in range(0, len(X), rows):
            np.matmul(_bits(X[start : start + rows]), odd, out=h[start : start + rows])
    h += random[-1]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # finalizer of splitmix64
        h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
    return h ^ (h >> np.uint64(31))


def _bits(numbers: np.ndarray) -> np.ndarray:
    """Return the bits of float64 numbers, with the high half mixed into the low one."""
    bits = (numbers + 0.0).view(np.uint64)  # adding zero turns -0.0 into 0.0
    bits ^= bits >> np.uint64(32)  # small integers have only high bits set
    return bits


def uniforms(hashes: np.ndarray) -> np.ndarray:
    """Convert each hash to a uniform number in (0, 1): its 53 high bits, plus one half to exclude 0."""
    return ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def example_hashes(block: Any, purpose: Purpose, *seed: int) -> np.ndarray:
    """Return a 64-bit hash of each row or sequence, including its target."""
    if hasattr(block, "example_hashes"):  # a block without arrays
        return block.example_hashes(purpose, *seed)
    X = block.X
    if X.dtype == object:
        X = np.stack([as_numbers(column) for column in X.T], axis=1)
    h = row_hashes(X.astype(np.float64, copy=False), purpose, *seed)
    if block.y is not None:
        y = np.stack([as_numbers(column) for column in np.atleast_2d(block.y.T)], axis=1)
        h = h + row_hashes(y, purpose, *seed, 1)
    if not hasattr(block, "offset"):
        return h
    step = np.arange(len(h)) - np.repeat(block.offset[:-1], block.lengths)
    total = np.zeros(len(block), np.uint64)
    if len(h):
        h = h * (2 * step + 1).astype(np.uint64)  # different factors, since the steps have an order
        total[block.lengths > 0] = np.add.reduceat(h, block.firsts)
    return total


def parts_of(block: Block, n_parts: int, purpose: Purpose, *seed: int) -> np.ndarray:
    """Assign each row or sequence to one of `n_parts` parts by its hash.

    The part does not depend on order, blocks or engines, and equal examples are in one part.
    """
    return (uniforms(example_hashes(block, purpose, *seed)) * n_parts).astype(np.int64)


def is_drawn(block: Block, share: float, purpose: Purpose, seed: int) -> np.ndarray:
    """Return a mask that selects a random fraction `share` of the rows or sequences, by their hashes."""
    return uniforms(example_hashes(block, purpose, seed)) < share


def fingerprint(block: Any) -> np.ndarray:
    """Return a fingerprint of the examples that does not depend on their order or blocks when summed."""
    if hasattr(block, "fingerprint"):  # a block that is neither rows nor sequences
        return block.fingerprint()
    y = [] if block.y is None else list(np.atleast_2d(block.y.T))
    weight = block.weight
    if hasattr(block, "offset"):  # a fingerprint of steps with their positions
        weight = block.step_weight
        y = [*y, np.arange(len(weight)) - np.repeat(block.offset[:-1], block.lengths)]
    if not sp.issparse(block.X):
        return _fingerprint(*block.X.T, *y, weight)
    X = block.X.tocoo()
    sums = X @ generator(Purpose.IDENTITY).random(X.shape[1])  # one number per row, hashed with its target
    return _fingerprint(X.data, X.coords[1]) + _fingerprint(sums, *y, weight)


BASE = 0xD1342543DE82EF95  # odd, hence invertible modulo 2^64: no power of it is zero


def fingerprint_in_order(block: Block) -> tuple[tuple[int, int], ...]:
    """Return the number of examples and a fingerprint that depends on their order, as a tuple of one pair.

    The fingerprint is the polynomial with their hashes as coefficients, at `BASE`, modulo 2^64.
    """
    h = example_hashes(block, Purpose.IDENTITY)
    h = h + row_hashes(np.asarray(block.weight)[:, None], Purpose.IDENTITY, 2)
    powers = np.cumprod(np.full(len(h), BASE, np.uint64))[::-1]
    return ((len(h), int((h * powers).sum(dtype=np.uint64))),)


def joined_fingerprint(parts: Iterable[tuple[int, int]]) -> int:
    """Join the fingerprints of parts in order. The result does not depend on how the examples are divided."""
    total = 0
    for n, part in parts:
        total = (total * pow(BASE, n, 1 << 64) + part) % (1 << 64)
    return total


def _fingerprint(*columns: np.ndarray) -> np.ndarray:
    hashes = row_hashes(np.stack([as_numbers(column) for column in columns], axis=1), Purpose.IDENTITY)
    return hashes.sum(keepdims=True, dtype=np.uint64)


LANES = 1021  # a prime, so that two values that change places are rarely in the same lane


def checksum(block: Block) -> int:
    """Return a checksum of the values of a block and their positions, computed at memory bandwidth.

    It detects whether a block changed between passes of this process. It differs in other processes, since
    Python's hashes of strings do.
    """
    if hasattr(block, "checksum"):
        return block.checksum()
    parts = block.__getstate__()
    arrays = [array for name in sorted(parts.keys() - {"index"}) for array in _arrays(parts[name])]
    return hash((len(block), *map(_checksum, arrays)))


def _arrays(part: Any) -> list[Any]:
    return [part.data, part.indices, part.indptr] if sp.issparse(part) else [part]


def _checksum(array: Any) -> int:
    """Return a checksum of an array: of its bytes, summed in `LANES` lanes, or of its objects."""
    if array is None:
        return 0
    if array.dtype == object:
        values = array.ravel().tolist()
        if not {str, type(None)}.issuperset(map(type, values)):
            # Python hashes NaN by identity, and gives -1 the hash of -2.
            values = [None if v != v else "-1" if v == -1 else v for v in values]
        return hash(tuple(values))
    octets = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    rest = len(octets) % (8 * LANES)
    lanes = octets[: len(octets) - rest].view(np.uint64).reshape(-1, LANES).sum(axis=0, dtype=np.uint64)
    return hash((lanes.tobytes(), octets[len(octets) - rest :].tobytes()))


def as_numbers(column: np.ndarray) -> np.ndarray:
    """Convert values to float64; equal values give equal numbers. Strings are replaced by their CRC-32."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    words = [str(value) for value in column]
    known = {word: float(zlib.crc32(word.encode())) for word in set(words)}
    return np.array([known[word] for word in words], dtype=np.float64)
