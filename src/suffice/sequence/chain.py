"""Linear chains of log potentials: partition function, marginals, best paths. Li ch. 10 and 11.

Hidden Markov models and conditional random fields compute different potentials, and share everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from ..core.blocks import firsts
from ..core.values import Value


@dataclass(frozen=True, eq=False)
class Chains(Value):
    """Log potentials of the states and transitions of concatenated sequences; -inf is impossible."""

    state: Annotated[np.ndarray, "(N, K)"]
    start: Annotated[np.ndarray, "(K,)"]
    move: Annotated[np.ndarray, "(K, K) or (N, K, K)"]  # (N, K, K): into each step
    offset: Annotated[np.ndarray, "int (S + 1,)"]

    @property
    def _moves(self) -> np.ndarray:
        return self.move if self.move.ndim == 3 else self.move[None]

    @property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contiguous log potentials of states, first states and transitions, (1, K, K) or (N, K, K)."""
        state, start, moves = (
            np.ascontiguousarray(a, np.float64) for a in (self.state, self.start, self._moves)
        )
        return state, start, moves

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, ...]:
        """Potentials scaled to a maximum of one, and the log scale of each step."""
        from ..loops.chains import exp_below_largest

        U, _, moves = self._arrays
        E, top = exp_below_largest(U)
        high = moves.max(axis=(1, 2), initial=-np.inf)
        high = np.where(high > -np.inf, high, 0.0)
        by_step = top + high if len(moves) > 1 else top + high[0] if len(moves) else top
        first = firsts(self.offset)
        by_step[first] = top[first]
        return E, _exp(self.start), _exp(moves - high[:, None, None]), by_step

    @cached_property
    def _forward(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from ..loops.chains import forward

        E, start, moves, _ = self._scaled
        return forward(E, start, moves, self.offset)

    @cached_property
    def _scales(self) -> tuple[np.ndarray, np.ndarray]:
        """The scale of each step, and a mask of impossible sequences. Smoothing also computes them."""
        return self._forward[1:]

    @property
    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.offset[:-1].tolist(), self.offset[1:].tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, s: int) -> Chains:
        """Return one sequence."""
        a, b = self._spans[s]
        move = self.move[a:b] if self.move.ndim == 3 else self.move
        return Chains(self.state[a:b], self.start, move, np.array([0, b - a]))

    @cached_property
    def log_sum(self) -> np.ndarray:
        """Log partition function of each sequence, (S,), by the forward recursion."""
        from ..loops.elementary import log

        scale, lost = self._scales
        out = by_sequence(log(scale) + self._scaled[3], self.offset)
        for s in np.flatnonzero(lost).tolist():
            out[s] = _log_total(self[s]._log_forward[-1])
        return out

    @cached_property
    def _log_forward(self) -> np.ndarray:
        from ..loops.chains import log_forward

        return log_forward(*self._arrays, self.offset)

    @cached_property
    def _log_backward(self) -> np.ndarray:
        from ..loops.chains import log_backward

        U, _, moves = self._arrays
        return log_backward(U, moves, self.offset)

    def log_sum_backward(self) -> np.ndarray:
        """Return the log partition function of each sequence, by the backward recursion."""
        first = firsts(self.offset)
        out = np.zeros(len(self))
        ends = self.start + self.state[first] + self._log_backward[first]
        out[np.diff(self.offset) > 0] = [_log_total(v) for v in ends]
        return out

    def filtered(self) -> np.ndarray:
        """Return the filtered marginals: probabilities of the state given the steps up to it, (N, K).

        They are zero from an impossible step on.
        """
        alpha, _, lost = self._forward
        alpha = alpha.copy()
        for s in np.flatnonzero(lost).tolist():
            a, b = self._spans[s]
            alpha[a:b] = _shares(self[s]._log_forward)
        return alpha

    def smoothed(self, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the smoothed marginals given all steps, times the weight of the sequence.

        These are the marginals of the states, (N, K), and of the transitions, summed over all steps (K, K),
        or into each step (N, K, K). They are zero for sequences of probability zero.
        """
        from ..loops.chains import smooth

        weight = np.ones(len(self)) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        E, start, moves, _ = self._scaled
        turned = np.ascontiguousarray(moves.transpose(0, 2, 1))
        gamma, pairs, scale, lost, faded = smooth(E, start, moves, turned, self.offset, weight)
        self.__dict__["_scales"] = scale, lost
        hard = (faded | lost) & (weight > 0)
        for s in np.flatnonzero(hard).tolist():
            self._smooth_by_logarithms(s, float(weight[s]), gamma, pairs)
        return gamma, pairs if self.move.ndim == 3 else pairs[0]

    def _smooth_by_logarithms(self, s: int, w: float, gamma: np.ndarray, pairs: np.ndarray) -> None:
        from ..loops.chains import add_log_pairs

        a, b = self._spans[s]
        one = self[s]
        before, after = one._log_forward, one._log_backward
        total = _log_total(before[-1])
        if total == -np.inf:
            return
        gamma[a:b] = w * _exp(before + after - total)
        into = pairs[a:b] if self.move.ndim == 3 else pairs
        U, _, moves = one._arrays
        add_log_pairs(before, U, after, moves, total, w, into)

    def by_step(self) -> Chains:
        """Return the same chains with transitions for each step, so that their marginals are by step, too."""
        N, K = self.state.shape
        return self.replace(move=np.ascontiguousarray(np.broadcast_to(self.move, (N, K, K))))

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the best path of each sequence (Viterbi), concatenated, (N,), and its log score, (S,)."""
        from ..loops.chains import best_paths

        return best_paths(*self._arrays, self.offset)

    def k_best(self, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the best paths of each sequence, (<= count, N_s), and their log scores, which decrease."""
        from ..loops.chains import k_best_paths

        out = []
        for s in range(len(self)):
            paths, score = k_best_paths(*self[s]._arrays, count)
            real = score > -np.inf
            out.append((paths[real], score[real]))
        return out

    def score(self, path: np.ndarray) -> np.ndarray:
        """Return the log scores, (S,), of concatenated paths (N,)."""
        N = len(self.state)
        by_step = self.state[np.arange(N), path]
        first = np.zeros(N, bool)
        first[firsts(self.offset)] = True
        before = np.concatenate([[0], path[:-1]]) if N else path
        moves = self._moves
        into = moves[np.arange(N) if len(moves) > 1 else 0, before, path] if N else by_step
        by_step = by_step + np.where(first, self.start[path], into)
        return by_sequence(by_step, self.offset)


def by_sequence(values: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Sum values of steps, (N,), by sequence, (S,)."""
    if len(offset) == 1:
        return np.zeros(0)
    out = np.add.reduceat(np.append(values, 0.0), offset[:-1])
    out[offset[1:] == offset[:-1]] = 0.0
    return out


def _exp(x: np.ndarray) -> np.ndarray:
    """Return the exponential of each number, with the same bits on every CPU."""
    from ..loops.elementary import exp

    return exp(np.ascontiguousarray(x, np.float64).ravel()).reshape(x.shape)


def _log_total(values: np.ndarray) -> float:
    return float(np.logaddexp.reduce(values)) if len(values) else -np.inf


def _shares(log_values: np.ndarray) -> np.ndarray:
    most = log_values.max(axis=1, keepdims=True, initial=-np.inf)
    shares = np.exp(log_values - np.where(most > -np.inf, most, 0.0))
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total > 0, total, 1.0)
