"""Factor analysis, probabilistic PCA, rotations, scores and the number of factors."""

import numpy as np
from scipy.linalg import subspace_angles

import suffice
from suffice.decomposition import (
    FactorAnalysis,
    ProbabilisticPCA,
    factor_number_test,
    identify_loadings,
    parallel_analysis,
    rotate_loadings,
)
from suffice.decomposition.factor_analysis import degrees_of_freedom
from suffice.families import FactorGaussian, Mixture
from suffice.fitting import em
from suffice.statistics import Moments

from ._canon import EXAMPLES, UpToSign, compare, example, given

MISPRINT = "what the text prints would give: it is wrong"


def simulated(n=300, seed=0):
    rng = np.random.default_rng(seed)
    L = np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]])
    return rng.normal(size=(n, 2)) @ L + rng.normal(size=(n, 6)) * np.linspace(0.5, 1.0, 6)


def family(L, psi, mean=None, **options):
    """A model with these parameters."""
    L, psi = np.array(L, float), np.array(psi, float)
    mean = np.zeros(len(psi)) if mean is None else mean
    return FactorGaussian(mean[None], L[None], psi[None], **options)


def fitted(L, psi):
    """An estimator that answers with these parameters."""
    L = np.array(L, float)
    model = FactorAnalysis(L.shape[1])
    model.n_features_in_ = len(L)
    model.model_ = Mixture(np.ones(1), family(L, psi))
    model.mean_, model.components_ = np.zeros(len(L)), L.T
    model.factor_covariance_, model.noise_variance_ = np.eye(L.shape[1]), np.array(psi)
    return model


# Probabilistic PCA -----------------------------------------------------------------------------


@example("stats601-and-slides/ppca-mle-closed-form", loglik_with_printed_Lambda_no_sqrt=MISPRINT)
def _(given):
    Y = np.array(given["Y"])
    model, S = ProbabilisticPCA(given["p"]).fit(Y), np.cov(Y.T, bias=True)
    wider = family(model.components_.T, np.full(3, model.noise_variance_), model.mean_)
    unbiased = np.sqrt(len(Y) / (len(Y) - 1.0))
    wider = wider.replace(loadings=wider.loadings * unbiased, noise=wider.noise * unbiased**2)
    return {
        "eigenvalues_of_S_with_divisor_N": np.linalg.eigvalsh(S)[::-1],
        "sigma2": model.noise_variance_,
        "Lambda_up_to_sign": UpToSign(model.components_[0]),
        "loglik": model.loglike_[-1],
        "loglik_if_divisor_N_minus_1": wider.log_density(Y).sum(),
    }


@example("stats601-and-slides/ppca-implied-covariance")
def _(given):
    model = ProbabilisticPCA(given["p"]).fit(np.array(given["Y"]))
    values = np.linalg.eigvalsh(model.get_covariance())[::-1]
    return {"eigenvalues_of_LambdaLambdaT_plus_sigma2I": values}


@example("stats601-and-slides/ppca-em-reaches-closed-form")
def _(_given):
    Y = simulated()
    closed = ProbabilisticPCA(2).fit(Y)
    by_em = ProbabilisticPCA(2, solver="em", tol=1e-9).fit(Y)
    same = np.allclose(by_em.get_covariance(), closed.get_covariance(), atol=1e-5)
    return bool(same and (np.diff(by_em.trace_) >= -1e-12).all())


def is_optimal(model, Y, alpha):
    """Whether the subgradient of the penalized log-likelihood has a zero."""
    P, L, S = model.get_precision(), model.components_.T, np.cov(Y.T, bias=True)
    gradient = len(Y) * (P @ S @ P - P) @ L
    on = np.allclose(gradient[L != 0], alpha * np.sign(L[L != 0]), atol=1e-3)
    return on and (np.abs(gradient[L == 0]) <= alpha + 1e-3).all()


@example("stats601-and-slides/sparse-ppca-kkt")
def _(_given):
    Y = simulated()
    model = ProbabilisticPCA(2, alpha=15.0, solver="proximal", tol=1e-10, max_iter=20_000).fit(Y)
    none = ProbabilisticPCA(2, alpha=0.0, solver="proximal", tol=1e-9, max_iter=20_000).fit(Y)
    closed = ProbabilisticPCA(2).fit(Y)
    assert (model.components_ == 0).any()
    return bool(
        is_optimal(model, Y, 15.0) and np.allclose(none.get_covariance(), closed.get_covariance(), atol=1e-4)
    )


@example("stats601-and-slides/sparse-ppca-em-agrees")
def _(_given):
    held = []
    for seed in range(3):
        Y = simulated(seed=seed)
        model = ProbabilisticPCA(2, alpha=15.0, solver="em", tol=1e-10, max_iter=20_000).fit(Y)
        held += [is_optimal(model, Y, 15.0), (np.diff(model.trace_) >= -1e-12).all()]
    return all(held)


