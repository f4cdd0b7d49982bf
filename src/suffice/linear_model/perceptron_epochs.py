"""Epochs of perceptrons: weights of the features in primal form, of the rows in dual form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import entries_of
from ..core.cost import afford
from ..core.hashing import example_hashes
from ..core.loop import Progress
from ..core.randomness import Purpose, generator
from ..kernels import Kernel
from ..kernels.base import must_be_finite

# Arrays that an epoch updates, in the order of the loops' arguments. The primal form has no scores F.
STATE = ("active", "W", "late", "pocket", "F", "visits", "steps", "run", "tried", "best")


@dataclass(frozen=True, eq=False)
class Epochs(Progress):
    """The model that predicts, the current weights, and the record of earlier weights.

    There are P problems: one for two classes, otherwise one for each class against the rest.
    """

    W: Annotated[Any, "(A, B) or None"] = None  # (D + 1, P); in dual form (P, N)
    late: Annotated[Any, "(A, B) or None"] = None  # changes of W, each times the visits before it
    pocket: Annotated[Any, "(A, B) or None"] = None  # the best W so far
    F: Annotated[Any, "(P, B) or None"] = None  # scores of the rows, in dual form
    log: Annotated[Any, "(M, 4) or None"] = None  # updates: problem, row, signed step size, visits before
    visits: Annotated[Any, "(P,) or None"] = None
    steps: Annotated[Any, "(P,) or None"] = None
    run: Annotated[Any, "(P,) or None"] = None  # visits since the last update
    tried: Annotated[Any, "(P,) or None"] = None  # the longest run compared with the pocket
    best: Annotated[Any, "(P,) or None"] = None  # weight of the rows that the pocket classifies correctly
    active: Annotated[Any, "bool (P,) or None"] = None
    least: Annotated[Any, "(P,) or None"] = None  # the best loss of an epoch
    stuck: Annotated[Any, "(P,) or None"] = None  # epochs in a row that were not better
    seed: int = 0
    from_zero: bool = True
    separated_: Annotated[Any, "bool (P,) or None"] = None  # whether the last weights separate the rows
    mistake_bound_: Annotated[Any, "(P,) or None"] = None


def signs(codes: np.ndarray, P: int) -> np.ndarray:
    """Return 1 for rows of the class of each problem, and -1 for others, (N, P)."""
    return np.where(codes[:, None] == (np.ones(1) if P == 1 else np.arange(P)), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """Labelled rows in memory, and how an epoch over them updates the weights."""

    block: Any
    codes: np.ndarray  # (N,)
    weight: np.ndarray  # (N,)
    bias: bool  # whether there is an intercept
    P: int
    margin: np.ndarray  # (2,): that negative and positive rows must exceed
    step: float
    pocket: bool  # whether to keep the best weights
    vote: bool  # whether to log the updates

    @abstractmethod
    def first(self, theta: np.ndarray | None) -> dict[str, Any]:
        """Initial weights, from those of hyperplanes (P, D + 1), or zero; in dual form, with scores."""

    @abstractmethod
    def learn(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        """One epoch with codes, weights, order, rule and state, as the loops take them: loss (P,), log."""

    @abstractmethod
    def mean(self, epochs: Epochs) -> np.ndarray:
        """The mean of the weights over all visits."""

    @abstractmethod
    def geometry(self, epochs: Epochs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores of the rows (P, N), squared norms of the last weights (P,) and of the rows (N,)."""

    @cached_property
    def _hashes(self) -> np.ndarray:
        return example_hashes(self.block, Purpose.ORDER)

    def order(self, seed: int | None, epoch: int) -> np.ndarray:
        """Rows of positive weight in their order; or with a seed, sorted by hashes of their values."""
        (rows,) = (self.weight > 0).nonzero()
        if seed is None:
            return rows
        odd = 2 * generator(Purpose.ORDER, seed, epoch).integers(1 << 62, dtype=np.uint64) + np.uint64(1)
        return rows[np.argsort(self._hashes[rows] * odd)]

    def epoch(self, before: Epochs, *, shuffle: bool, tol: float | None, patience: int) -> Epochs:
        """Visit all rows once. Problems with mistakes, whose loss still falls, stay active."""
        from ..loops.perceptron import Rule

        order = self.order(before.seed if shuffle else None, before.n_iter)
        below, above = map(float, self.margin)
        rule = Rule(below, above, float(self.step), bool(self.pocket), bool(self.vote))
        arrays = {name: getattr(before, name) for name in STATE}
        state = {name: np.array(array, order="C") for name, array in arrays.items() if array is not None}
        loss, log = self.learn(self.codes, self.weight, order, rule, *state.values())
        new, total = state["steps"] - before.steps, self.weight.sum()
        worse = np.full(self.P, False) if tol is None else loss > before.least - tol * total
        stuck = np.where(worse, before.stuck + 1, 0)
        active = before.active & (new > 0) & (stuck < patience)
        share = float(new.sum() / (self.P * total)) if np.isfinite(loss).all() else np.nan
        updated = {
            **state,
            "trace": (*before.trace, share),
            "stopped_because": "" if active.any() else "tolerance",
            "log": np.concatenate([before.log, log]),
            "active": active,
            "least": np.minimum(before.least, loss),
            "stuck": stuck,
        }
        return before.replace(**updated)

    def novikoff(self, epochs: Epochs) -> tuple[np.ndarray, np.ndarray]:
        """Whether the last weights separate the rows, and Novikoff's bound on the number of updates, (P,).

        From zero, k updates at margins of at most m make w u >= k eta gamma for a separator u of norm one,
        and |w|^2 <= k (eta^2 R^2 + 2 eta m): so k <= (R^2 + 2 m / eta) / gamma^2.
        """
        scores, norms, squares = self.geometry(epochs)
        rows = self.weight > 0
        least = (signs(self.codes, self.P).T * scores)[:, rows].min(axis=1)
        reach = squares[rows].max() + 2.0 * max(0.0, self.margin.max()) / self.step
        separated = least > 0
        bound = np.full(self.P, np.inf)
        if epochs.from_zero:
            bound[separated] = (np.sqrt(reach) / least[separated] * np.sqrt(norms[separated])) ** 2
        return separated, bound


