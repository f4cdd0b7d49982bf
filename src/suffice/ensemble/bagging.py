"""Bagging: the mean of estimators that are fitted to random samples of rows and features. Breiman, 1996."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress
from ..core.model import Predictor
from ..core.partitions import Opened, Partitions
from ..core.randomness import Purpose, generator, key_of
from ..core.shapes import must, must_index
from ..core.statistics import Statistics
from ..estimator.answers import nameless, row_wise
from ..estimator.base import Estimator, must_have_rows, reads_partitions
from ..estimator.guarantees import GATHERS_LEAVES, Guarantee
from ..estimator.parameters import AT_LEAST_1, HasMethods, Interval, RealNotInt, seed_of
from ..estimator.scores import Classifier, Regressor
from ..fitting.shared import fits_on
from ..inputs import Check, answers_of, in_memory, source_of
from ..inputs.sources import set_features
from ..statistics import CategoryCounts, afford_classes, class_codes, class_counts
from ..statistics.histograms import Binned
from ..tree.base import feature_names, n_features
from ..tree.cart import DecisionTreeClassifier, DecisionTreeRegressor
from ..tree.forest import Forest
from ..tree.growth import binned, grow_tree
from ..tree.pruning import pruned
from .draws import MOST, Draws, mean_draws, warn_of_unscored
from .forest import gathered_if_few, grown, sampled
from .weak_learners import Members, OfMembers, fitted_member, packed, seeded, unpacked

AT_ONCE = 16  # number of members whose fits share the passes over data that is not in memory
INSTEAD = "use an estimator of suffice that does not gather the rows."
NO_CLASSES = CategoryCounts((), ())
TREES = {DecisionTreeClassifier, DecisionTreeRegressor}

log = logging.getLogger("suffice")


@dataclass(frozen=True, eq=False)
class BagStart(Statistics):
    """Counts of rows and classes, before members are fitted."""

    rows: float
    others: float  # rows whose weight is not one
    classes: CategoryCounts

    @classmethod
    def of(cls, labels: bool, rows: Rows) -> BagStart:
        weight = rows.weight[rows.weight > 0]
        counts = class_counts(rows) if labels else NO_CLASSES
        return cls(float(len(weight)), float((weight != 1.0).sum()), counts)


def with_codes(classes: np.ndarray | None, rows: Rows) -> Any:
    """The rows with the codes of the classes as targets; numbers lose an axis of length one."""
    y = rows.y if classes is None else class_codes(classes, rows.y).astype(np.int64)
    return rows.replace(y=y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y)


def drawn(draws: Draws, sample: int, features: np.ndarray, by_weight: bool, rows: Rows) -> Any:
    """The rows of a sample, with some of the features. The number of draws of a row multiplies its weight
    if `by_weight`; else the row is repeated."""
    count = draws.counts(sample, rows)
    part = rows[np.flatnonzero(count) if by_weight else np.repeat(np.arange(len(rows)), count)]
    weight = part.weight * count[count > 0] if by_weight else None
    return part.replace(X=with_features(part.X, features), weight=weight)


def with_features(X: Matrix, features: np.ndarray) -> Any:
    """Some columns of X; X itself if `features` are all columns."""
    return X if np.array_equal(features, np.arange(X.shape[1])) else X[:, features]


def member_draws(seed: int, m: int, D: int, n_chosen: int, replacement: bool) -> tuple[np.ndarray, int]:
    """The features of member m, and the seed of its own random numbers."""
    rng = generator(Purpose.FEATURES, seed, m)
    own = int(rng.integers(np.iinfo(np.int32).max))
    if n_chosen == D and not replacement:
        return np.arange(D), own
    return np.sort(rng.choice(D, n_chosen, replace=replacement)), own


@dataclass(frozen=True, eq=False)
class Bagging(Predictor):
    """The members, and the features that each of them sees."""

    members: tuple[Any, ...]  # stored estimators
    features: Annotated[np.ndarray, "int (M, F)"]
    n_classes: int  # 0 for numbers

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(len(self.members) == len(self.features), "Members and their features do not match.")
        must(len(self.members) > 0, "There are no members.")
        for member in self.members:
            classes = getattr(member, "fitted", {}).get("classes_")
            if self.n_classes and isinstance(classes, np.ndarray):  # as members have them, the codes of ours
                must(classes.dtype.kind in "iu", "The classes of a member are not codes.")
                must_index(classes, self.n_classes, "Codes of classes")

    @cached_property
    def _estimators(self) -> tuple[Any, ...]:
        return tuple(nameless(unpacked(member)) for member in self.members)

    @cached_property
    def _forest(self) -> Forest | None:
        """The members as one model of all features, if they are trees of numbers."""
        members = self._estimators
        if {type(member) for member in members} - TREES or any(
            member.model_.bins.categorical.any() for member in members
        ):
            return None
        bins, trees = members[0].model_.bins, []
        for member, features in zip(members, self.features, strict=True):
            split = member.model_.feature
            trees.append(member.model_.replace(bins=bins, feature=np.where(split < 0, -1, features[split])))
        return Forest.of(trees)

    def __len__(self) -> int:
        return len(self.members)

    def answers(self, m: int, X: Matrix) -> np.ndarray:
        """The probabilities of the classes by member m, or its vote, (N, K); for regressors, its
        predictions (N, T)."""
        member, X = self._estimators[m], with_features(X, self.features[m])
        if not self.n_classes:
            return np.asarray(member.predict(X), np.float64).reshape(X.shape[0], -1)
        out = np.zeros((X.shape[0], self.n_classes))
        if hasattr(member, "predict_proba"):
            out[:, member.classes_] = member.predict_proba(X)  # a sample may lack classes
        else:
            out[np.arange(len(out)), member.predict(X)] = 1.0
        return out

    def mean(self, X: Matrix) -> np.ndarray:
        """The mean of the answers of the members."""
        if self._forest is not None:
            return self._forest.sum(X) / len(self)
        return sum((self.answers(m, X) for m in range(1, len(self))), self.answers(0, X)) / len(self)

    def decision(self, X: Matrix) -> np.ndarray:
        """The mean of the decision functions of the members."""
        parts = []
        for m, member in enumerate(self._estimators):
            if len(member.classes_) != self.n_classes:
                raise ValueError(
                    f"Member {m} has seen {len(member.classes_)} of {self.n_classes} classes, so that the "
                    "decision functions cannot be averaged: use predict_proba, or more rows in a sample."
                )
            parts.append(member.decision_function(with_features(X, self.features[m])))
        return sum(parts[1:], parts[0]) / len(parts)

    def out_of_bag(self, draws: Draws, rows: Rows) -> Rows:
        """The mean of the answers of the members that did not sample a row; NaN if all did."""
        width = self.n_classes or (1 if rows.y.ndim == 1 else rows.y.shape[1])
        total, n = np.zeros((len(rows), width)), np.zeros(len(rows))
        for m in range(len(self)):
            out = np.flatnonzero(draws.counts(m, rows) == 0)
            if len(out):
                total[out] += self.answers(m, rows[out].X)
                n[out] += 1.0
        with np.errstate(invalid="ignore"):
            return Rows(total / n[:, None], rows.y, rows.weight, rows.index)


def _base_has(name: str) -> Callable[[Any], bool]:
    """Whether the base estimator has a method: an `available_if` of scikit-learn."""

    def has(model: BaseBagging) -> bool:
        getattr(model._base(), name)  # or the error says what has not
        return True

    return has


@dataclass(frozen=True, eq=False, kw_only=True)
class Bag(Progress):
    """The members, and the function that scores each row by the members that did not sample it."""

    draws_: Draws
    rows: Partitions  # whose targets are codes
    draws: Draws  # of these rows


class BaseBagging(Members, OfMembers, Estimator):
    """Base class of bagging: members of samples of rows and features."""

    model_: Bagging
    draws_: Draws
    _labels: ClassVar[bool]  # whether targets are classes
    _tree: ClassVar[Any]  # the default estimator
    one_fit: ClassVar[dict[str, Any]] = {"n_estimators": max}
    _out_of_bag: ClassVar[str]  # the name of the out-of-bag answers
    reports_tasks = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [AT_LEAST_1],
        "max_samples": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "bootstrap": ["boolean"],
        "bootstrap_features": ["boolean"],
        "oob_score": ["boolean"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        n_estimators: int = 10,
        *,
        max_samples: Any = None,
        max_features: Any = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        checkpoint: MaybePath = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    def _base(self) -> Any:
        return self._tree() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self._base(), Pipeline):  # its tags do not say: its steps refuse missing values
            tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = not self._labels and get_tags(self._base()).target_tags.multi_output
        return tags

    def _guarantee(self) -> Guarantee:
        base = self._base()
        own = base._guarantee() if reads_partitions(base) else Guarantee(gathers=True)
        if own.exact != "approximate" and (self.bootstrap or self.max_samples not in (None, 1.0)):
            return replace(own, exact="order")
        return own

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> Opened:
        opened = super()._opened(X, y, sample_weight, reset)
        return replace(opened, flat_target=self._labels or source_of(X).flat_target(y))

    def _solve(self, data: Any) -> Bag:
        self.estimator_ = clone(self._base())
        start = data.fold(BagStart.of, self._labels)
        must_have_rows(start.rows)
        if start.others and not self._by_weight:
            name = type(self.estimator_).__name__
            raise ValueError(f"{name} doesn't support sample_weight: fit without weights.")
        members, seed = (), None
        if self._continues_fit():
            self._check_same_targets(start.classes.values[0] if self._labels else None)
            members, seed = self.model_.members, self.draws_.seed
        self._check_number(len(members))
        mean = 1.0 if self.max_samples is None else mean_draws(self.max_samples, int(start.rows))
        seed = seed_of(self.random_state) if seed is None else seed
        draws = Draws.of(data, seed, int(start.rows), mean, self.bootstrap)
        self._set_classes(start.classes)
        rows = data.map(with_codes, self.classes_ if self._labels else None)

        def as_model(members: tuple[Any, ...]) -> Bagging:
            features = [self._drawn_features(seed, m)[0] for m in range(len(members))]
            return Bagging(members, np.array(features), len(self.classes_) if self._labels else 0)

        members = self._with_more(members, partial(self._fits, data, rows, draws), rows, as_model)
        return Bag(as_model(members), draws_=draws.gathered(), rows=rows, draws=draws)

    def _finish(self, progress: Any, data: Partitions) -> None:
        for name in ("oob_score_", self._out_of_bag):
            self.__dict__.pop(name, None)
        if self.oob_score:
            votes = progress.rows.map(Bagging.out_of_bag, self.model_, progress.draws)
            votes = votes.gather("fit without oob_score.")
            one = not self._labels and votes.X.shape[1] == 1
            setattr(self, self._out_of_bag, votes.X[:, 0] if one else votes.X)
            known = ~np.isnan(votes.X[:, 0])
            warn_of_unscored(known)
            self.oob_score_ = self._score(votes[known])

    def _check_options(self) -> None:
        base = self._base()
        kind, wrong = ("classifier", is_regressor) if self._labels else ("regressor", is_classifier)
        if wrong(base):
            raise ValueError(f"{type(self).__name__} takes a {kind} as estimator; got {base!r}.")
        if self.oob_score and not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if self.oob_score and self.warm_start:
            raise ValueError("Out of bag estimate only available if warm_start=False")

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "model_")

    def _check_number(self, n_members: int) -> None:
        super()._check_number(n_members)
        if self._n_chosen > self.n_features_in_:
            raise ValueError(
                f"max_features must be <= n_features; got {self.max_features} of {self.n_features_in_}."
            )

    def _set_classes(self, s: CategoryCounts) -> None:
        pass

    def _score(self, votes: Any) -> float:
        raise NotImplementedError

    def _shorten(self) -> None:
        n = self.n_estimators
        self.model_ = self.model_.replace(members=self.model_.members[:n], features=self.model_.features[:n])
        for name in ("oob_score_", self._out_of_bag):  # of all members
            self.__dict__.pop(name, None)

    @property
    def _by_weight(self) -> bool:
        """Whether the number of draws of a row multiplies its weight; else the row is repeated."""
        return has_fit_parameter(self.estimator_, "sample_weight")

    @property
    def _n_chosen(self) -> int:
        D, chosen = self.n_features_in_, self.max_features
        return int(chosen) if isinstance(chosen, Integral) else max(1, int(chosen * D))

    def _drawn_features(self, seed: int, m: int) -> tuple[np.ndarray, int]:
        return member_draws(seed, m, self.n_features_in_, self._n_chosen, self.bootstrap_features)

    def _named(self, features: np.ndarray) -> tuple[str, ...] | int:
        """The names of some features, or their number if they have no names."""
        names = feature_names(self)
        if isinstance(names, int) or self.bootstrap_features:
            return len(features)
        return tuple(names[d] for d in features)

    # --- members -----------------------------------------------------------------------------------------

    def _fits(
        self, opened: Opened, rows: Partitions, draws: Draws, numbers: tuple[int, ...]
    ) -> Iterator[Any]:
        """The fitted members with these numbers, to be stored."""
        base = self.estimator_
        if type(base) in TREES:
            return self._grown(opened, rows, draws, numbers)
        if not reads_partitions(base) or base._guarantee().gathers:
            log.info("Bagging: the rows are gathered for %s.", type(base).__name__)
            rows, draws = in_memory(rows.gather(INSTEAD)), draws.gathered()
        fit, check = partial(self._fitted_member, opened, draws), Check.of(base)
        return fits_on(rows, fit, numbers, AT_ONCE, features=self.n_features_in_, check=check)

    def _fitted_member(self, opened: Opened, draws: Draws, rows: Any, m: int) -> Any:
        features, seed = self._drawn_features(draws.seed, m)
        part = replace(
            opened,
            data=rows.map(drawn, draws, m, features, self._by_weight),
            features=self._named(features),
            categorical=None if opened.categorical is None else opened.categorical[features],
        )
        return fitted_member(self.estimator_, seed, part, self._by_weight)

    def _grown(
        self, opened: Opened, data: Partitions, draws: Draws, numbers: tuple[int, ...]
    ) -> Iterator[Any]:
        """Trees share the bins of the features, and the codes of the rows."""
        base = clone(self.estimator_)
        base._draws = MOST + 1.0
        p = base._prepared(base._opened(replace(opened, data=data), None, None))
        rows, draws, at_once = gathered_if_few(p, p.data.map(binned, p.bins, p.target).persisted(), draws)

        def grow(m: int) -> Any:
            features, seed = self._drawn_features(draws.seed, m)
            limits = p.limits._replace(
                key=key_of(Purpose.TREES, seed_of(seed)),
                max_features=n_features(base.max_features, len(features)),
                constraints=p.limits.constraints[features],
            )
            bins, sample = p.bins.chosen(features), rows.map(sampled, draws, m, None, None)
            tree = grow_tree(sample.map(_chosen, features), p.rows, bins, p.target, limits)
            tree = pruned(tree, base.ccp_alpha)
            member = seeded(clone(self.estimator_), seed)
            member.__dict__.update(p.fitted)
            member.max_features_, member.model_ = limits.max_features, tree.replace(bins=bins.of_categories())
            set_features(member, self._named(features), reset=True)
            return packed(member)

        return grown(grow, numbers, at_once)

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members."""
        check_is_fitted(self)
        return [unpacked(member) for member in self.model_.members]

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The features of each member."""
        check_is_fitted(self)
        return list(self.model_.features)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The numbers of the rows of each member, among those with a weight, each as often as it is drawn."""
        check_is_fitted(self)
        return [self.draws_.rows(m) for m in range(len(self.model_))]


