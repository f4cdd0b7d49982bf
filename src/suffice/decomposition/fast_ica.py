"""Independent component analysis by FastICA: each iteration sums the contrast of the rows.

Hyvarinen, "Fast and robust fixed-point algorithms for independent component analysis", 1999; Ablin, Cardoso
and Gramfort, "Faster ICA under orthogonal constraint", 2018; Gong and Xu ch. 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh, expm
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_1, Numbers, Options, StrOptions
from ..inputs import map_rows, read_rows
from ..statistics import Moments, moments

RANK = 1e-13  # least eigenvalue of a covariance of full rank, relative to the largest
# Rows are summed in tiles whose products stay in the cache of a core.
TILE_BYTES, LEAST_TILE = 1 << 18, 256
# Standard errors within which the contrast of a component cannot be told from that of a Gaussian.
GAUSSIAN = 3.0


def _logcosh(y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    g = np.tanh(y if alpha == 1.0 else alpha * y)
    slope = g * g
    np.subtract(1.0, slope, out=slope)
    return g, slope if alpha == 1.0 else alpha * slope


def _exp(y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    square = y * y
    bell = np.exp(-0.5 * square)
    return y * bell, (1.0 - square) * bell


def _cube(y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    square = y * y
    return square * y, 3.0 * square


# g, the derivative of the contrast G, and the derivative of g.
DERIVATIVES: dict[str, Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]] = {
    "logcosh": _logcosh,
    "exp": _exp,
    "cube": _cube,
}


def log_cosh(y: np.ndarray, alpha: float) -> np.ndarray:
    """log(cosh(alpha y)) / alpha, for any y."""
    size = alpha * np.abs(y)
    return (size + np.log1p(np.exp(-2.0 * size)) - np.log(2.0)) / alpha


CONTRASTS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "logcosh": log_cosh,
    "exp": lambda y, alpha: -np.exp(-0.5 * y**2),
    "cube": lambda y, alpha: 0.25 * y**4,
}


def mean_of_gaussian(f: Callable[[np.ndarray], np.ndarray]) -> float:
    """Mean of a function of a standard normal variable."""
    y = np.linspace(-12.0, 12.0, 24_001)
    p = np.exp(-0.5 * y**2)
    return float(p @ f(y) / p.sum())


@cache
def _spread(contrast: str, alpha: float) -> float:
    """Standard deviation of g'(y) - y g(y) of a standard normal y. Its mean is 0, by Stein's lemma."""

    def square(y: np.ndarray) -> np.ndarray:
        g, slope = DERIVATIVES[contrast](y, alpha)
        return (slope - y * g) ** 2

    return float(np.sqrt(mean_of_gaussian(square)))


@dataclass(frozen=True, eq=False)
class ContrastSums(Statistics):
    """Sums of g(y) x' and g'(y), and for quasi-Newton steps of G(y), for the components y = B (x - mean)."""

    weight: float
    contrast: Annotated[np.ndarray, "(L,)"]
    product: Annotated[np.ndarray, "(L, D)"]
    slope: Annotated[np.ndarray, "(L,)"]


@dataclass(frozen=True, eq=False)
class Unmixing(Model):
    """y = W K (x - mean), with the whitening matrix K and W orthogonal."""

    mean: Annotated[np.ndarray, "(D,)"]
    whitening: Annotated[np.ndarray, "(K, D)"]
    W: Annotated[np.ndarray, "(K, K)"]
    contrast: Any = "logcosh"
    alpha: float = 1.0
    total: float = 1.0  # weight of all rows
    active: int = -1  # the component that is extracted; -1: all at once
    since: int = 0  # iterations of the active component
    longest: int = 0  # the most of a component
    newton: bool = False
    # For quasi-Newton steps: the start of the last step, its direction and length, and the loss there.
    anchor: Annotated[np.ndarray | None, "(K, K)"] = None
    direction: Annotated[np.ndarray | None, "(K, K)"] = None
    length: float = 1.0
    sign: Annotated[np.ndarray | None, "(K,)"] = None  # of the contrasts in the loss
    value: float = 0.0

    @property
    def rows(self) -> slice:
        """The components whose sums are needed."""
        return slice(None) if self.active < 0 else slice(self.active, self.active + 1)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of components whose sums are needed, and the number of features."""
        return len(self.W[self.rows]), len(self.mean)

    def components(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean).dot((self.W[self.rows] @ self.whitening).T)

    def summarize(self, block: Rows) -> ContrastSums:
        if callable(self.contrast):
            return self._summarize_by(self.contrast, block)
        B, (L, D) = self.W[self.rows] @ self.whitening, self.shape
        value, slope, product = np.zeros(L), np.zeros(L), np.zeros((L, D))
        size = max(LEAST_TILE, TILE_BYTES // (8 * D))
        for start in range(0, len(block), size):
            tile = slice(start, start + size)
            x, weight = block.X[tile] - self.mean, block.weight[tile]
            y = B.dot(x.T)
            if self.newton:
                value += CONTRASTS[self.contrast](y, self.alpha).dot(weight)
            g, derivative = DERIVATIVES[self.contrast](y, self.alpha)
            slope += derivative.dot(weight)
            g *= weight
            product += g.dot(x)
        return ContrastSums(float(block.weight.sum()), value, product, slope)

    def _summarize_by(self, function: Any, block: Rows) -> ContrastSums:
        """The sums with a contrast function of the user, which takes all rows of a block, without weights."""
        L, D = self.shape
        if not len(block):
            return ContrastSums(0.0, np.zeros(L), np.zeros((L, D)), np.zeros(L))
        x = block.X - self.mean
        g, slope = function((self.W[self.rows] @ self.whitening).dot(x.T))
        slope = np.asarray(slope) if np.ndim(slope) < 2 else np.asarray(slope).mean(axis=1)
        return ContrastSums(
            float(block.weight.sum()), np.zeros(L), np.dot(g, x), len(block) * np.atleast_1d(slope)
        )

    def excess(self, s: ContrastSums) -> np.ndarray:
        """Means of g'(y) - y g(y): zero for a Gaussian component."""
        B = self.W[self.rows] @ self.whitening
        return (s.slope - (s.product * B).sum(axis=1)) / s.weight

    def estimate(self, s: ContrastSums) -> Self:
        P = s.product @ self.whitening.T / s.weight  # mean of g(y) z'
        slope = s.slope / s.weight
        if self.newton:
            return self._newton(s.contrast / s.weight, P, slope)
        W = P - slope[:, None] * self.W[self.rows]
        if self.active < 0:
            return self.replace(W=decorrelated(W))
        before = self.W[: self.active]
        w = W[0] - (before @ W[0]) @ before
        out = self.W.copy()
        out[self.active] = w / (np.linalg.norm(w) or 1.0)
        return self.replace(W=out)

    def _newton(self, loss: np.ndarray, P: np.ndarray, slope: np.ndarray) -> Self:
        """A turn of W along minus the gradient, divided by an approximate Hessian; half of the last turn if
        that raised the loss."""
        R = P @ self.W.T  # mean of g(y) y'
        excess = slope - np.diag(R)
        sign = np.where(excess < 0, -1.0, 1.0)  # tails are shorter than those of a Gaussian, or longer
        if (
            self.sign is not None
            and self.anchor is not None
            and self.direction is not None
            and self.sign @ loss > self.value + 1e-12 * abs(self.value)
            and self.length > 1e-3
        ):
            W = expm(0.5 * self.length * self.direction) @ self.anchor
            return self.replace(W=W, length=0.5 * self.length)
        gradient = sign[:, None] * R
        size = np.abs(excess)
        direction = -(gradient - gradient.T) / np.maximum(size[:, None] + size, 1e-2)
        direction *= min(1.0, 1.0 / max(np.abs(direction).max(), 1e-300))
        W = expm(direction) @ self.W
        last = {"anchor": self.W, "sign": sign, "value": float(sign @ loss)}
        return self.replace(W=W, direction=direction, length=1.0, **last)


def decorrelated(W: np.ndarray) -> np.ndarray:
    """(W W')^-1/2 W, the orthogonal matrix nearest to W."""
    values, vectors = eigh(W @ W.T)
    values = np.maximum(values, np.finfo(np.float64).tiny)
    return (vectors / np.sqrt(values)) @ vectors.T @ W


def _of_all(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


class FastICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Independent component analysis. Each iteration is a pass over the data.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None is the rank of the covariance of the features.
    algorithm : {'parallel', 'deflation'}, default='parallel'
        Whether all components are computed at once, or one after the other.
    whiten : {'arbitrary-variance', 'unit-variance'} or False, default='unit-variance'
        Scale of the components. False means that the rows are white already.
    fun : {'logcosh', 'exp', 'cube'} or callable, default='logcosh'
        The contrast, an approximation to negentropy. A function takes components of shape (n_components,
        n_rows), and returns g of them, and the means of its derivative over the rows of a block.
    fun_args : dict, default=None
        Arguments of `fun`: of 'logcosh', `alpha` between 1 and 2.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: 1 minus the cosine of the angle by which a component turns.
    w_init : array of shape (n_components, n_components), default=None
        Initial unmixing matrix of the whitened rows. None draws it from a normal distribution.
    whiten_solver : {'eigh', 'svd'}, default='svd'
        Ignored: rows are whitened by the eigenvectors of the sum of their moments.
    random_state : int, RandomState or None, default=None
        Seed for `w_init`.
    solver : {'fixed-point', 'quasi-newton'}, default='fixed-point'
        'fixed-point' is FastICA. 'quasi-newton' turns all components along the gradient, divided by an
        approximate Hessian, with steps that do not raise the loss; for 'parallel'.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unmixing matrix: components are its products with centred rows.
    mixing_ : ndarray of shape (n_features, n_components)
        The pseudo-inverse of `components_`.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature. Only set if `whiten` is not False.
    whitening_ : ndarray of shape (n_components, n_features)
        Whitening matrix. Only set if `whiten` is not False.
    n_iter_ : int
        Number of iterations; of 'deflation', the largest of a component.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    trace_ : ndarray
        By iteration, the sum over components of the squares of the means of g'(y) - y g(y), which are 0 for
        Gaussian components.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Unmixing
        The fitted model.
    statistics_ : ContrastSums
        The sums of the last pass.

    See Also
    --------
    PCA : Uncorrelated components, ordered by their variance.
    FactorAnalysis : Gaussian factors, with noise.

    Notes
    -----
    The model is :math:`x = A s` with independent sources s, of which at most one is Gaussian. Whitened rows z
    have orthogonal A. The fixed point of a component is

    .. math::

        w ← E[z g(w^T z)] - E[g'(w^T z)] w.

    Sources are found up to their order, signs and scales. A warning tells if two or more components look
    Gaussian: their directions are arbitrary.

    References
    ----------
    * Hyvärinen (1999), "Fast and robust fixed-point algorithms for independent component analysis", IEEE
      Transactions on Neural Networks 10.
    * Ablin, Cardoso and Gramfort (2018), "Faster ICA under orthogonal constraint", ICASSP.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import FastICA
    >>> rng = np.random.default_rng(0)
    >>> sources = np.column_stack([rng.uniform(-1, 1, 2000), rng.laplace(size=2000)])
    >>> ica = FastICA(random_state=0).fit(sources @ np.array([[1.0, 0.5], [0.3, 1.0]]))
    >>> mixed = ica.components_ @ np.array([[1.0, 0.5], [0.3, 1.0]]).T
    >>> bool((np.sort(abs(mixed), axis=1)[:, 0] < 0.1 * abs(mixed).max(axis=1)).all())
    True
    """

    exempt = (Exempt("optimum", "Its objective has many optima."),)

    model_: Annotated[Unmixing, "D"]
    components_: Annotated[np.ndarray, "real (F, D)"]
    preserves_dtype: ClassVar[tuple[str, ...]] = (
        *("components_", "mixing_", "mean_", "whitening_", "transform"),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1, None],
        "algorithm": [StrOptions({"parallel", "deflation"})],
        "whiten": [StrOptions({"arbitrary-variance", "unit-variance"}), Options(bool, {False})],
        "fun": [StrOptions(set(CONTRASTS)), callable],
        "fun_args": [dict, None],
        "w_init": [Numbers(), None],
        "whiten_solver": [StrOptions({"eigh", "svd"})],
        "solver": [StrOptions({"fixed-point", "quasi-newton"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        whiten: Any = "unit-variance",
        fun: Any = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        w_init: Any = None,
        whiten_solver: str = "svd",
        random_state: Seed = None,
        solver: str = "fixed-point",
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state
        self.solver = solver
        self.checkpoint = checkpoint

    def _check_options(self) -> None:
        if not 1.0 <= (self.fun_args or {}).get("alpha", 1.0) <= 2.0:
            raise ValueError(f"alpha must be in [1,2]; got fun_args={self.fun_args}.")
        if self.solver == "quasi-newton" and (self.algorithm == "deflation" or callable(self.fun)):
            raise ValueError(
                "solver='quasi-newton' computes all components at once, with a contrast that is named: use "
                "algorithm='parallel' and fun='logcosh', 'exp' or 'cube'."
            )

    def _solve(self, data: Partitions) -> Progress:
        alpha = (self.fun_args or {}).get("alpha", 1.0)
        one_by_one, newton = self.algorithm == "deflation", self.solver == "quasi-newton"
        s = data.fold(_of_all)
        must_have_rows(s.weight)
        if callable(self.fun) and s.weight != data.fold(_count)[0]:
            raise ValueError("fun is a function of components without weights: leave sample_weight out.")
        if not s.weight > 1.0:
            raise ValueError(f"FastICA needs at least 2 rows, but n_samples={s.weight:g}.")
        whitening = self._whitening(s)
        W = decorrelated(self._initial(len(whitening)))
        if one_by_one:
            W = self._initial(len(whitening))
            W = W / np.linalg.norm(W, axis=1, keepdims=True)
        fun = self.fun
        if callable(fun) and self.fun_args:
            fun = _WithArguments(fun, self.fun_args)
        mean = s.mean if self.whiten else np.zeros_like(s.mean)
        active = 0 if one_by_one else -1
        start = Unmixing(mean, whitening, W, fun, float(alpha), float(s.weight), active, newton=newton)
        progress = self._separated(start, data)
        self._report(progress)
        return progress

    def _separated(self, start: Unmixing, data: Partitions) -> Progress:
        K, most = len(start.W), self.max_iter

        def step(progress: Progress) -> Progress:
            model = progress.model
            s = data.fold(Unmixing.summarize, model)
            trace = (*progress.trace, float((model.excess(s) ** 2).sum()))
            if not np.isfinite(trace[-1]):
                return Progress(model, trace, s, "objective not finite")
            new = model.estimate(s)
            rows = model.rows
            turn = np.abs(np.abs((new.W[rows] * model.W[rows]).sum(axis=1)) - 1.0).max()
            done = turn < self.tol
            if model.active < 0:
                return Progress(new, trace, s, "tolerance" if done else "")
            since = model.since + 1
            new = new.replace(since=since, longest=max(model.longest, since))
            if done or since >= most:
                if model.active + 1 == K:
                    return Progress(new, trace, s, "tolerance" if new.longest < most or done else "max_iter")
                new = new.replace(active=model.active + 1, since=0)
            return Progress(new, trace, s)

        total = most if start.active < 0 else most * K
        watch = Watch(self, self.checkpoint, data).limited(total)
        return watch.loop(step, Progress(start))

    def _whitening(self, s: Moments) -> np.ndarray:
        """Rows that make the features uncorrelated, with mean square 1."""
        D = len(s.mean)
        if not self.whiten:
            if self.n_components is not None:
                warn("Ignoring n_components with whiten=False.")
            return np.eye(D)
        values, vectors = eigh(s.scatter)
        values, vectors = values[::-1], vectors[:, ::-1]
        rank = int((values > RANK * values[0]).sum())
        most = min(D, int(s.weight))
        K = most if self.n_components is None else self.n_components
        if most < K:
            warn(f"n_components is too large: it will be set to {most}")
            K = most
        if rank < K:
            if not rank:
                raise ValueError("All features are constant: there is nothing to separate.")
            if self.n_components is not None:
                warn(
                    f"The covariance of the features has rank {rank}, less than {K} components: there are "
                    f"{rank}. Leave out constant and collinear features, or set n_components.",
                )
            K = rank
        sign = np.where(vectors[0] < 0, -1.0, 1.0)
        vectors = vectors * sign
        return (vectors[:, :K] / np.sqrt(values[:K] / s.weight)).T

    def _initial(self, K: int) -> np.ndarray:
        if self.w_init is None:
            return check_random_state(self.random_state).normal(size=(K, K))
        W = np.array(self.w_init, dtype=np.float64)
        if W.shape != (K, K):
            raise ValueError(f"w_init has invalid shape -- should be {(K, K)}; got {W.shape}.")
        return W

    def _unconverged(self, progress: Progress) -> str:
        return (
            "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations. It "
            f"stopped after {progress.n_iter} iterations because of {progress.stopped_because}."
        )

    def _report(self, progress: Progress) -> None:
        """Warn of components that look Gaussian."""
        if callable(self.fun) or self.algorithm == "deflation" or not progress.converged:
            return
        model = progress.model
        spread = _spread(self.fun, model.alpha)
        few = np.abs(model.excess(progress.statistics)) < GAUSSIAN * spread / np.sqrt(model.total)
        if few.sum() > 1:
            warn(
                f"{few.sum()} components look Gaussian, within {GAUSSIAN:g} standard errors of their "
                "contrasts: their directions are arbitrary. Use fewer components.",
                ConvergenceWarning,
            )

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: Unmixing = progress.model
        fitted: dict[str, Any] = {"n_iter_": model.longest} if self.algorithm == "deflation" else {}
        if not self.whiten:
            return fitted | {"components_": model.W, "mixing_": np.linalg.pinv(model.W)}
        components, whitening = model.W @ model.whitening, model.whitening
        N = model.total
        scaled = components if self.whiten == "unit-variance" else components / np.sqrt(N)
        return fitted | {
            "components_": scaled,
            "mixing_": np.linalg.pinv(scaled),
            "mean_": model.mean,
            "whitening_": whitening / np.sqrt(N),
        }

    @row_wise
    def transform(self, X: Any, copy: bool = True) -> np.ndarray:
        """The components of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        mean = self.mean_ if self.whiten else 0.0
        return map_rows(lambda rows: (rows - mean) @ self.components_.T, X)

    def inverse_transform(self, X: Any, copy: bool = True) -> np.ndarray:
        """Map components back to the space of the rows."""
        check_is_fitted(self)
        mixed = np.asarray(X) @ self.mixing_.T
        return mixed + self.mean_ if self.whiten else mixed

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


@dataclass(frozen=True)
class _WithArguments:
    """A contrast with its keywords."""

    fun: Any
    arguments: dict[str, Any]

    def __call__(self, y: np.ndarray) -> Any:
        return self.fun(y, **self.arguments)


def _count(block: Rows) -> np.ndarray:
    return np.array([float(len(block))])
