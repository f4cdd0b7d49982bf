"""Linear support vector machines: soft margins, slacks, losses."""

import numpy as np

from suffice.statistics import margin_loss
from suffice.svm import LinearSVC, LinearSVR

from ._canon import example


def slacks(model, X, y):
    return margin_loss(np.asarray(y) * model.decision_function(X), "hinge")


@example("li-supervised/li-ex-7.3", dual="the asked form, whose solution is the other values")
def _(given):
    X, y, C = given["X"], given["y"], given["C"]
    model = LinearSVC(C=C, penalize_intercept=False, tol=1e-12).fit(X, y)
    xi, w = slacks(model, X, y), model.coef_[0]
    return {
        "alpha": 2 * C * xi,
        "w": w,
        "b": model.intercept_[0],
        "xi": xi,
        "primal_value": 0.5 * w @ w + C * xi @ xi,
    }


@example("cs181/slack-values")
def _(given):
    margin = np.array(given["y_times_h"], float)

    def case(m):
        if m > 1:
            return "outside margin"
        if m == 1:
            return "on boundary"
        return "inside margin" if m > 0 else "on hyperplane" if m == 0 else "misclassified"

    return {"xi": margin_loss(margin, "hinge"), "case": [case(m) for m in margin]}


@example("cs181/C-limits")
def _(_given):
    X = np.array([[2.0, 2.0], [3.0, 3.0], [2.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    y = [1, 1, 1, -1, -1, -1]

    def margin(C):
        model = LinearSVC(loss="hinge", C=C, penalize_intercept=False, tol=1e-8).fit(X, y)
        return 1.0 / np.linalg.norm(model.coef_)

    margins = [margin(C) for C in (0.01, 0.1, 1.0, 10.0, 1e4)]
    return bool(np.all(np.diff(margins) <= 1e-7) and np.isclose(margins[-1], 0.5))


@example("stats601-and-slides/svm-hinge-equivalence")
def _(_given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    C = 0.7
    model = LinearSVC(loss="hinge", C=C, penalize_intercept=False, tol=1e-10).fit(X, y)
    best = np.append(model.coef_, model.intercept_)

    def risk(theta):
        f = X @ theta[:2] + theta[2]
        return margin_loss(y * f, "hinge").sum() + theta[:2] @ theta[:2] / (2 * C)

    around = best + 0.05 * rng.normal(size=(200, 3))
    return all(risk(best) <= risk(theta) + 1e-9 for theta in around)


@example("stats601-and-slides/epsilon-insensitive-loss")
def _(given):
    residual = np.array(given["residual"])

    def loss(epsilon):
        """The mean loss of each residual, at a line of zero."""
        model = LinearSVR(epsilon=epsilon, C=1e-9, fit_intercept=False)
        each = [model.fit([[0.0]], [r]).statistics_.hinge for r in residual]
        return np.array(each)

    return {"loss": loss(given["epsilon"]), "eps0_is_absolute": loss(0.0)}