# Factor analysis -------------------------------------------------------------------------------


@example("stats601-and-slides/efa-implied-covariance", cov_XY_is="a name, held by the assertion below")
def _(given):
    model = family(given["Lambda"], given["Psi_diag"])
    turned = rotate_loadings(given["Lambda"], "l1").loadings
    assert np.allclose(family(turned, given["Psi_diag"]).covariances, model.covariances)
    L = model.loadings[0]
    assert np.allclose(np.linalg.solve(model.covariances[0], L).T @ model.covariances[0], L.T)
    return {"Sigma": model.covariances[0]}


@example("stats601-and-slides/fa-lower-triangular-form")
def _(given):
    def added(p):
        return p**2 - p * (p + 1) // 2

    found = identify_loadings(given["Lambda"])
    return {
        "Lambda_lower_triangular_positive_diagonal": found.loadings,
        **{f"constraints_added_p{p}": added(p) for p in (2, 3, 5)},
    }


@example("stats601-and-slides/general-fa-identity-block")
def _(given):
    found = identify_loadings(given["Lambda"], given["Phi"], rule="identity")
    return {
        "Lambda_star": found.loadings,
        "Phi_star": found.factor_covariance,
        "Lambda_Phi_LambdaT": found.structure @ found.loadings.T,
    }


@example("stats601-and-slides/fa-posterior-woodbury", V_with_printed_Psi=MISPRINT)
def _(given):
    L, psi = np.array(given["Lambda"]), np.array(given["Psi_diag"])
    model = fitted(L, psi)
    by_features = np.eye(1) - L.T @ np.linalg.solve(model.get_covariance(), L)
    return {
        "V": model.posterior_covariance(),
        "V_from_qxq_form": by_features,
        "posterior_mean_of_y": model.transform([given["y_minus_mu"]])[0],
    }


def one_step(given, **options):
    """The engine of EM from the given start: the model after one iteration, and the progress."""
    Y = np.array(given["Y"])
    start = family(given["Lambda_0"], given["Psi_0_diag"], Y.mean(axis=0), update="em", **options)
    data = suffice.partition(Y)
    progress = em(Mixture(np.ones(1), start), data, tol=0.0, max_iter=2)
    first = em(Mixture(np.ones(1), start), data, tol=0.0, max_iter=1)
    return Y, first.model.component, len(Y) * np.array(progress.trace)


@example("stats601-and-slides/fa-em-one-step")
def _(given):
    Y, model, trace = one_step(given)
    before = fitted(given["Lambda_0"], given["Psi_0_diag"])
    return {
        "V": before.posterior_covariance(),
        "M": before.transform(Y - Y.mean(axis=0)),
        "Lambda_1": model.loadings[0],
        "Psi_1_diag": model.noise[0],
        "loglik_0": trace[0],
        "loglik_1": trace[1],
    }


@example("stats601-and-slides/latent-engine-reuse")
def _(_given):
    """The engine is `suffice.fitting.em`; the other two are run by it in run_mixture.py."""
    _, model, trace = one_step(given("stats601-and-slides/fa-em-one-step"))
    want = EXAMPLES["stats601-and-slides/fa-em-one-step"]["expect"]
    found = {"Lambda_1": model.loadings[0], "Psi_1_diag": model.noise[0], "loglik_1": trace[1]}
    compare(found, {key: want[key] for key in found}, (1e-8, 0.0), "fa-em-one-step")
    return True


@example("stats601-and-slides/fa-em-fixed-point")
def _(_given):
    Y = simulated()
    model = FactorAnalysis(2, solver="em", tol=1e-9, max_iter=20_000).fit(Y)
    S, C, L = np.cov(Y.T, bias=True), model.get_covariance(), model.components_.T
    same = np.allclose(np.diag(C), np.diag(S), atol=1e-4)
    return bool(same and np.allclose(S @ np.linalg.solve(C, L), L, atol=1e-4))


@example(
    "stats601-and-slides/fa-em-lasso-one-step",
    Lambda_1_text_approximation_without_V="drops the covariance of the factors: it is no step of EM",
    Psi_1_text_short_form="holds without a penalty only",
)
def _(given):
    _, model, trace = one_step(given, alpha=given["lambda"])
    return {
        "Lambda_1_exact": model.loadings[0, :, 0],
        "Psi_1_full_quadratic": model.noise[0],
        "penalised_loglik_0": trace[0],
        "penalised_loglik_1_exact": trace[1],
    }


