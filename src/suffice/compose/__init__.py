"""Transformers for the columns of tables of mixed types."""

from ..core.names import names_of_sklearn
from .column_transformer import ColumnTransformer, make_column_transformer
from .selector import make_column_selector

__all__ = ["ColumnTransformer", "make_column_selector", "make_column_transformer"]

__getattr__ = names_of_sklearn(__name__)
