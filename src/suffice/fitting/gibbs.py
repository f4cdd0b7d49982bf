"""Gibbs sampling of mixtures: each sweep draws labels by a fold, and then parameters on the driver.

Split and merge moves change many labels at once. A sampler that changes one label at a time would have to
pass through improbable states: Jain and Neal 2004, Dahl 2005, Chang and Fisher 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import expit

from ..core.blocks import Matrix, Rows
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Parts, Statistics
from ..core.values import Value
from ..families import GibbsMixture, GroupStatistics, Mixture, Sticks
from ..statistics import Moments
from .em import summarize_each
from .sampler import Chain, Draw

MOVES_EVERY = 5  # sweeps between split and merge moves, which take REFINE + 1 additional passes
REFINE = 1  # number of EM steps that refine the two sub-clusters of a proposal


@dataclass(frozen=True)
class GibbsSweep:
    """Transition of Markov chains of mixtures.

    One fold draws the labels of the rows for all chains, and each chain draws weights and parameters from its
    sums.
    """

    # moves(models, sums, data) returns the sums after moves of labels that preserve their distribution.
    moves: Callable[[tuple[GibbsMixture, ...], tuple[Any, ...], Partitions], tuple[Any, ...]] | None
    keep: Callable[[Mixture], tuple[Any, ...]]  # the arrays of a draw that are kept

    def __call__(self, chains: tuple[Chain, ...], data: Partitions) -> tuple[Draw, ...]:
        models = tuple(chain.model for chain in chains)
        sums = data.fold(summarize_each, models).parts
        if self.moves is not None:
            sums = self.moves(models, sums, data)
        return tuple(self.draw(model, s) for model, s in zip(models, sums, strict=True))

    def draw(self, model: GibbsMixture, s: GroupStatistics) -> Draw:
        """Draw the parameters of one chain. The draw also records the number of components with rows."""
        new = model.estimate(s)
        return Draw(new, model.log_joint(s), (*self.keep(new.mixture), int((s.weight > 0).sum())), s)


# --- split and merge -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pairs(Value):
    """Pairs of components (a, b), with the rows of both divided between two sub-clusters.

    If b is empty, the proposal splits a: rows of the second sub-cluster go to b. If neither is empty, the
    proposal merges them: all rows go to a. The sub-clusters depend only on the rows of both components, and
    not on which of the two a row is in. So they are the same for a move and for its reverse.
    """

    first: Annotated[np.ndarray, "int (P,)"]
    second: Annotated[np.ndarray, "int (P,)"]
    merge: Annotated[np.ndarray, "bool (P,)"]
    sub: Mixture  # 2 P components; those of pair p are 2 p and 2 p + 1

    def shares(self, X: Matrix, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log odds of the second sub-cluster, and the number of copies of the row in the pair.

        Both have an entry for each row and pair, (N, P).
        """
        copies = counts[:, self.first] + counts[:, self.second]
        odds = np.zeros(copies.shape)
        for p in range(len(self.first)):
            rows, two = np.flatnonzero(copies[:, p]), slice(2 * p, 2 * p + 2)
            family: Any = self.sub.component
            halves = family.replace(mean=family.mean[two], covariance=family.covariance[two])
            log_joint = Mixture(self.sub.weight[two], halves).log_joint(X[rows])
            odds[rows, p] = log_joint[:, 1] - log_joint[:, 0]
        return odds, copies


@dataclass(frozen=True, eq=False)
class Proposals(Statistics):
    """Sums of the sub-clusters, and the log probability of the division of the rows between them."""

    log_q: Annotated[np.ndarray, "(P,)"]
    weight: Annotated[np.ndarray, "(S,)"]  # S = 2 P
    component: Any


def split_and_merge(
    models: tuple[GibbsMixture, ...], sums: tuple[Any, ...], data: Partitions
) -> tuple[Any, ...]:
    """Split or merge components by Metropolis-Hastings moves, decided from the sums of two sub-clusters.

    Components are paired at random. For each pair, two densities are fitted to the rows of both: from their
    moments, divided along the principal axis, and then by EM steps. A split divides the rows by draws from
    the responsibilities, and the reverse of a merge would do the same, so that both have a probability.
    Labels, weights and parameters keep their posterior distribution exactly.
    """
    if models[0].sweep % MOVES_EVERY == 0:
        sums = _divided_and_joined(models, sums, data)
    return tuple(_relabelled(model, s) for model, s in zip(models, sums, strict=True))


def _divided_and_joined(
    models: tuple[GibbsMixture, ...], sums: tuple[Any, ...], data: Partitions
) -> tuple[Any, ...]:
    pairs = tuple(_paired(model, s) for model, s in zip(models, sums, strict=True))
    active = [n for n, pair in enumerate(pairs) if pair is not None]
    if not active:
        return sums
    chosen = tuple(models[n] for n in active)
    current = tuple(pair for pair in pairs if pair is not None)
    for _ in range(REFINE):
        refined = data.fold(_refine, chosen, current).parts
        current = tuple(
            pair.replace(sub=_estimated(pair.sub, s)) for pair, s in zip(current, refined, strict=True)
        )
    proposals = data.fold(_propose, chosen, current).parts
    out = list(sums)
    for n, pair, proposal in zip(active, current, proposals, strict=True):
        out[n] = _decided(models[n], sums[n], pair, proposal)
    return tuple(out)


