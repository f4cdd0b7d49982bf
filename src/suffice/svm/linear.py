"""Linear support vector machines, for classes and for numbers, by folds. Li 7.2.

Every loss is a function of hinge terms r: the squared ones are max(r, 0)^2, and minimized by Newton's method
(Keerthi and DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", 2005).
The hinge max(r, 0) itself is smoothed, with a decreasing width (Chen and Mangasarian, "A class of smoothing
functions for nonlinear and mixed complementarity problems", 1996). Near the optimum, most rows stay on their
side of the margin. What remains is a quadratic program of the few rows near it, and its dual variables bound
the objective of all rows from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix, Rows
from ..core.cost import afford
from ..core.hashing import example_hashes
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.shapes import must
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_0, NON_NEGATIVE, POSITIVE, StrOptions
from ..estimator.scores import Classifier, Regressor
from ..estimator.tags import tags
from ..fitting import SOLVERS, LinearScore, Problem, RidgePenalty, conjugate_solve, newton
from ..fitting.descent import ROUNDING, Descent
from ..fitting.hinge_program import hinge_program
from ..fitting.linear_algebra import times, transposed_times
from ..fitting.sample import few_rows
from ..fitting.seeding import Sample, smallest
from ..fitting.solvers import newton_or_lbfgs
from ..inputs import read_rows
from ..linear_model.precision import SparseCoefficients, line
from ..linear_model.residuals import newton_step
from ..statistics import Objective, class_codes, class_totals, class_weights, classes_of

INEXACT = 0.1  # relative residual at which conjugate gradients stop within a Newton step
PRODUCTS = 100  # maximum number of Hessian products of a Newton step
SHRINK = 0.35  # factor of the width of the smoothing, from one smoothed loss to the next
SMOOTHED = 1e-2  # duality gap, relative to the objective, at which the quadratic program is tried
PATIENCE = 30  # iterations with smoothing after which the quadratic program is tried in any case
NEAREST = 2000  # minimum number of rows of the quadratic program
ROWS_EACH = 20  # rows of the quadratic program for each coefficient
ENTRIES = 1 << 25  # number of entries up to which a fit begins with the quadratic program of all rows
LEAST = 1e-13  # duality gap, relative to the objective, that is rounding error


@dataclass(frozen=True, eq=False)
class HingeSums(Objective):
    """The loss with its derivatives, the sum of the hinge terms, and sums of dual variables.

    The latter have two entries: rows that push the score up, and rows that push it down.
    """

    hinge: float = 0.0
    linear: Annotated[Any, "number or (2,)"] = 0.0  # dual variables times levels
    slope: Annotated[Any, "number or (2, P)"] = 0.0  # and times the columns of their terms


@dataclass(frozen=True, eq=False)
class NearestTerms(Statistics):
    """The rows nearest to the margin, and the dual sums of all rows on each side of it."""

    nearest: Sample  # features, target, score
    linear: Annotated[np.ndarray, "(2,)"]
    slope: Annotated[np.ndarray, "(2, P)"]


@dataclass(frozen=True, eq=False)
class HingeModel(LinearScore):
    """Scores f = coef x + intercept. The hinge terms are 1 - y f for a class (y is 1) against the rest (-1);
    or y - epsilon - f and f - epsilon - y for a target."""

    theta: Annotated[np.ndarray, "(P, M)"]  # the intercept last, if there is one
    classes: Annotated[np.ndarray | None, "labels (K,)"]
    class_weight: Annotated[np.ndarray | None, "(K,)"]
    fit_intercept: bool
    epsilon: float
    squared: bool
    width: float = 0.0  # of the smoothing of hinges that are not squared
    problem: int = -1  # the class against the rest of which theta is the only row; -1 for all
    curvature: bool = False  # whether to sum the Hessian

    def check_loaded(self, sizes: dict[str, int]) -> None:
        sizes["D"] = sizes["M"] - self.fit_intercept
        if self.classes is not None:
            K, P = sizes["K"], sizes["P"]
            must((1 if K == 2 else K) == P, f"There are {P} rows of coefficients for {K} classes.")

    @property
    def coef(self) -> np.ndarray:
        return self.theta[:, : self.theta.shape[1] - self.fit_intercept]

    @property
    def intercept(self) -> np.ndarray:
        return self.theta[:, -1] if self.fit_intercept else np.zeros(len(self.theta))

    def targets(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The signs 1 and -1 of each problem, or the targets, (N, P); and the weights, (N, P).

        Where one class is against several, only that class has its class weight, as in LIBLINEAR.
        """
        weight = block.weight[:, None]
        if self.classes is None or self.class_weight is None:
            return block.y.astype(np.float64)[:, None], weight
        codes = class_codes(self.classes, block.y)[:, None]
        if len(self.classes) == 2:
            return np.where(codes == 1, 1.0, -1.0), weight * self.class_weight[codes]
        k = np.arange(len(self.classes)) if self.problem < 0 else np.array([self.problem])
        own = codes == k
        return np.where(own, 1.0, -1.0), weight * np.where(own, self.class_weight[k], 1.0)

    def terms(self, y: np.ndarray, f: np.ndarray) -> list[tuple[np.ndarray, Any, Any]]:
        """Hinge terms r = level - sign f, with levels and signs."""
        if self.classes is not None:
            return [(1.0 - y * f, 1.0, y)]
        up, down = y - self.epsilon, -y - self.epsilon
        return [(up - f, up, 1.0), (down + f, down, -1.0)]

    def summarize(self, block: Rows) -> HingeSums:
        if self.squared:
            return self.squared_sums(None, block)
        (y, weight), X = self.targets(block), block.X
        terms = self.terms(y, self.scores(X))
        total = float(block.weight.sum())
        loss, hinge, curve, dual = 0.0, 0.0, np.zeros_like(y), []
        for r, level, sign in terms:
            smooth, slope, bend = smoothed(r, self.width)
            loss += float((weight * smooth).sum())
            hinge += float((weight * np.maximum(r, 0.0)).sum())
            curve += weight * bend
            dual.append((weight * slope, level, sign))
        linear, slopes = self._dual_sums(X, dual)
        gradient = -slopes.sum(axis=0)
        return HingeSums(total, loss, gradient, self._squares(X, curve), hinge, linear, slopes)

    def squared_sums(self, before: np.ndarray | None, block: Rows) -> HingeSums:
        """The sums of squared hinges. If `before` is a point, like `theta`, the Hessian is its change since:
        that of the rows that crossed the margin."""
        (y, weight), X = self.targets(block), block.X
        loss, gradient, f = (self._of_sparse if sp.issparse(X) else self._of_dense)(X, y, weight)
        curve: Any = 0.0
        if self.curvature:
            curve = self._curve(y, weight, f)
            if before is not None:
                curve -= self._curve(y, weight, self.replace(theta=before).scores(X))
        hessian = 2.0 * self._squares(X, curve)
        return HingeSums(float(block.weight.sum()), loss, gradient.ravel(), hessian)

    def _of_dense(
        self, X: np.ndarray, y: np.ndarray, weight: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The sum of squared hinges, its gradient (P, M), which may be flat, and the scores (N, P)."""
        from ..loops.linear_losses import squared_hinge, squared_insensitive

        loss, gradient, f = 0.0, np.empty_like(self.theta), np.empty(y.shape)
        for p, (coef, intercept) in enumerate(zip(self.coef, self.intercept, strict=True)):
            theta, w = np.append(coef, intercept), np.ascontiguousarray(weight[:, p % weight.shape[1]])
            row = X, theta, np.ascontiguousarray(y[:, p]), w
            sums = squared_insensitive(*row, self.epsilon) if self.classes is None else squared_hinge(*row)
            loss += sums[0]
            gradient[p] = sums[1][: self.theta.shape[1]]
            f[:, p] = sums[2]
        return loss, gradient, f

    def _of_sparse(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The same as `_of_dense`, for CSR rows."""
        f = self.scores(X)
        hinges = [(np.maximum(r, 0.0), sign) for r, _, sign in self.terms(y, f)]
        loss = sum(float((weight * r * r).sum()) for r, _ in hinges)
        push = np.sum([weight * r * sign for r, sign in hinges], axis=0)
        return loss, -2.0 * self.gradient(X, push), f

    def curved(self, block: Rows) -> Any:
        """The block, with the weights of the rows within the margin in place of its targets."""
        curves = [self._curve_of(piece) for piece in block.pieces(8 * self.theta.size)]
        return block.replace(y=np.concatenate(curves or [np.zeros((0, len(self.theta)))]))

    def product(self, V: np.ndarray, curved: Any) -> np.ndarray:
        """The Hessian of squared hinges times a direction, (M, P), without forming the matrix.

        `curved` returns the block that this takes; it is the same for all directions.
        """
        X, (P, M) = curved.X, self.theta.shape
        D = M - self.fit_intercept
        push = times(X, V[:D])
        if self.fit_intercept:
            push += V[D]
        push *= curved.y
        out = np.empty((M, P))
        out[:D] = transposed_times(X, push)
        if self.fit_intercept:
            out[D] = push.sum(axis=0)
        out *= 2.0
        return out

    def curvature_diagonal(self, block: Rows) -> np.ndarray:
        """The diagonal of the Hessian of squared hinges, (P, M)."""
        X = block.X
        squares = X.power(2) if sp.issparse(X) else X**2
        return 2.0 * self.gradient(squares, self._curve_of(block)).reshape(self.theta.shape)

    def _curve(self, y: np.ndarray, weight: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Weights of the rows within the margin, (N, P)."""
        first, *rest = (weight * (r > 0) for r, _, _ in self.terms(y, f))
        return sum(rest, first)

    def _curve_of(self, block: Rows) -> np.ndarray:
        return self._curve(*self.targets(block), self.scores(block.X))

    def _squares(self, X: Matrix, curve: Any) -> Any:
        """The Hessian, a diagonal block for each problem; 0 if the solver does not use it."""
        if not self.curvature:
            return 0.0
        return self.hessian(X, np.ones(len(curve)), ((p, p, curve[:, p]) for p in range(len(self.theta))))

    def _dual_sums(self, X: Matrix, dual: Any) -> tuple[np.ndarray, np.ndarray]:
        """Sums of dual variables times levels, (2,), and times the columns of their terms, (2, P M).

        The first entry sums rows that push the score up, the second rows that push it down.
        """
        linear, slopes = np.zeros(2), np.zeros((2, self.theta.size))
        for part, level, sign in dual:
            for side, way in enumerate((1.0, -1.0)):
                mine = part * (sign == way)
                linear[side] += float((mine * level).sum())
                slopes[side] += way * self.gradient(X, mine)
        return linear, slopes

    def nearest_terms(self, size: int, block: Rows) -> NearestTerms:
        """The `size` distinct rows that are nearest to the margin, and the dual sums of all rows."""
        (y, weight), X = self.targets(block), block.X
        f = self.scores(X)
        terms = self.terms(y, f)
        linear, slope = self._dual_sums(X, [(weight * (r > 0), level, sign) for r, level, sign in terms])
        key = np.min([np.abs(r[:, 0]) for r, _, _ in terms], axis=0)
        felt = weight[:, 0] > 0
        rows = np.column_stack([X.toarray() if sp.issparse(X) else X, y, f])[felt]
        nearest = smallest(
            size, key[felt], example_hashes(block, Purpose.IDENTITY)[felt], rows, weight[felt, 0]
        )
        return NearestTerms(nearest, linear, slope)


def smoothed(r: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """max(r, 0), smoothed unless the width is zero: the value, and its first and second derivative."""
    if width == 0:
        return np.maximum(r, 0.0), (r > 0).astype(np.float64), np.zeros_like(r)
    z = r / width
    slope = expit(z)
    return width * np.logaddexp(0.0, z), slope, slope * expit(-z) / width


@dataclass(frozen=True, eq=False)
class Gapped(Progress):
    """A fit with an upper bound on the distance of its objective from the minimum, if it has one."""

    dual_gap_: float | None = None


@dataclass(frozen=True, eq=False)
class Hinged(Gapped):
    """State of a fit with hinges: one problem after the other."""

    problem: int = 0
    tried: int = 0  # iterations of this problem
    at: Annotated[Any, "(M,) or None"] = None  # the point of the smoothed loss
    width: float = 0.0
    sums: Any = None  # HingeSums there
    best: Annotated[Any, "(M,) or None"] = None
    best_sums: Any = None
    objective: float = np.inf  # there
    bound: float = -np.inf  # of the least objective, from below
    allowed: float = SMOOTHED
    size: int = 0  # rows of the next program
    objectives: tuple[float, ...] = ()  # of all problems
    gaps: tuple[float, ...] = ()  # of the problems that are solved
    failed: bool = False  # whether a problem ended with a gap above tol

    @property
    def gap(self) -> float:
        return max(self.objective - self.bound, 0.0)

    def finished(self, model: Any, s: HingeSums) -> Hinged:
        """The fit with this model, its sums, and the largest duality gap of all problems."""
        gaps = self.gaps if len(self.gaps) == len(self.objectives) else (*self.gaps, self.gap)
        return self.replace(model=model, statistics=s, dual_gap_=float(max(gaps)))


@dataclass(frozen=True)
class HingeSearch:
    """Constants of all iterations."""

    data: Partitions
    model: HingeModel
    C: float
    ridge: np.ndarray  # (M,)
    tol: float

    def penalty(self, w: np.ndarray) -> float:
        return 0.5 * float(self.ridge @ w**2)

    def line(self, problem: int, w: np.ndarray, width: float, *, curvature: bool = False) -> HingeModel:
        return self.model.replace(theta=w[None], problem=problem, width=width, curvature=curvature)

    def sums(self, problem: int, w: np.ndarray, width: float, *, curvature: bool = True) -> HingeSums:
        return self.data.fold(HingeModel.summarize, self.line(problem, w, width, curvature=curvature))

    def smooth(self, w: np.ndarray, s: HingeSums) -> float:
        return self.C * s.loss + self.penalty(w)

    def bound(self, linear: np.ndarray, slope: np.ndarray) -> float:
        """The dual objective: a lower bound on the objective, for dual variables within their box.

        Without a penalty of the intercept, the dual variables of both sides must add up to the same. Those of
        the larger side are scaled down.
        """
        free = self.ridge == 0
        if free.any():
            up, down = slope[0, -1], -slope[1, -1]
            share = np.array(
                [min(1.0, down / up) if up > 0 else 1.0, min(1.0, up / down) if down > 0 else 1.0]
            )
            linear, slope = linear * share, slope * share[:, None]
        v = slope.sum(axis=0)[~free]
        return self.C * float(linear.sum()) - 0.5 * self.C**2 * float((v**2 / self.ridge[~free]).sum())

    def start(self, problem: int) -> dict[str, Any]:
        M = self.model.theta.shape[1]
        return {
            "problem": problem,
            "tried": 0,
            "at": np.zeros(M),
            "width": 0.0,
            "sums": None,
            "best": None,
            "best_sums": None,
            "objective": np.inf,
            "bound": -np.inf,
            "allowed": SMOOTHED,
            "size": max(NEAREST, ROWS_EACH * M),
        }

    def evaluated(self, state: Hinged, w: np.ndarray, s: HingeSums) -> Hinged:
        """The state with the better of two points and the better of two bounds."""
        objective = self.C * s.hinge + self.penalty(w)
        state = state.replace(bound=max(state.bound, self.bound(s.linear, s.slope)))
        if not objective < state.objective:
            return state
        return state.replace(best=w, best_sums=s, objective=objective)

    def step(self, state: Hinged) -> Hinged:
        if state.sums is None:  # of a problem that begins
            first = state.best is None
            s = self.sums(state.problem, state.at, 1.0, curvature=False)
            width = s.hinge / s.weight if s.hinge > 0 else 1.0  # the scale of the terms
            state = self.evaluated(state, state.at, s).replace(width=width)
            if self.solved(state):
                return self.traced(state)
            if first and s.weight <= min(state.size, ENTRIES / len(state.at)):  # a program may have all rows
                return self.programmed(state)
            afford(
                3.0 * len(state.at) ** 2,
                f"the second derivatives by {len(state.at)} parameters",
                "use a squared loss, which needs none of them for many features.",
            )
            return self.traced(state.replace(sums=self.sums(state.problem, state.at, width)))
        if state.gap <= state.allowed * state.objective or state.tried >= PATIENCE:
            return self.programmed(state)
        return self.improved(state)

    def solved(self, state: Hinged) -> bool:
        return state.gap <= max(self.tol, LEAST) * state.objective

    def traced(self, state: Hinged, *, failed: bool = False) -> Hinged:
        """The state after an iteration.

        The trace gets the objective of all problems. If this problem is solved, the next one begins.
        """
        known = list(state.objectives)
        known[state.problem] = state.objective
        total = sum(known) if np.isfinite(state.objective) else np.nan
        state = state.replace(
            trace=(*state.trace, min((total, *state.trace[-1:])) if total == total else total),
            objectives=tuple(known),
            tried=state.tried + 1,
            statistics=state.best_sums,
            model=self.with_row(state),
        )
        solved = self.solved(state)
        if not (solved or failed):
            return state
        state = state.replace(gaps=(*state.gaps, state.gap), failed=state.failed or not solved)
        if state.problem + 1 < len(self.model.theta):
            return state.replace(**self.start(state.problem + 1))
        return state.replace(stopped_because="the duality gap" if state.failed else "tolerance")

    def with_row(self, state: Hinged) -> HingeModel:
        theta = state.model.theta.copy()
        theta[state.problem] = state.best
        return state.model.replace(theta=theta)

    def improved(self, state: Hinged) -> Hinged:
        """One Newton step on the smoothed loss, which becomes narrower if its error exceeds the gain."""
        w, s = state.at, state.sums
        gradient = self.C * s.gradient + self.ridge * w
        step = newton_step(self.C * s.hessian + np.diag(self.ridge), gradient)
        promised = -float(gradient @ step)
        error = self.C * (s.hinge - float(s.linear.sum()) + float(w @ s.slope.sum(axis=0)))
        width = state.width * (SHRINK if promised <= 0.5 * error else 1.0)
        before, length = self.smooth(w, s), 1.0
        while True:
            new = w + length * step
            t = self.sums(state.problem, new, width)
            value = self.smooth(new, t)
            if np.isnan(value):
                return state.replace(trace=(*state.trace, np.nan))
            if value <= before - 1e-4 * length * promised + ROUNDING * abs(before):
                break
            slope = float((self.C * t.gradient + self.ridge * new) @ step)  # at the start, -promised
            length *= min(max(promised / max(promised + slope, promised, 1e-300), 0.02), 0.5)
            if length < 1e-8:
                return self.programmed(state)
        return self.traced(self.evaluated(state, new, t).replace(at=new, sums=t, width=width))

    def programmed(self, state: Hinged) -> Hinged:
        """The optimum if all but the nearest rows stay on their side of the margin, and its bound."""
        k, w, before = state.problem, state.best, state.gap
        near = self.data.fold(HingeModel.nearest_terms, self.line(k, w, 0.0), state.size)
        rows, weight = near.nearest.row, near.nearest.weight
        X, y, f = rows[:, :-2], rows[:, -2:-1], rows[:, -1:]
        if self.model.fit_intercept:
            X = np.column_stack([X, np.ones(len(X))])
        r, level, sign = (
            np.stack([np.broadcast_to(part, y.shape)[:, 0] for part in parts])
            for parts in zip(*self.model.terms(y, f), strict=True)
        )  # of each term and row

        def sums(dual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """The sums of these dual variables of the rows, by side: see `HingeSums`."""
            sides = [np.where(sign == way, dual, 0.0) for way in (1.0, -1.0)]
            linear = np.array([(mine * level).sum() for mine in sides])
            return linear, np.stack([(mine * sign).sum(axis=0) @ X for mine in sides])

        within, u = sums(weight * (r > 0)), self.C * weight
        linear, slope = near.linear - within[0], near.slope - within[1]  # of the rows beside the program
        new, alpha = hinge_program(X, sign, level, u, self.ridge, self.C * slope.sum(axis=0))
        of_program = sums(np.clip(alpha, 0.0, u) / self.C)
        bound = self.bound(linear + of_program[0], slope + of_program[1])
        state = state.replace(bound=max(state.bound, bound))
        s = self.sums(k, new, max(1e-3 * state.width, 1e-12), curvature=False)
        state = self.evaluated(state, new, s)
        if self.solved(state) or state.gap < 0.5 * before:
            return self.traced(state)
        has_all_rows = len(weight) < state.size and state.sums is not None
        allowed = max(0.1 * state.allowed, self.tol)
        failed = has_all_rows or state.size >= 64 * NEAREST
        size = min(4 * state.size, max(64 * NEAREST, state.size))
        return self.traced(state.replace(allowed=allowed, size=size, tried=0), failed=failed)


class SquaredHinges(Problem):
    """Between two points, the Hessian of squared hinges changes only by the rows that cross the margin."""

    def optimum_of_few(self, total: float) -> np.ndarray | None:
        """The optimum on a sample of the rows, or None for few rows. `total` is the weight of all rows.

        Newton's method from there takes half as many passes over all rows.
        """
        few = few_rows(self.data, self.start.size, total)
        if few is None:
            return None
        rows, share = few[0], few[0].fold(_weight) / total
        penalty = RidgePenalty(share * cast(RidgePenalty, self.penalty).strength)
        return SOLVERS["newton"](Problem(rows, self.model, penalty, l1=self.l1)).model

    def update(self, theta: np.ndarray, state: Descent) -> tuple[Any, ...]:
        """The value, the gradient and the Hessian at `theta`, from the Hessian at `state`.

        The Hessian is recomputed if an entry of its diagonal falls by more than half: the rounding error of
        a difference is relative to the larger Hessian.
        """
        before = self.model.at(state.model).theta
        s = self.data.fold(HingeModel.squared_sums, self.model.at(theta), before)
        hessian = state.hessian + s.hessian / s.weight
        if (np.diag(hessian) < 0.5 * np.diag(state.hessian)).any():
            return self(theta)
        ridge = np.diag(cast(RidgePenalty, self.penalty).strength)
        self._last = theta.copy(), s.replace(hessian=s.weight * hessian - ridge)
        return *self.penalty(theta, s)[:2], hessian

    def with_point(self, theta: np.ndarray) -> tuple[Any, ...]:
        """The value, the gradient, and the point, with which `truncated_step` multiplies by the Hessian."""
        return *self(theta), theta.copy()

    def truncated_step(self, theta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The inverse Hessian at `theta` times the gradient, by conjugate gradients: each product with the
        Hessian is a fold. Dembo and Steihaug, "Truncated-Newton algorithms for large-scale unconstrained
        optimization", 1983."""
        at, weight = self.model.at(theta), self.sums(theta).weight
        shape = at.theta.shape
        ridge = cast(np.ndarray, cast(RidgePenalty, self.penalty).strength).reshape(shape)
        of_loss = self.data.fold(HingeModel.curvature_diagonal, at)
        diagonal = np.ascontiguousarray(((of_loss + ridge) / weight).T)
        inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
        B = np.ascontiguousarray(gradient.reshape(shape).T)
        # Features that no row within the margin has, as most words of a vocabulary, are solved by themselves.
        felt = of_loss.any(axis=0)
        step, ridge = inverse * B, np.ascontiguousarray(ridge.T)[felt]
        curved = self.data.prepared(HingeModel.curved, at)

        def product(V: np.ndarray) -> np.ndarray:
            direction = np.zeros_like(step)
            direction[felt] = V
            product = curved.fold(HingeModel.product, at, direction)[felt]
            product += ridge * V
            product /= weight
            return product

        step[felt] = conjugate_solve(product, B[felt], inverse[felt], tol=INEXACT, max_iter=PRODUCTS)[0]
        return step.T.ravel()


class LinearMachine(Iterative):
    """Base class of `LinearSVC` and `LinearSVR`: the fit of the machines."""

    model_: Annotated[HingeModel, "K, P, D"]
    tol: float
    C: float
    loss: str
    fit_intercept: bool
    intercept_scaling: float
    max_iter: int
    penalize_intercept: bool
    checkpoint: Any
    __sklearn_tags__ = tags(sparse=True)

    def _strengths(self, M: int) -> np.ndarray:
        """The l2 penalty of each parameter, (M,)."""
        ridge = np.ones(M)
        if self.fit_intercept:
            ridge[-1] = 1.0 / self.intercept_scaling**2 if self.penalize_intercept else 0.0
        return ridge

    def _minimized(
        self, data: Partitions, model: HingeModel, total: float, at_zero: Any = np.inf, *, l1: bool = False
    ) -> Progress:
        """`at_zero` are the losses of the classes against the rest, at zero."""
        must_have_rows(total)
        P, M = model.theta.shape
        ridge = self._strengths(M)
        if model.squared:
            name = newton_or_lbfgs(P * M)
            few = name == "newton"
            strength = np.sqrt(ridge) / (self.C * total) if l1 else 0.0
            problem = SquaredHinges(
                data,
                model.replace(curvature=few),
                RidgePenalty(np.tile(0.0 * ridge if l1 else ridge, P) / self.C),
                l1=np.tile(strength, P) if l1 else 0.0,
            )
            watch = Watch(self, self.checkpoint, data, as_model=problem.solution)
            options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "watch": watch}
            if few:
                options |= {"start": problem.optimum_of_few(total), "update": problem.update}
                progress = SOLVERS[name](problem, **options)
            elif l1:
                progress = SOLVERS[name](problem, **options)
            else:
                progress = newton(problem.with_point, problem.start, solve=problem.truncated_step, **options)
            at, s = problem.solution(progress.model), problem.statistics(progress.model)
            return Gapped.after(progress, model=at.replace(curvature=False), statistics=s)
        search = HingeSearch(data, model, float(self.C), ridge, float(self.tol))
        start = Hinged(model, **search.start(0), objectives=tuple(np.ravel(self.C * at_zero).tolist()))
        watch = Watch(self, self.checkpoint, data).limited(self.max_iter)
        ended = watch.loop(search.step, start)
        return ended.finished(ended.model, data.fold(HingeModel.summarize, ended.model))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: HingeModel = progress.model
        intercept = model.intercept.copy() if self.fit_intercept else 0.0
        if model.classes is None:
            return {"coef_": model.coef[0].copy(), "intercept_": intercept}
        return {"classes_": model.classes, "coef_": model.coef.copy(), "intercept_": intercept}


class LinearSVC(SparseCoefficients, Classifier, LinearMachine):
    """Linear support vector classification.

    Several classes are separated each from the rest. Each step is one pass over the rows, wherever they are.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default='l2'
        Norm of the penalty. 'l1' sets coefficients to zero, and needs ``loss='squared_hinge'``.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        'hinge' is the loss of the textbooks' soft margin, max(0, 1 - y f). 'squared_hinge' is its square.
    dual : 'auto' or bool, default='auto'
        Ignored: the optimum is the same.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: with 'hinge', the duality gap relative to the objective; with
        'squared_hinge', the largest component of the gradient of the mean loss.
    C : float, default=1.0
        Weight of the loss against half the squared norm of the coefficients. Must be positive.
    multi_class : {'ovr'}, default='ovr'
        One class against the rest. scikit-learn's 'crammer_singer' is not available.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1.0
        The penalty includes ``intercept / intercept_scaling``, as a coefficient.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which C is multiplied. 'balanced' gives every class the same total weight.
        As in scikit-learn, the weight of one of several classes is not that of the rest.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    random_state : int, RandomState instance or None, default=None
        Ignored: the fit is deterministic.
    max_iter : int, default=1000
        Maximum number of iterations.
    penalize_intercept : bool, default=True
        Whether the penalty includes the intercept, as in scikit-learn. The textbooks' machine has no such
        penalty: False.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients. For two classes, those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Number of iterations, of all classes together.
    dual_gap_ : float
        Only with ``loss='hinge'``: the duality gap, an upper bound on the distance of the objective from its
        minimum; the largest of all classes.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration: with squared losses, its mean per row.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : HingeModel
        The fitted model.
    statistics_ : HingeSums
        The loss at the solution and its derivatives, summed over the rows.

    See Also
    --------
    LinearSVR : The same for numbers.
    suffice.linear_model.LogisticRegression : Scores that are probabilities.
    suffice.linear_model.KernelPerceptron : Classes that are separated by a curve.

    Notes
    -----
    The coefficients of a class, with labels y_n of one for its rows and minus one for the others, minimize

    .. math::

        \\frac{1}{2} ‖w‖^2 + \\frac{1}{2} (b / t)^2 + C ∑_n s_n \\max(0,\\ 1 - y_n (w^T x_n + b))^p,

    where p is 1 or 2, t is `intercept_scaling`, and the second term is left out without a penalty of the
    intercept. The squared loss is minimized by Newton's method. If there are more than 256 coefficients,
    conjugate gradients solve its steps, or L-BFGS replaces it if the penalty is l1. Of many rows and few
    coefficients, it begins at the optimum of a few of them. The hinge is smoothed, with a decreasing width;
    then a quadratic program of the rows nearest to the margin gives the optimum and a bound. Small data are
    one program.

    References
    ----------
    * Cortes and Vapnik (1995), "Support-vector networks", Machine Learning 20.
    * Keerthi and DeCoste (2005), "A modified finite Newton method for fast solution of large scale linear
      SVMs", Journal of Machine Learning Research 6.
    * Li (2019), Statistical Learning Methods, section 7.2.

    Examples
    --------
    >>> from suffice.svm import LinearSVC
    >>> X, y = [[3, 3], [4, 3], [1, 1]], ["above", "above", "below"]
    >>> model = LinearSVC(C=100.0, loss="hinge", penalize_intercept=False).fit(X, y)
    >>> (-model.coef_).round(4), (-model.intercept_).round(4)
    (array([[0.5, 0.5]]), array([-2.]))
    """

    exempt = (Exempt("shift", "The penalty of the intercept is at the origin."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "C": [POSITIVE],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "intercept_scaling": [POSITIVE],
        "max_iter": [AT_LEAST_0],
        "penalize_intercept": ["boolean"],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Seed = None,
        max_iter: int = 1000,
        penalize_intercept: bool = True,
        checkpoint: MaybePath = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.checkpoint = checkpoint

    def _check_options(self) -> None:
        if self.multi_class != "ovr":
            raise ValueError("multi_class='crammer_singer' is not available: use 'ovr', or scikit-learn's.")
        if self.penalty == "l1" and self.loss == "hinge":
            raise ValueError(
                "Unsupported set of arguments: penalty='l1' is not supported with loss='hinge': use "
                f"loss='squared_hinge'. Parameters: penalty='l1', loss='hinge', dual={self.dual!r}"
            )

    def _solve(self, data: Partitions) -> Progress:
        classes = classes_of(data)
        weights = class_weights(self.class_weight, data, classes)
        totals = class_totals(data, classes)
        if ((weights * totals) > 0).sum() < 2:
            raise ValueError(
                f"All rows with positive weights belong to the same class: classes {classes.tolist()} have "
                f"total weights {(weights * totals).tolist()}."
            )
        at_zero = weights * totals + (totals.sum() - totals if len(classes) > 2 else 0.0)
        P, M = 1 if len(classes) == 2 else len(classes), self.n_features_in_ + self.fit_intercept
        squared = self.loss == "squared_hinge"
        model = HingeModel(np.zeros((P, M)), classes, weights, self.fit_intercept, 0.0, squared)
        at_zero = at_zero if P > 1 else at_zero.sum()
        return self._minimized(data, model, float(totals.sum()), at_zero, l1=self.penalty == "l1")

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, each against the rest; for two classes, of the second against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = line(self, read_rows(self, X), X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest score.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


class LinearSVR(Regressor, LinearMachine):
    """Linear support vector regression: errors within `epsilon` cost nothing.

    Each step is one pass over the rows, wherever they are.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube within which errors cost nothing, in units of the target.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: with 'epsilon_insensitive', the duality gap relative to the
        objective; with the squared loss, the largest component of the gradient of the mean loss.
    C : float, default=1.0
        Weight of the loss against half the squared norm of the coefficients. Must be positive.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        max(0, abs(y - f) - epsilon), or its square.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1.0
        The penalty includes ``intercept / intercept_scaling``, as a coefficient.
    dual : 'auto' or bool, default='auto'
        Ignored: the optimum is the same.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    random_state : int, RandomState instance or None, default=None
        Ignored: the fit is deterministic.
    max_iter : int, default=1000
        Maximum number of iterations.
    penalize_intercept : bool, default=True
        Whether the penalty includes the intercept, as in scikit-learn. The textbooks' machine has no such
        penalty: False.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_iter_ : int
        Number of iterations.
    dual_gap_ : float
        Only with ``loss='epsilon_insensitive'``: the duality gap, an upper bound on the distance of the
        objective from its minimum.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration: with squared losses, its mean per row.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : HingeModel
        The fitted model.
    statistics_ : HingeSums
        The loss at the solution and its derivatives, summed over the rows.

    See Also
    --------
    LinearSVC : The same for classes.
    suffice.linear_model.QuantileRegressor : Absolute errors, with an l1 penalty.
    suffice.linear_model.HuberRegressor : Squared loss for small errors.

    Notes
    -----
    The coefficients minimize

    .. math::

        \\frac{1}{2} ‖w‖^2 + \\frac{1}{2} (b / t)^2 + C ∑_n s_n \\max(0,\\ |y_n - w^T x_n - b| - ε)^p,

    where p is 1 or 2, t is `intercept_scaling`, and the second term is left out without a penalty of the
    intercept. See :class:`LinearSVC` for how.

    References
    ----------
    * Vapnik (1995), The Nature of Statistical Learning Theory, Springer.
    * Ho and Lin (2012), "Large-scale linear support vector regression", Journal of Machine Learning
      Research 13.

    Examples
    --------
    >>> from suffice.svm import LinearSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 30.0]
    >>> model = LinearSVR(C=10.0, penalize_intercept=False).fit(X, y)
    >>> model.predict([[4.0]]).round(4)
    array([4.])
    """

    exempt = (Exempt("shift", "The penalty of the intercept is at the origin."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [NON_NEGATIVE],
        "C": [POSITIVE],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "intercept_scaling": [POSITIVE],
        "dual": ["boolean", StrOptions({"auto"})],
        "max_iter": [AT_LEAST_0],
        "penalize_intercept": ["boolean"],
    }
    __sklearn_tags__ = tags(target_tags__required=True)

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Seed = None,
        max_iter: int = 1000,
        penalize_intercept: bool = True,
        checkpoint: MaybePath = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        squared = self.loss == "squared_epsilon_insensitive"
        theta = np.zeros((1, self.n_features_in_ + self.fit_intercept))
        model = HingeModel(theta, None, None, self.fit_intercept, float(self.epsilon), squared)
        return self._minimized(data, model, float(data.fold(_weight)))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return line(self, read_rows(self, X), X)


def _weight(block: Rows) -> float:
    return float(block.weight.sum())
