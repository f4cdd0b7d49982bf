"""PageRank: the basic and the general definition, by every algorithm."""

import numpy as np
import scipy.sparse as sp

from suffice.ranking import PageRank, transition_matrix

from ._canon import example
from ._numeric import stopped


def links(edges):
    return tuple(map(list, zip(*edges, strict=True)))


def of_matrix(M):
    """A graph in memory from its matrix of moves, whose columns are sources."""
    return sp.csr_array(np.array(M, float).T)


def after(n, X, **options):
    """Scores after n iterations."""
    return stopped(PageRank(max_iter=n, tol=0.0, **options), X).scores_


def at_rest(X, **options):
    return PageRank(tol=1e-14, max_iter=10_000, **options).fit(X).scores_


@example("li-unsupervised/li-13.t5", limit_exact="the same numbers as limit, as fractions")
def _(given):
    X = links(given["edges"])
    limit = at_rest(X, damping=1.0)
    assert np.allclose(limit, [1 / 8, 3 / 16, 3 / 8, 5 / 16], rtol=0, atol=1e-13)
    return {"R1": after(1, X, damping=1.0), "R2": after(2, X, damping=1.0), "limit": limit}


@example("li-unsupervised/li-21.1")
def _(given):
    X = links(given["edges"])
    matrix, nodes = transition_matrix(X)
    assert nodes.tolist() == given["nodes"]
    assert np.allclose(matrix.toarray().T, given["M"], rtol=0, atol=1e-15)
    found = {f"R{n}": after(n, X, damping=1.0) for n in (1, 2, 3)}
    return found | {"R": at_rest(X, damping=1.0)}


@example("li-unsupervised/li-21.2")
def _(given):
    """What reaches the node without links is lost, and in the end so is all."""
    X, how = links(given["edges"]), {"damping": 1.0, "dangling": "leak"}
    matrix, _ = transition_matrix(X)
    assert np.allclose(matrix.toarray().T, given["M"], rtol=0, atol=1e-15)
    found = {f"R{n}": after(n, X, **how) for n in (1, 2, 3)}
    return found | {"limit": at_rest(X, **how), "column_sums": matrix.sum(axis=1)}


@example("li-unsupervised/li-21.2-general")
def _(given):
    X, d = of_matrix(given["M"]), given["d"]
    leaks = at_rest(X, damping=d, dangling="leak", algorithm="algebraic")
    assert np.allclose(leaks, at_rest(X, damping=d, dangling="leak"), rtol=0, atol=1e-13)
    power = at_rest(X, damping=d, dangling="leak", algorithm="power")
    A = d * np.array(given["M"]) + (1 - d) / 4
    return {
        "algebraic": leaks,
        "algebraic_sum": leaks.sum(),
        "algebraic_renormalised": leaks / leaks.sum(),
        "uniform_dangling_column": at_rest(X, damping=d, dangling="uniform"),
        "power_on_A": power,
        "power_eigenvalue": (A @ power).sum(),
    }


@example("li-unsupervised/li-21.3")
def _(given):
    X, d = links(given["edges"]), given["d"]
    matrix, _ = transition_matrix(X)
    found = {f"R{n}": after(n, X, damping=d) for n in (1, 2, 3)}
    # The link of C to itself is what dangling="self" adds to a node without links.
    without = links([edge for edge in given["edges"] if edge != ["C", "C"]])
    same = at_rest(without, damping=d, dangling="self")
    assert np.allclose(same, at_rest(X, damping=d), rtol=0, atol=1e-13)
    return found | {"dM": d * matrix.toarray().T, "constant": (1 - d) / 4, "R": at_rest(X, damping=d)}


@example("li-unsupervised/li-21.4", R_exact="the same numbers as R, as fractions")
def _(given):
    X, d = links(given["edges"]), given["d"]
    A = d * transition_matrix(X)[0].toarray().T + (1 - d) / 3
    scores = [np.full(3, 1 / 3), *(after(n, X, damping=d, algorithm="power") for n in range(1, 7))]
    x = [score / score.max() for score in scores]  # of which the largest is one
    R = at_rest(X, damping=d, algorithm="power")
    assert np.allclose(R, np.array([686, 380, 703]) / 1769, rtol=0, atol=1e-13)
    found = {"A": A, "R": R, "x_limit": R / R.max(), "dominant_eigenvalue": (A @ R).sum()}
    found |= {f"y{n}": A @ x[n - 1] for n in (1, 2, 3)}
    return found | {f"x{n}": x[n] for n in range(1, 7)}


@example("li-unsupervised/li-21.ex2")
def _(given):
    found = [at_rest(of_matrix(given["M"]), damping=1.0, start=start) for start in given["starts"]]
    assert np.ptp(found, axis=0).max() < 1e-12
    return {"limit": found[0]}


@example("gong-xu/gx-p5.14")
def _(given):
    edges = [(int(a), b) for a, ends in given["links"].items() for b in ends]
    X = links(edges)
    return {"rank_undamped": at_rest(X, damping=1.0), "rank_damped_0.85": at_rest(X)}
