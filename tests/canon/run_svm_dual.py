"""Support vector machines through their dual: hard and soft margins, kernels, steps of two variables."""

import numpy as np
import pytest

from suffice.kernels import RBF, Polynomial
from suffice.svm import SVC
from suffice.textbook import hyperplane_distance, is_linearly_separable, margin, smo_step

from ._canon import example, given

SQUARE = Polynomial(2, gamma=1, coef0=1)  # (1 + x z)^2


def columns(g):
    X = np.asarray(g["X"] if "X" in g else g["x"], float)
    return (X if X.ndim == 2 else X[:, None]), np.asarray(g["y"], float)


def solved(g, C=np.inf, kernel="linear"):
    X, y = columns(g)
    model = SVC(C=C, kernel=kernel, solver="qp").fit(X, y)
    return X, y, model, model.kkt_report(X, y)


def one_based(where):
    return (np.flatnonzero(where) + 1).tolist()


@example("li-supervised/li-7.1")
def _(g):
    X, y, model, report = solved(g)
    width = margin(X, y, model.coef_[0], model.intercept_[0]).min()
    return {
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "functional_margins": report.margin,
        "geometric_margin": width,
        "band_width": 2 * width,
        "support_vectors": one_based(report.alpha > 0),
        "objective": report.primal,
    }


@example(
    "li-supervised/li-7.2",
    reduced_objective="a polynomial on paper",
    unconstrained_stationary_point="of that polynomial",
    s_on_a1_0="of that polynomial",
    s_on_a2_0="of that polynomial",
)
def _(g):
    _, _, model, report = solved(g)
    return {
        "alpha": report.alpha,
        "dual_value": -report.dual,
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "support_vectors": one_based(report.alpha > 0),
    }


@example("li-supervised/li-ex-7.2", hyperplane="w and b in words")
def _(g):
    X, y, model, report = solved(g)
    width = margin(X, y, model.coef_[0], model.intercept_[0]).min()
    return {
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "alpha": report.alpha,
        "dual_value": -report.dual,
        "functional_margins": report.margin,
        "support_vectors": one_based(report.alpha > 0),
        "geometric_margin": width,
        "band_width": 2 * width,
    }


@example("li-supervised/li-7-soft-b-interval", b_interval="the model has its middle")
def _(g):
    _, _, model, report = solved(g, g["C"])
    return {
        "alpha": report.alpha,
        "w": model.coef_[0],
        "b_midpoint": model.intercept_[0],
        "primal_value": report.primal,
        "sum_xi": report.slack.sum(),
        "hinge_lambda": 1 / (2 * g["C"]),
        "hinge_objective": report.primal / g["C"],
    }


@example("li-supervised/li-7-smo-step")
def _(g):
    X, y = columns(g)
    K = X @ X.T
    step = smo_step(K, y, g["alpha"], g["b"], g["first"] - 1, g["second"] - 1, C=g["C"])
    after = K @ (step.alpha * y) + step.intercept - y
    right = np.where(step.alpha > 0, np.abs(y * after) < 1e-12, y * after > -1e-12)
    return {
        "E": step.errors,
        "eta": step.curvature,
        "alpha_second_unclipped": step.unclipped,
        "L": step.low,
        "H": step.high,
        "alpha": step.alpha,
        "b1": step.b1,
        "b2": step.b2,
        "b": step.intercept,
        "E_after": after,
        "kkt_satisfied": bool(right.all()),
    }


@example("gong-xu/gx-p10.2")
def _(g):
    return {"distance": hyperplane_distance([[0.0, 0.0]], g["w"], g["b"])[0]}


@example("gong-xu/gx-10.svm-hard")
def _(g):
    _, _, model, _ = solved(g)
    return {
        "w": model.coef_[0],
        "b": model.intercept_[0],
        "margin": 2 / np.linalg.norm(model.coef_),
    }


@example("gong-xu/gx-10.svm-soft")
def _(g):
    def case(C):
        _, _, model, report = solved(g, C)
        return {
            "w": model.coef_[0],
            "b": model.intercept_[0],
            "alpha": report.alpha,
            "objective": report.primal,
            "xi7": report.slack[6],
        }

    return {"C7": case(1.0), "C70": case(10.0)}


