"""Cache of the blocks of the first pass: in memory, or in a temporary file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ..core.blocks import Block
from ..core.partitions import in_block
from ..core.progress import in_this_pass
from .local import CALLED, LocalPartitions, after_steps
from .stores import STORES, OnDisk

log = logging.getLogger("suffice")


class StreamedPartitions(LocalPartitions):
    """Blocks that are read or computed in each pass."""

    def persisted(self) -> LocalPartitions:
        """Compute the blocks once, and keep them in a temporary file."""
        made = Kept(_Numbered(self.blocks), partial(_made, self.steps), OnDisk)
        return StreamedPartitions(made, CALLED)


def streamed(
    batches: Iterable[tuple[int, Any]], cache: str | None, convert: Callable[..., Block], *shared: object
) -> StreamedPartitions:
    """Partitions of numbered batches, which threads convert in each pass, or with a cache in the first."""
    if cache is None:
        log.info("cache=None: each pass reads the data again.")
        return StreamedPartitions(batches, ((convert, shared),))
    return StreamedPartitions(Kept(batches, partial(convert, *shared), STORES[cache]), CALLED)


class _Numbered:
    """A re-iterable of numbered items."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return enumerate(self.blocks)

    @property
    def n_rows(self) -> int | None:
        return getattr(self.blocks, "n_rows", None)


def _made(steps: Any, numbered: tuple[int, Any]) -> Block:
    return after_steps(steps, numbered[1])


def check_cache(cache: str | None) -> None:
    if cache is not None and cache not in STORES:
        raise ValueError(f"cache must be None, {' or '.join(map(repr, STORES))}; got {cache!r}.")


class Kept:
    """Functions that return blocks, called by threads. The first complete pass converts and caches them."""

    def __init__(
        self,
        batches: Iterable[tuple[int, Any]],
        convert: Callable[[tuple[int, Any]], Block],
        make_store: Callable[[], Any],
    ) -> None:
        self.batches, self.convert, self.make_store = batches, convert, make_store
        self.store: Any = None  # of the last pass that read all batches
        self.count = -1  # of the blocks it should hold
        self.said = False

    def __iter__(self) -> Iterator[Callable[[], Block]]:
        store = self.store
        if store is not None and len(store.blocks) == self.count:
            if not self.said:
                log.info("%s, instead of reading the data again.", store)
            self.said, self.batches = True, ()  # which may be another file
            yield from (partial(store.get, number) for number in range(self.count))
            return
        in_this_pass("caching")
        self.store, store, count = None, self.make_store(), 0
        for batch in self.batches:
            yield partial(self._convert, store, batch)
            count += 1
        # If a thread fails from here on, a block is missing, and the next pass starts over.
        self.store, self.count = store, count

    @property
    def n_rows(self) -> int | None:
        """The number of rows of the blocks, if it is known before they are read, and that of the batches."""
        shared = getattr(self.convert, "args", ())
        steps = [step for part in shared if isinstance(part, tuple) for step in part]
        shared = [*shared, *(part for _, of_step in steps for part in of_step)]
        fewer = any(getattr(part, n, None) is not None for part in shared for n in ("selection", "sequence"))
        return None if fewer else getattr(self.batches, "n_rows", None)

    def _convert(self, store: Any, numbered: tuple[int, Any]) -> Block:
        block = self.convert(numbered)
        with in_block(numbered[0], "keeping it"):
            store.put(numbered[0], block)
        return block
