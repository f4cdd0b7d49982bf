"""The house: imports run downwards, importing is cheap, and the documentation says what is so."""

from __future__ import annotations

import ast
import inspect
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.version import Version

import suffice
from suffice.cluster import KMeans
from suffice.core.model import Model, Predictor
from suffice.estimator.answers import ANSWERS
from suffice.mixture import BayesianGaussianMixture
from suffice.preprocessing import TargetEncoder
from suffice.svm import SVC, NuSVC

from ..versions import SKLEARN
from .registry import (
    COMMON,
    ESTIMATORS,
    fit,
    fitted,
    leaves,
    public_names,
    section,
    table,
)

HOME = Path(suffice.__file__).parent
TESTS = Path(__file__).parents[1]
# Topics stand above them all.
LAYERS = (
    "core",
    "engines",
    "loops",
    "losses",
    "statistics",
    "families",
    "kernels",
    "fitting",
    "inputs",
    "estimator",
)


def layer(part: str) -> int:
    return LAYERS.index(part) if part in LAYERS else len(LAYERS)


@cache
def imported(path: Path) -> set[str]:
    """Modules of suffice that a file imports, anywhere in it, by dotted name below suffice."""
    package = path.relative_to(HOME).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name.removeprefix("suffice.") for a in node.names if a.name.startswith("suffice.")}
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            if node.level:
                module = [*package[: len(package) - node.level + 1], *module]
            elif module[:1] == ["suffice"]:
                module = module[1:]
            else:
                continue
            found |= {".".join(module)} if module else {a.name for a in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # as import_module takes it
            found |= {m[1] for m in [re.fullmatch(r"suffice\.([a-z_]+(\.[a-z_]+)*)", node.value)] if m}
    return {name for name in found if name}


FILES = sorted(p for p in HOME.rglob("*.py") if p.parent != HOME)


def test_imports_run_downwards():
    for path in FILES:
        here = path.relative_to(HOME).parts[0]
        for name in imported(path):
            there = name.split(".")[0]
            assert layer(there) <= layer(here), f"{path} imports {name}"


def test_topics_do_not_import_each_other_in_circles():
    edges: dict[str, set[str]] = {}
    for path in FILES:
        here = path.relative_to(HOME).parts[0]
        for name in imported(path):
            there = name.split(".")[0]
            if here != there and layer(here) == layer(there):
                edges.setdefault(here, set()).add(there)

    def visit(topic, path):
        assert topic not in path, f"a circle: {[*path, topic]}"
        for other in edges.get(topic, ()):
            visit(other, [*path, topic])

    for topic in edges:
        visit(topic, [])


def modules(path: Path) -> set[str]:
    """The modules of suffice that a file imports, each by its own name; packages left out."""
    found = set()
    for name in imported(path) | {f"{name}.{part}" for name, part in _parts(path)}:
        if (HOME / Path(*name.split("."))).with_suffix(".py").exists():
            found.add(name)
    return found


def _parts(path: Path) -> set[tuple[str, str]]:
    package = path.relative_to(HOME).parts[:-1]
    return {
        (
            ".".join([*package[: len(package) - node.level + 1], *(node.module or "").split(".")]).strip("."),
            a.name,
        )
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
        for a in node.names
    }


def test_modules_do_not_import_each_other_in_circles():
    """Nor do they in functions."""
    names = {path: ".".join(path.relative_to(HOME).with_suffix("").parts) for path in FILES}
    edges = {names[path]: modules(path) for path in FILES}
    assert {"engines.stores", "engines.local"} <= edges["engines.cache"]  # the reader reads
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"a circle: {[*path[path.index(module) :], module]}"
        if module not in done:
            for other in edges.get(module, ()):
                visit(other, (*path, module))
            done.add(module)

    for module in edges:
        visit(module, ())


def test_only_inputs_name_an_engine():
    for path in FILES:
        if path.relative_to(HOME).parts[0] not in ("engines", "inputs"):
            assert not [name for name in imported(path) if name.split(".")[0] == "engines"], path


def test_no_stack_is_walked():
    """But for messages, which name the line of the user's call, or the estimator that was called."""
    for path in set(FILES) - {HOME / "core" / "callers.py"}:
        assert not re.search(r"_getframe|warnings\.warn\(", path.read_text()), path


NATIVE = HOME.parents[1] / "native"


def test_what_a_compiler_or_a_cpu_decides_is_in_one_header():
    """And the choice of the level in native/bind/cpu.cpp."""
    specific = r"__builtin_|__attribute__|_mm\d*_|immintrin|__(x86_64|AVX|FMA|SSE|aarch64|clang|GNUC)"
    found = {path.name for path in NATIVE.rglob("*.[hc]pp") if re.search(specific, path.read_text())}
    assert found == {"lanes.hpp", "cpu.cpp"}


# Folders of tests that run over many modules. The other folders are modules.
ACROSS = {"attack", "canon", "contract", "docs", "dropin", "engines", "laws", "loops", "peers", "serving"}


def test_each_file_of_tests_is_named_after_its_source():
    """`tests/<module>/test_<file>.py` has the tests of `src/suffice/<module>/<file>.py`."""
    files = (path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))
    strays = [
        str(file)
        for file in files
        if file.parts[0] not in ACROSS and not (HOME / file.with_name(file.name[len("test_") :])).is_file()
    ]
    assert not strays


