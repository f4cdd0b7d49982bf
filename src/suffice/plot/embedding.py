"""An embedding in the plane, and the rows that its places stand for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial import KDTree
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_consistent_length

from ..core.arguments import MaybeArray
from ..core.extras import required
from .base import Display, colors

FRAME = "0.8"  # of images without a class


class EmbeddingDisplay(Display):
    """Rows as points of the plane, coloured by their classes or by a number; or images in their places.

    With `images`, a square grid is laid over the embedding, and the image of the row nearest to each vertex
    is shown there, in a frame of the colour of its class, so that one sees what changes along the axes.
    Vertices without a row in their cell stay empty.

    Parameters
    ----------
    embedding : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,), default=None
        Classes, or numbers, of the rows.
    images : ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
        An image of each row.
    n_vertices : int, default=12
        Vertices of the grid along each axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    points_ : list of matplotlib PathCollection
        The points, by class.
    nearest_ : ndarray of shape (n_vertices, n_vertices), or None
        With images, the row nearest to each vertex, from the lower left; -1 for a cell without rows.

    See Also
    --------
    suffice.manifold.LocallyLinearEmbedding : An embedding by neighbours.
    suffice.decomposition.KernelPCA : An embedding by a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from suffice.decomposition import PCA
    >>> from suffice.plot import EmbeddingDisplay
    >>> digits = load_digits(n_class=3)
    >>> points = PCA(2).fit_transform(digits.data)
    >>> display = EmbeddingDisplay.from_embedding(points, digits.target)
    >>> len(display.points_)
    3
    """

    def __init__(
        self, embedding: Any, y: MaybeArray = None, images: Any = None, n_vertices: int = 12
    ) -> None:
        self.embedding, self.y, self.images, self.n_vertices = embedding, y, images, n_vertices

    @classmethod
    def from_embedding(
        cls, embedding: Any, y: MaybeArray = None, *, images: Any = None, n_vertices: int = 12, ax: Any = None
    ) -> Self:
        """Draw an embedding, such as the result of `fit_transform`.

        Parameters
        ----------
        embedding : array of shape (n_samples, n_components)
            The points. If there are more than two components, the first two are drawn.
        y : array of shape (n_samples,), default=None
            Classes, or numbers, of the rows.
        images : array of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
            An image of each row.
        n_vertices : int, default=12
            Vertices of the grid along each axis, on which images are shown.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        EmbeddingDisplay
        """
        points = check_array(embedding, dtype=np.float64, ensure_min_features=2)[:, :2]
        check_consistent_length(points, y, images)
        y, images = (part if part is None else np.asarray(part) for part in (y, images))
        return cls(points, y, images, n_vertices).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        EmbeddingDisplay
        """
        ax = self._on(ax, figsize=(6.4, 4.8))
        from .drawing import legend_beside

        points, style = np.asarray(self.embedding), {"s": 14, "linewidths": 0.0, "zorder": 2}
        ax.set(xlabel="first component", ylabel="second component")
        shades = [FRAME] * len(points)
        if self.y is None:
            self.points_ = [ax.scatter(*points.T, color=colors(1)[0], **style)]
        elif type_of_target(self.y) in ("continuous", "unknown"):
            self.points_ = [ax.scatter(*points.T, c=self.y, cmap="viridis", **style)]
            self.figure_.colorbar(self.points_[0], ax=ax, label="y")
        else:
            names, codes = np.unique(self.y, return_inverse=True)
            palette = colors(len(names))
            self.points_ = [
                ax.scatter(*points[codes == k].T, color=palette[k], label=str(names[k]), **style)
                for k in range(len(names))
            ]
            shades = [palette[k] for k in codes]
            legend_beside(ax, self.points_)
        self.nearest_ = None if self.images is None else self._draw_images(ax, points, shades)
        return self

    def _draw_images(self, ax: Any, points: np.ndarray, shades: list[Any]) -> np.ndarray:
        """Draw the images of the rows nearest to the vertices, and return these rows."""
        Rectangle = required("matplotlib.patches", "plot").Rectangle
        low, high = points.min(axis=0), points.max(axis=0)
        step = np.where(high > low, (high - low) / max(1, self.n_vertices - 1), 1.0)
        places = np.arange(self.n_vertices)
        vertices = np.stack(np.meshgrid(places, places), axis=-1).astype(np.float64)  # in units of the steps
        scaled = (points - low) / step
        nearest = KDTree(scaled).query(vertices)[1]
        nearest[(np.abs(scaled[nearest] - vertices) > 0.5).any(axis=-1)] = -1
        for row, column in np.argwhere(nearest >= 0):
            corner, n = low + step * (column - 0.47, row - 0.47), nearest[row, column]
            (left, lower), (right, upper) = corner, corner + 0.94 * step
            shown = {"extent": (left, right, lower, upper), "aspect": "auto", "cmap": "gray_r", "zorder": 3}
            ax.imshow(np.asarray(self.images)[n], **shown)
            ax.add_patch(Rectangle(corner, *(0.94 * step), fill=False, ec=shades[n], lw=1.2, zorder=4))
        ax.set(xlim=(low[0] - step[0], high[0] + step[0]), ylim=(low[1] - step[1], high[1] + step[1]))
        return nearest
