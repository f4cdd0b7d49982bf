"""
Bagging and random forests
==========================

One deep tree varies much with its rows. The mean of trees of bootstrap samples varies less, and the mean of
trees that also draw features at each split varies least. The out-of-bag error needs no other rows. It is that
of a third of the trees, so that it falls later than the error of test rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.ensemble import BaggingClassifier, RandomForestClassifier
from suffice.tree import DecisionTreeClassifier

rng = np.random.default_rng(3)


def rows(n):
    """Two moons with noise, and six features of noise alone."""
    angle, side = rng.uniform(0.0, np.pi, n), rng.integers(0, 2, n)
    x = np.where(side, 1.0 - np.cos(angle), np.cos(angle))
    y = np.where(side, 0.5 - np.sin(angle), np.sin(angle))
    moons = np.column_stack([x, y]) + 0.35 * rng.normal(size=(n, 2))
    return np.column_stack([moons, rng.normal(size=(n, 6))]), side


X, y = rows(1000)
test_X, test_y = rows(5000)
grid = np.column_stack(
    [
        part.ravel()
        for part in np.meshgrid(
            np.linspace(-2, 3, 100), np.linspace(-2, 2.5, 100)
        )
    ]
)

_, axes = plt.subplots(
    1, 4, figsize=(12.4, 3.4), layout="constrained", width_ratios=(3, 3, 3, 4)
)
models = {
    "one tree": DecisionTreeClassifier(),
    "bagging": BaggingClassifier(n_estimators=40, random_state=0),
    "random forest": RandomForestClassifier(40, random_state=0),
}
for ax, (name, model) in zip(axes, models.items(), strict=False):
    shown = model.fit(X[:, :2], y).predict_proba(grid)[:, 1].reshape(100, 100)
    ax.imshow(
        shown, extent=(-2, 3, -2, 2.5), origin="lower", cmap="RdBu", aspect="auto"
    )
    ax.scatter(
        X[:, 0], X[:, 1], c=y, s=9, cmap="RdBu", edgecolors="w", linewidths=0.4
    )
    error = 1.0 - model.fit(X, y).score(test_X, test_y)
    ax.set(title=f"{name}: test error {error:.3f}", xticks=(), yticks=())

sizes = (5, 10, 20, 40)
for color, (name, cls) in enumerate(
    {
        "bagging": BaggingClassifier,
        "random forest": RandomForestClassifier,
    }.items()
):
    errors = []
    for n in sizes:
        model = cls(n_estimators=n, oob_score=True, random_state=1).fit(X, y)
        errors.append((1.0 - model.oob_score_, 1.0 - model.score(test_X, test_y)))
    oob, test = np.transpose(errors)
    axes[3].plot(sizes, oob, f"C{color}--", label=f"{name}, out of bag")
    axes[3].plot(sizes, test, f"C{color}", label=f"{name}, test")
axes[3].set(xlabel="number of trees", title="misclassification rate")
axes[3].legend()
plt.show()

# %%
# The pictures show trees of the two features that matter, and the errors are those with all eight. Rows that
# are in all samples have no out-of-bag prediction, and are not counted.

print(f"out-of-bag errors: {oob.round(3)}")
