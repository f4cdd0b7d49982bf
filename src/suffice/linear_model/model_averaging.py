"""Bayesian model averaging: models are averaged by their posterior probabilities.

CS181 2.8.4; Hoeting, Madigan, Raftery and Volinsky, "Bayesian model averaging: a tutorial", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.shapes import must, must_index
from ..estimator.answers import row_wise
from ..estimator.parameters import AT_LEAST_0, POSITIVE, Numbers, StrOptions
from ..estimator.tags import tags
from ..inputs import read_rows
from ..statistics import Moments
from .bayesian import BayesianLinearRegression, GaussianWeights
from .least_squares import LeastSquares, LinearModel, must_have_one_target

MOST = 1 << 16  # maximum number of subsets: each needs a solution
ENOUGH = 1 << 12  # maximum number of subsets by default: it limits max_features
LEAST = 1e-12  # models with a lower posterior probability are dropped


def model_probabilities(log_evidence: Any, prior: Any = None) -> tuple[float, np.ndarray]:
    """Posterior probabilities of models, from their evidences on the same data.

    Parameters
    ----------
    log_evidence : array of shape (n_models,)
        Log evidence (log marginal likelihood) log p(X given m) of each model.
    prior : array of shape (n_models,), optional
        Prior probability p(m) of each model, scaled to add up to one. If None, the prior is uniform.

    Returns
    -------
    log_evidence : float
        Log evidence of the mixture of models, log p(X).
    probabilities : ndarray of shape (n_models,)
        Posterior probability p(m given X) of each model.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import model_probabilities
    >>> total, probabilities = model_probabilities(np.log([1.28e-8, 1.44e-8]), [0.3, 0.7])
    >>> probabilities.round(4)
    array([0.2759, 0.7241])
    """
    log_evidence = np.asarray(log_evidence, dtype=np.float64)
    prior = np.ones(len(log_evidence)) if prior is None else np.asarray(prior, dtype=np.float64)
    if prior.shape != log_evidence.shape:
        raise ValueError(f"prior has shape {prior.shape}, expected {log_evidence.shape}: one for each model.")
    if not (prior >= 0).all() or not 0 < prior.sum() < np.inf:
        raise ValueError(f"prior must not be negative, and not all zero; got {prior.tolist()}.")
    with np.errstate(divide="ignore"):
        joint = log_evidence + np.log(prior / prior.sum())
    total = logsumexp(joint)
    return float(total), np.exp(joint - total)


@dataclass(frozen=True, eq=False)
class AveragedLine(Model):
    """Bayesian linear models of subsets of features, with their posterior probabilities."""

    line: Annotated[GaussianWeights, "D"]  # of all features, as it is before anything is seen
    subsets: tuple[tuple[int, ...], ...]  # M of them
    prior: Annotated[Any, "real (M,) or None"] = None
    log_evidences: Annotated[Any, "(M,) or None"] = None
    log_evidence: float = -np.inf
    probabilities: Annotated[Any, "(M,) or None"] = None
    kept: tuple[tuple[int, GaussianWeights], ...] = ()  # numbers of the probable subsets, and lines

    def check_loaded(self, sizes: dict[str, int]) -> None:
        for subset in self.subsets:
            must_index(np.array(subset, int), sizes["D"], "The features of a subset")
        for n, line in self.kept:
            must(0 <= n < len(self.subsets), "A line is of no subset.")
            must(line.coef.shape == (1, len(self.subsets[n])), "A line has other features than its subset.")

    def summarize(self, block: Rows) -> Moments:
        return LinearModel.summarize(self.line, block)

    def estimate(self, s: Moments) -> Self:
        """The models of all subsets, from the moments of all features."""
        must_have_one_target(self.line, s)
        lines = [self._of(subset, s) for subset in self.subsets]
        evidences = np.array([line.log_evidence for line in lines])
        total, probabilities = model_probabilities(evidences, self.prior)
        probable = tuple((n, lines[n]) for n in np.flatnonzero(probabilities > LEAST).tolist())
        return self.replace(
            log_evidences=evidences, log_evidence=total, probabilities=probabilities, kept=probable
        )

    def _of(self, subset: tuple[int, ...], s: Moments) -> GaussianWeights:
        columns = np.array([*subset, len(s.mean) - 1])
        part = Moments(s.weight, s.mean[columns], s.scatter[np.ix_(columns, columns)])
        line = self.line.replace(coef=np.zeros((1, len(subset))))
        if not subset:  # without coefficients, their precision cannot be estimated
            line = line.replace(learns=(False, self.line.learns[1]))
        return line.estimate(part)

    @property
    def coef(self) -> np.ndarray:
        """Mean coefficients over all models, (D,); zero where a feature is not in the subset."""
        coef = np.zeros(self.line.coef.shape[1])
        for n, line in self.kept:
            coef[list(self.subsets[n])] += self.probabilities[n] * line.coef[0]
        return coef

    @property
    def intercept(self) -> float:
        return float(sum(self.probabilities[n] * line.intercept[0] for n, line in self.kept))

    def spread(self, X: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Predictive variance of each row: within models, and between them."""
        variance = np.zeros(len(X))
        for n, line in self.kept:
            part = X[:, list(self.subsets[n])]
            off = part @ line.coef[0] + line.intercept[0] - mean
            variance += self.probabilities[n] * (line.variance(part) + off**2)
        return variance


