"""Rows of diabetes with a target, labels and weights."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_diabetes

X, target = (a[:120] for a in load_diabetes(return_X_y=True, scaled=True))
X, target = X / X.std(axis=0), (target - target.mean()) / target.std()
label = (target > 0.3).astype(int)
weight = np.random.default_rng(0).integers(0, 3, len(X))
