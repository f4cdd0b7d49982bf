"""Chunks against the rules of the schemes, and their scores against counts by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.sequence import Chunk, chunk_scores, chunks

LETTERS = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}


def written(found, n, scheme):
    """The labels that a scheme gives to the chunks of one sequence."""
    out = ["O"] * n
    ends = {}
    for _, start, stop, kind in found:
        for t in range(start, stop):
            out[t] = f"I-{kind}"
        if scheme == "iobes":
            out[start], out[stop - 1] = f"B-{kind}", f"E-{kind}"
            if stop - start == 1:
                out[start] = f"S-{kind}"
        elif scheme == "iob2" or ends.get(start) == kind:
            out[start] = f"B-{kind}"
        ends[stop] = kind
    return out


def drawn(rng, n):
    """Chunks of one sequence, some of them next to each other."""
    at, found = 0, []
    while at < n:
        at += int(rng.integers(0, 3))
        stop = min(n, at + int(rng.integers(1, 4)))
        if at < stop:
            found.append(Chunk(0, at, stop, str(rng.choice(["LOC", "PER"]))))
        at = stop
    return found


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("scheme", LETTERS)
def test_what_a_scheme_writes_is_read(scheme, strict):
    rng = np.random.default_rng(0)
    many, labels = [], []
    for s in range(100):
        n = int(rng.integers(0, 12))
        found = drawn(rng, n)
        many += [chunk._replace(sequence=s) for chunk in found]
        labels.append(written(found, n, scheme))
    assert chunks(labels, scheme=scheme, strict=strict) == many


@pytest.mark.parametrize("scheme", LETTERS)
def test_strict_keeps_what_the_scheme_would_write(scheme):
    """Of any labels: a chunk is kept if writing it again, among all of them, gives the labels it had."""
    rng = np.random.default_rng(1)
    names = ["O"] + [f"{a}-{t}" for a in LETTERS[scheme] for t in ("LOC", "PER")]
    for _ in range(300):
        labels = rng.choice(names, size=8)
        found = chunks(labels, scheme=scheme)
        again = written(found, 8, scheme)
        kept = [c for c in found if again[c.start : c.stop] == labels[c.start : c.stop].tolist()]
        assert chunks(labels, scheme=scheme, strict=True) == kept


def test_labels_that_no_scheme_writes():
    """By hand, from the rules of the CoNLL evaluation."""
    spans = [c[1:] for c in chunks(["I-A", "I-B", "I-B", "O", "I-B", "B-B"])]
    assert spans == [(0, 1, "A"), (1, 3, "B"), (4, 5, "B"), (5, 6, "B")]
    spans = [c[1:3] for c in chunks(["B", "I", "O", "E", "E", "S", "I", "E", "B", "S"], scheme="iobes")]
    assert spans == [(0, 2), (3, 4), (4, 5), (5, 6), (6, 8), (8, 9), (9, 10)]


def test_shapes():
    """Groups are the list; a chunk does not reach into the next sequence; sequences may be empty."""
    parts = [["B-A", "I-A"], ["I-A"], [], ["O", "B-A"]]
    expected = [Chunk(0, 0, 2, "A"), Chunk(1, 0, 1, "A"), Chunk(3, 1, 2, "A")]
    assert chunks(parts) == expected == chunks([np.array(p, dtype=object) for p in parts])
    flat = np.concatenate([p for p in parts if p])
    there = chunks(flat, ["x", "x", "y", "z", "z"])
    assert [c[1:] for c in there] == [c[1:] for c in expected]
    assert [c.sequence for c in there] == [0, 1, 2]
    assert chunks([]) == chunks([[]]) == chunks(np.array([], dtype=str)) == []
    assert chunks(["B-a-b", "I-a-b"]) == [Chunk(0, 0, 2, "a-b")]


def test_scores_by_hand():
    y_true = ["B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "O", "B-PP", "B-NP"]
    y_pred = ["B-NP", "I-NP", "B-VP", "B-NP", "O", "O", "B-NP", "B-NP"]
    scores = chunk_scores(y_true, y_pred)
    assert (scores.n_correct, scores.n_predicted, scores.n_true) == (3, 5, 5)
    assert (scores.precision, scores.recall, scores.f1) == (0.6, 0.6, 0.6)
    noun = scores.by_type["NP"]
    assert (noun.precision, noun.recall) == (0.5, 2 / 3)
    assert noun.f1 == pytest.approx(4 / 7, rel=1e-15)
    nothing = scores.by_type["PP"]
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)
    assert chunk_scores(y_true, y_true).f1 == 1.0
    assert chunk_scores(["O"], ["O"]).f1 == 0.0
    assert str(scores).splitlines()[-1].split() == ["all", "0.600", "0.600", "0.600", "5", "5"]


COLUMN = [["B-PER", "I-PER", "O"], ["B-LOC"]]
OBJECTS = np.empty(2, dtype=object)
OBJECTS[:] = COLUMN


@pytest.mark.parametrize("labels", [OBJECTS, pd.Series(COLUMN), pa.array(COLUMN), pl.Series(COLUMN)])
def test_columns_of_lists(labels):
    assert chunks(labels) == chunks(COLUMN)
    for pair in ((labels, COLUMN), (COLUMN, labels)):
        scores = chunk_scores(*pair)
        assert (scores.f1, scores.n_true) == (1.0, 2)


def test_arrays_of_two_dimensions():
    square = [["B", "I"], ["O", "B"]]
    assert chunks(np.array(square)) == chunks(square)
    assert chunks(np.array([["B"], ["I"]])) == chunks(["B", "I"])  # a column vector is one sequence


@pytest.mark.parametrize("labels", [[COLUMN], [["O"], "B"]])
def test_nested_too_deep(labels):
    with pytest.raises(ValueError, match=r'got lists nested [23] deep.*: pass e.g. \[\["B-PER", "O"\]'):
        chunk_scores(labels, labels)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r"'E-A' is none of scheme='iob2', which has B-type, I-type and O"):
        chunks(["B-A", "E-A"])
    with pytest.raises(ValueError, match="'PER' is none of"):
        chunks(["PER"])
    with pytest.raises(ValueError, match="scheme='bio' is unknown"):
        chunks(["O"], scheme="bio")
    with pytest.raises(ValueError, match=r"y_true has sequences of lengths \[2\] and y_pred of \[1, 1\]"):
        chunk_scores(["O", "O"], [["O"], ["O"]])
    with pytest.raises(ValueError, match="needs no groups"):
        chunks([["O"]], [0])
