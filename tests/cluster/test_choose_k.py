"""The number of clusters by each criterion."""

from __future__ import annotations

import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from suffice.cluster import DivisiveClustering, KMeans, choose_k

from ._common import PLANE as X
from ._common import PLANE_GROUP as GROUP

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
