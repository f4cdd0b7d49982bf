"""Steps of two variables of the dual of a support vector machine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification

from suffice.kernels import RBF
from suffice.svm import SVC
from suffice.textbook import smo_step

X, y = make_classification(30, 8, flip_y=0.1, random_state=0)


def test_steps_of_two_variables_end_at_the_optimum():
    """Constraints hold, the dual never worsens, and the most violating pairs end at the optimum of SVC."""
    rows, sign, C = X, np.where(y == 1, 1.0, -1.0), 0.5
    K = RBF(0.1)(rows)
    alpha, b = np.zeros(30), 0.0

    def value(a):
        return 0.5 * (a * sign) @ K @ (a * sign) - a.sum()

    for _ in range(400):
        slope = K @ (alpha * sign) - sign
        rises = np.where(np.where(sign > 0, alpha < C, alpha > 0), slope, np.inf)
        falls = np.where(np.where(sign > 0, alpha > 0, alpha < C), slope, -np.inf)
        if falls.max() - rises.min() < 1e-9:
            break
        step = smo_step(K, sign, alpha, b, int(rises.argmin()), int(falls.argmax()), C=C)
        assert value(step.alpha) <= value(alpha) + 1e-12 and abs(step.alpha @ sign) < 1e-9
        assert (step.alpha >= -1e-12).all() and (step.alpha <= C + 1e-12).all()
        alpha, b = step.alpha, step.intercept
    model = SVC(kernel=RBF(0.1), C=C, tol=1e-9).fit(rows, sign)
    np.testing.assert_allclose(
        K @ (alpha * sign), model.decision_function(rows) - model.intercept_, atol=1e-6
    )
    for wrong, message in (((K[:2], sign), "square"), ((K, sign + 1), "1 or -1"), ((K, sign[:5]), "shapes")):
        with pytest.raises(ValueError, match=message):
            smo_step(*wrong, alpha, 0.0, 0, 1)
    for pair in ((1, 1), (0, len(K)), (-1, 0)):
        with pytest.raises(ValueError, match=f"two rows of {len(K)}, from 0"):
            smo_step(K, sign, alpha, 0.0, *pair)
    for wrong in (alpha - 1.0, alpha + 1e9, alpha * np.nan):
        with pytest.raises(ValueError, match="alpha must be from 0 to C"):
            smo_step(K, sign, wrong, 0.0, 0, 1, C=C)
    same = smo_step(np.ones((2, 2)), [1, -1], [0.0, 0.0], 0.0, 0, 1, C=2.0)  # equal rows of both labels
    assert same.alpha.tolist() == [2.0, 2.0] and same.curvature == 0.0
