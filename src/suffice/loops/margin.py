"""Training of chains one sequence at a time, by margins: native/margin.hpp."""

from .native import loops

perceptron = loops.margin.perceptron
frank_wolfe = loops.margin.frank_wolfe
smo = loops.margin.smo
