"""Naive Bayes for mixed types of columns: each column has the density of its kind. Li ch. 4."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.parameters import NON_NEGATIVE, Numbers, StrOptions
from ..estimator.tags import tags
from ..families import Categorical, ProductFamily
from ..inputs.kinds import KINDS, check_kinds, column_kinds
from .generative import GenerativeClassifier

KIND_OF = {family: kind for kind, family in KINDS.items()}


class MixedNB(GenerativeClassifier):
    """Naive Bayes classifier for mixed columns: Gaussian, categorical, binary and counts.

    NaN means not observed, in `fit` and in `predict`. Categories may be strings. Categories that were not
    seen are ignored in `predict`, and added by `partial_fit`.

    Parameters
    ----------
    kinds : str, sequence of str, or dict, default='auto'
        Kind of the columns: 'gaussian', 'categorical', 'bernoulli', 'poisson' or 'auto'. One for all, one for
        each, or a dict from the name or index of a column to its kind, with 'auto' for the others. 'auto'
        takes columns of strings as categorical, columns of zeros and ones (or booleans) as Bernoulli, and
        other numbers as Gaussian. Categories that are numbers, and counts, need their kind.
    alpha : float, default=1.0
        Additive smoothing: a pseudo-count for each category and each value of a binary column; for counts,
        this many pseudo-rows with one event each.
    class_prior : array of shape (n_classes,), default=None
        Prior probabilities of the classes. If None, the class frequencies are used.
    var_smoothing : float, default=1e-9
        Portion of the largest variance of the Gaussian columns that is added to all their variances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    class_count_ : ndarray of shape (n_classes,)
        Weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    kinds_ : list of str
        Kind of each column.
    categories_ : dict
        The sorted categories of each categorical column, by column index.
    feature_log_prob_ : dict
        log p(category given class) of each categorical column, (n_classes, n_categories), by column index.
    model_ : Labelled
        The fitted model, over a product of families.
    statistics_ : GroupStatistics
        The sums. `partial_fit` adds to them.

    See Also
    --------
    GaussianNB : Numbers alone.
    CategoricalNB : Categories alone.
    BernoulliNB : Flags alone.
    MultinomialNB : Counts of words.

    Notes
    -----
    Each column has the density of its kind:

    .. math::

        p(c | x) ∝ π_c ∏_j p_j(x_j | θ_{cj}).

    The product runs over the columns that are observed.

    References
    ----------
    * Hand and Yu (2001), "Idiot's Bayes: not so stupid after all?", International Statistical Review 69.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.naive_bayes import MixedNB
    >>> X = np.array([[1.0, "red"], [1.2, "red"], [3.1, "blue"], [2.9, None]], dtype=object)
    >>> model = MixedNB().fit(X, ["a", "a", "b", "b"])
    >>> model.kinds_
    ['gaussian', 'categorical']
    >>> model.predict(np.array([[1.1, "green"], [float("nan"), "blue"]], dtype=object))
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kinds": [StrOptions({*KINDS, "auto"}), list, tuple, dict],
        "alpha": [NON_NEGATIVE],
        "class_prior": [Numbers(0), None],
        "var_smoothing": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(allow_nan=True, string=True)

    def __init__(
        self,
        kinds: Any = "auto",
        *,
        alpha: float = 1.0,
        class_prior: Any = None,
        var_smoothing: float = 1e-9,
    ) -> None:
        self.kinds = kinds
        self.alpha = alpha
        self.class_prior = class_prior
        self.var_smoothing = var_smoothing

    def _prior(self, K: int) -> Any:
        return self.class_prior

    def _family(self, data: Partitions, K: int) -> ProductFamily:
        names = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        kinds = column_kinds(self, self.kinds, "kinds", default="auto")
        kinds = check_kinds(data, kinds, names)

        def start(kind: str, size: int) -> Any:
            options = {"smoothing": self.var_smoothing} if kind == "gaussian" else {"alpha": self.alpha}
            return KINDS[kind].start(K, size, **options)

        return ProductFamily.by_kind(kinds, start)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        product: Any = model.component
        categories, log_prob = {}, {}
        kinds: dict[int, str] = {}
        for columns, part in zip(product.columns, product.parts, strict=True):
            kinds |= dict.fromkeys(columns.tolist(), KIND_OF[type(part)])
            if isinstance(part, Categorical):
                for d, values, probability in zip(columns, part.values, part.probability, strict=True):
                    categories[int(d)] = values
                    with np.errstate(divide="ignore"):
                        log_prob[int(d)] = np.log(probability)
        with np.errstate(divide="ignore"):
            log_prior = np.log(model.prior)
        return {
            "classes_": model.classes,
            "class_count_": s.weight,
            "class_log_prior_": log_prior,
            "kinds_": [kinds[d] for d in sorted(kinds)],
            "categories_": categories,
            "feature_log_prob_": log_prob,
        }
