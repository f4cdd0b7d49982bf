"""Bayesian Gaussian mixtures: variational inference and Gibbs sampling, Dirichlet distribution and process.

Attias 2000; Blei and Jordan 2006; Ishwaran and James 2001; Chang and Fisher 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..estimator.answers import row_wise
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, NON_NEGATIVE, POSITIVE, Numbers, StrOptions
from ..estimator.tags import tags
from ..families import (
    GAUSSIANS,
    Dirichlet,
    Family,
    Gaussian,
    GaussianPrior,
    GibbsMixture,
    Mixture,
    Sticks,
    VariationalMixture,
)
from ..fitting.gibbs import GibbsSweep, split_and_merge
from ..fitting.sampler import Chains, Sampler
from ..inputs import map_rows, read_rows
from ..statistics import Description, Moments, moments
from .base import LatentMixture, verbose_report

MOST_R_HAT = 1.1  # largest split R-hat at which a fit by Gibbs sampling counts as converged
DRAWN = ("weights", "means", "covariances")


class BayesianGaussianMixture(LatentMixture):
    """Bayesian Gaussian mixture, by variational inference or Gibbs sampling.

    The weights have the prior of a Dirichlet distribution or process, the means and covariances a normal
    inverse Wishart prior. Components that the data does not need get small weights, or no rows. NaN means not
    observed, and is marginalized.

    Parameters
    ----------
    n_components : int, default=1
        Number of components; for a Dirichlet process, the largest number.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        'full': each component has its own covariance matrix. 'tied': all components share one. 'diag': each
        component has a diagonal covariance. 'spherical': each component has a single variance.
    tol : float, default=1e-3
        Tolerance of the stopping criterion: the change of the lower bound. Not used by 'gibbs'.
    reg_covar : float, default=1e-6
        Non-negative number added to the diagonal of covariances.
    max_iter : int, default=100
        Maximum number of iterations; for 'gibbs', the number of sweeps.
    n_init : int, default=1
        Number of initializations. The best result is kept; for 'gibbs', the number of chains, all of which
        are kept. All runs share each pass over the data.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        How the responsibilities are initialized, as in `GaussianMixture`.
    weight_concentration_prior_type : {'dirichlet_process', 'dirichlet_distribution'}, \
