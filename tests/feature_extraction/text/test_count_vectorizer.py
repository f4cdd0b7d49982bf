"""Texts become counts as scikit-learn counts them, wherever they are, and the vocabulary is a sum."""

from __future__ import annotations

import contextlib
import pickle
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer as Theirs

import suffice
from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from suffice.feature_extraction.text.count_vectorizer import Vocabulary, WordCounts
from suffice.topics import ProbabilisticLatentSemanticAnalysis, TermWeighting

from ...laws.registry import bits

rng = np.random.default_rng(0)
WORDS = np.array([f"w{n:03}" for n in range(150)])
TEXTS = [
    " ".join(rng.choice(WORDS, size=rng.integers(1, 40), p=np.arange(1, 151) / np.arange(1, 151).sum()))
    for _ in range(300)
]
TEXTS += ["", "The QUICK, quick fox; the lazy dog.", "Äpfel café naïve", "12 345 a b c"]


def assert_as_theirs(texts, **options):
    ours, theirs = CountVectorizer(**options), Theirs(**options)
    expected = theirs.fit_transform(texts)
    expected.sort_indices()  # theirs stand in any order
    for found in (ours.fit_transform(texts), ours.fit(texts).transform(texts)):
        assert ours.vocabulary_ == theirs.vocabulary_
        assert ours.fixed_vocabulary_ == theirs.fixed_vocabulary_
        assert isinstance(found, sp.csr_array) and found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.data, expected.data)
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    new = ["w003 w003 unknown", "", "the fox"]
    np.testing.assert_array_equal(ours.transform(new).toarray(), theirs.transform(new).toarray())
    back, their_back = ours.inverse_transform(found), theirs.inverse_transform(expected)
    assert all(set(a) == set(b) for a, b in zip(back, their_back, strict=True))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_df": 3, "max_df": 0.2},
        {"min_df": 0.02, "max_df": 60},
        {"stop_words": "english", "strip_accents": "unicode"},
        {"stop_words": ["fox", "w001"], "lowercase": False},
        {"ngram_range": (1, 2), "min_df": 2},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"analyzer": str.split, "binary": True, "dtype": np.float32},
        {"token_pattern": r"\d+", "dtype": np.int32},
        {"vocabulary": {"w003": 1, "fox": 0}},
        {"vocabulary": ["fox", "the", "w149"]},
    ],
    ids=str,
)
def test_as_scikit_learn(options):
    assert_as_theirs(TEXTS, **options)


@pytest.mark.parametrize("cls", [CountVectorizer, HashingVectorizer, TfidfVectorizer])
def test_documents_are_read_from_files(cls, tmp_path):
    paths = [tmp_path / f"{n}.txt" for n in range(20)]
    for path, text in zip(paths, TEXTS, strict=False):
        path.write_text(text)
    expected = cls().fit_transform(TEXTS[:20]).toarray()
    model = cls(input="filename").fit(list(map(str, paths)))
    np.testing.assert_array_equal(model.transform(list(map(str, paths))).toarray(), expected)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(path.open(encoding="utf-8")) for path in paths]
        np.testing.assert_array_equal(cls(input="file").fit_transform(files).toarray(), expected)


def test_the_most_frequent_words():
    """Where counts differ, as scikit-learn; of equals, the first of the alphabet."""
    texts = ["a1 " * 5 + "b1 " * 4 + "c1 " * 3, "d1 d1 e1", "e1"]
    for n in (1, 2, 3, 5):
        assert_as_theirs(texts, max_features=n)
    assert CountVectorizer(max_features=4).fit(texts).get_feature_names_out().tolist() == [
        "a1",
        "b1",
        "c1",
        "d1",
    ]


def test_parameters_are_those_of_scikit_learn():
    assert list(CountVectorizer().get_params()) == list(Theirs().get_params())
    assert CountVectorizer().get_params() == Theirs().get_params()
    analyze = CountVectorizer(stop_words="english", ngram_range=(1, 2)).build_analyzer()
    assert analyze("The red fox runs") == Theirs(stop_words="english", ngram_range=(1, 2)).build_analyzer()(
        "The red fox runs"
    )
    assert "the" in CountVectorizer(stop_words="english").get_stop_words()


# --- the law -------------------------------------------------------------------------------------------


