"""Sequential minimal optimization of a few coefficients of a dual: native/dual.hpp."""

from .native import loops

worst_pair = loops.dual.worst_pair
minimize_pairs = loops.dual.minimize_pairs
add_columns = loops.dual.add_columns
