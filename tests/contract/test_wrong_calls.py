"""Wrong calls: each is answered in scikit-learn's words, or by what came and the call to make.

The table says, for each kind of wrong call, what the message of every estimator must contain.
`python -m tests.contract.test_wrong_calls` prints all messages.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from suffice.preprocessing import DatetimeEncoder, OneHotEncoder, OrdinalEncoder, TargetEncoder

from ..laws.registry import COMMON, Variant, fit, has_options

Call = Callable[[Variant, Any, Any], Any]
DEFAULT = [v for v in COMMON if not has_options(v)]
ROWS = [v for v in DEFAULT if v.takes in ("rows", "curve", "kernel")]
OTHERS = [v for v in DEFAULT if v.takes in ("sequences", "documents", "edges")]


@cache
def small(variant: Variant) -> tuple[Any, Any, Any]:
    """Data of a variant, and the variant fitted to it."""
    X, y = variant.data(60)
    return X, y, fit(variant.make(max_iter=5), X, y)


def fits(change: Callable[[Any, Any], tuple[Any, ...]], **how: Any) -> Call:
    """A fit to changed data."""
    return lambda v, X, y: v.make().fit(*change(X, y), **how)


def asks(change: Callable[[Any], Any]) -> Call:
    """A prediction, or another answer, for changed rows of a fitted estimator."""

    return lambda v, X, y: answer_of(small(v)[2])(change(X))


def answer_of(model: Any) -> Any:
    """A method that answers for rows."""
    names = ("predict", "transform", "score_samples", "kneighbors")
    return next(getattr(model, n) for n in names if hasattr(model, n))


def before_fit(v: Variant, X: Any, y: Any) -> Any:
    return answer_of(v.make())(X)


def with_value(value: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    def change(X: Any, y: Any) -> tuple[Any, Any]:
        X = np.array(X, dtype=object if isinstance(value, str) else np.float64)
        X[3, 1 % X.shape[1]] = value
        return X, y

    return change


def frame(X: Any, letters: str = "abcdefghijklmnopqrstuvwxyz") -> pd.DataFrame:
    return pd.DataFrame(np.asarray(X), columns=list(letters[: X.shape[1]]))


def renamed(v: Variant, X: Any, y: Any) -> Any:
    model = fit(v.make(max_iter=5), frame(X), y)
    return answer_of(model)(frame(X, "zyxwvutsrqponmlkjihgfedcba"))


def is_supervised(v: Variant) -> bool:
    return v.kind in ("classifier", "regressor")


def everyone(v: Variant) -> bool:
    return True


def of_numbers(v: Variant) -> bool:
    return not v.tags.string


# By kind: the call, what its message must have, and of which estimators it is asked.
WRONG: dict[str, tuple[Call, str, Callable[[Variant], bool]]] = {
    "one axis": (
        fits(lambda X, y: (np.asarray(X)[:, 0], y)),
        "Expected 2D array, got 1D array",
        everyone,
    ),
    "a number": (fits(lambda X, y: (3.0, y)), "Expected 2D array, got scalar", everyone),
    "three axes": (
        fits(lambda X, y: (np.asarray(X)[:, :, None], y)),
        "expected <= 2|with dim 3",
        everyone,
    ),
    "no rows": (
        fits(lambda X, y: (X[:0], y[:0] if y is not None else None)),
        r"0 sample\(s\)",
        everyone,
    ),
    "no columns": (fits(lambda X, y: (np.empty((60, 0)), y)), r"0 feature\(s\)", everyone),
    "no target": (fits(lambda X, y: (X,)), "requires y to be passed", is_supervised),
    "targets of other rows": (
        fits(lambda X, y: (X, y[:-1])),
        "inconsistent numbers of samples",
        is_supervised,
    ),
    "a missing target": (
        fits(lambda X, y: (X, np.where(np.arange(60) == 3, np.nan, np.arange(60.0)))),
        "y contains NaN|y contains NaN, None or NA",
        lambda v: v.kind == "regressor",
    ),
    "a missing value": (
        fits(with_value(np.nan)),
        "X contains NaN",
        lambda v: of_numbers(v) and not v.tags.allow_nan,
    ),
    "infinity": (fits(with_value(np.inf)), "X contains infinity", of_numbers),
    "a string": (
        fits(with_value("red")),
        r"takes numbers, and X has 'red'|could not convert string",
        of_numbers,
    ),
    "complex numbers": (
        fits(lambda X, y: (np.asarray(X) * 1j, y)),
        "[Cc]omplex data not supported",
        of_numbers,
    ),
    "sparse rows": (
        fits(lambda X, y: (sp.csr_array(X), y)),
        "Sparse data was passed.*toarray|sparse",
        lambda v: of_numbers(v) and not v.tags.sparse,
    ),
    "weights of other rows": (
        fits(lambda X, y: (X, y), sample_weight=np.ones(7)),
        r"sample_weight.*7|inconsistent numbers of samples",
        everyone,
    ),
    "a negative weight": (
        fits(lambda X, y: (X, y), sample_weight=-np.ones(60)),
        "sample_weight.*negative|[Nn]egative.*sample_weight",
        everyone,
    ),
    "a path": (fits(lambda X, y: ("rows.parquet", y)), r"scan_parquet\(", everyone),
    "not fitted": (before_fit, "is not fitted yet", everyone),
    "other features": (
        asks(lambda X: np.asarray(X)[:, :-1]),
        r"X has \d+ features, but \w+ is expecting \d+ features|0 feature\(s\)",
        everyone,
    ),
    "other names": (renamed, "feature names should match|The columns are .*was fitted with", of_numbers),
    "an unknown parameter": (
        lambda v, X, y: type(v.estimator)(**{"n_componentz": 3}),
        "unexpected keyword argument 'n_componentz'",
        everyone,
    ),
}


# The same, of estimators that take sequences, documents or links.
WRONG_OF_OTHERS = {
    "a number": "Expected 2D array, got scalar|takes links, and got float: pass|raw text documents expected",
    "a path": r"scan_parquet\(|string object received: pass \[text\]",
    "no target": "requires y to be passed",
    "targets of other rows": "X has 60 sequences, but y has 59",
    "weights of other rows": r"\(7,\), expected \(60,\)",
    "a negative weight": "Negative values in data passed to `sample_weight`",
    "not fitted": "is not fitted yet",
    "an unknown parameter": "unexpected keyword argument 'n_componentz': (use|the parameters are)",
}


def answered(kind: str, variant: Variant) -> str:
    """The message of a wrong call, with its type; empty if nothing is said."""
    call, _, _ = WRONG[kind]
    X, y, _ = small(variant)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(variant, X, y)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def asked(kind: str, variants: list[Variant] = ROWS) -> list[Variant]:
    wanted = WRONG[kind][2]
    return [v for v in variants if wanted(v) and not ("weight" in kind and not takes_weights(v))]


def takes_weights(v: Variant) -> bool:
    return "sample_weight" in inspect.signature(v.estimator.fit).parameters


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_calls(kind):
    said = WRONG[kind][1]
    found = {v.name: answered(kind, v) for v in asked(kind)}
    assert len(found) > 5
    must_say(said, found)


def must_say(said: str, found: dict[str, str]) -> None:
    unclear = {name: message for name, message in found.items() if not re.search(said, message, re.DOTALL)}
    assert not unclear, "\n".join(f"{name}: {message[:300]!r}" for name, message in unclear.items())


@pytest.mark.parametrize("kind", WRONG_OF_OTHERS)
def test_wrong_calls_of_sequences_documents_and_links(kind):
    stateless = kind == "not fitted" or "weight" in kind  # is HashingVectorizer, which ignores weights
    found = {
        v.name: answered(kind, v)
        for v in asked(kind, OTHERS)
        if not (stateless and v.name == "HashingVectorizer")
        and not (kind == "not fitted" and v.takes == "edges")  # has no method that answers for rows
    }
    assert len(found) > 3
    must_say(WRONG_OF_OTHERS[kind], found)


# The same, of encoders: those of categories, to which the laws do not apply, and that of times.
ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder, DatetimeEncoder)
EncoderCall = Callable[[Any, np.ndarray, np.ndarray], Any]
WRONG_OF_ENCODERS: dict[str, tuple[EncoderCall, str]] = {
    "one axis": (lambda e, X, y: e.fit(X[:, 0], y), "Expected 2D array, got 1D array"),
    "a number": (
        lambda e, X, y: e.fit(3.0, y),
        "Expected 2D array, got scalar|Expected sequence or array-like, got <class 'float'>",
    ),
    "three axes": (lambda e, X, y: e.fit(X[:, :, None], y), "Found array with dim 3"),
    "no rows": (lambda e, X, y: e.fit(X[:0], y[:0]), r"0 sample\(s\)"),
    "no columns": (lambda e, X, y: e.fit(X[:, :0], y), r"0 feature\(s\)"),
    "no target": (lambda e, X, y: e.fit(X), "requires y to be passed"),
    "targets of other rows": (lambda e, X, y: e.fit(X, y[:-1]), "inconsistent numbers of samples"),
    "a missing target": (lambda e, X, y: e.fit(X, np.append(y[:-1], np.nan)), "y contains NaN"),
    "infinity": (lambda e, X, y: e.fit(np.full((60, 2), np.inf), y), "contains infinity|takes dates"),
    "complex numbers": (lambda e, X, y: e.fit(np.full((60, 2), 1j), y), "Complex data not supported"),
    "sparse rows": (lambda e, X, y: e.fit(sp.csr_array(np.eye(60)), y), "Sparse data was passed.*toarray"),
    "weights of other rows": (lambda e, X, y: e.fit(X, y, sample_weight=np.ones(7)), r"\(7,\), expected"),
    "a path": (lambda e, X, y: e.fit("rows.parquet", y), r"suffice\.scan_parquet\('rows\.parquet'\)"),
    "not fitted": (lambda e, X, y: e.transform(X), "is not fitted yet"),
    "other features": (
        lambda e, X, y: e.fit(X, y).transform(X[:, :1]),
        r"X has 1 features, but \w+ is expecting 2 features",
    ),
    "other names": (
        lambda e, X, y: e.fit(frame(X), y).transform(frame(X, "zy")),
        "feature names should match",
    ),
    "an unknown parameter": (
        lambda e, X, y: type(e)(n_componentz=3),
        "unexpected keyword argument 'n_componentz': the parameters are",
    ),
    "another category": (
        lambda e, X, y: e.fit(X, y).transform(np.array([["red", "blue"]], dtype=object)),
        "Found unknown categories|takes dates or timestamps, as '2024.*pandas.to_datetime",
    ),
    "numbers in place of strings": (
        lambda e, X, y: e.fit(X, y).transform(np.array([[1.0, 2.0]])),
        r"fitted to columns of \['strings', 'strings'\].*X.astype\(str\)|takes dates or timestamps",
    ),
}
OF_TARGETS = {"no target", "targets of other rows", "a missing target"}


@pytest.mark.parametrize("kind", WRONG_OF_ENCODERS)
def test_wrong_calls_of_encoders(kind):
    call, said = WRONG_OF_ENCODERS[kind]
    of_classes = np.resize(np.array([["a", "x"], ["b", "y"], ["c", "x"]], dtype=object), (60, 2))
    of_times = np.resize(np.arange(20).astype("datetime64[h]"), (60, 2))
    found = {}
    for cls in ENCODERS:
        ignores_target = cls is not TargetEncoder and kind in OF_TARGETS
        takes_any = (cls is TargetEncoder and kind == "another category") or (
            cls is DatetimeEncoder and "weights" in kind
        )
        if not ignores_target and not takes_any:
            X = of_times if cls is DatetimeEncoder else of_classes
            with warnings.catch_warnings(), pytest.raises((TypeError, ValueError)) as error:
                warnings.simplefilter("ignore")
                call(cls(), X, np.arange(60.0))
            found[cls.__name__] = str(error.value)
    must_say(said, found)


if __name__ == "__main__":
    for kind in WRONG:
        print(f"\n# {kind}")
        for variant in asked(kind):
            print(f"{variant.name}: {answered(kind, variant)[:300]}")
