"""
Curves by linear models
=======================

A linear model adds up features. If the features are functions of x, what it adds up is a curve, and it is
fitted as before: :class:`~suffice.preprocessing.BasisFunctions` makes the functions, and any linear model
follows.

Powers of x reach everywhere, so that each row pulls at the whole curve. Bells, steps and splines are local.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from suffice.linear_model import BayesianLinearRegression
from suffice.preprocessing import BasisFunctions

rng = np.random.default_rng(1)
x = np.sort(
    np.concatenate([rng.uniform(0.0, 0.45, 25), rng.uniform(0.7, 1.0, 15)])
)[:, None]
truth = lambda x: np.sin(2.0 * np.pi * x[:, 0] ** 2) + x[:, 0]  # noqa: E731
y = truth(x) + 0.12 * rng.normal(size=len(x))
grid = np.linspace(-0.1, 1.1, 241)[:, None]

# %%
# The last step is :class:`~suffice.linear_model.BayesianLinearRegression`, which also says how sure it is.
# Between the rows it is less sure. Beyond them each kind of function goes on in its own way: powers run off,
# bells and steps end after a width or two, and splines stay where they were.

kinds = {
    "powers up to 6": BasisFunctions("polynomial", degree=6),
    "nine bells": BasisFunctions("gaussian", n_knots=9),
    "nine steps": BasisFunctions("sigmoid", n_knots=9, width=0.05),
    "cubic splines, seven knots": BasisFunctions("spline", n_knots=7),
}
how = {"sharex": True, "height_ratios": [2, 1], "layout": "constrained"}
figure, axes = plt.subplots(2, 4, figsize=(12.5, 5.6), **how)
for column, (name, basis) in zip(axes.T, kinds.items(), strict=True):
    line = BayesianLinearRegression(
        prior_precision="evidence", noise_precision="evidence"
    )
    curve = make_pipeline(basis, line).fit(x, y)
    mean, std = curve.predict(grid, return_std=True)
    column[0].fill_between(
        grid[:, 0],
        mean - 2 * std,
        mean + 2 * std,
        color="#4338ca",
        alpha=0.15,
        lw=0,
    )
    column[0].plot(grid, mean, color="#4338ca", lw=2)
    column[0].plot(grid, truth(grid), color="0.4", lw=1, ls=":")
    column[0].plot(x, y, ".", color="#d97706", ms=6)
    column[0].set(title=name, ylim=(-0.8, 2.2))
    columns = basis.transform(grid)
    column[1].plot(grid, columns, lw=1.2)
    column[1].set(xlabel="x", ylim=(-0.1, 1.15))
    for ax in column:
        ax.spines[["top", "right"]].set_visible(False)
axes[0, 0].set_ylabel("y")
axes[1, 0].set_ylabel("the functions")
plt.show()

# %%
# How many functions? Too few, and the curve is stiff: it is wrong in the same way for every sample (bias).
# Too many, and it follows the noise: it is another curve for every sample (variance). Both can be counted
# where samples can be drawn again.

from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.model_selection import (  # noqa: E402
    bias_variance_decomposition,
    replicate_predictions,
)

points = np.linspace(0.0, 1.0, 40)[:, None]
degrees = np.arange(1, 11)


def sample(rng):
    """Another sample of as many rows, at the same places."""
    return points, truth(points) + 0.3 * rng.normal(size=len(points))


parts = []
for degree in degrees:
    method = make_pipeline(BasisFunctions(degree=degree), LinearRegression())
    fits = replicate_predictions(method, sample, points, n_replicates=200)
    parts.append(
        bias_variance_decomposition(fits, truth(points), noise=0.09).mean()
    )

figure, ax = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
for name, color, label in (
    ("bias_squared", "#4338ca", "bias, squared"),
    ("variance", "#d97706", "variance"),
    ("mse", "0.3", "with the noise: the expected error"),
):
    ax.plot(
        degrees,
        [part[name] for part in parts],
        "o-",
        ms=4,
        color=color,
        label=label,
    )
ax.axhline(0.09, color="0.6", lw=1, ls=":", label="the noise alone")
ax.set(xlabel="degree", ylabel="squared error", xticks=degrees, ylim=(0, 0.3))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
