"""Support vector classification with a fraction of rows inside the margin. Schölkopf, Smola, Williamson and
Bartlett 2000."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath, Seed
from ..estimator.guarantees import OF_ROWS
from ..estimator.parameters import Interval
from ..fitting.dual import Columns, Dual, Record, minimize_dual
from ..kernels.base import KernelLike
from .one_class import filled
from .one_vs_one import OneVsOne, Result

LEAST_MARGIN = 1e-6  # ρ of the classes, relative to squared distances and the sum of the coefficients


class NuSVC(OneVsOne):
    """Support vector classification with a kernel (nu-SVC): `nu` bounds the fraction of errors.

    The dual is solved by sequential minimal optimization (SMO) of working sets, for each pair of classes.
    The rows are gathered in memory, and the columns of the kernel matrix are computed as they are needed.

    Parameters
    ----------
    nu : float, default=0.5
        An upper bound on the fraction of rows inside the margin, and a lower bound on the fraction of support
        vectors, by weight. In (0, 1]. Infeasible if a class has less than half of this fraction of the
        weight of two classes.
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
        ``CalibratedClassifierCV(NuSVC(), ensemble=False)``.
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
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    C_ : ndarray of shape (n_pairs,)
        C of :class:`SVC` with the same optimum, for each pair of classes.
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
    SVC : The same with the penalty C of slacks.

    Notes
    -----
    With the total weight W of the rows of two classes, and y = 1 or -1, the primal and the dual are

    .. math::

        \\min_{f, b, ρ} \\tfrac 1 2 ‖f‖^2 - ν W ρ + ∑_n w_n \\max(0, ρ - y_n (f(x_n) + b)), \\\\
        \\min_α \\tfrac 1 2 ∑_{nm} α_n α_m y_n y_m k(x_n, x_m), \\quad
        0 ≤ α_n ≤ w_n, \\quad ∑_n α_n y_n = 0, \\quad ∑_n α_n = ν W.

    The function is divided by ρ, as if the margin was one: :class:`SVC` with ``C = 1 / ρ`` has the same
    optimum. An integer weight is equivalent to repeating the row.

    References
    ----------
    * Schölkopf, Smola, Williamson and Bartlett, "New support vector algorithms", Neural Computation 12, 2000.
    * Crisp and Burges, "A geometric interpretation of nu-SVM classifiers", NIPS 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.svm import NuSVC
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), ["a", "b", "b", "a"]
    >>> NuSVC(nu=0.5).fit(X, y).predict(X)
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    """

    exempt = (OF_ROWS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OneVsOne._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        checkpoint: MaybePath = None,
    ) -> None:
        self.nu = nu
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
        self.checkpoint = checkpoint

    def _solve_dual(self, columns: Columns, y: np.ndarray, weight: np.ndarray, record: Record) -> Result:
        of_class, half = [y > 0, y < 0], 0.5 * self.nu * weight.sum()
        if min(weight[rows].sum() for rows in of_class) < half:
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu}, and the smaller of two classes has less than "
                "half of that fraction of their weight. Lower nu."
            )
        zero = np.zeros(len(y))
        lower, upper = np.where(y > 0, 0.0, -weight), np.where(y > 0, weight, 0.0)
        dual = Dual(zero, lower, upper, np.arange(len(y)), (y < 0).astype(np.int64))
        beta = y * sum(filled(np.where(rows, weight, 0.0), half) for rows in of_class)
        least, n_iter = half * _least_margin(columns), 0
        for tol in (max(self.tol, 0.1 * least), self.tol):  # a margin of zero takes long to find exactly
            if n_iter and n_iter == self.max_iter:
                break
            solution = minimize_dual(dual, columns, beta, tol, max(self.max_iter - n_iter, -1), record)
            n_iter += solution.n_iter
            first, second = solution.level  # ρ - b and -ρ - b
            beta, rho = solution.beta, 0.5 * float(first - second)
            if rho <= least:
                raise ValueError(
                    f"nu={self.nu} is too small for classes that are not separable with this kernel: the "
                    "margin is zero. Raise nu, or centre the features."
                )
        solution = solution.replace(n_iter=n_iter)
        return Result(beta / rho, -0.5 * float(first + second) / rho, solution, 1.0 / rho)


def _least_margin(columns: Columns) -> float:
    """The margin below which the margin counts as zero. It is relative to the largest squared distance of
    a row from the first in kernel space, which does not depend on the origin, and at least its rounding
    error."""
    square = columns.diagonal()
    distance = square + square[0] - 2.0 * columns.compute(np.array([0]), slice(None))[0]
    return float(max(LEAST_MARGIN * distance.max(), 4.0 * np.finfo(np.float64).eps * np.abs(square).max()))
