"""Mixtures and expectation maximisation."""

import numpy as np
from scipy import stats
from scipy.special import expit, logit

import suffice
from suffice.families import (
    Bernoulli,
    Categorical,
    FullGaussian,
    GaussianPrior,
    Mixture,
    Multinomial,
    SphericalGaussian,
)
from suffice.fitting import em, quasi_newton
from suffice.mixture import GaussianMixture, LatentClass, PoissonMixture

from ._canon import example, given
from ._numeric import column, gradient, rows_with, stopped


def steps(model, X, n):
    """The model after n steps of EM."""
    return em(model, suffice.partition(np.array(X, float)), tol=-1.0, max_iter=n).model


def log_likelihood(model, X):
    return model.log_density(np.array(X, float)).sum()


def expected_log_joint(model, X, R):
    """Q of EM: the complete-data log-likelihood that responsibilities R expect."""
    log_joint = model.log_joint(np.array(X, float))
    return np.sum(R * np.where(R > 0, log_joint, 0))


# Coins -----------------------------------------------------------------------------------------


def two_coins(pi, p, q):
    return Mixture(np.array([pi, 1 - pi]), Bernoulli(np.array([[p], [q]])))


def three_coins(y, start):
    """One step for: toss a coin of `pi`; heads, toss one of `p` and tell it, else one of `q`."""
    coins = two_coins(*start)
    after = steps(coins, column(y), 1)
    mu = coins.predict_proba(column([1, 0]))[:, 0]
    p, q = after.component.probability.ravel()
    return {
        "mu_for_1": mu[0],
        "mu_for_0": mu[1],
        "pi": after.weight[0],
        "p": p,
        "q": q,
        "log_likelihood": log_likelihood(after, column(y)),
    }


def iterations_to_rest(model, X):
    """Steps of EM after which it no longer moves."""
    n, before, after = 0, model, steps(model, X, 1)
    while not np.allclose(before.component.probability, after.component.probability):
        n, before, after = n + 1, after, steps(after, X, 1)
    return n


@example("li-supervised/li-9.1")
def _(given):
    y = given["y"]
    best = LatentClass(n_components=2, random_state=0).fit(column(y))
    estimates = [three_coins(y, start) for start in given["starts"]]
    (iterations,) = {iterations_to_rest(two_coins(*start), column(y)) for start in given["starts"]}
    assert np.isclose(best.score(column(y)) * len(y), estimates[0]["log_likelihood"])
    return {"estimates": estimates, "iterations_to_fixed_point": iterations}


@example("li-supervised/li-ex-9.1")
def _(given):
    return three_coins(given["y"], given["start"])


@example("stats601-and-slides/em-q-minus-h")
def _(given):
    y = [[given["y"]]]
    old, new = (two_coins(1 - pi, a, b) for pi, a, b in (given["theta_t"], given["theta"]))
    R = old.predict_proba(np.array(y))
    Q, H = expected_log_joint(new, y, R), np.sum(R * np.log(new.predict_proba(np.array(y))))
    return {
        "Q": Q,
        "H": H,
        "loglik": log_likelihood(new, y),
        "Q_minus_H": Q - H,
        "Q_plus_H": Q + H,
    }


@example("stats601-and-slides/mixture-unidentifiable-bernoulli")
def _(_given):
    def heads(theta):
        return np.exp(log_likelihood(two_coins(0.5, *theta), [[1]]))

    same = [[first, 1.2 - first] for first in (0.6, 0.2, 0.5)]
    assert np.allclose([heads(theta) for theta in same], heads(same[0]))
    return {"P(x=1)": heads(same[0]), "theta_sum": 2 * heads(same[0]), "same_distribution": same}


# Responsibilities ------------------------------------------------------------------------------


def responsibilities(weight, density):
    """p(k given x) where x has these densities."""
    p = np.stack([density, 1 - np.array(density)], axis=1)
    model = Mixture(np.array(weight), Categorical((np.array([0.0, 1.0]),), (p,)))
    return model.predict_proba(np.zeros((1, 1)))[0]


@example("cs181/responsibility-normalisation")
def _(given):
    joint = np.array(given["unnormalised"])
    return responsibilities(np.full(3, 1 / 3), 3 * joint)


@example("cs181/mixture-class-posterior")
def _(given):
    return responsibilities(given["theta"], given["p_x_given_k"])


