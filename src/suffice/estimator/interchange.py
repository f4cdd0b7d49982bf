"""Copies of fitted estimators as objects of scikit-learn's classes, for other programs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import getattr_static
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from ..core.callers import warn
from ..core.values import Value, stored_name
from .answers import nameless
from .base import Derived
from .storing import Storable

MODULES = {"feature_extraction": "feature_extraction.text", "topics": "decomposition"}  # where names differ


def _one_hot(model: BaseEstimator) -> dict[str, Any]:
    _must_be_frequent(model)
    sizes = [len(values) for values in model.categories_]
    if model.drop_idx_ is not None:
        sizes = [n - (d is not None) for n, d in zip(sizes, model.drop_idx_, strict=True)]
    return {
        "_drop_idx_after_grouping": model.drop_idx_,
        "_infrequent_enabled": False,
        "_n_features_outs": sizes,
    }


def _ordinal(model: BaseEstimator) -> dict[str, Any]:
    _must_be_frequent(model)
    absent = {
        d: n
        for d, values in enumerate(model.categories_)
        for n, value in enumerate(values)
        if value is None or value != value
    }
    return {"_infrequent_enabled": False, "_missing_indices": absent}


def _must_be_frequent(model: BaseEstimator) -> None:
    """Raise for encoders that group infrequent categories."""
    if model.min_frequency is not None or model.max_categories is not None:
        raise TypeError(
            f"A copy of {type(model).__name__} with min_frequency or max_categories is not supported: fit "
            "without them, or save the model with suffice.save."
        )


def _bins(model: BaseEstimator) -> dict[str, Any]:
    if model.encode == "ordinal":
        return {}
    encoder = OneHotEncoder(
        categories=[np.arange(n) for n in model.n_bins_], sparse_output=model.encode == "onehot"
    )
    return {"_encoder": encoder.fit(np.zeros((1, len(model.n_bins_))))}


def _powers(model: BaseEstimator) -> dict[str, Any]:
    low, high = model.degree if isinstance(model.degree, tuple | list) else (0, model.degree)
    return {"_min_degree": low, "_max_degree": high, "_n_out_full": model.n_output_features_}


def _tree(model: BaseEstimator) -> dict[str, Any]:
    """Return the tree as scikit-learn's object, which rounds rows to float32 before it compares them."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    _must_be_numbers(model, model.model_)
    _report_rounding(model, model.model_)
    arrays = model.tree_
    nodes = np.zeros(arrays.node_count, NODE_DTYPE)
    theirs = {"left_child": "children_left", "right_child": "children_right"}
    for name in NODE_DTYPE.names:
        if hasattr(arrays, ours := theirs.get(name, name)):
            nodes[name] = getattr(arrays, ours)
    tree = Tree(arrays.n_features, arrays.n_classes.astype(np.intp), arrays.n_outputs)
    state = {"max_depth": arrays.max_depth, "node_count": arrays.node_count, "nodes": nodes}
    tree.__setstate__({**state, "values": np.ascontiguousarray(arrays.value)})
    return {"tree_": tree}


def _report_rounding(model: BaseEstimator, tree: Any) -> None:
    """Warn of splits whose two sides float32 may not separate.

    A tree does not store the values beside a threshold. The distance to the next threshold of the feature
    shows how close they are; above 2^24, where float32 does not have every integer, so does the threshold.
    """
    inner = tree.feature >= 0
    feature, threshold = tree.feature[inner], tree.threshold[inner]
    finite = np.abs(threshold) < np.finfo(np.float32).max  # an infinite threshold separates missing values
    for d in np.unique(feature[finite]).tolist():
        t = np.unique(threshold[finite & (feature == d)])
        single = t.astype(np.float32)
        spacing = np.spacing(np.abs(single)).astype(np.float64)
        gap = np.diff(t, prepend=-np.inf, append=np.inf)
        close = np.minimum(gap[:-1], gap[1:]) < 4.0 * spacing
        lost = close | ((np.abs(t) >= 2.0**24) & (single != t))
        if lost.any():
            n = int(np.flatnonzero(lost)[0])
            names = getattr(model, "feature_names_in_", range(model.n_features_in_))
            warn(
                f"The copy of {type(model).__name__} may predict otherwise: scikit-learn's trees, and ONNX, "
                f"round rows to float32, whose numbers are {spacing[n]:g} apart at the threshold {t[n]:.17g} "
                f"of feature {names[d]!r}. Subtract a constant from the feature before the fit, as by "
                "StandardScaler in a pipeline, or save the model with suffice.save."
            )
            return


