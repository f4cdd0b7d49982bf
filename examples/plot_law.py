"""
One law, three places
=====================

A model is fitted by summing its summaries of the blocks. So it does not matter how the rows are divided into
blocks, nor where the blocks are. Here one mixture is fitted three times from the same start: to an array, to
eight blocks by an explicit loop, and to a Parquet folder that is read in each pass.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import suffice
from suffice.families import FullGaussian, Mixture
from suffice.mixture import GaussianMixture

rng = np.random.default_rng(1)
center = np.array([[-2.0, -1.0], [0.0, 1.5], [2.0, -1.0]])
X = center[rng.integers(3, size=8000)] + rng.normal(size=(8000, 2)) * [1.0, 0.6]
blocks = np.split(X, 8)
start = Mixture(
    np.ones(3) / 3, FullGaussian(X[:3], np.tile(np.eye(2), (3, 1, 1)), reg=1e-6)
)

# An array. The precision of the start is the identity, and so is its covariance.
part = {
    "weights_init": start.weight,
    "means_init": X[:3],
    "precisions_init": start.component.covariance,
}
estimator = GaussianMixture(3, **part, tol=1e-10, max_iter=500).fit(X)
fits = {"an array": (estimator.model_, estimator.trace_)}

# Blocks in an explicit loop: each is summarized, the statistics are added, and the next model is estimated
# from the sum.
model, trace = start, []
for _ in range(estimator.n_iter_):
    summaries = [
        suffice.partition(block).fold(model.summarize) for block in blocks
    ]
    s = sum(summaries[1:], summaries[0])
    model, trace = model.estimate(s), [*trace, s.log_likelihood / len(X)]
fits["eight blocks, by hand"] = (model, np.array(trace))

# A Parquet folder instead of the array.
with tempfile.TemporaryDirectory() as folder:
    for n, block in enumerate(blocks):
        pq.write_table(
            pa.table({"a": block[:, 0], "b": block[:, 1]}),
            f"{folder}/part-{n}.parquet",
        )
    estimator.fit(suffice.scan_parquet(folder))
fits["a Parquet folder"] = (estimator.model_, estimator.trace_)

first = fits["an array"][0].component.mean
for name, (model, _) in fits.items():
    difference = np.abs(model.component.mean - first).max()
    print(f"{name:22} differs in a mean by at most {difference:.0e}")

# %%
# In the left panel, the color of a row is its block. The right panel shows the difference of the mean
# log-likelihood, ``trace_``, from its last value. The lines coincide, so they have different widths.

turn = np.linspace(0.0, 2.0 * np.pi, 100)
circle = 2.0 * np.stack([np.cos(turn), np.sin(turn)])
lines = [
    {"color": "#fcd34d", "lw": 8},
    {"color": "#b45309", "lw": 3.5},
    {"color": "white", "lw": 1.2, "ls": "--"},
]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.scatter(
    *X.T, c=np.repeat(np.arange(8), 1000), s=2, cmap="GnBu", vmin=-4, zorder=0
)
right.set_facecolor("#eef2f6")
for (name, (model, trace)), line in zip(fits.items(), lines, strict=True):
    for m, C in zip(
        model.component.mean, model.component.covariance, strict=True
    ):
        left.plot(*(m[:, None] + np.linalg.cholesky(C) @ circle), **line)
    right.semilogy(trace[-1] - trace[:-1], label=name, **line)
left.set(title="three fits, one on the other", xticks=[], yticks=[])
right.set(
    title="three traces, one on the other",
    xlabel="iteration",
    ylabel="log-likelihood still to gain",
)
right.legend(facecolor="#cbd5e1", edgecolor="none")
left.spines[:].set_visible(False)
right.spines[:].set_visible(False)
plt.show()
