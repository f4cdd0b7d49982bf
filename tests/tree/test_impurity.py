"""Impurity, information gain and gain ratio, against their definitions."""

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from suffice.tree import conditional_entropy, impurity, information_gain, information_gain_ratio

rng = np.random.default_rng(0)
FEATURE = rng.choice(["ash", "elm", "oak"], size=200)
Y = np.where(rng.random(200) < 0.3, rng.integers(3, size=200), (FEATURE == "elm").astype(int))


def test_impurity_is_of_shares_along_the_last_axis():
    counts = rng.integers(1, 9, size=(4, 2, 3))
    p = counts / counts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(impurity(counts), 1.0 - (p**2).sum(axis=-1))
    np.testing.assert_allclose(impurity(p, "entropy"), entropy(p, base=2, axis=-1))
    np.testing.assert_allclose(impurity(counts, "misclassification"), 1.0 - p.max(axis=-1), atol=1e-15)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_pure_and_empty_nodes_have_none(criterion):
    np.testing.assert_array_equal(impurity([[0, 0, 0], [0, 7, 0]], criterion), 0.0)


def test_gain_is_mutual_information():
    gain = information_gain(FEATURE, Y)
    np.testing.assert_allclose(gain, mutual_info_score(FEATURE, Y) / np.log(2.0))
    own = entropy(np.bincount(Y), base=2)
    np.testing.assert_allclose(gain, own - conditional_entropy(FEATURE, Y))
    of_feature = entropy(np.unique(FEATURE, return_counts=True)[1], base=2)
    np.testing.assert_allclose(information_gain_ratio(FEATURE, Y), gain / of_feature)


@pytest.mark.parametrize("f", [conditional_entropy, information_gain, information_gain_ratio])
def test_weight_is_repetition(f):
    times = rng.integers(4, size=200)
    again = np.repeat(np.arange(200), times)
    np.testing.assert_allclose(f(FEATURE, Y, sample_weight=times), f(FEATURE[again], Y[again]))


def test_missing_values_scale_the_gain():
    feature = np.where(np.arange(200) % 4 == 0, None, FEATURE.astype(object))
    known = np.arange(200) % 4 != 0
    gain = information_gain(FEATURE[known], Y[known])
    np.testing.assert_allclose(information_gain(feature, Y), 0.75 * gain)
    np.testing.assert_allclose(conditional_entropy(feature, Y), conditional_entropy(FEATURE[known], Y[known]))
    with_missing = np.where(known, FEATURE, "none")
    of_feature = entropy(np.unique(with_missing, return_counts=True)[1], base=2)
    np.testing.assert_allclose(information_gain_ratio(feature, Y), 0.75 * gain / of_feature)


def test_a_constant_feature_tells_nothing():
    assert information_gain(np.zeros(200), Y) == information_gain_ratio(np.zeros(200), Y) == 0.0


def test_errors():
    with pytest.raises(ValueError, match="non-negative"):
        impurity([-1.0, 2.0])
    with pytest.raises(ValueError, match="criterion must be"):
        impurity([1.0, 2.0], "variance")
    with pytest.raises(ValueError, match="same length"):
        information_gain([1, 2], [1])
    with pytest.raises(ValueError, match="sample_weight"):
        information_gain([1, 2], [0, 1], [1.0, -1.0])
