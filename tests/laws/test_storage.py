"""Storage: what was saved comes back to the bit, what was changed is refused, and nothing is run."""

from __future__ import annotations

import builtins
import json
import os
import pickle
import struct
import subprocess
from collections.abc import Callable
from typing import Any, get_args, get_origin

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as read
from safetensors.numpy import save as write
from sklearn.base import clone

import suffice
from suffice.cluster import KMeans
from suffice.core.shapes import _PARTS, _SHAPE, declared, sizes_of
from suffice.core.storage import FORMAT, StorageError, _digest, load_value, save_value
from suffice.core.values import Value
from suffice.decomposition import PCA
from suffice.families import GaussianPrior
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import MixedNB

from .registry import (
    ESTIMATORS,
    EVERY,
    VARIANTS,
    _ours,
    answers,
    bits,
    each_variant,
    fit,
    fitted,
    in_one_call,
    is_distinct,
    parts_of,
)


def stored(model, folder, name="model.suffice"):
    path = folder / name
    model.save(path)
    return path


def assert_same_estimator(a, b, X=None):
    assert type(a) is type(b)
    assert bits(a.get_params(deep=False)) == bits(b.get_params(deep=False))
    ours, theirs = ({k: v for k, v in vars(m).items() if not k.startswith("_skl")} for m in (a, b))
    assert ours.keys() == theirs.keys()
    assert bits(ours) == bits(theirs)
    if X is not None:
        assert bits(answers(a, X)) == bits(answers(b, X))


@each_variant(is_distinct, takes=("rows", "sequences", "curve", "documents", "edges", "kernel"))
def test_saved_and_loaded(variant, tmp_path):
    X, _ = variant.data()
    model = fitted(variant)
    assert_same_estimator(suffice.load(stored(model, tmp_path)), model, X)
    assert [p.name for p in tmp_path.iterdir()] == ["model.suffice"]  # and nothing is left beside it


def holds_arrays(value):
    return isinstance(value, np.ndarray) or (isinstance(value, tuple) and any(map(holds_arrays, value)))


@each_variant(takes=("rows", "sequences", "curve", "documents", "edges", "kernel"))
def test_arrays_have_declared_shapes(variant):
    """So that a file with others is refused: compiled loops read them without a look at their bounds."""
    for value in parts_of(list(vars(fitted(variant)).values())):
        for name, part in value.fields().items():
            declaration = declared(type(value))[name][1]
            assert declaration or not holds_arrays(part), f"{type(value).__name__}.{name} declares no shape"
        sizes_of(value)


def is_array(hint):
    return hint is np.ndarray or (get_origin(hint) is not Callable and any(map(is_array, get_args(hint))))


@pytest.mark.parametrize("cls", _ours(Value.known, Value), ids=lambda cls: cls.__name__)
def test_fields_of_arrays_declare_their_shapes(cls):
    if "__dataclass_fields__" not in vars(cls):
        return
    for name, (hint, declaration) in declared(cls).items():
        assert declaration or not is_array(hint), f"{cls.__name__}.{name} is an array of no declared shape"
        for one in (declaration or "").split(" or ") if declaration else ():
            assert one in ("number", "None") or _SHAPE.fullmatch(one) or _PARTS.fullmatch(one), one


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_estimators_declare_their_model(cls):
    if any(v.exempt("model") for v in VARIANTS if type(v.estimator) is cls):
        assert "model_" not in declared(cls)
        return
    assert declared(cls)["model_"][0] is not Any


@each_variant(is_distinct, takes=EVERY)
def test_saved_and_loaded_before_fit(variant, tmp_path):
    assert_same_estimator(suffice.load(stored(variant.make(), tmp_path)), variant.make())


@each_variant(is_distinct, takes=EVERY)
def test_what_is_loaded_goes_on(variant, tmp_path):
    """It can be fitted again, and to the same bits; statistics that were stored are added to."""
    X, y = variant.data()
    model = suffice.load(stored(fitted(variant), tmp_path))
    if hasattr(model, "partial_fit") and not in_one_call(variant):
        more = pickle.loads(pickle.dumps(fitted(variant)))
        assert bits(model.partial_fit(X, y)) == bits(more.partial_fit(X, y))
    assert bits(fit(model, X, y)) == bits(fitted(variant))


@each_variant(is_distinct, takes=EVERY)
def test_pickled(variant):
    X, _ = variant.data()
    assert_same_estimator(pickle.loads(pickle.dumps(fitted(variant))), fitted(variant), X)


