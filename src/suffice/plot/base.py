"""Base class of displays: axes, and a palette for colour-blind readers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import resample

from ..core.arguments import Seed
from ..core.extras import required

# Okabe and Ito, "Color universal design", 2008; black and yellow left out, which vanish on some ground.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
PATH = "#d55e00"
MANY = 20  # labels of an axis that still can be read


class Display:
    """Base class of displays, drawn on `ax_` of `figure_`."""

    ax_: Any
    figure_: Any

    def _on(self, ax: Any, **size: Any) -> Any:
        """The axes `ax`, or new ones."""
        if ax is None:
            plt = required("matplotlib.pyplot", "plot")
            _, ax = plt.subplots(layout="constrained", **size)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def colors(count: int) -> list[Any]:
    """This many colours: COLORS, or those of a colour map if there are more."""
    if count <= len(COLORS):
        return list(COLORS[:count])
    matplotlib = required("matplotlib", "plot")

    if count <= 20:
        return [matplotlib.colormaps["tab20"](n) for n in range(count)]
    # the light end of the map cannot be seen on white
    return [matplotlib.colormaps["viridis"](share) for share in np.linspace(0.0, 0.92, count)]


def names_of(estimator: BaseEstimator, count: int) -> np.ndarray:
    """The labels of an estimator, or indices."""
    return np.asarray(getattr(estimator, "classes_", np.arange(count)))


def feature_names(estimator: BaseEstimator | None, count: int, names: Any = None) -> list[str]:
    """The names of the features: those passed, or those seen in `fit`, or x0, x1, ..."""
    if names is None and isinstance(estimator, Pipeline) and len(estimator) > 1:
        names = estimator[:-1].get_feature_names_out()
    names = getattr(estimator, "feature_names_in_", None) if names is None else names
    if names is None:
        return [f"x{d}" for d in range(count)]
    if len(names) != count:
        raise ValueError(f"There are {len(names)} names of features, expected {count}.")
    return [str(name) for name in names]


def shorten(name: Any, width: int = 28) -> str:
    """The name, or its two ends if it is longer."""
    name = str(name)
    return (
        name
        if len(name) <= width
        else f"{name[: width // 2 - 1]}\N{HORIZONTAL ELLIPSIS}{name[-(width // 2) :]}"
    )


def last_step(estimator: BaseEstimator, X: Any = None) -> tuple[Any, Any]:
    """The last step of a pipeline, and X as this step sees it; or the estimator and X."""
    if not isinstance(estimator, Pipeline):
        return estimator, X
    return estimator[-1], X if X is None or len(estimator) == 1 else estimator[:-1].transform(X)


def sampled(X: Any, size: int, random_state: Seed) -> Any:
    """A random sample of at most `size` of the rows, in memory."""
    if not (hasattr(X, "__array__") and hasattr(X, "__len__")) and not isinstance(X, list | tuple):
        raise TypeError(
            f"X is of type {type(X).__name__}, expected rows in memory (an array or a data frame): pass a "
            "sample of the rows."
        )
    return X if len(X) <= size else resample(X, replace=False, n_samples=size, random_state=random_state)


def one_sequence(X: Any) -> Any:
    """X if it is a single sequence, or its only element."""
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        if len(X) > 1:
            raise ValueError(f"X has {len(X)} sequences, expected one: pass e.g. X[0].")
        return X[0]
    return X


def dark(rgba: Any) -> bool:
    """Whether white text is more legible than black on a colour."""
    return float(np.dot(rgba[:3], (0.299, 0.587, 0.114))) < 0.5


def whole_numbers(axis: Any) -> None:
    """Ticks of an axis at integers only."""
    ticker = required("matplotlib.ticker", "plot")
    axis.set_major_locator(ticker.MaxNLocator(integer=True))
