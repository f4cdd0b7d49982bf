"""Conditional random fields beside CRFsuite, with the same features and the same penalty."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.sequence import ConditionalRandomField

pycrfsuite = pytest.importorskip("pycrfsuite")

K, D, SEQUENCES = 5, 60, 60


def labelled(seed, binary=True):
    """Sequences in which labels follow each other, and a few of the attributes of a step depend on them."""
    rng = np.random.default_rng(seed)
    order = np.random.default_rng(9).dirichlet(np.full(K, 0.5), size=K)
    X, y, ids = [], [], []
    for s in range(SEQUENCES):
        k = rng.integers(K)
        for _ in range(rng.integers(1, 15)):
            k = rng.choice(K, p=order[k])
            row = np.zeros(D)
            row[rng.integers(D, size=4)] = 1.0
            row[7 * k + rng.integers(5, size=2)] = 1.0
            X.append(row if binary else row * rng.normal(1.0, 0.5, size=D))
            y.append(k)
            ids.append(s)
    return sp.csr_array(np.array(X)), np.array(y), np.array(ids)


def items(X, ids):
    """The same, as CRFsuite takes them."""
    rows = [
        {f"x{d}": float(v) for d, v in zip(X.indices[a:b], X.data[a:b], strict=True)}
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    return [pycrfsuite.ItemSequence([rows[n] for n in np.flatnonzero(ids == s)]) for s in range(SEQUENCES)]


def crfsuite(X, y, ids, path, **options):
    """The objective where CRFsuite ends, and its tagger. All features are there, seen or not."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for s, sequence in enumerate(items(X, ids)):
        trainer.append(sequence, [str(k) for k in y[ids == s]])
    trainer.set_params(
        {
            "feature.possible_states": 1,
            "feature.possible_transitions": 1,
            "max_iterations": 3000,
            "epsilon": 1e-9,
            "delta": 1e-12,
            **options,
        }
    )
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer.logparser.iterations[-1]["loss"], tagger


@pytest.mark.parametrize("binary", [True, False], ids=["binary", "real"])
@pytest.mark.parametrize(
    ("c1", "c2"), [(0.0, 1.0), (0.0, 0.05), (0.5, 0.1), (1.0, 0.0)], ids=["l2", "weak l2", "both", "l1"]
)
def test_same_optimum_and_labels(c1, c2, binary, tmp_path):
    X, y, ids = labelled(0, binary)
    loss, tagger = crfsuite(X, y, ids, tmp_path / "model", c1=c1, c2=c2)
    # c1 = l1_ratio / C, c2 = (1 - l1_ratio) / (2 C)
    C = 1.0 / (c1 + 2.0 * c2)
    crf = ConditionalRandomField(C=C, l1_ratio=c1 * C, tol=1e-8, max_iter=3000).fit(X, y, groups=ids)
    assert crf.converged_
    theta = crf.model_.theta
    objective = crf.statistics_.loss + c1 * np.abs(theta).sum() + c2 * theta @ theta
    assert objective == pytest.approx(loss, rel=1e-6)
    assert objective == pytest.approx(crf.trace_[-1] * len(y), rel=1e-12)
    new, _, new_ids = labelled(1, binary)
    theirs = [int(k) for sequence in items(new, new_ids) for k in tagger.tag(sequence)]
    assert (crf.predict(new, groups=new_ids) == theirs).all()


def test_same_marginals(tmp_path):
    X, y, ids = labelled(0)
    _, tagger = crfsuite(X, y, ids, tmp_path / "model", c1=0.0, c2=0.5)
    crf = ConditionalRandomField(C=1.0, tol=1e-8, max_iter=3000).fit(X, y, groups=ids)
    found = crf.predict_proba(X, groups=ids)
    row = 0
    for sequence in items(X, ids)[:10]:
        tagger.set(sequence)
        for n in range(len(sequence)):
            theirs = [tagger.marginal(str(k), n) for k in range(K)]
            # CRFsuite stops where its objective rests, and stores its weights with fewer digits.
            np.testing.assert_allclose(found[row], theirs, atol=1e-4)
            row += 1


def test_dicts_and_lists_of_strings_have_the_same_names_weights_and_labels(tmp_path):
    """Both take the same Python objects."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "xyz" for b in "abc"]

    def step(sentence, n):
        word = sentence[n]
        out = {"word": word, "first": {word[0], "any"}, "n": n, "last": n == len(sentence) - 1, "bias": 0.5}
        return out | ({"-1": {"word": sentence[n - 1], "n": n - 1.0}} if n else {"BOS": True})

    sentences = [rng.choice(words, size=rng.integers(1, 8)).tolist() for _ in range(40)]
    X = [[step(sentence, n) for n in range(len(sentence))] for sentence in sentences]
    X[1::2] = [[[*word, word, "bias"] for word in sentence] for sentence in sentences[1::2]]
    Y = [[word[rng.random() < 0.9] for word in sentence] for sentence in sentences]
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(X, Y, strict=True):
        trainer.append(x, y)
    exact = {"max_iterations": 3000, "epsilon": 1e-9, "delta": 1e-12}
    every = {"feature.possible_states": 1, "feature.possible_transitions": 1}
    trainer.set_params({"c2": 0.5, **exact, **every})
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    info = tagger.info()
    crf = ConditionalRandomField(C=1.0, tol=1e-8, max_iter=3000).fit(X, Y)
    assert crf.feature_names_in_.tolist() == sorted(info.attributes)
    # CRFsuite stops where its objective rests, and stores its weights with fewer digits.
    for label, features in crf.top_features(len(crf.feature_names_in_)).items():
        theirs = [info.state_features.get((name, label), 0.0) for name, _ in features]
        np.testing.assert_allclose([weight for _, weight in features], theirs, atol=1e-3)
    for before, after, weight in crf.top_transitions(100):
        assert weight == pytest.approx(info.transitions[before, after], abs=1e-3)
    assert [labels.tolist() for labels in crf.predict(X)] == [tagger.tag(x) for x in X]
