"""What a fit guarantees. Solvers and estimators declare it; the documentation and the tests read it."""

from __future__ import annotations

from dataclasses import dataclass

EXACT = {
    "bit": "Exact to the bit. Other blocks and another order of the rows change nothing, as long as the "
    "weights are whole numbers.",
    "rounding": "Exact to rounding. Other blocks and another order of the rows change the last digits only.",
    "order": "Exact to rounding for one order of the rows. The solver takes examples one after the other, or "
    "in folds that are runs of rows, so that another order gives another result.",
    "approximate": "Approximate. Each block takes steps without those of the other blocks, so that other "
    "blocks give another result: another sample, or another point within `tol` of the optimum.",
}


@dataclass(frozen=True)
class Guarantee:
    """What a fit guarantees, beside the same bits from the same blocks and the same seed on every engine."""

    exact: str = "rounding"  # one of EXACT
    gathers: bool = False  # whether rows of a scan or a cluster are sent to the driver, which must hold them
