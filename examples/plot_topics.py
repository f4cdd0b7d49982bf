"""
What documents are about
========================

Short notes of a household, each about one thing or two. Words are counted in one pass, and
:class:`~suffice.topics.ProbabilisticLatentSemanticAnalysis` finds the things they are about, in a few passes
more: topics, which are distributions of words.
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
# three places. A topic model can tell, as it knows what else a note is about.

vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(notes)
model = ProbabilisticLatentSemanticAnalysis(5, n_init=5, random_state=0).fit(
    counts
)
display = TopicsDisplay.from_estimator(model, vectorizer.get_feature_names_out())

# %%
# The words of a topic are found in the same notes. How much so is its coherence, here the mean normalised
# mutual information of its words.

print(coherence(model, counts, measure="npmi", n_words=8).round(2))

# %%
# On a map, topics that share words are near each other, and large ones have more words.

_, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
TopicMapDisplay.from_estimator(model, vectorizer.get_feature_names_out(), ax=ax)

# %%
# A new note is folded in: its topics are found, the words of the topics stay as they are.

new = ["water the rose and pay the rent", "a bed in the harbour hotel"]
print(model.transform(vectorizer.transform(new)).round(2))
plt.show()
