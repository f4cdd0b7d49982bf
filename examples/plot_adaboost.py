"""
AdaBoost and its bound
======================

Each round of AdaBoost multiplies a bound of the training error by a factor below one. The training error
falls with it, and so does the error of other rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.ensemble import AdaBoostClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(6_000, 10))
y = np.where((X**2).sum(axis=1) > 9.34, "out", "in")
train, test = slice(0, 2000), slice(2000, None)

_, axes = plt.subplots(
    1, 2, figsize=(8.8, 3.8), layout="constrained", sharey=True
)
for ax, algorithm in zip(axes, ("SAMME", "real"), strict=True):
    model = AdaBoostClassifier(n_estimators=200, algorithm=algorithm).fit(
        X[train], y[train]
    )
    rounds = np.arange(1, model.n_iter_ + 1)
    for name, part in (("training error", train), ("test error", test)):
        scores = np.array(list(model.staged_score(X[part], y[part])))
        ax.plot(rounds, 1.0 - scores, label=name)
    ax.plot(
        rounds,
        model.training_error_bound_,
        color="0.5",
        linestyle="--",
        label="bound",
    )
    ax.set(
        title=f'algorithm="{algorithm}"',
        xlabel="round",
        xscale="log",
        ylim=(0.0, 1.0),
    )
axes[0].set_ylabel("misclassification rate")
axes[0].legend()
plt.show()

# %%
# Ten squares add up to the class, and a tree of one split sees one feature. The votes of many such trees are
# a sum of functions of single features, which is what this boundary needs. Confidence-rated predictions get
# there in fewer rounds.

print(f"errors of the first trees: {model.estimator_errors_[:3].round(2)}")