@example("cs181/gmm-kmeans-limit")
def _(given):
    def green(eps):
        round_ones = SphericalGaussian(np.array(given["centres"]), np.full(2, eps))
        model = Mixture(np.array(given["theta"]), round_ones)
        return model.predict_proba(np.array([given["point"]]))[0, 1]

    return {"responsibility_of_green": [green(float(eps)) for eps in given["eps"]]}


@example("stats601-and-slides/gmm-soft-kmeans-limit")
def _(given):
    def first(variance):
        components = SphericalGaussian(column(given["mu"]), np.full(2, variance))
        model = Mixture(np.array(given["pi"]), components)
        return model.predict_proba(np.array([[given["x"]]]))[0, 0]

    variances = ("4.0", "1.0", "0.1", "0.01")
    return {
        "tau_component1_by_sigma2": {v: first(float(v)) for v in variances},
        "limit": first(1e-6),
    }


# Gaussian mixtures -----------------------------------------------------------------------------


def gaussians(weight, mean, variance):
    """A mixture of densities on the line."""
    return Mixture(np.array(weight), FullGaussian(column(mean), np.array(variance, float)[:, None, None]))


def gaussian_mixture(weight, mean, variance, max_iter):
    return GaussianMixture(
        len(weight),
        weights_init=weight,
        means_init=column(mean),
        precisions_init=1 / np.array(variance, float)[:, None, None],
        reg_covar=0,
        tol=0,
        max_iter=max_iter,
    )


@example("li-supervised/li-ex-9.3")
def _(given):
    y, start = column(given["y"]), given["start"]

    def fitted(n):
        return stopped(gaussian_mixture(start["alpha"], start["mu"], start["sigma2"], n), y)

    def parameters(gm):
        return {"alpha": gm.weights_, "mu": gm.means_.ravel(), "sigma2": gm.covariances_.ravel()}

    best = fitted(500)
    return parameters(best) | {
        "start_log_likelihood": log_likelihood(gaussians(start["alpha"], start["mu"], start["sigma2"]), y),
        "after_one_step": parameters(fitted(1)),
        "sigma": np.sqrt(best.covariances_).ravel(),
        "log_likelihood": best.score(y) * len(y),
    }


@example("cs181/gmm-em-step-1d")
def _(given):
    x, start = column(given["x"]), (given["theta"], given["mu"], given["variance"])
    gm = stopped(gaussian_mixture(*start, 1), x)
    return {
        "q": gaussians(*start).predict_proba(x),
        "theta_new": gm.weights_,
        "mu_new": gm.means_.ravel(),
        "variance_new": gm.covariances_.ravel(),
        "loglik_before": log_likelihood(gaussians(*start), x),
        "loglik_after": gm.score(x) * len(x),
    }


@example("stats601-and-slides/gmm-em-one-step")
def _(given):
    x, start = column(given["x"]), (given["pi_0"], given["mu_0"], given["var_0"])
    gm = stopped(gaussian_mixture(*start, 1), x)
    return {
        "tau_component1": gaussians(*start).predict_proba(x)[:, 0],
        "pi_1": gm.weights_,
        "mu_1": gm.means_.ravel(),
        "var_1": gm.covariances_.ravel(),
        "loglik_0": log_likelihood(gaussians(*start), x),
        "loglik_1": gm.score(x) * len(x),
    }


@example("cs181/gmm-m-step-2d")
def _(given):
    X, q = np.array(given["X"]), np.array(given["q"])
    s = FullGaussian.start(2, 2).summarize(X, q)
    component = FullGaussian.start(2, 2).estimate(s)
    return {
        "theta": s.weight / s.weight.sum(),
        "mu": component.mean,
        "Sigma": component.covariance,
    }


@example("cs181/mixture-sampling-moments")
def _(_given):
    rows = np.concatenate([rows_with([-1, 0], np.eye(2))] * 3 + [rows_with([9, 5], np.eye(2))] * 7)
    gm, n = GaussianMixture(2, random_state=0).fit(rows), 4000
    X, z = gm.sample(n)
    share = np.bincount(z) / n
    ok = np.all(abs(share - gm.weights_) < 4 * np.sqrt(gm.weights_ * (1 - gm.weights_) / n))
    for k in range(2):
        error = np.sqrt(np.diag(gm.covariances_[k]) / np.sum(z == k))
        ok &= np.all(abs(X[z == k].mean(axis=0) - gm.means_[k]) < 4 * error)
    return ok


