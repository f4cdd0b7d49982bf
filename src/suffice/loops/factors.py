"""Updates of the rows of non-negative factors: native/factors.hpp."""

from .native import loops

coordinate_sweeps = loops.factors.coordinate_sweeps
divergence_updates = loops.factors.divergence_updates
ratios = loops.factors.ratios
