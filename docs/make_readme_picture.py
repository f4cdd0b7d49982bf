"""Draw docs/_static/law.png: the summaries of four blocks, and their sum.

python docs/make_readme_picture.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import suffice
from suffice.families import Mixture
from suffice.mixture import GaussianMixture

COLORS = ["#4338ca", "#0f766e", "#d97706"]  # of the components

rng = np.random.default_rng(7)
center = np.array([[-2.2, -0.9], [0.2, 1.6], [2.3, -0.7]])
root = np.array([[[0.8, 0.0], [0.5, 0.5]], [[0.9, 0.0], [0.0, 0.5]], [[0.7, 0.0], [-0.5, 0.5]]])
# What comes first is not like what comes last, so no block alone could tell the whole.
share = np.array([[0.8, 0.18, 0.02], [0.45, 0.5, 0.05], [0.1, 0.5, 0.4], [0.03, 0.17, 0.8]])
blocks = []
for p in share:
    k = rng.choice(3, size=160, p=p)
    blocks.append(center[k] + np.einsum("nij,nj->ni", root[k], rng.normal(size=(160, 2))))

model = GaussianMixture(3, random_state=0).fit(np.concatenate(blocks)).model_
order = np.argsort(model.component.mean[:, 0])
summaries = [suffice.partition(X).fold(Mixture.summarize, model) for X in blocks]
total = summaries[0] + summaries[1] + summaries[2] + summaries[3]

turn = np.linspace(0.0, 2.0 * np.pi, 200)
circle = 2.0 * np.stack([np.cos(turn), np.sin(turn)])


def draw(ax, X, s, title):
    ax.plot(*X.T, ".", ms=3, color="0.6", mew=0, zorder=0)
    for k, color in zip(order, COLORS, strict=True):
        # An ellipse is a mean and a scatter over a weight: all three are in the summary.
        moments = s.component
        edge = moments.mean[k][:, None] + np.linalg.cholesky(moments.variance[k]) @ circle
        strength = s.weight[k] / s.weight.max()
        ax.fill(*edge, color=color, alpha=0.04 + 0.2 * strength, lw=0)
        ax.plot(*edge, color=color, alpha=0.25 + 0.75 * strength, lw=0.6 + 1.6 * strength)
    ax.set(xlim=(-5.2, 5.2), ylim=(-3.4, 3.4), aspect="equal", xticks=[], yticks=[])
    ax.set_title(title, fontsize=10, color="0.25")
    ax.spines[:].set_color("0.8")


figure = plt.figure(figsize=(11, 2.6), dpi=150)
figure.patch.set_facecolor("white")
width, gap = 0.146, 0.026
for n, (X, s) in enumerate(zip(blocks, summaries, strict=True)):
    left = 0.006 + n * (width + gap)
    draw(figure.add_axes((left, 0.22, width, 0.5)), X, s, f"block {n + 1}")
    figure.text(left + width + gap / 2, 0.47, "=" if n == 3 else "+", ha="center", va="center", fontsize=17)
draw(figure.add_axes((0.694, 0.05, 0.3, 0.84)), np.concatenate(blocks), total, "their sum")
figure.savefig(Path(__file__).parent / "_static" / "law.png")