def steps(K, y, C):
    """Steps with the most violating pair, until there is none."""
    alpha, b, values = np.zeros(len(y)), 0.0, [0.0]
    while True:
        slope = K @ (alpha * y) - y
        rises = np.where(np.where(y > 0, alpha < C, alpha > 0), slope, np.inf)
        falls = np.where(np.where(y > 0, alpha > 0, alpha < C), slope, -np.inf)
        if falls.max() - rises.min() < 1e-8:
            return alpha, b, np.array(values)
        step = smo_step(K, y, alpha, b, int(rises.argmin()), int(falls.argmax()), C=C)
        alpha, b = step.alpha, step.intercept
        assert (alpha >= 0).all() and (alpha <= C).all() and abs(alpha @ y) < 1e-9
        values.append(alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y))


@example(
    "gong-xu/gx-10.smo-offset",
    correct_b1="the formula of smo_step",
    correct_b2="the formula of smo_step",
)
def _(g):
    X, y = columns(g)
    return {"converges_to_b_C7": steps(X @ X.T, y, 1.0)[1]}


@example("stats601-and-slides/smo-invariants")
def _(_g):
    for name, C in (("svm-hard-small", 1e3), ("svm-soft-small", 1.0)):
        X, y = columns(given(f"stats601-and-slides/{name}"))
        alpha, b, values = steps(X @ X.T, y, C)
        model = SVC(kernel="linear", C=C, solver="qp").fit(X, y)
        np.testing.assert_allclose((alpha * y) @ X, model.coef_[0], atol=1e-6)
        np.testing.assert_allclose(b, model.intercept_[0], atol=1e-6)
        assert (np.diff(values) > -1e-12).all()
    return True


@example("cs181/hard-margin-two-points")
def _(g):
    X, y, model, report = solved(g)
    return {
        "w": model.coef_[0],
        "w0": model.intercept_[0],
        "margin": margin(X, y, model.coef_[0], model.intercept_[0]).min(),
        "alpha": report.alpha,
        "primal": report.primal,
        "dual": report.dual,
    }


@example("cs181/hard-margin-six-points")
def _(g):
    X, y, model, report = solved(g)
    return {
        "w": model.coef_[0],
        "w0": model.intercept_[0],
        "margin": margin(X, y, model.coef_[0], model.intercept_[0]).min(),
        "functional_margins": report.margin,
        "half_w_squared": report.primal,
    }


@example("cs181/hard-margin-infeasible")
def _(g):
    X, y = columns(g)
    with pytest.raises(ValueError, match="not separable"):
        SVC(C=np.inf, kernel="linear").fit(X, y)
    soft = SVC(kernel="linear").fit(X, y)
    return not is_linearly_separable(X, y) and bool(np.isfinite(soft.decision_function(X)).all())


@example("cs181/strong-duality")
def _(_g):
    for g, C in ((given("cs181/hard-margin-six-points"), np.inf), (given("cs181/soft-margin-1d"), 1.0)):
        X, y, model, report = solved(g, C)
        assert abs(report.gap) < 1e-6 and abs(report.alpha @ y) < 1e-6
        np.testing.assert_allclose((report.alpha * y) @ X, model.coef_[0], atol=1e-6)
        if np.isinf(C):
            np.testing.assert_allclose(report.margin[report.alpha > 1e-5], 1.0, atol=1e-6)
    return True


@example("cs181/hard-margin-boundary-not-support")
def _(g):
    _, _, _, report = solved(g)
    alpha = np.where(report.alpha > 1e-6, report.alpha, 0.0)
    return {
        "alpha": alpha,
        "on_boundary_indices": np.flatnonzero(np.isclose(report.margin, 1)).tolist(),
        "support_vector_indices": np.flatnonzero(alpha).tolist(),
    }


@example("cs181/soft-margin-1d")
def _(g):
    _, _, model, report = solved(g, g["C"])
    return {
        "w": model.coef_[0, 0],
        "w0": model.intercept_[0],
        "slacks": report.slack,
        "alpha": report.alpha,
        "primal": report.primal,
        "dual": report.dual,
        "margin": 1 / abs(model.coef_[0, 0]),
    }


@example("cs181/soft-margin-small-C", w0_interval="the model has its middle")
def _(g):
    _, _, model, report = solved(g, g["C"])
    assert model.intercept_[0] == pytest.approx(-0.75)
    return {"w": model.coef_[0, 0], "alpha": report.alpha, "objective": report.primal}


@example("cs181/intercept-from-boundary-point")
def _(g):
    X, y, model, report = solved(given(f"cs181/{g['case']}"), 1.0)
    n = g["point"]
    assert report.position[n] == "on"
    return {"w0": y[n] - model.coef_[0] @ X[n]}


