"""The figures of the gallery show something: each code block is run as sphinx-gallery runs it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from .test_pages import ROOT  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
FRAME = 4  # pixels at the edges of axes: their frame and ticks


def code_blocks(path: Path) -> list[tuple[int, str]]:
    """The blocks between comments that begin with `# %%`, with the number of their first line."""
    blocks: list[tuple[int, list[str]]] = [(1, [])]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# %%"):
            blocks.append((number, []))
        blocks[-1][1].append(line)
    return [(number, "\n".join(lines)) for number, lines in blocks]


def blank_axes(figure) -> list[str]:
    """The axes of a figure that are drawn in one color; a picture may be of one color."""
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())
    height = len(pixels)
    blank = []
    for n, axes in enumerate(figure.axes):
        if not axes.get_visible() or axes.images:
            continue
        x0, y0, x1, y1 = np.round(axes.get_window_extent().extents).astype(int)
        inside = pixels[height - y1 + FRAME : height - y0 - FRAME, x0 + FRAME : x1 - FRAME]
        if inside.size and (inside == inside[0, 0]).all():
            blank.append(f"axes {n} ({axes.get_title()!r})")
    return blank if figure.axes else ["no axes"]


def test_a_blank_figure_is_found():
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([0, 1], [1, 0])
    right.set_title("empty")
    assert blank_axes(figure) == ["axes 1 ('empty')"]
    plt.close(figure)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_figures_are_not_blank(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__", "__file__": str(path)}
    n_figures = 0
    try:
        for line, code in code_blocks(path):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile("\n" * (line - 1) + code, str(path), "exec", dont_inherit=True), names)
            for number in plt.get_fignums():  # sphinx-gallery shows and closes them after each block
                n_figures += 1
                assert not blank_axes(plt.figure(number)), f"{path.name}, the block of line {line}"
            plt.close("all")
    finally:
        plt.close("all")
    assert n_figures, f"{path.name} shows no figure"
