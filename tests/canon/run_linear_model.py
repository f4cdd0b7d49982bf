"""Least squares, ridge and logistic regression."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.metrics import log_loss

import suffice
from suffice.linear_model import (
    BayesianLinearRegression,
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)

from ._canon import example, given
from ._numeric import column, gradient, stopped

FOUR = "cs181/ols-four-points"


def least_squares(X, y, alpha=None):
    """Weights of columns that include the constant."""
    model = LinearRegression if alpha is None else lambda **o: Ridge(alpha=alpha, **o)
    return model(fit_intercept=False).fit(X, y)


def half_squares(w, X, y):
    return 0.5 * np.sum((np.array(y) - np.array(X) @ w) ** 2)


# Least squares ---------------------------------------------------------------------------------


@example(FOUR)
def _(given):
    X, y = np.array(given["X"]), np.array(given["y"])
    model = least_squares(X, y)
    fitted = model.predict(X)
    return {
        "XtX": X.T @ X,
        "Xty": X.T @ y,
        "w": model.coef_,
        "fitted": fitted,
        "residuals": y - fitted,
        "half_sse": half_squares(model.coef_, X, y),
        "gradient_at_w": gradient(lambda w: half_squares(w, X, y), model.coef_),
    }


@example("cs181/sam-height")
def _(given):
    bias, *w = given["w"]
    X = np.vstack([np.zeros(2), np.eye(2)]) * 100
    model = LinearRegression().fit(X, bias + X @ w)
    return model.predict([given["x"]]).item()


@example("cs181/ols-square-exact")
def _(given):
    model = least_squares(given["X"], given["y"])
    return {"w": model.coef_, "fitted": model.predict(given["X"])}


@example("cs181/ols-hat-matrix")
def _(given):
    X, y = np.array(given["X"]), np.array(given["y"])
    H = least_squares(X, np.eye(len(X))).predict(X)
    assert np.allclose(H, H.T)
    assert np.allclose(H @ H, H)
    return {
        "H": H,
        "trace": np.trace(H),
        "H_times_y": H @ y,
        "Xt_residual": X.T @ (y - least_squares(X, y).predict(X)),
    }


@example("cs181/ols-rank-deficient")
def _(_given):
    X, y = np.array(given(FOUR)["X"]), given(FOUR)["y"]
    twice = np.column_stack([X, X[:, 1]])
    twins = least_squares(twice, y)
    assert np.allclose(twins.predict(twice), least_squares(X, y).predict(X))
    return np.isclose(*twins.coef_[1:])


@example("stats601-and-slides/normal-equations-small")
def _(given):
    x, y = column(given["x"]), given["y"]
    model = LinearRegression().fit(x, y)
    w, X = [model.intercept_, *model.coef_], np.column_stack([np.ones(len(x)), x])
    return {
        "w": w,
        "J": half_squares(w, X, y),
        "gradient_at_0": gradient(lambda w: half_squares(w, X, y), [0, 0]),
    }


def log_likelihood(w, X, y, precision):
    exact = least_squares(X, np.array(X) @ w)  # a fit that has the weights w
    return exact.log_likelihood(X, y, precision=precision)


@example("cs181/ols-mle-loglik")
def _(given):
    X, y = given["X"], given["y"]
    best = least_squares(X, y)
    assert np.allclose(best.coef_, given["w"])
    assert np.isclose(best.log_likelihood(X, y), best.log_likelihood(X, y, precision=4))
    return [log_likelihood(given["w"], X, y, beta) for beta in given["beta"]]


@example("cs181/ols-mle-gradient")
def _(given):
    X, y, beta = given["X"], given["y"], given["beta"]
    return gradient(lambda w: log_likelihood(w, X, y, beta), given["w"])


@example("cs181/mle-equals-least-squares")
def _(_given):
    X, y = given(FOUR)["X"], given(FOUR)["y"]
    w = least_squares(X, y).coef_
    slopes = [gradient(lambda w, b=b: log_likelihood(w, X, y, b), w) for b in (0.5, 1, 4)]
    return np.allclose(slopes, 0, atol=1e-9)


# Ridge -----------------------------------------------------------------------------------------


@example("li-supervised/li-1-l2")
def _(given):
    x, y, N = column(given["x"]), np.array(given["y"]), len(given["x"])
    X = np.column_stack([np.ones(N), x])
    w = least_squares(X, y, alpha=N * given["lam"] / 2).coef_
    return {
        "coefficients": w,
        "objective": 2 / N * half_squares(w, X, y) + given["lam"] / 2 * w @ w,
    }


@example("cs181/ridge-four-points")
def _(given):
    X, y, lam = np.array(given["X"]), given["y"], given["lambda"]
    w = least_squares(X, y, alpha=lam).coef_
    free = Ridge(alpha=lam).fit(X[:, 1:], y)
    return {
        "w_bias_penalised": w,
        "objective": half_squares(w, X, y) + lam / 2 * w @ w,
        "w_bias_free": [free.intercept_, *free.coef_],
    }


@example("cs181/ridge-limits")
def _(_given):
    X, y = given(FOUR)["X"], given(FOUR)["y"]
    return {
        "lambda_0": least_squares(X, y, alpha=0).coef_,
        "lambda_1e12_max_abs_w": abs(least_squares(X, y, alpha=1e12).coef_).max(),
    }


@example("stats601-and-slides/ridge-primal-dual")
def _(given):
    X, y, lam = np.array(given["X"]), np.array(given["y"]), given["lambda"]
    ridge = least_squares(X, y, alpha=lam)
    dual = np.linalg.solve(X @ X.T + lam * np.eye(len(X)), y)
    assert np.allclose(X.T @ dual, ridge.coef_)
    return {
        "theta": ridge.coef_,
        "dual_coefficients": dual,
        "ols": least_squares(X, y).coef_,
        "prediction_at_1_1": ridge.predict([[1, 1]]).item(),
    }


# Logistic regression ---------------------------------------------------------------------------


def maximum_likelihood(x, y, solver="newton", **options):
    options = {"tol": 1e-10, "max_iter": 1000} | options
    return stopped(LogisticRegression(C=np.inf, solver=solver, **options), x, y)


def weights(model):
    return np.append(model.intercept_, model.coef_)


def cross_entropy(model, x, y):
    return log_loss(y, model.predict_proba(x), normalize=False, labels=model.classes_)


def objective(X, y, theta):
    """Loss and gradient at these weights: what each pass of a fit sums."""
    model = LogisticRegression(fit_intercept=False).fit(X, y).model_
    theta = np.column_stack([np.atleast_2d(theta), np.zeros(len(model.theta))])  # no intercept
    s = suffice.partition(X, np.array(y)).fold(type(model).summarize, model.replace(theta=theta))
    return s.loss, s.gradient.reshape(theta.shape)[:, :-1]


@example("cs181/logistic-loss-gradient")
def _(given):
    X, y = np.array(given["X"]), np.array(given["y"])
    points = [objective(X, y, w) for w in given["w"]]
    for w, (loss, _) in zip(given["w"], points, strict=True):
        assert np.isclose(loss, log_loss(y, expit(X @ w), normalize=False))
    return {"E": [loss for loss, _ in points], "gradient": [slope[0] for _, slope in points]}


@example("cs181/multiclass-gradient-at-zero")
def _(given):
    loss, slope = objective(np.array(given["X"]), given["classes"], np.zeros((3, 2)))
    return {"E": loss, "gradient_D_by_K": slope.T}


@example("cs181/logistic-mle")
def _(given):
    x, y = column(given["x"]), np.array(given["y"])
    model = maximum_likelihood(x, y)
    p = model.predict_proba(x)[:, 1]
    return {
        "w": weights(model),
        "E": cross_entropy(model, x, y),
        "p": p,
        "gradient": [np.sum(p - y), (p - y) @ x[:, 0]],
    }


@example(
    "stats601-and-slides/logistic-irls-small",
    printed_scheme_after_1_step="what the misprinted scheme would give",
)
def _(given):
    x, y = column(given["x"]), np.array(given["y"])
    best = maximum_likelihood(x, y)
    p, X = best.predict_proba(x)[:, 1], np.column_stack([np.ones(len(x)), x])
    return {
        "theta_after_1_step": weights(maximum_likelihood(x, y, max_iter=1)),
        "theta_after_2_steps": weights(maximum_likelihood(x, y, max_iter=2)),
        "theta_hat": weights(best),
        "loglik": -cross_entropy(best, x, y),
        "covariance_inverse_information": np.linalg.inv(X.T @ ((p * (1 - p))[:, None] * X)),
    }


@example("stats601-and-slides/logistic-score-zero")
def _(_given):
    x = np.random.default_rng(0).normal(size=(50, 2))
    y = (x[:, 0] + np.random.default_rng(1).normal(size=50) > 0).astype(float)
    for solver in ("newton", "lbfgs"):
        p = maximum_likelihood(x, y, solver, tol=1e-8).predict_proba(x)[:, 1]
        if abs((y - p) @ x).max() > 1e-6 or abs(p.mean() - y.mean()) > 1e-6:
            return False
    return True


@example("cs181/logistic-separable")
def _(_given):
    x, y = column([0, 1, 2, 3]), [0, 0, 1, 1]
    sizes = [abs(maximum_likelihood(x, y, max_iter=n).coef_).max() for n in (2, 4, 8)]
    return bool(np.all(np.diff(sizes) > 0) and np.isfinite(sizes).all())


@example("stats601-and-slides/softmax-identifiability")
def _(given):
    f = np.array(given["f"])
    # Classes seen this often, and a column that says nothing: the intercepts must tell.
    fit = LogisticRegression(C=np.inf, tol=1e-12).fit(np.zeros((3, 1)), [0, 1, 2], sample_weight=softmax(f))
    intercept = fit.intercept_
    return {
        "probabilities": fit.predict_proba([[0.0]])[0],
        "reference_form_f_minus_fK": intercept - intercept[-1],
        "sum_zero_form": intercept - intercept.mean(),
    }


@example("cs181/one-vs-all-ambiguity")
def _(given):
    model = LogisticRegression(fit_intercept=False).fit(np.eye(3, 2), [1, 2, 3])
    model.coef_ = np.array(given["scores"], float).T  # of the unit vectors, these are the scores
    scores = model.decision_function(np.eye(2))
    return {
        "classes_claiming": [list(model.classes_[row > 0]) for row in scores],
        "argmax": model.predict(np.eye(2)),
    }


# Lasso and elastic net ---------------------------------------------------------------------------

CLOSE = {"fit_intercept": False, "tol": 1e-14}


@example("cs181/lasso-orthonormal")
def _(given):
    X, y = np.eye(3), given["y"]
    # Half the squares are divided by the rows, and so is the penalty.
    lasso = Lasso(given["lambda"] / 2 / len(y), **CLOSE).fit(X, y)
    return {"lasso": lasso.coef_, "ridge": least_squares(X, y, given["lambda"]).coef_}


@example("cs181/elastic-net-orthonormal")
def _(given):
    y, l1, l2 = given["y"], given["a"] / 2, given["b"]
    return ElasticNet((l1 + l2) / len(y), l1_ratio=l1 / (l1 + l2), **CLOSE).fit(np.eye(3), y).coef_


# A distribution of weights -----------------------------------------------------------------------


def posterior(X, y, beta, precision=2.0, mean=0.0):
    how = {"prior_mean": mean, "prior_precision": precision, "noise_precision": beta}
    return BayesianLinearRegression(fit_intercept=False, **how).fit(X, y)


def posterior_of(name="cs181/blr-posterior"):
    g = given(name)
    return posterior(g["X"], g["y"], g["beta"], np.array(g["prior_precision"]), np.array(g["mu0"]))


@example("cs181/map-equals-ridge")
def _(given):
    strength = given["s"] / given["beta"]
    model = posterior(given["X"], given["y"], given["beta"], given["s"])
    np.testing.assert_allclose(model.coef_, least_squares(given["X"], given["y"], strength).coef_, rtol=1e-10)
    return {"lambda": strength, "w": model.coef_}


@example("cs181/map-log-posterior-factor")
def _(given):
    """Up to a constant: the difference to the log posterior of zero weights, of which the terms are known."""
    X, y, beta, w = (np.array(given[name]) for name in ("X", "y", "beta", "w"))
    model = posterior(X, y, float(beta))
    of_zero = -beta * half_squares(np.zeros(2), X, y)
    bracket = half_squares(w, X, y) + w @ (2.0 * w) / (2.0 * beta)
    return {
        "log_posterior_without_constant": model.log_posterior(w) - model.log_posterior([0.0, 0.0]) + of_zero,
        "minus_beta_times_bracket": -beta * bracket,
    }


@example("cs181/blr-posterior")
def _(given):
    model = posterior_of()
    return {
        "posterior_precision": model.model_.precision,
        "posterior_cov": model.covariance_,
        "posterior_mean": model.coef_,
    }


@example("cs181/blr-posterior-nonzero-prior-mean")
def _(given):
    return {"posterior_mean": posterior_of("cs181/blr-posterior-nonzero-prior-mean").coef_}


@example("cs181/blr-mean-is-ridge")
def _(_):
    g = given("cs181/blr-posterior")
    flat = posterior(g["X"], g["y"], g["beta"], 1e-9)
    np.testing.assert_allclose(flat.coef_, least_squares(g["X"], g["y"]).coef_, rtol=1e-8)
    return {"mean": posterior_of().coef_, "ridge_lambda_0.5": least_squares(g["X"], g["y"], 0.5).coef_}


@example("cs181/blr-sequential")
def _(given):
    how = {"prior_precision": np.array(given["prior_precision"]), "noise_precision": given["beta"]}
    model = BayesianLinearRegression(fit_intercept=False, **how)
    means = [model.partial_fit([x], [y]).coef_ for x, y in zip(given["X"], given["y"], strict=True)]
    return {"mean_after_each_row": means, "final_mean": model.coef_}


@example("cs181/blr-predictive")
def _(given):
    mean, std = posterior_of().predict([given["x_new"]], return_std=True)
    return {"mean": mean.item(), "variance": std.item() ** 2}
