"""AdaBoost: discrete (SAMME) and with confidence-rated predictions. Freund and Schapire, 1997; Schapire and
Singer, 1999; Zhu, Zou, Rosset and Hastie, 2009; Li 8.1 to 8.3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix
from ..core.loop import Progress, Watch
from ..core.model import Predictor
from ..core.partitions import Opened, Partitions
from ..core.shapes import must, must_index
from ..core.values import Value
from ..estimator.answers import nameless, row_wise
from ..estimator.base import reads_partitions
from ..estimator.guarantees import GATHERS_LEAVES, Exempt, Guarantee
from ..estimator.parameters import HasMethods, Interval, StrOptions
from ..estimator.scores import Classifier
from ..fitting.resident import Resident
from ..inputs import answers_of, map_rows, read_rows
from ..losses import softmax
from ..statistics import CategoryCounts, afford_classes, class_codes, class_counts
from ..statistics.bins import grid
from ..tree.arrays import importances
from ..tree.cart import DecisionTreeClassifier
from ..tree.forest import Forest
from ..tree.targets import WEIGHT_BITS, check_total_weight
from .weak_learners import (
    PERSIST_ROUNDS,
    Boosting,
    ClassifierLearner,
    Members,
    OfMembers,
    TreeLearner,
    after_rounds,
    unpacked,
)

# Largest smoothing added to the weights of the classes in a leaf, where all leaves together have weight 1. It
# is also at most the weight of one row.
MOST_SMOOTHING = 0.01
ROUNDING = 1e-12  # tolerance of the error of a random guess


@dataclass(frozen=True, eq=False)
class Rounds(Value):
    """The completed rounds: the fitted members, their votes, and the changes of the weights."""

    members: tuple[Any, ...] = ()  # trees, or stored estimators
    votes: Annotated[tuple[np.ndarray, ...], "M of (A_m, K)"] = ()  # for each class, of each answer
    changes: Annotated[tuple[np.ndarray, ...], "M of (A_m, K)"] = ()  # of the weight of a class
    weight: tuple[float, ...] = ()
    error: tuple[float, ...] = ()
    normalizer: tuple[float, ...] = ()  # Z, the total weight after the round, if it was 1 before
    total: float = 0.0  # the integer weight of all rows before the first round

    def added(self, member: Any, sums: np.ndarray, boost: Boost) -> Rounds:
        """Append a round. `sums` are the weights of the classes for each answer of its member."""
        total = self.total or float(sums.sum())
        after = float((sums * boost.change).sum())
        if not 0.0 < after < np.inf:
            raise ValueError(
                f"The total weight of the rows is {after} after round {len(self.members) + 1}: lower "
                "learning_rate."
            )
        return Rounds(
            (*self.members, member),
            (*self.votes, boost.vote),
            (*self.changes, boost.change * (total / after)),
            (*self.weight, boost.weight),
            (*self.error, boost.error),
            (*self.normalizer, after / float(sums.sum())),
            total,
        )


@dataclass(frozen=True)
class Boost:
    """A round: the error and the weight of its member, its votes, and the change of the weights of rows."""

    error: float
    weight: float
    vote: np.ndarray  # (A, K)
    change: np.ndarray  # (A, K)


def discrete(winner: np.ndarray, sums: np.ndarray, learning_rate: float) -> Boost:
    """SAMME: a member votes for one class, with the weight log((1 - e) / e) + log(K - 1).

    The weights of misclassified rows are multiplied by the exponential of this. Both sides are divided by its
    root, so that the product of the normalizers bounds the training error.
    """
    K = sums.shape[1]
    right = winner[:, None] == np.arange(K)
    error = _error(right, sums)
    alpha = 1.0
    if 0.0 < error < 1.0:
        alpha = learning_rate * (np.log((1.0 - error) / error) + np.log(max(K - 1.0, 1.0)))
    vote = np.where(right, alpha, -alpha / max(K - 1, 1))
    return Boost(error, float(alpha), vote, np.exp(np.where(right, -0.5, 0.5) * alpha))


def confidence_rated(winner: np.ndarray, sums: np.ndarray, learning_rate: float, rows: float) -> Boost:
    """Vote for all classes: with two classes by half the log-odds of the answer, with more by the
    logarithms of the class probabilities minus their mean. The probabilities are smoothed as if each class
    had the weight of one more row."""
    share = sums / float(sums.sum())
    logs = np.log(share + min(1.0 / rows, MOST_SMOOTHING))
    vote = learning_rate * (logs - logs.mean(axis=1, keepdims=True))
    return Boost(_error(vote == vote.max(axis=1, keepdims=True), sums), 1.0, vote, np.exp(-vote))


def _error(right: np.ndarray, sums: np.ndarray) -> float:
    return float(sums[~right].sum()) / float(sums.sum())


@dataclass(frozen=True, eq=False)
class AdaBoost(Predictor):
    """A boosted classifier: the members, and how each of their answers votes for the classes.

    The answers of a tree are its nodes; those of another classifier are the classes.
    """

    forest: Annotated[Forest | None, "M, D"]
    members: tuple[Any, ...]  # stored estimators, if there is no forest
    vote: Annotated[np.ndarray, "(A, K)"]  # of all answers of all members, one member after the other
    start: Annotated[np.ndarray, "int (M,)"]  # the first answer of each member
    weight: Annotated[np.ndarray, "(M,)"]
    error: Annotated[np.ndarray, "(M,)"]
    normalizer: Annotated[np.ndarray, "(M,)"]
    classes: Annotated[np.ndarray, "labels (K,)"]

    @classmethod
    def of(cls, rounds: Rounds, trees: bool, classes: np.ndarray) -> AdaBoost:
        lengths = [len(vote) for vote in rounds.votes]
        return cls(
            Forest.of(rounds.members) if trees else None,
            () if trees else rounds.members,
            np.concatenate(rounds.votes),
            np.cumsum([0, *lengths[:-1]]),
            np.array(rounds.weight),
            np.array(rounds.error),
            np.array(rounds.normalizer),
            classes,
        )

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must_index(self.start, len(self.vote), "First answers")
        if self.forest is not None:
            must(len(self.vote) == len(self.forest.nodes.feature), "Votes are not those of all nodes.")
            must(np.array_equal(self.start, self.forest.root), "First answers are not the roots of trees.")
        else:
            must(len(self.members) == len(self.start), "There are not as many members as first answers.")

    @cached_property
    def _estimators(self) -> tuple[Any, ...]:
        return tuple(nameless(unpacked(member)) for member in self.members)

    def __len__(self) -> int:
        return len(self.start)

    def first(self, n: int) -> AdaBoost:
        """The first n members."""
        return self.replace(
            forest=None if self.forest is None else self.forest.first(n),
            members=self.members[:n],
            vote=self.vote[: [*self.start, len(self.vote)][n]],
            start=self.start[:n],
            weight=self.weight[:n],
            error=self.error[:n],
            normalizer=self.normalizer[:n],
        )

    def votes(self, m: int, X: Matrix) -> np.ndarray:
        """The votes of member m for rows, (N, K)."""
        if self.forest is not None:
            return self.vote[self.start[m] + self.forest[m].leaves(X)]
        return self.vote[self.start[m] + class_codes(self.classes, self._estimators[m].predict(X))]

    def total(self, X: Matrix) -> np.ndarray:
        """The sum of the votes of all members, (N, K)."""
        if self.forest is not None:
            return self._voting.sum(X)
        return sum((self.votes(m, X) for m in range(1, len(self))), start=self.votes(0, X))

    @cached_property
    def _voting(self) -> Forest:
        assert self.forest is not None
        return self.forest.replace(nodes=self.forest.nodes.replace(value=self.vote))


class AdaBoostClassifier(Classifier, Members, OfMembers, Boosting):
    """An AdaBoost classifier, fitted where the data is.

    Each round fits a classifier to weighted rows, by default a tree of one split, and raises the weights of
    the rows that it misclassifies. The weights of the rows are rounded to integers in each round, so that the
    order of the rows, their blocks and the engine change no bit of the trees, and a row of weight 2 counts
    exactly as two rows. A tree of one split takes one pass over the data.

    Parameters
    ----------
    estimator : classifier, default=None
        What is fitted in each round: it takes `sample_weight`. A tree of suffice keeps its bins over all
        rounds. Another estimator of suffice is fitted where the data is, and for one of another library the
        rows are gathered in memory. If None, ``DecisionTreeClassifier(max_depth=1)``.
    n_estimators : int, default=50
        Maximum number of rounds. A classifier without errors ends the fit.
    learning_rate : float, default=1.0
        Factor of the weight of each classifier.
    algorithm : {'SAMME', 'real'}, default='SAMME'
        'SAMME': each classifier votes for one class. 'real': confidence-rated predictions, in which each leaf
        votes for all classes, by the logarithms of their shares of the weight in it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws of the classifiers that take one.
    checkpoint : path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    estimator_ : estimator
        The classifier that is fitted in each round.
    estimators_ : list of estimators
        The fitted classifiers.
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    n_classes_ : int
        Number of classes.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Weight of each classifier.
    estimator_errors_ : ndarray of shape (n_rounds,)
        Weighted error of each classifier.
    training_error_bound_ : ndarray of shape (n_rounds,)
        Upper bound of the training error after each round: the product of the normalizers Z of its weights.
        NaN for algorithm='real' with more than two classes, where the product is not a bound.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the importances of the classifiers, by their weights, if these have importances.
    trace_ : ndarray of shape (n_iter_,)
        Product of the normalizers Z after each round.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the fit ended before `n_estimators` because no round could add to the model.
    stopped_because_ : str
        Why it stopped: 'n_estimators', 'no errors', 'error of a guess' or 'callback'.
    model_ : AdaBoost
        The trees or classifiers, with their votes.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    suffice.tree.DecisionTreeClassifier : The classifier that is fitted in each round.
    suffice.linear_model.LogisticRegression : A linear model of the log-odds.

    Notes
    -----
    With the weights w of the rows, which sum to one, a classifier h of error e has the weight

    .. math::

        α = \\log \\frac{1 - e}{e} + \\log(K - 1), \\qquad
        w_i ← \\frac{w_i}{Z} \\exp(\\tfrac{α}{2}) \\; \\text{if} \\; h(x_i) ≠ y_i, \\;
        \\text{else} \\; \\frac{w_i}{Z} \\exp(-\\tfrac{α}{2}).

    The training error is at most the product of all Z. With two classes and a learning rate of one, Z is
    :math:`2\\sqrt{e (1 - e)}`. Confidence-rated predictions for two classes, where W is the weight of each
    class in a leaf j, and ε is the smaller of 0.01 and one row, are

    .. math::

        c_j = \\frac{1}{2} \\log \\frac{W_{j+} + ε}{W_{j-} + ε}, \\qquad
        w_i ← \\frac{w_i}{Z} \\exp(-y_i c_{j(i)}), \\qquad Z = ∑_j ∑_y W_{jy} \\exp(-y c_j).

    A classifier whose error is at least 1 - 1 / K, to rounding, ends the fit, as in scikit-learn: it is
    dropped, and raises an error if it is the first. `min_samples_leaf` of a tree counts weight, of which rows
    have 1 on average. Weights that are less than half a unit of the grid, about 2⁻⁵² of the total, are zero.

    References
    ----------
    * Freund and Schapire (1997), "A decision-theoretic generalization of on-line learning and an application
      to boosting", Journal of Computer and System Sciences 55.
    * Schapire and Singer (1999), "Improved boosting algorithms using confidence-rated predictions", Machine
      Learning 37.
    * Zhu, Zou, Rosset and Hastie (2009), "Multi-class AdaBoost", Statistics and Its Interface 2.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import AdaBoostClassifier
    >>> X, y = np.arange(10.0)[:, None], [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.estimator_errors_.round(4)
    array([0.3   , 0.2143, 0.1818])
    >>> model.score(X, y), model.training_error_bound_.round(4)
    (1.0, array([0.9165, 0.7521, 0.5802]))
    """

    exempt = (
        GATHERS_LEAVES,
        Exempt("optimum", "Each algorithm has its own ensemble."),
    )

    model_: Annotated[AdaBoost, "D, K"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "algorithm": [StrOptions({"SAMME", "real"})],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: str = "SAMME",
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _base(self) -> Any:
        return DecisionTreeClassifier(max_depth=1) if self.estimator is None else self.estimator

    def _guarantee(self) -> Guarantee:
        if reads_partitions(self._base()):
            return self._base()._guarantee()
        return Guarantee("rounding", gathers=True)

    def _check_options(self) -> None:
        if not has_fit_parameter(self._base(), "sample_weight"):
            raise ValueError(f"{type(self._base()).__name__} doesn't support sample_weight.")

    def _solve(self, data: Any) -> Progress:
        self.estimator_ = clone(self._base())
        trees = type(self.estimator_) is DecisionTreeClassifier
        learner: Any
        learner, total = (self._trees if trees else self._classifiers)(data)

        def reweighted(rows: Partitions, done: int, rounds: Rounds) -> Partitions:
            new = rounds.members[done:], rounds.changes[done:]
            return rows.map(after_rounds, learner.answers, *new, learner.unit)

        rows = Resident(learner.opened(data), reweighted, PERSIST_ROUNDS)

        def step(state: Progress) -> Progress:
            rounds: Rounds = state.model
            member, sums = learner.member(data, rows.at(len(rounds.members), rounds), state.n_iter)
            winner = member.value.argmax(axis=1) if trees else np.arange(len(self.classes_))
            boost = self._boost(winner, sums, total)
            if self.algorithm == "SAMME" and boost.error >= 1.0 - 1.0 / max(len(self.classes_), 2) - ROUNDING:
                if not rounds.members:
                    raise ValueError(
                        f"The first classifier has an error of {boost.error:.3g}: BaseClassifier in "
                        "AdaBoostClassifier ensemble is worse than random, ensemble can not be fit."
                    )
                return state.replace(stopped_because="error of a guess")
            rounds = rounds.added(member, sums, boost)
            bound = float(np.prod(rounds.normalizer))
            reason = "no errors" if boost.error == 0.0 else ""
            return state.replace(model=rounds, trace=(*state.trace, bound), stopped_because=reason)

        def as_model(rounds: Rounds) -> AdaBoost:
            return AdaBoost.of(rounds, trees, self.classes_)

        watch = Watch(
            self,
            self.checkpoint,
            data,
            self.n_estimators,
            as_model=as_model,
            limited_by="n_estimators",
            grows=True,
        )
        state = watch.loop(step, Progress(Rounds()))
        return state.replace(model=as_model(state.model))

    def _trees(self, data: Opened) -> tuple[TreeLearner, float]:
        """The learner of the trees, and the total weight of the rows."""
        base = clone(self.estimator_)
        start = base._prepared(base._opened(data, None, None))
        total = self._set_classes(start.sums)
        unit = min(start.target.weight_unit, grid(total, WEIGHT_BITS))
        target = start.target.replace(weight_unit=unit)
        limits = base._limits(target, float(start.sums.count[0][0].dot(target.class_weight)))
        return TreeLearner(start.bins, target, limits, self._seeds(), start.rows, base.ccp_alpha), total

    def _classifiers(self, data: Opened) -> tuple[ClassifierLearner, float]:
        """The learner of other classifiers, and the total weight of the rows."""
        total = self._set_classes(data.fold(class_counts))
        unit = grid(total, WEIGHT_BITS)
        return ClassifierLearner(self.estimator_, self.classes_, unit, self._seeds()), total

    def _set_classes(self, s: CategoryCounts) -> float:
        """Set `classes_`, and return the total weight of the rows."""
        afford_classes(len(s.values[0]))
        (self.classes_,), total = s.values, float(s.count[0].sum())
        check_total_weight(total)
        return total

    def _seeds(self) -> np.ndarray:
        return check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_estimators)

    def _boost(self, winner: np.ndarray, sums: np.ndarray, total: float) -> Boost:
        if self.algorithm == "SAMME":
            return discrete(winner, sums, self.learning_rate)
        return confidence_rated(winner, sums, self.learning_rate, total)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: AdaBoost = progress.model
        no_bound = self.algorithm == "real" and len(model.classes) > 2
        return {
            **super()._fitted(progress),
            "n_classes_": len(model.classes),
            "estimator_weights_": model.weight,
            "estimator_errors_": model.error,
            "training_error_bound_": np.cumprod(model.normalizer) * (np.nan if no_bound else 1.0),
        }

    @property
    def estimators_(self) -> list[Any]:
        """The fitted classifiers."""
        check_is_fitted(self)
        if self.model_.forest is None:
            return [unpacked(member) for member in self.model_.members]
        fitted = {k: v for k, v in vars(self).items() if k in SHARED}
        out = []
        for tree in self.model_.forest:
            out.append(clone(self.estimator_))
            out[-1].__dict__.update(fitted, model_=tree, n_outputs_=1, max_features_=self.n_features_in_)
        return out

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean of the importances of the classifiers, by their weights."""
        check_is_fitted(self)
        model = self.model_
        if model.forest is not None:
            by_member = np.array([importances(tree) for tree in model.forest])
        else:
            by_member = np.array([member.feature_importances_ for member in self.estimators_])
        return model.weight.dot(by_member) / model.weight.sum()

    def _score_trees(self) -> tuple[Forest, np.ndarray]:
        """Trees whose values add up to the decision function, and the constant that is added to the sum."""
        if self.model_.forest is None:
            raise TypeError("The members of the ensemble are not trees: boost a tree of suffice.")
        vote = self._decision(self.model_.vote, self.model_.weight.sum())
        vote = vote[:, None] if vote.ndim == 1 else vote
        forest = self.model_.forest
        return forest.replace(nodes=forest.nodes.replace(value=vote)), np.zeros(vote.shape[1])

    # --- prediction --------------------------------------------------------------------------------------

    def _decision(self, total: np.ndarray, norm: float) -> np.ndarray:
        """The decision function from the sum of the votes, (N, K)."""
        if self.algorithm == "SAMME":
            total = total / norm  # as in scikit-learn
            if total.shape[1] == 2:
                return total[:, 1] - total[:, 0]
        elif total.shape[1] == 2:
            return total[:, 1].copy()
        return np.zeros_like(total) if total.shape[1] == 1 else total

    def _probabilities(self, decision: np.ndarray) -> np.ndarray:
        K = self.n_classes_
        if K == 1:
            return np.ones((len(decision), 1))
        if K == 2:
            decision = np.stack([-decision, decision], axis=1)
        scale = 1.0 if self.algorithm == "real" else 2.0 if K == 2 else K - 1.0
        return softmax(decision / scale)

    def _labels(self, decision: np.ndarray) -> np.ndarray:
        K = self.n_classes_
        return self.classes_[(decision > 0).astype(int) if K == 2 else decision.argmax(axis=1)]

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class for each row, (n_samples, n_classes); with two classes that of the second.

        For 'SAMME', the votes divided by the sum of the weights, between -2 and 2 with two classes. For
        'real', the sum of the votes; with two classes, half the log-odds of the second.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return answers_of(
            self, lambda rows: self._decision(self.model_.total(rows), self.model_.weight.sum()), X
        )

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._labels(self.decision_function(X))

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes: the softmax of the scores, divided by K - 1 for 'SAMME'.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._probabilities(self.decision_function(X))

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the decision function after each round, for rows in memory."""
        X = read_rows(self, X)
        total, norm = np.zeros((X.shape[0], self.n_classes_)), 0.0
        for m, weight in enumerate(self.model_.weight):
            total = total + map_rows(partial(self.model_.votes, m), X)
            norm += weight
            yield self._decision(total, norm)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the predicted classes after each round, for rows in memory."""
        return map(self._labels, self.staged_decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the probabilities after each round, for rows in memory."""
        return map(self._probabilities, self.staged_decision_function(X))

    def staged_score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> Iterator[float]:
        """Generator of the accuracy after each round, for rows in memory."""
        y = np.asarray(y)
        for predicted in self.staged_predict(X):
            yield float(np.average(predicted == y, weights=sample_weight))


SHARED = {"classes_", "n_classes_", "n_features_in_", "feature_names_in_"}  # with its members
