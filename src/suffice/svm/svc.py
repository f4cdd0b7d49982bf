"""Support vector classification through the dual. Cortes and Vapnik 1995; Li ch. 7."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.cost import afford
from ..core.values import Value
from ..estimator.guarantees import OF_ROWS
from ..estimator.parameters import INF, NON_NEGATIVE, POSITIVE, StrOptions
from ..fitting.dual import Columns, Dual, DualSolution, Record, minimize_dual
from ..fitting.quadratic import minimize_quadratic
from ..inputs import open_rows
from ..kernels.base import KernelLike, must_be_finite
from ..statistics import class_codes
from .base import INSTEAD, Result
from .one_vs_one import OneVsOne

MOST_C = 1e7  # relative to one over the largest k(x, x)
LEAST_DISTANCE = (
    1e-6  # squared distance of the convex hulls of separable classes, relative to the largest k(x, x)
)


@dataclass(frozen=True, eq=False)
class KKTReport(Value):
    """The conditions of an optimum (Karush, Kuhn and Tucker) at each row of a fit to two classes.

    Rows are "outside" of the margin, where the coefficient is zero; "on" it, where it is between its bounds;
    or "inside", where it is C times the weight, and the slack is above zero. A slack above one is
    an error.
    """

    margin: Annotated[np.ndarray, "(N,)"]  # y f(x), with y = 1 or -1
    alpha: Annotated[np.ndarray, "(N,)"]  # from zero to C times the weight
    slack: Annotated[np.ndarray, "(N,)"]  # max(0, 1 - y f(x))
    position: Annotated[np.ndarray, "strings (N,)"]
    violation: Annotated[np.ndarray, "(N,)"]  # of the condition at its position
    primal: float  # the objectives
    dual: float

    @property
    def gap(self) -> float:
        """The duality gap: an upper bound on the distance of the primal objective from its minimum."""
        return self.primal - self.dual


class SVC(OneVsOne):
    """Support vector classification with a kernel (C-SVC).

    The dual is solved by sequential minimal optimization (SMO) of working sets, for each pair of classes.
    The rows are gathered in memory, and the columns of the kernel matrix are computed as they are needed.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularization strength: the largest coefficient of a row of weight one. With
        ``float("inf")`` the margin is hard: rows that cannot be separated by a thousandth of their norm are
        refused.
    kernel : Kernel, str or callable, default='rbf'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two arrays of rows that returns their Gram matrix, or 'precomputed' if X is that matrix. With a kernel
        of strings, :class:`~suffice.kernels.Subsequences`, X is a list of strings or of sequences of symbols.
    degree : int, default=3
        Degree of the kernel 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of a kernel that is passed by name. 'scale' is 1 / (n_features * variance), with the
        weighted variance of all numbers in X; 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        Constant of the kernels 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Ignored: working sets take its place.
    probability : bool, default='deprecated'
        Whether to fit `predict_proba`, by Platt's sigmoids of the scores in an internal 5-fold
        cross-validation. Deprecated, as in scikit-learn 1.9: use
        ``CalibratedClassifierCV(SVC(), ensemble=False)``.
    tol : float, default=0.001
        Stopping criterion: the largest violation of the conditions of an optimum.
    cache_size : float, default=200
        Megabytes for columns of the kernel matrix.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied.
    verbose : bool, default=False
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    max_iter : int, default=-1
        Maximum number of iterations.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Whether `decision_function` has a score for each class, or one for each pair of classes. With two
        classes it has one.
    break_ties : bool, default=False
        Whether `predict` takes the largest of the scores of the classes, instead of the class with most
        votes of the pairs.
    random_state : int, RandomState instance or None, default=None
        Seed for the folds of ``probability=True``. Nothing else is random.
    solver : {'smo', 'qp'}, default='smo'
        'smo' optimizes working sets of coefficients. 'qp' is an interior-point method: exact to rounding in
        few iterations, with the whole kernel matrix in memory, for up to a few thousand rows.
    slack_budget : float, default=None
        The largest sum of the slacks of two classes, each times its weight, instead of C: `C_` is the
        equivalent C. Zero is the hard margin.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    C_ : ndarray of shape (n_pairs,)
        C of each pair of classes: infinite for a hard margin.
    class_weight_ : ndarray of shape (n_classes,)
        Weights of the classes.
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray or CSR matrix of shape (n_pairs, n_features)
        Weights of the features. Only with a linear kernel.
    converged_ : bool
        Whether the conditions of an optimum hold to `tol`.
    dual_coef_ : ndarray or CSR matrix of shape (n_classes - 1, n_SV)
        Coefficients of the support vectors, with signs: row by row those against each other class.
    fit_status_ : int
        0 if the fit converged, else 1.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts.
    model_ : SupportVectors
        The functions of all pairs of classes, positive where the first one is predicted.
    n_iter_ : ndarray of shape (n_pairs,)
        Number of pairs of coefficients that were optimized.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    shape_fit_ : tuple of int
        The shape of X, of the rows with a weight.
    sigmoids_ : ndarray of shape (n_pairs, 2)
        Slopes and intercepts of Platt's sigmoids. Only with ``probability=True``.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors among the rows with a weight, by class.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, n_features)
        Support vectors: sparse if the rows are, an array of strings if they are strings, and without rows if
        the kernel is precomputed.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    suffice.linear_model.KernelPerceptron : Any separating hyperplane, in the space of a kernel.

    Notes
    -----
    The primal and, with y = 1 or -1, the dual are

    .. math::

        \\min_{f, b} \\tfrac 1 2 ‖f‖^2 + C ∑_n w_n \\max(0, 1 - y_n (f(x_n) + b)), \\qquad
        \\min_α \\tfrac 1 2 ∑_{nm} α_n α_m y_n y_m k(x_n, x_m) - ∑_n α_n,
        \\quad 0 ≤ α_n ≤ C w_n, \\quad ∑_n α_n y_n = 0.

    :meth:`kkt_report` has their gap. An integer weight is equivalent to repeating the row.

    References
    ----------
    * Cortes and Vapnik, "Support-vector networks", Machine Learning 20, 1995.
    * Platt, "Fast training of support vector machines using sequential minimal optimization", 1998.
    * Fan, Chen and Lin, "Working set selection using second order information for training support vector
      machines", JMLR 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.kernels import RBF, Polynomial
    >>> from suffice.svm import SVC
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), ["a", "b", "b", "a"]
    >>> model = SVC(kernel=RBF(1.0) + 0.5 * Polynomial(2)).fit(X, y)
    >>> model.predict(X)
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    """

    exempt = (OF_ROWS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OneVsOne._parameter_constraints,
        "C": [POSITIVE, INF],
        "solver": [StrOptions({"smo", "qp"})],
        "slack_budget": [NON_NEGATIVE, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Seed = None,
        solver: str = "smo",
        slack_budget: float | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.slack_budget = slack_budget
        self.checkpoint = checkpoint

    def _solve_dual(self, columns: Columns, y: np.ndarray, weight: np.ndarray, record: Record) -> Result:
        if self.slack_budget is not None and self.slack_budget > 0:
            return self._within_budget(float(self.slack_budget), columns, y, weight, record)
        C = np.inf if self.slack_budget == 0 else float(self.C)
        return self._with_C(C, columns, y, weight, np.zeros(len(y)), record)

    def _with_C(
        self,
        C: float,
        columns: Columns,
        y: np.ndarray,
        weight: np.ndarray,
        start: np.ndarray,
        record: Record | None,
    ) -> Result:
        if np.isinf(C):
            return self._nearest_points(columns, y, record)
        most = C * weight
        lower, upper = np.where(y > 0, 0.0, -most), np.where(y > 0, most, 0.0)
        dual = Dual(-y, lower, upper, np.arange(len(y)), np.zeros(len(y), np.int64))
        solution = self._minimize(dual, columns, start, self.tol, record)
        return Result(solution.beta, -float(solution.level[0]), solution, C)

    def _minimize(
        self, dual: Dual, columns: Columns, start: np.ndarray, tol: float, record: Record | None
    ) -> DualSolution:
        if self.solver == "smo":
            return minimize_dual(dual, columns, start, tol, self.max_iter, record)
        if record is not None and (known := record.known()) is not None:
            return known
        N = columns.n_rows
        afford(2 * N * N, f"the kernel matrix of {N} rows", "use solver='smo'.")
        K = columns.compute(np.arange(N), slice(None))
        must_be_finite(K)
        solution = minimize_quadratic(dual, K, start)
        return solution if record is None else record.solved(solution)

    def _within_budget(
        self, budget: float, columns: Columns, y: np.ndarray, weight: np.ndarray, record: Record
    ) -> Result:
        """The largest margin with this sum of slacks. The sum decreases with C, which is found by
        successive solutions."""
        most = 2.0 * min(weight[y > 0].sum(), weight[y < 0].sum())
        if budget >= most:
            raise ValueError(
                f"slack_budget={budget} allows any margin: the slacks of two classes are at most {most}. "
                "Lower it."
            )
        C = 1.0 / float(columns.diagonal().max())
        result = Result(np.zeros(len(y)), 0.0, None, C)  # type: ignore[arg-type]

        def excess(C: float) -> float:
            nonlocal result
            result = self._with_C(C, columns, y, weight, result.beta * (C / result.parameter), record)
            # C times the slacks is the sum of the coefficients less the squared norm, if the gap is zero.
            return float(-result.beta @ result.solution.slope) / C - budget

        low = high = C
        if excess(C) > 0:
            while excess(high := 4.0 * high) > 0:
                low = high
                if high > MOST_C * C:
                    raise ValueError(
                        f"slack_budget={budget} is not reached with this kernel: use a larger one, or C."
                    )
        else:
            while excess(low := low / 4.0) <= 0:
                high = low
        try:
            root = brentq(lambda a: excess(np.exp(a)), np.log(low), np.log(high), xtol=1e-10)
        except ValueError:  # the sign of the excess at an end is that of its error
            raise ValueError(
                f"slack_budget={budget} is less than the error of the slacks at tol={self.tol}: use a larger "
                "one, a smaller tol, or zero for a hard margin."
            ) from None
        excess(float(np.exp(root)))
        return result

    def _nearest_points(self, columns: Columns, y: np.ndarray, record: Record | None) -> Result:
        """The hard margin: the hyperplane halfway between the nearest points of the convex hulls of the two
        classes (Bennett and Bredensteiner, "Duality and geometry in SVM classifiers", 2000)."""
        dual = Dual(
            np.zeros(len(y)),
            np.minimum(y, 0.0),
            np.maximum(y, 0.0),
            np.arange(len(y)),
            (y < 0).astype(np.int64),
        )
        beta = np.zeros(len(y))
        beta[[np.argmax(y), np.argmin(y)]] = 1.0, -1.0
        largest = float(columns.diagonal().max())
        tol, n_iter = 0.1 * LEAST_DISTANCE * largest, 0
        while True:
            solution = self._minimize(dual, columns, beta, tol, record)
            n_iter += solution.n_iter
            square = 2.0 * solution.objective  # the squared distance of the hulls
            if square <= LEAST_DISTANCE * largest:
                raise ValueError("Two classes are not separable with this kernel: set a finite C.")
            if solution.violation > tol or self.solver == "qp" or tol <= 0.5 * self.tol * square:
                middle = np.abs(solution.beta) @ solution.slope  # of the two points, twice
                scaled = replace(solution, violation=2.0 * solution.violation / square, n_iter=n_iter)
                return Result(solution.beta * (2.0 / square), -middle / square, scaled, np.inf)
            beta, tol = solution.beta, 0.4 * self.tol * square

    def kkt_report(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> KKTReport:
        """The conditions of an optimum at each row of the fit, and the duality gap; for two classes.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows of the fit.
        y : array of shape (n_samples,), optional
            Their labels.
        sample_weight : array, optional
            Their weights.

        Returns
        -------
        KKTReport
            The margin, slack, coefficient, position and violation of each row, and the duality gap.
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise ValueError(f"kkt_report supports two classes only; the fit has {len(self.classes_)}.")
        block = open_rows(self, X, y, sample_weight, reset=False).gather(INSTEAD)
        if len(block) != self.shape_fit_[0]:
            raise ValueError(f"X has {len(block)} rows, and the fit had {self.shape_fit_[0]}: pass its rows.")
        codes = np.asarray(class_codes(self.classes_, np.asarray(block.y)), np.int64)
        sign, beta = np.where(codes == 1, 1.0, -1.0), np.zeros(len(block))
        beta[self.support_] = -self.model_.coef[0]
        score = -self.model_(block.X)[:, 0]
        C, alpha, margin = float(self.C_[0]), sign * beta, sign * score
        most = C * block.weight * self.class_weight_[codes]
        slack = np.maximum(0.0, 1.0 - margin)
        position = np.where(alpha <= 0, "outside", np.where(alpha < most, "on", "inside"))
        wrong = np.where(
            alpha <= 0, slack, np.where(alpha < most, np.abs(1.0 - margin), np.maximum(0.0, margin - 1))
        )
        square = float(beta @ (score - self.intercept_[0]))
        loss = float(np.where(slack > 0, most, 0.0) @ slack) if np.isfinite(C) else 0.0
        return KKTReport(
            margin,
            alpha,
            slack,
            position,
            np.where(most > 0, wrong, 0.0),
            0.5 * square + loss,
            alpha.sum() - 0.5 * square,
        )
