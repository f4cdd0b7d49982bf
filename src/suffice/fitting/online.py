"""Online learning: predict, then see the answer, then learn.

Dawid, "Present position and potential developments: some personal views. Statistical theory: the prequential
approach", 1984; Li section 1.2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from ..core.arguments import MaybeArray
from ..core.values import Value


@dataclass(frozen=True, eq=False)
class OnlineResult(Value):
    """Result of `online`."""

    predictions: Annotated[np.ndarray, "labels (N,)"]  # each made before its answer was seen
    losses: Annotated[np.ndarray, "(N,)"]

    @property
    def cumulative_loss(self) -> np.ndarray:
        """Cumulative sum of the losses, by example."""
        return np.cumsum(self.losses)


def _mistake(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y != predicted).astype(np.float64)


def _square(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y - predicted) ** 2


LOSSES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"zero_one": _mistake, "squared": _square}


def online(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    loss: Any = "zero_one",
    n_start: int = 1,
    batch_size: int = 1,
    classes: MaybeArray = None,
) -> OnlineResult:
    """Learn online: for each example in turn, predict, see the answer, compute the loss, and update.

    Each prediction is for an example that the model has not seen, so the mean loss is an estimate of the
    error of the model at that time (prequential or progressive validation).

    Parameters
    ----------
    estimator : estimator with `partial_fit`
        It is updated in place. It may be fitted already.
    X : array of shape (n_samples, n_features)
        The examples, in the order in which they arrive.
    y : array of shape (n_samples,)
        Their answers.
    loss : {'zero_one', 'squared'} or callable, default='zero_one'
        ``loss(y, predictions)`` returns the loss of each example.
    n_start : int, default=1
        Number of examples before the first prediction. They are learnt first, and have no prediction. 0 is
        for an estimator that is fitted.
    batch_size : int, default=1
        Number of examples to predict before their answers are seen.
    classes : array, default=None
        All labels, for classifiers. None are those of `y`.

    Returns
    -------
    OnlineResult
        With `predictions`, `losses` and `cumulative_loss` of the examples after the first `n_start`.

    See Also
    --------
    suffice.model_selection.cross_validate : Error of a model that is fitted to all but a fold.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import online
    >>> from suffice.linear_model import Perceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> found = online(Perceptron(shuffle=False), X, X @ [1.0, -2.0] > 0)
    >>> bool(found.losses[:50].mean() > found.losses[-250:].mean())
    True
    """
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"X and y must have as many rows; got {len(X)} and {len(y)}.")
    if not 0 <= n_start <= len(y) or not batch_size >= 1:
        raise ValueError(
            f"Expected n_start from 0 to {len(y)} and batch_size >= 1; got {n_start}, {batch_size}."
        )
    if not callable(loss) and loss not in LOSSES:
        raise ValueError(f"loss must be a function or one of {sorted(LOSSES)}; got {loss!r}.")
    known = {"classes": np.unique(y) if classes is None else classes}
    more = known if is_classifier(estimator) else {}
    if n_start:
        estimator.partial_fit(X[:n_start], y[:n_start], **more)
    predictions, losses = [y[:0]], [np.zeros(0)]
    for rows in _batches(n_start, len(y), batch_size):
        predictions.append(np.asarray(estimator.predict(X[rows])))
        losses.append(np.asarray(LOSSES.get(loss, loss)(y[rows], predictions[-1]), dtype=np.float64))
        estimator.partial_fit(X[rows], y[rows], **more)
    return OnlineResult(np.concatenate(predictions), np.concatenate(losses))


def _batches(start: int, stop: int, size: int) -> Iterable[slice]:
    return (slice(a, b) for a, b in pairwise([*range(start, stop, size), stop]) if b > a)
