"""Maximum entropy and minimum norm distributions over finitely many outcomes, given means of features. Li
section 6.2, Gong and Xu ch. 9.

The first is log-linear, p(v) = exp(constant + sum_p weights_p f_p(v)). Its weights minimize the dual function
log sum_v exp(sum_p w_p f_p(v)) - sum_p w_p means_p: Jaynes, "Information theory and statistical mechanics",
1957. Marginal tables can be fitted one after the other: Deming and Stephan, "On a least squares adjustment of
a sampled frequency table", 1940.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from scipy.optimize import linprog
from scipy.special import entr, logsumexp
from sklearn.exceptions import ConvergenceWarning

from ..core.callers import warn
from ..core.loop import Progress, Watch
from ..core.values import Value
from ..fitting import find_solver, iterative_scaling
from ..fitting.linear_algebra import solve_positive

SOLVERS = ("newton", "lbfgs", "bfgs", "gradient", "conjugate-gradient", "gis", "iis", "ipf")
INFEASIBLE = (
    "No distribution over these outcomes has these means: they contradict each other, or are outside "
    "the range of the features. Check means, or leave a constraint out."
)


@dataclass(frozen=True, eq=False)
class MomentDistribution(Value):
    """Probabilities of outcomes, and the weights of the features that give them."""

    probability: Annotated[np.ndarray, "real (...)"]  # (V,), or in the shape of a table
    weights: Annotated[np.ndarray, "real (P,)"]
    constant: float  # p = exp(constant + features @ weights); of least squares, without exp
    trace: tuple[float, ...] = ()  # the dual function by iteration
    converged: bool = True

    @property
    def entropy(self) -> float:
        """-sum p log p, in nats."""
        return float(entr(self.probability).sum())


def maximum_entropy_distribution(
    features: Any, means: Any = None, *, solver: str = "newton", tol: float = 1e-10, max_iter: int = 1000
) -> MomentDistribution:
    """Maximum entropy distribution subject to given means of features.

    Parameters
    ----------
    features : array of shape (V, P) or (V,), or dict
        The features of each of V outcomes. Or known marginals of a table: a dict from tuples of variables,
        such as ``(0, 2)``, to arrays of their joint probabilities.
    means : array of shape (P,) or float, optional
        The mean of each feature. Leave out for marginals.
    solver : {'newton', 'lbfgs', 'bfgs', 'gradient', 'conjugate-gradient', 'gis', 'iis', 'ipf'}
        Algorithm that minimizes the dual function. 'gis' and 'iis' are generalized and improved iterative
        scaling. 'ipf' is iterative proportional fitting, for marginals or features that are zero or one.
    tol : float
        Tolerance of the stopping criterion: the largest difference between a mean and its target.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    MomentDistribution
        With `probability`, `weights` of the features, `constant`, `entropy`, and `trace`: the dual function
        by iteration, which converges to the entropy.

    See Also
    --------
    MaximumEntropy : The same for classes that depend on rows of data.
    minimum_norm_distribution : Least squares instead of entropy.

    Examples
    --------
    A die whose mean is 4.

    >>> import numpy as np
    >>> from suffice.linear_model import maximum_entropy_distribution
    >>> maximum_entropy_distribution(np.arange(1, 7), 4.0).probability.round(4)
    array([0.1031, 0.1227, 0.1461, 0.174 , 0.2072, 0.2468])

    Two marginals of a table of two variables: they become independent.

    >>> found = maximum_entropy_distribution({(0,): [0.2, 0.8], (1,): [0.5, 0.5]}, solver="ipf")
    >>> found.probability.round(4)
    array([[0.1, 0.1],
           [0.4, 0.4]])
    """
    algorithm = find_solver(solver, SOLVERS)
    shape = None
    if isinstance(features, Mapping):
        if means is not None:
            raise ValueError("Marginals contain their probabilities: leave means out.")
        shape, F, b = _of_marginals(features)
    else:
        F, b = _checked(features, means)
    if not len(b):
        progress = Progress(b, (float(np.log(len(F))),), None, "tolerance")
    elif solver == "ipf":
        progress = _proportional(F, b, [1] * len(b) if shape is None else _sizes(features), tol, max_iter)
    elif algorithm.scaling:
        progress = _scaled(F, b, solver, tol, max_iter)
    else:
        dual = partial(_dual, F, b, algorithm.hessian)
        progress = algorithm.minimize(dual, np.zeros(len(b)), tol=tol, max_iter=max_iter)
    p, constant = _log_linear(F, progress.model)
    gap = float(np.abs(p @ F - b).max(initial=0.0))
    if not gap <= max(100 * tol, 1e-8):
        _must_be_possible(F, b)
    converged = progress.converged or gap <= tol
    if not converged:
        warn(
            f"maximum_entropy_distribution did not converge: it stopped after {progress.n_iter} iterations "
            f"because of {progress.stopped_because}, with means off by {gap:.3g}. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    table = p if shape is None else p.reshape(shape)
    return MomentDistribution(table, progress.model, constant, progress.trace, converged)


def minimum_norm_distribution(features: Any, means: Any) -> MomentDistribution:
    """Minimum norm solution that adds up to one and gives features their means.

    The result is linear in the features. It is not a distribution if some entries are negative.

    Parameters
    ----------
    features : array of shape (V, P) or (V,)
        The features of each of V outcomes.
    means : array of shape (P,) or float
        The mean of each feature.

    Returns
    -------
    MomentDistribution
        With ``probability = constant + features @ weights``.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import minimum_norm_distribution
    >>> minimum_norm_distribution(np.arange(1, 7), 4.0).probability.round(4)
    array([0.0952, 0.1238, 0.1524, 0.181 , 0.2095, 0.2381])
    """
    F, b = _checked(features, means)
    A = np.column_stack([np.ones(len(F)), F])
    target = np.append(1.0, b)
    weights = solve_positive(A.T @ A, target)
    p = A @ weights
    if not np.allclose(p @ A, target, rtol=1e-8, atol=1e-8 * np.abs(target).max()):
        raise ValueError("The means contradict each other: check means, or leave a constraint out.")
    return MomentDistribution(p, weights[1:], float(weights[0]))


def _checked(features: Any, means: Any) -> tuple[np.ndarray, np.ndarray]:
    """Check that features (V, P) and means (P,) are finite numbers of matching shapes, and return them."""
    F = np.asarray(features, dtype=np.float64)
    F = F[:, None] if F.ndim == 1 else F
    b = np.atleast_1d(np.asarray(np.nan if means is None else means, dtype=np.float64))
    if F.ndim != 2 or not len(F) or b.shape != (F.shape[1],):
        raise ValueError(
            f"features has shape {np.shape(features)} and means {np.shape(means)}: expected (V, P), a row "
            "for each outcome, and (P,), a mean for each feature."
        )
    if not (np.isfinite(F).all() and np.isfinite(b).all()):
        raise ValueError("features or means contain NaN or infinity: expected finite numbers.")
    return F, b


def _of_marginals(marginals: Mapping[Any, Any]) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The shape of the table; indicators of the entries of all marginals (V, P); their probabilities (P,)."""
    sizes: dict[int, int] = {}
    for axes, values in marginals.items():
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != len(axes) or any(
            sizes.setdefault(a, n) != n for a, n in zip(axes, table.shape, strict=True)
        ):
            raise ValueError(
                f"The marginal of {axes} has shape {table.shape}: expected an axis for each variable, as "
                "long as in the other marginals."
            )
        if not (np.isfinite(table).all() and (table >= 0).all() and np.isclose(table.sum(), 1.0)):
            raise ValueError(
                f"The marginal of {axes} is not a distribution: expected numbers that add up to 1."
            )
    if sorted(sizes) != list(range(len(sizes))) or not sizes:
        raise ValueError(
            f"The marginals are of variables {sorted(sizes)}: expected 0, 1, ..., each in one at least."
        )
    shape = tuple(sizes[a] for a in range(len(sizes)))
    cells = np.indices(shape).reshape(len(shape), -1)
    columns, b = [], []
    for axes, values in marginals.items():
        table = np.asarray(values, dtype=np.float64)
        place = np.ravel_multi_index(tuple(cells[list(axes)]), table.shape)
        columns.append(np.eye(table.size)[place])
        b.append(table.ravel())
    return shape, np.hstack(columns), np.concatenate(b)


