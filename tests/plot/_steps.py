"""A sequence of steps with the names of their states."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(0)
STATE = np.repeat([0, 1, 0, 2, 1], 8)
X = np.array([0.0, 4.0, 8.0])[STATE, None] + rng.normal(size=(40, 1))
NAME = np.array(["calm", "rain", "storm"])[STATE]