def _paired(model: GibbsMixture, s: GroupStatistics) -> Pairs | None:
    """Return random pairs of components, or None if no pair has two rows.

    The sub-clusters of a pair start as the halves along the principal axis of its rows.
    """
    order = model.driver_rng(1).permutation(len(s.weight))
    chosen = [(a, b) for a, b in zip(order[::2], order[1::2], strict=False) if s.weight[a] > 0]
    chosen = [(a, b) for a, b in chosen if s.weight[a] + s.weight[b] > 1]
    if not chosen:
        return None
    first, second = np.array(chosen).T
    family: Any = model.mixture.component
    halves = family.halves(_taken(s.component, first) + _taken(s.component, second))
    return Pairs(first, second, s.weight[second] > 0, Mixture(np.full(2 * len(first), 0.5), halves))


def _taken(s: Moments, index: Any) -> Moments:
    """Return the moments of some groups."""
    return s.replace(weight=s.weight[index], mean=s.mean[index], scatter=s.scatter[index])


def _estimated(sub: Mixture, s: GroupStatistics) -> Mixture:
    pairs = s.weight.reshape(-1, 2) + 1.0
    weight = pairs / pairs.sum(axis=1, keepdims=True)
    return sub.replace(weight=weight.ravel(), component=sub.component.estimate(s.component))


def _refine(models: tuple[GibbsMixture, ...], pairs: tuple[Pairs, ...], block: Rows) -> Parts:
    return Parts(tuple(_refine_one(*each, block) for each in zip(models, pairs, strict=True)))


def _refine_one(model: GibbsMixture, pair: Pairs, block: Rows) -> GroupStatistics:
    X, counts, _ = model.labels(block)
    odds, copies = pair.shares(X, counts)
    return _divided(pair, X, copies * expit(-odds), copies * expit(odds))


def _divided(pair: Pairs, X: Matrix, left: np.ndarray, right: np.ndarray) -> GroupStatistics:
    R = np.empty((2 * left.shape[1], len(X))).T
    R[:, ::2], R[:, 1::2] = left, right
    return GroupStatistics(0.0, R.sum(axis=0), pair.sub.component.summarize(X, R))


def _propose(models: tuple[GibbsMixture, ...], pairs: tuple[Pairs, ...], block: Rows) -> Parts:
    return Parts(tuple(_propose_one(*each, block) for each in zip(models, pairs, strict=True)))


def _propose_one(model: GibbsMixture, pair: Pairs, block: Rows) -> Proposals:
    X, counts, _ = model.labels(block)
    rng = generator(Purpose.PROPOSALS, model.seed, model.sweep, *block.index)
    odds, copies = pair.shares(X, counts)
    merged = counts[:, pair.second]
    drawn = rng.binomial(copies.astype(np.int64), expit(odds)).astype(float)
    right = np.where(pair.merge, merged, drawn)
    left = copies - right
    log_q = right * -np.logaddexp(0.0, -odds) + left * -np.logaddexp(0.0, odds)
    s = _divided(pair, X, left, right)
    return Proposals(np.where(copies > 0, log_q, 0.0).sum(axis=0), s.weight, s.component)


def _decided(model: GibbsMixture, s: GroupStatistics, pair: Pairs, proposal: Proposals) -> GroupStatistics:
    """Accept or reject the proposals one after the other, and return the resulting sums."""
    rng, log_joint = model.driver_rng(2), model.log_joint(s)
    for p, (a, b) in enumerate(zip(pair.first, pair.second, strict=True)):
        both = _taken(s.component, [a]) + _taken(s.component, [b])
        if pair.merge[p]:
            parts: Any = (both, both * 0.0)
            sign, weight = 1.0, (s.weight[a] + s.weight[b], 0.0)
        else:
            parts = tuple(_taken(proposal.component, [2 * p + side]) for side in (0, 1))
            sign, weight = -1.0, tuple(proposal.weight[2 * p : 2 * p + 2])
            if min(weight) == 0:
                continue
        moved = _placed(s, (a, b), weight, parts)
        log_moved = model.log_joint(moved)
        if np.log(rng.random()) < log_moved - log_joint + sign * proposal.log_q[p]:
            s, log_joint = moved, log_moved
    return s


def _placed(s: GroupStatistics, at: tuple[int, int], weight: Any, parts: Any) -> GroupStatistics:
    """Return the sums with those of two components replaced."""
    of_groups = s.weight.copy()
    of_groups[list(at)] = weight
    fields = {name: np.array(value) for name, value in s.component.fields().items()}
    for k, part in zip(at, parts, strict=True):
        for name, value in fields.items():
            value[k] = getattr(part, name)[0]
    return s.replace(weight=of_groups, component=s.component.replace(**fields))


def _relabelled(model: GibbsMixture, s: GroupStatistics) -> GroupStatistics:
    """Permute the components by Metropolis steps, for a stick-breaking prior, which depends on their order.

    Papaspiliopoulos and Roberts 2008.
    """
    if not isinstance(model.weight_prior, Sticks):
        return s
    rng, K = model.driver_rng(3), len(s.weight)
    order = np.arange(K)
    value = model.weight_prior.log_evidence(s.weight)
    for j, k in rng.integers(K, size=(K, 2)):
        new = order.copy()
        new[[j, k]] = order[[k, j]]
        new_value = model.weight_prior.log_evidence(s.weight[new])
        if np.log(rng.random()) < new_value - value:
            order, value = new, new_value
    return s.replace(weight=s.weight[order], component=_in_order(s.component, order))


def _in_order(s: Moments, order: np.ndarray) -> Moments:
    if s.pooled:
        return s.replace(weight=s.weight[order], mean=s.mean[order])
    return _taken(s, order)
