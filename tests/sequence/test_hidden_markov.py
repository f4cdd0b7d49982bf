"""Hidden Markov models beside the sum over all paths; what they are told and how they fit; bad input."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import stats
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from suffice.core.blocks import Sequences, offsets
from suffice.engines.local import LocalPartitions
from suffice.families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Family,
    FullGaussian,
    GaussianPrior,
    Mixtures,
    Multinomial,
    Poisson,
    ProductFamily,
    SphericalGaussian,
)
from suffice.fitting.em import summarize_each
from suffice.sequence import HiddenMarkov, HiddenMarkovModel, LinearGaussianStateSpace, StateFilter

from ..versions import ROUTED, since

EVERYTHING = ("start", "transition", "emission")
LENGTHS = (3, 1, 0, 5)
N = sum(LENGTHS)


# Emissions: a family, rows of it with holes, and its log density written again -------------------


@dataclass
class Emission:
    family: Family
    X: np.ndarray
    log_density: Any  # of one row, given k
    kind: Any  # as the estimator names it


def holes(X, rng, whole=False):
    """Rows that are not seen at all, and unless only such, single entries."""
    X = X.astype(float)
    X[rng.choice(len(X), 2, replace=False)] = np.nan
    if not whole:
        X[rng.choice(len(X), 2, replace=False), 0] = np.nan
    return X


def gaussian(kind, K, rng):
    mean = rng.normal(size=(K, 2))
    roots = rng.normal(size=(K, 2, 2))
    full = roots @ roots.transpose(0, 2, 1) + 0.5 * np.eye(2)
    shapes = {
        "full": full,
        "tied": full[0],
        "diag": np.diagonal(full, axis1=1, axis2=2).copy(),
        "spherical": full[:, 0, 0].copy(),
    }
    spread = {
        "full": full,
        "tied": [full[0]] * K,
        "diag": [np.diag(v) for v in shapes["diag"]],
        "spherical": [v * np.eye(2) for v in shapes["spherical"]],
    }[kind]

    def log_density(x, k):
        seen = ~np.isnan(x)
        if not seen.any():
            return 0.0
        return stats.multivariate_normal(mean[k][seen], spread[k][np.ix_(seen, seen)]).logpdf(x[seen])

    X = holes(rng.normal(size=(N, 2)), rng)
    return Emission(GAUSSIANS[kind](mean, shapes[kind]), X, log_density, "gaussian")


def by_column(X, log_densities):
    """The log density of a row whose columns are independent given k."""
    return lambda x, k: sum(f(v, k) for v, f in zip(x, log_densities, strict=True) if v == v)


def categorical(K, rng):
    values = (np.array([0.0, 1.0, 2.0]), np.array([1.0, 5.0]))
    p = tuple(rng.dirichlet(np.ones(len(v)), size=K) for v in values)
    X = holes(np.stack([rng.choice(v, N) for v in values], axis=1), rng)
    each = [lambda x, k, d=d: np.log(p[d][k, values[d].tolist().index(x)]) for d in (0, 1)]
    return Emission(Categorical(values, p), X, by_column(X, each), "categorical")


def multinomial(K, rng):
    p = rng.dirichlet(np.ones(3), size=K)
    X = holes(rng.multinomial(4, np.ones(3) / 3, size=N), rng, whole=True)

    def log_density(x, k):
        return 0.0 if np.isnan(x).all() else stats.multinomial(x.sum(), p[k]).logpmf(x)

    return Emission(Multinomial(p), X, log_density, "multinomial")


def poisson(K, rng):
    rate = rng.gamma(3.0, size=(K, 2))
    X = holes(rng.poisson(3.0, size=(N, 2)), rng)
    each = [lambda x, k, d=d: stats.poisson(rate[k, d]).logpmf(x) for d in (0, 1)]
    return Emission(Poisson(rate), X, by_column(X, each), "poisson")


def bernoulli(K, rng):
    p = rng.uniform(0.1, 0.9, size=(K, 2))
    X = holes(rng.integers(0, 2, size=(N, 2)), rng)
    each = [lambda x, k, d=d: np.log(p[k, d] if x else 1 - p[k, d]) for d in (0, 1)]
    return Emission(Bernoulli(p), X, by_column(X, each), "bernoulli")


def kinds(K, rng):
    """A column of each kind, the first and the last of one."""
    mean, variance = rng.normal(size=(K, 2)), rng.gamma(2.0, size=(K, 2))
    p, rate = rng.dirichlet(np.ones(3), size=K), rng.gamma(3.0, size=(K, 1))
    parts = (DiagonalGaussian(mean, variance), Categorical((np.arange(3.0),), (p,)), Poisson(rate))
    family = ProductFamily((np.array([0, 3]), np.array([1]), np.array([2])), parts)
    X = np.column_stack([rng.normal(size=N), rng.integers(0, 3, N), rng.poisson(3.0, N), rng.normal(size=N)])
    X = holes(X, rng)
    each = [
        lambda x, k: stats.norm(mean[k, 0], np.sqrt(variance[k, 0])).logpdf(x),
        lambda x, k: np.log(p[k, int(x)]),
        lambda x, k: stats.poisson(rate[k, 0]).logpmf(x),
        lambda x, k: stats.norm(mean[k, 1], np.sqrt(variance[k, 1])).logpdf(x),
    ]
    return Emission(family, X, by_column(X, each), ["gaussian", "categorical", "poisson", "gaussian"])


def mixtures(K, rng):
    weight = rng.dirichlet(np.ones(2), size=K)
    mean, variance = rng.normal(size=(2 * K, 2)), rng.gamma(2.0, size=(2 * K, 2))
    X = holes(rng.normal(size=(N, 2)), rng)

    def log_density(x, k):
        seen = ~np.isnan(x)
        of = [
            stats.norm(mean[2 * k + m][seen], np.sqrt(variance[2 * k + m][seen])).logpdf(x[seen]).sum()
            for m in (0, 1)
        ]
        return logsumexp(of, b=weight[k])

    return Emission(Mixtures(weight, DiagonalGaussian(mean, variance)), X, log_density, "gaussian")


EMISSIONS = {
    **{kind: lambda K, rng, kind=kind: gaussian(kind, K, rng) for kind in GAUSSIANS},
    "categorical": categorical,
    "multinomial": multinomial,
    "poisson": poisson,
    "bernoulli": bernoulli,
    "kinds": kinds,
    "mixtures": mixtures,
}


def case(name, K=2, seed=0, forbid=True):
    """A model with a forbidden move, and sequences of it."""
    rng = np.random.default_rng(seed)
    emission = EMISSIONS[name](K, rng)
    A = rng.dirichlet(np.ones(K), size=K)
    if forbid:
        A[1, 0] = 0.0
        A /= A.sum(axis=1, keepdims=True)
    return emission, HiddenMarkov(rng.dirichlet(np.ones(K)), A, emission.family)


def parts(values, lengths=LENGTHS):
    return np.split(values, np.cumsum(lengths)[:-1])


def block_of(X, states=None, weight=None, lengths=LENGTHS):
    offset = np.concatenate([[0], np.cumsum(lengths)])
    return Sequences(X, offset, states, np.ones(len(lengths)) if weight is None else np.array(weight))


def paths_of(model, log_density, X, states=None):
    """Every path of one sequence, and its log p(x, z); those against known states have none."""
    K = len(model.start)
    paths = np.array(list(product(range(K), repeat=len(X))), int).reshape(K ** len(X), len(X))
    scores = np.zeros(len(paths))
    table = np.array([[log_density(x, k) for k in range(K)] for x in X])
    with np.errstate(divide="ignore"):
        start, A = np.log(model.start), np.log(model.transition)
    for n, path in enumerate(paths):
        scores[n] = sum(table[t, k] for t, k in enumerate(path))
        scores[n] += start[path[0]] if len(path) else 0.0
        scores[n] += sum(A[i, j] for i, j in pairwise(path))
        if states is not None and any(s not in (-1, k) for s, k in zip(states, path, strict=True)):
            scores[n] = -np.inf
    return paths, scores


def shares_of(paths, scores, K):
    """p(z_t) (T, K) and p(z_t-1, z_t) (T, K, K), given what scored the paths."""
    p = np.exp(scores - logsumexp(scores))
    Z = np.eye(K)[paths]  # (paths, T, K)
    pairs = np.zeros((paths.shape[1], K, K))
    pairs[1:] = np.einsum("n,nti,ntj->tij", p, Z[:, :-1], Z[:, 1:])
    return np.einsum("n,nti->ti", p, Z), pairs


def counts_of(model, log_density, X, states=None, weight=None, lengths=LENGTHS):
    """Log-likelihood, starts, moves and shares of states, expected over all paths of all sequences."""
    K = len(model.start)
    total, start, moves, gamma = 0.0, np.zeros(K), np.zeros((K, K)), []
    states = [None] * len(lengths) if states is None else parts(states, lengths)
    weight = np.ones(len(lengths)) if weight is None else weight
    for x, z, w in zip(parts(X, lengths), states, weight, strict=True):
        paths, scores = paths_of(model, log_density, x, z)
        one, pairs = shares_of(paths, scores, K)
        total += w * logsumexp(scores)
        start += w * one[:1].sum(axis=0)
        moves += w * pairs.sum(axis=0)
        gamma.append(w * one)
    return total, start, moves, np.concatenate(gamma)


def unmoved(model, X, lengths=LENGTHS, **params):
    """The estimator at a model, which stays there."""
    estimator = HiddenMarkovModel(len(model.start), init_params=model, fixed=EVERYTHING, **params)
    return estimator.fit(parts(X, lengths))


def once(model, X, y=None, sample_weight=None, lengths=LENGTHS, **params):
    """The estimator one iteration after a model."""
    estimator = HiddenMarkovModel(len(model.start), init_params=model, max_iter=1, **params)
    return quietly(estimator, parts(X, lengths), y, sample_weight=sample_weight)


def quietly(estimator, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(*data, **more)


def assert_same_values(a, b, rtol=1e-9, atol=1e-12):
    """Of values, all their parts."""
    if isinstance(a, tuple):
        for pair in zip(a, b, strict=True):
            assert_same_values(*pair, rtol, atol)
    elif hasattr(a, "fields"):
        for name, value in a.fields().items():
            assert_same_values(value, getattr(b, name), rtol, atol)
    elif a is not None and not isinstance(a, str | bool):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


# All paths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", EMISSIONS)
def test_all_paths(name, K):
    emission, model = case(name, K, seed=K)
    X, sequences = emission.X, parts(emission.X)
    estimator = unmoved(model, X)
    log_likelihood = estimator.log_likelihood(sequences)
    smoothed, filtered = estimator.predict_proba(sequences), estimator.filter(sequences)
    pairs, ahead = estimator.pair_posteriors(sequences), estimator.predict_next(sequences)
    viterbi = estimator.predict(sequences)
    nearest = estimator.set_params(algorithm="posterior").predict(sequences)
    for s, x in enumerate(sequences):
        paths, scores = paths_of(model, emission.log_density, x)
        gamma, xi = shares_of(paths, scores, K)
        np.testing.assert_allclose(log_likelihood[s], logsumexp(scores), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(smoothed[s], gamma, atol=1e-12)
        np.testing.assert_allclose(pairs[s], xi, atol=1e-12)
        (found,) = np.flatnonzero((paths == viterbi[s]).all(axis=1))
        np.testing.assert_allclose(scores[found], scores.max(), rtol=1e-12)  # of several, any
        np.testing.assert_allclose(np.take_along_axis(gamma, nearest[s][:, None], 1)[:, 0], gamma.max(axis=1))
        np.testing.assert_allclose(model.chains(x).best()[1][0], scores.max(), rtol=1e-10, atol=1e-12)
        last = model.start
        for t in range(len(x)):
            so_far, _ = shares_of(*paths_of(model, emission.log_density, x[: t + 1]), K)
            np.testing.assert_allclose(filtered[s][t], so_far[t], atol=1e-12)
            last = so_far[t] @ model.transition
        np.testing.assert_allclose(ahead[s], last, atol=1e-12)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", EMISSIONS)
def test_expected_counts(name, known):
    """Also where states are known, and with weights."""
    emission, model = case(name, seed=4)
    states = np.array([-1, 1, -1, 0, 0, -1, -1, 1, -1]) if known else None
    weight = [1.0, 2.5, 1.0, 0.5]
    want = counts_of(model, emission.log_density, emission.X, states, weight)
    s = model.summarize(block_of(emission.X, states, weight))
    np.testing.assert_allclose(s.log_likelihood, want[0], rtol=1e-10)
    np.testing.assert_allclose(s.start, want[1], atol=1e-12)
    np.testing.assert_allclose(s.moves, want[2], atol=1e-12)
    assert s.weight == np.dot(weight, LENGTHS)
    assert_same_values(s.emission, emission.family.summarize(emission.X, want[3]))


@pytest.mark.parametrize("hole", [None, np.nan, 1e200])
@pytest.mark.parametrize("kind", [DiagonalGaussian, SphericalGaussian])
def test_the_fused_e_step_is_that_of_the_parts(kind, hole, monkeypatch):
    """Of sequences of all lengths; also where it is refused, since a step is strange."""
    rng, K, D = np.random.default_rng(0), 3, 2
    emission = kind.start(K, D).replace(mean=rng.normal(size=(K, D)))
    model = HiddenMarkov(rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K), emission)
    lengths = np.concatenate([np.full(20, 7), [0, 300, 1], np.arange(10)])
    X, weight = 1e3 + rng.normal(size=(lengths.sum(), D)), rng.uniform(size=len(lengths))
    model = model.replace(emission=emission.replace(mean=emission.mean + 1e3))
    if hole is not None:
        X[-1, 0] = hole
    block = Sequences(X, offsets(lengths), None, weight)
    with np.errstate(invalid="ignore"):
        fused = model.summarize(block)
        monkeypatch.setattr(kind, "expect_chains", lambda *arguments: None)
        parts = model.summarize(block)
    np.testing.assert_allclose(fused.log_likelihood, parts.log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(fused.start, parts.start, rtol=1e-11)
    np.testing.assert_allclose(fused.moves, parts.moves, rtol=1e-11)
    assert fused.weight == parts.weight
    assert_same_values(fused.emission, parts.emission)


@pytest.mark.parametrize("name", EMISSIONS)
def test_one_iteration(name):
    """Shares of the counts over all paths; and the likelihood does not fall on the way to the optimum."""
    emission, model = case(name, seed=5)
    total, start, moves, gamma = counts_of(model, emission.log_density, emission.X)
    estimator = once(model, emission.X, emission=emission.kind)
    np.testing.assert_allclose(estimator.trace_, [total / N], rtol=1e-10)
    np.testing.assert_allclose(estimator.startprob_, start / start.sum(), atol=1e-12)
    np.testing.assert_allclose(estimator.transmat_, moves / moves.sum(axis=1, keepdims=True), atol=1e-12)
    family = emission.family
    assert_same_values(estimator.model_.emission, family.estimate(family.summarize(emission.X, gamma)))


def test_gradient():
    """By the logits of start and transitions, as differences see it."""
    emission, model = case("poisson", 3, forbid=False)
    block = block_of(emission.X, weight=[1.0, 2.0, 1.0, 0.5])
    step = 1e-6

    def log_likelihood(a, b):
        moved = model.replace(start=softmax(a), transition=softmax(b, axis=1))
        return moved.summarize(block).log_likelihood

    a, b = np.log(model.start), np.log(model.transition)
    by_start, by_transition = model.gradient(model.summarize(block))
    for k in range(3):
        d = step * np.eye(3)[k]
        slope = (log_likelihood(a + d, b) - log_likelihood(a - d, b)) / (2 * step)
        np.testing.assert_allclose(by_start[k], slope, atol=1e-7)
        for j in range(3):
            d = np.zeros((3, 3))
            d[k, j] = step
            slope = (log_likelihood(a, b + d) - log_likelihood(a, b - d)) / (2 * step)
            np.testing.assert_allclose(by_transition[k, j], slope, atol=1e-7)


# What is not observed ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["categorical", "bernoulli"])
def test_holes_are_summed_out(name):
    _, model = case(name)
    X = np.array([[1.0, 1.0], [np.nan, 1.0], [0.0, 1.0]])
    estimator = unmoved(model, X, (3,))
    values = (0.0, 1.0, 2.0) if name == "categorical" else (0.0, 1.0)
    filled = [np.where(np.isnan(X), v, X) for v in values]
    one = estimator.log_likelihood([X])[0]
    np.testing.assert_allclose(one, logsumexp(estimator.log_likelihood(filled)), rtol=1e-12)
    # What is said of the states is the mean over what might have stood there.
    p = np.exp(estimator.log_likelihood(filled) - one)
    mean = np.einsum("v,vtk->tk", p, estimator.predict_proba(filled))
    np.testing.assert_allclose(estimator.predict_proba(X), mean, atol=1e-12)


@pytest.mark.parametrize("name", EMISSIONS)
def test_a_step_not_seen_at_all(name):
    """Leaves the state to the chain: two moves at once; at the end, and alone, it changes nothing."""
    emission, model = case(name, 3)
    X = emission.X[~np.isnan(emission.X).any(axis=1)][:2]
    none = np.full((1, X.shape[1]), np.nan)
    estimator = unmoved(model, X, (2,))
    between = estimator.log_likelihood([np.vstack([X[:1], none, X[1:]])])[0]
    joint = estimator.filter(X[:1])[0] @ np.linalg.matrix_power(model.transition, 2)
    second = [emission.log_density(X[1], k) for k in range(3)]
    first = estimator.log_likelihood([X[:1]])[0]
    np.testing.assert_allclose(between, first + logsumexp(second, b=joint), rtol=1e-10)
    ended, alone = estimator.log_likelihood([np.vstack([X, none]), none])
    np.testing.assert_allclose([ended, alone], [estimator.log_likelihood([X])[0], 0.0], atol=1e-12)
    np.testing.assert_allclose(estimator.predict_proba(none)[0], model.start, atol=1e-12)


@pytest.mark.parametrize("kind", ["gaussian", "categorical", "multinomial", "poisson", "bernoulli"])
def test_nothing_is_observed(kind):
    model = quietly(HiddenMarkovModel(2, emission=kind, random_state=0), np.full((6, 2), np.nan))
    assert np.isfinite(model.startprob_).all() and np.isfinite(model.transmat_).all()
    assert model.log_likelihood(np.full((6, 2), np.nan))[0] == pytest.approx(0.0, abs=1e-12)


def test_a_sequence_that_is_not_observed_changes_no_emission():
    X = made()[0]
    start = HiddenMarkov(np.array([0.5, 0.5]), np.full((2, 2), 0.5), two_means())
    alone = quietly(HiddenMarkovModel(2, init_params=start, max_iter=3, tol=0.0), [X])
    both = quietly(HiddenMarkovModel(2, init_params=start, max_iter=3, tol=0.0), [X, X * np.nan])
    np.testing.assert_allclose(both.trace_[0] * 2, alone.trace_[0], rtol=1e-12)
    assert (both.predict(X) == alone.predict(X)).mean() > 0.98


# Labels ------------------------------------------------------------------------------------------


def made(n=300, seed=0, D=1):
    """Steps of a chain of two states, four apart."""
    rng = np.random.default_rng(seed)
    state = (rng.random(n) < 0.15).cumsum() % 2
    return rng.normal(size=(n, D)) + 4.0 * state[:, None], state


def two_means(D=1):
    return DiagonalGaussian(np.array([[0.0] * D, [4.0] * D]), np.ones((2, D)))


def counted(y, K, lengths):
    start, moves = np.zeros(K), np.zeros((K, K))
    for part in parts(y, lengths):
        start[part[:1]] += 1
        np.add.at(moves, (part[:-1], part[1:]), 1)
    return start / start.sum(), moves / moves.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", EMISSIONS)
def test_all_states_known(name):
    """Shares of the counts, and densities of the rows of each state."""
    emission, _ = case(name)
    y = np.array([0, 1, 1, 0, 0, 0, 1, 1, 0])
    more = {"n_mix": 2} if name == "mixtures" else {}
    shape = {"covariance_type": name} if name in GAUSSIANS else {}
    estimator = HiddenMarkovModel(
        emission=emission.kind, random_state=0, reg_covar=1e-6 if more else 0.0, **more, **shape
    )
    quietly(estimator, parts(emission.X), parts(y))
    start, moves = counted(y, 2, LENGTHS)
    np.testing.assert_allclose(estimator.startprob_, start, atol=1e-12)
    np.testing.assert_allclose(estimator.transmat_, moves, atol=1e-12)
    if name in ("categorical", "poisson", "bernoulli", "multinomial"):
        family = estimator.model_.emission
        assert_same_values(family, family.estimate(family.summarize(emission.X, np.eye(2)[y])))


def test_gaussians_of_known_states():
    X, y = made(D=2)
    for kind in ("full", "diag"):
        model = HiddenMarkovModel(2, covariance_type=kind, reg_covar=0.0).fit(X, y)
        for k in (0, 1):
            np.testing.assert_allclose(model.model_.emission.mean[k], X[y == k].mean(axis=0), rtol=1e-10)
            covariance = np.cov(X[y == k].T, bias=True)
            covariance = covariance if kind == "full" else np.diag(covariance)
            np.testing.assert_allclose(model.model_.emission.covariance[k], covariance, rtol=1e-9)
        assert model.n_iter_ == 2 and model.converged_


UNKNOWN_LABELS = {
    "minus one": lambda y, known: np.where(known, y, -1),
    "nan": lambda y, known: np.where(known, y, np.nan),
    "None": lambda y, known: np.where(known, y.astype(object), None),
    "text and None": lambda y, known: np.where(known, np.array(["off", "on"], object)[y], None),
    "text and nan": lambda y, known: np.where(known, np.array(["off", "on"], object)[y], np.nan),
    "a list": lambda y, known: [["off", "on"][v] if k else -1 for v, k in zip(y, known, strict=True)],
    "a list with nan": lambda y, known: [
        ["off", "on"][v] if k else float("nan") for v, k in zip(y, known, strict=True)
    ],
    "pandas text": lambda y, known: pd.Series(
        np.where(known, np.array(["off", "on"], object)[y], None), dtype="string"
    ),
    "pandas integers": lambda y, known: pd.Series(np.where(known, y.astype(object), None), dtype="Int64"),
    "pandas categories": lambda y, known: pd.Series(
        np.where(known, np.array(["off", "on"], object)[y], None), dtype="category"
    ),
}


@pytest.mark.parametrize("form", UNKNOWN_LABELS)
def test_some_states_known(form):
    """Only paths through what is known count, however the unknown is written."""
    emission, model = case("poisson", seed=2, forbid=False)
    states = np.array([0, -1, 1, -1, -1, 0, -1, -1, 1])
    _, start, moves, _ = counts_of(model, emission.log_density, emission.X, states)
    y = UNKNOWN_LABELS[form](np.where(states == -1, 0, states), states != -1)
    groups = np.repeat([0, 1, 3], [3, 1, 5])
    estimator = HiddenMarkovModel(2, init_params=model, max_iter=1)
    quietly(estimator, emission.X, y, groups=groups)
    np.testing.assert_allclose(estimator.startprob_, start / start.sum(), atol=1e-12)
    np.testing.assert_allclose(estimator.transmat_, moves / moves.sum(axis=1, keepdims=True), atol=1e-12)
    names = ["off", "on"] if np.asarray(estimator.classes_).dtype.kind in "UO" else [0, 1]
    assert estimator.classes_.tolist() == names
    assert set(estimator.predict(emission.X).tolist()) <= set(names)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.array([3, 7]), [3, 7, 8]),
        (np.array([0.0, 1.0]), [0, 1, 2]),
        (np.array([False, True]), [0, 1, 2]),
        (np.array([0, 1], object), [0, 1, 2]),
        (np.array(["a", "walk"]), ["a", "walk", "state 2"]),
        (np.array(["a", "walk"], object), ["a", "walk", "state 2"]),
        (np.array(["a", "state 2"]), ["a", "state 2", "state 3"]),
    ],
)
def test_more_states_than_labels(labels, names):
    """The rest are hidden; the labels keep their meaning, in the next `partial_fit` too."""
    X, state = made()
    y = labels[state]
    model = quietly(HiddenMarkovModel(3, random_state=0), X, y)
    assert model.classes_.tolist() == names
    assert (model.predict(X) == y).mean() > 0.9
    before = model.model_.emission.mean[:2].ravel()
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.model_.emission.mean[:2].ravel(), before, atol=0.05)
    np.testing.assert_allclose(before, [0.0, 4.0], atol=0.4)


def test_labels_out_of_order():
    """Names of hidden states may stand before those of labels in the alphabet."""
    X, state = made()
    y = np.where(state, "walk", "tread")
    model = quietly(HiddenMarkovModel(4, random_state=0), X, y)
    assert model.classes_.tolist() == ["tread", "walk", "state 2", "state 3"]
    model.partial_fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9


def test_labels_that_do_not_fit():
    X, y = made()
    with pytest.raises(ValueError, match="2 labels, but there are n_components=1"):
        HiddenMarkovModel(1).fit(X, y)
    with pytest.raises(ValueError, match="n_components=None takes the states from the labels"):
        HiddenMarkovModel().fit(X)
    with pytest.raises(ValueError, match="n_components=None takes the states from the labels"):
        HiddenMarkovModel().fit(X, np.full(len(X), -1))
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"The label 5 is none of the states \[0, 1\]"):
        model.partial_fit(X, y + 5)
    with pytest.raises(ValueError, match=r"The label 'on' is none of the states \[0, 1\]"):
        model.partial_fit(X, np.where(y == 0, "on", "off"))
    with pytest.raises(ValueError, match=r"The label 'on' is none of the states \[0, 1\]"):
        model.partial_fit(X, np.where(y == 0, "on", "off").astype(object))
    named = HiddenMarkovModel().fit(X, np.where(y == 0, "on", "off"))
    with pytest.raises(ValueError, match=r"The label 0 is none of the states \['off', 'on'\]"):
        named.partial_fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.fit(X, y[:-1])


# Weights, priors, constraints --------------------------------------------------------------------


@pytest.mark.parametrize("name", EMISSIONS)
def test_weights_repeat(name):
    emission, model = case(name)
    sequences = parts(emission.X)
    more = {"init_params": model, "emission": emission.kind, "max_iter": 3, "tol": 0.0}
    weighed = quietly(HiddenMarkovModel(2, **more), sequences, sample_weight=[2.0, 0.0, 1.0, 3.0])
    repeated = [sequences[0]] * 2 + [sequences[2]] + [sequences[3]] * 3
    again = quietly(HiddenMarkovModel(2, **more), repeated)
    assert_same_values(weighed.model_, again.model_, rtol=1e-8)
    np.testing.assert_allclose(weighed.trace_, again.trace_, rtol=1e-10)
    np.testing.assert_allclose(
        weighed.score(sequences, sample_weight=[2.0, 0.0, 1.0, 3.0]), again.score(repeated), rtol=1e-10
    )


def test_priors():
    """Counts and concentration less one; and the log posterior does not fall."""
    emission, model = case("poisson", 3, forbid=False)
    _, start, moves, _ = counts_of(model, emission.log_density, emission.X)
    of_start, of_moves = np.array([1.0, 2.0, 4.0]), np.arange(1.0, 10.0).reshape(3, 3)
    given = {"start_prior": of_start, "transition_prior": of_moves}
    estimator = once(model, emission.X, **given)
    a, A = start + of_start - 1.0, moves + of_moves - 1.0
    np.testing.assert_allclose(estimator.startprob_, a / a.sum(), atol=1e-12)
    np.testing.assert_allclose(estimator.transmat_, A / A.sum(axis=1, keepdims=True), atol=1e-12)
    fitted = quietly(
        HiddenMarkovModel(3, init_params=model, tol=0.0, max_iter=60, **given), parts(emission.X)
    )
    assert (np.diff(fitted.trace_) > -1e-12).all()
    log_prior = np.sum((of_start - 1) * np.log(fitted.startprob_)) + np.sum(
        (of_moves - 1) * np.log(fitted.transmat_)
    )
    whole = fitted.log_likelihood(parts(emission.X)).sum() + log_prior
    np.testing.assert_allclose(fitted.trace_[-1] * N, whole, rtol=1e-6)


@pytest.mark.slow
def test_the_posterior_mode_is_where_its_gradient_vanishes():
    emission, model = case("poisson", forbid=False)
    fitted = quietly(
        HiddenMarkovModel(
            2, init_params=model, tol=0.0, max_iter=3000, start_prior=2.0, transition_prior=3.0
        ),
        parts(emission.X),
    ).model_
    by_start, by_move = fitted.gradient(fitted.summarize(block_of(emission.X)))
    np.testing.assert_allclose(by_start + 1.0 - 2 * fitted.start, 0.0, atol=1e-5)
    np.testing.assert_allclose(by_move + 2.0 - 4 * fitted.transition, 0.0, atol=1e-5)


def test_priors_of_emissions():
    X, _ = made()
    prior = GaussianPrior(mean=100.0, mean_precision=1e6)
    drawn = HiddenMarkovModel(2, emission_prior=prior, random_state=0)
    np.testing.assert_allclose(quietly(drawn, X).model_.emission.mean, 100.0, atol=0.1)
    symbols = (X > 2).astype(float)
    sure = quietly(HiddenMarkovModel(emission="categorical"), symbols, symbols[:, 0])
    smooth = quietly(HiddenMarkovModel(emission="categorical", alpha=1.0), symbols, symbols[:, 0])
    n = np.bincount(symbols[:, 0].astype(int))
    np.testing.assert_allclose(sure.model_.emission.probability[0], np.eye(2))
    np.testing.assert_allclose(smooth.model_.emission.probability[0][[0, 1], [1, 0]], 1 / (n + 2))


def test_what_is_forbidden_stays_so():
    X, _ = made(600)
    left_to_right = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)
    for prior in (1.0, 5.0):
        more = {"allowed": left_to_right, "transition_prior": prior, "random_state": 0}
        model = quietly(HiddenMarkovModel(3, n_init=2, **more), [X[:50], X[50:60]])
        assert (model.transmat_[~left_to_right] == 0).all()
        np.testing.assert_allclose(model.transmat_.sum(axis=1), 1.0)
        path = model.predict(X[:50])
        assert (np.diff(path) >= 0).all() and (np.diff(path) <= 1).all()
        model.partial_fit([X[60:90]])
        assert (model.transmat_[~left_to_right] == 0).all()


def test_what_is_fixed_stays():
    X, _ = made()
    start = HiddenMarkov(np.array([0.3, 0.7]), np.array([[0.6, 0.4], [0.1, 0.9]]), two_means())
    for fixed in EVERYTHING:
        fitted = quietly(HiddenMarkovModel(2, init_params=start, fixed=(fixed,)), X).model_
        for name in EVERYTHING:
            a, b = getattr(fitted, name), getattr(start, name)
            same = np.array_equal(a.mean, b.mean) if name == "emission" else np.array_equal(a, b)
            assert same == (name == fixed), (fixed, name)
    assert HiddenMarkovModel(2, init_params=start, fixed=EVERYTHING).fit(X).model_.n_parameters == 0


@pytest.mark.parametrize(
    "tied",
    [
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
        [[0, 1, 2], [2, 0, 1], [1, 2, 0]],
        [[0, 0, 0], [1, 2, 3], [4, 4, 5]],
        [[0, 1, 2], [2, 1, 0], [7, 8, 8]],
    ],
)
@pytest.mark.parametrize("prior", [1.0, 3.0, "by move"])
def test_tied_transitions_are_the_best_that_are_equal(tied, prior):
    """Beside a search for the largest expected log posterior over transitions that are equal where tied."""
    emission, model = case("poisson", 3, forbid=False)
    tied = np.array(tied)
    prior = np.arange(1.0, 10.0).reshape(3, 3) if prior == "by move" else prior
    moves = counts_of(model, emission.log_density, emission.X)[2] + prior - 1.0
    found = model.replace(tied=tied, transition_prior=prior).estimate(model.summarize(block_of(emission.X)))
    for number in np.unique(tied):
        assert np.ptp(found.transition[tied == number]) < 1e-12
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0)
    numbers = np.unique(tied)

    def transition(theta):
        A = np.exp(theta)[np.searchsorted(numbers, tied)]
        return A / A.sum(axis=1, keepdims=True)  # equal where tied, as rows that share have the same sum

    best = minimize(
        lambda theta: -np.sum(moves * np.log(transition(theta))), np.zeros(len(numbers)), tol=1e-12
    )
    np.testing.assert_allclose(found.transition, transition(best.x), atol=1e-5)
    assert np.sum(moves * np.log(found.transition)) >= -best.fun - 1e-9


def test_tied_all_the_way():
    X, _ = made()
    model = HiddenMarkovModel(2, tied=[[0, 1], [1, 0]], random_state=0).fit(X)
    assert model.transmat_[0, 1] == model.transmat_[1, 0] and model.transmat_[0, 0] == model.transmat_[1, 1]
    assert (np.diff(model.trace_) > -1e-10).all()
    free = HiddenMarkovModel(2, random_state=0).fit(X)
    assert free.model_.n_parameters - model.model_.n_parameters == 1
    np.testing.assert_allclose(
        model.bic(X), model.model_.n_parameters * np.log(len(X)) - 2 * model.log_likelihood(X)[0]
    )


def test_criteria_count_steps():
    """Whatever holds the sequences."""
    X, _ = made()
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    pieces = [X[:100], X[100:]]
    held = np.empty(2, object)
    held[:] = pieces
    n = model.model_.n_parameters
    assert n == 1 - 1 + 2 + 4 or n == 1 + 2 + 4  # a start that is certain is no longer free
    total = model.log_likelihood(pieces).sum()
    for given in (pieces, tuple(pieces), held):
        np.testing.assert_allclose(model.bic(given), n * np.log(300) - 2 * total)
        np.testing.assert_allclose(model.aic(given), 2 * n - 2 * total)
    np.testing.assert_allclose(model.bic(X, groups=np.arange(300) // 100 > 0), model.bic(pieces))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"allowed": np.ones((3, 3))}, r"allowed has shape \(3, 3\), expected \(2, 2\)"),
        ({"allowed": [[1, 1], [0, 0]]}, r"no state follow the states \[1\]"),
        ({"tied": [0, 1]}, r"tied has shape \(2,\), expected \(2, 2\)"),
        ({"tied": [[0, 0], [0, 1]]}, "tied is invalid"),
        ({"tied": [[0, 1], [1, 0]], "allowed": [[1, 1], [0, 1]]}, "number 1 in tied are forbidden"),
        ({"fixed": ("start",)}, "requires an initial model"),
        ({"fixed": ("starts",), "init_params": "model"}, r"fixed has \['starts'\]"),
        ({"start_prior": np.ones(3)}, r"start_prior has shape \(3,\), expected a number or \(2,\)"),
        ({"transition_prior": np.ones(2)}, r"transition_prior has shape \(2,\)"),
        ({"transition_prior": -1.0}, "'transition_prior' parameter"),
        ({"n_components": 3, "init_params": "model"}, "init_params has 2 states, expected 3"),
        ({"init_params": "wide"}, "2 densities on 2 columns"),
        ({"emission": DiagonalGaussian(np.zeros((3, 1)), np.ones((3, 1)))}, "3 densities on 1 columns"),
        ({"emission": "normal"}, "'emission' parameter"),
        ({"emission": ["gaussian", "poisson"]}, "2 kinds, but X has 1 columns"),
        ({"emission": "bernoulli"}, None),
        ({"covariance_type": "round"}, "'covariance_type' parameter"),
        ({"init_params": "middle"}, None),
        ({"n_init": 0}, "'n_init' parameter"),
    ],
)
def test_what_is_asked_for_is_checked(params, message):
    X, _ = made()
    models = {
        name: HiddenMarkov(np.full(2, 0.5), np.full((2, 2), 0.5), two_means(D))
        for name, D in (("model", 1), ("wide", 2))
    }
    how = params.get("init_params")
    params = {**params, "init_params": models[how]} if how in models else params
    with pytest.raises(ValueError, match=message):
        HiddenMarkovModel(**{"n_components": 2, **params}).fit(X)


def test_a_family_is_where_the_emission_starts():
    """States keep the order of the densities, and with no iteration to spare they are near them."""
    X, _ = made()
    for first, second in ((0.0, 4.0), (4.0, 0.0)):
        family = DiagonalGaussian(np.array([[first], [second]]), np.ones((2, 1)))
        model = HiddenMarkovModel(2, emission=family, random_state=0).fit(X)
        np.testing.assert_allclose(model.model_.emission.mean.ravel(), [first, second], atol=0.5)
    family = FullGaussian(np.array([[1.0], [2.0]]), np.ones((2, 1, 1)))
    even = HiddenMarkov(np.full(2, 0.5), np.full((2, 2), 0.5), family)
    a = quietly(HiddenMarkovModel(2, emission=family, max_iter=1), X)
    b = quietly(HiddenMarkovModel(2, init_params=even, max_iter=1), X)
    assert_same_values(a.model_, b.model_)


def test_an_unknown_algorithm():
    X, _ = made()
    with pytest.raises(ValueError, match="'algorithm' parameter"):
        HiddenMarkovModel(2, algorithm="best", random_state=0).fit(X)


# Starts and streams ------------------------------------------------------------------------------


def test_starts_share_passes(monkeypatch):
    X = np.random.default_rng(3).normal(size=(300, 2))  # no states, so that starts end in many places
    calls = []
    fold = LocalPartitions.fold

    def counted(self, f, *given):
        calls.append((f, len(given[0]) if f is summarize_each else 0))
        return fold(self, f, *given)

    more = {"init_params": "random_from_data", "max_iter": 15, "tol": 1e-3}
    random = np.random.RandomState(0)
    each = [quietly(HiddenMarkovModel(3, random_state=random, **more), X) for _ in range(4)]
    monkeypatch.setattr(LocalPartitions, "fold", counted)
    together = quietly(HiddenMarkovModel(3, n_init=4, random_state=0, **more), X)
    passes = [runs for f, runs in calls if f is summarize_each]
    assert len(passes) == max(one.n_iter_ for one in each)
    assert passes[0] == 4 and sum(passes) == sum(one.n_iter_ for one in each)
    best = max(each, key=lambda one: one.trace_[-1])
    assert len({round(one.trace_[-1], 4) for one in each}) > 1
    np.testing.assert_allclose(together.trace_[-1], best.trace_[-1], rtol=1e-10)
    assert_same_values(together.model_, best.model_)


@pytest.mark.slow
def test_a_stream_comes_near_the_batch():
    truth = HiddenMarkov(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]]), two_means())
    far = truth.replace(
        transition=np.full((2, 2), 0.5),
        emission=DiagonalGaussian(np.array([[-1.0], [2.0]]), np.full((2, 1), 4.0)),
    )
    source = HiddenMarkovModel(2, init_params=truth, fixed=EVERYTHING, random_state=1).fit([[0.0]])
    X, _ = source.sample(100, 60)
    batch = HiddenMarkovModel(2, init_params=far).fit(X)
    online = HiddenMarkovModel(2, init_params=far)
    gaps = []
    for n in range(160):  # eight times through, three sequences at a time
        online.partial_fit(X[3 * (n % 20) : 3 * (n % 20) + 3])
        if n % 20 == 0:
            gaps.append(batch.score(X) - online.score(X))
    assert (np.diff(gaps) < 0).all()
    assert gaps[-1] < 0.01 < 0.1 < gaps[0]  # in log-likelihood of a step
    np.testing.assert_allclose(online.transmat_, batch.transmat_, atol=0.05)
    assert online.n_updates_ == 160


def test_a_stream_after_a_fit():
    X, _ = made(400)
    fitted = HiddenMarkovModel(2, random_state=0).fit(X)
    mean = fitted.model_.emission.mean.copy()
    fitted.partial_fit(X)
    np.testing.assert_allclose(fitted.model_.emission.mean, mean, atol=0.05)
    assert fitted.n_updates_ == 2
    assert fitted.statistics_.weight == 800


def test_priors_of_a_stream_weigh_what_they_weigh_in_a_fit():
    """A prior is as strong beside a stream as beside a fit to the same number of steps."""
    X, _ = made(1000)
    symbols = (X > 2).astype(float)
    more = {"emission": "bernoulli", "alpha": 1.0, "transition_prior": 2.0, "start_prior": 2.0}
    fitted = HiddenMarkovModel(2, random_state=0, **more).fit(symbols)
    online = HiddenMarkovModel(2, init_params=fitted.model_, **more)
    for n in range(0, 1000, 100):
        online.partial_fit(symbols[n : n + 100])
    assert online.statistics_.weight == pytest.approx(1000)
    np.testing.assert_allclose(online.transmat_, fitted.transmat_, atol=0.05)
    np.testing.assert_allclose(
        online.model_.emission.probability, fitted.model_.emission.probability, atol=0.05
    )


def test_a_stream_refuses_what_is_impossible_and_keeps_what_it_has():
    X = np.array([[0.0], [1.0], [1.0], [0.0]])
    model = HiddenMarkovModel(emission="categorical").partial_fit(X, [0, 1, 1, 0])
    before = model.model_
    with pytest.raises(ValueError, match="impossible under the model so far"):
        model.partial_fit(X, [1, 1, 1, 1])
    assert model.model_ is before and model.n_updates_ == 1
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.zeros((3, 2)))


@pytest.mark.parametrize("name", EMISSIONS)
def test_a_step_at_a_time(name):
    emission, model = case(name, 3, seed=9)
    estimator = unmoved(model, emission.X)
    stream = estimator.stream()
    assert isinstance(stream, StateFilter)
    for x in [x for x in parts(emission.X) if len(x)]:
        stream.reset()
        for t, p in enumerate(estimator.filter([x])[0]):
            np.testing.assert_allclose(stream.update(x[t]), p, atol=1e-12)
        assert stream.log_likelihood == pytest.approx(estimator.log_likelihood([x])[0], rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(stream.predict_next(), estimator.predict_next([x])[0], atol=1e-12)


def test_an_impossible_step_is_refused_and_forgotten():
    p = np.array([[1.0, 0.0], [1.0, 0.0]])
    model = HiddenMarkov(np.array([0.5, 0.5]), np.full((2, 2), 0.5), Categorical((np.arange(2.0),), (p,)))
    stream = StateFilter(model)
    stream.update([0.0])
    with pytest.raises(ValueError, match="The step is impossible"):
        stream.update([1.0])
    assert stream.log_likelihood == 0.0
    np.testing.assert_allclose(stream.update([0.0]), [0.5, 0.5])


# Draws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EMISSIONS)
def test_what_is_drawn_gives_back_the_model(name):
    """Counts of the drawn states, and means of the drawn rows, to five standard errors."""
    emission, model = case(name, 3, seed=6, forbid=False)
    X, states = unmoved(model, emission.X, random_state=0).sample(20, 1000)
    assert len(X) == len(states) == 1000 and X[0].shape == (20, emission.X.shape[1])
    X, y = np.concatenate(X).astype(float), np.concatenate(states)
    start = np.bincount(y[::20], minlength=3) / 1000
    assert (abs(start - model.start) < 5 * np.sqrt(model.start * (1 - model.start) / 1000)).all()
    moves = np.zeros((3, 3))
    for path in parts(y, [20] * 1000):
        np.add.at(moves, (path[:-1], path[1:]), 1)
    from_each = moves.sum(axis=1, keepdims=True)
    error = np.sqrt(model.transition * (1 - model.transition) / from_each)
    assert (abs(moves / from_each - model.transition) < 5 * error + 1e-12).all()
    again = emission.family.summarize(X, np.eye(3)[y])
    again = emission.family.estimate(again) if name != "mixtures" else None
    if again is not None:  # log-likelihood ratio of 2 log L: chi squared with as many degrees as parameters
        of_both = [f.log_density(X)[np.arange(len(X)), y].sum() for f in (again, emission.family)]
        assert 0 <= 2 * (of_both[0] - of_both[1]) < stats.chi2(again.n_parameters).ppf(1 - 1e-6)


def test_a_fit_recovers_what_drew():
    """20000 steps of states two to three deviations apart; tolerances are five to ten standard errors."""
    A = np.array([[0.9, 0.08, 0.02], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])
    family = DiagonalGaussian(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]), np.full((3, 2), 1.0))
    truth = HiddenMarkov(np.array([0.6, 0.3, 0.1]), A, family)
    source = HiddenMarkovModel(3, init_params=truth, fixed=EVERYTHING, random_state=2).fit(np.zeros((1, 2)))
    X, states = source.sample(100, 200)
    model = HiddenMarkovModel(3, random_state=0, tol=1e-6).fit(X)
    mean = model.model_.emission.mean
    order = [int(np.argmin(((mean - m) ** 2).sum(axis=1))) for m in family.mean]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(mean[order], family.mean, atol=0.1)
    np.testing.assert_allclose(model.model_.emission.covariance[order], 1.0, atol=0.12)
    np.testing.assert_allclose(model.transmat_[np.ix_(order, order)], A, atol=0.04)
    np.testing.assert_allclose(model.startprob_[order], truth.start, atol=0.2)
    found = np.argsort(order)[np.concatenate(model.predict(X))]
    assert (found == np.concatenate(states)).mean() > 0.93
    assert model.score(X) >= source.score(X)


def test_one_draw():
    X, _ = made()
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    drawn, states = model.sample(7)
    assert drawn.shape == (7, 1) and states.shape == (7,)
    np.testing.assert_array_equal(model.sample(7)[0], drawn)
    with pytest.raises(ValueError, match="n_steps=0"):
        model.sample(0)


# Bad and odd input -------------------------------------------------------------------------------


def certain():
    """Two states that take turns, each with its own symbol."""
    family = Categorical((np.arange(2.0),), (np.eye(2),))
    return HiddenMarkov(np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]]), family)


def test_impossible_sequences():
    turns, stays = np.array([[0.0], [1.0], [0.0]]), np.array([[0.0], [0.0], [1.0]])
    estimator = unmoved(certain(), turns, (3,))
    np.testing.assert_allclose(
        estimator.log_likelihood([turns, stays, turns]), [np.log(0.5), -np.inf, np.log(0.5)]
    )
    assert estimator.score([turns, stays]) == -np.inf
    good, bad = estimator.predict_proba([turns, stays])
    np.testing.assert_allclose(good, np.eye(2)[[0, 1, 0]])
    assert (bad == 0).all()
    for params in ({"init_params": certain()}, {"allowed": [[0, 1], [1, 0]], "emission": "categorical"}):
        for n_init in (1, 3):
            model = HiddenMarkovModel(2, n_init=n_init, random_state=0, **params)
            with pytest.raises(ValueError, match="Some sequences are impossible under the model"):
                model.fit([turns, stays], [[0, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="Some sequences are impossible under the model"):
        HiddenMarkovModel(2, init_params=certain()).fit([turns, stays])


def test_empty_sequences():
    X, y = made(60)
    nothing = np.empty((0, 1))
    with_gaps = [nothing, X[:20], nothing, X[20:], nothing]
    a = HiddenMarkovModel(2, random_state=0).fit(with_gaps)
    b = HiddenMarkovModel(2, random_state=0).fit([X[:20], X[20:]])
    assert_same_values(a.model_, b.model_)
    assert a.log_likelihood(with_gaps)[[0, 2, 4]].tolist() == [0.0, 0.0, 0.0]
    assert [len(p) for p in a.predict(with_gaps)] == [0, 20, 0, 40, 0]
    np.testing.assert_array_equal(a.predict_next(with_gaps)[0], a.startprob_)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        HiddenMarkovModel(2).fit([nothing, nothing])
    with pytest.raises(ValueError, match="no sequences"):
        HiddenMarkovModel(2).fit([])
    with_labels = HiddenMarkovModel().fit(with_gaps, [[], y[:20], [], y[20:], []])
    np.testing.assert_allclose(with_labels.transmat_, counted(y, 2, (20, 40))[1])


def test_single_steps():
    """No step follows another: the transitions stay where they started, the rest is a mixture."""
    X, _ = made(80)
    model = HiddenMarkovModel(2, random_state=0, tol=1e-8).fit(list(X[:, None]))
    np.testing.assert_array_equal(model.transmat_, np.full((2, 2), 0.5))
    means = np.sort(model.model_.emission.mean.ravel())
    np.testing.assert_allclose(means, [0.0, 4.0], atol=0.6)
    one = quietly(HiddenMarkovModel(1), X[:1])
    assert one.transmat_.tolist() == [[1.0]] and one.startprob_.tolist() == [1.0]


def test_fewer_steps_than_states():
    with pytest.warns(UserWarning, match="n_components=4 states, and X has 2 steps"):
        model = quietly(HiddenMarkovModel(4, random_state=0), np.array([[0.0], [1.0]]))
    assert np.isfinite(model.transmat_).all()
    np.testing.assert_allclose(model.transmat_.sum(axis=1), 1.0)


def test_a_category_that_was_never_seen_tells_nothing():
    _, model = case("categorical")
    X = np.array([[0.0, 1.0], [9.0, 5.0]])
    estimator = unmoved(model, X, (2,))
    np.testing.assert_allclose(
        estimator.log_likelihood([X]), estimator.log_likelihood([np.where(X == 9, np.nan, X)])
    )


@pytest.mark.parametrize("kind", ["multinomial", "poisson", "bernoulli"])
def test_negative_counts(kind):
    with pytest.raises(ValueError, match="Negative values"):
        HiddenMarkovModel(2, emission=kind).fit(np.array([[1.0], [-1.0], [0.0]]))


def test_infinity():
    with pytest.raises(ValueError, match="infinity"):
        HiddenMarkovModel(2).fit(np.array([[1.0], [np.inf], [0.0]]))


def test_a_long_sequence():
    """100,000 steps: nothing runs out of range, and the mean log-likelihood is that of pieces."""
    X, _ = made(100_000)
    start = HiddenMarkov(np.array([0.5, 0.5]), np.array([[0.85, 0.15], [0.15, 0.85]]), two_means())
    model = quietly(HiddenMarkovModel(2, init_params=start, max_iter=2, tol=0.0), X)
    assert np.isfinite(model.trace_).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(model.score(X), model.score(np.array_split(X, 100)), atol=0.02)
    np.testing.assert_allclose(model.transmat_, start.transition, atol=0.01)
    assert np.isfinite(model.log_likelihood(X)[0])


def test_far_outliers():
    """A step that no state is near: its log-likelihood is finite, and the states after it are the same."""
    X, _ = made()
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    far = X.copy()
    far[150] = 1e6
    assert np.isfinite(model.log_likelihood(far)[0]) and np.isfinite(model.predict_proba(far)).all()
    assert (model.predict(far)[160:] == model.predict(X)[160:]).all()


# Kept, and searched ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EMISSIONS)
def test_save_and_load(name, tmp_path):
    emission, model = case(name)
    shape = {"allowed": model.transition > 0, "fixed": ("start",), "transition_prior": np.full((2, 2), 2.0)}
    estimator = once(model, emission.X, **shape)
    estimator.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice")
    assert_same_values(again.model_, estimator.model_, rtol=0, atol=0)
    assert_same_values(again.init_params, model, rtol=0, atol=0)
    np.testing.assert_array_equal(again.predict(emission.X), estimator.predict(emission.X))
    again.partial_fit(parts(emission.X))
    estimator.partial_fit(parts(emission.X))
    assert_same_values(again.model_, estimator.model_, rtol=0, atol=0)


def test_save_and_load_names(tmp_path):
    X, y = made()
    model = HiddenMarkovModel(random_state=0).fit(X, np.where(y, "on", "off"))
    model.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice")
    assert again.predict(X).tolist() == model.predict(X).tolist()


@since("1.8", ROUTED)
def test_a_search_over_a_pipeline():
    """Scores are those of a loop by hand over groups."""
    X, _ = made(400, D=2)
    X = 100.0 * X + 7.0
    groups = np.repeat(np.arange(20), 20)
    folds = GroupKFold(4)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), HiddenMarkovModel(2, random_state=0))
        search = GridSearchCV(pipeline, {"hiddenmarkovmodel__n_components": [1, 2]}, cv=folds, refit=True)
        search.fit(X, groups=groups)
        best = search.best_estimator_
        np.testing.assert_array_equal(
            best.predict(X, groups=groups),
            best[-1].predict(StandardScaler().fit_transform(X), groups=groups),
        )
    for row, K in enumerate((1, 2)):
        for fold, (train, test) in enumerate(folds.split(X, groups=groups)):
            scaler = StandardScaler().fit(X[train])
            model = HiddenMarkovModel(K, random_state=0)
            model.fit(parts(scaler.transform(X[train]), [20] * 15))
            by_hand = model.score(parts(scaler.transform(X[test]), [20] * 5))
            np.testing.assert_allclose(search.cv_results_[f"split{fold}_test_score"][row], by_hand, rtol=1e-9)
    assert search.best_params_ == {"hiddenmarkovmodel__n_components": 2}


# A state that is a number ------------------------------------------------------------------------


@pytest.mark.parametrize("y", [[1.0, 0.5, -0.3], [1.0, np.nan, -0.3, 2.0], [np.nan, np.nan], [0.2], []])
def test_linear_gaussian(y):
    """Beside the conditional of the joint Gaussian of all states and observations."""
    model = LinearGaussianStateSpace(a=0.9, b=1.5, q=0.5, r=0.2, mean=0.4, variance=2.0)
    T = len(y)
    # z = M e with e = (z_0, u_1 .. u_T); y = b z + v.
    M = np.array([[0.9 ** (t - s) if s <= t else 0.0 for s in range(T + 1)] for t in range(1, T + 1)])
    M = M.reshape(T, T + 1)
    of_z = M @ np.diag([2.0] + [0.5] * T) @ M.T
    mean_z = M[:, 0] * 0.4
    mean, variance = model.filter(y)
    assert mean.shape == variance.shape == (T,)
    seen = ~np.isnan(np.array(y, float))
    of_y, y = 1.5**2 * of_z + 0.2 * np.eye(T), np.array(y, float)
    for t in range(T):
        S = np.flatnonzero(seen[: t + 1])
        gain = 1.5 * of_z[t, S] @ np.linalg.inv(of_y[np.ix_(S, S)])
        np.testing.assert_allclose(mean[t], mean_z[t] + gain @ (y[S] - 1.5 * mean_z[S]), rtol=1e-10)
        np.testing.assert_allclose(variance[t], of_z[t, t] - gain @ (1.5 * of_z[t, S]), rtol=1e-10)
    S = np.flatnonzero(seen)
    joint = stats.multivariate_normal(1.5 * mean_z[S], of_y[np.ix_(S, S)]).logpdf(y[S]) if len(S) else 0.0
    np.testing.assert_allclose(model.log_likelihood(y), joint, rtol=1e-10)


def test_linear_gaussian_takes_one_sequence():
    with pytest.raises(ValueError, match=r"y has shape \(2, 1\), expected \(n_steps,\)"):
        LinearGaussianStateSpace(0.9, 1.0, 0.5, 0.2).filter([[1.0], [2.0]])


def test_expected_counts_are_sums_of_the_posteriors():
    X = np.array([0.0, 0.1, 3.0, 3.1, 0.2, 2.9, 3.2]).reshape(-1, 1)
    model = HiddenMarkovModel(2, random_state=0).fit(X)
    s = model.expected_counts([X, X[2:5]])
    smoothed, pairs = model.predict_proba([X, X[2:5]]), model.pair_posteriors([X, X[2:5]])
    np.testing.assert_allclose(s.start, smoothed[0][0] + smoothed[1][0], rtol=1e-12)
    np.testing.assert_allclose(s.moves, pairs[0].sum(axis=0) + pairs[1].sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(s.log_likelihood, model.log_likelihood([X, X[2:5]]).sum(), rtol=1e-12)


def test_partial_fit_leaves_no_trace_of_a_fit_before():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = HiddenMarkovModel(2, random_state=0, max_iter=500).fit(X)
    assert len(model.trace_) == model.n_iter_
    model.partial_fit(X)
    assert not hasattr(model, "trace_") and not hasattr(model, "converged_")


def test_score_of_what_is_not_fitted():
    with pytest.raises(NotFittedError):
        HiddenMarkovModel(2).score(np.zeros((3, 1)))


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(10)]
)
@pytest.mark.parametrize("n_states", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_bic_finds_the_number_of_states_of_the_guide(n_states, seed):
    """The signals of the guide to sequences, with other seeds of the signals and of the starts."""
    rng = np.random.default_rng(seed)
    states = [(np.arange(n) // 10) % n_states for n in (60, 25, 90, 40)]
    signals = [rng.normal(3.0 * state, 1.0)[:, None] for state in states]
    bic = {K: HiddenMarkovModel(K, random_state=seed).fit(signals).bic(signals) for K in (1, 2, 3, 4)}
    assert min(bic, key=bic.get) == n_states


DAYS = [["walk", "walk", "shop", "clean", "clean", "shop"], ["clean", "shop", "walk"], ["walk", "walk"]]
NUMBERS = {"clean": 0.0, "shop": 1.0, "walk": 2.0}
CODES = [np.array([[NUMBERS[day]] for day in days]) for days in DAYS]


def model(**options):
    return HiddenMarkovModel(2, emission="categorical", alpha=0.1, random_state=0, **options)


def test_strings_are_categories():
    found, expected = model().fit(DAYS), model().fit(CODES)
    np.testing.assert_array_equal(found.transmat_, expected.transmat_)
    assert found.model_.emission.values[0].tolist() == ["clean", "shop", "walk"]
    assert found.statistics_.emission.values[0].tolist() == ["clean", "shop", "walk"]
    np.testing.assert_array_equal(
        found.model_.emission.probability[0], expected.model_.emission.probability[0]
    )
    for ours, theirs in zip(found.predict_proba(DAYS), expected.predict_proba(CODES), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert found.score(DAYS) == pytest.approx(expected.score(CODES))
    assert found.log_likelihood(DAYS).shape == (3,)
    assert set(found.sample(20)[0].ravel()) <= set(NUMBERS)
    assert found.stream().update("walk") == pytest.approx(found.filter(["walk"])[0])


def test_containers_of_strings():
    expected = model().fit(DAYS).transmat_
    rows = [day for days in DAYS for day in days]
    ids = np.repeat([0, 1, 2], [6, 3, 2])
    column = np.array(rows, dtype=object)[:, None]
    frame = suffice.sequences(pd.DataFrame({"id": ids, "day": rows}), sequence="id", features=["day"])
    for given in (
        model().fit([np.array(days) for days in DAYS]),
        model().fit([np.array(days)[:, None] for days in DAYS]),
        model().fit([[[day] for day in days] for days in DAYS]),
        model().fit(rows, groups=ids),
        model().fit(np.array(rows), groups=ids),
        model().fit(column, groups=ids),
        model().fit(frame),
    ):
        np.testing.assert_array_equal(given.transmat_, expected)
    listed = model().fit(DAYS)
    assert listed.predict(DAYS[0]).shape == (6,)
    assert [path.shape for path in listed.predict([*DAYS, []])] == [(6,), (3,), (2,), (0,)]


def test_missing_and_unknown_strings_are_not_observed(tmp_path):
    fitted = model().fit([*DAYS, ["shop", None, "walk"]])
    for step in (None, "swim"):
        np.testing.assert_allclose(
            fitted.predict_proba(["walk", step, "walk"]), fitted.predict_proba(["walk", None, "walk"])
        )
    fitted.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.log_likelihood(DAYS).tolist() == fitted.log_likelihood(DAYS).tolist()


def test_strings_beside_numbers_and_in_later_batches():
    X = [np.array([["a", 1.0], ["b", 5.0], ["a", 1.2], [None, 5.1]], dtype=object) for _ in range(3)]
    mixed = HiddenMarkovModel(2, emission=["categorical", "gaussian"], alpha=0.1, random_state=0).fit(X)
    states = mixed.predict(X[0])
    assert states[0] == states[2] != states[1] == states[3]
    learning = model().partial_fit(DAYS[:2]).partial_fit(DAYS[1:])
    assert learning.n_updates_ == 2
    assert learning.model_.emission.values[0].tolist() == ["clean", "shop", "walk"]
    start = Categorical(
        (np.array(["clean", "shop", "walk"]),), (np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]),)
    )
    first = HiddenMarkov(np.full(2, 0.5), np.full((2, 2), 0.5), start)
    assert model(init_params=first, max_iter=200).fit(DAYS).converged_
    assert HiddenMarkovModel(2, emission=start, max_iter=200).fit(DAYS).predict(DAYS)[2].tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_means_and_covariances_have_the_names_and_shapes_of_hmmlearn(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 5.0 * (np.arange(200) // 20 % 2)[:, None]
    fitted = HiddenMarkovModel(2, covariance_type=kind, random_state=0).fit(X)
    assert fitted.means_.shape == (2, 3)
    assert fitted.covars_.shape == (2, 3, 3)
    states, mean = fitted.predict(X), fitted.means_[0]
    np.testing.assert_allclose(X[states == 0].mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.diagonal(fitted.covars_, axis1=1, axis2=2), 1.0, atol=0.4)
    mixed = HiddenMarkovModel(2, covariance_type=kind, n_mix=2, max_iter=1000, random_state=0).fit(X)
    assert mixed.means_.shape == (2, 2, 3)
    assert mixed.covars_.shape == (2, 2, 3, 3)


def test_other_emissions_have_no_means():
    assert not hasattr(HiddenMarkovModel(2), "means_")
    with pytest.raises(AttributeError, match="Gaussian emission"):
        model().fit(DAYS).means_  # noqa: B018


def test_decode_returns_the_log_probability_and_the_path():
    fitted = model().fit(DAYS)
    log_probability, states = fitted.decode(DAYS)
    total = 0.0
    for days, path, predicted in zip(DAYS, states, fitted.predict(DAYS), strict=True):
        np.testing.assert_array_equal(path, predicted)
        p = fitted.startprob_[path[0]]
        for n, day in enumerate(days):
            p *= fitted.transmat_[path[n - 1], path[n]] if n else 1.0
            p *= fitted.model_.emission.probability[0][path[n], sorted(NUMBERS).index(day)]
        total += np.log(p)
    assert log_probability == pytest.approx(total)
    assert fitted.decode(DAYS[0])[1].tolist() == states[0].tolist()
