"""Memory that is asked for before it is read, in loops that are imported before Numba."""

from __future__ import annotations

from typing import Any

from .compiled import Loop


class _Prefetch(Loop):
    @property
    def dispatcher(self) -> Any:
        from . import fast_math

        form: Any = fast_math.prefetch
        return form.dispatcher if isinstance(form, Loop) else form


# In Python it does nothing.
prefetch = _Prefetch(lambda array, i: None, {})
