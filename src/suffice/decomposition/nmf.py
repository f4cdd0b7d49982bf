"""Non-negative matrix factorization, X ≈ W H. Each pass updates the rows of W and sums the statistics of H.

Lee and Seung, "Algorithms for non-negative matrix factorization", 2001; Li ch. 17; Gong and Xu ch. 3.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Matrix, Rows, dense, entries_of, power_of_two, rows_beside
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.shapes import must_index
from ..core.statistics import Statistics
from ..core.threads import in_order
from ..estimator.answers import is_float32, row_wise
from ..estimator.base import Iterative, OwnRows, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, SHARE, StrOptions
from ..estimator.tags import tags
from ..fitting.em import SLACK
from ..fitting.linear_algebra import columns_apart, columns_together, times, transposed_times
from ..fitting.non_negative import RULES, Penalty, RowProblem, Rule
from ..inputs import map_rows, open_rows, read_rows, source_of
from .nmf_start import FirstLook, RowFactors, by_singular_axes, checked_factor, numbered, random_rows

# Rows whose products with a factor stay in the cache.
RUN_BYTES = 1 << 19
# Turns at most in which a row of W is found by itself; most need a few dozen.
SWEEPS = 2000
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)

Each = Callable[..., Iterable[Any]]


@dataclass(frozen=True, eq=False)
class FactorSums(RowFactors):
    """Updated rows of W, and the sums that determine the squared loss for any H."""

    weight: float
    square: float  # of all entries of X
    size: Annotated[np.ndarray, "(K,)"]  # W' 1
    gram: Annotated[np.ndarray, "(K, K)"]  # W'W
    cross: Annotated[np.ndarray, "(D, K)"]  # X'W
    steepness: float


@dataclass(frozen=True, eq=False)
class DivergenceSums(RowFactors):
    """Updated rows of W, their divergence from X, and the terms of the update of H."""

    weight: float
    loss: float
    size: Annotated[np.ndarray, "(K,)"]  # W' 1
    square: Annotated[np.ndarray, "(K,)"]  # of the columns of W
    cross: Annotated[np.ndarray, "(D, K)"]  # (X / W H)' W


@dataclass(frozen=True, eq=False)
class LossSum(Statistics):
    """Reconstruction error."""

    loss: float


@dataclass(frozen=True, eq=False)
class _Factors(Model):
    """X ≈ W H, both non-negative. The `y` of a block of X holds the indices of its rows of W."""

    W: Annotated[np.ndarray, "(N, K)"]
    H: Annotated[np.ndarray, "(K, D)"]
    rule: Rule
    of_W: Penalty
    of_H: Penalty
    order: Annotated[np.ndarray, "int (K,)"]  # in which coordinates take their turns
    least: float  # of what is divided by

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must_index(self.order, sizes["K"], "The turns of coordinates")

    @cached_property
    def Ht(self) -> np.ndarray:
        return np.ascontiguousarray(self.H.T)

    def rows_of(self, block: Rows) -> np.ndarray:
        at = block.y
        if len(at) and (at[1:] - at[:-1] == 1).all():
            return self.W[at[0] : at[-1] + 1]
        return self.W[at]

    def runs(self, block: Rows) -> tuple[Any, ...]:
        rows = power_of_two(RUN_BYTES / (8 * len(self.H)), 64)
        return tuple(block[part] for part in block.parts(rows))

    def penalties(self, size: np.ndarray, square: float) -> float:
        mine = self.of_W.of(float(size.sum()), square)
        return mine + self.of_H.of(float(self.H.sum()), float((self.H**2).sum()))

    def estimate(self, s: Any) -> Self:
        return self.improved(s)[0]

    @abstractmethod
    def improved(self, s: Any) -> tuple[Self, float]:
        """The model with the updated W and H, and the norm of the projected gradient."""

    @abstractmethod
    def objective(self, s: Any) -> float:
        """The penalized loss with the new W and the old H."""

    @abstractmethod
    def loss(self, block: Rows) -> LossSum:
        """Reconstruction error of the rows."""

    @abstractmethod
    def solved(self, X: Matrix) -> np.ndarray:
        """The optimal rows of W for new rows, given H."""


@dataclass(frozen=True, eq=False)
class SquaredFactors(_Factors):
    """The loss is half the squared distance of X and W H."""

    threads_share_blocks: ClassVar[bool] = True

    @cached_property
    def HHt(self) -> np.ndarray:
        return self.H.dot(self.Ht)

    def summarize(self, block: Rows, each: Each = map) -> FactorSums:
        X, weight = block.X, block.weight
        updates = list(each(self._improve, self.runs(block)))
        W = np.concatenate([rows for rows, _ in updates]) if updates else np.zeros((0, len(self.H)))
        G = _weighed(W, weight)
        cross = each(partial(transposed_times, X), columns_apart(X, G))
        return FactorSums(
            W,
            float(weight.sum()),
            _squares(X, weight),
            G.sum(axis=0),
            W.T.dot(G),
            columns_together(cross),
            float(sum(steep for _, steep in updates)),
        )

    def _improve(self, run: Any) -> tuple[np.ndarray, float]:
        of = RowProblem(self.HHt, times(run.X, self.Ht), self.of_W, self.order, run.weight)
        return self.rule.improved(self.rows_of(run), of)

    def improved(self, s: FactorSums) -> tuple[Self, float]:
        def improve(part: slice) -> tuple[np.ndarray, float]:
            Ht = self.Ht[part]
            of = RowProblem(s.gram, s.cross[part], self.of_H, self.order, np.ones(len(Ht)))
            return self.rule.improved(Ht, of)

        D, step = len(self.Ht), power_of_two(RUN_BYTES / (8 * len(self.H)), 64)
        updates = list(in_order(improve, tuple(slice(a, a + step) for a in range(0, D, step))))
        H = np.concatenate([part for part, _ in updates]).T
        steep = s.steepness + sum(steep for _, steep in updates)
        return self.replace(W=s.factors, H=np.ascontiguousarray(H)), float(steep)

    def objective(self, s: FactorSums) -> float:
        near = s.square - 2.0 * float((s.cross * self.Ht).sum()) + float((s.gram * self.HHt).sum())
        return 0.5 * max(near, 0.0) + self.penalties(s.size, float(np.trace(s.gram)))

    def loss(self, block: Rows) -> LossSum:
        X, W = block.X, self.rows_of(block)
        if sp.issparse(X):
            G = W * block.weight[:, None]
            near = _squares(X, block.weight) - 2.0 * float((times(X, self.Ht) * G).sum())
            near += float((W.T.dot(G) * self.HHt).sum())
        else:
            near = float(block.weight.dot(((X - W.dot(self.H)) ** 2).sum(axis=1)))
        return LossSum(0.5 * near)

    def solved(self, X: Matrix) -> np.ndarray:
        from ..loops.factors import coordinate_sweeps

        W = np.zeros((X.shape[0], len(self.H)))
        gram = self.HHt + self.of_W.l2 * np.eye(len(self.H))
        cross = times(X, self.Ht) - self.of_W.l1
        coordinate_sweeps(W, gram, cross, self.order, np.ones(len(W)), 1e-10, SWEEPS)
        return W


@dataclass(frozen=True, eq=False)
class DivergenceFactors(_Factors):
    """The loss is the divergence of X from W H: the sum of x log(x / wh) - x + wh."""

    threads_share_blocks: ClassVar[bool] = True

    def summarize(self, block: Rows, each: Each = map) -> DivergenceSums:
        X, weight = block.X, block.weight
        runs = self.runs(block)
        updates = list(each(self._improve, runs))
        W = np.concatenate([rows for rows, _, _ in updates]) if updates else np.zeros((0, len(self.H)))
        R = _stacked([part for _, part, _ in updates], X)
        G = _weighed(W, weight)
        cross = each(partial(transposed_times, R), columns_apart(R, G))
        return DivergenceSums(
            W,
            float(weight.sum()),
            float(sum(part for _, _, part in updates)) + float(G.sum(axis=0).dot(self.H.sum(axis=1))),
            G.sum(axis=0),
            (G * W).sum(axis=0),
            columns_together(cross),
        )

    def _improve(self, run: Any) -> tuple[np.ndarray, Any, float]:
        """Updated rows of W, X / W H with them, and the divergence without the sum of W H."""
        W = self._updated(run.X, self.rows_of(run), 0.0, 1)
        return W, *self._ratio(run, W)

    def _updated(self, X: Matrix, W: np.ndarray, tol: float, most: int) -> np.ndarray:
        from ..loops.factors import divergence_updates

        size = self.H.sum(axis=1)
        if sp.issparse(X):
            W = W.copy()
            divergence_updates(
                *entries_of(X), self.Ht, size, self.of_W.l1, self.of_W.l2, self.least, tol, most, W
            )
            return W
        R = W.dot(self.H)
        np.maximum(R, self.least, out=R)
        np.divide(X, R, out=R)
        below = size + self.of_W.l1 + self.of_W.l2 * W
        return W * np.divide(R.dot(self.Ht), below, out=np.zeros_like(W), where=below > 0)

    def _ratio(self, run: Any, W: np.ndarray) -> tuple[Any, float]:
        from ..loops.factors import ratios

        X = run.X
        if sp.issparse(X):
            ratio = np.empty(len(X.data))
            loss = ratios(*entries_of(X), self.Ht, W, self.least, run.weight, ratio)
            return sp.csr_array((ratio, X.indices, X.indptr), X.shape), loss
        R = W.dot(self.H)
        np.maximum(R, self.least, out=R)
        np.divide(X, R, out=R)
        log = np.log(R, out=np.zeros_like(R), where=R > 0)
        log -= 1.0
        return R, float(run.weight.dot(np.einsum("nd,nd->n", X, log)))

    def improved(self, s: DivergenceSums) -> tuple[Self, float]:
        below = s.size + self.of_H.l1 + self.of_H.l2 * self.Ht
        Ht = self.Ht * np.divide(s.cross, below, out=np.zeros_like(s.cross), where=below > 0)
        return self.replace(W=s.factors, H=np.ascontiguousarray(Ht.T)), 0.0

    def objective(self, s: DivergenceSums) -> float:
        return s.loss + self.penalties(s.size, float(s.square.sum()))

    def loss(self, block: Rows) -> LossSum:
        W = self.rows_of(block)
        total = float((W * block.weight[:, None]).sum(axis=0).dot(self.H.sum(axis=1)))
        return LossSum(self._ratio(block, W)[1] + total)

    def solved(self, X: Matrix) -> np.ndarray:
        X = sp.csr_array(X)
        size = float(self.H.sum()) or 1.0
        W = np.repeat((X.sum(axis=1) / size)[:, None], len(self.H), axis=1)
        return self._updated(X, W, 1e-9, SWEEPS)


@dataclass(frozen=True, eq=False)
class BetaSums(RowFactors):
    """Updated rows of W, their divergence from X, and the two parts of the update of H."""

    weight: float
    loss: float
    size: Annotated[np.ndarray, "(K,)"]  # W' 1
    square: Annotated[np.ndarray, "(K,)"]  # of the columns of W
    above: Annotated[np.ndarray, "(D, K)"]  # (X (W H)^(beta - 2))' W
    below: Annotated[np.ndarray, "(D, K)"]  # ((W H)^(beta - 1))' W


@dataclass(frozen=True, eq=False)
class BetaFactors(_Factors):
    """The loss is the beta divergence of X from W H. Févotte and Idier 2011, section 4.

    The powers of W H are dense, so CSR rows are made dense, a run at a time.
    """

    threads_share_blocks: ClassVar[bool] = True
    beta: float = 0.0

    @property
    def exponent(self) -> float:
        """The exponent of an update under which the divergence does not rise."""
        return 1.0 / (2.0 - self.beta) if self.beta < 1 else 1.0 / (self.beta - 1.0) if self.beta > 2 else 1.0

    def summarize(self, block: Rows, each: Each = map) -> BetaSums:
        K, D = self.H.shape
        W, above, below, loss = [np.zeros((0, K))], np.zeros((D, K)), np.zeros((D, K)), 0.0
        for rows, run_above, run_below, run_loss in each(self._improve, self.runs(block)):
            W.append(rows)
            above += run_above
            below += run_below
            loss += run_loss
        factors = np.concatenate(W)
        G = _weighed(factors, block.weight)
        size, square = G.sum(axis=0), (G * factors).sum(axis=0)
        return BetaSums(factors, float(block.weight.sum()), loss, size, square, above, below)

    def _improve(self, run: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        X = dense(run.X)
        W = self._updated(X, self.rows_of(run))
        P, G = self._product(W), _weighed(W, run.weight)
        above, below = (X * P ** (self.beta - 2.0)).T.dot(G), (P ** (self.beta - 1.0)).T.dot(G)
        return W, above, below, self._divergence(X, P, run.weight)

    def _product(self, W: np.ndarray) -> np.ndarray:
        return np.maximum(W.dot(self.H), self.least)

    def _updated(self, X: np.ndarray, W: np.ndarray) -> np.ndarray:
        P = self._product(W)
        above = (X * P ** (self.beta - 2.0)).dot(self.Ht)
        below = (P ** (self.beta - 1.0)).dot(self.Ht) + self.of_W.l1 + self.of_W.l2 * W
        return self._step(W, above, below)

    def _step(self, F: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        F = F * np.divide(above, below, out=np.zeros_like(F), where=below > 0) ** self.exponent
        # Powers of products that are next to nothing overflow.
        return np.where(F < EPS, 0.0, F) if self.beta < 1 else F

    def _divergence(self, X: np.ndarray, P: np.ndarray, weight: np.ndarray) -> float:
        b = self.beta
        if b == 0.0:
            ratio = X / P
            each = ratio - np.log(ratio) - 1.0
        else:
            each = (X**b - b * X * P ** (b - 1.0) + (b - 1.0) * P**b) / (b * (b - 1.0))
        return float(weight.dot(each.sum(axis=1)))

    def improved(self, s: BetaSums) -> tuple[Self, float]:
        below = s.below + self.of_H.l1 + self.of_H.l2 * self.Ht
        Ht = self._step(self.Ht, s.above, below)
        return self.replace(W=s.factors, H=np.ascontiguousarray(Ht.T)), 0.0

    def objective(self, s: BetaSums) -> float:
        return s.loss + self.penalties(s.size, float(s.square.sum()))

    def loss(self, block: Rows) -> LossSum:
        W = self.rows_of(block)
        return LossSum(self._divergence(dense(block.X), self._product(W), block.weight))

    def solved(self, X: Matrix) -> np.ndarray:
        X = dense(X)
        size = float(self.H.sum()) or 1.0
        W = np.repeat((X.sum(axis=1) / size)[:, None], len(self.H), axis=1)
        left = np.arange(len(W))  # a row stops by itself: its answer does not depend on the rows beside it
        for _ in range(SWEEPS):
            if not len(left):
                break
            before, W[left] = W[left], self._updated(X[left], W[left])
            change = np.abs(W[left] - before).max(axis=1)
            left = left[change > 1e-9 * W[left].max(axis=1)]
        return W


def _zeros(block: Rows) -> np.ndarray:
    """The number of zero entries of the rows."""
    X = block.X
    entries = X.data if sp.issparse(X) else X
    return np.array([X.shape[0] * X.shape[1] - np.count_nonzero(entries)], dtype=np.float64)


def _weighed(W: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return W if (weight == 1.0).all() else W * weight[:, None]


def _squares(X: Any, weight: np.ndarray) -> float:
    if (weight == 1.0).all():
        entries = X.data if sp.issparse(X) else X.ravel()
        return float(entries.dot(entries))
    if sp.issparse(X):
        return float((X.data**2).dot(np.repeat(weight, np.diff(X.indptr))))
    return float(weight.dot(np.einsum("nd,nd->n", X, X)))


def _stacked(parts: list[Any], X: Any) -> Any:
    """Concatenate the runs of a block, dense or CSR as the block."""
    if not parts:
        return X
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(X):
        return sp.csr_array((np.concatenate([part.data for part in parts]), X.indices, X.indptr), X.shape)
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Alternation(Progress):
    """State of the alternating updates of W and H."""

    first: float = 0.0  # the projected gradient of the first iteration; with 'mu' the initial loss
    reconstruction_err_: float | None = None


LOSSES: dict[float, Callable[..., _Factors]] = {
    2.0: SquaredFactors,
    1.0: DivergenceFactors,
}  # else BetaFactors
BETA = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


class NMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Non-negative matrix factorization (NMF): X is approximated by W H, all non-negative.

    Each iteration is one pass over the data, which updates the rows of W and sums the statistics that update
    H. X may be larger than memory; W, with n_components numbers per row, is kept in memory.

    Parameters
    ----------
    n_components : int, 'auto' or None, default='auto'
        Number of components. 'auto' and None are that of the initial `H`, or else the number of features.
    init : str or None, default=None
        Initialization: 'random', 'nndsvd', 'nndsvda', 'nndsvdar', or 'custom' for the `W` and `H` passed to
        `fit`. 'nndsvd' is non-negative double singular value decomposition; 'nndsvda' replaces its zeros with
        the mean of X, 'nndsvdar' with small random numbers. None is 'nndsvda', or 'random' for more
        components than rows or features.
    solver : str, default='cd'
        'cd' is coordinate descent, 'mu' multiplicative update, 'gradient' projected gradient descent,
        'conjugate-gradient' conjugate gradients on the positive entries.
    beta_loss : float or str, default='frobenius'
        'frobenius' or 2: half the squared Frobenius norm of X - W H. 'kullback-leibler' or 1: the divergence
        of X from W H. 'itakura-saito' or 0, and any other number: the beta divergence. All but 'frobenius'
        are for solver 'mu'. X must not contain zeros if it is 0 or less.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the projected gradient, relative to that of the first iteration.
        With 'mu': the decrease of the root of the loss over ten iterations, relative to its initial value.
    max_iter : int, default=200
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed for the initialization and the order of the coordinates.
    alpha_W : float, default=0.0
        Strength of the penalty on W, multiplied by n_features.
    alpha_H : float or 'same', default='same'
        Strength of the penalty on H, multiplied by n_samples (the total weight). 'same' is `alpha_W`.
    l1_ratio : float, default=0.0
        Share of the l1 penalty, between 0 and 1. The rest is the l2 penalty.
    verbose : int, default=0
        Whether to print the error of each iteration.
    shuffle : bool, default=False
        Whether 'cd' updates the coordinates in random order.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H.
    n_components_ : int
        Number of components.
    reconstruction_err_ : float
        Square root of twice the loss. For 'frobenius', the norm of X - W H.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        The penalized loss of each iteration, with the new W and before H changes.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : SquaredFactors, DivergenceFactors or BetaFactors
        The fitted model: W and H.
    statistics_ : FactorSums, DivergenceSums or BetaSums
        The sums of the last pass.

    See Also
    --------
    TruncatedSVD : Orthogonal components with entries of any sign.
    BilinearNMF : Rows of any sign, and kernels.
    suffice.topics.ProbabilisticLatentSemanticAnalysis : The factors of the divergence, as probabilities.

    Notes
    -----
    The factors are a local minimum of one of the losses

    .. math::

        \\frac{1}{2} ‖X - W H‖_F^2, \\qquad ∑_{nd} x_{nd} \\log \\frac{x_{nd}}{(W H)_{nd}} - x_{nd} + (W
        H)_{nd},

    plus the penalties. Each iteration is one pass over the data.

    References
    ----------
    * Lee and Seung (2001), "Algorithms for non-negative matrix factorization", NIPS 13.
    * Févotte and Idier (2011), "Algorithms for nonnegative matrix factorization with the beta-divergence",
      Neural Computation 23.
    * Cichocki and Phan (2009), "Fast local algorithms for large scale nonnegative matrix and tensor
      factorizations", IEICE Transactions on Fundamentals E92-A.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import NMF
    >>> X = np.array([[5, 4, 0, 1], [4, 5, 1, 0], [0, 1, 5, 4], [1, 0, 4, 5]])
    >>> nmf = NMF(2, random_state=0)
    >>> W = nmf.fit_transform(X)
    >>> W.argmax(axis=1)
    array([1, 1, 0, 0])
    >>> round(nmf.reconstruction_err_, 6)
    2.0
    """

    exempt = (
        Exempt("memory", "The factors of the rows are part of the answer."),
        Exempt("optimum", "Its objective has many optima."),
    )

    model_: Annotated[_Factors, "D"]
    max_iter_advice = "Maximum number of iterations {} reached. Increase it to improve convergence."
    preserves_dtype = ("components_", "transform")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1, StrOptions({"auto"}), None],
        "init": [StrOptions({"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}), None],
        "solver": [StrOptions(set(RULES))],
        "beta_loss": [StrOptions({"frobenius", "kullback-leibler", "itakura-saito"}), Real],
        "alpha_W": [NON_NEGATIVE],
        "alpha_H": [NON_NEGATIVE, StrOptions({"same"})],
        "l1_ratio": [SHARE],
    }
    __sklearn_tags__ = tags(positive_only=True, sparse=True)

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        init: str | None = None,
        solver: str = "cd",
        beta_loss: str | float = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Seed = None,
        alpha_W: float = 0.0,
        alpha_H: Any = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.checkpoint = checkpoint

    def fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, W: Any = None, H: Any = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array, CSR, table, Parquet scan or distributed data set
            The rows. To name the column of weights in a table, see `suffice.rows`.
        y : None
            Ignored.
        W : array of shape (n_samples, n_components), optional
            Initial W, if ``init='custom'``.
        H : array of shape (n_components, n_features), optional
            Initial H, if ``init='custom'``.
        sample_weight : array, optional
            Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

        Returns
        -------
        self
        """
        for factor, name in ((W, "W"), (H, "H")):
            kind = getattr(factor, "dtype", None)
            differs = kind in (np.float32, np.float64) and (kind == np.float32) != is_float32(X)
            if self.init == "custom" and differs and source_of(X).in_memory:
                raise TypeError(f"{name} should have the same dtype as X. Got {name}.dtype = {kind}.")
        if W is not None and sample_weight is not None:
            weight = np.asarray(sample_weight)
            if np.shape(W)[:1] == weight.shape:
                W = np.asarray(W)[weight > 0]
        return self._fit_to(X, H, sample_weight, W=W, H=H)

    def _check_options(self) -> None:
        self._beta()
        if self.solver == "mu" and self.init == "nndsvd":
            warn(
                "The multiplicative update ('mu') solver cannot update the zeros of init='nndsvd': use "
                "'nndsvda'.",
                UserWarning,
            )

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        """The rows; `y` is the initial H, or None."""
        K = self._count(y)
        return open_rows(
            self,
            X,
            None,
            sample_weight,
            block_rows=lambda block: rows_beside(block, 8.0 * K * block.X.shape[1]),
        )

    def _solve(self, data: Partitions, W: Any = None, H: Any = None) -> Progress:
        beta, D = self._beta(), self.n_features_in_
        K = self._count(H) or D
        look = data.fold(FirstLook.of)
        must_have_rows(look.weight)
        if beta <= 0 and data.fold(_zeros)[0]:
            raise ValueError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values "
                "to X, or use a positive beta_loss."
            )
        N, mean = int(look.rows.sum()), look.total / look.weight / D
        afford(4 * N * K, f"the {K} numbers that NMF keeps of each of {N} rows", "use fewer components.")
        data = data.map(numbered, look.number, np.cumsum(look.rows) - look.rows)
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max)) if self.shuffle else 0
        W, H = self._start(data, look, K, mean, W, H, random)
        start = LOSSES.get(beta, partial(BetaFactors, beta=beta))(
            W, H, RULES[self.solver](), *self._penalties(look.weight), np.arange(K), max(1e-16 * mean, TINY)
        )
        progress = self._alternate(data, start, seed)
        error = data.fold(type(start).loss, progress.model).loss
        return progress.replace(reconstruction_err_=float(np.sqrt(2.0 * max(error, 0.0))))

    def _alternate(self, data: Partitions, start: Any, seed: int) -> Progress:
        K = len(start.H)

        def step(state: Alternation) -> Alternation:
            model = state.model
            if self.shuffle:
                model = model.replace(order=generator(Purpose.ORDER, seed, state.n_iter).permutation(K))
            s = data.fold(type(model).summarize, model)
            model, steep = model.improved(s)
            if not np.isfinite(steep):
                raise ValueError(
                    "The gradient of the loss overflows, because entries of X, or of the initial W and "
                    "H, are too large: divide X by its scale, e.g. X / X.max()."
                )
            trace = (*state.trace, state.model.objective(s))
            if len(trace) > 1 and trace[-1] - trace[-2] > SLACK * max(1.0, abs(trace[-1])):
                return state.replace(trace=trace, statistics=s, stopped_because="objective worsened")
            first = state.first or steep
            return Alternation(model, trace, s, self._finished(trace, steep, first), first)

        def report(state: Progress) -> None:
            print(f"Epoch {state.n_iter:02d} reached, error: {np.sqrt(2.0 * max(state.trace[-1], 0.0)):.6f}")

        watch = Watch(self, self.checkpoint, data, report=report if self.verbose else None)
        watch = watch.limited(self.max_iter)
        first = data.fold(type(start).loss, start).loss if self.solver == "mu" else 0.0
        return watch.loop(step, Alternation(start, first=first))

    def _finished(self, trace: tuple[float, ...], steep: float, first: float) -> str:
        if self.solver != "mu":
            settled = steep <= self.tol * first
        elif len(trace) > 10 and len(trace) % 10 == 1:
            at_first, before, now = np.sqrt(np.maximum([first, trace[-11], trace[-1]], 0.0))
            settled = bool(before - now <= self.tol * at_first)
        else:
            settled = False
        return "tolerance" if settled else ""

    def _beta(self) -> float:
        beta = BETA[self.beta_loss] if isinstance(self.beta_loss, str) else float(self.beta_loss)
        if beta != 2.0 and self.solver != "mu":
            raise ValueError(
                f"Invalid beta_loss parameter: solver {self.solver!r} does not handle beta_loss = "
                f"{self.beta_loss!r}: use solver='mu'."
            )
        return beta

    def _count(self, H: Any) -> int:
        """The number of components, given the initial H or None. Zero stands for the number of features."""
        if self.n_components not in ("auto", None):
            return int(self.n_components)
        if self.init == "custom" and H is not None:
            return len(H)
        return 0

    def _penalties(self, weight: float) -> tuple[Penalty, Penalty]:
        of_W = self.n_features_in_ * self.alpha_W
        of_H = weight * (self.alpha_W if self.alpha_H == "same" else self.alpha_H)
        return tuple(Penalty(self.l1_ratio * a, (1.0 - self.l1_ratio) * a) for a in (of_W, of_H))  # type: ignore[return-value]

    def _start(
        self,
        data: Partitions,
        look: FirstLook,
        K: int,
        mean: float,
        W: Any,
        H: Any,
        random: np.random.RandomState,
    ) -> tuple[np.ndarray, np.ndarray]:
        N, D = int(look.rows.sum()), self.n_features_in_
        if self.init == "custom":
            if W is None or H is None:
                raise ValueError("init='custom' requires initial factors: call fit(X, W=..., H=...).")
            return checked_factor(W, (N, K), "W"), checked_factor(H, (K, D), "H")
        if W is not None or H is not None:
            raise ValueError(f"W and H are used only with init='custom', but init={self.init!r}.")
        if self.init != "random" and self.init is not None and min(N, D) < K:
            raise ValueError(
                f"init = {self.init!r} can only be used when n_components <= min(n_samples, n_features), but "
                f"n_components={K}, n_samples={N}, n_features={D}."
            )
        if self.init == "random" or min(N, D) < K:
            scale = np.sqrt(mean / K)
            H = scale * np.abs(random.standard_normal((K, D)))
            seed = int(random.randint(np.iinfo(np.int32).max))
            return data.fold(random_rows, K, scale, seed).factors, H
        return by_singular_axes(data, look.weight, D, K, mean, self.init or "nndsvda", random)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"components_": progress.model.H, "n_components_": len(progress.model.H)}

    def fit_transform(
        self, X: Any, y: MaybeArray = None, W: Any = None, H: Any = None, sample_weight: MaybeArray = None
    ) -> np.ndarray:
        """Fit, then return W: that of the fit if the rows are in memory, else as in `transform`."""
        self.fit(X, W=W, H=H, sample_weight=sample_weight)
        rows = OwnRows.of(X, None, sample_weight)
        return self.model_.W if rows is not None and rows.unweighted else self.transform(X)

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """The optimal row of W for each row, given H.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: self.model_.solved(rows), X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map rows of W back to rows of X: the product W H."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
