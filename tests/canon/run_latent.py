"""Latent variables: the bound, variational and Monte Carlo EM, divergences, Bayesian mixtures."""

import numpy as np
from scipy import stats
from scipy.special import expit, logsumexp

import suffice
from suffice.core.blocks import Rows
from suffice.families import (
    Bernoulli,
    DiagonalGaussian,
    Dirichlet,
    FullGaussian,
    GaussianPrior,
    GibbsMixture,
    Mixture,
    Multinomial,
    SphericalGaussian,
    VariationalMixture,
)
from suffice.fitting import (
    BoundStatistics,
    em,
    evidence_lower_bound,
    monte_carlo_em,
    q_function,
    variational_em,
)
from suffice.information import (
    entropy,
    f_divergence,
    kl_divergence,
    relative_density_ratio,
    relative_pearson,
)
from suffice.mixture import BayesianGaussianMixture, GaussianMixture, LatentClass, MixedMixture
from suffice.statistics import Moments, Totals, moments

from ._canon import example, given
from ._numeric import stopped

# The bound -------------------------------------------------------------------------------------


@example("cs181/elbo-decomposition")
def _(given_here):
    start, q = given("cs181/multinomial-mixture-em-step"), np.array(given_here["q"])
    model = Mixture(np.array(start["theta"]), Multinomial(np.array(start["pi"])))
    X = np.array(start["X"], float)
    posterior = model.predict_proba(X)
    return {
        "elbo": evidence_lower_bound(model, X, q),
        "expected_complete_loglik": q_function(model, X, q),
        "entropy_of_q": sum(entropy(row) for row in q),
        "loglik": model.log_density(X).sum(),
        "sum_kl": sum(kl_divergence(*pair) for pair in zip(q, posterior, strict=True)),
        "elbo_at_posterior": evidence_lower_bound(model, X, model),
    }


@example("stats601-and-slides/elbo-plus-kl")
def _(given):
    pi, a, b = given["theta"]
    model = Mixture(np.array([1 - pi, pi]), Bernoulli(np.array([[a], [b]])))
    y, q = np.array([[given["y"]]], float), np.array([given["q"]])
    return {
        "elbo": evidence_lower_bound(model, y, q),
        "kl": kl_divergence(q[0], model.predict_proba(y)[0]),
        "loglik": model.log_density(y)[0],
    }


# Divergences -----------------------------------------------------------------------------------


@example("cs181/kl-values")
def _(given):
    P, Q = given["P"], given["Q"]
    return {"P||Q": kl_divergence(P, Q), "Q||P": kl_divergence(Q, P), "P||P": kl_divergence(P, P)}


@example("li-unsupervised/li-E.1")
def _(given):
    Q, P = given["Q"], given["P"]
    return {"D_QP": kl_divergence(Q, P), "D_PQ": kl_divergence(P, Q)}


@example("stats601-and-slides/kl-basic")
def _(given):
    q, p = given["q"], given["p"]
    assert kl_divergence([0.0, 1.0], [0.5, 0.5]) == np.log(2.0)
    assert kl_divergence([0.5, 0.5], [0.0, 1.0]) == np.inf
    return {"KL(q,p)": kl_divergence(q, p), "KL(p,q)": kl_divergence(p, q), "KL(p,p)": kl_divergence(p, p)}


@example("cs181/kl-nonnegative")
def _(_given):
    rng = np.random.default_rng(0)
    pairs = [rng.dirichlet(np.ones(4), size=2) for _ in range(200)]
    return all(kl_divergence(p, q) > 0 and abs(kl_divergence(p, p)) < 1e-12 for p, q in pairs)


