"""Bounds of risks, points that are shattered, and where errors come from."""

from itertools import product

import numpy as np
from scipy.stats import binom
from sklearn.pipeline import make_pipeline

from suffice.linear_model import LinearRegression
from suffice.model_selection import bias_variance_decomposition, replicate_predictions
from suffice.preprocessing import BasisFunctions
from suffice.textbook import (
    finite_class_bound,
    finite_class_sample_size,
    hoeffding_bound,
    is_shattered,
    vc_confidence,
)

from ._canon import example


@example("li-supervised/li-1-bound")
def _(given):
    risk = given["empirical_risk"]
    bound = finite_class_bound(given["d"], given["N"], delta=given["delta"], empirical_risk=risk)
    return {
        "epsilon": bound - risk,
        "bound": bound,
        "hoeffding_tail": hoeffding_bound(given["eps_for_hoeffding"], given["N"]),
    }


@example("stats601-and-slides/hoeffding-and-sample-size")
def _(_given):
    gamma = finite_class_bound(100, 1000, delta=0.05, two_sided=True)
    return {
        "hoeffding_gamma.1_m100": hoeffding_bound(0.1, 100, two_sided=True),
        "m_for_k1000_gamma.1_delta.05": finite_class_sample_size(1000, 0.1, delta=0.05, two_sided=True),
        "gamma_for_m1000_k100_delta.05": gamma,
        "excess_bound_2gamma": 2 * gamma,
        "uniform_failure_bound_k10_gamma.1_m500": hoeffding_bound(0.1, 500, n_hypotheses=10, two_sided=True),
    }


@example("stats601-and-slides/hoeffding-exact-check")
def _(given):
    m, p, off = given["m"], given["phi"], given["gamma"]
    count = np.arange(m + 1)
    beyond = abs(count - m * p) > m * off * (1 + 1e-12)
    exact = binom.pmf(count, m, p)[beyond].sum()
    bound = hoeffding_bound(off, m, two_sided=True)
    assert exact <= bound
    return {"exact_tail": exact, "bound": bound}


@example("gong-xu/gx-10.vc")
def _(given):
    return {"value": [vc_confidence(V, n, delta=delta) for V, n, delta in given["V_n_delta"]]}


def vc_dimension(n_features):
    """The most points in general position that hyperplanes shatter: of one more, none are."""
    rng = np.random.default_rng(0)
    return max(n for n in range(1, n_features + 4) if is_shattered(rng.normal(size=(n, n_features))))


@example("stats601-and-slides/vc-dimension-halfplanes")
def _(given):
    return {
        "three_points_shattered": is_shattered(given["three"]),
        "four_points_shattered": is_shattered(given["four"]),
        "collinear_three_shattered": is_shattered(given["collinear"]),
        "vc_lines_in_plane": vc_dimension(2),
        "vc_hyperplanes_in_R_n": all(vc_dimension(n) == n + 1 for n in (1, 3, 4, 7)),
    }


# Bias and variance -----------------------------------------------------------------------------


@example("cs181/bias-variance-enumerated")
def _(_given):
    sets = list(product((1.0, 3.0), repeat=2))
    fits = 0.8 * np.mean(sets, axis=1)
    found = bias_variance_decomposition(fits, 2.0, noise=1.0)
    error = np.mean([(y - f) ** 2 for f in fits for y in (1.0, 3.0)])
    assert np.isclose(found.mse, error)
    return {
        "noise": found.noise,
        "bias_squared": found.bias_squared,
        "variance": found.variance,
        "mse": error,
    }


@example("cs181/bias-variance-identity")
def _(_given):
    rng = np.random.default_rng(0)
    targets, chance = rng.normal(size=(5, 3)), rng.dirichlet(np.ones(5))
    fits, weight = rng.normal(size=(7, 3)), rng.dirichlet(np.ones(7))
    truth = chance @ targets
    found = bias_variance_decomposition(fits, truth, noise=chance @ (targets - truth) ** 2, weight=weight)
    error = np.einsum("f,t,ftx->x", weight, chance, (targets[None] - fits[:, None]) ** 2)
    return bool(np.abs(found.mse - error).max() <= 1e-12)


@example("cs181/estimator-bias-definition")
def _(given):
    found = bias_variance_decomposition(given["estimates"], given["truth"])
    return {"bias": found.bias, "variance": found.variance}


@example("stats601-and-slides/bias-variance-polynomials")
def _(_given):
    x, noise, n = np.linspace(-1, 1, 12)[:, None], 0.3, 120
    truth = np.sin(2.5 * x[:, 0]) + x[:, 0] ** 2
    parts = {}
    for degree in (1, 5):
        curve = make_pipeline(BasisFunctions(degree=degree), LinearRegression())
        fits = replicate_predictions(
            curve, lambda rng: (x, truth + rng.normal(scale=noise, size=len(x))), x, n_replicates=n
        )
        found = bias_variance_decomposition(fits, truth, noise=noise**2)
        fresh = truth + np.random.default_rng(1).normal(scale=noise, size=(n, len(x)))
        errors = ((fresh - fits) ** 2).mean(axis=1)
        if abs(errors.mean() - found.mean()["mse"]) > 4 * errors.std() / np.sqrt(n):
            return False
        parts[degree] = found.mean()
    return (
        parts[1]["bias_squared"] > 3 * parts[1]["variance"]
        and parts[5]["variance"] > 3 * parts[5]["bias_squared"]
    )
