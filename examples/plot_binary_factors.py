"""
A factor behind yes and no
==========================

Twelve questions, each answered right or wrong; a third of the answers is missing.
:class:`~suffice.decomposition.BinaryPCA` fits the ability of each person, and the difficulty and
discrimination of each question: the item response model of educational tests.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from suffice.decomposition import BinaryPCA

rng = np.random.default_rng(0)
ability = rng.normal(size=1000)
easy = np.linspace(-2.5, 2.5, 12)
steep = rng.uniform(0.5, 2.5, 12)
right = rng.random((1000, 12)) < expit(easy + ability[:, None] * steep)
answers = np.where(rng.random(right.shape) < 1 / 3, np.nan, right)

model = BinaryPCA().fit(answers)
scores = model.transform(answers)[:, 0]

# %%
# The curves are the probabilities of a right answer by ability. The dots are the shares of right answers of
# the people in eight groups, from the least to the largest true ability. The second picture has the scores:
# the mean ability given the answers, drawn toward zero, more if fewer questions were answered.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.0), layout="constrained")
grid = np.linspace(-3.0, 3.0, 100)
groups = np.array_split(np.argsort(ability), 8)
for item, color in zip((0, 4, 7, 11), ("C0", "C1", "C2", "C3"), strict=True):
    logit = model.intercept_[item] + model.components_[0, item] * grid
    name = f"question {item + 1}"
    axes[0].plot(grid, expit(logit), color=color, label=name)
    shares = [np.nanmean(answers[group, item]) for group in groups]
    middle = [ability[group].mean() for group in groups]
    axes[0].plot(middle, shares, "o", color=color, ms=4)
axes[0].set(xlabel="ability", ylabel="probability of a right answer")
above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
axes[0].legend(ncols=4, fontsize=9, **above)
n_answers = np.isfinite(answers).sum(axis=1)
dots = axes[1].scatter(ability, scores, c=n_answers, s=8, cmap="viridis")
axes[1].axline((0, 0), slope=1, color="0.6", lw=0.8)
axes[1].set(xlabel="ability", ylabel="score")
figure.colorbar(dots, ax=axes[1], label="number of answers")
plt.show()

# %%
# The share of right answers is another score. It depends on which questions were answered, and the factor
# does not.

share = np.nanmean(answers, axis=1)
for name, score in {"factor": scores, "share of right answers": share}.items():
    print(f"{name:24} {np.corrcoef(ability, score)[0, 1]:.3f}")
