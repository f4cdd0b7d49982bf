"""Polynomial and spline features of scikit-learn, of rows anywhere. Hastie, Tibshirani and Friedman, "The
elements of statistical learning", 2009, chapter 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing

from ..core.arguments import MaybeArray
from ..core.loop import Progress
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.guarantees import OF_PLACES, SKETCHES, Exempt, Guarantee
from . import compat
from .columns import ColumnQuantiles, ColumnRanges, ColumnTransform, canonical


@dataclass(frozen=True, eq=False)
class Products(Predictor):
    """Products of columns, which follow from their number."""

    min_degree: int
    max_degree: int


@dataclass(frozen=True, eq=False)
class Expansion(Progress):
    """The degrees, and the numbers of products."""

    n_output_features_: int = 0
    n_products: int = 0  # with those of lower degrees than the minimum


class PolynomialFeatures(ColumnTransform, preprocessing.PolynomialFeatures):
    """Products of the features up to a degree.

    Parameters
    ----------
    degree : int or tuple (min_degree, max_degree), default=2
        The maximum degree of the products, or the minimum and the maximum.
    interaction_only : bool, default=False
        Whether to leave out products with more than one factor of a feature.
    include_bias : bool, default=True
        Whether to include a column of ones.
    order : {'C', 'F'}, default='C'
        Order of the output array in memory.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features, n_features)
        The power of each feature in each product.
    n_output_features_ : int
        Number of output features.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Products
        The degrees.

    See Also
    --------
    SplineTransformer : Piecewise polynomials of each feature.
    BasisFunctions : Functions of each feature, without interactions.

    Notes
    -----
    The fit reads the number of features, and no rows. The output features are, for powers :math:`p_d` whose
    sum is at most the degree,

    .. math::

        φ_p(x) = ∏_d x_d^{p_d}.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, Springer, chapter 5.

    Examples
    --------
    >>> from suffice.preprocessing import PolynomialFeatures
    >>> PolynomialFeatures(2).fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    """

    exempt = (Exempt("shift", "Powers of rows that moved are others."),)

    model_: Products
    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.PolynomialFeatures._parameter_constraints
    _guarantee = Guarantee.always("bit")

    def _solve(self, data: Partitions, classes: MaybeArray = None) -> Progress:
        """The products, without a pass over the data."""
        products = preprocessing.PolynomialFeatures(**self.get_params(deep=False))
        products.fit(sp.csr_array((1, self.n_features_in_)))
        names = ("_min_degree", "_max_degree", "n_output_features_", "_n_out_full")
        least, most, n_features, n_products = (int(vars(products)[name]) for name in names)
        return Expansion(Products(least, most), n_output_features_=n_features, n_products=n_products)

    def _fitted(self, progress: Expansion) -> dict[str, Any]:  # type: ignore[override]
        degrees = {f"_{name}": degree for name, degree in progress.model.fields().items()}
        return {**degrees, "_n_out_full": progress.n_products}

    @row_wise
    def transform(self, X: Any) -> Any:
        """The products of the features of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(canonical(X))


class SplineTransformer(ColumnTransform, compat.SplineTransformer):
    """B-splines of each feature: piecewise polynomials.

    Parameters
    ----------
    n_knots : int, default=5
        Number of knots for each feature. Ignored if `knots` is an array.
    degree : int, default=3
        Degree of the polynomials.
    knots : {'uniform', 'quantile'} or array of shape (n_knots, n_features), default='uniform'
        'uniform': evenly spaced from the minimum to the maximum of each feature. 'quantile': at quantiles of
        each feature. An array needs no pass over the data.
    extrapolation : {'error', 'constant', 'linear', 'continue', 'periodic'}, default='constant'
        What to do beyond the first and the last knot.
    include_bias : bool, default=True
        Whether to include the last spline of each feature. The splines of a feature add up to one, so that
        linear models with an intercept do not need it.
    order : {'C', 'F'}, default='C'
        Order of the output array in memory.
    handle_missing : {'error', 'zeros'}, default='error'
        Whether to raise an error for NaN, or to return zeros for all splines of the feature.
    sparse_output : bool, default=False
        Whether to return a sparse matrix.

    Attributes
    ----------
    bsplines_ : list of BSpline of length n_features
        The splines of each feature.
    n_features_out_ : int
        Number of output features.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ColumnRanges or ColumnQuantiles
        What the knots follow from.
    statistics_ : Ranges or QuantileSketch
        The sums.

    See Also
    --------
    BasisFunctions : Splines and other functions of each feature.
    suffice.additive.AdditiveModel : Smooth functions, with the smoothness chosen from the data.

    Notes
    -----
    One pass over the data finds the range of each feature, or a sketch of its quantiles as for
    :class:`RobustScaler`. A linear model of the splines :math:`B_m` is a smooth curve:

    .. math::

        f(x) = ∑_m w_m B_m(x).

    References
    ----------
    * de Boor (1978), A Practical Guide to Splines, Springer.

    Examples
    --------
    >>> from suffice.preprocessing import SplineTransformer
    >>> splines = SplineTransformer(n_knots=2, degree=2).fit([[0.0], [1.0]])
    >>> splines.transform([[0.5]])
    array([[0.125, 0.75 , 0.125]])
    """

    exempt = (
        OF_PLACES,
        Exempt("unobserved", "A feature without values has no knots.", lambda e: e.handle_missing == "zeros"),
        SKETCHES.only(lambda e: e.knots == "quantile"),
    )

    model_: Annotated[ColumnRanges | ColumnQuantiles, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = compat.SplineTransformer._parameter_constraints
    _derived = ("bsplines_", "n_features_out_")
    for_nan = (
        "`SplineTransformer` is configured to error in this case (handle_missing='error'): set "
        "handle_missing='zeros', or fill them, e.g. with suffice.impute.SimpleImputer"
    )
    _guarantee = Guarantee.always("bit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.handle_missing == "zeros"
        return tags

    def _start(self, data: Partitions, classes: MaybeArray = None) -> ColumnRanges | ColumnQuantiles:
        D = self.n_features_in_
        if isinstance(self.knots, str) and self.knots == "quantile":
            return ColumnQuantiles(np.linspace(0.0, 1.0, self.n_knots), np.empty((0, D)))
        return ColumnRanges(np.full(D, np.nan), np.full(D, np.nan))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        weight = progress.statistics.weight
        if not weight > 1.0:
            raise ValueError(
                f"Found array with {weight:g} sample(s) while a minimum of 2 is required by "
                "SplineTransformer."
            )
        return {}

    def _derive(self) -> None:
        # For these rows scikit-learn finds the same knots.
        model = self.model_
        rows = model.values if isinstance(model, ColumnQuantiles) else np.stack([model.low, model.high])
        splines = compat.SplineTransformer(**self.get_params(deep=False)).fit(rows)
        self.bsplines_, self.n_features_out_ = splines.bsplines_, splines.n_features_out_

    @row_wise
    def transform(self, X: Any) -> Any:
        """The splines of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        splines = super().transform(X)
        if self.extrapolation == "continue":
            must_be_in_range(splines)
        return splines


def must_be_in_range(splines: Any) -> None:
    """Raise for polynomials that overflow far beyond the knots."""
    if sp.issparse(splines):
        entries = splines.tocoo()
        rows = entries.row[~np.isfinite(entries.data)]
    else:
        rows = np.flatnonzero(~np.isfinite(np.asarray(splines)).all(axis=1))
    if len(rows):
        raise ValueError(
            f"The splines of row {rows[0]} of X overflow: it is too far beyond the knots for "
            "extrapolation='continue'. Use 'constant' or 'linear'."
        )
