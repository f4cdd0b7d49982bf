"""What all displays share: axes to draw on, and colours that are told apart by all readers."""

from __future__ import annotations

from typing import Any

import numpy as np

# Okabe and Ito, "Color universal design", 2008; black and yellow left out, which vanish on some ground.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
PATH = "#d55e00"
MANY = 20  # labels of an axis that still can be read


class Display:
    """A picture that is drawn on `ax_` of `figure_`."""

    ax_: Any
    figure_: Any

    def _on(self, ax: Any, **size: Any) -> Any:
        """The axes given, or new ones."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError('Displays need matplotlib: pip install "suffice[plot]".') from error
            _, ax = plt.subplots(layout="constrained", **size)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def colors(count: int) -> list[Any]:
    """As many colours; beyond those of COLORS, along a map of which the lightness grows."""
    if count <= len(COLORS):
        return list(COLORS[:count])
    import matplotlib

    return [matplotlib.colormaps["viridis"](share) for share in np.linspace(0.0, 1.0, count)]


def names_of(estimator: Any, count: int) -> np.ndarray:
    """The labels of an estimator, or numbers."""
    return np.asarray(getattr(estimator, "classes_", np.arange(count)))


def one_sequence(X: Any) -> Any:
    """X if it is one sequence, or its only one."""
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        if len(X) > 1:
            raise ValueError(f"X has {len(X)} sequences, and one is drawn: pass one of them, e.g. X[0].")
        return X[0]
    return X


def dark(rgba: Any) -> bool:
    """Whether white is read better than black on a colour."""
    return float(np.dot(rgba[:3], (0.299, 0.587, 0.114))) < 0.5


def whole_numbers(axis: Any) -> None:
    """Ticks of an axis at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))
