"""
Latent Dirichlet allocation on images of bars
=============================================

A "word" here is a pixel of an image of 5 x 5 pixels, and a topic is a bar: a row of pixels, or a column. Each
document is a mixture of a few bars, as in Griffiths and Steyvers (2004). Latent Dirichlet allocation finds
the bars from the counts of pixels, by collapsed Gibbs sampling or by variational inference.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.topics import LatentDirichletAllocation, document_completion

bars = np.zeros((10, 5, 5))
for i in range(5):
    bars[i, i, :] = bars[5 + i, :, i] = 0.2
truth = LatentDirichletAllocation.from_topics(
    bars.reshape(10, 25), doc_topic_prior=0.2, random_state=0
)
X, _ = truth.sample(1000, length=100)
new, _ = truth.sample(300, length=100)

how = {"doc_topic_prior": 0.2, "topic_word_prior": 0.1, "random_state": 3}
sweeps = [1, 10, 30, 200]
fits = {
    f"{n} sweep{'s' * (n > 1)}": LatentDirichletAllocation(
        10, solver="gibbs", max_iter=n, **how
    ).fit(X)
    for n in sweeps
}
fits["variational"] = LatentDirichletAllocation(10, max_iter=300, **how).fit(X)

for name, lda in {"the truth": truth, **fits}.items():
    perplexity = np.exp(-document_completion(lda, new, random_state=0))
    print(f"{name:12} perplexity of half a document: {perplexity:.2f}")

# %%
# The first row has ten documents. Below are the topics after increasing numbers of sweeps, each matched to
# the nearest bar. The first sweep starts from random topics.


def arranged(lda):
    """Topics in the order of the bars."""
    phi = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    near = phi @ bars.reshape(10, 25).T
    places = np.zeros(10, int)
    for _ in range(10):
        topic, place = np.unravel_index(near.argmax(), near.shape)
        places[place] = topic
        near[topic, :] = near[:, place] = -1.0
    return phi[places].reshape(10, 5, 5)


figure, axes = plt.subplots(
    1 + len(fits), 10, figsize=(10, 6.4), layout="constrained"
)
rows = {"documents": X[:10].toarray().reshape(-1, 5, 5)} | {
    name: arranged(lda) for name, lda in fits.items()
}
for line, (name, pictures) in zip(axes, rows.items(), strict=True):
    for ax, picture in zip(line, pictures, strict=True):
        ax.imshow(
            picture, cmap="GnBu" if name != "documents" else "Greys", vmin=0
        )
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()

# %%
# ``trace_`` is log p(words, topics) per word. It increases while the sampler finds the bars, and then
# fluctuates around a constant.

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(
    np.arange(1, sweeps[-1] + 1),
    fits[f"{sweeps[-1]} sweeps"].trace_,
    color="#0f766e",
)
ax.set(xlabel="sweep", ylabel="log p(words, topics) per word", xscale="log")
plt.show()
