"""The start of an iterative fit to many rows: the optimum of a few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..core.blocks import cut, stack
from ..core.statistics import Statistics
from ..engines.local import LocalPartitions
from .problem import Problem, Ridge
from .solvers import Solver

EVERY = 32  # one row of so many is taken, and of more the more rows there are
LEAST = 2000  # rows; the optimum of fewer is no better start than any other
EACH = 400  # rows for each parameter, at most


@dataclass(frozen=True, eq=False)
class FewRows(Statistics):
    """One row of `every`, and at most `most` of them."""

    most: int
    every: int
    rows: tuple[Any, ...]  # blocks

    def __add__(self, other: FewRows) -> FewRows:
        every = max(self.every, other.every)
        few = self.replace(every=every, rows=self.thinned(every).rows + other.thinned(every).rows)
        return few if sum(map(len, few.rows)) <= self.most else few.thinned(2 * every)

    def __mul__(self, factor: float) -> FewRows:
        return self.replace(rows=tuple(part.replace(weight=part.weight * factor) for part in self.rows))

    __rmul__ = __mul__

    def thinned(self, every: int) -> FewRows:
        if every == self.every:
            return self
        return self.replace(every=every, rows=(taken(stack(self.rows), every // self.every),))


def taken(block: Any, every: int) -> Any:
    part = block[::every]
    return part.replace(X=part.X.copy())  # not a view of the whole block


def few_rows(most: int, block: Any) -> FewRows:
    return FewRows(most, EVERY, (taken(block, EVERY),))


def optimum_of_few(problem: Problem, solver: Solver, total: float) -> np.ndarray | None:
    """The optimum of a few rows with the same penalty for each row; None if there are not many rows.

    `total` is the weight of all rows. Newton's method from this optimum takes about half as many passes over
    them.
    """
    few = problem.data.fold(few_rows, max(EACH * problem.start.size, 2 * LEAST))
    rows = stack(few.rows)
    if len(rows) < LEAST:
        return None
    penalty = Ridge(cast(Ridge, problem.penalty).strength * float(rows.weight.sum()) / total)
    return solver(Problem(LocalPartitions(cut(rows)), problem.model, penalty, l1=problem.l1)).model
