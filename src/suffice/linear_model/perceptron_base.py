"""Base of all perceptrons: the model, the loop over epochs, and predictions. Li ch. 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from ..core.arguments import MaybeArray
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.shapes import must, must_index
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, POSITIVE
from ..estimator.scores import Classifier
from ..fitting import LinearScore
from ..inputs import read_rows
from ..kernels import Kernel, KernelColumns, Linear, as_kernel, is_precomputed
from ..statistics import Objective, class_codes, class_weights, classes_of
from .initial_weights import FromInitialWeights, initial_weights, online_classes
from .perceptron_epochs import Dual, Epochs, Form, Primal, signs

PIECE = 1 << 22  # entries of the table of votes that are computed at a time


@dataclass(frozen=True, eq=False)
class Votes(Value):
    """All perceptrons of a fit. Each adds one update to the previous one, and has one vote for each visit
    that it survived."""

    problem: Annotated[np.ndarray, "int (M,)"]
    row: Annotated[np.ndarray, "int (M,)"]  # place among the support vectors
    size: Annotated[np.ndarray, "(M,)"]  # signed step size
    lasted: Annotated[np.ndarray, "(M,)"]  # visits until the next update

    def __call__(self, F: np.ndarray, P: int, bias: float) -> np.ndarray:
        """The mean of the votes, 1 or -1, from the products (N, S) with support vectors: (N, P)."""
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
class Hyperplanes(LinearScore):
    """One hyperplane per class against the rest: a row is of class c if theta_c (x, 1) >= 0. Two classes
    have one hyperplane, of the second.

    The statistics are the perceptron loss and its gradient.
    """

    theta: Annotated[np.ndarray, "(P, M + 1)"]  # of features, or of support vectors; the intercept last
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    fit_intercept: bool = True
    kernel: Annotated[KernelColumns | None, "M, D"] = None  # with the support vectors
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

    def features(self, X: Matrix) -> Any:
        return X if self.kernel is None else self.kernel(X)

    def decide(self, X: Matrix) -> np.ndarray:
        """Scores of rows, or the mean of votes, (N, P)."""
        if self.votes is not None:
            return self.votes(self.features(X), len(self.theta), self.fit_intercept)
        flat = self.flat
        return flat.scores(flat.features(X))

    @property
    def flat(self) -> Self:
        """The same with weights of features, if the kernel is linear."""
        if self.kernel is None or not isinstance(self.kernel.kernel, Linear):
            return self
        coef = self.theta[:, :-1].dot(self.kernel.points)
        return self.replace(theta=np.column_stack([coef, self.theta[:, -1]]), kernel=None, support=None)

    def summarize(self, block: Rows) -> Objective:
        F, codes = self.features(block.X), class_codes(self.classes, block.y)
        weight = block.weight * self.class_weight[codes]
        y = signs(codes, len(self.theta))
        margin = y * self.scores(F)
        push = np.where(margin <= 0, -y, 0.0) * weight[:, None]
        loss = weight.dot(np.maximum(-margin, 0.0).sum(axis=1))
        return Objective(float(weight.sum()), float(loss), self.gradient(F, push))


class BasePerceptron(Classifier, Iterative):
    """The loop over epochs, and predictions.

    A subclass says which rows need an update (`_margins`), what is recorded (`_pocket`, `_vote`), and which
    weights predict (`_weights`). If it has a parameter `kernel` that is not None, it learns in dual form.
    """

    model_: Annotated[Hyperplanes, "K, D"]
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    eta0: float
    random_state: Any
    n_iter_no_change: int
    class_weight: Any
    checkpoint: Any

    _pocket: ClassVar[bool] = False
    _vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tol": [NON_NEGATIVE, None],
        "eta0": [POSITIVE],
        "n_iter_no_change": [AT_LEAST_1],
    }

    def _margins(self) -> np.ndarray:
        """The scores that negative and positive rows must exceed, (2,)."""
        return np.zeros(2)

    def _weights(self, form: Form, epochs: Epochs) -> np.ndarray:
        """The weights to predict with."""
        return epochs.W

    def _check_options(self) -> None:
        if self._kernel is not None or getattr(self, "kernel_params", None):
            self._as_kernel()

    def _as_kernel(self) -> Kernel:
        return as_kernel(self._kernel, getattr(self, "kernel_params", None))

    @property
    def _kernel(self) -> Any:
        return getattr(self, "kernel", None)

    def _guarantee(self) -> Guarantee:
        """Hashes of the rows give their order in an epoch. Dual and voted forms hold row numbers."""
        by_number = self._kernel is not None or self._vote
        return Guarantee("order" if by_number else "rounding", gathers=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self._kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _solve(self, data: Partitions, coef_init: Any = None, intercept_init: Any = None) -> Progress:
        start = self._model(data, classes_of(data))
        form = self._form(data, start)
        first = self._first(form, start, self._initial(start, coef_init, intercept_init))
        watch = Watch(self, self.checkpoint, data, in_order=True).limited(self.max_iter)
        return self._judged(form, watch.loop(lambda epochs: self._epoch(form, epochs), first), data)

    def _model(self, data: Partitions, classes: np.ndarray) -> Hyperplanes:
        P = 1 if len(classes) == 2 else len(classes)
        factors = class_weights(self.class_weight, data, classes)
        theta = np.zeros((P, self.n_features_in_ + 1))
        return Hyperplanes(theta, classes, factors, self.fit_intercept)

    def _form(self, data: Partitions, start: Hyperplanes) -> Form:
        block = data.gather("use LogisticRegression, which sums over the rows where they are.")
        codes = np.array(class_codes(start.classes, np.asarray(block.y)), dtype=np.int64)
        weight = np.ascontiguousarray(block.weight * start.class_weight[codes])
        must_have_rows(weight)
        P, rule = len(start.theta), (self._margins(), float(self.eta0), self._pocket, self._vote)
        if self._kernel is None:
            return Primal(block, codes, weight, self.fit_intercept, P, *rule)
        kernel = self._as_kernel().with_rows(block.X, weight)
        return Dual(block, codes, weight, self.fit_intercept, P, *rule, kernel)

    def _columns(self, form: Form, support: np.ndarray) -> KernelColumns:
        """The kernel with the support vectors."""
        kernel = form.kernel if isinstance(form, Dual) else Linear()
        return KernelColumns.of(kernel, form.block.X, support, "use Perceptron(average=True).")

    def _initial(self, start: Hyperplanes, coef: Any, intercept: Any) -> np.ndarray | None:
        """The initial weights, (P, D + 1), or None for zero."""
        if coef is None and intercept is None:
            return None
        if self._kernel is not None:
            raise ValueError(
                f"coef_init and intercept_init are weights of features; got kernel={self._kernel!r}, which "
                "has weights of rows. Use kernel=None."
            )
        return initial_weights(start.theta, coef, intercept)

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

    def _epoch(self, form: Form, epochs: Epochs) -> Epochs:
        after = form.epoch(epochs, shuffle=self.shuffle, tol=self.tol, patience=self.n_iter_no_change)
        return after.replace(model=self._improved(form, after))

    def _improved(self, form: Form, epochs: Epochs) -> Hyperplanes:
        """The model with weights of features, or of support vectors."""
        model, W = epochs.model, self._weights(form, epochs)
        if isinstance(form, Primal) and not self._vote:
            return model.replace(theta=np.ascontiguousarray(W.T))
        problem, row = epochs.log[:, 0].astype(np.int64), epochs.log[:, 1].astype(np.int64)
        if isinstance(form, Primal):
            W = np.zeros((form.P, len(form.block)))
            np.add.at(W, (problem, row), epochs.log[:, 2])
        support = np.flatnonzero(W.any(axis=0))
        votes = None
        if self._vote:
            support = np.unique(row)
            lasted = np.empty(len(row))
            for k in range(form.P):
                mine = problem == k
                lasted[mine] = np.diff(epochs.log[mine, 3], append=epochs.visits[k])
            votes = Votes(problem, np.searchsorted(support, row), epochs.log[:, 2], lasted)
        theta = np.ascontiguousarray(np.column_stack([W[:, support], form.bias * W.sum(axis=1)]))
        return model.replace(theta=theta, kernel=self._columns(form, support), support=support, votes=votes)

    def _judged(self, form: Form, epochs: Epochs, data: Partitions) -> Epochs:
        """The epochs with the loss at their end, and whether the weights separate the rows."""
        separated, bound = form.novikoff(epochs)
        s = data.fold(Hyperplanes.summarize, epochs.model)
        return epochs.replace(statistics=s, separated_=separated, mistake_bound_=bound)

    def _fitted(self, progress: Epochs) -> dict[str, Any]:  # type: ignore[override]
        model: Hyperplanes = progress.model
        fitted: dict[str, Any] = {
            "classes_": model.classes,
            "intercept_": model.theta[:, -1].copy(),
            "mistakes_": progress.steps,
            "t_": float(progress.visits.max() + 1.0),
            "_epochs": None,
        }
        if self._kernel is None:  # `partial_fit` goes on from here
            unknown = dict.fromkeys(("statistics", "separated_", "mistake_bound_"))
            fitted["_epochs"] = progress.replace(log=np.empty((0, 4)), **unknown)
        if model.flat.kernel is None:
            fitted["coef_"] = np.ascontiguousarray(model.flat.theta[:, :-1])
        if model.kernel is not None:
            fitted["support_"], fitted["support_vectors_"] = model.support, model.kernel.points
            fitted["dual_coef_"] = np.ascontiguousarray(model.theta[:, :-1])
        if model.votes is not None and model.support is not None:
            votes, mine = model.votes, [model.votes.problem == k for k in range(len(model.theta))]
            fitted["updates_"] = [model.support[votes.row[k]] for k in mine]
            fitted["votes_"] = [votes.lasted[k] for k in mine]
        return fitted

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, each against the rest; for two classes, of the second against the first.

        The score of a voted perceptron is the mean of its votes, each 1 or -1.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        scores = self.model_.decide(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row. On the hyperplane between two classes it is the second.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


class WarmStartPerceptron(FromInitialWeights, BasePerceptron):
    """Perceptrons that can start from any weights of features."""


def _is_primal(perceptron: OnlinePerceptron) -> bool:
    """An `available_if` of scikit-learn."""
    if perceptron._kernel is not None:
        raise AttributeError(
            f"partial_fit with kernel={perceptron._kernel!r} would need the rows of earlier calls: use "
            "kernel=None."
        )
    return True


class OnlinePerceptron(WarmStartPerceptron):
    """Perceptrons that need no rows of earlier calls, in primal form."""

    @available_if(_is_primal)
    def partial_fit(
        self, X: Any, y: MaybeArray = None, classes: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Perform one epoch over these rows, from the weights of the last one.

        Parameters
        ----------
        X : array, CSR matrix or table
            The rows.
        y : array of shape (n_samples,), optional
            Labels. Leave out if a column of the table holds them.
        classes : array of shape (n_classes,), optional
            Classes across all calls to partial_fit. The first call needs them, and later ones may leave them
            out.
        sample_weight : array, optional
            Per-sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_options()
        before: Any = getattr(self, "_epochs", None)
        known = online_classes(self.class_weight, classes, None if before is None else before.model.classes)
        data = self._opened(X, y, sample_weight, reset=before is None)
        start = self._model(data, known)
        form = self._form(data, start)
        if before is None:
            before = self._first(form, start, None)
        again = before.replace(trace=(), active=np.ones_like(before.active))
        after = self._epoch(form, again).replace(stopped_because="partial_fit")
        return self._publish(self._judged(form, after, data))
