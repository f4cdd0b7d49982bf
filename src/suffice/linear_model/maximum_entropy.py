"""The maximum entropy model: of all p(c given x) under which features have their empirical means, the one of
largest entropy. Li ch. 6, Gong and Xu ch. 9.

It is log-linear, and the weights of the features maximize the likelihood: Berger, Della Pietra and Della
Pietra, "A maximum entropy approach to natural language processing", 1996. Each pass sums the loss and its
gradient: the expected minus the observed counts of the features. The penalty is added on the driver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..core.arguments import MaybeArray, MaybePath
from ..core.blocks import Matrix, Rows, Sequences, offsets
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.shapes import must
from ..core.statistics import Parts
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.guarantees import FROM_ZERO
from ..estimator.parameters import AT_LEAST_0, INF, POSITIVE, StrOptions
from ..estimator.scores import Classifier
from ..fitting import LossModel, Problem, RidgePenalty, Solver, find_solver
from ..fitting.linear_algebra import gram, times, transposed_times
from ..fitting.separation import margins, without_maximum
from ..fitting.standardize import ColumnSizes, Standardization, column_sizes
from ..inputs import read_rows
from ..losses import log_softmax, softmax
from ..statistics import Extremes, Objective, class_codes, classes_of

SOLVERS = (
    "lbfgs",
    "gis",
    "iis",
    "gradient",
    "bfgs",
    "dfp",
    "conjugate-gradient",
    "newton",
    "coordinate",
)
LEVELS = 64  # maximum number of totals of features by which expected counts are summed separately


@dataclass(frozen=True, eq=False)
class Products(Value):
    """Features x_d [c = k] of each column and class, and [c = k] if there are intercepts.

    A block has one row for each example.
    """

    n_classes: int
    fit_intercept: bool

    def scores(self, block: Rows, theta: np.ndarray) -> np.ndarray:
        """sum_p theta_p f_p(x, c), (N, K)."""
        W = theta.reshape(self.n_classes, -1).T
        D = block.X.shape[1]
        scores = times(block.X, np.ascontiguousarray(W[:D]))
        return scores + W[D] if self.fit_intercept else scores

    def sums(self, X: Matrix, G: np.ndarray) -> np.ndarray:
        """sum_x sum_c G_xc f(x, c), (P,)."""
        out = transposed_times(X, G).T
        if self.fit_intercept:
            out = np.hstack([out, G.sum(axis=0)[:, None]])
        return out.ravel()

    def totals(self, X: Matrix) -> np.ndarray:
        """sum_p f_p(x, c), (N,): the same for each class."""
        return np.asarray(X.sum(axis=1)).ravel() + float(self.fit_intercept)

    def least(self, X: Matrix) -> np.ndarray:
        """The smaller of zero and the least value of each feature, (P,)."""
        low = np.append(_least(X), np.zeros(int(self.fit_intercept)))
        return np.tile(low, self.n_classes)

    def spread(self, block: Rows, P: np.ndarray) -> np.ndarray:
        """sum_x w_x of the covariance of f(x, c), with c drawn by P, (P, P)."""
        X, K = block.X, self.n_classes
        if self.fit_intercept:
            one = np.ones((len(P), 1))
            X = sp.hstack([X, one], format="csr") if sp.issparse(X) else np.hstack([X, one])
        D = X.shape[1]
        out = np.empty((K, D, K, D))
        for j in range(K):
            for k in range(j + 1):
                curve = block.weight * P[:, j] * ((j == k) - P[:, k])
                square = X.T @ (sp.diags_array(curve) @ X if sp.issparse(X) else curve[:, None] * X)
                out[j, :, k] = square.toarray() if sp.issparse(square) else square
                out[k, :, j] = out[j, :, k].T
        return out.reshape(K * D, K * D)

    def sizes(self, block: Rows) -> ColumnSizes:
        return column_sizes(block)

    def labels(self, block: Rows) -> np.ndarray:
        return block.y


@dataclass(frozen=True, eq=False)
class Alternatives(Value):
    """Explicit features: each example has one row per class, f(x, c), in CSR."""

    n_classes: int

    def scores(self, block: Sequences, theta: np.ndarray) -> np.ndarray:
        return times(block.X, theta[:, None]).reshape(-1, self.n_classes)

    def sums(self, X: Matrix, G: np.ndarray) -> np.ndarray:
        return transposed_times(X, G.reshape(-1, 1)).ravel()

    def totals(self, X: Any) -> np.ndarray:
        """(N K,), one for each class of each example."""
        return np.asarray(X.sum(axis=1)).ravel()

    def least(self, X: Matrix) -> np.ndarray:
        return _least(X)

    def spread(self, block: Sequences, P: np.ndarray) -> np.ndarray:
        mean = sp.csr_array((P.ravel(), np.arange(P.size), block.offset), (len(P), P.size)) @ block.X
        return gram(block.X, (P * block.weight[:, None]).ravel()) - gram(mean, block.weight)

    def sizes(self, block: Sequences) -> ColumnSizes:
        """Differences of each feature between the classes of an example, where non-zero."""
        N, K = len(block), self.n_classes
        example = sp.csr_array((np.full(N * K, 1.0 / K), np.arange(N * K), block.offset), (N, N * K))
        apart = block.X - sp.csr_array(example.T * K) @ (example @ block.X)
        squares, weight = example @ sp.csr_array(apart.multiply(apart)), block.weight
        differs = (squares > 0).astype(np.float64).T @ weight
        return ColumnSizes.of(float(weight.sum()), np.zeros(len(differs)), squares.T @ weight, differs)

    def labels(self, block: Sequences) -> np.ndarray:
        return block.y[block.offset[:-1]]


def _least(X: Any) -> np.ndarray:
    if not sp.issparse(X):
        return X.min(axis=0, initial=0.0)
    low = np.zeros(X.shape[1])
    np.minimum.at(low, X.indices, X.data)
    return low


@dataclass(frozen=True, eq=False)
class FeatureWeights(LossModel):
    """p(c given x) proportional to exp(sum_p theta_p f_p(x, c))."""

    theta: Annotated[np.ndarray, "(P,)"]
    classes: Annotated[np.ndarray, "labels (K,)"]
    features: Any  # Products or Alternatives: what a block holds
    curvature: bool = False  # whether to sum the Hessian

    def check_loaded(self, sizes: dict[str, int]) -> None:
        K, P, features = sizes["K"], sizes["P"], self.features
        must(isinstance(features, Products | Alternatives), "The features must be Products or Alternatives.")
        must(features.n_classes == K, f"The features are of {features.n_classes} classes, not of {K}.")
        if isinstance(features, Products):
            sizes["D"] = P // K - features.fit_intercept
            must(K * (sizes["D"] + features.fit_intercept) == P, f"There are {P} weights for {K} classes.")

    def probabilities(self, block: Rows | Sequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """p(c given x) (N, K), the class index of each example (N,), and the loss (N,)."""
        P = self.features.scores(block, self.theta)
        P -= P.max(axis=1, keepdims=True, initial=-np.inf)
        codes = class_codes(self.classes, self.features.labels(block))
        own = P[np.arange(len(codes)), codes]
        np.exp(P, out=P)
        total = P.sum(axis=1)
        P /= total[:, None]
        return P, codes, np.log(total) - own

    def summarize(self, block: Rows | Sequences) -> Objective:
        """The loss and its gradient: the expected minus the observed counts of the features."""
        from ..loops.log_linear import errors

        error = np.ascontiguousarray(self.features.scores(block, self.theta))
        codes = class_codes(self.classes, self.features.labels(block))
        loss = errors(error, np.zeros(len(self.classes)), codes, block.weight)  # in the place of the scores
        hessian = self.features.spread(block, self.probabilities(block)[0]) if self.curvature else 0.0
        return Objective(float(block.weight.sum()), loss, self.features.sums(block.X, error), hessian)

    def observed(self, block: Rows | Sequences) -> Parts:
        """The weight of the examples, and the counts of the features in them, (P,)."""
        codes = class_codes(self.classes, self.features.labels(block))
        G = np.zeros((len(codes), len(self.classes)))
        G[np.arange(len(codes)), codes] = block.weight
        return Parts((float(block.weight.sum()), self.features.sums(block.X, G)))

    def expected(self, levels: np.ndarray, block: Rows | Sequences) -> Parts:
        """Loss, and expected counts of the features where they add up to each level (M, P), with its weight.

        A total between two levels is counted with the one above it.
        """
        P, _, loss = self.probabilities(block)
        P *= block.weight[:, None]
        place, G = self.place(levels, block.X), P if len(P) == block.X.shape[0] else P.reshape(-1, 1)
        out, mass = np.zeros((len(levels), len(self.theta))), np.zeros(len(levels))
        for m in np.unique(place).tolist():
            at = np.flatnonzero(place == m) if (place != m).any() else slice(None)
            out[m], mass[m] = self.features.sums(block.X[at], G[at]), G[at].sum()
        return Parts((float(block.weight.dot(loss)), out, mass))

    def place(self, levels: np.ndarray, X: Matrix) -> np.ndarray:
        return np.minimum(np.searchsorted(levels, self.features.totals(X)), len(levels) - 1)

    def sizes(self, block: Rows | Sequences) -> ColumnSizes:
        return self.features.sizes(block)

    def margins(self, block: Rows | Sequences) -> np.ndarray:
        """Margin of each example: the score of its class minus the next largest score, (N,)."""
        codes = class_codes(self.classes, self.features.labels(block))
        return margins(self.features.scores(block, self.theta), codes)


def _range(model: FeatureWeights, block: Rows | Sequences) -> Extremes:
    """The least value of each feature, and the least and the largest of their totals."""
    totals = model.features.totals(block.X)
    low = np.append(model.features.least(block.X), totals.min(initial=np.inf))
    return Extremes(low, np.array([totals.max(initial=-np.inf)]))


def _highest(model: FeatureWeights, edges: np.ndarray, block: Rows | Sequences) -> Extremes:
    """The largest total of features between adjacent edges; minus infinity if no total lies there."""
    totals = model.features.totals(block.X)
    high = np.full(len(edges), -np.inf)
    np.maximum.at(high, np.minimum(np.searchsorted(edges, totals), len(edges) - 1), totals)
    return Extremes(np.zeros(0), high)


def listed(features: Any, classes: np.ndarray, rows: Rows) -> Sequences:
    """A block whose examples are the classes of each row, with f(x, c): functions, or a matrix by class."""
    X, K = rows.X, len(classes)
    N = X.shape[0]
    if callable(features[0]):
        F = _called(features, classes, X)
    else:
        by_class = [sp.csr_array(X @ A) for A in features]
        turn = (np.arange(K) * N + np.arange(N)[:, None]).ravel()
        F = sp.csr_array(sp.vstack(by_class, format="csr")[turn])
    F.sort_indices()
    codes = None if rows.y is None else np.repeat(class_codes(classes, rows.y), K)
    return Sequences(F, offsets(np.full(N, K)), codes, None if rows.unweighted else rows.weight, rows.index)


def _called(features: Any, classes: np.ndarray, X: Matrix) -> sp.csr_array:
    """f_p(x, c) of all rows and classes, by calling the functions one by one."""
    labels = classes.tolist()
    data: list[float] = []
    indices: list[int] = []
    ends = [0]
    for n in range(X.shape[0]):
        x = _row(X, n)
        for c in labels:
            for p, f in enumerate(features):
                try:
                    value = float(f(x, c))
                except Exception as error:
                    error.add_note(
                        f"In feature {p} of MaximumEntropy, for the row {x!r} and the class {c!r}."
                    )
                    raise
                if value != 0.0:
                    data.append(value)
                    indices.append(p)
            ends.append(len(data))
    F = sp.csr_array((np.array(data), np.array(indices, np.int64), ends), (len(ends) - 1, len(features)))
    if not np.isfinite(F.data).all():
        p = F.indices[~np.isfinite(F.data)][0]
        raise ValueError(f"Feature {p} is NaN or infinite for some row and class: features must be finite.")
    return F


def _row(X: Any, n: int) -> np.ndarray:
    """Row n, dense; numbers as float64."""
    if not sp.issparse(X):
        return X[n] if X.dtype.kind in "OU" else X[n].astype(np.float64)
    x, at = np.zeros(X.shape[1]), slice(X.indptr[n], X.indptr[n + 1])
    np.add.at(x, X.indices[at], X.data[at])
    return x


def _of_points(watch: Watch, problem: Problem) -> Watch:
    """A watch of the points of a problem, from a watch of models."""
    return replace(watch, as_model=lambda theta: watch.as_model(problem.solution(theta)))


class MaximumEntropy(Classifier, Iterative):
    """Maximum entropy classifier (conditional log-linear model).

    p(c given x) is proportional to ``exp(sum_p coef_[p] * f_p(x, c))``. Without a penalty, the expected mean
    of each feature under the model equals its empirical mean. With a penalty, the two may differ.

    Parameters
    ----------
    features : list of callables, list of matrices, or array of shape (n_classes, n_columns, P), default=None
        Functions ``f(x, c)`` of a row (a one-dimensional array) and a class that return a number. They are
        called once for each row and class. Or a matrix of shape (n_columns, P) for each class in order, dense
        or sparse: the features of a row are then ``x @ features[k]``. A three-dimensional array, which may be
        a `scipy.sparse.coo_array`, holds all of them. None means the product of each column with each class,
        and a constant for each class, as in logistic regression.
    C : float, default=1.0
        Inverse of the strength of the l2 penalty. It is a Gaussian prior with variance C on the weights, and
        makes the constraints on the means soft. ``np.inf`` means no penalty.
    solver : {'lbfgs', 'gis', 'iis', 'gradient', 'bfgs', 'dfp', 'conjugate-gradient', 'newton', \
'coordinate'}, default='lbfgs'
        Optimization algorithm. All that converge reach the same weights.

        - 'lbfgs', 'bfgs', 'dfp': quasi-Newton methods, with limited memory or a dense matrix.
        - 'gis', 'iis': generalized and improved iterative scaling. Each weight is updated alone, so as to
          match its expected to its observed count. 'gis' bounds the total of the features by its maximum;
          'iis' solves an equation with a term for each value of the total, by Newton's method. For binary
          features and counts: with features of both signs they take very many passes.
        - 'gradient', 'conjugate-gradient': gradient descent and nonlinear conjugate gradient.
        - 'newton', 'coordinate': minimize the quadratic model that a pass sums, jointly or one weight
          after the other. They need memory for each pair of features.
    fit_intercept : bool, default=True
        Whether to add a constant for each class, which is not penalized. Used only if `features` is None.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest difference between the expected and the empirical
        mean of a feature, in units of its standard deviation, as in `LogisticRegression`.
    max_iter : int, default=1000
        Maximum number of iterations.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    coef_ : ndarray of shape (P,) or (n_classes, n_features)
        Weights of the features. If `features` is None, the weight of each column in each class.
    intercept_ : ndarray of shape (n_classes,)
        Weights of the constants. Only if they are fitted.
    observed_ : ndarray
        Mean of each feature in the data, in the order of `coef_` row by row, with the constants last.
    expected_ : ndarray
        Mean of each feature expected by the model at the rows of the data, in the same order.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Penalized mean loss by iteration. Without a penalty it is the dual function, which converges to the
        conditional entropy of the model.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : FeatureWeights
        The fitted model. Its `summarize` returns the loss and the gradient of a block of features.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    LogisticRegression : The same model with the columns as features.
    maximum_entropy_distribution : The maximum entropy distribution from means alone.

    Notes
    -----
    Iterative scaling requires non-negative features. Features with negative values are shifted by their
    minimum, which does not change the probabilities.

    The model with features f_p and weights w_p is

    .. math::

        p(c | x) = \\frac{\\exp ∑_p w_p f_p(x, c)}{∑_j \\exp ∑_p w_p f_p(x, j)}.

    References
    ----------
    * Berger, Della Pietra and Della Pietra (1996), "A maximum entropy approach to natural language
      processing", Computational Linguistics 22.
    * Della Pietra, Della Pietra and Lafferty (1997), "Inducing features of random fields", IEEE Transactions
      on Pattern Analysis and Machine Intelligence 19.

    Examples
    --------
    >>> from suffice.linear_model import MaximumEntropy
    >>> features = [lambda x, c: x[0] == "in" and c == "dans", lambda x, c: c == "en"]
    >>> X = [["in"], ["in"], ["on"], ["on"]]
    >>> model = MaximumEntropy(features, C=float("inf")).fit(X, ["dans", "en", "en", "dans"])
    >>> model.predict_proba([["in"]]).round(3)
    array([[0.5, 0.5]])
    """

    exempt = (FROM_ZERO,)

    model_: Annotated[FeatureWeights, "K, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "features": ["array-like", "sparse matrix", None],
        "C": [POSITIVE, INF],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [AT_LEAST_0],
    }

    def __init__(
        self,
        features: Any = None,
        *,
        C: float = 1.0,
        solver: str = "lbfgs",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        checkpoint: MaybePath = None,
    ) -> None:
        self.features = features
        self.C = C
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = self.features is not None and any(map(callable, self._listed()))
        return tags

    def _solve(self, data: Partitions) -> Progress:
        classes = classes_of(data)
        data, start = self._start(data, classes)
        watch = Watch(self, self.checkpoint, data, as_model=lambda at: at.replace(classes=classes))
        problem, progress = self._minimise(data, start, watch)
        at = problem.solution(progress.model).replace(curvature=False)
        if problem.model.curvature:  # the sums at the last point have the Hessian
            s = data.fold(FeatureWeights.summarize, at)
        else:
            s = problem.statistics(progress.model)
        self.observed_ = data.fold(FeatureWeights.observed, start).parts[1] / s.weight
        self.expected_ = self.observed_ + s.gradient / s.weight
        progress = without_maximum(
            Progress(at, progress.trace, s, progress.stopped_because), data, 1.0 / self.C
        )
        return progress.replace(model=at.replace(classes=classes))

    # --- how it is fitted ---------------------------------------------------------------------------------

    def _standard(self, data: Partitions, start: FeatureWeights) -> Standardization:
        """Features are scaled. Columns of products with classes are also centred if there are constants."""
        sizes = data.fold(FeatureWeights.sizes, start)
        constants = isinstance(start.features, Products) and self.fit_intercept
        strength = 1.0 / (self.C * sizes.weight)
        return Standardization.of(sizes, strength, n_constants=int(constants), shift=constants)

    def _minimise(self, data: Partitions, start: FeatureWeights, watch: Watch) -> tuple[Problem, Progress]:
        """The problem and the result of its solver."""
        solver = find_solver(self.solver, SOLVERS)
        by = self._by_scaling if solver.scaling else self._by_descent
        return by(solver, data, start, watch)

    def _start(self, data: Partitions, classes: np.ndarray) -> tuple[Partitions, FeatureWeights]:
        """The features of the data, and the model with zero weights."""
        K, D = len(classes), self.n_features_in_
        layout: Any
        if self.features is None:
            layout, size = Products(K, self.fit_intercept), K * (D + self.fit_intercept)
        else:
            layout, size = Alternatives(K), self._n_listed(classes)
            data, classes = data.map(listed, self._listed(), classes).persisted(), np.arange(K)
        afford(8.0 * size, f"the weights of {size} features, with their history,", "use fewer features.")
        theta = np.zeros(size)
        if self.warm_start and hasattr(self, "model_") and self.model_.theta.shape == theta.shape:
            theta = self.model_.theta
        return data, FeatureWeights(theta, classes, layout)

    def _listed(self) -> Any:
        """The features as a list. A sparse three-dimensional array is split by class."""
        F = self.features
        if not (sp.issparse(F) and F.ndim == 3):
            return F
        k, d, p = F.coords
        parts = [k == c for c in range(F.shape[0])]
        return [sp.csr_array((F.data[at], (d[at], p[at])), F.shape[1:]) for at in parts]

    def _n_listed(self, classes: np.ndarray) -> int:
        features, K, D = self._listed(), len(classes), self.n_features_in_
        functions = sum(map(callable, features))
        if not len(features) or 0 < functions < len(features):
            raise ValueError(
                f"features is {'of both kinds' if functions else 'empty'}: expected either functions f(x, c) "
                "or a matrix for each class; or None, for the products of columns and classes."
            )
        if functions:
            return len(features)
        shapes = {A.shape if sp.issparse(A) else np.shape(A) for A in features}
        shape = next(iter(shapes))
        if len(features) != K or len(shapes) != 1 or len(shape) != 2 or shape[0] != D:
            raise ValueError(
                f"features has {len(features)} matrices of shapes {sorted(shapes)}; expected one for each of "
                f"the {K} classes, all of shape ({D}, P): x @ features[k] are the features of class k. "
                "Or a list of functions f(x, c)."
            )
        return shape[1]

    def _by_descent(
        self, solver: Solver, data: Partitions, start: FeatureWeights, watch: Watch
    ) -> tuple[Problem, Progress]:
        standard, size = self._standard(data, start), len(start.theta)
        if solver.hessian:
            afford(size**2, f"the Hessian of {size} features", "use solver='lbfgs'.")
        penalty = RidgePenalty(standard.by_parameter(1.0 / (self.C * standard.scale**2), size))
        problem = Problem(data, start.replace(curvature=solver.hessian), penalty, standard=standard)
        theta, watch = problem.start, _of_points(watch, problem)
        value, gradient = problem(theta)[:2]
        if np.abs(gradient).max(initial=0.0) <= self.tol:  # nothing to learn, and rounding is not followed
            at_rest = Progress(theta, (value,), None, "tolerance")
            return problem, watch.limited(self.max_iter).loop(lambda _: at_rest, Progress(theta))
        return problem, solver(problem, tol=self.tol, max_iter=self.max_iter, watch=watch)

    def _by_scaling(
        self, solver: Solver, data: Partitions, start: FeatureWeights, watch: Watch
    ) -> tuple[Problem, Progress]:
        standard = self._standard(data, start)
        strength = standard.by_parameter(np.full(len(standard.scale), 1.0 / self.C), len(start.theta))
        problem = Problem(data, start, RidgePenalty(strength))
        ranges = data.fold(_range, start)
        # Minus its minimum, no feature is negative; what is subtracted is the same for all
        # classes, and changes no probability.
        low, bottom, top = ranges.low[:-1], ranges.low[-1], ranges.high[-1]
        levels = self._levels(data, start, bottom, top)
        afford(len(levels) * len(low), f"the counts of {len(low)} features by size", "use solver='gis'.")
        weight, observed = data.fold(FeatureWeights.observed, start).parts
        observed = observed - low * weight

        def counts(theta: np.ndarray) -> tuple[float, np.ndarray]:
            if len(levels) == 1:
                expected = problem.sums(theta).gradient + observed
                return problem.value(theta), np.maximum(expected, 0.0)[None]
            loss, expected, mass = data.fold(FeatureWeights.expected, start.at(theta), levels).parts
            penalty = 0.5 * float(strength.dot(theta**2))
            return (loss + penalty) / weight, np.maximum(expected - low * mass[:, None], 0.0)

        return problem, solver.minimize(
            counts,
            observed,
            levels - low.sum(),
            start.theta,
            penalty=strength,
            standard=standard.gradient,
            tol=self.tol * weight,
            max_iter=self.max_iter,
            watch=_of_points(watch, problem),
        )

    def _levels(self, data: Partitions, start: FeatureWeights, bottom: float, top: float) -> np.ndarray:
        """The largest total of features in each of `LEVELS` equal ranges, without the empty ranges.

        A total counts as the largest of its range: this shortens the step, which still increases the
        likelihood.
        """
        if self.solver == "gis" or not top > bottom:
            return np.array([top])
        edges = np.linspace(bottom, top, LEVELS)
        high = data.fold(_highest, start, edges).high
        return high[np.isfinite(high)]

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: FeatureWeights = progress.model
        if not isinstance(model.features, Products):
            return {"classes_": model.classes, "coef_": model.theta}
        W, D = model.theta.reshape(len(model.classes), -1), self.n_features_in_
        attributes = {"classes_": model.classes, "coef_": np.ascontiguousarray(W[:, :D])}
        return attributes | ({"intercept_": W[:, D].copy()} if self.fit_intercept else {})

    # --- prediction ---------------------------------------------------------------------------------------

    def _block(self, X: Any, y: MaybeArray = None) -> Any:
        """The features of rows in memory."""
        rows = Rows(read_rows(self, X), None if y is None else np.asarray(y))
        return rows if self.features is None else listed(self._listed(), self.classes_, rows)

    def _scores(self, X: Any) -> np.ndarray:
        block = self._block(X)
        return self.model_.features.scores(block, self.model_.theta)

    def feature_expectations(
        self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> np.ndarray:
        """Return the mean of each feature over rows in memory: empirical with `y`, or expected by the model.

        Parameters
        ----------
        X : array, CSR matrix or table
            The rows.
        y : array of shape (n_samples,), optional
            Their classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        ndarray
            The means, in the order of `observed_`.
        """
        block, K = self._block(X), len(self.classes_)
        P = softmax(self._scores(X)) if y is None else np.eye(K)[class_codes(self.classes_, np.asarray(y))]
        weight = np.ones(len(P)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self.model_.features.sums(block.X, P * weight[:, None]) / weight.sum()

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes. For two classes, one score: of the second against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior probability log p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return log_softmax(self._scores(X))

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probability p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.exp(self.predict_log_proba(X))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]
