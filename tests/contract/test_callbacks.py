"""What an iterative fit shows of itself while it runs, by scikit-learn's callbacks, and when it ends."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice.linear_model import LogisticRegression, LogisticRegressionCV
from suffice.statistics import Moments
from suffice.svm.base import SupportVectorMachine

from ..laws.registry import (
    VARIANTS,
    answers,
    assert_close,
    bits,
    by_component,
    fit,
    has_options,
    has_own_loop,
    has_trace,
    is_default,
    is_distinct,
    is_iterative,
    parametrized,
    section,
)
from ..versions import callbacks

ProgressBar = callbacks().ProgressBar

# An iteration of LogisticRegressionCV is a penalty: see tests/linear_model.
ITERATIVE = [
    v
    for v in VARIANTS
    if is_iterative(v) and has_own_loop(v) and not isinstance(v.estimator, LogisticRegressionCV)
]
# Of kernel machines, the dual is solved after the pass, and may not converge. Boosting has stages, and says
# whether it stopped early.
ONE_PASS = [
    v
    for v in VARIANTS
    if not has_trace(v)
    and is_distinct(v)
    and not isinstance(v.estimator, SupportVectorMachine)
    and "converged_" not in section(type(v.estimator), "Attributes")
]
each_iterative = parametrized(ITERATIVE)
OF_ONE_LOOP = [v for v in ITERATIVE if not by_component(v)]
each_of_one_loop = parametrized(OF_ONE_LOOP)
pytestmark = pytest.mark.usefixtures("many_iterations")


class Recorder:
    """All that a callback is told."""

    def __init__(self, stop_at=None):
        self.stop_at, self.events, self.models = stop_at, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **kwargs):
        self.events.append(f"end {context.task_name}")
        if context.task_name == "iteration":
            self.models.append(fitted_estimator)
            return self.stop_at == len(self.models)
        return False


def iterations(recorder):
    return recorder.events.count("end iteration")


@each_of_one_loop
def test_callbacks_see_every_iteration(variant):
    X, y = variant.data()
    recorder = Recorder()
    model = fit(variant.make(max_iter=3, tol=0.0).set_callbacks(recorder), X, y)
    assert iterations(recorder) == np.max(model.n_iter_) == 3
    assert recorder.events[0] == "setup"
    assert recorder.events[-1] == "teardown"
    assert recorder.events.count("begin iteration") == 3


@each_iterative
def test_callbacks_change_no_bit(variant):
    X, y = variant.data()
    watched = fit(variant.make(max_iter=5).set_callbacks(Recorder()), X, y)
    assert bits(watched) == bits(fit(variant.make(max_iter=5), X, y))


@each_of_one_loop
def test_a_callback_can_stop(variant):
    X, y = variant.data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was asked for, so nothing to warn of
        model = variant.make(max_iter=50, tol=0.0).set_callbacks(Recorder(stop_at=2)).fit(X, y)
    assert model.stopped_because_ == "callback"
    assert not model.converged_
    assert np.max(model.n_iter_) == len(model.trace_) == 2
    same = fit(variant.make(max_iter=2, tol=0.0), X, y)
    if variant.name.endswith("solver=sgd)"):  # few iterations take another form of the loops than many
        assert_close(model.model_, same.model_, 1e-12)
    else:
        assert bits(model.model_) == bits(same.model_)


@parametrized(OF_ONE_LOOP, slow=has_options)
def test_callbacks_see_a_model_that_predicts(variant):
    """After each iteration, the estimator as if the fit had stopped there."""
    X, y = variant.data()
    recorder = Recorder()
    model = fit(variant.make(max_iter=3, tol=0.0).set_callbacks(recorder), X, y)
    assert bits(answers(recorder.models[-1], X)) == bits(answers(model, X))
    assert bits(answers(recorder.models[0], X)) == bits(answers(fit(variant.make(max_iter=1), X, y), X))


@parametrized([v for v in VARIANTS if is_default(v)], slow=lambda v: False)
def test_progress_bar_works(variant):
    """scikit-learn's own, drawn by rich; for a fit of one pass too. The tests above try what loops
    report to it with every option."""
    rich = pytest.importorskip("rich.progress")
    assert rich
    X, y = variant.data()
    plain = fit(variant.make(max_iter=4), X, y)
    shown = variant.make(max_iter=4).set_callbacks(ProgressBar())
    assert bits(fit(shown, X, y)) == bits(plain)


def test_progress_bar_draws(capsys):
    pytest.importorskip("rich")
    X, y = ITERATIVE[0].data()
    fit(ITERATIVE[0].make(max_iter=4).set_callbacks(ProgressBar()), X, y)
    out = capsys.readouterr().out
    assert re.search(r"\d+%", out)
    assert type(ITERATIVE[0].estimator).__name__ in out


def test_callbacks_reach_into_pipelines_and_searches():
    X, y = next(v for v in VARIANTS if v.name == "LogisticRegression").data()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
        cv=2,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of scalers, which have no callbacks
        assert search.fit(X, y).best_score_ > 0.8


@each_of_one_loop
def test_what_every_fit_says(variant):
    model = fit(variant.make(max_iter=3), *variant.data())
    for name in ("model_", "statistics_", "trace_", "n_iter_", "converged_", "stopped_because_"):
        assert hasattr(model, name)
    assert isinstance(model.converged_, bool)
    assert isinstance(model.stopped_because_, str)
    assert model.trace_.shape == (np.max(model.n_iter_),)
    assert model.converged_ == (model.stopped_because_ == "tolerance")


@parametrized(
    [
        v
        for v in ITERATIVE
        if not v.by_order
        and v.takes not in ("edges", "kernel")
        and "Perc" not in v.name
        and not v.name.endswith("solver=iis)")  # which sums by size instead
    ]
)
def test_an_objective_that_is_not_a_number_is_never_converged(variant, monkeypatch):
    """The fit says so, with a warning: it does not pass for the end of the iterations."""
    X, y = variant.data()
    begun = fit(variant.make(max_iter=1), X, y)
    if isinstance(begun.statistics_, Moments) or hasattr(begun, "loglike_"):
        pytest.skip("the objective is computed from moments, at home")
    model_class = type(getattr(begun.model_, "linear", begun.model_))  # of landmarks: what is summed
    method = "squared_sums" if getattr(begun.model_, "squared", False) else "summarize"
    if hasattr(model_class, "step"):  # of RobustPCA, which returns the rows, too
        method = "step"
    plain, calls = getattr(model_class, method), []

    def poisoned(*args, **how):
        *rows, s = plain(*args, **how) if method == "step" else (plain(*args, **how),)
        if len(args[-1]):
            calls.append(1)
        summed = ("log_likelihood", "loss", "inertia", "bound", "square", "slope")
        name = next((n for n in summed if hasattr(s, n)), None)
        if len(calls) > 3 and name:
            s = s.replace(**{name: float("nan") * getattr(s, name)})
        return (*rows, s) if method == "step" else s

    monkeypatch.setattr(model_class, method, poisoned)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = variant.make(max_iter=20, tol=0.0).fit(X, y)
    assert not model.converged_
    assert model.stopped_because_ != "max_iter"
    assert any(issubclass(w.category, ConvergenceWarning) for w in seen)


@parametrized(ONE_PASS)
def test_one_pass_has_no_iterations(variant):
    model = fit(clone(variant.estimator), *variant.data())
    assert not hasattr(model, "trace_")
    assert not hasattr(model, "converged_")
