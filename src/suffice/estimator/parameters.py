"""Constraints on the parameters of estimators, declared and checked as in scikit-learn.

Every estimator has `_parameter_constraints`: for each parameter, a list of constraints, of which a value must
satisfy one. A class declares them, except those of `USUAL`. `Estimator` checks them when a method that fits
is called. These names are private in scikit-learn, so this is the only module that imports them.
"""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
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

from ..core.arguments import Seed
from ..inputs.conversions import LARGEST

MAX = float(np.finfo(np.float64).max)


class Numbers(HasMethods):
    """An array-like of numbers from `least` to `most`, optionally with `ndim` axes.

    scikit-learn's "array-like" also accepts strings and NaN. scikit-learn accepts only subclasses of its own
    constraints, so this is one.
    """

    def __init__(self, least: float = -MAX, most: float = MAX, ndim: int | None = None) -> None:
        self.least, self.most, self.ndim, self.hidden = least, most, ndim, False

    def is_satisfied_by(self, val: Any) -> bool:
        if isinstance(val, str | bytes) or not (hasattr(val, "__len__") or hasattr(val, "__array__")):
            return False
        try:
            numbers = np.asarray(val)
            if numbers.dtype.kind not in "biufO" or numbers.ndim == 0:
                return False
            if self.ndim is not None and numbers.ndim != self.ndim:
                return False
            numbers = numbers.astype(np.float64)
        except (TypeError, ValueError, OverflowError):  # not numbers, or rows of different lengths
            return False
        return bool((numbers >= self.least).all() and (numbers <= self.most).all())

    def __str__(self) -> str:
        axes = "" if self.ndim is None else f" of {self.ndim} axis"
        return f"an array-like{axes} of numbers in the range [{self.least}, {self.most}]"


class Whole(Interval):
    """Integers. Booleans are refused."""

    def __init__(self, least: int) -> None:
        super().__init__(Integral, least, None, closed="left")

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


class FilePath(HasMethods):
    """The path of a file. The empty string is refused."""

    def __init__(self) -> None:
        self.hidden = False

    def is_satisfied_by(self, val: Any) -> bool:
        return isinstance(val, os.PathLike) or (isinstance(val, str) and val != "")

    def __str__(self) -> str:
        return "the path of a file, a str that is not empty or an instance of 'os.PathLike'"


AT_LEAST_0, AT_LEAST_1, AT_LEAST_2 = Whole(0), Whole(1), Whole(2)
# Products of two such numbers are finite, and so are inverses.
NON_NEGATIVE = Interval(Real, 0, LARGEST, closed="both")
POSITIVE = Interval(Real, 1 / LARGEST, LARGEST, closed="both")
FINITE = Interval(Real, None, None, closed="neither")
INF = Options(Real, {np.inf})
SHARE = Interval(Real, 0, 1, closed="both")
CHECKPOINT = [FilePath(), None]
CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]
N_JOBS = [Integral, None]
# Parameters that mean the same in all estimators. A class declares only those that differ.
USUAL: dict[str, list[Any]] = {
    "checkpoint": CHECKPOINT,
    "class_weight": CLASS_WEIGHT,
    "copy_X": ["boolean"],
    "fit_intercept": ["boolean"],
    "max_iter": [AT_LEAST_1],
    "n_init": [AT_LEAST_1],
    "n_jobs": N_JOBS,
    "random_state": ["random_state"],
    "shuffle": ["boolean"],
    "tol": [NON_NEGATIVE],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
}


def seed_of(random_state: Seed) -> int:
    """Draw a seed from `random_state`."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_parameters(estimator: BaseEstimator) -> None:
    """Raise InvalidParameterError for the first parameter that satisfies none of its constraints."""
    constraints = estimator._parameter_constraints
    values = {name: getattr(estimator, name) for name in constraints}
    if not get_config()["skip_parameter_validation"]:
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
    "USUAL",
    "HasMethods",
    "Hidden",
    "Interval",
    "InvalidParameterError",
    "Numbers",
    "Options",
    "RealNotInt",
    "StrOptions",
    "Whole",
    "check_parameters",
    "seed_of",
]
