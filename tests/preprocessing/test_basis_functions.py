"""Basis functions: formulas, scikit-learn's where it has them, and pipelines wherever the rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

import suffice
from suffice.inputs.tables import Table
from suffice.linear_model import BayesianLinearRegression, LinearRegression, Ridge
from suffice.preprocessing import BasisFunctions

from ..laws.registry import recorded_folds

X = np.random.default_rng(0).normal(size=(400, 3))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * np.random.default_rng(1).normal(size=400)


def both(X):
    return X[:, 0] * X[:, 1]


KINDS = ["polynomial", "gaussian", "sigmoid", "spline", np.sin, [np.square, both]]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=[*KINDS[:4], "sin", "functions"])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("degree", [1, 4])
def test_powers(degree, bias):
    ours = BasisFunctions(degree=degree, include_bias=bias).fit(X[:, :1])
    theirs = PolynomialFeatures(degree, include_bias=bias).fit(X[:, :1])
    np.testing.assert_allclose(ours.transform(X[:, :1]), theirs.transform(X[:, :1]), rtol=1e-14)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    several = BasisFunctions(degree=degree).fit(X).transform(X)
    apart = [X[:, [d]] ** np.arange(1, degree + 1) for d in range(3)]
    np.testing.assert_allclose(several, np.hstack(apart), rtol=1e-14)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("degree", [1, 3])
def test_splines(degree, bias):
    ours = BasisFunctions("spline", degree=degree, n_knots=6, include_bias=bias).fit(X)
    theirs = SplineTransformer(6, degree, include_bias=bias).fit(X)
    beyond = np.vstack([X, 3.0 * X])
    np.testing.assert_allclose(ours.transform(beyond), theirs.transform(beyond), atol=1e-14)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    knots = np.sort(np.random.default_rng(2).normal(size=(4, 3)), axis=0)
    ours = BasisFunctions("spline", degree=degree, knots=knots, include_bias=True).fit(X)
    theirs = SplineTransformer(degree=degree, knots=knots).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-14)


def test_bells_and_steps():
    knots, width = np.array([[-1.0, 0.0, 2.0], [1.0, 0.5, 4.0]]), np.array([0.5, 1.0, 2.0])
    z = (X[:, :, None] - knots.T) / width[:, None]
    for kind, formula in (("gaussian", np.exp(-(z**2) / 2.0)), ("sigmoid", 1.0 / (1.0 + np.exp(-z)))):
        basis = BasisFunctions(kind, knots=knots, width=width, include_bias=True).fit(X)
        found = basis.transform(X)
        np.testing.assert_allclose(found[:, 1:], formula.reshape(len(X), 6), rtol=1e-12)
        assert (found[:, 0] == 1.0).all()
        assert basis.get_feature_names_out().tolist()[:2] == ["1", f"x0_{kind}_0"]
        one = BasisFunctions(kind, knots=knots[:1], width=2.0).fit(X)
        np.testing.assert_allclose(one.transform(X)[:, 0], one.model_.of(X)[:, 0, 0])
    even = BasisFunctions("gaussian", n_knots=4).fit(X)
    np.testing.assert_allclose(even.model_.knots, np.linspace(X.min(axis=0), X.max(axis=0), 4))
    at_knots = even.transform(even.model_.knots)[:, :4]  # a knot is one width from the next
    np.testing.assert_allclose(at_knots[0], np.exp(-0.5 * np.arange(4) ** 2))


def test_functions():
    basis = BasisFunctions([np.square, both], include_bias=True).fit(X)
    np.testing.assert_allclose(basis.transform(X), np.column_stack([np.ones(400), X**2, both(X)]))
    assert basis.get_feature_names_out().tolist() == ["1", "square_0", "square_1", "square_2", "both_3"]
    for wrong in (lambda X: X.sum(), lambda X: X[:1].repeat(3, axis=0), lambda X: X[None]):
        with pytest.raises(ValueError, match="for each row"):
            BasisFunctions(wrong).fit(X).transform(X)


@each_kind
def test_a_pipeline_is_fitted_where_the_table_is(kind, tmp_path):
    """Of a described table the columns are made when they are read: the result is that of arrays."""
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})
    for n in range(4):
        pq.write_table(table.slice(100 * n, 100), tmp_path / f"{n}.parquet")
    scan = suffice.scan_parquet(tmp_path)
    here = make_pipeline(BasisFunctions(kind), Ridge(0.1)).fit(X, Y)
    for source in (scan, table, table.to_pandas(), pl.from_arrow(table)):
        there = make_pipeline(BasisFunctions(kind), Ridge(0.1)).fit(suffice.rows(source, target="y"))
        np.testing.assert_allclose(there[-1].coef_, here[-1].coef_, rtol=1e-8)
        described = suffice.rows(source, features=["a", "b", "c"])
        np.testing.assert_allclose(there.predict(described), here.predict(X), rtol=1e-8)
        assert there.score(suffice.rows(source, target="y")) == pytest.approx(here.score(X, Y))
    there = make_pipeline(BasisFunctions(kind), Ridge(0.1)).fit(suffice.rows(scan, target="y"))
    np.testing.assert_allclose(there.predict(scan), here.predict(X), rtol=1e-8)  # by the names of the fit


def test_how_often_the_data_is_read():
    for kind, passes in zip(KINDS, (0, 1, 1, 1, 0, 0), strict=True):
        with recorded_folds() as seen:
            BasisFunctions(kind).fit(X)
        assert len(seen) == passes
    with recorded_folds() as seen:
        BasisFunctions("spline", knots=np.sort(X[:5], axis=0)).fit(X)
    assert not seen


def test_a_description_comes_back_as_one(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=Y, w=1.0)
    basis = BasisFunctions("spline").fit(frame[list("abc")])
    made = basis.transform(suffice.rows(frame, features=list("abc"), target="y", weight="w"))
    assert isinstance(made, Table)
    assert (made.target, made.weight) == ("y", "w")
    with pytest.raises(TypeError, match="in memory"):
        basis.transform(suffice.rows(frame), to=tmp_path / "there")
    with pytest.raises(ValueError, match="fitted with"):
        basis.transform(suffice.rows(frame, features=list("ab")))
    holes = frame.assign(b=np.where(np.arange(400) == 7, np.nan, frame["b"]))
    line = LinearRegression().fit(made)
    with pytest.raises(ValueError, match="NaN"):
        line.fit(basis.transform(suffice.rows(holes, features=list("abc"), target="y")))
    with pytest.raises(ValueError, match="infinity"):  # whose step is a number
        steps = BasisFunctions("sigmoid").fit(frame[list("abc")])
        line.fit(steps.transform(suffice.rows(frame.assign(b=np.inf), features=list("abc"), target="y")))


@each_kind
def test_single_precision_and_columns_of_one_value(kind):
    flat = X.copy()
    flat[:, 1] = 2.5
    found = BasisFunctions(kind).fit(flat).transform(flat)
    assert np.isfinite(found).all()
    single = BasisFunctions(kind).fit(flat.astype(np.float32))
    np.testing.assert_allclose(single.transform(flat.astype(np.float32)), found, rtol=1e-4, atol=1e-5)


def test_curves_with_a_distribution():
    x = np.linspace(0.0, 1.0, 60)[:, None]
    y = np.sin(2.0 * np.pi * x[:, 0])
    curve = make_pipeline(
        BasisFunctions("gaussian", n_knots=9),
        BayesianLinearRegression(prior_precision=1e-3, noise_precision=25),
    ).fit(x, y)
    mean, std = curve.predict(np.array([[0.5], [1.6]]), return_std=True)
    assert abs(mean[0]) < 0.01
    assert std[1] > std[0]  # where no bell is near, and none was seen


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"kind": "cubic"}, "'kind' parameter"),
        ({"kind": []}, "a list of functions"),
        ({"kind": [np.sin, "spline"]}, "a list of functions"),
        ({"degree": 0}, "degree"),
        ({"kind": "spline", "n_knots": 1}, "n_knots"),
        ({"kind": "spline", "knots": "quantile"}, "uniform"),
        ({"kind": "spline", "knots": [[0.0], [1.0]]}, "a column for each feature"),
        ({"kind": "spline", "knots": [[0.0, 1.0, 2.0], [1.0, 1.0, 3.0]]}, "strictly increasing"),
        ({"kind": "gaussian", "knots": [[0.0, 1.0, 2.0]]}, "one knot needs width="),
        ({"kind": "gaussian", "width": -1.0}, "'width' parameter"),
        ({"kind": "sigmoid", "width": [1.0, 2.0]}, "3 features"),
    ],
    ids=str,
)
def test_refused(params, said):
    with pytest.raises(ValueError, match=said):
        BasisFunctions(**params).fit(X)
