"""Quantile regression: the objective of scikit-learn's linear program, corners, and a certificate."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import linear_model as theirs
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.linear_model import QuantileRegressor, residuals
from suffice.linear_model import quantile as module

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, 100.0]
Y = X @ [1.0, -0.2, 5.0, 0.0] + 3.0 + RNG.standard_t(2.0, size=150)
WEIGHT = RNG.gamma(2.0, size=150)


def objective(model, X=X, y=Y, weight=WEIGHT):
    r, q = y - X @ model.coef_ - model.intercept_, model.quantile
    return (
        np.average(np.maximum(q * r, (q - 1.0) * r), weights=weight) + model.alpha * np.abs(model.coef_).sum()
    )


EACH = [
    {"quantile": 0.5, "alpha": 0.0},
    {"quantile": 0.1, "alpha": 0.0},
    {"quantile": 0.97, "alpha": 0.0},
    {"quantile": 0.5, "alpha": 0.0, "fit_intercept": False},
    {"quantile": 0.3, "alpha": 0.05},
    {"quantile": 0.5, "alpha": 1.0},
]


@pytest.mark.parametrize("params", EACH, ids=str)
def test_scikit_learn(params):
    ours = QuantileRegressor(**params).fit(X, Y, sample_weight=WEIGHT)
    peer = theirs.QuantileRegressor(**params).fit(X, Y, sample_weight=WEIGHT)
    least = objective(peer)
    assert ours.converged_
    assert objective(ours) == pytest.approx(least, rel=1e-8)
    assert objective(ours) - least <= ours.dual_gap_ + 1e-12 * least  # as it says of itself
    assert ours.dual_gap_ <= 1e-7 * least
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)  # here there is one solution
    assert ours.intercept_ == pytest.approx(peer.intercept_, abs=1e-4)
    assert ((ours.coef_ == 0) == (np.abs(peer.coef_) < 1e-12)).all()
    assert ours.n_iter_ < 80


def test_a_best_line_goes_through_as_many_rows_as_it_has_numbers():
    model = QuantileRegressor(alpha=0.0).fit(X, Y)
    on = np.abs(Y - model.predict(X)) < 1e-9
    assert on.sum() == 5


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.9])
def test_constants(quantile):
    """Without features it is a quantile of the targets."""
    y = np.random.default_rng(1).gamma(2.0, size=101)
    model = QuantileRegressor(quantile=quantile, alpha=0.0).fit(np.zeros((101, 1)), y)
    assert model.intercept_ == pytest.approx(np.quantile(y, quantile, method="inverted_cdf"), abs=1e-9)
    share = (y <= model.intercept_ + 1e-9).mean()
    assert abs(share - quantile) <= 1 / 101


def test_ties_and_perfect_fits():
    """Whole numbers, of which many rows are on the line; and targets that a line reaches."""
    rng = np.random.default_rng(2)
    rows, y = rng.integers(0, 3, size=(200, 2)).astype(float), rng.integers(0, 4, size=200).astype(float)
    for params in ({"alpha": 0.0}, {"alpha": 0.01, "quantile": 0.7}):
        ours, peer = (cls(**params).fit(rows, y) for cls in (QuantileRegressor, theirs.QuantileRegressor))
        ones = np.ones(200)
        assert objective(ours, rows, y, ones) == pytest.approx(objective(peer, rows, y, ones), rel=1e-7)
    exact = QuantileRegressor(alpha=0.0, quantile=0.2).fit(X, X @ np.arange(4.0) + 1.0)
    np.testing.assert_allclose(exact.predict(X), X @ np.arange(4.0) + 1.0, rtol=1e-7)


@pytest.mark.parametrize("params", EACH, ids=str)
def test_many_rows_end_at_the_vertex(params):
    """Not only near it: the coefficients are those of the linear program."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(4000, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 100.0]
    y = rows @ [1.0, -0.2, 5.0] + 3.0 + rng.standard_t(2.0, size=4000)
    ours = QuantileRegressor(**params).fit(rows, y)
    peer = theirs.QuantileRegressor(**params).fit(rows, y)
    assert ours.converged_
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-9)
    assert ours.intercept_ == pytest.approx(peer.intercept_, rel=1e-9, abs=1e-7)
    free = np.count_nonzero(ours.coef_) + ours.fit_intercept
    assert (np.abs(y - ours.predict(rows)) < 1e-9).sum() == free
    assert ours.dual_gap_ <= 1e-12 * objective(ours, rows, y, None)


