"""TrustRank: trust flows along links from nodes that people looked at. Li ch. 21.

Gyöngyi, Garcia-Molina and Pedersen, "Combating web spam with TrustRank", 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.callback import with_callbacks

from ..core.loop import Watch
from ..estimator.parameters import AT_LEAST_1
from .links import read_graph, turned_graph
from .page_rank import Walks


class TrustRank(Walks):
    """PageRank that starts again at trusted nodes only, so that what they do not lead to has no trust.

    Parameters
    ----------
    seeds : mapping, sequence of ids, or callable, default=None
        The trusted nodes, and if it is a mapping, how much each is trusted. A callable is asked about the
        candidates: ``seeds(ids)`` returns those to trust, as somebody does who looks at them. All
        candidates are trusted if nothing is given.
    n_candidates : int, default=100
        How many candidates there are: the nodes from which most of the graph is reached, which are the first
        by PageRank of the graph with its links turned round.
    damping : float, default=0.85
        Share of its trust that a node hands on.
    dangling : {'restart', 'uniform', 'self', 'leak'}, default='restart'
        Where trust goes that no link hands on. See `PageRank`.
    tol : float, default=1e-8
        The sum of the absolute errors of all scores is at most this.
    max_iter : int, default=1000
        Iterations at most.
    checkpoint : path, default=None
        File that keeps the progress of the fit.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        The ids of the nodes.
    scores_ : ndarray of shape (n_nodes,)
        Their trust.
    candidates_ : ndarray
        The ids of the candidates, if they were needed.
    residual_ : float
        The sum of the absolute changes in the last iteration.
    error_bound_ : float
        The sum of the absolute errors of the scores is at most this.
    trace_ : ndarray of shape (n_iter,)
        That bound by iteration.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the bound came below `tol`.
    stopped_because_ : str
        Why the iterations ended.
    model_ : Surfer
        The fitted model.
    statistics_ : LinkMass
        What flowed along the links in the last pass.

    See Also
    --------
    PageRank : Restarts at all nodes.

    Notes
    -----
    With the transition matrix M of the links, damping d and a distribution s over the trusted nodes, the
    scores t solve

    .. math::

        t = d M t + (1 - d) s.

    References
    ----------
    * Gyöngyi, Garcia-Molina and Pedersen (2004), "Combating web spam with TrustRank", VLDB.

    Examples
    --------
    >>> from suffice.ranking import TrustRank
    >>> links = ["news", "news", "shop", "spam", "farm"], ["shop", "blog", "blog", "farm", "spam"]
    >>> trust = TrustRank(seeds=["news"]).fit(links)
    >>> dict(zip(trust.nodes_.tolist(), trust.scores_.round(3).tolist()))
    {'blog': 0.356, 'farm': 0.0, 'news': 0.452, 'shop': 0.192, 'spam': 0.0}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Walks._parameter_constraints,
        "seeds": [Mapping, "array-like", callable, None],
        "n_candidates": [AT_LEAST_1],
    }

    def __init__(
        self,
        seeds: Any = None,
        *,
        n_candidates: int = 100,
        damping: float = 0.85,
        dangling: str = "restart",
        tol: float = 1e-8,
        max_iter: int = 1000,
        checkpoint: Any = None,
    ) -> None:
        self.seeds = seeds
        self.n_candidates = n_candidates
        self.damping = damping
        self.dangling = dangling
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score the nodes of a graph by the trust that reaches them.

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
        graph = read_graph(*self._open(X, sample_weight))
        trusted = self.seeds
        if trusted is None or callable(trusted):
            back = Watch(max_iter=self.max_iter)
            reach = self._walk(turned_graph(graph), None, None, "iterative", back).model.score
            self.candidates_ = graph.nodes[np.argsort(-reach, kind="stable")[: self.n_candidates]]
            trusted = self.candidates_ if trusted is None else trusted(self.candidates_)
        if isinstance(trusted, str):
            raise TypeError(f"seeds={trusted!r} is one id: pass a list of them, [{trusted!r}].")
        if not isinstance(trusted, Mapping):
            trusted = dict.fromkeys(np.asarray(trusted, dtype=object).tolist(), 1.0)
        if not trusted:
            raise ValueError("There are no seeds: at least one node must be trusted.")
        return self._rank(graph, trusted)
