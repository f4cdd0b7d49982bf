"""Hubs and authorities: good hubs link to good authorities, to which good hubs link. Li ch. 21.

Kleinberg, "Authoritative sources in a hyperlinked environment", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from ..core.loop import Progress, Watch
from ..core.model import Model
from ..estimator.parameters import AT_LEAST_1, CHECKPOINT, NON_NEGATIVE
from ..inputs import in_memory, open_edges
from .links import Graph, Links, read_graph, turned
from .page_rank import FARTHEST, LinkMass, OfLinks, along, error_within


@dataclass(frozen=True, eq=False)
class Hubs(Model):
    """authority = A' hub, and hub = A authority, each up to its sum; A_st = weight of the links s -> t.

    One side is summed from the other, in turns.
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
    """The scores so far, and by how much they changed last."""

    change: float = FARTHEST
    rate: float = 1.0


class HITS(OfLinks):
    """Two scores for each node of a graph: as a hub, and as an authority.

    Parameters
    ----------
    tol : float, default=1e-8
        The sum of the absolute errors of all hub scores is about this at most.
    max_iter : int, default=1000
        Iterations at most.
    checkpoint : path, default=None
        File that keeps the progress of the fit: if it was stopped, the next fit goes on from there.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        The ids of the nodes.
    hubs_ : ndarray of shape (n_nodes,)
        Scores as hubs, which sum to one: the first left singular vector of the adjacency matrix.
    authorities_ : ndarray of shape (n_nodes,)
        Scores as authorities, which sum to one: the first right singular vector.
    residual_ : float
        The sum of the absolute changes of the hub scores in the last iteration.
    trace_ : ndarray of shape (n_iter,)
        The error of the hub scores by iteration, estimated by how fast they settle.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether that came below `tol`.
    stopped_because_ : str
        Why the iterations ended.
    model_ : Hubs
        The fitted model.
    statistics_ : LinkMass
        What was summed in the last pass.

    See Also
    --------
    PageRank : One score for each node.
    suffice.plot.RankDisplay : Plots scores.

    Notes
    -----
    The first singular vector is unique where the links hold together. Of a graph in parts the scores are
    those of the strongest part; where two are as strong, those that a start from equal scores leads to.

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

    model_: Hubs
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tol": [NON_NEGATIVE],
        "max_iter": [AT_LEAST_1],
        "checkpoint": CHECKPOINT,
    }

    def __init__(self, *, tol: float = 1e-8, max_iter: int = 1000, checkpoint: Any = None) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score the nodes of a graph.

        Parameters
        ----------
        X : pair of arrays, table, sparse matrix or graph
            The links, as `PageRank.fit` takes them.
        y : None
            Ignored.
        sample_weight : array, optional
            Weights of the links of a pair of arrays: two is the link twice, zero is its absence.

        Returns
        -------
        self
        """
        return self._score(read_graph(*open_edges(self, X, sample_weight)))

    def _score(self, graph: Graph) -> Self:
        n = len(graph)
        if not len(graph.links.source):
            raise ValueError(f"The graph has {n} nodes and no links: there are neither hubs nor authorities.")
        there, back = (in_memory(links) for links in (graph.links, turned(graph.links, n)))
        self.nodes_ = graph.nodes

        def step(turns: Turns) -> Turns:
            authorities = turns.model.estimate(there.fold(Hubs.summarize, turns.model))
            s = back.fold(Hubs.summarize, authorities)
            new = authorities.estimate(s)
            change = float(np.abs(new.hub - turns.model.hub).sum())
            rate = change / turns.change if turns.change else 0.0
            worst = max(rate, turns.rate)
            error = error_within(change, worst)
            why = "tolerance" if error < self.tol else ""
            return Turns(new, (*turns.trace, error), s, why, change, rate)

        equal = np.full(n, 1.0 / n)
        watch = Watch(self, self.checkpoint, there, self.max_iter)
        turns = watch.loop(step, Turns(Hubs(equal, equal)))
        self.residual_ = turns.change
        return self._publish(turns)

    def _fitted(self, model: Hubs) -> dict[str, Any]:
        return {"hubs_": model.hub, "authorities_": model.authority}

    def rank(self, n: int | None = None) -> np.ndarray:
        """The ids of the nodes from the best authority down; the first n of them, if given."""
        check_is_fitted(self)
        return self.nodes_[np.argsort(-self.authorities_, kind="stable")[:n]]
