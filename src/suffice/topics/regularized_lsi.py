"""Regularized latent semantic indexing (RLSI): sparse topics, and documents by ridge regression on them.

Wang, Xu, Li and Craswell, "Regularized latent semantic indexing", 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix, Rows, rows_beside
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..decomposition.truncated_svd import powers
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import OF_LENGTHS
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE
from ..estimator.tags import tags
from ..fitting import em
from ..fitting.linear_algebra import solve_positive, times, transposed_times
from ..inputs import map_rows, read_rows

# Turns of the coordinates of each word in one estimate, at most.
SWEEPS = 20


@dataclass(frozen=True, eq=False)
class DocumentSums(Statistics):
    """Sums over documents V that determine the squared error for any topics."""

    weight: float
    square: float  # of all entries of X
    gram: Annotated[np.ndarray, "(K, K)"]  # V'V
    cross: Annotated[np.ndarray, "(D, K)"]  # X'V


@dataclass(frozen=True, eq=False)
class SparseTopics(Model):
    """X ≈ V U, which minimizes |X - V U|^2 + of_topics |U|_1 + of_documents |V|^2."""

    topics: Annotated[np.ndarray, "(K, D)"]  # U
    of_topics: float
    of_documents: float

    def documents(self, X: Matrix) -> np.ndarray:
        """V by ridge regression of each row on the topics, (N, K)."""
        U = self.topics
        return solve_positive(
            U @ U.T + self.of_documents * np.eye(len(U)), times(X, np.ascontiguousarray(U.T)).T
        ).T

    def summarize(self, block: Rows) -> DocumentSums:
        X, weight, V = block.X, block.weight, self.documents(block.X)
        G = V * weight[:, None]
        square = X.power(2) if sp.issparse(X) else X**2
        square = float(weight.dot(np.asarray(square.sum(axis=1)).ravel()))
        return DocumentSums(float(weight.sum()), square, V.T.dot(G), transposed_times(X, G))

    def estimate(self, s: DocumentSums) -> Self:
        """The weights of each word, by the lasso on the documents (coordinate descent)."""
        U, curve = np.ascontiguousarray(self.topics.T), np.diag(s.gram)
        for _ in range(SWEEPS):
            before = U.copy()
            for k in np.flatnonzero(curve > 0):
                pull = s.cross[:, k] - U.dot(s.gram[:, k]) + curve[k] * U[:, k]
                shrunk = np.abs(pull) - 0.5 * self.of_topics
                U[:, k] = np.where(shrunk > 0, np.sign(pull) * shrunk, 0.0) / curve[k]
            if np.abs(U - before).max(initial=0.0) <= 1e-10 * np.abs(U).max(initial=0.0):
                break
        return self.replace(topics=np.ascontiguousarray(U.T))

    def objective(self, s: DocumentSums) -> float:
        U = self.topics
        near = s.square - 2.0 * (s.cross * U.T).sum() + (s.gram * (U @ U.T)).sum()
        penalty = self.of_topics * np.abs(U).sum() + self.of_documents * np.trace(s.gram)
        return -float(near + penalty)


class RegularizedLSI(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Iterative):
    """Regularized latent semantic indexing (RLSI): documents by words are approximated with sparse topics.

    Topics need not be orthogonal, and most words have weight zero in each. Given the topics, each document is
    fitted by itself; given the documents, each word is. So corpora larger than memory are read once per
    iteration.

    Parameters
    ----------
    n_components : int, default=2
        Number of topics.
    topic_penalty : float, default=1.0
        Strength of the l1 penalty on the weights of words in topics.
    document_penalty : float, default=1.0
        Strength of the l2 penalty on the coordinates of documents.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the relative decrease of the objective.
    max_iter : int, default=100
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed for the initialization by randomized SVD.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Topics: the weights of words.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Objective at the start of each iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : SparseTopics
        The fitted model.
    statistics_ : DocumentSums
        The sums of the last pass.

    See Also
    --------
    LatentSemanticAnalysis : Orthogonal topics.
    suffice.decomposition.NMF : Topics without negative entries.

    Notes
    -----
    With topics U and documents V, the fit minimizes

    .. math::

        ‖X - V U‖_F^2 + λ_1 ‖U‖_1 + λ_2 ‖V‖_F^2,

    where λ_1 is `topic_penalty` and λ_2 is `document_penalty`.

    References
    ----------
    * Wang, Xu, Li and Craswell (2011), "Regularized latent semantic indexing", SIGIR.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.topics import RegularizedLSI
    >>> X = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 3], [0, 0, 3, 4]])
    >>> lsi = RegularizedLSI(2, topic_penalty=0.5, document_penalty=0.1, random_state=0).fit(X)
    >>> (lsi.components_ != 0).sum(axis=1)
    array([2, 2])
    """

    exempt = (OF_LENGTHS,)

    model_: Annotated[SparseTopics, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "topic_penalty": [NON_NEGATIVE],
        "document_penalty": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(sparse=True)

    def __init__(
        self,
        n_components: int = 2,
        *,
        topic_penalty: float = 1.0,
        document_penalty: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.topic_penalty = topic_penalty
        self.document_penalty = document_penalty
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _block_rows(self, block: Rows) -> float | None:
        return rows_beside(block, 8.0 * self.n_components * block.X.shape[1])

    def _solve(self, data: Partitions) -> Progress:
        K, D = self.n_components, self.n_features_in_
        if K > D:
            raise ValueError(f"n_components={K} must not be more than n_features={D}.")
        axes, s = powers(data, K, D, 4, 10, "LU", check_random_state(self.random_state))
        must_have_rows(s.weight)
        # As long as V, so that neither penalty weighs more at first.
        start = axes.axes * np.sqrt(np.maximum(axes.value, np.finfo(np.float64).tiny))[:, None]
        model = SparseTopics(start, float(self.topic_penalty), float(self.document_penalty))

        def converged(old: Any, new: Any, trace: tuple[float, ...]) -> bool:
            return len(trace) > 1 and trace[-1] - trace[-2] <= self.tol * abs(trace[-1])

        watch = Watch(self, self.checkpoint, data)
        progress = em(model, data, tol=self.tol, max_iter=self.max_iter, converged=converged, watch=watch)
        return progress

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"components_": progress.model.topics, "trace_": -np.array(progress.trace)}

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of documents, by ridge regression on the topics.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.documents, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map coordinates back to documents."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
