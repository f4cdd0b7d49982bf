"""Folds of tables, from scikit-learn's splitters as their description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import model_selection as theirs

from ..core.arguments import MaybeArray, Seed
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..estimator.parameters import seed_of
from ..fitting.shared import Step, divide
from ..fitting.strata import RowDrawing, Strata, divide_stratified
from ..inputs.selection import Division

KINDS = {  # whether the folds are stratified, and whether they are of groups
    theirs.StratifiedGroupKFold: (True, True),
    theirs.StratifiedKFold: (True, False),
    theirs.GroupKFold: (False, True),
    theirs.KFold: (False, False),
}


@dataclass(frozen=True)
class FoldPlan:
    """The number of folds and their kind. Rows are drawn by hashes: `shuffle` of a splitter has no effect."""

    n_folds: int
    seed: int
    stratified: bool = False
    grouped: bool = False

    @classmethod
    def of(cls, cv: Any, groups: MaybeArray, random_state: Seed) -> FoldPlan:
        """The plan of `cv`: None, a number of folds, or a splitter of scikit-learn."""
        n_folds: Any = 5 if cv is None else cv
        if isinstance(n_folds, Integral) and int(n_folds) >= 2:
            plan = cls(int(n_folds), seed_of(random_state))
        elif type(cv) in KINDS:
            seed = seed_of(random_state if cv.random_state is None else cv.random_state)
            plan = cls(cv.n_splits, seed, *KINDS[type(cv)])
        else:
            names = ", ".join(sorted(kind.__name__ for kind in KINDS))
            raise ValueError(
                f"For a table, cv must be a number of folds, at least 2, or one of {names}; got {cv!r}."
            )
        if groups is not None and not isinstance(groups, str):
            raise TypeError(
                f"The groups of a table are one of its columns: pass its name; got {type(groups).__name__}."
            )
        if plan.grouped and groups is None:
            raise ValueError(
                f'{type(cv).__name__} needs the column of the groups: pass its name as groups="...".'
            )
        if groups is not None and not plan.grouped:
            raise ValueError(
                f"groups={groups!r} has no effect on cv={cv!r}: pass cv=GroupKFold({plan.n_folds}) or "
                f"StratifiedGroupKFold({plan.n_folds}) of sklearn.model_selection."
            )
        return plan

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of the rows below each boundary between two folds."""
        return tuple((np.arange(1, self.n_folds) / self.n_folds).tolist())

    def division(self, columns: Sequence[str], target: Any, groups: str | None) -> Division:
        """The folds of a table with these columns."""
        if self.stratified and not isinstance(target, str):
            raise ValueError(
                f"Stratified folds need one target, the column of the classes; got target={target!r}: call "
                'suffice.rows(table, target="...").'
            )
        hashed = tuple(sorted(columns)) if groups is None else (groups,)
        label = target if self.stratified else None
        return Division(hashed, Purpose.FOLDS, (self.seed,), self.shares, label, grouped=self.grouped)

    def of_rows(self, data: Partitions) -> tuple[Step, int]:
        """The folds of rows in blocks, which have no columns, and the passes to find them."""
        seed = (self.seed, data.depth)
        if not self.stratified:
            return (divide, (self.n_folds, Purpose.FOLDS, seed)), 0
        drawing = RowDrawing(Purpose.FOLDS, seed)
        strata = Strata.of(data, drawing, self.shares)
        return (divide_stratified, (drawing, strata)), strata.n_passes
