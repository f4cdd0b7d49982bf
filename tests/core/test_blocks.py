"""Blocks of examples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.core.blocks import Rows
from suffice.fitting.linear_algebra import gram


@pytest.mark.parametrize("shift", [0, 4])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_arrays_of_a_message_begin_at_any_byte(shift, form):
    """As Dask sends them: sums have the same bits."""
    X = form(np.random.default_rng(0).normal(size=(500, 20)))
    buffers: list[pickle.PickleBuffer] = []
    message = pickle.dumps(Rows(X), protocol=5, buffer_callback=buffers.append)

    def moved(buffer):
        raw = buffer.raw()
        room = np.empty(len(raw) + 16, np.uint8)
        start = -room.ctypes.data % 8 + shift
        room[start : start + len(raw)] = np.frombuffer(raw, np.uint8)
        return memoryview(room)[start : start + len(raw)]

    found = pickle.loads(message, buffers=list(map(moved, buffers)))
    assert (found.X.data if sp.issparse(X) else found.X).flags.aligned
    assert np.array_equal(gram(found.X, found.weight), gram(X, np.ones(500)))
