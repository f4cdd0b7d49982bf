"""Statistics that many methods sum: moments, counts, losses, samples."""

from .bins import FeatureBins, FeatureValues
from .factor import Factor, factor
from .histograms import Binned, Histograms
from .margin_loss import best_score, margin_loss
from .moments import Description, Moments, describe, grouped_moments, moments, moments_by_label
from .normal_residual import NormalResidual, normal_residual
from .objective import Objective
from .quantile_sketch import QuantileSketch, quantile_sketch, sparse_columns
from .sums import (
    CategoryCounts,
    Distinct,
    Extremes,
    Totals,
    afford_classes,
    category_codes,
    class_codes,
    class_counts,
    class_totals,
    class_weights,
    classes_of,
    count_categories,
    count_categories_by_label,
    distinct,
    distinct_targets,
    extremes,
    totals,
    totals_by_label,
    weights_of_classes,
)

__all__ = [
    "Binned",
    "CategoryCounts",
    "Description",
    "Distinct",
    "Extremes",
    "Factor",
    "FeatureBins",
    "FeatureValues",
    "Histograms",
    "Moments",
    "NormalResidual",
    "Objective",
    "QuantileSketch",
    "Totals",
    "afford_classes",
    "best_score",
    "category_codes",
    "class_codes",
    "class_counts",
    "class_totals",
    "class_weights",
    "classes_of",
    "count_categories",
    "count_categories_by_label",
    "describe",
    "distinct",
    "distinct_targets",
    "extremes",
    "factor",
    "grouped_moments",
    "margin_loss",
    "moments",
    "moments_by_label",
    "normal_residual",
    "quantile_sketch",
    "sparse_columns",
    "totals",
    "totals_by_label",
    "weights_of_classes",
]
