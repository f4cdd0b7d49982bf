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

# Bytes of a block that one thread sums in less time than several threads take to share it.
FEW_BYTES = 1 << 18
# Bytes of rows that a method gathers in this process, to read them many times.
GATHERED_BYTES = 1 << 29

log = logging.getLogger("suffice")


class Partitions(ABC):
    """The blocks of a data set. An engine is a subclass that implements these methods.

    On every engine: block boundaries depend on the data alone; sums follow `tree_sum` by block index;
    `shared` is sent once per call; tasks are stateless, so a lost task can be run again.
    """

    local: ClassVar[bool] = False  # whether the threads of this process share the blocks

    @property
    def in_memory(self) -> bool:
        """Whether the blocks are in the memory of this process."""
        return False

    @property
    def depth(self) -> int:
        """How often the data was divided before, e.g. 1 within cross-validation.

        Folds of folds are drawn by different hashes.
        """
        return 0

    @abstractmethod
    def map(self, f: Callable[..., Any], *shared: object) -> Partitions:
        """Return partitions of `f(*shared, block)`. They stay on the engine."""

    @abstractmethod
    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        """Return the sum of `f(*shared, block)` on the driver."""

    @abstractmethod
    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Any:
        """Return sums by key of rows, for sums that are too large for the driver.

        `f(*shared, block)` returns ``keys, values``: integers from 0 to `n_keys` - 1, in any order, and an
        array with one row for each. The sums stay in `shards` partitions of
        :class:`~suffice.engines.shards.Shard` blocks, each with a range of keys: on Ray in its object store;
        elsewhere in the memory of this process, or in a temporary file. A later pass can take them as an
        argument and read ``sums.take(keys)``. Their bits do not depend on `shards`.
        """

    @abstractmethod
    def on_driver(self, block: Block) -> Partitions:
        """Return partitions of the examples of one block of this process, e.g. a sample of the rows."""

    @abstractmethod
    def batches(self) -> Iterator[Any]:
        """Iterate over the blocks in this process, with few of them in memory at a time."""

    def in_each_pass(self, f: Callable[..., Any], *shared: object) -> Partitions:
        """Return partitions of `f(*shared, block)` that each pass computes again, piece by piece."""
        return InEachPass(self, f, shared)

    def prepared(self, f: Callable[..., Any], *shared: object) -> Partitions:
        """Return partitions of `f(*shared, block)` for many passes.

        They are computed once if the blocks are in the memory of this process, otherwise in each pass.
        """
        return self.map(f, *shared) if self.in_memory else self.in_each_pass(f, *shared)

    def persisted(self) -> Partitions:
        """Return the same partitions, with blocks that are computed once and not in each pass."""
        return self

    def new_store(self) -> Any:
        """Return a store for blocks computed from these, with `holds`, `get` and `put`.

        None if each pass computes them again.
        """
        return None

    def gather(self, instead: str | None) -> Any:
        """Return all examples as one block in this process, in order.

        A first pass compares their size with the memory. If it is too large, the error advises `instead`.
        With None there is no such pass: the caller knows that they fit.
        """
        if instead is not None:
            afford(float(self.fold(_gathered_bytes)[0]), "the rows, all in one place,", instead)
        return stack(self.fold(_as_tuple))

    def gather_if(self, n_rows: int, row_bytes: int) -> Any:
        """Return all rows as one block in this process if they fit in `GATHERED_BYTES`, otherwise None.

        `row_bytes` is the memory of a row, including the copies that the method makes of it.
        """
        if n_rows * row_bytes > GATHERED_BYTES:
            log.info("%d rows stay where they are: each pass folds over them.", n_rows)
            return None
        log.info("%d rows are gathered in this process.", n_rows)
        return self.gather(None)


