"""Discriminant analysis and naive Bayes."""

import re
from itertools import product

import numpy as np
import yaml
from scipy.special import softmax
from sklearn.preprocessing import OrdinalEncoder

from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Dirichlet, Multinomial, TiedGaussian
from suffice.naive_bayes import CategoricalNB, ClassConditional, MixedNB, MultinomialNB

from ._canon import example, given
from ._numeric import rows_with

# The canon divides covariances by N, as these solvers do.


def lda(X, y, **options):
    return LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True, **options).fit(X, y)


def qda(X, y, **options):
    return QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True, **options).fit(X, y)


def classes_with(means, covariances):
    """Rows and labels of classes that have these means and covariances."""
    X = [rows_with(m, C) for m, C in zip(means, covariances, strict=True)]
    return np.concatenate(X), np.repeat(np.arange(len(X)), [len(part) for part in X])


# Discriminant analysis -------------------------------------------------------------------------


@example("cs181/gaussian-classifier-shared")
def _(given):
    one, two = given["class1"], given["class2"]
    X, y = np.array(one + two), np.repeat([1, 0], [len(one), len(two)])
    model = lda(X, y)
    normal = TiedGaussian(model.means_, model.covariance_)
    log_joint = np.log(model.priors_) + normal.log_density(X)
    return {
        "pi": model.priors_[1],
        "mu1": model.means_[1],
        "mu2": model.means_[0],
        "Sigma": model.covariance_,
        "log_likelihood": log_joint[np.arange(len(y)), y].sum(),
        "posterior_class1": model.predict_proba([given["query"]])[0, 1],
        "affine_w": model.coef_[0],
        "affine_w0": model.intercept_.item(),
    }


@example("cs181/gaussian-classifier-separate")
def _(given):
    one, two = given["class1"], given["class2"]
    model = qda(one + two, np.repeat([1, 0], [len(one), len(two)]))
    return {
        "Sigma1": model.covariance_[1],
        "Sigma2": model.covariance_[0],
        "posterior_class1": model.predict_proba([given["query"]])[0, 1],
    }


@example(
    "stats601-and-slides/lda-binary-logistic-form",
    gamma_as_printed="what the misprinted formula would give",
    probability_with_printed_gamma="what the misprinted formula would give",
)
def _(given):
    means, pi = [given["mu0"], given["mu1"]], given["pi"]
    model = lda(*classes_with(means, [given["Sigma"]] * 2), priors=[1 - pi, pi])
    return {
        "beta": model.coef_[0],
        "gamma": model.intercept_.item(),
        "P(Y=1|x)": model.predict_proba([given["x"]])[0, 1],
    }


@example("stats601-and-slides/lda-qda-mle-small")
def _(given):
    linear, quadratic = lda(given["X"], given["y"]), qda(given["X"], given["y"])
    return {
        "pi": linear.priors_[1],
        "mu0": linear.means_[0],
        "mu1": linear.means_[1],
        "Sigma_pooled_divisor_N": linear.covariance_,
        "Sigma_0": quadratic.covariance_[0],
        "Sigma_1": quadratic.covariance_[1],
    }


@example("stats601-and-slides/gda-posterior-is-logistic")
def _(given):
    model = lda(given["X"], given["y"])
    return {
        "phi": model.priors_[1],
        "mu0": model.means_[0],
        "mu1": model.means_[1],
        "Sigma": model.covariance_,
        "w": model.coef_[0],
        "intercept": model.intercept_.item(),
        "P(y=1|x)": model.predict_proba([given["x"]])[0, 1],
    }


@example("stats601-and-slides/qda-binary-discriminants")
def _(given):
    means, pi = [given["mu0"], given["mu1"]], given["pi"]
    covariances = [given["Sigma_0"], given["Sigma_1"]]
    model = qda(*classes_with(means, covariances), priors=[1 - pi, pi])
    delta = model.predict_joint_log_proba([given["x"]])[0]
    return {
        "delta_0": delta[0],
        "delta_1": delta[1],
        "P(Y=1|x)": model.predict_proba([given["x"]])[0, 1],
    }


@example("stats601-and-slides/lda-multiclass-softmax")
def _(given):
    rows = classes_with(given["mu"], [given["Sigma"]] * 3)
    model = lda(*rows, priors=given["pi"])
    return {
        "delta": model.decision_function([given["x"]])[0],
        "posterior": model.predict_proba([given["x"]])[0],
    }


@example("stats601-and-slides/qda-equals-lda-common-covariance")
def _(_given):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    X, y = classes_with(rng.normal(size=(3, 3)), [root @ root.T] * 3)
    new = rng.normal(size=(20, 3))
    same = qda(X, y).predict_proba(new) - lda(X, y).predict_proba(new)
    return abs(same).max() < 1e-10


