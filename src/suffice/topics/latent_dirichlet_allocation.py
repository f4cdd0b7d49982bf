"""Latent Dirichlet allocation: documents as mixtures of topics, and topics as distributions of words.

Blei, Ng and Jordan, "Latent Dirichlet allocation", 2003; Hoffman, Blei and Bach, "Online learning for latent
Dirichlet allocation", 2010; Li ch. 20. Each pass sums the words that are expected of each topic.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.blocks import BLOCK_BYTES, Rows, power_of_two
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.parameters import (
    AT_LEAST_0,
    AT_LEAST_1,
    CHECKPOINT,
    N_JOBS,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Interval,
    Numbers,
    StrOptions,
    check_parameters,
)
from ..families.priors import Dirichlet
from ..inputs import in_memory, in_order, map_rows, open_rows, read_rows
from ..inputs.sound import must_be_sound
from .collapsed_gibbs import gibbs, log_joint, must_have_words

# What is done between two looks at what other threads have done: multiplications in one step of a document.
RUN = 1 << 17
# What is smaller is zero to a topic, and no logarithm is taken of it.
LEAST = 1e-150
# The bound does not fall, but for the tolerance of documents, and where the start leads one to another of
# its optima.
SLACK = 1e-5


@dataclass(frozen=True, eq=False)
class TopicCounts(Statistics):
    """Of documents: what is expected of their topics, and the bound; or counts of topics that were drawn."""

    bound: float  # sum of the bounds of log p(document)
    weight: float  # of the documents
    length: float  # words in them
    log_theta: Annotated[np.ndarray, "(K,)"]  # sum of E[log theta]
    word: Annotated[np.ndarray, "real (V, K)"]  # words by topic


@dataclass(frozen=True, eq=False)
class Topics(Model):
    """phi_k ~ Dirichlet(eta), theta_d ~ Dirichlet(alpha); each word has a topic z ~ theta_d and is drawn from
    phi_z. Given what was seen, phi_k is Dirichlet with parameters word[:, k].

    An eta of zero is no prior: the probabilities of words are then in proportion to `word`.
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
            B = np.maximum(phi / np.where(most > 0, most, 1.0)[:, None], LEAST)
            with np.errstate(divide="ignore"):
                return B, np.log(most), 0.0
        from ..loops.topics import dirichlet_words

        V, K = self.word.shape
        B, top, few = np.empty((V, K)), np.empty(V), max(1, RUN // K)
        total = self.word.sum(axis=0)
        of_total = -digamma(total)

        def run(first: int) -> np.ndarray:
            return dirichlet_words(first, min(first + few, V), self.word, self.eta, of_total, B, top)

        bound = sum(in_order(run, tuple(range(0, V, few))), np.zeros(K))
        return B, top, float((bound + gammaln(self.eta.sum()) - gammaln(total)).sum())

    def summarize(self, block: Any, each: Any = map) -> TopicCounts:
        """The E step: expected words by topic, each document taken from the same start."""
        from ..loops.topics import add_counts

        B = self.expected[0]
        X, word = sp.csr_array(block.X), np.zeros(B.shape)
        ratio = np.empty(X.nnz)
        bound, log_theta = 0.0, np.zeros(len(self.alpha))
        parts = tuple(block.parts(self._run(X)))
        found = each(lambda part: self._infer(X, part, ratio), parts)
        for part, (_, theta, of_topics, bounds) in zip(parts, found, strict=True):
            weight = block.weight[part]
            add_counts(X.indices, X.indptr, part.start, part.stop, theta, ratio, block.weight, word)
            bound += float(weight @ bounds)
            log_theta += weight @ of_topics
        word *= B
        length = float(block.weight @ X.sum(axis=1))
        return TopicCounts(bound, float(block.weight.sum()), length, log_theta, word)

    def estimate(self, s: TopicCounts) -> Self:
        """The M step; priors that are learnt follow by Newton's method."""
        new = self.replace(word=s.word + self.eta[:, None])
        if self.learns[0]:
            new = new.replace(alpha=Dirichlet(self.alpha).estimate(s.log_theta / s.weight).alpha)
        if self.learns[1]:
            log_phi = digamma(new.word) - digamma(new.word.sum(axis=0))
            new = new.replace(eta=Dirichlet(self.eta).estimate(log_phi.mean(axis=1), symmetric=True).alpha)
        return new

    def objective(self, s: TopicCounts) -> float:
        """The bound of the log probability of all documents, by word."""
        return (s.bound + self.expected[2]) / s.length

    def posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The parameters of the topics of each document, gamma (N, K), and the bounds of log p(document)."""
        X = sp.csr_array(X)
        parts, ratio = tuple(Rows(X).parts(self._run(X))), np.empty(X.nnz)
        found = [self._infer(X, part, ratio) for part in parts]
        if not found:
            return np.empty((0, len(self.alpha))), np.empty(0)
        return np.concatenate([f[0] for f in found]), np.concatenate([f[3] for f in found])

    def _run(self, X: Any) -> int:
        """Documents that make a run."""
        return power_of_two(RUN / (len(self.alpha) * max(1.0, X.nnz / max(1, X.shape[0]))), 8)

    def _infer(self, X: Any, part: slice, ratio: np.ndarray) -> tuple[np.ndarray, ...]:
        from ..loops.topics import infer

        B, top, _ = self.expected
        gamma, theta, log_theta = (np.empty((part.stop - part.start, len(self.alpha))) for _ in range(3))
        given = X.data, X.indices, X.indptr, part.start, part.stop, B, top, self.alpha
        bounds = infer(*given, self.tol, self.max_iter, gamma, theta, ratio, log_theta)
        return gamma, theta, log_theta, bounds


def bounds_of(model: Topics, block: Any) -> np.ndarray:
    """The bound of log p(documents) of a block, and the number of its words."""
    X = sp.csr_array(block.X)
    return np.array([block.weight @ model.posterior(X)[1], block.weight @ X.sum(axis=1)])


def variational(start: Topics, data: Partitions, tol: float, max_iter: int, watch: Watch) -> Progress:
    """Improve the topics until the bound, by word, changes by less than `tol`."""

    def step(progress: Progress) -> Progress:
        model: Topics = progress.model
        _ = model.expected  # once, and not by every thread
        s = data.fold(Topics.summarize, model)
        must_have_words(s.length)
        trace = (*progress.trace, model.objective(s))
        because = ""
        if len(trace) > 1 and abs(trace[-1] - trace[-2]) < tol:
            because = "tolerance"
        elif len(trace) > 1 and trace[-2] - trace[-1] > SLACK * abs(trace[-1]):
            because = "objective worsened"
        return Progress(model.estimate(s), trace, s, because)

    return watch.limited(max_iter).loop(step, Progress(start))


@dataclass(frozen=True, eq=False)
class Passed(Progress):
    """Where the online solver stands: passes, and steps so far."""

    steps: int = 0


@dataclass(frozen=True)
class Rate:
    """How much the n-th batch counts, the first of which is 1: (offset + n)^-decay."""

    decay: float
    offset: float

    def __call__(self, n: int) -> float:
        return (self.offset + n) ** -self.decay


def online(
    start: Topics, data: Partitions, batch: int, rate: Rate, tol: float, max_iter: int, watch: Watch
) -> Passed:
    """Improve the topics after every few documents, in the order in which they come."""
    total = data.fold(_sizes)
    must_have_words(total[1])

    def step(progress: Passed) -> Passed:
        model: Topics = progress.model
        bound, s = 0.0, progress.statistics
        n = progress.steps
        for rows in _batches(data, batch):
            n += 1
            model, s = improved(model, rows, rate, n, total[0])
            bound += s.bound
        trace = (*progress.trace, (bound + model.expected[2]) / total[1])
        settled = len(trace) > 1 and abs(trace[-1] - trace[-2]) < tol
        return Passed(model, trace, s, "tolerance" if settled else "", n)

    return watch.limited(max_iter).loop(step, Passed(start))


def improved(model: Topics, rows: Any, rate: Rate, n: int, total: float) -> tuple[Topics, TopicCounts]:
    """Towards the topics that the documents would call for if all were like these. Hoffman et al. 2010."""
    s = in_memory(rows).fold(Topics.summarize, model)
    share = rate(n)
    called = model.estimate(s * (total / s.weight)).word
    return model.replace(word=(1.0 - share) * model.word + share * called), s


def _batches(data: Partitions, size: int) -> Iterator[Any]:
    for block in data.batches():
        for part in block.parts(size):
            yield block[part]


def _sizes(block: Any) -> np.ndarray:
    """The weight of the documents, and of the words in them."""
    return np.array([block.weight.sum(), block.weight @ sp.csr_array(block.X).sum(axis=1)])


class LatentDirichletAllocation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Latent Dirichlet allocation: topics of documents, from counts of words.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    solver : str, default='variational'
        - 'variational': maximises a lower bound of the log probability of the documents; a pass over all of
          them for each step;
        - 'online': the same bound, with a step after every `batch_size` documents, in the order in which they
          come; rows of this machine, in memory or scanned;
        - 'gibbs': draws the topic of every word in turn, given those of all others, `max_iter` times.
          Counts and weights must be whole numbers. Exact for corpora of fewer than 262,144 words. Larger
          ones are cut into blocks, which visit different parts of the vocabulary at a time: only the totals
          of topics come late (Yan et al. 2009). On a cluster, the blocks are those of the data, and in a
          sweep a block sees the topics that the others had when the sweep began (Newman et al. 2009).
    doc_topic_prior : float, array of shape (n_components,) or 'auto', default=None
        Prior of the topics of a document, 1 / n_components if not given. 'auto' estimates one for each topic
        (Newton's method), with `solver` 'variational'.
    topic_word_prior : float, array of shape (n_features,) or 'auto', default=None
        Prior of the words of a topic, 1 / n_components if not given. 'auto' estimates one for all words, with
        `solver` 'variational'; with 0 the words have no prior, and their probabilities are those of the
        largest bound.
    learning_method : str, default=None
        scikit-learn's name of the solver, if given: 'batch' is 'variational', 'online' is 'online'.
    learning_decay : float, default=0.7
        For 'online', the n-th step has size (learning_offset + n) ** -learning_decay.
    learning_offset : float, default=10.0
        See `learning_decay`.
    max_iter : int, default=100
        Passes over the documents at most; for 'gibbs', the number of sweeps.
    tol : float, default=1e-4
        Converged when the bound by word changes by less. Not for 'gibbs'.
    batch_size : int, default=128
        Documents to a step, for 'online' and `partial_fit`.
    evaluate_every : int, default=-1
        Ignored: the bound is part of every pass.
    total_samples : float, default=1e6
        Documents that are expected in all, for `partial_fit`.
    perp_tol : float, default=0.1
        Ignored: see `tol`.
    mean_change_tol : float, default=1e-3
        The topics of a document have converged when their parameters change by less, in the mean.
    max_doc_update_iter : int, default=100
        Steps for a document at most.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    random_state : int, RandomState or None, default=None
        Seed of the start, and of 'gibbs'.
    checkpoint : str or path, default=None
        File in which progress is kept while the fit runs; a fit that was killed goes on from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Parameters of the Dirichlet distributions of the words of each topic: the prior, and the words that
        were seen. Divided by the sum of their row they are probabilities.
    doc_topic_prior_ : float or ndarray of shape (n_components,)
        Prior of the topics of a document.
    topic_word_prior_ : float or ndarray of shape (n_features,)
        Prior of the words of a topic.
    bound_ : float
        Perplexity of the documents at the last pass, by `trace_`.
    n_iter_ : int
        Number of passes.
    n_batch_iter_ : int
        Number of steps so far, for 'online' and `partial_fit`.
    trace_ : ndarray
        By pass, the bound of the log probability of a word; for 'gibbs', the log probability of words and
        topics together.
    converged_ : bool
        Whether it converged; with 'gibbs' never.
    stopped_because_ : str
        Why the passes ended.
    model_ : Topics
        The fitted model.
    statistics_ : TopicCounts
        The sums of the last pass.

    See Also
    --------
    ProbabilisticLatentSemanticAnalysis : The same without priors.
    suffice.decomposition.NMF : Non-negative factors.
    coherence : Whether words of a topic occur together.
    document_completion : Compares models on documents held out.

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
    >>> from suffice.topics import LatentDirichletAllocation
    >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]]
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> lda.transform(X).argmax(axis=1)
    array([0, 0, 1, 1])
    >>> drawn = LatentDirichletAllocation(2, solver="gibbs", max_iter=50, random_state=0).fit(X)
    >>> drawn.components_.sum()
    np.float64(24.0)
    """

    model_: Annotated[Topics, "V = D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "solver": [StrOptions({"variational", "online", "gibbs"})],
        "doc_topic_prior": [NON_NEGATIVE, Numbers(0), StrOptions({"auto"}), None],
        "topic_word_prior": [NON_NEGATIVE, Numbers(0), StrOptions({"auto"}), None],
        "learning_method": [StrOptions({"batch", "online"}), None],
        "learning_decay": [SHARE],
        "learning_offset": [Interval(Real, 1.0, None, closed="left")],
        "max_iter": [AT_LEAST_0],
        "tol": [NON_NEGATIVE],
        "batch_size": [AT_LEAST_1],
        "evaluate_every": [Integral],
        "total_samples": [POSITIVE],
        "perp_tol": [NON_NEGATIVE],
        "mean_change_tol": [NON_NEGATIVE],
        "max_doc_update_iter": [AT_LEAST_0],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "checkpoint": CHECKPOINT,
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        solver: str = "variational",
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        learning_method: str | None = None,
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 100,
        tol: float = 1e-4,
        batch_size: int = 128,
        evaluate_every: int = -1,
        total_samples: float = 1e6,
        perp_tol: float = 0.1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.checkpoint = checkpoint

    @classmethod
    def from_topics(cls, topics: Any, **params: Any) -> Self:
        """A fitted estimator of topics that are known.

        Parameters
        ----------
        topics : array of shape (n_components, n_features)
            Probabilities of words in each topic.
        **params
            Parameters of the estimator, as `doc_topic_prior`.

        Examples
        --------
        >>> from suffice.topics import LatentDirichletAllocation
        >>> lda = LatentDirichletAllocation.from_topics([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
        >>> lda.transform([[4, 0, 0]]).round(2)
        array([[0.9, 0.1]])
        """
        given = np.asarray(topics, dtype=np.float64)
        if given.ndim != 2 or not (given >= 0).all() or not (given.sum(axis=1) > 0).all():
            raise ValueError(
                f"topics has shape {given.shape}: expected a row a topic, of probabilities of words, not "
                "negative and not all zero."
            )
        word = np.ascontiguousarray(given.T)
        self = cls(word.shape[1], **params)
        check_parameters(self)
        self.n_features_in_ = len(word)
        model = self._start(np.random.RandomState(0)).replace(word=word, eta=np.zeros(len(word)))
        self.__dict__.update(self._fitted(model), model_=model)
        return self

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to documents.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            Counts of words, a row a document. See `suffice.sparse` for tables that hold lists of words.
        y : None
            Ignored.
        sample_weight : array, optional
            Weights of the documents: two is the document twice, zero is its absence.

        Returns
        -------
        self
        """
        solver = self._solver()
        data = open_rows(self, X, None, sample_weight, block_rows=self._block_rows)
        random = check_random_state(self.random_state)
        start = self._start(random)
        self.n_batch_iter_ = 0
        if solver == "gibbs":
            seed = int(random.randint(np.iinfo(np.int32).max))
            watch = Watch(self, self.checkpoint, data, as_model=lambda draw: draw.model(start), in_order=True)
            drawn = gibbs(start, data, seed, self.max_iter, watch)
            s = TopicCounts(0.0, *drawn.statistics)
            with warnings.catch_warnings():  # a sampler that has made its sweeps is finished
                warnings.simplefilter("ignore", ConvergenceWarning)
                return self._publish(drawn.replace(model=drawn.model.model(start), statistics=s))
        watch = Watch(self, self.checkpoint, data, in_order=solver == "online")
        if solver == "variational":
            return self._publish(variational(start, data, self.tol, self.max_iter, watch))
        rate = Rate(self.learning_decay, self.learning_offset)
        progress = online(start, data, self.batch_size, rate, self.tol, self.max_iter, watch)
        self.n_batch_iter_ = progress.steps
        return self._publish(progress)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Improve the topics by more documents, a step for every `batch_size` of them.

        Parameters
        ----------
        X : array, CSR matrix, table or Parquet scan
            Counts of words, a row a document.
        y : None
            Ignored.
        sample_weight : array, optional
            Weights of the documents.

        Returns
        -------
        self
        """
        if self._solver() == "gibbs":
            raise ValueError(
                "partial_fit improves a bound, and solver='gibbs' has none: use 'online', or `fit`."
            )
        if any(self._learns):
            raise ValueError("Priors are estimated ('auto') by `fit`, not by `partial_fit`.")
        first = not hasattr(self, "model_")
        data = open_rows(self, X, None, sample_weight, reset=first, block_rows=self._block_rows)
        if first:
            self.n_batch_iter_ = 0
            self.model_ = self._start(check_random_state(self.random_state))
        rate, model = Rate(self.learning_decay, self.learning_offset), self.model_
        for rows in _batches(data, self.batch_size):
            self.n_batch_iter_ += 1
            model, self.statistics_ = improved(model, rows, rate, self.n_batch_iter_, self.total_samples)
        self.model_ = model
        self.__dict__.update(self._fitted(model))
        return self

    # --- how it is fitted ---------------------------------------------------------------------------------

    def _solver(self) -> str:
        names = {"batch": "variational", "online": "online"}
        solver = self.solver if self.learning_method is None else names[self.learning_method]
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
        given = getattr(self, name)
        prior = np.asarray(
            1.0 / self.n_components if given is None or isinstance(given, str) else given, float
        )
        if prior.shape not in ((), (size,)):
            raise ValueError(f"{name} has shape {prior.shape}, expected a number or {(size,)}.")
        none = name == "topic_word_prior" and not prior.any()
        if not (np.isfinite(prior).all() and ((prior > 0).all() or none)):
            raise ValueError(f"{name}={given!r}: the parameters of a Dirichlet prior are positive.")
        return np.array(np.broadcast_to(prior, size))

    def _block_rows(self, block: Any) -> float:
        """Rows that are large beside what is summed."""
        sums = 8.0 * self.n_components * block.X.shape[1]
        return max(BLOCK_BYTES, 4.0 * sums) / max(block.row_bytes, 8.0)

    def _fitted(self, model: Topics) -> dict[str, Any]:
        def brief(prior: np.ndarray, given: Any) -> Any:
            return prior if np.ndim(given) or isinstance(given, str) else float(prior[0])

        return {
            "components_": np.ascontiguousarray(model.word.T),
            "doc_topic_prior_": brief(model.alpha, self.doc_topic_prior),
            "topic_word_prior_": brief(model.eta, self.topic_word_prior),
        }

    def _publish(self, progress: Progress) -> Self:
        self.bound_ = _perplexity(progress.trace[-1]) if progress.trace else np.inf
        return super()._publish(progress)

    # --- what it says of documents ------------------------------------------------------------------------

    @row_wise
    def transform(self, X: Any, *, normalize: bool = True) -> np.ndarray:
        """The topics of each document.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Counts of words.
        normalize : bool, default=True
            Whether to give the means of the topics, which sum to one, or the parameters of their Dirichlet
            distribution, which sum to the words of the document and its prior.

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
        """Of each document, the lower bound of its log probability given the topics, in natural
        logarithms."""
        X = read_rows(self, X)
        _ = self.model_.expected
        return map_rows(lambda rows: self.model_.posterior(rows)[1], X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The lower bound of the log probability of the documents and the topics, as in scikit-learn."""
        return float(self._bound(X, sample_weight)[0])

    def perplexity(self, X: Any, sample_weight: Any = None) -> float:
        """exp(- bound of the log probability of a word); the lower the better.

        A bound with the topics in it is no probability of held-out documents: for that see
        `suffice.topics.document_completion` and `suffice.topics.left_to_right`.
        """
        bound, length = self._bound(X, sample_weight)
        return _perplexity(bound / length)

    def _bound(self, X: Any, sample_weight: Any) -> np.ndarray:
        check_is_fitted(self)
        data = open_rows(self, X, None, sample_weight, reset=False)
        of_topics = self.model_.expected[2]
        return data.fold(bounds_of, self.model_) + [of_topics, 0.0]

    def log_joint(self, X: Any, topics: Any) -> float:
        """log p(words, topics): what the probabilities of words and of topics were is integrated out.

        Of the priors, and so before `fit` too.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Counts of words.
        topics : array of shape (n_words,)
            The topic of every word, in the order of the documents and in each by feature; those of a word
            that is there several times follow each other.

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
        """Documents drawn from the model, and the topics that they have.

        Parameters
        ----------
        n_samples : int, default=1
            Number of documents.
        length : int or array of shape (n_samples,), default=100
            Words in each.

        Returns
        -------
        X : csr_array of shape (n_samples, n_features)
            Counts of words.
        theta : ndarray of shape (n_samples, n_components)
            Probabilities of the topics.
        """
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _perplexity(mean_log_probability: float) -> float:
    """Infinite, if it is beyond the range of numbers: of documents of next to no words."""
    with np.errstate(over="ignore"):
        return float(np.exp(-mean_log_probability))
