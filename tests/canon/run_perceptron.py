"""Perceptrons step by step, margins and their losses, decisions by loss."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

from suffice.decision import BayesDecision, conditional_risk, excess_risk_bound, expected_risk
from suffice.linear_model import KernelPerceptron, MarginPerceptron, Perceptron, VotedPerceptron
from suffice.statistics import margin_loss
from suffice.textbook import (
    hyperplane_distance,
    hyperplane_projection,
    is_linearly_separable,
    margin,
    novikoff_bound,
)

from ._canon import example


def arrays(given):
    return np.array(given["X"], dtype=float), np.array(given["y"])


def steps(X, y, order, **how):
    """What each visit that changed the weights has made of them: one row at a time."""
    model, trace = Perceptron(shuffle=False, **how), []
    for n in order:
        model.partial_fit(X[n : n + 1], y[n : n + 1], classes=[-1, 1])
        if model.mistakes_[0] > len(trace):
            w, b = model.coef_[0].tolist(), model.intercept_[0]
            trace.append({"k": len(trace) + 1, "point": n + 1, "w": w, "b": b})
    return trace


def solved(trace, X, y):
    w, b = trace[-1]["w"], trace[-1]["b"]
    return {"w": w, "b": b, "updates": len(trace), "hyperplane": bool((margin(X, y, w, b) > 0).all())}


# --- Li ch. 2 ------------------------------------------------------------------------------------------


@example("li-supervised/li-2.1")
def primal_steps(given):
    X, y = arrays(given)
    model = VotedPerceptron(eta0=given["eta"], shuffle=False).fit(X, y)
    trace = steps(X, y, list(range(3)) * model.n_iter_, eta0=given["eta"])
    assert model.coef_[0].tolist() == trace[-1]["w"]
    assert model.updates_[0].tolist() == [step["point"] - 1 for step in trace]
    return {"misclassified": (model.updates_[0] + 1).tolist(), "trace": trace} | solved(trace, X, y)


@example("li-supervised/li-2.1-alt")
def primal_steps_in_another_order(given):
    X, y = arrays(given)
    trace = steps(X, y, [n - 1 for n in given["order"]], eta0=given["eta"])
    return {"trace": trace} | solved(trace, X, y)


@example("li-supervised/li-2.2")
def dual_steps(given):
    X, y = arrays(given)
    gram = X @ X.T
    model = VotedPerceptron(eta0=given["eta"], shuffle=False, kernel="precomputed").fit(gram, y)
    alpha, b = np.zeros(3), 0.0
    found = [{"k": 0, "alpha": alpha.tolist(), "b": b}]
    for n in model.updates_[0]:
        alpha, b = alpha + given["eta"] * np.eye(3)[n], b + given["eta"] * y[n]
        found.append({"k": len(found), "point": n + 1, "alpha": alpha.tolist(), "b": b})
    last = np.zeros(3)
    last[model.support_] = np.abs(model.dual_coef_[0])
    by_rows = KernelPerceptron(eta0=given["eta"], shuffle=False).fit(X, y)
    assert (by_rows.dual_coef_ == model.dual_coef_).all()
    return {
        "gram": gram.tolist(),
        "steps": found,
        "alpha": last.tolist(),
        "w": by_rows.coef_[0].tolist(),
        "b": by_rows.intercept_[0],
    }


@example("li-supervised/li-2-novikoff")
def bound_on_steps(given):
    X, y = arrays(given)
    best, learned = novikoff_bound(X, y), novikoff_bound(X, y, [1, 1], -3)
    theta = np.append(best.coef, best.intercept)
    model = Perceptron(shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.mistake_bound_, learned.bound)
    other = steps(X, y, [0, 2, 2, 2, 1, 2, 2, 2, 0, 2, 2])
    return {
        "R_squared": best.radius**2,
        "gamma_best": best.margin,
        "best_augmented_direction": (
            theta / margin(X, y, best.coef, best.intercept, kind="functional").min()
        ).tolist(),
        "bound": best.bound,
        "gamma_of_learned_1_1_m3": learned.margin,
        "bound_of_learned": learned.bound,
        "updates_observed": [model.mistakes_[0], len(other)],
    }


@example("li-supervised/li-ex-2.1")
def exclusive_or(given):
    X, y = arrays(given)
    separable, point = is_linearly_separable(X, y, return_certificate=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(tol=None, max_iter=500).fit(X, y)
    return {
        "separable": separable,
        "common_hull_point": point.tolist(),
        "perceptron_terminates": model.converged_,
    }


@example("li-supervised/li-ex-2.3")
def hulls_apart(given):
    return {"separable": is_linearly_separable(*arrays(given))}


@example("li-supervised/li-12-losses")
def losses_by_margin(given):
    m = given["margin"]
    return {
        "zero_one": margin_loss(m, "zero-one"),
        "perceptron": margin_loss(m, "perceptron"),
        "hinge": margin_loss(m, "hinge"),
        "logistic_nat": margin_loss(m, "logistic"),
        "logistic_base2": margin_loss(m, "logistic", base=2),
        "exponential": margin_loss(m, "exponential"),
    }


# --- CS181 ---------------------------------------------------------------------------------------------


def at(w, **how):
    """A perceptron with these weights: of rows for which they are right."""
    w = np.array(w, dtype=float)
    return Perceptron(fit_intercept=False, shuffle=False, **how).fit([w, -w], [1, -1], coef_init=[w])


@example("cs181/binary-rule-tie")
def tie(given):
    model = at(given["w"])
    return {"h": model.decision_function(given["x"]), "class": model.predict(given["x"])}


@example("cs181/perceptron-loss-gradient")
def loss_of_the_perceptron(given):
    X, y = arrays(given)
    model = at(given["w"])
    h = model.decision_function(X)
    losses, slope = margin_loss(y * h, "perceptron", derivative=True)
    return {
        "h": h,
        "losses": losses,
        "total": losses.sum(),
        "gradient": X.T @ (slope * y),
        "w_after_update_on_example_2_eta_1": model.partial_fit(X[1:2], y[1:2]).coef_[0],
    }


@example("cs181/perceptron-and-gate")
def and_gate(given):
    """Its rule takes a positive row on the hyperplane for right: a margin a little below zero for these."""
    X, y = arrays(given)
    model = MarginPerceptron(margin=(0.0, -0.5), fit_intercept=False, shuffle=False, eta0=given["eta"])
    model.fit(X, y)
    return {
        "w": model.coef_[0],
        "updates": model.mistakes_[0],
        "passes_including_clean_one": model.n_iter_,
    }


@example("cs181/perceptron-convergence")
def when_it_ends(given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X @ [1.0, 2.0] > 0.3, 1, -1)
    right = Perceptron(tol=None, max_iter=10**5).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        never = Perceptron(tol=None, max_iter=50).fit(X, rng.permutation(y))
    return bool(
        right.converged_
        and right.score(X, y) == 1.0
        and not never.converged_
        and never.n_iter_ == 50
        and never.trace_[-1] > 0
    )


@example("cs181/hyperplane-distance")
def distance_and_projection(given):
    x, w, b = [given["x"]], given["w"], given["w0"]
    near = hyperplane_projection(x, w, b)
    return {
        "d": hyperplane_distance(x, w, b)[0],
        "projection": near[0],
        "h_at_projection": near[0] @ w + b,
    }


@example("cs181/hyperplane-orthogonality")
def right_angle(given):
    w, p, q = np.array([3.0, 4.0]), np.array([-1.0, 2.0]), np.array([3.0, -1.0])
    assert (hyperplane_distance([p, q], w, -5.0) == 0).all()
    return {"w=(3,4), w0=-5, points (-1,2),(3,-1): w.(p-q)": w @ (p - q)}


@example("cs181/margin-scale-invariance")
def scale_of_margins(given):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(30, 3)), rng.choice([-1, 1], size=30), rng.normal(size=3)
    plain = margin(X, y, w, 0.3)
    return all(np.allclose(margin(X, y, a * w, a * 0.3), plain, rtol=1e-12) for a in (1e-3, 2.0, 1e6))


# --- Gong and Xu, STATS 601, slides --------------------------------------------------------------------


@example("gong-xu/gx-p10.5")
def smoothed_hinge(given):
    m, found = np.array(given["yf"], dtype=float), {}
    for g in given["gamma"][:3]:
        found[f"loss_gamma{g}"] = margin_loss(m, "smoothed-hinge", smoothing=g)
    grid = np.linspace(-3, 5, 1601)
    gaps = {g: margin_loss(grid, "smoothed-hinge", smoothing=g) - margin_loss(grid) for g in given["gamma"]}
    at_one = all(
        abs(grid[gap.argmax()] - 1) < 1e-9 and np.isclose(gap.max(), g * np.log(2)) for g, gap in gaps.items()
    )
    return found | {"max_gap": at_one}


@example("stats601-and-slides/margin-loss-table", zero_one="undefined at zero")
def losses_in_a_table(given):
    m = given["margin_y_times_f"]
    wrong = margin_loss(m, "zero-one")
    assert wrong[[0, 1, 3, 4]].tolist() == [1, 1, 0, 0]
    return {
        "logistic_over_log2": margin_loss(m, "logistic", base=2),
        "exponential": margin_loss(m, "exponential"),
        "hinge": margin_loss(m, "hinge"),
    }


@example("stats601-and-slides/hyperplane-distance")
def distances(given):
    return {
        "distance_2d": hyperplane_distance([[1, 1]], [1, 1], 1)[0],
        "distance_3d": hyperplane_distance([[1, 1, 1]], [1, 1, 1], 1)[0],
    }


@example("stats601-and-slides/margins-functional-geometric")
def margins(given):
    (X, y), w, b = arrays(given), np.array(given["w"]), given["b"]
    functional, geometric = margin(X, y, w, b, kind="functional"), margin(X, y, w, b)
    return {
        "functional": functional,
        "geometric": geometric,
        "set_functional": functional.min(),
        "set_geometric": geometric.min(),
        "after_scaling_by_10_functional": margin(X, y, 10 * w, 10 * b, kind="functional"),
        "after_scaling_by_10_geometric": margin(X, y, 10 * w, 10 * b),
    }


@example("stats601-and-slides/perceptron-separable")
def separable(given):
    model = Perceptron(fit_intercept=False).fit(*arrays(given))
    return {
        "separates_after_finite_updates": model.converged_ and model.separated_.all(),
        "label_at_zero": model.predict([[0.0, 0.0]])[0],
    }


@example("stats601-and-slides/conditional-risk-general-loss")
def risks_of_actions(given):
    P, loss = [given["posterior"]], np.array(given["loss_rows_actions_cols_states"]).T
    risks, plain = conditional_risk(P, loss)[0], conditional_risk(P)[0]
    return {
        "risks": risks,
        "best_action": risks.argmin() + 1,
        "zero_one_risks": plain,
        "zero_one_action": plain.argmin() + 1,
    }


@example("stats601-and-slides/bayes-risk-table")
def plugged_in(given):
    weight, P, Q = (np.array(given[name]) for name in ("P(x)", "eta", "eta_hat"))
    P, Q = np.column_stack([1 - P, P]), np.column_stack([1 - Q, Q])
    joint = weight[:, None] * P
    best, plugged = (conditional_risk(R).argmin(axis=1) for R in (P, Q))
    risks = expected_risk(best, joint), expected_risk(plugged, joint)
    return {
        "bayes_labels": best,
        "bayes_risk": risks[0],
        "plugin_labels": plugged,
        "plugin_risk": risks[1],
        "excess": risks[1] - risks[0],
        "bound_2E_abs_eta_diff": excess_risk_bound(P, Q, weight),
    }


@example("stats601-and-slides/zero-one-risk-mean")
def mean_losses(given):
    y, f = np.array(given["y"]), np.array(given["f"])
    return {"zero_one": expected_risk(f > 0, y > 0), "hinge": margin_loss(y * f).mean()}


@example("stats601-and-slides/plugin-risk-bound")
def loss_of_estimates(given):
    rng = np.random.default_rng(0)
    for _ in range(200):
        weight, eta, other = rng.dirichlet(np.ones(4)), rng.random(4), rng.random(4)
        same = np.where(eta >= 0.5, 0.5 + 0.5 * other, 0.5 * other)  # on the same side of one half
        P, Q, S = (np.column_stack([1 - p, p]) for p in (eta, other, same))
        joint = weight[:, None] * P
        best, plugged, agreed = (expected_risk(conditional_risk(R).argmin(axis=1), joint) for R in (P, Q, S))
        if (
            not -1e-12 <= plugged - best <= excess_risk_bound(P, Q, weight) + 1e-12
            or abs(agreed - best) > 1e-12
        ):
            return False
    # What a classifier is made of is decided so.
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    decided = BayesDecision(GaussianNB()).fit(X, y)
    return bool((decided.predict(X) == decided.conditional_risk(X).argmin(axis=1)).all())
