"""Gaussian mixtures by expectation maximization. Li ch. 9; Dempster, Laird and Rubin 1977."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath, Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Numbers, StrOptions
from ..estimator.tags import tags
from ..families import GAUSSIANS, Gaussian, GaussianPrior, Mixture
from ..statistics import Description
from .base import BaseMixture, verbose_report


class GaussianMixture(BaseMixture):
    """Gaussian mixture model. NaN means not observed, and is marginalized.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        'full': each component has its own covariance matrix. 'tied': all components share one. 'diag': each
        component has a diagonal covariance. 'spherical': each component has a single variance.
    tol : float, default=1e-3
        Tolerance of the stopping criterion: the change of the mean log-likelihood.
    reg_covar : float, default=1e-6
        Non-negative number added to the diagonal of covariances.
    max_iter : int, default=100
        Maximum number of iterations.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        How the responsibilities are initialized: 'kmeans' by k-means clustering; 'k-means++' and
        'random_from_data' by the nearest of rows drawn by k-means++ or uniformly; 'random' at random.
    weights_init : array of shape (n_components,), default=None
        Initial weights.
    means_init : array of shape (n_components, n_features), default=None
        Initial means.
    precisions_init : array, default=None
        Initial precisions (inverse covariances), in the shape of `covariances_`.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    verbose : int, default=0
        Whether to print the progress. 2 prints the change of the objective too.
    verbose_interval : int, default=10
        Number of iterations between two prints.
    prior : GaussianPrior, default=None
        Prior of means and covariances. The fit is then the posterior mode (MAP).
    weight_concentration_prior : float or array of shape (n_components,), default=1.0
        Concentration of the Dirichlet prior of the weights. 1 means no prior.
    fixed : {'covariance', None}, default=None
        Parameter that is held fixed: 'covariance' keeps the covariances of `precisions_init`.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components.
    means_ : ndarray of shape (n_components, n_features)
        Means of the components.
    covariances_ : ndarray
        Covariances of the components. The shape depends on `covariance_type`: (n_components, n_features,
        n_features), (n_features, n_features), (n_components, n_features) or (n_components,).
    precisions_ : ndarray
        Precisions (inverse covariances), in the same shape.
    precisions_cholesky_ : ndarray
        Cholesky factors of the precisions, in the same shape.
    lower_bound_ : float
        Mean log-likelihood (plus log prior) of the best fit; -inf if `max_iter` is 0.
    lower_bounds_ : list of float
        The same, by iteration.
    n_iter_ : int
        Number of iterations of the best fit.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Mixture
        The fitted model.
    statistics_ : GroupStatistics
        The sums of the last pass.

    See Also
    --------
    suffice.cluster.KMeans : One label for each row, and no density.
    PoissonMixture : Counts.
    LatentClass : Categories.
    suffice.sequence.HiddenMarkovModel : Rows in sequences.

    Notes
    -----
    The density of a row is

    .. math::

        p(x) = ∑_k π_k\\, N(x | μ_k, Σ_k).

    Each iteration of expectation maximisation is one pass over the data, and does not decrease the
    log-likelihood.

    References
    ----------
    * Dempster, Laird and Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
      Journal of the Royal Statistical Society B 39.
    * Ghahramani and Jordan (1994), "Supervised learning from incomplete data via an EM approach", NIPS 6.

    Examples
    --------
    >>> from suffice.mixture import GaussianMixture
    >>> model = GaussianMixture(2, random_state=0).fit([[0.0], [0.2], [0.4], [9.8], [10.0]])
    >>> sorted(model.means_.ravel().round(3).tolist())
    [0.2, 9.9]
    """

    max_iter_advice = (
        "Best performing initialization did not converge. Try different init parameters, or increase "
        "max_iter, tol, or check for degenerate data."
    )
    preserves_dtype = (
        *("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"),
        *("predict_proba", "score_samples"),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "covariance_type": [StrOptions(set(GAUSSIANS))],
        "reg_covar": [NON_NEGATIVE],
        "weights_init": [Numbers(), None],
        "means_init": [Numbers(), None],
        "precisions_init": [Numbers(), None],
        "verbose_interval": [AT_LEAST_1],
        "prior": [GaussianPrior, None],
        "weight_concentration_prior": [NON_NEGATIVE, Numbers(0)],
        "fixed": [StrOptions({"covariance"}), None],
    }

    for_singular = (
        "Fitting the mixture model failed because some components have ill-defined empirical "
        "covariance (for instance caused by singleton or collapsed samples). Try to decrease the "
        "number of components, increase reg_covar, or scale the input data."
    )
    __sklearn_tags__ = tags(allow_nan=True)

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        prior: GaussianPrior | None = None,
        weight_concentration_prior: Any = 1.0,
        fixed: str | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.prior = prior
        self.weight_concentration_prior = weight_concentration_prior
        self.fixed = fixed
        self.checkpoint = checkpoint

    def _family(self, data: Partitions, description: Description) -> Gaussian:
        family = GAUSSIANS[self.covariance_type]
        start = family.start(
            self.n_components,
            self.n_features_in_,
            reg=self.reg_covar,
            prior=self.prior,
        )
        # The expected value of a missing entry is at first near the mean of its feature.
        start = start.replace(mean=start.mean + description.features.mean)
        variance = np.where(description.features.variance > 0, description.features.variance, 1.0)
        return start.replace(covariance=start.covariance * variance.mean())

    def _report(self) -> Callable[[Progress], None] | None:
        return verbose_report(self.verbose, self.verbose_interval)

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "model_") and len(self.model_.weight) == self.n_components

    def _starts(self, data: Partitions, description: Description) -> tuple[Mixture, ...]:
        if not self._continues_fit():
            return super()._starts(data, description)
        learnt: Any = self.model_.component
        component = self._family(data, description).replace(mean=learnt.mean, covariance=learnt.covariance)
        prior = copy(self.weight_concentration_prior)
        return (Mixture(self.model_.weight, component.replace(fixed=self.fixed), prior),)

    def _seeded(self, mixture: Mixture, *args: Any) -> Mixture:
        values = (self.weights_init, self.means_init, self.precisions_init)
        return mixture if all(part is not None for part in values) else super()._seeded(mixture, *args)

    def _start(self, mixture: Mixture) -> Mixture:
        component: Any = mixture.component
        if self.means_init is not None:
            component = component.replace(mean=_shaped("means", self.means_init, component.mean))
        if self.precisions_init is not None:
            kind = f"{self.covariance_type} precision"
            values = _shaped(kind, self.precisions_init, component.covariance)
            if self.covariance_type in ("diag", "spherical"):
                if (values <= 0).any():
                    raise ValueError(f"'{kind}' should be positive.")
            elif not (
                np.allclose(values, values.swapaxes(-1, -2)) and (np.linalg.eigvalsh(values) > 0).all()
            ):
                raise ValueError(f"'{kind}' should be symmetric, positive-definite.")
            component = component.replace(covariance=component.inverse(values))
        if self.weights_init is not None:
            weight = _shaped("weights", self.weights_init, mixture.weight)
            if (weight < 0).any() or (weight > 1).any():
                raise ValueError(
                    "The parameter 'weights' should be in the range [0, 1], but got max value "
                    f"{weight.min():.5f}, min value {weight.max():.5f}"  # scikit-learn swaps them
                )
            if not np.isclose(weight.sum(), 1.0):
                raise ValueError(
                    f"The parameter 'weights' should be normalized, but got sum(weights) = {weight.sum():.5f}"
                )
            mixture = mixture.replace(weight=weight)
        return mixture.replace(component=component.replace(fixed=self.fixed))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        component: Any = progress.model.component
        return {
            "weights_": progress.model.weight,
            "means_": component.mean,
            "covariances_": component.covariance,
            "precisions_": component.inverse(component.covariance),
            "precisions_cholesky_": component.root_precision,
        }


def _shaped(name: str, values: Any, like: np.ndarray) -> np.ndarray:
    """Return an initial value as an array, after checking that it has the shape of `like`."""
    array = np.array(values, dtype=np.float64)
    if array.shape != like.shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {like.shape}, but got {array.shape}: it is "
            f"passed by an argument ending in _init."
        )
    return array
