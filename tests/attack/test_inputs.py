"""Hostile inputs end in an answer that is finite, or in an error that says what to do: see `inputs.py`."""

from __future__ import annotations

from collections import Counter

import pytest

from .inputs import HOSTILE, Case, cases, is_expected, judged, report, run, survey

# The whole attack runs by hand, in processes; in the common run, every so many cases of estimators whose fits
# take milliseconds.
QUICK = (
    "LinearRegression",
    "KMeans",
    "GaussianNB",
    "MultinomialNB",
    "PCA",
    "PageRank",
    "CountVectorizer",
    "Ridge",
)
EVERY = 9
MOST_UNCLEAR = 20


def test_a_sample_of_the_attack():
    chosen = [case for case in cases() if case.variant in QUICK][::EVERY]
    assert len(chosen) > 80
    ended = {case: run(case) for case in chosen}
    bad = {case: end for case, end in ended.items() if end[0] not in ("ok", "refused")}
    assert not bad, report(bad)


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_the_attack():
    ended = survey(cases())
    count = Counter(outcome for outcome, _ in ended.values())
    assert sum(count.values()) > 10_000
    said = report(ended)
    assert count["non-finite"] == count["crash"] == count["hang"] == 0, said
    assert count["unclear"] < MOST_UNCLEAR, said


def test_the_judge():
    """An error is clear by its kind and its words; the attack is worth as much as this."""

    def of(error):
        try:
            raise error
        except type(error) as caught:
            return judged(caught)[0]

    assert of(ValueError("Input X contains NaN in row 3, column 'b'.")) == "refused"
    assert of(TypeError("y holds labels of several types")) == "refused"
    for unclear in (
        ValueError("array must not contain infs or NaNs"),
        ValueError("could not convert string to float: 'a'"),
        KeyError("Field 'x0' exists 2 times"),
        IndexError("index 3 is out of bounds for axis 0"),
        AttributeError("'NoneType' object has no attribute 'shape'"),
        ValueError("it does not work"),
    ):
        assert of(unclear) == "unclear", unclear


def test_the_attack_sees_what_is_not_finite(monkeypatch):
    """A planted fault: a centre that is not a number."""
    from suffice.cluster import KMeans

    assert run(Case("KMeans", "clean"))[0] == "ok" and not is_expected("KMeans", ".extra_", False)
    plain = KMeans._fitted
    monkeypatch.setattr(
        KMeans, "_fitted", lambda self, progress: plain(self, progress) | {"extra_": float("nan")}
    )
    assert run(Case("KMeans", "clean")) == ("non-finite", "['.extra_'] []")


def test_inputs_of_every_kind():
    assert all(HOSTILE.values())
    assert {case.input.split("=")[0] for case in cases() if case.variant == "Ridge"} > {
        "cell",
        "pandas",
        "weight",
    }
