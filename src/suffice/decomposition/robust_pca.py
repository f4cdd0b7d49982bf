"""Robust PCA: rows are a low-rank part plus a sparse part (principal component pursuit).

Candès, Li, Ma and Wright, "Robust principal component analysis?", 2011; Eckstein and Bertsekas, "On the
Douglas-Rachford splitting method and the proximal point algorithm for maximal monotone operators", 1992; Li
ch. 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath
from ..core.blocks import Rows, rows_beside
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics, tree_sum
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import OF_LENGTHS
from ..estimator.parameters import POSITIVE
from ..estimator.tags import tags
from ..fitting.linear_algebra import gram, signs
from ..fitting.resident import Resident
from ..inputs import map_rows, read_rows

RELAXATION = 1.7  # relaxation of the splitting, between 0 and 2; 1 takes 1.5 times as many iterations
# The penalty, times sqrt(max(N, D)) and the mean magnitude of entries: in a step, entries move by a fifth of
# that mean, for any number of rows.
PENALTY = 5.0
# Duality gap of a new row, relative to the objective of a sparse row with magnitudes as in the fit.
ROW_TOL = 1e-5
ROW_STEPS = 1000  # maximum number of steps for a new row


@dataclass(frozen=True, eq=False)
class PursuitSums(Statistics):
    """Products of features after a step, and the two objectives before it."""

    weight: float
    gram: Annotated[np.ndarray, "(D, D)"]  # A'A of the next A
    multiplier_gram: Annotated[np.ndarray, "(D, D)"]  # C'C
    loss: float  # ‖X - L‖_1
    product: float  # of C and X


@dataclass(frozen=True, eq=False)
class SplitRows(Rows):
    """A block after a step, with its rows of A. It carries the sums of the step, since a fold after the
    step would have to recompute the parts of the rows. It is not divided into pieces, as the sums are
    those of the block."""

    A: Annotated[Any, "(N, D)"] = None
    sums: Any = None

    def piece(self, start: int, stop: int, number: int) -> SplitRows:
        return self if stop > start else self.replace(X=self.X[:0], weight=None, A=None, sums=0.0 * self.sums)

    def pieces(self, statistic_bytes: int) -> Iterator[SplitRows]:
        yield self

    @property
    def is_one_piece(self) -> bool:
        return True


class Parts(NamedTuple):
    """Parts of rows X after a step: the low-rank part L and its scores, U = A - L, and the multipliers C."""

    scores: np.ndarray  # (N, K)
    L: np.ndarray
    U: np.ndarray
    C: np.ndarray  # |C| <= alpha / penalty; 0 where X is missing
    X: np.ndarray  # equal to L where X is missing


@dataclass(frozen=True, eq=False)
class Pursuit(Model):
    """min ‖L‖_* + alpha ‖X - L‖_1 by Douglas-Rachford splitting.

    Each row keeps its row of A; the `y` of a block of X is its A. L is A with its singular values shrunk by
    1 / penalty: A V f(Σ) V', with V and Σ from A'A, the sum over the rows.
    """

    axes: Annotated[np.ndarray, "(M, D)"]  # V', the right singular vectors of L
    value: Annotated[np.ndarray, "(M,)"]  # the singular values of L, descending
    alpha: float
    penalty: float
    scale: float  # by which rows are divided

    def parts(self, X: np.ndarray, A: np.ndarray) -> Parts:
        scores = A.dot(self.axes.T) * (self.value / (self.value + 1.0 / self.penalty))
        L, bound = scores.dot(self.axes), self.alpha / self.penalty
        U = A - L
        C = np.clip(X - L + U, -bound, bound)
        missing = np.isnan(C)
        if missing.any():
            X, C = np.where(missing, L, X), np.where(missing, 0.0, C)
        return Parts(scores, L, U, C, X)

    def step(self, block: Rows) -> tuple[np.ndarray, PursuitSums]:
        """The next A of the rows of a block, and the sums of the step."""
        X, weight = np.asarray(block.X, dtype=np.float64) / self.scale, block.weight
        parts = self.parts(X, block.y)
        A = block.y + RELAXATION * (parts.C - parts.U)
        sums = PursuitSums(
            float(weight.sum()),
            gram(A, weight),
            gram(parts.C, weight),
            float(weight.dot(np.abs(parts.X - parts.L).sum(axis=1))),
            float(weight.dot((parts.C * parts.X).sum(axis=1))),
        )
        return A, sums

    def summarize(self, block: Rows) -> PursuitSums:
        return self.step(block)[1]

    def estimate(self, s: PursuitSums) -> Self:
        """Shrink the singular values of A."""
        squares, V = eigh(s.gram)
        size = np.sqrt(np.maximum(squares, 0.0))[::-1]
        large = size * self.penalty > 1.0
        axes = V.T[::-1][large]
        return self.replace(
            axes=np.ascontiguousarray(axes * signs(axes)[:, None]), value=size[large] - 1.0 / self.penalty
        )

    def objective(self, s: PursuitSums) -> float:
        return float(self.value.sum()) + self.alpha * s.loss

    def lower_bound(self, s: PursuitSums) -> float:
        """The dual objective <Y, X> of Y = penalty C, divided by its largest singular value if that is above
        1: no L has a smaller objective."""
        last = len(s.gram) - 1
        square = eigh(s.multiplier_gram, eigvals_only=True, subset_by_index=(last, last))[0]
        return float(self.penalty * s.product / max(self.penalty * np.sqrt(max(square, 0.0)), 1.0))

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Scores of the low-rank part of rows, given the components, in the units of the rows.

        The steps of the fit without `estimate`: they solve the problem of each row,
        min_c c' Σ^-1 c / 2 + alpha ‖x - V c‖_1, which the rows of the fit solve too.
        """
        out = np.zeros((len(X), len(self.value)))
        X = X / self.scale
        A, rows = np.zeros_like(X), np.arange(len(X)) if len(self.value) else np.arange(0)
        least = ROW_TOL * self.alpha * np.minimum(np.nansum(np.abs(X), axis=1), X.shape[1])
        for _ in range(ROW_STEPS):
            if not len(rows):
                break
            parts = self.parts(X[rows], A[rows])
            Y = self.penalty * parts.C
            far = self.alpha * np.abs(parts.X - parts.L).sum(axis=1)
            primal = 0.5 * (parts.scores**2 / self.value).sum(axis=1) + far
            dual = (Y * parts.X).sum(axis=1) - 0.5 * (Y.dot(self.axes.T) ** 2 * self.value).sum(axis=1)
            out[rows] = parts.scores
            A[rows] += RELAXATION * (parts.C - parts.U)
            rows = rows[primal - dual > least[rows]]
        return self.scale * out


