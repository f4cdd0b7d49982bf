"""Chunks (labelled spans of steps) and their precision, recall and F1. Li ch. 1, 1.8.2.

Ramshaw and Marcus, "Text chunking using transformation-based learning", 1995; Tjong Kim Sang and Buchholz,
"Introduction to the CoNLL-2000 shared task", 2000, whose evaluation the scores follow.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from ..core.arguments import MaybeArray
from ..core.blocks import offsets
from ..inputs.sequences import runs

LETTERS = {"iob1": "BIO", "iob2": "BIO", "iobes": "BIESO"}


class Chunk(NamedTuple):
    """A chunk: steps `start` (included) to `stop` (excluded) of a sequence, and its type."""

    sequence: int
    start: int
    stop: int
    type: str


def chunks(
    labels: Any, groups: MaybeArray = None, *, scheme: str = "iob2", strict: bool = False
) -> list[Chunk]:
    """Extract chunks from the labels of steps.

    A label is `O` (outside of all chunks), or a letter and an optional type, such as `B-PER`. A chunk begins
    at `B` and `S`, and where a label cannot continue the previous chunk: after `O`, `E` or `S`, and at
    another type. It ends before the next chunk, before `O`, and with `E` and `S`.

    Parameters
    ----------
    labels : list of arrays or lists, column of lists, or array of str
        Labels of each sequence; or an array of the labels of one sequence, or of several by `groups`.
    groups : array, default=None
        Sequence id of each step. The steps of a sequence must be contiguous.
    scheme : {'iob2', 'iob1', 'iobes'}, default='iob2'
        Tagging scheme. In 'iob2' all chunks begin with `B` and continue with `I`. In 'iob1' they begin with
        `B` only right after another chunk of their type. In 'iobes' the last step of a chunk has `E`, and a
        chunk of one step has `S`.
    strict : bool, default=False
        Whether to ignore chunks whose labels violate the scheme. If False, they are read leniently, as in the
        CoNLL evaluation.

    Returns
    -------
    list of Chunk
        Named tuples `(sequence, start, stop, type)`, in order. Steps and sequences are counted from 0.

    Examples
    --------
    >>> from suffice.sequence import chunks
    >>> for chunk in chunks(["B-PER", "I-PER", "O", "B-LOC"]):
    ...     print(chunk)
    Chunk(sequence=0, start=0, stop=2, type='PER')
    Chunk(sequence=0, start=3, stop=4, type='LOC')
    >>> chunks([["O", "I"], ["B", "E", "S"]], scheme="iobes", strict=True)
    [Chunk(sequence=1, start=0, stop=2, type=''), Chunk(sequence=1, start=2, stop=3, type='')]
    """
    return _found(*_flat(labels, groups), scheme, strict)


@dataclass(frozen=True)
class ChunkScore:
    """Numbers of predicted, true and correct chunks. The type and both ends of a correct chunk are right."""

    n_correct: int
    n_predicted: int
    n_true: int

    @property
    def precision(self) -> float:
        """Precision: the fraction of predicted chunks that are correct; 0 if none was predicted."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Recall: the fraction of true chunks that were predicted; 0 if there are none."""
        return self.n_correct / self.n_true if self.n_true else 0.0

    @property
    def f1(self) -> float:
        """F1: the harmonic mean of precision and recall; 0 if none is correct."""
        return 2.0 * self.n_correct / (self.n_predicted + self.n_true) if self.n_correct else 0.0


@dataclass(frozen=True)
class ChunkScores(ChunkScore):
    """Scores over all chunks, and by type in `by_type`. Its string is a table."""

    by_type: dict[str, ChunkScore]

    def __str__(self) -> str:
        rows = [*self.by_type.items(), ("all", self)]
        width = max(len(name) for name, _ in rows)
        lines = [f"{'':{width}}  precision  recall      f1    true   found"]
        for name, s in rows:
            shares = f"{s.precision:9.3f}  {s.recall:6.3f}  {s.f1:6.3f}"
            lines.append(f"{name:{width}}  {shares}  {s.n_true:6d}  {s.n_predicted:6d}")
        return "\n".join(lines)


