"""
Kernels as values
=================

Kernels add, multiply and nest. A perceptron separates classes by the curve that its kernel can draw, and a
string kernel compares words by the letters that they share in order.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.kernels import RBF, Linear, Normalized, Polynomial, Subsequences
from suffice.linear_model import KernelPerceptron
from suffice.plot import DecisionRegionsDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, size=(300, 2))
y = np.where(np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 0] > X[:, 1], "below", "above")

kernels = {
    "Linear()": Linear(),
    "Polynomial(3)": Polynomial(3),
    "Linear() + RBF(0.5)": Linear() + RBF(0.5),
}
_, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
    model = KernelPerceptron(kernel=kernel, average=True, max_iter=50)
    model.fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{name}\naccuracy {model.score(X, y):.2f}")
plt.show()

# %%
# The string kernel counts common subsequences of three letters. Gaps make them count less.

words = ["logarithm", "algorithm", "rhythm", "theorem", "theory", "thorough"]
K = Normalized(Subsequences(3, decay=0.7))(words)
_, ax = plt.subplots(figsize=(5.2, 4.4), layout="constrained")
image = ax.imshow(K, vmin=0.0, vmax=1.0, cmap="Blues")
ax.set_xticks(range(len(words)), words, rotation=45, ha="right")
ax.set_yticks(range(len(words)), words)
plt.colorbar(image, label="normalized kernel")
plt.show()
