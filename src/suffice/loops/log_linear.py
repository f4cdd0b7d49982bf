"""Log-linear models: errors of rows from their scores, and an epoch of SVRG: native/log_linear.hpp."""

from .native import loops

errors = loops.log_linear.errors
svrg_epoch = loops.log_linear.svrg_epoch