@example("stats601-and-slides/divergences-small")
def _(given):
    p, q, beta = given["p"], given["p_prime"], given["beta"]
    assert np.isclose(f_divergence(p, q, lambda t: t * np.log(t)), f_divergence(p, q, "kl"))
    ratio = relative_density_ratio(p, q, beta)
    assert ratio.max() <= 1 / beta
    return {
        "KL": f_divergence(p, q, "kl"),
        "PE": f_divergence(p, q, "pearson"),
        "PE_via_chi2_identity_sum_p2_over_q_minus_1": f_divergence(p, q, lambda t: t**2 - 1),
        "rPE_beta_0.5": relative_pearson(p, q, 0.5),
        "rPE_beta_0": relative_pearson(p, q, 0.0),
        "relative_ratio": ratio,
        "bound_1_over_beta": 1 / beta,
        "rPE_reversed_beta_0.5": relative_pearson(q, p, 0.5),
        "rPE_beta_0.2": relative_pearson(p, q, 0.2),
        "rPE_reversed_beta_0.2": relative_pearson(q, p, 0.2),
    }


@example("stats601-and-slides/kl-gaussian-invariance")
def _(_given):
    def normal(mean, variance):
        return DiagonalGaussian(np.array([[mean]]), np.array([[variance]]))

    return {
        "KL": kl_divergence(normal(0.0, 1.0), normal(1.0, 4.0))[0],
        "KL_after_x_to_3x_minus_2": kl_divergence(normal(-2.0, 9.0), normal(1.0, 36.0))[0],
    }


@example("stats601-and-slides/kl-minimisation-is-mle")
def _(_given):
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 20, size=5)
    empirical = counts / counts.sum()
    family = Multinomial.start(1, 5)
    found = family.estimate(Totals(np.array([[1.0]]), counts[None].astype(float))).probability[0]
    others = rng.dirichlet(np.ones(5), size=200)
    best = kl_divergence(empirical, found)
    mean = counts @ np.log(found) / counts.sum()
    return bool(
        np.allclose(found, empirical, atol=1e-9)
        and abs(best - (-entropy(empirical) - mean)) < 1e-9
        and all(kl_divergence(empirical, other) > best for other in others)
    )


# Factor analysis with one factor, as a model with a latent number ------------------------------


class Factor:
    """x = L z + e, z ~ N(0, 1), e ~ N(0, diag(psi))."""

    def __init__(self, L, psi):
        self.L, self.psi = L, psi

    @property
    def posterior(self):
        """Weights of x in the mean of z, and its variance."""
        variance = 1 / (1 + (self.L**2 / self.psi).sum())
        return variance * self.L / self.psi, variance

    def log_joint_of(self, X, z):
        E = X - np.outer(z, self.L)
        return -0.5 * (
            z**2 + (E**2 / self.psi + np.log(2 * np.pi * self.psi)).sum(axis=1) + np.log(2 * np.pi)
        )

    def log_likelihood(self, X):
        C = np.outer(self.L, self.L) + np.diag(self.psi)
        return stats.multivariate_normal(np.zeros(len(C)), C).logpdf(X).sum()

    def draw(self, X, rng):
        W, variance = self.posterior
        return X @ W + np.sqrt(variance) * rng.standard_normal(len(X))

    def complete(self, block, z):
        return _second_moments(block, z, 0.0)

    def estimate(self, s):
        S = (s.scatter + s.weight * np.outer(s.mean, s.mean)) / s.weight
        L = S[:-1, -1] / S[-1, -1]
        return Factor(L, np.diag(S)[:-1] - L * S[:-1, -1])


def _second_moments(block, z, variance):
    s = moments(np.column_stack([block.X, z]), block.weight)
    scatter = s.scatter.copy()
    scatter[-1, -1] += s.weight * variance
    return Moments(s.weight, s.mean, scatter)


def gaussian_q(widen):
    """The E step with q(z) = N(m, widen * variance), where widen = 1 is the posterior."""

    def e_step(model, block):
        W, variance = model.posterior
        m, v = block.X @ W, widen * variance
        # E[log p(x, z)] is quadratic in z: the variance of q enters through its second derivative.
        expected = model.log_joint_of(block.X, m) - 0.5 * v / variance
        entropies = 0.5 * (1 + np.log(2 * np.pi * v))
        bound = block.weight @ (expected + entropies)
        return BoundStatistics(float(bound), float(block.weight.sum()), _second_moments(block, m, v))

    return e_step


