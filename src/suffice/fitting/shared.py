"""Several fits share each pass over the data.

Each fit runs as it would alone, in a thread of its own, on a view of the data whose `fold` waits. When all
running fits are waiting, one pass computes the sums of all of them. So any method with any solver shares
passes without changes to its code, and gives the same bits.

Between passes the fits take turns, because state of the process, such as BLAS threads and warnings, must not
be used by two of them at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from queue import SimpleQueue
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn import config_context, get_config

from ..core.blocks import Block
from ..core.cost import afford
from ..core.hashing import parts_of
from ..core.partitions import Opened, Partitions, after_steps, fold_blocks, in_any_order
from ..core.progress import shared_by
from ..core.randomness import Purpose
from ..core.values import Value, nbytes

log = logging.getLogger("suffice")

Step = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, eq=False)
class Divided:
    """A block whose examples are divided into parts.

    It is one piece: each fit divides its examples into pieces of the same size as it would alone.
    """

    block: Block
    draw: Callable[[], np.ndarray]  # computes `part`, which passes over stored blocks do not need

    @cached_property
    def part(self) -> np.ndarray:
        """The part of each example, (N,)."""
        return self.draw()

    def __reduce__(self) -> tuple[Any, ...]:
        return Divided, (self.block, partial(np.asarray, self.part))

    @property
    def index(self) -> tuple[int, ...]:
        return self.block.index

    def __len__(self) -> int:
        return len(self.block)

    def piece(self, start: int, stop: int, number: int) -> Divided:
        return Divided(self.block[start:stop], lambda: self.part[start:stop])

    def pieces(self, statistic_bytes: int) -> Iterator[Divided]:
        yield self

    def chosen(self, parts: tuple[int, ...] | None) -> Block:
        """Return the examples of some parts, or all."""
        block = self.block
        if parts is not None:
            wanted = np.zeros(max(self.part.max(initial=0), *parts) + 1, bool)
            wanted[list(parts)] = True
            block = block[wanted[self.part]]  # np.isin would take longer than a pass over few rows
        if getattr(block, "X", None) is None or block.X.dtype.kind in "Ou":  # codes are not converted
            return block
        return block.replace(X=block.X.astype(np.float64, copy=False))  # once for all fits


def divide(n_parts: int, purpose: Purpose, seed: tuple[int, ...], block: Block) -> Divided:
    """Divide a block into parts by the hash of each example."""
    return Divided(block, lambda: parts_of(block, n_parts, purpose, *seed).astype(np.int16))


def undivided(block: Block) -> Divided:
    """Return a block of one part."""
    return Divided(block, lambda: np.zeros(len(block), np.int16))


@dataclass(frozen=True)
class Call:
    """A request of a fit: the sum of f over some parts of the data, after some maps."""

    parts: tuple[int, ...] | None
    stored: Stored | None
    steps: tuple[Step, ...]
    f: Callable[..., Any]
    shared: tuple[Any, ...]

    def __call__(self, number: int | None, examples: Callable[..., Any], onto: Any = None) -> Any:
        """Return the sum over the block with this number; for None, the sum over no examples.

        `examples` returns the examples of some parts.
        """
        if isinstance(onto, Failure):
            return onto
        try:
            read = partial(examples, self.parts)
            block = read() if self.stored is None else self.stored.get(number, read)
            return fold_blocks(self.f, self.shared, [after_steps(self.steps, block)], onto)
        except Exception as error:  # only this fit fails, and not the others
            return Failure(error)


class Stored:
    """Blocks of one fit after some maps, which are computed once and not in each pass."""

    def __init__(self, before: Stored | None, steps: tuple[Step, ...], store: Any) -> None:
        self.before, self.steps, self.store = before, steps, store
        self.empty: Any = None  # the block of no examples
        self.measured = False  # whether a pass has computed all blocks

    def begin(self) -> None:
        """Begin a pass."""
        if self.measured:
            self.store.begin()
            if all(map(self.store.holds, self.store.sizes)):
                self.before = None  # the stored blocks before these maps are no longer needed
        if self.before is not None:
            self.before.begin()

    def end(self) -> None:
        """End a pass over all blocks."""
        self.measured = True
        if self.before is not None:
            self.before.end()

    def holds(self, number: int | None) -> bool:
        """Whether the block is stored, so that its examples need not be read."""
        own = self.empty is not None if number is None else self.store.holds(number)
        return own or (self.before is not None and self.before.holds(number))

    def get(self, number: int | None, read: Callable[[], Any]) -> Any:
        """Return the block with this number; for None, the block of no examples.

        `read` returns its examples before the maps.
        """
        block = self.empty if number is None else self.store.get(number)
        if block is not None:
            return block
        before = read() if self.before is None else self.before.get(number, read)
        block = after_steps(self.steps, before)
        if number is None:
            self.empty = block
        else:
            self.store.put(number, block)
        return block


@dataclass(frozen=True, eq=False)
class Failure(Value):
    """The error of a fit, in place of its sum."""

    error: Exception


@dataclass(frozen=True, eq=False)
class Shares(Value):
    """The sum requested by each fit, and the number of examples of each part."""

    sums: tuple[Any, ...]
    sizes: Annotated[np.ndarray, "int (P,)"]

    def __add__(self, other: Shares) -> Shares:
        sums = (_added(*pair) for pair in zip(self.sums, other.sums, strict=True))
        return self.replace(sums=tuple(sums), sizes=self.sizes + other.sizes)


class WholeShares(Shares):
    """Sums of integers. Blocks are added to them in place, so that few sums are in memory."""

    any_order: ClassVar[bool] = True

    @classmethod
    def of(cls, calls: Calls, data: Divided, onto: WholeShares | None = None) -> WholeShares:
        if onto is None:
            return cls(calls.sums(data, repeat(None)), calls.sizes(data))
        return cls(calls.sums(data, onto.sums), onto.sizes + calls.sizes(data))


def _added(a: Any, b: Any) -> Any:
    return a if isinstance(a, Failure) else b if isinstance(b, Failure) else a + b


@dataclass(frozen=True, eq=False)
class Calls(Value):
    """The requests of all fits."""

    calls: tuple[Call, ...]
    n_parts: int  # number of parts whose examples are counted
    threads_share_blocks: ClassVar[bool] = True

    def summarize(self, data: Divided, each: Any = map) -> Shares:
        """Return the sums over one block."""
        return Shares(self.sums(data, repeat(None), each), self.sizes(data))

    def sums(self, data: Divided, onto: Iterable[Any], each: Any = map) -> tuple[Any, ...]:
        """Return the sum of each request, added to those in `onto` that are not None."""
        number = data.index[0] if len(data) else None
        read = {c.parts for c in self.calls if c.stored is None or not c.stored.holds(number)}
        chosen = {parts: data.chosen(parts) for parts in read}

        def examples(parts: tuple[int, ...] | None) -> Block:
            return chosen[parts] if parts in chosen else data.chosen(parts)

        pairs = zip(self.calls, onto, strict=False)
        sums = tuple(each(lambda pair: pair[0](number, examples, pair[1]), pairs))
        if not len(data):  # each pass begins with the sums over no examples
            fits = f"the sums of {len(self.calls)} fits at once"
            afford(sum(map(nbytes, sums)) / 8, fits, "search over fewer candidates at a time.")
        return sums

    def sizes(self, data: Divided) -> np.ndarray:
        """Return the number of examples of each part."""
        if not self.n_parts:
            return np.zeros(0)
        return np.bincount(data.part, minlength=self.n_parts).astype(np.float64)


class Sharing:
    """One data set, in parts, and the fits that share the passes over it.

    Parameters
    ----------
    data : Partitions
        The examples.
    n_parts : int
        Number of parts.
    division : callable and arguments
        The function that divides a block, e.g. `divide`: it returns the block as `Divided`.
    features, check, flat_target, categorical
        Names, checks and types of the data: see `Opened`.
    """

    def __init__(
        self,
        data: Partitions,
        n_parts: int,
        division: Step,
        *,
        features: tuple[str, ...] | int,
        check: Any,
        flat_target: bool = True,
        categorical: np.ndarray | None = None,
    ) -> None:
        by, shared = division
        self.data = data.map(by, *shared)
        self.n_parts, self.division, self.depth = n_parts, division, depth_of(data)
        self.features, self.check, self.flat_target = features, check, flat_target
        self.categorical = categorical
        self.n_passes = 0
        self._counted = False  # whether the examples of each part were counted, in the first pass
        self._current = threading.local()

    def view(self, *parts: int) -> View:
        """Return the examples of some parts, or all, to be passed to `fit` and `score`."""
        return View(self, tuple(sorted(parts)) or None)

    def together(
        self, fits: Sequence[Callable[[], Any]], *, forgive: bool = True, names: Sequence[str] = ()
    ) -> list[Any]:
        """Run fits that share passes. Return the result of each, or a `Failure` with its error.

        Errors outside of a fit, such as data that cannot be read, end all fits. Unless `forgive`, so does the
        first fit that fails. The progress shows the names of the fits that share a pass, or their number.
        """
        runs = [_Run(self._current, fit, forgive) for fit in fits]
        try:
            for run in runs:
                run.go_on()
            while waiting := [run for run in runs if run.asked is not None]:
                shown = [names[runs.index(run)] for run in waiting] if names else [f"{len(waiting)} fits"]
                with shared_by(", ".join(shown)):
                    sums = self._pass(tuple(run.asked for run in waiting))
                for run, total in zip(waiting, sums, strict=True):
                    run.go_on(total)
        finally:
            for run in runs:
                run.end()
        return [run.result for run in runs]

    def fold(self, call: Call) -> Any:
        """Return the sum requested by a fit: within `together` by a shared pass, otherwise by its own."""
        run = getattr(self._current, "run", None)
        total = self._pass((call,))[0] if run is None else run.ask(call)
        if isinstance(total, Failure):
            raise total.error
        return total

    def _pass(self, calls: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the sums of the calls, by one pass, or by two if only some of them sum integers."""
        any_order = [in_any_order(call.f) for call in calls]
        if all(any_order) or not any(any_order):
            return self._sums(WholeShares.of if all(any_order) else Calls.summarize, calls)
        of_whole, of_others = (
            iter(self._pass(tuple(call for call, w in zip(calls, any_order, strict=True) if w == kind)))
            for kind in (True, False)
        )
        return tuple(next(of_whole if w else of_others) for w in any_order)

    def _sums(self, f: Callable[..., Any], calls: tuple[Any, ...]) -> tuple[Any, ...]:
        stores = [call.stored for call in calls if call.stored is not None]
        for stored in stores:
            stored.begin()
        shares = self.data.fold(f, Calls(calls, 0 if self._counted else self.n_parts))
        self.n_passes += 1
        for stored in stores:
            stored.end()
        if not self._counted:
            self._check_sizes(shares.sizes)
            self._counted = True
        return shares.sums

    @staticmethod
    def _check_sizes(sizes: np.ndarray) -> None:
        """Raise if a part has no examples."""
        if not sizes.any():
            raise ValueError(
                "There are no rows to fit, or sample_weight is zero for every row, expected a positive "
                "weight for some."
            )
        if not sizes.all():
            sizes = sizes.astype(int)
            raise ValueError(
                f"The folds drawn from n_samples = {sizes.sum()} have {sizes.tolist()} of them, and "
                f"none may be empty: pass another random_state or use fewer folds. Equal examples are "
                f"in one fold."
            )


