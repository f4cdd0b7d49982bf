"""Latent semantic analysis (LSA): documents and words in a space of few topics, by truncated SVD.

Deerwester, Dumais, Furnas, Landauer and Harshman, "Indexing by latent semantic analysis", 1990; Li ch. 17.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.utils.validation import check_is_fitted

from ..decomposition import TruncatedSVD
from ..estimator.guarantees import OF_LENGTHS


class LatentSemanticAnalysis(TruncatedSVD):
    """Latent semantic analysis (LSA): truncated SVD of documents by words.

    Counts are not centred. To reduce the influence of common words, weight the counts first, e.g. by tf-idf.
    `transform` also projects new documents, such as queries.

    Parameters
    ----------
    n_components : int, default=2
        Number of topics.
    algorithm : str, default='randomized'
        Algorithm of the SVD, 'randomized', 'arpack' or 'gram': see
        :class:`~suffice.decomposition.TruncatedSVD`.
    n_iter : int, default=5
        Number of power iterations of 'randomized'.
    n_oversamples : int, default=10
        Number of additional random columns of 'randomized', beyond the topics.
    power_iteration_normalizer : str, default='auto'
        Normalizer of the power iterations of 'randomized': 'auto', 'QR', 'LU' or 'none'.
    random_state : int, RandomState or None, default=None
        Seed for the random columns.
    tol : float, default=0.0
        Tolerance of 'arpack'. 0 means machine precision.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Topics: orthonormal directions in the space of words. Their entries may be negative.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the topics, in decreasing order.
    word_coordinates_ : ndarray of shape (n_features, n_components)
        Coordinates of words in the space of topics. Their inner products approximate those of the columns of
        X.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the document coordinates.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the total variance explained by each topic.
    model_ : SingularAxes
        The fitted model.
    statistics_ : GramMatrix
        The sums of the last pass.

    See Also
    --------
    suffice.decomposition.TruncatedSVD : The decomposition behind it.
    TermWeighting : Weights for the counts.
    rank_documents : Documents most like a query.

    Notes
    -----
    With the K largest singular values,

    .. math::

        X ≈ U Σ V^T.

    The rows of `components_` are the columns of V, and `transform` returns X V.

    References
    ----------
    * Deerwester, Dumais, Furnas, Landauer and Harshman (1990), "Indexing by latent semantic analysis",
      Journal of the American Society for Information Science 41.

    Examples
    --------
    A query is equally similar to documents with and without its word:

    >>> import numpy as np
    >>> from suffice.topics import LatentSemanticAnalysis
    >>> words = ["airplane", "aircraft", "computer", "apple", "fruit", "produce"]
    >>> X = np.array([[2, 0, 0, 0, 0, 1], [0, 2, 0, 0, 0, 2], [0, 0, 1, 2, 0, 2], [0, 0, 0, 3, 1, 1]])
    >>> lsa = LatentSemanticAnalysis(2, random_state=0).fit(X)
    >>> lsa.similarity([[1, 0, 0, 0, 0, 0]], X).round(2)
    array([[ 0.94,  0.94,  0.23, -0.15]])
    """

    exempt = (OF_LENGTHS,)

    @property
    def word_coordinates_(self) -> np.ndarray:
        check_is_fitted(self)
        return self.components_.T * self.singular_values_

    def similarity(self, X: Any, Y: Any = None, *, metric: str = "cosine") -> np.ndarray:
        """Similarity of documents in the space of topics.

        Parameters
        ----------
        X : array or CSR of shape (n_documents, n_features)
            Documents, or queries.
        Y : array or CSR, optional
            Documents to compare with. If None, X.
        metric : {'cosine', 'dot'}, default='cosine'
            The cosine of the angle between coordinates, or their inner product.

        Returns
        -------
        ndarray of shape (n_documents, n_documents of Y)
        """
        if metric not in ("cosine", "dot"):
            raise ValueError(f"metric={metric!r} is unknown: use 'cosine' or 'dot'.")
        A = self.transform(X)
        B = A if Y is None else self.transform(Y)
        return cosine_similarity(A, B) if metric == "cosine" else A @ B.T
