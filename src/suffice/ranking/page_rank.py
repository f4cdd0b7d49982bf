"""PageRank: the stationary distribution of a random surfer on a graph. Li ch. 21.

Brin and Page, "The anatomy of a large-scale hypertextual web search engine", 1998; Haveliwala,
"Topic-sensitive PageRank", 2002; Langville and Meyer, "Deeper inside PageRank", 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, bicgstab, splu
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.shapes import must_index
from ..estimator.base import Iterative
from ..estimator.guarantees import KEEPS_LINKS
from ..estimator.parameters import SHARE, Numbers, StrOptions
from ..estimator.tags import tags
from ..inputs import in_memory, open_edges
from .convergence import must_converge
from .flow import FARTHEST, LinkMass, Walk, along
from .links import Graph, Links, number_nodes, read_graph
from .sharded import best_in_shards, is_too_large, rank_in_shards

# Number of nodes up to which the equations are solved directly: the factors of more may fill the memory.
DIRECT = 2000
ROUNDING = 1e-15  # rounding error of the scores, relative to their sum


@dataclass(frozen=True, eq=False)
class Surfer(Model):
    """x = d (M x + dangling mass) + (1 - d) v.

    With probability d the surfer follows a link, where M_ts = weight of s -> t / weight of all links of s.
    Otherwise the surfer restarts at a node drawn from v. At a dangling node the surfer goes to a node drawn
    from `refuge`, stays, or is lost.
    """

    threads_share_blocks: ClassVar[bool] = True
    score: Annotated[np.ndarray, "(n,)"]  # x
    share: Annotated[np.ndarray, "(n,)"]  # one over the weight of the links of a node; zero without links
    damping: float  # d
    restart: Annotated[Any, "number or real (n,)"]  # v
    stranded: Annotated[np.ndarray, "int (S,)"]  # nodes without links
    refuge: Annotated[Any, "number or real (n,) or None"]  # None if there is none
    stays: bool = False
    power: bool = False  # whether the sum of x is kept at one, as the power method does

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must_index(self.stranded, sizes["n"], "The nodes without links")

    @cached_property
    def sent(self) -> np.ndarray:
        """Mass that each node sends along a link of weight one."""
        return self.score * self.share

    def summarize(self, links: Links, each: Any = map) -> LinkMass:
        return along(links, self.sent, each)

    def estimate(self, s: LinkMass) -> Self:
        d, x = self.damping, self.score
        new = d * s.values
        if self.stays:
            new[self.stranded] += d * x[self.stranded]
        elif self.refuge is not None:
            new += (d * x[self.stranded].sum()) * self.refuge
        new += ((1.0 - d) * (x.sum() if self.power else 1.0)) * self.restart
        if self.power:
            new /= new.sum()
        return self.replace(score=new)


DANGLING = ("restart", "uniform", "self", "leak")
ALGORITHMS = ("iterative", "power", "algebraic")


def error_within(change: float, factor: float) -> float:
    """Bound on the distance from the fixed point after a step of this size, if steps contract by the
    factor."""
    if factor < 1.0:
        return float(np.minimum(FARTHEST, factor / (1.0 - factor) * change))
    return change if change <= ROUNDING or np.isnan(change) else FARTHEST


class LinkEstimator(Iterative):
    """Base class of estimators that are fitted to links."""

    takes: ClassVar[str] = "edges"
    __sklearn_tags__ = tags(two_d_array=False, string=True)

    def fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Compute the scores of the nodes of a graph.

        Parameters
        ----------
        X : pair of arrays, table, sparse matrix or graph
            The links: a pair of arrays ``(source, target)`` of ids, which are integers or strings; a table
            described by `suffice.edges`; a sparse matrix whose entry (i, j) is the weight of the link from i
            to j; or a networkx graph. Weights of repeated links add up.
        y : None
            Ignored.
        sample_weight : array, optional
            Per-link weights, if `X` is a pair of arrays. A weight of 2 is equivalent to repeating the link; 0
            drops it.

        Returns
        -------
        self
        """
        return self._fit_to(X, None, sample_weight)

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """The graph of the links."""
        graph = read_graph(*open_edges(self, X, sample_weight))
        self.nodes_ = graph.nodes
        return graph


