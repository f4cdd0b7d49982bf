"""Mixtures of rows with columns of several kinds: numbers, categories, flags and counts.

Lawrence and Krzanowski, "Mixture separation for mixed-mode data", 1996; Hunt and Jorgensen, "Mixture model
clustering using the MULTIMIX program", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.values import Value
from ..estimator.guarantees import DRAWS_STARTS
from ..estimator.parameters import NON_NEGATIVE, StrOptions
from ..estimator.tags import tags
from ..families import Bernoulli, Categorical, DiagonalGaussian, Mixture, Poisson, ProductFamily
from ..inputs.kinds import KINDS, check_kinds, column_kinds
from ..statistics import Description, Moments, category_codes, describe
from .base import BaseMixture, Division, on_grid

KIND_OF = {family: kind for kind, family in KINDS.items()}


class MixedMixture(BaseMixture):
    """Mixture for mixed columns, independent given the component: Gaussian, categorical, binary and counts.

    NaN means not observed, and is marginalized. Categories may be strings. Categories that were not seen in
    `fit` are ignored in `predict`.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    kinds : str, sequence of str, or dict, default='auto'
        Kind of the columns: 'gaussian', 'categorical', 'bernoulli', 'poisson' or 'auto'. One for all, one for
        each, or a dict from the name or index of a column to its kind, with 'auto' for the others. 'auto'
        takes columns of strings as categorical, columns of zeros and ones (or booleans) as Bernoulli, and
        other numbers as Gaussian. Categories that are numbers, and counts, need their kind.
    alpha : float, default=1e-3
        Additive smoothing: a pseudo-count for each category and each value of a binary column; for counts,
        this many pseudo-rows with one event each.
    reg_covar : float, default=1e-6
        Non-negative number added to the variances of Gaussian columns.
    tol : float, default=1e-3
        Tolerance of the stopping criterion: the change of the mean log-likelihood.
    max_iter : int, default=100
        Maximum number of iterations.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        How the responsibilities are initialized, as in `GaussianMixture`. Distances are between standardized
        columns, and indicators of categories.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components.
    kinds_ : list of str
        Kind of each column.
    means_ : dict
        Means of each Gaussian column, (n_components,), by column index.
    variances_ : dict
        Variances of each Gaussian column, (n_components,), by column index.
    rates_ : dict
        Mean counts of each column of counts, (n_components,), by column index.
    categories_ : dict
        The sorted categories of each categorical column, by column index.
    probabilities_ : dict
        p(category given component) of each categorical column, (n_components, n_categories), and p(1 given
        component) of each binary column, (n_components,), by column index.
    lower_bound_ : float
        Mean log-likelihood (plus log prior) of the best fit; -inf if `max_iter` is 0.
    model_ : Mixture
        The fitted model, over a product of families. `statistics_`, `trace_` (also `lower_bounds_`),
        `n_iter_`, `converged_` and `stopped_because_` describe the fit.

    See Also
    --------
    GaussianMixture : Numbers that depend on each other within a component.
    LatentClass : Categories alone.
    PoissonMixture : Counts alone.
    suffice.naive_bayes.MixedNB : The same density, with known classes.

    Notes
    -----
    Each column has the density of its kind:

    .. math::

        p(x) = ∑_k π_k ∏_j p_j(x_j | θ_{kj}).

    The product runs over the columns that are observed. With Gaussian columns alone it is a Gaussian mixture
    with diagonal covariances, and with categorical columns alone latent class analysis.

    References
    ----------
    * Lawrence and Krzanowski (1996), "Mixture separation for mixed-mode data", Statistics and Computing 6.
    * Hunt and Jorgensen (1999), "Mixture model clustering using the MULTIMIX program", Australian and New
      Zealand Journal of Statistics 41.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.mixture import MixedMixture
    >>> X = np.array([[1.0, "red"], [1.2, "red"], [9.1, "blue"], [8.9, None]], dtype=object)
    >>> model = MixedMixture(2, random_state=0).fit(X)
    >>> model.kinds_
    ['gaussian', 'categorical']
    >>> a, b = model.predict(np.array([[1.1, "green"], [float("nan"), "blue"]], dtype=object))
    >>> bool(a != b)
    True
    """

    exempt = (DRAWS_STARTS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "kinds": [StrOptions({*KINDS, "auto"}), list, tuple, dict],
        "alpha": [NON_NEGATIVE],
        "reg_covar": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(allow_nan=True, string=True)

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: Any = "auto",
        alpha: float = 1e-3,
        reg_covar: float = 1e-6,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.kinds = kinds
        self.alpha = alpha
        self.reg_covar = reg_covar
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _describe(self, data: Partitions) -> Encoded:
        names = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        kinds = check_kinds(data, column_kinds(self, self.kinds, "kinds", default="auto"), names)
        start = self._product(kinds, 1)
        code = Encoding(start.estimate(data.fold(_summed, start)))
        rows = data.map(_encoded, code)
        description: Description = rows.fold(describe)
        return Encoded(description.rows, description.weight, description.features, tuple(kinds), code, rows)

    def _product(self, kinds: Any, K: int) -> ProductFamily:
        def start(kind: str, size: int) -> Any:
            options = {"reg": self.reg_covar} if kind == "gaussian" else {"alpha": self.alpha}
            return KINDS[kind].start(K, size, **options)

        return ProductFamily.by_kind(kinds, start)

    def _family(self, data: Partitions, description: Any) -> ProductFamily:
        return self._product(description.kinds, self.n_components)

    def _seeded(self, mixture: Any, data: Partitions, description: Any, seed: int) -> Any:
        division = self._division(description.data, description, seed)
        return mixture.estimate(data.fold(_divided_by_code, mixture, division, description.code))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        product: Any = progress.model.component
        kinds: dict[int, str] = {}
        out: dict[str, dict[int, np.ndarray]] = {
            name: {} for name in ("means_", "variances_", "rates_", "categories_", "probabilities_")
        }
        for columns, part in zip(product.columns, product.parts, strict=True):
            kinds |= dict.fromkeys(columns.tolist(), KIND_OF[type(part)])
            for n, d in enumerate(columns.tolist()):
                if isinstance(part, DiagonalGaussian):
                    out["means_"][d], out["variances_"][d] = part.mean[:, n], part.covariance[:, n]
                elif isinstance(part, Categorical):
                    out["categories_"][d] = part.values[n]
                    out["probabilities_"][d] = part.probability[n]
                elif isinstance(part, Bernoulli):
                    out["probabilities_"][d] = part.probability[:, n]
                elif isinstance(part, Poisson):
                    out["rates_"][d] = part.rate[:, n]
        return {"weights_": progress.model.weight, "kinds_": [kinds[d] for d in sorted(kinds)], **out}


@dataclass(frozen=True, eq=False)
class Encoding(Value):
    """Encoding of mixed rows as numbers, for the distances of the initialization.

    Columns are standardized and categories become indicators. Missing entries are at the mean.
    """

    product: ProductFamily  # one density, estimated from all rows

    def encode(self, X: np.ndarray) -> np.ndarray:
        columns = [self._part(part, x) for part, x in self.product.each(X)]
        return np.nan_to_num(np.hstack(columns), nan=0.0)

    def _part(self, part: Any, x: np.ndarray) -> np.ndarray:
        if isinstance(part, Categorical):
            return np.hstack([self._indicators(*pair) for pair in zip(part.values, x.T, strict=True)])
        if isinstance(part, DiagonalGaussian):
            mean, variance = part.mean[0], part.covariance[0]
        elif isinstance(part, Bernoulli):
            mean, variance = part.probability[0], part.probability[0] * (1.0 - part.probability[0])
        else:
            mean = variance = part.rate[0]
        # Encoded rows are hashed for random draws. So the scale is a power of two, and the mean is rounded:
        # rounding errors of the sums must not change them.
        width = np.exp2(np.round(0.5 * np.log2(np.where(variance > 0, variance, 1.0))))
        return (x - on_grid(mean, variance)) / width

    def _indicators(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        code, known = category_codes(values, x)
        out = np.zeros((len(x), len(values)))
        out[np.flatnonzero(known), code[known]] = 1.0
        return out


class Encoded(NamedTuple):
    """The description of the encoded rows, the encoding, and the rows."""

    rows: float
    weight: float
    features: Moments
    kinds: tuple[str, ...]
    code: Encoding
    data: Partitions


def _summed(product: ProductFamily, block: Rows) -> Any:
    return product.summarize(block.X, block.weight[:, None])


def _encoded(code: Encoding, block: Rows) -> Rows:
    return block.replace(X=code.encode(block.X))


def _divided_by_code(mixture: Mixture, division: Division, code: Encoding, block: Rows) -> Any:
    return mixture.summarize_as(division.shares(_encoded(code, block)), block)
