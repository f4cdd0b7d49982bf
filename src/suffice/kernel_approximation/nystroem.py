"""The Nyström method. Williams and Seeger, "Using the Nyström method to speed up kernel machines", 2001."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import Seed
from ..core.callers import warn
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Estimator, OwnRows, must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, FINITE, NON_NEGATIVE, seed_of
from ..fitting.landmarks import Landmarks, first_equal
from ..fitting.seeding import Sample
from ..inputs import read_rows
from ..kernels import Kernel, as_kernel, is_precomputed
from ..kernels.base import KernelLike


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Kernels with sampled rows as features, whose inner products approximate the kernel.

    The landmarks are sampled by a hash of each row, so that they are the same for any blocks, any order of
    the rows and every engine.

    Parameters
    ----------
    kernel : Kernel, str or callable, default='rbf'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two rows that returns a number, or of two arrays of rows that returns their Gram matrix, or
        'precomputed' if X is that matrix: in `fit` of the rows with each other, and in `transform` of other
        rows with these.
    gamma : float, default=None
        Parameter of a kernel that is passed by name; None is one over the number of features, and 1 for
        'chi2'.
    coef0 : float, default=None
        Parameter of 'poly' and 'sigmoid'. None is 1.
    degree : float, default=None
        Degree of 'poly'. None is 3.
    kernel_params : dict, default=None
        More parameters of a kernel that is passed by name: gamma, coef0 and degree. A function gets all of
        them as keywords.
    n_components : int, default=100
        Number of landmarks, and of features.
    random_state : int, RandomState or None, default=None
        Seed of the sample.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The landmarks, which are different rows of X.
    component_indices_ : ndarray of shape (n_components,) or None
        The index of the first row equal to each landmark. None if the rows are not in memory.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse square root of the kernels of the landmarks with each other.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Landmarks
        The fitted model.
    statistics_ : Sample
        The rows with the smallest hashes, and their weights.

    See Also
    --------
    RBFSampler : Features of the Gaussian kernel that do not depend on the rows.
    suffice.preprocessing.BasisFunctions : Functions of each feature, without interactions.
    suffice.svm.SVC : Exact kernel machines, for rows that fit in memory.

    Notes
    -----
    With landmarks :math:`z_m`, their kernels :math:`K_{ml} = k(z_m, z_l)` and :math:`k_m(x) = k(z_m, x)`,

    .. math::

        φ(x) = K^{-1/2} k(x), \\qquad φ(x)^T φ(x') ≈ k(x, x').

    This is exact if one of the rows is a landmark. One pass over the data samples the landmarks, in
    proportion to the weights of the rows. Eigenvalues of K below its rounding error are set to that.

    References
    ----------
    * Williams and Seeger (2001), "Using the Nyström method to speed up kernel machines", NIPS 13.
    * Drineas and Mahoney (2005), "On the Nyström method for approximating a Gram matrix for improved
      kernel-based learning", JMLR 6.
    * Yang, Li, Mahdavi, Jin and Zhou (2012), "Nyström method vs random Fourier features", NIPS 25.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from suffice.kernel_approximation import Nystroem
    >>> from suffice.linear_model import Ridge
    >>> X = np.linspace(0.0, 6.0, 200)[:, None]
    >>> curve = make_pipeline(Nystroem(n_components=20, random_state=0), Ridge(1e-3))
    >>> round(curve.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 3)
    1.0
    """

    exempt = (Exempt("rounding", "Landmarks are drawn by their values."),)

    model_: Annotated[Landmarks, "D"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("components_", "normalization_", "transform")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, callable],
        "gamma": [NON_NEGATIVE, None],
        "coef0": [FINITE, None],
        "degree": [NON_NEGATIVE, None],
        "kernel_params": [dict, None],
        "n_components": [AT_LEAST_1],
    }

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.counts_rows
        tags.input_tags.sparse = not self.counts_rows
        return tags

    @property
    def counts_rows(self) -> bool:
        """Whether rows of weight zero stay among the rows: those of a Gram matrix are columns, too."""
        return is_precomputed(self.kernel)

    def _guarantee(self) -> Guarantee:
        return Guarantee("order", gathers=True) if self.counts_rows else Guarantee("bit")

    def _kernel(self) -> Kernel:
        own = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        own = {name: value for name, value in own.items() if value is not None}
        if own and (not isinstance(self.kernel, str) or is_precomputed(self.kernel)):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel: "
                f"they are parameters of a kernel that is passed by name; got {own} and "
                f"kernel={self.kernel!r}."
            )
        return as_kernel(self.kernel, {**(self.kernel_params or {}), **own})

    def _solve(self, data: Partitions) -> Progress:
        model, s = self._of_gram(data) if self.counts_rows else self._sampled(data)
        M = len(model.root)
        if self.n_components > M:
            warn(
                f"n_components > n_samples. This is not possible: n_components={self.n_components}, and "
                f"there are {M} different rows. n_components was set to {M}, which results in "
                "inefficient evaluation of the full kernel.",
            )
        return Progress(model, statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        root = progress.model.root
        return {"normalization_": root, "components_": progress.statistics.first(len(root))}

    def _label(self, rows: OwnRows | None, data: Partitions) -> None:
        X = None if rows is None else read_rows(self, rows.X)
        self.component_indices_ = None if X is None else first_equal(self.components_, X)

    def _sampled(self, data: Partitions) -> tuple[Landmarks, Sample]:
        """The landmarks, by one pass over the data."""
        start = Landmarks.to_sample(
            self._kernel(), self.n_features_in_, self.n_components, seed_of(self.random_state), True
        )
        s = data.fold(Landmarks.summarize, start)
        must_have_rows(s.weight)
        return start.estimate(s), s

    def _of_gram(self, data: Partitions) -> tuple[Landmarks, Sample]:
        """The landmarks, as columns of the Gram matrix, which is gathered."""
        kernel, block = self._kernel(), data.gather("pass the rows, and a kernel that is not precomputed.")
        must_have_rows(float(block.weight.sum()))
        return Landmarks.of_gram(kernel, block, self.n_components, seed_of(self.random_state))

    @row_wise
    def transform(self, X: Any) -> Any:
        """The features of each row, (n_samples, n_components).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return self.model_(read_rows(self, X))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
