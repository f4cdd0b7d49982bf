"""The page every contributor reads first: statistics, blocks, partitions, the door for input, storage."""

from .blocks import Rows, Sequences
from .model import Family, Model
from .partitions import Partitions
from .statistics import Statistics, tree_sum

__all__ = ["Family", "Model", "Partitions", "Rows", "Sequences", "Statistics", "tree_sum"]
