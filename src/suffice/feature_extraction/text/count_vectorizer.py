"""Bag of words: counts of words in documents. The vocabulary is a sum over the documents. Li ch. 17; Gong and
Xu ch. 3."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer as _Analyzer
from sklearn.utils.validation import check_is_fitted

from ...core.arguments import MaybeArray
from ...core.blocks import Rows, offsets
from ...core.callers import warn
from ...core.cost import afford
from ...core.loop import Progress
from ...core.model import Model
from ...core.partitions import Partitions
from ...core.shapes import must
from ...core.statistics import Statistics
from ...estimator.answers import row_wise
from ...estimator.base import OnePass
from ...estimator.guarantees import Guarantee
from ...estimator.parameters import AT_LEAST_1, HasMethods, Interval, RealNotInt, StrOptions
from ...estimator.tags import tags
from ...inputs import Check, Table, in_blocks, open_rows, source_of
from ...inputs.checks import weights_of

# What a word takes while it is counted, in numbers: the string, its places in a dictionary and a list.
WORD_NUMBERS = 30


@dataclass(frozen=True, eq=False)
class WordCounts(Statistics):
    """Sorted words, with their document frequencies and numbers of occurrences."""

    weight: float  # of all documents
    words: Annotated[np.ndarray, "strings (V,)"]
    documents: Annotated[np.ndarray, "(V,)"]
    occurrences: Annotated[np.ndarray, "(V,)"]

    def __add__(self, other: Self) -> Self:
        mine = set(self.words)
        new = [word for word in other.words if word not in mine]
        words = sorted([*self.words, *new])  # two runs, which are merged
        afford(
            WORD_NUMBERS * len(words),
            f"{len(words)} words",
            "count words instead of pairs of them, or pass vocabulary= with the words to count, e.g. of a "
            "sample of the documents.",
        )
        place = dict(zip(words, range(len(words)), strict=True))
        documents, occurrences = np.zeros(len(words)), np.zeros(len(words))
        for part in (self, other):
            at = np.fromiter(map(place.__getitem__, part.words), np.int64, len(part.words))
            documents[at] += part.documents
            occurrences[at] += part.occurrences
        return self.replace(
            weight=self.weight + other.weight,
            words=_strings(words),
            documents=documents,
            occurrences=occurrences,
        )

    def __mul__(self, factor: float) -> Self:
        return self.replace(
            weight=self.weight * factor,
            documents=self.documents * factor,
            occurrences=self.occurrences * factor,
        )

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Vocabulary(Model):
    """The vocabulary, the options of the analyzer, and the limits of document frequency."""

    words: Annotated[np.ndarray, "strings (V,)"]
    options: dict[str, Any]  # of scikit-learn's analyzer
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        _Analyzer(**self.options)._validate_params()
        must(all(isinstance(n, int) for n in self.options["ngram_range"]), "`ngram_range` has no numbers.")

    @cached_property
    def analyze(self) -> Callable[[Any], list[str]]:
        options = self.options
        return partial(_analyzed, _Analyzer(**options).build_analyzer(), takes_texts(options))

    @cached_property
    def place(self) -> dict[str, int]:
        return dict(zip(self.words.tolist(), range(len(self.words)), strict=True))

    def count(self, X: np.ndarray) -> sp.csr_array:
        """The counts of the words of the vocabulary in the texts X (N, 1)."""
        return self._rows(*_counted(map(self.analyze, X[:, 0]), self.place.get), len(self.words))

    def learn(self, X: np.ndarray) -> tuple[np.ndarray, sp.csr_array]:
        """All words of the texts X (N, 1), sorted, and their counts."""
        place: defaultdict[str, int] = defaultdict()
        place.default_factory = place.__len__  # a new word has the next place
        counts, indices, lengths = _counted(map(self.analyze, X[:, 0]), place.__getitem__)
        words = sorted(place)
        rank = np.empty(len(words), np.int64)
        rank[[place[word] for word in words]] = np.arange(len(words))
        return _strings(words), self._rows(counts, rank[indices], lengths, len(words))

    def _rows(self, counts: Any, indices: Any, lengths: Any, size: int) -> sp.csr_array:
        kind = np.int32 if max(size, len(counts)) < 1 << 31 else np.int64
        data = np.array(counts, dtype=self.options["dtype"])
        if self.options["binary"]:
            data.fill(1)
        parts = (data, np.array(indices, kind), offsets(lengths).astype(kind))
        X = sp.csr_array(parts, (len(lengths), size))
        X.sort_indices()
        return X

    def summarize(self, block: Rows) -> WordCounts:
        words, X = self.learn(block.X)
        return self.summarize_counts(words, X, block.weight)

    def summarize_counts(self, words: np.ndarray, X: sp.csr_array, weight: np.ndarray) -> WordCounts:
        present = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), X.shape)
        return WordCounts(
            float(weight.sum()), words, present.T.dot(weight), X.astype(np.float64).T.dot(weight)
        )

    def estimate(self, s: WordCounts) -> Self:
        """The model with the words within min_df and max_df, or the most frequent of them."""
        return self.replace(words=s.words[self.kept(s)])

    def kept(self, s: WordCounts) -> np.ndarray:
        """Indices of the words to keep."""
        if not len(s.words):
            raise ValueError(
                "empty vocabulary; perhaps the documents only contain stop words. See stop_words and "
                "token_pattern."
            )
        # Sums of weights round: a share is reached by what is as near as that.
        least, most = (
            df if isinstance(df, Integral) else df * s.weight * (1.0 + slack)
            for df, slack in ((self.min_df, -1e-9), (self.max_df, 1e-9))
        )
        if most < least:
            raise ValueError(
                f"max_df corresponds to < documents than min_df: at most {most:g}, and at least {least:g}."
            )
        frequent = np.flatnonzero((s.documents >= least) & (s.documents <= most))
        if self.max_features is not None:
            # Stable: of words that are equally common, the first of the alphabet.
            common = np.argsort(-s.occurrences[frequent], kind="stable")
            frequent = np.sort(frequent[common[: self.max_features]])
        if not len(frequent):
            raise ValueError(
                f"After pruning, no terms remain of {len(s.words)}. Try a lower min_df or a higher max_df."
            )
        return frequent


class CountVectorizer(TransformerMixin, OnePass, auto_wrap_output_keys=None):
    r"""Convert documents to a matrix of word counts. The vocabulary is learned in one pass.

    scikit-learn's analyzers split the texts into words. The sum holds each word with its document frequency,
    so it grows with the number of distinct words and not with the number of documents. A vocabulary larger
    than a quarter of the memory is refused. If words are equally frequent, `max_features` keeps them in
    alphabetical order.

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
    dtype : type, default=np.int64
        Type of the counts.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each word.
    fixed_vocabulary_ : bool
        Whether the vocabulary was passed by the user.
    model_ : Vocabulary
        The vocabulary and the analyzer.
    statistics_ : WordCounts
        The sums for every word of the documents, including those that were removed. None if the vocabulary
        was passed by the user.

    See Also
    --------
    suffice.documents : Describe a table with a column of texts.
    suffice.topics.TermWeighting : Weight the counts, e.g. by tf-idf.

    Notes
    -----
    A document d becomes the row of its counts, one column for each word w of the vocabulary:

    .. math::

        x_{dw} = \mathrm{number\ of\ times\ that\ } w \mathrm{\ occurs\ in\ } d.

    References
    ----------
    * Salton, Wong and Yang (1975), "A vector space model for automatic indexing", Communications of the ACM
      18.

    Examples
    --------
    >>> from suffice.feature_extraction.text import CountVectorizer
    >>> vectorizer = CountVectorizer(stop_words=["the"])
    >>> vectorizer.fit_transform(["The cat sat", "the cat, the cat"]).toarray()
    array([[1, 1],
           [2, 0]])
    >>> vectorizer.get_feature_names_out()
    array(['cat', 'sat'], dtype=object)
    """

    model_: Annotated[Vocabulary, "V"]
    takes = "documents"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "input": [StrOptions({"content", "file", "filename"})],
        "encoding": [str],
        "decode_error": [StrOptions({"strict", "ignore", "replace"})],
        "strip_accents": [StrOptions({"ascii", "unicode"}), None, callable],
        "lowercase": ["boolean"],
        "preprocessor": [callable, None],
        "tokenizer": [callable, None],
        "stop_words": [StrOptions({"english"}), list, None],
        "token_pattern": [str, None],
        "ngram_range": [tuple],
        "analyzer": [StrOptions({"word", "char", "char_wb"}), callable],
        "max_df": [Interval(RealNotInt, 0, 1, closed="both"), AT_LEAST_1],
        "min_df": [Interval(RealNotInt, 0, 1, closed="both"), AT_LEAST_1],
        "max_features": [AT_LEAST_1, None],
        "vocabulary": [Mapping, HasMethods("__iter__"), None],
        "binary": ["boolean"],
        "dtype": "no_validation",
    }
    __sklearn_tags__ = tags(string=True, two_d_array=False)
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
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
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
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype

    def fit(self, raw_documents: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Learn the vocabulary in one pass over the documents.

        Parameters
        ----------
        raw_documents : list of str, column of strings, or described table
            The documents. `suffice.documents` describes tables, scans and distributed data sets.
        y : None
            Ignored.
        sample_weight : array, optional
            Per-document weights. A weight of 2 is equivalent to repeating the document; 0 drops it.

        Returns
        -------
        self
        """
        return self._fit_to(raw_documents, None, sample_weight)

    def _check_options(self) -> None:
        """Warn of parameters without effect."""
        self._analyzer()._warn_for_unused_params()

    def _finish(self, progress: Progress, data: Any) -> None:
        if self.fixed_vocabulary_ and self.lowercase and any(map(_has_upper_case, self.model_.words)):
            warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not "
                "be matched with any documents",
                UserWarning,
            )

    def fit_transform(
        self, raw_documents: Any, y: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Any:
        """Fit, then transform. Documents in memory are read once."""
        if isinstance(raw_documents, Table) or self.vocabulary is not None or sample_weight is not None:
            return self.fit(raw_documents, y, sample_weight).transform(raw_documents)
        self._check_options()
        texts, start = _texts(raw_documents), self._start(None)
        words, X = start.learn(texts)
        s = start.summarize_counts(words, X, np.ones(len(texts)))
        self._publish(self._estimated(start, s))
        return X[:, start.kept(s)]

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """The documents; None if they are not read, since the vocabulary is fixed."""
        return self._documents(X, sample_weight) if self.vocabulary is None else None

    def _solve(self, data: Any, classes: MaybeArray = None) -> Progress:
        if self.vocabulary is None:
            return super()._solve(data)
        try:
            words = _Analyzer(vocabulary=self.vocabulary).get_feature_names_out()
        except TypeError:  # of words that have no hash, or no order
            raise TypeError(
                f"vocabulary={self.vocabulary!r:.60} must contain words: pass strings, e.g. ['cat', 'sat']."
            ) from None
        except ValueError as error:
            raise ValueError(
                f"{error} A dict vocabulary= numbers its words from 0 on: pass that, or a list of strings."
            ) from None
        return Progress(self._start(None).replace(words=words))

    def _documents(self, X: Any, sample_weight: MaybeArray) -> Partitions:
        if not isinstance(X, Table):
            texts = _texts(X)
            weight = weights_of("CountVectorizer", sample_weight, len(texts))
            return in_blocks(Check.of(self).kept(Rows(texts, None, weight)))
        data = open_rows(self, X, None, sample_weight)
        del self.n_features_in_  # a text is not a feature
        return data

    def _start(self, data: Partitions | None, classes: MaybeArray = None) -> Vocabulary:
        apart = ("min_df", "max_df", "max_features", "vocabulary")
        options = {k: v for k, v in self.get_params(deep=False).items() if k not in apart}
        must_be_numeric(self.dtype)
        least, most = self.ngram_range
        if least > most:
            raise ValueError(
                f"Invalid value for ngram_range={self.ngram_range} lower boundary larger than the upper "
                f"boundary. Pass ({most}, {least})."
            )
        return Vocabulary(_strings(()), options, self.min_df, self.max_df, self.max_features)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"vocabulary_": progress.model.place, "fixed_vocabulary_": self.vocabulary is not None}

    @row_wise
    def transform(self, raw_documents: Any) -> Any:
        """Count the words of the vocabulary.

        For documents in memory it returns a CSR array. For a table described by `suffice.documents` it
        returns another description, which estimators of counts accept: the words are counted when the rows
        are read.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        self._learnt()
        return self.model_.count(_texts(raw_documents))

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """The words with a non-zero count in each row."""
        self._learnt()
        X = sp.csr_array(X)
        return [self.model_.words[X.indices[a:b]] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Words in the order of the columns."""
        self._learnt()
        return self.model_.words.copy()

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """The function that splits a text into words or n-grams."""
        return self._start(None).analyze

    def build_preprocessor(self) -> Callable[[str], str]:
        """The function that is applied to a text before it is split into words."""
        return self._analyzer().build_preprocessor()

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """The function that splits a text into words."""
        return self._analyzer().build_tokenizer()

    def decode(self, doc: Any) -> str:
        """The text of a document that is a string, bytes, a file or the name of a file."""
        return self._analyzer().decode(doc)

    def get_stop_words(self) -> Any:
        """The stop words as a set, or None."""
        return self._analyzer().get_stop_words()

    def _analyzer(self) -> _Analyzer:
        return _Analyzer(**self._start(None).options)

    def _row_transformer(self) -> tuple[Any, int]:
        return self, len(self.model_.words)

    def _entries(self) -> float | None:
        """Non-zero entries of a row, on average; 0 if they were not counted."""
        s = self.statistics_
        return 0.0 if s is None else float(s.documents.sum() / s.weight)

    def transform_rows(self, X: Any) -> Any:
        """The counts of the texts of a block."""
        return self.model_.count(X)

    def _learnt(self) -> None:
        if self.vocabulary is not None and not hasattr(self, "model_"):  # there is nothing to learn
            self._publish(self._solve(None))
        check_is_fitted(self)


