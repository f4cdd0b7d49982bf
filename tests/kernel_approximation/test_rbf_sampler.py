"""Random Fourier features: those of scikit-learn, and the kernel that they approximate."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import kernel_approximation as theirs
from sklearn.metrics.pairwise import rbf_kernel

from suffice.kernel_approximation import RBFSampler

from ..laws.registry import recorded_folds

rng = np.random.default_rng(0)

X = rng.normal(size=(300, 3))


@pytest.mark.parametrize("gamma", [0.3, "scale", 0.0])
def test_random_features_are_those_of_scikit_learn(gamma):
    ours = RBFSampler(gamma=gamma, n_components=50, random_state=3)
    peer = theirs.RBFSampler(gamma=gamma, n_components=50, random_state=3).fit(X)
    with recorded_folds() as seen:
        ours.fit(X)
    assert len(seen) == (gamma == "scale")
    np.testing.assert_allclose(ours.random_weights_, peer.random_weights_, rtol=1e-12)
    np.testing.assert_array_equal(ours.random_offset_, peer.random_offset_)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-12)


def test_random_features_approximate_the_kernel():
    phi = RBFSampler(gamma=0.3, n_components=20_000, random_state=0).fit_transform(X[:50])
    assert np.abs(phi @ phi.T - rbf_kernel(X[:50], gamma=0.3)).max() < 0.05  # several standard errors
    weighted = RBFSampler(gamma="scale").fit(X, sample_weight=np.arange(300) % 3)
    repeated = RBFSampler(gamma="scale").fit(np.repeat(X, np.arange(300) % 3, axis=0))
    assert weighted.model_.gamma == pytest.approx(repeated.model_.gamma, rel=1e-12)
    flat = RBFSampler(gamma="scale").fit(np.ones((5, 2)))
    assert flat.model_.gamma == 1.0
