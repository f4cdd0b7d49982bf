"""TrustRank: trust propagates along links from inspected nodes. Li ch. 21.

Gyöngyi, Garcia-Molina and Pedersen, "Combating web spam with TrustRank", 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath
from ..core.loop import Progress, Watch
from ..estimator.guarantees import KEEPS_LINKS
from ..estimator.parameters import AT_LEAST_1
from .links import turned_graph
from .page_rank import Walks


class TrustRank(Walks):
    """TrustRank: PageRank with restarts at trusted nodes only. Nodes that they do not lead to have no trust.

    Parameters
    ----------
    seeds : mapping, sequence of ids, or callable, default=None
        The trusted nodes. A mapping gives the weight of each. A callable is called with the candidates,
        ``seeds(ids)``, and returns those to trust. If None, all candidates are trusted.
    n_candidates : int, default=100
        Number of candidates: the nodes with the largest inverse PageRank, that is PageRank of the graph with
        all links reversed. From these, most of the graph is reached.
    damping : float, default=0.85
        Damping factor: the fraction of its trust that a node passes on.
    dangling : {'restart', 'uniform', 'self', 'leak'}, default='restart'
        What happens to the trust of a node without outgoing links. See `PageRank`.
    tol : float, default=1e-8
        Tolerance of the l1 error of the scores.
    max_iter : int, default=1000
        Maximum number of iterations.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        Ids of the nodes.
    scores_ : ndarray of shape (n_nodes,)
        Trust of the nodes.
    candidates_ : ndarray
        Ids of the candidates. Only if they were needed.
    residual_ : float
        l1 norm of the change in the last iteration.
    error_bound_ : float
        Upper bound on the l1 error of the scores.
    trace_ : ndarray of shape (n_iter,)
        The error bound by iteration.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the error bound is below `tol`.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : Surfer
        The fitted model.
    statistics_ : LinkMass
        Mass that flowed along the links in the last pass.

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

    exempt = (KEEPS_LINKS,)

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
        checkpoint: MaybePath = None,
    ) -> None:
        self.seeds = seeds
        self.n_candidates = n_candidates
        self.damping = damping
        self.dangling = dangling
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _solve(self, data: Any) -> Progress:
        trusted, candidates = self.seeds, None
        if trusted is None or callable(trusted):
            back = Watch(max_iter=self.max_iter)
            reach = self._walk(turned_graph(data), None, watch=back).model.score
            candidates = data.nodes[np.argsort(-reach, kind="stable")[: self.n_candidates]]
            trusted = candidates if trusted is None else trusted(candidates)
        if isinstance(trusted, str):
            raise TypeError(f"seeds={trusted!r} is a single id: pass a list, seeds=[{trusted!r}].")
        if not isinstance(trusted, Mapping):
            trusted = dict.fromkeys(np.asarray(trusted, dtype=object).tolist(), 1.0)
        if not trusted:
            raise ValueError("seeds is empty: there are no seeds, expected at least one trusted node.")
        return self._walk(data, trusted).replace(candidates_=candidates)
