"""Quadratic discriminant analysis: Gaussian classes, each with its own covariance.

Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", section 4.3.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, eigh

from ..core.partitions import Partitions
from ..estimator.parameters import SHARE, HasMethods, Numbers, StrOptions
from ..families import FullGaussian
from ..fitting.linear_algebra import signs
from .linear import Discriminant, DiscriminantFit


class QuadraticDiscriminantAnalysis(Discriminant):
    """Quadratic discriminant analysis.

    Parameters
    ----------
    solver : {'svd', 'eigen'}, default='svd'
        'svd' regularizes by `reg_param`, 'eigen' by `shrinkage`.
    shrinkage : float or 'auto', default=None
        Shrinkage of the covariance towards a multiple of the identity, between 0 and 1. 'auto' is Ledoit-Wolf
        shrinkage, which takes one more pass.
    priors : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If None, the class frequencies are used.
    reg_param : float, default=0.0
        Regularization of 'svd': the weight of the identity in each covariance.
    store_covariance : bool, default=False
        Whether to compute `covariance_`.
    tol : float, default=1e-4
        Threshold of the rank: a covariance with a smaller eigenvalue is refused.
    covariance_estimator : estimator, default=None
        Estimates the covariances by `fit` and `covariance_`, as those of sklearn.covariance do, instead of
        `shrinkage`. All rows of a class are then gathered in memory. Only for solver 'eigen'.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    rotations_ : list of ndarray of shape (n_features, n_features)
        Principal axes of each class.
    scalings_ : list of ndarray of shape (n_features,)
        Variances along the principal axes of each class.
    covariance_ : list of ndarray of shape (n_features, n_features)
        Covariances. Only if ``store_covariance=True``.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The moments of the classes. `partial_fit` adds to them.

    See Also
    --------
    LinearDiscriminantAnalysis : One covariance for all classes.
    suffice.naive_bayes.GaussianNB : Diagonal covariances, and missing values.

    Notes
    -----
    The score of a class c is quadratic in x:

    .. math::

        δ_c(x) = -\\frac{1}{2} \\log |Σ_c| - \\frac{1}{2} (x - μ_c)^T Σ_c^{-1} (x - μ_c) + \\log π_c.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, 2nd edition, Springer,
      section 4.3.

    Examples
    --------
    >>> from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), SHARE, None],
        "priors": [Numbers(), None],
        "reg_param": [SHARE],
        "store_covariance": ["boolean"],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _family(self, data: Partitions, K: int) -> FullGaussian:
        return FullGaussian.start(K, self.n_features_in_)

    means_: Annotated[np.ndarray, "(K, D)"]
    priors_: Annotated[np.ndarray, "(K,)"]
    scalings_: Annotated[list[np.ndarray], "K of (R_k,)"]
    rotations_: Annotated[list[np.ndarray], "K of (D, R_k)"]

    def _fitted(self, progress: DiscriminantFit) -> dict[str, Any]:  # type: ignore[override]
        model, s = progress.model, progress.statistics
        covariances = self._class_covariances(progress)
        scalings, rotations = [], []
        for c, C, n in zip(model.classes, covariances, s.weight, strict=True):
            if n <= 1:
                raise ValueError(f"y has only {n:g} sample in class {c}, covariance is ill defined.")
            values, vectors = eigh(C)
            values, vectors = values[::-1], vectors[:, ::-1]
            if self.solver == "svd":
                values = (1.0 - self.reg_param) * np.maximum(values, 0.0) + self.reg_param
            if not ((values > self.tol).all() and np.isfinite(vectors).all()):
                name = "reg_param" if self.solver == "svd" else "shrinkage"
                raise LinAlgError(
                    f"The covariance matrix of class {c} is not full rank. When using "
                    f"`solver={self.solver!r}` with {n:g} samples of {len(C)} features, raise `{name}`."
                )
            scalings.append(values)
            rotations.append(vectors * signs(vectors.T))
        fitted = {
            "classes_": model.classes,
            "priors_": model.prior,
            "means_": s.component.mean,
            "scalings_": scalings,
            "rotations_": rotations,
        }
        if self.store_covariance:
            pairs = zip(rotations, scalings, strict=True)
            fitted["covariance_"] = [(U * v) @ U.T for U, v in pairs]
        return fitted

    def _scores(self, X: Any) -> np.ndarray:
        columns = []
        for mean, U, v, prior in zip(self.means_, self.rotations_, self.scalings_, self.priors_, strict=True):
            Z = (X - mean).dot(U / np.sqrt(v))
            columns.append(np.log(prior) - 0.5 * ((Z**2).sum(axis=1) + np.log(v).sum()))
        return np.stack(columns, axis=1)
