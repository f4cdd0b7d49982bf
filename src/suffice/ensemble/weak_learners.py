"""The learners that boosting fits to reweighted rows in each round: trees, or any classifier with weights.

The rows stay in their blocks with their weights. Weights are rounded to integers of one unit, whose sums are
exact: so the order of the rows, their blocks and the engine change no bit, and whole weights equal
repetition.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from ..core.blocks import Rows
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.partitions import Opened, Partitions
from ..core.randomness import Purpose, key_of
from ..core.statistics import Statistics
from ..core.threads import in_order, n_threads
from ..estimator.answers import nameless
from ..estimator.base import Iterative, reads_partitions
from ..estimator.storing import Storable, StoredEstimator
from ..inputs import in_memory
from ..loops.trees import GINI, NONE_MISSING
from ..statistics import class_codes
from ..statistics.bins import FeatureBins
from ..statistics.histograms import Binned, Histograms, bin_offsets
from ..tree.base import opened_for
from ..tree.growth import Grown, Limits, gathered_bytes, grow_tree, root, tree_of
from ..tree.model import Tree
from ..tree.pruning import pruned
from ..tree.targets import ClassTarget, weighted

ROW_NUMBERS = 4  # numbers per gathered row, beside its codes: class, weight, entry and factor
PERSIST_ROUNDS = 16  # rounds after which blocks that are computed in each pass are stored with their weights

MANY_BINS = 1 << 13  # bins of a feature above which runs of bins are counted first
NO_SPLIT = (-1.0,)
# Gains may differ by rounding: factor of the best gain above which another counts as equal.
NEARLY = 1.0 - 1e-12

log = logging.getLogger("suffice")


@dataclass(frozen=True, eq=False)
class Reweighted(Binned):
    """Rows, binned or unchanged, with a factor by which their weights are multiplied."""

    factor: Annotated[Any, "(N,)"] = None

    def __getitem__(self, rows: slice | np.ndarray) -> Reweighted:
        y: Any = self.y
        return Reweighted(
            self.X[rows], y[rows], self.weight[rows], self.index, self.entry[rows], self.factor[rows]
        )

    @classmethod
    def joined(cls, blocks: Sequence[Any]) -> Reweighted:
        parts = [block.X.T for block in blocks]
        X = sp.hstack(parts).T.tocsr() if sp.issparse(parts[0]) else np.concatenate(parts, axis=1).T
        y, weight, entry, factor = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("y", "weight", "entry", "factor")
        )
        return cls(X, y, weight, (0,), entry, factor)

    @property
    def row_bytes(self) -> float:
        return 32.0 + (super().row_bytes if self.X.dtype.kind == "u" else Rows(self.X).row_bytes)


def starting(bins: FeatureBins | None, classes: np.ndarray, unit: float, rows: Rows) -> Reweighted:
    """A block of rows before the first round, without those of weight zero."""
    rows = rows if rows.weight.all() else rows[np.flatnonzero(rows.weight)]
    X = rows.X if bins is None else bins.codes(rows.X).T
    group, one = class_codes(classes, rows.y).astype(np.int64), np.ones(len(rows))
    block = Reweighted(X, group, rows.weight.copy(), rows.index, np.empty((len(rows), 1), np.int64), one)
    return _changed(block, np.zeros(len(rows), np.int64), np.ones((1, len(classes))), unit)


def _changed(block: Reweighted, answer: np.ndarray, change: np.ndarray, unit: float) -> Reweighted:
    """The block after a round in which the weights changed by this much (A, K)."""
    from ..loops.stumps import reweigh

    factor, entry = np.empty(len(block)), np.empty((len(block), 1), np.int64)
    reweigh(answer, block.y, np.ascontiguousarray(change), block.factor, block.weight, unit, factor, entry)
    return block.replace(factor=factor, entry=entry)


def after_rounds(answers: Any, members: Any, changes: Any, unit: float, block: Reweighted) -> Reweighted:
    """The block after some rounds; `answers(member, block)` returns the answers of one member."""
    for member, change in zip(members, changes, strict=True):
        block = _changed(block, answers(member, block), change, unit)
    return block


@dataclass(frozen=True, eq=False)
class AnswerSums(Statistics):
    """The integer weight of the rows of each class with each answer of a member of the ensemble."""

    weight: Annotated[np.ndarray, "int (A, K)"]

    any_order: ClassVar[bool] = True

    @classmethod
    def of(
        cls, answers: Any, member: Any, n_answers: int, K: int, block: Reweighted, onto: Any = None
    ) -> AnswerSums:
        if onto is None:
            onto = cls(np.zeros((n_answers, K), np.int64))
        group: Any = block.y
        np.add.at(onto.weight, (answers(member, block), group), block.entry[:, 0])
        return onto


class TreeAnswers:
    """The leaf of each row in a tree without bins of numbers, from its codes."""

    def __init__(self, bins: FeatureBins) -> None:
        self.bins = bins

    def __call__(self, tree: Tree, block: Reweighted) -> np.ndarray:
        return tree.replace(bins=self.bins).leaves_of_codes(block.codes)


class ClassAnswers:
    """The class that a classifier predicts for each row."""

    def __init__(self, classes: np.ndarray) -> None:
        self.classes = classes

    def __call__(self, member: Any, block: Reweighted) -> np.ndarray:
        if not len(block):
            return np.zeros(0, np.int64)
        return class_codes(self.classes, nameless(unpacked(member)).predict(block.X))


def packed(estimator: Any) -> Any:
    """A fitted estimator as a value that can be stored in a file; estimators of other libraries are
    returned unchanged."""
    return StoredEstimator.of(estimator) if isinstance(estimator, Storable) else estimator


def unpacked(member: Any) -> Any:
    return member.estimator_of() if isinstance(member, StoredEstimator) else member


def rows_for(base: Any, rows: Partitions) -> Partitions:
    """The rows for many fits of an estimator. They are gathered for estimators of other libraries."""
    if reads_partitions(base):
        return rows.persisted()
    log.info("The rows are gathered for %s.", type(base).__name__)
    return in_memory(rows.gather("use an estimator of suffice."))


def fitted_member(base: Any, seed: int, rows: Opened, weighted: bool = True) -> Any:
    """A clone of an estimator, fitted to rows and packed for storage. The rows are gathered for estimators
    of other libraries."""
    member = seeded(clone(base), seed)
    if reads_partitions(member):
        member.fit(rows)
    else:
        block = rows.gather(None)
        X = rows.container(block.X) if sp.issparse(block.X) else block.X
        member.fit(X, block.y, **({"sample_weight": block.weight} if weighted else {}))
    return packed(member)


class OfMembers:
    """Base class of ensembles of any estimator: the rows are checked as the base estimator requires."""

    _base: Callable[[], Any]  # returns the estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> Opened:
        data = super()._opened(X, y, sample_weight, reset)  # type: ignore[misc]
        return opened_for(self._base(), self, data, X)


class Members:
    """The members of an ensemble by their numbers, as scikit-learn's ensembles have them."""

    estimators_: Any
    n_estimators: int
    checkpoint: Any

    def _check_number(self, n_members: int) -> None:
        """Raise if a warm start has more members than `n_estimators`, and warn if it has as many."""
        if n_members > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={n_members} "
                "when warm_start==True"
            )
        if n_members == self.n_estimators:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")

    def _with_more(
        self, members: tuple[Any, ...], fits: Callable[..., Iterator[Any]], data: Partitions, as_model: Any
    ) -> tuple[Any, ...]:
        """The members and the missing ones up to `n_estimators`. `fits(numbers)` yields the members with
        these numbers."""
        new: Any = None

        def step(progress: Progress) -> Progress:
            nonlocal new
            if new is None:  # a resumed fit has members already
                new = fits(tuple(range(len(progress.model), self.n_estimators)))
            model = (*progress.model, next(new))
            return Progress(model, (*progress.trace, float(len(model))))

        watch = Watch(
            self,
            self.checkpoint,
            data,
            max_iter=self.n_estimators - len(members),
            as_model=as_model,
            in_order=True,
            limited_by="n_estimators",
            grows=True,
        )
        return watch.loop(step, Progress(members)).model

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


