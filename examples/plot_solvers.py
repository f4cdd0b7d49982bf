"""
Several algorithms, one optimum
===============================

Logistic regression with a penalty has one optimum. All solvers of
:class:`~suffice.linear_model.LogisticRegression` sum the loss and its derivatives over the rows in each pass.
This example compares their convergence, from a start at zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from suffice.fitting import gradient_descent, quasi_newton
from suffice.linear_model import LogisticRegression

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
solvers = {
    "newton": "o",
    "lbfgs": "s",
    "bfgs": "^",
    "dfp": "v",
    "gradient": "D",
    "svrg": "P",
}
fits = {
    solver: LogisticRegression(
        solver=solver, tol=1e-7, max_iter=2000, random_state=0
    ).fit(X, y)
    for solver in solvers
}
best = min(model.trace_[-1] for model in fits.values())

# %%
# The iterates on a quadratic in two dimensions. With exact line searches, consecutive steps of gradient
# descent are orthogonal, and convergence is slow. A quasi-Newton method has estimated the curvature after the
# first step, and its second step ends at the minimum. A constant step size, here nearly the largest that
# converges, oscillates.

Q, b, start = (
    np.array([[6.0, 2.0], [2.0, 1.5]]),
    np.array([1.0, 1.0]),
    np.array([-1.3, 2.3]),
)


def valley(x):
    return x @ Q @ x / 2 - b @ x, Q @ x - b


def way(minimise, steps, **options):
    points = [
        minimise(valley, start, max_iter=n, tol=0.0, **options).model
        for n in range(1, steps + 1)
    ]
    return np.array([start, *points])


ways = {
    "gradient, exact searches": way(gradient_descent, 12, step="line-search"),
    "gradient, constant step": way(gradient_descent, 6, step=0.29),
    "BFGS": way(quasi_newton, 2, update="bfgs", accuracy=1e-10),
}

# %%
# The left panel shows the loss above its minimum after each iteration, for thirty coefficients. Newton's
# method computes the curvature, the quasi-Newton methods estimate it, gradient descent does not use it. SVRG
# is fastest at first, since a pass over the rows has many of its steps, and slowest in the end.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(12, 4.8), layout="constrained"
)
colors = dict(
    zip(
        solvers,
        plt.colormaps["viridis"](np.linspace(0.0, 0.9, len(solvers))),
        strict=True,
    )
)
for solver, model in fits.items():
    gap = np.maximum(model.trace_ - best, 1e-13)
    left.plot(
        range(1, len(gap) + 1), gap, color=colors[solver], label=solver, lw=2
    )
    left.plot(len(gap), gap[-1], solvers[solver], color=colors[solver])
left.set(
    xscale="log",
    yscale="log",
    ylim=(5e-14, 1.0),
    xlabel="iterations",
    ylabel="loss above its minimum",
)
left.set_title("six solvers, thirty coefficients")
left.legend(frameon=False, loc="lower left")

grid = np.stack(
    np.meshgrid(np.linspace(-2.0, 1.2, 200), np.linspace(-1.5, 2.5, 200)), axis=-1
)
height = np.einsum("...i,ij,...j->...", grid, Q, grid) / 2 - grid @ b
right.contour(
    grid[..., 0],
    grid[..., 1],
    height - height.min(),
    np.geomspace(0.02, 12, 10),
    colors="0.8",
)
for (name, points), style in zip(ways.items(), ("o-", "D--", "s-"), strict=True):
    right.plot(*points.T, style, label=name, ms=4, lw=1.8)
right.plot(*np.linalg.solve(Q, b), "k*", ms=14)
right.set(
    xlim=(-2.0, 1.2),
    ylim=(-1.5, 2.5),
    xticks=[],
    yticks=[],
    title="iterates on a quadratic",
)
right.legend(frameon=False, loc="lower left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
