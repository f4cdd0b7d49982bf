"""Growth of decision trees from integer codes and sums, and their evaluation: native/trees.hpp."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .native import loops

# From SQUARED_ERROR on, sums are a weight and weighted targets. Those of INDICATORS are classes of several
# targets as zeros and ones: the sum of the entropies. That of Gini indices is SQUARED_ERROR.
GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR, POISSON, INDICATORS = range(6)
NO_SPLIT = -1
MISSING_RIGHT, MISSING_LEFT, NONE_MISSING = range(3)


class Features(NamedTuple):
    """What the search of splits knows about D features.

    The bins of feature d are those from offset[d] on, the last of which holds missing values.
    """

    n_bins: np.ndarray  # (D,)
    categorical: np.ndarray  # (D,)
    offset: np.ndarray  # (D + 1,)
    values: np.ndarray  # the smallest value of each bin, if thresholds are drawn at random; else empty


grow = loops.trees.grow
find_split = loops.trees.find_split
preorder = loops.trees.preorder
leaves_of_codes = loops.trees.leaves_of_codes
leaves_by_table = loops.trees.leaves_by_table
leaves_of_rows = loops.trees.leaves_of_rows
add_leaf_values = loops.trees.add_leaf_values
add_histograms = loops.trees.add_histograms


def mixed(key: Any) -> Any:
    """The next number of a sequence of random 64-bit numbers: splitmix64 (Steele, Lea and Flood, 2014)."""
    z = key + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def weight_of(s: np.ndarray, criterion: int) -> np.ndarray:
    """The integer weight of nodes with these sums (..., O)."""
    return s[..., 0] if criterion >= SQUARED_ERROR else s.sum(axis=-1)


def value_of(s: np.ndarray, criterion: int) -> np.ndarray:
    """What a monotonicity constraint orders: the mean target, or the share of the second class."""
    return s[..., 1] / weight_of(s, criterion)
