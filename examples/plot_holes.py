"""
Mixtures with missing values
============================

Two sensors observe three kinds of events. The second sensor often fails if the reading of the first one is
high. If rows with missing values are dropped, as is common, most of the dropped rows are of one kind of
event: the estimate of its weight is biased, for any number of rows.

:class:`~suffice.mixture.GaussianMixture` marginalizes missing values (NaN), given the observed values of the
row. No row is dropped, and the weights are estimated without this bias.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.mixture import GaussianMixture

rng = np.random.default_rng(4)
mean = np.array([[-3.0, -1.0], [0.0, 2.5], [3.0, 0.0]])
root = np.array(
    [
        [[0.7, 0.0], [0.5, 0.5]],
        [[0.8, 0.0], [-0.4, 0.4]],
        [[0.8, 0.0], [0.7, 0.5]],
    ]
)
kind = rng.choice(3, size=2000, p=[0.25, 0.25, 0.5])
whole = mean[kind] + np.einsum(
    "nij,nj->ni", root[kind], rng.normal(size=(2000, 2))
)

# Missing at random: the probability of a missing value depends on the reading of the first sensor alone.
holes = whole.copy()
holes[rng.random(2000) < np.where(whole[:, 0] > 1.2, 0.9, 0.05), 1] = np.nan
kept = holes[~np.isnan(holes).any(axis=1)]

# %%
# The same estimator is fitted three times: to the complete data, to the rows without missing values, and to
# all rows with missing values.

cases = {
    "nothing missing": whole,
    "incomplete rows dropped": kept,
    "missing values as NaN": holes,
}
fits = {
    name: GaussianMixture(3, random_state=0, tol=1e-6, max_iter=500).fit(X)
    for name, X in cases.items()
}

# %%
# Ticks at the bottom of the last panel are rows whose second reading is missing. Numbers are the weights of
# the components.

turn = np.linspace(0.0, 2.0 * np.pi, 100)
circle = np.stack([np.cos(turn), np.sin(turn)])
figure, axes = plt.subplots(
    1, 3, figsize=(11, 3.9), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, X) in zip(axes, cases.items(), strict=True):
    model, seen = fits[name], ~np.isnan(X[:, 1])
    ax.plot(*X[seen].T, ".", ms=2.5, color="0.72", zorder=0)
    ax.plot(
        X[~seen, 0],
        np.full((~seen).sum(), -3.6),
        "|",
        ms=9,
        mew=0.4,
        color="0.45",
    )
    order = np.argsort(model.means_[:, 0])
    for k, color in zip(order, ["#4338ca", "#0f766e", "#d97706"], strict=True):
        edge = (
            model.means_[k][:, None]
            + 2.0 * np.linalg.cholesky(model.covariances_[k]) @ circle
        )
        ax.fill(*edge, facecolor=color, alpha=0.12)
        ax.plot(*edge, color=color, lw=2)
        place = (edge[0].mean(), edge[1].max() + 0.18)
        ax.annotate(
            f"{model.weights_[k]:.2f}",
            place,
            color=color,
            ha="center",
            weight="bold",
        )
    ax.set_title(f"{name}\n{len(X)} rows", fontsize=11)
    ax.set_xlabel("first sensor")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set(
    ylabel="second sensor",
    ylim=(-4.1, 5.2),
    xticks=[-4, 0, 4],
    yticks=[-2, 0, 2, 4],
)
plt.show()
