"""Generative classifiers: naive Bayes, and Bayes' rule over any family of densities."""

from ..core.names import names_of_sklearn
from .bernoulli import BernoulliNB
from .categorical import CategoricalNB
from .class_conditional import ClassConditional
from .complement import ComplementNB
from .gaussian import GaussianNB
from .mixed import MixedNB
from .multinomial import MultinomialNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ClassConditional",
    "ComplementNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
]

__getattr__ = names_of_sklearn(__name__)
