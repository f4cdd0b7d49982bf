"""Forward stagewise additive modelling: f = ∑ β_m b_m(x), one term after the other. Hastie, Tibshirani and
Friedman, algorithm 10.2; Li 8.3 and 8.4."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..additive.additive_model import level_of
from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix, Rows, stack
from ..core.loop import Progress, Watch
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..core.shapes import must
from ..core.values import Value
from ..estimator.answers import nameless, row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import GATHERS_LEAVES
from ..estimator.parameters import HasMethods, Interval, StrOptions
from ..estimator.scores import Classifier, Regressor
from ..estimator.tags import tags
from ..fitting.resident import Resident
from ..inputs import answers_of, read_rows
from ..statistics import class_codes, class_counts, margin_loss, quantile_sketch
from ..tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from ..tree.model import Tree
from .weak_learners import PERSIST_ROUNDS, Boosting, OfMembers, fitted_member, rows_for, unpacked

RATIOS = 1 << 16  # number of distinct ratios up to which a median is exact
LARGEST = 1 << 20  # largest coefficient of a line search, for a loss without a minimum


@dataclass(frozen=True, eq=False)
class Staged(Rows):
    """Rows with the score of the current terms."""

    score: Annotated[Any, "(N,)"] = None

    def __getitem__(self, rows: slice | np.ndarray) -> Staged:
        part = super().__getitem__(rows)
        return Staged(part.X, part.y, part.weight, part.index, self.score[rows])

    @classmethod
    def joined(cls, blocks: Sequence[Any]) -> Staged:
        rows = stack([Rows(block.X, block.y, block.weight) for block in blocks])
        return cls(rows.X, rows.y, rows.weight, (0,), np.concatenate([block.score for block in blocks]))


def _start(classes: np.ndarray | None, rows: Rows) -> Staged:
    """A block before the first stage: targets are numbers, or -1 and 1. Rows of weight zero are dropped."""
    rows = rows if rows.weight.all() else rows[np.flatnonzero(rows.weight)]
    y = rows.y.astype(np.float64) if classes is None else 2.0 * class_codes(classes, rows.y) - 1.0
    return Staged(rows.X, y, rows.weight, rows.index, np.zeros(len(rows)))


# --- losses --------------------------------------------------------------------------------------------


class TermLoss(ABC):
    """A loss of targets y and scores f. The base learner is fitted to a working response, with weights; the
    coefficient of a term minimizes the loss."""

    labels = False  # whether the working response is the classes themselves

    @abstractmethod
    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss of each row."""

    @abstractmethod
    def response(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The working response of each row."""

    def weight(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The factor of the weight of each row."""
        return np.ones(len(y))

    @abstractmethod
    def coefficient(self, rows: Partitions, term: Term) -> float:
        """The coefficient of a term that minimizes the loss."""


class Squared(TermLoss):
    """(y - f)^2. The residual is the response, and the coefficient that of least squares."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return (y - f) ** 2

    def response(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y - f

    def coefficient(self, rows: Partitions, term: Term) -> float:
        product, square = rows.fold(_products, term)
        return float(product / square) if square > 0.0 else 0.0


class Absolute(TermLoss):
    """abs(y - f). The sign of the residual is the response, and the coefficient a weighted median of the
    ratios of residuals and terms."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.abs(y - f)

    def response(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.sign(y - f)

    def coefficient(self, rows: Partitions, term: Term) -> float:
        sketch = rows.fold(_ratios, term)
        total = np.cumsum(sketch.count[0])
        if not len(total):
            return 0.0
        middle = np.searchsorted(total, 0.5 * total[-1])
        return float(0.5 * (sketch.low[0][middle] + sketch.high[0][middle]))


class Exponential(TermLoss):
    """exp(-y f). The base learner is a classifier, whose rows have the loss as their weight: AdaBoost."""

    labels = True

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return margin_loss(y * f, "exponential")

    def response(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y

    def weight(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return self.value(y, f)

    def coefficient(self, rows: Partitions, term: Term) -> float:
        right, wrong = rows.fold(_weights_of_signs, term)
        if wrong <= 0.0:
            return 1.0  # without errors there is no optimum
        return max(0.5 * float(np.log(right / wrong)), 0.0) if right > 0.0 else 0.0


class Logistic(TermLoss):
    """log(1 + exp(-y f)). The negative gradient is the response; a line search finds the coefficient."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return margin_loss(y * f, "logistic")

    def response(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return -y * margin_loss(y * f, "logistic", derivative=True)[1]

    def coefficient(self, rows: Partitions, term: Term) -> float:
        def slope(beta: float) -> float:
            return float(rows.fold(_slope, self, term, beta)[0])

        at_zero, high = slope(0.0), 1.0
        if at_zero >= 0.0:
            return 0.0
        while slope(high) < 1e-12 * at_zero:
            if high >= LARGEST:
                return float(high)
            high *= 2.0
        return float(brentq(slope, 0.0, high, xtol=1e-14, rtol=1e-14)) if slope(high) > 0.0 else float(high)


LOSSES: dict[str, TermLoss] = {
    "squared": Squared(),
    "absolute": Absolute(),
    "exponential": Exponential(),
    "logistic": Logistic(),
}


@dataclass(frozen=True, eq=False)
class Term(Value):
    """A fitted base learner b(x). For a classifier, b(x) is -1 or 1."""

    member: Any  # a stored estimator
    classes: Annotated[Any, "labels (2,) or None"] = None  # of a classifier

    @cached_property
    def estimator(self) -> Any:
        return nameless(unpacked(self.member))

    def tree(self, beta: float) -> Tree:
        """The term as a tree, times a coefficient."""
        estimator = unpacked(self.member)
        tree = getattr(estimator, "model_", None)
        if not isinstance(tree, Tree):
            raise TypeError("The members of the ensemble are not trees: boost a tree of suffice.")
        value = tree.value
        if self.classes is not None:
            answer = estimator.classes_[value.argmax(axis=1)]
            value = 2.0 * class_codes(self.classes, answer)[:, None] - 1.0
        return tree.replace(value=beta * value)

    def __call__(self, X: Matrix) -> np.ndarray:
        if not X.shape[0]:
            return np.zeros(0)
        answer = self.estimator.predict(X)
        return answer if self.classes is None else 2.0 * class_codes(self.classes, answer) - 1.0


def _products(term: Term, block: Staged) -> np.ndarray:
    b = term(block.X)
    return np.array([block.weight.dot((block.y - block.score) * b), block.weight.dot(b * b)])


def _ratios(term: Term, block: Staged) -> Any:
    b = term(block.X)
    seen = np.flatnonzero(b)
    ratio = (block.y - block.score)[seen] / b[seen]
    return quantile_sketch(ratio[:, None], block.weight[seen] * np.abs(b[seen]), capacity=RATIOS)


def _weights_of_signs(term: Term, block: Staged) -> np.ndarray:
    weight = block.weight * margin_loss(block.y * block.score, "exponential")
    right = term(block.X) == block.y
    return np.array([weight[right].sum(), weight[~right].sum()])


def _slope(loss: TermLoss, term: Term, beta: float, block: Staged) -> np.ndarray:
    b, y = term(block.X), np.asarray(block.y)
    return np.array([-block.weight.dot(b * loss.response(y, block.score + beta * b))])


def _loss(loss: TermLoss, block: Staged) -> np.ndarray:
    return np.array([block.weight.dot(loss.value(np.asarray(block.y), block.score)), block.weight.sum()])


def _working(loss: TermLoss, scale: float, classes: Any, block: Staged) -> Rows:
    """The rows to which a base learner is fitted."""
    y = np.asarray(block.y)
    weight, response = block.weight * loss.weight(y, block.score) * scale, loss.response(y, block.score)
    target = classes[(response > 0).astype(int)] if loss.labels else response
    return Rows(block.X, target, weight, block.index)


def _stepped(terms: Sequence[Term], coefficients: Sequence[float], block: Staged) -> Staged:
    for term, beta in zip(terms, coefficients, strict=True):
        block = block.replace(score=block.score + beta * term(block.X))
    return block


# --- model and estimators ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Stagewise(Predictor):
    """The terms of an additive model, and their coefficients."""

    terms: tuple[Any, ...] = ()
    coefficient: tuple[float, ...] = ()

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(len(self.terms) == len(self.coefficient), "There are not as many terms as coefficients.")

    def first(self, n: int) -> Stagewise:
        """The first n terms."""
        return Stagewise(self.terms[:n], self.coefficient[:n])

    def staged(self, X: Matrix) -> Iterator[np.ndarray]:
        """The scores of rows after each stage."""
        score = np.zeros(X.shape[0])
        for term, beta in zip(self.terms, self.coefficient, strict=True):
            score = score + beta * term(X)
            yield score

    def score(self, X: Matrix) -> np.ndarray:
        *_, last = self.staged(X)
        return last


class ForwardStagewise(OfMembers, Boosting):
    """Base class of forward stagewise additive models."""

    model_: Stagewise
    estimator: Any
    loss: str
    learning_rate: float
    random_state: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
    }

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        labels = getattr(LOSSES.get(self.loss), "labels", False)
        return (DecisionTreeClassifier if labels else DecisionTreeRegressor)(max_depth=1)

    def _solve(self, data: Any) -> Progress:
        loss, self.estimator_ = LOSSES[self.loss], clone(self._base())
        classes = self._classes(data)
        rows = rows_for(self.estimator_, data.map(_start, classes))
        total, weight = rows.fold(_loss, loss)
        must_have_rows(weight)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_estimators)

        def scored(rows: Partitions, done: int, model: Stagewise) -> Partitions:
            return rows.map(_stepped, model.terms[done:], model.coefficient[done:])

        staged = Resident(rows, scored, PERSIST_ROUNDS)

        def step(state: Progress) -> Progress:
            model = state.model
            scored_rows = staged.at(len(model.terms), model)
            scale = weight / (state.trace[-1] * weight if state.trace else total) if loss.labels else 1.0
            part = replace(data, data=scored_rows.map(_working, loss, scale, classes))
            member = fitted_member(self.estimator_, int(seeds[state.n_iter]), part)
            term = Term(member, classes if loss.labels else None)
            beta = loss.coefficient(scored_rows, term) * self.learning_rate
            model = Stagewise((*model.terms, term), (*model.coefficient, beta))
            now = staged.at(len(model.terms), model).fold(_loss, loss)
            reason = "no better term" if beta == 0.0 or now[0] == 0.0 else ""
            return state.replace(
                model=model, trace=(*state.trace, float(now[0] / now[1])), stopped_because=reason
            )

        watch = Watch(self, self.checkpoint, data, self.n_estimators, limited_by="n_estimators", grows=True)
        return watch.loop(step, Progress(Stagewise()))

    def _check_options(self) -> None:
        base, labels = self._base(), LOSSES[self.loss].labels
        name, kind = type(base).__name__, "classifier" if labels else "regressor"
        if not (is_classifier if labels else is_regressor)(base):
            raise ValueError(f"loss={self.loss!r} takes a {kind} as estimator; got {name}.")
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(f"{name} doesn't support sample_weight.")

    def _classes(self, data: Partitions) -> np.ndarray | None:
        return None

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        weights, trace = np.array(progress.model.coefficient), np.array(progress.trace)
        return {**super()._fitted(progress), "estimator_weights_": weights, "train_score_": trace}

    @property
    def estimators_(self) -> list[Any]:
        """The fitted base learners."""
        check_is_fitted(self)
        return [unpacked(term.member) for term in self.model_.terms]

    def _score_trees(self) -> tuple[list[Tree], np.ndarray]:
        """Trees whose values add up to the score, and the constant that is added to the sum."""
        return [
            term.tree(beta) for term, beta in zip(self.model_.terms, self.model_.coefficient, strict=True)
        ], np.zeros(1)

    def _score(self, X: Any) -> np.ndarray:
        return answers_of(self, lambda rows: self.model_.score(rows), X)


class ForwardStagewiseRegressor(Regressor, ForwardStagewise):
    """Forward stagewise additive regression with any base learner, fitted where the data is.

    Each stage fits a base learner to the residuals, or to their signs, and adds it with the coefficient that
    minimizes the loss. Terms that are in the model are not changed. The model starts at zero. With trees and
    squared error, it is a boosting tree.

    Parameters
    ----------
    estimator : regressor, default=None
        What is fitted in each stage: it takes `sample_weight`. An estimator of suffice is fitted where the
        data is; for one of another library, the rows are gathered in memory. If None,
        ``DecisionTreeRegressor(max_depth=1)``.
    loss : {'squared', 'absolute'}, default='squared'
        Loss that the model minimizes: of the residual r, r² or abs(r).
    n_estimators : int, default=50
        Maximum number of stages.
    learning_rate : float, default=1.0
        Factor of the coefficient of each term.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of the base learners that take one.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    estimator_ : estimator
        The base learner.
    estimators_ : list of estimators
        The fitted base learners.
    estimator_weights_ : ndarray of shape (n_stages,)
        Coefficient of each, with the learning rate.
    train_score_ : ndarray of shape (n_stages,)
        Mean loss of the rows after each stage.
    trace_ : ndarray of shape (n_iter_,)
        The same.
    n_iter_ : int
        Number of stages.
    converged_ : bool
        Whether the fit ended before `n_estimators` because no term could lower the loss.
    stopped_because_ : str
        Why it stopped: 'n_estimators', 'no better term' or 'callback'.
    model_ : Stagewise
        The terms and their coefficients.

    See Also
    --------
    ForwardStagewiseClassifier : For two classes.
    suffice.additive.ProjectionPursuitRegressor : Smooth functions of projections, fitted jointly.

    Notes
    -----
    .. math::

        f_m(x) = f_{m-1}(x) + ν β_m b_m(x), \\qquad
        β_m = \\arg\\min_β ∑_i w_i L(y_i, f_{m-1}(x_i) + β b_m(x_i)).

    For the absolute error, the base learner is fitted to the signs of the residuals by least squares, and
    :math:`β_m` is the median of the ratios of residuals and terms, weighted by the absolute values of the
    terms. It is exact for up to 65,536 distinct ratios, and has a relative error of about 2⁻¹² for more.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), "The Elements of Statistical Learning", section 10.3.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import ForwardStagewiseRegressor
    >>> X, y = np.arange(6.0)[:, None], np.array([1.0, 1.0, 2.0, 2.0, 5.0, 5.0])
    >>> model = ForwardStagewiseRegressor(n_estimators=3).fit(X, y)
    >>> model.train_score_.round(4)
    array([0.1667, 0.0417, 0.0104])
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ForwardStagewise._parameter_constraints,
        "loss": [StrOptions({"squared", "absolute"})],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        loss: str = "squared",
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.checkpoint = checkpoint

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The sum of the terms for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._score(X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the predictions after each stage, for rows in memory."""
        return self.model_.staged(read_rows(self, X))


class ForwardStagewiseClassifier(Classifier, ForwardStagewise):
    """Forward stagewise additive model of two classes with any base learner, fitted where the data is.

    Each stage adds a base learner with the coefficient that minimizes the loss, and leaves the terms that are
    in the model as they are. With exponential loss, the base learner is a classifier and the fit is AdaBoost;
    with logistic loss, it is a regressor.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        What is fitted in each stage: a classifier for exponential loss, a regressor for logistic loss. It
        takes `sample_weight`. An estimator of suffice is fitted where the data is; for one of another
        library, the rows are gathered in memory. If None, a tree with ``max_depth=1``.
    loss : {'exponential', 'logistic'}, default='exponential'
        Loss that the model minimizes: of the margin m = y f(x), exp(-m) or log(1 + exp(-m)).
    n_estimators : int, default=50
        Maximum number of stages.
    learning_rate : float, default=1.0
        Factor of the coefficient of each term.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of the base learners that take one.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    estimator_ : estimator
        The base learner.
    estimators_ : list of estimators
        The fitted base learners.
    classes_ : ndarray of shape (2,)
        The classes, in order.
    estimator_weights_ : ndarray of shape (n_stages,)
        Coefficient of each term, with the learning rate.
    train_score_ : ndarray of shape (n_stages,)
        Mean loss of the rows after each stage.
    trace_ : ndarray of shape (n_iter_,)
        The same.
    n_iter_ : int
        Number of stages.
    converged_ : bool
        Whether the fit ended before `n_estimators` because no term could lower the loss.
    stopped_because_ : str
        Why it stopped: 'n_estimators', 'no better term' or 'callback'.
    model_ : Stagewise
        The terms and their coefficients.

    See Also
    --------
    AdaBoostClassifier : Exponential loss, with several classes and faster.
    ForwardStagewiseRegressor : For numbers.

    Notes
    -----
    With labels y of -1 and 1, the stages are

    .. math::

        f_m(x) = f_{m-1}(x) + ν β_m b_m(x), \\qquad
        β_m = \\arg\\min_β ∑_i w_i L(y_i (f_{m-1}(x_i) + β b_m(x_i))).

    Exponential loss: the weights of the rows are :math:`w_i \\exp(-y_i f_{m-1}(x_i))`, and :math:`β_m` is
    half the log-odds of being right, so half the weight of AdaBoost. A classifier without errors gets the
    coefficient 1. Logistic loss: the base learner is fitted by least squares to the negative gradient
    :math:`y_i / (1 + \\exp(y_i f_{m-1}(x_i)))`. The log-odds of the second class are 2 f for exponential
    loss, and f for logistic loss.

    References
    ----------
    * Friedman, Hastie and Tibshirani (2000), "Additive logistic regression: a statistical view of boosting",
      Annals of Statistics 28.
    * Hastie, Tibshirani and Friedman (2009), "The Elements of Statistical Learning", sections 10.3 and 10.4.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import ForwardStagewiseClassifier
    >>> X, y = np.arange(10.0)[:, None], [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    >>> model = ForwardStagewiseClassifier(n_estimators=3).fit(X, y)
    >>> model.estimator_weights_.round(4), model.score(X, y)
    (array([0.4236, 0.6496, 0.752 ]), 1.0)
    """

    exempt = (GATHERS_LEAVES,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ForwardStagewise._parameter_constraints,
        "loss": [StrOptions({"exponential", "logistic"})],
    }
    __sklearn_tags__ = tags(classifier_tags__multi_class=False)

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        loss: str = "exponential",
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _classes_of_model(self) -> int:
        return 2

    def _classes(self, data: Partitions) -> np.ndarray:
        _, self.classes_ = level_of("binomial", data.fold(class_counts))
        return self.classes_

    def _labels(self, score: np.ndarray) -> np.ndarray:
        return self.classes_[(score > 0.0).astype(int)]

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """The sum of the terms for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._score(X)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The second class where the sum of the terms is positive, else the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._labels(self._score(X))

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, from their log-odds: the sum of the terms, twice that for
        exponential loss.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        share = expit(self._score(X) * (2.0 if self.loss == "exponential" else 1.0))
        return np.stack([1.0 - share, share], axis=1)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the decision function after each stage, for rows in memory."""
        return self.model_.staged(read_rows(self, X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the predicted classes after each stage, for rows in memory."""
        return map(self._labels, self.staged_decision_function(X))
