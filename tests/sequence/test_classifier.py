"""Classes of whole sequences: Bayes' rule over hidden Markov models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.sequence import HiddenMarkovModel, SequenceClassifier


def waves(n=40, seed=0):
    """Sequences that change slowly, and ones that change at each step."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        steps = np.arange(rng.integers(5, 12))
        level = (steps // 3 if i % 2 else steps) % 2
        X.append(level[:, None] * 3.0 + rng.normal(size=(len(steps), 1)) * 0.5)
        y.append("slow" if i % 2 else "quick")
    return X, np.array(y)


def model(**params):
    return SequenceClassifier(HiddenMarkovModel(2, random_state=0, n_init=2), **params)


def test_bayes_rule():
    X, y = waves()
    fitted = model().fit(X, y)
    assert fitted.score(X, y) > 0.95
    joint = fitted.log_likelihood(X) + np.log(fitted.class_prior_)
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    np.testing.assert_allclose(fitted.predict_proba(X), expected, rtol=1e-9)
    alone = [HiddenMarkovModel(2, init_params=m, max_iter=1, tol=0.0) for m in fitted.model_.members]
    for c, member in enumerate(alone):
        with pytest.warns(Warning):
            member.fit(X)
        one = fitted.model_.members[c].chains(X[0]).log_sum[0]
        assert fitted.log_likelihood(X[:1])[0, c] == pytest.approx(one)


def test_threshold_is_of_a_step():
    X, y = waves()
    fitted = model(threshold=-5.0, outlier_label="none").fit(X, y)
    strange = np.full((7, 1), 40.0)
    assert fitted.predict([strange, X[0]]).tolist() == ["none", y[0]]
    assert fitted.predict([np.concatenate([X[0]] * 20)]).tolist() != ["none"]  # long, and likely step by step
    with pytest.raises(ValueError, match="outlier_label"):
        model(threshold=-5.0).fit(X, y).predict(X)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("emission", ["categorical", ["categorical", "gaussian"]])
def test_a_category_of_another_class_speaks_against_this_one(alpha, emission):
    rng = np.random.default_rng(0)
    X = [rng.integers(2, size=(6, 1)) + 2.0 * (i % 2) for i in range(30)]
    if emission != "categorical":
        X = [np.hstack([x, rng.normal(size=(6, 1))]) for x in X]
    y = np.arange(30) % 2
    how = HiddenMarkovModel(2, emission=emission, alpha=alpha, random_state=0)
    fitted = SequenceClassifier(how).fit(X, y)
    assert fitted.score(X, y) == 1.0
    new = X[0].copy()
    new[:, 0] = 9.0  # a category that nobody knows
    assert np.isfinite(fitted.predict_proba([new])).all()


def test_the_order_of_a_table_does_not_matter():
    X, y = waves()
    table = pd.DataFrame(
        {"id": np.repeat(np.arange(len(X)), [len(x) for x in X]), "x": np.concatenate(X)[:, 0]}
    )
    table["t"], table["y"] = table.groupby("id").cumcount(), y[table["id"]]
    mixed = table.sample(frac=1.0, random_state=0)
    described = suffice.sequences(mixed, sequence="id", order="t", features=["x"], target="y")
    fitted = model().fit(described)
    there = model().fit(suffice.sequences(table, sequence="id", order="t", features=["x"], target="y"))
    ask = suffice.sequences(mixed, sequence="id", order="t", features=["x"])
    same = suffice.sequences(table, sequence="id", order="t", features=["x"])
    assert fitted.score(ask, mixed["y"].to_numpy()) == there.score(same, table["y"].to_numpy()) > 0.9
    wrong = mixed.assign(y=["slow", "quick"] * (len(mixed) // 2) + ["slow"] * (len(mixed) % 2))
    with pytest.raises(ValueError, match="differs within a sequence"):
        model().fit(suffice.sequences(wrong, sequence="id", order="t", features=["x"], target="y"))


def test_bad_input_says_what_it_is():
    X, y = waves(8)
    ids = np.repeat(np.arange(8), [len(x) for x in X])
    with pytest.raises(ValueError, match="one is too few"):
        model().fit(np.concatenate(X), np.repeat(y, [len(x) for x in X]))
    with pytest.raises(ValueError, match="one per sequence"):
        model().fit(X, y[:-1])
    with pytest.raises(ValueError, match="classes for 8 sequences"):
        model().fit(np.concatenate(X), np.append(y, y), groups=ids)
    with pytest.raises(ValueError, match="at least 2 classes"):
        model().fit(X, ["same"] * 8)
    with pytest.raises(ValueError, match="sum to one"):
        model(class_prior=[0.5, 5.0]).fit(X, y)
    with pytest.raises(ValueError, match="n_components"):
        SequenceClassifier(HiddenMarkovModel(0)).fit(X, y)


def test_groups_are_the_list():
    X, y = waves()
    ids = np.repeat(np.arange(len(X)), [len(x) for x in X])
    a, b = model().fit(X, y), model().fit(np.concatenate(X), y, groups=ids)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(np.concatenate(X), groups=ids))
    assert a.score(X, y) == b.score(np.concatenate(X), y[ids], groups=ids)


def test_numbers_stay_numbers_beside_an_outlier_label_of_text():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(20, 1)) + shift for shift in (0.0, 5.0, 0.1, 5.1)]
    model = SequenceClassifier(HiddenMarkovModel(1), threshold=-10.0, outlier_label="none").fit(
        X, [1, 2, 1, 2]
    )
    assert model.predict([X[0], X[1] + 1e3]).tolist() == [1, "none"]
