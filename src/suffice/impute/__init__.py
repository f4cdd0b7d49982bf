"""Missing values: filled in."""

from .simple_imputer import SimpleImputer

__all__ = ["SimpleImputer"]
