"""Latent class analysis: mixtures of independent categorical columns.

Lazarsfeld and Henry, "Latent Structure Analysis", 1968; Li ch. 9 (the three coins) and ch. 4."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.arguments import MaybePath, Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.parameters import NON_NEGATIVE
from ..estimator.tags import tags
from ..families import Categorical
from ..statistics import Description
from .base import BaseMixture


class LatentClass(BaseMixture):
    """Latent class analysis: a mixture of independent categorical features. NaN means not observed, and is
    marginalized.

    Categories are numbers, as encoded by `sklearn.preprocessing.OrdinalEncoder`. Categories that were not
    seen in `fit` are ignored in `predict`.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    alpha : float, default=1e-3
        Additive smoothing: a pseudo-count for each category in each component.
    tol : float, default=1e-3
        Tolerance of the stopping criterion: the change of the mean log-likelihood.
    max_iter : int, default=100
        Maximum number of iterations.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='k-means++'
        How the responsibilities are initialized, as in `GaussianMixture`.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components.
    categories_ : list of ndarray
        The sorted categories of each feature.
    probabilities_ : list of ndarray of shape (n_components, n_categories)
        For each feature, p(category given component).
    lower_bound_ : float
        Mean log-likelihood (plus log prior) of the best fit; -inf if `max_iter` is 0.
    model_ : Mixture
        The fitted model. `statistics_`, `trace_` (also `lower_bounds_`), `n_iter_`, `converged_` and
        `stopped_because_` describe the fit.

    See Also
    --------
    GaussianMixture : Numbers.
    PoissonMixture : Counts.
    suffice.naive_bayes.CategoricalNB : The same density, with known classes.

    Notes
    -----
    The probability of a row is

    .. math::

        p(x) = ∑_k π_k ∏_j p(x_j | k).

    References
    ----------
    * Lazarsfeld and Henry (1968), Latent Structure Analysis, Houghton Mifflin.
    * Goodman (1974), "Exploratory latent structure analysis using both identifiable and unidentifiable
      models", Biometrika 61.

    Examples
    --------
    >>> from suffice.mixture import LatentClass
    >>> X = [[0, 0, 0]] * 6 + [[1, 1, 1]] * 3
    >>> model = LatentClass(2, random_state=0).fit(X)
    >>> sorted(model.weights_.round(3).tolist())
    [0.333, 0.667]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "alpha": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(allow_nan=True, categorical=True)

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 1e-3,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "k-means++",
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

    def _family(self, data: Partitions, description: Description) -> Categorical:
        return Categorical.start(self.n_components, self.n_features_in_, alpha=self.alpha)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        family: Any = progress.model.component
        return {
            "weights_": progress.model.weight,
            "categories_": list(family.values),
            "probabilities_": list(family.probability),
        }
