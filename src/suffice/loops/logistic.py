"""The binomial log loss of rows and its gradient, in one pass over them: native/logistic.hpp."""

from .native import loops

binomial = loops.logistic.binomial
