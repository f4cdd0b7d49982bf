"""The structured perceptron on chains.

Collins, "Discriminative training methods for hidden Markov models", 2002. Where the best path of a sequence
is not the true one, the features of the true one are added to the weights and those of the best one are taken
away. It is a max-margin chain that asks for no margin, fitted one sequence at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.callback import with_callbacks

from ..core.loop import Progress, Watch
from ..estimator.parameters import AT_LEAST_1, CHECKPOINT
from ..inputs import open_sequences
from ..statistics import class_codes
from .base import seed_of
from .max_margin import ChainClassifier, MarginChain, csr


@dataclass(frozen=True, eq=False)
class Epochs(Progress):
    """The model to label with, the weights that learn, and what their mean needs."""

    W: Annotated[Any, "(D, K) or None"] = None
    T: Annotated[Any, "(K, K) or None"] = None
    late_W: Annotated[Any, "(D, K) or None"] = None  # changes of W, each times the visits before it
    late_T: Annotated[Any, "(K, K) or None"] = None
    visits: int = 0
    seed: int = 0


class StructuredPerceptron(ChainClassifier):
    """Labels of the steps of sequences by a chain that learns from its mistakes, one sequence at a time.

    What it learns depends on the order of the sequences, so that they are taken in memory.

    Parameters
    ----------
    average : bool, default=True
        Whether to label with the mean of the weights over all visits, which is steadier than the last ones.
    max_iter : int, default=100
        Epochs at most; it stops after one without a mistake.
    shuffle : bool, default=True
        Whether each epoch has another order.
    random_state : int, RandomState instance or None, default=None
        Of the orders.
    checkpoint : str or path, default=None
        File in which progress is kept while the fit runs; a fit that was killed goes on from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of a step for each label.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of the moves from the label of the row to that of the column.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray
        Share of wrong labels on the way, by epoch.
    converged_ : bool
        Whether the last epoch made no mistake. On sequences that no chain separates it never does.
    stopped_because_ : str
        Why the epochs ended.
    model_ : MarginChain
        The fitted model; `model_.chains(block)` has the scores of paths.
    statistics_ : Hinge
        By how much the best paths score above the true ones at the solution, summed over the sequences.

    See Also
    --------
    ConditionalRandomField : Probabilities; the data may be anywhere.
    MaxMarginMarkovNetwork : A margin, and a bound of the error.
    suffice.linear_model.Perceptron : Classes of rows.

    Notes
    -----
    With features F(x, y) of a path, a sequence whose best path ŷ is not the true path y changes the weights:

    .. math::

        w ← w + F(x, y) - F(x, \\hat y).

    References
    ----------
    * Collins (2002), "Discriminative training methods for hidden Markov models: theory and experiments with
      perceptron algorithms", EMNLP.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.sequence import StructuredPerceptron
    >>> X = [np.array([[1.0], [0.8], [-0.5]]), np.array([[-0.7], [-0.2]])]
    >>> model = StructuredPerceptron(random_state=0).fit(X, [["up", "up", "down"], ["down", "down"]])
    >>> model.predict([np.array([[0.9], [-0.6], [0.9]])])
    [array(['up', 'down', 'up'], dtype='<U4')]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "average": ["boolean"],
        "max_iter": [AT_LEAST_1],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "checkpoint": CHECKPOINT,
    }

    def __init__(
        self,
        *,
        average: bool = True,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.checkpoint = checkpoint

    @with_callbacks
    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit to labelled sequences in memory.

        Parameters
        ----------
        X : array, CSR matrix, list of these or table
            The steps. See `suffice.sequences` for tables that hold labels, weights and ids of sequences.
        y : array of shape (n_steps,) or list of these, optional
            Labels of the steps, if they are not a column of the table.
        groups : array of shape (n_steps,), optional
            Ids of the sequences of an array of steps; all are of one if not given.
        sample_weight : array, optional
            Weights of the sequences: how far the weights go at a mistake in them.

        Returns
        -------
        self
        """
        from ..loops import margin

        data = open_sequences(self, X, y, groups, sample_weight)
        model = self._start(data)
        block = data.gather("use MaxMarginMarkovNetwork(solver='cutting-plane').")
        codes, rows = class_codes(model.classes, block.y), csr(block.X)
        learn: Any = margin.perceptron
        weight, order = np.ascontiguousarray(block.weight), np.arange(len(block))

        def step(here: Epochs) -> Epochs:
            state = [part.copy() for part in (here.W, here.T, here.late_W, here.late_T)]
            at = np.random.default_rng([here.seed, here.n_iter]).permutation(order) if self.shuffle else order
            wrong, visits = learn(*rows, block.offset, codes, weight, at, *state, here.visits)
            W, T, late_W, late_T = state
            share = 1.0 / visits if self.average else 0.0
            return here.replace(
                model=model.replace(
                    coef=np.ascontiguousarray((W - share * late_W).T), transitions=T - share * late_T
                ),
                trace=(*here.trace, wrong / len(codes)),
                stopped_because="" if wrong else "tolerance",
                W=W,
                T=T,
                late_W=late_W,
                late_T=late_T,
                visits=visits,
            )

        W, T = np.zeros((self.n_features_in_, len(model.classes))), model.transitions
        start = Epochs(model, W=W, T=T, late_W=W, late_T=T, seed=seed_of(self.random_state))
        watch = Watch(self, self.checkpoint, data, in_order=True).limited(self.max_iter)
        progress = watch.loop(step, start)
        self._publish(progress.replace(statistics=data.fold(MarginChain.summarize, progress.model)))
        return self
