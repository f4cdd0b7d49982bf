"""Evaluation of topics: top words, coherence and diversity.

Mimno et al., "Optimizing semantic coherence in topic models", 2011 (u_mass); Bouma, "Normalized (pointwise)
mutual information in collocation extraction", 2009 (NPMI); Röder, Both and Hinneburg, "Exploring the space
of topic coherence measures", 2015 (C_v); Dieng, Ruiz and Blei, "Topic modeling in embedding spaces", 2020
(diversity).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer as _Analyzer

from ..core.blocks import Rows
from ..core.statistics import Parts
from ..estimator.tags import tags
from ..inputs import Table, in_blocks, open_rows
from ..inputs.readers import Texts
from .retrieval import Reader

MEASURES = ("u_mass", "npmi", "c_v")
WINDOW = {"npmi": 10, "c_v": 110}  # default number of words of a window
EPSILON = 1e-12  # default smoothing of counts, relative to the number of documents or windows


def top_words(topics: Any, feature_names: Any = None, n_words: int = 10) -> list[list[Any]]:
    """Words with the largest weights in each topic, in decreasing order.

    Parameters
    ----------
    topics : array of shape (n_components, n_features), or fitted estimator with `components_`
        Weights of words in topics.
    feature_names : array of shape (n_features,), optional
        The words, as from `CountVectorizer.get_feature_names_out`. If None, column indices are returned.
    n_words : int, default=10
        Number of words of each topic.

    Examples
    --------
    >>> from suffice.topics import top_words
    >>> top_words([[0.1, 0.6, 0.3], [0.8, 0.0, 0.2]], ["ash", "elm", "oak"], n_words=2)
    [['elm', 'oak'], ['ash', 'oak']]
    """
    topics = np.asarray(getattr(topics, "components_", topics), dtype=np.float64)
    if topics.ndim != 2:
        raise ValueError(f"topics has the shape {topics.shape}, expected (n_components, n_features).")
    if not 1 <= n_words <= topics.shape[1]:
        raise ValueError(
            f"n_words={n_words}, expected a number from 1 to {topics.shape[1]}, the number of words."
        )
    if feature_names is not None and len(feature_names) != topics.shape[1]:
        raise ValueError(f"There are {len(feature_names)} feature_names, expected {topics.shape[1]}.")
    best = np.argsort(-topics, axis=1, kind="stable")[:, :n_words]
    return best.tolist() if feature_names is None else np.asarray(feature_names, object)[best].tolist()


def topic_diversity(topics: Any, n_words: int = 25) -> float:
    """Topic diversity: the fraction of distinct words among the top words of all topics. It is 1 if no word
    is in two topics.

    Parameters
    ----------
    topics : array of shape (n_components, n_features), fitted estimator, or list of lists of words
        The topics.
    n_words : int, default=25
        Number of words of each topic. Shorter lists are used whole.

    Examples
    --------
    >>> from suffice.topics import topic_diversity
    >>> topic_diversity([["ash", "elm"], ["ash", "oak"]])
    0.75
    """
    words = _words_of(topics, n_words)
    return len({word for topic in words for word in topic}) / sum(map(len, words))


def coherence(
    topics: Any,
    corpus: Any,
    *,
    measure: str = "u_mass",
    n_words: int = 10,
    feature_names: Any = None,
    window: int | None = None,
    analyzer: Any = None,
    smoothing: float | None = None,
) -> np.ndarray:
    """Coherence of each topic: how much its top words co-occur. One pass over a corpus.

    Parameters
    ----------
    topics : array of shape (n_components, n_features), fitted estimator, or list of lists of words
        The topics. Their top words are evaluated. The words of lists are those of the corpus: strings, or
        numbers of columns if it holds counts and there are no `feature_names`.
    corpus : counts of words, or documents
        Counts: an array, CSR, described table, scan or data set. Documents: a list of strings or of lists of
        words; or a table described by `suffice.documents`. Only documents have the order of words, which
        'c_v' needs.
    measure : {'u_mass', 'npmi', 'c_v'}, default='u_mass'
        'u_mass': the mean of log P(word given a higher-ranked word of the topic). 'npmi': the mean normalized
        pointwise mutual information of two words, from -1 to 1. 'c_v': the mean cosine between the NPMI of a
        word with all words of the topic, and the sum of these.
    n_words : int, default=10
        Number of words of each topic.
    feature_names : array of shape (n_features,), optional
        The words of the columns.
    window : int, optional
        Size of the sliding window, in words, in which words co-occur. 0 is the whole document. If None, 10
        for 'npmi' and 110 for 'c_v'; whole documents for 'u_mass', and for counts.
    analyzer : callable, optional
        Function that splits strings into words, e.g. ``vectorizer.build_analyzer()``. If None, that of a
        default `CountVectorizer`.
    smoothing : float, optional
        Added to the number of documents or windows that contain both words. If None, 1 for 'u_mass', and
        1e-12 of their total for the others.

    Returns
    -------
    coherence : ndarray of shape (n_components,)
        Higher is better. NaN for a topic of a single word, and for 'u_mass' if a word of the topic never
        occurs.

    Examples
    --------
    >>> from suffice.topics import coherence
    >>> documents = ["ash elm", "ash elm oak", "tin zinc", "zinc tin ash"]
    >>> coherence([["ash", "elm"], ["ash", "zinc"]], documents, measure="npmi").round(3)
    array([ 0.415, -0.292])
    """
    if measure not in MEASURES:
        raise ValueError(f"measure={measure!r} is unknown: use one of {MEASURES}.")
    words = _words_of(topics, n_words, feature_names)
    known = sorted({word for topic in words for word in topic})
    place = {word: n for n, word in enumerate(known)}
    total, co_occurrences = _together(corpus, place, measure, window, analyzer, feature_names)
    if not total > 0:
        raise ValueError("The corpus has no documents, expected at least one.")
    smoothing = (1.0 if measure == "u_mass" else EPSILON * total) if smoothing is None else smoothing
    judge = {"u_mass": _u_mass, "npmi": _npmi, "c_v": _c_v}[measure]
    scores = []
    for topic in words:
        at = [place[word] for word in topic]
        scores.append(judge(total, co_occurrences[np.ix_(at, at)], smoothing) if len(at) > 1 else np.nan)
    return np.array(scores)


def _u_mass(total: float, n: np.ndarray, smoothing: float) -> float:
    """Words in the order of their weight: the mean of log (n(later, earlier) + 1) / n(earlier)."""
    later, earlier = np.tril_indices(len(n), -1)
    single = np.diag(n)
    if not single.all():
        return np.nan
    return float(np.mean(np.log((n[later, earlier] + smoothing) / single[earlier])))


def _pairs(total: float, n: np.ndarray, smoothing: float) -> np.ndarray:
    """NPMI of all pairs of words, including a word with itself; zero for a word that never occurs."""
    p, both = np.diag(n) / total, (n + smoothing) / total
    seen = np.outer(p > 0, p > 0)
    apart = np.where(seen, np.outer(p, p), 1.0)
    with np.errstate(divide="ignore"):
        scale = np.where(both < 1.0, -np.log(np.minimum(both, 1.0)), 1.0)  # in all: nothing is told
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.where(both > 0, np.log(both / apart) / np.where(scale > 0, scale, 1.0), -1.0)
    return np.where(seen & (both < 1.0), npmi, 0.0)


def _npmi(total: float, n: np.ndarray, smoothing: float) -> float:
    pairs = _pairs(total, n, smoothing)
    return float(pairs[np.tril_indices(len(n), -1)].mean())


def _c_v(total: float, n: np.ndarray, smoothing: float) -> float:
    pairs = _pairs(total, n, smoothing)
    totals = pairs.sum(axis=0)
    size = np.linalg.norm(pairs, axis=1) * np.linalg.norm(totals)
    return float(np.mean(pairs.dot(totals) / np.where(size > 0, size, 1.0)))


def _words_of(topics: Any, n_words: int, feature_names: Any = None) -> list[list[Any]]:
    """The words of topics: lists are returned unchanged, weights are reduced to the top words."""
    if not isinstance(topics, list | tuple) or any(isinstance(w, float) for topic in topics for w in topic):
        topics = np.asarray(getattr(topics, "components_", topics))
        return top_words(topics, feature_names, min(n_words, topics.shape[-1]))
    if not topics or not all(len(topic) for topic in topics):
        raise ValueError("topics has no topics, or a topic without words.")
    names = None if feature_names is None else np.asarray(feature_names, object)
    return [
        [w if isinstance(w, str) or names is None else names[w] for w in dict.fromkeys(topic)][:n_words]
        for topic in topics
    ]


def _together(
    corpus: Any,
    place: dict[Any, int],
    measure: str,
    window: int | None,
    analyzer: Any,
    feature_names: Any,
) -> tuple[float, np.ndarray]:
    """The number of documents or windows, and the number that contain each pair of words, (M, M)."""
    texts = _documents(corpus)
    if texts is not None:
        if not all(isinstance(word, str) for word in place):
            raise ValueError(
                "The topics have numbers of words, and the corpus has texts: pass feature_names."
            )
        size = (0 if measure == "u_mass" else WINDOW[measure]) if window is None else window
        analyzer = _Analyzer().build_analyzer() if analyzer is None else analyzer
        return tuple(texts.fold(_in_windows, place, size, analyzer).parts)
    if measure == "c_v" or window:
        raise ValueError(
            "Counts of words do not contain which are near each other: for windows and for "
            "measure='c_v', pass the documents as strings or lists of words."
        )
    columns = list(place)
    if feature_names is not None:
        column = {word: n for n, word in enumerate(feature_names)}
        if missing := [word for word in columns if word not in column]:
            raise ValueError(f"Words of the topics are not in feature_names: {missing[:5]}.")
        columns = [column[word] for word in columns]
    elif any(isinstance(word, str) for word in columns):
        raise ValueError(
            "The topics have words, and the corpus has counts: pass feature_names, in its order."
        )
    return tuple(open_rows(Reader(), corpus).fold(_in_rows, np.array(columns)).parts)


def _documents(corpus: Any) -> Any:
    """Partitions of documents; None if these are counts."""
    if isinstance(corpus, Table):
        return open_rows(_TextReader(), corpus) if isinstance(corpus.features, Texts) else None
    if hasattr(corpus, "tolist") and np.ndim(corpus) == 1:  # an array or a column of texts
        corpus = corpus.tolist()
    if sp.issparse(corpus) or not isinstance(corpus, Sequence) or not len(corpus):
        return None
    first = corpus[0]
    if not isinstance(first, str) and not (
        isinstance(first, Sequence) and all(isinstance(w, str) for w in first)
    ):
        return None
    X = np.empty((len(corpus), 1), object)
    for n, text in enumerate(corpus):
        X[n, 0] = text
    return in_blocks(Rows(X))


class _TextReader(Reader):
    """A reader of strings."""

    __sklearn_tags__ = tags(string=True)


def _in_rows(columns: np.ndarray, block: Rows) -> Parts:
    X = block.X[:, columns]
    present = (X > 0).astype(np.float64)
    weighted = (
        present.multiply(block.weight[:, None]) if sp.issparse(present) else present * block.weight[:, None]
    )
    both = present.T.dot(weighted)
    return Parts((float(block.weight.sum()), both.toarray() if sp.issparse(both) else both))


def _in_windows(
    place: dict[str, int], window: int, analyze: Callable[[str], list[str]], block: Rows
) -> Parts:
    """Windows slide over a document by one word; a shorter document is one window."""
    M = len(place)
    total, both = 0.0, np.zeros((M, M))
    for text, weight in zip(block.X[:, 0], block.weight, strict=True):
        tokens = analyze(text) if isinstance(text, str) else text
        at = [(n, place[word]) for n, word in enumerate(tokens) if word in place]
        size = min(window or len(tokens), len(tokens))
        windows = max(len(tokens) - size + 1, 1)
        total += weight * windows
        if not at:
            continue
        n, word = np.array(at).T
        present = np.zeros((len(set(word)), windows), bool)
        names, row = np.unique(word, return_inverse=True)
        for position, r in zip(n, row, strict=True):  # a word is in the windows that begin near before it
            present[r, max(0, position - size + 1) : min(position, windows - 1) + 1] = True
        npmi = present.astype(np.float64)
        both[np.ix_(names, names)] += weight * npmi.dot(npmi.T)
    return Parts((total, both))
