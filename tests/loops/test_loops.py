"""Compiled loops compute what their NumPy references do, with the same bits at every level."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from suffice.loops import native

from .stubs import STUB, parsed, written

LEVELS = {level: import_module(f"suffice.loops._{level}") for level in native.LEVELS}
TOPICS = sorted(name for name, value in vars(native.loops).items() if inspect.ismodule(value))
# about the sizes of lanes, tiles and blocks of points
SIZES = [(0, 3, 2), (1, 1, 1), (7, 2, 3), (8, 4, 8), (9, 5, 9), (127, 3, 4), (129, 9, 17), (300, 20, 33)]


def cases(*topics):
    """The topic, the name, the sizes and the arguments of calls that try every loop."""
    for topic in topics or TOPICS:
        for size in SIZES:
            for name, arguments in import_module(f".cases.{topic}", __package__).cases(*size):
                yield topic, name, size, arguments


def call(loop, arguments):
    """What the loop returns, and what it writes to its arguments."""
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    out = loop(*arguments)
    written = [a for a in arguments if not isinstance(a, tuple)]  # nothing is written to arrays in tuples
    return [*(out if isinstance(out, tuple) else [] if out is None else [out]), *written]


def with_another(arguments):
    """The arguments with each array that is not empty, also in a tuple, replaced by one of another type or
    order."""
    for i, value in enumerate(arguments):
        if isinstance(value, tuple):
            others = [tuple(members) for members in with_another(value)]
        elif isinstance(value, np.ndarray) and value.size:  # what is empty has any order
            with np.errstate(over="ignore"):
                half = value.astype(np.float16)
            strided = np.repeat(value, 2, axis=-1)[..., ::2]
            others = [half, value.tolist(), *([] if strided.flags.c_contiguous else [strided])]
        else:
            continue
        for other in others:
            yield [*arguments[:i], other, *arguments[i + 1 :]]


def bindings():
    """Every compiled loop, with its name."""
    for topic in TOPICS:
        for name, loop in vars(getattr(native.loops, topic)).items():
            if type(loop).__name__ == "nb_func":
                yield f"{topic}.{name}", loop


@pytest.mark.parametrize("topic", TOPICS)
def test_loops_compute_what_their_references_do(topic):
    reference = import_module(f".reference.{topic}", __package__)
    with np.errstate(all="ignore"):
        for _, name, size, arguments in cases(topic):
            found = call(getattr(getattr(native.loops, topic), name), arguments)
            expected = call(getattr(reference, name), arguments)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"{name} {size}")


def test_every_loop_has_cases_and_the_name_of_its_binding():
    assert {f"{topic}.{name}" for topic, name, *_ in cases()} == {name for name, _ in bindings()}
    for name, loop in bindings():
        topic, _, name = name.partition(".")
        assert getattr(import_module(f"suffice.loops.{topic}"), name) is loop


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_has_the_same_bits(level):
    for topic, name, size, arguments in cases():
        found = call(getattr(getattr(LEVELS[level], topic), name), arguments)
        expected = call(getattr(getattr(native.loops, topic), name), arguments)
        for a, b in zip(found, expected, strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), (name, size)


def test_nothing_is_converted():
    """A converted copy would lose what is written to it."""
    seen = 0
    for topic, name, size, arguments in cases():
        if size != (9, 5, 9):
            continue
        loop = getattr(getattr(native.loops, topic), name)
        for others in with_another(arguments):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                loop(*others)
            seen += 1
    assert seen > 3 * len(list(bindings()))


def test_shapes_are_checked():
    X, points = np.zeros((5, 3)), np.zeros((2, 4))
    with pytest.raises(ValueError, match="same features"):
        native.loops.distances.nearest(X, points)
    with pytest.raises(ValueError, match="numbers of points"):
        native.loops.distances.sums_by_label(X, np.ones(5), np.full(5, 2), np.zeros((2, 3)))
    U, moves, offset = np.zeros((5, 3)), np.zeros((1, 3, 3)), np.array([0, 2, 5])
    with pytest.raises(ValueError, match=r"moves must be \(1, K, K\) or \(N, K, K\)"):
        native.loops.chains.best_paths(U, np.zeros(3), np.zeros((2, 3, 3)), offset)
    for wrong in [0, 2, 6], [-1, 2, 5], [0, 3, 2], []:
        with pytest.raises(ValueError, match="offset must"):
            native.loops.chains.best_paths(U, np.zeros(3), moves, np.array(wrong, np.int64))


def test_level_by_the_environment():
    def level(name):
        code = "from suffice.loops import native; print(native.LEVEL, native.loops.__name__)"
        environment = {**os.environ, "SUFFICE_CPU": name}
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)

    lowest = native.LEVELS[0]
    assert level(lowest).stdout.split() == [lowest, f"suffice.loops._{lowest}"]
    assert level("").stdout.split()[0] == native.LEVELS[-1]
    assert "SUFFICE_CPU is 'v9': set one that this CPU has" in level("v9").stderr


def test_parameters_have_the_names_of_the_reference():
    for name, loop in bindings():
        topic, _, name = name.partition(".")
        reference = getattr(import_module(f".reference.{topic}", __package__), name)
        parameters = re.findall(r"(\w+): ", loop.__doc__.partition(" -> ")[0])
        assert parameters == list(inspect.signature(reference).parameters), name


def test_types_are_those_of_the_bindings():
    assert parsed(STUB.read_text()) == parsed(written()), "run python -m tests.loops.stubs"
