"""Every stream of random numbers has a purpose, and streams of different purposes are independent."""

from __future__ import annotations

import ast
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

import suffice
from suffice.core.blocks import Rows, Sequences
from suffice.core.hashing import example_hashes, is_drawn, parts_of, row_hashes, uniforms
from suffice.core.randomness import Purpose, generator, key_of
from suffice.inputs.shared import ArrowRows

HOME = Path(suffice.__file__).parent
ROWS, SEED = 5000, 1608637542  # the seed of random_state=0
PAIRS = list(combinations(Purpose, 2))


def blocks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(ROWS, 3)), rng.integers(2, size=ROWS)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    ends = np.arange(0, ROWS + 1, 5)
    return {
        "rows": Rows(X),
        "with target": Rows(X, y),
        "categories": Rows(rng.integers(50, size=(ROWS, 3)).astype(str).astype(object)),
        "Arrow": ArrowRows(table),
        "sequences": Sequences(X, ends),
    }


def are_independent(a: np.ndarray, b: np.ndarray, parts: int = 4) -> bool:
    """By the correlation, and by the counts of pairs of parts, at five and six standard deviations."""
    n = len(a)
    table = np.histogram2d(a, b, bins=parts, range=((0, 1), (0, 1)))[0]
    statistic = ((table - n / parts**2) ** 2 / (n / parts**2)).sum()
    return bool(abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(n) and statistic < chi2.isf(1e-8, parts**2 - 1))


@pytest.mark.parametrize("kind", blocks())
def test_hashes_of_any_two_purposes_are_independent(kind):
    block = blocks()[kind]
    u = {purpose: uniforms(example_hashes(block, purpose, SEED)) for purpose in Purpose}
    assert not are_independent(u[Purpose.FOLDS], u[Purpose.FOLDS])
    for one, other in PAIRS:
        assert are_independent(u[one], u[other]), (one, other)


@pytest.mark.parametrize("seed", [0, 1, SEED])
def test_generators_of_any_two_purposes_are_independent(seed):
    u = {purpose: generator(purpose, seed, 3).random(ROWS) for purpose in Purpose}
    for one, other in PAIRS:
        assert are_independent(u[one], u[other]), (one, other)
    assert len({key_of(purpose, seed) for purpose in Purpose}) == len(Purpose)


def test_counters_and_purposes_do_not_coincide():
    """The counter of a stream is not the number of another's purpose."""
    states = {
        (purpose, seed): key_of(purpose, *seed)
        for purpose in Purpose
        for seed in [(a, b) for a in range(25) for b in range(1, 25)] + [(a,) for a in range(25)]
    }
    assert len(set(states.values())) == len(states)


def test_rows_for_validation_are_spread_over_folds_and_parts():
    block = blocks()["with target"]
    held = is_drawn(block, 0.1, Purpose.VALIDATION, SEED)
    assert 0.08 < held.mean() < 0.12
    counts = np.bincount(parts_of(block, 5, Purpose.FOLDS, SEED)[held], minlength=5)
    np.testing.assert_allclose(counts / held.sum(), 0.2, atol=0.08)


def test_a_purpose_is_stable():
    """The numbers of a purpose are the same in every version: folds of a saved search can be drawn again."""
    assert row_hashes(np.array([[1.0, 2.0]]), Purpose.FOLDS, 0).tolist() == [214065703948674325]
    assert [purpose.value for purpose in Purpose] == list(range(len(Purpose)))


# --- the house: who draws, says for what -----------------------------------------------------------------

HASHES = {"row_hashes": 1, "example_hashes": 1, "parts_of": 2, "is_drawn": 2, "hashed": 2, "row_uniforms": 2}
STREAMS = {"generator": 0, "key_of": 0}


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def without_purpose(tree: ast.AST) -> list[int]:
    """The lines of calls of a hash or a stream whose purpose is no purpose."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := called(node)) in (HASHES | STREAMS):
            place = (HASHES | STREAMS)[name]
            if isinstance(node.func, ast.Attribute) and name == "example_hashes":  # the method of a block
                place -= 1
            purpose = node.args[place] if len(node.args) > place else None
            named = isinstance(purpose, ast.Attribute) and getattr(purpose.value, "id", "") == "Purpose"
            passed_on = "purpose" in (getattr(purpose, "id", ""), getattr(purpose, "attr", ""))
            if not named and not passed_on:
                lines.append(node.lineno)
    return lines


def raw_streams(tree: ast.AST) -> list[int]:
    """The lines of calls that make a generator of NumPy."""
    raw = ("default_rng", "Generator", "SeedSequence", "PCG64")
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and called(n) in raw]


FILES = sorted(HOME.rglob("*.py"))


def test_every_hash_and_every_stream_has_a_purpose():
    for path in FILES:
        assert without_purpose(ast.parse(path.read_text())) == [], path


def test_generators_are_made_in_one_module():
    """But for functions whose `random_state` may be a generator, or which document its seed."""
    makes = {str(p.relative_to(HOME)) for p in FILES if raw_streams(ast.parse(p.read_text()))}
    of_the_user = {"factor_analysis.py", "factor_number.py"}
    allowed = {f"decomposition/{name}" for name in of_the_user} | {"model_selection/bias_variance.py"}
    assert makes == {"core/randomness.py"} | allowed


@pytest.mark.parametrize(
    "line",
    [
        "row_hashes(X, 0)",
        "example_hashes(block, seed)",
        "parts_of(b, 3, seed)",
        "generator(seed, 3)",
        "key_of()",
    ],
)
def test_the_house_sees_a_missing_purpose(line):
    assert without_purpose(ast.parse(line)) == [1]
    assert raw_streams(ast.parse("np.random.default_rng(0)")) == [1]
