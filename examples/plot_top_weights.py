"""
What a conditional random field has learned
===========================================

A conditional random field labels the words of sentences: persons, places, and other words. Its weights can be
read. :class:`~suffice.plot.TopWeightsDisplay` draws the largest of each label, and
:class:`~suffice.plot.TransitionDisplay` those of neighbouring labels.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction import DictVectorizer

from suffice.plot import TopWeightsDisplay, TransitionDisplay
from suffice.sequence import ConditionalRandomField

rng = np.random.default_rng(0)
PERSONS = [
    "Ada",
    "Boole",
    "Carl",
    "Emmy",
    "Fisher",
    "Gauss",
    "Hilbert",
    "Kolmogorov",
    "Noether",
]
PLACES = [
    "Berlin",
    "Boston",
    "Cambridge",
    "Dublin",
    "Göttingen",
    "London",
    "Moscow",
    "Paris",
]
FORMS = ["PER met PER in LOC", "in LOC lived PER", "PER wrote to PER"]
FORMS += ["Mrs PER left LOC for LOC", "the letters of PER came from LOC"]


def sentence():
    """Words and labels. A person has one or two names."""
    words, labels = [], []
    for part in rng.choice(FORMS).split():
        if part in ("PER", "LOC"):
            count = rng.integers(1, 3) if part == "PER" else 1
            names = PERSONS if part == "PER" else PLACES
            words += rng.choice(names, size=count, replace=False).tolist()
            labels += [f"B-{part}", *[f"I-{part}"] * (count - 1)]
        else:
            words.append(part)
            labels.append("O")
    return words, labels


def features(words):
    """The word, its neighbours, and whether it has a capital letter."""
    around = ["<start>", *words, "<end>"]
    return [
        {
            "word": word,
            "before": around[n],
            "after": around[n + 2],
            "capital": word[0].isupper(),
        }
        for n, word in enumerate(words)
    ]


texts = [sentence() for _ in range(300)]
vectorizer = DictVectorizer(sparse=False)
steps = vectorizer.fit_transform(
    [f for words, _ in texts for f in features(words)]
)
X = pd.DataFrame(steps, columns=vectorizer.get_feature_names_out())
y = np.concatenate([labels for _, labels in texts])
groups = np.repeat(np.arange(len(texts)), [len(words) for words, _ in texts])
model = ConditionalRandomField(C=1.0).fit(X, y, groups=groups)

# %%
# A capital letter is evidence for names. The word before distinguishes persons from places.

TopWeightsDisplay.from_estimator(model, n_features=8)
plt.show()

# %%
# The second name of a person follows the first, and nothing else.

TransitionDisplay.from_estimator(model)
plt.show()
