"""Factor analysis and probabilistic PCA: likelihood, solvers, NaN, rotations, and the number of factors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.decomposition
from scipy.stats import multivariate_normal, ortho_group
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.decomposition import (
    PCA,
    FactorAnalysis,
    ProbabilisticPCA,
    factor_number_test,
    identify_loadings,
    parallel_analysis,
    rotate_loadings,
)
from suffice.families import FactorGaussian, Mixture
from suffice.fitting import em

SIMPLE = np.array([[2.0, 2, 2, 1, 0, 0, 0, 0], [0, 0, 0, 1.0, 1, 1, 0.5, 1], [0, 1, 0, 0, 0, 1, 1.5, 1.5]])


def rows(n=400, loadings=SIMPLE[:2], noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    K, D = loadings.shape
    return rng.normal(size=(n, K)) @ loadings + noise * rng.normal(size=(n, D)) * np.linspace(0.5, 2.0, D)


def holes(X, share=0.15, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# --- likelihood ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "K"), [(0, 1), (1, 2), (2, 3), (3, 2)])
def test_likelihood_is_at_least_that_of_scikit_learn(seed, K):
    X = rows(loadings=SIMPLE[:K], seed=seed) * np.logspace(-1, 1, 8)
    theirs = sklearn.decomposition.FactorAnalysis(K, tol=1e-6, max_iter=10_000, svd_method="lapack").fit(X)
    ours = FactorAnalysis(K).fit(X)
    assert ours.converged_
    assert ours.score(X) >= theirs.score(X) - 1e-9
    assert ours.loglike_[-1] == pytest.approx(ours.score_samples(X).sum(), rel=1e-10)


def two_of_three_factors(seed, n=300, D=10, K=3):
    """Rows with more factors than a model of K - 1: their likelihood has local maxima at Heywood cases."""
    r = np.random.default_rng(seed)
    return r.normal(size=(n, K)) @ r.normal(size=(K, D)) + r.normal(size=(n, D)) * np.linspace(0.1, 2, D)


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Heywood cases, and EM that does not converge
        return model.fit(X)


def slopes(model, X):
    """Derivatives of the mean log-likelihood by loadings, times their units, and by log noise."""
    C, S, L = model.get_covariance(), np.cov(X.T, bias=True), model.components_.T
    G = np.linalg.solve(C, np.linalg.solve(C, S - C).T)
    return G @ L * np.sqrt(np.diag(S))[:, None], 0.5 * np.diag(G) * model.noise_variance_


@pytest.mark.parametrize("solver", ["direct", "em", "proximal"])
def test_a_local_maximum_at_a_heywood_case_is_left(solver):
    """From the multiple correlations alone the solvers end at -5837.9, or crawl at -5844.8."""
    X = two_of_three_factors(3)
    model = FactorAnalysis(2, solver=solver).fit(X)
    assert model.converged_
    assert model.score_samples(X).sum() == pytest.approx(-5827.0048, abs=0.02)
    assert (model.noise_variance_ > 0.1).all()


RANDOM = [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 3 else []) for seed in range(60)]


@pytest.mark.parametrize("seed", RANDOM)
def test_solvers_reach_the_maximum_that_scikit_learn_reaches(seed):
    """Random shapes, ranks and units: no lower likelihood, a stationary point, and the same one for EM."""
    r = np.random.default_rng([7, seed])
    D, n = int(r.integers(4, 14)), int(r.choice([40, 150, 400]))
    K = int(r.integers(1, max(2, D // 2)))
    X = two_of_three_factors(seed, n, D, K + int(r.integers(0, 4))) * np.exp(r.normal(size=D) * r.integers(2))
    theirs = sklearn.decomposition.FactorAnalysis(K, tol=1e-8, max_iter=3000, svd_method="lapack")
    best = quiet(theirs, X).score_samples(X).sum()
    ours = quiet(FactorAnalysis(K), X)
    assert ours.converged_
    assert ours.score_samples(X).sum() >= best - 1e-4
    loadings, noise = slopes(ours, X)
    bound = ours.noise_variance_ <= 1.01e-8 * X.var(axis=0)
    np.testing.assert_allclose(noise[~bound], 0.0, atol=1e-6)
    assert (noise[bound] <= 1e-12).all()
    np.testing.assert_allclose(loadings[~bound], 0.0, atol=1e-5)
    by_em = quiet(FactorAnalysis(K, solver="em", max_iter=300), X)
    if by_em.converged_:  # at a Heywood case it is not, for its steps are proportional to the noise
        assert by_em.score_samples(X).sum() == pytest.approx(ours.score_samples(X).sum(), abs=0.05)
    else:
        assert by_em.n_iter_ == 300


def test_penalized_em_does_not_stop_on_a_plateau():
    X = two_of_three_factors(3)
    short, long = (
        FactorAnalysis(2, solver="em", alpha=1.0, tol=t, max_iter=9000).fit(X) for t in (1e-2, 1e-7)
    )
    assert short.converged_
    assert short.loglike_[-1] == pytest.approx(long.loglike_[-1], abs=0.05)


def test_attributes_are_those_of_scikit_learn():
    X = rows()
    theirs = sklearn.decomposition.FactorAnalysis(2, tol=1e-9, max_iter=5000, svd_method="lapack").fit(X)
    ours = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-4)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-3)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-4)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-4)
    np.testing.assert_allclose(ours.get_precision() @ ours.get_covariance(), np.eye(8), atol=1e-10)


def test_solution_is_stationary():
    """diag(LL' + Psi) = diag(S), and L = S Sigma^-1 L."""
    X = rows(loadings=SIMPLE)
    model = FactorAnalysis(3).fit(X)
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose(np.diag(model.get_covariance()), np.diag(S), rtol=1e-7)
    L = model.components_.T
    np.testing.assert_allclose(S @ np.linalg.solve(model.get_covariance(), L), L, atol=1e-6)


@pytest.mark.parametrize("solver", ["em", "proximal"])
@pytest.mark.parametrize("cls", [FactorAnalysis, ProbabilisticPCA])
def test_solvers_agree(cls, solver):
    X = rows()
    direct = cls(2).fit(X)
    other = cls(2, solver=solver, tol=1e-12, max_iter=5000).fit(X)
    assert other.converged_
    assert (np.diff(other.trace_) >= -1e-13).all()
    assert direct.score(X) == pytest.approx(other.score(X), abs=1e-9)
    for name in ("components_", "noise_variance_", "mean_"):
        np.testing.assert_allclose(getattr(other, name), getattr(direct, name), atol=1e-6)


def test_probabilistic_pca_is_pca():
    X = rows()
    model, pca = ProbabilisticPCA(2).fit(X), PCA().fit(X)
    N = len(X)
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_[:2] * (N - 1) / N)
    assert model.noise_variance_ == pytest.approx(pca.explained_variance_[2:].mean() * (N - 1) / N)
    axes = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    np.testing.assert_allclose(axes, pca.components_[:2], atol=1e-8)
    assert model.score(X) >= sklearn.decomposition.PCA(2).fit(X).score(X)


