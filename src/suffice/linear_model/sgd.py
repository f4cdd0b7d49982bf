"""Linear models by stochastic gradient descent: each step uses the gradient of one row.

Robbins and Monro, "A stochastic approximation method", 1951; Bottou, "Large-scale machine learning with
stochastic gradient descent", 2010. Means of weights: Polyak and Juditsky, "Acceleration of stochastic
approximation by averaging", 1992. Passive-aggressive steps: Crammer et al., "Online passive-aggressive
algorithms", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows, entries_of
from ..core.callers import warn
from ..core.hashing import is_drawn
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.shapes import must
from ..estimator.answers import row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, FINITE, NON_NEGATIVE, POSITIVE, SHARE, Interval, StrOptions
from ..estimator.scores import Classifier, Regressor, residuals
from ..estimator.tags import tags
from ..fitting import LinearScore
from ..inputs import read_rows
from ..loops.sgd import LOSSES, RATES, Rule, epoch, losses, sparse_epoch
from ..statistics import Objective, class_codes, class_weights, classes_of
from .initial_weights import FromInitialWeights, initial_weights, online_classes
from .perceptron_epochs import signs
from .precision import SparseCoefficients, line

# Factor of the step of the intercept, as every sparse row has an intercept but few of the other columns.
OF_SPARSE_INTERCEPT = 0.01
DIVERGED = 100.0  # the fit has diverged if the loss exceeds this multiple of the loss before the first step
LEAST_RATE = 1e-6  # step size below which 'adaptive' does not decrease further


@dataclass(frozen=True, eq=False)
class LinearLoss(LinearScore):
    """Scores coef x + intercept, and a loss of each. Each class is scored against the rest; two classes
    have one score, of the second. The statistics are the loss and its gradient, without the penalty."""

    theta: Annotated[np.ndarray, "(P, M)"]  # coefficients, the intercept last
    loss: str  # type: ignore[assignment]
    epsilon: float
    fit_intercept: bool = True
    classes: Annotated[Any, "labels (K,) or None"] = None  # None for targets that are numbers
    class_weight: Annotated[Any, "(K,) or None"] = None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        K, P, sizes["D"] = sizes.get("K", 1), sizes["P"], sizes["M"] - 1
        must((1 if K <= 2 else K) == P, f"There are {P} scores for {K} classes.")

    def targets(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The target of each score (N, P), and the weights of the rows."""
        if self.classes is None:
            y = np.ascontiguousarray(block.y, dtype=np.float64)
            return y[:, None], np.ascontiguousarray(block.weight)
        codes = class_codes(self.classes, block.y)
        return signs(codes, len(self.theta)), block.weight * self.class_weight[codes]

    def summarize(self, block: Rows) -> Objective:
        (Y, weight), scores = self.targets(block), self.scores(block.X)
        slope = np.empty_like(scores)
        loss = losses(LOSSES.index(self.loss), self.epsilon, Y, scores, weight, slope)
        return Objective(float(weight.sum()), loss, self.gradient(block.X, slope))


@dataclass(frozen=True, eq=False)
class GradientEpochs(Progress):
    """The model that predicts, and the current weights of P problems. `numbers` are the state of the loop:
    the intercept, its sum over the visits, visits plus one, the l1 penalty still to be applied, the step
    size."""

    model: Annotated[LinearLoss, "P, D"]
    w: Annotated[Any, "float (P, D) or None"] = None
    total: Annotated[Any, "float (P, D) or None"] = None  # the sum of the weights over the visits
    paid: Annotated[Any, "float (P, D) or None"] = None  # the l1 penalty that each weight has paid
    numbers: Annotated[Any, "float (P, 5) or None"] = None
    best: Annotated[Any, "(P,) or None"] = None  # the least objective, or the largest score
    stuck: Annotated[Any, "(P,) or None"] = None  # epochs in a row that were not better
    active: Annotated[Any, "bool (P,) or None"] = None
    seed: int = 0
    first: float = np.inf  # the mean loss before the first step


