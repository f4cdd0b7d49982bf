"""Losses of linear scores, with their gradients, in one pass over the rows: native/linear_losses.hpp."""

from .native import loops

binomial = loops.linear_losses.binomial
squared_hinge = loops.linear_losses.squared_hinge
squared_insensitive = loops.linear_losses.squared_insensitive