@dataclass(frozen=True, eq=False)
class Descent(Progress):
    """State of the iterations. The rows of A stay with the rows, and follow from the models before."""

    objective: float = 0.0  # of the last pass
    bound: float = 0.0  # the largest lower bound of it
    before: tuple[Pursuit, ...] = ()  # the models of all steps, for a checkpoint


def _stepped(models: tuple[Pursuit, ...], block: Rows) -> SplitRows:
    """The block after the steps of these models."""
    A = block.A if isinstance(block, SplitRows) else np.zeros(block.X.shape)
    weight = None if block.unweighted else block.weight
    for model in models:
        rows = Rows(block.X, A, weight, block.index)
        pieces = list(rows.pieces(16 * A.shape[1] ** 2)) or [rows.piece(0, 0, 0)]
        parts, sums = zip(*map(model.step, pieces), strict=True)
        A, s = np.concatenate(parts), tree_sum(sums)
    return SplitRows(block.X, None, weight, block.index, A, s)


def _sums_of(block: SplitRows) -> PursuitSums:
    return block.sums


def _replayed(rows: Partitions, done: int, models: tuple[Pursuit, ...]) -> Partitions:
    """The rows after the steps of all models. The first `done` steps have been made."""
    return rows.map(_stepped, models[done:])


def _sizes(block: Rows) -> np.ndarray:
    """The weight of the rows, that of their entries that are not missing, and the sum of magnitudes."""
    X, weight = block.X, block.weight
    seen, total = (~np.isnan(X)).sum(axis=1), np.nansum(np.abs(X), axis=1)
    return np.array([weight.sum(), weight.dot(seen), weight.dot(total)])


class RobustPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Robust PCA (principal component pursuit): rows are the sum of a low-rank and a sparse part.

    A few entries may be wrong by any amount: they go to the sparse part, and do not turn the components. The
    number of components is found. NaN means not observed. Rows are not centred.

    Each iteration is a pass over the data. Beside each row, a row of the same size is kept where the row is:
    in memory, in a temporary file, or on the cluster.

    Parameters
    ----------
    alpha : float, default=None
        Weight of the sum of the magnitudes of the sparse part; the nuclear norm of the low-rank part has
        weight 1. A larger one makes the sparse part smaller and the rank larger. None is one over the square
        root of the number of rows (the total weight), or of features if they are more.
    tol : float, default=1e-5
        Tolerance of the stopping criterion: the duality gap, relative to the objective. A fit that has
        converged is that close to the optimum.
    max_iter : int, default=1000
        Maximum number of iterations.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Right singular vectors of the low-rank part. The entry of largest magnitude of each is positive.
    singular_values_ : ndarray of shape (n_components_,)
        Singular values of the low-rank part, descending.
    n_components_ : int
        Rank of the low-rank part.
    alpha_ : float
        The weight of the sparse part.
    objective_ : float
        Nuclear norm of the low-rank part, plus `alpha_` times the sum of the magnitudes of the sparse part,
        in the last pass.
    dual_gap_ : float
        The objective less a lower bound of its minimum.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray of shape (n_iter_,)
        Duality gap by iteration, relative to the objective.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Pursuit
        The fitted model.
    statistics_ : PursuitSums
        The sums of the last pass.

    See Also
    --------
    PCA : Least squares: one wrong entry may turn the components.
    TruncatedSVD : Least squares without centring.
    SparsePCA : Sparse components, not sparse errors.

    Notes
    -----
    The rows X are L + S, with

    .. math::

        \\min_{L, S}\\; ‖L‖_* + α ‖S‖_1, \\qquad L + S = X,

    where entries of S that are not observed have no penalty. With weights W, the norms are those of
    :math:`W^{1/2} L` and :math:`W S`, so that a row of weight two is two equal rows. The problem is convex.
    It is solved by the alternating direction method of multipliers with a constant penalty, in the form of
    Douglas-Rachford splitting with over-relaxation. Each step needs the singular values of a matrix A of the
    shape of X, which follow from the sum of :math:`A^T A` over the rows. That sum loses the digits of
    singular values that are small beside the largest. But only those above a threshold are needed, which is
    of the order of :math:`1 / \\sqrt D` of the largest, so that their relative error is about D times 1e-15.

    The multipliers are a solution of the dual problem, scaled such that it is feasible:

    .. math::

        \\max_Y\\; ⟨Y, X⟩, \\qquad ‖Y‖_2 ≤ 1, \\; |Y_{nd}| ≤ α.

    The fit stops when the two objectives agree to `tol`. Wrong entries add their magnitude to the objective:
    if they are more than a thousand times larger than the others, the other entries count little in that
    comparison. Then clip X: it does not change L, as long as L stays within the bounds.

    References
    ----------
    * Candès, Li, Ma and Wright (2011), "Robust principal component analysis?", Journal of the ACM 58.
    * Eckstein and Bertsekas (1992), "On the Douglas-Rachford splitting method and the proximal point
      algorithm for maximal monotone operators", Mathematical Programming 55.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> low_rank = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 20))
    >>> X = np.where(rng.random((500, 20)) < 0.05, 100.0, low_rank)
    >>> model = RobustPCA().fit(X)
    >>> model.n_components_
    2
    >>> sparse = X - model.inverse_transform(model.transform(X))
    >>> bool((np.abs(sparse[X == 100.0]) > 90.0).all())
    True
    """

    exempt = (OF_LENGTHS,)

    model_: Annotated[Pursuit, "D"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("components_", "singular_values_", "transform")
    _parameter_constraints: ClassVar[dict[str, Any]] = {"alpha": [POSITIVE, None]}
    __sklearn_tags__ = tags(allow_nan=True)

    def __init__(
        self,
        alpha: float | None = None,
        *,
        tol: float = 1e-5,
        max_iter: int = 1000,
        checkpoint: MaybePath = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _block_rows(self, block: Any) -> float | None:
        return rows_beside(block, 16.0 * block.X.shape[1] ** 2)

    def _solve(self, data: Partitions) -> Progress:
        D = self.n_features_in_
        afford(6 * D**2, f"the products of {D} features", "reduce the features first, by TruncatedSVD.")
        weight, n_entries, total = data.fold(_sizes)
        must_have_rows(weight)
        mean = total / n_entries if total > 0 else 1.0
        scale = float(2.0 ** np.round(np.log2(mean)))
        usual = float(1.0 / np.sqrt(max(weight, D)))
        alpha = usual if self.alpha is None else float(self.alpha)
        start = Pursuit(np.zeros((0, D)), np.zeros(0), alpha, PENALTY * usual * float(scale / mean), scale)
        return self._descent(data, start)

    def _finish(self, progress: Descent, data: Partitions) -> None:  # type: ignore[override]
        if progress.converged and not self.n_components_ and progress.objective > 0:
            warn(
                f"alpha={self.alpha_:g} leaves a low-rank part of rank 0: all entries are in the sparse "
                "part. Raise alpha; or clip X, if a few entries are far larger than the others."
            )

    def _descent(self, data: Partitions, start: Pursuit) -> Descent:
        rows = Resident(data, _replayed)

        def step(state: Descent) -> Descent:
            n, model = state.n_iter, state.model
            blocks = rows.at(n, state.before).map(_stepped, (model,))
            s = rows.advance(n + 1, blocks).fold(_sums_of)
            objective, bound = model.objective(s), max(state.bound, model.lower_bound(s))
            gap = (objective - bound) / objective if objective != 0.0 else 0.0
            trace = (*state.trace, gap)
            if gap <= self.tol:
                return Descent(model, trace, s, "tolerance", objective, bound)
            before = () if self.checkpoint is None else (*state.before, model)
            return Descent(model.estimate(s), trace, s, "", objective, bound, before)

        watch = Watch(self, self.checkpoint, data, grows=True)
        return watch.limited(self.max_iter).loop(step, Descent(start))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: Pursuit = progress.model
        return {
            "components_": model.axes,
            "singular_values_": model.scale * model.value,
            "n_components_": len(model.axes),
            "alpha_": model.alpha,
            "objective_": model.scale * progress.objective,  # type: ignore[attr-defined]
            "dual_gap_": model.scale * max(progress.objective - progress.bound, 0.0),  # type: ignore[attr-defined]
        }

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Scores of the low-rank part of each row, with the components fixed.

        The scores z of a row x minimize :math:`∑_k z_k^2 / (2 σ_k) + α ‖x - V z‖_1`, with the components V
        and the singular values σ. This is a regression by absolute errors, which a few wrong entries do not
        move. The low-rank part of the rows of the fit solves the same problem: ``transform`` finds it again,
        to a duality gap of 1e-5 of the objective of a typical row without a low-rank part, or in 1,000
        steps. ``inverse_transform(transform(X))`` is the low-rank part, and the rest of X the sparse part.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.scores, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The low-rank part of rows, from its scores."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
