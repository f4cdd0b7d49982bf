"""
Maximum entropy distributions
=============================

A die is thrown many times, and only the mean is reported. Of all distributions with this mean, the one of
largest entropy assumes nothing else: the probabilities of consecutive faces have a constant ratio. The
distribution of minimum norm is linear in the face, and becomes negative if the mean is extreme.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from suffice.linear_model import (
    MaximumEntropy,
    maximum_entropy_distribution,
    minimum_norm_distribution,
    select_features,
)

faces = np.arange(1, 7)
figure, axes = plt.subplots(
    1, 3, figsize=(9, 2.8), sharey=True, layout="constrained"
)
for axis, mean in zip(axes, (3.5, 4.5, 5.4), strict=True):
    entropy = maximum_entropy_distribution(faces, mean)
    squares = minimum_norm_distribution(faces, mean)
    axis.bar(
        faces,
        entropy.probability,
        color="#0072b2",
        width=0.7,
        label="largest entropy",
    )
    axis.plot(
        faces, squares.probability, "o", color="#d55e00", label="least squares"
    )
    axis.axhline(0.0, color="black", lw=0.8)
    axis.set(
        title=f"mean {mean}, entropy {entropy.entropy:.2f}",
        xlabel="face",
        xticks=faces,
    )
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("probability")
axes[0].legend(frameon=False, fontsize=8, loc="upper left")
plt.show()

# %%
# For classification, features are functions of the row and the class. Here rows are points of a plane with
# three classes. The features are indicators of a disk, of a half-plane and of each class.

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, size=(600, 2))
inside = (X**2).sum(axis=1) < 0.5
right = X[:, 0] > 0.2
p = np.where(
    inside[:, None],
    [0.8, 0.1, 0.1],
    np.where(right[:, None], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]),
)
y = (rng.random((600, 1)) > p.cumsum(axis=1)).sum(axis=1)

features = [
    lambda x, c: c == 0,
    lambda x, c: c == 1,
    lambda x, c: c == 0 and x @ x < 0.5,
    lambda x, c: c == 1 and x[0] > 0.2,
]

# %%
# All solvers converge to the same weights, at different rates. Iterative scaling updates each weight
# separately, by small steps.

best = (
    MaximumEntropy(features, C=np.inf, solver="newton", tol=1e-12)
    .fit(X, y)
    .trace_[-1]
)
colors = {
    "gis": "#d55e00",
    "iis": "#e69f00",
    "gradient": "#009e73",
    "conjugate-gradient": "#56b4e9",
    "lbfgs": "#0072b2",
    "newton": "black",
}
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
for solver, color in colors.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # max_iter is small on purpose
        model = MaximumEntropy(
            features, C=np.inf, solver=solver, tol=1e-8, max_iter=60
        ).fit(X, y)
    above = np.maximum(model.trace_ - best, 1e-12)
    axis.loglog(np.arange(1, len(above) + 1), above, color=color, label=solver)
axis.set(
    xlabel="iteration",
    ylabel="dual function above its minimum",
    ylim=(1e-11, 1.0),
)
axis.legend(frameon=False, fontsize=8)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Feature selection: the candidates are half-planes and disks of many sizes, for each class. Each step adds
# the candidate with the largest gain in likelihood.

candidates, names = [], []
for c in range(3):
    for r in (0.3, 0.5, 0.7):
        candidates.append(lambda x, k, r=r, c=c: k == c and x @ x < r)
        names.append(f"class {c}, disc {r}")
    for a in (-0.4, 0.2, 0.6):
        candidates.append(lambda x, k, a=a, c=c: k == c and x[0] > a)
        names.append(f"class {c}, right of {a}")
found = select_features(MaximumEntropy(candidates), X, y, n_features=4)
for number, gain in zip(found.chosen, found.gains, strict=True):
    print(f"{names[number]:24} gains {gain:.4f}")

# %%
# The probabilities of the classes, with the four features.

grid = np.linspace(-1.0, 1.0, 60)
points = np.stack([part.ravel() for part in np.meshgrid(grid, grid)], axis=1)
P = found.estimator.predict_proba(points).reshape(60, 60, 3)
figure, axes = plt.subplots(
    1, 3, figsize=(9, 3), sharey=True, layout="constrained"
)
for c, axis in enumerate(axes):
    image = axis.imshow(
        P[:, :, c],
        origin="lower",
        extent=(-1, 1, -1, 1),
        vmin=0,
        vmax=1,
        cmap="Blues",
    )
    axis.scatter(*X[y == c].T, s=4, color="#d55e00")
    axis.set(title=f"class {c}")
figure.colorbar(image, ax=axes, label="probability")
plt.show()
