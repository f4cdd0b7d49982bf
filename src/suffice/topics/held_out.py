"""How probable documents are that a topic model was not fitted to.

Wallach, Murray, Salakhutdinov and Mimno, "Evaluation methods for topic models", 2009; Buntine, "Estimating
likelihoods for topic models", 2009; Neal, "Annealed importance sampling", 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..core.blocks import Rows, offsets
from ..core.cost import afford
from ..inputs import map_block, read_rows
from .collapsed_gibbs import whole_counts


def document_completion(lda: Any, X: Any, *, share: float = 0.5, random_state: Any = None) -> float:
    """Mean log probability of the words of one part of each document given the words of the other.

    exp(- the answer) is a perplexity, and comparable between models whatever they were fitted by.

    Parameters
    ----------
    lda : LatentDirichletAllocation
        Fitted to other documents.
    X : array or CSR matrix of shape (n_samples, n_features)
        Counts of words, whole numbers.
    share : float, default=0.5
        Probability with which a word is given; the others are to be told.
    random_state : int, RandomState or None, default=None
        Seed of the division.

    Examples
    --------
    >>> from suffice.topics import LatentDirichletAllocation, document_completion
    >>> topics = [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    >>> lda = LatentDirichletAllocation.from_topics(topics, doc_topic_prior=0.001, random_state=0)
    >>> X, _ = lda.sample(50, length=100)
    >>> round(float(np.exp(-document_completion(lda, X, random_state=0))), 1)
    2.0
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share} is a probability, from 0 to 1.")
    X = whole_counts(read_rows(lda, X))
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    given = rng.binomial(X.data.astype(np.int64), share)
    told = X.data - given
    if not told.any():
        raise ValueError(f"share={share} leaves no word to be told.")
    theta = lda.transform(sp.csr_array((given.astype(float), X.indices, X.indptr), X.shape))
    phi = lda.model_.probability
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    total, few = 0.0, 1 << 16
    for i in range(0, len(told), few):
        part = slice(i, i + few)
        p = np.einsum("nk,nk->n", theta[row[part]], phi[X.indices[part]])
        with np.errstate(divide="ignore"):
            total += float((told[part] * np.log(p))[told[part] > 0].sum())
    return total / float(told.sum())


def left_to_right(lda: Any, X: Any, *, n_particles: int = 20, random_state: Any = None) -> np.ndarray:
    """Estimates of log p(document) by sampling, for each document.

    The words of a document come in an order drawn by chance. Each is told from the topics drawn for those
    before it, which are drawn anew each time: the cost is the square of the length. The mean of what many
    particles find estimates p without bias, so its logarithm tends to the true one with their number, from
    below.

    Parameters
    ----------
    lda : LatentDirichletAllocation
        Fitted to other documents. Its topics are taken at the means of their words.
    X : array or CSR matrix of shape (n_samples, n_features)
        Counts of words, whole numbers.
    n_particles : int, default=20
        How often topics are drawn, of which the mean is taken.
    random_state : int, RandomState or None, default=None
        Seed. That of a document does not depend on threads.

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
        raise ValueError(f"n_particles={n_particles}: there must be at least 1.")
    X = whole_counts(read_rows(lda, X))
    random = check_random_state(random_state)
    rng = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
    seeds = rng.integers(1 << 64, size=X.shape[0], dtype=np.uint64)
    phi = lda.model_.probability

    def of(rows: Any) -> np.ndarray:
        begin = offsets(rows.X.sum(axis=1))
        afford(begin[-1] / 2, f"{begin[-1]} words, one by one,", "use document_completion.")
        words = np.repeat(rows.X.indices, rows.X.data.astype(np.int64))
        for d, seed in enumerate(rows.y):
            np.random.default_rng(seed).shuffle(words[begin[d] : begin[d + 1]])
        return left_to_right(words, begin, phi, lda.model_.alpha, n_particles, rows.y)

    return map_block(of, Rows(X, seeds))