@example("gong-xu/gx-p7.5")
def _(given):
    X = np.array(given["points"], float)

    def after(n):
        gm = GaussianMixture(
            2,
            weights_init=given["start_pi"],
            means_init=given["start_mu"],
            precisions_init=np.stack([np.eye(2)] * 2),
            prior=GaussianPrior(mean=0.0, mean_precision=1.0),
            weight_concentration_prior=given["alpha"],
            fixed="covariance",
            tol=0,
            max_iter=n,
        )
        gm = stopped(gm, X)
        of_means = stats.multivariate_normal.logpdf(gm.means_, np.zeros(2)).sum()
        of_weights = stats.dirichlet.logpdf(gm.weights_, given["alpha"])
        return {
            "mu": gm.means_,
            "pi": gm.weights_,
            "log_posterior": gm.score(X) * len(X) + of_means + of_weights,
        }

    return {"after_one": after(1), "limit": after(500)}


# Counts and categories -------------------------------------------------------------------------


def multinomials(case):
    return Mixture(np.array(case["theta"]), Multinomial(np.array(case["pi"])))


@example("cs181/multinomial-mixture-em-step")
def _(given):
    X, start = np.array(given["X"], float), multinomials(given)
    after = steps(start, X, 1)
    return {
        "q": start.predict_proba(X),
        "theta_new": after.weight,
        "pi_new": after.component.probability,
        "loglik_before": log_likelihood(start, X),
        "loglik_after": log_likelihood(after, X),
    }


@example("cs181/em-monotone")
def _(_given):
    case = given("cs181/multinomial-mixture-em-step")
    run = em(multinomials(case), suffice.partition(case["X"]), tol=-1.0, max_iter=200)
    trace = np.array(run.trace) * len(case["X"])
    assert np.all(np.diff(trace) > -1e-12)
    return {"multinomial-mixture-em-step, first five values": trace[:5]}


@example("cs181/em-q-function-bound")
def _(case):
    case = given(f"cs181/{case['step']}")
    X, old = np.array(case["X"], float), multinomials(case)
    new, R = steps(old, X, 1), old.predict_proba(X)
    return {
        "loglik_gain": log_likelihood(new, X) - log_likelihood(old, X),
        "Q_gain": expected_log_joint(new, X, R) - expected_log_joint(old, X, R),
    }


@example("cs181/em-symmetric-start")
def _(_given):
    X = given("cs181/multinomial-mixture-em-step")["X"]
    same = Mixture(np.array([0.3, 0.7]), Multinomial(np.full((2, 6), 1 / 6)))
    after = steps(same, X, 5)
    one, other = after.component.probability
    return np.allclose(one, other) and np.allclose(after.weight, same.weight)


def latent_classes(case):
    level0 = np.array(case["P0_level0_by_feature_class"])
    tables = tuple(np.stack([p, 1 - p], axis=1) for p in level0)
    return Mixture(np.array(case["pi_0"]), Categorical((np.array([0.0, 1.0]),) * 3, tables))


def level_0(model):
    """p(level 0 given class), by feature and class."""
    return np.array([table[:, 0] for table in model.component.probability])


@example("stats601-and-slides/latent-class-em-one-step")
def _(given):
    X, start = np.array(given["X_levels_0_1"], float), latent_classes(given)
    after = steps(start, X, 1)
    return {
        "tau_class1": start.predict_proba(X)[:, 0],
        "pi_1": after.weight,
        "P_level0_by_feature_class": level_0(after),
        "loglik_0": log_likelihood(start, X),
        "loglik_1": log_likelihood(after, X),
    }


@example("stats601-and-slides/mixture-parameter-counts")
def _(_given):
    rng = np.random.default_rng(0)
    X, levels = rng.normal(size=(50, 2)), rng.integers(5, size=(500, 4)).astype(float)

    def n_parameters(model, X):
        return model.aic(X) / 2 + model.score(X) * len(X)

    gm = {
        kind: stopped(GaussianMixture(3, covariance_type=kind, random_state=0), X)
        for kind in ("full", "tied", "diag")
    }
    penalty = {
        criterion: getattr(gm["full"], criterion)(X) + 2 * gm["full"].score(X) * len(X)
        for criterion in ("aic", "bic")
    }
    classes = stopped(LatentClass(3, random_state=0), levels)
    return {f"gmm_{kind}_K3_p2": n_parameters(gm[kind], X) for kind in gm} | {
        "lcm_K3_p4_L5": n_parameters(classes, levels),
        "aic_for_loglik_-100_k17": penalty["aic"] + 200,
        "bic_for_loglik_-100_k17_N50": penalty["bic"] + 200,
    }


