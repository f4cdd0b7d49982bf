"""RobustPCA: the optimum by another solver, bounds, planted rows, weights, NaN, scales, and bad input."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.blocks import Rows
from suffice.decomposition import PCA, RobustPCA
from suffice.decomposition.robust_pca import Pursuit, SplitRows, _stepped

from ..laws.registry import cut_at

N, D, K = 400, 20, 2


def planted(seed=0, share=0.05, n=N):
    """Rows of rank 2, and the same with some entries wrong by much."""
    rng = np.random.default_rng(seed)
    low_rank = rng.normal(size=(n, K)) @ np.random.default_rng(9).normal(size=(K, D))
    return low_rank, low_rank + (rng.random((n, D)) < share) * rng.normal(size=(n, D)) * 50.0


def flags(seed=0):
    """Binary rows with a common factor, on which a growing penalty stops 2 % above the optimum."""
    rng = np.random.default_rng(seed)
    return (rng.random((300, 10)) < 1 / (1 + np.exp(-2 * rng.normal(size=(300, 1)) - 0.5))).astype(float)


def long_tails(seed=0):
    return np.random.default_rng(seed).standard_t(2, size=(200, 12))


def wide(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 3)) @ rng.normal(size=(3, 60)) + 10.0 * (rng.random((30, 60)) < 0.1)


def objective(X, L, alpha):
    return np.linalg.norm(L, "nuc") + alpha * np.nansum(np.abs(X - L))


def alternating_directions(X, alpha, n_iter=4000):
    """L by the textbook's alternating directions: all rows in one matrix, and singular values by SVD."""
    seen = ~np.isnan(X)
    F = np.where(seen, X, 0.0)
    L, Y, mu = np.zeros_like(F), np.zeros_like(F), 0.5 * seen.sum() / np.abs(F).sum()
    for _ in range(n_iter):
        R = F - L + Y / mu
        S = np.where(seen, np.sign(R) * np.maximum(np.abs(R) - alpha / mu, 0.0), R)
        U, size, V = np.linalg.svd(F - S + Y / mu, full_matrices=False)
        L = (U * np.maximum(size - 1.0 / mu, 0.0)) @ V
        Y = Y + mu * (F - L - S)
    return L


def parts(model, X):
    low_rank = model.inverse_transform(model.transform(X))
    return low_rank, X - low_rank


def test_planted():
    low_rank, X = planted()
    model = RobustPCA().fit(X)
    assert model.converged_
    assert model.trace_[-1] <= 1e-5 < model.trace_[-2]
    assert model.n_components_ == K
    np.testing.assert_allclose(model.alpha_, 1.0 / np.sqrt(N))
    L, S = parts(model, X)
    assert np.sqrt(np.mean((L - low_rank) ** 2)) < 0.05 < 0.01 * np.std(X - low_rank)  # rows of many errors
    assert np.median(np.abs(L - low_rank)) < 1e-3
    assert np.mean(np.abs(S) > 0.02) < 0.07
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(K), atol=1e-10)
    directions = np.linalg.svd(low_rank, full_matrices=False)[2][:K]
    overlap = [
        np.linalg.svd(m.components_ @ directions.T, compute_uv=False).min() for m in (model, PCA(K).fit(X))
    ]
    assert overlap[0] > 0.9999
    assert overlap[1] < 0.99


