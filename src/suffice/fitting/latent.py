"""Models with latent variables: the Q function, the evidence lower bound, and EM where the posterior of the
latent variables is approximated or drawn.

Neal and Hinton, "A view of the EM algorithm that justifies incremental, sparse, and other variants", 1998;
Wei and Tanner, "A Monte Carlo implementation of the EM algorithm", 1990; Li ch. 9.3 and 20.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import entr, softmax

from ..core.arguments import MaybeArray
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions, must_be_partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics, tree_sum
from ..core.values import Value
from ..families.mixture import Mixture
from .em import em
from .sampler import Chain, Draw, Sampler, metropolis_step


def q_function(model: Any, X: Any, q: Any, sample_weight: MaybeArray = None) -> float:
    """Expected complete-data log-likelihood, the sum over rows of E_q[log p(x, z)].

    Parameters
    ----------
    model : model
        With `log_joint(X)`, log p(x, z) of each row and value of z, (N, K).
    X : array or Partitions
        The rows.
    q : array of shape (N, K) or model
        Probabilities of the values of z for each row; or a model, whose `predict_proba(X)` they are. With the
        model of the last iteration, this is Q(model, q) of EM.
    sample_weight : array, optional
        Per-sample weights, if X is an array.

    Returns
    -------
    value : float

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Bernoulli, Mixture
    >>> from suffice.fitting import evidence_lower_bound, q_function
    >>> model = Mixture(np.array([0.5, 0.5]), Bernoulli(np.array([[0.2], [0.7]])))
    >>> X = np.array([[1.0]])
    >>> round(q_function(model, X, np.array([[0.25, 0.75]])), 4)
    -1.363
    >>> round(evidence_lower_bound(model, X, np.array([[0.25, 0.75]])), 4)
    -0.8007
    >>> float(model.log_density(X).sum().round(4))
    -0.7985
    """
    return _expected(_q_term, model, X, q, sample_weight)


def evidence_lower_bound(model: Any, X: Any, q: Any, sample_weight: MaybeArray = None) -> float:
    """Evidence lower bound (ELBO), the sum over rows of E_q[log p(x, z)] plus the entropy of q.

    It is the log-likelihood minus the Kullback-Leibler divergence of q from the posterior of z, and equals
    the log-likelihood if q is that posterior.

    Parameters
    ----------
    model : model
        With `log_joint(X)`, log p(x, z) of each row and value of z, (N, K).
    X : array or Partitions
        The rows.
    q : array of shape (N, K) or model
        Probabilities of the values of z for each row; or a model, whose `predict_proba(X)` they are.
    sample_weight : array, optional
        Per-sample weights, if X is an array.

    Returns
    -------
    bound : float

    See Also
    --------
    q_function : Without the entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Bernoulli, Mixture
    >>> from suffice.fitting import evidence_lower_bound
    >>> model = Mixture(np.array([0.5, 0.5]), Bernoulli(np.array([[0.2], [0.7]])))
    >>> X = np.array([[1.0]])
    >>> [round(evidence_lower_bound(model, X, [q]), 4) for q in ([0.5, 0.5], [0.25, 0.75])]
    [-0.9831, -0.8007]
    >>> round(evidence_lower_bound(model, X, model), 4)  # the log-likelihood
    -0.7985
    """
    return _expected(_bound_term, model, X, q, sample_weight)


def _q_term(log_joint: np.ndarray, R: np.ndarray) -> np.ndarray:
    return (R * np.where(R > 0, log_joint, 0.0)).sum(axis=1)


def _bound_term(log_joint: np.ndarray, R: np.ndarray) -> np.ndarray:
    return _q_term(log_joint, R) + entr(R).sum(axis=1)


def _expected(term: Any, model: Any, X: Any, q: Any, weight: Any) -> float:
    if not hasattr(model, "log_joint"):
        raise TypeError(f"{type(model).__name__} has no log_joint(X): pass a model, e.g. mixture.model_.")
    if isinstance(X, Partitions):
        if weight is not None or not hasattr(q, "predict_proba"):
            raise TypeError("Partitions have their own weights, and need a model as q: pass X as an array.")
        return float(X.fold(_expected_of_block, term, model, q))
    X = np.asarray(X)
    log_joint = model.log_joint(X)
    R = q.predict_proba(X) if hasattr(q, "predict_proba") else np.asarray(q, dtype=float)
    if R.shape != log_joint.shape or not (R >= 0).all() or not np.allclose(R.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError(
            f"q must be probabilities of each row, of shape {log_joint.shape}; got shape {R.shape}."
        )
    each = term(log_joint, R)
    return float(each.sum() if weight is None else np.asarray(weight) @ each)


def _expected_of_block(term: Any, model: Mixture, q: Any, block: Rows) -> float:
    each = term(model.log_joint(block.X), q.predict_proba(block.X))
    return float(block.weight @ each)


# --- mean field ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MeanField(Progress):
    """Factors q_1(z_1) ... q_M(z_M). `trace` is the lower bound on the log evidence after each sweep."""

    @property
    def factors(self) -> tuple[np.ndarray, ...]:
        return self.model

    @property
    def lower_bound(self) -> float:
        return self.trace[-1]


def variational_inference(
    log_joint: Any, start: Sequence[Any] | None = None, *, tol: float = 1e-10, max_iter: int = 1000
) -> MeanField:
    """Mean-field approximation of the posterior of discrete latent variables, by coordinate ascent.

    Parameters
    ----------
    log_joint : array with an axis for each latent variable
        log p(x, z_1, ..., z_M) of the observed x, for all values of the z. It need not be normalized: then
        the bound is on the log of the normalizing constant.
    start : sequence of arrays, optional
        Initial factors. The default is uniform, which can be a saddle point where variables are symmetric.
    tol : float, default=1e-10
        Tolerance of the stopping criterion: the change of the bound.
    max_iter : int, default=1000
        Maximum number of sweeps over the variables.

    Returns
    -------
    MeanField
        `factors`, `lower_bound`, `trace`, `n_iter`, `converged`.

    Notes
    -----
    One factor after the other is set to q_m ∝ exp(E[log p(x, z)]), where the expectation is over all other
    factors. No step lowers the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import variational_inference
    >>> log_joint = np.log([[0.3, 0.1], [0.1, 0.2]])
    >>> found = variational_inference(log_joint)
    >>> [factor.round(2).tolist() for factor in found.factors]
    [[0.59, 0.41], [0.59, 0.41]]
    >>> bool(found.lower_bound <= np.log(0.7))
    True
    """
    table = np.asarray(log_joint, dtype=float)
    if not table.ndim or not np.isfinite(table).any() or not (table < np.inf).all():
        raise ValueError(
            "log_joint must have an axis for each latent variable and entries below infinity, some of them "
            f"finite; got {table!r:.100}."
        )
    if start is None:
        start = [np.full(size, 1.0 / size) for size in table.shape]
    factors = [np.asarray(q, dtype=float) / np.sum(q) for q in start]
    if tuple(map(len, factors)) != table.shape:
        raise ValueError(
            f"start has factors of sizes {tuple(map(len, factors))}, expected {table.shape}: one factor for "
            "each axis of log_joint."
        )
    if not all((q >= 0).all() for q in factors):
        raise ValueError("start must be probabilities, or positive numbers in their proportion.")

    def expected(but: int | None) -> Any:
        out = table
        for m in reversed(range(table.ndim)):
            if m != but:
                finite = np.where(factors[m] > 0, np.moveaxis(out, m, -1), 0.0)
                out = finite @ factors[m]
        return out

    def step(state: MeanField) -> MeanField:
        for m in range(table.ndim):
            scores = expected(m)
            if not np.isfinite(scores).any():
                raise ValueError(
                    f"The other factors are positive where log_joint is -inf, whatever variable {m} is: "
                    "pass a start that is zero there."
                )
            factors[m] = softmax(scores)
        bound = float(expected(None) + sum(entr(q).sum() for q in factors))
        trace = (*state.trace, bound)
        done = len(trace) > 1 and abs(trace[-1] - trace[-2]) < tol
        return MeanField(tuple(factors), trace, None, "tolerance" if done else "")

    return Watch().limited(max_iter).loop(step, MeanField(tuple(factors)))


# --- EM with an approximate E step -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BoundStatistics(Statistics):
    """Statistics of rows under q, and the evidence lower bound."""

    bound: float
    weight: float
    statistics: Any


@dataclass(frozen=True, eq=False)
class _WithBound(Value):
    """Model whose E step is a function that maximizes the bound over q."""

    model: Any
    e_step: Callable[[Any, Any], BoundStatistics]

    def summarize(self, block: Rows) -> BoundStatistics:
        return self.e_step(self.model, block)

    def estimate(self, s: BoundStatistics) -> Self:
        return self.replace(model=self.model.estimate(s.statistics))

    def objective(self, s: BoundStatistics) -> float:
        return s.bound


def variational_em(
    model: Model,
    data: Partitions,
    e_step: Callable[[Any, Any], BoundStatistics],
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Progress:
    """Variational EM: maximize the evidence lower bound over a restricted q, then over the parameters.

    Parameters
    ----------
    model : model
        With `estimate(s)`.
    data : Partitions
        The rows: see :func:`suffice.partition`.
    e_step : callable
        ``e_step(model, block)`` finds the best q of each row, and returns the bound, the weight, and the
        statistics that q expects, as `BoundStatistics`.
    tol : float, default=1e-6
        Tolerance of the stopping criterion: the change of the bound.
    max_iter : int, default=100
        Maximum number of iterations.

    Returns
    -------
    Progress
        `model`, and in `trace` the bound by iteration. It does not fall. The log-likelihood is at least the
        bound, and may fall where q is not the posterior.

    See Also
    --------
    em : The E step is exact, and belongs to the model.
    suffice.families.VariationalMixture : The parameters are latent variables, too.

    Examples
    --------
    Where q is one component for each row, this is the EM of hard assignments:

    >>> import numpy as np
    >>> import suffice
    >>> from suffice.families import Mixture, Poisson
    >>> from suffice.fitting import BoundStatistics, variational_em
    >>> def e_step(model, block):
    ...     log_joint = model.log_joint(block.X)
    ...     Z = log_joint.argmax(axis=1)
    ...     bound = block.weight @ log_joint.max(axis=1)
    ...     return BoundStatistics(bound, block.weight.sum(), model.complete(block, Z))
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.poisson(2.0, 200), rng.poisson(20.0, 200)])
    >>> start = Mixture(np.array([0.5, 0.5]), Poisson(np.array([[1.0], [9.0]])))
    >>> found = variational_em(start, suffice.partition(X[:, None].astype(float)), e_step)
    >>> found.model.component.rate.round(0).ravel()
    array([ 2., 20.])
    """
    progress = em(_WithBound(model, e_step), data, tol=tol, max_iter=max_iter)
    return progress.replace(model=progress.model.model)


@dataclass(frozen=True, eq=False)
class DrawnStatistics(Statistics):
    """Statistics of rows with drawn latent variables, the mean over B draws."""

    q: Annotated[np.ndarray, "(B,)"]  # log p(x, z) of all rows, by draw
    weight: float
    statistics: Any


def monte_carlo_em(
    model: Any,
    data: Partitions,
    *,
    n_draws: int = 10,
    max_iter: int = 50,
    sampler: str = "exact",
    n_steps: int = 20,
    seed: int = 0,
) -> Progress:
    """Monte Carlo EM: the E step averages over draws of the latent variables.

    Parameters
    ----------
    model : model
        With `log_joint_of(X, Z)`, log p(x, z) of each row; `complete(block, Z)`, the statistics of rows whose
        latent variables are Z; and `estimate(s)`. `sampler` needs one method more.
    data : Partitions
        The rows: see :func:`suffice.partition`.
    n_draws : int, default=10
        Number of draws for each row and iteration.
    max_iter : int, default=50
        Number of iterations. The objective is noisy, so that no tolerance ends them.
    sampler : {'exact', 'mcmc'}, default='exact'
        'exact': `model.draw(X, rng)` draws Z from p(z given x). 'mcmc': Metropolis's algorithm, from
        `model.first(X)`, with symmetric proposals `model.propose(Z, rng)`.
    n_steps : int, default=20
        Number of steps of 'mcmc' before each draw.
    seed : int, default=0
        Seed. Draws depend on it, on the iteration and on the block.

    Returns
    -------
    Progress
        `model`; `trace`, the estimates of Q; and `statistics`, whose `q` are the terms of the last one: their
        standard deviation over the root of `n_draws` is the Monte Carlo error.

    Examples
    --------
    >>> import numpy as np
    >>> import suffice
    >>> from suffice.families import Mixture, Poisson
    >>> from suffice.fitting import monte_carlo_em
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.poisson(2.0, 200), rng.poisson(20.0, 200)])
    >>> start = Mixture(np.array([0.5, 0.5]), Poisson(np.array([[1.0], [9.0]])))
    >>> data = suffice.partition(X[:, None].astype(float))
    >>> monte_carlo_em(start, data).model.component.rate.round(0).ravel()
    array([ 2., 20.])
    """
    if sampler not in ("exact", "mcmc"):
        raise ValueError(f"sampler must be 'exact' or 'mcmc'; got {sampler!r}.")
    if n_draws < 1:
        raise ValueError(f"n_draws={n_draws} must be at least 1.")
    needed = ("draw",) if sampler == "exact" else ("first", "propose")
    if missing := [name for name in needed if not hasattr(model, name)]:
        raise TypeError(f"sampler={sampler!r} needs {' and '.join(missing)} of {type(model).__name__}.")
    must_be_partitions(data)
    steps = n_steps if sampler == "mcmc" else 0

    def advance(chains: tuple[Chain, ...], data: Partitions) -> tuple[Draw, ...]:
        (chain,) = chains
        s = data.fold(_drawn, chain.model, (seed, chain.n_iter), n_draws, steps)
        return (Draw(chain.model.estimate(s.statistics), float(s.q.mean()), statistics=s),)

    return Sampler(advance, max_iter).sample((model,), data).chains[0]


def _drawn(model: Any, seed: tuple[int, int], n_draws: int, steps: int, block: Rows) -> DrawnStatistics:
    rng, X = generator(Purpose.LATENT, *seed, *block.index), block.X
    q, parts = np.empty(n_draws), []
    Z: Any = model.first(X) if steps else None
    for b in range(n_draws):
        Z = _metropolis(model, X, Z, steps, rng) if steps else model.draw(X, rng)
        parts.append(model.complete(block, Z))
        q[b] = block.weight @ model.log_joint_of(X, Z)
    return DrawnStatistics(q, float(block.weight.sum()), tree_sum(parts) * (1.0 / n_draws))


def _metropolis(model: Any, X: Matrix, Z: np.ndarray, steps: int, rng: np.random.Generator) -> np.ndarray:
    log_p = model.log_joint_of(X, Z)
    for _ in range(steps):
        new = model.propose(Z, rng)
        log_new = model.log_joint_of(X, new)
        Z, log_p = metropolis_step(np.log(rng.random(len(log_p))), new, log_new, Z, log_p)
    return Z
