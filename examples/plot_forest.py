"""
What a forest and a boosted ensemble have learnt
================================================

Importances show which features the trees split by, the first tree of a forest how, and staged losses how
many rounds of boosting are enough.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from suffice.ensemble import AdaBoostClassifier, RandomForestClassifier
from suffice.plot import ImportancesDisplay, StagedLossDisplay, TreeDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]

forest = RandomForestClassifier(100, random_state=0).fit(X, y)
ImportancesDisplay.from_estimator(forest, top=10)
plt.show()

# %%
# Features that are alike share their importance: each tree finds another of them, since it chooses from a few
# random ones at each split. So the trees differ much.

TreeDisplay.from_estimator(forest.estimators_[0], max_depth=3, names=X.columns)
plt.show()

# %%
# Boosting with one split a round: the training error is zero after 21 rounds, and the error of rows that were
# held out still falls.

model = AdaBoostClassifier(n_estimators=150).fit(X[:300], y[:300])
display = StagedLossDisplay.from_estimator(
    model, X[:300], y[:300], name="training"
)
StagedLossDisplay.from_estimator(
    model, X[300:], y[300:], name="validation", ax=display.ax_
)
plt.show()
