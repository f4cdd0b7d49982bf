"""
How many clusters, and what they are
====================================

The rows are chemical measurements of 178 wines. There are no labels. How many groups are there, and what
distinguishes them? This example answers both questions with pictures.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice.cluster import KMeans, choose_k
from suffice.decomposition import PCA
from suffice.mixture import GaussianMixture
from suffice.plot import (
    ClusterProfilesDisplay,
    MixtureDisplay,
    ModelSelectionDisplay,
    ScreeDisplay,
    SilhouetteDisplay,
)

X = load_wine(as_frame=True).data

# %%
# The features have different units, so they are standardized first. The inertia of k-means always decreases
# with more clusters: look for the elbow. The mean silhouette has a maximum.

fits = [
    make_pipeline(StandardScaler(), KMeans(K, random_state=0)).fit(X)
    for K in range(2, 9)
]
_, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
ModelSelectionDisplay.from_estimators(fits, ax=axes[0])
ModelSelectionDisplay.from_estimators(fits, X, criterion="silhouette", ax=axes[1])
plt.show()

# %%
# The gap statistic compares the inertia with that of rows without clusters, uniform in a box around the data;
# here around its principal components. :func:`~suffice.cluster.choose_k` takes the least number whose gap is
# within a standard error of the next. All numbers share the passes over the data.

turned = make_pipeline(StandardScaler(), PCA()).fit_transform(X)
found = choose_k(KMeans(random_state=0), turned, range(1, 7), criterion="gap")
_, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.errorbar(found.ks_, found.gap_, yerr=found.gap_std_, fmt="o-", capsize=3)
ax.axvline(found.k_, color="0.6", lw=0.8, ls="--")
ax.set(xlabel="number of clusters", ylabel="gap", title=f"{found.k_} clusters")
plt.show()

# %%
# Three clusters. Rows with a negative silhouette are nearer to another cluster.

model = fits[1]
SilhouetteDisplay.from_estimator(model, X)
plt.show()

# %%
# The profile of a cluster is its center, in standard deviations from the mean of each feature.

ClusterProfilesDisplay.from_estimator(model, X)
plt.show()

# %%
# A mixture of Gaussians has a density, so the Bayesian information criterion (BIC) can choose the number of
# components and the kind of covariance. First the 13 features are reduced to two principal components. The
# scree plot shows how much of the variance they explain.

scaler = StandardScaler().fit(X)
pca = PCA().fit(scaler.transform(X))
ScreeDisplay.from_estimator(pca, threshold=0.8)
plt.show()

# %%
# The ellipses are at one and two standard deviations of each component, in the plane of the first two
# principal components.

Z = pca.transform(scaler.transform(X))[:, :2]
mixtures = [
    GaussianMixture(K, covariance_type=kind, random_state=0).fit(Z)
    for kind in ("full", "tied", "diag")
    for K in range(1, 7)
]
_, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
ModelSelectionDisplay.from_estimators(mixtures, Z, ax=axes[0])
best = min(mixtures, key=lambda mixture: mixture.bic(Z))
MixtureDisplay.from_estimator(best, Z, ax=axes[1])
axes[1].set(xlabel="component 1", ylabel="component 2")
plt.show()
