"""Parts that displays share. Imports matplotlib, so `plot` methods import it, not modules.

The size of a text and of its axes are known only when the figure is drawn: a user may resize the figure, and
other axes may change the limits. So labels are placed then, by artists that draw nothing themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from ..core.extras import required
from .base import MANY, dark, shorten

Artist: Any = required("matplotlib.artist", "plot").Artist
Text: Any = required("matplotlib.text", "plot").Text

SMALLEST = 6.0  # points, of a text that can be read
LEADER = {"arrowstyle": "-", "lw": 0.6, "color": "0.55", "shrinkA": 0.0, "shrinkB": 0.0}


class _Placement(Artist):
    """Moves labels just before its axes draw them."""

    def __init__(self, ax: Any, labels: Sequence[Any]) -> None:
        super().__init__()
        self.ax, self.labels = ax, labels
        self.set(zorder=-100.0, in_layout=False)
        ax.add_artist(self)

    def draw(self, renderer: Any) -> None:
        for label in self.labels:
            label.set_visible(True)
        if self.labels:
            self.place(renderer, 72.0 / self.ax.figure.dpi)

    def place(self, renderer: Any, points: float) -> None:
        """Place the labels; `points` are in a pixel."""
        raise NotImplementedError


def size_of(label: Any, renderer: Any) -> np.ndarray:
    """Width and height of a text, in pixels, without its leader line."""
    box = Text.get_window_extent(label, renderer)
    return np.array([box.width, box.height])


class EndLabels(_Placement):
    """Labels of the ends of lines, one below the other at the right side, as near their lines as possible.

    `labels` are annotations, the most important first. Those that find no room are hidden.
    """

    def place(self, renderer: Any, points: float) -> None:
        gap = 1.1 * max(size_of(label, renderer)[1] for label in self.labels)
        low, high = self.ax.bbox.y0, self.ax.bbox.y1
        count = max(1, int((high - low) / gap) + 1)
        for label in self.labels[count:]:
            label.set_visible(False)
        labels = self.labels[:count]
        ends = np.array([self.ax.transData.transform(label.xy)[1] for label in labels])
        order = np.argsort(ends, kind="stable")
        # least squares under place[i + 1] - place[i] >= gap
        steps = gap * np.arange(len(labels))
        places = np.clip(isotonic_regression(ends[order] - steps).x, low, high - steps[-1]) + steps
        for i, place in zip(order, places, strict=True):
            labels[i].set_position((labels[i].get_position()[0], (place - ends[i]) * points))


class PointLabels(_Placement):
    """Labels at points of a plane. A label that would cover another moves aside, with a leader line.

    `labels` are annotations, the most important first. One that finds no room is cut at the first colon, or
    hidden. None covers the texts in `avoid`.
    """

    def __init__(self, ax: Any, labels: Sequence[Any], avoid: Sequence[Any] = ()) -> None:
        super().__init__(ax, labels)
        self.avoid = avoid
        self.texts = [label.get_text() for label in labels]

    def place(self, renderer: Any, points: float) -> None:
        at = self.ax.transData.transform([label.xy for label in self.labels])
        frame = self.ax.bbox
        taken = np.reshape([text.get_window_extent(renderer).extents for text in self.avoid], (-1, 4))
        for n, (label, text) in enumerate(zip(self.labels, self.texts, strict=True)):
            others = np.delete(at, n, axis=0)
            dots = np.column_stack([others, others]) + [-2.0, -2.0, 2.0, 2.0]
            for words in dict.fromkeys([text, text.split(":")[0]]):
                label.set_text(words)
                half = size_of(label, renderer) / 2.0 + 2.0
                centers = at[n] + _around(half, 0.25 * frame.height)
                boxes = np.column_stack([centers - half, centers + half])
                inside = (boxes[:, :2] >= frame.min).all(axis=1) & (boxes[:, 2:] <= frame.max).all(axis=1)
                free = np.flatnonzero(inside & ~_overlap(boxes, np.vstack([taken, dots])))
                if len(free):
                    break
            else:
                label.set_visible(False)
                continue
            offset = centers[free[0]] - at[n]
            label.set_position(tuple(offset * points))
            label.arrow_patch.set_visible(bool((np.abs(offset) > half + 4.0).any()))
            taken = np.vstack([taken, boxes[free[0]]])


def _around(half: np.ndarray, reach: float) -> np.ndarray:
    """Where a box of this half size may be, from its point: on it, beside it, and farther and farther."""
    angles = 2.0 * np.pi * np.arange(16) / 16
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [directions * (half + distance) for distance in np.linspace(2.0, reach, 24)]
    return np.vstack([np.zeros((1, 2)), *rings])


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether each box, (left, low, right, high), overlaps one of the others."""
    meet = (boxes[:, None, 2:] > others[:, :2]) & (boxes[:, None, :2] < others[:, 2:])
    return np.any(np.all(meet, axis=2), axis=1)


class CellLabels(_Placement):
    """Texts in the cells of a heat map, as large as the cells allow; hidden if that is too small to read."""

    def __init__(self, ax: Any, labels: Sequence[Any], shape: tuple[int, int]) -> None:
        super().__init__(ax, labels)
        self.shape = shape

    def place(self, renderer: Any, points: float) -> None:
        rows, columns = self.shape
        cell = np.array([self.ax.bbox.width / columns, self.ax.bbox.height / rows])
        longest = max(self.labels, key=lambda label: len(label.get_text()))
        longest.set_fontsize(10.0)
        size = min(10.0, 10.0 * float((0.85 * cell / size_of(longest, renderer)).min()))
        for label in self.labels:
            label.set(fontsize=size, visible=size >= SMALLEST)


def heat_map(
    ax: Any, matrix: np.ndarray, rows: Any, columns: Any, texts: np.ndarray | None = None, **options: Any
) -> Any:
    """A heat map with named rows and columns, and texts in the cells. Returns the image."""
    image = ax.imshow(matrix, **options)
    if texts is not None:
        labels = []
        for (i, j), text in np.ndenumerate(texts):
            ink = "white" if dark(image.cmap(image.norm(matrix[i, j]))) else "black"
            inside = {"ha": "center", "va": "center", "color": ink, "in_layout": False}
            labels.append(ax.text(j, i, text, **inside))
        CellLabels(ax, labels, matrix.shape)
    scale = 72.0 / ax.figure.dpi
    # the colour bar, and long names of rows, will take a part of the axes
    room = np.array([0.7 * ax.bbox.width, 0.8 * ax.bbox.height]) * scale
    for axis, names, length in ((ax.xaxis, columns, room[0]), (ax.yaxis, rows, room[1])):
        names = [shorten(name, 20) for name in names]
        every = -(-len(names) // MANY)
        cell = every * length / len(names)
        size = float(np.clip(0.75 * cell, SMALLEST, 10.0))
        wide = 0.65 * size * max(map(len, names)) > cell
        turn = {"rotation": 90} if axis is ax.xaxis and wide else {}
        axis.set_ticks(range(0, len(names), every), names[::every], fontsize=size, **turn)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return image


def legend_beside(ax: Any, handles: Any) -> Any:
    """A legend at the right of the axes, which covers nothing; in columns of twenty."""
    return ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-len(handles) // MANY),
        frameon=False,
        fontsize=9,
    )


def panels(ax: Any, count: int, across: int) -> list[Any]:
    """This many axes in place of `ax`, row by row."""
    ax.set_axis_off()
    grid = ax.get_subplotspec().subgridspec(-(-count // across), across)
    return [ax.figure.add_subplot(grid[n // across, n % across]) for n in range(count)]
