"""The law of honest convergence: on rows that are shifted and scaled, an iterative fit ends at the optimum of
the standardised rows, or `converged_` is False.

Each estimator is compared by what a shift or a scale of its features leaves as it is: probabilities, labels,
predictions. Penalties are none, or matched to the scale. What has converged by being right about every row is
looked at as that.
"""

from __future__ import annotations

SHIFTS = (0.0, 1e2, 1e4, 1e6, 1e8)  # in deviations
SCALES = (1e-6, 1e-3, 1.0, 1e3, 1e6)
SAMPLE = ((1e2, 1.0), (1e4, 1e3), (1e5, 1.0), (1e8, 1.0), (0.0, 1e-6), (0.0, 1e6), (1e8, 1e-6))
