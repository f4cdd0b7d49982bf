"""BrowseRank: the time that people spend at each page, from how they browse. Li ch. 21.

Liu, Gao, Liu, Zhang, Ma, He and Li, "BrowseRank: letting web users vote for page importance", 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.callback import with_callbacks

from ..estimator.parameters import Numbers
from .links import read_graph
from .page_rank import Surfer, Walks, weights_of


class BrowseRank(Walks):
    """Scores of pages by the share of time spent there: a Markov process in continuous time.

    How often a page is visited follows from the steps that were counted, as with PageRank; how long a visit
    takes is known for each page. The score is the product, up to the sum.

    Parameters
    ----------
    staying : mapping or array of shape (n_nodes,), default=None
        Mean time of a visit: by id, or one for each of `nodes_`; all alike if not given.
    damping : float, default=0.85
        Probability that somebody goes on from a page, and does not begin anew.
    restart : mapping or array of shape (n_nodes,), default=None
        How often each page was the first of a visit to the web; all alike if not given.
    dangling : {'restart', 'uniform', 'self', 'leak'}, default='restart'
        What happens at a page from which nobody went on. See `PageRank`.
    tol : float, default=1e-8
        The sum of the absolute errors of how often pages are visited is at most this.
    max_iter : int, default=1000
        Iterations at most.
    checkpoint : path, default=None
        File that keeps the progress of the fit.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        The ids of the pages.
    scores_ : ndarray of shape (n_nodes,)
        Share of time spent at each.
    visits_ : ndarray of shape (n_nodes,)
        Share of visits to each.
    residual_ : float
        The sum of the absolute changes of `visits_` in the last iteration.
    error_bound_ : float
        The sum of the absolute errors of `visits_` is at most this.
    trace_ : ndarray of shape (n_iter,)
        That bound by iteration.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the bound came below `tol`.
    stopped_because_ : str
        Why the iterations ended.
    model_ : Surfer
        The fitted model of the visits.
    statistics_ : LinkMass
        What flowed along the links in the last pass.

    See Also
    --------
    PageRank : Links instead of visits.
    suffice.sampling.MarkovChain : Any chain of finitely many states.

    Notes
    -----
    With the stationary distribution p of the steps between pages and the mean staying time t_i of page i,

    .. math::

        π_i = \\frac{p_i t_i}{∑_j p_j t_j}.

    References
    ----------
    * Liu, Gao, Liu, Zhang, Ma, He and Li (2008), "BrowseRank: letting web users vote for page importance",
      SIGIR.

    Examples
    --------
    >>> from suffice.ranking import BrowseRank
    >>> steps = ["a", "a", "b", "c"], ["b", "c", "c", "a"]
    >>> browse = BrowseRank(staying={"a": 10.0, "b": 60.0, "c": 10.0}).fit(steps)
    >>> browse.scores_.round(3)
    array([0.187, 0.621, 0.192])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Walks._parameter_constraints,
        "staying": [Mapping, Numbers(0), None],
        "restart": [Mapping, Numbers(0), None],
    }

    def __init__(
        self,
        staying: Any = None,
        *,
        damping: float = 0.85,
        restart: Any = None,
        dangling: str = "restart",
        tol: float = 1e-8,
        max_iter: int = 1000,
        checkpoint: Any = None,
    ) -> None:
        self.staying = staying
        self.damping = damping
        self.restart = restart
        self.dangling = dangling
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score the pages.

        Parameters
        ----------
        X : pair of arrays, table, sparse matrix or graph
            The steps from page to page, as `PageRank.fit` takes links: those that come several times add up.
        y : None
            Ignored.
        sample_weight : array, optional
            How often each step of a pair of arrays was taken.

        Returns
        -------
        self
        """
        return self._rank(read_graph(*self._open(X, sample_weight)), self.restart)

    def _fitted(self, model: Surfer) -> dict[str, Any]:
        visits = model.score
        time = visits
        if self.staying is not None:
            if isinstance(self.staying, Mapping) and len(self.staying) < len(visits):
                missing = [node for node in self.nodes_.tolist() if node not in self.staying]
                raise ValueError(f"staying has no time for {missing[:5]}: it needs one for each page.")
            time = visits * weights_of(self.staying, self.nodes_, "staying")
            if not time.any():
                raise ValueError("staying is zero for every page that is visited: none has a score.")
        return {"scores_": time / np.sum(time), "visits_": visits}
