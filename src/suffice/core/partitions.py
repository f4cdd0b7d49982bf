"""Partitions: the blocks of a data set, in memory, in files or on a cluster, and the operations of
engines."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from .blocks import Block, stack
from .cost import afford
from .progress import stage
from .statistics import tree_sum
from .values import nbytes

F = TypeVar("F", bound=Callable[..., Any])

# Rows that threads take longer to share than one of them takes to sum.
FEW_BYTES = 1 << 18
# Memory for rows that are brought to this process, so that a method can read them many times.
GATHERED_BYTES = 1 << 29

log = logging.getLogger("suffice")


class Partitions(ABC):
    """The blocks of a data set. An engine is a subclass that implements these methods.

    On every engine: block boundaries depend on the data alone; sums follow `tree_sum` by block index;
    `shared` is sent once per call; tasks are stateless, so a lost task can be run again.
    """

    local: ClassVar[bool] = False  # whether the blocks are of this process, whose threads share them

    @property
    def in_memory(self) -> bool:
        """Whether the blocks are in the memory of this process."""
        return False

    @abstractmethod
    def map(self, f: Callable[..., Any], *shared: object) -> Partitions:
        """Partitions of `f(*shared, block)`. They stay on the engine."""

    @abstractmethod
    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        """The sum of `f(*shared, block)`, on the driver."""

    @abstractmethod
    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Any:
        """The sums by key of the rows returned by `f(*shared, block)`, for sums too large for the driver.

        The rows are ``keys, values``: integers from 0 to `n_keys` - 1, in any order, and an array whose first
        axis is as long. The sums stay in `shards` partitions of :class:`~suffice.engines.shards.Shard`
        blocks, each with a run of keys: on Ray in its object store; elsewhere in the memory of this process,
        or in a temporary file. They can be an argument of a later pass, which reads ``sums.take(keys)``.
        Their bits do not depend on `shards`.
        """

    @abstractmethod
    def on_driver(self, block: Block) -> Partitions:
        """Partitions of the examples of one block of this process, e.g. of a sample of the rows."""

    @abstractmethod
    def batches(self) -> Iterator[Any]:
        """Iterate over the blocks in this process, with few of them in memory at a time."""

    def in_each_pass(self, f: Callable[..., Any], *shared: object) -> Partitions:
        """Partitions of `f(*shared, block)`, which each pass computes again from the pieces that it sums."""
        return InEachPass(self, f, shared)

    def prepared(self, f: Callable[..., Any], *shared: object) -> Partitions:
        """Partitions of `f(*shared, block)` for many passes: computed once if the blocks are in the memory of
        this process, else in each pass."""
        return self.map(f, *shared) if self.in_memory else self.in_each_pass(f, *shared)

    def persisted(self) -> Partitions:
        """The same partitions, with blocks that are computed once and not in each pass."""
        return self

    def new_store(self) -> Any:
        """A store for blocks that are computed from these, with `holds`, `get` and `put`; None if each pass
        computes them again."""
        return None

    def gather(self, instead: str | None) -> Any:
        """All examples as one block in this process, in order.

        Their size is compared with the free memory first, in a pass of its own. `instead` is the advice of
        the error if it is too large; None if the caller knows that it is not.
        """
        if instead is not None:
            afford(float(self.fold(_gathered_bytes)[0]), "the rows, all in one place,", instead)
        return stack(self.fold(_as_tuple))

    def gather_if(self, n_rows: int, row_bytes: int) -> Any:
        """All rows as one block in this process if they fit in `GATHERED_BYTES`, else None.

        `row_bytes` is the memory that a row takes, with the copies that the method makes of it.
        """
        if n_rows * row_bytes > GATHERED_BYTES:
            log.info("%d rows stay where they are: each pass folds over them.", n_rows)
            return None
        log.info("%d rows are gathered in this process.", n_rows)
        return self.gather(None)


@dataclass(frozen=True)
class InEachPass(Partitions):
    """Partitions of `f(*shared, block)`, which each pass computes again."""

    data: Partitions
    f: Callable[..., Any]
    shared: tuple[Any, ...]

    def map(self, f: Callable[..., Any], *shared: object) -> Partitions:
        return self.data.map(_composed, self.f, self.shared, f, shared)

    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        return self.data.fold(_composed, self.f, self.shared, f, shared)

    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Any:
        return self.data.fold_by_key(_composed, self.f, self.shared, f, shared, n_keys=n_keys, shards=shards)

    def on_driver(self, block: Block) -> Partitions:
        return self.data.on_driver(block)

    def batches(self) -> Iterator[Any]:
        return (self.f(*self.shared, block) for block in self.data.batches())


def _composed(
    f: Callable[..., Any], shared: tuple[Any, ...], g: Callable[..., Any], more: Any, block: Any
) -> Any:
    return g(*more, f(*shared, block))


def after_steps(steps: Iterable[tuple[Callable[..., Any], tuple[Any, ...]]], block: Any) -> Any:
    """The block after these maps, one after the other."""
    for step, shared in steps:
        block = step(*shared, block)
    return block


def must_be_partitions(data: Any) -> None:
    """Raise for rows that a user passes to a loop as they are."""
    if not hasattr(data, "fold"):
        raise TypeError(f"data must be partitions; got {type(data).__name__}: pass suffice.partition(X).")


class Opened(Partitions):
    """Partitions whose input was already checked: `fit` and `score` accept them in place of data."""

    features: tuple[str, ...] | int  # the names of the features, or how many there are
    check: Any  # that the blocks have passed
    flat_target: bool  # whether there is one target, without a second axis
    categorical: np.ndarray | None = None  # which features hold categories by their type, if that is known


@stage("measuring memory")
def _gathered_bytes(block: Any) -> np.ndarray:
    X = block.X
    if X.dtype.kind == "u":  # codes, which stay as they are
        return np.array([X.nbytes / 8.0])
    return np.array([1.5 * X.nnz if sp.issparse(X) else X.size], dtype=np.float64)


@stage("gathering")
def _as_tuple(block: Any) -> tuple[Any, ...]:
    return (block,)


def in_any_order(f: Callable[..., Any]) -> bool:
    """Whether a summary, a class method of its statistics, sums integers: see `Statistics.any_order`."""
    return getattr(getattr(f, "__self__", None), "any_order", False)


def by_threads(f: Callable[..., Any], shared: Sequence[Any], block: Any) -> bool:
    """Whether threads share one block in the summary of a model: see `Model.threads_share_blocks`."""
    model = type(shared[0]) if shared else None
    if not (getattr(model, "threads_share_blocks", False) and f is model.summarize):  # type: ignore[union-attr]
        return False
    return hasattr(block, "row_bytes") and block.row_bytes * block.X.shape[0] > FEW_BYTES


def sums_pieces(f: Callable[..., Any], shared: Sequence[Any], block: Any) -> bool:
    """Whether the summary of a model, or of several, sums the pieces of a block: see `Model.sums_pieces`."""
    if getattr(f, "of_each_model", False):
        models = shared[0]
    else:
        models = [m for m in shared[:1] if f is getattr(type(m), "summarize", None)]
    return bool(models) and all(hasattr(m, "sums_pieces") and m.sums_pieces(block) for m in models)


def of_each_model(f: F) -> F:
    """Decorator: a summary of several models, its first argument, which passes on how they sum a block."""
    f.of_each_model = True  # type: ignore[attr-defined]
    return f


class SumBytes:
    """Bytes of the sum of no rows, as the first block has it: the size of pieces follows from it."""

    def __init__(self, f: Callable[..., Any], *shared: Any) -> None:
        self.of_no_rows = lambda block: f(*shared, block.piece(0, 0, 0))
        self.known: int | None = None

    def __call__(self, block: Any) -> int:
        if self.known is None:
            self.known = nbytes(self.of_no_rows(block))
        return self.known


def fold_blocks(
    f: Callable[..., Any],
    shared: Sequence[Any],
    blocks: Sequence[Any],
    onto: Any = None,
    sum_bytes: SumBytes | None = None,
) -> Any:
    """The sum over a run of blocks, in pieces that fit in the cache: the task of every engine.

    A sum of whole numbers may be added to the total `onto`. Tasks of one process share `sum_bytes`.
    """
    if len(blocks) == 1 and getattr(blocks[0], "is_one_piece", False) and not in_any_order(f):
        (block,) = blocks  # its sum is the summary of it: no summary of nothing tells the size of pieces
        with _computing(f, block):
            return f(*shared, block.piece(0, len(block), 0))
    if in_any_order(f):
        total = f(*shared, blocks[0].piece(0, 0, 0)) if onto is None else onto
        for block in blocks:
            with _computing(f, block):
                total = f(*shared, block, onto=total)
        return total
    size = (sum_bytes or SumBytes(f, *shared))(blocks[0])
    return tree_sum(fold_block(f, shared, block, size) for block in blocks)


def fold_block(f: Callable[..., Any], shared: Sequence[Any], block: Any, size: int) -> Any:
    with _computing(f, block):
        if len(block) and sums_pieces(f, shared, block):
            return f(*shared, block.piece(0, len(block), 0), rows=block.piece_rows(size))
        pieces = block.pieces(size) if len(block) else [block.piece(0, 0, 0)]
        return tree_sum(f(*shared, piece) for piece in pieces)


@contextmanager
def in_block(number: int, doing: str) -> Iterator[None]:
    """Add the number of the block to errors."""
    try:
        yield
    except Exception as error:
        error.add_note(f"In block {number} of the data, while {doing}.")
        raise


def _computing(f: Callable[..., Any], block: Any) -> AbstractContextManager[None]:
    return in_block(block.index[0], f"computing {getattr(f, '__qualname__', f)}")