def is_held_out(block: Rows, fraction: float, seed: int) -> np.ndarray:
    """The rows for validation, by hashes of their values: the same in each epoch, wherever they are."""
    return is_drawn(block, fraction, Purpose.VALIDATION, seed)


def _right(model: LinearLoss, fraction: float, seed: int, block: Rows) -> np.ndarray:
    """Weight of the rows for validation that each score puts on the right side, and their total weight."""
    block = block[np.flatnonzero(is_held_out(block, fraction, seed))]
    right = (model.scores(block.X) > 0) == (signs(class_codes(model.classes, block.y), len(model.theta)) > 0)
    return np.append(block.weight @ right, block.weight.sum())


def _residuals(model: LinearLoss, fraction: float, seed: int, block: Rows) -> Any:
    block = block[np.flatnonzero(is_held_out(block, fraction, seed))]
    return residuals(None, block.replace(X=model.scores(block.X)))


class StochasticGradient(SparseCoefficients, FromInitialWeights):
    """The loop over epochs."""

    model_: Annotated[LinearLoss, "P, D"]
    _epochs: GradientEpochs
    preserves_dtype = ("coef_", "intercept_")
    loss: str
    penalty: Any
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    verbose: int
    epsilon: float
    random_state: Any
    learning_rate: str
    eta0: float
    power_t: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    warm_start: bool
    average: Any
    checkpoint: Any

    passive_loss: ClassVar[str]  # of passive-aggressive steps
    max_iter_advice = (
        "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the "
        "fit."
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [NON_NEGATIVE],
        "l1_ratio": [SHARE, None],
        "tol": [NON_NEGATIVE, None],
        "epsilon": [NON_NEGATIVE],
        "learning_rate": [StrOptions(set(RATES))],
        "eta0": [POSITIVE],
        "power_t": [FINITE],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [AT_LEAST_1],
        "average": [Interval(Integral, 0, None, closed="neither"), "boolean"],
    }
    __sklearn_tags__ = tags(sparse=True)
    _guarantee = Guarantee.always("approximate")

    def _zero(self, data: Partitions, classes: Any = None) -> LinearLoss:
        """The model whose weights are zero."""
        raise NotImplementedError

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "coef_")

    def _block_rows(self, block: Rows) -> float | None:
        """Rows in memory are one block, whose rows are shuffled together."""
        return float(max(1, len(block)))

    def _check_options(self) -> None:
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ValueError(
                "alpha must be > 0 since learning_rate is 'optimal'. alpha is used to compute the optimal "
                "learning rate."
            )
        if self.learning_rate in ("pa1", "pa2") and self.loss != self.passive_loss:
            raise ValueError(
                f"Learning rate '{self.learning_rate}' only works with loss '{self.passive_loss}'."
            )
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")
        if self.power_t < 0:
            warn(
                "Negative values for `power_t` are deprecated in version 1.8 and will raise an error in "
                "1.10. Use values in the range [0.0, inf) instead.",
                FutureWarning,
            )

    def _solve(self, data: Partitions, coef_init: Any = None, intercept_init: Any = None) -> Progress:
        zero = self._zero(data)
        coef, intercept = coef_init, intercept_init
        if self._continues_fit():
            self._check_same_targets(zero.classes)
            self.densify()
            coef = self.coef_ if coef is None else coef
            intercept = self.intercept_ if intercept is None else intercept
        start = self._first(zero.replace(theta=initial_weights(zero.theta, coef, intercept)))
        watch = Watch(self, self.checkpoint, data, report=self._report, in_order=True).limited(self.max_iter)
        progress = watch.loop(lambda before: self._epoch(data, before), start)
        s = data.fold(LinearLoss.summarize, progress.model)
        if s.loss / s.weight > DIVERGED * progress.first > 0.0:
            progress = progress.replace(stopped_because="divergence")
        return progress.replace(statistics=s)

    def _update(
        self, X: Any, y: MaybeArray, sample_weight: MaybeArray, before: Any, classes: MaybeArray = None
    ) -> Self:
        """One epoch of `partial_fit`, from the state `before`, or from zero weights if it is None."""
        self._check_options()
        if self.early_stopping:
            raise ValueError("early_stopping should be False with partial_fit")
        data = self._opened(X, y, sample_weight, reset=before is None)
        zero = self._zero(data, classes)
        if before is None:
            before = self._first(zero)
        again = self._first(before.model.replace(class_weight=zero.class_weight), before)
        after = self._epoch(data, again).replace(stopped_because="partial_fit")
        return self._publish(after.replace(statistics=data.fold(LinearLoss.summarize, after.model)))

    def _first(self, model: LinearLoss, before: GradientEpochs | None = None) -> GradientEpochs:
        """The state before the first epoch; or that after others, which paid their own l1 penalty."""
        P, w = len(model.theta), np.ascontiguousarray(model.theta[:, :-1])
        numbers, total = np.zeros((P, 5)), np.zeros_like(w)
        numbers[:, 0], numbers[:, 2], numbers[:, 4] = model.theta[:, -1], 1.0, self.eta0
        if before is not None:
            w, total, numbers[:, :3] = before.w, before.total, before.numbers[:, :3]
        return GradientEpochs(
            model,
            w=w,
            total=total,
            paid=np.zeros_like(w),
            numbers=numbers,
            best=np.full(P, np.inf),
            stuck=np.zeros(P),
            active=np.ones(P, bool),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
        )

    def _rule(self) -> Rule:
        l1_ratio = {"l1": 1.0, "elasticnet": self.l1_ratio}.get(self.penalty, 0.0)
        strength = 0.0 if self.penalty is None else self.alpha
        before = np.sqrt(np.sqrt(self.alpha)) / self.alpha if self.learning_rate == "optimal" else 0.0
        return Rule(
            LOSSES.index(self.loss),
            float(self.epsilon),
            float(self.alpha),
            float((1.0 - l1_ratio) * strength),
            float(l1_ratio * strength),
            RATES.index(self.learning_rate),
            float(self.eta0),
            float(self.power_t),
            float(before),
            float(self.fit_intercept),
            float(self.average),
        )

    def _epoch(self, data: Partitions, before: GradientEpochs) -> GradientEpochs:
        """Visit all rows once, block by block."""
        model, P, rule = before.model, len(before.w), self._rule()
        w, total, paid = before.w.copy(), before.total.copy(), before.paid.copy()
        numbers, loss, weights, first = before.numbers.copy(), np.zeros(P), 0.0, np.zeros(2)
        for block in data.batches():
            (Y, weight), X = model.targets(block), block.X
            takes_part = weight > 0
            if self.early_stopping:
                takes_part &= ~is_held_out(block, self.validation_fraction, before.seed)
            (order,) = takes_part.nonzero()
            if self.shuffle:
                order = generator(Purpose.ORDER, before.seed, before.n_iter, *block.index).permutation(order)
            dtype = np.float32 if X.dtype == np.float32 else np.float64
            steps: Any
            rows: Any
            if sp.issparse(X):
                steps, rows = sparse_epoch, list(entries_of(X, dtype))
                block_rule = rule._replace(of_intercept=OF_SPARSE_INTERCEPT * rule.of_intercept)
            else:
                steps, rows, block_rule = epoch, [np.ascontiguousarray(X, dtype)], rule
            weights += weight[order].sum()
            if not before.n_iter:
                s = model.summarize(block)
                first += s.loss, s.weight
            for k in np.flatnonzero(before.active):
                targets, state = np.ascontiguousarray(Y[:, k]), (w[k], total[k], paid[k], numbers[k])
                loss[k] += steps(*rows, targets, weight, order, block_rule, *state)
        must_have_rows(weights)
        if not (np.isfinite(w).all() and np.isfinite(numbers).all() and np.isfinite(loss).all()):
            raise ValueError(
                f"Floating-point under-/overflow occurred at epoch #{before.n_iter + 1}. Scaling input data "
                "with StandardScaler or MinMaxScaler might help, so that the columns of X have one scale, or "
                "a smaller eta0."
            )
        after = before.replace(w=w, total=total, paid=paid, numbers=numbers)
        if not before.n_iter:
            after = after.replace(first=float(first[0] / first[1]))
        after = after.replace(
            model=self._improved(after), trace=(*before.trace, float(loss.mean() / weights))
        )
        penalty = rule.l2 / 2.0 * (w**2).sum(axis=1) + rule.l1 * np.abs(w).sum(axis=1)
        return self._judged(after, data, loss / weights + penalty)

    def _improved(self, state: GradientEpochs) -> LinearLoss:
        """The model with the last weights, or with their mean."""
        n = state.numbers[:, 2] - max(1.0, float(self.average))  # visits that are averaged
        mean = (n >= 1.0) & bool(self.average)
        n = np.where(mean, n, 1.0)
        last = np.column_stack([state.w, state.numbers[:, 0]])
        means = np.column_stack([state.total, state.numbers[:, 1]]) / n[:, None]
        return state.model.replace(theta=np.where(mean[:, None], means, last))

    def _judged(self, state: GradientEpochs, data: Partitions, objective: np.ndarray) -> GradientEpochs:
        """The state after an epoch, in which problems that no longer improve are not active."""
        if self.early_stopping:
            last = state.model.replace(theta=np.column_stack([state.w, state.numbers[:, 0]]))
            objective = -self._validation_scores(data, last, state.seed)
        worse = np.zeros(len(objective), bool) if self.tol is None else objective > state.best - self.tol
        stuck = np.where(state.active & worse, state.stuck + 1, 0)
        numbers, done = state.numbers.copy(), stuck >= self.n_iter_no_change
        if self.learning_rate == "adaptive":
            slower = done & (numbers[:, 4] > LEAST_RATE)
            numbers[slower, 4] /= 5.0
            stuck, done = np.where(slower, 0, stuck), done & ~slower
        active = state.active & ~done
        return state.replace(
            numbers=numbers,
            best=np.minimum(state.best, objective),
            stuck=stuck,
            active=active,
            stopped_because="" if active.any() else "tolerance",
        )

    def _validation_scores(self, data: Partitions, model: LinearLoss, seed: int) -> np.ndarray:
        """Accuracy of each score on the rows for validation, or R^2."""
        raise NotImplementedError

    def _must_be_split(self, rows: float) -> None:
        if not rows:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} leaves no row of positive weight for "
                "validation: change validation_fraction or random_state, or disable early_stopping."
            )

    def _report(self, state: GradientEpochs) -> None:
        if self.verbose:
            print(f"-- Epoch {state.n_iter}")
            for w, numbers in zip(state.w, state.numbers, strict=True):
                print(
                    f"Norm: {np.linalg.norm(w):.2f}, NNZs: {np.count_nonzero(w)}, Bias: {numbers[0]:.6f}, "
                    f"T: {numbers[2] - 1:.0f}, Avg. loss: {state.trace[-1]:f}"
                )

    def _unconverged(self, progress: Progress) -> str:
        all_were_wanted = self.tol is None and progress.stopped_because == "max_iter"
        return "" if all_were_wanted else super()._unconverged(progress)

    def _fitted(self, progress: GradientEpochs) -> dict[str, Any]:  # type: ignore[override]
        return {
            "coef_": np.ascontiguousarray(progress.model.theta[:, :-1]),
            "intercept_": progress.model.theta[:, -1].copy(),
            "t_": float(progress.numbers[:, 2].max()),
            "_epochs": progress.replace(statistics=None),  # from which `partial_fit` goes on
        }


