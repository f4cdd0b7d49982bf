"""Sparse rows in files: damaged ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from suffice.core.storage import StorageError, load_value, save_value
from suffice.kernels import vectors

RNG = np.random.default_rng(0)

X = RNG.normal(size=(120, 5))

X[np.abs(X) < 0.8] = 0.0


@pytest.fixture(autouse=True)
def rows_stay_sparse(request, monkeypatch):
    if "few" not in request.node.name:
        monkeypatch.setattr(vectors, "SMALL", 0)


@pytest.mark.parametrize("damage", ["indices", "indptr", "data"])
def test_damaged_files_are_refused(damage, tmp_path):
    rows = sp.csr_array(np.eye(3))
    save_value(rows, tmp_path / "rows")
    assert_array_equal(load_value(tmp_path / "rows").toarray(), np.eye(3))
    setattr(rows, damage, getattr(rows, damage)[:-1] if damage != "indices" else np.array([0, 1, 7]))
    save_value(rows, tmp_path / "rows")
    with pytest.raises(StorageError):
        load_value(tmp_path / "rows")
