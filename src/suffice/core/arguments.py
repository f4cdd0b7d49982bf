"""Types of arguments, as users pass them."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

MaybeArray = ArrayLike | None  # one value for each example or class; None: not given
MaybePath = str | PathLike[str] | None  # `checkpoint`
Seed = int | np.random.RandomState | None  # `random_state`
