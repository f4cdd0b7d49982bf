"""Nothing escapes: every class is found, and every one that is found is tried by a law."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import get_tags

from suffice.estimator.base import Estimator
from suffice.estimator.storing import Storable
from suffice.linear_model import LinearRegression

from .distinct import content
from .registry import (
    DISTINCT,
    ELSEWHERE,
    ESTIMATORS,
    FAMILIES,
    IGNORED,
    MODELS,
    STATISTICS,
    VARIANTS,
    bits,
    classes_in,
    documented,
    engine_modules,
    engines,
    fit,
    fit_and_folds,
    fitted,
    folds,
    has_trace,
    is_distinct,
    learnt,
    options,
    public_names,
    section,
    shares,
    starts,
    table,
)


def test_what_has_no_subclass_is_public():
    """A class of estimators is offered to users, or is a base of one that is."""
    known = [c for n, c in Storable.known.items() if n.startswith("suffice.") and issubclass(c, Estimator)]
    public = [*ESTIMATORS, *(thing for thing in public_names().values() if inspect.isclass(thing))]
    assert [c for c in known if not any(issubclass(o, c) for o in public)] == []


def test_every_estimator_is_tried():
    assert {type(v.estimator) for v in VARIANTS} == set(ESTIMATORS)
    assert len({v.name for v in VARIANTS}) == len(VARIANTS)


def tried() -> set[type]:
    """All classes of values in what the laws of sums try."""
    found = set()
    for variant in (v for v in VARIANTS if not v.rare):
        X, y = variant.data()
        weight = np.ones(len(X)) if variant.takes == "categories" else None  # without, scikit-learn fits
        model, seen = fit_and_folds(variant, X, y, weight)
        if isinstance(model, LinearRegression):  # far from the origin, least squares reads again
            seen += folds(variant, *variant.data(shift=1e8))
        for fold in seen:
            found |= classes_in(fold.shared) | classes_in(fold(fold.rows))
        found |= classes_in(tuple(vars(model).values()))
    for cls in FAMILIES:
        for family in starts(cls).values():
            X, _ = table(family.support)
            found |= classes_in(learnt(family, X)) | classes_in(family.summarize(X, shares(len(X))))
    return found


@pytest.mark.slow
def test_every_value_is_tried():
    elsewhere = (
        "suffice.cluster.k_centroids",
        "suffice.ensemble.newton",
        *("suffice.fitting.gibbs", "suffice.fitting.latent", "suffice.fitting.strata"),
        "suffice.information.independence",
        "suffice.metrics.",
        "suffice.statistics.nearest",
        "suffice.statistics.histograms",
        "suffice.svm.kernel_machine",
        "suffice.tree.pruning",
    )  # in tests of these
    missing = {*STATISTICS, *MODELS, *FAMILIES} - tried()
    assert [cls for cls in missing if not cls.__module__.startswith(elsewhere)] == []


@pytest.mark.slow
def test_options_that_are_not_tried_sum_and_keep_what_others_do():
    """Else write the list again: python -m tests.laws.distinct."""
    assert {v.name for v in VARIANTS} >= DISTINCT
    known = set().union(*(content(v) for v in VARIANTS if is_distinct(v)))
    found = {v.name: content(v) - known for v in VARIANTS if not is_distinct(v)}
    assert {name: new for name, new in found.items() if new} == {}


def test_every_engine_is_tried():
    """The local engine here; a cluster in a file of tests/engines that has its name."""
    folder = Path(__file__).parents[1] / "engines"
    for engine, module in engines().items():
        assert engine.__name__.endswith("Partitions")
        assert module == "local" or (folder / f"test_{module}.py").exists(), engine
    for module in engine_modules():
        here = module in ("local", "shards", "disk_sums", "stores")  # the others serve the first
        assert here or list(folder.glob(f"test_{module}*.py")), module


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_sections_are_read(cls):
    assert section(cls, "Parameters")
    assert section(cls, "Attributes") or not get_tags(cls()).requires_fit


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_every_declared_option_is_tried(cls):
    """By a variant of the laws, or elsewhere, with a reason. What is ignored changes nothing: see below."""
    for name, values in options(cls).items():
        tried = {repr(v.estimator.get_params(deep=False)[name]) for v in VARIANTS if type(v.estimator) is cls}
        elsewhere, reason = ELSEWHERE.get((cls.__name__, name), ((), "none"))
        assert reason
        for value in values:
            apart = value in elsewhere or value in IGNORED.get((cls.__name__, name), ())
            assert apart or repr(value) in tried, f"{name}={value!r} is not tried by any law"


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_every_declared_option_is_documented(cls):
    for name, values in options(cls).items():
        for value in {*values} - {None, *IGNORED.get((cls.__name__, name), ())}:
            quoted = rf"['\"`]{re.escape(value)}['\"`]"
            assert re.search(quoted, documented(cls)[name]), f"{name}={value!r} is not in the docstring"


@pytest.mark.parametrize(("name", "parameter"), IGNORED, ids="-".join)
def test_what_is_ignored_changes_nothing(name, parameter):
    plain = next(v for v in VARIANTS if v.name == name)
    X, y = plain.data()
    for value in IGNORED[name, parameter]:
        found = fit(plain.make(**{parameter: value}), X, y)
        assert bits(getattr(found, "statistics_", None)) == bits(getattr(fitted(plain), "statistics_", None))
        assert bits(found.model_) == bits(fitted(plain).model_)


def test_variants_with_a_trace_are_known():
    for variant in (v for v in VARIANTS if not v.rare):
        assert has_trace(variant) == hasattr(fitted(variant), "trace_"), variant.name
