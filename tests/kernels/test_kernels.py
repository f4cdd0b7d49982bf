"""Kernels as values: scikit-learn's numbers, closure, strings, definiteness, expansions, files."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.preprocessing import KernelCenterer

import suffice
from suffice.core.storage import StorageError, load_value, save_value
from suffice.decomposition import BilinearNMF
from suffice.kernel_approximation import Nystroem
from suffice.kernels import (
    RBF,
    Centered,
    Exponential,
    KernelColumns,
    KernelExpansion,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
    Sigmoid,
    Subsequences,
    as_kernel,
    is_positive_definite,
    string_kernel,
    vectors,
)
from suffice.kernels.vectors import Function, Named
from suffice.linear_model import KernelPerceptron
from suffice.sequence import MaxMarginMarkovNetwork


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.normal(size=(9, 4))


@pytest.fixture
def Z(rng):
    return rng.normal(size=(5, 4))


NESTED = 0.5 * RBF(0.3) * Polynomial(2) + Normalized(Linear()) + Exponential(Laplacian(0.2))


@pytest.fixture(autouse=True)
def rows_stay_sparse(monkeypatch):
    monkeypatch.setattr(vectors, "SMALL", 0)


@pytest.mark.parametrize("name", sorted(PAIRWISE_KERNEL_FUNCTIONS))
@pytest.mark.parametrize("params", [{}, {"gamma": 0.3, "degree": 2, "coef0": 0.5}], ids=["default", "set"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_names_are_those_of_scikit_learn(name, params, form, X, Z):
    if "chi2" in name:
        X, Z, form = np.abs(X), np.abs(Z), np.asarray  # scikit-learn has none of sparse rows
    kernel = as_kernel(name, params)
    want = pairwise_kernels(X, Z, metric=name, filter_params=True, **params)
    assert_allclose(kernel(form(X), form(Z)), want, rtol=1e-12, atol=1e-14)
    assert_allclose(
        kernel(form(X)), pairwise_kernels(X, metric=name, filter_params=True, **params), atol=1e-14
    )
    assert_allclose(kernel.diagonal(form(X)), kernel(form(X)).diagonal(), rtol=1e-13, atol=1e-15)


def test_no_rows(X):
    for kernel in (NESTED, Sigmoid(), Named("chi2"), Function(lambda A, B: A @ B.T), Subsequences(2)):
        rows = ["ab"] * 9 if isinstance(kernel, Subsequences) else np.abs(X)
        assert kernel(rows[:0], rows).shape == (0, 9)
        assert kernel(rows, rows[:0]).shape == (9, 0)
        assert kernel.diagonal(rows[:0]).shape == (0,)


def test_kernels_add_multiply_and_scale(X, Z):
    k, m = RBF(0.3), Polynomial(2)
    assert_array_equal((k + m)(X, Z), k(X, Z) + m(X, Z))
    assert_array_equal((k * m)(X, Z), k(X, Z) * m(X, Z))
    assert_array_equal((2 * k)(X, Z), 2 * k(X, Z))
    assert_array_equal((k * np.float32(0.5))(X, Z), 0.5 * k(X, Z))
    assert_array_equal(Exponential(m)(X, Z), np.exp(m(X, Z)))
    assert 2 * k == k * 2.0
    assert k != RBF(0.4)
    assert_allclose(NESTED.diagonal(X), NESTED(X).diagonal(), rtol=1e-13)
    with pytest.raises(TypeError):
        _ = k + 1
    with pytest.raises(ValueError, match="must be finite"):
        _ = np.inf * k


def test_normalized_rows_have_length_one(X, Z):
    K = Normalized(Polynomial(3))(X, Z)
    plain = Polynomial(3)
    assert_allclose(K, plain(X, Z) / np.sqrt(np.outer(plain.diagonal(X), plain.diagonal(Z))), rtol=1e-13)
    assert_allclose(Normalized(Polynomial(3))(X).diagonal(), 1.0)
    with pytest.raises(ValueError, match="not positive definite"):
        Normalized(-1.0 * Linear())(X)


def test_centered_rows_have_mean_zero(rng, X, Z):
    kernel = RBF(0.3)
    centerer = KernelCenterer().fit(kernel(X))
    assert_allclose(Centered(kernel)(X), centerer.transform(kernel(X)), atol=1e-14)
    about = Centered(kernel).with_rows(X)
    # Of the Gram matrix of Z with X, the mean in feature space is that of X on both sides.
    assert_allclose(about(Z, X), centerer.transform(kernel(Z, X)), atol=1e-14)
    assert_allclose(about.diagonal(Z), about(Z).diagonal(), atol=1e-14)
    assert_allclose(Centered(Linear(), X)(Z), (Z - X.mean(0)) @ (Z - X.mean(0)).T, atol=1e-14)
    weight = rng.integers(3, size=len(X))
    repeated = (2.0 * Centered(kernel)).with_rows(np.repeat(X, weight, axis=0))
    assert_allclose((2.0 * Centered(kernel)).with_rows(X, weight)(Z), repeated(Z), atol=1e-14)
    with pytest.raises(ValueError, match="no points to center at"):
        Centered(kernel)(X, Z)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_distances_far_from_the_origin(form, rng):
    """Rows far from zero, and two groups far from each other: the kernel is that of differences."""
    near = rng.normal(size=(30, 3))
    near[7] = near[3]
    for X in (near + 1e8, np.where(np.arange(30)[:, None] % 2, near + 1e8, near - 1e8)):
        want = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
        K = RBF(0.5)(form(X))
        assert_allclose(K, want, rtol=1e-11, atol=1e-300)
        assert (K.diagonal() == 1.0).all()
        assert_array_equal(K, K.T)
        assert_allclose(RBF(0.5)(form(X), form(X[:4])), want[:, :4], rtol=1e-11, atol=1e-300)
    assert_allclose(RBF(0.5)(sp.csr_array(X), X), want, rtol=1e-11, atol=1e-300)


# --- strings -------------------------------------------------------------------------------------------


def by_enumeration(s, t, n, decay):
    def features(string):
        out = {}
        for index in combinations(range(len(string)), n):
            u = tuple(string[i] for i in index)
            out[u] = out.get(u, 0.0) + decay ** (index[-1] - index[0] + 1)
        return out

    one, other = features(s), features(t)
    return sum(value * other.get(u, 0.0) for u, value in one.items())


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("decay", [0.3, 1.0])
def test_string_kernel_counts_subsequences(n, decay, rng):
    strings = ["".join(rng.choice(list("abc"), size)) for size in (12, 9, 7, n, n - 1, 0)]
    want = [[by_enumeration(s, t, n, decay) for t in strings] for s in strings]
    kernel = Subsequences(n, decay)
    assert_allclose(kernel(strings), want, rtol=1e-13)
    assert_allclose(kernel(strings, strings[:3]), np.array(want)[:, :3], rtol=1e-13)
    assert_allclose(kernel.diagonal(strings), np.diag(want), rtol=1e-13)
    assert is_positive_definite(kernel, strings)
    assert_allclose(string_kernel(strings[0], strings[1], n, decay), want[0][1], rtol=1e-13)


def test_short_strings_have_no_subsequences():
    K = Subsequences(3)(["", "ab", "abc"])
    assert_array_equal(K, np.diag([0.0, 0.0, 0.5**6]))
    assert_array_equal(Normalized(Subsequences(3))(["", "ab", "abc"]), np.diag([0.0, 0.0, 1.0]))
    assert string_kernel("", "", 1, normalize=True) == 0.0


def test_symbols_are_of_any_kind():
    words = [["to", "be", "or", "not"], ("not", "to", "be"), np.array([3, 4, 5]), [3, 5]]
    K = Subsequences(2)(words)
    assert_allclose(K[0, 1], by_enumeration(words[0], words[1], 2, 0.5))
    assert_allclose(K[2, 3], by_enumeration([3, 4, 5], [3, 5], 2, 0.5))
    assert not K[:2, 2:].any()
    assert_array_equal(Subsequences(2)(np.array(["ab", "ba"])), Subsequences(2)(["ab", "ba"]))


def test_long_strings_do_not_underflow():
    """Of equal strings, the number of single symbols; and gaps of thousands of symbols count as none."""
    assert string_kernel("a" * 3000, "a" * 3000, 1, 1.0) == 3000.0**2
    gap = "a" + "b" * 3000 + "c"
    assert_allclose(string_kernel(gap, "ac", 2), 0.0, atol=1e-300)
    assert_allclose(string_kernel("x" * 3000 + "ac", "ac" + "y" * 3000, 2), 0.5**4, rtol=1e-14)


def test_what_is_no_list_of_strings_is_refused():
    with pytest.raises(ValueError, match="got one string"):
        Subsequences(2)("abc")
    with pytest.raises(ValueError, match="Expected strings"):
        Subsequences(2)([1, 2])
    with pytest.raises(ValueError, match="n must be an integer"):
        Subsequences(0)
    with pytest.raises(ValueError, match=r"decay must be in \(0, 1\]"):
        Subsequences(2, 0.0)


# --- definiteness, expansions --------------------------------------------------------------------------


def test_definiteness(X):
    assert is_positive_definite(NESTED, X)
    assert is_positive_definite("rbf", X)
    assert is_positive_definite(np.zeros((3, 3)))
    assert is_positive_definite(Linear(), np.repeat(X, 3, axis=0))  # singular
    found = is_positive_definite(-1.0 * RBF(), X)
    assert found.symmetric
    assert not found
    assert_allclose(found.least_eigenvalue, np.linalg.eigvalsh(-RBF()(X))[0])
    skew = is_positive_definite(lambda A, B: A[:, :1] - B[:, 0] + 9.0 * (A @ B.T), X)
    assert not skew.symmetric
    assert not skew.positive_definite
    assert is_positive_definite([[1.0, 0.0], [0.0, -1e-9]], tol=1e-8)
    assert not is_positive_definite([[1.0, 0.0], [0.0, -1e-9]])


def test_no_gram_matrix_is_refused(X):
    with pytest.raises(ValueError, match="square matrix"):
        is_positive_definite(X)
    with pytest.raises(ValueError, match="X is missing"):
        is_positive_definite("rbf")
    with pytest.raises(ValueError, match="NaN or infinite entries"):
        is_positive_definite([[np.nan]])
    with pytest.raises(ValueError, match="expected \\(9, 9\\)"):
        Function(lambda A, B: A)(X)
    with pytest.raises(ZeroDivisionError):  # the function's own error
        Function(lambda A, B: 1 / 0)(X)
    with pytest.raises(ValueError, match="square matrix"):
        Precomputed()(X)
    with pytest.raises(ValueError, match="numbers of columns"):
        Precomputed()(X, X)


def test_expansions_reproduce(rng, X, Z):
    kernel = RBF(0.4)
    f = KernelExpansion(kernel, X, rng.normal(size=len(X)))
    g = KernelExpansion(kernel, Z, rng.normal(size=len(Z)))
    assert_allclose(f(Z), kernel(Z, X) @ f.coef)
    for x in Z:  # the inner product with k(x, .) is the value
        at = KernelExpansion(kernel, x[None], np.ones(1))
        assert_allclose(f.inner(at), f(x[None])[0])
        assert abs(f(x[None])[0]) <= f.norm * at.norm
    assert_allclose(f.inner(g), g.inner(f))
    assert_allclose(f.norm**2, f.coef @ kernel(X) @ f.coef)
    with pytest.raises(ValueError, match="different kernels"):
        f.inner(g.replace(kernel=RBF(0.5)))
    with pytest.raises(ValueError, match="not positive definite"):
        _ = f.replace(kernel=-1.0 * kernel).norm
    assert KernelExpansion("linear", [[2.0]], [3.0])([[1.0]]).tolist() == [6.0]
    with pytest.raises(ValueError, match=r"coef has shape \(3,\), expected \(2,\)"):
        KernelExpansion(kernel, [[0.0], [1.0]], [1.0, 2.0, 3.0])
    strings = KernelExpansion(Subsequences(2), ["ab", "ba"], [1.0, -1.0])
    assert_allclose(strings.norm, np.sqrt(2 * 0.5**4))


def intersection(x, z, power=1):
    return np.minimum(x, z).sum() ** power


@pytest.mark.parametrize("n_features", [1, 2, 3, 4])
def test_functions_of_two_rows(rng, n_features):
    X, Z = rng.random((4, n_features)), rng.random((n_features, n_features))
    both = np.concatenate([X, Z])
    assert_allclose(Function(lambda x, z: x @ z)(X, Z), X @ Z.T)  # also where X @ Z has this shape
    assert_allclose(as_kernel(intersection)(X, Z), np.minimum(X[:, None], Z).sum(axis=2))
    params = {"power": 2}
    assert_allclose(as_kernel(intersection, params)(both), np.minimum(both[:, None], both).sum(axis=2) ** 2)
    for name, kind in (("KernelRidge", "kernel_ridge"), ("KernelPCA", "decomposition")):
        ours, theirs = (
            getattr(import_module(f"{package}.{kind}"), name)(kernel=intersection).fit(both, both[:, 0])
            for package in ("suffice", "sklearn")
        )
        answer = "predict" if name == "KernelRidge" else "transform"
        assert_allclose(np.abs(getattr(ours, answer)(X)), np.abs(getattr(theirs, answer)(X)), atol=1e-8)
    landmarks = Nystroem(intersection, kernel_params=params, n_components=len(both)).fit_transform(both)
    assert_allclose(landmarks @ landmarks.T, as_kernel(intersection, params)(both), atol=1e-8)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: as_kernel("gauss"), "kernel='gauss' is unknown: use one of"),
        (lambda: as_kernel("rbf", {"sigma": 1.0}), r"has \['sigma'\]; expected some of"),
        (lambda: as_kernel(RBF(), {"gamma": 1.0}), "needs the name of a kernel"),
        (lambda: RBF(-1.0), "gamma must be finite and non-negative; got -1.0"),
        (lambda: Laplacian("scale"), "gamma must be finite and non-negative; got 'scale'"),
        (lambda: Polynomial(-1), "degree must be"),
        (lambda: Sigmoid(coef0=np.nan), "coef0 must be finite"),
        (lambda: Named("chi3"), "no kernel 'chi3'"),
        (lambda: RBF()([1.0]), "got 1D array"),
        (lambda: RBF()([[1.0]], [[1.0, 2.0]]), "X has 1 features, and Z has 2"),
    ],
)
def test_refusals(make, text):
    with pytest.raises(ValueError, match=text):
        make()


# --- in files and estimators ---------------------------------------------------------------------------


def test_kernels_are_stored(tmp_path, X, Z):
    kernels = [NESTED, Centered(Sigmoid()).with_rows(X), Named("chi2", 0.5), KernelColumns(RBF(), X)]
    for kernel in kernels:
        save_value(kernel, tmp_path / "kernel")
        same = load_value(tmp_path / "kernel")
        rows = (np.abs(Z),) if isinstance(kernel, KernelColumns) else (np.abs(Z), np.abs(X))
        assert_array_equal(same(*rows), kernel(*rows))
    words = np.array(["cat", "car"], dtype=object)
    save_value(KernelExpansion(Normalized(Subsequences(2)), words, np.ones(2)), tmp_path / "kernel")
    assert_allclose(load_value(tmp_path / "kernel")(["cat"]), [1.0 + 0.0625 / 0.140625])
    with pytest.raises(TypeError, match="cannot be stored"):
        save_value(Function(np.dot), tmp_path / "kernel")


def test_files_hold_valid_kernels(tmp_path):
    bad = RBF(1.0)
    object.__setattr__(bad, "gamma", -1.0)
    save_value(bad, tmp_path / "kernel")
    with pytest.raises(StorageError, match="gamma must be"):
        load_value(tmp_path / "kernel")


@pytest.mark.parametrize("kernel", [NESTED, Centered(RBF(0.3)), Normalized(Polynomial(2))], ids=str)
def test_estimators_take_kernels(kernel, rng, tmp_path):
    X = rng.normal(size=(40, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    K, new = kernel.with_rows(X)(X), kernel.with_rows(X)(X[:7] + 0.1, X)
    model = KernelPerceptron(kernel=kernel, shuffle=False).fit(X, y)
    same = KernelPerceptron(kernel=Precomputed(), shuffle=False).fit(K, y)
    assert_allclose(model.decision_function(X[:7] + 0.1), same.decision_function(new), atol=1e-10)
    model.save(tmp_path / "perceptron")
    loaded = suffice.load(tmp_path / "perceptron")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert repr(loaded.kernel) == repr(kernel)

    concepts = BilinearNMF(2, kernel=kernel, random_state=0, tol=1e-3).fit(X)
    start = {"W": concepts.concept_weights_ + 0.1, "V": concepts.embedding_ + 0.1}
    concepts = BilinearNMF(2, kernel=kernel, init="custom", tol=1e-3).fit(X, **start)
    same = BilinearNMF(2, kernel="precomputed", init="custom", tol=1e-3).fit(K, **start)
    assert_allclose(concepts.transform(X[:7] + 0.1), same.transform(new), atol=1e-8)

    smo = dict(solver="smo", random_state=0, tol=1e-6, max_iter=5000)
    chain = MaxMarginMarkovNetwork(2.0, kernel=kernel, **smo).fit([X[:20], X[20:]], [y[:20], y[20:]])

    def gram(A, B):
        return kernel.with_rows(X)(A, B)

    same = MaxMarginMarkovNetwork(2.0, kernel=gram, **smo).fit([X[:20], X[20:]], [y[:20], y[20:]])
    assert_allclose(chain.objective_, same.objective_, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_repeat_rows_with_a_centered_kernel(rng):
    X, weight = rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    how = dict(kernel=Centered(RBF(0.5)), max_iter=1, tol=None)
    weighted = KernelPerceptron(**how).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(30), weight)
    assert_allclose(
        weighted.model_.kernel.kernel(X),
        KernelPerceptron(**how).fit(X[again], y[again]).model_.kernel.kernel(X),
    )


def test_indefinite_kernels_run_in_a_perceptron(rng):
    """Its steps need no definite kernel; that the norm of its weights is then negative is said of it."""
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    model = KernelPerceptron(kernel=Sigmoid(coef0=-1.0), max_iter=50, tol=None).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert not is_positive_definite(model.kernel, X)
