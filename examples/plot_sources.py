"""
Sources behind mixed signals
============================

Three sources are heard by four microphones, each at its own loudness. Whitening makes the recordings
uncorrelated; that leaves a rotation. Independent component analysis finds it: its components are as far from
Gaussian as they can be, because sums of independent sources are closer to Gaussian than the sources.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import sawtooth

from suffice.decomposition import FastICA, Whitening
from suffice.information import negentropy

rng = np.random.default_rng(0)
t = np.linspace(0.0, 8.0, 2000)
sources = np.column_stack(
    [np.sin(2.0 * t), np.sign(np.sin(3.0 * t)), sawtooth(2.0 * np.pi * t)]
)
sources += 0.1 * rng.normal(size=sources.shape)
loudness = rng.uniform(0.3, 2.0, (3, 4))
recordings = sources @ loudness

# %%
# White signals are uncorrelated, and still mixed. The components of ICA are the sources, in any order, and
# with any sign and scale. Four recordings of three sources have a covariance of rank three, so that there are
# three components.

pictures = {
    "sources": sources,
    "recordings": recordings,
    "white": Whitening("pca").fit_transform(recordings),
    "independent": FastICA(random_state=0).fit_transform(recordings),
}
fig, axes = plt.subplots(
    4, 1, figsize=(9, 6.4), sharex=True, layout="constrained"
)
for ax, (name, signals) in zip(axes, pictures.items(), strict=True):
    ax.plot(
        t,
        signals / signals.std(axis=0) + 4.0 * np.arange(signals.shape[1]),
        lw=0.9,
    )
    ax.set(ylabel=name, yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[-1].set_xlabel("time")
plt.show()

# %%
# Why it works: two uniform sources fill a square. Mixed, they fill a parallelogram; white, the square again,
# but turned. The titles have the sum of the negentropies of the two coordinates, their distances from
# Gaussians. It is largest for the sources, and ICA finds the rotation that restores it.

square = rng.uniform(-1.0, 1.0, (2000, 2))
mixed = square @ np.array([[1.0, 0.4], [0.7, 1.1]])
ica = FastICA(random_state=0, tol=1e-8).fit(mixed)
steps = {
    "sources": square,
    "mixed": mixed,
    "white": Whitening("pca").fit_transform(mixed),
    "independent": ica.transform(mixed),
}
fig, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
for ax, (name, rows) in zip(axes, steps.items(), strict=True):
    far = negentropy(rows, "entropy").sum()
    ax.scatter(*rows.T, s=2, alpha=0.5)
    ax.set(title=f"{name}: {far:.2f}", xticks=[], yticks=[], aspect="equal")
plt.show()
