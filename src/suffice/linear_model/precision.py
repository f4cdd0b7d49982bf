"""Predictions of linear models, float32 for float32 rows and coefficients; and sparse coefficients.

The fitted attributes that are float32 for float32 rows are listed in `Estimator.preserves_dtype`.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..estimator.answers import as_float32, is_float32


def line(estimator: BaseEstimator, rows: Any, X: Any) -> np.ndarray:
    """coef_ x + intercept_ of checked rows, in the common precision of the coefficients and of the X of the
    user."""
    values = rows @ estimator.coef_.T
    values = (values.toarray() if sp.issparse(values) else np.asarray(values)) + estimator.intercept_
    single = estimator.coef_.dtype == np.float32 and is_float32(X)
    return as_float32(values) if single else values


class SparseCoefficients:
    """`sparsify` and `densify`, as classifiers of scikit-learn have them."""

    coef_: Annotated[Any, "real (P, D)"]  # of one score for two classes, else of one for each
    intercept_: Annotated[Any, "number or real (P,)"]

    def densify(self) -> Self:
        """Convert `coef_` to an array, its format after `fit`."""
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        return self

    def sparsify(self) -> Self:
        """Convert `coef_` to a CSR matrix, which takes less memory if most coefficients are zero, e.g. with
        an l1 penalty."""
        check_is_fitted(self)
        self.coef_ = sp.csr_array(self.coef_)
        return self
