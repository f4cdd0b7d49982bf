"""Moments: weight, mean and centred scatter, with the merge written once.

Raw sums of squares cancel far from the origin. Centred scatter does not, and two of them are merged exactly:
Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix, Rows
from ..core.statistics import Statistics, tree_sum


@dataclass(frozen=True, eq=False)
class Moments(Statistics):
    """Weight, mean and scatter about that mean, of one set of rows or of K at once.

    The shapes determine the kind of scatter: of all pairs of features, of K sets pooled into one, or of
    each feature alone. In the last case each feature has its own weight, so that missing entries are
    ignored.
    """

    # Full: (K,), (K, D), (K, D, D). Pooled: (K,), (K, D), (D, D). Diagonal: all (K, D). K may be absent.
    weight: Annotated[Any, "number or (K,) or (D,) or (K, D)"]
    mean: Annotated[np.ndarray, "(D,) or (K, D)"]
    scatter: Annotated[np.ndarray, "(D,) or (K, D) or (D, D) or (K, D, D)"]

    @classmethod
    def of_covariance(cls, covariance: Any, mean: Any, weight: float) -> Self:
        """The moments of `weight` rows with this sample covariance; a mean of None is zero."""
        covariance = np.asarray(covariance, dtype=np.float64)
        mean = np.zeros(len(covariance)) if mean is None else np.array(mean, dtype=np.float64)
        return cls(np.float64(weight), mean, covariance * (weight - 1.0))

    @property
    def diagonal(self) -> bool:
        return self.weight.ndim == self.mean.ndim

    @property
    def pooled(self) -> bool:
        return not self.diagonal and self.scatter.ndim == self.mean.ndim == 2

    def _per_feature(self, weight: np.ndarray) -> np.ndarray:
        return weight if self.diagonal else weight[..., None]

    def squares(self, weight: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """weight * delta delta', in the shape of the scatter."""
        if self.diagonal:
            return weight * delta * delta
        if self.pooled:
            return (delta * weight[:, None]).T @ delta
        return (weight[..., None] * delta)[..., :, None] * delta[..., None, :]

    def __add__(self, other: Self) -> Self:
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        delta = other.mean - self.mean
        return self.replace(
            weight=weight,
            mean=self.mean + self._per_feature(share) * delta,
            scatter=self.scatter + other.scatter + self.squares(self.weight * share, delta),
        )

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor, scatter=self.scatter * factor)

    __rmul__ = __mul__

    def total(self) -> Moments:
        """The moments of all K groups pooled."""
        groups = (Moments(*parts) for parts in zip(self.weight, self.mean, self.scatter, strict=True))
        return tree_sum(groups)

    @property
    def variance(self) -> np.ndarray:
        """Scatter over weight: the maximum likelihood estimate; zero if the weight is zero."""
        weight = self.weight
        if self.pooled:
            weight = weight.sum()
        weight = np.asarray(weight)
        if not self.diagonal and not self.pooled:
            weight = weight[..., None, None]
        return np.divide(self.scatter, weight, out=np.zeros_like(self.scatter), where=weight > 0)


def moments(X: Matrix, weight: np.ndarray, kind: str = "full", *, overwrite: bool = False) -> Moments:
    """Weight, mean and scatter of the rows of X, dense or CSR: "full" or "diagonal".

    With `overwrite`, a dense X may be overwritten.
    """
    if sp.issparse(X) and kind == "diagonal":
        return _sparse_diagonal(X, weight)
    if sp.issparse(X):
        total = weight.sum()
        mean = np.asarray(X.T @ weight) / (total or 1.0)
        return Moments(total, mean, _sparse_scatter(X, weight, mean))
    of_all = grouped_moments(X, weight[:, None], kind, overwrite=overwrite)
    return Moments(of_all.weight[0], of_all.mean[0], of_all.scatter[0])


def _sparse_diagonal(X: sp.csr_array, weight: np.ndarray) -> Moments:
    """Moments of each column of CSR rows: about the mean of the stored entries, then with the zeros. NaN is
    left out."""
    at, w, total = X.indices, np.repeat(weight, np.diff(X.indptr)), float(weight.sum())
    seen = ~np.isnan(X.data)
    D, x = X.shape[1], np.where(seen, X.data, 0.0)

    def sums(values: np.ndarray) -> np.ndarray:
        return np.bincount(at, values, minlength=D)

    stored = sums(w * seen)
    full = np.bincount(at, minlength=D) == X.shape[0]  # where rounding must not leave a share to zeros
    observed = np.where(full, stored, np.maximum(total - sums(w * ~seen), 0.0))
    middle = sums(w * x) / np.where(stored > 0, stored, 1.0)
    within = sums(w * seen * (x - middle[at]) ** 2)
    mean = middle * stored / np.where(observed > 0, observed, 1.0)
    zeros = np.maximum(observed - stored, 0.0)
    return Moments(observed, mean, within + stored * (middle - mean) ** 2 + zeros * mean**2)


