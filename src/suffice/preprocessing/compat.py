"""scikit-learn's transformers with the parameters that versions 1.7 to 1.9 introduced, on older versions too.

With scikit-learn 1.9 or newer, they are scikit-learn's own, but for one fault of `SplineTransformer`.
`core.callbacks` does the same for callbacks.
"""

from __future__ import annotations

from copy import copy
from inspect import Parameter, signature, unwrap
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn import preprocessing
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.arguments import Seed

QUANTILE_METHODS = {
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
    *("weibull", "linear", "median_unbiased", "normal_unbiased"),
}


def _default(transformer: type, name: str) -> Any:
    """The default of a parameter; `Parameter.empty` if this version does not have it."""
    parameter = signature(transformer).parameters.get(name)
    return Parameter.empty if parameter is None else parameter.default


if _default(preprocessing.KBinsDiscretizer, "quantile_method") == "averaged_inverted_cdf":
    KBinsDiscretizer = preprocessing.KBinsDiscretizer
else:  # scikit-learn < 1.9

    class KBinsDiscretizer(preprocessing.KBinsDiscretizer):  # type: ignore[no-redef]
        """scikit-learn's class with `quantile_method`. The fit is replaced by that of suffice."""

        _parameter_constraints: ClassVar[dict[str, Any]] = {
            **preprocessing.KBinsDiscretizer._parameter_constraints,
            "quantile_method": [StrOptions(QUANTILE_METHODS)],
        }

        def __init__(
            self,
            n_bins: Any = 5,
            *,
            encode: str = "onehot",
            strategy: str = "quantile",
            quantile_method: str = "averaged_inverted_cdf",
            dtype: Any = None,
            subsample: int | None = 200_000,
            random_state: Seed = None,
        ) -> None:
            self.n_bins = n_bins
            self.encode = encode
            self.strategy = strategy
            self.quantile_method = quantile_method
            self.dtype = dtype
            self.subsample = subsample
            self.random_state = random_state


if _default(preprocessing.MaxAbsScaler, "clip") is False:
    MaxAbsScaler = preprocessing.MaxAbsScaler
else:  # scikit-learn < 1.8

    class MaxAbsScaler(preprocessing.MaxAbsScaler):  # type: ignore[no-redef]
        """scikit-learn's class with `clip`."""

        _parameter_constraints: ClassVar[dict[str, Any]] = {
            **preprocessing.MaxAbsScaler._parameter_constraints,
            "clip": ["boolean"],
        }

        def __init__(self, *, copy: bool = True, clip: bool = False) -> None:
            self.copy = copy
            self.clip = clip

        def transform(self, X: Any) -> Any:
            scaled = unwrap(preprocessing.MaxAbsScaler.transform)(self, X)
            if self.clip:
                values = scaled.data if sp.issparse(scaled) else scaled
                np.clip(values, -1.0, 1.0, out=values)
            return scaled


class SplineTransformer(preprocessing.SplineTransformer):
    """scikit-learn's class with `handle_missing`, which version 1.8 introduced.

    Up to 1.9.1, its sparse output is not zero for missing values of features after the first.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **preprocessing.SplineTransformer._parameter_constraints,
        "handle_missing": [StrOptions({"error", "zeros"})],
    }

    def __init__(
        self,
        n_knots: int = 5,
        degree: int = 3,
        *,
        knots: Any = "uniform",
        extrapolation: str = "constant",
        include_bias: bool = True,
        order: str = "C",
        handle_missing: str = "error",
        sparse_output: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.degree = degree
        self.knots = knots
        self.extrapolation = extrapolation
        self.include_bias = include_bias
        self.order = order
        self.handle_missing = handle_missing
        self.sparse_output = sparse_output

    def transform(self, X: Any) -> Any:
        splines = unwrap(preprocessing.SplineTransformer.transform)
        if self.handle_missing == "error":
            return splines(self, X)
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, ensure_all_finite=False)
        missing = np.isnan(X)
        if not missing.any():
            return splines(_without_names(self), X)
        within = np.array([spline.t[spline.k] for spline in self.bsplines_], dtype=X.dtype)
        out = splines(_without_names(self), np.where(missing, within, X))
        seen = np.repeat(~missing, out.shape[1] // X.shape[1], axis=1)
        return out.multiply(seen).tocsr() if sp.issparse(out) else np.where(seen, out, out.dtype.type(0))


def type_of_constants(fitted: Any) -> Any:
    """The type of `statistics_` by which `SimpleImputer(strategy="constant")` fills rows of this type."""
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    return object if version >= (1, 8) else fitted  # older ones cast them to the type of the rows


def _without_names(transformer: Any) -> Any:
    """A copy that takes arrays: the names of their columns were compared before."""
    bare = copy(transformer)
    vars(bare).pop("feature_names_in_", None)
    return bare


__all__ = ["KBinsDiscretizer", "MaxAbsScaler", "SplineTransformer", "type_of_constants"]
