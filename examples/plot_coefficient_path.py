"""
Which features matter: paths of coefficients
============================================

The lasso lets coefficients in one after the other as its penalty falls. The whole path, and the error on
rows left out along it, follow from one sum over the data: :class:`~suffice.linear_model.LassoCV` sums the
moments of each fold, and :class:`~suffice.plot.CoefficientPathDisplay` draws what follows from them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from suffice.linear_model import BayesianModelAveraging, LassoCV, Ridge
from suffice.plot import CoefficientPathDisplay

data = load_diabetes(as_frame=True)
X, y = data.data / data.data.std(), data.target

# %%
# On the left the lasso: at the dotted line, which predicts best, some coefficients are zero. On the right
# ridge regression, which shrinks all of them and leaves none out. Of two features that say nearly the same,
# s1 and s2, the lasso takes one long before the other; least squares, far on the right, gives them large
# coefficients of opposite signs.

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
# A path chooses. :class:`~suffice.linear_model.BayesianModelAveraging` does not: it keeps all 1024 subsets
# of the ten features, each by how probable it is, and says how probable it is that a feature matters. It
# too reads the data once.

average = BayesianModelAveraging(
    prior_precision=0.003, noise_precision="evidence"
).fit(X, y)
order = np.argsort(average.inclusion_probabilities_)
figure, ax = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
ax.barh(
    X.columns[order], average.inclusion_probabilities_[order], color="#0072b2"
)
ax.set(xlabel="probability that it matters", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
plt.show()
