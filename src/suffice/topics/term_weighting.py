"""Term weighting (tf-idf) of counts of words.

Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988; Li ch. 17; Gong and Xu
ch. 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize

from ..core.arguments import MaybeArray
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.shapes import must
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Updatable
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import StrOptions
from ..estimator.tags import tags
from ..inputs import read_rows


def _by_document(x: np.ndarray, X: sp.csr_array, reduce: Any) -> np.ndarray:
    """The sum or the maximum of the row of each entry x of X."""
    full = np.flatnonzero(np.diff(X.indptr))
    return np.repeat(reduce.reduceat(x, X.indptr[full]), np.diff(X.indptr)[full]) if len(full) else x


# Local weights, as functions of the entries x > 0 of the rows X.
LOCAL: dict[str, Callable[[np.ndarray, sp.csr_array], np.ndarray]] = {
    "frequency": lambda x, X: x,
    "relative": lambda x, X: x / _by_document(x, X, np.add),
    "binary": lambda x, X: np.ones_like(x),
    "augmented": lambda x, X: 0.5 + 0.5 * x / _by_document(x, X, np.maximum),
    "log": lambda x, X: np.log1p(x),
    "sublinear": lambda x, X: 1.0 + np.log(x),
}
# Collection weights, as functions of the number of documents N and the number n that contain a word.
COLLECTION: dict[str | None, Callable[[float, np.ndarray], np.ndarray]] = {
    None: lambda N, n: np.ones_like(n),
    "idf": lambda N, n: np.log(N / np.where(n > 0, n, N)),  # a word of no document weighs nothing
    "smooth_idf": lambda N, n: np.log((1.0 + N) / (1.0 + n)) + 1.0,
    "idf_plus_one": lambda N, n: np.log(N / n) + 1.0,  # scikit-learn's without smoothing
}


@dataclass(frozen=True, eq=False)
class DocumentFrequencies(Statistics):
    """The total weight of the documents, and the weight of the documents that contain each word."""

    weight: float
    documents: Annotated[np.ndarray, "(V,)"]


@dataclass(frozen=True, eq=False)
class Weights(Model):
    """Term weights: the local weight in the document times the weight in the collection."""

    of_words: Annotated[np.ndarray, "(V,)"]  # in the collection
    local: str
    collection: str | None
    norm: str | None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(self.local in LOCAL, f"There are no local weights {self.local!r}.")
        must(self.collection in COLLECTION, f"There are no weights {self.collection!r} in the collection.")
        must(self.norm in ("l1", "l2", None), f"There is no norm {self.norm!r}.")

    def summarize(self, block: Rows) -> DocumentFrequencies:
        X = _without_zeros(block.X)
        present = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), X.shape)
        return DocumentFrequencies(float(block.weight.sum()), present.T.dot(block.weight))

    def estimate(self, s: DocumentFrequencies) -> Self:
        return self.replace(of_words=COLLECTION[self.collection](s.weight, s.documents))

    def weigh(self, X: Matrix) -> sp.csr_array:
        """The weighted rows of counts X."""
        X = _without_zeros(X)
        x = LOCAL[self.local](X.data, X) * self.of_words[X.indices]
        X = sp.csr_array((x, X.indices, X.indptr), X.shape)
        return X if self.norm is None else sp.csr_array(normalize(X, self.norm, copy=False))


def _without_zeros(X: Matrix) -> sp.csr_array:
    X = sp.csr_array(X, dtype=np.float64)
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    return X


class TermWeighting(OneToOneFeatureMixin, TransformerMixin, Updatable):
    """Weight the words of documents (tf-idf and variants): local times collection weight, then a norm.

    With tf the count of a word in a document, N the number of documents and n the number of those with the
    word:

    ============== =========================================
    ``local``
    ============== =========================================
    'frequency'    tf
    'relative'     tf / length of the document
    'binary'       1
    'augmented'    (1 + tf / largest tf of the document) / 2
    'log'          log(1 + tf)
    'sublinear'    1 + log(tf)
    ============== =========================================

    ============== =========================================
    ``collection``
    ============== =========================================
    None           1
    'idf'          log(N / n)
    'smooth_idf'   log((1 + N) / (1 + n)) + 1
    ============== =========================================

    Words that do not occur in a document have weight zero. The tf-idf of Li is 'relative' with 'idf' and no
    norm; that of Gong and Xu 'frequency' with 'idf' and the l2 norm; that of scikit-learn 'frequency' with
    'smooth_idf' and the l2 norm.

    Parameters
    ----------
    local : {'frequency', 'relative', 'binary', 'augmented', 'log', 'sublinear'}, default='frequency'
        Local weight: of a word in a document.
    collection : {'idf', 'smooth_idf', None}, default='idf'
        Weight of a word in the collection.
    norm : {'l2', 'l1', None}, default='l2'
        Norm to which the weights of a document are scaled.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        Weight of each word in the collection.
    model_ : Weights
        The fitted model.
    statistics_ : DocumentFrequencies
        The sums. `partial_fit` adds to them.

    See Also
    --------
    suffice.feature_extraction.CountVectorizer : Counts the words.
    rank_documents : Documents most like a query.
    LatentSemanticAnalysis : Coordinates of weighted documents.

    Notes
    -----
    The default, before the norm, is

    .. math::

        x_{dw} = \\mathrm{tf}_{dw} \\log \\frac{N}{n_w}.

    References
    ----------
    * Salton and Buckley (1988), "Term-weighting approaches in automatic text retrieval", Information
      Processing and Management 24.

    Examples
    --------
    >>> from suffice.topics import TermWeighting
    >>> counts = [[2, 1, 0], [0, 1, 1], [0, 1, 0]]
    >>> TermWeighting(local="relative", norm=None).fit_transform(counts).round(3)
    array([[0.732, 0.   , 0.   ],
           [0.   , 0.   , 0.549],
           [0.   , 0.   , 0.   ]])
    """

    model_: Annotated[Weights, "V = D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "local": [StrOptions(set(LOCAL))],
        "collection": [StrOptions({"idf", "smooth_idf"}), None],
        "norm": [StrOptions({"l2", "l1"}), None],
    }
    __sklearn_tags__ = tags(sparse=True, positive_only=True)
    _guarantee = Guarantee.always("bit")

    def __init__(
        self, local: str = "frequency", collection: str | None = "idf", norm: str | None = "l2"
    ) -> None:
        self.local = local
        self.collection = collection
        self.norm = norm

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Weights:
        return Weights(np.ones(self.n_features_in_), self.local, self.collection, self.norm)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"idf_": progress.model.of_words}

    @row_wise
    def transform(self, X: Any) -> Any:
        """Weight the words. The result is CSR if the counts are CSR, otherwise an array.

        For a described table of sparse rows it returns another description: the rows are weighted when they
        are read.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self.transform_rows(read_rows(self, X))

    def _row_transformer(self) -> tuple[Any, int]:
        return self, self.n_features_in_

    def transform_rows(self, X: Any) -> Any:
        """Return the weighted counts of a block, CSR if the counts are CSR, otherwise an array."""
        weighed = self.model_.weigh(X)
        return weighed if sp.issparse(X) else weighed.toarray()