def _mixture(model: BaseEstimator) -> dict[str, Any]:
    """Raise for a fit by sampling, whose density scikit-learn's class cannot represent."""
    if model.solver == "gibbs":
        raise TypeError(
            "A copy of BayesianGaussianMixture(solver='gibbs') is not supported: score_samples is the "
            "predictive density of the draws, which scikit-learn's class does not have. Fit with "
            "solver='variational', or save the model with suffice.save."
        )
    return {}


def _must_be_numbers(model: BaseEstimator, tree: Any) -> None:
    if tree.bins.categorical.any():
        raise TypeError(
            f"A {type(model).__name__} with categorical features cannot be copied to scikit-learn's: save it "
            "with suffice.save."
        )


def _members(model: BaseEstimator) -> dict[str, Any]:
    """Return the fitted members of an ensemble."""
    return {"estimators_": [as_sklearn(member) for member in model.estimators_]}


def _bagged(model: BaseEstimator) -> dict[str, Any]:
    """Return the members without feature names, since scikit-learn's class passes arrays to them."""
    return {"estimators_": [as_sklearn(nameless(member)) for member in model.estimators_]}


def _boosted(model: BaseEstimator) -> dict[str, Any]:
    """Return the trees of all stages, the initial predictor, and the loss, which has the link."""
    stages = model.estimators_
    trees = np.array([as_sklearn(tree) for tree in stages.ravel()], object).reshape(stages.shape)
    return {"estimators_": trees, "init_": as_sklearn(model.init_), "_loss": _loss(model)}


def _loss(model: BaseEstimator) -> Any:
    """Return the loss object of scikit-learn's class."""
    shell = namesake(type(model))(loss=model.loss)
    for name in ("alpha", "quantile", "n_classes_", "n_trees_per_iteration_"):
        if hasattr(model, name):
            setattr(shell, name, getattr(model, name))
    return shell._get_loss(None)


def _boosted_histograms(model: BaseEstimator) -> dict[str, Any]:
    """Return the trees as arrays of nodes, with numerical thresholds and without bins."""
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    _must_be_numbers(model, model.model_.forest.nodes)
    predictors = []
    for tree in model.model_.forest:
        nodes = np.zeros(len(tree.feature), PREDICTOR_RECORD_DTYPE)
        nodes["value"], nodes["count"], nodes["depth"] = tree.value[:, 0], np.rint(tree.weight), tree.depth
        nodes["feature_idx"], nodes["num_threshold"] = np.maximum(tree.feature, 0), tree.threshold
        nodes["left"], nodes["right"] = np.maximum(tree.children, 0).T
        nodes["missing_go_to_left"], nodes["is_leaf"] = tree.missing_left, tree.is_leaf
        sets = np.zeros((0, 8), np.uint32)
        predictors.append(TreePredictor(nodes, sets, sets))
    K, mapper = len(model.model_.baseline), _BinMapper()
    mapper.is_categorical_ = np.zeros(model.n_features_in_, np.uint8)
    mapper.bin_thresholds_ = [np.empty(0)] * model.n_features_in_
    return {
        "_predictors": [predictors[m : m + K] for m in range(0, len(predictors), K)],
        "_baseline_prediction": model.model_.baseline[None],
        "_bin_mapper": mapper,
        "_loss": _loss(model),
        "_preprocessor": None,
    }


