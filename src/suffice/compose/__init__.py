"""Transformers for the columns of tables of mixed types."""

from .column_transformer import ColumnTransformer, make_column_transformer
from .selector import make_column_selector

__all__ = ["ColumnTransformer", "make_column_selector", "make_column_transformer"]
