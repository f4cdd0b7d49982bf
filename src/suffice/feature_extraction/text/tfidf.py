"""Term frequency times inverse document frequency (tf-idf), as scikit-learn weights them.

Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988. Both frequencies are sums
over the documents: those of `TfidfVectorizer` come with the vocabulary, in the same pass.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from ...core.arguments import MaybeArray
from ...core.blocks import Rows
from ...core.callers import warn
from ...core.loop import Progress
from ...core.partitions import Partitions
from ...estimator.answers import row_wise
from ...estimator.base import Updatable
from ...estimator.guarantees import Exempt, Guarantee
from ...estimator.parameters import StrOptions
from ...estimator.tags import tags
from ...inputs import read_rows
from ...topics.term_weighting import DocumentFrequencies, Weights
from .count_vectorizer import CountVectorizer, Vocabulary

OPTIONS: dict[str, Any] = {
    "norm": [StrOptions({"l1", "l2"}), None],
    "use_idf": ["boolean"],
    "smooth_idf": ["boolean"],
    "sublinear_tf": ["boolean"],
}


def _weights(estimator: BaseEstimator, size: int) -> Weights:
    """The term weights that the parameters of an estimator describe."""
    idf = "smooth_idf" if estimator.smooth_idf else "idf_plus_one"
    local = "sublinear" if estimator.sublinear_tf else "frequency"
    return Weights(np.ones(size), local, idf if estimator.use_idf else None, estimator.norm)


def _checked_idf(value: Any, size: int | None) -> np.ndarray:
    idf = np.array(value, dtype=np.float64)
    if idf.ndim != 1 or size not in (None, len(idf)):
        raise ValueError(f"idf length = {idf.size} must be equal to vocabulary size = {size}")
    return idf


class TfidfTransformer(OneToOneFeatureMixin, TransformerMixin, Updatable, auto_wrap_output_keys=None):
    """Weight counts of words by tf-idf.

    Parameters
    ----------
    norm : {'l1', 'l2'} or None, default='l2'
        Norm to which the weights of a document are scaled.
    use_idf : bool, default=True
        Whether to multiply by the inverse document frequency.
    smooth_idf : bool, default=True
        Whether to count one more document that has every word.
    sublinear_tf : bool, default=False
        Whether to replace the count tf by 1 + log(tf).

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        Inverse document frequency of each word. It can be set.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Weights
        The fitted model.
    statistics_ : DocumentFrequencies
        The sums. `partial_fit` adds to them.

    See Also
    --------
    TfidfVectorizer : From texts.
    suffice.topics.TermWeighting : Other local and collection weights.

    Notes
    -----
    With N documents, of which n_w have the word w,

    .. math::

        x_{dw} = \\mathrm{tf}_{dw} \\left(\\log \\frac{1 + N}{1 + n_w} + 1\\right)

    before the norm; without `smooth_idf`, the ratio is N / n_w.

    References
    ----------
    * Salton and Buckley (1988), "Term-weighting approaches in automatic text retrieval", Information
      Processing and Management 24.

    Examples
    --------
    >>> from suffice.feature_extraction.text import TfidfTransformer
    >>> TfidfTransformer(norm=None).fit_transform([[2, 1], [0, 1]]).toarray().round(3)
    array([[2.811, 1.   ],
           [0.   , 1.   ]])
    """

    exempt = (Exempt("shift", "It takes rows for counts of words.", lambda e: e.norm is not None),)

    model_: Annotated[Weights, "V = D"]
    preserves_dtype = ("transform",)
    _parameter_constraints: ClassVar[dict[str, Any]] = OPTIONS
    __sklearn_tags__ = tags(sparse=True)
    _guarantee = Guarantee.always("bit")

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Weights:
        return _weights(self, self.n_features_in_)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {}

    @property
    def idf_(self) -> np.ndarray:
        """Inverse document frequency of each word."""
        if not hasattr(self, "model_") or not self.use_idf:
            raise AttributeError("idf_ is there after fit, with use_idf=True.")
        return self.model_.of_words

    @idf_.setter
    def idf_(self, value: Any) -> None:
        idf = _checked_idf(value, getattr(self, "n_features_in_", None))
        self.n_features_in_ = len(idf)
        self.model_ = _weights(self, len(idf)).replace(of_words=idf)

    @row_wise
    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weight the counts. The result is CSR.

        `copy` is ignored: `X` is never modified. For a described table of sparse rows it returns another
        description: the rows are weighted when they are read.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self.transform_rows(read_rows(self, X))

    def _row_transformer(self) -> tuple[Any, int]:
        return self, self.n_features_in_

    def transform_rows(self, X: Any) -> Any:
        """The weighted counts of a block."""
        # With the parameters as they are now: only the frequencies are fitted.
        return _weights(self, 0).replace(of_words=self.model_.of_words).weigh(X)


class TfidfVectorizer(CountVectorizer, auto_wrap_output_keys=None):
    r"""Convert documents to a matrix of tf-idf weights. One pass learns the vocabulary and the frequencies.

    It equals :class:`CountVectorizer` followed by :class:`TfidfTransformer`.

    Parameters
    ----------
    input : str, default='content'
        Type of a document: its text ('content'), or a 'filename' or 'file' to read.
    encoding : str, default='utf-8'
        Encoding of documents that are bytes or files.
    decode_error : str, default='strict'
        How to handle bytes that cannot be decoded: 'strict', 'ignore' or 'replace'.
    strip_accents : str or callable, default=None
        Method that removes accents: 'ascii', 'unicode' or a function. If None, accents are kept.
    lowercase : bool, default=True
        Whether to convert to lower case.
    preprocessor : callable, default=None
        Used instead of `strip_accents` and `lowercase`.
    tokenizer : callable, default=None
        Used instead of `token_pattern`.
    analyzer : str or callable, default='word'
        Features to count: 'word', 'char' or 'char_wb' n-grams, or a function that returns the features of a
        document.
    stop_words : str or list, default=None
        Stop words to remove: a list, or 'english' for the list of scikit-learn.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        Regular expression of a word.
    ngram_range : tuple, default=(1, 1)
        Minimum and maximum n of the n-grams of words or characters.
    max_df : float or int, default=1.0
        Ignore words with a higher document frequency: a float is a proportion, an int a number of documents.
    min_df : float or int, default=1
        Ignore words with a lower document frequency, as in `max_df`.
    max_features : int, default=None
        Maximum number of words to keep, by total frequency.
    vocabulary : mapping or iterable, default=None
        The words to count. If given, the vocabulary is not learned from the documents.
    binary : bool, default=False
        Whether to set all non-zero counts to 1.
    dtype : type, default=np.float64
        Type of the weights.
    norm : {'l1', 'l2'} or None, default='l2'
        Norm to which the weights of a document are scaled.
    use_idf : bool, default=True
        Whether to multiply by the inverse document frequency.
    smooth_idf : bool, default=True
        Whether to count one more document that has every word.
    sublinear_tf : bool, default=False
        Whether to replace the count tf by 1 + log(tf).

    Attributes
    ----------
    vocabulary_ : dict
        The column of each word.
    fixed_vocabulary_ : bool
        Whether the vocabulary was passed by the user.
    idf_ : ndarray of shape (n_features,)
        Inverse document frequency of each word. It can be set.
    model_ : Vocabulary
        The vocabulary and the analyzer.
    weights_ : Weights
        The term weights.
    statistics_ : WordCounts or DocumentFrequencies
        The sums: for every word of the documents, or for those of the vocabulary passed by the user.

    See Also
    --------
    CountVectorizer : Counts the words.
    TfidfTransformer : Weights counts.
    HashingVectorizer : No vocabulary.

    Notes
    -----
    With tf the count of the word w in the document d, and N documents, of which n_w have the word,

    .. math::

        x_{dw} = \mathrm{tf}_{dw} \left(\log \frac{1 + N}{1 + n_w} + 1\right)

    before the norm.

    References
    ----------
    * Salton and Buckley (1988), "Term-weighting approaches in automatic text retrieval", Information
      Processing and Management 24.

    Examples
    --------
    >>> from suffice.feature_extraction.text import TfidfVectorizer
    >>> vectorizer = TfidfVectorizer(norm=None)
    >>> vectorizer.fit_transform(["red red wine", "white wine"]).toarray().round(3)
    array([[2.811, 0.   , 1.   ],
           [0.   , 1.405, 1.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**CountVectorizer._parameter_constraints, **OPTIONS}

    weights_: Annotated[Weights, "V or None"]  # which a fit to documents learns

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            analyzer=analyzer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _start(self, data: Partitions | None, classes: MaybeArray = None) -> Vocabulary:
        start = super()._start(data, classes)
        options = {name: value for name, value in start.options.items() if name not in OPTIONS}
        return start.replace(options=options)

    def _check_options(self) -> None:
        super()._check_options()
        if np.dtype(self.dtype) not in (np.float32, np.float64):
            warn(
                "Only float32 and float64 'dtype' should be used. "
                f"{self.dtype} 'dtype' will be converted to np.float64.",
                UserWarning,
            )

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        reads = self.vocabulary is None or (X is not None and self.use_idf)
        return self._documents(X, sample_weight) if reads else None

    def _solve(self, data: Partitions, classes: MaybeArray = None) -> Progress:
        progress = super()._solve(data)
        if self.vocabulary is None or data is None:
            return progress
        start = _weights(self, len(progress.model.words))
        return progress.replace(statistics=data.fold(_frequencies, progress.model, start))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        fitted, weights = super()._fitted(progress), _weights(self, len(model.words))
        if isinstance(s, DocumentFrequencies):
            weights = weights.estimate(s)
        elif s is not None:
            words = self._start(None).kept(s)
            weights = weights.estimate(DocumentFrequencies(s.weight, s.documents[words]))
        elif self.use_idf:
            return fitted  # the frequencies are of the documents
        return {**fitted, "weights_": weights}

    def fit_transform(
        self, raw_documents: Any, y: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Any:
        """Fit, then transform. Documents in memory are read once."""
        X = super().fit_transform(raw_documents, y, sample_weight)
        learnt = self.vocabulary is None and sample_weight is None and sp.issparse(X)
        return self._weigh(X) if learnt else X

    @row_wise
    def transform(self, raw_documents: Any) -> Any:
        """The weights of the words of the vocabulary.

        For documents in memory it returns a CSR array. For a table described by `suffice.documents` it
        returns another description: the words are weighted when the rows are read.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._weigh(super().transform(raw_documents))

    def _weigh(self, X: Any) -> sp.csr_array:
        if not hasattr(self, "weights_"):
            raise NotFittedError("The idf vector is not fitted: call fit with documents, or set idf_.")
        weights = _weights(self, 0).replace(of_words=self.weights_.of_words)
        return weights.weigh(X).astype(self._float(), copy=False)

    def _float(self) -> Any:
        return np.float32 if np.dtype(self.dtype) == np.float32 else np.float64

    def transform_rows(self, X: Any) -> Any:
        """The weights of the texts of a block."""
        return self._weigh(self.model_.count(X))

    @property
    def idf_(self) -> np.ndarray:
        """Inverse document frequency of each word."""
        if not hasattr(self, "weights_") or not self.use_idf:
            raise NotFittedError("The idf vector is not fitted: call fit, with use_idf=True.")
        return self.weights_.of_words.astype(self._float(), copy=False)

    @idf_.setter
    def idf_(self, value: Any) -> None:
        if not self.use_idf:
            raise ValueError("`idf_` cannot be set when `user_idf=False`: set use_idf=True.")
        self._learnt()
        size = len(self.model_.words)
        self.weights_ = _weights(self, size).replace(of_words=_checked_idf(value, size))


def _frequencies(vocabulary: Vocabulary, weights: Weights, block: Rows) -> DocumentFrequencies:
    return weights.summarize(block.replace(X=vocabulary.count(block.X)))
