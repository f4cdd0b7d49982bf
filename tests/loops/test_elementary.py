"""exp, log and log1p against those of long doubles."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops import elementary

RNG = np.random.default_rng(0)
LOGS = RNG.uniform(-745.0, 709.7, 100_000)
NEAR = RNG.normal(size=100_000) * 1e-5

POINTS = {
    "exp": [LOGS, RNG.uniform(-1, 1, 100_000), NEAR, np.linspace(-745.2, -708, 10_000)],
    "log": [np.exp(LOGS), RNG.uniform(0.4, 2.5, 100_000), 1.0 + NEAR, RNG.uniform(0, 1e-308, 10_000)],
    "log1p": [np.exp(LOGS), -np.exp(LOGS[LOGS < -1e-9]), RNG.uniform(-0.999, 2.5, 100_000), NEAR],
}

INF, NAN = np.inf, np.nan
LARGEST, LOG_LARGEST = 1.7976931348623157e308, 709.782712893384
ENDS = {
    "exp": {
        "x": [0.0, -0.0, 5e-324, INF, -INF, 709.7827128933841, 1e308, -745.1332191019411, -746.0, -1e9, NAN],
        "exp": [1.0, 1.0, 1.0, INF, 0.0, INF, INF, 5e-324, 0.0, 0.0, NAN],
    },
    "log": {
        "x": [0.0, -0.0, 1.0, INF, -INF, -1.0, -5e-324, 5e-324, LARGEST, NAN],
        "log": [-INF, -INF, 0.0, INF, NAN, NAN, NAN, -744.4400719213812, LOG_LARGEST, NAN],
    },
    "log1p": {
        "x": [0.0, -0.0, -1.0, -1.5, -INF, INF, 5e-324, -5e-324, LARGEST, NAN],
        "log1p": [0.0, -0.0, -INF, NAN, NAN, INF, 5e-324, -5e-324, LOG_LARGEST, NAN],
    },
}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are float64")
@pytest.mark.parametrize("name", POINTS)
def test_errors_are_below_one_unit_in_the_last_place(name):
    for x in POINTS[name]:
        found = getattr(elementary, name)(x)
        true = getattr(np, name)(x.astype(np.longdouble))
        error = np.abs(found - true) / np.spacing(np.abs(true.astype(np.float64)))
        assert error.max() < 1.0


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_the_range(name):
    x, expected = (np.array(values) for values in ENDS[name].values())
    found = getattr(elementary, name)(x)
    np.testing.assert_array_equal(found, expected)
    numbers = expected == expected
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("name", POINTS)
def test_a_number_has_the_same_bits_beside_others_and_alone(name):
    loop, ends = getattr(elementary, name), np.array(ENDS[name]["x"])
    for x in *POINTS[name], np.concatenate([ends, ends]):
        x = x[:999]
        alone = np.concatenate([loop(x[i : i + 1]) for i in range(len(x))])
        assert loop(x).tobytes() == alone.tobytes()
