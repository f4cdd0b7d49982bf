"""Epochs of the perceptron algorithm, in primal form (weights of features) and dual form (weights of
rows)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from ..core.cost import afford
from ..core.hashing import example_hashes
from ..core.loop import Progress
from ..fitting.kernel import Kernel


@dataclass(frozen=True, eq=False)
class Epochs(Progress):
    """State of the fit: the model that predicts, the current weights, and the history that the variant needs.

    There are P problems: one for two classes, else one for each class against the rest.
    """

    W: Annotated[Any, "(A, B) or None"] = None  # (D + 1, P); in dual form (P, N)
    late: Annotated[Any, "(A, B) or None"] = None  # changes of W, each times the visits before it
    pocket: Annotated[Any, "(A, B) or None"] = None  # the best W so far
    F: Annotated[Any, "(P, B) or labels () or None"] = None  # scores of the rows, in dual form
    log: Annotated[Any, "(M, 4) or None"] = (
        None  # steps of those that vote: problem, row, size, visits before
    )
    visits: Annotated[Any, "(P,) or None"] = None
    steps: Annotated[Any, "(P,) or None"] = None
    run: Annotated[Any, "(P,) or None"] = None  # visits since the last step
    tried: Annotated[Any, "(P,) or None"] = None  # the longest run that was tried for the pocket
    best: Annotated[Any, "(P,) or None"] = None  # weight of the rows for which the pocket is right
    active: Annotated[Any, "bool (P,) or None"] = None
    least: Annotated[Any, "(P,) or None"] = None  # the best loss of an epoch
    stuck: Annotated[Any, "(P,) or None"] = None  # epochs in a row that were not better
    seed: int = 0
    from_zero: bool = True


CHANGED = ("W", "late", "pocket", "F", "visits", "steps", "run", "tried", "best")


def signs(codes: np.ndarray, P: int) -> np.ndarray:
    """1 where a row is of the class of the problem, else -1: (N, P)."""
    return np.where(codes[:, None] == (np.ones(1) if P == 1 else np.arange(P)), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """Labelled rows in memory, and what an epoch over them does."""

    block: Any
    codes: np.ndarray  # (N,)
    weight: np.ndarray  # (N,)
    bias: bool  # whether there is a constant
    P: int
    margin: np.ndarray  # (2,): that negative and positive rows must have
    step: float

    @abstractmethod
    def first(self, theta: np.ndarray | None) -> dict[str, Any]:
        """Initial weights, from hyperplanes (P, D + 1) or zero; in dual form, with scores."""

    @abstractmethod
    def learn(
        self, order: np.ndarray, state: Epochs, loss: np.ndarray, pocket: bool, vote: bool
    ) -> np.ndarray:
        """One epoch, which changes `state` and the loss (P,) in place. Returns the log."""

    @abstractmethod
    def mean(self, state: Epochs) -> np.ndarray:
        """The mean of the weights over all visits."""

    @abstractmethod
    def geometry(self, state: Epochs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By the last weights: scores of the rows (P, N), squared norms (P,), and those of the rows (N,)."""

    @cached_property
    def _hashes(self) -> np.ndarray:
        return example_hashes(self.block, 0)

    def order(self, seed: int | None, epoch: int) -> np.ndarray:
        """Rows of non-zero weight, in input order. With a seed, ordered by a hash of each row: equal rows are
        adjacent."""
        (rows,) = (self.weight > 0).nonzero()
        if seed is None:
            return rows
        odd = 2 * np.random.default_rng([seed, epoch]).integers(1 << 62, dtype=np.uint64) + np.uint64(1)
        return rows[np.argsort(self._hashes[rows] * odd)]

    def epoch(
        self, state: Epochs, *, shuffle: bool, pocket: bool, vote: bool, tol: float | None, patience: int
    ) -> Epochs:
        """Visit all rows once. Problems with mistakes whose loss still decreases stay active."""
        after = state.replace(**{name: np.array(getattr(state, name)) for name in CHANGED})
        loss, total = np.zeros(self.P), self.weight.sum()
        order = self.order(state.seed if shuffle else None, state.n_iter)
        log = self.learn(order, after, loss, pocket, vote)
        new = after.steps - state.steps
        worse = np.full(self.P, False) if tol is None else loss > state.least - tol * total
        stuck = np.where(worse, state.stuck + 1, 0)
        active = state.active & (new > 0) & (stuck < patience)
        share = float(new.sum() / (self.P * total)) if np.isfinite(loss).all() else np.nan
        return after.replace(
            trace=(*state.trace, share),
            stopped_because="" if active.any() else "tolerance",
            log=np.concatenate([state.log, log]),
            active=active,
            least=np.minimum(state.least, loss),
            stuck=stuck,
        )

    def novikoff(self, state: Epochs) -> tuple[np.ndarray, np.ndarray]:
        """Whether the last weights separate the rows, and the bound on steps that follows from them, (P,).

        From zero, k steps at margins of at most m make w u >= k eta gamma for a separator u of norm one, and
        |w|^2 <= k (eta^2 R^2 + 2 eta m): so k <= (R^2 + 2 m / eta) / gamma^2.
        """
        scores, norms, squares = self.geometry(state)
        rows = self.weight > 0
        least = (signs(self.codes, self.P).T * scores)[:, rows].min(axis=1)
        reach = squares[rows].max() + 2.0 * max(0.0, self.margin.max()) / self.step
        separated = least > 0
        bound = np.full(self.P, np.inf)
        if state.from_zero:
            bound[separated] = (np.sqrt(reach) / least[separated] * np.sqrt(norms[separated])) ** 2
        return separated, bound


