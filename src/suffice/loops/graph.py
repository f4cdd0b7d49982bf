"""Links sorted by target, and the flow along them: native/graph.hpp."""

from .native import loops

count = loops.graph.count
spread = loops.graph.spread
place = loops.graph.place
renumber = loops.graph.renumber
mass = loops.graph.mass
weighted_mass = loops.graph.weighted_mass
depths = loops.graph.depths
