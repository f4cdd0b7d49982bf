"""Max-margin Markov networks (structured SVM) on chains. Gong and Xu, section 10.2.

Taskar, Guestrin and Koller, "Max-margin Markov networks", 2003: the factored dual and its SMO.
Lacoste-Julien, Jaggi, Schmidt and Pletscher, "Block-coordinate Frank-Wolfe optimization for structural SVMs",
2013. Joachims, Finley and Yu, "Cutting-plane training of structural SVMs", 2009.

F(x, y) has, for each label, the sum of the features of the steps that have it, and the number of transitions
from each label to each. With cost(t, y) the cost of labels y where t are true, and n sequences, the fit
minimizes

    |w|^2 / 2 + C / n sum_i max_y [cost(t_i, y) + w F(x_i, y) - w F(x_i, t_i)].

Its dual variables are weights of the paths of each sequence. It depends only on their marginals over states
and transitions (the factored dual).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix, Sequences, entries_of
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..estimator.parameters import NON_NEGATIVE, POSITIVE, Numbers, StrOptions, seed_of
from ..fitting import LossModel, Problem, find_solver
from ..fitting.linear_algebra import add_transposed_times, times
from ..kernels import Kernel, KernelColumns, Linear, as_kernel
from ..kernels.base import KernelLike
from ..statistics import class_codes, classes_of
from .base import StepClassifier
from .chain import Chains, by_sequence

SOLVERS = ("cutting-plane", "bcfw", "smo")
TRIES = 10  # number of pairs of paths of a sequence that one visit of SMO tries


@dataclass(frozen=True, eq=False)
class Hinge(Statistics):
    """Structured hinge loss, summed over sequences, with its subgradient."""

    weight: float  # of the sequences that have steps
    loss: float
    cost: float  # of the paths that violate most
    coef: Annotated[np.ndarray, "(K, D)"]  # features of the paths that violate most, less those of true ones
    transitions: Annotated[np.ndarray, "(K, K)"]  # and of their moves

    @property
    def gradient(self) -> np.ndarray:
        return np.concatenate([self.coef.ravel(), self.transitions.ravel()])


@dataclass(frozen=True, eq=False)
class MarginChain(LossModel):
    """The score of a path of labels is the sum of coef_y x over its steps, and of its transitions."""

    coef: Annotated[np.ndarray, "(K, M)"]  # of features, or of the points of the kernel
    transitions: Annotated[np.ndarray, "(K, K)"]
    classes: Annotated[np.ndarray, "labels (K,)"]
    cost: Annotated[np.ndarray, "(K, K)"]  # of the label in the column where that in the row is true
    kernel: Annotated[KernelColumns | None, "M, D"] = None

    def check_loaded(self, sizes: dict[str, int]) -> None:
        if self.kernel is None:
            sizes["D"] = sizes["M"]

    @property
    def theta(self) -> np.ndarray:
        return np.concatenate([self.coef.ravel(), self.transitions.ravel()])

    def at(self, theta: np.ndarray) -> Self:
        coef, transitions = np.split(theta, [self.coef.size])
        return self.replace(
            coef=coef.reshape(self.coef.shape), transitions=transitions.reshape(self.transitions.shape)
        )

    def features(self, X: Matrix) -> Any:
        return X if self.kernel is None else self.kernel(X)

    def chains(self, block: Sequences) -> Chains:
        """The scores of all paths: `best` and `k_best` decode them, `score` returns that of a path."""
        return self._chains(self.features(block.X), block.offset)

    def _chains(self, F: Any, offset: np.ndarray) -> Chains:
        state = times(F, np.ascontiguousarray(self.coef.T))
        return Chains(state, np.zeros(len(self.classes)), self.transitions, offset)

    def summarize(self, block: Sequences) -> Hinge:
        return self._summarize(self.features(block.X), block)

    def _summarize(self, F: Any, block: Sequences) -> Hinge:
        codes, K = class_codes(self.classes, block.y), len(self.classes)
        chains = self._chains(F, block.offset)
        path, worst = chains.replace(state=chains.state + self.cost[codes]).best()
        missed = worst - chains.score(codes)
        weight = block.step_weight
        (wrong,) = (path != codes).nonzero()
        error = np.zeros((len(wrong), K))
        each = np.arange(len(wrong))
        error[each, path[wrong]] = weight[wrong]
        error[each, codes[wrong]] -= weight[wrong]
        coef = np.zeros(self.coef.shape[::-1])
        add_transposed_times(F[wrong], error, coef)
        into = block.follows
        moves = _count_moves(path, into, weight, K) - _count_moves(codes, into, weight, K)
        return Hinge(
            float(block.weight[block.lengths > 0].sum()),
            float(block.weight.dot(missed)),
            float(weight.dot(self.cost[codes, path])),
            np.ascontiguousarray(coef.T),
            moves,
        )

    def estimate(self, s: Hinge) -> Self:
        """One subgradient step without penalty: a batch perceptron update."""
        return self.at(self.theta - s.gradient)


def _count_moves(path: np.ndarray, into: np.ndarray, weight: np.ndarray, K: int) -> np.ndarray:
    """Weights of the transitions into some steps, (K, K)."""
    pair = path[into - 1] * K + path[into]
    return np.bincount(pair, weight[into], minlength=K * K).reshape(K, K)


@dataclass(frozen=True, eq=False)
class Dual(Progress):
    """A model, and its dual marginals of states and transitions by sequence. The trace is minus the dual
    objective, and decreases."""

    share: Annotated[Any, "(N, K) or None"] = None
    moves: Annotated[Any, "(A, K, K) or None"] = None  # (S, K, K) summed over steps, or into each (N, K, K)
    level: Annotated[Any, "(S,) or None"] = None  # the cost of the shares
    seed: int = 0
    gap: float = np.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounded(Progress):
    """A fit with its objective, and an upper bound on the distance of the objective from the minimum."""

    duality_gap_: float
    objective_: float


class ChainClassifier(StepClassifier):
    """Base class of the estimators of a `MarginChain`: the initial model."""

    model_: Annotated[MarginChain, "K, D"]

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: MarginChain = progress.model
        return {"classes_": model.classes, "coef_": model.coef, "transitions_": model.transitions}

    def _start(self, data: Partitions) -> MarginChain:
        """The initial model, with zero weights and costs."""
        classes = classes_of(data)
        K, D = len(classes), self.n_features_in_
        return MarginChain(np.zeros((K, D)), np.zeros((K, K)), classes, np.zeros((K, K)))


class MaxMarginMarkovNetwork(ChainClassifier):
    """Max-margin Markov network (structured SVM) for labelling the steps of sequences.

    There is no intercept: add a constant feature if needed. All solvers reach the same optimum, and report
    the duality gap.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularization strength: the weight of the mean loss per sequence against half the
        squared norm.
    loss : 'hamming' or array of shape (n_classes, n_classes), default='hamming'
        Cost of a wrong label: 1 ('hamming'), or ``loss[true, predicted]`` with sorted classes.
    solver : {'cutting-plane', 'bcfw', 'smo'}, default='cutting-plane'
        'cutting-plane' sums the most violated paths of all sequences in each pass, for data of any size. The
        others take the sequences one after the other, in memory, so that their way depends on the order:
        'bcfw', block-coordinate Frank-Wolfe, is much faster if there are many sequences. 'smo', sequential
        minimal optimization of the factored dual, is for kernels and small data.
    kernel : Kernel, str or callable, default='linear'
        Kernel of the features of steps, for ``solver='smo'``: a kernel of :mod:`suffice.kernels`, a name of
        scikit-learn's `pairwise_kernels`, such as 'rbf', or a function of two arrays of rows that returns
        their kernel matrix.
    gamma : float, default=None
        Coefficient of a kernel that is passed by name. If None, 1 / n_features.
    tol : float, default=1e-3
        Tolerance of the duality gap, relative to the objective.
    max_iter : int, default=1000
        Maximum number of passes.
    random_state : int, RandomState instance or None, default=None
        Seed for the order in which 'bcfw' and 'smo' visit the sequences.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of a step for each label. With a nonlinear kernel, weights of the support
        steps, ``model_.kernel.points``.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of the transitions, from a label (row) to the next (column).
    objective_ : float
        Objective at the solution.
    duality_gap_ : float
        Duality gap: an upper bound on the distance of the objective from its minimum.
    n_iter_ : int
        Number of passes.
    trace_ : ndarray
        Minus the dual objective, by pass.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : MarginChain
        The fitted model. `model_.chains(block)` has the scores of paths.
    statistics_ : Hinge
        The loss at the solution, summed over the sequences, and its subgradient.

    See Also
    --------
    ConditionalRandomField : The same scores, with probabilities.
    StructuredPerceptron : The same scores, trained by mistakes.

    Notes
    -----
    With features F(x, y) of a path and its cost Δ, the weights minimize, over N sequences,

    .. math::

        \\frac{1}{2} ‖w‖^2 + \\frac{C}{N} ∑_n \\max_y \\left( Δ(y_n, y) + w^T F(x_n, y) - w^T F(x_n, y_n)
        \\right).

    References
    ----------
    * Taskar, Guestrin and Koller (2003), "Max-margin Markov networks", NIPS 16.
    * Joachims, Finley and Yu (2009), "Cutting-plane training of structural SVMs", Machine Learning 77.
    * Lacoste-Julien, Jaggi, Schmidt and Pletscher (2013), "Block-coordinate Frank-Wolfe optimization for
      structural SVMs", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.sequence import MaxMarginMarkovNetwork
    >>> X = [np.array([[1.0], [0.8], [-0.5]]), np.array([[-0.7], [-0.2]])]
    >>> model = MaxMarginMarkovNetwork(C=10).fit(X, [["up", "up", "down"], ["down", "down"]])
    >>> model.predict([np.array([[0.9], [-0.6], [0.9]])])
    [array(['up', 'down', 'up'], dtype='<U4')]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [POSITIVE],
        "loss": [StrOptions({"hamming"}), Numbers(0)],
        "solver": [StrOptions(set(SOLVERS))],
        "kernel": [str, callable],
        "gamma": [NON_NEGATIVE, None],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Any = "hamming",
        solver: str = "cutting-plane",
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.solver = solver
        self.kernel = kernel
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _check_options(self) -> None:
        self._solver()

    def _solve(self, data: Partitions) -> Progress:
        model = self._start(data)
        progress = self._solver()(model.replace(cost=self._cost(model.classes)), data)
        gap = progress.gap
        return Bounded.after(progress, duality_gap_=float(gap), objective_=float(gap - progress.trace[-1]))

    def _solver(self) -> Callable[[MarginChain, Partitions], Any]:
        solvers: dict[str, Any] = {
            "cutting-plane": self._cutting_planes,
            "bcfw": self._frank_wolfe,
            "smo": self._smo,
        }
        if self.solver != "smo" and not isinstance(self._kernel, Linear):
            raise ValueError(
                f"kernel={self.kernel!r} needs solver='smo'. For much data, map the features instead, e.g. "
                "with sklearn.kernel_approximation.Nystroem."
            )
        return solvers[self.solver]

    @property
    def _kernel(self) -> Kernel:
        kernel = as_kernel(self.kernel, {} if self.gamma is None else {"gamma": self.gamma})
        if kernel.precomputed:
            raise ValueError("A kernel of steps cannot be precomputed: pass the features of the steps.")
        return kernel

    def _cost(self, classes: np.ndarray) -> np.ndarray:
        K = len(classes)
        if isinstance(self.loss, str):
            return 1.0 - np.eye(K)
        cost = np.array(self.loss, dtype=np.float64, order="C")
        if cost.shape != (K, K) or not np.isfinite(cost).all() or (cost < 0).any() or cost.diagonal().any():
            raise ValueError(
                f"loss has shape {cost.shape}, expected ({K}, {K}) for the classes "
                f"{classes.tolist()}: loss[true, predicted], non-negative and zero on the diagonal."
            )
        return cost

    def _watch(self, data: Partitions, **options: Any) -> Watch:
        return Watch(self, self.checkpoint, data, **options).limited(self.max_iter)

    def _cutting_planes(self, model: MarginChain, data: Partitions) -> Any:
        problem, solver = Problem(data, model, self._plane), find_solver(self.solver, SOLVERS)
        watch = self._watch(data, as_model=problem.solution)
        progress = solver(problem, tol=self.tol, max_iter=self.max_iter, watch=watch)
        return progress.replace(
            model=problem.solution(progress.model), statistics=problem.statistics(progress.model)
        )

    def _plane(self, theta: np.ndarray, s: Hinge) -> tuple[float, np.ndarray]:
        """Cutting plane of C times the mean loss at a point: its value at zero, and its slope. The solver
        adds half the squared norm."""
        height = s.cost if np.isfinite(s.loss) else np.nan
        return self.C / s.weight * height, self.C / s.weight * s.gradient

    def _frank_wolfe(self, model: MarginChain, data: Partitions) -> Dual:
        from ..loops.margin import frank_wolfe

        block = data.gather("use solver='cutting-plane'.")
        codes, scale = class_codes(model.classes, block.y), _scale(self.C, block)
        rows = csr(block.X)

        def step(dual: Dual) -> Dual:
            W, T = np.ascontiguousarray(dual.model.coef.T), dual.model.transitions.copy()
            share, moves, level = dual.share.copy(), dual.moves.copy(), dual.level.copy()
            order = generator(Purpose.ORDER, dual.seed, dual.n_iter).permutation(len(block))
            frank_wolfe(*rows, block.offset, codes, model.cost, scale, order, W, T, share, moves, level)
            new = model.replace(coef=np.ascontiguousarray(W.T), transitions=T)
            s = data.fold(MarginChain.summarize, new)
            return self._measured(dual.replace(model=new, share=share, moves=moves, level=level), s, scale)

        K = len(model.classes)
        moves = np.zeros((len(block), K, K))
        sequence_of = np.repeat(np.arange(len(block)), block.lengths)
        into = block.follows
        np.add.at(moves, (sequence_of[into], codes[into - 1], codes[into]), 1.0)
        seed, level = seed_of(self.random_state), np.zeros(len(block))
        start = Dual(model, share=np.eye(K)[codes], moves=moves, level=level, seed=seed)
        return self._watch(data, in_order=True).loop(step, start)

    def _smo(self, model: MarginChain, data: Partitions) -> Dual:
        from ..loops.margin import smo

        block = data.gather("use solver='cutting-plane'.")
        N, K, offset = len(block.y), len(model.classes), block.offset
        instead = "use solver='cutting-plane'."
        if not isinstance(self._kernel, Linear):
            instead = "map the features, e.g. with sklearn.kernel_approximation.Nystroem, and " + instead
        afford(
            float(N) * N + 2.0 * N * K * K,
            f"the kernel of {N} steps and the marginals of their transitions",
            instead,
        )
        kernel = self._kernel.with_rows(block.X, block.step_weight)
        gram = np.ascontiguousarray(kernel(block.X), np.float64)
        codes, scale = class_codes(model.classes, block.y), _scale(self.C, block)
        by_step = np.repeat(scale, block.lengths)

        def weights(share: np.ndarray, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """True minus dual marginals of the steps, (N, K), and of the transitions."""
            return by_step[:, None] * (truth - share), np.tensordot(by_step, true_moves - moves, 1)

        def step(dual: Dual) -> Dual:
            share, moves = dual.share.copy(), dual.moves.copy()
            A, T = weights(share, moves)
            order = generator(Purpose.ORDER, dual.seed, dual.n_iter).permutation(len(block))
            U = np.ascontiguousarray(gram.dot(A).T)
            smo(gram, offset, codes, model.cost, scale, order, U, T, share, moves, TRIES)
            A, T = weights(share, moves)
            if isinstance(kernel, Linear):
                new, F = model.replace(coef=np.asarray(block.X.T.dot(A)).T, transitions=T), block.X
            else:
                support = A.any(axis=1)
                columns = KernelColumns(kernel, block.X[support])
                new, F = model.replace(coef=A[support].T, transitions=T, kernel=columns), gram[:, support]
            level = by_sequence((share * model.cost[codes]).sum(axis=1), offset)
            progress = dual.replace(model=new, share=share, moves=moves, level=level)
            return self._measured(progress, new._summarize(F, block), scale, float((A * gram.dot(A)).sum()))

        truth, true_moves = np.eye(K)[codes], np.zeros((N, K, K))
        into = block.follows
        true_moves[into, codes[into - 1], codes[into]] = 1.0
        start = Dual(
            model, share=truth, moves=true_moves, level=np.zeros(len(block)), seed=seed_of(self.random_state)
        )
        return self._watch(data, in_order=True).loop(step, start)

    def _measured(self, dual: Dual, s: Hinge, scale: np.ndarray, square: float | None = None) -> Dual:
        """The state with the dual objective in the trace, and the duality gap."""
        if square is None:
            square = float((dual.model.coef**2).sum())
        square += float((dual.model.transitions**2).sum())
        bound = float(scale.dot(dual.level)) - 0.5 * square
        objective = 0.5 * square + self.C / s.weight * s.loss
        return dual.replace(
            trace=(*dual.trace, -bound if np.isfinite(objective) else np.nan),
            statistics=s,
            stopped_because="tolerance" if objective - bound <= self.tol * objective else "",
            gap=objective - bound,
        )


def csr(X: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices and row pointers."""
    return entries_of(sp.csr_array(X))


def _scale(C: float, block: Sequences) -> np.ndarray:
    """C times the weight of each sequence in the mean, (S,)."""
    return C * block.weight / block.weight[block.lengths > 0].sum()
