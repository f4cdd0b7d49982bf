"""Swaps of medoids, FasterPAM: native/medoids.hpp."""

from .native import loops

assign = loops.medoids.assign
swap_block = loops.medoids.swap_block