def _has_probabilities(estimator: BaseEstimator) -> bool:
    """An `available_if` of scikit-learn."""
    if estimator.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"probability estimates are not available for loss={estimator.loss!r}")
    return True


class SGDClassifier(Classifier, StochasticGradient):
    """Linear classifiers (SVM, logistic regression, perceptron) by stochastic gradient descent.

    The parameters are those of scikit-learn's class. Rows in memory are visited in a random order. Those of a
    scan or a cluster are read block by block, in a random order within each block, so that data larger than
    memory is fitted too.

    Parameters
    ----------
    loss : {'hinge', 'log_loss', 'modified_huber', 'squared_hinge', 'perceptron', 'squared_error', 'huber', \
'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='hinge'
        Loss function. 'hinge' is the linear support vector machine, 'log_loss' logistic regression. The last
        four are losses of regression, to targets of 1 and -1.
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
        Penalty.
    alpha : float, default=0.0001
        Strength of the penalty. The learning rate 'optimal' depends on it too.
    l1_ratio : float, default=0.15
        Share of the l1 penalty for 'elasticnet'.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalized. In sparse rows, the steps of the intercept are a
        hundredth of the others.
    max_iter : int, default=1000
        Maximum number of epochs, each of which visits all rows.
    tol : float or None, default=0.001
        Stopping criterion. A classifier is fitted when its objective, the mean loss plus the penalty, was
        greater than the best one minus `tol` for `n_iter_no_change` epochs in a row. If None, all epochs are
        made.
    shuffle : bool, default=True
        Whether to visit the rows of each block in a random order.
    verbose : int, default=0
        Whether to print a line after each epoch.
    epsilon : float, default=0.1
        Threshold of the losses 'huber', 'epsilon_insensitive' and 'squared_epsilon_insensitive'.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    random_state : int, RandomState instance or None, default=None
        Seed of the order, and of the rows for validation.
    learning_rate : {'constant', 'optimal', 'invscaling', 'adaptive', 'pa1', 'pa2'}, default='optimal'
        Step size at visit t: `eta0`; ``1 / (alpha * (t + t0))`` with Bottou's t0; ``eta0 / t**power_t``;
        `eta0`, divided by five whenever the fit would stop; or that of passive-aggressive algorithms with
        ``C=eta0``, for loss 'hinge'.
    eta0 : float, default=0.01
        Initial step size.
    power_t : float, default=0.5
        Exponent of 'invscaling'.
    early_stopping : bool, default=False
        Whether to hold out a fraction of the rows and stop when the accuracy on them does not improve by
        `tol`. The rows are drawn by hashes of their values.
    validation_fraction : float, default=0.1
        Fraction of the rows that is held out.
    n_iter_no_change : int, default=5
        Number of epochs without improvement after which the fit stops.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied.
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit instead of zero.
    average : bool or int, default=False
        Whether to predict with the mean of the weights over all visits; a number starts the mean at that
        visit.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    n_iter_ : int
        Number of epochs.
    t_ : float
        Number of visits to rows, plus one.
    trace_ : ndarray of shape (n_iter_,)
        Mean loss of the visits, by epoch.
    converged_ : bool
        Whether the fit stopped because of `tol`.
    stopped_because_ : str
        Reason why the fit stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LinearLoss
        The fitted model.
    statistics_ : Objective
        The loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    LogisticRegression : The same probabilities at the exact optimum, which does not depend on the order.
    Perceptron : Stops when there is no mistake, and bounds the number of mistakes.

    Notes
    -----
    A step at row x of class :math:`y = \\pm 1` decreases its loss and the penalty:

    .. math::

        w \\leftarrow w - \\eta_t \\left( s\\, \\nabla_w L(y, w^T x + b) + \\alpha \\nabla_w R(w) \\right),

    where s is the weight of the row. Several classes are separated each from the rest. The result depends on
    the order and on the blocks. A row of weight 2 takes one step that is twice as long, and not two steps.

    References
    ----------
    * Bottou (2010), "Large-scale machine learning with stochastic gradient descent", COMPSTAT.
    * Tsuruoka, Tsujii and Ananiadou (2009), "Stochastic gradient descent training for l1-regularized
      log-linear models with cumulative penalty", ACL.
    * Crammer et al. (2006), "Online passive-aggressive algorithms", JMLR 7.

    Examples
    --------
    >>> from suffice.linear_model import SGDClassifier
    >>> X = [[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]]
    >>> model = SGDClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-0.8, -1.0], [0.5, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    exempt = (Exempt("shift", "Its steps are too long there: tests/linear_model/test_sgd.py."),)

    model_: Annotated[LinearLoss, "K, P, D"]
    passive_loss = "hinge"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **StochasticGradient._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: Any = "l2",
        alpha: float = 0.0001,
        l1_ratio: Any = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Seed = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        average: Any = False,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.checkpoint = checkpoint

    def partial_fit(
        self, X: Any, y: MaybeArray = None, classes: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Perform one epoch over these rows, from the weights of the last one.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows.
        y : array of shape (n_samples,), optional
            Labels. Leave out if a column of the table holds them.
        classes : array of shape (n_classes,), optional
            Classes across all calls to partial_fit. Later calls may leave it out.
        sample_weight : array, optional
            Per-sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        before = getattr(self, "_epochs", None)
        known = online_classes(self.class_weight, classes, None if before is None else before.model.classes)
        return self._update(X, y, sample_weight, before, known)

    def _zero(self, data: Partitions, classes: Any = None) -> LinearLoss:
        classes = classes_of(data) if classes is None else classes
        P = 1 if len(classes) == 2 else len(classes)
        options = self.loss, float(self.epsilon), self.fit_intercept
        weights = class_weights(self.class_weight, data, classes)
        return LinearLoss(np.zeros((P, self.n_features_in_ + 1)), *options, classes, weights)

    def _validation_scores(self, data: Partitions, model: LinearLoss, seed: int) -> np.ndarray:
        *right, weight = data.fold(_right, model, self.validation_fraction, seed)
        self._must_be_split(weight)
        return np.array(right) / weight

    def _fitted(self, progress: GradientEpochs) -> dict[str, Any]:  # type: ignore[override]
        return {"classes_": progress.model.classes, **super()._fitted(progress)}

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, each against the rest; for two classes, of the second against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = line(self, read_rows(self, X), X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each row and class, for the losses 'log_loss' and 'modified_huber'.

        Each class has a probability against the rest; these are divided by their sum. For 'modified_huber',
        a probability is (min(max(score, -1), 1) + 1) / 2 (Zhang, "Statistical behavior and consistency of
        classification methods based on convex risk minimization", 2004).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self.decision_function(X)
        share = expit(scores) if self.loss == "log_loss" else (np.clip(scores, -1.0, 1.0) + 1.0) / 2.0
        if share.ndim == 1:
            return np.column_stack([1.0 - share, share])
        share[~share.any(axis=1)] = 1.0
        return share / share.sum(axis=1, keepdims=True)

    @available_if(_has_probabilities)
    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class SGDRegressor(Regressor, StochasticGradient):
    """Linear regression by stochastic gradient descent.

    The parameters are those of scikit-learn's class. Rows in memory are visited in a random order. Those of a
    scan or a cluster are read block by block, in a random order within each block, so that data larger than
    memory is fitted too.

    Parameters
    ----------
    loss : {'squared_error', 'huber', 'epsilon_insensitive', 'squared_epsilon_insensitive'}, \
