"""Kernel logistic regression: exact, or with landmarks.

Jaakkola and Haussler, "Probabilistic kernel regression models", 1999; Zhu and Hastie, "Kernel logistic
regression and the import vector machine", 2005; STATS 601 5.7 and 5.9.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.kernel import INSTEAD, KernelEstimator
from ..estimator.parameters import AT_LEAST_0, POSITIVE
from ..fitting import SOLVERS, ColumnRidgePenalty, Problem
from ..fitting.descent import Descent
from ..fitting.landmarks import Features, LandmarkLoss, Landmarks
from ..fitting.solvers import newton_or_lbfgs
from ..inputs import in_blocks, map_rows, read_rows
from ..kernels.base import KernelLike
from ..statistics import class_totals, classes_of, weights_of_classes
from .logistic import LogisticClassifier, LogLinear


class KernelLoss(KernelEstimator, Iterative):
    """Base class of machines that minimize a smooth loss and the squared norm in the space of a kernel."""

    has_target = True
    model_: Annotated[LandmarkLoss, "K, D"]
    C: float
    tol: float
    max_iter: int
    fit_intercept: bool
    checkpoint: Any

    def _rows(self, data: Partitions) -> tuple[Landmarks, Any, Any]:
        """The landmarks; the features of all rows, if they are exact; and the rows with a weight."""
        if self.landmarks is not None:
            return self._sampled(data), None, data
        block = data.gather(INSTEAD)
        must_have_rows(block.weight)
        landmarks, X = Landmarks.all_rows(self._kernel(), block, INSTEAD)
        rows = Rows(X, block.y, block.weight)
        if not block.weight.all():  # of a precomputed kernel: see `counts_rows`
            rows = rows[block.weight > 0]
        features = Features(in_blocks(rows))
        return landmarks, features, features

    def _logistic(self, data: Partitions, class_weight: dict[Any, float] | str | None = None) -> Progress:
        """The fit of probabilities of classes."""
        landmarks, features, rows = self._rows(data)
        classes = classes_of(rows)
        totals = class_totals(rows, classes)
        weights = weights_of_classes(class_weight, classes, totals)
        if not (weights * totals).all():
            raise ValueError(
                f"Each class must have a positive weight: classes {classes.tolist()} have total weights "
                f"{(weights * totals).tolist()}. Leave out the rows of the others."
            )
        theta = np.zeros((1 if len(classes) == 2 else len(classes), landmarks.root.shape[1] + 1))
        linear = LogLinear(theta, classes, weights, self.fit_intercept)
        return self._minimize(data, landmarks, features, linear, float(weights.dot(totals)))

    def _minimize(
        self, data: Partitions, landmarks: Landmarks, features: Any, linear: Any, weight: float
    ) -> Progress:
        """The fit of a linear model of the features, by Newton's method or L-BFGS."""
        name = newton_or_lbfgs(linear.theta.size)
        linear = linear.replace(curvature=name == "newton")
        strength = np.full(landmarks.root.shape[1] + 1, 1.0 / (self.C * weight))
        strength[-1] = 0.0 if self.fit_intercept else 1.0  # of what stays zero, so that Newton steps exist
        exact = features is not None
        model = linear if exact else LandmarkLoss(landmarks, linear)
        problem = Problem(features or data, model, ColumnRidgePenalty(strength, linear.theta.shape))
        start = Descent(problem.start)
        if name == "lbfgs":
            start = start.replace(
                inverse=linear.units(landmarks.mean_squares, strength[:-1], linear.even_curvature)
            )

        def as_model(theta: np.ndarray) -> LandmarkLoss:
            at = problem.solution(theta)
            at = LandmarkLoss(landmarks, at) if exact else at
            return at.replace(linear=at.linear.replace(curvature=False))

        watch = Watch(self, self.checkpoint, data, as_model=as_model, in_order=exact)
        progress = SOLVERS[name](problem, start, tol=self.tol, max_iter=self.max_iter, watch=watch)
        s = problem.statistics(progress.model)
        return progress.replace(model=as_model(progress.model), statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: LandmarkLoss = progress.model
        theta, M = model.of_kernels.theta, len(model.landmarks.root)
        intercept = theta[:, M].copy() if theta.shape[1] > M else np.zeros(len(theta))
        return {
            "X_fit_": model.landmarks.columns.points,
            "dual_coef_": np.ascontiguousarray(theta[:, :M]),
            "intercept_": intercept,
        }

    def _scores(self, X: Any) -> np.ndarray:
        """(N, P)."""
        check_is_fitted(self)
        model = self.model_
        linear, columns = model.of_kernels, model.landmarks.columns
        return map_rows(lambda rows: linear.scores(columns(rows)), read_rows(self, X))


class KernelLogisticRegression(LogisticClassifier, KernelLoss):
    """Logistic regression in the space of a kernel: exact, or with landmarks.

    Scores are functions that a kernel describes, and the probabilities of two or more classes follow from
    them. Without `landmarks`, the rows are gathered, and all of them are points of the functions. With
    `landmarks`, the functions are sums of kernels with as many sampled rows, and each step is one pass over
    the rows, wherever they are.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularization strength. Must be positive and finite.
    kernel : Kernel, str or callable, default='rbf'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two arrays of rows that returns their Gram matrix, or 'precomputed' if X is that matrix. It must be
        positive definite. With a kernel of strings, :class:`~suffice.kernels.Subsequences`, X is a list of
        strings or of sequences of symbols.
    gamma : float, default=None
        Parameter of a kernel that is passed by name; None is one over the number of features, and 1 for
        'chi2'.
    degree : float, default=3
        Degree of the kernel 'poly'.
    coef0 : float, default=1
        Parameter of 'poly' and 'sigmoid'.
    kernel_params : dict, default=None
        Parameters of a kernel that is a function, passed as keywords.
    landmarks : int, default=None
        Number of rows to sample by a hash of their values. If None, or if there are no more rows, all rows
        are used, and the solution is exact.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalized.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' gives every class the same total weight.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss, with
        respect to the coefficients of the landmarks' features.
    max_iter : int, default=100
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the sample.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    dual_coef_ : ndarray of shape (1, n_points) or (n_classes, n_points)
        Coefficients of the kernels with `X_fit_`. For two classes, those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    X_fit_ : ndarray of shape (n_points, n_features)
        The rows with a weight, or the landmarks. For a precomputed kernel, the numbers of its columns.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration, as the mean per row.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LandmarkLoss
        The fitted model.
    statistics_ : Objective
        The loss at the solution and its derivatives, summed over the rows.

    See Also
    --------
    LogisticRegression : Scores that are linear in the features.
    suffice.svm.SVC : The hinge loss, whose solution has few support vectors and no probabilities.
    suffice.kernel_ridge.KernelRidge : The squared loss, for numbers.
    suffice.kernel_approximation.Nystroem : The features of landmarks.

    Notes
    -----
    With row weights :math:`s_n` and the norm of the kernel's space, the functions of the classes minimize

    .. math::

        -C ∑_n s_n \\log p(y_n | x_n) + \\frac{1}{2} ∑_c ‖f_c‖^2, \\qquad
        p(c | x) ∝ e^{f_c(x) + b_c}, \\quad f_c(x) = ∑_m a_{cm} k(x, z_m).

    With two classes, the function of the first is zero. If all rows are points and their kernel matrix is
    invertible, :math:`a_{cn} = C s_n (1(y_n = c) - p(c | x_n))` at the optimum, so the coefficients of the
    classes add up to zero by themselves. Landmarks have the features of
    :class:`~suffice.kernel_approximation.Nystroem`, and a linear model of these is fitted: by Newton's method
    (iteratively reweighted least squares), or by L-BFGS if there are more than 256 coefficients.

    References
    ----------
    * Zhu and Hastie (2005), "Kernel logistic regression and the import vector machine", Journal of
      Computational and Graphical Statistics 14.
    * Jaakkola and Haussler (1999), "Probabilistic kernel regression models", AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import KernelLogisticRegression
    >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    >>> y = ["out", "in", "in", "in", "out"]
    >>> model = KernelLogisticRegression(C=10.0).fit(X, y)
    >>> model.predict([[-3.0], [0.5]])
    array(['out', 'in'], dtype='<U3')
    >>> model.predict_proba([[0.0]]).round(2)
    array([[0.91, 0.09]])
    """

    exempt = (Exempt("rounding", "Features are eigenvectors, also of small eigenvalues."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEstimator.kernel_constraints,
        "C": [POSITIVE],
        "max_iter": [AT_LEAST_0],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        landmarks: int | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-4,
        max_iter: int = 100,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        return self._logistic(data, self.class_weight)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"classes_": progress.model.linear.classes, **super()._fitted(progress)}
