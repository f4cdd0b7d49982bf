"""What the canon says must hold, held on random instances."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.linalg import det, inv, norm, svd
from numpy.testing import assert_allclose
from scipy import stats
from scipy.linalg import null_space
from scipy.optimize import LbfgsInvHessProduct
from scipy.spatial.distance import cdist
from scipy.special import zeta
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss, zero_one_loss
from sklearn.metrics.pairwise import polynomial_kernel

import suffice
from suffice.cluster import KMeans
from suffice.decomposition import PCA
from suffice.families import (
    Bernoulli,
    DiagonalGaussian,
    FullGaussian,
    Mixture,
    Multinomial,
    Poisson,
    SphericalGaussian,
    TiedGaussian,
)
from suffice.fitting import em, quasi_newton
from suffice.linear_model import LinearRegression, MaximumEntropy
from suffice.naive_bayes import MixedNB

from ._numeric import column, gradient, stopped


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# Risk ------------------------------------------------------------------------------------------


def test_mle_is_erm(rng):
    y = (rng.random(50) < 0.3).astype(float)
    coin = Bernoulli.start(1, 1)
    best = coin.estimate(coin.summarize(column(y), np.ones((50, 1)))).probability.item()
    log_likelihood = Bernoulli(np.array([[best]])).log_density(column(y)).sum()
    assert_allclose(log_loss(y, np.full(50, best)), -log_likelihood / 50)
    for p in np.linspace(0.05, 0.95, 19):
        assert log_loss(y, np.full(50, p)) >= log_loss(y, np.full(50, best))


def test_majority_vote_minimises_risk(rng):
    for labels in rng.integers(3, size=(20, 9)):
        vote = DummyClassifier(strategy="most_frequent").fit(np.zeros((9, 1)), labels)
        risk = zero_one_loss(labels, vote.predict(np.zeros((9, 1))))
        assert_allclose(risk, 1 - np.bincount(labels).max() / 9)
        assert risk <= min(zero_one_loss(labels, np.full(9, c)) for c in range(3))


def test_robbins_monro_steps():
    n = np.arange(1.0, 1e6 + 1)
    blocks = np.add.reduceat(1 / n, 2 ** np.arange(19) - 1)  # each adds at least a half: no limit
    assert np.all(blocks[:-1] > 0.5)
    assert_allclose(np.sum(1 / n**2), zeta(2), atol=2e-6)


# Matrices --------------------------------------------------------------------------------------


def test_matrix_identities(rng):
    A, B, dA, dB = rng.normal(size=(4, 4, 4))
    values = np.linalg.eigvals(A)
    assert_allclose(np.trace(A), values.sum().real)
    assert_allclose(det(A), values.prod().real)

    def differential(f):
        return np.array([gradient(lambda t, i=i: f(t).ravel()[i], 0.0) for i in range(16)])

    assert_allclose(differential(lambda t: (A + t * dA) @ (B + t * dB)), (dA @ B + A @ dB).ravel(), rtol=1e-7)
    assert_allclose(differential(lambda t: inv(A + t * dA)), (-inv(A) @ dA @ inv(A)).ravel(), rtol=1e-7)
    log_det = gradient(lambda t: np.linalg.slogdet(A + t * dA)[1], 0.0)
    assert_allclose(log_det, np.trace(inv(A) @ dA), rtol=1e-7)


def test_sherman_morrison(rng):
    A, (u, v) = rng.normal(size=(4, 4)), rng.normal(size=(2, 4))
    G = inv(A)
    assert_allclose(inv(A + np.outer(u, v)), G - np.outer(G @ u, v @ G) / (1 + v @ G @ u))


def test_svd_identities(rng):
    A = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4))
    U, s, Vt = svd(A)
    S = np.zeros(A.shape)
    np.fill_diagonal(S, s)
    assert_allclose(U @ S @ Vt, A)  # turn, stretch along the axes, turn
    assert_allclose(U.T @ U, np.eye(5), atol=1e-12)
    assert_allclose(A.T @ A, Vt.T @ S.T @ S @ Vt)
    assert_allclose(A @ A.T, U @ S @ S.T @ U.T)
    assert_allclose(A @ Vt.T, U @ S, atol=1e-12)
    assert_allclose(A.T @ U, Vt.T @ S.T, atol=1e-12)
    assert np.sum(s > 1e-12) == np.linalg.matrix_rank(A) == 2
    assert_allclose(Vt[2:].T @ Vt[2:], null_space(A) @ null_space(A).T, atol=1e-12)


def test_secant_condition(rng):
    root = rng.normal(size=(5, 5))
    Q = root @ root.T + np.eye(5)
    way = quasi_newton(lambda x: (x @ Q @ x / 2 - x.sum(), Q @ x - 1), np.zeros(5), tol=1e-8)
    assert_allclose(way.model, np.linalg.solve(Q, np.ones(5)), rtol=1e-5)
    for n in range(1, len(way.steps) + 1):
        G = LbfgsInvHessProduct(np.array(way.steps[:n]), np.array(way.changes[:n]))
        assert_allclose(G @ way.changes[n - 1], way.steps[n - 1], atol=1e-9)


def test_least_squares_is_projection(rng):
    X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
    fitted = LinearRegression(fit_intercept=False).fit(X, y).predict(X)
    assert_allclose(fitted, X @ inv(X.T @ X) @ X.T @ y)
    assert_allclose(X.T @ (y - fitted), 0, atol=1e-12)
    again = LinearRegression(fit_intercept=False).fit(X, fitted).predict(X)
    assert_allclose(again, fitted)


def test_kernel_feature_maps(rng):
    x, z = rng.normal(size=(2, 6, 2))

    def products(phi):
        return np.array([[phi(*a) @ phi(*b) for b in z] for a in x])

    maps = [
        lambda u, v: np.array([u * u, 2**0.5 * u * v, v * v]),
        lambda u, v: np.array([u * u - v * v, 2 * u * v, u * u + v * v]) / 2**0.5,
        lambda u, v: np.array([u * u, u * v, u * v, v * v]),
    ]
    for phi in maps:
        assert_allclose(products(phi), polynomial_kernel(x, z, degree=2, gamma=1, coef0=0))


# Principal components --------------------------------------------------------------------------


@pytest.fixture
def pca_rows(rng):
    return rng.normal(size=(30, 5)) @ rng.normal(size=(5, 5))


def test_pca_trace_optimality(rng, pca_rows):
    S, variance = np.cov(pca_rows, rowvar=False), PCA().fit(pca_rows).explained_variance_
    for q in range(1, 6):
        for _ in range(20):
            B = np.linalg.qr(rng.normal(size=(5, q)))[0]
            assert variance[-q:].sum() - 1e-9 <= np.trace(B.T @ S @ B) <= variance[:q].sum() + 1e-9


def test_pca_is_low_rank(pca_rows):
    Y = pca_rows - pca_rows.mean(axis=0)
    U, s, Vt = svd(Y, full_matrices=False)
    for k in range(1, 5):
        pca = PCA(k).fit(Y)
        best = pca.inverse_transform(pca.transform(Y))
        assert_allclose(best, (U[:, :k] * s[:k]) @ Vt[:k], atol=1e-9)
        assert_allclose(norm(Y - best), norm(s[k:]))


def test_pca_is_least_squares(rng, pca_rows):
    for k in range(1, 5):
        pca = PCA(k).fit(pca_rows)
        least = pca.reconstruction_error(pca_rows)
        assert_allclose(least * 30, 29 * PCA().fit(pca_rows).explained_variance_[k:].sum())
        for _ in range(20):  # no other plane, through whatever point, is nearer
            B = np.linalg.qr(pca.components_.T + 0.1 * rng.normal(size=(5, k)))[0]
            Y = pca_rows - pca.mean_ - 0.1 * rng.normal(size=5)
            assert np.mean(np.sum((Y - Y @ B @ B.T) ** 2, axis=1)) >= least


def test_sequential_pca_is_pca(pca_rows):
    Y, together = pca_rows - pca_rows.mean(axis=0), PCA().fit(pca_rows)
    for n, axis in enumerate(together.components_[:4]):
        first = PCA(1).fit(Y)
        assert_allclose(abs(first.components_[0] @ axis), 1)
        assert_allclose(first.explained_variance_[0], together.explained_variance_[n])
        Y = Y - first.inverse_transform(first.transform(Y))


def test_gaussian_sources_unidentifiable(rng):
    X, turn = rng.normal(size=(20, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    normal = FullGaussian.start(1, 3)
    assert_allclose(normal.log_density(X @ turn), normal.log_density(X))
    laplace = stats.laplace.logpdf(X).sum(axis=1)
    assert abs(stats.laplace.logpdf(X @ turn).sum(axis=1) - laplace).max() > 0.1


# Distances and volumes -------------------------------------------------------------------------


def test_metric_axioms(rng):
    X = rng.normal(size=(12, 3))

    def worst_triangle(metric, **options):
        D = cdist(X, X, metric, **options)
        assert_allclose(np.diag(D), 0, atol=1e-12)
        assert_allclose(D, D.T)
        return (D[:, None, :] - D[:, :, None] - D[None]).max()

    for p in (1, 1.5, 2, 3, np.inf):
        assert worst_triangle("minkowski", p=p) < 1e-12
    assert worst_triangle("minkowski", p=0.5) > 0.1
    assert worst_triangle("sqeuclidean") > 0.1
    assert_allclose(cdist(X, 2 * X, "cosine").diagonal(), 0, atol=1e-12)  # though u is not 2 u


def test_volume_concentration(rng):
    for d in (2, 10, 100):
        point = rng.normal(size=(4000, d))
        radius = rng.random(4000) ** (1 / d)  # even in the ball, whatever the direction
        assert_allclose(norm(point / norm(point, axis=1)[:, None], axis=1), 1)
        assert_allclose(np.mean(radius > 0.95), 1 - 0.95**d, atol=4 * 0.5 / 4000**0.5)


# Probability -----------------------------------------------------------------------------------


def test_jensen(rng):
    for _ in range(20):
        p, q, x = rng.dirichlet(np.ones(5), size=3)
        assert p @ np.log(x) <= np.log(p @ x)
        assert p @ np.log(p) >= p @ np.log(q)
        assert stats.entropy(p, q) >= 0
    assert stats.entropy(p, p) == 0


def test_exponential_family_mean():
    # log-partition, mean of the sufficient statistic
    families = [
        (lambda eta: np.exp(eta), lambda eta: stats.poisson(np.exp(eta)).mean()),
        (
            lambda eta: np.log1p(np.exp(eta)),
            lambda eta: stats.bernoulli(1 / (1 + np.exp(-eta))).mean(),
        ),
        (lambda eta: eta**2 / 2, lambda eta: stats.norm(eta).mean()),
        (lambda eta: -np.log(-eta), lambda eta: stats.expon(scale=-1 / eta).mean()),
    ]
    for log_partition, mean in families:
        for eta in (-2.0, -1.5):
            assert_allclose(gradient(log_partition, eta), mean(eta), rtol=1e-7)


def test_naive_bayes_factorises(rng):
    X = rng.integers(3, size=(40, 2)).astype(float)
    model = MixedNB("categorical").fit(X, rng.integers(2, size=40))
    every = np.array([[a, b] for a in range(3) for b in range(3)], float)
    joint = np.exp(model.predict_joint_log_proba(every))
    assert_allclose(joint.sum(), 1)
    prior, cells = joint.sum(axis=0), joint.reshape(3, 3, 2)
    product = cells.sum(axis=1)[:, None] * cells.sum(axis=0)[None] / prior
    assert_allclose(cells, product, rtol=1e-12)


def test_maxent_dual_is_likelihood(rng):
    """Of any weights; and where it is largest, it is the entropy, with its sign turned."""
    X, y = rng.random((30, 2)), rng.integers(3, size=30)
    features = [lambda x, c: x[0] * (c == 0), lambda x, c: x[1] * (c == 1), lambda x, c: float(c == 2)]
    F = np.array([[[f(x, c) for f in features] for c in range(3)] for x in X])
    for max_iter in (1, 2, 3, 100):
        model = stopped(MaximumEntropy(features, C=np.inf, tol=1e-9, max_iter=max_iter), X, y)
        scores = F @ model.coef_
        dual = model.observed_ @ model.coef_ - np.log(np.exp(scores).sum(axis=1)).mean()
        assert_allclose(dual, -log_loss(y, model.predict_proba(X)))
        assert_allclose(dual, -model.trace_[-1])
    P = model.predict_proba(X)
    assert_allclose(dual, (P * np.log(P)).sum() / 30, rtol=1e-7)


# Mixtures and clusters -------------------------------------------------------------------------

FAMILIES = {
    "full": FullGaussian(np.array([[0.0, 0], [1, 1]]), np.stack([np.eye(2)] * 2)),
    "tied": TiedGaussian(np.array([[0.0, 0], [1, 1]]), np.eye(2)),
    "diagonal": DiagonalGaussian(np.array([[0.0, 0], [1, 1]]), np.ones((2, 2))),
    "spherical": SphericalGaussian(np.array([[0.0, 0], [1, 1]]), np.ones(2)),
    "poisson": Poisson(np.array([[1.0, 2], [3, 1]])),
    "multinomial": Multinomial(np.array([[0.3, 0.7], [0.6, 0.4]])),
    "bernoulli": Bernoulli(np.array([[0.3, 0.7], [0.6, 0.4]])),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_em_never_falls(name, rng):
    family = FAMILIES[name]
    X = rng.poisson(2.0, size=(60, 2)).astype(float)
    if family.support == "real":
        X += rng.normal(size=X.shape)
    if family.support == "binary":
        X = np.minimum(X, 1)
    run = em(Mixture(np.array([0.4, 0.6]), family), suffice.partition(X), tol=-1.0, max_iter=50)
    assert np.all(np.diff(run.trace) >= -1e-10 * abs(run.trace[-1]))
    assert run.trace[-1] > run.trace[0]


@dataclass(frozen=True, eq=False)
class Halfway(Mixture):
    """Its estimate goes half the way: the expected log-likelihood rises, but not to the top."""

    def estimate(self, s):
        best = super().estimate(s)
        mean = (self.component.mean + best.component.mean) / 2
        return self.replace(component=self.component.replace(mean=mean))


@dataclass(frozen=True, eq=False)
class ByTurns(Mixture):
    """Its estimate moves one component at a time."""

    turn: int = 0

    def estimate(self, s):
        best, mean = super().estimate(s), self.component.mean.copy()
        mean[self.turn] = best.component.mean[self.turn]
        component = self.component.replace(mean=mean)
        return self.replace(weight=best.weight, component=component, turn=1 - self.turn)


@pytest.mark.parametrize("kind", [Halfway, ByTurns])
def test_generalized_em_never_falls(kind, rng):
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 3])
    model, data = kind(np.array([0.4, 0.6]), FAMILIES["spherical"]), suffice.partition(X)
    run = em(model, data, tol=-1.0, max_iter=50)
    assert np.all(np.diff(run.trace) >= -1e-10)
    fixed = SphericalGaussian(FAMILIES["spherical"].mean, np.ones(2), fixed="covariance")
    top = em(Mixture(model.weight, fixed), data, tol=-1.0, max_iter=200)
    if kind is ByTurns:
        assert_allclose(run.trace[-1], top.trace[-1], rtol=1e-6)


def test_mixture_identifiability(rng):
    X = rng.normal(size=(10, 2))
    full = FAMILIES["full"].replace(mean=rng.normal(size=(2, 2)))
    there = Mixture(np.array([0.3, 0.7]), full)
    back = Mixture(there.weight[::-1], full.replace(mean=full.mean[::-1]))
    assert_allclose(there.log_density(X), back.log_density(X))  # names mean nothing
    half, coins = np.array([0.5, 0.5]), np.array([[0.0], [1.0]])
    one, other = (Mixture(half, Bernoulli(column(p))) for p in ([0.2, 1.0], [0.5, 0.7]))
    assert_allclose(one.log_density(coins), other.log_density(coins))  # nor do these parameters


def test_kmeans_is_hard_em(rng):
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 2])
    start = X[[0, 1, 2]]
    for n in (1, 2, 3):
        # Round densities so tight that each row belongs to the nearest.
        tight = SphericalGaussian(start, np.full(3, 1e-7), fixed="covariance")
        soft = em(Mixture(np.full(3, 1 / 3), tight), suffice.partition(X), tol=-1.0, max_iter=n)
        hard = stopped(KMeans(3, init=start, n_init=1, max_iter=n, tol=0), X)
        assert_allclose(soft.model.component.mean, hard.cluster_centers_, atol=1e-6)


def test_kmeans_is_average_weight(rng):
    X, labels = rng.normal(size=(20, 3)), rng.integers(3, size=20)
    clusters = [X[labels == k] for k in range(3)]
    scatter = sum(KMeans(1, n_init=1).fit(C).inertia_ for C in clusters)
    assert_allclose(scatter, np.sum(X**2) - sum(np.sum(C @ C.T) / len(C) for C in clusters))