# Gradients -------------------------------------------------------------------------------------


def sums(model, X):
    """What one pass of EM adds up."""
    return suffice.partition(X).fold(Mixture.summarize, model)


@example("stats601-and-slides/mixture-gradient-identity")
def _(given):
    mu = column(given["mu"])
    model = Mixture(np.array(given["priors"]), SphericalGaussian(mu, np.ones(2)))
    s = sums(model, column(given["x"]))
    return {
        "gradient": (s.component.weight * (s.component.mean - mu)).ravel(),
        "prior_update": model.estimate(s).weight,
    }


@example("stats601-and-slides/gmm-gradient-at-em-fixed-point")
def _(_given):
    case = given("stats601-and-slides/gmm-em-one-step")
    X, start = column(case["x"]), gaussians(case["pi_0"], case["mu_0"], case["var_0"])

    def model(theta):
        log_odds, mu, log_variance = theta[0], theta[1:3], theta[3:]
        return gaussians([expit(log_odds), expit(-log_odds)], mu, np.exp(log_variance))

    def parameters(model):
        mu, variance = model.component.mean.ravel(), model.component.covariance.ravel()
        return np.array([logit(model.weight[0]), *mu, *np.log(variance)])

    def loss(theta):
        """Minus the log-likelihood and its gradient, both from the sums of EM."""
        m = model(theta)
        s, mu, variance = sums(m, X), theta[1:3], np.exp(theta[3:])
        weight, far = s.weight, s.component.mean.ravel() - mu
        squares = s.component.scatter.ravel() + weight * far**2
        slope = [weight[0] - len(X) * m.weight[0]], weight * far / variance
        return -s.log_likelihood, -np.concatenate([*slope, (squares / variance - weight) / 2])

    fixed = steps(start, X, 500)
    ascent = quasi_newton(loss, parameters(start), tol=1e-8)
    return (
        np.allclose(gradient(lambda t: loss(t)[0], parameters(fixed)), 0, atol=1e-4)
        and abs(ascent.value + log_likelihood(fixed, X)) < 1e-4
    )


# What holds of every mixture -------------------------------------------------------------------


@example("stats601-and-slides/em-ascent")
def _(_given):
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(60, 2)), rng.poisson(3.0, size=(60, 2)).astype(float)
    fits = [
        stopped(model(3, tol=0, max_iter=30, random_state=seed), data)
        for seed in range(3)
        for model, data in (
            (GaussianMixture, X),
            (PoissonMixture, counts),
            (LatentClass, np.minimum(counts, 4)),
        )
    ]
    return all(np.all(np.diff(f.trace_) >= -1e-9 * abs(f.trace_[-1])) for f in fits)


@example("stats601-and-slides/em-coordinate-ascent-on-J")
def _(_given):
    case = given("stats601-and-slides/gmm-em-one-step")
    X, model = column(case["x"]), gaussians(case["pi_0"], case["mu_0"], case["var_0"])

    def J(R, model):
        return expected_log_joint(model, X, R) - np.sum(R * np.log(R))

    R = np.full((len(X), 2), 0.5)
    values = [J(R, model)]
    for _ in range(5):
        R = model.predict_proba(X)
        assert np.isclose(J(R, model), log_likelihood(model, X), rtol=1e-12)
        model, old = steps(model, X, 1), J(R, model)
        values += [old, J(R, model)]
    return np.all(np.diff(values) > -1e-9)


@example("stats601-and-slides/mixture-general-reduces")
def _(_given):
    book = "stats601-and-slides"
    line, classes = (given(f"{book}/{n}") for n in ("gmm-em-one-step", "latent-class-em-one-step"))
    start = line["pi_0"], line["mu_0"], line["var_0"]
    X = column(line["x"])
    one, other = steps(gaussians(*start), X, 1), stopped(gaussian_mixture(*start, 1), X)
    levels = np.array(classes["X_levels_0_1"], float)
    R = latent_classes(classes).predict_proba(levels)
    by_hand = R.T @ (levels == 0) / R.sum(axis=0)[:, None]
    return (
        np.allclose(one.component.mean, other.means_, atol=1e-8)
        and np.allclose(one.component.covariance, other.covariances_, atol=1e-8)
        and np.allclose(level_0(steps(latent_classes(classes), levels, 1)).T, by_hand)
        and np.allclose(R.sum(axis=1), 1)
    )
