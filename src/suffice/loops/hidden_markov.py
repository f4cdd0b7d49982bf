"""The E step of hidden Markov models in one pass over the steps: native/hidden_markov.hpp. Li ch. 10."""

from .native import loops

expect_diagonal = loops.hidden_markov.expect_diagonal
