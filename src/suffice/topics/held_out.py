"""Held-out likelihood of documents under a topic model.

Wallach, Murray, Salakhutdinov and Mimno, "Evaluation methods for topic models", 2009; Buntine, "Estimating
likelihoods for topic models", 2009; Neal, "Annealed importance sampling", 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..core.arguments import Seed
from ..core.blocks import Rows, offsets
from ..core.cost import afford
from ..core.randomness import Purpose, generator
from ..decomposition.collapsed_gibbs import as_prior, whole_counts
from ..inputs import map_block, read_rows


def document_completion(
    lda: Any, X: Any, *, observed_fraction: float = 0.5, random_state: Seed = None
) -> float:
    """Document completion: mean log probability of the words of one part of each document given the other
    part.

    exp(-result) is a perplexity, which is comparable between models fitted by different solvers.

    Parameters
    ----------
    lda : LatentDirichletAllocation
        Model fitted to other documents.
    X : array or CSR matrix of shape (n_samples, n_features)
        Integer counts of words.
    observed_fraction : float, default=0.5
        Probability that a word is observed. The other words are predicted.
    random_state : int, RandomState or None, default=None
        Seed for the division of the words.

    Examples
    --------
    >>> from suffice.topics import LatentDirichletAllocation, document_completion
    >>> topics = [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    >>> lda = LatentDirichletAllocation.from_topics(topics, doc_topic_prior=0.001, random_state=0)
    >>> X, _ = lda.sample(50, length=100)
    >>> round(float(np.exp(-document_completion(lda, X, random_state=0))), 1)
    2.0
    """
    if not 0 <= observed_fraction <= 1:
        raise ValueError(
            f"observed_fraction must be a probability, between 0 and 1; got {observed_fraction}."
        )
    X = whole_counts(read_rows(lda, X))
    rng = generator(Purpose.SPLIT, check_random_state(random_state).randint(np.iinfo(np.int32).max))
    observed = rng.binomial(X.data.astype(np.int64), observed_fraction)
    predicted = X.data - observed
    if not predicted.any():
        raise ValueError(
            f"observed_fraction={observed_fraction} leaves no word to predict: lower it, or pass longer "
            "documents."
        )
    theta = lda.transform(sp.csr_array((observed.astype(float), X.indices, X.indptr), X.shape))
    phi = lda.model_.probability
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    total, few = 0.0, 1 << 16
    for i in range(0, len(predicted), few):
        part = slice(i, i + few)
        p = np.einsum("nk,nk->n", theta[row[part]], phi[X.indices[part]])
        with np.errstate(divide="ignore"):
            total += float((predicted[part] * np.log(p))[predicted[part] > 0].sum())
    return total / float(predicted.sum())


def left_to_right(lda: Any, X: Any, *, n_particles: int = 20, random_state: Seed = None) -> np.ndarray:
    """Left-to-right estimates of log p(document), for each document.

    The words of a document are visited in random order. Each is predicted from the topics of the words before
    it, which are resampled each time: the cost is quadratic in the length. The mean over particles is an
    unbiased estimate of p, so its logarithm converges from below as their number grows.

    Parameters
    ----------
    lda : LatentDirichletAllocation
        Model fitted to other documents. Its topics are fixed at their posterior means.
    X : array or CSR matrix of shape (n_samples, n_features)
        Integer counts of words.
    n_particles : int, default=20
        Number of particles to average.
    random_state : int, RandomState or None, default=None
        Seed. The result does not depend on the number of threads.

    Examples
    --------
    >>> from suffice.topics import LatentDirichletAllocation, left_to_right
    >>> topics = [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]
    >>> lda = LatentDirichletAllocation.from_topics(topics, doc_topic_prior=1.0)
    >>> left_to_right(lda, [[2, 1, 1]], n_particles=10000, random_state=0).round(2)  # exactly log(1 / 100)
    array([-4.6])
    """
    from ..loops.topics import left_to_right

    if not n_particles >= 1:
        raise ValueError(f"n_particles must be at least 1; got n_particles={n_particles}.")
    X = whole_counts(read_rows(lda, X))
    random = check_random_state(random_state)
    rng = generator(Purpose.LATENT, random.randint(np.iinfo(np.int32).max))
    seeds = rng.integers(1 << 64, size=X.shape[0], dtype=np.uint64)
    phi, alpha = np.ascontiguousarray(lda.model_.probability, np.float64), as_prior(lda.model_.alpha)

    def of(rows: Any) -> np.ndarray:
        begin = offsets(rows.X.sum(axis=1))
        afford(begin[-1] / 2, f"{begin[-1]} words, one by one,", "use document_completion.")
        words = np.repeat(rows.X.indices.astype(np.int64), rows.X.data.astype(np.int64))
        for d, seed in enumerate(rows.y):
            generator(Purpose.ORDER, int(seed)).shuffle(words[begin[d] : begin[d + 1]])
        seeds = np.ascontiguousarray(rows.y, np.uint64)
        return left_to_right(words, begin, phi, alpha, int(n_particles), seeds)

    return map_block(of, Rows(X, seeds))
