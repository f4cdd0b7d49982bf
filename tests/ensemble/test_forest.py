"""Random forests: their samples, their trees, and what is out of bag."""

from __future__ import annotations

import logging

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from sklearn import ensemble as peer
from sklearn.datasets import make_classification, make_friedman1

import suffice
from suffice.core import partitions
from suffice.core.randomness import Purpose, key_of
from suffice.ensemble import RandomForestClassifier, RandomForestRegressor
from suffice.ensemble.draws import Draws
from suffice.estimator.parameters import seed_of
from suffice.tree import DecisionTreeClassifier, growth

from .killed import killed_fit


def classes(n=400, seed=0, **options):
    return make_classification(n, 8, n_informative=4, flip_y=0.1, random_state=seed, **options)


def bits(model):
    parts = {**model.model_.fields(), **model.model_.nodes.fields()}
    return {name: value.tobytes() for name, value in parts.items() if isinstance(value, np.ndarray)}


def draws_of(n, mean=1.0, replacement=True, seed=0):
    data = suffice.partition(np.zeros((n, 1)))
    return data.blocks, Draws.of(data, seed, n, mean, replacement)


@pytest.mark.parametrize("mean", [1.0, 0.3])
def test_draws_are_poisson_and_independent(mean):
    (block,), draws = draws_of(20_000, mean)
    a, b = draws.counts(0, block), draws.counts(1, block)
    expected = stats.poisson.pmf(np.arange(5), mean) * len(a)
    observed = np.bincount(np.minimum(a, 5), minlength=6)
    assert stats.chisquare(observed, np.append(expected, len(a) - expected.sum())).pvalue > 1e-3
    assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(len(a))
    assert abs(np.corrcoef(a[:-1], a[1:])[0, 1]) < 4 / np.sqrt(len(a))


def test_draws_without_replacement():
    (block,), draws = draws_of(20_000, 0.3, replacement=False)
    a = draws.counts(0, block)
    assert set(a) == {0, 1}
    assert abs(a.mean() - 0.3) < 4 * np.sqrt(0.21 / len(a))


def test_draws_do_not_depend_on_blocks_or_rows_without_weight():
    (block,), draws = draws_of(1000)
    whole = draws.counts(3, block)
    parts = suffice.engines.local.LocalPartitions(
        tuple(block[a:b].replace(index=(i,)) for i, (a, b) in enumerate([(0, 10), (10, 600), (600, 1000)]))
    )
    again = Draws.of(parts, 0, 1000, 1.0, True)
    np.testing.assert_array_equal(np.concatenate([again.counts(3, part) for part in parts.blocks]), whole)
    weight = np.ones(1010)
    weight[::101] = 0.0
    holes = suffice.partition(np.zeros((1010, 1)), weight=weight)
    drawn = Draws.of(holes, 0, 1000, 1.0, True).counts(3, holes.blocks[0])
    assert not drawn[weight == 0].any()
    np.testing.assert_array_equal(drawn[weight > 0], whole)


def test_no_sample_is_empty():
    (block,), draws = draws_of(1)
    assert all(draws.counts(m, block)[0] >= 1 for m in range(50))
    model = RandomForestClassifier(20, random_state=0).fit([[1.0]], ["a"])
    assert model.predict([[5.0]]).tolist() == ["a"]


def test_all_rows_and_features_give_the_tree():
    X, y = classes()
    tree = DecisionTreeClassifier(max_depth=6).fit(X, y)
    forest = RandomForestClassifier(3, bootstrap=False, max_features=None, max_depth=6).fit(X, y)
    for one in forest.estimators_:
        np.testing.assert_array_equal(one.predict_proba(X), tree.predict_proba(X))
    np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_)


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_files_and_plans_change_no_bit(cls, tmp_path, monkeypatch):
    X, y = classes()
    names = [f"x{d}" for d in range(X.shape[1])]
    table = pa.table({**dict(zip(names, X.T, strict=True)), "y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=61)
    model = cls(4, random_state=0, oob_score=True, max_features=3)
    expected = bits(model.fit(X, y))
    score = model.oob_score_
    rows = suffice.rows(suffice.scan_parquet(tmp_path / "rows.parquet"), target="y")
    assert bits(model.fit(rows)) == expected
    assert model.oob_score_ == score
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 13)
    assert bits(model.fit(rows)) == expected
    assert model.oob_score_ == score
    with suffice.threads(3):
        assert bits(model.fit(X, y)) == expected


def test_out_of_bag_by_hand():
    X, y = classes(150)
    model = RandomForestClassifier(5, random_state=3, oob_score=True).fit(X, y)
    data = suffice.partition(X)
    draws = Draws.of(data, key_of(Purpose.TREES, seed_of(3)), len(X), 1.0, True)
    total, n = np.zeros((150, 2)), np.zeros(150)
    for m, tree in enumerate(model.estimators_):
        out = draws.counts(m, data.blocks[0]) == 0
        total[out] += tree.predict_proba(X[out])
        n[out] += 1
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(model.oob_decision_function_, total / n[:, None])
    known = n > 0
    assert (~known).any()
    assert model.oob_score_ == np.mean(total[known].argmax(axis=1) == y[known])


def test_out_of_bag_accuracy_on_random_labels_is_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.integers(0, 2, 2000)
    model = RandomForestClassifier(20, random_state=0, oob_score=True).fit(X, y)
    assert model.score(X, y) > 0.9
    assert abs(model.oob_score_ - 0.5) < 3 * 0.5 / np.sqrt(2000)


@pytest.mark.slow
def test_scores_are_those_of_scikit_learn():
    X, y = classes(1500)
    options = {"n_estimators": 30, "random_state": 0, "oob_score": True}
    ours = RandomForestClassifier(**options).fit(X[:1000], y[:1000])
    theirs = peer.RandomForestClassifier(**options).fit(X[:1000], y[:1000])
    error = np.sqrt(2 * 0.1 / 500)
    assert abs(ours.score(X[1000:], y[1000:]) - theirs.score(X[1000:], y[1000:])) < 3 * error
    assert abs(ours.oob_score_ - theirs.oob_score_) < 3 * error
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=0.08)
    X, y = make_friedman1(1200, noise=1.0, random_state=0)
    ours = RandomForestRegressor(**options).fit(X[:800], y[:800])
    theirs = peer.RandomForestRegressor(**options).fit(X[:800], y[:800])
    assert abs(ours.score(X[800:], y[800:]) - theirs.score(X[800:], y[800:])) < 0.03
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.03


