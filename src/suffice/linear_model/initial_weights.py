"""Shared by linear models that learn row by row: initial weights, and the classes of `partial_fit`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.arguments import MaybeArray
from ..estimator.base import Iterative, must_be_same_classes


class FromInitialWeights(Iterative):
    """Linear models that can start from any weights of the features."""

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: MaybeArray = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: MaybeArray = None,
    ) -> Self:
        """Fit to rows with labels, or with targets.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Labels, or the targets of a regressor. Leave out if a column of the table holds them.
        coef_init : array of shape (n_classes, n_features) or (n_features,), optional
            The initial coefficients. The default is zero.
        intercept_init : array of shape (n_classes,) or (1,), optional
            The initial intercepts. The default is zero.
        sample_weight : array, optional
            Per-sample weights, by which the steps are multiplied. 0 drops the sample.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit_to(X, y, sample_weight, coef_init=coef_init, intercept_init=intercept_init)


def initial_weights(theta: np.ndarray, coef: Any, intercept: Any) -> np.ndarray:
    """theta (P, D + 1), with the initial weights that a user gave."""
    theta = theta.copy()
    if coef is not None:
        theta[:, :-1] = _reshaped("coef_init", coef, theta[:, :-1].shape)
    if intercept is not None:
        theta[:, -1] = _reshaped("intercept_init", intercept, theta[:, -1].shape)
    return theta


def _reshaped(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.size != np.prod(shape):
        raise ValueError(
            f"Provided {name} does not match dataset: it has shape {array.shape}, expected {shape}."
        )
    return array.reshape(shape)


def online_classes(
    class_weight: dict[Any, float] | str | None, classes: MaybeArray, known: np.ndarray | None
) -> np.ndarray:
    """The classes of a call to `partial_fit`. The first call must name all of them; later calls may omit
    them."""
    if isinstance(class_weight, str):  # weights that depend on all rows are not known
        raise ValueError(
            f"class_weight '{class_weight}' is not supported for partial_fit. In order to use "
            "'balanced' weights, use compute_class_weight('balanced', classes=classes, y=y). In place of "
            "y you can use a large enough sample of the full training set target to properly estimate "
            "the class frequency distributions. Pass the resulting weights as the class_weight parameter."
        )
    if known is not None:
        must_be_same_classes(classes, known)
        return known
    if classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit.")
    return np.unique(np.asarray(classes))
