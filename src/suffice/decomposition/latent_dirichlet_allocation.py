"""Latent Dirichlet allocation: documents as mixtures of topics, and topics as distributions of words.

Blei, Ng and Jordan, "Latent Dirichlet allocation", 2003; Hoffman, Blei and Bach, "Online learning for latent
Dirichlet allocation", 2010; Li ch. 20. Each pass sums the words that are expected of each topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import BLOCK_BYTES, Matrix, Rows, entries_of, power_of_two
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..core.threads import in_order
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import (
    AT_LEAST_0,
    AT_LEAST_1,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Interval,
    Numbers,
    StrOptions,
    check_parameters,
)
from ..estimator.tags import tags
from ..families.priors import Dirichlet
from ..inputs import in_memory, map_rows, open_rows, read_rows
from ..inputs.validation import must_be_sound
from .collapsed_gibbs import as_prior, gibbs, log_joint

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # of CSR rows

# Work of a thread between two checks of the others: multiplications in one step of a document.
RUN = 1 << 17
# Smaller numbers count as zero in a topic, and no logarithm is taken of them.
LEAST = 1e-150
# The bound does not fall, but for the tolerance of documents, and where the start leads one to another of
# its optima.
SLACK = 1e-5


@dataclass(frozen=True, eq=False)
class TopicCounts(Statistics):
    """Expected statistics of the topics of documents, and the bound; or counts of sampled topics."""

    bound: float  # sum of the bounds of log p(document)
    weight: float  # of the documents
    length: float  # words in them
    log_theta: Annotated[np.ndarray, "(K,)"]  # sum of E[log theta]
    word: Annotated[np.ndarray, "real (V, K)"]  # words by topic


@dataclass(frozen=True, eq=False)
class Topics(Model):
    """phi_k ~ Dirichlet(eta), theta_d ~ Dirichlet(alpha); each word has a topic z ~ theta_d and is drawn from
    phi_z. The posterior of phi_k is Dirichlet with parameters word[:, k].

    An eta of zero means no prior: the probabilities of words are then in proportion to `word`.
    """

    threads_share_blocks: ClassVar[bool] = True
    word: Annotated[np.ndarray, "(V, K)"]
    alpha: Annotated[np.ndarray, "real (K,)"]
    eta: Annotated[np.ndarray, "real (V,)"]
    learns: tuple[bool, bool] = (False, False)  # whether alpha and eta are estimated
    tol: float = 1e-3  # a document has converged when its parameters change by less, in the mean
    max_iter: int = 100  # for a document

    @property
    def probability(self) -> np.ndarray:
        """E[phi], the words of each topic, (V, K)."""
        return self.word / self.word.sum(axis=0)

    @cached_property
    def expected(self) -> tuple[np.ndarray, np.ndarray, float]:
        """exp(E[log phi]) with a scale for each word, (V, K); the logarithms of the scales, (V,); and the
        part of the bound that is of the topics, E[log p(phi) - log q(phi)]."""
        if not self.eta.any():
            phi = self.probability
            most = phi.max(axis=1)
            B = np.ascontiguousarray(np.maximum(phi / np.where(most > 0, most, 1.0)[:, None], LEAST))
            with np.errstate(divide="ignore"):
                return B, np.log(most), 0.0
        from ..loops.topics import dirichlet_words

        V, K = self.word.shape
        B, top, few = np.empty((V, K)), np.empty(V), max(1, RUN // K)
        total = self.word.sum(axis=0)
        of_total = -digamma(total)
        word, eta = np.ascontiguousarray(self.word, np.float64), as_prior(self.eta)

        def run(first: int) -> np.ndarray:
            part = slice(first, first + few)
            return dirichlet_words(word[part], eta[part], of_total, B[part], top[part])

        bound = sum(in_order(run, tuple(range(0, V, few))), np.zeros(K))
        return B, top, float((bound + gammaln(self.eta.sum()) - gammaln(total)).sum())

    def summarize(self, block: Rows, each: Any = map) -> TopicCounts:
        """The E step: expected words by topic. Each document has the same initial value."""
        from ..loops.topics import add_counts

        B = self.expected[0]
        X, word = sp.csr_array(block.X), np.zeros(B.shape)
        bound, log_theta, entries = 0.0, np.zeros(len(self.alpha)), entries_of(X)
        weight = np.ascontiguousarray(block.weight, np.float64)
        parts = tuple(block.parts(self._run(X)))
        results = each(lambda part: self._infer(rows_of(entries, part)), parts)
        for part, (_, theta, of_topics, bounds, ratio) in zip(parts, results, strict=True):
            _, indices, indptr = rows_of(entries, part)
            add_counts(ratio, indices, indptr, theta, weight[part], word)
            bound += float(weight[part] @ bounds)
            log_theta += weight[part] @ of_topics
        word *= B
        length = float(weight @ X.sum(axis=1))
        return TopicCounts(bound, float(weight.sum()), length, log_theta, word)

    def estimate(self, s: TopicCounts) -> Self:
        """The M step. Priors that are learned are updated by Newton's method."""
        new = self.replace(word=s.word + self.eta[:, None])
        if self.learns[0]:
            new = new.replace(alpha=Dirichlet(self.alpha).estimate(s.log_theta / s.weight).alpha)
        if self.learns[1]:
            log_phi = digamma(new.word) - digamma(new.word.sum(axis=0))
            new = new.replace(eta=Dirichlet(self.eta).estimate(log_phi.mean(axis=1), symmetric=True).alpha)
        return new

    def objective(self, s: TopicCounts) -> float:
        """The bound on the log probability of all documents, per word."""
        return (s.bound + self.expected[2]) / (s.length or 1.0)

    def posterior(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """The parameters of the topics of each document, gamma (N, K), and the bounds of log p(document)."""
        X = sp.csr_array(X)
        entries = entries_of(X)
        results = [self._infer(rows_of(entries, part)) for part in Rows(X).parts(self._run(X))]
        if not results:
            return np.empty((0, len(self.alpha))), np.empty(0)
        return np.concatenate([f[0] for f in results]), np.concatenate([f[3] for f in results])

    def _run(self, X: Any) -> int:
        """Documents that make a run."""
        return power_of_two(RUN / (len(self.alpha) * max(1.0, X.nnz / max(1, X.shape[0]))), 8)

    def _infer(self, entries: Entries) -> tuple[np.ndarray, ...]:
        from ..loops.topics import infer

        B, top, _ = self.expected
        data, _, indptr = entries
        gamma, theta, log_theta = (np.empty((len(indptr) - 1, len(self.alpha))) for _ in range(3))
        ratio, alpha = np.empty(len(data)), as_prior(self.alpha)
        arguments = *entries, B, top, alpha, float(self.tol), int(self.max_iter)
        bounds = infer(*arguments, gamma, theta, ratio, log_theta)
        return gamma, theta, log_theta, bounds, ratio


def rows_of(entries: Entries, part: slice) -> Entries:
    """The entries of some CSR rows."""
    data, indices, indptr = entries
    indptr = indptr[part.start : part.stop + 1]
    of_rows = slice(indptr[0], indptr[-1])
    return data[of_rows], indices[of_rows], indptr - indptr[0]


def bounds_of(model: Topics, block: Rows) -> np.ndarray:
    """The bound of log p(documents) of a block, and the number of its words."""
    X = sp.csr_array(block.X)
    return np.array([block.weight @ model.posterior(X)[1], block.weight @ X.sum(axis=1)])


# Whether a fit has converged, from the bound per word of each pass.
StoppingRule = Callable[[tuple[float, ...]], bool]


def variational(
    start: Topics, data: Partitions, converged: StoppingRule, max_iter: int, watch: Watch
) -> Progress:
    """Variational EM until the bound per word has converged."""

    def step(progress: Progress) -> Progress:
        model: Topics = progress.model
        _ = model.expected  # once, and not by every thread
        s = data.fold(Topics.summarize, model)
        must_have_rows(s.weight)
        trace = (*progress.trace, model.objective(s))
        because = ""
        if converged(trace):
            because = "tolerance"
        elif len(trace) > 1 and trace[-2] - trace[-1] > SLACK * abs(trace[-1]):
            because = "objective worsened"
        return Progress(model.estimate(s), trace, s, because)

    return watch.limited(max_iter).loop(step, Progress(start))


@dataclass(frozen=True, eq=False)
class Passed(Progress):
    """State of the online solver: the numbers of passes and steps."""

    steps: int = 0


@dataclass(frozen=True)
class Rate:
    """Learning rate of the n-th batch: (offset + n)^-decay."""

    decay: float
    offset: float

    def __call__(self, n: int) -> float:
        return (self.offset + n) ** -self.decay


def online(
    start: Topics,
    data: Partitions,
    batch: int,
    rate: Rate,
    converged: StoppingRule,
    max_iter: int,
    watch: Watch,
) -> Passed:
    """Online variational Bayes: update the topics after each mini-batch, in the order of the documents."""
    total = data.fold(_sizes)
    must_have_rows(total[0])

    def step(progress: Passed) -> Passed:
        model: Topics = progress.model
        bound, s = 0.0, progress.statistics
        n = progress.steps
        for rows in _batches(data, batch):
            n += 1
            model, s = improved(model, rows, rate, n, total[0])
            bound += s.bound
        trace = (*progress.trace, (bound + model.expected[2]) / (total[1] or 1.0))
        return Passed(model, trace, s, "tolerance" if converged(trace) else "", n)

    return watch.limited(max_iter).loop(step, Passed(start))


def improved(model: Topics, rows: Rows, rate: Rate, n: int, total: float) -> tuple[Topics, TopicCounts]:
    """Step towards the topics estimated as if all documents were like these. Hoffman et al. 2010."""
    s = in_memory(rows).fold(Topics.summarize, model)
    share = rate(n)
    called = model.estimate(s * (total / s.weight)).word
    return model.replace(word=(1.0 - share) * model.word + share * called), s


def _batches(data: Partitions, size: int) -> Iterator[Any]:
    for block in data.batches():
        for part in block.parts(size):
            yield block[part]


def _sizes(block: Rows) -> np.ndarray:
    """The weight of the documents, and of the words in them."""
    return np.array([block.weight.sum(), block.weight @ sp.csr_array(block.X).sum(axis=1)])


class LatentDirichletAllocation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Latent Dirichlet allocation (LDA): a topic model of counts of words.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    doc_topic_prior : float, array of shape (n_components,) or 'auto', default=None
        Dirichlet prior of the topics of a document. If None, 1 / n_components. 'auto' estimates one for each
        topic by Newton's method, with `solver` 'variational'.
    topic_word_prior : float, array of shape (n_features,) or 'auto', default=None
        Dirichlet prior of the words of a topic. If None, 1 / n_components. 'auto' estimates one for all
        words, with `solver` 'variational'. 0 means no prior: the probabilities of words maximize the bound.
    learning_method : str, default='batch'
        - 'batch': variational Bayes, which maximizes a lower bound on the log-likelihood; one pass over all
          documents per step;
        - 'online': online variational Bayes, with a step after every `batch_size` documents, in the order in
          which they are stored; for rows on this machine, in memory or scanned.
    learning_decay : float, default=0.7
        Learning rate of 'online': step n has size (learning_offset + n) ** -learning_decay.
    learning_offset : float, default=10.0
        See `learning_decay`.
    max_iter : int, default=10
        Maximum number of passes over the documents. For 'gibbs', the number of sweeps.
    batch_size : int, default=128
        Number of documents per step, for 'online' and `partial_fit`.
    evaluate_every : int, default=-1
        If positive, the fit stops when the perplexity changes by less than `perp_tol` from one evaluation to
        the next, after so many passes each. The perplexity is that of the pass, so it costs nothing.
    total_samples : float, default=1e6
        Total number of documents, for `partial_fit`.
    perp_tol : float, default=0.1
        See `evaluate_every`.
    mean_change_tol : float, default=1e-3
        Tolerance of the E step: the mean change of the topics of a document.
    max_doc_update_iter : int, default=100
        Maximum number of iterations of the E step for a document.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    verbose : int, default=0
        Whether to print each pass, with the perplexity if it is evaluated.
    random_state : int, RandomState or None, default=None
        Seed for the initialization and for 'gibbs'.
    solver : str, default=None
        Overrides `learning_method`: 'variational' is 'batch', 'online' is 'online', and 'gibbs' is collapsed
        Gibbs sampling, with `max_iter` sweeps over all words. Counts and weights must then be integers. It is
        exact for corpora of fewer than 262,144 words. Larger ones are divided into blocks, which visit
        different parts of the vocabulary at a time: only the totals of topics are stale (Yan et al. 2009). On
        a cluster, each block uses the counts of the other blocks from before the sweep (Newman et al. 2009).
    tol : float, default=None
        The fit stops when the bound per word changes by less than this, and warns if it does not within
        `max_iter` passes. If None, all passes are made. Not used by 'gibbs'.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Parameters of the Dirichlet posterior of the words of each topic: prior plus expected counts. Rows
        divided by their sums are probabilities.
    doc_topic_prior_ : float or ndarray of shape (n_components,)
        Dirichlet prior of the topics of a document.
    topic_word_prior_ : float or ndarray of shape (n_features,)
        Dirichlet prior of the words of a topic.
    bound_ : float
        Perplexity of the training documents.
    exp_dirichlet_component_ : ndarray of shape (n_components, n_features)
        exp(E[log β]), of the words of each topic. Computed when it is read.
    random_state_ : RandomState
        Random state of the initialization.
    n_iter_ : int
        Number of passes.
    n_batch_iter_ : int
        Number of steps so far, for 'online' and `partial_fit`.
    trace_ : ndarray
        Bound on the log probability per word, by pass. For 'gibbs', the joint log probability of words and
        topics.
    converged_ : bool
        Whether the fit converged. Always False for 'gibbs'.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Topics
        The fitted model.
    statistics_ : TopicCounts
        The sums of the last pass, or for 'online' of the last batch.

    See Also
    --------
    suffice.topics.ProbabilisticLatentSemanticAnalysis : The same without priors.
    NMF : Non-negative factors.
    suffice.topics.coherence : Whether words of a topic occur together.
    suffice.topics.document_completion : Compares models on documents held out.

    Notes
    -----
    A document draws θ from a Dirichlet distribution with parameter α, and each topic its words β_k from one
    with parameter η. A word is then drawn with

    .. math::

        p(w | θ, β) = ∑_k θ_k β_{kw}.

    References
    ----------
    Blei, Ng and Jordan, "Latent Dirichlet allocation", 2003. Hoffman, Blei and Bach, "Online learning for
    latent Dirichlet allocation", 2010. Griffiths and Steyvers, "Finding scientific topics", 2004. Newman,
    Asuncion, Smyth and Welling, "Distributed algorithms for topic models", 2009. Yan, Xu and Qi, "Parallel
    inference for latent Dirichlet allocation on graphics processing units", 2009.

    Examples
    --------
    >>> from suffice.decomposition import LatentDirichletAllocation
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]]
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> lda.transform(X).argmax(axis=1)
    array([0, 0, 1, 1])
    >>> drawn = LatentDirichletAllocation(2, solver="gibbs", max_iter=50, random_state=0).fit(X)
    >>> drawn.components_.sum()
    np.float64(24.0)
    """

    exempt = (
        Exempt("memory", "The topic of each word is kept.", lambda e: e.solver == "gibbs"),
        Exempt("optimum", "Its objective has many optima."),
    )

    model_: Annotated[Topics, "V = D"]
    preserves_dtype = ("components_", "transform")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "doc_topic_prior": [NON_NEGATIVE, Numbers(0), StrOptions({"auto"}), None],
        "topic_word_prior": [NON_NEGATIVE, Numbers(0), StrOptions({"auto"}), None],
        "learning_method": [StrOptions({"batch", "online"})],
        "learning_decay": [SHARE],
        "learning_offset": [Interval(Real, 1.0, None, closed="left")],
        "max_iter": [AT_LEAST_0],
        "batch_size": [AT_LEAST_1],
        "evaluate_every": [Integral],
        "total_samples": [POSITIVE],
        "perp_tol": [NON_NEGATIVE],
        "mean_change_tol": [NON_NEGATIVE],
        "max_doc_update_iter": [AT_LEAST_0],
        "solver": [StrOptions({"variational", "online", "gibbs"}), None],
        "tol": [NON_NEGATIVE, None],
    }
    __sklearn_tags__ = tags(sparse=True, positive_only=True)

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        learning_method: str = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 10,
        batch_size: int = 128,
        evaluate_every: int = -1,
        total_samples: float = 1e6,
        perp_tol: float = 0.1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Seed = None,
        solver: str | None = None,
        tol: float | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.solver = solver
        self.tol = tol
        self.checkpoint = checkpoint

    @classmethod
    def from_topics(cls, topics: Any, **params: Any) -> Self:
        """Make a fitted estimator from known topics.

        Parameters
        ----------
        topics : array of shape (n_components, n_features)
            Probabilities of words in each topic.
        **params
            Parameters of the estimator, such as `doc_topic_prior`.

        Examples
        --------
        >>> from suffice.decomposition import LatentDirichletAllocation
        >>> lda = LatentDirichletAllocation.from_topics([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
        >>> lda.transform([[4, 0, 0]]).round(2)
        array([[0.9, 0.1]])
        """
        initial = np.asarray(topics, dtype=np.float64)
        if initial.ndim != 2 or not (initial >= 0).all() or not (initial.sum(axis=1) > 0).all():
            raise ValueError(
                f"topics has shape {initial.shape}: expected a row per topic, of probabilities of words "
                f"that are non-negative and not all zero."
            )
        word = np.ascontiguousarray(initial.T)
        self = cls(word.shape[1], **params)
        check_parameters(self)
        self.n_features_in_ = len(word)
        model = self._start(np.random.RandomState(0)).replace(word=word, eta=np.zeros(len(word)))
        return self._publish(Progress(model))

    def _guarantee(self) -> Guarantee:
        return Guarantee("rounding" if self._solver() == "variational" else "approximate")

    def _solve(self, data: Partitions) -> Progress:
        solver = self._solver()
        random = check_random_state(self.random_state)
        start = self._start(random)
        self.n_batch_iter_ = 0
        if solver == "gibbs":
            seed = int(random.randint(np.iinfo(np.int32).max))
            watch = Watch(self, self.checkpoint, data, as_model=lambda draw: draw.model(start), in_order=True)
            drawn = gibbs(start, data, seed, self.max_iter, watch)
            return drawn.replace(statistics=TopicCounts(0.0, *drawn.statistics))
        watch = Watch(self, self.checkpoint, data, in_order=solver == "online")
        progress: Progress
        if solver == "variational":
            progress = variational(start, data, self._has_converged, self.max_iter, watch)
        else:
            rate = Rate(self.learning_decay, self.learning_offset)
            progress = online(start, data, self.batch_size, rate, self._has_converged, self.max_iter, watch)
            self.n_batch_iter_ = progress.steps
        return progress

    def _finish(self, progress: Progress, data: Partitions) -> None:
        if self._solver() == "gibbs":
            self.bound_ = _perplexity(progress.trace[-1]) if progress.trace else np.inf
            return
        bound, length = data.fold(bounds_of, progress.model) + [progress.model.expected[2], 0.0]
        self.bound_ = _perplexity(bound / (length or 1.0))

    def _unconverged(self, progress: Progress) -> str:
        """The warning of a fit that has not converged; none for samplers and tol=None, which end after
        their passes."""
        return "" if self._solver() == "gibbs" or self.tol is None else super()._unconverged(progress)

    def _has_converged(self, trace: tuple[float, ...]) -> bool:
        """Whether the bound per word, or the perplexity if it is evaluated, has converged in this pass."""
        n, every = len(trace), self.evaluate_every
        evaluated = every > 0 and n % every == 0
        if self.verbose:
            perplexity = f", perplexity: {_perplexity(trace[-1]):.4f}" if evaluated else ""
            print(f"iteration: {n} of max_iter: {self.max_iter}{perplexity}")
        if self.tol is not None and n > 1 and abs(trace[-1] - trace[-2]) < self.tol:
            return True
        if not evaluated or n <= every:
            return False
        return abs(_perplexity(trace[-1]) - _perplexity(trace[-1 - every])) < self.perp_tol

    def partial_fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Online variational Bayes: update the topics with more documents, one step per `batch_size`
        documents.

        Parameters
        ----------
        X : array, CSR matrix, table or Parquet scan
            Counts of words, one row per document.
        y : None
            Ignored.
        sample_weight : array, optional
            Per-document weights.

        Returns
        -------
        self
        """
        if self._solver() == "gibbs":
            raise ValueError(
                "partial_fit is not available for solver='gibbs': use solver='online', or call fit."
            )
        if any(self._learns):
            raise ValueError("Priors are estimated ('auto') by `fit`, not by `partial_fit`.")
        first = not hasattr(self, "model_")
        data = open_rows(self, X, None, sample_weight, reset=first, block_rows=self._block_rows)
        if first:
            self.n_batch_iter_ = 0
            self._publish(Progress(self._start(check_random_state(self.random_state))))
        rate, model = Rate(self.learning_decay, self.learning_offset), self.model_
        s = getattr(self, "statistics_", None)
        for rows in _batches(data, self.batch_size):
            self.n_batch_iter_ += 1
            model, s = improved(model, rows, rate, self.n_batch_iter_, self.total_samples)
        return self._publish(Progress(model, statistics=s))

    # --- how it is fitted ---------------------------------------------------------------------------------

    def _solver(self) -> str:
        solver = self.solver or {"batch": "variational", "online": "online"}[self.learning_method]
        if solver != "variational" and any(self._learns):
            raise ValueError(f"Priors are estimated ('auto') by solver='variational', not by {solver!r}.")
        return solver

    @property
    def _learns(self) -> tuple[bool, bool]:
        """Whether the priors are estimated."""
        return isinstance(self.doc_topic_prior, str), isinstance(self.topic_word_prior, str)

    def _start(self, random: np.random.RandomState) -> Topics:
        K, V = self.n_components, self.n_features_in_
        afford(3.0 * K * V, f"the words of {K} topics and {V} features", "use fewer topics or words.")
        alpha = self._prior("doc_topic_prior", K)
        eta = self._prior("topic_word_prior", V)
        word = np.ascontiguousarray(random.gamma(100.0, 0.01, (K, V)).T)
        return Topics(word, alpha, eta, self._learns, self.mean_change_tol, self.max_doc_update_iter)

    def _prior(self, name: str, size: int) -> np.ndarray:
        value = getattr(self, name)
        prior = np.asarray(
            1.0 / self.n_components if value is None or isinstance(value, str) else value, float
        )
        if prior.shape not in ((), (size,)):
            raise ValueError(f"{name} has shape {prior.shape}, expected a number or {(size,)}.")
        none = name == "topic_word_prior" and not prior.any()
        if not (np.isfinite(prior).all() and ((prior > 0).all() or none)):
            raise ValueError(f"{name} must be positive, as a parameter of a Dirichlet prior; got {value!r}.")
        return np.array(np.broadcast_to(prior, size))

    def _block_rows(self, block: Rows) -> float:
        """Block size that is large compared with the statistics."""
        sums = 8.0 * self.n_components * block.X.shape[1]
        return max(BLOCK_BYTES, 4.0 * sums) / max(block.row_bytes, 8.0)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: Topics = progress.model

        def brief(prior: np.ndarray, given: Any) -> Any:
            return prior if np.ndim(given) or isinstance(given, str) else float(prior[0])

        return {
            "components_": np.ascontiguousarray(model.word.T),
            "doc_topic_prior_": brief(model.alpha, self.doc_topic_prior),
            "topic_word_prior_": brief(model.eta, self.topic_word_prior),
        }

    @property
    def exp_dirichlet_component_(self) -> np.ndarray:
        """exp(E[log β]), of the words of each topic."""
        word = self.components_.astype(np.float64)
        return np.exp(digamma(word) - digamma(word.sum(axis=1))[:, None]).astype(self.components_.dtype)

    @property
    def random_state_(self) -> np.random.RandomState:
        """Random state of the initialization."""
        return check_random_state(self.random_state)

    # --- what it says of documents ------------------------------------------------------------------------

    @row_wise
    def transform(self, X: Any, *, normalize: bool = True) -> np.ndarray:
        """Topic distribution of each document.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Counts of words.
        normalize : bool, default=True
            Whether to return the posterior means of the topics, which sum to one, or else the parameters of
            the Dirichlet posterior.

        Returns
        -------
        ndarray of shape (n_samples, n_components)

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        _ = self.model_.expected
        gamma = map_rows(lambda rows: self.model_.posterior(rows)[0], X)
        return gamma / gamma.sum(axis=1, keepdims=True) if normalize else gamma

    def evidence_lower_bound(self, X: Any) -> np.ndarray:
        """Lower bound on the log probability of each document given the topics."""
        X = read_rows(self, X)
        _ = self.model_.expected
        return map_rows(lambda rows: self.model_.posterior(rows)[1], X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Lower bound on the log probability of the documents and the topics, as in scikit-learn."""
        return float(self._bound(X, sample_weight)[0])

    def perplexity(self, X: Any, sub_sampling: bool = False, *, sample_weight: MaybeArray = None) -> float:
        """Perplexity: exp(-bound on the log probability per word). Lower is better.

        The bound includes the topics, so it is not the likelihood of held-out documents: for that see
        `suffice.topics.document_completion` and `suffice.topics.left_to_right`. With `sub_sampling`, the
        documents count as a sample of `total_samples` documents.
        """
        bound, length = self._bound(X, sample_weight, sub_sampling)
        return _perplexity(bound / (length or 1.0))

    def _bound(self, X: Any, sample_weight: MaybeArray, sub_sampling: bool = False) -> np.ndarray:
        check_is_fitted(self)
        data = open_rows(self, X, None, sample_weight, reset=False)
        scale = self.total_samples / data.fold(_sizes)[0] if sub_sampling else 1.0
        return scale * data.fold(bounds_of, self.model_) + [self.model_.expected[2], 0.0]

    def log_joint(self, X: Any, topics: Any) -> float:
        """Joint log probability log p(words, topics), with the probabilities of words and topics integrated
        out.

        It depends on the priors only, so it can be called before `fit`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Counts of words.
        topics : array of shape (n_words,)
            The topic of every word, in the order of the documents and by feature in each. Topics of a
            repeated word are adjacent.

        Returns
        -------
        float
        """
        must_be_sound(X)
        X = sp.csr_array(X if sp.issparse(X) else np.asarray(X))
        if hasattr(self, "model_"):
            return log_joint(X, np.asarray(topics), self.model_.alpha, self.model_.eta)
        alpha = self._prior("doc_topic_prior", self.n_components)
        return log_joint(X, np.asarray(topics), alpha, self._prior("topic_word_prior", X.shape[1]))

    def sample(self, n_samples: int = 1, *, length: Any = 100) -> tuple[Any, np.ndarray]:
        """Draw documents from the model, and their topic distributions.

        Parameters
        ----------
        n_samples : int, default=1
            Number of documents.
        length : int or array of shape (n_samples,), default=100
            Number of words in each document.

        Returns
        -------
        X : csr_array of shape (n_samples, n_features)
            Counts of words.
        theta : ndarray of shape (n_samples, n_components)
            Probabilities of the topics.
        """
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        rng = generator(Purpose.GENERATED, random.randint(np.iinfo(np.int32).max))
        theta = rng.dirichlet(self.model_.alpha, size=n_samples)
        lengths = np.broadcast_to(length, n_samples)
        by_topic = rng.multinomial(lengths, theta)  # (n_samples, K)
        phi = self.model_.probability.cumsum(axis=0)
        V, K = phi.shape
        docs, words = [], []
        for k in range(K):
            docs.append(np.repeat(np.arange(n_samples), by_topic[:, k]))
            at = rng.random(len(docs[-1])) * phi[-1, k]
            words.append(np.minimum(np.searchsorted(phi[:, k], at, "right"), V - 1))
        doc, word = np.concatenate(docs), np.concatenate(words)
        X = sp.coo_array((np.ones(len(doc)), (doc, word)), (n_samples, V)).tocsr()
        X.sum_duplicates()
        return X, theta

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _perplexity(mean_log_probability: float) -> float:
    """exp, or infinity on overflow."""
    with np.errstate(over="ignore"):
        return float(np.exp(-mean_log_probability))
