"""Generative classifiers: naive Bayes, and Bayes' rule over any family of densities."""

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
