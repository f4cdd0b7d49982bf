"""The sums of a stage of gradient boosting, and its blocks: rows with the raw scores of the trees so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..core.blocks import Rows
from ..core.hashing import is_drawn
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from ..estimator.answers import nameless
from ..estimator.base import must_have_rows
from ..loops.losses import add_stage
from ..losses import Loss
from ..statistics import class_codes
from ..statistics.bins import BITS, FeatureBins, grid
from ..tree.model import Tree
from ..tree.targets import WEIGHT_BITS, weighted
from .newton import Weights
from .weak_learners import unpacked

SPARE = 2.0**10  # largest loss on the grid, relative to the largest loss of a row at the start
PIECE = 1 << 13  # rows whose losses are computed at a time, so that they stay in the cache
SELDOM = 2.0**-8  # ratio of the mean to the largest curvature below which integers of few bits are too coarse


@dataclass(frozen=True, eq=False)
class Scored(Rows):
    """Binned rows with their raw scores."""

    X: Annotated[np.ndarray, "int (N, D)"]  # the codes
    score: Annotated[Any, "(N, K)"] = None
    held: Annotated[Any, "bool (N,)"] = None  # whether a row is for validation
    derived: Annotated[Any, "((N,), (N, K), (N, K)) or None"] = None  # loss, gradient, curvature: see `Loss`

    def __getitem__(self, rows: slice | np.ndarray) -> Scored:
        y: Any = self.y
        weight = None if self.unweighted else self.weight[rows]
        derived = None if self.derived is None else tuple(x[rows] for x in self.derived)
        return Scored(self.X[rows], y[rows], weight, self.index, self.score[rows], self.held[rows], derived)

    def piece(self, start: int, stop: int, number: int) -> Scored:
        return self[start:stop].replace(index=(*self.index, number))

    @classmethod
    def joined(cls, blocks: Sequence[Scored]) -> Scored:
        if blocks[0].X.flags.c_contiguous:
            X = np.concatenate([block.X for block in blocks])
        else:
            X = np.concatenate([block.X.T for block in blocks], axis=1).T
        weight = None
        if not all(block.unweighted for block in blocks):
            weight = np.concatenate([block.weight for block in blocks])
        y, score, held = (
            np.concatenate([getattr(block, name) for block in blocks]) for name in ("y", "score", "held")
        )
        return cls(X, y, weight, (0,), score, held)

    @property
    def row_bytes(self) -> float:
        return float(self.X.itemsize * self.X.shape[1] + 8 * (2 + self.score.shape[1]))

    def evaluated(self, loss: Loss) -> Scored:
        """The same rows, with the loss of each and its derivatives."""
        return self if self.derived is not None else self.with_space(loss).evaluate(loss)

    def derivatives(self, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and curvature of each row: (N, K) each, and (N, 0) without a curvature."""
        if self.derived is not None:
            return self.derived[1:]
        g, h = loss.derivatives(np.asarray(self.y), self.score)
        return g, g[:, :0] if h is None else h

    def with_space(self, loss: Loss) -> Scored:
        """The same rows, with arrays for the loss and its derivatives."""
        N, K = self.score.shape
        return self.replace(derived=(np.empty(N), np.empty((N, K)), np.empty((N, 0 if loss.constant else K))))

    def evaluate(self, loss: Loss) -> Self:
        """Compute the loss and its derivatives in place, in pieces that stay in the cache."""
        y = np.asarray(self.y)
        for a in range(0, len(self), PIECE):
            rows = slice(a, a + PIECE)
            with np.errstate(all="ignore"):
                loss.evaluate(y[rows], self.score[rows], *(x[rows] for x in self.derived))
        return self

    @property
    def train_weight(self) -> np.ndarray:
        """The weights; zero for validation rows."""
        return np.where(self.held, 0.0, self.weight) if self.held.any() else self.weight


