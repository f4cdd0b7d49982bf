"""Inputs that the attack found to end in NaN, in infinity, or in an error that does not say what to do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

from suffice.cluster import AgglomerativeClustering, DivisiveClustering
from suffice.decomposition import NMF, BilinearNMF, FastICA
from suffice.ensemble import (
    AdaBoostClassifier,
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from suffice.feature_extraction import CountVectorizer, HashingVectorizer
from suffice.impute import SimpleImputer
from suffice.linear_model import (
    BayesianLinearRegression,
    BayesianModelAveraging,
    ElasticNetCV,
    HuberRegressor,
    LinearRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
)
from suffice.manifold import LocallyLinearEmbedding
from suffice.mixture import GaussianMixture, MixedMixture, PoissonMixture
from suffice.naive_bayes import CategoricalNB, ClassConditional, MixedNB
from suffice.preprocessing import SplineTransformer, StandardScaler
from suffice.ranking import PageRank
from suffice.sampling import MarkovChain
from suffice.sequence import ConditionalRandomField, StructuredPerceptron
from suffice.svm import SVC, SVR
from suffice.topics import LatentDirichletAllocation, ProbabilisticLatentSemanticAnalysis

from ..linear_model.test_least_squares import problem

X = np.random.default_rng(0).normal(size=(30, 3))
y = X @ [1.0, 2.0, 3.0]
PLANE = np.random.default_rng(5).normal(size=(30, 2))
OF_LOGISTIC_CV: dict[str, Any] = {"l1_ratios": (0.0,), "scoring": "accuracy", "use_legacy_attributes": False}
COUNTS = np.arange(30.0).reshape(10, 3) % 7
WORDS = np.array([["a"], ["b"]] * 5, dtype=object)


def with_hole(hole: Any) -> np.ndarray:
    holed = WORDS.copy()
    holed[3] = hole
    return holed


@pytest.mark.parametrize(
    ("fit", "said"),
    {
        "texts of numbers": (lambda: CountVectorizer().fit([1, 2]), "expected a string"),
        "texts of dicts": (lambda: CountVectorizer().fit([{"a": 1}]), "expected a string"),
        "bytes": (lambda: CountVectorizer().fit([b"\xff\xfe word"]), "decode_error="),
        "dtype": (lambda: CountVectorizer(dtype=300).fit(["a word"]), "dtype=np.int64"),
        "vocabulary": (lambda: CountVectorizer(vocabulary=np.ones((2, 2))).fit(["a"]), "pass strings"),
        "checkpoint": (lambda: GaussianMixture(checkpoint="").fit(X), "the path of a file"),
        "a flag as a count": (lambda: PoissonMixture(True).fit(COUNTS), "int in the range"),
        "alpha of a target": (lambda: Ridge((2.0, 1.0)).fit(X, y), "one per target"),
        "alphas": (lambda: ElasticNetCV(alphas=np.ones((2, 2))).fit(X, y), "of 1 axis"),
        "l1_ratio": (lambda: ElasticNetCV(l1_ratio=np.ones((2, 2))).fit(X, y), "of 1 axis"),
        "cv": (lambda: ElasticNetCV(cv=np.full(3, np.nan)).fit(X, y), "a number of folds"),
        "prior": (
            lambda: GaussianMixture(3, weight_concentration_prior=(2.0, 1.0)).fit(X),
            "weight_concentration_prior has shape",
        ),
        "subsets": (lambda: BayesianModelAveraging(subset_prior=(2, 1)).fit(X, y), "subset_prior has shape"),
        "sparse targets": (lambda: LinearRegression().fit(X, sp.csr_array(y[:, None])), "toarray"),
        "a target": (lambda: StructuredPerceptron().fit([X, X], 3.0), "array of labels each"),
        "no square": (lambda: PageRank().fit(sp.csr_array(np.ones((3, 4)))), "pass one with a row"),
        "NA": (lambda: MarkovChain().fit(with_hole(pd.NA)), "leave those rows out"),
        "None": (lambda: MarkovChain().fit(with_hole(None)), "leave those rows out"),
        "kinds": (
            lambda: MixedNB("categorical").fit(with_hole(1.5), ["a", "b"] * 5),
            "write all as strings",
        ),
        "other kinds": (
            lambda: MixedNB("categorical").fit(WORDS, ["a", "b"] * 5).predict([[1.5]]),
            "write all as strings",
        ),
        "text": (lambda: MixedNB().fit(X, y > 0).predict(with_hole("a").repeat(3, 1)), "in row 0"),
        "categories": (lambda: CategoricalNB().fit(1e140 * np.abs(X), y > 0), "OrdinalEncoder"),
        "flags": (lambda: MixedNB("bernoulli").fit(X + 9, y > 0), "column > 0"),
        "slopes": (lambda: NMF(3).fit(COUNTS * [1e140, 1, 1]), "divide X by its scale"),
        "rare words": (
            lambda: ProbabilisticLatentSemanticAnalysis(2).fit(COUNTS * [1e-310, 1, 1]),
            "leave the column out",
        ),
        "weights": (lambda: Ridge().fit(1e140 * X, y, np.full(30, 1e90)), "Divide the weights"),
        "powers": (
            lambda: BayesianLinearRegression(prior_precision=1e-10).fit(*problem("Filip")[:2]),
            "raise prior_precision",
        ),
        "text of a numeric feature": (
            lambda: HistGradientBoostingRegressor().fit(with_hole(1.5).repeat(3, 1), np.arange(10.0)),
            "index 0 of X has 'a'",
        ),
        "text in rows of numbers": (
            lambda: HistGradientBoostingRegressor().fit(X, y).predict(WORDS.repeat(3, 1)),
            "name it in categorical_features",
        ),
        "rows of unlike lengths": (lambda: MixedMixture().fit([[1.0], [1.0, 2.0]]), "row 1 has 2"),
        "complex categories": (lambda: MarkovChain().fit(X + 1j), "X holds complex128"),
        "complex labels": (lambda: ClassConditional().fit(X, y + 1j), "y holds complex128"),
        "lists as labels": (
            lambda: ClassConditional().fit(X, [[1], *[[1, 2]] * 29]),
            "rows of y differ in length",
        ),
        "infinity as a marker": (lambda: ClassConditional(unlabelled=np.inf).fit(X, y > 0), "'unlabelled'"),
        "sparse labels of sequences": (
            lambda: ConditionalRandomField().fit([X, X], sp.csr_array(y[:, None])),
            "toarray",
        ),
        "one number as sequences": (
            lambda: ConditionalRandomField().fit(np.array(1.0), ["a"]),
            "Expected 2D array",
        ),
        "names twice": (
            lambda: StandardScaler().fit(X).transform(pd.DataFrame(X, columns=["a", "a", "b"])),
            "2 columns named 'a'",
        ),
        "prior_mean": (lambda: BayesianLinearRegression(prior_mean=1e308).fit(X, y), "squares of larger"),
        "evidence": (
            lambda: BayesianLinearRegression(
                prior_mean=1e150, prior_precision=1e150, noise_precision=1e20
            ).fit(X, y),
            "Lower these parameters",
        ),
        "splines": (
            lambda: SplineTransformer(extrapolation="continue").fit(X).transform(X + 1e155),
            "Use 'constant'",
        ),
        "sparse splines": (
            lambda: (
                SplineTransformer(extrapolation="continue", sparse_output=True).fit(X).transform(X + 1e155)
            ),
            "Use 'constant'",
        ),
        "C": (lambda: SVR(C=1e308).fit(X, y), "'C' parameter"),
        "slack_budget": (
            lambda: SVC(slack_budget=1e-310).fit(PLANE, PLANE[:, 0] > 0),
            "error of the slacks",
        ),
        "numbers as subsets": (
            lambda: BayesianModelAveraging(subsets=[1, 2]).fit(X, y),
            "must contain lists",
        ),
        "reg": (
            lambda: LocallyLinearEmbedding(n_neighbors=5, reg=1e-310).fit(np.repeat(X[:, :1], 3, 1)),
            "linearly dependent",
        ),
        "Cs": (lambda: LogisticRegressionCV(Cs=[], **OF_LOGISTIC_CV).fit(X, y > 0), "Cs is empty"),
        "folds": (
            lambda: LogisticRegressionCV(cv=(2, 1), **OF_LOGISTIC_CV).fit(X, y > 0),
            "pairs of index arrays",
        ),
        "connectivity": (
            lambda: AgglomerativeClustering(connectivity=(2, 1)).fit(X),
            "a column for each row of X",
        ),
        "metric": (lambda: DivisiveClustering(metric="no such option").fit(X), "Pass a name"),
        "w_init": (lambda: FastICA(w_init=["a"]).fit(X), "'w_init'"),
        "a flag as a number of stages": (
            lambda: GradientBoostingRegressor(n_iter_no_change=True).fit(X, y),
            "'n_iter_no_change'",
        ),
        "hashes of numbers": (lambda: HashingVectorizer().transform([1, 2]), "expected a string"),
        "type of hashes": (lambda: HashingVectorizer(dtype=0).transform(["a word"]), "dtype=np.int64"),
        "numbers of words": (lambda: CountVectorizer(vocabulary={"a": 1}).fit(["a"]), "from 0 on"),
        "names to impute": (
            lambda: SimpleImputer().fit(pd.DataFrame(X, columns=["a", "a", "b"])),
            "2 columns named 'a'",
        ),
        "an integer to impute": (
            lambda: SimpleImputer().fit(np.array([[10**400], [1]], dtype=object)),
            "beyond the range of float64",
        ),
        "cache_size": (lambda: SVR(cache_size=1e308).fit(X, y), "'cache_size' parameter"),
        "text to impute": (lambda: SimpleImputer().fit(pd.DataFrame({"a": ["b"]})), "row 0, column 'a'"),
        "lists to impute": (
            lambda: SimpleImputer(strategy="most_frequent").fit(with_hole([1.0])),
            "write all as strings",
        ),
    }.values(),
)  # fmt: skip
def test_what_is_refused_says_what_to_do(fit, said):
    with pytest.raises((ValueError, TypeError, MemoryError), match=said):
        fit()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "model",
    [
        *(GradientBoostingRegressor(loss=loss) for loss in ("squared_error", "absolute_error", "huber")),
        HistGradientBoostingRegressor(min_samples_leaf=2),
        HistGradientBoostingClassifier(min_samples_leaf=2),
        ForwardStagewiseRegressor(),
        ForwardStagewiseClassifier(),
        *(AdaBoostClassifier(algorithm=algorithm) for algorithm in ("SAMME", "real")),
    ],
    ids=str,
)
def test_boosting_that_overflows(model):
    with pytest.raises(ValueError, match="lower learning_rate"):
        model.set_params(learning_rate=1e308).fit(X, y > 0 if is_classifier(model) else y)


def test_no_documents_have_no_hashes():
    hashes = HashingVectorizer(n_features=8, dtype=np.float32).transform([])
    assert hashes.shape == (0, 8) and hashes.dtype == np.float32


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_means_that_overflow():
    with pytest.raises(ValueError, match="index 1 overflows"):
        SimpleImputer().fit([[1.0, 1e308], [2.0, -1.7e308], [3.0, -1.7e308]])


def test_words_that_are_cut_already():
    words = CountVectorizer(analyzer=lambda words: words).fit_transform([["a", "b"], ["b"]])
    assert words.toarray().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("size", [1e-100, 2.0**300, 1e100])
def test_concepts_are_the_same_at_any_scale(size):
    plain, scaled = (BilinearNMF(2, init="custom", tol=1e-4) for _ in range(2))
    W, V = np.random.default_rng(1).uniform(size=(2, 30, 2))
    plain.fit(X, W=W, V=V)
    scaled.fit(size * X, W=W, V=V)
    assert plain.n_iter_ == scaled.n_iter_ and plain.converged_ and scaled.converged_
    np.testing.assert_allclose(scaled.embedding_ / size, plain.embedding_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(scaled.concept_weights_ * size, plain.concept_weights_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(scaled.reconstruction_err_ / size, plain.reconstruction_err_)
    np.testing.assert_allclose(scaled.trace_ / size / size, plain.trace_)


def test_nan_marks_unlabelled_rows_already():
    labels = np.where(np.arange(30) % 3, (y > 0).astype(float), np.nan)
    plain, marked = (ClassConditional(unlabelled=marker).fit(X, labels) for marker in (None, np.nan))
    assert (plain.predict_proba(X) == marked.predict_proba(X)).all() and marked.model_.unlabelled is None


def test_targets_that_become_numbers():
    plain = HuberRegressor().fit(X, np.arange(30.0))
    for kind in (Decimal, str):
        other = HuberRegressor().fit(X, np.array([kind(n) for n in range(30)], dtype=object))
        assert (other.coef_ == plain.coef_).all() and (other.outliers_ == plain.outliers_).all()


def test_the_bound_on_mistakes_does_not_overflow():
    model = Perceptron(fit_intercept=False, shuffle=False)
    bound, of_large = (model.fit(X * size, y > 0).mistake_bound_ for size in (1.0, 1e100))
    np.testing.assert_allclose(of_large, bound)


def test_the_perplexity_of_next_to_no_words_is_finite():
    lda = LatentDirichletAllocation(2, random_state=0).fit(COUNTS * 1e-100)
    assert np.isfinite(lda.bound_) and lda.bound_ == lda.perplexity(COUNTS * 1e-100)
