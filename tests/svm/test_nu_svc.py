"""Support vector classification by nu: its iterations, and margins far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import svm as peer
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from suffice.svm import SVC, NuSVC

from ._common import X, label


def test_a_start_that_is_the_optimum_is_one_iteration():
    assert NuSVC(nu=1.0).fit([[-1.0], [1.0]], [0, 1]).n_iter_.tolist() == [1]


def test_iterations_of_both_tolerances_count():
    rows, labels = load_iris(return_X_y=True)
    ours, theirs = (cls(kernel="linear").fit(rows, labels).n_iter_ for cls in (NuSVC, peer.NuSVC))
    assert (ours >= 0.5 * theirs).all()
    with pytest.warns(ConvergenceWarning):
        assert (NuSVC(kernel="linear", max_iter=7).fit(rows, labels).n_iter_ == 7).all()
    assert SVC(kernel="linear", C=np.inf).fit(rows, labels == 0).n_iter_[0] > 1


def test_a_margin_far_from_the_origin():
    """With a linear kernel, where the rows are changes the intercept alone."""
    near, far = (NuSVC(nu=0.615, kernel="linear").fit(X + shift, label) for shift in (0.0, 1e4))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=2e-3)