def test_warm_start_adds_trees():
    X, y = classes()
    whole = RandomForestClassifier(6, random_state=0).fit(X, y)
    model = RandomForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    assert bits(model.set_params(n_estimators=6).fit(X, y)) == bits(whole)
    with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees"):
        assert bits(model.fit(X, y)) == bits(whole)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
        model.set_params(n_estimators=2).fit(X, y)


def test_a_resumed_fit_has_the_same_bits(tmp_path):
    X, y = classes()
    expected = bits(RandomForestClassifier(6, random_state=0).fit(X, y))
    path = tmp_path / "fit.checkpoint"
    model = RandomForestClassifier(6, random_state=0, checkpoint=path)
    grow, grown = growth.grow, []

    def interrupted(*arguments):
        if len(grown) == 3:
            raise KeyboardInterrupt
        grown.append(1)
        return grow(*arguments)

    with pytest.MonkeyPatch.context() as patch, suffice.threads(1):
        patch.setattr(growth, "grow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert path.exists()
    assert bits(model.fit(X, y)) == expected
    assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["gathered", "folded"])
def test_process_killed_between_trees_goes_on_to_the_same_bits(plan, tmp_path, monkeypatch):
    X, y = classes(3000)
    expected = bits(RandomForestClassifier(9, random_state=0).fit(X, y))
    path = tmp_path / "checkpoint"
    killed_fit(RandomForestClassifier(9, random_state=0), X, y, path)
    if plan == "folded":  # it may go on by another plan
        monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 14)
    again = RandomForestClassifier(9, random_state=0, checkpoint=path).fit(X, y)
    assert bits(again) == expected
    assert not path.exists()


def test_plan_is_logged(monkeypatch, caplog):
    X, y = classes()
    model = RandomForestClassifier(2, random_state=0)
    with caplog.at_level(logging.INFO, "suffice"):
        model.fit(X, y)
        assert "400 rows are gathered" in caplog.text
        caplog.clear()
        monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 13)
        model.fit(X, y)
        assert caplog.text.count("400 rows stay where they are") == 3  # of the forest, and of each tree
        assert "gathered" not in caplog.text


def test_classes_are_balanced_in_each_sample():
    X, y = classes(600, weights=[0.9])
    plain, balanced = (
        RandomForestClassifier(20, max_depth=4, class_weight=weight, random_state=0).fit(X, y)
        for weight in (None, "balanced_subsample")
    )
    recall = [model.predict(X)[y == 1].mean() for model in (plain, balanced)]
    assert recall[1] > recall[0] + 0.1
    root = balanced.model_.nodes.value[balanced.model_.root]
    np.testing.assert_allclose(root, 0.5, atol=1e-12)


def test_paths_and_leaves():
    X, y = classes(100)
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    leaves = model.apply(X)
    assert leaves.shape == (100, 3)
    for m, tree in enumerate(model.estimators_):
        np.testing.assert_array_equal(leaves[:, m], tree.apply(X))
    path, first = model.decision_path(X)
    assert path.shape == (100, first[-1])
    np.testing.assert_array_equal(
        path.toarray()[:, first[1] : first[2]], model.estimators_[1].decision_path(X).toarray()
    )


def test_errors():
    X, y = classes(50)
    with pytest.raises(ValueError, match="only available if bootstrap=True"):
        RandomForestClassifier(2, bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="`max_sample` cannot be set if `bootstrap=False`"):
        RandomForestClassifier(2, bootstrap=False, max_samples=0.5).fit(X, y)
    with pytest.raises(ValueError, match="Sum of y is not strictly positive"):
        RandomForestRegressor(2, criterion="poisson").fit(X, np.zeros(50))
    with pytest.raises(ValueError, match=r"cannot be used to compute OOB estimates: .* and y has 3"):
        RandomForestClassifier(20, oob_score=True).fit(X, np.c_[np.arange(len(X)) % 3, np.arange(len(X)) % 2])
    with pytest.raises(ValueError, match="must be <= n_samples=50"):
        RandomForestClassifier(2, max_samples=51).fit(X, y)
