"""Random Fourier features. Rahimi and Recht, "Random features for large-scale kernel machines", 2007."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import Seed
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, StrOptions
from ..estimator.tags import tags
from ..inputs import map_rows, read_rows
from ..statistics import Moments, moments


@dataclass(frozen=True, eq=False)
class RandomFourier(Model):
    """phi(x) = sqrt(2 / M) cos(sqrt(2 gamma) direction' x + offset), with random directions and offsets."""

    gamma: float
    direction: Annotated[np.ndarray, "(D, M)"]  # standard normal
    offset: Annotated[np.ndarray, "(M,)"]  # uniform from 0 to 2 pi

    def summarize(self, block: Rows) -> Moments:
        return moments(block.X, block.weight, "diagonal")

    def estimate(self, s: Moments) -> Self:
        """gamma='scale': one over the number of features times the variance of all numbers."""
        variance = float(s.variance.mean() + s.mean.var())
        return self.replace(gamma=1.0 / (len(s.mean) * variance) if variance > 0.0 else 1.0)

    @property
    def frequencies(self) -> np.ndarray:
        return np.sqrt(2.0 * self.gamma) * self.direction

    def __call__(self, X: Matrix) -> np.ndarray:
        """(N, M)."""
        frequencies, scale = self.frequencies, np.sqrt(2.0 / len(self.offset))

        def features(rows: Any) -> np.ndarray:
            angle = rows @ frequencies + self.offset
            return np.multiply(np.cos(angle, out=angle), scale, out=angle)

        return map_rows(features, X)


class RBFSampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Random Fourier features, whose inner products approximate the Gaussian (RBF) kernel.

    Parameters
    ----------
    gamma : 'scale' or float, default=1.0
        Parameter of the kernel :math:`\\exp(-γ ‖x - x'‖^2)`. 'scale' is one over the number of features times
        the variance of all numbers in X, and takes a pass over the data.
    n_components : int, default=100
        Number of features.
    random_state : int, RandomState or None, default=None
        Seed of the features, which are those of scikit-learn.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        The random frequencies.
    random_offset_ : ndarray of shape (n_components,)
        The random offsets, from 0 to 2π.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : RandomFourier
        The fitted model.
    statistics_ : Moments
        The moments of each feature if `gamma` is 'scale'; otherwise empty: nothing is summed.

    See Also
    --------
    Nystroem : Any kernel, with features that depend on the rows.

    Notes
    -----
    With random frequencies :math:`ω_m` from a normal distribution with variance 2γ, and offsets :math:`b_m`,

    .. math::

        φ_m(x) = \\sqrt{2 / M} \\cos(ω_m^T x + b_m), \\qquad \\mathbb{E} φ(x)^T φ(x') = \\exp(-γ ‖x - x'‖^2).

    References
    ----------
    * Rahimi and Recht (2007), "Random features for large-scale kernel machines", NIPS 20.

    Examples
    --------
    >>> from suffice.kernel_approximation import RBFSampler
    >>> features = RBFSampler(gamma=0.5, n_components=2000, random_state=0)
    >>> phi = features.fit_transform([[0.0, 0.0], [1.0, 1.0]])
    >>> (phi @ phi.T).round(1)
    array([[1. , 0.4],
           [0.4, 1. ]])
    """

    exempt = (Exempt("shift", "Angles are about the origin."),)

    model_: Annotated[RandomFourier, "D"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("random_weights_", "random_offset_", "transform")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [StrOptions({"scale"}), NON_NEGATIVE],
        "n_components": [AT_LEAST_1],
    }
    __sklearn_tags__ = tags(sparse=True)

    def __init__(self, *, gamma: Any = 1.0, n_components: int = 100, random_state: Seed = None) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def _guarantee(self) -> Guarantee:
        return Guarantee("rounding" if self.gamma == "scale" else "bit")

    def _solve(self, data: Partitions) -> Progress:
        random, scaled = check_random_state(self.random_state), self.gamma == "scale"
        direction = random.normal(size=(self.n_features_in_, self.n_components))
        offset = random.uniform(0, 2 * np.pi, size=self.n_components)
        model = RandomFourier(1.0 if scaled else float(self.gamma), direction, offset)
        s = moments(np.empty((0, 0)), np.empty(0), "diagonal")
        if scaled:
            s = data.fold(RandomFourier.summarize, model)
            must_have_rows(s.weight)
            model = model.estimate(s)
        return Progress(model, statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"random_weights_": progress.model.frequencies, "random_offset_": progress.model.offset}

    @row_wise
    def transform(self, X: Any) -> Any:
        """The features of each row, (n_samples, n_components).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return self.model_(read_rows(self, X))

    @property
    def _n_features_out(self) -> int:
        return len(self.random_offset_)
