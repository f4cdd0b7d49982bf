"""Statistics, blocks, partitions, models, the loop and storage. Contributors read this package first."""

from .blocks import Rows, Sequences
from .loop import Progress, Watch
from .model import Family, Model, Predictor
from .partitions import Partitions
from .statistics import Statistics, tree_sum

__all__ = [
    "Family",
    "Model",
    "Partitions",
    "Predictor",
    "Progress",
    "Rows",
    "Sequences",
    "Statistics",
    "Watch",
    "tree_sum",
]
