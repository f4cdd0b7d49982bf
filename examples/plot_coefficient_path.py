"""
Which features matter: regularization paths
===========================================

As the penalty of the lasso decreases, coefficients become nonzero one after the other. The whole path, and
its cross-validation error, are computed from one sum over the data: :class:`~suffice.linear_model.LassoCV`
sums the moments of each fold, and :class:`~suffice.plot.CoefficientPathDisplay` draws the path.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from suffice.linear_model import BayesianModelAveraging, LassoCV, Ridge
from suffice.plot import CoefficientPathDisplay

data = load_diabetes(as_frame=True)
X, y = data.data / data.data.std(), data.target

# %%
# The left panel is the lasso: at the dotted line, which has the smallest error, some coefficients are zero.
# The right panel is ridge regression, which shrinks all coefficients and sets none to zero. The features s1
# and s2 are strongly correlated. The lasso includes one long before the other; least squares, at the right
# end, gives them large coefficients of opposite signs.

lasso, ridge = LassoCV().fit(X, y), Ridge(10.0).fit(X, y)
figure, axes = plt.subplots(
    1, 2, figsize=(11, 4.2), sharey=True, layout="constrained"
)
for ax, model in zip(axes, (lasso, ridge), strict=True):
    CoefficientPathDisplay.from_estimator(model, ax=ax)
    ax.set_title(type(model).__name__)
axes[1].set_ylabel("")
plt.show()

# %%
# The lasso selects one subset. :class:`~suffice.linear_model.BayesianModelAveraging` averages over all 1024
# subsets of the ten features, weighted by their posterior probability, and computes the probability that a
# feature is included. It also reads the data once.

average = BayesianModelAveraging(
    prior_precision=0.003, noise_precision="evidence"
).fit(X, y)
order = np.argsort(average.inclusion_probabilities_)
figure, ax = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
ax.barh(
    X.columns[order], average.inclusion_probabilities_[order], color="#0072b2"
)
ax.set(xlabel="inclusion probability", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
