"""
How many groups: a posterior of the answer
==========================================

Three groups overlap. Maximum likelihood needs their number. A Bayesian mixture is given more components
than it needs: variational inference leaves some of them without weight, and Gibbs sampling draws from the
posterior of the number of groups, and of which rows belong together.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.mixture import BayesianGaussianMixture

rng = np.random.default_rng(0)
X = np.concatenate(
    [
        rng.normal([0.0, 0.0], 1.0, (150, 2)),
        rng.normal([4.0, 0.5], 0.8, (100, 2)),
        rng.normal([1.0, 4.5], 0.9, (50, 2)),
    ]
)
how = {
    "n_components": 8,
    "weight_concentration_prior": 0.1,
    "random_state": 0,
    "max_iter": 150,
}

# %%
# The weights of the variational posterior, and the number of components with rows in the draws.

variational = BayesianGaussianMixture(**how).fit(X)
chains = BayesianGaussianMixture(**how, solver="gibbs", n_init=2).fit(X)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
axes[0].bar(range(1, 9), np.sort(variational.weights_)[::-1])
axes[0].set(xlabel="component", ylabel="expected weight", title="variational")
share = np.bincount(chains.n_occupied_, minlength=9)[1:] / len(chains.n_occupied_)
axes[1].bar(range(1, 9), share)
axes[1].set(
    xlabel="components with rows", ylabel="posterior", title="Gibbs sampling"
)

# %%
# The probability that two rows belong together does not depend on the labels of components, which switch
# between draws. The rows are in the order of the groups from which they came.

fig, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
shown = ax.imshow(chains.co_clustering(X), vmin=0.0, vmax=1.0)
ax.set(xlabel="row", ylabel="row", title="in one component")
fig.colorbar(shown, ax=ax)
plt.show()
