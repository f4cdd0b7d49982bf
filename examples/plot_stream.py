"""
Two projections of a stream
===========================

Which plane shows ten digits best? :class:`~suffice.decomposition.PCA` finds the directions of largest
variance, :class:`~suffice.discriminant_analysis.LinearDiscriminantAnalysis` those that separate the classes
best. Both need only moments, which are sums over the rows. So both are fitted to a Parquet folder batch by
batch, without loading all of it.

The folder is made of scikit-learn's small scans of digits, each shifted by up to a pixel, with noise on every
pixel: 108 thousand images, 28 megabytes of numbers.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_digits

import suffice
from suffice.decomposition import PCA
from suffice.discriminant_analysis import LinearDiscriminantAnalysis

rng = np.random.default_rng(0)
scans, digit = load_digits(return_X_y=True)
pixels = [f"pixel {j}" for j in range(64)]
folder = tempfile.TemporaryDirectory()
files = [f"{folder.name}/part-{n:02}.parquet" for n in range(12)]
for file in files:
    moved = [
        np.roll(scans.reshape(-1, 8, 8), rng.integers(-1, 2, size=2), axis=(1, 2))
        for _ in range(5)
    ]
    X = np.reshape(moved, (-1, 64)) + rng.normal(
        scale=2.0, size=(5 * len(scans), 64)
    )
    columns = dict(zip(pixels, X.T.astype(np.float32), strict=True))
    pq.write_table(pa.table(columns | {"digit": np.tile(digit, 5)}), file)

# %%
# PCA reads the folder once. LDA reads it twice, the first time to find the classes.

images = suffice.scan_parquet(folder.name)
pca = PCA(2).fit(suffice.rows(images, features=pixels))
lda = LinearDiscriminantAnalysis(n_components=2).fit(
    suffice.rows(images, target="digit")
)

# %%
# If files arrive one by one, ``partial_fit`` adds them. After the last file, its result equals that of
# ``fit``.

later, planes = LinearDiscriminantAnalysis(n_components=2), []
for file in files:
    rows = suffice.rows(suffice.scan_parquet(file), target="digit")
    later.partial_fit(rows, classes=range(10))
    planes.append(np.linalg.qr(later.scalings_[:, :2])[0])
folder.cleanup()
cosine = [
    np.linalg.svd(plane.T @ np.linalg.qr(lda.scalings_[:, :2])[0])[1].min()
    for plane in planes
]

# %%
# The planes with 700 of the original scans, and the angle to the plane of ``fit`` after each file.

figure, axes = plt.subplots(
    1, 3, figsize=(13, 4.4), width_ratios=[1, 1, 0.6], layout="constrained"
)
for ax, model, name in zip(
    axes,
    (pca, lda),
    ("principal components", "linear discriminants"),
    strict=False,
):
    Z = model.transform(pa.table(dict(zip(pixels, scans[:700].T, strict=True))))
    for point, d in zip(Z, digit, strict=False):
        ax.text(
            *point,
            str(d),
            color=plt.colormaps["tab10"](d),
            fontsize=8,
            ha="center",
            weight="bold",
        )
    ax.plot(*Z.T, alpha=0.0)  # text alone sets no limits
    ax.set(title=name, xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
axes[2].plot(
    range(1, 13),
    np.degrees(np.arccos(np.minimum(cosine, 1.0))),
    "o-",
    color="#4338ca",
)
axes[2].set(
    title="files added one by one",
    xlabel="files",
    xticks=[1, 4, 8, 12],
    ylabel="angle to the plane of fit, in degrees",
)
axes[2].spines[["top", "right"]].set_visible(False)
plt.show()
