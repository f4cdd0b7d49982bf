"""What textbooks compute by hand: hyperplanes and margins, one step of SMO, generalization bounds."""

from .bounds import (
    finite_class_bound,
    finite_class_sample_size,
    hoeffding_bound,
    is_shattered,
    margin_bound,
    vc_bound,
    vc_confidence,
)
from .margins import hyperplane_distance, hyperplane_projection, is_linearly_separable, margin, novikoff_bound
from .smo import SMOStep, smo_step

__all__ = [
    "SMOStep",
    "finite_class_bound",
    "finite_class_sample_size",
    "hoeffding_bound",
    "hyperplane_distance",
    "hyperplane_projection",
    "is_linearly_separable",
    "is_shattered",
    "margin",
    "margin_bound",
    "novikoff_bound",
    "smo_step",
    "vc_bound",
    "vc_confidence",
]