def must_be_numeric(dtype: Any) -> None:
    """Raise for a parameter that is not a type of numbers."""
    try:
        numbers = np.dtype(dtype).kind in "biufc"
    except TypeError:
        numbers = False
    if not numbers:
        raise ValueError(f"dtype={dtype!r} is not a numeric type: pass one, e.g. dtype=np.int64.")


def takes_texts(options: dict[str, Any]) -> bool:
    """Whether documents must be texts: functions and files take others."""
    reads = options["input"] == "content" and options["preprocessor"] is None
    return reads and not callable(options["analyzer"])


def text_of(document: Any) -> Any:
    """Return the document if it is text, otherwise raise a TypeError."""
    if isinstance(document, str | bytes):
        return document
    raise TypeError(
        f"A document is {document!r:.60} ({type(document).__name__}), expected a string: "
        f"pass texts, or a function analyzer= that returns the words of a document."
    )


def _has_upper_case(word: str) -> bool:
    return any(map(str.isupper, word))


def _analyzed(cut_up: Callable[[Any], list[str]], of_text: bool, document: Any) -> list[str]:
    """The words of a document."""
    try:
        return cut_up(text_of(document) if of_text else document)
    except UnicodeDecodeError as error:
        error.reason += ". Pass the encoding of the documents, or decode_error='replace'"
        raise