def factor_rows():
    rng = np.random.default_rng(0)
    L, psi = np.array([1.0, -0.5, 2.0]), np.array([0.5, 1.0, 0.8])
    X = np.outer(rng.standard_normal(400), L) + rng.standard_normal((400, 3)) * np.sqrt(psi)
    return X, Factor(np.ones(3), np.ones(3))


@example("stats601-and-slides/variational-gaussian-bound")
def _(_given):
    X, start = factor_rows()
    data = suffice.partition(X)
    exact = variational_em(start, data, gaussian_q(1.0), max_iter=30, tol=0.0)
    narrow = variational_em(start, data, gaussian_q(0.5), max_iter=30, tol=0.0)
    model, equal = start, True
    for bound in exact.trace:
        equal &= abs(bound - model.log_likelihood(X)) < 1e-6
        s = gaussian_q(1.0)(model, Rows(X, None, np.ones(len(X))))
        model = model.estimate(s.statistics)
    return bool(equal and narrow.trace[-1] < narrow.model.log_likelihood(X) - 1.0)


@example("stats601-and-slides/mc-em-consistency")
def _(_given):
    X, start = factor_rows()
    data = suffice.partition(X)
    block = Rows(X, None, np.ones(len(X)))
    W, variance = start.posterior
    exact = (start.log_joint_of(X, X @ W) - 0.5).sum()  # the posterior variance over itself
    errors = []
    for draws in (20, 320):
        s = monte_carlo_em(start, data, n_draws=draws, max_iter=1).statistics
        errors.append(s.q.std(ddof=1) / np.sqrt(draws))
        assert abs(s.q.mean() - exact) < 4 * errors[-1]
    by_em = start
    for _ in range(30):
        by_em = by_em.estimate(_second_moments(block, X @ by_em.posterior[0], by_em.posterior[1]))
    drawn = monte_carlo_em(start, data, n_draws=20, max_iter=30).model
    near = abs(drawn.log_likelihood(X) - by_em.log_likelihood(X)) < 2.0
    return bool(near and 2.0 < errors[0] / errors[1] < 8.0 and variance > 0)


# Binary items with a latent number on the nodes of a quadrature -------------------------------

NODES = np.linspace(-4, 4, 25)
LOG_PRIOR = stats.norm.logpdf(NODES) - logsumexp(stats.norm.logpdf(NODES))


