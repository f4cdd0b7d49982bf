"""Labels of the rows of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.cluster import AgglomerativeClustering, KCentroids, KernelKMeans, KMeans, MiniBatchKMeans

from ._common import rows, scan


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
