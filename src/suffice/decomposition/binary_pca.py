"""PCA of binary columns: a logistic model of each column given few normal factors, by EM.

Bock and Aitkin, "Marginal maximum likelihood estimation of item parameters", 1981; Jaakkola and Jordan,
"Bayesian parameter estimation via variational methods", 2000; Delyon, Lavielle and Moulines, "Convergence of
a stochastic approximation version of the EM algorithm", 1999; STATS 601 section 1.9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import expit, log_expit, logsumexp, ndtri
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, FINITE, NON_NEGATIVE, StrOptions, seed_of
from ..estimator.scores import mean_score
from ..estimator.tags import tags
from ..fitting.em import em
from ..fitting.linear_algebra import signs
from ..fitting.sampler import Chain, Draw, Sampler, metropolis_step
from ..inputs import map_rows, read_rows
from ..statistics import Moments, describe, moments
from .factor_analysis import named
from .nmf_start import row_uniforms

NODES = {0: 1, 1: 31, 2: 15, 3: 9, 4: 7}  # nodes of an axis, by number of components
NEWTON = 50  # steps at most of the logistic regressions; a few are enough
SWEEPS = 20  # of the variational parameters of a row
LARGEST = 30.0  # largest absolute value of an intercept without a penalty


@dataclass(frozen=True, eq=False)
class NodeSums(Statistics):
    """Expected number of rows at each node in which a column is observed, and in which it is 1."""

    weight: float
    log_likelihood: float
    seen: Annotated[np.ndarray, "(M, D)"]
    ones: Annotated[np.ndarray, "(M, D)"]


@dataclass(frozen=True, eq=False)
class QuadraticSums(Statistics):
    """A quadratic of the coefficients of each column: with it, they solve gram beta = cross."""

    weight: float
    log_likelihood: float
    gram: Annotated[np.ndarray, "(D, Q, Q)"]
    cross: Annotated[np.ndarray, "(D, Q)"]


@dataclass(frozen=True, eq=False)
class BinaryFactors(Model):
    """p(x_d = 1 given f) = expit(intercept_d + loadings_d' f), with factors f ~ N(0, I).

    Integrals over the factors are sums over nodes. NaN is not observed.
    """

    intercept: Annotated[np.ndarray, "(D,)"]
    loadings: Annotated[np.ndarray, "(D, K)"]
    nodes: Annotated[np.ndarray, "(M, K)"]
    log_weight: Annotated[np.ndarray, "(M,)"]
    alpha: float = 0.0
    solver: str = "quadrature"
    threshold: float | None = None  # above which an entry is 1
    seed: int = 0
    n_draws: int = 0
    sweep: int = 0

    @classmethod
    def of(cls, intercept: Any, loadings: Any, n_nodes: int | None = None, **options: Any) -> Self:
        """The model with these coefficients, and the nodes of Gauss and Hermite."""
        loadings = np.asarray(loadings, dtype=np.float64)
        return cls(
            np.asarray(intercept, dtype=np.float64), loadings, *grid(loadings.shape[1], n_nodes), **options
        )

    @cached_property
    def logits(self) -> np.ndarray:
        """The log-odds of each column at each node, (M, D)."""
        return self.intercept + self.nodes @ self.loadings.T

    def binary(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indicators of the entries that are 1 and of those that are 0. Both are zero for entries that
        are not observed."""
        ones = ((self.threshold or 0.0) < X).astype(np.float64)
        return ones, 1.0 - ones - np.isnan(X)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """Log marginal probability of each row; for 'variational', a lower bound."""
        if self.solver == "variational":
            return self._variational(*self.binary(X))[2]
        return self.posterior(*self.binary(X))[0]

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Posterior mean of the factors, (N, K)."""
        if self.solver == "variational":
            return self._variational(*self.binary(X))[0]
        return self.posterior(*self.binary(X))[1].dot(self.nodes)

    def posterior(self, ones: np.ndarray, zeros: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log marginal probability of each row, and responsibilities of the nodes for it, (N, M)."""
        likelihood = ones.dot(log_expit(self.logits).T) + zeros.dot(log_expit(-self.logits).T)
        log_joint = likelihood + self.log_weight
        top = log_joint.max(axis=1, keepdims=True)
        R = np.exp(log_joint - top)
        total = R.sum(axis=1, keepdims=True)
        return (top + np.log(total))[:, 0], R / total

    def summarize(self, block: Rows) -> NodeSums | QuadraticSums:
        return E_STEPS[self.solver](self, block)

    def by_nodes(self, block: Rows) -> NodeSums:
        """Responsibilities of the nodes for the rows: Bock and Aitkin."""
        ones, zeros = self.binary(block.X)
        log_px, R = self.posterior(ones, zeros)
        R *= block.weight[:, None]
        weight = float(block.weight.sum())
        return NodeSums(weight, float(block.weight.dot(log_px)), R.T.dot(ones + zeros), R.T.dot(ones))

    def by_bound(self, block: Rows) -> QuadraticSums:
        """Normal posteriors under a quadratic bound of the logistic function: Jaakkola and Jordan."""
        ones, zeros = self.binary(block.X)
        mean, covariance, bound, curve = self._variational(ones, zeros)
        square = covariance + mean[:, :, None] * mean[:, None, :]
        W = block.weight[:, None]
        gram = _quadratic(2.0 * curve * W, mean, square)
        cross = np.column_stack(
            [(0.5 * (ones - zeros) * W).sum(axis=0), (0.5 * (ones - zeros) * W).T.dot(mean)]
        )
        return QuadraticSums(float(block.weight.sum()), float(block.weight.dot(bound)), gram, cross)

    def _variational(self, ones: np.ndarray, zeros: np.ndarray) -> tuple[np.ndarray, ...]:
        """Means and covariances of the factors, lower bounds of the log probabilities, and the curvatures."""
        B, a, K = self.loadings, self.intercept, self.loadings.shape[1]
        seen, half = ones + zeros, 0.5 * (ones - zeros)
        outer = (B[:, :, None] * B[:, None, :]).reshape(-1, K * K)
        at = xi = np.ones_like(seen)
        for _ in range(SWEEPS):
            at, curve = xi, seen * np.tanh(0.5 * xi) / (4.0 * xi)
            precision = np.eye(K) + 2.0 * curve.dot(outer).reshape(-1, K, K)
            covariance = np.linalg.inv(precision)
            pull = (half - 2.0 * curve * a).dot(B)
            mean = np.einsum("nkl,nl->nk", covariance, pull)
            size = (a + mean.dot(B.T)) ** 2 + covariance.reshape(-1, K * K).dot(outer.T)
            xi = np.sqrt(np.maximum(size, 1e-12))
        bound = (seen * (log_expit(at) - 0.5 * at + curve * (at**2 - a**2)) + half * a).sum(axis=1)
        log_det = np.linalg.slogdet(covariance)[1]
        return mean, covariance, bound + 0.5 * (log_det + (mean * pull).sum(axis=1)), curve

    def by_chains(self, block: Rows) -> QuadraticSums:
        """Metropolis-Hastings draws of the factors, proposed from their prior; a Newton step of each column.

        The random numbers of a row are hashes of the row, so that they do not depend on the blocks.
        """
        (N, D), K, T = block.X.shape, self.loadings.shape[1], self.n_draws
        ones, zeros = self.binary(block.X)
        uniform = row_uniforms(ones - zeros, (K + 1) * T, Purpose.LATENT, self.seed, self.sweep).reshape(
            N, T, K + 1
        )
        proposals, level = ndtri(uniform[..., :K]), np.log(uniform[..., K])
        state, density = proposals[:, 0], np.full(N, -np.inf)
        gram, cross = np.zeros((D, K + 1, K + 1)), np.zeros((D, K + 1))
        densities, W = np.empty((N, T)), block.weight[:, None]
        for t in range(T):
            logits = self.intercept + proposals[:, t].dot(self.loadings.T)
            densities[:, t] = (ones * log_expit(logits) + zeros * log_expit(-logits)).sum(axis=1)
            state, density = metropolis_step(level[:, t], proposals[:, t], densities[:, t], state, density)
            if t < T // 4:  # the chain has not yet forgotten where it began
                continue
            p = expit(self.intercept + state.dot(self.loadings.T))
            share = W / (T - T // 4)
            curve = (ones + zeros) * p * (1.0 - p) * share
            square = state[:, :, None] * state[:, None, :]
            gram += _quadratic(curve, state, square)
            left = (ones - (ones + zeros) * p) * share
            cross += np.column_stack([left.sum(axis=0), left.T.dot(state)])
        cross += np.einsum("dij,dj->di", gram, self.coefficients)
        log_px = logsumexp(densities, axis=1) - np.log(T) if T else np.zeros(N)
        return QuadraticSums(float(block.weight.sum()), float(block.weight.dot(log_px)), gram, cross)

    @property
    def coefficients(self) -> np.ndarray:
        """Intercepts and loadings, (D, Q)."""
        return np.column_stack([self.intercept, self.loadings])

    def estimate(self, s: NodeSums | QuadraticSums) -> Self:
        if isinstance(s, QuadraticSums):
            ridge = np.maximum(self.alpha, 1e-12 * np.trace(s.gram, axis1=1, axis2=2))[:, None, None]
            beta = np.linalg.solve(s.gram + ridge * np.eye(s.gram.shape[1]), s.cross[..., None])[..., 0]
        else:
            beta = _regressions(self.nodes, s.seen, s.ones, self.coefficients, self.alpha)
        beta[:, 0] = np.clip(beta[:, 0], -LARGEST, LARGEST)
        return self.replace(intercept=beta[:, 0].copy(), loadings=beta[:, 1:].copy(), sweep=self.sweep + 1)

    def objective(self, s: NodeSums | QuadraticSums) -> float:
        return (s.log_likelihood - 0.5 * self.alpha * float((self.coefficients**2).sum())) / s.weight

    def turned(self) -> Self:
        """The same model with loadings that are orthogonal, in decreasing length."""
        V = np.linalg.svd(self.loadings, full_matrices=False)[2].T
        L = self.loadings @ V
        V = V * signs(L.T) if len(L) else V
        return self.replace(loadings=self.loadings @ V, nodes=self.nodes @ V)


def _quadratic(share: np.ndarray, mean: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Sums of share_nd (1, f)(1, f)' by column, (D, Q, Q), with the first two moments of f."""
    D, K = share.shape[1], mean.shape[1]
    out = np.empty((D, K + 1, K + 1))
    out[:, 0, 0] = share.sum(axis=0)
    out[:, 0, 1:] = out[:, 1:, 0] = share.T.dot(mean)
    out[:, 1:, 1:] = share.T.dot(square.reshape(-1, K * K)).reshape(D, K, K)
    return out


def _regressions(
    nodes: np.ndarray, seen: np.ndarray, ones: np.ndarray, beta: np.ndarray, alpha: float
) -> np.ndarray:
    """Logistic regressions of all columns on the nodes, with counts, by Newton's method."""
    Z = np.column_stack([np.ones(len(nodes)), nodes])
    M, Q = Z.shape
    squares, ridge = (Z[:, :, None] * Z[:, None, :]).reshape(M, Q * Q), alpha * np.eye(Q)

    def loss(beta: np.ndarray) -> np.ndarray:
        logits = Z @ beta.T
        fit = (ones * log_expit(logits) + (seen - ones) * log_expit(-logits)).sum(axis=0)
        return 0.5 * alpha * (beta**2).sum(axis=1) - fit

    value = loss(beta)
    for _ in range(NEWTON):
        p = expit(Z @ beta.T)
        slope = (seen * p - ones).T @ Z + alpha * beta
        hessian = ((seen * p * (1.0 - p)).T @ squares).reshape(-1, Q, Q) + ridge
        hessian += (1e-12 * np.trace(hessian, axis1=1, axis2=2) + 1e-300)[:, None, None] * np.eye(Q)
        step = np.linalg.solve(hessian, slope[..., None])[..., 0]
        size = np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / 5.0)
        best, length = beta, 1.0
        for _ in range(20):  # columns whose loss would rise take half of the step
            new = np.where((value <= loss(best))[:, None], beta - length * step / size, best)
            lower = loss(new) <= value
            best = np.where(lower[:, None], new, best)
            if lower.all():
                break
            length *= 0.5
        value, change = loss(best), np.abs(best - beta).max(initial=0.0)
        beta = best
        if change <= 1e-10 * max(1.0, np.abs(beta).max(initial=0.0)):
            break
    return beta


E_STEPS: dict[str, Callable[[BinaryFactors, Any], NodeSums | QuadraticSums]] = {
    "quadrature": BinaryFactors.by_nodes,
    "monte-carlo": BinaryFactors.by_nodes,
    "mcmc": BinaryFactors.by_chains,
    "variational": BinaryFactors.by_bound,
}


def grid(K: int, n_nodes: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (M, K) and log weights (M,) of the quadrature of Gauss and Hermite for a normal variable."""
    n = n_nodes or NODES.get(K, 5)
    afford(float(n) ** K * max(K, 1), f"{n} nodes for each of {K} components", "use solver='variational'.")
    x, w = np.polynomial.hermite_e.hermegauss(n)
    axes = np.meshgrid(*[x] * K, indexing="ij")
    log_w = sum(np.meshgrid(*[np.log(w / w.sum())] * K, indexing="ij"), np.zeros([n] * K))
    return np.stack([a.ravel() for a in axes], axis=1) if K else np.zeros((1, 0)), np.ravel(log_w)


def _filled(model: BinaryFactors, mean: np.ndarray, block: Rows) -> Moments:
    ones, zeros = model.binary(block.X)
    return moments(np.where(ones + zeros > 0, ones, mean), block.weight)


def _described(model: BinaryFactors, block: Rows) -> Any:
    X = np.where(np.isnan(block.X), np.nan, model.binary(block.X)[0])
    return describe(block.replace(X=X))


def _others(block: Rows) -> np.ndarray:
    X = block.X
    return np.array([np.count_nonzero(~np.isnan(X) & (X != 0.0) & (X != 1.0))], dtype=np.float64)


class BinaryPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """PCA of binary features (item response model): few normal factors, and a logistic model of each feature.

    NaN means not observed. Each iteration is a pass over the data.

    Parameters
    ----------
    n_components : int, default=1
        Number of factors.
    solver : {'quadrature', 'monte-carlo', 'mcmc', 'variational'}, default='quadrature'
        How the factors of a row are integrated out. 'quadrature' is the rule of Gauss and Hermite, exact for
        few components. 'monte-carlo' averages over `n_draws` draws from their distribution. 'mcmc' draws
        the factors of each row by `n_draws` Metropolis-Hastings steps, and averages the sums of iterations
        (stochastic approximation EM). 'variational' maximizes a lower bound of the likelihood; it shrinks
        loadings.
    n_nodes : int, default=None
        Nodes of 'quadrature' for each component. None is 31 for one component, 15, 9, 7 and 5 for more.
    n_draws : int, default=200
        Number of draws.
    alpha : float, default=1e-3
        Penalty: half of it times the sum of the squares of intercepts and loadings is subtracted from the
        log-likelihood of all rows. It keeps coefficients of features that the factors separate finite.
    binarize : float, default=0.0
        Threshold above which an entry is 1. None means that all entries are 0 or 1 already.
    tol : float, default=1e-6
        Tolerance of the stopping criterion: the change of the mean log-likelihood; of 'mcmc', the change of
        the coefficients.
    max_iter : int, default=500
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed for the draws.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings (discriminations). They are orthogonal, in decreasing length.
    intercept_ : ndarray of shape (n_features,)
        Intercepts: the logits of the features where the factors are 0.
    loglike_ : float
        Mean log-likelihood of the last iteration, less the penalty; of 'variational', its lower bound.
    n_parameters_ : int
        Number of intercepts and loadings.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : BinaryFactors
        The fitted model.
    statistics_ : NodeSums or QuadraticSums
        The sums of the last pass.

    See Also
    --------
    PCA : Of numbers.
    suffice.mixture.LatentClass : Groups of rows of categories, instead of factors.

    Notes
    -----
    Features are independent given the factors:

    .. math::

        f ∼ N(0, I), \\qquad P(x_d = 1 | f) = \\frac{1}{1 + e^{-a_d - b_d^T f}}.

    The M step is a logistic regression of each feature on the nodes, with the expected number of rows at each
    node: its size does not depend on the number of rows. Loadings are determined up to a rotation.

    References
    ----------
    * Bock and Aitkin (1981), "Marginal maximum likelihood estimation of item parameters", Psychometrika 46.
    * Jaakkola and Jordan (2000), "Bayesian parameter estimation via variational methods", Statistics and
      Computing 10.
    * Delyon, Lavielle and Moulines (1999), "Convergence of a stochastic approximation version of the EM
      algorithm", Annals of Statistics 27.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import BinaryPCA
    >>> rng = np.random.default_rng(0)
    >>> ability = rng.normal(size=(2000, 1))
    >>> easy = np.array([1.0, 0.0, -1.0, 0.5])
    >>> answers = rng.random((2000, 4)) < 1.0 / (1.0 + np.exp(-easy - 2.0 * ability))
    >>> model = BinaryPCA().fit(answers)
    >>> model.components_.round(0)
    array([[2., 2., 2., 2.]])
    """

    exempt = (
        Exempt("shift", "What is above zero is another thing there."),
        Exempt("optimum", "One solver bounds the likelihood, and two draw."),
    )

    model_: Annotated[BinaryFactors, "D"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("components_", "intercept_", "transform")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_0],
        "solver": [StrOptions(set(E_STEPS))],
        "n_nodes": [AT_LEAST_1, None],
        "n_draws": [AT_LEAST_1],
        "alpha": [NON_NEGATIVE],
        "binarize": [FINITE, None],
    }
    __sklearn_tags__ = tags(allow_nan=True)

    def __init__(
        self,
        n_components: int = 1,
        *,
        solver: str = "quadrature",
        n_nodes: int | None = None,
        n_draws: int = 200,
        alpha: float = 1e-3,
        binarize: float | None = 0.0,
        tol: float = 1e-6,
        max_iter: int = 500,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.n_nodes = n_nodes
        self.n_draws = n_draws
        self.alpha = alpha
        self.binarize = binarize
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        if self.binarize is None and data.fold(_others)[0]:
            raise ValueError(
                "X must be 0 or 1 with binarize=None: set binarize to the threshold above which 1."
            )
        start = self._start(data)
        watch = Watch(self, self.checkpoint, data)
        if self.solver == "mcmc":
            progress = self._averaged(start, data, watch)
        else:
            progress = em(start, data, tol=self.tol, max_iter=self.max_iter, watch=watch)
        return progress.replace(model=progress.model.turned())

    def _start(self, data: Partitions) -> BinaryFactors:
        """Loadings along the eigenvectors of the correlations, and the logits of the means."""
        K, D = int(self.n_components), self.n_features_in_
        if D < K:
            raise ValueError(f"n_components={K} must be at most n_features={D} in BinaryPCA.")
        seed = seed_of(self.random_state)
        if self.solver in ("monte-carlo", "mcmc"):
            M = self.n_draws
            nodes = generator(Purpose.LATENT, seed).standard_normal((M, K)), np.full(M, -np.log(M))
        elif self.solver == "quadrature":
            nodes = grid(K, self.n_nodes)
        else:
            nodes = np.zeros((0, K)), np.zeros(0)
        options: dict[str, Any] = {
            "alpha": float(self.alpha),
            "solver": self.solver,
            "seed": seed,
            "n_draws": self.n_draws,
        }
        model = BinaryFactors(np.zeros(D), np.zeros((D, K)), *nodes, threshold=self.binarize, **options)
        features = data.fold(_described, model).features
        must_have_rows(features.weight)
        mean, flat = features.mean, np.flatnonzero(features.variance <= 0)
        if len(flat):
            warn(
                f"{named(flat)} constant: the loadings are 0 but for the penalty, and the intercept is as "
                "large as the penalty allows.",
            )
        s = data.fold(_filled, model, mean)
        size = np.sqrt(np.where(np.diag(s.scatter) > 0, np.diag(s.scatter), 1.0))
        values, vectors = np.linalg.eigh(s.scatter / np.outer(size, size))
        L = vectors[:, ::-1][:, :K] * np.sqrt(np.maximum(values[::-1][:K], 0.0))
        L = L * signs(L.T) if L.size else L
        seen = np.clip(mean, 1e-3, 1.0 - 1e-3)
        return model.replace(intercept=np.log(seen / (1.0 - seen)), loadings=L)

    def _averaged(self, start: BinaryFactors, data: Partitions, watch: Watch) -> Progress:
        """Stochastic approximation: the sums of the draws are averaged after the first quarter of the
        iterations."""
        first = max(self.max_iter // 4, 1)

        def advance(chains: tuple[Chain, ...], data: Partitions) -> tuple[Draw, ...]:
            (chain,) = chains
            model = chain.model
            s = data.fold(BinaryFactors.summarize, model)
            objective = model.objective(s)
            share = 1.0 / max(1, chain.n_iter + 1 - first)
            if chain.statistics is not None and share < 1.0:
                s = chain.statistics * (1.0 - share) + s * share
            new = model.estimate(s)
            change = np.abs(new.coefficients - model.coefficients).max(initial=0.0)
            done = share < 0.1 and change < self.tol * max(1.0, np.abs(new.coefficients).max(initial=0.0))
            return (Draw(new, objective, None, s, "tolerance" if done else ""),)

        return Sampler(advance, self.max_iter, watch=watch).sample((start,), data).chains[0]

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: BinaryFactors = progress.model
        return {
            "components_": np.ascontiguousarray(model.loadings.T),
            "intercept_": model.intercept,
            "n_parameters_": model.coefficients.size,
            "loglike_": float(progress.trace[-1]),
        }

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Posterior mean of the factors of each row, given its observed features.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.scores, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Probabilities that the features are 1, given factors."""
        check_is_fitted(self)
        return expit(np.asarray(X) @ self.components_ + self.intercept_)

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log probability of each row, of its observed features; of 'variational', a lower bound.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.log_density, X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Mean log probability of the rows."""
        return mean_score(self, X, sample_weight)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
