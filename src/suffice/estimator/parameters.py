"""Constraints on the parameters of estimators, declared and checked as scikit-learn does it.

Every estimator declares `_parameter_constraints`: by parameter, a list of which a value must satisfy one.
`Estimator` checks them when a method that fits is called. scikit-learn keeps these names private, though its
own estimators and `check_param_validation` rest on them, so this is the one module that imports them.
"""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils._param_validation import (
    HasMethods,
    Hidden,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)

from ..inputs.conversions import LARGEST

MAX = float(np.finfo(np.float64).max)


class Numbers(HasMethods):
    """An array-like of numbers from `least` to `most`.

    scikit-learn's "array-like" also takes strings and NaN. It builds constraints of its own kinds alone, so
    this is one of them, and shares nothing with it but that.
    """

    def __init__(self, least: float = -MAX, most: float = MAX) -> None:
        self.least, self.most, self.hidden = least, most, False

    def is_satisfied_by(self, val: Any) -> bool:
        if isinstance(val, str | bytes) or not (hasattr(val, "__len__") or hasattr(val, "__array__")):
            return False
        try:
            numbers = np.asarray(val)
            if numbers.dtype.kind not in "biufO" or not numbers.ndim:
                return False
            numbers = numbers.astype(np.float64)
        except (TypeError, ValueError, OverflowError):  # not numbers, or rows of unlike lengths
            return False
        return bool((numbers >= self.least).all() and (numbers <= self.most).all())

    def __str__(self) -> str:
        return f"an array-like of numbers in the range [{self.least}, {self.most}]"


AT_LEAST_0 = Interval(Integral, 0, None, closed="left")
AT_LEAST_1 = Interval(Integral, 1, None, closed="left")
AT_LEAST_2 = Interval(Integral, 2, None, closed="left")
# Products of two such numbers are finite, and so are inverses.
NON_NEGATIVE = Interval(Real, 0, LARGEST, closed="both")
POSITIVE = Interval(Real, 1 / LARGEST, LARGEST, closed="both")
FINITE = Interval(Real, None, None, closed="neither")
INF = Options(Real, {np.inf})
SHARE = Interval(Real, 0, 1, closed="both")
CHECKPOINT = [str, os.PathLike, None]
CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]
N_JOBS = [Integral, None]


def check_parameters(estimator: Any) -> None:
    """Raise InvalidParameterError for the first parameter that satisfies none of its constraints."""
    if not get_config()["skip_parameter_validation"]:
        constraints = estimator._parameter_constraints
        values = {name: getattr(estimator, name) for name in constraints}
        validate_parameter_constraints(constraints, values, caller_name=type(estimator).__name__)


__all__ = [
    "AT_LEAST_0",
    "AT_LEAST_1",
    "AT_LEAST_2",
    "CHECKPOINT",
    "CLASS_WEIGHT",
    "FINITE",
    "INF",
    "NON_NEGATIVE",
    "N_JOBS",
    "POSITIVE",
    "SHARE",
    "HasMethods",
    "Hidden",
    "Interval",
    "InvalidParameterError",
    "Numbers",
    "Options",
    "RealNotInt",
    "StrOptions",
    "check_parameters",
]
