"""Markov chains that share each pass over the data: the loop of all samplers, Metropolis's step, diagnostics.

Metropolis et al. 1953; Gelman and Rubin 1992; Geyer 1992; Gelman et al. 2013, ch. 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.loop import Progress, Watch
from ..core.values import Value


@dataclass(frozen=True, eq=False)
class Draw(Value):
    """One transition of a chain: the new state, and the recorded values."""

    model: Any  # the state from which the next transition starts
    log_density: float  # log density of the state up to a constant, or another objective
    kept: Any = None  # is appended to the draws of the chain after burn-in
    statistics: Any = None  # the sums of the pass
    stopped_because: str = ""  # sampling ends when each chain has a reason


@dataclass(frozen=True, eq=False)
class Chain(Progress):
    """One chain: its state (`model`), the log density by iteration (`trace`), the statistics of the last
    iteration, and the recorded draws after burn-in."""

    draws: tuple[Any, ...] = ()
    best: Any = None  # the statistics of the iteration with the largest log density

    def added(self, draw: Draw, keep: bool) -> Chain:
        """Return the chain after one more transition."""
        better = not self.trace or draw.log_density > max(self.trace)
        return Chain(
            draw.model,
            (*self.trace, draw.log_density),
            draw.statistics,
            draw.stopped_because,
            draws=(*self.draws, draw.kept) if keep else self.draws,
            best=draw.statistics if better else self.best,
        )


@dataclass(frozen=True, eq=False)
class Chains(Progress):
    """Several chains over the same data. `trace` is the trace of the first."""

    burn_in: int = 0

    @property
    def chains(self) -> tuple[Chain, ...]:
        return self.model

    @property
    def draws(self) -> tuple[Any, ...]:
        """The recorded draws of all chains, concatenated."""
        return tuple(draw for chain in self.chains for draw in chain.draws)

    @property
    def log_density(self) -> np.ndarray:
        """The log density of each chain and iteration after burn-in, (C, S)."""
        return np.array([chain.trace for chain in self.chains])[:, self.burn_in :]

    @property
    def r_hat(self) -> float:
        """Split R-hat of the log density."""
        return split_r_hat(self.log_density)

    @property
    def effective_sample_size(self) -> float:
        """Effective sample size of the log density."""
        return effective_sample_size(self.log_density)


@dataclass(frozen=True)
class Sampler:
    """Markov chain Monte Carlo over partitions: several chains that share each pass over the data.

    Parameters
    ----------
    advance : callable
        ``advance(chains, data)`` returns a `Draw` for each chain. It reads the data once for all chains: one
        fold sums what each of them needs. Random numbers depend on a seed, on ``chain.n_iter``, and on the
        chain or the block, so that a chain has the same bits on each engine and after an interruption.
    n_iter : int
        Number of iterations.
    burn_in : int, default=0
        Number of iterations whose draws are discarded.
    thin : int, default=1
        Thinning interval: one in `thin` draws after `burn_in` is kept.
    watch : Watch, optional
        Callbacks and checkpoint. What is kept of the draws is the only part of a checkpoint that grows.

    See Also
    --------
    split_r_hat : Whether the chains agree.
    effective_sample_size : Number of independent draws with the same error.
    Resident : Data with latent variables that stay with their rows.

    Examples
    --------
    Random-walk Metropolis sampling of the mean of a normal variable, with two chains:

    >>> import numpy as np
    >>> import suffice
    >>> from suffice.core.randomness import Purpose, generator
    >>> from suffice.fitting import Draw, Sampler, metropolis_step
    >>> def log_likelihood(means, block):
    ...     return -0.5 * ((block.X - means) ** 2).sum(axis=0)
    >>> def advance(chains, data):
    ...     rng = generator(Purpose.PROPOSALS, 0, chains[0].n_iter)
    ...     states, log_p = (np.array(values) for values in zip(*(chain.model for chain in chains)))
    ...     proposals = states + 0.2 * rng.normal(size=2)
    ...     new = data.fold(log_likelihood, proposals)
    ...     states = metropolis_step(np.log(rng.random(2)), proposals, new, states, log_p)
    ...     return [Draw((x, p), float(p), kept=x) for x, p in zip(*states)]
    >>> data = suffice.partition(np.random.default_rng(0).normal(3.0, size=(100, 1)))
    >>> start = [(0.0, -np.inf), (9.0, -np.inf)]
    >>> found = Sampler(advance, 1000, burn_in=200).sample(start, data)
    >>> bool(found.r_hat < 1.1), len(found.draws), float(np.mean(found.draws).round(1))
    (True, 1600, 3.1)
    """

    advance: Callable[[tuple[Chain, ...], Any], Iterable[Draw]]
    n_iter: int
    burn_in: int = 0
    thin: int = 1
    watch: Watch | None = None

    def sample(self, starts: Sequence[Any], data: Any) -> Chains:
        """Run the chains from their initial states.

        Parameters
        ----------
        starts : sequence
            The initial state of each chain.
        data : Partitions or Resident
            The rows, as `advance` takes them.

        Returns
        -------
        Chains
            With `chains`, `draws`, `trace`, `r_hat` and `effective_sample_size`.
        """
        if self.burn_in < 0 or self.thin < 1:
            raise ValueError(f"Expected burn_in >= 0 and thin >= 1; got {self.burn_in} and {self.thin}.")
        own_watch = self.watch or Watch()
        watch = replace(own_watch, as_model=lambda chains: own_watch.as_model(chains[0].model))

        def step(state: Chains) -> Chains:
            after = state.n_iter - self.burn_in
            keep = after >= 0 and after % self.thin == 0
            draws = self.advance(state.chains, data)
            chains = tuple(chain.added(draw, keep) for chain, draw in zip(state.chains, draws, strict=True))
            ended = all(chain.stopped_because for chain in chains)
            reason = chains[0].stopped_because if ended else ""
            return Chains(chains, chains[0].trace, stopped_because=reason, burn_in=self.burn_in)

        start = Chains(tuple(map(Chain, starts)), burn_in=self.burn_in)
        state = watch.limited(self.n_iter).loop(step, start)
        return state.replace(
            model=tuple(chain.replace(stopped_because=state.stopped_because) for chain in state.chains)
        )


def metropolis_step(
    log_uniform: np.ndarray,
    proposal: np.ndarray,
    log_proposal: np.ndarray,
    state: np.ndarray,
    log_p: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Accept or reject a proposal for each of N independent chains, by Metropolis's rule.

    Proposals must be symmetric, or preserve a distribution such as the prior; then densities are relative to
    that distribution, as the likelihood is.

    Parameters
    ----------
    log_uniform : array of shape (N,)
        Logarithms of uniform random numbers.
    proposal : array of shape (N, ...)
        The proposed states.
    log_proposal : array of shape (N,)
        Their log density up to a constant.
    state : array of shape (N, ...)
        The current states.
    log_p : array of shape (N,)
        Their log density.

    Returns
    -------
    state, log_p : arrays
        The states after the step, and their log density.
    """
    accepted = log_uniform < log_proposal - log_p
    state = np.where(accepted.reshape(-1, *[1] * (proposal.ndim - 1)), proposal, state)
    return state, np.where(accepted, log_proposal, log_p)


