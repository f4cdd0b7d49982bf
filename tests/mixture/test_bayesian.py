"""Bayesian mixtures by variational inference: scikit-learn, the enumerated evidence, bad input."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import digamma, logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture as Peer

import suffice
from suffice.core.blocks import Rows
from suffice.families import GAUSSIANS, Dirichlet, GaussianPrior, Sticks, VariationalMixture
from suffice.fitting import em
from suffice.mixture import BayesianGaussianMixture
from suffice.mixture.base import Division
from suffice.statistics import describe

rng = np.random.default_rng(0)
X = np.concatenate(
    [rng.normal(0, 1, (120, 3)), rng.normal([2.0, 1.0, -1.0], 0.7, (80, 3)), rng.normal(-3, 1.5, (60, 3))]
)
KINDS = ("dirichlet_process", "dirichlet_distribution")
ATTRIBUTES = ("weights_", "means_", "covariances_", "precisions_", "mean_precision_", "degrees_of_freedom_")


def from_our_start(peer, exact):
    """scikit-learn's class from our initial responsibilities; optionally with the expected log determinant
    of the diagonal model, and not that of a full Wishart matrix."""

    class FromOurStart(peer):
        def _initialize_parameters(self, X, random_state, xp=None):
            data = suffice.partition(X)
            seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=1)[0]
            division = Division.of(data, data.fold(describe), self.n_components, "kmeans", int(seed))
            self._initialize(X, division.shares(Rows(X, None, np.ones(len(X)))))

        def _estimate_log_prob(self, X, xp=None):
            out = super()._estimate_log_prob(X)
            if exact:
                D, df = X.shape[1], self.degrees_of_freedom_
                wishart = digamma(0.5 * (df - np.arange(D)[:, None])).sum(axis=0)
                gamma = D * digamma(0.5 * df)
                if self.covariance_type == "spherical":  # one variance has the rows of all features
                    gamma = D * (digamma(0.5 * D * df) - np.log(D))
                out += 0.5 * (gamma - wishart)
            return out

    return FromOurStart


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_attributes_are_those_of_scikit_learn(covariance_type, kind):
    how = {
        "n_components": 4,
        "covariance_type": covariance_type,
        "weight_concentration_prior_type": kind,
        "max_iter": 40,
        "tol": 0.0,
        "random_state": 0,
    }
    ours = BayesianGaussianMixture(**how).fit(X)
    theirs = from_our_start(Peer, covariance_type != "full")(**how).fit(X)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-6)
    pairs = np.atleast_2d(ours.weight_concentration_), np.atleast_2d(theirs.weight_concentration_)
    np.testing.assert_allclose(*pairs, rtol=1e-6)
    for name in ("mean_prior_", "covariance_prior_", "degrees_of_freedom_prior_", "mean_precision_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_far_groups_need_no_other_determinant():
    """Where responsibilities are zeros and ones, scikit-learn's diagonal fit is the same as it stands."""
    far = np.concatenate([X[:120], X[120:200] + 40.0])
    how = {"n_components": 2, "covariance_type": "diag", "max_iter": 20, "tol": 0.0, "random_state": 0}
    ours, theirs = BayesianGaussianMixture(**how).fit(far), from_our_start(Peer, False)(**how).fit(far)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6)


# --- the bound -------------------------------------------------------------------------------------------

SMALL = np.array([[-1.0, 0.2], [-1.3, -0.9], [1.1, 0.1], [2.0, 0.4], [0.3, -0.2]])
PRIOR = GaussianPrior(np.array([0.2, -0.1]), 0.5, np.array([[1.0, 0.2], [0.2, 0.8]]), 4.0)


def enumerated(weights, family):
    """log p(X): the sum over all labels of the rows."""
    K, N = len(family.mean), len(SMALL)
    nothing = family.posterior(family.summarize(SMALL[:0], np.empty((0, K))))
    terms = []
    for z in product(range(K), repeat=N):
        R = np.eye(K)[list(z)]
        q = family.posterior(family.summarize(SMALL, R))
        terms.append(weights.log_evidence(R.sum(axis=0)) + q.log_evidence(nothing).sum())
    return logsumexp(terms)


@pytest.mark.parametrize("weights", ["dirichlet", "process", "truncated"])
@pytest.mark.parametrize("kind", GAUSSIANS)
@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_the_bound_is_whole_and_below_the_evidence(kind, weights, reg):
    family = GAUSSIANS[kind].start(2, 2, prior=PRIOR, reg=reg)
    prior = {
        "dirichlet": Dirichlet(np.full(2, 0.7)),
        "process": Sticks.process(0.9, 2),
        "truncated": Sticks.process(0.9, 2).truncated(),
    }[weights]
    start = VariationalMixture.start(prior, family, family.summarize(SMALL[:0], np.empty((0, 2))))
    rows = Rows(SMALL, None, np.ones(len(SMALL)))
    R = np.random.default_rng(1).dirichlet(np.ones(2), size=len(SMALL))
    model = start.estimate(start.summarize_as(R, rows))
    found = em(model, suffice.partition(SMALL), tol=0.0, max_iter=60)
    evidence = enumerated(prior, family)  # of the process: only labels that have a name
    assert (np.diff(found.trace) >= -1e-10).all()
    assert found.trace[-1] <= evidence
    assert found.trace[-1] > evidence - 3.0


