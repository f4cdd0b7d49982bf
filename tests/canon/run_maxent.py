"""Maximum entropy: distributions from means, the conditional model, its solvers and its features."""

import re
import warnings

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from suffice.linear_model import (
    LogisticRegression,
    MaximumEntropy,
    maximum_entropy_distribution,
    minimum_norm_distribution,
    select_features,
)

from ._canon import example, given
from ._numeric import stopped


def indicators(outcomes, sums):
    """A column for each sum of outcomes, as "A+B": one where the outcome is in it."""
    found = [[float(o in text.split("+")) for text in sums] for o in outcomes]
    return np.array(found).reshape(len(outcomes), len(sums))


# Distributions ---------------------------------------------------------------------------------

BASEBALL = ["HR", "IH", "IO", "OH", "OO", "OT"]
FIVE = "HR+IH+IO+OH+OO"


@example("gong-xu/gx-9.1a")
def _(given):
    sums, mean = given["constraint"].replace(" ", "").split("=")
    p = maximum_entropy_distribution(indicators(BASEBALL, [sums]), [float(mean)]).probability
    assert np.ptp(p[:5]) < 1e-12
    return {"each": p[0], "OT": p[5]}


@example("gong-xu/gx-9.1b")
def _(given):
    pairs = [text.replace("sum of five", FIVE).replace(" ", "").split("=") for text in given["constraints"]]
    F = indicators(BASEBALL, [sums for sums, _ in pairs])
    p = maximum_entropy_distribution(F, [float(mean) for _, mean in pairs]).probability
    return dict(zip(BASEBALL, p, strict=True))


@example("gong-xu/gx-p9.1")
def _(given):
    found = maximum_entropy_distribution(given["faces"], given["mean"])
    return {"p": found.probability, "lambda": found.weights[0], "entropy_nats": found.entropy}


@example("gong-xu/gx-p9.2")
def _(given):
    """On a fine grid: the density is the probability of a cell by its width."""
    mu, width = 1.7, 0.01
    x = np.arange(width / 2, 40 * mu, width)
    p = maximum_entropy_distribution(x, mu).probability
    return {"density": np.allclose(p / width, np.exp(-x / mu) / mu, atol=1e-5)}


@example("gong-xu/gx-p9.3")
def _(given):
    mu, sigma, width = -0.5, 1.3, 0.02
    x = np.arange(mu - 12 * sigma, mu + 12 * sigma, width)
    p = maximum_entropy_distribution(np.stack([x, x**2], axis=1), [mu, sigma**2 + mu**2]).probability
    return {"density": np.allclose(p / width, stats.norm.pdf(x, mu, sigma), atol=1e-5)}


@example("gong-xu/gx-p9.6")
def _(given):
    found = minimum_norm_distribution(given["faces"], given["mean"])
    return {"lambda0": found.constant, "lambda1": found.weights[0], "p": found.probability}


@example("li-supervised/li-6.1")
def _(given):
    found = []
    for case in given["cases"]:
        F = indicators(given["outcomes"], [sums for sums, _ in case["constraints"]])
        found.append(maximum_entropy_distribution(F, [mean for _, mean in case["constraints"]]))
    return {"P": [f.probability for f in found], "entropy_nats": [f.entropy for f in found]}


@example("li-supervised/li-6.2")
def _(given):
    ((sums, mean),) = given["constraints"]
    found = maximum_entropy_distribution(indicators(given["outcomes"], [sums]), mean)
    # The text has P = exp(-1 - w0 - w1 f), and its dual is of the negative entropy.
    return {
        "w0": -1 - found.constant,
        "w1": -found.weights[0],
        "P": found.probability,
        "dual_value": -found.trace[-1],
    }


@example("li-supervised/li-6-iis")
def _(given):
    def after(n):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            f = indicators("ABCDE", ["A+B"])
            found = maximum_entropy_distribution(f, given["E_empirical"], solver="iis", max_iter=n, tol=1e-12)
        return found.weights[0]

    w = [after(n) for n in (1, 2, 3, 4)]
    return {"first_delta": w[0] - given["w_start"], "w_after": w, "w_limit": after(1000)}


