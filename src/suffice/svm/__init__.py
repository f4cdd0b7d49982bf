"""Support vector machines, and margins of separating hyperplanes."""

from .linear import LinearSVC, LinearSVR
from .margins import (
    hyperplane_distance,
    hyperplane_projection,
    is_linearly_separable,
    margin,
    novikoff_bound,
)
from .svc import SVC, KKTReport

__all__ = [
    "SVC",
    "KKTReport",
    "LinearSVC",
    "LinearSVR",
    "hyperplane_distance",
    "hyperplane_projection",
    "is_linearly_separable",
    "margin",
    "novikoff_bound",
]
