"""Kernels of rows of numbers, dense or CSR. Parameters and defaults are those of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels

from ..core.blocks import Matrix, dense
from .base import Kernel, Normalized, n_rows

# Squared distances below this fraction of |x|^2 + |z|^2 are computed again as sums of squared differences.
# The error of the others, about 1e-16 of |x|^2 + |z|^2, is thus at most about 1e-13 of the distance.
CLOSE = 1e-3
TILE = 64, 1024  # rows and columns of a tile of distances, which stays in the cache
SQUARE = 192, 192  # the same for a symmetric matrix, where a tile is written twice
PIECE = 1 << 20  # differences computed at a time
SMALL = 1 << 16  # numbers up to which sparse rows are made dense, so that the kernels have the same bits


def _rows(X: Any) -> Any:
    """Return X as rows of float64, dense or CSR, after checking it."""
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64)
        return X.toarray() if X.shape[0] * X.shape[1] <= SMALL else X
    X = np.asarray(X)
    if X.dtype.kind in "OU" and any(isinstance(cell, str) for cell in X.flat):
        raise ValueError("X has strings, and this kernel takes rows of numbers: use Subsequences.")
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: a kernel takes rows of numbers.")
    return X


def _pair(X: Any, Z: Any) -> tuple[Any, Any]:
    X = _rows(X)
    Z = X if Z is None else _rows(Z)
    if X.shape[1] != Z.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, and Z has {Z.shape[1]}.")
    return X, Z


def _products(X: Matrix, Z: Any) -> np.ndarray:
    out = X @ Z.T
    return np.asarray(dense(out))


def _squares(X: Any) -> np.ndarray:
    """Return |x_n|^2, (N,)."""
    return np.asarray(X.multiply(X).sum(axis=1)) if sp.issparse(X) else np.einsum("nd,nd->n", X, X)


def of_squared_distances(f: Callable[[np.ndarray], Any], X: Matrix, Z: Any) -> np.ndarray:
    """Return f(|x_n - z_m|^2), (N, M).

    The squared distances are computed as |x|^2 + |z|^2 - 2 x z, after subtracting the mean of Z from dense
    rows. Where this subtracts nearly equal numbers, they are sums of squared differences. So their relative
    error is about 1e-13, also far from the origin, and equal rows have distance zero. `f` changes tiles of
    the matrix in place, while they are in the cache. If Z is X, the result is symmetric.
    """
    arrays = not (sp.issparse(X) or sp.issparse(Z))
    middle = Z.mean(axis=0) if arrays and len(Z) else 0.0
    x, z = (X - middle, Z - middle) if arrays else (X, Z)
    of_x, of_z = _squares(x), _squares(z)
    if arrays:
        out = np.empty((len(x), len(z)))
        x = np.column_stack([-2.0 * x, of_x, np.ones(len(x))])
        z = np.ascontiguousarray(np.column_stack([z, np.ones(len(z)), of_z]).T)
    else:
        out = -2.0 * _products(x, z)
        out += of_x[:, None]
        out += of_z
    height, width = SQUARE if Z is X else TILE
    for a in range(0, len(of_x), height):
        for b in range(a if Z is X else 0, len(of_z), width):
            rows, columns = slice(a, a + height), slice(b, b + width)
            tile = out[rows, columns]
            if arrays:
                np.matmul(x[rows], z[:, columns], out=tile)
            if tile.min() < CLOSE * (of_x[rows].max() + of_z[columns].max()):
                n, m = np.nonzero(tile < CLOSE * (of_x[rows, None] + of_z[columns]))
                step = max(1, PIECE // max(1, X.shape[1]))
                for k in range(0, len(n), step):
                    pairs = n[k : k + step], m[k : k + step]
                    tile[pairs] = _squares(X[a + pairs[0]] - Z[b + pairs[1]])
            f(tile)
            if Z is X:
                out[columns, rows] = np.triu(tile).T + np.triu(tile, 1) if a == b else tile.T
    return out


def _gamma(gamma: float | None, X: Matrix) -> float:
    return 1.0 / X.shape[1] if gamma is None else float(gamma)


def _must(name: str, value: Any, least: float = -np.inf) -> None:
    if not (isinstance(value, Real) and np.isfinite(float(value)) and float(value) >= least):
        bound = "finite" if least == -np.inf else "finite and non-negative"
        raise ValueError(f"{name} must be {bound}; got {value!r}.")


@dataclass(frozen=True)
class Linear(Kernel):
    """The inner product x z.

    Examples
    --------
    >>> from suffice.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        return _products(*_pair(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return _squares(_rows(X))


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(gamma x z + coef0) ^ degree. If gamma is None, it is 1 / n_features.

    Examples
    --------
    >>> from suffice.kernels import Polynomial
    >>> Polynomial(2, gamma=1)([[1.0, 2.0]], [[3.0, -1.0]])
    array([[4.]])
    """

    degree: float = 3
    gamma: float | None = None
    coef0: float = 1

    def __post_init__(self) -> None:
        _must("degree", self.degree, 0)
        _must("gamma", self.gamma or 0, 0)
        _must("coef0", self.coef0)

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X, Z = _pair(X, Z)
        return self._of(_products(X, Z), X)

    def diagonal(self, X: Any) -> np.ndarray:
        X = _rows(X)
        return self._of(_squares(X), X)

    def _of(self, products: np.ndarray, X: Matrix) -> np.ndarray:
        return (_gamma(self.gamma, X) * products + self.coef0) ** self.degree


@dataclass(frozen=True)
class RBF(Kernel):
    """exp(-gamma ‖x - z‖²), the RBF kernel. If gamma is None, it is 1 / n_features.

    For a width sigma, gamma is ``1 / (2 * sigma**2)``. Distances are accurate far from the origin, too.

    Examples
    --------
    >>> from suffice.kernels import RBF
    >>> RBF(0.5)([[1e9], [1e9 + 1]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        _must("gamma", self.gamma or 0, 0)

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X, Z = _pair(X, Z)
        gamma = _gamma(self.gamma, X)

        def of_distances(d: np.ndarray) -> None:
            d *= -gamma
            np.exp(d, out=d)

        return of_squared_distances(of_distances, X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(n_rows(X))


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(-gamma ‖x - z‖₁), with the sum of absolute differences. If gamma is None, it is 1 / n_features.

    Examples
    --------
    >>> from suffice.kernels import Laplacian
    >>> Laplacian(0.5)([[0.0, 0.0]], [[1.0, -1.0]]).round(4)
    array([[0.3679]])
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        _must("gamma", self.gamma or 0, 0)

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X, Z = _pair(X, Z)
        if not (X.shape[0] and Z.shape[0]):
            return np.zeros((X.shape[0], Z.shape[0]))
        return np.exp(-_gamma(self.gamma, X) * manhattan_distances(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(n_rows(X))


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(gamma x z + coef0). If gamma is None, it is 1 / n_features. Not positive definite for all
    parameters.

    Examples
    --------
    >>> from suffice.kernels import Sigmoid
    >>> Sigmoid(gamma=1, coef0=0)([[1.0]], [[0.5]]).round(4)
    array([[0.4621]])
    """

    gamma: float | None = None
    coef0: float = 1

    def __post_init__(self) -> None:
        _must("gamma", self.gamma or 0)
        _must("coef0", self.coef0)

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X, Z = _pair(X, Z)
        return np.tanh(_gamma(self.gamma, X) * _products(X, Z) + self.coef0)

    def diagonal(self, X: Any) -> np.ndarray:
        X = _rows(X)
        return np.tanh(_gamma(self.gamma, X) * _squares(X) + self.coef0)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel of a Gram matrix X, which has one column for each training row. Z are indices of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.kernels import Precomputed
    >>> Precomputed()([[2.0, 1.0], [1.0, 3.0]], np.array([1]))
    array([[1.],
           [3.]])
    """

    @property
    def precomputed(self) -> bool:
        return True

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X = _rows(X)
        if Z is None:
            return self._square(X)
        columns = np.asarray(Z)
        if columns.ndim != 1 or columns.dtype.kind not in "iu":
            raise ValueError("The points of a precomputed kernel are numbers of columns, 1D and integer.")
        out = X[:, columns]
        return np.ascontiguousarray(dense(out))

    def diagonal(self, X: Any) -> np.ndarray:
        return self._square(_rows(X)).diagonal().copy()

    def _square(self, X: Any) -> np.ndarray:
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"A precomputed kernel must be a square matrix; got shape {X.shape}.")
        return dense(X)


@dataclass(frozen=True)
class Function(Kernel):
    """A function of two arrays of rows that returns their Gram matrix, or of two rows that returns a number.

    A function of two rows is called for each pair of them, which is slow. The kernel cannot be stored.

    Examples
    --------
    >>> from suffice.kernels.vectors import Function
    >>> X = np.array([[1.0], [4.0]])
    >>> Function(lambda X, Z: abs(X[:, None, 0] - Z[:, 0]))(X)
    array([[0., 3.],
           [3., 0.]])
    >>> Function(lambda x, z: abs(x[0] - z[0]))(X)
    array([[0., 3.],
           [3., 0.]])
    """

    function: Callable[[Any, Any], Any]

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X, Z = (rows if rows is None or sp.issparse(rows) else np.asarray(rows) for rows in (X, Z))
        other = X if Z is None else Z
        shape = n_rows(X), n_rows(other)
        if not all(shape):
            return np.zeros(shape)
        if self._is_of_rows(X, other):
            return self._by_pairs(X, Z)
        out = np.asarray(dense(self.function(X, other)), dtype=np.float64)
        if out.shape != shape:
            raise ValueError(
                f"The kernel returned shape {out.shape}, expected {shape}: it takes two arrays of rows and "
                "returns their Gram matrix, or two rows and returns a number."
            )
        return out

    def _is_of_rows(self, X: Any, Z: Any) -> bool:
        """Whether the function takes two rows, and not two arrays of rows.

        It is called with arrays of 2 and M rows, where M is neither 2 nor the number of columns. Functions of
        two rows, such as ``x @ z`` and ``np.minimum(x, z).sum()``, do not return a (2, M) array for them.
        """
        M = 4 if X.shape[-1] == 3 else 3
        few, others = X[np.arange(2) % n_rows(X)], Z[np.arange(M) % n_rows(Z)]
        try:
            if np.shape(dense(self.function(few, others))) == (2, M):
                return False
        except Exception:  # the function of the user may raise any
            pass
        try:
            return np.ndim(self.function(X[0], Z[0])) == 0
        except Exception:
            return False  # then the call with all rows raises the error

    def _by_pairs(self, X: Any, Z: Any) -> np.ndarray:
        N, M = n_rows(X), n_rows(X if Z is None else Z)
        out = np.empty((N, M))
        for n in range(N):
            for m in range(n if Z is None else 0, M):
                out[n, m] = self.function(X[n], X[m] if Z is None else Z[m])
        return out if Z is not None else np.triu(out) + np.triu(out, 1).T


@dataclass(frozen=True)
class Named(Kernel):
    """A kernel of scikit-learn that has no class here: 'chi2', with gamma, or 'additive_chi2'.

    Examples
    --------
    >>> from suffice.kernels.vectors import Named
    >>> Named("chi2")([[1.0, 0.0]], [[0.5, 0.5]]).round(4)
    array([[0.5134]])
    """

    name: str
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _must("gamma", self.gamma, 0)
        if self.name not in ("chi2", "additive_chi2"):
            raise ValueError(f"There is no kernel {self.name!r}: use 'chi2' or 'additive_chi2'.")

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        X, Z = _pair(X, Z)
        if not (X.shape[0] and Z.shape[0]):
            return np.zeros((X.shape[0], Z.shape[0]))
        return pairwise_kernels(X, Z, metric=self.name, filter_params=True, gamma=self.gamma)


# Kernels by their names in scikit-learn, with the names of their parameters.
NAMES: dict[str, tuple[Callable[..., Kernel], tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "poly": (Polynomial, ("gamma", "degree", "coef0")),
    "polynomial": (Polynomial, ("gamma", "degree", "coef0")),
    "rbf": (RBF, ("gamma",)),
    "laplacian": (Laplacian, ("gamma",)),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "cosine": (lambda: Normalized(Linear()), ()),
    "chi2": (lambda gamma=1.0: Named("chi2", 1.0 if gamma is None else gamma), ("gamma",)),
    "additive_chi2": (lambda: Named("additive_chi2"), ()),
    "precomputed": (Precomputed, ()),
}
PARAMETERS = ("gamma", "degree", "coef0")


def as_kernel(kernel: Any, params: dict[str, Any] | None = None) -> Kernel:
    """Return the kernel for a name, a function or a kernel.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel, a name that scikit-learn knows, or a function: see `Function`.
    params : dict, optional
        ``gamma``, ``degree`` and ``coef0`` of a kernel that is passed by name, as far as it has them. A
        function gets all of them as keywords.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from suffice.kernels import as_kernel
    >>> as_kernel("rbf", {"gamma": 0.5})
    RBF(gamma=0.5)
    """
    params = params or {}
    if callable(kernel) and not isinstance(kernel, Kernel):
        return Function(partial(kernel, **params) if params else kernel)
    if unknown := set(params) - set(PARAMETERS):
        raise ValueError(f"kernel_params has {sorted(unknown)}; expected some of {list(PARAMETERS)}.")
    if isinstance(kernel, str):
        if kernel not in NAMES:
            raise ValueError(f"kernel={kernel!r} is unknown: use one of {sorted(NAMES)}, or a Kernel.")
        make, names = NAMES[kernel]
        return make(**{name: value for name, value in params.items() if name in names})
    if params:
        raise ValueError(
            f"kernel_params={params!r} needs the name of a kernel; got kernel={kernel!r}: pass a name, or a "
            "function, which gets them as keywords."
        )
    return kernel


def is_precomputed(kernel: Any) -> bool:
    """Whether X is a Gram matrix: 'precomputed', or a kernel made of `Precomputed`."""
    return kernel.precomputed if isinstance(kernel, Kernel) else kernel == "precomputed"


def is_of_strings(kernel: Any) -> bool:
    """Whether X has strings or sequences of symbols: a kernel made of `Subsequences`."""
    return isinstance(kernel, Kernel) and kernel.of_strings
