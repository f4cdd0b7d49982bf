"""
Shapes of clusters
==================

What is a group? Three data sets with round or curved groups, and five answers.
Ward's linkage and k-means look for round groups, single linkage and spectral clustering for rows that are
linked. :doc:`/guides/which_clustering` says what each of them costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons

from suffice.cluster import (
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    SpectralClustering,
)
from suffice.plot import DendrogramDisplay

rng = np.random.default_rng(0)
round_groups = np.concatenate(
    [
        rng.normal(m, s, (n, 2))
        for m, s, n in (((0, 0), 1.0, 200), ((6, 1), 0.5, 60), ((1, 7), 0.7, 90))
    ]
)
moons = make_moons(350, noise=0.06, random_state=0)[0]
rings = make_circles(350, factor=0.4, noise=0.05, random_state=0)[0]
data = {"round": (round_groups, 3), "moons": (moons, 2), "rings": (rings, 2)}


def methods(K):
    return {
        "KMeans": KMeans(K, random_state=0),
        "KMedoids": KMedoids(K, random_state=0),
        "Ward": AgglomerativeClustering(K),
        "single linkage": AgglomerativeClustering(K, linkage="single"),
        "spectral, landmarks": SpectralClustering(
            K, affinity="landmarks", landmarks=100, random_state=0
        ),
    }


fig, axes = plt.subplots(3, 5, figsize=(12, 7), layout="constrained")
for row, (X, K) in zip(axes, data.values(), strict=True):
    for ax, (name, model) in zip(row, methods(K).items(), strict=True):
        ax.scatter(*X.T, c=model.fit_predict(X), s=6, cmap="viridis")
        ax.set(xticks=[], yticks=[], aspect="equal")
        if X is round_groups:
            ax.set_title(name)
plt.show()

# %%
# The tree of merges by Ward's linkage. Below the cut, each cluster has its color. Only the last merges are
# drawn: a triangle is a node below them, with its number of rows. Long branches above the cut are groups that
# are far apart.

DendrogramDisplay.from_estimator(AgglomerativeClustering(3).fit(round_groups))
plt.show()