def _sizes(marginals: Mapping[Any, Any]) -> list[int]:
    return [np.size(table) for table in marginals.values()]


def _log_linear(F: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """p = exp(constant + F weights), and the constant; a weight of minus infinity makes p zero."""
    dead = np.isneginf(weights)
    scores = F[:, ~dead] @ weights[~dead]
    scores = np.where((F[:, dead] > 0).any(axis=1), -np.inf, scores)
    log_sum = float(logsumexp(scores))
    return np.exp(scores - log_sum), -log_sum


def _dual(F: np.ndarray, b: np.ndarray, curvature: bool, w: np.ndarray) -> tuple[Any, ...]:
    p, constant = _log_linear(F, w)
    mean = p @ F
    value, gradient = -constant - float(w @ b), mean - b
    if not curvature:
        return value, gradient
    return value, gradient, (F - mean).T @ (p[:, None] * (F - mean))


def _scaled(F: np.ndarray, b: np.ndarray, solver: str, tol: float, max_iter: int) -> Progress:
    # Counted from their least values, features are not negative, and the distribution is the same.
    low = F.min(axis=0, initial=0.0)
    total = (F - low).sum(axis=1)
    levels, place = np.unique(total, return_inverse=True)
    if solver == "gis":
        levels, place = levels[-1:], np.zeros(len(F), np.int64)

    def counts(w: np.ndarray) -> tuple[float, np.ndarray]:
        p, constant = _log_linear(F, w)
        expected = np.zeros((len(levels), len(b)))
        np.add.at(expected, place, p[:, None] * (F - low))
        return -constant - float(w @ b), expected

    return iterative_scaling(counts, b - low, levels, np.zeros(len(b)), tol=tol, max_iter=max_iter)


def _proportional(F: np.ndarray, b: np.ndarray, sizes: list[int], tol: float, max_iter: int) -> Progress:
    """Iterative proportional fitting: scale one group of features after the other to its means. An outcome
    has at most one feature of a group."""
    if not ((F == 0) | (F == 1)).all():
        raise ValueError("solver='ipf' takes features that are zero or one: use solver='newton' for others.")
    ends = np.cumsum([0, *sizes])

    def step(state: Progress) -> Progress:
        w = state.model.copy()
        for start, stop in pairwise(ends.tolist()):
            f = F[:, start:stop]
            p, _ = _log_linear(F, w)
            seen, values = p @ f, b[start:stop]
            rest, other = values.sum(), p @ (1.0 - f.sum(axis=1))
            with np.errstate(divide="ignore", invalid="ignore"):
                change = np.log(values) - np.log(seen)
                change -= np.log(max(1.0 - rest, 1e-300) / other) if other > 1e-15 else 0.0
            w[start:stop] += np.where(values > 0, np.where(seen > 0, change, 0.0), -np.inf)
        p, constant = _log_linear(F, w)
        value = -constant - float(w[b > 0] @ b[b > 0])
        gap = np.abs(p @ F - b).max(initial=0.0)
        return Progress(w, (*state.trace, value), None, "tolerance" if gap <= tol else "")

    return Watch().limited(max_iter).loop(step, Progress(np.zeros(len(b))))


def _must_be_possible(F: np.ndarray, b: np.ndarray) -> None:
    A = np.vstack([np.ones(len(F)), F.T])
    if linprog(np.zeros(len(F)), A_eq=A, b_eq=np.append(1.0, b), bounds=(0, None)).status == 2:
        raise ValueError(INFEASIBLE)
