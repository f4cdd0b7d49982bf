"""Distances from rows to K points, and moments of rows about K points: native/distances.hpp."""

from .native import loops

weighted_sum = loops.distances.weighted_sum
nearest = loops.distances.nearest
nearest_of_many = loops.distances.nearest_of_many
sums_by_label = loops.distances.sums_by_label
nearest_sums = loops.distances.nearest_sums
weighted_distances = loops.distances.weighted_distances
squares_about = loops.distances.squares_about
mahalanobis = loops.distances.mahalanobis
scatters_about = loops.distances.scatters_about
sparse_distances = loops.distances.sparse_distances
sparse_sums_by_label = loops.distances.sparse_sums_by_label
