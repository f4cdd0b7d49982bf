"""Checkpoints: a fit that was stopped goes on to the same bits; that of another fit is refused."""

from __future__ import annotations

import contextlib
import inspect
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from suffice.additive import AdditiveModel
from suffice.cluster import BisectingKMeans, FusionClustering, KMeans, MiniBatchKMeans, XMeans
from suffice.core import loop
from suffice.core.blocks import Rows
from suffice.core.hashing import fingerprint, fingerprint_in_order, joined_fingerprint
from suffice.core.loop import Checkpoint, Progress, Watch
from suffice.core.storage import StorageError, load_value, save_value
from suffice.decomposition import BilinearNMF, KernelPCA
from suffice.estimator.base import OnePass
from suffice.fitting import dual
from suffice.linear_model import LogisticRegression, LogisticRegressionCV, Perceptron
from suffice.manifold import LocallyLinearEmbedding
from suffice.mixture import GaussianMixture
from suffice.sequence import ConditionalRandomField
from suffice.svm import SVC, SVR
from suffice.svm.base import SupportVectorMachine
from suffice.topics import LatentDirichletAllocation

from ..versions import callbacks
from .registry import (
    ESTIMATORS,
    VARIANTS,
    N,
    Variant,
    assert_close,
    bits,
    each_variant,
    fit,
    has_own_loop,
    has_trace,
    is_default,
    parametrized,
    some_weight,
    support_of,
    table,
    wider,
    with_holes,
)

pytestmark = pytest.mark.usefixtures("many_iterations")


class Interrupt(Exception):
    pass


class StopAt:
    """A callback that fails at the end of an iteration, as a machine may."""

    def __init__(self, iteration):
        callbacks()
        self.iteration, self.seen = iteration, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **kwargs):
        pass

    def on_fit_task_end(self, estimator, context, **kwargs):
        if context.task_name == "iteration":
            self.seen += 1
            if self.seen == self.iteration:
                raise Interrupt


def interrupted(variant, path, at, X, y, weight=None, **params):
    model = variant.make(checkpoint=path, **params)
    model.set_callbacks(StopAt(at))
    with pytest.raises(Interrupt):
        fit(model, X, y, weight)
    assert path.exists()


def saves_iterations(variant):
    """LogisticRegressionCV saves each penalty: see tests/linear_model. Kernel machines save where their cache
    is empty: see below."""
    apart = LogisticRegressionCV | SupportVectorMachine
    return variant.has("checkpoint") and not isinstance(variant.estimator, apart)


def is_one_each(variant):
    return "(" not in variant.name or "newton)" in variant.name


can_stop = each_variant(lambda v: saves_iterations(v) and has_trace(v) and has_own_loop(v))
# A file is written in every iteration: where options make no difference, one variant of each estimator.
one_each = each_variant(lambda v: saves_iterations(v) and is_one_each(v))
with_trace = each_variant(lambda v: saves_iterations(v) and is_one_each(v) and has_trace(v))


def test_the_callback_is_one():
    assert isinstance(StopAt(1), callbacks().FitCallback)


def test_every_long_fit_has_a_checkpoint():
    for cls in ESTIMATORS:
        solved_on_the_driver = AdditiveModel | KernelPCA | LocallyLinearEmbedding
        if issubclass(cls, OnePass | solved_on_the_driver):
            continue  # what iterates after the pass has no data to read
        if cls is MiniBatchKMeans:
            continue  # it has partial_fit
        if cls in (BisectingKMeans, FusionClustering, XMeans):
            continue  # short runs of k-means, or rows that are gathered
        if "max_iter" in inspect.signature(cls).parameters and hasattr(cls(), "_init_callback_context"):
            wants = "tol" in inspect.signature(cls).parameters and "solver_" not in (cls.__doc__ or "")
            assert not wants or "checkpoint" in inspect.signature(cls).parameters, cls


