"""
Segments of a signal with missing values
========================================

A machine idles, runs, or chokes. A vibration sensor and a current sensor observe it with noise. Single
readings are missing, and so are all readings of one hour. There are no labels.

:class:`~suffice.sequence.HiddenMarkovModel` marginalizes missing values (NaN). For a missing reading, it uses
the other sensor. For the missing hour, it uses the steps before and after it, and the duration of the states.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.mixture import GaussianMixture
from suffice.plot import (
    ConvergenceDisplay,
    SegmentsDisplay,
    StateDiagramDisplay,
    TransitionDisplay,
    TrellisDisplay,
)
from suffice.sequence import HiddenMarkovModel

rng = np.random.default_rng(3)
names = np.array(["idle", "runs", "chokes"])
stay = np.array([[0.97, 0.03, 0.0], [0.01, 0.97, 0.02], [0.0, 0.06, 0.94]])
state = [0]
while len(state) < 600:
    state.append(rng.choice(3, p=stay[state[-1]]))
state = np.array(state)
mean, spread = (
    np.array([[0.0, 0.0], [1.5, 2.0], [3.0, 1.0]]),
    np.array([[0.5, 0.6], [0.9, 0.9], [1.2, 0.9]]),
)
X = mean[state] + spread[state] * rng.normal(size=(600, 2))
X[rng.random(X.shape) < 0.2] = np.nan
X[300:360] = np.nan

# %%
# The states have no names, so they are named by their mean vibration: the smallest is idle, and so on. As a
# baseline, a mixture with the same densities classifies each step independently.

model = HiddenMarkovModel(3, random_state=0).fit(X)
mixture = GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)


def named(labels, mean):
    return names[np.argsort(np.argsort(mean[:, 0]))[labels]]


by_chain = named(model.predict(X), model.model_.emission.mean)
by_step = named(mixture.predict(X), mixture.means_)
for title, found in (
    ("each step by itself", by_step),
    ("hidden Markov model", by_chain),
):
    print(
        f"{title:20} right in {np.mean(found == names[state]):.1%} of the steps"
    )

# %%
# The strips show the true and the decoded states. In the missing hour the mixture can only predict its
# largest component. The hidden Markov model infers the states at the beginning and at the end of the hour.

figure, axes = plt.subplots(
    2, 1, figsize=(10, 6.4), sharex=True, layout="constrained"
)
for ax, title, found in zip(
    axes, ("by itself", "in a chain"), (by_step, by_chain), strict=True
):
    SegmentsDisplay.from_predictions(
        X,
        found,
        true=names[state],
        labels=names,
        ax=ax,
        names=["vibration", "current"],
    )
    ax.set_title(f"each step {title}", loc="left")
axes[0].set_xlabel("")
plt.show()

# %%
# When did the machine stop? This was not observed, so the posterior is uncertain: the shade is the
# probability of each state around the missing hour, given all observations before and after it. The Viterbi
# path is only one of many likely paths.

figure, ax = plt.subplots(figsize=(10, 2.6), layout="constrained")
order = np.argsort(model.model_.emission.mean[:, 0])
TrellisDisplay.from_predictions(
    model.predict_proba(X)[280:400, order], by_chain[280:400], labels=names, ax=ax
)
ax.set_xticks(range(0, 120, 20), range(280, 400, 20))
plt.show()

# %%
# The transition probabilities, as a heat map and as a state diagram, and the convergence of the fit.

figure, axes = plt.subplots(
    1, 3, figsize=(12, 3.6), width_ratios=[1, 1, 1.2], layout="constrained"
)
transition = model.transmat_[np.ix_(order, order)]
TransitionDisplay(transition, names.tolist()).plot(axes[0])
StateDiagramDisplay(transition, names.tolist()).plot(
    axes[1], min_probability=0.005
)
ConvergenceDisplay.from_estimator(model, ax=axes[2], name="EM")
plt.show()
