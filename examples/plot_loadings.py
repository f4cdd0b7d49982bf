"""
Factors behind correlated columns
=================================

Nine tests measure three abilities, which nobody observes: words, numbers and space. Factor analysis finds
how each test depends on them. The likelihood leaves a rotation open, and rotations choose the loadings that
are easiest to read.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.decomposition import (
    PCA,
    FactorAnalysis,
    SparsePCA,
    parallel_analysis,
)
from suffice.plot import ScreeDisplay

tests = {
    "vocabulary": (0.9, 0.0, 0.0),
    "reading": (0.8, 0.0, 0.0),
    "spelling": (0.7, 0.0, 0.0),
    "arithmetic": (0.0, 0.9, 0.0),
    "series": (0.0, 0.7, 0.3),
    "word problems": (0.5, 0.6, 0.0),
    "puzzles": (0.0, 0.0, 0.9),
    "maps": (0.3, 0.0, 0.7),
    "rotations": (0.0, 0.0, 0.7),
}
loadings = np.array(list(tests.values())).T
rng = np.random.default_rng(0)
abilities = rng.multivariate_normal(np.zeros(3), 0.7 * np.eye(3) + 0.3, 800)
X = abilities @ loadings + 0.5 * rng.normal(size=(800, 9))

# %%
# How many factors? Eigenvalues of the correlations are compared with those of rows without factors: the
# same columns, each permuted.

ScreeDisplay.from_parallel_analysis(parallel_analysis(X, random_state=0))
plt.show()

# %%
# Principal components and the factors of the likelihood mix the abilities: the first is large everywhere.
# Varimax turns the factors until each has few large loadings. The abilities are correlated, and promax lets
# factors be so: the small loadings become smaller. SparsePCA sets them to zero.

models = {
    "PCA": PCA(3),
    "factors": FactorAnalysis(3),
    "varimax": FactorAnalysis(3, rotation="varimax"),
    "promax": FactorAnalysis(3, rotation="promax"),
    "SparsePCA": SparsePCA(3, alpha=12.0),
}
figure, axes = plt.subplots(
    1, 6, figsize=(12, 3.8), sharey=True, layout="constrained"
)
pictures = {name: model.fit(X).components_ for name, model in models.items()}
for ax, (name, C) in zip(
    axes, {"truth": loadings, **pictures}.items(), strict=True
):
    C = C / np.abs(C).max()
    order = [np.abs(np.corrcoef(C, row)[-1, :-1]).argmax() for row in loadings]
    shown = (C if name in ("PCA", "factors") else C[order]).T
    image = ax.imshow(shown, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    ax.set(title=name, xticks=[0, 1, 2], xticklabels=[1, 2, 3])
    ax.tick_params(length=0)
axes[0].set_yticks(range(9), list(tests))
figure.colorbar(image, ax=axes, label="loading, divided by the largest")
plt.show()

# %%
# A tenth of the results is missing. Rows with holes are part of the likelihood, and their factors are those
# expected given the tests that were taken.

holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
model = FactorAnalysis(3, rotation="promax").fit(holes)
scores = model.transform(holes)
matched = np.abs(np.corrcoef(abilities.T, scores.T)[:3, 3:]).max(axis=1)
print("correlation of scores and abilities:", matched.round(2))
print("correlations of the factors:\n", model.factor_covariance_.round(2))
