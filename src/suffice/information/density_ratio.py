"""The ratio of two densities from samples, by least squares (RuLSIF).

Yamada, Suzuki, Kanamori, Hachiya and Sugiyama, "Relative density-ratio estimation for robust distribution
comparison", 2013; Kanamori, Hido and Sugiyama, "A least-squares approach to direct importance estimation",
2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import Seed
from ..core.blocks import Matrix, Rows
from ..core.cost import afford
from ..core.hashing import parts_of
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_1, POSITIVE, Interval, Numbers, seed_of
from ..estimator.scores import Classifier
from ..estimator.tags import tags
from ..fitting.seeding import NOBODY, SPARE, Sample, draw
from ..inputs import map_rows, read_rows
from ..kernels import RBF
from ..kernels.vectors import of_squared_distances
from ..statistics import class_codes, classes_of

WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)  # default gammas, over the median squared distance of landmarks
PENALTIES = tuple(np.logspace(-4, 1, 11).tolist())


@dataclass(frozen=True, eq=False)
class RatioSums(Statistics):
    """Sums of kernels with the landmarks and of their products, by gamma, fold and sample."""

    weight: Annotated[np.ndarray, "(F, 2)"]
    kernels: Annotated[np.ndarray, "(G, F, M)"]  # of the numerator's sample
    products: Annotated[np.ndarray, "(G, F, 2, M, M)"]


@dataclass(frozen=True, eq=False)
class LeastSquaresRatio(Model):
    """g(x) = sum_m coef_m exp(-gamma |x - z_m|^2), the ratio p1 / (alpha p1 + (1 - alpha) p0)."""

    classes: Annotated[np.ndarray, "labels (C,)"]  # of the denominator's sample and the numerator's
    points: Annotated[np.ndarray, "(M, D)"]
    alpha: float
    gammas: Annotated[np.ndarray, "(G,)"]
    penalties: Annotated[np.ndarray, "(L,)"]
    n_folds: int
    seed: int
    error: Annotated[np.ndarray, "(G, L)"]  # of cross-validation
    gamma: float = 0.0
    penalty: float = 0.0
    coef: Annotated[np.ndarray | None, "(M,)"] = None

    def summarize(self, block: Rows) -> RatioSums:
        G, M, F = len(self.gammas), len(self.points), self.n_folds
        code, weight = class_codes(self.classes, block.y), block.weight
        fold = parts_of(block, F, Purpose.INNER_FOLDS, self.seed)
        distance = _distances(block.X, self.points)
        sums, kernels = np.zeros((F, 2)), np.zeros((G, F, M))
        products = np.zeros((G, F, 2, M, M))
        groups = [(f, c, np.flatnonzero((fold == f) & (code == c))) for f in range(F) for c in (0, 1)]
        for g, gamma in enumerate(self.gammas):
            phi = np.exp(-gamma * distance)
            for f, c, rows in groups:
                mine = phi[rows] * np.sqrt(weight[rows])[:, None]
                products[g, f, c] = mine.T.dot(mine)
                if c == 1:
                    kernels[g, f] = weight[rows].dot(phi[rows])
        for f, c, rows in groups:
            sums[f, c] = weight[rows].sum()
        return RatioSums(sums, kernels, products)

    def moments(self, s: RatioSums, g: int, folds: Any) -> tuple[np.ndarray, np.ndarray]:
        """The mean of products over the mixture, H, and that of kernels over the numerator, h."""
        weight = s.weight[folds].sum(axis=0)
        products = s.products[g, folds].sum(axis=0) / weight[:, None, None]
        H = self.alpha * products[1] + (1.0 - self.alpha) * products[0]
        return H, s.kernels[g, folds].sum(axis=0) / weight[1]

    def coefficients(self, H: np.ndarray, h: np.ndarray) -> np.ndarray:
        """(H + penalty)^-1 h, for all penalties: (M, L)."""
        values, Q = eigh(H)
        return Q.dot(Q.T.dot(h)[:, None] / (np.maximum(values, 0.0)[:, None] + self.penalties))

    def estimate(self, s: RatioSums) -> Self:
        G, L, F = len(self.gammas), len(self.penalties), self.n_folds
        error = np.zeros((G, L))
        if G * L > 1:
            full = s.weight > 0
            others = [np.flatnonzero(np.arange(F) != f) for f in range(F)]
            folds = [f for f in range(F) if full[f].all() and full[others[f]].any(axis=0).all()]
            if not folds:
                raise ValueError(
                    f"No fold has rows of both samples, with weights by fold {s.weight.tolist()}: pass "
                    "gamma and penalty as numbers, use fewer folds or another random_state."
                )
            for g in range(G):
                for f in folds:
                    coef = self.coefficients(*self.moments(s, g, others[f]))
                    H, h = self.moments(s, g, [f])
                    error[g] += (np.einsum("ml,ml->l", coef, H.dot(coef)) - 2.0 * h.dot(coef)) / len(folds)
        best, at = divmod(int(error.argmin()), L)
        coef = self.coefficients(*self.moments(s, best, np.arange(F)))[:, at]
        gamma, penalty = float(self.gammas[best]), float(self.penalties[at])
        return self.replace(error=error, coef=coef.copy(), gamma=gamma, penalty=penalty)

    def divergence(self, s: RatioSums) -> float:
        """2 E_p g - E_mixture g^2 - 1, with the sums of this model's gamma."""
        g = int(np.flatnonzero(self.gammas == self.gamma)[0])
        H, h = self.moments(s, g, np.arange(len(s.weight)))
        return float(2.0 * h.dot(self.coef) - self.coef.dot(H.dot(self.coef)) - 1.0)  # type: ignore

    def __call__(self, X: Matrix) -> np.ndarray:
        """g(x), (N,)."""
        return RBF(self.gamma)(X, self.points).dot(self.coef)  # type: ignore[arg-type]


