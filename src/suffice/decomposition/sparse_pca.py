"""Sparse principal components from one sum of moments: three criteria.

Jenatton, Obozinski and Bach, "Structured sparse principal component analysis", 2010; Zou, Hastie and
Tibshirani, "Sparse principal component analysis", 2006; Jolliffe, Trendafilov and Uddin, "A modified
principal component technique based on the lasso", 2003; STATS 601 section 1.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, svd
from scipy.optimize import minimize
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Updatable
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Numbers, StrOptions
from ..families.factor import lasso
from ..fitting.linear_algebra import signs
from ..inputs import map_rows, read_rows
from ..statistics import Moments, moments

STARTS = 5  # of 'scotlass', of eigenvectors and of features


@dataclass(frozen=True, eq=False)
class SparseAxes(Model):
    """K sparse loadings of centred rows Y, as rows of V, found from the scatter G = Y'Y alone."""

    mean: Annotated[np.ndarray, "(D,)"]
    V: Annotated[np.ndarray, "(K, D)"]
    criterion: str
    alpha: float
    ridge: float
    bound: Annotated[np.ndarray, "(K,)"]  # of the l1 norms, for 'scotlass'
    tol: float
    max_iter: int
    projection: Annotated[np.ndarray | None, "(K, D)"] = None  # P of 'dictionary': the scores are Y P'
    reconstruction: Annotated[np.ndarray | None, "(K, D)"] = None  # T of 'elastic-net': rows are Y V' T
    started: bool = False
    trace: tuple[float, ...] = ()
    converged: bool = False

    def summarize(self, block: Rows) -> Moments:
        return moments(block.X, block.weight)

    def estimate(self, s: Moments) -> SparseAxes:
        if not s.weight > 1.0:
            raise ValueError(f"SparsePCA needs at least 2 rows, but n_samples={s.weight:g}.")
        return CRITERIA[self.criterion](self.replace(mean=s.mean), s.scatter)

    def iterated(self, step: Callable[[Self], tuple[Self, float]], scale: float | None = None) -> Self:
        """Steps until the objective falls by less than `tol` of `scale`, or of itself."""
        model, trace, done = self, list[float](), False
        while not done and len(trace) < self.max_iter:
            model, value = step(model)
            least = self.tol * (value if scale is None else scale)
            done = (bool(trace) and trace[-1] - value < least) or value == 0.0
            trace.append(value)
        return model.replace(trace=tuple(trace), converged=done)


def _axes(G: np.ndarray, K: int) -> np.ndarray:
    """The first K eigenvectors of G, as rows."""
    vectors = eigh(G)[1][:, ::-1].T[:K]
    return vectors * signs(vectors)[:, None]


def _dictionary(model: SparseAxes, G: np.ndarray) -> SparseAxes:
    """min |Y - U V|^2 / 2 + alpha |V|_1 with columns of U = Y P' of length 1 at most, by alternation."""
    alpha, square = np.full(len(G), model.alpha), float(np.trace(G))

    def loss(V: np.ndarray, P: np.ndarray) -> float:
        gram = P @ G @ P.T
        near = square - 2.0 * ((P @ G) * V).sum() + ((gram @ V) * V).sum()
        return 0.5 * max(near, 0.0) + model.alpha * float(np.abs(V).sum())

    def step(model: SparseAxes) -> tuple[SparseAxes, float]:
        P, V = np.array(model.projection), model.V
        gram = P @ G @ P.T
        V = lasso(gram, (P @ G).T, alpha, V.T).T
        A = V @ V.T
        for k in np.flatnonzero(np.diag(A) > 0):
            P[k] += (V[k] - A[k] @ P) / A[k, k]
            P[k] /= max(np.sqrt(max(P[k] @ G @ P[k], 0.0)), 1.0)
        return model.replace(V=V, projection=P), loss(V, P)

    if model.started:  # the scores that are best for V, of length 1
        P = np.linalg.pinv(model.V @ model.V.T, hermitian=True) @ model.V
        length = np.sqrt(np.maximum(np.einsum("kd,de,ke->k", P, G, P), 0.0))
        model = model.replace(projection=P / np.where(length > 0, length, 1.0)[:, None])
    else:
        axes = _axes(G, len(model.V))
        model = model.replace(V=axes, projection=axes)
    return model.iterated(step)


