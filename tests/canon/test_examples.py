"""Every worked example that is due runs through the public API and gives the expected values."""

import importlib

import pytest

from ._canon import EXAMPLES, HERE, RUNNERS, check, is_due

for _file in sorted(HERE.glob("run_*.py")):
    importlib.import_module(f".{_file.stem}", __package__)


def test_every_due_example_is_run():
    due = {name for name in EXAMPLES if is_due(name)}
    assert due == set(RUNNERS)


SLOW = {"gong-xu/gx-p3.10", "gong-xu/gx-p3.11", "gong-xu/gx-p6.4", "gong-xu/gx-p10.9"}  # a minute together


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in sorted(RUNNERS)]
)
def test_example(name):
    check(name)