@dataclass(frozen=True, eq=False)
class Delegated(Partitions):
    """Partitions that pass calls on to others, `data`."""

    data: Partitions

    @property
    def depth(self) -> int:
        return self.data.depth

    def _call(self, f: Callable[..., Any], shared: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the function that `data` calls with each block for a call of f, and its arguments."""
        return f, *shared

    def map(self, f: Callable[..., Any], *shared: object) -> Partitions:
        return self.data.map(*self._call(f, shared))

    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        return self.data.fold(*self._call(f, shared))

    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Any:
        return self.data.fold_by_key(*self._call(f, shared), n_keys=n_keys, shards=shards)

    def on_driver(self, block: Block) -> Partitions:
        return self.data.on_driver(block)

    def batches(self) -> Iterator[Any]:
        return self.data.batches()


@dataclass(frozen=True, eq=False)
class InEachPass(Delegated):
    """Partitions of `f(*shared, block)` that each pass computes again."""

    f: Callable[..., Any]
    shared: tuple[Any, ...]

    def _call(self, f: Callable[..., Any], shared: tuple[Any, ...]) -> tuple[Any, ...]:
        return _composed, self.f, self.shared, f, shared

    def batches(self) -> Iterator[Any]:
        return (self.f(*self.shared, block) for block in self.data.batches())


def _composed(
    f: Callable[..., Any], shared: tuple[Any, ...], g: Callable[..., Any], more: Any, block: Any
) -> Any:
    """Return g of f of the block, each with its shared arguments."""
    return g(*more, f(*shared, block))


def after_steps(steps: Iterable[tuple[Callable[..., Any], tuple[Any, ...]]], block: Any) -> Any:
    """Apply functions to a block, one after the other. Each step is a function and its shared arguments."""
    for step, shared in steps:
        block = step(*shared, block)
    return block


def must_be_partitions(data: Any) -> None:
    """Raise a TypeError if a user passes rows to a loop instead of partitions."""
    if not hasattr(data, "fold"):
        raise TypeError(f"data must be partitions; got {type(data).__name__}: pass suffice.partition(X).")


@dataclass(frozen=True, eq=False)
class Opened(Delegated):
    """Partitions whose input was already checked: `fit` and `score` accept them in place of data."""

    features: tuple[str, ...] | int  # names of the features, or their number
    check: Any  # the check that the blocks have passed
    flat_target: bool = True  # whether there is one target, without a second axis
    categorical: np.ndarray | None = None  # mask of features with a categorical type, if known
    container: Any = sp.csr_array  # the type of sparse rows, for estimators of other libraries

    @property
    def in_memory(self) -> bool:
        return self.data.in_memory

    def persisted(self) -> Partitions:
        return self.data.persisted()

    def new_store(self) -> Any:
        return self.data.new_store()

    def gather(self, instead: str | None) -> Any:
        return self.data.gather(instead)


@stage("measuring memory")
def _gathered_bytes(block: Any) -> np.ndarray:
    """Return the memory of a block when gathered, in numbers of 8 bytes, (1,)."""
    X = block.X
    if X.dtype.kind == "u":  # codes are not converted to float64
        return np.array([X.nbytes / 8.0])
    return np.array([1.5 * X.nnz if sp.issparse(X) else X.size], dtype=np.float64)


@stage("gathering")
def _as_tuple(block: Any) -> tuple[Any, ...]:
    return (block,)


def in_any_order(f: Callable[..., Any]) -> bool:
    """Whether `f` is a class method of statistics that sum integers (see `Statistics.any_order`)."""
    return getattr(getattr(f, "__self__", None), "any_order", False)


def by_threads(f: Callable[..., Any], shared: Sequence[Any], block: Any) -> bool:
    """Whether threads share this block in `summarize` of a model (see `Model.threads_share_blocks`)."""
    model = type(shared[0]) if shared else None
    if not (getattr(model, "threads_share_blocks", False) and f is model.summarize):  # type: ignore[union-attr]
        return False
    return hasattr(block, "row_bytes") and block.row_bytes * block.X.shape[0] > FEW_BYTES


def sums_pieces(f: Callable[..., Any], shared: Sequence[Any], block: Any) -> bool:
    """Whether `f`, a summary of one or several models, takes this block whole (see `Model.sums_pieces`)."""
    if getattr(f, "of_each_model", False):
        models = shared[0]
    else:
        models = [m for m in shared[:1] if f is getattr(type(m), "summarize", None)]
    return bool(models) and all(hasattr(m, "sums_pieces") and m.sums_pieces(block) for m in models)


def of_each_model(f: F) -> F:
    """Decorator of functions that summarize several models, the first argument, as each of them would."""
    f.of_each_model = True  # type: ignore[attr-defined]
    return f


class SumBytes:
    """Bytes of the statistics, measured once on no rows of the first block. They determine the piece size."""

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
    """Return the sum over consecutive blocks, piece by piece: the task of every engine.

    Sums of integers may be added to the total `onto`. Tasks of one process share `sum_bytes`.
    """
    if len(blocks) == 1 and getattr(blocks[0], "is_one_piece", False) and not in_any_order(f):
        (block,) = blocks  # one piece for any size of the statistics, so this need not be measured
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
    """Return the sum over the pieces of one block, whose statistics have `size` bytes."""
    with _computing(f, block):
        if len(block) and sums_pieces(f, shared, block):
            return f(*shared, block.piece(0, len(block), 0), rows=block.piece_rows(size))
        pieces = block.pieces(size) if len(block) else [block.piece(0, 0, 0)]
        return tree_sum(f(*shared, piece) for piece in pieces)


@contextmanager
def in_block(number: int, doing: str) -> Iterator[None]:
    """Context manager: add the number of the block and the operation to errors."""
    try:
        yield
    except Exception as error:
        error.add_note(f"In block {number} of the data, while {doing}.")
        raise


def _computing(f: Callable[..., Any], block: Any) -> AbstractContextManager[None]:
    return in_block(block.index[0], f"computing {getattr(f, '__qualname__', f)}")
