"""Start of a fit at the optimum for a sample of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.blocks import Block, stack
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from .descent import Descent
from .linear_algebra import solve_positive
from .problem import Problem
from .solvers import Solver

ROWS_EACH = 32  # rows of the sample for each parameter
LEAST = 1 << 14  # minimum number of rows of the sample


def few_rows(data: Partitions, n_parameters: int, weight: float) -> tuple[Partitions, int] | None:
    """Gather every n-th row in this process, and return them with the number of all rows.

    None if there are fewer than eight times as many rows as the sample needs. `weight` is the total weight of
    the rows. If it is small, the rows are not counted.
    """
    size = max(LEAST, ROWS_EACH * n_parameters)
    if weight < 8 * size or (n := data.fold(_length)) < 8 * size:
        return None
    return data.on_driver(stack(data.fold(_every, n // size))), n


def _length(block: Block) -> int:
    return len(block)


def _every(n: int, block: Block) -> list[Any]:
    """Return every n-th row of a block, in a list, so that a fold concatenates them.

    A block with fewer than n rows contributes one row with the matching probability, as otherwise every small
    block would contribute a row.
    """
    start = 0 if len(block) >= n else int(generator(Purpose.SUBSAMPLE, *block.index).integers(n))
    rows = np.arange(start, len(block), n)
    return [block[rows]] if len(rows) else []  # copies, since views would keep whole blocks in memory


def optimum_of_few(
    problem: Problem, solver: Solver, origin: Descent, weight: float, *, tol: float, max_iter: int
) -> Descent:
    """Return the start of a fit to many rows: the optimum for a sample of them, with its curvature.

    For few rows it is `origin`.
    """
    model, size = problem.model, problem.model.theta.size
    if (few := few_rows(problem.data, size, weight)) is None:
        return origin
    (rows, n), standard = few, problem.standard
    some = Problem(rows, model, problem.penalty, standard=standard, l1=problem.l1)
    result = solver(some, origin, tol=10.0 * tol, max_iter=max_iter)
    # For many parameters, the Hessian of the sample would take longer than some passes over all rows.
    if np.any(problem.l1) or size**2 > 2 * n:
        return Descent(result.model, steps=result.steps, changes=result.changes, inverse=origin.inverse)
    curved = Problem(rows, model.replace(curvature=True), problem.penalty, standard=standard)
    hessian = curved.hessian(result.model)
    return Descent(result.model, inverse=solve_positive(hessian, np.eye(size)))
