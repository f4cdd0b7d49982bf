"""Cache of the blocks of the first passes: in memory, or in a temporary file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ..core.blocks import Block
from ..core.partitions import after_steps, in_block
from ..core.progress import in_this_pass
from .local import CALLED, LocalPartitions
from .stores import STORES, Automatic, OnDisk

log = logging.getLogger("suffice")


class StreamedPartitions(LocalPartitions):
    """Blocks that are read or computed in each pass."""

    def persisted(self) -> LocalPartitions:
        """Compute the blocks once, and keep them in a temporary file."""
        made = Kept(_Numbered(self.blocks), partial(_made, self.steps), OnDisk)
        return StreamedPartitions(made, CALLED)

    def new_store(self) -> Automatic | None:
        return super().new_store() if isinstance(self.blocks, Kept) else None  # otherwise cache=None


def streamed(
    batches: Iterable[tuple[int, Any]],
    cache: str | None,
    convert: Callable[..., Block],
    *shared: object,
    iterates: bool = False,
) -> StreamedPartitions:
    """Return partitions of numbered batches, which threads convert in each pass.

    With a cache, they are converted in the first passes only. `iterates` says that many passes will follow
    the first (see `Automatic`).
    """
    if cache is None:
        log.info("cache=None: each pass reads the data again.")
        return StreamedPartitions(batches, ((convert, shared),))
    make_store = partial(Automatic, iterates) if cache == "auto" else STORES[cache]
    return StreamedPartitions(Kept(batches, partial(convert, *shared), make_store), CALLED)


class _Numbered:
    """Re-iterable of numbered items that are stored already, so that an automatic cache stores no blocks."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        blocks = self.blocks
        if isinstance(blocks, Kept) and blocks.automatic and not blocks.complete:
            return enumerate(partial(blocks.convert, batch) for batch in blocks.batches)
        return enumerate(blocks)

    @property
    def n_rows(self) -> int | None:
        return getattr(self.blocks, "n_rows", None)


def _made(steps: Any, numbered: tuple[int, Any]) -> Block:
    return after_steps(steps, numbered[1])


def check_cache(cache: str | None) -> None:
    if cache not in (None, "auto", *STORES):
        raise ValueError(f"cache must be None, 'auto', {' or '.join(map(repr, STORES))}; got {cache!r}.")


class Kept:
    """Re-iterable of functions that return blocks, which threads call.

    The first complete pass converts the batches and caches the blocks. An automatic store may do so in the
    second pass, or not at all: then each pass reads the data.
    """

    def __init__(
        self,
        batches: Iterable[tuple[int, Any]],
        convert: Callable[[tuple[int, Any]], Block],
        make_store: Callable[[], Any],
    ) -> None:
        self.batches, self.convert, self.make_store = batches, convert, make_store
        self.automatic = isinstance(make_store, partial) and make_store.func is Automatic
        self.store: Any = None  # the store of the last pass that read all batches
        self.count = -1  # number of blocks that it should hold
        self.said = False

    def __iter__(self) -> Iterator[Callable[[], Block]]:
        store = self.store
        measured = isinstance(store, Automatic) and len(store.sizes) == self.count
        if measured:
            store.begin()
        if self.complete:
            self._log("%s, instead of reading the data again.", store)
            self.batches = ()  # releases what they hold, such as another temporary file
            yield from (partial(store.get, number) for number in range(self.count))
            return
        if not measured:
            self.store, store = None, self.make_store()
        elif store.decision and not store.accepts:
            self._log("%s.", store)
        if not isinstance(store, Automatic) or store.disk is not None:  # caching in memory takes no time
            in_this_pass("caching")
        count = 0
        for batch in self.batches:
            yield partial(self._convert, store, batch)
            count += 1
        # If a thread fails after this, a block is missing, and the next pass starts over.
        self.store, self.count = store, count

    @property
    def n_rows(self) -> int | None:
        """The number of rows of the batches, if it is known before the data is read; None otherwise."""
        shared = getattr(self.convert, "args", ())
        steps = [step for part in shared if isinstance(part, tuple) for step in part]
        shared = [*shared, *(part for _, of_step in steps for part in of_step)]
        fewer = any(getattr(part, n, None) is not None for part in shared for n in ("selection", "sequence"))
        return None if fewer else getattr(self.batches, "n_rows", None)

    @property
    def complete(self) -> bool:
        """Whether all blocks are stored."""
        return self.store is not None and len(self.store.blocks) == self.count

    def _log(self, message: str, store: Any) -> None:
        if not self.said:
            log.info(message, str(store))  # the text, since a log record would keep the store alive
        self.said = True

    def _convert(self, store: Any, numbered: tuple[int, Any]) -> Block:
        block = self.convert(numbered)
        with in_block(numbered[0], "keeping it"):
            store.put(numbered[0], block)
        return block
