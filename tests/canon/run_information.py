"""Ratios of densities and their divergences."""

import numpy as np

from suffice.information import RelativeDensityRatio, relative_density_ratio, relative_pearson
from suffice.kernels import RBF

from ._canon import example


@example("stats601-and-slides/relative-ratio-bound")
def _(given):
    p, q, beta = given["p"], given["p_prime"], given["beta"]
    ratio = relative_density_ratio(p, q, beta)
    assert ratio.max() < 1.0 / beta
    assert np.isclose(relative_density_ratio([1.0], [0.0], beta)[0], 1.0 / beta)
    return {"bound": 1.0 / beta, "plain_ratio": relative_density_ratio(p, q), "ratio_beta_0.2": ratio}


@example("stats601-and-slides/relative-pearson-small")
def _(given):
    return {
        f"beta_{beta:g}": relative_pearson(given["p"], given["p_prime"], beta)
        for beta in (0.0, 0.2, 0.5, 0.9)
    }


@example("stats601-and-slides/pearson-small")
def _(given):
    p, q = given["p"], given["q"]
    return {"PE(p,q)": relative_pearson(p, q), "PE(q,p)": relative_pearson(q, p)}


@example("stats601-and-slides/relative-density-ratio-estimator")
def _(given):
    rng, beta = np.random.default_rng(0), given["beta"]
    p, q = rng.normal(size=2000), rng.normal(0.5, size=2000)
    X, sample = np.append(p, q)[:, None], np.repeat([1, 0], 2000)
    model = RelativeDensityRatio(beta, random_state=0).fit(X, sample)
    phi, other = (RBF(model.gamma_)(part[:, None], model.X_fit_) for part in (p, q))
    H = beta * phi.T @ phi / 2000 + (1 - beta) * other.T @ other / 2000
    theta = np.linalg.solve(H + model.penalty_ * np.eye(len(H)), phi.mean(axis=0))
    at_p, at_q = phi @ theta, other @ theta
    value = 2 * at_p.mean() - beta * np.mean(at_p**2) - (1 - beta) * np.mean(at_q**2) - 1
    return {
        "closed_form": np.allclose(model.dual_coef_, theta),
        "plug_in": np.isclose(model.divergence_, value),
        "population_rPE": model.divergence_,
    }
