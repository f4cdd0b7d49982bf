"""Base class of mixture models over any family: initialization, EM and prediction. Li ch. 9."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..cluster.k_means import Centers, lloyd, warn_of_fewer
from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.hashing import row_hashes, uniforms
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, StrOptions
from ..estimator.scores import mean_score, total_score
from ..families import Family, Mixture
from ..families.covariances import SingularCovariance
from ..fitting import em
from ..fitting.seeding import SEEDINGS
from ..inputs import map_rows, read_rows
from ..statistics import Description, describe


class LatentMixture(DensityMixin, Iterative):
    """Base class of mixture estimators: initialization, the loop of EM, and prediction."""

    model_: Any

    n_components: int
    tol: float
    max_iter: int
    n_init: int
    init_params: str
    random_state: Any
    checkpoint: Any
    lower_bound_: float

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "max_iter": [AT_LEAST_0],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"})],
    }

    @abstractmethod
    def _family(self, data: Partitions, description: Description) -> Family:
        """Return the family of K densities before the first estimate."""

    @abstractmethod
    def _model(self, data: Partitions, description: Description) -> Any:
        """Return the mixture before its first estimate."""

    def _start(self, mixture: Any) -> Any:
        """Return the initial mixture with the initial values of the user, e.g. `means_init`."""
        return mixture

    for_singular: ClassVar[str] = ""  # the error for a covariance that is not positive definite

    def _fit_to(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, **more: Any) -> Self:
        try:
            return super()._fit_to(X, y, sample_weight, **more)
        except SingularCovariance:
            if not self.for_singular:
                raise
            raise ValueError(self.for_singular) from None

    def _solve(self, data: Partitions) -> Progress:
        description = self._describe(data)
        if description.rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components={self.n_components}, "
                f"n_samples={description.rows:g}."
            )
        return self._run(self._starts(data, description), data)

    def _finish(self, progress: Progress, data: Partitions) -> None:
        self.lower_bound_ = progress.trace[-1] if progress.trace else -np.inf
        self.lower_bounds_ = list(progress.trace)

    def _describe(self, data: Partitions) -> Any:
        """Describe the rows: their number, and the moments of the features. This is the first pass."""
        return data.fold(describe)

    def _run(self, starts: tuple[Any, ...], data: Partitions) -> Progress:
        """Run EM from the initial models."""
        return em(
            starts,
            data,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=Watch(self, self.checkpoint, data, report=self._report()),
            before=(self.lower_bound_,) if self._continues_fit() else (),
        )

    def _report(self) -> Callable[[Progress], None] | None:
        """Return the function that prints the progress of a fit, or None."""
        return None

    def _starts(self, data: Partitions, description: Description) -> tuple[Any, ...]:
        mixture = self._model(data, description)
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_init)
        return tuple(self._start(self._seeded(mixture, data, description, int(seed))) for seed in seeds)

    def _seeded(self, mixture: Any, data: Partitions, description: Description, seed: int) -> Any:
        """Return the mixture estimated from initial responsibilities."""
        return mixture.estimate(data.fold(_divided, mixture, self._division(data, description, seed)))

    def _division(self, data: Partitions, description: Any, seed: int) -> Division:
        """Return the initial responsibilities. Warns if there are fewer distinct rows than components."""
        division = Division.of(data, description, self.n_components, self.init_params, seed)
        if division.centers is not None:
            distinct = len(np.unique(division.centers.center, axis=0))
            warn_of_fewer(distinct, self.n_components, "n_components")
        return division

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Responsibilities: the posterior probability p(k given x) of each row and component.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.predict_proba, X)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable component of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: self.model_.log_joint(rows).argmax(axis=1), X)

    def fit_predict(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> np.ndarray:
        """Fit, then predict the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density log p(x) of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.log_density, X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Mean log density of the rows."""
        return mean_score(self, X, sample_weight)

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixture, and their components."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples}. The sampling requires at least one sample."
            )
        random = check_random_state(self.random_state)
        rng = generator(Purpose.GENERATED, random.randint(np.iinfo(np.int32).max))
        weight, family = self._densities()
        k = np.sort(rng.choice(len(weight), size=n_samples, p=weight))
        return family.sample(k, rng), k

    def _densities(self) -> tuple[np.ndarray, Family]:
        """Return the weights and densities from which `sample` draws."""
        return self.model_.weight, self.model_.component


class BaseMixture(LatentMixture):
    """Base class of mixtures fitted by maximum likelihood or MAP.

    A subclass adds a family and the names of its parameters.
    """

    model_: Annotated[Mixture, "D"]

    def _model(self, data: Partitions, description: Description) -> Mixture:
        K = self.n_components
        prior = copy(getattr(self, "weight_concentration_prior", 1.0))
        if np.shape(prior) not in ((), (K,)):
            raise ValueError(
                f"weight_concentration_prior has shape {np.shape(prior)}, expected a number or {(K,)}: "
                f"one per component."
            )
        return Mixture(np.full(K, 1.0 / K), self._family(data, description), prior)

    def aic(self, X: Any) -> float:
        """Akaike information criterion. Lower is better."""
        return 2.0 * self._n_parameters() - 2.0 * total_score(self, X)[0]

    def bic(self, X: Any) -> float:
        """Bayesian information criterion. Lower is better."""
        total, rows = total_score(self, X)
        return self._n_parameters() * np.log(rows) - 2.0 * total

    def _n_parameters(self) -> int:
        """Return the number of free parameters of the model."""
        return self.model_.n_parameters


def verbose_report(verbose: int, interval: int) -> Callable[[Progress], None] | None:
    """Return the function that prints the progress of a fit as scikit-learn's mixtures do, or None."""

    def report(progress: Progress) -> None:
        n, trace = progress.n_iter, progress.trace
        if n % interval == 0 or progress.stopped_because:
            change = f"\t ll change {trace[-1] - trace[-2]:.5f}" if verbose > 1 and n > 1 else ""
            print(f"  Iteration {n}{change}")
        if progress.stopped_because:
            print(f"Initialization {'converged' if progress.converged else 'did not converge'}.")

    return report if verbose else None


