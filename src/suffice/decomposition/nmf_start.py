"""Initialization of non-negative matrix factorization.

Boutsidis and Gallopoulos, "SVD based initialization: a head start for nonnegative matrix factorization",
2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_array

from ..core.blocks import Matrix, Rows
from ..core.hashing import row_hashes, uniforms
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from ..fitting.linear_algebra import times
from .truncated_svd import powers


@dataclass(frozen=True, eq=False)
class RowFactors(Statistics):
    """A row of W for each row of the block, in the order of the blocks."""

    factors: Annotated[np.ndarray, "(N, K)"]

    def __add__(self, other: Self) -> Self:
        sums = {
            name: mine + theirs
            for (name, mine), theirs in zip(self.fields().items(), other.fields().values(), strict=True)
            if name != "factors"
        }
        return self.replace(**sums, factors=np.concatenate([self.factors, other.factors]))

    def __mul__(self, factor: float) -> Self:
        return super().__mul__(factor).replace(factors=self.factors)

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class FirstLook(Statistics):
    """The weight of the rows, the sum of their entries, and how many rows each block has."""

    weight: float
    total: float
    number: Annotated[np.ndarray, "int (B,)"]  # of the blocks
    rows: Annotated[np.ndarray, "(B,)"]

    @classmethod
    def of(cls, block: Rows) -> FirstLook:
        totals = np.asarray(block.X.sum(axis=1)).ravel()
        number, rows = np.array(block.index[:1]), np.array([len(block)], dtype=np.int64)
        return cls(float(block.weight.sum()), float(block.weight.dot(totals)), number, rows)

    def __add__(self, other: Self) -> Self:
        both = np.concatenate([self.number, other.number])
        number, at = np.unique(both, return_inverse=True)
        rows = np.zeros(len(number), np.int64)
        np.add.at(rows, at, np.concatenate([self.rows, other.rows]))
        return self.replace(
            weight=self.weight + other.weight, total=self.total + other.total, number=number, rows=rows
        )

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor, total=self.total * factor)

    __rmul__ = __mul__


def numbered(number: np.ndarray, first: np.ndarray, block: Rows) -> Any:
    """The block with the index of each of its rows among all rows."""
    start = first[np.searchsorted(number, block.index[0])]
    return block.replace(y=np.arange(start, start + len(block)))


def random_rows(K: int, scale: float, seed: int, block: Rows) -> RowFactors:
    return RowFactors(scale * np.abs(_normals(block.X, K, seed)))


def row_uniforms(X: Matrix, K: int, purpose: Purpose, *seed: int) -> np.ndarray:
    """Pseudo-random numbers in (0, 1), (N, K), from a hash of each row: they depend on neither order nor
    blocks."""
    u = uniforms(row_hashes(X, purpose, *seed))[:, None] + np.arange(K)
    return uniforms(row_hashes(u.reshape(-1, 1), purpose, *seed, 1)).reshape(len(u), K)


def _normals(X: Matrix, K: int, seed: int) -> np.ndarray:
    return ndtri(row_uniforms(X, K, Purpose.START, seed))


@dataclass(frozen=True, eq=False)
class Sides(Statistics):
    """Squares of the scores of rows along some axes, those above zero and those below."""

    above: Annotated[np.ndarray, "(K,)"]
    below: Annotated[np.ndarray, "(K,)"]

    @classmethod
    def of(cls, axes: np.ndarray, block: Rows) -> Sides:
        scores = times(block.X, axes)
        up, down = (block.weight.dot(np.maximum(side * scores, 0.0) ** 2) for side in (1.0, -1.0))
        return cls(up, down)


def sided_rows(
    axes: np.ndarray, scale: np.ndarray, fill: float, spread: float, seed: int, block: Rows
) -> RowFactors:
    """The positive or the negative part of the scores of rows along each axis, by the sign of the scale;
    the absolute scores along the first."""
    scores = times(block.X, axes)
    scores[:, 0] = np.abs(scores[:, 0])
    W = np.maximum(scores * scale, 0.0)
    more = fill + spread * np.abs(_normals(block.X, W.shape[1], seed)) if spread else fill
    return RowFactors(np.where(W < 1e-6, more, W))


def by_singular_axes(
    data: Partitions, N: float, D: int, K: int, mean: float, init: str, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """W and H by NNDSVD: the dominant non-negative part of each singular vector (Boutsidis and
    Gallopoulos)."""
    seed = int(random.randint(np.iinfo(np.int32).max)) if init == "nndsvdar" else 0
    n_iter = 7 if min(N, D) > 10 * K else 4
    axes, _ = powers(data, K, D, n_iter, 10, "LU", random)
    V, value = np.ascontiguousarray(axes.axes.T), axes.value
    sides = data.fold(Sides.of, V)
    up = np.sqrt(sides.above * (np.maximum(V, 0.0) ** 2).sum(axis=0))
    down = np.sqrt(sides.below * (np.minimum(V, 0.0) ** 2).sum(axis=0))
    sign = np.where(up > down, 1.0, -1.0)
    rows = np.sqrt(np.where(up > down, sides.above, sides.below))
    side = np.maximum(sign * V, 0.0)
    side[:, 0], sign[0], rows[0] = np.abs(V[:, 0]), 1.0, value[0]
    height = np.sqrt((side**2).sum(axis=0))
    one = np.sqrt(rows * height)  # the root of the singular value times the lengths of both sides
    scale = np.divide(sign * one, rows, out=np.zeros(K), where=rows > 0)
    H = (side * np.divide(one, height, out=np.zeros(K), where=height > 0)).T
    fill, spread = {"nndsvd": (0.0, 0.0), "nndsvda": (mean, 0.0), "nndsvdar": (0.0, mean / 100)}[init]
    drawn = fill + spread * np.abs(random.standard_normal(H.shape)) if spread else fill
    W = data.fold(sided_rows, V, scale, fill, spread, seed).factors
    return W, np.where(H < 1e-6, drawn, H)


def checked_factor(F: Any, shape: tuple[int, int], name: str) -> np.ndarray:
    F = check_array(F, dtype=np.float64, copy=True, input_name=name)
    for axis, word in enumerate(("first", "second")):
        if F.shape[axis] != shape[axis]:
            raise ValueError(
                f"Array with wrong {word} dimension passed to NMF (input {name}): got shape {F.shape}, "
                f"expected {shape}."
            )
    if (F < 0).any():
        raise ValueError(f"Negative values in data passed to NMF (input {name}).")
    if not F.any():
        raise ValueError(f"{name} is full of zeros.")
    return F
