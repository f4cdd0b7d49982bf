"""The progress of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.core.loop import Progress


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored(Progress):
    score_: float


def test_after_takes_the_state_and_adds_fields():
    before = Progress("model", (3.0, 2.0), "sums", "tolerance")
    after = Scored.after(before, model="other", score_=0.5)
    assert (after.model, after.trace, after.statistics, after.score_) == ("other", (3.0, 2.0), "sums", 0.5)
    assert after.n_iter == 2 and after.converged
    assert (
        type(Progress.after(after)) is Progress and vars(Progress.after(after)).keys() == vars(before).keys()
    )