@pytest.mark.parametrize("kind", GAUSSIANS)
@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_the_bound_of_one_component_is_the_evidence(kind, reg):
    """With one component there is nothing to approximate."""
    family = GAUSSIANS[kind].start(1, 2, prior=PRIOR, reg=reg)
    start = VariationalMixture.start(
        Dirichlet(np.ones(1)), family, family.summarize(SMALL[:0], np.empty((0, 1)))
    )
    found = em(start, suffice.partition(SMALL), tol=0.0, max_iter=3)
    np.testing.assert_allclose(found.trace[-1], enumerated(Dirichlet(np.ones(1)), family), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("covariance_type", GAUSSIANS)
@pytest.mark.parametrize("holes", [False, True])
def test_the_bound_never_falls(covariance_type, kind, holes):
    rows = np.where(np.random.default_rng(1).random(X.shape) < 0.2 * holes, np.nan, X)
    model = BayesianGaussianMixture(
        n_components=4,
        covariance_type=covariance_type,
        weight_concentration_prior_type=kind,
        reg_covar=0.0,
        max_iter=60,
        tol=1e-9,
        random_state=0,
    )
    model.fit(rows)
    assert (np.diff(model.trace_) >= -1e-9 * abs(model.trace_[-1])).all()
    assert np.isfinite(model.predict_proba(rows)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("covariance_type", GAUSSIANS)
@pytest.mark.parametrize(
    ("rows", "reg_covar"),
    [
        pytest.param(np.full((50, 2), 3.0), 1e-6, id="equal rows"),
        pytest.param(1e-3 * X, 1e-6, id="variances of 1e-6", marks=pytest.mark.slow),
        pytest.param(
            np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X),
            0.5,
            id="holes",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_bound_does_not_fall_where_the_regularization_is_as_large_as_the_variances(
    covariance_type, rows, reg_covar
):
    for kind in KINDS:
        model = BayesianGaussianMixture(
            n_components=4,
            covariance_type=covariance_type,
            weight_concentration_prior_type=kind,
            reg_covar=reg_covar,
            max_iter=30,
            tol=1e-9,
            random_state=0,
        ).fit(rows)
        assert (np.diff(model.trace_) >= -1e-12 * abs(model.trace_[-1])).all()
        assert model.stopped_because_ != "objective worsened"


def test_more_components_than_groups_are_left_empty():
    far = np.concatenate([X[:120], X[120:200] + 30.0])
    for kind in KINDS:
        model = BayesianGaussianMixture(
            n_components=6,
            weight_concentration_prior_type=kind,
            weight_concentration_prior=1e-3,
            max_iter=300,
            random_state=0,
        ).fit(far)
        assert (model.weights_ > 0.01).sum() == 2


# --- input -----------------------------------------------------------------------------------------------


def fitted(rows, **how):
    return BayesianGaussianMixture(**{"n_components": 2, "random_state": 0, "max_iter": 200, **how}).fit(rows)


@pytest.mark.parametrize("covariance_type", GAUSSIANS)
def test_constant_duplicate_and_missing_columns(covariance_type):
    one, two = X[:, :1], X[:, 1:2]
    for rows in (
        np.hstack([one, np.full_like(one, 3.0), two]),
        np.hstack([one, one, two]),
        np.hstack([one, np.full_like(one, np.nan), two]),
    ):
        model = fitted(rows, covariance_type=covariance_type)
        assert np.isfinite(model.predict_proba(rows)).all()
        assert np.isfinite(model.lower_bound_)


def test_a_singular_prior_without_regularization_is_refused():
    rows = np.hstack([X[:, :1], X[:, :1]])
    with pytest.raises(ValueError, match="constant or collinear"):
        fitted(rows, reg_covar=0.0)
    assert np.isfinite(fitted(rows, reg_covar=0.0, covariance_prior=np.eye(2)).lower_bound_)


def test_one_component_and_few_different_rows():
    model = fitted(X, n_components=1)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), atol=0.05)
    with pytest.warns(ConvergenceWarning, match="distinct"):
        model = fitted(np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0), n_components=4)
    assert np.isfinite(model.lower_bound_)
    assert len(set(model.predict([[0.0, 0.0], [5.0, 5.0]]))) == 2


def test_wrong_priors_are_refused():
    with pytest.raises(ValueError, match="greater than 2"):
        fitted(X, degrees_of_freedom_prior=1.5)
    with pytest.raises(ValueError, match="shape"):
        fitted(X, mean_prior=[0.0])
    with pytest.raises(ValueError, match="shape"):
        fitted(X, covariance_prior=np.eye(2))
    with pytest.raises(ValueError, match="positive-definite"):
        fitted(X, covariance_prior=-np.eye(3))
    with pytest.raises(ValueError, match="no draws"):
        fitted(X).co_clustering(X)


def test_far_from_the_origin_the_partition_is_the_same():
    near = np.round(np.concatenate([X[:120], X[120:200] + 12.0]), 6)
    for covariance_type in GAUSSIANS:
        a = fitted(near, covariance_type=covariance_type)
        b = fitted(near + 1e8, covariance_type=covariance_type)
        assert (a.predict(near) == b.predict(near + 1e8)).mean() in (0.0, 1.0)
