"""Mixtures of Poisson densities, for counts. Li ch. 9, with another family."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.arguments import MaybePath, Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.parameters import NON_NEGATIVE
from ..estimator.tags import tags
from ..families import Poisson
from ..statistics import Description
from .base import BaseMixture


class PoissonMixture(BaseMixture):
    """Mixture of independent Poisson features, for counts. NaN means not observed, and is marginalized.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    alpha : float, default=1e-3
        Additive smoothing: this many pseudo-events in as many pseudo-rows of each component.
    tol : float, default=1e-3
        Tolerance of the stopping criterion: the change of the mean log-likelihood.
    max_iter : int, default=100
        Maximum number of iterations.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        How the responsibilities are initialized, as in `GaussianMixture`.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components.
    rates_ : ndarray of shape (n_components, n_features)
        Mean counts of the components.
    lower_bound_ : float
        Mean log-likelihood (plus log prior) of the best fit; -inf if `max_iter` is 0.
    model_ : Mixture
        The fitted model. `statistics_`, `trace_` (also `lower_bounds_`), `n_iter_`, `converged_` and
        `stopped_because_` describe the fit.

    See Also
    --------
    GaussianMixture : Numbers.
    LatentClass : Categories.
    suffice.decomposition.NMF : Parts that add up to counts.

    Notes
    -----
    With rates λ_kj, the probability of a row of counts is

    .. math::

        p(x) = ∑_k π_k ∏_j \\frac{λ_{kj}^{x_j} e^{-λ_{kj}}}{x_j!}.

    References
    ----------
    * McLachlan and Peel (2000), Finite Mixture Models, Wiley.

    Examples
    --------
    >>> from suffice.mixture import PoissonMixture
    >>> model = PoissonMixture(2, random_state=0).fit([[0], [1], [1], [19], [21]])
    >>> sorted(model.rates_.ravel().round(1).tolist())
    [0.7, 20.0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "alpha": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(allow_nan=True, positive_only=True)

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 1e-3,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _family(self, data: Partitions, description: Description) -> Poisson:
        return Poisson.start(self.n_components, self.n_features_in_, alpha=self.alpha)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"weights_": progress.model.weight, "rates_": progress.model.component.rate}
