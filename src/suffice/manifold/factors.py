"""Local quadratic forms of the methods of locally linear embedding, as factors.

Each row has a matrix F over itself and its neighbours, and the places y of these cost :math:`‖F^T y‖^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.cost import afford
from ..core.threads import in_order

SOME = 4096  # rows whose factors are computed together


@dataclass(frozen=True)
class Neighborhoods:
    """Points, the numbers of the neighbours of each, and the dimension of the surface."""

    points: np.ndarray  # (N, D)
    index: np.ndarray  # (N, K)
    n_components: int

    def by_parts(self, task: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """`task(points, neighbours)` of some rows at a time, in threads."""
        parts = tuple(slice(n, n + SOME) for n in range(0, len(self.points), SOME))
        results = in_order(lambda p: task(self.points[p], self.points[self.index[p]]), parts)
        return np.concatenate(list(results))

    def assembled(self, factors: np.ndarray) -> tuple[Any, np.ndarray]:
        """All factors as rows of one sparse matrix over the points, and the row to which each belongs.

        `factors` are (N, K, R), of the neighbours, or (N, K + 1, R), of the point itself and these.
        """
        N, size, R = factors.shape
        own = np.arange(N)[:, None]
        columns = self.index if size == self.index.shape[1] else np.hstack([own, self.index])
        afford(3.0 * factors.size, f"{R} conditions on the neighbours of {N} rows", "lower n_neighbors.")
        places = np.repeat(columns, R, axis=0).ravel()
        ends = np.arange(N * R + 1) * size
        values = np.swapaxes(factors, 1, 2).ravel()
        A = sp.csr_array((values, places, ends), shape=(N * R, N))
        A.eliminate_zeros()
        return A, np.repeat(np.arange(N), R)


def tangent_factors(rows: Neighborhoods) -> np.ndarray:
    """Return the factors of local tangent space alignment: the part not linear in local principal components.

    Zhang and Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space alignment",
    SIAM Journal on Scientific Computing 26, 2004.
    """
    C = rows.n_components

    def task(_: np.ndarray, near: np.ndarray) -> np.ndarray:
        K = near.shape[1]
        local = _principal_coordinates(near, C)
        flat = np.concatenate([np.full((len(near), K, 1), K**-0.5), local], axis=2)
        return np.eye(K) - flat @ np.swapaxes(flat, 1, 2)

    return rows.by_parts(task)


def hessian_factors(rows: Neighborhoods, tol: float) -> np.ndarray:
    """Hessian eigenmaps: the second derivatives in the local principal components.

    Donoho and Grimes, "Hessian eigenmaps: locally linear embedding techniques for high-dimensional data",
    PNAS 100, 2003. Sums of the coefficients below `tol` are not divided by.
    """
    C, K = rows.n_components, rows.index.shape[1]
    if (least := C * (C + 3) // 2) >= K:
        raise ValueError(
            "for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2]: "
            f"n_neighbors = {K}, expected more than {least} for n_components = {C}."
        )

    def task(_: np.ndarray, near: np.ndarray) -> np.ndarray:
        local = _principal_coordinates(near, C)
        first, second = np.triu_indices(C)
        products = local[:, :, first] * local[:, :, second]
        Q, _ = np.linalg.qr(np.concatenate([np.ones((*local.shape[:2], 1)), local, products], axis=2))
        curved = Q[:, :, C + 1 :]
        sums = curved.sum(axis=1, keepdims=True)
        return curved / np.where(np.abs(sums) < tol, 1.0, sums)

    return rows.by_parts(task)


def modified_factors(rows: Neighborhoods, weight: np.ndarray, tol: float) -> np.ndarray:
    """Modified locally linear embedding: several independent weights of the neighbours of each row.

    Zhang and Wang, "MLLE: Modified locally linear embedding using multiple weights", NIPS 19, 2006. `weight`
    are the weights of the standard method. Reflections by vectors shorter than `tol` are left out.
    """
    C, K = rows.n_components, rows.index.shape[1]
    if K < C:
        raise ValueError(
            f"modified LLE requires n_neighbors >= n_components; got n_neighbors = {K}, n_components = {C}."
        )

    def gram(points: np.ndarray, near: np.ndarray) -> np.ndarray:
        differences = near - points[:, None]
        return differences @ np.swapaxes(differences, 1, 2)

    values, vectors = np.linalg.eigh(rows.by_parts(gram))  # in ascending order
    numbers = _numbers_of_weights(values, C, rows.points.shape[1])
    chosen = np.arange(K) < numbers[:, None]  # the directions in which the neighbours vary least
    V = vectors * chosen[:, None]
    sums = V.sum(axis=1)
    length = np.sqrt((sums**2).sum(axis=1) / numbers)[:, None]
    axis = length * chosen - sums
    norm = np.sqrt((axis**2).sum(axis=1, keepdims=True))
    axis = np.where(norm < tol, 0.0, axis / np.where(norm < tol, 1.0, norm))
    reflected = V - 2.0 * (V @ axis[:, :, None]) * axis[:, None, :]  # whose columns have the sum `length`
    weights = reflected + ((1.0 - length) * weight)[:, :, None] * chosen[:, None, :]
    return np.concatenate([-1.0 * chosen[:, None, :], weights], axis=1)


def _numbers_of_weights(values: np.ndarray, n_components: int, n_features: int) -> np.ndarray:
    """The number of weights of each row: of the smallest eigenvalues whose sum, relative to that of the
    others, is below the median of this ratio for all but `n_components`."""
    K = values.shape[1]
    null = max(0, K - n_features)
    values = np.where(np.arange(K) < null, 0.0, np.maximum(values, 0.0))
    small = np.cumsum(values, axis=1)[:, : K - n_components]
    if small.shape[1] == 0:
        return np.ones(len(values), dtype=np.int64)
    rest = values.sum(axis=1, keepdims=True) - small
    ratio = small / np.maximum(rest, np.finfo(np.float64).tiny)
    return np.maximum((ratio < np.median(ratio[:, -1])).sum(axis=1), max(1, min(null, K - n_components)))


def _principal_coordinates(near: np.ndarray, n_components: int) -> np.ndarray:
    """Orthonormal coordinates of neighbours on their first principal axes, (N, K, C)."""
    U, _, _ = np.linalg.svd(near - near.mean(axis=1, keepdims=True), full_matrices=False)
    return U[:, :, :n_components]