class Boosting(Iterative):
    """Base class of estimators that fit one member of an ensemble after the other."""

    one_fit: ClassVar[dict[str, Any]] = {"n_estimators": max}
    learning_rate: float

    def _shorten(self) -> None:
        if (n := self.n_estimators) < self.n_iter_:
            model, trace = self.model_.first(n), tuple(self.trace_[:n])
            self._publish(Progress(model, trace, stopped_because="n_estimators"))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        if progress.stopped_because == "objective not finite":
            raise ValueError(
                f"The loss of {type(self).__name__} is {progress.trace[-1]} after stage {progress.n_iter}: "
                f"lower learning_rate={self.learning_rate}."
            )
        return {"converged_": progress.stopped_because not in ("", "n_estimators", "callback")}

    def _unconverged(self, progress: Progress) -> str:
        return ""  # it stops at the requested number of members


# --- trees ---------------------------------------------------------------------------------------------


@dataclass
class TreeLearner:
    """Fits CART trees. Trees of one split (stumps) are found in one pass over the rows."""

    bins: FeatureBins
    target: ClassTarget
    limits: Limits
    keys: np.ndarray  # of the random numbers of each tree
    n_rows: int
    ccp_alpha: float = 0.0
    gathered: bool = False
    has_missing: Any = None  # (D,), whether features of gathered rows have missing values

    @property
    def unit(self) -> float:
        return self.target.weight_unit

    @property
    def answers(self) -> TreeAnswers:
        return TreeAnswers(self.bins)

    @property
    def is_stump(self) -> bool:
        """Whether each tree is a stump: the best single split of all features."""
        one = self.limits.max_depth == 1 or self.limits.max_leaves == 2
        best = self.limits.max_features == len(self.bins.n_bins) and not self.limits.random
        return one and best and not self.ccp_alpha and bool((self.target.class_weight == 1.0).all())

    def opened(self, data: Partitions) -> Partitions:
        """The binned rows, gathered in this process if they fit."""
        rows = data.map(starting, self.bins, self.target.classes, self.unit)
        block = rows.gather_if(self.n_rows, gathered_bytes(self.bins, ROW_NUMBERS))
        self.gathered = block is not None
        if block is None:
            return rows.persisted()
        self.has_missing = (block.codes == self.bins.n_bins[:, None]).any(axis=1)
        return in_memory(block)

    def member(self, opened: Opened, rows: Partitions, m: int) -> tuple[Tree, np.ndarray]:
        """The tree of round m, and the weights of the classes in its nodes."""
        if self.is_stump:
            tree, sums = self._stump(rows)
        else:
            limits = self.limits._replace(key=key_of(Purpose.TREES, int(self.keys[m])))
            part = rows.map(_to_grow, self.target)
            tree = pruned(grow_tree(part, self.n_rows, self.bins, self.target, limits), self.ccp_alpha)
            shape = len(tree.feature), self.target.n_outputs
            sums = rows.fold(AnswerSums.of, self.answers, tree, *shape).weight
        return tree.replace(bins=tree.bins.of_categories()), sums

    def _stump(self, rows: Partitions) -> tuple[Tree, np.ndarray]:
        from ..loops.stumps import next_bin

        K, limits = self.target.n_outputs, self.limits
        if self.gathered:
            block = rows.block(0)  # type: ignore[attr-defined]
            total = np.zeros(K, np.int64)
            np.add.at(total, block.y, block.entry[:, 0])
        else:
            h = rows.fold(Histograms.of, root(self.bins), np.zeros(1, np.int64), True, K)
            total = h.sums[0]
        if np.count_nonzero(total) < 2 or total.sum() < max(limits.least_split, 2 * limits.least):
            return self._tree(total, None)
        if self.gathered:
            splits: Iterable[Any] = self._gathered_splits(block, total)
        else:
            offset = bin_offsets(self.bins.n_bins)
            splits = (self._split(d, h.count[0, a:b], total) for d, (a, b) in enumerate(pairwise(offset)))
        best, feature = None, -1
        for d, split in enumerate(splits):
            if split[0] >= max(limits.least_gain, 0.0) and (best is None or split[0] > best[0]):
                best, feature = split, d
        if best is not None and best[1][1] < 0:
            n_bins = int(self.bins.n_bins[feature])
            best[1][1] = next_bin(block.codes[feature], block.entry, int(best[1][0]), n_bins)
        return self._tree(total, best, feature)

    def _split(self, d: int, count: np.ndarray, total: np.ndarray) -> Any:
        """The best split of feature d, from its histogram."""
        from ..loops.stumps import best_stump

        categorical, sign = bool(self.bins.categorical[d]), int(self.limits.constraints[d])
        return best_stump(count, categorical, sign, total, self.target.criterion, self.limits.least)

    def _gathered_splits(self, block: Reweighted, total: np.ndarray) -> list[Any]:
        """The best split of each feature, in threads. With two classes and many bins, the bins of a feature
        are counted only where a split can be the best of all, and the bin after the split is left as -1."""
        from ..loops import stumps

        codes, (D, K) = block.codes, (len(self.bins.n_bins), len(total))
        many = self._many_bins if K == 2 and self.target.criterion == GINI else np.zeros(D, bool)
        splits: list[Any] = [NO_SPLIT] * D

        def in_full(d: int) -> None:
            count = np.zeros((self.bins.n_bins[d] + 1, K), np.int64)
            stumps.count_classes(codes[d], block.y, block.entry, count)
            splits[d] = self._split(d, count, total)

        list(in_order(in_full, tuple(np.flatnonzero(~many).tolist())))
        if many.any():
            parts = np.array_split(np.flatnonzero(many), min(n_threads(), int(many.sum())))
            n_runs = (int(self.bins.n_bins.max()) >> stumps.RUN) + 1
            count, bound = np.zeros((D, n_runs, K), np.int64), np.zeros((D, n_runs))
            gain = np.zeros(D)
            (one, other), least = total.tolist(), self.limits.least  # weights of the two classes

            def in_runs(features: np.ndarray) -> None:
                for d in features:
                    stumps.count_runs(codes[d], block.y, block.entry, count[d])
                    gain[d] = stumps.bounds_of_runs(count[d], one, other, least, bound[d])

            list(in_order(in_runs, tuple(parts)))
            lowest = gain.max() * NEARLY
            for d in np.argsort(-bound.max(axis=1), kind="stable"):
                if many[d] and bound[d].max() >= lowest:
                    g, a, *left = stumps.best_in_runs(
                        codes[d], block.y, block.entry, count[d], bound[d], lowest, one, other, least
                    )
                    if a >= 0:
                        splits[d] = g, np.array([a, -1]), NONE_MISSING, np.zeros(0, np.int64), np.array(left)
                        lowest = max(lowest, 0.5 * g * float(total.sum()) * NEARLY)
        return splits

    @cached_property
    def _many_bins(self) -> np.ndarray:
        """The features with many bins and no missing values, which are numbers without a constraint."""
        free = ~self.bins.categorical & (self.limits.constraints == 0) & ~self.has_missing
        return free & (self.bins.n_bins > MANY_BINS)

    def _tree(self, total: np.ndarray, split: Any, feature: int = -1) -> tuple[Tree, np.ndarray]:
        """A tree of one split, or of a leaf alone, and the weights of the classes in its leaves."""
        if split is None:
            sums, n, sets = total[None], 1, np.zeros(0, np.int64)
            edges, side = np.zeros((1, 2), np.int64), np.zeros(1, np.int8)
        else:
            _, edge, s, sets, left = split
            sums, n = np.stack([total, left, total - left]), 3
            edges, side = np.stack([edge, edge * 0, edge * 0]), np.array([s, 0, 0], np.int8)
        children = np.full((n, 2), -1)
        stop = np.zeros(n, np.int64)
        if n == 3:
            children[0], stop[0] = (1, 2), len(sets)
        nodes = Grown(
            np.array([feature, -1, -1][:n]), children, edges, side, sums, np.count_nonzero(sums, axis=1) < 2,
            np.zeros(n), np.zeros(n, np.uint64), np.tile([-np.inf, np.inf], (n, 1)), np.zeros(n, np.int64),
            stop, sets,
        )  # fmt: skip
        return tree_of(self.bins, self.target, nodes), np.where(children[:, :1] < 0, sums, 0)