def _chosen(features: np.ndarray, block: Binned) -> Binned:
    codes = with_features(block.X, features)
    return block if codes is block.X else block.replace(X=codes)


class BaggingClassifier(Classifier, BaseBagging):
    """A bagging classifier: the mean of classifiers of random samples of the rows.

    The sample of a member follows from the seed, the number of the member and the numbers of the rows. So for
    rows in one order, the samples are the same in blocks of any size and on every engine, and out-of-bag
    scores need no memory of the samples.

    Parameters
    ----------
    estimator : classifier, default=None
        What is fitted to each sample, with the codes of the classes as targets. Trees of suffice share the
        bins of the features and the codes of the rows. Fits of another estimator of suffice share each pass
        over data that is not in memory; for one of another library the rows are gathered. If it does not take
        weights, rows are repeated. If None, ``DecisionTreeClassifier()``.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Expected number of rows in a sample; a float is a fraction. If None, all.
    max_features : int or float, default=1.0
        Number of features that a member sees; a float is a fraction.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement: a Poisson number of times, which is the bootstrap of many
        rows. If False, a row is drawn at most once, and all rows are if `max_samples` is None.
    bootstrap_features : bool, default=False
        Whether features are drawn with replacement.
    oob_score : bool, default=False
        Whether to score each row by the members whose sample it is not in.
    warm_start : bool, default=False
        Whether `fit` adds members to those of the previous call.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples, and of the members that take one.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    n_classes_ : int
        Number of classes.
    estimator_ : estimator
        The estimator that is fitted to each sample.
    estimators_ : list of estimators
        The fitted members.
    estimators_features_ : list of ndarray
        The indices of the features of each member.
    estimators_samples_ : list of ndarray
        The numbers of the rows of each member, among those with a weight, each as often as it is drawn.
    draws_ : Draws
        How often each row is in the sample of each member.
    model_ : Bagging
        The members, and their features.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Only with `oob_score`: the mean probabilities of the classes by the members whose sample a row is
        not in; NaN if it is in all of them.
    oob_score_ : float
        Only with `oob_score`: the accuracy of the rows that are not in all samples.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    RandomForestClassifier : Bagging of trees, with random features at each split.

    Notes
    -----
    The mean of M members, each with the variance σ² and two of them with the correlation ρ, has the variance

    .. math::

        \\operatorname{Var} \\frac 1 M ∑_m f_m = ρ σ^2 + \\frac{1 - ρ} M σ^2.

    Weights of rows are multiplied by the numbers of their draws. In scikit-learn, rows are drawn with
    probabilities that are proportional to their weights.

    References
    ----------
    * Breiman (1996), "Bagging predictors", Machine Learning 24.
    * Ho (1998), "The random subspace method for constructing decision forests", IEEE Transactions on Pattern
      Analysis and Machine Intelligence 20.
    * Oza and Russell (2001), "Online bagging and boosting", AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import BaggingClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where((X**2).sum(axis=1) > 1.4, "out", "in")
    >>> model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist(), round(model.oob_score_, 2)
    (['in', 'out'], 0.94)
    """

    exempt = (GATHERS_LEAVES,)

    _labels, _tree, _out_of_bag = True, DecisionTreeClassifier, "oob_decision_function_"

    def _classes_of_model(self) -> int:
        return self.model_.n_classes

    def _set_classes(self, s: CategoryCounts) -> None:
        afford_classes(len(s.values[0]))
        (self.classes_,) = s.values
        self.n_classes_ = len(self.classes_)

    def _score(self, votes: Any) -> float:
        if not len(votes):
            return float("nan")
        return float(accuracy_score(votes.y, votes.X.argmax(axis=1), sample_weight=votes.weight))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest probability for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """The mean of the probabilities of the members, or their votes if they have no probabilities.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return answers_of(self, lambda rows: self.model_.mean(rows), X)

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities of the classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_base_has("decision_function"))
    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """The mean of the decision functions of the members, if they have one.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return answers_of(self, lambda rows: self.model_.decision(rows), X)