class Walks(LinkEstimator):
    """Base class of random surfer scores: the iterations."""

    model_: Surfer
    damping: float
    dangling: str
    tol: float
    max_iter: int
    checkpoint: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "damping": [SHARE],
        "dangling": [StrOptions(set(DANGLING))],
    }

    def _walk(
        self,
        graph: Graph,
        restart: Any,
        start: Any = None,
        algorithm: str = "iterative",
        watch: Watch | None = None,
    ) -> Walk:
        """The walk from the start; by default with the callbacks and the checkpoint of the fit."""
        model = self._surfer(graph, restart, start).replace(power=algorithm == "power")
        if self.damping == 1.0:
            if algorithm == "algebraic":
                raise ValueError(
                    "With damping=1.0 the equations have no unique solution: use algorithm='iterative'."
                )
            must_converge(graph, model)
        data = in_memory(graph.links)
        watch = watch or Watch(self, self.checkpoint, data, self.max_iter)
        jump = self._solver(data, graph, model) if algorithm == "algebraic" else None

        def step(walk: Walk) -> Walk:
            model = walk.model if jump is None else jump(walk.model)
            s = data.fold(Surfer.summarize, model)
            new = model.estimate(s)
            change = float(np.abs(new.score - model.score).sum())
            return self._bounded(walk, new, s, change)

        return watch.loop(step, Walk(model))

    def _bounded(self, walk: Walk, model: Surfer, s: LinkMass | None, change: float) -> Walk:
        """The next state, with its error bound."""
        rate, d = change / walk.change if walk.change else 0.0, self.damping
        if d == 1.0 or (self.dangling == "leak" and getattr(model, "power", False)):
            d = max(rate, walk.rate)
        bound = error_within(change, d)
        reason = "tolerance" if bound < self.tol else ""
        return Walk(model, (*walk.trace, bound), s, reason, change, rate)

    def _surfer(self, graph: Graph, restart: Any, start: Any) -> Surfer:
        n, stranded = len(graph), np.flatnonzero(graph.out == 0)
        restart = 1.0 / n if restart is None else weights_of(restart, graph.nodes, "restart")
        refuge = {"restart": restart, "uniform": 1.0 / n}.get(self.dangling)
        begin = np.full(n, restart) if np.ndim(restart) == 0 else restart
        start = begin if start is None else weights_of(start, graph.nodes, "start")
        with np.errstate(divide="ignore"):
            share = np.where(graph.out > 0, 1.0 / graph.out, 0.0)
        return Surfer(start, share, float(self.damping), restart, stranded, refuge, self.dangling == "self")

    def _solver(self, data: Partitions, graph: Graph, model: Surfer) -> Any:
        """The fixed point x = F(x), from the current scores, where F(x) = B x + F(0)."""
        n = len(graph)
        none = model.replace(score=np.zeros(n))
        constant = none.estimate(data.fold(Surfer.summarize, none)).score

        def linear(x: np.ndarray) -> np.ndarray:
            at = model.replace(score=x)
            return x - (at.estimate(data.fold(Surfer.summarize, at)).score - constant)

        if n <= DIRECT:
            d = model.damping
            M = graph.links.matrix(n) @ sp.diags_array(model.share)
            if model.stays:
                M = M + sp.diags_array((model.share == 0).astype(np.float64))
            solve = splu((sp.eye_array(n) - d * M).tocsc()).solve
            x = solve(constant)
            if model.refuge is not None and len(model.stranded):  # what is stranded adds a column of rank one
                more = solve(np.full(n, d) * model.refuge)
                x = x + more * (x[model.stranded].sum() / (1.0 - more[model.stranded].sum()))
            return lambda model: model.replace(score=x)

        def krylov(model: Surfer) -> Surfer:
            # The sum of absolute values is at most sqrt(n) times the Euclidean length.
            enough = self.tol * (1.0 - model.damping) / np.sqrt(n)
            x, _ = bicgstab(LinearOperator((n, n), linear), constant, model.score, rtol=0.0, atol=enough)
            return model.replace(score=x)

        return krylov

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        assert isinstance(progress, Walk)
        return {
            "scores_": getattr(
                progress.model, "score", progress.model
            ),  # in shards, the scores are the model
            "residual_": progress.change,
            "error_bound_": progress.trace[-1],
        }

    def rank(self, n: int | None = None) -> np.ndarray:
        """Ids of the nodes by decreasing score; the first n unless it is None."""
        check_is_fitted(self)
        if not isinstance(self.scores_, np.ndarray):
            return best_in_shards(self.scores_, self._known, self.nodes_, n)
        return self.nodes_[np.argsort(-self.scores_, kind="stable")[:n]]


