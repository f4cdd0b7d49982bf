"""
Landmarks: kernels of many rows
===============================

A kernel machine compares each row with all others. :class:`~suffice.kernel_approximation.Nystroem` compares
it with a few sampled rows, its landmarks. A linear model of these kernels is fitted wherever the rows are.
Lines are the boundaries of :class:`~suffice.svm.LinearSVC`, and stars are the landmarks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from suffice.kernel_approximation import Nystroem, RBFSampler
from suffice.kernels import RBF
from suffice.svm import LinearSVC

X, y = make_moons(400, noise=0.2, random_state=0)
side = np.linspace(-1.8, 2.8, 120), np.linspace(-1.3, 1.8, 120)
grid = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, n in zip(axes, (4, 30), strict=True):
    features = Nystroem(RBF(1.0), n_components=n, random_state=0)
    model = make_pipeline(features, LinearSVC(C=10.0, max_iter=10_000)).fit(X, y)
    score = model.decision_function(grid).reshape(120, 120)
    ax.contourf(
        *side, score, [-np.inf, 0, np.inf], colors=["C0", "C1"], alpha=0.15
    )
    ax.contour(*side, score, [0], colors="0.3")
    ax.scatter(*X.T, c=np.where(y == 1, "C1", "C0"), s=8)
    ax.scatter(*features.components_.T, marker="*", s=90, c="0.2")
    ax.set(title=f"{n} landmarks: accuracy {model.score(X, y):.2f}")

# %%
# Inner products of the features approximate the kernel. Landmarks are placed where the rows are, so that
# fewer of them suffice than of random Fourier features.

fig, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
K, sizes = RBF(1.0)(X), np.array([4, 8, 16, 32, 64, 128])
for make, name in ((Nystroem, "Nystroem"), (RBFSampler, "RBFSampler")):
    errors = []
    for n in sizes:
        phi = make(gamma=1.0, n_components=n, random_state=0).fit_transform(X)
        errors.append(np.sqrt(np.mean((phi @ phi.T - K) ** 2)))
    ax.loglog(sizes, errors, "o-", label=name)
ax.set(xlabel="number of features", title="RMS error of the kernel")
ax.legend()
plt.show()
