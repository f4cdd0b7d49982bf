"""Histograms of gradients and curvatures, and the splits of Newton trees: native/boosting.hpp.

`ensemble/newton.py` derives the gain of a split.
"""

from __future__ import annotations

from .native import loops

CURVATURE_LANE = 32  # bits of the lower lane, the curvature; the gradient has the others
COUNT_LANE = 13  # if the curvature is the weight, and so a count
WEIGHT_IS_CURVATURE, WEIGHT_IS_COLUMN, WEIGHT_IS_COUNTED = range(3)  # where the weight of a bin is found
BINS = 256

add_entries = loops.boosting.add_entries
pack = loops.boosting.pack
add_to_rows = loops.boosting.add_to_rows
find_newton_split = loops.boosting.find_newton_split
grow_newton = loops.boosting.grow_newton


def value_of(g: float, h: float, penalty: float, low: float, high: float) -> float:
    """The value of a leaf with these sums, within bounds."""
    return min(max(-g / (h + penalty), low), high)