def _support_vectors(model: BaseEstimator) -> dict[str, Any]:
    """Return the arrays with which LIBSVM predicts.

    For two classes, its scores have the opposite sign. Without classes, it expects the number of support
    vectors and a zero.
    """
    if not isinstance(model.kernel, str):
        raise TypeError(
            f"A copy of {type(model).__name__} needs the name of a kernel, as 'rbf'; got {model.kernel!r}: "
            "save the model with suffice.save."
        )
    sign = -1.0 if len(getattr(model, "classes_", ())) == 2 else 1.0
    sigmoids = getattr(model, "sigmoids_", np.empty((0, 2)))
    return {
        "_sparse": sp.issparse(model.support_vectors_),
        "_effective_probability": hasattr(model, "sigmoids_"),
        "_gamma": getattr(model.model_.kernel.kernel, "gamma", 0.0),
        "_dual_coef_": sign * model.dual_coef_,
        "_intercept_": sign * model.intercept_,
        "_n_support": model.n_support_
        if len(model.n_support_) > 1
        else np.array([*model.n_support_, 0], np.int32),
        "_probA": sigmoids[:, 0].copy(),
        "_probB": sigmoids[:, 1].copy(),
    }


def _columns(model: BaseEstimator) -> dict[str, Any]:
    """Return the fitted transformers, which also replace the unfitted ones among the parameters."""
    fitted = [(name, as_sklearn(part), columns) for name, part, columns in model.transformers_]
    copies = {name: part for name, part, _ in fitted}
    parts = [
        (name, part if isinstance(part, str) else copies.get(name, "drop"), columns)
        for name, part, columns in model.transformers
    ]
    rest = model.remainder if isinstance(model.remainder, str) else copies.get("remainder", "drop")
    private = {name: value for name, value in vars(model).items() if name[0] == "_" and name[:5] != "_skl_"}
    theirs = {"_remainder": ("remainder", rest, model._remainder[2])}
    return private | theirs | {"transformers_": fitted, "transformers": parts, "remainder": rest}


def _neighbors(model: BaseEstimator) -> dict[str, Any]:
    """Return the private attributes of scikit-learn's class, which is fitted to the same rows."""
    rows = model._rows
    if model.rows_elsewhere or (rows.weight != np.floor(rows.weight)).any():
        raise TypeError(
            f"A copy of {type(model).__name__} needs rows in memory, with weights that are whole numbers: "
            "fit to such rows."
        )
    y = rows.target[:, 0] if model._flat_target and rows.target.size else rows.target
    if isinstance(classes := getattr(model, "classes_", None), list):
        y = np.stack([c[code] for c, code in zip(classes, y.T.astype(np.int64), strict=True)], axis=1)
    elif classes is not None:
        y = classes[y.astype(np.int64)]
    row = np.repeat(np.arange(rows.X.shape[0]), rows.weight.astype(np.int64))
    copy = _unfitted(model).fit(rows.X[row], y[row] if y.size else None)
    return {name: value for name, value in vars(copy).items() if name[0] == "_"}


# By class, functions that return the attributes that scikit-learn's methods read beside the public ones.
PRIVATE: dict[str, Callable[[Any], dict[str, Any]]] = {
    "AdaBoostClassifier": _members,
    "BaggingClassifier": _bagged,
    "BaggingRegressor": _bagged,
    "BayesianGaussianMixture": _mixture,
    "ColumnTransformer": _columns,
    "DecisionTreeClassifier": _tree,
    "DecisionTreeRegressor": _tree,
    "GradientBoostingClassifier": _boosted,
    "GradientBoostingRegressor": _boosted,
    "HistGradientBoostingClassifier": _boosted_histograms,
    "HistGradientBoostingRegressor": _boosted_histograms,
    "KBinsDiscretizer": _bins,
    "KNeighborsClassifier": _neighbors,
    "KNeighborsRegressor": _neighbors,
    "NearestNeighbors": _neighbors,
    "KMeans": lambda model: {"_n_threads": 1},
    "LinearDiscriminantAnalysis": lambda model: {"_max_components": model.scalings_.shape[1]},
    "LocallyLinearEmbedding": lambda model: {"nbrs_": as_sklearn(model.nbrs_)},
    "MiniBatchKMeans": lambda model: {"_n_threads": 1},
    "NuSVC": _support_vectors,
    "NuSVR": _support_vectors,
    "OneClassSVM": _support_vectors,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "PolynomialFeatures": _powers,
    "RandomForestClassifier": _members,
    "RandomForestRegressor": _members,
    "RidgeClassifier": lambda model: {
        "_label_binarizer": LabelBinarizer(pos_label=1, neg_label=-1).fit(model.classes_)
    },
    "SimpleImputer": lambda model: {
        "_fit_dtype": model.statistics_.dtype,
        "_fill_dtype": model.statistics_.dtype,
    },
    "SVC": _support_vectors,
    "SVR": _support_vectors,
    "TargetEncoder": lambda model: {"_infrequent_enabled": False},
}
# Classes whose methods read more than the fitted attributes determine.
NOT_COPIED = {"CountVectorizer", "TfidfVectorizer", "HashingVectorizer", "KernelPCA"}
NOT_COPIED |= {
    "AgglomerativeClustering",
    "BisectingKMeans",
    "SpectralClustering",
}  # these do not predict new rows


