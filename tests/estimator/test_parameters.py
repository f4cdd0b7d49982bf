"""Parameters with usual names need no declaration, and a declaration comes first."""

import pytest

from suffice.estimator import Estimator
from suffice.estimator.parameters import AT_LEAST_0, InvalidParameterError, check_parameters


class Undeclared(Estimator):
    def __init__(self, tol=1e-3, max_iter=10):
        self.tol, self.max_iter = tol, max_iter


class Declared(Undeclared):
    _parameter_constraints = {"max_iter": [AT_LEAST_0]}  # noqa: RUF012

    def __init__(self, tol=1e-3, max_iter=10, checkpoint=None):
        super().__init__(tol, max_iter)
        self.checkpoint = checkpoint


@pytest.mark.parametrize("values", [{"tol": -1.0}, {"tol": "small"}, {"max_iter": 0}])
def test_undeclared(values):
    check_parameters(Undeclared())
    with pytest.raises(InvalidParameterError, match=next(iter(values))):
        check_parameters(Undeclared(**values))


def test_declared():
    assert set(Declared._parameter_constraints) == {"tol", "max_iter", "checkpoint"}
    check_parameters(Declared(max_iter=0))
    for values in ({"tol": -1.0}, {"max_iter": -1}, {"checkpoint": ""}):
        with pytest.raises(InvalidParameterError, match=next(iter(values))):
            check_parameters(Declared(**values))
    with pytest.raises(InvalidParameterError, match="max_iter"):  # of its own declaration alone
        check_parameters(Undeclared(max_iter=0))
