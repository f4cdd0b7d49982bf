"""seqeval, which follows the CoNLL evaluation, scores the same chunks the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from suffice.sequence import chunk_scores, chunks

seqeval = pytest.importorskip("seqeval.metrics")
schemes = pytest.importorskip("seqeval.scheme")

# seqeval's strict IOB1 also lets a chunk begin at I of the same type right after B, and is not compared.
CASES = [("iob1", False), ("iob2", False), ("iobes", False), ("iob2", True), ("iobes", True)]


def labels(rng, letters, lengths):
    names = ["O"] + [f"{a}-{t}" for a in letters for t in ("LOC", "ORG", "PER")]
    return [rng.choice(names, size=n).tolist() for n in lengths]


@pytest.mark.parametrize(("scheme", "strict"), CASES)
def test_scores_of_any_labels(scheme, strict):
    rng = np.random.default_rng(0)
    letters = "BIES" if scheme == "iobes" else "BI"
    lengths = rng.integers(1, 15, size=200)
    y_true, y_pred = labels(rng, letters, lengths), labels(rng, letters, lengths)
    y_pred = [p if rng.random() < 0.5 else t for p, t in zip(y_pred, y_true, strict=True)]
    how = {"mode": "strict", "scheme": getattr(schemes, scheme.upper())} if strict else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = seqeval.classification_report(y_true, y_pred, output_dict=True, **how)
    ours = chunk_scores(y_true, y_pred, scheme=scheme, strict=strict)
    assert 0.2 < ours.f1 < 0.9
    for name, score in [*ours.by_type.items(), ("micro avg", ours)]:
        assert theirs[name]["precision"] == pytest.approx(score.precision, rel=1e-15)
        assert theirs[name]["recall"] == pytest.approx(score.recall, rel=1e-15)
        assert theirs[name]["f1-score"] == pytest.approx(score.f1, rel=1e-15)
        assert theirs[name]["support"] == score.n_true


def test_chunks_of_any_labels():
    from seqeval.metrics.sequence_labeling import get_entities

    rng = np.random.default_rng(1)
    for sequence in labels(rng, "BIES", rng.integers(1, 15, size=300)):
        theirs = [(start, stop + 1, kind) for kind, start, stop in get_entities(sequence)]
        assert [chunk[1:] for chunk in chunks(sequence, scheme="iobes")] == theirs