def as_sklearn(model: BaseEstimator) -> Any:
    """Copy a fitted estimator, or a pipeline of such, to scikit-learn's class of the same name.

    The copy has the parameters that scikit-learn knows, and the same fitted attributes. It predicts the same
    without suffice, and programs that know scikit-learn's classes accept it: ONNX converters, explainers,
    servers. Trees of scikit-learn round rows to float32: a warning is given if that may change predictions.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        The model. Steps of a pipeline may be scikit-learn's already.

    Returns
    -------
    estimator of scikit-learn

    Examples
    --------
    >>> import suffice
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> copy = suffice.as_sklearn(model)
    >>> type(copy).__module__.split(".")[0], float(copy.predict([[3.0]])[0].round(6))
    ('sklearn', 7.0)
    """
    if isinstance(model, Pipeline):
        return Pipeline([(name, as_sklearn(step)) for name, step in model.steps])
    if not isinstance(model, Storable):
        return model  # scikit-learn's, or "passthrough"
    copy = _unfitted(model)
    check_is_fitted(model)
    fitted = _public(model) | PRIVATE.get(type(copy).__name__, lambda model: {})(model)
    computed = {name for name in fitted if isinstance(getattr(type(copy), name, None), property)}
    vars(copy).update({name: value for name, value in fitted.items() if name not in computed})
    return copy


def _unfitted(model: Any) -> Any:
    """Return the unfitted estimator of scikit-learn with the parameters of ours."""
    if not isinstance(model, Storable):
        return model
    cls = namesake(type(model))
    if cls is None or cls.__name__ in NOT_COPIED:
        raise TypeError(
            f"{type(model).__name__} cannot be copied to a class of scikit-learn: save it with suffice.save."
        )
    params = model.get_params(deep=False)  # type: ignore[attr-defined]
    known = {name: params[name] for name in cls._get_param_names() if name in params}
    # Versions of scikit-learn differ in how they mark parameters that are not set.
    return cls(**{name: _unfitted(value) for name, value in known.items() if not _is_unset(value)})


def _is_unset(value: Any) -> bool:
    return isinstance(value, str) and value in ("deprecated", "warn")


def _public(model: BaseEstimator) -> dict[str, Any]:
    """Return the fitted attributes that need no suffice, including those computed when they are read."""
    names = {name for name in dir(type(model)) if name[-1] == "_" != name[0]}
    computed = {name for name in names if isinstance(getattr_static(type(model), name), property | Derived)}
    computed -= {"probA_", "probB_"}  # deprecated: scikit-learn computes them, too
    params = model.get_params(deep=False)
    stored = {n: v for n, v in vars(model).items() if n[0] != "_" and n not in params}
    stored |= {name: getattr(model, name) for name in computed if hasattr(model, name)}
    return {name: _unfitted(value) for name, value in stored.items() if not isinstance(value, Value)}


def namesake(cls: type) -> Any:
    """Return the class of scikit-learn with the name of ours, or None."""
    if not cls.__module__.startswith("suffice."):  # a subclass outside of suffice
        return None
    module, name = stored_name(cls).split(".")[1:]
    try:
        theirs = import_module(f"sklearn.{MODULES.get(module, module)}")
    except ModuleNotFoundError:
        return None
    candidate = getattr(theirs, name, None)
    return candidate if isinstance(candidate, type) and issubclass(candidate, BaseEstimator) else None
