"""The loop of gradient boosting: in each stage trees are grown to the gradients of a loss. Friedman, 2001.

Trees are those of an impurity (`CartLearner`), or Newton trees (`NewtonLearner`), whose gain `newton.py`
derives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..core.blocks import Matrix, Rows
from ..core.loop import Progress, Watch
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..core.threads import short_tasks
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import seed_of
from ..estimator.scores import Classifier, Regressor
from ..fitting.resident import Resident
from ..inputs import TargetDomain, answers_of, in_blocks, read_rows
from ..loops.trees import mixed
from ..losses import Gamma, Huber, Loss, Poisson, loss_of
from ..statistics import weights_of_classes
from ..statistics.bins import FeatureBins, grid
from ..statistics.histograms import Binned
from ..statistics.selection import group_quantiles
from ..tree.base import TreeGrower, TreeStart
from ..tree.forest import Forest
from ..tree.growth import Limits, gathered_bytes, grow_tree, tree_of, with_weight
from ..tree.model import Tree
from ..tree.pruning import pruned
from ..tree.targets import NumberTarget, weighted
from .draws import Draws
from .newton import LEAST_PACKED, FoldedNewton, GatheredNewton, NewtonTarget, Weights, parts
from .stages import (
    SELDOM,
    Measure,
    Scored,
    StageSums,
    Start,
    Targets,
    add_trees,
    after_trees,
    all_held,
    evaluate,
    first_scores,
    with_score,
)
from .weak_learners import PERSIST_ROUNDS

LARGEST_STEP = 1e154  # largest step of a stage: its square is finite
ROW_NUMBERS = 4  # numbers per gathered row, beside its raw scores: target, weight, loss and place in a node


@dataclass(frozen=True, eq=False, kw_only=True)
class Boosted(Progress):
    """A fit of gradient boosting. Its trace is the first column of the losses."""

    losses_: Annotated[np.ndarray, "(M, 3)"]
    converged_: bool
    stopped_because_: str

    @classmethod
    def of(cls, model: BoostedTrees, state: Progress) -> Boosted:
        """The model after the stages of a loop."""
        losses, reason = np.array(state.model.losses), state.stopped_because
        return cls(model, losses_=losses, converged_=state.converged, stopped_because_=reason)


@dataclass(frozen=True, eq=False)
class Stages(Value):
    """The completed stages."""

    trees: tuple[Tree, ...] = ()  # K of each stage
    # Mean losses before the first stage and after each: of the rows in its sample, of the others, of those
    # for validation.
    losses: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class BoostedTrees(Predictor):
    """A sum of trees: K of each stage, one for each raw score."""

    forest: Annotated[Forest, "D"]
    baseline: Annotated[np.ndarray, "(K,)"]  # the raw scores before the first stage
    start: Any = None  # a stored estimator whose predictions are those scores instead

    @property
    def n_stages(self) -> int:
        return len(self.forest) // len(self.baseline)

    def sum(self, X: Matrix) -> np.ndarray:
        """The raw scores of rows (N, K), without the start."""
        K = len(self.baseline)
        return self.forest.sum(X, np.arange(len(self.forest)) % K, K)

    def staged(self, X: Matrix, score: np.ndarray) -> Iterator[np.ndarray]:
        """The raw scores of rows after each stage, from those before the first."""
        K = len(self.baseline)
        for m, tree in enumerate(self.forest):
            score[:, m % K] += tree.value[tree.leaves(X), 0]
            if m % K == K - 1:
                yield score.copy()


# --- one stage -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InSample:
    """A function of blocks: 1 for rows in the sample of a stage, and 0 for the others."""

    draws: Draws
    stage: int

    def __call__(self, block: Scored) -> np.ndarray:
        return self.draws.counts(self.stage, block)


@dataclass(frozen=True)
class Entries:
    """The integer gradients and curvatures of raw score k of all rows, to which a Newton tree is grown.
    They are zero for validation rows."""

    loss: Loss
    target: NewtonTarget
    k: int
    packed: bool = False

    def __call__(self, block: Scored) -> np.ndarray:
        g, h = (x[:, self.k] if x.shape[1] else x[:0, :].ravel() for x in block.derivatives(self.loss))
        if self.packed:
            return self.target.packed_entries(g, h)
        return self.target.entries(g, h, block.train_weight)


def as_entries(entries: Entries, block: Scored) -> Binned:
    return Binned(block.X, None, None, block.index, entries(block))


@dataclass
class NewtonLearner:
    """Newton trees of gradients and curvatures, from histograms."""

    bins: FeatureBins
    limits: Limits
    weights: Weights
    n_rows: int
    groups: np.ndarray | None
    penalty: float
    learning_rate: float
    weight_unit: float
    block: Any = None  # the rows, if they are in this process
    columns: Any = None  # (D, N), their codes
    order: Any = None  # (N,), those for training
    held: Any = None  # those for validation

    def gathered(self, block: Scored) -> Self:
        """Take the rows into this process. A tree is added to their raw scores when it is grown."""
        self.block, self.columns = block, np.ascontiguousarray(block.X.T)
        self.order = np.flatnonzero(~block.held).astype(np.uint32)
        self.held = block[np.flatnonzero(block.held)]
        return self

    def grow(self, rows: Partitions, loss: Loss, sums: StageSums, m: int, sample: Any) -> list[Tree]:
        """The trees of stage m."""
        trees = []
        for k in range(loss.n_outputs):
            target = self._target(loss, sums, k)
            packed = self.block is not None and self.weights.one and target.packed
            limits = limits_of(self.limits, m * loss.n_outputs + k)
            entries = Entries(loss, target, k, packed)
            grown: Any
            if self.block is None:
                part = rows.map(as_entries, entries).persisted()
                grown = FoldedNewton(self.bins, target, limits, self.n_rows, self.groups, part)
            else:
                grown = self._gathered(limits, entries)
            nodes = grown.run()
            tree = tree_of(self.bins, target, nodes)
            if loss.leaf == "quantile":
                leaves = Leaves(self.bins, tree, self.weight_unit)
                value = leaves.quantiles(rows, loss.level, self.n_rows)
                tree = tree.replace(value=self.learning_rate * value[:, None])
            if self.block is not None:
                grown.add_values(nodes, tree, k, self.block.score)
                self._add_to_held(tree, k)
            trees.append(tree)
        return trees

    def _gathered(self, limits: Limits, entries: Entries) -> GatheredNewton:
        entry = self._entries(entries)
        entry = entry if len(self.order) == len(entry) else entry[self.order]
        lane = entries.target.lane if entries.packed else 0
        shared = self.bins, entries.target, limits, self.groups
        return GatheredNewton(*shared, self.block.X, self.columns, self.order, entry, lane)

    def _entries(self, entries: Entries) -> np.ndarray:
        """The integers of all rows."""
        with short_tasks() as each:
            pieces = each(entries, [self.block[a:b] for a, b in parts(0, len(self.block))])
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def _add_to_held(self, tree: Tree, k: int) -> None:
        """Add the values of a tree to the raw scores of the rows for validation."""
        if len(self.held):
            leaf = tree.leaves_of_codes(self.held.X.T)
            self.block.score[self.block.held, k] += tree.value[leaf, 0]

    def _target(self, loss: Loss, sums: StageSums, k: int) -> NewtonTarget:
        largest = np.array(loss.largest or sums.largest[k])
        coarse = loss.largest is not None and self.weights.total * len(self.bins.n_bins) >= LEAST_PACKED
        if coarse and not loss.constant:  # unless most curvatures are far smaller than the largest
            mean = float(sums.curvature[k]) / grid(self.weights.total * largest[1]) / self.weights.total
            coarse = mean >= SELDOM * largest[1]
        return NewtonTarget.of(self.weights, largest, coarse, self.penalty, self.learning_rate)


def limits_of(limits: Limits, tree: int) -> Limits:
    """The limits of a tree, with its own random key."""
    with np.errstate(over="ignore"):
        return limits._replace(key=int(mixed(np.uint64(limits.key) + np.uint64(tree))))


@dataclass(frozen=True)
class Leaves:
    """The rows in the sample of a stage, grouped by the leaf of a tree; without a tree, all are in one
    leaf."""

    bins: FeatureBins
    tree: Tree | None
    weight_unit: float
    sample: Any = None

    @property
    def n_nodes(self) -> int:
        return 1 if self.tree is None else len(self.tree.feature)

    def of(self, block: Scored) -> np.ndarray:
        """The leaf of each row."""
        if self.tree is None:
            return np.zeros(len(block), np.int64)
        return self.tree.replace(bins=self.bins).leaves_of_codes(block.X.T)

    def weight(self, block: Scored) -> np.ndarray:
        """The weight of each row: zero if it is not in the sample."""
        weight = block.train_weight
        return weight if self.sample is None else weight * self.sample(block)

    def residuals(self, absolute: bool, block: Scored) -> Rows:
        """The residuals of rows, or their absolute values, with their leaf and integer weight."""
        x = np.asarray(block.y) - block.score[:, 0]
        weight = weighted(self.weight(block), np.full(len(x), self.weight_unit))
        seen = np.flatnonzero(weight)
        x = np.abs(x[seen]) if absolute else x[seen]
        return Rows(x[:, None], self.of(block)[seen], weight[seen].astype(np.float64), block.index)

    def quantiles(self, rows: Partitions, level: float, n_rows: int, absolute: bool = False) -> np.ndarray:
        """A quantile of the residuals of each leaf."""
        return group_quantiles(rows.map(self.residuals, absolute), self.n_nodes, level, n_rows)


@dataclass(frozen=True, eq=False)
class LeafSums(Statistics):
    """Sums of integers for each node of a tree."""

    sums: Annotated[np.ndarray, "int (T, 2)"]

    any_order: ClassVar[bool] = True

    @classmethod
    def of(cls, leaves: Leaves, numbers: Any, units: np.ndarray, block: Scored, onto: Any = None) -> LeafSums:
        """`numbers(leaf, block)` are two for each row; `units` are integers of a unit of each."""
        if onto is None:
            onto = cls(np.zeros((leaves.n_nodes, 2), np.int64))
        leaf, weight = leaves.of(block), leaves.weight(block)
        for j, x in enumerate(numbers(leaf, block)):
            np.add.at(onto.sums[:, j], leaf, weighted(weight, np.rint(x * units[j])))
        return onto

    def ratio(self, units: np.ndarray) -> np.ndarray:
        """The first sum divided by the second; zero if that is zero."""
        first, second = self.sums.T
        return np.divide(first, second, out=np.zeros(len(first)), where=second > 0) / (units[0] / units[1])


@dataclass(frozen=True)
class Steps:
    """Gradient and curvature of raw score k."""

    loss: Loss
    k: int

    def __call__(self, leaf: np.ndarray, block: Scored) -> tuple[np.ndarray, np.ndarray]:
        g, h = block.derivatives(self.loss)
        return g[:, self.k], h[:, self.k]


@dataclass(frozen=True)
class Clipped:
    """Residuals less the median of their leaf, at most `delta`; and ones."""

    median: np.ndarray
    delta: float

    def __call__(self, leaf: np.ndarray, block: Scored) -> tuple[np.ndarray, np.ndarray]:
        r = np.asarray(block.y) - block.score[:, 0] - self.median[leaf]
        return np.clip(r, -self.delta, self.delta), np.ones(len(r))


@dataclass
class CartLearner:
    """CART trees of the negative gradients, whose leaves then get the values that minimize the loss."""

    bins: FeatureBins
    limits: Limits
    weights: Weights
    n_rows: int
    learning_rate: float
    weight_unit: float
    ccp_alpha: float
    min_impurity_decrease: float

    def grow(self, rows: Partitions, loss: Loss, sums: StageSums, m: int, sample: Any) -> list[Tree]:
        """The trees of stage m."""
        return [self._tree(rows, loss, sums, m, k, sample) for k in range(loss.n_outputs)]

    def _tree(self, rows: Partitions, loss: Loss, sums: StageSums, m: int, k: int, sample: Any) -> Tree:
        g, h = loss.largest or sums.largest[k]
        target = NumberTarget.of("squared_error", -float(g), float(g), self.weights.total)
        gain = self.min_impurity_decrease * self.weights.total * target.gain_unit
        limits = limits_of(self.limits, m * loss.n_outputs + k)._replace(least_gain=float(gain))
        part = rows.map(as_targets, loss, k, target, sample)
        tree = pruned(grow_tree(part, self.n_rows, self.bins, target, limits), self.ccp_alpha)
        value = self._values(rows, loss, Leaves(self.bins, tree, self.weight_unit, sample), k, (g, h))
        return tree.replace(value=self.learning_rate * value[:, None])

    def _values(
        self, rows: Partitions, loss: Loss, leaves: Leaves, k: int, largest: tuple[float, float]
    ) -> np.ndarray:
        """The values of the leaves that minimize the loss, or a Newton step towards them."""
        total, K = self.weights.total, loss.n_outputs
        if loss.leaf == "step" and loss.constant:
            return leaves.tree.value[:, 0]  # type: ignore[union-attr]
        if loss.leaf == "step":
            units = np.array([grid(total * float(x)) for x in largest])
            step = -rows.fold(LeafSums.of, leaves, Steps(loss, k), units).ratio(units)
            return step * ((K - 1.0) / K if K > 1 else 1.0)  # Friedman, equation 31
        value = leaves.quantiles(rows, loss.level, self.n_rows)
        if isinstance(loss, Huber):
            units = np.array([grid(total * loss.delta), self.weight_unit])
            value = value + rows.fold(LeafSums.of, leaves, Clipped(value, loss.delta), units).ratio(units)
        return value


def as_targets(loss: Loss, k: int, target: NumberTarget, sample: Any, block: Scored) -> Binned:
    """The rows in a sample, with their negative gradients as the targets of a tree."""
    weight = block.train_weight
    if sample is not None:
        weight = weight * sample(block)
    g, _ = block.derivatives(loss)
    group, entry = target.integers(Rows(block.X, -g[:, k], weight))
    return with_weight(Binned(block.X, group, None, block.index, entry))


# --- the loop --------------------------------------------------------------------------------------------


def opened(
    data: Partitions, start: Start, bins: FeatureBins, n_rows: int
) -> tuple[Partitions, Scored | None]:
    """Return the binned rows as partitions, and also as one block of this process if they fit in memory."""
    rows = data.map(start)
    block = rows.gather_if(n_rows, gathered_bytes(bins, ROW_NUMBERS + start.loss.n_outputs))
    return (rows.persisted(), None) if block is None else (in_blocks(block), block)


def _after(add: Any, bins: FeatureBins, rows: Partitions, done: int, trees: tuple[Tree, ...]) -> Partitions:
    """Add the values of the trees to the raw scores of the rows, which already contain the first `done`
    trees."""
    return rows.map(add, bins, trees[done:])


@dataclass
class StageLoop:
    """The stages of a fit: the rows with their raw scores, and the learner that grows the trees."""

    rows: Resident
    others: Resident | None  # more rows, for validation
    bins: FeatureBins
    loss: Loss
    learner: Any
    measure: Measure
    draws: Draws | None
    gathered: bool  # whether the blocks are of this process, and their scores are changed in place

    def step(self, state: Progress) -> Progress:
        """One stage."""
        m, loss = state.n_iter, self.loss
        self._advance(state.model.trees)
        if isinstance(loss, Huber):
            leaves = Leaves(self.bins, None, self.measure.weight_unit)
            delta = leaves.quantiles(self.rows.data, loss.quantile, self.learner.n_rows, absolute=True)
            loss = loss.replace(delta=float(delta[0]))
            self._evaluate(loss)
        measure = replace(self.measure, loss=loss)
        sample = None if self.draws is None else InSample(self.draws, m)
        sums = self.rows.sums or self._fold(measure, sample)
        losses = state.model.losses or (self._means(sums),)
        trees = self.learner.grow(self.rows.data, loss, sums, m, sample)
        trees = (*state.model.trees, *(tree.replace(bins=self.bins.of_categories()) for tree in trees))
        if self.gathered and isinstance(self.learner, NewtonLearner):  # which added the trees to the scores
            self.rows.advance(len(trees), self.rows.data)
        self._advance(trees)
        sums = self.rows.sums = self._fold(measure, sample)
        _check_range(m, trees[-loss.n_outputs :], sums)
        losses = (*losses, self._means(sums))
        return state.replace(model=Stages(trees, losses), trace=(*state.trace, losses[-1][0]))

    def _advance(self, trees: tuple[Tree, ...]) -> None:
        """Add the values of the trees that are not yet in the raw scores."""
        for rows in (self.rows, self.others):
            if rows is not None:
                rows.at(len(trees), trees)

    def _evaluate(self, loss: Loss) -> None:
        """Compute the losses and derivatives of gathered rows once, for all folds of the stage."""
        if self.gathered:
            self.rows.data = self.rows.data.map(evaluate, loss)

    def _fold(self, measure: Measure, sample: Any) -> StageSums:
        self._evaluate(measure.loss)
        s = self.rows.data.fold(StageSums.of, measure, sample)
        return s if self.others is None else s + self.others.data.fold(StageSums.of, measure, None)

    def _means(self, s: StageSums) -> tuple[float, ...]:
        """Mean losses of in-bag, out-of-bag and validation rows; NaN if there are no such rows."""
        weight = np.where(s.weight > 0, s.weight, np.nan) / self.measure.weight_unit
        return tuple((s.loss / self.measure.loss_unit / weight).tolist())


def _check_range(m: int, trees: tuple[Tree, ...], sums: StageSums) -> None:
    """Raise if the trees of stage m took the loss out of range."""
    most = float(np.abs(np.concatenate([tree.value for tree in trees])).max())
    if not (most <= LARGEST_STEP and np.isfinite(sums.largest).all()):
        raise ValueError(
            f"The loss overflows in stage {m + 1}, whose trees have values up to {most:.3g}: lower "
            "learning_rate."
        )


class TreeBoosting(TreeGrower):
    """Base class of gradient boosting."""

    model_: Annotated[BoostedTrees, "D"]
    losses_: Annotated[np.ndarray, "(M, 3)"]
    one_fit: ClassVar[dict[str, Any]] = {"n_estimators": max}
    _limited_by: ClassVar[str]  # the parameter with the number of stages
    _by_rows: ClassVar[bool]  # the layout of codes
    reports_tasks = True
    splitter: ClassVar[str] = "best"
    subsample: float = 1.0

    def _guarantee(self) -> Guarantee:
        return Guarantee("order" if self.subsample < 1.0 else "bit")

    def _loss_of(self, start: TreeStart) -> tuple[Loss, dict[str, Any]]:
        """The loss, and the fitted attributes that follow from the targets."""
        raise NotImplementedError

    @property
    def _link(self) -> Loss:
        """The loss, for what it predicts from raw scores."""
        raise NotImplementedError

    def _learner(self, bins: FeatureBins, weights: Weights, n_rows: int, weight_unit: float) -> Any:
        """The learner that grows the trees of each stage."""
        raise NotImplementedError

    def _validation(self, n_rows: int, held_out: bool) -> tuple[bool, float | None]:
        """Whether the fit may stop early, and the fraction of the rows for validation, or None to stop by
        the training loss. `held_out` says whether validation rows were passed to `fit`."""
        raise NotImplementedError

    def _stops(self, losses: np.ndarray) -> bool:
        """Whether to stop early, given the losses before the first stage and after each."""
        raise NotImplementedError

    def _first(self, data: Partitions, categorical: np.ndarray) -> Any:
        """A fitted estimator that predicts before the first stage; None for a constant."""
        return None

    def _continues_fit(self) -> bool:
        return self.warm_start and hasattr(self, "model_")

    def _solve(self, data: Any, held_out: tuple[Any, Any, Any] | None = None, monitor: Any = None) -> Boosted:
        start, bins = self._binned(data)
        loss, fitted = self._loss_of(start)
        self._check_same_targets(fitted.get("classes_"))
        earlier = self.model_ if self._continues_fit() else None
        n_stages = getattr(self, self._limited_by)
        if earlier is not None and earlier.n_stages > n_stages:
            raise ValueError(
                f"{self._limited_by}={n_stages} must be larger or equal to the number of stages so far, "
                f"{earlier.n_stages}, when warm_start==True"
            )
        stopping, share = self._validation(int(start.rows), held_out is not None)
        key = seed_of(self.random_state)
        first = self._first(data, bins.categorical) if earlier is None else earlier.start
        held = (key, share) if stopping and share is not None and held_out is None else None
        binned = Start(bins, fitted.get("classes_"), self._by_rows, loss, first, held)
        rows, block = opened(data, binned, bins, int(start.rows))
        targets = Targets.of(rows, loss, start)
        if held is not None and not targets.n_held:
            raise ValueError(
                "No row is for validation: raise validation_fraction, or choose another random_state."
            )
        baseline = earlier.baseline if earlier is not None else self._baseline(targets, rows, loss, bins)
        if first is None:
            rows = rows.map(with_score, baseline)
        if block is not None:
            block = (block if first is not None else with_score(baseline, block)).with_space(loss)
            rows = in_blocks(block)
        others = None
        if held_out is not None:
            unseen = self._opened(*held_out, reset=False).map(replace(binned, bins=None)).map(all_held)
            unseen = (unseen if first is not None else unseen.map(with_score, baseline)).persisted()
            others = Resident(unseen, partial(_after, after_trees, bins), PERSIST_ROUNDS * loss.n_outputs)
        draws = None
        if self.subsample < 1.0:
            draws = Draws.of(rows, key, int(start.rows), self.subsample, False)
        learner = self._learner(bins, targets.weights, targets.n_rows, targets.weight_unit)
        if block is not None and isinstance(learner, NewtonLearner):
            learner.gathered(block)
        # Blocks are stored in each stage, which has as many passes as its trees have levels.
        scored = Resident(rows, partial(_after, add_trees if block is not None else after_trees, bins))
        boosting = StageLoop(
            scored, others, bins, loss, learner, targets.measure(rows, loss), draws, block is not None
        )  # fmt: skip
        score = self._score_of(data, binned, held_out) if stopping else None
        by_validation = held_out is not None or held is not None or score is not None

        def as_model(stages: Stages) -> BoostedTrees:
            return BoostedTrees(Forest.of(stages.trees), baseline, first)

        def step(state: Progress) -> Progress:
            state = boosting.step(state)
            if score is not None:
                self._publish(Boosted.of(as_model(state.model), state))
                *losses, (train, out, _) = state.model.losses
                losses = [(*before[:2], np.inf if i == 0 else before[2]) for i, before in enumerate(losses)]
                state = state.replace(model=state.model.replace(losses=(*losses, (train, out, -score()))))
            if monitor is not None:
                self._publish(Boosted.of(as_model(state.model), state))
                if monitor(state.n_iter - 1, self, {}):
                    return state.replace(stopped_because="monitor")
            losses = np.array(state.model.losses)[:, 2 if by_validation else 0]
            stops = stopping and self._stops(losses)
            return state.replace(stopped_because="tolerance") if stops else state

        watch = Watch(
            self, self.checkpoint, data, n_stages, as_model=as_model, in_order=draws is not None,
            limited_by=self._limited_by, grows=True,
        )  # fmt: skip
        self.__dict__.update(fitted, do_early_stopping_=stopping)
        state = Progress(Stages())
        if earlier is not None:
            earlier_stages = Stages(tuple(earlier.forest), tuple(map(tuple, self.losses_.tolist())))
            state = state.replace(model=earlier_stages, trace=tuple(self.losses_[1:, 0].tolist()))
        state = watch.loop(step, state)
        return Boosted.of(as_model(state.model), state)

    def _score_of(self, data: Partitions, start: Start, held_out: Any) -> Any:
        """A function that scores the current model on the validation rows; None to use their loss."""
        return None

    def _shorten(self) -> None:
        n = getattr(self, self._limited_by)
        if n < self.model_.n_stages:
            forest = self.model_.forest.first(n * len(self.model_.baseline))
            losses = tuple(map(tuple, self.losses_[: n + 1].tolist()))
            state = Progress(Stages(tuple(forest), losses), stopped_because=self._limited_by)
            self._publish(Boosted.of(self.model_.replace(forest=forest), state))

    def _baseline(self, targets: Targets, rows: Partitions, loss: Loss, bins: FeatureBins) -> np.ndarray:
        """The best constant raw scores."""
        if loss.leaf == "step":
            return loss.baseline(targets.mean)
        return Leaves(bins, None, targets.weight_unit).quantiles(rows, loss.level, targets.n_rows)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {**super()._fitted(progress), "n_trees_per_iteration_": len(progress.model.baseline)}

    def _score_trees(self) -> tuple[list[Tree], np.ndarray]:
        """Trees whose values add up to the raw scores, and the constant that is added to the sum."""
        if self.model_.start is not None:
            raise TypeError("Scores that start at the predictions of another model are not a sum of trees.")
        K = len(self.model_.baseline)
        trees = enumerate(self.model_.forest)
        return [tree.replace(value=tree.value * np.eye(K)[m % K]) for m, tree in trees], self.model_.baseline

    # --- prediction --------------------------------------------------------------------------------------

    def _start_scores(self, X: Any) -> np.ndarray:
        """The raw scores of rows before the first stage, (N, K)."""
        if self.model_.start is None:
            return np.tile(self.model_.baseline, (X.shape[0], 1))
        return first_scores(self.model_.start, self._link, X)

    def _raw(self, X: Any) -> np.ndarray:
        """The raw scores of rows, (N, K)."""
        return answers_of(self, lambda rows: self._start_scores(rows) + self.model_.sum(rows), X)

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """The raw scores after each stage, for rows in memory."""
        X = read_rows(self, X)
        return self.model_.staged(X, self._start_scores(X))


DOMAINS = {  # of the targets of losses
    "poisson": TargetDomain(Poisson.domain, "loss='poisson' requires non-negative y and sum(y) > 0."),
    "gamma": TargetDomain(Gamma.domain, "loss='gamma' requires strictly positive y."),
}


class BoostingRegressor(Regressor):
    """Predictions of boosted regressors."""

    _labels = False
    _link: Loss
    _raw: Callable[[Any], np.ndarray]
    _staged: Callable[[Any], Iterator[np.ndarray]]

    loss: str

    @property
    def target_domain(self) -> TargetDomain | None:
        """The numbers that the loss allows in y."""
        return DOMAINS.get(self.loss)

    def _loss_of(self, start: TreeStart) -> tuple[Loss, dict[str, Any]]:
        if self.loss == "poisson" and start.target.high[0] <= 0:
            raise ValueError(DOMAINS["poisson"].requirement)
        return self._link, {}

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The predicted number of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._link.predicted(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the predictions after each stage, for rows in memory."""
        return map(self._link.predicted, self._staged(X))


