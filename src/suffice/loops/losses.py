"""Losses of gradient boosting with their derivatives, and what a stage sums of them: native/losses.hpp."""

from .native import loops

squared_error = loops.losses.squared_error
log_loss = loops.losses.log_loss
add_stage = loops.losses.add_stage
