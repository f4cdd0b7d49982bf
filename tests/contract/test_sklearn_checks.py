"""scikit-learn's own checks, for every estimator there is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.cluster import KMeans
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import MixedNB

from ..laws.registry import ESTIMATORS, VARIANTS, answers, bits, each_variant, fit, has_options, is_distinct

# Of checks with classes of very few rows: a covariance without regularisation is not defined there. These
# are the parameters with which scikit-learn checks its class of the same name, or as few iterations.
PARAMETERS = {
    "AdaBoostClassifier": {"n_estimators": 5},
    "ForwardStagewiseClassifier": {"n_estimators": 5},
    "ForwardStagewiseRegressor": {"n_estimators": 5},
    "BaggingClassifier": {"n_estimators": 5},
    "BaggingRegressor": {"n_estimators": 5},
    "BayesianModelAveraging": {"max_features": 2},
    "ConditionalRandomField": {"max_iter": 10},
    **{f"GradientBoosting{kind}": {"n_estimators": 5} for kind in ("Classifier", "Regressor")},
    **{
        f"HistGradientBoosting{kind}": {"max_iter": 5, "min_samples_leaf": 5}
        for kind in ("Classifier", "Regressor")
    },
    "FusionClustering": {"penalty": "l0", "alpha": 0.05},  # of rows with unit variance, three groups
    "HiddenMarkovModel": {"max_iter": 5},
    "LassoCV": {"alphas": 10, "cv": 3},
    "LocallyLinearEmbedding": {"n_neighbors": 3},
    "LatentDirichletAllocation": {"max_iter": 5},
    "RandomForestClassifier": {"n_estimators": 5},
    "RandomForestRegressor": {"n_estimators": 5},
    "LogisticRegressionCV": {
        **{"Cs": 3, "cv": 3, "l1_ratios": (0.0,), "use_legacy_attributes": False},
        "scoring": "neg_log_loss",
    },
    "MaxMarginMarkovNetwork": {"max_iter": 50},
    "NMF": {"max_iter": 500},
    "Nystroem": {"n_components": 1},
    "ProbabilisticLatentSemanticAnalysis": {"max_iter": 10, "doc_tol": 1e-6},
    **{name: {"tol": 1e-10} for name in ("NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR")},
    "ProjectionPursuitClassifier": {"max_iter": 5},
    "QuadraticDiscriminantAnalysis": {"reg_param": 1.0},
    "RelativeDensityRatio": {"gamma": 1.0, "penalty": 0.1},  # equal rows are in one fold
    "SGDClassifier": {"max_iter": 5},
    "SGDRegressor": {"max_iter": 5},
    "StructuredPerceptron": {"max_iter": 10},
}

MORE = [
    KMeans(init="k-means||"),
    KMeans(init="random", n_init=2),
    *(GaussianMixture(2, covariance_type=kind) for kind in ("full", "tied", "diag", "spherical")),
    GaussianMixture(2, init_params="random"),
    LogisticRegression(solver="newton"),
    LogisticRegression(class_weight="balanced"),
    LinearRegression(positive=True),
    Ridge(positive=True),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5),
    MixedNB(kinds="categorical"),
]


# The checks take the rows of an array for examples. Here an array is one sequence: the order of
# its rows is part of it, a part of it is another sequence, and a weight belongs to the whole.
OF_ROWS = {
    "check_methods_sample_order_invariance": "the rows of a sequence have an order",
    "check_methods_subset_invariance": "a part of a sequence is another sequence",
    "check_sample_weight_equivalence_on_dense_data": "weights belong to whole sequences",
    "check_sample_weight_equivalence_on_sparse_data": "weights belong to whole sequences",
    "check_sample_weights_not_overwritten": "weights belong to whole sequences, and these differ within one",
    "check_classifiers_one_label_sample_weights": "weights belong to whole sequences",
}
OF_ONE = {
    "ConditionalRandomField": {
        "check_classifiers_train": "the best path is not the path of the best steps, as the check expects",
        "check_class_weight_classifiers": "the class weights of a sequence are averaged: it is one example",
    },
    "NuSVC": {
        "check_class_weight_classifiers": "nu is infeasible if almost all weight is of one class",
        "check_sample_weight_equivalence_on_dense_data": "nu=0.5 is infeasible for these weights",
        "check_sample_weight_equivalence_on_sparse_data": "nu=0.5 is infeasible for these weights",
    },
    # `y` names states, and the checks pass three labels where they have set n_components=1.
    "HiddenMarkovModel": dict.fromkeys(
        ("check_dont_overwrite_parameters", "check_fit2d_1feature", "check_fit2d_predict1d"),
        "more labels than states",
    ),
    # As scikit-learn expects of its own.
    **{
        name: {"check_non_transformer_estimators_n_iter": "there are no iterations"}
        for name in ("Ridge", "RidgeClassifier")
    },
    **{
        name: {"check_sample_weight_equivalence_on_dense_data": "rows of weight zero are unknown categories"}
        for name in ("OneHotEncoder", "OrdinalEncoder")
    },
    "TargetEncoder": {
        "check_transformer_preserve_dtypes": "scikit-learn deprecates random_state, which it sets"
    },
    **{
        name: {
            f"check_sample_weight_equivalence_on_{kind}_data": "a weight is the length of a step"
            for kind in ("dense", "sparse")
        }
        for name in ("SGDClassifier", "SGDRegressor")
    },
    **{
        name: {
            f"check_sample_weight_equivalence_on_{kind}_data": "samples are of rows, in their order"
            for kind in ("dense", "sparse")
        }
        for kind in ("Classifier", "Regressor")
        for name in (f"Bagging{kind}", f"RandomForest{kind}")
    },
}


def takes_arrays(cls):
    """An array is one example for a classifier of sequences: there is nothing that the checks could pass."""
    return get_tags(cls()).input_tags.two_d_array


def expected(estimator):
    return (OF_ROWS if estimator.takes == "sequences" else {}) | OF_ONE.get(type(estimator).__name__, {})


# Those that take long, and of which another has the same `fit`: the slow suite checks them.
SIBLINGS = {
    *("BilinearNMF", "ElasticNetCV", "GeneralizedAdditiveModel", "LogisticRegressionCV", "MarginPerceptron"),
    *("PocketPerceptron", "ProjectionPursuitRegressor", "RegularizedLSI", "VotedPerceptron"),
    *("DecisionTreeRegressor", "ForwardStagewiseClassifier", "ForwardStagewiseRegressor"),
    *("BaggingRegressor", "KNeighborsRegressor", "RandomForestRegressor"),
    *("GradientBoostingRegressor", "HistGradientBoostingRegressor", "RandomForestRegressor"),
}
CHECKED = [cls(**PARAMETERS.get(cls.__name__, {})) for cls in ESTIMATORS if takes_arrays(cls)]


def is_sibling(estimator):
    return type(estimator).__name__ in SIBLINGS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as scikit-learn runs them
@pytest.mark.filterwarnings("ignore:A clone of")
@pytest.mark.filterwarnings("ignore:n_quantiles|Bins whose width|Features? .* (is|are) constant:UserWarning")
@pytest.mark.filterwarnings("ignore:The neighbours divide the rows|Graph is not fully connected:UserWarning")
@parametrize_with_checks([e for e in CHECKED if not is_sibling(e)], expected_failed_checks=expected)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:A clone of")
@parametrize_with_checks([e for e in CHECKED if is_sibling(e)], expected_failed_checks=expected)
def test_sklearn_checks_of_siblings(estimator, check):
    check(estimator)


# The checks of what options change. All others are of names, parameters, input and errors, for which every
# estimator has the same code with all its options.
OF_FITS = {
    *("check_class_weight_classifiers", "check_classifiers_one_label", "check_classifiers_train"),
    *("check_clusterer_compute_labels_predict", "check_clustering", "check_decision_proba_consistency"),
    *("check_estimator_sparse_array", "check_estimators_dtypes", "check_fit2d_1feature"),
    *("check_fit2d_1sample", "check_methods_sample_order_invariance", "check_methods_subset_invariance"),
    *("check_non_transformer_estimators_n_iter", "check_regressor_multioutput", "check_regressors_int"),
    *("check_regressors_train", "check_sample_weight_equivalence_on_dense_data"),
    *("check_sample_weight_equivalence_on_sparse_data", "check_transformer_general"),
}


def checks_of_fits(estimators):
    mark = parametrize_with_checks(estimators, expected_failed_checks=expected).mark
    names, cases = mark.args
    named = [(check_in(case), case) for case in cases]
    assert {name for name, _ in named} >= OF_FITS
    return pytest.mark.parametrize(names, [case for name, case in named if name in OF_FITS], **mark.kwargs)


def check_in(case):
    """The name of the check in a case, which is a pair, or a set of parameters if it is expected to fail."""
    check = getattr(case, "values", case)[1]
    return getattr(check, "func", check).__name__


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks_of_fits(MORE)
def test_sklearn_checks_with_options(estimator, check):
    check(estimator)


@each_variant(takes=("sequences",), slow=has_options)
def test_answers_for_sequences_return_in_the_shape_that_came(variant):
    X, y = variant.data(40)
    model = fit(variant.make(), X, y)
    rows, groups = np.concatenate(list(X)), np.repeat(np.arange(len(X)), [len(x) for x in X])
    found = answers(model, list(X))
    assert found
    for name, answer in found.items():
        assert len(answer) == len(X), name
        flat = getattr(model, name)(rows, groups=groups)
        if variant.of_sequences:
            np.testing.assert_array_equal(flat, answer)
            continue
        assert [len(part) for part in answer] == [len(x) for x in X], name
        assert len(flat) == len(rows)
        np.testing.assert_array_equal(flat, np.concatenate(answer))


@each_variant(takes=("rows",))
def test_answers_return_in_the_shape_that_came(variant):
    X, y = variant.data()
    model = fit(variant.make(), X, y)
    found = answers(model, X)
    assert found
    for name, answer in found.items():
        assert len(answer) == len(X), name
    one = answers(model, X[:1])
    for name, answer in found.items():
        assert one[name].shape == (1, *answer.shape[1:])
        if answer.dtype.kind == "f":
            np.testing.assert_allclose(one[name][0], answer[0], rtol=1e-9, atol=1e-12)
        else:
            assert one[name][0] == answer[0]


@each_variant(lambda v: v.kind == "classifier" and is_distinct(v), takes=("rows",))
def test_labels_return_as_they_came(variant):
    """Strings, whole numbers, flags, and what is neither in order nor starts at zero."""
    X, y = variant.data()
    names = np.unique(y)
    for labels in (["b", "a", "c"], [7, -1, 3], [2.0, 5.0, 1.0], np.array(["x", "yy", "zzz"], dtype=object)):
        labels = np.asarray(labels)[: len(names)]
        given = labels[np.searchsorted(names, y)]
        model = fit(variant.make(priors=None), X, given)
        assert model.classes_.dtype == labels.dtype
        assert (model.classes_ == np.unique(labels)).all()
        found = model.predict(X)
        assert found.dtype == labels.dtype
        # With losses of regression, SGD takes large steps. Features that are binary have few bits.
        if "loss=huber" in variant.name or "loss=epsilon" in variant.name:
            codes = fit(variant.make(priors=None), X, np.searchsorted(model.classes_, given)).predict(X)
            assert (found == model.classes_[codes]).all()
        else:
            assert (found == given).mean() > (0.5 if variant.support == "binary" else 0.6)
    flags = y == names[0]
    assert fit(variant.make(priors=None), X, flags).predict(X).dtype == bool


@pytest.mark.parametrize("cls", [c for c in ESTIMATORS if c.takes == "rows"], ids=lambda c: c.__name__)
def test_names_of_features_are_kept(cls):
    pd = pytest.importorskip("pandas")
    variant = next(v for v in VARIANTS if type(v.estimator) is cls)
    X, y = variant.data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = fit(variant.make(), frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    if hasattr(model, "predict"):
        assert (model.predict(frame) == fit(variant.make(), X, y).predict(X)).all()
    if hasattr(model, "get_feature_names_out"):
        assert len(model.get_feature_names_out()) == model.transform(frame).shape[1]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_every_estimator_takes_weights(cls):
    import inspect

    for name in ("fit", "score", "partial_fit"):
        method = getattr(cls, name, None)
        if method is not None:
            assert "sample_weight" in inspect.signature(method).parameters, name


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_no_workers_in_the_constructor(cls):
    """No `engine=`; and `n_jobs` only where scikit-learn has it, to be ignored."""
    from sklearn.utils import all_estimators

    theirs = {name: peer().get_params() for name, peer in all_estimators() if name == cls.__name__}
    ours = clone(cls()).get_params()
    assert "engine" not in ours
    assert "n_jobs" not in ours or "n_jobs" in theirs.get(cls.__name__, {})
    answers = hasattr(cls, "transform") or hasattr(cls, "kneighbors")
    assert get_tags(cls()).estimator_type or answers or cls.takes == "edges"


@pytest.mark.parametrize(
    "cls", [c for c in ESTIMATORS if hasattr(c, "get_feature_names_out")], ids=lambda c: c.__name__
)
def test_features_have_no_names_before_fit(cls):
    with pytest.raises(NotFittedError):
        cls().get_feature_names_out()


@pytest.mark.parametrize(
    "cls", [c for c in ESTIMATORS if is_regressor(c()) and c.takes != "sequences"], ids=lambda c: c.__name__
)
@pytest.mark.parametrize("hole", [None, np.nan, np.inf], ids=str)
def test_targets_are_numbers(cls, hole):
    """In whatever they come: an array of objects, a list, a column of a table."""
    pd = pytest.importorskip("pandas")
    variant = next(v for v in VARIANTS if type(v.estimator) is cls)
    X, y = variant.data(40)
    values = y.astype(object)
    values[3] = hole
    column = pd.Series(values, dtype=object)
    for given in (values, values.tolist(), column, column.astype(np.float64)):
        with pytest.raises(ValueError, match=r"Input( y)? contains"):
            cls().fit(X, given)


THIRDS = [0.2, 0.3, 0.5]
SQUARE = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]
ARRAYS = {
    "AdditiveModel": {"alpha": [1.0, 2.0, 3.0]},
    "BasisFunctions": {
        "kind": "gaussian",
        "knots": [[-5.0] * 3, [0.0] * 3, [5.0] * 3],
        "width": [1.0, 2.0, 3.0],
    },
    "BayesianLinearRegression": {"prior_mean": [1.0, 0.0, 0.0], "prior_precision": SQUARE},
    "BernoulliNB": {"class_prior": THIRDS, "alpha": [1.0, 2.0, 3.0]},
    "CategoricalNB": {"class_prior": THIRDS, "min_categories": [5, 6, 7]},
    "ClassConditional": {"class_prior": THIRDS},
    "ComplementNB": {"class_prior": THIRDS},
    "ElasticNetCV": {"alphas": [1.0, 0.1], "l1_ratio": [0.5, 1.0]},
    "GaussianMixture": {
        "n_components": 3,
        "means_init": SQUARE,
        "weights_init": THIRDS,
        "precisions_init": [np.eye(3)] * 3,
        "weight_concentration_prior": [1.0, 2.0, 3.0],
        "max_iter": 0,
    },
    "GaussianNB": {"priors": THIRDS},
    "HiddenMarkovModel": {
        "n_components": 3,
        "start_prior": [1.0, 2.0, 3.0],
        "transition_prior": SQUARE,
        "tied": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
    },
    "KMeans": {"n_clusters": 3, "init": SQUARE},
    "LinearDiscriminantAnalysis": {"priors": THIRDS},
    "MixedNB": {"class_prior": THIRDS},
    "MultinomialNB": {"class_prior": THIRDS, "alpha": [1.0, 2.0, 3.0]},
    "ProbabilisticLatentSemanticAnalysis": {"n_components": 3, "topics_init": SQUARE},
    "QuadraticDiscriminantAnalysis": {"priors": THIRDS},
    "Ridge": {"alpha": [1.0]},
    "RidgeClassifier": {"alpha": [1.0, 2.0, 3.0]},
}


@pytest.mark.parametrize("cls", [c for c in ESTIMATORS if c.__name__ in ARRAYS], ids=lambda c: c.__name__)
def test_a_fitted_model_keeps_none_of_the_arrays_of_the_caller(cls):
    """What the caller writes into its arrays after the fit changes nothing that was learnt."""
    variant = next(v for v in VARIANTS if type(v.estimator) is cls)
    X, y = variant.data()
    given = ARRAYS[cls.__name__]
    arrays = {name: np.array(value) for name, value in given.items() if np.ndim(value)}
    model = fit(cls(**given | arrays), X, y)
    learnt = bits(model)
    for array in arrays.values():
        array[...] = 7
    assert bits(model) == learnt


def test_arrays_are_given_to_estimators():
    assert set(ARRAYS) <= {cls.__name__ for cls in ESTIMATORS}
