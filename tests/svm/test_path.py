"""Support vector classifiers along several C."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice.svm import SVC, svc_path


def test_path():
    rows, labels = load_iris(return_X_y=True)
    Cs = [10.0, 0.1, 1.0]
    models = svc_path(rows, labels, Cs=Cs, tol=1e-8, gamma=0.5)
    assert [model.C for model in models] == Cs
    for C, model in zip(Cs, models, strict=True):
        alone = SVC(C=C, tol=1e-8, gamma=0.5, decision_function_shape="ovo").fit(rows, labels)
        model.set_params(decision_function_shape="ovo")
        np.testing.assert_allclose(model.decision_function(rows), alone.decision_function(rows), atol=1e-6)
    with pytest.raises(ValueError, match="Cs must be positive and finite"):
        svc_path(rows, labels, Cs=[np.inf])
    with pytest.raises(ValueError, match="does not take checkpoint, slack_budget: use SVC"):
        svc_path(rows, labels, slack_budget=1.0, checkpoint="file")
    for wrong in (0, -3):
        with pytest.raises(ValueError, match="Cs must be positive and finite"):
            svc_path(rows, labels, Cs=wrong)
