"""Sums and differences of vectors of millions of numbers, without copies: native/vectors.hpp."""

from .native import loops

dot = loops.vectors.dot
add_scaled = loops.vectors.add_scaled
