"""Statistics, blocks, partitions, models, the loop and storage. Contributors read this package first."""

from .blocks import Rows, Sequences
from .model import Family, Model
from .partitions import Partitions
from .statistics import Statistics, tree_sum

__all__ = ["Family", "Model", "Partitions", "Rows", "Sequences", "Statistics", "tree_sum"]
