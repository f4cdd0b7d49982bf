"""
Naive Bayes on mixed columns
============================

Will a parcel be late? The table has a name, a distance, a count and a flag, and a fifth of its entries are
missing. :class:`~suffice.naive_bayes.MixedNB` fits a density to each column that matches its type. It needs
no encoder and no imputer: missing entries are marginalized, in ``fit`` and in ``predict``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import suffice
from suffice.naive_bayes import MixedNB

rng = np.random.default_rng(0)
late = rng.random(5000) < 0.3
names, chance = (
    np.array(["Heron", "Swift", "Tern"]),
    np.where(late[:, None], [0.6, 0.7, 1.0], [0.2, 0.7, 1.0]),
)
table = pd.DataFrame(
    {
        "carrier": names[(rng.random((5000, 1)) > chance).sum(axis=1)],
        "distance": rng.normal(np.where(late, 700.0, 450.0), 200.0).round(),
        "items": rng.poisson(np.where(late, 4.0, 2.0)),
        "fragile": rng.random(5000) < np.where(late, 0.5, 0.2),
    }
)
table = table.mask(rng.random(table.shape) < 0.2).assign(late=late)
print(table.head())

# %%
# Columns without a specified family are Gaussian.

kinds = {"carrier": "categorical", "items": "poisson", "fragile": "bernoulli"}
model = MixedNB(kinds).fit(suffice.rows(table, target="late"))

# %%
# Given the class, columns are independent: each adds a term to the log-odds. To compute the term of a column,
# set the others to missing. The carrier of the third parcel is not in the training data, so its term is zero.

new = pd.DataFrame(
    {
        "carrier": ["Swift", "Heron", "Gull", None],
        "distance": [380.0, 640.0, None, 900.0],
        "items": [1, 1, 7, 3],
        "fragile": [False, True, None, False],
    }
)
prior = np.diff(model.class_log_prior_).item()
alone = [
    new.where(np.broadcast_to(new.columns == name, new.shape)) for name in new
]
shares = (
    np.hstack([np.diff(model.predict_joint_log_proba(rows)) for rows in alone])
    - prior
)
steps = np.cumsum(np.insert(shares, 0, prior, axis=1), axis=1)
assert np.allclose(
    steps[:, -1], np.diff(model.predict_log_proba(new))[:, 0]
)  # they add up

figure, axes = plt.subplots(
    1, 4, figsize=(12, 3.3), sharex=True, sharey=True, layout="constrained"
)
for ax, (_, row), step, p in zip(
    axes, new.iterrows(), steps, model.predict_proba(new)[:, 1], strict=True
):
    width = np.diff(step, prepend=0.0)
    ax.barh(
        range(5),
        width,
        left=step - width,
        height=0.62,
        color=np.where(width > 0, "#d97706", "#0f766e"),
    )
    ax.vlines(step[:-1], np.arange(4), np.arange(1, 5), color="0.5", lw=0.8)
    ax.axvline(0.0, color="black", lw=0.8, zorder=0)
    for y, entry in enumerate(row, start=1):
        ax.annotate(
            "missing" if pd.isna(entry) else str(entry),
            (5.4, y),
            ha="right",
            va="center",
            color="0.4",
        )
    ax.set_title(f"late with probability {p:.2f}", fontsize=11)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
axes[0].set(yticks=range(5), yticklabels=["all parcels", *new], xlim=(-5.6, 5.6))
axes[0].invert_yaxis()
figure.supxlabel("on time        log-odds        late", fontsize=10)
plt.show()
