"""BrowseRank: page importance from the time that users spend at each page. Li ch. 21.

Liu, Gao, Liu, Zhang, Ma, He and Li, "BrowseRank: letting web users vote for page importance", 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath
from ..core.loop import Progress
from ..estimator.guarantees import KEEPS_LINKS
from ..estimator.parameters import Numbers
from .page_rank import Walks, weights_of


class BrowseRank(Walks):
    """BrowseRank: stationary distribution of a continuous-time Markov process of browsing.

    The frequency of visits to a page follows from the counted steps, as in PageRank. The mean time of a visit
    is a parameter. The score is their product, normalized to sum to one.

    Parameters
    ----------
    staying : mapping or array of shape (n_nodes,), default=None
        Mean staying time of a visit: by id, or one for each of `nodes_`. If None, equal for all pages.
    damping : float, default=0.85
        Probability that a user follows a link instead of restarting.
    restart : mapping or array of shape (n_nodes,), default=None
        Weight of each page as the first of a session. If None, uniform.
    dangling : {'restart', 'uniform', 'self', 'leak'}, default='restart'
        What happens at a page without outgoing links. See `PageRank`.
    tol : float, default=1e-8
        Tolerance of the l1 error of the visit probabilities.
    max_iter : int, default=1000
        Maximum number of iterations.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        Ids of the pages.
    scores_ : ndarray of shape (n_nodes,)
        Fraction of time spent at each page.
    visits_ : ndarray of shape (n_nodes,)
        Fraction of visits to each page.
    residual_ : float
        l1 norm of the change of `visits_` in the last iteration.
    error_bound_ : float
        Upper bound on the l1 error of `visits_`.
    trace_ : ndarray of shape (n_iter,)
        The error bound by iteration.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the error bound is below `tol`.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : Surfer
        The fitted model of the visits.
    statistics_ : LinkMass
        Mass that flowed along the links in the last pass.

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

    exempt = (KEEPS_LINKS,)

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
        checkpoint: MaybePath = None,
    ) -> None:
        self.staying = staying
        self.damping = damping
        self.restart = restart
        self.dangling = dangling
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _solve(self, data: Any) -> Progress:
        return self._walk(data, self.restart)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        visits = progress.model.score
        time = visits
        if self.staying is not None:
            if isinstance(self.staying, Mapping) and len(self.staying) < len(visits):
                missing = [node for node in self.nodes_.tolist() if node not in self.staying]
                raise ValueError(
                    f"staying has no time for {missing[:5]}, expected one for each page: pass a dict of all "
                    "nodes."
                )
            time = visits * weights_of(self.staying, self.nodes_, "staying")
            if not time.any():
                raise ValueError(
                    "staying is zero for every page that is visited, expected a positive time for some."
                )
        return {**super()._fitted(progress), "scores_": time / np.sum(time), "visits_": visits}
