"""Forward-backward and Viterbi recursions of chains of K states: native/chains.hpp. Li ch. 10 and 11."""

from .native import loops

exp_below_largest = loops.chains.exp_below_largest
forward = loops.chains.forward
smooth = loops.chains.smooth
best_paths = loops.chains.best_paths
k_best_paths = loops.chains.k_best_paths
log_forward = loops.chains.log_forward
log_backward = loops.chains.log_backward
add_log_pairs = loops.chains.add_log_pairs
