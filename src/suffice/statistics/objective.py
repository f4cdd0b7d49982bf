"""A loss with its derivatives, summed over the examples. Penalties are added on the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..core.statistics import Statistics


@dataclass(frozen=True, eq=False)
class Objective(Statistics):
    """Loss, gradient and, for Newton's method, Hessian; `weight` is the number of examples."""

    weight: float
    loss: float
    gradient: Annotated[np.ndarray, "(P,)"]
    hessian: Annotated[Any, "number or (P, P)"] = 0.0  # zero if it is not needed
