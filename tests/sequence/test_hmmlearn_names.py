"""Hidden Markov models as hmmlearn's users call them: strings, means_, covars_, decode."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Categorical
from suffice.sequence import HiddenMarkovModel
from suffice.sequence.hidden_markov import HiddenMarkov

DAYS = [["walk", "walk", "shop", "clean", "clean", "shop"], ["clean", "shop", "walk"], ["walk", "walk"]]
NUMBERS = {"clean": 0.0, "shop": 1.0, "walk": 2.0}
CODES = [np.array([[NUMBERS[day]] for day in days]) for days in DAYS]


def model(**options):
    return HiddenMarkovModel(2, emission="categorical", alpha=0.1, random_state=0, **options)


def test_strings_are_categories():
    found, expected = model().fit(DAYS), model().fit(CODES)
    np.testing.assert_array_equal(found.transmat_, expected.transmat_)
    assert found.model_.emission.values[0].tolist() == ["clean", "shop", "walk"]
    assert found.statistics_.emission.values[0].tolist() == ["clean", "shop", "walk"]
    np.testing.assert_array_equal(
        found.model_.emission.probability[0], expected.model_.emission.probability[0]
    )
    for ours, theirs in zip(found.predict_proba(DAYS), expected.predict_proba(CODES), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert found.score(DAYS) == pytest.approx(expected.score(CODES))
    assert found.log_likelihood(DAYS).shape == (3,)
    assert set(found.sample(20)[0].ravel()) <= set(NUMBERS)
    assert found.stream().update("walk") == pytest.approx(found.filter(["walk"])[0])


def test_containers_of_strings():
    expected = model().fit(DAYS).transmat_
    rows = [day for days in DAYS for day in days]
    ids = np.repeat([0, 1, 2], [6, 3, 2])
    column = np.array(rows, dtype=object)[:, None]
    frame = suffice.sequences(pd.DataFrame({"id": ids, "day": rows}), sequence="id", features=["day"])
    for given in (
        model().fit([np.array(days) for days in DAYS]),
        model().fit([np.array(days)[:, None] for days in DAYS]),
        model().fit([[[day] for day in days] for days in DAYS]),
        model().fit(rows, groups=ids),
        model().fit(np.array(rows), groups=ids),
        model().fit(column, groups=ids),
        model().fit(frame),
    ):
        np.testing.assert_array_equal(given.transmat_, expected)
    listed = model().fit(DAYS)
    assert listed.predict(DAYS[0]).shape == (6,)
    assert [path.shape for path in listed.predict([*DAYS, []])] == [(6,), (3,), (2,), (0,)]


def test_missing_and_unknown_strings_are_not_observed(tmp_path):
    fitted = model().fit([*DAYS, ["shop", None, "walk"]])
    for step in (None, "swim"):
        np.testing.assert_allclose(
            fitted.predict_proba(["walk", step, "walk"]), fitted.predict_proba(["walk", None, "walk"])
        )
    fitted.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.log_likelihood(DAYS).tolist() == fitted.log_likelihood(DAYS).tolist()


def test_strings_beside_numbers_and_in_later_batches():
    X = [np.array([["a", 1.0], ["b", 5.0], ["a", 1.2], [None, 5.1]], dtype=object) for _ in range(3)]
    mixed = HiddenMarkovModel(2, emission=["categorical", "gaussian"], alpha=0.1, random_state=0).fit(X)
    states = mixed.predict(X[0])
    assert states[0] == states[2] != states[1] == states[3]
    learning = model().partial_fit(DAYS[:2]).partial_fit(DAYS[1:])
    assert learning.n_updates_ == 2
    assert learning.model_.emission.values[0].tolist() == ["clean", "shop", "walk"]
    start = Categorical(
        (np.array(["clean", "shop", "walk"]),), (np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]),)
    )
    first = HiddenMarkov(np.full(2, 0.5), np.full((2, 2), 0.5), start)
    assert model(init_params=first, max_iter=200).fit(DAYS).converged_
    assert HiddenMarkovModel(2, emission=start, max_iter=200).fit(DAYS).predict(DAYS)[2].tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_means_and_covariances_have_the_names_and_shapes_of_hmmlearn(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 5.0 * (np.arange(200) // 20 % 2)[:, None]
    fitted = HiddenMarkovModel(2, covariance_type=kind, random_state=0).fit(X)
    assert fitted.means_.shape == (2, 3)
    assert fitted.covars_.shape == (2, 3, 3)
    states, mean = fitted.predict(X), fitted.means_[0]
    np.testing.assert_allclose(X[states == 0].mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.diagonal(fitted.covars_, axis1=1, axis2=2), 1.0, atol=0.4)
    mixed = HiddenMarkovModel(2, covariance_type=kind, n_mix=2, max_iter=1000, random_state=0).fit(X)
    assert mixed.means_.shape == (2, 2, 3)
    assert mixed.covars_.shape == (2, 2, 3, 3)


def test_other_emissions_have_no_means():
    assert not hasattr(HiddenMarkovModel(2), "means_")
    with pytest.raises(AttributeError, match="Gaussian emission"):
        model().fit(DAYS).means_  # noqa: B018


def test_decode_returns_the_log_probability_and_the_path():
    fitted = model().fit(DAYS)
    log_probability, states = fitted.decode(DAYS)
    total = 0.0
    for days, path, predicted in zip(DAYS, states, fitted.predict(DAYS), strict=True):
        np.testing.assert_array_equal(path, predicted)
        p = fitted.startprob_[path[0]]
        for n, day in enumerate(days):
            p *= fitted.transmat_[path[n - 1], path[n]] if n else 1.0
            p *= fitted.model_.emission.probability[0][path[n], sorted(NUMBERS).index(day)]
        total += np.log(p)
    assert log_probability == pytest.approx(total)
    assert fitted.decode(DAYS[0])[1].tolist() == states[0].tolist()