class BaggingRegressor(Regressor, BaseBagging):
    """A bagging regressor: the mean of regressors of random samples of the rows.

    The sample of a member follows from the seed, the number of the member and the numbers of the rows. So for
    rows in one order, the samples are the same in blocks of any size and on every engine, and out-of-bag
    scores need no memory of the samples.

    Parameters
    ----------
    estimator : regressor, default=None
        What is fitted to each sample. Trees of suffice share the bins of the features and the codes of the
        rows. Fits of another estimator of suffice share each pass over data that is not in memory; for one of
        another library the rows are gathered. If it does not take weights, rows are repeated. If None,
        ``DecisionTreeRegressor()``.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Expected number of rows in a sample; a float is a fraction. If None, all.
    max_features : int or float, default=1.0
        Number of features that a member sees; a float is a fraction.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement: a Poisson number of times, which is the bootstrap of many
        rows. If False, a row is drawn at most once, and all rows are if `max_samples` is None.
    bootstrap_features : bool, default=False
        Whether features are drawn with replacement.
    oob_score : bool, default=False
        Whether to score each row by the members whose sample it is not in.
    warm_start : bool, default=False
        Whether `fit` adds members to those of the previous call.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples, and of the members that take one.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    estimator_ : estimator
        The estimator that is fitted to each sample.
    estimators_ : list of estimators
        The fitted members.
    estimators_features_ : list of ndarray
        The indices of the features of each member.
    estimators_samples_ : list of ndarray
        The numbers of the rows of each member, among those with a weight, each as often as it is drawn.
    draws_ : Draws
        How often each row is in the sample of each member.
    model_ : Bagging
        The members, and their features.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Only with `oob_score`: the mean prediction of the members whose sample a row is not in; NaN if it is
        in all of them.
    oob_score_ : float
        Only with `oob_score`: R squared of the rows that are not in all samples.
    n_features_in_ : int
        Number of features seen during `fit`.

    See Also
    --------
    RandomForestRegressor : Bagging of trees, with random features at each split.

    Notes
    -----
    The mean of M members, each with the variance σ² and two of them with the correlation ρ, has the variance

    .. math::

        \\operatorname{Var} \\frac 1 M ∑_m f_m = ρ σ^2 + \\frac{1 - ρ} M σ^2.

    Weights of rows are multiplied by the numbers of their draws. In scikit-learn, rows are drawn with
    probabilities that are proportional to their weights.

    References
    ----------
    * Breiman (1996), "Bagging predictors", Machine Learning 24.
    * Ho (1998), "The random subspace method for constructing decision forests", IEEE Transactions on Pattern
      Analysis and Machine Intelligence 20.
    * Oza and Russell (2001), "Online bagging and boosting", AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.ensemble import BaggingRegressor
    >>> X = np.linspace(0.0, 1.0, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> model = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    >>> round(model.oob_score_, 2)
    0.98
    """

    exempt = (GATHERS_LEAVES,)

    _labels, _tree, _out_of_bag = False, DecisionTreeRegressor, "oob_prediction_"

    def _score(self, votes: Any) -> float:
        if len(votes) < 2:
            return float("nan")
        return float(r2_score(votes.y, votes.X, sample_weight=votes.weight))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The mean of the predictions of the members.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        mean = answers_of(self, lambda rows: self.model_.mean(rows), X)
        return mean[:, 0] if mean.shape[1] == 1 else mean