def rows(texts, weight=None):
    X = np.empty((len(texts), 1), object)
    X[:, 0] = texts
    return Rows(X, None, np.ones(len(texts)) if weight is None else weight)


def test_sum_law_of_words():
    model = CountVectorizer()._start(None)
    weight = rng.uniform(0.5, 2.0, size=len(TEXTS))
    data = rows(TEXTS, weight)
    whole = model.summarize(data)
    for at in ([0, 100, 100, 304], sorted(rng.integers(305, size=6))):
        bounds = [0, *at, len(TEXTS)]
        found = tree_sum(model.summarize(data.piece(a, b, 0)) for a, b in pairwise(bounds))
        assert found.words.tolist() == whole.words.tolist() == sorted(whole.words)
        for name in ("weight", "documents", "occurrences"):
            np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-12)
    order = rng.permutation(len(TEXTS))
    assert model.summarize(data[order]).words.tolist() == whole.words.tolist()
    empty = model.summarize(data.piece(0, 0, 0))
    assert bits(empty + whole) == bits(whole) == bits(whole + empty)
    twice = model.summarize(data.replace(weight=3.0 * weight))
    np.testing.assert_allclose((3.0 * whole).documents, twice.documents)
    assert (whole * 2.0).weight == 2.0 * whole.weight


def test_weight_is_repetition():
    times = rng.integers(0, 4, size=len(TEXTS))
    again = [text for text, n in zip(TEXTS, times, strict=True) for _ in range(n)]
    for options in ({"min_df": 5}, {"max_df": 0.1}):
        weighted = CountVectorizer(**options).fit(TEXTS, sample_weight=times)
        repeated = CountVectorizer(**options).fit(again)
        assert bits(weighted.statistics_) == bits(repeated.statistics_)
        assert weighted.vocabulary_ == repeated.vocabulary_
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(2,\), expected \(304,\)"):
        CountVectorizer().fit(TEXTS, sample_weight=[-1.0, -2.0])  # the shape is told first
    with pytest.raises(ValueError, match="Negative values"):
        CountVectorizer().fit(TEXTS, sample_weight=-np.ones(304))


def test_words_beyond_memory_are_refused(monkeypatch):
    import suffice.feature_extraction.text.count_vectorizer as module

    monkeypatch.setattr(module, "WORD_NUMBERS", 10**12)
    s = CountVectorizer()._start(None).summarize(rows(TEXTS))
    with pytest.raises(MemoryError, match=r"words take .* pass vocabulary="):
        s + s


# --- wherever the texts are ----------------------------------------------------------------------------


def arrow():
    return pa.table({"body": TEXTS, "label": np.arange(len(TEXTS)) % 3, "w": np.ones(len(TEXTS))})


def scan(folder):
    for n, part in enumerate(np.array_split(np.arange(len(TEXTS)), 4)):
        pq.write_table(arrow().take(part), folder / f"{n}.parquet", row_group_size=50)
    return suffice.scan_parquet(folder)


def described(kind, folder):
    if kind == "parquet":
        return suffice.documents(scan(folder), text="body")
    if kind == "stream":
        return suffice.documents(suffice.scan(lambda: arrow().to_reader(40)), text="body")
    if kind == "arrow":
        return suffice.documents(arrow(), text="body", target="label", weight="w")
    if kind == "dictionary":
        table = pa.table({"body": pa.array(TEXTS).dictionary_encode()})
        return suffice.documents(table, text="body")
    frame = pytest.importorskip(kind).DataFrame({"body": TEXTS, "label": list(range(len(TEXTS)))})
    return suffice.documents(frame, text="body")


