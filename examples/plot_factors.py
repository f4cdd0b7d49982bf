"""
SVD, NMF and robust PCA of digits
=================================

This example compares two factorizations of the same rows. Singular vectors are orthogonal and ordered, and
have negative entries that cancel parts of the others. Non-negative components can only be added, so they
become parts: strokes of the pen. At the end, robust PCA repairs damaged digits.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from suffice.decomposition import NMF, RobustPCA, TruncatedSVD

X = load_digits().data
K = 12
svd = TruncatedSVD(K, random_state=0).fit(X)
nmf = NMF(K, random_state=0, max_iter=1000).fit(X)
sparse = NMF(K, random_state=0, max_iter=1000, alpha_W=0.03, l1_ratio=1.0).fit(X)

print(f"{'':28} {'residual':>10} {'zero entries':>22}")
for name, model in {
    "singular vectors": svd,
    "NMF": nmf,
    "NMF, L1 penalty": sparse,
}.items():
    rest = X - model.inverse_transform(model.transform(X))
    zero = (np.abs(model.components_) < 1e-9).mean()
    print(f"{name:28} {(rest**2).sum() / (X**2).sum():10.1%} {zero:22.0%}")

# %%
# The first row has the singular vectors; blue is negative. Below are the components of NMF. An L1 penalty
# sets more entries to zero, and all entries of some components.

figure, axes = plt.subplots(3, K, figsize=(12, 3.4), layout="constrained")
for row, (name, model) in zip(
    axes,
    {"singular vectors": svd, "NMF": nmf, "NMF, L1 penalty": sparse}.items(),
    strict=True,
):
    for axis, component in zip(row, model.components_, strict=True):
        most = np.abs(component).max() or 1.0
        axis.imshow(component.reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    row[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()

# %%
# A digit is a sum of few components. Its row of W has their weights.

W = nmf.transform(X)
shown = [3, 8, 22]
figure, axes = plt.subplots(len(shown), 6, figsize=(9, 4.4), layout="constrained")
for row, n in zip(axes, shown, strict=True):
    largest = np.argsort(W[n] * np.linalg.norm(nmf.components_, axis=1))[::-1][:4]
    pictures = [
        X[n],
        W[n] @ nmf.components_,
        *(W[n, k] * nmf.components_[k] for k in largest),
    ]
    for axis, picture in zip(row, pictures, strict=True):
        axis.imshow(picture.reshape(8, 8), cmap="Reds", vmin=0, vmax=16)
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
for axis, title in zip(
    axes[0],
    ["a digit", "all parts", "first part", "second", "third", "fourth"],
    strict=True,
):
    axis.set_title(title, fontsize=10)
plt.show()

# %%
# Three solvers from the same start. The loss never increases.

rng = np.random.default_rng(0)
start = {
    "W": rng.uniform(0.1, 1.0, (len(X), K)),
    "H": rng.uniform(0.1, 1.0, (K, 64)),
}
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for solver, color in {
    "cd": "#0072b2",
    "mu": "#d55e00",
    "gradient": "#009e73",
}.items():
    model = NMF(K, init="custom", solver=solver, tol=1e-12, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # it is meant to stop before it has converged
        model.fit(X, **start)
    axis.loglog(
        np.arange(1, model.n_iter_ + 1),
        2.0 * model.trace_ / (X**2).sum(),
        color=color,
        label=solver,
    )
axis.set(xlabel="iteration", ylabel="residual")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Now one pixel in twenty is wrong, and far outside the range of the others. Robust PCA writes the rows as a
# low-rank part plus a sparse part. The wrong pixels go to the sparse part; it need not know where they are.
# As many singular vectors follow the wrong pixels.

damaged = np.where(rng.random(X.shape) < 0.05, 60.0, X)
robust = RobustPCA().fit(damaged)
svd = TruncatedSVD(robust.n_components_, random_state=0).fit(damaged)
rows = {"damaged": damaged}
for name, model in {"singular vectors": svd, "robust PCA": robust}.items():
    rows[name] = model.inverse_transform(model.transform(damaged))
    residual = ((rows[name] - X) ** 2).sum() / (X**2).sum()
    print(f"{name:28} {residual:10.1%} of the undamaged digits")
rows["undamaged"] = X

figure, axes = plt.subplots(4, 10, figsize=(9, 4.0), layout="constrained")
for row, (name, pictures) in zip(axes, rows.items(), strict=True):
    for axis, picture in zip(row, pictures, strict=False):
        axis.imshow(picture.reshape(8, 8), cmap="Greys", vmin=0, vmax=16)
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    row[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
