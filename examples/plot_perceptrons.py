"""
Mistakes, margins and decisions
===============================

A perceptron learns from its mistakes, one row at a time. If a line separates two classes, it finds one, and
Novikoff's bound limits the number of mistakes. Otherwise its last weights depend on the last mistakes, and it
is better to predict with the mean of all weights, with their vote, or with the best of them.
"""

# %%
# Li's example has three rows. This prints the seven steps of the book, and the bound on their number:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification, make_moons

from suffice.linear_model import Perceptron, PocketPerceptron, VotedPerceptron
from suffice.textbook import is_linearly_separable, novikoff_bound

X, y = np.array([[3.0, 3.0], [4.0, 3.0], [1.0, 1.0]]), np.array([1, 1, -1])
model = Perceptron(shuffle=False).fit(X, y)
print("weights", model.coef_[0], "intercept", model.intercept_[0])
print(
    "mistakes",
    model.mistakes_[0],
    "of at most",
    round(novikoff_bound(X, y).bound),
)

# %%
# Two classes that overlap, and eight orders of the rows. The line of the plain perceptron depends on its last
# mistakes, and so on the order of the rows. The lines of the other perceptrons hardly depend on it.

X, y = make_classification(
    300, 2, n_redundant=0, class_sep=0.9, flip_y=0.08, random_state=3
)
print("a line separates them:", is_linearly_separable(X, y))

figure, axes = plt.subplots(
    1, 4, figsize=(11, 3.2), sharex=True, sharey=True, layout="constrained"
)
across = np.array([X[:, 0].min(), X[:, 0].max()])
perceptrons = {
    "last weights": Perceptron(),
    "averaged": Perceptron(average=True),
    "voted": VotedPerceptron(),
    "pocket": PocketPerceptron(),
}
for ax, (name, model) in zip(axes, perceptrons.items(), strict=True):
    shares = []
    for seed in range(8):
        model.set_params(random_state=seed).fit(X, y)
        shares.append(model.score(X, y))
        if name == "voted":
            sides = np.meshgrid(
                np.linspace(*across, 80),
                np.linspace(X[:, 1].min(), X[:, 1].max(), 80),
            )
            votes = model.decision_function(
                np.column_stack([side.ravel() for side in sides])
            )
            ax.contour(
                *sides,
                votes.reshape(80, 80),
                [0.0],
                colors="0.25",
                linewidths=1.0,
            )
        else:
            w, b = model.coef_[0], model.intercept_[0]
            ax.plot(across, -(w[0] * across + b) / w[1], color="0.25", lw=1.0)
    ax.scatter(*X.T, c=np.array(["#0072b2", "#e69f00"])[y], s=9)
    ax.set(
        title=f"{name}: {np.mean(shares):.0%} right",
        ylim=(X[:, 1].min(), X[:, 1].max()),
    )
plt.show()

# %%
# The dual form has a weight for each row, and uses only inner products of rows, which any kernel can replace.
# Decisions need probabilities and the costs of mistakes. Here the loss of missing one class is five, and the
# cost of rejecting a row is 0.15; the hatched region is rejected.

from suffice.decision import BayesDecision  # noqa: E402
from suffice.naive_bayes import GaussianNB  # noqa: E402
from suffice.plot import DecisionRegionsDisplay  # noqa: E402

X, y = make_moons(200, noise=0.25, random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
kernel = VotedPerceptron(kernel="rbf", kernel_params={"gamma": 1.0}).fit(X, y)
DecisionRegionsDisplay.from_estimator(kernel, X, y, ax=axes[0])
costly = BayesDecision(GaussianNB(), loss=[[0, 1], [5, 0]]).fit(X, y)
DecisionRegionsDisplay.from_estimator(costly, X, y, ax=axes[1])
doubtful = BayesDecision(GaussianNB(), reject_cost=0.15).fit(X, y)
DecisionRegionsDisplay.from_estimator(doubtful, X, y, ax=axes[2])
titles = (
    "kernel perceptron, by vote",
    "to miss class 1 costs five",
    "no decision costs 0.15",
)
for ax, title in zip(axes, titles, strict=True):
    ax.set_title(title)
plt.show()

# %%
# Classifiers minimize surrogate losses of the margin instead of the number of mistakes (zero-one loss). Those
# of the support vector machine (hinge), of boosting (exponential) and of logistic regression (in base two)
# are upper bounds of the zero-one loss.

from suffice.statistics import margin_loss  # noqa: E402

margin = np.linspace(-2, 2, 401)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for kind, how in (
    ("zero-one", {}),
    ("perceptron", {}),
    ("hinge", {}),
    ("smoothed-hinge", {"smoothing": 0.5}),
    ("logistic", {"base": 2}),
    ("exponential", {}),
):
    ax.plot(margin, margin_loss(margin, kind, **how), label=kind)
ax.set(xlabel="margin y f(x)", ylabel="loss", ylim=(-0.1, 4))
ax.legend(frameon=False)
plt.show()
