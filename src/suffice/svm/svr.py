"""Support vector regression through the dual. Vapnik 1995; Smola and Schölkopf 2004."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.guarantees import OF_ROWS
from ..estimator.parameters import NON_NEGATIVE, POSITIVE
from ..estimator.scores import Regressor
from ..estimator.tags import tags
from ..fitting.dual import Columns, Dual, Record, minimize_dual
from ..inputs import read_rows
from ..kernels.base import KernelLike
from .base import Result, SupportVectorMachine, SupportVectors, Task


class KernelRegressor(Regressor, SupportVectorMachine):
    """Base class of the regressions: each row has a coefficient above and one below zero."""

    model_: Annotated[SupportVectors, "D"]
    __sklearn_tags__ = tags(target_tags__required=True)

    def _task(self, data: Partitions) -> Task:
        task = super()._task(data)
        (problem,) = task.problems
        return task._replace(problems=(problem._replace(y=np.asarray(problem.y, np.float64)),))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return self.model_(read_rows(self, X))[:, 0]


def twice(q: np.ndarray, width: float, most: np.ndarray, group: np.ndarray) -> Dual:
    """The dual of a regression: first the coefficients from zero to `most`, then those from -`most` to
    zero."""
    zero, row = np.zeros(len(q)), np.arange(len(q))
    return Dual(
        np.concatenate([q + width, q - width]),
        np.concatenate([zero, -most]),
        np.concatenate([most, zero]),
        np.concatenate([row, row]),
        np.repeat(group, len(q)),
    )


class SVR(KernelRegressor):
    """Support vector regression with a kernel (epsilon-SVR): errors within `epsilon` cost nothing.

    The dual is solved by sequential minimal optimization (SMO) of working sets. The rows are gathered in
    memory, and the columns of the kernel matrix are computed as they are needed.

    Parameters
    ----------
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
    tol : float, default=0.001
        Stopping criterion: the largest violation of the conditions of an optimum.
    C : float, default=1.0
        Inverse of the regularization strength: the largest coefficient of a row of weight one.
    epsilon : float, default=0.1
        Half the width of the tube within which errors cost nothing, in units of the target.
    shrinking : bool, default=True
        Ignored: working sets take its place.
    cache_size : float, default=200
        Megabytes for columns of the kernel matrix.
    verbose : bool, default=False
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    max_iter : int, default=-1
        Maximum number of iterations.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray or CSR matrix of shape (1, n_features)
        Weights of the features. Only with a linear kernel.
    converged_ : bool
        Whether the conditions of an optimum hold to `tol`.
    dual_coef_ : ndarray or CSR matrix of shape (1, n_SV)
        Coefficients of the support vectors: positive where the target is above the tube.
    fit_status_ : int
        0 if the fit converged, else 1.
    intercept_ : ndarray of shape (1,)
        Intercept.
    model_ : SupportVectors
        The function.
    n_iter_ : int
        Number of pairs of coefficients that were optimized.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    shape_fit_ : tuple of int
        The shape of X, of the rows with a weight.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors among the rows with a weight.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, n_features)
        Support vectors: sparse if the rows are, an array of strings if they are strings, and without rows if
        the kernel is precomputed.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    NuSVR : The same with the fraction of rows outside of the tube, instead of its width.
    LinearSVR : The linear kernel, for rows that do not fit in memory.

    Notes
    -----
    The primal and the dual are

    .. math::

        \\min_{f, b} \\tfrac 1 2 ‖f‖^2 + C ∑_n w_n \\max(0, |y_n - f(x_n) - b| - ε), \\qquad
        \\min_β \\tfrac 1 2 ∑_{nm} β_n β_m k(x_n, x_m) - ∑_n β_n y_n + ε ∑_n |β_n|,
        \\quad |β_n| ≤ C w_n, \\quad ∑_n β_n = 0.

    An integer weight is equivalent to repeating the row.

    References
    ----------
    * Smola and Schölkopf, "A tutorial on support vector regression", Statistics and Computing 14, 2004.
    * Fan, Chen and Lin, "Working set selection using second order information for training support vector
      machines", JMLR 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.kernels import RBF
    >>> from suffice.svm import SVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = SVR(kernel=RBF(1.0), C=10.0, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0]]).round(1), len(model.support_) < 15
    (array([0.8]), True)
    """

    exempt = (OF_ROWS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SupportVectorMachine._parameter_constraints,
        "C": [POSITIVE],
        "epsilon": [NON_NEGATIVE],
    }

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        checkpoint: MaybePath = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _solve_dual(self, columns: Columns, y: np.ndarray, weight: np.ndarray, record: Record) -> Result:
        dual = twice(-y, self.epsilon, self.C * weight, np.array([0, 0]))
        solution = minimize_dual(dual, columns, np.zeros(2 * len(y)), self.tol, self.max_iter, record)
        return Result(dual.of_rows(solution.beta, len(y)), -solution.level[0], solution)
