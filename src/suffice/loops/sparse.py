"""Products of CSR rows with dense matrices of few columns, without the GIL: native/sparse.hpp."""

from .native import loops

times = loops.sparse.times
add_transposed_times = loops.sparse.add_transposed_times
