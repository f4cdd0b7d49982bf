"""Decision trees: CART with pruning, and trees as rules."""

from .cart import DecisionTreeClassifier, DecisionTreeRegressor
from .model import Tree
from .rules import export_rules, export_text

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor", "Tree", "export_rules", "export_text"]
