"""Scalers, quantiles, bins, splines and imputation: as scikit-learn's, and the same from any blocks."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from packaging.version import Version
from sklearn import impute, preprocessing
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import suffice
from suffice.decomposition import PCA
from suffice.impute import SimpleImputer
from suffice.linear_model import LogisticRegression
from suffice.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from suffice.statistics.quantile_sketch import ALPHA_BETA, CAPACITY, quantile_sketch

from ..versions import SKLEARN, since

METHODS = (*ALPHA_BETA, "closest_observation", "inverted_cdf", "averaged_inverted_cdf")
Q = np.linspace(0.0, 1.0, 101)
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(400, 3)) * [1.0, 20.0, 0.1] + [0.0, 500.0, 1e5], 2)
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
# scikit-learn 1.6 has one method of quantiles for bins.
QUANTILES = {"quantile_method": "averaged_inverted_cdf" if Version("1.7") <= SKLEARN else "linear"}
# What versions of scikit-learn without a parameter do.
WITHOUT = {"clip": False, "handle_missing": "error", "quantile_method": "linear"}
NUMBERS = [
    StandardScaler(),
    MinMaxScaler((-1, 2)),
    MaxAbsScaler(),
    RobustScaler(unit_variance=True),
    QuantileTransformer(n_quantiles=50),
    QuantileTransformer(n_quantiles=50, output_distribution="normal"),
    SplineTransformer(handle_missing="zeros"),
    SplineTransformer(knots="quantile", handle_missing="zeros"),
    SimpleImputer(),
    SimpleImputer(strategy="median", add_indicator=True),
    SimpleImputer(strategy="most_frequent"),
    SimpleImputer(strategy="constant", fill_value=-1.0),
]
COMPLETE = [
    *(
        KBinsDiscretizer(4, strategy=kind, encode="ordinal", **QUANTILES)
        for kind in ("uniform", "quantile", "kmeans")
    ),
    KBinsDiscretizer([2, 3, 4], **QUANTILES),
    PolynomialFeatures(3, interaction_only=True),
]


def theirs(ours):
    """The estimator of scikit-learn of the same name. Skip the test if this version has not its options."""
    cls = getattr(impute if isinstance(ours, SimpleImputer) else preprocessing, type(ours).__name__)
    params = ours.get_params(deep=False)
    for name in params.keys() - set(cls._get_param_names()):
        if params.pop(name) != WITHOUT[name]:
            pytest.skip(f"{cls.__name__} of scikit-learn {SKLEARN} does not have {name}")
    return cls(**params)


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def scanned(X, rows=37):
    table = pa.table({f"x{d}": x for d, x in enumerate(X.T)})
    return suffice.rows(suffice.scan(lambda: table.to_batches(max_chunksize=rows)))


@pytest.mark.parametrize("ours", [*NUMBERS, *COMPLETE], ids=str)
def test_as_in_scikit_learn(ours):
    """The same attributes and rows, of float64 and of float32; and the same bits from a scan."""
    rows = X if ours in COMPLETE else HOLES
    new, old = clone(ours).fit(rows), theirs(ours).fit(rows)
    for name, value in vars(old).items():
        if name[-1] == "_" and isinstance(value, np.ndarray) and value.dtype != object:
            mine = getattr(new, name).astype(value.dtype)  # versions differ in the type of fill values
            np.testing.assert_allclose(mine, value, rtol=1e-12, atol=1e-12, err_msg=name)
    expected = old.transform(rows)
    np.testing.assert_allclose(dense(new.transform(rows)), dense(expected), rtol=1e-9, atol=1e-9)
    assert new.transform(rows.astype(np.float32)).dtype == old.transform(rows.astype(np.float32)).dtype
    assert list(new.get_feature_names_out()) == list(old.get_feature_names_out())
    if hasattr(old, "inverse_transform") and not isinstance(ours, SimpleImputer):
        back = old.inverse_transform(expected)
        np.testing.assert_allclose(new.inverse_transform(new.transform(rows)), back, rtol=1e-6, atol=1e-9)
    there = clone(ours).fit(scanned(rows))
    # The blocks of a scan are others than those of an array: sketches are the same to the bit.
    np.testing.assert_allclose(
        dense(there.transform(pa.table(dict(zip(there.feature_names_in_, rows.T, strict=True))))),
        dense(new.transform(rows)),
        rtol=1e-12 if there._guarantee().exact == "rounding" else 0,
        atol=1e-12 if there._guarantee().exact == "rounding" else 0,
    )


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize(
    "ours",
    [
        StandardScaler(with_mean=False),
        MaxAbsScaler(),
        RobustScaler(with_centering=False),
        QuantileTransformer(n_quantiles=30),
        QuantileTransformer(n_quantiles=30, ignore_implicit_zeros=True),
        SimpleImputer(),
        SimpleImputer(strategy="median"),
        SimpleImputer(strategy="most_frequent"),
        PolynomialFeatures(2),
    ],
    ids=str,
)
def test_sparse_rows(ours, form):
    rows = np.where(rng.random(X.shape) < 0.6, 0.0, np.abs(HOLES))
    if isinstance(ours, PolynomialFeatures):
        rows = np.nan_to_num(rows)
    new, old = clone(ours).fit(form(rows)), theirs(ours).fit(form(rows))
    np.testing.assert_allclose(
        new.transform(form(rows)).toarray(), old.transform(form(rows)).toarray(), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_are_those_of_numpy(method):
    """With weights, of the values repeated."""
    if method == "closest_observation" and Version(np.__version__) < Version("2.0.2"):
        pytest.skip("NumPy 2.0.2 corrected closest_observation")
    for n in (1, 2, 5, 36, 400):
        x, weight = X[:n], rng.integers(1, 4, size=n)
        for w, values in ((np.ones(n), x), (weight.astype(float), np.repeat(x, weight, axis=0))):
            expected = np.quantile(values, Q, axis=0, method=method)
            found = quantile_sketch(x, w).quantiles(Q, method)
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("kind", ["normal", "far", "lognormal", "atoms"])
def test_sketch_of_many_values(kind):
    """Of bounded size, the same bits from blocks in any order, and no quantile off by more than its bound."""
    x = rng.normal(size=100_000)
    values = {"normal": x, "far": 1e9 + x, "lognormal": np.exp(3 * x), "atoms": np.where(x < 0, -1.0, x)}
    x = values[kind]
    whole = quantile_sketch(x[:, None], np.ones(len(x)))
    cuts = np.split(rng.permutation(x), [1, 2, 5000, 5000, 40_000])
    parts = [quantile_sketch(part[:, None], np.ones(len(part))) for part in cuts]
    total = parts[3]
    for k in (5, 0, 2, 1, 4):
        total = parts[k] + total
    for name in ("dropped", "low", "high", "count"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))
    assert len(whole.low[0]) <= CAPACITY and whole.dropped[0] > 0
    off = np.abs(whole.quantiles(Q)[:, 0] - np.quantile(x, Q))
    assert (off <= whole.error[0]).all() and off[1:-1].max() < 2e-3 * x.std()
    assert whole.error[0] <= np.abs(x).max() * 2.0 ** (whole.dropped[0] - 52)


def test_far_from_the_origin():
    """Scales and ranks do not depend on the origin."""
    shift = 2.0**27
    near = np.round(X * 2.0**10) / 2.0**10
    for ours in (MinMaxScaler(), RobustScaler(), QuantileTransformer(n_quantiles=50), StandardScaler()):
        here, there = (clone(ours).fit_transform(near + s) for s in (0.0, shift))
        np.testing.assert_allclose(there, here, atol=1e-6)  # 2^27 eps is 3e-8, of steps of 0.01


def test_partial_fit_is_one_fit():
    for ours in (StandardScaler(), MinMaxScaler(), MaxAbsScaler()):
        parts = clone(ours)
        for part in np.array_split(HOLES, 7):
            parts.partial_fit(part)
        once = clone(ours).fit(HOLES)
        # The last column is 1e6 deviations from the origin.
        np.testing.assert_allclose(parts.transform(HOLES), once.transform(HOLES), rtol=1e-8, atol=1e-9)
        np.testing.assert_array_equal(parts.n_samples_seen_, once.n_samples_seen_)


def test_imputer_of_strings_in_a_scan(tmp_path):
    """Nulls are missing; and the file holds all that the imputer needs."""
    table = pa.table({"city": ["Bern", None, "Chur", "Bern"], "day": ["Mon", "Tue", None, "Tue"]})
    rows = suffice.rows(suffice.scan(lambda: table.to_batches(max_chunksize=2)))
    imputer = SimpleImputer(strategy="most_frequent", add_indicator=True).fit(rows)
    assert imputer.statistics_.tolist() == ["Bern", "Tue"] and imputer.n_missing_.tolist() == [1.0, 1.0]
    expected = [["Bern", "Mon", 0, 0], ["Bern", "Tue", 1, 0], ["Chur", "Tue", 0, 1], ["Bern", "Tue", 0, 0]]
    assert np.asarray(imputer.transform(rows)).tolist() == expected
    imputer.save(tmp_path / "imputer")
    assert np.asarray(suffice.load(tmp_path / "imputer").transform(rows)).tolist() == expected


def test_pipeline_over_a_scan(tmp_path):
    """scikit-learn's pipeline fits a scan, to the numbers of the array; it is saved and loaded."""
    y = (X[:, 0] > 0).astype(int)
    table = pa.table({**{f"x{d}": x for d, x in enumerate(HOLES.T)}, "y": y})
    rows = suffice.rows(suffice.scan(lambda: table.to_batches(max_chunksize=64)), target="y")
    for steps in (
        [SimpleImputer(), StandardScaler(), PCA(2)],
        [SimpleImputer(strategy="median", add_indicator=True), RobustScaler()],
        [StandardScaler(), SimpleImputer(), KBinsDiscretizer(3)],
        [MinMaxScaler(), SimpleImputer(), PolynomialFeatures(2)],
        [QuantileTransformer(n_quantiles=20), SplineTransformer(handle_missing="zeros", sparse_output=True)],
    ):
        pipeline = make_pipeline(*steps, LogisticRegression())
        alone = clone(pipeline).fit(HOLES, y)
        pipeline.fit(rows)
        np.testing.assert_allclose(pipeline[-1].coef_, alone[-1].coef_, rtol=1e-6, atol=1e-9)
        assert pipeline.score(rows) == pytest.approx(alone.score(HOLES, y))
        suffice.save(pipeline, tmp_path / "pipeline")
        loaded = suffice.load(tmp_path / "pipeline")
        np.testing.assert_array_equal(loaded.predict(rows), pipeline.predict(rows))


