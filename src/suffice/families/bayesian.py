"""Bayesian mixtures of any family: variational posteriors, and draws by Gibbs sampling.

Attias, "A variational Bayesian framework for graphical models", 2000; Bishop 2006, ch. 10.2; Blei and Jordan,
"Variational inference for Dirichlet process mixtures", 2006; Ishwaran and James, "Gibbs sampling methods for
stick-breaking priors", 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from ..core.blocks import Matrix, Rows
from ..core.model import Family
from ..core.randomness import Purpose, generator
from ..core.values import Value
from ..statistics.moments import Moments
from .mixture import GroupStatistics, LatentGroups, Mixture, _responsibilities, draw_labels
from .posteriors import Posterior, Sticks
from .priors import Dirichlet


@dataclass(frozen=True, eq=False)
class VariationalMixture(LatentGroups):
    """q(labels) q(weights) q(parameters), the mean-field approximation of the posterior of a mixture.

    `log_joint` is the expectation of log p(x, k), so that `log_density` is a bound of no normalized density.
    """

    weight_prior: Dirichlet | Sticks
    weight: Dirichlet | Sticks
    prior: Annotated[Posterior, "K, D"]
    component: Annotated[Posterior, "K, D"]

    @classmethod
    def start(cls, weight_prior: Dirichlet | Sticks, family: Family, s: Moments) -> Self:
        """The prior. The categories are those of the statistics `s`."""
        prior = family.posterior(s * 0.0)
        return cls(weight_prior, weight_prior, prior, prior)

    @property
    def family(self) -> Family:
        return self.component.expected

    def log_joint(self, X: Matrix) -> np.ndarray:
        """E[log p(x, k)], (N, K)."""
        out = self.component.expected_log_density(X)
        out += self.weight.expected_log
        return out

    def estimate(self, s: GroupStatistics) -> Self:
        family = self.prior.family
        return self.replace(
            weight=self.weight_prior.posterior(s.weight),
            prior=family.posterior(s.component * 0.0),
            component=family.posterior(s.component),
        )

    def objective(self, s: GroupStatistics) -> float:
        """Lower bound on the log evidence of all rows, constants included."""
        of_weights = self.weight.divergence(self.weight_prior)  # type: ignore[arg-type]
        of_parameters = self.component.divergence(self.prior)
        return float(s.log_likelihood - self.component.noise(s.component) - of_weights - of_parameters)


@dataclass(frozen=True, eq=False)
class GibbsMixture(Value):
    """One draw of the weights and parameters of a mixture.

    `summarize` draws the labels of a block, and sums the rows by label. `estimate` draws new weights and
    parameters from their posteriors given the sums. No label is kept: the next sweep draws all of them again,
    given the parameters alone. Draws depend on the seed, the sweep and the index of the block.
    """

    weight_prior: Dirichlet | Sticks
    mixture: Mixture
    seed: int
    sweep: int = 0

    def labels(self, block: Rows) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rows with missing entries filled in where the family needs it, the number of copies of each row by
        label, (N, K), and the log density of each row."""
        rng = generator(Purpose.LATENT, self.seed, self.sweep, *block.index)
        family, X, weight = self.mixture.component, block.X, block.weight
        log_px, R = _responsibilities(self.mixture.regularized_log_joint(X))
        log_px = log_px * weight
        copies = weight.astype(np.int64)
        if copies.max(initial=0) > 1:
            if not _holes(X):
                return X, rng.multinomial(copies, R).astype(float), log_px
            rows = np.repeat(np.arange(len(X)), copies)  # each copy has missing entries of its own
            X, R, copies = X[rows], R[rows], np.ones(len(rows), np.int64)
        k = draw_labels(R, rng)
        counts = np.zeros(R.shape[::-1]).T
        counts[np.arange(len(k)), k] = copies
        return family.impute(X, k, rng), counts, log_px

    def summarize(self, block: Rows) -> GroupStatistics:
        X, counts, log_px = self.labels(block)
        return GroupStatistics(
            float(log_px.sum()), counts.sum(axis=0), self.mixture.component.summarize(X, counts)
        )

    def estimate(self, s: GroupStatistics) -> Self:
        rng = self.driver_rng(0)
        weight = self.weight_prior.posterior(s.weight).sample(rng)
        component = self.mixture.component.posterior(s.component).sample(rng)
        mixture = self.mixture.replace(weight=weight, component=component)
        return self.replace(mixture=mixture, sweep=self.sweep + 1)

    def driver_rng(self, turn: int) -> np.random.Generator:
        return generator(Purpose.PARAMETERS, self.seed, self.sweep, turn)

    def log_joint(self, s: GroupStatistics) -> float:
        """log p(x, labels), with weights and parameters integrated out, less terms of the rows alone."""
        family = self.mixture.component
        evidence = family.posterior(s.component).log_evidence(family.posterior(s.component * 0.0))
        return self.weight_prior.log_evidence(s.weight) + float(evidence.sum())


def _holes(X: Matrix) -> bool:
    return bool(X.dtype == object or np.isnan(X.sum()))
