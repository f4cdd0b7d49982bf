"""Base classes of estimators with a parameter `kernel`."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.callers import warn
from ..core.partitions import Partitions
from ..fitting.landmarks import Landmarks
from ..kernels import Kernel, as_kernel, is_precomputed
from ..kernels.vectors import is_of_strings
from .base import Estimator, must_have_rows
from .guarantees import Guarantee
from .parameters import AT_LEAST_1, FINITE, NON_NEGATIVE, seed_of

INSTEAD = "use landmarks=, a number of rows to compare with, whose sums are computed where the rows are."


class TakesKernel(Estimator):
    """Base class of estimators whose kernel determines what rows are: numbers, kernel values or strings."""

    kernel: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        input_tags = tags.input_tags
        input_tags.pairwise, input_tags.string = is_precomputed(self.kernel), self.takes_symbols
        input_tags.one_d_array, input_tags.two_d_array = input_tags.string, not input_tags.string
        input_tags.sparse = not (input_tags.pairwise or input_tags.string)
        return tags

    @property
    def counts_rows(self) -> bool:
        """Whether rows of weight zero are kept. The rows of a Gram matrix correspond to its columns."""
        return is_precomputed(self.kernel)

    @property
    def takes_symbols(self) -> bool:
        """Whether a row is a string, or a sequence of symbols."""
        return is_of_strings(self.kernel)

    @property
    def for_strings(self) -> str:
        """Advice for strings where rows of numbers are expected."""
        return f"use kernel=Subsequences(3) of suffice.kernels instead of kernel={self.kernel!r}"


class KernelEstimator(TakesKernel):
    """Base class of kernel methods: exact on the gathered rows, or approximate by landmarks."""

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

    def _guarantee(self) -> Guarantee:
        return Guarantee("order", gathers=True) if self.landmarks is None else Guarantee()

    @property
    def _gamma(self) -> float | None:
        return self.gamma

    def _kernel(self) -> Kernel:
        if isinstance(self.kernel, str):
            params = {"gamma": self._gamma, "degree": self.degree, "coef0": self.coef0}
            return as_kernel(self.kernel, params)
        return as_kernel(self.kernel, self.kernel_params)

    def _sampled(self, data: Partitions) -> Landmarks:
        """Draw the landmarks, in one pass over the data."""
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
