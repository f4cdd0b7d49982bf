"""One-class support vector machines. Schölkopf, Platt, Shawe-Taylor, Smola and Williamson 2001."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath
from ..estimator.answers import row_wise
from ..estimator.guarantees import OF_ROWS
from ..estimator.parameters import Interval
from ..fitting.dual import Columns, Dual, Record, minimize_dual
from ..inputs import read_rows
from ..kernels.base import KernelLike
from .base import Result, SupportFit, SupportVectorMachine, SupportVectors, Task


class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """Novelty detection: the region where most rows are, with a kernel.

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
    nu : float, default=0.5
        An upper bound on the fraction of training rows outside of the region, and a lower bound on the
        fraction of support vectors, by weight. In (0, 1].
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
        Coefficients of the support vectors, from zero to their weight.
    fit_status_ : int
        0 if the fit converged, else 1.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    model_ : SupportVectors
        The decision function.
    n_iter_ : int
        Number of pairs of coefficients that were optimized.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    offset_ : ndarray of shape (1,)
        Offset: ``decision_function(X)`` is ``score_samples(X) - offset_``. It is lower by `tol` than the
        scores of rows on the boundary, which are inside.
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
    SVC : Rows with labels.

    Notes
    -----
    The region separates the rows from the origin of the space of the kernel, with the offset ρ. With the
    total weight W of the rows, the primal, scaled by ν W, and the dual are

    .. math::

        \\min_{f, ρ} \\tfrac 1 2 ‖f‖^2 + ∑_n w_n \\max(0, ρ - f(x_n)) - ν W ρ, \\qquad
        \\min_α \\tfrac 1 2 ∑_{nm} α_n α_m k(x_n, x_m),
        \\quad 0 ≤ α_n ≤ w_n, \\quad ∑_n α_n = ν W.

    An integer weight is equivalent to repeating the row.

    References
    ----------
    * Schölkopf, Platt, Shawe-Taylor, Smola and Williamson, "Estimating the support of a high-dimensional
      distribution", Neural Computation 13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.svm import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    """

    exempt = (OF_ROWS,)

    model_: Annotated[SupportVectors, "D"]
    offset_: Annotated[np.ndarray, "(1,)"]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SupportVectorMachine._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _solve_dual(self, columns: Columns, y: MaybeArray, weight: np.ndarray, record: Record) -> Result:
        N = len(weight)
        dual = Dual(np.zeros(N), np.zeros(N), weight, np.arange(N), np.zeros(N, np.int64))
        start = filled(weight, self.nu * weight.sum())
        solution = minimize_dual(dual, columns, start, self.tol, self.max_iter, record)
        # Rows on the boundary are inside, whatever the rounding of their score.
        return Result(solution.beta, self.tol - solution.level[0], solution)

    def _finished(self, task: Task, results: list[Result]) -> SupportFit:
        fit = super()._finished(task, results)
        return fit.replace(offset_=-fit.intercept_)

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Scores before the offset: the larger, the more rows are near.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self.decision_function(X) + self.offset_

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed scores: positive inside the region, negative outside.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return self.model_(read_rows(self, X))[:, 0]

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict 1 inside the region, and -1 outside.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.where(self.decision_function(X) > 0, 1, -1)


def filled(most: np.ndarray, total: float) -> np.ndarray:
    """Coefficients with this sum: the first ones are `most`, then one is below, and the rest is zero."""
    before = np.cumsum(most) - most
    return np.clip(total - before, 0.0, most)
