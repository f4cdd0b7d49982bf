"""scikit-learn API: base classes, row-wise methods, scores, and constraints of parameters."""

from importlib import import_module

from ..core.extras import when_imported
from ..inputs import read_rows
from .answers import row_wise
from .base import Estimator, Iterative, OnePass, Updatable
from .scores import Classifier, Regressor
from .storing import load
from .tags import tags

__all__ = [
    "Classifier",
    "Estimator",
    "Iterative",
    "OnePass",
    "Regressor",
    "Updatable",
    "load",
    "read_rows",
    "row_wise",
    "tags",
]

# `skl2onnx.to_onnx` takes our estimators: their converters are registered as soon as skl2onnx is imported.
when_imported("skl2onnx", lambda: import_module("suffice.estimator.onnx").register_all())
