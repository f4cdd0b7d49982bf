"""Compare hidden Markov models with hmmlearn: same sequences, same start, alternating within one run.

python benchmarks/hidden_markov.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from hmmlearn.hmm import GaussianHMM

from suffice.families import DiagonalGaussian
from suffice.sequence import HiddenMarkov, HiddenMarkovModel

D = 4
# name: (sequences, steps of each, states, iterations, target ratios to "log" and "scaling")
CASES = {
    "500 x 400, 8 states": (500, 400, 8, 10, 25.0, 6.0),
    "500 x 400, 50 states": (500, 400, 50, 2, 25.0, 6.0),
    "1,000 x 1,000, 8 states": (1000, 1000, 8, 3, 25.0, 6.0),
}


def data(sequences: int, steps: int, K: int) -> tuple[np.ndarray, HiddenMarkov]:
    rng = np.random.default_rng(0)
    transition = 0.9 * np.eye(K) + 0.1 / K
    mean = 2.0 * rng.normal(size=(K, D))
    state = np.empty((sequences, steps), int)
    state[:, 0] = rng.integers(K, size=sequences)
    for t in range(1, steps):
        moved = rng.random(sequences) < 0.1
        state[:, t] = np.where(moved, rng.integers(K, size=sequences), state[:, t - 1])
    X = mean[state.ravel()] + rng.normal(size=(sequences * steps, D))
    start = HiddenMarkov(np.full(K, 1 / K), transition, DiagonalGaussian(mean + 0.5, np.ones((K, D))))
    return X, start


def ours(X: np.ndarray, groups: np.ndarray, start: HiddenMarkov, iterations: int) -> HiddenMarkovModel:
    K = len(start.start)
    return HiddenMarkovModel(K, init_params=start, max_iter=iterations, tol=0.0, reg_covar=0.0).fit(
        X, groups=groups
    )


def theirs(X: np.ndarray, lengths: list[int], start: HiddenMarkov, iterations: int, how: str) -> GaussianHMM:
    emission: DiagonalGaussian = start.emission  # type: ignore[assignment]
    model = GaussianHMM(
        len(start.start),
        "diag",
        n_iter=iterations,
        tol=-np.inf,
        init_params="",
        covars_prior=0.0,
        means_weight=0.0,
        min_covar=0.0,
        implementation=how,
    )
    model.startprob_, model.transmat_ = start.start, start.transition
    model.means_, model.covars_ = emission.mean, emission.covariance
    return model.fit(X, lengths)


def seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def table(repeat: int) -> list[str]:
    warnings.simplefilter("ignore")
    lines = [
        f"Gaussian emission, diagonal, {D} features; median of {repeat} runs in turns.",
        "",
        "| fit | suffice, s | beside hmmlearn log | aim | beside scaling | aim | Viterbi | aim "
        "| first call, s more |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in CASES:
        lines.append(measure(name, repeat))
        print(lines[-1], flush=True)
    return lines


def measure(name: str, repeat: int) -> str:
    S, T, K, iterations, aim_log, aim_scaling = CASES[name]
    X, start = data(S, T, K)
    groups, lengths = np.repeat(np.arange(S), T), [T] * S
    first = seconds(lambda: ours(X, groups, start, iterations))
    mine, peer = ours(X, groups, start, iterations), theirs(X, lengths, start, iterations, "scaling")
    np.testing.assert_allclose(mine.transmat_, peer.transmat_, rtol=1e-6)
    assert (mine.predict(X, groups=groups) == peer.predict(X, lengths)).mean() > 0.9999
    runs = [
        lambda: ours(X, groups, start, iterations),
        lambda: theirs(X, lengths, start, iterations, "log"),
        lambda: theirs(X, lengths, start, iterations, "scaling"),
        lambda: mine.predict(X, groups=groups),
        lambda: peer.predict(X, lengths),
    ]
    taken = np.array([[seconds(run) for run in runs] for _ in range(repeat)])
    fit = np.median(taken[:, 0])
    return (
        f"| {name}, {iterations} iterations | {fit:.2f} | {ratio(taken, 0, 1)} | {aim_log:g} "
        f"| {ratio(taken, 0, 2)} | {aim_scaling:g} | {ratio(taken, 3, 4)} | 5 | {max(0.0, first - fit):.1f} |"
    )


def ratio(taken: np.ndarray, mine: int, peer: int) -> str:
    """Ratio of the medians, and its spread."""
    each = taken[:, peer] / taken[:, mine]
    middle = np.median(taken[:, peer]) / np.median(taken[:, mine])
    return f"{middle:.1f} ({each.min():.1f} to {each.max():.1f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    table(parser.parse_args().repeat)