@example("stats601-and-slides/maxent-translation-example")
def _(given):
    words = ["dans", "en", "a", "au cours de", "pendant"]
    f = indicators(words, [re.sub(r"p\((\w+)\)", r"\1", given["constraint"].split(" = ")[0])])
    third, tenths = (maximum_entropy_distribution(f, mean) for mean in (1 / 3, 3 / 10))
    free = maximum_entropy_distribution(np.zeros((given["outcomes"], 0)), []).probability
    assert np.ptp(free) == 0
    return {
        "with_1_over_3": dict(zip(words, third.probability, strict=True)),
        "with_3_over_10": dict(zip(words, tenths.probability, strict=True)),
        "no_constraint": free[0],
        "entropy_with_3_over_10": tenths.entropy,
    }


# The conditional model -------------------------------------------------------------------------


def by_counts(given):
    """Rows of two columns, their labels, and how often each was seen."""
    table = given["counts_by_x"].items()
    cells = [(x, y, n) for x, counts in table for y, n in zip("ABC", counts, strict=True)]
    X = np.array([[float(digit) for digit in x] for x, _, _ in cells])
    return X, np.array([y for _, y, _ in cells]), np.array([n for _, _, n in cells], dtype=float)


FEATURES = [lambda x, c, i=i, k=k: x[i] == 1 and c == k for i in range(2) for k in "ABC"]
NAMES = ["1A", "1B", "1C", "2A", "2B", "2C"]


def probabilities(model, *contexts):
    P = model.predict_proba([[float(digit) for digit in x] for x in contexts])
    return {f"P_given_{x}": p for x, p in zip(contexts, P, strict=True)}


@example("gong-xu/gx-9.maxent")
def _(given):
    data = by_counts(given)
    # Each step of Newton's method is the shortest, and so is their sum.
    model = MaximumEntropy(FEATURES, C=np.inf, solver="newton", tol=1e-10).fit(*data)
    scaled = MaximumEntropy(FEATURES, C=np.inf, solver="iis", tol=1e-8).fit(*data)
    np.testing.assert_allclose(scaled.predict_proba(data[0]), model.predict_proba(data[0]), atol=1e-6)
    first = stopped(MaximumEntropy(FEATURES, C=np.inf, solver="iis", max_iter=1), *data)
    return probabilities(scaled, "10", "01", "11", "00") | {
        "mean_log_likelihood": -model.statistics_.loss / model.statistics_.weight,
        "dual": model.trace_[-1],
        "empirical_expectations": model.observed_,
        "first_iis_increment_f_1A": first.coef_[0],
        "lambda_min_norm": model.coef_,
    }


@example("gong-xu/gx-9.feature-selection")
def _(given):
    full = MaximumEntropy(FEATURES, C=np.inf, tol=1e-9)
    exact, near = (
        select_features(full, *by_counts(given), n_features=2, gain=gain) for gain in ("exact", "approximate")
    )
    first = dict(zip(NAMES, exact.candidates[0], strict=True))
    np.testing.assert_allclose(near.candidates[0], exact.candidates[0], atol=1e-9)
    for a, b in ("1A", "2B"), ("1C", "2C"), ("1B", "2A"):
        assert abs(first[a] - first[b]) < 1e-9
    assert [NAMES[p] for p in exact.chosen] == [NAMES[p] for p in near.chosen] == ["1A", "2B"]

    def after(found):
        return {name: g for name, g in zip(NAMES, found.candidates[1], strict=True) if name != "1A"}

    return {
        "step1_gain_1A_and_2B": first["1A"],
        "step1_gain_1C_and_2C": first["1C"],
        "step1_gain_1B_and_2A": first["1B"],
        "after_adding_1A": {"exact": after(exact), "approx": after(near)},
        "alpha_1A": near.weights[0][0],
    }


@example("gong-xu/gx-p9.7")
def _(given):
    X, y, count = by_counts(given)
    # The text penalises the mean loss, and C the sum.
    model = MaximumEntropy(FEATURES, C=given["gamma"] / count.sum(), tol=1e-9).fit(X, y, count)
    return probabilities(model, "10") | {"lambda": model.coef_, "objective": model.trace_[-1]}


