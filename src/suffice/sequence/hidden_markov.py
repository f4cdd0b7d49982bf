"""Hidden Markov models over any family of densities. Li ch. 10.

Rabiner, "A tutorial on hidden Markov models", 1989; Baum, Petrie, Soules and Weiss 1970.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import xlogy
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Matrix, Rows, Sequences
from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.model import Family, Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Numbers, StrOptions
from ..families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    GaussianPrior,
    Mixtures,
    Multinomial,
    Poisson,
    ProductFamily,
    SphericalGaussian,
)
from ..fitting import em
from ..inputs import read_sequences
from ..inputs.conversions import as_numbers
from ..inputs.kinds import check_kinds
from ..mixture.base import Division
from ..statistics import CategoryCounts, Description, Distinct, category_codes, describe, distinct
from .base import SequenceEstimator
from .chain import Chains

DISCRETE: dict[str, Any] = {
    "categorical": Categorical,
    "multinomial": Multinomial,
    "poisson": Poisson,
    "bernoulli": Bernoulli,
}
SOFT = 0.1  # fraction of initial responsibilities that is spread over all states: zeros would stay zero
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class ExpectedCounts(Statistics):
    """Expected counts of initial states and transitions, statistics of emissions, and the log-likelihood."""

    log_likelihood: float
    weight: float  # number of steps
    start: Annotated[np.ndarray, "(K,)"]
    moves: Annotated[np.ndarray, "(K, K)"]
    emission: Any


@dataclass(frozen=True, eq=False)
class HiddenMarkov(Model):
    """A Markov chain of states z_1, z_2, ... with observations x_t ~ emission_(z_t).

    >>> from suffice.families import Categorical
    >>> colour = Categorical((np.array([0, 1]),), (np.array([[0.5, 0.5], [0.4, 0.6], [0.7, 0.3]]),))
    >>> A = np.array([[0.5, 0.2, 0.3], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5]])
    >>> model = HiddenMarkov(np.array([0.2, 0.4, 0.4]), A, colour)
    >>> np.exp(model.chains(np.array([[0], [1], [0]])).log_sum).round(6)
    array([0.130218])
    """

    start: Annotated[np.ndarray, "real (K,)"]
    transition: Annotated[np.ndarray, "real (K, K)"]  # zeros stay zero
    emission: Annotated[Family, "K, D"]
    start_prior: Annotated[Any, "number or real (K,)"] = 1.0  # concentrations of Dirichlet priors
    transition_prior: Annotated[Any, "number or real (K,) or real (K, K)"] = 1.0
    fixed: tuple[str, ...] = ()  # which of "start", "transition", "emission" are not estimated
    tied: Annotated[np.ndarray | None, "int (K, K)"] = None  # transitions with equal numbers are equal

    def chains(self, X: Matrix, offset: np.ndarray | None = None, states: np.ndarray | None = None) -> Chains:
        """Return the log potentials of sequences, or of one sequence without offsets.

        If the state of a step is known, the others have log potential -inf.
        """
        log_density = self.emission.log_density(X)
        if states is not None:
            known = (states != UNKNOWN)[:, None] & (states[:, None] != np.arange(len(self.start)))
            log_density = np.where(known, -np.inf, log_density)
        offset = np.array([0, len(log_density)]) if offset is None else offset
        with np.errstate(divide="ignore"):
            return Chains(log_density, np.log(self.start), np.log(self.transition), offset)

    def summarize(self, block: Sequences) -> ExpectedCounts:
        if block.y is None:
            weight = np.ascontiguousarray(block.weight, np.float64)
            expected = self.emission.expect_chains(block.X, block.offset, weight, self.start, self.transition)
            if expected is not None:
                log_likelihood, start, moves, emission = expected
                steps = float(weight.dot(block.lengths))
                return ExpectedCounts(log_likelihood, steps, start, moves, emission)
        chains = self.chains(block.X, block.offset, block.y)
        gamma, moves = chains.smoothed(block.weight)
        return self._counts(float(block.weight.dot(chains.log_sum)), gamma, moves, block)

    def summarize_as(self, R: np.ndarray, block: Sequences) -> ExpectedCounts:
        """Return the statistics of a block for known responsibilities R (N, K) of the states."""
        R = R * block.step_weight[:, None]
        follows = block.follows
        weight = block.step_weight[follows]
        moves = (R[follows - 1] / np.where(weight > 0, weight, 1.0)[:, None]).T.dot(R[follows])
        return self._counts(0.0, R, moves, block)

    def _counts(
        self, log_likelihood: float, gamma: np.ndarray, moves: np.ndarray, block: Sequences
    ) -> ExpectedCounts:
        return ExpectedCounts(
            log_likelihood,
            float(block.weight.dot(block.lengths)),
            gamma[block.firsts].sum(axis=0),
            moves,
            self.emission.summarize(block.X, gamma),
        )

    def estimate(self, s: ExpectedCounts) -> Self:
        start, transition, emission = self.start, self.transition, self.emission
        if "start" not in self.fixed:
            start = _shares(s.start + (np.asarray(self.start_prior) - 1.0), self.start)
        if "transition" not in self.fixed:
            counts = s.moves + (np.asarray(self.transition_prior) - 1.0)
            counts = counts if self.tied is None else _tied(counts, self.tied)
            transition = _shares(counts, self.transition)
        if "emission" not in self.fixed:
            emission = self.emission.estimate(s.emission)
        return self.replace(start=start, transition=transition, emission=emission)

    def gradient(self, s: ExpectedCounts) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of the log-likelihood by the logits of `start`, (K,), and `transition`, (K, K).

        It is the expected counts minus their totals times the probabilities.
        """
        by_start = s.start - s.start.sum() * self.start
        return by_start, s.moves - s.moves.sum(axis=1, keepdims=True) * self.transition

    def objective(self, s: ExpectedCounts) -> float:
        """Return the mean log-likelihood per step (plus the log prior over the same weight)."""
        return (s.log_likelihood + self.log_prior()) / s.weight

    def log_prior(self) -> float:
        of_start = xlogy(np.asarray(self.start_prior) - 1.0, np.where(self.start > 0, self.start, 1.0))
        of_moves = xlogy(
            np.asarray(self.transition_prior) - 1.0, np.where(self.transition > 0, self.transition, 1.0)
        )
        return float(of_start.sum() + of_moves.sum()) + self.emission.log_prior()

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, for the information criteria."""
        free = 0 if "emission" in self.fixed else self.emission.n_parameters
        if "start" not in self.fixed:
            free += int((self.start > 0).sum()) - 1
        if "transition" not in self.fixed:
            ties = np.arange(self.transition.size).reshape(len(self.start), -1)
            ties = ties if self.tied is None else self.tied
            rows = {tuple(sorted(row)) for row in ties.tolist()}
            free += len(np.unique(ties[self.transition > 0])) - len(rows)
        return free


def _shares(counts: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Normalize counts by row. Zeros of `old` stay zero, and rows without counts keep their probabilities."""
    counts = np.where(old > 0, np.maximum(counts, 0.0), 0.0)
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), old)


