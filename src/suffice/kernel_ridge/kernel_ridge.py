"""Kernel ridge regression: exact, or from sums over the rows with landmarks.

Saunders, Gammerman and Vovk, "Ridge regression learning algorithm in dual variables", 1998; STATS 601 4.4.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, block_diag, lstsq, solve
from sklearn.base import MultiOutputMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Matrix, Rows
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model, Predictor
from ..core.partitions import Partitions
from ..core.statistics import Parts, tree_sum
from ..estimator.answers import row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.kernel import INSTEAD, KernelEstimator
from ..estimator.parameters import NON_NEGATIVE, Numbers
from ..estimator.scores import Regressor
from ..estimator.tags import tags
from ..fitting import conjugate_solve
from ..fitting.landmarks import Landmarks
from ..fitting.linear_algebra import gram_times, transposed_times
from ..fitting.shared import Step
from ..inputs import map_rows, open_rows, read_rows, source_of
from ..kernels import Kernel, KernelColumns
from ..kernels.base import KernelLike, must_be_finite
from ..linear_model.coordinate_descent import FoldMoments
from ..linear_model.least_squares import LinearModel
from ..linear_model.ridge_cv import r2_of_moments
from ..linear_model.targets import targets_of
from ..statistics import Moments, moments

CONDITION = 1e4  # of the kernels of landmarks with each other, up to which moments of kernels are summed
MANY = 4096  # landmarks beyond which conjugate gradients replace the sum of the products of their kernels


@dataclass(frozen=True, eq=False)
class KernelFunctions(Predictor):
    """Functions of a row: weighted sums of its kernels with points."""

    columns: Annotated[KernelColumns, "M, D"]
    coef: Annotated[np.ndarray, "(M, T)"]

    def predict(self, X: Matrix) -> np.ndarray:
        """(N, T)."""
        return self.columns(X).dot(self.coef)

    @classmethod
    def solve(cls, kernel: Kernel, alpha: Any, block: Rows) -> KernelFunctions:
        """Exact: coef = (K + alpha / weight)^-1 y, symmetric in the square roots of the weights."""
        y, root, N = targets_of(block), np.sqrt(block.weight)[:, None], len(block)
        afford(N**2, f"the kernels of {N} rows", INSTEAD)
        K = kernel(block.X)
        must_be_finite(K)
        K = root * K * root.T
        alphas, coef = _penalties(alpha, y.shape[1]), np.empty(y.shape)
        for each in np.unique(alphas):
            targets = alphas == each
            coef[:, targets] = root * _solved(K + each * np.eye(N), root * y[:, targets])
        return cls(KernelColumns.of(kernel, block.X, np.arange(N), INSTEAD), coef)


def _penalties(alpha: Any, n_targets: int) -> np.ndarray:
    """One penalty for each target."""
    if np.shape(alpha) not in ((), (1,), (n_targets,)):
        raise ValueError(
            f"Number of targets and number of penalties do not correspond: {np.size(alpha)} != {n_targets}. "
            "Pass alpha as a number, or one per target."
        )
    return np.broadcast_to(np.asarray(alpha, dtype=np.float64), n_targets)


def _solved(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            return solve(A, B, assume_a="pos")
        except (LinAlgError, LinAlgWarning):
            pass
    warn(
        "Singular matrix in solving dual problem, or a kernel that is not positive definite. Using "
        "least-squares solution instead: raise alpha.",
    )
    return lstsq(A, B)[0]


@dataclass(frozen=True, eq=False)
class LandmarkRidge(Model):
    """Ridge regression without an intercept on the features of landmarks."""

    landmarks: Annotated[Landmarks, "D"]
    linear: Annotated[LinearModel, "T, R"]

    @property
    def of_kernels(self) -> bool:
        """Whether the moments of the kernels determine those of the features, to about 1e-8: then a pass has
        a third of the work."""
        squares = self.landmarks.mean_squares
        return len(squares) == len(self.landmarks.root) and squares.max() <= CONDITION * squares.min()

    def summarize(self, block: Rows) -> Moments:
        """The moments of the targets and the features, or of the kernels from which these follow."""
        features = self.landmarks.columns if self.of_kernels else self.landmarks.features
        return self.linear.summarize(block.replace(X=features(block.X)))

    def summarize_folds(self, n_folds: int, division: Step, block: Rows) -> FoldMoments:
        """These moments by fold."""
        by, shared = division
        fold, features = by(*shared, block).part, self.landmarks.features
        rows = block.replace(X=(self.landmarks.columns if self.of_kernels else features)(block.X))
        parts = {int(f): rows[fold == f] for f in np.unique(fold)}
        return FoldMoments.of({f: self.linear.summarize(part) for f, part in parts.items()}, n_folds)

    def of_features(self, s: Moments) -> Moments:
        """The moments of the features and the targets."""
        if not self.of_kernels:
            return s
        T = len(s.mean) - len(self.landmarks.root)
        to_features = block_diag(self.landmarks.root.T, np.eye(T))
        return s.replace(mean=to_features @ s.mean, scatter=to_features @ s.scatter @ to_features.T)

    def estimate(self, s: Moments) -> Self:
        return self.replace(linear=self.linear.estimate(self.of_features(s)))

    def right(self, block: Rows) -> Parts:
        """The products of the landmarks' kernels and the targets, and the moments of the targets."""
        y = targets_of(block)
        K = self.landmarks.columns(block.X)
        return Parts((transposed_times(K, block.weight[:, None] * y), _target_moments(block)))

    def product(self, A: np.ndarray, block: Rows) -> np.ndarray:
        """K'K A, with the kernels K of the rows with the landmarks, (M, T)."""
        return gram_times(self.landmarks.columns(block.X), block.weight, A)

    def solve(self, data: Partitions) -> tuple[Self, Moments]:
        """Solve by conjugate gradients, one pass for each step, without products of all pairs of landmarks.

        In the eigenvectors of the landmarks' kernel matrix, its eigenvalues are the diagonal preconditioner
        of Rudi, Carratino and Rosasco (2017).
        """
        root = self.landmarks.root
        total, s = data.fold(LandmarkRidge.right, self).parts
        must_have_rows(s.weight)
        B = root.T.dot(total)
        alphas = _penalties(self.linear.alpha, B.shape[1])

        def product(V: np.ndarray) -> np.ndarray:
            return root.T.dot(data.fold(LandmarkRidge.product, self, root.dot(V))) + alphas * V

        inverse = 1.0 / (s.weight * self.landmarks.mean_squares[:, None] + alphas)
        coef, n_iter, converged = conjugate_solve(product, B, inverse)
        if not converged:
            warn(
                f"KernelRidge did not converge in {n_iter} iterations of conjugate gradients: raise alpha.",
                ConvergenceWarning,
            )
        linear = self.linear.replace(coef=coef.T, intercept=np.zeros(len(alphas)))
        return self.replace(linear=linear), s

    @property
    def functions(self) -> KernelFunctions:
        """The same, as sums of the kernels with the landmarks."""
        coef = np.ascontiguousarray(self.linear.coef)  # as files hold it
        return KernelFunctions(self.landmarks.columns, self.landmarks.root @ coef.T)