@dataclass(frozen=True, eq=False)
class Primal(Form):
    """A weight for each feature, and for a last one of ones."""

    @cached_property
    def X(self) -> Any:
        """(N, D + 1), dense or CSR."""
        ones = np.full((len(self.block), 1), float(self.bias))
        X = self.block.X
        return sp.hstack([X, sp.csr_array(ones)], "csr") if sp.issparse(X) else np.hstack([X, ones])

    def first(self, theta: np.ndarray | None) -> dict[str, Any]:
        W = np.zeros((self.X.shape[1], self.P)) if theta is None else np.ascontiguousarray(theta.T)
        return {"W": W}

    def learn(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        from ..loops.perceptron import primal, sparse_primal

        if sp.issparse(self.X):
            return sparse_primal(*entries_of(self.X), *arguments)
        return primal(self.X, *arguments)

    def mean(self, epochs: Epochs) -> np.ndarray:
        return epochs.W - epochs.late / epochs.visits

    def geometry(self, epochs: Epochs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        squares = np.asarray((self.X**2).sum(axis=1)).ravel()
        return (self.X @ epochs.W).T, (epochs.W**2).sum(axis=0), squares


@dataclass(frozen=True, eq=False)
class Dual(Form):
    """A weight for each row, learnt from the Gram matrix of the rows."""

    kernel: Kernel

    @cached_property
    def gram(self) -> np.ndarray:
        N = len(self.block)
        afford(N**2, f"the Gram matrix of {N} rows", "use Perceptron, if need be on mapped features.")
        K = np.ascontiguousarray(self.kernel(self.block.X), np.float64)
        must_be_finite(K)
        return K + float(self.bias)

    def first(self, theta: np.ndarray | None) -> dict[str, Any]:
        zero = np.zeros((self.P, len(self.gram)))
        return {"W": zero, "F": zero}

    def learn(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        from ..loops.perceptron import dual

        return dual(self.gram, *arguments)

    def mean(self, epochs: Epochs) -> np.ndarray:
        return epochs.W - epochs.late / epochs.visits[:, None]

    def geometry(self, epochs: Epochs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return epochs.F, (epochs.W * epochs.F).sum(axis=1), self.gram.diagonal()
