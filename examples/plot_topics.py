"""
Topics of short documents
=========================

The documents are short notes of a household, each about one or two subjects. Words are counted in one pass.
:class:`~suffice.topics.ProbabilisticLatentSemanticAnalysis` finds the topics, which are distributions of
words, in a few more passes.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.feature_extraction.text import CountVectorizer
from suffice.plot import TopicMapDisplay, TopicsDisplay
from suffice.topics import ProbabilisticLatentSemanticAnalysis, coherence

SUBJECTS = {
    "garden": "seed soil rose spade water hedge compost lawn prune pot sun bed",
    "kitchen": "bread oven soup salt butter knife onion pot recipe water "
    "stir bake",
    "travel": "train ticket hotel map harbour luggage passport coast bed sun "
    "bridge tour",
    "money": "rent bill bank tax savings receipt ticket invoice price loan "
    "budget salary",
    "health": "doctor fever tea pill rest bandage cough water nurse salt "
    "bed clinic",
}
rng = np.random.default_rng(0)
names = list(SUBJECTS)
words = [SUBJECTS[name].split() for name in names]
notes, shares = [], rng.dirichlet(np.full(len(names), 0.15), size=800)
for share in shares:
    subjects = rng.choice(len(names), size=rng.integers(15, 40), p=share)
    notes.append(
        " ".join(words[s][min(11, int(rng.exponential(4.0)))] for s in subjects)
    )
print(notes[0])

# %%
# Some words belong to several subjects: there is a pot in the garden and one in the kitchen, and a bed in
# three places. A topic model resolves the ambiguity by the other words of a note.

vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(notes)
model = ProbabilisticLatentSemanticAnalysis(5, n_init=5, random_state=0).fit(
    counts
)
display = TopicsDisplay.from_estimator(model, vectorizer.get_feature_names_out())

# %%
# The words of a topic tend to occur in the same notes. Coherence measures this, here as the mean normalized
# pointwise mutual information (NPMI) of its words.

print(coherence(model, counts, measure="npmi", n_words=8).round(2))

# %%
# On a topic map, topics that share words are near each other. The area of a topic is its number of words.

_, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
TopicMapDisplay.from_estimator(model, vectorizer.get_feature_names_out(), ax=ax)

# %%
# A new note is folded in: its topic weights are estimated, and the topics are not changed.

new = ["water the rose and pay the rent", "a bed in the harbour hotel"]
print(model.transform(vectorizer.transform(new)).round(2))
plt.show()