@example("stats601-and-slides/gmm-complete-data-is-qda")
def _(case):
    case = given(f"stats601-and-slides/{case['reference']}")
    X, y = np.array(case["X"]), np.array(case["y"])
    model = qda(X, y)
    parts = [X[y == c] for c in (0, 1)]
    return (
        np.allclose(model.priors_, [len(p) / len(X) for p in parts], atol=1e-7)
        and np.allclose(model.means_, [p.mean(axis=0) for p in parts], atol=1e-7)
        and np.allclose(model.covariance_, [np.cov(p, rowvar=False, bias=True) for p in parts], atol=1e-7)
    )


# Naive Bayes -----------------------------------------------------------------------------------


def tables(model, column):
    """p(value given class) of a categorical column, by class and value."""
    return {
        c: dict(zip(model.categories_[column], np.exp(row), strict=True))
        for c, row in zip(model.classes_, model.feature_log_prob_[column], strict=True)
    }


def by_class(model, values):
    return dict(zip(model.classes_, values, strict=True))


@example("li-supervised/li-4.1")
def _(given):
    encoder = OrdinalEncoder(categories=[given["values_X1"], given["values_X2"]], dtype=float)
    X = encoder.fit_transform(np.array([given["X1"], given["X2"]], dtype=object).T)
    model = CategoricalNB(alpha=0).fit(X, given["Y"])
    x = encoder.transform(np.array([given["x"]], dtype=object))

    def table(column):
        return {
            c: dict(zip(encoder.categories_[column], np.exp(row), strict=True))
            for c, row in zip(model.classes_, model.feature_log_prob_[column], strict=True)
        }

    return {
        "prior": by_class(model, np.exp(model.class_log_prior_)),
        "P_X1": table(0),
        "P_X2": table(1),
        "scores": by_class(model, np.exp(model.predict_joint_log_proba(x)[0])),
        "posterior": by_class(model, model.predict_proba(x)[0]),
        "label": model.predict(x)[0],
    }


@example("li-supervised/li-4.2")
def _(given):
    X = np.array([given["X1"], given["X2"]], dtype=object).T
    # Li smooths the class frequencies as well.
    counts = np.unique(given["Y"], return_counts=True)[1]
    prior = Dirichlet(np.full(2, given["lam"])).posterior(counts).mean
    model = MixedNB("categorical", alpha=given["lam"], class_prior=prior).fit(X, given["Y"])
    x = np.array([given["x"]], dtype=object)
    return {
        "prior": by_class(model, np.exp(model.class_log_prior_)),
        "P_X1": tables(model, 0),
        "P_X2": tables(model, 1),
        "scores": by_class(model, np.exp(model.predict_joint_log_proba(x)[0])),
        "posterior": by_class(model, model.predict_proba(x)[0]),
        "label": model.predict(x)[0],
    }


@example("cs181/naive-bayes-mle")
def _(given):
    counts = np.array(given["counts"])
    face, toss = np.arange(counts.size) % 3, np.arange(counts.size) // 3
    model = MixedNB("categorical", alpha=0).fit(
        face[:, None], np.array(given["classes"])[toss], sample_weight=counts.ravel()
    )
    return {
        "prior": by_class(model, np.exp(model.class_log_prior_)),
        "face_probabilities": by_class(model, np.exp(model.feature_log_prob_[0])),
    }


@example("cs181/naive-bayes-dice")
def _(given):
    dice, counts = np.array([given["die1"], given["die2"]]), np.array([given["counts"]], dtype=float)
    names = np.array(["Die 1", "Die 2"])
    model = MultinomialNB(alpha=0, class_prior=given["prior"]).fit(
        dice, names
    )  # a row of each has its shares
    family = Multinomial(dice)
    log_p, scores = family.log_density(counts)[0], family.scores(counts)[0]
    return {
        "scores": np.exp(model.predict_joint_log_proba(counts)[0]),
        "class": model.predict(counts)[0],
        "posterior": model.predict_proba(counts)[0],
        "multinomial_coefficient": np.exp(log_p - scores)[0],
        "pmf_of_counts": np.exp(log_p),
    }


@example("stats601-and-slides/naive-bayes-softmax")
def _(given):
    p = [np.array(yaml.safe_load(text)) for text in re.findall(r"\[\[.*?\]\]", given["p_l_j_k"])]
    every = list(product(range(len(p[0])), range(len(p[1])), range(2)))  # levels of both features, and class
    X, y = np.array([row[:2] for row in every]), np.array([row[2] for row in every])
    weight = [p[0][a, k] * p[1][b, k] for a, b, k in every]
    x = np.array([given["x"]]) - 1.0
    model = CategoricalNB(alpha=0, class_prior=given["pi"]).fit(X, y, sample_weight=weight)
    linear = ClassConditional("categorical", alpha=0, class_prior=given["pi"]).fit(X, y, weight)
    posterior = softmax(linear.sufficient_statistics(x) @ linear.coef_.T + linear.intercept_)[0]
    np.testing.assert_allclose(posterior, model.predict_proba(x)[0], rtol=1e-12)
    return {
        "joint": np.exp(model.predict_joint_log_proba(x)[0]),
        "posterior": posterior,
        "beta_length": 1 + linear.coef_.shape[1],
    }


