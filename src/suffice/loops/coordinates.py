"""Coordinate descent for least squares with an l1 penalty, from the Gram matrix: native/coordinates.hpp."""

from .native import loops

duality_gap = loops.coordinates.duality_gap
descend = loops.coordinates.descend
descend_jointly = loops.coordinates.descend_jointly