def test_types_of_loops_have_names_of_their_own():
    """Two types of one name in one namespace are the same type to the linker, which keeps one of them."""
    places = defaultdict(list)
    for path in sorted([*NATIVE.glob("*.hpp"), *NATIVE.glob("bind/*.?pp")]):
        source = path.read_text()
        space = re.search(r"^namespace (suffice(?:::\w+)?) \{", source, re.MULTILINE)
        for name in set(re.findall(r"^\s*(?:struct|class) (\w+)\b[^;{]*\{", source, re.MULTILINE)):
            places[f"{space and space[1]}::{name}"].append(path.name)
    assert not {name: files for name, files in places.items() if len(files) > 1}
    assert {"suffice::SparseRow", "suffice::newton::Split", "suffice::trees::Split"} <= places.keys()


def test_imports_are_found():
    """The reader of imports reads: a file that is known to import what it does."""
    assert {"core.statistics"} <= imported(HOME / "statistics" / "moments.py")
    assert any(name.startswith("cluster") for name in imported(HOME / "mixture" / "base.py"))


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


HEAVY = ("pyarrow", "ray", "pandas", "polars", "matplotlib", "torch")


def test_every_public_package_is_an_attribute():
    """Without its import: `suffice.svm.SVC`."""
    packages = {path.parent.name for path in Path(suffice.__file__).parent.glob("*/__init__.py")}
    assert packages - {"engines", "inputs", "loops", "losses"} == set(suffice._MODULES)


def test_import_is_light():
    """Neither `import suffice` nor its estimators import what a user may not need."""
    code = f"import sys, {{modules}}; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    assert python(code.format(modules="suffice")).split() == []
    topics = {cls.__module__.rsplit(".", 1)[0] for cls in ESTIMATORS}
    # scikit-learn imports pandas if it is there, and pandas imports pyarrow.
    callbacks = ", sklearn.callback" if Version("1.9") <= SKLEARN else ""
    theirs = python(code.format(modules="sklearn.base" + callbacks)).split()
    assert set(python(code.format(modules=", ".join(sorted(topics)))).split()) <= set(theirs)


def test_a_loaded_model_imports_its_own_packages_only(tmp_path):
    """A process that loads a model and predicts does not wait for the other packages."""
    KMeans(2, random_state=0).fit([[0.0, 1.0], [2.0, 3.0], [2.0, 4.0]]).save(tmp_path / "model")
    code = (
        f"import sys, suffice; suffice.load({str(tmp_path / 'model')!r}).predict([[0.0, 1.0]]); "
        "print(*({'suffice.topics', 'suffice.linear_model', 'suffice.tree'} & sys.modules.keys()))"
    )
    assert python(code).split() == []


@pytest.mark.slow
def test_import_costs_no_more_than_scikit_learn():
    """In turns, in fresh processes; medians."""
    seconds = {"suffice": [], "sklearn": []}
    for _ in range(5):
        for name, taken in seconds.items():
            start = time.perf_counter()
            python(f"import {name}")
            taken.append(time.perf_counter() - start)
    ours, theirs = statistics.median(seconds["suffice"]), statistics.median(seconds["sklearn"])
    assert ours / theirs <= 1.2


