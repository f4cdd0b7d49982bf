"""Gaussian naive Bayes: features independent and normal given the class. Li ch. 4."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.parameters import NON_NEGATIVE, Numbers
from ..estimator.tags import tags
from ..families import DiagonalGaussian
from .generative import GenerativeClassifier


class GaussianNB(GenerativeClassifier):
    """Gaussian naive Bayes classifier. NaN means not observed, in `fit` and in `predict`.

    Parameters
    ----------
    priors : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If None, the class frequencies are used.
    var_smoothing : float, default=1e-9
        Portion of the largest variance of all features that is added to all variances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_count_ : ndarray of shape (n_classes,)
        Weight of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean of each feature by class.
    var_ : ndarray of shape (n_classes, n_features)
        Variance of each feature by class.
    epsilon_ : float
        Value added to the variances.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Labelled
        The fitted model.
    statistics_ : GroupStatistics
        The moments of the classes. `partial_fit` adds to them.

    See Also
    --------
    MixedNB : Columns of several kinds.
    ClassConditional : Other densities, mixtures, rows without labels.
    suffice.discriminant_analysis.QuadraticDiscriminantAnalysis : Features that depend on each other.

    Notes
    -----
    With mean μ_cj and variance σ²_cj of column j in class c,

    .. math::

        p(c | x) ∝ π_c ∏_j N(x_j | μ_{cj}, σ_{cj}^2).

    The product runs over the columns that are observed.

    References
    ----------
    * John and Langley (1995), "Estimating continuous distributions in Bayesian classifiers", UAI.
    * Chan, Golub and LeVeque (1983), "Algorithms for computing the sample variance", The American
      Statistician 37.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> model.predict([[2.0], [float("nan")]])
    array(['a', 'a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": [Numbers(), None],
        "var_smoothing": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(allow_nan=True)

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _prior(self, K: int) -> Any:
        return self.priors

    def _family(self, data: Partitions, K: int) -> DiagonalGaussian:
        return DiagonalGaussian.start(K, self.n_features_in_, smoothing=self.var_smoothing)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        gaussian: Any = model.component
        return {
            "classes_": model.classes,
            "class_count_": s.weight,
            "class_prior_": model.prior,
            "theta_": gaussian.mean,
            "var_": gaussian.covariance,
            "epsilon_": gaussian.added(s.component),
        }
