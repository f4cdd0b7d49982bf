"""scikit-learn's callbacks, which version 1.9 introduced. Estimators run without them on older versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class _NoContext:
        """A task of a fit without callbacks."""

        def subcontext(self, **kwargs: Any) -> _NoContext:
            return self

        def call_on_fit_task_begin(self, **kwargs: Any) -> None:
            return None

        def call_on_fit_task_end(self, **kwargs: Any) -> bool:
            return False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Base class of estimators with callbacks."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Raise: callbacks need scikit-learn 1.9 or newer."""
            raise ImportError("set_callbacks requires scikit-learn 1.9 or newer: pip install -U scikit-learn")

        def _init_callback_context(self, **kwargs: Any) -> _NoContext:
            return _NoContext()

    def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
        """Return the fit as it is."""
        return fit


__all__ = ["CallbackSupportMixin", "with_callbacks"]