@example("stats601-and-slides/fa-em-lasso-limits")
def _(_given):
    Y = simulated()
    S = np.cov(Y.T, bias=True)
    s = Moments(np.array([float(len(Y))]), Y.mean(axis=0)[None], len(Y) * S[None])
    L0, psi0 = np.ones((6, 1)), np.full(6, 0.7)

    def step(alpha):
        return family(L0, psi0, Y.mean(axis=0), update="em", alpha=alpha).estimate(s)

    M = fitted(L0, psi0).transform(Y - Y.mean(axis=0))
    limit = (np.abs((Y - Y.mean(axis=0)).T @ M) / psi0[:, None]).max()
    nothing = step(limit * (1.0 + 1e-9))
    assert not nothing.loadings.any()
    assert step(limit * 0.99).loadings.any()
    assert np.allclose(nothing.noise[0], np.diag(S))
    return bool(np.allclose(step(1e-12).loadings, step(0.0).loadings, atol=1e-8))


@example(
    "stats601-and-slides/factor-scores-wls-ridge",
    printed_wls_would_give=MISPRINT,
    printed_ridge_would_give=MISPRINT,
)
def _(given):
    model, y = fitted(given["Lambda"], given["Psi_diag"]), [given["y_minus_mu"]]
    return {"wls": model.scores(y, "bartlett")[0], "ridge": model.transform(y)[0]}


@example("stats601-and-slides/factor-scores-ridge-posterior")
def _(given):
    model, y = fitted(given["Lambda"], given["Psi_diag"]), given["y_minus_mu"]
    by_features = model.components_ @ np.linalg.solve(model.get_covariance(), y)
    return {
        "score": model.scores([y])[0],
        "posterior_covariance": model.posterior_covariance(),
        "via_qxq": by_features,
    }


# Rotations -------------------------------------------------------------------------------------


def varimax(L):
    return (L**2).var(axis=0).sum()


@example("stats601-and-slides/rotated-pc-illustration")
def _(given):
    before, after = (np.array(given[f"basis_{when}_columns"]) for when in ("before", "after"))
    found = rotate_loadings(before, "varimax")
    assert np.allclose(found.loadings @ found.transformation, before)
    return {
        "inner_products_before": before.T @ before,
        "inner_products_after": after.T @ after,
        "largest_principal_angle_degrees": np.degrees(subspace_angles(before, after)).max(),
    }


@example("stats601-and-slides/rotation-simple-structure")
def _(given):
    L = np.array(given["Lambda"])
    found = rotate_loadings(L).loadings
    order = np.argsort(-np.abs(found[0]))
    return {
        "rotated_loadings_up_to_sign_and_order": np.abs(found[:, order]),
        "varimax_before": varimax(L),
        "varimax_after": varimax(found),
        "l1_before": np.abs(L).sum(),
        "l1_after": np.abs(found).sum(),
        "sum_of_squares_before": (L**2).sum(),
        "sum_of_squares_after": (found**2).sum(),
    }


@example("stats601-and-slides/rotation-l1")
def _(given):
    L = np.array(given["Lambda"])
    found = rotate_loadings(L, "l1").loadings
    return {
        "l1_start": np.abs(L).sum(),
        "l1_optimum": np.abs(found).sum(),
        "l2_at_any_angle": (found**2).sum(),
    }


@example("stats601-and-slides/oblique-rotation-covariance")
def _(_given):
    model = FactorAnalysis(2).fit(simulated())
    L = model.components_.T
    found = rotate_loadings(L, "promax")
    T, phi = found.transformation, found.factor_covariance
    assert np.allclose(found.loadings, L @ np.linalg.inv(T))
    assert np.allclose(found.structure, found.loadings @ phi)
    same = np.allclose(found.loadings @ phi @ found.loadings.T, L @ L.T, atol=1e-8)
    return bool(same and np.allclose(phi, T @ T.T) and np.allclose(np.diag(phi), 1.0))


# Number of factors -----------------------------------------------------------------------------


@example("stats601-and-slides/fa-degrees-of-freedom")
def _(_given):
    return {f"q{q}": [degrees_of_freedom(q, p) for p in range(n)] for q, n in ((6, 4), (10, 7))}


@example("stats601-and-slides/lrt-diagonal-covariance")
def _(given):
    found = factor_number_test(given["Y"], max_factors=0)
    return {
        "minus_2_log_LR": found.statistic[0],
        "df": found.degrees_of_freedom[0],
        "p_value": found.p_value[0],
    }


@example("stats601-and-slides/parallel-analysis-invariants")
def _(_given):
    Y = simulated(40)
    found = parallel_analysis(Y, correlation=False, n_draws=200, random_state=0)
    trace = np.trace(np.cov(Y.T))
    return bool(np.allclose(found.reference.sum(axis=1), trace, atol=1e-10))


@example("stats601-and-slides/parallel-analysis-planted")
def _(_given):
    chosen = set()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        L = np.kron(np.eye(2), np.ones(4))
        Y = rng.normal(size=(400, 2)) @ L + 0.7 * rng.normal(size=(400, 8))
        chosen.add(parallel_analysis(Y, n_draws=100, quantile=0.95, random_state=seed).n_factors)
    (n,) = chosen
    return {"selected_p": n}
