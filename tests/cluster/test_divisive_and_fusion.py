"""Splits, fusion, the number of clusters, and features of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from suffice.cluster import (
    DivisiveClustering,
    FusionClustering,
    KMeans,
    choose_k,
    describe_clusters,
    dissimilarity,
    is_cluster,
    sums_of_squares,
)

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(3), 20)
X = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 60.0]])[GROUP] + RNG.normal(size=(60, 2))


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("how", [{}, {"micro_clusters": 30}, {"metric": "manhattan"}])
def test_splits_find_planted_groups_anywhere(how, shift):
    model = DivisiveClustering(3, random_state=0, **how).fit(X + shift)
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert model.diameters_[0] >= model.diameters_[1]
    assert np.array_equal(model.predict(X + shift), model.labels_)


def test_splits_of_precomputed_distances_and_of_all_rows():
    D = cdist(X, X)
    matrix, rows = DivisiveClustering(5, metric="precomputed").fit(D), DivisiveClustering(5).fit(X)
    assert adjusted_rand_score(matrix.labels_, rows.labels_) == 1.0
    np.testing.assert_allclose(matrix.diameters_, rows.diameters_)
    assert rows.diameters_[0] == pytest.approx(D.max())
    full = DivisiveClustering(None).fit(np.repeat(X[:10], 3, axis=0))
    assert full.n_clusters_ == 10 and len(full.splits_) == 9  # equal rows stay together


def objective(M, rows, weight, alpha, q):
    size = np.linalg.norm(M[:, None] - M, ord=q, axis=2)
    return 0.5 * weight @ ((rows - M) ** 2).sum(axis=1) + 0.5 * alpha * weight @ size @ weight


@pytest.mark.parametrize(("penalty", "q"), [("l1", 1), ("l2", 2)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_fusion_is_the_optimum(penalty, q, alpha):
    rows, weight = RNG.normal(size=(8, 2)) + 3.0, RNG.integers(1, 4, 8).astype(float)
    model = FusionClustering(alpha, penalty=penalty).fit(rows, sample_weight=weight)
    value = objective(model.centers_, rows, weight, alpha, q)
    assert model.objective_ == pytest.approx(value)
    for start in (rows, model.centers_ + 0.01 * RNG.normal(size=rows.shape)):
        other = minimize(lambda m: objective(m.reshape(8, 2), rows, weight, alpha, q), start.ravel())
        assert value <= other.fun + 1e-6 * abs(value)
    np.testing.assert_allclose(weight @ model.centers_, weight @ rows, rtol=1e-9)


@pytest.mark.parametrize("penalty", ["l0", "l1", "l2"])
def test_fusion_by_weight_is_repetition_and_moves_with_the_rows(penalty):
    rows, times = np.round(RNG.normal(size=(10, 2)) * 64) / 64, RNG.integers(1, 3, 10)
    weighted = FusionClustering(0.05, penalty=penalty).fit(rows, sample_weight=times)
    repeated = FusionClustering(0.05, penalty=penalty).fit(np.repeat(rows, times, axis=0))
    np.testing.assert_allclose(np.repeat(weighted.centers_, times, axis=0), repeated.centers_, atol=1e-3)
    far = FusionClustering(0.05, penalty=penalty).fit(rows + 2.0**27, sample_weight=times)
    np.testing.assert_allclose(far.centers_ - 2.0**27, weighted.centers_, atol=1e-6)
    assert np.array_equal(far.labels_, weighted.labels_)


def test_counts_of_pairs_find_planted_groups():
    model = FusionClustering(2.0, penalty="l0").fit(X)
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert (np.diff(model.path_) >= 0).all() and len(model.path_) == 59


def test_differences_of_pairs_are_priced_first(monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (1e4, "this machine has"))
    with pytest.raises(MemoryError, match=r"centers of KMeans"):
        FusionClustering().fit(X)


EVEN = X * [1.0, 0.5]  # groups at the same distance from each other


@pytest.mark.parametrize("criterion", ["elbow", "gap", "diameter", "bic"])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_the_planted_number_is_chosen_anywhere(criterion, shift):
    found = choose_k(KMeans(random_state=0, n_init=3), EVEN + shift, range(1, 7), criterion=criterion)
    assert found.k_ == 3 and len(found.inertia_) == 6
    assert adjusted_rand_score(found.estimator_.labels_, GROUP) == 1.0


@pytest.mark.parametrize("criterion", ["elbow", "gap"])
def test_numbers_and_references_share_passes(monkeypatch, criterion):
    from suffice.engines.local import LocalPartitions

    plain, count = LocalPartitions.fold, []
    monkeypatch.setattr(LocalPartitions, "fold", lambda self, f, *a: (count.append(f), plain(self, f, *a))[1])

    def passes(ks, n_references):
        count.clear()
        how = {"criterion": criterion, "n_references": n_references}
        choose_k(KMeans(random_state=0, max_iter=5, tol=0.0), X, ks, **how)
        return len(count)

    assert passes(range(1, 7), 10) == passes([6], 1)


def test_choices_that_are_refused():
    for arguments, message in (
        ({"criterion": "taste"}, "is not one of 'elbow', 'gap'"),
        ({"ks": [0, 1]}, "numbers of clusters from 1"),
        ({"ks": range(1, 99)}, "n_samples=60 should be >= n_clusters=98"),
        ({"criterion": "gap", "n_references": 0}, "n_references=0 must be at least 1"),
        ({"estimator": KMeans(2, init=X[:2])}, "needs the name of an init.*init='k-means\\+\\+'"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_k(**{"estimator": KMeans(), "X": X, "ks": range(1, 4), **arguments})
    with pytest.raises(TypeError, match=r"must be a suffice.cluster.KMeans; got .*DivisiveClustering"):
        choose_k(DivisiveClustering(), X, [1, 2])
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        choose_k(KMeans(), X, [1.5, 2])
    with pytest.raises(TypeError, match="dense data is required"):
        choose_k(KMeans(), csr_array(X), [1, 2], criterion="gap")


@pytest.mark.parametrize(
    ("metric", "kind", "message"),
    [
        ("euclidian", ValueError, "metric='euclidian'.*Unknown Distance Metric"),
        (lambda a: 1.0, TypeError, "metric=<function.*1 positional argument"),
        (lambda a, b: "far", ValueError, "metric=<function.*'far'"),
    ],
)
def test_metrics_that_measure_no_distance(metric, kind, message):
    with pytest.raises(kind, match=f"{message}.*or a function of two rows that returns a number"):
        DivisiveClustering(2, metric=metric).fit(X[:20])


def test_definitions_of_a_cluster():
    D = cdist(X[:20], X[:20])
    off = D[~np.eye(20, dtype=bool)].reshape(20, 19)
    for kind, value in (
        ("max", off.max()),
        ("neighbor", off.min(axis=1).max()),
        ("mean", off.mean(axis=1).max()),
        ("pair-mean", off.mean()),
    ):
        for rows, metric in ((X[:20], "euclidean"), (D, "precomputed")):
            assert is_cluster(rows, value * (1 + 1e-9), kind=kind, metric=metric)
            assert not is_cluster(rows, value * (1 - 1e-9), kind=kind, metric=metric)
    assert not is_cluster(X[:20], 1e9, kind="pair-mean", largest=0.9 * off.max())
    assert is_cluster(X[:1], 0.0)
    with pytest.raises(ValueError, match="is not one of"):
        is_cluster(X, 1.0, kind="round")
    with pytest.raises(ValueError, match="must be symmetric"):
        is_cluster(D + np.triu(D), 1.0, metric="precomputed")


def test_features_of_clusters():
    times = RNG.integers(0, 3, 60)
    a = describe_clusters(X, GROUP, sample_weight=times)
    b = describe_clusters(np.repeat(X, times, axis=0), np.repeat(GROUP, times))
    for name in ("weights", "centers", "scatters", "covariances"):
        np.testing.assert_allclose(a[name], b[name], err_msg=name)
    for k in range(3):
        mine = X[(k == GROUP) & (times > 0)]
        assert a.diameters[k] == pytest.approx(cdist(mine, mine).max())
        np.testing.assert_allclose(
            b.covariances[k], np.cov(np.repeat(X, times, 0)[np.repeat(GROUP, times) == k].T)
        )
    for wrong in ({"labels": GROUP[:, None]}, {"sample_weight": np.ones((60, 1))}):
        with pytest.raises(ValueError, match=r"must have one entry for each row; got shape \(60, 1\)"):
            describe_clusters(**{"X": X, "labels": GROUP, **wrong})
    with pytest.raises(ValueError, match=r"X has shape \(3,\), and Z \(3,\)"):
        dissimilarity([1.0, 2.0, 3.0])
    one = describe_clusters([[1.0, 2.0]], [0])
    assert one.diameters[0] == 0.0 and np.isnan(one.covariances).all()


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_sums_of_squares_add_up(shift):
    weight = RNG.random(60)
    of_means = sums_of_squares(X + shift, GROUP, sample_weight=weight)
    of_pairs = sums_of_squares(X + shift, GROUP, sample_weight=weight, metric="sqeuclidean")
    for name in ("within", "between", "total"):
        assert of_means[name] == pytest.approx(of_pairs[name], rel=1e-6)
    assert of_means.within + of_means.between == pytest.approx(of_means.total)


def test_dissimilarities_of_columns():
    rows = np.array([[0.0, "a", "x"], [3.0, "b", "x"], [4.0, "a", "x"]], dtype=object)
    D = dissimilarity(rows, kinds=["absolute", "mismatch", "mismatch"], weights=[0.5, 0.3, 0.2])
    np.testing.assert_allclose(D, [[0.0, 1.8, 2.0], [1.8, 0.0, 0.8], [2.0, 0.8, 0.0]])
    assert not dissimilarity(rows[:, 2:], kinds="mismatch").any()  # a column of one category
    np.testing.assert_allclose(dissimilarity(X, X[:3]) * 2, cdist(X, X[:3], "sqeuclidean"))
    own = dissimilarity(X, kinds=lambda a, b: np.minimum(abs(a - b), 1.0))
    assert own.max() <= 1.0
    for how, message in (
        ({"weights": [0.5, 0.6]}, "sum one"),
        ({"weights": [1.5, -0.5]}, "must not be negative"),
        ({"kinds": ["squared"]}, "each of the 2 columns"),
        ({"kinds": "cubed"}, "is not one of 'squared'"),
    ):
        with pytest.raises(ValueError, match=message):
            dissimilarity(X, **how)
    with pytest.raises(ValueError, match="must be finite"):
        dissimilarity(X, kinds=lambda a, b: 0.0 * (a - b) + np.inf)