def _elastic_net(model: SparseAxes, G: np.ndarray) -> SparseAxes:
    """min |Y - Y V' T|^2 / 2 + alpha |V|_1 + ridge |V|^2 / 2 with T T' = I, by alternation."""
    K, D = model.V.shape
    gram, alpha = G + model.ridge * np.eye(D), np.full(K, model.alpha)

    def step(model: SparseAxes) -> tuple[SparseAxes, float]:
        V = lasso(gram, model.reconstruction @ G, alpha, model.V)
        left, _, right = svd(V @ G, full_matrices=False)
        T = left @ right
        fit = np.trace(G) - 2.0 * ((V @ G) * T).sum() + ((V @ gram) * V).sum()
        return model.replace(V=V, reconstruction=T), 0.5 * float(fit) + model.alpha * float(np.abs(V).sum())

    axes = _axes(G, K)
    if model.started:
        left, _, right = svd(model.V @ G, full_matrices=False)
        axes = left @ right
    return model.replace(reconstruction=axes).iterated(step, 0.5 * float(np.trace(G)))


def _scotlass(model: SparseAxes, G: np.ndarray) -> SparseAxes:
    """max v' G v with |v|_2 = 1, |v|_1 <= bound and v orthogonal to the previous axes, one axis after the
    other."""
    V, converged, D = np.zeros((0, len(G))), True, len(G)
    for k, bound in enumerate(model.bound):
        rest = np.eye(D) - V.T @ V
        at = [*_axes(rest @ G @ rest, min(STARTS, D))]
        at += [np.eye(D)[j] for j in np.argsort(-np.diag(G), kind="stable")[:STARTS]]
        at += [model.V[k]] * model.started
        runs = [_ascent(G, v, V, float(bound), model.tol, model.max_iter) for v in at]
        runs += [(v, True) for v in at if np.abs(v).sum() <= bound]  # where there is no variance
        best, done = max(runs, key=lambda run: (_feasible(np.vstack([V, run[0]]))[k], run[0] @ G @ run[0]))
        V, converged = np.vstack([V, best]), converged and done
    return model.replace(V=V, converged=converged, trace=(float(-np.trace(V @ G @ V.T)),))


def _ascent(
    G: np.ndarray, v: np.ndarray, before: np.ndarray, bound: float, tol: float, most: int
) -> tuple[np.ndarray, bool]:
    """Maximize v' G v: each step maximizes its linear bound from below over a convex set."""
    value = -np.inf
    for _ in range(most):
        v = _farthest(G @ v, before, bound)
        last, value = value, float(v @ G @ v)
        if value - last <= tol * abs(value):
            return v, True
    return v, False


def _farthest(c: np.ndarray, before: np.ndarray, bound: float) -> np.ndarray:
    """argmax c'v over |v|_2 <= 1, |v|_1 <= bound and before v = 0. The multipliers of the last constraint
    minimize a convex function."""
    size = np.abs(c).max(initial=0.0)
    if not size:
        return np.zeros_like(c)
    c = c / size
    if not len(before):
        return _thresholded(c, bound)

    def dual(nu: np.ndarray) -> tuple[float, np.ndarray]:
        moved = c - nu @ before
        v = _thresholded(moved, bound)
        return float(moved @ v), -before @ v

    nu = minimize(dual, before @ c, jac=True, method="BFGS", options={"gtol": 1e-10}).x
    return _thresholded(c - nu @ before, bound)


def _thresholded(c: np.ndarray, bound: float) -> np.ndarray:
    """argmax c'v over |v|_2 <= 1 and |v|_1 <= bound: c after soft-thresholding, scaled to length 1."""
    size, length = np.abs(c), np.linalg.norm(c)
    if size.sum() <= bound * length:
        return c / (length or 1.0)
    largest = np.sort(size)[::-1]
    m, total, square = np.arange(1, len(c) + 1), largest.cumsum(), (largest**2).cumsum()
    room = np.where(m > bound**2, m - bound**2, np.nan)
    # The threshold with which the l1 norm is the bound, if m entries remain.
    threshold = (total - bound * np.sqrt(np.maximum(m * square - total**2, 0.0) / room)) / m
    fits = np.flatnonzero((threshold <= largest) & (threshold >= np.append(largest[1:], 0.0)))
    v = np.maximum(size - threshold[fits[0]], 0.0) if len(fits) else np.zeros_like(c)
    if not v.any():  # several are the largest: a mean of them, shorter than 1
        top = size >= largest[0] * (1.0 - 1e-12)
        return np.sign(c) * top * min(bound / top.sum(), 1.0)
    return np.sign(c) * v / np.linalg.norm(v)


def _feasible(V: np.ndarray) -> np.ndarray:
    """Whether each row has length 1 and is orthogonal to the previous rows, (K,)."""
    off = np.abs(np.tril(V @ V.T - np.eye(len(V)))).max(axis=1)
    return off < 1e-6


CRITERIA: dict[str, Callable[[SparseAxes, np.ndarray], SparseAxes]] = {
    "dictionary": _dictionary,
    "elastic-net": _elastic_net,
    "scotlass": _scotlass,
}


