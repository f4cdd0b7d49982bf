"""Non-negative factors: no loss rises, solvers meet, and scikit-learn takes the same steps."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import sklearn.decomposition
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.decomposition import NMF
from suffice.fitting.non_negative import ConjugateGradient, Penalty, RowProblem

from ._common import parts, quiet

KULLBACK = {"solver": "mu", "beta_loss": "kullback-leibler"}
SOLVERS = {"cd": {}, "mu": {"solver": "mu"}, "gradient": {"solver": "gradient"}, "kullback": KULLBACK}


def bits(estimator):
    return [
        np.asarray(getattr(estimator, name)).tobytes()
        for name in ("components_", "trace_", "reconstruction_err_")
    ]


def start(X, k=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 1.0, (X.shape[0], k)), rng.uniform(0.1, 1.0, (k, X.shape[1]))


def divergence(X, WH):
    seen = X > 0
    return (X[seen] * np.log(X[seen] / WH[seen])).sum() - X.sum() + WH.sum()


PENALTIES = [
    {},
    {"alpha_W": 0.02, "l1_ratio": 1.0},
    {"alpha_W": 0.01, "alpha_H": 0.005, "l1_ratio": 0.5},
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ["cd", "mu", "kullback"])
def test_same_steps_as_scikit_learn(name, sparse, penalty):
    """From the same start, after the same iterations: the same factors."""
    A = parts()
    X = sp.csr_array(A) if sparse else A
    W0, H0 = start(A)
    how = {"init": "custom", "tol": 0.0, "max_iter": 30, **SOLVERS[name], **penalty}
    ours = quiet(NMF(4, **how), X, W=W0, H=H0)
    theirs = sklearn.decomposition.NMF(4, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        W = theirs.fit_transform(X, W=W0.copy(), H=H0.copy())
    # scikit-learn takes numbers below 1e-7 for zero in the divergence.
    rtol = 1e-5 if name == "kullback" else 1e-8
    np.testing.assert_allclose(ours.model_.W, W, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours.reconstruction_err_, theirs.reconstruction_err_, rtol=1e-6)


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda"])
def test_same_start_and_optimum_as_scikit_learn(init):
    X = parts()
    how = {"init": init, "random_state": 0, "max_iter": 2000, "tol": 1e-8}
    ours, theirs = NMF(4, **how).fit(X), sklearn.decomposition.NMF(4, **how).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.reconstruction_err_, theirs.reconstruction_err_, rtol=1e-9)
    assert abs(ours.n_iter_ - theirs.n_iter_) <= 2
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler", 1.5])
def test_multiplicative_updates_stop_where_those_of_scikit_learn_do(beta_loss):
    """Half an iteration later: the loss is that of the pass which updates W."""
    X = parts()
    how = {"init": "nndsvda", "solver": "mu", "beta_loss": beta_loss, "max_iter": 1000}
    ours, theirs = NMF(4, **how).fit(X), sklearn.decomposition.NMF(4, **how).fit(X)
    assert ours.converged_
    assert ours.n_iter_ == theirs.n_iter_ + 1


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("name", SOLVERS)
def test_loss_never_rises_and_is_what_it_says(name, penalty, sparse, weighted):
    A = parts()
    X = sp.csr_array(A) if sparse else A
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(A)) if weighted else np.ones(len(A))
    how = {"init": "random", "random_state": 0, "tol": 0.0, "max_iter": 40}
    nmf = quiet(NMF(4, **how, **SOLVERS[name], **penalty), X, sample_weight=weight)
    trace = nmf.trace_
    assert (np.diff(trace) <= 1e-12 * trace[0]).all()
    W, H = nmf.model_.W, nmf.components_
    assert (W >= 0).all() and (H >= 0).all()
    if name == "kullback":
        loss = sum(w * divergence(x[None], (r @ H)[None]) for w, x, r in zip(weight, A, W, strict=True))
    else:
        loss = 0.5 * (weight[:, None] * (A - W @ H) ** 2).sum()
    np.testing.assert_allclose(nmf.reconstruction_err_, np.sqrt(2.0 * loss), rtol=1e-8)
    alpha_W, ratio = penalty.get("alpha_W", 0.0), penalty.get("l1_ratio", 0.0)
    of_W, of_H = A.shape[1] * alpha_W, weight.sum() * penalty.get("alpha_H", alpha_W)
    squares = (1 - ratio) / 2
    whole = loss + of_W * (weight[:, None] * (ratio * W + squares * W**2)).sum()
    whole += of_H * (ratio * H + squares * H**2).sum()
    assert whole <= trace[-1] * (1 + 1e-12)
    # After one more half step the penalised loss of this H is reported.
    more = quiet(NMF(4, **how | {"max_iter": 41}, **SOLVERS[name], **penalty), X, sample_weight=weight)
    assert more.trace_[-1] <= whole * (1 + 1e-12)


def test_solvers_meet_at_one_optimum():
    X = parts(60, 15, 3, noise=False)
    W0, H0 = start(X, 3)
    errors = {
        name: quiet(NMF(3, init="custom", max_iter=1500, tol=0.0, **SOLVERS[name]), X, W=W0, H=H0).trace_[-1]
        for name in ("cd", "mu", "gradient")
    }
    scale = 0.5 * (X**2).sum()
    assert errors["cd"] < 1e-12 * scale and errors["gradient"] < 1e-6 * scale
    assert errors["mu"] < 1e-3 * scale  # it is on its way: zeros are reached by no number of ratios


def test_stationary_point():
    """Where an entry is positive the slope is zero, and where it is zero the slope is not negative."""
    X = parts()
    nmf = NMF(4, tol=1e-9, max_iter=3000, alpha_W=0.01, l1_ratio=0.5).fit(X)
    W, H = nmf.model_.W, nmf.components_
    of_W, of_H = 0.01 * X.shape[1], 0.01 * len(X)
    for F, slope in (
        (W, (W @ H - X) @ H.T + of_W * (0.5 + 0.5 * W)),
        (H, W.T @ (W @ H - X) + of_H * (0.5 + 0.5 * H)),
    ):
        scale = np.abs(X @ H.T).max()
        assert np.abs(slope[F > 0]).max() < 1e-5 * scale
        assert slope[F == 0].min(initial=0.0) > -1e-5 * scale


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_transform_is_least_squares(sparse):
    A = parts()
    nmf = NMF(4, random_state=0).fit(A)
    new = parts(50, seed=9)
    expected = np.array([nnls(nmf.components_.T, row)[0] for row in new])
    found = nmf.transform(sp.csr_array(new) if sparse else new)
    np.testing.assert_allclose(found, expected, atol=1e-8 * expected.max())
    np.testing.assert_allclose(nmf.transform(new[:7]), found[:7], atol=1e-12)
    np.testing.assert_allclose(nmf.inverse_transform(found), found @ nmf.components_)


def test_transform_is_the_least_divergence():
    A = parts()
    nmf = quiet(NMF(4, random_state=0, max_iter=500, **KULLBACK), A)
    W, H = nmf.transform(A), nmf.components_
    slope = H.sum(axis=1) - (A / np.maximum(W @ H, 1e-300)) @ H.T
    assert np.abs(slope * W).max() < 1e-3
    assert divergence(A, W @ H) <= divergence(A, nmf.model_.W @ H) * (1 + 1e-9)
    np.testing.assert_allclose(nmf.transform(sp.csr_array(A)), W, atol=1e-10)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("init", ["random", "nndsvda", "nndsvdar"])
def test_weight_is_repetition(name, init):
    X = parts()
    times = np.random.default_rng(1).integers(0, 4, size=len(X))
    how = {"init": init, "random_state": 0, "max_iter": 15, "tol": 0.0, **SOLVERS[name]}
    weighted = quiet(NMF(4, **how), X, sample_weight=times)
    again = quiet(NMF(4, **how), np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.components_, again.components_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weighted.trace_, again.trace_, rtol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_threads_change_no_bit(name):
    """One block of CSR rows that threads share, as its sums are larger than it is."""
    X = sp.random_array((3000, 9000), density=0.002, rng=np.random.default_rng(0), format="csr")
    X = abs(X) * 5.0
    found = []
    for threads in (1, 2):
        with suffice.threads(threads):
            found.append(quiet(NMF(40, init="random", random_state=0, max_iter=3, **SOLVERS[name]), X))
    assert bits(found[0]) == bits(found[1])


@pytest.mark.parametrize("name", ["cd", "kullback"])
def test_from_parquet_as_in_memory(tmp_path, name):
    A = parts(900, 12)
    for n in range(3):
        table = pa.table({f"x{d}": A[300 * n : 300 * (n + 1), d] for d in range(12)})
        pq.write_table(table, tmp_path / f"part-{n}.parquet")
    scan = suffice.scan_parquet(tmp_path)
    how = {"random_state": 0, "max_iter": 10, **SOLVERS[name]}
    here, there = quiet(NMF(4, **how), A), quiet(NMF(4, **how), scan)
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(there.model_.W, here.model_.W, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(there.transform(scan), here.transform(A), rtol=1e-6, atol=1e-8)


def test_order_of_coordinates():
    X = parts()
    how = {"init": "nndsvda", "tol": 1e-7, "max_iter": 3000}
    plain, shuffled, again = (NMF(4, shuffle=s, random_state=0, **how).fit(X) for s in (False, True, True))
    assert bits(shuffled) == bits(again)
    assert not np.array_equal(plain.components_, shuffled.components_)
    np.testing.assert_allclose(shuffled.reconstruction_err_, plain.reconstruction_err_, rtol=1e-3)


def test_absolute_penalty_makes_zeros():
    X = parts()
    fits = (quiet(NMF(4, alpha_W=a, l1_ratio=1.0, random_state=0), X) for a in (0.0, 0.1))
    zeros = [(nmf.components_ == 0).sum() for nmf in fits]
    assert zeros[1] > zeros[0]


def test_factors_of_what_is_given():
    X = parts()
    W0, H0 = start(X)
    assert quiet(NMF(init="custom", max_iter=2), X, W=W0, H=H0).n_components_ == 4
    weight = np.arange(len(X)) % 3
    nmf = quiet(NMF(4, init="custom", max_iter=2), X, W=W0, H=H0, sample_weight=weight)
    assert nmf.model_.W.shape == (np.count_nonzero(weight), 4)
    found = NMF(4, init="custom", max_iter=500).fit_transform(X, W=W0, H=H0, sample_weight=weight)
    assert found.shape == W0.shape
    assert (start(X)[1] == H0).all()  # nothing that came is changed


def test_poor_data():
    assert quiet(NMF(2), np.zeros((4, 3))).reconstruction_err_ == 0.0
    assert quiet(NMF(2, init="random", random_state=0), np.zeros((4, 3))).reconstruction_err_ == 0.0
    for X in (
        np.ones((5, 3)),
        np.array([[1.0, 0.0], [0.0, 0.0]]),
        1e-100 * parts(30, 6),
        1e50 * parts(30, 6),
    ):
        for solver in SOLVERS.values():
            nmf = quiet(NMF(2, random_state=0, **solver), X)
            assert np.isfinite(nmf.components_).all() and np.isfinite(nmf.transform(X)).all()
    wide = quiet(NMF(6, random_state=0), parts(3, 4))  # more components than rows: a random start
    assert wide.components_.shape == (6, 4)


def test_refusals_are_in_words():
    X = parts()
    for params, said in (
        ({"solver": "newton"}, "'solver' parameter"),
        ({"beta_loss": "itakura-saito"}, "use solver='mu'"),
        ({"beta_loss": "kullback-leibler"}, "use solver='mu'"),
        ({"init": "best"}, "'init' parameter"),
        ({"init": "custom"}, r"call fit\(X, W=..., H=...\)"),
        ({"n_components": 50, "init": "nndsvd"}, "n_components <= min"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"alpha_W": -1.0}, "'alpha_W' parameter"),
    ):
        with pytest.raises(ValueError, match=said):
            NMF(**params).fit(X)
    W0, H0 = start(X)
    custom = NMF(4, init="custom")
    for W, H, said in (
        (W0[:5], H0, r"\(input W\): got shape \(5, 4\), expected \(200, 4\)"),
        (W0, H0[:, :3], r"\(input H\): got shape"),
        (-W0, H0, "Negative values in data passed to NMF"),
        (W0, 0 * H0, "H is full of zeros"),
    ):
        with pytest.raises(ValueError, match=said):
            custom.fit(X, W=W, H=H)
    with pytest.raises(ValueError, match="only with init='custom', but init=None"):
        NMF(4).fit(X, W=W0, H=H0)
    with pytest.warns(UserWarning, match="cannot update the zeros of init='nndsvd'"):
        quiet(NMF(4, init="nndsvd", solver="mu"), X)


def test_conjugate_gradients_never_raise_the_loss():
    """On some faces a row is exact after as many steps as there are positive entries."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 9)) + 0.05 * rng.random((60, 9))
    for penalty in ({}, {"alpha_W": 0.01, "l1_ratio": 0.5}):
        how = {"random_state": 0, "max_iter": 3000, "tol": 1e-6, **penalty}
        found, other = (NMF(3, solver=s, **how).fit(X) for s in ("conjugate-gradient", "cd"))
        assert (np.diff(found.trace_) <= 1e-12 * found.trace_[0]).all()
        assert found.trace_[-1] <= other.trace_[-1] * 1.02
    gram, F = np.cov(rng.normal(size=(9, 3)).T) + np.eye(3), rng.random((5, 3)) + 5.0
    rule, best = ConjugateGradient(), rng.random((5, 3)) + 5.0
    of = RowProblem(gram, best @ gram, Penalty(), np.arange(3), np.ones(5))
    np.testing.assert_allclose(rule.improved(F, of)[0], best)
