"""Finite Markov chains: estimation by counts, and properties of the transition matrix. Li ch. 19.

Gong and Xu ch. 5; Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for
Markov chains", 1985.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Sequences
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.shapes import must
from ..core.statistics import Statistics
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import AT_LEAST_1
from ..estimator.tags import tags
from ..inputs import map_block, open_sequences, read_sequences
from ..inputs.arrays import Shape

UNKNOWN = -1
TOLERANCE = 1e-9  # of rows that should sum to one, and of flows that should be equal


@dataclass(frozen=True, eq=False)
class States(Value):
    """The distinct rows of a block, in order; of two blocks, those of either."""

    rows: Annotated[np.ndarray, "labels (S, D)"]

    def __add__(self, other: States) -> States:
        if not len(self.rows) or not len(other.rows):
            return self if len(self.rows) else other
        return States(_distinct(np.concatenate([self.rows, other.rows])))

    def __mul__(self, factor: float) -> States:
        return self

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class TransitionCounts(Statistics):
    """Counts of initial states and of transitions."""

    start: Annotated[np.ndarray, "(S,)"]
    moves: Annotated[np.ndarray, "(S, S)"]

    @property
    def weight(self) -> float:
        return float(self.start.sum() + self.moves.sum())


@dataclass(frozen=True, eq=False)
class Chain(Model):
    """X_1 ~ start, and P(X_t+1 = j given X_t = i) = transition_ij.

    A state is a row, or the last `order` rows.
    """

    states: Annotated[np.ndarray, "labels (S, W)"]  # order * D wide; distinct, in order
    start: Annotated[np.ndarray, "(S,)"]
    transition: Annotated[np.ndarray, "(S, S)"]  # rows sum to one
    order: int = 1

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(self.order > 0 and sizes["W"] % self.order == 0, f"States are not {self.order} rows each.")
        sizes["D"] = sizes["W"] // self.order

    def numbers(self, block: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Index of the state of each row, or -1; and whether it is the first of its sequence."""
        rows, first = _lifted(self.order, block)
        number = np.full(len(block.X), UNKNOWN)
        number[rows] = _numbers(self.states, _stacked(self.order, block.X, rows))
        return number, first

    def summarize(self, block: Sequences) -> TransitionCounts:
        S = len(self.states)
        number, first = self.numbers(block)
        weight = block.step_weight
        begins = first & (number != UNKNOWN)
        start = np.bincount(number[begins], weight[begins], S)
        later = np.flatnonzero((number != UNKNOWN) & ~first)
        pair = number[later - 1] * S + number[later]
        return TransitionCounts(start, np.bincount(pair, weight[later], S * S).reshape(S, S))

    def estimate(self, s: TransitionCounts) -> Self:
        """Relative frequencies. A state that is never followed by another has uniform transitions."""
        total = s.moves.sum(axis=1, keepdims=True)
        S = len(self.states)
        transition = np.where(total > 0, s.moves / np.where(total > 0, total, 1.0), 1.0 / S)
        return self.replace(start=s.start / s.start.sum(), transition=transition)

    def log_probability(self, block: Sequences) -> np.ndarray:
        """Log-probability of each step given the previous ones; zero for steps within the first state."""
        number, first = self.numbers(block)
        out = np.zeros(len(number))
        rows, _ = _lifted(self.order, block)
        with np.errstate(divide="ignore"):
            start, transition = np.log(self.start), np.log(self.transition)
        head = rows[first[rows]]
        later = rows[~first[rows]]
        out[head] = np.where(number[head] < 0, -np.inf, start[number[head]])
        unknown = (number[later] < 0) | (number[later - 1] < 0)
        out[later] = np.where(unknown, -np.inf, transition[number[later - 1], number[later]])
        return out


def _lifted(order: int, block: Sequences) -> tuple[np.ndarray, np.ndarray]:
    """Rows at which `order` rows of one sequence end; and whether a row is the first such."""
    place = np.arange(block.offset[-1]) - np.repeat(block.offset[:-1], block.lengths)
    return np.flatnonzero(place >= order - 1), place == order - 1


def _stacked(order: int, X: Any, rows: np.ndarray) -> np.ndarray:
    return np.concatenate([X[rows - back] for back in range(order - 1, -1, -1)], axis=1)


def _states(order: int, block: Sequences) -> States:
    rows, _ = _lifted(order, block)
    return States(_distinct(_stacked(order, block.X, rows)))


