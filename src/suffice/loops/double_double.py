"""Double-double arithmetic: numbers as unevaluated sums of two floats, high and low.

Dekker, "A floating-point technique for extending the available precision", 1971; Ogita, Rump and Oishi,
"Accurate sum and dot product", 2005. Arrays of twofold numbers have their high and low parts along the first
axis. `loops.twofold` has the sums over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SPLIT = 134217729.0  # 2^27 + 1: cuts a float into halves of 26 bits, whose products are exact


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded sum, and its rounding error."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded product, and its rounding error."""
    product = a * b
    c, d = SPLIT * a, SPLIT * b
    a_high, b_high = c - (c - a), d - (d - b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def twofold(a: Any) -> np.ndarray:
    """Floats as twofold numbers."""
    return np.array([a, np.zeros_like(a)])


def plus(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sum of twofold numbers."""
    high, low = two_sum(a[0], b[0])
    return np.array(two_sum(high, low + (a[1] + b[1])))


def times(a: np.ndarray, b: Any) -> np.ndarray:
    """Twofold numbers times floats."""
    high, low = two_product(a[0], b)
    return np.array(two_sum(high, low + a[1] * b))


def total(a: np.ndarray) -> np.ndarray:
    """The sum of twofold numbers over their last axis."""
    while (half := a.shape[-1] // 2) > 0:
        pairs = plus(a[..., :half], a[..., half : 2 * half])
        a = np.concatenate([pairs, a[..., 2 * half :]], axis=-1)
    return a[..., 0]
