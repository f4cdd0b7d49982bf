"""Elementary functions whose bits do not depend on the CPU: native/elementary.hpp."""

from .native import loops

exp = loops.elementary.exp
log = loops.elementary.log
log1p = loops.elementary.log1p
digamma = loops.elementary.digamma
log_gamma = loops.elementary.log_gamma
