"""Decision trees: CART with pruning, trees as rules, and measures of impurity."""

from .cart import DecisionTreeClassifier, DecisionTreeRegressor
from .impurity import conditional_entropy, impurity, information_gain, information_gain_ratio
from .model import Tree
from .rules import export_rules, export_text

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Tree",
    "conditional_entropy",
    "export_rules",
    "export_text",
    "impurity",
    "information_gain",
    "information_gain_ratio",
]
