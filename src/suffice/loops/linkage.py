"""Merges of hierarchical clustering: native/linkage.hpp."""

from .native import loops

ward_chain = loops.linkage.ward_chain
centroid_merges = loops.linkage.centroid_merges
spanning_tree = loops.linkage.spanning_tree
matrix_chain = loops.linkage.matrix_chain
