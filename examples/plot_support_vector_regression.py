"""
A tube around the targets, a region around the rows
===================================================

Support vector regression (:class:`~suffice.svm.SVR`) does not count errors within a tube of half width
epsilon. Rows within the tube have no coefficient: the function is a sum over the others, the support vectors,
with circles. A one-class machine (:class:`~suffice.svm.OneClassSVM`) has no targets. It finds a region with
all but a fraction nu of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from suffice.kernels import RBF
from suffice.svm import SVR, OneClassSVM

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 80))[:, None]
y = np.sin(x[:, 0]) + 0.15 * rng.normal(size=80)
epsilon = 0.2
tube = SVR(C=10.0, epsilon=epsilon, kernel=RBF(0.5)).fit(x, y)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
at = np.linspace(0, 6, 200)[:, None]
f = tube.predict(at)
axes[0].fill_between(at[:, 0], f - epsilon, f + epsilon, alpha=0.2)
axes[0].plot(at, f)
axes[0].scatter(x, y, s=12, c="0.3")
axes[0].scatter(
    x[tube.support_], y[tube.support_], s=60, facecolors="none", edgecolors="C1"
)
axes[0].set(
    title=f"regression: {len(tube.support_)} of {len(x)} are support vectors",
    xlabel="feature",
    ylabel="target",
)

X = make_moons(200, noise=0.1, random_state=0)[0]
side = np.linspace(-1.8, 2.8, 150), np.linspace(-1.3, 1.8, 150)
grid = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)
for nu, color in ((0.05, "C0"), (0.3, "C1")):
    region = OneClassSVM(nu=nu, kernel=RBF(2.0)).fit(X)
    score = region.decision_function(grid).reshape(150, 150)
    axes[1].contour(*side, score, [0], colors=color)
    outside = (region.predict(X) == -1).mean()
    axes[1].plot([], color=color, label=f"nu = {nu}: {outside:.0%} outside")
axes[1].scatter(*X.T, s=12, c="0.3")
axes[1].set(title="one class", xlabel="first feature", ylabel="second feature")
axes[1].legend(loc="upper right")
plt.show()
