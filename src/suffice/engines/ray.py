"""Ray engine: blocks are in the object store, tasks fold runs of blocks, and lost blocks are recomputed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayTaskError

from ..core.blas import one_blas_thread
from ..core.blocks import Block, power_of_two
from ..core.partitions import Partitions, fold_blocks
from ..core.progress import counted, one_pass
from ..core.statistics import add, tree_sum
from ..core.values import nbytes
from .local import LocalPartitions, in_blocks
from .shards import Shards, SumsByKey, add_in_runs, shard_starts, sums_by_key
from .timeout import blocks_of, in_order

# A task costs milliseconds, so it takes a run of several blocks if there are many small ones.
RUN: int | None = None  # blocks per task, a power of two; None chooses. The bits do not depend on it.
RUN_BYTES = 1 << 26  # largest size of a run of blocks
TASKS_A_CPU = 4  # least number of runs for each CPU
HOME_BYTES = 1 << 28
# Number of parts of a shard that one task adds, a power of two. The bits do not depend on it.
PARTS = 8
# A block may be lost several times during a long fit. Its task runs again each time, and when a worker dies.
RETRIES = 16


LOOK = "Look at `ray status` and `ray list tasks`: a worker may be stopped, or its node busy or full."


@dataclass(frozen=True)
class RayPartitions(Partitions):
    """Runs of blocks in the object store.

    A run is an aligned group of 2^k blocks, so its sum is a subtree of the sum of all. It is one object: its
    blocks are on one node, and the task that folds them is sent there.
    """

    runs: tuple[Any, ...]  # ObjectRefs of tuples of blocks
    length: int = 1  # blocks in a run

    def map(self, f: Callable[..., Any], *shared: object) -> RayPartitions:
        call = ray.put((f, shared))
        return RayPartitions(tuple(_map.remote(call, run) for run in self.runs), self.length)

    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        call = ray.put((f, shared))
        sums = ended_in_order([partial(_fold.remote, call, run) for run in self.runs], self.length)
        with errors_as_raised(), one_pass(f, self, "tasks", len(self.runs)) as count:
            first = next(sums, None)
            size = 0 if first is None else len(self.runs) * nbytes(ray.get(first))
            terms = counted(count, chain([] if first is None else [first], sums))
            del first  # sums without a reference are freed as soon as they are added
            if size > HOME_BYTES:
                total = tree_sum(terms, add=_add.remote)
                (total,) = map(ray.get, ended_in_order([lambda: total], len(self.runs) * self.length))
            else:
                total = tree_sum(map(ray.get, terms))
        # Arrays from Ray are read-only views of its store, which the result may outlive.
        return deepcopy(total)

    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Shards:
        starts = shard_starts(n_keys, shards)
        call, cuts = ray.put((f, shared)), ray.put(starts)
        summed = _sums_by_key.options(num_returns=1 + shards)
        tasks = [partial(summed.remote, call, run, cuts) for run in self.runs]

        def add_all(terms: list[list[Any]]) -> list[Any]:
            return [_add_all.remote(*parts) for parts in zip(*terms, strict=True)]

        with errors_as_raised():
            # Few tasks run ahead of those that add their parts, since all parts together may be many times as
            # large as the sum.
            ahead = max(2 * PARTS, int(TASKS_A_CPU * _cpus()))
            total = add_in_runs(_parts(ended_in_order(tasks, self.length, ahead)), PARTS, add_all)
            made = [partial(_shard.remote, s, cuts, part) for s, part in enumerate(total)]
            runs = [run for (run,) in _parts(ended_in_order(made, len(self.runs) * self.length))]
        return Shards(RayPartitions(tuple(runs)), starts)

    def fold_each(
        self, shards: Shards, data: Partitions, f: Callable[..., Any], shared: tuple[Any, ...], finish: Any
    ) -> RayPartitions:
        """Return `Shards.fold_each`. A block has a part for each shard, and a shard gathers its own parts."""
        parts = tuple(data.map(f, *shared, *ends) for ends in pairwise(shards.starts.tolist()))
        return self.map(_finished, finish, shards, parts)

    def on_driver(self, block: Block) -> LocalPartitions:
        return in_blocks(block)

    def batches(self) -> Iterator[Any]:
        with errors_as_raised():
            for run in self.runs:
                yield from ray.get(run)

    def block(self, number: int) -> Any:
        with errors_as_raised():
            return ray.get(self.runs[number // self.length])[number % self.length]


def _finished(finish: Callable[..., Any], shards: Shards, parts: tuple[Partitions, ...], shard: Any) -> Any:
    return finish(shards, tree_sum(parts[shard.index[0]].batches()), shard)


def ended_in_order(
    tasks: Sequence[Callable[[], Any]], length: int, ahead: int | None = None
) -> Iterator[Any]:
    """Yield the results of tasks in order, each when it is ready.

    `tasks` are functions that submit a task, and may be called again. `ahead` tasks are submitted in advance,
    or all. A task may have a list of results.
    """
    sent: dict[int, list[Any]] = {}
    later = iter(enumerate(tasks))

    def send(n: int) -> None:
        sent.update((number, [task()]) for number, task in islice(later, n))

    def found(results: list[Any], seconds: float | None) -> list[Any]:
        by_first = {result[0] if isinstance(result, list) else result: result for result in results}
        return [by_first[r] for r in ray.wait(list(by_first), timeout=seconds, fetch_local=False)[0]]

    def ended(left: list[int], seconds: float) -> list[int]:
        return [n for n in left if n in sent and found(sent[n], seconds)]

    def again(left: list[int]) -> None:
        for number in left:
            if number in sent:
                sent[number].append(tasks[number]())

    send(ahead or len(tasks))
    for number in in_order(len(tasks), ended, again, lambda left: blocks_of(left, length), LOOK):
        send(1)
        yield found(sent.pop(number), None)[0]


def _parts(results: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """Iterate over the results, which stay on the cluster. Getting the first raises if the task failed."""
    for done, *parts in results:
        ray.get(done)
        yield parts


@ray.remote(max_retries=RETRIES)
def _map(call: Any, blocks: tuple[Any, ...]) -> tuple[Any, ...]:
    f, shared = call
    with one_blas_thread:
        return tuple(f(*shared, block) for block in blocks)


@ray.remote(max_retries=RETRIES)
def _fold(call: Any, blocks: tuple[Any, ...]) -> Any:
    f, shared = call
    with one_blas_thread:
        return fold_blocks(f, shared, blocks)


_add: Any = ray.remote(max_retries=RETRIES)(add)


@ray.remote(max_retries=RETRIES)
def _sums_by_key(call: Any, blocks: tuple[Any, ...], starts: np.ndarray) -> tuple[Any, ...]:
    f, shared = call
    with one_blas_thread:
        return True, *sums_by_key(f, shared, blocks, int(starts[-1])).cut(starts)


@ray.remote(max_retries=RETRIES)
def _add_all(*parts: SumsByKey) -> SumsByKey:
    return tree_sum(parts)


@ray.remote(max_retries=RETRIES, num_returns=2)
def _shard(number: int, starts: np.ndarray, part: SumsByKey) -> tuple[Any, ...]:
    return True, (part.shard(number, starts),)


@contextmanager
def errors_as_raised() -> Iterator[None]:
    """Context manager: raise the original error of a task.

    The other tasks are not cancelled: in Ray up to at least 2.60, cancelling a task that is about to end
    crashes this process.
    """
    try:
        yield
    except RayTaskError as error:
        cause: Any = error
        while isinstance(cause, RayTaskError):
            cause = cause.cause
        raise cause from error


def run_length(n_blocks: int, size: int) -> int:
    return power_of_two(min(n_blocks / (TASKS_A_CPU * _cpus()), RUN_BYTES * n_blocks / max(1, size)), 1)


def _cpus() -> float:
    return max(1.0, ray.cluster_resources().get("CPU", 1.0))