SMALL = "stats601-and-slides/maxent-conditional-small"


def in_contexts(given):
    """Features as a matrix for each class, of which a context takes a row; contexts, labels and counts."""
    counts = np.array(given.get("counts", given.get("counts_rows_x_cols_y")), dtype=float)
    F = np.array(given.get("features", given.get("features_as_matrices_x_by_y")))  # feature, context, class
    x, y = (part.ravel() for part in np.indices(counts.shape))
    return list(F.transpose(2, 1, 0)), (np.eye(len(counts))[x], y, counts.ravel())


def entropy(model, data):
    P = model.predict_proba(data[0])
    return -(data[2] @ (P * np.log(P)).sum(axis=1)) / data[2].sum()


@example(SMALL)
def _(given):
    features, data = in_contexts(given)
    model = MaximumEntropy(features, C=np.inf, solver="gis", tol=1e-8).fit(*data)
    np.testing.assert_allclose(model.feature_expectations(*data), model.observed_)
    how = {"C": np.inf, "solver": "gis"}
    steps = [stopped(MaximumEntropy(features, **how, max_iter=n), *data).coef_ for n in (1, 2)]
    return {
        "lambda": model.coef_,
        "p(y|x)": model.predict_proba(np.eye(2)),
        "dual_value_equals_loglik": -model.trace_[-1],
        "conditional_entropy_equals_minus_dual": entropy(model, data),
        "feature_expectations": model.feature_expectations(data[0], sample_weight=data[2]),
        "GIS_iteration_1": steps[0],
        "GIS_iteration_2": steps[1],
        "C": np.sum(features, axis=2).max(),
    }


@example("stats601-and-slides/maxent-iis-small")
def _(given):
    features, data = in_contexts(given)
    how = {"C": np.inf, "solver": "iis", "tol": 1e-9}
    model, first = MaximumEntropy(features, **how).fit(*data), MaximumEntropy(features, **how, max_iter=1)
    assert (np.diff(model.trace_) <= 1e-12).all()
    return {
        "lambda_after_1_simultaneous_step": stopped(first, *data).coef_,
        "lambda": model.coef_,
        "p(y|x)": model.predict_proba(np.eye(2)),
        "loglik_per_sample": -model.trace_[-1],
        "sum_of_features_f#": np.sum(features, axis=2).T,
    }


@example("stats601-and-slides/maxent-gradient-at-zero")
def _(given):
    features, data = in_contexts(given)
    at_zero = stopped(MaximumEntropy(features, solver="gradient", max_iter=0), *data)
    assert at_zero.coef_.tolist() == given["lambda"]
    return {"gradient": at_zero.observed_ - at_zero.expected_}


@example("stats601-and-slides/maxent-gis-constant-sum")
def _(_):
    features, data = in_contexts(given(SMALL))
    slack = [np.column_stack([A, 1.0 - A.sum(axis=1)]) for A in features]
    how = {"C": np.inf, "tol": 1e-9}
    gis, iis = (MaximumEntropy(slack, solver=solver, **how).fit(*data) for solver in ("gis", "iis"))
    plain = MaximumEntropy(features, solver="gradient", **how).fit(*data)
    P = [model.predict_proba(np.eye(2)) for model in (gis, iis, plain)]
    same = np.allclose(gis.coef_, iis.coef_, atol=1e-12) and len(gis.trace_) == len(iis.trace_)
    return same and (np.diff(gis.trace_) <= 1e-14).all() and np.allclose(P[0], P[2], atol=1e-5)


@example("stats601-and-slides/maxent-equals-multinomial-logistic")
def _(_):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    products = [lambda x, c, j=j, k=k: x[j] * (c == k) for k in range(3) for j in range(2)]
    ours = MaximumEntropy(products, C=np.inf, tol=1e-9).fit(X, y)
    logistic = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-9).fit(X, y)
    shares = np.bincount(y) / 60
    alone = maximum_entropy_distribution(np.eye(3), shares).probability
    same = np.allclose(ours.predict_proba(X), logistic.predict_proba(X), atol=1e-6)
    return same and np.allclose(alone, shares, atol=1e-9)
