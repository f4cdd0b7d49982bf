"""Trees of one split, from codes of features and integer weights of rows, which boosting changes:
native/stumps.hpp."""

from .native import loops

RUN = loops.stumps.RUN  # bits of a code that are left out in a first, coarse histogram

count_classes = loops.stumps.count_classes
best_stump = loops.stumps.best_stump
count_runs = loops.stumps.count_runs
bounds_of_runs = loops.stumps.bounds_of_runs
best_in_runs = loops.stumps.best_in_runs
next_bin = loops.stumps.next_bin
reweigh = loops.stumps.reweigh
