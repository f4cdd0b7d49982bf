"""Models averaged by their evidence: against integrals, enumeration, and one fit for each subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from suffice.linear_model import BayesianLinearRegression, BayesianModelAveraging, model_probabilities

from ..laws.registry import recorded_folds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X @ [1.5, 0.0, -0.4, 0.0] + 2.0 + 0.8 * RNG.normal(size=40)
SUBSETS = [subset for k in range(5) for subset in combinations(range(4), k)]


def test_evidences_are_densities():
    """Without an intercept: the targets of a subset are normal, and that is the density of them."""
    how = {"prior_precision": 2.0, "noise_precision": 1.5, "fit_intercept": False}
    model = BayesianModelAveraging(**how).fit(X, Y)
    assert model.subsets_ == SUBSETS
    for subset, found in zip(SUBSETS, model.log_evidences_, strict=True):
        part = X[:, list(subset)]
        covariance = part @ part.T / 2.0 + np.eye(40) / 1.5
        assert found == pytest.approx(multivariate_normal(np.zeros(40), covariance).logpdf(Y))
    weight = np.exp(model.log_evidences_ - model.log_evidences_.max())
    np.testing.assert_allclose(model.probabilities_, weight / weight.sum(), rtol=1e-12)
    mean = np.log(np.mean(np.exp(model.log_evidences_)))
    assert model.log_evidence_ == pytest.approx(mean)


@pytest.mark.parametrize("learnt", [False, True], ids=["given", "learnt"])
def test_one_fit_for_each_subset(learnt):
    """And one reading of the data for all of them."""
    how = {"noise_precision": "evidence" if learnt else 1.5, "prior_precision": 0.7}
    prior = RNG.dirichlet(np.ones(16))
    with recorded_folds() as seen:
        model = BayesianModelAveraging(subset_prior=prior, **how).fit(X, Y)
    assert len(seen) == 1
    coef, mean, square = np.zeros(4), 0.0, 0.0
    new = RNG.normal(size=(6, 4))
    for subset, p, evidence in zip(SUBSETS, model.probabilities_, model.log_evidences_, strict=True):
        if not subset:
            line = BayesianModelAveraging(subsets=[[]], **how).fit(X, Y)
        else:
            line = BayesianLinearRegression(**how).fit(X[:, list(subset)], Y)
            assert line.log_evidence_ == pytest.approx(evidence)
            coef[list(subset)] += p * line.coef_
        m, s = line.predict(new if not subset else new[:, list(subset)], return_std=True)
        mean, square = mean + p * m, square + p * (s**2 + m**2)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)
    m, s = model.predict(new, return_std=True)
    np.testing.assert_allclose(m, mean, rtol=1e-9)
    np.testing.assert_allclose(s, np.sqrt(square - mean**2), rtol=1e-8)
    within = [sum(p for q, p in zip(SUBSETS, model.probabilities_, strict=True) if d in q) for d in range(4)]
    np.testing.assert_allclose(model.inclusion_probabilities_, within)


def test_of_nothing_but_the_mean():
    """The model without features: its intercept is flat, and its noise given."""
    line = BayesianModelAveraging(subsets=[[]], noise_precision=2.0).fit(X, Y)
    mean, std = line.predict(X[:1], return_std=True)
    assert mean.item() == pytest.approx(Y.mean())
    assert std.item() == pytest.approx(np.sqrt(0.5 * (1.0 + 1.0 / 40)))


def test_what_matters_is_found():
    model = BayesianModelAveraging(noise_precision="evidence").fit(X, Y)
    assert model.inclusion_probabilities_[0] > 0.999
    assert model.inclusion_probabilities_[[1, 3]].max() < 0.6
    few = BayesianModelAveraging(max_features=1).fit(X, Y)
    assert few.subsets_ == [(), (0,), (1,), (2,), (3,)]
    nested = BayesianModelAveraging(subsets=[[0], [0, 1], [0, 1, 2]]).fit(X, Y)
    assert nested.probabilities_.shape == (3,)


def test_probabilities():
    total, p = model_probabilities(np.log([1.28e-8, 1.44e-8]), [0.3, 0.7])
    assert np.exp(total) == pytest.approx(1.392e-8)
    np.testing.assert_allclose(p, [0.3 * 1.28 / 1.392, 0.7 * 1.44 / 1.392])
    np.testing.assert_allclose(model_probabilities([-1e5, -1e5 - 1.0])[1][0], 1.0 / (1.0 + np.exp(-1.0)))
    assert model_probabilities([0.0, 5.0], [1.0, 0.0])[1].tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="one for each model"):
        model_probabilities([0.0, 1.0], [1.0])
    with pytest.raises(ValueError, match="not be negative"):
        model_probabilities([0.0, 1.0], [1.0, -1.0])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"subsets": [[0, 7]]}, "from 0 to 3"),
        ({"subsets": [[0, 0]]}, "different"),
        ({"subsets": []}, "subsets"),
        ({"subset_prior": [1.0]}, "one number for each"),
        ({"prior_precision": [1.0, 2.0, 3.0, 4.0]}, "'prior_precision' parameter"),
        ({"noise_precision": -1.0}, "'noise_precision' parameter"),
    ],
    ids=str,
)
def test_refused(params, said):
    with pytest.raises(ValueError, match=said):
        BayesianModelAveraging(**params).fit(X, Y)


def test_many_features():
    """Subsets of as many features as there are in some thousands, or of so many as are asked for."""
    rows = np.random.default_rng(1).normal(size=(50, 20))
    model = BayesianModelAveraging().fit(rows, rows[:, 3] - rows[:, 7])
    assert len(model.subsets_) == 1 + 20 + 190 + 1140
    assert model.subsets_[model.probabilities_.argmax()] == (3, 7)
    with pytest.raises(ValueError, match="max_features"):
        BayesianModelAveraging(max_features=9).fit(rows, rows[:, 0])
