"""The nearest rows of queries, by comparison with all rows and by a k-d tree: native/neighbors.hpp."""

from .native import loops

distances_of = loops.neighbors.distances_of
nearest_of_all = loops.neighbors.nearest_of_all
nearest_of_products = loops.neighbors.nearest_of_products
build_tree = loops.neighbors.build_tree
nearest_in_tree = loops.neighbors.nearest_in_tree