def chunk_scores(
    y_true: Any, y_pred: Any, groups: MaybeArray = None, *, scheme: str = "iob2", strict: bool = False
) -> ChunkScores:
    """Precision, recall and F1 of chunks, overall and by type.

    A chunk is correct only if its type and both its ends are right.

    Parameters
    ----------
    y_true, y_pred : list of arrays or lists, column of lists, or array of str
        True and predicted labels, as in `chunks`.
    groups : array, default=None
        Sequence id of each step. The steps of a sequence must be contiguous.
    scheme : {'iob2', 'iob1', 'iobes'}, default='iob2'
        Tagging scheme; see `chunks`.
    strict : bool, default=False
        Whether to ignore chunks whose labels violate the scheme.

    Returns
    -------
    ChunkScores
        With `precision`, `recall`, `f1`, the counts `right`, `found` and `true`, and `by_type`.

    Examples
    --------
    >>> from suffice.sequence import chunk_scores
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", "I-LOC"]]
    >>> y_pred = [["B-PER", "I-PER", "O", "B-PER"], ["B-LOC", "O"]]
    >>> scores = chunk_scores(y_true, y_pred)
    >>> scores.f1 == 1 / 3
    True
    >>> print(scores)
         precision  recall      f1    true   found
    LOC      0.000   0.000   0.000       2       1
    PER      0.500   1.000   0.667       1       2
    all      0.333   0.333   0.333       3       3
    """
    (true_labels, offset), (predicted_labels, other) = _flat(y_true, groups), _flat(y_pred, groups)
    if not np.array_equal(offset, other):
        raise ValueError(
            f"y_true has sequences of lengths {_short(np.diff(offset))} and y_pred of "
            f"{_short(np.diff(other))}: pass one label per step in both."
        )
    true, predicted = (_found(labels, offset, scheme, strict) for labels in (true_labels, predicted_labels))
    right = Counter(chunk.type for chunk in set(true) & set(predicted))
    of_true, of_found = Counter(c.type for c in true), Counter(c.type for c in predicted)
    types = sorted(of_true | of_found)
    by_type = {name: ChunkScore(right[name], of_found[name], of_true[name]) for name in types}
    return ChunkScores(right.total(), len(predicted), len(true), by_type)


def _flat(labels: Any, groups: MaybeArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the concatenated labels, and the offsets of the sequences."""
    if hasattr(labels, "to_pylist"):  # an Arrow column
        labels = labels.to_pylist()
    if getattr(labels, "ndim", 1) == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels)
    labels = list(labels)  # also for a column of lists of NumPy, pandas or Polars
    depths = {_depth(part) for part in labels}
    if depths - {0, 1} or len(depths) > 1:
        raise ValueError(
            "Labels are an array of strings, or a list of such arrays, one per sequence; got lists nested "
            f"{max(depths) + 1} deep{', beside labels' if 0 in depths else ''}: pass e.g. "
            '[["B-PER", "O"], ["O"]].'
        )
    if depths != {0}:
        if groups is not None:
            raise ValueError("A list of sequences needs no groups: pass one or the other.")
        parts = [np.asarray(part, dtype=str) for part in labels]
        return np.concatenate([*parts, np.array([], dtype=str)]), offsets([len(part) for part in parts])
    flat = column_or_1d(np.asarray(labels, dtype=str))
    if groups is None:
        return flat, offsets([len(flat)])
    check_consistent_length(flat, groups)
    return flat, np.append(runs(column_or_1d(groups), "groups")[0], len(flat))


def _depth(labels: Any) -> int:
    """Return the depth of nested lists: 0 for a label."""
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        return 0
    return 1 + max((_depth(part) for part in labels), default=0)


def _found(labels: np.ndarray, offset: np.ndarray, scheme: str, strict: bool) -> list[Chunk]:
    if scheme not in LETTERS:
        raise ValueError(f"scheme={scheme!r} is unknown: use one of {list(LETTERS)}.")
    names, code = np.unique(labels, return_inverse=True)
    parts = [name.partition("-")[::2] for name in names.tolist()]
    for name, (letter, _) in zip(names.tolist(), parts, strict=True):
        if letter not in LETTERS[scheme] or not letter or (letter == "O" and name != "O"):
            begins = ", ".join(f"{letter}-type" for letter in LETTERS[scheme][:-1])
            raise ValueError(f"The label {name!r} is none of scheme={scheme!r}, which has {begins} and O.")
    letter = np.array([letter for letter, _ in parts] or ["O"])[code]
    types, kind = np.unique([kind for _, kind in parts] or [""], return_inverse=True)
    kind = kind[code]

    first = np.zeros(len(labels) + 1, bool)
    first[offset] = True
    before, same = np.roll(letter, 1), np.roll(kind, 1) == kind
    within = letter != "O"
    goes_on = ~first[:-1] & within & same & np.isin(letter, ["I", "E"]) & np.isin(before, ["B", "I"])
    start = np.flatnonzero(within & ~goes_on)
    # The length of a chunk is one plus the number of steps that continue it.
    stop = np.searchsorted(np.flatnonzero(goes_on), start, side="left")
    stop = start + 1 + np.diff(np.append(stop, goes_on.sum()))
    if strict:
        as_is = _as_written(letter, before, same & ~first[:-1], start, stop, scheme)
        start, stop = start[as_is], stop[as_is]
    sequence = np.searchsorted(offset, start, side="right") - 1
    place = offset[sequence]
    columns = (sequence, start - place, stop - place, types[kind[start]])
    return [Chunk(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _as_written(
    letter: np.ndarray, before: np.ndarray, same: np.ndarray, start: np.ndarray, stop: np.ndarray, scheme: str
) -> np.ndarray:
    """Whether the letters of each chunk follow the scheme."""
    begins = letter[start] == "B"
    if scheme == "iob1":
        return begins == (same[start] & (before[start] != "O"))
    if scheme == "iob2":
        return begins
    return np.where(stop - start == 1, letter[start] == "S", begins & (letter[stop - 1] == "E"))


def _short(lengths: np.ndarray) -> str:
    return str(lengths.tolist() if len(lengths) < 9 else [*lengths[:8].tolist(), "..."])
