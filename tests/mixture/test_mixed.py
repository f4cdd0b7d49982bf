"""Mixtures of columns of several kinds: planted groups, strings, holes, wrong kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.mixture import MixedMixture

rng = np.random.default_rng(0)
GROUP = rng.integers(2, size=400)
TABLE = pd.DataFrame(
    {
        "size": rng.normal(5.0 * GROUP, 1.0),
        "colour": np.where(rng.random(400) < 0.1 + 0.8 * GROUP, "red", "blue"),
        "flag": (rng.random(400) < 0.8 - 0.6 * GROUP).astype(float),
        "visits": rng.poisson(1.0 + 6.0 * GROUP).astype(float),
    }
)


def agreement(labels):
    same = (labels == GROUP).mean()
    return max(same, 1.0 - same)


def fitted(table, **how):
    return MixedMixture(2, **{"kinds": {"visits": "poisson"}, "random_state": 0, **how}).fit(table)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_planted_groups(init):
    model = fitted(TABLE, init_params=init, n_init=3, max_iter=300)
    assert model.kinds_ == ["gaussian", "categorical", "bernoulli", "poisson"]
    assert agreement(model.predict(TABLE)) > 0.98
    high = model.means_[0].argmax()
    assert abs(model.means_[0][high] - 5.0) < 0.3
    assert abs(model.rates_[3][high] - 7.0) < 0.7
    assert list(model.categories_[1]) == ["blue", "red"]
    assert abs(model.probabilities_[1][high, 1] - 0.9) < 0.1
    assert abs(model.probabilities_[2][high] - 0.2) < 0.1
    X, k = model.sample(50)
    assert X.shape == (50, 4) and set(k) <= {0, 1}


def test_holes_weights_and_storage(tmp_path):
    table = TABLE.mask(rng.random(TABLE.shape) < 0.2)
    model = fitted(table)
    assert agreement(model.predict(table)) > 0.9
    weight = rng.integers(0, 3, size=400)
    a = MixedMixture(2, kinds={"visits": "poisson"}, random_state=0).fit(table, sample_weight=weight)
    b = fitted(table.loc[np.repeat(np.arange(400), weight)])
    assert np.isclose(a.lower_bound_, b.lower_bound_, rtol=1e-3)
    model.save(tmp_path / "model")
    other = suffice.load(tmp_path / "model")
    assert (other.predict_proba(table) == model.predict_proba(table)).all()


def test_one_category_constant_and_empty_columns():
    table = TABLE.assign(one="same", flat=3.0, nothing=np.nan)
    model = fitted(table, kinds={"visits": "poisson", "nothing": "gaussian"})
    assert np.isfinite(model.score_samples(table)).all()
    assert agreement(model.predict(table)) > 0.98


def test_one_component_and_empty_components():
    model = MixedMixture(1, kinds={"visits": "poisson"}, random_state=0).fit(TABLE)
    np.testing.assert_allclose(model.means_[0], TABLE["size"].mean())
    np.testing.assert_allclose(model.rates_[3], TABLE["visits"].mean(), rtol=1e-3)
    np.testing.assert_allclose(model.probabilities_[1][0, 1], (TABLE["colour"] == "red").mean(), atol=1e-4)
    few = TABLE.iloc[[0, 1]].loc[np.repeat([0, 1], 10)]
    with pytest.warns(ConvergenceWarning, match="distinct"):
        many = MixedMixture(4, kinds={"visits": "poisson"}, random_state=0).fit(few)
    assert np.isfinite(many.score_samples(few)).all()


def test_planted_groups_far_away():
    far = TABLE.assign(size=np.round(TABLE["size"], 6) + 1e8)
    assert agreement(fitted(far).predict(far)) > 0.98


def test_wrong_kinds_are_refused():
    with pytest.raises(ValueError, match="counts"):
        fitted(TABLE, kinds={"size": "poisson"})
    with pytest.raises(ValueError, match="expected only"):
        fitted(TABLE, kinds={"size": "normal"})
