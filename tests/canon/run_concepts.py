"""Facts that stand beside the methods."""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import zeta

from ._canon import HERE, example
from ._numeric import column


@example("cs181/cube-coordinates")
def _(_given):
    page = (HERE.parents[1] / "docs/guides/choosing.md").read_text(encoding="utf-8")
    table = [
        [cell.strip() for cell in line.strip(" |").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    return {row[0]: row[1:4] for row in table if len(row) >= 4 and row[2].endswith(("supervised", "?"))}


@example("cs181/learning-rate-sums")
def _(_given):
    alpha = 1 / np.arange(1.0, 1001)
    return {
        "sum_alpha": zeta(1) == np.inf,
        "partial_sum_1000": alpha.sum(),
        "sum_alpha_squared": zeta(2),
    }


@example("stats601-and-slides/jensen-log")
def _(given):
    X, p = np.array(given["X"]), np.array(given["prob"])
    return {"E_log": p @ np.log(X), "log_E": np.log(p @ X)}


@example("stats601-and-slides/metric-axioms")
def _(given):
    D = cdist(column(given["points_1d"]), column(given["points_1d"]), "sqeuclidean")
    u = [[1.0, 2.0]]
    same = np.isclose(cdist(u, 2 * np.array(u), "cosine").item(), 0)
    return {
        "squared_euclidean_triangle_holds": D[0, 2] <= D[0, 1] + D[1, 2],
        "example": {"d(0,2)": D[0, 2], "d(0,1)+d(1,2)": D[0, 1] + D[1, 2]},
        "cosine_identity_holds": not same,
        "cosine_example": same,
    }


@example("stats601-and-slides/orange-skin")
def _(given):
    eps = given["shell_relative_thickness"]
    return {f"d{d}": 1 - (1 - eps) ** d for d in (3, 10, 100)}
