"""Missing values: filled in."""

from ..core.names import names_of_sklearn
from .simple_imputer import SimpleImputer

__all__ = ["SimpleImputer"]

__getattr__ = names_of_sklearn(__name__)