@can_stop
def test_interrupted_and_started_again_gives_the_same_bits(variant, tmp_path):
    X, y = variant.data()
    weight = some_weight(variant, N)
    how = {"tol": 0.0, "max_iter": 7}
    path = tmp_path / "progress"
    whole = fit(variant.make(**how), X, y, weight)
    interrupted(variant, path, 3, X, y, weight, **how)
    again = fit(variant.make(checkpoint=path, **how), X, y, weight)
    assert bits(again) == bits(whole)
    assert not path.exists()  # a finished fit leaves nothing behind


@one_each
def test_interrupted_twice(variant, tmp_path):
    X, y = variant.data()
    if variant.tags.allow_nan:
        X = with_holes(X)
    how = {"tol": 0.0, "max_iter": 6}
    path = tmp_path / "progress"
    for at in (3, 2):
        interrupted(variant, path, at, X, y, **how)
    again = fit(variant.make(checkpoint=path, **how), X, y)
    assert bits(again) == bits(fit(variant.make(**how), X, y))


@one_each
def test_more_iterations_go_on(variant, tmp_path):
    """`max_iter` may be raised between the runs: it says when to stop, not what to do."""
    X, y = variant.data()
    path = tmp_path / "progress"
    interrupted(variant, path, 3, X, y, tol=0.0, max_iter=4)
    again = fit(variant.make(checkpoint=path, tol=0.0, max_iter=7), X, y)
    assert bits(again) == bits(fit(variant.make(tol=0.0, max_iter=7), X, y))


@with_trace
def test_stopped_after_the_last_iteration(variant, tmp_path):
    """Between the last iteration and the removal of the checkpoint."""
    X, y = variant.data()
    path = tmp_path / "progress"
    how = {"max_iter": 20}
    whole = fit(variant.make(**how), X, y)
    last = len(whole.trace_)
    interrupted(variant, path, last, X, y, **how)
    found = load_value(path) if last > 1 else None
    again = fit(variant.make(checkpoint=path, **how), X, y)
    assert bits(again) == bits(whole)
    if found is not None:
        assert found.progress.n_iter == last - 1


@with_trace
def test_a_checkpoint_of_a_finished_fit_gives_its_result(variant, tmp_path, monkeypatch):
    from pathlib import Path

    X, y = variant.data()
    path = tmp_path / "progress"
    how = {"max_iter": 500, "tol": 1e-2, "evaluate_every": 1}
    whole = fit(variant.make(**how), X, y)
    if not whole.converged_:
        pytest.skip("more iterations would go on, and change the result")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda self, missing_ok=False: None)
        fit(variant.make(checkpoint=path, **how), X, y)
    assert load_value(path).progress.stopped_because
    assert bits(fit(variant.make(checkpoint=path, **how), X, y)) == bits(whole)


@one_each
def test_the_checkpoint_of_another_fit_is_refused(variant, tmp_path):
    X, y = variant.data()
    path = tmp_path / "progress"
    interrupted(variant, path, 2, X, y, tol=0.0)
    before = path.read_bytes()
    others = [
        (variant.make(tol=1e-3, checkpoint=path), X, y) if variant.has("tol") else None,
        (variant.make(tol=0.0, checkpoint=path), wider(X), y),
    ]
    for other, X_other, y_other in filter(None, others):
        with pytest.raises(StorageError, match="another fit") as refused:
            fit(other, X_other, y_other)
        assert str(path) in str(refused.value)
        assert "remove it" in str(refused.value)
    assert path.read_bytes() == before  # and it is still there for whom it belongs to


@one_each
def test_the_checkpoint_of_other_data_is_refused(variant, tmp_path):
    X, y = variant.data()
    path = tmp_path / "progress"
    interrupted(variant, path, 2, X, y, tol=0.0)
    X_other, y_other = variant.data(seed=1)
    with pytest.raises(StorageError, match="another fit"):
        fit(variant.make(tol=0.0, checkpoint=path), X_other, y_other)


def _more(name, estimator):
    return Variant(name, estimator, support_of(estimator))