def _distinct(X: np.ndarray) -> np.ndarray:
    key, first = np.zeros(len(X), np.int64), np.arange(len(X))
    for column in X.T:
        values, code = _unique(column)
        _, first, key = np.unique(key * max(1, len(values)) + code, return_index=True, return_inverse=True)
    return X[first] if X.shape[1] else X[:1]


def _unique(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        return np.unique(column, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in column})
        raise ValueError(
            f"The states are of several types, {kinds}, which cannot be sorted: write them all as strings."
        ) from None


def _numbers(states: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Index of the state of each row, or -1."""
    of_state, of_row = np.zeros(len(states), np.int64), np.zeros(len(X), np.int64)
    known = np.full(len(X), len(states) > 0)
    if not len(states) or not len(X):
        return np.full(len(X), UNKNOWN)
    for mine, column in zip(states.T, X.T, strict=True):
        values, code = np.unique(mine, return_inverse=True)
        try:
            place = np.minimum(np.searchsorted(values, column), len(values) - 1)
        except TypeError:
            raise ValueError(
                f"X has steps such as {column[0]!r}, and the chain has states such as {values[0]!r}: write "
                f"both as strings, or both as numbers."
            ) from None
        known &= values[place] == column
        of_state, of_row = of_state * len(values) + code, of_row * len(values) + place
        seen, of_state = np.unique(of_state, return_inverse=True)
        place = np.minimum(np.searchsorted(seen, of_row), len(seen) - 1)
        known &= seen[place] == of_row
        of_row = place
    return np.where(known, np.argsort(of_state)[of_row], UNKNOWN)


class Absorption(NamedTuple):
    """Absorption of a chain: probabilities of the closed classes, and expected numbers of steps."""

    transient: np.ndarray  # (T,), numbers of states
    closed: list[np.ndarray]  # numbers of the states of each closed class
    probability: np.ndarray  # (T, C): that the chain ends in a class
    steps: np.ndarray  # (T,): expected, until it does


class MarkovChain(DensityMixin, Estimator):
    """Finite Markov chain, estimated from sequences of states or from a known transition matrix.

    Parameters
    ----------
    order : int, default=1
        Order of the chain: the number of previous steps on which the next depends. A chain of higher order is
        a chain of first order whose states are tuples of `order` rows; only tuples that occur are states.

    Attributes
    ----------
    states_ : ndarray of shape (n_states, order * n_features)
        The states: the sorted distinct rows of the data.
    start_ : ndarray of shape (n_states,)
        Initial probability of each state.
    transition_ : ndarray of shape (n_states, n_states)
        Transition probabilities from the state of the row to the state of the column. Rows sum to one.
    model_ : Chain
        The fitted model.
    statistics_ : TransitionCounts
        The counts of initial states and transitions.

    See Also
    --------
    suffice.sequence.HiddenMarkovModel : States that are not observed.
    suffice.ranking.PageRank : A chain on the links of a graph.

    Notes
    -----
    Probabilities are relative frequencies. A state that is never followed by another has uniform transitions.

    With n_ij the number of steps from state i to state j, the matrix and the stationary distribution are

    .. math::

        P_{ij} = \\frac{n_{ij}}{∑_k n_{ik}}, \\qquad π = π P.

    References
    ----------
    * Grassmann, Taksar and Heyman (1985), "Regenerative analysis and steady state distributions for Markov
      chains", Operations Research 33.
    * Kemeny and Snell (1960), Finite Markov Chains, Van Nostrand.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.sampling import MarkovChain
    >>> days = [np.array(["sun", "sun", "rain", "sun"]), np.array(["rain", "rain", "sun"])]
    >>> chain = MarkovChain().fit(days)
    >>> chain.transition_.round(3)
    array([[0.333, 0.667],
           [0.5  , 0.5  ]])
    >>> MarkovChain.from_transition([[0.9, 0.1], [0.5, 0.5]]).stationary_distribution().round(4)
    array([0.8333, 0.1667])
    """

    model_: Annotated[Chain, "S, W, D"]
    states_: Annotated[np.ndarray, "labels (S, W)"]
    start_: Annotated[np.ndarray, "(S,)"]
    transition_: Annotated[np.ndarray, "(S, S)"]
    takes: ClassVar[str] = "sequences"
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score_samples: ClassVar[dict[str, bool]] = {"groups": True}

    _parameter_constraints: ClassVar[dict[str, Any]] = {"order": [AT_LEAST_1]}
    __sklearn_tags__ = tags(string=True, categorical=True)
    _guarantee = Guarantee.always("bit")

    def __init__(self, order: int = 1) -> None:
        self.order = order

    @classmethod
    def from_transition(cls, transition: Any, *, start: Any = None, states: Any = None) -> Self:
        """Make a chain from a known transition matrix.

        Parameters
        ----------
        transition : array of shape (n_states, n_states)
            Transition probabilities from the state of the row to the state of the column. Some texts use the
            transpose, whose columns sum to one.
        start : array of shape (n_states,), optional
            Initial probability of each state. If None, uniform.
        states : sequence of length n_states, optional
            Names of the states, in any order. If None, they are numbered from 0.
        """
        P: np.ndarray = np.array(transition, dtype=np.float64)
        if P.ndim != 2 or P.shape[0] != P.shape[1] or not len(P):
            raise ValueError(
                f"transition has shape {P.shape}; expected a square matrix, a row for each state."
            )
        rows: np.ndarray = P.sum(axis=1)
        if not (P >= 0).all() or not np.allclose(rows, 1.0, rtol=0.0, atol=TOLERANCE):
            hint = ""
            if (P >= 0).all() and np.allclose(P.sum(axis=0), 1.0, rtol=0.0, atol=TOLERANCE):
                hint = " Its columns do: pass its transpose."
            raise ValueError(
                f"The rows of transition must be non-negative and sum to one; got sums from "
                f"{rows.min():.6g} to {rows.max():.6g}.{hint}"
            )
        S = len(P)
        names: np.ndarray = np.arange(S, dtype=np.float64) if states is None else np.asarray(states)
        if names.ndim == 1:
            names = names[:, None]
        if len(np.unique(names, axis=0)) < len(names):
            raise ValueError("states has duplicate names, expected distinct ones.")
        if len(names) != S:
            raise ValueError(f"There are {len(names)} names of states, but transition has {S} rows.")
        self = cls()
        self.n_features_in_ = names.shape[1]
        first = np.full(S, 1.0 / S) if start is None else _probabilities(start, S, "start")
        counts = TransitionCounts(first, P)
        return self._publish(Progress(Chain(names, first, P / rows[:, None]), statistics=counts))

    def fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Count in two passes: the distinct states, then the transitions.

        Parameters
        ----------
        X : array, list of arrays, table, scan or distributed data set
            Sequences of states. A state is a row, usually of one column; arrays in a list may be
            one-dimensional. For tables, see `suffice.sequences`.
        y : None
            Ignored.
        groups : array of shape (n_steps,), optional
            Sequence id of each step.
        sample_weight : array, optional
            Per-sequence weights. A weight of 2 is equivalent to repeating the sequence; 0 drops it.

        Returns
        -------
        self
        """
        return self._fit_to((X, groups), None, sample_weight)

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        """The sequences, checked. `X` is the pair of the `X` and the `groups` of `fit`."""
        steps, groups = X
        return open_sequences(self, _columns(steps), None, groups, sample_weight, reset=reset)

    def _solve(self, data: Partitions) -> Progress:
        states = data.fold(_states, self.order).rows
        S = len(states)
        if not S:
            raise ValueError(
                f"There are no states: no sequence has the {self.order} steps that order={self.order} needs."
            )
        afford(
            S * S,
            f"the transitions of {S} states",
            "use fewer, or suffice.ranking.transition_matrix, which is sparse.",
        )
        chain = Chain(states, np.full(S, 1.0 / S), np.full((S, S), 1.0 / S), int(self.order))
        s = data.fold(Chain.summarize, chain)
        return Progress(chain.estimate(s), statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: Chain = progress.model
        return {"states_": model.states, "start_": model.start, "transition_": model.transition}

    # Probabilities of sequences --------------------------------------------------------------------

    @row_wise
    def score_samples(self, X: Any, groups: MaybeArray = None) -> Any:
        """Log-probability of each step given the previous ones. Their sum is that of the sequence.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        block, shaped = self._read(X, groups)
        return shaped(map_block(self.model_.log_probability, block))

    def _read(self, X: Any, groups: MaybeArray) -> tuple[Sequences, Shape]:
        return read_sequences(self, _columns(X), groups)

    def score(
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> float:
        """Mean log-probability per step."""
        check_is_fitted(self)
        data = self._opened((X, groups), None, sample_weight, reset=False)
        total, weight = data.fold(_log_probability, self.model_)
        return float(total / weight)

    def sample(self, n_steps: int, random_state: Seed = None) -> np.ndarray:
        """Draw a sequence of states: rows of `states_`."""
        check_is_fitted(self)
        uniform = check_random_state(random_state).uniform(size=n_steps)
        first, following = np.cumsum(self.start_), np.cumsum(self.transition_, axis=1)
        path = np.empty(n_steps, np.int64)
        for t in range(n_steps):
            ladder = following[path[t - 1]] if t else first
            path[t] = min(np.searchsorted(ladder, uniform[t] * ladder[-1], side="right"), len(ladder) - 1)
        return self.states_[path]

    # Evolution over time --------------------------------------------------------------------------

    def n_step(self, n: int) -> np.ndarray:
        """Transition matrix of n steps, P^n."""
        check_is_fitted(self)
        if n < 0:
            raise ValueError(f"n, the number of steps, must be non-negative; got {n}.")
        return np.linalg.matrix_power(self.transition_, n)

    def distribution(self, n: int, start: Any = None) -> np.ndarray:
        """Distribution of the state after n steps, from `start` or `start_`."""
        check_is_fitted(self)
        x = self.start_ if start is None else _probabilities(start, len(self.start_), "start")
        for _ in range(n):
            x = x @ self.transition_
        return x

    def distance_to_stationary(self, n: int, start: Any = None) -> np.ndarray:
        """Distance sum_i abs(P(X_t = i) - pi_i) from the stationary distribution, for t = 0, 1, ..., n."""
        pi, x = self.stationary_distribution(), self.distribution(0, start)
        out = np.empty(n + 1)
        for t in range(n + 1):
            out[t] = np.abs(x - pi).sum()
            x = x @ self.transition_
        return out

    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of the transition matrix, by decreasing modulus, then by decreasing real part."""
        check_is_fitted(self)
        values = np.linalg.eigvals(self.transition_)
        return values[np.lexsort((-values.imag, -values.real.round(12), -np.abs(values).round(12)))]

    def mixing_rate(self) -> float:
        """Modulus of the second eigenvalue: the rate of convergence to the stationary distribution."""
        values = np.abs(self.eigenvalues())
        return float(values[1]) if len(values) > 1 else 0.0

    # Stationary distributions ----------------------------------------------------------------------

    def stationary_distributions(self) -> np.ndarray:
        """Stationary distributions of the closed classes, (n_classes, n_states). All others are mixtures of
        them."""
        closed = self._closed()
        out = np.zeros((len(closed), len(self.transition_)))
        for row, states in zip(out, closed, strict=True):
            row[states] = _at_rest(self.transition_[np.ix_(states, states)])
        return out

    def stationary_distribution(self) -> np.ndarray:
        """The stationary distribution pi, with pi P = pi, if it is unique."""
        distributions = self.stationary_distributions()
        if len(distributions) > 1:
            raise ValueError(
                f"The chain has {len(distributions)} closed classes of states, and a stationary "
                "distribution for each of them: call stationary_distributions()."
            )
        return distributions[0]

    def mean_return_times(self) -> np.ndarray:
        """Mean return time of each state; infinite for transient states."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.stationary_distributions().sum(axis=0)

    def invariant_measure(self, state: int = 0) -> np.ndarray:
        """Expected number of visits to each state between two visits to the state with this index."""
        distributions = self.stationary_distributions()
        of_class = distributions[distributions[:, state] > 0]
        if not len(of_class):
            raise ValueError(
                f"State {state} is transient: the chain may not return to it, so it has no invariant measure."
            )
        return of_class[0] / of_class[0, state]

    def absorption(self) -> Absorption:
        """Absorption probabilities from each transient state, and expected numbers of steps."""
        closed = self._closed()
        stays = np.isin(np.arange(len(self.transition_)), np.concatenate(closed))
        inside, transient = np.flatnonzero(stays), np.flatnonzero(~stays)
        among = np.eye(len(transient)) - self.transition_[np.ix_(transient, transient)]
        leaves = self.transition_[np.ix_(transient, inside)]
        to_class = np.stack([leaves[:, np.isin(inside, part)].sum(axis=1) for part in closed], axis=1)
        ends = np.column_stack([to_class, np.ones(len(transient))])
        solved = np.linalg.solve(among, ends) if len(transient) else ends
        return Absorption(transient, closed, solved[:, :-1], solved[:, -1])

    # Classification of states ----------------------------------------------------------------------

    def communication_classes(self) -> list[np.ndarray]:
        """Communicating classes: lists of indices of states that lead to each other."""
        check_is_fitted(self)
        count, label = connected_components(self.transition_ > 0, connection="strong")
        classes = [np.flatnonzero(label == c) for c in range(count)]
        return sorted(classes, key=lambda states: states[0])

    def _closed(self) -> list[np.ndarray]:
        def leaves(states: np.ndarray) -> bool:
            return bool(np.delete(self.transition_[states], states, axis=1).any())

        return [states for states in self.communication_classes() if not leaves(states)]

    def is_irreducible(self) -> bool:
        """Whether the chain is irreducible: every state leads to every other."""
        return len(self.communication_classes()) == 1

    def period(self) -> np.ndarray:
        """Period of each state: the greatest common divisor of the lengths of returns to it. Zero if it
        cannot return."""
        out = np.zeros(len(self.transition_), np.int64)
        for states in self.communication_classes():
            out[states] = _depths(self.transition_[np.ix_(states, states)])[1]
        return out

    def cyclic_classes(self) -> list[np.ndarray]:
        """Cyclic classes of an irreducible chain, as many as its period."""
        if not self.is_irreducible():
            raise ValueError(
                "The chain is reducible: cyclic classes are defined for the states of one "
                "communicating class."
            )
        depth, period = _depths(self.transition_)
        return [np.flatnonzero(depth % period == c) for c in range(period)]

    def recurrence(self) -> np.ndarray:
        """Recurrence of each state: 'positive recurrent' or 'transient'. Finite chains have no null recurrent
        states."""
        closed = np.concatenate(self._closed())
        is_recurrent = np.isin(np.arange(len(self.transition_)), closed)
        return np.where(is_recurrent, "positive recurrent", "transient")

    def is_ergodic(self) -> bool:
        """Whether the chain is ergodic: irreducible and aperiodic."""
        return self.is_irreducible() and bool((self.period() == 1).all())

    def flow(self, distribution: Any = None) -> np.ndarray:
        """Probability flow pi_i P_ij between states, for the stationary or another `distribution`."""
        if distribution is None:
            distribution = self.stationary_distribution()
        return _probabilities(distribution, len(self.transition_), "distribution")[:, None] * self.transition_

    def is_reversible(self, distribution: Any = None) -> bool:
        """Whether the chain satisfies detailed balance: pi_i P_ij = pi_j P_ji for all pairs."""
        flow = self.flow(distribution)
        return bool(np.abs(flow - flow.T).max() <= TOLERANCE)


def _log_probability(model: Chain, block: Sequences) -> np.ndarray:
    """The weighted sum of log-probabilities, and the weight of the steps."""
    weight = block.step_weight
    return np.array([weight.dot(model.log_probability(block)), weight.sum()])


def _probabilities(probabilities: Any, S: int, name: str) -> np.ndarray:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape != (S,) or not (p >= 0).all() or not abs(p.sum() - 1.0) <= TOLERANCE:
        raise ValueError(
            f"{name} must be a probability for each of the {S} states; got shape {p.shape} and sum "
            f"{p.sum():.6g}."
        )
    return p


def _columns(X: Any) -> Any:
    """Sequences with the axis of features, which those in a list may leave out; and strings as objects."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "U":
        return X.astype(object)
    if not isinstance(X, list | tuple) or not len(X) or any(getattr(part, "ndim", 0) != 1 for part in X):
        return X
    parts = [np.asarray(part) for part in X]
    if any(part.dtype.kind not in "biuf" for part in parts):
        parts = [part.astype(object) for part in parts]
    return [part[:, None] for part in parts]


def _at_rest(P: np.ndarray) -> np.ndarray:
    """Stationary distribution of an irreducible chain by state reduction (the GTH algorithm).

    States are eliminated one by one. Nothing is subtracted, so all digits are accurate (Grassmann, Taksar and
    Heyman 1985).
    """
    P = P.copy()
    for n in range(len(P) - 1, 0, -1):
        P[:n, n] /= P[n, :n].sum()
        P[:n, :n] += np.outer(P[:n, n], P[n, :n])
    pi = np.ones(len(P))
    for n in range(1, len(P)):
        pi[n] = pi[:n].dot(P[:n, n])
    return pi / pi.sum()


def _depths(P: np.ndarray) -> tuple[np.ndarray, int]:
    """The steps of a path from the first state to each, and the period, of states that lead to each other.

    Two ways to a state differ by a multiple of the period, and those of length one more of all steps suffice.
    """
    order, before = breadth_first_order(P > 0, 0)
    depth = np.zeros(len(P), np.int64)
    for state in order[1:]:
        depth[state] = depth[before[state]] + 1
    i, j = np.nonzero(P > 0)
    return depth, int(np.gcd.reduce(np.abs(depth[i] + 1 - depth[j]), initial=0))