def test_all_that_is_offered_is_there():
    for name in dir(suffice):
        assert getattr(suffice, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        _ = suffice.no_such


# --- documentation -------------------------------------------------------------------------------------

each_estimator = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)


@each_estimator
def test_documented_parameters_are_the_signature(cls):
    """All of them, in the order of the signature, with the defaults of the signature."""
    parameters = inspect.signature(cls).parameters
    documented = section(cls, "Parameters")
    assert list(documented) == list(parameters)
    for name, kind in documented.items():
        default = re.search(r"default=(.*?)$", kind)
        if cls is TargetEncoder and name in ("shuffle", "random_state") and Version("1.9") > SKLEARN:
            continue  # scikit-learn 1.9 deprecated them; older versions have other defaults
        if default is None:
            assert parameters[name].default in (None, inspect.Parameter.empty), name
        else:
            told, is_so = eval(default[1], {"np": __import__("numpy")}), parameters[name].default
            assert told == is_so or (told != told and is_so != is_so), name  # NaN is a default, too


@each_estimator
def test_row_wise_methods_are_declared(cls):
    """Those that answer for each row say so, take `to`, and have the docstring of their file."""
    for name in ANSWERS:
        method = inspect.getattr_static(cls, name, None)
        if method is not None and inspect.isfunction(inspect.unwrap(method) if callable(method) else None):
            assert inspect.signature(getattr(cls, name)).parameters["to"].default is None, name
            assert "row_wise" in inspect.getdoc(getattr(cls, name)), name


@each_estimator
def test_documented_attributes_are_those_that_exist(cls):
    """Each is there after fit, in some variant at least: what needs an option says so."""
    models = [fitted(v) for v in COMMON if type(v.estimator) is cls]
    options: Any = {BayesianGaussianMixture: {"solver": "gibbs", "max_iter": 9}}  # not among the variants
    options |= {machine: {"probability": True} for machine in (SVC, NuSVC)}
    if cls in options:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # scikit-learn deprecates probabilities
            models.append(fit(cls(random_state=0, **options[cls]), *table("real")))
    for v in COMMON:
        if type(v.estimator) is cls and v.takes == "categories":  # scikit-learn's encoders, without weights
            X, y = v.data()
            models.append(fit(v.make(), X, y, np.ones(len(X))))
    for name in section(cls, "Attributes"):
        assert any(hasattr(model, name) for model in models), name
    told = set(section(cls, "Attributes")) | set(re.findall(r"`(\w+_)`", cls.__doc__))
    told |= {"n_features_in_", "feature_names_in_"}
    for model in models:
        public = {k for k in vars(model) if k.endswith("_") and not k.startswith("_")}
        assert public <= told, public - told


PUBLIC = {
    name: thing
    for name, thing in public_names().items()
    if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("suffice")
}


def test_everything_public_is_documented():
    for name, thing in PUBLIC.items():
        doc = inspect.getdoc(thing)
        assert doc and doc.strip(), name
        assert not doc.startswith(f"{thing.__name__}("), f"{name} has the docstring that dataclasses make"


@each_estimator
def test_estimators_have_runnable_examples(cls):
    doc = inspect.getdoc(cls)
    assert re.search(r"^Examples\n-+\n(.|\n)*>>> ", doc, re.M)
    assert f">>> from {cls.__module__.rsplit('.', 1)[0]} import {cls.__name__}" in doc


@each_estimator
def test_public_methods_are_documented(cls):
    for name, method in inspect.getmembers(cls, callable):
        if not name.startswith("_") and method.__module__.startswith("suffice"):
            assert inspect.getdoc(method), f"{cls.__name__}.{name}"


@each_estimator
def test_documented_names_of_results_are_there(cls):
    """What every fit publishes: what it predicts with, and the sums of a model that has them."""
    for variant in (v for v in COMMON if type(v.estimator) is cls):
        model = fitted(variant)
        if variant.exempt("model"):
            assert not vars(model).keys() & {"model_", "statistics_"}
            continue
        assert isinstance(model.model_, Predictor)
        if isinstance(model.model_, Model):
            assert leaves(model.statistics_)