# Options that the docstrings describe in prose, so that the registry does not list them. They visit the rows
# in their order, or keep state by row.
IN_ORDER = [
    _more("LDA(solver=gibbs)", LatentDirichletAllocation(3, solver="gibbs", random_state=0)),
    _more("LDA(solver=online)", LatentDirichletAllocation(3, solver="online", batch_size=32, random_state=0)),
    _more("CRF(solver=sgd)", ConditionalRandomField(solver="sgd", random_state=0)),
    _more("Perceptron(shuffle=False)", Perceptron(shuffle=False)),
    *(v for v in VARIANTS if saves_iterations(v) and is_default(v) and (v.by_order or v.takes == "kernel")),
]
# The fingerprint of rows does not depend on options.
ANY_ORDER = [
    v for v in VARIANTS if saves_iterations(v) and is_default(v) and v.takes in ("rows", "sequences")
]
ANY_ORDER = [v for v in ANY_ORDER if not v.by_order and has_trace(v)]


@parametrized(IN_ORDER, slow=lambda v: False)
def test_a_fit_that_depends_on_the_order_of_rows_does_not_go_on_with_another(variant, tmp_path):
    X, y = variant.data()
    path, how = tmp_path / "progress", {"tol": 0.0, "max_iter": 4}
    interrupted(variant, path, 2, X, y, **how)
    order = np.random.default_rng(0).permutation(N)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="another fit"):
        fit(variant.make(checkpoint=path, **how), X[order], None if y is None else y[order])
    assert path.read_bytes() == before
    fit(variant.make(checkpoint=path, **how), X, y)


@parametrized(ANY_ORDER, slow=lambda v: v.name != "KMeans")
def test_another_order_of_rows_is_refused_or_goes_on_to_the_same_result(variant, tmp_path):
    X, y = variant.data()
    path, how = tmp_path / "progress", {"tol": 0.0, "max_iter": 6}
    interrupted(variant, path, 3, X, y, **how)
    order = np.random.default_rng(0).permutation(N)
    X, y = X[order], None if y is None else y[order]
    try:
        again = fit(variant.make(checkpoint=path, **how), X, y)
    except StorageError as refused:
        assert "another fit" in str(refused)
    else:
        assert_close(again, fit(variant.make(**how), X, y), 1e-6)


# --- kernel machines -----------------------------------------------------------------------------------


class Count(StopAt):
    """The number of iterations of a fit."""

    def __init__(self):
        super().__init__(None)


def machine(variant, **params):
    exact = {"tol": 1e-8} if variant.estimator.get_params().get("solver", "smo") == "smo" else {}
    return variant.make(**{**exact, **params})


