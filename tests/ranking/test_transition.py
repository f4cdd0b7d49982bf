"""The matrix of the walk."""

from __future__ import annotations

import numpy as np

from suffice.ranking import transition_matrix


def test_matrix_of_the_walk():
    matrix, nodes = transition_matrix(([1, 1, 5, 1], [5, 7, 1, 5]), sample_weight=[1.0, 1.0, 2.0, 2.0])
    assert nodes.tolist() == [1, 5, 7]
    np.testing.assert_allclose(matrix.toarray(), [[0, 0.75, 0.25], [1, 0, 0], [0, 0, 0]])
    assert matrix.nnz == 3
