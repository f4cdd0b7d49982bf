"""
Groups of mixed columns
=======================

Customers of a library: age, loans a month, favorite shelf, and whether they read on a screen. A fifth of the
entries is missing, and nobody knows the groups. :class:`~suffice.mixture.MixedMixture` gives each column the
density of its kind, and marginalizes what is missing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from suffice.mixture import MixedMixture
from suffice.plot import ModelSelectionDisplay

rng = np.random.default_rng(0)
group = rng.choice(3, 1000, p=[0.5, 0.3, 0.2])
shelves = np.array(["crime", "history", "science", "travel"])
favors = np.array([[5, 2, 1, 2], [1, 2, 6, 1], [2, 5, 1, 2]]) / 10
chosen = (rng.random((1000, 1)) > favors.cumsum(axis=1)[group]).sum(axis=1)
table = pd.DataFrame(
    {
        "age": rng.normal(np.array([45.0, 22.0, 70.0])[group], 8.0).round(),
        "loans": rng.poisson(np.array([3.0, 1.0, 6.0])[group]),
        "shelf": shelves[chosen],
        "screen": rng.random(1000) < np.array([0.4, 0.9, 0.1])[group],
    }
).astype({"loans": float, "screen": object})
table = table.mask(rng.random(table.shape) < 0.2)
print(table.head())

# %%
# Strings are categories and flags are binary; counts need their kind. The Bayesian information
# criterion (BIC) finds three groups.

fits = [
    MixedMixture(K, kinds={"loans": "poisson"}, random_state=0).fit(table)
    for K in range(1, 7)
]
model = min(fits, key=lambda fit: fit.bic(table))
ModelSelectionDisplay.from_estimators(fits, table)
plt.show()

# %%
# The columns by group: densities of the age, rates of loans, and probabilities of shelves and screens.

figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
order = np.argsort(-model.weights_)
ages = np.linspace(0.0, 95.0, 200)
for place, k in enumerate(order):
    color, shift = f"C{place}", 0.27 * (place - 1)
    mean, variance = model.means_[0][k], model.variances_[0][k]
    density = np.exp(-0.5 * (ages - mean) ** 2 / variance) / np.sqrt(variance)
    name = f"{model.weights_[k]:.0%} of the rows"
    axes[0].plot(ages, density, color=color, label=name)
    axes[1].bar(place, model.rates_[1][k], color=color)
    places = np.arange(len(model.categories_[2])) + shift
    axes[2].bar(places, model.probabilities_[2][k], 0.25, color=color)
    axes[3].bar(place, model.probabilities_[3][k], color=color)
for ax, title in zip(axes, ("age", "loans", "shelf", "screen"), strict=True):
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_yticks([])
axes[1].set_xticks([])
axes[2].set_xticks(range(4), model.categories_[2])
axes[3].set_xticks([])
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3
)
plt.show()

# %%
# Probabilities of the groups of three new customers, each by the entries that are known.

new = pd.DataFrame(
    {
        "age": [None, None, 20.0],
        "loans": [None, 7.0, None],
        "shelf": ["science", "history", None],
        "screen": [True, False, None],
    }
)
print(model.predict_proba(new)[:, order].round(2))