@dataclass(frozen=True)
class Start:
    """Turns rows into a block before the first stage."""

    bins: FeatureBins | None  # None: features stay numbers, of rows that are for validation alone
    classes: np.ndarray | None
    by_rows: bool  # whether the codes of a row are contiguous; otherwise those of a feature are
    loss: Loss
    first: Any  # a stored estimator that predicts before the first stage, or None
    held: tuple[int, float] | None  # a seed, and the share of the rows for validation

    def __call__(self, rows: Rows) -> Scored:
        rows = rows if rows.weight.all() else rows[np.flatnonzero(rows.weight)]
        X = rows.X if self.bins is None else self.bins.codes(rows.X).T
        if self.by_rows and self.bins is not None:
            X = np.ascontiguousarray(X)
        if self.classes is None:
            y = rows.y.astype(np.float64)
        else:
            y = class_codes(self.classes, rows.y).astype(np.int64)
        held = np.zeros(len(rows), bool)
        if self.held is not None:  # by the values of a row, whatever its place is
            held = self.is_held(rows)
        weight = None if rows.unweighted or (rows.weight == 1.0).all() else rows.weight
        score = np.zeros((len(rows), self.loss.n_outputs))
        if self.first is not None and len(rows):
            score = first_scores(self.first, self.loss, rows.X)
        return Scored(X, y, weight, rows.index, score, held)

    def is_held(self, rows: Rows) -> np.ndarray:
        """Whether each row is for validation: by a hash of its values."""
        seed, share = self.held or (0, 0.0)
        return is_drawn(rows, share, Purpose.VALIDATION, seed)


def first_scores(first: Any, loss: Loss, X: Any) -> np.ndarray:
    """The raw scores (N, K) of the predictions of a stored estimator."""
    estimator = nameless(unpacked(first))
    if hasattr(loss, "class_weight"):
        return loss.baseline(estimator.predict_proba(X))
    return loss.baseline(np.asarray(estimator.predict(X), np.float64).reshape(-1, 1))


def all_held(block: Scored) -> Scored:
    return block.replace(held=np.ones(len(block), bool))


def with_score(score: np.ndarray, block: Scored) -> Scored:
    return block.replace(score=np.tile(score, (len(block), 1)))


def after_trees(bins: FeatureBins, trees: Sequence[Tree], block: Scored) -> Scored:
    """The block after some stages: K trees each."""
    return add_trees(bins, trees, block.replace(score=block.score.copy()))


def add_trees(bins: FeatureBins, trees: Sequence[Tree], block: Scored) -> Scored:
    """The same block, to whose raw scores these trees are added."""
    K = block.score.shape[1]
    for m, tree in enumerate(trees):
        if block.X.dtype.kind == "u":
            leaf = tree.replace(bins=bins).leaves_of_codes(block.X.T)
        else:
            leaf = tree.leaves(block.X)
        block.score[:, m % K] += tree.value[leaf, 0]
    return block


def evaluate(loss: Loss, block: Scored) -> Scored:
    """The same block, with the losses of its rows."""
    return block.evaluate(loss)


@dataclass(frozen=True, eq=False)
class TargetSums(Statistics):
    """Counts, weights and integer sums of the targets of the rows for training."""

    rows: int
    fractions: int  # rows whose weight is not a whole number
    others: int  # rows whose weight is not one
    held: int  # rows for validation
    sums: Annotated[np.ndarray, "int (S,)"]  # weight of each class; or weight and weighted target

    @classmethod
    def of(cls, n_classes: int, weight_unit: float, center: float, unit: float, block: Scored) -> TargetSums:
        train = np.flatnonzero(~block.held)
        w, y = block.weight[train], np.asarray(block.y)[train]
        weight = weighted(w, np.full(len(w), weight_unit))
        if n_classes:
            sums = np.zeros(n_classes, np.int64)
            np.add.at(sums, y, weight)
        else:
            sums = np.array([weight.sum(), weighted(w, np.rint((y - center) * unit)).sum()])
        fractions, others = int((w != np.floor(w)).sum()), int((w != 1.0).sum())
        return cls(len(w), fractions, others, len(block) - len(w), sums)


