"""Where scikit-learn has the class: its parameters and attributes, and its results on the same data."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import textwrap
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.datasets import load_diabetes, make_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags

from suffice.kernels import Kernel

from ..laws.registry import COMMON, fit
from ._common import IRIS, PAIRS, RTOL, WEIGHT, assert_equal, assert_same_answers, fitted_pair

each_pair = pytest.mark.parametrize("name", PAIRS)

# What scikit-learn has and we have not, and why.
NOT_OURS = {
    ("Perceptron", "densify"): "coefficients without a penalty are not sparse",
    ("Perceptron", "sparsify"): "coefficients without a penalty are not sparse",
}


def test_pairs_are_found():
    assert {
        "GaussianMixture",
        "GaussianNB",
        "KMeans",
        "LinearDiscriminantAnalysis",
        "LinearRegression",
        "LogisticRegression",
        "PCA",
        "QuadraticDiscriminantAnalysis",
        "Ridge",
    } <= set(PAIRS)


@each_pair
def test_parameters_are_a_superset(name):
    """Same names, same order of those given by position, same defaults."""
    ours, theirs = (inspect.signature(cls).parameters for cls in PAIRS[name])
    for parameter in theirs.values():
        assert parameter.name in ours
        default = ours[parameter.name].default
        assert default == parameter.default or default is parameter.default is np.nan, parameter.name
        assert ours[parameter.name].kind == parameter.kind, parameter.name

    def by_position(parameters):
        return [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]

    assert by_position(ours)[: len(by_position(theirs))] == by_position(theirs)


@each_pair
def test_methods_are_a_superset(name):
    ours, theirs = PAIRS[name]
    public = {m for m in dir(theirs) if not m.startswith("_") and callable(getattr(theirs, m))}
    assert {m for m in public - set(dir(ours)) if (name, m) not in NOT_OURS} == set()


OURS_ALONE = ("newton", "gradient", "bfgs", "dfp", "svrg")


# A linear kernel of more rows than features has many optimal coefficients, with other support vectors.
OF_SUPPORT_VECTORS = {"dual_coef_", "support_", "support_vectors_", "n_support_"}


@pytest.mark.filterwarnings("ignore:Attribute `prob[AB]_` was deprecated:FutureWarning")
@each_pair
def test_attributes_are_a_superset(name):
    for variant in [v for v in COMMON if type(v.estimator).__name__ == name]:
        params = {
            k: v
            for k, v in variant.estimator.get_params().items()
            if k in inspect.signature(PAIRS[name][1]).parameters
        }
        if params.get("init") == "k-means||" or params.get("solver") in OURS_ALONE:
            continue
        if params.get("criterion") == "misclassification" or isinstance(params.get("kernel"), Kernel):
            continue  # ours alone
        if getattr(variant.estimator, "landmarks", None):
            continue  # ours alone
        sums = getattr(variant.estimator, "micro_clusters", "auto") != "auto"
        if sums or params.get("linkage") == "centroid":
            continue  # ours alone
        if {"gram", "arpack"} & {params.get("svd_solver"), params.get("algorithm")}:
            continue  # ours alone; ARPACK cannot find the last component, and ours is exact
        if params.get("penalty", "deprecated") != "deprecated":
            continue  # deprecated
        if params.get("rotation") in ("l1", "promax"):
            continue  # ours alone
        X, y = variant.data()
        is_linear = params.get("kernel") == "linear"
        # Support vectors are those of the optimum.
        sharper = {"tol": 1e-8} if "shrinking" in params and not is_linear else {}
        params |= sharper
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if params.get("solver") == "lbfgs" and params.get("l1_ratio"):
                params["solver"] = "saga"  # the only one of theirs
            theirs = PAIRS[name][1](**params).fit(X, y)
        ours = fit(variant.make(**sharper), X, y)
        public = {k for k in vars(theirs) if k.endswith("_") and not k.startswith("_")}
        public |= {
            k
            for k, v in inspect.getmembers(type(theirs), lambda m: isinstance(m, property))
            if k.endswith("_") and (name, k) not in NOT_OURS and hasattr(theirs, k) and v
        }
        missing = {k for k in public if not hasattr(ours, k)}
        assert not missing, (variant.name, missing)
        for k in public - {"n_iter_", "lower_bound_"}:  # of a tied BayesianGaussianMixture one in an array
            a, b = getattr(ours, k, None), getattr(theirs, k)
            if isinstance(b, np.ndarray):
                if is_linear and k in OF_SUPPORT_VECTORS:
                    assert np.ndim(a) == np.ndim(b), (variant.name, k)
                else:
                    assert np.shape(a) == np.shape(b), (variant.name, k)


# --- results -------------------------------------------------------------------------------------------


DIABETES = load_diabetes(return_X_y=True)


def weighted_pair(name, X, y, weight, **params):
    return [cls(**params).fit(X, y, sample_weight=weight) for cls in PAIRS[name]]


@pytest.mark.parametrize(
    "params",
    [{}, {"fit_intercept": False}, {"positive": True}, {"positive": True, "fit_intercept": False}],
    ids=str,
)
@pytest.mark.parametrize("kind", ["one", "many", "weights", "sparse"])
def test_linear_regression(params, kind):
    X, y = DIABETES
    names = ["coef_", "intercept_"]
    theirs = {}
    if kind == "many":
        y = np.stack([y, -(y**1.5), X[:, 0] * y], axis=1)
    if kind == "sparse":
        if params.get("positive"):
            pytest.skip("scikit-learn refuses sparse rows here")
        X, theirs = sp.csr_array(np.where(np.abs(X) < 0.02, 0.0, X)), {"tol": 1e-14}
    if kind == "weights":
        weight = np.random.default_rng(0).gamma(2.0, size=len(y))
        ours, theirs = weighted_pair("LinearRegression", X, y, weight, **params)
    else:
        ours, theirs = fitted_pair("LinearRegression", X, y, theirs=theirs, **params)
        if kind == "one" and not params.get("positive"):
            names += ["rank_", "singular_"]
    assert_equal(ours, theirs, names, 1e-7 if kind == "sparse" else RTOL)
    assert_same_answers(ours, theirs, X, ["predict"], 1e-7 if kind == "sparse" else RTOL)
    np.testing.assert_allclose(ours.score(X, y), theirs.score(X, y), rtol=1e-7)


@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}], ids=str)
def test_positive_coefficients_of_constant_and_of_tiny_columns(params):
    """Where columns leave no equations all coefficients are zero; and the units of columns do not matter."""
    X, y = np.ones((5, 2)), np.arange(5.0)
    for name in ("LinearRegression", "Ridge"):
        more = params | ({"alpha": 0.0} if name == "Ridge" else {})
        ours = PAIRS[name][0](positive=True, **more).fit(X, y)
        theirs = PAIRS["LinearRegression"][1](positive=True, **params).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
        assert (ours.coef_ >= 0).all()
        assert (ours.coef_ == 0).all() or params
    X, y = DIABETES
    unit = 10.0 ** np.linspace(-9, 9, 10)
    ours, theirs = fitted_pair("LinearRegression", X, y, positive=True, **params)
    scaled = PAIRS["LinearRegression"][0](positive=True, **params).fit(X * unit, y)
    np.testing.assert_allclose(scaled.coef_ * unit, theirs.coef_, rtol=1e-6, atol=1e-6)


def test_linear_regression_with_dependent_features():
    X, y = DIABETES
    ours, theirs = fitted_pair("LinearRegression", np.hstack([X, X[:, :3]]), y)
    assert_equal(ours, theirs, ["coef_", "intercept_", "rank_"], 1e-6)


@pytest.mark.parametrize(
    "params",
    [{}, {"alpha": 0.0}, {"alpha": 30.0}, {"fit_intercept": False}, {"positive": True, "alpha": 0.5}],
    ids=str,
)
def test_ridge(params):
    X, y = DIABETES
    theirs = {"tol": 1e-12, "max_iter": 100_000} if params.get("positive") else {}
    ours, theirs = fitted_pair("Ridge", X, y, theirs=theirs, **params)
    rtol = 1e-5 if params.get("positive") else RTOL  # scikit-learn's L-BFGS ends there; ours is exact
    assert_equal(ours, theirs, ["coef_", "intercept_"], rtol)
    assert_same_answers(ours, theirs, X, ["predict"], rtol)
    if not params.get("positive"):
        ours, theirs = weighted_pair(
            "Ridge", X, y, np.random.default_rng(0).gamma(2.0, size=len(y)), **params
        )
        assert_equal(ours, theirs, ["coef_", "intercept_"])


def test_ridge_with_an_alpha_for_each_target():
    X, y = DIABETES
    Y = np.stack([y, y**2, X[:, 3]], axis=1)
    ours, theirs = fitted_pair("Ridge", X, Y, alpha=np.array([0.1, 1.0, 10.0]))
    assert_equal(ours, theirs, ["coef_", "intercept_"])


def test_ridge_sparse():
    X, y = DIABETES
    X = sp.csr_array(np.where(np.abs(X) < 0.02, 0.0, X))
    ours, theirs = fitted_pair("Ridge", X, y, theirs={"tol": 1e-14, "solver": "sparse_cg"})
    assert_equal(ours, theirs, ["coef_", "intercept_"], 1e-7)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
def test_truncated_svd(algorithm, sparse):
    """With the same random columns, so to the digit also where five iterations are not enough: then it is
    the space of the components that is the same, in which ours are turned to make their scores orthogonal."""
    A = np.random.default_rng(0).poisson(0.3, size=(400, 90)).astype(float)
    X = sp.csr_array(A) if sparse else A
    ours, theirs = fitted_pair("TruncatedSVD", X, n_components=7, algorithm=algorithm, random_state=3)
    V, W = ours.components_, theirs.components_
    np.testing.assert_allclose(V.T @ V, W.T @ W, atol=1e-7)
    scores = A @ W.T
    length, turn = np.linalg.eigh(scores.T @ scores)
    np.testing.assert_allclose(ours.singular_values_, np.sqrt(length[::-1]), rtol=1e-7)
    np.testing.assert_allclose(np.abs(np.sum(V * (turn.T @ W)[::-1], axis=1)), 1.0, rtol=1e-7)
    ratios = ours.explained_variance_ratio_.sum(), theirs.explained_variance_ratio_.sum()
    np.testing.assert_allclose(*ratios, rtol=1e-7)
    # With as many iterations as it takes, the axes are the same too.
    ours, theirs = fitted_pair(
        "TruncatedSVD", X, n_components=7, algorithm=algorithm, random_state=3, n_iter=90
    )
    names = ["components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"]
    assert_equal(ours, theirs, names, 1e-7)
    assert_same_answers(ours, theirs, X, ["transform"], 1e-7)
    Z = theirs.transform(X)
    np.testing.assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), atol=1e-6)


@pytest.mark.parametrize("params", [{}, {"priors": [0.2, 0.3, 0.5]}, {"var_smoothing": 1e-2}], ids=str)
def test_gaussian_nb(params):
    X, y = IRIS
    ours, theirs = fitted_pair("GaussianNB", X, y, **params)
    names = ["theta_", "var_", "class_prior_", "class_count_", "classes_", "epsilon_"]
    assert_equal(ours, theirs, names)
    answers = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"]
    assert_same_answers(ours, theirs, X, answers)
    assert ours.score(X, y) == theirs.score(X, y)
    # With weights scikit-learn takes the largest variance of the rows without them, so without smoothing.
    ours, theirs = weighted_pair("GaussianNB", X, y, WEIGHT, **params | {"var_smoothing": 0.0})
    assert_equal(ours, theirs, names)


def test_gaussian_nb_partial_fit():
    X, y = IRIS
    ours, theirs = (cls(var_smoothing=0.0) for cls in PAIRS["GaussianNB"])
    for model in (ours, theirs):
        for rows in (slice(0, 75), slice(75, 150)):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2] if rows.start == 0 else None)
    assert_equal(ours, theirs, ["theta_", "var_", "class_prior_", "class_count_"])


LDA = ["coef_", "intercept_", "means_", "priors_", "classes_"]


@pytest.mark.parametrize("two", [False, True], ids=["three", "two"])
@pytest.mark.parametrize(
    "params",
    [
        {"solver": "svd"},
        {"solver": "svd", "store_covariance": True, "priors": [0.2, 0.3, 0.5]},
        {"solver": "svd", "n_components": 1},
        {"solver": "lsqr"},
        {"solver": "lsqr", "shrinkage": 0.3},
        {"solver": "lsqr", "shrinkage": "auto"},
        {"solver": "lsqr", "shrinkage": "auto", "priors": [0.2, 0.3, 0.5]},
        {"solver": "eigen"},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "priors": [0.2, 0.3, 0.5]},
    ],
    ids=str,
)
def test_lda(params, two):
    X, y = IRIS
    if two:
        X, y = X[y < 2] + 0.1, y[y < 2]
        params = params | ({"priors": [0.4, 0.6]} if "priors" in params else {})
    ours, theirs = fitted_pair("LinearDiscriminantAnalysis", X, y, **params)
    names = LDA + (["xbar_"] if params["solver"] == "svd" else ["covariance_"])
    if params["solver"] != "lsqr":
        names += ["explained_variance_ratio_"]
        rank = min(2, len(np.unique(y)) - 1)
        a, b = ours.scalings_[:, :rank], theirs.scalings_[:, :rank]
        np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-7)
    if params.get("store_covariance"):
        names += ["covariance_"]
    assert_equal(ours, theirs, names, 1e-7)
    answers = ["predict", "predict_proba", "decision_function"]
    # Of two classes, scikit-learn takes the logarithm of one minus a probability: 1e-16 is its zero.
    assert_same_answers(ours, theirs, X, answers if two else [*answers, "predict_log_proba"], 1e-7)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("two", [False, True], ids=["three", "two"])
@pytest.mark.parametrize(
    "params",
    [
        {"store_covariance": True},
        {"reg_param": 0.3, "store_covariance": True},
        {"priors": [0.2, 0.3, 0.5]},
        {"solver": "eigen", "store_covariance": True},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
    ],
    ids=str,
)
def test_qda(params, two):
    X, y = IRIS
    if two:
        X, y = X[y < 2], y[y < 2]
        params = params | ({"priors": [0.4, 0.6]} if "priors" in params else {})
    ours, theirs = fitted_pair("QuadraticDiscriminantAnalysis", X, y, **params)
    names = ["means_", "priors_", "classes_", "scalings_", "rotations_"]
    if params.get("store_covariance"):
        names.append("covariance_")
    assert_equal(ours, theirs, names, 1e-7, signs={"rotations_": 1})
    assert_same_answers(
        ours, theirs, X, ["predict", "predict_proba", "predict_log_proba", "decision_function"], 1e-7
    )


TIGHT = {"tol": 1e-10, "max_iter": 10_000}


def test_lda_needs_rows_that_differ_within_a_class():
    """As many rows as classes have no covariance within them; nor do classes of equal rows."""
    X = IRIS[0]
    for solver in ("svd", "lsqr", "eigen"):
        ours, theirs = (cls(solver=solver) for cls in PAIRS["LinearDiscriminantAnalysis"])
        for rows, y in ((X[[0, 70]], [0, 1]), (X[[0, 70, 140]], ["a", "b", "c"])):
            for model in (ours, theirs):
                with pytest.raises(ValueError, match="number of samples must be more than the number of cla"):
                    model.fit(rows, y)
        with pytest.raises(ValueError, match="rows of each class are equal"):
            ours.fit(np.repeat(X[[0, 70, 140]], 4, axis=0), np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_no_answer_forgets_the_names_of_the_features(name):
    """Nor does any warn of it: warnings are errors here."""
    pd = pytest.importorskip("pandas")
    X, y = IRIS
    table = pd.DataFrame(X, columns=list("abcd"))
    for labels in (y, y > 0):
        ours, theirs = fitted_pair(name, table, labels)
        assert_same_answers(ours, theirs, table, ["decision_function", "predict", "predict_proba"], 1e-6)
        ours.predict_log_proba(table)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky", "newton-cg"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"C": 0.01},
        {"C": np.inf},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 5.0, 2: 0.5}},
    ],
    ids=str,
)
@pytest.mark.parametrize("two", [False, True], ids=["three", "two"])
def test_logistic(solver, params, two):
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    if two:
        y = np.minimum(y, 1)
        params = params | (
            {"class_weight": {0: 1.0, 1: 5.0}} if isinstance(params.get("class_weight"), dict) else {}
        )
    ours, theirs = fitted_pair("LogisticRegression", X, y, solver=solver, **TIGHT, **params)
    # Three classes without a penalty have one direction too many: answers are compared, not coefficients.
    free = not two and (params.get("C") == np.inf or params.get("fit_intercept", True))
    if free:
        np.testing.assert_allclose(
            ours.intercept_ - ours.intercept_.mean(), theirs.intercept_ - theirs.intercept_.mean(), atol=1e-6
        )
    if params.get("C") != np.inf:
        assert_equal(ours, theirs, ["coef_", "classes_"], 1e-6)
    assert_same_answers(ours, theirs, X, ["predict", "predict_proba"], 1e-6)


def test_logistic_weighted_and_sparse():
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    weight = np.random.default_rng(0).gamma(2.0, size=300)
    ours, theirs = weighted_pair("LogisticRegression", X, y, weight, **TIGHT)
    assert_equal(ours, theirs, ["coef_"], 1e-6)
    X = sp.csr_array(np.where(np.abs(X) < 1, 0.0, X))
    for solver in ("lbfgs", "newton-cholesky"):
        ours, theirs = fitted_pair("LogisticRegression", X, y, solver=solver, **TIGHT)
        assert_equal(ours, theirs, ["coef_"], 1e-6)
        assert_same_answers(ours, theirs, X, ["predict", "predict_proba", "decision_function"], 1e-6)


def test_logistic_loss_is_no_worse_at_default_tolerance():
    """The same objective, with the default options of both."""
    X, y = IRIS
    ours, theirs = fitted_pair("LogisticRegression", X, y, max_iter=1000)

    def objective(model):
        log_p = model.predict_log_proba(X)[np.arange(len(y)), y]
        return -log_p.sum() + 0.5 * (model.coef_**2).sum()

    assert objective(ours) <= objective(theirs) * (1 + 1e-5)


# --- one column of targets -----------------------------------------------------------------------------


ONE_TARGET = {"DecisionTreeRegressor", "RandomForestRegressor"}


@pytest.mark.parametrize("name", [name for name in PAIRS if is_regressor(PAIRS[name][0]())])
def test_a_target_of_one_column_gives_the_shapes_of_scikit_learn(name):
    X, y = DIABETES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)  # of both, where a column is not expected
        for two in (y[:, None], np.stack([y, -y], axis=1)):
            one = name in ONE_TARGET or not get_tags(PAIRS[name][1]()).target_tags.multi_output
            if two.shape[1] > 1 and one:
                continue
            few = {"max_iter": 5} if name.startswith("HistGradientBoosting") else {}
            ours, theirs = fitted_pair(name, X, two, **few)
            for attribute in ("coef_", "intercept_", "dual_gap_"):
                if hasattr(theirs, attribute):
                    assert np.shape(getattr(ours, attribute)) == np.shape(getattr(theirs, attribute)), (
                        attribute
                    )
            if isinstance(theirs.n_iter_ if hasattr(theirs, "n_iter_") else None, int | list):
                assert type(ours.n_iter_) is type(theirs.n_iter_)
            assert ours.predict(X).shape == theirs.predict(X).shape
            assert np.isfinite(ours.score(X, two))


# --- the same script -----------------------------------------------------------------------------------

SCRIPT = textwrap.dedent(
    """
    import numpy as np
    from sklearn.cluster import AgglomerativeClustering, BisectingKMeans, SpectralClustering
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.datasets import load_diabetes, load_iris
    from sklearn.decomposition import NMF, PCA, IncrementalPCA, LatentDirichletAllocation, TruncatedSVD
    from sklearn.decomposition import FactorAnalysis, FastICA, KernelPCA, SparsePCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, BaggingRegressor
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import BayesianRidge, LogisticRegressionCV, RidgeCV, SGDClassifier, SGDRegressor
    from sklearn.linear_model import ElasticNet, ElasticNetCV, HuberRegressor, Lasso, LassoCV, Perceptron
    from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor, Ridge
    from sklearn.linear_model import GammaRegressor, PoissonRegressor, RidgeClassifier, TweedieRegressor
    from sklearn.manifold import LocallyLinearEmbedding
    from sklearn.metrics import adjusted_rand_score
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, MaxAbsScaler, MinMaxScaler, PolynomialFeatures
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, QuantileTransformer, RobustScaler
    from sklearn.preprocessing import SplineTransformer, StandardScaler, TargetEncoder
    from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y = load_iris(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)

    print("LDA", round(LinearDiscriminantAnalysis().fit(X, y).score(X, y), 6))
    print("tree", round(DecisionTreeClassifier(max_depth=2).fit(X, y).score(X, y), 6))
    print("forest", RandomForestClassifier(20, random_state=0).fit(X, y).score(X, y) > 0.97)
    print("bagging", BaggingClassifier(random_state=0).fit(X, y).score(X, y) > 0.97)
    print("boosting", HistGradientBoostingClassifier(max_iter=20).fit(X, y).score(X, y) > 0.97)
    print("boosting", GradientBoostingClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.97)
    print("boosting", round(AdaBoostClassifier(n_estimators=9).fit(X, y).score(X, y), 6))
    print("neighbors", round(KNeighborsClassifier().fit(X, y).score(X, y), 6))
    print("neighbors", NearestNeighbors().fit(X).kneighbors(X[:3])[0].round(6).tolist())
    print("QDA", round(QuadraticDiscriminantAnalysis().fit(X, y).score(X, y), 6))
    print("NB", cross_val_score(GaussianNB(), X, y, cv=5).round(6).tolist())
    for model in (BernoulliNB(), CategoricalNB(min_categories=9), ComplementNB(), MultinomialNB()):
        print("NB", cross_val_score(model, X.round().astype(int), y, cv=5).round(6).tolist())
    print("PCA", PCA(2).fit(X).explained_variance_ratio_.round(6).tolist())
    logistic = make_pipeline(StandardScaler(), PCA(3), LogisticRegression())
    search = GridSearchCV(logistic, {"logisticregression__C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    print("logistic", search.best_params_, round(search.best_score_, 4))
    print("logistic", logistic.fit(X, y).predict_proba(X[:3]).round(2).tolist())
    print("sparse PCA", SparsePCA(2, random_state=0).fit(X).components_.round(6).tolist())
    print("kernel PCA", abs(KernelPCA(2, kernel="rbf").fit_transform(X)[:3]).round(6).tolist())
    lle = LocallyLinearEmbedding(n_neighbors=60, eigen_solver="dense")
    apart = X + 0.1 * np.sin(np.arange(X.size)).reshape(X.shape)  # of which none are equal
    print("embedding", abs(lle.fit(apart).embedding_[:3]).round(6).tolist())
    print("least squares", round(RidgeClassifier(0.5).fit(X, y).score(X, y), 6))
    for scaler in (MaxAbsScaler(), MinMaxScaler(), RobustScaler(), SplineTransformer(), SimpleImputer()):
        print("scaled", scaler.fit_transform(X)[:2].round(6).tolist())
    for encoder in (OneHotEncoder(sparse_output=False), OrdinalEncoder(), TargetEncoder(smooth=2.0)):
        print("encoded", encoder.fit(X[:, :2].round(), y > 0).transform(X[:2, :2].round()).round(6).tolist())
    bins = KBinsDiscretizer(strategy="uniform")
    for scaler in (PolynomialFeatures(), bins, QuantileTransformer(n_quantiles=9)):
        print("scaled", np.asarray(scaler.fit_transform(X[:, :2])[:2].sum(axis=1)).round(6).tolist())
    features = RBFSampler(gamma="scale", n_components=5, random_state=0)
    print("features", features.fit_transform(X)[:2].round(6).tolist())
    phi = Nystroem(n_components=9).fit_transform(X[:9])
    print("features", (phi @ phi.T).round(6).tolist())
    choice = LogisticRegressionCV(Cs=[0.1, 1.0], cv=3, l1_ratios=(0.0,), scoring="accuracy")
    choice.set_params(use_legacy_attributes=False)
    print("penalty", choice.fit(X, y > 1).C_)
    sgd = SGDClassifier(shuffle=False, tol=None, max_iter=9)
    print("SGD", sgd.fit(scaled, y > 0).coef_.round(4).tolist())
    print("perceptron", Perceptron(shuffle=False).fit(scaled, y > 0).coef_.round(6).tolist())
    km = KMeans(3, n_init=50, random_state=0).fit(scaled)
    print("k-means", round(km.inertia_, 4), sorted(np.bincount(km.labels_).tolist()))
    few = MiniBatchKMeans(2, n_init=3, random_state=0).fit(scaled)
    print("batches", sorted(np.bincount(few.labels_).tolist()))
    print("PCA", abs(IncrementalPCA(2, batch_size=150).fit(X).components_).round(4).tolist())
    lda = LatentDirichletAllocation(2, learning_method="batch", random_state=0).fit(X)
    print("topics", lda.components_.shape, lda.n_iter_)
    gm = GaussianMixture(2, n_init=3, random_state=0).fit(X)
    print("mixture", round(adjusted_rand_score(gm.predict(X), y > 0), 3), np.sort(gm.weights_).round(3))
    symmetric = {"weight_concentration_prior_type": "dirichlet_distribution", "random_state": 0}
    bayesian = BayesianGaussianMixture(n_components=2, tol=1e-9, max_iter=1000, **symmetric).fit(X)
    print("mixture", np.sort(bayesian.weights_).round(3).tolist())
    print("Ward", AgglomerativeClustering(3, compute_distances=True).fit(apart).distances_.round(6).tolist())
    graph = SpectralClustering(2, gamma=0.1, random_state=0)
    for model in (BisectingKMeans(2, random_state=0), graph):
        print("clusters", sorted(np.bincount(model.fit(scaled).labels_).tolist()))
    ica = FastICA(2, whiten_solver="eigh", tol=1e-10, max_iter=1000, random_state=0).fit(X)
    print("ICA", np.sort(abs(ica.components_), axis=0).round(4).tolist())

    X, y = load_diabetes(return_X_y=True)
    print("least squares", LinearRegression().fit(X, y).coef_.round(4).tolist())
    print("forest", RandomForestRegressor(20, random_state=0).fit(X, y).score(X, y) > 0.8)
    print("bagging", BaggingRegressor(random_state=0).fit(X, y).score(X, y) > 0.8)
    print("boosting", HistGradientBoostingRegressor(max_iter=20).fit(X, y).score(X, y) > 0.6)
    print("boosting", round(GradientBoostingRegressor(n_estimators=5).fit(X, y).score(X, y), 2))
    print("tree", DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y).predict(X[:5]).round(6).tolist())
    print("ridge", Ridge(0.5).fit(X, y).coef_.round(4).tolist())
    print("kernel ridge", KernelRidge(0.5, kernel="rbf").fit(X, y).predict(X[:3]).round(4).tolist())
    print("neighbors", round(KNeighborsRegressor(weights="distance").fit(X, y).score(X[:9], y[:9]), 6))
    print("ridge", RidgeCV([0.1, 1.0]).fit(X, y).alpha_)
    print("evidence", BayesianRidge().fit(X, y).coef_.round(2).tolist())
    print("SGD", SGDRegressor(shuffle=False, tol=None, max_iter=9).fit(X, y).coef_.round(4).tolist())
    print("scores", cross_val_score(Ridge(0.5), X, y, cv=4).round(6).tolist())
    print("lasso", (Lasso(0.1, tol=1e-10).fit(X, y).coef_.round(4) + 0.0).tolist())
    print("elastic net", ElasticNet(0.1, tol=1e-10).fit(X, y).coef_.round(4).tolist())
    for path in (LassoCV(cv=KFold(5)), ElasticNetCV(l1_ratio=[0.5, 0.9], cv=KFold(5))):
        print("path", round(path.fit(X, y).alpha_, 6))
    X = 100.0 * X
    factors = FactorAnalysis(1, tol=1e-12, max_iter=10_000).fit(X[:, :4])
    print("factors", abs(factors.components_).round(3).tolist())
    print("Huber", HuberRegressor(tol=1e-9, max_iter=10_000).fit(X, y).coef_.round(2).tolist())
    for glm in (PoissonRegressor(tol=1e-9), GammaRegressor(tol=1e-9), TweedieRegressor(power=1.5, tol=1e-9)):
        print("deviance", round(glm.fit(0.01 * X, y).score(0.01 * X, y), 5))
    print("median", round(QuantileRegressor(alpha=0.0).fit(X, y).score(X, y), 4))
    flowers, kinds = load_iris(return_X_y=True)
    print("SVM", SVC().fit(flowers, kinds).n_support_.tolist())
    print("SVM", round(NuSVC(nu=0.15).fit(flowers, kinds).score(flowers, kinds), 4))
    print("outliers", (OneClassSVM(nu=0.1).fit(flowers).decision_function(flowers) > 0.01).sum())
    for model in (SVR(tol=1e-6), NuSVR(tol=1e-6)):
        print("SVM", model.fit(flowers, kinds).predict(flowers[:3]).round(3).tolist())
    print("linear", round(LinearSVC(tol=1e-8, max_iter=10**6).fit(flowers, kinds).score(flowers, kinds), 4))
    print("linear", LinearSVR(tol=1e-9, max_iter=10**6).fit(flowers, kinds).coef_.round(3).tolist())
    X = X - X.min(axis=0)
    print("SVD", TruncatedSVD(3, random_state=0).fit(X).singular_values_.round(6).tolist())
    print("NMF", round(NMF(2, init="nndsvda", max_iter=2000).fit(X).reconstruction_err_, 4))
    print(LogisticRegression(C=2.0), KMeans(n_clusters=3))
    """
)


def run(script):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script, "script", "exec"), {"__name__": "script"})
    return out.getvalue()


@pytest.mark.slow
def test_the_same_script_with_another_import():
    topics = sorted({cls.__module__.split(".")[1] for cls, _ in PAIRS.values()})
    swapped = re.sub(rf"\bsklearn\.({'|'.join(topics)})\b", r"suffice.\1", SCRIPT)
    assert swapped.count("from suffice.") == 25
    assert run(swapped) == run(SCRIPT)


def test_every_pair_is_in_the_script():
    assert all(name in SCRIPT for name in PAIRS)