class View(Opened):
    """Some parts of the data of a `Sharing`."""

    def __init__(
        self,
        sharing: Sharing,
        parts: tuple[int, ...] | None,
        steps: tuple[Step, ...] = (),
        stored: Stored | None = None,
    ) -> None:
        self.sharing, self.parts, self.steps, self.stored = sharing, parts, steps, stored
        self.features, self.check = sharing.features, sharing.check
        self.flat_target, self.categorical = sharing.flat_target, sharing.categorical

    def map(self, f: Callable[..., Any], *shared: Any) -> View:
        return View(self.sharing, self.parts, (*self.steps, (f, shared)), self.stored)

    def new_store(self) -> Any:
        return self.sharing.data.new_store()

    def persisted(self) -> View:
        store = self.new_store()
        if store is None:
            return self
        return View(self.sharing, self.parts, (), Stored(self.stored, self.steps, store))

    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        return self.sharing.fold(Call(self.parts, self.stored, self.steps, f, shared))

    def fold_by_key(self, f: Callable[..., Any], *shared: Any, n_keys: int, shards: int) -> Any:
        raise TypeError("GridSearch cannot divide a graph into folds: compare fits to graphs by hand.")

    def on_driver(self, block: Block) -> Partitions:
        return self.sharing.data.on_driver(block)

    def batches(self) -> Iterator[Any]:
        yield self.gather("fit one candidate at a time")


