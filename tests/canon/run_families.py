"""Densities by maximum likelihood, and conjugate priors."""

import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.special import betaln, gammaln
from sklearn.preprocessing import OneHotEncoder

from suffice.families import (
    Bernoulli,
    Beta,
    DiagonalGaussian,
    Dirichlet,
    FullGaussian,
    InverseWishart,
    Multinomial,
    NormalPrior,
)

from ._canon import example, given
from ._numeric import column


def maximum_likelihood(family, X, weight=None):
    """One density of the family, from weighted rows."""
    R = np.ones((len(X), 1)) if weight is None else column(weight)
    return family.estimate(family.summarize(np.array(X, float), R))


# Densities -------------------------------------------------------------------------------------


@example("cs181/gaussian-density-values")
def _(given):
    normal = DiagonalGaussian(np.array([[given["mu"]]]), np.array([[given["sigma"] ** 2]]))
    return np.exp(normal.log_density(column(given["x"]))).ravel()


@example("stats601-and-slides/mvn-density-at-mean")
def _(given):
    covariance = {
        "I": np.eye(2),
        "0.6I": 0.6 * np.eye(2),
        "2I": 2 * np.eye(2),
        "rho0.5": [[1, 0.5], [0.5, 1]],
        "rho0.8": [[1, 0.8], [0.8, 1]],
    }
    normal = FullGaussian(np.zeros((5, given["n"])), np.array(list(covariance.values())))
    density = np.exp(normal.log_density(np.zeros((1, given["n"]))))[0]
    return dict(zip(covariance, density, strict=True))


@example("stats601-and-slides/weighted-gaussian-mle")
def _(given):
    normal = maximum_likelihood(FullGaussian.start(1, 2), given["x"], given["weights"])
    return {"mean": normal.mean[0], "covariance": normal.covariance[0]}


@example("stats601-and-slides/multinomial-mle")
def _(given):
    c = given["c"]
    return {"pi": maximum_likelihood(Multinomial.start(1, len(c)), [c]).probability[0]}


@example("cs181/dice-counts")
def _(given):
    rolls = OneHotEncoder(sparse_output=False).fit_transform(column(given["rolls"]))
    return Multinomial.start(1, 6).summarize(rolls, np.ones((len(rolls), 1))).total[0]


@example("cs181/multinomial-pmf")
def _(given):
    return np.exp(Multinomial(np.array(given["pi"])).log_density(np.array([given["x"]], float)))[0]


# Conjugate priors ------------------------------------------------------------------------------


@example("li-supervised/li-ex-1.1")
def _(given):
    n, k = given["n"], given["k"]
    tosses = column([1] * k + [0] * (n - k))
    posterior = Beta(*given["prior_beta"]).posterior(k, n - k)
    return {
        "mle": maximum_likelihood(Bernoulli.start(1, 1), tosses).probability.item(),
        "posterior_beta": [posterior.a, posterior.b],
        "posterior_mean": posterior.mean,
        "posterior_mode": posterior.mode,
    }


@example("li-unsupervised/li-20.f1")
def _(given):
    def row(alpha):
        law = stats.dirichlet(alpha)
        return {
            "alpha": alpha,
            "mean": law.mean(),
            "variance": law.var(),
            "log_B": gammaln(alpha).sum() - gammaln(np.sum(alpha)),
            "log_pdf": law.logpdf(given["theta"]),
            "E_log": Dirichlet(np.array(alpha)).expected_log,
        }

    return {"table": [row(alpha) for alpha in given["alphas"]], "beta_3_4": np.exp(betaln(3, 4))}


@example("li-unsupervised/li-20.conj")
def _(given):
    alpha, counts = given["alpha"], given["counts"]
    posterior = Dirichlet(np.array(alpha)).posterior(counts)
    in_any_order = stats.dirichlet_multinomial(alpha, sum(counts)).logpmf(counts)
    orders = stats.multinomial(sum(counts), np.ones(3) / 3).logpmf(counts) + sum(counts) * np.log(3)
    return {
        "posterior_alpha": posterior.alpha,
        "posterior_mean": posterior.mean,
        "log_evidence_ordered": in_any_order - orders,
    }


@example("stats601-and-slides/dirichlet-posterior")
def _(given):
    prior = Dirichlet(np.array(given["alpha"]))
    posterior = prior.posterior(given["counts"])
    return {
        "posterior": posterior.alpha,
        "posterior_mean": posterior.mean,
        "prior_mean": prior.mean,
        "density_exponents": posterior.alpha - 1,
    }


@example("stats601-and-slides/normal-mean-posterior")
def _(given):
    X, Sigma, mu0, Sigma0 = (np.array(given[k]) for k in ("X", "Sigma", "mu0", "Sigma0"))
    posterior = NormalPrior(mu0, Sigma0).posterior(X, covariance=Sigma)
    return {"cov": posterior.covariance, "mean": posterior.mean}


@example("stats601-and-slides/inverse-wishart-posterior")
def _(given):
    X, mu, Psi = (np.array(given[k]) for k in ("X", "mu", "Psi"))
    posterior = InverseWishart(Psi, given["v"]).posterior(X, mean=mu)
    return {
        "scale": posterior.scale,
        "df": posterior.degrees_of_freedom,
        "posterior_mean": posterior.mean,
    }


def posterior_of_mean(given):
    prior = NormalPrior(np.array([given["mu0"]]), np.array([[given["sigma02"]]]))
    return prior.posterior(np.full((given["n"], 1), given["xbar"]), np.array([[given["sigma2"]]]))


@example("stats601-and-slides/bayes-normal-mean-predictive")
def _(given):
    posterior = posterior_of_mean(given)
    return {
        "mu_n": posterior.mean.item(),
        "sigma2_n": posterior.covariance.item(),
        "predictive_variance": posterior.predictive(given["sigma2"])[1].item(),
    }


@example("stats601-and-slides/bayes-predictive-quadrature")
def _(case):
    case = given(f"stats601-and-slides/{case['reference']}")
    posterior = posterior_of_mean(case)
    mean, variance = (value.item() for value in posterior.predictive(case["sigma2"]))
    belief = stats.norm(posterior.mean.item(), posterior.covariance.item() ** 0.5)

    def integrated(x):
        return quad(lambda m: stats.norm.pdf(x, m, case["sigma2"] ** 0.5) * belief.pdf(m), -9, 9)[0]

    return all(
        np.isclose(integrated(x), stats.norm.pdf(x, mean, variance**0.5), atol=1e-6)
        for x in (-1.0, 0.5, 2.0, 4.0)
    )
