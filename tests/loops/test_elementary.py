"""Elementary functions against those of long doubles."""

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
POSITIVE = np.concatenate(
    [np.geomspace(1e-300, 1e300, 6000), np.linspace(0.01, 12.0, 20_000), [1.0, 2.0, 1.4616321449683623]]
)
POINTS["digamma"] = POINTS["log_gamma"] = [POSITIVE]

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
    "digamma": {
        "x": [0.0, -0.0, -1.5, -INF, INF, 5e-324, LARGEST, NAN],
        "digamma": [-INF, INF, NAN, NAN, INF, -INF, LOG_LARGEST, NAN],
    },
    "log_gamma": {
        "x": [0.0, -0.0, -1.5, -INF, INF, 5e-324, LARGEST, NAN],
        "log_gamma": [INF, INF, NAN, NAN, INF, 744.4400719213813, INF, NAN],
    },
}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are float64")
@pytest.mark.parametrize("name", ["exp", "log", "log1p"])
def test_errors_are_below_one_unit_in_the_last_place(name):
    for x in POINTS[name]:
        found = getattr(elementary, name)(x)
        true = getattr(np, name)(x.astype(np.longdouble))
        error = np.abs(found - true) / np.spacing(np.abs(true.astype(np.float64)))
        assert error.max() < 1.0


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long doubles are float64")
def test_errors_of_digamma_and_log_gamma():
    """Against the recurrence over thirty steps, and Stirling's series. Both functions have zeros, so that the
    units are those of the last place of their terms."""
    one, x = np.longdouble(1), POSITIVE.astype(np.longdouble)
    z, steps = x + 30, x[:, None] + np.arange(30)
    j, log_z = 1 / (z * z), np.log(z)
    true = log_z - 0.5 / z - (1 / steps).sum(axis=1)
    true -= j * (one / 12 - j * (one / 120 - j * (one / 252 - j / 240)))
    error = np.abs(elementary.digamma(POSITIVE) - true)
    assert (error < 10 * np.spacing(np.maximum(1.0, np.abs(true.astype(np.float64))))).all()

    true = (z - 0.5) * log_z - z + np.log(2 * np.arccos(-one)) / 2 - np.log(steps).sum(axis=1)
    true += (one / 12 - j * (one / 360 - j * (one / 1260 - j / 1680))) / z
    true = np.where(x < 1e25, true, (x - 0.5) * np.log(x) - x)
    error = np.abs(elementary.log_gamma(POSITIVE) - true)
    terms = np.maximum(30.0, np.abs(true.astype(np.float64)))
    terms = np.maximum(terms, np.minimum(POSITIVE, 1e304) * np.log(POSITIVE + 6.0))
    assert (error < 5 * np.spacing(terms)).all()


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