@example("stats601-and-slides/naive-bayes-mle-small")
def _(given):
    model = CategoricalNB(alpha=0).fit(np.array(given["X"]) - 1, given["y"])
    found = {"pi": np.exp(model.class_log_prior_)}
    for j, log_p in enumerate(model.feature_log_prob_):
        found |= {f"p_feature{j + 1}_class{c}": np.exp(log_p[k]) for k, c in enumerate(model.classes_)}
    return found


@example("stats601-and-slides/exponential-family-sigmoid")
def _(given):
    one, zero = map(float, re.findall(r"Poisson\((\d+)\)", given["x|y"]))
    p = given["P(y=1)"]
    model = ClassConditional("poisson", alpha=0, class_prior=[1 - p, p]).fit([[zero], [one]], [0, 1])
    return {
        "P(y=1|x=3)": model.predict_proba([[3.0]])[0, 1],
        "slope": np.diff(model.coef_, axis=0).item(),
        "intercept": np.diff(model.intercept_).item(),
    }


@example("stats601-and-slides/normal-discriminant-boundary-point", x0_as_printed="the misprinted formula")
def _(given):
    means = np.array([given["mu_i"], given["mu_j"]])
    rows = classes_with(means, [given["sigma2"] * np.eye(2)] * 2)
    model = ClassConditional("spherical", reg_covar=0, class_prior=[given["P_i"], given["P_j"]]).fit(*rows)
    odds = np.diff(model.predict_joint_log_proba(means)).ravel()  # linear between the means
    x0 = means[0] + odds[0] / (odds[0] - odds[1]) * (means[1] - means[0])
    constant = np.log(2 * np.pi * given["sigma2"])  # of two features; the discriminants leave it out
    g = model.predict_joint_log_proba([x0])[0] + constant
    return {"x0": x0, "g_i_at_x0": g[0], "g_j_at_x0": g[1]}


@example("stats601-and-slides/normal-discriminant-cases")
def _(_given):
    rng = np.random.default_rng(0)
    means, root, new = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=(30, 3))

    def fitted(family, covariances):
        return ClassConditional(family, reg_covar=0).fit(*classes_with(means, covariances))

    def close(a, b):
        return abs((a - a[:, :1]) - (b - b[:, :1])).max() < 1e-9

    round_, shared = [0.7 * np.eye(3)] * 3, [root @ root.T] * 3
    holds = []
    for family, covariances in (("spherical", round_), ("tied", shared), ("full", shared)):
        model = fitted(family, covariances)
        g, log_p = model.sufficient_statistics(new) @ model.coef_.T, model.predict_joint_log_proba(new)
        g = g + model.intercept_
        holds += [close(g, log_p), (g.argmax(axis=1) == log_p.argmax(axis=1)).all()]
    for pair, covariances in ((("tied", "spherical"), round_), (("full", "tied"), shared)):
        holds.append(close(*(fitted(family, covariances).predict_joint_log_proba(new) for family in pair)))
    return all(holds)


@example("cs181/naive-bayes-factorization")
def _(_given):
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(40, 2)), rng.integers(2, size=40)
    model = MixedNB("categorical").fit(X, y)
    every = np.array([[a, b] for a in range(3) for b in range(3)])
    product = model.class_log_prior_ + sum(model.feature_log_prob_[j].T[every[:, j]] for j in (0, 1))
    return np.allclose(model.predict_joint_log_proba(every), product, rtol=0, atol=1e-12)


@example("stats601-and-slides/naive-bayes-compound")
def _(given):
    rows, y, weight = [], [], []
    parameters = zip(given["gaussian_mean"], given["gaussian_sd"], given["P(level a|k)"], strict=True)
    for k, (mean, sd, p) in enumerate(parameters):
        for x in (mean - sd, mean + sd):
            rows += [[x, "a"], [x, "b"]]
            weight += [p, 1 - p]
            y += [k, k]
    model = MixedNB(["gaussian", "categorical"], alpha=0, var_smoothing=0, class_prior=given["pi"]).fit(
        np.array(rows, dtype=object), y, sample_weight=weight
    )
    x = np.array([[given["x_continuous"], given["x_discrete"]]], dtype=object)
    return {"posterior": model.predict_proba(x)[0]}