def _tied(moves: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """Return counts whose relative frequencies are the optimal tied transitions.

    There is a closed form if rows that share a number have the same numbers, in any order.
    """
    out = np.empty_like(moves)
    kinds = [tuple(sorted(row)) for row in ties.tolist()]
    for kind in set(kinds):
        rows = np.array([other == kind for other in kinds])
        for number in set(kind):
            tied = (ties == number) & rows[:, None]
            out[tied] = moves[tied].mean()
    return out


@dataclass(frozen=True, eq=False)
class _Start(Value):
    """Initialization of a hidden Markov model: initial responsibilities of the states for the rows."""

    model: HiddenMarkov
    division: Division
    order: Annotated[np.ndarray, "int (M,)"]  # groups of the division, sorted by state

    def summarize(self, block: Sequences) -> ExpectedCounts:
        K = len(self.model.start)
        R = self.division.shares(block.rows())[:, self.order]
        R = (1.0 - SOFT) * R + SOFT / len(self.order)
        if block.y is not None:
            own = np.repeat(block.y[:, None] == np.arange(K), len(self.order) // K, axis=1)
            R = np.where((block.y == UNKNOWN)[:, None] | own, R, 0.0)
            R /= R.sum(axis=1, keepdims=True)
        s = self.model.summarize_as(R.reshape(len(R), K, len(self.order) // K).sum(axis=2), block)
        if isinstance(self.model.emission, Mixtures):
            s = s.replace(emission=self.model.emission.summarize_as(block.X, R * block.step_weight[:, None]))
        return s


class HiddenMarkovModel(DensityMixin, SequenceEstimator):
    """Hidden Markov model (HMM) with any emission, trained by the Baum–Welch algorithm.

    NaN means not observed, for a whole step or for single entries. `y` holds the known states of steps.

    Parameters
    ----------
    n_components : int, default=None
        Number of states. If None, the states are the labels in `y`.
    emission : {'gaussian', 'categorical', 'multinomial', 'poisson', 'bernoulli'}, list of str or Family, \
default='gaussian'
        Emission distribution: one kind for all columns, or one for each. A family with a different density
        per state is the initial emission. Categories are numbers or strings. A category that was not seen in
        `fit` is treated as not observed.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='diag'
        Type of the covariances of a Gaussian emission.
    n_mix : int, default=1
        Number of mixture components per state.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the change of the mean log-likelihood per step.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'} or HiddenMarkov, default='kmeans'
        How the responsibilities of the states are initialized; or the initial model.
    reg_covar : float, default=1e-6
        Non-negative number added to the diagonal of covariances.
    alpha : float, default=0.0
        Additive smoothing of discrete emissions: a pseudo-count for each category in each state.
    start_prior : float or array, default=1.0
        Concentration of the Dirichlet prior of the initial state. 1 means no prior.
    transition_prior : float or array, default=1.0
        Concentration of the Dirichlet priors of the transitions. 1 means no prior.
    emission_prior : GaussianPrior, default=None
        Prior of a Gaussian emission.
    allowed : array of bool of shape (n_components, n_components), default=None
        Mask of the allowed transitions. If None, all are allowed.
    fixed : tuple of str, default=()
        Parameters that are not estimated, of 'start', 'transition', 'emission'. They keep the values of
        `init_params`.
    tied : array of int of shape (n_components, n_components), default=None
        Parameter tying: transitions with the same number are equal. Rows that share a number must have the
        same numbers.
    algorithm : {'viterbi', 'posterior'}, default='viterbi'
        Decoder of `predict`: the best path ('viterbi'), or the most probable state of each step
        ('posterior').
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
        Initial state probabilities.
    transmat_ : ndarray of shape (n_components, n_components)
        Transition probabilities, from the state of the row.
    means_, covars_ : ndarray of shape (n_components, n_features) and (n_components, n_features, n_features)
        Means and covariance matrices of a Gaussian emission. If `n_mix` is more than 1, the second axis is
        the component.
    classes_ : ndarray of shape (n_components,)
        Names of the states: the labels of `y`, or else indices.
    n_updates_ : int
        Number of calls of `partial_fit` after the first fit.
    model_ : HiddenMarkov
        The fitted model. `statistics_`, `trace_`, `n_iter_`, `converged_` and `stopped_because_` describe the
        fit.

    See Also
    --------
    suffice.mixture.GaussianMixture : Rows that do not depend on each other.
    ConditionalRandomField : Labels of all steps are known.
    SequenceClassifier : A class for each sequence.
    StateFilter : States of a stream, step by step.

    Notes
    -----
    The joint density of a sequence x and its states z is

    .. math::

        p(x, z) = π_{z_1} ∏_{t>1} A_{z_{t-1} z_t} ∏_t p(x_t | z_t).

    References
    ----------
    * Rabiner (1989), "A tutorial on hidden Markov models and selected applications in speech recognition",
      Proceedings of the IEEE 77.
    * Baum, Petrie, Soules and Weiss (1970), "A maximization technique occurring in the statistical analysis
      of probabilistic functions of Markov chains", Annals of Mathematical Statistics 41.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.sequence import HiddenMarkovModel
    >>> X = np.array([0.1, 0.0, 0.2, 5.0, 5.1, 4.9, 0.1, 0.0]).reshape(-1, 1)
    >>> model = HiddenMarkovModel(2, random_state=0).fit([X, X[:5]])
    >>> states = model.predict(X)
    >>> (states == states[0]).astype(int)
    array([1, 1, 1, 0, 0, 0, 1, 1])

    Categories may be strings:

    >>> days = [["walk", "walk", "shop", "clean", "clean"], ["shop", "clean", "clean", "walk"]]
    >>> weather = HiddenMarkovModel(2, emission="categorical", alpha=0.1, random_state=0).fit(days)
    >>> log_probability, states = weather.decode(days)
    >>> [len(path) for path in states]
    [5, 4]
    """

    model_: Annotated[HiddenMarkov, "K, D"]
    classes_: Annotated[np.ndarray, "labels (K,)"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1, None],
        "emission": [StrOptions({"gaussian", *DISCRETE}), list, tuple, Family],
        "covariance_type": [StrOptions(set(GAUSSIANS))],
        "n_mix": [AT_LEAST_1],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"}), HiddenMarkov],
        "reg_covar": [NON_NEGATIVE],
        "alpha": [NON_NEGATIVE],
        "start_prior": [NON_NEGATIVE, Numbers(0)],
        "transition_prior": [NON_NEGATIVE, Numbers(0)],
        "emission_prior": [GaussianPrior, None],
        "allowed": [Numbers(0, 1), None],
        "fixed": ["array-like"],
        "tied": [Numbers(), None],
        "algorithm": [StrOptions({"viterbi", "posterior"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        emission: Any = "gaussian",
        covariance_type: str = "diag",
        n_mix: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 1,
        init_params: Any = "kmeans",
        reg_covar: float = 1e-6,
        alpha: float = 0.0,
        start_prior: Any = 1.0,
        transition_prior: Any = 1.0,
        emission_prior: Any = None,
        allowed: Any = None,
        fixed: tuple[str, ...] = (),
        tied: Any = None,
        algorithm: str = "viterbi",
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.emission = emission
        self.covariance_type = covariance_type
        self.n_mix = n_mix
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.init_params = init_params
        self.reg_covar = reg_covar
        self.alpha = alpha
        self.start_prior = start_prior
        self.transition_prior = transition_prior
        self.emission_prior = emission_prior
        self.allowed = allowed
        self.fixed = fixed
        self.tied = tied
        self.algorithm = algorithm
        self.random_state = random_state
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self.emission == "categorical"
        tags.input_tags.string = _has_categories(self.emission)
        tags.input_tags.positive_only = isinstance(self.emission, str) and self.emission in (
            "multinomial",
            "poisson",
            "bernoulli",
        )
        return tags

    def fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Fit to sequences by Baum–Welch.

        Parameters
        ----------
        X : array, list of arrays, list of lists of strings, or table described by `suffice.sequences`
            The sequences. A 2-D array is one sequence, or several by `groups`. NaN means not observed. For
            ``emission="categorical"``, a list of strings is a sequence of one column; None is not observed.
        y : array or list of arrays, optional
            Known states of the steps; -1, None or NaN means unknown. The labels name the first states. If all
            are known, the fit is counting, without EM.
        groups : array of shape (n_rows,), optional
            Sequence id of each row. The rows of a sequence must be contiguous.
        sample_weight : array, optional
            Per-sequence weights. A weight of 2 is equivalent to repeating the sequence; 0 drops it.

        Returns
        -------
        self
        """
        return self._fit_to((X, groups), y, sample_weight)

    def _solve(self, data: Partitions) -> Progress:
        data, categories = self._with_states(data)
        progress = em(
            self._starts(data),
            data,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=Watch(self, self.checkpoint, data),
        )
        if progress.trace and progress.trace[-1] == -np.inf:
            raise ValueError(
                "Some sequences are impossible under the model: their probability is zero. Allow more "
                "transitions, or raise alpha or transition_prior."
            )
        model, s = _named_categories(progress.model, categories), progress.statistics
        return progress.replace(model=model, statistics=_named_categories(s, categories))

    def _finish(self, progress: Progress, data: Partitions) -> None:
        self.n_updates_ = 1

    def _with_states(self, data: Partitions) -> tuple[Partitions, tuple[np.ndarray, ...]]:
        """Return the data with labels as indices of states and categories as indices, and the categories.

        Sets the names of the states.
        """
        columns = tuple(d for d, kind in enumerate(self._kinds()) if kind == "categorical")
        names, *categories = data.fold(_labels_and_categories, columns).values
        if any(map(len, categories)):
            data = data.map(_as_codes, columns, tuple(categories))
        return self._with_labels(data, names), tuple(categories)

    def _kinds(self) -> list[str]:
        """Return the kind of each column, if the start is computed from them."""
        if isinstance(self.emission, Family) or isinstance(self.init_params, HiddenMarkov):
            return []
        D = self.n_features_in_
        kinds = [self.emission] * D if isinstance(self.emission, str) else list(self.emission)
        if len(kinds) != D:
            raise ValueError(f"emission has {len(kinds)} kinds, but X has {D} columns.")
        return kinds

    def _with_labels(self, data: Partitions, names: np.ndarray) -> Partitions:
        K = len(names) if self.n_components is None else self.n_components
        if not len(names):
            if self.n_components is None:
                raise ValueError(
                    "n_components=None takes the states from the labels in y, and y has none: pass y, "
                    "or the number of states, e.g. HiddenMarkovModel(3)."
                )
            self.classes_ = np.arange(K)
            return data.map(_without_states)
        if len(names) > K:
            raise ValueError(f"y has {len(names)} labels, but there are n_components={K} states.")
        self.classes_ = _named(names, K)
        return data.map(_as_states, self.classes_)

    def _starts(self, data: Partitions) -> tuple[HiddenMarkov, ...]:
        K = len(self.classes_)
        rows = data.map(Sequences.rows)
        description = rows.fold(_described)
        if not description.rows:
            raise ValueError("X has no steps to fit: every sequence is empty.")
        if isinstance(self.init_params, HiddenMarkov):
            if len(self.init_params.start) != K:
                raise ValueError(f"init_params has {len(self.init_params.start)} states, expected {K}.")
            self.init_params.emission.must_be_of(K, self.n_features_in_, "states")
            return (self._constrained(self.init_params),)
        if self.fixed:
            raise ValueError(
                f"fixed={self.fixed!r} requires an initial model: pass init_params=HiddenMarkov(...)."
            )
        if description.rows < K:
            warn(
                f"HiddenMarkovModel has n_components={K} states, and X has {description.rows:g} steps: some "
                "states have no step to learn from. Use fewer states.",
                UserWarning,
            )
        even = np.full((K, K), 1.0 / K)
        start = self._constrained(HiddenMarkov(even[0], even, self._emission(rows, description)))
        if isinstance(self.emission, Family):
            return (start,)
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_init)
        return tuple(self._seeded(start, data, rows, description, int(seed)) for seed in seeds)

    def _seeded(
        self, start: HiddenMarkov, data: Partitions, rows: Partitions, description: Description, seed: int
    ) -> HiddenMarkov:
        size = len(self.classes_) * self.n_mix
        init = self.init_params if description.rows >= size else "random"
        division = Division.of(rows, description, size, init, seed)
        order = np.arange(size)
        if self.n_mix > 1 and division.centers is not None:
            order = _neighbours(division.centers.center)
        return start.estimate(data.fold(_Start.summarize, _Start(start, division, order)))

    def _constrained(self, model: HiddenMarkov) -> HiddenMarkov:
        """Return the model with the priors and constraints of its transitions."""
        K = len(model.start)
        tied = None if self.tied is None else np.array(self.tied)
        transition = model.transition
        for name, values in (("allowed", self.allowed), ("tied", tied)):
            if values is not None and np.shape(values) != (K, K):
                raise ValueError(
                    f"{name} has shape {np.shape(values)}, expected {(K, K)}: a row and a column per state."
                )
        for name, shape in (("start_prior", (K,)), ("transition_prior", (K, K))):
            if np.shape(getattr(self, name)) not in ((), shape):
                raise ValueError(
                    f"{name} has shape {np.shape(getattr(self, name))}, expected a number or {shape}."
                )
        if self.allowed is not None:
            transition = np.where(np.asarray(self.allowed, bool), transition, 0.0)
            total = transition.sum(axis=1, keepdims=True)
            if (total == 0).any():
                stuck = np.flatnonzero(total == 0).tolist()
                raise ValueError(
                    f"allowed lets no state follow the states {stuck}: allow one, e.g. themselves."
                )
            transition = transition / total
        if tied is not None:
            kinds = {tuple(sorted(row)) for row in tied.tolist()}
            if sum(len(set(kind)) for kind in kinds) > len({n for kind in kinds for n in kind}):
                raise ValueError(
                    "tied is invalid: rows that share a number must have the same numbers, in any order."
                )
            for number in np.unique(tied):
                forbidden = transition[tied == number] == 0
                if forbidden.any() and not forbidden.all():
                    raise ValueError(
                        f"Some transitions of the number {number} in tied are forbidden and some are "
                        f"not: tied transitions must be equal."
                    )
            transition = _shares(_tied(transition, tied), transition)
        if strange := set(self.fixed) - {"start", "transition", "emission"}:
            raise ValueError(
                f"fixed has {sorted(strange)}, expected only 'start', 'transition' and 'emission'."
            )
        return model.replace(
            transition=transition,
            start_prior=copy(self.start_prior),
            transition_prior=copy(self.transition_prior),
            fixed=tuple(self.fixed),
            tied=tied,
        )

    def _emission(self, rows: Partitions, description: Description) -> Family:
        """Return the family of K densities."""
        K, D = len(self.classes_), self.n_features_in_
        if isinstance(self.emission, Family):
            self.emission.must_be_of(K, D, "states")
            return self.emission
        kinds = self._kinds()
        if strange := set(kinds) - {"gaussian", *DISCRETE}:
            raise ValueError(f"emission has {sorted(strange)}, expected only {['gaussian', *DISCRETE]}.")
        check_kinds(rows, kinds, getattr(self, "feature_names_in_", range(D)))

        def start(kind: str, size: int) -> Any:
            if kind != "gaussian":
                return DISCRETE[kind].start(K * self.n_mix, size, alpha=self.alpha)
            options = {"reg": self.reg_covar, "prior": self.emission_prior}
            family = GAUSSIANS[self.covariance_type].start(K * self.n_mix, size, **options)
            columns = np.flatnonzero(np.array(kinds) == "gaussian")
            variance = description.features.variance[columns]
            # The expected value of a missing entry is at first the mean of its feature.
            return family.replace(
                mean=family.mean + description.features.mean[columns],
                covariance=family.covariance * np.where(variance > 0, variance, 1.0).mean(),
            )

        mixed = not isinstance(self.emission, str)
        family = ProductFamily.by_kind(kinds, start) if mixed else start(kinds[0], D)
        return family if self.n_mix == 1 else Mixtures(np.full((K, self.n_mix), 1.0 / self.n_mix), family)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {
            "startprob_": progress.model.start,
            "transmat_": progress.model.transition,
            "classes_": self.classes_,
        }

    @property
    def means_(self) -> np.ndarray:
        """Means of a Gaussian emission, of shape (n_components, n_features), or (n_components, n_mix,
        n_features) if `n_mix` is more than 1."""
        return self._of_states(self._gaussian("means_").mean)

    @property
    def covars_(self) -> np.ndarray:
        """Covariance matrices of a Gaussian emission, of shape (n_components, n_features, n_features) for
        every `covariance_type`, as in hmmlearn; or (n_components, n_mix, n_features, n_features)."""
        family = self._gaussian("covars_")
        D, covariance = family.mean.shape[1], family.covariance
        if covariance.ndim == 1:  # spherical
            covariance = np.repeat(covariance[:, None], D, axis=1)
        if isinstance(family, DiagonalGaussian | SphericalGaussian):
            covariance = covariance[:, :, None] * np.eye(D)
        return self._of_states(np.broadcast_to(covariance, (len(family.mean), D, D)).copy())

    def _gaussian(self, name: str) -> Any:
        """Return the Gaussian densities of all states."""
        if not hasattr(self, "model_"):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        family: Any = self.model_.emission
        family = family.component if isinstance(family, Mixtures) else family
        if not isinstance(family, tuple(GAUSSIANS.values())):
            raise AttributeError(f"{name} is for a Gaussian emission; see model_.emission.")
        return family

    def _of_states(self, values: np.ndarray) -> np.ndarray:
        K = len(self.model_.start)
        return values if len(values) == K else values.reshape(K, -1, *values.shape[1:])

    def partial_fit(
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Update the model by a step of stepwise (online) EM.

        The statistics of these sequences are averaged with the previous ones.
        The first call initializes the states. Cappé and Moulines, "On-line EM", 2009.

        Parameters
        ----------
        X, y, groups, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        seen: int = getattr(self, "n_updates_", 0)
        first = not seen
        data = self._opened((X, groups), y, sample_weight, reset=first)
        categories: tuple[np.ndarray, ...] = ()
        if first:
            data, categories = self._with_states(data)
            model = self._starts(data)[0]
        else:
            data, model = data.map(_as_states, self.classes_), self.model_
        s = data.fold(HiddenMarkov.summarize, model)
        if not s.weight > 0 or not np.isfinite(s.log_likelihood):
            raise ValueError(
                "The sequences have no steps, or are impossible under the model so far. If they have "
                "unseen categories or transitions, use a larger transition_prior or alpha in the first call."
            )
        self.n_updates_ = seen + 1
        total = s
        if not first:
            # Means over steps are averaged, and then multiplied by the number of steps so far, so that priors
            # have the same effect as in a fit to all of them.
            before = self.statistics_
            step, steps = (seen + 2.0) ** -0.6, before.weight + s.weight
            total = before * ((1.0 - step) * steps / before.weight) + s * (step * steps / s.weight)
        model, total = (
            _named_categories(model.estimate(total), categories),
            _named_categories(total, categories),
        )
        return self._publish(Progress(model, statistics=total))

    def _chains(self, block: Sequences) -> Chains:
        return self.model_.chains(block.X, block.offset)

    @row_wise
    def predict(self, X: Any, groups: MaybeArray = None) -> Any:
        """Predict the state of each step, by the `algorithm`: the best path, or the most probable state.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._of_steps(lambda block: self.classes_[self._decoded(block)], X, groups)

    def decode(self, X: Any, groups: MaybeArray = None) -> tuple[float, Any]:
        """The best path (Viterbi) of each sequence, and its log-probability, as hmmlearn returns them.

        Returns
        -------
        log_probability : float
            Joint log-probability of the sequences and their best paths, summed over sequences.
        states : array or list of arrays
            The states of the steps, in the shape of the input.
        """
        block, shaped = read_sequences(self, X, groups)
        path, score = self._chains(block).best()
        return float(score.sum()), shaped(self.classes_[path])

    def _decoded(self, block: Sequences) -> np.ndarray:
        chains = self._chains(block)
        return chains.best()[0] if self.algorithm == "viterbi" else chains.smoothed()[0].argmax(axis=1)

    @row_wise
    def predict_proba(self, X: Any, groups: MaybeArray = None) -> Any:
        """Smoothed state probabilities: p(state of a step given its whole sequence).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._of_steps(lambda block: self._chains(block).smoothed()[0], X, groups)

    def filter(self, X: Any, groups: MaybeArray = None) -> Any:
        """Filtered state probabilities: p(state of a step given the steps up to it)."""
        return self._of_steps(lambda block: self._chains(block).filtered(), X, groups)

    def predict_next(self, X: Any, groups: MaybeArray = None) -> np.ndarray:
        """Probabilities of the state after the last step, one row per sequence; for an empty one, the initial
        probabilities."""

        def ahead(block: Sequences) -> np.ndarray:
            out = np.tile(self.model_.start, (len(block), 1))
            full = block.lengths > 0
            out[full] = self._chains(block).filtered()[block.offset[1:][full] - 1].dot(self.model_.transition)
            return out

        return self._of_sequences(ahead, X, groups)

    def pair_posteriors(self, X: Any, groups: MaybeArray = None) -> Any:
        """Probabilities of the transitions into each step given the sequence, (n_steps, K, K); zero at the
        first step."""
        return self._of_steps(lambda block: self._chains(block).by_step().smoothed()[1], X, groups)

    def expected_counts(self, X: Any, groups: MaybeArray = None) -> ExpectedCounts:
        """Expected counts given the sequences: of initial states (`start`), of transitions (`moves`), and the
        statistics of the emissions (`emission`); with the log-likelihood."""
        return self.model_.summarize(read_sequences(self, X, groups)[0])

    def log_likelihood(self, X: Any, groups: MaybeArray = None) -> np.ndarray:
        """Log-likelihood log p(sequence) of each sequence; -inf if it is impossible."""
        return self._of_sequences(lambda block: self._chains(block).log_sum, X, groups)

    def score(
        self, X: Any, y: MaybeArray = None, groups: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> float:
        """Mean log-likelihood per step."""
        log_likelihood, steps = self._total(X, groups, sample_weight)
        return log_likelihood / steps

    def _total(self, X: Any, groups: MaybeArray, sample_weight: MaybeArray = None) -> tuple[float, float]:
        """Return the log-likelihood of all sequences, and the number of their steps."""
        check_is_fitted(self)
        data = self._opened((X, groups), None, sample_weight, reset=False)
        log_likelihood, steps = data.map(_without_states).fold(_scored, self.model_)
        return float(log_likelihood), float(steps)

    def aic(self, X: Any, groups: MaybeArray = None) -> float:
        """Akaike information criterion. Lower is better."""
        return 2.0 * self.model_.n_parameters - 2.0 * self._total(X, groups)[0]

    def bic(self, X: Any, groups: MaybeArray = None) -> float:
        """Bayesian information criterion. Lower is better."""
        log_likelihood, steps = self._total(X, groups)
        return self.model_.n_parameters * np.log(steps) - 2.0 * log_likelihood

    def sample(self, n_steps: int = 1, n_sequences: int | None = None) -> tuple[Any, Any]:
        """Draw a sequence and its states, or lists of several."""
        check_is_fitted(self)
        if n_steps < 1:
            raise ValueError(f"n_steps must be at least 1; got n_steps={n_steps}.")
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng, model = generator(Purpose.GENERATED, seed), self.model_
        S = 1 if n_sequences is None else n_sequences
        states = np.empty((S, n_steps), int)
        p = np.tile(model.start, (S, 1))
        for t in range(n_steps):
            drawn = (rng.random((S, 1)) * p.sum(axis=1, keepdims=True) >= p.cumsum(axis=1)).sum(axis=1)
            states[:, t] = np.minimum(drawn, len(model.start) - 1)
            p = model.transition[states[:, t]]
        X = [model.emission.sample(path, rng) for path in states]
        names = list(self.classes_[states])
        return (X[0], names[0]) if n_sequences is None else (X, names)

    def stream(self) -> StateFilter:
        """An online filter, which processes one step at a time."""
        check_is_fitted(self)
        return StateFilter(self.model_, self.n_features_in_)


class StateFilter:
    """Online filter: p(state given the steps so far), one step at a time. Returned by
    `HiddenMarkovModel.stream`.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.sequence import HiddenMarkovModel
    >>> X = np.array([0.1, 0.0, 5.0, 5.1, 0.1, 0.2]).reshape(-1, 1)
    >>> model = HiddenMarkovModel(2, random_state=0).fit(X)
    >>> stream = model.stream()
    >>> all(np.allclose(stream.update(x), p) for x, p in zip(X, model.filter(X)))
    True
    """

    def __init__(self, model: HiddenMarkov, n_features: int | None = None) -> None:
        self.model, self.n_features = model, n_features
        self.reset()

    def reset(self) -> None:
        """Reset the filter for a new sequence."""
        self.ahead: np.ndarray = self.model.start
        self.log_likelihood = 0.0

    def update(self, x: Any) -> np.ndarray:
        """Update with a step, and return p(state given all steps up to it)."""
        x = np.asarray(x)
        x = x.astype(object if x.dtype.kind in "OU" else np.float64, copy=False).reshape(1, -1)
        if self.n_features is not None and x.shape[1] != self.n_features:
            raise ValueError(
                f"The step has {x.shape[1]} features, but the model was fitted with "
                f"{self.n_features} features."
            )
        log_density = self.model.emission.log_density(x)[0]
        with np.errstate(divide="ignore"):
            log_joint = np.log(self.ahead) + log_density
        most = log_joint.max()
        if most == -np.inf:
            raise ValueError(
                "The step is impossible given the previous steps: call reset() to start a new sequence."
            )
        share = np.exp(log_joint - most)
        self.log_likelihood += float(most + np.log(share.sum()))
        share /= share.sum()
        self.ahead = share.dot(self.model.transition)
        return share

    def predict_next(self) -> np.ndarray:
        """p(state of the next step given all previous steps)."""
        return self.ahead.copy()


def _has_categories(emission: Any) -> bool:
    if isinstance(emission, ProductFamily):
        return any(map(_has_categories, emission.parts))
    if isinstance(emission, Mixtures):
        return _has_categories(emission.component)
    if isinstance(emission, list | tuple):
        return "categorical" in emission
    return isinstance(emission, Categorical) or (isinstance(emission, str) and emission == "categorical")


def _labels_and_categories(columns: tuple[int, ...], block: Sequences) -> Distinct:
    """The known labels, and the categories of each categorical column if they may be strings."""
    labels = np.empty(0) if block.y is None else distinct(block.y[~_unknown(block.y)])
    strings = block.X.dtype.kind in "OU"
    return Distinct((labels, *(distinct(block.X[:, d]) if strings else np.empty(0) for d in columns)))


def _as_codes(columns: tuple[int, ...], categories: tuple[np.ndarray, ...], block: Sequences) -> Sequences:
    """Categories as their indices, and all other columns as numbers. Missing values are NaN."""
    X = np.array(block.X, dtype=object)
    for d, values in zip(columns, categories, strict=True):
        code, known = category_codes(values, X[:, d])
        X[:, d] = np.where(known, code, np.nan)
    return block.replace(X=as_numbers(X, "X", "A column that is not categorical"))


def _named_categories(value: Any, categories: tuple[np.ndarray, ...]) -> Any:
    """A model or statistics with the categories instead of their indices."""
    if not any(map(len, categories)):
        return value
    if isinstance(value, Categorical | CategoryCounts):
        pairs = zip(categories, value.values, strict=True)
        return value.replace(values=tuple(names[codes.astype(np.int64)] for names, codes in pairs))
    if isinstance(value, tuple):
        return tuple(_named_categories(part, categories) for part in value)
    if isinstance(value, Value):
        return value.replace(**{name: _named_categories(v, categories) for name, v in value.fields().items()})
    return value


def _described(block: Rows) -> Description:
    """The description of rows. Strings are not described."""
    if block.X.dtype.kind in "OU":
        block = block.replace(X=np.full(block.X.shape, np.nan))
    return describe(block)


def _unknown(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind in "OUS":  # NumPy makes text of what stands beside text
        return np.array([v is None or str(v) in ("-1", "-1.0", "nan", "<NA>") for v in y], dtype=bool)
    return (y == UNKNOWN) | (y != y)


def _as_states(names: np.ndarray, block: Sequences) -> Sequences:
    """The labels of the steps as indices of states."""
    if block.y is None:
        return _without_states(block)
    unknown = _unknown(block.y)
    states = np.full(len(block.y), UNKNOWN)
    known = block.y[~unknown]
    order = np.argsort(names)
    try:
        position = order[np.minimum(np.searchsorted(names, known, sorter=order), len(names) - 1)]
        strange = known[names[position] != known]
    except TypeError:  # text among numbers
        strange = known
    if len(strange):
        raise ValueError(f"The label {strange.tolist()[0]!r} is none of the states {names.tolist()}.")
    states[~unknown] = position
    return block.replace(y=states)


def _without_states(block: Sequences) -> Sequences:
    return block.replace(y=None)


def _named(names: np.ndarray, K: int) -> np.ndarray:
    """The names of K states. The first ones are the labels."""
    names = np.array(names.tolist())
    if names.dtype.kind in "biuf":
        return np.concatenate([names, names.max() + 1 + np.arange(K - len(names))])
    more = [name for k in range(len(names), K + len(names)) if (name := f"state {k}") not in names]
    return np.concatenate([names, np.array(more[: K - len(names)], dtype=names.dtype.kind)])


def _scored(model: HiddenMarkov, block: Sequences) -> np.ndarray:
    """Log-likelihood and number of steps, weighted."""
    chains = model.chains(block.X, block.offset)
    return np.array([block.weight.dot(chains.log_sum), block.weight.dot(block.lengths)])


def _neighbours(center: np.ndarray) -> np.ndarray:
    """Centres ordered along their first principal axis, so that those of one state are adjacent."""
    Y = center - center.mean(axis=0)
    return np.argsort(Y @ np.linalg.svd(Y, full_matrices=False)[2][0], kind="stable")
