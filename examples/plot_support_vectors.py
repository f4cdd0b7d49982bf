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

from suffice.kernels import RBF
from suffice.plot import KernelMatrixDisplay, MarginDisplay
from suffice.svm import SVC

X, y = make_moons(200, noise=0.2, random_state=0)

fig, axes = plt.subplots(2, 1, figsize=(6, 7.5), layout="constrained")
for ax, C in zip(axes, (0.1, 100.0), strict=True):
    model = SVC(C=C, kernel=RBF(1.0)).fit(X, y)
    MarginDisplay.from_estimator(model, X, y, ax=ax)
    ax.set(title=f"C = {C:g}")

# %%
# :meth:`~suffice.svm.SVC.kkt_report` has the position of each row relative to the margin, and the duality
# gap: how far the objective can be above its minimum.

report = model.kkt_report(X, y)
for position, rows in zip(
    *np.unique(report.position, return_counts=True), strict=True
):
    print(f"{rows} rows {position}")
print(f"objective {report.primal:.2f}, gap {report.gap:.1e}")

# %%
# The kernel matrix, with the rows of each class side by side. Rows of one class are similar to each other: a
# block of each class is bright.

KernelMatrixDisplay.from_kernel(RBF(1.0), X, y)
plt.show()
