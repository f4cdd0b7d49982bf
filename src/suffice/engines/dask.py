"""Dask engine: blocks are in the memory of workers, tasks fold runs of blocks, lost results are recomputed.

Without a `distributed.Client`, Dask computes the blocks with its own scheduler, and the threads of this
process fold them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any
from uuid import uuid4

import dask
from dask.base import get_scheduler
from dask.delayed import Delayed
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, rpc, wait
from distributed.protocol import pickle
from distributed.scheduler import heartbeat_interval

from ..core.blas import one_blas_thread
from ..core.blocks import Block, power_of_two
from ..core.partitions import Partitions, fold_blocks
from ..core.progress import counted, one_pass
from ..core.statistics import add, tree_sum
from ..core.values import Value
from .local import LocalPartitions, fold_by_key_on_driver, in_blocks
from .shards import Shards
from .timeout import blocks_of, in_order, seconds

# A task costs a millisecond, so it takes a run of several blocks if there are many small ones.
RUN: int | None = None  # blocks per task, a power of two; None chooses. The bits do not depend on it.
RUN_BYTES = 1 << 26  # largest size of a run of blocks
TASKS_A_THREAD = 4  # least number of runs for each thread
# If the calls of all tasks together are larger, one worker gets the call, and it travels from worker to
# worker.
CALL_BYTES = 1 << 20
# If the sums of all tasks together are at most this size, the driver adds them; otherwise the workers do.
HOME_BYTES = 1 << 28

LOOK = (
    "Look at the dashboard and the logs of the workers: there may be none, or one that is stopped, full or "
    "cannot be reached."
)
CANCELLED = "The cluster was restarted, or its client closed, while it held the data: call fit again."


@dataclass(frozen=True)
class DaskPartitions(Partitions):
    """Runs of blocks in the memory of workers.

    A run is an aligned group of 2^k blocks, so its sum is a subtree of the sum of all. It is one result of
    Dask: its blocks are on one worker, and the task that folds them is sent there.
    """

    client: Client
    runs: tuple[Future, ...]  # of tuples of blocks
    length: int = 1  # blocks in a run

    def map(self, f: Callable[..., Any], *shared: object) -> DaskPartitions:
        call = _sent(self.client, len(self.runs), f, shared)
        runs = self.client.map(_map, [call] * len(self.runs), self.runs, pure=False)
        return DaskPartitions(self.client, tuple(runs), self.length)

    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        client = self.client
        call = _sent(client, len(self.runs), f, shared)
        tasks = client.map(_fold, [call] * len(self.runs), self.runs, pure=False)
        with explain_killed_workers(), one_pass(f, self, "tasks", len(self.runs)) as count:
            sums = _ended(client, tasks, self.length, lambda n: (_fold, call, self.runs[n]))
            del tasks
            first = next(sums)
            size = client.nbytes([first.key], summary=False)[first.key]
            terms = counted(count, chain([first], sums))
            del first  # sums without a reference are freed as soon as they are added
            if len(self.runs) * size > HOME_BYTES:
                total = tree_sum(terms, add=partial(client.submit, add, pure=False))
                [total] = _home(client, list(_ended(client, [total], self.length * len(self.runs))))
            else:
                total = tree_sum(_home(client, list(terms)))
        # A worker in this process returns its own object and not a copy.
        return deepcopy(total)

    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Shards:
        return fold_by_key_on_driver(self, f, shared, n_keys, shards)

    def on_driver(self, block: Block) -> LocalPartitions:
        return in_blocks(block)

    def batches(self) -> Iterator[Any]:
        with explain_killed_workers():
            for task in _ended(self.client, self.runs, self.length):
                yield from _home(self.client, [task])[0]


def _sent(client: Client, n: int, f: Callable[..., Any], shared: tuple[Any, ...]) -> bytes | Future:
    """Return a call for n tasks, pickled once.

    A large call is sent as the result of a task and not as data, so that it can be recomputed when its worker
    is lost. Its name is unique, since an earlier equal call may not have been released yet.
    """
    call = pickle.dumps((f, shared))
    if n * len(call) <= CALL_BYTES:
        return call
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.submit(pickle.loads, call, key=f"suffice-call-{uuid4().hex}")


def _map(call: Any, blocks: tuple[Any, ...]) -> tuple[Any, ...]:
    f, shared = pickle.loads(call) if isinstance(call, bytes) else call
    with one_blas_thread:
        return tuple(f(*shared, block) for block in blocks)


def _fold(call: Any, blocks: tuple[Any, ...]) -> Any:
    f, shared = pickle.loads(call) if isinstance(call, bytes) else call
    with one_blas_thread:
        return fold_blocks(f, shared, blocks)


def _run(*blocks: Any) -> tuple[Any, ...]:
    return blocks


@sizeof.register(Value)
def _size(value: Value) -> int:
    """Return the size of a run, from which Dask estimates memory and transfer costs."""
    return sum(sizeof(part) for part in value.fields().values())


def _ended(
    client: Client, tasks: Sequence[Future], length: int, call: Callable[[int], tuple[Any, ...]] | None = None
) -> Iterator[Future]:
    """Yield the tasks in order, each when it has succeeded; `call` is submitted to run a task again."""
    sent = {n: [task] for n, task in enumerate(tasks)}
    total = len(tasks)
    del tasks

    def ended(left: list[int], seconds: float) -> list[int]:
        futures = [future for n in left for future in sent[n]]
        if seconds and not any(future.done() for future in futures):
            with _timeout_is_no_error():
                wait(futures, timeout=seconds, return_when="FIRST_COMPLETED")
        return [n for n in left if any(future.done() for future in sent[n])]

    def again(left: list[int]) -> None:
        _leave_silent_workers(client)
        if call is None:
            return
        processing = client.processing()
        for n in left:
            stuck = [worker for worker, keys in processing.items() if sent[n][-1].key in keys]
            if stuck:
                others = [worker for worker in processing if worker not in stuck]
                options: Any = {"workers": others, "allow_other_workers": True} if others else {}
                sent[n].append(client.submit(*call(n), pure=False, **options))

    for n in in_order(total, ended, again, lambda left: blocks_of(left, length), LOOK):
        while not (finished := [future for future in sent[n] if future.done()]):
            # The worker was lost after the task ended, and the scheduler runs the task again.
            with _timeout_is_no_error():
                wait(sent[n], timeout=1.0, return_when="FIRST_COMPLETED")
        done = finished[0]
        if done.status != "finished":
            # The client keeps the error, whose traceback would keep the local variables alive.
            failed = done.status == "error"
            error, traceback = (done.exception(), done.traceback()) if failed else (None, None)
            for future in (future for futures in sent.values() for future in futures):
                future.release()
            raise error.with_traceback(traceback) if error else CancelledError(CANCELLED)
        del sent[n]
        yield done


def _home(client: Client, futures: list[Future]) -> list[Any]:
    """Return the results of finished tasks, from workers that may stop responding."""
    results: list[list[Any]] = []

    async def gathered() -> list[Any]:
        return await client.gather(futures, asynchronous=True)

    def ended(left: list[int], seconds: float) -> list[int]:
        if seconds:
            with _timeout_is_no_error():
                results.append(client.sync(gathered, callback_timeout=seconds))
        return left if results else []

    def again(left: list[int]) -> None:
        _leave_silent_workers(client)

    next(in_order(1, ended, again, lambda left: f"{len(futures)} results", LOOK))
    return results[0]


@contextmanager
def _timeout_is_no_error() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        if getattr(error, "__notes__", None):  # raised by a task (see `in_block`)
            raise


def _leave_silent_workers(client: Client) -> None:
    """Recompute the results of unresponsive workers on other workers.

    Dask itself waits for five minutes, by `distributed.scheduler.worker-ttl`.
    """
    client.run_on_scheduler(_replace_silent, seconds() / 2)


async def _replace_silent(seconds: float, dask_scheduler: Any) -> None:
    """Remove unresponsive workers. Their nannies start new ones.

    The nannies are told first: a slow worker that is told to close, or that the scheduler has removed, would
    close its nanny too.
    """
    workers = dask_scheduler.workers
    limit = time.time() - max(seconds, 5 * heartbeat_interval(len(workers)))
    reason = f"suffice-{time.time()}"

    async def replace(address: str, worker: Any) -> None:
        if worker.nanny:
            with suppress(OSError, TimeoutError):  # the machine does not respond either
                async with rpc(worker.nanny, connection_args=dask_scheduler.connection_args) as nanny:
                    await asyncio.wait_for(nanny.kill(timeout=1, reason=reason), 10)
        if workers.get(address) is worker:
            await dask_scheduler.remove_worker(address, expected=True, stimulus_id=reason)

    silent = [(address, worker) for address, worker in workers.items() if worker.last_seen < limit]
    await asyncio.gather(*(replace(*one) for one in silent))  # concurrently, as there may be many


@contextmanager
def explain_killed_workers() -> Iterator[None]:
    try:
        yield
    except KilledWorker as error:
        error.add_note(
            "Each worker that took these blocks died, most often because its memory was full: make "
            "partitions smaller (`repartition`, `rechunk`) or workers larger. On machines that are taken "
            "away at times, raise distributed.scheduler.allowed-failures of the cluster."
        )
        raise


def opened(blocks: list[Delayed]) -> Partitions:
    """Return partitions of blocks, computed once, on the cluster if there is one or else in this process."""
    client = client_of_dask()
    if client is None:
        return LocalPartitions(dask.compute(*blocks))
    with explain_killed_workers():
        opened = list(_ended(client, _submitted(client, blocks), 1))
    n = RUN or _run_length(client, opened)
    runs = [client.submit(_run, *opened[i : i + n], pure=False) for i in range(0, len(opened), n)]
    return DaskPartitions(client, tuple(runs), n)


def _run_length(client: Client, blocks: list[Future]) -> int:
    threads = max(1, sum(client.nthreads().values()))
    size = sum(client.nbytes([block.key for block in blocks], summary=False).values())
    return power_of_two(
        min(len(blocks) / (TASKS_A_THREAD * threads), RUN_BYTES * len(blocks) / max(1, size)), 1
    )


def computed(client: Client | None, tasks: list[Delayed]) -> Sequence[Any]:
    if client is None:
        return dask.compute(*tasks)
    with explain_killed_workers():
        return _home(client, list(_ended(client, _submitted(client, tasks), 1)))


def _submitted(client: Client, tasks: list[Delayed]) -> list[Future]:
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.compute(tasks)


def client_of_dask() -> Client | None:
    """Return the client of the current Dask cluster, or None."""
    client = getattr(get_scheduler(), "__self__", None)
    if not isinstance(client, Client):
        return None
    if client.asynchronous:
        raise TypeError("The current Client is asynchronous, and fit is not: use Client(...).")
    return client