def _to_grow(target: ClassTarget, block: Reweighted) -> Binned:
    """The rows with a weight, which is also that of their class."""
    if not (target.class_weight == 1.0).all():
        one = np.rint(block.factor * target.weight_unit * target.class_weight[block.y])
        block = block.replace(entry=weighted(block.weight, one)[:, None])
    seen = block.entry[:, 0] > 0
    return block if seen.all() else block[np.flatnonzero(seen)]


# --- other classifiers ---------------------------------------------------------------------------------


@dataclass
class ClassifierLearner:
    """Learner that fits any classifier with weights. Those of other libraries are fitted to gathered rows."""

    estimator: Any
    classes: np.ndarray
    unit: float
    seeds: np.ndarray
    total: int = 0

    @property
    def answers(self) -> ClassAnswers:
        return ClassAnswers(self.classes)

    def opened(self, data: Partitions) -> Partitions:
        rows = rows_for(self.estimator, data.map(starting, None, self.classes, self.unit))
        self.total = int(rows.fold(_total)[0])
        return rows

    def member(self, opened: Opened, rows: Partitions, m: int) -> tuple[Any, np.ndarray]:
        """The classifier of round m, and the weight of each class for each class that it predicts."""
        part = replace(opened, data=rows.map(_as_rows, self.classes, self.total))
        member, K = fitted_member(self.estimator, int(self.seeds[m]), part), len(self.classes)
        return member, rows.fold(AnswerSums.of, self.answers, member, K, K).weight


def seeded(estimator: BaseEstimator, seed: int) -> Any:
    """Set the random state of the estimator and of all estimators that it contains."""
    names = (name for name in estimator.get_params() if f"__{name}".endswith("__random_state"))
    return estimator.set_params(**dict.fromkeys(names, seed))


def _total(block: Reweighted) -> np.ndarray:
    return block.entry.sum(axis=0)


def _as_rows(classes: np.ndarray, total: int, block: Reweighted) -> Rows:
    """Rows with weights whose sum is about one, as scikit-learn has them."""
    return Rows(block.X, classes[block.y], block.entry[:, 0] / float(total), block.index)
