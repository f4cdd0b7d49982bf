"""Product of families: columns of several kinds, independent given k."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import numpy as np

from ..core.model import Family
from ..core.shapes import must
from ..core.statistics import Parts
from .posteriors import ProductPosterior


@dataclass(frozen=True, eq=False)
class ProductFamily(Family):
    """p(x given k) = product over parts of p_part(x[columns of the part] given k)."""

    columns: Annotated[tuple[np.ndarray, ...], "P of int (D_p,)"]  # of each part: indices into the row
    parts: Annotated[tuple[Family, ...], "P of K, D = D_p"]

    support: ClassVar[str] = "mixed"

    def check_loaded(self, sizes: dict[str, int]) -> None:
        columns = np.sort(np.concatenate(self.columns))
        sizes["D"] = len(columns)
        must(
            (columns == np.arange(len(columns))).all(),
            "The parts of a ProductFamily do not share its columns.",
        )

    @classmethod
    def by_kind(cls, kinds: Sequence[str], start: Callable[[str, int], Family]) -> Self:
        """Groups columns by kind: `start(kind, n_columns)` is their part."""
        columns = [np.flatnonzero(np.array(kinds) == kind) for kind in dict.fromkeys(kinds)]
        return cls(tuple(columns), tuple(start(kinds[c[0]], len(c)) for c in columns))

    def log_density(self, X: np.ndarray) -> np.ndarray:
        return sum(part.log_density(x) for part, x in self.each(X))  # type: ignore[return-value]

    def regularized_log_density(self, X: np.ndarray) -> np.ndarray:
        return sum(part.regularized_log_density(x) for part, x in self.each(X))  # type: ignore[return-value]

    def scores(self, X: np.ndarray) -> np.ndarray:
        return sum(part.scores(x) for part, x in self.each(X))  # type: ignore[return-value]

    def summarize_known(self, X: np.ndarray, k: np.ndarray, weight: np.ndarray, K: int) -> Parts:
        return Parts(tuple(part.summarize_known(x, k, weight, K) for part, x in self.each(X)))

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Parts:
        return Parts(tuple(part.summarize(x, R) for part, x in self.each(X)))

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        return np.hstack([part.sufficient(x) for part, x in self.each(X)])

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        coef, intercept = zip(*(part.natural() for part in self.parts), strict=True)
        return np.hstack(coef), np.sum(intercept, axis=0)

    def each(self, X: np.ndarray) -> Iterator[tuple[Family, np.ndarray]]:
        """Yield each part with its columns, as numbers unless they are categories."""
        for part, columns in zip(self.parts, self.columns, strict=True):
            x = X[:, columns]
            if part.support != "category":
                x = _numbers(x, columns)
            yield part, x

    def estimate(self, s: Parts) -> Self:
        pairs = zip(self.parts, s.parts, strict=True)
        return self.replace(parts=tuple(part.estimate(of_part) for part, of_part in pairs))

    def posterior(self, s: Parts) -> ProductPosterior:
        parts = tuple(part.posterior(of_part) for part, of_part in zip(self.parts, s.parts, strict=True))
        return ProductPosterior(self.replace(parts=tuple(q.family for q in parts)), parts)

    def impute(self, X: np.ndarray, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = X
        for (part, x), columns in zip(self.each(X), self.columns, strict=True):
            filled = part.impute(x, k, rng)
            if filled is not x:
                out = out.copy() if out is X else out
                out[:, columns] = filled
        return out

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = np.empty((len(k), sum(map(len, self.columns))), dtype=object)
        for c, part in zip(self.columns, self.parts, strict=True):
            X[:, c] = part.sample(k, rng)
        numbers = all(part.support != "category" for part in self.parts)
        return X.astype(np.float64) if numbers else X

    @property
    def n_parameters(self) -> int:
        return sum(part.n_parameters for part in self.parts)

    def log_prior(self) -> float:
        return sum(part.log_prior() for part in self.parts)


def _numbers(x: np.ndarray, columns: np.ndarray) -> np.ndarray:
    try:
        return x.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        texts = ((n, d) for n, row in enumerate(x) for d, cell in enumerate(row) if isinstance(cell, str))
        row, d = next(texts, (None, None))
        where = "" if d is None else f" {x[row, d]!r} in row {row}, column {int(columns[d])},"
        raise ValueError(
            f"X has{where} no number in a column that is not categorical: pass numbers, or fit the "
            f"column as categories. ({error})"
        ) from None
