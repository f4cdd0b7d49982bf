"""HITS: hubs and authorities. Li ch. 21.

Kleinberg, "Authoritative sources in a hyperlinked environment", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..estimator.guarantees import KEEPS_LINKS
from ..inputs import in_memory
from .links import Graph, Links, turned
from .page_rank import FARTHEST, LinkEstimator, LinkMass, along, error_within


@dataclass(frozen=True, eq=False)
class Hubs(Model):
    """authority = A' hub and hub = A authority, each normalized; A_st = weight of the links s -> t.

    The two scores are updated alternately.
    """

    threads_share_blocks: ClassVar[bool] = True
    hub: Annotated[np.ndarray, "(n,)"]
    authority: Annotated[np.ndarray, "(n,)"]
    of_authorities: bool = True  # which side is next

    def summarize(self, links: Links, each: Any = map) -> LinkMass:
        return along(links, self.hub if self.of_authorities else self.authority, each)

    def estimate(self, s: LinkMass) -> Self:
        side = "authority" if self.of_authorities else "hub"
        return self.replace(**{side: s.values / s.values.sum()}, of_authorities=not self.of_authorities)


@dataclass(frozen=True, eq=False)
class Turns(Progress):
    """The current scores, and their last change."""

    change: float = FARTHEST
    rate: float = 1.0


class HITS(LinkEstimator):
    """HITS: hub and authority scores of the nodes of a graph.

    Parameters
    ----------
    tol : float, default=1e-8
        Tolerance of the estimated l1 error of the hub scores.
    max_iter : int, default=1000
        Maximum number of iterations.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        Ids of the nodes.
    hubs_ : ndarray of shape (n_nodes,)
        Hub scores, which sum to one: the first left singular vector of the adjacency matrix.
    authorities_ : ndarray of shape (n_nodes,)
        Authority scores, which sum to one: the first right singular vector.
    residual_ : float
        l1 norm of the change of the hub scores in the last iteration.
    trace_ : ndarray of shape (n_iter,)
        Estimated error of the hub scores by iteration, from the rate of convergence.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the estimated error is below `tol`.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : Hubs
        The fitted model.
    statistics_ : LinkMass
        The sums of the last pass.

    See Also
    --------
    PageRank : One score for each node.
    suffice.plot.RankDisplay : Plots scores.

    Notes
    -----
    The first singular vector is unique if the graph is connected. Otherwise the scores are those of the
    component with the largest singular value. With ties, they are the limit of the iteration from equal
    scores.

    With the matrix A of the links, hub scores h and authority scores a solve

    .. math::

        a ∝ A^T h, \\qquad h ∝ A a.

    References
    ----------
    * Kleinberg (1999), "Authoritative sources in a hyperlinked environment", Journal of the ACM 46.

    Examples
    --------
    >>> from suffice.ranking import HITS
    >>> hits = HITS().fit((["a", "a", "b"], ["c", "d", "c"]))
    >>> hits.hubs_.round(3), hits.authorities_.round(3)
    (array([0.618, 0.382, 0.   , 0.   ]), array([0.   , 0.   , 0.618, 0.382]))
    """

    exempt = (KEEPS_LINKS,)

    model_: Hubs

    def __init__(self, *, tol: float = 1e-8, max_iter: int = 1000, checkpoint: MaybePath = None) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _solve(self, data: Any) -> Progress:
        graph: Graph = data
        n = len(graph)
        if not len(graph.links.source):
            raise ValueError(
                f"The graph has {n} nodes and no links, so neither hubs nor authorities: "
                f"pass at least one link."
            )
        forward, back = (in_memory(links) for links in (graph.links, turned(graph.links, n)))

        def step(turns: Turns) -> Turns:
            authorities = turns.model.estimate(forward.fold(Hubs.summarize, turns.model))
            s = back.fold(Hubs.summarize, authorities)
            new = authorities.estimate(s)
            change = float(np.abs(new.hub - turns.model.hub).sum())
            rate = change / turns.change if turns.change else 0.0
            worst = max(rate, turns.rate)
            error = error_within(change, worst)
            reason = "tolerance" if error < self.tol else ""
            return Turns(new, (*turns.trace, error), s, reason, change, rate)

        equal = np.full(n, 1.0 / n)
        watch = Watch(self, self.checkpoint, forward, self.max_iter)
        return watch.loop(step, Turns(Hubs(equal, equal)))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        assert isinstance(progress, Turns)
        model = progress.model
        return {"hubs_": model.hub, "authorities_": model.authority, "residual_": progress.change}

    def rank(self, n: int | None = None) -> np.ndarray:
        """Ids of the nodes by decreasing authority score; the first n unless it is None."""
        check_is_fitted(self)
        return self.nodes_[np.argsort(-self.authorities_, kind="stable")[:n]]
