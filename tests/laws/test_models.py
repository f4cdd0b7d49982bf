"""What holds for the `model_` of every estimator: it is a value that no call changes, it is stored and loaded
alone, and it answers for each row whatever other rows there are.

Every estimator is in the common run with its default options, and with others in the slow suite.
"""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from suffice.core.model import Predictor
from suffice.core.storage import load_value, save_value

from .registry import (
    EVERY,
    _size,
    answers,
    assert_close,
    bits,
    each_variant,
    fit,
    fitted,
    has_options,
    in_one_call,
    parts_of,
)

each_model = each_variant(
    lambda v: not v.exempt("model"),
    takes=(*EVERY, "curve", "documents", "edges", "kernel"),
    slow=has_options,
)
FEW = 5  # rows that are asked for one by one


@each_model
def test_no_call_changes_a_model(variant):
    X, y = variant.data()
    model = pickle.loads(pickle.dumps(fitted(variant)))
    first = model.model_
    before = bits(first)
    assert isinstance(first, Predictor)
    for part in parts_of(first):
        for name, value in part.fields().items():
            with pytest.raises(FrozenInstanceError):
                setattr(part, name, value)
    answers(model, X)
    if hasattr(model, "score") and variant.takes == "rows":
        model.score(X, y)
    if hasattr(model, "partial_fit") and not in_one_call(variant):
        model.partial_fit(X, y)
    if variant.has("warm_start"):
        more = {"n_estimators": model.n_estimators + 1} if variant.has("n_estimators") else {}
        more |= {"oob_score": False} if variant.has("oob_score") else {}  # not with a warm start
        fit(model.set_params(warm_start=True, **more), X, y)
    assert bits(first) == before


@each_model
def test_a_model_is_stored_and_loaded_alone(variant, tmp_path):
    """`load_value` also compares its arrays with the shapes that its class declares."""
    model = fitted(variant).model_
    save_value(model, tmp_path / "model")
    assert bits(load_value(tmp_path / "model")) == bits(model)


@each_model
def test_a_row_is_answered_alone_as_among_others(variant):
    model, (X, _) = fitted(variant), variant.data()
    among = answers(model, X)
    for n in range(FEW) if among else ():
        alone = answers(model, X[n : n + 1])
        assert alone.keys() == among.keys()
        for name, found in alone.items():
            assert len(found) == 1
            expected = among[name][n : n + 1]
            if getattr(found, "dtype", None) == np.float64:
                # Rounding is relative to the largest answer. 1e-12: a linear OneClassSVM answers 1e-4, the
                # sum of terms of 1e3 that cancel.
                atol = 1e-10 * _size(among[name]) + 1e-12
                np.testing.assert_allclose(found, expected, rtol=1e-10, atol=atol, err_msg=name)
            else:
                assert_close(found, expected)


@each_model
def test_no_rows_have_no_answers(variant):
    """They are refused, as by scikit-learn. No documents are counted, there too, as a matrix without rows,
    unless a norm divides it.
    """
    model, (X, _) = fitted(variant), variant.data()
    for name, found in answers(model, X).items():
        method = getattr(model, name)
        if variant.takes == "documents" and getattr(model, "norm", None) is None:
            assert method(X[:0]).shape == (0, *found.shape[1:])
            continue
        with pytest.raises(ValueError, match=r"0 sample\(s\)|There are no sequences"):
            method(X[:0])
