"""
How large should a tree be?
===========================

A tree that is grown until its leaves are pure fits the noise as well. Cost-complexity pruning gives a
sequence of smaller trees, and cross-validation estimates the error of each. The smallest tree within one
standard error of the best is a common choice.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.plot import DecisionRegionsDisplay, PruningDisplay, TreeDisplay
from suffice.tree import DecisionTreeClassifier, export_rules

rng = np.random.default_rng(0)
X = rng.uniform(0.0, 10.0, size=(600, 2))
inside = (X[:, 0] > 3.0) & (X[:, 1] > 4.0)
y = np.where(inside ^ (rng.random(600) < 0.15), "yes", "no")

table = DecisionTreeClassifier(random_state=0).cross_validated_pruning(X, y)
display = PruningDisplay.from_table(table)
display.ax_.set_ylabel("misclassification rate")
plt.show()

# %%
# The full tree has no error on its own rows, and about twice the noise of 15 % on others. The chosen tree has
# found the rectangle.

alpha = table.ccp_alpha[display.chosen]
small = DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y)
full = DecisionTreeClassifier().fit(X, y)
print(export_rules(small, feature_names=["a", "b"]))

_, axes = plt.subplots(1, 2, figsize=(8.6, 4.0), layout="constrained")
for ax, model in zip(axes, (full, small), strict=True):
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{model.get_n_leaves()} leaves")
plt.show()

# %%
# The bar of each node has the shares of the classes; the number of its rows is in parentheses.

TreeDisplay.from_estimator(small, names=["a", "b"])
plt.show()
