"""Sums by label in one pass over the rows, and sums of table lookups of categories: native/counts.hpp."""

from .native import loops

add_by_label = loops.counts.add_by_label
add_above_by_label = loops.counts.add_above_by_label
add_squares_by_label = loops.counts.add_squares_by_label
add_sparse_by_label = loops.counts.add_sparse_by_label
largest = loops.counts.largest
add_categories_by_label = loops.counts.add_categories_by_label
look_up = loops.counts.look_up
