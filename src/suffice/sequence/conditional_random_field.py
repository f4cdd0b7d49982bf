"""Conditional random field on a chain of labels. Li ch. 11; Gong and Xu ch. 8 and 9.

Lafferty, McCallum and Pereira, "Conditional random fields: probabilistic models for segmenting and labeling
sequence data", 2001. Each pass sums the loss with its gradient; the penalty is added on the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..core.arguments import MaybeArray, MaybePath, Seed
from ..core.blocks import Matrix, Sequences, power_of_two
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.shapes import must_index
from ..core.values import Value
from ..estimator.answers import row_wise
from ..estimator.guarantees import Guarantee
from ..estimator.kernel import INSTEAD
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, INF, POSITIVE, SHARE, StrOptions, seed_of
from ..fitting import LossModel, Problem, ScaledProblem, Solver, find_solver
from ..fitting.landmarks import Features, Landmarks
from ..fitting.linear_algebra import add_transposed_times, times
from ..fitting.standardize import ColumnSizes, Standardization, column_sizes
from ..inputs import in_blocks, read_sequences
from ..kernels import Kernel, KernelColumns, Linear, as_kernel
from ..kernels.base import KernelLike
from ..statistics import Distinct, Objective, class_codes, class_weights, classes_of, distinct
from .base import StepClassifier
from .chain import Chains

SOLVERS = ("lbfgs", "gradient", "sgd", "iis-s", "iis-t")
RUN_BYTES = 1 << 21  # memory of the scores of the steps that are summarized at a time
WORTH = 64  # least operations per number of a summary, so that adding it takes a small part of the time
LEAST = 1 << 22  # least operations on a block


@dataclass(frozen=True, eq=False)
class LinearChain(LossModel):
    """p(y given x) proportional to exp sum_n (x_n node[:, y_n] + move_n[y_n-1, y_n]), with move_n from n = 2.

    The weights of transitions are the same at all steps, or move_n = move + sum_e x_n[e] edge_e for some
    columns e. With a kernel, x_n are the kernels of a step with the points of the kernel.
    """

    threads_share_blocks: ClassVar[bool] = True
    theta: Annotated[np.ndarray, "(M * K + K * K + E * K * K,)"]  # nodes, moves, moves by `edge`
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    edge: Annotated[np.ndarray, "int (E,)"]  # indices of columns
    kernel: Annotated[KernelColumns | None, "M, D"] = None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must_index(self.edge, sizes["M"], "The columns of moves")
        if self.kernel is None:
            sizes["D"] = sizes["M"]

    def features(self, block: Sequences) -> Any:
        """Return the block. With a kernel, its features are the kernels of the steps with the points."""
        return block if self.kernel is None else block.replace(X=self.kernel(block.X))

    @property
    def node(self) -> np.ndarray:
        """Weights of features, or of the points of the kernel, (M, K)."""
        return self._parts(self.theta)[0]

    @property
    def moves(self) -> np.ndarray:
        """Weights of transitions, (1 + E, K, K)."""
        return self._parts(self.theta)[1]

    def _parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        K, E = len(self.classes), len(self.edge)
        split = len(theta) - (1 + E) * K * K
        return theta[:split].reshape(-1, K), theta[split:].reshape(1 + E, K, K)

    def chains(self, block: Sequences) -> Chains:
        """Return the log potentials of the sequences of a block."""
        return self._chains(self.features(block))

    def _chains(self, block: Sequences) -> Chains:
        K = len(self.classes)
        move = self.moves[0]
        if len(self.edge):
            E = self._edge_values(block.X)
            move = move + E.dot(self.moves[1:].reshape(len(self.edge), K * K)).reshape(-1, K, K)
        return Chains(times(block.X, self.node), np.zeros(K), move, block.offset)

    def _edge_values(self, X: Any) -> np.ndarray:
        columns = X[:, self.edge]
        return columns.toarray() if sp.issparse(columns) else columns

    def runs(self, block: Sequences, by_step: bool = False) -> Iterable[Any]:
        """Iterate over runs of sequences of a block whose scores stay in the cache.

        `by_step` tells whether each step has scores of transitions.
        """
        K = len(self.classes)
        rows = power_of_two(RUN_BYTES / (8 * K * (K if by_step or len(self.edge) else 1)), 64)
        return (block[part] for part in block.parts(rows))

    def summarize(self, block: Sequences, each: Callable[..., Iterable[Any]] = map) -> Objective:
        """Return minus the log-likelihood, and its gradient: expected minus observed counts.

        Steps are the examples. All runs of the block are added to one array, in order. `each` is `map`, or
        its equivalent in threads, which computes terms ahead.
        """
        out = np.zeros(len(self.theta))
        loss, total = 0.0, 0.0
        for run, states, moves, more in each(self._apart, tuple(self.runs(self.features(block)))):
            loss, total = loss + more, total + float(self.weights(run).dot(run.lengths))
            self._add_counts(run.X, states, moves, out)
        return Objective(total, loss, out)

    def _apart(self, run: Any) -> tuple[Any, np.ndarray, np.ndarray, float]:
        """Return expected minus observed states and transitions, and the loss."""
        chains, weight = self._chains(run), self.weights(run)
        states, moves = chains.smoothed(weight)
        score = self._observe(run, -weight, states, moves, chains)
        return run, states, moves, float(weight.dot(chains.log_sum)) + score

    def weights(self, block: Sequences) -> np.ndarray:
        """Return the weights of sequences times the mean of the class weights of their labels, (S,)."""
        if (self.class_weight == 1).all():
            return block.weight
        of_steps = self.class_weight[self.codes(block)]
        sums = np.bincount(np.repeat(np.arange(len(block)), block.lengths), of_steps, minlength=len(block))
        return block.weight * sums / np.maximum(block.lengths, 1)

    def observed(self, block: Sequences) -> np.ndarray:
        """Return the observed counts of features and transitions, (P,)."""
        K, out = len(self.classes), np.zeros(len(self.theta))
        for run in self.runs(self.features(block)):
            N = run.X.shape[0]
            states, moves = np.zeros((N, K)), np.zeros((N, K, K) if len(self.edge) else (K, K))
            self._observe(run, self.weights(run), states, moves, self._chains(run))
            self._add_counts(run.X, states, moves, out)
        return out

    def expected(self, block: Sequences) -> np.ndarray:
        """Return the expected counts of features and transitions given x, (P,)."""
        out = np.zeros(len(self.theta))
        for run in self.runs(self.features(block)):
            self._add_counts(run.X, *self._chains(run).smoothed(run.weight), out)
        return out

    def expected_by_total(self, totals: np.ndarray, block: Sequences) -> np.ndarray:
        """Return the expected counts with class weights by the total of features of a sequence, (M, P)."""
        out = np.zeros((len(totals), len(self.theta)))
        for run in self.runs(self.features(block), by_step=True):
            states, moves = self._chains(run).by_step().smoothed(self.weights(run))
            place = np.repeat(np.searchsorted(totals, self.totals(run)), run.lengths)
            for m in np.unique(place).tolist():
                steps = np.flatnonzero(place == m)
                self._add_counts(run.X[steps], states[steps], moves[steps], out[m])
        return out

    def totals(self, block: Sequences) -> np.ndarray:
        """Return the total of the features of each sequence, which does not depend on its labels, (S,)."""
        S = len(block)
        number = np.repeat(np.arange(S), block.lengths)
        values = np.asarray(block.X.sum(axis=1)).ravel()
        later = np.ones(len(values))
        if len(self.edge):
            later += self._edge_values(block.X).sum(axis=1)
        later[block.firsts] = 0.0
        return np.bincount(number, values + later, minlength=S)

    def _observe(
        self, run: Any, weight: np.ndarray, states: np.ndarray, moves: np.ndarray, chains: Chains
    ) -> float:
        """Add the weights at observed labels and transitions in place, and return the sum of log scores."""
        from ..loops.labels import observe

        by_step = moves if moves.ndim == 3 else moves[None]
        of_moves = chains.move if chains.move.ndim == 3 else chains.move[None]
        return observe(self.codes(run), run.offset, weight, chains.state, of_moves, states, by_step)

    def codes(self, block: Sequences) -> np.ndarray:
        """Return the labels as indices of classes, (N,)."""
        return class_codes(self.classes, block.y)

    def _add_counts(self, X: Matrix, states: np.ndarray, moves: np.ndarray, out: np.ndarray) -> None:
        of_nodes, of_moves = self._parts(out)
        add_transposed_times(X, states, of_nodes)
        if moves.ndim == 3:
            of_moves[0] += moves.sum(axis=0)
            by_column = self._edge_values(X).T.dot(moves.reshape(len(moves), -1))
            of_moves[1:] += by_column.reshape(of_moves[1:].shape)
        else:
            of_moves[0] += moves


@dataclass(frozen=True)
class Explanation(Value):
    """Explanation of the label of a step, against the next best label.

    The contributions add up to `margin`: the decrease of the log score of the sequence if this label were
    replaced by the other.
    """

    label: Any
    runner_up: Any  # the most probable other label
    margin: float
    reasons: tuple[tuple[str, float], ...]  # features or transitions with contributions, decreasing


class ConditionalRandomField(StepClassifier):
    """Linear-chain conditional random field (CRF) for labelling the steps of sequences.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularization strength, as in scikit-learn. ``np.inf`` means no penalty. The l2
        penalty of CRFsuite is ``c2 = 1 / (2 * C)``.
    l1_ratio : float, default=0.0
        Share of the l1 penalty, which sets weights to zero: 0 is the l2 penalty, 1 the l1 penalty. Values
        above 0 need `solver` 'lbfgs'. In CRFsuite ``c1 = l1_ratio / C`` and
        ``c2 = (1 - l1_ratio) / (2 * C)``.
    solver : str, default='lbfgs'
        Optimization algorithm. All reach the same optimum.

        - 'lbfgs': limited-memory BFGS; with an l1 penalty, OWL-QN;
        - 'gradient': gradient descent;
        - 'iis-s', 'iis-t': improved iterative scaling, by the largest total of the features of a sequence or
          by that of each. Features must not be negative;
        - 'sgd': stochastic gradient descent, one sequence at a time, in random order. The result depends on
          the order within `tol`, and the data must be in memory.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss per step.
    class_weight : dict or 'balanced', default=None
        Weights of the labels. The likelihood is a product over sequences: the weight of a sequence is the
        mean of the weights of its labels. 'balanced' gives every label the same total weight over the steps.
    edge_features : list of int or str, default=None
        Columns of X on which the weights of transitions depend, by index or by name.
    kernel : Kernel, str or callable, default='linear'
        Kernel of the features of steps: a kernel of :mod:`suffice.kernels`, a name of scikit-learn's
        `pairwise_kernels`, such as 'rbf', or a function of two arrays of rows that returns their kernel
        matrix.
    gamma : float, default=None
        Coefficient of a kernel that is passed by name. If None, 1 / n_features.
    landmarks : int, default=None
        Number of steps to sample by a hash of their features, with which a kernel compares the others. If
        None, or if there are no more steps, all steps are used, in memory, and the solution is exact.
    random_state : int, RandomState or None, default=None
        Seed for the order of sequences, for 'sgd', and for the landmarks.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features for each label. With a nonlinear kernel, weights of the steps in
        ``model_.kernel.points``.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of transitions, from a label (row) to the next (column).
    edge_coef_ : ndarray of shape (n_edge_features, n_classes, n_classes)
        Weights of the transitions for each of the `edge_features`.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Penalized mean loss per step, by iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : LinearChain
        The fitted model. Its `summarize` returns the loss and the gradient of a block.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    MaxMarginMarkovNetwork : The same scores, trained by margins.
    StructuredPerceptron : The same scores, trained by mistakes.
    HiddenMarkovModel : Sequences with few labels, or none.

    Notes
    -----
    The probability of the labels y of a sequence x is

    .. math::

        p(y | x) = \\frac{1}{Z(x)} \\exp \\left( ∑_t w_{y_t}^T x_t + ∑_t A_{y_{t-1} y_t} \\right).

    A fit minimizes minus the log-likelihood plus the penalty. With a kernel k, :math:`w_c^T x_t` is a
    function :math:`f_c(x_t) = ∑_m a_{mc} k(x_t, z_m)` of its space, and the penalty that of its norm
    (representer theorem). The points z are all steps, or landmarks.

    References
    ----------
    * Lafferty, McCallum and Pereira (2001), "Conditional random fields: probabilistic models for segmenting
      and labeling sequence data", ICML.
    * Lafferty, Zhu and Liu (2004), "Kernel conditional random fields: representation and clique selection",
      ICML.
    * Sutton and McCallum (2012), "An introduction to conditional random fields", Foundations and Trends in
      Machine Learning 4.

    Examples
    --------
    Two sequences, with their ids in `groups`. The label depends more on the previous step than on the
    features.

    >>> from suffice.sequence import ConditionalRandomField
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> y = ["a", "b", "c", "a", "b"]
    >>> crf = ConditionalRandomField(C=10.0).fit(X, y, groups=[1, 1, 1, 2, 2])
    >>> crf.predict(X, groups=[1, 1, 1, 2, 2])
    array(['a', 'b', 'c', 'a', 'b'], dtype='<U1')
    >>> crf.decode([X[:3]], k_best=2)[0][0]
    array([['a', 'b', 'c'],
           ['a', 'b', 'b']], dtype='<U1')
    >>> crf.explain(X[:3])[2].reasons[0][0]
    'b -> c'

    Sequences of dicts, with named features:

    >>> X = [[{"word": "Ada", "upper": True}, {"word": "runs"}], [{"word": "Bob", "upper": True}]]
    >>> crf = ConditionalRandomField(C=10.0).fit(X, [["name", "verb"], ["name"]])
    >>> crf.predict([[{"word": "Eve", "upper": True}]])
    [array(['name'], dtype='<U4')]
    >>> crf.top_features(1)["name"][0][0]
    'upper'
    """

    model_: Annotated[LinearChain, "K, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [POSITIVE, INF],
        "l1_ratio": [SHARE],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [AT_LEAST_0],
        "edge_features": ["array-like", None],
        "kernel": [str, callable],
        "gamma": [POSITIVE, None],
        "landmarks": [AT_LEAST_1, None],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        l1_ratio: float = 0.0,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        class_weight: dict[Any, float] | str | None = None,
        edge_features: Any = None,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        landmarks: int | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        checkpoint: MaybePath = None,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.edge_features = edge_features
        self.kernel = kernel
        self.gamma = gamma
        self.landmarks = landmarks
        self.random_state = random_state
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def _check_options(self) -> None:
        self._kernel(find_solver(self.solver, SOLVERS, l1_ratio=self.l1_ratio))

    def _solve(self, data: Partitions) -> Progress:
        solver = find_solver(self.solver, SOLVERS, l1_ratio=self.l1_ratio)
        classes = classes_of(data)
        # Labels are converted to indices once, and not in every pass.
        coded = data.map(_coded, classes)
        space, steps = self._features(self._kernel(solver), coded, solver)
        start = self._start(data, classes, space)

        def as_model(theta: np.ndarray) -> LinearChain:
            return _of_kernels(space, start.replace(theta=theta.copy()))

        exact = space is not None and self.landmarks is None
        watch = Watch(self, self.checkpoint, data, as_model=as_model, in_order=solver.ordered or exact)
        model = start.replace(classes=np.arange(len(classes)))
        l1 = self.l1_ratio / (self.C * float(coded.fold(_step_weight, model))) if self.l1_ratio else 0.0
        problem = Problem(steps, model, self._penalised, l1=l1, remember=False)
        minimize = self._by_scaling if solver.scaling else self._by_sgd if solver.gathers else self._descend
        progress = minimize(solver, problem, self._scale(steps, start), watch)
        s = problem.statistics(progress.model)
        return Progress.after(progress, model=as_model(progress.model), statistics=s)

    # --- fitting ------------------------------------------------------------------------------------------

    def _guarantee(self) -> Guarantee:
        exact = not isinstance(self._as_kernel(), Linear) and self.landmarks is None
        return Guarantee("order", gathers=True) if exact else super()._guarantee()

    def _as_kernel(self) -> Kernel:
        return as_kernel(self.kernel, {} if self.gamma is None else {"gamma": self.gamma})

    def _kernel(self, solver: Solver) -> Kernel | None:
        """Return the kernel, or None if features have weights."""
        kernel = self._as_kernel()
        if isinstance(kernel, Linear):
            if self.landmarks is not None:
                raise ValueError(f"landmarks={self.landmarks} needs a kernel, e.g. kernel='rbf'.")
            return None
        if kernel.precomputed or kernel.of_strings:
            raise ValueError("A kernel of steps takes rows of numbers, the features of the steps.")
        for name, value in (("l1_ratio", self.l1_ratio), ("edge_features", self.edge_features)):
            if value:
                raise ValueError(f"{name}={value!r} is of weights of features: use kernel='linear'.")
        if solver.scaling:
            raise ValueError(f"solver={self.solver!r} scales counts of features: use solver='lbfgs'.")
        return kernel

    def _features(
        self, kernel: Kernel | None, data: Partitions, solver: Solver
    ) -> tuple[Landmarks | None, Any]:
        """Return the points of the kernel, and the data with features whose inner products are the kernel."""
        if kernel is None:
            return None, data
        if self.landmarks is None:
            block = data.gather(INSTEAD)
            space, X = Landmarks.all_rows(kernel, block.rows(), INSTEAD)
            return space, in_blocks(block.replace(X=X))
        seed, D = seed_of(self.random_state), self.n_features_in_
        to_sample = Landmarks.to_sample(kernel, D, int(self.landmarks), seed, False)
        space = to_sample.estimate(data.map(Sequences.rows).fold(Landmarks.summarize, to_sample))
        return space, data.map(_with_features, space) if solver.gathers else Features(data, space)

    def _scale(self, data: Partitions, start: LinearChain) -> np.ndarray | None:
        """Return the scale of the feature of each weight, (P,), for preconditioning.

        The solver optimizes weights times scales. None if all scales are moderate.
        """
        sizes = data.fold(_step_sizes)
        standard = Standardization.of(sizes, 1.0 / (self.C * sizes.weight), n_constants=0, shift=False)
        if standard.ordinary:
            return None
        scale, K = standard.scale, len(start.classes)
        return np.concatenate([np.repeat(scale, K), np.ones(K * K), np.repeat(scale[start.edge], K * K)])

    def _block_rows(self, block: Sequences) -> float:
        """Return a block size for which computing a summary takes longer than adding it.

        A summary may be larger than the rows.
        """
        N, D = block.X.shape
        K = len(distinct(block.y))
        nonzero = block.X.nnz / max(1, N) if sp.issparse(block.X) else D
        return max(WORTH * (D + K) * K, LEAST) / (2.0 * nonzero * K + 3.0 * K * K)

    def _start(self, data: Partitions, classes: np.ndarray, space: Landmarks | None) -> LinearChain:
        K, D = len(classes), self.n_features_in_ if space is None else space.root.shape[1]
        edge = self._edge_columns()
        theta = np.zeros(D * K + (1 + len(edge)) * K * K)
        afford(
            8 * theta.size,
            f"the {theta.size} weights of {D} features and {K} labels, with their history,",
            "hash the features to fewer, e.g. by FeatureHasher(n_features=2**18).",
        )
        if self.warm_start and hasattr(self, "model_"):
            before = _projected(space, self.model_)
            theta = before if before.shape == theta.shape else theta
        return LinearChain(
            theta, classes, class_weights(self.class_weight, data.map(Sequences.rows), classes), edge
        )

    def _edge_columns(self) -> np.ndarray:
        names = list(getattr(self, "feature_names_in_", ()))
        wanted = [] if self.edge_features is None else list(self.edge_features)
        columns = [names.index(w) if isinstance(w, str) and w in names else w for w in wanted]
        for column in columns:
            if isinstance(column, str) or not 0 <= column < self.n_features_in_:
                raise ValueError(
                    f"edge_features has {column!r}, which is not a column of X: use names, or indices from "
                    f"0 to {self.n_features_in_ - 1}."
                )
        return np.array(columns, dtype=np.int64)

    def _penalised(self, theta: np.ndarray, s: Objective) -> tuple[float, np.ndarray]:
        """Return the mean loss per step plus the l2 penalty, with the gradient."""
        from ..loops.vectors import add_scaled, dot

        strength = (1.0 - self.l1_ratio) / self.C
        # The gradient of `s` is changed in place, since it is not used again.
        gradient = s.gradient if s.gradient.flags.writeable else s.gradient.copy()
        if strength:
            add_scaled(gradient, strength, theta)
        gradient *= 1.0 / s.weight
        return (s.loss + 0.5 * strength * dot(theta, theta)) / s.weight, gradient

    def _descend(
        self, solver: Solver, problem: Problem, scale: Any, watch: Watch, **options: Any
    ) -> Progress:
        """Minimize over the preconditioned weights."""
        options |= {"tol": self.tol, "max_iter": self.max_iter}
        if scale is None:
            return solver(problem, watch=watch, **options)
        of_scaled = replace(watch, as_model=lambda theta: watch.as_model(theta / scale))
        result = solver(ScaledProblem(problem, scale), watch=of_scaled, **options)
        return result.replace(model=result.model / scale)

    def _by_sgd(self, solver: Solver, problem: Problem, scale: Any, watch: Watch) -> Progress:
        data, start = problem.data, problem.model
        block = data.gather("use solver='lbfgs'.")
        examples = [block.piece(s, s + 1, s) for s in range(len(block))]
        steps = float(data.fold(_step_weight, start))
        n, strength = len(examples), 1.0 / (self.C * steps)

        def of_example(theta: np.ndarray, i: int) -> np.ndarray:
            theta = theta if scale is None else theta / scale
            gradient = start.replace(theta=theta).summarize(examples[i]).gradient
            gradient = (n / steps) * gradient + strength * theta
            return gradient if scale is None else gradient / scale

        # The step length is about the inverse of the largest curvature of a sequence, which its features
        # bound.
        columns = 1.0 if scale is None else start.replace(theta=scale).node[:, 0]
        lipschitz = max(0.5 * _squares(example.X, columns) + example.X.shape[0] for example in examples)
        return self._descend(
            solver,
            problem,
            scale,
            watch,
            of_example=of_example,
            n=n,
            length=0.5 / (strength / np.min(columns) ** 2 + lipschitz * n / steps),
            seed=seed_of(self.random_state),
        )

    def _by_scaling(self, solver: Solver, problem: Problem, scale: Any, watch: Watch) -> Progress:
        data, start = problem.data, problem.model
        if data.fold(_negative).any():
            raise ValueError(
                f"solver={self.solver!r} scales counts, and X has negative features: use solver='lbfgs', or "
                "features that are not negative."
            )
        strength = 1.0 / self.C
        observed = data.fold(LinearChain.observed, start)
        steps = float(data.fold(_step_weight, start))
        totals = data.fold(_distinct_totals, start).values[0]
        by_total = self.solver == "iis-t"
        if by_total:
            afford(
                len(totals) * start.theta.size,
                f"the counts of {start.theta.size} features by {len(totals)} totals",
                "use solver='iis-s'.",
            )

        def counts(theta: np.ndarray) -> tuple[float, np.ndarray]:
            s = problem.sums(theta)
            value = (s.loss + 0.5 * strength * float(theta.dot(theta))) / s.weight
            if by_total:
                return value, data.fold(LinearChain.expected_by_total, start.at(theta), totals)
            # The slack feature, the largest total minus the total of a sequence, does not depend on the
            # labels. So its expected count always equals the observed one, and its weight stays zero.
            return value, (s.gradient + observed)[None]

        return solver.minimize(
            counts,
            observed,
            totals if by_total else totals[-1:],
            start.theta,
            penalty=strength,
            standard=lambda gradient: gradient if scale is None else gradient / scale,
            tol=self.tol * steps,
            max_iter=self.max_iter,
            watch=watch,
        )

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: LinearChain = progress.model
        return {
            "classes_": model.classes,
            "coef_": model.node.T,
            "transitions_": model.moves[0],
            "edge_coef_": model.moves[1:],
        }

    # --- prediction ---------------------------------------------------------------------------------------

    @row_wise
    def predict_proba(self, X: Any, groups: MaybeArray = None) -> Any:
        """Marginal probabilities of the labels of each step given the sequence, (n_steps, n_classes).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._of_steps(lambda b: self.model_.chains(b).smoothed()[0], X, groups)

    def edge_marginals(self, X: Any, groups: MaybeArray = None) -> Any:
        """Marginal probabilities of the transitions into each step given the sequence, (n_steps, n_classes,
        n_classes); zero at the first step of a sequence."""

        def in_runs(block: Sequences) -> np.ndarray:
            K, model = len(self.classes_), self.model_
            marginals = (model.chains(run).by_step().smoothed()[1] for run in model.runs(block, by_step=True))
            return np.concatenate([np.zeros((0, K, K)), *marginals])

        return self._of_steps(in_runs, X, groups)

    def expectations(self, X: Any, groups: MaybeArray = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Expected counts over all sequences, in the shapes of the weights: of features by label (`coef_`),
        of transitions (`transitions_`), and of transitions by edge feature (`edge_coef_`)."""
        nodes, moves = self.model_._parts(self.model_.expected(read_sequences(self, X, groups)[0]))
        return nodes.T, moves[0], moves[1:]

    def log_likelihood(self, X: Any, y: ArrayLike, groups: MaybeArray = None) -> np.ndarray:
        """Log-probability of the labels of each sequence."""
        block, shape = read_sequences(self, X, groups)
        codes = class_codes(self.classes_, shape.rows(y, "y"))
        chains = self.model_.chains(block)
        return chains.score(codes) - chains.log_sum

    def decode(
        self, X: Any, groups: MaybeArray = None, *, k_best: int = 1, allowed: Any = None, fixed: Any = None
    ) -> Any:
        """The most probable labels under constraints.

        Parameters
        ----------
        X, groups
            Sequences, as in `fit`.
        k_best : int
            Number of labelings of each sequence.
        allowed : array of bool, (n_classes, n_classes), or pairs of labels, optional
            Allowed transitions. A pair ``(None, label)`` allows a sequence to start with the label; if there
            are such pairs, other starts are forbidden.
        fixed : like `y`, optional
            Known labels, and None where a label is unknown.

        Returns
        -------
        labels or list
            The labels, in the shape of the input. If `k_best` is more than 1, a pair for each sequence: its
            labelings by decreasing probability, (<= k_best, n_steps), and their log-probabilities given the
            sequence, without constraints.
        """
        if k_best < 1:
            raise ValueError(f"k_best must be at least 1; got k_best={k_best}.")
        block, shaped = read_sequences(self, X, groups)
        free = self.model_.chains(block)
        chains = free
        if allowed is not None:
            moves, start = self._allowed(allowed)
            chains = chains.replace(
                move=np.where(moves, chains.move, -np.inf), start=np.where(start, chains.start, -np.inf)
            )
        if fixed is not None:
            chains = chains.replace(state=np.where(self._open_to(fixed, shaped), chains.state, -np.inf))
        path, score = chains.best()
        if (score == -np.inf).any():
            lost = int(np.flatnonzero(score == -np.inf)[0])
            raise ValueError(f"No labels of sequence {lost} satisfy the constraints: allow more transitions.")
        if k_best == 1:
            return shaped(self.classes_[path])
        results = zip(chains.k_best(k_best), free.log_sum, strict=True)
        return [(self.classes_[paths], score - total) for (paths, score), total in results]

    def _allowed(self, allowed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return masks of the allowed transitions, (K, K), and first labels, (K,)."""
        K = len(self.classes_)
        matrix = np.asarray(allowed) if not isinstance(allowed, set | frozenset) else np.empty(0)
        if matrix.dtype == bool:
            allowed = matrix
            if allowed.shape != (K, K):
                raise ValueError(
                    f"allowed.shape == {allowed.shape}, expected {(K, K)}: from a label to a label."
                )
            return allowed, np.ones(K, bool)
        moves, start = np.zeros((K, K), bool), np.zeros(K, bool)
        for before, after in allowed:
            code = self._code(after)
            if before is None:
                start[code] = True
            else:
                moves[self._code(before), code] = True
        return moves, start if start.any() else np.ones(K, bool)

    def _code(self, label: Any) -> int:
        place = np.flatnonzero(self.classes_ == label)
        if not len(place):
            raise ValueError(f"The label {label!r} is none of the classes {self.classes_.tolist()}.")
        return int(place[0])

    def _open_to(self, fixed: Any, shape: Any) -> np.ndarray:
        """Return a mask of the allowed labels of each step, (N, K)."""
        nested = len(fixed) and isinstance(fixed[0], list | tuple | np.ndarray)
        flat = np.empty(sum(map(len, fixed)) if nested else len(fixed), dtype=object)
        flat[:] = [label for part in fixed for label in part] if nested else list(fixed)
        flat = shape.rows(flat, "fixed")
        out = np.ones((len(flat), len(self.classes_)), bool)
        for n, label in enumerate(flat):
            if label is not None:
                out[n] = False
                out[n, self._code(label)] = True
        return out

    def explain(self, X: Any, groups: MaybeArray = None, *, top: int | None = None) -> Any:
        """Explain the label of each step by features and transitions: weight times value.

        Parameters
        ----------
        X, groups
            Sequences, as in `fit`.
        top : int, optional
            Maximum number of reasons. If None, all.

        Returns
        -------
        list of Explanation
            One per step, with `label`, `runner_up`, `margin` and `reasons`; for a list of sequences, a list
            of such lists.
        """
        self._must_be_linear()
        block, shaped = read_sequences(self, X, groups)
        chains = self.model_.chains(block)
        path, likely = chains.best()[0], chains.smoothed()[0]
        first = np.isin(np.arange(len(path)), block.firsts)
        last = np.isin(np.arange(len(path)), block.offset[1:] - 1)
        answer = np.empty(len(path), object)
        for n, label in enumerate(path.tolist()):
            before = None if first[n] else int(path[n - 1])
            after = None if last[n] else int(path[n + 1])
            other = int(np.where(np.arange(len(self.classes_)) == label, -1.0, likely[n]).argmax())
            x, move = block.X[[n]], chains._moves[n if chains.move.ndim == 3 else 0]
            onwards = chains._moves[n + 1 if chains.move.ndim == 3 and after is not None else 0]
            answer[n] = self._explained(x, label, other, before, after, move, onwards, top)
        answers = shaped(answer)
        return [list(part) for part in answers] if isinstance(answers, list) else list(answers)

    def _explained(
        self,
        x: Any,
        label: int,
        other: int,
        before: int | None,
        after: int | None,
        move: np.ndarray,
        onwards: np.ndarray,
        top: int | None,
    ) -> Explanation:
        columns, values = (x.indices, x.data) if sp.issparse(x) else (np.flatnonzero(x[0]), x[0][x[0] != 0])
        node, classes = self.model_.node, self.classes_.tolist()
        amounts = values * (node[columns, label] - node[columns, other])
        reasons = [(self._feature_name(c), float(a)) for c, a in zip(columns.tolist(), amounts, strict=True)]
        if before is not None:
            amount = float(move[before, label] - move[before, other])
            reasons.append((f"{classes[before]} -> {classes[label]}", amount))
        if after is not None:
            amount = float(onwards[label, after] - onwards[other, after])
            reasons.append((f"{classes[label]} -> {classes[after]}", amount))
        reasons.sort(key=lambda reason: -abs(reason[1]))
        margin = float(sum(amount for _, amount in reasons))
        return Explanation(classes[label], classes[other], margin, tuple(reasons[:top]))


def _of_kernels(space: Landmarks | None, model: LinearChain) -> LinearChain:
    """Convert a model with weights of the features of landmarks to one with weights of the landmarks."""
    if space is None:
        return model
    node, moves = model._parts(model.theta)
    theta = np.concatenate([space.root.dot(node).ravel(), moves.ravel()])
    return model.replace(theta=theta, kernel=space.columns)


def _projected(space: Landmarks | None, model: LinearChain) -> np.ndarray:
    """Return the parameters of the nearest function in the space of other points."""
    if space is None or model.kernel is None:
        return model.theta
    node, moves = model._parts(model.theta)
    onto = space.root.T.dot(model.kernel(space.columns.points))
    return np.concatenate([onto.dot(node).ravel(), moves.ravel()])


def _with_features(space: Landmarks, block: Any) -> Any:
    return block.replace(X=space.features(block.X))


def _coded(classes: np.ndarray, block: Sequences) -> Any:
    return block.replace(y=class_codes(classes, block.y))


def _step_weight(model: LinearChain, block: Sequences) -> np.float64:
    return np.float64(model.weights(block).dot(block.lengths))


def _distinct_totals(model: LinearChain, block: Sequences) -> Distinct:
    return Distinct((np.unique(model.totals(block)),))


def _negative(block: Sequences) -> np.float64:
    values = block.X.data if sp.issparse(block.X) else block.X
    return np.float64((values < 0).sum())


def _step_sizes(block: Sequences) -> ColumnSizes:
    return column_sizes(block.rows())


def _squares(X: Any, scale: Any) -> float:
    """Return the sum of the squares of features divided by `scale`, a number or one for each column."""
    if sp.issparse(X):
        X = X.data / (scale[X.indices] if np.ndim(scale) else scale)
        return float(X.dot(X))
    return float(((X / scale) ** 2).sum())
