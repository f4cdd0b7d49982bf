"""State of a fit that stays with the rows: scores, labels, factors, topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core.partitions import Partitions


@dataclass
class Resident:
    """Partitions whose blocks hold state of a fit beside their rows: scores, labels, factors, topics.

    Each step of the fit changes this state by a `map`. It is not sent to the driver. It follows from the
    state of the fit on the driver, such as the trees so far, so a fit that resumes from a checkpoint or
    continues another computes it again.

    Parameters
    ----------
    data : Partitions
        The blocks before the first step.
    replay : callable
        ``replay(data, n_steps, state)`` returns the partitions after all steps of `state`, the state of a
        fit on the driver; the first `n_steps` of them are in `data`.
    store_every : int, default=1
        Number of steps between stores of blocks that are read in each pass. Each pass computes the steps
        since the last store again.

    Attributes
    ----------
    n_steps : int
        Number of steps that are in `data`.
    sums : object
        Sums of the blocks in their current state; None if they are not known.

    Examples
    --------
    >>> import numpy as np
    >>> import suffice
    >>> from suffice.fitting import Resident
    >>> def raised(changes, block):
    ...     return block.replace(X=block.X + sum(changes))
    >>> def replay(data, n_steps, changes):
    ...     return data.map(raised, changes[n_steps:])
    >>> rows = Resident(suffice.partition(np.zeros((4, 1))), replay)
    >>> float(rows.at(2, [1.0, 2.0]).fold(lambda block: block.X.sum()))
    12.0
    """

    data: Partitions
    replay: Callable[[Partitions, int, Any], Partitions]
    store_every: int = 1
    n_steps: int = 0
    sums: Any = None

    def at(self, n_steps: int, state: Any) -> Partitions:
        """Return the partitions after `n_steps` steps of a fit, whose state on the driver is `state`."""
        if n_steps != self.n_steps:
            self.advance(n_steps, self.replay(self.data, self.n_steps, state))
        return self.data

    def advance(self, n_steps: int, data: Partitions, sums: Any = None) -> Partitions:
        """Set the partitions after `n_steps` steps. `sums` are their sums, if known."""
        if n_steps // self.store_every > self.n_steps // self.store_every:
            data = data.persisted()
        self.data, self.n_steps, self.sums = data, n_steps, sums
        return data