def _distances(X: Matrix, Z: np.ndarray) -> np.ndarray:
    """|x_n - z_m|^2, (N, M)."""
    return of_squared_distances(lambda tile: None, X, Z)


def _numerator(classes: np.ndarray, size: int, seed: int, block: Rows) -> Sample:
    return draw(size, seed, 0, NOBODY, block[class_codes(classes, block.y) == 1])


class RelativeDensityRatio(Classifier, Estimator):
    """The ratio of the densities of two samples, without an estimate of either density (RuLSIF).

    The labels say which sample a row is of. The ratio is that of the second label against the first, or
    against a mixture of both, which bounds it. It compares distributions: its mean is their relative Pearson
    divergence. It is also the importance of the rows of one sample for another (covariate shift).

    One pass over the data finds the labels, one samples landmarks from the numerator, and one sums the
    products of their kernels. This sum serves all bandwidths, all penalties and their cross-validation.

    Parameters
    ----------
    alpha : float, default=0.1
        Share of the numerator in the denominator, from 0 to less than 1. The ratio is at most 1 / alpha; with
        0, it is the plain ratio, which may be unbounded.
    gamma : float or array, default=None
        Parameter of the Gaussian kernel, or candidates for cross-validation. None are five values about one
        over the median squared distance of the landmarks.
    penalty : float or array, default=None
        Penalty of the squared coefficients, or candidates for cross-validation. None are eleven values from
        1e-4 to 10.
    landmarks : int, default=100
        Number of rows of the numerator to sample by a hash of their values, as centers of the kernels.
    n_folds : int, default=5
        Number of folds. The fold of a row follows from a hash of its values.
    random_state : int, RandomState or None, default=None
        Seed of the sample and of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels: of the denominator's sample and of the numerator's.
    divergence_ : float
        The relative Pearson divergence of the numerator from the mixture, estimated from the same rows.
    gamma_ : float
        The value with the smallest error.
    penalty_ : float
        Likewise.
    cv_errors_ : ndarray of shape (n_gammas, n_penalties)
        The squared error of the ratio by cross-validation, up to a constant. Zeros if there was nothing to
        choose.
    dual_coef_ : ndarray of shape (n_landmarks,)
        Coefficients of the kernels.
    X_fit_ : ndarray of shape (n_landmarks, n_features)
        The landmarks.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LeastSquaresRatio
        The fitted model.
    statistics_ : RatioSums
        The sums of the last pass.

    See Also
    --------
    relative_pearson : The divergence of known distributions.
    suffice.linear_model.KernelLogisticRegression : Probabilities of labels, whose ratio is that of densities.

    Notes
    -----
    With the densities p of the numerator and q of the other sample, the function
    :math:`g(x) = ∑_m θ_m e^{-γ ‖x - z_m‖^2}` minimizes

    .. math::

        E_{α p + (1 - α) q}\\, (g - r)^2 + λ ‖θ‖^2, \\qquad r = \\frac{p}{α p + (1 - α) q},

    of which the samples determine all but a constant: :math:`θ = (H + λ I)^{-1} h`, with the mean H of the
    products of kernels over the mixture, and the mean h of the kernels over the numerator. The divergence is
    :math:`2 E_p\\, g - E_{α p + (1 - α) q}\\, g^2 - 1`.

    References
    ----------
    * Yamada, Suzuki, Kanamori, Hachiya and Sugiyama (2013), "Relative density-ratio estimation for robust
      distribution comparison", Neural Computation 25.
    * Kanamori, Hido and Sugiyama (2009), "A least-squares approach to direct importance estimation", Journal
      of Machine Learning Research 10.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.information import RelativeDensityRatio
    >>> rng = np.random.default_rng(0)
    >>> X = np.append(rng.normal(size=1000), rng.normal(0.5, size=1000))[:, None]
    >>> model = RelativeDensityRatio(0.5, random_state=0).fit(X, np.repeat(["now", "before"], 1000))
    >>> model.ratio([[-1.0], [2.0]]).round(1)
    array([1.3, 0.5])
    >>> round(model.divergence_, 2)
    0.07
    """

    exempt = (
        Exempt("rounding", "Centers are drawn by the values of rows."),
        Exempt("memory", "Sums take 4 MB, of which a tree holds the logarithm of the blocks."),
    )

    model_: Annotated[LeastSquaresRatio, "D"]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0.0, 1.0, closed="left")],
        "gamma": [POSITIVE, Numbers(1e-150, 1e150, 1), None],
        "penalty": [POSITIVE, Numbers(1e-150, 1e150, 1), None],
        "landmarks": [AT_LEAST_1],
        "n_folds": [AT_LEAST_1],
    }
    __sklearn_tags__ = tags(sparse=True, classifier_tags__multi_class=False)

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        gamma: Any = None,
        penalty: Any = None,
        landmarks: int = 100,
        n_folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.penalty = penalty
        self.landmarks = landmarks
        self.n_folds = n_folds
        self.random_state = random_state

    def _solve(self, data: Partitions) -> Progress:
        classes = classes_of(data)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported: the ratio is of two samples; got labels "
                f"{classes.tolist()}. Leave out the rows of the others."
            )
        seed, size = seed_of(self.random_state), int(self.landmarks)
        afford(size * self.n_features_in_, f"{size} landmarks", "use fewer landmarks.")
        sample = data.fold(_numerator, classes, size + SPARE, seed)
        must_have_rows(sample.weight)
        model = self._start(classes, sample.first(size), seed)
        s = data.fold(LeastSquaresRatio.summarize, model)
        return Progress(model.estimate(s), statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: LeastSquaresRatio = progress.model
        return {
            "classes_": model.classes,
            "gamma_": model.gamma,
            "penalty_": model.penalty,
            "cv_errors_": model.error,
            "dual_coef_": model.coef,
            "X_fit_": model.points,
            "divergence_": model.divergence(progress.statistics),
        }

    def _start(self, classes: np.ndarray, points: np.ndarray, seed: int) -> LeastSquaresRatio:
        """The model before its sums, with candidates."""
        gammas, penalties, M = self.gamma, self.penalty, len(points)
        if gammas is None:
            apart = _distances(points, points)[np.triu_indices(M, 1)]
            middle = float(np.median(apart)) if len(apart) else 0.0
            gammas = np.array(WIDTHS) / (middle if middle > 0 else 1.0)
        gammas = np.atleast_1d(np.asarray(gammas, dtype=np.float64))
        penalties = np.atleast_1d(np.asarray(PENALTIES if penalties is None else penalties, np.float64))
        if not gammas.size or not penalties.size:
            raise ValueError(f"gamma={self.gamma!r} and penalty={self.penalty!r} must have candidates.")
        n_folds = int(self.n_folds) if len(gammas) * len(penalties) > 1 else 1
        numbers = 2.0 * len(gammas) * n_folds * M**2
        instead = "use fewer landmarks, fewer values of gamma or fewer folds."
        afford(numbers, f"the products of {M} kernels, by gamma and fold,", instead)
        error = np.zeros((len(gammas), len(penalties)))
        return LeastSquaresRatio(classes, points, float(self.alpha), gammas, penalties, n_folds, seed, error)

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """The ratio minus one: positive where the numerator's density is larger.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return map_rows(self.model_, read_rows(self, X)) - 1.0

    def ratio(self, X: Any) -> np.ndarray:
        """The ratio at rows in memory, (n_samples,), zero where least squares are negative."""
        return np.maximum(self.decision_function(X) + 1.0, 0.0)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The sample whose density is larger at each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
