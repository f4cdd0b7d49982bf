"""pytest plugin: run scikit-learn's own tests with suffice's classes in place of scikit-learn's.

While a test module is collected, every name in a module of scikit-learn that is bound to a class or
function of which suffice has a namesake is bound to the namesake. Then the modules get their own back:
only the names in the test module are suffice's, and scikit-learn's code uses its own classes. The classes
that a test involves are recorded: each of which an instance is made, changed or passed as a parameter.

Environment variables: DROPIN_BASELINE=1 substitutes nothing, and records scikit-learn's classes.
DROPIN_OUT is the file of the results, as JSON lines. DROPIN_ONLY is a file of the node ids to run.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import json
import os
import pkgutil
import sys
import types
import warnings
from pathlib import Path

import pytest

BASELINE = os.environ.get("DROPIN_BASELINE") == "1"
OUT = os.environ.get("DROPIN_OUT")
IN_WORKER = "PYTEST_XDIST_WORKER" in os.environ  # which reports to the process that writes

PACKAGES = {  # suffice -> scikit-learn, where the name of the module is another
    "linear_model": "linear_model",
    "naive_bayes": "naive_bayes",
    "discriminant_analysis": "discriminant_analysis",
    "decomposition": "decomposition",
    "topics": "decomposition",
    "cluster": "cluster",
    "mixture": "mixture",
    "feature_extraction.text": "feature_extraction.text",
    "model_selection": "model_selection",
    "preprocessing": "preprocessing",
    "pipeline": "pipeline",
    "compose": "compose",
    "impute": "impute",
    "metrics": "metrics",
    "covariance": "covariance",
    "kernel_ridge": "kernel_ridge",
    "kernel_approximation": "kernel_approximation",
    "svm": "svm",
    "tree": "tree",
    "ensemble": "ensemble",
    "neighbors": "neighbors",
    "manifold": "manifold",
}


def pairs():
    """(package of scikit-learn, name, theirs, ours) for every public name that both have."""
    found = []
    for ours, theirs in PACKAGES.items():
        try:
            ours = importlib.import_module(f"suffice.{ours}")
        except ModuleNotFoundError:
            continue
        theirs = importlib.import_module(f"sklearn.{theirs}")
        for name in getattr(theirs, "__all__", ours.__all__):
            mine = vars(ours).get(name)
            if mine is None or inspect.ismodule(mine) or not hasattr(theirs, name):
                continue
            if getattr(mine, "__module__", "").split(".")[0] == "suffice":
                found.append((theirs.__name__, name, getattr(theirs, name), mine))
    return found


def import_all_of_sklearn():
    import sklearn

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(sklearn.__path__, "sklearn."):
            if ".tests" in module.name or module.name.endswith("conftest") or ".externals" in module.name:
                continue
            with contextlib.suppress(Exception):  # of optional packages that are not installed
                importlib.import_module(module.name)


PAIRS = pairs()
SEEN: set[str] = set()
RECORDED: dict[type, str] = {}


def record(cls, name):
    """Note each instance of the class that is made or changed."""
    RECORDED[cls] = name
    set_attribute, init = cls.__setattr__, cls.__init__

    @functools.wraps(init)  # the signature is asked for
    def __init__(self, *args, **more):
        seen(type(self))
        init(self, *args, **more)

    def __setattr__(self, key, value):
        seen(type(self))
        set_attribute(self, key, value)

    cls.__init__, cls.__setattr__ = __init__, __setattr__


class Missing:
    """A public method that theirs has and ours has not: test modules that name it can then be imported."""

    def __init__(self, cls, name):
        self.cls, self.name = cls, name

    def __get__(self, instance, owner):
        error = AttributeError(f"{self.cls.__name__!r} object has no attribute {self.name!r}")
        if instance is not None:
            raise error

        def missing(*args, **more):
            raise error

        return missing


def add_missing(theirs, ours):
    for name in dir(theirs):
        public = not name.startswith("_") and inspect.isfunction(getattr(theirs, name, None))
        if public and not hasattr(ours, name):
            setattr(ours, name, Missing(ours, name))


def lend(theirs, ours):
    """Private methods by which their fixtures find the optimum that ours is compared with."""
    for name in ("_get_loss",):
        if hasattr(theirs, name) and not hasattr(ours, name):
            setattr(ours, name, getattr(theirs, name))


def seen(kind):
    for k in kind.__mro__[:1] if BASELINE else kind.__mro__:  # theirs have heirs among theirs
        if k in RECORDED:
            SEEN.add(RECORDED[k])
            return


def note_parameters(value, depth=0):
    if depth > 3:
        return
    seen(value if isinstance(value, type) else type(value))
    if isinstance(value, list | tuple | set):
        for part in list(value)[:50]:
            note_parameters(part, depth + 1)
    elif isinstance(value, dict):
        note_parameters(list(value.values()), depth + 1)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        with contextlib.suppress(TypeError):
            note_parameters(list(vars(value).values()), depth + 1)


def bindings():
    """Every name of a module of scikit-learn that is bound to one of their classes."""
    by_id = {id(theirs): (theirs, ours) for _, _, theirs, ours in PAIRS}
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("sklearn") or module is None:
            continue
        if ".tests" in module_name:
            continue
        for key, value in list(vars(module).items()):
            if id(value) in by_id and by_id[id(value)][0] is value:
                yield module, key, *by_id[id(value)]


def share_check_parameters():
    """scikit-learn's parameters for its checks of a class hold for ours of the same name."""
    from sklearn.utils._test_common import instance_generator as g

    for _, _, theirs, ours in PAIRS:
        for table in (
            "INIT_PARAMS",
            "TEST_PARAMS",
            "PER_ESTIMATOR_CHECK_PARAMS",
            "PER_ESTIMATOR_XFAIL_CHECKS",
        ):
            known = getattr(g, table, None)
            if isinstance(known, dict) and theirs in known and ours not in known:
                known[ours] = known[theirs]