class PageRank(Walks):
    """PageRank: the stationary distribution of a random surfer on a graph.

    Parameters
    ----------
    damping : float, default=0.85
        Damping factor: the probability that the surfer follows a link. Otherwise the surfer restarts. 1.0 is
        the basic definition without restarts, which requires a graph whose random walk converges.
    restart : mapping or array of shape (n_nodes,), default=None
        Restart distribution: weights by id, or one for each of `nodes_`. If None, uniform. Other weights give
        personalized or topic-sensitive PageRank.
    dangling : {'restart', 'uniform', 'self', 'leak'}, default='restart'
        What the surfer does at a dangling node, which has no outgoing links: restart, go to a node uniformly
        at random, stay, or get lost ('leak'), so that the scores sum to less than one.
    algorithm : {'iterative', 'power', 'algebraic'}, default='iterative'
        'iterative' is fixed-point iteration. 'power' is the power method, which normalizes the scores; it
        differs only with ``dangling="leak"``. 'algebraic' solves the linear system, by a sparse factorization
        if there are few nodes and by a Krylov method otherwise: for a damping near 1 it needs fewer passes.
    start : mapping or array of shape (n_nodes,), default=None
        Initial scores, e.g. those of an earlier fit. If None, the restart distribution.
    tol : float, default=1e-8
        Tolerance of the l1 error of the scores, for any number of nodes.
    max_iter : int, default=1000
        Maximum number of iterations.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes,)
        Ids of the nodes, sorted. For a networkx graph, in its order.
    scores_ : ndarray of shape (n_nodes,)
        Scores of the nodes, which sum to one. For a graph too large for this machine they stay in shards.
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
    TrustRank : Restarts at trusted nodes.
    HITS : Hubs and authorities.
    BrowseRank : Visits and their duration.

    Notes
    -----
    A step is a contraction by the factor d. So the error after a step is at most d / (1 - d) times its
    change, and `tol` is compared with this bound. Without damping (d = 1), or for 'power' with
    ``dangling="leak"``, the factor is estimated from the last steps, and so is the bound.

    A tolerance per node, as in other libraries, is met by any scores if there are many nodes.

    The sum over the links to a node has one order, that of the data. So the scores are the same to the bit
    for arrays, Parquet and Ray, and for any number of threads, blocks or workers.

    With the transition matrix M of the links, damping d and restart distribution v, the scores r solve

    .. math::

        r = d M r + (1 - d) v.

    References
    ----------
    * Brin and Page (1998), "The anatomy of a large-scale hypertextual web search engine", Computer Networks
      and ISDN Systems 30.
    * Haveliwala (2002), "Topic-sensitive PageRank", WWW.
    * Langville and Meyer (2004), "Deeper inside PageRank", Internet Mathematics 1.

    Examples
    --------
    >>> from suffice.ranking import PageRank
    >>> links = ["a", "a", "b", "c"], ["b", "c", "c", "a"]
    >>> rank = PageRank().fit(links)
    >>> rank.scores_.round(4)
    array([0.3878, 0.2148, 0.3974])
    >>> rank.rank(2)
    array(['c', 'a'], dtype=object)
    """

    exempt = (KEEPS_LINKS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Walks._parameter_constraints,
        "restart": [Mapping, Numbers(0), None],
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "start": [Mapping, Numbers(0), None],
    }

    def __init__(
        self,
        damping: float = 0.85,
        *,
        restart: Any = None,
        dangling: str = "restart",
        algorithm: str = "iterative",
        start: Any = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        checkpoint: MaybePath = None,
    ) -> None:
        self.damping = damping
        self.restart = restart
        self.dangling = dangling
        self.algorithm = algorithm
        self.start = start
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """The graph of the links, or the links with the numbers of their nodes if the graph is too large."""
        data, nodes = open_edges(self, X, sample_weight)
        numbered = number_nodes(data, nodes)
        if nodes is None and is_too_large(*numbered):
            return data, *numbered
        graph = read_graph(data, nodes, numbered)
        self.nodes_ = graph.nodes
        return graph

    def _solve(self, data: Any) -> Progress:
        if isinstance(data, Graph):
            return self._walk(data, self.restart, self.start, self.algorithm)
        return rank_in_shards(self, *data)


def weights_of(values: Any, nodes: np.ndarray, name: str) -> np.ndarray:
    """Weights of nodes, normalized to sum to one, from a mapping by id or an array."""
    n = len(nodes)
    if isinstance(values, Mapping):
        weight = np.zeros(n)
        weight[places(list(values), nodes, name)] = list(values.values())
    else:
        weight = np.asarray(values, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(
            f"{name} has shape {weight.shape}, and there are {n} nodes: pass one weight for each of nodes_, "
            "or a mapping from ids to weights."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(f"{name} must hold weights that are not negative, and not all zero.")
    return weight / weight.sum()


def places(ids: list[Any], nodes: np.ndarray, name: str) -> np.ndarray:
    """The indices of nodes, by their ids."""
    wanted = set(ids)
    place = {node: n for n, node in enumerate(nodes.tolist()) if node in wanted}
    if missing := [node for node in ids if node not in place]:
        raise ValueError(f"{name} has ids {missing[:5]}, which are not nodes of the graph.")
    return np.array([place[node] for node in ids], dtype=np.int64)
