"""What a fit guarantees. Solvers and estimators declare it; the documentation and the tests read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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
    """What a fit guarantees, in addition to equal bits for equal blocks and seeds on every engine."""

    exact: str = "rounding"  # one of EXACT
    gathers: bool = False  # whether rows of a scan or a cluster are sent to the driver, which must hold them

    @classmethod
    def always(cls, exact: str = "rounding", gathers: bool = False) -> Any:
        """The method `_guarantee` of a class whose guarantee does not depend on parameters."""
        guarantee = cls(exact, gathers)
        return lambda estimator: guarantee


# Laws that some estimators do not keep, as tests/laws tests them.
LAWS = {
    "shift": "Rows that are moved far from the origin have the same fit, which moves with them.",
    "rounding": "Rows that are rounded to single precision have the same fit, to that rounding. What breaks "
    "it breaks the law of shifts, too.",
    "missing": "A fit to rows with NaN, and its answers, have none.",
    "unobserved": "A feature without values leaves no NaN in a fit that keeps the law of missing values.",
    "memory": "A fit to a scan takes no more memory for more rows, unless it gathers them.",
    "scan": "A fit takes rows that are not in memory.",
    "model": "`model_` is what a fitted estimator answers with.",
    "optimum": "Every solver finds the same optimum.",
}


@dataclass(frozen=True)
class Exempt:
    """A law that the class which declares it does not keep. It does not apply to subclasses."""

    law: str  # one of LAWS
    reason: str
    when: Callable[[Any], bool] = lambda estimator: True  # the parameters for which it applies

    def only(self, when: Callable[[Any], bool]) -> Exempt:
        """Return the same exemption, for some parameters only."""
        return replace(self, when=when)


FROM_ZERO = Exempt("shift", "It starts from zero, on another path: tests/laws/test_shift_and_scale.py.")
OF_PLACES = Exempt("shift", "It learns places alone: tests/preprocessing/test_scalers.py.")
KEEPS_NAN = Exempt("missing", "NaN stays NaN, and a feature without values has no mean and no range.")
SKETCHES = Exempt(
    "memory", "A sketch takes at most 400 kB a feature, once for each level of the tree of sums."
)
GATHERS_LEAVES = Exempt("memory", "Up to 512 MB of rows are gathered. Larger nodes are split where they are.")
KEEPS_LINKS = Exempt("memory", "The links are kept in memory, or in shards where they are too many.")
DRAWS_ORDER = Exempt("rounding", "The order of the rows is drawn by their values.")
DRAWS_STARTS = Exempt("rounding", "Starts are drawn by the values of rows.")
OF_LENGTHS = Exempt("shift", "Rows are long because of where they are.")
OF_ROWS = Exempt("shift", "Support vectors are rows: tests/svm.")