default='dirichlet_process'
        Prior of the weights: stick-breaking weights, or a Dirichlet distribution.
    weight_concentration_prior : float, default=None
        Concentration of the prior of the weights. Less favours fewer components. The default is 1 /
        `n_components`.
    mean_precision_prior : float, default=None
        Number of pseudo-rows at the prior mean. The default is 1.
    mean_prior : array of shape (n_features,), default=None
        Prior mean of the means. The default is the mean of X.
    degrees_of_freedom_prior : float, default=None
        Degrees of freedom of the prior of the covariances, more than n_features - 1. The default is
        n_features.
    covariance_prior : float or array, default=None
        Scale of the prior of the covariances, in the shape of one of them: (n_features, n_features) for
        'full' and 'tied', (n_features,) for 'diag', a number for 'spherical'. The default is the covariance
        of X.
    solver : {'variational', 'gibbs'}, default='variational'
        'variational' maximizes a lower bound of the evidence. 'gibbs' draws from the posterior.
    burn_in : int, default=None
        Number of sweeps of 'gibbs' whose draws are discarded. The default is half of `max_iter`.
    random_state : int, RandomState or None, default=None
        Seed for the initialization and for the draws.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    verbose : int, default=0
        Whether to print the progress. 2 prints the change of the objective too.
    verbose_interval : int, default=10
        Number of iterations between two prints.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Expected weights of the components. With 'gibbs', the parameters are those of the posterior given the
        most probable labels that were drawn.
    means_ : ndarray of shape (n_components, n_features)
        Expected means of the components.
    covariances_ : ndarray
        Inverse of the expected precisions. The shape depends on `covariance_type`: (n_components, n_features,
        n_features), (n_features, n_features), (n_components, n_features) or (n_components,).
    precisions_ : ndarray
        Expected precisions (inverse covariances), in the same shape.
    precisions_cholesky_ : ndarray
        Cholesky factors of the precisions, in the same shape.
    weight_concentration_ : ndarray of shape (n_components,) or tuple of two
        Parameters of the posterior of the weights: of a Dirichlet distribution, or of the beta distributions
        of stick-breaking weights.
    mean_precision_ : ndarray of shape (n_components,)
        Number of rows and pseudo-rows behind each mean.
    degrees_of_freedom_ : ndarray of shape (n_components,) or float
        Degrees of freedom of the posterior of the covariances; one number for 'tied'.
    weight_concentration_prior_ : float
        The concentration of the prior of the weights.
    mean_precision_prior_ : float
        The number of pseudo-rows at the prior mean.
    mean_prior_ : ndarray of shape (n_features,)
        The prior mean.
    degrees_of_freedom_prior_ : float
        The degrees of freedom of the prior of the covariances.
    covariance_prior_ : float or ndarray
        The scale of the prior of the covariances.
    lower_bound_ : float
        Lower bound on the log evidence of all rows; with 'gibbs', the last log joint density of rows and
        labels.
    lower_bounds_ : list of float
        The same, by iteration.
    draws_ : dict of ndarray
        Only with 'gibbs': the 'weights', 'means' and 'covariances' drawn after `burn_in`, each with the draws
        along its first axis. Labels of components may switch between draws.
    n_occupied_ : ndarray
        Only with 'gibbs': the number of components with rows, by draw.
    r_hat_ : float
        Only with 'gibbs': potential scale reduction of the log joint density after `burn_in`, 1 if chains
        and their halves agree.
    effective_sample_size_ : float
        Only with 'gibbs': number of independent draws of the log joint density to which the draws amount.
    n_iter_ : int
        Number of iterations of the best fit.
    converged_ : bool
        Whether the fit converged; with 'gibbs', whether `r_hat_` is below 1.1.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : VariationalMixture
        The fitted model.
    statistics_ : GroupStatistics
        The sums of the last pass.

    See Also
    --------
    GaussianMixture : Maximum likelihood, and the posterior mode.

    Notes
    -----
    'variational' maximizes

    .. math::

        L(q) = E_q[\\log p(X, z, π, μ, Σ)] - E_q[\\log q] ≤ \\log p(X)

    over q = q(z) q(π) q(μ, Σ), with all constants, so that bounds of different models can be compared. Each
    iteration is one pass over the data, and does not decrease the bound. A row counts as the average over
    normal noise of variance `reg_covar` about it, which lowers its log density in component k by
    `reg_covar` / 2 times the trace of the precision.

    For 'full', the results are those of scikit-learn. Its responsibilities leave out the noise of
    `reg_covar`, and so do these where the components differ in it by less than 0.001. It uses the expected
    log determinant of a full Wishart matrix for 'diag' and 'spherical' too, and counts N / K degrees of
    freedom for 'tied'; here these are the exact updates of independent gamma distributions and of one
    Wishart distribution of all rows.

    'gibbs' draws the labels of all rows, then the weights and parameters. Labels are drawn where the rows
    are, from the seed, the sweep and the block, and are not kept. Other block boundaries give another chain.
    A row of weight 2 is drawn twice. The Dirichlet process is truncated at `n_components`. Unless the
    covariance is tied, every fifth sweep proposes to split and merge components.

    References
    ----------
    * Attias (2000), "A variational Bayesian framework for graphical models", NIPS 12.
    * Blei and Jordan (2006), "Variational inference for Dirichlet process mixtures", Bayesian Analysis 1.
    * Ishwaran and James (2001), "Gibbs sampling methods for stick-breaking priors", Journal of the American
      Statistical Association 96.
    * Jain and Neal (2004), "A split-merge Markov chain Monte Carlo procedure for the Dirichlet process
      mixture model", Journal of Computational and Graphical Statistics 13.
    * Chang and Fisher (2013), "Parallel sampling of DP mixture models using sub-cluster splits", NIPS 26.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.mixture import BayesianGaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(9, 1, (50, 2))])
    >>> model = BayesianGaussianMixture(n_components=6, random_state=0, max_iter=500).fit(X)
    >>> int((model.weights_ > 0.01).sum())
    2
    >>> chain = BayesianGaussianMixture(
    ...     n_components=6, solver="gibbs", random_state=0, max_iter=60
    ... ).fit(X)
    >>> float(np.median(chain.n_occupied_))
    2.0
    """

    exempt = (
        Exempt("rounding", "Starts are drawn by the values of rows. tests/mixture compares its partition."),
    )

    model_: Annotated[VariationalMixture, "D"]

    max_iter_advice = (
        "Best performing initialization did not converge. Try different init parameters, or increase "
        "max_iter, tol, or check for degenerate data."
    )
    preserves_dtype = (
        *("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"),
        *("predict_proba", "score_samples"),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LatentMixture._parameter_constraints,
        "covariance_type": [StrOptions(set(GAUSSIANS))],
        "reg_covar": [NON_NEGATIVE],
        "weight_concentration_prior_type": [StrOptions({"dirichlet_process", "dirichlet_distribution"})],
        "weight_concentration_prior": [POSITIVE, None],
        "mean_precision_prior": [POSITIVE, None],
        "mean_prior": [Numbers(), None],
        "degrees_of_freedom_prior": [POSITIVE, None],
        "covariance_prior": [POSITIVE, Numbers(), None],
        "solver": [StrOptions({"variational", "gibbs"})],
        "burn_in": [AT_LEAST_0, None],
        "verbose_interval": [AT_LEAST_1],
    }

    for_singular = (
        "Fitting the mixture model failed because the scale of a covariance is not positive "
        "definite: features are constant or collinear. Leave such features out, increase "
        "reg_covar, or pass covariance_prior."
    )
    __sklearn_tags__ = tags(allow_nan=True)

    def __init__(
        self,
        *,
        n_components: int = 1,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        solver: str = "variational",
        burn_in: int | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.solver = solver
        self.burn_in = burn_in
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.checkpoint = checkpoint

    def _guarantee(self) -> Guarantee:
        return Guarantee("approximate" if self.solver == "gibbs" else "rounding")

    # --- priors ------------------------------------------------------------------------------------------

    def _family(self, data: Partitions, description: Description) -> Gaussian:
        D = self.n_features_in_
        mean = _shaped("means", self.mean_prior, description.features.mean)
        df = float(D if self.degrees_of_freedom_prior is None else self.degrees_of_freedom_prior)
        if df <= D - 1.0:
            raise ValueError(
                f"The parameter 'degrees_of_freedom_prior' should be greater than {D - 1}, but got {df:.3f}."
            )
        kappa = 1.0 if self.mean_precision_prior is None else float(self.mean_precision_prior)
        prior = GaussianPrior(mean, kappa, self._scale(data, description), df)
        return GAUSSIANS[self.covariance_type].start(self.n_components, D, reg=self.reg_covar, prior=prior)

    def _scale(self, data: Partitions, description: Description) -> np.ndarray:
        """Return the scale of the prior of covariances, (D, D): by default, the covariance of all rows."""
        D, kind = self.n_features_in_, self.covariance_type
        if self.covariance_prior is not None:
            like = {"full": (D, D), "tied": (D, D), "diag": (D,), "spherical": ()}[kind]
            name = f"{kind} covariance_prior"
            scale = _shaped(name, self.covariance_prior, np.zeros(like))
            if kind in ("full", "tied"):
                if not (np.allclose(scale, scale.T) and (np.linalg.eigvalsh(scale) > 0).all()):
                    raise ValueError(f"'{name}' should be symmetric, positive-definite.")
                return scale
            if not (scale > 0).all():
                raise ValueError(f"'{name}' should be positive.")
            return np.diag(np.broadcast_to(scale, D))
        features, rows = description.features, description.weight
        unbiased = features.weight / np.maximum(features.weight - 1.0, 1e-300)  # used for weights > 1
        variance = features.variance * np.where(features.weight > 1, unbiased, 1.0)
        if kind in ("full", "tied") and (features.weight == rows).all():
            s: Moments = data.fold(_moments_of)
            scale = s.variance * (rows / (rows - 1.0) if rows > 1 else 1.0)
            # Only a covariance that is singular up to rounding needs the regularization.
            flat = np.linalg.eigvalsh(scale)[0] <= 1e-12 * max(float(variance.max(initial=0.0)), 1e-300)
            return scale + (self.reg_covar * np.eye(D) if flat else 0.0)
        if kind == "spherical":
            variance = np.full(D, variance.mean())
        return np.diag(variance + np.where(variance > 0, 0.0, self.reg_covar))

    def _weights(self) -> Dirichlet | Sticks:
        K, alpha = self.n_components, self._concentration()
        if self.weight_concentration_prior_type == "dirichlet_distribution":
            return Dirichlet(np.full(K, alpha))
        sticks = Sticks.process(alpha, K)
        return sticks.truncated() if self.solver == "gibbs" else sticks

    def _concentration(self) -> float:
        prior = self.weight_concentration_prior
        return 1.0 / self.n_components if prior is None else float(prior)

    def _model(self, data: Partitions, description: Description) -> VariationalMixture:
        family = self._family(data, description)
        nothing = family.summarize(np.empty((0, self.n_features_in_)), np.empty((0, self.n_components)))
        return VariationalMixture.start(self._weights(), family, nothing)

    # --- loops -------------------------------------------------------------------------------------------

    def _report(self) -> Callable[[Progress], None] | None:
        return verbose_report(self.verbose, self.verbose_interval)

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "model_") and len(self.means_) == self.n_components

    def _starts(self, data: Partitions, description: Description) -> tuple[Any, ...]:
        if not self._continues_fit():
            return super()._starts(data, description)
        model, learnt = self._model(data, description), self.model_
        component = learnt.component.replace(family=model.component.family)
        return (model.replace(weight=learnt.weight, component=component),)

    def _run(self, starts: tuple[Any, ...], data: Partitions) -> Progress:
        if self.solver == "variational":
            return super()._run(starts, data)
        if data.fold(_fractions):
            raise ValueError(
                "solver='gibbs' draws a label for each copy of a row, and takes whole sample weights; got "
                "fractions: pass whole numbers, or solver='variational'."
            )
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=(2, len(starts)))[1]
        models = tuple(_drawn(q, int(seed)) for q, seed in zip(starts, seeds, strict=True))
        watch = Watch(
            self,
            self.checkpoint,
            data,
            as_model=lambda model: _around(starts[0], model),
            report=self._report(),
            in_order=True,
            grows=True,
        )
        sweep = GibbsSweep(None if self.covariance_type == "tied" else split_and_merge, _parameters)
        burn_in = self.max_iter // 2 if self.burn_in is None else self.burn_in
        sampler = Sampler(sweep, self.max_iter, burn_in, watch=watch)
        return self._summary(sampler.sample(models, data), starts[0])

    def _summary(self, found: Chains, start: VariationalMixture) -> Progress:
        """Set the draws as attributes, and return the posterior given the most probable labels."""
        parts = zip(*found.draws, strict=True) if found.draws else ((), (), (), ())
        *drawn, self.n_occupied_ = map(np.array, parts)
        self.draws_ = dict(zip(DRAWN, drawn, strict=True))
        self.r_hat_, self.effective_sample_size_ = found.r_hat, found.effective_sample_size
        best = max(found.chains, key=lambda chain: max(chain.trace, default=-np.inf)).best
        model = start if best is None else start.estimate(best)
        reason = found.stopped_because
        if reason == "max_iter" and self.r_hat_ < MOST_R_HAT:
            reason = "tolerance"
        return Progress(model, found.trace, best, reason)

    def _unconverged(self, progress: Progress) -> str:
        if self.solver == "variational":
            return super()._unconverged(progress)
        return (
            f"The log joint density did not settle in {progress.n_iter} sweeps of Gibbs sampling: r_hat_ is "
            f"{self.r_hat_:.3g}. Increase max_iter, or n_init to compare chains."
        )

    # --- prediction --------------------------------------------------------------------------------------

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density log p(x) of each row.

        With 'variational' it is a lower bound of the predictive density, as in scikit-learn; with 'gibbs' the
        average of the densities that were drawn.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        if self.solver == "variational":
            return map_rows(self.model_.log_density, X)
        draws = self._draws()
        return map_rows(
            lambda rows: logsumexp([draw.log_density(rows) for draw in draws], axis=0) - np.log(len(draws)), X
        )

    def co_clustering(self, X: Any) -> np.ndarray:
        """Posterior probability that two rows are in one component, (n_samples, n_samples).

        It needs the draws of 'gibbs', and does not depend on the labels of components, which may switch.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows that are compared.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_samples)
        """
        check_is_fitted(self)
        X, draws = read_rows(self, X), self._draws()
        afford(2.0 * len(X) ** 2, f"the pairs of {len(X)} rows", "choose fewer rows.")
        total = np.zeros((len(X), len(X)))
        for draw in draws:
            P = softmax(draw.regularized_log_joint(X), axis=1)
            total += P @ P.T
        total /= len(draws)
        np.fill_diagonal(total, 1.0)
        return total

    def _draws(self) -> list[Mixture]:
        """Return the mixtures that were drawn."""
        if not hasattr(self, "draws_") or not len(self.draws_["weights"]):
            raise ValueError("There are no draws: fit with solver='gibbs' and max_iter above burn_in.")
        family = self.model_.prior.family
        return [
            Mixture(w, family.replace(mean=m, covariance=c))
            for w, m, c in zip(*(self.draws_[name] for name in DRAWN), strict=True)
        ]

    def _densities(self) -> tuple[np.ndarray, Family]:
        return self.weights_, self.model_.component.expected

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        q: Any = progress.model.component
        weight, family, prior = progress.model.weight, q.expected, q.family.prior
        mean = np.asarray(weight.mean)
        tied, spherical = self.covariance_type == "tied", self.covariance_type == "spherical"
        df = q.degrees_of_freedom
        if df.ndim == 2:
            df = df.max(axis=1) / (self.n_features_in_ if spherical else 1.0)
        scale, D = prior.scale, self.n_features_in_
        kappa = q.mean_precision if q.mean_precision.ndim == 1 else q.mean_precision.max(axis=1)
        return {
            "weights_": mean / mean.sum(),
            "means_": family.mean,
            "covariances_": family.covariance,
            "precisions_": family.inverse(family.covariance),
            "precisions_cholesky_": family.root_precision,
            "weight_concentration_": (weight.a, weight.b) if isinstance(weight, Sticks) else weight.alpha,
            "mean_precision_": kappa,
            "degrees_of_freedom_": float(df[0]) if tied else df,
            "weight_concentration_prior_": self._concentration(),
            "mean_precision_prior_": prior.mean_precision,
            "mean_prior_": prior.mean,
            "degrees_of_freedom_prior_": prior.degrees_of_freedom,
            "covariance_prior_": {"full": scale, "tied": scale, "diag": np.diag(scale)}.get(
                self.covariance_type, float(np.trace(scale)) / D
            ),
        }


def _drawn(q: VariationalMixture, seed: int) -> GibbsMixture:
    """Return the initial state of a chain, drawn from the posterior given the initial labels."""
    rng = generator(Purpose.START, seed)
    mixture = Mixture(q.weight.sample(rng), q.component.sample(rng))
    return GibbsMixture(q.weight_prior, mixture, seed)


def _parameters(draw: Mixture) -> tuple[np.ndarray, ...]:
    """Return the arrays of a draw that are kept, in the order of `DRAWN`."""
    family: Any = draw.component
    return draw.weight, family.mean, family.covariance


def _around(start: VariationalMixture, draw: GibbsMixture) -> VariationalMixture:
    """Return the model whose expected parameters are those of a draw, for callbacks."""
    family: Any = draw.mixture.component
    q: Any = start.component
    scale = family.covariance.reshape(q.scale.shape) * _last_axes(q.degrees_of_freedom, q.scale)
    return start.replace(component=q.replace(mean=family.mean, scale=scale))


def _last_axes(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Append axes of length one, so that the values broadcast along the first axes of `like`."""
    return values.reshape(*values.shape, *[1] * (like.ndim - values.ndim))


def _moments_of(block: Rows) -> Moments:
    return moments(block.X, block.weight)


def _fractions(block: Rows) -> float:
    """Return the number of weights that are not integers."""
    return float((block.weight != np.floor(block.weight)).sum())


def _shaped(name: str, values: Any, like: np.ndarray) -> np.ndarray:
    """Return the parameter of a prior as an array with the shape of `like`, which is the default."""
    if values is None:
        return like
    array = np.array(values, dtype=np.float64)
    if array.shape != like.shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {like.shape}, but got {array.shape}."
        )
    return array