def test_few_rows_of_many_features():
    X = rows(12)
    with pytest.warns(UserWarning, match="parameters more|Heywood"):
        model = FactorAnalysis(5).fit(X)
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize("cls", [FactorAnalysis, ProbabilisticPCA])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_far_from_zero(cls, shift):
    X = rows()
    near, far = cls(2).fit(X), cls(2).fit(X + shift)
    np.testing.assert_allclose(far.components_, near.components_, atol=1e-6)
    np.testing.assert_allclose(far.transform(X + shift), near.transform(X), atol=1e-5)


def test_weights_are_repetitions():
    X, weight = rows(150), np.random.default_rng(0).integers(0, 4, size=150)
    weighted = FactorAnalysis(2).fit(X, sample_weight=weight)
    repeated = FactorAnalysis(2).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-9)


# --- NaN -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["direct", pytest.param("em", marks=pytest.mark.slow)])
def test_missing_entries_are_integrated_out(solver):
    X = holes(rows(150))
    model = FactorAnalysis(2, solver=solver, tol=1e-6).fit(X)
    assert (np.diff(model.trace_) >= -1e-12).all()
    C = model.get_covariance()
    by_hand = [
        multivariate_normal(model.mean_[s], C[np.ix_(s, s)]).logpdf(x[s])
        for x, s in zip(X[:20], ~np.isnan(X[:20]), strict=True)
    ]
    np.testing.assert_allclose(model.score_samples(X[:20]), by_hand)
    for step in (1e-3, -1e-3):  # a stationary point, if not the best
        noise = model.noise_variance_ * (1.0 + step)
        family = model.model_.component.replace(noise=noise[None])
        assert Mixture(np.ones(1), family).log_density(X).mean() < model.trace_[-1]