class KernelRidge(MultiOutputMixin, Regressor, KernelEstimator):
    """Ridge regression in the space of a kernel: exact, or with landmarks.

    Without `landmarks`, the rows are gathered, and a system of as many equations is solved. With `landmarks`,
    the function is a sum of kernels with as many sampled rows, and two passes over the data fit it where the
    rows are: one samples the landmarks, and one sums the moments of their kernels.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1
        Strength of the penalty.
    kernel : Kernel, str or callable, default='linear'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two rows that returns a number, or of two arrays of rows that returns their Gram matrix, or
        'precomputed' if X is that matrix. With a kernel of strings, :class:`~suffice.kernels.Subsequences`, X
        is a list of strings or of sequences of symbols.
    gamma : float, default=None
        Parameter of a kernel that is passed by name; None is one over the number of features, and 1 for
        'chi2'.
    degree : float, default=3
        Degree of the kernel 'poly'.
    coef0 : float, default=1
        Parameter of 'poly' and 'sigmoid'.
    kernel_params : dict, default=None
        Parameters of a kernel that is a function, passed as keywords.
    landmarks : int, default=None
        Number of rows to sample by a hash of their values. If None, or if there are no more rows, all rows
        are used, and the solution is exact.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_points,) or (n_points, n_targets)
        Coefficients of the kernels with `X_fit_`.
    X_fit_ : ndarray of shape (n_points, n_features)
        The rows with a weight, or the landmarks. For a precomputed kernel, the numbers of its columns.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : KernelFunctions or LandmarkRidge
        The fitted model.
    statistics_ : Moments
        Only with landmarks: the moments of their kernels or features and of the targets.

    See Also
    --------
    suffice.kernel_approximation.Nystroem : Features of landmarks, for any linear model.
    suffice.linear_model.Ridge : Ridge regression on the features themselves.
    suffice.additive.SmoothingSpline : A smooth curve with an unpenalized line.

    Notes
    -----
    With row weights :math:`s_n` and the norm of the kernel's space, the function minimizes

    .. math::

        ∑_n s_n (y_n - f(x_n))^2 + α ‖f‖^2, \\qquad f(x) = ∑_m a_m k(x, z_m).

    If all rows are points, :math:`a = (K + α S^{-1})^{-1} y`, with S the diagonal matrix of the weights. With
    landmarks :math:`z_m` and their features :math:`φ(x) = F^T k(x)`, where :math:`F F^T` is the inverse of
    their kernel matrix, this is ridge regression on the features. There is no intercept.

    With landmarks, a :class:`~suffice.model_selection.GridSearch` over alpha takes one sum for all folds and
    all penalties, with landmarks that are sampled once, from all rows.

    References
    ----------
    * Saunders, Gammerman and Vovk (1998), "Ridge regression learning algorithm in dual variables", ICML.
    * Rudi, Carratino and Rosasco (2017), "FALKON: an optimal large scale kernel method", NIPS 30.
    * Rudi, Camoriano and Rosasco (2015), "Less is more: Nyström computational regularization", NIPS 28.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.kernel_ridge import KernelRidge
    >>> X = np.linspace(0.0, 6.0, 300)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> exact = KernelRidge(alpha=0.1, kernel="rbf").fit(X, y)
    >>> few = KernelRidge(alpha=0.1, kernel="rbf", landmarks=15, random_state=0).fit(X, y)
    >>> round(exact.score(X, y), 4), few.X_fit_.shape, round(few.score(X, y), 4)
    (1.0, (15, 1), 1.0)
    """

    exempt = (
        Exempt("shift", "It has no intercept."),
        Exempt("rounding", "Landmarks are drawn by their values.", lambda e: e.landmarks is not None),
    )

    model_: Annotated[KernelFunctions | LandmarkRidge, "D"]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEstimator.kernel_constraints,
        "alpha": [NON_NEGATIVE, Numbers(0)],
    }
    __sklearn_tags__ = tags(target_tags__required=True)

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        landmarks: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.landmarks = landmarks
        self.random_state = random_state

    @property
    def one_fit(self) -> dict[str, Callable[[list[Any]], Any]]:  # type: ignore[override]
        """The sums of landmarks serve all penalties."""
        return {"alpha": lambda values: values[0]} if self.landmarks and self.landmarks <= MANY else {}

    def _shorten(self) -> None:
        s = self.statistics_
        self._publish(Progress(self._solved(self.model_, s), statistics=s))

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        source = source_of(X)
        self._flat_target = source.flat_target(y)
        return super()._opened(source, y, sample_weight, reset)

    def _solve(self, data: Partitions) -> Progress:
        if self.landmarks is not None:
            return self._of_landmarks(data)
        block = data.gather(INSTEAD)
        must_have_rows(block.weight)
        kernel = self._kernel().with_rows(block.X, block.weight)
        return Progress(KernelFunctions.solve(kernel, self.alpha, block))

    def _of_landmarks(self, data: Partitions) -> Progress:
        landmarks = self._sampled(data)
        R = landmarks.root.shape[1]
        linear = LinearModel(np.zeros((1, R)), np.zeros(1), self.alpha, fit_intercept=False)
        model = LandmarkRidge(landmarks, linear)
        if len(landmarks.root) > MANY:
            model, s = model.solve(data)
            return Progress(model, statistics=s)
        s = data.fold(LandmarkRidge.summarize, model)
        return Progress(self._solved(model, s), statistics=s)

    def _fit_folds(self, X: Any, n_folds: int, division: Step) -> LandmarkFolds:
        """The landmarks of all rows, and one sum for all folds and penalties."""
        source = source_of(X)
        self._flat_target = source.flat_target(None)
        data = open_rows(self, source)
        landmarks = self._sampled(data)
        R = landmarks.root.shape[1]
        afford(2.0 * n_folds * R**2, f"the moments of {R} landmarks by fold", "use fewer landmarks or folds.")
        model = LandmarkRidge(
            landmarks, LinearModel(np.zeros((1, R)), np.zeros(1), self.alpha, fit_intercept=False)
        )
        sums = data.fold(LandmarkRidge.summarize_folds, model, n_folds, division)
        return LandmarkFolds(self, model, sums)

    def _solved(self, model: Any, s: Moments) -> LandmarkRidge:
        """The model of landmarks with this penalty."""
        return model.replace(linear=model.linear.replace(alpha=self.alpha)).estimate(s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        functions = model if isinstance(model, KernelFunctions) else model.functions
        coef = functions.coef[:, 0] if self._flat_target else functions.coef
        return {"X_fit_": functions.columns.points, "dual_coef_": coef}

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        model = self.model_ if isinstance(self.model_, KernelFunctions) else self.model_.functions
        out = map_rows(model.predict, read_rows(self, X))
        return out[:, 0] if self._flat_target else out


class LandmarkFolds:
    """Fits to all folds but one, each with any penalty, from the moments of the folds: see `GridSearch`."""

    def __init__(self, estimator: KernelRidge, model: LandmarkRidge, sums: FoldMoments) -> None:
        self.estimator, self.model, self.total = estimator, model, tree_sum(sums.present)
        own = np.eye(len(sums.folds), dtype=bool)
        of_features = FoldMoments(tuple(model.of_features(s) for s in sums.folds))
        self.trained, self.tested = of_features.splits(~own, own)

    def score(self, values: dict[str, Any], fold: int) -> float:
        """R^2 on the fold that is left out."""
        linear = self.model.linear.replace(**values).estimate(self.trained[fold])
        return r2_of_moments(linear, self.tested[fold])

    def fitted(self, values: dict[str, Any]) -> KernelRidge:
        """The fit to all rows."""
        out = copy(self.estimator).set_params(**values)
        return out._publish(Progress(out._solved(self.model, self.total), statistics=self.total))


def _target_moments(block: Rows) -> Moments:
    return moments(targets_of(block), block.weight)
