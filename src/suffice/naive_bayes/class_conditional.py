"""Generative classifier over any family: naive Bayes, discriminant analysis, mixture discriminant analysis.

Hastie and Tibshirani, "Discriminant analysis by Gaussian mixtures", 1996; Nigam, McCallum, Thrun and
Mitchell, "Text classification from labeled and unlabeled documents using EM", 2000; Li ch. 4 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Rows, missing
from ..core.loop import Progress, Watch, one_task
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.guarantees import Exempt
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, FINITE, NON_NEGATIVE, Numbers, StrOptions
from ..families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    Family,
    FullGaussian,
    Gaussian,
    GroupStatistics,
    Mixtures,
    Multinomial,
    PartlyLabelled,
    Poisson,
    ProductFamily,
    TiedGaussian,
)
from ..fitting import em
from ..inputs import map_rows, read_rows
from ..inputs.kinds import KINDS, check_kinds, column_kinds
from ..mixture.base import Division
from ..statistics import Distinct, describe, distinct_targets
from .generative import GenerativeClassifier

FAMILIES: dict[str, Any] = {
    **GAUSSIANS,
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "multinomial": Multinomial,
    "poisson": Poisson,
}


@dataclass(frozen=True, eq=False)
class Look(Statistics):
    """First pass over labelled rows: the classes, and the weights of rows without a label or with missing
    values."""

    classes: Distinct
    hidden: float
    holes: float


def _look(block: Rows) -> Look:
    X, hidden = block.X, missing(block.y)
    holes = np.zeros(0)
    if not sp.issparse(X) and X.dtype != object and np.isnan(X.sum()):
        holes = block.weight[np.isnan(X).any(axis=1)]
    return Look(distinct_targets(block), float(block.weight[hidden].sum()), float(holes.sum()))


def _no_flags(block: Rows) -> np.ndarray:
    """The weight of rows with values other than zero and one."""
    X = block.X
    strange = X.data if sp.issparse(X) else X
    strange = (strange != 0) & (strange != 1) & (strange == strange)
    if sp.issparse(X):
        rows = np.repeat(np.arange(len(block)), np.diff(X.indptr))[strange]
    else:
        rows = np.flatnonzero(strange.any(axis=1))
    return np.array([block.weight[np.unique(rows)].sum()])


def _of_class(model: PartlyLabelled, k: int, block: Rows) -> Any:
    if block.X.dtype == object:
        raise ValueError(
            "n_components > 1 requires numeric columns: encode the others first, e.g. with OrdinalEncoder."
        )
    return block[np.flatnonzero(model.codes(block.y) == k)]


def _divided(model: PartlyLabelled, divisions: tuple[Division, ...], block: Rows) -> GroupStatistics:
    """Statistics of the labelled rows, by the component of the class to which each belongs."""
    family: Any = model.component
    codes, (K, M) = model.codes(block.y), family.weight.shape
    R = np.zeros((len(block), K, M))
    for k, division in enumerate(divisions):
        rows = np.flatnonzero(codes == k)
        R[rows, k] = division.shares(block[rows]) * block.weight[rows, None]
    return GroupStatistics(
        0.0, R.sum(axis=(0, 2)), family.summarize_as(block.X, R.reshape(len(block), K * M))
    )


def _placed(family: Any, features: Any) -> Any:
    """Gaussians with the means and variances of the features."""
    if isinstance(family, Mixtures):
        return family.replace(component=_placed(family.component, features))
    if not isinstance(family, Gaussian):
        return family
    variance = np.where(features.variance > 0, features.variance, 1.0).mean()
    return family.replace(mean=family.mean + features.mean, covariance=family.covariance * variance)


class ClassConditional(GenerativeClassifier, Iterative):
    """Generative classifier by Bayes' rule: p(c given x) is proportional to p(c) p(x given c).

    The family is the class-conditional density p(x given c). Diagonal Gaussians give Gaussian naive Bayes.
    Gaussians with a shared covariance give linear discriminant analysis; with a covariance per class,
    quadratic discriminant analysis. Several components per class give mixture discriminant analysis. Rows
    without a label (None or NaN) are semi-supervised: they contribute by their responsibilities, and `fit` is
    expectation maximization. With all labels known and one component, `fit` is a single sum.

    NaN in X means not observed, except in multinomial rows.

    Parameters
    ----------
    family : str, sequence of str, dict or Family, default='tied'
        'full', 'tied', 'diag' or 'spherical' Gaussians, 'bernoulli', 'categorical', 'multinomial' or
        'poisson'. Or the kind of each column ('gaussian', 'bernoulli', 'categorical' or 'poisson'), as a
        sequence or as a dict from the name or index of a column to its kind, with Gaussian as the default:
        columns are then independent. Or a `suffice.families.Family` with one density for each component of
        each class, class by class, e.g. your own or one with a prior.
    n_components : int, default=1
        Number of components of each class.
    alpha : float, default=1.0
        Additive smoothing of binary features, categories and counts: a pseudo-count for each value.
    reg_covar : float, default=1e-6
        Added to the variances of Gaussians.
    class_prior : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If None, the class frequencies are used.
    unlabelled : int, float or str, default=None
        Label that marks unlabelled rows, besides None and NaN, e.g. -1 as in `sklearn.semi_supervised`.
    tol : float, default=1e-3
        Tolerance of the stopping criterion: the change of the mean log-likelihood.
    max_iter : int, default=100
        Maximum number of iterations.
    n_init : int, default=1
        Number of initializations of the components. The best result is kept. All runs share each pass over
        the data.
    random_state : int, RandomState or None, default=None
        Seed for the initialization of the components.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_count_ : ndarray of shape (n_classes,)
        Weight of each class, including the responsibilities for rows without a label.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    coef_ : ndarray of shape (n_classes, n_statistics)
        Coefficients of `sufficient_statistics` in the log-probabilities of classes. Only with one component.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts of the log-probabilities of classes.
    model_ : PartlyLabelled
        The fitted model. Its `component` has the parameters of the family.
    n_iter_ : int
        Number of iterations; 1 if the fit is a single sum.
    statistics_ : GroupStatistics
        The sums. If `fit` iterates, `trace_`, `converged_` and `stopped_because_` are set too.

    See Also
    --------
    GaussianNB : Diagonal Gaussians.
    suffice.discriminant_analysis.QuadraticDiscriminantAnalysis : Full Gaussians.
    suffice.mixture.GaussianMixture : No labels at all.

    Notes
    -----
    With M components in each class,

    .. math::

        p(c | x) ∝ π_c ∑_{m=1}^M ω_{cm}\\, p(x | θ_{cm}).

    References
    ----------
    * Hastie and Tibshirani (1996), "Discriminant analysis by Gaussian mixtures", Journal of the Royal
      Statistical Society B 58.
    * Nigam, McCallum, Thrun and Mitchell (2000), "Text classification from labeled and unlabeled documents
      using EM", Machine Learning 39.

    Examples
    --------
    >>> from suffice.naive_bayes import ClassConditional
    >>> X = [[0.0], [1.0], [5.0], [6.0], [5.5]]
    >>> model = ClassConditional("diag").fit(X, ["a", "a", "b", "b", None])
    >>> model.predict([[2.0], [4.0]])
    array(['a', 'b'], dtype=object)
    """

    exempt = (Exempt("rounding", "Starts are drawn by the values of rows.", lambda e: e.n_components > 1),)

    takes_unlabelled = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [StrOptions(set(FAMILIES)), list, tuple, dict, Family],
        "n_components": [AT_LEAST_1],
        "alpha": [NON_NEGATIVE],
        "reg_covar": [NON_NEGATIVE],
        "class_prior": [Numbers(0), None],
        "unlabelled": [FINITE, "nan", str, None],  # no label is infinite
        "max_iter": [AT_LEAST_0],
    }

    def __init__(
        self,
        family: Any = "tied",
        *,
        n_components: int = 1,
        alpha: float = 1.0,
        reg_covar: float = 1e-6,
        class_prior: Any = None,
        unlabelled: Any = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.family = family
        self.n_components = n_components
        self.alpha = alpha
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.unlabelled = unlabelled
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        name_of_family = self.family if isinstance(self.family, str) else "mixed"
        if isinstance(self.family, Family):
            name_of_family = "given"
        input_tags = tags.input_tags
        input_tags.allow_nan = name_of_family != "multinomial"
        input_tags.positive_only = name_of_family in ("multinomial", "poisson", "bernoulli")
        input_tags.sparse = name_of_family in ("multinomial", "bernoulli") and self.n_components == 1
        input_tags.categorical = name_of_family == "categorical"
        input_tags.string = name_of_family in ("categorical", "mixed")
        tags.classifier_tags.poor_score = name_of_family not in GAUSSIANS
        return tags

    def _prior(self, K: int) -> Any:
        return self.class_prior

    def _family(self, data: Partitions, K: int) -> Family:
        """Return the family of K densities, or of K times the number of components."""
        M, D = self.n_components, self.n_features_in_
        if isinstance(self.family, Family):
            self.family.must_be_of(K * M, D, "classes" if M == 1 else "components of classes")
            return self.family
        if not isinstance(self.family, str):
            kinds = column_kinds(self, self.family, "family")
            check_kinds(data, kinds, getattr(self, "feature_names_in_", range(D)))
            return ProductFamily.by_kind(kinds, lambda kind, size: self._of_kind(KINDS[kind], K * M, size))
        if self.family == "bernoulli" and data.fold(_no_flags).any():
            raise ValueError(
                "family='bernoulli' expects zeros and ones, and X has other values: "
                "binarize them, e.g. X > 0."
            )
        return self._of_kind(FAMILIES[self.family], K * M, D)

    def _of_kind(self, kind: Any, K: int, size: int) -> Family:
        options = {"reg": self.reg_covar} if issubclass(kind, Gaussian) else {"alpha": self.alpha}
        return kind.start(K, size, **options)

    def _start(self, data: Partitions, classes: Any = None) -> PartlyLabelled:
        if classes is None:
            classes = data.fold(distinct_targets).values[0]
        if self.unlabelled is not None:
            classes = classes[classes != self.unlabelled]
        if not len(classes):
            raise ValueError("No row has a label, expected some labelled rows of each class.")
        start = super()._start(data, classes)
        if self.n_components > 1:
            shares = np.full((len(start.classes), self.n_components), 1.0 / self.n_components)
            start = start.replace(component=Mixtures(shares, start.component))
        marker = None if self.unlabelled != self.unlabelled else self.unlabelled  # NaN is one always
        return PartlyLabelled(**start.fields(), unlabelled=marker)

    def _solve(self, data: Partitions, classes: MaybeArray = None) -> Progress:
        if classes is not None:  # `partial_fit` passes them, and fits by one pass
            return super()._solve(data, classes)
        look = data.fold(_look)
        start = self._start(data, look.classes.values[0])
        if not self._is_hidden(start, look):
            with one_task(self):
                return self._estimated(start, data.fold(PartlyLabelled.summarize_labelled, start))
        return em(
            self._starts(data, start, look.holes > 0),
            data,
            tol=self.tol,
            max_iter=self.max_iter,
            watch=Watch(self, self.checkpoint, data),
        )

    def _starts(self, data: Partitions, start: PartlyLabelled, holes: bool) -> tuple[PartlyLabelled, ...]:
        """Models of the labelled rows, one for each initialization."""
        if holes:  # missing entries are at first expected near the mean of their feature
            start = start.replace(component=_placed(start.component, data.fold(describe).features))
        if self.n_components == 1:
            return (start.estimate(data.fold(PartlyLabelled.summarize_labelled, start)),)
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_init)
        of_class = [data.map(_of_class, start, k) for k in range(len(start.classes))]
        looks = [rows.fold(describe) for rows in of_class]
        for c, look in zip(start.classes, looks, strict=True):
            if look.rows < self.n_components:
                raise ValueError(
                    f"Class {c} has {look.rows:g} labelled rows, and n_components={self.n_components}: "
                    f"use fewer components."
                )
        divided = [
            tuple(
                Division.of(rows, look, self.n_components, "k-means++", int(seed))
                for rows, look in zip(of_class, looks, strict=True)
            )
            for seed in seeds
        ]
        return tuple(start.estimate(data.fold(_divided, start, divisions)) for divisions in divided)

    @available_if(lambda self: self.n_components == 1)
    def partial_fit(
        self, X: Any, y: MaybeArray = None, classes: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Update the model with more labelled rows. The result equals one `fit` to all rows.

        `classes` are all classes. The first call needs them.
        """
        if hasattr(self, "trace_"):
            raise ValueError(
                "partial_fit adds to the sums of a single pass, and this fit iterated: "
                "call fit with all rows."
            )
        return self._add(X, y, sample_weight, classes)

    def _summary(self, start: Any, data: Partitions) -> Any:
        look = data.fold(_look)
        if self._is_hidden(start, look):
            raise ValueError(
                "partial_fit requires complete labelled rows, and X or y has missing values: call fit "
                "with all rows."
            )
        return data.fold(PartlyLabelled.summarize_labelled, start)

    def _is_hidden(self, start: PartlyLabelled, look: Look) -> bool:
        """Whether the fit needs EM, because labels, values or components are unknown."""
        unlabelled = look.hidden > 0
        if self.unlabelled is not None:
            unlabelled |= bool((look.classes.values[0] == self.unlabelled).any())
        holes = look.holes > 0 and isinstance(start.component, FullGaussian | TiedGaussian)
        return unlabelled or holes or self.n_components > 1

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        fitted: dict[str, Any] = {"classes_": model.classes, "class_prior_": model.prior}
        if s is not None:  # None if max_iter is 0
            fitted["class_count_"] = s.weight
        if not progress.stopped_because:
            fitted["n_iter_"] = max(1, progress.n_iter)
        return fitted

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of `sufficient_statistics` in the log-probabilities of classes."""
        return self._linear()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the log-probabilities of classes."""
        with np.errstate(divide="ignore"):
            return self._linear()[1] + np.log(self.model_.prior)

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        try:
            return self.model_.component.natural()
        except NotImplementedError as error:
            raise AttributeError(
                "coef_ is not defined for n_components > 1: mixtures are not an exponential family, and "
                "their log odds are not linear."
            ) from error

    def sufficient_statistics(self, X: Any) -> np.ndarray:
        """Sufficient statistics t(x) of each row, (n_samples, n_statistics). The log odds of classes are
        linear in them.

        log p(c given x) is ``t(x) @ coef_[c] + intercept_[c]``, up to a term of the row.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.component.sufficient, X)

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density log p(x) of each row, summed over classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(self.model_.log_density, X)

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the model, and their classes."""
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        rng = generator(Purpose.GENERATED, random.randint(np.iinfo(np.int32).max))
        k = rng.choice(len(self.classes_), size=n_samples, p=self.model_.prior)
        return self.model_.component.sample(k, rng), self.classes_[k]
