"""Ridge classifier: least squares with targets of plus or minus one. CS181 3.5.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from ..core.arguments import Seed
from ..core.blocks import Rows
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.shapes import must
from ..estimator.answers import row_wise
from ..estimator.scores import Classifier
from ..estimator.tags import tags
from ..inputs import read_rows, source_of
from ..statistics import afford_classes, class_codes, class_weights, distinct_targets
from .least_squares import LinearModel, Ridge, ridge_solver
from .precision import line
from .refinement import Refined


@dataclass(frozen=True, eq=False)
class LinearClasses(LinearModel):
    """Scores X coef' + intercept, fitted by least squares to 1 for the class of a row and to -1 for the
    other classes.

    Two classes have one score, that of the second. With several labels per row, each label has a score.
    """

    classes: Annotated[Any, "labels (K,) or None"] = None
    class_weight: Annotated[Any, "(K,) or None"] = None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        K, T = sizes.get("K", 2), sizes["T"]
        must(T == K or (K <= 2 and T == 1), f"There are {T} rows of coefficients for {K} classes.")

    def coded(self, block: Rows) -> Any:
        if block.y.ndim == 2:  # indicators of labels
            return block.replace(y=np.where(block.y > 0, 1.0, -1.0))
        codes = class_codes(self.classes, block.y)
        own = codes[:, None] == (np.arange(len(self.classes)) if len(self.classes) > 2 else [1])
        return block.replace(y=np.where(own, 1.0, -1.0), weight=block.weight * self.class_weight[codes])


class RidgeClassifier(Classifier, Refined):
    """Classifier by ridge regression: targets are 1 for the class and -1 for all others.

    The data is read twice: once for the classes, and once for the moments. If moments leave fewer than eleven
    digits it is read again, as in :class:`LinearRegression`. Many features, as the words of texts, are fitted
    by the dual or by conjugate gradients, as in :class:`Ridge`. Rows far on the correct side are penalized
    too, since their score is not one; :class:`LogisticRegression` does not penalize them.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty ``alpha * |coef|^2``. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    max_iter : int, default=None
        Ignored: the fit does not iterate.
    tol : float, default=1e-4
        Ignored: the fit does not iterate.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' gives every class the same total weight.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        The solution is exact under each of these names, as in :class:`Ridge`.
    positive : bool, default=False
        Whether to constrain the coefficients to be non-negative.
    random_state : int, default=None
        Ignored: the fit is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order. For several labels a row, their indices.
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients. For two classes, those of the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : None
        Always None: the fit does not iterate.
    solver_ : str
        The solver by its name in scikit-learn. The solution is exact under each of them.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : LinearClasses
        The fitted model.
    statistics_ : Moments
        The moments of rows and targets; after a fit to many features, only those of each column.

    See Also
    --------
    LogisticRegression : Probabilities of classes.
    Ridge : The regression behind it.

    Notes
    -----
    With targets y_nc of one for the class of row n and minus one for the others, the coefficients of class c
    minimize

    .. math::

        ∑_n s_n (y_{nc} - x_n^T w_c - b_c)^2 + α ‖w_c‖^2.

    References
    ----------
    * Hoerl and Kennard (1970), "Ridge regression: biased estimation for nonorthogonal problems",
      Technometrics 12.
    * Bishop (2006), Pattern Recognition and Machine Learning, Springer, section 4.1.3.

    Examples
    --------
    >>> from suffice.linear_model import RidgeClassifier
    >>> model = RidgeClassifier(alpha=0.0).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.decision_function([[1.0], [1.5], [2.0]]).round(6) + 0.0
    array([-0.4,  0. ,  0.4])
    >>> model.predict([[1.0], [2.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    model_: Annotated[LinearClasses, "K, T, D"]
    coef_: Annotated[np.ndarray, "real (D,) or real (T, D)"]
    intercept_: Annotated[Any, "number or real (T,)"]
    preserves_dtype = ("coef_", "intercept_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {**Ridge._parameter_constraints}
    __sklearn_tags__ = tags(sparse=True, classifier_tags__multi_label=True)

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: dict[Any, float] | str | None = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> Partitions:
        source = source_of(X)
        self._n_labels = 0 if source.flat_target(y) else np.shape(y)[1]
        if self._n_labels == 1:
            self._n_labels, y = 0, column_or_1d(y, warn=True)
        if self._n_labels and type_of_target(y) != "multilabel-indicator":
            raise ValueError("Multioutput target data is not supported: fit one classifier for each column.")
        if self._n_labels and self.class_weight is not None:
            raise ValueError("class_weight is not supported with several labels a row: pass sample_weight.")
        self.solver_ = ridge_solver(self, X)
        return super()._opened(source, y, sample_weight, reset)

    def _line(self, data: Partitions, classes: Any = None) -> LinearClasses:
        D = self.n_features_in_
        if self._n_labels:
            classes, weights = np.arange(self._n_labels), np.ones(self._n_labels)
        else:
            classes = data.fold(distinct_targets).values[0]
            afford_classes(len(classes))
            weights = class_weights(self.class_weight, data, classes)
        options = np.array(self.alpha, dtype=np.float64), self.fit_intercept, self.positive
        return LinearClasses(np.zeros((1, D)), np.zeros(1), *options, classes, weights)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        return {
            "classes_": model.classes,
            "coef_": model.coef[0] if len(model.coef) == 1 else model.coef,
            "intercept_": model.intercept if self.fit_intercept else 0.0,
            "n_iter_": None,
        }

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes. For two classes, one score: of the second against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return line(self, read_rows(self, X), X)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest score; of several labels a row, those with a positive score.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self.decision_function(X)
        if self._n_labels:
            return (scores > 0).astype(np.int64)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
