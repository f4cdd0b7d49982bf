"""
How large should a tree be?
===========================

A tree that is grown until its leaves are pure fits the noise as well. Cost-complexity pruning gives a
sequence of smaller trees, and cross-validation estimates the error of each. The smallest tree within one
standard error of the best is a common choice.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.plot import DecisionRegionsDisplay
from suffice.tree import DecisionTreeClassifier, export_rules

rng = np.random.default_rng(0)
X = rng.uniform(0.0, 10.0, size=(600, 2))
inside = (X[:, 0] > 3.0) & (X[:, 1] > 4.0)
y = np.where(inside ^ (rng.random(600) < 0.15), "yes", "no")

table = DecisionTreeClassifier(random_state=0).cross_validated_pruning(X, y)
best = np.argmin(table.cv_error)
bound = table.cv_error[best] + table.cv_std[best]
chosen = np.flatnonzero(table.cv_error <= bound)[-1]

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.plot(table.n_leaves, table.error, ".-", label="the rows themselves")
ax.errorbar(
    table.n_leaves,
    table.cv_error,
    yerr=table.cv_std,
    fmt=".-",
    capsize=2,
    label="rows held out",
)
ax.axhline(bound, color="0.6", linewidth=0.8, linestyle="--")
ax.axvline(table.n_leaves[chosen], color="0.6", linewidth=0.8)
ax.set(xscale="log", xlabel="leaves", ylabel="misclassification rate")
ax.legend()
plt.show()

# %%
# The full tree has no error on its own rows, and about twice the noise of 15 % on others. The chosen tree has
# found the rectangle.

alpha = table.ccp_alpha[chosen]
small = DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y)
full = DecisionTreeClassifier().fit(X, y)
print(export_rules(small, feature_names=["a", "b"]))

_, axes = plt.subplots(1, 2, figsize=(8.6, 4.0), layout="constrained")
for ax, model in zip(axes, (full, small), strict=True):
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{model.get_n_leaves()} leaves")
plt.show()
