"""
How many neighbours?
====================

Few neighbours follow the noise, and many blur the boundary: the regions of
:class:`~suffice.neighbors.KNeighborsClassifier` for 1, 15 and 150 neighbours. Cross-validation chooses in
between.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import cross_val_score

from suffice.neighbors import KNeighborsClassifier
from suffice.plot import DecisionRegionsDisplay

X, y = make_moons(400, noise=0.35, random_state=0)
numbers = np.array([1, 2, 3, 5, 8, 15, 25, 40, 60, 100, 150, 220])
scores = [
    cross_val_score(KNeighborsClassifier(n), X, y, cv=5).mean() for n in numbers
]

fig, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained")
for ax, n in zip(axes, (1, 15, 150), strict=False):
    model = KNeighborsClassifier(n).fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, ax=ax)
    ax.scatter(*X.T, c=np.where(y == 1, "C1", "C0"), s=3)
    ax.get_legend().remove()
    ax.set(title=f"{n} neighbours" if n > 1 else "1 neighbour")
axes[3].semilogx(numbers, scores, "o-")
axes[3].set(title="Cross-validation", xlabel="neighbours", ylabel="accuracy")
plt.show()
