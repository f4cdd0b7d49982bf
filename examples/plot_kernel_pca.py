"""
Kernel principal components
===========================

The first principal components of two rings are the plane itself. In the space of a Gaussian kernel, the first
component of :class:`~suffice.decomposition.KernelPCA` separates the rings. Landmarks give nearly the same
components, up to their signs, in two passes over the data, wherever it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from suffice.decomposition import PCA, KernelPCA
from suffice.kernels import RBF

X, ring = make_circles(600, factor=0.3, noise=0.06, random_state=0)
models = {
    "PCA": PCA(2),
    "KernelPCA, exact": KernelPCA(2, kernel=RBF(3.0)),
    "KernelPCA, 30 landmarks": KernelPCA(
        2, kernel=RBF(3.0), landmarks=30, random_state=0
    ),
}
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    scores = model.fit(X).transform(X)
    ax.scatter(*scores.T, c=np.where(ring == 1, "C1", "C0"), s=8)
    ax.set(title=name, xlabel="first component")
axes[0].set(ylabel="second component")
plt.show()
