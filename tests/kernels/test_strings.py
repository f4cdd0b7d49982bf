"""Strings in the exact kernel machines: the machines of their Gram matrix, and files, tables, errors."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score

import suffice
from suffice.decomposition import KernelPCA
from suffice.kernel_ridge import KernelRidge
from suffice.kernels import (
    RBF,
    Centered,
    Normalized,
    Subsequences,
    is_positive_definite,
    string_kernel,
)
from suffice.linear_model import KernelLogisticRegression
from suffice.svm import SVC, SVR, KernelMachine, NuSVC, NuSVR, OneClassSVM

KERNEL = Normalized(Subsequences(2)) + 0.5 * Subsequences(1)
NEW = ["abba", "", "zz", "a", "dabc"]


def strings(n=50, seed=0):
    """Strings of up to eight letters, some empty; whether they have more a than b, and how many a."""
    rng = np.random.default_rng(seed)
    S = ["".join(rng.choice(list("abcd"), rng.integers(9))) for _ in range(n)]
    return S, np.array([s.count("a") > s.count("b") for s in S]), np.array([float(s.count("a")) for s in S])


S, LABEL, NUMBER = strings()
MACHINES = {
    "SVC": (SVC(), LABEL),
    "SVC, three classes": (SVC(), np.minimum(NUMBER, 2)),
    "NuSVC": (NuSVC(nu=0.2), LABEL),
    "SVR": (SVR(), NUMBER),
    "NuSVR": (NuSVR(), NUMBER),
    "OneClassSVM": (OneClassSVM(), None),
    "KernelRidge": (KernelRidge(), NUMBER),
    "KernelPCA": (KernelPCA(3), None),
    "KernelLogisticRegression": (KernelLogisticRegression(), LABEL),
    "KernelMachine": (KernelMachine("epsilon_insensitive"), NUMBER),
}


def answers(model, X):
    names = ("decision_function", "predict", "transform")
    return getattr(model, next(name for name in names if hasattr(model, name)))(X)


@pytest.mark.parametrize("name", MACHINES)
def test_strings_are_those_of_the_gram_matrix(name, tmp_path):
    machine, y = MACHINES[name]
    machine.set_params(kernel=KERNEL).fit(S, y)
    fitted = answers(machine, NEW)
    same = type(machine)(**{**machine.get_params(), "kernel": "precomputed"}).fit(KERNEL(S), y)
    assert_array_equal(fitted, answers(same, KERNEL(NEW, S)))
    machine.save(tmp_path / "machine")
    loaded = suffice.load(tmp_path / "machine")
    assert_array_equal(answers(loaded, NEW), fitted)
    points = getattr(machine, "support_vectors_", getattr(machine, "X_fit_", None))
    assert points.ndim == 1 and set(points) <= set(S)
    if hasattr(machine, "support_"):
        assert_array_equal(points, np.array(S, object)[machine.support_])


@pytest.mark.parametrize("name", MACHINES)
def test_weights_repeat_strings(name):
    machine, y = MACHINES[name]
    machine.set_params(kernel=KERNEL)
    if "tol" in machine.get_params():
        machine.set_params(tol=1e-9)
    weight = np.random.default_rng(1).integers(0, 3, size=len(S))
    again = np.repeat(np.arange(len(S)), weight)
    weighted = answers(machine.fit(S, y, sample_weight=weight), NEW)
    repeated = answers(machine.fit([S[n] for n in again], None if y is None else y[again]), NEW)
    assert_allclose(np.abs(weighted), np.abs(repeated), atol=1e-6)  # components have a sign of their own


@pytest.mark.parametrize(
    "as_input",
    [
        tuple,
        np.array,
        lambda S: np.array(S, object),
        lambda S: np.array(S)[:, None],
        pd.Series,
        lambda S: pd.DataFrame({"text": S}),
        lambda S: [list(s) for s in S],
        lambda S: [np.array(list(s)) for s in S],
    ],
)
def test_lists_arrays_series_and_tables(as_input):
    plain, other = SVC(kernel=KERNEL).fit(S, LABEL), SVC(kernel=KERNEL).fit(as_input(S), LABEL)
    assert_array_equal(plain.dual_coef_, other.dual_coef_)
    assert_array_equal(plain.decision_function(NEW), other.decision_function(as_input(NEW)))


def test_symbols_are_numbers_too(tmp_path):
    codes = [[ord(letter) for letter in s] for s in S]
    model = SVC(kernel=KERNEL).fit(codes, LABEL)
    assert_array_equal(model.dual_coef_, SVC(kernel=KERNEL).fit(S, LABEL).dual_coef_)
    model.save(tmp_path / "codes")
    assert_array_equal(suffice.load(tmp_path / "codes").predict(codes), model.predict(codes))


def test_tables_and_scans():
    table = pa.table({"text": S, "y": LABEL})
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=7))
    plain = SVC(kernel=KERNEL).fit(S, LABEL)
    for source in (table, scan):
        model = SVC(kernel=KERNEL).fit(suffice.rows(source, features=["text"], target="y"))
        assert_array_equal(model.dual_coef_, plain.dual_coef_)
        assert_array_equal(model.predict(source), plain.predict(S))


def test_cross_validation_and_centering():
    scores = cross_val_score(SVC(kernel=KERNEL), S, LABEL, cv=3)
    assert_array_equal(scores, cross_val_score(SVC(kernel="precomputed"), KERNEL(S), LABEL, cv=3))
    centered = SVC(kernel=Centered(KERNEL), tol=1e-9).fit(S, LABEL)  # the intercept takes the mean
    plain = SVC(kernel=KERNEL, tol=1e-9).fit(S, LABEL)
    assert_allclose(centered.decision_function(NEW), plain.decision_function(NEW), atol=1e-7)


def test_strings_shorter_than_n():
    """They have kernel zero with all strings, so that only the intercept is left."""
    model = SVC(kernel=Subsequences(3)).fit(["", "a", "ab", "abc", "abcabc"], [0, 0, 0, 1, 1])
    assert_allclose(model.decision_function(["", "zz", "zzzz"]), model.intercept_[0])
    assert SVC(kernel=Normalized(Subsequences(3))).fit(["", "a"], [0, 1]).predict([""]).shape == (1,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: SVC(kernel=KERNEL).fit(np.eye(50), LABEL), "rows of numbers of shape .50, 50.*'rbf'"),
        (lambda: SVC(kernel=KERNEL).fit(np.ones((50, 1)), LABEL), "rows of numbers"),
        (lambda: SVC(kernel=KERNEL).fit(np.eye(50).tolist(), LABEL), r"\(tuple\) in row 0: pass a list of"),
        (lambda: SVC(kernel=KERNEL).fit(sp.eye_array(50, format="csr"), LABEL), "rows of numbers"),
        (lambda: SVC(kernel=KERNEL).fit(NUMBER, LABEL), "in row 0: pass a list of strings"),
        (lambda: SVC(kernel=KERNEL).fit(np.array([["a", "b"]] * 50), LABEL), "takes one column; got 2"),
        (lambda: SVC(kernel=KERNEL).fit([None, *S[1:]], LABEL), "contains NaN, None or NA"),
        (lambda: SVC(kernel=KERNEL).fit([], []), "0 sample"),
        (lambda: SVC(kernel=KERNEL).fit(S[1:], LABEL), "inconsistent numbers of samples"),
        (lambda: SVC(kernel=KERNEL).fit("abc", LABEL), r"got one string: pass \['abc'\]"),
        (lambda: SVC(kernel=KERNEL).fit(S, LABEL).predict("abc"), r"got one string: pass \['abc'\]"),
        (lambda: SVC(kernel=KERNEL).fit(S, LABEL).predict([[0.5]]), "kernel of strings"),
        (lambda: SVC().fit(S, LABEL), r"X has strings: use kernel=Subsequences\(3\)"),
        (lambda: KernelRidge().fit(pd.Series(S), NUMBER), r"X has strings: use kernel=Subsequences\(3\)"),
        (lambda: OneClassSVM().fit(np.array(S)), r"X has strings: use kernel=Subsequences\(3\)"),
        (lambda: SVC(kernel=KERNEL + RBF()).fit(S, LABEL), "takes rows of numbers: use Subsequences"),
        (lambda: KernelRidge(kernel=KERNEL, landmarks=5).fit(S, NUMBER), "use landmarks=None"),
        (lambda: KernelPCA(kernel=KERNEL, fit_inverse_transform=True).fit(S), "a kernel of strings"),
    ],
)
def test_wrong_calls(call, text):
    with pytest.raises(ValueError, match=text):
        call()


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