@each_variant(is_distinct, takes=EVERY)
def test_cloned(variant):
    X, y = variant.data()
    fresh = clone(fitted(variant))
    assert not hasattr(fresh, "model_")
    assert bits(fresh.get_params()) == bits(variant.estimator.get_params())
    assert bits(fit(fresh, X, y)) == bits(fitted(variant))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2**70,
        0.1,
        -0.0,
        float("inf"),
        float("nan"),
        "ünïcode \x00 \U0001f600",
        "",
        (),
        [],
        {},
        (1, (2.0, "a"), [None, {"k": (1,)}]),
        {1: "a", "b": 2.0, (1, 2): 3},
        np.float64(0.1),
        np.float32(0.1),
        np.int8(-5),
        np.bool_(True),
        np.str_("a"),
        np.array(3.0),
        np.empty((0, 4)),
        np.arange(6, dtype=np.int32).reshape(2, 3).T,
        np.array([True, False]),
        np.array([[1.5, np.nan], [-np.inf, -0.0]]),
        np.array(["a", "bcd", "ü"]),
        np.array([["a", None], [1.5, True]], dtype=object),
        np.array([1.5, 2.5], dtype=np.float16),
        np.array([2**63], dtype=np.uint64),
        np.array([1.5, 2.5])[::-1],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        GaussianPrior(np.zeros(2), 1.0, np.eye(2), 3.0),
    ],
    ids=repr,
)
def test_values_come_back(value, tmp_path):
    save_value(value, tmp_path / "v")
    back = load_value(tmp_path / "v")
    assert bits(back) == bits(value)
    assert type(back) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        lambda x: x,
        {1, 2},
        b"bytes",
        1j,
        np.array([1j]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([1], dtype=np.longdouble),
        np.array([object()], dtype=object),
        os.system,
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_cannot_be_stored_is_refused_by_name(value, tmp_path):
    model = KMeans()
    model.strange_ = value
    with pytest.raises(TypeError, match="strange_"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_arrays_of_the_other_byte_order_come_back_as_numbers(tmp_path):
    save_value(np.array([1.5, -2.0], dtype=">f8"), tmp_path / "v")
    assert load_value(tmp_path / "v").tolist() == [1.5, -2.0]


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = stored(fitted(VARIANTS[0]), tmp_path)
    before = path.read_bytes()
    broken = clone(VARIANTS[0].estimator)
    broken.strange_ = object()
    with pytest.raises(TypeError):
        broken.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.suffice"]


# --- a file with a changed byte ------------------------------------------------------------------------


def small_model():
    return KMeans(2, init=np.array([[0.0], [9.0]])).fit([[0.0], [1.0], [8.0], [9.0]])


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Files with every kind of content: arrays, strings, objects, tuples, dicts, values."""
    folder = tmp_path_factory.mktemp("samples")
    X = np.array([[1.0, "red"], [1.2, "red"], [3.1, "blue"], [2.9, None]], dtype=object)
    models = [
        small_model(),
        MixedNB(kinds=["gaussian", "categorical"]).fit(X, ["a", "a", "b", "b"]),
        GaussianMixture(prior=GaussianPrior(0.0, 1.0, 1.0, 3.0)).fit([[0.0], [1.0], [3.0]]),
        PCA(),
    ]
    return [(model, stored(model, folder, f"{n}").read_bytes()) for n, model in enumerate(models)]


def is_right_or_refused(content, model, path):
    path.write_bytes(content)
    try:
        found = suffice.load(path)
    except StorageError as refused:
        assert str(path) in str(refused)
        return "refused"
    assert_same_estimator(found, model)
    return "right"


def test_any_byte_changed_is_right_or_refused(tmp_path):
    """Every byte of one file, by a bit of it."""
    model = small_model()
    content = stored(model, tmp_path).read_bytes()
    rng = np.random.default_rng(0)
    outcomes = set()
    for at in range(len(content)):
        value = content[at] ^ (1 << rng.integers(8))
        changed = content[:at] + bytes([value]) + content[at + 1 :]
        outcomes.add(is_right_or_refused(changed, model, tmp_path / "changed"))
    assert "refused" in outcomes


@given(data=st.data())
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_change_is_right_or_refused(data, samples, tmp_path):
    """Of any file: bytes changed, cut out, put in, swapped."""
    model, content = data.draw(st.sampled_from(samples))
    a = data.draw(st.integers(0, len(content)))
    b = data.draw(st.integers(a, min(a + 20, len(content))))
    new = data.draw(st.binary(max_size=20))
    is_right_or_refused(content[:a] + new + content[b:], model, tmp_path / "changed")


@pytest.mark.parametrize("which", range(4))
def test_cut_short_or_drawn_out_is_refused(which, samples, tmp_path):
    model, content = samples[which]
    for n in [*range(0, 64), *range(64, len(content), 37), len(content) - 1]:
        assert is_right_or_refused(content[:n], model, tmp_path / "short") == "refused"
    for extra in (b"\0", b"x" * 100, content):
        assert is_right_or_refused(content + extra, model, tmp_path / "long") == "refused"


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_is_refused(tmp_path, noise):
    path = tmp_path / "noise"
    for content in (noise, struct.pack("<Q", len(noise)) + noise):
        path.write_bytes(content)
        with pytest.raises(StorageError):
            suffice.load(path)


def test_another_version_is_refused(tmp_path):
    path = stored(small_model(), tmp_path)
    content = path.read_bytes()
    path.write_bytes(content.replace(f'"suffice":"{FORMAT}"'.encode(), b'"suffice":"9"'))
    with pytest.raises(StorageError, match="format 9"):
        suffice.load(path)


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        suffice.load(tmp_path / "nothing")


# --- nothing is run ------------------------------------------------------------------------------------


def forged(path, tree, arrays=None):
    """A file of ours with any content, whole and with the right digest: what an attacker would send."""
    arrays, text = arrays or {}, json.dumps(tree)
    metadata = {"suffice": FORMAT, "value": text, "digest": _digest(text, arrays)}
    path.write_bytes(write(arrays, metadata))
    return path


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "posix.system",
        "builtins.eval",
        "builtins.object",
        "subprocess.Popen",
        "pickle.loads",
        "sklearn.base.BaseEstimator",
        "suffice.core.storage.load_value",
        "suffice.core.storage.os.system",
        "suffice.cluster.KMeans",
        "suffice.no.such.Thing",
        "",
        "os",
    ],
)
def test_classes_that_are_not_ours_are_refused(name, tmp_path, monkeypatch):
    ran = []
    for module, function in ((os, "system"), (builtins, "eval"), (pickle, "loads"), (subprocess, "Popen")):
        monkeypatch.setattr(module, function, lambda *args, **kwargs: ran.append(args))
    for tree in (
        {"class": name, "fields": {"command": "echo"}},
        {"class": name, "fields": {}},
        {
            "class": "suffice.estimator.StoredEstimator",
            "fields": {
                "estimator": name if name != "suffice.cluster.KMeans" else "os.system",
                "version": "0",
                "params": {"dict": []},
                "fitted": {"dict": []},
            },
        },
    ):
        with pytest.raises(StorageError):
            suffice.load(forged(tmp_path / "f", tree))
        assert not ran


def test_pickles_are_refused(tmp_path):
    mark = tmp_path / "it ran"
    payload = pickle.dumps(Trap(mark))
    path = tmp_path / "f"
    for content in (payload, struct.pack("<Q", len(payload)) + payload):
        path.write_bytes(content)
        with pytest.raises(StorageError):
            suffice.load(path)
    tree = {"array": "a", "shape": [len(payload)]}
    raw = np.frombuffer(payload, dtype=np.uint8)
    with pytest.raises(StorageError):
        suffice.load(forged(tmp_path / "f", tree, {"a": raw}))
    assert not mark.exists()


@pytest.mark.parametrize(
    "tree",
    [
        3,
        None,
        "text",
        [],
        {},
        {"class": "suffice.cluster.Centers", "fields": {"center": 1.0}},
        {"class": "suffice.cluster.Centers", "fields": {}},
        {"class": "suffice.cluster.Centers", "fields": {"wrong": 1.0}},
        {"class": "suffice.core.Model", "fields": {}},
        {"class": 3, "fields": {}},
        {"class": "suffice.cluster.Centers", "fields": []},
        {"array": "missing", "shape": [1]},
        {"scalar": "O", "value": 1},
        {"scalar": "no dtype", "value": 1},
        {"strings": ["a"], "dtype": "<U1", "shape": [5]},
        {"strings": 3, "dtype": "<U1", "shape": [1]},
        {"dict": [1, 2]},
        {"dict": [[{"list": []}, 1]]},
        {"tuple": 4},
    ],
    ids=str,
)
def test_nonsense_with_a_right_digest_is_refused(tree, tmp_path):
    with pytest.raises(StorageError):
        suffice.load(forged(tmp_path / "f", tree))


def test_params_that_the_class_does_not_have_are_refused(tmp_path):
    fields = {
        "estimator": "suffice.cluster.KMeans",
        "version": "0",
        "params": {"dict": [["no_such_parameter", 1]]},
        "fitted": {"dict": []},
    }
    with pytest.raises(StorageError):
        suffice.load(forged(tmp_path / "f", {"class": "suffice.estimator.StoredEstimator", "fields": fields}))


def test_the_file_is_safetensors(tmp_path):
    """Other tools read its arrays, and the rest of it is text."""
    content = stored(small_model(), tmp_path).read_bytes()
    assert all(isinstance(a, np.ndarray) for a in read(content).values())
    length = struct.unpack("<Q", content[:8])[0]
    assert json.loads(content[8 : 8 + length])["__metadata__"]["suffice"] == FORMAT
