"""Small data: the NumPy form of a loop computes what the compiled form does, and no compiler runs."""

from __future__ import annotations

import copy
import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import get_tags

import suffice
from suffice.cluster import KMeans
from suffice.core import small
from suffice.core.blocks import Rows
from suffice.core.partitions import fold_blocks
from suffice.estimator.warming import examples, public_estimators
from suffice.loops.compiled import Loop, compiled

from .registry import (
    APART,
    ESTIMATORS,
    VARIANTS,
    assert_close,
    bits,
    fit,
    has_options,
    parametrized,
    with_holes,
)

# Estimators whose loops visit examples one by one, too often for Python: they are compiled for any data.
COMPILED = {"SmoothingSpline"}

# In the common run, those whose loops compile fast, or are compiled for other tests.
CHEAP = {"CategoricalNB", "KMeans", "Lasso", "LogisticRegression", "PageRank"}

DEFAULTS = [v for v in VARIANTS if not has_options(v)]


@pytest.fixture
def no_compiler(monkeypatch):
    def call(loop, *arguments):
        name = f"{loop.__module__}.{loop.__name__}"
        assert loop.numpy is not None and small.is_small(arguments, loop.limit), name
        with np.errstate(all="ignore"):
            out = loop.numpy(*arguments)
        assert out is not NotImplemented, name
        return out

    monkeypatch.setattr(Loop, "__call__", call)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # BilinearNMF overflows on so many rows
@parametrized([v for v in DEFAULTS if v.name not in COMPILED], slow=lambda v: False)
def test_a_fit_of_1000_rows_needs_no_compiler(variant, no_compiler):
    n = 333 if variant.takes == "sequences" else 1000  # of one to five steps
    fit(variant.make(), *variant.data(n))


@parametrized(DEFAULTS, slow=lambda v: v.name not in CHEAP)
@pytest.mark.parametrize("kind", ["plain", "weighted", "with NaN"])
def test_both_forms_of_each_loop_agree(variant, kind, monkeypatch):
    """On what fits pass to loops: blocks, empty blocks, weights of zero and NaN."""
    X, y = variant.data(100)
    weight = None
    if kind != "plain" and variant.takes not in ("rows", "sequences"):
        return
    if kind == "weighted":
        weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    if kind == "with NaN":
        if not get_tags(variant.estimator).input_tags.allow_nan:
            return
        X = with_holes(X)
    plain, count = Loop.__call__, 0

    def call(self, *arguments):
        if self.numpy is not None and small.is_small(arguments, self.limit):
            nonlocal count
            out = []
            for form in (self.numpy, self.dispatcher):
                own = copy.deepcopy(arguments)  # which a loop may change
                with np.errstate(all="ignore"):
                    out.append((form(*own), own))
            if out[0][0] is not NotImplemented:
                count += 1
                try:
                    assert_close(*out, rtol=0.0 if self.exact else 1e-9)
                except AssertionError as error:
                    raise AssertionError(f"{self.__module__}.{self.__name__}: {error}") from None
        return plain(self, *arguments)

    monkeypatch.setattr(Loop, "__call__", call)
    try:
        fit(variant.make(max_iter=20), X, y, weight)
    except (TypeError, ValueError) as error:  # takes no weights, or not these
        assert weight is not None or kind == "with NaN", error


@pytest.fixture
def total(monkeypatch):
    """A loop, of which both forms say which they are; without a cache of its machine code."""
    monkeypatch.setattr("suffice.loops.compiled.CACHED", False)

    def add(x):
        return 1.0

    add.__module__, add.__qualname__ = "suffice.tests", "add"
    loop = compiled()(add)
    loop.small(lambda x: 0.0)
    return loop


def forms_used(total, rows, threads=1):
    data = suffice.partition(np.zeros((rows, 4)))
    with suffice.threads(threads):
        return data.fold(lambda block: np.array([total(block.X), 1.0]))


def test_the_block_decides_not_its_pieces(total):
    """A large block is folded in pieces, of which the last may be small: all take the compiled form."""
    for rows, is_compiled in ((1000, False), (70_000, True)):
        block = Rows(np.zeros((rows, 4)))
        found = fold_blocks(lambda piece: np.array([total(piece.X), 1.0]), (), [block])
        assert found[0] == (found[1] if is_compiled else 0.0)
    assert found[1] > 1  # pieces


def test_any_number_of_threads_takes_the_same_forms(total):
    rows = 135_000  # two blocks: the second is small
    one, many = forms_used(total, rows, 1), forms_used(total, rows, 4)
    assert (one == many).all()
    assert 0.0 < one[0] < one[1]


def test_threads_within_a_block_know_its_size(total):
    from suffice.engines.threads import in_order

    block = Rows(np.zeros((100_000, 4)))
    with suffice.threads(4), small.sized_as(block):
        assert set(in_order(lambda x: total(np.zeros(1)), tuple(range(8)))) == {1.0}


def test_what_is_compiled_does_not_change_the_bits():
    X = np.random.default_rng(0).normal(size=(300, 3))
    estimator = KMeans(3, random_state=0)
    before = bits(estimator.fit(X))
    with small.always_compiled():
        estimator.fit(X)
    assert bits(estimator.fit(X)) == before


def test_a_compilation_is_logged(total, caplog):
    with caplog.at_level(logging.INFO, logger="suffice"), small.always_compiled():
        total(np.zeros(3))
        total(np.zeros(4))
    assert [r.message for r in caplog.records] == ["Compiling suffice.tests.add(array(float64, 1d, C))."]


def test_numba_is_imported_when_it_is_needed():
    code = """
import sys
import numpy as np
from suffice.cluster import KMeans
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.sequence import HiddenMarkovModel

X = np.random.default_rng(0).normal(size=(1000, 4))
for estimator in KMeans(2), LogisticRegression(), GaussianMixture(2), HiddenMarkovModel(2, random_state=0):
    estimator.fit(X, X[:, 0] > 0).predict(X[:5])
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_warm_up_knows_all_estimators():
    assert {*ESTIMATORS} == {cls for cls in public_estimators() if cls.__name__ not in APART}
    for cls in ESTIMATORS:
        assert next(examples(cls()))


@pytest.mark.slow
def test_after_warm_up_nothing_is_compiled(tmp_path):
    code = """
import logging, sys
import numpy as np

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
from suffice.cluster import KMeans
from suffice.mixture import GaussianMixture
from suffice.sequence import HiddenMarkovModel

X = np.random.default_rng(0).normal(size=(100_000, 4))
for estimator in KMeans(2), GaussianMixture(2), HiddenMarkovModel(2, random_state=0, max_iter=2):
    estimator.fit(X)
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-W", "ignore", *arguments],
            check=True,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ).stdout

    assert "Compiling suffice.loops.distances.nearest" in run("-m", "suffice", "warm-up")
    assert "Compiling" not in run("-c", code)
