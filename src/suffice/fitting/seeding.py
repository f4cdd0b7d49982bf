"""Seeding (k-means++ and k-means||) by folds, with random numbers that are hashes of the rows.

The random number of a row is a hash of its values and the seed. So the draw does not depend on the order of
rows, on block boundaries or on workers, and a weight of 2 is equivalent to repeating the row.

Rows are first ranked without their weights, and the weights then order the first `SPARE` of them. This is the
weighted draw if there are no more distinct rows than these, and close to it if weights are similar. But a
single row that outweighs thousands of others is drawn no more often than another.

Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", 2007; Bahmani, Moseley,
Vattani, Kumar and Vassilvitskii, "Scalable k-means++", 2012; Efraimidis and Spirakis, "Weighted random
sampling with a reservoir", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from ..core.blocks import Rows, dense
from ..core.hashing import row_hashes, uniforms
from ..core.partitions import Partitions
from ..core.progress import stage
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from .nearest import nearest, squared_distances

NOBODY = np.empty((0, 0))
SPARE = 64  # number of rows drawn beyond the requested ones, among which the weights decide


@dataclass(frozen=True, eq=False)
class Sample(Statistics):
    """The distinct rows with the smallest keys, with the total weight of each."""

    size: int
    key: Annotated[np.ndarray, "(M,)"]  # sorted, M <= size
    hash: Annotated[np.ndarray, "int (M,)"]  # uint64: equal rows have equal hashes
    row: Annotated[np.ndarray, "(M, D)"]
    weight: Annotated[np.ndarray, "(M,)"]

    def __add__(self, other: Any) -> Any:
        return smallest(
            self.size,
            *(
                np.concatenate([getattr(self, name), getattr(other, name)])
                for name in ("key", "hash", "row", "weight")
            ),
        )

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor)

    __rmul__ = __mul__

    def first(self, count: int) -> np.ndarray:
        """Return the first `count` rows of an exponential race, with rates multiplied by the weights."""
        return self.row[np.argsort(self.key / self.weight, kind="stable")[:count]]


def smallest(size: int, key: np.ndarray, hash: np.ndarray, row: Any, weight: np.ndarray) -> Sample:
    """Return the `size` distinct rows with the smallest keys, dense or CSR, sorted; ties are broken by hash.

    Rows with an infinite key are left out.
    """
    able = key < np.inf
    if np.count_nonzero(able) > 2 * size:  # only the smallest need be sorted, unless few rows differ
        near = key <= np.partition(key, 2 * size)[2 * size]
        if len(np.unique(hash[near])) > size:
            able = near
    if not able.all():
        key, hash, row, weight = key[able], hash[able], row[able], weight[able]
    _, first, group = np.unique(hash, return_index=True, return_inverse=True)
    weight = np.bincount(group, weight, minlength=len(first))
    order = np.argsort(key[first], kind="stable")[:size]
    keep = first[order]
    return Sample(size, key[keep], hash[keep], dense(row[keep]), weight[order])


def farthest(size: int, centers: np.ndarray, block: Rows) -> Sample:
    """Return the distinct rows farthest from their nearest center."""
    return smallest(
        size, -nearest(block.X, centers)[1], row_hashes(block.X, Purpose.IDENTITY), block.X, block.weight
    )


@stage("seeding")
def draw(size: int, seed: int, turn: int, chosen: np.ndarray, block: Rows) -> Sample:
    """Draw rows with probabilities proportional to their squared distance from the chosen rows.

    If none are chosen, draw uniformly.
    """
    hashes = row_hashes(block.X, Purpose.SEEDING, seed, turn)
    rate = nearest(block.X, chosen)[1] if len(chosen) else np.ones(len(block))
    key = np.divide(-np.log(uniforms(hashes)), rate, out=np.full(len(rate), np.inf), where=rate > 0)
    return smallest(size, key, hashes, block.X, block.weight)


@dataclass(frozen=True, eq=False)
class Potentials(Statistics):
    """Sums of squared distances."""

    value: Annotated[np.ndarray, "(...)"]


@stage("seeding")
def potentials(chosen: np.ndarray, candidates: np.ndarray, block: Rows) -> Potentials:
    """Return the inertia if each of the candidates is added to the chosen rows."""
    left = squared_distances(block.X, candidates).T
    if len(chosen):
        np.minimum(left, nearest(block.X, chosen)[1], out=left)
    return Potentials(left @ block.weight)


@stage("seeding")
def nearest_weights(points: np.ndarray, block: Rows) -> Potentials:
    """Return the total weight of the rows nearest to each point."""
    labels, _ = nearest(block.X, points)
    return Potentials(np.bincount(labels, block.weight, minlength=len(points)))


def random_rows(data: Partitions, K: int, seed: int) -> np.ndarray:
    """Draw K distinct rows by weight."""
    sample = data.fold(draw, K + SPARE, seed, 0, NOBODY)
    return _enough(sample.first(K), K)


def plus_plus(data: Partitions, K: int, seed: int) -> np.ndarray:
    """Choose K rows by greedy k-means++: each is the best of a few that are drawn by squared distance."""
    trials = 2 + int(np.log(K))  # as in scikit-learn
    chosen = data.fold(draw, 1 + SPARE, seed, 0, NOBODY).first(1)
    while len(chosen) < K:
        candidates = data.fold(draw, trials + SPARE, seed, len(chosen), chosen).first(trials)
        if not len(candidates):  # fewer distinct rows than clusters
            break
        left = data.fold(potentials, chosen, candidates).value
        chosen = np.concatenate([chosen, candidates[[left.argmin()]]])
    return _enough(chosen, K)


def parallel(data: Partitions, K: int, seed: int, rounds: int = 5) -> np.ndarray:
    """Choose K rows by k-means||: some rounds draw many rows each, and k-means++ chooses among them."""
    many = 2 * K
    chosen = data.fold(draw, 1 + SPARE, seed, 0, NOBODY).first(1)
    for turn in range(1, rounds + 1):
        chosen = np.concatenate([chosen, data.fold(draw, many + SPARE, seed, turn, chosen).first(many)])
    weight = data.fold(nearest_weights, chosen).value
    candidates = data.on_driver(Rows(chosen[weight > 0], None, weight[weight > 0]))
    starts = [plus_plus(candidates, K, seed + n) for n in range(8)]
    return min(starts, key=lambda rows: candidates.fold(potentials, rows[1:], rows[:1]).value[0])


def _enough(rows: np.ndarray, K: int) -> np.ndarray:
    """Repeat rows if the data has fewer than K distinct ones: some centers then coincide."""
    return rows[np.arange(K) % len(rows)]


SEEDINGS = {"k-means++": plus_plus, "k-means||": parallel, "random": random_rows}
