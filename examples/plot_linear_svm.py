"""
Margins of a linear support vector machine
==========================================

A large C leaves few rows inside the margin. A small one widens it. The duality gap says how far the
objective is from its minimum, at most.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.svm import LinearSVC
from suffice.textbook import margin

rng = np.random.default_rng(3)
y = np.repeat([-1, 1], 60)
X = rng.normal(size=(120, 2)) + 1.3 * y[:, None]

_, axes = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained", sharex=True, sharey=True
)
for ax, C in zip(axes, (10.0, 0.01), strict=True):
    model = LinearSVC(C=C, loss="hinge", penalize_intercept=False)
    model.fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    inside = margin(X, y, w, b, kind="functional") < 1.0 + 1e-6
    for label, color in ((-1, "tab:blue"), (1, "tab:orange")):
        rows = X[y == label]
        ax.scatter(*rows.T, s=16, color=color, label=f"class {label}")
    ax.scatter(
        *X[inside].T,
        s=60,
        facecolors="none",
        edgecolors="0.3",
        label="on the margin or within",
    )
    at = np.array([-5.0, 5.0])
    for level, style in ((-1.0, "--"), (0.0, "-"), (1.0, "--")):
        ax.plot(at, (level - b - w[0] * at) / w[1], style, color="0.2", lw=1)
    width = 2.0 / np.linalg.norm(w)
    ax.set(
        title=f"C={C:g}: width {width:.2f}, duality gap {model.dual_gap_:.0e}",
        xlim=(-5, 5),
        ylim=(-5, 5),
    )
axes[0].legend(loc="upper left")
plt.show()

# %%
# Rows outside the margin do not matter: without them, the hyperplane is the same.

few = LinearSVC(C=C, loss="hinge", penalize_intercept=False, tol=1e-9)
few.fit(X[inside], y[inside])
print(np.abs(few.coef_ - model.coef_).max() < 1e-6)
