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
        return super().new_store() if isinstance(self.blocks, Kept) else None  # else cache=None


def streamed(
    batches: Iterable[tuple[int, Any]],
    cache: str | None,
    convert: Callable[..., Block],
    *shared: object,
    iterates: bool = False,
) -> StreamedPartitions:
    """Partitions of numbered batches, which threads convert in each pass, or with a cache in the first ones.

    `iterates` says that many passes will follow the first: see `Automatic`.
    """
    if cache is None:
        log.info("cache=None: each pass reads the data again.")
        return StreamedPartitions(batches, ((convert, shared),))
    make_store = partial(Automatic, iterates) if cache == "auto" else STORES[cache]
    return StreamedPartitions(Kept(batches, partial(convert, *shared), make_store), CALLED)


class _Numbered:
    """A re-iterable of numbered items. An automatic cache stores none of its blocks, since the items are
    stored already."""

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
    """Functions that return blocks, called by threads. The first complete pass converts and caches them; an
    automatic store may need the second one for it, or read the data in each pass."""

    def __init__(
        self,
        batches: Iterable[tuple[int, Any]],
        convert: Callable[[tuple[int, Any]], Block],
        make_store: Callable[[], Any],
    ) -> None:
        self.batches, self.convert, self.make_store = batches, convert, make_store
        self.automatic = isinstance(make_store, partial) and make_store.func is Automatic
        self.store: Any = None  # of the last pass that read all batches
        self.count = -1  # of the blocks it should hold
        self.said = False

    def __iter__(self) -> Iterator[Callable[[], Block]]:
        store = self.store
        measured = isinstance(store, Automatic) and len(store.sizes) == self.count
        if measured:
            store.begin()
        if self.complete:
            self._log("%s, instead of reading the data again.", store)
            self.batches = ()  # which may be another file
            yield from (partial(store.get, number) for number in range(self.count))
            return
        if not measured:
            self.store, store = None, self.make_store()
        elif store.decision and not store.accepts:
            self._log("%s.", store)
        if not isinstance(store, Automatic) or store.disk is not None:  # memory takes no time
            in_this_pass("caching")
        count = 0
        for batch in self.batches:
            yield partial(self._convert, store, batch)
            count += 1
        # If a thread fails from here on, a block is missing, and the next pass starts over.
        self.store, self.count = store, count

    @property
    def n_rows(self) -> int | None:
        """The number of rows of the blocks and of the batches, if they are known before the data is read."""
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
            log.info(message, str(store))  # not the store, which a log would keep
        self.said = True

    def _convert(self, store: Any, numbered: tuple[int, Any]) -> Block:
        block = self.convert(numbered)
        with in_block(numbered[0], "keeping it"):
            store.put(numbered[0], block)
        return block