@pytest.mark.parametrize("kind", ["parquet", "stream", "arrow", "dictionary", "pandas", "polars"])
def test_described_tables(kind, tmp_path):
    """The same vocabulary, and rows that are counted when they are read."""
    table = described(kind, tmp_path)
    here = CountVectorizer(min_df=2).fit(TEXTS)
    there = CountVectorizer(min_df=2).fit(table)
    assert bits(there.statistics_) == bits(here.statistics_)
    assert there.vocabulary_ == here.vocabulary_
    assert not hasattr(there, "n_features_in_")
    counted = there.transform(table)
    counts = here.transform(TEXTS)
    weighing = TermWeighting().fit(counted)
    np.testing.assert_allclose(weighing.idf_, TermWeighting().fit(counts).idf_, rtol=1e-13)
    model = ProbabilisticLatentSemanticAnalysis(3, random_state=0, max_iter=5, tol=0.1)
    ours = model.fit(counted)
    np.testing.assert_allclose(ours.components_, model.fit(counts).components_, rtol=1e-6, atol=1e-9)
    weighed = weighing.transform(counted)
    np.testing.assert_allclose(
        np.asarray(TermWeighting(norm=None, collection=None).fit(weighed).statistics_.documents),
        np.asarray((weighing.transform(counts) > 0).sum(axis=0)).ravel(),
    )
    topics = ours.transform(counted)
    if kind in ("arrow", "pandas", "polars", "dictionary"):
        np.testing.assert_allclose(topics, ours.transform(counts), rtol=1e-9, atol=1e-12)
    if kind != "stream":
        assert pickle.loads(pickle.dumps(counted)).features.width == counted.features.width


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "tuple", "generator"])
def test_columns_of_strings(kind):
    column = {
        "pandas": lambda: pytest.importorskip("pandas").Series(TEXTS),
        "polars": lambda: pytest.importorskip("polars").Series(TEXTS),
        "pyarrow": lambda: pa.chunked_array([TEXTS[:100], TEXTS[100:]]),
        "numpy": lambda: np.array(TEXTS),
        "tuple": lambda: tuple(TEXTS),
        "generator": lambda: (text for text in TEXTS),
    }[kind]
    found = CountVectorizer().fit_transform(column())
    np.testing.assert_array_equal(found.toarray(), Theirs().fit_transform(TEXTS).toarray())


def test_targets_go_with_counts():
    """A classifier learns from texts in a table."""
    from suffice.linear_model import LogisticRegression

    table = pa.table({"t": ["good fine", "bad poor", "fine", "poor", "good"], "y": ["p", "n", "p", "n", "p"]})
    texts = suffice.documents(table, text="t", target="y")
    vectorizer = CountVectorizer().fit(texts)
    model = LogisticRegression().fit(vectorizer.transform(texts))
    assert model.score(vectorizer.transform(texts)) == 1.0


def test_blocks_of_long_texts_are_small(tmp_path):
    """The number of rows in a block follows the length of the texts."""
    long = ["word " * 20_000] * 600  # 100 kB each
    pq.write_table(pa.table({"t": long}), tmp_path / "a.parquet", use_dictionary=False)
    from suffice.inputs.parquet import rows_of_lists

    assert rows_of_lists(str(tmp_path / "a.parquet"), ["t"]) == 256
    pq.write_table(pa.table({"t": ["ab"] * 10_000}), tmp_path / "b.parquet")
    assert rows_of_lists(str(tmp_path / "b.parquet"), ["t"]) > 100_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of what the engines themselves import
@pytest.mark.parametrize("engine", ["ray", "dask", "spark"])
def test_engines(engine, request, monkeypatch):
    frame = arrow().to_pandas()
    if engine == "ray":
        ray = request.getfixturevalue("ray_here")
        data = ray.data.from_arrow([arrow().slice(a, 76) for a in range(0, 304, 76)])
    elif engine == "dask":
        data = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4)
    else:
        sql = pytest.importorskip("pyspark.sql")
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
        session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
        request.addfinalizer(session.stop)
        data = session.createDataFrame(frame)
    table = suffice.documents(data, text="body")
    vectorizer = CountVectorizer(min_df=2).fit(table)
    assert bits(vectorizer.statistics_) == bits(CountVectorizer().fit(TEXTS).statistics_)
    weighing = TermWeighting().fit(vectorizer.transform(table))
    expected = TermWeighting().fit(CountVectorizer(min_df=2).fit_transform(TEXTS))
    np.testing.assert_allclose(weighing.idf_, expected.idf_, rtol=1e-13)


