"""Concept factorization (bilinear NMF): concepts are combinations of rows, and rows of concepts.

Xu and Gong, "Document clustering by concept factorization", 2004; Gong and Xu, section 3.3.2 and appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch, one_task
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, StrOptions
from ..fitting.non_negative import positive_root
from ..inputs import in_blocks, open_rows, read_rows, source_of
from ..inputs.checks import weights_of
from ..inputs.conversions import check_weighted
from ..kernels import as_kernel, is_precomputed
from ..kernels.base import KernelLike, must_be_finite
from .nmf import SWEEPS
from .nmf_start import checked_factor, row_uniforms


@dataclass(frozen=True, eq=False)
class ConceptSums(Statistics):
    """Sufficient statistics of the loss: trace of the kernel K, W'K V, W'K W and V'V."""

    trace: float
    near: Annotated[np.ndarray, "(C, C)"]
    length: Annotated[np.ndarray, "(C, C)"]
    gram: Annotated[np.ndarray, "(C, C)"]

    def in_unit(self, unit: float) -> ConceptSums:
        """The sums of scaled rows."""
        trace, near, length = (part * unit * unit for part in (self.trace, self.near, self.length))
        return self.replace(trace=trace, near=near, length=length)

    @property
    def loss(self) -> float:
        return 0.5 * float(self.trace - 2.0 * np.trace(self.near) + (self.length * self.gram).sum())


@dataclass(frozen=True, eq=False)
class Concepts(Predictor):
    """Concept c is the sum of w[n, c] x_n, and x_n is approximated by the sum of v[n, c] times the
    concepts."""

    W: Annotated[np.ndarray, "(N, C)"]
    V: Annotated[np.ndarray, "(N, C)"]

    def improved(self, kernel: Split) -> Concepts:
        """Multiplicative updates of W, then V, which never increase the loss: Gong and Xu eq. 3.45 and
        3.49."""
        W, V, gram = self.W, self.V, self.V.T @ self.V
        W = W * positive_root(
            kernel.whole @ V, kernel.above @ W @ gram, 0.0 if kernel.positive else kernel.below @ W @ gram
        )
        up, down = kernel.above @ W, 0.0 if kernel.positive else kernel.below @ W
        V = V * positive_root(up - down, V @ (W.T @ up), 0.0 if kernel.positive else V @ (W.T @ down))
        return Concepts(W, V)

    def sums(self, kernel: Split) -> ConceptSums:
        KW = kernel.whole @ self.W
        return ConceptSums(float(np.trace(kernel.whole)), KW.T @ self.V, KW.T @ self.W, self.V.T @ self.V)

    def normalized(self, kernel: Split) -> Concepts:
        """The same factorization, with concepts of unit length."""
        length = np.sqrt(np.maximum(np.diag(self.sums(kernel).length), 0.0))
        return Concepts(self.W / np.where(length > 0, length, 1.0), self.V * length)


@dataclass(frozen=True, eq=False)
class Split(Value):
    """A kernel matrix as the difference of two without negative entries."""

    whole: Annotated[np.ndarray, "(N, N)"]

    @cached_property
    def positive(self) -> bool:
        return bool((self.whole >= 0).all())

    @cached_property
    def above(self) -> np.ndarray:
        return self.whole if self.positive else np.maximum(self.whole, 0.0)

    @cached_property
    def below(self) -> np.ndarray:
        return np.maximum(-self.whole, 0.0)


class BilinearNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Iterative):
    """Concept factorization (bilinear NMF): clusters rows, which may have negative entries.

    Concepts are weighted sums of rows, and each row is approximated by a weighted sum of concepts. The
    weights are non-negative. Rows enter only by their inner products, so any kernel can replace these. The
    kernel matrix of all pairs of rows is kept in memory.

    Parameters
    ----------
    n_components : int, default=2
        Number of concepts.
    kernel : Kernel, str or callable, default='linear'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two arrays of rows that returns their Gram matrix, or 'precomputed' if X is that matrix.
    kernel_params : dict, default=None
        Parameters of a kernel that is passed by name: gamma (one over the number of features if it is
        missing), degree (3) and coef0 (1), as far as the kernel has them.
    init : str, default='random'
        Initialization: 'random', or 'custom' for the `W` and `V` passed to `fit`.
    n_init : int, default=1
        Number of random initializations. The best result is kept.
    tol : float, default=1e-5
        Tolerance of the stopping criterion: the decrease of the loss, relative to the initial loss.
    max_iter : int, default=500
        Maximum number of iterations.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    concept_weights_ : ndarray of shape (n_samples, n_components)
        W: weights of the rows in each concept. In the feature space of the kernel, concepts have unit length.
    embedding_ : ndarray of shape (n_samples, n_components)
        V: weights of the concepts in each row.
    labels_ : ndarray of shape (n_samples,)
        Concept with the largest weight in each row.
    reconstruction_err_ : float
        Frobenius norm of the reconstruction error.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Loss at the end of each iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : Concepts
        W and V, before concepts were scaled to unit length.
    statistics_ : ConceptSums
        The sums that determine the loss.

    See Also
    --------
    NMF : Rows without negative entries, wherever they are.
    suffice.cluster.KMeans : Clusters of rows, wherever they are.

    Notes
    -----
    With the kernel matrix K of the rows, the weights W and V minimize

    .. math::

        \\frac{1}{2} \\mathrm{tr}\\, (I - V W^T)\\, K\\, (I - V W^T)^T, \\qquad W, V ≥ 0.

    References
    ----------
    * Xu and Gong (2004), "Document clustering by concept factorization", SIGIR.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import BilinearNMF
    >>> X = np.array([[2.0, -0.5, 1.0], [1.8, 0.2, 1.1], [-1.0, 1.5, 0.3], [-1.2, 1.4, 0.1]])
    >>> labels = BilinearNMF(2, n_init=5, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    exempt = (Exempt("scan", "The model keeps the kernel of all rows."),)

    model_: Annotated[Concepts, "N, C"]
    concept_weights_: Annotated[np.ndarray, "(N, C)"]
    takes = "kernel"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "kernel": [str, callable],
        "kernel_params": [dict, None],
        "init": [StrOptions({"random", "custom"})],
    }
    _guarantee = Guarantee.always(gathers=True)

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: KernelLike = "linear",
        kernel_params: Any = None,
        init: str = "random",
        n_init: int = 1,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, W: Any = None, V: Any = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Fit to rows in memory.

        Parameters
        ----------
        X : array or CSR of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            The rows, or their kernel matrix.
        y : None
            Ignored.
        W : array of shape (n_samples, n_components), optional
            Initial W, if ``init='custom'``.
        V : array of shape (n_samples, n_components), optional
            Initial V, if ``init='custom'``.
        sample_weight : array, optional
            Per-sample weights of the reconstruction errors.

        Returns
        -------
        self
        """
        return self._fit_to(X, None, sample_weight, W=W, V=V)

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """The rows and their weights, in one block."""
        source = source_of(X)
        if not source.in_memory:
            raise source.elsewhere(self)
        # A copy, since the model keeps the rows.
        X = open_rows(self, source).gather("use NMF, which sums over the rows where they are.").X.copy()
        weight = weights_of("BilinearNMF", 1.0 if sample_weight is None else sample_weight, X.shape[0])
        return Rows(X, None, weight)

    def _solve(self, data: Any, W: Any = None, V: Any = None) -> Progress:
        X, weight = data.X, data.weight
        N, C = X.shape[0], self.n_components
        check_weighted(X, weight, "X", "BilinearNMF")
        keep = weight > 0
        if not keep.any():
            raise ValueError("sample_weight is zero for every row, expected a positive weight for some.")
        if keep.sum() < C:
            raise ValueError(f"n_components={C} must not be more than n_samples={keep.sum()}.")
        afford(3.0 * N**2, f"the kernels of {N} rows", "fit a sample, and transform the others.")
        root = np.sqrt(weight[keep])[:, None]
        self._kernel = as_kernel(self.kernel, self.kernel_params).with_rows(X, weight)
        K = self._kernel(X)[np.ix_(keep, keep)] * root * root.T
        must_be_finite(K)
        # Scaled rows have the same W and V. A kernel near one does not overflow, and a power of two does not
        # round. `unit` is the scale of the lengths of rows.
        unit = 2.0 ** (np.frexp(np.abs(K).max())[1] // 2)
        kernel = Split(K / unit / unit)
        starts = [
            Concepts(start.W[keep] / root, start.V[keep] * root) for start in self._starts(X, weight, W, V)
        ]
        self._rows = (X.data, X.indices, X.indptr, X.shape) if sp.issparse(X) else X
        self._found = kernel, root, keep, unit
        result = self._best(in_blocks(data), starts, kernel)
        trace, s = tuple(loss * unit * unit for loss in result.trace), result.statistics.in_unit(unit)
        return result.replace(trace=trace, statistics=s)

    def _finish(self, progress: Progress, data: Any) -> None:
        del self._found
        rest = data.weight == 0
        if rest.any():
            self.embedding_[rest] = self.transform(data.X[rest])
        self.labels_ = self.embedding_.argmax(axis=1)
        self.reconstruction_err_ = float(np.sqrt(2.0 * max(progress.statistics.loss, 0.0)))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        kernel, root, keep, unit = self._found
        W, V = np.zeros((2, len(keep), progress.model.W.shape[1]))
        result = progress.model.normalized(kernel)
        W[keep], V[keep] = result.W * root / unit, result.V / root * unit
        return {"concept_weights_": W, "embedding_": V, "_rows": self._rows, "_kernel": self._kernel}

    def _best(self, data: Partitions, starts: list[Concepts], kernel: Split) -> Progress:
        def step(state: Progress) -> Progress:
            model = state.model.improved(kernel)
            s = model.sums(kernel)
            trace = (*state.trace, s.loss)
            settled = len(trace) > 1 and trace[-2] - trace[-1] <= self.tol * abs(trace[0])
            return Progress(model, trace, s, "tolerance" if settled else "")

        if len(starts) == 1:
            watch = Watch(self, self.checkpoint, data, in_order=True)  # W and V are of the rows
            return watch.limited(self.max_iter).loop(step, Progress(starts[0]))
        with one_task(self):
            runs = [Watch(max_iter=self.max_iter).loop(step, Progress(start)) for start in starts]
        return min(runs, key=lambda run: run.trace[-1])

    def _starts(self, X: Any, weight: np.ndarray, W: Any, V: Any) -> list[Concepts]:
        N, C = X.shape[0], self.n_components
        if self.init == "custom":
            if W is None or V is None:
                raise ValueError("init='custom' requires initial factors: call fit(X, W=..., V=...).")
            return [Concepts(checked_factor(W, (N, C), "W"), checked_factor(V, (N, C), "V"))]
        if self.checkpoint is not None and self.n_init > 1:
            raise ValueError(
                f"A checkpoint holds a single run, but n_init={self.n_init}: use n_init=1, "
                f"or checkpoint=None."
            )
        random = check_random_state(self.random_state)
        starts = []
        for seed in random.randint(np.iinfo(np.int32).max, size=self.n_init):
            W, V = (0.1 + 0.9 * row_uniforms(X, C, Purpose.START, int(seed), part) for part in range(2))
            starts.append(Concepts(W * weight[:, None] / weight.sum(), V))
        return starts

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Weights of the concepts in each row, from their kernel with the training rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        from ..loops.factors import coordinate_sweeps

        X, W, rows = read_rows(self, X), self.concept_weights_, self._rows
        if isinstance(rows, tuple):
            rows = sp.csr_array(rows[:3], rows[3])
        points = np.arange(len(W)) if self._kernel.precomputed else rows
        near = np.ascontiguousarray(self._kernel(X, points) @ W)
        length = np.ascontiguousarray(W.T @ (self._kernel(rows) @ W))
        V = np.zeros_like(near)
        turns = np.arange(len(length))
        coordinate_sweeps(V, length, near, turns, np.ones(len(V)), 1e-10, SWEEPS)
        return V

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Concept with the largest weight in each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self.transform(X).argmax(axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]