@dataclass(frozen=True, eq=False)
class Primal(Form):
    """A weight for each feature, and for a constant."""

    @cached_property
    def X(self) -> Any:
        """(N, D + 1), dense or CSR."""
        ones = np.full((len(self.block), 1), float(self.bias))
        X = self.block.X
        return sp.hstack([X, sp.csr_array(ones)], "csr") if sp.issparse(X) else np.hstack([X, ones])

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Data, indices and row pointers; of dense rows there are no indices."""
        if sp.issparse(self.X):
            return self.X.data, self.X.indices, self.X.indptr.astype(np.int64)
        N, D = self.X.shape
        return self.X.ravel(), np.empty(0, np.int32), (np.arange(N + 1) * D).astype(np.int64)

    def first(self, theta: np.ndarray | None) -> dict[str, Any]:
        W = np.zeros((self.X.shape[1], self.P)) if theta is None else np.ascontiguousarray(theta.T)
        return {"W": W}

    def learn(
        self, order: np.ndarray, state: Epochs, loss: np.ndarray, pocket: bool, vote: bool
    ) -> np.ndarray:
        from ..loops.perceptron import primal

        return primal(
            *self._rows, self.codes, self.weight, order, self.margin, self.step, state.active, state.W,
            state.late, state.visits, state.steps, loss, pocket, state.run, state.tried, state.best,
            state.pocket, vote,
        )  # fmt: skip

    def mean(self, state: Epochs) -> np.ndarray:
        return state.W - state.late / state.visits

    def geometry(self, state: Epochs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        squares = np.asarray((self.X**2).sum(axis=1)).ravel()
        return (self.X @ state.W).T, (state.W**2).sum(axis=0), squares


@dataclass(frozen=True, eq=False)
class Dual(Form):
    """A weight for each row, from the Gram matrix of the rows."""

    kernel: Kernel

    @cached_property
    def gram(self) -> np.ndarray:
        N = len(self.block)
        afford(N**2, f"the Gram matrix of {N} rows", "use algorithm='primal', or map the features first.")
        return np.ascontiguousarray(self.kernel(self.block.X)) + float(self.bias)

    def first(self, theta: np.ndarray | None) -> dict[str, Any]:
        zero = np.zeros((self.P, len(self.gram)))
        return {"W": zero, "F": zero}

    def learn(
        self, order: np.ndarray, state: Epochs, loss: np.ndarray, pocket: bool, vote: bool
    ) -> np.ndarray:
        from ..loops.perceptron import dual

        return dual(
            self.gram, self.codes, self.weight, order, self.margin, self.step, state.active, state.W,
            state.late, state.F, state.visits, state.steps, loss, pocket, state.run, state.tried, state.best,
            state.pocket, vote,
        )  # fmt: skip

    def mean(self, state: Epochs) -> np.ndarray:
        return state.W - state.late / state.visits[:, None]

    def geometry(self, state: Epochs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return state.F, (state.W * state.F).sum(axis=1), self.gram.diagonal()
