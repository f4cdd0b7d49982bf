"""The string kernel, which is large for strings that share many subsequences with few gaps. Li 7.3.3.

Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, "Text classification using string kernels", 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .base import Kernel, Normalized


@dataclass(frozen=True)
class Subsequences(Kernel):
    """Kernel of strings, or of sequences of symbols, by their common subsequences of length n.

    A subsequence may have gaps. An occurrence that spans l symbols counts ``decay**l``. The kernel of a
    string shorter than n with any other is zero.

    Parameters
    ----------
    n : int
        Length of the subsequences.
    decay : float, default=0.5
        Weight of a symbol within the span of a subsequence, in (0, 1].

    Examples
    --------
    >>> from suffice.kernels import Normalized, Subsequences
    >>> Subsequences(2, decay=0.5)(["cat", "car", "bar", ""])
    array([[0.140625, 0.0625  , 0.      , 0.      ],
           [0.0625  , 0.140625, 0.0625  , 0.      ],
           [0.      , 0.0625  , 0.140625, 0.      ],
           [0.      , 0.      , 0.      , 0.      ]])
    >>> Normalized(Subsequences(2))([["to", "be"]], [["to", "really", "be"]]).round(4)
    array([[0.3333]])
    """

    n: int
    decay: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.n, Integral) or isinstance(self.n, bool) or self.n < 1:
            raise ValueError(f"n must be an integer of at least 1; got {self.n!r}.")
        if not 0 < self.decay <= 1:
            raise ValueError(f"decay must be in (0, 1]; got {self.decay}.")

    @property
    def of_strings(self) -> bool:
        return True

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        from ..loops.strings import subsequences

        symbols: dict[Any, int] = {}
        x = _encoded(X, symbols)
        z = x if Z is None else _encoded(Z, symbols)
        return subsequences(*x, *z, len(symbols), int(self.n), float(self.decay), Z is None)

    def diagonal(self, X: Any) -> np.ndarray:
        from ..loops.strings import own_subsequences

        symbols: dict[Any, int] = {}
        return own_subsequences(*_encoded(X, symbols), len(symbols), int(self.n), float(self.decay))


def _encoded(strings: Any, symbols: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the symbols of all strings as integers, concatenated, and the offsets of the strings.

    `symbols` maps symbols to integers; new ones are added to it.
    """
    if isinstance(strings, str | bytes):
        raise ValueError("Expected a list of strings; got one string. For two strings, use string_kernel.")
    if isinstance(strings, np.ndarray) and strings.dtype == object and strings.shape[1:] == (1,):
        strings = strings[:, 0]  # estimators hold strings as one column
    if not all(isinstance(s, str | bytes | Sequence | np.ndarray) for s in strings):
        raise ValueError("Expected strings, or sequences of symbols.")
    parts = [s.tolist() if isinstance(s, np.ndarray) else s for s in strings]
    codes = [symbols.setdefault(symbol, len(symbols)) for part in parts for symbol in part]
    offset = np.cumsum([0, *map(len, parts)])
    return np.array(codes, dtype=np.int64), offset.astype(np.int64)


def string_kernel(s: Any, t: Any, n: int, decay: float = 0.5, *, normalize: bool = False) -> float:
    """Kernel of two strings, or sequences of symbols, by their common subsequences of length n.

    Parameters
    ----------
    s : str or sequence
        The first string.
    t : str or sequence
        The second string.
    n : int
        Length of the subsequences, which may have gaps.
    decay : float, default=0.5
        Weight of a symbol within the span of a subsequence, in (0, 1].
    normalize : bool, default=False
        Whether to divide by sqrt(k(s, s) k(t, t)), so that equal strings have kernel 1. It is 0 if a string
        is shorter than n.

    Returns
    -------
    float

    See Also
    --------
    Subsequences : The same as a kernel of many strings.

    Examples
    --------
    >>> from suffice.kernels import string_kernel
    >>> string_kernel("Nasdaq", "lass das", 3)
    0.0224609375
    >>> round(string_kernel("Nasdaq", "lass das", 3, normalize=True), 6)
    0.160128
    """
    kernel = Subsequences(n, decay)
    return float((Normalized(kernel) if normalize else kernel)([s], [t])[0, 0])
