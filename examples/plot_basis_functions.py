"""
Curves by linear models
=======================

A linear model can fit curves if its features are nonlinear functions of x.
:class:`~suffice.preprocessing.BasisFunctions` computes such basis functions, and any linear model follows in
the pipeline.

Polynomials are global, so that each row influences the whole curve. Gaussian radial basis functions, sigmoids
and splines are local.
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
# The last step is :class:`~suffice.linear_model.BayesianLinearRegression`, which also predicts a standard
# deviation. It is larger where there are no rows. Beyond the rows, the functions extrapolate differently:
# polynomials diverge, Gaussian radial basis functions go to zero and sigmoids become constant after a width
# or two, and splines are constant.

kinds = {
    "polynomial, degree 6": BasisFunctions("polynomial", degree=6),
    "nine Gaussian RBFs": BasisFunctions("gaussian", n_knots=9),
    "nine sigmoids": BasisFunctions("sigmoid", n_knots=9, width=0.05),
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
axes[1, 0].set_ylabel("basis functions")
plt.show()

# %%
# How many functions? With too few, the curve underfits: it has the same error for every sample (bias). With
# too many, it overfits: it is another curve for every sample (variance). Both can be estimated if samples can
# be drawn repeatedly.

from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.model_selection import (  # noqa: E402
    bias_variance_decomposition,
    replicate_predictions,
)

points = np.linspace(0.0, 1.0, 40)[:, None]
degrees = np.arange(1, 11)


def sample(rng):
    """Another sample of the targets, at the same points."""
    return points, truth(points) + 0.3 * rng.normal(size=len(points))


parts = []
for degree in degrees:
    method = make_pipeline(BasisFunctions(degree=degree), LinearRegression())
    fits = replicate_predictions(method, sample, points, n_replicates=60)
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
ax.axhline(0.09, color="0.6", lw=1, ls=":", label="variance of the noise")
ax.set(xlabel="degree", ylabel="squared error", xticks=degrees, ylim=(0, 0.3))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
