"""The check that the undamped random walk on a graph converges from any start."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from .links import Graph

ADVICE = "With a damping below 1.0, such as 0.85, the scores are unique for any graph."


def must_converge(graph: Graph, surfer: Any) -> None:
    """A walk without damping converges if all nodes lead to one closed class that is aperiodic."""
    links = _with_refuge(graph, surfer)
    count, label = connected_components(links, connection="strong")
    ends = links.tocoo()
    closed = np.ones(count, bool)
    closed[label[ends.row[label[ends.row] != label[ends.col]]]] = False
    if surfer.refuge is None and not surfer.stays:  # what is stranded is lost
        closed[label[surfer.stranded]] = False
    classes = np.flatnonzero(closed)
    if surfer.power and not len(classes):
        raise ValueError(
            "With damping=1.0 and dangling='leak' every walk ends in a node without links, so no score "
            f"is left that algorithm='power' could normalize. {ADVICE}"
        )
    if len(classes) > 1:
        some = [graph.nodes[np.flatnonzero(label[: len(graph)] == c)[:1]].tolist()[0] for c in classes[:3]]
        raise ValueError(
            f"With damping=1.0 the scores are not unique: the graph has {len(classes)} parts that the walk "
            f"does not leave, among them those of the nodes {some}. {ADVICE}"
        )
    if len(classes) and (period := _period(links, len(graph), label == classes[0])) > 1:
        raise ValueError(
            f"With damping=1.0 the walk does not converge: it returns to a node only after multiples of "
            f"{period} steps. {ADVICE}"
        )


def _with_refuge(graph: Graph, surfer: Any) -> sp.csr_array:
    """The pattern of the transitions, (n, n). If stranded nodes go to a distribution of nodes, an
    additional last node stands between, so that the matrix stays sparse."""
    n, matrix, stranded = len(graph), graph.links.matrix(len(graph)).tocoo(), surfer.stranded
    source, target, size = matrix.col, matrix.row, n
    if surfer.stays:
        source, target = np.append(source, stranded), np.append(target, stranded)
    elif surfer.refuge is not None and len(stranded):
        refuge = np.flatnonzero(np.broadcast_to(surfer.refuge, n))
        source = np.concatenate([source, stranded, np.full(len(refuge), n)])
        target = np.concatenate([target, np.full(len(stranded), n), refuge])
        size = n + 1
    return sp.csr_array((np.ones(len(source), bool), (source, target)), (size, size))


def _period(links: sp.csr_array, n: int, inside: np.ndarray) -> int:
    """The period of a closed class: the greatest common divisor of the lengths of its cycles. Passing the
    additional node takes no time."""
    from ..loops.graph import depths

    part = links[inside][:, inside]
    beyond = np.flatnonzero(inside) >= n

    def half_steps(source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.where(beyond[source] | beyond[target], 1, 2)

    order, before = breadth_first_order(part, 0)
    nodes, depth = np.arange(part.shape[0]), np.zeros(part.shape[0], np.int64)
    depths(order, before, half_steps(np.maximum(before, 0), nodes), depth)
    ends = part.tocoo()
    ways = depth[ends.row] + half_steps(ends.row, ends.col) - depth[ends.col]
    return int(np.gcd.reduce(np.abs(ways), initial=0)) // 2