def _sparse_scatter(X: sp.csr_array, weight: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Scatter of CSR rows: columns that are mostly filled are centred, the others have zero as origin."""
    full = 2 * np.bincount(X.indices, minlength=X.shape[1]) > X.shape[0]
    thin, n_thin = _columns(X, ~full), int(np.count_nonzero(~full))
    filled = _columns(X, full).toarray() - mean[full]
    weighted, scaled = filled, thin
    if not (weight == 1.0).all():
        weighted = weight[:, None] * filled
        scaled = sp.csr_array(
            (thin.data * np.repeat(weight, np.diff(thin.indptr)), thin.indices, thin.indptr), thin.shape
        )
    out = np.empty((len(mean), len(mean)))  # the thin columns first
    square, shift = (thin.T @ scaled).toarray().T, np.sqrt(weight.sum()) * mean[~full]
    np.subtract(square, np.multiply.outer(shift, shift), out=out[:n_thin, :n_thin])
    out[n_thin:, n_thin:] = filled.T @ weighted
    out[:n_thin, n_thin:] = thin.T @ weighted
    out[n_thin:, :n_thin] = out[:n_thin, n_thin:].T
    if full[:n_thin].any():
        place = np.argsort(np.argsort(full, kind="stable"))
        out = out[np.ix_(place, place)]
    return out


def _columns(X: sp.csr_array, which: np.ndarray) -> Any:
    """These columns of CSR rows. Equals `X[:, which]`, in a fraction of the time."""
    if which.all():
        return X
    taken = which[X.indices]
    indptr = np.concatenate([[0], np.cumsum(taken)])[X.indptr]
    number = np.cumsum(which) - 1
    return sp.csr_array((X.data[taken], number[X.indices[taken]], indptr), (X.shape[0], int(which.sum())))


# Up to this many features a fused loop is faster than BLAS on pieces of this size. Where BLAS serves, it is
# called by `dot`: NumPy gives up the interpreter for it, and so the other threads run, but not for `@`.
FEW_FEATURES = 32


def grouped_moments(X: np.ndarray, R: np.ndarray, kind: str, *, overwrite: bool = False) -> Moments:
    """Moments of K groups with responsibilities R (N, K) for the rows of X: "full", "pooled" or "diagonal".

    If X has NaN, only "diagonal" is defined, from the observed entries. With `overwrite`, X may be
    overwritten.
    """
    from ..loops.distances import scatters_about, squares_about

    X, shares = (np.ascontiguousarray(a, np.float64) for a in (X, R.T))  # shares (K, N)
    weight = shares.sum(axis=1)
    if kind == "diagonal":
        seen = ~np.isnan(X) if np.isnan(X.sum()) else None
        weight = np.repeat(weight[:, None], X.shape[1], axis=1) if seen is None else shares.dot(seen)
        total = _sums(shares, X if seen is None else np.where(seen, X, 0.0))
        mean = total / np.where(weight > 0, weight, 1.0)
        return Moments(weight, mean, squares_about(X, shares, mean))
    mean = _sums(shares, X) / np.where(weight > 0, weight, 1.0)[:, None]
    if X.shape[1] <= FEW_FEATURES and 2 * np.count_nonzero(shares) >= shares.size:
        scatter = scatters_about(X, shares, mean)
    else:
        room = X if overwrite and len(shares) == 1 else None
        scatter = np.stack([_scatter_about(X, r, m, room) for r, m in zip(shares, mean, strict=True)])
    return Moments(weight, mean, scatter.sum(axis=0) if kind == "pooled" else scatter)


def moments_by_label(X: np.ndarray, k: np.ndarray, weight: np.ndarray, K: int) -> Moments | None:
    """Diagonal moments of rows that belong to one group each, k[n]; None if X has NaN."""
    from ..loops.counts import add_by_label, add_squares_by_label

    X, weight = np.ascontiguousarray(X, np.float64), np.ascontiguousarray(weight)
    k = np.ascontiguousarray(k, np.int64)
    total = np.zeros((K, X.shape[1]))
    add_by_label(X, weight, k, total)
    if np.isnan(total.sum()):
        return None
    by_group = np.repeat(np.bincount(k, weight, minlength=K)[:, None], X.shape[1], axis=1)
    mean = total / np.where(by_group > 0, by_group, 1.0)
    scatter = np.zeros_like(total)
    add_squares_by_label(X, weight, k, mean, scatter)
    return Moments(by_group, mean, scatter)


def _sums(shares: np.ndarray, X: np.ndarray) -> np.ndarray:
    from ..loops.distances import weighted_sum

    return weighted_sum(X, shares[0])[None] if len(shares) == 1 else shares.dot(X)


def _scatter_about(X: np.ndarray, r: np.ndarray, mean: np.ndarray, room: np.ndarray | None) -> np.ndarray:
    """`room` may be overwritten: an array like X, or X itself."""
    rows = np.flatnonzero(r)
    if 2 * len(rows) < len(r):  # labels, or groups far apart: most rows belong elsewhere
        X, r, room = X[rows], r[rows], None
    Y = np.subtract(X, mean, out=room)
    if not (r == 1.0).all():
        Y *= np.sqrt(r)[:, None]
    return Y.T.dot(Y)


@dataclass(frozen=True, eq=False)
class Description(Statistics):
    """First pass over the rows: their number, and the moments of each feature."""

    rows: float
    weight: float
    features: Moments  # diagonal, (D,)


def describe(block: Rows) -> Description:
    """First pass over the rows of a block: the observed entries."""
    features = moments(block.X, block.weight, "diagonal")
    return Description(float(len(block)), float(block.weight.sum()), features)