def test_blocks_carry_no_sketch():
    """What is sent to the rows is small."""
    scaler = RobustScaler().fit(rng.normal(size=(50_000, 1)))
    sent, _ = scaler._row_transformer()
    assert not hasattr(sent, "statistics_") and hasattr(scaler, "statistics_")


def test_what_is_refused():
    sparse = sp.csr_array(np.eye(3))
    for ours, rows, kind, message in (
        (StandardScaler(), sparse, ValueError, "Cannot center sparse matrices: pass `with_mean=False`"),
        (RobustScaler(), sparse, ValueError, "pass `with_centering=False`"),
        (MinMaxScaler(), sparse, TypeError, "MaxAbsScaler"),
        (MinMaxScaler((1, 0)), X, ValueError, "Minimum of desired feature range"),
        (RobustScaler(quantile_range=(90, 10)), X, ValueError, "Invalid quantile range"),
        (QuantileTransformer(n_quantiles=99, subsample=9), X, ValueError, "number of quantiles"),
        (QuantileTransformer(n_quantiles=2), -sparse, ValueError, "non-negative sparse"),
        (SplineTransformer(), HOLES, ValueError, "handle_missing='zeros'"),
        (SimpleImputer(strategy=np.mean), scanned(X), TypeError, "strategy='mean'"),
    ):
        with pytest.raises(kind, match=message):
            ours.fit(rows)
    bins = KBinsDiscretizer(3, quantile_method="linear")
    with pytest.raises(ValueError, match="quantile_method should either be"):
        bins.fit(X, sample_weight=np.ones(len(X)))
    with pytest.warns(UserWarning, match="Feature 1 is constant"):
        KBinsDiscretizer(2).fit(np.array([[0.0, 5.0], [1.0, 5.0]]))


