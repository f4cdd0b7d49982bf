"""Classifiers that model the rows of each class: naive Bayes, and any other family."""

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
