"""Principal components in batches: those of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.decomposition import PCA, IncrementalPCA

from ._common import X


def test_batches_of_components_are_components():
    batches = IncrementalPCA(3)
    for part in np.array_split(X, 7):
        batches.partial_fit(part)
    whole = PCA(3).fit(X)
    np.testing.assert_allclose(batches.components_, whole.components_, atol=1e-12)
    np.testing.assert_allclose(batches.noise_variance_, whole.noise_variance_)
    np.testing.assert_allclose(batches.var_, X.var(axis=0))
    assert batches.n_samples_seen_ == 300 and batches.batch_size_ == 30
    with pytest.raises(ValueError, match="call fit"):
        batches.set_params(n_components=2).partial_fit(X)