@pytest.mark.parametrize(
    ("X", "how", "message"),
    [
        ([["a", np.nan], ["b", pd.NA]], {}, "row 1, column 1.*missing_values=nan.*missing_values=pandas.NA"),
        (
            [["a", pd.NA], ["b", "x"]],
            {"missing_values": None},
            "missing_values=None.*missing_values=pandas.NA",
        ),
        ([[1.0, 2.0], [3.0, np.nan]], {"missing_values": None}, "row 1, column 1.*missing_values=numpy.nan"),
        (
            sp.csr_array([[1.0, np.nan]]),
            {"missing_values": -1},
            "missing_values=-1.*missing_values=numpy.nan",
        ),
    ],
)
def test_imputer_names_values_that_are_not_marked(X, how, message):
    X = np.array(X, dtype=object) if isinstance(X, list) else X
    imputer = SimpleImputer(strategy="most_frequent", **how)
    with pytest.raises(ValueError, match=f"Input X contains NaN.*{message}"):
        imputer.fit(X)
    numbers = SimpleImputer(strategy="most_frequent", missing_values=-1).fit([[1.0, -1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match=r"row 0, column 1.*missing_values=-1"):
        numbers.transform([[1.0, np.nan]])
    with pytest.raises(TypeError, match=r"has <NA> .* in row 0, column 0: .*numpy.where"):
        SimpleImputer().fit(np.array([[pd.NA, 1.0]], dtype=object))


@since("1.7", "introduced quantile_method")
@pytest.mark.parametrize("method", METHODS)
def test_bins_by_each_method_of_quantiles(method):
    ours = KBinsDiscretizer(5, quantile_method=method, encode="ordinal").fit(X)
    expected = theirs(ours).fit(X)
    for edges, known in zip(ours.bin_edges_, expected.bin_edges_, strict=True):
        np.testing.assert_allclose(edges, known, rtol=1e-12)


@pytest.mark.parametrize("sparse_output", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("extrapolation", ["constant", "linear", "continue", "periodic", "error"])
@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame])
def test_splines_of_missing_values_are_zero(table, extrapolation, include_bias, sparse_output):
    """The others are those of complete rows."""
    how = {
        "knots": np.linspace(X.min(axis=0), X.max(axis=0), 6),
        "extrapolation": extrapolation,
        "include_bias": include_bias,
        "sparse_output": sparse_output,
    }
    names = list("abc")
    rows, holes = (pd.DataFrame(x, columns=names) if table is pd.DataFrame else x for x in (X, HOLES))
    expected = dense(preprocessing.SplineTransformer(**how).fit_transform(rows))
    expected[np.repeat(np.isnan(HOLES), expected.shape[1] // X.shape[1], axis=1)] = 0.0
    found = SplineTransformer(handle_missing="zeros", **how).fit(holes).transform(holes)
    assert sp.issparse(found) == sparse_output
    np.testing.assert_allclose(dense(found), expected, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_largest_absolute_values_are_clipped(form):
    rows = np.array([[1.0, 2.0], [-4.0, 1.0]])
    scaler = MaxAbsScaler(clip=True).fit(form(rows))
    np.testing.assert_array_equal(dense(scaler.transform(form(3.0 * rows))), [[0.75, 1.0], [-1.0, 1.0]])


def test_a_scaler_of_one_value_or_none():
    """A constant feature is not scaled, and of a feature without values nothing is said, as in
    scikit-learn."""
    rows = np.column_stack([np.full(5, 0.1), np.full(5, np.nan), np.arange(5.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, for the mean of nothing
        for ours in (StandardScaler(), MinMaxScaler(), RobustScaler()):
            np.testing.assert_allclose(
                clone(ours).fit_transform(rows), theirs(ours).fit_transform(rows), atol=1e-12
            )


def test_rows_that_are_read_later_are_no_data_frame():
    scan = suffice.scan(lambda: [pa.record_batch({"a": [0.0, 1.0, 3.0], "b": [1.0, 3.0, 2.0]})])
    pipeline = make_pipeline(StandardScaler(), MinMaxScaler()).set_output(transform="pandas")
    with pytest.raises(ValueError, match=r"set_output\(transform='default'\)"):
        pipeline.fit(scan)
    rows = pipeline.set_output(transform="default").fit(scan).transform(scan)
    assert np.asarray(rows).shape == (3, 2)