@pytest.mark.slow
def test_solvers_agree_on_holes():
    X = holes(rows(150))
    direct = FactorAnalysis(2, max_iter=2000).fit(X)
    by_em = FactorAnalysis(2, solver="em", tol=1e-6, max_iter=2000).fit(X)
    assert by_em.score(X) == pytest.approx(direct.score(X), abs=1e-6)


def test_scores_of_rows_with_holes():
    """The posterior mean given what is observed, by the joint normal distribution of factors and features."""
    X = rows()
    model = FactorAnalysis(2).fit(X)
    x, seen = holes(X)[3], ~np.isnan(holes(X)[3])
    assert not seen.all()
    C, L = model.get_covariance(), model.components_.T
    want = L[seen].T @ np.linalg.solve(C[np.ix_(seen, seen)], x[seen] - model.mean_[seen])
    np.testing.assert_allclose(model.transform(x[None])[0], want, atol=1e-10)


# --- bad input -----------------------------------------------------------------------------------------


def test_constant_columns_are_reported():
    X = rows()
    X[:, 4] = 3.0
    with pytest.warns(UserWarning, match="Feature 4 is constant"):
        model = FactorAnalysis(2).fit(X)
    assert np.isfinite(model.score(X))
    assert np.abs(model.components_[:, 4]).max() < 1e-9
    rest = FactorAnalysis(2).fit(np.delete(X, 4, axis=1))
    np.testing.assert_allclose(np.delete(model.components_, 4, axis=1), rest.components_, atol=1e-6)


def test_a_duplicate_column_is_a_heywood_case():
    X = np.column_stack([rows(), rows()[:, 7]])
    with pytest.warns(UserWarning, match="Heywood case: features 7, 8 are explained wholly"):
        model = FactorAnalysis(2).fit(X)
    assert np.isfinite(model.components_).all()


def test_a_column_that_is_not_observed():
    X = rows()
    X[:, 2] = np.nan
    with pytest.warns(UserWarning, match="Feature 2 is constant: all values are missing"):
        model = FactorAnalysis(2).fit(X)
    assert np.abs(model.components_[:, 2]).max() < 1e-9
    rest = FactorAnalysis(2).fit(np.delete(X, 2, axis=1))
    np.testing.assert_allclose(np.delete(model.components_, 2, axis=1), rest.components_, atol=1e-5)


def test_more_factors_than_the_covariance_determines():
    with pytest.warns(UserWarning, match="5 parameters more"):
        model = FactorAnalysis(6).fit(rows())
    assert model.degrees_of_freedom_ == -5
    with pytest.raises(ValueError, match="n_components=9 must be at most 8"):
        FactorAnalysis(9).fit(rows())
    with pytest.raises(ValueError, match="at most 7"):
        ProbabilisticPCA(8).fit(rows())


