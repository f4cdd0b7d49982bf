"""Sums of products in double-double precision: native/twofold.hpp."""

from .native import loops

add_normal_residual = loops.twofold.add_normal_residual
add_sparse_normal_residual = loops.twofold.add_sparse_normal_residual