def pytest_configure(config):
    config.addinivalue_line("markers", "dropin: of the harness")
    if OUT and not IN_WORKER:
        Path(OUT).write_text("")
    import_all_of_sklearn()
    for _, name, theirs, ours in PAIRS:
        if isinstance(ours, type):
            record(theirs if BASELINE else ours, name)
    if not BASELINE:
        share_check_parameters()
        for _, _, theirs, ours in PAIRS:
            if isinstance(ours, type):
                add_missing(theirs, ours)
                lend(theirs, ours)
        config._dropin = list(bindings())
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] == "suffice":
                copy_modules(vars(module), config._dropin)  # our own code uses theirs, also in collection


def pytest_collection_modifyitems(config, items):
    """Of the checks of all estimators, those of ours; of the tests, those in the file DROPIN_ONLY."""
    only = os.environ.get("DROPIN_ONLY")
    wanted = set(Path(only).read_text().splitlines()) if only else None
    kept, dropped = [], []
    for item in items:
        if wanted is not None and item.nodeid not in wanted:
            dropped.append(item)
        elif item.path.name == "test_common.py" and item.path.parent.parent.name == "sklearn":
            SEEN.clear()
            note_parameters(getattr(getattr(item, "callspec", None), "params", None))
            (kept if SEEN else dropped).append(item)
        else:
            kept.append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _bind(config, to_ours):
    if not BASELINE:
        for module, key, theirs, ours in config._dropin:
            setattr(module, key, ours if to_ours else theirs)


def copy_modules(names, bound):
    """Give a module its own copies of scikit-learn's modules, which keep the names that these have now."""
    modules = {id(module) for module, _, _, _ in bound}
    for key, value in list(names.items()):
        if id(value) in modules:
            copy = types.ModuleType(value.__name__, value.__doc__)
            vars(copy).update(vars(value))
            names[key] = copy


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    if not isinstance(collector, pytest.Module):
        return (yield)
    _bind(collector.config, True)
    try:
        report = yield
        if not BASELINE and hasattr(collector, "_obj"):  # else its import failed
            copy_modules(vars(collector.obj), collector.config._dropin)  # `linear_model.Ridge` is ours
        return report
    finally:
        _bind(collector.config, False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    SEEN.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "setup" and hasattr(item, "callspec"):
        note_parameters(item.callspec.params)
    if call.when == "call" or (call.when == "setup" and report.outcome != "passed"):
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xfailed" if report.outcome == "skipped" else "xpassed"
        elif call.when == "setup" and report.outcome == "failed":
            outcome = "error"
        entry = {"classes": sorted(SEEN), "outcome": outcome, "seconds": round(call.duration, 2)}
        if call.excinfo is not None and outcome in ("failed", "error"):
            entry |= described(call.excinfo)
        report.user_properties.append(("dropin", json.dumps(entry)))
    return report


def described(excinfo):
    frames = []
    for entry in excinfo.traceback:
        path = str(entry.path)
        for root in ("/site-packages/", "/src/"):
            if root in path:
                path = path.split(root)[-1]
        if path.startswith(("_pytest", "pluggy", "xdist")):
            continue
        frames.append(f"{path}:{entry.lineno + 1} {entry.name}")
    test = [f for f in frames if "/tests/" in f or f.split(":")[0].startswith("test_")]
    ours = [f for f in frames if f.startswith("suffice/")]
    statement = ""
    for entry in excinfo.traceback:
        if "/tests/" in str(entry.path):
            with contextlib.suppress(Exception):
                statement = str(entry.statement).strip()
    return {
        "type": excinfo.type.__name__,
        "message": str(excinfo.value)[:1500],
        "at": test[-1] if test else "",
        "statement": statement[:300],
        "ours": ours[-1] if ours else "",
        "deepest": frames[-1] if frames else "",
    }


WRITTEN: set[str] = set()


def write(line):
    """Write a result at once: those of a run that is interrupted are kept."""
    if OUT and not IN_WORKER and line not in WRITTEN:
        with open(OUT, "a") as out:
            out.write(line + "\n")
        WRITTEN.add(line)


def pytest_runtest_logreport(report):
    for key, value in report.user_properties:
        if key == "dropin" and (report.when == "call" or report.outcome != "passed"):
            write(json.dumps({"test": report.nodeid} | json.loads(value)))


def pytest_collectreport(report):
    if report.failed:
        message = str(report.longrepr)[-3000:]
        write(json.dumps({"test": report.nodeid, "classes": [], "outcome": "collection", "message": message}))
