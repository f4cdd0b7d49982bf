"""Rows with many zeros, dense and sparse."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

rng = np.random.default_rng(0)
X = np.where(rng.random((300, 6)) < 0.4, rng.normal(1.0, range(1, 7), size=(300, 6)), 0.0)
SPARSE = sp.csr_array(X)
