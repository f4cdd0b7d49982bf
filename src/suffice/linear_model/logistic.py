"""Logistic regression, binomial and multinomial. Li ch. 6.

Each pass sums the loss with its derivatives; the penalty is added on the driver. All solvers reach the same
optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms

from ..core.arguments import MaybePath, Seed
from ..core.blocks import BLOCK_BYTES, Matrix, Rows, entries_of
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.shapes import must
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.guarantees import FROM_ZERO, Guarantee
from ..estimator.parameters import AT_LEAST_0, INF, POSITIVE, SHARE, Hidden, StrOptions
from ..estimator.scores import Classifier
from ..fitting import ColumnRidgePenalty, EpochIterates, LinearScore, Problem, find_solver
from ..fitting.descent import Descent
from ..fitting.linear_algebra import times
from ..fitting.sample import optimum_of_few
from ..fitting.separation import margins, without_maximum
from ..fitting.solvers import newton_or_lbfgs
from ..fitting.standardize import ColumnSizes, Standardization, classes_and_sizes
from ..inputs import read_rows
from ..losses import Loss, log_softmax, loss_of, softmax
from ..statistics import Objective, class_codes, class_totals, class_weights
from .precision import SparseCoefficients, line


@dataclass(frozen=True, eq=False)
class LogLinear(LinearScore):
    """p(c given x) proportional to exp(coef_c x + intercept_c); for two classes, the first is at zero."""

    theta: Annotated[np.ndarray, "(K, D + 1) or (1, D + 1)"]  # one row for two classes; the intercept last
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    fit_intercept: bool = True
    curvature: bool = False  # whether to sum the Hessian

    def check_loaded(self, sizes: dict[str, int]) -> None:
        K, rows = sizes["K"], len(self.theta)
        must(rows == K if K > 2 else rows <= 2, f"There are {rows} rows of coefficients for {K} classes.")

    @property
    def loss(self) -> Loss:  # type: ignore[override]
        return loss_of("log_loss", class_weight=np.ones(len(self.classes)))

    def targets(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        codes = class_codes(self.classes, block.y)
        if (self.class_weight == 1).all():
            return codes, block.weight
        return codes, block.weight * self.class_weight[codes]

    def summarize(self, block: Rows) -> Objective:
        if self.curvature:
            return super().summarize(block)
        X, (codes, weight) = block.X, self.targets(block)
        if not len(codes):
            return Objective(0.0, 0.0, np.zeros(self.theta.size))
        if len(self.theta) > 1:
            return self._multinomial(X, codes, weight)
        return super().summarize(block) if sp.issparse(X) else self._binomial(X, codes, weight)

    def _multinomial(self, X: Matrix, codes: np.ndarray, weight: np.ndarray) -> Objective:
        """Loss and gradient of more than two classes. The errors overwrite the scores."""
        from ..loops.log_linear import errors

        arguments = times(X, self.columns), self.theta[:, -1], weight
        error, intercept, weight = (np.ascontiguousarray(a, np.float64) for a in arguments)
        loss = errors(error, intercept, np.ascontiguousarray(codes, np.int64), weight)
        return Objective(float(weight.sum()), loss, self.gradient(X, error))

    def _binomial(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> Objective:
        """Loss and gradient of two classes, in one pass over dense rows."""
        from ..loops.linear_losses import binomial

        loss, gradient = binomial(np.ascontiguousarray(X), np.ascontiguousarray(self.theta[0]), codes, weight)
        if not self.fit_intercept:
            gradient[-1] = 0.0
        return Objective(float(weight.sum()), loss, gradient)

    def curves(self, y: np.ndarray, f: np.ndarray, h: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """p_j (delta_jk - p_k) of classes j and k."""
        if len(self.theta) == 1:
            yield from super().curves(y, f, h)
            return
        P = softmax(f)
        for j in range(len(self.theta)):
            for k in range(j + 1):
                yield j, k, P[:, j] * ((j == k) - P[:, k])

    @property
    def even_curvature(self) -> float:
        """The curvature by the score of a class where all classes are equally probable."""
        p = 1.0 / len(self.classes)
        return p * (1.0 - p)

    def svrg_epoch(
        self,
        standard: Standardization,
        gradient: np.ndarray,
        strength: float,
        seed: int,
        n_iter: int,
        block: Rows,
    ) -> EpochIterates:
        """One SVRG epoch over the rows of a block. Parameters and gradient are those of standardized columns.
        CSR rows stay sparse: their columns are not standardized."""
        ridge = np.full(len(standard.scale), strength)
        if standard.ordinary:
            return self._svrg_epoch(gradient, ridge, seed, n_iter, block)
        if not sp.issparse(block.X):
            return self._svrg_epoch(gradient, ridge / standard.scale**2, seed, n_iter, standard.rows(block))
        at = self.replace(theta=standard.from_standard(self.theta))
        ends = at._svrg_epoch(standard.gradient_from_standard(gradient), ridge, seed, n_iter, block)
        return ends.replace(point=standard.to_standard(ends.point))

    def _svrg_epoch(
        self, gradient: np.ndarray, ridge: np.ndarray, seed: int, n_iter: int, block: Rows
    ) -> EpochIterates:
        """One step per row, in two sweeps: see `svrg`. `ridge` is the weight of the l2 penalty of each
        column.

        The Lipschitz constant of the gradient of a row is at most a quarter of its squared norm for two
        classes, half of it for more.
        """
        from ..loops.log_linear import svrg_epoch

        N, D = block.X.shape
        weight = block.weight * self.class_weight[class_codes(self.classes, block.y)]
        total = float(weight.sum())
        if not total:
            return EpochIterates(0.0, np.zeros(self.theta.size))
        X, share = sp.csr_array(block.X), weight * (N / total)  # the mean of the steps is that of the loss
        scores = self.scores(X)
        before = expit(scores) if len(self.theta) == 1 else softmax(scores)
        largest = (share * (row_norms(X, squared=True) + 1.0)).max()
        lipschitz = (0.25 if len(self.theta) == 1 else 0.5) * largest
        rng = generator(Purpose.ORDER, seed, n_iter, *block.index)
        order = np.concatenate([rng.permutation(N), rng.permutation(N)])
        every = max(1, D * N // max(1, X.nnz))  # as much work as a row: most of it is zeros
        start, drift = (np.ascontiguousarray(a.reshape(self.theta.shape).T) for a in (self.theta, gradient))
        length = 1.0 / (lipschitz + every * ridge.max(initial=0.0))
        end = svrg_epoch(
            *(*entries_of(X), order, share, before, start, drift),
            *(np.append(ridge, 0.0), float(length), every, bool(self.fit_intercept)),
        )
        return EpochIterates(total, total * end.T.ravel())

    def margins(self, block: Rows) -> np.ndarray:
        """Margin of each row: the score of its class minus the next largest score, (N,)."""
        scores, codes = self.scores(block.X), class_codes(self.classes, block.y)
        if len(self.theta) == 1:
            return np.where(codes == 1, scores[:, 0], -scores[:, 0])
        return margins(scores, codes)


SOLVERS = (
    "lbfgs",
    "bfgs",
    "dfp",
    "newton",
    "newton-cholesky",
    "newton-cg",
    "gradient",
    "svrg",
    "sag",
    "saga",
)
NAMES = (*SOLVERS, "liblinear")

# How scikit-learn begins the warning of a solver that did not converge: filters of warnings look for it.
UNCONVERGED = {
    "lbfgs": "lbfgs failed to converge",
    "liblinear": "Liblinear failed to converge, increase the number of iterations",
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations",
    "newton-cholesky": "Newton solver did not converge after {} iterations",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}


class LogisticClassifier(Classifier):
    """Base class of classifiers whose probabilities are the softmax of scores, or the logistic of one."""

    _scores: Callable[[Any], np.ndarray]  # of each row and class, (N, K); of two classes, (N, 1)

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes. For two classes, one score: of the second against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior probability log p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        return log_softmax(scores) if scores.shape[1] > 1 else log_expit(np.hstack([-scores, scores]))

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probability p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        return softmax(scores) if scores.shape[1] > 1 else expit(np.hstack([-scores, scores]))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        best = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best]


class LogisticRegression(SparseCoefficients, LogisticClassifier, Iterative):
    """Logistic regression with an l2, l1 or elastic-net penalty.

    Parameters
    ----------
    penalty : {'l2', 'l1', 'elasticnet', None}, default='deprecated'
        Deprecated, as in scikit-learn: use ``l1_ratio=1`` for 'l1', `l1_ratio` for 'elasticnet', and
        ``C=np.inf`` for None.
    C : float, default=1.0
        Inverse of the regularization strength. ``np.inf`` means no penalty.
    l1_ratio : float, default=0.0
        Share of the l1 penalty, which sets coefficients to zero. 0 is the l2 penalty, 1 is the l1 penalty,
        and values between are the elastic net. Supported by the solvers 'lbfgs' (OWL-QN), 'newton', 'saga'
        and, without values between, 'liblinear'.
    dual : bool, default=False
        True is for 'liblinear' with the l2 penalty only, and reaches the same optimum.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss, with
        respect to the coefficients of standardized columns. Columns whose standard deviation is between 1/16
        and 16, and whose mean is within 16 deviations of zero, are not standardized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1
        With 'liblinear', the penalty includes ``intercept / intercept_scaling``. Other solvers do not
        penalize the intercept.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' gives every class the same total weight.
    random_state : int, default=None
        Seed for the order in which 'svrg' visits the rows.
    solver : {'lbfgs', 'bfgs', 'dfp', 'newton', 'newton-cholesky', 'newton-cg', 'gradient', 'svrg', 'sag', \
            'saga', 'liblinear'}, default='lbfgs'
        Optimization algorithm. All reach the same optimum. 'lbfgs': limited-memory BFGS, for any number of
        coefficients. 'bfgs', 'dfp': quasi-Newton with a dense matrix, for few coefficients. 'newton' (also
        'newton-cholesky' and 'newton-cg'): Newton's method, i.e. iteratively reweighted least squares. It
        takes the fewest passes; each sums the Hessian. 'gradient': gradient descent, for study. 'svrg' (also
        'sag' and 'saga'): stochastic variance-reduced gradient (SVRG) within each block, averaged over the
        blocks. Its number of iterations, and how far from the optimum it stops, depend on the order of the
        rows. 'saga' with an l1 penalty is 'newton' for up to 256 parameters, else 'lbfgs'. So is 'liblinear',
        which is for two classes and penalizes the intercept, as scikit-learn's solver of that name does.
    max_iter : int, default=100
        Maximum number of iterations.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : ndarray of shape (1,)
        Number of iterations.
    trace_ : ndarray
        Penalized mean loss by iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LogLinear
        The fitted model. Its `summarize` returns the loss and the gradient of a block.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    RidgeClassifier : A quick classifier by least squares.
    ProportionalOdds : Classes that have an order.
    MaximumEntropy : Features of row and class together.
    suffice.naive_bayes.GaussianNB : A generative classifier.

    Notes
    -----
    With row weights s_n and ρ = `l1_ratio`, the coefficients w minimize

    .. math::

        -C ∑_n s_n \\log p(y_n | x_n) + \\frac{1 - ρ}{2} ‖w‖^2 + ρ ‖w‖_1,

    where the probability of class c is

    .. math::

        p(c | x) = \\frac{e^{w_c^T x + b_c}}{∑_j e^{w_j^T x + b_j}}.

    With two classes, the coefficients of the first are zero.

    References
    ----------
    * Cox (1958), "The regression analysis of binary sequences", Journal of the Royal Statistical Society B
      20.
    * Liu and Nocedal (1989), "On the limited memory BFGS method for large scale optimization", Mathematical
      Programming 45.
    * Johnson and Zhang (2013), "Accelerating stochastic gradient descent using predictive variance
      reduction", NIPS 26.

    Examples
    --------
    >>> from suffice.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5], [2.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    exempt = (FROM_ZERO,)

    model_: Annotated[LogLinear, "K, D"]
    coef_: Annotated[Any, "real (K, D) or real (1, D)"]
    intercept_: Annotated[np.ndarray, "real (K,) or real (1,)"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None, Hidden(StrOptions({"deprecated"}))],
        "C": [POSITIVE, INF],
        "l1_ratio": [SHARE, None],
        "dual": ["boolean"],
        "intercept_scaling": [POSITIVE],
        "solver": [StrOptions(set(NAMES))],
        "max_iter": [AT_LEAST_0],
    }

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Seed = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    _classes: Any = None  # of a fit to rows that may lack some of them

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags

    def _block_rows(self, block: Rows) -> float | None:
        """More very sparse rows than by default: beside them, a dense summary is large."""
        X = block.X
        rows = 24.0 * X.shape[1] * X.shape[0] / max(1, X.nnz) if sp.issparse(X) else 0.0
        return rows if rows > BLOCK_BYTES / max(block.row_bytes, 8.0) else None

    def _check_options(self) -> None:
        ratio = self._ratio()
        find_solver(self._algorithm(ratio, 0), SOLVERS, l1_ratio=ratio)

    def _solve(self, data: Partitions) -> Progress:
        ratio, liblinear = self._ratio(), self.solver == "liblinear"
        model, sizes, weight = self._start(data)
        name = self._algorithm(ratio, model.theta.size)
        solver = find_solver(name, SOLVERS, l1_ratio=ratio)
        if solver.hessian:
            size = model.theta.size
            afford(size**2, f"the Hessian of {size} parameters", "use solver='lbfgs'.")
            model = model.replace(curvature=True)
        strength = self._strength(weight)
        shift = self.fit_intercept and not liblinear  # a penalty of the intercept is at the origin
        standard = Standardization.of(sizes, strength, n_constants=1, shift=shift)
        constant = 1.0 / self.intercept_scaling if liblinear and self.fit_intercept else 0.0
        per_unit = np.append(1.0 / standard.scale, constant)  # theta of the original columns
        ridge = (1.0 - ratio) * strength * per_unit**2
        l1: Any = 0.0
        if ratio:
            l1 = np.tile(ratio * strength * per_unit, len(model.theta))
        problem = Problem(data, model, ColumnRidgePenalty(ridge, model.theta.shape), standard=standard, l1=l1)
        start: Any = problem.start
        options: dict[str, Any] = {"epoch": self._epoch(problem, strength)} if solver.ordered else {}
        if name == "lbfgs":
            columns = sizes.columns
            squares = (columns.variance + (columns.mean - standard.center) ** 2) / standard.scale**2
            start = Descent(start, inverse=model.units(squares, ridge[:-1], model.even_curvature))
            if not model.theta.any():
                start = optimum_of_few(problem, solver, start, weight, tol=self.tol, max_iter=self.max_iter)
        watch = Watch(self, self.checkpoint, data, as_model=problem.solution, in_order=solver.ordered)
        progress = solver(problem, start, tol=self.tol, max_iter=self.max_iter, watch=watch, **options)
        at, s = problem.solution(progress.model), problem.statistics(progress.model)
        progress = progress.replace(model=at.replace(curvature=False), statistics=s)
        return without_maximum(progress, data, strength)

    @property
    def preserves_dtype(self) -> tuple[str, ...]:  # type: ignore[override]
        """scikit-learn computes 'liblinear' in float64."""
        return () if self.solver == "liblinear" else ("coef_", "intercept_")

    def _algorithm(self, ratio: float, size: int) -> str:
        """The name here of the solver, for that many parameters. scikit-learn's 'liblinear', and its 'saga'
        with an l1 penalty, are Newton's method while the Hessian is small, and L-BFGS or OWL-QN beyond."""
        if self.solver != "liblinear" and not (ratio and self.solver == "saga"):
            return self.solver
        return newton_or_lbfgs(size)

    def _unconverged(self, progress: Any) -> str:
        begin = UNCONVERGED.get(self.solver, "").format(progress.n_iter)
        return f"{begin}. {super()._unconverged(progress)}" if begin else super()._unconverged(progress)

    def _guarantee(self) -> Guarantee:
        return Guarantee() if self.l1_ratio and self.solver == "saga" else super()._guarantee()

    def _epoch(self, problem: Problem, strength: float) -> Callable[..., EpochIterates]:
        """The additional fold that SVRG needs."""
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

        def epoch(theta: np.ndarray, gradient: np.ndarray, n_iter: int) -> EpochIterates:
            shared = problem.standard, gradient, strength, seed, n_iter
            return problem.data.fold(LogLinear.svrg_epoch, problem.model.at(theta), *shared)

        return epoch

    def _ratio(self) -> float:
        """The share of the l1 penalty. Warns and raises for what scikit-learn deprecates and refuses."""
        ratio, penalty = self._l1_ratio(), self.penalty
        if self.n_jobs is not None:
            warn(
                f"'n_jobs' has no effect, and scikit-learn will remove it in 1.10. You provided "
                f"'n_jobs={self.n_jobs}': leave it out, and see suffice.threads.",
                FutureWarning,
            )
        if penalty is None and self.C != 1.0:
            warn("Setting penalty=None will ignore the C and l1_ratio parameters.")
        if self.dual and self.solver != "liblinear":
            raise ValueError(f"Solver {self.solver} supports only dual=False, got dual=True.")
        if self.dual and ratio:
            raise ValueError("dual=True does not support an l1 penalty: use dual=False.")
        if self.solver == "liblinear" and 0.0 < ratio < 1.0:
            raise ValueError("Only 'saga' solver supports elasticnet penalty, got solver=liblinear.")
        if self.solver == "liblinear" and (penalty is None or np.isinf(self.C)):
            raise ValueError(
                "C=np.inf as well as penalty=None is not supported for the liblinear solver: use "
                "solver='lbfgs'."
            )
        return 0.0 if penalty is None or np.isinf(self.C) else ratio

    def _l1_ratio(self) -> float:
        """`l1_ratio`, or what the deprecated `penalty` says in its place."""
        penalty, ratio = self.penalty, self.l1_ratio
        if isinstance(penalty, str) and penalty == "deprecated":
            if ratio is None:
                warn(
                    "'l1_ratio=None' was deprecated in scikit-learn 1.8: use 0 <= l1_ratio <= 1.",
                    FutureWarning,
                )
            return ratio or 0.0
        warn(
            "'penalty' was deprecated in scikit-learn 1.8: leave it out. Use l1_ratio=0 for penalty='l2', "
            "l1_ratio=1 for 'l1', a number between for 'elasticnet', and C=np.inf for None.",
            FutureWarning,
        )
        if penalty == "elasticnet":
            if ratio is None:
                raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
            return ratio
        if ratio is not None and 0.0 < ratio < 1.0:
            warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty}).")
        if penalty is not None and ratio != (1.0 if penalty == "l1" else 0.0):
            warn(f"Inconsistent values: penalty={penalty} with l1_ratio={ratio}. Please use l1_ratio only.")
        return 1.0 if penalty == "l1" else 0.0

    def _start(self, data: Partitions) -> tuple[LogLinear, ColumnSizes, float]:
        """The initial model, the scales of the columns, and the total weight by class."""
        classes, sizes = classes_and_sizes(data, self._classes)
        K, D = len(classes), self.n_features_in_
        if self.solver == "liblinear" and K > 2:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3): use "
                "another solver, or sklearn.multiclass.OneVsRestClassifier."
            )
        theta = np.zeros((1 if K == 2 else K, D + 1))
        if self.warm_start and hasattr(self, "model_") and self.model_.theta.shape == theta.shape:
            theta = self.model_.theta
        weights = class_weights(self.class_weight, data, classes)
        weight = sizes.weight if (weights == 1).all() else weights.dot(class_totals(data, classes))
        return LogLinear(theta, classes, weights, self.fit_intercept), sizes, float(weight)

    def _strength(self, weight: float) -> float:
        """Strength of the l2 penalty beside the mean loss: 1 / (C x total weight)."""
        return 0.0 if self.penalty is None else 1.0 / (self.C * weight)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: LogLinear = progress.model
        return {
            "classes_": model.classes,
            "coef_": np.ascontiguousarray(model.theta[:, :-1]),
            "intercept_": model.theta[:, -1].copy(),
            "n_iter_": np.array([progress.n_iter], dtype=np.int32),
        }

    def _scores(self, X: Any) -> np.ndarray:
        return line(self, read_rows(self, X), X)