@pytest.mark.parametrize("make", [flags, long_tails], ids=lambda make: make.__name__)
def test_optimum(make):
    X = make()
    model = RobustPCA(tol=1e-6).fit(X)
    best = alternating_directions(X, model.alpha_, 1000)
    assert best.any()
    least = objective(X, best, model.alpha_)
    assert model.converged_
    assert model.objective_ - model.dual_gap_ <= least * (1 + 1e-12)
    assert abs(model.objective_ - least) <= 1e-6 * least
    assert model.dual_gap_ <= 1e-6 * model.objective_
    L = parts(model, X)[0]
    assert objective(X, L, model.alpha_) <= least * (1 + 2e-5)
    np.testing.assert_allclose(
        np.linalg.svd(best)[1][: model.n_components_], model.singular_values_, rtol=1e-2
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*leaves a low-rank part of rank 0")
@pytest.mark.parametrize("factor", [0.8, 1.0, 1.3, 2.0, 4.0])
@pytest.mark.parametrize("make", [flags, long_tails, wide, lambda: planted()[1]], ids=range(4))
def test_optimum_of_other_penalties(make, factor):
    X = make()
    alpha = factor / np.sqrt(max(X.shape))
    model = RobustPCA(alpha).fit(X)
    least = objective(X, alternating_directions(X, alpha, 3000), alpha)
    assert model.converged_
    assert model.objective_ <= least * (1 + 1e-5)
    assert model.objective_ - model.dual_gap_ <= least * (1 + 1e-12)


def test_closed_forms():
    """A large penalty leaves nothing sparse, and a small one nothing of low rank."""
    X = long_tails()
    everything = RobustPCA(1.1).fit(X)
    np.testing.assert_allclose(everything.objective_, np.linalg.norm(X, "nuc"), rtol=1e-5)
    np.testing.assert_allclose(everything.singular_values_, np.linalg.svd(X)[1], rtol=1e-3)
    with pytest.warns(UserWarning, match=r"alpha=0.01 leaves a low-rank part of rank 0.*Raise alpha"):
        nothing = RobustPCA(0.01).fit(X)
    np.testing.assert_allclose(nothing.objective_, 0.01 * np.abs(X).sum(), rtol=1e-12)
    assert nothing.components_.shape == (0, 12)
    assert nothing.transform(X).shape == (200, 0)
    np.testing.assert_array_equal(parts(nothing, X)[0], 0.0)


def test_gap_is_a_bound():
    """What stops early is no farther from the optimum than it says, and says that it is."""
    _, X = planted()
    least = RobustPCA(tol=1e-7).fit(X).objective_
    for max_iter in (3, 20):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            early = RobustPCA(max_iter=max_iter).fit(X)
        assert not early.converged_
        assert early.objective_ - early.dual_gap_ <= least <= early.objective_
        assert early.dual_gap_ > 1e-4 * least
    loose = RobustPCA(tol=0.1).fit(X)
    assert loose.objective_ - least <= loose.dual_gap_ <= 0.1 * loose.objective_
    assert (loose.trace_[:-1] > 0.1).all()


def test_weights_are_repetitions():
    _, X = planted()
    weight = np.random.default_rng(1).integers(0, 3, size=N)
    some, again = RobustPCA().fit(X, sample_weight=weight), RobustPCA().fit(np.repeat(X, weight, axis=0))
    assert some.n_iter_ == again.n_iter_
    assert some.alpha_ == again.alpha_
    np.testing.assert_allclose(some.trace_, again.trace_, rtol=1e-6)
    np.testing.assert_allclose(some.objective_, again.objective_, rtol=1e-12)
    np.testing.assert_allclose(some.components_, again.components_, atol=1e-9)
    np.testing.assert_allclose(some.transform(X), again.transform(X), atol=1e-9)


@pytest.mark.parametrize(
    "sizes", [(64, 100), *(pytest.param(s, marks=pytest.mark.slow) for s in ((7,), (199,)))], ids=str
)
def test_blocks(sizes):
    X = long_tails()
    one = RobustPCA().fit(X)
    with cut_at(*sizes):
        cut = RobustPCA().fit(X)
    assert cut.n_iter_ == one.n_iter_
    np.testing.assert_allclose(cut.components_, one.components_, atol=1e-9)
    np.testing.assert_allclose(cut.objective_, one.objective_, rtol=1e-12)


@pytest.mark.parametrize("data", ["near", "far", "holes"])
def test_sums_of_a_step(data):
    """The law of sums; and what a block carries is what its rows before the step add up to, to the bit."""
    rng = np.random.default_rng(4)
    X, A = long_tails() + (1e8 if data == "far" else 0.0), rng.normal(size=(200, 12))
    if data == "holes":
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    axes = np.linalg.qr(rng.normal(size=(12, 3)))[0].T
    model = Pursuit(axes, np.array([9.0, 5.0, 2.0]), 0.3, 0.7, 2.0)
    block = Rows(X, A, rng.uniform(0.2, 3.0, size=200))
    s = model.summarize(block)
    for at in (0, 1, 57, 200):
        parts = model.summarize(block[:at]) + model.summarize(block[at:])
        for ours, whole in zip(parts.fields().values(), s.fields().values(), strict=True):
            np.testing.assert_allclose(ours, whole, rtol=1e-10, atol=1e-10 * np.abs(whole).max())
    triple = model.summarize(block.replace(weight=3.0 * block.weight))
    for ours, whole in zip(triple.fields().values(), s.fields().values(), strict=True):
        np.testing.assert_allclose(ours, 3.0 * whole, rtol=1e-12)

    def state(block):
        return [
            block.A.tobytes(),
            block.X.tobytes(),
            *(np.asarray(x).tobytes() for x in block.sums.fields().values()),
        ]

    before = SplitRows(X, None, block.weight, (0,), A, s)
    one = _stepped((model,), before)
    assert state(one) == state(before.replace(A=model.step(block)[0]))
    other = model.replace(value=np.array([8.0, 5.0, 1.0]))
    assert state(_stepped((model, other), before)) == state(_stepped((other,), one))
    nothing = _stepped((model,), Rows(X[:0]))
    assert len(nothing) == 0 and all((np.asarray(x) == 0.0).all() for x in nothing.sums.fields().values())


def test_each_step_is_computed_once(monkeypatch):
    """The sums of a step are those that it computed with the next A."""
    X, rows, step = long_tails(), [], Pursuit.step

    def counted(model, block):
        rows.append(len(block))
        return step(model, block)

    monkeypatch.setattr(Pursuit, "step", counted)
    model = RobustPCA().fit(X)
    assert rows == [len(X)] * model.n_iter_


@pytest.mark.parametrize("scale", [1e-150, 1e6, 1e147])
def test_scale(scale):
    X = long_tails()
    one, other = RobustPCA().fit(X), RobustPCA().fit(X * scale)
    assert abs(other.n_iter_ - one.n_iter_) <= 1
    np.testing.assert_allclose(other.components_, one.components_, atol=3e-3)
    np.testing.assert_allclose(other.objective_ / scale, one.objective_, rtol=1e-5)
    np.testing.assert_allclose(other.transform(X * scale) / scale, one.transform(X), atol=3e-2)


def test_missing_entries():
    """They are free: the optimum is that of the observed ones, and the low-rank part fills them in."""
    low_rank, X = planted(share=0.02)
    holes = np.where(np.random.default_rng(3).random(X.shape) < 0.1, np.nan, X)
    holes[5] = np.nan
    model = RobustPCA().fit(holes)
    assert model.n_components_ == K
    best = alternating_directions(holes, model.alpha_, 1500)
    least = objective(holes, best, model.alpha_)
    assert model.objective_ - model.dual_gap_ <= least * (1 + 1e-9)
    assert model.objective_ <= least * (1 + 1e-5)
    L = model.inverse_transform(model.transform(holes))
    gaps = np.isnan(holes)
    gaps[5] = False
    assert np.median(np.abs(L - low_rank)[gaps]) < 2e-3
    np.testing.assert_array_equal(L[5], 0.0)


def test_new_rows():
    """Errors of rows that were not in the fit do not move their scores; rows do not depend on others."""
    _, X = planted()
    low_rank, new = planted(seed=5, n=100)
    model = RobustPCA().fit(X)
    scores = model.transform(new)
    L = model.inverse_transform(scores)
    assert np.median(np.abs(L - low_rank)) < 5e-3
    plain = new @ model.components_.T @ model.components_
    assert np.mean(np.abs(L - low_rank)) < 0.1 * np.mean(np.abs(plain - low_rank))
    np.testing.assert_allclose(model.transform(new[::-1])[::-1], scores, atol=1e-9)
    np.testing.assert_allclose(model.transform(new[7:8]), scores[7:8], atol=1e-9)


def test_huge_errors():
    """Clipped in the fit, errors of any size do not move the components, nor the scores of rows that have
    them."""
    low_rank, X = planted()
    wrong = np.abs(X - low_rank) > 10.0
    found = []
    for size in (1.0, 1e3, 1e9):
        rows = np.where(wrong, X * size, X)
        model = RobustPCA().fit(np.clip(rows, -20.0, 20.0))
        assert model.n_components_ == K
        found.append(model.inverse_transform(model.transform(rows)))
    assert np.abs(found[0] - low_rank).mean() < 0.01
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=0.02)


