"""Chains that share each pass: what is kept, checkpoints, Metropolis's step, diagnostics."""

from __future__ import annotations

import numpy as np
import pytest

import suffice
from suffice.core.loop import Watch
from suffice.core.randomness import Purpose, generator
from suffice.fitting import Draw, Resident, Sampler, effective_sample_size, metropolis_step, split_r_hat

X = np.random.default_rng(0).normal(3.0, size=(200, 1))
STARTS = (0.0, 3.0, 9.0)


def log_likelihood(means, block):
    return -0.5 * ((block.X - means) ** 2).sum(axis=0)


class Counting:
    """Partitions that count their folds."""

    def __init__(self, data):
        self.data, self.folds = data, 0

    def fold(self, f, *shared):
        self.folds += 1
        return self.data.fold(f, *shared)


def advance(chains, data):
    """A step of Metropolis's algorithm for each chain, whose random numbers are its own."""
    rngs = [generator(Purpose.PROPOSALS, 0, chain.n_iter, c) for c, chain in enumerate(chains)]
    states, log_p = (np.array(values) for values in zip(*(chain.model for chain in chains), strict=True))
    proposals = states + 0.1 * np.array([rng.normal() for rng in rngs])
    log_u = np.log([rng.random() for rng in rngs])
    states = metropolis_step(log_u, proposals, data.fold(log_likelihood, proposals), states, log_p)
    return [
        Draw((float(x), float(p)), float(p), float(x), np.array([x])) for x, p in zip(*states, strict=True)
    ]


def sampled(n_iter=40, data=None, starts=STARTS, transition=advance, **how):
    data = suffice.partition(X) if data is None else data
    return Sampler(transition, n_iter, **how).sample([(x, -np.inf) for x in starts], data)


def states(found):
    return [(chain.model, chain.trace, chain.draws) for chain in found.chains]


def test_chains_share_each_pass():
    data = Counting(suffice.partition(X))
    together = sampled(data=data)
    assert data.folds == 40
    assert states(together)[:2] == states(sampled(starts=STARTS[:2]))


def test_burn_in_and_thinning():
    every = sampled()
    assert [len(chain.draws) for chain in every.chains] == [40] * 3
    some = sampled(burn_in=10, thin=7)
    for chain, whole in zip(some.chains, every.chains, strict=True):
        assert chain.trace == whole.trace
        assert chain.draws == whole.draws[10::7]
    assert some.draws == tuple(draw for chain in every.chains for draw in chain.draws[10::7])
    assert some.log_density.tolist() == [list(chain.trace[10:]) for chain in every.chains]
    assert some.r_hat == split_r_hat(some.log_density)
    assert some.effective_sample_size == effective_sample_size(some.log_density)
    assert sampled(burn_in=40).draws == ()
    for wrong in ({"thin": 0}, {"burn_in": -1}):
        with pytest.raises(ValueError, match="Expected burn_in >= 0 and thin >= 1"):
            sampled(**wrong)


def test_the_best_draw_is_remembered():
    for chain in sampled().chains:
        assert chain.best == [chain.draws[np.argmax(chain.trace)]]
        assert chain.statistics == [chain.draws[-1]]


def test_sampling_ends_when_all_chains_have_a_reason():
    def ending(chains, data):
        """The chain with number c has a reason from iteration 5 (c + 1) on."""
        draws = advance(chains, data)
        done = [chain.n_iter + 1 >= 5 * (c + 1) for c, chain in enumerate(chains)]
        return [d.replace(stopped_because="tolerance" if x else "") for d, x in zip(draws, done, strict=True)]

    found = sampled(transition=ending)
    assert found.n_iter == 15 and found.converged
    assert all(chain.n_iter == 15 and chain.converged for chain in found.chains)
    assert sampled(4).stopped_because == sampled(4).chains[0].stopped_because == "max_iter"


def test_an_interrupted_chain_goes_on_with_the_same_bits(tmp_path):
    path, calls = tmp_path / "chains", []

    def interrupted(chains, data):
        calls.append(chains[0].n_iter)
        if len(calls) == 25:
            raise KeyboardInterrupt
        return advance(chains, data)

    how = {"burn_in": 5, "watch": Watch(checkpoint=path)}
    with pytest.raises(KeyboardInterrupt):
        sampled(transition=interrupted, **how)
    assert path.exists()
    resumed = sampled(transition=interrupted, **how)
    assert calls == [*range(25), *range(24, 40)]
    assert states(resumed) == states(sampled(burn_in=5))
    assert not path.exists()


def labelled(n_steps, means, block):
    """The block after more sweeps with these means: each row has a label beside it."""
    X, y = block.X, block.y
    for n, mean in enumerate(means, n_steps):
        rng = generator(Purpose.LATENT, 5, n, *block.index)
        y = (rng.random(len(X)) < 1.0 / (1.0 + np.exp(mean - X[:, 0] - 0.1 * y))).astype(float)
    return block.replace(y=y)


def test_latent_variables_that_stay_with_the_rows(tmp_path):
    """Gibbs sampling of labels that depend on those of the sweep before, resumed from a checkpoint."""
    maps = []

    def replay(data, n_steps, states):
        maps.append(len(states) - n_steps)
        return data.map(labelled, n_steps, states[n_steps:])

    def sweep(chains, rows):
        ((past, mean),) = (chain.model for chain in chains)
        if len(past) == 6 and stop:
            raise KeyboardInterrupt
        past = (*past, mean)
        weight, total = rows.at(len(past), past).fold(lambda b: np.array([b.y.sum(), b.y @ b.X[:, 0]]))
        return [Draw((past, float(total / max(weight, 1.0))), float(weight), kept=float(weight))]

    def draws(**how):
        rows = Resident(suffice.partition(X, np.zeros(len(X))), replay)
        return Sampler(sweep, 12, **how).sample([((), 3.0)], rows).draws

    stop = False
    whole, watch = draws(), Watch(checkpoint=tmp_path / "chain")
    assert maps == [1] * 12 and len(set(whole)) > 6
    maps.clear()
    stop = True
    with pytest.raises(KeyboardInterrupt):
        draws(watch=watch)
    stop = False
    assert draws(watch=watch) == whole
    assert maps == [*[1] * 6, 7, *[1] * 5]


def test_a_step_leaves_the_target_unchanged():
    """Many chains with a target on three values, which they have from the start."""
    rng, log_p = np.random.default_rng(0), np.log([0.2, 0.5, 0.3])
    state = rng.choice(3, size=(100_000, 1), p=np.exp(log_p))
    for _ in range(5):
        proposal = rng.integers(3, size=state.shape)
        log_u = np.log(rng.random(len(state)))
        moved, density = metropolis_step(log_u, proposal, log_p[proposal[:, 0]], state, log_p[state[:, 0]])
        assert (density == log_p[moved[:, 0]]).all()
        assert ((moved == state) | (moved == proposal)).all() and (moved != state).any()
        state = moved
    np.testing.assert_allclose(np.bincount(state[:, 0]) / len(state), np.exp(log_p), atol=0.006)


def test_diagnostics_of_known_chains():
    noise = np.random.default_rng(0).normal(size=(4, 1000))
    assert abs(split_r_hat(noise) - 1.0) < 0.01
    assert split_r_hat(noise + np.arange(4)[:, None]) > 1.3
    assert 3000 < effective_sample_size(noise) <= 4000
    slow = np.zeros((4, 1000))
    for t in range(1, 1000):  # an autoregression of 0.9 has a nineteenth of the draws
        slow[:, t] = 0.9 * slow[:, t - 1] + noise[:, t]
    assert 100 < effective_sample_size(slow) < 400
