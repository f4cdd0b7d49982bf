"""Bayes decisions: the action of minimum expected loss, given class probabilities.

Li 4.1.2. With 0-1 loss it is the most probable class. Rejection, at a cost, is one more action: Chow, "On
optimum recognition error and reject tradeoff", 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..estimator.answers import nameless, row_wise
from ..estimator.parameters import FINITE, HasMethods, Numbers, check_parameters
from ..estimator.storing import Storable
from ..inputs import open_rows, source_of


def conditional_risk(probability: Any, loss: Any = None) -> np.ndarray:
    """Expected loss of each action (conditional risk), given class probabilities.

    Parameters
    ----------
    probability : array of shape (n_samples, n_classes)
        p(class given x).
    loss : array of shape (n_classes, n_actions), optional
        ``loss[c, a]`` is the loss of action a if the true class is c. If None, 0-1 loss.

    Returns
    -------
    risk : ndarray of shape (n_samples, n_actions)

    Examples
    --------
    >>> from suffice.decision import conditional_risk
    >>> conditional_risk([[0.6, 0.4]], [[0.0, 1.0], [2.0, 0.0]])
    array([[0.8, 0.6]])
    """
    P = np.atleast_2d(np.asarray(probability, dtype=np.float64))
    return P.dot(_losses(loss, P.shape[1]))


def expected_risk(decision: Any, joint: Any, loss: Any = None) -> float:
    """Expected risk of decisions, from the joint probabilities of all cases or over examples.

    Parameters
    ----------
    decision : array of shape (n_cases,)
        Index of the action in each case.
    joint : array of shape (n_cases, n_classes) or (n_cases,)
        p(case, class), up to a factor; or the index of the true class of each case.
    loss : array of shape (n_classes, n_actions), optional
        ``loss[c, a]`` is the loss of action a if the true class is c. If None, 0-1 loss.

    Returns
    -------
    risk : float

    Examples
    --------
    >>> from suffice.decision import expected_risk
    >>> round(expected_risk([1, 0], [[0.05, 0.45], [0.3, 0.2]]), 9)
    0.25
    >>> expected_risk([1, 0, 0, 0], [1, 1, 0, 0])
    0.25
    """
    action, joint = np.asarray(decision, dtype=np.int64), np.asarray(joint)
    if joint.ndim == 1:
        K = int(joint.max(initial=0)) + 1 if loss is None else len(np.asarray(loss))
        joint = np.eye(max(K, int(action.max(initial=0)) + 1) if loss is None else K)[joint.astype(np.int64)]
    if joint.shape[0] != len(action):
        raise ValueError(
            f"There are {len(action)} decisions and {joint.shape[0]} cases: expected one for each."
        )
    cost = _losses(loss, joint.shape[1])[:, action].T
    return float((joint * cost).sum() / joint.sum())


def excess_risk_bound(probability: Any, estimate: Any, weight: Any = None, loss: Any = None) -> float:
    """Upper bound on the excess risk of decisions by estimated instead of true probabilities.

    It is the mean of ``sum_c r_c abs(p_c - q_c)``, where r_c is the largest difference of losses if c is
    true. For two classes and 0-1 loss, it is twice the mean of ``abs(p - q)``.

    Parameters
    ----------
    probability : array of shape (n_cases, n_classes)
        True p(class given case).
    estimate : array of shape (n_cases, n_classes)
        Estimated p(class given case).
    weight : array of shape (n_cases,), optional
        p(case), up to a factor. If None, uniform.
    loss : array of shape (n_classes, n_actions), optional
        ``loss[c, a]`` is the loss of action a if the true class is c. If None, 0-1 loss.

    Returns
    -------
    bound : float

    Examples
    --------
    >>> from suffice.decision import excess_risk_bound
    >>> round(excess_risk_bound([[0.1, 0.9], [0.6, 0.4]], [[0.3, 0.7], [0.4, 0.6]]), 9)
    0.4
    """
    P, Q = (np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in (probability, estimate))
    if P.shape != Q.shape:
        raise ValueError(
            f"The probabilities have shape {P.shape} and their estimate {Q.shape}: expected the same."
        )
    cost = _losses(loss, P.shape[1])
    return float(np.average(np.abs(P - Q).dot(np.ptp(cost, axis=1)), weights=weight))


def _losses(loss: Any, K: int) -> np.ndarray:
    if loss is None:
        return 1.0 - np.eye(K)
    cost = np.asarray(loss, dtype=np.float64)
    if cost.ndim != 2 or len(cost) != K or not np.isfinite(cost).all():
        raise ValueError(
            f"loss has the shape {cost.shape}, expected ({K}, n_actions) and finite: a row for each class, a "
            "column for each action."
        )
    return cost


def _answers(name: str) -> Callable[[Any], bool]:
    """Whether the classifier has the method: an `available_if` of scikit-learn."""

    def has(decision: BayesDecision) -> bool:
        getattr(getattr(decision, "estimator_", decision.estimator), name)  # or the error says what has not
        return True

    return has


class BayesDecision(Storable, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Decisions of minimum expected loss, from the probabilities of any classifier.

    It accepts the same input as the classifier: arrays, tables, scans, data on a cluster, sequences.

    Parameters
    ----------
    estimator : classifier
        Classifier with `predict_proba`, from suffice or another library. To use a fitted classifier, wrap it
        in scikit-learn's `FrozenEstimator`.
    loss : array of shape (n_classes, n_actions), default=None
        ``loss[c, a]`` is the loss of action a if the true class is c, with sorted classes. If None, 0-1 loss.
    actions : array of shape (n_actions,), default=None
        Labels that `predict` returns, one for each column of `loss`. If None, the classes.
    reject_cost : float, default=None
        Loss of the additional action of rejecting a row. With 0-1 loss, rows are rejected if the probability
        of their most probable class is below ``1 - reject_cost``. If None, no row is rejected.
    reject_label : label, default=None
        Label that `predict` returns for rejected rows. If None, -1, or 'reject' if classes are strings.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    actions_ : ndarray of shape (n_actions,)
        Labels that `predict` can return. The label of rejected rows is last.
    loss_ : ndarray of shape (n_classes, n_actions)
        The loss of each action for each true class.

    See Also
    --------
    suffice.linear_model.LogisticRegression : A classifier with probabilities.
    suffice.naive_bayes.ClassConditional : A generative classifier with probabilities.

    Notes
    -----
    The decision for a row x minimizes the expected loss

    .. math::

        a(x) = \\arg\\min_a ∑_c L(a, c)\\, p(c | x).

    References
    ----------
    * Chow (1970), "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
      Theory 16.
    * Berger (1985), Statistical Decision Theory and Bayesian Analysis, 2nd edition, Springer.

    Examples
    --------
    A missed case costs more than a false alarm, and a second examination costs little.

    >>> import numpy as np
    >>> from suffice.decision import BayesDecision
    >>> from suffice.naive_bayes import GaussianNB
    >>> X = np.array([[-2.0], [-1.0], [0.0], [0.0], [1.0], [2.0]])
    >>> y = ["ill", "ill", "ill", "well", "well", "well"]
    >>> new = [[-2.0], [0.3], [0.6], [2.0]]
    >>> GaussianNB().fit(X, y).predict(new)
    array(['ill', 'well', 'well', 'well'], dtype='<U4')
    >>> BayesDecision(GaussianNB(), loss=[[0, 10], [1, 0]]).fit(X, y).predict(new)
    array(['ill', 'ill', 'ill', 'well'], dtype='<U4')
    >>> BayesDecision(GaussianNB(), reject_cost=0.1).fit(X, y).predict(new)
    array(['ill', 'reject', 'reject', 'well'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods("fit")],
        "loss": [Numbers(), None],
        "actions": ["array-like", None],
        "reject_cost": [FINITE, None],
        "reject_label": "no_validation",
    }

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        loss: Any = None,
        actions: Any = None,
        reject_cost: float | None = None,
        reject_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.actions = actions
        self.reject_cost = reject_cost
        self.reject_label = reject_label

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of = get_tags(self.estimator)
        tags.input_tags, tags.target_tags = of.input_tags, of.target_tags
        if of.classifier_tags is not None:
            tags.classifier_tags = of.classifier_tags
        return tags

    @property
    def takes(self) -> str:
        """Type of example: rows or sequences."""
        return getattr(self.estimator, "takes", "rows")

    @property
    def labels(self) -> str:
        """Whether a label belongs to a row or to a sequence."""
        return getattr(self.estimator, "labels", "rows")

    def fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None, **how: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, table, scan, distributed data set; or sequences
            Training data of the classifier.
        y : array, optional
            Labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Per-sample weights.
        **how : dict
            Further arguments of the `fit` of the classifier, e.g. ``groups``.

        Returns
        -------
        self
        """
        check_parameters(self)
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"{type(self.estimator).__name__} has no predict_proba, which BayesDecision needs: wrap "
                f"it in sklearn.calibration.CalibratedClassifierCV."
            )
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        fitted = clone(self.estimator).fit(X, y, **weighted, **how)
        self.loss_, self.actions_ = self._losses(fitted.classes_)
        self.estimator_, self.classes_ = fitted, fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _losses(self, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The losses of all actions, including rejection, and their labels."""
        K = len(classes)
        cost = _losses(self.loss, K)
        actions = classes if self.actions is None else np.array(self.actions)
        if cost.shape[1] != len(actions):
            raise ValueError(
                f"loss has {cost.shape[1]} columns for the {len(actions)} actions {actions.tolist()}: name "
                "the actions, actions=[...], if they are not the classes."
            )
        if self.reject_cost is None:
            return cost, actions
        label = self.reject_label
        if label is None:
            label = "reject" if actions.dtype.kind in "OUS" else -1
        if label in actions.tolist():
            raise ValueError(f"reject_label={label!r} is already an action: pass another reject_label=....")
        named = np.append(actions, np.array([label], object if actions.dtype == object else None))
        return np.column_stack([cost, np.full(K, float(self.reject_cost))]), named

    def _decide(self, P: np.ndarray) -> np.ndarray:
        """Indices of the actions. Ties go to the first."""
        if self.loss is None and self.reject_cost is None:
            return P.argmax(axis=1)
        return P.dot(self.loss_).argmin(axis=1)

    @row_wise
    def predict(self, X: Any, **how: Any) -> Any:
        """Predict the action of minimum expected loss for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return _each(self.estimator_.predict_proba(X, **how), lambda P: self.actions_[self._decide(P)])

    @row_wise
    def conditional_risk(self, X: Any, **how: Any) -> Any:
        """Expected loss of each action for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return _each(self.estimator_.predict_proba(X, **how), lambda P: P.dot(self.loss_))

    @available_if(_answers("predict_proba"))
    def predict_proba(self, X: Any, **how: Any) -> Any:
        """Class probabilities of the classifier."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X, **how)

    @available_if(_answers("predict_log_proba"))
    def predict_log_proba(self, X: Any, **how: Any) -> Any:
        """Log class probabilities of the classifier."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X, **how)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Accuracy: the fraction of rows whose action is their class. Rejected rows count as errors.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Class labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        """
        right, _, total = self._judged(X, y, sample_weight)
        return float(right / total)

    def mean_loss(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Mean loss of the actions on labelled rows.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Class labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        """
        _, loss, total = self._judged(X, y, sample_weight)
        return float(loss / total)

    def _judged(self, X: Any, y: MaybeArray, sample_weight: MaybeArray) -> np.ndarray:
        check_is_fitted(self)
        if self.takes != "rows":
            raise TypeError(
                f"{type(self.estimator).__name__} takes {self.takes}: compare its predictions with labels, "
                "e.g. by expected_risk."
            )
        source = source_of(X)
        if not hasattr(self.estimator_, "takes") and source.is_plain:
            # A pipeline, or of another library: it knows its rows.
            labels = np.asarray(y)
            weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, np.float64)
            return _judged(self, X, labels, weight)
        bare = nameless(self)
        bare.estimator_ = nameless(self.estimator_)
        return open_rows(self, X, y, sample_weight, reset=False).fold(_judged_rows, bare)


def _each(answer: Any, f: Callable[[np.ndarray], np.ndarray]) -> Any:
    """f of a result for rows, or of each result in a list of sequences."""
    return [f(part) for part in answer] if isinstance(answer, list) else f(answer)


def _judged_rows(decision: BayesDecision, rows: Any) -> np.ndarray:
    return _judged(decision, rows.X, rows.y, rows.weight) if len(rows) else np.zeros(3)


def _judged(decision: BayesDecision, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weight of the rows whose action is their class, total loss, and total weight."""
    action = decision._decide(decision.estimator_.predict_proba(X))
    right = decision.actions_[action] == y
    place = np.minimum(np.searchsorted(decision.classes_, y), len(decision.classes_) - 1)
    known = decision.classes_[place] == y
    if not known.all():
        raise ValueError(
            f"y contains the label {y[~known].tolist()[0]!r}, which is none of {decision.classes_.tolist()}."
        )
    loss = decision.loss_[place, action]
    return np.array([weight[right].sum(), weight.dot(loss), weight.sum()])
