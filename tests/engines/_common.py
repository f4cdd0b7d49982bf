"""What the tests of engines share: a table in blocks, every public estimator, and equality to the bit."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.interpolate import BSpline
from sklearn.utils import get_tags

import suffice
from suffice.core.storage import import_everything
from suffice.core.values import Value
from suffice.estimator.base import Estimator
from suffice.estimator.storing import Storable

# Eleven blocks: no power of two, of uneven sizes, and one of more than one piece.
SIZES = (300, 700, 40_000, 1, 512, 900, 333, 256, 1000, 77, 640)
FEATURES = ["a", "b", "c"]


def tables(kind: str = "real") -> list[pa.Table]:
    """Blocks of three groups of rows, with labels, the first or not, a number to predict, and weights: any,
    and whole numbers."""
    rng = np.random.default_rng(7)
    centers = rng.normal(scale=3.0, size=(3, len(FEATURES)))
    out = []
    for size in SIZES:
        label = rng.integers(0, 3, size)
        X = centers[label] + rng.normal(size=(size, len(FEATURES))) @ rng.normal(size=(3, 3))
        if kind != "real":
            X = np.minimum(np.abs(np.round(X)), 5.0)
        y = X @ [1.0, -2.0, 0.5] + rng.normal(size=size)
        parts = dict(zip(FEATURES, X.T, strict=True))
        parts["b"] = parts["b"].astype(np.float32)
        parts |= {"label": label, "first": (label == 0).astype(np.int64), "y": y, "amount": np.exp(0.1 * y)}
        weight = rng.gamma(2.0, size=size)
        out.append(pa.table({**parts, "w": weight, "whole": np.floor(weight)}))
    return out


def write(folder: Any, blocks: list[pa.Table]) -> Any:
    """A Parquet folder whose files are the blocks."""
    for n, table in enumerate(blocks):
        pq.write_table(table, folder / f"part-{n:03}.parquet")
    return folder


def public_estimators(takes: str = "rows") -> list[type]:
    import_everything()
    return [
        cls
        for name, cls in sorted(Storable.known.items())
        if issubclass(cls, Estimator)
        and cls.takes == takes
        and name.startswith("suffice.")
        and not name.startswith("suffice.estimator.")
        and cls.__name__ in import_module(name.rpartition(".")[0]).__dict__.get("__all__", ())
    ]


def made(cls: type, **params: Any) -> Any:
    """An estimator small enough to fit in a moment, and without chance."""
    small = {"n_clusters": 3, "n_components": 2, "random_state": 0, "max_iter": 6, "landmarks": 20}
    small |= {"n_estimators": 3, "n_quantiles": 20}  # fewer than the rows
    small |= {"max_clusters": 4}  # XMeans
    known = cls().get_params()
    if cls.takes == "sequences":
        del small["landmarks"]  # of kernels that are not the default
    return cls(**{k: v for k, v in small.items() if k in known} | params)


# Clusterings that compare all pairs of few rows: test_pairs.py has them so.
OF_MANY_ROWS = {
    "AgglomerativeClustering": {"micro_clusters": 50},
    "DivisiveClustering": {"micro_clusters": 50},
    "KMedoids": {"sample_size": 200},
    "SpectralClustering": {"affinity": "landmarks"},
}


def variants() -> dict[str, Any]:
    """Every public estimator of rows by name, and those options that sum something else."""
    found = {cls.__name__: made(cls) for cls in public_estimators()}
    del found["KernelPerceptron"]  # the Gram matrix of all rows does not fit
    del found["LocallyLinearEmbedding"]  # the factor of all rows takes minutes: tests/manifold
    del found["FusionClustering"]  # nor do the differences of all pairs: test_pairs.py
    for name, many in OF_MANY_ROWS.items():
        found[name].set_params(**many)
    for name in ("NuSVC", "NuSVR", "OneClassSVM"):  # the kernel of all rows and of this share is computed
        found[name].set_params(nu=0.02)
    found["KCentroids-hamming"] = made(suffice.cluster.KCentroids, metric="hamming")
    found["FactorAnalysis"] = made(suffice.decomposition.FactorAnalysis, n_components=1)  # of 3 features
    found["LogisticRegressionCV"].set_params(  # whose defaults warn that they will change
        Cs=3, l1_ratios=(0.0,), scoring="accuracy", use_legacy_attributes=True
    )
    for kind in ("tied", "diag", "spherical"):
        found[f"GaussianMixture-{kind}"] = made(suffice.mixture.GaussianMixture, covariance_type=kind)
    bayesian, mixed = suffice.mixture.BayesianGaussianMixture, suffice.mixture.MixedMixture
    found["BayesianGaussianMixture-gibbs"] = made(bayesian, solver="gibbs", n_components=4)
    found["MixedMixture-kinds"] = made(mixed, kinds=["gaussian", "categorical", "poisson"])
    for options in ({"algorithm": "deflation"}, {"solver": "quasi-newton"}):
        found[f"FastICA-{''.join(options.values())}"] = made(suffice.decomposition.FastICA, **options)
    found["KMeans-parallel"] = made(suffice.cluster.KMeans, init="k-means||", n_init=2)
    found["LogisticRegression-newton"] = made(suffice.linear_model.LogisticRegression, solver="newton")
    return found


# One of each kind of sum, and of rows that are read.
KINDS = (
    "KMeans",
    "NMF",
    "PCA",
    "GeneralizedAdditiveModel",
    "ElasticNetCV",
    "LogisticRegression",
    "Perceptron",
    "GaussianMixture",
    "BayesianGaussianMixture-gibbs",
    "CategoricalNB",
    "MixedNB",
    "LatentDirichletAllocation",
    "SpectralClustering",
)


# What computes the sums of an estimator: every kind of sum is tried on each, every other estimator on one.
ENGINES = ("ray", "dask", "spark")


def each_kind(
    *without: str,
    on: str = "",
    of: str = "",
    values: Any = ((),),
    always: Any = (),
    quick: Any = None,
    indirect: Any = (),
) -> Any:
    """For every name of `variants`, and for the values of other arguments, such as a source.

    Each of `KINDS` is tried with every value. All other names, which are slow, are tried with one value, in
    turn, and with those of `always`. What reads a source or divides blocks among tasks does not know which
    estimator it serves: so every value is tried with every kind of sum, and every estimator with some value,
    and not each with each. For the same reason, a test `on` one of `ENGINES` has every kind of sum, and those
    other names that are of this engine, in turn. Values that are not in `quick` are slow for all.
    """
    names = [name for name in variants() if name not in without]
    if on:
        others = [name for name in names if name not in KINDS]
        here = {*KINDS, *others[ENGINES.index(on) :: len(ENGINES)]}
        names = [name for name in names if name in here]
    values, rest = list(values), [value for value in values if value not in always]
    cases = []
    for n, name in enumerate(names):
        for value in values if name in KINDS else [*always, *([rest[n % len(rest)]] if rest else [])]:
            parts = value if isinstance(value, tuple) else (value,)
            slow = name not in KINDS or (quick is not None and value not in quick)
            cases.append(pytest.param(name, *parts, marks=pytest.mark.slow if slow else ()))
    return pytest.mark.parametrize(("name", *of.split()), cases, indirect=indirect)


def kind_of(estimator: Any) -> str:
    given = get_tags(estimator).input_tags
    of_kinds = isinstance(getattr(estimator, "kinds", None), list)
    return "count" if given.positive_only or given.categorical or of_kinds else "real"


def target_of(estimator: Any) -> str | None:
    tags = get_tags(estimator)
    if tags.estimator_type == "classifier":
        return "label" if tags.classifier_tags.multi_class else "first"
    if getattr(estimator, "target_domain", None) is not None:
        return "amount"
    return "y" if tags.estimator_type == "regressor" or tags.target_tags.required else None


def weight_of(estimator: Any) -> str:
    return "whole" if getattr(estimator, "solver", "") == "gibbs" else "w"


def described(estimator: Any, source: Any) -> Any:
    """The table as this estimator takes it, weights included."""
    target, weight = target_of(estimator), weight_of(estimator)
    return suffice.rows(source, features=FEATURES, target=target, weight=weight)


def bits(value: Any) -> Any:
    """A value as something that is equal only if every bit is: signs of zeros and NaN included."""
    if isinstance(value, Estimator):
        return bits({k: v for k, v in vars(value).items() if k.endswith("_") and not k.startswith("_")})
    if isinstance(value, Value):
        return type(value).__name__, bits(value.fields())
    if isinstance(value, BSpline):  # whose text is its address
        return bits({"t": value.t, "c": value.c, "k": value.k, "extrapolate": str(value.extrapolate)})
    if isinstance(value, dict):
        return {key: bits(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [bits(part) for part in value]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, np.ndarray):
        return value.shape, [bits(part) for part in value.ravel().tolist()]
    return value.hex() if isinstance(value, float) else repr(value)


def spark_frame(spark: Any, blocks: list[pa.Table]) -> Any:
    """Arrow tables as a DataFrame: one a partition, in their order."""
    types = spark.createDataFrame(max(blocks, key=len).slice(0, 1)).schema
    written = [table.combine_chunks().to_batches() for table in blocks]

    def of_partition(batches: Any) -> Any:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from written[number]

    return spark.range(0, len(blocks), 1, len(blocks)).mapInArrow(of_partition, types)
