"""Margins of separating hyperplanes."""

from .margins import (
    hyperplane_distance,
    hyperplane_projection,
    is_linearly_separable,
    margin,
    novikoff_bound,
)

__all__ = [
    "hyperplane_distance",
    "hyperplane_projection",
    "is_linearly_separable",
    "margin",
    "novikoff_bound",
]
