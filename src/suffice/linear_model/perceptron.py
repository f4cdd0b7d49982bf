"""The perceptron and its kin: hyperplanes that learn from their mistakes, one row at a time. Li ch. 2.

Rosenblatt, "The perceptron", 1958. At a row on the wrong side of its hyperplane, the row is added to the
weights, or taken away: w += eta y x, b += eta y. Where a hyperplane separates the classes, that ends:
Novikoff, "On convergence proofs for perceptrons", 1963. Averaged and voted perceptrons: Freund and Schapire,
"Large margin classification using the perceptron algorithm", 1999. The pocket: Gallant, "Perceptron-based
learning algorithms", 1990. Uneven margins: Li et al., "The perceptron algorithm with uneven margins", 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from ..core.cost import afford
from ..core.loop import Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.shapes import must, must_index
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import (
    AT_LEAST_1,
    CHECKPOINT,
    CLASS_WEIGHT,
    FINITE,
    N_JOBS,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Interval,
    Numbers,
    StrOptions,
    check_parameters,
)
from ..estimator.scores import Classifier
from ..fitting.kernel import Kernel
from ..inputs import open_rows, read_rows
from ..statistics import Objective, class_codes, class_weights, classes_of
from .perceptron_epochs import Dual, Epochs, Form, Primal, signs

VARIANTS = ("plain", "averaged", "voted", "pocket", "margin")
PIECE = 1 << 22  # numbers in the table of votes of some rows


@dataclass(frozen=True, eq=False)
class Votes(Value):
    """All perceptrons there were: each is the one before, and a step more. It votes as often as it lasted."""

    problem: Annotated[np.ndarray, "int (M,)"]
    row: Annotated[np.ndarray, "int (M,)"]  # place among the rows that are kept
    size: Annotated[np.ndarray, "(M,)"]  # of the step, with its sign
    lasted: Annotated[np.ndarray, "(M,)"]  # visits until the next step

    def __call__(self, F: np.ndarray, P: int, bias: float) -> np.ndarray:
        """The mean of the votes, 1 or -1, from the products (N, S) with rows that are kept: (N, P)."""
        out = np.zeros((len(F), P))
        for k in range(P):
            (mine,) = (self.problem == k).nonzero()
            rows = max(1, PIECE // max(1, len(mine)))
            for a in range(0, len(F), rows):
                scores = np.cumsum((F[a : a + rows, self.row[mine]] + bias) * self.size[mine], axis=1)
                vote = np.where(scores >= 0, 1.0, -1.0)
                out[a : a + rows, k] = vote.dot(self.lasted[mine]) / self.lasted[mine].sum()
        return out


@dataclass(frozen=True, eq=False)
class Hyperplanes(Model):
    """A row is of class c, not of the rest, where theta_c (x, 1) >= 0: of the second, if there are two.

    What is summed is the loss of the perceptron: how far the rows on the wrong side are from the right one,
    in the units of the scores.
    """

    theta: Annotated[np.ndarray, "(P, M + 1)"]  # of features, or of rows that are kept; the intercept last
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    fit_intercept: bool = True
    step: float = 1.0
    kernel: Annotated[Kernel | None, "M, D"] = None  # with the rows that are kept
    support: Annotated[np.ndarray | None, "int (M,)"] = None  # their places in the data
    votes: Votes | None = None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        P, K = sizes["P"], sizes["K"]
        must((1 if K <= 2 else K) == P, f"There are {P} hyperplanes for {K} classes.")
        if self.kernel is None:
            sizes["D"] = sizes["M"]
        if self.votes is not None:
            must_index(self.votes.row, sizes["M"], "The rows of votes")
            must_index(self.votes.problem, P, "The hyperplanes of votes")

    def features(self, X: Any) -> Any:
        return X if self.kernel is None else self.kernel(X)

    def scores(self, F: Any) -> np.ndarray:
        """(N, P)."""
        return np.asarray(F.dot(np.ascontiguousarray(self.theta[:, :-1].T))) + self.theta[:, -1]

    def decide(self, X: Any) -> np.ndarray:
        """Scores of rows, or the mean of votes, (N, P)."""
        if self.votes is not None:
            return self.votes(self.features(X), len(self.theta), self.fit_intercept)
        flat = self.flat
        return flat.scores(flat.features(X))

    @property
    def flat(self) -> Self:
        """The same by weights of features, if the kernel is linear."""
        if self.kernel is None or self.kernel.kernel != "linear":
            return self
        coef = self.theta[:, :-1].dot(self.kernel.rows)
        return self.replace(theta=np.column_stack([coef, self.theta[:, -1]]), kernel=None, support=None)

    def summarize(self, block: Any) -> Objective:
        F, codes = self.features(block.X), class_codes(self.classes, block.y)
        weight = block.weight * self.class_weight[codes]
        y = signs(codes, len(self.theta))
        margin = y * self.scores(F)
        push = np.where(margin <= 0, -y, 0.0) * weight[:, None]
        gradient = np.empty_like(self.theta)
        gradient[:, :-1] = F.T.dot(push).T
        gradient[:, -1] = push.sum(axis=0) if self.fit_intercept else 0.0
        loss = weight.dot(np.maximum(-margin, 0.0).sum(axis=1))
        return Objective(float(weight.sum()), float(loss), gradient.ravel())

    def estimate(self, s: Objective) -> Self:
        """One step for all rows at once: the batch perceptron."""
        return self.replace(theta=self.theta - self.step * s.gradient.reshape(self.theta.shape))


def _without_earlier_rows(perceptron: Perceptron) -> bool:
    """An `available_if` of scikit-learn."""
    if perceptron.algorithm == "dual" or perceptron.variant in ("voted", "pocket"):
        raise AttributeError(
            f"partial_fit with algorithm={perceptron.algorithm!r}, variant={perceptron.variant!r} would need "
            "rows of earlier calls: it is for the variants 'plain', 'averaged' and 'margin' in primal form."
        )
    return True


class Perceptron(Classifier, Iterative):
    """Classes by hyperplanes that learn from their mistakes, one row at a time.

    What it learns depends on the order of the rows, so they are brought to one place: those of a scan or a
    cluster too, as long as they fit in memory. Several classes are told apart each from the rest.

    Parameters
    ----------
    penalty : None, default=None
        Only None. 'l2', 'l1' and 'elasticnet' are refused: for a penalty see scikit-learn's
        ``SGDClassifier(loss="perceptron")``.
    alpha : float, default=0.0001
        Ignored: there is no penalty.
    l1_ratio : float, default=0.15
        Ignored: there is no penalty.
    fit_intercept : bool, default=True
        Whether the hyperplanes need not pass through the origin.
    max_iter : int, default=1000
        Epochs at most. It stops after one without a mistake.
    tol : float or None, default=0.001
        It stops too when the mean loss of an epoch has not fallen by so much below the best one,
        `n_iter_no_change` times in a row. With None it goes on.
    shuffle : bool, default=True
        Whether each epoch has another order. It is drawn by numbers made of the rows, so that the order in
        which they came does not matter. Without, they are taken as they came.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks.
    eta0 : float, default=1.0
        Size of a step. From zero on it only scales the weights, unless there is a margin.
    n_jobs : int, default=None
        Ignored.
    random_state : int, RandomState instance or None, default=0
        Of the orders.
    early_stopping : bool, default=False
        Only False: ``variant="pocket"`` keeps the best weights.
    validation_fraction : float, default=0.1
        Ignored.
    n_iter_no_change : int, default=5
        Epochs in a row without a better loss, after which it stops.
    class_weight : dict or 'balanced', default=None
        Factors on the weights of the rows, by class.
    warm_start : bool, default=False
        Whether to start from the solution of the last fit, in primal form.
    algorithm : {'primal', 'dual'}, default='primal'
        Whether it learns a weight for each feature, or one for each row from the Gram matrix of the rows.
        Both take the same steps.
    variant : {'plain', 'averaged', 'voted', 'pocket', 'margin'}, default='plain'
        Which of the weights on the way to predict with: the last ones; their mean over all visits; all of
        them by vote, each as often as it lasted; those that were right for most of the rows. With 'margin'
        they are the last ones, of steps at the rows that are right by no more than the margin, too.
    margin : float or pair of floats, default=1.0
        With ``variant="margin"``: how far on the right side a row has to be, in the units of scores. A pair
        is for the rows of the rest (or of the first of two classes), and for those of the class.
    kernel : str or callable, default='linear'
        In dual form: a name that scikit-learn's `pairwise_kernels` knows, a function of two arrays of rows
        that returns the matrix of their products, or 'precomputed': X is that matrix.
    gamma : float, default=None
        Of the kernels 'rbf', 'poly', 'sigmoid' and their like; None is one over the number of features.
    degree : float, default=3
        Of the kernel 'poly'.
    coef0 : float, default=1
        Of the kernels 'poly' and 'sigmoid'.
    checkpoint : str or path, default=None
        File in which progress is kept while the fit runs; a fit that was killed goes on from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features; one row for two classes. Not with a kernel, nor for those that vote.
    intercept_ : ndarray of shape (n_classes,)
        Constants of the hyperplanes; one for two classes.
    support_ : ndarray of shape (n_support,)
        In dual form, and of those that vote: the rows at which a step was made. `support_vectors_` are these
        rows.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        In dual form: the weights of these rows, with the sign of their class.
    updates_ : list of ndarray
        Of those that vote: the rows of the steps in their order, for each problem; `votes_` says how long
        what each step made then lasted.
    mistakes_ : ndarray of shape (n_classes,)
        Number of steps; one for two classes.
    mistake_bound_ : ndarray of shape (n_classes,)
        Novikoff's bound on it, from the last hyperplane: infinite if that does not separate the classes, or
        if the weights did not start at zero. `novikoff_bound` has the best one.
    t_ : float
        Number of visits to rows, and one.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray
        Share of the rows at which a step was made, by epoch; for several classes the mean over them.
    converged_ : bool
        Whether it stopped before `max_iter`: after an epoch without a mistake, or because of `tol`.
    separated_ : ndarray of shape (n_classes,)
        Whether the last epoch of each problem was without a mistake.
    stopped_because_ : str
        Why the epochs ended.
    model_ : Hyperplanes
        The fitted model.
    statistics_ : Objective
        The loss of the perceptron at the solution, summed over the rows.

    See Also
    --------
    LogisticRegression : Probabilities; the data may be anywhere.
    suffice.sequence.StructuredPerceptron : Labels of sequences.
    suffice.svm.novikoff_bound : The largest number of mistakes.

    Notes
    -----
    As Li has it, a row on the hyperplane is a mistake while it learns, and of the positive class afterwards.
    A row of weight two is a row that is visited twice in a row. Distributed data that does not fit in memory
    is for :class:`LogisticRegression`.

    A row x with class y, one or minus one, on the wrong side changes the weights by the learning rate η:

    .. math::

        w ← w + η y x, \\qquad b ← b + η y.

    References
    ----------
    * Rosenblatt (1958), "The perceptron: a probabilistic model for information storage and organization in
      the brain", Psychological Review 65.
    * Freund and Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
      Learning 37.

    Examples
    --------
    >>> from suffice.linear_model import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[3, 3], [4, 3], [1, 1]], [1, 1, -1])
    >>> model.coef_, model.intercept_, model.mistakes_
    (array([[1., 1.]]), array([-3.]), array([7.]))
    >>> model.mistake_bound_.round()
    array([286.])
    """

    model_: Annotated[Hyperplanes, "K, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [NON_NEGATIVE],
        "l1_ratio": [SHARE],
        "fit_intercept": ["boolean"],
        "max_iter": [AT_LEAST_1],
        "tol": [NON_NEGATIVE, None],
        "shuffle": ["boolean"],
        "verbose": ["verbose"],
        "eta0": [POSITIVE],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [AT_LEAST_1],
        "class_weight": CLASS_WEIGHT,
        "warm_start": ["boolean"],
        "algorithm": [StrOptions({"primal", "dual"})],
        "variant": [StrOptions(set(VARIANTS))],
        "margin": [FINITE, Numbers()],
        "kernel": [str, callable],
        "gamma": [NON_NEGATIVE, None],
        "degree": [NON_NEGATIVE],
        "coef0": [FINITE],
        "checkpoint": CHECKPOINT,
    }

    def __init__(
        self,
        *,
        penalty: Any = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        algorithm: str = "primal",
        variant: str = "plain",
        margin: Any = 1.0,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        checkpoint: Any = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.algorithm = algorithm
        self.variant = variant
        self.margin = margin
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.checkpoint = checkpoint

    def _guarantee(self) -> Guarantee:
        """The values of the rows make the order of an epoch. The dual and voted forms keep row numbers."""
        places = self.algorithm == "dual" or self.variant == "voted"
        return Guarantee("order" if places else "rounding", gathers=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit to labelled rows.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows. See `suffice.rows` for tables that hold their target and weight.
        y : array of shape (n_samples,), optional
            Labels, if they are not a column of the table.
        coef_init : array of shape (n_classes, n_features), optional
            Weights to start from, in primal form; zero if not given.
        intercept_init : array of shape (n_classes,), optional
            Constants to start from, in primal form.
        sample_weight : array, optional
            Weights of the rows: two is the row twice in a row, zero is its absence.

        Returns
        -------
        self
        """
        self._check()
        data = open_rows(self, X, y, sample_weight)
        start = self._model(data, classes_of(data))
        form = self._form(data, start)
        first = self._first(form, start, self._given(start, coef_init, intercept_init))
        watch = Watch(self, self.checkpoint, data, in_order=True).limited(self.max_iter)
        progress = watch.loop(lambda here: self._epoch(form, here), first)
        return self._conclude(form, progress, data)

    @available_if(_without_earlier_rows)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows, from where the last one ended; in primal form.

        Parameters
        ----------
        X : array, CSR matrix or table
            The rows.
        y : array of shape (n_samples,), optional
            Labels, if they are not a column of the table.
        classes : array, optional
            All classes there will be: in the first call.
        sample_weight : array, optional
            Weights of the rows.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._check()
        before: Any = getattr(self, "_epochs", None)
        data = open_rows(self, X, y, sample_weight, reset=before is None)
        known = None if before is None else before.model.classes
        if classes is not None and known is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(f"classes={classes!r} are not the classes of the first call: {known.tolist()}.")
        if known is None:
            known = classes_of(data) if classes is None else np.unique(np.asarray(classes))
        start = self._model(data, known)
        form = self._form(data, start)
        if before is None:
            before = self._first(form, start, None)
        again = before.replace(trace=(), active=np.ones_like(before.active))
        self._conclude(form, self._epoch(form, again).replace(stopped_because="callback"), data)
        self.stopped_because_ = "partial_fit"
        return self

    def _check(self) -> None:
        if self.penalty is not None or self.early_stopping:
            raise ValueError(
                f"penalty={self.penalty!r}, early_stopping={self.early_stopping} is not supported: use "
                "sklearn.linear_model.SGDClassifier(loss='perceptron') for a penalty, variant='pocket' or "
                "'averaged' for weights that do not follow the last mistakes."
            )
        if self.algorithm == "primal" and self.kernel != "linear":
            raise ValueError(
                f"kernel={self.kernel!r} needs algorithm='dual'. For much data, map the features instead, "
                "e.g. with sklearn.kernel_approximation.Nystroem."
            )
        if self.variant == "margin" and np.size(self.margin) not in (1, 2):
            raise ValueError(f"margin={self.margin!r} must be a number, or a pair of them.")

    def _model(self, data: Partitions, classes: np.ndarray) -> Hyperplanes:
        P = 1 if len(classes) == 2 else len(classes)
        factors = class_weights(self.class_weight, data, classes)
        theta = np.zeros((P, self.n_features_in_ + 1))
        return Hyperplanes(theta, classes, factors, self.fit_intercept, float(self.eta0))

    def _form(self, data: Partitions, start: Hyperplanes) -> Form:
        block = data.gather("use LogisticRegression, which sums over the rows where they are.")
        codes = np.array(class_codes(start.classes, np.asarray(block.y)), dtype=np.int64)
        weight = np.ascontiguousarray(block.weight * start.class_weight[codes])
        must_have_rows(weight)
        margin = np.zeros(2) + (np.ravel(self.margin) if self.variant == "margin" else 0.0)
        given = block, codes, weight, self.fit_intercept, len(start.theta), margin, start.step
        if self.algorithm == "primal":
            return Primal(*given)
        N, D = block.X.shape
        if self.kernel == "precomputed" and N != D:
            raise ValueError(f"A precomputed kernel is a square matrix, and this one has shape {(N, D)}.")
        return Dual(*given, self._kernel(np.arange(N) if self.kernel == "precomputed" else block.X))

    def _kernel(self, rows: Any) -> Kernel:
        return Kernel(rows, self.kernel, self.gamma, self.degree, self.coef0)

    def _kept(self, X: Any, support: np.ndarray) -> Kernel:
        """The products with the rows that are kept: dense, as a file holds them."""
        if self.kernel == "precomputed":
            return self._kernel(support)
        afford(len(support) * X.shape[1], f"{len(support)} rows that are kept", "use variant='averaged'.")
        return self._kernel(X[support].toarray() if sp.issparse(X) else X[support])

    def _given(self, start: Hyperplanes, coef: Any, intercept: Any) -> np.ndarray | None:
        """The weights to start from, (P, D + 1), or None for zero."""
        (P, D), before = start.theta.shape, getattr(self, "model_", None)
        if coef is None and intercept is None:
            if not self.warm_start or self.algorithm == "dual" or self.variant == "voted" or before is None:
                return None
            return before.theta if before.kernel is None and before.theta.shape == (P, D) else None
        if self.algorithm == "dual" or self.variant == "voted":
            raise ValueError("coef_init and intercept_init are for the primal form without votes.")
        theta = start.theta.copy()
        if coef is not None:
            theta[:, :-1] = _shaped("coef_init", coef, (P, D - 1))
        if intercept is not None:
            theta[:, -1] = _shaped("intercept_init", intercept, (P,))
        return theta

    def _first(self, form: Form, start: Hyperplanes, theta: np.ndarray | None) -> Epochs:
        weights = form.first(theta)
        zero = np.zeros(form.P)
        return Epochs(
            start,
            **weights,
            late=np.zeros_like(weights["W"]),
            pocket=weights["W"],
            log=np.empty((0, 4)),
            visits=zero,
            steps=zero,
            run=zero,
            tried=zero,
            best=zero - 1.0,
            active=np.ones(form.P, bool),
            least=zero + np.inf,
            stuck=zero,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            from_zero=theta is None,
        )

    def _epoch(self, form: Form, here: Epochs) -> Epochs:
        pocket, vote = self.variant == "pocket", self.variant == "voted"
        how: Any = {"shuffle": self.shuffle, "tol": self.tol, "patience": self.n_iter_no_change}
        after = form.epoch(here, pocket=pocket, vote=vote, **how)
        W = form.mean(after) if self.variant == "averaged" else after.pocket if pocket else after.W
        return after.replace(model=self._improved(after.model, form, W, after))

    def _improved(self, model: Hyperplanes, form: Form, W: np.ndarray, here: Epochs) -> Hyperplanes:
        """The model with weights of features, or of the rows that are kept."""
        if isinstance(form, Primal) and self.variant != "voted":
            return model.replace(theta=np.ascontiguousarray(W.T))
        problem, row = here.log[:, 0].astype(np.int64), here.log[:, 1].astype(np.int64)
        if isinstance(form, Primal):
            W = np.zeros((form.P, len(form.block)))
            np.add.at(W, (problem, row), here.log[:, 2])
        support = np.flatnonzero(W.any(axis=0))
        votes = None
        if self.variant == "voted":
            support = np.unique(row)
            lasted = np.empty(len(row))
            for k in range(form.P):
                mine = problem == k
                lasted[mine] = np.diff(here.log[mine, 3], append=here.visits[k])
            votes = Votes(problem, np.searchsorted(support, row), here.log[:, 2], lasted)
        theta = np.ascontiguousarray(np.column_stack([W[:, support], form.bias * W.sum(axis=1)]))
        kernel = self._kept(form.block.X, support)
        return model.replace(theta=theta, kernel=kernel, support=support, votes=votes)

    def _conclude(self, form: Form, progress: Epochs, data: Partitions) -> Self:
        for name in ("coef_", "support_", "support_vectors_", "dual_coef_", "updates_", "votes_", "_epochs"):
            self.__dict__.pop(name, None)  # of a fit with other options
        self._publish(progress.replace(statistics=data.fold(Hyperplanes.summarize, progress.model)))
        if isinstance(form, Primal):
            self._epochs = progress.replace(log=np.empty((0, 4)))  # from which `partial_fit` goes on
        self.separated_, self.mistake_bound_ = form.novikoff(progress)
        self.mistakes_ = progress.steps
        self.t_ = float(progress.visits.max() + 1.0)
        return self

    def _fitted(self, model: Hyperplanes) -> dict[str, Any]:
        fitted: dict[str, Any] = {"classes_": model.classes, "intercept_": model.theta[:, -1].copy()}
        if model.flat.kernel is None:
            fitted["coef_"] = np.ascontiguousarray(model.flat.theta[:, :-1])
        if model.kernel is not None:
            fitted["support_"], fitted["support_vectors_"] = model.support, model.kernel.rows
            fitted["dual_coef_"] = np.ascontiguousarray(model.theta[:, :-1])
        if model.votes is not None and model.support is not None:
            votes, mine = model.votes, [model.votes.problem == k for k in range(len(model.theta))]
            fitted["updates_"] = [model.support[votes.row[k]] for k in mine]
            fitted["votes_"] = [votes.lasted[k] for k in mine]
        return fitted

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, each against the rest; for two, of the second against the first.

        Of those that vote it is the mean of the votes, each 1 or -1.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        scores = self.model_.decide(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row; on the hyperplane of two classes it is the second.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def _shaped(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64)
    if found.size != np.prod(shape):
        raise ValueError(f"{name} has shape {found.shape}, expected {shape}.")
    return found.reshape(shape)
