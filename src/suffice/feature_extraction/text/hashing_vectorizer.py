"""Bag of words by hashing: a word's column is a hash of it. Nothing is learned.

Weinberger, Dasgupta, Langford, Smola and Attenberg, "Feature hashing for large scale multitask learning",
2009.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.feature_extraction.text import HashingVectorizer as _Hasher

from ...core.arguments import MaybeArray
from ...core.loop import Progress
from ...estimator.answers import row_wise
from ...estimator.base import Estimator
from ...estimator.guarantees import Exempt, Guarantee
from ...estimator.parameters import Interval, StrOptions, check_parameters
from ...estimator.tags import tags
from ...inputs import Table
from .count_vectorizer import CountVectorizer, _texts, must_be_numeric, takes_texts, text_of

SHARED = (
    *("input", "encoding", "decode_error", "strip_accents", "lowercase", "preprocessor", "tokenizer"),
    *("stop_words", "token_pattern", "ngram_range", "analyzer", "binary", "dtype"),
)


class HashingVectorizer(TransformerMixin, Estimator, auto_wrap_output_keys=None):
    r"""Convert documents to a matrix of word counts, with the hash of a word as its column.

    There is no vocabulary, so nothing is fitted. Documents in files or on a cluster are hashed there.

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
    stop_words : str or list, default=None
        Stop words to remove: a list, or 'english' for the list of scikit-learn.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        Regular expression of a word.
    ngram_range : tuple, default=(1, 1)
        Minimum and maximum n of the n-grams of words or characters.
    analyzer : str or callable, default='word'
        Features to count: 'word', 'char' or 'char_wb' n-grams, or a function that returns the features of a
        document.
    n_features : int, default=1048576
        Number of columns. Words with the same hash share a column.
    binary : bool, default=False
        Whether to set all non-zero counts to 1.
    norm : {'l1', 'l2'} or None, default='l2'
        Norm to which the counts of a document are scaled.
    alternate_sign : bool, default=True
        Whether the hash also gives each word a sign, so that words of one column cancel on average.
    dtype : type, default=np.float64
        Type of the counts.

    See Also
    --------
    CountVectorizer : With a vocabulary.
    TfidfVectorizer : With a vocabulary, weighted by tf-idf.

    Notes
    -----
    With h the hash of a word, and s its sign,

    .. math::

        x_{dj} = ∑_{w : h(w) = j} s(w)\, \mathrm{tf}_{dw}.

    References
    ----------
    * Weinberger, Dasgupta, Langford, Smola and Attenberg (2009), "Feature hashing for large scale multitask
      learning", ICML.

    Examples
    --------
    >>> from suffice.feature_extraction.text import HashingVectorizer
    >>> X = HashingVectorizer(n_features=16, norm=None).transform(["red red wine", "white wine"])
    >>> X.shape, float(abs(X).sum())
    ((2, 16), 5.0)
    """

    exempt = (Exempt("model", "Nothing is fitted."),)

    takes = "documents"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: CountVectorizer._parameter_constraints[name] for name in SHARED},
        "n_features": [Interval(Integral, 1, np.iinfo(np.int32).max, closed="left")],
        "norm": [StrOptions({"l1", "l2"}), None],
        "alternate_sign": ["boolean"],
    }
    __sklearn_tags__ = tags(string=True, two_d_array=False, requires_fit=False)
    _guarantee = Guarantee.always("bit")

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
        stop_words: Any = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: Any = np.float64,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype

    def _check_options(self) -> None:
        self._hasher()._warn_for_unused_params()
        self._hasher()._validate_ngram_range()

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """Check the documents. Nothing is learned from them, so weights are ignored."""
        if not isinstance(X, Table):
            _texts(X)

    def _solve(self, data: Any) -> Progress:
        return Progress(None)

    def partial_fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """The same as `fit`."""
        return self.fit(X, y)

    def fit_transform(self, X: Any, y: MaybeArray = None) -> Any:
        """The same as `transform`, after `fit`."""
        return self.fit(X, y).transform(X)

    @row_wise
    def transform(self, X: Any) -> sp.csr_array:
        """Count the words of the documents by their hashes.

        For documents in memory it returns a CSR array. For a table described by `suffice.documents` it
        returns another description: the words are counted when the rows are read.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_parameters(self)
        return self.transform_rows(_texts(X))

    def transform_rows(self, X: Any) -> Any:
        """The counts of the texts of a block."""
        hasher, texts = self._hasher(), X[:, 0]
        if not len(texts):  # which scikit-learn does not take
            return sp.csr_array((0, self.n_features), dtype=self.dtype)
        if takes_texts(self.get_params(deep=False)):
            texts = map(text_of, texts)
        return sp.csr_array(hasher.transform(texts))

    def _row_transformer(self) -> tuple[Any, int]:
        return self, self.n_features

    def _hasher(self) -> _Hasher:
        must_be_numeric(self.dtype)
        return _Hasher(**self.get_params(deep=False))

    def build_analyzer(self) -> Any:
        """The function that splits a text into words or n-grams."""
        return self._hasher().build_analyzer()

    def build_preprocessor(self) -> Any:
        """The function that is applied to a text before it is split into words."""
        return self._hasher().build_preprocessor()

    def build_tokenizer(self) -> Any:
        """The function that splits a text into words."""
        return self._hasher().build_tokenizer()

    def decode(self, doc: Any) -> str:
        """The text of a document that is a string, bytes, a file or the name of a file."""
        return self._hasher().decode(doc)

    def get_stop_words(self) -> Any:
        """The stop words as a set, or None."""
        return self._hasher().get_stop_words()