# --- diagnostics -----------------------------------------------------------------------------------------


def split_r_hat(traces: np.ndarray) -> float:
    """Potential scale reduction of chains, each divided into halves. It is 1 if they agree.

    Parameters
    ----------
    traces : array of shape (n_chains, n_draws)
        Draws of one number.

    Returns
    -------
    r_hat : float
        NaN for fewer than four draws.
    """
    half = traces.shape[1] // 2
    if half < 2:
        return np.nan
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within, between = halves.var(axis=1, ddof=1).mean(), halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else np.inf
    return float(np.sqrt((half - 1.0) / half + between / within))


def effective_sample_size(traces: np.ndarray) -> float:
    """Number of independent draws whose mean has the same error, by Geyer's initial monotone sequence.

    Parameters
    ----------
    traces : array of shape (n_chains, n_draws)
        Draws of one number.

    Returns
    -------
    size : float
        At most the number of draws.
    """
    C, S = traces.shape
    if S < 4:
        return float(C * S)
    Y = traces - traces.mean(axis=1, keepdims=True)
    covariance = np.stack([np.correlate(y, y, "full")[S - 1 :] / S for y in Y]).mean(axis=0)
    variance = covariance[0] * S / (S - 1.0) + (traces.mean(axis=1).var(ddof=1) if C > 1 else 0.0)
    if variance == 0:
        return float(C * S)
    rho = 1.0 - (covariance[0] * S / (S - 1.0) - covariance) / variance
    rho[0] = 1.0
    pairs = rho[: S // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: ends[0] if len(ends) else len(pairs)])
    return float(min(C * S / max(2.0 * pairs.sum() - 1.0, 1.0 / np.log10(C * S + 10.0)), C * S))
