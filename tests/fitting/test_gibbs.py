"""Gibbs sampling of mixtures: Geweke's joint-distribution test, enumerated posteriors, weights, sources."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logsumexp

import suffice
from suffice.core import loop
from suffice.core.blocks import Rows
from suffice.families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    Dirichlet,
    GaussianPrior,
    GibbsMixture,
    Mixture,
    Multinomial,
    Poisson,
    ProductFamily,
    Sticks,
)
from suffice.fitting import gibbs as sampler
from suffice.fitting.gibbs import split_and_merge
from suffice.mixture import BayesianGaussianMixture

# --- Geweke: p(theta) p(x given theta), forwards and by the sampler --------------------------------------

PRIOR = GaussianPrior(np.array([0.3, -0.2]), 0.6, np.array([[2.0, 0.4], [0.4, 1.5]]), 6.0)


def families(K):
    found = {kind: cls.start(K, 2, prior=PRIOR) for kind, cls in GAUSSIANS.items()}
    found |= {cls.__name__: cls.start(K, 2, alpha=0.5) for cls in (Bernoulli, Poisson, Multinomial)}
    found["Categorical"] = Categorical((np.arange(3.0),) * 2, (np.full((K, 3), 1 / 3),) * 2, 0.5)
    parts = (
        GAUSSIANS["diag"].start(K, 1, prior=GaussianPrior(0.3, 0.6, 2.0, 6.0)),
        Poisson.start(K, 1, alpha=0.5),
    )
    found["ProductFamily"] = ProductFamily((np.array([0]), np.array([1])), parts)
    return found


WEIGHTS = {
    "dirichlet": lambda K: Dirichlet(np.full(K, 0.8)),
    "process": lambda K: Sticks.process(1.2, K).truncated(),
}
POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]])


def of_state(mixture, X):
    """Bounded functions of weights, parameters and rows."""
    w = mixture.weight
    points = POINTS % 2 if isinstance(mixture.component, Bernoulli) else POINTS
    p = expit(mixture.component.log_density(points)).ravel()
    x = np.tanh(X.mean(axis=0))
    return np.concatenate([w, [w @ w], p, p[: len(w)] * w, x, np.tanh([X.var()])])


def geweke(weights, family, n_rows=5, n=1600, moves=None, transition=None, holes=False):
    """The largest z-score between draws of the prior and those of the sampler.

    Chains begin at draws of the joint distribution, and a right sampler keeps it: so their means are
    independent, with the right expectation, and their spread tells their error.
    """
    rng = np.random.default_rng(0)
    K, n_chains = len(weights.sample(rng)), 40
    nothing = family.summarize(POINTS[:0], np.empty((0, K)))
    prior = family.posterior(nothing)

    def rows_of(mixture):
        k = rng.choice(K, size=n_rows, p=mixture.weight / mixture.weight.sum())
        X = mixture.component.sample(k, rng).astype(float)
        return np.where(rng.random(X.shape) < 0.3, np.nan, X) if holes else X

    def functions(mixture, X):
        return of_state(mixture, np.nan_to_num(X))

    def drawn():
        return Mixture(weights.sample(rng), prior.sample(rng))

    def chain_mean(seed):
        found, model = [], GibbsMixture(weights, drawn(), seed)
        for _ in range(n // n_chains):
            X = rows_of(model.mixture)
            s = model.summarize(Rows(X, None, np.ones(n_rows)))
            if moves is not None:
                (s,) = moves((model,), (s,), suffice.partition(X))
            model = (transition or GibbsMixture.estimate)(model, s)
            found.append(functions(model.mixture, X))
        return np.mean(found, axis=0)

    forwards = np.array([functions(mixture, rows_of(mixture)) for mixture in (drawn() for _ in range(n))])
    chains = np.array([chain_mean(seed) for seed in range(n_chains)])
    error = 1e-12 + np.sqrt(forwards.var(axis=0) / n + chains.var(axis=0, ddof=1) / n_chains)
    return float(np.abs((forwards.mean(axis=0) - chains.mean(axis=0)) / error).max())


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", families(3))
def test_the_sampler_keeps_the_joint_distribution(name, weights):
    assert geweke(WEIGHTS[weights](3), families(3)[name]) < 4.5


@pytest.mark.parametrize("kind", ["full", pytest.param("tied", marks=pytest.mark.slow)])
def test_the_sampler_keeps_the_joint_distribution_of_rows_with_holes(kind):
    assert geweke(WEIGHTS["process"](2), families(2)[kind], n=600, holes=True) < 4.5


def counted_often(model, s):
    """A planted bug: the rows enter the weights ten times."""
    return GibbsMixture.estimate(model, s.replace(weight=10.0 * s.weight))


def too_many_degrees(model, s):
    """A planted bug: the degrees of freedom are two too many."""
    family = model.mixture.component
    wrong = family.replace(prior=family.prior.replace(degrees_of_freedom=8.0))
    after = GibbsMixture.estimate(model.replace(mixture=model.mixture.replace(component=wrong)), s)
    component = after.mixture.component.replace(prior=family.prior)
    return after.replace(mixture=after.mixture.replace(component=component))


@pytest.mark.parametrize(
    ("bug", "n"), [(counted_often, 600), pytest.param(too_many_degrees, 2000, marks=pytest.mark.slow)]
)
def test_a_planted_bug_is_found(bug, n):
    assert geweke(WEIGHTS["process"](3), families(3)["full"], n=n, transition=bug) > 6.0


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_splits_and_merges_keep_the_joint_distribution(kind, weights, monkeypatch):
    monkeypatch.setattr(sampler, "MOVES_EVERY", 1)
    assert geweke(WEIGHTS[weights](4), families(4)[kind], n_rows=6, moves=split_and_merge) < 4.5


@pytest.mark.slow
def test_a_planted_bug_of_splits_is_found(monkeypatch):
    """The probability of the division is left out."""
    monkeypatch.setattr(sampler, "MOVES_EVERY", 1)
    plain = sampler._propose_one

    def wrong(*args):
        s = plain(*args)
        return s.replace(log_q=0.0 * s.log_q)

    monkeypatch.setattr(sampler, "_propose_one", wrong)
    assert geweke(WEIGHTS["process"](4), families(4)["full"], n_rows=6, moves=split_and_merge) > 6.0


# --- enumeration -----------------------------------------------------------------------------------------

SMALL = np.array([[-1.0, 0.2], [-1.3, -0.9], [1.1, 0.1], [2.0, 0.4], [4.3, -2.2]])


def enumerated(weights, family):
    """The posterior probability that two rows are together, over all labels, and of the occupied number."""
    K, N = len(family.mean), len(SMALL)
    nothing = family.posterior(family.summarize(SMALL[:0], np.empty((0, K))))
    labels = np.array(list(product(range(K), repeat=N)))
    log_p = []
    for z in labels:
        R = np.eye(K)[z]
        q = family.posterior(family.summarize(SMALL, R))
        log_p.append(weights.log_evidence(R.sum(axis=0)) + q.log_evidence(nothing).sum())
    p = np.exp(log_p - logsumexp(log_p))
    together = np.einsum("s,sij->ij", p, labels[:, :, None] == labels[:, None, :])
    occupied = np.bincount([len(set(z)) for z in labels.tolist()], p, minlength=K + 1)
    return together, occupied


KINDS_OF_WEIGHTS = ("dirichlet_process", "dirichlet_distribution")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_WEIGHTS)
@pytest.mark.parametrize("covariance_type", GAUSSIANS)
@pytest.mark.parametrize("reg_covar", [0.0, 2.0])
def test_the_enumerated_posterior(covariance_type, kind, reg_covar):
    model = BayesianGaussianMixture(
        n_components=3,
        covariance_type=covariance_type,
        weight_concentration_prior_type=kind,
        weight_concentration_prior=0.9,
        reg_covar=reg_covar,
        solver="gibbs",
        max_iter=1500,
        burn_in=100,
        n_init=2,
        random_state=0,
    ).fit(SMALL)
    together, occupied = enumerated(model.model_.weight_prior, model.model_.prior.family)
    found = model.co_clustering(SMALL)
    np.testing.assert_allclose(found, together, atol=0.06)
    np.testing.assert_allclose(np.bincount(model.n_occupied_, minlength=4) / 2800, occupied, atol=0.06)
    assert model.effective_sample_size_ > 50
    assert model.r_hat_ < 1.1 and model.converged_


# --- rows, weights, sources ------------------------------------------------------------------------------

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(0, 1, (150, 2)), rng.normal(7, 1, (100, 2)), rng.normal([0, 9], 1, (80, 2))])
HOW = {"n_components": 8, "solver": "gibbs", "max_iter": 40, "random_state": 0}


def fitted(rows, weight=None, **how):
    return BayesianGaussianMixture(**HOW | how).fit(rows, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("covariance_type", "kind"),
    [
        ("full", "dirichlet_process"),
        *(
            pytest.param(covariance_type, kind, marks=pytest.mark.slow)
            for covariance_type in ("diag", "spherical")
            for kind in KINDS_OF_WEIGHTS
        ),
    ],
)
def test_planted_groups_are_found_from_too_many_and_too_few(covariance_type, kind):
    for init in ("kmeans", "random"):
        model = fitted(
            X,
            covariance_type=covariance_type,
            weight_concentration_prior_type=kind,
            weight_concentration_prior=0.05,
            init_params=init,
            max_iter=120,
        )
        assert np.bincount(model.n_occupied_).argmax() == 3
        together = model.co_clustering(X[[0, 1, 150, 151, 250, 251]])
        np.testing.assert_allclose(together, np.kron(np.eye(3), np.ones((2, 2))), atol=0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_row_of_weight_two_is_drawn_twice():
    """Its copies are together no more often than two rows with the same values are."""
    weight = np.ones(len(SMALL))
    weight[0] = 2.0
    repeated = np.concatenate([SMALL, SMALL[:1]])
    how = {"n_components": 3, "max_iter": 12000, "covariance_type": "diag"}
    prior = {"mean_prior": [0.0, 0.0], "covariance_prior": [1.0, 1.0]}
    a = fitted(SMALL, weight, **how, **prior)
    b = fitted(repeated, **how, **prior)
    np.testing.assert_allclose(a.co_clustering(SMALL), b.co_clustering(SMALL), atol=0.06)
    for name in ("means", "weights"):
        np.testing.assert_allclose(np.mean(a.draws_[name]), np.mean(b.draws_[name]), atol=0.1)
    assert abs(a.n_occupied_.mean() - b.n_occupied_.mean()) < 0.1
    assert a.statistics_.weight.sum() == 6.0


def test_fractional_weights_are_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"whole sample weights.*solver='variational'"):
        fitted(X, np.full(len(X), 0.5))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_sources_give_the_same_bits(tmp_path):
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    pq.write_table(table, tmp_path / "rows.parquet")
    memory = fitted(X)
    for source in (table.to_pandas().to_numpy(), table, suffice.scan_parquet(tmp_path / "rows.parquet")):
        other = fitted(source)
        for name in ("weights", "means", "covariances"):
            assert other.draws_[name].tobytes() == memory.draws_[name].tobytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupted_chain_goes_on_with_the_same_bits(tmp_path):
    whole = fitted(X)
    model = BayesianGaussianMixture(**HOW, checkpoint=str(tmp_path / "chain"))
    calls, plain = [], sampler.GibbsSweep.draw

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 25:
            raise KeyboardInterrupt
        return plain(*args)

    sampler.GibbsSweep.draw = interrupted
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    finally:
        sampler.GibbsSweep.draw = plain
    assert (tmp_path / "chain").exists()
    resumed = model.fit(X)
    assert len(calls) == 25
    assert resumed.draws_["means"].tobytes() == whole.draws_["means"].tobytes()
    resumed.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.co_clustering(X[:9]), whole.co_clustering(X[:9]))
    np.testing.assert_array_equal(loaded.score_samples(X[:9]), whole.score_samples(X[:9]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_checkpoint_holds_the_models_and_the_draws(tmp_path, monkeypatch):
    """Its size does not depend on the rows, nor on the prior of each draw."""
    sizes, save = {}, loop.save_value

    def measured(value, path):
        save(value, path)
        sizes[value.progress.n_iter] = (tmp_path / "chain").stat().st_size

    monkeypatch.setattr(loop, "save_value", measured)
    rows, D = np.random.default_rng(0).normal(size=(300, 40)), 40
    path = str(tmp_path / "chain")
    model = fitted(rows, n_components=1, max_iter=30, burn_in=2, n_init=2, checkpoint=path)
    last, one_draw = max(sizes), 8 * (1 + D + D**2)
    assert sum(array.nbytes for array in model.draws_.values()) == 2 * 28 * one_draw
    assert sizes[1] < 16 * one_draw  # the models, their sums and their priors
    assert sizes[last] - sizes[2] < 1.1 * 2 * (last - 2) * one_draw


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("covariance_type", GAUSSIANS)
def test_rows_with_holes_far_away_and_constant(covariance_type):
    far = np.round(X, 3) + 1e8
    model = fitted(far, covariance_type=covariance_type, n_components=3, weight_concentration_prior=1.0)
    labels = model.predict(far)
    groups = [np.bincount(labels[a:b], minlength=3) for a, b in ((0, 150), (150, 250), (250, 330))]
    assert (np.max(groups, axis=1) >= [150, 99, 80]).all() and len(set(np.argmax(groups, axis=1))) == 3
    holes = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    model = fitted(holes, covariance_type=covariance_type)
    assert np.isfinite(model.score_samples(holes)).all()
    flat = np.hstack([X, np.ones((len(X), 1))])
    assert np.isfinite(fitted(flat, covariance_type=covariance_type).trace_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("covariance_type", GAUSSIANS)
def test_one_component_empty_components_and_empty_columns(covariance_type):
    how = {"covariance_type": covariance_type, "max_iter": 12}
    one = fitted(X, n_components=1, **how)
    assert (one.n_occupied_ == 1).all() and (one.draws_["weights"] == 1.0).all()
    np.testing.assert_allclose(one.means_[0], X.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(one.co_clustering(X[:5]), 1.0)
    with pytest.raises(MemoryError, match=r"the pairs of 1000000 rows.*choose fewer rows"):
        one.co_clustering(np.zeros((1_000_000, X.shape[1])))
    many = fitted(np.repeat(SMALL, 2, axis=0), n_components=9, **how)
    assert many.n_occupied_.max() <= 9 and np.isfinite(many.draws_["covariances"]).all()
    empty = np.hstack([X, np.full((len(X), 1), np.nan)])
    model = fitted(empty, **how)
    assert np.isfinite(model.trace_).all() and np.isfinite(model.score_samples(empty)).all()
    twice = np.hstack([X[:, :1], X[:, :1]])
    assert np.isfinite(fitted(twice, **how).trace_).all()
    if covariance_type in ("full", "tied"):
        with pytest.raises(ValueError, match="constant or collinear"):
            fitted(twice, reg_covar=0.0, **how)
