"""
Gradient boosting, stage by stage
=================================

Each stage of gradient boosting adds a small tree to the model. A small learning rate
takes more stages, and often ends with a lower loss of new rows. With early stopping,
the loss of rows for validation says when to end.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.ensemble import HistGradientBoostingRegressor

rng = np.random.default_rng(0)
X = rng.uniform(size=(4000, 6))
signal = np.sin(6 * X[:, 0]) + 4 * (X[:, 1] - 0.5) ** 2 + X[:, 2] * X[:, 3]
y = signal + 0.5 * rng.normal(size=4000)
train, test = slice(1000), slice(1000, 4000)

fig, ax = plt.subplots(figsize=(7, 4))
for rate, color in ((1.0, "C3"), (0.3, "C1"), (0.1, "C0")):
    model = HistGradientBoostingRegressor(learning_rate=rate, max_iter=150)
    model.fit(X[train], y[train])
    losses = [np.mean((y[test] - p) ** 2) for p in model.staged_predict(X[test])]
    ax.plot(losses, color=color, label=f"learning rate {rate}, new rows")
    ax.plot(
        2 * model.losses_[1:, 0], color=color, linestyle=":", label="its own rows"
    )
stopped = HistGradientBoostingRegressor(early_stopping=True, random_state=0)
stopped.fit(X[train], y[train])
ax.axvline(
    stopped.n_iter_, color="0.6", linestyle="--", label="early stopping, 0.1"
)
ax.axhline(0.25, color="0.8", zorder=0)
ax.set(xlabel="stage", ylabel="mean squared error", ylim=(0, 0.8))
ax.legend(fontsize=8, ncols=2)
fig.tight_layout()
plt.show()

# %%
# The dotted losses of the rows themselves go on falling. Those of new rows, which the
# noise keeps above 0.25, rise again when the trees fit the noise.
