"""Collapsed Gibbs sampling for latent Dirichlet allocation: the topic of each word given all others.

Griffiths and Steyvers, "Finding scientific topics", 2004; Newman, Asuncion, Smyth and Welling, "Distributed
algorithms for topic models", 2009; Li ch. 20.3. The topics of words stay with their block.

Blocks of one machine share the counts. A sweep has as many rounds as there are blocks, and in a round each
block visits a part of the vocabulary that no other visits (Yan, Xu and Qi, "Parallel inference for latent
Dirichlet allocation on graphics processing units", 2009). Only the totals of topics are stale, by one round.
With one block this is the exact sampler.

On a cluster, a block starts from the counts of all words that were summed before the sweep, and changes them
as it goes; what the other blocks change it sees in the next sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from ..core.blocks import Matrix, Rows, offsets, one_a_place, power_of_two
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.shapes import must, must_index
from ..core.statistics import Statistics
from ..core.storage import StorageError
from ..core.threads import in_order
from ..core.values import Value
from ..fitting.resident import Resident
from ..fitting.sampler import Chain, Draw, Sampler
from ..inputs import in_memory

# Words that are worth a visit of a block to a part of the vocabulary.
VISIT_WORDS = 1 << 16
NEXT_WORD = 2  # time to go on to the next word, in draws


@dataclass(frozen=True, eq=False)
class Tokens(Value):
    """Tokens of documents with their topics. They are sorted by word, since the tokens of a word are
    visited together."""

    words: Annotated[np.ndarray, "int (U,)"]  # those that are in the block
    start: Annotated[np.ndarray, "int (U + 1,)"]  # the tokens of word u are start[u] to start[u + 1]
    doc: Annotated[np.ndarray, "int (T,)"]
    topic: Annotated[np.ndarray, "int (T,)"]
    lengths: Annotated[np.ndarray, "int (D,)"]  # of the documents
    index: tuple[int, ...] = (0,)
    parts: Annotated[np.ndarray | None, "int (P + 1,)"] = None  # part p is words parts[p] to parts[p + 1]
    n_dk: Annotated[np.ndarray | None, "int (D, *)"] = None  # K or more wide: topics by document, if counted
    log_p: float | None = None  # of the topics, where a sweep has found it

    @classmethod
    def of(
        cls, X: sp.csr_array, K: int, topic: np.ndarray | None, seed: int, index: tuple[int, ...]
    ) -> Tokens:
        """Tokens from counts, with topics by word and document, or drawn at random."""
        by_word = sp.csc_array(X)
        by_word.sort_indices()
        times = by_word.data.astype(np.int64)
        per_word = np.add.reduceat(np.append(times, 0), by_word.indptr[:-1]) * (np.diff(by_word.indptr) > 0)
        words = np.flatnonzero(per_word)
        doc = np.repeat(by_word.indices, times).astype(np.int32)
        if topic is None:
            topic = generator(Purpose.START, seed, *index).integers(K, size=len(doc))
        topic = np.array(topic, dtype=topic_type(K))
        lengths = np.bincount(doc, minlength=X.shape[0])
        return cls(words, offsets(per_word[words]), doc, topic, lengths, index)

    def __len__(self) -> int:
        return len(self.lengths)

    def piece(self, start: int, stop: int, number: int) -> Tokens:
        """The block, or an empty one: it cannot be divided."""
        if stop > start:
            return self
        none, zero = np.zeros(0, np.int32), np.zeros(1, np.int64)
        return Tokens(self.words[:0], zero, none, self.topic[:0], self.lengths[:0], self.index, log_p=0.0)

    def pieces(self, statistic_bytes: int) -> Iterator[Tokens]:
        yield self

    def by_document(self, K: int, group: int = 1) -> np.ndarray:
        """Counts of topics in documents, (D, K) or a little wider: a multiple of `group`.

        The integer type is the smallest that holds the longest document, as the counts are read for every
        word.
        """
        from ..loops.topics import count_in_documents

        kind = np.min_scalar_type(self.lengths.max(initial=0))
        out = np.zeros((len(self), -(-K // group) * group), kind if kind.itemsize < 4 else np.int32)
        count_in_documents(self.doc, self.topic, out)
        return out

    def swept(
        self, alpha: np.ndarray, eta: np.ndarray, counts: np.ndarray, total: np.ndarray, seed: Any
    ) -> Tokens:
        """The block after one sweep. The counts (V, K) and their totals (K,) are those of all blocks."""
        walk, nowhere = Walk(self, len(alpha)), counts[:0].copy()  # the counts may be read-only
        walk.visit(0, len(self.words), alpha, eta, counts, nowhere, total.copy(), seed)
        return walk.ended(alpha).replace(n_dk=None)


class Walk:
    """State of a block during a sweep. The counts are changed in place."""

    def __init__(self, block: Tokens, K: int) -> None:
        from ..loops.topics import N

        self.block, self.topic = block, block.topic.copy()
        self.n_dk = block.by_document(K, N) if block.n_dk is None else block.n_dk

    def visit(
        self,
        first: int,
        end: int,
        alpha: np.ndarray,
        eta: np.ndarray,
        counts: np.ndarray,
        back: np.ndarray,
        total: np.ndarray,
        seed: Any,
    ) -> None:
        """Draw topics for some words of the block. `total` is changed in place; the counts are written to
        `back`, if it has rows."""
        from ..loops.topics import sweep

        state = int(generator(Purpose.LATENT, *seed).integers(1 << 64, dtype=np.uint64))
        words, start = self.block.words[first:end], self.block.start[first : end + 1]
        sweep(words, start, self.block.doc, self.topic, self.n_dk, counts, back, total, alpha, eta, state)

    def ended(self, alpha: np.ndarray) -> Tokens:
        from ..loops.topics import log_joint_of_rows

        log_p = log_joint_of_rows(self.n_dk, alpha)
        return self.block.replace(topic=self.topic, n_dk=self.n_dk, log_p=log_p)


@dataclass(frozen=True, eq=False)
class TopicState(Value):
    """State of the chain: the counts, which the next sweep may change, and for a checkpoint the topics of
    each block."""

    word: Annotated[np.ndarray, "int (V, K)"]
    total: Annotated[np.ndarray, "int (K,)"]
    topics: Annotated[tuple[np.ndarray, ...], "B of int (T_b,)"] = ()

    def check_loaded(self, sizes: dict[str, int]) -> None:
        for topic in self.topics:
            must_index(topic, sizes["K"], "Topics")

    def model(self, start: Any) -> Any:
        """The model estimated from the counts."""
        return start.replace(word=self.word + start.eta[:, None])


def gibbs(start: Any, data: Partitions, seed: int, max_iter: int, watch: Watch) -> Progress:
    """Sweeps over all words. The trace is log p(words, topics) per word."""
    alpha, eta = as_prior(start.alpha), as_prior(start.eta)
    if not eta.any():
        raise ValueError(
            "solver='gibbs' needs a prior, and topic_word_prior=0 is none: pass a positive topic_word_prior."
        )
    V, K = start.word.shape

    def restored(tokens: Partitions, n_steps: int, state: TopicState) -> Partitions:
        if tokens.fold(_lengths) != tuple(map(len, state.topics)):
            raise StorageError(
                f"{watch.checkpoint} holds the topics of other blocks of these documents: resume "
                f"with the same division of the data, or remove it to start again."
            )
        return tokens.map(_resumed, state.topics)

    def state_of(tokens: Partitions, s: Counts) -> TopicState:
        return TopicState(s.word, s.total, () if watch.checkpoint is None else tokens.fold(_topics))

    def advance(chains: tuple[Chain, ...], tokens: Resident) -> tuple[Draw, ...]:
        ((n, state),) = ((chain.n_iter, chain.model) for chain in chains)
        blocks = tokens.at(n, state)
        s = tokens.sums or blocks.fold(Counts.of, alpha, V)
        blocks, s = swept(blocks, s, alpha, eta, (seed, n + 1))
        tokens.advance(n + 1, blocks, s)
        return (Draw(state_of(blocks, s), s.log_joint(eta) / s.length),)

    together, apart = (_tokens_together, _swept_together), (_tokens_apart, _swept_apart)
    tokens_of, swept = together if data.local else apart
    blocks = tokens_of(data, K, seed)
    s = blocks.fold(Counts.of, alpha, V)
    tokens = Resident(blocks, restored, sums=s)
    chain = Sampler(advance, max_iter, watch=watch).sample((state_of(blocks, s),), tokens).chains[0]
    statistics = s.weight, s.length, np.zeros_like(alpha), chain.model.word
    return chain.replace(model=chain.model.model(start), statistics=statistics)


def _swept_together(
    tokens: Any, s: Counts, alpha: np.ndarray, eta: np.ndarray, seed: tuple[int, ...]
) -> tuple[Partitions, Counts]:
    """A sweep by threads that share the counts of words: in a round, no two threads visit the same word."""
    blocks, total = list(tokens.batches()), s.total
    n = len(blocks)
    walks: dict[int, Walk] = {}

    def visit(i: int, turn: int, total: np.ndarray) -> np.ndarray:
        if turn == 0:
            walks[i] = Walk(blocks[i], len(alpha))
        part, mine = (i + turn) % n, total.copy()
        first, end = blocks[i].parts[part : part + 2]
        walks[i].visit(first, end, alpha, eta, s.word, s.word, mine, [*seed, turn, i])
        if turn == n - 1:
            blocks[i] = walks[i].ended(alpha)
        return mine - total

    for turn in range(n):
        total = total + sum(in_order(partial(visit, turn=turn, total=total), tuple(range(n))))
    of_documents = sum((Fraction(block.log_p) for block in blocks), Fraction(0))
    return in_memory(*blocks), s.replace(total=total, of_documents=of_documents)


def _swept_apart(
    tokens: Partitions, s: Counts, alpha: np.ndarray, eta: np.ndarray, seed: tuple[int, ...]
) -> tuple[Partitions, Counts]:
    """A sweep of each block by itself, from the counts before the sweep."""
    tokens = tokens.map(_swept, alpha, eta, s.word, s.total, seed)
    return tokens, tokens.fold(Counts.of, alpha, len(eta))


@dataclass(frozen=True, eq=False)
class Counts(Value):
    """Counts of topics, by document and word, and log p(topics of the documents), which is a fraction so that
    its sum has one value in any order."""

    any_order: ClassVar[bool] = True
    weight: int
    length: int
    of_documents: Fraction
    total: Annotated[np.ndarray, "int (K,)"]
    word: Annotated[np.ndarray, "int (V, K)"]

    @classmethod
    def of(cls, alpha: np.ndarray, V: int, block: Tokens, onto: Counts | None = None) -> Counts:
        from ..loops.topics import count_topics, log_joint_of_rows

        K = len(alpha)
        if onto is None:
            onto = cls(0, 0, Fraction(0), np.zeros(K, np.int64), np.zeros((V, K), np.int32))
        count_topics(block.words, block.start, block.topic, onto.word, onto.total)
        log_p = block.log_p
        if log_p is None:
            log_p = log_joint_of_rows(block.by_document(K), alpha)
        return onto.replace(
            weight=onto.weight + len(block),
            length=onto.length + len(block.doc),
            of_documents=onto.of_documents + Fraction(log_p),
        )

    __add__ = Statistics.__add__

    def log_joint(self, eta: np.ndarray) -> float:
        """log p(words, topics)."""
        from ..loops.topics import log_joint_of_words

        of_total = gammaln(eta.sum()) - gammaln(eta.sum() + self.total)
        return float(self.of_documents) + log_joint_of_words(self.word, eta) + float(of_total.sum())


def log_joint(X: Matrix, topics: np.ndarray, alpha: np.ndarray, eta: np.ndarray) -> float:
    """log p(words, topics), the topics in the order of the rows and columns of X."""
    K = len(alpha)
    X, alpha, eta = whole_counts(X), as_prior(alpha), as_prior(eta)
    if not (eta > 0).all():
        raise ValueError(
            "Words without a prior (topic_word_prior=0) have no joint probability with "
            "topics: pass a positive topic_word_prior."
        )
    length = int(X.sum())
    if topics.shape != (length,) or (length and not 0 <= topics.min() <= topics.max() < K):
        raise ValueError(
            f"topics has shape {topics.shape}, expected {(length,)}: one per word, from 0 to {K - 1}."
        )
    rows, columns = X.tocoo().coords
    times = X.data.astype(np.int64)
    order = np.lexsort((np.repeat(rows, times), np.repeat(columns, times)))
    block = Tokens.of(X, K, topics[order], 0, (0,))
    return Counts.of(alpha, len(eta), block).log_joint(eta)


def as_prior(parameters: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(parameters, np.float64)


def whole_counts(X: Matrix, weight: np.ndarray | None = None) -> Any:
    """CSR rows of integer counts, repeated by their weights."""
    X = one_a_place(sp.csr_array(X))
    if (X.data != np.floor(X.data)).any():
        raise ValueError(
            "Some counts are not whole numbers, and solver='gibbs' draws a topic for each word: pass counts, "
            "or use solver='variational'."
        )
    if weight is None or (weight == 1.0).all():
        return X
    if (weight != np.floor(weight)).any():
        raise ValueError(
            "Some weights are not whole numbers, and solver='gibbs' draws topics for each copy of a "
            "document: pass whole weights, or use solver='variational'."
        )
    return X[np.repeat(np.arange(X.shape[0]), weight.astype(np.int64))]


def topic_type(K: int) -> Any:
    return np.int16 if K < 1 << 15 else np.int32


def afford_tokens(K: int, sizes: np.ndarray) -> None:
    """Raise if the words and documents do not fit in memory: each word has a document and a topic, each
    document has counts of topics."""
    n_words, n_documents, n_entries = sizes.tolist()
    afford(
        n_words * (4 + np.dtype(topic_type(K)).itemsize) / 8 + n_documents * K / 4 + 1.5 * n_entries,
        f"the topics of {n_words:.4g} words, which solver='gibbs' draws one by one,",
        "use solver='variational', or fit fewer documents and transform the others.",
    )


def _sizes(block: Rows) -> np.ndarray:
    """Sizes of documents, repeated by their weights: words, documents, and entries of CSR rows."""
    X, weight = sp.csr_array(block.X), block.weight
    return np.array([weight @ X.sum(axis=1), weight.sum(), weight @ np.diff(X.indptr)])


def _tokens_apart(data: Partitions, K: int, seed: int) -> Partitions:
    """Blocks of tokens, for sweeps of each block by itself."""
    tokens = data.map(_here, K, seed)
    must_have_words(tokens.fold(len_of))
    return tokens


def _tokens_together(data: Partitions, K: int, seed: int) -> Partitions:
    """Blocks of tokens, for sweeps by threads: the documents are divided again, by the number of words."""
    afford_tokens(K, data.fold(_sizes))
    X = sp.vstack(data.fold(_documents), format="csr")
    length = X.sum()
    must_have_words(length)
    n = power_of_two(np.sqrt(length / VISIT_WORDS), 1)
    times = X.sum(axis=0)
    ends = _even(X.sum(axis=1), n)
    firsts = _even(times + NEXT_WORD * np.minimum(times, n), n)  # of parts of the vocabulary

    def block(i: int) -> Tokens:
        tokens = Tokens.of(X[ends[i] : ends[i + 1]], K, None, seed, (i,))
        return tokens.replace(parts=np.searchsorted(tokens.words, firsts))

    return in_memory(*map(block, range(n)))


def _even(costs: np.ndarray, n: int) -> np.ndarray:
    """Boundaries of n runs of about equal cost, (n + 1,)."""
    cuts = np.searchsorted(np.cumsum(costs), costs.sum() * np.arange(1, n) / n) + 1
    return np.concatenate([[0], np.minimum(cuts, len(costs)), [len(costs)]])


def must_have_words(length: float) -> None:
    if not length > 0:
        raise ValueError("The documents have no words: all counts are zero.")


def _documents(block: Rows) -> tuple[Any, ...]:
    return (whole_counts(block.X, block.weight),)


def _here(K: int, seed: int, block: Any) -> Tokens:
    afford_tokens(K, _sizes(block))  # on a cluster, of the machine that holds the block
    return Tokens.of(whole_counts(block.X, np.asarray(block.weight)), K, None, seed, block.index[:1])


def len_of(block: Tokens) -> int:
    return len(block.doc)


def _swept(
    alpha: np.ndarray,
    eta: np.ndarray,
    counts: np.ndarray,
    total: np.ndarray,
    seed: tuple[int, ...],
    block: Tokens,
) -> Tokens:
    return block.swept(alpha, eta, counts, total, [*seed, *block.index])


def _topics(block: Tokens) -> tuple[np.ndarray, ...]:
    return (block.topic,)


def _lengths(block: Tokens) -> tuple[int, ...]:
    return (len(block.topic),)


def _resumed(topics: tuple[np.ndarray, ...], block: Tokens) -> Tokens:
    topic = np.array(topics[block.index[0]])
    must(topic.shape == block.doc.shape, "The checkpoint is of other documents: remove it to start again.")
    return block.replace(topic=topic, n_dk=None, log_p=None)
