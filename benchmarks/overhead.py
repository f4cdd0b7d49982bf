"""Overhead of an engine: its fold, alternating with bare tasks that sum the same moments."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from suffice.core.blocks import PIECE_BYTES, Rows
from suffice.inputs import Check
from suffice.statistics import Moments, moments

COLUMNS = 16
NAMES = tuple(f"x{j}" for j in range(COLUMNS))
PIECE = PIECE_BYTES // (8 * COLUMNS)  # rows, as the engines cut them
CHECK = Check("", sparse=False, nan=False, positive=False, strings=False, target=None)


def moments_of(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


def bare_moments(blocks: Iterable[np.ndarray]) -> Moments:
    """Moments of a few blocks, piece by piece: the work of a bare task."""
    return added(
        moments(piece, np.ones(len(piece)))
        for X in blocks
        for piece in (X[start : start + PIECE] for start in range(0, len(X), PIECE))
    )


def added(terms: Iterable[Moments]) -> Moments:
    first, *others = terms
    for term in others:
        first = first + term
    return first


def timed(f: Callable[[], Any]) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def in_turns(data: Any, bare: Callable[[], Moments], repeat: int) -> str:
    """Cells: milliseconds of the engine and of the bare tasks, and median and quartiles of their ratio."""
    np.testing.assert_allclose(data.fold(moments_of).scatter, bare().scatter, rtol=1e-9)
    data.fold(moments_of), bare()
    times = 1e3 * np.array([(timed(lambda: data.fold(moments_of)), timed(bare)) for _ in range(repeat)])
    mine, its = np.median(times, axis=0)
    low, middle, high = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    return f"{mine:.0f} | {its:.0f} | {middle:.2f} | {low:.2f} to {high:.2f}"


def page(what: str, repeat: int, engine: str, lines: dict[int, str], aim: float) -> list[str]:
    """The table, by rows in a block."""
    page = [
        f"{what}; median of {repeat} in turns.",
        "",
        f"| rows in a block | suffice on {engine}, ms | bare tasks, ms | ratio | quartiles | aim |",
        "|---|---|---|---|---|---|",
        *(f"| {rows:,} | {cells} | at most {aim} |" for rows, cells in lines.items()),
    ]
    print("\n".join(page), flush=True)
    return page