@example("cs181/kernel-svm-equals-mapped-svm")
def _(_g):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y, (a, b) = np.where(rng.random(30) < 0.5, 1, -1), X.T
    r = np.sqrt(2.0)
    mapped = np.stack([np.ones(30), r * a, r * b, a * a, b * b, r * a * b], axis=1)
    dual = SVC(kernel=SQUARE, solver="qp").fit(X, y).decision_function(X)
    return np.allclose(
        dual, SVC(kernel="linear", solver="qp").fit(mapped, y).decision_function(mapped), atol=1e-5
    )


@example("stats601-and-slides/svm-two-points")
def _(g):
    _, _, model, report = solved(g)
    return {
        "beta": model.coef_[0],
        "beta0": model.intercept_[0],
        "alpha": report.alpha,
        "margin_one_sided": 1 / np.linalg.norm(model.coef_),
        "primal": report.primal,
        "dual": report.dual,
    }


@example("stats601-and-slides/svm-hard-small")
def _(g):
    X, y, model, report = solved(g)
    f = X @ model.coef_[0]
    width = 1 / np.linalg.norm(model.coef_)
    return {
        "beta": model.coef_[0],
        "beta0": model.intercept_[0],
        "alpha": report.alpha,
        "functional_margins": report.margin,
        "margin_one_sided": width,
        "margin_two_sided": 2 * width,
        "slide_intercept": -(f[y < 0].max() + f[y > 0].min()) / 2,
        "primal": report.primal,
        "dual": report.dual,
    }


@example("stats601-and-slides/kernel-svm-xor", **{"f(x)": "checked at (2, 3)"})
def _(g):
    _, _, model, report = solved(g, kernel=SQUARE)
    return {
        "alpha": report.alpha,
        "beta0": model.intercept_[0],
        "f_at_(2,3)": model.decision_function([[2.0, 3.0]])[0],
        "dual_value": report.dual,
        "norm_squared": 2 * report.primal,
    }


@example("stats601-and-slides/svm-soft-small")
def _(g):
    X, y, model, report = solved(g, g["C"])
    wrong = (y - X @ model.coef_[0])[report.alpha > 1e-9].mean()
    return {
        "beta": model.coef_[0, 0],
        "beta0": model.intercept_[0],
        "xi": report.slack,
        "alpha": report.alpha,
        "objective": report.primal,
        "free_support_vectors_1_based": one_based(report.position == "on"),
        "wrong_intercept_if_all_support_vectors_were_averaged": wrong,
    }


@example(
    "stats601-and-slides/svm-soft-no-free-support-vector",
    admissible_intercept_interval="the model has its middle",
)
def _(g):
    _, _, model, report = solved(g, g["C"])
    return {
        "beta": model.coef_[0, 0],
        "alpha": report.alpha,
        "objective": report.primal,
        "midpoint": model.intercept_[0],
    }


@example("stats601-and-slides/svm-kkt-table")
def _(_g):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    for C in (0.1, 5.0):
        report = SVC(C=C, kernel=RBF(0.5), solver="qp").fit(X, y).kkt_report(X, y)
        m, alpha, slack = report.margin, report.alpha, report.slack
        assert (m[report.position == "outside"] > 1 - 1e-3).all()
        assert np.allclose(m[report.position == "on"], 1, atol=1e-3)
        assert (m[report.position == "inside"] < 1 + 1e-3).all()
        assert (alpha[m > 1 + 1e-3] == 0).all() and np.allclose(alpha[m < 1 - 1e-3], C)
        assert np.allclose((C - alpha) * slack, 0, atol=1e-3)
    return True


@example("stats601-and-slides/svm-budget-form")
def _(_g):
    X, y = columns(given("stats601-and-slides/svm-soft-small"))
    for C in (0.2, 1.0):
        fixed = SVC(C=C, kernel="linear", solver="qp").fit(X, y)
        budget = fixed.kkt_report(X, y).slack.sum()
        same = SVC(slack_budget=budget, kernel="linear", solver="qp").fit(X, y)
        np.testing.assert_allclose(same.coef_, fixed.coef_, atol=1e-3)
    X, y = columns(given("stats601-and-slides/svm-hard-small"))
    hard, zero = SVC(C=np.inf, kernel="linear"), SVC(slack_budget=0.0, kernel="linear")
    return np.allclose(zero.fit(X, y).coef_, hard.fit(X, y).coef_, atol=1e-3)


@example("stats601-and-slides/kernel-svm-xor-soft", **{"f(x)": "the slacks are those of 0.4 x1 x2"})
def _(g):
    _, _, _, report = solved(g, g["C"], SQUARE)
    return {"alpha": report.alpha, "slack": report.slack, "objective": report.primal}