def _counted(
    documents: Iterable[list[str]], place: Callable[[str], int | None]
) -> tuple[list[int], list[int], list[int]]:
    """Counts of the words of a document, their indices, and the number of words of the document."""
    counts: list[int] = []
    indices: list[Any] = []
    lengths = []
    for words in documents:
        word_counts = Counter(map(place, words))
        word_counts.pop(None, None)  # what has no place
        counts += word_counts.values()
        indices += word_counts
        lengths.append(len(word_counts))
    return counts, indices, lengths


def _texts(documents: Any) -> np.ndarray:
    """Documents in memory, (N, 1)."""
    if isinstance(documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received: pass [text].")
    source = source_of(documents)
    if not source.is_plain or not isinstance(documents, Iterable):
        raise ValueError(
            f"Iterable over raw text documents expected, {type(documents).__name__} received: for a table or "
            'a data set, pass suffice.documents(table, text="column").'
        )
    shape = getattr(documents, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(
            f"Iterable over raw text documents expected, received an array of shape {shape}: for a table, "
            'pass suffice.documents(table, text="column"); for an array, its column.'
        )
    arrow = sys.modules.get("pyarrow")
    if arrow and isinstance(documents, arrow.Array | arrow.ChunkedArray):
        documents = documents.to_pylist()
    listed = list(documents)
    X = np.empty((len(listed), 1), object)
    X[:, 0] = listed
    missing = () if {str, bytes}.issuperset(map(type, listed)) else enumerate(listed)
    for n, text in missing:
        if text is None or (isinstance(text, float) and text != text) or type(text).__name__ == "NAType":
            raise ValueError(
                "np.nan is an invalid document, expected byte or unicode string. "
                f'Document {n} is missing ({text}): leave it out, or pass "", a document without words.'
            )
    return X


def _strings(words: Any) -> np.ndarray:
    out = np.empty(len(words), object)
    out[:] = words
    return out
