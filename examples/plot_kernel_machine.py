"""
One function, several losses
============================

:class:`~suffice.svm.KernelMachine` finds the function in the space of a kernel that minimizes a loss and its
squared norm. The loss decides how rows far from the function count, and what the function is.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.kernels import RBF
from suffice.svm import KernelMachine

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 6.0, size=250))
y = np.sin(x) + 0.15 * rng.normal(size=x.size)
far = rng.choice(x.size, 25, replace=False)
y[far] += rng.uniform(1.0, 4.0, size=25)
X, line = x[:, None], np.linspace(0.0, 6.0, 300)[:, None]


def quantile(y, f, share=0.9, width=0.05):
    """The loss of a quantile, smoothed; and its derivatives."""
    p = 1.0 / (1.0 + np.exp((y - f) / width))
    loss = share * (y - f) + width * np.logaddexp(0.0, (f - y) / width)
    return loss, p - share, p * (1.0 - p) / width


losses = {
    "squared": "squared",
    "epsilon-insensitive": "epsilon_insensitive",
    "quantile 0.9": quantile,
}
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(x, y, ".", color="0.75", markersize=4)
for (name, loss), style in zip(losses.items(), ("-", "--", ":"), strict=True):
    model = KernelMachine(loss, C=5.0, kernel=RBF(0.5)).fit(X, y)
    ax.plot(line, model.predict(line), style, label=name)
ax.set(xlabel="x", ylabel="y")
ax.legend()
plt.show()

# %%
# Squared errors are drawn towards the rows far above. The epsilon-insensitive loss is not, and the loss of a
# quantile leaves a tenth of the rows above its function.