class BoostingClassifier(Classifier):
    """Predictions of boosted classifiers."""

    _labels = True
    _raw: Callable[[Any], np.ndarray]
    _staged: Callable[[Any], Iterator[np.ndarray]]

    def _classes_of_model(self) -> int:
        scores = len(self.model_.baseline)  # one is for up to two classes
        return scores if scores > 1 else min(len(self.classes_), 2)

    @property
    def _link(self) -> Loss:
        return loss_of(self.loss, class_weight=np.ones(len(self.classes_)))

    def _loss_of(self, start: TreeStart) -> tuple[Loss, dict[str, Any]]:
        (classes,), (totals,) = start.target.values, start.target.count
        weight = weights_of_classes(getattr(self, "class_weight", None), classes, totals[0])
        if self.loss == "exponential" and len(classes) > 2:
            raise ValueError(
                f"loss='exponential' is only suitable for a binary classification problem, you have "
                f"n_classes={len(classes)}. Please use loss='log_loss' instead."
            )
        if len(classes) > 2 and self.monotonic_cst is not None:
            raise ValueError(
                "monotonic constraints are not supported for multiclass classification. Leave monotonic_cst "
                "out."
            )
        return loss_of(self.loss, class_weight=weight), {"classes_": classes}

    def _decision(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0].copy() if raw.shape[1] == 1 else raw

    def _probabilities(self, raw: np.ndarray) -> np.ndarray:
        return np.ones((len(raw), 1)) if len(self.classes_) == 1 else self._link.predicted(raw)

    def _classes_of(self, raw: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(raw))
        return self.classes_[(raw[:, 0] > 0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)]

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the raw scores of each row: one for each class, or that of the second of two classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._decision(self._raw(X))

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._probabilities(self._raw(X))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest probability for each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._classes_of(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the decision function after each stage, for rows in memory."""
        return map(self._decision, self._staged(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the probabilities after each stage, for rows in memory."""
        return map(self._probabilities, self._staged(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Generator of the predicted classes after each stage, for rows in memory."""
        return map(self._classes_of, self._staged(X))