def test_refusals():
    X = rows()
    with pytest.raises(ValueError, match="use solver='em'"):
        FactorAnalysis(2, alpha=1.0).fit(X)
    with pytest.raises(ValueError, match=r"rotation_target of shape \(8, 2\)"):
        FactorAnalysis(2, rotation="target").fit(X)
    with pytest.raises(ValueError, match="leave one of them out"):
        FactorAnalysis(2, rotation="varimax", factor_covariance="free").fit(X)
    with pytest.raises(ValueError, match="at least 2 rows"):
        FactorAnalysis(1).fit(X[:1])
    with pytest.raises(ValueError, match="linearly dependent"):
        identify_loadings([[1.0, 1.0], [2.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="method must be"):
        FactorAnalysis(2).fit(X).scores(X, "thurstone")


# --- penalty -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [FactorAnalysis, ProbabilisticPCA])
def test_penalized_solution_is_optimal(cls):
    """Subgradient of the likelihood: alpha times the sign of loadings, at most alpha where they are zero."""
    X, alpha = rows(200), 20.0
    S, N = np.cov(X.T, bias=True), len(X)
    found = []
    for solver in ("em", "proximal"):
        model = cls(2, solver=solver, alpha=alpha, tol=1e-11, max_iter=20_000).fit(X)
        P, L = model.get_precision(), model.components_.T
        gradient = N * (P @ S @ P - P) @ L  # of the log-likelihood
        zero = L == 0
        assert zero.any()
        np.testing.assert_allclose(gradient[~zero], alpha * np.sign(L[~zero]), atol=1e-3)
        assert (np.abs(gradient[zero]) <= alpha + 1e-3).all()
        found.append(model)
    np.testing.assert_allclose(found[0].trace_[-1], found[1].trace_[-1], atol=1e-9)


# --- scores and factor covariances ---------------------------------------------------------------------


def test_scores():
    X = rows(5000)
    for rotation in (None, "promax"):
        model = FactorAnalysis(2, rotation=rotation).fit(X)
        L, psi = model.components_.T, model.noise_variance_
        factors = np.array([[1.0, -2.0]])
        exact = model.inverse_transform(factors)
        np.testing.assert_allclose(model.scores(exact, "bartlett"), factors, atol=1e-9)
        shrunk = model.transform(exact)
        phi = model.factor_covariance_
        want = phi @ L.T @ np.linalg.solve(L @ phi @ L.T + np.diag(psi), (exact - model.mean_).T)
        np.testing.assert_allclose(shrunk, want.T, atol=1e-9)


def test_free_factor_covariance():
    X = rows(5000, SIMPLE)[:, [0, 4, 6, 1, 2, 3, 5, 7]]
    model = FactorAnalysis(3, factor_covariance="free").fit(X)
    np.testing.assert_allclose(model.components_[:, :3], np.eye(3), atol=1e-10)
    implied = model.components_.T @ model.factor_covariance_ @ model.components_
    np.testing.assert_allclose(implied + np.diag(model.noise_variance_), model.get_covariance(), atol=1e-10)
    assert model.score(X) == pytest.approx(FactorAnalysis(3).fit(X).score(X))


def test_sample():
    model = FactorAnalysis(2).fit(rows())
    drawn = model.sample(200_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.1)


# --- rotations -----------------------------------------------------------------------------------------


def as_columns(L):
    """Columns without order or sign."""
    L = L * np.sign(L[np.abs(L).argmax(axis=0), np.arange(L.shape[1])])
    return L[:, np.lexsort(np.round(L, 6))]


@pytest.mark.parametrize("criterion", ["varimax", "quartimax", "l1", "promax"])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_rotations_find_simple_structure(criterion, K):
    rng = np.random.default_rng(K)
    simple = np.kron(np.eye(K), np.ones((4, 1))) * rng.uniform(0.5, 1.5, size=(4 * K, 1))
    found = rotate_loadings(simple @ ortho_group(K, seed=1).rvs(), criterion)
    np.testing.assert_allclose(as_columns(found.loadings), as_columns(simple), atol=1e-6)
    np.testing.assert_allclose(found.factor_covariance, np.eye(K), atol=1e-6)


@pytest.mark.parametrize("criterion", ["varimax", "quartimax", "l1", "promax", "target"])
@pytest.mark.parametrize("normalize", [False, True])
def test_rotations_keep_the_covariance(criterion, normalize):
    L = np.random.default_rng(0).normal(size=(9, 3))
    found = rotate_loadings(L, criterion, normalize=normalize, target=np.sign(L))
    phi = found.factor_covariance
    np.testing.assert_allclose(found.loadings @ phi @ found.loadings.T, L @ L.T, atol=1e-10)
    np.testing.assert_allclose(np.diag(phi), 1.0)
    np.testing.assert_allclose(found.loadings @ found.transformation, L, atol=1e-10)
    np.testing.assert_allclose(found.transformation @ found.transformation.T, phi, atol=1e-10)
    np.testing.assert_allclose(found.structure, found.loadings @ phi)


def test_varimax_is_a_maximum_and_that_of_scikit_learn():
    from sklearn.decomposition._factor_analysis import _ortho_rotation

    L = np.random.default_rng(0).normal(size=(12, 4))

    def criterion(L):
        return (L**2).var(axis=0).sum()

    found = rotate_loadings(L).loadings
    assert criterion(found) >= criterion(_ortho_rotation(L, tol=1e-12, max_iter=10_000).T) - 1e-9
    for seed in range(20):
        small = 0.01 * np.random.default_rng(seed).normal(size=(4, 4))
        turn = np.linalg.qr(np.eye(4) + small - small.T)[0]
        assert criterion(found @ turn) <= criterion(found)


def test_l1_is_a_minimum():
    L = np.random.default_rng(0).normal(size=(12, 3))
    found = rotate_loadings(L, "l1").loadings
    for seed in range(50):
        small = 0.01 * np.random.default_rng(seed).normal(size=(3, 3))
        turn = np.linalg.qr(np.eye(3) + small - small.T)[0]
        assert np.abs(found @ turn).sum() >= np.abs(found).sum()


def test_target_with_free_entries():
    simple = np.array([[1.0, 0.0], [0.8, 0.0], [0.0, 1.0], [0.3, 0.6]])
    L = simple @ ortho_group(2, seed=0).rvs()
    target = np.array([[np.nan, 0.0], [np.nan, 0.0], [0.0, np.nan], [np.nan, np.nan]])
    found = rotate_loadings(L, "target", target=target).loadings
    np.testing.assert_allclose(np.abs(found), simple, atol=1e-5)
    by_target = FactorAnalysis(2, rotation="target", rotation_target=SIMPLE[:2].T).fit(rows(5000))
    assert by_target.components_.shape == (2, 8)


# --- number of factors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["permutation", "normal"])
@pytest.mark.parametrize("correlation", [True, False])
def test_parallel_analysis(reference, correlation):
    X = rows(800, np.kron(np.eye(2), np.ones(4)))
    found = parallel_analysis(X, reference=reference, correlation=correlation, random_state=0)
    assert found.n_factors == 2
    spread = np.ones(8) if correlation else X.var(axis=0, ddof=1)
    np.testing.assert_allclose(found.eigenvalues.sum(), spread.sum())
    if reference == "permutation":
        np.testing.assert_allclose(found.reference.sum(axis=1), spread.sum())
    noise = np.random.default_rng(0).normal(size=(300, 6))
    assert parallel_analysis(noise, reference=reference, random_state=0).n_factors == 0


def test_parallel_analysis_refuses():
    with pytest.raises(ValueError, match="use reference='normal'"):
        parallel_analysis(rows(), sample_weight=np.ones(400))
    with pytest.raises(ValueError, match="Feature 0 is constant"):
        parallel_analysis(rows() * np.eye(8)[1])
    weight = np.full(400, 2.0)
    twice = parallel_analysis(rows(), reference="normal", sample_weight=weight, random_state=0)
    again = parallel_analysis(np.repeat(rows(), 2, axis=0), reference="normal", random_state=0)
    np.testing.assert_allclose(twice.eigenvalues, again.eigenvalues)


def test_factor_number():
    X = rows(800, SIMPLE)
    found = factor_number_test(X)
    assert found.n_factors == 3
    assert (np.diff(found.statistic) < 0).all()
    corrected = factor_number_test(X, bartlett=True)
    assert (corrected.statistic < found.statistic).all()
    assert factor_number_test(X, max_factors=1).n_factors is None
    same = rows(800, SIMPLE, noise=0.0) + np.random.default_rng(5).normal(size=(800, 8))
    same = factor_number_test(same, isotropic=True)
    assert same.n_factors == 3
    for wrong, message in (
        ({"X": rows(5)}, "singular"),
        ({"X": X[:, :1]}, "at least 2 features; got 1"),
        ({"max_factors": -1}, "max_factors >= 0; got 0.05 and -1"),
        ({"level": 5}, "0 < level < 1"),
    ):
        with pytest.raises(ValueError, match=message):
            factor_number_test(**{"X": X, **wrong})


@pytest.mark.slow
def test_levels_are_those_of_the_test():
    """Of normal rows with one factor, a test of one factor is rejected in five of a hundred."""
    rejected = []
    for seed in range(30):
        X = rows(300, SIMPLE[:1] + 0.5, seed=seed)
        rejected.append(factor_number_test(X, bartlett=True).p_value[1] < 0.05)
    assert np.mean(rejected) < 0.2


# --- mixtures of factor analysers ----------------------------------------------------------------------


def test_a_mixture_of_factor_analysers():
    X = np.concatenate([rows(300) + 6.0, rows(300, SIMPLE[1:], seed=1) - 6.0])
    family = FactorGaussian.start(2, 8, n_factors=2)
    family = family.replace(mean=family.mean + np.array([[4.0], [-4.0]]), noise=9.0 * family.noise)
    progress = em(Mixture(np.full(2, 0.5), family), suffice.partition(X), tol=1e-8, max_iter=500)
    assert progress.converged
    assert (np.diff(progress.trace) >= -1e-10).all()
    assert (progress.model.predict_proba(X).argmax(axis=1) == np.repeat([0, 1], 300)).all()
    alone = FactorAnalysis(2).fit(X[:300])
    np.testing.assert_allclose(progress.model.component.covariances[0], alone.get_covariance(), atol=1e-3)
    assert progress.model.n_parameters == 1 + 2 * (8 + 8 * 2 - 1 + 8)


def test_convergence_warning():
    with pytest.warns(ConvergenceWarning):
        FactorAnalysis(2, max_iter=1).fit(rows())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FactorAnalysis(2).fit(rows())
