"""Coherence as its papers define it, counted the long way, and by gensim; top words and diversity."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import suffice
from suffice.feature_extraction.text import CountVectorizer
from suffice.topics import coherence, top_words, topic_diversity

from ..laws.registry import cut_at

rng = np.random.default_rng(0)
WORDS = [f"w{n:02}" for n in range(20)]
DOCUMENTS = [rng.choice(WORDS, size=rng.integers(1, 60)).tolist() for _ in range(40)]
TEXTS = [" ".join(tokens) for tokens in DOCUMENTS]
TOPICS = [WORDS[:5], WORDS[3:9], ["w01", "w19", "w10"]]
VECTORIZER = CountVectorizer().fit(TEXTS)
COUNTS = VECTORIZER.transform(TEXTS)
NAMES = VECTORIZER.get_feature_names_out()


def windows(size):
    for tokens in DOCUMENTS:
        n = max(len(tokens) - size + 1, 1) if size else 1
        for start in range(n):
            yield set(tokens[start : start + size] if size else tokens)


def npmi(a, b, sets):
    total = len(sets)
    p, q = (sum(w in s for s in sets) / total for w in (a, b))
    both = sum(a in s and b in s for s in sets) / total + 1e-12
    return np.log(both / (p * q)) / -np.log(both)


def long_way(topic, measure, size):
    sets = list(windows(size))
    if measure == "u_mass":
        return np.mean(
            [
                np.log((sum(a in s and b in s for s in sets) + 1) / sum(a in s for s in sets))
                for a, b in itertools.combinations(topic, 2)
            ]
        )
    if measure == "npmi":
        return np.mean([npmi(a, b, sets) for a, b in itertools.combinations(topic, 2)])
    vectors = np.array([[npmi(a, b, sets) for b in topic] for a in topic])
    whole = vectors.sum(axis=0)
    return np.mean([v @ whole / np.linalg.norm(v) / np.linalg.norm(whole) for v in vectors])


@pytest.mark.parametrize(
    ("measure", "window", "size"),
    [
        ("u_mass", None, 0),
        ("npmi", None, 10),
        ("npmi", 0, 0),
        ("c_v", None, 110),
        ("c_v", 7, 7),
        ("npmi", 1, 1),
    ],
)
def test_counted_the_long_way(measure, window, size):
    expected = [long_way(topic, measure, size) for topic in TOPICS]
    for corpus in (DOCUMENTS, TEXTS, suffice.documents(pa.table({"t": TEXTS}), text="t")):
        for blocks in ((1000,), (7, 1)):
            with cut_at(*blocks):
                found = coherence(TOPICS, corpus, measure=measure, window=window)
            np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("measure", ["u_mass", "npmi"])
def test_of_counts(measure):
    expected = [long_way(topic, measure, 0) for topic in TOPICS]
    table = suffice.documents(pa.table({"t": TEXTS}), text="t")
    for corpus in (COUNTS, COUNTS.toarray(), VECTORIZER.transform(table)):
        np.testing.assert_allclose(coherence(TOPICS, corpus, measure=measure, feature_names=NAMES), expected)
    numbers = [[VECTORIZER.vocabulary_[word] for word in topic] for topic in TOPICS]
    np.testing.assert_allclose(coherence(numbers, COUNTS, measure=measure), expected)
    weights = np.zeros((3, 20))
    for row, topic in zip(weights, numbers, strict=True):
        row[topic] = np.arange(len(topic), 0, -1)
    for n_words in (3,):
        cut = [topic[:n_words] for topic in TOPICS]
        expected = [long_way(topic, measure, 0) for topic in cut]
        np.testing.assert_allclose(coherence(weights, COUNTS, measure=measure, n_words=n_words), expected)
    table = suffice.rows(pa.table({"a": [1, 0, 2], "b": [1, 0, 0], "w": [1.0, 1.0, 3.0]}), weight="w")
    heavy = coherence([[0, 1]], table, measure="u_mass")
    np.testing.assert_allclose(heavy, [np.log((1 + 1) / 4)])


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs"), [("u_mass", "u_mass"), ("npmi", "c_npmi"), ("c_v", "c_v")])
def test_as_gensim(ours, theirs):
    """Of documents without a word twice: gensim loses such a word when the first leaves its window."""
    gensim = pytest.importorskip("gensim.models.coherencemodel")
    corpora = pytest.importorskip("gensim.corpora")
    documents = [rng.permutation(WORDS)[: rng.integers(12, 21)].tolist() for _ in range(60)]
    dictionary = corpora.Dictionary(documents)
    bags = [dictionary.doc2bow(tokens) for tokens in documents]
    window = {"npmi": 10, "c_v": 7, "u_mass": None}[ours]
    model = gensim.CoherenceModel(
        topics=TOPICS,
        texts=documents,
        corpus=bags,
        dictionary=dictionary,
        coherence=theirs,
        window_size=window,
        processes=1,
    )
    smoothing = 1e-12 * len(documents) if ours == "u_mass" else None
    found = coherence(TOPICS, documents, measure=ours, smoothing=smoothing, window=window)
    np.testing.assert_allclose(found, model.get_coherence_per_topic(), rtol=1e-9)


def test_words_that_never_occur():
    odd = [["w00", "never"], ["w00"]]
    assert np.isnan(coherence(odd, DOCUMENTS, measure="u_mass")).all()
    for measure in ("npmi", "c_v"):
        found = coherence(odd, DOCUMENTS, measure=measure)
        assert np.isfinite(found[0]) and np.isnan(found[1])
    always = coherence([["a1", "b1"]], [["a1", "b1"], ["b1", "a1"]], measure="npmi")
    np.testing.assert_array_equal(always, 0.0)


def test_bad_input():
    with pytest.raises(ValueError, match="measure='x' is unknown"):
        coherence(TOPICS, DOCUMENTS, measure="x")
    with pytest.raises(ValueError, match="which are near each other"):
        coherence(TOPICS, COUNTS, measure="c_v", feature_names=NAMES)
    with pytest.raises(ValueError, match="pass feature_names"):
        coherence(TOPICS, COUNTS)
    with pytest.raises(ValueError, match="pass feature_names"):
        coherence([[0, 1]], DOCUMENTS)
    with pytest.raises(ValueError, match=r"not in feature_names: \['never'\]"):
        coherence([["w00", "never"]], COUNTS, feature_names=NAMES)
    with pytest.raises(ValueError, match="no topics"):
        coherence([], DOCUMENTS)


def test_top_words_and_diversity():
    topics = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    assert top_words(topics, n_words=2) == [[1, 2], [0, 1]]
    assert top_words(topics, np.array(["a", "b", "c"]), 3) == [["b", "c", "a"], ["a", "b", "c"]]
    assert topic_diversity(topics, n_words=1) == 1.0
    assert topic_diversity(topics, n_words=2) == 0.75
    assert topic_diversity(topics) == 0.5
    assert topic_diversity([["a", "b"], ["c"]]) == 1.0
    with pytest.raises(ValueError, match="n_words=4, expected a number from 1 to 3"):
        top_words(topics, n_words=4)
    with pytest.raises(ValueError, match="2 feature_names, expected 3"):
        top_words(topics, ["a", "b"], 2)
    with pytest.raises(ValueError, match="expected \\(n_components, n_features\\)"):
        top_words([1.0, 2.0])


def test_of_an_estimator():
    from suffice.topics import ProbabilisticLatentSemanticAnalysis

    model = ProbabilisticLatentSemanticAnalysis(2, random_state=0, max_iter=300, tol=1e-3).fit(COUNTS)
    assert coherence(model, COUNTS, measure="npmi").shape == (2,)
    assert len(top_words(model, NAMES)[0]) == 10
    np.testing.assert_array_equal(
        coherence(model, sp.csr_matrix(COUNTS)), coherence(model.components_, COUNTS)
    )
