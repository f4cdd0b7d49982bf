"""
Kernel ridge regression
=======================

:class:`~suffice.kernel_ridge.KernelRidge` is exact, or compares each row with a few landmarks. Landmarks need
two passes over the data, wherever it is, and the sums of the second serve every penalty.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.kernel_ridge import KernelRidge
from suffice.kernels import RBF
from suffice.model_selection import GridSearch

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 10.0, size=1500))
y = np.sin(x**1.4) * np.exp(-0.1 * x) + 0.3 * rng.normal(size=x.size)
X, line = x[:, None], np.linspace(0.0, 10.0, 500)[:, None]

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(x, y, ".", color="0.8", markersize=3)
for landmarks, style in ((None, "-"), (30, "--"), (8, ":")):
    model = KernelRidge(1.0, kernel=RBF(4.0), landmarks=landmarks, random_state=0)
    label = "exact" if landmarks is None else f"{landmarks} landmarks"
    ax.plot(line, model.fit(X, y).predict(line), style, label=label)
ax.set(xlabel="x", ylabel="y", ylim=(-1.8, 1.8))
ax.legend()

# %%
# A grid of twenty penalties is one fit for each fold. Thirty landmarks are as good here as a hundred.

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
alphas = np.logspace(-5, 3, 20)
for landmarks in (8, 30, 100):
    model = KernelRidge(kernel=RBF(4.0), landmarks=landmarks, random_state=0)
    search = GridSearch(model, {"alpha": alphas}, cv=5, random_state=0).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    ax.semilogx(alphas, scores, label=f"{landmarks} landmarks")
ax.set(xlabel="alpha", ylabel="R² by cross-validation")
ax.legend()
plt.show()
