"""Machines that minimize a loss and the squared norm in the space of a kernel. STATS 601 4.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.kernel import KernelEstimator
from ..estimator.parameters import AT_LEAST_0, NON_NEGATIVE, POSITIVE, StrOptions
from ..estimator.scores import Classifier, Regressor
from ..fitting import LinearScore
from ..fitting.landmarks import Features, LandmarkLoss
from ..kernels.base import KernelLike
from ..linear_model.kernel_logistic import KernelLoss
from ..losses import Loss
from ..statistics import class_totals, classes_of
from .linear import Gapped, Hinged, HingeModel, HingeSearch

CLASSES = ("hinge", "logistic")  # losses of labels
HINGES = ("epsilon_insensitive", "hinge")
INSTEAD = "use fewer landmarks, or SVC."


@dataclass(frozen=True, eq=False)
class Called(Loss):
    """A loss that a function returns with its derivatives."""

    function: Callable[..., Any]
    constant = False

    def evaluate(self, y: np.ndarray, f: np.ndarray, value: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        value[:], g[:, 0], h[:, 0] = self.function(y, f[:, 0])


def squared(y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(y - f)^2, and its first and second derivative in f."""
    return (y - f) ** 2, 2.0 * (f - y), np.full_like(f, 2.0)


@dataclass(frozen=True, eq=False)
class ScoreLoss(LinearScore):
    """A smooth loss of the score f(x) = coef x + intercept for a target."""

    theta: Annotated[np.ndarray, "(1, M)"]  # the intercept last
    function: Callable[..., Any] | None  # None is the squared loss
    fit_intercept: bool = True
    curvature: bool = False  # whether to sum the Hessian
    even_curvature: ClassVar[float] = 1.0  # about

    @property
    def loss(self) -> Loss:  # type: ignore[override]
        return Called(self.function or squared)

    def targets(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        return block.y.astype(np.float64), block.weight


def _must_have_derivatives(loss: Callable[..., Any]) -> None:
    """Raise if a loss does not return three arrays, as the docstring of `KernelMachine` says."""
    out = loss(np.zeros(2), np.ones(2))
    if not isinstance(out, tuple) or [np.shape(part) for part in out] != 3 * [(2,)]:
        raise ValueError(
            "loss(y, f) must return the losses and their first and second derivatives in f, three arrays of "
            f"the shape of f; got {out!r} of two rows."
        )


def _weight(block: Rows) -> float:
    return float(block.weight.sum())


def _classifies(machine: KernelMachine) -> bool:
    return machine.loss in CLASSES


class KernelMachine(KernelLoss):
    """The function in the space of a kernel that minimizes a loss and its squared norm.

    By the representer theorem, this function is a weighted sum of kernels with the rows. Without `landmarks`,
    all rows are points of it. With `landmarks`, it is a sum of kernels with as many sampled rows, and each
    step is one pass over the rows, wherever they are. The loss decides whether it is a classifier or a
    regressor.

    Parameters
    ----------
    loss : str or callable, default='logistic'
        For labels: 'logistic', or 'hinge', which separates several classes each from the rest. For numbers:
        'squared', 'epsilon_insensitive', or a function ``loss(y, f)`` of two arrays that returns the losses
        of the scores f, and their first and second derivatives in f. It must be convex.
    C : float, default=1.0
        Weight of the loss against half the squared norm of the function. Must be positive and finite.
    epsilon : float, default=0.1
        Half the width of the tube within which errors cost nothing. Only for 'epsilon_insensitive'.
    kernel : Kernel, str or callable, default='rbf'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two arrays of rows that returns their Gram matrix, or 'precomputed' if X is that matrix. It must be
        positive definite. With a kernel of strings, :class:`~suffice.kernels.Subsequences`, X is a list of
        strings or of sequences of symbols.
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
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalized.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: with 'hinge' and 'epsilon_insensitive', the duality gap relative
        to the objective; with smooth losses, the largest component of the gradient of the mean loss.
    max_iter : int, default=100
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed of the sample.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels. Only for losses of labels.
    dual_coef_ : ndarray of shape (1, n_points) or (n_classes, n_points)
        Coefficients of the kernels with `X_fit_`. For two classes, those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    X_fit_ : ndarray of shape (n_points, n_features)
        The rows with a weight, or the landmarks. For a precomputed kernel, the numbers of its columns.
    dual_gap_ : float
        The duality gap: an upper bound on the distance of the objective from its minimum, of all classes
        together; with 'hinge', the largest of all classes.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Objective by iteration: with smooth losses, its mean per row.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LandmarkLoss
        The fitted model.
    statistics_ : Objective
        The loss at the solution and its derivatives, summed over the rows.

    See Also
    --------
    SVC : The hinge loss by its dual, whose solution has few support vectors.
    SVR : The epsilon-insensitive loss by its dual.
    suffice.kernel_ridge.KernelRidge : The squared loss without an intercept, from one sum.
    suffice.linear_model.KernelLogisticRegression : The logistic loss, with probabilities.

    Notes
    -----
    With row weights :math:`s_n` and the norm of the kernel's space, the function minimizes

    .. math::

        C ∑_n s_n L(y_n, f(x_n) + b) + \\frac{1}{2} ‖f‖^2, \\qquad f(x) = ∑_m a_m k(x, z_m).

    If all rows are points, the coefficients solve the dual problem, with the convex conjugate
    :math:`L^*(y, u) = \\sup_f (u f - L(y, f))`,

    .. math::

        \\min_a\\ C ∑_n s_n L^*(y_n, -a_n / (C s_n)) + \\frac{1}{2} a^T K a, \\qquad ∑_n a_n = 0,

    where the condition belongs to the intercept. So :math:`a_n = -C s_n L'(y_n, f(x_n) + b)` at the optimum.
    At other points, these coefficients bound the minimum from below, and half the squared norm of the
    gradient is the gap. Smooth losses are minimized by Newton's method, or by L-BFGS if there are more than
    256 coefficients; the others as in :class:`LinearSVC`.

    References
    ----------
    * Kimeldorf and Wahba (1971), "Some results on Tchebycheffian spline functions", Journal of Mathematical
      Analysis and Applications 33.
    * Schölkopf, Herbrich and Smola (2001), "A generalized representer theorem", COLT.
    * Chapelle (2007), "Training a support vector machine in the primal", Neural Computation 19.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.svm import KernelMachine
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> tube = KernelMachine("epsilon_insensitive", C=10.0, epsilon=0.05).fit(X, y)
    >>> tube.predict([[1.5]]).round(2)
    array([0.95])
    >>> def cosh(y, f):
    ...     return np.log(np.cosh(f - y)), np.tanh(f - y), np.cosh(f - y) ** -2
    >>> KernelMachine(cosh, C=10.0).fit(X, y).predict([[1.5]]).round(2)
    array([0.99])
    """

    exempt = (Exempt("rounding", "Features are eigenvectors, also of small eigenvalues."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEstimator.kernel_constraints,
        "loss": [StrOptions({"squared", *CLASSES, *HINGES}), callable],
        "C": [POSITIVE],
        "epsilon": [NON_NEGATIVE],
        "max_iter": [AT_LEAST_0],
    }

    def __init__(
        self,
        loss: Any = "logistic",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: KernelLike = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        landmarks: int | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.landmarks = landmarks
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if _classifies(self):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _solve(self, data: Partitions) -> Progress:
        if self.loss in HINGES:
            return self._hinges(data)
        if self.loss == "logistic":
            return self._with_gap(self._logistic(data))
        loss = None if self.loss == "squared" else self.loss
        if loss is not None:
            _must_have_derivatives(loss)
        landmarks, features, rows = self._rows(data)
        linear = ScoreLoss(np.zeros((1, landmarks.root.shape[1] + 1)), loss, self.fit_intercept)
        return self._with_gap(self._minimize(data, landmarks, features, linear, rows.fold(_weight)))

    def _with_gap(self, progress: Progress) -> Progress:
        """The fit with the duality gap of a smooth loss, from the gradient of the objective."""
        model: LandmarkLoss = progress.model
        R = model.landmarks.root.shape[1]
        gradient = progress.statistics.gradient.reshape(model.theta.shape)[:, :R]
        gap = 0.5 * float(((self.C * gradient + model.theta[:, :R]) ** 2).sum())
        return Gapped.after(progress, dual_gap_=gap)

    def _hinges(self, data: Partitions) -> Progress:
        landmarks, features, rows = self._rows(data)
        classes, P, at_zero = None, 1, np.inf * np.ones(1)
        total = rows.fold(_weight)
        must_have_rows(total)
        if self.loss == "hinge":
            classes = classes_of(rows)
            totals = class_totals(rows, classes)
            P = 1 if len(classes) == 2 else len(classes)
            at_zero = self.C * np.full(P, totals.sum())
        M = landmarks.root.shape[1] + self.fit_intercept
        afford(3.0 * M**2, f"the second derivatives by {M} parameters", INSTEAD)
        weights = None if classes is None else np.ones(len(classes))
        model = HingeModel(np.zeros((P, M)), classes, weights, self.fit_intercept, float(self.epsilon), False)
        ridge = np.ones(M)
        ridge[M - self.fit_intercept :] = 0.0
        over: Any = features or Features(data, landmarks)
        search = HingeSearch(over, model, float(self.C), ridge, float(self.tol))
        start = Hinged(model, **search.start(0), objectives=tuple(at_zero.tolist()))
        watch = Watch(
            self,
            self.checkpoint,
            data,
            as_model=lambda at: LandmarkLoss(landmarks, at),
            in_order=features is not None,
        )
        progress = watch.limited(self.max_iter).loop(search.step, start)
        s = over.fold(HingeModel.summarize, progress.model)
        return progress.finished(LandmarkLoss(landmarks, progress.model), s)

    classes_: Annotated[np.ndarray, "labels (K,) or None"]  # of losses for labels

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        classes = getattr(progress.model.linear, "classes", None)
        return ({} if classes is None else {"classes_": classes}) | super()._fitted(progress)

    @available_if(_classifies)
    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes. For two classes, one score: of the second against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row: the function, or the class with the largest score.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        if not _classifies(self):
            return scores[:, 0]
        best = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Accuracy, or the coefficient of determination R^2 of numbers.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Targets, or labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        """
        kind: Any = Classifier if _classifies(self) else Regressor
        return kind.score(self, X, y, sample_weight)
