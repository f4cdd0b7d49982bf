"""
Support vectors and the margin
==============================

The kernel machine :class:`~suffice.svm.SVC` predicts with a few of the rows, its support vectors. Lines are
where its score is -1, 0 and 1: the margin and the boundary. Support vectors, with circles, lie on the margin
or inside of it. A smaller C allows a wider margin with more rows inside.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from suffice.kernels import Gaussian
from suffice.svm import SVC

X, y = make_moons(200, noise=0.2, random_state=0)
side = np.linspace(-1.8, 2.8, 150), np.linspace(-1.3, 1.8, 150)
grid = np.stack(np.meshgrid(*side), axis=-1)

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, C in zip(axes, (0.1, 100.0), strict=True):
    model = SVC(C=C, kernel=Gaussian(1.0)).fit(X, y)
    score = model.decision_function(grid.reshape(-1, 2)).reshape(150, 150)
    ax.contourf(
        *side, score, [-np.inf, 0, np.inf], colors=["C0", "C1"], alpha=0.15
    )
    ax.contour(
        *side, score, [-1, 0, 1], colors="0.3", linestyles=["--", "-", "--"]
    )
    ax.scatter(*X.T, c=np.where(y == 1, "C1", "C0"), s=12)
    ax.scatter(
        *model.support_vectors_.T, s=60, facecolors="none", edgecolors="0.3"
    )
    ax.set(title=f"C = {C:g}: {len(model.support_)} support vectors")
    ax.set(xlabel="first feature")
axes[0].set(ylabel="second feature")

# %%
# :meth:`~suffice.svm.SVC.kkt_report` has the position of each row relative to the margin, and the duality
# gap: how far the objective can be above its minimum.

report = model.kkt_report(X, y)
for position, rows in zip(
    *np.unique(report.position, return_counts=True), strict=True
):
    print(f"{rows} rows {position}")
print(f"objective {report.primal:.2f}, gap {report.gap:.1e}")
plt.show()