default='squared_error'
        Loss function. 'huber' is linear beyond `epsilon`, the others ignore residuals within it.
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
        Penalty.
    alpha : float, default=0.0001
        Strength of the penalty. The learning rate 'optimal' depends on it too.
    l1_ratio : float, default=0.15
        Share of the l1 penalty for 'elasticnet'.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalized. In sparse rows, the steps of the intercept are a
        hundredth of the others.
    max_iter : int, default=1000
        Maximum number of epochs, each of which visits all rows.
    tol : float or None, default=0.001
        Stopping criterion. The fit stops when its objective, the mean loss plus the penalty, was greater than
        the best one minus `tol` for `n_iter_no_change` epochs in a row. If None, all epochs are made.
    shuffle : bool, default=True
        Whether to visit the rows of each block in a random order.
    verbose : int, default=0
        Whether to print a line after each epoch.
    epsilon : float, default=0.1
        Threshold of the losses other than 'squared_error'.
    random_state : int, RandomState instance or None, default=None
        Seed of the order, and of the rows for validation.
    learning_rate : {'constant', 'optimal', 'invscaling', 'adaptive', 'pa1', 'pa2'}, default='invscaling'
        Step size at visit t: `eta0`; ``1 / (alpha * (t + t0))`` with Bottou's t0; ``eta0 / t**power_t``;
        `eta0`, divided by five whenever the fit would stop; or that of passive-aggressive algorithms with
        ``C=eta0``, for loss 'epsilon_insensitive'.
    eta0 : float, default=0.01
        Initial step size.
    power_t : float, default=0.25
        Exponent of 'invscaling'.
    early_stopping : bool, default=False
        Whether to hold out a fraction of the rows and stop when R^2 on them does not improve by `tol`. The
        rows are drawn by hashes of their values.
    validation_fraction : float, default=0.1
        Fraction of the rows that is held out.
    n_iter_no_change : int, default=5
        Number of epochs without improvement after which the fit stops.
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit instead of zero.
    average : bool or int, default=False
        Whether to predict with the mean of the weights over all visits; a number starts the mean at that
        visit.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_iter_ : int
        Number of epochs.
    t_ : float
        Number of visits to rows, plus one.
    trace_ : ndarray of shape (n_iter_,)
        Mean loss of the visits, by epoch.
    converged_ : bool
        Whether the fit stopped because of `tol`.
    stopped_because_ : str
        Reason why the fit stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LinearLoss
        The fitted model.
    statistics_ : Objective
        The loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    Ridge : The exact optimum for squared errors, in one pass over the data.
    HuberRegressor : The exact optimum for Huber's loss.

    Notes
    -----
    A step at row x with target y decreases its loss and the penalty:

    .. math::

        w \\leftarrow w - \\eta_t \\left( s\\, \\nabla_w L(y, w^T x + b) + \\alpha \\nabla_w R(w) \\right),

    where s is the weight of the row. The result depends on the order and on the blocks, and features should
    have similar scales. A row of weight 2 takes one step that is twice as long, and not two steps.

    References
    ----------
    * Bottou (2010), "Large-scale machine learning with stochastic gradient descent", COMPSTAT.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import SGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = SGDRegressor(random_state=0).fit(X, X @ [1.0, -2.0] + 3.0)
    >>> model.coef_.round(1), model.intercept_.round(1)
    (array([ 1., -2.]), array([3.]))
    """

    exempt = (Exempt("shift", "Its steps are too long there: tests/linear_model/test_sgd.py."),)

    coef_: Annotated[Any, "real (D,) or real (1, D)"]
    passive_loss = "epsilon_insensitive"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **StochasticGradient._parameter_constraints,
        "loss": [StrOptions(set(LOSSES[5:]))],
    }
    __sklearn_tags__ = tags(target_tags__required=True)

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: Any = "l2",
        alpha: float = 0.0001,
        l1_ratio: Any = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Seed = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: Any = False,
        checkpoint: MaybePath = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.checkpoint = checkpoint

    def partial_fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Perform one epoch over these rows, from the weights of the last one.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows.
        y : array of shape (n_samples,), optional
            Targets. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Per-sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._update(X, y, sample_weight, getattr(self, "_epochs", None))

    def _zero(self, data: Partitions, classes: Any = None) -> LinearLoss:
        options = self.loss, float(self.epsilon), self.fit_intercept
        return LinearLoss(np.zeros((1, self.n_features_in_ + 1)), *options)

    def _validation_scores(self, data: Partitions, model: LinearLoss, seed: int) -> np.ndarray:
        s = data.fold(_residuals, model, self.validation_fraction, seed)
        self._must_be_split(s.target.weight)
        return 1.0 - s.squares / np.maximum(s.target.scatter, np.finfo(np.float64).tiny)

    def _fitted(self, progress: GradientEpochs) -> dict[str, Any]:  # type: ignore[override]
        return {**super()._fitted(progress), "coef_": progress.model.theta[0, :-1].copy()}

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return line(self, read_rows(self, X), X)