# --- bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["fit", "fit_transform"])
def test_no_words(fit):
    for texts in (["the and", "of the"], ["", ""], ["a b c"]):
        with pytest.raises(ValueError, match="empty vocabulary"):
            getattr(CountVectorizer(stop_words="english"), fit)(texts)
    with pytest.raises(ValueError, match="no rows to fit"):
        getattr(CountVectorizer(), fit)([])
    with pytest.raises(ValueError, match="After pruning, no terms remain of 2"):
        getattr(CountVectorizer(min_df=2), fit)(["ash", "elm"])
    with pytest.raises(ValueError, match="max_df corresponds to < documents than min_df"):
        getattr(CountVectorizer(min_df=3, max_df=1), fit)(["ash", "elm", "oak"])


def test_missing_texts():
    pd = pytest.importorskip("pandas")
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="Document 1 is missing"):
            CountVectorizer().fit(["ash", missing])
    for table in (pa.table({"t": ["ash", None]}), pd.DataFrame({"t": ["ash", None]})):
        with pytest.raises(ValueError, match="'t' has 1 missing texts"):
            CountVectorizer().fit(suffice.documents(table, text="t"))


def test_what_is_no_text():
    table = pa.table({"n": [1, 2], "t": ["a", "b"]})
    with pytest.raises(ValueError, match="string object received"):
        CountVectorizer().fit("a text")
    with pytest.raises(ValueError, match="string object received"):
        CountVectorizer().fit(["a text"]).transform("a text")
    with pytest.raises(ValueError, match=r"suffice.documents\(table"):
        CountVectorizer().fit(table)
    with pytest.raises(ValueError, match=r"suffice.documents\(table"):
        CountVectorizer().fit(5)
    with pytest.raises(ValueError, match=r"array of shape \(2, 1\)"):
        CountVectorizer().fit(np.array([["a"], ["b"]]))
    with pytest.raises(ValueError, match="'n' holds int64, expected strings"):
        CountVectorizer().fit(suffice.documents(table, text="n"))
    with pytest.raises(ValueError, match=r"no column \['x'\]"):
        CountVectorizer().fit(suffice.documents(table, text="x"))
    with pytest.raises(TypeError, match="takes tables with named columns; got list"):
        suffice.documents(["a", "b"], text="x")
    with pytest.raises(ValueError, match="takes numbers, and X has 'a'"):
        TermWeighting().fit(suffice.documents(table, text="t"))
    with pytest.raises(NotFittedError):
        CountVectorizer().transform(["a"])
    with pytest.raises(NotFittedError):
        CountVectorizer().transform(suffice.documents(table, text="t"))
    with pytest.raises(ValueError, match=r"'min_df' parameter"):
        CountVectorizer(min_df=1.5).fit(["ash"])


@pytest.mark.parametrize("ngram_range", [(2, 1), (0, -1)])
def test_a_range_of_words_has_an_order(ngram_range):
    vectorizer = CountVectorizer(ngram_range=ngram_range)
    calls = (vectorizer.fit, vectorizer.fit_transform, lambda texts: vectorizer.build_analyzer())
    for call in calls:
        with pytest.raises(ValueError, match=r"ngram_range=.* lower boundary larger than the upper boundary"):
            call(["ash elm", "elm oak"])
    with pytest.raises(ValueError, match="lower boundary"):
        CountVectorizer(ngram_range=(2, 1), vocabulary=["ash"]).transform(["ash elm"])


def test_given_words_need_no_fit():
    found = CountVectorizer(vocabulary=["ash", "elm"]).transform(["elm elm oak"])
    assert found.toarray().tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="Duplicate term"):
        CountVectorizer(vocabulary=["ash", "ash"]).fit(["ash"])


def test_saved_with_its_type(tmp_path):
    model = CountVectorizer(dtype=np.float32, stop_words=["fox"]).fit(TEXTS)
    model.save(tmp_path / "v")
    back = suffice.load(tmp_path / "v")
    assert back.get_params() == model.get_params()
    assert (back.transform(TEXTS) != model.transform(TEXTS)).nnz == 0
    assert isinstance(back.model_, Vocabulary) and isinstance(back.statistics_, WordCounts)


@pytest.mark.parametrize("cls", [CountVectorizer, TfidfVectorizer])
def test_a_fixed_vocabulary_with_capitals(cls):
    vectorizer = cls(vocabulary=["Cat", "dog"])
    with pytest.warns(UserWarning, match="Upper case"):
        vectorizer.fit(["the Cat sat", "a dog"])
    assert vectorizer.fixed_vocabulary_
