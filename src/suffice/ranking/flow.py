"""Flow along links, and the state of the iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..core.loop import Progress
from ..core.statistics import Statistics
from .links import Links

FARTHEST = 2.0  # upper bound on the l1 distance of two distributions


@dataclass(frozen=True, eq=False)
class LinkMass(Statistics):
    """Flow along links to a run of nodes. Consecutive runs are joined."""

    start: int  # the first node
    values: Annotated[np.ndarray, "(N,)"]

    def __add__(self, other: LinkMass) -> LinkMass:
        if not len(self.values) or not len(other.values):
            return self if len(self.values) else other
        low = min(self.start, other.start)
        total = np.zeros(max(part.start + len(part.values) for part in (self, other)) - low)
        for part in (self, other):
            total[part.start - low : part.start - low + len(part.values)] += part.values
        return LinkMass(low, total)

    def __mul__(self, factor: float) -> LinkMass:
        return LinkMass(self.start, self.values * factor)

    __rmul__ = __mul__


def along(links: Links, sent: np.ndarray, each: Any = map) -> LinkMass:
    """The sum of weight times sent[source] over the links to each node; `each` as `map`, by threads."""
    from ..loops.graph import mass, weighted_mass

    out, sent = np.empty(len(links)), np.ascontiguousarray(sent, np.float64)

    def run(bounds: tuple[int, int]) -> None:
        if links.weight is None:
            mass(links.offset, links.source, sent, *bounds, out)
        else:
            weighted_mass(links.offset, links.source, links.weight, sent, *bounds, out)

    for _ in each(run, links.runs()):
        pass
    return LinkMass(links.start, out)


@dataclass(frozen=True, eq=False)
class Walk(Progress):
    """The current scores, and their last change."""

    change: float = FARTHEST
    rate: float = 1.0  # by which factor that was less than before
    candidates_: Annotated[np.ndarray | None, "(C,)"] = None  # ids of nodes, of `TrustRank`