def adjusted_variance(G: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Squared lengths of the scores Y V', each less its projection on those before (Zou et al., 2006)."""
    out, Q = np.zeros(len(V)), np.zeros((0, len(G)))
    for k, v in enumerate(V):
        q = v - (Q @ G @ v) @ Q
        out[k] = max(float(q @ G @ q), 0.0)
        if out[k] > 1e-14 * float(v @ G @ v):
            Q = np.vstack([Q, q / np.sqrt(out[k])])
    return out


class SparsePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Updatable):
    """Sparse principal component analysis: loadings with zeros. The data is read once.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None is the number of features.
    alpha : float, default=1
        Penalty of the sum of the magnitudes of the loadings, for 'dictionary' and 'elastic-net'.
    ridge_alpha : float, default=0.01
        Ridge penalty of the regression of rows on components in `transform`. For 'elastic-net', also of the
        loadings.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-8
        Tolerance of the stopping criterion: the change of the objective, relative to it; for 'elastic-net',
        relative to the squared error without components.
    method : {'lars', 'cd'}, default='lars'
        Ignored: the lasso is solved by coordinate descent.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    U_init : array of shape (n_samples, n_components), default=None
        Ignored: the scores follow from the loadings.
    V_init : array of shape (n_components, n_features), default=None
        Initial loadings. None starts from principal components.
    verbose : int or bool, default=False
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    random_state : int, RandomState or None, default=None
        Ignored: the fit is deterministic.
    criterion : {'dictionary', 'elastic-net', 'scotlass'}, default='dictionary'
        'dictionary' is that of scikit-learn, a factorization with sparse loadings. 'elastic-net' is the
        regression of Zou, Hastie and Tibshirani. 'scotlass' finds one component after the other, orthogonal
        to those before, of the largest variance under a bound on the sum of magnitudes.
    max_l1_norm : float or array of shape (n_components,), default=None
        The bound of 'scotlass', 1 or more: 1 allows one feature, the square root of the number of features
        all. None is half of that root, or 1 if it is less.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Sparse loadings, of length 1. The entry of largest magnitude of each is positive.
    error_ : ndarray
        Objective by iteration; of 'scotlass', minus the variance of the rows along the components.
    n_components_ : int
        Number of components.
    n_iter_ : int
        Number of iterations; of 'scotlass', 1.
    feasible_ : ndarray of shape (n_components,)
        Whether a component has length 1 and is orthogonal to those before it, for 'scotlass': a small
        `max_l1_norm` may leave no such vector. True for the others.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the scores of each component, less what those before explain (adjusted variance).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as a share of the total variance.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : SparseAxes
        The fitted model, with loadings that are not normalized.
    statistics_ : Moments
        The sums. `partial_fit` adds to them.

    See Also
    --------
    PCA : All loadings are different from 0.
    ProbabilisticPCA : With `alpha`, sparse loadings by a penalized likelihood; NaN.

    Notes
    -----
    Let Y be the centred rows. The criteria are

    .. math::

        \\min_{U, V}\\; \\tfrac12 ‖Y - U V‖^2 + α ‖V‖_1, \\quad ‖u_k‖ ≤ 1, \\\\
        \\min_{T, V}\\; \\tfrac12 ‖Y - Y V^T T‖^2 + α ‖V‖_1 + \\tfrac12 ρ ‖V‖^2, \\quad T T^T = I, \\\\
        \\max_{v}\\; v^T Y^T Y v, \\quad ‖v‖_2 = 1, \\; ‖v‖_1 ≤ t, \\; v ⟂ v_1, …, v_{k-1}.

    All of them depend on the rows through their scatter :math:`Y^T Y` alone: the scores are
    :math:`U = Y P^T`. The objectives are not convex; iterations start from principal components, those of
    'scotlass' also from the features.

    References
    ----------
    * Jenatton, Obozinski and Bach (2010), "Structured sparse principal component analysis", AISTATS.
    * Zou, Hastie and Tibshirani (2006), "Sparse principal component analysis", Journal of Computational and
      Graphical Statistics 15.
    * Jolliffe, Trendafilov and Uddin (2003), "A modified principal component technique based on the lasso",
      Journal of Computational and Graphical Statistics 12.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import SparsePCA
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(500, 2)) * [3.0, 2.0]
    >>> X = Z @ np.kron(np.eye(2), np.ones(3)) + 0.3 * rng.normal(size=(500, 6))
    >>> SparsePCA(2, alpha=10.0).fit(X).components_.round(1)
    array([[0.6, 0.6, 0.6, 0. , 0. , 0. ],
           [0. , 0. , 0. , 0.6, 0.6, 0.6]])
    """

    model_: Annotated[SparseAxes, "D"]
    mean_: Annotated[np.ndarray, "real (D,)"]
    components_: Annotated[np.ndarray, "real (F, D)"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("components_", "error_", "mean_", "transform")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1, None],
        "alpha": [NON_NEGATIVE],
        "ridge_alpha": [NON_NEGATIVE],
        "method": [StrOptions({"lars", "cd"})],
        "U_init": ["array-like", None],
        "V_init": ["array-like", None],
        "criterion": [StrOptions(set(CRITERIA))],
        "max_l1_norm": [NON_NEGATIVE, Numbers(0.0, ndim=1), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-8,
        method: str = "lars",
        n_jobs: int | None = None,
        U_init: Any = None,
        V_init: Any = None,
        verbose: Any = False,
        random_state: Seed = None,
        criterion: str = "dictionary",
        max_l1_norm: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.n_jobs = n_jobs
        self.U_init = U_init
        self.V_init = V_init
        self.verbose = verbose
        self.random_state = random_state
        self.criterion = criterion
        self.max_l1_norm = max_l1_norm

    @classmethod
    def from_covariance(cls, covariance: Any, *, mean: Any = None, **params: Any) -> Self:
        """Sparse components of a known covariance. Penalties are those of the squared error of two rows."""
        self = cls(**params)
        self.n_features_in_ = len(covariance)
        s = Moments.of_covariance(covariance, mean, 2.0)
        return self._publish(self._estimated(self._start(None), s))

    def _start(self, data: Partitions | None, classes: MaybeArray = None) -> SparseAxes:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "reduce them first, by TruncatedSVD.")
        K = D if self.n_components is None else self.n_components
        if self.criterion != "dictionary" and K > D:
            raise ValueError(f"n_components={K} must be at most n_features={D} for {self.criterion!r}.")
        V = np.zeros((K, D)) if self.V_init is None else np.array(self.V_init, dtype=np.float64)
        if V.shape != (K, D):
            raise ValueError(
                f"V_init has shape {V.shape}, expected {(K, D)}: a row for each component, and a column for "
                "each feature."
            )
        bound = max(1.0, 0.5 * np.sqrt(D)) if self.max_l1_norm is None else self.max_l1_norm
        bound = np.asarray(bound, dtype=np.float64)
        if bound.shape not in ((), (K,)) or (bound < 1.0).any():
            raise ValueError(
                f"max_l1_norm must be a number of at least 1, or {K} of them; got {self.max_l1_norm}: the "
                "magnitudes of a vector of length 1 add up to 1 or more."
            )
        penalties = float(self.alpha), float(self.ridge_alpha), np.broadcast_to(bound, K).copy()
        started = self.V_init is not None
        ends = float(self.tol), int(self.max_iter)
        return SparseAxes(np.zeros(D), V, self.criterion, *penalties, *ends, started=started)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        length = np.linalg.norm(model.V, axis=1)
        components = model.V / np.where(length > 0, length, 1.0)[:, None]
        components = components * signs(components)[:, None] + 0.0  # no -0.0
        feasible = np.ones(len(length), dtype=bool)
        if model.criterion == "scotlass":
            feasible = _feasible(model.V)
        variance = adjusted_variance(s.scatter, components) / (s.weight - 1.0)
        total = float(np.trace(s.scatter)) / (s.weight - 1.0)
        if not feasible.all():
            warn(
                f"No vector of length 1, orthogonal to the components before it and within max_l1_norm, was "
                f"found for component {np.flatnonzero(~feasible)[0]}: raise max_l1_norm, or use fewer "
                "components.",
            )
        if not model.converged:
            warn(
                f"SparsePCA did not converge in {self.max_iter} iterations: raise max_iter or tol.",
                ConvergenceWarning,
            )
        return {
            "components_": components,
            "error_": np.array(model.trace),
            "n_components_": len(components),
            "n_iter_": len(model.trace),
            "feasible_": feasible,
            "explained_variance_": variance,
            "explained_variance_ratio_": variance / (total or 1.0),
            "mean_": model.mean,
        }

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Scores: the ridge regression of each centred row on the components.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X, V = read_rows(self, X), np.asarray(self.components_, dtype=np.float64)
        gram = V @ V.T
        seen = np.diag(gram) > 0  # else the component is 0, and so are its scores
        gram += self.ridge_alpha * np.eye(len(V)) + np.diag(np.where(seen, 0.0, 1.0))
        try:
            A = cho_solve(cho_factor(gram), V)
        except np.linalg.LinAlgError:
            A = np.linalg.pinv(gram, hermitian=True) @ V
        return map_rows(lambda rows: (rows - self.mean_) @ A.T, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map scores back to the space of the rows."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
