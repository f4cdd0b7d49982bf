"""The loop of all iterative fits: progress, callbacks, checkpoints, and the reason for stopping."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from .hashing import fingerprint, fingerprint_in_order, joined_fingerprint
from .progress import at_iteration
from .shapes import alike
from .storage import StorageError, digest_of, load_value, save_value
from .values import Value


@dataclass(frozen=True, eq=False)
class Progress(Value):
    """State of an iterative fit: what the loop needs to continue, and what a checkpoint stores."""

    model: Any
    trace: tuple[float, ...] = ()  # objective by iteration
    statistics: Any = None  # of the last iteration
    stopped_because: str = ""  # "" while the fit continues

    @classmethod
    def after(cls, progress: Progress, **fields: Any) -> Self:
        """Return the state of `progress` as this class, with other or additional fields."""
        return cls(**{**{name: getattr(progress, name) for name in Progress.__dataclass_fields__}, **fields})

    @property
    def n_iter(self) -> int:
        return len(self.trace)

    @property
    def converged(self) -> bool:
        return self.stopped_because == "tolerance"


P = TypeVar("P", bound=Progress)


@dataclass(frozen=True, eq=False)
class Checkpoint(Value):
    """Content of a checkpoint: the progress of a fit, and the identity of the fit."""

    fit: str
    progress: Progress


@dataclass(frozen=True)
class Watch:
    """Callbacks and checkpoint of a fit, and the loop that calls them."""

    estimator: Any = None  # the estimator whose callbacks are called
    checkpoint: Any = None  # a path
    data: Any = None  # the Partitions of the fit, which identify its checkpoint
    max_iter: int = 0
    as_model: Callable[[Any], Any] = lambda model: model  # converts what the loop improves to a model
    report: Callable[[Any], None] | None = None  # called with the progress of each iteration, for `verbose`
    in_order: bool = False  # whether the fit depends on the order of the rows
    limited_by: str = (
        "max_iter"  # the parameter that may be raised before a fit is continued, if there is one
    )
    grows: bool = False  # whether the state grows by a part in each iteration: see `_Saves`

    def limited(self, max_iter: int) -> Watch:
        return replace(self, max_iter=max_iter)

    def loop(self, step: Callable[[P], P], progress: P) -> P:
        """Repeat `progress = step(progress)` until it has a reason to stop, or `max_iter` times."""
        with self._watched(progress, self.max_iter) as (progress, context, saves):
            while not progress.stopped_because and progress.n_iter < self.max_iter:
                at_iteration(progress.n_iter + 1)
                progress = self._iteration(step, progress, context)
                if self.report is not None:
                    self.report(progress)
                saves.offer(progress)
        if progress.stopped_because:
            return progress
        return progress.replace(stopped_because=self.limited_by or "max_iter")

    @contextmanager
    def recorded(self, progress: P) -> Iterator[tuple[P, Callable[[P], bool]]]:
        """Context manager for a fit that is not a loop of equal steps.

        It yields the progress to start from, that of the checkpoint if there is one, and a function to call
        with each later progress. The function returns whether a callback stops the fit.
        """
        with self._watched(progress, None) as (progress, context, saves):

            def offer(progress: P) -> bool:
                task = None if context is None else context.subcontext(task_name="iteration")
                if task is not None:
                    task.call_on_fit_task_begin(estimator=self.estimator)
                saves.offer(progress)
                return task is not None and bool(task.call_on_fit_task_end(estimator=self.estimator))

            yield progress, offer

    @contextmanager
    def _watched(self, progress: P, max_iter: int | None) -> Iterator[tuple[P, Any, _Saves]]:
        """Context manager: begin and end the fit for callbacks and checkpoint.

        It yields the progress to start from, the context of callbacks, and the writer of checkpoints. If the
        fit succeeds, the checkpoint is removed.
        """
        if self.checkpoint is not None and not Path(self.checkpoint).absolute().parent.is_dir():
            raise FileNotFoundError(
                f"The folder of checkpoint={str(self.checkpoint)!r} does not exist: create it first."
            )
        fit = self._fit()
        progress = self._resumed(progress, fit)
        context = None
        if self.estimator is not None:
            context = self.estimator._init_callback_context(max_subtasks=max_iter)
            context.call_on_fit_task_begin(estimator=self.estimator)
        saves = _Saves(self.checkpoint, fit, self.grows, progress)
        try:
            yield progress, context, saves
        except BaseException:
            saves.finish()
            raise
        if context is not None:
            context.call_on_fit_task_end(estimator=self.estimator)
        if self.checkpoint is not None:
            Path(self.checkpoint).unlink(missing_ok=True)

    def _iteration(self, step: Callable[[P], P], progress: P, context: Any) -> P:
        """Return the next progress, with callbacks before and after the step."""
        if context is None:
            return _finite(step(progress))
        task = context.subcontext(task_name="iteration")
        before = progress
        task.call_on_fit_task_begin(
            estimator=self.estimator,
            reconstruction_attributes=(lambda: self._fitted(before)) if before.n_iter else None,
        )
        progress = _finite(step(progress))
        stop = task.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: self._fitted(progress),
        )
        if stop and not progress.stopped_because:
            progress = progress.replace(stopped_because="callback")
        return progress

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        """Return the fitted attributes of the estimator, as if the fit had stopped here, for callbacks."""
        progress = progress.replace(model=self.as_model(progress.model))
        return {**self.estimator._fitted(progress), "model_": progress.model}

    def _fit(self) -> str:
        """Return the identity of the fit, which its checkpoint must have to be continued."""
        if self.checkpoint is None or self.estimator is None:
            return ""
        params = self.estimator.get_params(deep=False)
        digests = {k: digest_of(v) for k, v in params.items() if k not in ("checkpoint", self.limited_by)}
        return f"{type(self.estimator).__name__} {digest_of((digests, self._rows()))}"

    def _rows(self) -> Any:
        """Return the fingerprint of the data."""
        if self.data is None:
            return None
        if self.in_order:
            return joined_fingerprint(self.data.fold(fingerprint_in_order))
        return self.data.fold(fingerprint)

    def _resumed(self, start: P, fit: str) -> P:
        """Return the progress of the checkpoint, or `start` if there is none."""
        if self.checkpoint is None or not Path(self.checkpoint).exists():
            return start
        stored = load_value(self.checkpoint)
        if not isinstance(stored, Checkpoint) or stored.fit != fit or not alike(start, stored.progress):
            raise StorageError(
                f"{self.checkpoint} is the checkpoint of another fit, with other parameters or other rows"
                f"{', or rows in another order' if self.in_order else ''}: remove it to start again, or "
                f"pass another file."
            )
        return stored.progress  # type: ignore[return-value]


class _Saves:
    """Writer of a checkpoint: after each iteration, but less often for a state that grows.

    Writing all trees after each tree would take a time quadratic in their number. A state that grows is
    written when it has an eighth more iterations than in the last file, or when the time since then is ten
    times that of the last write. If an error ends the fit, the last state is written; if the process is
    killed, the iterations since the last write are lost.
    """

    def __init__(self, path: Any, fit: str, grows: bool, progress: Progress) -> None:
        self.path, self.fit, self.grows = path, fit, grows
        self.last = self.written = progress
        self.end, self.seconds = time.monotonic(), 0.0  # end and duration of the last write

    def offer(self, progress: Progress) -> None:
        """Write the progress if it is due."""
        if self.path is None:
            return
        self.last, n = progress, progress.n_iter
        soon = self.grows and 8 * (n - self.written.n_iter) < n and not progress.stopped_because
        if not soon or time.monotonic() - self.end >= 10.0 * self.seconds:
            self._write()

    def finish(self) -> None:
        """Write the last progress if it was not written."""
        if self.last is not self.written:
            self._write()

    def _write(self) -> None:
        begin, self.written = time.monotonic(), self.last
        save_value(Checkpoint(self.fit, self.last), self.path)
        self.end = time.monotonic()
        self.seconds = self.end - begin


@contextmanager
def one_task(estimator: Any) -> Iterator[None]:
    """Context manager: call the callbacks of a fit without iterations."""
    context = estimator._init_callback_context()
    context.call_on_fit_task_begin(estimator=estimator)
    yield
    context.call_on_fit_task_end(estimator=estimator)


def _finite(progress: P) -> P:
    """Stop the fit if the last objective is not finite."""
    if progress.trace and not np.isfinite(progress.trace[-1]):
        return progress.replace(stopped_because="objective not finite")
    return progress
