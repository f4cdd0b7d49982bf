"""Support vector regression with a fraction of rows outside of the tube. Schölkopf, Smola, Williamson and
Bartlett 2000."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath
from ..estimator.guarantees import OF_ROWS
from ..estimator.parameters import POSITIVE, Interval
from ..fitting.dual import Columns, Record, minimize_dual
from ..kernels.base import KernelLike
from .base import Result, SupportFit, SupportVectorMachine, Task
from .one_class import filled
from .svr import KernelRegressor, twice


class NuSVR(KernelRegressor):
    """Support vector regression with a kernel (nu-SVR): the width of the tube is fitted, too.

    The dual is solved by sequential minimal optimization (SMO) of working sets. The rows are gathered in
    memory, and the columns of the kernel matrix are computed as they are needed.

    Parameters
    ----------
    nu : float, default=0.5
        An upper bound on the fraction of rows outside of the tube, and a lower bound on the fraction of
        support vectors, by weight. In (0, 1].
    C : float, default=1.0
        Inverse of the regularization strength: the largest coefficient of a row of weight one.
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
    tol : float, default=0.001
        Stopping criterion: the largest violation of the conditions of an optimum.
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
    epsilon_ : float
        Half the width of the tube, in units of the target.
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
    SVR : The same with a fixed width of the tube.

    Notes
    -----
    With the total weight W of the rows, the primal and the dual are

    .. math::

        \\min_{f, b, ε} \\tfrac 1 2 ‖f‖^2 + C ν W ε + C ∑_n w_n \\max(0, |y_n - f(x_n) - b| - ε), \\\\
        \\min_{α, α^*} \\tfrac 1 2 ∑_{nm} β_n β_m k(x_n, x_m) - ∑_n β_n y_n, \\quad β = α - α^*, \\quad
        0 ≤ α_n, α^*_n ≤ C w_n, \\quad ∑_n α_n = ∑_n α^*_n = C ν W / 2.

    :class:`SVR` with ``epsilon=epsilon_`` has the same optimum. An integer weight is equivalent to repeating
    the row.

    References
    ----------
    * Schölkopf, Smola, Williamson and Bartlett, "New support vector algorithms", Neural Computation 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.svm import NuSVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = NuSVR(nu=0.2, C=10.0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0]]).round(1), model.epsilon_ < 0.1
    (array([0.8]), True)
    """

    exempt = (OF_ROWS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SupportVectorMachine._parameter_constraints,
        "C": [POSITIVE],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        checkpoint: MaybePath = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _solve_dual(self, columns: Columns, y: np.ndarray, weight: np.ndarray, record: Record) -> Result:
        most = self.C * weight
        dual = twice(-y, 0.0, most, np.array([0, 1]))
        half = filled(most, 0.5 * self.nu * most.sum())
        solution = minimize_dual(dual, columns, np.append(half, -half), self.tol, self.max_iter, record)
        above, below = solution.level  # -b - ε and -b + ε
        beta, epsilon = dual.of_rows(solution.beta, len(y)), 0.5 * float(below - above)
        return Result(beta, -0.5 * float(above + below), solution, epsilon)

    def _finished(self, task: Task, results: list[Result]) -> SupportFit:
        return super()._finished(task, results).replace(epsilon_=results[0].parameter)