@each_variant(lambda v: isinstance(v.estimator, SupportVectorMachine))
def test_a_dual_goes_on_to_the_same_bits(variant, tmp_path, monkeypatch):
    """From any state that is saved: between the duals of pairs of classes, and within one of them."""
    monkeypatch.setattr(dual, "RENEWED", 0.05)  # the cache is emptied often
    X, y = variant.data(80)
    weight = np.random.default_rng(8).uniform(1.0, 2.0, size=len(X))
    path, count, whole = tmp_path / "progress", Count(), machine(variant)
    whole.set_callbacks(count)
    fit(whole, X, y, weight)
    assert count.seen
    for at in sorted({1, count.seen // 2 or 1, count.seen}):
        model = machine(variant, checkpoint=path)
        model.set_callbacks(StopAt(at))
        with pytest.raises(Interrupt):
            fit(model, X, y, weight)
        for other in (X[::-1], X + 1e-9):
            with pytest.raises(StorageError, match="another fit"):
                fit(machine(variant, checkpoint=path), other, y, weight)
        with pytest.raises(StorageError, match="another fit"):
            fit(machine(variant, checkpoint=path, max_iter=5), X, y, weight)
        again = machine(variant, checkpoint=path)
        again.set_callbacks(left := Count())
        assert bits(fit(again, X, y, weight)) == bits(whole)
        assert left.seen == count.seen - at  # what was solved is not solved again
        assert not path.exists()


def test_the_cache_is_emptied_without_harm(monkeypatch):
    X, y = next(v for v in VARIANTS if v.name == "SVC").data()
    usual = SVC(tol=1e-8, C=100.0).fit(X, y)
    monkeypatch.setattr(dual, "RENEWED", 0.05)
    often = SVC(tol=1e-8, C=100.0).fit(X, y)
    np.testing.assert_allclose(often.decision_function(X), usual.decision_function(X), atol=1e-6)


def test_a_callback_stops_a_dual(monkeypatch):
    class Enough(StopAt):
        def on_fit_task_end(self, estimator, context, **kwargs):
            return context.task_name == "iteration"

    monkeypatch.setattr(dual, "RENEWED", 0.05)
    X, y = next(v for v in VARIANTS if v.name == "SVR").data()
    model = SVR(tol=1e-8, C=100.0)
    model.set_callbacks(Enough(None))
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        model.fit(X, y)
    assert 0 < model.n_iter_ < SVR(tol=1e-8, C=100.0).fit(X, y).n_iter_


def test_weights_identify_the_fit_of_a_kernel(tmp_path):
    X = table("real", 40)[0]
    path = tmp_path / "progress"
    model = BilinearNMF(2, tol=0.0, random_state=0, checkpoint=path)
    model.set_callbacks(StopAt(3))
    with pytest.raises(Interrupt):
        model.fit(X)
    with pytest.raises(StorageError, match="another fit"):
        BilinearNMF(2, tol=0.0, random_state=0, checkpoint=path).fit(X, sample_weight=np.arange(1.0, 41.0))


def test_a_fingerprint_in_order_is_of_the_rows_and_not_of_their_blocks():
    X, y = table("real")[0], np.tile(["a", "b"], N)[:N]
    weight = np.random.default_rng(0).random(N)
    order = np.random.default_rng(1).permutation(N)
    for rows in (Rows(X, None, weight), Rows(X, y, weight), Rows(sp.csr_array(X), X[:, :2], weight)):

        def of(*blocks):
            return joined_fingerprint(part for block in blocks for part in fingerprint_in_order(block))

        whole = of(rows)
        assert of(rows[:0], rows[:70], rows[70:71], rows[71:]) == whole
        others = [rows[order], rows[:-1], rows[1:], rows.replace(X=1.0000001 * rows.X)]
        others += [rows.replace(weight=2 * weight), rows.replace(X=rows.X[:, [1, 0, 2]])]
        others += [] if rows.y is None else [rows.replace(y=rows.y[order])]
        assert whole not in map(of, others)


def test_a_fingerprint_is_of_the_rows_and_not_of_their_blocks():
    X, y = table("real")[0], np.tile(["a", "b"], N)[:N]
    weight = np.random.default_rng(0).random(N)
    order = np.random.default_rng(1).permutation(N)
    for rows in (Rows(X, None, weight), Rows(X, y, weight), Rows(sp.csr_array(X), X[:, :2], weight)):
        whole = fingerprint(rows)
        assert (fingerprint(rows[:70]) + fingerprint(rows[70:]) == whole).all()
        assert (fingerprint(rows[order]) == whole).all()
        assert (fingerprint(rows[:-1]) != whole).all()
        assert (fingerprint(rows.replace(weight=2 * weight)) != whole).all()
        assert (fingerprint(rows.replace(X=rows.X * 1.0000001)) != whole).all()
        swapped = rows.X[:, [1, 0, 2]]
        assert (fingerprint(rows.replace(X=swapped)) != whole).all()
        if rows.y is not None:
            assert (fingerprint(rows.replace(y=rows.y[order])) != whole).all()
        assert (fingerprint(rows[:0]) + whole == whole).all()


def test_the_checkpoint_of_another_estimator_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    path = tmp_path / "progress"
    for value in (Checkpoint("KMeans 2 {}", Progress(None)), GaussianMixture().fit(X).model_, 3):
        save_value(value, path)
        with pytest.raises(StorageError, match="another fit"):
            GaussianMixture(checkpoint=path).fit(X)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "progress"
    path.write_bytes(b"not a checkpoint at all")
    with pytest.raises(StorageError, match="progress"):
        KMeans(2, checkpoint=path, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])


@pytest.mark.parametrize(
    "seed", [lambda: np.random.RandomState(3), lambda: 3, lambda: np.random.default_rng(3)]
)
def test_any_seed_identifies_the_fit(tmp_path, seed):
    """The script is run again, so a generator is made again: it is the same fit, if its state is the same."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    if isinstance(seed(), np.random.Generator):
        pytest.skip("scikit-learn does not take it")
    path = tmp_path / "progress"

    def make(**how):
        return KMeans(4, random_state=seed(), tol=0.0, max_iter=6, **how)

    stopping = make(checkpoint=path)
    stopping.set_callbacks(StopAt(3))
    with pytest.raises(Interrupt):
        stopping.fit(X)
    assert bits(fit(make(checkpoint=path), X)) == bits(fit(make(), X))


def test_long_arrays_identify_the_fit(tmp_path):
    """Two starts that differ in the middle of a large array, which repr leaves out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 20))
    start = rng.normal(size=(60, 20))
    other = start.copy()
    other[30, 10] += 0.1
    path = tmp_path / "progress"
    stopping = KMeans(60, init=start, tol=0.0, checkpoint=path)
    stopping.set_callbacks(StopAt(2))
    with pytest.raises(Interrupt):
        stopping.fit(X)
    with pytest.raises(StorageError, match="another fit"):
        fit(KMeans(60, init=other, tol=0.0, checkpoint=path), X)