@dataclass(frozen=True, eq=False)
class Largest(Statistics):
    value: float

    def __add__(self, other: Self) -> Self:
        return self.replace(value=max(self.value, other.value))

    @classmethod
    def loss(cls, loss: Loss, block: Scored) -> Largest:
        """The largest loss of a row."""
        with np.errstate(all="ignore"):
            value = np.abs(loss.value(np.asarray(block.y), block.score))
        return cls(float(value[np.isfinite(value)].max(initial=0.0)))


@dataclass(frozen=True)
class Targets:
    """Sums of weights and targets, computed before the first stage."""

    weights: Weights
    weight_unit: float  # integers of a unit of weight
    mean: np.ndarray  # the mean of targets, or the shares of the classes
    n_rows: int
    n_held: int

    @classmethod
    def of(cls, rows: Partitions, loss: Loss, start: Any) -> Targets:
        unit, center, n_classes, y_unit = grid(start.weight, WEIGHT_BITS), 0.0, 0, 1.0
        if hasattr(loss, "class_weight"):
            n_classes = len(start.target.values[0])
        else:
            low, high = float(start.target.low[0]), float(start.target.high[0])
            center = low + 0.5 * (high - low)
            y_unit = grid(start.weight * max(high - center, center - low))
        s = rows.fold(TargetSums.of, n_classes, unit, center, y_unit)
        must_have_rows(s.rows)
        if n_classes:
            factor: Any = loss.class_weight  # type: ignore[attr-defined]
            mean = np.append(s.sums * factor, np.zeros(max(0, 2 - n_classes)))
        else:
            mean = np.array([center + s.sums[1] / s.sums[0] * (unit / y_unit)])
        weights = Weights(start.weight, not s.fractions, not s.others)
        return cls(weights, 1.0 if weights.whole else unit, mean, s.rows, s.held)

    def measure(self, rows: Partitions, loss: Loss) -> Measure:
        """The grids of the sums of each stage, from the rows before the first one."""
        largest = rows.fold(Largest.loss, loss).value
        unit = grid(self.weights.total * largest * SPARE)
        curvature = 0.0
        if loss.largest is not None and not loss.constant:
            curvature = grid(self.weights.total * loss.largest[1])
        most = 2.0**BITS / self.weights.total
        return Measure(loss, unit, self.weight_unit, curvature, most)


@dataclass(frozen=True)
class Measure:
    """The loss, and the integer grids of its sums, which stay the same in all stages."""

    loss: Loss
    loss_unit: float
    weight_unit: float
    curvature_unit: float  # zero if the curvature is not needed
    most: float  # of a loss on its grid


@dataclass(frozen=True, eq=False)
class StageSums(Statistics):
    """Loss and weight of in-bag, out-of-bag and validation rows; the largest derivatives and the sum of
    curvatures of all training rows."""

    loss: Annotated[np.ndarray, "int (3,)"]
    weight: Annotated[np.ndarray, "int (3,)"]
    curvature: Annotated[np.ndarray, "int (K,)"]
    largest: Annotated[np.ndarray, "(K, 2)"]

    any_order: ClassVar[bool] = True

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.loss + other.loss,
            self.weight + other.weight,
            self.curvature + other.curvature,
            np.maximum(self.largest, other.largest),
        )

    @classmethod
    def of(cls, measure: Measure, sample: Any, block: Scored, onto: Any = None) -> StageSums:
        """The sums over a block. `sample(block)` is 1 for in-bag rows; without a sample, all rows are."""
        N, K = block.score.shape
        if onto is None:
            zeros = np.zeros(3, np.int64)
            onto = cls(zeros, zeros.copy(), np.zeros(K, np.int64), np.zeros((K, 2)))
        value, g, h = block.evaluated(measure.loss).derived
        weight, group = np.empty(0), np.empty(0, np.int64)
        if sample is not None or block.held.any() or not block.unweighted:
            outside = np.zeros(N) if sample is None else 1 - sample(block)
            weight, group = np.array(block.weight), np.where(block.held, 2, outside).astype(np.int64)
        add_stage(
            value, g, h, weight, group, measure.loss_unit, measure.most, measure.weight_unit,
            measure.curvature_unit, onto.loss, onto.weight, onto.curvature,
            onto.largest if measure.loss.largest is None else onto.largest[:0],
        )  # fmt: skip
        return onto
