"""Decision trees: CART, ID3 and C4.5, with pruning; trees as rules; measures of impurity."""

from ..core.names import names_of_sklearn
from .arrays import TreeArrays
from .cart import DecisionTreeClassifier, DecisionTreeRegressor
from .export import export_graphviz, plot_tree
from .forest import Forest
from .impurity import conditional_entropy, impurity, information_gain, information_gain_ratio
from .model import Tree
from .multiway import MultiwayTree, MultiwayTreeClassifier
from .rules import export_rules, export_text

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Forest",
    "MultiwayTree",
    "MultiwayTreeClassifier",
    "Tree",
    "TreeArrays",
    "conditional_entropy",
    "export_graphviz",
    "export_rules",
    "export_text",
    "impurity",
    "information_gain",
    "information_gain_ratio",
    "plot_tree",
]

__getattr__ = names_of_sklearn(__name__)
