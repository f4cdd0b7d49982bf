"""Topic weights of documents by EM and Newton steps: native/plsa.hpp."""

from .native import loops

fold_in = loops.plsa.fold_in
expect = loops.plsa.expect