class BayesianModelAveraging(LeastSquares):
    """Bayesian model averaging of linear regressions over subsets of features. The data is read once.

    The linear model of each subset has a Gaussian prior on its coefficients, as in
    :class:`BayesianLinearRegression`. Its posterior probability is proportional to its prior times its
    evidence.

    Parameters
    ----------
    subsets : list of lists of int, default=None
        The subsets of features to average over, e.g. powers up to each degree. If None, all subsets.
    subset_prior : array of shape (n_subsets,), default=None
        Prior probability of each subset. If None, the prior is uniform.
    max_features : int, default=None
        Maximum number of features in a subset. If None, the largest number for which there are at most 4096
        subsets: with up to twelve features, all subsets.
    prior_precision : float or 'evidence', default=1.0
        Prior precision of the coefficients (inverse variance). 'evidence' maximizes the evidence of each
        subset.
    noise_precision : float or 'evidence', default=1.0
        Precision of the noise (inverse variance). 'evidence' maximizes the evidence, as above.
    fit_intercept : bool, default=True
        Whether to fit an intercept. Its prior is flat.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean of the coefficients, which are zero in subsets without the feature.
    intercept_ : float
        Posterior mean of the intercept.
    subsets_ : list of tuples of int
        The subsets.
    probabilities_ : ndarray of shape (n_subsets,)
        Posterior probability of each subset.
    inclusion_probabilities_ : ndarray of shape (n_features,)
        Posterior probability that a feature is in the subset.
    log_evidences_ : ndarray of shape (n_subsets,)
        Log evidence of each subset.
    log_evidence_ : float
        Log evidence of the average. With an intercept, it is known up to the constant of the flat prior.
    model_ : AveragedLine
        The fitted model, with those of the subsets.
    statistics_ : Moments
        The moments of rows and targets. `partial_fit` adds to them.

    See Also
    --------
    model_probabilities : Posterior probabilities of any models, from their evidences.

    Notes
    -----
    A subset M of the features has the posterior probability

    .. math::

        P(M | y) ∝ P(M) ∫ p(y | X, θ, M)\\, p(θ | M)\\, dθ,

    and predictions are averaged by these probabilities.

    References
    ----------
    * Hoeting, Madigan, Raftery and Volinsky (1999), "Bayesian model averaging: a tutorial", Statistical
      Science 14.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import BayesianModelAveraging
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = BayesianModelAveraging(noise_precision="evidence").fit(X, X @ [2.0, 0.0, 0.0] + 1.0)
    >>> model.subsets_[model.probabilities_.argmax()]
    (0,)
    """

    model_: Annotated[AveragedLine, "D"]
    positive = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "subsets": ["array-like", None],
        "subset_prior": [Numbers(0), None],
        "max_features": [AT_LEAST_0, None],
        "prior_precision": [POSITIVE, StrOptions({"evidence"})],
        "noise_precision": [POSITIVE, StrOptions({"evidence"})],
    }
    __sklearn_tags__ = tags(target_tags__multi_output=False)

    def __init__(
        self,
        *,
        subsets: Any = None,
        subset_prior: Any = None,
        max_features: int | None = None,
        prior_precision: Any = 1.0,
        noise_precision: Any = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        self.subsets = subsets
        self.subset_prior = subset_prior
        self.max_features = max_features
        self.prior_precision = prior_precision
        self.noise_precision = noise_precision
        self.fit_intercept = fit_intercept

    def _start(self, data: Partitions, classes: MaybeArray = None) -> AveragedLine:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer.")
        if np.ndim(self.prior_precision):
            raise ValueError(
                "prior_precision must be a number or 'evidence', because subsets differ in their features."
            )
        names = ("prior_precision", "noise_precision", "fit_intercept")
        of_all = BayesianLinearRegression(**{name: getattr(self, name) for name in names})
        of_all.n_features_in_ = D
        subsets = self._subsets(D)
        if self.subset_prior is not None and np.shape(self.subset_prior) != (len(subsets),):
            raise ValueError(
                f"subset_prior has shape {np.shape(self.subset_prior)}, expected {(len(subsets),)}: one "
                "number for each subset of features."
            )
        return AveragedLine(of_all._start(data), subsets, self.subset_prior)

    def _subsets(self, D: int) -> tuple[tuple[int, ...], ...]:
        if self.subsets is not None:
            try:
                listed = tuple(tuple(int(d) for d in subset) for subset in self.subsets)
            except (TypeError, ValueError):
                raise TypeError(
                    f"subsets={self.subsets!r:.60} must contain lists of features: pass e.g. "
                    "subsets=[(0,), (0, 1)]."
                ) from None
            if not listed or any(not 0 <= d < D or len(set(s)) < len(s) for s in listed for d in s):
                raise ValueError(f"subsets must be lists of different features, from 0 to {D - 1}.")
            return listed
        counts = np.cumsum([comb(D, k) for k in range(D + 1)], dtype=object)
        enough = max(int(np.searchsorted(counts, ENOUGH, side="right")) - 1, 1)
        most = min(D, enough if self.max_features is None else self.max_features)
        count = counts[most]
        if count > MOST:
            raise ValueError(
                f"{D} features have {count} subsets of at most {most}, more than {MOST}: set max_features "
                "or name the subsets."
            )
        return tuple(chain.from_iterable(combinations(range(D), k) for k in range(most + 1)))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        self._flat_target = True
        within = np.zeros(self.n_features_in_)
        for subset, probability in zip(model.subsets, model.probabilities, strict=True):
            within[list(subset)] += probability
        return {
            "coef_": model.coef,
            "intercept_": model.intercept if self.fit_intercept else 0.0,
            "subsets_": list(model.subsets),
            "probabilities_": model.probabilities,
            "inclusion_probabilities_": within,
            "log_evidences_": model.log_evidences,
            "log_evidence_": model.log_evidence,
        }

    @row_wise
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive mean of the target of each row, and optionally its standard deviation, noise included.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to also return the standard deviations.

        Returns
        -------
        ndarray of shape (n_samples,), or two of them

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        mean = np.asarray(X @ self.coef_) + self.intercept_
        if not return_std:
            return mean
        return mean, np.sqrt(self.model_.spread(X.toarray() if hasattr(X, "toarray") else X, mean))
