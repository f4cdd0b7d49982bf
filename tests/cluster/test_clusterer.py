"""Labels of the rows of a fit, and initial centres by a function."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.cluster import AgglomerativeClustering, KCentroids, KernelKMeans, KMeans, MiniBatchKMeans


def rows(n=60):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(m, 1.0, (n // 2, 2)) for m in (0.0, 10.0)])


def scan(X):
    return suffice.scan(lambda: [pa.record_batch({"a": X[:, 0], "b": X[:, 1]})])


def first(X, n_clusters, random_state):
    assert isinstance(X, np.ndarray) and X.dtype.kind == "f"
    return X[:: len(X) // n_clusters][:n_clusters]


@pytest.mark.parametrize(
    "model",
    [
        KMeans(2),
        MiniBatchKMeans(2),
        KCentroids(2),
        KernelKMeans(2),
        AgglomerativeClustering(micro_clusters=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_to_a_scan_has_no_labels(model):
    """Neither has it those of an earlier fit to rows in memory."""
    X = rows()
    model.set_params(random_state=0).fit(X)
    assert model.labels_.shape == (60,) and model.labels_.dtype == np.int32
    assert not hasattr(model.fit(scan(X)), "labels_")


def test_rows_without_a_weight_have_a_label():
    X, weight = rows(), np.ones(60)
    weight[::3] = 0.0
    model = KMeans(2, random_state=0).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_initial_centers_are_a_function_of_checked_rows():
    X = rows()
    lists = KMeans(2, init=first).fit(X.tolist())
    for other in (X, scan(X)):
        model = KMeans(2, init=first).fit(other)
        np.testing.assert_array_equal(model.cluster_centers_, lists.cluster_centers_)


def test_initial_centers_of_batches_are_a_function_of_the_sample():
    """As in scikit-learn, the function takes `init_size` rows, and not all of them."""
    seen = []

    def init(X, n_clusters, random_state):
        seen.append(len(X))
        return first(X, n_clusters, random_state)

    MiniBatchKMeans(2, init=init, init_size=20, n_init=1, random_state=0).fit(rows())
    assert seen == [20]
