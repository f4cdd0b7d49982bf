"""Everything there is, found by itself: statistics, models, families, engines and estimators.

A new class is here as soon as it is written. What data it needs it says of itself: a family by its
`support`, an estimator by its tags, and the options worth trying are those its constraints declare.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

import suffice
from suffice.core.blocks import Rows, Sequences, offsets
from suffice.core.model import Family, Model
from suffice.core.partitions import Partitions
from suffice.core.statistics import Statistics
from suffice.core.storage import import_everything
from suffice.core.values import Value
from suffice.engines.local import LocalPartitions
from suffice.estimator.base import Estimator, Iterative
from suffice.estimator.parameters import StrOptions
from suffice.families import Bernoulli, Categorical, DiagonalGaussian, GaussianPrior, Poisson, ProductFamily
from suffice.kernels import RBF, Centered, Polynomial
from suffice.linear_model import Ridge
from suffice.naive_bayes import GaussianNB
from suffice.preprocessing import DatetimeEncoder
from suffice.preprocessing.encoders import Encoder
from suffice.sequence import HiddenMarkovModel
from suffice.statistics import Factor
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

N, D, K = 211, 3, 3  # rows, features, groups: no round number of rows

# --- what there is -------------------------------------------------------------------------------------


def _ours(known: dict[str, type], base: type) -> list[type]:
    import_everything()
    found = {cls for name, cls in known.items() if name.startswith("suffice.") and issubclass(cls, base)}
    return sorted(found, key=lambda cls: f"{cls.__module__}.{cls.__qualname__}")


def _concrete(base: type) -> list[type]:
    """The classes of which there are instances. Dataclasses that start with _ are shared parts of others,
    unless they are statistics: those are summed, whatever their name."""
    return [
        cls
        for cls in _ours(Value.known, base)
        if "__dataclass_fields__" in vars(cls)
        and not inspect.isabstract(cls)
        and (issubclass(cls, Statistics) or not cls.__name__.startswith("_"))
    ]


STATISTICS = _concrete(Statistics)
MODELS = _concrete(Model)
FAMILIES = _concrete(Family)


def public_names() -> dict[str, Any]:
    """All that a module of suffice offers in `__all__`, by dotted name."""
    import_everything()
    found = {}
    for module in [suffice, *(import_module(f"suffice.{m.name}") for m in _topics())]:
        for name in getattr(module, "__all__", ()):
            found[f"{module.__name__}.{name}"] = getattr(module, name)
    return found


def _topics() -> list[Any]:
    return [m for m in pkgutil.iter_modules(suffice.__path__) if m.ispkg and m.name != "engines"]


ESTIMATORS = sorted(
    {
        cls
        for cls in public_names().values()
        if inspect.isclass(cls) and issubclass(cls, Estimator) and "suffice.estimator." not in cls.__module__
    },
    key=lambda cls: cls.__name__,
)


def engine_modules() -> list[str]:
    return [m.name for m in pkgutil.iter_modules(import_module("suffice.engines").__path__)]


def engines() -> dict[type, str]:
    """Subclasses of Partitions and the module that has them; engines that are not installed left out."""
    for name in engine_modules():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the engine itself imports
            try:
                import_module(f"suffice.engines.{name}")
            except ImportError:
                continue
    found = {cls: cls.__module__.rsplit(".", 1) for cls in Partitions.__subclasses__()}
    return {
        cls: module
        for cls, (home, module) in found.items()
        if home == "suffice.engines" and module != "shards"
    }


# --- documentation, as far as the tests read it --------------------------------------------------------


def section(cls: Any, name: str) -> dict[str, str]:
    """Entries of a section of a numpydoc docstring: name -> what stands after the colon."""
    doc = inspect.cleandoc(cls.__doc__ or "").replace("\\\n", "")
    match = re.search(rf"^{name}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", doc, re.M | re.S)
    if not match:
        return {}
    return dict(re.findall(r"^([A-Za-z_]\w*) : (.*)$", match[1], re.M))


def options(cls: Any) -> dict[str, list[Any]]:
    """Parameters that take strings, and which, as their constraints declare; and None where it is allowed."""
    found = {}
    for name, constraints in cls._parameter_constraints.items():
        strings = {text for part in constraints if isinstance(part, StrOptions) for text in part.options}
        if strings:
            found[name] = [*sorted(strings), *([None] if None in constraints else [])]
    return found


def documented(cls: type) -> dict[str, str]:
    """The entry of each parameter in the docstring."""
    doc = inspect.cleandoc(cls.__doc__ or "")
    match = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", doc, re.M | re.S)
    return dict(re.findall(r"^(\w+) : (.*?)(?=^\w+ : |\Z)", match[1] if match else "", re.M | re.S))


# Options that need others, or data, beside them: the parameters and the support with which they are tried.
WITH: dict[tuple[str, str, Any], tuple[dict[str, Any], str | None]] = {
    **{("NMF", "beta_loss", loss): ({"solver": "mu"}, None) for loss in ("kullback-leibler",)},
    **{
        ("SGDRegressor", "learning_rate", rate): ({"loss": "epsilon_insensitive"}, None)
        for rate in ("pa1", "pa2")
    },
    ("SGDRegressor", "learning_rate", "optimal"): ({"alpha": 100.0}, None),  # or it diverges
    **{
        ("SGDClassifier", "loss", loss): ({"learning_rate": "constant", "eta0": 1e-3}, None)  # or it diverges
        for loss in ("squared_epsilon_insensitive", "squared_error", "squared_hinge")
    },
    **{("ConditionalRandomField", "solver", name): ({"max_iter": 20}, None) for name in ("iis-t", "sgd")},
    # As many components as features take 1,670 iterations, here and in scikit-learn.
    ("NMF", "init", "nndsvd"): ({"n_components": 2}, None),
    ("SparsePCA", "criterion", "elastic-net"): ({"n_components": 2, "tol": 1e-4}, None),  # else it is slow
    ("PCA", "n_components", "mle"): ({"svd_solver": "full"}, None),
    ("PCA", "svd_solver", "arpack"): ({"n_components": 2}, None),  # finds all components but one at most
    ("LinearDiscriminantAnalysis", "shrinkage", "auto"): ({"solver": "eigen"}, None),
    ("QuadraticDiscriminantAnalysis", "shrinkage", "auto"): ({"solver": "eigen"}, None),
    ("ElasticNet", "selection", "random"): ({"random_state": 0}, None),
    **{
        (name, "kinds", kind): ({}, support)
        for name in ("MixedMixture", "MixedNB")
        for kind, support in (("categorical", "category"), ("bernoulli", "binary"), ("poisson", "count"))
    },
    ("ClassConditional", "family", "categorical"): ({}, "category"),
    ("ClassConditional", "family", "bernoulli"): ({}, "binary"),
    ("ClassConditional", "family", "poisson"): ({}, "count"),
    ("ClassConditional", "family", "multinomial"): ({}, "count"),
    ("HiddenMarkovModel", "emission", "bernoulli"): ({}, "binary"),
    ("OrdinalEncoder", "handle_unknown", "use_encoded_value"): ({"unknown_value": -1}, None),
    ("KCentroids", "metric", "prototypes"): ({"categorical_features": [1, 2]}, "mixed"),
}
# Options that are accepted as in scikit-learn and change nothing: a test fits with each of them.
IGNORED: dict[tuple[str, str], tuple[Any, ...]] = {
    **{
        (name, "solver"): ("cholesky", "lsqr", "sag", "saga", "sparse_cg", "svd")
        for name in ("Ridge", "RidgeClassifier")
    },
    ("QuantileRegressor", "solver"): ("highs-ds", "highs-ipm"),
    ("PCA", "power_iteration_normalizer"): ("LU", "QR", "none"),
    ("PCA", "iterated_power"): (),
    ("FactorAnalysis", "svd_method"): ("lapack",),
    ("FastICA", "whiten_solver"): ("eigh",),
    ("SparsePCA", "method"): ("cd",),
    ("SpectralClustering", "eigen_solver"): ("amg", "arpack", "lobpcg"),
}
# Options that the laws do not try, and why.
ELSEWHERE: dict[tuple[str, str], tuple[tuple[Any, ...], str]] = {
    ("BayesianGaussianMixture", "solver"): (
        ("gibbs",),
        "draws labels by block: tests/fitting/test_gibbs.py",
    ),
    ("BinaryPCA", "solver"): (
        ("mcmc",),
        "averages draws of iterations: tests/decomposition/test_binary_pca.py",
    ),
    ("BilinearNMF", "init"): (("custom",), "takes W and V in fit: tests/decomposition/test_nmf.py"),
    ("NMF", "init"): (("custom",), "takes W and H in fit: tests/decomposition/test_nmf.py"),
    ("NMF", "beta_loss"): (
        ("itakura-saito",),
        "is refused, with what to use: tests/decomposition/test_nmf.py",
    ),
    ("FactorAnalysis", "factor_covariance"): (
        ("free",),
        "needs features with different loadings: tests/decomposition/test_factor_analysis.py",
    ),
    ("FactorAnalysis", "rotation"): (
        ("target",),
        "needs a target: tests/decomposition/test_factor_analysis.py",
    ),
    ("KCentroids", "metric"): (("itakura-saito",), "takes positive numbers: tests/cluster"),
    ("TargetEncoder", "target_type"): (
        ("binary", "multiclass"),
        "takes other targets: tests/preprocessing/test_encoders.py",
    ),
    ("KernelMachine", "loss"): (
        ("epsilon_insensitive", "hinge", "squared"),
        "are tried with landmarks below, or end in one step: tests/svm/test_kernel_machine.py",
    ),
    ("LinearSVC", "multi_class"): (("crammer_singer",), "is refused: tests/svm/test_linear.py"),
    ("LinearSVR", "loss"): (
        ("squared_epsilon_insensitive",),
        "is tried with a tube below; without, it is least squares, and ends in one step",
    ),
    ("LocallyLinearEmbedding", "method"): (
        ("hessian", "ltsa", "modified"),
        "need more neighbours: tests/manifold/test_locally_linear.py",
    ),
    ("LogisticRegression", "penalty"): (
        ("deprecated", "elasticnet", "l1", "l2", None),
        "is deprecated, with a warning: tests/linear_model/test_logistic.py",
    ),
    ("LogisticRegressionCV", "solver"): (
        (
            *("bfgs", "dfp", "gradient", "liblinear", "newton", "newton-cg", "newton-cholesky", "sag"),
            *("saga", "svrg"),
        ),
        "is that of LogisticRegression: tests/linear_model/test_logistic_cv.py",
    ),
    **{
        (f"{name}Vectorizer", "input"): (
            ("file", "filename"),
            "takes files: tests/feature_extraction/text/test_count_vectorizer.py",
        )
        for name in ("Count", "Hashing", "Tfidf")
    },
    ("GeneralizedAdditiveModel", "family"): (
        ("binomial", "gaussian", "poisson"),
        "takes other targets: tests/additive/test_additive_model.py",
    ),
    ("KBinsDiscretizer", "quantile_method"): (
        (
            *("closest_observation", "hazen", "interpolated_inverted_cdf", "linear", "median_unbiased"),
            *("normal_unbiased", "weibull"),
        ),
        "take no weights, as in scikit-learn: tests/preprocessing/test_scalers.py",
    ),
    ("Perceptron", "penalty"): (("elasticnet", "l1", "l2"), "is that of SGDClassifier: tests/linear_model"),
    **{
        (name, "solver"): (("lbfgs",), "needs positive=True: tests/linear_model")
        for name in ("Ridge", "RidgeClassifier")
    },
    ("LogisticRegression", "solver"): (("liblinear",), "takes two classes: tests/linear_model"),
    ("TweedieRegressor", "solver"): (
        ("newton-cholesky",),
        "ends after one step with the default power: tests/linear_model/test_glm.py",
    ),
    **{
        (name, "criterion"): (("poisson",), "takes other targets: tests/tree/test_cart.py")
        for name in ("DecisionTreeRegressor", "RandomForestRegressor")
    },
    **{
        (name, "categorical_features"): (("from_dtype",), "takes DataFrames: tests/tree/test_cart.py")
        for kind in ("Classifier", "Regressor")
        for name in (f"DecisionTree{kind}", f"RandomForest{kind}", f"GradientBoosting{kind}")
    },
    ("GradientBoostingClassifier", "loss"): (
        ("exponential",),
        "takes two classes: tests/ensemble/test_boosting.py",
    ),
    ("HistGradientBoostingRegressor", "loss"): (
        ("gamma", "poisson", "quantile"),
        "take other targets, or a level: tests/ensemble/test_boosting.py",
    ),
    **{
        (name, "criterion"): (("friedman_mse", "squared_error"), "are ignored")
        for name in ("GradientBoostingClassifier", "GradientBoostingRegressor")
    },
    ("MultiwayTreeClassifier", "categorical_features"): (
        ("from_dtype",),
        "takes DataFrames: tests/tree/test_multiway.py",
    ),
    ("QuantileRegressor", "solver"): (
        ("interior-point", "revised simplex"),
        "are refused, since SciPy has them no more: tests/linear_model/test_quantile.py",
    ),
    ("LogisticRegressionCV", "penalty"): (
        ("deprecated", "elasticnet", "l1", "l2"),
        "is deprecated, with a warning: tests/linear_model/test_logistic_cv.py",
    ),
}


# --- data ----------------------------------------------------------------------------------------------


def table(support: str, n: int = N, *, seed: int = 0, d: int = D, shift: float = 0.0) -> tuple[Any, ...]:
    """Rows of three groups, as a family of this support expects them; and the groups."""
    rng = np.random.default_rng([seed, n])
    group = rng.integers(K, size=n)
    if support == "real":
        centers = np.random.default_rng(5).normal(scale=3.0, size=(K, d))
        mix = np.eye(d) + 0.3 * np.random.default_rng(6).normal(size=(d, d))
        return centers[group] + rng.normal(size=(n, d)) @ mix + shift, group
    if support == "count":
        rates = np.random.default_rng(5).uniform(0.5, 9.0, size=(K, d))
        return rng.poisson(rates[group]).astype(float), group
    if support == "binary":
        p = np.random.default_rng(5).uniform(0.1, 0.9, size=(K, d))
        return (rng.random((n, d)) < p[group]).astype(float), group
    if support == "category":
        p = np.random.default_rng(5).dirichlet(np.ones(4), size=(K, d)).cumsum(axis=2)
        return (rng.random((n, d, 1)) > p[group]).sum(axis=2).clip(0, 3).astype(float), group
    if support == "string":
        return np.array(["ash", "elm", "oak", "é"], dtype=object)[
            table("category", n, seed=seed, d=d)[0].astype(int)
        ], group
    if support == "time":
        return np.datetime64("2024-01-01") + rng.integers(10**8, size=(n, d)).astype("timedelta64[s]"), group
    parts = [table(part, n, seed=seed, d=1)[0] for part in MIXED]
    return np.hstack(parts), group


MIXED = ("real", "category", "binary", "count")  # the columns of "mixed"


def texts(n: int, seed: int = 0) -> np.ndarray:
    """Documents of up to eight words, an array of strings; some have none."""
    rng = np.random.default_rng([seed, n])
    words = np.array(["ash", "elm", "oak", "Tin", "zinc", "iron", "Éclair", "the"])
    out = np.empty(n, dtype=object)
    out[:] = [" ".join(rng.choice(words, size=rng.integers(9))) for _ in range(n)]
    return out


def in_sequences(rows: Any, n: int) -> np.ndarray:
    """Rows as n sequences of one to five steps, an array of arrays: an example is a sequence."""
    out = np.empty(n, dtype=object)
    ends = np.cumsum(np.arange(n) % 5 + 1)
    for i, end in enumerate(ends):
        out[i] = rows[end - i % 5 - 1 : end]
    return out


def steps(n: int) -> int:
    """How many rows `in_sequences` takes."""
    return int((np.arange(n) % 5 + 1).sum())


def flat(X: Any) -> Any:
    """The rows of examples, or the labels of their steps, whatever an example is."""
    return np.concatenate(list(X)) if len(X) and np.ndim(X) == 1 and np.ndim(X[0]) else X


def as_sparse(X: Any) -> Any:
    """X without what is near zero, in CSR."""
    if X.dtype == object:
        out = np.empty(len(X), dtype=object)
        out[:] = [as_sparse(part) for part in X]
        return out
    return sp.csr_array(np.where(np.abs(X) < 1.0, 0.0, X))


def with_holes(X: np.ndarray, seed: int = 0, share: float = 0.15) -> np.ndarray:
    """X with NaN here and there, and one row of nothing else."""
    if X.dtype == object and np.ndim(X[0]) == 2:
        return in_sequences(with_holes(flat(X), seed, share), len(X))
    hole = None if X.dtype == object else np.array("NaT" if X.dtype.kind == "M" else np.nan)
    X = X.copy() if X.dtype.kind in "OM" else np.array(X, dtype=float)
    X[np.random.default_rng(seed).random(X.shape) < share] = hole
    X[len(X) // 2] = hole
    return X


def support_of(estimator: Any) -> str:
    params = estimator.get_params()
    if params.get("emission") == "bernoulli":
        return "binary"
    if params.get("solver") in ("gis", "iis"):  # scaling takes long where features add up to much
        return "binary"
    if str(params.get("solver")).startswith("iis"):  # scaling needs features that are not negative
        return "count"
    if isinstance(estimator, DatetimeEncoder | Encoder):
        return "time" if isinstance(estimator, DatetimeEncoder) else "string"
    given = get_tags(estimator).input_tags
    return "category" if given.categorical else "count" if given.positive_only else "real"


@dataclasses.dataclass(frozen=True)
class Variant:
    """An estimator with options, and what data suits it."""

    name: str
    estimator: Any
    support: str
    rare: bool = False  # one option of many, which is tried in the slow suite

    def make(self, **params: Any) -> Any:
        """A fresh one; parameters that it does not have are left out."""
        known = self.estimator.get_params(deep=False)
        return clone(self.estimator).set_params(**{k: v for k, v in params.items() if k in known})

    @property
    def kind(self) -> str | None:
        return get_tags(self.estimator).estimator_type

    @property
    def tags(self) -> Any:
        return get_tags(self.estimator).input_tags

    def data(
        self, n: int = N, *, seed: int = 0, shift: float = 0.0, other: bool = False
    ) -> tuple[np.ndarray, Any]:
        """X and y: three classes or one target, others two; y is None where the estimator takes none."""
        if self.takes == "sequences":
            return self._sequences(n, seed, shift, other)
        if self.takes == "edges":
            ends = np.random.default_rng([seed, n]).integers(0, (n // 8, n // 6), size=(n, 2))
            return (ends[:, 0], ends[:, 1]), None
        if self.takes == "documents":
            return texts(n, seed), None
        X, group = table(self.support, n, seed=seed, shift=shift)
        if self.takes == "curve":
            return X[:, :1], np.sin(X[:, 0] - shift) + 0.1 * X[:, 1] - 0.1 * shift
        if self.kind == "classifier":
            two = other or not get_tags(self.estimator).classifier_tags.multi_class
            return X, np.array(["ash", "elm", "elm" if two else "oak"])[group]
        if self.kind == "regressor":
            rng = np.random.default_rng([seed, n, 1])
            y = (X - shift) @ np.array([[1.0, 0.4], [-2.0, 1.0], [0.5, 3.0]]) + 3.0 + rng.normal(size=(n, 2))
            if getattr(self.estimator, "target_domain", None) is not None:
                y = np.exp(0.1 * y)
            several = other and get_tags(self.estimator).target_tags.multi_output
            return X, y if several else y[:, 0]
        if get_tags(self.estimator).target_tags.required:  # of an encoder
            return X, group + 0.1 * np.random.default_rng([seed, n, 1]).normal(size=n)
        return X, None

    def _sequences(self, n: int, seed: int, shift: float, other: bool) -> tuple[np.ndarray, Any]:
        X, group = table(self.support, steps(n), seed=seed, shift=shift)
        if self.of_sequences:
            first = in_sequences(group, n)
            kind = np.array([labels[0] for labels in first])
            X = X if self.support != "real" else X + 2.0 * np.repeat(kind, [len(f) for f in first])[:, None]
            return in_sequences(X, n), np.array(["ash", "elm", "elm" if other else "oak"])[kind]
        if self.kind != "classifier":
            return in_sequences(X, n), None
        return in_sequences(X, n), in_sequences(np.array(["ash", "elm", "elm" if other else "oak"])[group], n)

    @property
    def takes(self) -> str:
        return "categories" if self.support in ("string", "time") else self.estimator.takes

    @property
    def of_sequences(self) -> bool:
        """Whether there is one label a sequence, not one a step."""
        return getattr(self.estimator, "labels", "steps") == "sequences"

    @property
    def by_order(self) -> bool:
        """Whether another order of the examples changes more than rounding."""
        return self.exact not in ("bit", "rounding")

    @property
    def exact(self) -> str:
        """What other blocks and another order leave as it is, as the estimator declares."""
        return self.estimator._guarantee().exact

    def exempt(self, law: str) -> bool:
        """Whether the class itself says that it does not keep a law with these parameters."""
        own = vars(type(self.estimator)).get("exempt", ())
        return any(part.law == law and part.when(self.estimator) for part in own)

    def has(self, *names: str) -> bool:
        return all(name in self.estimator.get_params(deep=False) for name in names)


def sum_of(variant: Variant) -> type:
    """The statistics that the model of an estimator sums, as its annotations say."""
    model = get_type_hints(type(variant.estimator)).get("model_", object)
    found = get_type_hints(model.summarize).get("return") if hasattr(model, "summarize") else object
    return found if isinstance(found, type) else object


# Options beyond those that docstrings list, and data beyond what tags say: (parameters, support).
MORE: dict[str, list[tuple[dict[str, Any], str | None]]] = {
    "AgglomerativeClustering": [
        ({"micro_clusters": 30}, None),
        ({"linkage": "average", "metric": "manhattan"}, None),
    ],
    "RandomForestClassifier": [({"oob_score": True}, None)],
    "RandomForestRegressor": [({"oob_score": True}, None)],
    "BaggingClassifier": [
        ({"oob_score": True, "max_features": 2}, None),
        ({"estimator": GaussianNB(), "oob_score": True}, None),
    ],
    "BaggingRegressor": [({"estimator": Ridge(), "oob_score": True, "bootstrap_features": True}, None)],
    "AdaBoostClassifier": [
        ({"estimator": DecisionTreeClassifier(max_depth=2)}, None),
        ({"estimator": GaussianNB(), "learning_rate": 0.5}, None),
    ],
    "ConditionalRandomField": [
        ({"kernel": "rbf", "gamma": 0.3}, None),
        ({"kernel": RBF(0.3), "landmarks": 20}, None),
    ],
    "FactorAnalysis": [({"n_components": 1, "solver": "em", "alpha": 5.0}, None)],
    "ForwardStagewiseRegressor": [({"estimator": DecisionTreeRegressor(max_depth=2)}, None)],
    "ClassConditional": [
        ({"family": "full", "n_components": 1}, None),
        ({"family": ["gaussian", "categorical", "bernoulli", "poisson"], "n_components": 1}, "mixed"),
    ],
    "GaussianMixture": [
        ({"prior": GaussianPrior(0.5, 0.3, 2.0, 5.0), "weight_concentration_prior": 2.0}, None),
        ({"prior": GaussianPrior(0.5, 0.3, 2.0, 5.0), "covariance_type": "tied"}, None),
        ({"prior": GaussianPrior(0.5, 0.3, 2.0, 5.0), "covariance_type": "diag"}, None),
        ({"prior": GaussianPrior(0.5, 0.3, 2.0, 5.0), "covariance_type": "spherical"}, None),
        ({"n_init": 3}, None),
    ],
    "DivisiveClustering": [({"micro_clusters": 30}, None)],
    "KMeans": [({"n_init": 3}, None)],
    "KMedoids": [({"sample_size": 40}, None), ({"metric": "manhattan"}, None)],
    "KernelKMeans": [({"landmarks": 20}, None)],
    "SpectralClustering": [
        ({"affinity": "landmarks", "landmarks": 20}, None),
        ({"affinity": "nearest_neighbors", "n_neighbors": 60}, None),
    ],
    "KernelLogisticRegression": [({"landmarks": 20}, None), ({"class_weight": "balanced"}, None)],
    "KernelMachine": [
        ({"loss": "hinge", "landmarks": 20}, None),
        ({"loss": "epsilon_insensitive", "landmarks": 20}, None),
    ],
    "KernelPerceptron": [
        ({"average": True}, None),
        ({"kernel": Centered(RBF(0.3) + Polynomial(2))}, None),
    ],
    "KNeighborsClassifier": [({"metric": "manhattan", "algorithm": "kd_tree", "weights": "distance"}, None)],
    "KNeighborsRegressor": [({"metric": "chebyshev", "weights": "distance"}, None)],
    "KernelPCA": [
        ({"kernel": "rbf", "landmarks": 20, "n_components": 3}, None),
        ({"kernel": "rbf", "fit_inverse_transform": True}, None),
    ],
    "KernelRidge": [
        ({"kernel": "rbf", "landmarks": 20}, None),
        ({"kernel": Centered(RBF(0.3) + Polynomial(2))}, None),
    ],
    "LinearDiscriminantAnalysis": [
        ({"solver": "eigen", "shrinkage": "auto"}, None),
        ({"solver": "lsqr", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5]}, None),
        ({"store_covariance": True}, None),
    ],
    "LinearRegression": [({"fit_intercept": False}, None), ({"positive": True}, None)],
    "LinearSVC": [
        ({"loss": "hinge", "class_weight": "balanced"}, None),
        ({"loss": "hinge", "penalize_intercept": False}, None),
        ({"penalty": "l1", "fit_intercept": False}, None),
    ],
    "LinearSVR": [
        ({"loss": "squared_epsilon_insensitive", "epsilon": 0.2}, None),
        ({"penalize_intercept": False, "epsilon": 0.2}, None),
    ],
    "LogisticRegression": [
        ({"class_weight": "balanced"}, None),
        ({"C": np.inf, "fit_intercept": False}, None),
        ({"l1_ratio": 0.5}, None),
    ],
    "MarginPerceptron": [({"kernel": "linear"}, None)],
    "MixedMixture": [({"kinds": ["gaussian", "categorical", "bernoulli", "poisson"]}, "mixed")],
    "MixedNB": [
        ({"kinds": ["gaussian", "categorical", "bernoulli", "poisson"]}, "mixed"),
        ({"kinds": "categorical"}, "category"),
        ({"kinds": "poisson"}, "count"),
    ],
    "MultiwayTreeClassifier": [
        ({"categorical_features": [0, 1, 2]}, "category"),
        ({"categorical_features": [1], "criterion": "gain_ratio", "alpha": 2.0}, "category"),
    ],
    "NMF": [
        ({"init": "random", "solver": "mu"}, None),
        ({"solver": "mu", "beta_loss": "kullback-leibler"}, None),
        ({"solver": "mu", "beta_loss": 1.5}, None),
        ({"solver": "gradient", "alpha_W": 0.01, "l1_ratio": 0.5}, None),
    ],
    "NuSVC": [({"kernel": "linear"}, None), ({"nu": 0.2, "kernel": RBF(0.3) + Polynomial(2)}, None)],
    "NuSVR": [({"kernel": "linear", "C": 0.1}, None)],
    "OneClassSVM": [
        ({"kernel": "linear"}, None),
        ({"nu": 0.1, "kernel": RBF(0.3) + Polynomial(2)}, None),
    ],
    "OneHotEncoder": [({"min_frequency": 60}, None)],
    "OrdinalEncoder": [({"min_frequency": 60}, None)],
    "Perceptron": [({"average": True}, None)],
    "ProbabilisticPCA": [({"n_components": 1, "solver": "proximal", "alpha": 5.0}, None)],
    "PocketPerceptron": [({"kernel": "linear"}, None)],
    "QuadraticDiscriminantAnalysis": [
        ({"solver": "eigen", "shrinkage": "auto"}, None),
        ({"reg_param": 0.1, "store_covariance": True}, None),
    ],
    "Ridge": [({"positive": True}, None)],
    "RidgeCV": [({"store_cv_results": True}, None)],
    "SVC": [
        ({"kernel": "linear"}, None),
        ({"kernel": Centered(RBF(0.3) + Polynomial(2)), "class_weight": "balanced"}, None),
    ],
    "SVR": [
        ({"kernel": "linear", "C": 0.1}, None),
        ({"kernel": Centered(RBF(0.3) + Polynomial(2)), "epsilon": 0.0}, None),
    ],
    "SmoothingSpline": [({"n_knots": 12}, None)],
    "VotedPerceptron": [({"kernel": "linear"}, None)],
}


def _variants() -> list[Variant]:
    found = []
    for cls in ESTIMATORS:
        small = {"random_state": 0, "n_clusters": K, "estimator": HiddenMarkovModel(2, random_state=0)}
        small["n_quantiles"] = 20  # of fewer rows than the default
        small["max_clusters"] = 2 * K  # XMeans
        small["n_features"] = 64  # HashingVectorizer: a million columns by default
        if cls.__module__.startswith("suffice.ensemble"):
            small |= {"estimator": None, "n_estimators": 6, "max_iter": 6}
        if cls.__name__ == "LogisticRegressionCV":  # whose defaults warn that they will change
            small |= {"l1_ratios": (0.0,), "scoring": "accuracy", "use_legacy_attributes": True}
        if cls.__name__ == "TargetEncoder":  # in which scikit-learn deprecates it
            del small["random_state"]
        known = cls().get_params(deep=False)
        if isinstance(known.get("n_components"), int) or cls.__name__ == "HiddenMarkovModel":
            small["n_components"] = K
        if cls.__name__ == "BinaryPCA":  # of 3 features; a penalty, since factors nearly separate the groups
            small |= {"n_components": 1, "n_nodes": 9, "n_draws": 30, "alpha": 1.0}
        base = {k: v for k, v in small.items() if k in known}
        cases: list[tuple[dict[str, Any], str | None, bool]] = [({}, None, False)]
        cases += [(params, support, False) for params, support in MORE.get(cls.__name__, ())]
        listed = {name for name, kind in section(cls, "Parameters").items() if kind.startswith("{")}
        for name, values in options(cls).items():
            apart = {
                *ELSEWHERE.get((cls.__name__, name), ((), ""))[0],
                *IGNORED.get((cls.__name__, name), ()),
            }
            for value in values:
                if value not in (known[name], *apart):
                    more, needed = WITH.get((cls.__name__, name, value), ({}, None))
                    cases.append(({**more, name: value}, needed, name not in listed))
        names = set()
        for params, support, rare in cases:
            estimator = cls(**base | params)
            brief = (f"{k}={v if isinstance(v, str | int | float) else '...'}" for k, v in params.items())
            name = f"{cls.__name__}({','.join(brief)})" if params else cls.__name__
            if name not in names:
                names.add(name)
                found.append(Variant(name, estimator, support or support_of(estimator), rare))
    return found


VARIANTS = _variants()
EVERY = ("rows", "sequences", "categories")  # examples that an array may have
COMMON = [v for v in VARIANTS if not v.rare]


# Estimators that stand in the common run for all that sum the same statistics over the same kind of examples.
# Where none is named here, the first by name does. The slow suite tries all estimators with all options.
HEADLINES = {"GaussianMixture", "GaussianNB", "LinearRegression", "LogisticRegression", "PageRank"}


def _representatives() -> set[str]:
    found: dict[Any, str] = {}
    for variant in sorted(VARIANTS, key=lambda v: (v.name not in HEADLINES, v.name)):
        found.setdefault((sum_of(variant), variant.takes, variant.kind), variant.name)
    return set(found.values())


REPRESENTATIVES = _representatives()


def is_rare(variant: Variant) -> bool:
    """Whether the laws try it in the slow suite alone."""
    return variant.name not in REPRESENTATIVES


def has_options(variant: Variant) -> bool:
    """Whether it is not as it is by default. What does not depend on options is tried without them."""
    return "(" in variant.name


def is_default(variant: Variant) -> bool:
    """For laws of code that comes before the options or does not read them, such as the checks of rows and of
    weights: each estimator is tried once."""
    return not has_options(variant)


DISTINCT_FILE = Path(__file__).parent / "distinct.txt"
DISTINCT = set(DISTINCT_FILE.read_text().splitlines())


def is_distinct(variant: Variant) -> bool:
    """For laws of two data sets that have the same sums, such as other blocks, another order, or weights in
    the place of repeated rows; and of what a fitted estimator keeps. An option of which the driver makes
    something else of sums that another variant has, too, is not tried: see distinct.py."""
    return is_default(variant) or variant.name in DISTINCT


def has_own_loop(variant: Variant) -> bool:
    """For laws of the iterations: they differ by what is summed, and by the solver."""
    return is_distinct(variant) or bool(re.search(r"solver=|algorithm=|learning_method=", variant.name))


def parametrized(variants: list[Variant], slow: Any = is_rare) -> Any:
    import pytest

    marks = [pytest.mark.slow]
    given = [pytest.param(v, id=v.name, marks=marks if slow(v) else []) for v in variants]
    return pytest.mark.parametrize("variant", given)


def each_variant(
    wanted: Any = lambda v: True, takes: tuple[str, ...] = ("rows", "sequences"), slow: Any = is_rare
) -> Any:
    """Parametrise a test over the variants that are wanted, of estimators that take what it gives."""
    chosen = [v for v in VARIANTS if v.takes in takes and wanted(v)]
    assert chosen
    return parametrized(chosen, slow)


def has_trace(variant: Variant) -> bool:
    """Whether its fit is a loop. Some estimators need none with some of their options."""
    direct = re.match(r"AdditiveModel(?!.*backfitting)", variant.name)
    needs_none = direct or "n_components=1)" in variant.name
    return issubclass(type(variant.estimator), Iterative) and not needs_none


def by_component(variant: Variant) -> bool:
    """Whether `max_iter` and `n_iter_` are of each component, and `trace_` of all."""
    return variant.estimator.get_params().get("algorithm") == "deflation"


def is_iterative(variant: Variant) -> bool:
    return variant.has("max_iter") and has_trace(variant)


def determined(variant: Variant) -> dict[str, Any]:
    """Parameters with which the rows determine the fit: three features have one factor, and loadings of more
    are one of many, by rounding."""
    return {"n_components": 1} if variant.name.startswith("FactorAnalysis") else {}


def of_margins(variant: Variant) -> tuple[str, ...]:
    """Names of what the rows on the margin decide, by the rounding of their scores: the dual variables."""
    kinks = variant.estimator.get_params().get("loss") in ("hinge", "epsilon_insensitive")
    return ("statistics_.gradient", "statistics_.linear", "statistics_.slope") if kinks else ()


def fit(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit, whether or not it converges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Features? .* (is|are) constant|Heywood case")
        warnings.filterwarnings("ignore", "Bins whose width|n_quantiles .* is greater")
        warnings.filterwarnings("ignore", ".* > n_samples|Singular matrix in solving dual")
        warnings.filterwarnings("ignore", "No vector of length 1|algorithm='elkan' doesn't make sense")
        warnings.filterwarnings("ignore", "The neighbours divide the rows into|Graph is not fully connected")
        warnings.filterwarnings("ignore", "alpha=.* leaves a low-rank part of rank 0")
        warnings.filterwarnings("ignore", "cannot use tree with sparse input")
        how = {} if sample_weight is None else {"sample_weight": sample_weight}
        return estimator.fit(X, y, **how)


@cache
def fitted(variant: Variant, max_iter: int | None = None) -> Any:
    """The variant fitted to its data, in at most so many iterations: look, do not touch."""
    how = {} if max_iter is None else {"max_iter": max_iter, **determined(variant)}
    return fit(variant.make(**how), *variant.data())


def answers(estimator: Any, X: Any) -> dict[str, Any]:
    """What the estimator says of rows, by every method it has."""
    names = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")
    out = {}
    for name in (*names, "score_samples"):
        if hasattr(estimator, name):
            with suppress(NotImplementedError):  # a solver without a projection
                found = getattr(estimator, name)(X)
                out[name] = found.toarray() if sp.issparse(found) else found
    if not out and hasattr(estimator, "kneighbors"):
        out["kneighbors"] = estimator.kneighbors(X)[0]  # distances: numbers of rows are by their order
    return out


def numbers(variant: Variant, estimator: Any, X: Any) -> dict[str, Any]:
    """The answers that change by no more than rounding: of two paths of one score, either may be the best."""
    found = answers(estimator, X)
    if variant.takes == "sequences":
        found.pop("predict", None)
    return found


# --- families ------------------------------------------------------------------------------------------


def starts(cls: type, d: int | None = None, groups: int = K) -> dict[str, Any]:
    """Families of a class before they have seen data: plain, and with each kind of prior it knows."""
    if cls is ProductFamily:
        parts = tuple(kind.start(groups, 1) for kind in (DiagonalGaussian, Categorical, Bernoulli, Poisson))
        assert tuple(part.support for part in parts) == MIXED
        return {"ProductFamily": ProductFamily(tuple(np.array([j]) for j in range(len(parts))), parts)}
    known = {f.name for f in dataclasses.fields(cls)}
    found = {cls.__name__: cls.start(groups, d or D)}
    if "alpha" in known:
        found[f"{cls.__name__}(alpha)"] = cls.start(groups, d or D, alpha=0.7)
    if "prior" in known:
        prior = GaussianPrior(0.5, 0.3, 2.0, 5.0)
        found[f"{cls.__name__}(prior)"] = cls.start(groups, d or D, prior=prior)
    return found


def shares(n: int, seed: int = 0, groups: int = K) -> np.ndarray:
    """R: how n rows are shared among groups, weights included."""
    rng = np.random.default_rng([seed, n, 2])
    return rng.dirichlet(np.ones(groups), size=n) * rng.uniform(0.2, 2.0, size=(n, 1))


def learnt(family: Any, X: np.ndarray, seed: int = 0) -> Any:
    return family.estimate(family.summarize(X, shares(len(X), seed, _groups(family))))


def _groups(family: Any) -> int:
    first = family.parts[0] if isinstance(family, ProductFamily) else family
    field = getattr(first, dataclasses.fields(first)[0].name)
    return len(first.probability[0]) if isinstance(field, tuple) else len(field)


# --- what is folded ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Fold:
    """A function that an estimator summed over blocks, with what it shared, and the rows it saw."""

    f: Any
    shared: tuple[Any, ...]
    rows: Rows

    @property
    def name(self) -> str:
        return self.f.__qualname__

    def __call__(self, rows: Rows) -> Any:
        return self.f(*self.shared, rows)


def some_weight(variant: Variant, n: int) -> np.ndarray:
    """Weights of n rows: whole where a draw is made for each copy of a row, and fractions are refused."""
    weight = np.random.default_rng(8).gamma(2.0, size=n)
    return np.ceil(weight) if variant.estimator.get_params().get("solver") == "gibbs" else weight


def in_one_call(variant):
    """Whether an option needs all rows at once, and `partial_fit` refuses it."""
    params = variant.estimator.get_params()
    options = ("shrinkage", "auto"), ("class_weight", "balanced"), ("solver", "gibbs")
    priors = ("doc_topic_prior", "auto"), ("topic_word_prior", "auto")
    return any(
        isinstance(params.get(name), str) and params[name] == value for name, value in options + priors
    )


@contextmanager
def recorded_folds() -> Any:
    """All that is folded while the block runs."""
    seen: list[Fold] = []
    plain = LocalPartitions.fold

    def fold(self: Any, f: Any, *shared: Any) -> Any:
        block = joined(*(b.piece(0, len(b), 0) for b in self.blocks))
        seen.append(Fold(f, shared, block))
        return plain(self, f, *shared)

    LocalPartitions.fold = fold
    try:
        yield seen
    finally:
        LocalPartitions.fold = plain


def fit_and_folds(variant: Variant, X: Any, y: Any, weight: Any = None) -> tuple[Any, list[Fold]]:
    """A fit, and the last fold of each kind in it and in its score."""
    with recorded_folds() as seen:
        estimator = fit(variant.make(max_iter=20), X, y, weight)
        if variant.takes == "rows" and hasattr(estimator, "score"):
            estimator.score(X, y, weight)
    return estimator, list({fold.name: fold for fold in seen}.values())


def folds(variant: Variant, X: Any, y: Any, weight: Any = None) -> list[Fold]:
    """The last fold of each kind in a fit, and in its score."""
    return fit_and_folds(variant, X, y, weight)[1]


@contextmanager
def cut_at(*sizes: int) -> Any:
    """Arrays passed to `fit` are cut into blocks of these sizes, again and again, and pieces of 64 rows."""
    from suffice.core import blocks
    from suffice.inputs import sources

    def cut(rows: Any, *_: Any) -> tuple[Any, ...]:
        starts, n = [0], 0
        while starts[-1] < len(rows):
            starts.append(starts[-1] + sizes[n % len(sizes)])
            n += 1
        pairs = zip(starts, [*starts[1:], len(rows)], strict=True)
        return tuple(rows[a:b].replace(index=(n,)) for n, (a, b) in enumerate(pairs))

    plain, piece = sources.cut, blocks.PIECE_BYTES
    sources.cut, blocks.PIECE_BYTES = cut, 1
    try:
        yield
    finally:
        sources.cut, blocks.PIECE_BYTES = plain, piece


# --- comparing -----------------------------------------------------------------------------------------


def _opened(value: Any) -> Any:
    """The parts of what others make: splines of SciPy, and arrays of arrays."""
    if isinstance(value, BSpline):
        return {"t": value.t, "c": value.c, "k": value.k}
    of_arrays = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    return list(value) if of_arrays and any(isinstance(part, np.ndarray) for part in value) else value


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """The numbers and arrays in a value, by where they are."""
    value = _opened(value)
    if isinstance(value, Estimator):
        return leaves({k: v for k, v in vars(value).items() if k.endswith("_") and k[0] != "_"}, path)
    if isinstance(value, Factor):  # R is one of many roots: what counts is what it is a root of
        value = {"weight": value.weight, "mean": value.mean, "scatter": value.scatter}
    if isinstance(value, Value):
        value = value.fields()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, tuple | list):
        parts = enumerate(value)
    else:
        return {path: value.toarray() if sp.issparse(value) else value}
    return {name: leaf for key, part in parts for name, leaf in leaves(part, f"{path}.{key}").items()}


OF_PLACE = ("component_indices_",)  # which rows they are, and so by the order of the rows


def bits(value: Any) -> Any:
    """A value as something that is equal only if every bit is."""
    value = _opened(value)
    if isinstance(value, Estimator):
        return bits({k: v for k, v in vars(value).items() if k.endswith("_") and k[0] != "_"})
    if isinstance(value, Value):
        return type(value).__name__, bits(value.fields())
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value).__name__, [bits(part) for part in value]
    if sp.issparse(value):
        return value.shape, bits([value.data, value.indices, value.indptr])
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype == object:
            return value.shape, [bits(part) for part in np.ravel(value).tolist()]
        return str(value.dtype), value.shape, value.tobytes()
    return value.hex() if isinstance(value, float) else repr(value)


def parts_of(value: Any) -> Iterator[Value]:
    """The values in what an estimator holds."""
    if isinstance(value, Value):
        yield value
        value = tuple(value.fields().values())
    for part in value if isinstance(value, tuple | list) else ():
        yield from parts_of(part)


def classes_in(value: Any) -> set[type]:
    """The classes of a value and of all its parts."""
    found = set()
    if isinstance(value, Value):
        found, value = {type(value)}, value.fields()
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        found = found.union(*map(classes_in, value))
    return found


def assert_close(a: Any, b: Any, rtol: float = 1e-10, *, skip: tuple[str, ...] = ()) -> None:
    """Equal to rounding: numbers relative to the largest of their array, all else exactly.

    What cancels to nearly zero has the rounding of what cancelled: 1e-13 of the largest number of all.
    """
    a, b = leaves(a), leaves(b)
    assert a.keys() == b.keys()
    pairs = {name: (np.asarray(a[name]), np.asarray(b[name])) for name in a if not name.endswith(skip or "?")}
    least = 1e-13 * max((_size(y) for _, y in pairs.values()), default=0.0)
    for name, (x, y) in pairs.items():
        assert x.shape == y.shape, f"{name}: {x.shape} {y.shape}"
        if x.dtype.kind not in "fc":
            assert (x == y).all(), f"{name}: {x} {y}"
            continue
        with np.errstate(invalid="ignore"):
            off = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
        allowed = rtol * _size(y) + least
        assert (off <= allowed).all(), f"{name} is off by {off.max():.3g}, more than {allowed:.3g}"


def _size(x: np.ndarray) -> float:
    if x.dtype.kind not in "fc":
        return 0.0
    return float(np.abs(np.where(np.isfinite(x), x, 0.0)).max(initial=0.0))


def joined(*parts: Any) -> Any:
    """Blocks one after the other."""
    if len(parts) == 1:
        return parts[0]
    stack = sp.vstack if sp.issparse(parts[0].X) else np.concatenate
    given = {
        "X": stack([p.X for p in parts]),
        "y": None if parts[0].y is None else np.concatenate([p.y for p in parts]),
        "weight": np.concatenate([p.weight for p in parts]),
    }
    if isinstance(parts[0], Sequences):
        given["offset"] = offsets(np.concatenate([p.lengths for p in parts]))
    return parts[0].replace(**given)


def wider(X: Any) -> Any:
    """The same examples with every feature twice."""
    if X.dtype != object:
        return np.hstack([X, X])
    out = np.empty(len(X), dtype=object)
    out[:] = [np.hstack([part, part]) for part in X]
    return out
