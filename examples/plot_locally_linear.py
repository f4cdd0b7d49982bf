"""
Unroll a surface by neighbours
==============================

The rows lie on a rolled surface. The first principal components look at the roll from one side, and rows of
different layers overlap. :class:`~suffice.manifold.LocallyLinearEmbedding` places each row at the same
weighted mean of its neighbours as in the data, and so unrolls the surface; with too many neighbours it takes
shortcuts between layers.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, make_swiss_roll

from suffice.decomposition import PCA
from suffice.manifold import LocallyLinearEmbedding
from suffice.plot import EmbeddingDisplay

X, along = make_swiss_roll(1500, random_state=0)
models = {
    "PCA": PCA(2),
    "12 neighbours": LocallyLinearEmbedding(n_neighbors=12),
    "60 neighbours": LocallyLinearEmbedding(n_neighbors=60),
}

fig = plt.figure(figsize=(14, 3.6), layout="constrained")
ax = fig.add_subplot(1, 4, 1, projection="3d")
ax.scatter(*X.T, c=along, s=5)
ax.view_init(elev=12, azim=-72)
ax.set(title="rows", xticklabels=[], yticklabels=[], zticklabels=[])
for place, (name, model) in enumerate(models.items(), 2):
    ax = fig.add_subplot(1, 4, place)
    ax.scatter(*model.fit_transform(X).T, c=along, s=5)
    ax.set(title=name, xlabel="first", ylabel="second", xticks=[], yticks=[])

# %%
# :class:`~suffice.plot.EmbeddingDisplay` draws an embedding by classes or by numbers. With images, the row
# nearest to each vertex of a grid is shown: the digits 2 to 5, by two principal components.

digits = load_digits(n_class=6)
some = digits.target >= 2
points = PCA(2).fit_transform(digits.data[some])
EmbeddingDisplay.from_embedding(
    points, digits.target[some], images=digits.images[some]
)
plt.show()
