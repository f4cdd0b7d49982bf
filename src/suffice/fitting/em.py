"""Expectation maximization: fold the statistics that the model expects, estimate, repeat.

Dempster, Laird and Rubin 1977; Li ch. 9. Several starts share each pass over the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.loop import Progress, Watch
from ..core.partitions import Partitions, must_be_partitions, of_each_model
from ..core.statistics import Parts

# Relative decrease of the objective that is tolerated. EM only decreases it by rounding errors, and by the
# numbers added to covariances to keep them regular.
SLACK = 1e-5

StoppingRule = Callable[[Any, Any, tuple[float, ...]], bool]


@dataclass(frozen=True, eq=False)
class MultiStart(Progress):
    """Several runs over the same data. The unfinished runs share the next pass."""

    runs: tuple[Progress, ...] = ()


def em(
    models: Any,
    data: Partitions,
    *,
    tol: float,
    max_iter: int,
    converged: StoppingRule | None = None,
    adjust: Callable[[Any, Any], Any] = lambda model, s: s,
    watch: Watch | None = None,
    before: tuple[float, ...] = (),
) -> Progress:
    """Expectation maximization of a model, or of the best of several, until convergence.

    Parameters
    ----------
    models : model or sequence of models
        Initial models. A model has `summarize`, `estimate` and `objective`.
    data : Partitions
        The rows.
    tol : float
        Tolerance of the stopping criterion: the change of the objective.
    max_iter : int
        Maximum number of iterations.
    converged : callable, optional
        ``converged(old, new, trace)`` decides instead of `tol`.
    adjust : callable, optional
        ``adjust(model, s)`` returns the statistics to estimate from instead of `s`, e.g. to relocate empty
        clusters.
    watch : Watch, optional
        Callbacks and checkpoint.
    before : tuple of float, optional
        Objectives of the fit that this one continues, with which the first is compared.

    Returns
    -------
    Progress
        The best run: its `model`, and in `trace` the objective before each estimate.
    """
    must_be_partitions(data)
    starts = models if isinstance(models, Sequence) else (models,)
    options: dict[str, Any] = {"converged": converged, "adjust": adjust, "watch": watch, "before": before}
    return _best(em_runs(starts, data, tol=tol, max_iter=max_iter, **options))


def em_runs(
    models: Sequence[Any],
    data: Partitions,
    *,
    tol: float,
    max_iter: int,
    converged: StoppingRule | None = None,
    adjust: Callable[[Any, Any], Any] = lambda model, s: s,
    watch: Watch | None = None,
    before: tuple[float, ...] = (),
) -> tuple[Progress, ...]:
    """Return the results of all runs of `em`, in the order of the initial models."""

    def unchanged(old: Any, new: Any, trace: tuple[float, ...]) -> bool:
        last = (*before, *trace)[-2:]
        return len(last) == 2 and abs(last[1] - last[0]) < tol

    converged = converged or unchanged

    def step(state: MultiStart) -> MultiStart:
        active = [run for run in state.runs if not run.stopped_because]
        totals = iter(data.fold(summarize_each, tuple(run.model for run in active)).parts)
        return _combined(
            [
                run if run.stopped_because else advance(run, next(totals), converged, adjust)
                for run in state.runs
            ]
        )

    watch = (watch or Watch()).limited(max_iter)
    state = watch.loop(step, MultiStart(models[0], runs=tuple(map(Progress, models))))
    return tuple(
        run if run.stopped_because else run.replace(stopped_because=state.stopped_because)
        for run in state.runs
    )


@of_each_model
def summarize_each(models: tuple[Any, ...], block: Any, **how: Any) -> Parts:
    return Parts(tuple(model.summarize(block, **how) for model in models))


def advance(
    run: Progress,
    s: Any,
    converged: StoppingRule,
    adjust: Callable[[Any, Any], Any] = lambda model, s: s,
) -> Progress:
    """Return a run after one iteration, in which its model was summarized by the statistics `s`."""
    trace = (*run.trace, run.model.objective(s))
    if not np.isfinite(trace[-1]):
        return run.replace(trace=trace, statistics=s, stopped_because="objective not finite")
    if len(trace) > 1 and trace[-2] - trace[-1] > SLACK * max(1.0, abs(trace[-1])):
        return run.replace(trace=trace, statistics=s, stopped_because="objective worsened")
    model = run.model.estimate(adjust(run.model, s))
    return Progress(model, trace, s, "tolerance" if converged(run.model, model, trace) else "")


def _combined(runs: list[Progress]) -> MultiStart:
    best = _best(runs)
    longest = max(runs, key=lambda run: run.n_iter)
    trace = (*longest.trace[:-1], best.trace[-1])
    done = all(run.stopped_because for run in runs)
    return MultiStart(best.model, trace, best.statistics, best.stopped_because if done else "", tuple(runs))


def _best(runs: Sequence[Progress]) -> Progress:
    """Return the first run with the largest objective up to rounding.

    Several runs often reach the same optimum, and rounding errors must not choose one of them.
    """
    if len(runs) == 1:
        return runs[0]
    values = [np.nan_to_num(run.trace[-1], nan=-np.inf, neginf=-np.inf) if run.trace else 0.0 for run in runs]
    enough = max(values) - 1e-10 * abs(max(values))
    return next(run for run, value in zip(runs, values, strict=True) if value >= enough)