def near_twins(apart, n):
    """Rows of which two columns differ by so much, and targets that depend on the difference."""
    rng = np.random.default_rng(1)
    rows, difference = rng.normal(size=(n, 3)), rng.normal(size=n)
    rows[:, 1] = rows[:, 0] + apart * difference
    return rows, 100.0 * difference + rows[:, 2] + 2.0 * rng.normal(size=n)


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("apart", [1e-3, 1e-7, 1e-9, 1e-11])
def test_columns_that_nearly_depend_on_others(apart, n):
    """It converges to the optimum of the linear program in orthogonal columns, of the same span."""
    rows, y = near_twins(apart, n)
    Q = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0] * np.sqrt(n)
    peer, ours = theirs.QuantileRegressor(alpha=0.0).fit(Q, y), QuantileRegressor(alpha=0.0).fit(rows, y)
    least = objective(peer, Q, y, None)
    assert least < 1.0
    assert ours.converged_
    # What is left of the digits of the difference.
    assert objective(ours, rows, y, None) == pytest.approx(least, rel=max(1e-8, 1e-14 / apart))


def test_it_has_converged_only_if_the_gap_is_small(monkeypatch):
    """Whatever ends the iterations: here they see nothing of the difference between two columns."""
    rows, y = near_twins(1e-9, 3000)
    monkeypatch.setattr(residuals, "DEPENDENT", 0.0)
    monkeypatch.setattr(module, "NEAREST", 100)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = QuantileRegressor(alpha=0.0).fit(rows, y)
    assert not model.converged_
    assert objective(model, rows, y, None) - model.dual_gap_ < 1.0


def test_twins_with_a_penalty():
    """The penalty tells which of the solutions is the best: the objective is that of scikit-learn."""
    twins, y = near_twins(1e-7, 3000)
    for rows in (twins, np.column_stack([twins, twins[:, 2]])):
        ours, peer = (cls(alpha=0.01).fit(rows, y) for cls in (QuantileRegressor, theirs.QuantileRegressor))
        assert ours.converged_
        assert objective(ours, rows, y, None) == pytest.approx(objective(peer, rows, y, None), rel=1e-7)


def test_larger_files_and_sparse_rows(tmp_path):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(20_000, 5))
    y = rows @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.laplace(size=20_000)
    here = QuantileRegressor(alpha=0.001, quantile=0.6).fit(rows, y)
    assert here.n_iter_ < 60
    table = pa.table({f"x{d}": rows[:, d] for d in range(5)} | {"y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=3000)
    there = QuantileRegressor(alpha=0.001, quantile=0.6).fit(
        suffice.rows(suffice.scan_parquet(tmp_path), target="y")
    )
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-8)
    thin = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (QuantileRegressor(alpha=0.01).fit(rows, Y) for rows in (thin, sp.csr_array(thin)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_few_rows_are_one_linear_program(quantile):
    """Nothing is smoothed first. On these flowers that took seconds, where a program takes milliseconds."""
    rows, y = load_iris(return_X_y=True)
    ours, peer = (
        cls(alpha=0.001, quantile=quantile).fit(rows, y)
        for cls in (QuantileRegressor, theirs.QuantileRegressor)
    )
    assert ours.converged_ and ours.n_iter_ == 1
    assert objective(ours, rows, y, None) == pytest.approx(objective(peer, rows, y, None), rel=1e-10)
    # Repeated rows are the same few rows.
    twice = QuantileRegressor(alpha=0.001, quantile=quantile).fit(np.tile(rows, (12, 1)), np.tile(y, 12))
    assert twice.n_iter_ == 1
    np.testing.assert_allclose(twice.coef_, ours.coef_, atol=1e-9)


def test_a_program_of_few_rows_that_does_not_end(monkeypatch):
    """If it gives no bound, smoothing goes on."""
    programs = []

    def solved(line, near, *args):
        programs.append(len(near.nearest.key))
        return (line.theta, -np.inf) if len(programs) == 1 else program(line, near, *args)

    program = module.solved
    monkeypatch.setattr(module, "solved", solved)
    model = QuantileRegressor(alpha=0.0).fit(X, Y)
    assert programs[0] == len(X) and len(programs) > 1 and model.n_iter_ > 2 and model.converged_
    peer = theirs.QuantileRegressor(alpha=0.0).fit(X, Y)
    assert objective(model, weight=None) == pytest.approx(objective(peer, weight=None), rel=1e-8)


def test_refused():
    for quantile in (0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match="'quantile' parameter"):
            QuantileRegressor(quantile=quantile).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        QuantileRegressor(max_iter=2).fit(*near_twins(0.1, 2000))
    with pytest.raises(ValueError, match="Solver interior-point is not anymore available in SciPy"):
        QuantileRegressor(solver="interior-point").fit(X, Y)