def test_row_problem():
    """The scores of a row minimize c' S^-1 c / 2 + alpha |x - V c|_1, compared with a quadratic program."""
    X = np.random.default_rng(0).standard_t(2, size=(60, 5))
    model = RobustPCA().fit(X)
    V, value, alpha = model.components_, model.singular_values_, model.alpha_
    assert 0 < len(V) < 5
    found = model.transform(X[:10])

    def loss(c, x):
        return 0.5 * (c**2 / value).sum() + alpha * np.abs(x - c @ V).sum()

    k = len(V)
    for x, c in zip(X[:10], found, strict=True):
        sides = [  # the magnitudes are at least the residuals, of both signs
            {"type": "ineq", "fun": lambda z, s=s, x=x: z[k:] - s * (x - z[:k] @ V)} for s in (1.0, -1.0)
        ]
        best = minimize(
            lambda z: 0.5 * (z[:k] ** 2 / value).sum() + alpha * z[k:].sum(),
            np.concatenate([c, np.abs(x) + 1.0]),
            constraints=sides,
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        assert best.success
        assert loss(c, x) <= best.fun + 1e-5 * alpha * np.abs(x).sum()


def test_few_and_flat_rows():
    zeros = RobustPCA().fit(np.zeros((5, 3)))  # without a warning: there is nothing to find
    assert zeros.converged_
    assert zeros.objective_ == 0.0
    assert zeros.transform(np.ones((2, 3))).shape == (2, 0)
    ones = RobustPCA().fit(np.full((40, 4), 3.0))
    assert ones.n_components_ == 1
    np.testing.assert_allclose(ones.singular_values_, 3.0 * np.sqrt(160), rtol=1e-4)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        RobustPCA().fit(np.ones((3, 2)), sample_weight=np.zeros(3))


def test_float32():
    _, X = planted()
    one, half = RobustPCA().fit(X), RobustPCA().fit(X.astype(np.float32))
    assert half.components_.dtype == half.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(half.components_, one.components_, atol=1e-4)


def test_from_files(tmp_path):
    """The state of the rows is in temporary files."""
    X = long_tails()
    table = pa.table({f"x{d}": x for d, x in enumerate(X.T)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=50)
    scan = suffice.scan_parquet(tmp_path / "rows.parquet")
    one, filed = RobustPCA().fit(X), RobustPCA().fit(scan)
    assert filed.n_iter_ == one.n_iter_
    np.testing.assert_allclose(filed.components_, one.components_, atol=1e-9)
    weighted = suffice.rows(
        scan, features=[f"x{d}" for d in range(1, 12)], target="x0"
    )  # a target is ignored
    np.testing.assert_allclose(
        RobustPCA().fit(weighted).components_, RobustPCA().fit(X[:, 1:]).components_, atol=1e-9
    )
