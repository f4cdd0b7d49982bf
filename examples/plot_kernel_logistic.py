"""
Kernel logistic regression
==========================

:class:`~suffice.linear_model.KernelLogisticRegression` has probabilities that change smoothly along curved
boundaries. It is exact, or compares each row with a few landmarks.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.kernels import RBF
from suffice.linear_model import KernelLogisticRegression

rng = np.random.default_rng(0)
angle = rng.uniform(0.0, 2.0 * np.pi, size=450)
label = np.repeat([0, 1, 2], 150)
radius = np.choose(label, [0.6, 1.6, 2.6]) + 0.3 * rng.normal(size=450)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

line = np.linspace(-3.5, 3.5, 80)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
colors = np.array([[0.12, 0.47, 0.71], [1.0, 0.5, 0.05], [0.17, 0.63, 0.17]])
names = {None: "exact", 40: "40 landmarks", 8: "8 landmarks"}

fig, axes = plt.subplots(
    1, 3, figsize=(11, 4.2), layout="constrained", sharey=True
)
for ax, (landmarks, name) in zip(axes, names.items(), strict=True):
    model = KernelLogisticRegression(
        C=5.0, kernel=RBF(0.7), landmarks=landmarks, random_state=0
    ).fit(X, label)
    # Each point of the plane has the colors of the classes, mixed by probability.
    shade = (model.predict_proba(grid) @ colors).reshape(80, 80, 3)
    ax.imshow(shade, origin="lower", extent=(-3.5, 3.5, -3.5, 3.5), alpha=0.6)
    ax.scatter(*X.T, c=colors[label], s=6)
    points = model.X_fit_ if landmarks else X[:0]
    ax.plot(*points.T, "k+", markersize=8)
    ax.set(title=f"{name}: accuracy {model.score(X, label):.2f}", xlabel="x1")
axes[0].set_ylabel("x2")
plt.show()

# %%
# The crosses are the landmarks. Forty are as good as all rows. With eight, probabilities are vague where
# there is no landmark.
