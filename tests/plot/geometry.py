"""Boxes of texts, to see whether labels overlap."""

from __future__ import annotations

import numpy as np


def drawn(display):
    """The display, after a renderer went through all of it."""
    display.figure_.canvas.draw()
    assert not hasattr(display, "ax_") or display.ax_.figure is display.figure_
    return display


def boxes(display, texts):
    """(left, low, right, high) of the visible texts of a drawn figure, in pixels."""
    from matplotlib.text import Text

    renderer = display.figure_.canvas.get_renderer()
    visible = [text for text in texts if text.get_visible() and text.get_text()]
    return np.array([Text.get_window_extent(text, renderer).extents for text in visible])


def overlaps(boxes):
    """The number of pairs of boxes that overlap."""
    apart = (boxes[:, None, 2:] <= boxes[:, :2]) | (boxes[:, None, :2] >= boxes[:, 2:])
    return int(np.triu(~apart.any(axis=2), 1).sum())