def on_grid(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Round the mean to multiples of about a thousandth of the standard deviation.

    It replaces missing entries before rows are hashed for random draws, so rounding errors of the sums, which
    depend on the blocks, must not change it.
    """
    step = np.exp2(np.floor(0.5 * np.log2(np.where(variance > 0, variance, 1.0))) - 10.0)
    return np.round(mean / step) * step


def _filled(mean: np.ndarray, block: Rows) -> Rows:
    """Replace missing entries by the mean of their feature, for initialization only."""
    return block.replace(X=np.where(np.isnan(block.X), mean, block.X))


@dataclass(frozen=True, eq=False)
class Division(Value):
    """Initial responsibilities of components for rows, by the nearest of K centers or by hashes of rows."""

    size: int
    seed: int
    mean: Annotated[np.ndarray, "(D,)"]  # replaces missing entries
    centers: Annotated[Centers | None, "D"] = None

    @classmethod
    def of(cls, data: Partitions, description: Description, K: int, init: str, seed: int) -> Division:
        mean = on_grid(description.features.mean, description.features.variance)
        if init == "random":
            return cls(K, seed, mean)
        named = {"kmeans": "k-means++", "k-means++": "k-means++", "random_from_data": "random"}
        filled = data
        if (description.features.weight < description.weight).any():  # some are missing
            filled = data.map(_filled, mean)
        centers = Centers(SEEDINGS[named[init]](filled, K, seed))
        if init == "kmeans":
            # The tolerance and the iterations of scikit-learn's KMeans.
            tol = 1e-4 * float(description.features.variance.mean())
            centers = lloyd((centers,), filled, tol, 300).model
        return cls(K, seed, mean, centers)

    def shares(self, block: Rows) -> np.ndarray:
        """Return the responsibilities of the rows of a block, (N, K)."""
        if self.centers is not None:
            return np.eye(self.size)[self.centers.nearest(_filled(self.mean, block).X)[0]]
        X = np.nan_to_num(block.X)
        R = np.stack(
            [uniforms(row_hashes(X, Purpose.SEEDING, self.seed, k)) for k in range(self.size)], axis=1
        )
        return R / R.sum(axis=1, keepdims=True)


def _divided(mixture: Any, division: Division, block: Rows) -> Any:
    """Return the statistics of a block with the initial responsibilities."""
    return mixture.summarize_as(division.shares(block), block)
