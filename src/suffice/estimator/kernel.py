"""What estimators with a parameter `kernel` have in common: the kernel, and its landmarks."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from ..core.callers import warn
from ..core.partitions import Partitions
from ..fitting.landmarks import Landmarks
from ..kernels import Kernel, as_kernel, is_precomputed
from .base import Estimator, must_have_rows
from .guarantees import Guarantee
from .parameters import AT_LEAST_1, FINITE, NON_NEGATIVE, seed_of

INSTEAD = "use landmarks=, a number of rows to compare with, whose sums are computed where the rows are."


class KernelEstimator(Estimator):
    """Base class of estimators that are exact, or compare each row with landmarks."""

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    landmarks: int | None
    random_state: Any

    kernel_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, callable],
        "gamma": [NON_NEGATIVE, None],
        "degree": [NON_NEGATIVE],
        "coef0": [FINITE],
        "kernel_params": [dict, None],
        "landmarks": [AT_LEAST_1, None],
        "random_state": ["random_state"],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    @property
    def counts_rows(self) -> bool:
        """Rows of weight zero have a column in a precomputed kernel, too."""
        return is_precomputed(self.kernel)

    def _guarantee(self) -> Guarantee:
        return Guarantee("order", gathers=True) if self.landmarks is None else Guarantee()

    @property
    def _gamma(self) -> float | None:
        return self.gamma

    def _kernel(self) -> Kernel:
        if isinstance(self.kernel, str):
            params = {"gamma": self._gamma, "degree": self.degree, "coef0": self.coef0}
            return as_kernel(self.kernel, params)
        kernel, params = self.kernel, self.kernel_params or {}
        if params and not isinstance(kernel, Kernel):
            return as_kernel(partial(kernel, **params))
        return as_kernel(kernel, params)

    def _sampled(self, data: Partitions) -> Landmarks:
        """The landmarks, by one pass over the data."""
        start = Landmarks.to_sample(
            self._kernel(), self.n_features_in_, int(self.landmarks or 1), seed_of(self.random_state), False
        )
        sample = data.fold(Landmarks.summarize, start)
        must_have_rows(sample.weight)
        landmarks = start.estimate(sample)
        if start.size > len(landmarks.root):
            warn(
                f"landmarks={start.size} > n_samples: there are {len(landmarks.root)} different rows, and "
                "all are landmarks. Use landmarks=None for the exact solution.",
            )
        return landmarks