class BinaryFactor:
    """P(y_j = 1) = expit(a_j + b_j t), with t one of the nodes."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def table(self):
        return self.a + np.outer(NODES, self.b)  # (nodes, items)

    def log_joint_of(self, X, z):
        eta = self.table[z]
        return LOG_PRIOR[z] + (X * eta - np.logaddexp(0, eta)).sum(axis=1)

    def posterior(self, X):
        eta = self.table
        log_p = LOG_PRIOR + X @ eta.T - np.logaddexp(0, eta).sum(axis=1)
        return np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True))

    def first(self, X):
        return np.full(len(X), len(NODES) // 2)

    def propose(self, z, rng):
        step = rng.integers(1, 7, size=len(z)) * rng.choice([-1, 1], size=len(z))
        return (z + step) % len(NODES)

    def complete(self, block, z):
        R = np.eye(len(NODES))[z]
        return Totals(R.sum(axis=0)[:, None], R.T @ block.X)

    def estimate(self, s):
        a, b = self.a.copy(), self.b.copy()
        for _ in range(20):  # Newton's method for the logistic regression of each item on the nodes
            eta = a + np.outer(NODES, b)
            p, n = expit(eta), s.weight
            g = np.stack([(s.total - n * p).sum(axis=0), NODES @ (s.total - n * p)])
            w = n * p * (1 - p)
            h = np.array([[w.sum(axis=0), NODES @ w], [NODES @ w, NODES**2 @ w]])
            det = h[0, 0] * h[1, 1] - h[0, 1] ** 2
            a += (h[1, 1] * g[0] - h[0, 1] * g[1]) / det
            b += (h[0, 0] * g[1] - h[0, 1] * g[0]) / det
        return BinaryFactor(a, b)


@example("stats601-and-slides/mcmc-em-quadrature-agreement")
def _(_given):
    rng = np.random.default_rng(0)
    truth = BinaryFactor(np.array([0.5, -0.5, 0.0, 1.0]), np.array([1.0, 1.5, 0.8, 1.2]))
    z = rng.choice(len(NODES), size=500, p=np.exp(LOG_PRIOR))
    X = (rng.random((500, 4)) < expit(truth.table[z])).astype(float)
    start = BinaryFactor(np.zeros(4), np.ones(4))
    exact = start
    for _ in range(40):
        R = exact.posterior(X)
        exact = exact.estimate(Totals(R.sum(axis=0)[:, None], R.T @ X))
    found = []
    for seed in range(5):
        model = monte_carlo_em(
            start, suffice.partition(X), n_draws=8, max_iter=40, sampler="mcmc", n_steps=25, seed=seed
        ).model
        found.append(np.concatenate([model.a, model.b]))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(5)
    off = np.abs(np.mean(found, axis=0) - np.concatenate([exact.a, exact.b]))
    assert error.max() < 0.2
    return bool((off < 4 * error + 1e-3).all())


# Bayesian mixtures ------------------------------------------------------------------------------


def known_spread(points):
    """Two Gaussians with unit covariance, whose means are ~ N(0, I)."""
    prior = GaussianPrior(mean=0.0, mean_precision=1.0)
    family = SphericalGaussian(np.zeros((2, 2)), np.ones(2), prior=prior, fixed="covariance")
    return family, family.summarize(np.empty((0, 2)), np.empty((0, 2)))


def log_evidence(weights, family, X):
    """The log joint density of the rows and each division of them, (16,), and the divisions."""
    labels = np.array(np.meshgrid(*[[0, 1]] * len(X))).reshape(len(X), -1).T
    nothing = family.posterior(family.summarize(X[:0], np.empty((0, 2))))
    terms = []
    for z in labels:
        R = np.eye(2)[z]
        q = family.posterior(family.summarize(X, R))
        terms.append(weights.log_evidence(R.sum(axis=0)) + q.log_evidence(nothing).sum())
    return np.array(terms), labels


@example("gong-xu/gx-p6.4")
def _(given):
    X = np.array(given["points"], float)
    family, nothing = known_spread(X)
    weights = Dirichlet(np.array([0.5, 0.5]))
    rng, rows = np.random.default_rng(0), Rows(X, None, np.ones(4))
    model = GibbsMixture(weights, Mixture(weights.sample(rng), family.posterior(nothing).sample(rng)), 1)
    same, all_same, pairs = np.zeros((4, 4)), 0.0, 0.0
    sweeps = 6_000
    for _ in range(sweeps):
        P = model.mixture.predict_proba(X)
        same += P @ P.T
        all_same += P.prod(axis=0).sum()
        pairs += P[0, 0] * P[1, 0] * P[2, 1] * P[3, 1] + P[0, 1] * P[1, 1] * P[2, 0] * P[3, 0]
        model = model.estimate(model.summarize(rows))
    terms, _ = log_evidence(weights, family, X)
    same /= sweeps
    return {
        "P_same": {f"{i + 1}-{j + 1}": same[i, j] for i in range(4) for j in range(i + 1, 4)},
        "log_evidence": logsumexp(terms),
        "P_all_same": all_same / sweeps,
        "P_12|34": pairs / sweeps,
    }


@example("gong-xu/gx-p8.9")
def _(given_here):
    X = np.array(given_here["points"], float)
    family, nothing = known_spread(X)
    weights = Dirichlet(np.array(given_here["alpha"], float))
    first = given("gong-xu/gx-p7.5")
    R = Mixture(
        np.array(first["start_pi"]), family.replace(mean=np.array(first["start_mu"], float))
    ).predict_proba(X)
    model = VariationalMixture.start(weights, family, nothing)
    model = model.estimate(model.summarize_as(R, Rows(X, None, np.ones(4))))
    found = em(model, suffice.partition(X), tol=0.0, max_iter=2000)
    q = found.model
    return {
        "mu_mean": q.component.mean,
        "mu_var": 1 / q.component.mean_precision[:, 0],
        "dirichlet": q.weight.alpha,
        "elbo": found.trace[-1],
        "exact_log_evidence": logsumexp(log_evidence(weights, family, X)[0]),
    }


@example("stats601-and-slides/bayesian-gmm-gibbs-conditionals")
def _(_given):
    """Each conditional, evaluated at several values of its block, is the joint density up to a constant."""
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(7, 2)), np.array([0, 0, 0, 1, 1, 1, 1])
    prior = GaussianPrior(np.array([0.3, -0.2]), 0.7, np.array([[1.5, 0.2], [0.2, 1.0]]), 5.0)
    alpha = Dirichlet(np.array([0.6, 1.4]))
    family = FullGaussian.start(2, 2, prior=prior)
    R = np.eye(2)[z]
    q, weight = family.posterior(family.summarize(X, R)), alpha.posterior(R.sum(axis=0))

    def of_parameters(mean, C, m, kappa, df, scale):
        return sum(
            stats.multivariate_normal(m[k], C[k] / kappa[k]).logpdf(mean[k])
            + stats.invwishart(df[k], scale[k]).logpdf(C[k])
            for k in range(2)
        )

    differences = []
    for _ in range(6):
        pi = alpha.sample(rng)
        drawn = family.posterior(family.summarize(X[:0], R[:0])).sample(rng)
        joint = (
            Mixture(pi, drawn).log_joint(X)[np.arange(7), z].sum()
            + alpha.log_density(pi)
            + of_parameters(
                drawn.mean, drawn.covariance, [prior.mean] * 2, [0.7] * 2, [5.0] * 2, [prior.scale] * 2
            )
        )
        conditional = weight.log_density(pi) + of_parameters(
            drawn.mean, drawn.covariance, q.mean, q.mean_precision, q.degrees_of_freedom, q.scale
        )
        differences.append(joint - conditional)
    return bool(np.ptp(differences) < 1e-8)


@example("stats601-and-slides/sparse-dirichlet-empties")
def _(_given):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(8, 1, (60, 2))])
    model = stopped(
        BayesianGaussianMixture(
            n_components=6,
            weight_concentration_prior_type="dirichlet_distribution",
            weight_concentration_prior=0.01,
            solver="gibbs",
            max_iter=120,
            random_state=0,
        ),
        X,
    )
    return bool(np.bincount(model.n_occupied_).argmax() == 2)


@example("stats601-and-slides/mixture-mixed-type-reduces")
def _(_given):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=200)
    numbers = rng.normal(4.0 * group[:, None], 1.0, size=(200, 2))
    codes = (rng.random((200, 5)) < 0.2 + 0.6 * group[:, None]).astype(float) + 1.0
    mixed = MixedMixture(2, kinds="gaussian", random_state=0, tol=1e-10, max_iter=500).fit(numbers)
    diagonal = GaussianMixture(2, covariance_type="diag", random_state=0, tol=1e-10, max_iter=500).fit(
        numbers
    )
    same = np.allclose(np.sort(mixed.weights_), np.sort(diagonal.weights_), atol=1e-6)
    latent = LatentClass(2, random_state=0, tol=1e-9, max_iter=3000).fit(codes)
    categories = MixedMixture(2, kinds="categorical", random_state=0, tol=1e-9, max_iter=3000).fit(codes)
    same &= abs(latent.score(codes) - categories.score(codes)) < 1e-6
    both = MixedMixture(2, kinds=["gaussian"] * 2 + ["categorical"] * 5, random_state=0).fit(
        np.hstack([numbers, codes])
    )
    product = both.model_.component
    parts = sum(part.log_density(x) for part, x in product.each(np.hstack([numbers, codes])))
    same &= np.allclose(product.log_density(np.hstack([numbers, codes])), parts, atol=1e-8)
    return bool(same)
