"""Basis functions: a linear model of phi(x) is a curve in x.

CS181 2.7.1; Bishop, "Pattern recognition and machine learning", 2006, section 3.1; de Boor, "A practical
guide to splines", 1978.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import expit
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from ..core.blocks import Rows
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.shapes import must
from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, AT_LEAST_2, POSITIVE, Numbers, StrOptions
from ..inputs import read_rows
from ..statistics import Extremes, extremes


@dataclass(frozen=True, eq=False)
class _Basis(Model):
    """Functions of rows. By default their knots follow from the range of the rows."""

    bias: bool  # whether the constant is one of them
    knots: Annotated[Any, "number or real (*, D) or None"]  # or how many; None without places

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(not isinstance(self.knots, np.ndarray) or len(self.knots) > 1, "There are fewer than two knots.")

    def summarize(self, block: Rows) -> Extremes:
        return extremes(block.X)

    def estimate(self, s: Extremes) -> Self:
        """Evenly spaced knots, from the minimum to the maximum of each feature."""
        flat = 0.5 * (s.low == s.high)
        return self.replace(knots=np.linspace(s.low - flat, s.high + flat, self.knots))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """phi(x) of each row."""
        columns = self.of(X).reshape(len(X), -1)
        return np.hstack([np.ones((len(X), 1)), columns]) if self.bias else columns

    @abstractmethod
    def of(self, X: np.ndarray) -> np.ndarray:
        """The functions of each feature, (N, D, functions)."""

    @abstractmethod
    def suffixes(self) -> list[str]:
        """Suffixes of the names of the functions of a feature."""

    def names(self, features: np.ndarray) -> list[str]:
        of_each = [f"{name}{suffix}" for name in features for suffix in self.suffixes()]
        return ["1", *of_each] if self.bias else of_each


@dataclass(frozen=True, eq=False)
class Powers(_Basis):
    """x, x^2, ..., x^degree."""

    degree: int

    def of(self, X: np.ndarray) -> np.ndarray:
        return np.cumprod(np.broadcast_to(X[:, :, None], (*X.shape, self.degree)), axis=2)

    def suffixes(self) -> list[str]:
        return ["", *(f"^{power}" for power in range(2, self.degree + 1))]


@dataclass(frozen=True, eq=False)
class Bumps(_Basis):
    """exp(-(x - knot)^2 / (2 width^2)), for each knot."""

    width: Annotated[Any, "number or real (D,) or None"]  # None is from a knot to the next

    def of(self, X: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * in_widths(X, self.knots, self.width) ** 2)

    def suffixes(self) -> list[str]:
        return [f"_gaussian_{n}" for n in range(len(self.knots))]


@dataclass(frozen=True, eq=False)
class Sigmoids(_Basis):
    """1 / (1 + exp(-(x - knot) / width)), for each knot."""

    width: Annotated[Any, "number or real (D,) or None"]  # None is from a knot to the next

    def of(self, X: np.ndarray) -> np.ndarray:
        return expit(in_widths(X, self.knots, self.width))

    def suffixes(self) -> list[str]:
        return [f"_sigmoid_{n}" for n in range(len(self.knots))]


def in_widths(X: np.ndarray, knots: np.ndarray, width: Any) -> np.ndarray:
    """Distance of each value from each knot, in widths, (N, D, n_knots)."""
    if width is None:
        width = (knots[-1] - knots[0]) / (len(knots) - 1)
    return (X[:, :, None] - knots.T) / np.broadcast_to(width, X.shape[1])[:, None]


@dataclass(frozen=True, eq=False)
class Splines(_Basis):
    """Polynomials between the knots, joined smoothly; constant beyond the outer knots.

    The splines of a feature add up to one, so the last is left out if there is no constant.
    """

    degree: int

    def apply(self, X: np.ndarray) -> np.ndarray:
        return self.of(X).reshape(len(X), -1)

    def of(self, X: np.ndarray) -> np.ndarray:
        p, count = self.degree, len(self.knots) + self.degree - 1
        out = np.empty((*X.shape, count))
        for d, knots in enumerate(self.knots.T):
            before = knots[0] - np.arange(p, 0, -1) * (knots[1] - knots[0])
            after = knots[-1] + np.arange(1, p + 1) * (knots[-1] - knots[-2])
            x = np.clip(X[:, d], knots[0], knots[-1])
            out[:, d] = BSpline.design_matrix(x, np.concatenate([before, knots, after]), p).toarray()
        return out if self.bias else out[:, :, :-1]

    def suffixes(self) -> list[str]:
        return [f"_sp_{n}" for n in range(len(self.knots) + self.degree - 1 - (not self.bias))]

    def names(self, features: np.ndarray) -> list[str]:
        return [f"{name}{suffix}" for name in features for suffix in self.suffixes()]


@dataclass(frozen=True, eq=False)
class _Functions(_Basis):
    """User-defined functions, each of all features of a row."""

    functions: tuple[Callable[[np.ndarray], Any], ...]
    widths: tuple[int, ...] = ()  # how many columns each makes

    def of(self, X: np.ndarray) -> np.ndarray:
        return np.hstack(self.columns(X))

    def columns(self, X: np.ndarray) -> list[np.ndarray]:
        parts = []
        for f in self.functions:
            part = np.asarray(f(X), dtype=np.float64)
            if part.ndim not in (1, 2) or len(part) != len(X):
                raise ValueError(
                    f"{_called(f)} returned an array of shape {part.shape} for rows of shape {X.shape}; "
                    f"expected one or more numbers for each row, ({len(X)},) or ({len(X)}, any)."
                )
            parts.append(part.reshape(len(X), -1) if len(X) else part.reshape(0, part[..., None].shape[1]))
        return parts

    def suffixes(self) -> list[str]:
        sizes = zip(self.functions, self.widths, strict=True)
        called = [_called(f) for f, size in sizes for _ in range(size)]
        return [f"{name}_{n}" for n, name in enumerate(called)]  # two may be called alike

    def names(self, features: np.ndarray) -> list[str]:
        return ["1", *self.suffixes()] if self.bias else self.suffixes()


def _called(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__)).strip("<>")


class BasisFunctions(TransformerMixin, Estimator):
    """Basis expansion: nonlinear functions of each feature, for use with linear models.

    Each feature is expanded by itself, without interactions: for these, pass a function, or see
    :class:`sklearn.preprocessing.PolynomialFeatures`. High powers of one feature nearly depend on each other:
    scale it to the range from -1 to 1, or use splines.

    Parameters
    ----------
    kind : {'polynomial', 'gaussian', 'sigmoid', 'spline'}, callable or list of them, default='polynomial'
        'polynomial': powers of a feature up to `degree`. 'gaussian': radial basis functions
        ``exp(-(x - knot)**2 / (2 * width**2))``. 'sigmoid': ``1 / (1 + exp(-(x - knot) / width))``. 'spline':
        B-splines. A callable takes an array of shape (n_samples, n_features) and returns one or more numbers
        for each row.
    degree : int, default=3
        Degree of the polynomial or of the splines.
    n_knots : int, default=5
        Number of knots for each feature.
    knots : 'uniform' or array of shape (n_knots, n_features), default='uniform'
        Positions of the knots, in increasing order. 'uniform' spaces them evenly from the minimum to the
        maximum of each feature, which needs one pass over the data. An array needs no pass.
    width : float or array of shape (n_features,), default=None
        Width of the 'gaussian' and 'sigmoid' functions. If None, the mean distance between neighbouring
        knots.
    include_bias : bool, default=False
        Whether to include a constant: a first column of ones or, for splines, the last spline of each
        feature. Linear models with an intercept do not need it.

    Attributes
    ----------
    n_features_out_ : int
        Number of output features.
    model_ : Model
        The functions: ``model_.apply(X)``.
    statistics_ : Extremes
        The minimum and maximum of each feature. Empty if they are not needed.

    See Also
    --------
    suffice.linear_model.LinearRegression : Fits a curve to numbers.
    suffice.linear_model.BayesianLinearRegression : The same, with the uncertainty of the curve.
    suffice.linear_model.LogisticRegression : Classes that are separated by a curve.
    suffice.additive.AdditiveModel : Smooth functions, with the smoothness chosen from the data.

    Notes
    -----
    A linear model of the new features φ is a curve in x:

    .. math::

        f(x) = b + ∑_m w_m φ_m(x).

    References
    ----------
    * de Boor (1978), A Practical Guide to Splines, Springer.
    * Bishop (2006), Pattern Recognition and Machine Learning, Springer, section 3.1.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from suffice.linear_model import LinearRegression
    >>> from suffice.preprocessing import BasisFunctions
    >>> curve = make_pipeline(BasisFunctions(degree=2), LinearRegression())
    >>> curve.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 5.0, 10.0]).predict([[4.0]]).round(6)
    array([17.])
    """

    exempt = (Exempt("shift", "Functions stay where they are, and powers of rows that moved are others."),)

    model_: Annotated[_Basis, "D"]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kind": [StrOptions({"polynomial", "gaussian", "sigmoid", "spline"}), callable, list, tuple],
        "degree": [AT_LEAST_1],
        "n_knots": [AT_LEAST_2],
        "knots": [StrOptions({"uniform"}), Numbers()],
        "width": [POSITIVE, Numbers(0), None],
        "include_bias": ["boolean"],
    }
    _guarantee = Guarantee.always("bit")

    def __init__(
        self,
        kind: Any = "polynomial",
        *,
        degree: int = 3,
        n_knots: int = 5,
        knots: Any = "uniform",
        width: Any = None,
        include_bias: bool = False,
    ) -> None:
        self.kind = kind
        self.degree = degree
        self.n_knots = n_knots
        self.knots = knots
        self.width = width
        self.include_bias = include_bias

    def _solve(self, data: Partitions) -> Progress:
        start = self._start()
        s = Extremes(np.empty(0), np.empty(0))
        if start.knots is not None and not np.ndim(start.knots):
            s = data.fold(type(start).summarize, start)
            if np.isnan(s.low).any():
                raise ValueError("There are no rows to fit, or the weights of all rows are zero.")
            start = start.estimate(s)
        return Progress(start, statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"n_features_out_": len(progress.model.names(np.arange(self.n_features_in_)))}

    def _start(self) -> Any:
        if callable(self.kind) or isinstance(self.kind, list | tuple):
            return self._functions()
        if self.kind == "polynomial":
            return Powers(self.include_bias, None, self.degree)
        knots = self._knots()
        if self.kind == "spline":
            return Splines(self.include_bias, knots, self.degree)
        kind = Bumps if self.kind == "gaussian" else Sigmoids
        return kind(self.include_bias, knots, self._width(knots))

    def _functions(self) -> _Functions:
        functions = (self.kind,) if callable(self.kind) else tuple(self.kind)
        if not functions or not all(map(callable, functions)):
            raise ValueError(
                f"kind={self.kind!r}: expected the name of a kind, a function, or a list of functions."
            )
        model = _Functions(self.include_bias, None, functions)
        with np.errstate(all="ignore"):  # of one row, to see how many columns there are
            columns = model.columns(np.ones((1, self.n_features_in_)))
        return model.replace(widths=tuple(part.shape[1] for part in columns))

    def _knots(self) -> Any:
        if isinstance(self.knots, str):
            return self.n_knots
        knots = np.array(self.knots, dtype=np.float64)
        if knots.ndim != 2 or knots.shape[1] != self.n_features_in_ or not len(knots):
            raise ValueError(
                f"knots has shape {knots.shape}, expected (n_knots, {self.n_features_in_}): a column "
                "for each feature."
            )
        if not np.isfinite(knots).all() or (np.diff(knots, axis=0) <= 0).any():
            raise ValueError("knots must be finite and strictly increasing in each column.")
        if len(knots) < 2 and (self.kind == "spline" or self.width is None):
            raise ValueError(
                "There is one knot, expected at least two. For 'gaussian' and 'sigmoid', "
                "one knot needs width=."
            )
        return knots

    def _width(self, knots: Any) -> Any:
        if self.width is None:
            return None
        width = np.array(self.width, dtype=np.float64)
        if width.shape not in ((), (self.n_features_in_,)) or not ((width > 0) & np.isfinite(width)).all():
            raise ValueError(
                f"width={self.width!r} must be positive: a number, or one for each of {self.n_features_in_} "
                "features."
            )
        return width

    @row_wise
    def transform(self, X: Any) -> Any:
        """Evaluate the basis functions at each row, (n_samples, n_features_out).

        For a table described by `suffice.rows` it returns another description: features are computed when the
        rows are read. So a pipeline with a linear model is fitted where the table is, and stores no columns.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return self.model_.apply(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output features.

        Parameters
        ----------
        input_features : array of str, default=None
            Names of the input features. If None, those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        features = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.asarray(self.model_.names(features), dtype=object)
