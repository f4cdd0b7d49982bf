"""The dual of kernel machines: a convex quadratic in a box, with fixed sums, by SMO on working sets.

    minimize  β'Kβ / 2 + q'β   subject to   lower <= β <= upper, and a fixed Σ β in each group.

Each coefficient β belongs to a row; two may share a row. At an optimum there is a number λ for each group
with (Kβ + q)_i >= λ where β_i can increase, and <= λ where it can decrease. The violation is the largest
difference of two slopes that contradict this.

One pair of coefficients is optimized at a time (Platt, "Fast training of support vector machines using
sequential minimal optimization", 1998), within a working set of those that violate most. The columns of the
kernel matrix for a working set are computed by one product, and the last ones used stay in a cache, in
float32. Its rounding errors are corrected: when no pair is left, and unless `tol` is much larger than what
rounding can change, Kβ is computed again from β in float64, and the loop continues if this leaves a pair. If
the violation is then not less than half of what it was, the cache becomes float64. Directions without
curvature, which a linear kernel has for many rows, need it.

A fit that solves several duals records their solutions, and the state of the current one, for its checkpoint.
The bits of a column of the kernel matrix depend on the columns that are computed with it, so a state can be
continued to the same bits only when the cache is empty. Therefore the cache is emptied from time to time,
when computing its columns again takes a twentieth of the time since the last time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from sklearn.utils import gen_batches

from ..core.loop import Progress
from ..core.threads import in_order
from ..core.values import Value
from ..kernels.base import must_be_finite

WORKING = 1024  # number of coefficients of a working set
ROWS, COLUMNS = 256, 1024  # of the kernels computed at a time, which stay in the cache
# Maximum number of pairs, as in LIBSVM, since the violation of degenerate problems hardly decreases.
MOST_PAIRS = 10**7
ROUNDING = (
    2.0**-23
)  # bound of the error of an entry of the cache: 7 standard deviations, as errors are independent
STALLED = 20  # maximum number of computations of Kβ since the violation was last halved
RENEWED = 20  # the cache is emptied when the work since then is this multiple of the work of filling it
PAIR = 100  # number of entries of a column that take as long to compute as one pair
IDLE = 4  # times that the cache is emptied, without half the violation, before it becomes float64


@dataclass(frozen=True, eq=False)
class Dual:
    """A quadratic in a box with fixed sums. `row` is the row of each coefficient, `group` its group."""

    q: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row: np.ndarray
    group: np.ndarray

    @property
    def n_groups(self) -> int:
        return int(self.group.max(initial=0)) + 1

    def of_rows(self, beta: np.ndarray, n_rows: int) -> np.ndarray:
        """Return the sum of the coefficients of each row."""
        return np.bincount(self.row, beta, minlength=n_rows)


@dataclass(frozen=True, eq=False)
class DualSolution(Value):
    """Result of `minimize_dual`."""

    beta: Annotated[np.ndarray, "(B,)"]
    slope: Annotated[np.ndarray, "(B,)"]  # Kβ + q
    level: Annotated[np.ndarray, "(G,)"]  # λ of each group
    violation: float
    objective: float
    n_iter: int  # number of pairs


@dataclass(frozen=True, eq=False)
class DualState(Value):
    """State from which `minimize_dual` can continue: that when its cache is empty."""

    beta: Annotated[np.ndarray, "(B,)"]
    previous: Annotated[np.ndarray, "int (W,)"]  # the last working set
    n_iter: int = 0
    exact: bool = True  # whether the slope at `beta` is to be compared with the last ones
    least: float = np.inf  # least violation at an exact slope
    stalled: int = 0  # computations of exact slopes since the violation was last halved
    idle: int = 0  # times that the cache was emptied since then
    double: bool = False  # whether the cache is float64
    largest: float = 0.0  # `Columns.largest`


@dataclass(frozen=True, eq=False)
class Duals(Progress):
    """Progress of a fit: the solutions of the duals that are solved, and the state of the next one."""

    solutions: tuple[DualSolution, ...] = ()
    state: DualState | None = None


class Record:
    """The duals of a fit, in the order in which it solves them. Solutions of an interrupted fit are reused.

    `offer` is called with the progress whenever the fit can be continued from it to the same bits. It
    returns whether to stop the fit.
    """

    def __init__(self, progress: Duals, offer: Callable[[Duals], bool]) -> None:
        self.progress, self._offer = progress, offer
        self.n_known, self.n_asked, self.stopped = len(progress.solutions), 0, False

    def known(self) -> DualSolution | None:
        """Return the solution of the next dual if the interrupted fit has solved it, otherwise None."""
        solutions = self.progress.solutions
        self.n_asked += 1
        return solutions[self.n_asked - 1] if self.n_asked <= len(solutions) else None

    def solved(self, solution: DualSolution) -> DualSolution:
        self.progress = self.progress.replace(solutions=(*self.progress.solutions, solution), state=None)
        return solution

    def reached(self, state: DualState | None, objective: float) -> None:
        """Record the state of a dual, or None between two of them, for callbacks and the checkpoint."""
        if state is None and self.n_asked <= self.n_known:
            return  # the interrupted fit had already recorded this
        trace = (*self.progress.trace, objective)
        self.progress = self.progress.replace(trace=trace, state=state)
        self.stopped |= self._offer(self.progress)


class Columns:
    """Columns of a kernel matrix. The most recently used ones stay in a cache.

    `compute(rows, part)` returns a slice of the columns of some rows, and `diagonal()` the diagonal.
    """

    def __init__(
        self,
        compute: Callable[[np.ndarray, slice], np.ndarray],
        diagonal: Callable[[], np.ndarray],
        n_rows: int,
        cache_bytes: int,
    ) -> None:
        self.compute, self.diagonal, self.n_rows = compute, diagonal, n_rows
        self.cache_bytes = cache_bytes
        self.largest = 0.0  # largest absolute value of the entries cached so far
        self.clear(np.float32)

    def clear(self, dtype: type) -> None:
        """Replace the cache by an empty one of this type."""
        size = max(2 * WORKING, self.cache_bytes // (np.dtype(dtype).itemsize * max(1, self.n_rows)))
        self.cache: np.ndarray = np.empty((min(size, self.n_rows), self.n_rows), dtype)
        self.slot_of = np.full(self.n_rows, -1)
        self.row_in = np.full(len(self.cache), -1)
        self.used = np.full(len(self.cache), -1)
        self.time = self.n_computed = 0

    def is_expired(self, pairs: int) -> bool:
        """Whether to empty the cache after `pairs` pairs: see `RENEWED`."""
        filled = int((self.row_in >= 0).sum())
        work = self.n_rows * (self.n_computed - filled) + PAIR * pairs
        return filled > 0 and work >= RENEWED * self.n_rows * filled

    def slots(self, rows: np.ndarray) -> np.ndarray:
        """Cache the columns of these distinct rows, and return their places in the cache."""
        self.time += 1
        slot = self.slot_of[rows]
        self.used[slot[slot >= 0]] = self.time
        missing = rows[slot < 0]
        self.n_computed += len(missing)
        if len(missing):
            oldest = np.argpartition(self.used, len(missing) - 1)[: len(missing)]
            out = self.row_in[oldest]
            self.slot_of[out[out >= 0]] = -1
            self.slot_of[missing], self.row_in[oldest], self.used[oldest] = oldest, missing, self.time

            def store(piece: tuple[slice, slice]) -> float:
                some, part = piece
                columns, largest = self._computed(missing[some], part)
                with np.errstate(over="ignore"):
                    must_be_finite(self.cache.dtype.type(largest))  # float32 overflows at 3e38
                self.cache[oldest[some], part] = columns
                return largest

            pieces = product(gen_batches(len(missing), ROWS), self._parts)
            self.largest = max(self.largest, *in_order(store, tuple(pieces)))
        return self.slot_of[rows]

    @property
    def _parts(self) -> tuple[slice, ...]:
        return tuple(gen_batches(self.n_rows, COLUMNS))

    def _computed(self, rows: np.ndarray, part: slice) -> tuple[np.ndarray, float]:
        """Return a part of the columns of some rows, and the largest absolute value of an entry."""
        out = self.compute(rows, part)
        largest = max(out.max(initial=0.0), -out.min(initial=0.0))
        must_be_finite(largest)
        return out, largest

    def product(self, weight: np.ndarray) -> np.ndarray:
        """Return K times a vector with one number for each row, in float64."""
        (rows,) = weight.nonzero()
        if not len(rows):
            return np.zeros(self.n_rows)
        pieces = [rows[some] for some in gen_batches(len(rows), ROWS)]

        def product_of(part: slice) -> np.ndarray:
            terms = (weight[some] @ self._computed(some, part)[0] for some in pieces)
            return sum(terms, np.zeros(part.stop - part.start))

        return np.concatenate(list(in_order(product_of, self._parts)))


def minimize_dual(
    dual: Dual,
    columns: Columns,
    beta: np.ndarray,
    tol: float,
    max_iter: int,
    record: Record | None = None,
) -> DualSolution:
    """Minimize from `beta`, which is in the box. Stops when the violation is at most `tol`, after
    `max_iter` pairs unless it is -1, or when rounding keeps the violation from decreasing."""
    from ..loops.dual import add_columns, minimize_pairs, worst_pair

    if record is not None and (known := record.known()) is not None:
        return known
    state = DualState(beta, np.zeros(0, np.int64), largest=columns.largest)
    if record is not None and record.progress.state is not None:
        state = record.progress.state
        columns.clear(np.float64 if state.double else np.float32)
    beta, previous, n_iter = state.beta.copy(), state.previous, state.n_iter
    exact, least, stalled, idle = state.exact, state.least, state.stalled, state.idle
    columns.largest = state.largest
    box, since = (dual.lower, dual.upper, dual.group), n_iter
    slope = _slope(dual, columns, beta)
    while True:
        if columns.is_expired(n_iter - since):
            slope, since = _slope(dual, columns, beta), n_iter
            *_, violation = worst_pair(slope, beta, *box, dual.n_groups)
            idle, least = 0 if violation < 0.5 * least else idle + 1, min(least, violation)
            double = columns.cache.dtype == np.float64 or idle >= IDLE
            columns.clear(np.float64 if double else np.float32)
            if record is not None:
                largest = columns.largest
                state = DualState(beta.copy(), previous, n_iter, exact, least, stalled, idle, double, largest)
                record.reached(state, 0.5 * float(beta @ (slope + dual.q)))
        *_, violation = worst_pair(slope, beta, *box, dual.n_groups)
        left = (max(MOST_PAIRS, 100 * len(beta)) if max_iter == -1 else max_iter) - n_iter
        if record is not None and record.stopped:
            left = 0
        if exact:
            stalled = 0 if violation < 0.5 * least else stalled + 1
            least = min(least, violation)
            if violation <= tol or left <= 0 or stalled > STALLED:
                break
            if stalled and columns.cache.dtype == np.float32:
                columns.clear(np.float64)
        elif violation <= tol or left <= 0:
            if ROUNDING * columns.largest * np.linalg.norm(beta) < 0.01 * tol:
                break
            slope, exact = _slope(dual, columns, beta), True
            continue
        fresh = _violating(dual, slope, beta)
        working = np.union1d(fresh, previous)
        previous, exact = fresh, False
        rows, at = np.unique(dual.row[working], return_inverse=True)
        slots = columns.slots(rows)
        K = columns.cache[np.ix_(slots, rows)].astype(np.float64)
        if not np.array_equal(at, np.arange(len(rows))):
            K = K[np.ix_(at, at)]
        part = beta[working]
        n_iter += minimize_pairs(
            K, slope[working], part, dual.lower[working], dual.upper[working], dual.group[working],
            dual.n_groups, max(tol, 0.1 * violation), min(left, 100 * WORKING),
        )  # fmt: skip
        change = np.zeros(columns.n_rows)
        step: np.ndarray = np.bincount(at, part - beta[working], minlength=len(rows))
        (moved,) = step.nonzero()
        add_columns(columns.cache, slots[moved], step[moved], change)
        beta[working] = part
        slope += change[dual.row]
    objective = 0.5 * float(beta @ (slope + dual.q))
    solution = DualSolution(beta, slope, _levels(dual, slope, beta), violation, objective, n_iter)
    return solution if record is None else record.solved(solution)


def _slope(dual: Dual, columns: Columns, beta: np.ndarray) -> np.ndarray:
    return columns.product(dual.of_rows(beta, columns.n_rows))[dual.row] + dual.q


def _violating(dual: Dual, slope: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the next working set.

    In each group it has the coefficients with the smallest slopes among those that can increase, and with the
    largest slopes among those that can decrease.
    """
    most, chosen = max(1, WORKING // (4 * dual.n_groups)), []
    for g in range(dual.n_groups):
        for sign, free in ((1.0, beta < dual.upper), (-1.0, beta > dual.lower)):
            (rows,) = (free & (dual.group == g)).nonzero()
            if len(rows) > most:
                rows = rows[np.argpartition(sign * slope[rows], most)[:most]]
            chosen.append(rows)
    return np.unique(np.concatenate(chosen))


def _levels(dual: Dual, slope: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return λ of each group.

    It is the mean slope of the coefficients strictly between their bounds, or, if there are none, the middle
    of the interval that satisfies the optimality conditions.
    """

    def level(g: int) -> float:
        of_g = dual.group == g
        falls, rises = of_g & (beta > dual.lower), of_g & (beta < dual.upper)
        if (between := falls & rises).any():
            return float(slope[between].mean())
        bounds = [
            slope[falls].max() if falls.any() else np.nan,
            slope[rises].min() if rises.any() else np.nan,
        ]
        return float(np.nanmean(bounds))

    return np.array([level(g) for g in range(dual.n_groups)])
