"""The perceptron. Li ch. 2.

Rosenblatt, "The perceptron", 1958. The mean of its weights: Freund and Schapire, "Large margin classification
using the perceptron algorithm", 1999.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..estimator.guarantees import DRAWS_ORDER, Guarantee
from ..estimator.parameters import NON_NEGATIVE, SHARE, Interval, StrOptions
from .perceptron_base import Hyperplanes, OnlinePerceptron
from .perceptron_epochs import Epochs, Form
from .sgd import GradientEpochs, SGDClassifier

STATE = ("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_", "_epochs")


class Perceptron(OnlinePerceptron):
    r"""Linear perceptron classifier.

    The parameters are those of scikit-learn's class, and `average` as in :class:`SGDClassifier`.

    Parameters
    ----------
    penalty : {'l2', 'l1', 'elasticnet'} or None, default=None
        The penalty. With one, or with `early_stopping`, the fit is that of ``SGDClassifier(loss="perceptron",
        learning_rate="constant")``, and does not count mistakes.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of the l1 penalty if `penalty` is 'elasticnet'.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the hyperplanes pass through the origin.
    max_iter : int, default=1000
        Maximum number of epochs. The fit stops after an epoch without a mistake.
    tol : float or None, default=0.001
        Stopping criterion. The fit stops when the mean loss of an epoch is greater than best_loss - tol for
        `n_iter_no_change` consecutive epochs. If None, the loss is not compared.
    shuffle : bool, default=True
        Whether to shuffle the rows in each epoch. They are sorted by hashes of their values, so that the
        order in the data does not matter. If False, they are visited in the order of the data.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    eta0 : float, default=1.0
        Step size. With weights that start at zero it only scales them.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    early_stopping : bool, default=False
        Whether to hold out a fraction of the rows and stop when the accuracy on them does not improve by
        `tol`. :class:`PocketPerceptron` keeps the best weights.
    validation_fraction : float, default=0.1
        Fraction of the rows that is held out.
    n_iter_no_change : int, default=5
        Number of consecutive epochs without a better loss after which the fit stops.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied. A weight of 2.8 is two visits
        and one with a step of 0.8.
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit instead of zero.
    average : bool, default=False
        Whether to predict with the mean of the weights over all visits, instead of the last weights.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features; one row for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; one for two classes.
    mistakes_ : ndarray of shape (n_classes,)
        Number of updates; one entry for two classes. Only without `penalty` and `early_stopping`, as
        `mistake_bound_` and `separated_`.
    mistake_bound_ : ndarray of shape (n_classes,)
        Novikoff's bound on the number of updates, from the last weights. It is infinite if they do not
        separate the classes, or if the weights did not start at zero. See
        :func:`~suffice.textbook.novikoff_bound` for the best bound.
    t_ : float
        Number of visits to rows, plus one.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray of shape (n_iter_,)
        Share of the visits that caused an update, by epoch; the mean over the classes.
    converged_ : bool
        Whether the fit stopped before `max_iter`: after an epoch without a mistake, or because of `tol`.
    separated_ : ndarray of shape (n_classes,)
        Whether the last weights separate each class from the rest; one entry for two classes.
    stopped_because_ : str
        Why the fit stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Hyperplanes
        The fitted model.
    statistics_ : Objective
        The perceptron loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    VotedPerceptron : Predict by the vote of all weights.
    PocketPerceptron : Predict with the weights that classify most rows correctly.
    MarginPerceptron : Update at rows within a margin, too.
    KernelPerceptron : The perceptron in dual form, with any kernel.
    LogisticRegression : Probabilities; the data may be anywhere.
    suffice.sequence.StructuredPerceptron : Labels of sequences.
    suffice.textbook.novikoff_bound : The largest number of mistakes.

    Notes
    -----
    The rows are visited one by one. Where the score of a row :math:`x` of class :math:`y = \pm 1` is on the
    wrong side of the hyperplane or on it, the row is added to the weights:

    .. math::

        y (w^T x + b) \le 0 \quad\Rightarrow\quad w \leftarrow w + \eta y x, \quad b \leftarrow b + \eta y.

    If a hyperplane separates the classes with margin :math:`\gamma`, and no row is longer than :math:`R`,
    there are at most :math:`(R / \gamma)^2` updates (Novikoff). If none does, the last weights depend on the
    last mistakes, and ``average=True`` is the better choice: it predicts with :math:`\frac{1}{T} \sum_{t=1}^T
    w_t`, where :math:`w_t` are the weights after visit :math:`t`.

    A score of zero is a mistake during the fit, and the positive class in `predict`.

    Several classes are separated each from the rest. The result depends on the order of the visits, so the
    rows of a scan or a cluster are gathered in memory. For data that does not fit, use
    :class:`LogisticRegression`.

    References
    ----------
    Rosenblatt, "The perceptron: a probabilistic model for information storage and organization in the brain",
    1958.

    Novikoff, "On convergence proofs for perceptrons", 1963.

    Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999.

    Examples
    --------
    >>> from suffice.linear_model import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 3], [4, 3], [1, 1]], [1, 1, -1])
    >>> model.coef_, model.intercept_, model.mistakes_
    (array([[1., 1.]]), array([-3.]), array([7.]))
    >>> model.mistake_bound_.round()
    array([286.])
    """

    exempt = (DRAWS_ORDER,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OnlinePerceptron._parameter_constraints,
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [NON_NEGATIVE],
        "l1_ratio": [SHARE],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "average": ["boolean"],
    }

    def __init__(
        self,
        *,
        penalty: Any = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        average: bool = False,
        checkpoint: MaybePath = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.checkpoint = checkpoint

    def _guarantee(self) -> Guarantee:
        return Guarantee("approximate") if self._descends else super()._guarantee()

    @property
    def _descends(self) -> bool:
        """Whether to fit as `SGDClassifier` does: the perceptron itself has no penalty."""
        return self.penalty is not None or self.early_stopping

    def _descent(self) -> SGDClassifier:
        """The same steps as stochastic gradient descent, from the weights of the previous fit."""
        descent = SGDClassifier("perceptron", learning_rate="constant", **self.get_params(deep=False))
        fitted = {name: value for name, value in vars(self).items() if name in STATE}
        if not isinstance(fitted.get("_epochs"), GradientEpochs):  # of a fit without a penalty
            fitted.pop("_epochs", None)
        descent.__dict__.update(fitted)
        return descent

    def _take(self, descent: SGDClassifier) -> Self:
        for name in ("mistakes_", "mistake_bound_", "separated_"):
            self.__dict__.pop(name, None)  # of a fit without a penalty
        fitted = {name: value for name, value in vars(descent).items() if name.endswith("_")}
        at = descent.model_
        model = Hyperplanes(at.theta, at.classes, at.class_weight, at.fit_intercept)
        self.__dict__.update(fitted, _epochs=descent._epochs, model_=model)
        return self

    def _fit_to(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, **more: Any) -> Self:
        if not self._descends:
            return super()._fit_to(X, y, sample_weight, **more)
        return self._take(self._descent().fit(X, y, sample_weight=sample_weight, **more))

    def partial_fit(
        self, X: Any, y: MaybeArray = None, classes: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        if not self._descends:
            if isinstance(getattr(self, "_epochs", None), GradientEpochs):  # of a fit with a penalty
                del self._epochs
            return super().partial_fit(X, y, classes, sample_weight)
        return self._take(self._descent().partial_fit(X, y, classes, sample_weight))

    def _initial(self, start: Hyperplanes, coef: Any, intercept: Any) -> np.ndarray | None:
        self._check_same_targets(start.classes)
        if coef is None and intercept is None and self._continues_fit():
            return self.model_.theta
        return super()._initial(start, coef, intercept)

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "model_")

    def _weights(self, form: Form, epochs: Epochs) -> np.ndarray:
        return form.mean(epochs) if self.average else epochs.W
