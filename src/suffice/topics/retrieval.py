"""Retrieval in the vector space model: documents ranked by their similarity to a query. Li ch. 17."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from ..core.blocks import Rows
from ..core.values import Value
from ..estimator.tags import tags
from ..inputs import open_rows


class Reader(BaseEstimator):
    """Checks of rows that are read and not fitted: numbers, dense or sparse."""

    __sklearn_tags__ = tags(sparse=True)


@dataclass(frozen=True, eq=False)
class Best(Value):
    """Number of rows, and the indices and scores of the best."""

    rows: int
    places: Annotated[np.ndarray, "int (M,)"]
    scores: Annotated[np.ndarray, "(M,)"]  # falling
    size: int  # the greatest M

    def __add__(self, other: Self) -> Self:
        places = np.concatenate([self.places, other.places + self.rows])
        scores = np.concatenate([self.scores, other.scores])
        best = np.argsort(-scores, kind="stable")[: self.size]  # stable: ties keep their order
        return self.replace(rows=self.rows + other.rows, places=places[best], scores=scores[best])


def _scored(query: np.ndarray, cosine: bool, size: int, block: Rows) -> Best:
    scores = np.asarray(block.X.dot(query)).ravel()
    if cosine:
        square = block.X.multiply(block.X) if sp.issparse(block.X) else block.X**2
        length = np.sqrt(np.asarray(square.sum(axis=1)).ravel())
        scores = scores / np.where(length > 0, length, 1.0)  # an empty document is like nothing
    empty = Best(0, np.zeros(0, np.int64), np.zeros(0), size)
    return empty + Best(len(scores), np.arange(len(scores)), scores, size)


def rank_documents(
    query: Any, X: Any, *, measure: str = "cosine", n_best: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Rank the documents most similar to a query, in one pass.

    Parameters
    ----------
    query : array or CSR of shape (n_features,) or (1, n_features)
        The query, in the representation of the rows of X: counts or weights of words, or coordinates of
        topics.
    X : array, CSR, described table, scan or distributed data set
        The documents.
    measure : {'cosine', 'inner'}, default='cosine'
        Cosine of the angle between the document and the query, or their inner product.
    n_best : int, default=10
        Number of documents to return.

    Returns
    -------
    places : ndarray of shape (n_best,)
        Indices of the rows, most similar first. Ties are in the order of the rows.
    scores : ndarray of shape (n_best,)
        Similarities to the query.

    Examples
    --------
    >>> from suffice.topics import rank_documents
    >>> rank_documents([0, 1, 0], [[2, 0, 1], [0, 3, 0], [1, 1, 0]], n_best=2)
    (array([1, 2]), array([1.        , 0.70710678]))
    """
    if measure not in ("cosine", "inner"):
        raise ValueError(f"measure={measure!r} is unknown: use 'cosine' or 'inner'.")
    if n_best < 1:
        raise ValueError(f"n_best must be at least 1; got n_best={n_best}.")
    query = query.toarray() if sp.issparse(query) else np.asarray(query)
    query = check_array(np.atleast_2d(query), dtype=np.float64, input_name="query")
    reader = Reader()
    data = open_rows(reader, X)
    if query.shape != (1, reader.n_features_in_):
        raise ValueError(
            f"The query has the shape {query.shape}, expected {(1, reader.n_features_in_)}: one row with the "
            "features of X."
        )
    length = np.linalg.norm(query)
    if measure == "cosine" and length > 0:
        query = query / length
    best = data.fold(_scored, query[0], measure == "cosine", n_best)
    return best.places, best.scores
