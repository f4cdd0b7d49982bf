"""The structured perceptron on chains.

Collins, "Discriminative training methods for hidden Markov models", 2002. If the best path of a sequence is
not the true one, the features of the true path are added to the weights and those of the best path are
subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath, Seed
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import seed_of
from ..statistics import class_codes
from .max_margin import ChainClassifier, MarginChain, csr


@dataclass(frozen=True, eq=False)
class Epochs(Progress):
    """State of the fit: the model that predicts, the current weights, and the sums of their mean."""

    W: Annotated[Any, "(D, K) or None"] = None
    T: Annotated[Any, "(K, K) or None"] = None
    late_W: Annotated[Any, "(D, K) or None"] = None  # changes of W, each times the visits before it
    late_T: Annotated[Any, "(K, K) or None"] = None
    visits: int = 0
    seed: int = 0


class StructuredPerceptron(ChainClassifier):
    """Structured perceptron for labelling the steps of sequences.

    It learns from one sequence at a time, in an order that matters, so the data must fit in memory.

    Parameters
    ----------
    average : bool, default=True
        Whether to predict with the average of the weights over all visits (averaged perceptron).
    max_iter : int, default=100
        Maximum number of epochs. The fit stops after an epoch without mistakes.
    shuffle : bool, default=True
        Whether to shuffle the sequences in each epoch.
    random_state : int, RandomState instance or None, default=None
        Seed for the order of the sequences.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of a step for each label.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of the transitions, from a label (row) to the next (column).
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray
        Fraction of wrong labels during each epoch.
    converged_ : bool
        Whether the last epoch made no mistakes. Always False if the sequences are not separable.
    stopped_because_ : str
        Reason why the epochs stopped.
    model_ : MarginChain
        The fitted model. `model_.chains(block)` has the scores of paths.
    statistics_ : Hinge
        Structured perceptron loss at the solution: score of the best minus that of the true path, summed.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {"average": ["boolean"]}
    _guarantee = Guarantee.always("order", gathers=True)

    def __init__(
        self,
        *,
        average: bool = True,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        from ..loops.margin import perceptron

        model = self._start(data)
        block = data.gather("use MaxMarginMarkovNetwork(solver='cutting-plane').")
        codes, rows = class_codes(model.classes, block.y), csr(block.X)
        weight, order = np.ascontiguousarray(block.weight, np.float64), np.arange(len(block))

        def step(epochs: Epochs) -> Epochs:
            W, T, late_W, late_T = (
                part.copy() for part in (epochs.W, epochs.T, epochs.late_W, epochs.late_T)
            )
            at = (
                generator(Purpose.ORDER, epochs.seed, epochs.n_iter).permutation(order)
                if self.shuffle
                else order
            )
            wrong, visits = perceptron(
                *rows, block.offset, codes, weight, at, W, T, late_W, late_T, epochs.visits
            )
            share = 1.0 / visits if self.average else 0.0
            return epochs.replace(
                model=model.replace(
                    coef=np.ascontiguousarray((W - share * late_W).T), transitions=T - share * late_T
                ),
                trace=(*epochs.trace, wrong / len(codes)),
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
        return progress.replace(statistics=data.fold(MarginChain.summarize, progress.model))
