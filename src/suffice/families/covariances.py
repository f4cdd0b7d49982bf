"""Covariance matrices: their factors, and the patterns of observed entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

SINGULAR = (
    "A covariance is not positive definite: a density collapsed onto too few rows, or features are "
    "constant or collinear. Leave such features out, use fewer components, or raise reg_covar or "
    "var_smoothing."
)


class SingularCovariance(ValueError):
    """A covariance is not positive definite."""


def cholesky(covariance: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise SingularCovariance(SINGULAR) from None


def patterns(X: np.ndarray) -> Iterator[tuple[Any, np.ndarray | None]]:
    """Rows grouped by their pattern of observed entries; None where all are observed."""
    if not np.isnan(X.sum()):
        yield slice(None), None
        return
    seen = ~np.isnan(X)
    patterns, pattern_of = np.unique(seen, axis=0, return_inverse=True)
    for n, pattern in enumerate(patterns):
        yield np.flatnonzero(pattern_of == n), None if pattern.all() else pattern
