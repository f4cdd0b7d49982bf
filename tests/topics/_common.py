"""Counts of words, for the tests of weights and of ranks."""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(0)
X = _rng.poisson(0.4, size=(60, 25)) * _rng.integers(1, 6, size=(60, 25))
X[7] = 0  # a document without words
X[:, 4] = 1 + X[:, 4]  # a word of every document but
X[7, 4] = 0
X[:, 9] = 0  # a word of none
