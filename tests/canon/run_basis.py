"""Curves by basis functions, classes by least squares, models averaged."""

from fractions import Fraction

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from suffice.linear_model import LinearRegression, RidgeClassifier, model_probabilities
from suffice.preprocessing import BasisFunctions
from suffice.textbook import is_linearly_separable

from ._canon import example
from ._numeric import column

# Basis functions -------------------------------------------------------------------------------


def powers(degree, **options):
    return make_pipeline(BasisFunctions(degree=degree), LinearRegression(**options))


@example("li-supervised/li-1.1")
def _(given):
    x, y = column(given["x"]), np.array(given["y"])
    coefficients, half = {}, {}
    for degree in given["degrees"]:
        model = powers(degree).fit(x, y) if degree else LinearRegression().fit(np.zeros_like(x), y)
        if degree == 9:  # the same polynomials, of x from -1 to 1, where powers are told apart by moments
            model = make_pipeline(MinMaxScaler((-1, 1)), powers(degree)).fit(x, y)
        residual = y - model.predict(x)
        half[degree] = 0.5 * residual @ residual
        line = model[-1] if degree in (1, 3) else model
        if degree < 9:
            coefficients[degree] = [line.intercept_, *(line.coef_ if degree else ())]
    return {
        "coefficients": coefficients,
        "half_rss": half,
        "max_abs_residual_degree_9_below": abs(residual).max(),
        "half_rss_nonincreasing_in_degree": bool(np.all(np.diff(list(half.values())) <= 0)),
    }


@example("cs181/basis-function-vector")
def _(given):
    basis = BasisFunctions(
        [lambda X: X[:, 0], lambda X: X[:, 0] ** 2, lambda X: X[:, 1], lambda X: np.sin(X[:, 1])]
    )
    return basis.fit_transform([given["x"]])[0]


@example("cs181/sqrt-basis")
def _(given):
    x, y = column(given["x"]), np.array(given["y"])
    plain, root = (
        LinearRegression().fit(x, y),
        make_pipeline(BasisFunctions(np.sqrt), LinearRegression()).fit(x, y),
    )
    return {
        "w_plain": [plain.intercept_, *plain.coef_],
        "sse_plain": ((y - plain.predict(x)) ** 2).sum(),
        "w_sqrt_basis": [root[-1].intercept_, *root[-1].coef_],
        "sse_sqrt_basis": ((y - root.predict(x)) ** 2).sum(),
    }


def is_invertible(A, prime=2**31 - 1):
    """Of the numbers as they are stored, exactly: its determinant is not zero modulo a prime, so not zero."""
    exact = [[Fraction(float(a)) for a in row] for row in A]
    M = [[a.numerator * pow(a.denominator, -1, prime) % prime for a in row] for row in exact]
    for k in range(len(M)):
        pivot = next((n for n in range(k, len(M)) if M[n][k]), None)
        if pivot is None:
            return False
        M[k], M[pivot] = M[pivot], M[k]
        inverse = pow(M[k][k], -1, prime)
        for n in range(k + 1, len(M)):
            factor = M[n][k] * inverse % prime
            if factor:
                M[n] = [(a - factor * b) % prime for a, b in zip(M[n], M[k], strict=True)]
    return True


@example("cs181/polynomial-basis-size")
def _(given):
    x = np.linspace(0.5, 1.5, given["N"])[:, None].repeat(given["D"], axis=1)
    basis = BasisFunctions(degree=given["degree"])
    Phi = basis.fit_transform(x)
    coef = LinearRegression(fit_intercept=False).fit(Phi, x[:, 0]).coef_
    return {
        "columns": Phi.shape[1],
        "parameters_without_bias": coef.size,
        "training_loss_possible": 0 if is_invertible(Phi) else None,  # any targets are reached
    }


@example("cs181/polynomial-interpolation")
def _(given):
    x, y = column(given["x"]), np.array(given["y"])
    model = powers(3, fit_intercept=False).fit(x, y)
    return {"w": model[-1].coef_, "loss": 0.5 * ((y - model.predict(x)) ** 2).sum()}


@example("cs181/square-basis-separates")
def _(given):
    x, y = column(given["x"]), given["y"]
    squares = BasisFunctions(np.square).fit_transform(x)
    widest = SVC(kernel="linear", C=1e6, tol=1e-12).fit(squares, y)
    return {
        "separable_in_x": is_linearly_separable(x, y),
        "separable_in_x_squared": is_linearly_separable(squares, y),
        "max_margin_threshold_on_x_squared": (-widest.intercept_ / widest.coef_[0]).item(),
    }


@example("stats601-and-slides/circle-lift")
def _(given):
    X, y = np.array(given["points"], float), np.array(given["classes"])
    lifted = BasisFunctions([lambda X: X, lambda X: (X**2).sum(axis=1)]).fit_transform(X)
    apart = ((lifted[:, 2] > 2.5) == (y == 1)).all()
    return {"lifted": lifted, "separating_plane": apart and is_linearly_separable(lifted, y)}


# Least squares as a classifier -----------------------------------------------------------------


def of_classes(given):
    """Scores of targets 1 and -1, of the second class; as targets 1 and 0 of each, they are halved."""
    model = RidgeClassifier(alpha=0).fit(column(given["x"]), given["classes"])
    return model, float(-model.intercept_.item() / model.coef_.item())


@example("cs181/least-squares-classifier")
def _(given):
    model, boundary = of_classes(given)
    own = model.decision_function(column(given["x"]))
    scores = np.column_stack([1 - own, 1 + own]) / 2
    intercept, slope = model.intercept_.item() / 2, model.coef_.item() / 2
    return {
        "W": [[0.5 - intercept, 0.5 + intercept], [-slope, slope]],
        "scores": scores,
        "row_sums": scores.sum(axis=1),
        "boundary_x": boundary,
    }


@example("cs181/least-squares-outlier")
def _(given):
    model, boundary = of_classes(given)
    return {"boundary_x": boundary, "predicted": model.predict(column(given["x"]))}


# Averages over models ---------------------------------------------------------------------------


@example("cs181/bma-two-dice")
def _(given):
    total, probabilities = model_probabilities(np.log(given["p_X_given_m"]), given["p_m"])
    return {"p_X": np.exp(total), "p_m_given_X": probabilities}
