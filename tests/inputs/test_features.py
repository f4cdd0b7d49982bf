"""Sequences as CRFsuite's users have them: lists of lists of dicts, or of strings, with labels in lists."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

import suffice
from suffice.sequence import ConditionalRandomField, MaxMarginMarkovNetwork, StructuredPerceptron

SENTENCES = [
    [("Ada", "PER"), ("saw", "O"), ("Paris", "LOC")],
    [("Paris", "LOC"), ("saw", "O"), ("Bob", "PER")],
    [("Bob", "PER")],
    [("rain", "O"), ("saw", "O"), ("Ada", "PER"), ("twice", "O")],
]


def features(sentence, n):
    word = sentence[n][0]
    step = {"word": word, "upper": word[0].isupper(), "length": len(word), "bias": 1.0}
    if n:
        step["-1"] = {"word": sentence[n - 1][0], "ends": [sentence[n - 1][0][-1], sentence[n - 1][0][-2:]]}
    else:
        step["BOS"] = True
    return step


X = [[features(sentence, n) for n in range(len(sentence))] for sentence in SENTENCES]
Y = [[label for _, label in sentence] for sentence in SENTENCES]
MODELS = [
    ConditionalRandomField(),
    ConditionalRandomField(l1_ratio=0.5),
    StructuredPerceptron(random_state=0),
    MaxMarginMarkovNetwork(),
]


def flat(step, prefix=""):
    """The features of a step by their names, as python-crfsuite has them."""
    out = {}
    for key, value in step.items() if isinstance(step, dict) else ((name, 1.0) for name in step):
        if isinstance(value, str):
            out[f"{prefix}{key}:{value}"] = 1.0
        elif isinstance(value, dict | list):
            out |= flat(value, f"{prefix}{key}:")
        else:
            out[prefix + key] = float(value)
    return out


def vectorized():
    """The names of all features, and the sequences as CSR matrices."""
    vectorizer = DictVectorizer().fit([flat(step) for sequence in X for step in sequence])
    sequences = [sp.csr_array(vectorizer.transform([flat(step) for step in sequence])) for sequence in X]
    return vectorizer.feature_names_, sequences


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_dicts_are_the_rows_of_a_dict_vectorizer(model):
    names, rows = vectorized()
    found, expected = clone(model).fit(X, Y), clone(model).fit(rows, Y)
    assert found.feature_names_in_.tolist() == names
    assert found.n_features_in_ == len(names)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.transitions_, expected.transitions_)
    for ours, theirs in zip(found.predict(X), expected.predict(rows), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert found.score(X, Y) == expected.score(rows, Y) > 0.8


def test_lists_of_strings_are_features_of_value_one():
    listed = [[[f"word:{word}", "bias"] for word, _ in sentence] for sentence in SENTENCES]
    by_name = [[{"word": word, "bias": 1} for word, _ in sentence] for sentence in SENTENCES]
    found, expected = ConditionalRandomField().fit(listed, Y), ConditionalRandomField().fit(by_name, Y)
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    sets = [[set(step) for step in sequence] for sequence in listed]
    np.testing.assert_array_equal(ConditionalRandomField().fit(sets, Y).coef_, expected.coef_)
    assert found.predict([[["word:Ada", "bias"]]])[0].tolist() == ["PER"]


def test_a_feature_that_a_step_has_twice_counts_twice():
    once = ConditionalRandomField().fit([[{"a": 2, "b": 1}, {"b": 1}]], [["x", "y"]])
    twice = ConditionalRandomField().fit([[["a", "b", "a"], ["b"]]], [["x", "y"]])
    np.testing.assert_array_equal(once.coef_, twice.coef_)


def test_unknown_features_are_ignored_and_steps_may_have_none():
    crf = ConditionalRandomField().fit(X, Y)
    known = [[step | {"new": "thing", "word:other": 3.0} for step in sequence] for sequence in X]
    for a, b in zip(crf.predict_proba(known), crf.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)
    empty, none = crf.predict([[{}, {"new": 1}], []])
    assert empty.shape == (2,) and none.shape == (0,)


def test_shapes_of_answers():
    crf = ConditionalRandomField().fit(X, Y)
    assert isinstance(crf.predict(X), list)
    assert crf.predict(X[0]).tolist() == Y[0]  # a list of steps is one sequence
    steps = [step for sequence in X for step in sequence]
    ids = np.repeat(np.arange(len(X)), [len(sequence) for sequence in X])
    labels = crf.predict(steps, groups=ids)
    assert labels.tolist() == [label for y in Y for label in y]
    again = ConditionalRandomField().fit(steps, [label for y in Y for label in y], groups=ids)
    np.testing.assert_array_equal(again.coef_, crf.coef_)
    np.testing.assert_array_equal(ConditionalRandomField().fit(tuple(map(tuple, X)), Y).coef_, crf.coef_)
    weighted = ConditionalRandomField().fit(X, Y, sample_weight=[1, 2, 1, 1])
    np.testing.assert_allclose(
        weighted.coef_, ConditionalRandomField().fit([*X, X[1]], [*Y, Y[1]]).coef_, atol=1e-3
    )


def test_labels_in_lists_keep_their_type():
    numbers = [[{"PER": 0, "LOC": 1, "O": 2}[label] for label in y] for y in Y]
    crf = ConditionalRandomField().fit([*X, []], [*numbers, []])
    assert crf.classes_.dtype.kind == "i"
    assert crf.predict(X)[0].tolist() == numbers[0]


def test_explain_and_top_features_have_the_names():
    crf = ConditionalRandomField(C=10.0).fit(X, Y)
    reasons = dict(crf.explain(X)[0][0].reasons)
    assert {"word:Ada", "upper", "BOS"} <= set(reasons)
    for model in (crf, StructuredPerceptron(random_state=0).fit(X, Y), MaxMarginMarkovNetwork().fit(X, Y)):
        top = model.top_features(3)
        assert list(top) == model.classes_.tolist()
        for label, weights in zip(top, model.coef_, strict=True):
            assert len(top[label]) == 3
            for name, weight in top[label]:
                assert weights[model.feature_names_in_.tolist().index(name)] == weight
            assert [abs(w) for _, w in top[label]] == sorted(np.abs(weights))[:-4:-1]
        moves = model.top_transitions()
        assert len(moves) == 9
        assert {(a, b): w for a, b, w in moves} == {
            (a, b): model.transitions_[i, j]
            for i, a in enumerate(model.classes_)
            for j, b in enumerate(model.classes_)
        }
        assert [abs(w) for *_, w in moves] == sorted((abs(w) for *_, w in moves), reverse=True)
    unnamed = ConditionalRandomField().fit(vectorized()[1], Y)
    assert all(name.startswith("x") for name, _ in unnamed.top_features(2)["PER"])
    kernel = MaxMarginMarkovNetwork(solver="smo", kernel="rbf").fit([np.eye(2)], [["a", "b"]])
    with pytest.raises(AttributeError, match="kernel='rbf'"):
        kernel.top_features()


def test_a_saved_model_knows_its_features(tmp_path):
    for model in (ConditionalRandomField(), StructuredPerceptron(random_state=0)):
        model.fit(X, Y).save(tmp_path / "model")
        loaded = suffice.load(tmp_path / "model")
        assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
        labels = [a.tolist() for a in model.predict(X)]
        assert [a.tolist() for a in loaded.predict(X)] == labels
        assert loaded.fit(X[:2], Y[:2]).n_features_in_ < model.n_features_in_
        fresh = clone(model).fit(X[:2], Y[:2])  # by the new columns
        assert [a.tolist() for a in loaded.predict(X)] == [a.tolist() for a in fresh.predict(X)]


def test_a_predict_does_not_change_the_model():
    crf = ConditionalRandomField().fit(X, Y)
    before = set(vars(crf))
    crf.predict(X)
    assert set(vars(crf)) == before


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[{"a": None}]], r"'a' is None \(NoneType\), expected a number, bool or string"),
        ([[{"a": 1.0}, ["b", 3]]], "dict or a list of strings; got .'b', 3."),
        ([[{"a": 1.0}, 3]], "dict or a list of strings; got 3"),
        ([[{"a": float("nan")}]], "contains NaN in row 0, column 'a'"),
        ([[{"a": float("inf")}]], "contains infinity in row 0, column 'a'"),
        ([[{}, {}]], "No step of X has a feature"),
        ([[{1: 2, "a": 3}]], "names of features are strings; got 1"),
    ],
    ids=repr,
)
def test_errors_say_what_came(bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ConditionalRandomField().fit(bad, [["x", "y"][: len(bad[0])]])


def test_errors_of_words_without_features_say_the_call():
    words = [[word for word, _ in sentence] for sentence in SENTENCES]
    with pytest.raises(ValueError, match=r"\[\[\[word\] for word in sentence\] for sentence in X\]"):
        ConditionalRandomField().fit(words, Y)
    crf = ConditionalRandomField().fit(vectorized()[1], Y)
    with pytest.raises(ValueError, match="was fitted to features without names"):
        crf.predict(X)
    with pytest.raises(ValueError, match="some of its sequences have other lengths"):
        ConditionalRandomField().fit(X, Y[::-1])