def test_a_checkpoint_is_given_as_text_or_path(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] > 0
    for path in (tmp_path / "a", str(tmp_path / "b")):
        fit(LogisticRegression(checkpoint=path), X, y)
        assert not list(tmp_path.iterdir())


def members_written(tmp_path, monkeypatch, n, *, grows=True, seconds=0.001, error_at=None):
    """The numbers of members in the files that a fit of n members writes, if a member takes so many seconds,
    and to write it takes a tenth of one."""
    clock, written = SimpleNamespace(now=0.0), []

    def save(value, path):
        written.append(value.progress.n_iter)
        clock.now += 0.1 * value.progress.n_iter

    def step(progress):
        if progress.n_iter == error_at:
            raise Interrupt
        clock.now += seconds
        return progress.replace(trace=(*progress.trace, 0.0))

    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(loop, "save_value", save)
    watch = Watch(checkpoint=tmp_path / "progress", max_iter=n, grows=grows)
    with pytest.raises(Interrupt) if error_at else contextlib.nullcontext():
        watch.loop(step, Progress(None))
    return written


def test_a_state_that_grows_is_not_written_quadratically(tmp_path, monkeypatch):
    every = list(range(1, 1001))
    assert members_written(tmp_path, monkeypatch, 1000, grows=False) == every
    written = members_written(tmp_path, monkeypatch, 1000)
    assert written[:8] == every[:8]
    assert all(b <= a + a / 7 + 1 for a, b in pairwise(written))  # what a kill can lose
    assert sum(written) < 9 * 1000 < sum(every) / 50
    # Where a member takes longer than ten writes, nothing is lost.
    assert members_written(tmp_path, monkeypatch, 1000, seconds=1000.0) == every
    # In between, writes take up to about a tenth of the time.
    written = members_written(tmp_path, monkeypatch, 1000, seconds=100.0)
    assert len(written) > 200
    assert 0.1 * sum(written) < 0.1 * (100.0 * 1000)


def test_an_error_loses_nothing_of_a_state_that_grows(tmp_path, monkeypatch):
    written = members_written(tmp_path, monkeypatch, 1000, error_at=100)
    assert written[-2] < 99
    assert written[-1] == 100
    assert members_written(tmp_path, monkeypatch, 1000, grows=False, error_at=100) == list(range(1, 101))
