"""
One classifier, any family
==========================

:class:`~suffice.naive_bayes.ClassConditional` is Bayes' rule with a family of densities. The family
determines the shape of the decision boundary: a line, a conic, or, for mixtures, a more general curve.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.naive_bayes import ClassConditional

rng = np.random.default_rng(3)
CLOUDS = np.array([[-2.6, -1.2], [2.4, 1.8], [-1.5, 2.2], [2.2, -2.0]])


def draw(n):
    """Two classes of two clusters each."""
    cloud = rng.integers(4, size=n)
    stretch = np.array([[1.0, 0.5], [0.0, 0.7]])
    return CLOUDS[cloud] + rng.normal(size=(n, 2)) @ stretch, cloud // 2


X, y = draw(600)
new, truth = draw(4000)
models = {
    "diag: naive Bayes": ClassConditional("diag"),
    "tied: linear": ClassConditional("tied"),
    "full: quadratic": ClassConditional("full"),
    "tied, two components a class": ClassConditional(
        "tied", n_components=2, random_state=0
    ),
}
COLORS = np.array(["#0f766e", "#d97706"])
grid = np.stack(
    np.meshgrid(np.linspace(-6, 6, 160), np.linspace(-6, 6, 160)), axis=-1
)

figure, axes = plt.subplots(
    1, 4, figsize=(13, 3.6), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    p = model.fit(X, y).predict_proba(grid.reshape(-1, 2))[:, 1].reshape(160, 160)
    ax.contourf(
        grid[..., 0],
        grid[..., 1],
        p,
        np.linspace(0, 1, 11),
        cmap="BrBG_r",
        alpha=0.35,
    )
    ax.contour(
        grid[..., 0], grid[..., 1], p, [0.5], colors="black", linewidths=1.2
    )
    ax.scatter(*X.T, s=6, c=COLORS[y], linewidths=0)
    ax.set_title(
        f"{name}\n{model.score(new, truth):.0%} of new rows", fontsize=10
    )
    ax.set(xticks=[], yticks=[], xlim=(-6, 6), ylim=(-6, 6))
plt.show()

# %%
# Rows without labels
# -------------------
#
# Here most labels are hidden. Rows without a label contribute by their responsibilities, and the fit is
# expectation-maximization (EM): the clusters determine where the boundary can be, and a few labels assign
# each cluster to a class.

shares, alone, together = [12, 20, 40, 80, 160, 320], [], []
for known in shares:
    scores = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(X))
        label = np.full(len(X), -1)
        label[order[:known]] = y[order[:known]]
        labelled = label >= 0
        family = {
            "family": "tied",
            "n_components": 2,
            "unlabelled": -1,
            "n_init": 3,
            "random_state": seed,
        }
        few = ClassConditional(**family).fit(X[labelled], label[labelled])
        all_rows = ClassConditional(**family).fit(X, label)
        scores.append([few.score(new, truth), all_rows.score(new, truth)])
    few_mean, all_mean = np.mean(scores, axis=0)
    alone.append(few_mean)
    together.append(all_mean)

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.semilogx(shares, alone, "o-", color="#0f766e")
ax.semilogx(shares, together, "o-", color="#d97706")
ax.annotate(
    "all 600 rows",
    (shares[1], together[1]),
    (6, 6),
    textcoords="offset points",
    color="#d97706",
)
ax.annotate(
    "labelled rows alone",
    (shares[1], alone[1]),
    (8, -12),
    textcoords="offset points",
    color="#0f766e",
)
ax.set(
    xlabel="labelled rows",
    ylabel="accuracy on new rows",
    xticks=shares,
    xticklabels=shares,
)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
plt.show()
