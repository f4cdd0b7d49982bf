"""Probabilistic latent semantic analysis (PLSA) by expectation maximization.

Hofmann, "Unsupervised learning by probabilistic latent semantic analysis", 2001; Li ch. 18.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Matrix, Rows, entries_of
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..estimator.answers import nameless, row_wise
from ..estimator.base import Iterative
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, NON_NEGATIVE, Interval, Numbers, StrOptions
from ..estimator.tags import tags
from ..fitting import em
from ..inputs import map_rows, open_rows, read_rows

FORMS = ("generative", "cooccurrence")
RAREST = 1e-100  # least fraction of all words in a column that has words


@dataclass(frozen=True, eq=False)
class AspectCounts(Statistics):
    """Expected counts of words in topics, numbers of documents and words, and the log-likelihood."""

    log_likelihood: float  # of the words, given their documents
    weight: float  # of the documents
    words: float
    lengths: float  # sum of length log length over documents
    counts: Annotated[np.ndarray, "(K, V)"]


@dataclass(frozen=True, eq=False)
class Aspects(Model):
    """P(w given d) = sum_z P(z given d) P(w given z): a document is a mixture of topics.

    The topics z are the parameters. The weights P(z given d) of a document are optimal for these topics, and
    computed again in each pass (Hofmann's folding-in). So they take no memory, and the likelihood is a
    function of the topics alone.

    With beta < 1, a word is shared among topics in proportion to (P(z given d) P(w given z))^beta in the
    generative form, and to P(z) (P(d given z) P(w given z))^beta in that of co-occurrence: tempered EM. It
    maximizes the log of the sum of these.
    """

    topics: Annotated[np.ndarray, "(K, V)"]  # P(w given z)
    weight: Annotated[np.ndarray, "(K,)"]  # P(z)
    form: str = "generative"
    beta: float = 1.0
    doc_tol: float = 1e-10
    max_doc_iter: int = 1000

    @cached_property
    def potential(self) -> np.ndarray:
        """Weights of words in topics, (V, K)."""
        A = np.array(self.topics.T, order="C")
        if self.beta != 1.0:
            A = A**self.beta
            if self.form == "cooccurrence":
                A = A * self.weight ** (1.0 - self.beta)
        return A

    def fold_in(self, X: Matrix, theta: Any = None, max_iter: int | None = None) -> np.ndarray:
        """P(z given d) of documents, (N, K), by EM from P(z) or from initial weights."""
        from ..loops.plsa import fold_in

        entries = entries_of(sp.csr_array(X))
        start, shape = self.weight if theta is None else theta, (X.shape[0], len(self.topics))
        theta = np.array(np.broadcast_to(start, shape), np.float64, order="C")
        steps = self.max_doc_iter if max_iter is None else max_iter
        fold_in(*entries, self.potential, float(self.beta), int(steps), float(self.doc_tol), theta)
        return theta

    def summarize(self, block: Rows) -> AspectCounts:
        """The E step, at the optimal weights of the documents."""
        return self.summarize_at(self.fold_in(block.X), block)

    def summarize_at(self, theta: np.ndarray, block: Rows) -> AspectCounts:
        """The E step, at these weights of the documents."""
        from ..loops.plsa import expect

        X = block.X
        counts, log_sums = np.zeros((X.shape[1], len(self.topics))), np.zeros(X.shape[0])
        entries, weight = entries_of(sp.csr_array(X)), np.ascontiguousarray(block.weight, np.float64)
        theta = np.ascontiguousarray(theta, np.float64)
        expect(*entries, self.potential, float(self.beta), theta, weight, counts, log_sums)
        length = np.asarray(X.sum(axis=1)).ravel()
        return AspectCounts(
            float(block.weight.dot(log_sums)),
            float(block.weight.sum()),
            float(block.weight.dot(length)),
            float(block.weight.dot(length * np.log(np.where(length > 0, length, 1.0)))),
            counts.T,
        )

    def estimate(self, s: AspectCounts) -> Self:
        """The M step: P(w given z) and P(z) in proportion to the expected counts."""
        total = s.counts.sum(axis=1)
        topics = s.counts / np.where(total > 0, total, 1.0)[:, None]
        return self.replace(topics=topics, weight=total / total.sum())

    def objective(self, s: AspectCounts) -> float:
        """Mean log-likelihood per word; in the co-occurrence form, of word and document."""
        mean = s.log_likelihood / s.words
        if self.form == "cooccurrence":  # P(d) is its share of all words
            mean += self.beta * (s.lengths / s.words - np.log(s.words))
        return mean

    def log_prior(self) -> float:
        return 0.0


def _word_counts(block: Rows) -> np.ndarray:
    return np.asarray(block.X.T.dot(block.weight))


class ProbabilisticLatentSemanticAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Probabilistic latent semantic analysis (PLSA): a topic model by maximum likelihood.

    A document d draws each of its words from a topic, and the topic from weights of its own: P(w given d) =
    sum_z P(z given d) P(w given z). Every pass over the documents optimizes the weights of each for the
    current topics. Then the topics are estimated from the expected counts. The likelihood never decreases. No
    state is kept per document between passes.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    form : {'generative', 'cooccurrence'}, default='generative'
        The model of words given documents, P(w given d); or of both, P(w, d) = sum_z P(z) P(w given z)
        P(d given z). Both have the same topics, unless `beta` is less than one.
    beta : float, default=1.0
        Inverse temperature of tempered EM. Values below 1 smooth the responsibilities, against overfitting.
    tol : float, default=1e-5
        Tolerance of the stopping criterion: the change of the mean log-likelihood per word.
    max_iter : int, default=200
        Maximum number of passes over the documents.
    doc_tol : float, default=1e-10
        Tolerance of the weights of a document: their largest relative growth in a step. The mean
        log-likelihood of its words is then within this distance of the optimum, if `beta` is 1.
    max_doc_iter : int, default=1000
        Maximum number of iterations for the weights of a document.
    n_init : int, default=1
        Number of initializations. The best result is kept. All runs share each pass over the data.
    topics_init : array of shape (n_components, n_features), default=None
        Initial topics. If None, they are random.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Probability P(w given z) of each word in each topic.
    weights_ : ndarray of shape (n_components,)
        P(z), the fraction of all words from each topic.
    lower_bound_ : float
        Mean log-likelihood per word at the last iteration.
    model_ : Aspects
        The fitted model. `statistics_`, `trace_`, `n_iter_`, `converged_` and `stopped_because_` describe the
        fit.

    See Also
    --------
    LatentDirichletAllocation : The same with priors.
    suffice.decomposition.NMF : With the divergence it has the same maxima.

    Notes
    -----
    With n(d, w) the count of word w in document d, the topics maximise

    .. math::

        ∑_{d, w} n(d, w) \\log ∑_z P(z | d)\\, P(w | z).

    References
    ----------
    * Hofmann (2001), "Unsupervised learning by probabilistic latent semantic analysis", Machine Learning 42.

    Examples
    --------
    >>> from suffice.topics import ProbabilisticLatentSemanticAnalysis
    >>> counts = [[4, 4, 0, 0], [3, 5, 0, 0], [0, 0, 2, 6], [0, 0, 3, 5]]
    >>> plsa = ProbabilisticLatentSemanticAnalysis(2, random_state=0).fit(counts)
    >>> plsa.transform([[1, 2, 0, 0], [0, 0, 1, 1]]).argmax(axis=1).tolist() in ([0, 1], [1, 0])
    True
    """

    model_: Annotated[Aspects, "V = D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "form": [StrOptions(set(FORMS))],
        "beta": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [AT_LEAST_0],
        "doc_tol": [NON_NEGATIVE],
        "max_doc_iter": [AT_LEAST_1],
        "topics_init": [Numbers(0), None],
    }
    __sklearn_tags__ = tags(sparse=True, positive_only=True)

    def __init__(
        self,
        n_components: int = 10,
        *,
        form: str = "generative",
        beta: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 200,
        doc_tol: float = 1e-10,
        max_doc_iter: int = 1000,
        n_init: int = 1,
        topics_init: Any = None,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.form = form
        self.beta = beta
        self.tol = tol
        self.max_iter = max_iter
        self.doc_tol = doc_tol
        self.max_doc_iter = max_doc_iter
        self.n_init = n_init
        self.topics_init = topics_init
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        K, V = self.n_components, self.n_features_in_
        afford(4 * K * V, f"{K} topics of {V} words", "use fewer topics, or fewer words (max_features).")
        words = data.fold(_word_counts)
        if not words.any():
            raise ValueError("X has no rows, or every document is empty: pass documents with words.")
        if (rare := np.flatnonzero((words > 0) & (words < RAREST * words.sum()))).size:
            raise ValueError(
                f"The column {rare[0]} of X has less than {RAREST:.0e} of all words, so its "
                f"probabilities underflow: leave the column out, or pass counts of words."
            )
        progress = em(
            self._starts(words),
            data,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=Watch(self, self.checkpoint, data),
        )
        return progress

    def _starts(self, words: np.ndarray) -> tuple[Aspects, ...]:
        """Initial topics: random around the word frequencies, or `topics_init`."""
        K = self.n_components

        def model(topics: np.ndarray) -> Aspects:
            topics = topics / topics.sum(axis=1, keepdims=True)
            weight = np.full(K, 1.0 / K)
            return Aspects(topics, weight, self.form, self.beta, self.doc_tol, self.max_doc_iter)

        if self.topics_init is not None:
            initial = np.array(self.topics_init, dtype=np.float64)
            if initial.shape != (K, len(words)):
                raise ValueError(
                    f"topics_init has the shape {initial.shape}, expected {(K, len(words))}: topics by words."
                )
            if not ((initial >= 0).all() and initial.sum(axis=1).all()):
                raise ValueError("topics_init has negative weights, or a topic without words.")
            if (words[~initial.any(axis=0)] > 0).any():
                raise ValueError(
                    "topics_init has words of the documents in no topic: give each a positive weight."
                )
            return (model(initial),)
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_init)
        return tuple(
            model(generator(Purpose.START, int(seed)).exponential(size=(K, len(words))) * words)
            for seed in seeds
        )

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        bound = progress.trace[-1] if progress.trace else -np.inf
        model: Aspects = progress.model
        return {"components_": model.topics, "weights_": model.weight, "lower_bound_": bound}

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Weights P(z given d) of the topics in each document. New documents are folded in.

        A document without words gets P(z).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.fold_in, X)

    def document_probabilities(self, X: Any) -> np.ndarray:
        """P(d given z) of the documents X, (n_samples, n_components): each topic sums to one over them."""
        X = read_rows(self, X)
        share = map_rows(self.model_.fold_in, X) * np.asarray(X.sum(axis=1)).reshape(-1, 1)
        total = share.sum(axis=0)
        return share / np.where(total > 0, total, 1.0)

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood log P(words given document) of each document, at its optimal weights.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: _log_likelihood(self.model_, rows), X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Mean log-likelihood per word; in the co-occurrence form, of word and document.

        For the training documents, it is the objective. The weights of new documents are fitted too, so their
        score is optimistic, and more so with more topics.
        """
        check_is_fitted(self)
        data = open_rows(self, X, None, sample_weight, reset=False)
        total, words, lengths = data.fold(_scored, nameless(self).model_)
        joint = lengths / words - np.log(words) if self.form == "cooccurrence" else 0.0
        return float(total / words + joint)

    def perplexity(self, X: Any, sample_weight: MaybeArray = None) -> float:
        """Perplexity, exp(-score). Lower is better."""
        return float(np.exp(-self.score(X, None, sample_weight)))

    def sample(
        self, n_samples: int = 1, *, length: int = 100, document_topics: Any = None
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Draw documents from the model, and the row of `document_topics` of each.

        Parameters
        ----------
        n_samples : int, default=1
            Number of documents.
        length : int, default=100
            Number of words in each document.
        document_topics : array of shape (n_documents, n_components), default=None
            P(z given d) of documents, as from `transform`. Each drawn document uses a random row. If None,
            all use P(z).

        Returns
        -------
        X : csr_array of shape (n_samples, n_features)
            Counts of words.
        documents : ndarray of shape (n_samples,)
            Index of the row of `document_topics` of each drawn document.
        """
        check_is_fitted(self)
        if n_samples < 1 or length < 0:
            raise ValueError(
                f"n_samples={n_samples}, length={length}: expected at least one document "
                f"and a non-negative length."
            )
        theta = np.atleast_2d(self.weights_ if document_topics is None else document_topics)
        random = check_random_state(self.random_state)
        rng = generator(Purpose.GENERATED, random.randint(np.iinfo(np.int32).max))
        d = rng.integers(len(theta), size=n_samples)
        per_topic = rng.multinomial(length, theta[d])  # (n_samples, K)
        rows = [sum(map(rng.multinomial, n, self.components_)) for n in per_topic]
        return sp.csr_array(np.array(rows)), d


def _log_likelihood(model: Aspects, X: Matrix) -> np.ndarray:
    """sum of n log sum_z P(z given d) P(w given z) of each document."""
    from ..loops.plsa import expect

    N, K = X.shape[0], len(model.topics)
    out = np.zeros(N)
    plain = model.replace(beta=1.0).potential
    entries = entries_of(sp.csr_array(X))
    expect(*entries, plain, 1.0, model.fold_in(X), np.zeros(N), np.zeros((0, K)), out)
    return out


def _scored(model: Aspects, block: Rows) -> np.ndarray:
    length = np.asarray(block.X.sum(axis=1)).ravel()
    by_document = (
        _log_likelihood(model, block.X),
        length,
        length * np.log(np.where(length > 0, length, 1.0)),
    )
    return np.array([block.weight.dot(part) for part in by_document])
