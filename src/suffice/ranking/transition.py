"""Transition matrix of the random walk on a graph. Li ch. 21, definition 21.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.arguments import MaybeArray
from ..inputs import open_edges
from .links import read_graph
from .page_rank import PageRank


def transition_matrix(X: Any, sample_weight: MaybeArray = None) -> tuple[sp.csr_array, np.ndarray]:
    """Transition matrix of the random walk on a graph, by the weights of the links.

    Parameters
    ----------
    X : pair of arrays, table, sparse matrix or graph
        The links, as in `PageRank.fit`.
    sample_weight : array, optional
        Per-link weights, if `X` is a pair of arrays.

    Returns
    -------
    matrix : csr_array of shape (n_nodes, n_nodes)
        Entry (i, j) is the probability of a step from i to j. Rows sum to one, except for dangling nodes,
        whose rows are zero. Some texts use the transpose, whose columns sum to one.
    nodes : ndarray of shape (n_nodes,)
        Ids of the nodes.

    Examples
    --------
    >>> from suffice.ranking import transition_matrix
    >>> matrix, nodes = transition_matrix((["a", "a", "b"], ["b", "c", "a"]))
    >>> nodes
    array(['a', 'b', 'c'], dtype=object)
    >>> matrix.toarray()
    array([[0. , 0.5, 0.5],
           [1. , 0. , 0. ],
           [0. , 0. , 0. ]])
    """
    graph = read_graph(*open_edges(PageRank(), X, sample_weight))
    matrix = graph.links.matrix(len(graph)).T.tocsr()
    matrix.sum_duplicates()
    matrix.data /= np.repeat(graph.out, np.diff(matrix.indptr))
    return matrix, graph.nodes
