"""The loops give the same bits at every level of instructions: so does every fit."""

import pytest

from suffice.loops import native

from .other_cpus import hashes_with
from .same_bits import differences

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def here():
    return hashes_with()


@pytest.mark.parametrize("level", native.LEVELS[:-1])
def test_every_fit_has_the_same_bits_at_every_level(level, here):
    assert len(here) > 500
    assert differences(here, hashes_with(SUFFICE_CPU=level)) == {}