def fits_on(
    data: Partitions, fit: Callable[[Any, int], Any], numbers: Sequence[int], at_once: int, **opened: Any
) -> Iterator[Any]:
    """Iterate over `fit(rows, number)` of each number, with all rows.

    With rows in memory, the fits run one after the other. Otherwise up to `at_once` fits share each pass.
    `opened` has the names and checks that :class:`Sharing` takes.
    """
    if data.in_memory:
        yield from (fit(data, number) for number in numbers)
        return
    log.info("Rows are not in memory: up to %d fits share each pass over the rows.", at_once)
    for a in range(0, len(numbers), at_once):
        some = numbers[a : a + at_once]
        sharing = Sharing(data, 1, (undivided, ()), **opened)
        yield from sharing.together([partial(fit, sharing.view(), n) for n in some], forgive=False)


def depth_of(data: Partitions) -> int:
    """Return how often the data was divided before, e.g. 1 within cross-validation.

    Folds of folds are drawn by different hashes.
    """
    return data.sharing.depth + 1 if isinstance(data, View) else 0


class _Ended(BaseException):
    """Raised in a waiting fit to stop it."""


class _Run:
    """A fit in its own thread. Either this thread or the one that started it runs, never both."""

    def __init__(self, current: threading.local, fit: Callable[[], Any], forgive: bool) -> None:
        self.current, self.fit, self.forgive, self.config = current, fit, forgive, get_config()
        self.asked: Call | None = None
        self.running = False
        self.result: Any = None
        self.stopped: BaseException | None = None
        self.asks: SimpleQueue[Call | None] = SimpleQueue()
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self.thread: threading.Thread | None = None

    def go_on(self, answer: Any = None) -> None:
        """Run until it requests a sum, or ends."""
        if self.thread is None:
            of_caller = copy_context()
            self.thread = threading.Thread(
                target=of_caller.run, args=(self._body,), name="a fit of suffice", daemon=True
            )
            self.running = True
            self.thread.start()
        else:
            self.running = True
            self.answers.put(answer)
        self.asked = self.asks.get()
        self.running = False
        if self.stopped is not None:
            raise self.stopped

    def ask(self, call: Call) -> Any:
        self.asks.put(call)
        answer = self.answers.get()
        if isinstance(answer, _Ended):
            raise answer
        return answer

    def end(self) -> None:
        """Stop the fit: at once if it is waiting, otherwise at its next request."""
        if self.thread is not None:
            self.answers.put(_Ended())
            if not self.running:
                self.thread.join()

    def _body(self) -> None:
        self.current.run = self
        try:
            with config_context(**self.config):  # the configuration of scikit-learn belongs to a thread
                self.result = self.fit()
        except _Ended:
            pass
        except BaseException as error:
            if isinstance(error, Exception) and self.forgive:
                self.result = Failure(error)
            else:
                self.stopped = error
        finally:
            self.asks.put(None)
