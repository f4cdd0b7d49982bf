"""Sums of absolute deviations from the median, of growing sets of rows: native/medians.hpp."""

from .native import loops

median_errors = loops.medians.median_errors
